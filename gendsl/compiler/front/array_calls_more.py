"""More of NumPy's functions, by what they mean; see `array_calls`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import library, library_more
from gendsl.compiler.front.array_places import Place, at_place
from gendsl.compiler.front.arrays import as_array, fitting, flat, library_call, shape_of, strides_of, view
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.values import NONE, Value, is_known, is_number, known, make_tuple, object_of
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.types import Array

Handler = Callable[[Frame, list[Value], dict[str, Value]], Value]


def _vector(frame: Frame, value: Value, what: str, kind: str | None = None) -> Value:
    """An argument that is an array of one axis."""
    made = as_array(frame, value, kind, what=what)
    if not isinstance(made.type, Array) or made.type.rank != 1:
        raise frame.not_closed(f"the argument {what} of a NumPy function, of several axes")
    return made


def _of_vectors(function: Any, *names: str, kind: str | None = None) -> Handler:
    """A function of the library whose arguments are all vectors."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        from gendsl.compiler.front.array_calls import arguments

        given = arguments(frame, names, args, named)
        if len(given) != len(names):
            raise frame.not_closed("a NumPy function with these arguments")
        vectors = [_vector(frame, given[name], name, kind) for name in names]
        if any(getattr(one.type, "kind", "f") == "b" for one in vectors):
            raise frame.not_closed("a NumPy function of truth values")
        return library_call(frame, function, vectors)

    return handle


