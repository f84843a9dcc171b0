"""Supports of continuous scalars. Each is given by elementwise maps, so arrays of them need no loop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f

from gendsl.errors import ParameterError
from gendsl.supports.base import Support, as_float, plain


def exp(u: Any) -> Any:
    """exp(u), inf without a warning where a chart point lies too far out: no support contains it."""
    with np.errstate(over="ignore"):
        return anp.exp(u)


def _share(u: Any) -> Any:
    """1 / (1 + exp(-u))."""
    return np.exp(-np.logaddexp(0.0, -u))


def _point_between(u: Any, low: Any, high: Any) -> Any:
    # Written from the nearer end: the small distance to either end keeps all its digits.
    width = high - low
    return np.where(u < 0.0, low + width * _share(u), high - width * _share(-u))[()]


# Each of these is one function to autograd, which is much faster than a record of its steps.
_between = primitive(_point_between)
defvjp(
    _between,
    lambda ans, u, low, high: lambda g: g * (high - low) * _share(u) * _share(-u),
    lambda ans, u, low, high: unbroadcast_f(low, lambda g: g * _share(-u)),
    lambda ans, u, low, high: unbroadcast_f(high, lambda g: g * _share(u)),
)
_log_logistic = primitive(lambda u: -np.logaddexp(0.0, -u) - np.logaddexp(0.0, u))
defvjp(_log_logistic, lambda ans, u: lambda g: -g * np.tanh(0.5 * u))


class ScalarSupport(Support):
    """A set of real numbers, given by the elementwise predicate `inside`."""

    def inside(self, x: Any) -> Any:
        """Whether each entry of x lies in the set."""
        raise TypeError(f"{type(self).__name__} must define inside")

    def contains(self, value: Any) -> bool:
        return bool(self.inside(as_float(value)))


class Line(ScalarSupport):
    """An interval of the real line, given by an increasing map from all of it; all maps elementwise."""

    def from_line(self, u: Any) -> Any:
        return u

    def to_line(self, x: Any) -> Any:
        return x

    def log_slope(self, u: Any) -> Any:
        return 0.0 * u

    def constrain(self, u: Any) -> Any:
        return plain(self.from_line(u[0]))

    def unconstrain(self, value: Any) -> Any:
        return self.to_line(self.coordinates(value))

    def log_abs_det(self, u: Any) -> Any:
        return plain(self.log_slope(u[0]))


@dataclass(frozen=True)
class Real(Line):
    """All real numbers."""

    def inside(self, x: Any) -> Any:
        return (-math.inf < x) & (x < math.inf)


@dataclass(frozen=True)
class Positive(Line):
    """The positive real numbers; the chart is the logarithm."""

    def inside(self, x: Any) -> Any:
        return (x > 0.0) & (x < math.inf)

    def from_line(self, u: Any) -> Any:
        return exp(u)

    def to_line(self, x: Any) -> Any:
        return anp.log(x)

    def log_slope(self, u: Any) -> Any:
        return u


@dataclass(frozen=True, init=False)
class Interval(Line):
    """The real numbers from `low` to `high`, finite ends included; the chart is the logit.

    A half-infinite interval's chart is the logarithm of the distance to its end. A density may vanish
    or be infinite at an end, but is positive and finite between the ends.
    """

    low: float
    high: float

    def __init__(self, low: float, high: float) -> None:
        if not low < high:
            raise ParameterError(f"Interval: high must be greater than low, got low={low!r}, high={high!r}")
        attributes = self.__dict__  # a frozen dataclass's own way takes longer, and each move may make some
        attributes["low"], attributes["high"] = low, high

    def inside(self, x: Any) -> Any:
        return (self.low <= x) & (x <= self.high) & (-math.inf < x) & (x < math.inf)

    def from_line(self, u: Any) -> Any:
        if self.low == -math.inf:
            return u if self.high == math.inf else self.high - exp(-u)
        if self.high == math.inf:
            return self.low + exp(u)
        return _between(u, self.low, self.high)

    def to_line(self, x: Any) -> Any:
        if self.low == -math.inf:
            return x if self.high == math.inf else -anp.log(self.high - x)
        if self.high == math.inf:
            return anp.log(x - self.low)
        return anp.log(x - self.low) - anp.log(self.high - x)

    def log_slope(self, u: Any) -> Any:
        if self.low == -math.inf:
            return 0.0 * u if self.high == math.inf else -u
        if self.high == math.inf:
            return u
        return anp.log(self.high - self.low) + _log_logistic(u)


@dataclass(frozen=True, init=False)
class Circle(Interval):
    """Angles from -pi to pi. The two ends are one point; the chart is cut there."""

    def __init__(self) -> None:
        self._fix(low=-math.pi, high=math.pi)

    def __repr__(self) -> str:
        return "Circle()"
