"""Sets of numbers, strings and tuples: dicts without values.

The order in which a set gives its items depends on their hashes, which a text does not know. So of a set that
a program makes only what does not depend on it is read: whether an item is there, how many there are, sums,
extremes, sorted lists, and other sets; a loop over it is refused. One that a program is given never changes,
and a text is given its items in their order.
"""

from __future__ import annotations

import ast
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import tables
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import negation
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Dict, Iterator, Rest, Set, describe
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_known,
    is_never,
    items_of,
    known,
    number,
    object_of,
)

_ZERO = Const(0, "i")


def make(frame: Frame, node: ast.AST, what: Any = None) -> Value:
    """A new set, made at a node."""
    made = tables.make(frame, node, ("set", what))
    assert isinstance(made.type, Dict)
    frame.program.facts.grow_item(made.type.site, NONE.type, "value")
    frame.program.facts.note_made(made.type.site)
    return Value(Set(made.type.site), made.leaves)


def table_of(value: Value) -> Value:
    """The dict whose keys are the items of a set."""
    assert isinstance(value.type, Set)
    return Value(Dict(value.type.site, value.type.frozen), value.leaves)


def has_order(frame: Frame, value: Value) -> bool:
    """Whether the order of the items of a set is known, as it is one that the program was given."""
    return isinstance(value.type, Set) and not frame.program.facts.is_made(value.type.site)


def unordered(value: Value) -> Value:
    """What to loop over where the order of the items of a set does not matter; any other value as it is."""
    if not isinstance(value.type, Set):
        return value
    return Value(Iterator("keys", (table_of(value).type,)), value.leaves)


def of(frame: Frame, node: ast.AST, value: Value, what: Any = None) -> Value:
    """`set(value)`."""
    made = make(frame, node, what)
    update(frame, node, made, value)
    return made


def frozen(value: Value) -> Value:
    """A set that can't be changed any more."""
    assert isinstance(value.type, Set)
    return Value(Set(value.type.site, True), value.leaves)


def display(frame: Frame, node: ast.AST, items: list[Value]) -> Value:
    """`{item, ...}`."""
    made = make(frame, node)
    for one in items:
        add(frame, made, one)
    return made


def add(frame: Frame, value: Value, item: Value) -> None:
    """`value.add(item)`."""
    tables.store(frame, table_of(value), item, NONE)


def update(frame: Frame, node: ast.AST, value: Value, more: Value) -> None:
    """`value.update(more)`."""
    if is_known(more) and isinstance(object_of(more), frozenset):
        for one in object_of(more):
            add(frame, value, known(one))
        return
    frame.language.each(frame, node, unordered(more), lambda one: add(frame, value, one))


def length(frame: Frame, value: Value) -> Expr:
    """The number of items."""
    return tables.length(frame, table_of(value))


def contains(frame: Frame, value: Value, item: Value) -> Expr:
    """`item in value`."""
    return Op("ge", (tables.find(frame, table_of(value), frame.atoms(item)), _ZERO), "b")


def _filtered(frame: Frame, value: Value, other: Value, inside: bool, what: str) -> Value:
    """The items that are in another set, too, or are not."""
    made = make(frame, frame.here, what)

    def keep(one: Value) -> None:
        one = frame.atoms(one)
        test = contains(frame, other, one)
        frame.branch(test if inside else negation(test), lambda: add(frame, made, one), lambda: None)

    frame.language.each(frame, frame.here, unordered(value), keep)
    return made


def subset(frame: Frame, value: Value, other: Value) -> Expr:
    """Whether all items of a set are in another."""
    result = frame.set(hir.TRUE, "inside")

    def check(one: Value) -> None:
        inner: hir.Body = []
        test = negation(contains(frame, other, one))
        frame.emit(hir.If(test, inner, []))
        with frame.into(inner):
            frame.emit(hir.Set([result], [hir.FALSE]))

    frame.language.each(frame, frame.here, unordered(value), check)
    return result


