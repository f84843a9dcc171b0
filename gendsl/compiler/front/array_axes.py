"""Functions of NumPy along axes: each takes the vectors that lie along an axis, one after another.

`library_sums` and its like have the functions of one vector. Here the other axes are gone through.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.arrays import (
    as_array,
    binary,
    copy_into,
    filled,
    flat,
    library_call,
    over,
    plus,
    position,
    reshaped,
    same_shape,
    save,
    shape_of,
    strides_of,
    times,
    view,
)
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Array
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_known,
    is_never,
    is_number,
    make_tuple,
    number_leaf,
    object_of,
)

_ZERO, _ONE = Const(0, "i"), Const(1, "i")
Text = Callable[..., Any]
"""A function of a vector, in plain Python."""


def axes_of(frame: Frame, value: Value, axis: Value) -> list[int] | None:
    """The axes that an argument names, from the first on; None for all of them."""
    assert isinstance(value.type, Array)
    rank = value.type.rank
    if not is_known(axis):
        raise frame.not_closed("an axis that is not a constant")
    given = object_of(axis)
    if given is None:
        return None
    every = given if isinstance(given, tuple) else (given,)
    if not every or any(type(one) is not int or not -rank <= one < rank for one in every):
        raise frame.not_closed("an axis that the array does not have")
    found = [one % rank for one in every]
    if len(set(found)) < len(found):
        raise frame.not_closed("an axis that is named twice")
    return sorted(found)


def axis_of(frame: Frame, value: Value, axis: Value) -> int:
    """The one axis that an argument names."""
    found = axes_of(frame, value, axis)
    if found is None or len(found) != 1:
        raise frame.not_closed("a NumPy function along this axis")
    return found[0]


def permuted(value: Value, order: list[int]) -> Value:
    """A view of an array with its axes in another order."""
    shape, strides = shape_of(value), strides_of(value)
    return view(value, value.leaves[1], [shape[i] for i in order], [strides[i] for i in order])


def with_last(frame: Frame, value: Value, axes: list[int]) -> Value:
    """An array with some of its axes as one, the last."""
    assert isinstance(value.type, Array)
    others = [axis for axis in range(value.type.rank) if axis not in axes]
    moved = permuted(value, [*others, *axes])
    if len(axes) == 1:
        return moved
    shape = shape_of(moved)
    size: Expr = _ONE
    for n in shape[len(others) :]:
        size = times(frame, size, n)
    return reshaped(frame, moved, [*shape[: len(others)], size], copy=True)


def with_axes(frame: Frame, value: Value, axes: list[int] | None, rank: int) -> Value:
    """What is left of an array of some axes, with those that were gone through, each with one entry."""
    if is_number(value):
        return reshaped(frame, as_array(frame, make_tuple([value]), what="kept"), [_ONE] * rank)
    shape, strides = shape_of(value), strides_of(value)
    for axis in axes or []:
        shape.insert(axis, _ONE)
        strides.insert(axis, _ZERO)
    return view(value, value.leaves[1], shape, strides)


def _vector(frame: Frame, value: Value, at: list[Expr]) -> Value:
    """The vector along the last axis, at indices of the others."""
    offset = position_of_first(frame, value, at)
    return view(value, offset, shape_of(value)[-1:], strides_of(value)[-1:])


def position_of_first(frame: Frame, value: Value, at: list[Expr]) -> Expr:
    """The place of the first entry of that vector."""
    place = value.leaves[1]
    for index, stride in zip(at, strides_of(value), strict=False):
        place = plus(frame, place, Op("mul", (index, stride), "i"))
    return frame.atom(place, "at")


def reduced(
    frame: Frame,
    text: Text,
    value: Value,
    axis: Value = NONE,
    *more: Value,
    kind: str = "f",
    keepdims: bool = False,
    least: int = 0,
) -> Value:
    """A number for each vector along an axis, or along several; of all entries without one.

    Args:
        more: what the function of a vector takes besides it.
        kind: of the numbers.
        least: how many entries a vector has at least, or NumPy raises.
    """
    if is_never(value):
        return NOTHING
    assert isinstance(value.type, Array)
    rank, axes = value.type.rank, axes_of(frame, value, axis)
    if axes is None or len(axes) == rank:
        found = library_call(frame, text, [flat(frame, value), *more])
    else:
        moved = with_last(frame, value, axes)
        *shape, n = shape_of(moved)
        if least:
            frame.fail_if(Op("lt", (n, Const(least, "i")), "b"), "a reduction of no entries")
        made = found = filled(frame, kind, shape, hir.ZEROS[kind], ("reduced", text.__name__))

        def one(at: list[Expr]) -> None:
            result = library_call(frame, text, [_vector(frame, moved, at), *more])
            if not is_never(result):
                save(frame, made, position(frame, made, at), number_leaf(result, kind))

        over(frame, shape, one, ("reduced", text.__name__))
    return with_axes(frame, found, axes, rank) if keepdims and not is_never(found) else found


def changed(
    frame: Frame, text: Text, value: Value, axis: Value, *more: Value, kind: str | None = None
) -> Value:
    """An array of the same shape with what a function makes of each vector along an axis; without one, of all
    entries as a vector.
    """
    if is_never(value):
        return NOTHING
    assert isinstance(value.type, Array)
    if axes_of(frame, value, axis) is None or value.type.rank == 1:
        return library_call(frame, text, [flat(frame, value), *more])
    where = axis_of(frame, value, axis)
    rank, what = value.type.rank, ("changed", text.__name__)
    source = with_last(frame, value, [where])
    kind = kind or value.type.kind
    made = filled(frame, kind, shape_of(value), hir.ZEROS[kind], what)
    target = with_last(frame, made, [where])

    def one(at: list[Expr]) -> None:
        result = library_call(frame, text, [_vector(frame, source, at), *more])
        if not is_never(result):
            copy_into(frame, _vector(frame, target, at), result, what)

    over(frame, [shape_of(value)[i] for i in range(rank) if i != where], one, what)
    return made


def part(frame: Frame, value: Value, axis: int, start: Expr, count: Expr, step: int = 1) -> Value:
    """A view of `count` entries along an axis, which are there, from one on."""
    shape, strides = shape_of(value), strides_of(value)
    offset = plus(frame, value.leaves[1], frame.atom(Op("mul", (start, strides[axis]), "i"), "at"))
    shape[axis] = count
    if step != 1:
        strides[axis] = frame.atom(Op("mul", (strides[axis], Const(step, "i")), "i"), "stride")
    return view(value, frame.atom(offset, "at"), shape, strides)


def flipped(frame: Frame, value: Value, axes: list[int] | None) -> Value:
    """A view of an array with some axes the other way round."""
    assert isinstance(value.type, Array)
    for axis in range(value.type.rank) if axes is None else axes:
        n = shape_of(value)[axis]
        value = part(frame, value, axis, frame.atom(Op("sub", (n, _ONE), "i"), "last"), n, -1)
    return value


def joined(frame: Frame, parts: list[Value], axis: int = 0, what: Any = None) -> Value:
    """Arrays behind one another along an axis."""
    if any(map(is_never, parts)):
        return NOTHING
    kind = max((one.type.kind for one in parts), key="bif".index)  # type: ignore[attr-defined]
    shape = shape_of(parts[0])
    lengths = [shape_of(one)[axis] for one in parts]
    for one in parts[1:]:
        if len(shape_of(one)) != len(shape):
            raise frame.not_closed("arrays of different numbers of axes, one behind another")
        others = [shape_of(each)[:axis] + shape_of(each)[axis + 1 :] for each in (parts[0], one)]
        same_shape(frame, *others)
    total: Expr = _ZERO
    for n in lengths:
        total = frame.atom(plus(frame, total, n), "n")
    made = filled(frame, kind, [*shape[:axis], total, *shape[axis + 1 :]], hir.ZEROS[kind], ("joined", what))
    start: Expr = _ZERO
    for i, (one, n) in enumerate(zip(parts, lengths, strict=True)):
        copy_into(frame, part(frame, made, axis, start, n), one, ("joined", what, i))
        start = frame.atom(plus(frame, start, n), "start")
    return made


def differences(frame: Frame, value: Value, axis: int, what: Any = None) -> Value:
    """The differences of entries that follow one another along an axis."""
    n = shape_of(value)[axis]
    left = Op("select", (Op("gt", (n, _ZERO), "b"), Op("sub", (n, _ONE), "i"), _ZERO), "i")
    count = frame.atom(left, "n")
    first = part(frame, value, axis, _ZERO, count)
    second = part(frame, value, axis, _ONE, count)
    return binary(frame, "sub", second, first)
