"""Operators of containers: `+`, `*` and `in`."""

from __future__ import annotations

import ast
from collections import Counter
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import (
    library_counters,
    library_searches,
    sets,
    tables,
    text_columns,
    texts,
    traces,
)
from gendsl.compiler.front.containers import one_behind_another
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import (
    extend,
    for_each,
    index_leaf,
    layout,
    like,
    list_of,
    sequence_of,
    writable,
)
from gendsl.compiler.front.numbers import is_plain_tuple, no_number, test_of
from gendsl.compiler.hir import Const, Expr, Op, Var
from gendsl.compiler.hir.types import (
    Dict,
    Iterator,
    Joined,
    Known,
    List,
    Set,
    SubTrace,
    Text,
    Tuple,
    Union,
    describe,
    leaves,
)
from gendsl.compiler.hir.values import (
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
    object_of,
    parts_of,
)

_OF_COUNTERS: dict[str, Any] = {
    "add": library_counters.plus, "sub": library_counters.minus, "bitor": library_counters.most,
    "bitand": library_counters.least,
}  # fmt: skip


def binary(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """`+` and `*` of sequences."""
    at = frame.here
    if isinstance(a.type, Set) and isinstance(b.type, Set):
        return sets.binary(frame, name, a, b)
    if isinstance(a.type, Dict) and isinstance(b.type, Dict):
        if a.type.missing is b.type.missing is Counter and name in _OF_COUNTERS:
            return frame.language.call_function(frame, _OF_COUNTERS[name], [a, b], {})
        if name == "bitor":
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
        case Text() | Known(value=str()) if texts.is_string(value) and not isinstance(value.type, Joined):
            every = [container, value]
            if not any(map(is_known, every)):
                raise frame.not_closed("`in` of two strings of the data")
            return test_of(text_columns.told(frame, "__contains__", every) or NOTHING)
        case Known(value=range()) | Iterator(name="range") if is_number(value) and kind_of(value) != "f":
            return test_of(of_range(frame, library_searches.in_range, container, value))
        case Known(value=found) if isinstance(found, (tuple, frozenset)):
            return any_of(
                frame, [frame.language.equal_parts(frame, known(one), frame.atoms(value)) for one in found]
            )
        case Tuple() if is_plain_tuple(container.type):
            value = frame.atoms(value)
            tests = [frame.language.equal_parts(frame, one, value) for one in items_of(container)]
            return any_of(frame, tests)
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


def of_range(frame: Frame, text: Any, container: Value, value: Value) -> Value:
    """What a function of the library says of a number and the start, stop and step of a range."""
    if is_known(container):
        found = object_of(container)
        parts = tuple(map(known, (found.start, found.stop, found.step)))
    else:
        parts = tuple(parts_of(container))
    start, stop, step = (known(0), *parts, known(1)) if len(parts) == 1 else (*parts, known(1))[:3]
    return frame.language.call_function(frame, text, [value, start, stop, step], {})


def any_of(frame: Frame, tests: list[Expr]) -> Expr:
    result: Expr = hir.FALSE
    for test in tests:
        if isinstance(test, Const):
            if test.value:
                return hir.TRUE
            continue
        result = test if isinstance(result, Const) else frame.atom(Op("or", (result, test), "b"))
    return result
