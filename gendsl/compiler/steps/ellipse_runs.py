"""The step of a kernel that moves normal choices together along an ellipse, and what it runs of the program.

One run along the current trace lists the choices, draws another value of each and takes down the points of
the ellipse. Another scores a trace: its log density, that of these choices alone, and all that their
distributions are made of, which must be the same at each point of the ellipse as on the current trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.ellipses import FLOATS, PARTS, POINT, Around
from gendsl.compiler.hir import (
    FALSE,
    IMPOSSIBLE,
    TRUE,
    ZEROS,
    Body,
    Call,
    Choice,
    Const,
    Expr,
    Function,
    If,
    Load,
    Op,
    Primitive,
    Read,
    Return,
    Set,
    Store,
    Var,
    Visit,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array
from gendsl.compiler.programs.sums import if_zero, shorten, summed
from gendsl.compiler.steps.coordinate_runs import dimension
from gendsl.compiler.steps.move import RESULTS, UNTOLD, ZERO, Sites, all_there, in_turn
from gendsl.compiler.steps.redraw import Listing, lists
from gendsl.compiler.steps.selections import InTurn, Selections
from gendsl.compiler.steps.step_parts import Called

ONE = Const(1, "i")


def started(main: Function, selected: InTurn) -> Function:
    """Make a program list the choices of the current trace whose turn it is, and their points."""
    return shorten(summed(main, _Started, [], selected), lists)


def told(main: Function, selected: Selections) -> Function:
    """Make a program return its log density, and that of the choices that move alone, and add to a list what
    the distributions of these are made of.
    """
    choices = [one for function in hir.functions(main) for one in hir.walk(function.body)]
    return summed(main, _Told, ["lp", "prior"], selected, _fixed(choices))


def _fixed(statements: Sequence[hir.Statement]) -> set[int]:
    """The templates whose choices have one distribution, which is known."""
    choices = [one for one in statements if isinstance(one, Choice)]
    count = Counter(one.template.number for one in choices)
    return {
        one.template.number
        for one in choices
        if count[one.template.number] == 1 and all(isinstance(leaf, Const) for leaf in one.parameters)
    }


def normal_choices(main: Function) -> dict[int, hir.Normal]:
    """What is done of the choices of a program that move, by the numbers of their templates."""
    return {
        one.template.number: one.normal
        for function in hir.functions(main)
        for one in hir.walk(function.body)
        if isinstance(one, Choice) and isinstance(one.normal, hir.Normal)
    }


class _Moved(Listing):
    """A run that does something of the choices that move."""

    def is_moved(self, choice: Choice) -> Expr:
        """Whether a choice moves."""
        return self.chosen(choice)

    def where(self, test: Expr, body: Body) -> Body:
        """Do something of a choice where it moves."""
        return body if test == TRUE else [If(test, body, [])]

    def normal(self, choice: Choice) -> hir.Normal:
        """What is done of it there.

        Raises:
            NotClosed: it is not normal, or can't be drawn.
        """
        if isinstance(choice.normal, NotClosed):
            raise choice.normal
        if choice.undrawn is not None:
            raise choice.undrawn
        assert isinstance(choice.normal, hir.Normal)
        return choice.normal


class _Started(_Moved):
    needed = ["points"]  # noqa: RUF012

    def choice(self, choice: Choice) -> Body:
        template, indices, line = choice.template, choice.indices, choice.line
        read = Read(choice.targets, template, indices, False, line=line)
        test = self.is_moved(choice)
        if test == FALSE:
            return [read]
        normal = self.normal(choice)
        assert choice.sampler is not None
        other = [self.fresh(f"{template.name}_other", target.kind) for target in choice.targets]
        given = [*choice.parameters, *choice.targets, *other, self.lists["points"]]
        return [read, *self.where(test, [
            Call(list(other), choice.sampler, list(choice.parameters), line=line),
            Call([], normal.start, given, line=line),
            Primitive([], "list_site", indices, (template,), line=line),
        ])]  # fmt: skip


class _Told(_Moved):
    stops = True
    needed = ["given"]  # noqa: RUF012

    def __init__(self, *given: Any, alone: bool) -> None:
        *before, self.fixed = given
        super().__init__(*before, alone=alone)

    def choice(self, choice: Choice) -> Body:
        template, line = choice.template, choice.line
        term, score = self.scored(choice)
        test = self.is_moved(choice)
        moved: Body = []
        if test != FALSE:
            moved.append(self.add(1, term, line))
        if test != FALSE and template.number not in self.fixed:
            given: list[Expr] = [*choice.parameters, self.lists["given"]]
            moved.append(Call([], self.normal(choice).tell, given, line=line))
        return [
            Visit(choice.targets, template, choice.indices, line=line),
            score,
            if_zero(term, [self.stop()]),
            self.add(0, term, line),
            *(self.where(test, moved) if moved else []),
        ]


# --- the step -----------------------------------------------------------------------------------------


def rotating(
    name: str, sites: Sites, start: Called, score: Called, absent: Sequence[tuple[Body, Expr]],
    update: Function, *, skip_absent: bool,
) -> Function:  # fmt: skip
    """The step of a move along an ellipse.

    Args:
        sites: the choices that move; `listed` of these is not needed.
        start, score: the two runs, of which the first is given the turn.
        absent: for each address that is named, what finds out whether the trace has it, and whether it has.
        update: what moves along the ellipse.
        skip_absent: whether those that it hasn't are left out.

    It returns in place of the terms of a ratio the angle, and at how many points the density was found.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    points, given, found, prior, here = parts = [
        Var(part, kind) for part, kind in zip(PARTS, "rrrfi", strict=True)
    ]
    count, lp = Var("count", "i"), Var("lp", "f")
    angle, evaluations = Var("angle", "f"), Var("evaluations", "i")
    end = Return([TRUE, UNTOLD, ZERO, ZERO, ZERO])
    made.body = [
        Primitive([], "begin"),
        *([] if skip_absent else all_there(absent)),
        hir.New(points, POINT, []),
        hir.New(given, FLOATS, []),
        hir.New(found, FLOATS, [(ZERO,)]),
        *in_turn(start, sites.turns, points),
        Primitive([count], "sites"),
        If(Op("eq", (count, ZEROS["i"]), "b"), [end], []),
        Called(score.function, (*score.args, given)).into(lp, prior),
        Primitive([here], "try_again"),
        Called(update, tuple(parts)).into(angle, evaluations),
        Return([TRUE, UNTOLD, angle, Op("float", (evaluations,), "f"), ZERO]),
    ]
    return made


