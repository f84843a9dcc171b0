"""What transforms do with handles: `read`, `write` and `copy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gendsl.compiler import hir
from gendsl.compiler.front import arrays
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.subtrees import each_call
from gendsl.compiler.front.traces import (
    Found,
    TraceOf,
    all_at,
    all_of,
    choice,
    choices_at,
    is_any,
    is_present,
    trace_of,
)
from gendsl.compiler.hir import Const, Expr, both
from gendsl.compiler.hir.types import (
    BOOL,
    Array,
    Below,
    Known,
    List,
    Number,
    SubTrace,
    Tuple,
    Type,
    describe,
    leaves,
)
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never, kind_of, number, number_leaf, object_of

if TYPE_CHECKING:
    from gendsl.compiler.hir.templates import Template


def read(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`read(handle, label)`."""
    source = _handle(frame, args, "input")
    _check_label(frame, [*args[1:], *named.values()], choices_at(frame, source))
    return choice(frame, source)


def write(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`write(handle, value, label)`."""
    target = _handle(frame, args, "output")
    given = args[1] if len(args) > 1 else named.pop("value")
    labels = [*args[2:], *named.values()]
    if is_never(given):
        return NOTHING

    def one(value: Value) -> Value:
        every = [found for found in choices_at(frame, target) if _takes(found.template.type, value.type)]
        every.sort(key=lambda found: found.template.rank)

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

            test = found.test
            if test is hir.TRUE:  # or the trace tells of which template the choice is
                others = [is_present(frame, one) for one in every[place + 1 :]]
                test = all_of([hir.Op("not", (other,), "b") for other in others])
            return frame.branch(test, put, lambda: from_(place + 1))

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
    """Copy the choices at and below an address to another one; whether there are any, as a number above 0."""
    sources = _alternatives(frame, _handle(frame, args, "input"))
    targets = _alternatives(frame, _handle(frame, args[1:], "output"))
    total: Expr = Const(0, "i")
    for first, source in sources:
        for second, target in targets:
            test = all_of([one for one in (first, second) if one is not hir.TRUE])
            count = frame.branch(
                test,
                lambda source=source, target=target: number(_copied(frame, source, target)),  # type: ignore[misc]
                lambda: number(Const(0, "i")),
            )
            if is_never(count):
                continue
            total = hir.Op("add", (total, frame.atom(count.leaf)), "i")
    return total


def _alternatives(frame: Frame, value: Value) -> list[tuple[Expr, Value]]:
    """What an address may stand for, with tests: calls, where only the data tell which, or something else."""
    found: list[tuple[Expr, Value]] = []
    other: Expr = hir.TRUE
    for one in all_at(frame, value):
        if one.template.has_nodes and not one.rest:
            node = frame.fresh("node", "i")
            frame.emit(hir.Node(node, one.template, one.indices))
            found.append((one.test, Value(SubTrace(trace_of(value), (Below(one.template.calls),)), (node,))))
            unlike = hir.Op("not", (one.test,), "b")
            other = unlike if other is hir.TRUE else hir.Op("and", (other, unlike), "b")
    return [*found, (other, value)]


def _copied(frame: Frame, source: Value, target: Value) -> Expr:
    counts: list[Expr] = []
    there = list(all_at(frame, target))
    for here in all_at(frame, source):
        if here.template.has_nodes and not here.rest:
            continue  # another alternative
        if here.template.weighs and here.rest:  # the program of the output trace makes its own factors
            counts.append(_one_if(frame, is_any(frame, here)))
            continue
        if here.template.has_nodes:
            calls = [one for one in there if one.rest == here.rest and one.template.has_nodes]
            counts.append(_copied_calls(frame, here, calls, trace_of(source), trace_of(target)))
            continue
        fitting = [one for one in there if one.rest == here.rest and one.template.type == here.template.type]
        fitting = [one for one in fitting if not one.template.has_nodes]
        if not fitting:
            frame.fail_if(is_any(frame, here), "a choice is copied to where the program makes none")
        for place in fitting:
            count = frame.fresh("copied", "i")
            made = hir.Copy(count, place.template, place.indices, here.template, here.indices)
            test = all_of([test for test in (place.test, here.test) if test is not hir.TRUE])
            if test is hir.TRUE:
                frame.emit(made)
            else:
                frame.emit(hir.If(test, [made], [hir.Set([count], [Const(0, "i")])]))
            counts.append(count)
    total: Expr = Const(0, "i")
    for one in counts:
        total = hir.Op("add", (total, one), "i")
    return total


def _one_if(frame: Frame, test: Expr) -> Expr:
    """1 where a test holds, else 0."""
    return frame.branch(test, lambda: number(Const(1, "i")), lambda: number(Const(0, "i"))).leaf


def _copied_calls(frame: Frame, here: Found, there: list[Found], source: TraceOf, target: TraceOf) -> Expr:
    """Copy what is below the calls of a template; how many choices there are."""
    if len(there) > 1:
        raise frame.not_closed("a copy to one call or another")
    total = frame.fresh("copied", "i")

    def inside(indices: tuple[Expr, ...]) -> hir.Body:
        if not there:
            return [hir.Fail("a choice is copied to where the program makes none")]
        one = there[0]
        more = indices[len(here.indices) :]
        mine, theirs, count = frame.fresh("node", "i"), frame.fresh("node", "i"), frame.fresh("copied", "i")
        return [
            hir.Node(mine, here.template, indices),
            hir.Node(theirs, one.template, (*one.indices, *more)),
            hir.Call([count], _copier(frame, here.template, one.template, source, target), [mine, theirs]),
            hir.Set([total], [hir.Op("add", (total, count), "i")]),
        ]

    frame.emit(hir.Set([total], [Const(0, "i")]))
    body = each_call(frame.fresh, frame.program.new_label, here.template, here.indices, inside)
    tests = [one.test for one in (here, *there) if one.test is not hir.TRUE]
    for statement in [hir.If(all_of(tests), body, [])] if tests else body:
        frame.emit(statement)
    return total


def _copier(frame: Frame, here: Template, there: Template, source: TraceOf, target: TraceOf) -> hir.Function:
    """The function that copies what is below one call to below another one, from their nodes."""
    program = frame.program
    key = ("copier", source.name, here.calls, target.name, there.calls)
    if key not in program.helpers:
        name = getattr(here.calls, "__name__", "calls")
        made = hir.Function(
            program.function_name(f"copy_{name}"), results=["i"], origin=f"copies what {name} made"
        )
        program.helpers[key] = made
        inner = Frame(program, Text(made), made.body, frame.node, None, frame.filename, key)
        inner.line = 0
        mine, theirs = inner.fresh("source", "i"), inner.fresh("target", "i")
        made.parameters = [mine, theirs]
        count = _copied(
            inner,
            Value(SubTrace(source, (Below(here.calls),)), (mine,)),
            Value(SubTrace(target, (Below(there.calls),)), (theirs,)),
        )
        inner.emit(hir.Return([count]))
    return program.helpers[key]  # type: ignore[no-any-return]


def _handle(frame: Frame, args: list[Value], role: str) -> Value:
    value = args[0]
    if not isinstance(value.type, SubTrace) or trace_of(value).role != role or not value.type.prefix:
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


def is_transform(found: Any) -> bool:
    """Whether an object is a transform: the compiler stands below these."""
    cls = type(found)
    return (cls.__module__, cls.__qualname__) == ("gendsl.transforms.language", "Transform")


def statement(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of `read`, `write` or `copy`; None for any other function."""
    key = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    handler = STATEMENTS.get(key)  # type: ignore[arg-type]
    return None if handler is None else handler(frame, args, dict(named))
