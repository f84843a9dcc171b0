"""`next`, `iter`, functions of `itertools` and `functools`, and what goes through the places of an array."""

from __future__ import annotations

import ast
import functools
import heapq
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import ahead, library_heaps, library_itertools, operators
from gendsl.compiler.front.arrays import as_array, library_call
from gendsl.compiler.front.comprehensions import iterable
from gendsl.compiler.front.frame import Frame, fresh_name, only
from gendsl.compiler.front.lists import append, extend, list_of
from gendsl.compiler.front.loops import break_out, loop_over
from gendsl.compiler.front.numbers import is_plain_tuple
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import Iterator, List, Never, goes_once, leaves
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    UNSET,
    Value,
    is_known,
    is_never,
    items_of,
    known,
    make_tuple,
    number_leaf,
    object_of,
)


def first_of(frame: Frame, node: ast.Call) -> Value:
    """`next(iterator)` of an iterator that nobody else has: its first item."""
    if not 1 <= len(node.args) <= 2 or node.keywords or isinstance(node.args[0], ast.Starred):
        raise frame.not_closed("next() with these arguments", node)
    value = frame.opened(iterable(frame, node.args[0]))
    default = frame.atoms(frame.language.expression(frame, node.args[1])) if len(node.args) == 2 else None
    if is_never(value):
        return NOTHING
    if not goes_once(value.type):
        raise frame.not_closed("next() of what is no iterator, or of one that is kept", node)
    first = fresh_name(frame, "first")
    frame.env[first] = known(UNSET)

    def lower(one: Value) -> None:
        frame.env[first] = frame.atoms(one)
        break_out(frame, ast.Break())

    loop_over(frame, node, value, [first], lower)
    found = frame.env.pop(first, NOTHING)

    def of_one(one: Value) -> Value:
        if one.type != known(UNSET).type:
            return one
        if default is not None:
            return default
        frame.fail("next() of an iterator at its end", StopIteration)
        return NOTHING

    return frame.switch(found, of_one)


