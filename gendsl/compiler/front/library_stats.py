"""Log densities and distribution functions of `scipy.stats`, as plain Python; see `front`.

Each is of numbers or of arrays that broadcast. Parameters for which SciPy gives NaN fail, and so do values
that are NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy
from scipy import special

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def _standard(x: Any, loc: Any, scale: Any) -> Any:
    assert np.all(np.isfinite(loc)) and np.all(scale > 0.0) and np.all(np.isfinite(scale))
    z = (x - loc) / scale
    assert not np.any(np.isnan(z))
    return z


def _inside(is_inside: Any, log_density: Any) -> Any:
    return np.where(is_inside, log_density, -math.inf)


def norm_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The normal distribution."""
    z = _standard(x, loc, scale)
    return -z * z / 2.0 - _HALF_LOG_2PI - np.log(scale)


def norm_cdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The probability of what is less."""
    return special.ndtr(_standard(x, loc, scale))


def norm_logcdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The logarithm of the probability of what is less."""
    return special.log_ndtr(_standard(x, loc, scale))


def norm_sf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The probability of what is greater."""
    return special.ndtr(-_standard(x, loc, scale))


def norm_logsf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The logarithm of the probability of what is greater."""
    return special.log_ndtr(-_standard(x, loc, scale))


def norm_ppf(q: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Quantiles."""
    _standard(q, loc, scale)
    assert np.all(q > 0.0) and np.all(q < 1.0)
    return special.ndtri(q) * scale + loc


def expon_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The exponential distribution."""
    z = _standard(x, loc, scale)
    return _inside(z >= 0.0, -z - np.log(scale))


def uniform_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The uniform distribution from loc to loc + scale."""
    z = _standard(x, loc, scale)
    return _inside((z >= 0.0) & (z <= 1.0), z * 0.0 - np.log(scale))


def laplace_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The Laplace distribution."""
    z = _standard(x, loc, scale)
    return math.log(0.5) - np.abs(z) - np.log(scale)


def cauchy_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The Cauchy distribution."""
    z = _standard(x, loc, scale)
    return -math.log(math.pi) - np.log1p(z * z) - np.log(scale)


def t_logpdf(x: Any, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Student's distribution; of more than some hundred degrees of freedom SciPy computes otherwise."""
    z = _standard(x, loc, scale)
    assert np.all(df > 0.0) and np.all(df <= 200.0)
    constant = special.gammaln(0.5 * (df + 1.0)) - special.gammaln(0.5 * df) - 0.5 * np.log(df * math.pi)
    return constant - 0.5 * (df + 1.0) * np.log1p(z * z / df) - np.log(scale)


def halfnorm_logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The half-normal distribution."""
    z = _standard(x, loc, scale)
    return _inside(z >= 0.0, 0.5 * math.log(2.0 / math.pi) - z * z / 2.0 - np.log(scale))


def gamma_logpdf(x: Any, a: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The gamma distribution."""
    z = _standard(x, loc, scale)
    assert np.all(a > 0.0) and np.all(np.isfinite(z))
    found = special.xlogy(a - 1.0, np.maximum(z, 0.0)) - z - special.gammaln(a) - np.log(scale)
    return _inside(z >= 0.0, found)


def beta_logpdf(x: Any, a: Any, b: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The beta distribution."""
    z = _standard(x, loc, scale)
    assert np.all(a > 0.0) and np.all(b > 0.0)
    kept = np.minimum(np.maximum(z, 0.0), 1.0)
    found = special.xlog1py(b - 1.0, -kept) + special.xlogy(a - 1.0, kept) - special.betaln(a, b)
    return _inside((z >= 0.0) & (z <= 1.0), found - np.log(scale))


def lognorm_logpdf(x: Any, s: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """The log-normal distribution."""
    z = _standard(x, loc, scale)
    assert np.all(s > 0.0)
    logs = np.log(np.where(z > 0.0, z, 1.0))
    found = -logs * logs / (2.0 * s * s) - np.log(s) - logs - _HALF_LOG_2PI - np.log(scale)
    return _inside(z > 0.0, found)


def _whole(k: Any, loc: Any) -> Any:
    at = k - loc
    assert np.all(np.isfinite(at)) and np.all(np.floor(loc) == loc)
    return at * 1.0


def poisson_logpmf(k: Any, mu: Any, loc: Any = 0) -> Any:
    """The Poisson distribution."""
    at = _whole(k, loc)
    assert np.all(mu >= 0.0) and np.all(np.isfinite(mu))
    kept = np.maximum(at, 0.0)
    found = special.xlogy(kept, mu) - special.gammaln(kept + 1.0) - mu
    return _inside((at >= 0.0) & (np.floor(at) == at), found)


def binom_logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
    """The binomial distribution."""
    at = _whole(k, loc)
    assert np.all(n >= 0) and np.all(np.floor(n) == n) and np.all(p >= 0.0) and np.all(p <= 1.0)
    kept = np.minimum(np.maximum(at, 0.0), n * 1.0)
    ways = special.gammaln(n + 1.0) - (special.gammaln(kept + 1.0) + special.gammaln(n - kept + 1.0))
    found = ways + special.xlogy(kept, p) + special.xlog1py(n - kept, -p)
    return _inside((at >= 0.0) & (at <= n) & (np.floor(at) == at), found)


def bernoulli_logpmf(k: Any, p: Any, loc: Any = 0) -> Any:
    """The Bernoulli distribution."""
    return binom_logpmf(k, 1, p, loc)


def nbinom_logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Any:
    """The negative binomial distribution."""
    at = _whole(k, loc)
    assert np.all(n > 0.0) and np.all(p > 0.0) and np.all(p <= 1.0)
    kept = np.maximum(at, 0.0)
    ways = special.gammaln(n + kept) - special.gammaln(kept + 1.0) - special.gammaln(n)
    return _inside((at >= 0.0) & (np.floor(at) == at), ways + n * np.log(p) + special.xlog1py(kept, -p))


def geom_logpmf(k: Any, p: Any, loc: Any = 0) -> Any:
    """The geometric distribution, from 1 on."""
    at = _whole(k, loc)
    assert np.all(p > 0.0) and np.all(p <= 1.0)
    kept = np.maximum(at, 1.0)
    return _inside((at >= 1.0) & (np.floor(at) == at), special.xlog1py(kept - 1.0, -p) + np.log(p))


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
