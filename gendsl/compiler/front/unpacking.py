"""Assignments to several targets."""

from __future__ import annotations

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.iteration import Sequence, sequence
from gendsl.compiler.front.lists import append, extend, list_of
from gendsl.compiler.front.numbers import is_plain_tuple
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, Iterator, Known, List, Union, describe, goes_once
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    is_never,
    is_number,
    items_of,
    known,
    make_tuple,
    object_of,
)


def _unpacked_around(frame: Frame, given: Sequence, n: Expr, count: int, starred: int) -> list[Value]:
    """`a, *rest, b = values` of a list or an array: the rest is a new list."""
    after = count - starred - 1
    frame.fail_if(Op("lt", (n, Const(count - 1, "i")), "b"), "a wrong number of values to unpack", ValueError)
    before = [frame.atoms(given.at(Const(i, "i"))) for i in range(starred)]
    end = frame.atom(Op("sub", (n, Const(after, "i")), "i"), "end")
    rest = list_of(frame, frame.here, [], "starred")
    var = frame.fresh("i", "i")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, Const(starred, "i"), end, Const(1, "i"), body, label)

    frame.loop(frame.here, make, [], lambda: append(frame, rest, given.at(var)))
    last = [given.at(Op("add", (end, Const(i, "i")), "i")) for i in range(after)]
    return [*before, rest, *last]


def unpacked(frame: Frame, value: Value, count: int, starred: int | None) -> list[Value]:
    """The items of a value as an assignment to `count` targets takes them, one of which may have a star."""
    value = frame.opened(value)
    if is_never(value):
        return [value] * count
    if isinstance(value.type, Union):
        found = frame.switch(value, lambda one: make_tuple(unpacked(frame, one, count, starred)))
        return [NOTHING] * count if is_never(found) else items_of(found)
    if isinstance(value.type, Known) and isinstance(object_of(value), str):
        value = known(tuple(object_of(value)))
    if (is_plain_tuple(value.type) or isinstance(value.type, Known)) and not is_number(value):
        try:
            items = items_of(value)
        except NotClosed:
            raise frame.not_closed(f"{describe(value.type)} where a tuple is needed") from None
        if starred is None:
            if len(items) != count:
                frame.fail("a wrong number of values to unpack", ValueError)
                return [NOTHING] * count
            return items
        after = count - starred - 1
        middle = list_of(frame, frame.here, items[starred : len(items) - after], "starred")
        return [*items[:starred], middle, *items[len(items) - after :]]
    if is_number(value) or value.type == known(None).type:
        frame.fail("a number where several values are needed")
        return [NOTHING] * count
    if isinstance(value.type, Iterator) and value.type.name == "columns":
        given = sequence(frame, value)
        if given.fixed and given.limit is not None and starred is None:
            assert isinstance(given.count, int)
            wrong = Op("ne", (given.limit, Const(count, "i")), "b")
            frame.fail_if(wrong, "a wrong number of values to unpack")
            return [given.at(i) for i in range(min(count, given.count))] + [NOTHING] * (count - given.count)
    if goes_once(value.type):
        given = sequence(frame, value)
        if given.fixed and given.limit is None and given.visit is None:
            assert isinstance(given.count, int)
            return unpacked(frame, make_tuple([given.at(i) for i in range(given.count)]), count, starred)
        made = list_of(frame, frame.here, [], "unpacked")
        extend(frame, frame.here, made, value)
        value = made
    if not isinstance(value.type, (List, Array)):
        raise frame.not_closed(f"{describe(value.type)} where a tuple is needed")
    given = sequence(frame, value)
    n = frame.atom(Const(given.count, "i") if isinstance(given.count, int) else given.count, "n")
    if starred is not None:
        return _unpacked_around(frame, given, n, count, starred)
    frame.fail_if(Op("ne", (n, Const(count, "i")), "b"), "a wrong number of values to unpack", ValueError)
    return [given.at(Const(i, "i")) for i in range(count)]
