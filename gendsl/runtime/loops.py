"""Loops: plates, whose iterations are independent, and chains, which carry variables along.

Each iteration has a frame of its own. An update visits the iterations that something touches: an address
in them, an element that they loop over, an entry of an outer container that they read, or a variable that
the iteration before them leaves. A chain is followed for as long as what it carries changes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.compiler.ir import ITEM, POSITION, RETVAL, Part, Stored
from gendsl.compiler.ir import LENGTH as OF_LENGTH
from gendsl.runtime.blocks import BREAK, NOTHING, RETURN, Block, ReturnBlock, Sequence, Touched, block_keys
from gendsl.runtime.change import ALL, LENGTH, UNSET, Change, difference
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.reads import Changes, Frame, Frames, Read, Runner, is_dirty
from gendsl.runtime.reverse import ReverseIndex
from gendsl.runtime.totals import Total, total_of
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.totals import value as total_value
from gendsl.runtime.written import Written

Slot = tuple[int, int]
_EVERY = object()
"""All iterations."""
_ADDRESSES: Slot = (-1, -1)
"""Among the containers that iterations read: the addresses they make, where these can't be told apart."""


class Iterations:
    """What a loop has done.

    Attributes:
        frames: the frame of each iteration: a PersistentVector, or ColumnFrames.
        total: the sum of their scores.
        values: what each source is.
        status: how the last iteration left the loop, if it did.
        readers: for a container outside the loop, which iterations read which of its keys.
    """

    __slots__ = ("frames", "positions", "readers", "status", "total", "values")

    def __init__(
        self,
        frames: Any,
        total: Total,
        values: list[Any],
        status: str | None,
        readers: dict[Slot, Any],
        positions: dict[int, tuple[Any, dict[Any, list[int]]]],
    ) -> None:
        self.frames = frames
        self.total = total
        self.values = values
        self.status = status
        self.readers = readers
        self.positions = positions


class Source:
    """One thing that a loop goes through; see `ir.Source`."""

    __slots__ = ("counted", "runner", "slot", "target")

    def __init__(self, runner: Runner, counted: bool, target: int, slot: Slot | None) -> None:
        self.runner = runner
        self.counted = counted
        self.target = target
        self.slot = slot

    def value(self, frames: Frames) -> Any:
        """What the loop goes through, as something that can be indexed, or the first of a count."""
        value = self.runner.call(*frames)
        return value if self.counted else as_indexable(value)

    def element(self, value: Any, t: int) -> Any:
        """What iteration t gets."""
        if self.counted:
            return value + t
        return value.raw(t) if type(value) is Written else value[t]


def as_indexable(value: Any) -> Any:
    """An iterable as something with a length whose elements can be asked for by position."""
    if isinstance(value, (list, tuple, range, np.ndarray, str)):
        return value
    if type(value) is Written:
        return list(value.made()) if value.is_dict else value
    made = getattr(value, "made", None)
    return list(made() if made is not None else value)


class OuterUse:
    """How the body of a loop reads a slot outside it."""

    __slots__ = ("items", "length", "whole")

    def __init__(self) -> None:
        self.items = self.length = self.whole = False


