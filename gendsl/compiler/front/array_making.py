"""NumPy's functions that make arrays, of a shape, a range or indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler.front import library_making
from gendsl.compiler.front.array_arguments import ONE, arguments, dtype, shape_argument
from gendsl.compiler.front.array_places import Place, put_at
from gendsl.compiler.front.arrays import (
    as_array,
    broadcast,
    filled,
    fitting,
    library_call,
    same_shape,
    shape_of,
    strides_of,
    view,
)
from gendsl.compiler.front.frame import Frame, only
from gendsl.compiler.front.numbers import Handler, cast
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Array
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
    object_of,
    without_axes,
)


def _make(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("shape", "dtype"), args, named)
        kind = dtype(frame, given["dtype"]) if "dtype" in given else "f"
        return filled(frame, kind, shape_argument(frame, given["shape"]), as_kind(Const(fill, "f"), kind))

    return handle


def _full(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("shape", "fill_value", "dtype"), args, named)
    leaf = number_leaf(given["fill_value"])
    kind = dtype(frame, given["dtype"]) if "dtype" in given else leaf.kind
    return filled(frame, kind, shape_argument(frame, given["shape"]), frame.atom(leaf))


def _like(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("a", "dtype"), args, named)
        model = as_array(frame, given["a"], what="like")
        kind = dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
        return filled(frame, kind, shape_of(model), as_kind(Const(fill, "f"), kind))

    return handle


def _full_like(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "fill_value", "dtype"), args, named)
    model = as_array(frame, given["a"], what="like")
    kind = dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
    return filled(frame, kind, shape_of(model), number_leaf(given["fill_value"], kind))


def _diagonal(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """The diagonal of a matrix, as a view that is not to be written to."""
    (value,) = args
    if named or not isinstance(value.type, Array) or value.type.rank != 2:
        raise frame.not_closed("np.diagonal with these arguments")
    rows, columns = shape_of(value)
    strides = strides_of(value)
    count = frame.atom(Op("imin", (rows, columns), "i"))
    step = frame.atom(Op("add", (strides[0], strides[1]), "i"))
    found = view(value, value.leaves[1], [count], [step])
    return Value(Array(value.type.kind, 1, True), found.leaves)


def _array(copy: bool) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("object", "dtype"), args, named)
        kind = dtype(frame, given["dtype"]) if "dtype" in given and given["dtype"].type != NONE.type else None
        value = given["object"]
        if is_number(value):
            leaf = number_leaf(value)
            return without_axes(cast(frame, leaf, kind or leaf.kind))
        return as_array(frame, value, kind, copy=copy)

    return handle


def _arange(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("start", "stop", "step"), args, named)
    if len(given) == 1:
        given = {"start": known(0), "stop": given["start"]}
    step = given.get("step", known(1))
    if any(kind_of(one) == "f" for one in (given["start"], given["stop"], step)):
        return library_call(frame, library_making.arange_floats, [given["start"], given["stop"], step])
    return library_call(frame, library_making.arange, [given["start"], given["stop"], step])


def _eye(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("N", "M", "k", "dtype"), args, named)
    made = library_call(
        frame, library_making.eye, [given["N"], given.get("M", NONE), given.get("k", known(0))]
    )
    return as_array(frame, made, dtype(frame, given["dtype"]), copy=True) if "dtype" in given else made


def _identity(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("n", "dtype"), args, named)
    return _eye(frame, [given.pop("n")], given)


def _diag_indices(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("n",), args, named)
    made = library_call(frame, library_making.arange, [known(0), given["n"], known(1)])
    return make_tuple([made, made])


def _fill_diagonal(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "val"), args, named)
    indices = _diag_indices(frame, [number(shape_of(given["a"])[0])], {})
    put_at(frame, given["a"], Place("points", given["a"], items_of(indices)), given["val"])
    return NONE


def _broadcast_to(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("array", "shape"), args, named)
    value = given["array"]
    if is_number(value):
        value = make_tuple([value])
    found = fitting(frame, as_array(frame, value, what="broadcast"), shape_argument(frame, given["shape"]))
    assert isinstance(found.type, Array)
    return Value(Array(found.type.kind, found.type.rank, True), found.leaves)


def _broadcast_arrays(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    if all(map(is_number, args)):
        return make_tuple([without_axes(number_leaf(one)) for one in args])
    arrays = [make_tuple([one]) if is_number(one) else one for one in args]
    _, views = broadcast(frame, [as_array(frame, one, what=("all", i)) for i, one in enumerate(arrays)])
    return make_tuple([Value(Array(one.type.kind, one.type.rank, True), one.leaves) for one in views])  # type: ignore[attr-defined]


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


def _ix(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.ix_`: indices that broadcast to all combinations."""
    vectors = [as_array(frame, one, what=("ix", i)) for i, one in enumerate(args)]
    if any(map(is_never, vectors)):
        return NOTHING
    if named or any(one.type.rank != 1 or one.type.kind != "i" for one in vectors):  # type: ignore[attr-defined]
        raise frame.not_closed("np.ix_ of these indices")
    return make_tuple([_open_axis(one, i, len(vectors)) for i, one in enumerate(vectors)])


