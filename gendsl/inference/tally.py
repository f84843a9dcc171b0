"""How often each kernel ran, was accepted and failed a check, and how long it took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gendsl.inference.compose import ComposedInfo


@dataclass
class Tally:
    """How often a kernel ran, was accepted, and failed a check; and how long it took.

    Attributes:
        proposed: how often it ran.
        accepted: how often its proposal was accepted.
        failed_checks: how often a check failed and the proposal was rejected for it.
        seconds: how long it ran, in all; 0 if a kernel of the user's that composes others didn't say.
        divergences: how many trajectories of `hmc` or `nuts` diverged; then regions of high curvature may be
            missing from the draws.
    """

    proposed: int = 0
    accepted: int = 0
    failed_checks: int = 0
    seconds: float = 0.0
    divergences: int = 0

    @property
    def rate(self) -> float:
        """The share of proposals that were accepted; NaN if there were none."""
        return self.accepted / self.proposed if self.proposed else float("nan")

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.proposed + other.proposed,
            self.accepted + other.accepted,
            self.failed_checks + other.failed_checks,
            self.seconds + other.seconds,
            self.divergences + other.divergences,
        )


Tallies = dict[str, Tally]


def count(tallies: Tallies, name: str, info: Any, seconds: float) -> None:
    """Add one step of a kernel: of a composed one, each of its parts."""
    if type(info) is ComposedInfo:
        times = info.seconds or (0.0,) * len(info.parts)
        for (part, inner), time in zip(info.parts, times, strict=True):
            count(tallies, part, inner, time)
        return
    tally = tallies.get(name)
    if tally is None:
        tally = tallies[name] = Tally()
    tally.proposed += 1
    tally.seconds += seconds
    if getattr(info, "accepted", True):
        tally.accepted += 1
    if getattr(info, "check_failed", False):
        tally.failed_checks += 1
    tally.divergences += getattr(info, "divergences", 0)


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
