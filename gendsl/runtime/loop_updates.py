"""One update of a loop."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from gendsl.address import Path
from gendsl.runtime.blocks import BREAK, RETURN, Touched
from gendsl.runtime.change import ALL, LENGTH, Change, change_at, difference
from gendsl.runtime.loop_parts import (
    EVERY,
    Growing,
    Iterations,
)
from gendsl.runtime.loop_reads import keys_of_change
from gendsl.runtime.lowering.ir import Stored
from gendsl.runtime.reads import Changes, Frames
from gendsl.runtime.reverse import without_same
from gendsl.runtime.totals import HUGE, total_of
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.written_keys import CELL

if TYPE_CHECKING:
    from gendsl.runtime.loops import LoopBlock


class LoopUpdate:
    """One update of a loop: follows changes from iteration to iteration.

    Attributes:
        most: a score from which on the total is summed afresh when it is taken away: of what is that much
            smaller, not enough digits are left.
    """

    most = HUGE

    def __init__(
        self,
        loop: LoopBlock,
        execution: Any,
        before: Iterations,
        values: list[Any],
        old: Frames,
        new: Frames,
        changes: Changes,
        touched: Touched,
        paths: dict[int, list[Path]],
        moved: list[Change],
    ) -> None:
        self.loop = loop
        self.execution = execution
        self.before = before
        self.values = values
        self.old = old
        self.new = new
        self.changes = changes
        self.touched = touched
        self.paths = paths
        self.sources = [] if moved is loop.unmoved else [
            (source, value)
            for source, value, change in zip(loop.sources, values, moved, strict=True)
            if change is not None
        ]
        self.offset = len(execution.prefix)
        self.frames = before.frames
        self.total = before.total
        self.extreme = False
        self.readers = without_same(before.readers)
        self.visited: list[int] = []
        self.keys: dict[int, Any] = {}
        self.own: dict[int, set[Any]] = {}
        self.inside = {}
        for written in loop.stored:
            building = loop._written(written, new, self.frames, values)
            building.know_keys(old[-1][written.inside])
            if not self.sources:
                building.know_writers(old[-1][written.inside])
            elif all(change is None or change == {LENGTH} for change in moved):
                building.know_writers(old[-1][written.inside], growing=True)
            new[-1][written.inside] = building
            self.inside[written.inside] = building
            if written.base is not None:
                depth, slot = written.base
                change = building.change_of_base(changes[depth].get(slot), old[depth][slot])
                if change is not None:
                    as_read = written.of_rows and change is not ALL
                    changes[-1][written.inside] = _cells(change) if as_read else change

    def follow(self, visit: Any, common: int, limit: int | None) -> Iterations:
        """Visit iterations, and those that they concern, up to `common`; then run or drop the rest."""
        loop, before = self.loop, self.before
        heap: list[int] = []
        if visit is not EVERY and loop.stored:
            for inside in [w.inside for w in loop.stored if w.inside in self.changes[-1]]:
                visit = self._concerned(visit, inside, self.changes[-1][inside], -1)
        every = visit is EVERY
        if not every:
            heap = list(visit) if len(visit) < 2 else sorted(visit)
        last = -1
        t = 0
        status = before.status
        previous: dict[int, Any] = {}
        end = None
        while True:
            if every:
                t = last + 1
                if t >= common:
                    break
            else:
                if not heap:
                    break
                t = heappop(heap)
                if t == last:
                    continue
                if t >= common:
                    break
            changed, now = self._iteration(t, previous if last == t - 1 else {})
            if changed:
                if loop.carried_outs and not every and not loop.carried_outs.isdisjoint(changed):
                    heappush(heap, t + 1)
                for written in loop.stored:
                    more = self._emitted(written, t, changed)
                    if more is not None and not every:
                        if more is EVERY:
                            every = True
                        else:
                            for s in more:
                                heappush(heap, s)
            if loop.exits:
                if now == BREAK or now == RETURN:  # noqa: SIM109 (hot)
                    status, end = now, t + 1
                    break
                if t == len(before.frames) - 1:
                    status = None
            previous = changed
            last = t
        size = len(before.frames)
        if end is None:
            end = size if status is not None and (limit is None or size <= limit) else None
        return self._ending(end, status, limit)

    def _ending(self, end: int | None, status: str | None, limit: int | None) -> Iterations:
        """Drop the iterations from `end` on; without an end, go on up to the limit."""
        loop, before = self.loop, self.before
        size = len(before.frames)
        if end is None:
            status = None
            end = limit
        if end is not None and end < size:
            for t in range(end, size):
                gone = before.frames[t]
                if not -self.most < gone[0] < self.most:
                    self.extreme = True
                frames = (*self.old, gone)
                loop.body.remove(self.execution, frames)
                self.total = changed_total(self.total, gone[0], 0.0)
                for slot, index in self.readers.items():
                    for key in loop.keys_of(frames, slot, self.offset):
                        index = index.remove(key, t)
                    self.readers[slot] = index
                for written in loop.stored:
                    self._add_keys(written, self.old[-1][written.inside].keys_in(t, gone))
            self.frames = self.frames.truncate(end)
        elif status is None and (end is None or end > size):
            status = self._grow()
        for building in self.inside.values():
            building.frames = self.frames
        if self.extreme:
            self.total = total_of([frame[0] for frame in self.frames])
        return Iterations(self.frames, self.total, self.values, status, self.readers, before.positions)

    def _grow(self) -> str | None:
        """Run the iterations that are new; how the last one left the loop."""
        loop = self.loop
        made = Growing(self.frames)
        for building in self.inside.values():
            building.frames = made
        status = loop._extend(self.execution, self.new, self.values, made)  # type: ignore[arg-type]
        start = len(self.frames)
        for t, frame in enumerate(made.added, start):
            self.total = changed_total(self.total, 0.0, frame[0])
            frames = (*self.new, frame)
            for slot, index in self.readers.items():
                for key in loop.keys_of(frames, slot, self.offset):
                    index = index.add(key, t)
                self.readers[slot] = index
        self.frames = self.frames.extend(made.added)
        for written in loop.stored:
            building = self.inside[written.inside]
            building.frames = self.frames
            for t, frame in enumerate(made.added, start):
                building.check_entry(frame)
                self._add_keys(written, building.keys_in(t, frame))
        return status

    def _iteration(self, t: int, previous: dict[int, Any]) -> tuple[dict[int, Any], str | None]:
        """Update one iteration; the changes of its slots, and how it leaves the loop."""
        loop = self.loop
        was = self.frames[t]
        if not -self.most < was[0] < self.most:
            self.extreme = True
        frame = was.copy()
        changed: dict[int, Any] = {}
        for source, value in self.sources:
            element = source.element(value, t)
            change = difference(frame[source.target], element)
            if change is not None:
                frame[source.target] = element
                changed[source.target] = change
        for _, first, into, out in loop.carried:
            if t:
                value = self.frames[t - 1][out]
                if value is not frame[into]:
                    changed[into] = previous.get(out, ALL)
                    frame[into] = value
            elif first is not None:
                value = self.new[first[0]][first[1]]
                if value is not frame[into]:
                    changed[into] = self.changes[first[0]].get(first[1], ALL)
                    frame[into] = value
        body = loop.body
        old, new, changes = (*self.old, was), (*self.new, frame), (*self.changes, changed)
        touched = self.paths.get(t)
        hit = 0 if touched is None else body.routed(touched, self.offset)
        todo = body.affected(changes) | hit
        status = None
        if todo:
            status = body.update(self.execution, old, new, changes, touched, todo, hit)
            frame[0] = body.score(frame)
        elif loop.exits:
            status = body.end(frame)
        if todo or changed:
            self.frames = self.frames.set(t, frame)
            self.visited.append(t)
            if self.inside:
                for building in self.inside.values():
                    building.frames = self.frames
            if was[0] != frame[0]:
                self.total = changed_total(self.total, was[0], frame[0])
            if self.readers:
                for slot in self.readers:
                    self.readers = loop.reread(self.readers, slot, t, old, new, self.offset, changes)
        return changed, status

    # --- containers that the loop writes ----------------------------------------------------------

    def _emitted(self, written: Stored, t: int, changed: dict[int, Any]) -> Any:
        """The later iterations that a changed entry concerns, or None."""
        if written.value not in changed and written.key not in changed:
            return None
        building, frame = self.inside[written.inside], self.frames[t]
        building.check_entry(frame, changed.get(written.value, ALL))
        if written.kind == "append" or written.key not in changed:
            keys = building.changed_keys(t, frame, changed[written.value])
        else:
            before, was = self.old[-1][written.inside], self.before.frames[t]
            gone, come = {*before.keys_in(t, was)}, {*building.keys_in(t, frame)}
            keys = gone | come
            if building.is_dict and gone != come:
                keys.add(LENGTH)
            if building.base is not before.base:  # indices from the end may be others in it
                gone = {*building.keys_in(t, was)}
            building.move(t, gone - come, come - gone, before)
        self._add_keys(written, keys)
        seen = _cells(keys) if written.of_rows else keys
        return self._concerned(set(), written.inside, change_at(seen), t)

    def _add_keys(self, written: Stored, keys: Iterable[Any]) -> None:
        for key in keys:
            self._add_key(written, key, (*_cells((key,)),) if written.of_rows else (key,))

    def _add_key(self, written: Stored, key: Any, seen: Iterable[Any]) -> None:
        known = self.keys.get(written.inside)
        if known is ALL:
            return
        if key is ALL:
            self.keys[written.inside] = self.changes[-1][written.inside] = ALL
            return
        if known is None:
            known = self.keys[written.inside] = set()
        known.add(key)
        here = self.changes[-1]
        inside = here.get(written.inside)
        if inside is ALL:
            return
        own: Any = self.own.get(written.inside)
        if own is None or own is not inside:  # what is there is the change of what the container was before
            here[written.inside] = self.own[written.inside] = own = set(inside or ())
        own.update(seen)

    def _concerned(self, visit: Any, inside: int, change: Any, after: int) -> Any:
        """The iterations after one that read what has changed of a container that the loop writes."""
        loop = self.loop
        use = loop.outer.get((loop.depth - 1, inside))
        if use is None or visit is EVERY:
            return visit
        appended = self.inside[inside].kind == "append"  # one entry, whatever the other iterations do
        if use.is_every(change) or (use.length and not (appended and change is not ALL)):
            return EVERY if after < 0 else range(after + 1, len(self.frames))
        slot = loop.depth - 1, inside
        index = self.readers.get(slot)
        if index is None:
            self.readers[slot] = loop.readers_of(self.before, self.old, slot)
            for t in self.visited:  # they may read at other keys by now
                old, new = (*self.old, self.before.frames[t]), (*self.new, self.frames[t])
                self.readers = loop.reread(self.readers, slot, t, old, new, self.offset)
            index = self.readers[slot]
        for key in keys_of_change(index, change):
            visit.update(t for t in index.get(key).tolist() if t > after)
        return visit


def _cells(keys: Iterable[Any]) -> set[Any]:
    """The keys of entries of rows, and of their rows, for those that look them up: see `written_keys`."""
    cells = {key if key is ALL or key is LENGTH else (CELL, *key) for key in keys}
    return cells | {key[1] for key in cells if type(key) is tuple}
