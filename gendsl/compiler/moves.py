"""What the compiler is given to make steps of; apart from it, as it takes long to import."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from gendsl.address import Path
from gendsl.selection import Formula, Selection, select

RUN, PICK, JUMP, REPEAT = range(4)
"""The instructions of a schedule: (RUN, kernel); (PICK, n, n bounds, n + 1 places), which goes on at the
place that a uniform number picks; (JUMP, place); and REPEAT, the end of a sweep.
"""

TIE = 1e-9
"""How near a number may be to the one that it is compared with, where that decides a step, relative to what
both were computed from; where it is nearer, the reference interpreter decides.
"""
KEPT = ("roots", "moments", "numbers")
"""The lists that the text of a warm-up changes."""
LOWEST = -1e300
"""The log acceptance ratio down to which sums of them stay finite; less counts as a density of zero."""


@dataclass(frozen=True)
class Involution:
    """An involutive move.

    Attributes:
        name: what to call its step.
        q, q_args: the auxiliary program, called as `q(trace, *q_args)`; None if there is none.
        maps: the transform; or two, inverse to each other, of which a step takes either.
        check: whether each step finds out that the way back leads to where it came from.
    """

    name: str
    q: Any
    q_args: tuple[Any, ...]
    maps: tuple[Any, ...]
    check: bool = False


@dataclass(frozen=True)
class Proposing:
    """A move that proposes new values of the model's choices, at the addresses at which a program draws them.

    Attributes:
        name: what to call its step.
        q, q_args: the program, called as `q(trace, *q_args)`, or as `q(*q_args)`.
        sees_trace: whether it is given the trace.
        power: of the likelihood of the observations, in the target.
    """

    name: str
    q: Any
    q_args: tuple[Any, ...]
    sees_trace: bool = True
    power: float = 1.0


@dataclass(frozen=True)
class Wanted:
    """Which choices a move is for.

    Attributes:
        formula: what the address of a choice must be; see `gendsl.selection.Formula`.
        reach: patterns below which all of them are, in the order in which moves go through these.
    """

    formula: Formula
    reach: tuple[Path, ...]

    @classmethod
    def of(cls, selection: Selection) -> Self | None:
        """What a selection says; None if it is of a class of the user's."""
        formula = selection.formula()
        return None if formula is None else cls(formula, selection.reach())

    @classmethod
    def beginning(cls, patterns: Sequence[Path]) -> Self:
        """The choices whose addresses begin with one of some patterns."""
        return cls(("begins", tuple(patterns)), tuple(patterns))

    @property
    def prefixes(self) -> list[Path]:
        """What addresses begin with, in the order in which moves go through them."""
        return [one[: one.index(...)] if ... in one else one for one in self.reach]

    @property
    def selection(self) -> Selection:
        """The selection that says so."""
        return _selection_of(self.formula)


def _selection_of(formula: Formula) -> Selection:
    word, parts = formula
    if word == "begins":
        return select(*parts)
    if word == "not":
        return ~_selection_of(parts)
    every = list(map(_selection_of, parts))
    return functools.reduce(operator.or_ if word == "any" else operator.and_, every)


@dataclass(frozen=True)
class Resampling:
    """A move that draws selected choices anew from the prior, given what comes before them.

    Attributes:
        name: what to call its step.
        wanted: which choices are selected.
        skip_absent: whether addresses that the trace doesn't have are left out.
        picks: whether it is one of them, picked at random.
        power: of the likelihood of the observations, in the target.
    """

    name: str
    wanted: Wanted
    skip_absent: bool = False
    picks: bool = False
    power: float = 1.0
    q: None = None
    q_args: tuple[()] = ()


@dataclass(frozen=True, eq=False)
class Updating:
    """A move that updates selected choices, each given all others.

    Attributes:
        name: what to call its step.
        wanted: which choices are selected.
        update: what updates a choice, called with a line, a generator and the constants (see
            `gendsl.inference.lines`).
        constants: its other arguments, by name.
        scan: "systematic" where every choice is updated in turn, "random" where one is picked.
        skip_absent: whether addresses that the trace doesn't have are left out.
    """

    name: str
    wanted: Wanted
    update: Callable[..., Any]
    constants: Mapping[str, Any]
    scan: str
    skip_absent: bool


@dataclass(frozen=True, eq=False)
class Rotating:
    """A move that updates selected choices, which are normal, together along an ellipse, given all others.

    Attributes:
        name: what to call its step.
        wanted: which choices are selected.
        update: what moves along the ellipse, called with it and a generator (see
            `gendsl.inference.ellipses`).
        skip_absent: whether addresses that the trace doesn't have are left out.
    """

    name: str
    wanted: Wanted
    update: Callable[..., Any]
    skip_absent: bool


@dataclass(frozen=True, eq=False)
class Blocking:
    """A move that updates selected choices, which are discrete, all at once, given all others.

    Attributes:
        name: what to call its step.
        wanted: which choices are selected.
        update: what updates them, called with a block and a generator (see `gendsl.inference.blocks`).
        values: what gives the values of one of them, called with its line.
        skip_absent: whether addresses that the trace doesn't have are left out.
    """

    name: str
    wanted: Wanted
    update: Callable[..., Any]
    values: Callable[..., Any]
    skip_absent: bool


