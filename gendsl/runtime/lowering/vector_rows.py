"""What array code calls on vectors: lookups of rows, and arithmetic on columns of them.

A column of rows is a matrix, of which entries, and products with a vector, are taken. What its rows have been
looked up by may be one integer, too: then there is one row, for all iterations.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gendsl.runtime.lowering.tables import (
    EXACT,
    KINDS,
    NUMBER_TYPES,
    NotColumnsError,
    Rows,
    as_column,
    as_rows,
    is_array,
)

REDUCED: dict[Any, Callable[[Any], Any]] = {
    np.sum: lambda matrix: matrix.sum(axis=1), np.mean: lambda matrix: matrix.mean(axis=1),
    np.linalg.norm: lambda matrix: np.sqrt(np.square(matrix, dtype=float).sum(axis=1)),
}  # fmt: skip
REDUCED |= {"sum": REDUCED[np.sum], "mean": REDUCED[np.mean]}
"""Functions, and methods by their names, that make a number of an array, and what they are of rows."""


ROWWISE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
}  # fmt: skip
"""Arithmetic on rows of arrays."""


def rows(container: Any, index: Any) -> Any:
    """`[container[i] for i in index]` of a matrix; of one integer, that row."""
    if type(index) is int:
        return _row(container, index)
    index = _as_index(container, index)
    matrix = as_rows(container)
    if type(index) is range and index.step == 1 and index.start >= 0 and index.stop <= len(matrix):
        return matrix[index.start : index.stop]
    return matrix[checked(index, len(matrix))]


def _as_index(container: Any, index: Any) -> Any:
    """What looks something up: truth values are numbers, but where they are a mask, of an array."""
    if type(index) is np.ndarray and index.dtype.kind == "b" and not is_array(container):
        return index.astype(np.int64)
    return index


def _row(container: Any, index: int) -> Any:
    """One row of a matrix, or one of several vectors."""
    if not 0 <= index < len(container):
        raise NotColumnsError
    row = container[index]
    if type(row) is list or type(row) is tuple:
        return as_column(row).view(Rows)
    if type(row) is not np.ndarray or row.ndim != 1 or row.dtype not in KINDS:
        raise NotColumnsError
    return row


def cells(container: Any, *indices: Any) -> Any:
    """`container[i, j, ...]` of an array, where some of the indices are columns."""
    array = container if type(container) is np.ndarray else np.asarray(as_rows(container))
    if array.dtype not in KINDS or array.ndim != len(indices):
        raise NotColumnsError
    return array[tuple(map(checked, indices, array.shape))]


def entry(rows: Any, index: Any) -> Any:
    """`[row[i] for row, i in zip(rows, index)]`; of one integer, that entry of each row."""
    matrix = np.asarray(as_rows(rows))
    if type(index) is int:
        return matrix[:, checked(index, matrix.shape[1])]
    return matrix[np.arange(len(matrix)), checked(index, matrix.shape[1])]


def checked(index: Any, size: int) -> Any:
    """An index, or a column of them, none from the end or out of range."""
    if type(index) is range:
        index = np.arange(index.start, index.stop, index.step)
    if type(index) is int:
        least = most = index
    elif type(index) is np.ndarray and index.dtype.kind == "i":
        least, most = (index.min(), index.max()) if len(index) else (0, 0)
    else:
        raise NotColumnsError
    if least < 0 or most >= size:
        raise NotColumnsError
    return index


def dot(matrix: Any, vector: Any) -> Any:
    """The product of each row with a vector."""
    if type(matrix) is not np.ndarray or type(vector) not in (np.ndarray, list, tuple):
        raise NotColumnsError
    fixed = np.asarray(vector)
    if fixed.dtype not in KINDS or fixed.shape != matrix.shape[1:]:
        raise NotColumnsError
    made = matrix @ fixed
    if made.dtype != float or not math.isfinite(made.sum()):  # one pass, and no array between
        raise NotColumnsError
    return made


def signed(matrix: Any) -> Any:
    """A matrix of numbers that have a sign."""
    if type(matrix) is not np.ndarray or matrix.ndim != 2 or matrix.dtype not in KINDS:
        raise NotColumnsError
    if matrix.dtype.kind == "b":
        raise NotColumnsError
    return matrix


def rowwise(sign: str, left: Any, right: Any) -> Any:
    """An arithmetic operation on each row and a number or vector, the same for all rows."""
    matrix, other = (left, right) if getattr(left, "ndim", 0) == 2 else (right, left)
    shape = signed(matrix).shape[1:]
    if type(other) is np.ndarray:
        usual = other.shape == shape and other.dtype in KINDS
    else:
        usual = type(other) is not bool and type(other) in NUMBER_TYPES
    if not usual:
        raise NotColumnsError
    return ROWWISE[sign](left, right)


def parts(matrix: Any, bounds: tuple[Any, Any, Any]) -> Any:
    """The same slice of each row."""
    return matrix[:, slice(*bounds)]


def reduced(function: Any, matrix: Any) -> Any:
    """`[function(row) for row in matrix]`, for a function in `REDUCED`."""
    made = REDUCED[function](signed(matrix))
    if made.dtype != float or not math.isfinite(made.sum()):
        raise NotColumnsError
    return made


def same(value: Any) -> Any:
    """A vector that is the same in all iterations: a matrix would be one with a row for each."""
    if np.ndim(value) > 1:
        raise NotColumnsError
    return value


def across(matrix: Any) -> Iterator[Any]:
    """The first entries of all rows, the second ones, and so on."""
    return iter(np.asarray(as_rows(matrix)).T)


def unpacked(matrix: Any, size: int) -> Iterator[Any]:
    """The same of rows with so many entries."""
    if as_rows(matrix).shape[1] != size:
        raise NotColumnsError
    return across(matrix)


# --- vectors as parameters --------------------------------------------------------------------------


class Numbers:
    """A number for each iteration, where vectors are asked for: it goes with all entries of one."""

    __slots__ = ("column",)

    def __init__(self, column: np.ndarray) -> None:
        self.column = column


def spread(column: Any) -> Any:
    """A column of numbers among vectors; a number stays one."""
    if type(column) is range:
        column = np.arange(column.start, column.stop, column.step)
    if type(column) is np.ndarray and column.ndim == 1 and column.dtype.kind != "b":
        return Numbers(column)
    if type(column) in NUMBER_TYPES and type(column) is not bool:
        return column
    raise NotColumnsError


def either(container: Any, index: Any) -> Any:
    """`[container[i] for i in index]`, which may be vectors or numbers."""
    first = index if type(index) is int else 0
    if not 0 <= first < len(container):
        raise NotColumnsError
    one = type(container) is np.ndarray and container.ndim == 1
    if not one and type(container[first]) not in NUMBER_TYPES:
        return rows(container, index)
    if type(index) is int:
        return spread(container[index])
    column = as_column(container)
    if type(column) is range:
        column = np.arange(column.start, column.stop, column.step)
    return spread(column[checked(_as_index(container, index), len(column))])


def between(sign: str, left: Any, right: Any) -> Any:
    """An arithmetic operation on vectors of each iteration, or on such and what is the same for all."""
    if type(left) is Numbers and type(right) is Numbers:
        return _of_numbers(sign, left.column, right.column)
    numbers = left if type(left) is Numbers else right
    if type(numbers) is Numbers:
        other = right if numbers is left else left
        column = numbers.column
        if type(other) is np.ndarray:
            column = column[:, None]
            _check_vector(other)
        elif type(other) in NUMBER_TYPES and type(other) is not bool:
            return _of_numbers(sign, *((column, other) if numbers is left else (other, column)))
        else:
            raise NotColumnsError
        return ROWWISE[sign](*((column, other) if numbers is left else (other, column)))
    for operand in (left, right):
        if type(operand) is np.ndarray:
            _check_vector(operand)
        elif type(operand) is bool or type(operand) not in NUMBER_TYPES:
            raise NotColumnsError
    return ROWWISE[sign](left, right)


def _of_numbers(sign: str, left: Any, right: Any) -> Numbers:
    """The same of numbers only, where floats make Python's arithmetic that of NumPy."""
    if not any(np.result_type(operand).kind == "f" for operand in (left, right)):
        raise NotColumnsError
    return Numbers(ROWWISE[sign](left, right))


