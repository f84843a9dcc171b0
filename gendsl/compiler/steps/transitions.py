"""Tempered transitions, and the likelihood that they need (`gendsl.inference.tempered` says what they are).

    save, (change of target, step) on the way up, (step, change of target) on the way down, decide, (go back)

A change of target adds to the log acceptance ratio what the log density changes by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gendsl.compiler.front.program import Lowering
from gendsl.compiler.hir import (
    Body,
    Choice,
    Const,
    Draw,
    Expr,
    Function,
    If,
    Op,
    Primitive,
    Read,
    Return,
    Set,
    Var,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import MODEL
from gendsl.compiler.hir.types import Known
from gendsl.compiler.moves import Blocking, Rotating, Step, Transition, Updating, all_within
from gendsl.compiler.programs.sums import Sums, if_zero, summed
from gendsl.compiler.steps.move import REJECTED, RESULTS, ZERO
from gendsl.compiler.steps.step_parts import Called

RATIO, SCALE = Var("log_ratio", "f"), Var("scale", "f")
"""The log acceptance ratio so far, and the size of what it was computed from."""


class _Observed(Sums):
    def choice(self, choice: Choice) -> Body:
        template, indices, line = choice.template, choice.indices, choice.line
        term, score = self.scored(choice)
        is_observed = self.fresh(f"{template.name}_observed", "b")
        return [
            Read(choice.targets, template, indices, False, line=line),
            Primitive([is_observed], "is_observed", indices, (template,), line=line),
            If(is_observed, [score, self.add(0, term, line)], [], line=line),
        ]


def observed(main: Function) -> Function:
    """Make a program return the log density of the observations of the current trace alone."""
    return summed(main, _Observed, ["lp"])


def check_arguments(steps: Sequence[Step], lowering: Lowering) -> None:
    """Refuse transitions by arguments of what is made of the arguments of the posterior."""
    transitions = (one for one in steps if isinstance(one, Transition) and one.args)
    within = [part for one in transitions for part in all_within(one) if part is not one]
    if any(isinstance(part, (Updating, Rotating, Blocking, Transition)) for part in within):
        raise NotClosed("a tempered transition by arguments of kernels that update choices given all others")
    if any(name == MODEL for key in lowering.input_values if isinstance(key, tuple) for name in key[1:2]):
        raise NotClosed("a tempered transition by arguments, where programs look at those of a trace")


def give_arguments(lowering: Lowering, target: str, args: tuple[Any, ...]) -> None:
    """Give a target the arguments of the model, of the types that those of the posterior have."""
    lowering.entries[target] = lowering.entries[MODEL]
    *_, own = lowering.entries[MODEL]
    if len(own) != len(args):
        raise NotClosed("a tempered transition of other arguments")
    for value, given in zip(own, args, strict=True):
        if isinstance(value.type, Known) and value.type.value != given:
            raise NotClosed("a tempered transition of arguments that the text has as constants")


def to_arguments(score: Called) -> Body:
    """The change to the target whose log density this gives; it ends where that is zero."""
    lp, before = Var("lp", "f"), Var("lp_before", "f")
    return [
        Primitive([], "begin"),
        score.into(lp),
        if_zero(lp, _ended(REJECTED)),
        Primitive([], "same_choices"),
        Primitive([], "same_factors"),
        Primitive([before], "log_density"),
        *_added(Op("sub", (lp, before), "f"), lp, before),
        Primitive([], "stay", (lp,)),
    ]


def to_power(likelihood: Called, step: float) -> Body:
    """The change to a power of the likelihood that is so much larger."""
    lp = Var("lp_observed", "f")
    weight = Op("mul", (Const(step, "f"), lp), "f")
    return [likelihood.into(lp), *_added(weight, weight)]


def _added(weight: Expr, *terms: Expr) -> Body:
    size: Expr = SCALE
    for term in terms:
        size = Op("add", (size, Op("abs", (term,), "f")), "f")
    return [Set([RATIO, SCALE], [Op("add", (RATIO, weight), "f"), size])]


def _ended(results: Sequence[Expr]) -> Body:
    """Reject where a target has density zero."""
    saved, uniform = Var("saved", "r"), Var("uniform", "f")
    back = [Primitive([], name, (saved,)) for name in ("go_back", "give_up")]
    return [*back, Draw(uniform, "random", ()), Return(list(results))]


def transition(name: str, steps: Sequence[Function], up: Sequence[Body], down: Sequence[Body]) -> Function:
    """The step of a tempered transition.

    Args:
        steps: the steps of the targets.
        up: what changes to each target from the one before it, the posterior before the first.
        down: what changes back.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    accepted, uniform, saved = Var("accepted", "b"), Var("uniform", "f"), Var("saved", "r")
    rungs = list(zip(steps, up, down, strict=True))
    made.body = [Primitive([saved], "save"), Set([RATIO, SCALE], [ZERO, ZERO])]
    for step, change, _ in rungs:
        made.body += [*change, Called(step).into()]
    for step, _, change in reversed(rungs):
        made.body += [Called(step).into(), *change]
    made.body += [
        Draw(uniform, "random", ()),
        Primitive([accepted], "decide", (RATIO, SCALE, uniform)),
        If(accepted, [], [Primitive([], "go_back", (saved,))]),
        Primitive([], "give_up", (saved,)),
        Return([accepted, RATIO, ZERO, ZERO, ZERO]),
    ]
    return made
