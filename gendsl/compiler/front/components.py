"""What moves on components ask of traces: the functions of `gendsl.inference.component_choices`, which the
compiler knows, as their own text looks into the records of a trace.

Each means to a text what it means to the interpreter, but for one thing: what the interpreter finds out while
it runs, as which choices there are below an address, is here known beforehand or makes the text fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import handles, library_shapes, trace_programs, traces
from gendsl.compiler.front.arrays import library_call
from gendsl.compiler.front.containers import length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import test_of
from gendsl.compiler.front.operators import compared
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.coordinates import UNKNOWN, WEIGHTS
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array, Dict, Known, List, Number, SubTrace, Tuple, describe
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_never,
    is_number,
    items_of,
    known,
    make_tuple,
    number,
    number_leaf,
    object_of,
)

Handler = Callable[[Frame, list[Value]], Value]
_MODULE = "gendsl.inference.component_choices"


def call(frame: Frame, function: Any, args: list[Value]) -> Value | None:
    """A call of one of these functions; None for any other."""
    handler = None
    if getattr(function, "__module__", None) == _MODULE:
        handler = _HANDLERS.get(function.__qualname__)
    elif isinstance(function, FunctionType):
        handler = _OWN.get(function)
    return None if handler is None else handler(frame, args)


def _known_path(frame: Frame, value: Value) -> tuple[Any, ...]:
    """A path, or several, known when the text is made."""
    if not isinstance(value.type, Known):
        raise frame.not_closed("an address that only the data tell")
    found: tuple[Any, ...] = object_of(value)
    return found


def _at(frame: Frame, trace: Value, path: tuple[Any, ...], *more: Value) -> Value:
    return traces.deeper(frame, trace, make_tuple([*map(known, path), *more]))


def _trace_of(frame: Frame, args: list[Value]) -> Value:
    """The trace that a handle is of."""
    (handle,) = args
    if not isinstance(handle.type, SubTrace) or handle.type.trace.role != "input" or handle.type.prefix:
        raise frame.not_closed("the trace of what is no input")
    return traces.whole(traces.trace_given(frame.program, handle.type.trace.name))


def _distribution_in(
    frame: Frame, args: list[Value], counted: tuple[Template, Expr] | None = None
) -> Value:
    """The distribution of a choice."""
    trace, address = args
    found = [one for one in traces.templates_at(frame, traces.deeper(frame, trace, address)) if not one.rest]
    if len(found) != 1 or found[0].test is not hir.TRUE:
        raise frame.not_closed("the distribution of a choice of one type or another")
    one = found[0]
    return trace_programs.distribution_at(frame, one.template, one.indices, is_given=True, counted=counted)


def _choices_of(frame: Frame, args: list[Value]) -> Value:
    """The choices of a component, as pairs of addresses; each must be there."""
    trace, spaces, j = args
    pairs: list[Value] = []
    for space in _known_path(frame, spaces):
        every = _named_below(frame, _at(frame, trace, space, j))
        if not every:
            frame.fail("a component without choices")
            return NOTHING
        for rest, test in every.items():
            frame.fail_unless(test, "a component without one of its choices")
            full = make_tuple([*map(known, space), j, *map(known, rest)])
            pairs.append(make_tuple([known((*space, *rest)), full]))
    return make_tuple(pairs)


def _prior_in(frame: Frame, args: list[Value]) -> Value:
    """The distributions of the choices of a component, which must be the same for the first two."""
    trace, spaces, k, number_of = args
    some = test_of(compared(frame, "gt", k, known(0)))
    counted = None
    if not _is_fixed(frame, trace, _known_path(frame, spaces), object_of(number_of).address):
        counted = _number_with_one(frame, trace, k, number_of)
        if counted is None:
            frame.fail_unless(some, "no component to see the prior of one from: give `propose`")
    first: list[Value] = []

    def look() -> Value:
        found = _choices_of(frame, [trace, spaces, known(0)])
        first.extend([] if is_never(found) else items_of(found))
        return NONE

    frame.branch(some, look, lambda: NONE)
    pairs = []
    for path, full in map(items_of, first):
        for found in traces.templates_at(frame, traces.deeper(frame, trace, full)):
            if len(frame.program.distributions[found.template.number]) > 1:
                raise frame.not_closed("the prior of a choice that is made in several places")
        pairs.append(make_tuple([path, _distribution_in(frame, [trace, full], counted)]))

    def compare() -> Value:
        second = items_of(_choices_of(frame, [trace, spaces, known(1)]))
        for pair, other in zip(pairs, second, strict=True):
            mine = items_of(pair)[1]
            theirs = _distribution_in(frame, [trace, items_of(other)[1]], counted)
            frame.fail_unless(_equal_parameters(frame, mine, theirs), "components with different priors")
        return NONE

    frame.branch(test_of(compared(frame, "gt", k, known(1))), compare, lambda: NONE)
    return make_tuple(pairs)


def _number_with_one(
    frame: Frame, trace: Value, k: Value, number_of: Value
) -> tuple[Template, Expr] | None:
    """The choice of the number of components, and how many the program is to find where the prior of one is
    looked at: as many as there are, or two, or one if there are none; None where no choice is that number.

    That the first two have one prior, where there are none, is left to the steps from where they are there.
    """
    address = object_of(number_of).address
    if address is None:
        return None
    found = list(traces.templates_at(frame, traces.deeper(frame, trace, known(address))))
    one = found[0].template if len(found) == 1 and not found[0].rest else None
    if one is None or one.rank or one.type != Number("i"):
        return None
    may_be = frame.language.call_method(frame, number_of, "may_be", [trace, known(2)])
    new = frame.choose(test_of(may_be), lambda: known(2), lambda: known(1))
    there = test_of(compared(frame, "gt", k, known(0)))
    return one, frame.atom(number_leaf(frame.choose(there, lambda: k, lambda: new), "i"))


def _equal_parameters(frame: Frame, one: Value, another: Value) -> Expr:
    """Whether distributions of one family, or what they are made of, are equal, entry by entry."""
    if is_never(one) or is_never(another):
        return hir.FALSE
    if isinstance(one.type, Tuple) and isinstance(another.type, Tuple):
        items, others = items_of(one), items_of(another)
        if one.type.cls is not another.type.cls or len(items) != len(others):
            return hir.FALSE
        test: Expr = hir.TRUE
        for mine, theirs in zip(items, others, strict=True):
            test = both(test, _equal_parameters(frame, mine, theirs))
        return test
    if isinstance(one.type, Array) and isinstance(another.type, Array):
        return test_of(library_call(frame, library_shapes.array_equal, [one, another]))
    if isinstance(one.type, List) and isinstance(another.type, List):
        return test_of(library_call(frame, equal_lists, [one, another]))
    if one.type != another.type or any(leaf.kind == "r" for leaf in one.leaves):
        raise frame.not_closed(f"the prior of a choice with {describe(one.type)}")
    test = hir.TRUE
    for pair in zip(one.leaves, another.leaves, strict=True):
        test = both(test, Op("eq", pair, "b"))
    return test


def equal_parameters(one: Any, another: Any) -> bool:
    """What `_equal_parameters` means, for the text below."""
    return bool(one == another)


def equal_lists(one: Any, another: Any) -> bool:
    """Whether lists of parameters are equal."""
    if len(one) != len(another):
        return False
    return all(equal_parameters(one[i], another[i]) for i in range(len(one)))


def _is_fixed(
    frame: Frame, trace: Value, spaces: tuple[Any, ...], count: tuple[Any, ...] | None
) -> bool:
    """Whether the distributions of all choices of a component are the same however many there are.

    Then these can be told where there is no component. If the program did not make such a choice, it would be
    one that is written and not made, where the text fails.

    Args:
        count: the address of the number of components; None where that is computed, from nobody knows what.
    """
    if count is None:
        return False
    for space in spaces:
        every = list(_choices_at(frame, _at(frame, trace, space, known(0))))
        if not every:
            return False
        for found in every:
            parameters = frame.program.fixed_parameters(found.template)
            if parameters is None:
                return False
            deciding = frame.program.deciding(found.template, parameters)
            if any(one.own == count or one.has_nodes for one in deciding):
                return False
    return True


def _choices_below(frame: Frame, args: list[Value]) -> Value:
    """The choices in a namespace, as pairs of addresses; each must be there."""
    trace, prefix = args
    space = _known_path(frame, prefix)
    pairs = []
    for rest, test in _named_below(frame, _at(frame, trace, space)).items():
        frame.fail_unless(test, "a namespace without one of its choices")
        pairs.append(make_tuple([known(rest), known((*space, *rest))]))
    return make_tuple(pairs)


def _named_below(frame: Frame, at: Value) -> dict[tuple[Any, ...], Expr]:
    """The choices at and below an address, which must have names: whether there are, by what the address
    leaves open.
    """
    there: dict[tuple[Any, ...], Expr] = {}
    for found in _choices_at(frame, at):
        _check_named(frame, found)
        test = traces.is_any(frame, found)
        before = there.get(found.rest)
        there[found.rest] = test if before is None else Op("or", (before, test), "b")
    return there


def _choices_at(frame: Frame, at: Value) -> Iterator[traces.Found]:
    """The templates of the choices at and below an address; factors are none."""
    return (found for found in traces.templates_at(frame, at) if not found.template.weighs)


def _is_named(found: traces.Found) -> bool:
    return all(isinstance(part, str) for part in found.rest)


def _check_named(frame: Frame, found: traces.Found) -> None:
    if not _is_named(found):
        raise frame.not_closed("a component, or auxiliary choices, with numbered parts")


def _check_parts(frame: Frame, args: list[Value]) -> Value:
    """Fail where a proposal makes a choice in none of some namespaces.

    One that a component of the model does not have is not copied, where the text fails, too.
    """
    _, proposed, prefix, spaces, others, *_ = args
    named = object_of(others)
    for found in traces.templates_at(frame, _at(frame, proposed, _known_path(frame, prefix))):
        inside = any(found.rest[: len(space)] == space for space in _known_path(frame, spaces))
        if not (inside or named is None or found.rest in named):
            frame.fail_if(traces.is_any(frame, found), "a choice that is no part of a component")
    return NONE


def _check_component(frame: Frame, args: list[Value]) -> Value:
    """Fail where a component has no choice in one of its namespaces."""
    trace, spaces, j = args
    for space in _known_path(frame, spaces):
        some: Expr = hir.FALSE
        for found in traces.templates_at(frame, _at(frame, trace, space, j)):
            test = traces.is_any(frame, found)
            some = test if some is hir.FALSE else Op("or", (some, test), "b")
        frame.fail_unless(some, "a component without choices")
    return NONE


def _named_values(frame: Frame, args: list[Value]) -> Value:
    """A dict of pairs."""
    return frame.language.call(frame, known(dict), [args[0]], {})


def _write_named(frame: Frame, args: list[Value]) -> Value:
    """Write values by their addresses below a prefix."""
    values, target, prefix = args
    written = _put_below(frame, values, _at(frame, target, _known_path(frame, prefix)), ())
    _check_all(frame, values, written, 0)
    return NONE


def _write_component(frame: Frame, args: list[Value]) -> Value:
    """Write the values of a component by their relative addresses, all but its entries of vectors."""
    values, needed, target, j, spaces, vectors, *_ = args
    complete = library_call(frame, _has_all, [values, needed])
    if is_never(complete):
        return NOTHING
    frame.fail_unless(number_leaf(complete), "a component without one of its choices")
    written: Expr = Const(0, "i")
    for space in _known_path(frame, spaces):
        more = _put_below(frame, values, _at(frame, target, space, j), space)
        written = Op("add", (written, more), "i")
    _check_all(frame, values, written, len(_known_path(frame, vectors)))
    return NONE


def _put_below(frame: Frame, values: Value, target: Value, space: tuple[Any, ...]) -> Expr:
    """Write those values that are for choices at and below an address; how many there are."""
    written: Expr = Const(0, "i")
    every = {}
    for found in traces.templates_at(frame, target):
        if found.template.weighs and not _is_named(found):
            continue  # nothing has to give a factor
        _check_named(frame, found)
        every[found.rest] = found
    for rest in every:
        path = (*space, *rest)
        key = known(path[0] if len(path) == 1 else path)
        place = traces.deeper(frame, target, known(rest)) if rest else target
        more = library_call(frame, _put, [values, key, place])
        if is_never(more):
            return written
        written = Op("add", (written, number_leaf(more)), "i")
    return frame.atom(written)


def _check_all(frame: Frame, values: Value, written: Expr, others: int) -> None:
    if not isinstance(values.type, Dict):
        raise frame.not_closed(f"{describe(values.type)} in place of a dict of choices")
    size = Op("sub", (length(frame, values), Const(others, "i")), "i")
    frame.fail_unless(Op("eq", (written, size), "b"), "a value for a choice that there is not")


def _has_all(values: Any, needed: Any) -> bool:
    return all(key in values for key in needed)


def _put(values: Any, key: Any, target: Any) -> int:
    if key in values:
        write(target, values[key])
        return 1
    return 0


def _copy_all(frame: Frame, args: list[Value]) -> Value:
    """Copy the choices at or below an address, of which there may be none."""
    handles.copied(frame, args)
    return NONE


def _are_weights(frame: Frame, args: list[Value]) -> Value:
    """Whether the support of a choice is a simplex."""
    trace, address = args
    found = [one for one in traces.templates_at(frame, traces.deeper(frame, trace, address)) if not one.rest]
    every = {frame.program.coordinates.get(one.template.number, UNKNOWN) for one in found}
    if UNKNOWN in every or len(every) > 1:
        raise frame.not_closed("a vector of which it is not known whether it sums to one")
    return known(every == {WEIGHTS})


def _value_of(frame: Frame, args: list[Value]) -> Value:
    """A number without its derivative."""
    (value,) = args
    if is_number(value) and value.leaves and value.leaf.kind == "f":
        return number(frame.atom(Op("detached", value.leaves, "f")))
    return value


# --- allocations -----------------------------------------------------------------------------------


def _is_vector(frame: Frame, trace: Value, address: Value) -> bool:
    """Whether allocations are one vector, and not a choice each."""
    kinds = {
        (len(found.rest), found.rest[:1], found.template.type)
        for found in traces.templates_at(frame, _at(frame, trace, _known_path(frame, address)))
    }
    if kinds == {(1, (None,), Number("i"))}:
        return False
    if len(kinds) == 1:
        ((depth, _, kind),) = kinds
        if not depth and isinstance(kind, Array) and (kind.kind, kind.rank) == ("i", 1):
            return True
    raise frame.not_closed("allocations that are neither numbered choices nor a vector of integers")


def _labels_of(frame: Frame, args: list[Value]) -> Value:
    """The number of the component of each data point, of k components."""
    trace, address, k = args
    if _is_vector(frame, trace, address):
        labels = traces.choice(frame, traces.deeper(frame, trace, address))
    else:
        labels = library_call(frame, _numbered, [trace, address])
    if is_never(labels):
        return NOTHING
    test = library_call(frame, _are_below, [labels, k])
    if is_never(test):
        return NOTHING
    frame.fail_unless(test_of(test), "an allocation that is no number of a component")
    return labels


def _count_below(frame: Frame, args: list[Value]) -> Value:
    """How many choices there are at and below an address."""
    total: Expr = Const(0, "i")
    for found in traces.templates_at(frame, traces.deeper(frame, *args)):
        if found.test is not hir.TRUE:
            raise frame.not_closed("the number of choices below a string of the data")
        count = traces.count(frame, found)
        total = count if total == Const(0, "i") else Op("add", (total, count), "i")
    return number(frame.atom(total))


def count_below(trace: Any, address: Any) -> int:
    """How many choices there are at and below an address: what `_count_below` means."""
    return sum(path[: len(address)] == address for path in trace.choices)


def _numbered(trace: Any, address: Any) -> Any:
    return np.array([trace[(*address, i)] for i in range(count_below(trace, address))], dtype=int)


def _are_below(labels: Any, k: int) -> bool:
    return all(0 <= label < k for label in labels)


def _write_labels(frame: Frame, args: list[Value]) -> Value:
    """Write the allocations that change."""
    trace, target, address, old, new = args
    text = _in_vector if _is_vector(frame, trace, address) else _one_by_one
    return library_call(frame, text, [target, address, old, new])


def _in_vector(target: Any, address: Any, old: Any, new: Any) -> None:
    if np.any(old != new):
        write(target[address], new)


def _one_by_one(target: Any, address: Any, old: Any, new: Any) -> None:
    for i in range(len(old)):
        if old[i] != new[i]:
            write(target[(*address, i)], int(new[i]))


def write(target: Any, value: Any) -> None:
    """Stands for the statement of transforms, which are above the compiler; it is read, and never run."""
    raise AssertionError("the text of a transform is read and not run")


_HANDLERS: dict[str, Handler] = {
    "trace_of": _trace_of,
    "distribution_in": _distribution_in,
    "choices_of": _choices_of,
    "choices_below": _choices_below,
    "named_values": _named_values,
    "write_named": _write_named,
    "write_component": _write_component,
    "prior_in": _prior_in,
    "check_component": _check_component,
    "check_parts": _check_parts,
    "copy_all": _copy_all,
    "are_weights": _are_weights,
    "value_of": _value_of,
    "labels_of": _labels_of,
    "write_labels": _write_labels,
}
_OWN: dict[Any, Handler] = {
    count_below: _count_below,
    equal_parameters: lambda frame, args: number(_equal_parameters(frame, *args)),
    write: lambda frame, args: handles.write(frame, args, {}),
}
