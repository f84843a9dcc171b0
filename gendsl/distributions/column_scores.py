"""Log densities of whole columns as they are inside the support, in few passes over memory.

Each function takes a column x of the family's type, and parameters that are numbers or float columns of
the same length (for families in SHARED: valid vectors), otherwise unchecked. Where every entry
of what it returns is finite, they are the log densities, and every parameter was valid and every x in the
support; anything else, or None, means only that this is not the place to decide.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.bounded import beta, flat, uniform
from gendsl.distributions.discrete import bernoulli, binom, categorical, geometric, poisson, uniform_discrete
from gendsl.distributions.large import LARGE, any_large, binomial_kernels, poisson_kernels
from gendsl.distributions.links import bernoulli_logit, binom_logit, poisson_log
from gendsl.distributions.location_scale import cauchy, laplace, normal, student_t
from gendsl.distributions.mixtures import UNDERFLOW, mixture_of_normals
from gendsl.distributions.positive import (
    exponential,
    gamma,
    half_cauchy,
    half_normal,
    half_student_t,
    inv_gamma,
    log_normal,
)
from gendsl.distributions.special import (
    HALF_LOG_2PI,
    LOG_2,
    LOG_PI,
    log_beta,
    log_betas,
    log_choose,
    log_gammas,
    log_half_step,
)

Score = Callable[..., Any]
LOG_FACTORIALS = np.array([math.lgamma(k + 1.0) for k in range(256)])
_TABLES_TO = 1000
_LARGE = 1e300
MIXTURE_BLOCK = 131072  # points times components; from some more on, BLAS would start threads


def log_of(parameter: Any) -> Any:
    """The logarithm; NaN of what is not positive, infinite of what is infinite."""
    if type(parameter) is np.ndarray:
        return np.log(parameter)
    return math.log(parameter) if parameter > 0.0 else math.nan


def _shapes(*parameters: Any) -> bool:
    """Whether all are above 0, and the functions of `math` don't raise for those that are numbers."""
    return all(p.min() > 0.0 if type(p) is np.ndarray else 0.0 < p < _LARGE for p in parameters)


def _log_gamma(shape: Any) -> Any:
    return log_gammas(shape) if type(shape) is np.ndarray else math.lgamma(shape)


def _normal(x: np.ndarray, mean: Any, sd: Any) -> Any:
    z = x - mean
    z /= sd
    z *= z
    z *= -0.5
    z -= log_of(sd) + HALF_LOG_2PI
    return z


def _laplace(x: np.ndarray, loc: Any, scale: Any) -> Any:
    z = x - loc
    np.abs(z, z)
    z /= scale
    z += log_of(scale) + LOG_2
    return np.negative(z, z)


def _cauchy(x: np.ndarray, loc: Any, scale: Any) -> Any:
    z = x - loc
    z /= scale
    z *= z
    np.log1p(z, z)
    z += log_of(scale) + LOG_PI
    return np.negative(z, z)


def _student_t(x: np.ndarray, df: Any, loc: Any, scale: Any) -> Any:
    if type(df) is np.ndarray or not 0.0 < df < math.inf:
        return None
    z = x - loc
    z /= scale
    z *= z
    z /= df
    np.log1p(z, z)
    z *= -0.5 * (df + 1.0)
    z += log_half_step(df) - 0.5 * (math.log(df) + LOG_PI) - log_of(scale)
    return z


def _exponential(x: np.ndarray, rate: Any) -> Any:
    return log_of(rate) - rate * x if x.min() >= 0.0 else None


def _gamma(x: np.ndarray, shape: Any, scale: Any) -> Any:
    if not _shapes(shape):
        return None
    log_scale = log_of(scale)
    score = np.log(x)
    score -= log_scale
    score *= shape - 1.0
    score -= x / scale
    score -= _log_gamma(shape) + log_scale
    if any_large(shape):
        ratio = x / scale
        large = (shape > LARGE) & (ratio > 0.0) & (ratio < math.inf)
        return np.where(large, poisson_kernels(shape - 1.0, ratio) - log_scale, score)
    return score


