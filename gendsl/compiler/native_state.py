"""The memory of a chain of compiled kernels: the choices of its current trace, and what its steps write down.

A run of the schedule ends where it is done, where a step fails, or where there is no room. In the last two
cases the state and the generator are put back to where the run started, and the same steps are made again up
to the one that did not succeed. What that would have done is then for the reference interpreter to say, or
there is more room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gendsl.compiler.addresses import Addresses, Paths
from gendsl.compiler.closed import FailedText
from gendsl.compiler.closed_sampler import _from_words, _typed
from gendsl.compiler.encode import Words, deep_layout, flat, tangent_layout, with_tangents
from gendsl.compiler.front.program import Template
from gendsl.compiler.front.values import NotClosed
from gendsl.compiler.hir import Input
from gendsl.compiler.native_layout import (
    FAILED,
    FULL,
    READ_WORDS,
    ROW_WORDS,
    TALLY_WORDS,
    ZERO_WORDS,
    TemplateWords,
    Word,
    is_auxiliary,
)
from gendsl.compiler.types import Array, Number, leaves

if TYPE_CHECKING:
    from gendsl.compiler.closed_move import ClosedKernel

NO_LIMIT = -1
FIRST_ZERO = "the first step whose density is zero there, of which the reference interpreter tells why"
_FIRST_ROOM = 64
_FIRST_WORDS, _FIRST_HEAP = 1 << 14, 1 << 18
_FIRST_CAPACITY = 8
_GROWTH = 4
_LARGEST = 1 << 28
_MOST_PLACES = 1 << 22
"""How many places a template may have, of 40 bytes or more each."""
_MANY = 1 << 62
_HEAP_A_WORD = 32
"""How many words there are for arrays that are kept, for each word of those in a trace: where they are used
up, all but those are forgotten, which takes the longer the more there are.
"""
_STEPS_AGAIN = 1000
"""After how many steps the state is kept, to be gone back to where a later step fails."""
_LOGS = {
    Word.WRITES: (Word.WRITE_COUNT, Word.WRITE_ROOM),
    Word.READS: (Word.READ_COUNT, Word.READ_ROOM),
    Word.ROWS: (Word.ROW_COUNT, Word.ROW_ROOM),
}


class _Snapshot(NamedTuple):
    """What is needed to make the same steps again."""

    words: np.ndarray
    stamps: list[np.ndarray]
    columns: list[list[np.ndarray]]
    tallies: np.ndarray
    zeros: np.ndarray
    generator: Any


class NativeState:
    """The memory of a chain.

    Attributes:
        words: what the machine code is given the address of; see `native_layout`.
        stamps: for each template the four stamps of each place.
        columns: for each template the leaves of the choices.
        masks: for each template a byte for each place, 1 where the choice is observed.
        capacities: for each template how many places there are along each index.
        tallies: what is counted of each kernel, a row for each.
    """

    def __init__(self, closed: ClosedKernel, generator: Any, schedule: Sequence[int]) -> None:
        self.closed, self.layout, self.generator = closed, closed.layout, generator
        self.templates = closed.lowered.templates
        self.words = np.zeros(self.layout.size, np.int64)
        self.inputs = Words()
        self._set_inputs()
        self.origin: _Snapshot | None = None
        self.told_zeros = 0
        self.tallies = np.zeros((closed.row_count, TALLY_WORDS), np.int64)
        self.zeros = np.zeros((_FIRST_ROOM, ZERO_WORDS), np.int64)
        self.schedule = np.array(schedule, np.int64)
        self.room = dict.fromkeys(_LOGS, _FIRST_ROOM)
        self.capacities = [[_FIRST_CAPACITY] * template.rank for template in self.templates]
        self.arena_size, self.heap_size = _FIRST_WORDS, _FIRST_HEAP
        self.words[Word.SCHEDULE] = self.schedule.ctypes.data
        self.words[Word.TALLIES] = self.tallies.ctypes.data
        self.words[Word.ZEROS], self.words[Word.ZERO_ROOM] = self.zeros.ctypes.data, len(self.zeros)
        self.words[Word.GENERATOR] = generator.ctypes.bit_generator.value
        self.words[Word.STEP_LIMIT] = self.words[Word.LAST_STEP] = NO_LIMIT
        self.words[Word.NOW] = 1

    def _set_inputs(self) -> None:
        facts = self.closed.lowered.facts
        for number, found, kind in self.closed.inputs():
            parts, layout = flat(facts, found, kind), deep_layout(facts, kind)
            for leaf, (value, (word, inner)) in enumerate(zip(parts, layout, strict=True)):
                at = self.layout.input_word(Input(number, leaf, word))
                self.words[at] = self.inputs.word(value, word, inner)
                if (number, leaf) in self.closed.slopes_of:
                    made = self.inputs.word(with_tangents(value, inner), "r", tangent_layout(inner))
                    self.words[self.layout.input_word(Input(number, leaf, word, True))] = made

    # --- the current trace --------------------------------------------------------------------------

    def load(self, choices: Mapping[Any, Any], observed: Container[Any], log_density: float) -> None:
        """Make a trace the current one.

        Raises:
            NotClosed: it is not of the types that the text is for.
        """
        self.origin = None
        addresses = Addresses(self.closed.lowered)
        rows: list[list[tuple[tuple[int, ...], list[Any], bool]]] = [[] for _ in self.templates]
        for path, value in choices.items():
            template, indices, parts = addresses.place(path, value)
            if min(indices, default=0) < 0:
                raise NotClosed("a negative index in an address")
            rows[template.number].append((indices, parts, path in observed))
            capacity = self.capacities[template.number]
            for axis, index in enumerate(indices):
                capacity[axis] = max(capacity[axis], index + 1)
        self.paths = Paths(self.closed.lowered, {})
        self.values = Words()
        self.words[Word.CURRENT], self.words[Word.COUNT] = self.words[Word.NOW], len(choices)
        self.set_float(Word.LOG_DENSITY, log_density)
        self.stamps: list[np.ndarray] = []
        self.columns: list[list[np.ndarray]] = []
        self.masks: list[np.ndarray] = []
        for template, given in zip(self.templates, rows, strict=True):
            self._make_columns(template)
            self._put(template, given)
        if self.layout.has_arrays:
            size = sum(_words(parts) for number in self.closed.written for _, parts, _ in rows[number])
            self.heap_size = max(self.heap_size, min(_HEAP_A_WORD * size, _LARGEST))
        self._make_memory()

    def _make_columns(self, template: Template) -> None:
        """New columns, stamps and a mask for a template."""
        size = _size(template, self.capacities[template.number])
        self.stamps.append(np.zeros((4, size), np.int64))
        self.columns.append([np.zeros(size, np.int64) for _ in leaves(template.type)])
        self.masks.append(np.zeros(size, np.uint8))
        words = self.layout.templates[template.number]
        for which, stamps in enumerate(self.stamps[-1]):
            self.words[words.stamps(which)] = stamps.ctypes.data
        self.words[words.stamps(TemplateWords.OBSERVED)] = self.masks[-1].ctypes.data
        self.words[words.stamps(TemplateWords.TRACE)] = is_auxiliary(template)
        self.words[words.stamps(TemplateWords.LEAVES)] = words.columns
        self.words[words.stamps(TemplateWords.FLOATS)] = getattr(template.type, "kind", None) == "f"
        for leaf, column in enumerate(self.columns[-1]):
            self.words[words.column(leaf)] = column.ctypes.data
        for axis, extent in enumerate(self.capacities[template.number]):
            self.words[words.capacity(axis)] = extent

    def _put(self, template: Template, rows: list[tuple[tuple[int, ...], list[Any], bool]]) -> None:
        """Put choices into the current trace."""
        if not rows:
            return
        layout = deep_layout(self.closed.lowered.facts, template.type)
        every = np.array([indices for indices, _, _ in rows], np.int64).reshape(len(rows), template.rank)
        capacity = self.capacities[template.number]
        at = np.ravel_multi_index(tuple(every.T), capacity) if capacity else np.zeros(len(rows), np.int64)
        self.stamps[template.number][TemplateWords.CURRENT][at] = self.words[Word.CURRENT]
        self.masks[template.number][at] = [is_observed for _, _, is_observed in rows]
        for leaf, (column, (kind, inner)) in enumerate(
            zip(self.columns[template.number], layout, strict=True)
        ):
            if kind == "f":
                column[at] = np.array([parts[leaf] for _, parts, _ in rows], float).view(np.int64)
            else:
                column[at] = [self.values.word(parts[leaf], kind, inner) for _, parts, _ in rows]

    def _current(self, template: Template) -> np.ndarray:
        """Which places of a template are in the current trace."""
        stamps = self.stamps[template.number][self._row(template, self.words)]
        found: np.ndarray = stamps == self.words[Word.CURRENT]
        return found

    def _row(self, template: Template, words: np.ndarray) -> int:
        """Which row of the stamps says what is in the current trace: two of them take turns."""
        stamps = self.stamps[template.number]
        pointer = words[self.layout.templates[template.number].stamps(TemplateWords.CURRENT)]
        return 0 if pointer == stamps[0].ctypes.data else 1

    def choices(self) -> dict[Any, Any]:
        """The choices of the current trace, by their paths."""
        found: dict[Any, Any] = {}
        for template in self.templates:
            if is_auxiliary(template) or template.calls is not None:
                continue
            places = np.flatnonzero(self._current(template))
            if len(places):
                capacity = self.capacities[template.number]
                indices = np.unravel_index(places, capacity) if capacity else ()
                rows = zip(*(axis.tolist() for axis in indices), strict=True) if capacity else [()]
                values = self._values(template, places)
                for at, value in zip(rows, values, strict=True):
                    found[self.paths.path(template, at)] = value
        return found

    def _values(self, template: Template, places: Any) -> list[Any]:
        """The values of choices of a template."""
        columns, kind = self.columns[template.number], template.type
        if isinstance(kind, Number):
            typed: list[Any] = _typed(columns[0][places], kind.kind).tolist()
            return typed
        assert isinstance(kind, Array)
        return [_from_words(kind, row) for row in zip(*(c[places].tolist() for c in columns), strict=True)]

    def reader(self, path: tuple[Any, ...]) -> Callable[[], Any] | None:
        """What reads the choice at an address, or those numbered below it as an array; None if nothing does.

        It gives None where the current trace does not have them.
        """
        addresses = Addresses(self.closed.lowered)
        try:
            templates, indices = addresses.find(path)
        except NotClosed:
            return self._array_reader(path)
        if len(templates) != 1 or addresses.nodes:
            return None
        (template,) = templates

        def read() -> Any:
            place = 0
            for axis, (index, capacity) in enumerate(
                zip(indices, self.capacities[template.number], strict=True)
            ):
                if not 0 <= index < capacity:
                    return None
                place = index if axis == 0 else place * capacity + index
            number = template.number
            if self.stamps[number][self._row(template, self.words), place] != self.words[Word.CURRENT]:
                return None
            return self._values(template, slice(place, place + 1))[0]

        return read

    def _array_reader(self, path: tuple[Any, ...]) -> Callable[[], Any] | None:
        """What reads the choices that are numbered below an address, as an array."""
        size = len(path)
        found = [one for one in self.templates if not is_auxiliary(one) and one.parts[:size] == path]
        if len(found) != 1 or found[0].calls is not None or not isinstance(found[0].type, Number):
            return None
        (template,) = found
        if (
            any(part is not None for part in template.parts[size:])
            or template.rank != len(template.parts) - size
        ):
            return None

        def read() -> Any:
            places = np.flatnonzero(self._current(template))
            indices = np.unravel_index(places, self.capacities[template.number])
            shape = tuple(int(axis.max()) + 1 for axis in indices) if len(places) else ()
            if not len(places) or math.prod(shape) != len(places):
                return None
            column = self.columns[template.number][0]
            return _typed(column[places], template.type.kind).reshape(shape).copy()  # type: ignore[attr-defined]

        return read

    def path_of(self, number: int, place: int) -> tuple[Any, ...]:
        """The address of a place of a template."""
        capacity = self.capacities[number]
        indices = np.unravel_index(place, capacity) if capacity else ()
        return self.paths.path(self.templates[number], (int(index) for index in indices))

    def log_density(self) -> float:
        """The log density of the current trace."""
        return float(self.words[Word.LOG_DENSITY : Word.LOG_DENSITY + 1].view(np.float64)[0])

    def set_float(self, word: int, value: float) -> None:
        """Set a word to a float."""
        self.words[word : word + 1].view(np.float64)[0] = value

    # --- memory -----------------------------------------------------------------------------------

    def _make_memory(self) -> None:
        """The arena, the logs and the memory of arrays that are kept."""
        self.arena, self.heap = np.empty(self.arena_size, np.int64), np.empty(self.heap_size, np.int64)
        start = self.arena.ctypes.data
        self.words[Word.START] = self.words[Word.NEXT] = start
        self.words[Word.END] = start + 8 * self.arena_size
        self.words[Word.HEAP] = self.heap.ctypes.data
        self.words[Word.HEAP_END] = self.heap.ctypes.data + 8 * self.heap_size
        widths = {Word.WRITES: self.layout.write_words, Word.READS: READ_WORDS, Word.ROWS: ROW_WORDS}
        self.logs = {log: np.zeros(self.room[log] * width, np.int64) for log, width in widths.items()}
        for log, elsewhere in ((Word.WRITES, Word.WRITES_ELSEWHERE), (Word.READS, Word.READS_ELSEWHERE)):
            self.logs[elsewhere] = np.zeros_like(self.logs[log])
        self.logs[Word.MATRIX] = np.zeros(self.room[Word.ROWS] ** 2, np.int64)
        for log, memory in self.logs.items():
            self.words[log] = memory.ctypes.data
        for log, (_, room) in _LOGS.items():
            self.words[room] = self.room[log]

    def _wants(self) -> dict[tuple[int, int], int]:
        """The templates and axes without room, and the index that there was none for."""
        wanted: dict[tuple[int, int], int] = {}
        for template in self.templates:
            words = self.layout.templates[template.number]
            for axis, capacity in enumerate(self.capacities[template.number]):
                index = int(self.words[words.wanted(axis)])
                if index >= capacity:
                    wanted[template.number, axis] = index
        return wanted

    def _make_room(self, wanted: dict[tuple[int, int], int], counts: dict[Word, int], bytes: int) -> None:
        """More room of what there was too little of; in the memory of arrays that are kept, for some bytes.

        Raises:
            NotClosed: it would be too much; then nothing is changed.
        """
        capacities = [list(capacity) for capacity in self.capacities]
        for (number, axis), index in wanted.items():
            capacities[number][axis] = max(index + 1, _GROWTH * capacities[number][axis])
        for template, capacity in zip(self.templates, capacities, strict=True):
            _size(template, capacity)
        full = [log for log in _LOGS if counts[log] >= self.room[log]]
        heap, arena = self.heap_size, self.arena_size
        if bytes:
            used = int(self.words[Word.HEAP] - self.heap.ctypes.data) // 8
            heap = max(2 * heap if 2 * used < heap else heap, _HEAP_A_WORD * (bytes // 8))
        elif not wanted and not full:
            arena *= _GROWTH
        if max(arena, heap) > _LARGEST or any(_GROWTH * self.room[log] > _LARGEST for log in full):
            raise NotClosed("more memory than a text may use")
        self.heap_size, self.arena_size = heap, arena
        for log in full:
            self.room[log] *= _GROWTH
        self._reload(capacities)

    def _reload(self, capacities: list[list[int]]) -> None:
        """Make the memory of the current trace anew, of other capacities, without what is gone."""
        observed = {
            self.path_of(template.number, place)
            for template in self.templates
            for place in np.flatnonzero(self.masks[template.number]).tolist()
        }
        choices = self.choices()
        self.capacities = capacities
        self.words[Word.NOW] += 1
        self.load(choices, observed, self.log_density())

    def _snapshot(self) -> _Snapshot:
        words = self.words.copy()
        stamps = [self.stamps[t.number][self._row(t, words)].copy() for t in self.templates]
        columns = [
            [column.copy() for column in self.columns[t.number]] if t.number in self.closed.written else []
            for t in self.templates
        ]
        return _Snapshot(words, stamps, columns, self.tallies.copy(), self.zeros.copy(), self.generator.state)

    def _restore(self, snapshot: _Snapshot) -> None:
        now = self.words[Word.NOW]
        self.words[:] = snapshot.words
        self.words[Word.NOW] = now
        for template in self.templates:
            row = self._row(template, snapshot.words)
            self.stamps[template.number][row] = snapshot.stamps[template.number]
            for column, saved in zip(
                self.columns[template.number], snapshot.columns[template.number], strict=False
            ):
                column[:] = saved
        self.tallies[:], self.zeros[:] = snapshot.tallies, snapshot.zeros
        self.generator.state = snapshot.generator

    # --- running ----------------------------------------------------------------------------------

    def go_on(self, limit: int = NO_LIMIT, last: int = NO_LIMIT) -> FailedText | None:
        """Run the sweeps that are left, or a part of them; why a step failed, if one did.

        Then everything is as it was before that step.

        Args:
            limit: after how many steps to stop, before the next one; what picks its kernel is done.
            last: after how many steps to stop at once.
        """
        while True:
            if self.origin is None or self._is_far(self.origin):
                self.origin = self._snapshot()
            start = self.origin
            self.words[Word.STEP_LIMIT], self.words[Word.LAST_STEP] = limit, last
            status = self._call()
            if self.words[Word.ZERO_COUNT] > self.told_zeros:
                self._before_zero(start)
                return FailedText(0, FIRST_ZERO)
            if status not in (FAILED, FULL):
                return None
            steps, sweeps = int(self.words[Word.STEPS]), int(self.words[Word.SWEEPS])
            failure = (
                FailedText(*self.closed.llvm[1][int(self.words[Word.SITE])]) if status == FAILED else None
            )
            wanted, counts = self._wants(), {log: int(self.words[count]) for log, (count, _) in _LOGS.items()}
            bytes = int(self.words[Word.HEAP_WANTED])
            self._restore(start)
            self.words[Word.STEP_LIMIT], self.words[Word.LAST_STEP] = steps, NO_LIMIT
            self.words[Word.SWEEPS] = _MANY
            self._call()
            self.words[Word.SWEEPS], self.origin = sweeps, None
            if failure is not None:
                return failure
            try:
                self._make_room(wanted, counts, bytes)
            except NotClosed as reason:
                return FailedText(0, str(reason))

    def _before_zero(self, start: _Snapshot) -> None:
        """Go back to before the first step that met a density of zero at a place where none did before."""
        zero = self.zeros[self.told_zeros].copy()
        zero[3] = 0
        self._restore(start)
        self.words[Word.STEP_LIMIT], self.words[Word.LAST_STEP] = zero[4], NO_LIMIT
        self.words[Word.SWEEPS] = _MANY
        self._call()
        self.words[Word.SWEEPS] = zero[5]
        self.zeros[self.told_zeros] = zero
        self.told_zeros += 1
        self.words[Word.ZERO_COUNT] = self.told_zeros
        self.origin = None

    def _is_far(self, origin: _Snapshot) -> bool:
        return bool(self.words[Word.STEPS] - origin.words[Word.STEPS] > _STEPS_AGAIN)

    def _call(self) -> int:
        with self.generator.lock:
            return self.closed.native.entry(self.words.ctypes.data)

    def kernel(self) -> int:
        """The kernel whose turn it is, after a step that failed."""
        return int(self.schedule[self.words[Word.COUNTER] + 1])

    def forget(self) -> None:
        """Never go back to before now: someone else has used the generator."""
        self.origin = None

    def skip(self) -> None:
        """Go on behind the step that failed, which was made in another way."""
        self.words[Word.COUNTER] += 2
        self.words[Word.STEPS] += 1


def _size(template: Template, capacity: Sequence[int]) -> int:
    """How many places there are of a template.

    Raises:
        NotClosed: there would be too many.
    """
    size = max(math.prod(capacity), 1)
    if size > _MOST_PLACES:
        raise NotClosed(f"the indices of {template.parts!r} are far apart")
    return size


def _words(parts: Sequence[Any]) -> int:
    """How much memory the leaves of a choice take, or more."""
    return sum(len(part) + 4 if isinstance(part, list) else 1 for part in parts)
