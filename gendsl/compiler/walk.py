"""The step of a random walk, which moves selected choices together in unconstrained coordinates.

With u the coordinates of the choices, by the charts of the supports that they have there and then, a step
proposes u' = u + s z for a standard normal z, divided by the root of the mass, and accepts it with
probability min(1, alpha),

    log alpha = log p(x') + log |dx' / du'| - log p(x) - log |dx / du|.

Two runs of the program make it: one along the current trace, which takes down the coordinates, and one that
puts the choices where the walk leads. Where the second makes other choices than the first, or the same in
another order, the text fails.
"""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.addresses import Addresses, unnested
from gendsl.compiler.front.program import MODEL, Lowered, Template
from gendsl.compiler.front.values import NotClosed
from gendsl.compiler.hir import (
    FALSE,
    TRUE,
    ZEROS,
    Append,
    Body,
    Call,
    Choice,
    Const,
    Draw,
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
from gendsl.compiler.meetings import Meeting
from gendsl.compiler.move import REJECTED, RESULTS, ZERO, Called
from gendsl.compiler.moves import Masses, Walk
from gendsl.compiler.redraw import Selecting, either
from gendsl.compiler.selections import Pattern, Selection, Selections
from gendsl.compiler.sums import if_zero, makers, summed

MOST_ROOTS = 1 << 20
_ONE = Const(1, "i")
_FLOATS, _INTEGERS = ("f",), ("i",)
UNCHARTED = "a choice that is moved, and whose coordinates the text does not know"


@dataclass(frozen=True)
class Roots:
    """The square roots of the masses of choices of a template: a list of floats, by indices up to some, and
    1 for all others.
    """

    list: Expr
    lengths: tuple[int, ...] = ()


@dataclass
class Walked:
    """Which choices are moved, and in which order; see `redraw.Selected`.

    The coordinates are in the order of the patterns that choices are found by: those of one pattern, in the
    order of the program, come before those of the next.

    Attributes:
        every: the choices that are selected by their addresses; None where all are moved that are continuous
            and no observations.
        order: the addresses that they are found by, if there are several.
        roots: those of the masses, by the numbers of templates; None where all are 1, or go by the position.
        is_several: whether there may be several, so that it must be told which coordinate is of which.
        taken: the statements that end what is taken down of a choice.
    """

    every: Selections | None
    order: Selections | None
    roots: dict[int, Roots] | None = None
    is_several: bool = True
    shared: set[int] = field(default_factory=set)
    taken: list[hir.Statement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.integers = sum(one.integers for one in (self.every, self.order) if one is not None)

    def chosen(self, template: Template, indices: tuple[Expr, ...], known: Sequence[Expr]) -> list[Expr]:
        """For each pattern whether a choice is selected by it."""
        return [TRUE] if self.every is None else self.every.chosen(template, indices, known)

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
        found = self.order.chosen(template, indices, known[self.every.integers :])
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


def walked(lowered: Lowered, patterns: Sequence[Pattern] | None, meetings: Sequence[Meeting]) -> Walked:
    """What is selected by patterns; by None all that is continuous, and no observation."""
    if patterns is None:
        return Walked(None, None)
    every = Selections(lowered, patterns, meetings)
    below = [pattern[: pattern.index(...)] if ... in pattern else pattern for pattern in patterns]
    found = Walked(every, Selections(lowered, below, meetings) if len(set(below)) > 1 else None)
    matched = [Var("matched", "i")] * found.integers
    chosen = [
        template
        for template in lowered.templates
        if template.trace == MODEL
        and template.calls is None
        and any(test != FALSE for test in found.chosen(template, _indices(template), matched))
    ]
    found.is_several = len(chosen) > 1 or any(template.rank for template in chosen)
    return found


def _indices(template: Template) -> tuple[Expr, ...]:
    return tuple(Var(f"index_{axis}", "i") for axis in range(template.rank))


class _Lists:
    """The lists that the two runs share, by their names: the coordinates; which choices they are of; by which
    pattern each was found; the root of its mass; and how far the second run has come in the first two.
    """

    COORDINATES, CHOICES, PLACES, ROOTS, USED = "coordinates", "moved_choices", "places", "roots", "used"


class _Walking(Selecting):
    """One function of either run.

    Attributes:
        lists: the variables of the lists that it is given.
    """

    selected: Walked

    def __init__(
        self, function: Function, making: set[int], summed: Sequence[str], selected: Walked, *, alone: bool
    ) -> None:
        super().__init__(function, making, summed, selected, alone=alone)
        self.lists = {name: self.fresh(name, "r") for name in self.needed(selected)}

    @staticmethod
    @abstractmethod
    def needed(selected: Walked) -> list[str]:
        """The lists that a run needs."""

    def rewrite(self) -> None:
        super().rewrite()
        self.function.parameters = [*self.function.parameters, *self.lists.values()]

    def called(self, call: Call) -> None:
        super().called(call)
        call.args = [*call.args, *self.lists.values()]

    def is_chosen(self, choice: Choice) -> Expr:
        """Whether a choice is selected, by its address."""
        chart = choice.chart
        if self.selected.every is None and isinstance(chart, hir.Chart) and chart.to_line is None:
            return FALSE
        found: Expr = FALSE
        for test in self.chosen(choice):
            found = either(found, test)
        return found

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

    def named(self, choice: Choice) -> list[Expr]:
        """The integers that say which choice one is."""
        return [Const(choice.template.number, "i"), *choice.indices]


class _Here(_Walking):
    """The run along the current trace. It returns the sum of the log slopes of the charts, and a positive
    number if a choice lies on the border of its support.
    """

    @staticmethod
    def needed(selected: Walked) -> list[str]:
        lists = {
            _Lists.COORDINATES: True,
            _Lists.CHOICES: selected.is_several,
            _Lists.PLACES: selected.order is not None,
            _Lists.ROOTS: selected.roots is not None,
        }
        return [name for name, is_needed in lists.items() if is_needed]

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
        u, slope = self.fresh(f"{template.name}_u"), self.fresh(f"{template.name}_slope")
        border: Body = [
            Primitive([], "on_border", indices, (template,)),
            Set([self.sums[1]], [Const(1.0, "f")]),
        ]
        moved: Body = [
            Call([u, slope], chart.to_line, [*choice.parameters, *targets], line=line),
            If(Op("isfinite", (u,), "b"), [], border, line=line),
            self.add(0, slope, line),
            self._append(_Lists.COORDINATES, u),
        ]
        if _Lists.CHOICES in self.lists:
            moved += [self._append(_Lists.CHOICES, name) for name in self.named(choice)]
        if _Lists.PLACES in self.lists:
            moved.append(self._append(_Lists.PLACES, self.selected.place(template, indices, self.known)))
        if _Lists.ROOTS in self.lists:
            moved += self._root(choice)
        self.selected.taken.append(moved[-1])
        observed: Body = [hir.Fail("an observation that is selected", line=line)]
        return [read, *self.branch(choice, chosen, moved, [], observed)]

    def _append(self, name: str, value: Expr) -> Append:
        return Append(self.lists[name], (value.kind,), (value,))

    def _root(self, choice: Choice) -> Body:
        """Take down the root of the mass of a choice."""
        assert self.selected.roots is not None
        roots, root = self.selected.roots.get(choice.template.number), self.fresh("root")
        body: Body = [Set([root], [Const(1.0, "f")])]
        if roots is not None:
            inside: Expr = TRUE
            at: Expr = ZEROS["i"]
            for index, length in zip(choice.indices, roots.lengths, strict=True):
                end = Const(length, "i")
                for test in (Op("ge", (index, ZEROS["i"]), "b"), Op("lt", (index, end), "b")):
                    inside = test if inside == TRUE else Op("and", (inside, test), "b")
                at = index if at == ZEROS["i"] else Op("add", (Op("mul", (at, end), "i"), index), "i")
            found: Body = [Load([root], roots.list, _FLOATS, at)]
            body += found if inside == TRUE else [If(inside, found, [])]
        return [*body, self._append(_Lists.ROOTS, root)]


class _There(_Walking):
    """The run that puts the choices where the walk leads. It returns the log density, the sum of the log
    slopes of the charts, and a positive number if a choice is rounded to the border of its support.
    """

    stops = True

    @staticmethod
    def needed(selected: Walked) -> list[str]:
        some = [_Lists.CHOICES] if selected.is_several else []
        return [_Lists.COORDINATES, *some, _Lists.USED]

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
        if _Lists.CHOICES in self.lists:
            for name in self.named(choice):
                found = self.fresh("moved", "i")
                other = hir.Fail("choices that are made in another order", line=line)
                body += [
                    *self._next(_Lists.CHOICES, found, 1),
                    If(Op("ne", (found, name), "b"), [other], []),
                ]
        rounded: Body = [
            Primitive([], "on_border_there", indices, (template,)),
            Set([self.sums[2]], [Const(1.0, "f")]),
        ]
        assert chart.from_line is not None
        return [
            *body,
            *self._next(_Lists.COORDINATES, u, 0),
            Call([*targets, slope, has], chart.from_line, [*choice.parameters, u], line=line),
            If(has, [], rounded, line=line),
            hir.Redraw(template, indices, list(targets), line=line),
            self.add(1, slope, line),
        ]

    def _next(self, name: str, target: Var, counter: int) -> Body:
        """The next item of a list."""
        at, used = self.fresh("at", "i"), self.lists[_Lists.USED]
        return [
            Load([at], used, _INTEGERS, Const(counter, "i")),
            Load([target], self.lists[name], (target.kind,), at),
            Store(used, _INTEGERS, Const(counter, "i"), (Op("add", (at, _ONE), "i"),)),
        ]


# --- the step ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stride:
    """How far a walk goes.

    Attributes:
        size: the step size.
        roots: the list of the roots of the masses of the coordinates, in their order; None if they go by the
            choice.
        matrix: in place of these the matrix that a standard normal vector is multiplied by, as a list of its
            rows; and None.
    """

    size: Expr
    roots: Expr | None = None
    matrix: Expr | None = None


def stride(one: Walk, lowered: Lowered, selected: Walked, given: Callable[[Any], Expr]) -> Stride:
    """How far a walk goes; the roots of masses by address are those of what is selected.

    Args:
        given: makes a value of the kernel an input of the text.

    Raises:
        NotClosed: it can't be said in the text.
    """
    size = given(float(one.step_size))
    if one.mass is None:
        return Stride(size)
    if not isinstance(one.mass, Masses):
        if not np.size(one.mass):
            raise NotClosed("a mass without entries")
        numbers = given(np.ravel(one.mass).tolist())
        return Stride(size, numbers) if np.ndim(one.mass) == 1 else Stride(size, None, numbers)
    selected.roots = _roots(one.mass, lowered, given)
    return Stride(size)


def _roots(masses: Masses, lowered: Lowered, given: Callable[[Any], Expr]) -> dict[int, Roots]:
    """The roots of masses by the numbers of templates."""
    templates = [one for one in lowered.templates if one.trace == MODEL and one.calls is None]
    if any(template.is_below for template in templates):
        raise NotClosed("masses of choices of a program that calls itself")
    by_template: dict[int, dict[tuple[int, ...], float]] = {}
    addresses = Addresses(lowered)
    for path, sizes in masses.roots.items():
        prefix, size = Selection(lowered, path), len(unnested(path))
        below = [one for one in templates if prefix.begins(one, _indices(one), ZEROS["i"]) != FALSE]
        if masses.is_whole and any(len(one.own) > size for one in below):
            raise NotClosed("masses of what may be a namespace")
        known = sizes.get(1, sizes.get(None))
        if known is None:
            if masses.is_whole:
                raise NotClosed("masses of several coordinates")
            continue
        for template, indices in addresses.find_all(path) if below else ():
            if min(indices, default=0) >= 0:
                by_template.setdefault(template.number, {})[indices] = float(np.ravel(known)[0])
    return {number: _dense(found, given) for number, found in by_template.items()}


def _dense(found: dict[tuple[int, ...], float], given: Callable[[Any], Expr]) -> Roots:
    lengths = tuple(1 + max(axis) for axis in zip(*found, strict=True))
    if math.prod(lengths) > MOST_ROOTS:
        raise NotClosed("masses of addresses that are far apart")
    numbers = np.ones(lengths)
    for indices, root in found.items():
        numbers[indices] = root
    return Roots(given(numbers.ravel().tolist()), lengths)


def runs(here: Function, there: Function, selected: Walked) -> tuple[Function, Function]:
    """Make of two copies of a program the two runs."""
    summed(here, _Here, ["slope", "border"], selected)
    _shortened(here, selected)
    return here, summed(there, _There, ["lp", "slope", "border"], selected)


def _shortened(main: Function, selected: Walked) -> None:
    """Let a run along the current trace end behind the last choice that is moved."""
    taken = set(map(id, selected.taken))
    needed = makers(main, lambda one: id(one) in taken)
    *before, end = main.body
    if not isinstance(end, Return):
        return

    def is_needed(statement: hir.Statement) -> bool:
        return any(
            id(one) in taken or (isinstance(one, Call) and id(one.function) in needed)
            for one in hir.walk([statement])
        )

    while before and not is_needed(before[-1]):
        before.pop()
    main.body = [*before, end]


def step(
    name: str,
    here: Called,
    there: Called,
    selected: Walked,
    stride: Stride,
    absent: Sequence[tuple[Body, Expr]],
) -> Function:
    """The step of a random walk.

    Args:
        here, there: the two runs.
        absent: for each address that must be there, what finds out whether the trace has it, and whether it
            has.
    """
    made = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    slope, border = Var("slope", "f"), Var("border", "f")
    lp, slope_there, rounded = Var("lp", "f"), Var("slope_there", "f"), Var("rounded", "f")
    before, ratio, uniform = Var("lp_before", "f"), Var("log_ratio", "f"), Var("uniform", "f")
    accepted, count, used = Var("accepted", "b"), Var("count", "i"), Var("count_used", "i")
    lists = {one: Var(one, "r") for one in (*_Here.needed(selected), _Lists.USED)}
    layouts = {_Lists.COORDINATES: _FLOATS, _Lists.ROOTS: _FLOATS}
    rejected: Body = [Draw(uniform, "random", ()), Return(list(REJECTED))]
    body = made.body
    body.append(Primitive([], "begin"))
    for finding, found in absent:
        fails = hir.Fail("a selected address that the trace doesn't have")
        body += [*finding, If(Op("not", (found,), "b"), [fails], [])]
    body += [hir.New(lists[one], layouts.get(one, _INTEGERS), []) for one in _Here.needed(selected)]
    along = [lists[one] for one in _Here.needed(selected)]
    ahead = [lists[one] for one in _There.needed(selected)]
    scale: Expr = Op("abs", (lp,), "f")
    for term in (before, slope, slope_there):
        scale = Op("add", (scale, Op("abs", (term,), "f")), "f")
    difference = Op("sub", (Op("add", (Op("sub", (lp, before), "f"), slope_there), "f"), slope), "f")
    body += [
        Called(here.function, (*here.args, *along)).into(slope, border),
        hir.Length(count, lists[_Lists.COORDINATES], _FLOATS),
        If(Op("eq", (count, ZEROS["i"]), "b"), [Primitive([], "nothing_selected"), *rejected], []),
        If(_is_any(border), _copied(rejected), []),
        *_strides(stride, lists, count, selected),
        hir.New(lists[_Lists.USED], _INTEGERS, [(ZEROS["i"],), (ZEROS["i"],)]),
        Called(there.function, (*there.args, *ahead)).into(lp, slope_there, rounded),
        if_zero(lp, _copied(rejected)),
        Load([used], lists[_Lists.USED], _INTEGERS, ZEROS["i"]),
        If(Op("ne", (used, count), "b"), [hir.Fail("choices that the program does not make there")], []),
        Primitive([], "same_choices"),
        If(_is_any(rounded), _copied(rejected), []),
        Primitive([before], "log_density"),
        Set([ratio], [difference]),
        Draw(uniform, "random", ()),
        Primitive([accepted], "decide", (ratio, scale, uniform)),
        If(accepted, [Primitive([], "commit", (lp,))], []),
        Return([accepted, ratio, ratio, ZERO, ZERO]),
    ]
    return made


def _is_any(flag: Var) -> Expr:
    return Op("gt", (flag, ZERO), "b")


def _copied(body: Body) -> Body:
    return [copy.copy(one) for one in body]


def _strides(stride: Stride, lists: dict[str, Var], count: Var, selected: Walked) -> Body:
    """Move the coordinates: each by the step size times a normal number, divided by the root of its mass."""
    noise, root, u = Var("noise", "f"), Var("root", "f"), Var("u", "f")
    i, place, at = Var("i", "i"), Var("place", "i"), Var("at", "i")
    coordinates = lists[_Lists.COORDINATES]
    several = stride.roots is not None or stride.matrix is not None
    drawn: Body = [Draw(noise, "standard_normal", ())]
    if stride.matrix is not None:
        return _by_matrix(stride, lists, count, selected)
    if stride.roots is not None:
        drawn.append(Load([root], stride.roots, _FLOATS, at))
    if selected.roots is not None:
        drawn.append(Load([root], lists[_Lists.ROOTS], _FLOATS, i))
    divided: Expr = noise if not several and selected.roots is None else Op("truediv", (noise, root), "f")
    moved = Op("add", (u, Op("mul", (stride.size, divided), "f")), "f")
    drawn += [Load([u], coordinates, _FLOATS, i), Store(coordinates, _FLOATS, i, (moved,))]
    if several:
        drawn.append(Set([at], [Op("add", (at, _ONE), "i")]))
    body: Body = [Set([at], [ZEROS["i"]])] if several else []
    if stride.roots is not None:
        body += _of_length(stride.roots, count)
    return [*body, *_in_order(drawn, lists, count, selected, i, place)]


def _in_order(inside: Body, lists: dict[str, Var], count: Var, selected: Walked, i: Var, place: Var) -> Body:
    """A loop over the coordinates, in the order of the patterns that their choices are found by."""
    if selected.order is None:
        return [hir.For(i, ZEROS["i"], count, _ONE, inside, 1)]
    here = Var("place_here", "i")
    loop = hir.For(
        i, ZEROS["i"], count, _ONE,
        [Load([here], lists[_Lists.PLACES], _INTEGERS, i), If(Op("eq", (here, place), "b"), inside, [])], 2,
    )  # fmt: skip
    return [hir.For(place, ZEROS["i"], Const(len(selected.order.every), "i"), _ONE, [loop], 1)]


def _of_length(list_: Expr, count: Expr) -> Body:
    """Fail unless there are as many numbers as coordinates."""
    length = Var("length", "i")
    fails = hir.Fail("a mass of another dimension")
    return [hir.Length(length, list_, _FLOATS), If(Op("ne", (length, count), "b"), [fails], [])]


def _by_matrix(stride: Stride, lists: dict[str, Var], count: Var, selected: Walked) -> Body:
    """The same, by the product of a matrix and a vector of normal numbers."""
    assert stride.matrix is not None
    coordinates, noises = lists[_Lists.COORDINATES], Var("noises", "r")
    noise, u, entry, total = (Var(one, "f") for one in ("noise", "u", "entry", "total"))
    i, j, place, row = (Var(one, "i") for one in ("i", "j", "place", "row"))
    first: Body = [
        *_of_length(stride.matrix, Op("mul", (count, count), "i")),
        hir.New(noises, _FLOATS, []),
        hir.For(i, ZEROS["i"], count, _ONE,
                [Draw(noise, "standard_normal", ()), Append(noises, _FLOATS, (noise,))], 3),
        Set([row], [ZEROS["i"]]),
    ]  # fmt: skip
    at = Op("add", (Op("mul", (row, count), "i"), j), "i")
    product: Body = [
        Load([entry], stride.matrix, _FLOATS, at),
        Load([noise], noises, _FLOATS, j),
        Set([total], [Op("add", (total, Op("mul", (entry, noise), "f")), "f")]),
    ]
    moved = Op("add", (u, Op("mul", (stride.size, total), "f")), "f")
    inside: Body = [
        Set([total], [ZERO]),
        hir.For(j, ZEROS["i"], count, _ONE, product, 4),
        Load([u], coordinates, _FLOATS, i),
        Store(coordinates, _FLOATS, i, (moved,)),
        Set([row], [Op("add", (row, _ONE), "i")]),
    ]
    return [*first, *_in_order(inside, lists, count, selected, i, place)]
