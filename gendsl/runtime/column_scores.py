"""What columns score when the scope of their loop has changed, and the choices have not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.runtime.column_frames import outer_of
from gendsl.runtime.column_steps import moved_total
from gendsl.runtime.loop_parts import Iterations, Slot
from gendsl.runtime.reads import Frames
from gendsl.runtime.reverse import without_same

if TYPE_CHECKING:
    from gendsl.runtime.column_loops import ColumnLoopBlock


def rescored(
    loop: ColumnLoopBlock,
    execution: Any,
    before: Iterations,
    new: Frames,
    values: list[Any],
    changed: set[Slot],
    groups: list[tuple[Slot, Any, np.ndarray]] | None,
) -> Iterations | None:
    """The iterations in a new scope, scored with array code; None, and nothing is done, if that can't be.

    Args:
        changed: the slots that have changed.
        groups: the iterations that it concerns, by the key of a container that they read; None for all.
    """
    store: Any = before.frames
    if groups is not None and len(groups) != 1:
        return None
    frames = store.with_outer(outer_of(loop.reads, new), values)
    steps, columns, assigned = loop.affected(frozenset(changed))
    totals = list(store.totals)
    weight = 0.0
    try:
        if groups is None:
            frame = loop.vector_frame(values, store.size, store.arrays) if loop.needed_targets else {}
            for slot, i in columns:
                frame[slot] = store.columns[i].array()
            scope = (*new[: loop.depth], frame)
            for step in assigned:
                loop.assign(step, scope)
            for step in steps:
                i = step.number
                was, now = totals[i], loop.score(step, scope, store.columns[i].array())
                if was[2] or now[2]:
                    return None
                weight += (now[0] + now[1]) - (was[0] + was[1])
                totals[i] = now
        else:
            one = loop.one_key(groups)
            if one is None or assigned or loop.needed_targets:
                return None
            many = groups[0][2]
            frame = {slot: store.columns[i].take(many) for slot, i in columns if slot != one[0]}
            frame[one[0]] = one[1]
            old_scope, new_scope = (*store.outer, frame), (*frames.outer, frame)
            for step in steps:
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
    execution.weight += weight
    readers = dict(before.readers)
    if groups is None:
        readers = without_same(readers)
    if readers and not all(lookup.needs.isdisjoint(changed) for lookup in loop.lookups):
        stale = {lookup.container for lookup in loop.lookups if not lookup.needs.isdisjoint(changed)}
        readers = {slot: index for slot, index in readers.items() if slot not in stale}
    return Iterations(frames, frames.total(), values, None, readers, before.positions)
