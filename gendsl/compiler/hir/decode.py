"""The words of a text as values of Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.compiler.hir.types import Array, Number

_KINDS = {"f": float, "i": int, "b": bool}
_TYPES = {"f": np.float64, "i": np.int64, "b": np.bool_}


def typed(words: np.ndarray, kind: str) -> np.ndarray:
    """Words as numbers of a kind."""
    return words.view(np.float64) if kind == "f" else words.astype(_TYPES[kind], copy=False)


def from_python(type: Any, leaves: Any) -> Any:
    """A value of its leaves in a Python text."""
    if isinstance(type, Number):
        return _KINDS[type.kind](leaves[0])
    assert isinstance(type, Array)
    items, start, *axes = leaves
    return np.array(items, _TYPES[type.kind])[_positions(start, axes)]


def from_words(type: Any, leaves: Any) -> Any:
    """A value of its leaves in machine code, which has words, and addresses of lists."""
    if isinstance(type, Number):
        return leaves[0]
    assert isinstance(type, Array)
    header, start, *axes = leaves
    count, _, data = (ctypes.c_int64 * 3).from_address(header)
    positions = _positions(start, axes)
    if not count:
        return np.empty(positions.shape, _TYPES[type.kind])
    words = np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(data))
    return typed(words, type.kind)[positions]


def from_arena(type: Array, columns: Sequence[np.ndarray], arena: np.ndarray) -> list[Any]:
    """The arrays of columns of leaves, read-only; at once, if they are of one shape and lie in the arena."""
    (headers, start, *axes), base = columns, arena.ctypes.data
    at = (headers - base) >> 3
    if _are_inside(at + 2, arena) and all((axis == axis[0]).all() for axis in axes):
        first = (arena[at + 2] - base) >> 3
        positions = _positions(0, [int(axis[0]) for axis in axes])
        where = (first + start).reshape(-1, *[1] * positions.ndim) + positions
        if _are_inside(where, arena):
            found = typed(arena[where], type.kind)
            found.flags.writeable = False
            return list(found)
    arrays = [from_words(type, row) for row in zip(*(c.tolist() for c in columns), strict=True)]
    for one in arrays:
        one.flags.writeable = False
    return arrays


def _are_inside(places: np.ndarray, arena: np.ndarray) -> bool:
    return bool(places.size) and int(places.min()) >= 0 and int(places.max()) < len(arena)


def _positions(start: int, axes: list[int]) -> np.ndarray:
    """Where the entries of an array are, of its first one, its lengths and its strides."""
    rank = len(axes) // 2
    positions = np.array(start)
    for length, stride in zip(axes[:rank], axes[rank:], strict=True):
        positions = positions[..., None] + stride * np.arange(length)
    return positions
