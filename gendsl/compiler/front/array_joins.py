"""NumPy's functions that put arrays together, repeat them, or take them apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.compiler.front import library_joins
from gendsl.compiler.front.array_arguments import (
    ONE,
    arguments,
    attribute,
    given_arguments,
    shape_count,
    vector,
    with_axes_before,
)
from gendsl.compiler.front.array_axes import axes_of, axis_of, joined, permuted
from gendsl.compiler.front.array_places import Place, at_place
from gendsl.compiler.front.arrays import (
    as_array,
    filled,
    flat,
    library_call,
    reshaped,
    row,
    shape_of,
    strides_of,
    times,
    view,
)
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir import Const
from gendsl.compiler.hir.types import NEVER, Array, Known, List, Tuple
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
    number,
    number_leaf,
    object_of,
)


def _concatenate(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arrays", "axis"), args, named)
    axis = given.get("axis", known(0))
    if not isinstance(given["arrays"].type, (Tuple, Known)):
        return _concatenate_display(frame, given["arrays"], axis)
    parts = [as_array(frame, part, what=("part", i)) for i, part in enumerate(items_of(given["arrays"]))]
    if any(map(is_never, parts)):
        return NOTHING
    if is_known(axis) and object_of(axis) is None:
        return joined(frame, [flat(frame, part) for part in parts])
    return joined(frame, parts, axis_of(frame, parts[0], axis))


def _concatenate_display(frame: Frame, value: Value, axis: Value) -> Value:
    """The arrays of a list whose length is not known, behind one another."""
    item = frame.program.facts.item(value.type.site) if isinstance(value.type, List) else None
    if isinstance(item, Array) and item.rank == 1 and is_known(axis) and object_of(axis) in (0, -1):
        result = library_call(frame, library_joins.concatenate_rows, [value])
        return result if item.kind == "f" else as_array(frame, result, item.kind, what="joined")
    if not isinstance(value.type, (List, Array)) or item == NEVER:
        raise frame.not_closed("np.concatenate of these values")
    made = as_array(frame, value, copy=True, what="displayed")  # whose parts are equally long
    if is_never(made):
        return NOTHING
    assert isinstance(made.type, Array)
    if made.type.rank < 2:
        raise frame.not_closed("np.concatenate of numbers")
    where = axis_of(frame, row(frame, made, 0), axis) if made.type.rank > 2 else 0
    order = list(range(1, made.type.rank))
    order.insert(where, 0)
    moved = permuted(made, order)
    shape = shape_of(moved)
    long = times(frame, shape[where], shape[where + 1])
    return reshaped(frame, moved, [*shape[:where], long, *shape[where + 2 :]], copy=True)


def _vstack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """Vectors as rows; matrices below one another."""
    given = arguments(frame, ("tup",), args, named)
    return _stacked_below(frame, given["tup"])


def _stacked_below(frame: Frame, value: Value) -> Value:
    if isinstance(value.type, (Tuple, Known)):
        parts = [as_array(frame, one, what=("part", i)) for i, one in enumerate(items_of(value))]
        if any(map(is_never, parts)):
            return NOTHING
        return joined(frame, [_as_matrix(one) for one in parts])
    made = as_array(frame, value, copy=True, what="stack")
    if is_never(made):
        return NOTHING
    assert isinstance(made.type, Array)
    if made.type.rank < 3:
        if made.type.rank == 1:
            raise frame.not_closed("np.vstack of numbers")
        return made
    return _concatenate_display(frame, value, known(0))


def _as_matrix(value: Value) -> Value:
    """A vector as a matrix of one row; what has more axes as it is."""
    assert isinstance(value.type, Array)
    return with_axes_before(value) if value.type.rank == 1 else value


def _hstack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """Vectors behind one another; matrices beside one another."""
    value = arguments(frame, ("tup",), args, named)["tup"]
    if isinstance(value.type, (Tuple, Known)):
        parts = [
            as_array(frame, make_tuple([one]) if is_number(one) else one, what=("part", i))
            for i, one in enumerate(items_of(value))
        ]
        if any(map(is_never, parts)):
            return NOTHING
        return joined(frame, parts, min(shape_count(one) for one in parts[:1]) > 1)
    item = frame.program.facts.item(value.type.site) if isinstance(value.type, List) else None
    rank = item.rank if isinstance(item, Array) else getattr(value.type, "rank", 1) - 1
    return _concatenate_display(frame, value, known(int(rank > 1)))


def _column_stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """Vectors as columns; matrices beside one another."""
    value = arguments(frame, ("tup",), args, named)["tup"]
    if not isinstance(value.type, (Tuple, Known)):
        made = as_array(frame, value, what="columns")
        if is_never(made):
            return NOTHING
        if made.type.rank != 2:  # type: ignore[attr-defined]
            raise frame.not_closed("column_stack of these arrays")
        return attribute(frame, made, "T")
    parts = [as_array(frame, one, what=("part", i)) for i, one in enumerate(items_of(value))]
    if any(map(is_never, parts)):
        return NOTHING
    columns = [
        view(one, one.leaves[1], [*shape_of(one), ONE], [*strides_of(one), Const(0, "i")])
        if shape_count(one) == 1 else one
        for one in parts
    ]  # fmt: skip
    return joined(frame, columns, 1)


def _append(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arr", "values"), args, named)
    parts = [_entries(frame, given[name], name) for name in ("arr", "values")]
    return _concatenate(frame, [make_tuple(parts)], {})


def _entries(frame: Frame, value: Value, what: str) -> Value:
    """All entries of a number or an array, as an array of one axis."""
    if is_number(value):
        value = make_tuple([value])
    return flat(frame, as_array(frame, value, what=what))


def _repeat(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "repeats", "axis"), args, named)
    repeats, axis = given["repeats"], given.get("axis", NONE)
    if is_number(given["a"]) and is_number(repeats) and "axis" not in given:
        leaf = frame.atom(number_leaf(given["a"]))
        return filled(frame, leaf.kind, [number_leaf(repeats, "i")], leaf)
    value = as_array(frame, given["a"], what="a")
    if not is_number(repeats):
        repeats = as_array(frame, repeats, what="repeats")
        if getattr(repeats.type, "kind", "i") != "i" or getattr(repeats.type, "rank", 1) != 1:
            raise frame.not_closed("np.repeat with these counts")
    if is_never(value) or is_never(repeats):
        return NOTHING
    where = axes_of(frame, value, axis)
    if where is None:
        value, where = flat(frame, value), [0]
    if len(where) != 1:
        raise frame.not_closed("np.repeat along several axes")
    text = library_joins.repeated if is_number(repeats) else library_joins.repeated_each
    indices = library_call(frame, text, [number(shape_of(value)[where[0]]), repeats])
    return at_place(frame, value, Place("axis", value, (where[0], indices)))


def _insert(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arr", "obj", "values"), args, named)
    if len(given) != 3 or not is_number(given["obj"]) or not is_number(given["values"]):
        raise frame.not_closed("np.insert with these arguments")
    value = vector(frame, given["arr"], "arr")
    new = as_array(frame, make_tuple([given["values"]]), what="values")
    kinds = [one.type.kind for one in (new, value)]  # type: ignore[attr-defined]
    if "bif".index(kinds[0]) > "bif".index(kinds[1]):
        raise frame.not_closed("np.insert of a number that is no entry of this kind")
    return library_call(frame, library_joins.insert, [value, given["obj"], as_array(frame, new, kinds[1])])


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


def _split(whole: Any) -> Handler:
    """`np.split` and `np.array_split` along the first axis: by a count, or at indices."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = given_arguments(frame, ("ary", "indices_or_sections", "axis"), args, named)
        value = as_array(frame, given["ary"], what="split")
        if is_never(value):
            return NOTHING
        if axis_of(frame, value, given.get("axis", known(0))) != 0:
            raise frame.not_closed("np.split along another axis than the first")
        parts = given["indices_or_sections"]
        return library_call(frame, whole if is_number(parts) else library_joins.split_at, [value, parts])

    return handle


FUNCTIONS: dict[Any, Handler] = {
    np.insert: _insert, np.stack: _stack, np.split: _split(library_joins.split),
    np.array_split: _split(library_joins.array_split), np.concatenate: _concatenate, np.hstack: _hstack,
    np.vstack: _vstack, np.column_stack: _column_stack, np.append: _append, np.repeat: _repeat,
}  # fmt: skip
