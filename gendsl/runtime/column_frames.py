"""The iterations of a loop as columns: one per choice, and what it takes to make any frame again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.runtime.columns import Column, plain_type
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.reads import Frame, Frames
from gendsl.runtime.row_columns import AnyColumn, RowColumn, column_of_values, entries_of
from gendsl.runtime.totals import Total, total_of
from gendsl.runtime.totals import change as changed_total

if TYPE_CHECKING:
    from gendsl.runtime.column_loops import ColumnLoopBlock

EXTREME = 1e6
"""A score from which on the last digit matters: taking it from a total again would leave a trace."""
_FEW = 8
"""Elements that are put into a column one by one."""
_PART = 64
"""So are elements at the end that are no more than this part of a column: to copy it takes longer."""
_KEPT = {float: np.float64, int: np.int64, bool: np.bool_}
_RECENT = 8
"""How many frames are kept once they are made: a move asks for those that it edits more than once."""

_new: Any = object.__new__

Outer = tuple[dict[int, Any], ...]
"""For each frame in scope of a loop, the slots that the loop's body reads."""


class ColumnFrames:
    """What a vector of frames is to a loop, made from columns.

    Deterministic slots, distributions and scores are computed again, from the choices and from what the body
    read outside the loop. A frame that is asked for again soon is still there.

    Attributes:
        outer: what the body reads outside the loop.
        values: what each source of the loop is.
        columns: the choices, in the order of the sites; and the variables that the loop keeps.
        totals: for each site the sum of its scores.
        arrays: source -> its elements as a column, where that was needed.
        shared: site -> its distribution, where that is one for all iterations and was needed.
    """

    __slots__ = ("_recent", "arrays", "columns", "loop", "outer", "shared", "size", "totals", "values")

    def __init__(
        self,
        loop: ColumnLoopBlock,
        outer: Outer,
        values: list[Any],
        size: int,
        columns: tuple[AnyColumn, ...],
        totals: tuple[Total, ...],
        arrays: dict[int, tuple[Any, Any]],
        shared: dict[int, Any] | None = None,
    ) -> None:
        self.loop = loop
        self.outer = outer
        self.values = values
        self.size = size
        self.columns = columns
        self.totals = totals
        self.arrays = arrays
        self.shared: dict[int, Any] = {} if shared is None else shared
        self._recent: dict[int, Frame] = {}

    # --- looking ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, t: int) -> Frame:
        frame = self._recent.get(t)
        if frame is None:
            if t < 0:
                raise IndexError(t)
            if len(self._recent) >= _RECENT:
                self._recent = {}
            frame = self._recent[t] = self.loop.frame_of(self.outer, self.values, self.columns, t)
        return frame

    def _frame(self, t: int) -> Frame:
        """The frame of iteration t."""
        frame: Frame = self.loop.frame_of(self.outer, self.values, self.columns, t)
        return frame

    def __iter__(self) -> Iterator[Frame]:
        return map(self._frame, range(self.size))

    def iterate(self, start: int) -> Iterator[Frame]:
        """The frames from iteration `start` on."""
        return map(self._frame, range(start, self.size))

    def column(self, slot: int) -> AnyColumn | None:
        """The column whose values a slot has, if it is a choice."""
        i = self.loop.column_of.get(slot)
        return None if i is None else self.columns[i]

    def entry(self, t: int, slot: int) -> Any:
        """One slot of the frame of iteration t."""
        i = self.loop.column_of.get(slot)
        if i is not None:
            return self.columns[i][t]
        source = self.loop.targets.get(slot)
        return self[t][slot] if source is None else self.loop.sources[source].element(self.values[source], t)

    def entries(self, slot: int) -> list[Any]:
        """One slot of every frame."""
        column = self.column(slot)
        if column is not None:
            return entries_of(column)
        if slot in self.loop.targets:
            return [self.entry(t, slot) for t in range(self.size)]
        return [frame[slot] for frame in self]

    # --- other versions ---------------------------------------------------------------------------

    def over(
        self, outer: Outer, columns: tuple[AnyColumn, ...], totals: tuple[Total, ...], shared: dict[int, Any]
    ) -> ColumnFrames:
        """The iterations of the same sources, with other choices, or read in another scope."""
        new: ColumnFrames = _new(ColumnFrames)
        new.loop, new.values, new.size, new.arrays = self.loop, self.values, self.size, self.arrays
        new.outer, new.columns, new.totals, new.shared = outer, columns, totals, shared
        new._recent = {}
        return new

    def with_outer(self, outer: Outer, values: list[Any]) -> ColumnFrames:
        """The same choices, read in another scope; the totals are the caller's to put right."""
        return ColumnFrames(self.loop, outer, values, self.size, self.columns, self.totals, self.arrays)

    def with_totals(self, totals: tuple[Total, ...]) -> ColumnFrames:
        """The same with other totals."""
        return self.over(self.outer, self.columns, totals, {})

    def replaced(self, edits: list[tuple[int, Frame, Frame]], outer: Outer) -> Any:
        """With frames in place of others (iteration, old frame, new one), read in the scope `outer`.

        A vector of frames where the columns can't hold their choices.
        """
        totals = [*self.totals]
        changed: dict[int, dict[int, Any]] = {}
        recent = {}
        for t, was, frame in edits:
            recent[t] = frame
            for i, (value, state) in enumerate(self.loop.choices):
                record, before = frame[state], was[state]
                if record is before:
                    continue
                if record[2] != before[2]:
                    totals[i] = changed_total(totals[i], before[2], record[2])
                if record[1] is not before[1]:
                    changed.setdefault(i, {})[t] = frame[value]
            for i, slot in enumerate(self.loop.kept, len(totals)):
                if frame[slot] is not was[slot]:
                    changed.setdefault(i, {})[t] = frame[slot]
        columns = [*self.columns]
        try:
            for i, values in changed.items():
                columns[i] = _with(columns[i], values)
        except TypeError:
            store = self.with_outer(outer, self.values)
            left = self.loop.length(self.values)  # fewer, where the loop goes through less than before
            assert left is not None
            return PersistentVector.of([*map(store._frame, range(min(self.size, left)))]).set_many(recent)
        new = ColumnFrames(
            self.loop, outer, self.values, self.size, tuple(columns), tuple(totals), self.arrays
        )
        new._recent = recent
        return new

    def set(self, t: int, frame: Frame) -> Any:
        """With `frame` as that of iteration t."""
        return self.replaced([(t, self[t], frame)], self.outer)

    def truncate(self, size: int) -> ColumnFrames:
        """The first iterations; the totals are those of all, for the caller to put right."""
        columns = tuple(column.truncate(size) for column in self.columns)
        return ColumnFrames(self.loop, self.outer, self.values, size, columns, self.totals, self.arrays)

    def extend(self, frames: Iterable[Frame]) -> Any:
        """With the frames of more iterations."""
        added = list(frames)
        columns, totals = list(self.columns), list(self.totals)
        for i, (_, state) in enumerate(self.loop.choices):
            for frame in added:
                totals[i] = changed_total(totals[i], 0.0, frame[state][2])
        for slot, i in self.loop.column_of.items():
            try:
                columns[i] = _extended(columns[i], [frame[slot] for frame in added])
            except TypeError:
                return PersistentVector.of([*self, *added])
        size = self.size + len(added)
        return ColumnFrames(
            self.loop, self.outer, self.values, size, tuple(columns), tuple(totals), self.arrays
        )

    def total(self) -> Total:
        """The sum of all scores."""
        totals = self.totals
        if len(totals) == 1:
            return totals[0]
        high, low, count = totals[0]
        for more, less, others in totals[1:]:
            high, low, count = high + more, low + less, count + others
        return high, low, count

    def __reduce__(self) -> Any:
        return PersistentVector.of, (list(self),)


