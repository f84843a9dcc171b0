"""From a program to its sampler: a choice that the state has is scored, any other is drawn and kept.

The log density of all choices, and the *weight*, that of those that the state had, are the first results:
log p(t; x) and log p(t; x) / q(t; u, x) with q the prior for what is not given, as `generate` has them.
"""

from __future__ import annotations

from gendsl.compiler.hir import Body, Call, Choice, Expr, Function, Given, If, Keep, NewNode, Visit
from gendsl.compiler.programs.sums import Sums, not_finite, summed


def sample(main: Function, *, returns: bool = False) -> Function:
    """Make a program, and every function that it calls, draw the choices that are not given.

    Functions are changed in place: each that makes choices has two more results, the log density and the
    weight. What the program returns is dropped, unless it `returns` that behind them.
    """
    return summed(main, _Generated, ["lp", "weight"], returns=returns)


def simulate(main: Function) -> Function:
    """Make a program, and every function that it calls, draw all choices.

    Functions are changed in place: each that makes choices has one more result, the log density. What the
    program returns is dropped.
    """
    return summed(main, _Simulated, ["lp"])


class _Simulated(Sums):
    """One function that draws all choices."""

    def choice(self, choice: Choice) -> Body:
        term, score = self.scored(choice)
        return [*self.draw(choice), score, not_finite(term, choice.line), self.add(0, term, choice.line)]

    def draw(self, choice: Choice) -> Body:
        """Draw a choice and keep it."""
        targets, line = choice.targets, choice.line
        if choice.undrawn is not None:
            raise choice.undrawn
        assert choice.sampler is not None
        return [
            Call(list(targets), choice.sampler, list(choice.parameters), line=line),
            Keep(choice.template, choice.indices, list(targets), line=line),
        ]

    def visit(self, visit: Visit) -> Body:
        """The number of a call of a program that calls itself: that of the state, or a new one."""
        (target,), template, indices, line = visit.targets, visit.template, visit.indices, visit.line
        given = self.fresh("node_given", "b")
        kept: list[Expr] = [target]
        new: Body = [NewNode(target, line=line), Keep(template, indices, kept, line=line)]
        return [Given(given, template, indices, line=line), If(given, [visit], new, line=line)]


class _Generated(_Simulated):
    """One function that draws the choices that are not given, and has their weight too."""

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        draw = self.draw(choice)
        given = self.fresh(f"{template.name}_given", "b")
        term, score = self.scored(choice)
        weigh = self.add(1, term, line)
        drawn = self.add(1, term, line) if choice.weighs else not_finite(term, line)
        return [
            Given(given, template, indices, line=line),
            If(given, [Visit(targets, template, indices, line=line)], draw, line=line),
            score,
            If(given, [weigh], [drawn], line=line),
            self.add(0, term, line),
        ]
