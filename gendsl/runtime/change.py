"""What is known of how a value changed: not at all (None), altogether (ALL), or at some keys (a set)."""

from __future__ import annotations

from math import copysign
from operator import is_
from typing import Any, Final

import numpy as np

__all__ = [
    "ALL", "LENGTH", "SCALARS", "UNSET", "Change", "Mark", "change_at", "difference", "is_same", "normal_key",
]  # fmt: skip


class Mark:
    """A value of gendsl's own, such as UNSET."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name


UNSET: Final = Mark("UNSET")
"""What a slot holds before anything is assigned to it."""

ALL: Final = frozenset((Mark("ALL"),))
"""The change of a value of which nothing is known but that it changed; compared by identity."""

LENGTH: Final = Mark("LENGTH")
"""Among the keys of a change: the number of entries changed."""

Change = Any
"""None, ALL, or a set of keys."""

SCALARS = frozenset((float, int, bool, str, bytes, type(None), complex))
_COMPARED = 64  # entries; what is larger is taken to have changed altogether
_BITS = {np.dtype(name): np.dtype(np.int64) for name in ("float64", "int64")}
_MOST = 8
"""Entries that are followed one by one, even where they are a quarter of an array."""


_COMPARABLE = SCALARS | {list, tuple, range}


def _same(old: Any, new: Any) -> bool:
    """Whether two entries are surely the same value: of one type, and of the same bits."""
    if old is new:
        return True
    kind = type(old)
    if kind is not type(new):
        return False
    if kind is float:
        return bool(old == new and (old != 0.0 or copysign(1.0, old) == copysign(1.0, new)))
    if kind is complex:
        return _same(old.real, new.real) and _same(old.imag, new.imag)
    if kind in SCALARS:
        return bool(old == new)
    if kind is range:  # equal are those that give the same numbers
        return _same((old.start, old.stop, old.step), (new.start, new.stop, new.step))
    if isinstance(old, np.generic):
        return bool(old.tobytes() == new.tobytes())
    if kind is tuple or kind is list:
        if not len(old) == len(new) <= _COMPARED:
            return False
        return all(map(is_, old, new)) or all(map(_same, old, new))
    return False


def difference(old: Any, new: Any) -> Change:
    """How `new` differs from `old`; values that can't be compared cheaply differ altogether."""
    if old is new:
        return None
    kind = type(new)
    if kind is not type(old):
        return ALL
    if kind in SCALARS or kind is range:
        return None if _same(old, new) else ALL
    if kind is list or kind is tuple:
        size = len(new)
        if size > _COMPARED or abs(size - len(old)) > _COMPARED:
            return ALL
        keys: set[Any] = {i for i, (a, b) in enumerate(zip(old, new, strict=False)) if not _same(a, b)}
        if size != len(old):
            keys.update(range(min(size, len(old)), max(size, len(old))), (LENGTH,))
        return keys or None
    if kind is dict:
        if len(new) > _COMPARED or len(old) > _COMPARED:
            return ALL
        if len(old) != len(new) or not all(map(_same, old, new)):
            return ALL  # {1: x} is no {True: x}
        return {key for key, value in new.items() if not _same(old[key], value)} or None
    if kind is np.ndarray:
        if not _are_comparable(old, new):
            return ALL
        if old.tobytes() == new.tobytes():
            return None
        if new.ndim != 1:
            return ALL
        bits = _BITS.get(new.dtype)
        if bits is None:
            return {i for i in range(len(new)) if old[i].tobytes() != new[i].tobytes()}
        changed = (old.view(bits) != new.view(bits)).nonzero()[0]
        if len(changed) > _MOST and 4 * len(changed) > len(new):
            return ALL
        return set(changed.tolist())
    if isinstance(new, np.generic):
        return None if _same(old, new) else ALL
    return ALL


def _are_comparable(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether two arrays are compared, entry by entry."""
    return bool(
        new.shape == old.shape and new.dtype == old.dtype and new.size <= _COMPARED and new.dtype != object
    )


def is_same(old: Any, new: Any) -> bool:
    """Whether two values surely are the same: `difference` finds none."""
    if old is new:
        return True
    kind = type(new)
    if kind is not type(old):
        return False
    if kind is list:
        if not len(new) == len(old) <= _COMPARED or _differ(old, new):
            return False
        return all(map(is_, old, new)) or all(map(_same, old, new))
    if kind in _COMPARABLE:
        return _same(old, new)
    if kind is np.ndarray:
        return _are_comparable(old, new) and bool(old.tobytes() == new.tobytes())
    return difference(old, new) is None


def _differ(old: list[Any], new: list[Any]) -> bool:
    """Whether two lists differ as Python compares them, which is quick; False where it can't compare them."""
    try:
        return bool(old != new)
    except Exception:  # of arrays, or whatever else is in them
        return False


def change_at(keys: set[Any]) -> Change:
    """The change of a container at keys, of which one may be ALL."""
    return ALL if ALL in keys else keys


def normal_key(container: Any, key: Any) -> Any:
    """The key that a change of the container at `key` has: indices from the end count from the start."""
    if type(key) is not int:
        if isinstance(key, (np.integer, bool, np.bool_)):
            key = int(key)
        else:
            return key
    if key < 0 and not isinstance(container, dict) and not getattr(container, "is_dict", False):
        key += len(container)
    return key
