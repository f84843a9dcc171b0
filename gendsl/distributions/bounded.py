"""Families on an interval."""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval

from gendsl.distributions.base import ScalarFamily
from gendsl.distributions.discrete import draw_index
from gendsl.distributions.large import LARGE, binomial_kernel
from gendsl.distributions.parameters import (
    LARGEST,
    PLAIN,
    bound,
    certain,
    increasing,
    ordered,
    positive,
    probabilities,
    probability,
    real,
    shown,
)
from gendsl.distributions.special import density, log_beta, where
from gendsl.distributions.truncation import log_truncated, log_truncateds
from gendsl.errors import ImproperError, ParameterError, current_address, format_address
from gendsl.supports import Interval, Real, Support

_INF = math.inf
_TINY, _BELOW_ONE = math.ulp(0.0), math.nextafter(1.0, 0.0)
_UNIT = Interval(0.0, 1.0)
_LINE = Real()
_log = math.log


class uniform(ScalarFamily):
    """The uniform distribution: log density -log(high - low) from low to high, both included."""

    __slots__ = parameters = ("low", "high")

    def __init__(self, low: float, high: float) -> None:
        plain = type(low) in PLAIN and type(high) in PLAIN
        if plain and -LARGEST <= low < high <= LARGEST and high - low <= LARGEST:
            self.low = low
            self.high = high
        else:
            self.low = real("uniform", "low", low)
            self.high = real("uniform", "high", high)
            ordered("uniform", self.low, self.high)

    def sample(self, rng: np.random.Generator) -> float:
        x = self.low + (self.high - self.low) * rng.random()
        return x if x <= self.high else self.high  # the sum may round up

    def at(self, x: float) -> float:
        return -_log(self.high - self.low) if self.low <= x <= self.high else -_INF

    @property
    def support(self) -> Support:
        return Interval(self.low, self.high)


class flat(ScalarFamily):
    """The improper uniform distribution, a prior that isn't normalised: log density 0 from low to high.

    Without ends it is on the whole real line, and `flat(0)` on the numbers that aren't negative. It can't be
    drawn from. So a choice of it needs a starting value, `model.generate(args, data, init={"theta": 1.0})`,
    and a kernel that doesn't draw it from the prior. Whether the posterior is proper is for the model to see
    to. Between two finite ends it is `uniform(low, high)` but for a constant, and that can be drawn from.

    Raises:
        ImproperError: by `sample`, always.
    """

    __slots__ = parameters = ("low", "high")

    def __init__(self, low: float = -_INF, high: float = _INF) -> None:
        self.low = bound("flat", "low", low)
        self.high = bound("flat", "high", high)
        ordered("flat", self.low, self.high)

    def sample(self, rng: np.random.Generator) -> float:
        address = current_address()
        named = "address" if address is None else format_address(address)
        raise ImproperError(
            f"{self!r} is improper: it can't be drawn from",
            fix=f"give a starting value, generate(args, observations, init={{{named}: 1.0}}), and move it by "
            "nuts, hmc, mala, random_walk, slice_sampling or a proposal of your own",
        )

    def at(self, x: float) -> float:
        return 0.0 if self.low <= x <= self.high and -_INF < x < _INF else -_INF

    @property
    def support(self) -> Support:
        if getval(self.low) == -_INF and getval(self.high) == _INF:
            return _LINE
        return Interval(self.low, self.high)


def _beta_at(x: float, a: float, b: float) -> float:
    if x == 0.0 and a <= 1.0:
        return _INF if a < 1.0 else -log_beta(a, b)
    if x == 1.0 and b <= 1.0:
        return _INF if b < 1.0 else -log_beta(a, b)
    if not 0.0 < x < 1.0:
        return -_INF
    if a > LARGE and b > LARGE:
        return binomial_kernel(a - 1.0, b - 1.0, x, 1.0 - x) + _log(a + b - 1.0)
    return (a - 1.0) * _log(x) + (b - 1.0) * math.log1p(-x) - log_beta(a, b)


