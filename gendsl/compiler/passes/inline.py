"""Functions that make choices are put where they are called."""

from __future__ import annotations

import itertools

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    IMPOSSIBLE,
    Block,
    Body,
    Call,
    Const,
    For,
    Function,
    If,
    Leave,
    Loop,
    Next,
    Op,
    Return,
    Set,
    Var,
)
from gendsl.compiler.hir.rewriting import rename
from gendsl.compiler.hir.text_effects import TextEffects
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.staging import Names


class NotInlinedError(Exception):
    """Why they are not."""


def inlined(function: Function, effects: TextEffects) -> Function:
    """A copy of a function that returns a log density, with all that makes choices in it.

    Raises:
        NotInlinedError: one calls itself, or ends where it may go on, but for a density that is zero.
    """
    labels = [0, *(one.label for one in hir.walk(function.body) if isinstance(one, (For, Loop, Block)))]
    made = Function(
        function.name, list(function.parameters), list(function.results), hir.copied_body(function.body),
        function.origin, function.scores,
    )  # fmt: skip
    inliner = _Inliner(Names(function), itertools.count(1 + max(labels)), effects)
    made.body = inliner.body(made.body, [function])
    clean_one(made)
    return made


class _Inliner:
    def __init__(self, names: Names, labels: itertools.count[int], effects: TextEffects) -> None:
        self.names, self.labels, self.effects = names, labels, effects

    def body(self, body: Body, within: list[Function]) -> Body:
        """Statements with what is called in place of calls."""
        result: Body = []
        zero: set[Var] = set()
        for one in body:
            if isinstance(one, Call) and self.effects.makes_choices(one.function):
                result += self._of_call(one, within)
                zero.add(one.targets[0])
                continue
            match one:
                case If(Op("eq", (Var() as var, Const() as value)), orelse=[]) if (
                    var in zero and value == IMPOSSIBLE
                ):
                    continue  # it ends where that is found
            for name in one.BODIES:
                setattr(one, name, self.body(getattr(one, name), within))
            result.append(one)
        return result

    def _of_call(self, call: Call, within: list[Function]) -> Body:
        function = call.function
        if any(function is one for one in within):
            raise NotInlinedError
        body = hir.copied_body(function.body)
        *_, end = body
        returns = [one for one in hir.walk(body) if isinstance(one, Return)]
        if not isinstance(end, Return) or any(
            one.values[0] != IMPOSSIBLE for one in returns if one is not end
        ):
            raise NotInlinedError
        own = [*function.parameters, *(var for one in hir.walk(body) for var in hir.targets(one))]
        named = {var: Var(self.names.new(var.name), var.kind) for var in dict.fromkeys(own)}
        rename(body, named)
        body.pop()
        own_labels = {one.label for one in hir.walk(body) if isinstance(one, (For, Loop, Block))}
        labels = {label: next(self.labels) for label in sorted(own_labels)}
        for one in hir.walk(body):
            if isinstance(one, (For, Loop, Block, Leave, Next)):
                one.label = labels[one.label]
            elif isinstance(one, Return):
                one.values = [IMPOSSIBLE]
        return [
            Set([named[var] for var in function.parameters], list(call.args), line=call.line),
            *self.body(body, [*within, function]),
            Set(list(call.targets), list(end.values), line=call.line),
        ]
