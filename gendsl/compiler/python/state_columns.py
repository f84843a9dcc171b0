"""The choices of one template, in the state that Python text works on, and what columns share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gendsl.compiler.hir.coordinates import DISCRETE, NUMBER, TRIANGLE, UNKNOWN, WEIGHTS
from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.hir.meetings import Meeting, upper_index
from gendsl.compiler.hir.templates import MODEL, Template
from gendsl.compiler.hir.types import Array, leaves
from gendsl.compiler.python.choice_values import contiguous, index_of, indices_of, size_of
from gendsl.compiler.python.whole_columns import Stamps, Values, joined

NOTHING_CURRENT = NO_COORDINATE = NO_NODE = -1
Seen = tuple["Column", tuple[int, ...], int, int]
"""Choices that were looked at all at once: their first indices, and from where to where the last goes."""
NEVER_READ = 0, False, NO_COORDINATE
"""The phase in which a choice was read, whether it was copied then, and the first of its coordinates."""


class Column:
    """The choices of one template."""

    def __init__(self, state: Phases, template: Template, coordinates: int) -> None:
        self.state, self.template, self.coordinates = state, template, coordinates
        self.is_model = template.trace == MODEL
        self.side = 0 if self.is_model else 1
        self.leaves = leaves(template.type)
        self.array = isinstance(template.type, Array)
        self.is_node, self.is_below = template.has_nodes, template.is_below
        self.values = Values(self.leaves[0] if len(self.leaves) == 1 else "")
        self.observed: set[Any] = set()
        self.current, self.visited, self.written, self.covered = Stamps(), Stamps(), Stamps(), Stamps()
        self.read_at: dict[Any, tuple[int, bool, int]] = {}
        self.meetings: list[Meeting] = []
        self.is_choice, self.counted = template.calls is None, template.counted
        self.may_meet = False  # an address of another template

    # --- programs ---------------------------------------------------------------------------------

    def has(self, index: Any) -> bool:
        """Whether the current trace has a choice."""
        return self.current[index] == self.state.current[self.side]

    __contains__ = has

    def __getitem__(self, index: Any) -> Any:
        """The value of a choice that a program makes, which the current trace has or a move wrote."""
        state, visited = self.state, self.visited  # nothing is called, as this runs more often than all else
        now = state.now
        if self.current[index] != state.current[self.side] and self.written[index] != now:
            self._make(index)
        if visited[index] == now:
            raise TextFailure("a choice that is made twice")
        visited[index] = now
        if self.counted:
            state.visits[self.side] += 1
        if self.may_meet:
            self._meet(index)
        return self.values[index]

    def row(self, seen: list[Seen], start: int, stop: int, *first: int) -> Any:
        """The values of choices that a program makes, whose last indices are one behind another.

        Args:
            seen: what else was looked at so; this is added. It counts as visited once `see` is told so.
        """
        state, now = self.state, self.state.now
        is_known = start >= 0 and self.values.kind and not self.meetings
        if not is_known or any(one[:2] == (self, first) for one in seen):
            raise TextFailure("choices that are not looked at all at once")
        if not self.current.all_have(first, start, stop, state.current[self.side]):
            for place in range(start, stop):
                index = joined(first, place)
                if not self.has(index) and self.written[index] != now:
                    self._make(index)
        if self.visited.any_has(first, start, stop, now) or self.covered:
            raise TextFailure("a choice that is made twice")
        seen.append((self, first, start, stop))
        return self.values.row(first, start, stop)

    def _make(self, index: Any) -> None:
        """Make a factor that the current trace does not have; any other choice must be given."""
        if not self.template.weighs:
            raise TextFailure("a choice that is not given")
        if any(i < 0 for i in indices_of(index)):
            raise TextFailure("a negative index in an address")
        self.values[index] = True

    def __setitem__(self, index: Any, value: Any) -> None:
        """Put in a choice that was drawn."""
        now = self.state.now
        if self.has(index) or self.written[index] == now:
            raise TextFailure("an address that is used twice")
        self.written[index] = self.visited[index] = now
        self._count()
        self._meet(index)
        self.values[index] = value

    def _meet(self, index: Any) -> None:
        """Fail where a choice that is made now has the address of another one, or is above or below it."""
        if not self.may_meet:
            return
        now = self.state.now
        if self.covered[index] == now:
            raise TextFailure("an address that is used twice")
        for meeting in self.meetings:
            there = upper_index(meeting, indices_of(index))
            if there is not None:
                upper, place = self.state.columns[meeting.upper.number], index_of(tuple(there))
                if upper.visited[place] == now:
                    raise TextFailure("an address that is used twice")
                upper.covered[place] = now

    def differs(self) -> bool:
        """Whether what was visited is not what the current trace has."""
        now = self.state.now
        return any(self.has(index) != (self.visited[index] == now) for index in self.values)

    def _count(self) -> None:
        if self.counted:
            self.state.visits[self.side] += 1

    # --- calls of programs that call themselves --------------------------------------------------------

    def node(self, index: Any) -> int:
        """The number of the call at an address, from now on the same one."""
        if index not in self.values:
            if any(i < 0 for i in indices_of(index)):
                raise TextFailure("a negative index in an address")
            self.values[index] = self.state.new_node()
        return self.values[index]  # type: ignore[no-any-return]

    def call(self, index: Any) -> int:
        """The same, where a program makes the call."""
        now = self.state.now
        if self.visited[index] == now:
            raise TextFailure("an address that is used twice")
        self.visited[index] = now
        return self.node(index)

    def extent(self, axis: int) -> int:
        """A number above all indices along an axis."""
        return 1 + max((indices_of(index)[axis] for index in self.values), default=-1)

    def look(self, index: Any) -> Any:
        """The value of a choice of the current trace."""
        if not self.has(index):
            raise TextFailure("a choice that is not given")
        return self.values[index]

    def look_slopes(self, index: Any) -> Any:
        """It, with derivatives that are not known."""
        return self._with_slopes(self.look(index), lambda entry: [(NO_COORDINATE, math.nan)])

    # --- transforms -------------------------------------------------------------------------------

    def read(self, index: Any) -> Any:
        """The value of a choice of the current trace, noting that it was read."""
        value = self.look(index)
        self._note_read(index, copied=False)
        return value

    def _note_read(self, index: Any, *, copied: bool) -> None:
        phase, before, first = self.read_at.get(index, NEVER_READ)
        is_new = phase != self.state.now
        if copied and not is_new and before and self.coordinates != DISCRETE:
            raise TextFailure("a continuous choice that is copied twice")
        if is_new:
            first = NO_COORDINATE
            if index not in self.observed:
                self.state.reads.append((self, index))
                if self.coordinates not in (DISCRETE, UNKNOWN):
                    first = len(self.state.followed)
                    count = dimension(self, self.values[index])
                    self.state.followed += [(self, index, entry) for entry in range(count)]
        self.read_at[index] = self.state.now, copied or (before and not is_new), first

    def read_pivot(self, index: Any) -> Any:
        """The value of a choice that has no row in what is left of the Jacobian, as if it were copied."""
        value = self.look(index)
        self._note_read(index, copied=True)
        return value

    def read_slopes(self, index: Any) -> Any:
        """The value of a choice, noting that it was read: a number with its coordinate, or an array with the
        derivatives of its entries in theirs.
        """
        value = self.read(index)
        _, _, first = self.read_at[index]
        if self.leaves == ("f",) and not self.array:
            return value, first
        last = size_of(value) - 1 if self.coordinates == WEIGHTS else NO_COORDINATE

        def slopes(entry: int) -> list[tuple[int, float]]:
            if first == NO_COORDINATE:
                return []
            if entry == last:
                return [(first + other, -1.0) for other in range(last)]
            return [(first + entry, 1.0)]

        return self._with_slopes(value, slopes)

    def _with_slopes(self, value: Any, slope: Any) -> Any:
        """The leaves of a value, each float with its derivatives behind it."""
        if self.array:
            items, start, *axes = value
            if self.template.type.kind != "f":  # type: ignore[attr-defined]
                return value
            return ([(x, slope(i)) for i, x in enumerate(items)], start, *axes)
        if self.leaves == ("f",):
            return value, slope(0)
        if "f" in self.leaves:
            raise TextFailure("a choice with several parts")
        return value

    def redraw(self, index: Any, *given: Any) -> None:
        """Propose a value that was drawn for a choice."""
        now = self.state.now
        if self.written[index] == now or self.visited[index] == now:
            raise TextFailure("an address that is used twice")
        if index in self.observed:
            raise TextFailure("an observation that is drawn anew")
        value: Any = given[0] if len(given) == 1 else given
        self.written[index] = self.visited[index] = now
        self._count()
        self._meet(index)
        self.state.writes.append(Write(self, index, contiguous(given) if self.array else value, None))

    def write(self, index: Any, *given: Any) -> None:
        """Write a choice of an output trace."""
        value: Any = given[0] if len(given) == 1 else given
        if self.array:
            value = contiguous(given)
        for x in value[0] if self.array else given:
            if x != x:
                raise TextFailure("NaN is written")
        self._write(index, value, None)

    def _write(self, index: Any, value: Any, source: tuple[Column, Any] | None) -> None:
        if self.written[index] == self.state.now:
            raise TextFailure("an address that is written twice")
        if index in self.observed:
            raise TextFailure("an observation that is written")
        if index < 0 if type(index) is int else any(i < 0 for i in indices_of(index)):
            raise TextFailure("a negative index in an address")
        self.written[index] = self.state.now
        self.state.writes.append(Write(self, index, value, source))

    def write_pivot(self, index: Any, value: Any) -> None:
        """Write a choice that has no column in what is left of the Jacobian, as if it were copied."""
        self.write(index, value)
        self.state.writes[-1].source = self, index

    def write_slopes(self, index: Any, *given: Any) -> None:
        """Write a choice of an output trace, and the derivatives of each float, which are behind it."""
        slopes: list[Any] = []
        if self.array and self.template.type.kind == "f":  # type: ignore[attr-defined]
            items, *where = contiguous(given)
            slopes = [slope for _, slope in items]
            self.write(index, [x for x, _ in items], *where)
        elif self.leaves == ("f",):
            slopes = [given[1]]
            self.write(index, given[0])
        elif "f" in self.leaves:
            raise TextFailure("a choice with several parts")
        else:
            self.write(index, *given)
        self.state.writes[-1].slopes = slopes

    def _below(self, at: Any) -> list[Any]:
        """The places of the current trace whose first indices are these."""
        first = indices_of(at)
        if len(first) == self.template.rank:
            key = index_of(first)
            return [key] if key in self.values and self.has(key) else []
        return [key for key in self.values if indices_of(key)[: len(first)] == first and self.has(key)]

    def count_below(self, at: Any) -> int:
        """How many choices of the current trace have these first indices."""
        return len(self._below(at))

    def copy(self, index: Any, source: Column, at: Any) -> int:
        """Copy what is there, or what is there with more indices."""
        if self.coordinates != source.coordinates:
            raise TextFailure("a copy between choices with other coordinates")
        found = source._below(at)
        for key in found:
            more = (*indices_of(index), *indices_of(key)[len(indices_of(at)) :])
            source._note_read(key, copied=True)
            there = more[0] if self.template.rank == 1 else more
            self._write(there, source.values[key], (source, key))
        return len(found)


def dimension(column: Column, value: Any) -> int:
    """The number of coordinates of a value."""
    if column.coordinates == DISCRETE:
        return 0
    if column.coordinates == NUMBER:
        return 1
    if column.coordinates == TRIANGLE:
        rows = math.isqrt(size_of(value))
        return rows * (rows + 1) // 2
    return size_of(value) - (column.coordinates == WEIGHTS)


class Write:
    """What was written to a choice, with the derivatives of its floats, how far rounding may have taken it,
    and the choice it is a copy of.
    """

    __slots__ = ("column", "index", "rounding", "slopes", "source", "value")

    def __init__(self, column: Column, index: Any, value: Any, source: tuple[Column, Any] | None) -> None:
        self.column, self.index, self.value, self.source = column, index, value, source
        self.rounding = 0.0
        self.slopes: list[Any] = []


class Phases:
    """What all choices of a state share: the phase that it is in, and what is looked at and written there.

    The columns are attributes, by the names of the templates, none of which is in `hir.STATE`.

    Attributes:
        keeps_choices: whether the proposed trace is known to have the choices of the current one: then it has
            no stamps of its own.
    """

    def __init__(
        self, templates: list[Template], coordinates: dict[int, int], meetings: Iterable[Meeting] = ()
    ) -> None:
        self.columns = [Column(self, one, coordinates.get(one.number, UNKNOWN)) for one in templates]
        for column in self.columns:
            setattr(self, column.template.name, column)
        for meeting in meetings:
            lower, upper = self.columns[meeting.lower.number], self.columns[meeting.upper.number]
            lower.meetings.append(meeting)
            lower.may_meet = upper.may_meet = True
        self.now = 1
        self.current = [1, NOTHING_CURRENT]
        self.proposed = [1, 1]
        self.visits = [0, 0]
        self.counts = [0, 0]
        self.writes: list[Write] = []
        self.reads: list[tuple[Column, Any]] = []
        self.followed: list[tuple[Column, Any, int]] = []
        self.asked = self.keeps_choices = False
        self.nodes = 0

    def in_proposed(self, column: Column, index: Any) -> bool:
        """Whether a choice is in the proposed trace."""
        if self.keeps_choices and column.is_model:
            return column.has(index)
        return column.visited[index] == self.proposed[column.side]

    def new_node(self) -> int:
        """The number of a call of a program that calls itself, at an address that had none."""
        self.nodes += 1
        return self.nodes - 1
