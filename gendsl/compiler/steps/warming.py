"""The step of a random walk whose step size and masses are found meanwhile, and the lists that have them.

    before_step, the step with the step size and the masses that there are, after_step

The rules are lowered from their own text, `gendsl.inference.warmup_rules`; what these ask of the walk is made
here. Whatever is known of a coordinate lies at its slot. A choice that has none is left to the interpreter
where it is to be taken in; then there are more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.compiler import hir
from gendsl.compiler.front.program import Lowering
from gendsl.compiler.front.warming import MOMENTS, PARTS, Adapted, lists_of
from gendsl.compiler.hir import (
    FALSE,
    TRUE,
    ZEROS,
    Body,
    Call,
    Const,
    Expr,
    Function,
    If,
    Load,
    Op,
    Return,
    Set,
    Store,
    Var,
)
from gendsl.compiler.hir.addresses import Addresses, Paths
from gendsl.compiler.hir.templates import ArgumentsOf, Lowered, Template
from gendsl.compiler.hir.types import Array, List, Number, Type, leaves
from gendsl.compiler.moves import KEPT, TIE, Warming
from gendsl.compiler.steps import walk
from gendsl.compiler.steps.coordinate_runs import FLOATS, INTEGERS, ONE, Lists, Walked
from gendsl.compiler.steps.move import RESULTS, ZERO
from gendsl.compiler.steps.step_parts import Called

NOTHING, BELOW, ABOVE = -1, 0, 1
"""What the comparison of a ratio gives, as `gendsl.inference.warmup_rules` has it."""


# --- the functions of the text -------------------------------------------------------------------------


@dataclass(frozen=True)
class Runs:
    """The two runs of a program, what they move, and what finds out whether what must be there is."""

    here: Called
    there: Called
    selected: Walked
    absent: Sequence[tuple[Body, Expr]]


@dataclass(frozen=True)
class Rules:
    """The functions that the rules became."""

    before: Function
    after: Function
    taken_in: Function
    inverse_variance: Function


def rules_of(number: int, mains: Mapping[str, Function]) -> Rules:
    """The rules of a step, which has a number, among the functions that programs became."""
    return Rules(*(mains[f"u{number}_{name}"] for name in ("before", "after", "taken", "inverse")))


def step(name: str, one: Warming, runs: Runs, rules: Rules, lists: Mapping[str, Expr]) -> Function:
    """The step of a warm-up.

    Args:
        lists: those of `KEPT`, and the windows.
    """
    roots, size, probability = Var("roots", "r"), Var("step_size", "f"), Var("probability", "f")
    kinds: list[hir.Kind] = ["f", *(kind for _, kind in RESULTS)]
    inner = Function(f"{name}_walk", [size, roots], kinds, origin=f"a walk of {name}")
    inner.body = walk.stepped(
        runs.here, runs.there, runs.selected, walk.Stride(size, roots), runs.absent, probability
    )
    results = [Var(*result) for result in RESULTS]
    kernel = [lists[part] for part in PARTS]
    outer = Function(name, results=[kind for _, kind in RESULTS], origin=f"a step of {name}")
    outer.body = [
        Call([], rules.before, [*kernel, lists["numbers"]]),
        Load([size], lists["numbers"], FLOATS, Const(one.rule.step_size, "i")),
        Call([probability, *results], inner, [size, lists["roots"]]),
        Call([], rules.after, [*kernel, lists["numbers"], lists["windows"], probability]),
        Return(list(results)),
    ]
    return outer


def fill(adapted: Adapted, one: Warming, runs: Runs, rules: Rules) -> None:
    """Make the bodies of what the rules ask of the walk."""
    _compare(adapted.compare, runs)
    _take_in(adapted.take_in, runs, rules)
    _take_over(adapted.take_over, one, rules)


def _compare(made: Function, runs: Runs) -> None:
    roots, _, size, bound = made.parameters
    ratio = Var("log_ratio", "f")

    def ends(what: int) -> Body:
        return [Return([Const(what, "i")])]

    distance = Op("abs", (Op("sub", (ratio, bound), "f"),), "f")
    near = Op("mul", (Const(TIE, "f"), Op("add", (Const(1.0, "f"), walk.SCALE), "f")), "f")
    above = Op("gt", (ratio, bound), "b")
    made.body = [
        *walk.proposed(
            runs.here, runs.there, runs.selected, walk.Stride(size, roots), runs.absent,
            walk.Ends(ends(NOTHING), ends(NOTHING), ends(BELOW)), ratio,
        ),
        If(Op("lt", (distance, near), "b"), [hir.Fail("a tie")], []),
        Return([Op("select", (above, Const(ABOVE, "i"), Const(BELOW, "i")), "i")]),
    ]  # fmt: skip


def _take_in(made: Function, runs: Runs, rules: Rules) -> None:
    _, moments = made.parameters
    slope, border, count, i = Var("slope", "f"), Var("border", "f"), Var("count", "i"), Var("i", "i")
    u, slot, mass = Var("u", "f"), Var("slot", "i"), Var("mass", "f")
    known = [Var(one, "f") for one in ("values", "mean", "squares")]
    coordinates, slots = Var(Lists.COORDINATES, "r"), Var(Lists.SLOTS, "r")
    along = [Var(one, "r") for one in runs.selected.lists_here]
    none = hir.Fail("a coordinate that warm-up has no room for")
    made.body = [
        *walk.new_lists(runs.selected),
        Called(runs.here.function, (*runs.here.args, *along)).into(slope, border),
        If(walk.is_any(border), [Return([])], []),
        hir.Length(count, coordinates, FLOATS),
        hir.For(i, ZEROS["i"], count, ONE, [
            Load([u], coordinates, FLOATS, i),
            Load([slot], slots, INTEGERS, i),
            If(Op("lt", (slot, ZEROS["i"]), "b"), [none], []),
            Load([*known, mass], moments, MOMENTS, slot),
            Call(list(known), rules.taken_in, [*known, u]),
            Store(moments, MOMENTS, slot, (*known, mass)),
        ], 1),
        Return([]),
    ]  # fmt: skip


def _take_over(made: Function, one: Warming, rules: Rules) -> None:
    roots, moments = made.parameters
    is_found, count, slot = Var("is_found", "b"), Var("count", "i"), Var("slot", "i")
    values, _, squares, mass = known = [Var(one, "f") for one in ("values", "mean", "squares", "mass")]
    enough = Op("ge", (values, Const(one.rule.least, "f")), "b")
    found: Body = [
        Call([mass], rules.inverse_variance, [values, squares]),
        Store(roots, FLOATS, slot, (Op("sqrt", (mass,), "f"),)),
        Set([is_found], [TRUE]),
    ]
    made.body = [
        Set([is_found], [FALSE]),
        hir.Length(count, moments, MOMENTS),
        hir.For(slot, ZEROS["i"], count, ONE, [
            Load(list(known), moments, MOMENTS, slot),
            If(enough, found, []),
            Store(moments, MOMENTS, slot, (ZERO, ZERO, ZERO, mass)),
        ], 1),
        Return([is_found]),
    ]  # fmt: skip


# --- the lists ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Place:
    """A choice that has slots: its template, its indices, how many there are and the first of them."""

    template: Template
    indices: tuple[int, ...]
    size: int
    start: int


class Memory:
    """What a warm-up has found, as the lists of a text.

    Attributes:
        one: the step.
        first: the number of the first of the inputs of the text that they are.
    """

    def __init__(self, one: Warming, lowered: Lowered, selected: Walked, first: int) -> None:
        self.one, self.lowered, self.first = one, lowered, first
        self.templates = selected.templates(lowered)
        self.places: list[_Place] = []

    def retuned(self, one: Warming) -> Memory:
        """The same for another warm-up, whose step has the same text."""
        made = object.__new__(Memory)
        made.__dict__ = {**self.__dict__, "one": one, "places": []}
        return made

    def apart(self, lowered: Lowered) -> Memory:
        """The same without a warm-up, for a program that is what its own is."""
        made = object.__new__(Memory)
        made.__dict__ = {**self.__dict__, "one": None, "lowered": lowered, "places": []}
        return made

    def values(self, trace: Any = None, capacities: Sequence[Sequence[int]] = ()) -> list[Any]:
        """The values of the inputs, of what was found so far; there is room for the choices of a trace.

        Args:
            capacities: of each template for which indices there is to be room.

        Raises:
            NotClosed: a text can't have them.
        """
        every: dict[int, walk.Found] = {template.number: {} for template in self.templates}
        roots, moments = [1.0], [(0.0,) * len(MOMENTS)]
        self.places = []

        def add(template: Template, indices: tuple[int, ...], size: int, masses: Any, known: Any) -> None:
            start, several = len(roots), max(size, 1)
            every[template.number][walk.sized(template, indices, size)] = start
            self.places.append(_Place(template, indices, size, start))
            each = np.zeros(several) if masses is None else np.broadcast_to(masses, several)
            roots.extend(np.where(each > 0.0, np.sqrt(each), 1.0).tolist())
            columns = [np.zeros(several)] * 3 if known is None else known
            wide = [np.broadcast_to(column, several).tolist() for column in (*columns, each)]
            moments.extend(zip(*wide, strict=True))

        addresses = Addresses(self.lowered)
        for path, sizes in ({} if trace is None else self.one.found.entries(trace)).items():
            for template, indices in addresses.find_all(path):
                if template.number not in every:
                    continue
                for size, (masses, known) in sizes.items():
                    if isinstance(template.type, Array):
                        add(template, indices, size, masses, known)
                    elif size == 1:
                        add(template, indices, 0, masses, known)
        for template in self.templates if capacities else ():
            found = every[template.number]
            several = sorted({place[-1] for place in found}) if isinstance(template.type, Array) else [0]
            for size in several:
                for indices in _all_indices(capacities[template.number]):
                    if walk.sized(template, indices, size) not in found:
                        add(template, indices, size, None, None)
        given: list[Any] = [roots, moments, list(self.one.found.numbers), list(self.one.found.windows)]

        def also(value: Any) -> Expr:
            given.append(value)
            return ZERO

        for template in self.templates:
            walk.slots_of(template, every[template.number], False, also)
        return given

    def tell(self, kept: Sequence[np.ndarray]) -> None:
        """Tell the warm-up what a text has found, in the lists of `KEPT`, as arrays of floats."""
        _, moments, numbers = kept
        self.one.found.numbers[:] = numbers.tolist()
        rows, paths = moments.reshape(-1, len(MOMENTS)), Paths(self.lowered, {})
        found: dict[Path, dict[int, tuple[Any, Any]]] = {}
        for place in self.places:
            own = rows[place.start : place.start + max(place.size, 1)].copy()
            values, mass = float(own[0, 0]), float(own[0, 3])
            if not values and not mass:
                continue
            path = paths.path(place.template, place.indices)
            mean, squares, masses = (own[:, at] if place.size else own[0, at] for at in (1, 2, 3))
            known = (values, mean, squares) if values else None
            found.setdefault(path, {})[len(own)] = (masses if mass else None), known
        self.one.found.restart(found)


def _all_indices(capacity: Sequence[int]) -> Iterable[tuple[int, ...]]:
    if math.prod(capacity) > walk.MOST_ROOTS:
        return ()
    return np.ndindex(*capacity)


def memory_of(
    number: int, one: Warming, lowering: Lowering, lowered: Lowered, selected: Walked
) -> tuple[Memory, dict[str, Expr]]:
    """The memory of a step, which has a number, and its lists as new inputs of the text.

    The slots of what is selected are among these.
    """
    templates = selected.templates(lowered)
    walk.check_slots(templates)
    *kept, numbers = lists_of(lowering, number)
    site = lowering.facts.site(("adapted", number, "slots"))
    lowering.facts.grow_item(site, Number("i"))
    kinds: list[Type] = [*kept, numbers, numbers]
    for template in templates:
        lengths = [Number("i")] * (template.rank + isinstance(template.type, Array))
        kinds += [*lengths, List(lowering.facts.find(site))]
    first, key = len(lowered.inputs), f"walk{number}"
    lowered.inputs.extend((ArgumentsOf(key, position), kind) for position, kind in enumerate(kinds))
    given = [hir.Input(first + at, 0, leaves(kind)[0]) for at, kind in enumerate(kinds)]
    lists: dict[str, Expr] = dict(zip((*KEPT, "windows"), given, strict=False))
    rest = iter(given[len(lists) :])
    selected.slots = {
        template.number: walk.slots_of(template, {}, False, lambda _: next(rest)) for template in templates
    }
    return Memory(one, lowered, selected, first), lists