def _roll(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    given = arguments(frame, ("a", "shift"), args, named)
    if len(given) != 2 or not is_number(given["shift"]):
        raise frame.not_closed("np.roll with these arguments")
    return library_call(frame, library_more.roll, [_vector(frame, given["a"], "a"), given["shift"]])


def _insert(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    given = arguments(frame, ("arr", "obj", "values"), args, named)
    if len(given) != 3 or not is_number(given["obj"]) or not is_number(given["values"]):
        raise frame.not_closed("np.insert with these arguments")
    value = _vector(frame, given["arr"], "arr")
    new = as_array(frame, make_tuple([given["values"]]), what="values")
    kinds = [one.type.kind for one in (new, value)]  # type: ignore[attr-defined]
    if "bif".index(kinds[0]) > "bif".index(kinds[1]):
        raise frame.not_closed("np.insert of a number that is no entry of this kind")
    return library_call(frame, library_more.insert, [value, given["obj"], as_array(frame, new, kinds[1])])


def _flip(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    value = _vector(frame, arguments(frame, ("m",), args, named)["m"], "m")
    (n,), (stride,) = shape_of(value), strides_of(value)
    last = Op("mul", (Op("sub", (n, Const(1, "i")), "i"), stride), "i")
    start = frame.atom(Op("add", (value.leaves[1], last), "i"), "at")
    return view(value, start, [n], [frame.atom(Op("neg", (stride,), "i"), "stride")])


def _average(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments, call

    given = arguments(frame, ("a", "axis", "weights"), args, named)
    if given.get("axis", NONE).type != NONE.type:
        raise frame.not_closed("np.average along an axis")
    if given.get("weights", NONE).type == NONE.type:
        return call(frame, np.mean, [given["a"]], {}) or NONE
    vectors = [_vector(frame, given[name], name, "f") for name in ("a", "weights")]
    return library_call(frame, library_more.average, vectors)


def _trapezoid(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    given = arguments(frame, ("y", "x", "dx"), args, named)
    y = _vector(frame, given["y"], "y", "f")
    if given.get("x", NONE).type != NONE.type:
        return library_call(frame, library_more.trapezoid, [y, _vector(frame, given["x"], "x", "f")])
    return library_call(frame, library_more.trapezoid_steps, [y, given.get("dx", known(1.0))])


def _convolve(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    given = arguments(frame, ("a", "v"), args, named)
    vectors = [_vector(frame, given[name], name) for name in ("a", "v")]
    if not any(getattr(one.type, "kind", "f") == "f" for one in vectors):
        raise frame.not_closed("np.convolve of integers")
    return library_call(frame, library_more.convolve, vectors)


def _count_nonzero(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    value = as_array(frame, arguments(frame, ("a",), args, named)["a"], what="counted")
    return library_call(frame, library_more.count_nonzero, [flat(frame, value)])


def _take(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    given = arguments(frame, ("a", "indices"), args, named)
    value = flat(frame, as_array(frame, given["a"], what="a"))
    if is_number(given["indices"]):
        raise frame.not_closed("np.take of one index")
    indices = as_array(frame, given["indices"], what="indices")
    if getattr(indices.type, "kind", "f") != "i":
        raise frame.not_closed("np.take with indices that are no integers")
    return at_place(frame, value, Place("axis", value, (0, indices)))


def _broadcast_to(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments, shape_argument
    from gendsl.compiler.front.values import make_tuple

    given = arguments(frame, ("array", "shape"), args, named)
    value = given["array"]
    if is_number(value):
        value = make_tuple([value])
    found = fitting(frame, as_array(frame, value, what="broadcast"), shape_argument(frame, given["shape"]))
    assert isinstance(found.type, Array)
    return Value(Array(found.type.kind, found.type.rank, True), found.leaves)


def _nan_to_num(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments, several

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


def _stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.stack(arrays, axis)`: of rows along the first axis, seen along another."""
    from gendsl.compiler.front.array_calls import arguments

    given = arguments(frame, ("arrays", "axis"), args, named)
    axis = given.get("axis", known(0))
    made = as_array(frame, given["arrays"], copy=True, what="stack")
    if not isinstance(made.type, Array):
        return made
    rank = made.type.rank
    if not is_known(axis) or not isinstance(object_of(axis), int) or not -rank <= object_of(axis) < rank:
        raise frame.not_closed("np.stack along this axis")
    order = list(range(1, rank))
    order.insert(object_of(axis) % rank, 0)
    shape, strides = shape_of(made), strides_of(made)
    return view(made, made.leaves[1], [shape[i] for i in order], [strides[i] for i in order])


def _nonzero(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments
    from gendsl.compiler.front.values import make_tuple

    value = _vector(frame, arguments(frame, ("a",), args, named)["a"], "a")
    return make_tuple([library_call(frame, library.positions, [value])])


def _dist(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`math.dist`, which gives one of Python's floats."""
    if len(args) != 2 or named:
        raise frame.not_closed("math.dist with these arguments")
    return library_call(frame, library_more.dist, args)


def _polyval(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    from gendsl.compiler.front.array_calls import arguments

    given = arguments(frame, ("p", "x"), args, named)
    x = given["x"]
    if not is_number(x):
        x = as_array(frame, x, "f", what="x")
    return library_call(frame, library_more.polyval, [_vector(frame, given["p"], "p", "f"), x])


def _reduced(function: Any) -> Handler:
    """`np.add.reduce(a)` and the like, of a vector."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        from gendsl.compiler.front.array_calls import arguments, call

        value = _vector(frame, arguments(frame, ("array",), args, named)["array"], "array")
        return call(frame, function, [value], {}) or NONE

    return handle


def _outer(name: str) -> Handler:
    """`np.add.outer(a, b)` and the like, of vectors."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        from gendsl.compiler.front.array_calls import arguments
        from gendsl.compiler.front.arrays import binary

        given = arguments(frame, ("a", "b"), args, named)
        a, b = (_vector(frame, given[one], one) for one in ("a", "b"))
        shape, strides = shape_of(a), strides_of(a)
        column = view(a, a.leaves[1], [shape[0], Const(1, "i")], [strides[0], Const(0, "i")])
        return binary(frame, name, column, b)

    return handle


def _trapezoids() -> dict[Any, Handler]:
    names = [name for name in ("trapezoid", "trapz") if name in np.__dict__]
    return {getattr(np, name): _trapezoid for name in names}


MORE: dict[Any, Handler] = {
    np.roll: _roll, np.insert: _insert, np.flip: _flip,
    np.average: _average, np.convolve: _convolve, np.take: _take,
    np.median: _of_vectors(library_more.median, "a"), np.unique: _of_vectors(library_more.unique, "ar"),
    np.count_nonzero: _count_nonzero, np.broadcast_to: _broadcast_to, np.nan_to_num: _nan_to_num,
    np.stack: _stack, np.nonzero: _nonzero, np.polyval: _polyval, math.dist: _dist, **_trapezoids(),
    np.add.reduce: _reduced(np.sum), np.multiply.reduce: _reduced(np.prod), np.maximum.reduce:
    _reduced(np.max),
    np.minimum.reduce: _reduced(np.min), np.logical_and.reduce: _reduced(np.all), np.logical_or.reduce:
    _reduced(np.any),
    np.add.accumulate: _reduced(np.cumsum), np.multiply.accumulate: _reduced(np.cumprod),
    np.maximum.accumulate: _of_vectors(library_more.running_max, "array"),
    np.minimum.accumulate: _of_vectors(library_more.running_min, "array"),
    np.logaddexp.reduce: _of_vectors(library_more.log_sum, "array", kind="f"),
    np.add.outer: _outer("add"), np.subtract.outer: _outer("sub"), np.multiply.outer: _outer("mul"),
}  # fmt: skip
