"""The normal distribution on an interval: its density and derivatives, also on narrow and far intervals.

With z = (x - mean) / sd, the interval from a to b in the same units and mass P(a < Z < b), the log density is

    -z² / 2 - log(sd) - log(2 pi) / 2 - log(mass).

In a tail both z² and the logarithm of the mass are much larger than their sum; on a narrow interval the
mass is the difference of two numbers that are almost the same. So distances are taken from a point of the
interval: u = z - c, and -z² / 2 = -u (c + u / 2) - c² / 2, of which the last term cancels on paper. That is

    c = (a + b) / 2      where the density is nearly flat, with the mass by quadrature;
    c = a                where 0 < a, with Mills' ratio of the tails (1 - Φ(t)) / φ(t);
    c = 0                elsewhere.

An interval with a < -b is turned round. Derivatives are differences to the mean of u and u² over it.
"""

from __future__ import annotations

import math
from typing import Any

import autograd.numpy as anp
import numpy as np
import scipy.special
from autograd import make_vjp
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f

from gendsl.distributions.special import HALF_LOG_2PI, where

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_QUADRATURE = tuple(zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True))
_SQRT_HALF, _SQRT_HALF_PI = math.sqrt(0.5), math.sqrt(0.5 * math.pi)
_FAR = 1e8  # from here on Mills' ratio is 1 / t to the last digit
_SERIES_FROM = 30.0
_EXCESS = 1.0, -2.0, 10.0, -74.0, 706.0, -8162.0, 110410.0  # of φ(t) / (1 - Φ(t)) - t, in 1 / t


def log_truncated(x: float, mean: float, sd: float, low: float, high: float) -> float:
    """The log density at x, from low to high; NaN where the interval is farther than floats reach."""
    a, b = (low - mean) / sd, (high - mean) / sd
    if a < -b:
        x, mean, low, high, a, b = -x, -mean, -high, -low, -b, -a
    width = (high - low) / sd
    if width < 1.0 and width * b < 1.0:
        middle, half, u = 0.5 * (a + b), 0.5 * width, 0.5 * ((x - low) - (high - x)) / sd
        flat = math.fsum(w * math.exp(-t * half * (middle + 0.5 * t * half)) for t, w in _QUADRATURE)
        return -u * (middle + 0.5 * u) - math.log(high - low) - math.log(0.5 * flat)
    if a <= 0.0:
        z = (x - mean) / sd
        outside = 0.5 * (math.erfc(b * _SQRT_HALF) + math.erfc(-a * _SQRT_HALF))
        return -0.5 * z * z - math.log(sd) - HALF_LOG_2PI - math.log1p(-outside)
    if not a < math.inf:
        return math.nan
    u, ratio = (x - low) / sd, _mills(a)
    beyond = math.exp(-width * (a + 0.5 * width)) * _mills(b) / ratio
    return -u * (a + 0.5 * u) - math.log(sd) - math.log(ratio) - math.log1p(-beyond)


def _mills(t: float) -> float:
    return _SQRT_HALF_PI * float(scipy.special.erfcx(t * _SQRT_HALF)) if t < _FAR else 1.0 / t


# --- elementwise -----------------------------------------------------------------------------------


class _Intervals:
    """Intervals in units of sd, turned so that a >= -b, and what of each kind there is among them."""

    def __init__(self, mean: Any, sd: Any, low: Any, high: Any) -> None:
        a, b = (low - mean) / sd, (high - mean) / sd
        self.turned = a < -b
        self.sd = sd
        self.a, self.b = np.where(self.turned, -b, a), np.where(self.turned, -a, b)
        self.length = high - low
        self.width = self.length / sd
        self.narrow = (self.width < 1.0) & (self.width * self.b < 1.0)
        self.tail = ~self.narrow & (self.a > 0.0)
        self.centre = np.where(self.narrow, 0.5 * (self.a + self.b), np.where(self.tail, self.a, 0.0))

    def apart(self, x: Any, mean: Any, low: Any, high: Any) -> Any:
        """u at each x."""
        below, above = x - low, high - x
        below, above = np.where(self.turned, above, below), np.where(self.turned, below, above)
        z = np.where(self.turned, mean - x, x - mean)
        return np.where(self.narrow, 0.5 * (below - above), np.where(self.tail, below, z)) / self.sd

    def weights(self) -> list[Any]:
        """The nodes of the quadrature, and exp(c² / 2 - z² / 2) there with their weights."""
        half = 0.5 * np.where(self.narrow, self.width, 0.0)
        terms = [(t * half, w) for t, w in _QUADRATURE]
        return [(u, w * np.exp(-u * (self.centre + 0.5 * u))) for u, w in terms]

    def beyond(self) -> tuple[Any, Any, Any]:
        """Mills' ratio at a, the share of what is above a that is above b, and b - a where that is any."""
        ratio = _all_mills(self.a)
        share = np.exp(-self.width * (self.a + 0.5 * self.width)) * _all_mills(self.b) / ratio
        return ratio, share, np.where(share > 0.0, self.width, 0.0)

    def log_masses(self) -> Any:
        """log(mass sqrt(2 pi) sd) + c² / 2, or -c² / 2 - log of what the density at c is."""
        logs = np.log1p(-scipy.special.ndtr(-self.b) - scipy.special.ndtr(self.a))
        logs = logs + np.log(self.sd) + HALF_LOG_2PI
        if self.narrow.any():
            flat = sum(weight for _, weight in self.weights())
            logs = np.where(self.narrow, np.log(self.length) + np.log(0.5 * flat), logs)
        if self.tail.any():
            ratio, share, _ = self.beyond()
            logs = np.where(self.tail, np.log(self.sd) + np.log(ratio) + np.log1p(-share), logs)
        return logs

    def moments(self) -> tuple[Any, Any]:
        """The means of u and of u² over the interval."""
        mass = 1.0 - scipy.special.ndtr(-self.b) - scipy.special.ndtr(self.a)
        at_a, at_b = (np.exp(-0.5 * t * t - HALF_LOG_2PI) / mass for t in (self.a, self.b))
        first = at_a - at_b
        second = 1.0 + _product(self.a, at_a) - _product(self.b, at_b)
        if self.narrow.any():
            weights = self.weights()
            flat = sum(weight for _, weight in weights)
            first = np.where(self.narrow, sum(u * weight for u, weight in weights) / flat, first)
            second = np.where(self.narrow, sum(u * u * weight for u, weight in weights) / flat, second)
        if self.tail.any():
            _, share, width = self.beyond()
            one, two = _excess(self.a)
            one_b, two_b = _excess(np.where(share > 0.0, self.b, 1.0))
            rest = 1.0 - share
            first = np.where(self.tail, (one - share * (one_b + width)) / rest, first)
            after = two_b + width * (2.0 * one_b + width)
            second = np.where(self.tail, (two - share * after) / rest, second)
        return first, second


