"""Lists, tuples, dicts and strings: their items, how many there are, how they compare, and copies of them.

A list is stored where it is made, and every use of it is a reference to that place. A dict is a list of one
item: a list of its entries in their order, and a table that finds the entry of a key by open addressing.
"""

from __future__ import annotations

from enum import EnumType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import arrays, sets, tables, text_columns, texts
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import (
    append,
    as_tuple,
    extend,
    layout,
    like,
    list_of,
    pieces_of,
    sequence_of,
)
from gendsl.compiler.front.numbers import is_plain_tuple, negation, test_of
from gendsl.compiler.front.paths import is_path, listed
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.types import (
    NEVER,
    Array,
    Dict,
    Iterator,
    Known,
    List,
    Set,
    Text,
    Tuple,
    Union,
    describe,
    goes_once,
    leaves,
)
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_never,
    is_number,
    items_of,
    make_tuple,
    number,
    number_leaf,
)

MOST_ITEMS = 8
"""How many items a list may have that are known one by one."""


def items_made(frame: Frame, value: Value) -> list[Value] | None:
    """The items of a list that statements before have made one by one, if they are few; None of others."""
    count = frame.language.count_made(frame, value)
    if count is None or count > MOST_ITEMS:
        return None
    return [item(frame, value, Const(i, "i")) for i in range(count)]


def one_behind_another(frame: Frame, a: Value, b: Value) -> Value:
    """`a + b` of tuples, the length of one of which is known only when the text runs."""
    a, b = (listed(frame, one) if is_path(frame, one) else one for one in (a, b))
    at = frame.here
    made = list_of(frame, at, [], "sum")
    extend(frame, at, made, a)
    frame.unrolled += ("second",)
    extend(frame, at, made, b)
    frame.unrolled = frame.unrolled[:-1]
    return as_tuple(frame, made, (*pieces_of(a), *pieces_of(b)))


def length(frame: Frame, value: Value) -> Expr:
    """The length of a value."""
    value = frame.opened(value)
    match value.type:
        case Known(value=found) if isinstance(found, (str, tuple, frozenset, range, EnumType)):
            return Const(len(found), "i")
        case Tuple(items) if is_plain_tuple(value.type):
            return Const(len(items), "i")
        case Text():
            return text_columns.length(frame, value)
        case List(site):
            var = frame.fresh("n", "i")
            frame.emit(hir.Length(var, value.leaf, layout(frame, site)))
            return var
        case Array(rank=rank):
            if rank == 0:
                frame.fail("the length of a number")
            return value.leaves[2]
        case Dict():
            return tables.length(frame, value)
        case Set():
            return sets.length(frame, value)
        case Union():
            return number_leaf(frame.switch(value, lambda one: number(length(frame, one))), "i")
    if is_never(value):
        return Const(0, "i")
    if is_number(value) or value.type == NONE.type:
        frame.fail(f"the length of {describe(value.type)}")
        return Const(0, "i")
    if isinstance(value.type, Iterator):
        if goes_once(value.type):
            frame.fail("the length of an iterator")
            return Const(0, "i")
        count = frame.language.count(frame, value)
        return Const(count, "i") if isinstance(count, int) else count
    cls = getattr(value.type, "cls", None)
    if cls is not None and hasattr(cls, "__len__"):
        return number_leaf(frame.language.call_method(frame, value, "__len__", []), "i")
    raise frame.not_closed(f"the length of {describe(value.type)}")


def item(frame: Frame, value: Value, index: Expr) -> Value:
    """The item of a list at an index from -n to n - 1."""
    assert isinstance(value.type, List)
    kind = frame.program.facts.item(value.type.site)
    if kind == NEVER:  # nothing was added so far: what comes next may still say what it holds
        frame.emit(hir.Fail("an item of an empty list"))
        return NOTHING
    targets = [frame.fresh("t", k) for k in leaves(kind)]
    if not targets or frame.handler(IndexError) is not None:
        n, index = length(frame, value), frame.atom(index, "at")
        inside = both(Op("lt", (index, n), "b"), Op("ge", (index, Op("neg", (n,), "i")), "b"))
        frame.fail_unless(inside, "an index", IndexError)
    if not targets:
        return Value(kind)
    frame.emit(hir.Load(list(targets), value.leaf, leaves(kind), index))
    return Value(kind, tuple(targets))


