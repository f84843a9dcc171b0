"""Calls of Python's own functions, and those of `math`, `bisect` and `operator`, by what they mean."""

from __future__ import annotations

import ast
import collections
import functools
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler.front import array_calls, numbers, operators
from gendsl.compiler.front.container_calls import CONTAINERS
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.iterator_calls import ITERATORS, first_of
from gendsl.compiler.front.number_calls import NUMBERS
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.front.object_calls import OBJECTS
from gendsl.compiler.front.operator_calls import OPERATORS
from gendsl.compiler.front.reduction_calls import REDUCTIONS, quick
from gendsl.compiler.hir.values import NOTHING, Value, is_never


def call(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of a function that has a meaning here; None for any other."""
    try:
        hash(function)
    except TypeError:
        return None
    if not _takes(function, len(args), tuple(named)):
        name = getattr(function, "__name__", function)
        frame.fail(f"{name} is called with arguments that it does not take")
        return NOTHING
    if function in numbers.OF_NUMBERS and not named:
        name = numbers.OF_NUMBERS[function]
        if function is math.log and len(args) == 2:
            top, base = (numbers.call_math(frame, "log", math.log, [arg]) for arg in args)
            return operators.arithmetic(frame, "truediv", top, base)
        return numbers.call_math(frame, name, function, args)
    handler = _HANDLERS.get(function)
    if handler is not None:
        if any(map(is_never, args)):
            return NOTHING
        return handler(frame, args, named)
    return array_calls.call(frame, function, args, named)


@functools.lru_cache(maxsize=1024)
def _takes(function: Any, count: int, named: tuple[str, ...]) -> bool:
    """Whether a function takes so many arguments and those by name; True where it has no signature."""
    if function not in _HANDLERS and array_calls.handler_of(function) is None:
        return True
    try:
        inspect.signature(function).bind(*(None,) * count, **dict.fromkeys(named))
    except ValueError:  # there is no signature
        return True
    except TypeError:
        return False
    return True


_HANDLERS: dict[Any, Handler] = {
    **CONTAINERS, **REDUCTIONS, **NUMBERS, **OBJECTS, **OPERATORS, **ITERATORS,
}  # fmt: skip

EAGER = frozenset([
    sum, min, max, sorted, list, tuple, dict, set, frozenset, any, all, dict.fromkeys, math.fsum, math.prod,
    collections.deque,
])  # fmt: skip
"""Functions that go through their arguments in the call."""
LAZY = frozenset([
    enumerate, zip, map, filter, iter, itertools.pairwise, itertools.accumulate, itertools.chain,
    itertools.chain.from_iterable, itertools.islice, itertools.takewhile, itertools.dropwhile,
    itertools.starmap,
])  # fmt: skip
"""Functions that go through their arguments where their result is gone through."""
OF_DISPLAYS = frozenset([np.concatenate, np.hstack, np.vstack, np.column_stack, np.stack])
"""Functions of several arrays, which may be of different kinds and lengths."""
SYNTACTIC: dict[Any, Callable[[Frame, ast.Call], Value]] = {
    any: quick(True), all: quick(False), next: first_of,
}  # fmt: skip
"""Functions whose arguments are not all evaluated before the call."""
