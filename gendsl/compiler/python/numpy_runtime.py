"""What the NumPy form of a loop calls: operations on all iterations at once, which fail where one would.

What an iteration has is a number of an array, or a number that all of them have. An operation is NumPy's, and
where its result is not finite somewhere it is Python's, number by number: that raises where Python raises, so
that no operation needs to say where it fails. Whoever calls this lets NumPy ignore infinities and NaN.

Some iterations, those that take one side of a branch, are ALL, or an array of their places.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.hir.operations import NAMES, UFUNCS, np_lgamma

ALL = slice(None)
"""All iterations that come to a branch."""
SHORT = 24
"""How many iterations take as long one by one."""
_MANY_MORE = 3
"""How many times as many items a list has where those that are needed are taken one by one."""
SMALL = 1 << 31
"""Integers are smaller that come from lists and choices."""
TYPES = {"f": np.float64, "i": np.int64, "b": np.bool_}
FAILURES = (
    TextFailure, ArithmeticError, ValueError, IndexError, KeyError, MemoryError, UnboundLocalError,
)  # fmt: skip
"""What is raised where an iteration fails, or may: the last where some do not set what others have set."""


class Stopped(TextFailure):
    """An iteration does what can't be done at once; all before that can."""

    def __init__(self, place: int) -> None:
        super().__init__("a loop that ends early")
        self.place = place


def at_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make as many iterations from the first on as can be made at once, and say which is the next one.

    What can't be made at once is left to be made one by one, all that fails included.
    """

    @functools.wraps(function)
    def run(state: Any, start: int, stop: int, *given: Any) -> Any:
        while SHORT <= stop - start < SMALL:
            try:
                return function(state, start, stop, *given)
            except Stopped as stopped:
                stop = start + stopped.place
            except FAILURES:
                break
        sums = given[: function.sums]  # type: ignore[attr-defined]
        return (start, *sums) if sums else start

    return run


def adding_to(sums: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same for a function that is given so many sums first, and returns them behind what is next."""

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        function.sums = sums  # type: ignore[attr-defined]
        return at_once(function)

    return made


# --- branches -------------------------------------------------------------------------------------


def sides(test: Any) -> tuple[Any, Any]:
    """The iterations for which something holds, and the others; None for none."""
    if not isinstance(test, np.ndarray):
        return (ALL, None) if test else (None, ALL)
    held = np.count_nonzero(test)
    if held == len(test):
        return ALL, None
    return (test.nonzero()[0], (~test).nonzero()[0]) if held else (None, ALL)


def size(at: Any, count: int) -> int:
    """How many iterations these are, of so many."""
    return count if at is ALL else len(at)


def pick(value: Any, at: Any) -> Any:
    """What some iterations have; a list has an item for each place, of all of them."""
    if at is ALL:
        return value
    if isinstance(value, np.ndarray):
        return value[at]
    if isinstance(value, (list, tuple)):
        return type(value)([pick(item, at) for item in value])
    return value


def put(before: Any, at: Any, value: Any, count: int) -> Any:
    """What all iterations have once some have another value."""
    if at is ALL:
        return value
    if isinstance(before, np.ndarray):
        made = before.copy()
    elif before is None:
        made = np.zeros(count, getattr(value, "dtype", type(value)))
    else:
        made = np.full(count, before)
    made[at] = value
    return made


def choose(test: Any, one: Any, other: Any) -> Any:
    """One value where something holds, and another elsewhere."""
    if isinstance(test, np.ndarray):
        return np.where(test, one, other)
    return one if test else other


def stop_where(test: Any) -> None:
    """Stop before the first iteration for which something holds."""
    if isinstance(test, np.ndarray):
        if np.count_nonzero(test):
            raise Stopped(int(test.argmax()))
    elif test:
        raise Stopped(0)


def fail_where(test: Any, reason: str) -> None:
    """Fail if something holds for an iteration."""
    if np.count_nonzero(test) if isinstance(test, np.ndarray) else test:
        raise TextFailure(reason)


def total(term: Any, count: int) -> Any:
    """The sum of what all iterations add."""
    return float(np.add.reduce(term)) if isinstance(term, np.ndarray) else term * count


def largest(value: Any) -> int:
    """The largest of integers."""
    return int(value.max()) if isinstance(value, np.ndarray) else value


# --- numbers --------------------------------------------------------------------------------------


def each(function: Callable[..., Any], kind: str, *args: Any) -> Any:
    """An operation on numbers, one after another."""
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    if not arrays:
        return function(*args)
    columns = [arg.tolist() if isinstance(arg, np.ndarray) else [arg] * len(arrays[0]) for arg in args]
    made = [function(*row) for row in zip(*columns, strict=True)]
    return _integers(made) if kind == "i" else np.array(made, TYPES[kind])


