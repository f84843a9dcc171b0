"""Arguments as a trace keeps them: copies of what their owner may change in place.

    ys.append(2.0)
    trace.update(args=(ys,))       the trace has the list of before, and finds what is new in it

Lists, dicts, sets, deques, arrays and tables of pandas are copied, in lists, tuples and dicts too, and
instances of classes derived from theirs; any other object is kept as it is. The copies of arrays are
read-only, so that neither who asks a trace for its arguments nor a body that is not seen to change its own
can change the trace through them; a body that is seen to gets copies of its own.

What is given again unchanged is known by its entries being the same objects, or the same bytes, and is not
copied again: the trace goes on with the copy it has.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from itertools import repeat
from operator import is_
from typing import Any

import numpy as np

from gendsl.errors import ValueTypeError
from gendsl.runtime.change import is_same
from gendsl.runtime.records import UNCHANGEABLE

_PLAIN = UNCHANGEABLE - {np.ndarray} | {np.float64, np.int64, np.bool_}
_CONTAINERS = list, dict, set, bytearray, deque, np.ndarray
_MISSING: Any = object()


def private(args: tuple[Any, ...], known: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """Arguments that nobody else can change, taken from those that are `known` where these are the same.

    Raises:
        ValueTypeError: they can't be copied, as one is a part of itself.
    """
    if len(known) == len(args) and all(map(is_, args, known)):
        return known
    if _PLAIN.issuperset(map(type, args)):
        return args
    before = (*known, *(_MISSING,) * (len(args) - len(known)))
    try:
        made = tuple(map(_kept, args, before))
    except RecursionError:
        raise ValueTypeError(
            "an argument is a part of itself, or its lists and dicts are nested too deeply to be copied",
            fix="name what refers to one another by numbers: neighbours = [[1, 2], [0], [0]]",
        ) from None
    if all(map(is_, made, args)):
        return args
    return _or_known(made, known if len(known) == len(made) else None)  # type: ignore[no-any-return]


def separate(value: Any) -> Any:
    """A value with containers of its own, for somebody who may change it."""
    return _kept(value, _MISSING, False)


def _kept(value: Any, known: Any, frozen: bool = True) -> Any:
    """`known` if that is a copy of `value` as it is now, else a new one; `value` itself if none is needed.

    The copies of arrays are read-only if `frozen`.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is np.ndarray:
        if type(known) is np.ndarray and _same_array(value, known):
            return known
        made = value.copy()
        if frozen:
            made.setflags(write=False)
        return made
    if kind is list or kind is tuple:
        if type(known) is not kind or len(known) != len(value):
            known = None
        if _PLAIN.issuperset(map(type, value)):
            if kind is tuple or (known is not None and all(map(is_, value, known))):
                return value if kind is tuple else known
            return value.copy()
        olds = repeat(_MISSING) if known is None else known
        return _or_known(kind(map(_kept, value, olds, repeat(frozen))), known)
    if kind is dict:
        same = type(known) is dict and len(known) == len(value) and all(map(is_, value, known))
        olds = known.values() if same else (_MISSING,) * len(value)
        made = dict(zip(value, map(_kept, value.values(), olds, repeat(frozen)), strict=True))
        return known if same and all(map(is_, made.values(), olds)) else made
    if kind is set or kind is bytearray:
        return known if type(known) is kind and _same_entries(value, known) else value.copy()
    if isinstance(value, tuple) and hasattr(kind, "_make"):  # a named one
        olds = known if type(known) is kind else (_MISSING,) * len(value)
        made = _or_known(kind._make(map(_kept, value, olds, repeat(frozen))), value)
        return _or_known(made, known if olds is known else None)
    if isinstance(value, _CONTAINERS):
        return _of_a_class(value, known, frozen)
    if _is_table(value):
        return known if type(known) is kind and _same_table(value, known) else value.copy()
    return value


def _is_table(value: Any) -> bool:
    """Whether a value is a table or a column of pandas."""
    pandas: Any = sys.modules.get("pandas")  # where it wasn't imported, nothing is
    return pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series))


def _same_table(value: Any, known: Any) -> bool:
    alike = value.shape == known.shape and is_same(value.attrs, known.attrs)
    if not (alike and all(a.identical(b) for a, b in zip(value.axes, known.axes, strict=True))):
        return False
    if value.ndim == 1:
        return is_same(value.name, known.name) and _same_column(value, known)
    return all(_same_column(value.iloc[:, k], known.iloc[:, k]) for k in range(value.shape[1]))


def _same_column(value: Any, known: Any) -> bool:
    if value.dtype != known.dtype:
        return False
    if not isinstance(value.dtype, np.dtype):
        return bool(value.array.equals(known.array))
    a, b = value.to_numpy(), known.to_numpy()
    return all(map(is_, a, b)) if a.dtype == object else _same_array(a, b)


def _of_a_class(value: Any, known: Any, frozen: bool) -> Any:
    """The same for an instance of a class derived from a container's."""
    if value is np.ma.masked:
        return value
    made = copy.copy(value)
    if isinstance(value, np.ndarray):
        made.setflags(write=not frozen)
        return made
    if type(value) is deque:
        made = deque((_kept(entry, _MISSING, frozen) for entry in value), value.maxlen)
    elif type(value) in (Counter, OrderedDict, defaultdict):
        for key, entry in value.items():
            made[key] = _kept(entry, _MISSING, frozen)
    if type(known) is not type(value) or len(known) != len(value):
        return made
    attributes, others = getattr(value, "__dict__", {}), getattr(known, "__dict__", {})
    same = len(attributes) == len(others) and all(others.get(k, _MISSING) is v for k, v in attributes.items())
    if isinstance(value, (set, bytearray)):
        return known if same and _same_entries(value, known) else made
    same = same and all(map(is_, made, known))
    if isinstance(value, dict):
        same = same and all(map(is_, made.values(), known.values()))
    return known if same else made


def _same_entries(value: Any, known: Any) -> bool:
    """Whether two sets, or two of bytes, have the same entries in the same order: {1} is not {True}."""
    return len(value) == len(known) and all(map(is_, value, known))


def _or_known(made: Any, known: Any) -> Any:
    """`known` if it has the same parts."""
    return known if known is not None and all(map(is_, made, known)) else made


def _same_array(value: np.ndarray, known: np.ndarray) -> bool:
    alike = value.shape == known.shape and value.dtype == known.dtype and value.dtype != object
    return alike and value.tobytes() == known.tobytes()
