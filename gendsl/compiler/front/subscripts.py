"""Subscripts of all containers: items, slices, and what is assigned to them or deleted."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import array_places, library_searches, tables, text_columns, traces
from gendsl.compiler.front.array_axes import joined
from gendsl.compiler.front.arrays import as_array
from gendsl.compiler.front.container_operators import of_range
from gendsl.compiler.front.containers import item, length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.list_methods import pop
from gendsl.compiler.front.lists import (
    as_tuple,
    copied,
    extend,
    index_leaf,
    layout,
    like,
    list_of,
    slice_bounds,
    store,
    writable,
)
from gendsl.compiler.front.numbers import is_plain_tuple
from gendsl.compiler.hir import Const, Op, both
from gendsl.compiler.hir.types import (
    Array,
    Dict,
    Iterator,
    Known,
    List,
    Number,
    SubTrace,
    Text,
    Tuple,
    Union,
    describe,
)
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
    numpy_number,
    object_of,
)


def subscript(frame: Frame, value: Value, node: ast.expr) -> Value:
    """`value[node]`."""
    value = frame.opened(value)
    if is_never(value):
        return NOTHING
    if isinstance(value.type, Array):
        return array_places.subscript(frame, value, node)
    if isinstance(value.type, SubTrace):
        return traces.subscript(frame, value, node)
    if isinstance(value.type, Union):
        return frame.switch(value, lambda one: subscript(frame, one, node))
    if isinstance(value.type, Known) and (object_of(value) is np.r_ or object_of(value) is np.c_):
        return displayed(frame, object_of(value), node)
    if isinstance(node, ast.Slice):
        return _slice(frame, value, node)
    index = frame.language.expression(frame, node)
    return item_at(frame, value, index)


def item_at(frame: Frame, value: Value, index: Value) -> Value:
    """`value[index]` of a container."""
    value = frame.opened(value)
    if is_never(value) or is_never(index):
        return NOTHING
    if isinstance(value.type, Union):
        return frame.switch(value, lambda one: item_at(frame, one, index))
    if isinstance(index.type, Union):
        return frame.switch(index, lambda one: item_at(frame, value, one))
    match value.type:
        case List():
            return item(frame, value, index_leaf(frame, index))
        case Dict():
            return tables.item(frame, value, index)
        case Array():
            return array_places.at_indices(frame, value, [index])
        case Tuple() | Known(value=tuple()) if is_plain_tuple(value.type):
            return _of_tuple(frame, items_of(value), index)
        case Number(numpy=2 | 3) if is_plain_tuple(index.type) and not items_of(index):
            return numpy_number(value.leaf)
        case Known(value=range()) | Iterator(name="range"):
            at = number(frame.atom(index_leaf(frame, index), "at"))
            return of_range(frame, library_searches.item_of_range, value, at)
        case Known(value=str() as text) if is_known(index):
            try:
                return known(text[object_of(index)])
            except (IndexError, TypeError):
                frame.fail("an index of a string")
                return NOTHING
        case Known(value=str()) | Text():
            one = item(frame, text_columns.characters(frame, value), index_leaf(frame, index))
            return text_columns.character(value, one)
    cls = getattr(value.type, "cls", None)
    if cls is not None and hasattr(cls, "__getitem__"):
        return frame.language.call_method(frame, value, "__getitem__", [index])
    raise frame.not_closed(f"an item of {describe(value.type)}")


def _of_tuple(frame: Frame, items: list[Value], index: Value) -> Value:
    if is_known(index):
        try:
            found: Value = items[object_of(index)]
            return found
        except (IndexError, TypeError) as error:
            frame.fail("an index of a tuple", type(error))
            return NOTHING
    at = frame.atom(index_leaf(frame, index), "at")
    n = len(items)
    frame.fail_unless(
        both(Op("ge", (at, Const(-n, "i")), "b"), Op("lt", (at, Const(n, "i")), "b")), "an index", IndexError
    )
    if not items:
        return NOTHING
    at = frame.atom(
        Op("select", (Op("lt", (at, Const(0, "i")), "b"), Op("add", (at, Const(n, "i")), "i"), at), "i")
    )

    def pick(i: int) -> Value:
        if i == n - 1:
            return items[i]
        return frame.choose(Op("eq", (at, Const(i, "i")), "b"), lambda: items[i], lambda: pick(i + 1))

    return pick(0)


def _slice(frame: Frame, value: Value, node: ast.Slice) -> Value:
    if isinstance(value.type, List):
        start, stop, step = slice_bounds(frame, node, length(frame, value))
        return like(frame, value, copied(frame, node, value, start, stop, step))

    ends = [
        NONE if part is None else frame.language.expression(frame, part)
        for part in (node.lower, node.upper, node.step)
    ]
    sliced = is_plain_tuple(value.type) or isinstance(value.type, (Known, Text))
    if all(map(is_known, ends)) and sliced:
        where = slice(*(object_of(end) for end in ends))
        if isinstance(value.type, Text):
            return text_columns.part(frame, value, where)
        if isinstance(value.type, Known) and isinstance(object_of(value), str):
            return known(object_of(value)[where])
        return make_tuple(items_of(value)[where])
    if is_plain_tuple(value.type):
        every = list_of(frame, node, items_of(value), "sliced")
        start, stop, step = slice_bounds(frame, node, length(frame, every))
        return as_tuple(frame, copied(frame, node, every, start, stop, step))
    raise frame.not_closed(f"a slice of {describe(value.type)}", node)


def assign_item(frame: Frame, value: Value, node: ast.expr, new: Value) -> None:
    """`value[node] = new`."""
    if is_never(value):
        return
    if isinstance(value.type, Array):
        array_places.assign(frame, value, node, new)
        return
    if isinstance(value.type, Union):
        frame.each_alternative(value, lambda one: assign_item(frame, one, node, new))
        return
    if isinstance(node, ast.Slice):
        _replace(frame, value, node, new)
        return
    put(frame, value, frame.language.expression(frame, node), new)


def _replace(frame: Frame, value: Value, node: ast.Slice, new: Value | None) -> None:
    """`value[start:stop] = new` of a list, or `del value[start:stop]`."""
    if not isinstance(value.type, List):
        raise frame.not_closed(f"an assignment to a slice of {describe(value.type)}", node)
    writable(frame, value)
    more = None
    if new is not None:
        more = list_of(frame, node, [], "new")
        extend(frame, node, more, new)
    n = frame.atom(length(frame, value), "n")
    start, stop, step = slice_bounds(frame, node, n)
    if step != Const(1, "i"):
        raise frame.not_closed("an assignment to a slice with a step", node)
    rest = copied(frame, node, value, frame.atom(Op("imax", (start, stop), "i"), "stop"), n, step, "rest")
    site = value.type.site
    frame.emit(hir.Truncate(value.leaf, layout(frame, site), frame.atom(Op("imin", (start, n), "i")), site))
    for i, part in enumerate((more, rest)):
        if part is not None:
            frame.unrolled += (("part", i),)
            extend(frame, node, value, part)
            frame.unrolled = frame.unrolled[:-1]


def put(frame: Frame, value: Value, index: Value, new: Value) -> None:
    """`value[index] = new` of a list or a dict, with the index at hand."""
    if isinstance(value.type, Union):
        frame.each_alternative(value, lambda one: put(frame, one, index, new))
    elif isinstance(value.type, List):
        store(frame, value, index_leaf(frame, index), new)
    elif isinstance(value.type, Dict):
        tables.store(frame, value, index, new)
    elif isinstance(value.type, Array):
        array_places.put(frame, value, [index], new)
    elif not is_never(value):
        cls = getattr(value.type, "cls", None)
        if cls is not None and "__setitem__" in getattr(cls, "__dict__", {}):
            frame.language.call_method(frame, value, "__setitem__", [index, new])
            return
        raise frame.not_closed(f"an assignment to an item of {describe(value.type)}")


def delete_item(frame: Frame, value: Value, node: ast.expr) -> None:
    """`del value[node]`."""
    if isinstance(value.type, List) and isinstance(node, ast.Slice):
        _replace(frame, value, node, None)
    elif isinstance(value.type, List):
        pop(frame, value, frame.language.expression(frame, node))
    elif isinstance(value.type, Dict):
        tables.remove(frame, value, frame.language.expression(frame, node))
    else:
        raise frame.not_closed(f"`del` of an item of {describe(value.type)}")


def displayed(frame: Frame, found: Any, node: ast.expr) -> Value:
    """`np.r_[...]` and `np.c_[...]`."""
    parts = []
    for i, part in enumerate(node.elts if isinstance(node, ast.Tuple) else [node]):
        frame.unrolled += (("part", i),)
        if isinstance(part, ast.Slice):
            ends = [known(0) if part.lower is None else frame.language.expression(frame, part.lower)]
            if part.upper is None:
                raise frame.not_closed("np.r_ of a range without an end", node)
            ends.append(frame.language.expression(frame, part.upper))
            ends.append(known(1) if part.step is None else frame.language.expression(frame, part.step))
            one = frame.language.call_numpy(frame, np.arange, ends, {}) or NOTHING
        else:
            one = frame.atoms(frame.language.expression(frame, part))
            if is_known(one) and isinstance(object_of(one), (str, complex)):
                raise frame.not_closed("np.r_ with directions", node)
            one = as_array(frame, make_tuple([one]) if is_number(one) else one, what="part")
        frame.unrolled = frame.unrolled[:-1]
        if is_never(one):
            return NOTHING
        parts.append(one)
    if found is np.c_:
        return frame.language.call_numpy(frame, np.column_stack, [make_tuple(parts)], {}) or NOTHING
    return joined(frame, parts)
