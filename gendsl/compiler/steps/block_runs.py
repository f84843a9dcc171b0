"""The step of a kernel that updates several discrete choices at once, and what it runs of the program.

The joint values are gone through as a tree: the values of the first choice of the program, for each of these
those of the next, which may depend on it, and so on. At each leaf the program is scored. Where it then makes
these choices in another order, or others, the text fails.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from gendsl.compiler import hir
from gendsl.compiler.front.blocks import FLOATS, INTEGERS, PARTS, Joint
from gendsl.compiler.front.program import Lowering
from gendsl.compiler.hir import (
    FALSE,
    IMPOSSIBLE,
    TRUE,
    ZEROS,
    Append,
    Body,
    Call,
    Choice,
    Const,
    Expr,
    Function,
    If,
    Kind,
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
from gendsl.compiler.hir.types import Number, describe
from gendsl.compiler.hir.values import as_kind
from gendsl.compiler.programs.sums import if_zero, shorten, summed
from gendsl.compiler.steps.move import RESULTS, UNTOLD, ZERO, Sites, all_there
from gendsl.compiler.steps.redraw import Listing, lists
from gendsl.compiler.steps.selections import Selections
from gendsl.compiler.steps.step_parts import Called
from gendsl.compiler.steps.updates import stay
from gendsl.distributions.base import is_built_in

ONE = Const(1, "i")
MOST_STATES = 100_000
"""How many joint values a text goes through at most."""
_LARGEST = Const(2.0**53, "f")


def listed(main: Function, selected: Selections) -> Function:
    """Make a program list the choices of the current trace that are selected, in its order."""
    return shorten(summed(main, _Listed, [], selected), lists)


def ordered(main: Function, selected: Selections) -> Function:
    """Make a program return its log density, and fail where it makes selected choices in another order."""
    return summed(main, _Ordered, ["lp"], selected)


class _Block(Listing):
    def choice(self, choice: Choice) -> Body:
        test = self.chosen(choice)
        if test == FALSE:
            return self.other_choice(choice, [])
        body = self.selected_choice(choice, [Const(choice.template.number, "i"), *choice.indices])
        return self.other_choice(choice, body if test == TRUE else [If(test, body, [])])

    @abstractmethod
    def other_choice(self, choice: Choice, body: Body) -> Body:
        """What becomes of any choice, with what is done where it is selected."""

    @abstractmethod
    def selected_choice(self, choice: Choice, named: Sequence[Expr]) -> Body:
        """What is done of a choice that is selected, which some integers name."""


class _Listed(_Block):
    needed: ClassVar[list[str]] = ["order"]

    def other_choice(self, choice: Choice, body: Body) -> Body:
        return [Read(choice.targets, choice.template, choice.indices, False, line=choice.line), *body]

    def selected_choice(self, choice: Choice, named: Sequence[Expr]) -> Body:
        noted = Primitive([], "list_site", choice.indices, (choice.template,), line=choice.line)
        return [*(Append(self.lists["order"], INTEGERS, (one,)) for one in named), noted]


class _Ordered(_Block):
    stops = True
    needed: ClassVar[list[str]] = ["order", "used"]

    def other_choice(self, choice: Choice, body: Body) -> Body:
        term, score = self.scored(choice)
        return [
            Visit(choice.targets, choice.template, choice.indices, line=choice.line),
            score,
            if_zero(term, [self.stop()]),
            self.add(0, term, choice.line),
            *body,
        ]

    def selected_choice(self, choice: Choice, named: Sequence[Expr]) -> Body:
        order, used = self.lists["order"], self.lists["used"]
        at, found, size = (self.fresh(one, "i") for one in ("at", "found", "size"))
        fails = [hir.Fail("choices that are made in another order", line=choice.line)]
        body: Body = [Load([at], used, INTEGERS, ZEROS["i"]), hir.Length(size, order, INTEGERS)]
        end = Op("add", (at, Const(len(named), "i")), "i")
        body.append(If(Op("gt", (end, size), "b"), list(fails), []))
        for place, one in enumerate(named):
            body.append(Load([found], order, INTEGERS, Op("add", (at, Const(place, "i")), "i")))
            body.append(If(Op("ne", (found, one), "b"), [hir.Fail(fails[0].reason, line=choice.line)], []))
        return [*body, Store(used, INTEGERS, ZEROS["i"], (end,))]


# --- the step -----------------------------------------------------------------------------------------


def blocking(
    name: str, listing: Called, absent: Sequence[tuple[Body, Expr]], update: Function, *, skip_absent: bool
) -> Function:
    """The step of a move of a block.

    Args:
        listing: lists the choices.
        absent: for each address that is named, what finds out whether the trace has it, and whether it has.
        update: what updates the block.
        skip_absent: whether those that it hasn't are left out.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    order, states, weights = parts = [Var(part, "r") for part in PARTS]
    count = Var("count", "i")
    end: list[Expr] = [TRUE, UNTOLD, ZERO, ZERO, ZERO]
    made.body = [
        Primitive([], "begin"),
        *([] if skip_absent else all_there(absent)),
        hir.New(order, INTEGERS, []),
        hir.New(states, FLOATS, []),
        hir.New(weights, FLOATS, []),
        Called(listing.function, (*listing.args, order)).into(),
        Primitive([count], "sites"),
        If(Op("eq", (count, ZEROS["i"]), "b"), [Return(list(end))], []),
        Called(update, tuple(parts)).into(),
        Return(list(end)),
    ]
    return made


