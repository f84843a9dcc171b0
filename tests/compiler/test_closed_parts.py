"""Closed programs as text: parts of arrays, histograms, norms, factorisations, decimals, `out=`."""

import math

import numpy as np
import pytest
import scipy.stats
from scipy.stats import multivariate_normal

from gendsl import bernoulli, factor, gen, normal, uniform_discrete
from gendsl.compiler.hir.failures import FailedText
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome, raises_everywhere
from tests.compiler.closed_steps import needs_llvm
from tests.compiler.test_closed_numpy import told

RANDOM = np.random.default_rng(3)
A, V, N = RANDOM.normal(size=(5, 3)), RANDOM.normal(size=7), np.array([3, 1, 3, 0, 1, 1, 7])


@gen
def parts(a, v, n):
    x = ~normal(0, 1)
    k = ~uniform_discrete(1, 7)
    a, v = a + x, v + x
    found = told(np.split(np.append(v, v), 2)) + told(np.array_split(v, 3)) + told(np.array_split(v, k))
    found += told(np.split(v, [2, 5])) + told(np.array_split(a, 2)) + told(np.split(v, [k, 9]))
    first, second = np.split(v, [k])
    first *= 2
    found += v.sum() + told([second]) + told([np.squeeze(v[None, :, None]), np.squeeze(a[:, None], axis=1)])
    found += told([np.r_[0.0, v, x, [1.0, 2.0]], np.r_[1:5], np.r_[0, n], np.r_[a, a], np.r_[0:k:2, 9]])
    found += told([np.c_[v, v], np.c_[np.ones(5), a], np.c_[a[:, 0], a[:, 1:]]])
    "found" @ ~factor(found)


@gen
def histograms(a, v, n):
    x = ~normal(0, 1)
    counts, edges = np.histogram(v, bins=[-2.0, -1.0, 0.5, x * x + 0.5])
    more, others = np.histogram(v + x, bins=4, range=(-1, 1))
    usual, ends = np.histogram(a + x)
    found = told(
        [counts, edges, more, others, usual, ends, np.histogram(n, 3)[0], np.histogram(n, [0, 1, 3])[0]]
    )
    found += told([np.histogram(v, 3, density=True)[0], np.histogram(n, [0, 1, 3])[0]])
    values, repeats = np.unique(n, return_counts=True)
    different, first, which = np.unique(n, return_index=True, return_inverse=True)
    every = np.unique(np.round(v + x, 0), return_counts=True, return_inverse=True)
    found += told([values, repeats, different, first, which, different[which], every[0], every[1], every[2]])
    "found" @ ~factor(found)


@gen
def norms(a, v, n):
    x = ~normal(0, 1)
    a, v, norm = a + x, v + x, np.linalg.norm
    found = (
        norm(a) + norm(v, 1) + norm(v, np.inf) + norm(v, -np.inf) + norm(v, 3) + norm(v, 0) + norm(v, ord=2)
    )
    found += told([norm(a, axis=1), norm(a, axis=0, ord=1), norm(a, axis=-1, keepdims=True), norm(a, 2, 1)])
    found += norm(a, "fro") + norm(a, 1) + norm(a, np.inf) + norm(a, -1) + norm(n) + norm(v, keepdims=True)[0]
    s = a.T @ a + 0.1 * np.eye(3)
    found += told([np.linalg.eigvalsh(s), np.linalg.eigvalsh(np.diag([2.0, -1.0, 2.0])), np.linalg.pinv(a)])
    coefficients, left, rank, _ = np.linalg.lstsq(a, v[:5], rcond=None)
    found += told([coefficients, left, np.linalg.lstsq(a, a[:, :2])[0], np.linalg.pinv(a.T)]) + rank
    found += told([np.polyfit(v, np.arange(7.0), 2), np.polyfit(n, v, 1)])
    found += multivariate_normal.logpdf(v[:3], a[0], s) + multivariate_normal(a[0], s).logpdf(v[:3])
    found += scipy.stats.multivariate_normal.pdf(v[:3], mean=a[0], cov=s)
    found += told([multivariate_normal.logpdf(a, mean=v[:3], cov=s)])
    "found" @ ~factor(found)


@gen
def decimals(n):
    x = ~normal(0, 10)
    k = ~uniform_discrete(-50, 50)
    found = (
        round(x, 1) + round(x, 3) + round(x * 100, -1) + round(x, 0) + round(-x / 1000, 2) + round(k / 7, n)
    )
    found += round(k, -1) + round(k, 2) + round(k * 5, -1) + round(x) + round(x, None) + round(k / 2, 0)
    found += math.copysign(1.0, round(-0.01 * abs(x) / 1000, 1)) + round(2.675, 2)
    a = np.array([x, x / 3, k / 8])
    found += np.round(a, 2).sum() + np.round(x, 1) + a.round(1)[2] + np.rint(a).sum() + round(a[0], 2)
    found += math.radians(x) + math.degrees(x) + np.deg2rad(a).sum() + np.rad2deg(x) + np.radians(k)
    found += math.isclose(x, x + 1e-12) + 2 * math.isclose(x, 1, abs_tol=5.0) + 4 * math.isclose(k, 0.0)
    found += np.isclose(x, 1.0) + np.isclose(a, [x, 1.0, np.inf]).sum() + np.allclose(a, a + 1e-12)
    found += 8 * math.isclose(1.0, 1.1, rel_tol=0.2) + np.isclose(a, a + 0.1, atol=0.2)[0]
    "found" @ ~factor(found)


