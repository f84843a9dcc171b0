"""Random walk: Metropolis-Hastings with Gaussian steps in unconstrained coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf
from typing import Any, ClassVar

import numpy as np

from gendsl.address import Path
from gendsl.compiler.moves import Masses, Walk, Wanted
from gendsl.errors import KernelError
from gendsl.inference.adaptation import Method, TunableKernel, Tuning
from gendsl.inference.continuous import CONTINUOUS
from gendsl.inference.coordinates import Coordinates, OutsideError
from gendsl.inference.infos import Told
from gendsl.inference.kernel import accept
from gendsl.inference.metric import DenseMetric, FoundMass, by_size, check_mass, metric_at
from gendsl.inference.proposal import Proposal
from gendsl.inference.scan import as_target
from gendsl.inference.structure import kernel_maker
from gendsl.inference.trajectory import ABSENT, check_step_size
from gendsl.runtime.trace import ReferenceTrace, check_start
from gendsl.selection import Selection

_TARGET = 0.3
"""The best acceptance rate is 0.44 in one dimension and 0.234 in many (Roberts and Rosenthal 2001); this is
near enough to both."""


@dataclass(frozen=True, slots=True)
class RandomWalkInfo:
    """What happened in one step of a random walk.

    Attributes:
        accepted: whether the proposal was accepted.
        log_accept_ratio: the log of the acceptance ratio, before it is cut off at 0.
        reason: why the proposal was rejected without a draw, or None.
        accept_probability: min(1, exp(log_accept_ratio)); None if there was nothing to move.
        log_aux_ratio: 0: the proposal is symmetric, so that all of log_accept_ratio is the model's.
    """

    accepted: bool
    log_accept_ratio: float
    reason: str | None = None
    accept_probability: float | None = 0.0
    log_aux_ratio: ClassVar[float] = 0.0


@kernel_maker
def random_walk(
    selection: Any = CONTINUOUS, scale: Any = None, *, skip_absent: bool = False, name: str | None = None
) -> TunableKernel:
    """A random walk on selected continuous choices, whatever their supports.

    With u the choices in unconstrained coordinates, a step proposes u' = u + s z for a standard normal z and
    accepts with probability min(1, pi(u') / pi(u)), where pi is the posterior density of u: that of the
    choices times the Jacobian of the charts (see `gendsl.inference.coordinates`). It costs what the selected
    choices influence.

    Args:
        selection: the choices that are moved together, a selection or an address; all continuous. If not
            given, all continuous choices that aren't observed.
        scale: s: a number; a vector with one number per unconstrained coordinate; a covariance matrix of s z;
            or a dict from addresses to numbers or vectors (1 for what it leaves out). If not given it is
            found in warm-up.
        skip_absent: leave out selected addresses that the current trace doesn't have.
        name: the name under which its acceptance is counted.

    Raises:
        KernelError: the scale is none of these.
    """
    selection = as_target(selection, "random_walk")

    def step(
        trace: ReferenceTrace, rng: np.random.Generator, tuning: Tuning
    ) -> tuple[ReferenceTrace, RandomWalkInfo]:
        check_start(trace)
        coordinates = Coordinates(trace, selection, skip_absent=skip_absent)
        if not coordinates.dim or coordinates.border is not None:
            accept(-inf, rng)
            reason = ABSENT if not coordinates.dim else coordinates.border
            return trace, RandomWalkInfo(False, -inf, reason, None)
        try:
            proposal = _propose(coordinates, rng, tuning)
        except OutsideError as error:
            accept(-inf, rng)
            return trace, RandomWalkInfo(False, -inf, str(error))
        ratio = proposal.log_weight
        accepted = accept(ratio, rng)
        info = RandomWalkInfo(accepted, ratio, None, exp(min(ratio, 0.0)))
        return proposal.trace() if accepted else trace, info

    def first(trace: ReferenceTrace, rng: np.random.Generator, tuning: Tuning) -> float | None:
        coordinates = Coordinates(trace, selection, skip_absent=skip_absent)
        if not coordinates.dim or coordinates.border is not None:
            return None
        try:
            return _propose(coordinates, rng, tuning).log_weight
        except OutsideError:
            return -inf

    wanted = None if selection is CONTINUOUS else Wanted.of(selection)

    def move(name: str, tuning: Tuning) -> Walk | None:
        assert tuning.step_size is not None
        try:
            return Walk(name, wanted, skip_absent, tuning.step_size, _roots(tuning.mass))
        except np.linalg.LinAlgError:  # as a step raises
            return None

    known = selection is CONTINUOUS or wanted is not None
    method = Method(step, selection, skip_absent, _TARGET, first, move if known else None, _told)
    return TunableKernel.make(method, _tuning(scale, selection), name or f"random walk {selection!r}", True)


def _told(step: Told) -> RandomWalkInfo:
    return RandomWalkInfo(step.accepted, step.log_ratio, step.reason, exp(min(step.log_ratio, 0.0)))


def _propose(coordinates: Coordinates, rng: np.random.Generator, tuning: Tuning) -> Proposal:
    """The trace at u', with the weight log pi(u') - log pi(u)."""
    metric = metric_at(tuning.mass, coordinates)
    noise = metric.spread(rng.standard_normal(coordinates.dim))
    assert tuning.step_size is not None
    return coordinates.propose(coordinates.position + tuning.step_size * noise)


def _roots(mass: Any) -> Any:
    """The square roots of a mass, as `gendsl.compiler.moves.Walk` has them."""
    if mass is None:
        return None
    found: dict[Path, Mapping[Any, Any]]
    if isinstance(mass, FoundMass):
        found = {path: by_size(entries) for path, entries in mass.items()}
    elif isinstance(mass, dict):
        found = {path: {np.size(one) if np.ndim(one) else None: one} for path, one in mass.items()}
    elif mass.ndim == 1:
        return np.sqrt(mass)
    else:
        return DenseMetric(mass).spread(np.eye(len(mass)))
    roots = {path: {size: np.sqrt(one) for size, one in sizes.items()} for path, sizes in found.items()}
    return Masses(roots, not isinstance(mass, FoundMass))


def _tuning(scale: Any, selection: Selection) -> Tuning:
    if scale is None:
        return Tuning(None)
    if isinstance(scale, Mapping):
        scales = check_mass(scale, "random_walk", selection)
        return Tuning(1.0, {path: entry**-2.0 for path, entry in scales.items()}, adapts_mass=False)
    if np.ndim(scale) == 0:
        return Tuning(check_step_size(scale, "random_walk", "scale"), adapts_mass=False)
    try:
        checked = check_mass(scale, "random_walk", selection)
    except KernelError:
        raise KernelError(
            f"random_walk got scale={scale!r}",
            fix="give a positive number, a vector of them, a covariance matrix, or a dict from addresses to "
            "numbers",
        ) from None
    return Tuning(1.0, checked**-2.0 if checked.ndim == 1 else np.linalg.inv(checked), adapts_mass=False)
