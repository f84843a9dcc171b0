"""NumPy's functions that give the entries of an array another shape or order."""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.compiler.front import library_joins
from gendsl.compiler.front.array_arguments import ONE, arguments, attribute, shape_count
from gendsl.compiler.front.array_axes import axes_of, axis_of, changed, flipped, permuted
from gendsl.compiler.front.arrays import as_array, load, reshaped, shape_of, size_of, strides_of, times, view
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import EITHER, Array, Number, Text, may_be_array
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_known,
    is_never,
    is_number,
    items_of,
    known,
    make_tuple,
    number_leaf,
    object_of,
)


def reshape(frame: Frame, value: Value, args: list[Value]) -> Value:
    """An array with the same entries in another shape: lengths, or one value of several."""
    parts = items_of(args[0]) if len(args) == 1 and not is_number(args[0]) else args
    lengths = [number_leaf(part, "i") for part in parts]
    unknown = [i for i, n in enumerate(lengths) if n == Const(-1, "i")]
    if len(unknown) == 1:
        rest: Expr = ONE
        for i, n in enumerate(lengths):
            if i not in unknown:
                rest = times(frame, rest, n)
        lengths[unknown[0]] = frame.op("floordiv", (size_of(frame, value), rest), "i")
    return reshaped(frame, value, lengths)


def raveled(frame: Frame, value: Value) -> Value:
    """The entries of an array as a vector."""
    assert isinstance(value.type, Array)
    return reshaped(frame, value, [size_of(frame, value)], raveled=True)


def _transpose(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    every = [args[0], make_tuple(args[1:])] if len(args) > 2 else args
    given = arguments(frame, ("a", "axes"), every, named)
    value = as_array(frame, given["a"])
    if is_never(value):
        return NOTHING
    axes = given.get("axes", NONE)
    if axes.type == NONE.type:
        return attribute(frame, value, "T")
    order = [object_of(one) if is_known(one) else None for one in items_of(axes)]
    rank = shape_count(value)
    if any(type(one) is not int or not -rank <= one < rank for one in order):
        raise frame.not_closed("np.transpose with these axes")
    found = [one % rank for one in order]  # type: ignore[operator]
    if sorted(found) != list(range(rank)):
        raise frame.not_closed("np.transpose with these axes")
    return permuted(value, found)


def _roll(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "shift", "axis"), args, named)
    if not is_number(given["shift"]):
        raise frame.not_closed("np.roll with these arguments")
    value, axis = as_array(frame, given["a"], what="a"), given.get("axis", NONE)
    if is_never(value):
        return NOTHING
    found = changed(frame, library_joins.roll, value, axis, given["shift"])
    if is_known(axis) and object_of(axis) is None and getattr(value.type, "rank", 1) > 1:
        return reshaped(frame, found, shape_of(value))
    return found


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


def without_axis(frame: Frame, value: Value, axis: int) -> Value:
    """An array without an axis of one entry."""
    shape, strides = shape_of(value), strides_of(value)
    frame.fail_if(Op("ne", (shape[axis], Const(1, "i")), "b"), "an axis of several entries")
    del shape[axis], strides[axis]
    return view(value, value.leaves[1], shape, strides) if shape else load(frame, value, value.leaves[1])


def squeezed(frame: Frame, value: Value) -> Value:
    """`np.squeeze(a)`: without the axes of one entry that are known; others have more, or it fails."""
    assert isinstance(value.type, Array)
    one, kept = Const(1, "i"), []
    for axis, n in enumerate(shape_of(value)):
        if n != one:
            frame.fail_if(Op("eq", (n, one), "b"), "an axis that may have one entry")
            kept.append(axis)
    if not kept:
        raise frame.not_closed("np.squeeze of one entry")
    shape, strides = shape_of(value), strides_of(value)
    return view(value, value.leaves[1], [shape[i] for i in kept], [strides[i] for i in kept])


def _expand_dims(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    shape, strides = shape_of(value), strides_of(value)
    where = object_of(given["axis"]) if is_known(given["axis"]) else None
    if type(where) is not int or not -len(shape) - 1 <= where <= len(shape):
        raise frame.not_closed("np.expand_dims along this axis")
    shape.insert(where % (len(shape) + 1), ONE)
    strides.insert(where % (len(strides) + 1), Const(0, "i"))
    return view(value, value.leaves[1], shape, strides)


def _at_least(rank: int) -> Handler:
    """`np.atleast_1d` and `np.atleast_2d`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if len(args) != 1 or named:
            raise frame.not_closed("np.atleast_1d of several arrays")
        value = as_array(frame, make_tuple([args[0]]) if is_number(args[0]) else args[0], what="at least")
        if is_never(value):
            return NOTHING
        shape, strides = shape_of(value), strides_of(value)
        missing = max(0, rank - len(shape))
        one: list[Expr] = [ONE] * missing
        none: list[Expr] = [Const(0, "i")] * missing
        return view(value, value.leaves[1], one + shape, none + strides)

    return handle


def _squeeze(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    where = axes_of(frame, value, given.get("axis", NONE))
    if where is None:
        return squeezed(frame, value)
    for axis in reversed(where):
        value = without_axis(frame, value, axis)
    return value


def _swapaxes(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis1", "axis2"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    i, j = (axis_of(frame, value, given[name]) for name in ("axis1", "axis2"))
    order = list(range(len(shape_of(value))))
    order[i], order[j] = order[j], order[i]
    return permuted(value, order)


def _moveaxis(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "source", "destination"), args, named)
    value = as_array(frame, given["a"], what="a")
    if is_never(value):
        return NOTHING
    i, j = (axis_of(frame, value, given[name]) for name in ("source", "destination"))
    order = [axis for axis in range(len(shape_of(value))) if axis != i]
    order.insert(j, i)
    return permuted(value, order)


def _reshape(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "shape"), args, named)
    value = as_array(frame, given["a"], what="a")
    return NOTHING if is_never(value) else reshape(frame, value, [given["shape"]])


def _ravel(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value = as_array(frame, arguments(frame, ("a",), args, named)["a"], what="a")
    return NOTHING if is_never(value) else raveled(frame, value)


def _has(name: str, of_a_number: Any) -> Handler:
    """`np.shape` and the like."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        value = arguments(frame, ("a",), args, named)["a"]
        if is_number(value):
            return known(of_a_number)
        made = as_array(frame, value, what=name)
        return made if is_never(made) else attribute(frame, made, name)

    return handle


def _isscalar(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value = arguments(frame, ("element",), args, named)["element"]
    if isinstance(value.type, Number) and value.type.numpy == EITHER:
        raise frame.not_closed("np.isscalar of what may be an array without axes")
    if is_known(value):
        return known(bool(np.isscalar(object_of(value))))
    is_text = isinstance(value.type, Text)
    return known(is_text or (is_number(value) and not may_be_array(value.type)))


FUNCTIONS: dict[Any, Handler] = {
    np.shape: _has("shape", ()), np.ndim: _has("ndim", 0), np.size: _has("size", 1), np.isscalar: _isscalar,
    np.roll: _roll, np.flip: _flip(), np.flipud: _flip(0), np.fliplr: _flip(1),
    np.expand_dims: _expand_dims, np.atleast_1d: _at_least(1), np.atleast_2d: _at_least(2),
    np.squeeze: _squeeze, np.swapaxes: _swapaxes, np.moveaxis: _moveaxis, np.reshape: _reshape,
    np.ravel: _ravel, np.transpose: _transpose,
}  # fmt: skip
