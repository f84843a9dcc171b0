"""The programs and functions that the steps of kernels are lowered from, besides the model."""

from __future__ import annotations

from functools import partial
from typing import Any

from gendsl.compiler.front.argument_types import types_of_arguments
from gendsl.compiler.front.blocks import block_of
from gendsl.compiler.front.draws import GENERATOR
from gendsl.compiler.front.ellipses import ellipse_of
from gendsl.compiler.front.program import Entries, Entry, Lowering
from gendsl.compiler.front.traces import TraceOf, trace_given, whole
from gendsl.compiler.front.warming import FLOAT, adapted_at, lists_of
from gendsl.compiler.hir.templates import MODEL
from gendsl.compiler.hir.types import Number
from gendsl.compiler.hir.values import known
from gendsl.compiler.moves import (
    Blocking,
    Involution,
    Picked,
    Rotating,
    Several,
    Step,
    Transition,
    Updating,
    Warming,
    given_trace,
)
from gendsl.compiler.steps import picking
from gendsl.compiler.steps.selections import InTurn, Selections
from gendsl.lang.source import find_source

PICKING = {"pick": picking.picked, "share": picking.log_share}
"""What the functions that pick a move are known by; a number comes behind."""


def entries_of(lowering: Lowering, number: int, one: Step) -> list[Entry]:
    """The programs of a step: the auxiliary one and the transforms, or what picks a move."""
    entries, traces = [], [MODEL]
    if isinstance(one, (Several, Transition, Updating, Rotating, Blocking, Warming)):
        return []
    if isinstance(one, Picked):
        constants = {"weights": one.weights, "count": len(one.parts)}
        for (which, function), kind in zip(PICKING.items(), ("f", "i"), strict=True):
            values = (whole(trace_given(lowering, MODEL)), Number(kind))
            source = find_source(function, "gen")
            entries.append(Entry(f"{which}{number}", source, values, constants=constants, chooses=False))
        return entries
    if one.q is not None:
        name = f"q{number}"
        given: list[Any] = [whole(trace_given(lowering, MODEL)) for _ in given_trace(one)]
        given += types_of_arguments(lowering.facts, one.q, one.q_args, name, len(given))
        entries.append(Entry(name, one.q.compiled.origin, tuple(given), bound=one.q.bound))
        traces.append(name)
    for place, f in enumerate(one.maps if isinstance(one, Involution) else ()):
        inputs = tuple(whole(TraceOf(name, "input")) for name in traces)
        outputs = {o: whole(TraceOf(name, "output")) for o, name in zip(f.outputs, traces, strict=True)}
        entries.append(
            Entry(
                f"f{number}_{place}", f.origin, inputs, outputs, bound=f._bound, constants=f.parameters,
                chooses=False,
            )
        )  # fmt: skip
    return entries


def lines_of(number: int, one: Updating, lowering: Lowering) -> list[Entry]:
    """What updates a choice, for each template that may be selected."""
    selected, source = InTurn(lowering, one.wanted), find_source(one.update, "gen")
    return [
        Entry(
            f"u{number}_{template.number}", source, (template, known(GENERATOR)),
            constants=dict(one.constants), chooses=False,
        )
        for template in lowering.templates_of(MODEL)
        if selected.may_have(template)
    ]  # fmt: skip


def block_at(number: int, one: Blocking, lowering: Lowering) -> list[Entry]:
    """What updates a block, and what gives the values of its choices, for each template of them."""
    selected, source = Selections(lowering, one.wanted), find_source(one.values, "gen")
    kind, update = block_of(lowering, number), find_source(one.update, "gen")
    return [
        *(
            Entry(f"v{number}_{template.number}", source, (template,), chooses=False)
            for template in lowering.templates_of(MODEL)
            if selected.may_have(template)
        ),
        Entry(f"u{number}", update, (kind, known(GENERATOR)), chooses=False),
    ]


def ellipse_at(number: int, one: Rotating, lowering: Lowering) -> list[Entry]:
    """What moves choices along an ellipse."""
    source, kind = find_source(one.update, "gen"), ellipse_of(lowering, number)
    return [Entry(f"u{number}", source, (kind, known(GENERATOR)), chooses=False)]


def rules_at(number: int, one: Warming, lowering: Lowering) -> list[Entry]:
    """The rules of a warm-up, in the order of `gendsl.compiler.steps.warming.Rules`."""
    kernel, rule = adapted_at(lowering, number), one.rule
    *_, numbers = lists_of(lowering, number)
    given = {
        "before": (rule.before, (kernel, numbers, known(GENERATOR))),
        "after": (rule.after, (kernel, numbers, numbers, FLOAT)),
        "taken": (rule.taken_in, (FLOAT,) * 4),
        "inverse": (rule.inverse_variance, (FLOAT,) * 2),
    }
    return [
        Entry(f"u{number}_{name}", find_source(function, "gen"), args, chooses=False)
        for name, (function, args) in given.items()
    ]


def updates_of(number: int, one: Updating | Rotating | Blocking | Warming) -> Entries:
    """What updates choices given all others, or what is done by the rules of a warm-up, which is lowered
    behind the model.
    """
    match one:
        case Updating():
            return partial(lines_of, number, one)
        case Rotating():
            return partial(ellipse_at, number, one)
        case Warming():
            return partial(rules_at, number, one)
    return partial(block_at, number, one)
