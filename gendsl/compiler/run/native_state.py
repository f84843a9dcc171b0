"""The memory of a chain of machine code: the choices of its current trace, and what its steps write down.

Where a run of the schedule ends as there is no room, there is more before the step is made again. All of this
is about the same arrays, so this is one module.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gendsl.compiler.hir import Input
from gendsl.compiler.hir.addresses import Addresses, Paths
from gendsl.compiler.hir.encode import Words, deep_layout, flat, room, tangent_layout, with_tangents
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import leaves
from gendsl.compiler.llvm.native_draws import generator_address
from gendsl.compiler.llvm.native_layout import (
    READ_WORDS,
    TemplateWords,
    Word,
)
from gendsl.compiler.run.chain_state import OTHER_THAN_OBSERVED, ChainState
from gendsl.compiler.run.kept_choices import KeptChoices
from gendsl.compiler.run.native_choices import HeldChoices, NativeChoices

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel

_FIRST_ROOM = _FIRST_NODES = 64
_FIRST_WORDS, _FIRST_HEAP = 1 << 14, 1 << 18
_FIRST_CAPACITY, _GROWTH = 8, 4
_LARGEST = 1 << 28
_MOST_PLACES = 1 << 22
"""How many places a template may have, of 40 bytes or more each."""
_NOWHERE = -3
"""In place of the number of a template, where the density is never zero again."""
_HEAP_A_WORD = 32
"""How many words there are for arrays that are kept, for each word of those in a trace: where they are used
up, all but those are forgotten, which takes the longer the more there are.
"""
_NODES_AT_LEAST = 1000
"""For how many steps numbers of calls are to last; then those of the current trace are numbered anew."""
_LOGS = {
    Word.WRITES: (Word.WRITE_COUNT, Word.WRITE_ROOM),
    Word.READS: (Word.READ_COUNT, Word.READ_ROOM),
}


class _Snapshot(NamedTuple):
    """What is needed to make the same steps again."""

    words: np.ndarray
    stamps: list[np.ndarray]
    columns: list[list[np.ndarray]]
    tallies: np.ndarray
    zeros: np.ndarray
    kept: list[np.ndarray]
    generator: Any


class NativeState(NativeChoices, ChainState):
    """The memory of a chain.

    Attributes:
        words: what the machine code is given the address of; see `native_layout`.
        stamps: for each template the four stamps of each place, and the first coordinate of what was read.
        masks: for each template a byte for each place, 1 where the choice is observed.
        borrowed: what else has arrays of the current trace: the memory of one that was gone back to.
    """

    closed: ChainKernel
    form = "machine code"
    steps_again = 1000

    def __init__(self, closed: ChainKernel) -> None:
        self.layout = closed.layout
        super().__init__(closed, self.layout.size)
        self.room = dict.fromkeys(_LOGS, _FIRST_ROOM)
        self.capacities = [[_FIRST_CAPACITY] * template.rank for template in self.templates]
        self.arena_size, self.heap_size = _FIRST_WORDS, _FIRST_HEAP
        self.node_room, self.numbered_at = _FIRST_NODES, 0
        self.words[Word.TALLIES] = self.tallies.ctypes.data
        self.words[Word.ZEROS] = self.zeros.ctypes.data
        self.words[Word.NOW] = 1
        rows = [words.stamps(TemplateWords.CURRENT) for words in self.layout.templates]
        self.row_pointers = np.array(rows, np.int64)
        self.paths_known: list[dict[tuple[int, ...], Any]] = [{} for _ in self.templates]

    def start(self, generator: Any, schedule: Sequence[int]) -> None:
        self.numbered_at -= int(self.words[Word.STEPS])  # which are counted from 0 again
        super().start(generator, schedule)
        self._set_inputs()
        self.words[Word.SCHEDULE] = self.schedule.ctypes.data
        self.draw_from(generator)

    def renew(self) -> None:
        self._set_inputs()

    def draw_from(self, generator: Any) -> None:
        super().draw_from(generator)
        self.words[Word.GENERATOR] = generator_address(generator)

    def prepare(self) -> None:
        self.closed.native  # noqa: B018 (compiled now, and not within the first step)

    def _set_inputs(self) -> None:
        self.inputs, facts = Words(), self.closed.lowered.facts
        for number, found, kind in self.closed.inputs():
            parts, layout = flat(facts, found, kind), deep_layout(facts, kind)
            for leaf, (value, (word, inner)) in enumerate(zip(parts, layout, strict=True)):
                at = self.layout.input_word(Input(number, leaf, word))
                self.words[at] = self.inputs.word(value, word, inner)
                if (number, leaf) in self.closed.slopes_of:
                    made = self.inputs.word(with_tangents(value, inner), "r", tangent_layout(inner))
                    self.words[self.layout.input_word(Input(number, leaf, word, True))] = made

    def _found_so_far(self) -> None:
        self.found = Words()

    def _give(self, place: int, value: Any) -> Any:
        facts, (_, kind) = self.closed.lowered.facts, self.closed.lowered.inputs[place]
        ((leaf, (word, inner)),) = zip(flat(facts, value, kind), deep_layout(facts, kind), strict=True)
        self.words[self.layout.input_word(Input(place, 0, word))] = self.found.word(leaf, word, inner)
        return self.found.memory[-2] if self.found.memory else None

    def _as_floats(self, data: Any) -> np.ndarray:
        floats: np.ndarray = data.view(np.float64)
        return floats

    # --- the current trace --------------------------------------------------------------------------

    def load(self, choices: Mapping[Any, Any], observed: Container[Any], log_density: float) -> None:
        """Make a trace the current one.

        Raises:
            NotClosed: it is not of the types that the text is for.
        """
        self.origin = None
        addresses = Addresses(self.closed.lowered)
        capacities = [list(capacity) for capacity in self.capacities]
        rows: list[list[tuple[tuple[int, ...], list[Any], bool]]] = [[] for _ in self.templates]
        zeros = self._zero_paths()
        counted = 0
        for path, (template, indices, parts) in self.closed.placed(addresses, choices).items():
            rows[template.number].append((indices, parts, path in observed))
            counted += template.counted
        places = {entry: self._found(addresses, *zero) for entry, zero in zeros.items()}
        for (number, indices), node in addresses.nodes.items():
            rows[number].append((indices, [node + 1], False))
        self.node_room = max(self.node_room, len(addresses.nodes))
        self.words[Word.NODES], self.words[Word.NODE_ROOM] = len(addresses.nodes), self.node_room
        self.numbered_at = int(self.words[Word.STEPS])
        for template, given in zip(self.templates, rows, strict=True):
            capacity = capacities[template.number]
            for indices, *_ in given:
                if min(indices, default=0) < 0:
                    raise NotClosed("a negative index in an address")
                for axis, index in enumerate(indices):
                    capacity[axis] = max(capacity[axis], index + 1)
            if template.is_below:
                capacity[0] = self.node_room
        for template in self.closed.observed_alone:
            if not all(is_observed for _, _, is_observed in rows[template.number]):
                raise NotClosed(OTHER_THAN_OBSERVED)
        self.values, self.capacities = Words(), capacities
        self.borrowed: tuple[Any, ...] = ()
        self.words[Word.CURRENT], self.words[Word.COUNT] = self.words[Word.NOW], counted
        self.set_float(Word.LOG_DENSITY, log_density)
        self.stamps: list[np.ndarray] = []
        self.first_rows: list[int] = []  # where the first row of each lies
        self.columns: list[list[np.ndarray]] = []
        self.masks: list[np.ndarray] = []
        self.covered: dict[int, np.ndarray] = {}
        for template, given in zip(self.templates, rows, strict=True):
            self._make_columns(template)
            self._put(template, given)
        self._set_zero_places(places)
        if self.layout.has_arrays:
            size = sum(_words(parts) for number in self.closed.written for _, parts, _ in rows[number])
            self.heap_size = max(self.heap_size, min(_HEAP_A_WORD * size, _LARGEST))
        self._make_memory()

    def _make_columns(self, template: Template) -> None:
        """New columns, stamps and a mask for a template."""
        size = _size(template, self.capacities[template.number])
        self.stamps.append(room(5 * size).reshape(5, size))
        self.first_rows.append(self.stamps[-1].ctypes.data)
        self.columns.append([room(size) for _ in leaves(template.type)])
        self.masks.append(np.zeros(size, np.uint8))
        words = self.layout.templates[template.number]
        for which, stamps in enumerate(self.stamps[-1]):
            self.words[words.stamps(which)] = stamps.ctypes.data
        self.words[words.stamps(TemplateWords.OBSERVED)] = self.masks[-1].ctypes.data
        if template.number in self.layout.covered:
            made = self.covered[template.number] = np.zeros(size, np.int64)
            self.words[words.stamps(TemplateWords.COVERED)] = made.ctypes.data
        self.words[words.stamps(TemplateWords.TRACE)] = template.is_auxiliary
        self.words[words.stamps(TemplateWords.LEAVES)] = words.columns
        self.words[words.stamps(TemplateWords.COUNTED)] = template.counted
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

    @property
    def stamp(self) -> int:
        return int(self.words[Word.CURRENT])

    def stamps_now(self, template: Template) -> np.ndarray:
        found: np.ndarray = self.stamps[template.number][self.row(template, self.words)]
        return found

    def rows_now(self) -> list[np.ndarray]:
        pointers = self.words[self.row_pointers].tolist()
        known = zip(pointers, self.first_rows, self.stamps, strict=True)
        return [stamps[0] if pointer == first else stamps[1] for pointer, first, stamps in known]

    def row(self, template: Template, words: np.ndarray) -> int:
        """Which row of the stamps says what is in the current trace: two of them take turns."""
        pointer = words[self.layout.templates[template.number].stamps(TemplateWords.CURRENT)]
        return 0 if pointer == self.first_rows[template.number] else 1

    def held(self) -> HeldChoices:
        """The choices of the current trace, for when the chain has left it."""
        return HeldChoices(
            self,
            self.rows_now(),
            count=int(self.words[Word.COUNT]),
            log_density=self.log_density(),
            nodes=int(self.words[Word.NODES]),
            arrays=(self.values, self.heap, self.borrowed),
            masks=self.masks,
        )

    def kept_draw(self, before: KeptChoices | None, observed: Container[Any]) -> KeptChoices:
        return KeptChoices(self, self.rows_now(), self.log_density(), before)

    def go_to(self, held: HeldChoices) -> bool:
        """Go to a trace that was left, if its choices have a place here; whether they have."""
        if held.closed is not self.closed or held.capacities != self.capacities:
            return False
        self.origin, self.borrowed = None, held.arrays
        for now, row in zip(self.rows_now(), held.rows, strict=True):
            now[:] = row
        for number, (mine, others) in enumerate(zip(self.columns, held.columns, strict=True)):
            if number in self.closed.written:
                for column, values in zip(mine, others, strict=True):
                    column[:] = values
            elif mine is not others:
                self._share(number, others)
        for words, mask in zip(self.layout.templates, held.masks, strict=True):
            self.words[words.stamps(TemplateWords.OBSERVED)] = mask.ctypes.data
        self.masks = list(held.masks)
        self.words[Word.NODES] = max(self.words[Word.NODES], held.nodes)
        self.words[Word.CURRENT], self.words[Word.COUNT] = held.stamp, held.count
        self.set_float(Word.LOG_DENSITY, held.log_density)
        return True

    def _share(self, number: int, columns: list[np.ndarray]) -> None:
        """Let the choices of a template, which no step writes, lie where they do in a trace that was left."""
        words, self.columns[number] = self.layout.templates[number], columns
        for leaf, column in enumerate(columns):
            self.words[words.column(leaf)] = column.ctypes.data

    # --- where densities were zero ----------------------------------------------------------------------

    def _zero_places(self) -> dict[int, tuple[Template, tuple[int, ...]]]:
        """Where the density was zero: templates and indices."""
        found = {}
        for entry, (_, number, place, *_) in enumerate(self.zeros[: self.told_zeros].tolist()):
            if number >= 0:
                template = self.templates[number % len(self.templates)]
                found[entry] = template, self.indices_at(template, place)
        return found

    def _zero_paths(self) -> dict[int, tuple[Template, tuple[int, ...], tuple[Any, ...]]]:
        """The same, with addresses if below calls in the model."""
        paths = self.paths() if self.told_zeros else Paths(self.closed.lowered, {})
        return {
            entry: (one, at, paths.path(one, at) if one.is_below and not one.is_auxiliary else ())
            for entry, (one, at) in self._zero_places().items()
        }

    def _found(
        self, addresses: Addresses, template: Template, indices: tuple[int, ...], path: tuple[Any, ...]
    ) -> tuple[Template, tuple[int, ...]] | None:
        """The same once calls are numbered anew; None where it can't be said."""
        if not template.is_below:
            return template, indices
        if not path:
            return None
        return next((found for found in addresses.find_all(path) if found[0] is template), None)

    def _set_zero_places(self, found: Mapping[int, tuple[Template, tuple[int, ...]] | None]) -> None:
        """Set the places of the templates and indices where the density was zero."""
        for entry, one in found.items():
            why = int(self.zeros[entry, 1]) // len(self.templates) * len(self.templates)
            self.zeros[entry, 1] = _NOWHERE
            if one is not None:
                template, indices = one
                capacity = self.capacities[template.number]
                if all(index < extent for index, extent in zip(indices, capacity, strict=True)):
                    place = np.ravel_multi_index(indices, capacity) if capacity else 0
                    self.zeros[entry, 1:3] = why + template.number, place

    # --- memory -----------------------------------------------------------------------------------

    def widen(self, size: int) -> None:
        """Make room for so many words of the context."""
        if len(self.words) < size:
            self.words = np.concatenate([self.words, np.zeros(size - len(self.words), np.int64)])
            self.origin = None

    def has_made_room(self) -> bool:
        """Make room after a function of the current trace had none; whether there is some now."""
        self.origin, self.words[Word.HEAP_WANTED] = None, 0  # it keeps no arrays
        try:
            self._make_room(self._wanted())
        except NotClosed:
            return False
        return True

    def _make_memory(self, *, with_heap: bool = True) -> None:
        """The arena, the logs and, unless these stay, the memory of arrays that are kept."""
        self.arena = room(self.arena_size)
        start = self.arena.ctypes.data
        self.words[Word.START] = self.words[Word.NEXT] = start
        self.words[Word.END] = start + 8 * self.arena_size
        if with_heap:
            self.heap = room(self.heap_size)
            self.words[Word.HEAP] = self.heap.ctypes.data
            self.words[Word.HEAP_END] = self.heap.ctypes.data + 8 * self.heap_size
        widths = {Word.WRITES: self.layout.write_words, Word.READS: READ_WORDS}
        self.logs = {log: np.zeros(self.room[log] * width, np.int64) for log, width in widths.items()}
        for log, elsewhere in ((Word.WRITES, Word.WRITES_ELSEWHERE), (Word.READS, Word.READS_ELSEWHERE)):
            self.logs[elsewhere] = np.zeros_like(self.logs[log])
        for log, memory in self.logs.items():
            self.words[log] = memory.ctypes.data
        for log, (_, most) in _LOGS.items():
            self.words[most] = self.room[log]

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

    def _make_room(self, wanted: Any) -> None:
        self._make_room_for(*wanted)

    def _make_room_for(
        self, wanted: dict[tuple[int, int], int], counts: dict[Word, int], bytes: int
    ) -> None:
        """More room of what there was too little of; in the memory of arrays that are kept, for some bytes.

        Raises:
            NotClosed: it would be too much; then nothing is changed.
        """
        capacities = [list(capacity) for capacity in self.capacities]
        nodes, node_room = counts[Word.NODES] >= self.node_room, self.node_room
        if nodes and self.words[Word.STEPS] - self.numbered_at < _NODES_AT_LEAST:
            node_room *= _GROWTH
        for template, capacity in zip(self.templates, capacities, strict=True):
            if template.is_below:
                capacity[0] = node_room
        for (number, axis), index in wanted.items():
            capacities[number][axis] = max(index + 1, _GROWTH * capacities[number][axis])
        for template, capacity in zip(self.templates, capacities, strict=True):
            _size(template, capacity)
        full = [log for log in _LOGS if counts[log] >= self.room[log]]
        heap, arena = self.heap_size, self.arena_size
        if bytes:
            used = int(self.words[Word.HEAP] - self.heap.ctypes.data) // 8
            heap = max(2 * heap if 2 * used < heap else heap, _HEAP_A_WORD * (bytes // 8))
        elif not wanted and not full and not nodes:
            arena *= _GROWTH
        if max(arena, heap) > _LARGEST or any(_GROWTH * self.room[log] > _LARGEST for log in full):
            raise NotClosed("more memory than a text may use")
        self.heap_size, self.arena_size, self.node_room = heap, arena, node_room
        for log in full:
            self.room[log] *= _GROWTH
        if bytes or nodes:
            self._reload(capacities)
        else:
            self._grow(capacities)

    def _grow(self, capacities: list[list[int]]) -> None:
        """Give the current trace more room where it lies, of at least these capacities.

        Unlike `_reload` this reads no choice as an object of Python, which takes a thousand times as long.
        """
        zeros = self._zero_places()
        before, self.capacities = self.capacities, capacities
        for template, extents in zip(self.templates, before, strict=True):
            if extents != capacities[template.number]:
                self._widen(template, extents)
        self._set_zero_places(zeros)
        self._make_memory(with_heap=False)

    def _widen(self, template: Template, before: list[int]) -> None:
        """More room for a template, that had these capacities."""
        number, capacity = template.number, self.capacities[template.number]
        size, inside = _size(template, capacity), tuple(map(slice, before))

        def widened(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            new.reshape(capacity)[inside] = old.reshape(before)
            return new

        words = self.layout.templates[number]
        old, first = self.stamps[number], self.first_rows[number]
        stamps = room(5 * size).reshape(5, size)
        for was, row in zip(old, stamps, strict=True):
            widened(was, row)
        self.stamps[number], self.first_rows[number] = stamps, stamps.ctypes.data
        for which in range(len(stamps)):  # rows take turns
            pointer = int(self.words[words.stamps(which)])
            row = stamps[(pointer - first) // old.strides[0]]
            self.words[words.stamps(which)] = row.ctypes.data
        columns = self.columns[number] = [widened(column, room(size)) for column in self.columns[number]]
        for leaf, column in enumerate(columns):
            self.words[words.column(leaf)] = column.ctypes.data
        mask = self.masks[number] = widened(self.masks[number], np.zeros(size, np.uint8))
        self.words[words.stamps(TemplateWords.OBSERVED)] = mask.ctypes.data
        if number in self.covered:
            made = self.covered[number] = widened(self.covered[number], np.zeros(size, np.int64))
            self.words[words.stamps(TemplateWords.COVERED)] = made.ctypes.data
        for axis, extent in enumerate(capacity):
            self.words[words.capacity(axis)] = extent

    def _reload(self, capacities: list[list[int]]) -> None:
        """Make the memory of the current trace anew, of other capacities, without what is gone."""
        paths = self.paths(of_trace=True)
        observed = {
            paths.path(template, self.indices_at(template, place))
            for template in self.templates
            for place in np.flatnonzero(self.masks[template.number]).tolist()
        }
        choices = self.choices()
        self.capacities = capacities
        self.words[Word.NOW] += 1
        self.load(choices, observed, self.log_density())

    def begin_from(self, held: HeldChoices) -> None:
        """Begin with the trace that the state is at, whose choices were copied, to go back there."""
        self.origin = self._snapshot_of(held)

    def _snapshot(self) -> _Snapshot:
        return self._snapshot_of(self.held())

    def _snapshot_of(self, held: HeldChoices) -> _Snapshot:
        words, written = self.words.copy(), self.closed.written
        columns = [one if number in written else [] for number, one in enumerate(held.columns)]
        kept = [one.copy() for every in self.kept.values() for one in every]
        tallies, zeros = self.tallies.copy(), self.zeros.copy()
        return _Snapshot(words, held.rows, columns, tallies, zeros, kept, self.generator.state)

    def _restore(self, snapshot: _Snapshot) -> None:
        kept = self.words[[Word.NOW, Word.NODES]]  # calls keep the numbers that they were given since
        self.words[:] = snapshot.words
        self.words[[Word.NOW, Word.NODES]] = kept
        for template in self.templates:
            row = self.row(template, snapshot.words)
            self.stamps[template.number][row] = snapshot.stamps[template.number]
            for column, saved in zip(
                self.columns[template.number], snapshot.columns[template.number], strict=False
            ):
                column[:] = saved
        self.tallies[:], self.zeros[:] = snapshot.tallies, snapshot.zeros
        every = (one for kept in self.kept.values() for one in kept)
        for one, saved in zip(every, snapshot.kept, strict=True):
            one[:] = saved
        self.generator.state = snapshot.generator

    # --- running ----------------------------------------------------------------------------------

    def _failure(self) -> FailedText:
        return FailedText(*self.closed.llvm[1][int(self.words[Word.SITE])])

    def _wanted(self) -> Any:
        counts = {log: int(self.words[count]) for log, (count, _) in _LOGS.items()}
        counts[Word.NODES] = int(self.words[Word.NODES])
        return self._wants(), counts, int(self.words[Word.HEAP_WANTED])

    def _call(self) -> int:
        self.words[Word.START] = self.arena.ctypes.data  # what the last run kept behind it is computed anew
        with self.generator.lock:
            return self.closed.native.entry(self.words.ctypes.data)


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
