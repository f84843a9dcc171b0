"""Methods of lists and tuples, and `sorted`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.containers import item, items_made, length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.instances import says_its_order
from gendsl.compiler.front.lists import (
    append,
    copied,
    extend,
    for_each,
    index_leaf,
    layout,
    list_of,
    sequence_of,
    store,
    writable,
)
from gendsl.compiler.front.numbers import is_nan, negation, test_of
from gendsl.compiler.hir import Const, Op, Var, both
from gendsl.compiler.hir.types import NEVER, Iterator, List
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_known, items_of, known, number, object_of


def pop(frame: Frame, value: Value, index: Value | None) -> Value:
    """`value.pop(index)` of a list."""
    assert isinstance(value.type, List)
    writable(frame, value)
    kinds = layout(frame, value.type.site)
    n = frame.atom(length(frame, value), "n")
    last = frame.set(Op("sub", (n, Const(1, "i")), "i"), "last")
    if index is None:
        found = item(frame, value, Const(-1, "i"))
    else:
        at = frame.atom(index_leaf(frame, index), "at")
        found = item(frame, value, at)
        start = frame.set(
            Op("select", (Op("lt", (at, Const(0, "i")), "b"), Op("add", (at, n), "i"), at), "i"), "at"
        )
        var = frame.fresh("i", "i")

        def make(body: hir.Body, label: int) -> hir.Statement:
            return hir.For(var, start, last, Const(1, "i"), body, label)

        def lower() -> None:
            store(frame, value, var, item(frame, value, Op("add", (var, Const(1, "i")), "i")))

        frame.loop(frame.here, make, [], lower)
    frame.emit(hir.Truncate(value.leaf, kinds, last, value.type.site))
    return found


def insert(frame: Frame, value: Value, index: Value, new: Value) -> None:
    """`value.insert(index, new)` of a list."""
    n = frame.atom(length(frame, value), "n")
    at = frame.atom(index_leaf(frame, index), "at")
    append(frame, value, new)
    shifted = Op("select", (Op("lt", (at, Const(0, "i")), "b"), Op("add", (at, n), "i"), at), "i")
    at = frame.set(Op("imax", (Op("imin", (shifted, n), "i"), Const(0, "i")), "i"), "at")
    var = frame.fresh("i", "i")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, n, at, Const(-1, "i"), body, label)

    def lower() -> None:
        store(frame, value, var, item(frame, value, Op("sub", (var, Const(1, "i")), "i")))

    frame.loop(frame.here, make, [], lower)
    store(frame, value, at, new)


def _key_of(item: Value) -> Value:
    return items_of(item)[0]


def sorted_list(frame: Frame, value: Value, key: Any, descending: bool, *, in_place: bool) -> Value:
    """A sorted copy of an iterable, or the list itself sorted; equal items keep their order."""
    at = frame.here
    if key is None and isinstance(value.type, Iterator) and value.type.name == "items":
        key = _key_of  # no two are equal
    if in_place:
        made = value
    else:
        items = items_made(frame, value) if isinstance(value.type, List) else None
        made = list_of(frame, at, items or [], "sorted")
        if items is None:
            frame.language.each(frame, at, value, lambda one: append(frame, made, one))
    assert isinstance(made.type, List)
    writable(frame, made)
    if frame.program.facts.item(made.type.site) == NEVER:
        return made
    keys = made
    if key is not None:
        keys = list_of(frame, at, [], "keys")
        frame.unrolled += ("keys",)
        for_each(frame, at, made, lambda one, _: append(frame, keys, key(one)))
        frame.unrolled = frame.unrolled[:-1]
    n = frame.atom(length(frame, made), "n")
    i = frame.fresh("i", "i")

    def is_less(one: Value, other: Value) -> hir.Expr:
        if descending:
            one, other = other, one
        return test_of(frame.language.compared(frame, "lt", one, other))

    def outer(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(i, Const(1, "i"), n, Const(1, "i"), body, label)

    def insert_one() -> (
        None
    ):  # insertion from the right; a merge sort for long lists is in the printers' library
        moving = frame.atoms(item(frame, made, i))
        its_key = frame.atoms(item(frame, keys, i)) if keys is not made else moving
        _fail_if_nan(frame, its_key)
        j = frame.set(Op("add", (i, Const(0, "i")), "i"), "j")
        label = frame.program.new_label()
        body: hir.Body = []
        frame.emit(hir.Loop(body, label))
        with frame.into(body):
            stop: hir.Body = [hir.Leave(label)]
            frame.emit(hir.If(Op("le", (j, Const(0, "i")), "b"), stop, []))
            before = frame.set(Op("sub", (j, Const(1, "i")), "i"), "before")
            other = frame.atoms(item(frame, keys, before))
            _fail_if_nan(frame, other)
            stop = [hir.Leave(label)]
            frame.emit(hir.If(negation(is_less(its_key, other)), stop, []))
            store(frame, made, j, item(frame, made, before))
            if keys is not made:
                store(frame, keys, j, other)
            frame.emit(hir.Set([j], [before]))
        store(frame, made, j, moving)
        if keys is not made:
            store(frame, keys, j, its_key)

    frame.unrolled += ("insert",)
    frame.loop(at, outer, [], insert_one)
    frame.unrolled = frame.unrolled[:-1]
    if says_its_order(frame.program.facts.item(keys.type.site)):  # type: ignore[attr-defined]
        _check_order(frame, keys, n, is_less)
    return made


def _fail_if_nan(frame: Frame, key: Value) -> None:
    """Fail where a key of a sort is NaN: then the order depends on how one sorts."""
    for leaf in key.leaves:
        if leaf.kind == "f":
            frame.fail_if(is_nan(leaf), "a sort by NaN")


def _check_order(frame: Frame, keys: Value, n: hir.Expr, is_less: Callable[[Value, Value], hir.Expr]) -> None:
    """Fail unless sorted keys, which are compared by a method of the user's, are in the only order that they
    can be in: those of which neither is less than the other one follow each other.
    """
    i, j = frame.fresh("i", "i"), frame.fresh("j", "i")
    less = frame.fresh("less", "b")

    def each(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(i, Const(0, "i"), n, Const(1, "i"), body, label)

    def later(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(j, Op("add", (i, Const(1, "i")), "i"), n, Const(1, "i"), body, label)

    def compare() -> None:
        one, other = frame.atoms(item(frame, keys, i)), frame.atoms(item(frame, keys, j))
        forth = frame.atom(is_less(one, other))
        above = frame.atom(is_less(frame.atoms(item(frame, keys, Op("sub", (j, Const(1, "i")), "i"))), other))
        wrong = Op("ne", (forth, Op("or", (less, above), "b")), "b")
        frame.fail_if(Op("or", (wrong, is_less(other, one)), "b"), "a sort by what is no order")
        frame.emit(hir.Set([less], [forth]))

    def compare_all() -> None:
        frame.emit(hir.Set([less], [hir.FALSE]))
        frame.loop(frame.here, later, [], compare)

    frame.unrolled += ("check",)
    frame.loop(frame.here, each, [], compare_all)
    frame.unrolled = frame.unrolled[:-1]


def reverse(frame: Frame, value: Value) -> None:
    """`value.reverse()` of a list."""
    n = frame.atom(length(frame, value), "n")
    half = frame.op("floordiv", (n, Const(2, "i")), "i")
    i = frame.fresh("i", "i")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(i, Const(0, "i"), half, Const(1, "i"), body, label)

    def lower() -> None:
        j = frame.set(Op("sub", (Op("sub", (n, Const(1, "i")), "i"), i), "i"), "j")
        x, y = item(frame, value, i), item(frame, value, j)
        store(frame, value, i, y)
        store(frame, value, j, x)

    frame.loop(frame.here, make, [], lower)


def count(frame: Frame, value: Value, wanted: Value) -> Value:
    """`value.count(wanted)` of a list."""
    total = frame.set(Const(0, "i"), "count")
    wanted = frame.atoms(wanted)

    def lower(one: Value, _: Var) -> None:
        inner: hir.Body = []
        frame.emit(hir.If(frame.language.equal_parts(frame, frame.atoms(one), wanted), inner, []))
        with frame.into(inner):
            frame.emit(hir.Set([total], [Op("add", (total, Const(1, "i")), "i")]))

    for_each(frame, frame.here, value, lower)
    return number(total)


def position(frame: Frame, value: Value, wanted: Value) -> Value:
    """`value.index(wanted)` of a list; fails where it is not there."""
    found = frame.set(Const(-1, "i"), "at")
    wanted = frame.atoms(wanted)

    def lower(one: Value, i: Var) -> None:
        test = both(
            frame.language.equal_parts(frame, frame.atoms(one), wanted), Op("lt", (found, Const(0, "i")), "b")
        )
        inner: hir.Body = []
        frame.emit(hir.If(test, inner, []))
        with frame.into(inner):
            frame.emit(hir.Set([found], [i]))

    for_each(frame, frame.here, value, lower)
    frame.fail_if(Op("lt", (found, Const(0, "i")), "b"), "not in the list", ValueError)
    return number(found)


def list_method(frame: Frame, value: Value, name: str, args: list[Value], named: dict[str, Value]) -> Value:
    """A method of a list."""
    assert isinstance(value.type, List)
    at = frame.here
    if name not in ("index", "count") and sequence_of(frame, value) is tuple:
        frame.fail(f"tuples have no {name}")
        return NOTHING
    match name, args, named:
        case "append", [new], {}:
            append(frame, value, new)
        case "extend", [more], {}:
            extend(frame, at, value, more)
        case "pop", [], {}:
            return pop(frame, value, None)
        case "pop", [index], {}:
            return pop(frame, value, index)
        case "insert", [index, new], {}:
            insert(frame, value, index, frame.atoms(new))
        case "remove", [wanted], {}:
            pop(frame, value, position(frame, value, wanted))
        case "index", [wanted], {}:
            return position(frame, value, wanted)
        case "count", [wanted], {}:
            return count(frame, value, wanted)
        case "reverse", [], {}:
            reverse(frame, value)
        case "copy", [], {}:
            return copied(frame, at, value, Const(0, "i"), frame.atom(length(frame, value)), Const(1, "i"))
        case "clear", [], {}:
            writable(frame, value)
            site = value.type.site
            frame.emit(hir.Truncate(value.leaf, layout(frame, site), Const(0, "i"), site))
        case "sort", [], _:
            key, descending = sort_options(frame, named)
            sorted_list(frame, value, key, descending, in_place=True)
        case _:
            raise frame.not_closed(f"the method {name} of a list with these arguments")
    return NONE


def sort_options(frame: Frame, named: dict[str, Value]) -> tuple[Callable[[Value], Value] | None, bool]:
    """The arguments `key` and `reverse` of a sort."""
    descending = named.get("reverse", known(False))
    if not is_known(descending) or set(named) - {"key", "reverse"}:
        raise frame.not_closed("a sort whose order is not a constant")
    key = named.get("key", NONE)
    by = None if key.type == NONE.type else lambda one: frame.language.call(frame, key, [one], {})
    return by, bool(object_of(descending))
