"""Loops: plates, whose iterations are independent, and chains, which carry variables along.

Each iteration has a frame of its own. An update visits the iterations that something touches: an address
in them, an element that they loop over, an entry of an outer container that they read, or a variable that
the iteration before them leaves. A chain is followed for as long as what it carries changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from typing import Any

from gendsl.address import Path
from gendsl.runtime.blocks import BREAK, NOTHING, RETURN, ReturnBlock, Sequence, Touched
from gendsl.runtime.change import ALL, LENGTH, UNSET, Change, difference
from gendsl.runtime.loop_edits import edit_few, is_longer
from gendsl.runtime.loop_parts import (
    ADDRESSES,
    EVERY,
    Iterations,
    Slot,
    Source,
    all_states,
    one_length,
)
from gendsl.runtime.loop_reads import keys_of_change, outer_uses
from gendsl.runtime.loop_routes import Routed
from gendsl.runtime.loop_updates import LoopUpdate
from gendsl.runtime.lowering.ir import ITEM, POSITION, RETVAL, Part, Stored
from gendsl.runtime.lowering.ir import LENGTH as OF_LENGTH
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.reads import Changes, Frame, Frames, Read, is_dirty
from gendsl.runtime.reverse import ReverseIndex, SameIndex
from gendsl.runtime.totals import total_of
from gendsl.runtime.totals import value as total_value
from gendsl.runtime.written import Written


class LoopBlock(Routed):
    """A loop, or a comprehension."""

    def __init__(
        self,
        node: ast.AST,
        sources: list[Source],
        body: Sequence,
        size: int,
        carried: list[tuple[str, Slot | None, int, int]],
        outs: list[tuple[int, int, Slot | None]],
        stored: list[Stored],
        state: int,
        exits: bool,
        strict: bool,
        addresses: list[list[Part] | None],
    ) -> None:
        self.node = node
        self.sources = sources
        self.body = body
        self.carried = carried
        self.carried_outs = frozenset(out for _, _, _, out in carried)
        self.outs = outs
        self.stored = stored
        self.state = state
        self.exits = exits
        self.strict = strict
        self.depth = body.depth
        self.heads = body.heads
        self.templates = addresses
        self.unmoved: list[Change] = [None] * len(sources)
        self.template: Frame = [UNSET] * size
        self.template[0:4] = [0.0, None, 0, None]
        for slot in all_states(body):
            self.template[slot] = NOTHING
        self.targets = {source.target: i for i, source in enumerate(sources)}
        self.routes = self._routes()
        self.lengths = [i for i, source in enumerate(sources) if not source.counted]
        self.may_exit = exits and _returns(body)
        depth = self.depth
        inner = [read for read in body.uses if read.depth < depth]
        inside = {written.inside for written in stored}
        self.outer = outer_uses(body)
        keyed = any(written.may_move for written in stored)
        read_inside = any((depth - 1, written.inside) in self.outer for written in stored)
        self.keeps_apart = not (outs or exits or keyed or read_inside) and bool(sources)
        self.is_plain = self.keeps_apart and not carried
        self.only_appends = all(written.kind == "append" for written in stored)
        self.uses = [read for source in sources for read in source.runner.reads]
        self.uses += [r for r in inner if not (r.depth == depth - 1 and r.slot in inside)]
        firsts = [first for _, first, _, _ in carried] + [first for _, _, first in outs]
        firsts += [written.base for written in stored]
        self.firsts = frozenset(first for first in firsts if first is not None)
        self.uses += [Read(*first, "raw", [], None) for first in firsts if first is not None]

    # --- running ----------------------------------------------------------------------------------

    def run(self, execution: Any, frames: Frames) -> str | None:
        return self.run_over(execution, frames, [source.value(frames) for source in self.sources])

    def run_over(self, execution: Any, frames: Frames, values: list[Any]) -> str | None:
        """Run the iterations over what the sources are."""
        made: list[Frame] = []
        for written in self.stored:
            frames[-1][written.inside] = self._written(written, frames, made, values)
        status = self._extend(execution, frames, values, made)
        vector = PersistentVector.of(made)
        total = total_of([frame[0] for frame in made])
        self._finish(frames, Iterations(vector, total, values, status, {}, {}))
        if status == RETURN:
            frames[-1][RETVAL] = made[-1][RETVAL]
            return RETURN
        return None

    def length(self, values: list[Any]) -> int | None:
        """How many iterations the sources give; None for `while`."""
        lengths = self.lengths
        if len(lengths) == 1:
            return len(values[lengths[0]])
        if self.strict:
            return one_length([len(values[i]) for i in lengths])
        return min(len(values[i]) for i in lengths) if lengths else None

    def _extend(self, execution: Any, frames: Frames, values: list[Any], made: list[Frame]) -> str | None:
        """Run the iterations after those in `made`, adding them to it; how the last one left the loop."""
        size = self.length(values)
        t = len(made)
        body, template, sources, carried = self.body, self.template, self.sources, self.carried
        elements = [(source.target, source, value) for source, value in zip(sources, values, strict=True)]
        while size is None or t < size:
            frame = template.copy()
            frame[POSITION] = t
            for target, source, value in elements:
                frame[target] = source.element(value, t)
            for _, first, into, out in carried:
                if t:
                    frame[into] = made[t - 1][out]
                elif first is not None:
                    frame[into] = frames[first[0]][first[1]]
            status = body.run(execution, (*frames, frame))
            frame[0] = body.score(frame)
            made.append(frame)
            t += 1
            if status == BREAK or status == RETURN:  # noqa: SIM109 (hot)
                return status
        return None

    def _written(self, written: Stored, frames: Frames, made: Any, values: list[Any]) -> Written:
        base = written.new() if written.base is None else frames[written.base[0]][written.base[1]]
        if (written.base is None and written.kind != "append") or base is UNSET:
            base = {}
        count = None
        if written.kind == "index" and written.index >= 0:
            value = values[written.index]
            if self.sources[written.index].counted:
                count = value + written.shift, 1
            elif type(value) is range:
                count = value.start + written.shift, value.step
            if count is not None and (count[0] < 0 or count[1] < 0 or type(count[0]) is not int):
                count = None  # indices from the end of the container are not the same as counts
        at = written.value, written.key, count, written.indices, written.rows, written.plain, written.where
        return Written(written.kind, base, made, *at)

    def _finish(self, frames: Frames, iterations: Iterations, before: Frame | None = None) -> None:
        """Put what the loop leaves into the frame beside it; `before` is that frame before an update."""
        frame = frames[-1]
        frame[self.state] = iterations, iterations.status, total_value(iterations.total)
        vector = iterations.frames
        for written in self.stored:
            filled = self._written(written, frames, vector, iterations.values)
            building = frame[written.inside]
            if type(building) is Written and building.frames is vector:
                filled.know_keys(building)
                filled.know_writers(building)
            filled.check_room(None if before is None else before[written.inside])
            frame[written.inside] = frame[written.after] = filled
        last = vector[len(vector) - 1] if self.outs and len(vector) else None
        for after, slot, first in self.outs:
            if last is not None:
                frame[after] = last[slot]
            else:
                frame[after] = UNSET if first is None else frames[first[0]][first[1]]

    # --- updating ---------------------------------------------------------------------------------

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        frame = new[-1]
        before: Iterations = frame[self.state][0]
        paths: dict[int, list[Path]] = {}
        visit: Any = set()
        values, moved = before.values, self.unmoved
        if any(changes):
            values, moved = self._sources(before, new, changes)
            visit = self._visits(before, old, changes, moved)
        if touched is not None:
            visit = self._route(before, old, touched, len(execution.prefix), visit, paths)
        size = len(before.frames)
        limit = size if moved is self.unmoved and before.status is None else self.length(values)
        based = any(changes) and self._base_changed(changes)
        if not visit and limit == size and not based:
            if values is not before.values:
                after = Iterations(
                    before.frames, before.total, values, before.status, before.readers, before.positions
                )
                frame[self.state] = after, *frame[self.state][1:]
            return 0
        if self.is_plain and visit is not EVERY and not based and limit is not None:
            same = limit == size and not any(moved)
            if same or (self.only_appends and all(map(is_longer, moved))):
                done = edit_few(self, execution, before, values, old, new, changes, visit, paths, limit)
                if done is not None:
                    return done
        run = self.update_of(execution, before, values, old, new, changes, touched, paths, moved)
        after = run.follow(visit, size if limit is None else min(size, limit), limit)
        return self._leave(frame, before, after, old, new, changes, run.keys)

    def reread(
        self,
        readers: dict[Slot, ReverseIndex],
        slot: Slot,
        t: int,
        old: Frames,
        new: Frames,
        offset: int,
        changes: Changes | None = None,
    ) -> dict[Slot, ReverseIndex]:
        """The readers when iteration t may read other keys of a container than it did.

        `changes` are those of all that it sees, its own slots the last; None if they aren't known.
        """
        if changes is not None and slot is not ADDRESSES and self.outer[slot].is_steady(changes):
            return readers
        gone, come = self.keys_of(old, slot, offset), self.keys_of(new, slot, offset)
        if gone == come:
            return readers
        index = readers[slot]
        for key in gone - come:
            index = index.remove(key, t)
        for key in come - gone:
            index = index.add(key, t)
        return {**readers, slot: index}

    def update_of(self, *arguments: Any) -> LoopUpdate:
        """What updates the loop once."""
        return LoopUpdate(self, *arguments)

    def _sources(self, before: Iterations, new: Frames, changes: Changes) -> tuple[list[Any], list[Change]]:
        """What the loop goes through now, and how each source has changed."""
        values: list[Any] = []
        moved: list[Change] = []
        for source, value in zip(self.sources, before.values, strict=True):
            change: Change = None
            if is_dirty(source.runner.reads, new, changes):
                fresh = source.value(new)
                if source.slot is not None and not source.counted:
                    change = changes[source.slot[0]].get(source.slot[1])
                    container = new[source.slot[0]][source.slot[1]]
                    if change is not ALL and isinstance(container, dict):
                        change = None  # other values, of the same keys in the same order
                    elif change is not ALL and getattr(container, "is_dict", False):
                        change = ALL
                    elif change is not None and type(container) is Written:
                        change = container.positions(change)
                elif type(fresh) is range and type(value) is range:
                    same = fresh.start == value.start and fresh.step == value.step
                    change = None if fresh == value else {LENGTH} if same else ALL
                else:
                    change = difference(value, fresh)
                value = fresh
            values.append(value)
            moved.append(change)
        return values, moved

    def _visits(self, before: Iterations, old: Frames, changes: Changes, moved: list[Change]) -> Any:
        """The iterations that what happened outside the loop concerns."""
        visit: set[int] = set()
        for change in moved:
            if change is ALL:
                return EVERY
            if change is not None:
                visit.update(key for key in change if key is not LENGTH)
        for depth, changed in enumerate(changes):
            for slot, change in changed.items():
                use = self.outer.get((depth, slot))
                if use is None:
                    continue
                if use.is_every(change):
                    return EVERY
                index = self.readers_of(before, old, (depth, slot))
                for key in keys_of_change(index, change):
                    visit.update(index.get(key).tolist())
        for _, first, _, _ in self.carried:
            if first is not None and first[1] in changes[first[0]]:
                visit.add(0)
        return visit

    def _base_changed(self, changes: Changes) -> bool:
        return any(w.base is not None and w.base[1] in changes[w.base[0]] for w in self.stored) or any(
            first is not None and first[1] in changes[first[0]] for _, _, first in self.outs
        )

    def keys_of(self, frames: Frames, slot: Slot, offset: int) -> set[Any]:
        """The keys of a container that an iteration reads; for ADDRESSES, the addresses that it makes,
        and those above them, marked as such."""
        if slot is not ADDRESSES:
            return set(self.body.keys_read(frames, *slot))
        keys: set[Any] = set()
        for address in self.body.addresses(frames, offset):
            keys.add(address)
            keys.update((ADDRESSES, address[:size]) for size in range(1, len(address)))
        return keys

    def readers_of(
        self, iterations: Iterations, frames: Frames, slot: Slot, offset: int = 0
    ) -> ReverseIndex:
        """Which iterations read which key of a container; found out once, and kept up to date after."""
        index = iterations.readers.get(slot)
        if index is None:
            pairs = (
                (key, t)
                for t, frame in enumerate(iterations.frames)
                for key in self.keys_of((*frames, frame), slot, offset)
            )
            index = iterations.readers[slot] = ReverseIndex.of(pairs)
        return index

    def _leave(
        self,
        frame: Frame,
        before: Iterations,
        after: Iterations,
        old: Frames,
        new: Frames,
        changes: Changes,
        keys: dict[int, Any],
    ) -> int:
        """Put what the loop leaves into the new frame, with what changed of it."""
        mask = 0
        here = changes[-1]
        if not self.stored and not self.outs and after.status != RETURN:
            frame[self.state] = after, after.status, total_value(after.total)
            return 0
        kept = {after: frame[after] for after, _, _ in self.outs}
        length = len(after.frames) != len(before.frames)
        had = frame[RETVAL]
        self._finish(new, after, old[-1])
        if after.status == RETURN:
            frame[RETVAL] = after.frames[len(after.frames) - 1][RETVAL]
            change = difference(had, frame[RETVAL])
            if change is not None:
                here[RETVAL] = change
        for written in self.stored:
            here.pop(written.inside, None)
            change = keys.get(written.inside)
            if written.base is not None:
                depth, slot = written.base
                base = frame[written.after].change_of_base(changes[depth].get(slot), old[depth][slot])
                if base is not None:
                    change = ALL if base is ALL or change is ALL else {*base, *(change or ())}
            if length and change is not ALL:
                change = {*(change or ()), LENGTH}
            if change is not None:
                here[written.after] = change
                mask |= self.readers.get(written.after, 0)
        for slot, value in kept.items():
            change = difference(value, frame[slot])
            if change is not None:
                here[slot] = change
                mask |= self.readers.get(slot, 0)
        return mask

    # --- the rest ---------------------------------------------------------------------------------

    def status(self, frame: Frame) -> str | None:
        return RETURN if frame[self.state][1] == RETURN else None

    def remove(self, execution: Any, frames: Frames) -> None:
        for frame in frames[-1][self.state][0].frames:
            self.body.remove(execution, (*frames, frame))

    def clear(self, frame: Frame) -> None:
        frame[self.state] = NOTHING
        for written in self.stored:
            frame[written.inside] = frame[written.after] = UNSET
        for after, _, _ in self.outs:
            frame[after] = UNSET

    def records(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        body = self.body
        for frame in frames[-1][self.state][0].frames:
            yield from body.records((*frames, frame), prefix)

    def values(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        body = self.body
        for frame in frames[-1][self.state][0].frames:
            yield from body.values((*frames, frame), prefix)

    def score_of(self, frames: Frames, prefix: Path, paths: Set[Path]) -> float:
        body, iterations = self.body, frames[-1][self.state][0].frames
        return sum((body.score_of((*frames, frame), prefix, paths) for frame in iterations), 0.0)

    def calls(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        for frame in frames[-1][self.state][0].frames:
            yield from self.body.calls((*frames, frame), prefix)

    def addresses(self, frames: Frames, offset: int) -> Iterator[Path]:
        for frame in frames[-1][self.state][0].frames:
            yield from self.body.addresses((*frames, frame), offset)

    def find(self, frames: Frames, path: Path, offset: int, below: bool) -> Iterator[tuple[Path, Any]]:
        iterations: Iterations = frames[-1][self.state][0]
        found = self.positions(iterations, frames, path, offset, below)
        for t in range(len(iterations.frames)) if found is None else sorted(found):
            yield from self.body.find((*frames, iterations.frames[t]), path, offset, below)

    def keys_read(self, frames: Frames, depth: int, slot: int) -> Iterator[Any]:
        """The keys of a container in an outer frame that the loop has read."""
        for source in self.sources:
            for read in source.runner.reads:
                if read.depth == depth and read.slot == slot:
                    if read.mode is ITEM:
                        yield from read.keys_read(frames)
                    elif read.mode is not OF_LENGTH:
                        yield ALL
        if (depth, slot) in self.firsts:
            yield ALL
        use = self.outer.get((depth, slot))
        if use is None or not (use.whole or use.items):
            return
        if use.whole:
            yield ALL
            return
        iterations: Iterations = frames[-1][self.state][0]
        index: Any = self.readers_of(iterations, frames, (depth, slot))
        yield from index.keys(len(iterations.frames)) if type(index) is SameIndex else index.keys()


def _returns(body: Sequence) -> bool:
    """Whether an iteration may return from the function."""
    return any(
        isinstance(block, ReturnBlock)
        or (isinstance(block, LoopBlock) and block.may_exit)
        or any(map(_returns, getattr(block, "arms", ())))
        for block in body.blocks
    )
