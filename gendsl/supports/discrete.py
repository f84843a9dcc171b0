"""Discrete supports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.choices.values import same_value
from gendsl.errors import ParameterError
from gendsl.supports.base import ENUMERABLE, Support, as_array, as_number, as_typed_array, count
from gendsl.supports.scalar import ScalarSupport


@dataclass(frozen=True)
class Boolean(ScalarSupport):
    """False and True (0 and 1 are taken for them)."""

    discrete = True

    @property
    def values(self) -> tuple[bool, ...]:
        return (False, True)

    def inside(self, x: Any) -> Any:
        return (x == 0.0) | (x == 1.0)

    def canonical(self, value: Any) -> Any:
        return as_number(value, bool)


@dataclass(frozen=True)
class Integers(ScalarSupport):
    """The integers from `low` to `high`, both included; either end may be infinite."""

    low: float = -math.inf
    high: float = math.inf
    discrete = True

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            end = getattr(self, name)
            if math.isnan(end) or not (math.isinf(end) or end == math.floor(end)):
                raise ParameterError(f"Integers: {name} must be an integer or infinite, got {end!r}")
            if math.isfinite(end):
                self._fix(**{name: int(end)})
        if self.low > self.high:
            raise ParameterError(f"Integers: none from low={self.low!r} to high={self.high!r}")

    @property
    def values(self) -> tuple[int, ...] | None:
        if self.high - self.low >= ENUMERABLE:
            return None
        return tuple(range(int(self.low), int(self.high) + 1))

    def inside(self, x: Any) -> Any:
        return (self.low <= x) & (x <= self.high) & (x == np.floor(x)) & (np.abs(x) < math.inf)

    def canonical(self, value: Any) -> Any:
        return as_number(value, int)


@dataclass(frozen=True)
class Lattice(ScalarSupport):
    """The numbers `offset + step * i` for the integers i from `low` to `high` (either may be infinite)."""

    offset: float
    step: float
    low: float = -math.inf
    high: float = math.inf
    discrete = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.offset) and math.isfinite(self.step) and self.step != 0):
            raise ParameterError(
                "Lattice: offset must be finite and step finite and not 0, "
                f"got offset={self.offset!r}, step={self.step!r}"
            )
        integers = Integers(self.low, self.high)
        self._fix(low=integers.low, high=integers.high)

    @property
    def values(self) -> tuple[Any, ...] | None:
        integers = Integers(self.low, self.high).values
        return None if integers is None else tuple(self.offset + self.step * i for i in integers)

    def index(self, x: Any) -> Any:
        """The i, elementwise, with `offset + step * i == x` up to rounding; NaN where there is none."""
        with np.errstate(invalid="ignore", over="ignore"):
            i = np.round((x - self.offset) / self.step)
            rounding = 4.0 * np.finfo(float).eps * np.maximum(np.abs(x), abs(self.offset))
            near = np.abs(self.offset + self.step * i - x) <= 1e-9 * abs(self.step) + rounding
        return np.where(near & (self.low <= i) & (i <= self.high) & (np.abs(i) < math.inf), i, math.nan)

    def inside(self, x: Any) -> Any:
        return ~np.isnan(self.index(x))

    def canonical(self, value: Any) -> Any:
        whole = float(self.offset).is_integer() and float(self.step).is_integer()
        return as_number(value, int if whole and type(self.offset) is type(self.step) is int else float)


@dataclass(frozen=True)
class FiniteSet(Support):
    """Any finitely many values, arrays and nested tuples too. One that is given twice is in it once."""

    elements: tuple[Any, ...]
    discrete = True
    shape = None

    def __post_init__(self) -> None:
        if not isinstance(self.elements, Iterable) or not tuple(self.elements):
            raise ParameterError(
                f"FiniteSet: the elements are {self.elements!r}", fix="give one or more, in a tuple"
            )
        self._fix(elements=_distinct(self.elements))

    @property
    def values(self) -> tuple[Any, ...]:
        return self.elements

    def contains(self, value: Any) -> bool:
        return any(same_value(value, element) for element in self.elements)

    def canonical(self, value: Any) -> Any:
        return next((element for element in self.elements if same_value(value, element)), value)


def _distinct(elements: Iterable[Any]) -> tuple[Any, ...]:
    """The first of each that are equal: where values are enumerated, each must come up once."""
    elements = tuple(elements)
    try:
        return tuple(dict.fromkeys(elements))
    except TypeError:  # some can't be hashed
        found: list[Any] = []
        for element in elements:
            if not any(same_value(element, other) for other in found):
                found.append(element)
        return tuple(found)


@dataclass(frozen=True)
class Counts(Support):
    """Vectors of k nonnegative integers that sum to n."""

    n: int
    k: int
    discrete = True

    def __post_init__(self) -> None:
        n, k = count("Counts", "n", self.n, 0), count("Counts", "k", self.k, 1)
        self._fix(n=n, k=k, shape=(k,))

    def canonical(self, value: Any) -> Any:
        return as_typed_array(value, int)

    @property
    def values(self) -> tuple[np.ndarray, ...] | None:
        bars = self.n + self.k - 1
        if math.comb(bars, self.k - 1) > ENUMERABLE:
            return None
        # The k counts are the gaps between k - 1 bars put among n + k - 1 places.
        places = itertools.combinations(range(bars), self.k - 1)
        return tuple(np.diff((-1, *bars_at, bars)) - 1 for bars_at in places)

    def contains(self, value: Any) -> bool:
        counts = as_array(value, (self.k,))
        return counts is not None and bool(
            (counts >= 0.0).all() and (counts == np.floor(counts)).all() and counts.sum() == self.n
        )
