"""Columns of draws: for each family what its `sample` does, for n points at once.

Each function takes a generator, the number of points, and valid parameters: Python floats or float arrays
of that length, and for the families in VECTORS vectors that all points share.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from gendsl.distributions.base import Distribution
from gendsl.distributions.bounded import (
    beta,
    beta_uniform,
    flat,
    piecewise_uniform,
    truncated_normal,
    uniform,
)
from gendsl.distributions.discrete import (
    bernoulli,
    binom,
    categorical,
    geometric,
    neg_binom,
    poisson,
    uniform_discrete,
)
from gendsl.distributions.links import bernoulli_logit, binom_logit, neg_binom_mean, poisson_log
from gendsl.distributions.location_scale import FAR, cauchy, laplace, normal, student_t, von_mises
from gendsl.distributions.mixtures import mixture_of_normals
from gendsl.distributions.parameters import LARGEST
from gendsl.distributions.positive import (
    exponential,
    gamma,
    half_cauchy,
    half_normal,
    half_student_t,
    inv_gamma,
    log_normal,
)

Draw = Callable[..., Any]
_TINY, _BELOW_ONE = math.ulp(0.0), math.nextafter(1.0, 0.0)
_INTEGERS_TO = 2.0**63  # a column holds integers of 64 bits


def _normal(rng: np.random.Generator, n: int, mean: Any, sd: Any) -> Any:
    z = rng.standard_normal(n)
    z *= sd
    z += mean
    return z


def _student_t(rng: np.random.Generator, n: int, df: Any, loc: Any, scale: Any) -> Any:
    return loc + scale * np.clip(rng.standard_t(df, n), -FAR, FAR)


def _half_student_t(rng: np.random.Generator, n: int, df: Any, scale: Any) -> Any:
    return scale * np.minimum(np.abs(rng.standard_t(df, n)), FAR)


def _von_mises(rng: np.random.Generator, n: int, mu: Any, kappa: Any) -> Any:
    turned = np.arctan2(np.sin(mu), np.cos(mu))  # NumPy takes away one turn only, where kappa is above 1e6
    return rng.vonmises(np.where(np.abs(mu) <= math.pi, mu, turned), kappa, n)


def _exponential(rng: np.random.Generator, n: int, rate: Any) -> Any:
    return rng.standard_exponential(n) / rate


def _gamma(rng: np.random.Generator, n: int, shape: Any, scale: Any) -> Any:
    return np.clip(scale * rng.standard_gamma(shape, n), _TINY, LARGEST)


def _inv_gamma(rng: np.random.Generator, n: int, shape: Any, scale: Any) -> Any:
    return np.clip(scale / rng.standard_gamma(shape, n), _TINY, LARGEST)  # scale / 0 is infinite


def _log_normal(rng: np.random.Generator, n: int, mu: Any, sigma: Any) -> Any:
    return np.clip(rng.lognormal(mu, sigma, n), _TINY, LARGEST)


def _beta(rng: np.random.Generator, n: int, a: Any, b: Any) -> Any:
    return np.clip(rng.beta(a, b, n), _TINY, _BELOW_ONE)


def _beta_uniform(rng: np.random.Generator, n: int, theta: Any, a: Any, b: Any) -> Any:
    return np.where(rng.random(n) < theta, _beta(rng, n, a, b), rng.random(n))


def _uniform(rng: np.random.Generator, n: int, low: Any, high: Any) -> Any:
    return np.minimum(low + (high - low) * rng.random(n), high)  # the sum may round up


def _piecewise_uniform(rng: np.random.Generator, n: int, bounds: Any, probs: Any) -> Any:
    i = _categorical(rng, n, probs)
    low, high = bounds[:-1][i], bounds[1:][i]
    x = low + (high - low) * rng.random(n)
    return np.where(x < high, x, low)


def _truncated_normal(rng: np.random.Generator, n: int, *parameters: Any) -> Any:
    if not any(type(p) is np.ndarray for p in parameters):
        law = truncated_normal(*parameters)
        return np.array([law.sample(rng) for _ in range(n)])
    rows = np.broadcast_arrays(np.empty(n), *parameters)[1:]
    points = zip(*(row.tolist() for row in rows), strict=True)
    return np.array([truncated_normal(*point).sample(rng) for point in points])


def _bernoulli(rng: np.random.Generator, n: int, p: Any) -> Any:
    return rng.random(n) < p


def _binom(rng: np.random.Generator, n: int, trials: Any, p: Any) -> Any:
    try:
        return rng.binomial(np.asarray(trials, dtype=np.int64), p, n)
    except OverflowError:  # some trials don't fit into 64 bits
        return None


def _geometric(rng: np.random.Generator, n: int, p: Any) -> Any:
    draws = np.floor(rng.standard_exponential(n) / -np.log1p(-p))  # where p is 1, x / inf: 0
    return draws.astype(np.int64) if draws.max() < _INTEGERS_TO else None


def _poisson(rng: np.random.Generator, n: int, rate: Any) -> Any:
    try:
        return rng.poisson(rate, n)
    except ValueError:  # some draws don't fit into 64 bits
        return None


def _neg_binom(rng: np.random.Generator, n: int, r: Any, p: Any) -> Any:
    return _poisson(rng, n, rng.standard_gamma(r, n) * (1.0 - p) / p)


def _neg_binom_mean(rng: np.random.Generator, n: int, mean: Any, dispersion: Any) -> Any:
    return _poisson(rng, n, rng.standard_gamma(dispersion, n) / dispersion * mean)


def _uniform_discrete(rng: np.random.Generator, n: int, low: Any, high: Any) -> Any:
    try:
        low, high = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
    except OverflowError:  # some bounds don't fit into 64 bits
        return None
    return rng.integers(low, high, n, endpoint=True)


def _categorical(rng: np.random.Generator, n: int, probs: Any) -> Any:
    i = np.searchsorted(np.cumsum(probs), rng.random(n), side="right")
    return np.minimum(i, np.flatnonzero(probs)[-1])  # the sum may fall short of 1, by rounding


def _mixture_of_normals(rng: np.random.Generator, n: int, weights: Any, means: Any, variances: Any) -> Any:
    i = _categorical(rng, n, weights)
    return _normal(rng, n, means[i], np.sqrt(variances)[i])


DRAWS: dict[type[Distribution], Draw] = {
    normal: _normal,
    laplace: lambda rng, n, loc, scale: rng.laplace(loc, scale, n),
    cauchy: lambda rng, n, loc, scale: loc + scale * rng.standard_cauchy(n),
    student_t: _student_t,
    von_mises: _von_mises,
    exponential: _exponential,
    gamma: _gamma,
    inv_gamma: _inv_gamma,
    log_normal: _log_normal,
    half_normal: lambda rng, n, scale: scale * np.abs(rng.standard_normal(n)),
    half_student_t: _half_student_t,
    half_cauchy: lambda rng, n, scale: scale * np.abs(rng.standard_cauchy(n)),
    beta: _beta,
    beta_uniform: _beta_uniform,
    uniform: _uniform,
    flat: lambda rng, n, low, high: None,  # one by one, which says where they can't be drawn
    piecewise_uniform: _piecewise_uniform,
    truncated_normal: _truncated_normal,
    bernoulli: _bernoulli,
    bernoulli_logit: lambda rng, n, logit: _bernoulli(rng, n, scipy.special.expit(logit)),
    binom: _binom,
    binom_logit: lambda rng, n, trials, logit: _binom(rng, n, trials, scipy.special.expit(logit)),
    geometric: _geometric,
    neg_binom: _neg_binom,
    neg_binom_mean: _neg_binom_mean,
    poisson: _poisson,
    poisson_log: lambda rng, n, log_rate: _poisson(rng, n, np.exp(log_rate)),
    uniform_discrete: _uniform_discrete,
    categorical: _categorical,
    mixture_of_normals: _mixture_of_normals,
}
# families whose parameters are vectors that all points of a column share
VECTORS = frozenset((categorical, piecewise_uniform, mixture_of_normals))