@dataclass(frozen=True, eq=False)
class Masses:
    """The square roots of the masses of choices.

    Attributes:
        roots: by address and number of coordinates; by None a number for each.
        is_whole: whether it is an error that a choice has another number of coordinates, and not 1 for each.
    """

    roots: Mapping[tuple[Any, ...], Mapping[Any, Any]]
    is_whole: bool


@dataclass(frozen=True, eq=False)
class Walk:
    """A random walk of selected choices, all together, in unconstrained coordinates.

    Attributes:
        name: what to call its step.
        wanted: which choices are selected; None where all continuous ones move that are not observed.
        skip_absent: whether addresses that the trace doesn't have are left out.
        step_size: how far it goes.
        mass: the roots of the masses, 1 if it is None; as a vector, in the order of the coordinates. A matrix
            is what a normal vector is multiplied by in place of being divided by these.
    """

    name: str
    wanted: Wanted | None
    skip_absent: bool
    step_size: float
    mass: Any = None
    q: None = None
    q_args: tuple[()] = ()

    @property
    def layout(self) -> Any:
        """All but the values that its text is given."""
        by_address = isinstance(self.mass, Masses) and (self.mass.is_whole,)
        return self.name, self.wanted, self.skip_absent, self.mass is None, by_address or np.ndim(self.mass)


@dataclass(frozen=True)
class Rule:
    """By what warm-up adapts a kernel; see `gendsl.inference.warmup_rules`.

    Attributes:
        before, after: what is done before and after a step.
        taken_in: the moments of values with one more.
        inverse_variance: what is found of them.
        least: of how many values at least.
        step_size: which number of the rule is the step size.
    """

    before: Callable[..., None]
    after: Callable[..., None]
    taken_in: Callable[..., Any]
    inverse_variance: Callable[..., Any]
    least: float
    step_size: int


Entries = Mapping[Path, Mapping[int, tuple[Any, Any]]]
"""What warm-up knows, by the address of a choice and how many coordinates it has: their masses, None if none
were found; and the number of values that were taken in since, their means and the sums of squared differences
from these, None if there were none.
"""


class Found(Protocol):
    """What a warm-up has found so far.

    Attributes:
        numbers: those of the rule, which change.
        windows: when it takes in coordinates, and when it takes over masses.
    """

    numbers: list[float]
    windows: list[float]

    def entries(self, trace: Any) -> Entries:
        """What is known of the choices whose coordinates may be taken in, those of a trace among them."""

    def restart(self, found: Entries) -> None:
        """Take over what is known, which machine code has found."""


@dataclass(frozen=True, eq=False)
class Warming:
    """A random walk whose step size and masses are found meanwhile.

    Attributes:
        name: what to call its step.
        walk: how it moves; the step size and the masses that this has are not used.
        rule: by what they are found.
        found: what was found so far.
    """

    name: str
    walk: Walk
    rule: Rule
    found: Found


@dataclass(frozen=True)
class Several:
    """Several moves in one step: all, one after the other; or one, picked with fixed probabilities.

    Attributes:
        name: what to call its step.
        parts: what the moves are.
        times: how often all are made.
        bounds: where one is picked: the numbers between 0 and 1 that its probabilities end at, but the last.
    """

    name: str
    parts: tuple[Step, ...]
    times: int = 1
    bounds: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Picked:
    """A move that is picked among some with probabilities that depend on the state.

    Attributes:
        name: what to call its step.
        parts: what the moves are.
        weights: the function of the trace that returns the probabilities, up to a factor.
    """

    name: str
    parts: tuple[Step, ...]
    weights: Callable[[Any], Sequence[float]]


@dataclass(frozen=True, eq=False)
class Transition:
    """A tempered transition: moves of targets, up to one that is easy to move in and down again.

    Attributes:
        name: what to call its step.
        parts: what the moves are, of the target that is next to the posterior first.
        powers: of the likelihood in the targets, that of the posterior first; None if they differ by
            arguments.
        args: the arguments of the model for each target.
    """

    name: str
    parts: tuple[Step, ...]
    powers: tuple[float, ...] | None
    args: tuple[tuple[Any, ...], ...] = ()


Move = Involution | Proposing | Resampling | Walk
"""What a simple kernel does in a step."""
Step = Move | Warming | Updating | Rotating | Blocking | Several | Picked | Transition
"""What a kernel does in a step."""


def given_trace(one: Move) -> tuple[None, ...]:
    """What stands for the trace that an auxiliary program is given."""
    return () if isinstance(one, Proposing) and not one.sees_trace else (None,)


def are_alike(one: Step, other: Step) -> bool:
    """Whether two steps, but for those that they are made of, have the same text, of other values."""
    if type(one) is not type(other):
        return False
    match one, other:
        case Walk(), Walk():
            return bool(one.layout == other.layout)
        case Warming(), Warming():
            return bool(one.walk.layout == other.walk.layout) and one.rule is other.rule
        case Several(), Several():
            return (one.name, one.times, one.bounds) == (other.name, other.times, other.bounds)
        case Picked(), Picked():
            return one.name == other.name and one.weights is other.weights
        case Transition(), Transition():
            return (one.name, one.powers) == (other.name, other.powers) and one.args is other.args
    return one is other


def all_within(step: Step | None) -> Iterator[Step]:
    """A step, and before it all that it is made of; of None nothing."""
    if step is None:
        return
    if isinstance(step, (Several, Picked, Transition)):
        for part in step.parts:
            yield from all_within(part)
    yield step
