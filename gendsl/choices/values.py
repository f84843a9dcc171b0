"""Values of choices: when two of them are the same, and how they go into a flat array and back.

A value can be anything a distribution yields: numbers, strings, None, arrays, and lists, tuples and
dicts of such. Nothing here raises because two values are of different kinds; they merely differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.errors import ValueTypeError

__all__ = ["Layout", "as_entries", "is_sequence", "pack", "same_value", "unpack"]

_PLAIN = frozenset({bool, int, float, str})
_NUMBERS = (int, float, complex, np.number, np.bool_)
_INEXACT = (float, complex, np.inexact)
_SHORT = 16  # entries up to which Python compares arrays faster
_LARGEST_EXACT = 2**53  # every integer up to here is a float64


def is_sequence(value: Any) -> bool:
    """Whether `value` has entries that an index can name: a list, a tuple or an array (not 0-d)."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, (list, tuple))


def as_entries(value: Any) -> Any:
    """A range as a list and a column of a table (of pandas, say) as an array; anything else as it is.

    Entries go by position, whatever the index of the column. Missing ones are NaN. What is neither numbers
    nor truth values is a list.
    """
    if type(value) is range:
        return list(value)
    to_numpy = getattr(value, "to_numpy", None)
    if to_numpy is None or isinstance(value, (type, np.ndarray)):
        return value
    array = np.asarray(to_numpy())
    if array.dtype.kind in "biufc":
        return array
    entries = array.astype(object)
    if hasattr(value, "isna"):
        entries[np.asarray(value.isna())] = math.nan
    made = np.array(entries.tolist())
    return made if made.dtype.kind in "biuf" else entries.tolist()


def same_value(a: Any, b: Any, rtol: float = 0.0, atol: float = 0.0) -> bool:
    """Whether two values are equal, floats within `|a - b| <= atol + rtol max(|a|, |b|)`.

    Symmetric in a and b. NaN is the same as NaN; integers and booleans are compared exactly. Lists,
    tuples and arrays are the same where they have the same shape and entries. Everything else is
    compared by `==`; what can't be compared differs.
    """
    if a is b or (type(a) is type(b) and type(a) in _PLAIN and a == b):
        return True
    if isinstance(a, np.ndarray) and a.ndim == 0:
        a = a[()]
    if isinstance(b, np.ndarray) and b.ndim == 0:
        b = b[()]
    if isinstance(a, _NUMBERS) and isinstance(b, _NUMBERS):
        return _same_number(a, b, rtol, atol)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.shape != b.shape:
            return False
        if a.dtype.kind in "biufc" and b.dtype.kind in "biufc":
            return _same_numbers(a, b, rtol, atol)
    if is_sequence(a) and is_sequence(b):
        return len(a) == len(b) and all(same_value(x, y, rtol, atol) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False  # `array([1.0]) == 1.0` would say otherwise
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_value(a[key], b[key], rtol, atol) for key in a)
    try:
        return bool(a == b or (a != a and b != b))  # NaT, like NaN, is not equal to itself
    except Exception:  # `==` of a user's class may do anything: such a pair is not known to be the same
        return False


def _same_number(a: Any, b: Any, rtol: float, atol: float) -> bool:
    a = a.item() if isinstance(a, np.generic) else a
    b = b.item() if isinstance(b, np.generic) else b
    if a == b:
        return True
    if a != a or b != b:
        return bool(a != a and b != b)
    if not (isinstance(a, _INEXACT) or isinstance(b, _INEXACT)):
        return False
    try:
        gap, size = abs(a - b), max(abs(a), abs(b))
    except OverflowError:  # an integer beyond the largest float
        return False
    # an infinite gap is never within tolerance, though `inf <= rtol * inf` holds
    return bool(gap <= atol + rtol * size and gap != float("inf"))