@gen
def given_arrays(a, v, n):
    x = ~normal(0, 1)
    b, c = np.empty(7), np.zeros((5, 3))
    view = b[::-1]
    np.exp(v * x, out=b)
    np.add(b, v, out=b)
    np.multiply(view, 2.0, out=view)
    found = told([b]) + np.cumsum(v, out=b)[2]
    d = np.subtract(a, x, out=c)
    d += 1
    np.negative(b, out=(b,))
    "found" @ ~factor(found + told([b, c]) + np.maximum(b, 0.0, out=None).sum())


@pytest.mark.parametrize("program", [parts, histograms, norms, given_arrays])
@pytest.mark.parametrize("rng", range(4))
def test_parts_of_arrays(program, rng):
    assert outcome(program, (A, V, N), rng=rng) == "equal"


@pytest.mark.parametrize("rng", range(20))
def test_decimals(rng):
    assert outcome(decimals, (2,), rng=rng) == "equal"


@gen
def decimals_of(xs):
    k = ~uniform_discrete(0, 1)
    for i, x in enumerate(xs):
        for digits in (-2, -1, 1, 2, 3):
            (i, digits + 2) @ ~factor(round(x + k, digits) / (i + 1))


def test_decimals_that_are_as_near_to_two():
    """What a product with a power of ten is off by decides; where that is nothing, the even one is taken."""
    halves = [0.25, 0.125, -0.75, 2.675, 0.15, 1.005, 1.025, 0.0005, 25.0, 5.0, 15.0, 150.0, 350.0, 1e-300]
    assert outcome(decimals_of, (halves,), rng=1) == "equal"


@pytest.mark.parametrize("x", [2.5, 0.125, 2.675, 0.15, -1.45, 1e-9, 123456.789, -0.5, 5e-324, 1e11 + 0.25])
def test_decimals_are_exactly_pythons(x):
    from gendsl.compiler.front import library_numbers

    for digits in range(-3, 8):
        if abs(x) * 10.0**digits < 1e12:
            assert repr(library_numbers.rounded(x, digits)) == repr(round(x, digits))
    for digits in range(-4, 2):
        assert library_numbers.rounded_integer(int(x * 5), digits) == round(int(x * 5), digits)


@gen
def parts_of_no_length(n):
    x = ~normal(0, 1)
    y = np.split(np.ones(5) * x, 2)


@gen
def out_of_another_shape(n):
    x = ~normal(0, 1)
    np.add(np.ones(2), x, out=np.ones(3))


@gen
def rank_that_is_not_full(n):
    x = ~normal(0, 1)
    y = np.linalg.solve(np.ones((2, 2)), np.array([x, x]))


@pytest.mark.parametrize("program", [parts_of_no_length, out_of_another_shape, rank_that_is_not_full])
def test_where_numpy_raises_a_text_fails(program):
    raises_everywhere(program, (2,), {("x",): 0.0})


@gen
def matrices_of_low_rank(n):
    x = ~normal(0, 1)
    a = np.ones((4, 2)) * x
    "found" @ ~factor(np.linalg.lstsq(a, np.arange(4.0))[0][0] + np.linalg.pinv(a)[0, 0])


def test_the_reference_decides_what_is_not_told_well():
    assert outcome(matrices_of_low_rank, (2,)).startswith("failed")


@gen
def of_picked_columns(x, y):
    picked = [("picked", j) @ ~bernoulli(0.3) for j in range(3)]
    z = x[:, np.flatnonzero(np.array(picked))]
    fit, left, rank, _ = np.linalg.lstsq(z, y, rcond=None)
    "fit" @ ~factor(-0.5 * np.sum((y - z @ fit) ** 2) - rank - sum(left))


def test_a_fit_of_no_columns():
    rng = np.random.default_rng(1)
    args = rng.normal(size=(6, 3)), rng.normal(size=6)
    ranks = set()
    for seed in range(12):
        assert outcome(of_picked_columns, args, rng=seed) == "equal"
        trace = of_picked_columns.simulate(args, rng=seed)
        ranks.add(sum(trace["picked", j] for j in range(3)))
    assert {0, 1, 2} <= ranks


@gen
def of_large_numbers(xs):
    k = ~uniform_discrete(0, 1)
    for i, x in enumerate(xs):
        ("y", i) @ ~normal(round(x * (k + 1), 1), 1)


@pytest.mark.parametrize("way", ["assess_python", pytest.param("assess_native", marks=needs_llvm)])
def test_what_fails_in_a_function_of_the_library_is_told_with_the_line_that_calls_it(way):
    line = of_large_numbers.__wrapped__.__code__.co_firstlineno + 4
    args = ([1e13, 2.0],)
    with pytest.raises(FailedText, match=f"^line {line}: "):
        getattr(ClosedDensity(of_large_numbers, args), way)(args, {("k",): 0, ("y", 0): 1.0, ("y", 1): 1.0})