def _check_vector(operand: np.ndarray) -> None:
    if operand.ndim not in (1, 2) or operand.dtype not in KINDS or operand.dtype.kind == "b":
        raise NotColumnsError


def each_entry(function: Any, vectors: Any) -> Any:
    """`[function(v) for v in vectors]`, for a function of NumPy's that makes a number of a number."""
    if type(vectors) is Numbers:
        return Numbers(function(vectors.column))
    if type(vectors) is not np.ndarray:
        raise NotColumnsError
    _check_vector(vectors)
    return function(vectors)


def mapped(left: Any, right: Any, which: int) -> Any:
    """`[left @ v for v in right]` with a matrix, or `[v @ right for v in left]` where `which` is 0."""
    matrix, vectors = (left, right) if which else (right, left)
    for operand in (matrix, vectors):
        if type(operand) is not np.ndarray:
            raise NotColumnsError
        _check_vector(operand)
    if matrix.ndim != 2 or matrix.shape[1 if which else 0] != vectors.shape[-1]:
        raise NotColumnsError
    made = vectors @ (matrix.T if which else matrix)
    if made.dtype != float or not math.isfinite(made.sum()):
        raise NotColumnsError
    return made


def assembled(*entries: Any) -> Any:
    """`[np.array(v) for v in zip(*entries)]`, of which some are columns and some numbers."""
    given = [np.arange(e.start, e.stop, e.step) if type(e) is range else e for e in entries]
    for entry in given:
        column = type(entry) is np.ndarray and entry.ndim == 1 and entry.dtype in KINDS
        if not column and type(entry) not in NUMBER_TYPES:
            raise NotColumnsError
    if len({np.result_type(entry).kind for entry in given}) > 1 and any(
        np.result_type(entry).kind != "f" and not (np.abs(entry) < EXACT).all() for entry in given
    ):
        raise NotColumnsError  # an integer that is no float
    return np.stack(np.broadcast_arrays(*given), axis=-1)


def as_vectors(made: Any) -> Any:
    """What array code has made for vectors, if they are."""
    if not isinstance(made, np.ndarray) or made.dtype not in KINDS:
        raise NotColumnsError
    return made