def equal(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two sets have the same items."""
    same = Op("eq", (length(frame, a), length(frame, b)), "b")
    return Op("and", (same, subset(frame, a, b)), "b")


def ordered(frame: Frame, name: str, a: Value, b: Value) -> Expr:
    """Whether one set is a part of the other: `a <= b`, `a < b`, and the other way."""
    if name in ("gt", "ge"):
        a, b = b, a
    inside = subset(frame, a, b)
    if name in ("le", "ge"):
        return inside
    return Op("and", (Op("lt", (length(frame, a), length(frame, b)), "b"), inside), "b")


def binary(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """`a | b`, `a & b`, `a - b` and `a ^ b` of two sets."""
    if is_never(a) or is_never(b):
        return NOTHING
    at = frame.here
    match name:
        case "bitor":
            made = of(frame, at, a, "union")
            frame.unrolled += ("second",)
            update(frame, at, made, b)
            frame.unrolled = frame.unrolled[:-1]
            return made
        case "bitand":
            return _filtered(frame, a, b, True, "both")
        case "sub":
            return _filtered(frame, a, b, False, "difference")
        case "bitxor":
            made = _filtered(frame, a, b, False, "one")
            frame.unrolled += ("second",)
            update(frame, at, made, _filtered(frame, b, a, False, "other"))
            frame.unrolled = frame.unrolled[:-1]
            return made
    frame.fail(f"{name} of sets")
    return NOTHING


def in_place(frame: Frame, node: ast.AST, name: str, value: Value, new: Value) -> None:
    """`value |= new`."""
    if not isinstance(new.type, Set):
        frame.fail("an operation in place of a set and what is none")
        return
    if name == "bitor":
        update(frame, node, value, new)
        return
    found = binary(frame, name, value, new)
    if is_never(found):
        return
    tables.clear(frame, table_of(value))
    frame.unrolled += ("kept",)
    update(frame, node, value, found)
    frame.unrolled = frame.unrolled[:-1]


def method(frame: Frame, value: Value, name: str, args: list[Value]) -> Value:
    """A method of a set."""
    node = frame.here
    match name, args:
        case "add", [item]:
            add(frame, value, item)
            return NONE
        case "remove", [item]:
            tables.remove(frame, table_of(value), item)
            return NONE
        case "discard", [item]:
            item = frame.atoms(item)
            there = frame.atom(contains(frame, value, item), "there")
            frame.branch(there, lambda: tables.remove(frame, table_of(value), item), lambda: None)
            return NONE
        case "clear", []:
            tables.clear(frame, table_of(value))
            return NONE
        case "copy", []:
            return of(frame, node, value, "copy")
        case "update", _:
            for i, more in enumerate(args):
                frame.unrolled += (("update", i),)
                update(frame, node, value, more)
                frame.unrolled = frame.unrolled[:-1]
            return NONE
        case "union", _:
            made = of(frame, node, value, "union")
            for i, other in enumerate(args):
                frame.unrolled += (("union", i),)
                if getattr(other.type, "cls", None) is Rest:
                    (several,) = items_of(other)
                    frame.language.each(frame, node, several, lambda one: update(frame, node, made, one))
                else:
                    update(frame, node, made, other)
                frame.unrolled = frame.unrolled[:-1]
            return made
        case "intersection" | "difference" | "symmetric_difference", [other]:
            names = {"intersection": "bitand", "difference": "sub"}
            if not isinstance(other.type, Set):
                other = of(frame, node, other, "other")
            return binary(frame, names.get(name, "bitxor"), value, other)
        case "issubset", [other] if isinstance(other.type, Set):
            return number(subset(frame, value, other))
        case "issuperset", [other] if isinstance(other.type, Set):
            return number(subset(frame, other, value))
    raise frame.not_closed(f"the method {name} of {describe(value.type)} with these arguments")