def _iter(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if len(args) != 1 or named:
        raise frame.not_closed("iter() with a sentinel")
    return Value(Iterator("iter", (args[0].type,)), args[0].leaves)


def _gone_through_once(frame: Frame, made: Value) -> Value:
    """A list as an iterator."""
    return Value(Iterator("iter", (made.type,)), made.leaves)


def _ahead(what: str, make: Callable[..., Value], *, inside: bool = False) -> Callable[..., Value]:
    """What makes a list at once that Python makes item by item, as an iterator.

    Args:
        inside: whether it goes through lists in a list.
    """

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        start = len(frame.out)
        made = make(frame, args, named)
        if is_never(made):
            return NOTHING
        ahead.check_pure(frame, f"what {what} goes through", frame.out[start:])
        values = [*args, *named.values()]
        if inside:
            values += _lists_in(frame, args[0])
        return ahead.note(frame, made, ahead.of_values(frame, what, values))

    return handle


def _accumulate(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`itertools.accumulate(values, function, initial=...)`."""
    only(frame, named, "func", "initial")
    function = args[1] if len(args) > 1 else named.get("func", NONE)
    start = named.get("initial", NONE)
    node = frame.here
    made = list_of(frame, node, [], "accumulated")
    total = fresh_name(frame, "total")
    frame.env[total] = start if start.type != NONE.type else known(UNSET)
    if start.type != NONE.type:
        append(frame, made, start)

    def add(one: Value) -> None:
        def of(before: Value) -> Value:
            frame.here = node
            if before.type == known(UNSET).type:
                return one
            if function.type == NONE.type:
                return operators.arithmetic(frame, "add", before, one)
            return frame.language.call(frame, function, [before, one], {})

        one = frame.atoms(one)
        frame.env[total] = frame.atoms(frame.switch(frame.env[total], of))
        append(frame, made, frame.env[total])

    loop_over(frame, node, args[0], [total], add)
    frame.env.pop(total, None)
    return made


def _reduce(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`functools.reduce(function, values, initial)`."""
    only(frame, named)
    if not 2 <= len(args) <= 3:
        raise frame.not_closed("functools.reduce with these arguments")
    node, total = frame.here, fresh_name(frame, "total")
    frame.env[total] = args[2] if len(args) > 2 else known(UNSET)

    def add(one: Value) -> None:
        def of(before: Value) -> Value:
            frame.here = node
            return (
                one
                if before.type == known(UNSET).type
                else frame.language.call(frame, args[0], [before, one], {})
            )

        one = frame.atoms(one)
        frame.env[total] = frame.atoms(frame.switch(frame.env[total], of))

    loop_over(frame, node, args[1], [total], add)

    def made(found: Value) -> Value:
        if found.type == known(UNSET).type:
            frame.fail("functools.reduce of nothing")
            return NOTHING
        return found

    return frame.switch(frame.env.pop(total, NOTHING), made)


def _partial(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`functools.partial(function, *args, **named)`."""
    function, *given = args
    keywords = make_tuple(list(named.values()), functools.partial, tuple(named))
    parts = [function, make_tuple(given), keywords]
    return make_tuple(parts, functools.partial, ("func", "args", "keywords"))


def _chain(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`itertools.chain(...)`."""
    only(frame, named)
    made = list_of(frame, frame.here, [], "chain")
    for i, one in enumerate(args):
        frame.unrolled += (("chain", i),)
        extend(frame, frame.here, made, one)
        frame.unrolled = frame.unrolled[:-1]
    return made


def _product(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`itertools.product(..., repeat=...)`."""
    only(frame, named, "repeat")
    repeat = named.get("repeat", known(1))
    if not args or not is_known(repeat):
        raise frame.not_closed("itertools.product with these arguments")
    first, *others = [_listed(frame, one, i) for i, one in enumerate(args)] * object_of(repeat)
    rows = library_call(frame, library_itertools.alone, [first])
    for i, one in enumerate(others):
        frame.unrolled += (("product", i),)
        rows = library_call(frame, library_itertools.each_with_each, [rows, one])
        frame.unrolled = frame.unrolled[:-1]
    return _gone_through_once(frame, rows)


def _listed(frame: Frame, value: Value, which: int = 0) -> Value:
    """The items of an iterable as a list."""
    frame.unrolled += (("listed", which),)
    made = list_of(frame, frame.here, [], "listed")
    extend(frame, frame.here, made, value)
    frame.unrolled = frame.unrolled[:-1]
    return made


def _chosen(functions: dict[int, Any], name: str) -> Callable[..., Value]:
    """A function of values that gives tuples of some of them, by how many these have."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named, "r")
        *values, size = [*args, *named.values()]
        if len(values) != 1 or not is_known(size) or object_of(size) not in functions:
            raise frame.not_closed(f"itertools.{name} with these arguments")
        return _gone_through_once(
            frame, library_call(frame, functions[object_of(size)], [_listed(frame, values[0])])
        )

    return handle


def _from_iterable(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`itertools.chain.from_iterable(rows)`."""
    only(frame, named)
    (rows,) = args
    return library_call(frame, library_itertools.of_each, [_listed(frame, rows)])


def _lists_in(frame: Frame, rows: Value) -> list[Value]:
    """What stands for the lists that are the items of a list."""
    if not isinstance(rows.type, List):
        return []
    kind = frame.program.facts.item(rows.type.site)
    return [] if isinstance(kind, Never) else [Value(kind, tuple(hir.ZEROS[leaf] for leaf in leaves(kind)))]


def _by_function(function: Any) -> Callable[..., Value]:
    """A function of `itertools` of a function and of values."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)
        called, values = args
        return library_call(frame, function, [called, _listed(frame, values)])

    return handle


def _islice(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`itertools.islice(values, stop)`, `itertools.islice(values, start, stop, step)`."""
    only(frame, named)
    values, *ends = args
    start, stop, *step = [NONE, *ends] if len(ends) == 1 else ends
    first = known(0) if start.type == NONE.type else start
    by = step[0] if step and step[0].type != NONE.type else known(1)
    return library_call(frame, library_itertools.some, [_listed(frame, values), first, stop, by])


def _pairwise(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`itertools.pairwise(values)`."""
    only(frame, named)
    (values,) = args
    return library_call(frame, library_itertools.neighbours, [_listed(frame, values)])


def _ndindex(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`numpy.ndindex(rows, columns)`, or of a tuple of sizes."""
    only(frame, named)
    sizes = items_of(args[0]) if len(args) == 1 and is_plain_tuple(args[0].type) else args
    return _product(frame, [_range(frame, one) for one in sizes], {})


def _range(frame: Frame, size: Value) -> Value:
    if is_known(size):
        return known(range(object_of(size)))
    frame.fail_if(Op("lt", (number_leaf(size, "i"), Const(0, "i")), "b"), "a negative dimension")
    return Value(Iterator("range", (size.type,)), size.leaves)


def _ndenumerate(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`numpy.ndenumerate(array)`."""
    only(frame, named)
    (given,) = args
    return library_call(frame, library_itertools.with_indices, [as_array(frame, given)])


def _on_heaps(function: Any) -> Callable[..., Value]:
    """A function of `heapq`, as that of a list."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)
        heap = frame.opened(args[0])
        if not isinstance(heap.type, List):
            raise frame.not_closed("a heap that is no list")
        return library_call(frame, function, [heap, *args[1:]])

    return handle


ITERATORS: dict[Any, Callable[..., Value]] = {
    iter: _iter, itertools.product: _product,
    itertools.accumulate: _ahead("itertools.accumulate", _accumulate),
    itertools.chain: _ahead("itertools.chain", _chain),
    itertools.chain.from_iterable: _ahead("itertools.chain", _from_iterable, inside=True),
    itertools.pairwise: _ahead("itertools.pairwise", _pairwise),
    itertools.islice: _ahead("itertools.islice", _islice),
    itertools.takewhile: _ahead("itertools.takewhile", _by_function(library_itertools.while_true)),
    itertools.dropwhile: _ahead("itertools.dropwhile", _by_function(library_itertools.from_false)),
    itertools.starmap: _ahead("itertools.starmap", _by_function(library_itertools.applied)),
    itertools.combinations: _chosen(
        {2: library_itertools.pairs, 3: library_itertools.triples}, "combinations"
    ),
    itertools.permutations: _chosen({2: library_itertools.pairs_in_order}, "permutations"),
    itertools.combinations_with_replacement: _chosen(
        {2: library_itertools.pairs_with_replacement}, "combinations_with_replacement"
    ),
    np.ndindex: _ndindex, np.ndenumerate: _ahead("np.ndenumerate", _ndenumerate),
    heapq.heappush: _on_heaps(library_heaps.push), heapq.heappop: _on_heaps(library_heaps.pop),
    heapq.heapify: _on_heaps(library_heaps.order), heapq.heapreplace: _on_heaps(library_heaps.replace),
    heapq.heappushpop: _on_heaps(library_heaps.push_and_pop),
    functools.reduce: _reduce, functools.partial: _partial,
}  # fmt: skip
