"""From a program to what it returned for a trace: every choice is read there."""

from __future__ import annotations

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Choice, Function, Read, Statement, Visit


def fill(replay: Function, main: Function) -> None:
    """Make the body of a replay that of a program, with its choices read from the trace.

    The program itself stays as it is.
    """
    hir.copied(main, "_replayed", _read, replay)


def _read(one: Statement) -> Body | None:
    match one:
        case (
            Choice(targets=targets, template=template, indices=indices)
            | Visit(targets=targets, template=template, indices=indices)
        ):
            return [Read(list(targets), template, indices, False, line=one.line)]
    return None
