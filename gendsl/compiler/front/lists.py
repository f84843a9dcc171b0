"""Lists, and tuples as lists: what is stored where they are made, and looked up or changed there."""

from __future__ import annotations

import ast
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import MAYBE, List, Union, describe, leaves
from gendsl.compiler.hir.values import (
    NONE,
    Value,
    is_never,
    is_number,
    items_of,
    kind_of,
    number_leaf,
    numpys,
)


def layout(frame: Frame, site: int) -> tuple[str, ...]:
    """The kinds of the leaves of an item of a site."""
    return leaves(frame.program.facts.item(site))


def list_of(frame: Frame, node: ast.AST, items: list[Value], what: Any = None) -> Value:
    """A new list, made at a node."""
    site = frame.site(node, what)
    facts = frame.program.facts
    for item in items:
        facts.grow_item(site, item.type)
    item_type = facts.item(site)
    var = frame.fresh("items", "r")
    frame.emit(hir.New(var, leaves(item_type), [facts.convert(item, item_type) for item in items]))
    return Value(List(site), (var,))


def as_tuple(frame: Frame, value: Value, pieces: tuple[tuple[Value, bool], ...] = ()) -> Value:
    """A list that was just made as a tuple whose length is known only when the text runs."""
    assert isinstance(value.type, List)
    frame.program.facts.make_tuple(value.type.site)
    return Value(List(value.type.site, True), value.leaves, pieces)


def pieces_of(value: Value) -> tuple[tuple[Value, bool], ...]:
    """What a tuple is made of; see `Value`."""
    if value.pieces or isinstance(value.type, (List, Union)):
        return value.pieces or ((value, True),)
    return tuple((item, False) for item in items_of(value))


def sequence_of(frame: Frame, value: Value) -> type:
    """Whether a list is one, or a tuple whose length is known only when the text runs."""
    assert isinstance(value.type, List)
    found = frame.program.facts.sequence(value.type.site)
    if found is None:
        raise frame.not_closed("a value that is a list or a tuple")
    return found


def like(frame: Frame, value: Value, made: Value) -> Value:
    """A list that was made of another: a tuple, if that is one."""
    return as_tuple(frame, made) if sequence_of(frame, value) is tuple else made


def store(frame: Frame, value: Value, index: Expr, new: Value) -> None:
    """Replace an item of a list."""
    assert isinstance(value.type, List)
    facts = frame.program.facts
    writable(frame, value)
    kind = facts.grow_item(value.type.site, new.type)
    frame.emit(hir.Store(value.leaf, leaves(kind), index, facts.convert(new, kind)))


def append(frame: Frame, value: Value, new: Value) -> None:
    """Add an item to a list."""
    assert isinstance(value.type, List)
    facts = frame.program.facts
    writable(frame, value)
    kind = facts.grow_item(value.type.site, new.type)
    frame.emit(hir.Append(value.leaf, leaves(kind), facts.convert(new, kind), value.type.site))


def writable(frame: Frame, value: Value) -> None:
    """Refuse to change in place what the program may have been given."""
    if getattr(value.type, "frozen", False):
        raise frame.not_closed("it changes in place a value that it was given, or the default of a parameter")


def index_leaf(frame: Frame, value: Value) -> Expr:
    """A value as an index: an integer; a truth value counts as 0 or 1 in a list."""
    if is_never(value):
        return Const(0, "i")
    if is_number(value) and kind_of(value) == "b" and numpys(value):
        if numpys(value) == MAYBE:
            raise frame.not_closed("a truth value that may be NumPy's or Python's as an index")
        frame.fail("one of NumPy's truth values as an index")
        return Const(0, "i")
    if not is_number(value) or kind_of(value) == "f":
        frame.fail(f"{describe(value.type)} as an index")
        return Const(0, "i")
    return number_leaf(value, "i")


def for_each(frame: Frame, node: ast.AST, value: Value, lower: Any) -> None:
    """Lower statements for each item of a list, by index; the list must not change meanwhile."""
    n = frame.atom(frame.language.length(frame, value))
    var = frame.fresh("i", "i")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, Const(0, "i"), n, Const(1, "i"), body, label)

    frame.loop(node, make, [], lambda: lower(frame.language.item(frame, value, var), var))


