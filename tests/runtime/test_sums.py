"""Plates whose choices are computed with sums of terms, products of rows and changes of type run at once."""

import cProfile
import math
import pstats

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, normal, poisson, select, uniform_discrete
from gendsl.errors import LostDerivativeError, ParameterError
from gendsl.runtime.lowering import vectors
from gendsl.runtime.lowering.ir import Loop
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written

X = np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, -0.5], [0.0, 1.5]])
WHOLE = np.array([[1, 0], [2, -3], [0, 5]])
LISTS = X.tolist()
YES = np.array([[True, False], [True, True], [False, True]])


@written((X,), (X[:3],), (X[:2],), (WHOLE,), (YES,), (LISTS,))
@gen
def sums_of_products(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        ("y", i) @ ~normal(sum(b[j] * xs[i][j] for j in range(2)), 1)
        ("w", i) @ ~normal(sum(bj * x for bj, x in zip(b, xs[i], strict=False)), 1)
    for i, row in enumerate(xs):
        ("v", i) @ ~normal(sum([bj * x for bj, x in zip(b, row, strict=False)]) / 2, 1)


@written((X,), (X[:3],), (X[:2],), (YES,))
@gen
def sums_of_cells(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    s = ~gamma(2, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(sum(b[j] * xs[i, j] for j in range(2) if j > 0), s)
        ("w", i) @ ~normal(sum(xs[i, j] * xs[i, k] * b[k] for j in range(2) for k in range(j)), s)
        ("u", i) @ ~poisson(math.exp(sum(x**2 for x in xs[i]) / 20 + sum(bj < i for bj in b)))
        ("t", i) @ ~normal(sum(x * j for j, x in enumerate(xs[i])), s + sum(i for _ in range(0)))


@written((X,), (X[:3],), (X[:2],), (WHOLE,), (YES,), (LISTS,))
@gen
def products(xs):
    b = np.array([("b", j) @ ~normal(0, 1) for j in range(2)])
    for i in range(len(xs)):
        ("y", i) @ ~normal(float(np.array(xs)[i] @ b), 1)
    for i in range(len(xs)):
        ("w", i) @ ~normal(np.sum(xs[i] * b) - (b * xs[i]).sum(), 1)
    for i, row in enumerate(np.array(xs)):
        ("v", i) @ ~bernoulli(1 / (1 + math.exp(row.dot(b))))


@written((X[:, 0],), (X[:2, 1],), (WHOLE[:, 0],), ([0.5, 2, -1.5],), ([True, False],), ([math.nan, 1.0],))
@gen
def numbers(xs):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(a * float(xs[i]), 1 + int(i / 2))
    for i in range(len(xs)):
        k = ("k", i) @ ~poisson(3)
        low = math.floor(k / 2)
        ("w", i) @ ~normal(low + math.ceil(a * k), 1 + round(k * 0.5) + int(k > 1))
        ("v", i) @ ~normal(np.float64(low), float(k + 1))


@written(7, 5)
@gen
def looked_up_in_sums(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    c = [("c", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        ("x", i) @ ~normal(sum(mu[z] * cj for cj in c), 1)
        ("y", i) @ ~normal(mu[int(z)] + sum(m * z for m in mu), 1)


@written(5, 6)
@gen
def gone_through_once(n):
    """An iterator has something for the first iteration alone."""
    a = ~normal(0, 1)
    steps = iter([1.0, 2.0])
    for i in range(n):
        ("x", i) @ ~normal(sum(a * i + step for step in steps), 1)


@written((3, float), (5, abs))
@gen
def own_float(n, float):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(float(x), 1)


@written(5, 4)
@gen
def shadowed(n):
    """Names in a generator expression that mean something else outside."""
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    j = 1.5
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(sum(j * x for j in b) + j, 1)
        ("w", i) @ ~normal(sum(b[i] for b in [[1.0] * n, [0.5] * n]) + b[0], 1)


@written(7, 5)
@gen
def moved_lookups(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        ("x", i) @ ~normal(sum(mu[(z + j) % 3] for j in range(2)), 1)


@written(([0.5, -1.0, 2.0, 1.5],), ([0.5, -1.0, 2.0],), (np.arange(6.0),))
@gen
def windows(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    eps = [("eps", i) @ ~normal(0, 1) for i in range(len(xs))]
    for i in range(len(xs) - 1):
        ("x", i) @ ~normal(sum(b[j] * xs[i + j] for j in range(2)), 1)
        ("y", i) @ ~normal(eps[i + 1] + sum(b[j] * eps[i - j + 1] for j in range(2)), 1)
        ("z", i) @ ~normal(eps[i] + sum(b[j] * eps[i - j] for j in range(2)), 1)


@written(7, 5)
@gen
def conditional_terms(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        ("x", i) @ ~normal(sum(z * m for m in mu if m > z - 1), 1)


ONE_BY_ONE = {"own_float", "gone_through_once", "conditional_terms"}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, in_columns):
    PROGRAMS.agree(name, seed, columns_from=2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_run_at_once(name):
    model, _ = PROGRAMS[name]
    loops = [node for node in model.compiled.program.body if isinstance(node, Loop)]
    if name in ONE_BY_ONE:
        assert not loops or loops[-1].columns is None
    else:
        assert all(loop.columns is not None for loop in loops)


@pytest.mark.parametrize(("name", "given"), [("sums_of_products", X), ("sums_of_cells", X), ("products", X)])
def test_gradients(name, given):
    model, _ = PROGRAMS[name]
    xs = np.random.default_rng(1).normal(size=(60, 2))
    trace = model.simulate((xs,), rng=2)
    if name == "products":
        with pytest.raises(LostDerivativeError, match="float"):
            trace.gradients(select("b"))
        return
    mine = trace.gradients(select("b"))
    assert len(mine) == 2
    for path, slope in mine.items():
        moved = [trace.update({path: trace[path] + d}).trace.log_prob for d in (1e-6, -1e-6)]
        assert slope == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-4)


def test_a_change_of_a_coefficient_takes_as_many_calls_however_many_rows_there_are(unwatched):
    model, _ = PROGRAMS["sums_of_products"]
    made = []
    for n in (60, 600):
        trace = model.simulate((np.random.default_rng(1).normal(size=(n, 2)),), rng=2)
        for _ in range(3):
            trace = trace.update({("b", 1): 0.5}).trace
        profile = cProfile.Profile()
        profile.enable()
        trace.update({("b", 1): 0.25})
        profile.disable()
        made.append(pstats.Stats(profile).total_calls)
    assert made[1] < made[0] + 60


@gen
def times_a_vector(xs, v):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(a * v * xs[i], 1)


@gen
def around_a_vector(xs, v):
    for i in range(len(xs)):
        mean = v
        ("y", i) @ ~normal(mean, 1)


@gen
def a_vector(xs, v):
    for i in range(len(xs)):
        ("y", i) @ ~normal(v, 1)


@pytest.mark.parametrize("model", [times_a_vector, around_a_vector, a_vector], ids=lambda m: m.name)
def test_a_vector_that_stays_the_same_is_no_column(model):
    """It has as many entries as there are iterations; each of them would get the whole of it."""
    for program in (model, model.reference):
        with pytest.raises(ParameterError, match="mean must be one number"):
            program.simulate((np.arange(60.0), np.ones(60)), rng=1)


NUMBERS = [0.0, -0.0, 1.5, -2.5, 2.5, -0.5, 1e15 + 0.5, math.nan, math.inf, 2.0**53, -1e300]


@pytest.mark.parametrize("function", vectors.NUMBERS, ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_numbers_of_another_type(function):
    """Entry by entry, or refused where one of them would be an error or isn't told apart as a float."""
    for column in ([x] for x in (*NUMBERS, 3, -4, True, False)):
        try:
            expected = function(column[0])
        except (ValueError, OverflowError):
            expected = None
        try:
            with np.errstate(all="ignore"):
                made = vectors.number(function, np.array(column))
        except vectors.NotColumnsError:
            assert expected is None or abs(expected) >= 2**53
            continue
        assert expected is not None
        assert made.tolist() == [expected] or (expected != expected and np.isnan(made).all())
        assert made.dtype == (float if function in (float, np.float64) else np.int64)
    assert vectors.number(function, range(3)).tolist() == [0, 1, 2]
    assert vectors.number(function, True) == 1


def test_what_array_code_does_not_go_through():
    for values in (iter([1.0]), {1.0: 2}, {1.0}, "ab", zip([1.0], [2.0], strict=True)):
        with pytest.raises(vectors.NotColumnsError):
            vectors.each(values)
    with pytest.raises(vectors.NotColumnsError):
        vectors.across(np.ones(3))
    with pytest.raises(vectors.NotColumnsError):
        vectors.number(abs, np.ones(3))
