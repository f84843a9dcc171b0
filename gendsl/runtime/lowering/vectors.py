"""What array code calls: Python's arithmetic and lookups on columns; of rows, see `vector_rows`.

A column is a one-dimensional array of floats, 64-bit integers or booleans, or a range; a column of rows is a
two-dimensional array, of which entries, and products with a vector, are taken. Results are what
Python gives entry by entry, up to rounding; where they might not be, `NotColumnsError` is raised, or
FloatingPointError where Python raises or makes something else of it.
"""

from __future__ import annotations

import bisect
import math
import operator
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import special

from gendsl.distributions.composite_columns import Law
from gendsl.runtime.lowering.tables import (
    EXACT,
    NUMBER_TYPES,
    Entry,
    NotColumnsError,
    Table,
    as_column,
    is_array,
)
from gendsl.runtime.lowering.vector_rows import (  # noqa: F401 (array code calls them here)
    REDUCED,
    ROWWISE,
    across,
    as_vectors,
    assembled,
    between,
    cells,
    checked,
    dot,
    each_entry,
    either,
    entry,
    mapped,
    parts,
    reduced,
    rows,
    rowwise,
    same,
    signed,
    spread,
    unpacked,
)

_WIDE = 1 << 62  # of 64-bit integers, those that a rounded number tells to be some
_GONE_THROUGH = frozenset((list, tuple, range, np.ndarray))


ELEMENTWISE: dict[Any, Callable[[Any], Any]] = {
    math.sqrt: np.sqrt, math.exp: np.exp, math.log: np.log, math.log1p: np.log1p, math.expm1: np.expm1,
    math.log2: np.log2, math.log10: np.log10, math.sin: np.sin, math.cos: np.cos, math.tan: np.tan,
    math.sinh: np.sinh, math.cosh: np.cosh, math.tanh: np.tanh, math.asin: np.arcsin, math.acos: np.arccos,
    math.atan: np.arctan, math.fabs: np.fabs, abs: np.abs,
    **{f: f for f in (
        np.sqrt, np.exp, np.log, np.log1p, np.expm1, np.log2, np.log10, np.sin, np.cos, np.tan, np.sinh,
        np.cosh, np.tanh, np.arcsin, np.arccos, np.arctan, np.abs, np.square,
        special.expit, special.log_expit, special.logit, special.erf, special.ndtr, special.log_ndtr,
    )},
}  # fmt: skip
"""Functions of one number, and what they are on columns."""


def _larger(left: Any, right: Any) -> Any:
    return np.where(right > left, right, left)  # which of equal ones, and what of NaN, as Python has it


def _smaller(left: Any, right: Any) -> Any:
    return np.where(right < left, right, left)


def _whole(rounded: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def integers(column: Any) -> Any:
        return column if column.dtype.kind == "i" else _exact(rounded(column))

    return integers


NUMBERS: dict[Any, Callable[[Any], Any]] = {
    float: lambda column: column.astype(float), np.float64: lambda column: column.astype(float),
    int: _whole(np.trunc), math.trunc: _whole(np.trunc), math.floor: _whole(np.floor),
    math.ceil: _whole(np.ceil), round: _whole(np.rint),
}  # fmt: skip
"""Functions that make a number of one kind of another, and what they are on columns."""


PAIRWISE: dict[Any, Callable[[Any, Any], Any]] = {
    max: _larger, min: _smaller, math.hypot: np.hypot,
    **{f: f for f in (np.maximum, np.minimum, np.hypot, np.logaddexp)},
}  # fmt: skip
"""Functions of two numbers, and what they are on columns."""

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
    "!=": np.not_equal,
}  # fmt: skip


PLACES: dict[Any, str] = {np.searchsorted: "left", bisect.bisect_left: "left", bisect.bisect_right: "right"}
"""Functions of a sorted sequence and a number that find the number's place, and the side of equal ones."""


def gather(container: Any, index: Any) -> Any:
    """`[container[i] for i in index]`; of one integer, that entry."""
    if type(index) is int:
        if type(container) is Entry and container.key == index:
            value = container.value
        elif 0 <= index < len(container):
            value = container[index]
        else:
            raise NotColumnsError
        if type(value) not in NUMBER_TYPES:
            raise NotColumnsError
        return value
    column = as_column(container)
    size = len(column)
    if type(index) is range:
        if index.step == 1 and index.start >= 0 and index.stop <= size and type(column) is np.ndarray:
            return column[index.start : index.stop]
        index = np.arange(index.start, index.stop, index.step)
    if type(column) is range:
        column = np.arange(column.start, column.stop, column.step)
    if index.dtype.kind == "b" and not is_array(container):
        index = index.astype(np.int64)
    if index.dtype.kind != "i" or (len(index) and (index.min() < 0 or index.max() >= size)):
        raise NotColumnsError  # from the end, or out of range
    return column[index]


class Chosen:
    """One of several vectors for each iteration; `index` is a column that says which."""

    __slots__ = ("index", "vectors")

    def __init__(self, vectors: Any, index: np.ndarray) -> None:
        self.vectors = vectors
        self.index = index


