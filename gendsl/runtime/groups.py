"""Statements of a compiled body that are executed as a whole while they make few choices.

Which they are is a function of the program, its arguments and its choices alone, as for `small`. A frame
has the same slots in every form of its body, so it passes from one to the other at the cost of the statements
that change their form. Only traces have such forms, not what they call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.address import Path
from gendsl.errors import Location
from gendsl.runtime import column_loops, small
from gendsl.runtime.blocks import Block, FragmentBlock, Touched
from gendsl.runtime.change import ALL, SCALARS, difference, is_same
from gendsl.runtime.edits import RegenerateEdit, UpdateEdit
from gendsl.runtime.executions import Assess, Closed
from gendsl.runtime.inlined import REGENERATED_WITHIN, Makers
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.lowering.groups import Member
from gendsl.runtime.lowering.ir import LENGTH, RETVAL, SCORE, WHOLE
from gendsl.runtime.lowering.light import ENTRIES, entries
from gendsl.runtime.reads import Changes, Frame, Frames, Runner
from gendsl.runtime.records import REMEMBERED, Records
from gendsl.runtime.reexecutions import Update
from gendsl.runtime.regions import Called, RegionBlock, Whole
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.written import Written

if TYPE_CHECKING:
    from gendsl.runtime.link import Linked

Group = tuple[int, int]
"""The first statement of a group, and the one after its last."""


class RegenerateWithin(Whole, makers=Makers(REGENERATED_WITHIN)):
    """Regeneration of a group as a whole: its addresses are no other block's, and none is above another."""

    def __init__(self, outer: RegenerateEdit, old: Records, old_calls: Container[Path]) -> None:
        super().__init__(outer, old, old_calls)
        self.selection = outer.selection

    def close(self) -> None:
        outer, records, old = self.outer, self.records, self.old
        if self.failure is not None:
            raise self.failure
        if records.keys() != old.keys():
            for path, record in old.items():
                if path not in records:
                    outer.remove(path, record)
        if len(outer.records) + len(records) <= REMEMBERED:
            outer.records.update(records)
        self.__class__ = Closed  # type: ignore[assignment]


class GroupBlock(RegionBlock):
    """A group of statements. Its state is its records, and their score."""

    heads: frozenset[Any]

    def __init__(
        self,
        node: ast.AST,
        runner: Runner,
        defs: list[int],
        state: int,
        locate: Callable[[ast.AST], Location],
        heads: frozenset[Any],
        again: Callable[[], Callable[..., Any] | None],
    ) -> None:
        super().__init__(node, runner, defs, state, locate)
        self.heads = heads
        self._make_again = again
        self.weighed = sorted({*defs, *(read.slot for read in runner.reads if read.mode is not LENGTH)})
        self.whole_only: set[int] = set()

    def link(self, blocks: list[Block]) -> None:
        """Find out where its readers, among the blocks of the body, only ask whether a value has changed."""
        self.whole_only = {slot for slot in self.defs if all(_reads_whole(block, slot) for block in blocks)}

    def whole(self, execution: Any, old: Records, old_calls: Container[Path]) -> Whole:
        if type(execution) is RegenerateEdit:
            return RegenerateWithin(execution, old, old_calls)
        return super().whole(execution, old, old_calls)

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        if touched is None and not self.runner.is_dirty(new, changes):
            return 0
        frame, changed = new[-1], changes[-1]
        mask = 0
        whole_only = self.whole_only
        values = None
        if type(execution) is UpdateEdit and execution.rng is None and execution.values is not None:
            values = self._executed_again(execution, new)
        if values is None:
            records, calls, _ = frame[self.state]
            whole = self.whole(execution, records, calls)
            values = self.runner.call(*new, __gendsl__=whole)
            whole.close()
            frame[self.state] = whole.records, whole.calls, whole.score
        for slot, value in zip(self.defs, values):  # noqa: B905 (of one length by construction; hot)
            was = frame[slot]
            if was is value:
                continue
            if slot in whole_only:
                change = None if is_same(was, value) else ALL
            else:
                change = difference(was, value)
            if change is not None:
                frame[slot] = value
                changed[slot] = change
                mask |= self.readers.get(slot, 0)
        return mask

    @cached_property
    def again(self) -> Callable[..., Any] | None:
        """The statements with choices that are made again by statements; see `at_once`."""
        return self._make_again()

    def _executed_again(self, execution: UpdateEdit, new: Frames) -> tuple[Any, ...] | None:
        """What the statements define in an edit that draws nothing; None where it is to go the usual way.

        So it does where anything is out of the ordinary, and nothing has happened then.
        """
        again = self.again
        if again is None:
            return None
        frame = new[-1]
        old: Records = frame[self.state][0]
        update = Update(old, execution.given, None, stop_at_zero=execution.stop_at_zero)
        update.quick = update.spread = True
        update.function = execution.function
        try:
            values: tuple[Any, ...] = again(*new, __gendsl__=update)
        except Exception:
            return None
        records, score = update.records, update.score
        if update.failure is not None or not -inf < score < inf:
            return None
        update.__class__ = Closed  # type: ignore[assignment]
        weight = 0.0
        for path, record in records.items():
            before = old.get(path)
            if before is record:
                continue
            if before is None:
                weight += record[2]
                execution.made[path] = record
                continue
            weight += record[2] - before[2]
        for path in update.remade:
            if path in records and path not in execution.values:  # type: ignore[operator]
                execution.compare(path, old[path][0], records[path][0])
        execution.weight += weight
        execution.added += update.added
        if len(records) - update.added < len(old):
            for path, record in old.items():
                if path not in records:
                    execution.remove(path, record)
        if len(execution.records) + len(records) <= REMEMBERED:
            execution.records.update(records)
        frame[self.state] = records, update.calls, score
        return values


