"""What machine code records of draws, in rows that `native_records` describes, as values of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.decode import typed
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.types import Array, Number
from gendsl.compiler.llvm.native_layout import TemplateWords, Word

if TYPE_CHECKING:
    from gendsl.compiler.run.native_state import NativeState
    from gendsl.compiler.run.recorded_functions import RecordedFunctions

_ROOM = 1_000_000
"""How many words of rows there is room for at most."""
_CELL, _COLUMN, _ARRAY = range(3)
_LENGTH, _LEAST = 2, 8
"""Which leaf of an array is its length; for how many more numbers than twice that there is room."""
_MORE_SIZES = 1024
"""Of so many more choices than a trace has it is said whether steps were looked at."""


def numbered_below(templates: Sequence[Template], path: tuple[Any, ...]) -> Template | None:
    """The template of all numbers or arrays that are numbered below an address, if there is one alone."""
    size = len(path)
    found = [one for one in templates if not one.is_auxiliary and one.parts[:size] == path]
    if len(found) != 1 or found[0].calls is not None or not isinstance(found[0].type, (Array, Number)):
        return None
    (template,) = found
    others = any(part is not None for part in template.parts[size:])
    return None if others or template.rank != len(template.parts) - size else template


Entry = tuple[Template, tuple[int, ...] | None]
"""The template of a choice and its indices, or None for all choices that there are."""


def entry_at(state: NativeState, path: tuple[Any, ...]) -> tuple[Entry | None, bool]:
    """What rows hold of an address, if they can; and whether there may be a choice at it."""
    addresses = Addresses(state.closed.lowered)
    try:
        every = addresses.find_all(path)
    except NotClosed:
        numbered = numbered_below(state.templates, path)
        if numbered is None or numbered.rank != 1 or not isinstance(numbered.type, Number):
            return None, False
        return None if _is_in_nodes(numbered) else (numbered, None), False
    every = [one for one in every if not one[0].is_auxiliary]
    if len(every) != 1 or addresses.nodes or _is_in_nodes(every[0][0]):
        return None, bool(every)
    template, _ = every[0]
    is_array = isinstance(template.type, Array) and template.type.rank == 1
    return every[0] if is_array or isinstance(template.type, Number) else None, True


Part = list[Any] | np.ndarray
"""A quantity in some draws in turn: its values, or Python's numbers in an array, which takes less room."""


@dataclass
class Draws:
    """What was recorded of some draws.

    Attributes:
        log_prob: the log density of each.
        counts: for each the steps and those accepted, of each row of the tallies.
        values: for each quantity the values of all draws in turn: of some in a list, or where they are
            Python's numbers, in an array.
    """

    log_prob: np.ndarray
    counts: np.ndarray
    values: list[list[Part]]

    @property
    def count(self) -> int:
        """The number of draws."""
        return len(self.log_prob)


