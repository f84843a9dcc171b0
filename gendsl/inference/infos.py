"""What steps tell beside the trace, of kernels of kernels and of machine code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Told(NamedTuple):
    """What machine code tells of a step of a kernel.

    Attributes:
        accepted: whether the proposal was accepted.
        log_ratio: the log acceptance ratio; the next three are its terms, or what else a step tells that has
            none.
        reason: why it was rejected without a draw, or None.
    """

    accepted: bool
    log_ratio: float
    log_model: float
    log_aux: float
    log_abs_det: float
    reason: str | None

    @property
    def visited(self) -> int:
        """How many choices it updated given all others."""
        return int(self.log_model)

    @property
    def counted(self) -> int:
        """What was counted as it did."""
        return int(self.log_aux)


@dataclass(frozen=True, slots=True)
class ComposedInfo:
    """What happened in the parts of a composed step, in order.

    Attributes:
        parts: the name and the info of each part that ran.
        seconds: how long each of them took; empty if that wasn't measured.
    """

    parts: tuple[tuple[str, Any], ...]
    seconds: tuple[float, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether any part accepted a proposal."""
        return any(getattr(info, "accepted", False) for _, info in self.parts)

    @property
    def check_failed(self) -> bool:
        """Whether a check of any part failed."""
        return any(getattr(info, "check_failed", False) for _, info in self.parts)

    @property
    def divergences(self) -> int:
        """How many trajectories of all parts diverged."""
        return sum(getattr(info, "divergences", 0) for _, info in self.parts)


@dataclass(frozen=True, slots=True)
class PickedInfo:
    """What happened to a kernel that was picked with a probability that depends on the state.

    Attributes:
        accepted: whether it accepted a proposal, and the step there was accepted.
        log_weight_ratio: log w(x') - log w(x) of the probability w of picking it.
        info: what happened in the kernel.
    """

    accepted: bool
    log_weight_ratio: float
    info: Any

    @property
    def check_failed(self) -> bool:
        """Whether a check of the kernel failed."""
        return bool(getattr(self.info, "check_failed", False))

    @property
    def divergences(self) -> int:
        """How many of its trajectories diverged."""
        return int(getattr(self.info, "divergences", 0))
