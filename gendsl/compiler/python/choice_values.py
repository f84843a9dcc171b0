"""Indices and values of choices, as Python text has them, and how near two values are to one another."""

from __future__ import annotations

import math
from typing import Any

CLOSE, ROUNDING, CANCEL = 5e-9, 5e-13, 5e-7
"""How near to what it was a value must come back, relative to it and to what it was computed from, and how
near to zero the logarithms of the two determinants must cancel; else the reference interpreter decides, which
allows twice as much.
"""


def indices_of(index: Any) -> tuple[Any, ...]:
    """Indices as a tuple."""
    return index if isinstance(index, tuple) else (index,)


def index_of(indices: tuple[Any, ...]) -> Any:
    """Indices as Python text writes them."""
    return indices[0] if len(indices) == 1 else indices


def places(start: int, axes: list[int]) -> list[tuple[int, int]]:
    """Where the entries of an array lie, in order: (place, number)."""
    rank = len(axes) // 2
    found = [start]
    for length, stride in zip(axes[:rank], axes[rank:], strict=True):
        found = [at + stride * i for at in found for i in range(length)]
    return [(at, number) for number, at in enumerate(found)]


def contiguous(given: Any) -> tuple[Any, ...]:
    """The leaves of an array whose entries lie one behind another."""
    items, start, *axes = given
    rank = len(axes) // 2
    lengths = axes[:rank]
    strides = [math.prod(lengths[axis + 1 :]) for axis in range(rank)]
    return [items[at] for at, _ in places(start, axes)], 0, *lengths, *strides


def is_close(before: Any, after: Any, rounding: float = 0.0) -> bool:
    """Whether a value is as good as another; entries of arrays lie one behind another."""
    if isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(
            is_close(one, other, rounding) for one, other in zip(before, after, strict=True)
        )
    if isinstance(before, float):
        return bool(before == after or abs(after - before) <= CLOSE * abs(before) + rounding < math.inf)
    return bool(before == after)


def numbers_of(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) else (value,)


def size_of(value: Any) -> int:
    return len(value[0])
