"""Lines along which choices are updated: the functions of `gendsl.inference.lines`, which the compiler knows,
as their own text looks into the records of a trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from gendsl import supports
from gendsl.compiler import hir
from gendsl.compiler.front import arrays, outside, trace_programs
from gendsl.compiler.front.arrays import library_call
from gendsl.compiler.front.frame import Frame, Program
from gendsl.compiler.front.lists import list_of
from gendsl.compiler.front.scores import support_of
from gendsl.compiler.front.traces import TraceOf, trace_of
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.coordinates import ENTRIES, WEIGHTS
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array, List, Number, SubTrace, Tuple, describe, leaves
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    number,
    number_leaf,
)
from gendsl.compiler.moves import TIE
from gendsl.distributions.base import domain_of
from gendsl.supports.base import ENUMERABLE

_MODULE = "gendsl.inference.lines"


@dataclass(frozen=True, eq=False)
class LineOf(TraceOf):
    """A trace, and the template of a choice of it that takes other values.

    Attributes:
        number: that of the template.
    """

    number: int = -1


@dataclass(frozen=True)
class Along:
    """What a text does along a line of a template; the functions' bodies are still to be made.

    Attributes:
        weight: the log weight of a value, by the indices of the choice and the value.
        move: lets the choice have a value, by these and the log weight.
    """

    template: Template
    weight: hir.Function
    move: hir.Function


@dataclass(frozen=True)
class AlongEntries:
    """The same along the coordinates of an array, which are its entries, or all but the last one.

    Attributes:
        begin: makes the array one of its own, by the indices of the choice.
        weight: the log weight of a coordinate, by these, the place and the number.
        move: lets the array have a number as a coordinate, by these and the log weight.
        end: keeps the array.
        leaves_last: whether the last entry is what the others leave of one.
    """

    template: Template
    begin: hir.Function
    weight: hir.Function
    move: hir.Function
    end: hir.Function
    leaves_last: bool


def line_at(lowering: Program, template: Template, indices: tuple[Expr, ...]) -> Value:
    """The line of a choice."""
    made = LineOf(template.trace, "line", template.number)
    line = lowering.given_traces.setdefault(("line", template.number), made)
    return Value(SubTrace(line, template.parts), indices)


def along(lowering: Program, template: Template) -> Along:
    """The functions of the text along lines of a template."""
    if template.number not in lowering.lines:
        name, indices = template.name, [hir.Var(f"i{axis}", "i") for axis in range(template.rank)]
        value = [hir.Var(f"value{leaf or ''}", kind) for leaf, kind in enumerate(leaves(template.type))]
        weight = hir.Function(
            lowering.function_name(f"log_weight_of_{name}"),
            [*indices, *value],
            ["f"],
            origin=f"the log weight of a value of {name}",
        )
        move = hir.Function(
            lowering.function_name(f"move_{name}"),
            [*indices, *value, hir.Var("log_weight", "f")],
            origin=f"another value of {name}",
        )
        lowering.lines[template.number] = Along(template, weight, move)
    found: Along = lowering.lines[template.number]
    return found


def along_entries(frame: Frame, template: Template) -> AlongEntries:
    """The functions of the text along the coordinates of arrays of a template."""
    lowering = frame.program
    known_as = lowering.coordinates.get(template.number)
    if known_as not in (ENTRIES, WEIGHTS):
        raise frame.not_closed(f"the coordinates of the array {template.name}")
    if template.number not in lowering.lines:
        name, indices = template.name, [hir.Var(f"i{axis}", "i") for axis in range(template.rank)]
        at = [*indices, hir.Var("place", "i"), hir.Var("x", "f")]

        def made(what: str, parameters: list[hir.Var], results: list[hir.Kind]) -> hir.Function:
            full = lowering.function_name(f"{what}_{name}")
            return hir.Function(full, list(parameters), results, origin=f"the coordinates of {name}")

        lowering.lines[template.number] = AlongEntries(
            template,
            made("begin", indices, []),
            made("log_weight_of_entry_of", at, ["f"]),
            made("move_entry_of", [*at, hir.Var("log_weight", "f")], []),
            made("end", indices, []),
            known_as == WEIGHTS,
        )
    found: AlongEntries = lowering.lines[template.number]
    return found


def call(frame: Frame, function: Any, args: list[Value]) -> Value | None:
    """A call of one of these functions; None for any other."""
    handler = None
    if getattr(function, "__module__", None) == _MODULE:
        handler = _HANDLERS.get(function.__qualname__)
    elif isinstance(function, FunctionType):
        handler = _OWN.get(function)
    return None if handler is None else handler(frame, args)


def _template(frame: Frame, line: Value) -> Template:
    found = trace_of(line)
    assert isinstance(found, LineOf)
    return list(frame.program.templates.values())[found.number]


def _current(frame: Frame, args: list[Value]) -> Value:
    (line,) = args
    template = _template(frame, line)
    targets = [frame.fresh(template.name, kind) for kind in leaves(template.type)]
    frame.emit(hir.Read(list(targets), template, line.leaves, False))
    return Value(template.type, tuple(targets))


def _support(frame: Frame, args: list[Value]) -> Value:
    (line,) = args
    template = _template(frame, line)
    noted = frame.program.distributions[template.number]
    domains = {domain_of(one.type.cls) for one, _ in noted if isinstance(one.type, Tuple)}
    if len(domains) == 1 and (same := domains.pop()) is not None:
        return outside.constant(frame, same)  # whatever the parameters are, which a run would find
    return support_of(frame, trace_programs.distribution_at(frame, template, line.leaves))


def _values(frame: Frame, args: list[Value]) -> Value:
    """All values of a choice, where they are numbers."""
    return frame.switch(_support(frame, args), lambda support: _values_in(frame, support))


def _values_in(frame: Frame, support: Value) -> Value:
    if is_never(support):
        return NOTHING
    cls = getattr(support.type, "cls", None)
    if cls is supports.Boolean:
        return list_of(frame, frame.here, [known(False), known(True)], "values")
    if cls is supports.Integers:
        return library_call(frame, _whole_numbers, items_of(support))
    if cls is supports.Lattice:
        return library_call(frame, _lattice, items_of(support))
    if cls is supports.FiniteSet:
        (elements,) = items_of(support)
        if not isinstance(elements.type, List):
            elements = list_of(frame, frame.here, items_of(elements), "elements")
        return library_call(frame, _once_each, [elements])
    raise frame.not_closed(f"the values of a choice whose support is a {getattr(cls, '__name__', None)}")


def _whole_numbers(low: Any, high: Any) -> Any:
    assert high - low < ENUMERABLE
    return list(range(int(low), int(high) + 1))


def _lattice(offset: Any, step: Any, low: Any, high: Any) -> Any:
    assert high - low < ENUMERABLE
    return [offset + step * i for i in range(int(low), int(high) + 1)]


def _once_each(elements: Any) -> Any:
    found = []
    for element in elements:
        if element not in found:
            found.append(element)
    return found


def _leaves(frame: Frame, template: Template, value: Value) -> list[Expr]:
    """The leaves of a value for a choice."""
    kind, given = template.type, value.type
    if isinstance(kind, Number) and is_number(value) and kind_of(value) == kind.kind:
        return [frame.atom(number_leaf(value))]
    raise frame.not_closed(f"{describe(given)} as another value of a choice that is {describe(kind)}")


def _log_weight(frame: Frame, args: list[Value]) -> Value:
    weight = _weight(frame, args)
    return NOTHING if is_never(weight) else _checked(frame, weight)


def _checked(frame: Frame, weight: Value) -> Value:
    """A log weight, which must not be NaN or infinite."""
    below = Op("lt", (weight.leaf, Const(float("inf"), "f")), "b")
    frame.fail_unless(below, "a log weight that is NaN or infinite")
    return weight


def _weight(frame: Frame, args: list[Value]) -> Value:
    line, value = args
    if is_never(value):
        return NOTHING
    template = _template(frame, line)
    given = _leaves(frame, template, value)
    found = frame.fresh("log_weight", "f")
    frame.emit(hir.Call([found], along(frame.program, template).weight, [*line.leaves, *given]))
    return number(found)


def _log_weights(frame: Frame, args: list[Value]) -> Value:
    return library_call(frame, _each, args)


def _each(line: Any, values: Any) -> Any:
    now = current(line)
    return [0.0 if value == now else weight(line, value) for value in values]


def current(line: Any) -> Any:
    """The value that a choice has; it is read, and never run."""
    raise AssertionError("what is known of lines is read and not run")


def weight(line: Any, value: Any) -> float:
    """The log weight of a value, which may be NaN or infinite; the same."""
    raise AssertionError("what is known of lines is read and not run")


def _move(frame: Frame, args: list[Value]) -> Value:
    line, value, log_weight = args
    if is_never(value) or is_never(log_weight):
        return NOTHING
    template = _template(frame, line)
    given = [*_leaves(frame, template, value), frame.atom(number_leaf(log_weight, "f"))]
    frame.emit(hir.Call([], along(frame.program, template).move, [*line.leaves, *given]))
    return NONE


def _is_array(frame: Frame, args: list[Value]) -> Value:
    (line,) = args
    kind = _template(frame, line).type
    return known(isinstance(kind, Array) and kind.kind == "f")


def _begin_array(frame: Frame, args: list[Value]) -> Value:
    (line,) = args
    template = _template(frame, line)
    entries = along_entries(frame, template)
    size = arrays.size_of(frame, _current(frame, args))
    frame.emit(hir.Call([], entries.begin, list(line.leaves)))
    return number(frame.atom(Op("sub", (size, Const(1, "i")), "i") if entries.leaves_last else size))


def _coordinate(frame: Frame, args: list[Value]) -> Value:
    line, place = args
    value = _current(frame, [line])
    at = Op("add", (value.leaves[1], number_leaf(place, "i")), "i")
    return arrays.load(frame, value, frame.atom(at))


def _log_weight_at(frame: Frame, args: list[Value]) -> Value:
    line, place, x = args
    if is_never(x):
        return NOTHING
    found = frame.fresh("log_weight", "f")
    given = [frame.atom(number_leaf(place, "i")), frame.atom(number_leaf(x, "f"))]
    weight = along_entries(frame, _template(frame, line)).weight
    frame.emit(hir.Call([found], weight, [*line.leaves, *given]))
    return _checked(frame, number(found))


def _move_coordinate(frame: Frame, args: list[Value]) -> Value:
    line, place, *numbers = args
    if any(map(is_never, numbers)):
        return NOTHING
    given = [frame.atom(number_leaf(place, "i")), *(frame.atom(number_leaf(one, "f")) for one in numbers)]
    move = along_entries(frame, _template(frame, line)).move
    frame.emit(hir.Call([], move, [*line.leaves, *given]))
    return NONE


def _end_array(frame: Frame, args: list[Value]) -> Value:
    (line,) = args
    frame.emit(hir.Call([], along_entries(frame, _template(frame, line)).end, list(line.leaves)))
    return NONE


def _check_tie(frame: Frame, args: list[Value]) -> Value:
    one, other, size = (number_leaf(value, "f") for value in args)
    return _tie(frame, Op("sub", (one, other), "f"), size)


def _check_level(frame: Frame, args: list[Value]) -> Value:
    level, weight = (number_leaf(value, "f") for value in args)
    return _tie(frame, Op("sub", (weight, Op("np_log", (level,), "f")), "f"), Const(1.0, "f"))


def _tie(frame: Frame, distance: Expr, size: Expr) -> Value:
    """Fail where the distance of two numbers of a size depends on rounding."""
    lp = frame.fresh("lp", "f")
    frame.emit(hir.Primitive([lp], "log_density"))
    scale = Op("add", (Const(1.0, "f"), Op("abs", (lp,), "f")), "f")
    near = Op("mul", (Op("mul", (Const(TIE, "f"), scale), "f"), size), "f")
    frame.fail_if(Op("lt", (Op("abs", (distance,), "f"), near), "b"), "a tie")
    return NONE


_HANDLERS: dict[str, Callable[[Frame, list[Value]], Value]] = {
    "current": _current,
    "support": _support,
    "values": _values,
    "log_weight": _log_weight,
    "log_weights": _log_weights,
    "move": _move,
    "is_array": _is_array,
    "begin_array": _begin_array,
    "coordinate": _coordinate,
    "log_weight_at": _log_weight_at,
    "move_coordinate": _move_coordinate,
    "end_array": _end_array,
    "check_tie": _check_tie,
    "check_level": _check_level,
}
_OWN: dict[Any, Callable[[Frame, list[Value]], Value]] = {current: _current, weight: _weight}