def _inv_gamma(x: np.ndarray, shape: Any, scale: Any) -> Any:
    if not _shapes(shape):
        return None
    log_x = np.log(x)
    score = shape * (log_of(scale) - log_x)
    score -= log_x
    score -= scale / x
    score -= _log_gamma(shape)
    if any_large(shape):
        ratio = scale / x
        large = (shape > LARGE) & (ratio > 0.0) & (ratio < math.inf)
        return np.where(large, poisson_kernels(shape, ratio) + np.log(shape) - log_x, score)
    return score


def _log_normal(x: np.ndarray, mu: Any, sigma: Any) -> Any:
    log_x = np.log(x)
    score = _normal(log_x, mu, sigma)
    score -= log_x
    return score


def _half_normal(x: np.ndarray, scale: Any) -> Any:
    if not x.min() >= 0.0:
        return None
    score = _normal(x, 0.0, scale)
    score += LOG_2
    return score


def _half_cauchy(x: np.ndarray, scale: Any) -> Any:
    if not x.min() >= 0.0:
        return None
    score = _cauchy(x, 0.0, scale)
    score += LOG_2
    return score


def _half_student_t(x: np.ndarray, df: Any, scale: Any) -> Any:
    score = _student_t(x, df, 0.0, scale) if x.min() >= 0.0 else None
    if score is not None:
        score += LOG_2
    return score


def _beta(x: np.ndarray, a: Any, b: Any) -> Any:
    if not _shapes(a, b):
        return None
    score = np.log(x)
    score *= a - 1.0
    score += (b - 1.0) * np.log1p(-x)
    score -= log_betas(a, b) if type(a) is np.ndarray or type(b) is np.ndarray else log_beta(a, b)
    if any_large(a, b):
        by_series = binomial_kernels(a - 1.0, b - 1.0, x, 1.0 - x) + np.log(a + b - 1.0)
        return np.where((a > LARGE) & (b > LARGE), by_series, score)
    return score


def _uniform(x: np.ndarray, low: Any, high: Any) -> Any:
    if not ((x >= low).all() and (x <= high).all()):
        return None
    return np.full(len(x), -log_of(high - low))


def _flat(x: np.ndarray, low: Any, high: Any) -> Any:
    return np.zeros(len(x)) if ((x >= low) & (x <= high) & np.isfinite(x)).all() else None


def _uniform_discrete(x: np.ndarray, low: Any, high: Any) -> Any:
    if not (_whole(low) and _whole(high) and (x >= low).all() and (x <= high).all()):
        return None
    return np.full(len(x), -log_of(high - low + 1.0))


def _whole(parameter: Any) -> bool:
    if type(parameter) is np.ndarray:
        return bool((parameter == np.floor(parameter)).all())
    return float(parameter).is_integer()


def _bernoulli(x: np.ndarray, p: Any) -> Any:
    if type(p) is np.ndarray:
        if not (p.min() > 0.0 and p.max() < 1.0):
            return None
        return np.where(x, np.log(p), np.log1p(-p))
    return np.where(x, math.log(p), math.log1p(-p)) if 0.0 < p < 1.0 else None


def _bernoulli_logit(x: np.ndarray, logit: Any) -> Any:
    return -np.logaddexp(0.0, np.where(x, -logit, logit))


def all_from_0_to(largest: float, x: np.ndarray) -> bool:
    """Whether all integers x are; as unsigned numbers, negative ones are very large."""
    return bool(x.view(np.uint64).max() <= largest)


def _binom(x: np.ndarray, n: Any, p: Any) -> Any:
    if type(n) is np.ndarray or not (0 <= n <= _TABLES_TO and n == int(n)):
        return None
    if not all_from_0_to(n, x):
        return None
    score = x * log_of(p)
    score += (n - x) * (np.log1p(-p) if type(p) is np.ndarray or p < 1.0 else math.nan)
    score += _log_binomials(int(n)).take(x)
    return score


