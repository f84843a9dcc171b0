"""The distribution of `scale * x + shift`, which is what arithmetic on a distribution gives."""

from __future__ import annotations

import functools
import math
from math import inf
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from gendsl.distributions.arrays import brief, plain, scores_stacks
from gendsl.distributions.base import Distribution, ScalarFamily
from gendsl.errors import LostDerivativeError, NotADistributionError, ParameterError, ValueTypeError
from gendsl.supports import Boolean, Integers, Interval, Lattice, Positive, Real, RealArray, Support

_ARRAY_ADVICE = "for an array of choices use product([d0, d1, ...]), or iid(d, n)"


class affine(Distribution):
    """The distribution of `scale * x + shift` for x from `dist`.

    Continuous: log p((y - shift) / scale) - log|scale|. Discrete: the mass of x at the image of x;
    values stay integers where `scale` and `shift` are integers. An image of an image is one image.

    Args:
        dist: a scalar distribution, or one of all real vectors or arrays of a shape (mvnormal).
        scale: a number other than 0.
        shift: a number; for arrays also an array of their shape.
    """

    __slots__ = ("dist", "scale", "shift")
    parameters = ("dist", "scale", "shift")

    def __init__(self, dist: Distribution, scale: Any = 1, shift: Any = 0) -> None:
        if not isinstance(dist, Distribution):
            raise NotADistributionError(
                f"affine needs a distribution, got {brief(dist)}", fix="give one, such as normal(0, 1)"
            )
        if type(scale) is not int and type(scale) is not float:
            scale = _number("scale", scale)
        if type(shift) is not int and type(shift) is not float:
            shift = _shift(dist, shift)
        elif not -inf < shift < inf:
            raise ParameterError(
                f"arithmetic on a distribution: the number added must be finite, got {shift!r}"
            )
        if not (-inf < scale < 0 or 0 < scale < inf):
            raise ParameterError(
                f"arithmetic on a distribution: the scale must be finite and not 0, got {brief(scale)}"
            )
        if isinstance(dist, affine):
            shift = scale * dist.shift + shift
            scale = scale * dist.scale
            dist = dist.dist
        self.dist: Distribution = dist
        self.scale: Any = scale
        self.shift: Any = shift
        # The families of one number all have images; anything else shows here whether it has one.
        if (
            not isinstance(dist, ScalarFamily)
            or (type(scale) is not int and isbox(scale))
            or (type(shift) is not int and isbox(shift))
        ):
            self._check()

    def _check(self) -> None:
        if self.support.discrete and (isbox(self.scale) or isbox(self.shift)):
            raise LostDerivativeError(
                f"arithmetic on {self.dist!r}: a discrete distribution has no derivative with respect to "
                "the scale or the shift of its values",
                fix="scale and shift discrete distributions by plain numbers",
            )

    def sample(self, rng: np.random.Generator) -> Any:
        return plain(self.scale) * self.dist.sample(rng) + plain(self.shift)

    def logpdf(self, x: Any) -> Any:
        scale, shift = self.scale, self.shift
        if (type(x) is int or type(x) is float) and type(shift) is int and scale == 1:
            return self.dist.logpdf(x - shift)
        try:
            with np.errstate(over="ignore"):
                y = ((x if isbox(x) else np.asarray(x)[()]) - shift) / scale
        except (TypeError, ValueError):
            raise ValueTypeError(f"{self!r}: a value must be a number, got {brief(x)}") from None
        support = self.dist.support
        if not support.discrete:
            size = math.prod(support.shape or ())
            return self.dist.logpdf(y if isbox(y) or np.ndim(y) else float(y)) - size * _log_abs(scale)
        if isinstance(support, Lattice):
            return self.dist.logpdf(y)
        index = Lattice(shift, scale).index(plain(x))
        if np.ndim(index):
            return self.dist.logpdf(index)
        return self.dist.logpdf(int(index)) if float(index).is_integer() else -inf

    @property
    def vectorised(self) -> bool:
        return scores_stacks(self.dist)

    @property
    def _measure(self) -> Support | None:  # type: ignore[override]
        return self.dist._measure

    @property
    def support(self) -> Support:
        scale, shift = plain(self.scale), plain(self.shift)
        support = self.dist.support
        match support:
            case Real() | RealArray():
                return support
            case Positive():
                return Positive() if shift == 0 and scale > 0 else _interval(0.0, inf, scale, shift)
            case Interval():
                return _interval(support.low, support.high, scale, shift)
            case Boolean():
                return _lattice(0, 1, scale, shift)
            case Integers():
                return _lattice(support.low, support.high, scale, shift)
            case Lattice():
                return Lattice(
                    shift + scale * support.offset, scale * support.step, support.low, support.high
                )
        raise ParameterError(
            f"arithmetic on {self.dist!r}: its values, in {support!r}, can't be scaled and shifted",
            fix=_ARRAY_ADVICE,
        )

    def __repr__(self) -> str:
        scale, shift = plain(self.scale), plain(self.shift)
        shown = repr(self.dist)
        if isinstance(shift, np.ndarray):
            shown = f"{shown} + {brief(shift)}" if scale == 1 else f"{scale!r} * {shown} + {brief(shift)}"
            return shown
        if scale == -1:
            return f"{shift!r} - {shown}" if shift else f"-{shown}"
        if scale != 1:
            shown = f"{scale!r} * {shown}"
        return f"{shift!r} + {shown}" if shift or scale == 1 else shown


Distribution._affine = affine


def _number(name: str, x: Any) -> Any:
    """A scale or a shift as a Python number, or as autograd has it."""
    value = plain(x)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, Distribution):
        raise ParameterError(
            f"arithmetic on two distributions, {value!r} and another: the density of the result is not known",
            fix="make two choices, each at its own address, and do the arithmetic on their values",
        )
    if not isinstance(value, (int, float, np.integer, np.floating)):
        fix = _ARRAY_ADVICE if isinstance(value, (np.ndarray, list, tuple)) else None
        raise ParameterError(
            f"arithmetic on a distribution: the {name} must be a number, got {brief(x)} "
            f"of type {type(x).__name__}",
            fix=fix,
        )
    if isbox(x):
        return x
    return int(value) if isinstance(value, (int, np.integer)) else float(value)


def _shift(dist: Distribution, x: Any) -> Any:
    """A shift: a finite number, or an array of the shape of an array distribution's values."""
    shape = np.shape(plain(x)) if isbox(x) or isinstance(x, np.ndarray) else ()
    if shape:
        support = dist.support
        if not isinstance(support, RealArray) or support.shape != shape:
            raise ParameterError(
                f"arithmetic on {dist!r}: an array of shape {shape} can't be added to values in {support!r}",
                fix=_ARRAY_ADVICE,
            )
    else:
        x = _number("number added", x)
    if not np.isfinite(plain(x)).all():
        raise ParameterError(f"arithmetic on a distribution: the number added must be finite, got {brief(x)}")
    return x


def _log_abs(scale: Any) -> Any:
    return anp.log(anp.abs(scale)) if isbox(scale) else math.log(abs(scale))


def _interval(low: float, high: float, scale: float, shift: float) -> Interval:
    ends = (scale * low + shift, scale * high + shift)
    return Interval(min(ends), max(ends))


@functools.lru_cache(maxsize=1024, typed=True)
def _lattice(low: float, high: float, scale: float, shift: float) -> Integers | Lattice:
    if scale in (1, -1) and isinstance(scale, int) and isinstance(shift, int):
        ends = (scale * low + shift, scale * high + shift)
        return Integers(min(ends), max(ends))
    return Lattice(shift, scale, low, high)
