"""The No-U-Turn sampler: Hamiltonian trajectories that are doubled until they turn back.

A trajectory grows by doubling, forwards or backwards in time by a coin. The next state is drawn from all
its states, each with weight exp(-H). It ends where it, or a part that a doubling could have begun with, turns
back: with rho the sum of its momenta and v = M^-1 p the velocity at either end, where v . rho <= 0. (Hoffman
and Gelman 2014, "The No-U-Turn sampler"; with the multinomial weights and the criterion of Betancourt 2017,
"A conceptual introduction to Hamiltonian Monte Carlo", appendix A.)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, inf, isfinite, log
from typing import Any

import numpy as np

from gendsl.inference.adaptation import Method, TunableKernel, Tuning
from gendsl.inference.continuous import CONTINUOUS
from gendsl.inference.coordinates import Coordinates, OutsideError, Point, Vector
from gendsl.inference.hmc import gradient_tuning
from gendsl.inference.kernel import accept
from gendsl.inference.metric import Mass, Metric, metric_at
from gendsl.inference.scan import as_target
from gendsl.inference.structure import kernel_maker
from gendsl.inference.trajectory import (
    ABSENT,
    DIVERGED,
    State,
    check_count,
    first_ratio,
    leapfrog,
    probability,
)
from gendsl.runtime.trace import ReferenceTrace, check_start

_TARGET = 0.8


@dataclass(frozen=True, slots=True)
class NUTSInfo:
    """What happened in one step of the No-U-Turn sampler.

    Attributes:
        accepted: whether the next state is another than the last.
        accept_probability: the mean of min(1, exp(H(start) - H)) over the states of the trajectory other than
            the start; None if there was nothing to move.
        divergences: 1 if the trajectory left the support, couldn't be computed, or gained an energy of 1000.
        depth: how often it was doubled.
        steps: how many leapfrog steps it had.
        reason: why it diverged or nothing was moved, or None.
    """

    accepted: bool
    accept_probability: float | None
    divergences: int = 0
    depth: int = 0
    steps: int = 0
    reason: str | None = None


@kernel_maker
def nuts(
    selection: Any = CONTINUOUS,
    step_size: float | None = None,
    mass: Mass = None,
    max_depth: int = 10,
    *,
    skip_absent: bool = False,
    name: str | None = None,
) -> TunableKernel:
    """The No-U-Turn sampler on selected continuous choices, in unconstrained coordinates.

    Args:
        selection: the choices, a selection or an address; all continuous. Nothing else is moved. If not
            given, all continuous choices that aren't observed.
        step_size: of a leapfrog step. If not given, it is found in warm-up, and so is the mass if that isn't
            given.
        mass: the mass matrix, as for `hmc`.
        max_depth: how often a trajectory is doubled at most.
        skip_absent: leave out selected addresses that the current trace doesn't have.
        name: the name under which its acceptance is counted.

    A trajectory keeps to the structure that the trace has: it ends where it leads to other choices.

    Raises:
        KernelError: an argument is none of these.
    """
    selection = as_target(selection, "nuts")
    depth = check_count(max_depth, "nuts", "max_depth")

    def step(
        trace: ReferenceTrace, rng: np.random.Generator, tuning: Tuning
    ) -> tuple[ReferenceTrace, NUTSInfo]:
        check_start(trace)
        coordinates = Coordinates(trace, selection, skip_absent=skip_absent)
        if not coordinates.dim or coordinates.border is not None:
            return trace, NUTSInfo(False, None, reason=coordinates.border or ABSENT)
        metric = metric_at(tuning.mass, coordinates)
        assert tuning.step_size is not None
        start = State(coordinates.start(), metric.draw(coordinates.dim, rng))
        growth = Growth(coordinates, metric, tuning.step_size, start.energy(metric), rng)
        chosen, doublings = grow(growth, start, depth)
        mean = growth.probabilities / growth.steps if growth.steps else 0.0
        info = NUTSInfo(
            chosen is not start.point, mean, int(growth.diverged), doublings, growth.steps, growth.reason
        )
        if chosen is start.point:
            return trace, info
        try:
            return coordinates.trace_at(chosen.values), info
        except OutsideError as error:
            return trace, NUTSInfo(False, mean, info.divergences, doublings, growth.steps, str(error))

    method = Method(
        step, selection, skip_absent, _TARGET,
        lambda trace, rng, tuning: first_ratio(trace, selection, skip_absent, rng, tuning),
    )  # fmt: skip
    return TunableKernel.make(
        method, gradient_tuning(step_size, mass, "nuts", selection), name or f"nuts {selection!r}", None
    )


@dataclass(slots=True)
class Growth:
    """What a growing trajectory needs and finds out."""

    coordinates: Coordinates
    metric: Metric
    step_size: float
    energy: float
    rng: np.random.Generator
    probabilities: float = 0.0
    steps: int = 0
    diverged: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Tree:
    """A part of a trajectory: 2^depth states that follow each other.

    Attributes:
        near, far: its first and last state, in the direction that it was grown in.
        momentum: the sum of all momenta.
        log_weight: log of the sum of all weights exp(H(start) - H).
        chosen: one of its points, drawn by these weights.
    """

    near: State
    far: State
    momentum: Vector
    log_weight: float
    chosen: Point
    near_velocity: Vector = field(repr=False)
    far_velocity: Vector = field(repr=False)


def grow(growth: Growth, start: State, max_depth: int) -> tuple[Point, int]:
    """The point drawn from a trajectory through a state, and how often that was doubled."""
    velocity = growth.metric.velocity(start.momentum)
    tree = Tree(start, start, start.momentum, 0.0, start.point, velocity, velocity)  # far is later in time
    for depth in range(max_depth):
        forwards = growth.rng.random() < 0.5
        if not forwards:
            tree = reverse(tree)
        added = build(growth, tree.far, depth, 1.0 if forwards else -1.0)
        if added is None:
            return tree.chosen, depth
        # the new half is favoured, which leaves the distribution over the trajectory invariant too
        chosen = added.chosen if accept(added.log_weight - tree.log_weight, growth.rng) else tree.chosen
        whole = joined(tree, added, chosen)
        if turns(growth, tree, added, whole):
            return chosen, depth + 1
        tree = whole if forwards else reverse(whole)
    return tree.chosen, max_depth


def build(growth: Growth, edge: State, depth: int, direction: float) -> Tree | None:
    """The 2^depth states after `edge`; None if they, or a half of them, and so on, turn back or diverge."""
    if depth == 0:
        return _leaf(growth, edge, direction)
    first = build(growth, edge, depth - 1, direction)
    if first is None:
        return None
    second = build(growth, first.far, depth - 1, direction)
    if second is None:
        return None
    log_weight = log_sum(first.log_weight, second.log_weight)
    chosen = second.chosen if accept(second.log_weight - log_weight, growth.rng) else first.chosen
    whole = joined(first, second, chosen)
    return None if turns(growth, first, second, whole) else whole


def _leaf(growth: Growth, edge: State, direction: float) -> Tree | None:
    state = leapfrog(growth.coordinates, growth.metric, edge, direction * growth.step_size)
    ratio = growth.energy - state.energy(growth.metric)
    growth.steps += 1
    if not isfinite(ratio) or ratio < -DIVERGED:
        growth.diverged = True
        growth.reason = state.point.reason or "the energy diverges"
        return None
    growth.probabilities += probability(ratio)
    velocity = growth.metric.velocity(state.momentum)
    return Tree(state, state, state.momentum, ratio, state.point, velocity, velocity)


def joined(first: Tree, second: Tree, chosen: Point) -> Tree:
    """Two parts of which the second follows the first, as one."""
    return Tree(
        first.near, second.far, first.momentum + second.momentum,
        log_sum(first.log_weight, second.log_weight), chosen, first.near_velocity, second.far_velocity,
    )  # fmt: skip


def reverse(tree: Tree) -> Tree:
    """The same states in the other order."""
    return Tree(
        tree.far, tree.near, tree.momentum, tree.log_weight, tree.chosen, tree.far_velocity,
        tree.near_velocity,
    )  # fmt: skip


def turns(growth: Growth, first: Tree, second: Tree, whole: Tree) -> bool:
    """Whether the whole turns back, or either half with the state of the other that is next to it."""
    return (
        _turns(whole.momentum, whole.near_velocity, whole.far_velocity)
        or _turns(first.momentum + second.near.momentum, first.near_velocity, second.near_velocity)
        or _turns(second.momentum + first.far.momentum, first.far_velocity, second.far_velocity)
    )


def _turns(momentum: Vector, near: Vector, far: Vector) -> bool:
    return bool(near.dot(momentum) <= 0.0 or far.dot(momentum) <= 0.0)


def log_sum(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    high, low = (a, b) if a > b else (b, a)
    return high if low == -inf else high + log(1.0 + exp(low - high))


