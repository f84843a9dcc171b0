"""The state of a chain whose steps are Python text, as they are where there is no machine code.

A text that fails, or is interrupted, may leave what it works on in the middle of a step; so the choices are
kept after every few steps, to be gone back to.
"""

from __future__ import annotations

import time
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gendsl.compiler.hir import Input
from gendsl.compiler.hir.addresses import Paths
from gendsl.compiler.hir.decode import from_python
from gendsl.compiler.hir.encode import flat
from gendsl.compiler.hir.failures import PYTHON_FAILURES, FailedText, NotClosed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.llvm.native_layout import (
    ACCEPTED,
    CYCLES,
    FAILED,
    IMPOSSIBLE,
    LOG_AUX,
    LOG_DET,
    LOG_RATIO,
    PAUSED,
    PROPOSED,
    STOPPED,
    WAITING,
    WEIGHED,
    Word,
)
from gendsl.compiler.moves import LOWEST, REPEAT, RUN
from gendsl.compiler.python.choice_values import index_of, indices_of
from gendsl.compiler.python.numpy_loops import arrays_of
from gendsl.compiler.python.print_python import input_name
from gendsl.compiler.python.state import MoveState, Zero
from gendsl.compiler.run.chain_state import NO_LIMIT, OTHER_THAN_OBSERVED, ChainState, followed

if TYPE_CHECKING:
    from gendsl.compiler.run.closed_move import ClosedKernel

_FIRST_CAPACITY, _GROWTH = 8, 4
_FLOATS = LOG_RATIO, LOG_AUX, LOG_DET


class _Snapshot(NamedTuple):
    """What is needed to make the same steps again."""

    words: np.ndarray
    state: MoveState
    saved: Any
    tallies: np.ndarray
    zeros: np.ndarray
    kept: list[list[Any]]
    generator: Any


class _KeptChoices:
    """The choices of a draw that is kept; it shares the observations with the draw before."""

    def __init__(
        self, choices: dict[Any, Any], observed: Container[Any], before: _KeptChoices | None
    ) -> None:
        self.latent = {path: value for path, value in choices.items() if path not in observed}
        self.observed = {path: value for path, value in choices.items() if path in observed}
        if before is not None and before.observed.keys() == self.observed.keys():
            self.observed = before.observed

    def choices(self) -> dict[Any, Any]:
        """The choices, by their paths."""
        return self.latent | self.observed

    def choice(self, path: tuple[Any, ...]) -> Any:
        """The value of a choice; None if there is none."""
        return self.latent.get(path, self.observed.get(path))