class RecordedDraws:
    """Records the draws of a chain of machine code.

    Attributes:
        sweeps: how many times the schedule is to be run in all.
    """

    def __init__(
        self,
        state: NativeState,
        found: list[Entry],
        places: Sequence[int],
        functions: RecordedFunctions | None = None,
        function_places: Sequence[int] = (),
    ) -> None:
        """
        Args:
            found: for each quantity that is at an address the template, and the indices of a choice, None for
                all that there are.
            places: which quantities these are.
            functions: those that give the others.
            function_places: which these are.
        """
        self.state, self.functions = state, functions
        kinds = [_CELL if is_cell(*one) else _COLUMN if one[1] is None else _ARRAY for one in found]
        order = sorted(range(len(found)), key=kinds.__getitem__)
        self.entries = [found[place] for place in order]
        self.order = [*(places[place] for place in order), *function_places]
        self.counts = [kinds.count(kind) for kind in (_CELL, _COLUMN, _ARRAY)]
        self.sweeps = self.thin = 0

    @classmethod
    def of(
        cls,
        state: NativeState,
        paths: Mapping[int, tuple[Any, ...]],
        functions: RecordedFunctions | None = None,
        function_places: Sequence[int] = (),
    ) -> RecordedDraws | None:
        """What records what is at some addresses; None if machine code can't do that for all of them.

        Args:
            paths: the addresses, by which quantities they are.
            functions: the functions that give the others.
            function_places: which these are.
        """
        found: list[Entry] = []
        for path in paths.values():
            entry, _ = entry_at(state, path)
            if entry is None:
                return None
            found.append(entry)
        return cls(state, found, list(paths), functions, function_places)

    def room(self) -> int:
        """How many draws may be recorded at once; 0 where there is no place for a choice yet."""
        return 0 if None in self._places() else max(1, _ROOM // self._width(self._rooms()))

    def _places(self) -> list[int | None]:
        """Where choices lie."""
        return [0 if at is None else self.state.place_of(one, at) for one, at in self.entries]

    def _rooms(self) -> list[int]:
        """For how many numbers there is room in a row, of each entry."""
        rooms, state = [], self.state
        for (template, indices), place in zip(self.entries, self._places(), strict=True):
            if indices is None:
                rooms.append(state.capacities[template.number][0])
            elif is_cell(template, indices) or place is None:
                rooms.append(0)
            else:
                length = int(state.columns[template.number][_LENGTH][place])
                rooms.append(min(2 * length + _LEAST, _ROOM // 4))
        return rooms

    def _width(self, rooms: list[int]) -> int:
        """How many words a row has."""
        own = 0 if self.functions is None else self.functions.width
        return 1 + 2 * len(self.state.tallies) + len(rooms) + sum(rooms) + own

    # --- recording --------------------------------------------------------------------------------

    def begin(self, draws: int, thin: int, looked_at: set[int] | None) -> None:
        """Start to record so many draws, one each time that the schedule was run `thin` times.

        Args:
            looked_at: the numbers of choices of which steps were looked at; the chain stops behind a draw
                with another one. None if it is not to stop there.
        """
        words = self.state.words
        self.sweeps, self.thin, self.draws = draws * thin, thin, 0
        self.heads: list[np.ndarray] = []
        self.values: list[list[Part]] = [[] for _ in self.order]
        self.rows: np.ndarray | None = None
        self.seen = np.zeros(0 if looked_at is None else int(words[Word.COUNT]) + _MORE_SIZES, np.uint8)
        self.seen[[size for size in looked_at or () if size < len(self.seen)]] = 1
        words[Word.SEEN], words[Word.SEEN_SIZE] = self.seen.ctypes.data, len(self.seen)
        words[Word.SWEEPS], self.state.recorded = self.sweeps, self

    @property
    def swept(self) -> int:
        """How often the schedule was run."""
        return self.sweeps - int(self.state.words[Word.SWEEPS])

    def go_on(self) -> None:
        """Record what follows, where choices lie now."""
        self._take()
        self.state.words[Word.FUNCTIONS] = 0
        if self.functions is not None:
            self.functions.set_words()
        state, words, rooms = self.state, self.state.words, self._rooms()
        width = self._width(rooms)
        table: list[Any] = [width, len(state.tallies), *self.counts]
        for (template, _), place, room in zip(self.entries, self._places(), rooms, strict=True):
            at = state.layout.templates[template.number]
            table += [at.column(0), at.stamps(TemplateWords.CURRENT), place, room]
        self.table, self.rooms = np.array(table, np.int64), rooms
        left = self.sweeps // self.thin - self.draws
        self.rows = np.empty((left, width), np.int64)
        words[Word.RECORDED], words[Word.ROWS] = self.table.ctypes.data, self.rows.ctypes.data
        words[Word.ROW_COUNT], words[Word.SWEEPS_A_DRAW] = 0, self.thin
        words[Word.SWEEPS_TO_DRAW] = self.thin - self.swept % self.thin

    def end(self) -> Draws:
        """Stop; what was recorded."""
        self._take()
        self.state.words[Word.RECORDED], self.state.recorded = 0, None
        status = int(self.state.words[Word.FUNCTION_STATUS])
        if self.functions is not None and status:
            self.functions.make_room(status)
        kernels = len(self.state.tallies)
        heads = np.concatenate([np.empty((0, 1 + 2 * kernels), np.int64), *self.heads])
        counts = heads[:, 1:].reshape(len(heads), kernels, 2)
        return Draws(heads[:, 0].view(np.float64), counts, self.values)

    def _take(self) -> None:
        """Take over what was recorded of draws that were not undone."""
        words = self.state.words
        count = self.swept // self.thin - self.draws
        if words[Word.RECORDED]:  # else the chain went back, to where it had been
            count = min(count, int(words[Word.ROW_COUNT]))
        if self.rows is None or count <= 0:
            return
        rows, at = self.rows[:count], 1 + 2 * len(self.state.tallies)
        self.draws += count
        self.heads.append(rows[:, :at])
        made: list[Part] = []
        for (template, indices), room in zip(self.entries, self.rooms, strict=True):
            kind = template.type.kind  # type: ignore[attr-defined]
            if is_cell(template, indices):
                made.append(typed(rows[:, at].copy(), kind))
            else:
                numbers, sizes = typed(rows[:, at + 1 : at + 1 + room], kind), rows[:, at].tolist()
                made.append([row[:size].copy() for row, size in zip(numbers, sizes, strict=True)])
            at += 1 + room
        if self.functions is not None:
            made += self.functions.take(rows, at)
        for place, values in zip(self.order, made, strict=True):
            self.values[place].append(values)


def is_cell(template: Template, indices: tuple[int, ...] | None) -> bool:
    """Whether what is recorded is one number."""
    return indices is not None and isinstance(template.type, Number)


def _is_in_nodes(template: Template) -> bool:
    """Whether where a choice lies depends on the calls of a program that calls itself."""
    return bool(template.is_below or template.path_axes)