def fill(around: Around, sites: Sites, laws: dict[int, hir.Normal], score: Called) -> None:
    """Make the bodies of the functions that give the log weight at an angle, and move there.

    Args:
        laws: what is done of the choices, by the numbers of their templates.
        score: the run that scores a trace.
    """
    made = around.weight
    points, given, found, prior, here, angle = made.parameters
    there, lp, prior_there = Var("given_there", "r"), Var("lp", "f"), Var("prior_there", "f")
    before, c, s = Var("lp_before", "f"), Var("c", "f"), Var("s", "f")
    at, site, number, count = (Var(one, "i") for one in ("place", "site", "number", "count"))

    def moved(template: Any) -> Any:
        def body(indices: Sequence[Var]) -> Body:
            kinds = [f"value{leaf or ''}" for leaf in range(len(laws[template.number].at_angle.results))]
            results = laws[template.number].at_angle.results
            old = [Var(f"old_{one}", kind) for one, kind in zip(kinds, results, strict=True)]
            new = [Var(one, kind) for one, kind in zip(kinds, results, strict=True)]
            size = dimension(old, 0) if isinstance(template.type, Array) else ONE
            return [
                Read(list(old), template, tuple(indices), False),
                Call(list(new), laws[template.number].at_angle, [*old, points, at, c, s]),
                hir.Write(template, tuple(indices), tuple(new)),
                Set([at], [Op("add", (at, size), "i")]),
            ]

        return body

    each = [*sites.which(site, number), *sites.visit(site, number, list(map(moved, sites.templates)))]
    weight = Op("sub", (Op("sub", (lp, before), "f"), Op("sub", (prior_there, prior), "f")), "f")
    made.body = [
        Primitive([], "release", (here,)),
        Primitive([Var("unused", "i")], "try_again"),
        Set([c, s, at], [Op("cos", (angle,), "f"), Op("sin", (angle,), "f"), ZEROS["i"]]),
        Primitive([count], "sites"),
        hir.For(site, ZEROS["i"], count, ONE, each, 1),
        Primitive([], "exchange"),
        hir.New(there, FLOATS, []),
        Called(score.function, (*score.args, there)).into(lp, prior_there),
        Primitive([], "exchange"),
        if_zero(lp, [Return([IMPOSSIBLE])]),
        Primitive([], "same_choices"),
        Primitive([], "same_factors"),
        *_same(given, there),
        Store(found, FLOATS, ZEROS["i"], (lp,)),
        Primitive([before], "log_density"),
        Return([weight]),
    ]
    around.move.body = [
        Load([lp], around.move.parameters[PARTS.index("found")], FLOATS, ZEROS["i"]),
        Primitive([], "commit", (lp,)),
        Return([]),
    ]


def _same(one: Var, other: Var) -> Body:
    """Fail unless two lists are equal."""
    i, size, other_size = Var("i", "i"), Var("size", "i"), Var("size_there", "i")
    x, y = Var("x", "f"), Var("y", "f")
    fails = hir.Fail("a distribution that depends on another choice that moves")
    unequal = If(Op("ne", (x, y), "b"), [fails], [])
    return [
        hir.Length(size, one, FLOATS),
        hir.Length(other_size, other, FLOATS),
        If(Op("ne", (size, other_size), "b"), [hir.Fail(fails.reason)], []),
        hir.For(
            i, ZEROS["i"], size, ONE, [Load([x], one, FLOATS, i), Load([y], other, FLOATS, i), unequal], 2
        ),
    ]
