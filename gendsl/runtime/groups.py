"""Statements of a compiled body that are executed as a whole while they make few choices.

Which they are is a function of the program, its arguments and its choices alone, as for `small`. A frame
has the same slots in every form of its body, so it passes from one to the other at the cost of the statements
that change their form. Only traces have such forms, not what they call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gendsl.compiler.groups import Member
from gendsl.compiler.ir import LENGTH, RETVAL, SCORE
from gendsl.compiler.light import ENTRIES, entries
from gendsl.errors import Location
from gendsl.runtime import small
from gendsl.runtime.blocks import Touched
from gendsl.runtime.change import SCALARS
from gendsl.runtime.edits import RegenerateEdit, UpdateEdit
from gendsl.runtime.executions import Assess, Closed
from gendsl.runtime.inlined import REGENERATED_WITHIN, UPDATED_WITHIN, Makers
from gendsl.runtime.reads import Changes, Frame, Frames, Runner
from gendsl.runtime.records import REMEMBERED, Records
from gendsl.runtime.regions import Called, RegionBlock, Whole
from gendsl.runtime.written import Written

if TYPE_CHECKING:
    from gendsl.runtime.link import Linked

Group = tuple[int, int]
"""The first statement of a group, and the one after its last."""


class _Within(Whole):
    """Execution of a group as a whole: its addresses are no other block's, and none is above another."""

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


class UpdateWithin(_Within, makers=Makers(UPDATED_WITHIN)):
    """Execution as a whole within an update that is given its choices one by one."""

    def __init__(self, outer: UpdateEdit, old: Records) -> None:
        super().__init__(outer, old)
        self.values = outer.values


class RegenerateWithin(_Within, makers=Makers(REGENERATED_WITHIN)):
    """Execution as a whole within a regeneration."""

    def __init__(self, outer: RegenerateEdit, old: Records) -> None:
        super().__init__(outer, old)
        self.selection = outer.selection


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
    ) -> None:
        super().__init__(node, runner, defs, state, locate)
        self.heads = heads
        self.weighed = sorted({*defs, *(read.slot for read in runner.reads if read.mode is not LENGTH)})

    def whole(self, execution: Any, old: Records) -> Whole:
        if type(execution) is UpdateEdit and execution.values is not None:
            return UpdateWithin(execution, old)
        if type(execution) is RegenerateEdit:
            return RegenerateWithin(execution, old)
        return super().whole(execution, old)

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        if touched is None and not self.runner.is_dirty(new, changes):
            return 0
        return super().update(execution, old, new, changes, touched)


def fitted(called: Called) -> Called:
    """What was called, in the form of its body that costs least to edit."""
    linked: Linked = called.linked
    if not linked.may_group or _fits(linked, called.frame):
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
    for member in members if linked.may_group else ():
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
    for state, choices in linked.lone_loops:
        if len(frame[state][0].frames) * choices <= small.CHOICES:
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


def _count(linked: Linked, frame: Frame, i: int, member: Member) -> int:
    """How many choices a statement makes."""
    if not member.loops:
        return member.choices
    for first, last in linked.groups:
        if first <= i < last:
            (block,) = linked.units[first, last, True]
            return sum(path[0] in member.heads for path in frame[block.state][0])
    return member.choices + sum(len(frame[state][0].frames) * choices for state, choices in member.loops)


def _is_light(block: GroupBlock, frame: Frame) -> bool:
    """Whether what a group reads and defines is small."""
    total = 0
    for slot in block.weighed:
        value = frame[slot]
        kind = type(value)
        if kind not in SCALARS:
            total += len(value) if kind is Written else entries(value)
    return total <= ENTRIES