class LoopBlock(Block):
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
        self.outer: dict[Slot, OuterUse] = {}
        for read in inner:
            use = self.outer.setdefault((read.depth, read.slot), OuterUse())
            if read.mode is ITEM:
                use.items = True
            elif read.mode is OF_LENGTH:
                use.length = True
            else:
                use.whole = True
        keyed = any(written.kind == "key" for written in stored)
        read_inside = any((depth - 1, written.inside) in self.outer for written in stored)
        self.is_plain = not (carried or outs or exits or keyed or read_inside) and bool(sources)
        self.uses = [read for source in sources for read in source.runner.reads]
        self.uses += [r for r in inner if not (r.depth == depth - 1 and r.slot in inside)]
        firsts = [first for _, first, _, _ in carried] + [first for _, _, first in outs]
        firsts += [written.base for written in stored]
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
        if written.base is None and written.kind != "append":
            base = {}
        count = None
        if written.kind == "index":
            value = values[written.index]
            if self.sources[written.index].counted:
                count = value, 1
            elif type(value) is range:
                count = value.start, value.step
            if count is not None and (count[0] < 0 or count[1] < 0 or type(count[0]) is not int):
                count = None  # indices from the end of the container are not the same as counts
        return Written(written.kind, base, made, written.value, written.key, count)

    def _finish(self, frames: Frames, iterations: Iterations) -> None:
        """Put what the loop leaves into the frame beside it."""
        frame = frames[-1]
        frame[self.state] = iterations, iterations.status, total_value(iterations.total)
        vector = iterations.frames
        for written in self.stored:
            filled = self._written(written, frames, vector, iterations.values)
            frame[written.inside] = frame[written.after] = filled
        last = vector[len(vector) - 1] if len(vector) else None
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
        if self.is_plain and limit == size and visit is not _EVERY and not based and not any(moved):
            return self._update_few(execution, before, values, old, new, changes, visit, paths)
        run = self.update_of(execution, before, values, old, new, changes, touched, paths, moved)
        after = run.follow(visit, size if limit is None else min(size, limit), limit)
        return self._leave(frame, before, after, old, new, changes, run.keys)

    def _update_few(
        self,
        execution: Any,
        before: Iterations,
        values: list[Any],
        old: Frames,
        new: Frames,
        changes: Changes,
        visit: Iterable[int],
        paths: dict[int, list[Path]],
    ) -> int:
        """Update some iterations of a plate that nothing is carried through: the hot path of most moves."""
        body, offset = self.body, len(execution.prefix)
        frames, total, readers = before.frames, before.total, before.readers
        here = body.affected(changes) if any(changes) else 0
        keys: dict[int, set[Any]] = {}
        for t in visit if len(visit) < 2 else sorted(visit):  # type: ignore[arg-type]
            was = frames[t]
            frame = was.copy()
            touched = paths.get(t)
            todo = here if touched is None else here | body.routed(touched, offset)
            if not todo:
                continue
            changed: dict[int, Any] = {}
            inner_old, inner = (*old, was), (*new, frame)
            body.update(execution, inner_old, inner, (*changes, changed), touched, todo)
            frame[0] = score = body.score(frame)
            frames = frames.set(t, frame)
            if score != was[0]:
                total = changed_total(total, was[0], score)
            if readers:
                readers = self._reread(readers, t, inner_old, inner, offset)
            for written in self.stored:
                if written.value in changed:
                    key = new[-1][written.inside].key_in(t, frame)
                    keys.setdefault(written.after, set()).add(key)
        frame = new[-1]
        readers = dict(readers)  # an index found out later is that of one trace
        after = Iterations(frames, total, values, before.status, readers, before.positions)
        frame[self.state] = after, None, total_value(total)
        mask = 0
        for written in self.stored:
            frame[written.inside] = frame[written.after] = frame[written.inside].over(frames)
            if written.after in keys:
                changes[-1][written.after] = keys[written.after]
                mask |= self.readers.get(written.after, 0)
        return mask

    def _reread(
        self, readers: dict[Slot, Any], t: int, old: Frames, new: Frames, offset: int
    ) -> dict[Slot, ReverseIndex]:
        """The readers when an iteration has changed."""
        for slot, index in readers.items():
            gone, come = self.keys_of(old, slot, offset), self.keys_of(new, slot, offset)
            if gone != come:
                for key in gone - come:
                    index = index.remove(key, t)
                for key in come - gone:
                    index = index.add(key, t)
                readers = {**readers, slot: index}
        return readers

    def update_of(self, *arguments: Any) -> _Update:
        """What updates the loop once."""
        return _Update(self, *arguments)

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
                    if change is not ALL and getattr(new[source.slot[0]][source.slot[1]], "is_dict", False):
                        change = ALL
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
                return _EVERY
            if change is not None:
                visit.update(key for key in change if key is not LENGTH)
        for depth, changed in enumerate(changes):
            for slot, change in changed.items():
                use = self.outer.get((depth, slot))
                if use is None:
                    continue
                if change is ALL or use.whole or (use.length and LENGTH in change):
                    return _EVERY
                index = self.readers_of(before, old, (depth, slot))
                for key in (*change, ALL):
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
        """The keys of a container that an iteration reads; for _ADDRESSES, the addresses that it makes,
        and those above them, marked as such."""
        if slot is not _ADDRESSES:
            return set(self.body.keys_read(frames, *slot))
        keys: set[Any] = set()
        for address in self.body.addresses(frames, offset):
            keys.add(address)
            keys.update((_ADDRESSES, address[:size]) for size in range(1, len(address)))
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

    def _route(
        self,
        before: Iterations,
        old: Frames,
        touched: Iterable[Path],
        offset: int,
        visit: Any,
        paths: dict[int, list[Path]],
    ) -> Any:
        """Add the iterations that may make a choice at a touched address."""
        every: list[Path] = []
        for path in touched:
            found = self.positions(before, old, path, offset)
            if found is None:
                every.append(path)
                visit = _EVERY
                continue
            for t in found:
                paths.setdefault(t, []).append(path)
                if visit is not _EVERY:
                    visit.add(t)
        if every:
            for t in range(len(before.frames)):
                paths.setdefault(t, []).extend(every)
        return visit

    def _routes(self) -> dict[Any, list[tuple[int, int]] | None]:
        """First component of an address -> for its sites, which component is which loop variable.

        None where an iteration can't be told from the address; a missing component where no site has it.
        """
        routes: dict[Any, list[tuple[int, int]] | None] = {}
        for parts in self.templates:
            if not parts or parts[0][0] is None:
                return {}
            head = parts[0][0]
            own = [
                (i, self.targets[slot[1]])
                for i, (_, slot) in enumerate(parts)
                if slot is not None and slot[0] == self.depth and slot[1] in self.targets
            ]
            known = routes.setdefault(head, [])
            if known is None or not own:
                routes[head] = None
            elif own[0] not in known:
                known.append(own[0])
        return routes

    def positions(
        self, iterations: Iterations, frames: Frames, path: Path, offset: int, below: bool = True
    ) -> list[int] | None:
        """The iterations that may make a choice at a path (or below it), or None for all of them."""
        if len(path) <= offset or path[offset] is ...:
            return None
        routes = self.routes.get(path[offset], ()) if self.routes else None
        if routes is None:
            if ... in path:
                return None
            index = self.readers_of(iterations, frames, _ADDRESSES, offset)
            keys: list[Any] = [path[offset:size] for size in range(offset + 1, len(path) + 1)]
            if below:
                keys.append((_ADDRESSES, path[offset:]))
            return sorted({t for key in keys for t in index.get(key).tolist()})
        size = len(iterations.frames)
        found: list[int] = []
        for component, source in routes:
            at = offset + component
            if at >= len(path):
                if below:
                    return None
                continue  # what has this address is longer
            if path[at] is ...:
                return None
            found += [t for t in self._at(iterations, source, path[at]) if t < size]
        return found if len(routes) < 2 else list(dict.fromkeys(found))

    def _at(self, iterations: Iterations, source: int, component: Any) -> list[int]:
        """The iterations in which a loop variable has a value."""
        value = iterations.values[source]
        if self.sources[source].counted or type(value) is range:
            if type(component) is not int:
                if not isinstance(component, (int, float, np.number)) or not float(component).is_integer():
                    return []
                component = int(component)
            first, step = (value.start, value.step) if type(value) is range else (value, 1)
            t = component - first
            if step != 1:
                t, rest = divmod(t, step)
                if rest:
                    return []
            return [t] if t >= 0 else []
        table = iterations.positions.get(source)
        if table is None or table[0] is not value:
            made: dict[Any, list[int]] = {}
            for t in range(len(value)):
                element = self.sources[source].element(value, t)
                try:
                    made.setdefault(element, []).append(t)
                except TypeError:
                    continue  # no address, so no choice is made there
            table = iterations.positions[source] = value, made
        try:
            return table[1].get(component, [])
        except TypeError:
            return []

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
        self._finish(new, after)
        if after.status == RETURN:
            frame[RETVAL] = after.frames[len(after.frames) - 1][RETVAL]
            change = difference(had, frame[RETVAL])
            if change is not None:
                here[RETVAL] = change
        for written in self.stored:
            here.pop(written.inside, None)
            change = keys.get(written.inside)
            if written.base is not None:
                base = changes[written.base[0]].get(written.base[1])
                if base is not None:
                    change = ALL if base is ALL or change is ALL or length else {*base, *(change or ())}
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
                    else:
                        yield ALL
        for _, first, _, _ in self.carried:
            if first == (depth, slot):
                yield ALL
        use = self.outer.get((depth, slot))
        if use is None:
            return
        if use.whole or use.length:
            yield ALL
            return
        yield from self.readers_of(frames[-1][self.state][0], frames, (depth, slot)).keys()


