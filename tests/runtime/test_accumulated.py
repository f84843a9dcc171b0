"""Plates with loops that add up, multiply or carry something else: at once, as one by one."""

import math

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, normal, poisson, uniform_discrete
from gendsl.runtime.lowering.ir import Loop
from tests.runtime.idioms import SEEDS, Programs, calls_of_an_update, slopes_are_right

PROGRAMS = Programs()
written = PROGRAMS.written

X = np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, -0.5], [0.0, 1.5]])
WHOLE = np.array([[1, 0], [2, -3], [0, 5]])
YES = np.array([[True, False], [True, True], [False, True]])
LARGE = np.array([[2**61, 1], [2**61, 2], [-(2**61), 3]])


@written((X,), (X[:3],), (X[:2],), (WHOLE,), (YES,))
@gen
def linear_predictors(xs):
    a = ~normal(0, 1)
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        eta = a
        for j in range(2):
            eta += b[j] * xs[i, j]
        ("y", i) @ ~normal(eta, 1)
    for i in range(len(xs)):
        eta = 0
        for c, x in zip(b, xs[i], strict=False):
            eta = eta + c * x
        total = a - eta
        for j, x in enumerate(xs[i]):
            total -= x * j
        ("w", i) @ ~normal(total, 1)
    for i, row in enumerate(xs):
        eta = a
        for bj, x in zip(b, row, strict=False):
            eta += bj * x
        ("v", i) @ ~normal(eta / 2, 1)