def gathered(
    loop: ColumnLoopBlock, frames: Frames, values: list[Any], made: list[Frame]
) -> ColumnFrames | None:
    """Iterations that ran one by one, as columns; None if columns can't hold their choices."""
    columns: list[AnyColumn] = []
    totals = []
    for step, (value, state) in zip(loop.sites, loop.choices, strict=True):
        if not all(step.is_of_family(frame[state][0]) for frame in made):
            return None
        column = column_of_values([frame[value] for frame in made], step.dtype, rows=step.rows)
        if column is None:
            return None
        columns.append(column)
        totals.append(total_of([frame[state][2] for frame in made]))
    for slot in loop.kept:
        entries = [frame[slot] for frame in made]
        dtype = _KEPT.get(type(entries[0]))
        column = None if dtype is None else column_of_values(entries, np.dtype(dtype), rows=False)
        if column is None:
            return None
        columns.append(column)
    outer = outer_of(loop.reads, frames)
    return ColumnFrames(loop, outer, values, len(made), tuple(columns), tuple(totals), {})


def _with(column: AnyColumn, values: dict[int, Any]) -> AnyColumn:
    """A column with other elements at some places.

    Raises:
        TypeError: it can't hold them.
    """
    if len(values) <= _FEW:
        for t, value in values.items():
            column = column.set(t, value)
        return column
    if type(column) is Column and set(map(type, values.values())) != {plain_type(column)}:
        raise TypeError
    return column.set_many([*values], [*values.values()])


def _extended(column: AnyColumn, values: list[Any]) -> AnyColumn:
    if isinstance(column, RowColumn):
        return column.extended(values)
    if len(values) <= _FEW or len(values) * _PART <= len(column):
        for value in values:
            column = column.append(value)
        return column
    if set(map(type, values)) != {type(column.dtype.type(0).item())}:
        raise TypeError
    try:
        return Column.of(np.concatenate((column.array(), np.array(values, column.dtype))))
    except OverflowError:
        raise TypeError from None


def outer_of(reads: list[list[int]], frames: Frames) -> Outer:
    """The slots that a body reads outside its loop."""
    if len(reads) == 1:
        frame, outer = frames[0], {}
        for slot in reads[0]:
            outer[slot] = frame[slot]
        return (outer,)
    return tuple(
        {slot: frame[slot] for slot in slots} for slots, frame in zip(reads, frames, strict=False)
    )
