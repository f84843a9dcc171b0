"""The cost of an edit is that of what it changes: counted in function calls, not in time.

Each case is a program, the arguments that give it n choices or so, and an edit of a few of them. The number
of calls that the edit makes, of Python functions and of C functions, must not depend on n.
"""

import os
import sys

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    copy,
    dirichlet,
    gamma,
    gen,
    iid,
    involutive_mcmc,
    normal,
    poisson,
    read,
    select,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.runtime import fused

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
    ),
    pytest.mark.usefixtures("unwatched"),
]

SMALL, LARGE = 60, 3000
GROWTH = 1.25  # look-ups in a persistent vector are a little deeper


def calls(action):
    """How many function calls an action makes, once all that is found out or generated once is there.

    The less of two runs, one after another: in one of them a plan may be compared with what it stands for.
    """
    for _ in range(fused.AFTER + 2):
        action()
    return min(_calls_of_one(action), _calls_of_one(action))


def _calls_of_one(action):
    count = 0

    def see(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


# --- programs --------------------------------------------------------------------------------------


@gen
def listed(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(n)]
    return mu


@gen
def in_a_dict(names):
    mu = {name: ("mu", name) @ ~normal(0, 1) for name in names}
    return mu


@gen
def into_a_list(n):
    mu = [0.0] * n
    for j in range(n):
        mu[j] = ~normal(0, 1)
        ("y", j) @ ~normal(mu[j], 1)
    return mu


@gen
def into_an_array(n):
    mu = np.zeros(n)
    for j in range(n):
        scale = 1 + j % 3
        mu[j] = ~normal(0, scale)
        ("y", j) @ ~normal(2 * mu[j], 1)
    return mu


@gen
def into_a_dict(names):
    mu = {}
    for name in names:
        mu[name] = ~normal(0, 1)
    return mu


@gen
def appended(xs):
    mu = []
    for i, x in enumerate(xs):
        m = ("m", i) @ ~normal(x, 1)
        mu.append(m)
        if m > 0:
            ("positive", i) @ ~gamma(2, 1)
    return mu


@gen
def zipped(xs, ys):
    for i, (x, y) in enumerate(zip(xs, ys)):  # noqa: B905 (as users write it)
        ("z", i) @ ~normal(x + y, 1)
        ("w", i) @ ~poisson(2)


@gen
def pair(x):
    a = ~normal(x, 1)
    b = ~normal(a, 1)
    return a + b


@gen
def calling(n):
    totals = [("pair", i) @ ~pair(i % 5) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(totals[i], 1)


@gen
def ragged(sizes):
    rows = []
    for i in range(len(sizes)):
        level = ("level", i) @ ~normal(0, 1)
        row = [("x", i, j) @ ~normal(level, 1) for j in range(sizes[i])]
        rows.append(row)
    for i in range(len(sizes)):
        ("last", i) @ ~normal(rows[i][-1], 1)
    return rows


@gen
def clusters(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    by_name = {j: ("sd", j) @ ~gamma(2, 1) for j in range(k)}
    both = (mu, 1.0)
    z = [0] * n
    for i in range(n):
        z[i] = ~categorical(np.ones(k) / k)
        ("x", i) @ ~normal(mu[z[i]], by_name[z[i]])
        ("y", i) @ ~normal(both[1], 1)


@gen
def walk(n):
    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(x, 1)
        ("y", t) @ ~normal(x, 0.5)


@gen
def walk_in_a_list(n):
    x = [0.0] * (n + 1)
    for t in range(1, n + 1):
        x[t] = ~normal(x[t - 1], 1)
        ("y", t) @ ~normal(x[t], 0.5)
    return x


@gen
def appended_walk(n):
    x = [0.0]
    for t in range(n):
        x.append(("x", t) @ ~normal(x[-1], 1))
    return x


@gen
def hidden_markov(n):
    state = 0
    for t in range(n):
        state = ("z", t) @ ~categorical([0.8, 0.2] if state == 0 else [0.3, 0.7])
        ("y", t) @ ~normal(state, 1)


@gen
def tree(depth):
    value = ~normal(0, 1)
    if depth > 0:
        left = ~tree(depth - 1)
        right = ~tree(depth - 1)
        value = value + left + right
    return value


@gen
def counting(n):
    t = 0
    while t < n:
        ("x", t) @ ~normal(0, 1)
        t += 1


@gen
def even(n):
    x = ~normal(0, 1)
    if n > 0:
        rest = ~odd(n - 1)


@gen
def odd(n):
    x = ~normal(0, 2)
    if n > 0:
        rest = ~even(n - 1)


@gen
def growing(most):
    k = ~uniform_discrete(1, most)
    for j in range(k):
        ("x", j) @ ~normal(0, 1)


@gen
def branches(n):
    which = ~bernoulli(0.5)
    scale = ~gamma(2, 1)
    if which:
        a = ~normal(0, scale)
    else:
        a = ~normal(1, scale)
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


@gen
def untaken(n):
    a = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(0, 1)
        if i < 0:
            ("never", i) @ ~normal(a, 1)


@gen
def numbered_by_length(xs):
    out = []
    for x in xs:
        out.append(("a", len(out)) @ ~normal(x, 1))
    for i, a in enumerate(out):
        ("b", i) @ ~normal(a, 1)


@gen
def counted(xs):
    count = 0
    for x in xs:
        count += 1  # noqa: SIM113
        ("x", count) @ ~normal(x, 1)


@gen
def neighbours(near):
    x = []
    for i, js in enumerate(near):
        m = sum(x[j] for j in js) / len(js) if js else 0.0
        x.append(("x", i) @ ~normal(m, 1))


@gen
def shifted(n):
    x = np.zeros(n + 1)
    for t in range(n):
        x[t + 1] = ("x", t) @ ~normal(x[t], 1)
        ("y", t) @ ~normal(x[t + 1], 1)


@gen
def segments(n):
    cuts = [("cut", j) @ ~uniform(0, 1) for j in range(4)]
    heights = [("height", j) @ ~normal(0, 1) for j in range(5)]
    for i in range(n):
        ("y", i) @ ~normal(heights[sum(c < i / n for c in cuts)], 1)


@gen
def intercepts(groups, xs):
    a = [("a", j) @ ~normal(0, 1) for j in range(max(groups) + 1)]
    b = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(a[groups[i]] + b * xs[i], 1)


@gen
def regression(rows):
    beta = np.array([("beta", j) @ ~normal(0, 1) for j in range(rows.shape[1])])
    for i in range(len(rows)):
        ("y", i) @ ~normal(rows[i] @ beta, 1)


def names(n):
    return tuple(f"name{i}" for i in range(n))


def near(n):
    return [[j for j in (i - 1, i - 7) if j >= 0] for i in range(n)]


def groups(n):
    return [i % (n // 6) for i in range(n)]


@gen
def grid(n):
    f = np.zeros((n, 20))
    for i in range(n):
        for j in range(20):
            f[i, j] = ~normal(0, 1)
    for i in range(n):
        for j in range(19):
            ("y", i, j) @ ~normal(f[i, j] - f[i, j + 1], 1)


@gen
def wide_grid(n):
    f = np.zeros((3, n))
    for i in range(3):
        for j in range(n):
            f[i, j] = ~normal(0, 1)
    for i in range(3):
        for j in range(n):
            ("y", i, j) @ ~normal(f[i, j], 1)


@gen
def grid_in_a_dict(n):
    f = {}
    for i in range(n):
        for j in range(20):
            f[i, j] = ~normal(0, 1)
    for i in range(n - 1):
        for j in range(20):
            ("y", i, j) @ ~normal(f[i, j] * f[i + 1, j], 1)


@gen
def sites_of_a_map(where):
    f = {}
    for i, j in where:
        f[i, j] = ~normal(0, 1)
    for s, (i, j) in enumerate(where):
        ("y", s) @ ~normal(f[i, j], 1)


@gen
def by_name(names):
    a = {}
    for name in names:
        a[name] = ("a", name) @ ~normal(0, 1)
    for name in names:
        ("y", name) @ ~normal(a[name], 1)


@gen
def position_and_speed(n):
    x = np.zeros((n, 2))
    for t in range(1, n):
        x[t, 0] = ~normal(x[t - 1, 0] + x[t - 1, 1], 1)
        x[t, 1] = ~normal(x[t - 1, 1], 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t, 0], 1)


@gen
def first_and_last(n, m=3):
    x = np.zeros((n, m))
    for t in range(n):
        x[t, 0] = ~normal(0, 1)
        x[t, m - 1] = ("last", t) @ ~normal(x[t, 0], 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t, m - 1], 1)


@gen
def lists_in_a_list(n):
    f = [[0.0] * 3 for _ in range(n)]
    for i in range(n):
        for j in range(3):
            f[i][j] = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i][1], 1)


@gen
def wide_lists_in_a_list(n):
    f = [[0.0] * n for _ in range(3)]
    for j in range(n):
        for i in range(3):
            f[i][j] = ("f", i, j) @ ~normal(0, 1)
    for i in range(3):
        for j in range(n):
            ("y", i, j) @ ~normal(f[i][j] - f[i - 1][j], 1)


@gen
def series(n):
    x = [[0.0] * n, [0.0] * n]
    for t in range(1, n):
        x[0][t] = ~normal(x[0][t - 1], 1)
        x[1][t] = ~normal(x[1][t - 1] + x[0][t], 1)
    for t in range(n):
        ("y", t) @ ~normal(sum(x[k][t] for k in range(2)), 1)


@gen
def lists_by_name(names):
    f = {name: [0.0, 1.0] for name in names}
    for name in names:
        f[name][0] = ~normal(0, 1)
        f[name][1] = ~normal(f[name][0], 1)
    for name in names:
        ("y", name) @ ~normal(f[name][0] * f[name][1], 1)


@gen
def dicts_in_a_list(n):
    f = [{} for _ in range(n)]
    for i in range(n):
        f[i]["a"] = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i]["a"] + len(f[i]), 1)


