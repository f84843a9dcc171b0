"""What array code looks things up in: sequences of numbers as columns, and tables as columns of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

EXACT = 1 << 53
"""The integers below are told apart as floats."""
KINDS = frozenset((np.dtype(float), np.dtype(np.int64), np.dtype(bool)))
"""The types of columns."""
NUMBER_TYPES = frozenset((float, int, bool, np.float64, np.int64))
"""The types of their entries, as users may have them."""


class NotColumnsError(Exception):
    """What was asked for can't be vouched for as columns."""


def as_column(values: Any) -> Any:
    """A sequence of numbers as a column; a range stays one.

    Raises:
        NotColumnsError: they are no numbers, or of types that columns don't keep apart.
    """
    kind = type(values)
    if kind is np.ndarray:
        if values.ndim == 1 and values.dtype in KINDS:
            return values
        raise NotColumnsError
    if kind is range:
        return values
    if kind is not list and kind is not tuple:
        if not isinstance(values, Columnar):
            raise NotColumnsError
        return values.column()
    kinds = set(map(type, values))
    if kinds <= {float, np.float64}:
        return np.array(values, float)
    if kinds == {bool}:
        return np.array(values)
    if kinds <= {int, np.int64}:
        return _integers(values)
    if kinds == {int, float}:
        _integers([value for value in values if type(value) is int])
        return np.array(values, float)
    raise NotColumnsError


def _integers(values: Any) -> np.ndarray:
    try:
        column = np.array(values, np.int64)
    except OverflowError:
        raise NotColumnsError from None
    if len(column) and (column.min() < -EXACT or column.max() > EXACT):
        raise NotColumnsError
    return column


def _stacked(vectors: Any) -> np.ndarray:
    first = vectors[0]
    if first.ndim != 1 or first.dtype not in KINDS:
        raise NotColumnsError
    if any(vector.shape != first.shape or vector.dtype != first.dtype for vector in vectors):
        raise NotColumnsError
    return np.array(vectors)


class Columnar(ABC):
    """A sequence that knows how it is made a column."""

    __slots__ = ()

    @abstractmethod
    def column(self) -> Any:
        """It as a column; see `as_column`."""

    @abstractmethod
    def as_rows(self) -> Any:
        """It as a column of rows; see the function."""


class Rows(np.ndarray):
    """A matrix made of lists or tuples: they have entries, as rows of an array do, but no products."""


def as_rows(values: Any) -> Any:
    """A matrix, or a sequence of vectors or of lists of one length, as a column of its rows.

    Raises:
        NotColumnsError: it is none, or one of which the types of the entries would not be kept apart.
    """
    kind = type(values)
    if kind is np.ndarray or kind is Rows:
        if values.ndim == 2 and values.dtype in KINDS:
            return values
        raise NotColumnsError
    if isinstance(values, Columnar):
        return values.as_rows()
    if (kind is list or kind is tuple) and values and {*map(type, values)} == {np.ndarray}:
        return _stacked(values)
    if (kind is not list and kind is not tuple) or not {list, tuple}.issuperset(map(type, values)):
        raise NotColumnsError
    if len({*map(len, values)}) != 1:
        raise NotColumnsError
    return as_column([entry for row in values for entry in row]).reshape(len(values), -1).view(Rows)


def is_array(container: Any) -> bool:
    """Whether a container is an array, of which a truth value names no entry: it is a mask there."""
    return isinstance(container, np.ndarray) or getattr(container, "is_array", False)


class Table(Columnar):
    """A list or tuple that array code looks up in, made a column once. It must not change any more."""

    __slots__ = ("_column", "_rows", "values")

    def __init__(self, values: list[Any] | tuple[Any, ...]) -> None:
        self.values = values
        self._column: Any = None
        self._rows: Any = None

    def column(self) -> Any:
        if self._column is None:
            self._column = as_column(self.values)
        return self._column

    def as_rows(self) -> Any:
        if self._rows is None:
            self._rows = as_rows(self.values)
        return self._rows

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        return self.values[index]


class Entry:
    """A container of which one entry is asked for, with a value in its place."""

    __slots__ = ("container", "key", "value")

    value: Any

    def __init__(self, container: Any, key: int) -> None:
        self.container = container
        self.key = key

    def __len__(self) -> int:
        return len(self.container)

    def __getitem__(self, key: int) -> Any:
        if key != self.key:
            raise NotColumnsError
        return self.value
