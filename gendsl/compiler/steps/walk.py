"""The step of a random walk, which moves selected choices together in unconstrained coordinates.

With u the coordinates of the choices a step proposes u' = u + s z for a standard normal z, divided by the
root of the mass, and accepts it with probability min(1, alpha),

    log alpha = log p(x') + log |dx' / du'| - log p(x) - log |dx / du|.

The two runs of the program that this takes are in `gendsl.compiler.steps.coordinate_runs`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    FALSE,
    ZEROS,
    Append,
    Body,
    Const,
    Draw,
    Expr,
    Function,
    If,
    Load,
    Op,
    Primitive,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.hir.addresses import Addresses, unnested
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import Lowered, Template
from gendsl.compiler.hir.types import Array
from gendsl.compiler.moves import Masses, Walk
from gendsl.compiler.programs.sums import if_zero
from gendsl.compiler.steps.coordinate_runs import (
    FLOATS,
    INTEGERS,
    ONE,
    Lists,
    Slots,
    Walked,
    indices_of_template,
)
from gendsl.compiler.steps.move import REJECTED, RESULTS, ZERO, all_there
from gendsl.compiler.steps.selections import Selection
from gendsl.compiler.steps.step_parts import Called

MOST_ROOTS = 1 << 20
"""How many masses a template may have, those of 1 between them included."""


@dataclass(frozen=True)
class Stride:
    """How far a walk goes.

    Attributes:
        size: the step size.
        roots: the list of the roots of the masses of the coordinates, in their order; or by the slots of the
            choices, if these have any.
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
    return Stride(size, _roots(one.mass, lowered, selected, given))


def values(one: Walk, lowered: Lowered, selected: Walked) -> tuple[Any, ...]:
    """The values of a kernel that its text is given, in their order.

    Raises:
        NotClosed: there are none.
    """
    found: list[Any] = []

    def given(value: Any) -> Expr:
        found.append(value)
        return ZERO

    stride(one, lowered, selected, given)
    return tuple(found)


def _roots(masses: Masses, lowered: Lowered, selected: Walked, given: Callable[[Any], Expr]) -> Expr:
    """The list of the roots of masses of what is selected, and their slots."""
    templates = selected.templates(lowered)
    check_slots(templates)
    found: dict[int, Found] = {template.number: {} for template in templates}
    addresses, roots = Addresses(lowered), [1.0]
    for path, sizes in masses.roots.items():
        prefix, size = Selection(lowered, path), len(unnested(path))
        below = [
            one for one in templates if prefix.begins(one, indices_of_template(one), ZEROS["i"]) != FALSE
        ]
        if masses.is_whole and any(len(one.own) > size for one in below):
            raise NotClosed("masses of what may be a namespace")
        for template, indices in addresses.find_all(path) if below else ():
            if template.number in found and min(indices, default=0) >= 0:
                every = {size or 0: known for size, known in sizes.items()}
                if not isinstance(template.type, Array):
                    every = _of_number(every, masses.is_whole)
                for size, known in every.items():
                    found[template.number][sized(template, indices, size)] = len(roots)
                    roots += np.ravel(known).tolist()
    selected.slots = {
        template.number: slots_of(template, found[template.number], masses.is_whole, given)
        for template in templates
    }
    return given(roots)


Found = dict[tuple[int, ...], int]
"""The first of the slots of a choice, by its indices; of an array also by how many there are, one for each of
its coordinates, 0 where one is for all."""


def sized(template: Template, indices: tuple[int, ...], size: int) -> tuple[int, ...]:
    """What the slots of a choice are found by."""
    return (*indices, size) if isinstance(template.type, Array) else indices


def check_slots(templates: Sequence[Template]) -> None:
    """Refuse templates whose choices have no slots."""
    if any(template.is_below for template in templates):
        raise NotClosed("masses of choices of a program that calls itself")
    if any(template.path_axes for template in templates):
        raise NotClosed("masses of choices at tuples whose lengths are not known")


def _of_number(sizes: Mapping[int, Any], is_whole: bool) -> dict[int, Any]:
    """What of this is for a number."""
    known = sizes.get(1, sizes.get(0))
    if known is None and is_whole:
        raise NotClosed("masses of several coordinates")
    return {} if known is None else {1: known}


def slots_of(template: Template, found: Found, is_whole: bool, given: Callable[[Any], Expr]) -> Slots:
    """The slots of the choices of a template, in lists whose kinds are the same whatever is known."""
    rank = template.rank + isinstance(template.type, Array)
    lengths = tuple(1 + max(axis) for axis in zip(*found, strict=True)) if found else (0,) * rank
    if math.prod(lengths) > MOST_ROOTS:
        raise NotClosed("masses of addresses that are far apart")
    axes = tuple(given(length) for length in lengths)
    starts = np.full(lengths if found and lengths else (1,), -1)
    for place, start in found.items():
        starts[place] = start
    first = given(starts.ravel().tolist())
    if not (is_whole and isinstance(template.type, Array)):
        return Slots(axes, first)
    return Slots(axes, first, given((starts >= 0).any(axis=-1).astype(int).ravel().tolist()))


