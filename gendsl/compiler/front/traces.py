"""Traces that a program is given: `trace[address]` of an auxiliary program, and handles of a transform."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import paths, texts, trace_programs
from gendsl.compiler.front.frame import Frame, Program
from gendsl.compiler.front.paths import path
from gendsl.compiler.hir import Const, Expr, Var
from gendsl.compiler.hir.joined import may_be_one
from gendsl.compiler.hir.key_paths import apart, has_path, shown
from gendsl.compiler.hir.templates import NO_VALUE
from gendsl.compiler.hir.types import (
    Below,
    Joined,
    OneOf,
    PathPart,
    SubTrace,
    index_count,
    leaves,
)
from gendsl.compiler.hir.values import NOTHING, Value, is_never, make_tuple


@dataclass(frozen=True, eq=False)
class TraceOf:
    """A trace that a program is given.

    Attributes:
        name: the name of the program whose trace it is, among those that are lowered together.
        role: "trace" where an address gives the value of a choice; "input" or "output" where it gives a
            handle.
    """

    name: str
    role: str


def trace_given(lowering: Program, name: str) -> TraceOf:
    """The trace of a program, as auxiliary programs are given it."""
    given: TraceOf = lowering.given_traces.setdefault(name, TraceOf(name, "trace"))
    return given


def whole(trace: TraceOf) -> Value:
    """A whole trace."""
    return Value(SubTrace(trace))


def trace_of(value: Value) -> TraceOf:
    assert isinstance(value.type, SubTrace)
    found: TraceOf = value.type.trace
    return found


def deeper(frame: Frame, value: Value, address: Value) -> Value:
    """`trace[address]` as a deeper address."""
    assert isinstance(value.type, SubTrace)
    parts, indices = path(frame, address, of_trace=True)
    prefix = (*value.type.prefix, *parts)
    return _entered(frame, Value(SubTrace(value.type.trace, prefix), (*value.leaves, *indices)))


def _split(value: Value) -> tuple[Any, tuple[Expr, ...], tuple[Any, ...], tuple[Expr, ...]]:
    """The program that calls itself that an address is below a call of, the node of that call, and the parts
    and indices below it.
    """
    assert isinstance(value.type, SubTrace)
    prefix = value.type.prefix
    if prefix and isinstance(prefix[0], Below):
        return prefix[0].function, value.leaves[:1], prefix[1:], value.leaves[1:]
    return None, (), prefix, value.leaves


def _entered(frame: Frame, value: Value) -> Value:
    """An address that starts with the node of the innermost call, of a program that calls itself, that it is
    below.
    """
    trace = trace_of(value)
    while True:
        walked = _walked(frame, value)
        if walked is not None:
            value = walked
            continue
        context, node, parts, indices = _split(value)
        calls, others = [], []
        for template in frame.program.templates_of(trace.name):
            if template.context is not context or template.type == NO_VALUE:
                continue
            fit = _fit(frame, template.own, parts, indices)
            if fit is None:
                continue
            if template.has_nodes and len(template.own) <= len(parts):
                if fit.is_joined:
                    raise frame.not_closed("an address below a call, with parts of a tuple")
                calls.append((template, fit))
            elif fit.open is not None:
                others.append(template)
        if not calls:
            return value
        length, function = len(calls[0][0].own), calls[0][0].calls
        tested = all(fit.tests for _, fit in calls)
        if others and tested and length == len(parts):
            return value  # the data tell whether it is the address of a choice or of a call
        if (
            any(len(template.own) != length or template.calls is not function for template, _ in calls)
            or others
            or not (tested or len(calls) == 1)
        ):
            raise frame.not_closed("an address that may be below one call or another, or none")
        entered = frame.fresh("node", "i")
        found: hir.Body = [hir.Fail("a choice that the program never makes")]
        for template, fit in reversed(calls):
            numbered = hir.Node(entered, template, (*node, *fit.indices))
            found = [hir.If(all_of(fit.tests), [numbered], found)] if fit.tests else [numbered]
        for statement in found:
            frame.emit(statement)
        left = calls[0][1].left
        value = Value(SubTrace(trace, (Below(function), *parts[length:])), (entered, *left))


def _walked(frame: Frame, value: Value) -> Value | None:
    """An address that goes on with the items of a tuple, each a call of one program that calls itself, as one
    below the last of these calls; None if there are no such calls.
    """
    context, node, parts, indices = _split(value)
    if not parts or parts[0] != PathPart(True):
        return None
    trace = trace_of(value)
    every = frame.program.templates_of(trace.name)
    calls = [one for one in every if one.has_nodes and one.context in (context, one.calls)]
    here = [one for one in every if one.context is context]
    if not any(one.context is context for one in calls) or any(has_path(one.own) for one in here):
        return None
    function = calls[0].calls
    if context not in (None, function) or any(
        one.calls is not function or len(one.own) != 1 or not isinstance(one.own[0], str) for one in calls
    ):
        named = " and ".join(sorted({shown(one.own) for one in calls}))
        raise frame.not_closed(
            f"an address with a tuple whose length is not known, which leads through calls at {named}: make "
            "each at one string of its own, all of one program that calls itself, or go down by nested "
            "transforms, as the program does by calls"
        )
    inside = paths.walked(frame, indices[0], calls, node[0] if node else None)
    return Value(SubTrace(trace, (Below(function), *parts[1:])), (inside, *indices[1:]))


# --- which templates an address has --------------------------------------------------------------


@dataclass(frozen=True)
class _Fit:
    """How an address lies in a template.

    Attributes:
        indices: those of the template.
        left: the indices of the address that are left, if it is longer.
        tests: the tests of the strings that only the data tell.
        open: the parts of the template that the address leaves open; None if it is longer.
        is_joined: whether several of its parts are items of a tuple whose length is not known.
    """

    indices: list[Expr]
    left: tuple[Expr, ...]
    tests: list[Expr]
    open: tuple[Any, ...] | None
    is_joined: bool = False


def _fit(
    frame: Frame, template: tuple[Any, ...], parts: tuple[Any, ...], indices: tuple[Expr, ...]
) -> _Fit | None:
    """How an address lies in a template; None if it hasn't its parts."""
    mine: list[Expr] = []
    tests: list[Expr] = []
    rest = list(indices)
    number = frame.program.facts.text_number
    for place, (wanted, given) in enumerate(zip(template, parts, strict=False)):
        if PathPart in (type(wanted), type(given)) and wanted != given:
            theirs = tuple(... if isinstance(one, OneOf) else one for one in parts[place:])
            if apart(template[place:], theirs, frame.program.facts.may_be_key):
                return None
            if has_path(theirs):
                raise frame.not_closed(
                    "an address with a tuple whose length is not known, which may be one of "
                    f"{shown(template)}: begin the addresses of a tuple's choices, in the program too, with "
                    'a string that no others have, as in ("split", *at)'
                )
            found = paths.fitted(frame, template[place:], parts[place:], tuple(rest))
            return None if found is None else _Fit([*mine, *found], (), tests, (), is_joined=True)
        its_own, rest = rest[: index_count(given)], rest[index_count(given) :]
        index = its_own[0] if its_own else None
        if isinstance(given, PathPart):
            mine += its_own
            if given.spread and len(template) > place + 1 == len(parts):
                raise frame.not_closed("all choices below a tuple whose length is not known")
            continue
        if isinstance(given, OneOf):
            if isinstance(wanted, Joined):
                values = texts.values_of_options(frame, wanted, given.options, its_own[0], tests)
                if values is None:
                    return None
                mine += values
                continue
            if wanted is not ... and wanted not in given.options:
                return None
        if isinstance(wanted, Joined) or isinstance(given, Joined):
            if wanted == given:
                mine += its_own
                continue
            if may_be_one(wanted, given):
                raise frame.not_closed("an address of a string that is made of values in two ways")
            return None
        if wanted is None:
            if given is not None:
                return None
            mine.append(index)  # type: ignore[arg-type]
        elif wanted is ...:
            if given is None:
                return None
            mine.append(
                index if given is ... or isinstance(given, OneOf) else Const(number(given), "i")  # type: ignore[arg-type]
            )
        elif given is ... or isinstance(given, OneOf):
            text = Const(number(wanted), "i")
            tests.append(hir.Op("eq", (index, text), "b"))  # type: ignore[arg-type]
        elif wanted != given:
            return None
    return _Fit(mine, tuple(rest), tests, template[len(parts) :] if len(template) >= len(parts) else None)


