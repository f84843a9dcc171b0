"""Hamiltonian Monte Carlo with trajectories of a fixed number of steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from gendsl.inference.adaptation import Method, TunableKernel, Tuning
from gendsl.inference.continuous import CONTINUOUS
from gendsl.inference.coordinates import Coordinates, OutsideError
from gendsl.inference.kernel import accept
from gendsl.inference.metric import Mass, check_mass, metric_at
from gendsl.inference.scan import as_target
from gendsl.inference.structure import kernel_maker
from gendsl.inference.trajectory import (
    ABSENT,
    DIVERGED,
    State,
    check_count,
    check_step_size,
    first_ratio,
    leapfrog,
    probability,
)
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.selection import Selection

_TARGET = 0.8


@dataclass(frozen=True, slots=True)
class HMCInfo:
    """What happened in one step of Hamiltonian Monte Carlo.

    Attributes:
        accepted: whether the proposal was accepted.
        log_accept_ratio: H(u, p) - H(u', p'), before it is cut off at 0.
        reason: why the proposal was rejected without a draw, or None.
        accept_probability: min(1, exp(log_accept_ratio)); None if there was nothing to move.
        divergences: 1 if the trajectory left the support, couldn't be computed, or gained an energy of 1000.
        steps: how many leapfrog steps it had.
        log_aux_ratio: the term of log_accept_ratio that is the momentum's, p' M^-1 p / 2 before minus after.
    """

    accepted: bool
    log_accept_ratio: float
    reason: str | None = None
    accept_probability: float | None = 0.0
    divergences: int = 0
    steps: int = 0
    log_aux_ratio: float = 0.0


@kernel_maker
def hmc(
    selection: Any = CONTINUOUS,
    step_size: float | None = None,
    steps: int = 10,
    mass: Mass = None,
    *,
    skip_absent: bool = False,
    name: str | None = None,
) -> TunableKernel:
    """Hamiltonian Monte Carlo on selected continuous choices, in unconstrained coordinates.

    A momentum p is drawn from N(0, M); `steps` leapfrog steps lead from (u, p) to (u', p'), and u' is
    accepted with probability min(1, exp(H(u, p) - H(u', p'))), H(u, p) = -log pi(u) + p' M^-1 p / 2. (Duane
    et al. 1987; Neal 2011, "MCMC using Hamiltonian dynamics".)

    Args:
        selection: the choices, a selection or an address; all continuous. Nothing else is moved. If not
            given, all continuous choices that aren't observed.
        step_size: of a leapfrog step. If not given, it is found in warm-up, and so is the mass if that isn't
            given.
        steps: how many there are in a trajectory.
        mass: M: a vector (its diagonal) or a matrix, in unconstrained coordinates, or a dict from addresses
            to diagonal entries; the identity if not given.
        skip_absent: leave out selected addresses that the current trace doesn't have.
        name: the name under which its acceptance is counted.

    A trajectory keeps to the structure that the trace has: where it leads to other choices, it is rejected.

    Raises:
        KernelError: an argument is none of these.
    """
    selection = as_target(selection, "hmc")
    count = check_count(steps, "hmc", "steps")

    def step(
        trace: ReferenceTrace, rng: np.random.Generator, tuning: Tuning
    ) -> tuple[ReferenceTrace, HMCInfo]:
        check_start(trace)
        coordinates = Coordinates(trace, selection, skip_absent=skip_absent)
        if not coordinates.dim or coordinates.border is not None:
            accept(-inf, rng)
            return trace, HMCInfo(False, -inf, coordinates.border or ABSENT, None)
        metric = metric_at(tuning.mass, coordinates)
        start = State(coordinates.start(), metric.draw(coordinates.dim, rng))
        assert tuning.step_size is not None
        state = start
        for done in range(1, count + 1):
            state = leapfrog(coordinates, metric, state, tuning.step_size)
            if state.point.log_density == -inf:
                # the way back passes here too, so ending here treats both ways alike
                accept(-inf, rng)
                return trace, HMCInfo(False, -inf, state.point.reason, 0.0, 1, done)
        ratio = start.energy(metric) - state.energy(metric)
        if ratio != ratio:
            ratio = -inf
        diverged = int(ratio < -DIVERGED)
        kinetic = ratio - (state.point.log_density - start.point.log_density)
        rest = probability(ratio), diverged, count, kinetic
        if not accept(ratio, rng):
            return trace, HMCInfo(False, ratio, None, *rest)
        try:
            proposed = coordinates.trace_at(state.point.values)
        except OutsideError as error:
            return trace, HMCInfo(False, ratio, str(error), *rest)
        return proposed, HMCInfo(True, ratio, None, *rest)

    method = Method(
        step, selection, skip_absent, _TARGET,
        lambda trace, rng, tuning: first_ratio(trace, selection, skip_absent, rng, tuning),
    )  # fmt: skip
    tuning = gradient_tuning(step_size, mass, "hmc", selection)
    return TunableKernel.make(method, tuning, name or f"hmc {selection!r}", True)


def gradient_tuning(step_size: float | None, mass: Mass, user: str, selection: Selection) -> Tuning:
    """The tuning that a user gives."""
    checked = None if step_size is None else check_step_size(step_size, user)
    return Tuning(checked, check_mass(mass, user, selection), adapts_mass=mass is None)
