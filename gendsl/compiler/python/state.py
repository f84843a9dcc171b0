"""The state that the Python text of a move works on: the choices of the current trace, and what is proposed.

What the operations mean is said here; machine code has the same ones (`native_moves`), on arrays. A move runs

    begin, draw y ~ q, drawn, f with tangents, exchange, score p, turn, score q back, turn back, exchange,
    rows, columns, the determinant, decide, commit

where a checked move goes back before it decides:

    go there, f with tangents, rows, columns, the determinant, return here, is far, (go there, f with
    tangents, rows, columns, coordinates, note rounding, return here), came back

and one that is picked with a probability that depends on the state is taken back where that is so decided:

    begin, pick, the step of the move, (score its probability, decide, take back)

A move that updates choices one by one lists them, and tries other values of each, of which it keeps one:

    begin, list site for each, sites, (try again, write, exchange, (score p, release, exchange), stay)

of an array a copy whose entries are changed in place, and scored, until it is kept:

    try again, write, exchange, (try again, score p, release, stay), try again, write, keep arrays, exchange

Between these a choice has up to four stamps, each the number of the phase in which it was put there: it is in
the *current* trace, it was *visited*, *written*, or *read*. A stamp of an earlier phase says nothing, so that
nothing is ever cleared. The state and its columns share these stamps, so this is one module.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from typing import Any

from gendsl.compiler.hir.coordinates import DISCRETE, NUMBER, TRIANGLE, UNKNOWN, WEIGHTS
from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.hir.key_paths import EMPTY
from gendsl.compiler.hir.meetings import Meeting, upper_index
from gendsl.compiler.hir.templates import MODEL, Template
from gendsl.compiler.hir.types import Array, leaves
from gendsl.compiler.moves import TIE
from gendsl.compiler.python.whole_columns import Stamps, Values, joined

CLOSE, ROUNDING, CANCEL = 5e-9, 5e-13, 5e-7
"""How near to what it was a value must come back, relative to it and to what it was computed from, and how
near to zero the logarithms of the two determinants must cancel; else the reference interpreter decides, which
allows twice as much.
"""
NOTHING_CURRENT = NO_COORDINATE = NO_NODE = -1
Seen = tuple["Column", tuple[int, ...], int, int]
"""Choices that were looked at all at once: their first indices, and from where to where the last goes."""
Zero = tuple[str, "Column | None", tuple[int, ...]] | None
"""Why the density of a step is zero, and at which choice, if at one; None if it is not."""
NEVER_READ = 0, False, NO_COORDINATE
"""The phase in which a choice was read, whether it was copied then, and the first of its coordinates."""
MOST_NEW_NODES = 1000
"""How many calls of programs that call themselves get a number before those that are gone are forgotten."""


class Column:
    """The choices of one template."""

    def __init__(self, state: MoveState, template: Template, coordinates: int) -> None:
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
        last = _size(value) - 1 if self.coordinates == WEIGHTS else NO_COORDINATE

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
        self.state.writes.append(_Write(self, index, contiguous(given) if self.array else value, None))

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
        self.state.writes.append(_Write(self, index, value, source))

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


class _Write:
    """What was written to a choice, with the derivatives of its floats, how far rounding may have taken it,
    and the choice it is a copy of.
    """

    __slots__ = ("column", "index", "rounding", "slopes", "source", "value")

    def __init__(self, column: Column, index: Any, value: Any, source: tuple[Column, Any] | None) -> None:
        self.column, self.index, self.value, self.source = column, index, value, source
        self.rounding = 0.0
        self.slopes: list[Any] = []


class MoveState:
    """The choices of a trace, and what a move proposes.

    The columns are attributes, by the names of the templates, none of which is in `hir.STATE`.

    Attributes:
        same: for each step that was made, by its number, what is computed for it once.
        zero: why the density of the last step was zero.
    """

    def __init__(
        self,
        templates: list[Template],
        coordinates: dict[int, int],
        rng: Any,
        meetings: Iterable[Meeting] = (),
    ) -> None:
        self.rng = rng
        self.columns = [Column(self, one, coordinates.get(one.number, UNKNOWN)) for one in templates]
        for column in self.columns:
            setattr(self, column.template.name, column)
        for meeting in meetings:
            lower, upper = self.columns[meeting.lower.number], self.columns[meeting.upper.number]
            lower.meetings.append(meeting)
            lower.may_meet = upper.may_meet = True
        self.now = 1
        self.current = [1, NOTHING_CURRENT]
        self.before = self.current
        self.proposed = [1, 1]
        self.visits = [0, 0]
        self.counts = [0, 0]
        self.writes: list[_Write] = []
        self.reads: list[tuple[Column, Any]] = []
        self.elsewhere: tuple[list[_Write], list[tuple[Column, Any]]] = [], []
        self.asked = False
        self.followed: list[tuple[Column, Any, int]] = []
        self.nodes = 0
        self.nodes_kept = 0
        self.same: dict[int, tuple[Any, ...]] = {}
        self.lp = 0.0
        self.before_last = (0, 0.0)
        self.zero: Zero = None

    def see(self, seen: list[Seen]) -> None:
        """Note that choices were visited which were looked at all at once."""
        for column, first, start, stop in seen:
            column.visited.stamp_row(first, start, stop, self.now)
            if column.counted:
                self.visits[column.side] += stop - start

    def new_node(self) -> int:
        """The number of a call of a program that calls itself, at an address that had none."""
        self.nodes += 1
        return self.nodes - 1

    def forget_nodes(self) -> None:
        """Forget the numbers of calls that the current trace does not have, and what was at their addresses.

        No number is used again.
        """
        calls = [column for column in self.columns if column.is_node]
        live = {column.values[index] for column in calls for index in column.values if column.has(index)}
        paths = self._live_paths()
        for column in self.columns:
            axes = column.template.path_axes
            tables = (
                column.values, column.current, column.visited, column.written, column.read_at,
                column.covered,
            )  # fmt: skip
            for table in tables:
                for index in list(table):
                    if column.template.is_of_paths:
                        is_gone = column.values.get(index, NO_NODE) + 1 not in paths
                    else:
                        at = indices_of(index)
                        is_gone = (column.is_below and at[0] not in live) or (
                            column.is_node and not column.has(index)
                        )
                        is_gone = is_gone or any(at[axis] not in paths for axis in axes)
                    if is_gone:
                        del table[index]
        self.nodes_kept = self.nodes

    def _live_paths(self) -> set[int]:
        """The numbers of the tuples in addresses of the current trace, and of those that they begin with."""
        above = {
            node + 1: index[0]
            for column in self.columns
            if column.template.is_of_paths
            for index, node in column.values.items()
        }
        live = {EMPTY}
        for column in self.columns:
            axes = column.template.path_axes
            for index in filter(column.has, column.values) if axes else ():
                for axis in axes:
                    path = indices_of(index)[axis]
                    while path not in live:
                        live.add(path)
                        path = above[path]
        return live

    def begin(self) -> None:
        """Start a step."""
        if self.nodes > self.nodes_kept + MOST_NEW_NODES:
            self.forget_nodes()
        self.now += 1
        self.visits, self.counts[1] = [0, 0], 0
        self.proposed = [self.now, self.now]
        self.current[1] = NOTHING_CURRENT
        self.writes, self.reads, self.followed, self.zero = [], [], [], None
        self.asked = False

    def ask(self) -> None:
        """Note that a trace was asked for what its program returned, or whether it has a choice: that may
        tell of discrete choices that are not read.
        """
        self.asked = True

    def drawn(self) -> None:
        """End the drawing of the auxiliary choices: they are the current auxiliary trace."""
        for column in self.columns:
            if not column.is_model:
                column.current, column.visited = column.visited, column.current
        self.current[1], self.counts[1], self.visits[1] = self.now, self.visits[1], 0
        self.now += 1
        self.proposed = [self.now, self.now]

    def exchange(self) -> None:
        """Exchange what was written with what is there: once to propose it, once more to take it back."""
        for one in self.writes:
            values = one.column.values
            before = values.get(one.index)
            values[one.index], one.value = one.value, before

    def turn(self) -> None:
        """Make the proposed trace the current one."""
        self._swap_stamps()
        self.before = self.current
        self.current = [self.proposed[0], NOTHING_CURRENT]

    def turn_back(self) -> None:
        """Make the traces that were the current ones before `turn` the current ones again."""
        self._swap_stamps()
        self.current = self.before

    def _swap_stamps(self, *, auxiliary: bool = False) -> None:
        for column in self.columns:
            if column.is_model or auxiliary:
                column.current, column.visited = column.visited, column.current

    def go_there(self) -> None:
        """Make both proposed traces the current ones, and the current ones those proposed."""
        self.exchange()
        self._exchange_roles()
        self.now += 1
        self.writes, self.reads, self.followed, self.asked = [], [], [], False

    def return_here(self) -> None:
        """Undo that, and keep what was written on the way back."""
        self._exchange_roles()
        self.exchange()

    def _exchange_roles(self) -> None:
        self._swap_stamps(auxiliary=True)
        self.current, self.proposed = self.proposed, self.current
        self.counts, self.visits = self.visits, self.counts
        here = self.writes, self.reads
        (self.writes, self.reads), self.elsewhere = self.elsewhere, here

    def is_far(self) -> bool:
        """Whether a value comes back as another that is not close, without what rounding may do."""
        return not all(_is_close(one.column.values[one.index], one.value) for one in self.elsewhere[0])

    def came_back(self, log_det: float, log_det_back: float) -> None:
        """Fail unless the way back led to the current traces, with the inverse determinant."""
        back = self.elsewhere[0]
        for one in back:
            if not _is_close(one.column.values[one.index], one.value, one.rounding):
                raise TextFailure("a value that does not come back")
        if sum(not one.column.is_model for one in back) != self.counts[1]:
            raise TextFailure("an auxiliary choice that does not come back")
        for one in self.writes:
            column, index = one.column, one.index
            changed = column.is_model and column.has(index) and not _is_close(column.values[index], one.value)
            if changed and column.written[index] != self.now:
                raise TextFailure("a choice that does not come back")
        for column, index in self.reads:
            is_gone = column.is_model and column.visited[index] != self.proposed[0]
            if is_gone and column.written[index] != self.now:
                raise TextFailure("a choice that is gone and does not come back")
        if not abs(log_det + log_det_back) <= CANCEL:
            raise TextFailure("determinants that do not cancel")

    def impossible(self, column: Column, *indices: int) -> None:
        """Note the first choice whose density is zero."""
        self._note_zero("impossible", column, indices)

    def on_border(self, column: Column, *indices: int) -> None:
        """Note the first choice that lies on the border of its support."""
        self._note_zero("on_border", column, indices)

    def on_border_there(self, column: Column, *indices: int) -> None:
        """Note the first choice that is rounded to the border of its support."""
        self._note_zero("on_border_there", column, indices)

    def _note_zero(self, why: str, column: Column, indices: tuple[int, ...]) -> None:
        if self.zero is None:
            self.zero = why, column, indices

    def is_observed(self, column: Column, *indices: int) -> bool:
        """Whether a choice is an observation."""
        return index_of(indices) in column.observed

    def rows(self) -> list[int]:
        """For each coordinate that was read its row of the Jacobian, or -1.

        There are rows for the coordinates of the continuous choices that do not stay as they are: the
        auxiliary ones, and those of the model that were written or are gone. All that does not stay must have
        been read, or else nothing says which values to go back to; but for discrete choices where a trace was
        asked.
        """
        overwritten = new = 0
        columns = 0
        for one in self.writes:
            column, index = one.column, one.index
            if column.visited[index] != self.proposed[column.side]:
                raise TextFailure("a choice is written that the program does not make")
            if column.coordinates == UNKNOWN:
                raise TextFailure("a choice whose coordinates are not known")
            if column.is_model and column.counted:
                if column.current[index] == self.current[0]:
                    overwritten += 1
                else:
                    new += 1
            if one.source is None:
                columns += dimension(column, one.value)
        gone = self.counts[0] + new - self.visits[0]
        told = [0, 0, 0]

        def tell(column: Column, index: Any) -> bool:
            is_written = column.written[index] == self.now
            is_gone = column.counted and column.visited[index] != self.proposed[column.side]
            changed = not column.is_model or is_written or is_gone
            told[0 if not column.is_model else 1 if is_written else 2] += changed and column.counted
            return changed

        for column in self.columns if self.asked else ():
            if column.coordinates == DISCRETE and not column.is_node:
                for index in filter(column.has, list(column.values)):
                    if column.read_at.get(index, NEVER_READ)[0] != self.now and index not in column.observed:
                        tell(column, index)
        numbers, count = [NO_COORDINATE] * len(self.followed), 0
        for column, index in self.reads:
            changed = tell(column, index)
            _, copied, first = column.read_at[index]
            if column.coordinates == DISCRETE:
                continue
            if not changed:
                if copied:
                    raise TextFailure("a continuous choice that is copied, and stays")
                continue
            if column.coordinates == UNKNOWN:
                raise TextFailure("a choice whose coordinates are not known")
            if not copied:
                for entry in range(dimension(column, column.values[index])):
                    numbers[first + entry] = count
                    count += 1
        if told != [self.counts[1], overwritten, gone]:
            raise TextFailure("a choice that does not stay is neither read nor copied")
        if count != columns:
            raise TextFailure("the numbers of coordinates that go in and come out differ")
        return numbers

    def columns_written(self) -> list[list[tuple[int, float]]]:
        """The columns of the Jacobian: the derivatives of each coordinate that was written."""
        found = []
        for one in self.writes:
            if one.source is None:
                found += one.slopes[: dimension(one.column, one.value)]
        return found

    def coordinates(self) -> list[float]:
        """The values of the coordinates that were read."""
        return [float(_numbers(column.values[index])[entry]) for column, index, entry in self.followed]

    def is_kept(self, column: Column, *indices: int) -> bool:
        """Whether a choice of the current trace is in the proposed one, with the same value."""
        index = index_of(indices)
        return column.visited[index] == self.now and column.written[index] != self.now

    def save(self) -> Any:
        """What `go_back` needs to make the current trace the current one again."""
        kept = [
            (c, dict(c.values), Stamps(c.current))
            for c in self.columns
            if c.is_model or c.template.is_of_paths  # whose numbers may be forgotten before
        ]
        return self.current, self.counts[0], self.lp, kept

    def go_back(self, saved: Any) -> None:
        """Make the trace that was saved the current one again."""
        current, self.counts[0], self.lp, kept = saved
        self.current = [current[0], NOTHING_CURRENT]
        for column, values, stamps in kept:
            column.values, column.current = Values(column.values.kind, values), Stamps(stamps)

    def give_up(self, saved: Any) -> None:
        """Forget what was saved."""

    def never_picked(self) -> None:
        """Note that a move leads to where it is never picked."""
        self.zero = "never_picked", None, ()

    def nothing_selected(self) -> None:
        """Note that a move had nothing to do."""
        self.zero = "nothing_selected", None, ()

    def alone(self, column: Column, *indices: int) -> None:
        """Fail where the current trace has a choice of another template at an address."""
        for meeting in column.meetings:
            there = upper_index(meeting, indices)
            upper = self.columns[meeting.upper.number]
            is_choice = meeting.is_same and upper.is_choice
            if is_choice and there is not None and upper.has(index_of(tuple(there))):
                raise TextFailure("a choice of one template that is one of another before")

    def cover(self, column: Column, *indices: int) -> None:
        """Note an address that there is a choice below, so that there can be none there."""
        index = index_of(indices)
        if column.covered[index] == self.now:
            raise TextFailure("an address that is used twice")
        column.visited[index] = self.now

    def any_of(self, column: Column) -> bool:
        """Whether the current trace has a choice of a template."""
        return any(map(column.has, column.values))

    # --- choices that are updated given all others --------------------------------------------------

    def list_site(self, column: Column, *indices: int) -> None:
        """List a choice that is to be updated."""
        index = index_of(indices)
        if index in column.observed:
            raise TextFailure("an observation is selected")
        self.reads.append((column, index))

    def sites(self) -> int:
        """How many choices are listed."""
        return len(self.reads)

    def site_template(self, *given: Any) -> int:
        """Of which of some templates a choice that is listed is."""
        *columns, site = given
        return columns.index(self.reads[site][0])

    def site_indices(self, column: Column, site: int) -> Any:
        """The indices of a choice that is listed."""
        return self.reads[site][1]

    def try_again(self) -> int:
        """Forget what was proposed, and try something else from the current trace."""
        self.now += 1
        self.visits, self.writes = [0, 0], []
        self.proposed = [self.now, self.now]
        return 0

    def release(self, here: int) -> None:
        """Let go of the memory that was used since something was tried."""

    def same_choices(self) -> None:
        """Fail unless the program has made the choices of the current trace, and no others."""
        if self.visits[0] != self.counts[0]:
            raise TextFailure("other choices than before")

    def same_factors(self) -> None:
        """Fail unless it has made the factors of the current trace, and no others, where that stays."""
        if any(column.differs() for column in self.columns if column.template.weighs):
            raise TextFailure("other factors than before")

    def keep_arrays(self) -> None:
        """Give arrays that are written memory that is kept."""

    def stay(self, lp: float) -> None:
        """Keep what is tried, which has this log density, in the current trace."""
        self.lp = lp

    def keep_observed(self) -> None:
        """Fail where an observation is gone."""
        for column in self.columns:
            for index in column.observed:
                if column.has(index) and column.visited[index] != self.now:
                    raise TextFailure("an observation that is gone")

    def forget_drawn(self) -> None:
        """There are no auxiliary choices any more, until some are given back."""
        self.counts[1] = 0

    def give_back(self, auxiliary: Column, column: Column, *nodes: int) -> None:
        """Let the auxiliary choices of a template be those that would lead back: what was written or is gone.

        They are given to the program that proposes, at the addresses that they have in the model. Below calls
        of programs that call themselves these are the choices of one call: its number in the program that
        proposes, if that calls itself, and its number in the model.
        """
        first = nodes[len(nodes) - column.is_below :]
        for key in column._below(first):
            if column.visited[key] == self.now and column.written[key] != self.now:
                continue
            if key in column.observed:
                raise TextFailure("an observation that is gone")
            index = index_of((*nodes[: auxiliary.is_below], *indices_of(key)[len(first) :]))
            auxiliary.values[index] = column.values[key]
            auxiliary.written[index] = self.now
            self.counts[1] += 1

    def settle(self) -> None:
        """Fail unless all that was written is a choice of the program, and all that led back was used."""
        told = [0, 0]
        for one in self.writes:
            if one.column.visited[one.index] != self.now:
                raise TextFailure("a choice is written that the program does not make")
            told[one.column.has(one.index)] += one.column.counted
        new, overwritten = told
        gone = self.counts[0] + new - self.visits[0]
        if not overwritten + gone == self.counts[1] == self.visits[1]:
            raise TextFailure("what is proposed from here and back are not the same choices")

    def note_rounding(self, sizes: list[float]) -> None:
        """Note how far rounding may take each value x that was written: 5e-13 sum |dx / dz| |z|.

        Of a vector it is the largest of its coordinates.
        """
        place = 0
        for one in self.writes:
            if one.source is None:
                end = place + dimension(one.column, one.value)
                largest = max(sizes[place:end], default=0.0)
                one.rounding = ROUNDING * largest if largest < math.inf else 0.0
                place = end

    def log_density(self) -> float:
        """The log density of the current trace."""
        return self.lp

    def decide(self, ratio: float, scale: float, uniform: float) -> bool:
        """Whether a proposal is accepted, of its log acceptance ratio and the size of that's terms."""
        if not ratio < math.inf:
            raise TextFailure("a log acceptance ratio that is NaN or infinite")
        log_uniform = math.log(uniform) if uniform > 0.0 else -math.inf
        if abs(log_uniform - ratio) < TIE * (1.0 + scale):
            raise TextFailure("a tie")
        return ratio >= 0.0 or uniform < math.exp(ratio)

    def commit(self, lp: float) -> None:
        """Make what is proposed the current trace."""
        self.exchange()
        self.turn()
        self.before_last = self.counts[0], self.lp
        self.counts[0] = self.visits[0]
        self.lp = lp

    def take_back(self) -> None:
        """Make the trace that was the current one before the last `commit` the current one again."""
        self.turn_back()
        self.exchange()
        self.counts[0], self.lp = self.before_last


