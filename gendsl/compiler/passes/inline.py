"""Functions that make choices are put where they are called; so are small ones that read lists of loops.

What such a function reads of a list, that a loop has made item by item, is then seen: a row, or a window.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    IMPOSSIBLE,
    Block,
    Body,
    Call,
    Const,
    Fill,
    For,
    Function,
    If,
    Leave,
    Loop,
    New,
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

_MOST = 30
"""Of how many statements a function is at most that reads a list."""


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
    made.body = inliner.readers(made.body, _made_by_loops(made.body, None), None)
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

    def readers(self, body: Body, made: Mapping[Var, For | Loop | None], loop: For | Loop | None) -> Body:
        """Statements with small functions in place of calls that read a list which other loops make.

        Args:
            made: the lists, with the loops that they are made in.
            loop: the innermost loop around the statements.
        """
        result: Body = []
        for one in body:
            args = [arg for arg in one.args if isinstance(arg, Var)] if isinstance(one, Call) else []
            is_of_other_loops = any(made.get(arg, loop) is not loop for arg in args)
            if isinstance(one, Call) and is_of_other_loops and self._may_be_read(one.function):
                result += self.readers(self._opened(one), made, loop)
                continue
            inner = one if isinstance(one, (For, Loop)) else loop
            for name in one.BODIES:
                setattr(one, name, self.readers(getattr(one, name), made, inner))
            result.append(one)
        return result

    def _may_be_read(self, function: Function) -> bool:
        """Whether a function is small, and does nothing but to compute numbers, at its end."""
        every = list(hir.walk(function.body))
        returns = [one for one in every if isinstance(one, Return)]
        effects = self.effects.of(function)
        is_pure = effects.pure and not effects.changes and "r" not in function.results
        is_another = function.symbol or function.linear is not None
        calls_itself = any(isinstance(one, Call) and one.function is function for one in every)
        is_plain = is_pure and not is_another and not calls_itself
        return is_plain and len(every) <= _MOST and returns == function.body[-1:]

    def _of_call(self, call: Call, within: list[Function]) -> Body:
        function = call.function
        if any(function is one for one in within):
            raise NotInlinedError
        returns = [one for one in hir.walk(function.body) if isinstance(one, Return)]
        end = function.body[-1]
        if not isinstance(end, Return) or any(
            one.values[0] != IMPOSSIBLE for one in returns if one is not end
        ):
            raise NotInlinedError
        return self.body(self._opened(call), [*within, function])

    def _opened(self, call: Call) -> Body:
        """What a function does, in place of a call."""
        function = call.function
        body = hir.copied_body(function.body)
        *_, end = body
        assert isinstance(end, Return)
        own = [*function.parameters, *(var for one in hir.walk(body) for var in hir.targets(one))]
        changed = {var for one in hir.walk(body) for var in hir.targets(one)}
        lists = {
            var: arg
            for var, arg in zip(function.parameters, call.args, strict=True)
            if var.kind == "r" and isinstance(arg, Var) and var not in changed
        }
        named = {var: Var(self.names.new(var.name), var.kind) for var in dict.fromkeys(own)} | lists
        rename(body, named)
        body.pop()
        own_labels = {one.label for one in hir.walk(body) if isinstance(one, (For, Loop, Block))}
        labels = {label: next(self.labels) for label in sorted(own_labels)}
        for one in hir.walk(body):
            if isinstance(one, (For, Loop, Block, Leave, Next)):
                one.label = labels[one.label]
            elif isinstance(one, Return):
                one.values = [IMPOSSIBLE]
        pairs = [pair for pair in zip(function.parameters, call.args, strict=True) if pair[0] not in lists]
        return [
            Set([named[var] for var, _ in pairs], [arg for _, arg in pairs], line=call.line),
            *body,
            Set(list(call.targets), list(end.values), line=call.line),
        ]


def _made_by_loops(body: Body, loop: For | Loop | None) -> dict[Var, For | Loop | None]:
    """The lists that are made by one statement, with the innermost loop around that."""
    found: dict[Var, For | Loop | None] = {}
    for one in body:
        if isinstance(one, (New, Fill)):
            found[one.target] = loop
        inner = one if isinstance(one, (For, Loop)) else loop
        for each in hir.bodies(one):
            found |= _made_by_loops(each, inner)
    return found
