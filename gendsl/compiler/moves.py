"""What the compiler is given to make steps of; apart from it, as it takes long to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

RUN, PICK, JUMP, REPEAT = range(4)
"""The instructions of a schedule: (RUN, kernel); (PICK, n, n bounds, n + 1 places), which goes on at the
place that a uniform number picks; (JUMP, place); and REPEAT, the end of a sweep.
"""


class NotClosed(Exception):
    """A program, or a part of it, is not in the subset that the compiler reads.

    Attributes:
        reason: why, in a few words.
        line: the line of the user's file.
    """

    def __init__(self, reason: str, line: int = 0, filename: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.filename = filename

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


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
class Proposal:
    """A move that proposes new values of the model's choices, at the addresses at which a program draws them.

    Attributes:
        name: what to call its step.
        q, q_args: the program, called as `q(trace, *q_args)`, or as `q(*q_args)`.
        sees_trace: whether it is given the trace.
    """

    name: str
    q: Any
    q_args: tuple[Any, ...]
    sees_trace: bool = True


@dataclass(frozen=True)
class Resampling:
    """A move that draws selected choices anew from the prior, given what comes before them.

    Attributes:
        name: what to call its step.
        patterns: what the addresses of the selected choices begin with; `...` stands for any component.
        skip_absent: whether addresses that the trace doesn't have are left out.
    """

    name: str
    patterns: tuple[tuple[Any, ...], ...]
    skip_absent: bool = False
    q: None = None
    q_args: tuple[()] = ()


Move = Involution | Proposal | Resampling
"""What a kernel does in a step."""
