"""From a program to its log density: every choice is looked up in the state and scored."""

from __future__ import annotations

from enum import Enum, auto
from typing import ClassVar

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Choice, Const, Function, If, Primitive, Set, Visit
from gendsl.compiler.programs.sums import Sums, if_zero, summed


class Zeros(Enum):
    """What is done where the density of a choice is zero."""

    ADDED = auto()
    """Nothing but to add -inf."""
    NOTED = auto()
    """It is noted which choice it is."""
    END = auto()
    """It is noted, and the program ends there."""


def score(main: Function, *, zeros: Zeros = Zeros.ADDED) -> Function:
    """Make a program, and every function that it calls, return the log density of its choices first.

    Functions are changed in place: each that makes choices has one more result.
    """
    kind = _Ending if zeros is Zeros.END else _Noting if zeros is Zeros.NOTED else _Scored
    return summed(main, kind, ["lp"])


class _Scored(Sums):
    """One function that returns a log density.

    Attributes:
        notes: whether it is noted which choice has the density zero.
    """

    notes: ClassVar[bool] = False

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        term, score = self.scored(choice)
        zero: Body = []
        if self.notes:
            zero.append(Primitive([], "impossible", indices, (template,)))
        if self.stops:
            zero.append(self.stop())
        tested: Body = [if_zero(term, zero)] if zero else []
        return [Visit(targets, template, indices, line=line), score, *tested, self.add(0, term, line)]

    def visit(self, visit: Visit) -> Body:
        (node,) = visit.targets
        made = self.fresh("made", "b")
        none: Body = [Set([node], [Const(-1, "i")])]  # a call that makes no choices
        given = hir.Given(made, visit.template, visit.indices, line=visit.line)
        return [given, If(made, [visit], none, line=visit.line)]


class _Noting(_Scored):
    notes = True


class _Ending(_Noting):
    stops = True
