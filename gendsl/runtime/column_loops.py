"""Loops whose iterations are kept as columns, and run and scored with array operations.

What happens to one iteration happens as in any loop, on its frame, which is made from the columns. What
concerns many (all of them read what has changed, or all that look up one entry of a container) is scored
at once. Where array code can't vouch for its result, and where there are few iterations, the loop keeps
frames as any other.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.choices import MISSING, Constraints
from gendsl.distributions.columns import VECTORS
from gendsl.runtime.blocks import Sequence, Touched
from gendsl.runtime.change import ALL, LENGTH
from gendsl.runtime.column_carried import hand_on, handed_on, needs_of
from gendsl.runtime.column_choices import LookedThrough
from gendsl.runtime.column_edits import edit_many
from gendsl.runtime.column_frames import ColumnFrames, gathered, outer_of
from gendsl.runtime.column_scores import AffectedBy, rescored, rescored_at_key
from gendsl.runtime.column_steps import (
    ARITHMETIC,
    OUT_OF_ORDER,
    Lookup,
    Step,
    as_typed,
    column_total,
    drawn_column,
)
from gendsl.runtime.column_updates import ColumnUpdate
from gendsl.runtime.executions import Assess, Generate, Simulate
from gendsl.runtime.fused import fused_frame
from gendsl.runtime.loop_edits import edit_few
from gendsl.runtime.loop_parts import Iterations, Slot, Source
from gendsl.runtime.loop_updates import LoopUpdate
from gendsl.runtime.lowering.ir import Part, Stored
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.lowering.vectors import taken
from gendsl.runtime.paths import ColumnPaths, PathSet
from gendsl.runtime.reads import Changes, Frames
from gendsl.runtime.reverse import ReverseIndex, SameIndex
from gendsl.runtime.row_columns import AnyColumn, any_column
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import Total
from gendsl.runtime.totals import value as total_value

LEAST = 48
"""Iterations from which on a loop is kept as columns where choices may decide how many there are: to add some
and to take some away costs less in frames."""
FIXED = 8
"""The same of a loop over data: no choice does."""
MANY = 16
"""How many visited iterations are too many to go through one by one."""
_FEW = 8
"""Iterations that are as fast one by one."""


class ColumnLoopBlock(LookedThrough):
    """A loop that can keep its iterations as columns."""

    def __init__(
        self,
        node: Any,
        sources: list[Source],
        body: Sequence,
        size: int,
        carried: list[tuple[str, Slot | None, int, int]],
        leaves: list[int],
        outs: list[tuple[int, int, Slot | None]],
        stored: list[Stored],
        state: int,
        strict: bool,
        addresses: list[list[Part] | None],
        steps: list[Step],
        lookups: list[Lookup],
        unlooked: set[Slot],
        least: int,
    ) -> None:
        super().__init__(node, sources, body, size, carried, outs, stored, state, False, strict, addresses)
        self.steps = steps
        self.lookups = lookups
        self.least = least
        self.sites = [step for step in steps if step.site is not None]
        self.blocks: list[tuple[Any, bool]] = [(block, isinstance(block, SiteBlock)) for block in body.blocks]
        self.choices = [(step.site.value, step.site.state) for step in self.sites if step.site is not None]
        self.handed, self.kept = handed_on(carried, leaves, [value for value, _ in self.choices])
        self.frame_of = fused_frame(self)
        self.column_of = {slot: i for i, slot in enumerate([*(v for v, _ in self.choices), *self.kept])}
        depth = self.depth
        reads: list[set[int]] = [set() for _ in range(depth)]
        firsts = {carried.first for carried in self.handed if carried.first is not None}
        for at, slot in (*((read.depth, read.slot) for read in body.uses), *firsts):
            if at < depth:
                reads[at].add(slot)
        self.reads = [sorted(slots) for slots in reads]
        self.value_needs = needs_of(steps, lookups, self.handed, depth)
        needed = set().union(*(step.needs for step in steps), *(lookup.needs for lookup in lookups))
        self.needed_targets = [
            (source.target, i) for i, source in enumerate(sources) if (depth, source.target) in needed
        ]
        self.needed_handed = [carried for carried in self.handed if (depth, carried.into) in needed]
        self.followed = firsts.union(*(self.value_needs[slot] for slot in self.kept))
        self.unlooked = unlooked
        self.constants = [
            (step, [(i, part[0]) for i, part in enumerate(step.site.parts or ()) if part[1] is None])
            for step in self.sites
            if step.site is not None
        ]
        self.places = self.found_places()
        self.source_slots = {(read.depth, read.slot) for source in sources for read in source.runner.reads}
        self.indices = {step.index for step in self.sites}
        self.leaves_nothing = not stored and not outs
        self.keyed = any(written.may_move for written in stored)
        self.affected = AffectedBy(self)
        self.address_slots = {
            (read.depth, read.slot)
            for step in self.sites
            if step.site is not None
            for read in step.site.address_reads
            if read.depth < depth
        }

    # --- running ----------------------------------------------------------------------------------

    def run_over(self, execution: Any, frames: Frames, values: list[Any]) -> str | None:
        size = self.length(values)
        if size is not None and size >= self.least and type(execution) in _RUNS:
            store = self._run_columns(execution, frames, values, size)
            if store is not None:
                execution.partial = True
                self._finish(frames, Iterations(store, store.total(), values, None, {}, {}))
                return None
        status = super().run_over(execution, frames, values)
        if size is not None and size >= self.least:
            iterations: Iterations = frames[-1][self.state][0]
            store = gathered(self, frames, values, list(iterations.frames))
            if store is not None:
                self._finish(frames, Iterations(store, store.total(), values, None, {}, {}))
        return status

    def _run_columns(
        self, execution: Any, frames: Frames, values: list[Any], size: int
    ) -> ColumnFrames | None:
        """Run all iterations at once; None, and nothing has happened, if they have to run one by one."""
        rng: Any = getattr(execution, "rng", None)
        state = None if rng is None else rng.bit_generator.state
        kind = type(execution)
        columns: list[AnyColumn] = []
        totals: list[Total] = []
        used: list[tuple[Constraints, ColumnPaths]] = []
        weight = 0.0
        arrays: dict[int, tuple[Any, Any]] = {}
        try:
            paths = self.paths(execution.prefix, frames, values, size)
            seen = execution.seen
            if seen is not None and not all(path.disjoint(seen) for path in paths):
                return None
            frame = self.vector_frame(values, size, arrays)
            scope = (*frames, frame)
            known: list[Any] = [
                MISSING if kind is Simulate else self._given(execution, kind, path, used, step)
                for step, path in zip(self.sites, paths, strict=True)
            ]
            if sum(one is MISSING for one in known) > 1:
                if execution.proposes:
                    raise NotColumnsError  # chains draw in the order of the program, however it runs
                OUT_OF_ORDER.count += 1
            hand_on(self.needed_handed, scope, [*known, *[MISSING for _ in self.kept]])
            for step in self.steps:
                if step.site is None:
                    self.assign(step, scope)
                    continue
                parameters = self.parameters(step, scope)
                given = known[step.number]
                drawn = given is MISSING
                if drawn:
                    given = drawn_column(step.family, rng, size, parameters, in_order=execution.proposes)
                total = column_total(step.family, given, parameters)
                if drawn and total[2]:
                    raise NotColumnsError
                if total[2] and kind is Assess and execution.stop_at_zero:
                    raise NotColumnsError
                if not drawn:
                    weight += total_value(total)
                frame[step.slot] = given
                columns.append(any_column(given))
                totals.append(total)
        except Exception:  # the iterations, one by one, meet it where it belongs
            if rng is not None and state is not None:
                rng.bit_generator.state = state
            return None
        if seen is not None:
            if type(seen) is not PathSet:
                seen = execution.seen = PathSet(seen, ())
            for path in paths:
                for run in path.runs:
                    seen.add_column(run)
        for constraints, path in used:
            constraints.use_column(path.before, path.indices)
        if kind is Generate:
            execution.weight += weight
            execution.observed_columns += [path for c, path in used if c is execution.observations]
        return ColumnFrames(
            self, outer_of(self.reads, frames), values, size, tuple(columns), tuple(totals), arrays
        )

    def _given(
        self,
        execution: Any,
        kind: Any,
        path: Any,
        used: list[tuple[Constraints, ColumnPaths]],
        step: Step,
    ) -> Any:
        """The values given for a choice of all iterations, or MISSING.

        Raises:
            NotColumnsError: they are given one by one, or not all.
        """
        if kind is Assess and type(execution.given) is not Constraints:
            raise NotColumnsError
        every = (execution.given,) if kind is Assess else (execution.observations, execution.init)
        for constraints in every:
            given = [constraints.column(run.before, run.indices, run.after) for run in path.runs]
            if any(some is not MISSING for some in given):
                used += [(constraints, run) for run in path.runs]
                made = [as_typed(some, step) for some in given]
                return made[0] if len(made) == 1 else np.concatenate(made)
        if kind is Assess:
            raise NotColumnsError
        return MISSING

    # --- array code -------------------------------------------------------------------------------

    def vector_frame(
        self, values: list[Any], size: int, arrays: dict[int, tuple[Any, Any]], many: np.ndarray | None = None
    ) -> dict[int, Any]:
        """The loop variables as columns, of some iterations or all; `arrays` keeps those that are made."""
        frame: dict[int, Any] = {}
        for target, i in self.needed_targets:
            value = values[i]
            if self.sources[i].counted:
                if type(value) is not int:
                    raise NotColumnsError
                frame[target] = range(value, value + size)
            elif type(value) is range:
                frame[target] = value[:size]
            else:
                known = arrays.get(i)
                if known is None or known[0] is not value:
                    known = arrays[i] = value, self.sources[i].column(value)
                column = known[1]
                frame[target] = column if len(column) == size else column[:size]
        return frame if many is None else {slot: taken(column, many) for slot, column in frame.items()}

    def scope_of(self, store: ColumnFrames, many: np.ndarray) -> tuple[Any, ...]:
        """What the array code of some iterations runs on."""
        frame = self.vector_frame(store.values, store.size, store.arrays, many)
        for step in self.sites:
            frame[step.slot] = store.columns[step.number].take(many)
        scope = (*store.outer, frame)
        hand_on(self.needed_handed, scope, store.columns, many)
        for step in self.steps:
            if step.site is None:
                self.assign(step, scope)
        return scope

    @staticmethod
    def assign(step: Step, scope: tuple[Any, ...]) -> None:
        """Compute an assigned variable."""
        with np.errstate(**ARITHMETIC):  # type: ignore[arg-type]
            scope[-1][step.slot] = step.runner.call(*scope)

    @staticmethod
    def parameters(step: Step, scope: tuple[Any, ...]) -> Any:
        """The parameters of a choice, as columns or numbers.

        Raises:
            NotColumnsError: they are something else, or the family is another than it was.
        """
        if step.computes:
            with np.errstate(**ARITHMETIC):  # type: ignore[arg-type]
                made = step.runner.call(*scope)
        else:
            made = step.runner.call(*scope)
        if made[0] is not step.family:
            raise NotColumnsError
        parameters = made[1:]
        if range not in map(type, parameters) or step.family in VECTORS:
            return parameters
        return tuple(np.arange(p.start, p.stop, p.step) if type(p) is range else p for p in parameters)

    def score(self, step: Step, scope: tuple[Any, ...], column: np.ndarray) -> Total:
        """The total of the scores of a choice."""
        return column_total(step.family, column, self.parameters(step, scope))

    # --- updating ---------------------------------------------------------------------------------

    def readers_of(self, iterations: Iterations, frames: Frames, slot: Slot, *offset: int) -> Any:
        index = iterations.readers.get(slot)
        store = iterations.frames
        if index is None and type(store) is ColumnFrames:
            with suppress(Exception):
                index = iterations.readers[slot] = self._readers(store, slot)
        return super().readers_of(iterations, frames, slot, *offset) if index is None else index

    def _readers(self, store: ColumnFrames, slot: Slot) -> Any:
        if slot in self.unlooked:
            raise NotColumnsError
        lookups = [lookup for lookup in self.lookups if lookup.container == slot]
        scope = self.store_scope(store)
        if getattr(scope[slot[0]][slot[1]], "indices", 1) > 1:
            raise NotColumnsError  # a row is the entries in it, as the generic index knows
        found = []
        for lookup in lookups:
            with np.errstate(**ARITHMETIC):  # type: ignore[arg-type]
                found.append(lookup.runner.call(*scope))
        first = found[0]
        if type(first) is range and first.start >= 0 and all(type(f) is range and f == first for f in found):
            return SameIndex(first.start, first.step)
        keys = [np.asarray(np.arange(f.start, f.stop, f.step) if type(f) is range else f) for f in found]
        if any(len(column) and column.min() < 0 for column in keys):
            raise NotColumnsError  # from the end: the generic index knows which keys those are
        return ReverseIndex.of_columns(keys)

    def store_scope(self, store: ColumnFrames) -> tuple[Any, ...]:
        """What the array code of all iterations runs on, as they are."""
        frame = self.vector_frame(store.values, store.size, store.arrays)
        for step in self.sites:
            frame[step.slot] = store.columns[step.number].array()
        scope = (*store.outer, frame)
        hand_on(self.needed_handed, scope, store.columns)
        for step in self.steps:
            if step.site is None:
                self.assign(step, scope)
        return scope

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        frame = new[-1]
        before: Iterations = frame[self.state][0]
        store: Any = before.frames
        if type(store) is not ColumnFrames:
            return super().update(execution, old, new, changes, touched)
        if touched is None and self.depth == 1:
            affected = self.affected.throughout(frozenset(changes[0]))
            if affected is not None:
                found = rescored(self, before, new, before.values, affected)
                if found is not None:
                    return self._rescored(execution, frame, *found)
        values, moved = before.values, self.unmoved
        if any(changes) and any(
            (depth, slot) in self.source_slots for depth, slots in enumerate(changes) for slot in slots
        ):
            values, moved = self._sources(before, new, changes)
        changed: set[Slot] = set()
        every = False
        visit: set[int] = set()
        groups: list[tuple[Slot, Any, np.ndarray]] = []
        for source, change in zip(self.sources, moved) if moved is not self.unmoved else ():  # noqa: B905
            if change is ALL:
                if source.target in self.indices or (self.depth, source.target) in self.followed:
                    return super().update(execution, old, new, changes, touched)
                every = True
                changed.add((self.depth, source.target))
            elif change is not None:
                visit.update(key for key in change if key is not LENGTH)
        for depth, slots in enumerate(changes):
            for slot, change in slots.items():
                at = depth, slot
                use = self.outer.get(at)
                if at in self.followed or (use is not None and at in self.address_slots):
                    # there are other choices than before, or it is followed through all iterations
                    return super().update(execution, old, new, changes, touched)
                if use is None:
                    continue
                changed.add(at)
                if change is ALL or use.whole or (use.length and LENGTH in change):
                    every = True
                    continue
                index = self.readers_of(before, old, at)
                for key in (*change, ALL):
                    members = index.get(key)
                    if len(members) and members[-1] >= store.size:
                        members = members[members < store.size]
                    if len(members) <= _FEW:
                        visit.update(members.tolist())
                    else:
                        groups.append((at, key, members))
        paths: dict[int, list[Any]] = {}
        if touched is not None:
            offset = len(execution.prefix)
            heads = self.heads
            for path in touched:
                if heads is not None and len(path) > offset:
                    head = path[offset]
                    if head not in heads and head is not ...:
                        continue
                place = None if offset else self.place(before, path)
                reached = self._visited(before, path, offset) if place is None else {place[1]}
                if reached is None:  # it may concern every iteration by itself
                    return super().update(execution, old, new, changes, touched)
                for t in reached:
                    visit.add(t)
                    paths.setdefault(t, []).append(path)
        limit = self.length(values)
        assert limit is not None
        if not every and not groups and not visit and limit == store.size and not self._base_changed(changes):
            if values is not before.values:
                kept = store.with_outer(store.outer, values)
                frame[self.state] = (
                    Iterations(kept, before.total, values, None, before.readers, before.positions),
                    *frame[self.state][1:],
                )
            return 0
        if self.unlooked and before.readers:
            before = self._without_stale(before, changes, every)
        if (every or groups) and not visit and limit == store.size and self.leaves_nothing:
            affected = self.affected[frozenset(changed)]
            if every:
                found = rescored(self, before, new, values, affected)
            else:
                found = rescored_at_key(self, before, new, values, affected, groups)
            if found is not None:
                return self._rescored(execution, frame, *found)
        steady = not (self.outs or any(moved)) and limit == store.size
        if steady and len(visit) > MANY and not (any(changes) and self._base_changed(changes)):
            members = [np.arange(store.size)] if every else [members for _, _, members in groups]
            done = edit_many(self, execution, before, new, changes, visit, members, paths, changed)
            if done is not None:
                return done
        few = not (every or groups or self.outs or self.keyed or self.handed or any(moved))
        few = few and limit == store.size
        if few and not (any(changes) and self._base_changed(changes)):
            done = edit_few(self, execution, before, values, old, new, changes, visit, paths, limit)
            if done is not None:
                return done
        run = ColumnUpdate(self, execution, before, values, old, new, changes, touched, paths, moved)
        after = run.go(visit, every, groups, changed, limit)
        return self._leave(frame, before, after, old, new, changes, run.keys)

    def _rescored(self, execution: Any, frame: Any, after: Iterations, change: float) -> int:
        """Put what has another score, and no other choices, into a frame."""
        execution.weight += change
        frame[self.state] = after, None, total_value(after.total)
        return 0

    def _without_stale(self, before: Iterations, changes: Changes, every: bool) -> Iterations:
        """Without the indexes of containers that are read at a fixed key, where that may be another now."""
        stale = {
            (depth, slot)
            for depth, slot in self.unlooked
            if every or LENGTH in (changes[depth].get(slot) or ())
        }
        if stale.isdisjoint(before.readers):
            return before
        readers = {slot: index for slot, index in before.readers.items() if slot not in stale}
        return Iterations(
            before.frames, before.total, before.values, before.status, readers, before.positions
        )

    def _visited(self, before: Iterations, path: Path, offset: int) -> set[int] | None:
        """The iterations that make a choice at a path, or below it; None for all of them."""
        visited: set[int] = set()
        inner = path[offset:] if offset else path
        for step, constants in self.constants:
            at = offset + step.position
            apart = False
            for i, constant in constants:
                if i < len(inner) and inner[i] is not ... and inner[i] != constant:
                    apart = True
            if apart:
                continue
            if at >= len(path) or path[at] is ...:
                return None
            source = self.targets[step.index]
            visited.update(t for t in self.iterations_at(before, source, path[at]) if t < len(before.frames))
        return visited

    def update_of(self, *arguments: Any) -> LoopUpdate:
        before: Iterations = arguments[1]
        if type(before.frames) is ColumnFrames:
            return ColumnUpdate(self, *arguments)
        return LoopUpdate(self, *arguments)


_RUNS = frozenset((Simulate, Generate, Assess))