@gen
def at_chosen_keys(n):
    f = [0.0] * n
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, n - 1)
        f[z] = ("f", i) @ ~normal(f[z - 1], 1)
    for i in range(n):
        ("y", i) @ ~normal(f[i], 1)


@gen
def made_when_needed(n):
    mu = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, n - 1)
        if z not in mu:
            mu[z] = ("mu", z) @ ~normal(0, 1)
        ("y", i) @ ~normal(mu[z], 1)


@gen
def overwritten_at_times(n):
    f = [0.0] * n
    for i in range(n):
        c = ("c", i) @ ~bernoulli(0.5)
        if c:
            f[i] = ("f", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(f[i] + f[i - 1], 1)


@gen
def in_rows(n):
    f = np.zeros((n, 3))
    for i in range(n):
        f[i] = ~iid(normal(0, 1), 3)
    for i in range(n):
        for j in range(3):
            ("y", i, j) @ ~normal(f[i, j], 1)


UPDATES = {
    "comprehension": (listed, lambda n: (n,), lambda n: {("mu", n // 2): 0.3}),
    "dict comprehension": (in_a_dict, lambda n: (names(n),), lambda n: {("mu", f"name{n // 2}"): 0.3}),
    "list": (into_a_list, lambda n: (n,), lambda n: {("mu", n // 2): 0.3}),
    "array": (into_an_array, lambda n: (n,), lambda n: {("mu", n // 2): 0.3}),
    "dict": (into_a_dict, lambda n: (names(n),), lambda n: {("mu", f"name{n // 2}"): 0.3}),
    "append": (appended, lambda n: ([0.5] * n,), lambda n: {("m", n // 2): -0.3}),
    "zip": (zipped, lambda n: ([0.5] * n, [1.0] * n), lambda n: {("z", 3): -0.3, ("w", n - 1): 4}),
    "calls": (calling, lambda n: (n,), lambda n: {("pair", n // 2, "a"): 0.3}),
    "ragged": (ragged, lambda n: ([1 + i % 4 for i in range(n)],), lambda n: {("x", 3, 3): 0.3}),
    "assignment": (clusters, lambda n: (n, 3), lambda n: {("z", n // 2): 1}),
    "chain": (walk, lambda n: (n,), lambda n: {("x", n // 2): 0.3}),
    "chain in a list": (walk_in_a_list, lambda n: (n,), lambda n: {("x", n // 2): 0.3}),
    "appended chain": (appended_walk, lambda n: (n,), lambda n: {("x", n // 2): 0.3}),
    "states": (hidden_markov, lambda n: (n,), lambda n: {("z", n // 2): 1}),
    "while": (counting, lambda n: (n,), lambda n: {("x", n // 2): 0.3}),
    "growth": (growing, lambda n: (2 * n,), lambda n: {"k": n + 1, ("x", n): 0.1}),
    "shrinkage": (growing, lambda n: (2 * n,), lambda n: {"k": n - 1}),
    "straight line": (branches, lambda n: (n,), lambda n: {"a": 0.3}),
    "untaken": (untaken, lambda n: (n,), lambda n: {"a": 0.3}),
    "numbered by length": (numbered_by_length, lambda n: ([0.5] * n,), lambda n: {("a", n // 2): 0.3}),
    "counted": (counted, lambda n: ([0.5] * n,), lambda n: {("x", n // 2): 0.3}),
    "neighbours": (neighbours, lambda n: (near(n),), lambda n: {("x", n // 2): 0.3}),
    "shifted": (shifted, lambda n: (n,), lambda n: {("x", n // 2): 0.3}),
    "segments": (segments, lambda n: (n,), lambda n: {("cut", 1): 0.3}),
    "group intercepts": (intercepts, lambda n: (groups(n), [0.5] * n), lambda n: {("a", 3): 0.3}),
    "regression": (regression, lambda n: (np.full((n, 3), 0.5),), lambda n: {("beta", 1): 0.3}),
    "grid": (grid, lambda n: (n // 20,), lambda n: {("f", 1, 2): 0.3}),
    "wide grid": (wide_grid, lambda n: (n // 3,), lambda n: {("f", 1, 2): 0.3}),
    "grid in a dict": (grid_in_a_dict, lambda n: (n // 20,), lambda n: {("f", 1, 2): 0.3}),
    "map": (sites_of_a_map, lambda n: ([(i % 7, i // 7) for i in range(n)],), lambda n: {("f", 2, 3): 0.3}),
    "names": (by_name, lambda n: ([f"n{i}" for i in range(n)],), lambda n: {("a", "n3"): 0.3}),
    "two a step": (position_and_speed, lambda n: (n,), lambda n: {("x", n // 2, 0): 0.3}),
    "first and last": (first_and_last, lambda n: (n,), lambda n: {("x", n // 2, 0): 0.3}),
    "lists in a list": (lists_in_a_list, lambda n: (n // 3,), lambda n: {("f", n // 6, 1): 0.3}),
    "wide lists in a list": (wide_lists_in_a_list, lambda n: (n // 3,), lambda n: {("f", 1, n // 6): 0.3}),
    "series": (series, lambda n: (n,), lambda n: {("x", 0, n // 2): 0.3}),
    "lists by name": (lists_by_name, lambda n: (names(n),), lambda n: {("f", f"name{n // 2}", 0): 0.3}),
    "dicts in a list": (dicts_in_a_list, lambda n: (n,), lambda n: {("f", n // 2, "a"): 0.3}),
    "chosen keys": (at_chosen_keys, lambda n: (n,), lambda n: {("z", n // 2): n // 3}),
    "made when needed": (made_when_needed, lambda n: (n,), lambda n: {("z", n // 2): n // 3}),
    "overwritten at times": (overwritten_at_times, lambda n: (n,), lambda n: {("c", n // 2): False}),
    "rows": (in_rows, lambda n: (n // 3,), lambda n: {("f", 4): np.array([0.1, 0.2, 0.3])}),
}

CONSTRAINED = {
    "growth": lambda n: {"k": n},
    "shrinkage": lambda n: {"k": n},
    "straight line": lambda n: {"which": True},
    "assignment": lambda n: {("z", n // 2): 0},
    "states": lambda n: {("z", n // 2): 0},
    "made when needed": lambda n: {("z", i): 3 * i % n for i in range(n)},
    "overwritten at times": lambda n: {("c", n // 2): True},
    "append": lambda n: {("m", n // 2): 1.0},
}


def started(name, n):
    program, args, _ = UPDATES[name]
    init = CONSTRAINED.get(name, lambda n: {})(n)
    trace = program.generate(args(n), init=init, rng=1).trace
    there = trace.update(UPDATES[name][2](n), rng=2)
    assert there.discard  # or the edit that is counted would change nothing
    return there.trace.update(there.discard, rng=2).trace


@pytest.mark.parametrize("name", UPDATES)
def test_updates(name):
    change = UPDATES[name][2]
    counts = []
    for n in (SMALL, LARGE):
        trace = started(name, n)
        counts.append(calls(lambda: trace.update(change(n), rng=1)))
    assert counts[1] <= GROWTH * counts[0]


REGENERATED = {
    "comprehension": lambda n: ("mu", n // 2),
    "list": lambda n: ("mu", n // 2),
    "calls": lambda n: ("pair", n // 2),
    "chain": lambda n: ("x", n // 2),
    "chain in a list": lambda n: ("x", n // 2),
    "while": lambda n: ("x", n // 2),
}


@pytest.mark.parametrize("name", REGENERATED)
def test_regenerate(name):
    counts = []
    for n in (SMALL, LARGE):
        trace = started(name, n)
        selection = select(REGENERATED[name](n))
        counts.append(calls(lambda: trace.regenerate(selection, rng=1)))
    assert counts[1] <= GROWTH * counts[0]


def test_a_cluster_mean_costs_its_members():
    counts = []
    for n in (SMALL, LARGE):
        z = {("z", i): 1 if i in (3, 5, 8) else i % 3 - i % 3 % 2 for i in range(n)}
        trace = clusters.generate((n, 3), init=z, rng=1).trace
        trace = trace.update({("mu", 1): 0.1}).trace
        counts.append(calls(lambda: trace.update({("mu", 1): 0.7})))
    assert counts[1] <= GROWTH * counts[0]


def test_one_more_step_of_a_chain():
    counts = []
    for n in (SMALL, LARGE):
        trace = walk.simulate((n,), rng=1)
        counts.append(calls(lambda: trace.update(args=(n + 1,), rng=1)))
    assert counts[1] <= GROWTH * counts[0]


def test_a_leaf_costs_its_depth():
    counts = []
    for depth in (4, 9):
        trace = tree.simulate((depth,), rng=1)
        address = (*(["left", "right"] * 5)[:depth], "value")
        counts.append(calls(lambda: trace.update({address: 0.5})))
    assert counts[1] <= 2.5 * counts[0]


def test_mutual_recursion_costs_the_depth_of_the_choice():
    counts = []
    for n in (8, 40):
        trace = even.simulate((n,), rng=1)
        counts.append(calls(lambda: trace.update({("rest", "rest", "x"): 0.5})))
    assert counts[1] <= GROWTH * counts[0]


def test_an_untaken_branch_costs_nothing():
    counts = []
    for n in (SMALL, LARGE):
        trace = branches.generate((n,), init={"which": False}, rng=1).trace
        counts.append(calls(lambda: trace.update({"scale": 0.5})))
    assert counts[1] <= counts[0] + 2  # whether a trace may become small is asked of one with few choices


# --- whole moves -----------------------------------------------------------------------------------


@gen
def pick(trace, n):
    i = ~uniform_discrete(0, n - 1)
    u = ~normal(0, 1)


@transform
def move(model_in, aux_in, *, model_out, aux_out):
    i, u = read(aux_in["i"]), read(aux_in["u"])
    copy(aux_in["i"], aux_out["i"])
    write(model_out["x", i], read(model_in["x", i]) + u)
    write(aux_out["u"], -u)


@pytest.mark.parametrize("program", [walk, counting], ids=["chain", "while"])
def test_an_involutive_step(program):
    counts = []
    for n in (SMALL, LARGE):
        trace = program.generate((n,), rng=1).trace
        counts.append(calls(lambda: involutive_mcmc(trace, pick, (n,), move, rng=3)))
    assert counts[1] <= GROWTH * counts[0]


@gen
def split(n):
    w = ~dirichlet([1.0, 1.0])
    for i in range(n):
        ("x", i) @ ~normal(w[0], 1)


def test_a_shared_vector_is_one_vectorised_call():
    counts = []
    for n in (SMALL, LARGE):
        trace = split.simulate((n,), rng=1)
        trace = trace.update({"w": np.array([0.5, 0.5])}).trace
        counts.append(calls(lambda: trace.update({"w": np.array([0.25, 0.75])})))
    assert counts[1] <= GROWTH * counts[0]
