"""More of NumPy's functions, by what they mean; see `array_calls`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import library, library_more
from gendsl.compiler.front.array_arguments import arguments, attribute, several, shape_argument
from gendsl.compiler.front.array_axes import axes_of, axis_of, changed, flipped, reduced
from gendsl.compiler.front.array_places import Place, at_place
from gendsl.compiler.front.arrays import (
    as_array,
    binary,
    fitting,
    flat,
    library_call,
    load,
    reshaped,
    same_shape,
    shape_of,
    strides_of,
    view,
)
from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Array
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_known,
    is_number,
    known,
    make_tuple,
    number,
    object_of,
)


def _vector(frame: Frame, value: Value, what: str, kind: str | None = None) -> Value:
    """An argument that is an array of one axis."""
    made = as_array(frame, value, kind, what=what)
    if not isinstance(made.type, Array) or made.type.rank != 1:
        raise frame.not_closed(f"the argument {what} of a NumPy function, of several axes")
    return made


def _of_vectors(function: Any, *names: str, kind: str | None = None) -> Handler:
    """A function of the library whose arguments are all vectors."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, names, args, named)
        if len(given) != len(names):
            raise frame.not_closed("a NumPy function with these arguments")
        vectors = [_vector(frame, given[name], name, kind) for name in names]
        if any(getattr(one.type, "kind", "f") == "b" for one in vectors):
            raise frame.not_closed("a NumPy function of truth values")
        return library_call(frame, function, vectors)

    return handle


def _roll(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "shift", "axis"), args, named)
    if not is_number(given["shift"]):
        raise frame.not_closed("np.roll with these arguments")
    value, axis = as_array(frame, given["a"], what="a"), given.get("axis", NONE)
    if is_never(value):
        return NOTHING
    found = changed(frame, library_more.roll, value, axis, given["shift"])
    if is_known(axis) and object_of(axis) is None and getattr(value.type, "rank", 1) > 1:
        return reshaped(frame, found, shape_of(value))
    return found