def _reads_whole(block: Block, slot: int) -> bool:
    """Whether it is all the same to a block of the body where in the value of a slot a change is."""
    modes = {read.mode for read in block.uses if (read.depth, read.slot) == (0, slot)}
    if isinstance(block, LoopBlock) and modes:
        passed_on = block.carried or block.outs or block.stored
        gone_through = any(read.slot == slot for source in block.sources for read in source.runner.reads)
        return not passed_on and not gone_through and block.outer[0, slot].whole
    return not modes or (modes == {WHOLE} and isinstance(block, (SiteBlock, FragmentBlock)))


def fitted(called: Called) -> Called:
    """What was called, in the form of its body that costs least to edit."""
    linked: Linked = called.linked
    if not linked.may_group or small.CHOICES == 0 or _fits(linked, called.frame):
        return called
    groups = _groups(linked, called.frame)
    if groups == linked.groups:
        return called
    other = linked.grouped(groups)
    old, frame = called.frame, called.frame.copy()
    left = [block for unit, blocks in linked.units.items() if unit not in other.units for block in blocks]
    values = {path: record[1] for block in left for path, record in block.records((old,), ())}
    execution = Assess(values)
    execution.function, execution.called = called.request.function, set()
    for unit, blocks in other.units.items():
        if unit not in linked.units:
            for block in blocks:
                block.run(execution, (frame,))
    frame[SCORE] = other.body.score(frame)
    return Called(called.request, other, frame, {}, {}, frame[RETVAL])


def has_groups(linked: Linked) -> bool:
    """Whether some statements of a body are likely to be a group, beside others that can't, or are large."""
    sites = loops = 0
    members = [statement.member for statement in linked.program.grouping.statements]
    for member in members if linked.may_group and small.CHOICES > 0 else ():
        sites, loops = (0, 0) if member is None else (sites + member.choices, loops + len(member.loops))
        if sites > 1 or loops > 1:
            return True
    return False


def _fits(linked: Linked, frame: Frame) -> bool:
    """Whether it is quickly seen that this form is the one that costs least.

    So it is if no group has become too large, and no loop that was too large for one has become small.
    """
    if linked.may_grow:
        return False
    for loop, choices in linked.lone_loops:
        size = len(frame[loop.state][0].frames)
        if size * choices <= small.CHOICES and not (loop.is_data and size >= column_loops.FIXED):
            return False
    for state, heads, choices in linked.grouped_plates:
        if _are_many(frame[state][0], heads, choices):
            return False
    for block in linked.group_blocks:
        if len(frame[block.state][0]) > small.CHOICES or not _is_light(block, frame):
            return False
    return True


def _groups(linked: Linked, frame: Frame) -> tuple[Group, ...]:
    """The groups of the form of a body that costs least, for what is in its frame."""
    groups: list[Group] = []
    first = total = sites = 0
    members = [statement.member for statement in linked.program.grouping.statements]
    for i, member in enumerate((*members, None)):
        count = None if member is None else _count(linked, frame, i, member)
        if member is not None and count is not None and count <= small.CHOICES:
            total, sites = total + count, sites + member.choices + len(member.loops)
            continue
        if sites > 1 and total <= small.CHOICES and _is_light(linked.group(first, i), frame):
            groups.append((first, i))
        first, total, sites = i + 1, 0, 0
    return tuple(groups)


def _count(linked: Linked, frame: Frame, i: int, member: Member) -> int | None:
    """How many choices a statement makes; None where it is a loop that is better kept as columns."""
    if not member.loops:
        return member.choices
    for first, last in linked.groups:
        if first <= i < last:
            (block,) = linked.units[first, last, True]
            records = frame[block.state][0]
            if any(loop.is_data and _are_many(records, member.heads, n) for loop, n in member.loops):
                return None
            return sum(path[0] in member.heads for path in records)
    count = member.choices
    for loop, choices in member.loops:
        size = len(frame[loop.state][0].frames)
        if loop.is_data and size >= column_loops.FIXED:
            return None
        count += size * choices
    return count


def _are_many(records: Records, heads: frozenset[Any], choices: int) -> bool:
    """Whether a loop in a group, of so many choices in each iteration, is better kept as columns."""
    return sum(path[0] in heads for path in records) >= column_loops.FIXED * choices


def _is_light(block: GroupBlock, frame: Frame) -> bool:
    """Whether what a group reads and defines is small."""
    total = 0
    for slot in block.weighed:
        value = frame[slot]
        kind = type(value)
        if kind is list and SCALARS.issuperset(map(type, value)):
            total += len(value)
        elif kind is np.ndarray:
            total += value.size
        elif kind not in SCALARS:
            total += len(value) if kind is Written else entries(value)
    return total <= ENTRIES
