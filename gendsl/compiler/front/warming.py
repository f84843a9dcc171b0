"""What the rules of warm-up ask of a kernel: the functions of `gendsl.inference.warmup_rules` that the
compiler knows, as their own text looks into traces.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame, Program
from gendsl.compiler.hir import Var
from gendsl.compiler.hir.types import Known, List, Number, Tuple, Type
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never, number, number_leaf

_MODULE = "gendsl.inference.warmup_rules"
FLOAT = Number("f")
MOMENTS = ("f", "f", "f", "f")
"""Of a coordinate the number of values, their mean, the sum of squared differences from it, and the mass that
was found, 0 if none was.
"""


@dataclass(frozen=True, eq=False)
class Adapted:
    """What a text does of a kernel that is adapted; the functions' bodies are still to be made.

    Attributes:
        compare: whether the log acceptance ratio of a move of a step size is above a bound.
        take_in: takes in the coordinates of the trace.
        take_over: lets the masses be what is found of those.
    """

    compare: hir.Function
    take_in: hir.Function
    take_over: hir.Function


PARTS = ("roots", "moments")
"""The leaves of such a kernel: the roots of the masses, and what was taken in, by slots."""


def lists_of(lowering: Program, number: int) -> tuple[Type, ...]:
    """The types of the lists of a kernel, which has a number: those of `PARTS`, and of numbers."""
    facts, found = lowering.facts, []
    for name, item in (("roots", FLOAT), ("moments", Tuple((FLOAT,) * len(MOMENTS))), ("numbers", FLOAT)):
        site = facts.site(("adapted", number, name))
        facts.grow_item(site, item)
        found.append(List(facts.find(site)))
    return tuple(found)


def adapted_at(lowering: Program, number: int) -> Type:
    """The type of a kernel that is adapted, which has a number."""
    if number not in lowering.adapted:

        def made(name: str, results: list[hir.Kind], origin: str, *given: Var) -> hir.Function:
            parameters = [*(Var(part, "r") for part in PARTS), *given]
            return hir.Function(lowering.function_name(name), parameters, results, origin=origin)

        lowering.adapted[number] = Adapted(
            made(
                "compare_ratio", ["i"], "whether the log acceptance ratio is above a bound",
                Var("step_size", "f"), Var("bound", "f"),
            ),
            made("take_in", [], "the coordinates of the trace are taken in"),
            made("take_over", ["b"], "the masses are what is found"),
        )  # fmt: skip
    roots, moments, _ = lists_of(lowering, number)
    return Tuple((Known(("adapted", number)), roots, moments))


def call(frame: Frame, function: Any, args: list[Value]) -> Value | None:
    """A call of one of these functions; None for any other."""
    if getattr(function, "__module__", None) != _MODULE:
        return None
    handler = _HANDLERS.get(function.__qualname__)
    return None if handler is None else handler(frame, args)


def _adapted(frame: Frame, kernel: Value) -> Adapted:
    assert isinstance(kernel.type, Tuple) and isinstance(kernel.type.items[0], Known)
    found: Adapted = frame.program.adapted[kernel.type.items[0].value[1]]
    return found


def _compare(frame: Frame, args: list[Value]) -> Value:
    kernel, step_size, bound, _ = args
    if is_never(step_size) or is_never(bound):
        return NOTHING
    found = frame.fresh("compared", "i")
    given = [frame.atom(number_leaf(one, "f")) for one in (step_size, bound)]
    frame.emit(hir.Call([found], _adapted(frame, kernel).compare, [*kernel.leaves, *given]))
    return number(found)


def _take_in(frame: Frame, args: list[Value]) -> Value:
    (kernel,) = args
    frame.emit(hir.Call([], _adapted(frame, kernel).take_in, list(kernel.leaves)))
    return NONE


def _take_over(frame: Frame, args: list[Value]) -> Value:
    (kernel,) = args
    found = frame.fresh("is_found", "b")
    frame.emit(hir.Call([found], _adapted(frame, kernel).take_over, list(kernel.leaves)))
    return number(found)


_HANDLERS: dict[str, Callable[[Frame, list[Value]], Value]] = {
    "compare": _compare, "take_in": _take_in, "take_over": _take_over,
}  # fmt: skip
