"""What every distribution of one number must do; each check raises AssertionError with what is wrong."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.integrate
from autograd.test_util import check_grads

from gendsl.errors import ParameterError

Z_MAX = 4.5
KS_MAX = 2.2  # sqrt(n) times the Kolmogorov-Smirnov distance passes this with probability 1.3e-4
DRAWS = 20_000


@dataclass(frozen=True)
class Case:
    """One row of a table of distributions.

    Attributes:
        law: the distribution.
        reference: the same law in scipy, or anything with `logpdf` (or `logpmf`) and `cdf`.
        xs: values to compare at.
        terms: the size of the largest term that cancels in the log density, where it is above 1; scipy's
            result can't be more accurate than 1e-12 of it, and neither is ours asked to be.
        differentiable: the parameters that are continuous; all of them if None.
    """

    law: Any
    reference: Any
    xs: Sequence[Any]
    terms: float = 1.0
    differentiable: tuple[str, ...] | None = None

    def log_densities(self, xs: Any) -> np.ndarray:
        log_density = getattr(self.reference, "logpmf" if self.law.support.discrete else "logpdf")
        return np.asarray(log_density(np.asarray(xs, dtype=float)))


def assert_log_densities(case: Case) -> None:
    """Scalars agree with scipy to 1e-12, arrays of any shape and elementwise parameters with scalars."""
    scores = [case.law.logpdf(x) for x in case.xs]
    assert all(type(score) is float for score in scores)
    tolerance = 1e-12 * np.maximum(np.abs(scores), case.terms)
    expected = case.log_densities(case.xs)
    assert (np.abs(scores - expected) <= tolerance).all(), (case.law, case.xs, scores, expected)

    xs = np.asarray(case.xs)
    folded = np.stack([xs, xs[::-1]])
    columns = case.law.logpdf(folded)
    assert columns.shape == folded.shape and columns.dtype == float
    error = np.abs(columns - np.stack([scores, scores[::-1]]))
    assert (error <= np.stack([tolerance, tolerance[::-1]])).all(), (case.law, case.xs, error)
    for x, score in zip(xs, scores, strict=True):  # NumPy scalars and 0-d arrays are numbers too
        assert case.law.logpdf(x) == score == case.law.logpdf(np.array(x))
        assert type(case.law.logpdf(x)) is float


def assert_elementwise(first: Any, second: Any, xs: Any) -> None:
    """`elementwise` broadcasts over x and over parameters: here two laws of a family side by side."""
    columns = [
        np.stack([np.asarray(getattr(first, name)), np.asarray(getattr(second, name))])
        for name in first.parameters
    ]
    scores = first.elementwise(np.asarray(xs)[:, None], *columns)
    expected = [[law.logpdf(x) for law in (first, second)] for x in xs]
    np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)


def draws(law: Any, count: int = DRAWS, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([law.sample(rng) for _ in range(count)])


def assert_sampler(case: Case) -> None:
    """Draws have the right Python type, lie in the support, and follow the reference law."""
    kind = case.law.number
    rng = np.random.default_rng(2)
    few = [case.law.sample(rng) for _ in range(50)]
    assert all(type(x) is kind for x in few), {type(x) for x in few}
    assert all(case.law.support.contains(x) for x in few)
    assert all(-math.inf < case.law.logpdf(x) < math.inf for x in few)

    assert_follows(case, draws(case.law).astype(float))


def assert_follows(case: Case, samples: np.ndarray) -> None:
    """DRAWS samples, as floats, follow the reference law, and have its moments."""
    if not case.law.support.discrete:
        ranks = np.asarray(case.reference.cdf(np.sort(samples)))
        steps = np.arange(DRAWS + 1) / DRAWS
        distance = max(np.abs(ranks - steps[1:]).max(), np.abs(ranks - steps[:-1]).max())
        assert distance * math.sqrt(DRAWS) < KS_MAX, (case.law, distance * math.sqrt(DRAWS))
    else:
        values, counts = np.unique(samples, return_counts=True)
        p = np.exp(case.log_densities(values))
        p, counts = p[counts > 20], counts[counts > 20]
        z = (counts - DRAWS * p) / np.sqrt(DRAWS * np.maximum(p * (1.0 - p), 1e-12))
        assert (np.abs(z) < Z_MAX).all(), (case.law, z)
    assert_moments(case, samples)


def assert_moments(case: Case, samples: np.ndarray) -> None:
    """Mean and variance of the samples lie within 4.5 standard errors, where the fourth moment exists."""
    if not hasattr(case.reference, "stats"):
        return
    with np.errstate(all="ignore"):
        mean, variance, _, kurtosis = map(float, case.reference.stats(moments="mvsk"))
    if not (math.isfinite(mean) and math.isfinite(variance) and math.isfinite(kurtosis)) or kurtosis > 50.0:
        return
    n = len(samples)
    assert abs(samples.mean() - mean) <= Z_MAX * math.sqrt(variance / n) + 1e-12, case.law
    error = variance * math.sqrt((kurtosis + 2.0) / n)
    # the variance of a two-point law at 1/2 has no error of first order: allow for the second
    assert abs(samples.var() - variance) <= Z_MAX * error + 20.0 * variance / n + 1e-12, case.law


def assert_chart(support: Any, points: int = 3) -> None:
    """The chart and the coordinates go there and back, stay inside, and the determinant is the chart's."""
    rng = np.random.default_rng(4)
    for u in (rng.normal(size=support.dim) * scale for scale in np.linspace(0.3, 1.5, points)):
        value = support.constrain(u)
        assert support.contains(value), (support, value)
        assert np.shape(value) == support.shape
        coordinates = support.coordinates(value)
        assert coordinates.shape == (support.dim,)
        np.testing.assert_allclose(support.from_coordinates(coordinates), value, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(np.ravel(value)[support.free_entries], coordinates, rtol=0, atol=0)
        unconstrained = support.unconstrain(value)
        assert unconstrained.shape == (support.dim,)
        np.testing.assert_allclose(unconstrained, u, rtol=1e-8, atol=1e-8)
        log_abs_det = support.log_abs_det(u)
        assert type(log_abs_det) is float
        if support.dim == 0:
            assert log_abs_det == 0.0
            continue

        def to_coordinates(u: Any) -> Any:
            return anp.array(support.coordinates(support.constrain(u)))

        jacobian = autograd.jacobian(to_coordinates)(u)
        np.testing.assert_allclose(jacobian, numeric_jacobian(to_coordinates, u), rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(log_abs_det, np.linalg.slogdet(jacobian)[1], rtol=1e-9, atol=1e-9)
        if not np.allclose(autograd.jacobian(to_coordinates)(u), np.eye(support.dim)):
            check_grads(support.log_abs_det, modes=["rev"], order=1)(u)
        by_embedding = numeric_jacobian(
            lambda c: np.ravel(support.from_coordinates(c)), np.asarray(coordinates, dtype=float), step=0.5
        )
        np.testing.assert_allclose(support.embedding, by_embedding, rtol=1e-12, atol=1e-12)


def numeric_jacobian(f: Callable[[np.ndarray], Any], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a function from R^n to R^m, of shape (m, n)."""
    columns = []
    for j in range(len(x)):
        up, down = x.copy(), x.copy()
        up[j] += step
        down[j] -= step
        columns.append((np.asarray(f(up)) - np.asarray(f(down))) / (2.0 * step))
    return np.stack(columns, axis=-1)


def assert_outside(law: Any, xs: Sequence[Any]) -> None:
    """-inf at each x, alone and in an array, and not in the support."""
    for x in xs:
        assert law.logpdf(x) == -math.inf, (law, x)
        assert not law.support.contains(x), (law, x)
    numbers = np.array([x for x in xs if -1e300 < x < 1e300 or not abs(x) < math.inf], dtype=float)
    assert (law.logpdf(numbers) == -math.inf).all(), (law, numbers)


def assert_gradients(case: Case) -> None:
    """autograd's derivatives in x and in every continuous parameter agree with finite differences."""
    law = case.law
    names = law.parameters if case.differentiable is None else case.differentiable
    fixed = {name: getattr(law, name) for name in law.parameters}
    xs = draws(law, 3, seed=9)
    spread = float(np.std(draws(law, 100, seed=9).astype(float))) or 1.0

    def score(x: Any, *values: Any) -> Any:
        return type(law)(**{**fixed, **dict(zip(names, values, strict=True))}).logpdf(x)

    values = [np.array(fixed[name], dtype=float)[()] for name in names]
    for k in range(len(names)):
        slopes = []
        for x in xs:
            along = lambda value, x=x, k=k: score(x, *values[:k], value, *values[k + 1 :])
            slopes.append(assert_slope(along, values[k], spread))
        columns = autograd.grad(lambda *values: anp.sum(score(xs, *values)), argnum=k)(*values)
        np.testing.assert_allclose(columns, np.sum(slopes, axis=0), rtol=1e-9, atol=1e-9)
    if not law.support.discrete:
        slopes = [assert_slope(law.logpdf, x, spread) for x in xs]
        columns = autograd.elementwise_grad(law.logpdf)(xs)
        np.testing.assert_allclose(columns, slopes, rtol=1e-12)


def assert_slope(f: Callable[[Any], Any], x: Any, spread: float) -> Any:
    """autograd's derivative of f at x, which agrees with a central difference of some step."""
    value, slope = autograd.value_and_grad(f)(x)
    assert value == approx(f(x))
    errors = []
    for entry in np.ndindex(np.shape(x)):
        wide = max(abs(float(np.asarray(x)[entry])), 1e-3)
        for step in (scale * size for scale in {spread, wide} for size in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)):
            shift = np.zeros(np.shape(x))
            shift[entry] = step
            try:
                # of fourth order: the error is step^4, and the rounding that of the values
                near, far = f(x + shift) - f(x - shift), f(x + 2.0 * shift) - f(x - 2.0 * shift)
            except ParameterError:
                continue
            if math.isfinite(far):
                errors.append(abs((8.0 * near - far) / (12.0 * step) - np.asarray(slope)[entry]))
        assert min(errors) <= 1e-6 * (1.0 + abs(np.asarray(slope)[entry])), (f, x, slope, errors)
        errors.clear()
    return slope


def approx(value: float) -> Any:
    return pytest.approx(float(value), rel=1e-11, abs=1e-11)


def assert_gradients_outside(law: Any, x: Any) -> None:
    """Outside the support the value is -inf and every derivative is 0, not NaN."""
    if not law.support.discrete:
        assert autograd.value_and_grad(law.logpdf)(float(x)) == (-math.inf, 0.0), (law, x)
    fixed = {name: getattr(law, name) for name in law.parameters}
    for name, parameter in fixed.items():
        if isinstance(parameter, float) and math.isfinite(parameter):
            along = lambda value, name=name: type(law)(**{**fixed, name: value}).logpdf(x)
            assert autograd.value_and_grad(along)(parameter) == (-math.inf, 0.0), (law, name, x)


def assert_normalised(law: Any, low: float, high: float, points: Sequence[float] = ()) -> None:
    """The density integrates to 1 from low to high, or the mass of the integers there sums to 1."""
    if law.support.discrete:
        total = np.exp(law.logpdf(np.arange(low, high + 1))).sum()
        assert abs(total - 1.0) < 1e-10, (law, total)
        return
    total = 0.0
    for a, b in itertools.pairwise([low, *points, high]):
        options = {"epsabs": 1e-10, "epsrel": 1e-10, "limit": 200}
        total += scipy.integrate.quad(lambda x: math.exp(law.logpdf(x)), a, b, **options)[0]
    assert abs(total - 1.0) < 1e-7, (law, total)


def assert_value_semantics(law: Any, other: Any) -> None:
    """Equality, hash, repr and pickles go by the family and its parameters."""
    again = pickle.loads(pickle.dumps(law))
    assert again == law and hash(again) == hash(law) and repr(again) == repr(law)
    assert law != other and law != 1.0
    assert repr(law).startswith(law.family_name() + "(" + law.parameters[0] + "=")


def label(value: Any) -> str | None:
    """A test's name for a parameter: its repr, unless that holds a memory address, which runs don't share."""
    text = repr(value)
    return None if " at 0x" in text else text