def chosen(container: Any, index: Any) -> Any:
    """`[container[i] for i in index]` of vectors; of one integer, that vector."""
    if type(index) is np.ndarray and index.dtype.kind == "b" and not is_array(container):
        index = index.astype(np.int64)
    container = container.values if type(container) is Table else container
    index = checked(index, len(container))
    return container[index] if type(index) is int else Chosen(container, index)


def place(values: Any, column: Any, side: str) -> Any:
    """The place of each number of a column among sorted values."""
    known, column = _numbers(values), _numbers(column)
    if (known[1:] < known[:-1]).any():
        raise NotColumnsError  # a search finds something else in each order
    return known.searchsorted(column, side)


def count(values: Any, sign: str, column: Any) -> Any:
    """How many of some values are <, <=, > or >= each number of a column."""
    known, column = np.sort(_numbers(values)), _numbers(column)
    below = known.searchsorted(column, "left" if sign in ("<", ">=") else "right")
    return below if sign in ("<", "<=") else len(known) - below


def _numbers(values: Any) -> Any:
    """Numbers that have an order, as an array."""
    column = as_column(values)
    if type(column) is range:
        column = np.arange(column.start, column.stop, column.step)
    if column.dtype.kind == "b" or (column.dtype.kind == "f" and np.isnan(column).any()):
        raise NotColumnsError
    return column


def variant(family: Any, name: str) -> Any:
    """The family that a family is where it is given a parameter of this name in place of its own."""
    variants: Any = vars(family).get("variants", {}) if isinstance(family, type) else {}
    return variants.get(name, family)


def law(family: Any, *parameters: Any) -> Law:
    """A distribution of each iteration among the parameters of another."""
    return Law(
        family, tuple(np.arange(p.start, p.stop, p.step) if type(p) is range else p for p in parameters)
    )


def fixed(value: Any) -> Any:
    """A value that is the same in all iterations, and is no array."""
    if isinstance(value, np.ndarray):
        raise NotColumnsError
    return value


def each(values: Any) -> Any:
    """Values that can be gone through more than once, and are the same each time."""
    if type(values) not in _GONE_THROUGH:
        raise NotColumnsError
    return values


def total(terms: Iterable[Any]) -> Any:
    """`sum(terms)`."""
    result: Any = 0
    for term in terms:
        result = add(result, term)
    return result


def fold(step: Callable[..., Any], state: tuple[Any, ...], entries: Iterable[tuple[Any, ...]]) -> Any:
    """What a loop carries, after it: `step` gives what it is after an iteration."""
    for each_of_them in entries:
        state = step(*state, *each_of_them)
    return state


def _operand(value: Any) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        return value if value.dtype.kind != "b" else value.astype(np.int64)
    if kind is range:
        return np.arange(value.start, value.stop, value.step)
    if kind is bool:
        return int(value)
    if kind not in NUMBER_TYPES:
        raise NotColumnsError
    return value


def _is_truth(value: Any) -> bool:
    """Whether a value is a truth value, or a column of them: Python's and NumPy's have other arithmetic."""
    return value.dtype.kind == "b" if type(value) is np.ndarray else isinstance(value, (bool, np.bool_))


def _is_integer(value: Any) -> bool:
    return value.dtype.kind == "i" if type(value) is np.ndarray else isinstance(value, (int, np.int64))


def _exact(result: Any) -> Any:
    """The integers that an operation on integers, made on floats, gave."""
    if type(result) is not np.ndarray:
        raise NotColumnsError
    if len(result) and not (np.abs(result) < EXACT).all():
        raise NotColumnsError
    return result.astype(np.int64)


def _arithmetic(
    function: Callable[[Any, Any], Any], plain: Callable[[Any, Any], Any], whole: bool = True
) -> Callable[[Any, Any], Any]:
    def operation(left: Any, right: Any) -> Any:
        if _is_truth(left) and _is_truth(right):
            raise NotColumnsError
        left, right = _operand(left), _operand(right)
        if type(left) is not np.ndarray and type(right) is not np.ndarray:
            made = plain(left, right)
            if _is_integer(made) and not -_WIDE < made < _WIDE:
                raise NotColumnsError
            return made
        if whole and _is_integer(left) and _is_integer(right):
            about = function(np.float64(left) if np.ndim(left) == 0 else left.astype(float), right)
            if not (np.abs(about) < _WIDE).all():
                raise NotColumnsError
        return function(left, right)

    return operation


add = _arithmetic(np.add, operator.add)
subtract = _arithmetic(np.subtract, operator.sub)
multiply = _arithmetic(np.multiply, operator.mul)
divide = _arithmetic(np.true_divide, operator.truediv, whole=False)


def floor_divide(left: Any, right: Any) -> Any:
    """`left // right` of integers."""
    return _of_integers(np.floor_divide, left, right)


def remainder(left: Any, right: Any) -> Any:
    """`left % right` of integers."""
    return _of_integers(np.remainder, left, right)


