"""Partial derivatives of log densities, written out: what gradients use in place of a step-by-step record.

`PARTIALS[family](x, *parameters)` gives the log density at plain numbers or float columns, elementwise,
with its derivatives with respect to x and each parameter; an expensive one comes as a function that computes
it. It is None where x lies outside or on the border of the support. Families that aren't here, and the
arguments for which it is None, are left to autograd.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.bounded import beta, flat, uniform
from gendsl.distributions.discrete import bernoulli, binom, geometric, poisson
from gendsl.distributions.large import LARGE, any_large, binomial_kernels, poisson_kernels
from gendsl.distributions.links import bernoulli_logit, binom_logit, neg_binom_mean, poisson_log
from gendsl.distributions.location_scale import cauchy, laplace, normal, student_t
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
    digamma_differences,
    expits,
    log1p_exps,
    log1p_ratios,
    log1p_square,
    log1p_squares,
    log_beta,
    log_betas,
    log_chooses,
    log_gamma,
    log_gammas,
    log_half_step,
    log_half_steps,
    log_less_digamma,
    where,
)

Partials = tuple[Any, ...] | None
"""The log density, and a derivative for x and each parameter."""


def _log(x: Any) -> Any:
    return np.log(x) if type(x) is np.ndarray else math.log(x)


def _log1p(x: Any) -> Any:
    return np.log1p(x) if type(x) is np.ndarray else math.log1p(x)


def _log_gamma(x: Any) -> Any:
    return log_gammas(x) if type(x) is np.ndarray else log_gamma(x)


def _all(condition: Any) -> bool:
    return bool(condition.all()) if isinstance(condition, np.ndarray) else bool(condition)


def _positive(x: Any) -> bool:
    return _all(x > 0.0)


def _normal(x: Any, mean: Any, sd: Any) -> Partials:
    z = (x - mean) / sd
    slope = z / sd
    return -0.5 * z * z - _log(sd) - HALF_LOG_2PI, -slope, slope, (z * z - 1.0) / sd


def _laplace(x: Any, loc: Any, scale: Any) -> Partials:
    z = (x - loc) / scale
    slope = np.sign(z) / scale
    return -abs(z) - _log(scale) - LOG_2, -slope, slope, (abs(z) - 1.0) / scale


def _bends(d: Any, scale: Any, root: Any = 1.0) -> tuple[Any, Any]:
    """z / (1 + z²) and z² / (1 + z²) for z = d / (scale root), also where z² is beyond all floats."""
    z = d / scale / root
    if type(z) is not np.ndarray:
        if abs(z) <= 1.0:
            return z / (1.0 + z * z), z * z / (1.0 + z * z)
        w = 1.0 / z
        return w / (1.0 + w * w), 1.0 / (1.0 + w * w)
    large = np.abs(z) > 1.0
    w = np.where(large, 1.0 / np.where(large, z, 1.0), z)
    squares = w * w
    return w / (1.0 + squares), np.where(large, 1.0, squares) / (1.0 + squares)


def _log1p_square(d: Any, scale: Any, root: Any = 1.0) -> Any:
    several = type(d) is np.ndarray or type(scale) is np.ndarray or type(root) is np.ndarray
    return log1p_squares(d, scale, root) if several else log1p_square(d, scale, root)


def _cauchy(x: Any, loc: Any, scale: Any) -> Partials:
    first, second = _bends(x - loc, scale)
    slope = 2.0 * first / scale
    value = -_log1p_square(x - loc, scale) - _log(scale) - LOG_PI
    return value, -slope, slope, (2.0 * second - 1.0) / scale


def _student_t(x: Any, df: Any, loc: Any, scale: Any) -> Partials:
    several = type(df) is np.ndarray
    root: Any = np.sqrt(df) if several else math.sqrt(df)
    steps = log_half_steps(df) if several else log_half_step(df)
    first, second = _bends(x - loc, scale, root)
    tail = _log1p_square(x - loc, scale, root)
    pull = (df + 1.0) * first / root / scale
    value = steps - 0.5 * (_log(df) + LOG_PI) - _log(scale) - 0.5 * (df + 1.0) * tail

    def to_df() -> Any:
        return 0.5 * (digamma_differences(0.5 * df, 0.5) - 1.0 / df - tail + second + second / df)

    return value, -pull, to_df, pull, ((df + 1.0) * second - 1.0) / scale


def _exponential(x: Any, rate: Any) -> Partials:
    return (_log(rate) - rate * x, -rate, 1.0 / rate - x) if _positive(x) else None


def _gamma(x: Any, shape: Any, scale: Any) -> Partials:
    if not _positive(x):
        return None
    log_ratio, ratio = _log(x) - _log(scale), x / scale
    value = (shape - 1.0) * log_ratio - ratio - _log_gamma(shape) - _log(scale)
    if any_large(shape):
        large = (shape > LARGE) & (ratio > 0.0) & (ratio < math.inf)
        value = where(large, poisson_kernels(shape - 1.0, ratio) - _log(scale), value)
    to_shape = functools.partial(log_less_digamma, log_ratio, ratio, shape)
    return value, (shape - 1.0) / x - 1.0 / scale, to_shape, (ratio - shape) / scale


def _inv_gamma(x: Any, shape: Any, scale: Any) -> Partials:
    if not _positive(x):
        return None
    log_ratio, ratio = _log(scale) - _log(x), scale / x
    value = shape * log_ratio - _log(x) - ratio - _log_gamma(shape)
    if any_large(shape):
        large = (shape > LARGE) & (ratio > 0.0) & (ratio < math.inf)
        value = where(large, poisson_kernels(shape, ratio) + _log(shape) - _log(x), value)
    to_shape = functools.partial(log_less_digamma, log_ratio, ratio, shape)
    return value, (ratio - shape - 1.0) / x, to_shape, (shape - ratio) / scale


def _log_normal(x: Any, mu: Any, sigma: Any) -> Partials:
    if not _positive(x):
        return None
    log_x = _log(x)
    z = (log_x - mu) / sigma
    slope = z / sigma
    value = -0.5 * z * z - log_x - _log(sigma) - HALF_LOG_2PI
    return value, -(1.0 + slope) / x, slope, (z * z - 1.0) / sigma


def _half_normal(x: Any, scale: Any) -> Partials:
    if not _positive(x):
        return None
    z = x / scale
    return LOG_2 - HALF_LOG_2PI - _log(scale) - 0.5 * z * z, -z / scale, (z * z - 1.0) / scale


def _half_cauchy(x: Any, scale: Any) -> Partials:
    if not _positive(x):
        return None
    first, second = _bends(x, scale)
    value = LOG_2 - LOG_PI - _log(scale) - _log1p_square(x, scale)
    return value, -2.0 * first / scale, (2.0 * second - 1.0) / scale


def _half_student_t(x: Any, df: Any, scale: Any) -> Partials:
    if not _positive(x):
        return None
    found = _student_t(x, df, 0.0, scale)
    assert found is not None
    value, to_x, to_df, _, to_scale = found
    return value + LOG_2, to_x, to_df, to_scale


def _beta(x: Any, a: Any, b: Any) -> Partials:
    if not (_positive(x) and _all(x < 1.0)):
        return None
    log_x, log_rest = _log(x), _log1p(-x)
    several = type(a) is np.ndarray or type(b) is np.ndarray
    log_constant = log_betas(a, b) if several else log_beta(a, b)
    value = (a - 1.0) * log_x + (b - 1.0) * log_rest - log_constant
    if any_large(a, b):
        by_series = binomial_kernels(a - 1.0, b - 1.0, x, 1.0 - x) + _log(a + b - 1.0)
        value = where((a > LARGE) & (b > LARGE), by_series, value)
    return (
        value,
        (a - 1.0) / x - (b - 1.0) / (1.0 - x),
        lambda: log_x + digamma_differences(a, b),
        lambda: log_rest + digamma_differences(b, a),
    )


def _uniform(x: Any, low: Any, high: Any) -> Partials:
    if not (_all(low < x) and _all(x < high)):
        return None
    width = high - low
    return -_log(width) + 0.0 * x, 0.0 * x, 1.0 / width, -1.0 / width


def _flat(x: Any, low: Any, high: Any) -> Partials:
    inside = _all(low < x) and _all(x < high)
    return (0.0 * x, 0.0 * x, 0.0, 0.0) if inside else None


def _bernoulli(x: Any, p: Any) -> Partials:
    if not (_positive(p) and _all(p < 1.0)):
        return None
    if type(x) is np.ndarray or type(p) is np.ndarray:
        return np.where(x, np.log(p), np.log1p(-p)), None, np.where(x, 1.0 / p, -1.0 / (1.0 - p))
    return (math.log(p), None, 1.0 / p) if x else (math.log1p(-p), None, -1.0 / (1.0 - p))


def _bernoulli_logit(x: Any, logit: Any) -> Partials:
    against = where(x, -logit, logit)
    slope = expits(against)
    return -log1p_exps(against), None, where(x, slope, -slope)


def _poisson(x: Any, rate: Any) -> Partials:
    if not (_all(x >= 0) and _positive(rate)):
        return None
    value = x * _log(rate) - rate - _log_gamma(x + 1.0)
    if any_large(x):
        value = where(x > LARGE, poisson_kernels(x, rate), value)
    return value, None, x / rate - 1.0


def _poisson_log(x: Any, log_rate: Any) -> Partials:
    if not _all(x >= 0):
        return None
    with np.errstate(over="ignore"):
        rate = np.exp(log_rate)
    value = x * log_rate - rate - _log_gamma(x + 1.0)
    if any_large(x):
        large = (x > LARGE) & (rate > 0.0) & (rate < math.inf)
        value = where(large, poisson_kernels(x, where(large, rate, 1.0)), value)
    return value, None, x - rate


def _binom(x: Any, n: Any, p: Any) -> Partials:
    if not (_all(x >= 0) and _all(x <= n) and _positive(p) and _all(p < 1.0)):
        return None
    value = log_chooses(n, x) + x * _log(p) + (n - x) * _log1p(-p)
    if any_large(x, n - x):
        value = where((x > LARGE) & (n - x > LARGE), binomial_kernels(x, n - x, p, 1.0 - p), value)
    return value, None, None, x / p - (n - x) / (1.0 - p)


def _binom_logit(x: Any, n: Any, logit: Any) -> Partials:
    if not (_all(x >= 0) and _all(x <= n)):
        return None
    value = log_chooses(n, x) - x * log1p_exps(-logit) - (n - x) * log1p_exps(logit)
    p, rest = expits(logit), expits(-logit)
    if any_large(x, n - x):
        large = (x > LARGE) & (n - x > LARGE) & (p > 0.0) & (rest > 0.0)
        value = where(large, binomial_kernels(x, n - x, p, rest), value)
    return value, None, None, x * rest - (n - x) * p


def _neg_binom_mean(x: Any, mean: Any, dispersion: Any) -> Partials:
    r = dispersion
    if not _all(x >= 0) or any_large(r, x):
        return None
    log_p, log_rest = -log1p_ratios(mean, r), -log1p_ratios(r, mean)
    value = r * log_p + x * log_rest - log_betas(r, x + 1.0) - np.log(x + r)
    p, rest = np.exp(log_p), np.exp(log_rest)
    to_dispersion = lambda: digamma_differences(r, x) + log_p + rest - p * x / r  # noqa: E731
    return value, None, p * (x - mean) / mean, to_dispersion


def _geometric(x: Any, p: Any) -> Partials:
    if not (_all(x >= 0) and _positive(p) and _all(p < 1.0)):
        return None
    return _log(p) + x * _log1p(-p), None, 1.0 / p - x / (1.0 - p)


PARTIALS: dict[type[Distribution], Callable[..., Partials]] = {
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
    bernoulli: _bernoulli,
    bernoulli_logit: _bernoulli_logit,
    poisson: _poisson,
    poisson_log: _poisson_log,
    binom: _binom,
    binom_logit: _binom_logit,
    neg_binom_mean: _neg_binom_mean,
    geometric: _geometric,
}