def indices_of(index: Any) -> tuple[Any, ...]:
    """Indices as a tuple."""
    return index if isinstance(index, tuple) else (index,)


def index_of(indices: tuple[Any, ...]) -> Any:
    """Indices as Python text writes them."""
    return indices[0] if len(indices) == 1 else indices


def places(start: int, axes: list[int]) -> list[tuple[int, int]]:
    """Where the entries of an array lie, in order: (place, number)."""
    rank = len(axes) // 2
    found = [start]
    for length, stride in zip(axes[:rank], axes[rank:], strict=True):
        found = [at + stride * i for at in found for i in range(length)]
    return [(at, number) for number, at in enumerate(found)]


def contiguous(given: Any) -> tuple[Any, ...]:
    """The leaves of an array whose entries lie one behind another."""
    items, start, *axes = given
    rank = len(axes) // 2
    lengths = axes[:rank]
    strides = [math.prod(lengths[axis + 1 :]) for axis in range(rank)]
    return [items[at] for at, _ in places(start, axes)], 0, *lengths, *strides


def _is_close(before: Any, after: Any, rounding: float = 0.0) -> bool:
    """Whether a value is as good as another; entries of arrays lie one behind another."""
    if isinstance(before, (list, tuple)):
        return len(before) == len(after) and all(
            _is_close(one, other, rounding) for one, other in zip(before, after, strict=True)
        )
    if isinstance(before, float):
        return bool(before == after or abs(after - before) <= CLOSE * abs(before) + rounding < math.inf)
    return bool(before == after)


