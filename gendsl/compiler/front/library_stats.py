"""The methods of the families of `scipy.stats`, as plain Python; see `front`.

They call what each family has as its own methods, for a location of 0 and a scale of 1 (`_logpdf`, `_cdf` and
so on), whose text is SciPy's. They are of numbers or of arrays that broadcast. Parameters for which SciPy
gives NaN fail, and so do values that are NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

from gendsl.distributions import Distribution
from gendsl.supports import Integers, Interval, Real


def _where(test: Any, compute: Any, otherwise: float) -> Any:
    if np.ndim(test) == 0:
        return compute() if test else np.float64(otherwise)
    return np.where(test, compute(), otherwise)


def apply_where(cond: Any, args: Any, f1: Any, f2: Any = None, fill_value: Any = None) -> Any:
    """What SciPy computes one way or another, as a test says."""
    given = args if isinstance(args, tuple) else (args,)
    if np.ndim(cond) == 0:
        if cond:
            return f1(*given)
        return fill_value if f2 is None else f2(*given)
    return np.where(cond, f1(*given), fill_value if f2 is None else f2(*given))


def _lazywhere(cond: Any, arrays: Any, f: Any, fillvalue: Any = None, f2: Any = None) -> Any:
    """The same as earlier releases of SciPy call it."""
    return apply_where(cond, arrays, f, f2, fillvalue)


# --- continuous families --------------------------------------------------------------------------


def _standard(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """A value as that of the family with a location of 0 and a scale of 1."""
    assert np.all(np.isfinite(loc)) and np.all(scale > 0.0) and np.all(np.isfinite(scale))
    assert np.all(family._argcheck(*shapes))
    z = np.divide(x - loc, scale)
    assert not np.any(np.isnan(z))
    return z


def logpdf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The log density."""
    z = _standard(family, x, shapes, loc, scale)
    low, high = family._get_support(*shapes)
    return _where((z >= low) & (z <= high), lambda: family._logpdf(z, *shapes) - np.log(scale), -math.inf)


def pdf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The density."""
    return np.exp(logpdf(family, x, shapes, loc, scale))


def cdf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The probability of what is less."""
    z = _standard(family, x, shapes, loc, scale)
    low, high = family._get_support(*shapes)
    found = _where((z > low) & (z < high), lambda: family._cdf(z, *shapes), 0.0)
    return _where(z < high, lambda: found, 1.0)


def logcdf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The logarithm of that."""
    z = _standard(family, x, shapes, loc, scale)
    low, high = family._get_support(*shapes)
    found = _where((z > low) & (z < high), lambda: family._logcdf(z, *shapes), -math.inf)
    return _where(z < high, lambda: found, 0.0)


def sf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The probability of what is greater."""
    z = _standard(family, x, shapes, loc, scale)
    low, high = family._get_support(*shapes)
    found = _where((z > low) & (z < high), lambda: family._sf(z, *shapes), 0.0)
    return _where(z > low, lambda: found, 1.0)


def logsf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """The logarithm of that."""
    z = _standard(family, x, shapes, loc, scale)
    low, high = family._get_support(*shapes)
    found = _where((z > low) & (z < high), lambda: family._logsf(z, *shapes), -math.inf)
    return _where(z > low, lambda: found, 0.0)


def ppf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """Quantiles of probabilities that are neither 0 nor 1."""
    _standard(family, x, shapes, loc, scale)
    assert np.all(x > 0.0) and np.all(x < 1.0)
    return family._ppf(x, *shapes) * scale + loc


