"""Loops in loops that are kept as one: to their choices, a loop over pairs; see `compiler.nests`.

An iteration of it is one of the innermost loop. What is told here is which iterations there are, and which of
them an address belongs to that has variables of several loops. Where the loops come to go through something
else, the iterations that there were and are stay; the others go, or come, at the end, and then all are put in
order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path
from gendsl.runtime.blocks import Touched
from gendsl.runtime.change import LENGTH, Change
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.columns import Column
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.lowering.ir import POSITION, Level
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.nests import Nest, NestColumn, Reordered, differing, nest_paths, orders
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.reads import Changes, Frames


class _Address(NamedTuple):
    """The addresses of a site.

    Attributes:
        size: how many components they have.
        constants: which of them are what.
        own: which of them are what source gives.
        whole: whether there are no others.
    """

    size: int
    constants: list[tuple[int, Any]]
    own: list[tuple[int, int]]
    whole: bool


class _Moving(list[Any]):
    """What the sources of a loop were, in an update in which they become something else.

    Attributes:
        then: what they become, and how each of them changes by that.
    """

    then: tuple[list[Any], list[Change]]


class NestBlock(ColumnLoopBlock):
    """Loops in loops as one, which can keep its iterations as columns."""

    def __init__(self, levels: list[Level], *arguments: Any) -> None:
        super().__init__(*arguments)
        self.levels = levels
        sites = [step.site for step in self.sites if step.site is not None]
        self.addressed = [self._address(site.parts or []) for site in sites]
        self.leads = any(level.lead for level in levels[:-1])
        reads = [read for block in self.body.blocks[: levels[-1].lead] for read in block.uses]
        self.lead_slots = {(read.depth, read.slot) for read in reads if read.depth < self.depth}

    def _address(self, parts: list[Any]) -> _Address:
        own, constants = [], []
        for i, (constant, slot) in enumerate(parts):
            if slot is None:
                constants.append((i, constant))
            elif slot[0] == self.depth and slot[1] in self.targets:
                own.append((i, self.targets[slot[1]]))
        return _Address(len(parts), constants, own, len(own) + len(constants) == len(parts))

    # --- running ----------------------------------------------------------------------------------

    def run(self, execution: Any, frames: Frames) -> str | None:
        values = self.values_of(frames)
        self._meet(values, frames)
        return self.run_over(execution, frames, values)

    def values_of(self, frames: Frames) -> list[Any]:
        """What the sources are."""
        return Nest(self.sources[0].runner.call(*frames), self.levels).columns

    def _meet(self, values: list[Any], frames: Frames) -> None:
        """Execute what stands before a loop that goes through nothing: it may fail, as it should then."""
        if not self.leads:
            return
        nest: Nest = values[0].nest
        for level, node in nest.ends():
            frame = self.template.copy()
            for column, source in zip(values, self.sources, strict=True):
                if column.level <= level:
                    above = nest.above(column.level, node, level)
                    frame[source.target] = nest.element(column.level, column.number, above)
            for block in self.body.blocks[: self.levels[level].lead]:
                block.run(None, (*frames, frame))

    def vector_frame(
        self, values: list[Any], size: int, arrays: dict[int, tuple[Any, Any]], many: np.ndarray | None = None
    ) -> dict[int, Any]:
        if many is None:
            return super().vector_frame(values, size, arrays)
        return {target: values[i].take(many) for target, i in self.needed_targets}

    # --- addresses --------------------------------------------------------------------------------

    def paths(self, prefix: Path, frames: Frames, values: list[Any], size: int) -> list[Any]:
        first = self.template.copy()
        for source, value in zip(self.sources, values, strict=True):
            if type(value) is not NestColumn:
                raise NotColumnsError
            first[source.target] = value[0]
        found = []
        for step, address in zip(self.sites, self.addressed, strict=True):
            assert step.site is not None
            path = step.site.path(prefix, (*frames, first))
            own = [(len(prefix) + i, values[source]) for i, source in address.own]
            found.append(nest_paths(list(path), own, values[self.targets[step.index]]))
        return found

    def place(self, iterations: Iterations, path: Path) -> tuple[int, int] | None:
        for number, (size, constants, own, whole) in enumerate(self.addressed):
            if size == len(path) and all(path[i] == constant for i, constant in constants):
                found = self._find(iterations, {source: path[i] for i, source in own})
                return (number, found[0]) if whole and len(found) == 1 else None
        return None

    def positions(
        self, iterations: Iterations, frames: Frames, path: Path, offset: int, below: bool = True
    ) -> list[int] | None:
        inner = path[offset:]
        if ... in inner:
            return None
        found: set[int] = set()
        for size, constants, own, _ in self.addressed:
            if len(inner) > size or (len(inner) < size and not below):
                continue
            if any(i < len(inner) and inner[i] != constant for i, constant in constants):
                continue
            known = {source: inner[i] for i, source in own if i < len(inner)}
            if not known:
                return None
            found.update(self._find(iterations, known))
        return sorted(found)

    def _visited(self, before: Iterations, path: Path, offset: int) -> set[int] | None:
        found = self.positions(before, (), path, offset)
        return None if found is None else set(found)

    def iterations_at(self, iterations: Iterations, source: int, component: Any) -> list[int]:
        return self._find(iterations, {source: component})

    @staticmethod
    def _find(iterations: Iterations, known: dict[int, Any]) -> list[int]:
        size = len(iterations.frames)
        return [t for t in iterations.values[0].nest.find(known) if t < size]

    # --- updating ---------------------------------------------------------------------------------

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        frame = new[-1]
        before: Iterations = frame[self.state][0]
        slots = [(depth, slot) for depth, changed in enumerate(changes) for slot in changed]
        values = before.values
        if not self.source_slots.isdisjoint(slots):
            values = self.values_of(new)
            if values[0].nest.is_same(before.values[0].nest):
                values = before.values
        if values is not before.values or not self.lead_slots.isdisjoint(slots):
            self._meet(values, new)
        if values is before.values:
            return super().update(execution, old, new, changes, touched)
        ordered = self._begin(frame, before, values)
        mask = super().update(execution, old, new, changes, touched)
        after: Iterations = frame[self.state][0]
        frame[self.state] = self._ended(after, values, ordered), *frame[self.state][1:]
        return mask

    def _begin(self, frame: Any, before: Iterations, values: list[Any]) -> np.ndarray | None:
        """Put what is about to change into the frame; the order that iterations have from then on, if any."""
        one, other = before.values[0].nest, values[0].nest
        frames, readers = before.frames, before.readers
        moving, then, ordered = _Moving(before.values), values, None
        changed: list[Any] = [set() for _ in values]
        if not one.agrees(other):
            was, now = orders(one, other)
            if (np.diff(was) < 0).any() or (np.diff(now) < 0).any():
                moving = _Moving(Reordered(value, was) for value in before.values)
                then = [Reordered(value, now) for value in values]
                frames, readers, ordered = self._reordered(frames, was, moving), {}, now
            changed = [differing(two, three) for two, three in zip(moving, then, strict=True)]
        length = set() if one.size == other.size else {LENGTH}
        moving.then = then, [some | length or None for some in changed]
        iterations = Iterations(frames, before.total, moving, None, readers, {})
        frame[self.state] = iterations, *frame[self.state][1:]
        return ordered

    def _ended(self, after: Iterations, values: list[Any], ordered: np.ndarray | None) -> Iterations:
        """What the loop has done, with its iterations in their order."""
        if ordered is None:
            return Iterations(after.frames, after.total, values, None, after.readers, {})
        frames = self._reordered(after.frames, ordered.argsort(), values)
        return Iterations(frames, after.total, values, None, {}, {})

    def _reordered(self, frames: Any, order: np.ndarray, values: list[Any]) -> Any:
        """Iterations in another order."""
        if type(frames) is ColumnFrames:
            columns = tuple(Column.of(column.array()[order]) for column in frames.columns)
            return ColumnFrames(self, frames.outer, values, len(order), columns, frames.totals, {})
        made = []
        for t, s in enumerate(order.tolist()):
            frame = frames[s].copy()
            frame[POSITION] = t
            made.append(frame)
        return PersistentVector.of(made)

    def _sources(self, before: Iterations, new: Frames, changes: Changes) -> tuple[list[Any], list[Change]]:
        if type(before.values) is _Moving:
            return before.values.then
        return before.values, self.unmoved