@written((X,), (X[:3],), (X[:2],), (WHOLE,), (YES,), (LARGE,))
@gen
def other_operators(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        p = 1.0
        s = b[0]
        for j in range(2):
            p *= 1 / (1 + math.exp(-b[j] * xs[i, j] / 2**60))
            s = s * xs[i, j] + b[j]
            s /= 2
        ("y", i) @ ~bernoulli(p)
        ("w", i) @ ~normal(s, 1)
    for i in range(len(xs)):
        n = 0
        most = xs[i, 0]
        for x in xs[i]:
            n += x > b[0]
            most = max(most, x)
        ("v", i) @ ~normal(n * b[1], 1)
        ("u", i) @ ~normal(most / 2**60, 1)


@written((X, 2), (X[:3], 0), (X[:2], 1), (WHOLE, 2))
@gen
def nested_and_conditional(xs, most):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        q = 0.0
        for j in range(most):
            for k in range(j, most):
                q += b[j] * xs[i, j] * xs[i, k]
            if j > 0:
                q = q / 2
            else:
                q += 1
        ("y", i) @ ~normal(q, 1)
    for i in range(len(xs)):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        s = t = 0.0
        for j in range(most):
            d = xs[i, j] - b[j]
            if z > j:
                s += d * d
            t = t + d
        ("w", i) @ ~normal(t, 1 + s)


@written((X, 2), (X[:3], 0), (X[:2], 1))
@gen
def under_a_condition(xs, most):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        if xs[i, 0] > 0:
            eta = 0.5
            for j in range(most):
                eta += b[j] * math.log(xs[i, 0]) * xs[i, j]
        else:
            eta = b[0]
        ("y", i) @ ~normal(eta, 1)


@written(([0.5, -1.0, 2.0],), ([0.5, 1],), (np.array([1, 2, 3]),), ([True, False],))
@gen
def one_after_another(xs):
    a = ~normal(0, 1)
    s = ~gamma(2, 1)
    for i, x in enumerate(xs):
        eta = a
        eta += s * x
        eta *= 2
        eta -= i
        ("y", i) @ ~normal(eta, 1)


@written((X,), (X[:3],))
@gen
def variable_read_afterwards(xs):
    """Its value is the last one, or the one that it had before."""
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    j = 5
    for i in range(len(xs)):
        eta = 0.0
        for j in range(i % 2):
            eta += b[j] * xs[i, j]
        ("y", i) @ ~normal(eta + j, 1)
    return j


@written((X,), (X[:3],))
@gen
def kept_from_the_last_time(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    t = 0.0
    for i in range(len(xs)):
        eta = 0.0
        for j in range(2):
            eta += t * b[j]
            t = xs[i, j]
        ("y", i) @ ~normal(eta, 1)


@written((X, 2), (X[:3], 0))
@gen
def assigned_in_the_loop(xs, most):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    t = 1.5
    for i in range(len(xs)):
        t = 0.5
        for j in range(most):
            t = b[j] * xs[i, j]
        ("y", i) @ ~normal(t, 1)


@written((X,), (X[:3],))
@gen
def leaves_early(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        eta = 0.0
        for j in range(2):
            if eta > 0:
                break
            eta += b[j] * xs[i, j]
        ("y", i) @ ~normal(eta, 1)


@written((X,), (X[:3],))
@gen
def skips(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        eta = 0.0
        for j in range(2):
            if j == 0:
                continue
            eta += b[j] * xs[i, j]
        ("y", i) @ ~normal(eta, 1)


@written((X,), (X[:3],))
@gen
def with_an_else(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        eta = 0.0
        for j in range(2):
            eta += b[j] * xs[i, j]
        else:
            eta += 1
        ("y", i) @ ~normal(eta, 1)


@written(([2, 0, 1],), ([1, 1],))
@gen
def as_often_as_it_says(ns):
    a = ~normal(0, 1)
    for i in range(len(ns)):
        eta = a
        for j in range(ns[i]):
            eta += j * a
        ("y", i) @ ~normal(eta, 1)


@written((X,), (X[:3],))
@gen
def fills_a_list(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        parts = []
        for j in range(2):
            parts += [b[j] * xs[i, j]]
        ("y", i) @ ~normal(sum(parts), 1)


@written((X,), (X[:3],))
@gen
def adds_vectors(xs):
    b = np.array([("b", j) @ ~normal(0, 1) for j in range(2)])
    for i in range(len(xs)):
        v = np.zeros(2)
        for j in range(2):
            v = v + b[j] * xs[i]
        ("y", i) @ ~normal(v[0] - v[1], 1)


@written((X, [0.5, -1.0]), (X[:3], [1.0]), (X[:2], []))
@gen
def one_name_for_two_loops(xs, extra):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        eta = 0.0
        for j in range(2):
            eta += b[j] * xs[i, j]
        for j in extra:
            eta += j * i
        ("y", i) @ ~normal(eta, 1)
    for i in range(len(xs)):
        eta = 0.0
        for j in range(2):
            j = j + 1
            eta += j * xs[i, 0] * b[0]
        ("w", i) @ ~normal(eta + sum(j * b[1] for j in extra), 1)


@written((X,), (X[:3],))
@gen
def looked_up(xs):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(4)]
    for i in range(len(xs)):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        if z > 0:
            s = mu[z] * 2
            t = s + sum(mu[(z + j) % 4] for j in range(2))
        else:
            s = t = 0.5
        ("y", i) @ ~normal(t + s, 1)
        ("w", i) @ ~normal(mu[z], 1)


@written(([0.0, -0.5, 2.0, 1.5],), ([0.0, -1.0, 2.0],), (np.array([0.0, 0.5]),), ([0.0, 0.0],))
@gen
def the_first_has_none_before(xs):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(4)]
    a = ~normal(0, 1)
    for i in range(len(xs)):
        if i > 0:
            m = mu[i - 1] + a / i
        else:
            m = 0.0
        ("y", i) @ ~normal(m, 1)
        ("w", i) @ ~normal(1 / xs[i] if xs[i] != 0 else a, 1)
    for i in range(len(xs)):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        ("v", i) @ ~normal(a * mu[z - 1] if z >= 1 else a * i, 1 if z else 2)
        ("u", i) @ ~poisson(math.exp(mu[z - 2]) if z > 1 else 3)


@written((X,), (X[:3],))
@gen
def begins_with_an_entry(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    c = np.array([("c", j) @ ~normal(0, 1) for j in range(2)])
    for i in range(len(xs)):
        eta = b[0]
        for j in range(1, 2):
            eta += b[j] * xs[i, j]
        ("y", i) @ ~normal(eta, 1)
    for i in range(len(xs)):
        if xs[i, 0] > 0:
            eta = c[1]
            eta *= 2
        else:
            eta = b[1]
        eta -= xs[i, 1]
        ("w", i) @ ~normal(eta, 1)


@written(3)
@gen
def an_entry_that_is_an_array(n):
    """What is added to it shows in the list."""
    a = ~normal(0, 1)
    rows = [0.5, np.array([1.0, a])]
    s = rows[1]
    s += n
    y = ~normal(rows[1][0], 1)


@written(3)
@gen
def an_entry_that_becomes_an_array(n):
    a = ~normal(0, 1)
    sums = [0.0, 0.0]
    sums[0] += np.array([1.0, a])
    t = sums[0]
    t += n
    y = ~normal(sums[0][1], 1)


@written(3)
@gen
def an_entry_unpacked_into(n):
    a = ~normal(0, 1)
    pairs = [0.0, 1.0]
    pairs[0], last = np.array([a, 2.0]), n
    u = pairs[0]
    u += last
    y = ~normal(pairs[0][0], 1)


@written(3)
@gen
def a_row_of_a_matrix(n):
    a = ~normal(0, 1)
    matrix = np.array([0.5, a], ndmin=2)
    v = matrix[0]
    v += n
    y = ~normal(matrix[0, 1], 1)


@written(3)
@gen
def a_part_of_an_array(n):
    """A mask gives a copy, and a slice doesn't."""
    a = np.array([("a", j) @ ~normal(0, 1) for j in range(3)])
    v = a[a > 0]
    v += n
    w = a[1:]
    w += n
    y = ~normal(a[1] + sum(v), 1)


@written(3)
@gen
def a_number_that_becomes_a_list(n):
    a = ~normal(0, 1)
    b = [0.5, 0.5]
    part = 0.5
    for _ in range(2):
        part = b
        total = part
        total += [a]
    y = ~normal(sum(b), 1)


@written((X, 0), (X[:3], 2))
@gen
def fails_though_nothing_needs_it(xs, k):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        if xs[i, 0] > 1:
            m = 1 / k
            m = a
        else:
            m = 0.0
        ("y", i) @ ~normal(m, 1)
    for i in range(len(xs)):
        s = 0.0
        for j in range(2):
            unused = [0.5, 0.25][j + k]
            s += xs[i, j]
        ("w", i) @ ~normal(s, 1)


ONE_BY_ONE = {
    "variable_read_afterwards", "leaves_early", "skips", "with_an_else",
    "as_often_as_it_says", "fills_a_list", "adds_vectors", "an_entry_that_is_an_array",
    "an_entry_that_becomes_an_array",
    "an_entry_unpacked_into", "a_row_of_a_matrix", "a_part_of_an_array", "a_number_that_becomes_a_list",
}  # fmt: skip
CHAINS = {"variable_read_afterwards", "kept_from_the_last_time"}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, in_columns):
    PROGRAMS.agree(name, seed, columns_from=1000 if seed % 2 else 2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_run_at_once_and_which_are_chains(name):
    model, _ = PROGRAMS[name]
    loops = [node for node in model.compiled.program.body if isinstance(node, Loop)]
    if name in ONE_BY_ONE:
        assert not loops or loops[-1].columns is None
    else:
        assert all(loop.columns is not None for loop in loops)
    assert any(loop.carried for loop in loops) == (name in CHAINS)


@pytest.mark.parametrize(
    ("name", "change"),
    [("linear_predictors", ("b", 1)), ("other_operators", ("b", 0)), ("nested_and_conditional", ("b", 1)),
     ("under_a_condition", ("b", 1)), ("one_after_another", "a"), ("assigned_in_the_loop", ("b", 1)),
     ("one_name_for_two_loops", ("b", 1))],
)  # fmt: skip
def test_a_change_outside_takes_as_many_calls_however_many_iterations_there_are(name, change, unwatched):
    model, given = PROGRAMS[name]
    made = []
    for n in (60, 600):
        xs = np.random.default_rng(1).normal(size=(n, *np.shape(given[0][0])[1:]))
        trace = model.simulate((xs, *given[0][1:]), rng=2)
        made.append(calls_of_an_update(trace, change))
    assert made[1] < made[0] + 60


@pytest.mark.parametrize("name", ["linear_predictors", "nested_and_conditional", "under_a_condition"])
def test_gradients(name, monkeypatch):
    model, given = PROGRAMS[name]
    xs = np.random.default_rng(1).normal(size=(60, 2))
    at_once = slopes_are_right(model.simulate((xs, *given[0][1:]), rng=2), "b", monkeypatch)
    assert at_once == (name == "linear_predictors")  # a condition may hide a slope that is infinite


def test_the_explanation_says_that_loops_inside_are_part_of_a_plate():
    shown = PROGRAMS["begins_with_an_entry"][0].explain()
    assert "opaque" not in shown
    assert "chain" not in shown
    assert "all iterations are scored at once when" in shown