@dataclass(frozen=True)
class Found:
    """A template that an address stands for.

    Attributes:
        indices: its first indices.
        rest: the parts of the template that the address leaves open.
        test: whether the strings of the data in the address are those of the template.
    """

    template: Any
    indices: tuple[Expr, ...]
    rest: tuple[Any, ...]
    test: Expr = hir.TRUE


def templates_at(frame: Frame, value: Value) -> Iterator[Found]:
    """The templates of the choices at and below an address."""
    for found in all_at(frame, value):
        if found.template.has_nodes:
            raise frame.not_closed("a namespace with calls of programs that call themselves")
        yield found


def all_at(frame: Frame, value: Value) -> Iterator[Found]:
    """The templates of the choices, and of the calls of programs that call themselves, at and below an
    address.
    """
    context, node, parts, indices = _split(value)
    for template in frame.program.templates_of(trace_of(value).name):
        if template.context is not context or template.type == NO_VALUE:  # that only notes a call
            continue
        fit = _fit(frame, template.own, parts, indices)
        if fit is not None and fit.open is not None:
            yield Found(template, (*node, *fit.indices), fit.open, all_of(fit.tests))


def all_of(tests: list[Expr]) -> Expr:
    result: Expr = hir.TRUE
    for test in tests:
        result = test if result is hir.TRUE else hir.Op("and", (result, test), "b")
    return result


