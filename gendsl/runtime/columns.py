"""Columns of numbers that never change: to NumPy one flat array, to a move on one element a tree of chunks.

A column has one form or both. It starts flat; the first change of an element makes the chunks, for the column
itself and for those that come from it; `array` makes the flat form again. Chunks are arrays of the standard
library, whose elements come out as Python numbers, and which copy faster than NumPy's. They are in lists of
64, and these in one list, so that a change copies one list of each kind and a chunk; nobody changes any that
a column holds.
"""

from __future__ import annotations

from array import array as Chunk
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Number = float | int | bool

_BITS, _GROUP_BITS = 8, 6
_LENGTH, _GROUP = 1 << _BITS, 1 << _GROUP_BITS
_IN_CHUNK, _IN_GROUP = _LENGTH - 1, _GROUP - 1
_TOP = _BITS + _GROUP_BITS
_MANY = 32  # changing or taking more than the 32nd part of a column is left to NumPy

_FORMATS = {np.dtype(np.float64): "d", np.dtype(np.int64): "q", np.dtype(np.bool_): "b"}
_DTYPES = {form: dtype for dtype, form in _FORMATS.items()}
_PLAIN: dict[str, type[Any]] = {"d": float, "q": int, "b": bool}
_TYPES: dict[str, tuple[type, ...]] = {
    "d": (float, np.float32, np.float16),
    "q": (int, np.integer),
    "b": (bool, np.bool_),
}


