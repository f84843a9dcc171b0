"""Lists, tuples, dicts and strings: what can be done with them, and what it is in the text.

A list is stored where it is made, and every use of it is a reference to that place. A dict is a list of one
item: a list of its entries in their order, and a table that finds the entry of a key by open addressing.

Subscripts, operators and methods of all containers share their items, so this is one module.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import array_places, arrays, outside, sets, tables, texts, traces
from gendsl.compiler.front.array_axes import joined
from gendsl.compiler.front.arrays import as_array
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import (
    append,
    as_tuple,
    copied,
    extend,
    for_each,
    index_leaf,
    layout,
    like,
    list_of,
    pieces_of,
    sequence_of,
    slice_bounds,
    store,
    writable,
)
from gendsl.compiler.front.numbers import is_plain_tuple, negation, no_number, test_of
from gendsl.compiler.front.paths import is_path, listed
from gendsl.compiler.hir import Const, Expr, Op, Var, both
from gendsl.compiler.hir.types import (
    NEVER,
    Array,
    Dict,
    Iterator,
    Known,
    List,
    Number,
    Set,
    SubTrace,
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
    is_known,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
    object_of,
)

# --- lists -----------------------------------------------------------------------------------------


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
        case Known(value=found) if isinstance(found, (str, tuple, frozenset, range)):
            return Const(len(found), "i")
        case Tuple(items) if is_plain_tuple(value.type):
            return Const(len(items), "i")
        case Text():
            return texts.length(frame, value)
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
    if not targets:
        n = length(frame, value)
        frame.fail_unless(
            both(Op("lt", (index, n), "b"), Op("ge", (index, Op("neg", (n,), "i")), "b")), "an index"
        )
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


# --- operators -------------------------------------------------------------------------------------


def binary(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """`+` and `*` of sequences."""
    at = frame.here
    if isinstance(a.type, Set) and isinstance(b.type, Set):
        return sets.binary(frame, name, a, b)
    if name == "bitor" and isinstance(a.type, Dict) and isinstance(b.type, Dict):
        return tables.united(frame, a, b)
    lists = [isinstance(one.type, List) for one in (a, b)]
    if name == "add" and any(lists) and (all(lists) or is_plain_tuple((b if lists[0] else a).type)):
        kinds = [sequence_of(frame, one) if isinstance(one.type, List) else tuple for one in (a, b)]
        if kinds[0] is not kinds[1]:
            frame.fail("add of a list and a tuple")
            return NOTHING
        if kinds[0] is tuple:
            return one_behind_another(frame, a, b)
        made = list_of(frame, at, [], "sum")
        extend(frame, at, made, a)
        frame.unrolled += ("second",)
        extend(frame, at, made, b)
        frame.unrolled = frame.unrolled[:-1]
        return made
    if name == "add" and is_plain_tuple(a.type) and is_plain_tuple(b.type):
        return make_tuple([*items_of(a), *items_of(b)])
    if name == "mul" and (is_number(a) or is_number(b)):
        sequence, count = (b, a) if is_number(a) else (a, b)
        if isinstance(sequence.type, List) and kind_of(count) != "f":
            return like(frame, sequence, _repeated(frame, at, sequence, count))
        if is_plain_tuple(sequence.type) and is_known(count) and kind_of(count) != "f":
            return make_tuple(items_of(sequence) * object_of(count))
        computes = kind_of(count) != "f" and (is_plain_tuple(sequence.type) or texts.is_string(sequence))
    else:
        if name == "add" and texts.is_string(a) and texts.is_string(b):
            return texts.joined(frame, [a, b])
        if name == "mod" and is_known(a) and isinstance(object_of(a), str):
            return texts.formatted(frame, object_of(a), b)
        computes = texts.is_string(a) and name == "mod"
    if not computes and all(is_number(one) or no_number(one) for one in (a, b)):
        frame.fail(f"{name} of {describe(a.type)} and {describe(b.type)}")
        return NOTHING
    raise frame.not_closed(f"{name} of {describe(a.type)} and {describe(b.type)}")


def _repeated(frame: Frame, at: ast.AST, a: Value, count: Value) -> Value:
    """`a * count` of a list."""
    assert isinstance(a.type, List)
    facts = frame.program.facts
    kind = facts.item(a.type.site)
    made = frame.out[-1] if frame.out else None
    if (
        isinstance(made, hir.New)
        and made.target == a.leaf
        and len(made.items) == 1
        and made.layout == leaves(kind)
    ):
        frame.out.pop()  # `[x] * n`
        site = frame.site(at, "repeated")
        facts.grow_item(site, kind)
        kept = facts.item(site)
        one = facts.convert(Value(kind, made.items[0]), kept)
        var = frame.fresh("items", "r")
        frame.emit(hir.Fill(var, leaves(kept), index_leaf(frame, count), one))
        return Value(List(site), (var,))
    result = list_of(frame, at, [], "repeated")
    var = frame.fresh("i", "i")
    times = frame.atom(index_leaf(frame, count), "n")

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(var, Const(0, "i"), times, Const(1, "i"), body, label)

    frame.loop(at, make, [], lambda: extend(frame, at, result, a))
    return result


def repeat(frame: Frame, node: ast.AST, value: Value, count: Value) -> None:
    """`value *= count` of a list."""
    assert isinstance(value.type, List)
    writable(frame, value)
    times = frame.atom(index_leaf(frame, count), "n")
    if not frame.live:
        return
    site = value.type.site
    none: hir.Body = []
    frame.emit(hir.If(Op("le", (times, Const(0, "i")), "b"), none, []))
    with frame.into(none):
        frame.emit(hir.Truncate(value.leaf, layout(frame, site), Const(0, "i"), site))
    more = frame.set(Op("sub", (times, Const(1, "i")), "i"), "n")
    extend(frame, node, value, _repeated(frame, node, value, number(more)))


def contains(frame: Frame, container: Value, value: Value) -> Expr:
    """`value in container`."""
    match container.type:
        case Known(value=found) if isinstance(found, str) and is_known(value):
            return Const(object_of(value) in found, "b")
        case Text() if is_known(value) and isinstance(object_of(value), str):
            return test_of(texts.told(frame, container, "__contains__", [value]) or NOTHING)
        case Known(value=range() as found) if is_number(value) and kind_of(value) != "f":
            x = frame.atom(number_leaf(value, "i"))
            inside = both(
                Op("ge", (x, Const(found.start, "i")), "b"), Op("lt", (x, Const(found.stop, "i")), "b")
            )
            if found.step != 1:
                raise frame.not_closed("`in` a range with a step")
            return inside
        case Known(value=found) if isinstance(found, (tuple, frozenset)):
            return _any(
                frame, [frame.language.equal_parts(frame, known(one), frame.atoms(value)) for one in found]
            )
        case Tuple() if is_plain_tuple(container.type):
            value = frame.atoms(value)
            return _any(frame, [frame.language.equal_parts(frame, one, value) for one in items_of(container)])
        case List():
            found_at = frame.set(hir.FALSE, "found")
            value = frame.atoms(value)

            def lower(one: Value, _: Var) -> None:
                inner: hir.Body = []
                frame.emit(hir.If(frame.language.equal_parts(frame, frame.atoms(one), value), inner, []))
                with frame.into(inner):
                    frame.emit(hir.Set([found_at], [hir.TRUE]))

            for_each(frame, frame.here, container, lower)
            return found_at
        case Set():
            return sets.contains(frame, container, value)
        case Dict():
            return Op("ge", (tables.find(frame, container, value), Const(0, "i")), "b")
        case Union():
            return test_of(frame.switch(container, lambda one: number(contains(frame, one, value))))
        case _ if is_never(container):
            return hir.FALSE
    if isinstance(container.type, SubTrace):
        return traces.contains(frame, container, value)
    cls = getattr(container.type, "cls", None)
    if isinstance(cls, type) and isinstance(getattr(cls, "__contains__", None), FunctionType):
        return frame.language.truth(
            frame, frame.language.call_method(frame, container, "__contains__", [value])
        )
    raise frame.not_closed(f"`in` {describe(container.type)}")


def _any(frame: Frame, tests: list[Expr]) -> Expr:
    result: Expr = hir.FALSE
    for test in tests:
        if isinstance(test, Const):
            if test.value:
                return hir.TRUE
            continue
        result = test if isinstance(result, Const) else frame.atom(Op("or", (result, test), "b"))
    return result


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


# --- subscripts ------------------------------------------------------------------------------------


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
        case Tuple() | Known(value=tuple()) if is_plain_tuple(value.type):
            return _of_tuple(frame, items_of(value), index)
        case Number(numpy=2) if is_plain_tuple(index.type) and not items_of(index):
            return value
        case Known(value=str() as text) if is_known(index):
            try:
                return known(text[object_of(index)])
            except (IndexError, TypeError):
                frame.fail("an index of a string")
                return NOTHING
        case Known(value=dict() as table) if is_known(index):
            try:
                return outside.constant(frame, table[object_of(index)])
            except (KeyError, TypeError):
                frame.fail("a key of a dict")
                return NOTHING
    cls = getattr(value.type, "cls", None)
    if cls is not None and hasattr(cls, "__getitem__"):
        return frame.language.call_method(frame, value, "__getitem__", [index])
    raise frame.not_closed(f"an item of {describe(value.type)}")


def _of_tuple(frame: Frame, items: list[Value], index: Value) -> Value:
    if is_known(index):
        try:
            found: Value = items[object_of(index)]
            return found
        except (IndexError, TypeError):
            frame.fail("an index of a tuple")
            return NOTHING
    at = frame.atom(index_leaf(frame, index), "at")
    n = len(items)
    frame.fail_unless(
        both(Op("ge", (at, Const(-n, "i")), "b"), Op("lt", (at, Const(n, "i")), "b")), "an index"
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
    sliced = is_plain_tuple(value.type) or isinstance(value.type, Known)
    if all(map(is_known, ends)) and sliced:
        where = slice(*(object_of(end) for end in ends))
        if isinstance(value.type, Known) and isinstance(object_of(value), str):
            return known(object_of(value)[where])
        return make_tuple(items_of(value)[where])
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


# --- methods ---------------------------------------------------------------------------------------


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

    def outer(body: hir.Body, label: int) -> hir.Statement:
        return hir.For(i, Const(1, "i"), n, Const(1, "i"), body, label)

    def insert_one() -> (
        None
    ):  # insertion from the right; a merge sort for long lists is in the printers' library
        moving = frame.atoms(item(frame, made, i))
        its_key = frame.atoms(item(frame, keys, i)) if keys is not made else moving
        j = frame.set(Op("add", (i, Const(0, "i")), "i"), "j")
        label = frame.program.new_label()
        body: hir.Body = []
        frame.emit(hir.Loop(body, label))
        with frame.into(body):
            stop: hir.Body = [hir.Leave(label)]
            frame.emit(hir.If(Op("le", (j, Const(0, "i")), "b"), stop, []))
            before = frame.set(Op("sub", (j, Const(1, "i")), "i"), "before")
            other = frame.atoms(item(frame, keys, before))
            order = (
                frame.language.compared(frame, "lt", other, its_key)
                if descending
                else frame.language.compared(frame, "lt", its_key, other)
            )
            stop = [hir.Leave(label)]
            frame.emit(hir.If(negation(test_of(order)), stop, []))
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
    return made


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
    frame.fail_if(Op("lt", (found, Const(0, "i")), "b"), "not in the list")
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


def text_method(frame: Frame, value: Value, name: str, args: list[Value]) -> Value:
    """A method of a string that is known."""
    if name == "format" and is_known(value) and not all(map(is_known, args)):
        return texts.format_method(frame, object_of(value), args)
    found = texts.told(frame, value, name, args) if isinstance(value.type, Text) else None
    if found is not None:
        return found
    if isinstance(value.type, Text) or not all(map(is_known, args)):
        raise frame.not_closed(f"the method {name} of a string that is not a constant")
    found = getattr(object_of(value), name)(*(object_of(arg) for arg in args))
    if isinstance(found, (str, int, bool, tuple)):
        return known(found)
    if isinstance(found, list):
        return list_of(frame, frame.here, [known(one) for one in found])
    raise frame.not_closed(f"the method {name} of a string")


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


def sort_options(frame: Frame, named: dict[str, Value]) -> tuple[Callable[[Value], Value] | None, bool]:
    """The arguments `key` and `reverse` of a sort."""
    descending = named.get("reverse", known(False))
    if not is_known(descending) or set(named) - {"key", "reverse"}:
        raise frame.not_closed("a sort whose order is not a constant")
    key = named.get("key", NONE)
    by = None if key.type == NONE.type else lambda one: frame.language.call(frame, key, [one], {})
    return by, bool(object_of(descending))