def _numbers(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) else (value,)


def _size(value: Any) -> int:
    return len(value[0])


def dimension(column: Column, value: Any) -> int:
    """The number of coordinates of a value."""
    if column.coordinates == DISCRETE:
        return 0
    if column.coordinates == NUMBER:
        return 1
    if column.coordinates == TRIANGLE:
        rows = math.isqrt(_size(value))
        return rows * (rows + 1) // 2
    return _size(value) - (column.coordinates == WEIGHTS)


LEGEND = """\
# state.a is what there is at the addresses "a" or ("a", i, ...). What a program makes there is state.a[i]:
# it is drawn where that is set, and otherwise looked up in the trace that is scored. What a program finds in
# the trace that it is given is state.a.look(i). A transform has state.a.read_slopes(i), a number and that of
# its coordinate, and state.a.write_slopes(i, x, d_x), a number and its derivatives, as pairs of a coordinate
# and the derivative in it; y_by_x is the derivative of y in x. Entries of arrays that are read or written
# have their derivatives behind them. What read_pivot(i) reads goes, besides what is accounted for, only into
# one number of write_pivot(j, x): log_pivots has the log of their derivative. Numbers in comments are lines
# of the program. A call of a program that calls itself has a number, by its address: state.a.call(i) where
# it is made, state.a.node(i) elsewhere.

"""
NOTES = {
    name: inspect.getdoc(made).partition("\n")[0]  # type: ignore[union-attr]
    for name, made in vars(MoveState).items()
    if inspect.isfunction(made) and made.__doc__
}
"""What the operations of the state do, for comments in a text."""