def _same_numbers(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], rtol: float, atol: float) -> bool:
    if a.size <= _SHORT and a.dtype == b.dtype == np.float64:
        pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
        return all(x == y or _same_number(x, y, rtol, atol) for x, y in pairs)
    same = (a == b) | ((a != a) & (b != b))
    if same.all():
        return True
    if a.dtype.kind not in "fc" and b.dtype.kind not in "fc":
        return False
    with np.errstate(all="ignore"):
        gap = np.abs(a - b)
        close = (gap <= atol + rtol * np.maximum(np.abs(a), np.abs(b))) & (gap != np.inf)
    return bool((same | close).all())


# --- flat arrays -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """How one value lies in a flat array.

    Attributes:
        kind: `bool`, `int`, `float`, `list`, `tuple`, or for an array or NumPy scalar its dtype as a
            string (a dtype itself equals `float` and hashes differently).
        shape: the shape of an array; None for anything else.
        entries: the layouts of the entries of a list or tuple.
    """

    kind: type | str
    shape: tuple[int, ...] | None = None
    entries: tuple[Layout, ...] = ()

    @property
    def size(self) -> int:
        """How many entries of the flat array the value takes."""
        if self.kind is list or self.kind is tuple:
            return sum(entry.size for entry in self.entries)
        return 1 if self.shape is None else int(np.prod(self.shape))


def pack(value: Any, path: Path, chunks: list[np.ndarray[Any, Any]]) -> Layout:
    """Append the numbers of `value`, in order, to `chunks`, and return its layout.

    Raises:
        ValueTypeError: the value isn't made of real numbers, or float64 can't hold them exactly.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        return Layout(kind, entries=tuple(pack(entry, path, chunks) for entry in value))
    if kind is bool or kind is int or kind is float:
        if kind is int and abs(value) > _LARGEST_EXACT:
            raise _inexact(value, path)
        chunks.append(np.array([value], dtype=float))
        return Layout(kind)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        if value.dtype.kind == "f":
            exact = value.dtype.itemsize <= 8
        else:
            exact = not value.size or (value.max() <= _LARGEST_EXACT and value.min() >= -_LARGEST_EXACT)
        if not exact:
            raise _inexact(value, path)
        chunks.append(np.asarray(value, dtype=float).ravel())
        return Layout(value.dtype.str, shape=value.shape if isinstance(value, np.ndarray) else None)
    raise ValueTypeError(
        f"a value of type {kind.__name__} can't go into an array of floats",
        address=path,
        fix="keep the numeric choices only, with restrict(...) or without(...)",
    )


def _inexact(value: Any, path: Path) -> ValueTypeError:
    return ValueTypeError(
        f"{value!r} can't go into an array of floats without being rounded",
        address=path,
        fix="leave it out with without(...)",
    )


def unpack(layout: Layout, array: np.ndarray[Any, Any], path: Path) -> Any:
    """The value that lies in `array`, a float array of shape (layout.size,).

    Raises:
        ValueTypeError: an integer or boolean would have to be rounded.
    """
    kind = layout.kind
    if kind is list or kind is tuple:
        entries, start = [], 0
        for entry in layout.entries:
            entries.append(unpack(entry, array[start : start + entry.size], path))
            start += entry.size
        return kind(entries)
    dtype = np.dtype(kind)
    if dtype.kind in "biu":
        low, high = (0, 1) if dtype.kind == "b" else (-_LARGEST_EXACT, _LARGEST_EXACT)
        if dtype.kind != "b" and kind is not int:
            low, high = max(low, np.iinfo(dtype).min), min(high, np.iinfo(dtype).max)
        allowed = (array >= low) & (array <= high) & (array == np.rint(array))
        if not allowed.all():
            wrong = float(array[~allowed][0])
            name = kind.__name__ if isinstance(kind, type) else dtype.name
            raise ValueTypeError(
                f"{wrong!r} is no value of type {name}, and values are never rounded",
                address=path,
                fix="change only the entries of float-valued choices",
            )
    if layout.shape is not None:
        return array.astype(dtype).reshape(layout.shape)
    if isinstance(kind, str):
        return array.astype(dtype)[0]
    return kind(array[0])
