"""Traces that a program is given: `trace[address]` of an auxiliary program, and handles of a transform."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import arrays
from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.front.numbers import both
from gendsl.compiler.front.values import (
    NONE,
    NOTHING,
    Value,
    kind_of,
    make_tuple,
    number,
    number_leaf,
    object_of,
)
from gendsl.compiler.hir import Const, Expr, Var
from gendsl.compiler.types import BOOL, Array, Known, List, Number, SubTrace, Tuple, Type, describe, leaves


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


@dataclass(frozen=True)
class ArgumentsOf:
    """Stands among the inputs of a text for an argument of the program that a trace is of."""

    name: str
    position: int


def whole(trace: TraceOf) -> Value:
    """A whole trace."""
    return Value(SubTrace(trace))


def _trace(value: Value) -> TraceOf:
    assert isinstance(value.type, SubTrace)
    found: TraceOf = value.type.trace
    return found


def deeper(frame: Frame, value: Value, address: Value) -> Value:
    """`trace[address]` as a deeper address."""
    from gendsl.compiler.front.choices import path

    assert isinstance(value.type, SubTrace)
    parts, indices = path(frame, address)
    return Value(SubTrace(value.type.trace, (*value.type.prefix, *parts)), (*value.leaves, *indices))


# --- which templates an address has --------------------------------------------------------------


def _fit(
    frame: Frame, template: tuple[Any, ...], parts: tuple[Any, ...], indices: tuple[Expr, ...]
) -> tuple[list[Expr], tuple[Expr, ...], list[Expr]] | None:
    """The indices of a template whose first parts an address has, those that are left, and the tests of the
    strings that only the data tell; None if it hasn't its parts.
    """
    mine: list[Expr] = []
    tests: list[Expr] = []
    rest = list(indices)
    for wanted, given in zip(template, parts, strict=False):
        index = rest.pop(0) if given is None or given is ... else None
        if wanted is None:
            if given is not None:
                return None
            mine.append(index)  # type: ignore[arg-type]
        elif wanted is ...:
            if given is None:
                return None
            mine.append(
                index if given is ... else Const(frame.program.facts.text_number(given), "i")  # type: ignore[arg-type]
            )
        elif given is ...:
            text = Const(frame.program.facts.text_number(wanted), "i")
            tests.append(hir.Op("eq", (index, text), "b"))  # type: ignore[arg-type]
        elif wanted != given:
            return None
    return mine, tuple(rest), tests


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
    from gendsl.compiler.front.program import NO_VALUE, Below

    assert isinstance(value.type, SubTrace)
    parts, indices = value.type.prefix, value.leaves
    below, node = None, None
    while True:
        edge = None
        for template in frame.program.templates_of(_trace(value).name):
            first = template.parts[0] if template.parts else None
            inside = first.function if isinstance(first, Below) else None
            if inside is not below:
                continue
            if template.type == NO_VALUE:  # it only notes a call
                continue
            own = template.parts if below is None else template.parts[1:]
            fit = _fit(frame, own, parts, indices)
            if fit is None:
                continue
            mine, left, tests = fit
            if node is not None:
                mine = [node, *mine]
            if template.calls is not None:
                if len(own) > len(parts) or tests:
                    raise frame.not_closed("a namespace with calls of programs that call themselves")
                edge = template, mine, parts[len(own) :], left
            elif len(own) >= len(parts):
                yield Found(template, tuple(mine), own[len(parts) :], _all(tests))
        if edge is None:
            return
        template, mine, parts, indices = edge
        if not parts:
            raise frame.not_closed("a namespace with calls of programs that call themselves")
        node = frame.fresh("node", "i")
        frame.emit(hir.Read([node], template, tuple(mine)))
        below = template.calls


def _all(tests: list[Expr]) -> Expr:
    result: Expr = hir.TRUE
    for test in tests:
        result = test if result is hir.TRUE else hir.Op("and", (result, test), "b")
    return result


def is_present(frame: Frame, found: Found) -> Expr:
    """Whether a trace has the choice."""
    present = frame.fresh("present", "b")
    frame.emit(hir.Present(present, found.template, found.indices))
    return _all([test for test in (found.test, present) if test is not hir.TRUE])


def count(frame: Frame, found: Found) -> Var:
    """How many choices of a template a trace has."""
    counted = frame.fresh("count", "i")
    frame.emit(hir.Count(counted, found.template, found.indices))
    return counted


def is_any(frame: Frame, found: Found) -> Expr:
    """Whether a trace has a choice of a template."""
    if not any(part is None or part is ... for part in found.rest):
        return is_present(frame, found)
    some = hir.Op("gt", (count(frame, found), Const(0, "i")), "b")
    return _all([test for test in (found.test, some) if test is not hir.TRUE])


def _choices(frame: Frame, value: Value) -> list[Found]:
    """The templates, which differ in their types alone, of a choice."""
    return [found for found in templates_at(frame, value) if not found.rest]


# --- what a program does with a trace ------------------------------------------------------------


def contains(frame: Frame, container: Value, address: Value) -> Expr:
    """`address in trace`."""
    if _trace(container).role == "output":
        raise frame.not_closed("`in` an output trace")
    tests: list[Expr] = []
    for found in templates_at(frame, deeper(frame, container, address)):
        if found.rest:
            raise frame.not_closed("`in` a trace, of a namespace")
        tests.append(is_present(frame, found))
    result: Expr = hir.FALSE
    for test in tests:
        result = test if result is hir.FALSE else hir.Op("or", (result, test), "b")
    return result


def subscript(frame: Frame, value: Value, node: ast.expr) -> Value:
    """`trace[address]`."""
    from gendsl.compiler.front.expressions import expression

    address = frame.atoms(expression(frame, node))
    if is_never(address):
        return NOTHING
    at = deeper(frame, value, address)
    return choice(frame, at) if _trace(value).role == "trace" else at


def choice(frame: Frame, at: Value) -> Value:
    """The value of a choice of a trace."""
    every = _choices(frame, at)
    if not every:
        frame.fail("a choice that the program never makes")
        return NOTHING

    def read(found: Found) -> Value:
        names = [part for part in found.template.parts if isinstance(part, str)]
        targets = [frame.fresh(names[-1] if names else "x", kind) for kind in leaves(found.template.type)]
        frame.emit(hir.Read(list(targets), found.template, found.indices))
        return Value(found.template.type, tuple(targets))

    def from_(place: int) -> Value:
        if place == len(every) - 1:
            frame.fail_unless(every[place].test, "a choice that the program never makes")
            return read(every[place])
        present = is_present(frame, every[place])
        return frame.branch(present, lambda: read(every[place]), lambda: from_(place + 1))

    return from_(0)


def attribute(frame: Frame, value: Value, name: str) -> Value:
    """`trace.args`, `trace.retval` and `trace.choices`."""
    assert isinstance(value.type, SubTrace)
    trace = _trace(value)
    if name == "choices" and trace.role == "trace":
        return value
    if value.type.prefix:
        raise frame.not_closed(f"{name} of a part of a trace")
    if name == "args":
        return make_tuple(frame.program.arguments_of(trace.name))
    if name == "retval" and trace.role != "output":
        result, function, given = frame.program.replay_of(trace.name)
        targets = [frame.fresh("value", kind) for kind in leaves(result)]
        frame.emit(hir.Call(list(targets), function, given))
        return Value(result, tuple(targets))
    raise frame.not_closed(f"the attribute {name} of a trace")


# --- statements of a transform -------------------------------------------------------------------


def read(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`read(handle, label)`."""
    source = _handle(frame, args, "input")
    _check_label(frame, [*args[1:], *named.values()], _choices(frame, source))
    return choice(frame, source)


