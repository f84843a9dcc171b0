"""Python's own functions, and those of `math`, `bisect` and `operator`, by what they mean.

It is one module, as each function takes some lines and none stands by itself.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import collections
import dataclasses
import functools
import itertools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import (
    array_calls,
    arrays,
    counters,
    exact,
    library_numbers,
    list_methods,
    lists,
    numbers,
    objects,
    operators,
    sets,
    tables,
    texts,
)
from gendsl.compiler.front.binding import arguments, has_rest
from gendsl.compiler.front.comprehensions import comprehension
from gendsl.compiler.front.containers import item, items_made, length
from gendsl.compiler.front.frame import Frame, fresh_name, only
from gendsl.compiler.front.iteration import sequence
from gendsl.compiler.front.iterator_calls import ITERATORS, first_of
from gendsl.compiler.front.list_methods import insert
from gendsl.compiler.front.lists import as_tuple, extend, list_of
from gendsl.compiler.front.loops import each, loop_over
from gendsl.compiler.front.numbers import Handler, is_plain_tuple
from gendsl.compiler.front.operator_calls import OPERATORS
from gendsl.compiler.front.scalar_calls import SCALARS, rounded
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import (
    Array,
    Closure,
    Dict,
    Iterator,
    Known,
    List,
    Number,
    Tuple,
    Type,
    Union,
    describe,
    goes_once,
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
    may_be_unset,
    number,
    number_leaf,
    numpys,
    object_of,
)

_ANY_NUMBER = object()
"""The type of a number that may be Python's or NumPy's."""


def call(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of a function that has a meaning here; None for any other."""
    try:
        hash(function)
    except TypeError:
        return None
    if function in numbers.OF_NUMBERS and not named:
        name = numbers.OF_NUMBERS[function]
        if function is math.log and len(args) == 2:
            top, base = (numbers.call_math(frame, "log", math.log, [arg]) for arg in args)
            return operators.arithmetic(frame, "truediv", top, base)
        return numbers.call_math(frame, name, function, args)
    handler = _HANDLERS.get(function)
    if handler is not None:
        if any(map(is_never, args)):
            return NOTHING
        return handler(frame, args, named)
    return array_calls.call(frame, function, args, named)