def is_present(frame: Frame, found: Found) -> Expr:
    """Whether a trace has the choice."""
    present = frame.fresh("present", "b")
    frame.emit(hir.Present(present, found.template, found.indices))
    return all_of([test for test in (found.test, present) if test is not hir.TRUE])


def count(frame: Frame, found: Found) -> Var:
    """How many choices of a template a trace has."""
    counted = frame.fresh("count", "i")
    frame.emit(hir.Count(counted, found.template, found.indices))
    return counted


def is_any(frame: Frame, found: Found) -> Expr:
    """Whether a trace has a choice of a template."""
    if not any(map(index_count, found.rest)):
        return is_present(frame, found)
    some = hir.Op("gt", (count(frame, found), Const(0, "i")), "b")
    return all_of([test for test in (found.test, some) if test is not hir.TRUE])


def choices_at(frame: Frame, value: Value) -> list[Found]:
    """The templates, which differ in their types alone, of a choice."""
    return [found for found in all_at(frame, value) if not found.rest and not found.template.has_nodes]


# --- what a program does with a trace ------------------------------------------------------------


def contains(frame: Frame, container: Value, address: Value) -> Expr:
    """`address in trace`."""
    if trace_of(container).role == "output":
        raise frame.not_closed("`in` an output trace")
    _ask(frame, trace_of(container))
    tests: list[Expr] = []
    for found in templates_at(frame, deeper(frame, container, address)):
        if found.rest or found.template.own[-1] == PathPart(True):
            raise frame.not_closed("`in` a trace, of a namespace")
        tests.append(is_present(frame, found))
    result: Expr = hir.FALSE
    for test in tests:
        result = test if result is hir.FALSE else hir.Op("or", (result, test), "b")
    return result


def _ask(frame: Frame, trace: TraceOf) -> None:
    """Note that a transform asks an input for what may tell of discrete choices that it does not read."""
    if trace.role == "input":
        frame.emit(hir.Primitive([], "ask"))


def subscript(frame: Frame, value: Value, node: ast.expr) -> Value:
    """`trace[address]`."""
    address = frame.atoms(frame.language.expression(frame, node))
    if is_never(address):
        return NOTHING
    at = deeper(frame, value, address)
    return choice(frame, at) if trace_of(value).role == "trace" else at


def choice(frame: Frame, at: Value) -> Value:
    """The value of a choice of a trace."""
    every = choices_at(frame, at)
    if not every:
        returned = _returned(frame, at) if trace_of(at).role == "trace" else None
        if returned is None:
            frame.fail("a choice that the program never makes")
            return NOTHING
        return returned

    def read(found: Found) -> Value:
        targets = [frame.fresh(found.template.label, kind) for kind in leaves(found.template.type)]
        frame.emit(hir.Read(list(targets), found.template, found.indices))
        return Value(found.template.type, tuple(targets))

    def from_(place: int) -> Value:
        if place == len(every) - 1:
            frame.fail_unless(every[place].test, "a choice that the program never makes")
            return read(every[place])
        present = is_present(frame, every[place])
        return frame.branch(present, lambda: read(every[place]), lambda: from_(place + 1))

    return from_(0)


def _returned(frame: Frame, at: Value) -> Value | None:
    """What the call at an address returned; None where there is none."""
    context, node, parts, indices = _split(at)
    if context is not None and not parts:
        return trace_programs.returned_at(frame, trace_of(at).name, context, node)
    for template in frame.program.templates_of(trace_of(at).name):
        if template.context is context and template.type == NO_VALUE and len(template.own) == len(parts):
            fit = _fit(frame, template.own, parts, indices)
            if fit is not None and not fit.tests:
                return trace_programs.returned_at(frame, trace_of(at).name, template, (*node, *fit.indices))
    return None


def attribute(frame: Frame, value: Value, name: str) -> Value:
    """`trace.args`, `trace.retval`, `trace.choices` and, where it is known, `trace.log_prob`."""
    assert isinstance(value.type, SubTrace)
    trace = trace_of(value)
    if name == "choices" and trace.role == "trace":
        return value
    if value.type.prefix:
        raise frame.not_closed(f"{name} of a part of a trace")
    if name == "args" and trace.role != "output":
        given = frame.program.arguments_of(trace.name)
        if trace.role != "trace":  # transforms see the trace that an auxiliary program is given as their own
            given = [one for one in given if not isinstance(one.type, SubTrace)]
        return make_tuple(given)
    if name == "retval" and trace.role != "output":
        _ask(frame, trace)
        result, function, arguments = frame.program.replay_of(trace.name)
        targets = [frame.fresh("value", kind) for kind in leaves(result)]
        frame.emit(hir.Call(list(targets), function, arguments))
        return Value(result, tuple(targets))
    if name == "log_prob" and frame.program.records:
        return frame.program.log_density()
    raise frame.not_closed(f"the attribute {name} of a trace")
