"""Loops and comprehensions without choices, which an edit follows entry by entry."""

import copy
import math
from contextlib import suppress

import numpy as np
import pytest

from gendsl import gen, normal, poisson, uniform_discrete
from gendsl.errors import traceback_location
from gendsl.runtime import filled
from gendsl.runtime.lowering.ir import Filled
from tests.laws.edits import Session
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written

WHOLE = {
    "impure", "drawn_by_numpy", "carried", "left_behind", "with_a_condition", "conditionally", "reads_itself",
    "through_a_copy", "in_two_dimensions", "unpacked_call",
}  # fmt: skip
"""The programs in which no such loop is followed entry by entry."""


def square(v, by=1.0):
    return by * v * v


def root(v):
    return math.sqrt(v + 1.5)  # not for all


CALLS = []


def noted(v):
    CALLS.append(v)
    return v + 1.0


@written(3, 2, 5, 0, 1)
@gen
def listed(n):
    a = ~normal(0, 1)
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(a * v) for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def listed_twice(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(v) for v in x]
    u = [2 * b + c for b, c in zip(w, x)]  # noqa: B905
    ("s",) @ ~normal(sum(w), 1)
    for i, v in enumerate(u):
        ("y", i) @ ~normal(v + len(w), 1)
    return w, u


@written(3, 2, 5, 1)
@gen
def overwritten(n):
    w = [("w", i) @ ~normal(0, 1) for i in range(n)]
    for i in range(len(w)):  # all that is read of w is how long it is
        w[i] = i * n
    return w


@written(3, 2, 5, 0)
@gen
def may_fail(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [root(v) for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return tuple(w)


@written(3, 2, 5, 0)
@gen
def neighbours(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    d = [x[i] - x[i - 1] for i in range(n)]
    e = [x[i + 1] * x[i] for i in range(n - 1)]
    for i in range(n - 1):
        ("y", i) @ ~normal(d[i] + e[-1 - i], 1)
    return d, e


@written((3, 2), (2, 3), (5, 1), (0, 2))
@gen
def looked_up(n, k):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k)]
    z = [("z", i) @ ~uniform_discrete(0, k - 1) for i in range(n)]
    m = [mu[c] for c in z]
    t = [(c, mu[c - 1]) for c in z]
    for i in range(n):
        ("y", i) @ ~normal(m[i] + t[i][1], 1 + t[i][0])
    return m, t


@written((3, 2), (2, 3), (5, 1), (0, 2))
@gen
def looked_up_further_on(n, k):
    s = ~uniform_discrete(0, 2)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k)]
    z = [("z", i) @ ~uniform_discrete(0, k - 1) for i in range(n)]
    m = [mu[(c + s) % k] for c in z]
    for i in range(n):
        ("y", i) @ ~normal(m[i], 1)
    return m


@written((3, 2), (2, 3), (5, 1), (0, 2))
@gen
def looked_up_in_statements(n, k):
    b = ~normal(0, 1)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k)]
    z = [("z", i) @ ~uniform_discrete(0, k - 1) for i in range(n)]
    m = []
    for i in range(n):
        at = z[i] if b > 0 else 0
        by = mu[at] * b
        m.append(by + i)
    for i in range(n):
        ("y", i) @ ~normal(m[i], 1)
    return m