def _of_integers(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if _is_truth(left) and _is_truth(right):
        raise NotColumnsError
    left, right = _operand(left), _operand(right)
    if not (_is_integer(left) and _is_integer(right)):
        raise NotColumnsError
    return function(left, right)


def power(left: Any, right: Any) -> Any:
    """`left ** right` of floats, or of integers where the exponent is a small one."""
    if _is_truth(left) and _is_truth(right):
        raise NotColumnsError
    left, right = _operand(left), _operand(right)
    if _is_integer(left) and _is_integer(right):
        if type(right) is not int or not 0 <= right <= 8:
            raise NotColumnsError
        return _exact(left.astype(float) ** right)
    return np.power(left, right)


def negative(value: Any) -> Any:
    """`-value`."""
    if _is_truth(value):
        raise NotColumnsError
    return -_operand(value)


def positive(value: Any) -> Any:
    """`+value`."""
    if _is_truth(value):
        raise NotColumnsError
    return _operand(value)


def inverted(value: Any) -> Any:
    """`[not x for x in value]`."""
    return compare("==", value, 0)


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Two operands that can be compared as floats, and take each other's place."""
    left, right = _operand(left), _operand(right)
    for one, other in ((left, right), (right, left)):
        if _is_integer(one) and not _is_integer(other) and not (np.abs(one) < EXACT).all():
            raise NotColumnsError
    return left, right


def compare(sign: str, left: Any, right: Any) -> Any:
    """`[x < y for x, y in zip(left, right)]`, by the sign."""
    made = COMPARISONS[sign](*_alike(left, right))
    return made if type(made) is np.ndarray else bool(made)


def choose(test: Any, then: Any, otherwise: Any) -> Any:
    """`[x if t else y for t, x, y in zip(test, then, otherwise)]`."""
    if _is_truth(then) or _is_truth(otherwise):
        raise NotColumnsError
    then, otherwise = _alike(then, otherwise)
    test = compare("!=", test, 0)
    if type(test) is bool:
        return then if test else otherwise
    return np.where(test, then, otherwise)


def choose_all(test: Any, then: tuple[Any, ...], otherwise: tuple[Any, ...]) -> tuple[Any, ...]:
    """`choose` of several values."""
    return tuple(choose(test, one, other) for one, other in zip(then, otherwise, strict=True))


def apart(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *columns: Any) -> Any:
    """`[then(*x) if t else otherwise(*x) for t, *x in zip(test, *columns)]`.

    Both are called with the columns, and where one fails each with what is in them of its own iterations.
    """
    return apart_all(test, lambda *some: (then(*some),), lambda *some: (otherwise(*some),), *columns)[0]


def apart_all(
    test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *columns: Any
) -> tuple[Any, ...]:
    """`apart` of several values."""
    test = compare("!=", test, 0)
    if type(test) is bool:
        return then(*columns) if test else otherwise(*columns)  # type: ignore[no-any-return]
    with suppress(NotColumnsError, ArithmeticError):
        return choose_all(test, then(*columns), otherwise(*columns))
    (own,), (others,) = np.nonzero(test), np.nonzero(~test)
    if not (len(own) and len(others)):
        return then(*columns) if len(own) else otherwise(*columns)  # type: ignore[no-any-return]
    arms = then(*(taken(x, own) for x in columns)), otherwise(*(taken(x, others) for x in columns))
    made = []
    for one, other in zip(*arms, strict=True):
        if _is_truth(one) or _is_truth(other):
            raise NotColumnsError
        one, other = _alike(one, other)
        result = np.empty(len(test), np.result_type(one, other))
        result[own], result[others] = one, other
        made.append(result)
    return tuple(made)


def taken(column: Any, many: np.ndarray) -> Any:
    """Some entries of a column; a number stays as it is."""
    if type(column) is range:
        return column.start + column.step * many
    return column[many] if isinstance(column, np.ndarray) else column


def pairwise(function: Any, left: Any, right: Any) -> Any:
    """`[function(x, y) for x, y in zip(left, right)]`."""
    column = PAIRWISE.get(function)
    if column is None or _is_truth(left) or _is_truth(right):
        raise NotColumnsError
    left, right = _alike(left, right)
    if type(left) is not np.ndarray and type(right) is not np.ndarray:
        return function(left, right)
    return column(left, right)


def number(function: Any, value: Any) -> Any:
    """`[function(x) for x in value]`, where function is one of `NUMBERS`."""
    made = NUMBERS.get(function)
    if made is None:
        raise NotColumnsError
    operand = _operand(value)
    return made(operand) if type(operand) is np.ndarray else function(operand)


def elementwise(function: Any, value: Any) -> Any:
    """`[function(x) for x in value]`."""
    column = ELEMENTWISE.get(function)
    if column is None or (_is_truth(value) and getattr(function, "__module__", "") != "math"):
        raise NotColumnsError  # NumPy's functions give numbers of 16 bits for truth values
    return column(_operand(value))
