"""What columns score when the scope of their loop has changed, and the choices have not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.runtime.column_carried import hand_on
from gendsl.runtime.column_frames import ColumnFrames, outer_of
from gendsl.runtime.column_steps import Step, column_total, moved_total
from gendsl.runtime.loop_parts import Iterations, Slot
from gendsl.runtime.reads import Frames
from gendsl.runtime.reverse import without_same

if TYPE_CHECKING:
    from gendsl.runtime.column_loops import ColumnLoopBlock


class Affected:
    """What of a loop depends on some slots outside it.

    Attributes:
        steps: the choices whose parameters do.
        columns, assigned, handed: the columns and variables that these read.
        stale: the containers in which other entries may be looked up than before.
    """

    __slots__ = ("assigned", "columns", "handed", "stale", "steps")

    def __init__(self, loop: ColumnLoopBlock, changed: frozenset[Slot]) -> None:
        self.steps: list[Step] = [step for step in loop.sites if not step.needs.isdisjoint(changed)]
        read = {slot for step in self.steps for depth, slot in step.needs if depth == loop.depth}
        self.columns = [(slot, i) for slot, i in loop.column_of.items() if slot in read]
        self.handed = [carried for carried in loop.handed if carried.into in read]
        self.assigned = [step for step in loop.steps if step.site is None and step.slot in read]
        self.stale = {lookup.container for lookup in loop.lookups if not lookup.needs.isdisjoint(changed)}


class AffectedBy(dict[frozenset[Slot], Affected]):
    """Slots that have changed -> what of a loop depends on them, found once."""

    def __init__(self, loop: ColumnLoopBlock) -> None:
        super().__init__()
        self.loop = loop
        self._throughout: dict[frozenset[int], Affected | None] = {}

    def __missing__(self, changed: frozenset[Slot]) -> Affected:
        affected = self[changed] = Affected(self.loop, changed)
        return affected

    def throughout(self, slots: frozenset[int]) -> Affected | None:
        """The same for slots of the body around the loop, if it is all the same where in them a change is.

        So it is where the iterations read them as a whole, and only for the parameters of their choices.
        """
        try:
            return self._throughout[slots]
        except KeyError:
            affected = self._throughout[slots] = self._found(slots)
            return affected

    def alike(self, slots: frozenset[int]) -> Affected | None:
        """What of a loop depends on slots around it, if all iterations read the same entries of them.

        So it is only for the parameters of their choices.
        """
        read = self._read(slots)
        if read is None:
            return None
        for lookup in self.loop.lookups:
            if lookup.container in read and any(depth == self.loop.depth for depth, _ in lookup.needs):
                return None
        return self[read]

    def _found(self, slots: frozenset[int]) -> Affected | None:
        read, loop = self._read(slots), self.loop
        if not read or loop.unlooked or not all(loop.outer[slot].whole for slot in read):
            return None
        return self[read]

    def _read(self, slots: frozenset[int]) -> frozenset[Slot] | None:
        """Which of some slots the loop reads; None if not for the parameters of its choices alone."""
        loop = self.loop
        changed = {(0, slot) for slot in slots}
        elsewhere = loop.source_slots | loop.address_slots | loop.followed
        if not loop.leaves_nothing or not elsewhere.isdisjoint(changed):
            return None
        return frozenset(changed & loop.outer.keys())


def rescored(
    loop: ColumnLoopBlock, before: Iterations, new: Frames, values: list[Any], affected: Affected
) -> tuple[Iterations, float] | None:
    """The iterations in a new scope, scored with array code, and the change; None if that can't be."""
    store: Any = before.frames
    columns = store.columns
    totals = list(store.totals)
    weight = 0.0
    try:
        frame = loop.vector_frame(values, store.size, store.arrays) if loop.needed_targets else {}
        for slot, i in affected.columns:
            frame[slot] = columns[i].array()
        scope = (*new[: loop.depth], frame)
        hand_on(affected.handed, scope, columns)
        for step in affected.assigned:
            loop.assign(step, scope)
        for step in affected.steps:
            i = step.number
            was = totals[i]
            now = column_total(step.family, columns[i].array(), loop.parameters(step, scope))
            if was[2] or now[2]:
                return None
            weight += (now[0] + now[1]) - (was[0] + was[1])
            totals[i] = now
    except Exception:  # one by one, it is met where it belongs
        return None
    outer = outer_of(loop.reads, new)
    frames = ColumnFrames(loop, outer, values, store.size, columns, tuple(totals), store.arrays)
    readers = _readers_after(without_same(before.readers), affected) if before.readers else {}
    total = totals[0] if len(totals) == 1 else frames.total()
    return Iterations(frames, total, values, None, readers, before.positions), weight


def rescored_at_key(
    loop: ColumnLoopBlock,
    before: Iterations,
    new: Frames,
    values: list[Any],
    affected: Affected,
    groups: list[tuple[Slot, Any, np.ndarray]],
) -> tuple[Iterations, float] | None:
    """The same where it concerns the iterations that read one key of a container.

    Args:
        groups: the iterations that it concerns, by the container and the key.
    """
    store: Any = before.frames
    one = one_key(loop, store, groups)
    if one is None or affected.assigned or affected.handed or loop.needed_targets:
        return None
    frames = store.with_outer(outer_of(loop.reads, new), values)
    totals = list(store.totals)
    weight = 0.0
    try:
        many = groups[0][2]
        frame = {slot: store.columns[i].take(many) for slot, i in affected.columns if slot != one[0]}
        frame[one[0]] = one[1]
        old_scope, new_scope = (*store.outer, frame), (*frames.outer, frame)
        for step in affected.steps:
            i = step.number
            column = store.columns[i].take(many)
            was, now = loop.score(step, old_scope, column), loop.score(step, new_scope, column)
            if was[2] or now[2]:
                return None
            weight += (now[0] + now[1]) - (was[0] + was[1])
            totals[i] = moved_total(totals[i], was, now)
    except Exception:  # one by one, it is met where it belongs
        return None
    frames.totals = tuple(totals)
    readers = _readers_after(dict(before.readers), affected)
    return Iterations(frames, frames.total(), values, None, readers, before.positions), weight


def one_key(
    loop: ColumnLoopBlock, store: Any, groups: list[tuple[Slot, Any, np.ndarray]]
) -> tuple[int, int] | None:
    """Where all iterations of a group look up one key, by a choice that is the key: its slot and the key."""
    if len(groups) != 1 or type(groups[0][1]) is not int or groups[0][0] in loop.unlooked:
        return None
    slots = {lookup.of for lookup in loop.lookups if lookup.container == groups[0][0]}
    of = slots.pop() if len(slots) == 1 else None
    _, key, members = groups[0]
    return (of, key) if of in loop.column_of and is_key(loop, store, of, key, members) else None


def is_key(loop: ColumnLoopBlock, store: Any, of: int, key: int, members: np.ndarray) -> bool:
    """Whether a choice by which iterations look up an entry is its very key; -1 isn't the last one's."""
    column = store.columns[loop.column_of[of]]
    return column.never_negative() or bool((column.take(members) == key).all())


def _readers_after(readers: dict[Slot, Any], affected: Affected) -> dict[Slot, Any]:
    """The indexes of containers in which the same entries are looked up as before."""
    if readers and affected.stale:
        return {slot: index for slot, index in readers.items() if slot not in affected.stale}
    return readers