def _insert(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arr", "obj", "values"), args, named)
    if len(given) != 3 or not is_number(given["obj"]) or not is_number(given["values"]):
        raise frame.not_closed("np.insert with these arguments")
    value = _vector(frame, given["arr"], "arr")
    new = as_array(frame, make_tuple([given["values"]]), what="values")
    kinds = [one.type.kind for one in (new, value)]  # type: ignore[attr-defined]
    if "bif".index(kinds[0]) > "bif".index(kinds[1]):
        raise frame.not_closed("np.insert of a number that is no entry of this kind")
    return library_call(frame, library_more.insert, [value, given["obj"], as_array(frame, new, kinds[1])])


def _flip(*axes: int) -> Handler:
    """`np.flip`, or along fixed axes."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("m",) if axes else ("m", "axis"), args, named)
        value = as_array(frame, given["m"], what="m")
        if is_never(value):
            return NOTHING
        if any(axis >= len(shape_of(value)) for axis in axes):
            raise frame.not_closed("an axis that the array does not have")
        return flipped(frame, value, list(axes) or axes_of(frame, value, given.get("axis", NONE)))

    return handle


def _average(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis", "weights"), args, named)
    axis = given.get("axis", NONE)
    if given.get("weights", NONE).type == NONE.type:
        return frame.language.call_numpy(frame, np.mean, [given["a"], axis], {}) or NONE
    value, weights = (as_array(frame, given[name], "f", what=name) for name in ("a", "weights"))
    if is_never(value) or is_never(weights):
        return NOTHING
    rank = value.type.rank  # type: ignore[attr-defined]
    if is_known(axis) and object_of(axis) is None:
        same_shape(frame, shape_of(value), shape_of(weights))
        return library_call(frame, library_more.average, [flat(frame, value), flat(frame, weights)])
    if weights.type.rank != 1 and rank != 1:  # type: ignore[attr-defined]
        raise frame.not_closed("np.average along an axis with weights of several")
    return reduced(frame, library_more.average, value, known(axis_of(frame, value, axis)), weights)


def _trapezoid(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("y", "x", "dx"), args, named)
    y = _vector(frame, given["y"], "y", "f")
    if given.get("x", NONE).type != NONE.type:
        return library_call(frame, library_more.trapezoid, [y, _vector(frame, given["x"], "x", "f")])
    return library_call(frame, library_more.trapezoid_steps, [y, given.get("dx", known(1.0))])


def _convolve(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "v", "mode"), args, named)
    vectors = [_vector(frame, given[name], name) for name in ("a", "v")]
    mode = given.get("mode", known("full"))
    if not any(getattr(one.type, "kind", "f") == "f" for one in vectors):
        raise frame.not_closed("np.convolve of integers")
    modes = {
        "full": library_more.convolve, "same": library_more.convolve_same, "valid":
        library_more.convolve_valid,
    }  # fmt: skip
    if not is_known(mode) or object_of(mode) not in modes:
        raise frame.not_closed("np.convolve in this mode")
    return library_call(frame, modes[object_of(mode)], vectors)


def _take(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "indices", "axis"), args, named)
    value, axis = as_array(frame, given["a"], what="a"), given.get("axis", NONE)
    if is_never(value):
        return NOTHING
    where = axes_of(frame, value, axis)
    if where is None:
        value, where = flat(frame, value), [0]
    single = is_number(given["indices"])
    indices = as_array(frame, make_tuple([given["indices"]]) if single else given["indices"], what="indices")
    if getattr(indices.type, "kind", "f") != "i" or len(where) != 1:
        raise frame.not_closed("np.take with these indices")
    found = at_place(frame, value, Place("axis", value, (where[0], indices)))
    return without_axis(frame, found, where[0]) if single else found


def without_axis(frame: Frame, value: Value, axis: int) -> Value:
    """An array without an axis of one entry."""
    shape, strides = shape_of(value), strides_of(value)
    frame.fail_if(Op("ne", (shape[axis], Const(1, "i")), "b"), "an axis of several entries")
    del shape[axis], strides[axis]
    return view(value, value.leaves[1], shape, strides) if shape else load(frame, value, value.leaves[1])


def _broadcast_to(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("array", "shape"), args, named)
    value = given["array"]
    if is_number(value):
        value = make_tuple([value])
    found = fitting(frame, as_array(frame, value, what="broadcast"), shape_argument(frame, given["shape"]))
    assert isinstance(found.type, Array)
    return Value(Array(found.type.kind, found.type.rank, True), found.leaves)


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


def _stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.stack(arrays, axis)`: of rows along the first axis, seen along another."""
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
    value = as_array(frame, arguments(frame, ("a",), args, named)["a"], what="a")
    return positions(frame, value)


def positions(frame: Frame, value: Value) -> Value:
    """The indices of the entries that are not 0, for each axis."""
    if is_never(value):
        return NOTHING
    shape = shape_of(value)
    found = library_call(frame, library.positions, [flat(frame, value)])
    result: list[Value] = []
    for axis in reversed(range(len(shape))):
        frame.unrolled += (("axis of positions", axis),)
        if axis:
            n = number(shape[axis])
            result.insert(0, binary(frame, "mod", found, n))
            found = binary(frame, "floordiv", found, n)
        else:
            result.insert(0, found)
        frame.unrolled = frame.unrolled[:-1]
    return make_tuple(result)


def _flatnonzero(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value = as_array(frame, arguments(frame, ("a",), args, named)["a"], what="a")
    return NOTHING if is_never(value) else library_call(frame, library.positions, [flat(frame, value)])


def _dist(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`math.dist`, which gives one of Python's floats."""
    if len(args) != 2 or named:
        raise frame.not_closed("math.dist with these arguments")
    return library_call(frame, library_more.dist, args)


def _polyval(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("p", "x"), args, named)
    x = given["x"]
    if not is_number(x):
        x = as_array(frame, x, "f", what="x")
    return library_call(frame, library_more.polyval, [_vector(frame, given["p"], "p", "f"), x])


def _reduced(function: Any) -> Handler:
    """`np.add.reduce(a)` and the like: along the first axis, if none is named."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("array", "axis"), args, named)
        return (
            frame.language.call_numpy(frame, function, [given["array"], given.get("axis", known(0))], {})
            or NONE
        )

    return handle


def _log_sum(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.logaddexp.reduce`."""
    given = arguments(frame, ("array", "axis"), args, named)
    value = as_array(frame, given["array"], "f", what="array")
    return reduced(frame, library_more.log_sum, value, given.get("axis", known(0)))


def _accumulated(text: Any, *, sums: bool = False) -> Handler:
    """`np.maximum.accumulate(a)` and the like: along the first axis, if none is named."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("array", "axis"), args, named)
        value = as_array(frame, given["array"], what="array")
        if getattr(value.type, "kind", "f") == "b":
            raise frame.not_closed("a NumPy function of truth values")
        return changed(frame, text, value, given.get("axis", known(0)))

    return handle


def _outer_product(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.outer`: of the entries of arrays of any shape."""
    given = arguments(frame, ("a", "b"), args, named)
    arrays = [
        as_array(frame, make_tuple([given[name]]) if is_number(given[name]) else given[name], what=name)
        for name in ("a", "b")
    ]
    if any(map(is_never, arrays)):
        return NOTHING
    return library_call(frame, library.outer, [flat(frame, one) for one in arrays])


def _vdot(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.vdot`: of all entries of arrays of any shape."""
    given = arguments(frame, ("a", "b"), args, named)
    arrays = [as_array(frame, given[name], what=name) for name in ("a", "b")]
    if any(map(is_never, arrays)):
        return NOTHING
    if all(getattr(one.type, "kind", "f") == "b" for one in arrays):
        raise frame.not_closed("np.vdot of truth values")
    return library_call(frame, library.matmul, [flat(frame, one) for one in arrays])


def _inner(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.inner`: the products of the rows of the one with those of the other."""
    given = arguments(frame, ("a", "b"), args, named)
    b = as_array(frame, given["b"], what="b")
    if is_never(b):
        return NOTHING
    return frame.language.call_numpy(frame, np.matmul, [given["a"], attribute(frame, b, "T")], {}) or NONE


def _linspace(text: Any) -> Handler:
    """`np.linspace` and the like, but for their step."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("start", "stop", "num", "endpoint"), args, named)
        ends = [given["start"], given["stop"]]
        if not all(map(is_number, ends)):
            raise frame.not_closed("numbers between arrays")
        more = [given.get("num", known(50)), given.get("endpoint", known(True))]
        return library_call(frame, text, [*ends, *more])

    return handle


def _outer(name: str) -> Handler:
    """`np.add.outer(a, b)` and the like, of vectors."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
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
    np.roll: _roll, np.insert: _insert, np.flip: _flip(), np.flipud: _flip(0), np.fliplr: _flip(1),
    np.outer: _outer_product, np.vdot: _vdot, np.inner: _inner,
    np.average: _average, np.convolve: _convolve, np.take: _take,
    np.flatnonzero: _flatnonzero,
    np.linspace: _linspace(library.linspace), np.geomspace: _linspace(library_more.geomspace),
    np.logspace: _linspace(library_more.logspace), np.broadcast_to: _broadcast_to, np.nan_to_num: _nan_to_num,
    np.stack: _stack, np.nonzero: _nonzero, np.polyval: _polyval, math.dist: _dist, **_trapezoids(),
    np.add.reduce: _reduced(np.sum), np.multiply.reduce: _reduced(np.prod), np.maximum.reduce:
    _reduced(np.max),
    np.minimum.reduce: _reduced(np.min), np.logical_and.reduce: _reduced(np.all), np.logical_or.reduce:
    _reduced(np.any),
    np.add.accumulate: _accumulated(library.cumsum), np.multiply.accumulate: _accumulated(library.cumprod),
    np.maximum.accumulate: _accumulated(library_more.running_max),
    np.minimum.accumulate: _accumulated(library_more.running_min), np.logaddexp.reduce: _log_sum,
    np.add.outer: _outer("add"), np.subtract.outer: _outer("sub"), np.multiply.outer: _outer("mul"),
    np.divide.outer: _outer("truediv"), np.power.outer: _outer("pow"), np.equal.outer: _outer("eq"),
    np.not_equal.outer: _outer("ne"), np.less.outer: _outer("lt"), np.less_equal.outer: _outer("le"),
    np.greater.outer: _outer("gt"), np.greater_equal.outer: _outer("ge"),
}  # fmt: skip