@written(3, 2, 5, 0)
@gen
def appended(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [0.5, -0.5]
    for v in x:
        w.append(square(v, by=2.0))
    for i in range(n):
        ("y", i) @ ~normal(w[i] + w[i - n], 1)
    w.append(1.0)
    ("z",) @ ~normal(len(w), 1)
    return w


@written(3, 2, 5, 0)
@gen
def appended_to_a_drawn_base(n):
    k = ~poisson(2)
    w = [float(j) for j in range(k)]
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    for v in x:
        w.append(v / 2)
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def filled_in(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [0.0] * (n + 2)
    for i in range(n):
        w[i + 1] = math.exp(x[i])
    for i in range(n):
        ("y", i) @ ~normal(w[i] - w[i + 2], 1)
    return w


@written((3, 5), (2, 5), (3, 6), (5, 5))
@gen
def filled_in_part(n, m):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [0.5] * m
    for i in range(n):
        w[i] = math.exp(x[i])
    for i in range(m):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def filled_by_elements(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = list(range(n))
    for i, v in enumerate(x):
        w[i] = v > 0
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def array(n):
    a = ~normal(0, 1)
    x = np.zeros(n)
    for i in range(n):
        x[i] = ~normal(0, 1)
    w = np.ones(n + 1)
    for i in range(n):
        w[i] = a + math.exp(x[i])
    r = np.zeros(n, int)
    for i in range(n):
        r[i] = 3 * x[i]
    for i in range(n):
        ("y", i) @ ~normal(w[i] + r[i], 1)
    ("z",) @ ~normal(w.sum() + r[: n - 1].sum(), 1)
    return w, r


@written(3, 2, 5, 0)
@gen
def of_a_whole_array(n):
    x = np.zeros(n + 1)
    for i in range(n):
        x[i + 1] = ~normal(0, 1)
    w = np.exp(x)
    u = [v + 1 for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i] + u[i + 1], 1)
    return w, x, u


@written(3, 2, 5, 0)
@gen
def in_a_dict(n):
    x = {i: ("x", i) @ ~normal(0, 1) for i in range(n)}
    w = {k: math.exp(v) for k, v in x.items()}
    u = {k: w[k] + 1 for k in range(n)}
    for i in range(n):
        ("y", i) @ ~normal(w[i] + u[i], 1)
    for k in w:
        ("t", k) @ ~normal(w[k], len(u))
    return w, u


@written(3, 2, 5, 0)
@gen
def through_a_dict(n):
    x = {i * 0.5: ("x", i) @ ~normal(0, 1) for i in range(n)}
    w = [math.exp(v) for v in x.values()]
    t = [k + 1 for k in x.keys()]  # noqa: SIM118
    u = {}
    for k, v in x.items():
        e = v + k
        u[k] = e
    s = [0.5]
    for v in x.values():
        s.append(v)
    r = {0.5: 1.0}
    for k, v in x.items():
        r[k] = v
    for i in range(n):
        ("y", i) @ ~normal(w[i] + t[i] + u[i * 0.5] + s[i] + r[i * 0.5], 1)
    return w, t, u, s, r


@written(3, 2, 5, 0)
@gen
def through_a_dict_keyed_by_choices(n):
    z = [("z", i) @ ~uniform_discrete(0, 5) for i in range(n)]
    x = {}
    for i in range(n):
        x[z[i]] = ("x", i) @ ~normal(0, 1)
    y = {c: ("y", i) @ ~normal(0, 1) for i, c in enumerate(z)}
    w = {k: v + 1 for k, v in x.items()}
    u = [v * 2 for v in y.values()]
    t = {k: (k, v) for k, v in w.items()}
    ("u",) @ ~normal(sum(u) + len(w), 1)
    for i in range(n):
        ("r", i) @ ~normal(w[z[i]] + t[z[i]][1], 1)
    return w, u, t


@written(3, 2, 5, 0)
@gen
def through_a_dict_filled_twice(n):
    z = [("z", i) @ ~uniform_discrete(0, 5) for i in range(n)]
    x = {}
    for i in range(n):
        x[z[i]] = ("x", i) @ ~normal(0, 1)
    for i in range(2):
        x[i + 10] = ("t", i) @ ~normal(0, 1)
    w = {k: v + 1 for k, v in x.items()}
    for i in range(n):
        ("r", i) @ ~normal(w[z[i]] + w[10] + len(w), 1)
    return w


@written(3, 2, 5, 0)
@gen
def through_a_dict_that_grows(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    u = {i: v for i, v in enumerate(x)}  # noqa: C416
    s = [v + k for k, v in u.items()]
    for i, v in enumerate(s):
        ("y", i) @ ~normal(v, 1)
    return s, u


@written(3, 2, 5, 0)
@gen
def through_an_argument(n):
    data = {i: i / 2 for i in range(n)}
    a = ~normal(0, 1)
    w = {k: a * v for k, v in data.items()}
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def keyed_by_choices(n):
    z = [("z", i) @ ~uniform_discrete(0, 3) for i in range(n)]
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = {c: v + 1 for c, v in zip(z, x)}  # noqa: B905
    u = {(i, "k"): v for i, v in enumerate(x)}
    for i in range(n):
        ("y", i) @ ~normal(w[z[i]] + u[i, "k"], 1)
    ("n",) @ ~normal(len(w), 1)
    return w, u


@written(3, 2, 5, 0)
@gen
def of_lists(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [[v, v * v, "a"] for v in x]
    u = [sum(row[:2]) for row in w]
    s = [row for row in w]  # noqa: C416
    for i in range(n):
        ("y", i) @ ~normal(w[i][1] + u[i] + s[i][0], 1)
    return w, s


@written(3, 2, 5, 0)
@gen
def of_several_types(n):
    z = [("z", i) @ ~uniform_discrete(0, 4) for i in range(n)]
    w = [c if c % 2 else c / 2 for c in z]
    b = [c > 1 or None for c in z]
    big = [10 ** (5 * c) for c in z]
    flags = [c > 1 if c else 0 for c in z]
    floats = [np.exp(c) if c > 1 else math.exp(c) for c in z]
    for i in range(n):
        ("y", i) @ ~normal(w[i] + (1 if b[i] else 0), 1 + math.log(big[i]))
    return w, b, big, flags, floats


@written(3, 2, 5, 0)
@gen
def changed_later(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(v) for v in x]
    other = [v for v in w]  # noqa: C416
    w.append(0.5)
    w[0] += 1.0
    for i in range(n):
        ("y", i) @ ~normal(w[i] + other[i], 1)
    return w, other


@written(3, 2, 5, 0)
@gen
def another_name(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = x
    u = [v + 1 for v in w]
    t = u
    r = [v + 1 for v in t]
    for i in range(n):
        ("y", i) @ ~normal(r[i] + t[i], 1)
    return w, u, t


@written(3, 2, 5, 0)
@gen
def handed_on(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(v) for v in x]
    "inner" @ ~inner(w, n)
    return w


@gen
def inner(w, n):
    u = [v - 1 for v in w]
    for i in range(n):
        ("y", i) @ ~normal(u[i], 1)
    return u


@written(3, 2, 5, 0)
@gen
def in_an_arm(n):
    a = ~normal(0, 1)
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    if a > 0:
        w = [math.exp(v) for v in x]
    else:
        w = [v + a for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def after_a_way_out(n):
    a = ~normal(0, 1)
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    if a > 0.5:
        return x
    w = [math.exp(v) for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(([0.5, 1.0, -1.0],), ([0.5, 2.0],), ((0.5, 1.0, -1.0, 2.0),), (np.array([1.0, 2.0]),), ([],))
@gen
def of_data(xs):
    a = ~normal(0, 1)
    w = [a * v for v in xs]
    u = [float(v) for v in xs]
    for i in range(len(xs)):
        ("y", i) @ ~normal(w[i] + u[i], 1)
    return w


@written((3, 1), (3, 2), (4, 1), (0, 0), (2, 5))
@gen
def of_different_lengths(n, m):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    y = [("y", i) @ ~normal(0, 1) for i in range(m)]
    w = [a + b for a, b in zip(x, y)]  # noqa: B905
    u = [(t, a, b) for t, (a, b) in enumerate(zip(x, y), n)]  # noqa: B905
    for i in range(min(n, m)):
        ("z", i) @ ~normal(w[i] + u[i][0], 1)
    return w, u


@written(3, 2, 5, 0)
@gen
def length_read(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [v / len(x) for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def carried(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = []
    s = 0.0
    for v in x:
        s = s + v
        w.append(s)
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def left_behind(n):
    last = 0.0
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = []
    for v in x:
        last = v + 1
        w.append(last)
    for i in range(n):
        ("y", i) @ ~normal(w[i] + last, 1)
    return w


@written(3, 2, 5, 0)
@gen
def impure(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [noted(v) for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def drawn_by_numpy(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [0.0 * np.random.normal() + v for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def with_a_condition(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [v for v in x if v > 0]
    ("y",) @ ~normal(sum(w), 1)
    return w


@written(3, 2, 5, 0)
@gen
def conditionally(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [0.0] * n
    for i in range(n):
        if x[i] > 0:
            w[i] = x[i]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 1)
@gen
def reads_itself(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [0.0] * n
    for i in range(n):
        w[i] = x[i] + w[i - 1]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 5, 0)
@gen
def through_a_copy(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [v + 1 for v in sorted(x)]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@written(3, 2, 0)
@gen
def in_two_dimensions(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = np.zeros((n, 2))
    for i in range(n):
        for j in range(2):
            w[i, j] = x[i] + j
    for i in range(n):
        ("y", i) @ ~normal(w[i, 0] * w[i, 1], 1)
    return w


@written(3, 2, 0)
@gen
def rows(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = np.zeros((n, 2))
    for i in range(n):
        w[i] = x[i]
    for i in range(n):
        ("y", i) @ ~normal(w[i, 0] * w[i, 1], 1)
    return w


@written((3, 2), (2, 3), (3, 3), (0, 1))
@gen
def over_rows(n, m):
    f = np.zeros((n, m))
    g = {}
    for i in range(n):
        for j in range(m):
            f[i, j] = ~normal(0, 1)
    for i in range(n):
        for j in range(m):
            g[i, j] = ("g", i, j) @ ~normal(0, 1)
    h = [[("h", i, j) @ ~normal(0, 1) for j in range(m)] for i in range(n)]
    s = [np.sum(row) for row in f]
    t = [g[i, 0] + f[i, -1] for i in range(n)]
    u = [sum(row) for row in h]
    v = [h[i][m - 1] for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(s[i] + t[i] + u[i] + v[i], 1)
    return s, t, u, v


@written(3, 2, 5, 0)
@gen
def in_a_chain(n):
    a = [("a", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(v) for v in a]
    z = 0.0
    zs = []
    for i in range(n):
        z = ("z", i) @ ~normal(z, w[i])
        zs.append(z)
    d = [z + v for z, v in zip(zs, w)]  # noqa: B905
    for i, v in enumerate(d):
        ("y", i) @ ~normal(v, 1)
    return z, d


@written(3, 2, 5, 0)
@gen
def unpacked_call(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [a + b for a, b in map(divmod, x, [2.0] * n)]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)
    return w


@pytest.fixture
def followed(monkeypatch):
    """However few the entries are, and however many of them change, they are followed one by one."""
    monkeypatch.setattr(filled, "LEAST", 0)
    monkeypatch.setattr(filled, "PART", 0)
    monkeypatch.setattr(filled, "ASKED", 0)


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_runtimes_agree(name, seed):
    PROGRAMS.agree(name, seed)


@pytest.mark.usefixtures("followed", "in_columns")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_runtimes_agree_in_columns(name, seed):
    PROGRAMS.agree(name, seed, columns_from=1)


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_many_changes(name):
    model, args = PROGRAMS[name]
    edits = [(kind, 0) for kind in ["change"] * 12 + ["change_args"] + ["change"] * 12] * len(SEEDS)
    Session(model, args, lambda _, rng: args[int(rng.integers(len(args)))]).run(edits, 1)


@pytest.mark.usefixtures("followed")
def test_entries_keep_their_types():
    model = PROGRAMS["of_several_types"][0]
    start = {("z", i): 0 for i in range(3)}
    trace = model.generate((3,), start, rng=1).trace
    for value in (1, 4, 2, 3):
        there = trace.update({("z", 0): value}).trace
        twin = model.reference.generate((3,), {**start, ("z", 0): value}, rng=1).trace
        for made, expected in zip(there.retval, twin.retval, strict=True):
            assert [*map(type, made)] == [*map(type, expected)]
        longer = there.update({("z", 3): value}, args=(4,)).trace
        assert [type(made[0]) for made in longer.retval] == [type(made[3]) for made in longer.retval]


@pytest.mark.usefixtures("followed")
@pytest.mark.parametrize("name", ["listed", "filled_in", "array", "in_a_dict", "of_lists"])
def test_what_a_trace_returns_is_its_own(name):
    model = PROGRAMS[name][0]
    trace = model.simulate((3,), rng=1)
    for there in (trace, trace.update({("x", 1): 0.3}).trace):
        again = there.update({("x", 2): 0.1}).trace
        expected = copy.deepcopy(again.retval), again.log_prob
        for made in (*(there.retval if type(there.retval) is tuple else (there.retval,)), there.retval):
            with suppress(TypeError, ValueError):
                made[0] = 100.0
        for made in again, there.update({("x", 2): 0.1}).trace:
            assert repr(made.retval) == repr(expected[0])
            assert made.log_prob == pytest.approx(expected[1])


@gen
def past_an_array(size, n):
    x = np.zeros(size)
    for i in range(n):
        x[i] = ~normal(0, 1)


@gen
def past_a_list(size, n):
    x = [0.0] * size
    for i in range(n):
        z = ("z", i) @ ~normal(0, 1)
        x[2 * i // 2] = z + 1
    ("y",) @ ~normal(sum(x), 1)


@gen
def past_a_row(size, n):
    x = [[0.0] * size for _ in range(2)]
    for i in range(2):
        for j in range(n):
            x[i][j] = ("x", i, j) @ ~normal(0, 1)


@gen
def past_a_table(size, n):
    x = np.zeros((size, 2))
    for i in range(n):
        if i >= 0:
            x[i, 0] = ("x", i) @ ~normal(0, 1)


@gen
def no_room_for_a_vector(size, n):
    x = np.zeros(size)
    for i in range(n):
        x[i] = np.zeros(n - size + 1) + (("x", i) @ ~normal(0, 1))


@gen
def past_the_end(size, n):
    x = np.zeros(size)
    for i in range(size):
        x[i] = ~normal(0, 1)
    ("y",) @ ~normal(x[n - 1], 1)


@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize(
    "model",
    [past_an_array, past_a_list, past_a_row, past_a_table, no_room_for_a_vector, past_the_end],
    ids=lambda model: model.name,
)
def test_an_entry_out_of_range_is_the_users_line(model, size):
    """The error is Python's own, from the line that writes the entry, on either runtime and in an update."""
    trace = model.simulate((size, size), rng=1)
    said = []
    for operation in (
        lambda: model.reference.simulate((size, size + 1), rng=1),
        lambda: model.compiled_version.simulate((size, size + 1), rng=1),
        lambda: trace.update(args=(size, size + 1), rng=1),
    ):
        with pytest.raises((IndexError, ValueError)) as error:
            operation()
        location = traceback_location(error.value.__traceback__)
        assert (location.filename, location.function) == (__file__, model.name)
        said.append((type(error.value), str(error.value), location.lineno, location.columns))
    assert said[0] == said[1] == said[2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_are_followed(name):
    found = [node for node in PROGRAMS[name][0].compiled.program.body if isinstance(node, Filled)]
    assert bool(found) != (name in WHOLE | {"in_an_arm"})