class beta(ScalarFamily):
    """The beta distribution: log density (a - 1) log(x) + (b - 1) log(1 - x) - log B(a, b)."""

    __slots__ = parameters = ("a", "b")
    _domain = _UNIT

    def __init__(self, a: float, b: float) -> None:
        if type(a) in PLAIN and type(b) in PLAIN and 0.0 < a <= LARGEST and 0.0 < b <= LARGEST:
            self.a = a
            self.b = b
        else:
            self.a = positive("beta", "a", a)
            self.b = positive("beta", "b", b)

    def sample(self, rng: np.random.Generator) -> float:
        x = rng.beta(self.a, self.b)
        return min(max(x, _TINY), _BELOW_ONE)  # the density may be infinite at 0 and 1

    def at(self, x: float) -> float:
        return _beta_at(x, self.a, self.b)


class beta_uniform(ScalarFamily):
    """A mixture of a beta and the uniform distribution on [0, 1]: with probability theta it is
    beta(a, b), and the log density is log(theta beta(x; a, b) + 1 - theta).
    """

    __slots__ = parameters = ("theta", "a", "b")
    _domain = _UNIT

    def __init__(self, theta: float, a: float, b: float) -> None:
        self.theta = probability("beta_uniform", "theta", theta)
        self.a = positive("beta_uniform", "a", a)
        self.b = positive("beta_uniform", "b", b)

    def sample(self, rng: np.random.Generator) -> float:
        if rng.random() < self.theta:
            return min(max(rng.beta(self.a, self.b), _TINY), _BELOW_ONE)
        return rng.random()

    def at(self, x: float) -> float:
        theta = self.theta
        if not 0.0 <= x <= 1.0:
            return -_INF
        if theta == 0.0:
            return certain(True, theta)
        from_beta = _log(theta) + _beta_at(x, self.a, self.b)
        if theta == 1.0 or from_beta == _INF:
            return from_beta
        from_uniform = math.log1p(-theta)
        larger = max(from_beta, from_uniform)
        return larger + math.log1p(math.exp(min(from_beta, from_uniform) - larger))

    @staticmethod
    def elementwise(x: Any, theta: Any, a: Any, b: Any) -> Any:
        with np.errstate(all="ignore"):
            log_beta_density = beta.elementwise(x, a, b)
            finite = (log_beta_density > -_INF) & (log_beta_density < _INF)
            # At an end of the interval the beta density may be 0 or infinite.
            at_end = where(
                log_beta_density > 0.0,
                where(theta > 0.0, _INF, 0.0),
                anp.log1p(-where(theta < 1.0, theta, 0.0)),
            )
            at_end = where((theta == 1.0) & (log_beta_density < 0.0), -_INF, at_end)
            mixed = _log_mixture(theta, where(finite, log_beta_density, 0.0))
            return where((x >= 0.0) & (x <= 1.0), where(finite, mixed, at_end), -_INF)


def _log_mixture(theta: Any, log_density: Any) -> Any:
    """log(theta exp(log_density) + 1 - theta), with derivatives also where theta is 0 or 1."""
    inner = (theta > 0.0) & (theta < 1.0)
    weight = where(inner, theta, 0.5)
    mixed = anp.logaddexp(anp.log(weight) + log_density, anp.log1p(-weight))
    near_zero = theta * anp.expm1(anp.minimum(log_density, 700.0))
    near_one = log_density + (1.0 - theta) * anp.expm1(-anp.maximum(log_density, -700.0))
    return where(inner, mixed, where(theta == 0.0, near_zero, near_one))


