"""The two runs of a program that move selected choices together in unconstrained coordinates.

The first goes along the current trace and takes down the coordinates of the choices, by the charts of the
supports that they have there and then. The second puts the choices where other coordinates are. Where it
makes other choices than the first, or the same in another order, the text fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    FALSE,
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
    Load,
    Op,
    Primitive,
    Read,
    Set,
    Store,
    Var,
    Visit,
)
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.hir.templates import MODEL, Lowered, Template
from gendsl.compiler.moves import Wanted
from gendsl.compiler.programs.sums import if_zero, shorten, summed
from gendsl.compiler.steps.redraw import Listing
from gendsl.compiler.steps.selections import Selections

ONE, NO_SLOT = Const(1, "i"), Const(-1, "i")
FLOATS, INTEGERS = ("f",), ("i",)
UNCHARTED = "a choice that is moved, and whose coordinates the text does not know"


@dataclass(frozen=True)
class Slots:
    """Where in a list that has something for each coordinate that of choices of a template is.

    Attributes:
        lengths: up to which indices it is known; of arrays also up to which number of coordinates.
        starts: by these where theirs begins, a list of integers; -1 where there is nothing. What an array has
            at 0 is one number for all its coordinates, of which there may be any number.
        known: of arrays, where it is an error that one has another number of coordinates than what is known
            is for: by indices whether there is anything; None where that is no error.
    """

    lengths: tuple[Expr, ...]
    starts: Expr
    known: Expr | None = None


@dataclass
class Walked:
    """Which choices are moved, and in which order; see `redraw.Selected`.

    The coordinates are in the order of the patterns that choices are found by: those of one pattern, in the
    order of the program, come before those of the next.

    Attributes:
        every: the choices that are selected by their addresses; None where all are moved that are continuous
            and no observations.
        order: the addresses that they are found by, if there are several.
        slots: what is known of which choices, by the numbers of templates; None where nothing is, or it goes
            by the position.
        is_several: whether there may be several, so that it must be told which coordinate is of which.
        taken: the statements that end what is taken down of a choice.
    """

    every: Selections | None
    order: Selections | None
    slots: dict[int, Slots] | None = None
    is_several: bool = True
    arguments: int = 0
    shared: set[int] = field(default_factory=set)
    taken: list[hir.Statement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.integers = sum(one.integers for one in (self.every, self.order) if one is not None)

    @property
    def lists_here(self) -> list[str]:
        """The names of the lists that the first run is given."""
        several = [Lists.CHOICES] if self.is_several else []
        places = [Lists.PLACES] if self.order is not None else []
        return [Lists.COORDINATES, *several, *places, *([Lists.SLOTS] if self.slots is not None else [])]

    @property
    def lists_there(self) -> list[str]:
        """The same of the second run."""
        return [Lists.COORDINATES, *([Lists.CHOICES] if self.is_several else []), Lists.USED]

    def templates(self, lowered: Lowered) -> list[Template]:
        """The templates of the choices that may be selected and are floats."""
        matched = [Var("matched", "i")] * self.integers

        def is_chosen(template: Template) -> bool:
            return self.chosen(template, indices_of_template(template), matched) != FALSE

        model = (one for one in lowered.templates if one.trace == MODEL and one.calls is None)
        return [one for one in model if getattr(one.type, "kind", None) == "f" and is_chosen(one)]

    def chosen(
        self,
        template: Template,
        indices: tuple[Expr, ...],
        known: Sequence[Expr],
        given: Sequence[Expr] = (),
    ) -> Expr:
        """Whether a choice is selected."""
        return TRUE if self.every is None else self.every.chosen(template, indices, known)

    def entered(self, call: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """What is known of the address of a call."""
        found: list[Expr] = []
        for one in (self.every, self.order):
            if one is not None:
                found += one.entered(call, indices, known[len(found) :][: one.integers])
        return found

    def place(self, template: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> Expr:
        """By which pattern, the first one, a choice is found."""
        assert self.order is not None and self.every is not None
        found = self.order.named(template, indices, known[self.every.integers :])
        result: Expr = ZEROS["i"]
        for number, test in reversed(list(enumerate(found))):
            place = Const(number, "i")
            result = (
                result
                if test == FALSE
                else place
                if test == TRUE
                else Op("select", (test, place, result), "i")
            )
        return result


def walked(lowered: Lowered, wanted: Wanted | None, meetings: Sequence[Meeting]) -> Walked:
    """What is selected; by None all that is continuous, and no observation."""
    if wanted is None:
        return Walked(None, None)
    every, below = Selections(lowered, wanted, meetings), wanted.prefixes
    several = len(set(below)) > 1
    order = Selections(lowered, Wanted.beginning(()), meetings, *below) if several else None
    found = Walked(every, order)
    chosen = found.templates(lowered)
    found.is_several = len(chosen) > 1 or any(template.rank for template in chosen)
    return found


def dimension(array: Sequence[Var], fewer: int) -> Expr:
    """How many coordinates an array has, of its leaves; so many fewer than entries."""
    result: Expr = ONE
    for length in array[2 : 2 + (len(array) - 2) // 2]:
        result = length if result == ONE else Op("mul", (result, length), "i")
    return Op("sub", (result, Const(fewer, "i")), "i") if fewer else result


def indices_of_template(template: Template) -> tuple[Expr, ...]:
    return tuple(Var(f"index_{axis}", "i") for axis in range(template.rank))


class Lists:
    """The lists that the two runs share, by their names: the coordinates; which choices they are of; by which
    pattern each was found; the slot of each, -1 for none; and how far the second run has come in the first
    two.
    """

    COORDINATES, CHOICES, PLACES, SLOTS, USED = "coordinates", "moved_choices", "places", "slots", "used"


class _Walking(Listing):
    """One function of either run."""

    selected: Walked

    def __init__(
        self, function: Function, making: set[int], summed: Sequence[str], selected: Walked, *, alone: bool
    ) -> None:
        super().__init__(function, making, summed, selected, alone=alone)
        self.entry = self.fresh("entry", "i")

    def is_chosen(self, choice: Choice) -> Expr:
        """Whether a choice is selected, by its address."""
        chart = choice.chart
        if self.selected.every is None and isinstance(chart, hir.Chart) and chart.to_line is None:
            return FALSE
        return self.chosen(choice)

    def branch(self, choice: Choice, chosen: Expr, moved: Body, kept: Body, observed: Body) -> Body:
        """What is done where a choice is moved, where it is not, and where an observation is selected."""
        line = choice.line
        if self.selected.every is None or observed:
            is_observed = self.fresh(f"{choice.template.name}_observed", "b")
            ask = Primitive([is_observed], "is_observed", choice.indices, (choice.template,), line=line)
            if self.selected.every is None:
                return [ask, If(is_observed, kept, moved, line=line)]
            moved = [ask, If(is_observed, observed, [], line=line), *moved]
        return moved if chosen == TRUE else [If(chosen, moved, kept, line=line)]

    def chart(self, choice: Choice) -> hir.Chart | hir.Fail:
        """The chart of a choice that is moved, or the failure that there is none.

        Raises:
            NotClosed: there is none, and the choice is selected by its address.
        """
        chart = choice.chart
        if isinstance(chart, NotClosed):
            if self.selected.every is not None:
                raise chart
            return hir.Fail(UNCHARTED, line=choice.line)  # it may be an observation wherever it is made
        assert isinstance(chart, hir.Chart)
        if chart.to_line is None:
            return hir.Fail("a discrete choice that is selected", line=choice.line)
        return chart

    def _border(self, name: str, choice: Choice, place: int) -> Body:
        """Note that a choice is on a border, in one of the sums as well."""
        noted = Primitive([], name, choice.indices, (choice.template,))
        return [noted, Set([self.sums[place]], [Const(1.0, "f")])]

    def named(self, choice: Choice) -> list[Expr]:
        """The integers that say which choice one is."""
        return [Const(choice.template.number, "i"), *choice.indices]


class _Here(_Walking):
    """The run along the current trace. It returns the sum of the log slopes of the charts, and a positive
    number if a choice lies on the border of its support.
    """

    @property
    def needed(self) -> list[str]:
        return self.selected.lists_here

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        read = Read(targets, template, indices, False, line=line)
        chosen = self.is_chosen(choice)
        if chosen == FALSE:
            return [read]
        chart = self.chart(choice)
        if isinstance(chart, hir.Fail):
            self.selected.taken.append(chart)
            return [read, *self.branch(choice, chosen, [chart], [], [chart])]
        assert chart.to_line is not None
        slope, border = self.fresh(f"{template.name}_slope"), self._border("on_border", choice, 1)
        if chart.is_array:
            inside = self.fresh(f"{template.name}_inside", "b")
            given = [*choice.parameters, *targets, self.lists[Lists.COORDINATES]]
            moved: Body = [
                Call([slope, inside], chart.to_line, given, line=line),
                If(inside, [], border, line=line),
            ]
        else:
            u = self.fresh(f"{template.name}_u")
            moved = [
                Call([u, slope], chart.to_line, [*choice.parameters, *targets], line=line),
                If(Op("isfinite", (u,), "b"), [], border, line=line),
                self._append(Lists.COORDINATES, u),
            ]
        moved.append(self.add(0, slope, line))
        if Lists.CHOICES in self.lists:
            moved += [self._append(Lists.CHOICES, name) for name in self.named(choice)]
        each: Body = []
        if Lists.PLACES in self.lists:
            each.append(self._append(Lists.PLACES, self.selected.place(template, indices, self.known)))
        count = dimension(targets, chart.fewer) if chart.is_array else None
        if Lists.SLOTS in self.lists:
            found, slot = self._slot(choice, count)
            moved += found
            each += slot
        if count is None:
            moved += each
        elif each:
            moved.append(hir.For(self.entry, ZEROS["i"], count, ONE, each, 1))
        self.selected.taken.append(moved[-1])
        observed: Body = [hir.Fail("an observation that is selected", line=line)]
        return [read, *self.branch(choice, chosen, moved, [], observed)]

    def _append(self, name: str, value: Expr) -> Append:
        return Append(self.lists[name], (value.kind,), (value,))

    def _slot(self, choice: Choice, count: Expr | None) -> tuple[Body, Body]:
        """What looks up where the slots of a choice begin, and what takes down that of a coordinate."""
        assert self.selected.slots is not None
        slots = self.selected.slots.get(choice.template.number)
        if slots is None:
            return [], [self._append(Lists.SLOTS, NO_SLOT)]
        inside: Expr = TRUE
        at: Expr = ZEROS["i"]
        for index, length in zip(choice.indices, slots.lengths, strict=False):
            for test in (Op("ge", (index, ZEROS["i"]), "b"), Op("lt", (index, length), "b")):
                inside = test if inside == TRUE else Op("and", (inside, test), "b")
            at = index if at == ZEROS["i"] else Op("add", (Op("mul", (at, length), "i"), index), "i")
        start = self.fresh("start", "i")
        if count is None:
            load = Load([start], slots.starts, INTEGERS, at)
            look: Body = [load] if inside == TRUE else [If(inside, [load], [])]
            return [Set([start], [NO_SLOT]), *look], [self._append(Lists.SLOTS, start)]
        every, first, slot = self.fresh("every", "i"), self.fresh("first", "i"), self.fresh("slot", "i")
        sizes = slots.lengths[-1]
        found: Body = [
            Set([first], [Op("mul", (at, sizes), "i")]),
            Load([every], slots.starts, INTEGERS, first),
            If(Op("lt", (count, sizes), "b"),
               [Load([start], slots.starts, INTEGERS, Op("add", (first, count), "i"))], []),
            *self._other_dimension(slots, at, start, every),
        ]  # fmt: skip
        has_any = Op("gt", (sizes, ZEROS["i"]), "b")
        inside = has_any if inside == TRUE else Op("and", (inside, has_any), "b")
        return [Set([start, every], [NO_SLOT, NO_SLOT]), If(inside, found, [])], [
            Set([slot], [every]),
            If(Op("ge", (start, ZEROS["i"]), "b"), [Set([slot], [Op("add", (start, self.entry), "i")])], []),
            self._append(Lists.SLOTS, slot),
        ]

    def _other_dimension(self, slots: Slots, at: Expr, start: Var, every: Var) -> Body:
        """What fails where something is known of a choice, and not for the number of coordinates it has."""
        if slots.known is None:
            return []
        known = self.fresh("known", "i")
        none = Op("lt", (Op("imax", (start, every), "i"), ZEROS["i"]), "b")
        is_known = Op("gt", (known, ZEROS["i"]), "b")
        fails = hir.Fail("a mass of another dimension")
        return [
            Load([known], slots.known, INTEGERS, at),
            If(Op("and", (none, is_known), "b"), [fails], []),
        ]


class _There(_Walking):
    """The run that puts the choices where the walk leads. It returns the log density, the sum of the log
    slopes of the charts, and a positive number if a choice is rounded to the border of its support.
    """

    stops = True

    @property
    def needed(self) -> list[str]:
        return self.selected.lists_there

    def choice(self, choice: Choice) -> Body:
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        chosen = self.is_chosen(choice)
        kept: Body = [Visit(targets, template, indices, line=line)]
        body = kept
        if chosen != FALSE:
            chart = self.chart(choice)
            moved: Body = [chart] if isinstance(chart, hir.Fail) else self._moved(choice, chart)
            body = self.branch(choice, chosen, moved, kept, [])  # what is observed is not drawn anew either
        term, score = self.scored(choice)
        noted = Primitive([], "impossible", indices, (template,))
        return [*body, score, if_zero(term, [noted, self.stop()]), self.add(0, term, line)]

    def _moved(self, choice: Choice, chart: hir.Chart) -> Body:
        """Take the next coordinate, and propose the value there."""
        targets, template, indices, line = choice.targets, choice.template, choice.indices, choice.line
        given, has = self.fresh(f"{template.name}_given", "b"), self.fresh(f"{template.name}_has_point", "b")
        u, slope = self.fresh(f"{template.name}_u"), self.fresh(f"{template.name}_slope")
        body: Body = [
            hir.Given(given, template, indices, line=line),
            If(Op("not", (given,), "b"), [hir.Fail("a choice that the trace does not have", line=line)], []),
        ]
        if Lists.CHOICES in self.lists:
            for name in self.named(choice):
                found = self.fresh("moved", "i")
                other = hir.Fail("choices that are made in another order", line=line)
                body += [
                    *self._next(Lists.CHOICES, found, 1),
                    If(Op("ne", (found, name), "b"), [other], []),
                ]
        rounded = self._border("on_border_there", choice, 2)
        assert chart.from_line is not None
        if chart.is_array:
            old = [self.fresh(f"{template.name}_old", var.kind) for var in targets]
            at, used = self.fresh("at", "i"), self.lists[Lists.USED]
            places: list[Expr] = [self.lists[Lists.COORDINATES], at]
            place: Body = [
                hir.Read(old, template, indices, False, line=line),
                Load([at], used, INTEGERS, ZEROS["i"]),
                Store(used, INTEGERS, ZEROS["i"], (Op("add", (at, dimension(old, chart.fewer)), "i"),)),
            ]
            given_ = [*old, *places]
        else:
            place, given_ = self._next(Lists.COORDINATES, u, 0), [u]
        return [
            *body,
            *place,
            Call([*targets, slope, has], chart.from_line, [*choice.parameters, *given_], line=line),
            If(has, [], rounded, line=line),
            hir.Redraw(template, indices, list(targets), line=line),
            self.add(1, slope, line),
        ]

    def _next(self, name: str, target: Var, counter: int) -> Body:
        """The next item of a list."""
        at, used = self.fresh("at", "i"), self.lists[Lists.USED]
        return [
            Load([at], used, INTEGERS, Const(counter, "i")),
            Load([target], self.lists[name], (target.kind,), at),
            Store(used, INTEGERS, Const(counter, "i"), (Op("add", (at, ONE), "i"),)),
        ]


def runs(here: Function, there: Function, selected: Walked) -> tuple[Function, Function]:
    """Make of two copies of a program the two runs."""
    summed(here, _Here, ["slope", "border"], selected)
    taken = set(map(id, selected.taken))
    shorten(here, lambda one: id(one) in taken)
    return here, summed(there, _There, ["lp", "slope", "border"], selected)