def _integers(values: Any) -> Any:
    """Integers as an array, which are small enough for sums and products to have no more than 64 bits."""
    made = np.array(values, np.int64)
    return narrow(made)


def narrow(value: Any) -> Any:
    """Integers of few enough bits for sums and products to have no more than 64."""
    if isinstance(value, np.ndarray):
        if len(value) and not (value.min() > -SMALL and value.max() < SMALL):
            raise TextFailure("large integers")
    elif not -SMALL < value < SMALL:
        raise TextFailure("large integers")
    return value


def _is_finite(values: np.ndarray) -> bool:
    """Whether all numbers are finite; it may say no where their squares are not."""
    return math.isfinite(values.dot(values))


def _exactly(scalar: Callable[..., Any], array: Callable[..., Any]) -> Callable[..., Any]:
    """A function of floats that fails where its scalar form does: there NumPy's gives no finite number."""

    def call(*args: Any) -> Any:
        if not any(isinstance(arg, np.ndarray) for arg in args):
            return scalar(*args)
        found = array(*args)
        return found if _is_finite(found) else each(scalar, "f", *args)

    return call


def _both(array: Callable[..., Any], scalar: Callable[..., Any]) -> Callable[..., Any]:
    """A function that never fails, of arrays or numbers."""

    def call(*args: Any) -> Any:
        if any(isinstance(arg, np.ndarray) for arg in args):
            return array(*args)
        return scalar(*args)

    return call


def as_float(value: Any) -> Any:
    """Numbers as floats."""
    return value.astype(np.float64) if isinstance(value, np.ndarray) else float(value)


def as_integer(value: Any) -> Any:
    """Truth values as integers."""
    return value.astype(np.int64) if isinstance(value, np.ndarray) else int(value)


