"""What became of the steps of each draw: how often each kernel ran and accepted, and the log density."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gendsl.inference.running.tally import Tallies, Tally


class Counts:
    """How often a kernel had run, accepted and diverged when each draw was made, counted from the first."""

    __slots__ = ("accepted", "diverged", "proposed")

    def __init__(self, draws: int = 0) -> None:
        zeros = bytes(8 * draws)  # of draws before it first ran
        self.proposed, self.accepted, self.diverged = array("q", zeros), array("q", zeros), array("q", zeros)

    def columns(self) -> tuple[Any, Any, Any]:
        """The three counts, an array of 64-bit integers each."""
        return self.proposed, self.accepted, self.diverged


class Steps:
    """What became of the steps of each draw of a chain. It takes 8 bytes a draw, and 24 for each kernel.

    Attributes:
        log_prob: the log density of each draw.
        counts: for each kernel what it had come to by then.
    """

    __slots__ = ("counts", "log_prob")

    def __init__(self) -> None:
        self.log_prob = array("d")
        self.counts: dict[str, Counts] = {}

    def __len__(self) -> int:
        """The number of draws."""
        return len(self.log_prob)

    def add(self, log_prob: float, tallies: Tallies) -> None:
        """Note a draw, with what kernels have come to."""
        counts = self.counts
        for name, tally in tallies.items():
            of_kernel = counts.get(name)
            if of_kernel is None:
                of_kernel = counts[name] = Counts(len(self.log_prob))
            of_kernel.proposed.append(tally.proposed)
            of_kernel.accepted.append(tally.accepted)
            of_kernel.diverged.append(tally.divergences)
        self.log_prob.append(log_prob)

    def extend(
        self, log_prob: np.ndarray, tallies: Tallies, more: Mapping[str, tuple[Any, Any]]
    ) -> None:
        """Note several draws, with what kernels have come to before them.

        Args:
            more: for kernels how often they have run and accepted since, when each draw was made.
        """
        new = [name for name in more if name not in tallies]
        new.sort(key=lambda name: int(np.argmax(more[name][0] > 0)))  # as if draws were noted one by one
        for name in [*tallies, *new]:
            tally, draws = tallies.get(name, Tally()), len(self.log_prob)
            of_kernel = self.counts.get(name)
            if of_kernel is None:
                of_kernel = self.counts[name] = Counts(draws)
            proposed, accepted = more.get(name, (np.zeros(len(log_prob), np.int64),) * 2)
            of_kernel.proposed.frombytes((tally.proposed + proposed).tobytes())
            of_kernel.accepted.frombytes((tally.accepted + accepted).tobytes())
            of_kernel.diverged.frombytes(np.full(len(log_prob), tally.divergences, np.int64).tobytes())
        self.log_prob.frombytes(log_prob.tobytes())

    def cut(self, draws: int) -> None:
        """Forget all beyond the first draws: an interrupt can come between two notes of one draw."""
        del self.log_prob[draws:]
        for of_kernel in self.counts.values():
            for column in of_kernel.columns():
                del column[draws:]

    def of_draws(self, name: str) -> tuple[Any, Any, Any]:
        """How often a kernel ran, accepted and diverged in the steps of each draw, three arrays."""
        of_kernel = self.counts.get(name) or Counts(len(self))
        proposed, accepted, diverged = (np.diff(np.array(c), prepend=0) for c in of_kernel.columns())
        return proposed, accepted, diverged

    def part(self, draws: Sequence[int]) -> Steps:
        """Of some draws, given by their numbers."""
        chosen = list(draws)
        made = Steps()
        made.log_prob = array("d", np.array(self.log_prob)[chosen])
        for name in self.counts:
            made.counts[name] = of_kernel = Counts()
            for column, each in zip(of_kernel.columns(), self.of_draws(name), strict=True):
                column.extend(np.cumsum(each[chosen]).tolist())
        return made

    # --- in files -------------------------------------------------------------------------------------

    def line(self, draw: int) -> list[Any]:
        """A draw as numbers: the log density, and for each kernel in order what it had come to."""
        counts = [[c[draw] for c in of_kernel.columns()] for of_kernel in self.counts.values()]
        return [self.log_prob[draw], *counts]

    @staticmethod
    def read(lines: Iterable[list[Any]], names: Iterable[str]) -> Steps:
        """What `line` gave for all draws, with the names of the kernels in the order they first ran.

        Raises:
            TypeError, ValueError, OverflowError: they are nothing that `line` gives.
        """
        made, order = Steps(), list(names)
        for log_prob, *counts in lines:
            if not len(made.counts) <= len(counts) <= len(order):
                raise ValueError(f"counts of {len(counts)} kernels")
            for name, numbers in zip(order, counts, strict=False):
                of_kernel = made.counts.get(name)
                if of_kernel is None:
                    of_kernel = made.counts[name] = Counts(len(made.log_prob))
                for column, number in zip(of_kernel.columns(), numbers, strict=True):
                    column.append(number)
            made.log_prob.append(log_prob)
        return made
