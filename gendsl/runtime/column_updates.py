"""One update of a loop that is kept as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.runtime.change import ALL, LENGTH, Change, difference
from gendsl.runtime.column_carried import Handed, hand_on
from gendsl.runtime.column_frames import EXTREME, ColumnFrames, outer_of
from gendsl.runtime.column_scores import one_key
from gendsl.runtime.column_steps import Step, moved_total
from gendsl.runtime.loop_parts import Iterations, Slot
from gendsl.runtime.loop_updates import LoopUpdate
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.reads import Frame
from gendsl.runtime.reverse import SameIndex, without_same
from gendsl.runtime.totals import Total, total_of
from gendsl.runtime.totals import change as changed_total

if TYPE_CHECKING:
    from gendsl.runtime.column_loops import ColumnLoopBlock


class ColumnUpdate(LoopUpdate):
    """One update of a loop that is kept as columns."""

    loop: ColumnLoopBlock
    most = EXTREME

    def __init__(self, loop: ColumnLoopBlock, execution: Any, before: Iterations, *arguments: Any) -> None:
        super().__init__(loop, execution, before, *arguments)
        self.store: ColumnFrames = before.frames
        self.frames: Any = self.store.with_outer(outer_of(loop.reads, self.new), self.values)
        moved = arguments[-1]
        if all(change is None or (change is not ALL and set(change) <= {LENGTH}) for change in moved):
            self.readers = dict(before.readers)  # the loop still counts as it did
        self.edits: list[tuple[int, Frame, Frame]] = []  # which aren't in `frames` yet
        for building in self.inside.values():
            building.frames = self.frames

    def go(
        self,
        visit: set[int],
        every: bool,
        groups: list[tuple[Slot, Any, np.ndarray]],
        changed: set[Slot],
        limit: int,
    ) -> Iterations:
        """Visit some iterations one by one, and all of them, or those of some groups, at once."""
        loop, size = self.loop, len(self.store)
        common = min(size, limit)
        if every:  # what is looked up may be counted otherwise now
            self.readers = without_same(self.readers)
        single = {t for t in visit if t < common}
        if every or groups:
            if loop.handed:
                single |= {t + 1 for t in single if t + 1 < common}  # they may be handed something else
            many: Any = None
            if not every:
                many = groups[0][2] if len(groups) == 1 else np.unique(np.concatenate([g[2] for g in groups]))
                if single or common < size:
                    many = np.array([t for t in many.tolist() if t not in single and t < common], np.int64)
            done = (not every or common == size) and not (loop.kept and single)
            if done and self._at_once(many, single, groups, changed):
                self._note_values(changed)
            else:
                single.update(range(common) if every else many.tolist())
        if loop.handed:
            return self.follow(single, common, limit)
        for t in sorted(single):
            self._visit(t)
        return self._ending(None, None, limit)

    def _visit(self, t: int) -> None:
        changed, _ = self._iteration(t, {})
        if changed:
            for written in self.loop.stored:
                self._emitted(written, t, changed)

    def _iteration(self, t: int, previous: dict[int, Any]) -> tuple[dict[int, Any], str | None]:
        body = self.loop.body
        was = self.store[t]
        frame = was.copy()
        changed: dict[int, Any] = {}
        for source, value in self.sources:
            element = source.element(value, t)
            change = difference(frame[source.target], element)
            if change is not None:
                frame[source.target] = element
                changed[source.target] = change
        for carried in self.loop.handed:
            change = self._handed(carried, t, frame)
            if change is not None:
                changed[carried.into] = change
        old, new, changes = (*self.old, was), (*self.new, frame), (*self.changes, changed)
        touched = self.paths.get(t)
        hit = 0 if touched is None else body.routed(touched, self.offset)
        todo = body.affected(changes) | hit
        if not todo:
            return changed, None
        body.update(self.execution, old, new, changes, touched, todo, hit)
        frame[0] = body.score(frame)
        if not -EXTREME < was[0] < EXTREME:
            self.extreme = True
        self.edits.append((t, was, frame))
        if self.inside or type(self.frames) is not ColumnFrames:
            self._put()
        for slot, index in self.readers.items():
            if type(index) is not SameIndex:
                self.readers = self.loop.reread(self.readers, slot, t, old, new, self.offset)
        return changed, None

    def _put(self) -> None:
        """Put the edits into the frames."""
        frames = self.frames
        if type(frames) is ColumnFrames:
            self.frames = frames.replaced(self.edits, frames.outer)
        else:
            self.frames = frames.set_many({t: frame for t, _, frame in self.edits})
        self.edits = []
        for building in self.inside.values():
            building.frames = self.frames

    def _handed(self, carried: Handed, t: int, frame: Frame) -> Change:
        """Give the frame of an iteration what it is handed; how that has changed."""
        frames, first = self.frames, carried.first
        if t:
            if self.edits and self.edits[-1][0] == t - 1:
                value = self.edits[-1][2][carried.slot]
            elif type(frames) is ColumnFrames:
                value = frames.columns[carried.number][t - 1]
            else:
                value = frames[t - 1][carried.out]
            change = difference(frame[carried.into], value)
        elif first is None:
            return None
        else:
            value, change = self.new[first[0]][first[1]], self.changes[first[0]].get(first[1])
        if change is not None:
            frame[carried.into] = value
        return change

    def _at_once(
        self, many: Any, apart: set[int], groups: list[tuple[Slot, Any, np.ndarray]], changed: set[Slot]
    ) -> bool:
        """Score iterations in their new scope with array code; whether that could be done.

        Args:
            many: which ones; None for all but those `apart`.
        """
        loop, frames = self.loop, self.frames
        steps = [step for step in loop.sites if not step.needs.isdisjoint(changed)]
        totals = list(frames.totals)
        weight = 0.0
        try:
            if many is None:
                scope = self._scope(frames, steps, None)
                for step in steps:
                    i = step.number
                    was, now = totals[i], loop.score(step, scope, frames.columns[i].array())
                    if was[2] or now[2]:
                        return False
                    weight += (now[0] + now[1]) - (was[0] + was[1])
                    totals[i] = now
                if apart:
                    weight -= self._moves(np.array(sorted(apart)), steps, None, totals, -1.0)
            else:
                weight = self._moves(many, steps, one_key(loop, frames, groups), totals, 1.0)
        except Exception:  # one by one, it is met where it belongs
            return False
        self.frames = frames.with_totals(tuple(totals))
        self.execution.weight += weight
        for lookup in loop.lookups:
            if not lookup.needs.isdisjoint(changed):
                self.readers.pop(lookup.container, None)
        return True

    def _moves(
        self,
        many: np.ndarray,
        steps: list[Step],
        one: tuple[int, int] | None,
        totals: list[Total],
        sign: float,
    ) -> float:
        """What the scores of some iterations change by, which is added to or taken from the totals."""
        loop, frames, store = self.loop, self.frames, self.store
        scope = self._scope(frames, steps, many)
        if one is not None:
            scope[-1][one[0]] = one[1]
        before = (*store.outer, dict(scope[-1]))
        if self.sources:
            before = self._scope(store, steps, many)
        elif loop.value_needs:
            self._assign(before, steps)
        change = 0.0
        for step in steps:
            i = step.number
            column = frames.columns[i].take(many)
            was, now = loop.score(step, before, column), loop.score(step, scope, column)
            if was[2] or now[2]:
                raise NotColumnsError
            difference = (now[0] + now[1]) - (was[0] + was[1])
            change += difference
            totals[i] = moved_total(totals[i], was, now) if sign > 0.0 else moved_total(totals[i], now, was)
        return change

    def _scope(self, store: ColumnFrames, steps: list[Step], many: np.ndarray | None) -> tuple[Any, ...]:
        """What the array code of some sites runs on, for some iterations or all of them."""
        loop = self.loop
        frame = loop.vector_frame(store.values, store.size, store.arrays, many)
        for step in loop.sites:
            if self._is_needed(step.slot, steps):
                column = store.columns[step.number]
                frame[step.slot] = column.array() if many is None else column.take(many)
        scope = (*store.outer, frame)
        handed = [carried for carried in loop.handed if self._is_needed(carried.into, steps)]
        hand_on(handed, scope, store.columns, many)
        self._assign(scope, steps)
        return scope

    def _assign(self, scope: tuple[Any, ...], steps: list[Any]) -> None:
        """The assigned variables that array code reads."""
        for step in self.loop.steps:
            if step.site is None and self._is_needed(step.slot, steps):
                self.loop.assign(step, scope)

    def _is_needed(self, slot: int, steps: list[Any]) -> bool:
        """Whether the array code of some sites reads a slot of the iterations."""
        at = self.loop.depth, slot
        return any(at in step.needs for step in steps)

    def _note_values(self, changed: set[Slot]) -> None:
        """Note which entries of containers that the loop writes have changed with an assigned variable."""
        for written in self.loop.stored:
            for slot in (written.value, written.key):
                needs = self.loop.value_needs.get(slot)
                if needs is not None and not needs.isdisjoint(changed):
                    self.keys[written.inside] = ALL
                    self.inside[written.inside].forget()
                    self.changes[-1][written.inside] = ALL

    def _summed(self, store: ColumnFrames) -> ColumnFrames:
        """With totals summed afresh: of an extreme score, array code and a distribution round differently."""
        loop = self.loop
        try:
            scope = self._scope(store, loop.sites, None)
            totals = [loop.score(step, scope, store.columns[step.number].array()) for step in loop.sites]
        except Exception:
            frames = list(store)
            totals = [total_of([frame[state][2] for frame in frames]) for _, state in loop.choices]
        return store.with_totals(tuple(totals))

    def _ending(self, end: int | None, status: str | None, limit: int | None) -> Iterations:
        assert limit is not None
        if self.edits:
            self._put()
        size = len(self.store)
        if limit < size and type(self.frames) is ColumnFrames:
            totals = list(self.frames.totals)
            for t in range(limit, size):
                gone = self.store[t]
                for i, (_, state) in enumerate(self.loop.choices):
                    totals[i] = changed_total(totals[i], gone[state][2], 0.0)
            self.frames = self.frames.with_totals(tuple(totals))
        after = super()._ending(None, None, limit)
        if type(after.frames) is ColumnFrames:
            if self.extreme:
                after.frames = self._summed(after.frames)
            after.total = after.frames.total()
        else:
            after.readers = without_same(after.readers)
            after.total = total_of([frame[0] for frame in after.frames])
        return after
