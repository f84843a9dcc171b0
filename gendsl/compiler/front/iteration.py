"""What a loop goes over: ranges, lists, tuples, arrays, dicts, and `enumerate`, `zip`, `reversed`, `map` of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import EnumType
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import arrays, library_deque, sets, tables, text_columns
from gendsl.compiler.front.comprehensions import visit_generated
from gendsl.compiler.front.containers import item, length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import append, as_tuple, for_each, index_leaf, list_of
from gendsl.compiler.front.numbers import is_plain_tuple
from gendsl.compiler.front.objects import object_attribute
from gendsl.compiler.front.operators import arithmetic, truth
from gendsl.compiler.front.subscripts import item_at
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import (
    Array,
    Dict,
    Generator,
    Iterator,
    Joined,
    Known,
    List,
    Number,
    Object,
    Set,
    Text,
    Tuple,
    Type,
    Union,
    describe,
    goes_once,
    leaves,
)
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    alternatives_of,
    is_known,
    is_never,
    is_number,
    items_of,
    known,
    make_tuple,
    number,
    object_of,
    parts_of,
)

LONGEST_OF_NUMBERS = 4
"""How many numbers a tuple may have that a loop goes over one by one: iterations over more would be as many
copies of its body, and in a loop over them as many times as many.
"""


LONGEST_TEXT = 32
"""How many characters a constant may have that a loop goes over one by one."""


@dataclass
class Sequence:
    """Something to loop over: how many items, and each of them.

    Attributes:
        count: how many; an int where that is known when the text is made.
        at: the item at a position.
        grows: the lists that the loop may change the length of while it runs.
    """

    count: int | Expr
    at: Callable[[Any], Value]
    grows: tuple[Value, ...] = ()
    fixed: bool = False  # items differ in type: the loop must be unrolled
    limit: Expr | None = None  # the loop ends there if that comes before the count
    visit: Callable[[Any, Callable[[Value], None]], None] | None = None  # in place of `at`: it may skip items


def count(frame: Frame, value: Value) -> int | Expr:
    """How many items a loop over a value goes over; an int where that is known when the text is made."""
    return sequence(frame, value).count


def sequence(frame: Frame, value: Value) -> Sequence:
    """What a loop over a value goes over."""
    value = frame.opened(value)
    match value.type:
        case Known(value=found):
            if isinstance(found, range):
                return _range(frame, *map(known, (found.start, found.stop, found.step)))
            if isinstance(found, str) and len(found) > LONGEST_TEXT:
                return _characters(frame, value)
            if isinstance(found, (tuple, str)):
                return Sequence(len(found), lambda i: known(found[i]), fixed=True)
            if isinstance(found, (dict, EnumType)):  # an enumeration never changes
                keys: list[Any] = list(found)
                return Sequence(len(keys), lambda i: known(keys[i]), fixed=True)
        case Tuple(items) if is_plain_tuple(value.type):
            parts = items_of(value)
            if len(items) > LONGEST_OF_NUMBERS and isinstance(items[0], Number) and len({*items}) == 1:
                made = list_of(frame, frame.here, parts, ("a tuple of", items[0]))
                return sequence(frame, made)
            return Sequence(len(items), lambda i: parts[i], fixed=True)
        case Text():
            return _characters(frame, value)
        case List():
            return Sequence(length(frame, value), lambda i: item(frame, value, _index(i)), (value,))
        case Array():
            return Sequence(length(frame, value), lambda i: arrays.row(frame, value, _index(i)))
        case Dict():
            return _entries(frame, value, "keys")
        case Set() if sets.has_order(frame, value):
            return sequence(frame, sets.unordered(value))
        case Object(cls=cls) if cls is library_deque.Deque:
            return sequence(frame, _values(frame, value))
        case Iterator(name, parts):
            return _iterator(frame, name, parts_of(value))
        case Generator():
            return _generated(frame, value)
        case Union(alternatives) if all(isinstance(one, (List, Array)) for one in alternatives):
            either = alternatives_of(value)
            return Sequence(
                length(frame, value),
                lambda i: frame.switch(value, lambda one: sequence(frame, one).at(i)),
                tuple(one for one in either if isinstance(one.type, List)),
            )
    if is_number(value) or value.type == known(None).type:
        frame.fail(f"a loop over {describe(value.type)}")
    if is_never(value) or not frame.live:
        return Sequence(0, lambda i: value)
    cls = type(object_of(value)) if is_known(value) else getattr(value.type, "cls", None)
    if isinstance(getattr(cls, "__iter__", None), FunctionType):
        own = frame.language.call_method(frame, value, "__iter__", [])
        if goes_once(own.type):
            return sequence(frame, own)
        raise frame.not_closed(f"a loop over {describe(value.type)}, which is its own iterator")
    narrower = frame.without(value, _has_no_items)
    if narrower is not value:
        return sequence(frame, narrower)
    fix = ", whose order only Python knows: write sorted(...)" if isinstance(value.type, Set) else ""
    raise frame.not_closed(f"a loop over {describe(value.type)}{fix}")


def _has_no_items(type: Type) -> bool:
    """Whether a loop over values of several types is not read for those of this one."""
    return isinstance(type, (Number, Text, Joined)) or type == known(None).type


def _characters(frame: Frame, value: Value) -> Sequence:
    every = text_columns.characters(frame, value)
    return Sequence(
        length(frame, every), lambda i: text_columns.character(value, item(frame, every, _index(i)))
    )


def _values(frame: Frame, value: Value) -> Value:
    """The list that a deque keeps its items in."""
    return object_attribute(frame, value, "_values")


def _index(i: Any) -> Expr:
    return Const(i, "i") if isinstance(i, int) else i


def _entries(frame: Frame, value: Value, what: str) -> Sequence:
    count, at = tables.entries(frame, value, what)
    return Sequence(count, lambda i: at(_index(i)))


def _generated(frame: Frame, value: Value) -> Sequence:
    """The items of a generator expression, each evaluated where it is used."""
    kind = value.type
    assert isinstance(kind, Generator)
    if kind.frame is not frame:
        raise frame.not_closed("a generator that another function goes through")
    inner = _all_of(frame, Value(kind.source, value.leaves))
    node = kind.node

    def visit(i: Any, lower: Callable[[Value], None]) -> None:
        visit_generated(frame, node, inner.at(i), lower)

    def at(i: Any) -> Value:
        found: list[Value] = []
        visit(i, found.append)
        return found[0] if found else NOTHING

    skips = visit if node.generators[0].ifs else None
    return Sequence(inner.count, at, inner.grows, inner.fixed, inner.limit, skips)


def _all_of(frame: Frame, value: Value) -> Sequence:
    """What a loop goes over, where no item may be skipped."""
    found = sequence(frame, value)
    if found.visit is not None:
        raise frame.not_closed("a generator with conditions in another iterator")
    return found


def _iterator(frame: Frame, name: str, parts: list[Value]) -> Sequence:
    match name:
        case "iter":
            return sequence(frame, parts[0])
        case "filter":
            given = _all_of(frame, parts[1])

            def visit(i: Any, lower: Callable[[Value], None]) -> None:
                one = frame.atoms(given.at(i))
                wanted = (
                    one
                    if parts[0].type == known(None).type
                    else frame.language.call(frame, parts[0], [one], {})
                )
                frame.branch(truth(frame, wanted), lambda: lower(one), lambda: None)

            return Sequence(given.count, given.at, given.grows, given.fixed, given.limit, visit)
        case "range":
            return _range(frame, *parts)
        case "keys" | "values" | "items":
            return _entries(frame, parts[0], name)
        case "enumerate":
            inner, first = _all_of(frame, parts[0]), parts[1]

            def numbered(i: Any) -> Value:
                index = known(i) if isinstance(i, int) else number(i)
                at = (
                    index
                    if is_known(first) and object_of(first) == 0
                    else arithmetic(frame, "add", first, index)
                )
                if is_known(index) and is_known(first):
                    at = known(object_of(index) + object_of(first))
                return make_tuple([at, inner.at(i)])

            return Sequence(inner.count, numbered, inner.grows, inner.fixed, inner.limit)
        case "zip" | "zip_strict":
            if any(isinstance(part.type, Generator) for part in parts[:-1]):  # it may make one item more
                raise frame.not_closed("zip of a generator that is not its last argument")
            sequences = [_all_of(frame, part) for part in parts]
            counts = [one.count for one in sequences]
            fixed = any(one.fixed for one in sequences)
            if name == "zip_strict":
                _alike(frame, counts)
                if not fixed:
                    counts = counts[:1]  # they are all alike
            grows = tuple(value for one in sequences for value in one.grows)
            lengths = [count for count in counts if isinstance(count, int)]
            limits = [one.limit for one in sequences if one.limit is not None]
            if fixed:  # as many as a tuple has; a list beside it may end before
                limits += [count for count in counts if not isinstance(count, int)]
                counts = list(lengths)
            limit = _least(frame, list(limits)) if limits else None
            assert not isinstance(limit, int)
            least = _least(frame, counts)

            def together(i: Any) -> Value:
                return make_tuple([one.at(i) for one in sequences])

            return Sequence(least, together, grows, fixed, limit)
        case "columns":
            return columns(frame, parts[0])
        case "reversed":
            inner = _all_of(frame, parts[0])
            if isinstance(inner.count, int):
                last = inner.count - 1
                if inner.fixed:
                    return Sequence(inner.count, lambda i: inner.at(last - i), fixed=True)
            n = inner.count if not isinstance(inner.count, int) else Const(inner.count, "i")
            n = frame.atom(n, "n")

            def backwards(i: Any) -> Value:
                i = Const(i, "i") if isinstance(i, int) else i
                return inner.at(frame.op("sub", (Op("sub", (n, Const(1, "i")), "i"), i), "i"))

            return Sequence(inner.count, backwards)
        case "map":
            inner = _iterator(frame, "zip", parts[1:])
            return Sequence(
                inner.count,
                lambda i: frame.language.call(frame, parts[0], items_of(inner.at(i)), {}),
                inner.grows,
                inner.fixed,
                inner.limit,
            )
    raise frame.not_closed(f"a loop over {name}")


def columns(frame: Frame, rows: Value) -> Sequence:
    """`zip(*rows)` of a list of tuples of one length, or of lists or arrays: tuples as long as the list."""
    assert isinstance(rows.type, List)
    kind, here = frame.program.facts.item(rows.type.site), frame.here
    n = frame.atom(length(frame, rows), "n")

    def column(i: Any) -> Value:
        frame.unrolled += (("column", i if isinstance(i, int) else "each"),)
        made = list_of(frame, here, [], "column")
        at = known(i) if isinstance(i, int) else number(i)
        for_each(frame, here, rows, lambda one, _: append(frame, made, item_at(frame, one, at)))
        frame.unrolled = frame.unrolled[:-1]
        return as_tuple(frame, made)

    if is_plain_tuple(kind):
        count = len(items_of(Value(kind, tuple(hir.ZEROS[k] for k in leaves(kind)))))
        some = Op("ne", (n, Const(0, "i")), "b")
        limit = frame.atom(Op("select", (some, Const(count, "i"), Const(0, "i")), "i"), "n")
        return Sequence(count, column, fixed=True, limit=limit)
    if is_never(Value(kind)):
        return Sequence(0, lambda i: NOTHING)
    if not isinstance(kind, (List, Array)):
        raise frame.not_closed(f"zip of a list of {describe(kind)}")
    none = Op("eq", (n, Const(0, "i")), "b")
    least = frame.set(Op("select", (none, Const(0, "i"), Const(2**62, "i")), "i"), "least")

    def shorter(one: Value, _: Any) -> None:
        frame.emit(hir.Set([least], [Op("imin", (least, length(frame, one)), "i")]))

    for_each(frame, here, rows, shorter)
    return Sequence(least, column)


def _alike(frame: Frame, counts: list[int | Expr]) -> None:
    """Where the parts of `zip(..., strict=True)` are not of one length, Python raises."""
    first, *others = [Const(count, "i") if isinstance(count, int) else count for count in counts]
    for other in others:
        if isinstance(first, Const) and isinstance(other, Const):
            frame.fail_if(Const(first != other, "b"), "zip() of different lengths")
        elif first != other:
            frame.fail_if(Op("ne", (first, other), "b"), "zip() of different lengths")


def _least(frame: Frame, counts: list[int | Expr]) -> int | Expr:
    if all(isinstance(count, int) for count in counts):
        return min(counts, default=0)
    found: Expr | None = None
    for count in counts:
        leaf = Const(count, "i") if isinstance(count, int) else count
        found = leaf if found is None or found == leaf else frame.set(Op("imin", (found, leaf), "i"), "n")
    assert found is not None
    return found


def _range(frame: Frame, *parts: Value) -> Sequence:
    if len(parts) == 1:
        parts = (known(0), parts[0], known(1))
    elif len(parts) == 2:
        parts = (*parts, known(1))
    if any(map(is_never, parts)):
        return Sequence(0, lambda i: parts[0])
    start, stop, step = (frame.atom(index_leaf(frame, part), "n") for part in parts)
    if isinstance(step, Const) and step.value == 0:
        frame.fail("range() with a step of 0")
        return Sequence(0, lambda i: parts[0])
    if start == Const(0, "i") and step == Const(1, "i"):
        return Sequence(stop, lambda i: known(i) if isinstance(i, int) else number(i))
    count = frame.set(Op("range_length", (start, stop, step), "i"), "n")

    def at(i: Any) -> Value:
        i = Const(i, "i") if isinstance(i, int) else i
        if step == Const(1, "i"):
            return number(Op("add", (start, i), "i"))
        return number(Op("add", (start, Op("mul", (step, i), "i")), "i"))

    return Sequence(count, at)