def _len(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    (value,) = args
    leaf = length(frame, value)
    return known(leaf.value) if isinstance(leaf, Const) else number(leaf)


def _abs(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    if isinstance(value.type, Array):
        return arrays.elementwise(frame, value, lambda leaf: Op("abs", (leaf,), leaf.kind))
    kind = kind_of(value)
    if kind == "b" and numpys(value):
        raise frame.not_closed("abs() of a truth value that may be NumPy's")
    wide = "f" if kind == "f" else "i"
    return number(frame.op("abs", (number_leaf(value, wide),), wide), value)


def _extreme(name: str) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named, "key", "default")
        key = named.get("key", NONE)
        by = None if key.type == NONE.type else key
        if len(args) == 1 and by is None:
            args = [sets.unordered(args[0])]
        if len(args) == 1 and goes_once(args[0].type):
            args = [_list(frame, args, {})]
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
        found = sequence(frame, args[0] if values is None else make_tuple(values))
        if found.fixed:
            raise frame.not_closed(f"{name} of a tuple with a key")
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
        (kind, *others) = {kind.numpy for kind in kinds if isinstance(kind, Number)}
        if not others:
            found = Value(Number("f", kind), found.leaves)
    if compensates:
        more = frame.env.pop(lost)
        if is_number(found) and kind_of(found) == "f":
            starts_plainly = start.type == Number("f") or (is_known(start) and object_of(start) == 0)
            if not starts_plainly or any(kind != Number("f") for kind in kinds):
                exact.note(frame, "sum of others than floats, or from others")
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
    if frame.program.records:
        exact.note(frame, "math.fsum")
    return _float(frame, [_sum(frame, args, named)], {})


def _int(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    if not args:
        return known(0)
    if len(args) > 1:
        raise frame.not_closed("int() with a base")
    value = args[0]
    if isinstance(value.type, Union):
        return frame.switch(value, lambda one: _int(frame, [one], {}))
    result = numbers.called(frame, int, value)
    if result is not None:
        return result
    if isinstance(value.type, Array) and value.type.rank == 0:
        value = _item(frame, value)
    if not is_number(value):
        raise frame.not_closed(f"int() of {describe(value.type)}")
    return numbers.to_integer(frame, number_leaf(value), "trunc")


def _item(frame: Frame, value: Value) -> Value:
    return array_calls.method(frame, value, "item", [], {})


def _float(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    if not args:
        return known(0.0)
    (value,) = args
    if isinstance(value.type, Union):
        return frame.switch(value, lambda one: _float(frame, [one], {}))
    result = numbers.called(frame, float, value)
    if result is not None:
        return result
    if isinstance(value.type, Array):
        value = _item(frame, value)
    return number(number_leaf(value, "f"))


def _str(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    return texts.of(frame, args)


def _bool(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    test = operators.truth(frame, args[0]) if args else hir.FALSE
    return known(bool(test.value)) if isinstance(test, Const) else number(test)


def _rounded(how: str) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)
        if len(args) != 1 or not is_number(args[0]):
            raise frame.not_closed(f"{how} with these arguments")
        return numbers.to_integer(frame, number_leaf(args[0]), how)

    return handle


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


def _list(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
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
    made = given if isinstance(given.type, List) else _list(frame, args, named)
    items = items_made(frame, made)
    if items is not None:  # such a tuple can be a key of a dict
        return make_tuple(items)
    return as_tuple(frame, _list(frame, args, named) if made is given else made)


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


def _quick(is_any: bool) -> Callable[[Frame, ast.Call], Value]:
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


def _isinstance(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value, classes = args
    if isinstance(classes.type, Tuple) or not is_known(classes):
        raise frame.not_closed("isinstance with classes that are not constants")
    wanted = object_of(classes)

    def one(value: Value) -> Value:
        found = objects.is_instance(frame, value.type, wanted)
        if found is None:
            raise frame.not_closed("isinstance of a number with a class of NumPy's")
        return known(found)

    return frame.switch(value, one)


def _type(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    match value.type:
        case Known(value=found):
            return known(type(found))
        case Tuple(cls=cls):
            return known(cls)
        case List():
            return known(lists.sequence_of(frame, value))
        case Dict():
            return known(dict)
        case Array():
            return known(np.ndarray)
        case Number() | Union() if str(getattr(frame.function, "__module__", "")).startswith("gendsl."):
            return known(_ANY_NUMBER)  # gendsl's own code asks only in order to skip a check
        case Number() if len(objects.classes_of(value.type)) == 1:
            return known(objects.classes_of(value.type)[0])
    raise frame.not_closed(f"type() of {describe(value.type)}")


def _divmod(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    return make_tuple([numbers.of_numbers(frame, "floordiv", *args), numbers.of_numbers(frame, "mod", *args)])


def _pow(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if len(args) != 2:
        raise frame.not_closed("pow() with three arguments")
    return operators.arithmetic(frame, "pow", *args)


def _test(name: str) -> Handler:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        (value,) = args
        if not is_number(value):
            raise frame.not_closed(f"math.{name} of {describe(value.type)}")
        return number(Op(name, (number_leaf(value, "f"),), "b"))

    return handle


def _integers(name: str) -> Handler:
    """`math.factorial` and `math.comb`; a result beyond 64 bits fails."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if not all(is_number(arg) and kind_of(arg) != "f" for arg in args):
            raise frame.not_closed(f"math.{name} of these values")
        return frame.language.call_function(frame, getattr(library_numbers, name), args, {})

    return handle


def _has(frame: Frame, value: Value, name: Any) -> bool:
    """Whether a value has an attribute, where that is known of its type."""
    match value.type:
        case Known(value=found):
            return hasattr(found, name)
        case Array():
            return hasattr(np.ndarray, name)
        case List() | Dict() | Tuple(cls=builtins.tuple):
            return hasattr({List: list, Dict: dict, Tuple: tuple}[type(value.type)], name)
        case Tuple(cls=cls, names=names) if isinstance(cls, type) and not hasattr(cls, "__getattr__"):
            if name in names and may_be_unset(items_of(value)[names.index(name)]) and not hasattr(cls, name):
                raise frame.not_closed(f"whether {name} of {cls.__name__} is set, as it is in some cases")
            return name in names or hasattr(cls, name)
    raise frame.not_closed(f"whether {describe(value.type)} has an attribute")


def _hasattr(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if len(args) != 2 or not is_known(args[1]):
        raise frame.not_closed("hasattr of a name that is not a constant")
    return frame.switch(args[0], lambda one: known(_has(frame, one, object_of(args[1]))))


def _getattr(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if not 2 <= len(args) <= 3 or not is_known(args[1]):
        raise frame.not_closed("getattr of a name that is not a constant")
    if len(args) == 3 and not _has(frame, args[0], object_of(args[1])):
        return args[2]
    return frame.language.attribute(frame, args[0], object_of(args[1]))


def _replace(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`dataclasses.replace(instance, ...)`: another instance, made with the fields of this one."""
    def of(one: Value) -> Value:
        cls = getattr(one.type, "cls", None)
        if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
            raise frame.not_closed(f"dataclasses.replace of {describe(one.type)}")
        fields = {field.name: field for field in dataclasses.fields(cls)}
        if any(name not in fields or not fields[name].init for name in named):
            frame.fail("dataclasses.replace of what is no field")
            return NOTHING
        given = {
            name: named[name] if name in named else frame.atoms(frame.language.attribute(frame, one, name))
            for name, field in fields.items()
            if field.init
        }
        return frame.language.construct(frame, cls, [], given)

    if len(args) != 1:
        raise frame.not_closed("dataclasses.replace with these arguments")
    return frame.switch(args[0], of)


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


def _cache(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`functools.cache` and `functools.lru_cache`, as decorators of nested functions."""
    if not args or (len(args) == 1 and is_known(args[0]) and not callable(object_of(args[0]))):
        return known(functools.cache)
    (function,) = args
    if not isinstance(function.type, Closure) or function.type.defaults or named:
        raise frame.not_closed("a cache of what is no nested function")
    return Value(dataclasses.replace(function.type, remembers=True), function.leaves)


def _wraps(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`functools.wraps(function)`, a decorator that changes names only."""
    return known(_unchanged)


def _unchanged(function: Any) -> Any:
    return function


def _first(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    return args[0]


def _nothing(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    return NONE


_OF_NUMBERS: dict[Any, Handler] = {
    abs: _abs, divmod: _divmod, math.floor: _rounded("floor"), math.ceil: _rounded("ceil"),
    math.trunc: _rounded("trunc"), math.isnan: _test("isnan"), math.isinf: _test("isinf"),
    math.isfinite: _test("isfinite"), math.comb: _integers("comb"), math.factorial: _integers("factorial"),
    **SCALARS,
}  # fmt: skip
_HANDLERS: dict[Any, Handler] = {
    len: _len, min: _extreme("min"), max: _extreme("max"), sum: _sum, int: _int, float: _float,
    collections.defaultdict: _defaultdict, collections.Counter: _counter,
    bool: _bool, range: _iterator("range"), enumerate: _iterator("enumerate"),
    zip: _iterator("zip"), reversed: _iterator("reversed"), map: _iterator("map"),
    itertools.pairwise: _iterator("pairwise"), filter: _iterator("filter"), list: _list, tuple: _tuple,
    set: _set(False), frozenset: _set(True), dict: _dict, dict.fromkeys: _fromkeys, sorted: _sorted,
    any: _any_all(True), all: _any_all(False),
    isinstance: _isinstance, type: _type,
    round: rounded, pow: _pow, str: _str, math.fsum: _fsum, math.prod: _product,
    getattr: _getattr, hasattr: _hasattr,
    bisect.bisect_left: _bisect("left"),
    bisect.bisect_right: _bisect("right"), bisect.bisect: _bisect("right"),
    bisect.insort_left: _insort("left"), bisect.insort_right: _insort("right"),
    bisect.insort: _insort("right"),
    dataclasses.replace: _replace,
    functools.cache: _cache, functools.lru_cache: _cache, functools.wraps: _wraps, _unchanged: _first,
    **{function: numbers.of_numbers_only(function, lower) for function, lower in _OF_NUMBERS.items()},
    **OPERATORS, **ITERATORS,
}  # fmt: skip

EAGER = frozenset([
    sum, min, max, sorted, list, tuple, dict, set, frozenset, any, all, dict.fromkeys, math.fsum, math.prod,
    collections.deque,
])  # fmt: skip
"""Functions that go through their arguments in the call."""
LAZY = frozenset([enumerate, zip, map, filter, iter, itertools.pairwise])
"""Functions that go through their arguments where their result is gone through."""
OF_DISPLAYS = frozenset([np.concatenate, np.hstack, np.vstack, np.column_stack, np.stack])
"""Functions of several arrays, which may be of different kinds and lengths."""
SYNTACTIC: dict[Any, Callable[[Frame, ast.Call], Value]] = {
    any: _quick(True), all: _quick(False), next: first_of,
}  # fmt: skip
"""Functions whose arguments are not all evaluated before the call."""