class Column:
    """A persistent vector of floats, of integers or of booleans; indices are from 0 to len - 1."""

    __slots__ = ("__weakref__", "_chunks", "_flat", "_format", "_size", "positive")

    _chunks: list[list[Chunk[Any]]] | None
    _flat: Array | None
    _format: str
    positive: bool | None  # whether surely no element is negative; None if `never_negative` hasn't been asked
    _size: int

    @staticmethod
    def of(array: npt.ArrayLike) -> Column:
        """The column of an array, which becomes read-only and must not change any more.

        Raises:
            TypeError: it is no 1-D array of float64, int64 or bool.
        """
        flat = np.ascontiguousarray(array)
        if flat.ndim != 1 or np.ndim(array) != 1 or flat.dtype not in _FORMATS:
            raise TypeError(f"no column of {flat.dtype} with shape {np.shape(array)}")
        flat.flags.writeable = False
        return _column(_FORMATS[flat.dtype], len(flat), flat, None)

    @property
    def dtype(self) -> np.dtype[Any]:
        return _DTYPES[self._format]

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, i: int) -> Number:
        if i < 0:
            raise IndexError(i)
        chunks = self._chunks
        if chunks is None:
            return self._flat.item(i)  # type: ignore[union-attr, no-any-return]
        value = chunks[i >> _TOP][i >> _BITS & _IN_GROUP][i & _IN_CHUNK]
        return value if self._format != "b" else value == 1  # type: ignore[no-any-return]

    def set(self, i: int, value: Number) -> Column:
        """With `value` as element i.

        Raises:
            TypeError: the column can't hold the value, or would give it back as one of another type.
        """
        return self.exchanged(i, value)[1]

    def exchanged(self, i: int, value: Number) -> tuple[Number, Column]:
        """Element i, and the column with `value` in its place.

        Raises:
            TypeError: as for `set`.
        """
        form = self._format
        if type(value) is not _PLAIN[form]:
            value = _plain(form, value)
        if i < 0:
            raise IndexError(i)
        chunks = self._chunks
        if chunks is None:
            chunks = self._split()
        at = i & _IN_CHUNK
        if i == at and self._size <= _LENGTH:
            chunk = chunks[0][0][:]
            chunks = [[chunk]]
        else:
            k, within = i >> _TOP, i >> _BITS & _IN_GROUP
            chunks = chunks.copy()
            group = chunks[k] = chunks[k].copy()
            chunk = group[within] = group[within][:]
        was = chunk[at]
        try:
            chunk[at] = value
        except OverflowError:
            raise TypeError(f"{value!r} is too large for int64") from None
        new: Column = _new(Column)
        new._chunks = chunks
        new._flat = None
        new._format = form
        new.positive = self.positive and value >= 0
        new._size = self._size
        return was if form != "b" else was == 1, new

    def set_many(self, indices: npt.ArrayLike, values: npt.ArrayLike) -> Column:
        """With the values at the indices, the last one where an index comes twice.

        Raises:
            TypeError: as for `set`.
        """
        where, given = np.asarray(indices, np.int64), np.asarray(values)
        if where.shape != given.shape or where.ndim != 1:
            raise ValueError(f"{where.shape} indices for {given.shape} values")
        if not len(where):
            return self
        form, dtype = self._format, self.dtype
        if given.dtype.kind not in {"d": "f", "q": "iu", "b": "b"}[form] or not np.can_cast(
            given.dtype, dtype
        ):
            raise TypeError(f"values of {given.dtype} for a column of {dtype}")
        if where.min() < 0 or where.max() >= self._size:
            raise IndexError(int(where.min() if where.min() < 0 else where.max()))
        positive = self.positive and bool(given.min() >= 0)
        if len(where) * _MANY >= self._size:
            flat = self.array().copy()
            flat[where] = given
            flat.flags.writeable = False
            new = _column(form, self._size, flat, None)
            new.positive = positive
            return new
        chunks = self._split().copy()
        own: dict[int, Chunk[Any]] = {}  # the chunks that are the new column's alone
        groups: set[int] = set()  # and the groups of chunks
        for i, value in zip(where.tolist(), given.tolist(), strict=True):
            at = i >> _BITS
            chunk = own.get(at)
            if chunk is None:
                k, within = i >> _TOP, at & _IN_GROUP
                if k not in groups:
                    chunks[k] = chunks[k].copy()
                    groups.add(k)
                chunk = own[at] = chunks[k][within] = chunks[k][within][:]
            chunk[i & _IN_CHUNK] = value
        new = _column(form, self._size, None, chunks)
        new.positive = positive
        return new

    def append(self, value: Number) -> Column:
        """With one element more.

        Raises:
            TypeError: as for `set`.
        """
        form, size = self._format, self._size
        value = _plain(form, value)
        chunks = self._split()
        try:
            added = Chunk(form, [value])
        except OverflowError:
            raise TypeError(f"{value!r} is too large for int64") from None
        group: list[Chunk[Any]] = []
        if size & (_GROUP * _LENGTH - 1):
            *chunks, group = chunks
        if size & _IN_CHUNK:
            *group, last = group
            added = last + added
        return _column(form, size + 1, None, [*chunks, [*group, added]])

    def truncate(self, size: int) -> Column:
        """The first `size` elements."""
        if not 0 <= size <= self._size:
            raise IndexError(size)
        if size == self._size:
            return self
        if self._chunks is None or not size:
            flat = self.array()[:size].copy()
            flat.flags.writeable = False
            return _column(self._format, size, flat, None)
        k, within, last = (size - 1) >> _TOP, (size - 1) >> _BITS & _IN_GROUP, (size - 1) & _IN_CHUNK
        group = self._chunks[k]
        group = [*group[:within], group[within][: last + 1]]
        return _column(self._format, size, None, [*self._chunks[:k], group])

    def never_negative(self) -> bool:
        """Whether surely no element is negative; found out once, and known of what a change makes of it."""
        known = self.positive
        if known is None:
            known = self.positive = bool((self.array() >= 0).all())
        return known

    def array(self) -> Array:
        """All elements as a read-only array."""
        flat = self._flat
        if flat is None:
            assert self._chunks is not None
            flat = self._flat = np.frombuffer(b"".join(chain.from_iterable(self._chunks)), self.dtype)
        return flat

    def take(self, indices: npt.ArrayLike) -> Array:
        """The elements at the indices, as an array; O(number of indices)."""
        where = np.asarray(indices, np.int64)
        chunks = self._chunks
        if self._flat is not None or chunks is None or len(where) * _MANY >= self._size:
            return self.array()[where]
        elements = [chunks[i >> _TOP][i >> _BITS & _IN_GROUP][i & _IN_CHUNK] for i in where.tolist()]
        return np.array(elements, self.dtype)

    def _split(self) -> list[list[Chunk[Any]]]:
        """The chunks, made from the flat form where there are none."""
        chunks = self._chunks
        if chunks is None:
            assert self._flat is not None
            data, step = self._flat.tobytes(), _LENGTH * self._flat.itemsize
            parts = [Chunk(self._format, data[start : start + step]) for start in range(0, len(data), step)]
            chunks = self._chunks = [parts[k : k + _GROUP] for k in range(0, len(parts), _GROUP)]
        return chunks

    def __reduce__(self) -> tuple[Any, ...]:
        return Column.of, (self.array(),)

    def __repr__(self) -> str:
        return f"Column.of({self.array()!r})"


_new: Any = object.__new__


def _column(form: str, size: int, flat: Array | None, chunks: list[list[Chunk[Any]]] | None) -> Column:
    column: Column = _new(Column)
    column._format, column._size, column._flat, column._chunks = form, size, flat, chunks
    column.positive = None
    return column


def plain_type(column: Column) -> type[Any]:
    """The Python type of a column's elements."""
    return _PLAIN[column._format]


def _plain(form: str, value: object) -> Number:
    """The value as a Python number, if it has the column's type."""
    if not isinstance(value, _TYPES[form]) or (form == "q" and isinstance(value, bool)):
        raise TypeError(f"{value!r} in a column of {_DTYPES[form]}")
    plain: Number = _PLAIN[form](value)
    return plain
