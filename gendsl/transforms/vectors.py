"""Short vectors that a transform reads and writes: the weights of a few components, say.

They are read entry by entry, and written as lists. An array is made for none of them unless the transform
asks for one: for three numbers NumPy takes longer to start than Python takes to finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.supports import RealArray, Simplex, Support
from gendsl.transforms.arrays import DualArray
from gendsl.transforms.forward import Dual, dual

SHORT = 16
"""How many entries a short vector has at most."""

_KINDS = frozenset((Simplex, RealArray))
"""Supports whose embedding depends on their shape alone, so that it can be kept."""

_KEPT = 1024

_seeds: dict[tuple[Any, ...], list[dict[int, float]]] = {}


def seed_entries(value: Any, start: int, support: Support) -> list[Any] | None:
    """The entries of a short vector whose free coordinates are start, start + 1, ...; None if it is none."""
    shape = support.shape
    if type(support) not in _KINDS or shape is None or len(shape) != 1 or not 0 < shape[0] <= SHORT:
        return None
    key = type(support), shape, support.dim, start
    tangents = _seeds.get(key)
    if tangents is None:
        if len(_seeds) >= _KEPT:
            _seeds.clear()
        tangents = _seeds[key] = _tangents(support.embedding, start)
    values = value.tolist() if type(value) is np.ndarray else [float(x) for x in value]
    return list(map(dual, values, tangents))


def _tangents(embedding: np.ndarray, start: int) -> list[dict[int, float]]:
    return [{start + i: d for i, d in enumerate(row) if d} for row in embedding.tolist()]


def numbers(items: Any) -> list[float] | None:
    """The values of a list of numbers of which some carry derivatives; None for any other list."""
    values: list[float] = []
    traced = False
    for x in items:
        kind = type(x)
        if kind is Dual:
            traced = True
            values.append(x.value)
        elif kind is float or kind is int:
            values.append(x)
        else:
            return None
    return values if traced else None


def entries(value: Any) -> Sequence[Any] | None:
    """The entries of a written value that is a number or a short vector, each a `Dual` or a plain number."""
    kind = type(value)
    if kind is Dual:
        return [value]
    if kind is list or kind is tuple:
        return value if len(value) <= SHORT else None
    if kind is DualArray and value.ndim == 1 and len(value) <= SHORT:
        return list(value)
    return None
