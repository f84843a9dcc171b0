"""The Metropolis-adjusted Langevin algorithm: a random walk that drifts uphill."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
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
from gendsl.inference.trajectory import ABSENT, first_ratio, probability
from gendsl.runtime.trace import ReferenceTrace, check_start

_TARGET = 0.574  # Roberts and Rosenthal 1998


@dataclass(frozen=True, slots=True)
class MALAInfo:
    """What happened in one Langevin step.

    Attributes:
        accepted: whether the proposal was accepted.
        log_accept_ratio: the log of the acceptance ratio, before it is cut off at 0.
        reason: why the proposal was rejected without a draw, or None.
        accept_probability: min(1, exp(log_accept_ratio)); None if there was nothing to move.
        log_aux_ratio: the term of log_accept_ratio that is the proposal's, log q(u | u') - log q(u' | u).
    """

    accepted: bool
    log_accept_ratio: float
    reason: str | None = None
    accept_probability: float | None = 0.0
    log_aux_ratio: float = 0.0


@kernel_maker
def mala(
    selection: Any = CONTINUOUS,
    step_size: float | None = None,
    mass: Mass = None,
    *,
    skip_absent: bool = False,
    name: str | None = None,
) -> TunableKernel:
    """Langevin steps on selected continuous choices, in unconstrained coordinates.

    With e the step size and M the mass matrix, a step proposes

        u' = u + e^2 / 2 M^-1 grad log pi(u) + e M^-1/2 z,  z ~ N(0, 1),

    and accepts with probability min(1, pi(u') q(u | u') / (pi(u) q(u' | u))), q the density of such a
    proposal. (Roberts and Tweedie 1996, "Exponential convergence of Langevin distributions".)

    Args:
        selection: the choices, a selection or an address; all continuous. Nothing else is moved. If not
            given, all continuous choices that aren't observed.
        step_size: e. If not given it is found in warm-up, with the mass if that isn't given.
        mass: as for `hmc`.
        skip_absent: leave out selected addresses that the current trace doesn't have.
        name: the name under which its acceptance is counted.

    Raises:
        KernelError: an argument is none of these.
    """
    selection = as_target(selection, "mala")

    def step(
        trace: ReferenceTrace, rng: np.random.Generator, tuning: Tuning
    ) -> tuple[ReferenceTrace, MALAInfo]:
        check_start(trace)
        coordinates = Coordinates(trace, selection, skip_absent=skip_absent)
        if not coordinates.dim or coordinates.border is not None:
            accept(-inf, rng)
            return trace, MALAInfo(False, -inf, coordinates.border or ABSENT, None)
        metric = metric_at(tuning.mass, coordinates)
        size = tuning.step_size
        assert size is not None
        here = coordinates.start()
        noise = rng.standard_normal(coordinates.dim)
        there = coordinates.point(drifted(here, metric, size) + size * metric.spread(noise))
        if there.log_density == -inf:
            accept(-inf, rng)
            return trace, MALAInfo(False, -inf, there.reason)
        back = backward_noise(here, there, metric, size)
        aux = 0.5 * float(noise.dot(noise) - back.dot(back))
        ratio = there.log_density - here.log_density + aux
        if ratio != ratio:
            ratio = -inf
        if not accept(ratio, rng):
            return trace, MALAInfo(False, ratio, None, probability(ratio), aux)
        try:
            return coordinates.trace_at(there.values), MALAInfo(True, ratio, None, probability(ratio), aux)
        except OutsideError as error:
            return trace, MALAInfo(False, ratio, str(error), probability(ratio), aux)

    method = Method(
        step, selection, skip_absent, _TARGET,
        lambda trace, rng, tuning: first_ratio(trace, selection, skip_absent, rng, tuning),
    )  # fmt: skip
    return TunableKernel.make(
        method, gradient_tuning(step_size, mass, "mala", selection), name or f"mala {selection!r}", True
    )


def drifted(point: Point, metric: Metric, step_size: float) -> Vector:
    """The mean of the proposal from a point."""
    mean: Vector = point.position + 0.5 * step_size**2 * metric.velocity(point.gradient)
    return mean


def backward_noise(here: Point, there: Point, metric: Metric, step_size: float) -> Vector:
    """The z with which a step from `there` leads to `here`."""
    return metric.whiten(here.position - drifted(there, metric, step_size)) / step_size