class PythonState(ChainState):
    """The state of a chain.

    Attributes:
        state: what the text works on.
        functions: the functions of the text, with what is outside.
        places: the numbers of the places where a density was zero.
    """

    closed: ClosedKernel
    form = "Python text"
    steps_again = 16

    def __init__(self, closed: ClosedKernel) -> None:
        super().__init__(closed, int(Word.FIRST))
        self.state: MoveState | None = None
        self.places: dict[Any, int] = {}
        self.failed: Exception | None = None

    def start(self, generator: Any, schedule: Sequence[int]) -> None:
        super().start(generator, schedule)
        self.codes, self.rng = list(schedule), np.random.Generator(generator)
        self.renew()
        if self.state is not None:
            self.state.rng = self.rng

    def renew(self) -> None:
        self.functions = self.closed.namespace()
        if self.state is not None:
            self.state.same = {}

    def _give(self, place: int, value: Any) -> Any:
        lowered = self.closed.lowered
        (given,) = flat(lowered.facts, value, lowered.inputs[place][1])
        name = input_name(Input(place, 0, "r"))
        self.functions[name] = given
        text, _ = self.closed.runs
        if f"{name}_" in text:  # its arrays
            every = {key: one for key, one in self.functions.items() if key.startswith("given_")}
            self.functions |= {
                key: one for key, one in arrays_of(text, every).items() if key.startswith(f"{name}_")
            }
        return given

    def _as_floats(self, data: Any) -> np.ndarray:
        return np.array(data, np.float64)

    # --- the current trace ------------------------------------------------------------------------

    @property
    def current(self) -> MoveState:
        """What the text works on, once there is a trace."""
        assert self.state is not None
        return self.state

    def load(self, choices: Mapping[Any, Any], observed: Container[Any], log_density: float) -> None:
        self.origin = None
        state = self.closed.state(dict(choices), observed, log_density, self.rng)
        for template in self.closed.observed_alone:
            column = state.columns[template.number]
            if len(column.observed) < len(column.values):
                raise NotClosed(OTHER_THAN_OBSERVED)
        capacities = [[_FIRST_CAPACITY] * template.rank for template in self.templates]
        for column, capacity in zip(state.columns, capacities, strict=True):
            for index in column.values if capacity else ():
                indices = indices_of(index)
                if min(indices) < 0:
                    raise NotClosed("a negative index in an address")
                for axis, at in enumerate(indices):
                    while at >= capacity[axis]:
                        capacity[axis] *= _GROWTH
        self.state, self.capacities = state, capacities
        self.words[Word.COUNT] = state.counts[0]
        self.set_float(Word.LOG_DENSITY, log_density)

    def choices(self) -> dict[Any, Any]:
        return self.closed.choices(self.current)

    def kept_draw(self, before: _KeptChoices | None, observed: Container[Any]) -> _KeptChoices:
        return _KeptChoices(self.choices(), observed, before)

    def node_of(self, template: Template, indices: tuple[int, ...]) -> int | None:
        return self.current.columns[template.number].values.get(index_of(indices))

    def value_of(self, template: Template, indices: tuple[int, ...]) -> Any:
        column, index = self.current.columns[template.number], index_of(indices)
        return from_python(template.type, indices_of(column.values[index])) if column.has(index) else None

    def numbered(self, template: Template) -> tuple[Sequence[np.ndarray], Sequence[Any]]:
        column = self.current.columns[template.number]
        found = {index: value for index, value in column.values.items() if column.has(index)}
        every = np.array([indices_of(index) for index in found], np.int64).reshape(len(found), template.rank)
        return tuple(every.T), [self.value_of(template, indices) for indices in map(indices_of, found)]

    # --- running ----------------------------------------------------------------------------------

    def _call(self) -> int:
        self.current.lp = self.log_density()
        with np.errstate(all="ignore"):
            return self._run()

    def _run(self) -> int:
        words, codes, state = self.words, self.codes, self.current
        at, steps, sweeps = (int(words[word]) for word in (Word.COUNTER, Word.STEPS, Word.SWEEPS))
        limit, last = int(words[Word.STEP_LIMIT]), int(words[Word.LAST_STEP])
        pause = int(self.origin.words[Word.STEPS]) + self.steps_again if self.origin else NO_LIMIT
        rows, clock, zeros = self.tallies.tolist(), time.perf_counter_ns, int(words[Word.ZERO_COUNT])
        sums = self.tallies.view(np.float64)[:, list(_FLOATS)].tolist()
        made: tuple[Any, ...] | None = None
        status = 0
        while True:
            code = codes[at]
            if code != RUN:
                at = followed(self.schedule, at, self.rng.random)
                sweeps -= code == REPEAT
                if code == REPEAT and sweeps <= 0:
                    break
                continue
            number = codes[at + 1]
            if steps in (limit, pause):
                status = STOPPED if steps == limit else PAUSED
                break
            if self.closed.steps[number] is None:
                status = WAITING
                break
            started = clock()
            try:
                made = self.closed.make_step(self.functions, number, state)
            except PYTHON_FAILURES as error:
                self.failed, status = error, FAILED
                break
            accepted, ratio, _, auxiliary, det, *chosen = made
            row = self.closed.rows[number] + sum(chosen)
            tally = rows[row]
            tally[PROPOSED] += 1
            if accepted:
                tally[ACCEPTED] += 1
            if not ratio > LOWEST:
                tally[IMPOSSIBLE] += 1
                zeros = self._count_zero(row, state.zero, zeros, steps, sweeps)
            elif not accepted and ratio < np.inf:
                tally[WEIGHED] += 1
                for place, term in enumerate((ratio, auxiliary, det)):
                    sums[row][place] += term
            tally[CYCLES] += clock() - started
            at, steps = at + 2, steps + 1
            if steps == last:
                status = STOPPED
                break
        words[Word.COUNTER], words[Word.STEPS], words[Word.SWEEPS] = at, steps, sweeps
        words[Word.COUNT], words[Word.ZERO_COUNT] = state.counts[0], zeros
        self.set_float(Word.LOG_DENSITY, state.lp)
        if made is not None:
            for word, term in zip((Word.LAST_RATIO, Word.LAST_MODEL, Word.LAST_AUX), made[1:4], strict=True):
                self.set_float(word, term)
            self.set_float(Word.LAST_DET, made[4])
        self.tallies[:] = rows
        self.tallies.view(np.float64)[:, list(_FLOATS)] = sums
        return status

    def _count_zero(self, row: int, zero: Zero, count: int, steps: int, sweeps: int) -> int:
        """Count where the density was zero, among the first places where it was; how many there are."""
        place = self.places.setdefault(self._place(zero), len(self.places))
        for known in self.zeros[:count]:
            if known[0] == row and known[1] == place:
                known[3] += 1
                return count
        if count < self.words[Word.ZERO_ROOM]:
            self.zeros[count] = row, place, 0, 1, steps, sweeps
            count += 1
        return count

    def _place(self, zero: Zero) -> Any:
        """Where a density was zero, whatever numbers the calls have that it is below."""
        why, column, indices = zero or ("", None, ())
        if column is None:
            return why
        template = column.template
        if template.is_below and column.is_model:
            return why, template.number, self._paths().path(template, indices)
        return why, template.number, indices

    def _paths(self) -> Paths:
        calls = {
            node: (column.template, indices_of(index))
            for column in self.current.columns
            if column.is_node
            for index, node in column.values.items()
        }
        return Paths(self.closed.lowered, calls)

    def _failure(self) -> FailedText:
        assert self.failed is not None
        return self.closed.failed(self.failed)

    def _snapshot(self) -> _Snapshot:
        state, every = self.current, [one for lists in self.kept.values() for one in lists]
        kept = [list(one) for one in every]
        tallies, zeros = self.tallies.copy(), self.zeros.copy()
        return _Snapshot(
            self.words.copy(), state, state.save(), tallies, zeros, kept, self.generator.state
        )

    def _restore(self, snapshot: _Snapshot) -> None:
        self.words[:] = snapshot.words
        self.state = snapshot.state
        self.state.go_back(snapshot.saved)
        self.tallies[:], self.zeros[:] = snapshot.tallies, snapshot.zeros
        every = (one for lists in self.kept.values() for one in lists)
        for one, saved in zip(every, snapshot.kept, strict=True):
            one[:] = saved
        self.generator.state = snapshot.generator