def copied(
    frame: Frame, node: ast.AST, value: Value, start: Expr, stop: Expr, step: Expr, what: Any = None
) -> Value:
    """A new list of the items from start to stop, each within the list."""
    assert isinstance(value.type, List)
    facts = frame.program.facts
    made = list_of(frame, node, [], ("copy", what))
    assert isinstance(made.type, List)
    facts.grow_item(made.type.site, facts.item(value.type.site))
    var = frame.fresh("i", "i")
    at: Expr = var
    if not isinstance(step, Const):
        first, by = start, step
        stop = frame.set(Op("range_length", (start, stop, step), "i"), "n")
        start, step = Const(0, "i"), Const(1, "i")
        at = Op("add", (first, Op("mul", (by, var), "i")), "i")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, start, stop, step, body, label)

    frame.loop(
        node, make, [], lambda: append(frame, made, frame.language.item(frame, value, frame.atom(at, "at")))
    )
    return made


def extend(frame: Frame, node: ast.AST, value: Value, more: Value) -> None:
    """Add all items of an iterable to a list; of a list, those that it had before."""
    frame.language.each(frame, node, more, lambda one: append(frame, value, one))


def slice_bounds(frame: Frame, node: ast.Slice, n: Expr) -> tuple[Expr, Expr, Expr]:
    """Start, stop and step of a slice of n items, as `slice.indices` gives them."""
    parts = [
        None if part is None else frame.language.expression(frame, part)
        for part in (node.lower, node.upper, node.step)
    ]
    step = Const(1, "i") if parts[2] is None or parts[2].type == NONE.type else number_leaf(parts[2], "i")
    if step == Const(0, "i"):
        frame.fail("a slice with a step of 0")
        return Const(0, "i"), Const(0, "i"), Const(1, "i")
    n = frame.atom(n, "n")
    if not isinstance(step, Const):
        return _bounds_of_any_step(frame, node, parts[:2], n, frame.atom(step, "step"))
    backward = int(step.value or 1) < 0
    low: Expr = Const(-1 if backward else 0, "i")
    high: Expr = frame.op("sub", (n, Const(1, "i")), "i") if backward else n
    ends: list[Expr] = []
    for part, default in zip(parts[:2], (high, low) if backward else (low, high), strict=True):
        if part is None or part.type == NONE.type:
            ends.append(default)
            continue
        if isinstance(part.type, Union):
            raise frame.not_closed("a slice from an end that may be None", node)
        at = frame.atom(index_leaf(frame, part), "at")
        if isinstance(at, Const) and at.value is not None and not backward:
            if at.value == 0:
                ends.append(Const(0, "i"))
            elif at.value > 0:
                ends.append(Op("imin", (at, n), "i"))
            else:
                ends.append(Op("imax", (Op("add", (n, at), "i"), Const(0, "i")), "i"))
            continue
        shifted = Op("select", (Op("lt", (at, Const(0, "i")), "b"), Op("add", (at, n), "i"), at), "i")
        ends.append(Op("imax", (Op("imin", (shifted, high), "i"), low), "i"))
    return frame.atom(ends[0], "start"), frame.atom(ends[1], "stop"), step


def _bounds_of_any_step(
    frame: Frame, node: ast.Slice, parts: list[Value | None], n: Expr, step: Expr
) -> tuple[Expr, Expr, Expr]:
    """The same where only the text that runs knows the step."""
    zero = Const(0, "i")
    frame.fail_if(Op("eq", (step, zero), "b"), "a slice with a step of 0")
    backward = frame.atom(Op("lt", (step, zero), "b"), "backward")

    def either(back: Expr, forth: Expr) -> Expr:
        return frame.atom(Op("select", (backward, back, forth), "i"), "end")

    low, high = either(Const(-1, "i"), zero), either(Op("sub", (n, Const(1, "i")), "i"), n)
    ends: list[Expr] = []
    for part, default in zip(parts, (either(high, low), either(low, high)), strict=True):
        if part is None or part.type == NONE.type:
            ends.append(default)
            continue
        if isinstance(part.type, Union):
            raise frame.not_closed("a slice from an end that may be None", node)
        at = frame.atom(index_leaf(frame, part), "at")
        shifted = Op("select", (Op("lt", (at, zero), "b"), Op("add", (at, n), "i"), at), "i")
        ends.append(frame.atom(Op("imax", (Op("imin", (shifted, high), "i"), low), "i"), "at"))
    return ends[0], ends[1], step
