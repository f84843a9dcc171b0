"""The families of distributions: how the compiler reads those whose classes are written with NumPy.

The log density of a scalar family is its method `at`, and its parameters are what `__init__` sets; both are read
as any class of a user's is. What `gendsl.distributions.parameters` checks is a test here, after which the reference
interpreter raises the error. The text of the others is in `gendsl.distributions.texts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import both, compared, test_of
from gendsl.compiler.front.values import NOTHING, Value, is_number, kind_of, known, make_tuple, number, number_leaf
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.types import FLOAT, Array, Known, List, Number, Tuple, Type, describe
from gendsl.distributions import parameters, texts
from gendsl.distributions.base import ScalarFamily

_LARGEST = Const(parameters.LARGEST, "f")
_ZERO, _ONE = Const(0.0, "f"), Const(1.0, "f")


def _within(low: tuple[str, Expr] | None, high: tuple[str, Expr]) -> Callable[[Expr], Expr]:
    def test(x: Expr) -> Expr:
        upper = Op(high[0], (x, high[1]), "b")
        return upper if low is None else both(Op(low[0], (x, low[1]), "b"), upper)

    return test


_LEAST = Const(-parameters.LARGEST, "f")
_CHECKS: dict[Any, Callable[[Expr], Expr]] = {
    parameters.real: _within(("ge", _LEAST), ("le", _LARGEST)),
    parameters.positive: _within(("gt", _ZERO), ("le", _LARGEST)),
    parameters.nonnegative: _within(("ge", _ZERO), ("le", _LARGEST)),
    parameters.probability: _within(("ge", _ZERO), ("le", _ONE)),
    parameters.positive_probability: _within(("gt", _ZERO), ("le", _ONE)),
    parameters.bound: _within(("ge", Const(-math.inf, "f")), ("le", Const(math.inf, "f"))),
}


def parameter_check(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of one of the functions that check parameters; None for any other."""
    if function in _CHECKS:
        value = args[2]
        if isinstance(value.type, Array) or not is_number(value):
            frame.fail(f"{describe(value.type)} as a parameter")
            return NOTHING
        if isinstance(value.type, Known):
            try:
                return known(function("family", "parameter", value.type.value))
            except parameters.ParameterError:
                frame.fail("a parameter out of its domain")
                return NOTHING
        leaf = frame.atom(number_leaf(value))
        frame.fail_unless(_CHECKS[function](number_leaf(number(leaf), "f")), "a parameter out of its domain")
        return number(leaf) if leaf.kind != "b" else number(number_leaf(value, "i"))
    if function in (parameters.integer, parameters.nonnegative_integer):
        return _integer(frame, args[2], least=None if function is parameters.integer else 0)
    if function is parameters.ordered:
        low, high = args[1], args[2]
        equal = named.get("equal", known(False)).type.value  # type: ignore[attr-defined]
        test = compared(frame, "le" if equal else "lt", low, high)
        frame.fail_unless(test_of(test), "ends that are not in order")
        if kind_of(low) == "f" or kind_of(high) == "f":
            ends = Op("sub", (number_leaf(high, "f"), number_leaf(low, "f")), "f")
            infinite = Op("or", (Op("isinf", (number_leaf(low, "f"),), "b"), Op("isinf", (number_leaf(high, "f"),), "b")), "b")
            frame.fail_unless(Op("or", (Op("le", (ends, _LARGEST), "b"), infinite), "b"), "ends that are too far apart")
        return known(None)
    if function is parameters.probabilities:
        return _vector(frame, texts.check_probabilities, args[2])
    if function is parameters.increasing:
        return _vector(frame, texts.check_increasing, args[2])
    if function is parameters.certain:
        return frame.choose(test_of(args[0]), lambda: known(0.0), lambda: known(-math.inf))
    return None


def _integer(frame: Frame, value: Value, least: int | None) -> Value:
    if not is_number(value):
        frame.fail(f"{describe(value.type)} as an integer parameter")
        return NOTHING
    if isinstance(value.type, Known):
        found = value.type.value
        if float(found) != int(found) or (least is not None and found < least):
            frame.fail("a parameter that is no integer of its domain")
            return NOTHING
        return known(int(found))
    if kind_of(value) == "f":
        leaf = frame.atom(number_leaf(value, "f"))
        frame.fail_unless(Op("eq", (Op("np_floor", (leaf,), "f"), leaf), "b"), "a parameter that is no integer")
        value = number(frame.op("int_trunc", (leaf,), "i"))
    leaf = frame.atom(number_leaf(value, "i"))
    if least is not None:
        frame.fail_unless(Op("ge", (leaf, Const(least, "i")), "b"), "a parameter below its domain")
    return number(leaf)


def _vector(frame: Frame, check: Any, value: Value) -> Value:
    """A vector of numbers, checked and copied, as a list of floats."""
    from gendsl.compiler.front import calls

    if isinstance(value.type, (List, Tuple, Array)) or (isinstance(value.type, Known) and isinstance(value.type.value, tuple)):
        return calls.call_function(frame, check, [value], {})
    frame.fail(f"{describe(value.type)} as a vector of numbers")
    return NOTHING


# --- families that are written with NumPy --------------------------------------------------------------


def construct(frame: Frame, cls: type, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A distribution of a class whose `__init__` the compiler does not read; None for others."""
    from gendsl.compiler.front import calls

    if cls in texts.CHECKS:
        names = cls.parameters  # type: ignore[attr-defined]
        found = dict(zip(names, args, strict=False))
        found.update(named)
        if set(found) != set(names) or len(args) + len(named) != len(names):
            frame.fail(f"{cls.__name__} is called with arguments that it does not take")
            return NOTHING
        checked = calls.call_function(frame, texts.CHECKS[cls], [found[name] for name in names], {})
        from gendsl.compiler.front.values import items_of

        if not frame.live or isinstance(checked.type, type(NOTHING.type)):
            return NOTHING
        return make_tuple([frame.atoms(one) for one in items_of(checked)], cls, tuple(names))
    if cls.__module__.startswith("gendsl.") and not issubclass(cls, ScalarFamily):
        raise frame.not_closed(f"the family {cls.__name__}")
    return None


def value_type(frame: Frame, distribution: Value) -> Type | None:
    """The type of the values of a family that is written with NumPy; None for others."""
    assert isinstance(distribution.type, Tuple)
    kind = texts.VALUES.get(distribution.type.cls)
    return Number(kind) if kind is not None else None


def log_density(frame: Frame, distribution: Value, value: Value) -> Value | None:
    """The log density of a family that is written with NumPy; None for others."""
    from gendsl.compiler.front import calls
    from gendsl.compiler.front.values import items_of

    assert isinstance(distribution.type, Tuple)
    text = texts.LOG_DENSITIES.get(distribution.type.cls)
    if text is None:
        return None
    return calls.inline_function(frame, text, [value, *items_of(distribution)])


_UNUSED = (FLOAT, np)