def isf(family: Any, x: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    """Quantiles from above."""
    _standard(family, x, shapes, loc, scale)
    assert np.all(x > 0.0) and np.all(x < 1.0)
    return family._isf(x, *shapes) * scale + loc


# --- families of integers -------------------------------------------------------------------------


def _whole(family: Any, k: Any, shapes: Any, loc: Any) -> Any:
    """A value as that of the family with a location of 0."""
    at = np.asarray(k - loc)
    assert np.all(np.isfinite(at)) and np.all(np.floor(loc) == loc)
    assert np.all(family._argcheck(*shapes))
    return at


def logpmf(family: Any, k: Any, shapes: Any, loc: Any) -> Any:
    """The logarithm of the probability."""
    at = _whole(family, k, shapes, loc)
    low, high = family._get_support(*shapes)
    inside = (at >= low) & (at <= high) & family._nonzero(at, *shapes)
    return _where(inside, lambda: family._logpmf(at, *shapes), -math.inf)


def pmf(family: Any, k: Any, shapes: Any, loc: Any) -> Any:
    """The probability."""
    return np.exp(logpmf(family, k, shapes, loc))


def discrete_cdf(family: Any, k: Any, shapes: Any, loc: Any) -> Any:
    """The probability of what is not greater."""
    at = _whole(family, k, shapes, loc)
    low, high = family._get_support(*shapes)
    found = _where((at >= low) & (at < high), lambda: np.clip(family._cdf(at, *shapes), 0.0, 1.0), 0.0)
    return _where(at < high, lambda: found, 1.0)


def discrete_logcdf(family: Any, k: Any, shapes: Any, loc: Any) -> Any:
    """The logarithm of that."""
    at = _whole(family, k, shapes, loc)
    low, high = family._get_support(*shapes)
    found = _where((at >= low) & (at < high), lambda: family._logcdf(at, *shapes), -math.inf)
    return _where(at < high, lambda: found, 0.0)


def discrete_sf(family: Any, k: Any, shapes: Any, loc: Any) -> Any:
    """The probability of what is greater."""
    at = _whole(family, k, shapes, loc)
    low, high = family._get_support(*shapes)
    found = _where((at >= low) & (at < high), lambda: np.clip(family._sf(at, *shapes), 0.0, 1.0), 0.0)
    return _where(at >= low, lambda: found, 1.0)


def discrete_logsf(family: Any, k: Any, shapes: Any, loc: Any) -> Any:
    """The logarithm of that."""
    at = _whole(family, k, shapes, loc)
    low, high = family._get_support(*shapes)
    found = _where((at >= low) & (at < high), lambda: family._logsf(at, *shapes), -math.inf)
    return _where(at >= low, lambda: found, 0.0)


# --- choices --------------------------------------------------------------------------------------


class OfReals(Distribution):
    """A distribution of a continuous family, as `gendsl.distributions.scipy_frozen.Frozen` is one."""

    parameters = ("family", "shapes", "loc", "scale")
    family: Any
    shapes: Any
    loc: Any
    scale: Any

    def sample(self, rng: Any) -> Any:
        """A draw of `rvs`."""
        _standard(self.family, self.loc, self.shapes, self.loc, self.scale)
        drawn = self.family._rvs(*self.shapes, size=(), random_state=rng)
        return float(drawn * self.scale + self.loc)

    def logpdf(self, x: Any) -> Any:
        """The log density; 0 is no value where all values are positive."""
        low, high = self.family._get_support(*self.shapes)
        assert x != 0.0 or low * self.scale + self.loc != 0.0 or high < math.inf
        return float(logpdf(self.family, x, self.shapes, self.loc, self.scale))

    @property
    def support(self) -> Any:
        """From one end to the other, or without ends."""
        low, high = self.family._get_support(*self.shapes)
        if low == -math.inf and high == math.inf:
            return Real()
        return Interval(low * self.scale + self.loc, high * self.scale + self.loc)


class OfIntegers(Distribution):
    """The same of a family of integers."""

    parameters = ("family", "shapes", "loc")
    family: Any
    shapes: Any
    loc: Any

    def sample(self, rng: Any) -> Any:
        """A draw of `rvs`."""
        _whole(self.family, self.loc, self.shapes, self.loc)
        return int(self.family._rvs(*self.shapes, size=(), random_state=rng) + self.loc)

    def logpdf(self, k: Any) -> Any:
        """The logarithm of the probability."""
        return float(logpmf(self.family, k, self.shapes, self.loc))

    @property
    def support(self) -> Any:
        """The integers from one end to the other."""
        low, high = self.family._get_support(*self.shapes)
        return Integers(low + self.loc, high + self.loc)


# --- several numbers ------------------------------------------------------------------------------


def multivariate_normal_logpdf(x: Any, mean: Any, cov: Any) -> Any:
    """`scipy.stats.multivariate_normal.logpdf` of one point, or of rows."""
    n = len(mean)
    assert n > 1 and cov.shape[0] == n and cov.shape[1] == n
    for i in range(n):
        for j in range(i):
            assert abs(cov[i, j] - cov[j, i]) <= 1e-8 + 1e-5 * abs(cov[j, i])
    factor = np.linalg.cholesky(cov)
    constant = n * math.log(2 * math.pi)
    largest, least = 0.0, math.inf
    for i in range(n):
        constant += 2.0 * math.log(factor[i, i])
        largest, least = max(largest, float(factor[i, i])), min(least, float(factor[i, i]))
    assert least > 1e-4 * largest
    if x.ndim == 1:
        z = scipy.linalg.solve_triangular(factor, x - mean, lower=True)
        return np.float64(-0.5 * (constant + float(z @ z)))
    result = np.zeros(len(x))
    for i in range(len(x)):
        z = scipy.linalg.solve_triangular(factor, x[i] - mean, lower=True)
        result[i] = -0.5 * (constant + float(z @ z))
    return result
