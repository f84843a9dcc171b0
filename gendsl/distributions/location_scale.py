"""Families on the whole real line, and on the circle."""

from __future__ import annotations

import math

import numpy as np

from gendsl.distributions.base import ScalarFamily
from gendsl.distributions.parameters import LARGEST, PLAIN, nonnegative, positive, real
from gendsl.distributions.special import (
    HALF_LOG_2PI,
    LOG_2,
    LOG_2PI,
    LOG_PI,
    log1p_square,
    log_half_step,
    log_i0e,
)
from gendsl.supports import Circle, Real

_INF = math.inf
FAR = 1e300
"""The largest draw of Student's t: for few degrees of freedom it may be beyond all floats."""
_REAL = Real()
_CIRCLE = Circle()
_log = math.log


class normal(ScalarFamily):
    """The normal distribution: log density -(x - mean)^2 / (2 sd^2) - log(sd) - log(2 pi) / 2."""

    __slots__ = parameters = ("mean", "sd")
    _domain = _REAL

    def __init__(self, mean: float, sd: float) -> None:
        if type(mean) in PLAIN and type(sd) in PLAIN and -LARGEST <= mean <= LARGEST and 0.0 < sd <= LARGEST:
            self.mean = mean
            self.sd = sd
        else:
            self.mean = real("normal", "mean", mean)
            self.sd = positive("normal", "sd", sd)

    def sample(self, rng: np.random.Generator) -> float:
        return self.mean + self.sd * rng.standard_normal()

    def at(self, x: float) -> float:
        z = (x - self.mean) / self.sd
        return -0.5 * z * z - _log(self.sd) - HALF_LOG_2PI


class laplace(ScalarFamily):
    """The Laplace distribution: log density -|x - loc| / scale - log(2 scale)."""

    __slots__ = parameters = ("loc", "scale")
    _domain = _REAL

    def __init__(self, loc: float, scale: float) -> None:
        self.loc = real("laplace", "loc", loc)
        self.scale = positive("laplace", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        return rng.laplace(self.loc, self.scale)

    def at(self, x: float) -> float:
        return -abs((x - self.loc) / self.scale) - _log(self.scale) - LOG_2


class cauchy(ScalarFamily):
    """The Cauchy distribution: log density -log(pi scale (1 + ((x - loc) / scale)^2))."""

    __slots__ = parameters = ("loc", "scale")
    _domain = _REAL

    def __init__(self, loc: float, scale: float) -> None:
        self.loc = real("cauchy", "loc", loc)
        self.scale = positive("cauchy", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        return self.loc + self.scale * rng.standard_cauchy()

    def at(self, x: float) -> float:
        return -log1p_square(x - self.loc, self.scale) - _log(self.scale) - LOG_PI


class student_t(ScalarFamily):
    """Student's t distribution with df degrees of freedom; with z = (x - loc) / scale the log density is
    log(gamma((df + 1) / 2) / gamma(df / 2)) - log(pi df) / 2 - log(scale) - (df + 1) / 2 log(1 + z^2 / df).
    """

    __slots__ = parameters = ("df", "loc", "scale")
    _domain = _REAL

    def __init__(self, df: float, loc: float = 0.0, scale: float = 1.0) -> None:
        self.df = positive("student_t", "df", df)
        self.loc = real("student_t", "loc", loc)
        self.scale = positive("student_t", "scale", scale)

    def sample(self, rng: np.random.Generator) -> float:
        z = min(max(-FAR, rng.standard_t(self.df)), FAR)
        return self.loc + self.scale * z

    def at(self, x: float) -> float:
        df = self.df
        return (
            log_half_step(df)
            - 0.5 * (_log(df) + LOG_PI)
            - _log(self.scale)
            - 0.5 * (df + 1.0) * log1p_square(x - self.loc, self.scale, math.sqrt(df))
        )


def _on_circle(angle: float) -> float:
    """The same angle from -pi to pi, of which the sine and the cosine lose no digits."""
    return angle if -math.pi <= angle <= math.pi else math.atan2(math.sin(angle), math.cos(angle))


class von_mises(ScalarFamily):
    """The von Mises distribution of angles from -pi to pi: log density
    kappa cos(x - mu) - log(2 pi I0(kappa)). It is uniform where kappa is 0.
    """

    __slots__ = parameters = ("mu", "kappa")
    _domain = _CIRCLE

    def __init__(self, mu: float, kappa: float) -> None:
        self.mu = real("von_mises", "mu", mu)
        self.kappa = nonnegative("von_mises", "kappa", kappa)

    def sample(self, rng: np.random.Generator) -> float:
        if -math.pi <= self.mu <= math.pi:
            return rng.vonmises(self.mu, self.kappa)
        # NumPy takes away one turn only, where kappa is above 1e6
        return rng.vonmises(_on_circle(self.mu), self.kappa)

    def at(self, x: float) -> float:
        if not -math.pi <= x <= math.pi:
            return -_INF
        # cos(t) - 1 = -2 sin(t / 2)^2, and I0(kappa) = exp(kappa) i0e(kappa): nothing cancels
        sine = math.sin(0.5 * (x - _on_circle(self.mu)))
        return -2.0 * sine * (sine * self.kappa) - LOG_2PI - log_i0e(self.kappa)