def equal_sequences(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two values are equal, one of which is a list, or a tuple whose length is not known."""
    if isinstance(a.type, List) and isinstance(b.type, List):
        if sequence_of(frame, a) is not sequence_of(frame, b):
            return hir.FALSE
        return _equal_lists(frame, a, b)
    one, other = (a, b) if isinstance(a.type, List) else (b, a)
    if is_number(other) or texts.is_string(other) or other.type == NONE.type or isinstance(other.type, Dict):
        return hir.FALSE
    if not is_plain_tuple(other.type):
        raise frame.not_closed(f"== of {describe(a.type)} and {describe(b.type)}")
    if sequence_of(frame, one) is not tuple:
        return hir.FALSE
    items = items_of(other)
    same = frame.atom(Op("eq", (length(frame, one), Const(len(items), "i")), "b"))

    def alike() -> Value:
        result: Expr = hir.TRUE
        for i, wanted in enumerate(items):
            test = frame.language.equal_parts(
                frame, frame.atoms(item(frame, one, Const(i, "i"))), frame.atoms(wanted)
            )
            result = both(result, frame.atom(test))
        return number(result)

    return test_of(frame.branch(same, alike, lambda: number(hir.FALSE)))


def ordered_lists(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """Whether one of two lists, or of two tuples, comes before the other: the first items that differ say."""
    if sequence_of(frame, a) is not sequence_of(frame, b):
        frame.fail("an order of a list and a tuple")
        return NOTHING
    lengths = [frame.atom(length(frame, one), "n") for one in (a, b)]
    n = frame.atom(Op("imin", (lengths[0], lengths[1]), "i"), "n")
    result = frame.set(Op(name, (lengths[0], lengths[1]), "b"), "ordered")
    told = frame.set(hir.FALSE, "told")
    var = frame.fresh("i", "i")
    strict = {"le": "lt", "ge": "gt"}.get(name, name)

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, Const(0, "i"), n, Const(1, "i"), body, label)

    def lower() -> None:
        open_: hir.Body = []
        frame.emit(hir.If(negation(told), open_, []))
        with frame.into(open_):
            x, y = (frame.atoms(item(frame, one, var)) for one in (a, b))
            differ: hir.Body = []
            frame.emit(hir.If(negation(frame.language.equal_parts(frame, x, y)), differ, []))
            with frame.into(differ):
                order = test_of(frame.language.compared(frame, strict, x, y))
                frame.emit(hir.Set([result, told], [order, hir.TRUE]))

    frame.loop(frame.here, make, [], lower)
    return number(result)


def _equal_lists(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two lists have equal items."""
    assert isinstance(a.type, List) and isinstance(b.type, List)
    n = length(frame, a)
    same = frame.set(Op("eq", (n, length(frame, b)), "b"), "same")
    node = frame.node
    var = frame.fresh("i", "i")
    stop = frame.set(Op("select", (same, n, Const(0, "i")), "i"), "n")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, Const(0, "i"), stop, Const(1, "i"), body, label)

    def lower() -> None:
        test = frame.language.equal_parts(
            frame, frame.atoms(item(frame, a, var)), frame.atoms(item(frame, b, var))
        )
        inner: hir.Body = []
        frame.emit(hir.If(negation(test), inner, []))
        with frame.into(inner):
            frame.emit(hir.Set([same], [hir.FALSE]))

    frame.loop(node, make, [], lower)
    return same


# --- copies ----------------------------------------------------------------------------------------


def separate(frame: Frame, value: Value, what: Any) -> Value:
    """A value that is given, with containers of its own that may be changed."""
    node, before = frame.node, frame.unrolled
    match value.type:
        case Array():
            return arrays.as_array(frame, value, copy=True, what=("separate", what))
        case Union():
            return frame.switch(value, lambda one: separate(frame, one, (what, describe(one.type))))
        case Tuple(_, cls, names) if "r" in leaves(value.type):
            parts = items_of(value)
            return make_tuple([separate(frame, one, (what, i)) for i, one in enumerate(parts)], cls, names)
        case List():
            made = list_of(frame, node, [], ("separate", what))
            frame.unrolled += (("separate", what),)
            frame.language.each(
                frame, node, value, lambda one: append(frame, made, separate(frame, one, (what, "item")))
            )
            made = like(frame, value, made)
        case Set():
            frame.unrolled += (("separate", what),)
            made = sets.of(frame, node, value, "separate")
        case Dict():
            made = tables.make(frame, node, ("separate", what), value.type.missing)

            def add(pair: Value) -> None:
                key, kept = items_of(pair)
                tables.store(frame, made, key, separate(frame, kept, (what, "value")))

            frame.unrolled += (("separate", what),)
            frame.language.each(frame, node, Value(Iterator("items", (value.type,)), value.leaves), add)
        case _:
            return value
    frame.unrolled = before
    return made
