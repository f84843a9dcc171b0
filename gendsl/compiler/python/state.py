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

A move that changes one choice scores what has to do with it before and after (`steps.changes`):

    only change, changed indices, score, exchange, score, keep choices

of an array a copy whose entries are changed in place, and scored, until it is kept:

    try again, write, exchange, (try again, score p, release, stay), try again, write, keep arrays, exchange

Between these a choice has up to four stamps, each the number of the phase in which it was put there: it is in
the *current* trace, it was *visited*, *written*, or *read*. A stamp of an earlier phase says nothing, so that
nothing is ever cleared. What is done with single choices is in `state_columns`; other operations of the state
are in `state_jacobian` and `state_updates`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from typing import Any

from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.hir.key_paths import EMPTY
from gendsl.compiler.hir.meetings import Meeting, upper_index
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.moves import TIE
from gendsl.compiler.python.choice_values import CANCEL, index_of, indices_of, is_close
from gendsl.compiler.python.state_changes import ChangeState
from gendsl.compiler.python.state_columns import NO_NODE, NOTHING_CURRENT, Column, Seen, Write
from gendsl.compiler.python.state_jacobian import JacobianState
from gendsl.compiler.python.state_updates import UpdateState
from gendsl.compiler.python.whole_columns import Stamps, Values

Zero = tuple[str, "Column | None", tuple[int, ...]] | None
"""Why the density of a step is zero, and at which choice, if at one; None if it is not."""
MOST_NEW_NODES = 1000
"""How many calls of programs that call themselves get a number before those that are gone are forgotten."""


class MoveState(JacobianState, UpdateState, ChangeState):
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
        super().__init__(templates, coordinates, meetings)
        self.rng = rng
        self.before = self.current
        self.elsewhere: tuple[list[Write], list[tuple[Column, Any]]] = [], []
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
        self.asked = self.keeps_choices = False

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
        here = self.current if self.keeps_choices else self.proposed
        self.current = [here[0], NOTHING_CURRENT]

    def turn_back(self) -> None:
        """Make the traces that were the current ones before `turn` the current ones again."""
        self._swap_stamps()
        self.current = self.before

    def _swap_stamps(self, *, auxiliary: bool = False) -> None:
        for column in self.columns:
            if not self.keeps_choices if column.is_model else auxiliary:
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
        if self.keeps_choices:
            self.current[0], self.proposed[0] = self.proposed[0], self.current[0]
        self.counts, self.visits = self.visits, self.counts
        here = self.writes, self.reads
        (self.writes, self.reads), self.elsewhere = self.elsewhere, here

    def is_far(self) -> bool:
        """Whether a value comes back as another that is not close, without what rounding may do."""
        return not all(is_close(one.column.values[one.index], one.value) for one in self.elsewhere[0])

    def came_back(self, log_det: float, log_det_back: float) -> None:
        """Fail unless the way back led to the current traces, with the inverse determinant."""
        back = self.elsewhere[0]
        for one in back:
            if not is_close(one.column.values[one.index], one.value, one.rounding):
                raise TextFailure("a value that does not come back")
        if sum(not one.column.is_model for one in back) != self.counts[1]:
            raise TextFailure("an auxiliary choice that does not come back")
        for one in self.writes:
            column, index = one.column, one.index
            changed = column.is_model and column.has(index) and not is_close(column.values[index], one.value)
            if changed and column.written[index] != self.now:
                raise TextFailure("a choice that does not come back")
        for column, index in self.reads:
            is_gone = column.is_model and not self.in_proposed(column, index)
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
    for name, made in inspect.getmembers(MoveState, inspect.isfunction)
    if made.__doc__
}
"""What the operations of the state do, for comments in a text."""
