"""Edits of a few iterations of a loop that is kept as columns: what most moves come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gendsl.address import Path
from gendsl.runtime.column_frames import ColumnFrames, outer_of
from gendsl.runtime.column_updates import EXTREME
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.reads import Changes, Frame, Frames
from gendsl.runtime.reverse import SameIndex, without_same
from gendsl.runtime.totals import total_of
from gendsl.runtime.totals import value as total_value

if TYPE_CHECKING:
    from gendsl.runtime.column_loops import ColumnLoopBlock


def edit_few(
    loop: ColumnLoopBlock,
    execution: Any,
    before: Iterations,
    old: Frames,
    new: Frames,
    changes: Changes,
    visit: list[int],
    paths: dict[int, list[Path]],
) -> int | None:
    """Visit some iterations, where neither the sources nor what the loop leaves otherwise change.

    Returns the mask of the later blocks that read what changed, or None where this is not the way.
    """
    store: ColumnFrames = before.frames
    visited: list[tuple[int, Frame]] = []
    for t in visit:
        was = store[t]
        if not -EXTREME < was[0] < EXTREME:
            return None
        visited.append((t, was))
    body, offset = loop.body, len(execution.prefix)
    here = body.affected(changes) if any(changes) else 0
    readers = before.readers
    keys: dict[int, set[Any]] = {}
    edits: list[tuple[int, Frame, Frame]] = []
    for t, was in visited:
        frame = was.copy()
        touched = paths.get(t)
        hit = 0 if touched is None else body.routed(touched, offset)
        todo = here | hit
        if not todo:
            continue
        changed: dict[int, Any] = {}
        inner_old, inner = (*old, was), (*new, frame)
        body.update(execution, inner_old, inner, (*changes, changed), touched, todo, hit)
        frame[0] = body.score(frame)
        edits.append((t, was, frame))
        for slot, index in readers.items():
            if type(index) is not SameIndex:
                readers = loop.reread(readers, slot, t, inner_old, inner, offset)
        for written in loop.stored:
            if written.value in changed:
                keys.setdefault(written.after, set()).add(new[-1][written.inside].key_in(t, frame))
    # what was outside when the store was made may have changed since, where no iteration had read it
    frames = store.replaced(edits, outer_of(loop.reads, new))
    if type(frames) is ColumnFrames:
        total = frames.total()
    else:
        total, readers = total_of([frame[0] for frame in frames]), without_same(readers)
    here_now = new[-1]
    after = Iterations(frames, total, before.values, None, dict(readers), before.positions)
    here_now[loop.state] = after, None, total_value(total)
    mask = 0
    for written in loop.stored:
        here_now[written.inside] = here_now[written.after] = here_now[written.inside].over(frames)
        if written.after in keys:
            changes[-1][written.after] = keys[written.after]
            mask |= loop.readers.get(written.after, 0)
    return mask
