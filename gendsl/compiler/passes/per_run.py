"""What is the same in all steps of a run is computed once, before the first of them.

    def step(state):                                      def step_once(state):
        lp = model(state)                                     return model_once(state)
        ...                                         ->
                                                          def step(state, table):
                                                              lp = model(state, table)
                                                              ...

That is what depends on nothing but what is given from outside, and on choices that no step writes, as
observations are: whether they are in their support, what the log density of each has in terms of its own.
What is done once and what in each step is what `staging` takes the function of a step apart into.

A run ends where anything else than these steps has had the trace, and what was computed is forgotten. What
is computed is what a step of this trace would compute, but for steps that end early; where it fails, the
interpreter makes the steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import Call, Function, Primitive, Read, Return, Var, Visit
from gendsl.compiler.hir.templates import MODEL
from gendsl.compiler.hir.text_effects import NONE, Run, changes_items, templates_changed
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.staging import Stages, taken_apart


def take_out(
    steps: Sequence[Function | None],
    every: Iterable[Function],
    changing: Iterable[int],
    observed: Iterable[int] = (),
) -> tuple[list[Function | None], list[Function | None]]:
    """The functions of steps, and for each the one that computes its arguments once a run, or None.

    Args:
        every: the functions of steps, and those of the steps that they are made of; those that begin one for
            them are found.
        changing: the numbers of the inputs that steps change.
        observed: the identities of the templates whose choices are all observed.
    """
    roots = [step for step in steps if step is not None]
    functions = list({id(one): one for root in roots for one in hir.functions(root)}.values())
    unwritten, changed = _templates(functions)
    own = {id(one) for one in functions if _begins(one)} | set(map(id, every))
    known = (
        own,
        frozenset({*unwritten, *observed}),
        frozenset(changing),
        frozenset(changed),
        changes_items(functions),
    )
    made = list(steps)
    before: list[Function | None] = [None] * len(steps)
    for tables in (False, True):  # what is the same in all iterations needs no table
        stages = Stages(Run(*known, tables))
        for number, step in enumerate(made):
            if step is not None:
                made[number], before[number] = _apart(stages, step, before[number])
        for found in stages.parts.values():
            if found is not None:
                clean_one(found.once)
                clean_one(found.each)
    return made, before


def _apart(stages: Stages, step: Function, before: Function | None) -> tuple[Function, Function | None]:
    """A step and what computes its arguments, where it has some before."""
    count = len(step.parameters)
    parts = taken_apart(stages, step, [True] * count, [False] * len(step.results), NONE, True)
    if parts is None or not parts.once.results:
        return step, before
    if before is None:
        return parts.each, parts.once
    first = [Var(f"same_{place}", kind) for place, kind in enumerate(before.results)]
    then = [Var(f"also_{place}", kind) for place, kind in enumerate(parts.once.results)]
    for_once, for_each = ([first[at] for at in given] for given in parts.given)
    results = [*for_each, *then]
    joined = Function(parts.once.name, results=[var.kind for var in results], origin=step.origin)
    joined.body = [
        Call(list(first), before, []),
        Call(list(then), parts.once, list(for_once)),
        Return(list(results)),
    ]
    before.name, parts.once.name = f"{before.name}_for_all", f"{parts.once.name}_for_each"
    return parts.each, joined


def _begins(function: Function) -> bool:
    """Whether a function begins a step."""
    return any(isinstance(one, Primitive) and one.name == "begin" for one in hir.walk(function.body))


def _templates(functions: Sequence[Function]) -> tuple[set[int], set[int]]:
    """The identities of the templates of the model whose choices some functions only look up, and of those
    whose choices they may change.
    """
    looked_up = {
        id(one.template)
        for function in functions
        for one in hir.walk(function.body)
        if isinstance(one, (Visit, Read)) and one.template.trace == MODEL and one.template.calls is None
    }
    changed = templates_changed(functions)
    return looked_up - changed, changed