def check(templates: Sequence[Any], lowering: Lowering) -> None:
    """Refuse blocks of what is not a number, or whose densities may be found where there are no values.

    The interpreter finds the values of a choice by asking for the density of none of them.

    Raises:
        NotClosed: there is such a choice.
    """
    for template in templates:
        if not isinstance(template.type, Number):
            raise NotClosed(f"a block with choices that are {describe(template.type)}")
        for distribution, _ in lowering.distributions[template.number]:
            if not is_built_in(distribution.type.cls):  # type: ignore[attr-defined]
                raise NotClosed(f"a block with choices from {distribution.type.cls.__name__}")  # type: ignore[attr-defined]


def fill(joint: Joint, sites: Sites, values: dict[int, Function], score: Called, name: str) -> None:
    """Make the bodies of the functions that weigh all joint values, and move to some.

    Args:
        values: what gives the values of a choice, by the number of its template.
        score: the run that scores the program, with the lists of the order and of how far it has come.
        name: what to call the function that goes through the values.
    """
    order, states, weights = joint.weigh.parameters
    chosen, site, count, number = (
        Var("chosen_values", "r"),
        Var("site", "i"),
        Var("count", "i"),
        Var("number", "i"),
    )
    through = Function(
        name, [site, order, states, weights, chosen], origin="the values of a choice of a block"
    )
    used, lp, before, weight = Var("used", "r"), Var("lp", "f"), Var("lp_before", "f"), Var("log_weight", "f")
    here, at, size, x = Var("here", "i"), Var("at", "i"), Var("size", "i"), Var("x", "f")
    i, top = Var("i", "i"), Var("top", "i")

    def descend(template: Any) -> Callable[[Sequence[Var]], Body]:
        def body(indices: Sequence[Var]) -> Body:
            every, value = Var("every", "r"), Var("value", template.type.kind)
            far = Op("ge", (Op("abs", (as_kind(value, "f"),), "f"), _LARGEST), "b")
            inside: Body = [
                Load([value], every, (value.kind,), i),
                *([If(far, [hir.Fail("a value beyond 2 ** 53")], [])] if value.kind == "i" else []),
                *put(template, indices, value),
                Store(chosen, FLOATS, site, (as_kind(value, "f"),)),
                Call([], through, [Op("add", (site, ONE), "i"), order, states, weights, chosen]),
            ]
            return [
                Call([every], values[template.number], list(indices)),
                hir.Length(size, every, (value.kind,)),
                Set([top], [Op("sub", (size, ONE), "i")]),
                hir.For(i, top, Const(-1, "i"), Const(-1, "i"), inside, 1),
            ]

        return body

    leaf: Body = [
        Primitive([here], "try_again"),
        hir.New(used, INTEGERS, [(ZEROS["i"],)]),
        Called(score.function, (*score.args, order, used)).into(lp),
        Set([weight], [IMPOSSIBLE]),
        If(Op("gt", (lp, IMPOSSIBLE), "b"), [
            Primitive([], "same_choices"),
            Primitive([], "same_factors"),
            Load([at], used, INTEGERS, ZEROS["i"]),
            hir.Length(size, order, INTEGERS),
            If(Op("ne", (at, size), "b"), [hir.Fail("choices that the program does not make there")], []),
            Primitive([before], "log_density"),
            Set([weight], [Op("sub", (lp, before), "f")]),
        ], [If(Op("ne", (lp, IMPOSSIBLE), "b"), [hir.Fail("a log density that is NaN")], [])]),
        Primitive([], "release", (here,)),
        Append(weights, FLOATS, (weight,)),
        hir.For(i, ZEROS["i"], count, ONE, [Load([x], chosen, FLOATS, i), Append(states, FLOATS, (x,))], 2),
        hir.Length(size, weights, FLOATS),
        If(Op("gt", (size, Const(MOST_STATES, "i")), "b"), [hir.Fail("a block with so many values")], []),
        Return([]),
    ]  # fmt: skip
    through.body = [
        Primitive([count], "sites"),
        If(Op("eq", (site, count), "b"), leaf, []),
        *sites.which(site, number),
        *sites.visit(site, number, list(map(descend, sites.templates))),
        Return([]),
    ]
    joint.weigh.body = [
        Primitive([count], "sites"),
        hir.Fill(chosen, FLOATS, count, (ZERO,)),
        Call([], through, [ZEROS["i"], order, states, weights, chosen]),
        Return([]),
    ]
    _, states, weights, place = joint.move.parameters

    def back(template: Any) -> Callable[[Sequence[Var]], Body]:
        return lambda indices: put(template, indices, _from_float(x, template.type.kind))

    each: Body = [
        Load([x], states, FLOATS, Op("add", (Op("mul", (place, count), "i"), site), "i")),
        *sites.which(site, number),
        *sites.visit(site, number, list(map(back, sites.templates))),
    ]
    joint.move.body = [
        hir.New(used, INTEGERS, [(ZEROS["i"],)]),
        Primitive([count], "sites"),
        hir.For(site, ZEROS["i"], count, ONE, each, 1),
        Load([weight], weights, FLOATS, place),
        Primitive([here], "try_again"),
        *stay(lp, before, weight, score=Called(score.function, (*score.args, order, used))),
    ]


def put(template: Any, indices: Sequence[Var], value: Expr) -> Body:
    """Let a choice have another value."""
    return [
        Primitive([Var("unused", "i")], "try_again"),
        hir.Write(template, tuple(indices), (value,)),
        Primitive([], "exchange"),
    ]


def _from_float(x: Var, kind: Kind) -> Expr:
    if kind == "b":
        return Op("ne", (x, ZERO), "b")
    return Op("int_trunc", (x,), "i") if kind == "i" else x
