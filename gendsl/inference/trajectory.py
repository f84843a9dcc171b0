"""Hamiltonian trajectories, which Hamiltonian Monte Carlo and its relatives have in common.

The energy of a position u and a momentum p is H(u, p) = -log pi(u) + p' M^-1 p / 2. The leapfrog step
follows it approximately; it keeps volumes, and run backwards it leads back.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, isfinite
from typing import Any

import numpy as np

from gendsl.errors import KernelError
from gendsl.inference.adaptation import Tuning
from gendsl.inference.coordinates import Coordinates, Point, Vector
from gendsl.inference.metric import Metric, metric_at
from gendsl.runtime.trace import ReferenceTrace
from gendsl.selection import Selection

ABSENT = "the trace has none of the selected choices"
DIVERGED = 1000.0
"""An error of the energy from which on a trajectory counts as divergent, as in Stan."""


@dataclass(frozen=True, slots=True)
class State:
    """A point with a momentum."""

    point: Point
    momentum: Vector

    def energy(self, metric: Metric) -> float:
        """H(u, p); inf where the density is zero."""
        return metric.energy(self.momentum) - self.point.log_density


def leapfrog(coordinates: Coordinates, metric: Metric, state: State, step_size: float) -> State:
    """One step of the leapfrog integrator; a negative step size goes backwards in time.

        p_half = p + step_size / 2 grad(u),  u' = u + step_size M^-1 p_half,
        p' = p_half + step_size / 2 grad(u').

    (Neal 2011, section 2.3.)
    """
    half = state.momentum + 0.5 * step_size * state.point.gradient
    point = coordinates.point(state.point.position + step_size * metric.velocity(half))
    return State(point, half + 0.5 * step_size * point.gradient)


def first_ratio(
    trace: ReferenceTrace,
    selection: Selection,
    skip_absent: bool,
    rng: np.random.Generator,
    tuning: Tuning,
) -> float | None:
    """The log acceptance ratio of one leapfrog step from a trace; None if there is nothing to move."""
    coordinates = Coordinates(trace, selection, skip_absent=skip_absent)
    if not coordinates.dim or coordinates.border is not None:
        return None
    metric = metric_at(tuning.mass, coordinates)
    start = State(coordinates.start(), metric.draw(coordinates.dim, rng))
    assert tuning.step_size is not None
    end = leapfrog(coordinates, metric, start, tuning.step_size)
    ratio = start.energy(metric) - end.energy(metric)
    return ratio if ratio == ratio else -inf


def probability(log_ratio: float) -> float:
    """min(1, exp(log_ratio))."""
    return exp(min(log_ratio, 0.0))


def check_step_size(step_size: Any, user: str, what: str = "step_size") -> float:
    """A step size as a float.

    Raises:
        KernelError: it is no positive finite number.
    """
    number = isinstance(step_size, (int, float, np.integer, np.floating)) and not isinstance(step_size, bool)
    if not number or not (isfinite(step_size) and step_size > 0):
        raise KernelError(f"{user} got {what}={step_size!r}", fix=f"{what} must be a positive number")
    return float(step_size)


def check_count(count: Any, user: str, what: str) -> int:
    """A number of steps.

    Raises:
        KernelError: it is no positive whole number.
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise KernelError(f"{user} got {what}={count!r}", fix=f"{what} must be a whole number, 1 or more")
    return int(count)
