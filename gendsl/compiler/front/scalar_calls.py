"""Functions of one or two numbers: decimals, nearness and angles."""

from __future__ import annotations

import math
from typing import Any

from gendsl.compiler.front import library_numbers, numbers
from gendsl.compiler.front.array_arguments import arguments, several
from gendsl.compiler.front.arrays import library_call
from gendsl.compiler.front.frame import Frame, only
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import YES, describe, may_be_array
from gendsl.compiler.hir.values import (
    NONE,
    Value,
    as_kind,
    is_known,
    is_number,
    kind_of,
    known,
    number,
    number_leaf,
    numpys,
    object_of,
)


def rounded(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`round(x)`, `round(x, digits)`."""
    only(frame, named, "ndigits")
    value, *digits = [*args, *named.values()]
    if digits and digits[0].type == NONE.type:
        del digits[0]
    return numbers.of_numbers_only(round, _rounded)(frame, [value, *digits], {})


def _rounded(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value, *digits = args
    if len(digits) > 1 or not is_number(value) or may_be_array(value.type):
        raise frame.not_closed("round with these arguments")
    if not digits:
        if kind_of(value) != "f" and numpys(value):
            raise frame.not_closed("round of one of NumPy's integers")
        return numbers.to_integer(frame, number_leaf(value), "round")
    (count,) = digits
    if not is_number(count) or kind_of(count) == "f":
        raise frame.not_closed("round with these arguments")
    if numpys(value) == YES and kind_of(value) == "f":
        return at_decimals(frame, value, count)
    if numpys(value):
        raise frame.not_closed("round of a number that may be one of NumPy's")
    text = library_numbers.rounded if kind_of(value) == "f" else library_numbers.rounded_integer
    return library_call(frame, text, [value, count])


def decimals(frame: Frame, leaf: Expr, count: int) -> Expr:
    """A float as `np.round` has it: multiplied, rounded and divided."""
    power = Const(10.0 ** abs(count), "f")
    there, back = ("mul", "np_div") if count > 0 else ("np_div", "mul")
    scaled = frame.atom(leaf if count == 0 else Op(there, (leaf, power), "f"))
    whole = Op("np_rint", (scaled,), "f")
    return whole if count == 0 else Op(back, (whole, power), "f")


def at_decimals(frame: Frame, value: Value, count: Value) -> Value:
    """`np.round(x, decimals)` of floats."""
    if not is_known(count) or type(object_of(count)) is not int or not -15 <= object_of(count) <= 15:
        raise frame.not_closed("a number of decimals that is not a constant")

    def entry(frame: Frame, leaves: list[Expr]) -> Expr:
        if leaves[0].kind == "i" and object_of(count) >= 0:
            return leaves[0]
        if leaves[0].kind != "f":
            raise frame.not_closed("np.round of integers to tens, or of truth values")
        return decimals(frame, leaves[0], object_of(count))

    return several(frame, [value], lambda kinds: kinds[0], entry)


def numpys_round(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.round(x, decimals)`."""
    given = arguments(frame, ("a", "decimals"), args, named)
    return at_decimals(frame, given["a"], given.get("decimals", known(0)))


def rint(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.rint`, which gives floats."""
    only(frame, named)
    return several(
        frame, args, lambda _: "f", lambda frame, leaves: decimals(frame, as_kind(leaves[0], "f"), 0)
    )


def is_close(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`math.isclose`."""
    only(frame, named, "rel_tol", "abs_tol")
    given = [*args, named.get("rel_tol", known(1e-9)), named.get("abs_tol", known(0.0))]
    if len(given) != 4 or not all(map(is_number, given)):
        raise frame.not_closed(f"math.isclose of {', '.join(describe(one.type) for one in args)}")
    return library_call(frame, library_numbers.near, [number(number_leaf(one, "f")) for one in given])


def are_close(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.isclose`."""
    given = arguments(frame, ("a", "b", "rtol", "atol"), args, named)
    tolerances = [given.get("rtol", known(1e-5)), given.get("atol", known(1e-8))]
    if not all(map(is_number, tolerances)):
        raise frame.not_closed("np.isclose with these tolerances")
    relative, absolute = (frame.atom(number_leaf(one, "f")) for one in tolerances)

    def entry(frame: Frame, leaves: list[Expr]) -> Expr:
        x, y = (frame.atom(as_kind(leaf, "f")) for leaf in leaves)
        room = Op("add", (absolute, Op("mul", (relative, Op("abs", (y,), "f")), "f")), "f")
        distance = Op("abs", (Op("sub", (x, y), "f"),), "f")
        near = Op("and", (Op("le", (distance, room), "b"), Op("isfinite", (y,), "b")), "b")
        return Op("or", (near, Op("eq", (x, y), "b")), "b")

    return several(frame, [given["a"], given["b"]], lambda _: "b", entry)


def times(factor: float) -> Handler:
    """A function of one number that multiplies it."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)
        if len(args) != 1 or not is_number(args[0]):
            raise frame.not_closed("an angle of these values")
        return number(Op("mul", (number_leaf(args[0], "f"), Const(factor, "f")), "f"))

    return handle


def all_times(factor: float) -> Handler:
    """The same of NumPy's."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            if leaves[0].kind == "b":
                raise frame.not_closed("NumPy computes with truth values in 16 bits")
            return Op("mul", (as_kind(leaves[0], "f"), Const(factor, "f")), "f")

        return several(frame, args, lambda _: "f", entry)

    return handle


SCALARS: dict[Any, Handler] = {
    math.isclose: is_close,
    math.radians: times(math.pi / 180.0),
    math.degrees: times(180.0 / math.pi),
}