def _all_mills(t: Any) -> Any:
    return np.where(t < _FAR, _SQRT_HALF_PI * scipy.special.erfcx(t * _SQRT_HALF), 1.0 / t)


def _product(t: Any, density: Any) -> Any:
    return np.where(np.isinf(t), 0.0, t) * density


def _excess(t: Any) -> tuple[Any, Any]:
    """The means of Z - t and of its square, given that Z > t."""
    far = t > _SERIES_FROM
    s = 1.0 / np.where(far, t, _SERIES_FROM) ** 2
    series = np.polyval(_EXCESS[:0:-1], s)  # what follows the 1
    first = np.where(far, (1.0 + s * series) / t, 1.0 / _all_mills(t) - t)
    return first, np.where(far, -s * series, 1.0 - t * first)


def _columns(*arguments: Any) -> tuple[Any, ...]:
    return tuple(np.broadcast_arrays(*(np.asarray(argument, dtype=float) for argument in arguments)))


@np.errstate(all="ignore")
def _log_truncateds(x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    x, mean, sd, low, high = _columns(x, mean, sd, low, high)
    intervals = _Intervals(mean, sd, low, high)
    u = intervals.apart(x, mean, low, high)
    return (-u * (intervals.centre + 0.5 * u) - intervals.log_masses())[()]


@np.errstate(all="ignore")
def _exact_to_mean(x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    x, mean, sd, low, high = _columns(x, mean, sd, low, high)
    intervals = _Intervals(mean, sd, low, high)
    more = intervals.apart(x, mean, low, high) - intervals.moments()[0]
    return (np.where(intervals.turned, -more, more) / sd)[()]


@np.errstate(all="ignore")
def _exact_to_sd(x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    x, mean, sd, low, high = _columns(x, mean, sd, low, high)
    intervals = _Intervals(mean, sd, low, high)
    u, (first, second) = intervals.apart(x, mean, low, high), intervals.moments()
    return ((u * u - second + 2.0 * intervals.centre * (u - first)) / sd)[()]


def _density_at(end: Any, x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    """The density at an end of the interval; 0 where that is infinite."""
    finite = (end > -math.inf) & (end < math.inf)
    return where(finite, anp.exp(log_truncateds(where(finite, end, x), mean, sd, low, high)), 0.0)


def _to_mean(x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    at_low, at_high = (_density_at(end, x, mean, sd, low, high) for end in (low, high))
    return (x - mean) / sd**2 - at_low + at_high


def _to_sd(x: Any, mean: Any, sd: Any, low: Any, high: Any) -> Any:
    z, moved = (x - mean) / sd, 0.0
    for end, sign in ((low, -1.0), (high, 1.0)):
        distance = where((end > -math.inf) & (end < math.inf), end, mean) - mean
        moved = moved + sign * distance * _density_at(end, x, mean, sd, low, high)
    return (z * z - 1.0 + moved) / sd


def _with_derivatives_of(formula: Any, exact: Any) -> Any:
    """A function as autograd sees it: with the values of one, and the derivatives of a formula for it."""
    function = primitive(exact)

    def derivative(i: int) -> Any:
        def make(ans: Any, *arguments: Any) -> Any:
            def at(argument: Any) -> Any:
                return formula(*arguments[:i], argument, *arguments[i + 1 :])

            return lambda g: make_vjp(at)(arguments[i])[0](g)

        return make

    defvjp(function, *map(derivative, range(5)))
    return function


_slope_in_mean = _with_derivatives_of(_to_mean, _exact_to_mean)
_slope_in_sd = _with_derivatives_of(_to_sd, _exact_to_sd)

log_truncateds = primitive(_log_truncateds)
"""The log densities of `log_truncated`, elementwise."""
defvjp(
    log_truncateds,
    lambda ans, x, m, s, a, b: unbroadcast_f(x, lambda g: -g * (x - m) / s**2),
    lambda ans, x, m, s, a, b: unbroadcast_f(m, lambda g: g * _slope_in_mean(x, m, s, a, b)),
    lambda ans, x, m, s, a, b: unbroadcast_f(s, lambda g: g * _slope_in_sd(x, m, s, a, b)),
    lambda ans, x, m, s, a, b: unbroadcast_f(a, lambda g: g * _density_at(a, x, m, s, a, b)),
    lambda ans, x, m, s, a, b: unbroadcast_f(b, lambda g: -g * _density_at(b, x, m, s, a, b)),
)
