"""How often each kernel ran, was accepted and failed a check, how long it took, and why it was rejected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from gendsl.compiler.moves import LOWEST
from gendsl.inference.infos import ComposedInfo, PickedInfo

_REASONS = 20
"""How many different reasons are counted by themselves."""

OTHER = "other reasons"
_ZERO = "the density there is zero"


@dataclass(slots=True)
class Tally:
    """How often a kernel ran, was accepted, and failed a check; how long it took; why it was rejected.

    Attributes:
        proposed: how often it ran.
        accepted: how often its proposal was accepted.
        failed_checks: how often a check failed and the proposal was rejected for it.
        seconds: how long it ran, in all; 0 if a kernel of the user's that composes others didn't say.
        divergences: how many trajectories of `hmc` or `nuts` diverged; then regions of high curvature may be
            missing from the draws.
        weighed: how many rejected proposals had a finite log acceptance ratio; the sums are over these.
        log_ratio: the sum of their log acceptance ratios.
        log_aux: the sum of the terms of the densities of proposals and auxiliary choices, back and there.
        log_abs_det: the sum of the terms log |det J|.
        log_untold: the sum of the ratios whose terms the kernel doesn't tell.
        reasons: how many of the other rejected proposals there were, by the reason.
    """

    proposed: int = 0
    accepted: int = 0
    failed_checks: int = 0
    seconds: float = 0.0
    divergences: int = 0
    weighed: int = 0
    log_ratio: float = 0.0
    log_aux: float = 0.0
    log_abs_det: float = 0.0
    log_untold: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """The share of proposals that were accepted; NaN if there were none."""
        return self.accepted / self.proposed if self.proposed else nan

    @property
    def rejected_terms(self) -> RejectedTerms | None:
        """The log acceptance ratio and its terms, averaged over rejected proposals; None if there were none.

        They are those whose ratio is finite; `reasons` has the others.
        """
        n = self.weighed
        if not n:
            return None
        model = self.log_ratio - self.log_aux - self.log_abs_det - self.log_untold
        return RejectedTerms(self.log_ratio / n, model / n, self.log_aux / n, self.log_abs_det / n)

    def because(self, reason: str, times: int = 1) -> None:
        """Count a proposal that was rejected for some reason."""
        if reason not in self.reasons and len(self.reasons) >= _REASONS:
            reason = OTHER
        self.reasons[reason] = self.reasons.get(reason, 0) + times

    def __add__(self, other: Tally) -> Tally:
        summed = Tally(
            self.proposed + other.proposed,
            self.accepted + other.accepted,
            self.failed_checks + other.failed_checks,
            self.seconds + other.seconds,
            self.divergences + other.divergences,
            self.weighed + other.weighed,
            self.log_ratio + other.log_ratio,
            self.log_aux + other.log_aux,
            self.log_abs_det + other.log_abs_det,
            self.log_untold + other.log_untold,
            dict(self.reasons),
        )
        for reason, times in other.reasons.items():
            summed.because(reason, times)
        return summed


class RejectedTerms(NamedTuple):
    """The terms of the log acceptance ratio, on average over rejected proposals.

    log_ratio = log_model + log_aux + log_abs_det; where a kernel doesn't tell the terms they are 0.

    Attributes:
        log_ratio: the log acceptance ratio.
        log_model: log p(x') - log p(x); of a proposal from the prior, that of the choices that it keeps.
        log_aux: what the densities of the proposal and of auxiliary choices contribute, back and there.
        log_abs_det: log |det J|.
    """

    log_ratio: float
    log_model: float
    log_aux: float
    log_abs_det: float


Tallies = dict[str, Tally]


def count(tallies: Tallies, name: str, info: Any, seconds: float) -> None:
    """Add one step of a kernel: of a composed one, each of its parts."""
    kind = type(info)
    if kind is ComposedInfo:
        times = info.seconds or (0.0,) * len(info.parts)
        for (part, inner), time in zip(info.parts, times, strict=True):
            count(tallies, part, inner, time)
        return
    tally = tallies.get(name)
    if tally is None:
        tally = tallies[name] = Tally()
    tally.proposed += 1
    tally.seconds += seconds
    told = _TOLD.get(kind) or _told(kind)
    if told is None:
        _count_any(tally, info)
        return
    reject, has_checks, has_divergences = told
    if reject is None or info.accepted:
        tally.accepted += 1
    else:
        reject(tally, info)
    if has_checks and info.check_failed:
        tally.failed_checks += 1
    if has_divergences:
        tally.divergences += info.divergences


_Reject = Callable[[Tally, Any], None]
_Told = tuple[_Reject | None, bool, bool]
_TOLD: dict[type, _Told] = {}  # of each class of infos that was met, for `_told` takes longer than a count


def _told(kind: type) -> _Told | None:
    """What infos of a class tell, by which a step is counted faster; None if one may tell what others don't.

    What counts a rejected proposal (None if all are accepted), and whether there are `check_failed` and
    `divergences`.
    """
    if kind.__dictoffset__:
        return None
    reject: _Reject | None = None
    if kind is PickedInfo:
        reject = _reject_picked
    elif hasattr(kind, "log_abs_det"):
        reject = _reject_transformed
    elif hasattr(kind, "log_aux_ratio"):
        reject = _reject_trajectory if hasattr(kind, "divergences") else _reject_proposed
    elif hasattr(kind, "accepted"):
        reject = _reject_any
    told = _TOLD[kind] = reject, hasattr(kind, "check_failed"), hasattr(kind, "divergences")
    return told


def _count_any(tally: Tally, info: Any) -> None:
    """Count a step by whatever its info tells."""
    if getattr(info, "accepted", True):
        tally.accepted += 1
    else:
        _reject_any(tally, info)
    if getattr(info, "check_failed", False):
        tally.failed_checks += 1
    tally.divergences += getattr(info, "divergences", 0)


# --- rejected proposals ----------------------------------------------------------------------------


def _reject_transformed(tally: Tally, info: Any) -> None:
    """Of a kernel whose ratio has auxiliary densities and a determinant."""
    if info.reason is None and info.log_accept_ratio > LOWEST:
        tally.weighed += 1
        tally.log_ratio += info.log_accept_ratio
        tally.log_aux += info.log_aux_ratio
        tally.log_abs_det += info.log_abs_det
    elif not info.check_failed:  # a failed check is counted as such
        tally.because(info.reason or _ZERO)


def _reject_proposed(tally: Tally, info: Any) -> None:
    """Of a kernel whose ratio has the densities of a proposal."""
    if info.reason is None and info.log_accept_ratio > LOWEST:
        tally.weighed += 1
        tally.log_ratio += info.log_accept_ratio
        tally.log_aux += info.log_aux_ratio
    else:
        tally.because(info.reason or _ZERO)


def _reject_trajectory(tally: Tally, info: Any) -> None:
    """Of a kernel whose trajectory may diverge, which then counts as the reason."""
    if info.divergences and info.reason is None:
        tally.because("the trajectory diverged")
    else:
        _reject_proposed(tally, info)


def _reject_any(tally: Tally, info: Any) -> None:
    """Of any kernel: the reason, or else the ratio, if the info tells one of them."""
    reason = getattr(info, "reason", None)
    if reason is not None:
        if not getattr(info, "check_failed", False):
            tally.because(str(reason))
        return
    ratio = getattr(info, "log_accept_ratio", None)
    if not isinstance(ratio, (int, float, np.number)):
        return
    if ratio <= LOWEST:
        tally.because(_ZERO)
    elif ratio < inf:
        tally.weighed += 1
        tally.log_ratio += float(ratio)
        tally.log_untold += float(ratio)


def _reject_picked(tally: Tally, info: PickedInfo) -> None:
    """Of a kernel that was picked: its own proposal, or one it accepted where it is picked less often."""
    inner, ratio = info.info, info.log_weight_ratio
    if not getattr(inner, "accepted", True):
        told = _told(type(inner))
        reject = _reject_any if told is None or told[0] is None else told[0]
        reject(tally, inner)
    elif ratio > LOWEST:
        tally.weighed += 1
        tally.log_ratio += ratio
        tally.log_aux += ratio
    else:
        tally.because("the kernel is never picked there")


def total(several: list[Tallies]) -> Tallies:
    """The tallies of several chains together."""
    summed: Tallies = {}
    for tallies in several:
        for name, tally in tallies.items():
            summed[name] = summed.get(name, Tally()) + tally
    return summed


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
