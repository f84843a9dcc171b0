"""Columns of draws: for each family what its `sample` does, for n points at once.

Each function takes a generator, the number of points, and valid parameters: Python floats or float arrays
of that length, and for the families in VECTORS vectors that all points share. The draws are those that
`sample` gives one after the other, and leave the generator in the same state: a program that is run as
machine code, or by the reference interpreter, makes them so. Where `sample` takes numbers of several kinds
by turns there is no other way than to call it.
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
    BY_SCALING,
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
from gendsl.errors import ParameterError

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


def _uniform(rng: np.random.Generator, n: int, low: Any, high: Any) -> Any:
    return np.minimum(low + (high - low) * rng.random(n), high)  # the sum may round up


def _piecewise_uniform(rng: np.random.Generator, n: int, bounds: Any, probs: Any) -> Any:
    uniform = rng.random((n, 2))
    i = _picked(uniform[:, 0], probs)
    low, high = bounds[:-1][i], bounds[1:][i]
    x = low + (high - low) * uniform[:, 1]
    return np.where(x < high, x, low)


def _one_by_one(family: Any) -> Draw:
    """The draws of a family's `sample`, called for each point."""

    def draws(rng: np.random.Generator, n: int, *parameters: Any) -> Any:
        if family in VECTORS or not any(type(p) is np.ndarray for p in parameters):
            law = family(*parameters)
            return np.array([law.sample(rng) for _ in range(n)])
        rows = np.broadcast_arrays(np.empty(n), *parameters)[1:]
        points = zip(*(row.tolist() for row in rows), strict=True)
        return np.array([family(*point).sample(rng) for point in points])

    return draws


def _bernoulli(rng: np.random.Generator, n: int, p: Any) -> Any:
    return rng.random(n) < p


def _binom(rng: np.random.Generator, n: int, trials: Any, p: Any) -> Any:
    try:
        return rng.binomial(np.asarray(trials, dtype=np.int64), p, n)
    except OverflowError:  # some trials don't fit into 64 bits
        return None


def _geometric(rng: np.random.Generator, n: int, p: Any) -> Any:
    before = rng.bit_generator.state
    draws = np.floor(rng.standard_exponential(n) / -np.log1p(-p))  # where p is 1, x / inf: 0
    if draws.max() < _INTEGERS_TO:
        return draws.astype(np.int64)
    rng.bit_generator.state = before
    return None


def _poisson(rng: np.random.Generator, n: int, rate: Any) -> Any:
    try:
        return rng.poisson(rate, n)
    except ValueError:  # some draws don't fit into 64 bits
        return None


def _counts_one_by_one(family: Any) -> Draw:
    """The same of a family of counts; None, and no draw, where one of them doesn't fit into 64 bits."""
    each = _one_by_one(family)

    def draws(rng: np.random.Generator, n: int, *parameters: Any) -> Any:
        before = rng.bit_generator.state
        try:
            return each(rng, n, *parameters)
        except ParameterError:  # some draws don't fit into 64 bits
            rng.bit_generator.state = before
            return None

    return draws


def _uniform_discrete(rng: np.random.Generator, n: int, low: Any, high: Any) -> Any:
    try:
        low, high = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
    except OverflowError:  # some bounds don't fit into 64 bits
        return None
    among = high - low + 1
    are_many = among > BY_SCALING
    if np.any(among < 1):  # more than there are numbers of 64 bits
        return None
    if not np.any(are_many):
        return low + (rng.random(n) * among).astype(np.int64)
    return low + rng.integers(among, size=n) if np.all(are_many) else None


def _categorical(rng: np.random.Generator, n: int, probs: Any) -> Any:
    return _picked(rng.random(n), probs)


def _picked(uniform: Any, probs: Any) -> Any:
    i = np.searchsorted(np.cumsum(probs), uniform, side="right")
    return np.minimum(i, np.flatnonzero(probs)[-1])  # the sum may fall short of 1, by rounding


VECTORS = frozenset((categorical, piecewise_uniform, mixture_of_normals))
"""The families whose parameters are vectors that all points of a column share."""


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
    beta_uniform: _one_by_one(beta_uniform),
    uniform: _uniform,
    flat: lambda rng, n, low, high: None,  # one by one, which says where they can't be drawn
    piecewise_uniform: _piecewise_uniform,
    truncated_normal: _one_by_one(truncated_normal),
    bernoulli: _bernoulli,
    bernoulli_logit: lambda rng, n, logit: _bernoulli(rng, n, scipy.special.expit(logit)),
    binom: _binom,
    binom_logit: lambda rng, n, trials, logit: _binom(rng, n, trials, scipy.special.expit(logit)),
    geometric: _geometric,
    neg_binom: _counts_one_by_one(neg_binom),
    neg_binom_mean: _counts_one_by_one(neg_binom_mean),
    poisson: _poisson,
    poisson_log: lambda rng, n, log_rate: _poisson(rng, n, np.exp(log_rate)),
    uniform_discrete: _uniform_discrete,
    categorical: _categorical,
    mixture_of_normals: _one_by_one(mixture_of_normals),
}