class piecewise_uniform(ScalarFamily):
    """Uniform on each of k adjacent intervals: between bounds[i] and bounds[i + 1] the log density is
    log(probs[i] / (bounds[i + 1] - bounds[i])). A bound belongs to the interval above it, the last one
    to the interval below.
    """

    __slots__ = parameters = ("bounds", "probs")

    def __init__(self, bounds: Any, probs: Any) -> None:
        self.bounds = increasing("piecewise_uniform", "bounds", bounds)
        self.probs = probabilities("piecewise_uniform", "probs", probs)
        if len(self.bounds) != len(self.probs) + 1:
            raise ParameterError(
                f"piecewise_uniform: {len(self.probs)} probs need {len(self.probs) + 1} bounds, "
                f"got bounds={shown(bounds)}"
            )

    def sample(self, rng: np.random.Generator) -> float:
        probs = getval(self.probs)
        i = draw_index(probs, rng)
        low, high = self.bounds[i], self.bounds[i + 1]
        x: float = low + (high - low) * rng.random()
        return x if x < high else low  # the sum may round up, to a bound of the next interval

    def at(self, x: float) -> float:
        bounds = self.bounds
        if not bounds[0] <= x <= bounds[-1]:
            return -_INF
        i = min(bisect_right(bounds, x), len(bounds) - 1) - 1
        p = self.probs[i]
        return _log(p) - _log(bounds[i + 1] - bounds[i]) if p > 0.0 else -_INF

    @staticmethod
    def elementwise(x: Any, bounds: Any, probs: Any) -> Any:
        """The vectors of parameters lie along the last axis of `bounds` and `probs`."""
        bounds, probs = anp.array(bounds), anp.array(probs)
        low, high, last = bounds[..., :-1], bounds[..., 1:], bounds[..., -1:]

        def inner(x: Any) -> Any:
            y = anp.expand_dims(x, -1)
            here = (low <= y) & ((y < high) | ((y == last) & (high == last)))
            p = anp.sum(where(here, probs / (high - low), 0.0), axis=-1)
            # 0 * x: autograd warns of a result that doesn't depend on x
            return 0.0 * x + where(p > 0.0, anp.log(where(p > 0.0, p, 1.0)), -_INF)

        return density((bounds[..., 0] <= x) & (x <= bounds[..., -1]), x, bounds[..., 0], inner)

    @property
    def support(self) -> Support:
        return Interval(self.bounds[0], self.bounds[-1])


class truncated_normal(ScalarFamily):
    """normal(mean, sd) given that it lies from low to high, either of which may be infinite: log density
    -(x - mean)^2 / (2 sd^2) - log(sd) - log(2 pi) / 2 - log P(low < y < high) for y ~ normal(mean, sd).
    """

    __slots__ = parameters = ("mean", "sd", "low", "high")

    def __init__(self, mean: float, sd: float, low: float, high: float) -> None:
        self.mean = real("truncated_normal", "mean", mean)
        self.sd = positive("truncated_normal", "sd", sd)
        self.low = bound("truncated_normal", "low", low)
        self.high = bound("truncated_normal", "high", high)
        ordered("truncated_normal", self.low, self.high)

    def sample(self, rng: np.random.Generator) -> float:
        a, b = (self.low - self.mean) / self.sd, (self.high - self.mean) / self.sd
        z = -_truncated_draw(-b, -a, rng) if a + b < 0.0 else _truncated_draw(a, b, rng)
        return min(max(self.mean + self.sd * z, self.low), self.high)

    def at(self, x: float) -> float:
        if not self.low <= x <= self.high:
            return -_INF
        return log_truncated(x, self.mean, self.sd, self.low, self.high)

    @staticmethod
    def elementwise(x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
        def inner(x: Any) -> Any:
            log_density = log_truncateds(x, mean, sd, low, high)
            return where(log_density == log_density, log_density, -_INF)

        inside = (low <= x) & (x <= high) & (x > -_INF) & (x < _INF)
        stand_in = where(low == -_INF, where(high == _INF, mean, high), low)
        return density(inside, x, stand_in, inner)

    @property
    def support(self) -> Support:
        return Interval(self.low, self.high)


def _truncated_draw(a: float, b: float, rng: np.random.Generator) -> float:
    """A standard normal given that it lies in [a, b], where a + b >= 0, by rejection (Robert 1995).

    At least every third proposal is accepted, whatever the interval.
    """
    if b - a < 1.0 and (b - a) * b < 1.0:
        nearest = max(a, 0.0)
        while True:
            z = a + (b - a) * rng.random()
            if rng.standard_exponential() >= 0.5 * (z - nearest) * (z + nearest):
                return z
    if a <= 0.0:
        while True:
            z = rng.standard_normal()
            if a <= z <= b:
                return z
    rate = 0.5 * (a + math.sqrt(a * a + 4.0))
    while True:
        z = a + rng.standard_exponential() / rate
        if z <= b and rng.standard_exponential() >= 0.5 * (z - rate) * (z - rate):
            return z