def write(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`write(handle, value, label)`."""
    target = _handle(frame, args, "output")
    given = args[1] if len(args) > 1 else named.pop("value")
    labels = [*args[2:], *named.values()]
    if is_never(given):
        return NOTHING

    def one(value: Value) -> Value:
        every = [found for found in _choices(frame, target) if _takes(found.template.type, value.type)]

        def from_(place: int) -> Value:
            if place == len(every):
                frame.fail("a value is written to an address where the program makes no choice of its type")
                return NOTHING
            found = every[place]

            def put() -> Value:
                _check_label(frame, labels, [found])
                kind = found.template.type
                fitting = value
                if isinstance(kind, Array):
                    fitting = arrays.as_array(frame, value, kind.kind, what=("written", place))
                elif kind == BOOL and kind_of(value) == "i":
                    fitting = _truth_value(frame, value)
                values = frame.program.facts.convert(fitting, kind)
                frame.emit(hir.Write(found.template, found.indices, tuple(values)))
                return NONE

            return frame.branch(found.test, put, lambda: from_(place + 1))

        return from_(0)

    frame.switch(given, one)
    return NONE


def _truth_value(frame: Frame, value: Value) -> Value:
    """0 and 1 as truth values."""
    leaf = frame.atom(number_leaf(value))
    inside = both(hir.Op("ge", (leaf, Const(0, "i")), "b"), hir.Op("le", (leaf, Const(1, "i")), "b"))
    frame.fail_unless(inside, "a number that is no truth value")
    return number(hir.Op("ne", (leaf, Const(0, "i")), "b"))


def _takes(type: Type, given: Type) -> bool:
    """Whether a choice of a type may be set to a value of another one."""
    if isinstance(type, Number):
        if isinstance(given, Known):
            kind = {bool: "b", int: "i", float: "f"}.get(given.value.__class__)
        else:
            kind = given.kind if isinstance(given, Number) else None
        return kind == type.kind or (kind, type.kind) in _WIDENED
    if isinstance(type, Array):
        if isinstance(given, Array):
            return given.rank == type.rank and (type.kind, given.kind) in _KEPT
        return isinstance(given, List) or (isinstance(given, Tuple) and given.cls is tuple)
    return type.__class__ is given.__class__


_WIDENED = {("i", "f"), ("i", "b")}
"""For numbers that are written: (what is written, what the choice has instead)."""

_KEPT = {("f", "f"), ("f", "i"), ("i", "i"), ("b", "b")}
"""For arrays that are written: (what the choice has, what is written)."""


def copy(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`copy(from, to)`."""
    frame.fail_if(hir.Op("eq", (copied(frame, args), Const(0, "i")), "b"), "nothing to copy")
    return NONE


def copied(frame: Frame, args: list[Value]) -> Expr:
    """Copy the choices at and below an address to another one; how many there are."""
    source, target = _handle(frame, args, "input"), _handle(frame, args[1:], "output")
    counts: list[Expr] = []
    there = list(templates_at(frame, target))
    for here in templates_at(frame, source):
        fitting = [one for one in there if one.rest == here.rest and one.template.type == here.template.type]
        if not fitting:
            frame.fail_if(is_any(frame, here), "a choice is copied to where the program makes none")
        for place in fitting:
            count = frame.fresh("copied", "i")
            made = hir.Copy(count, place.template, place.indices, here.template, here.indices)
            test = _all([test for test in (place.test, here.test) if test is not hir.TRUE])
            if test is hir.TRUE:
                frame.emit(made)
            else:
                frame.emit(hir.If(test, [made], [hir.Set([count], [Const(0, "i")])]))
            counts.append(count)
    total: Expr = Const(0, "i")
    for one in counts:
        total = hir.Op("add", (total, one), "i")
    return total


def _handle(frame: Frame, args: list[Value], role: str) -> Value:
    value = args[0]
    if not isinstance(value.type, SubTrace) or _trace(value).role != role or not value.type.prefix:
        raise frame.not_closed(f"{describe(value.type)} where an address of an {role} trace is needed")
    return value


def _check_label(frame: Frame, labels: list[Value], every: list[Found]) -> None:
    """Fail where a label is not that of the choices: those of floats are continuous, the others discrete."""
    for label in labels:
        name = repr(object_of(label)) if isinstance(label.type, Known) else "?"
        for found in every:
            kinds = leaves(found.template.type)
            array = getattr(found.template.type, "kind", None)
            kind = "continuous" if "f" in kinds or array == "f" else "discrete"
            if name not in ("None", kind):
                frame.fail(f"the label {name} for a {kind} choice")


STATEMENTS = {
    ("gendsl.transforms.statements", "read"): read,
    ("gendsl.transforms.statements", "write"): write,
    ("gendsl.transforms.statements", "copy"): copy,
}
"""What a transform calls, by module and name: the compiler stands below the transforms."""


def statement(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of `read`, `write` or `copy`; None for any other function."""
    key = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    handler = STATEMENTS.get(key)  # type: ignore[arg-type]
    return None if handler is None else handler(frame, args, dict(named))