class _Update:
    """One update of a loop: follows changes from iteration to iteration."""

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
        self.readers = dict(before.readers)
        self.keys: dict[int, Any] = {}
        self.inside = {}
        for written in loop.stored:
            building = loop._written(written, new, self.frames, values)
            new[-1][written.inside] = building
            self.inside[written.inside] = building
            if written.base is not None:
                change = changes[written.base[0]].get(written.base[1])
                if change is not None:
                    changes[-1][written.inside] = change

    def follow(self, visit: Any, common: int, limit: int | None) -> Iterations:
        """Visit iterations, and those that they concern, up to `common`; then run or drop the rest."""
        loop, before = self.loop, self.before
        heap: list[int] = []
        if visit is not _EVERY and loop.stored:
            for inside in [w.inside for w in loop.stored if w.inside in self.changes[-1]]:
                visit = self._concerned(visit, inside, self.changes[-1][inside], -1)
        every = visit is _EVERY
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
                        if more is _EVERY:
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
                frames = (*self.old, gone)
                loop.body.remove(self.execution, frames)
                self.total = changed_total(self.total, gone[0], 0.0)
                for slot, index in self.readers.items():
                    for key in loop.keys_of(frames, slot, self.offset):
                        index = index.remove(key, t)
                    self.readers[slot] = index
                for written in loop.stored:
                    self._add_key(written, self.old[-1][written.inside].key_in(t, gone))
            self.frames = self.frames.truncate(end)
        elif status is None and (end is None or end > size):
            status = self._grow()
        for building in self.inside.values():
            building.frames = self.frames
        return Iterations(self.frames, self.total, self.values, status, self.readers, before.positions)

    def _grow(self) -> str | None:
        """Run the iterations that are new; how the last one left the loop."""
        loop = self.loop
        made = _Growing(self.frames)
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
                self._add_key(written, building.key_in(t, frame))
        return status

    def _iteration(self, t: int, previous: dict[int, Any]) -> tuple[dict[int, Any], str | None]:
        """Update one iteration; the changes of its slots, and how it leaves the loop."""
        loop = self.loop
        was = self.frames[t]
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
        todo = body.affected(changes)
        if touched is not None:
            todo |= body.routed(touched, self.offset)
        status = None
        if todo:
            status = body.update(self.execution, old, new, changes, touched, todo)
            frame[0] = body.score(frame)
        elif loop.exits:
            status = body.end(frame)
        if todo or changed:
            self.frames = self.frames.set(t, frame)
            if self.inside:
                for building in self.inside.values():
                    building.frames = self.frames
            if was[0] != frame[0]:
                self.total = changed_total(self.total, was[0], frame[0])
            if self.readers:
                self.readers = loop._reread(self.readers, t, old, new, self.offset)
        return changed, status

    # --- containers that the loop writes ----------------------------------------------------------

    def _emitted(self, written: Stored, t: int, changed: dict[int, Any]) -> Any:
        """The later iterations that a changed entry concerns, or None."""
        if written.kind != "append" and written.key in changed:
            self.keys[written.inside] = ALL
            self.inside[written.inside].forget()
            self.changes[-1][written.inside] = ALL
            return _EVERY if (self.loop.depth - 1, written.inside) in self.loop.outer else None
        if written.value not in changed:
            return None
        key = self.inside[written.inside].key_of(t)
        self._add_key(written, key)
        return self._concerned(set(), written.inside, {key}, t)

    def _add_key(self, written: Stored, key: Any) -> None:
        known = self.keys.get(written.inside)
        if known is ALL:
            return
        if known is None:
            known = self.keys[written.inside] = set()
        known.add(key)
        inside = self.changes[-1].get(written.inside)
        if inside is None:
            inside = set()
        if inside is not ALL:
            self.changes[-1][written.inside] = {*inside, key} if len(inside) < 8 else inside | {key}

    def _concerned(self, visit: Any, inside: int, change: Any, after: int) -> Any:
        """The iterations after one that read what has changed of a container that the loop writes."""
        loop = self.loop
        use = loop.outer.get((loop.depth - 1, inside))
        if use is None or visit is _EVERY:
            return visit
        if change is ALL or use.whole or use.length:
            return _EVERY if after < 0 else range(after + 1, len(self.frames))
        slot = loop.depth - 1, inside
        index = self.readers.get(slot)
        if index is None:
            index = self.readers[slot] = loop.readers_of(self.before, self.old, slot)
        for key in (*change, ALL):
            visit.update(t for t in index.get(key).tolist() if t > after)
        return visit


class _Growing:
    """Iterations that are being added to others, as a list would have them."""

    def __init__(self, frames: PersistentVector[Frame]) -> None:
        self.frames = frames
        self.start = len(frames)
        self.added: list[Frame] = []

    def __len__(self) -> int:
        return self.start + len(self.added)

    def __getitem__(self, t: int) -> Frame:
        return self.frames[t] if t < self.start else self.added[t - self.start]

    def append(self, frame: Frame) -> None:
        self.added.append(frame)


def all_states(body: Sequence) -> Iterator[int]:
    """The slots of the states of blocks over one frame, in branches too."""
    for block in body.blocks:
        if block.state >= 0:
            yield block.state
        for arm in getattr(block, "arms", ()):
            yield from all_states(arm)


def _returns(body: Sequence) -> bool:
    """Whether an iteration may return from the function."""
    return any(
        isinstance(block, ReturnBlock)
        or (isinstance(block, LoopBlock) and block.may_exit)
        or any(map(_returns, getattr(block, "arms", ())))
        for block in body.blocks
    )


__all__ = ["Iterations", "LoopBlock", "Source", "all_states", "block_keys"]
