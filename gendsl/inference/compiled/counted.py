"""What a chain of compiled kernels has counted, and what tallies are told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.compiler.llvm.native_layout import (
    ACCEPTED,
    CYCLES,
    IMPOSSIBLE,
    LOG_AUX,
    LOG_DET,
    LOG_RATIO,
    PROPOSED,
    WEIGHED,
    Word,
)
from gendsl.compiler.moves import Picked, Transition
from gendsl.compiler.run.chain_state import ChainState
from gendsl.compiler.run.recorded_draws import Draws
from gendsl.inference.compiled.moves import Part
from gendsl.inference.running.tally import OTHER, Tallies, Tally


class Counted:
    """What a chain has counted since it last told tallies.

    Attributes:
        names: what is counted, by the rows of the tallies.
        untold: for each whether the terms of its ratio are not told.
        told: what was counted when tallies were told last, as integers and as floats.
        zeros_told: the same of where the density was zero.
        seconds: the time of steps since then that were told by themselves, as kernels made them.
        in_order: the names in the order in which the tallies were told last.
    """

    def __init__(self, state: ChainState, parts: Sequence[Part]) -> None:
        self.state = state
        self.names = [name for part in parts for name in part.names]
        every = [part.move.parts if isinstance(part.move, Picked) else [part.move] for part in parts]
        self.untold = [isinstance(move, Transition) for moves in every for move in moves]
        self.told = self._now()
        self.zeros_told = state.zeros.copy()
        self.seconds = 0.0
        self.in_order: list[str] = []

    def _now(self) -> tuple[list[list[int]], list[list[float]]]:
        """What was counted, as integers and as floats."""
        tallies = self.state.tallies
        return tallies.tolist(), tallies.view(np.float64).tolist()

    def in_draws(self, made: Draws) -> dict[str, tuple[Any, Any]]:
        """How often kernels have run and accepted since tallies were told, when draws were made, by name."""
        found: dict[str, tuple[Any, Any]] = {}
        if made.count:
            before = np.array([[row[PROPOSED], row[ACCEPTED]] for row in self.told[0]])
            since = made.counts - before
            for number, name in enumerate(self.names):
                proposed, accepted = found.get(name, (0, 0))
                found[name] = proposed + since[:, number, 0], accepted + since[:, number, 1]
        return {name: columns for name, columns in found.items() if columns[0][-1]}

    def tell(self, tallies: Tallies, seconds: float) -> None:
        """Add to the tallies what was counted since they were told last, in so much time."""
        seconds, self.seconds = max(seconds - self.seconds, 0.0), 0.0
        (before, floats_before), (rows, floats) = self.told, self._now()
        # steps that were made again may have taken less time
        spent = [max(row[CYCLES] - old[CYCLES], 0) for row, old in zip(rows, before, strict=True)]
        cycles = max(sum(spent), 1)
        for number, name in enumerate(self.names):
            row, old = rows[number], before[number]
            if row[PROPOSED] == old[PROPOSED]:
                continue
            tally = tallies.get(name)
            if tally is None:
                tally = tallies[name] = Tally()
            tally.proposed += row[PROPOSED] - old[PROPOSED]
            tally.accepted += row[ACCEPTED] - old[ACCEPTED]
            tally.seconds += seconds * spent[number] / cycles
            if row[WEIGHED] > old[WEIGHED]:
                sums, sums_before = floats[number], floats_before[number]
                tally.weighed += row[WEIGHED] - old[WEIGHED]
                ratios = sums[LOG_RATIO] - sums_before[LOG_RATIO]
                tally.log_ratio += ratios
                tally.log_untold += ratios if self.untold[number] else 0.0
                tally.log_aux += sums[LOG_AUX] - sums_before[LOG_AUX]
                tally.log_abs_det += sums[LOG_DET] - sums_before[LOG_DET]
            if row[IMPOSSIBLE] > old[IMPOSSIBLE]:
                self._tell_zeros(number, tally, row[IMPOSSIBLE] - old[IMPOSSIBLE])
        self.told = rows, floats
        if list(tallies) != self.in_order:
            places = list(dict.fromkeys(self.names))  # whichever was made again first
            in_order = sorted(tallies.items(), key=lambda item: [*places, item[0]].index(item[0]))
            tallies.clear()
            tallies.update(in_order)
            self.in_order = list(tallies)

    def _tell_zeros(self, number: int, tally: Tally, times: int) -> None:
        """Say where the density was zero."""
        state = self.state
        for place in range(int(state.words[Word.ZERO_COUNT])):
            row, _, _, often, *_ = state.zeros[place].tolist()
            new = often - int(self.zeros_told[place, 3])
            if row == number and new > 0:
                tally.because(state.why_zero[place], new)
                self.zeros_told[place, 3] = often
                times -= new
        if times > 0:
            tally.because(OTHER, times)
