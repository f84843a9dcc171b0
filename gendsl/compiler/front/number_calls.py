"""Python's functions of numbers, and those that make numbers."""

from __future__ import annotations

import math
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import array_calls, arrays, library_numbers, numbers, operators, text_columns
from gendsl.compiler.front.frame import Frame, only
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.front.scalar_calls import SCALARS, rounded
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import Array, Text, Union, describe
from gendsl.compiler.hir.values import (
    Value,
    is_known,
    is_number,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
    numpys,
    object_of,
)


def _abs(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    if isinstance(value.type, Array):
        return arrays.elementwise(frame, value, arrays.absolute)
    kind = kind_of(value)
    if kind == "b" and numpys(value):
        raise frame.not_closed("abs() of a truth value that may be NumPy's")
    wide = "f" if kind == "f" else "i"
    return number(frame.op("abs", (number_leaf(value, wide),), wide), value)


def _int(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    if not args:
        return known(0)
    if len(args) > 1:
        raise frame.not_closed("int() with a base")
    value = args[0]
    if isinstance(value.type, Union):
        return frame.switch(value, lambda one: _int(frame, [one], {}))
    if isinstance(value.type, Text):
        return text_columns.as_integer(frame, value)
    result = numbers.called(frame, int, value)
    if result is not None:
        return result
    if isinstance(value.type, Array) and value.type.rank == 0:
        value = _item(frame, value)
    if not is_number(value):
        raise frame.not_closed(f"int() of {describe(value.type)}")
    return numbers.to_integer(frame, number_leaf(value), "trunc")


def _ord(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    if is_known(value) and isinstance(object_of(value), str) and len(object_of(value)) == 1:
        return known(ord(object_of(value)))
    if not isinstance(value.type, Text):
        raise frame.not_closed(f"ord() of {describe(value.type)}")
    return text_columns.code_point(frame, value)


def _item(frame: Frame, value: Value) -> Value:
    return array_calls.method(frame, value, "item", [], {})


def to_float(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    if not args:
        return known(0.0)
    (value,) = args
    if isinstance(value.type, Union):
        return frame.switch(value, lambda one: to_float(frame, [one], {}))
    result = numbers.called(frame, float, value)
    if result is not None:
        return result
    if isinstance(value.type, Array):
        value = _item(frame, value)
    return number(number_leaf(value, "f"))


def _bool(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    test = operators.truth(frame, args[0]) if args else hir.FALSE
    return known(bool(test.value)) if isinstance(test, Const) else number(test)


def _rounded(how: str) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)
        if len(args) != 1 or not is_number(args[0]):
            raise frame.not_closed(f"{how} with these arguments")
        return numbers.to_integer(frame, number_leaf(args[0]), how)

    return handle


def _divmod(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    return make_tuple([numbers.of_numbers(frame, "floordiv", *args), numbers.of_numbers(frame, "mod", *args)])


def _pow(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if len(args) != 2:
        raise frame.not_closed("pow() with three arguments")
    return operators.arithmetic(frame, "pow", *args)


def _test(name: str) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        (value,) = args
        if not is_number(value):
            raise frame.not_closed(f"math.{name} of {describe(value.type)}")
        return number(Op(name, (number_leaf(value, "f"),), "b"))

    return handle


def _integers(name: str) -> Handler:
    """A function of `math` of integers; a result beyond 64 bits fails."""
    count = getattr(library_numbers, name).__code__.co_argcount

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if len(args) != count or not all(is_number(arg) and kind_of(arg) != "f" for arg in args):
            raise frame.not_closed(f"math.{name} of these values")
        return frame.language.call_function(frame, getattr(library_numbers, name), args, {})

    return handle


_OF_NUMBERS: dict[Any, Handler] = {
    abs: _abs, divmod: _divmod, math.floor: _rounded("floor"), math.ceil: _rounded("ceil"),
    math.trunc: _rounded("trunc"), math.isnan: _test("isnan"), math.isinf: _test("isinf"),
    math.isfinite: _test("isfinite"), math.comb: _integers("comb"), math.factorial: _integers("factorial"),
    math.perm: _integers("perm"), math.gcd: _integers("gcd"), math.lcm: _integers("lcm"),
    math.isqrt: _integers("isqrt"),
    **SCALARS,
}  # fmt: skip


NUMBERS: dict[Any, Handler] = {
    int: _int, float: to_float, bool: _bool, round: rounded, pow: _pow, ord: _ord,
    **{function: numbers.of_numbers_only(function, lower) for function, lower in _OF_NUMBERS.items()},
}  # fmt: skip