@dataclass(frozen=True)
class Ends:
    """What a function of a walk ends with: where there is nothing to move, a choice is on the border of its
    support, or the density is zero where the walk leads.
    """

    nothing: Body
    border: Body
    zero: Body


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
    made.body = stepped(here, there, selected, stride, absent)
    return made


def stepped(
    here: Called,
    there: Called,
    selected: Walked,
    stride: Stride,
    absent: Sequence[tuple[Body, Expr]],
    probability: Var | None = None,
) -> Body:
    """The body of a step, whose results are those of every step.

    Args:
        probability: what is returned before these, if anything is: with which the step was accepted, below
            0 where there was nothing to move.
    """
    accepted, ratio, lp, uniform = Var("accepted", "b"), Var("log_ratio", "f"), LP, Var("uniform", "f")

    def returned(chance: Expr, results: Sequence[Expr]) -> Return:
        return Return([*([] if probability is None else [chance]), *results])

    def rejected(chance: float) -> Body:
        return [Draw(uniform, "random", ()), returned(Const(chance, "f"), REJECTED)]

    ends = Ends([Primitive([], "nothing_selected"), *rejected(-1.0)], rejected(-1.0), rejected(0.0))
    below = Op("lt", (ratio, ZERO), "b")
    chance: Expr = Op("exp", (Op("select", (below, ratio, ZERO), "f"),), "f")
    if probability is not None:
        made = Set([probability], [chance])
        chance = probability
    return [
        *proposed(here, there, selected, stride, absent, ends, ratio),
        Draw(uniform, "random", ()),
        Primitive([accepted], "decide", (ratio, SCALE, uniform)),
        If(accepted, [Primitive([], "commit", (lp,))], []),
        *([] if probability is None else [made]),
        returned(chance, [accepted, ratio, ratio, ZERO, ZERO]),
    ]


LP, SCALE = Var("lp", "f"), Var("scale", "f")
"""The log density where a walk leads, and the size of what its ratio was computed from."""


def proposed(
    here: Called,
    there: Called,
    selected: Walked,
    stride: Stride,
    absent: Sequence[tuple[Body, Expr]],
    ends: Ends,
    ratio: Var,
) -> Body:
    """What proposes where a walk leads, and gives the log acceptance ratio."""
    slope, border, lp = Var("slope", "f"), Var("border", "f"), LP
    slope_there, rounded, before = Var("slope_there", "f"), Var("rounded", "f"), Var("lp_before", "f")
    count, used = Var("count", "i"), Var("count_used", "i")
    lists = {one: Var(one, "r") for one in (*selected.lists_here, Lists.USED)}
    along = [lists[one] for one in selected.lists_here]
    ahead = [lists[one] for one in selected.lists_there]
    scale: Expr = Op("abs", (lp,), "f")
    for term in (before, slope, slope_there):
        scale = Op("add", (scale, Op("abs", (term,), "f")), "f")
    difference = Op("sub", (Op("add", (Op("sub", (lp, before), "f"), slope_there), "f"), slope), "f")
    return [
        Primitive([], "begin"),
        *all_there(absent),
        *new_lists(selected),
        Called(here.function, (*here.args, *along)).into(slope, border),
        hir.Length(count, lists[Lists.COORDINATES], FLOATS),
        If(Op("eq", (count, ZEROS["i"]), "b"), ends.nothing, []),
        If(is_any(border), ends.border, []),
        *_strides(stride, lists, count, selected),
        hir.New(lists[Lists.USED], INTEGERS, [(ZEROS["i"],), (ZEROS["i"],)]),
        Called(there.function, (*there.args, *ahead)).into(lp, slope_there, rounded),
        if_zero(lp, _copied(ends.zero)),
        Load([used], lists[Lists.USED], INTEGERS, ZEROS["i"]),
        If(Op("ne", (used, count), "b"), [hir.Fail("choices that the program does not make there")], []),
        Primitive([], "same_choices"),
        If(is_any(rounded), _copied(ends.zero), []),
        Primitive([before], "log_density"),
        Set([ratio, SCALE], [difference, scale]),
    ]


def new_lists(selected: Walked) -> Body:
    """The lists that the run along the current trace is given."""
    layouts = {Lists.COORDINATES: FLOATS}
    return [hir.New(Var(one, "r"), layouts.get(one, INTEGERS), []) for one in selected.lists_here]


