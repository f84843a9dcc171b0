"""Python's functions that go through values, to add, multiply or compare them."""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import exact, numbers, operators, sets
from gendsl.compiler.front.binding import arguments
from gendsl.compiler.front.comprehensions import comprehension
from gendsl.compiler.front.container_calls import made_list
from gendsl.compiler.front.frame import Frame, fresh_name, only
from gendsl.compiler.front.iteration import sequence
from gendsl.compiler.front.loops import loop_over
from gendsl.compiler.front.number_calls import to_float
from gendsl.compiler.front.numbers import Handler, is_plain_tuple
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import Known, Number, Type, goes_once
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
    numpys,
    object_of,
)


def _extreme(name: str) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named, "key", "default")
        if not args:
            frame.fail(f"{name} without arguments")
            return NOTHING
        key = named.get("key", NONE)
        by = None if key.type == NONE.type else key
        if len(args) == 1 and by is None:
            args = [sets.unordered(args[0])]
        if len(args) == 1 and goes_once(args[0].type):
            args = [made_list(frame, args, {})]
        values: list[Value] | None = args if len(args) > 1 else None
        if (
            values is None
            and (is_plain_tuple(args[0].type) or isinstance(args[0].type, Known))
            and not isinstance(getattr(args[0].type, "value", ()), range)
        ):
            values = items_of(args[0])
        if values is not None and by is None:
            if not values:
                if "default" in named:
                    return named["default"]
                frame.fail(f"{name} of nothing")
                return NOTHING
            return operators.extreme(frame, name, values)
        every = args[0] if values is None else make_tuple(values)
        found = sequence(frame, every)
        if found.fixed:
            found = sequence(frame, made_list(frame, [every], {}))
        count = frame.atom(Const(found.count, "i") if isinstance(found.count, int) else found.count, "n")
        empty = Op("eq", (count, Const(0, "i")), "b")

        def best() -> Value:
            first = frame.atoms(found.at(Const(0, "i")))
            measure = (
                (lambda one: frame.language.call(frame, by, [one], {}))
                if by is not None
                else (lambda one: one)
            )
            best_name, rank_name = fresh_name(frame, name), fresh_name(frame, f"{name} by")
            frame.env[best_name] = first
            frame.env[rank_name] = frame.atoms(measure(first))
            var = frame.fresh("i", "i")

            def make(body: hir.Body, label: int) -> hir.Statement:
                return hir.For(var, Const(1, "i"), count, Const(1, "i"), body, label)

            def lower() -> None:
                one = frame.atoms(found.at(var))
                rank = frame.atoms(measure(one))
                better = operators.compared(
                    frame, "lt" if name == "min" else "gt", rank, frame.env[rank_name]
                )
                test = numbers.test_of(better)
                if by is None:
                    chosen = frame.choose(test, lambda: one, lambda: frame.env[best_name])
                    frame.env[best_name] = frame.env[rank_name] = chosen
                    return
                both = frame.branch(
                    test,
                    lambda: make_tuple([one, rank]),
                    lambda: make_tuple([frame.env[best_name], frame.env[rank_name]]),
                )
                frame.env[best_name], frame.env[rank_name] = items_of(both)

            frame.loop(frame.here, make, [best_name, rank_name], lower)
            frame.env.pop(rank_name)
            return frame.env.pop(best_name)

        if "default" in named:
            return frame.branch(empty, lambda: named["default"], best)
        frame.fail_if(empty, f"{name} of nothing")
        return best()

    return handle