def _binom_logit(x: np.ndarray, n: Any, logit: Any) -> Any:
    if type(n) is np.ndarray or not (0 <= n <= _TABLES_TO and n == int(n)):
        return None
    if not all_from_0_to(n, x):
        return None
    score = _log_binomials(int(n)).take(x)
    score -= x * np.logaddexp(0.0, -logit)
    score -= (n - x) * np.logaddexp(0.0, logit)
    return score


@functools.lru_cache(maxsize=64)
def _log_binomials(n: int) -> np.ndarray:
    return np.array([log_choose(n, k) for k in range(n + 1)])


def _geometric(x: np.ndarray, p: Any) -> Any:
    if x.min() < 0:
        return None
    score = x * (np.log1p(-p) if type(p) is np.ndarray or p < 1.0 else math.nan)
    score += log_of(p)
    return score


def _poisson(x: np.ndarray, rate: Any) -> Any:
    return _counts(x, rate, log_of(rate))


def _poisson_log(x: np.ndarray, log_rate: Any) -> Any:
    return _counts(x, np.exp(log_rate), log_rate)


def _counts(x: np.ndarray, rate: Any, log_rate: Any) -> Any:
    large = False
    if all_from_0_to(len(LOG_FACTORIALS) - 1, x):
        log_factorials = LOG_FACTORIALS.take(x)
    elif x.min() >= 0:
        log_factorials = log_gammas(x + 1.0)
        large = any_large(x)
    else:
        return None
    score = x * log_rate
    score -= rate
    score -= log_factorials
    if large:
        return np.where(x > LARGE, poisson_kernels(x, rate), score)
    return score


def _categorical(x: np.ndarray, probs: np.ndarray) -> Any:
    return np.log(probs).take(x) if all_from_0_to(len(probs) - 1, x) else None


def _mixture_of_normals(x: np.ndarray, weights: np.ndarray, means: np.ndarray, variances: np.ndarray) -> Any:
    n, pieces = len(x), -(-len(x) * len(means) // MIXTURE_BLOCK)
    if pieces > 1:
        size = -(-n // pieces)
        parts = (x[start : start + size] for start in range(0, n, size))
        scores = [_mixture_of_normals(part, weights, means, variances) for part in parts]
        return None if any(part is None for part in scores) else np.concatenate(scores)
    densities = mixture_densities(x, weights / np.sqrt(variances), means, -0.5 / variances)
    if not densities.min() > UNDERFLOW:
        return None
    np.log(densities, densities)
    densities -= HALF_LOG_2PI
    return densities


def mixture_densities(x: np.ndarray, scales: np.ndarray, means: np.ndarray, factors: np.ndarray) -> Any:
    """Σ_j s_j exp(f_j (x - μ_j)²) at each x, for f_j = -1 / 2v_j."""
    terms = x - means[:, None]
    terms *= terms
    terms *= factors[:, None]
    np.exp(terms, terms)
    if len(scales) > 1:
        return scales.dot(terms)
    densities = terms[0]  # BLAS would start threads for one long row
    densities *= scales[0]
    return densities


_ONES = np.ones(8192)


def sum_of(scores: np.ndarray) -> float:
    """Their sum; as a product with ones where that is faster."""
    n = len(scores)
    return float(scores.dot(_ONES[:n]) if n <= len(_ONES) else np.add.reduce(scores))


SCORES: dict[type[Distribution], Score] = {
    normal: _normal,
    laplace: _laplace,
    cauchy: _cauchy,
    student_t: _student_t,
    exponential: _exponential,
    gamma: _gamma,
    inv_gamma: _inv_gamma,
    log_normal: _log_normal,
    half_normal: _half_normal,
    half_cauchy: _half_cauchy,
    half_student_t: _half_student_t,
    beta: _beta,
    uniform: _uniform,
    flat: _flat,
    uniform_discrete: _uniform_discrete,
    bernoulli: _bernoulli,
    bernoulli_logit: _bernoulli_logit,
    binom: _binom,
    binom_logit: _binom_logit,
    geometric: _geometric,
    poisson: _poisson,
    poisson_log: _poisson_log,
}
SHARED: dict[type[Distribution], Score] = {
    categorical: _categorical,
    mixture_of_normals: _mixture_of_normals,
}
