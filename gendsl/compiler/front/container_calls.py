"""Python's functions that make containers and iterators, and that look into them; `bisect`."""

from __future__ import annotations

import bisect
import collections
from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import arrays, counters, list_methods, numbers, operators, sets, tables
from gendsl.compiler.front.binding import has_rest
from gendsl.compiler.front.containers import item, items_made, length
from gendsl.compiler.front.frame import Frame, only
from gendsl.compiler.front.list_methods import insert
from gendsl.compiler.front.lists import as_tuple, extend, list_of
from gendsl.compiler.front.loops import each
from gendsl.compiler.front.numbers import Handler, is_plain_tuple
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import Array, Dict, Iterator, List, Tuple
from gendsl.compiler.hir.values import NONE, Value, is_known, items_of, known, make_tuple, number, object_of


def _len(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    (value,) = args
    leaf = length(frame, value)
    return known(leaf.value) if isinstance(leaf, Const) else number(leaf)


def _iterator(name: str) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if name == "enumerate":
            only(frame, named, "start")
            start = args[1] if len(args) > 1 else named.get("start", known(0))
            args = [args[0], start]
        elif name == "zip" and has_rest(args):
            only(frame, named)
            (rows,) = items_of(args[-1])
            if len(args) > 1:
                raise frame.not_closed("zip of a list of values beside others")
            return Value(Iterator("columns", (rows.type,)), rows.leaves)
        elif name == "zip":
            only(frame, named, "strict")
            strict = named.get("strict", known(False))
            if not is_known(strict):
                raise frame.not_closed("zip that may be strict")
            if object_of(strict) and args:
                parts = make_tuple(args)
                assert isinstance(parts.type, Tuple)
                return Value(Iterator("zip_strict", parts.type.items), parts.leaves)
        else:
            only(frame, named)
        result = numbers.called(frame, range, *args) if name == "range" else None
        if result is not None:
            return result
        parts = make_tuple(args)
        assert isinstance(parts.type, Tuple)
        return Value(Iterator(name, parts.type.items), parts.leaves)

    return handle


def made_list(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    made = list_of(frame, frame.here, [], "list")
    if args:
        extend(frame, frame.here, made, args[0])
    return made


def _tuple(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    if not args:
        return known(())
    if is_plain_tuple(args[0].type) and not is_known(args[0]):
        return make_tuple(items_of(args[0]))
    result = numbers.called(frame, tuple, args[0])
    if result is not None:
        return result
    (given,) = args
    made = given if isinstance(given.type, List) else made_list(frame, args, named)
    items = items_made(frame, made)
    if items is not None:  # such a tuple can be a key of a dict
        return make_tuple(items)
    return as_tuple(frame, made_list(frame, args, named) if made is given else made)


def _set(is_frozen: bool) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)
        made = sets.make(frame, frame.here, "set") if not args else sets.of(frame, frame.here, args[0], "set")
        return sets.frozen(made) if is_frozen else made

    return handle


def _dict(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if args and isinstance(args[0].type, Dict) and not named:
        return tables.copied(frame, args[0])
    made = tables.make(frame, frame.here, "dict")

    def add(pair: Value) -> None:
        key, value = items_of(pair)
        tables.store(frame, made, key, value)

    if args:
        each(frame, frame.here, args[0], add)
    for name, value in named.items():
        tables.store(frame, made, known(name), value)
    return made


def _defaultdict(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    return counters.with_default(frame, args)


def _counter(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    return counters.counted(frame, args)


def _fromkeys(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    made = tables.make(frame, frame.here, "fromkeys")
    value = args[1] if len(args) > 1 else NONE
    each(frame, frame.here, args[0], lambda key: tables.store(frame, made, key, value))
    return made


def _sorted(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    key, descending = list_methods.sort_options(frame, named)
    given = args[0] if key is not None else sets.unordered(args[0])
    return list_methods.sorted_list(frame, given, key, descending, in_place=False)


def _bisect(side: str) -> Handler:
    """`bisect.bisect_left` and `bisect_right` of a list of numbers."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if len(args) != 2 or named:
            raise frame.not_closed("bisect with these arguments")
        values, wanted = args
        at: Callable[..., Value]
        if isinstance(values.type, Array) and values.type.rank == 1:
            at = arrays.row
        elif isinstance(values.type, List):
            at = item
        else:
            raise frame.not_closed("bisect with these arguments")
        low = frame.set(Const(0, "i"), "low")
        high = frame.set(length(frame, values), "high")
        label = frame.program.new_label()
        body: hir.Body = []
        frame.emit(hir.Loop(body, label))
        with frame.into(body):
            frame.emit(hir.If(Op("ge", (low, high), "b"), [hir.Leave(label)], []))
            middle = frame.set(Op("floordiv", (Op("add", (low, high), "i"), Const(2, "i")), "i"), "middle")
            one = frame.atoms(at(frame, values, middle))
            if side == "left":
                test = numbers.test_of(operators.compared(frame, "lt", one, wanted))
            else:
                test = numbers.negation(numbers.test_of(operators.compared(frame, "lt", wanted, one)))
            then: hir.Body = [hir.Set([low], [Op("add", (middle, Const(1, "i")), "i")])]
            frame.emit(hir.If(test, then, [hir.Set([high], [middle])]))
        return number(low)

    return handle


def _insort(side: str) -> Handler:
    """`bisect.insort_left` and `insort_right` of a list of numbers."""
    find = _bisect(side)

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if not (args and isinstance(args[0].type, List)):
            raise frame.not_closed("insort with these arguments")
        insert(frame, args[0], find(frame, args, named), args[1])
        return NONE

    return handle


CONTAINERS: dict[Any, Handler] = {
    len: _len, range: _iterator("range"), enumerate: _iterator("enumerate"), zip: _iterator("zip"),
    reversed: _iterator("reversed"), map: _iterator("map"),
    filter: _iterator("filter"), list: made_list, tuple: _tuple, set: _set(False), frozenset: _set(True),
    dict: _dict, dict.fromkeys: _fromkeys, collections.defaultdict: _defaultdict,
    collections.Counter: _counter, sorted: _sorted,
    bisect.bisect_left: _bisect("left"), bisect.bisect_right: _bisect("right"),
    bisect.bisect: _bisect("right"), bisect.insort_left: _insort("left"),
    bisect.insort_right: _insort("right"), bisect.insort: _insort("right"),
}  # fmt: skip
