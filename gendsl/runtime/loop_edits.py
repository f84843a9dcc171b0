"""Edits of a few iterations of a plate that nothing is carried through: what most moves come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gendsl.address import Path
from gendsl.runtime.change import LENGTH, Change, change_at
from gendsl.runtime.column_frames import EXTREME, ColumnFrames, outer_of
from gendsl.runtime.loop_parts import Growing, Iterations
from gendsl.runtime.reads import Changes, Frame, Frames
from gendsl.runtime.reverse import SameIndex, without_same
from gendsl.runtime.totals import HUGE, total_of
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.totals import value as total_value

if TYPE_CHECKING:
    from gendsl.runtime.loops import LoopBlock

_LONGER = {LENGTH}


def is_longer(change: Change) -> bool:
    """Whether a source has the elements that it had, though perhaps more or fewer of them."""
    return change is None or bool(change == _LONGER)


def edit_few(
    loop: LoopBlock,
    execution: Any,
    before: Iterations,
    values: list[Any],
    old: Frames,
    new: Frames,
    changes: Changes,
    visit: Iterable[int],
    paths: dict[int, list[Path]],
    limit: int,
) -> int | None:
    """Visit some iterations; drop those from `limit` on, or run those up to there that are new.

    Returns the mask of the later blocks that read what changed, or None where this is not the way: one of
    the scores is so large that the others have no digits left in their sum.
    """
    store: Any = before.frames
    as_columns = type(store) is ColumnFrames
    size = len(store)
    if as_columns and limit != size:
        return None  # the totals of each choice are put right where columns are cut or grow
    order = sorted(t for t in visit if t < limit)
    gone = [(t, store[t]) for t in range(limit, size)]
    most = EXTREME if as_columns else HUGE
    visited = [(t, store[t]) for t in order]
    for _, was in visited:
        if not -most < was[0] < most:
            return None
    for _, was in gone:
        if not -most < was[0] < most:
            return None
    body, offset = loop.body, len(execution.prefix)
    here = body.affected(changes) if any(changes) else 0
    readers = before.readers
    keys: dict[int, set[Any]] = {}
    edits: list[tuple[int, Frame, Frame]] = []
    for t, was in visited:
        touched = paths.get(t)
        hit = 0 if touched is None else body.routed(touched, offset)
        todo = here | hit
        if not todo:
            continue
        frame = was.copy()
        changed: dict[int, Any] = {}
        inner_old, inner = (*old, was), (*new, frame)
        within = (*changes, changed)
        body.update(execution, inner_old, inner, within, touched, todo, hit)
        frame[0] = body.score(frame)
        edits.append((t, was, frame))
        for slot, index in readers.items():
            if type(index) is not SameIndex:
                readers = loop.reread(readers, slot, t, inner_old, inner, offset, within)
        for written in loop.stored:
            if written.value in changed:
                container = new[-1][written.inside]
                container.check_entry(frame)
                found = container.changed_keys(t, frame, changed[written.value])
                keys.setdefault(written.after, set()).update(found)
    if as_columns:
        # what was outside when the store was made may have changed since, where no iteration had read it
        frames = store.replaced(edits, outer_of(loop.reads, new))  # type: ignore[attr-defined]
        if type(frames) is ColumnFrames:
            total = frames.total()
        else:
            total, readers = total_of([frame[0] for frame in frames]), without_same(readers)
    else:
        frames, total = store, before.total
        for t, was, frame in edits:
            frames = frames.set(t, frame)
            if frame[0] != was[0]:
                total = changed_total(total, was[0], frame[0])
    readers = dict(readers)  # an index found out later is that of one trace
    ends = gone
    for t, frame in gone:
        body.remove(execution, (*old, frame))
        total = changed_total(total, frame[0], 0.0)
        for slot, index in readers.items():
            for key in loop.keys_of((*old, frame), slot, offset):
                index = index.remove(key, t)
            readers[slot] = index
    if gone:
        frames = frames.truncate(limit)
    elif limit > size:
        made = Growing(frames)
        loop._extend(execution, new, values, made)  # type: ignore[arg-type]
        ends = list(enumerate(made.added, size))
        for t, frame in ends:
            total = changed_total(total, 0.0, frame[0])
            for slot, index in readers.items():
                for key in loop.keys_of((*new, frame), slot, offset):
                    index = index.add(key, t)
                readers[slot] = index
        frames = frames.extend(made.added)
    frame = new[-1]
    after = Iterations(frames, total, values, before.status, readers, before.positions)
    frame[loop.state] = after, None, total_value(total)
    mask = 0
    for written in loop.stored:
        container = frame[written.inside]
        if ends:
            found = keys.setdefault(written.after, set())
            found.add(LENGTH)
            for t, end in ends:
                if limit > size:
                    container.check_entry(end)
                found.update(container.keys_in(t, end))
        frame[written.inside] = frame[written.after] = container.over(frames)
        if written.after in keys:
            changes[-1][written.after] = change_at(keys[written.after])
            mask |= loop.readers.get(written.after, 0)
    return mask