def is_any(flag: Var) -> Expr:
    """Whether a sum of what is not below 0 is positive."""
    return Op("gt", (flag, ZERO), "b")


def _copied(body: Body) -> Body:
    return [copy.copy(one) for one in body]


def _strides(stride: Stride, lists: dict[str, Var], count: Var, selected: Walked) -> Body:
    """Move the coordinates: each by the step size times a normal number, divided by the root of its mass."""
    noise, root, u = Var("noise", "f"), Var("root", "f"), Var("u", "f")
    i, place, at = Var("i", "i"), Var("place", "i"), Var("at", "i")
    coordinates = lists[Lists.COORDINATES]
    slot = Var("slot", "i")
    drawn: Body = [Draw(noise, "standard_normal", ())]
    if stride.matrix is not None:
        return _by_matrix(stride, lists, count, selected)
    in_order = stride.roots is not None and selected.slots is None
    if in_order:
        assert stride.roots is not None
        drawn.append(Load([root], stride.roots, FLOATS, at))
    elif stride.roots is not None:
        has_slot = Op("ge", (slot, ZEROS["i"]), "b")
        drawn += [
            Load([slot], lists[Lists.SLOTS], INTEGERS, i),
            Set([root], [Const(1.0, "f")]),
            If(has_slot, [Load([root], stride.roots, FLOATS, slot)], []),
        ]
    divided: Expr = noise if stride.roots is None else Op("truediv", (noise, root), "f")
    moved = Op("add", (u, Op("mul", (stride.size, divided), "f")), "f")
    drawn += [Load([u], coordinates, FLOATS, i), Store(coordinates, FLOATS, i, (moved,))]
    if in_order:
        drawn.append(Set([at], [Op("add", (at, ONE), "i")]))
    body: Body = []
    if in_order:
        assert stride.roots is not None
        body += [Set([at], [ZEROS["i"]]), *_of_length(stride.roots, count)]
    return [*body, *_in_order(drawn, lists, count, selected, i, place)]


def _in_order(inside: Body, lists: dict[str, Var], count: Var, selected: Walked, i: Var, place: Var) -> Body:
    """A loop over the coordinates, in the order of the patterns that their choices are found by."""
    if selected.order is None:
        return [hir.For(i, ZEROS["i"], count, ONE, inside, 1)]
    here = Var("place_here", "i")
    loop = hir.For(
        i, ZEROS["i"], count, ONE,
        [Load([here], lists[Lists.PLACES], INTEGERS, i), If(Op("eq", (here, place), "b"), inside, [])], 2,
    )  # fmt: skip
    return [hir.For(place, ZEROS["i"], Const(len(selected.order.every), "i"), ONE, [loop], 1)]


def _of_length(list_: Expr, count: Expr) -> Body:
    """Fail unless there are as many numbers as coordinates."""
    length = Var("length", "i")
    fails = hir.Fail("a mass of another dimension")
    return [hir.Length(length, list_, FLOATS), If(Op("ne", (length, count), "b"), [fails], [])]


def _by_matrix(stride: Stride, lists: dict[str, Var], count: Var, selected: Walked) -> Body:
    """The same, by the product of a matrix and a vector of normal numbers."""
    assert stride.matrix is not None
    coordinates, noises = lists[Lists.COORDINATES], Var("noises", "r")
    noise, u, entry, total = (Var(one, "f") for one in ("noise", "u", "entry", "total"))
    i, j, place, row = (Var(one, "i") for one in ("i", "j", "place", "row"))
    first: Body = [
        *_of_length(stride.matrix, Op("mul", (count, count), "i")),
        hir.New(noises, FLOATS, []),
        hir.For(i, ZEROS["i"], count, ONE,
                [Draw(noise, "standard_normal", ()), Append(noises, FLOATS, (noise,))], 3),
        Set([row], [ZEROS["i"]]),
    ]  # fmt: skip
    at = Op("add", (Op("mul", (row, count), "i"), j), "i")
    product: Body = [
        Load([entry], stride.matrix, FLOATS, at),
        Load([noise], noises, FLOATS, j),
        Set([total], [Op("add", (total, Op("mul", (entry, noise), "f")), "f")]),
    ]
    moved = Op("add", (u, Op("mul", (stride.size, total), "f")), "f")
    inside: Body = [
        Set([total], [ZERO]),
        hir.For(j, ZEROS["i"], count, ONE, product, 4),
        Load([u], coordinates, FLOATS, i),
        Store(coordinates, FLOATS, i, (moved,)),
        Set([row], [Op("add", (row, ONE), "i")]),
    ]
    return [*first, *_in_order(inside, lists, count, selected, i, place)]
