"""Plates whose choices are computed with conditions, comparisons and functions of two numbers run at once."""

import math

import numpy as np
import pytest
from scipy import special
from scipy.special import expit

from gendsl import bernoulli, gamma, gen, normal, poisson, select, uniform_discrete
from gendsl.runtime.lowering import vectors
from gendsl.runtime.lowering.ir import Loop
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written

XS = [0.5, -1.25, 0.0, 2.0, -0.0]
ARRAY = np.array([[0.5, 1.0], [-1.0, 0.25], [2.0, -0.5]])
WHOLE = [3, 0, 1, 2]
YES = [True, False, True]


@written((XS,), (XS[:3],), (WHOLE,), (YES,), (np.array(XS),), (np.array(WHOLE),))
@gen
def logistic(xs):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~bernoulli(expit(a + b * xs[i]))


@written((XS,), (XS[:3],), (WHOLE,), (YES,), (np.array(XS),))
@gen
def probit(xs):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    for i, x in enumerate(xs):
        ("z", i) @ ~bernoulli(special.ndtr(b * x))
        ("w", i) @ ~normal(special.log_expit(b * x) + special.erf(a - x), 1)


@written((XS,), (XS[:3],), (WHOLE,), (YES,), (np.array(XS),), ([math.nan, 1.0, math.inf],))
@gen
def conditions(xs):
    a = ~normal(0, 1)
    s = ~gamma(2, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(a if xs[i] > 0.25 else 0.0, s if xs[i] != 1 else 2)
    for i, x in enumerate(xs):
        high = x >= a
        ("z", i) @ ~normal(a * high + (not x) * s, 1)
        ("b", i) @ ~bernoulli(0.9 if high else 0.2)
    for i in range(len(xs)):
        on = ("on", i) @ ~bernoulli(0.5)
        k = ("k", i) @ ~poisson(2)
        ("v", i) @ ~normal(-a if on else s, 1 if k == 1 else 0.5)
        ("u", i) @ ~normal(k if k < i else i, 1)
        ("t", i) @ ~normal(i if not on else k, 1)


@written((XS,), (XS[:3],), (WHOLE,), (YES,), (np.array(XS),), ([math.nan, 1.0, math.inf],))
@gen
def the_larger(xs):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(min(max(a * 2, xs[i]), 3.0), 1)
    for i in range(len(xs)):
        ("z", i) @ ~normal(min(10.0, np.maximum(a, i * 0.5)), max(i, 1))
    for i in range(len(xs)):
        k = ("k", i) @ ~poisson(2)
        ("v", i) @ ~normal(max(k, i) - min(i, 2), math.hypot(1.0, a))
        ("u", i) @ ~normal(np.logaddexp(a, k), 1 + np.square(a))


@written((ARRAY,), (ARRAY[:2],), ([[0.5, 1], [2, -1.0], [0.25, 0]],))
@gen
def rows_of_two(xs):
    a = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(a * xs[i][0] + +xs[i][1], 1)
    for i in range(len(xs)):
        z = ("z", i) @ ~uniform_discrete(0, 1)
        ("v", i) @ ~normal(xs[i][z] * a, 1)


@written(7, 5)
@gen
def labelled(n):
    """Where all iterations that look up one entry are scored at once, a label is a number."""
    mu = [("mu", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(-2, 1)
        ("x", i) @ ~normal(mu[z] if z > 0 else -mu[z], max(z, 0.5))
        ("y", i) @ ~bernoulli(expit(mu[z] + (z != 0) * mu[z]))
        ("w", i) @ ~normal(min(mu[z], i), 1 + (not z))


@written((3, math.hypot), (4, math.atan2))
@gen
def own_max(n, max):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(max(x, 0.0), 1)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, in_columns):
    PROGRAMS.agree(name, seed, columns_from=2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_run_at_once(name):
    model, _ = PROGRAMS[name]
    loops = [node for node in model.compiled.program.body if isinstance(node, Loop)]
    assert {loop.columns is not None for loop in loops} == {name != "own_max"}


@pytest.mark.parametrize("name", ["logistic", "conditions", "the_larger"])
def test_gradients(name):
    model, _ = PROGRAMS[name]
    xs = np.random.default_rng(1).normal(size=60)
    trace = model.simulate((xs,), rng=2)
    mine = trace.gradients(select(*{"logistic": "ab", "conditions": "as", "the_larger": "a"}[name]))
    for path, slope in mine.items():
        moved = [trace.update({path: trace[path] + d}).trace.log_prob for d in (1e-6, -1e-6)]
        assert slope == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-4)


@gen
def steep(xs):
    b = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(math.sqrt(b * b * xs[i]) if xs[i] > 0 else 0.0, 1)


def test_an_arm_that_is_not_taken_may_have_an_infinite_slope():
    trace, _ = steep.generate((np.arange(60) / 10,), {"b": 0.5, "y": np.zeros(60)})
    slope = -0.5 - 0.5 * np.arange(60).sum() / 10
    assert trace.gradients(select("b"))["b"] == pytest.approx(slope, rel=1e-12)


NUMBERS = [0.0, -0.0, 1.5, -2.0, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize("right", [*NUMBERS, 1, -2])
def test_what_is_larger_is_as_python_has_it(right):
    column = np.array(NUMBERS)
    for function in (max, min):
        for left, other in ((column, right), (np.full(len(column), right, float), column)):
            made = vectors.pairwise(function, left, other)
            others = other if isinstance(other, np.ndarray) else [other] * len(column)
            expected = [float(function(x, y)) for x, y in zip(left.tolist(), list(others), strict=True)]
            assert made.tobytes() == np.array(expected).tobytes()


def test_integers_that_floats_do_not_tell_apart_are_not_compared_as_floats():
    large = np.array([2**53 + 1, 2**53])
    assert vectors.compare(">", large, 2**53).tolist() == [True, False]
    with pytest.raises(vectors.NotColumnsError):
        vectors.compare(">", large, 2.0**53)
    with pytest.raises(vectors.NotColumnsError):
        vectors.choose(np.array([True, False]), large, 0.5)


def test_single_numbers_are_chosen_among_as_python_does():
    assert vectors.choose(True, 1.5, 2) == vectors.choose(math.nan, 1.5, 2) == 1.5
    assert vectors.choose(0, 1.5, 2) == vectors.pairwise(max, 1.5, 2) == 2
    assert vectors.compare("<", 1, 1.5) is True


def test_truth_values_take_the_place_of_nothing():
    """`-True` is -1 in Python; NumPy refuses it, and their sums are no sums."""
    truth = np.array([True, False])
    for operation in (
        lambda: vectors.choose(truth, truth, 1),
        lambda: vectors.pairwise(max, truth, np.array([0, 2])),
        lambda: vectors.positive(truth),
    ):
        with pytest.raises(vectors.NotColumnsError):
            operation()
