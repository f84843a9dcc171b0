"""Subscripts of NumPy arrays: numbers, views, and entries that arrays of indices or masks pick."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import library_searches
from gendsl.compiler.front.arrays import (
    as_array,
    broadcast,
    copy_into,
    filled,
    fitting,
    flat,
    library_call,
    load,
    over,
    plus,
    position,
    same_shape,
    save,
    shape_of,
    strides_of,
    times,
    view,
)
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import sequence_of, slice_bounds
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.types import (
    Array,
    Known,
    List,
    Tuple,
    Union,
    describe,
)
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_never,
    is_number,
    items_of,
    kind_of,
    may_be_flag,
    number,
    number_leaf,
    object_of,
)

_ZERO, _ONE = Const(0, "i"), Const(1, "i")


class Place:
    """What a subscript of an array means: a number, a view, or entries that an array of indices picks."""

    def __init__(self, kind: str, value: Value, at: Any = None) -> None:
        self.kind = kind
        self.value = value
        self.at = at


def checked_index(frame: Frame, index: Expr, n: Expr) -> Expr:
    """An index from -n to n - 1 as one from 0 to n - 1."""
    if isinstance(index, Const):
        assert isinstance(index.value, int)
        if index.value < 0:
            shifted = frame.atom(Op("add", (n, index), "i"), "at")
            frame.fail_if(Op("lt", (shifted, _ZERO), "b"), "an index out of range", IndexError)
            return shifted
        frame.fail_if(Op("ge", (index, n), "b"), "an index out of range", IndexError)
        return index
    index = frame.atom(index, "at")
    shifted = frame.atom(
        Op("select", (Op("lt", (index, _ZERO), "b"), Op("add", (index, n), "i"), index), "i"), "at"
    )
    outside = Op("or", (Op("lt", (shifted, _ZERO), "b"), Op("ge", (shifted, n), "b")), "b")
    frame.fail_if(outside, "an index out of range", IndexError)
    return shifted


def _parts(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _integer_of(frame: Frame, one: Value) -> Value:
    """An index that is of one type or another, where it is an integer; anything else is left to NumPy."""
    if may_be_flag(one.type):
        raise frame.not_closed("a truth value as an index of an array")
    if is_number(one) and kind_of(one) == "i":
        return number(number_leaf(one))
    frame.fail("an index of one type or another that is no integer")
    return NOTHING


def _no_tuple(frame: Frame, index: Value) -> None:
    """Refuse a tuple whose length is not known: it stands for as many indices."""
    if isinstance(index.type, List) and sequence_of(frame, index) is tuple:
        raise frame.not_closed("a tuple of unknown length as the index of an array")


def _evaluated(frame: Frame, node: ast.expr) -> list[Value | ast.Slice]:
    """The indices of `value[node]`; slices are evaluated where they are used."""
    return [
        part if isinstance(part, ast.Slice) else frame.atoms(frame.language.expression(frame, part))
        for part in _parts(node)
    ]


def _open_index(indices: list[Value | ast.Slice]) -> tuple[int, Value] | None:
    """The index that is of one type or another, of which some stand for several entries; None if none is."""
    for i, one in enumerate(indices):
        if isinstance(one, ast.Slice) or not isinstance(one.type, Union):
            continue
        if any(isinstance(kind, (Array, List, Tuple)) for kind in one.type.alternatives):
            return i, one
    return None


def _place_of(frame: Frame, value: Value, indices: list[Value | ast.Slice]) -> Place:
    """What `value[indices]` means."""
    assert isinstance(value.type, Array)
    parts: list[Any] = []
    for found in indices:
        if isinstance(found, ast.Slice):
            parts.append(found)
            continue
        if len(indices) == 1:
            _no_tuple(frame, found)
        if isinstance(found.type, Union):
            found = frame.atoms(frame.switch(found, lambda one: _integer_of(frame, one)))
        if (
            isinstance(found.type, (Tuple, Known))
            and not is_number(found)
            and len(indices) == 1
            and not (isinstance(found.type, Known) and not isinstance(object_of(found), tuple))
        ):
            parts += items_of(found)  # a[(i, j)]
        else:
            parts.append(found)
    count = sum(not (isinstance(p, Value) and p.type in (NONE.type, Known(...))) for p in parts)
    for i, part in enumerate(parts):
        if isinstance(part, Value) and part.type == Known(...):
            parts[i : i + 1] = [ast.Slice(None, None, None)] * (value.type.rank - count)
            break
    else:
        parts += [ast.Slice(None, None, None)] * (value.type.rank - count)
    picking = [i for i, p in enumerate(parts) if isinstance(p, Value) and isinstance(p.type, (Array, List))]
    if picking:
        return _picked(frame, value, parts, picking)
    offset = value.leaves[1]
    shape: list[Expr] = []
    strides: list[Expr] = []
    axis = 0
    for part in parts:
        if isinstance(part, Value) and part.type == NONE.type:
            shape.append(_ONE)
            strides.append(_ZERO)
            continue
        if axis >= value.type.rank:
            frame.fail("too many indices of an array")
            return Place("number", value, _ZERO)
        n, stride = shape_of(value)[axis], strides_of(value)[axis]
        axis += 1
        if isinstance(part, ast.Slice):
            if part.lower is None and part.upper is None and part.step is None:
                shape.append(n)
                strides.append(stride)
                continue
            start, stop, step = slice_bounds(frame, part, n)
            offset = plus(frame, offset, times(frame, start, stride))
            if step == _ONE:
                length = frame.atom(Op("imax", (Op("sub", (stop, start), "i"), _ZERO), "i"), "n")
            else:
                length = frame.atom(Op("range_length", (start, stop, step), "i"), "n")
            shape.append(length)
            strides.append(times(frame, step, stride))
            continue
        if is_never(part):
            return Place("number", value, _ZERO)
        if not is_number(part) or kind_of(part) == "f":
            frame.fail("an index that is no integer")
            return Place("number", value, _ZERO)
        if kind_of(part) == "b" or may_be_flag(part.type):
            raise frame.not_closed("a truth value as an index of an array")
        at = checked_index(frame, number_leaf(part, "i"), n)
        offset = plus(frame, offset, times(frame, at, stride))
    offset = frame.atom(offset, "at")
    if not shape:
        return Place("number", value, offset)
    return Place("view", view(value, offset, shape, strides))


def _picked(frame: Frame, value: Value, parts: list[Any], picking: list[int]) -> Place:
    assert isinstance(value.type, Array)
    full = [
        isinstance(p, ast.Slice) and p.lower is None and p.upper is None and p.step is None for p in parts
    ]
    for i in picking:
        if isinstance(parts[i].type, List) and may_be_flag(frame.program.facts.item(parts[i].type.site)):
            raise frame.not_closed("indices of an array that may be truth values")
    indices = [as_array(frame, parts[i], what=("indices", i)) for i in picking]
    if any(is_never(one) for one in indices):
        return Place("number", value, _ZERO)
    kinds = [one.type.kind for one in indices]  # type: ignore[attr-defined]
    if "f" in kinds:
        frame.fail("an index that is no integer")
        return Place("number", value, _ZERO)
    if kinds == ["b"]:
        mask = indices[0]
        rank = mask.type.rank  # type: ignore[attr-defined]
        if picking == [0] and rank == value.type.rank and len(parts) <= value.type.rank:
            same_shape(frame, shape_of(mask), shape_of(value))
            return Place("mask", value, mask)
        if rank == 1 and all(full[i] for i in range(len(parts)) if i not in picking):
            indices = [positions_of(frame, mask)]
        else:
            raise frame.not_closed("a mask beside other indices")
    elif "b" in kinds:
        raise frame.not_closed("a mask beside other indices")
    if len(parts) > value.type.rank:
        raise frame.not_closed("arrays of indices beside None, or too many of them")
    ints = [i for i, p in enumerate(parts) if i not in picking and isinstance(p, Value)]
    together = sorted([*picking, *ints])
    if together != list(range(together[0], together[-1] + 1)):
        raise frame.not_closed("arrays of indices with a slice between them")
    # an index beside arrays of indices is one that stays: a view first, in which the arrays pick
    kept = _indexed(frame, value, parts, ints)
    moved = [i - sum(j < i for j in ints) for i in picking]
    rest = [full[i] for i in range(len(parts)) if i not in picking and i not in ints]
    if kept is None:
        return Place("number", value, _ZERO)
    if len(picking) == 1 and all(rest):
        return Place("axis", kept, (moved[0], indices[0]))
    if len(picking) + len(ints) == len(parts) == value.type.rank:
        return Place("points", kept, indices)
    raise frame.not_closed("arrays of indices in this combination")


def _indexed(frame: Frame, value: Value, parts: list[Any], ints: list[int]) -> Value | None:
    """The view of an array at indices of some axes; None where one is no integer."""
    shape, strides, offset = shape_of(value), strides_of(value), value.leaves[1]
    for i in ints:
        part = parts[i]
        if is_never(part):
            return None
        if not is_number(part) or kind_of(part) == "f":
            frame.fail("an index that is no integer")
            return None
        if kind_of(part) == "b" or may_be_flag(part.type):
            raise frame.not_closed("a truth value as an index of an array")
        at = checked_index(frame, number_leaf(part, "i"), shape[i])
        offset = plus(frame, offset, times(frame, at, strides[i]))
    left = [i for i in range(len(shape)) if i not in ints]
    return view(value, frame.atom(offset, "at"), [shape[i] for i in left], [strides[i] for i in left])


def positions_of(frame: Frame, mask: Value) -> Value:
    """The positions of the entries of a mask that hold."""
    return library_call(frame, library_searches.positions, [mask])


def at_place(frame: Frame, value: Value, found: Place) -> Value:
    """The value of a subscript."""
    match found.kind:
        case "number":
            return load(frame, value, found.at)
        case "view":
            return found.value
        case "mask":
            return library_call(frame, library_searches.compress, [flat(frame, found.at), flat(frame, value)])
        case "axis":
            axis, indices = found.at
            return _gathered(frame, found.value, axis, indices)
    value = found.value
    shape, views = broadcast(frame, found.at)
    assert isinstance(value.type, Array)
    made = filled(frame, value.type.kind, shape, hir.ZEROS[value.type.kind], "points")
    over(
        frame,
        shape,
        lambda at: save(
            frame, made, position(frame, made, at), load(frame, value, _point(frame, value, views, at)).leaf
        ),
        "points",
    )
    return made


def _point(frame: Frame, value: Value, views: list[Value], at: list[Expr]) -> Expr:
    indices = [
        checked_index(frame, load(frame, one, position(frame, one, at)).leaf, n)
        for one, n in zip(views, shape_of(value), strict=True)
    ]
    return position(frame, value, indices)


def _gathered(frame: Frame, value: Value, axis: int, indices: Value) -> Value:
    """The entries along an axis at an array of indices: a copy."""
    assert isinstance(value.type, Array) and isinstance(indices.type, Array)
    shape = shape_of(value)
    inner = [*shape[:axis], *shape_of(indices), *shape[axis + 1 :]]
    made = filled(frame, value.type.kind, inner, hir.ZEROS[value.type.kind], "gathered")
    rank = indices.type.rank

    def one(at: list[Expr]) -> None:
        index = load(frame, indices, position(frame, indices, at[axis : axis + rank])).leaf
        where = [*at[:axis], checked_index(frame, index, shape[axis]), *at[axis + rank :]]
        save(frame, made, position(frame, made, at), load(frame, value, position(frame, value, where)).leaf)

    over(frame, inner, one, "gathered")
    return made


def subscript(frame: Frame, value: Value, node: ast.expr) -> Value:
    """`value[node]`."""

    def at(indices: list[Value | ast.Slice]) -> Value:
        found = _open_index(indices)
        if found is None:
            return at_place(frame, value, _place_of(frame, value, indices))
        i, index = found
        return frame.switch(index, lambda one: at([*indices[:i], one, *indices[i + 1 :]]))

    return at(_evaluated(frame, node))


def put_at(frame: Frame, value: Value, found: Place, new: Value) -> None:
    """Assign to a subscript."""
    if is_never(new):
        return
    if isinstance(new.type, Union):
        frame.each_alternative(new, lambda one: put_at(frame, value, found, one))
        return
    match found.kind:
        case "number":
            if not is_number(new):
                raise frame.not_closed(f"{describe(new.type)} as an entry of an array")
            save(frame, value, found.at, number_leaf(new))
            return
        case "view":
            target = found.value
            if is_number(new):
                leaf = frame.atom(number_leaf(new))
                over(
                    frame,
                    shape_of(target),
                    lambda at: save(frame, target, position(frame, target, at), leaf),
                    "put",
                )
                return
            source = as_array(frame, new, what="put")
            if isinstance(new.type, Array):  # it may look at the same numbers
                source = as_array(frame, source, copy=True, what="put")
            copy_into(frame, target, fitting(frame, source, shape_of(target)), "put")
            return
        case "mask" if is_number(new):
            leaf = frame.atom(number_leaf(new))
            mask = found.at

            def one(at: list[Expr]) -> None:
                inner: hir.Body = []
                frame.emit(hir.If(load(frame, mask, position(frame, mask, at)).leaf, inner, []))
                with frame.into(inner):
                    save(frame, value, position(frame, value, at), leaf)

            over(frame, shape_of(value), one, "mask")
            return
        case "mask":
            _put_where(frame, value, found.at, new)
            return
        case "axis" | "points":
            _put_picked(frame, found.value, found, new)
            return
    raise frame.not_closed("an assignment to entries that arrays of indices pick")


def _put_where(frame: Frame, value: Value, mask: Value, new: Value) -> None:
    """`value[mask] = new` of a vector: as many entries as the mask has, or one for all of them."""
    source = as_array(frame, new, copy=True, what="put")
    if is_never(source):
        return
    assert isinstance(source.type, Array)
    if source.type.rank != 1:
        raise frame.not_closed("an assignment of several axes to entries that a mask picks")
    n = frame.atom(shape_of(source)[0], "n")
    alone = frame.atom(Op("eq", (n, _ONE), "b"), "alone")
    count = frame.set(_ZERO, "count")

    def one(at: list[Expr]) -> None:
        inner: hir.Body = []
        frame.emit(hir.If(load(frame, mask, position(frame, mask, at)).leaf, inner, []))
        with frame.into(inner):
            frame.fail_if(Op("ge", (Op("select", (alone, _ZERO, count), "i"), n), "b"), "a value too few")
            place = [frame.atom(Op("select", (alone, _ZERO, count), "i"), "at")]
            entry = load(frame, source, position(frame, source, place)).leaf
            save(frame, value, position(frame, value, at), entry)
            frame.emit(hir.Set([count], [Op("add", (count, _ONE), "i")]))

    over(frame, shape_of(value), one, "mask")
    frame.fail_if(both(Op("ne", (count, n), "b"), Op("not", (alone,), "b")), "another number of values")


def _put_picked(frame: Frame, value: Value, found: Place, new: Value) -> None:
    """Assign to the entries that arrays of indices pick; of one that is picked twice the last stays."""
    if found.kind == "points":
        shape, views = broadcast(frame, found.at)
    else:
        axis, indices = found.at
        rank = indices.type.rank
        lengths = shape_of(value)
        shape = [*lengths[:axis], *shape_of(indices), *lengths[axis + 1 :]]
    source = None if is_number(new) else as_array(frame, new, what="put")
    if source is not None:  # it may look at the same numbers
        source = fitting(frame, as_array(frame, source, copy=isinstance(new.type, Array), what="put"), shape)
    leaf = frame.atom(number_leaf(new)) if source is None else _ZERO

    def each(at: list[Expr]) -> None:
        if found.kind == "points":
            where = _point(frame, value, views, at)
        else:
            index = load(frame, indices, position(frame, indices, at[axis : axis + rank])).leaf
            full = [*at[:axis], checked_index(frame, index, lengths[axis]), *at[axis + rank :]]
            where = position(frame, value, full)
        entry = leaf if source is None else load(frame, source, position(frame, source, at)).leaf
        save(frame, value, where, entry)

    over(frame, shape, each, "put")


def each_place(frame: Frame, value: Value, node: ast.expr, then: Callable[[Place], None]) -> None:
    """Do something with what `value[node]` means, whichever type its indices have."""

    def at(indices: list[Value | ast.Slice]) -> None:
        found = _open_index(indices)
        if found is None:
            then(_place_of(frame, value, indices))
            return
        i, index = found
        frame.each_alternative(index, lambda one: at([*indices[:i], one, *indices[i + 1 :]]))

    at(_evaluated(frame, node))


def assign(frame: Frame, value: Value, node: ast.expr, new: Value) -> None:
    """`value[node] = new`."""
    each_place(frame, value, node, lambda place: put_at(frame, value, place, new))


def put(frame: Frame, value: Value, indices: list[Value], new: Value) -> None:
    """`value[indices] = new`, with the indices at hand."""
    put_at(frame, value, _at_values(frame, value, indices), new)


def at_indices(frame: Frame, value: Value, indices: list[Value]) -> Value:
    """`value[indices]`, with the indices at hand."""
    return at_place(frame, value, _at_values(frame, value, indices))


def _at_values(frame: Frame, value: Value, indices: list[Value]) -> Place:
    assert isinstance(value.type, Array)
    offset = value.leaves[1]
    for axis, index in enumerate(indices):
        if not is_number(index) or kind_of(index) != "i":
            raise frame.not_closed(f"{describe(index.type)} as an index of an array")
        if axis >= value.type.rank:
            frame.fail("too many indices of an array")
            return Place("number", value, _ZERO)
        at = checked_index(frame, number_leaf(index, "i"), shape_of(value)[axis])
        offset = plus(frame, offset, times(frame, at, strides_of(value)[axis]))
    offset = frame.atom(offset, "at")
    if len(indices) == value.type.rank:
        return Place("number", value, offset)
    return Place(
        "view", view(value, offset, shape_of(value)[len(indices) :], strides_of(value)[len(indices) :])
    )
