"""Columns of vectors of one length that never change: to NumPy one matrix, to a move on one row some chunks.

What `Column` is for numbers, with the same two forms. Rows come out as arrays that can't be written to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gendsl.runtime.columns import Array, Column
from gendsl.runtime.persistent import PersistentVector

_BITS = 6
_LENGTH = 1 << _BITS
_IN_CHUNK = _LENGTH - 1
_MANY = 32  # changing or taking more than the 32nd part of a column is left to NumPy
_KINDS = frozenset((np.dtype(float), np.dtype(np.int64), np.dtype(bool)))


class RowColumn:
    """A persistent vector of rows of floats, of integers or of booleans; indices are from 0 to len - 1."""

    __slots__ = ("__weakref__", "_chunks", "_flat", "_size", "dtype", "width")

    def __init__(
        self,
        size: int,
        width: int,
        dtype: np.dtype[Any],
        flat: Array | None,
        chunks: PersistentVector[Array] | None,
    ) -> None:
        self._size = size
        self.width = width
        self.dtype = dtype
        self._flat = flat
        self._chunks = chunks

    @staticmethod
    def of(matrix: Array) -> RowColumn:
        """The column of a matrix, which becomes read-only and must not change any more.

        Raises:
            TypeError: it is no matrix of float64, int64 or bool, or its rows have no entries.
        """
        if matrix.ndim != 2 or matrix.dtype not in _KINDS or not matrix.shape[1]:
            raise TypeError(f"no column of {matrix.dtype} with shape {matrix.shape}")
        flat = _fixed(np.ascontiguousarray(matrix))
        return RowColumn(len(flat), flat.shape[1], flat.dtype, flat, None)

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, i: int) -> Array:
        if not 0 <= i < self._size:
            raise IndexError(i)
        row: Array
        if self._flat is not None:
            row = self._flat[i]
        else:
            assert self._chunks is not None
            row = self._chunks[i >> _BITS][i & _IN_CHUNK]
        return row

    def __iter__(self) -> Iterator[Array]:
        return iter(self.array())

    def set(self, i: int, row: Any) -> RowColumn:
        """With another row i.

        Raises:
            TypeError: the column can't hold it.
        """
        self._check((row,))
        if not 0 <= i < self._size:
            raise IndexError(i)
        chunks = self._split()
        at = i >> _BITS
        chunk = chunks[at].copy()
        chunk[i & _IN_CHUNK] = row
        return self._of(self._size, None, chunks.set(at, _fixed(chunk)))

    def set_many(self, indices: Sequence[int], rows: Sequence[Any]) -> RowColumn:
        """With the rows at the indices, of which none comes twice.

        Raises:
            TypeError: as for `set`.
        """
        self._check(rows)
        if not len(indices):
            return self
        if min(indices) < 0 or max(indices) >= self._size:
            raise IndexError(min(indices) if min(indices) < 0 else max(indices))
        if len(indices) * _MANY >= self._size:
            flat = self.array().copy()
            flat[indices] = rows
            return self._of(self._size, _fixed(flat), None)
        chunks = self._split()
        own: dict[int, Array] = {}
        for i, row in zip(indices, rows, strict=True):
            at = int(i) >> _BITS
            if at not in own:
                own[at] = chunks[at].copy()
            own[at][i & _IN_CHUNK] = row
        return self._of(self._size, None, chunks.set_many({at: _fixed(chunk) for at, chunk in own.items()}))

    def extended(self, rows: Sequence[Any]) -> RowColumn:
        """With more rows.

        Raises:
            TypeError: as for `set`.
        """
        self._check(rows)
        if not len(rows):
            return self
        added = np.array(rows, self.dtype)
        size = self._size + len(added)
        if len(added) * _MANY >= self._size:
            return self._of(size, _fixed(np.concatenate((self.array(), added))), None)
        chunks = self._split()
        if self._size & _IN_CHUNK:
            added = np.concatenate((chunks[len(chunks) - 1], added))
            chunks = chunks.truncate(len(chunks) - 1)
        return self._of(size, None, chunks.extend(_chunks_of(added)))

    def append(self, row: Any) -> RowColumn:
        """With one row more.

        Raises:
            TypeError: as for `set`.
        """
        return self.extended((row,))

    def truncate(self, size: int) -> RowColumn:
        """The first `size` rows."""
        if not 0 <= size <= self._size:
            raise IndexError(size)
        if size == self._size:
            return self
        if self._chunks is None or not size:
            return self._of(size, _fixed(self.array()[:size].copy()), None)
        whole, rest = size >> _BITS, size & _IN_CHUNK
        chunks = self._chunks.truncate(whole)
        if rest:
            chunks = chunks.append(_fixed(self._chunks[whole][:rest].copy()))
        return self._of(size, None, chunks)

    def array(self) -> Array:
        """All rows as a read-only matrix."""
        flat = self._flat
        if flat is None:
            assert self._chunks is not None
            flat = self._flat = _fixed(np.concatenate(list(self._chunks)))
        return flat

    def take(self, indices: Array) -> Array:
        """The rows at the indices, as a matrix; O(number of indices)."""
        chunks = self._chunks
        if self._flat is not None or chunks is None or len(indices) * _MANY >= self._size:
            return self.array()[indices]
        taken = np.empty((len(indices), self.width), self.dtype)
        for k, i in enumerate(indices.tolist()):
            taken[k] = chunks[i >> _BITS][i & _IN_CHUNK]
        return taken

    def _of(self, size: int, flat: Array | None, chunks: PersistentVector[Array] | None) -> RowColumn:
        return RowColumn(size, self.width, self.dtype, flat, chunks)

    def _split(self) -> PersistentVector[Array]:
        """The chunks, made from the flat form where there are none."""
        chunks = self._chunks
        if chunks is None:
            assert self._flat is not None
            chunks = self._chunks = PersistentVector.of(_chunks_of(self._flat))
        return chunks

    def _check(self, rows: Sequence[Any]) -> None:
        """Raise TypeError unless the column would give all of these back as they are."""
        shape, dtype = (self.width,), self.dtype
        for row in rows:
            if type(row) is not np.ndarray or row.shape != shape or row.dtype != dtype:
                raise TypeError(f"{row!r} in a column of vectors of {self.width} {dtype}")

    def __reduce__(self) -> tuple[Any, ...]:
        return RowColumn.of, (self.array(),)

    def __repr__(self) -> str:
        return f"RowColumn.of({self.array()!r})"


AnyColumn = Column | RowColumn


def any_column(array: Array) -> AnyColumn:
    """The column of an array or of a matrix.

    Raises:
        TypeError: as for `Column.of` and `RowColumn.of`.
    """
    return RowColumn.of(array) if array.ndim == 2 else Column.of(array)


def column_of_values(values: Sequence[Any], dtype: np.dtype[Any], *, rows: bool) -> AnyColumn | None:
    """The column of values that all are of one type, and for rows of one length; None if they aren't."""
    if not rows:
        if set(map(type, values)) != {type(dtype.type(0).item())}:
            return None
        try:
            return Column.of(np.array(values, dtype))
        except OverflowError:
            return None
    if any(type(v) is not np.ndarray or v.dtype != dtype or v.ndim != 1 for v in values):
        return None
    if len({*map(len, values)}) != 1 or not len(values[0]):
        return None
    return RowColumn.of(np.array(values, dtype))


def entries_of(column: AnyColumn, start: int = 0, stop: int | None = None) -> list[Any]:
    """The entries of a column from one place to another, as a trace has them: numbers, or rows."""
    some = column.array()[start:stop]
    return list(some) if some.ndim == 2 else some.tolist()


def _chunks_of(matrix: Array) -> Iterator[Array]:
    starts = range(0, len(matrix), _LENGTH)
    return (_fixed(matrix[start : start + _LENGTH].copy()) for start in starts)


def _fixed(array: Array) -> Array:
    array.flags.writeable = False
    return array
