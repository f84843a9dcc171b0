"""Families on the positive real numbers."""

from __future__ import annotations

import math

import numpy as np

from gendsl.distributions.base import ScalarFamily
from gendsl.distributions.large import LARGE, poisson_kernel
from gendsl.distributions.location_scale import FAR
from gendsl.distributions.parameters import LARGEST, PLAIN, positive, real
from gendsl.distributions.special import (
    HALF_LOG_2PI,
    LOG_2,
    LOG_PI,
    log1p_square,
    log_half_step,
)
from gendsl.supports import Interval, Positive

_INF = math.inf
_TINY = math.ulp(0.0)
_POSITIVE = Positive()
_FROM_ZERO = Interval(0.0, _INF)
_log = math.log


def _positive_draw(x: float) -> float:
    """A draw, where it rounds to 0 or to inf the nearest positive number: the support holds neither."""
    return x if 0.0 < x < _INF else min(max(x, _TINY), LARGEST)


class exponential(ScalarFamily):
    """The exponential distribution: log density log(rate) - rate x for x >= 0."""

    __slots__ = parameters = ("rate",)
    _domain = _FROM_ZERO

    def __init__(self, rate: float) -> None:
        if type(rate) in PLAIN and 0.0 < rate <= LARGEST:
            self.rate = rate
        else:
            self.rate = positive("exponential", "rate", rate)

    def sample(self, rng: np.random.Generator) -> float:
        return rng.standard_exponential() / self.rate

    def at(self, x: float) -> float:
        return _log(self.rate) - self.rate * x if 0.0 <= x < _INF else -_INF


class gamma(ScalarFamily):
    """The gamma distribution, of mean shape * scale; with y = x / scale the log density is
    (shape - 1) log(y) - y - log gamma(shape) - log(scale).
    """

    __slots__ = parameters = ("shape", "scale")
    _domain = _POSITIVE

    def __init__(self, shape: float, scale: float) -> None:
        plain = type(shape) in PLAIN and type(scale) in PLAIN
        if plain and 0.0 < shape <= LARGEST and 0.0 < scale <= LARGEST:
            self.shape = shape
            self.scale = scale
        else:
            self.shape = positive("gamma", "shape", shape)
            self.scale = positive("gamma", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        return _positive_draw(self.scale * rng.standard_gamma(self.shape))

    def at(self, x: float) -> float:
        shape, scale = self.shape, self.scale
        log_scale = _log(scale)
        if x == 0.0 and shape <= 1.0:
            return _INF if shape < 1.0 else -log_scale
        if not 0.0 < x < _INF:
            return -_INF
        if shape > LARGE and 0.0 < x / scale < _INF:
            return poisson_kernel(shape - 1.0, x / scale) - log_scale
        return (shape - 1.0) * (_log(x) - log_scale) - x / scale - math.lgamma(shape) - log_scale


class inv_gamma(ScalarFamily):
    """The distribution of 1 / y for y ~ gamma(shape, 1 / scale): log density
    shape log(scale) - log gamma(shape) - (shape + 1) log(x) - scale / x.
    """

    __slots__ = parameters = ("shape", "scale")
    _domain = _POSITIVE

    def __init__(self, shape: float, scale: float) -> None:
        plain = type(shape) in PLAIN and type(scale) in PLAIN
        if plain and 0.0 < shape <= LARGEST and 0.0 < scale <= LARGEST:
            self.shape = shape
            self.scale = scale
        else:
            self.shape = positive("inv_gamma", "shape", shape)
            self.scale = positive("inv_gamma", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        y = rng.standard_gamma(self.shape)
        return _positive_draw(self.scale / y) if y > 0.0 else LARGEST

    def at(self, x: float) -> float:
        if not 0.0 < x < _INF:
            return -_INF
        log_x = _log(x)
        shape, scale = self.shape, self.scale
        if shape > LARGE and 0.0 < scale / x < _INF:
            return poisson_kernel(shape, scale / x) + _log(shape) - log_x
        return shape * (_log(scale) - log_x) - log_x - math.lgamma(shape) - scale / x


class log_normal(ScalarFamily):
    """The distribution of exp(y) for y ~ normal(mu, sigma): log density
    -(log(x) - mu)^2 / (2 sigma^2) - log(sigma) - log(2 pi) / 2 - log(x).
    """

    __slots__ = parameters = ("mu", "sigma")
    _domain = _POSITIVE

    def __init__(self, mu: float, sigma: float) -> None:
        self.mu = real("log_normal", "mu", mu)
        self.sigma = positive("log_normal", "sigma", sigma)

    def sample(self, rng: np.random.Generator) -> float:
        return _positive_draw(rng.lognormal(self.mu, self.sigma))

    def at(self, x: float) -> float:
        if not 0.0 < x < _INF:
            return -_INF
        log_x = _log(x)
        z = (log_x - self.mu) / self.sigma
        return -0.5 * z * z - _log(self.sigma) - HALF_LOG_2PI - log_x


class half_normal(ScalarFamily):
    """The distribution of |y| for y ~ normal(0, scale): log density
    -x^2 / (2 scale^2) - log(scale) + log(2 / pi) / 2 for x >= 0.
    """

    __slots__ = parameters = ("scale",)
    _domain = _FROM_ZERO

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = positive("half_normal", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        return self.scale * abs(rng.standard_normal())

    def at(self, x: float) -> float:
        if not 0.0 <= x < _INF:
            return -_INF
        z = x / self.scale
        return -0.5 * z * z - _log(self.scale) - HALF_LOG_2PI + LOG_2


class half_cauchy(ScalarFamily):
    """The distribution of |y| for y ~ cauchy(0, scale): log density
    log(2 / (pi scale)) - log(1 + (x / scale)^2) for x >= 0.
    """

    __slots__ = parameters = ("scale",)
    _domain = _FROM_ZERO

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = positive("half_cauchy", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        return self.scale * abs(rng.standard_cauchy())

    def at(self, x: float) -> float:
        if not 0.0 <= x < _INF:
            return -_INF
        return -log1p_square(x, self.scale) - _log(self.scale) - LOG_PI + LOG_2


class half_student_t(ScalarFamily):
    """The distribution of |y| for y ~ student_t(df, 0, scale); for x >= 0, with z = x / scale, log density
    log(2 gamma((df + 1) / 2) / gamma(df / 2)) - log(pi df) / 2 - log(scale) - (df + 1) / 2 log(1 + z^2 / df).
    """

    __slots__ = parameters = ("df", "scale")
    _domain = _FROM_ZERO

    def __init__(self, df: float, scale: float = 1.0) -> None:
        self.df = positive("half_student_t", "df", df)
        self.scale = positive("half_student_t", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        return self.scale * min(abs(rng.standard_t(self.df)), FAR)  # it may be beyond all floats

    def at(self, x: float) -> float:
        if not 0.0 <= x < _INF:
            return -_INF
        df = self.df
        return (
            LOG_2
            + log_half_step(df)
            - 0.5 * (_log(df) + LOG_PI)
            - _log(self.scale)
            - 0.5 * (df + 1.0) * log1p_square(x, self.scale, math.sqrt(df))
        )