def _rounded(array: Callable[[Any], Any], scalar: Callable[[Any], int]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return scalar(value)
        found = array(value)
        if not -SMALL < found.min() <= found.max() < SMALL:  # nor where one is NaN
            raise TextFailure("large integers")
        return found.astype(np.int64)

    return call


def invert(test: Any) -> Any:
    """Where something does not hold."""
    return ~test if isinstance(test, np.ndarray) else not test


def _whole(array: Callable[..., Any], scalar: Callable[..., Any]) -> Callable[..., Any]:
    """A division of integers without a fraction."""

    def call(one: Any, other: Any) -> Any:
        if np.count_nonzero(other) != np.size(other):
            raise ZeroDivisionError
        return (
            array(one, other)
            if isinstance(one, np.ndarray) or isinstance(other, np.ndarray)
            else scalar(one, other)
        )

    return call


# --- lists ----------------------------------------------------------------------------------------


class Table(list[Any]):
    """A list that never changes, with the arrays of its items."""

    def __init__(self, items: Iterable[Any]) -> None:
        super().__init__(items)
        self.arrays: dict[tuple[str, int | None], np.ndarray] = {}


def array(items: Sequence[Any], kind: str, part: int | None = None) -> np.ndarray:
    """The items of a list as an array, or one part of each."""
    if isinstance(items, np.ndarray):
        return items
    known = items.arrays if isinstance(items, Table) else {}
    if (kind, part) not in known:
        values = items if part is None else [item[part] for item in items]
        known[kind, part] = _integers(values) if kind == "i" else np.array(values, TYPES[kind])
    return known[kind, part]


def take(items: Any, index: Any, kind: str, part: int | None = None) -> Any:
    """The items of a list at indices from -n to n - 1, or one part of each; fails elsewhere."""
    if not isinstance(index, np.ndarray):
        found = items[index]
        return found if part is None else found[part]
    if len(items) > _MANY_MORE * len(index) and not isinstance(items, (np.ndarray, Table)):
        return array([items[place] for place in index.tolist()], kind, part)
    return array(items, kind, part)[index]


def span(items: Any, first: int, stride: int, count: int, kind: str, part: int | None = None) -> Any:
    """The same for indices that are first, first + stride, ..., count of them."""
    last = first + stride * (count - 1)
    if stride > 0 and first >= 0 and last < len(items):
        if isinstance(items, Table):
            items = array(items, kind, part)
        return array(items[first : last + 1 : stride], kind, part)
    return take(items, first + stride * np.arange(count), kind, part)


def take_varying(items: Sequence[Any], index: Any, count: int, part: int | None = None) -> Any:
    """The items of a list that each iteration has one of, at the index of each, or one part of each."""
    values = items if part is None else [item[part] for item in items]
    if not isinstance(index, np.ndarray):
        return values[index]
    rows = np.array([np.broadcast_to(value, count) for value in values])
    return rows[index, np.arange(count)]


def extend(items: list[Any], count: int, *parts: Any) -> None:
    """Add what each iteration has to a list."""
    columns = [part.tolist() if isinstance(part, np.ndarray) else [part] * count for part in parts]
    if len(columns) == 1:
        items += columns[0]
    else:
        items += zip(*columns, strict=True) if columns else [()] * count


def replace(items: list[Any], first: int, count: int, *parts: Any) -> None:
    """Replace the items of a list from one on by what each iteration has."""
    made: list[Any] = []
    extend(made, count, *parts)
    items[first : first + count] = made


def keep(items: list[Any], index: Any, count: int, *parts: Any) -> None:
    """Replace the items of a list at the index of each iteration; those of one index have one item."""
    made: list[Any] = []
    extend(made, count, *parts)
    places = index.tolist() if isinstance(index, np.ndarray) else [index] * count
    for at, item in zip(places, made, strict=True):
        items[at] = item


def check_span(items: Any, first: int, count: int) -> None:
    """Fail unless a list has items from one on."""
    if not 0 <= first <= len(items) - count:
        raise IndexError


_scalars = NAMES
_EXACT = {
    name: _exactly(_scalars[name], getattr(np, other))
    for name, other in (
        ("exp", "exp"), ("log", "log"), ("sqrt", "sqrt"), ("sin", "sin"), ("cos", "cos"), ("tan", "tan"),
        ("atan", "arctan"), ("asin", "arcsin"), ("acos", "arccos"), ("sinh", "sinh"), ("cosh", "cosh"),
        ("tanh", "tanh"), ("log1p", "log1p"), ("expm1", "expm1"), ("log2", "log2"), ("log10", "log10"),
        ("exp2", "exp2"), ("cbrt", "cbrt"), ("power", "power"),
    )
}  # fmt: skip
_SAME = {
    name: _both(getattr(np, name), _scalars[name]) for name in ("copysign", "isnan", "isinf", "isfinite")
} | {f"np_{name}": _both(function, _scalars[f"np_{name}"]) for name, function in UFUNCS.items()}


def _lgamma(x: Any) -> Any:
    """Cephes' function is as exact as C's but below 0."""
    if isinstance(x, np.ndarray) and len(x) and x.min() > 0.0:
        return _EXACT_LGAMMA(x)
    return each(math.lgamma, "f", x)


def _np_lgamma(x: Any) -> Any:
    """The same where what fails is an infinity."""
    if isinstance(x, np.ndarray) and len(x) and x.min() > 0.0:
        return scipy.special.gammaln(x)
    return each(np_lgamma, "f", x)


def _divided(one: Any, other: Any) -> Any:
    """Dividing by one number fails for all or for none."""
    if isinstance(one, np.ndarray) and not isinstance(other, np.ndarray):
        if not other:
            raise ZeroDivisionError
        return one / other
    return _EXACT_DIVIDE(one, other)


_EXACT_DIVIDE = _exactly(operator.truediv, np.divide)
_EXACT_LGAMMA = _exactly(math.lgamma, scipy.special.gammaln)
LANES: dict[str, Callable[..., Any]] = {
    **_EXACT,
    **_SAME,
    "lgamma": _lgamma,
    "np_lgamma": _np_lgamma,
    "divide": _divided,
    "int_floor": _rounded(np.floor, math.floor),
    "int_ceil": _rounded(np.ceil, math.ceil),
    "int_trunc": _rounded(np.trunc, int),
    "int_round": _rounded(np.rint, round),
    "imin": _both(np.minimum, min),
    "imax": _both(np.maximum, max),
    "floordiv": _whole(np.floor_divide, operator.floordiv),
    "mod": _whole(np.mod, operator.mod),
}
"""Operations of HIR on all iterations at once, by name; `each` makes all others, one by one."""
lanes = SimpleNamespace(
    adding_to=adding_to, sides=sides, size=size, pick=pick, put=put, choose=choose, stop_where=stop_where,
    fail_where=fail_where, total=total, largest=largest, each=each, narrow=narrow, as_float=as_float,
    as_integer=as_integer, invert=invert, array=array, take=take, span=span, take_varying=take_varying,
    extend=extend, keep=keep, replace=replace, check_span=check_span, ALL=ALL, SHORT=SHORT,
    arange=np.arange, **LANES,
)  # fmt: skip
"""What the NumPy forms of loops call, by the name by which they do."""