def _sum(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named, "start")
    value = sets.unordered(args[0])
    start = args[1] if len(args) > 1 else named.get("start", known(0))
    node = frame.here
    total = fresh_name(frame, "total")
    frame.env[total] = start
    added = [total]
    if frame.program.is_recorded:  # where nothing is added the sum is of the type of what it starts with
        added.append(fresh_name(frame, "any"))
        frame.env[added[1]] = known(False)
    kinds: list[Type] = []
    flags = added[1:]
    compensates = frame.program.records and sys.version_info >= (3, 12)
    if compensates:
        lost = fresh_name(frame, "lost")
        added.append(lost)
        frame.env[lost] = known(0.0)

    def add(one: Value) -> None:
        frame.here = node
        kinds.append(one.type)
        before = frame.env[total]
        frame.env[total] = operators.arithmetic(frame, "add", before, one)
        if compensates and is_number(one) and is_number(frame.env[total]):
            frame.env[lost] = _with_lost(frame, frame.env[lost], before, one, frame.env[total])
        for name in flags:
            frame.env[name] = known(True)

    loop_over(frame, node, value, added, add)
    found, *flags_found = (frame.env.pop(name) for name in [total, *flags])
    mixes = isinstance(found.type, Number) and found.type.mixed and kind_of(start) == "i"
    if flags and mixes and all(isinstance(kind, Number) and not kind.mixed for kind in kinds):
        frame.fail_unless(number_leaf(flags_found[0], "b"), "a sum of nothing, which is an int")
        (kind, *others) = {numpys(Value(kind)) for kind in kinds if isinstance(kind, Number)}
        if not others:
            found = Value(Number("f", kind), found.leaves)
    if compensates:
        more = frame.env.pop(lost)
        if is_number(found) and kind_of(found) == "f":
            starts_plainly = start.type == Number("f") or (is_known(start) and object_of(start) == 0)
            if not starts_plainly or any(kind != Number("f") for kind in kinds):
                what = "sum of others than floats, or from others"
                found = Value(found.type, (exact.noted(frame, number_leaf(found, "f"), what),))
            whole, rest = number_leaf(found, "f"), number_leaf(more, "f")
            counts = Op("and", (Op("ne", (rest, Const(0.0, "f")), "b"), Op("isfinite", (rest,), "b")), "b")
            found = Value(found.type, (Op("select", (counts, Op("add", (whole, rest), "f"), whole), "f"),))
    return found


def _with_lost(frame: Frame, lost: Value, total: Value, one: Value, after: Value) -> Value:
    """What rounding has taken away of a sum of floats with one more, as Python's `sum` counts it (Neumaier).

    Args:
        lost: what it has taken away before.
        total, after: the sum without the one, and with it.
    """
    a, b, c = (frame.atom(number_leaf(value, "f")) for value in (total, one, after))
    larger = Op("ge", (Op("abs", (a,), "f"), Op("abs", (b,), "f")), "b")
    first = Op("add", (Op("sub", (a, c), "f"), b), "f")
    second = Op("add", (Op("sub", (b, c), "f"), a), "f")
    more = Op("select", (larger, first, second), "f")
    return number(Op("add", (number_leaf(lost, "f"), more), "f"))


def _product(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named, "start")
    node = frame.here
    total = fresh_name(frame, "product")
    frame.env[total] = named.get("start", known(1))

    def multiply(one: Value) -> None:
        frame.here = node
        frame.env[total] = operators.arithmetic(frame, "mul", frame.env[total], one)

    loop_over(frame, node, args[0], [total], multiply)
    return frame.env.pop(total)


def _fsum(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    found = to_float(frame, [_sum(frame, args, named)], {})
    if frame.program.records and not is_never(found):
        found = Value(found.type, (exact.noted(frame, number_leaf(found, "f"), "math.fsum"),))
    return found


def _any_all(is_any: bool) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        node = frame.here
        result = frame.set(Const(not is_any, "b"), "any" if is_any else "all")

        def lower(one: Value) -> None:
            test = operators.truth(frame, one)
            inner: hir.Body = [hir.Set([result], [Const(is_any, "b")])]
            frame.emit(hir.If(test if is_any else numbers.negation(test), inner, []))

        loop_over(frame, node, sets.unordered(args[0]), [], lower)
        return number(result)

    return handle


def quick(is_any: bool) -> Callable[[Frame, ast.Call], Value]:
    """`any` or `all` of a generator expression, which ends at the first item that decides it."""

    def handle(frame: Frame, node: ast.Call) -> Value:
        if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp) or node.keywords:
            args, named = arguments(frame, node)
            return _any_all(is_any)(frame, args, named)
        inner = node.args[0]
        first = frame.language.expression(frame, inner.generators[0].iter)
        result = frame.set(Const(not is_any, "b"), "any" if is_any else "all")

        def add() -> None:
            open_: hir.Body = []  # what comes after the item that decides is not evaluated
            test = result if not is_any else Op("not", (result,), "b")
            frame.emit(hir.If(test, open_, []))
            with frame.into(open_):
                found = operators.truth(frame, frame.language.expression(frame, inner.elt))
                frame.emit(hir.Set([result], [found]))

        comprehension(frame, inner.generators, add, first)
        return number(result)

    return handle


REDUCTIONS: dict[Any, Handler] = {
    min: _extreme("min"), max: _extreme("max"), sum: _sum, math.fsum: _fsum, math.prod: _product,
    any: _any_all(True), all: _any_all(False),
}  # fmt: skip
