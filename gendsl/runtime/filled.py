"""Deterministic loops that fill a container: run whole, and after an edit where that concerns an entry.

    w = [math.exp(v) for v in x]

The user's statement makes the container, at the speed of plain Python. When something changes that it reads,
the loop that stands for it says which iterations that concerns: those of the elements that changed in what it
goes through, and those that looked a changed entry up. They run again, and the container is a view of its
entries from then on (see `written`). What concerns many of them runs the statement whole again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any

from gendsl.runtime.blocks import NOTHING, FragmentBlock, Touched
from gendsl.runtime.change import ALL, LENGTH, UNSET, Change, difference, is_same
from gendsl.runtime.entries import EntryStore, can_hold
from gendsl.runtime.loop_parts import EVERY, Iterations, Slot
from gendsl.runtime.loop_reads import OuterUse
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.lowering.ir import POSITION
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.reads import Changes, Frame, Frames, Runner
from gendsl.runtime.totals import ZERO
from gendsl.runtime.written import Written, whole

LEAST = 64
"""Entries from which on a change is followed to some of them."""
PART = 8
"""The part of the entries from which on all of them are made again."""
ASKED = 3
"""How often it has to be asked which iterations read an entry, before an index of that is made."""
_COMPARED = 64  # entries: of more, `difference` doesn't look at each


class Known:
    """What is known of how a container was filled, found out when it is first asked for.

    Attributes:
        values: what each source of the loop was.
        container: the container as a view of its entries.
        readers: for a container outside the loop, which iterations read which of its keys.
        asked: how often an index of these would have been of use.
    """

    __slots__ = ("asked", "container", "readers", "values")

    def __init__(
        self,
        values: list[Any] | None = None,
        container: Written | None = None,
        readers: dict[Slot, Any] | None = None,
        asked: int = 0,
    ) -> None:
        self.values = values
        self.container = container
        self.readers = {} if readers is None else readers
        self.asked = asked


class _Frames:
    """The frames of the iterations, each made when it is looked at."""

    def __init__(self, block: FilledBlock, frames: Frames, values: list[Any]) -> None:
        self.block = block
        self.frames = frames
        self.values = values

    def __len__(self) -> int:
        return self.block.length(self.values)

    def __getitem__(self, t: int) -> Frame:
        return self.block.frame_at(self.frames, self.values, t, len(self.block.loop.body.blocks) > 1)

    def __iter__(self) -> Iterator[Frame]:
        return map(self.__getitem__, range(len(self)))


class FilledBlock(FragmentBlock):
    """A deterministic statement that fills a container.

    Args:
        loop: the same, iteration by iteration.
    """

    def __init__(self, node: ast.AST, runner: Runner, defs: list[int], loop: LoopBlock, state: int) -> None:
        super().__init__(node, runner, defs)
        self.loop = loop
        self.state = state
        (self.slot,) = defs
        (self.written,) = loop.stored

    # --- running ----------------------------------------------------------------------------------

    def run(self, execution: Any, frames: Frames) -> None:
        super().run(execution, frames)
        frames[-1][self.state] = Known(), None, 0.0

    def clear(self, frame: Frame) -> None:
        super().clear(frame)
        frame[self.state] = NOTHING

    def size(self, frame: Frame) -> int:
        """How many entries there are in a container; of those put in by the loop, if it is a view of them."""
        container = frame[self.slot]
        return len(container.frames if type(container) is Written else container)

    def follows(self, slots: Iterable[int]) -> bool:
        """Whether a change of a slot of the body's own frame may concern some of the entries only."""
        loop = self.loop
        through = {slot for source in loop.sources if (slot := source.slot) is not None}
        uses = {slot: loop.outer.get((0, slot)) for slot in slots}  # none where it is only stored into
        return any((0, slot) in through or (use is not None and not use.whole) for slot, use in uses.items())

    def length(self, values: list[Any]) -> int:
        """How many iterations there are."""
        size = self.loop.length(values)
        assert size is not None
        return size

    def frame_at(self, frames: Frames, values: list[Any], t: int, run: bool) -> Frame:
        """The frame of iteration t, run or only with the loop's variables in it."""
        loop = self.loop
        frame = loop.template.copy()
        frame[POSITION] = t
        for source, value in zip(loop.sources, values, strict=True):
            frame[source.target] = source.element(value, t)
        if run:
            loop.body.run(None, (*frames, frame))
        return frame

    # --- updating ---------------------------------------------------------------------------------

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        frame = new[-1]
        known: Known | None = frame[self.state][0]
        if known is None or self.size(frame) < LEAST or self.loop._base_changed(changes):
            return self._whole(known, new, changes, False)
        if not (self.runner.always or self.runner.is_dirty(new, changes)):
            return 0
        loop = self.loop
        if known.values is None:
            known.values = [source.value(old) for source in loop.sources]
        frames: Any = _Frames(self, old, known.values)
        before = Iterations(frames, ZERO, known.values, None, known.readers, {})
        values, moved = loop._sources(before, new, self._of_sources(old, new, changes))
        size, limit = self.length(known.values), self.length(values)
        if (size != limit and self.written.kind == "index") or not self._has_readers(known, changes):
            return self._whole(known, new, changes, self._is_steady(changes, moved))
        visit: Any = loop._visits(before, old, changes, moved)
        if visit is EVERY or (len(visit) + abs(size - limit)) * PART > size:
            return self._whole(known, new, changes, self._is_steady(changes, moved))
        if known.container is None:
            known.container = self._view(old, known.values, size)
            if known.container is None:
                return self._whole(known, new, changes, self._is_steady(changes, moved))
        order = sorted(t for t in visit if t < size and t < limit)
        made = self._again(old, new, changes, before, values, moved, order, limit)
        if made is None:
            return self._whole(known, new, changes, False)
        container, keys, readers = made
        frame[self.state] = Known(values, container, readers, known.asked), None, 0.0
        if not keys:
            return 0
        frame[self.slot] = container
        changes[-1][self.slot] = keys
        return self.readers.get(self.slot, 0)

    def _of_sources(self, old: Frames, new: Frames, changes: Changes) -> Changes:
        """The changes without those of dicts with the keys that they had: to go through one gives these."""
        same = {
            slot
            for source in self.loop.sources
            if source.slot is not None and (slot := source.slot[1]) in changes[-1]
            if _has_keys_of(old[-1][slot], new[-1][slot], changes[-1][slot])
        }
        if not same:
            return changes
        return *changes[:-1], {slot: change for slot, change in changes[-1].items() if slot not in same}

    def _whole(self, known: Known | None, new: Frames, changes: Changes, steady: bool) -> int:
        """Run the statement again; `steady`: its iterations are the same, and read at the same keys."""
        runner, frame = self.runner, new[-1]
        if not runner.always and not runner.is_dirty(new, changes):
            return 0
        (value,) = runner.call(*new)
        after = Known()
        if known is not None and steady:
            after = Known(known.values, None, known.readers, known.asked)
        frame[self.state] = after, None, 0.0
        was = frame[self.slot]
        change: Change = ALL
        if type(was) is not Written or self.size(frame) <= _COMPARED:
            change = difference(whole(was), value)
        if change is None:
            return 0
        frame[self.slot] = value
        changes[-1][self.slot] = change
        return self.readers.get(self.slot, 0)

    def _again(
        self,
        old: Frames,
        new: Frames,
        changes: Changes,
        before: Iterations,
        values: list[Any],
        moved: list[Change],
        order: list[int],
        limit: int,
    ) -> tuple[Written, set[Any], dict[Slot, Any]] | None:
        """Run some iterations, and those that are new; the container, at which keys it changed, and who
        reads what. None if an entry goes under another key now."""
        loop, written = self.loop, self.written
        container: Written = old[-1][self.state][0].container
        store: EntryStore = container.frames
        readers = dict(before.readers)
        edits: dict[int, Any] = {}
        size = len(store)
        for t in order:
            frame = self.frame_at(new, values, t, run=True)
            if container.is_dict and not is_same(frame[written.key], store.keys[t]):
                return None
            value = self._entry(container, frame)
            if not is_same(store.values[t], value):
                edits[t] = value
            readers = self._reread(readers, before, old, (*new, frame), changes, moved, t)
        keys = {store.keys[t] for t in edits}
        if edits:
            store = store.changed(edits)
        ends = range(min(size, limit), max(size, limit))
        added, new_keys = [], []
        for t in ends:
            if t >= size:
                frame = self.frame_at(new, values, t, run=True)
                added.append(self._entry(container, frame))
                new_keys.append(frame[written.key] if container.is_dict else len(container.base) + t)
            scope = (*new, frame) if t >= size else (*old, before.frames[t])
            for slot, index in readers.items():
                for key in loop.keys_of(scope, slot, 0):
                    index = index.add(key, t) if t >= size else index.remove(key, t)
                readers[slot] = index
        if added:
            if container.is_dict and self._has_key(container, new_keys):
                return None
            store = store.extended(added, self._keys_after(store, new_keys))
        elif limit < size:
            new_keys = [store.keys[t] for t in ends]
            store = store.truncated(self._keys_before(store, limit))
        if ends:
            keys |= {LENGTH, *new_keys}
        if not keys:
            return container, keys, readers
        if container.is_dict:
            container.writers(UNSET)  # an index that what comes after it takes over
        return container.over(store), keys, readers

    def _entry(self, container: Written, frame: Frame) -> Any:
        """What an iteration writes, as a store holds it."""
        value = whole(frame[self.written.value])
        return container.converted(value, frame[POSITION]).item() if container.is_array else value

    # --- containers -------------------------------------------------------------------------------

    def _view(self, old: Frames, values: list[Any], size: int) -> Written | None:
        """What the statement has made, as a view of its entries; None if it can't be told which they are."""
        written, made = self.written, whole(old[-1][self.slot])
        view = self.loop._written(written, old, (), values)
        keys: Any
        if view.is_dict and len(view.base):
            return None
        if view.is_dict:
            keys, entries = PersistentVector.of(made), list(made.values())
        elif written.kind == "append":
            first = len(view.base)
            keys, entries = range(first, first + size), made[first:] if first else made
        elif view.count is None or not can_hold(made):
            return None
        else:
            first, step = view.count
            keys = range(first, first + step * size, step)
            entries = made[keys.start : keys.stop : keys.step]
        if len(entries) != size:
            return None  # two iterations have written at one key
        view.frames = EntryStore.of(written.value, entries, keys)
        view.hold(made)
        return view

    @staticmethod
    def _has_key(container: Written, keys: list[Any]) -> bool:
        """Whether one of some keys is in a dict already, or comes twice."""
        return len(set(keys)) < len(keys) or any(len(container.writers(key)) for key in keys)

    @staticmethod
    def _keys_after(store: EntryStore, added: list[Any]) -> Any:
        keys: Any = store.keys
        if type(keys) is range:
            return range(keys.start, keys.stop + len(added))
        return keys.extend(added)

    @staticmethod
    def _keys_before(store: EntryStore, size: int) -> Any:
        keys: Any = store.keys
        return keys[:size] if type(keys) is range else keys.truncate(size)

    # --- who reads what ---------------------------------------------------------------------------

    def _has_readers(self, known: Known, changes: Changes) -> bool:
        """Whether it is known which iterations read what has changed, or worth finding out by now."""
        for depth, changed in enumerate(changes):
            for slot, change in changed.items():
                use: OuterUse | None = self.loop.outer.get((depth, slot))
                if use is None or use.is_every(change) or (depth, slot) in known.readers:
                    continue
                known.asked += 1
                return known.asked > ASKED
        return True

    def _is_steady(self, changes: Changes, moved: list[Change]) -> bool:
        """Whether the iterations are those that they were, and surely read the keys that they did."""
        if any(moved) or len(self.loop.body.blocks) > 1:
            return False
        within = (*changes, {})
        return all(use.is_steady(within) for use in self.loop.outer.values() if use.items)

    def _reread(
        self,
        readers: dict[Slot, Any],
        before: Iterations,
        old: Frames,
        new: Frames,
        changes: Changes,
        moved: list[Change],
        t: int,
    ) -> dict[Slot, Any]:
        """The readers when iteration t may read other keys than it did."""
        loop = self.loop
        inner = {s.target: ALL for s, change in zip(loop.sources, moved, strict=True) if change is not None}
        known = (*changes, inner) if len(loop.body.blocks) < 2 else None
        for slot in readers:
            if known is not None and loop.outer[slot].is_steady(known):
                continue
            readers = loop.reread(readers, slot, t, (*old, before.frames[t]), new, 0)
        return readers

    # --- as generated code ------------------------------------------------------------------------

    def written_out(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        return super(FragmentBlock, self).written_out(i, frames, scope)


def _has_keys_of(before: Any, after: Any, change: Change) -> bool:
    """Whether a dict that a loop has filled surely has the same keys, in the same order, as before."""
    if type(after) is not Written or not after.is_dict or change is ALL or LENGTH in change:
        return False
    if type(after.frames) is EntryStore:
        return True  # or it would have changed altogether
    return type(before) is Written and after.writes_where(before)
