"""From a program to one that draws some choices anew, and keeps the others.

With u the choices that are kept, those that are not selected and that both traces have, the weight is

    log p(t') q(t; u) / (p(t) q(t'; u)) = log p(u | t') - log p(u | t),

each density that of the kept choices alone, in their trace. The first is a sum in the run that draws; for the
second, the densities of those that are not kept are taken from that of the whole trace.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from gendsl.compiler import hir
from gendsl.compiler.density import IMPOSSIBLE, makers, names_of
from gendsl.compiler.front.frame import Text
from gendsl.compiler.front.program import Template
from gendsl.compiler.hir import (
    FALSE,
    TRUE,
    Body,
    Call,
    Choice,
    Const,
    Expr,
    Fail,
    Function,
    Given,
    If,
    Kind,
    Op,
    Primitive,
    Read,
    Redraw,
    Return,
    Set,
    Var,
    Visit,
)


class Selected(Protocol):
    """Which choices are drawn anew, by their addresses.

    What is known of the address of a call of a program that calls itself is some integers, which are zero for
    that of the whole program, and are handed on from call to call.

    Attributes:
        integers: how many.
        shared: the numbers of the templates of whose choices others may have the addresses.
    """

    integers: int
    shared: set[int]

    def chosen(self, template: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """For each part of the selection whether a choice is in it."""

    def entered(self, call: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """The integers of a call, of those of what makes it."""


def redrawn(main: Function, selected: Selected) -> Function:
    """Make a program, and every function that it calls, draw the choices that are selected or new.

    Functions are changed in place: each that makes choices returns the log density of all choices and that of
    those that are kept first, -inf where one of these has the density zero.
    """
    return _summed(main, lambda names, sums: _Redrawn(names, sums, selected), ["lp", "kept"], selected)


def counted(main: Function, selected: Selected, parts: int) -> Function:
    """Make a program return a positive number for each part of a selection that the current trace has choices
    in, and zero for any other.
    """
    return _summed(main, lambda names, sums: _Counted(names, sums, selected), ["found"] * parts, selected)


def let_go(main: Function) -> Function:
    """Make a program return the log density of the choices of the current trace that were not kept."""
    return _summed(main, lambda names, sums: _LetGo(names, sums), ["gone"])


class _Sums(ABC):
    """The statements for a choice, in a function that adds up terms.

    Attributes:
        known: the variables of what is known of the address of the call.
        stops: whether the function returns where the density of a choice is zero.
    """

    stops = False

    def __init__(self, names: Text, sums: list[Var]) -> None:
        self.names, self.sums = names, sums
        self.known: list[Var] = []

    @abstractmethod
    def choice(self, choice: Choice) -> Body:
        """What becomes of a choice."""

    def add(self, place: int, term: Var) -> hir.Statement:
        """Add a term to a sum."""
        return Set([self.sums[place]], [Op("add", (self.sums[place], term), "f")])

    def term(self, choice: Choice) -> tuple[Var, Call]:
        """The log density of a choice."""
        term = Var(self.names.fresh(f"lp_{choice.template.name}"), "f")
        return term, Call([term], choice.density, [*choice.parameters, *choice.targets], line=choice.line)


class _Redrawn(_Sums):
    stops = True

    def __init__(self, names: Text, sums: list[Var], selected: Selected) -> None:
        super().__init__(names, sums)
        self.selected = selected

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        if choice.undrawn is not None:
            raise choice.undrawn
        assert choice.sampler is not None
        term, score = self.term(choice)
        given = Var(self.names.fresh(f"{template.name}_given"), "b")
        chosen: Expr = FALSE
        for test in [] if choice.weighs else self.selected.chosen(template, indices, self.known):
            chosen = either(chosen, test)
        kept = given if chosen == FALSE else Op("and", (given, Op("not", (chosen,), "b")), "b")
        zeros: list[Expr] = [IMPOSSIBLE, *(hir.ZEROS["f"] for _ in self.sums[1:])]
        impossible: Body = [Primitive([], "impossible", indices, (template,)), Return(zeros)]
        zero = If(Op("eq", (term, IMPOSSIBLE), "b"), impossible, [])
        finite = Op("isfinite", (term,), "b")
        fails = If(Op("not", (finite,), "b"), [Fail("a draw whose log density is not finite", line=line)], [])
        draw: Body = [
            Call(list(targets), choice.sampler, list(choice.parameters), line=line),
            Redraw(template, indices, list(targets), line=line),
        ]
        if not choice.weighs and template.number in self.selected.shared:
            alone = Primitive([], "alone", indices, (template,))
            draw = [If(Op("not", (chosen,), "b"), [alone], [], line=line), *draw]
        keep: Body = [Visit(targets, template, indices, line=line), score, zero, self.add(1, term)]
        if choice.weighs:
            drawn: Body = [*draw, score, zero, self.add(1, term)]
        else:
            drawn = [*draw, score, fails]
        return [
            Given(given, template, indices, line=line),
            If(kept, keep, drawn, line=line),
            self.add(0, term),
        ]


class _Counted(_Sums):
    def __init__(self, names: Text, sums: list[Var], selected: Selected) -> None:
        super().__init__(names, sums)
        self.selected = selected

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        result: Body = [Read(targets, template, indices, False, line=line)]
        for place, test in enumerate(self.selected.chosen(template, indices, self.known)):
            if test != FALSE:
                result.append(If(test, [Set([self.sums[place]], [Const(1.0, "f")])], [], line=line))
        return result


class _LetGo(_Sums):
    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        read = Read(targets, template, indices, False, line=line)
        if choice.weighs:  # a factor is in both densities, whatever becomes of it
            return [read]
        kept = Var(self.names.fresh(f"{template.name}_kept"), "b")
        term, score = self.term(choice)
        return [
            read,
            Primitive([kept], "is_kept", indices, (template,)),
            If(Op("not", (kept,), "b"), [score, self.add(0, term)], [], line=line),
        ]


def either(one: Expr, other: Expr) -> Expr:
    """Whether one of two tests holds."""
    if TRUE in (one, other):
        return TRUE
    return other if one == FALSE else one if other == FALSE else Op("or", (one, other), "b")


def _summed(
    main: Function,
    made: Callable[[Text, list[Var]], _Sums],
    summed: Sequence[str],
    selected: Selected | None = None,
) -> Function:
    making = makers(main)
    for function in hir.functions(main):
        if id(function) in making or function is main:
            _rewrite(function, making, made, summed, selected, alone=function is main)
    return main


def _rewrite(
    function: Function,
    making: set[int],
    made: Callable[[Text, list[Var]], _Sums],
    summed: Sequence[str],
    selected: Selected | None,
    *,
    alone: bool,
) -> None:
    names = Text(function, dict.fromkeys(names_of(function), 1))
    sums, count = [Var(names.fresh(name), "f") for name in summed], len(summed)
    of = made(names, sums)
    of.known = [Var(names.fresh("matched"), "i") for _ in range(selected.integers if selected else 0)]
    if not alone:
        function.parameters = [*function.parameters, *of.known]
    calls: dict[Expr, hir.Node] = {}
    kinds: list[Kind] = ["f"] * count
    function.results = kinds if alone else [*kinds, *function.results]
    rest: list[Expr] = [hir.ZEROS[kind] for kind in function.results[count:]]

    def padded(values: list[Expr]) -> list[Expr]:
        return values if alone else [*values, *rest]

    def body(statements: Body) -> Body:
        result: Body = []
        for statement in statements:
            match statement:
                case Choice():
                    result += body_of_choice(statement)
                case hir.Node(target=node):
                    calls[node] = statement
                    result.append(statement)
                case Call() if id(statement.function) in making:
                    called = calls.get(statement.args[0]) if statement.args else None
                    handed: list[Expr] = list(of.known)
                    if called is not None and selected is not None:
                        handed = selected.entered(called.template, called.indices, of.known)
                    statement.args = [*statement.args, *handed]
                    terms = [Var(names.fresh(f"{one.name}_{statement.function.name}"), "f") for one in sums]
                    statement.targets = [*terms, *statement.targets]
                    result.append(statement)
                    if of.stops:
                        values = padded([IMPOSSIBLE, *(hir.ZEROS["f"] for _ in sums[1:])])
                        result.append(If(Op("eq", (terms[0], IMPOSSIBLE), "b"), [Return(values)], []))
                    result += [of.add(place, term) for place, term in enumerate(terms)]
                case Return():
                    statement.values = [*sums, *([] if alone else statement.values)]
                    result.append(statement)
                case If():
                    statement.then, statement.orelse = body(statement.then), body(statement.orelse)
                    result.append(statement)
                case hir.For() | hir.Loop() | hir.Block():
                    statement.body = body(statement.body)
                    result.append(statement)
                case _:
                    result.append(statement)
        return result

    def body_of_choice(choice: Choice) -> Body:
        found = of.choice(choice)
        for one in hir.walk(found):
            if isinstance(one, Return):
                one.values = padded(one.values)
        return found

    zeros: list[Expr] = [Const(0.0, "f")] * count
    function.body = [Set(list(sums), zeros), *body(function.body)]
    if alone and of.known:
        function.body.insert(0, Set(list(of.known), [hir.ZEROS["i"] for _ in of.known]))
    function.scores = True