def _open_axis(vector: Value, axis: int, rank: int) -> Value:
    """A vector as an array of several axes, along one of them."""
    shape: list[Expr] = [ONE] * rank
    strides: list[Expr] = [Const(0, "i")] * rank
    (shape[axis],), (strides[axis],) = shape_of(vector), strides_of(vector)
    return view(vector, vector.leaves[1], shape, strides)


def _meshgrid(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named, "indexing")
    indexing = named.get("indexing", known("xy"))
    vectors = [as_array(frame, one, what=("mesh", i)) for i, one in enumerate(args)]
    if any(map(is_never, vectors)):
        return NOTHING
    if not is_known(indexing) or object_of(indexing) not in ("xy", "ij") or len(vectors) < 2:
        raise frame.not_closed("np.meshgrid with these arguments")
    if any(one.type.rank != 1 for one in vectors):  # type: ignore[attr-defined]
        raise frame.not_closed("np.meshgrid of these arrays")
    axes = list(range(len(vectors)))
    if object_of(indexing) == "xy":
        axes[:2] = 1, 0
    shape = [shape_of(vectors[axes.index(axis)])[0] for axis in range(len(vectors))]
    columns = [_open_axis(one, axis, len(vectors)) for one, axis in zip(vectors, axes, strict=True)]
    made = [
        as_array(frame, fitting(frame, one, shape), copy=True, what=("mesh", i))
        for i, one in enumerate(columns)
    ]
    return make_tuple(made)


def _diag_indices_from(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    shape = shape_of(as_array(frame, value, what="a"))
    same_shape(frame, shape[:1], shape[1:2])
    return frame.language.call_numpy(frame, np.diag_indices, [number(shape[0])], {}) or NONE


FUNCTIONS: dict[Any, Handler] = {
    np.linspace: _linspace(library_making.linspace), np.geomspace: _linspace(library_making.geomspace),
    np.logspace: _linspace(library_making.logspace), np.broadcast_to: _broadcast_to,
    np.broadcast_arrays: _broadcast_arrays, np.ix_: _ix,
    np.meshgrid: _meshgrid, np.diag_indices_from: _diag_indices_from, np.zeros: _make(0.0),
    np.ones: _make(1.0), np.empty: _make(0.0), np.full: _full, np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0), np.empty_like: _like(0.0), np.array: _array(True), np.asarray: _array(False),
    np.arange: _arange, np.full_like: _full_like, np.diagonal: _diagonal, np.eye: _eye,
    np.identity: _identity, np.diag_indices: _diag_indices, np.fill_diagonal: _fill_diagonal,
}  # fmt: skip
