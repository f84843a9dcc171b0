"""From a program to what it returned for a trace: every choice is read there."""

from __future__ import annotations

import copy

from gendsl.compiler.hir import Body, Call, Choice, Function, Read, Statement, Visit


def fill(replay: Function, main: Function) -> None:
    """Make the body of a replay that of a program, with its choices read from the trace.

    The program itself stays as it is.
    """
    made: dict[int, Function] = {id(main): replay}

    def function(one: Function) -> Function:
        if id(one) not in made:
            made[id(one)] = copy.copy(one)
            made[id(one)].name = f"{one.name}_replayed"
            _fill(made[id(one)], one)
        return made[id(one)]

    def statement(one: Statement) -> Statement:
        match one:
            case (
                Choice(targets=targets, template=template, indices=indices)
                | Visit(targets=targets, template=template, indices=indices)
            ):
                return Read(list(targets), template, indices, False, line=one.line)
        one = copy.copy(one)
        if isinstance(one, Call):
            one.function = function(one.function)
        for name in ("body", "then", "orelse"):
            if hasattr(one, name):
                setattr(one, name, body(getattr(one, name)))
        for name in ("targets", "values", "items", "args"):
            if hasattr(one, name):
                setattr(one, name, list(getattr(one, name)))
        return one

    def body(statements: Body) -> Body:
        return [statement(one) for one in statements]

    def _fill(into: Function, one: Function) -> None:
        into.parameters, into.results = list(one.parameters), list(one.results)
        into.body = body(one.body)

    _fill(replay, main)
