"""From a program to one that draws some choices anew, and keeps the others.

With u the choices that are kept, those that are not selected and that both traces have, the weight is

    log p(t') q(t; u) / (p(t) q(t'; u)) = log p(u | t') - log p(u | t),

each density that of the kept choices alone, in their trace. The first is a sum in the run that draws; for the
second, the densities of those that are not kept are taken from that of the whole trace.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    FALSE,
    Body,
    Call,
    Choice,
    Const,
    Expr,
    Fail,
    Function,
    Given,
    If,
    Op,
    Primitive,
    Read,
    Redraw,
    Set,
    Var,
    Visit,
)
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.programs.sums import Sums, if_zero, not_finite, shorten, summed
from gendsl.compiler.steps.selections import Selections


class Selected(Protocol):
    """Which choices are drawn anew, by their addresses.

    What is known of the address of a call of a program that calls itself is some integers, which are zero for
    that of the whole program, and are handed on from call to call.

    Attributes:
        integers: how many.
        arguments: how many arguments the whole program has, besides its own, for what is selected.
        shared: the numbers of the templates of whose choices others may have the addresses.
    """

    integers: int
    arguments: int
    shared: set[int]

    def chosen(
        self, template: Template, indices: tuple[Expr, ...], known: Sequence[Expr], given: Sequence[Expr]
    ) -> Expr:
        """Whether a choice is selected, with these arguments given."""

    def entered(self, call: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """The integers of a call, of those of what makes it."""


def redrawn(main: Function, selected: Selected, observed: Collection[int]) -> Function:
    """Make a program, and every function that it calls, draw the choices that are selected or new.

    Functions are changed in place: each that makes choices returns the log density of all choices and that of
    those that are kept first, -inf where one of these has the density zero.

    Args:
        observed: the identities of the templates whose choices are all observed, so that none is drawn.
    """
    return summed(main, _Redrawn, ["lp", "kept"], selected, observed)


def counted(main: Function, selected: Selections) -> Function:
    """Make a program return for each pattern of a selection a positive number where the current trace has
    choices of it, and zero where it has none.
    """
    return summed(main, _Counted, ["found"] * len(selected.every), selected)


def listed(main: Function, selected: Selected) -> Function:
    """Make a program list the choices of the current trace that are selected, in order."""
    return shorten(summed(main, _Listed, [], selected), lists)


def lists(statement: hir.Statement) -> bool:
    """Whether a statement notes a choice that is selected, which is the last that is done of it."""
    return isinstance(statement, Primitive) and statement.name == "list_site"


def let_go(main: Function, observed: Collection[int]) -> Function:
    """Make a program return the log density of the choices of the current trace that were not kept."""
    return shorten(summed(main, _LetGo, ["gone"], observed), _asks_whether_kept)


def _asks_whether_kept(statement: hir.Statement) -> bool:
    return isinstance(statement, Primitive) and statement.name == "is_kept"


class Selecting(Sums):
    """One function whose choices are looked for in a selection.

    Attributes:
        known: the variables of what is known of the address of the call.
        given: those of the arguments for what is selected.
        nodes: the statements that find the numbers of calls, by those.
    """

    def __init__(
        self, function: Function, making: set[int], summed: Sequence[str], selected: Selected, *, alone: bool
    ) -> None:
        super().__init__(function, making, summed, alone=alone)
        self.selected = selected
        self.known = [self.fresh("matched", "i") for _ in range(selected.integers)]
        self.given = [self.fresh("wanted", "i") for _ in range(selected.arguments)]
        self.nodes: dict[Expr, hir.Node] = {}

    def rewrite(self) -> None:
        super().rewrite()
        if not self.alone:
            self.function.parameters = [*self.function.parameters, *self.known]
        elif self.known:
            zeros: list[Expr] = [hir.ZEROS["i"] for _ in self.known]
            self.function.body.insert(0, Set(list(self.known), zeros))
        self.function.parameters = [*self.function.parameters, *self.given]

    def other(self, statement: hir.Statement) -> None:
        if isinstance(statement, hir.Node) and not statement.template.is_of_paths:
            self.nodes[statement.target] = statement

    def called(self, call: Call) -> None:
        node = self.nodes.get(call.args[0]) if call.args else None
        handed: list[Expr] = list(self.known)
        if node is not None:
            handed = self.selected.entered(node.template, node.indices, self.known)
        call.args = [*call.args, *handed, *self.given]

    def chosen(self, choice: Choice) -> Expr:
        """Whether a choice is selected."""
        return self.selected.chosen(choice.template, choice.indices, self.known, self.given)


class Listing(Selecting):
    """The same where functions are given lists as well.

    Attributes:
        lists: the variables of the lists, by their names.
    """

    def __init__(
        self, function: Function, making: set[int], summed: Sequence[str], selected: Selected, *, alone: bool
    ) -> None:
        super().__init__(function, making, summed, selected, alone=alone)
        self.lists = {name: self.fresh(name, "r") for name in self.needed}

    @property
    @abstractmethod
    def needed(self) -> list[str]:
        """The names of the lists that it needs."""

    def rewrite(self) -> None:
        super().rewrite()
        self.function.parameters = [*self.function.parameters, *self.lists.values()]

    def called(self, call: Call) -> None:
        super().called(call)
        call.args = [*call.args, *self.lists.values()]


class _Redrawn(Selecting):
    stops = True

    def __init__(self, *given: Any, alone: bool) -> None:
        *before, self.observed = given
        super().__init__(*before, alone=alone)

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        term, score = self.scored(choice)
        chosen = FALSE if choice.weighs else self.chosen(choice)
        if choice.weighs or id(template) in self.observed:
            drawn = [If(chosen, [Fail("an observation that is drawn anew")], [], line=line)]
            visit = Visit(list(targets), template, indices, line=line)
            found = [visit, *self._weighed(choice, term, score), self.add(0, term, line)]
            return found if chosen == FALSE else [*drawn, *found]
        if choice.undrawn is not None:
            raise choice.undrawn
        assert choice.sampler is not None
        given = self.fresh(f"{template.name}_given", "b")
        kept = given if chosen == FALSE else Op("and", (given, Op("not", (chosen,), "b")), "b")
        draw: Body = [
            Call(list(targets), choice.sampler, list(choice.parameters), line=line),
            Redraw(template, indices, list(targets), line=line),
        ]
        if template.number in self.selected.shared:
            alone = Primitive([], "alone", indices, (template,))
            draw = [If(Op("not", (chosen,), "b"), [alone], [], line=line), *draw]
        there = [self.fresh(f"{template.name}_there", var.kind) for var in targets]
        parameters = [*choice.parameters, *there]
        look: Body = [
            Visit(there, template, indices, line=line),
            *self._weighed(choice, term, Call([term], choice.density, parameters, line=line)),
            Set(list(targets), list(there)),
        ]
        return [
            Given(given, template, indices, line=line),
            If(kept, look, [*draw, score, not_finite(term, line)], line=line),
            self.add(0, term, line),
        ]

    def _weighed(self, choice: Choice, term: Var, score: Call) -> Body:
        """Score a choice that is kept, or that weighs."""
        noted = Primitive([], "impossible", choice.indices, (choice.template,))
        return [score, if_zero(term, [noted, self.stop()]), self.add(1, term, choice.line)]


class _Counted(Selecting):
    selected: Selections

    def choice(self, choice: Choice) -> Body:
        result: Body = [Read(choice.targets, choice.template, choice.indices, False, line=choice.line)]
        named = self.selected.named(choice.template, choice.indices, self.known)
        for place, test in enumerate(named):
            if test != FALSE:
                found = Set([self.sums[place]], [Const(1.0, "f")])
                result.append(If(test, [found], [], line=choice.line))
        return result


class _Listed(Selecting):
    def choice(self, choice: Choice) -> Body:
        result: Body = [Read(choice.targets, choice.template, choice.indices, False, line=choice.line)]
        chosen = self.chosen(choice)
        if chosen != FALSE:
            noted = Primitive([], "list_site", choice.indices, (choice.template,), line=choice.line)
            result.append(If(chosen, [noted], [], line=choice.line))
        return result


class _LetGo(Sums):
    def __init__(self, *given: Any, alone: bool) -> None:
        *before, self.observed = given
        super().__init__(*before, alone=alone)

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        read = Read(targets, template, indices, False, line=line)
        if choice.weighs or id(template) in self.observed:  # it is in both densities
            return [read]
        kept = self.fresh(f"{template.name}_kept", "b")
        term, score = self.scored(choice)
        gone: Body = [score, self.add(0, term, line)]
        return [
            read,
            Primitive([kept], "is_kept", indices, (template,)),
            If(Op("not", (kept,), "b"), gone, [], line=line),
        ]
