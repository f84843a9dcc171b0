"""NumPy's functions of each entry of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import numbers, scalar_calls
from gendsl.compiler.front.array_arguments import arguments, several
from gendsl.compiler.front.arrays import absolute, as_array, binary, check_flags, of_entries
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import Handler, call_elementwise
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.values import NONE, Value, as_kind, is_number, number_leaf, numpy_number


def _function(name: str) -> Callable[..., Value]:
    """One of NumPy's elementwise functions that give floats, or what they are given."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")
        if all(map(is_number, args)):
            return call_elementwise(frame, name, args)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            if numbers.kind_of_result(frame, name, [leaf.kind for leaf in leaves]) == "i":
                return leaves[0]
            return Op(name, tuple(as_kind(leaf, "f") for leaf in leaves), "f")

        return several(frame, args, lambda kinds: numbers.kind_of_result(frame, name, list(kinds)), entry)

    return handle


def _extreme(name: str) -> Callable[..., Value]:
    """`np.maximum` and `np.minimum`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named or len(args) != 2:
            raise frame.not_closed("these arguments of a NumPy function")

        def kind(kinds: list[str]) -> str:
            return max(kinds, key="bif".index)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            k = kind([leaf.kind for leaf in leaves])
            x, y = (as_kind(leaf, k) for leaf in leaves)
            if k == "f":
                return Op(f"np_{name}", (x, y), "f")
            if k == "b":
                return Op("or" if name == "maximum" else "and", (x, y), "b")
            return Op("imax" if name == "maximum" else "imin", (x, y), "i")

        return several(frame, args, kind, entry)

    return handle


def _entrywise(name: str, kind: str | None = None) -> Callable[..., Value]:
    """An operation that NumPy has as a function: `np.add`, `np.isnan`, `np.abs`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")
        if len(args) == 2:
            check_flags(frame, name, args)
            if all(map(is_number, args)):
                return numpy_number(of_entries(frame, name, *(frame.atom(number_leaf(a)) for a in args)))
            return binary(frame, name, *args)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            leaf = leaves[0]
            if name == "abs":
                return absolute(leaf)
            if leaf.kind == "b" and name in ("neg", "sign"):
                raise frame.not_closed(f"np.{name} of truth values")
            if name == "not":
                return Op("not", (as_kind(leaf, "b"),), "b")
            if kind == "b":
                return Op(name, (as_kind(leaf, "f"),), "b")
            if name == "sign":
                zero = hir.ZEROS[leaf.kind]
                one, minus = as_kind(Const(1.0, "f"), leaf.kind), as_kind(Const(-1.0, "f"), leaf.kind)
                rest = Op("add", (leaf, zero), leaf.kind)  # NaN, or a zero without a sign
                below = Op("select", (Op("lt", (leaf, zero), "b"), minus, rest), leaf.kind)
                return Op("select", (Op("gt", (leaf, zero), "b"), one, below), leaf.kind)
            return Op(name, (leaf,), leaf.kind)

        return several(frame, args, lambda kinds: kind or kinds[0], entry)

    return handle


def _clip(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    ends = {"min": "a_min", "max": "a_max"}
    given = arguments(
        frame, ("a", "a_min", "a_max"), args, {ends.get(name, name): one for name, one in named.items()}
    )
    value = given["a"]
    for name, extreme in (("a_min", "maximum"), ("a_max", "minimum")):
        if given.get(name, NONE).type != NONE.type:
            value = _extreme(extreme)(frame, [value, given[name]], {})
    if value is given["a"]:
        raise frame.not_closed("np.clip without ends")
    return value


def _cast(kind: str) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        (value,) = args
        if is_number(value):
            return numpy_number(numbers.cast(frame, number_leaf(value), kind))
        return as_array(frame, value, kind, copy=True)

    return handle


def _logical(name: str) -> Callable[..., Value]:
    """`np.logical_and` and the like: whether entries are not 0."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            return of_entries(frame, name, *(as_kind(leaf, "b") for leaf in leaves))

        return several(frame, args, lambda _: "b", entry)

    return handle


def _square(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    return _entrywise("mul")(frame, [value, value], named)


def _nan_to_num(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    largest = Const(float(np.finfo(float).max), "f")

    def entry(frame: Frame, leaves: list[Expr]) -> Expr:
        leaf = leaves[0]
        if leaf.kind != "f":
            return leaf
        leaf = frame.atom(leaf)
        end = Op("select", (Op("gt", (leaf, hir.ZEROS["f"]), "b"), largest, Op("neg", (largest,), "f")), "f")
        finite = Op("select", (Op("isinf", (leaf,), "b"), end, leaf), "f")
        return Op("select", (Op("isnan", (leaf,), "b"), hir.ZEROS["f"], finite), "f")

    return several(frame, [arguments(frame, ("x",), args, named)["x"]], lambda kinds: kinds[0], entry)


FUNCTIONS: dict[Any, Handler] = {
    **{function: _function(name) for function, name in numbers.ELEMENTWISE.items()},
    np.nan_to_num: _nan_to_num, np.maximum: _extreme("maximum"), np.minimum: _extreme("minimum"),
    np.clip: _clip, np.float64: _cast("f"), np.int64: _cast("i"), np.abs: _entrywise("abs"),
    np.absolute: _entrywise("abs"), np.isnan: _entrywise("isnan", "b"),
    np.isfinite: _entrywise("isfinite", "b"), np.isinf: _entrywise("isinf", "b"),
    np.sign: _entrywise("sign"), np.add: _entrywise("add"), np.subtract: _entrywise("sub"),
    np.multiply: _entrywise("mul"), np.divide: _entrywise("truediv"), np.power: _entrywise("pow"),
    np.negative: _entrywise("neg"), np.logical_not: _entrywise("not", "b"),
    np.logical_and: _logical("bitand"), np.logical_or: _logical("bitor"),
    np.logical_xor: _logical("bitxor"), np.mod: _entrywise("mod"), np.square: _square,
    np.floor_divide: _entrywise("floordiv"), np.bitwise_and: _entrywise("bitand"),
    np.bitwise_or: _entrywise("bitor"), np.bitwise_xor: _entrywise("bitxor"),
    np.left_shift: _entrywise("lshift"), np.right_shift: _entrywise("rshift"),
    np.equal: _entrywise("eq", "b"), np.not_equal: _entrywise("ne", "b"), np.less: _entrywise("lt", "b"),
    np.less_equal: _entrywise("le", "b"), np.greater: _entrywise("gt", "b"),
    np.greater_equal: _entrywise("ge", "b"),
    np.isclose: scalar_calls.are_close, np.round: scalar_calls.numpys_round,
    np.around: scalar_calls.numpys_round, np.rint: scalar_calls.rint,
    np.radians: scalar_calls.all_times(math.pi / 180.0),
    np.deg2rad: scalar_calls.all_times(math.pi / 180.0),
    np.degrees: scalar_calls.all_times(180.0 / math.pi),
    np.rad2deg: scalar_calls.all_times(180.0 / math.pi),
}  # fmt: skip
