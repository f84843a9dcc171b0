"""Edits of many iterations of a loop in columns, at once: what a split of a large cluster comes to.

One iteration after another costs some ten microseconds each. Here the scores of all that are concerned are
taken with array code, before and after, and the new values are put into the columns together. Where anything
is out of the ordinary (a score that is infinite, a value of another type, choices to be drawn) nothing has
happened, and the iterations are visited one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.address import Path
from gendsl.choices import MISSING
from gendsl.runtime.change import change_at
from gendsl.runtime.column_carried import and_next
from gendsl.runtime.column_frames import EXTREME, ColumnFrames, outer_of
from gendsl.runtime.column_steps import moved_total
from gendsl.runtime.columns import Column, plain_type
from gendsl.runtime.edits import UpdateEdit
from gendsl.runtime.loop_parts import Iterations, Slot
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.reads import Changes, Frames
from gendsl.runtime.reverse import SameIndex
from gendsl.runtime.totals import value as total_value

if TYPE_CHECKING:
    from gendsl.runtime.column_loops import ColumnLoopBlock

_USUAL = 50.0
"""A log density that is no larger than most."""

Given = dict[int, dict[int, Any]]
"""Number of a site -> iteration -> the value that its choice is given."""


def edit_many(
    loop: ColumnLoopBlock,
    execution: Any,
    before: Iterations,
    new: Frames,
    changes: Changes,
    visit: set[int],
    members: list[np.ndarray],
    paths: dict[int, list[Path]],
    changed: set[Slot],
) -> int | None:
    """Visit iterations with array code.

    Args:
        visit, members: the iterations, by themselves and in groups.
        paths: the addresses of choices in them that are given values.
        changed: the slots outside the loop that have changed.

    Returns:
        The mask of the later blocks that read what changed; None, and nothing has happened, if this is not
        the way.
    """
    keyed = any(written.may_move for written in loop.stored)
    if type(execution) is not UpdateEdit or keyed or loop.kept:
        return None
    store: Any = before.frames
    prefix = execution.prefix
    if prefix:  # others have the same ends under another
        paths = {t: [path for path in some if path[: len(prefix)] == prefix] for t, some in paths.items()}
    many = np.unique(np.concatenate([np.fromiter(visit, np.int64, len(visit)), *members]))
    if loop.handed:
        many = and_next(many, store.size)
    try:
        sites, given = _given(loop, execution, store, paths)
        columns = list(store.columns)
        for i, values in given.items():
            columns[i] = columns[i].set_many(list(values), list(values.values()))
        outer = outer_of(loop.reads, new)
        frames = ColumnFrames(
            loop, outer, store.values, store.size, tuple(columns), store.totals, store.arrays
        )
        totals, weight = _rescored(loop, store, frames, many)
    except Exception:  # one by one, it is met where it belongs
        return None
    frames.totals = totals
    execution.weight += weight
    for path, i, t in sites:
        execution.overwritten[path] = execution.discarded[path] = _old(store, i, t)
    # which iterations look up what may be another now, and is found again where it is asked for
    readers = {slot: index for slot, index in before.readers.items() if type(index) is SameIndex}
    total = frames.total()
    after = Iterations(frames, total, store.values, None, readers, before.positions)
    frame = new[-1]
    frame[loop.state] = after, None, total_value(total)
    edited = {loop.choices[i][0]: values for i, values in given.items()}
    moved = changed | {(loop.depth, slot) for slot in edited}
    mask = 0
    for written in loop.stored:
        container = frame[written.inside].over(frames)
        frame[written.inside] = frame[written.after] = container
        derived = not loop.value_needs.get(written.value, set()).isdisjoint(moved)
        which = many.tolist() if derived else edited.get(written.value)
        if which:
            keys = [container.key_of(t) for t in which]
            changes[-1][written.after] = change_at({*container.with_rows(keys)})
            mask |= loop.readers.get(written.after, 0)
    return mask


def _old(store: ColumnFrames, i: int, t: int) -> Any:
    """What an update tells of a choice that is given another value, of which only the value is asked for."""
    return None, store.columns[i][t], 0.0


def _given(
    loop: ColumnLoopBlock, execution: Any, store: ColumnFrames, paths: dict[int, list[Path]]
) -> tuple[list[tuple[Path, int, int]], Given]:
    """The choices that are given values, each with its site and iteration; and the values.

    Raises:
        NotColumnsError: one has a value of another type than its column, or none.
    """
    given: Given = {}
    sites = []
    offset = len(execution.prefix)
    kinds = [plain_type(column) if type(column) is Column else np.ndarray for column in store.columns]
    lookup = execution.given.lookup
    for t, some in paths.items():
        for path in some:
            i, value = _site(loop, path, offset), lookup(path)
            if isinstance(value, np.generic):
                value = value.item()
            if value is MISSING or type(value) is not kinds[i]:
                raise NotColumnsError
            given.setdefault(i, {})[t] = value
            sites.append((path, i, t))
    return sites, given


def _site(loop: ColumnLoopBlock, path: Path, offset: int) -> int:
    """The number of the site that has an address.

    Raises:
        NotColumnsError: none has, for it is a namespace.
    """
    for step, constants in loop.constants:
        assert step.site is not None and step.site.parts is not None
        size = len(step.site.parts)
        own = sum(slot is not None and slot[0] == loop.depth for _, slot in step.site.parts)
        fits = len(path) - offset == size and len(constants) == size - own  # the others are the loop's own
        if fits and all(path[offset + i] == constant for i, constant in constants):
            return step.number
    raise NotColumnsError


def _rescored(
    loop: ColumnLoopBlock, store: ColumnFrames, frames: ColumnFrames, many: np.ndarray
) -> tuple[tuple[Any, ...], float]:
    """The totals of the sites, and what the scores of some iterations change by.

    Raises:
        NotColumnsError: a score is infinite, or so large that the others have no digits left beside it.
    """
    totals, weight = list(store.totals), 0.0
    old, new = loop.scope_of(store, many), loop.scope_of(frames, many)
    for step in loop.sites:
        i = step.number
        was = loop.score(step, old, store.columns[i].take(many))
        now = loop.score(step, new, frames.columns[i].take(many))
        large = max(abs(was[0]), abs(now[0])) > EXTREME + _USUAL * len(many)
        if was[2] or now[2] or large:
            raise NotColumnsError
        weight += (now[0] + now[1]) - (was[0] + was[1])
        totals[i] = moved_total(totals[i], was, now)
    return tuple(totals), weight
