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
from gendsl.compiler.ir import Part, Stored
from gendsl.compiler.vectors import NotColumnsError, as_column
from gendsl.distributions.columns import COLUMN_DTYPES, VECTORS, sample_columns, score_columns, total_columns
from gendsl.runtime.blocks import Sequence, Touched
from gendsl.runtime.change import ALL, LENGTH, difference
from gendsl.runtime.column_frames import ColumnFrames, outer_of
from gendsl.runtime.columns import Column
from gendsl.runtime.executions import Assess, Generate, Simulate
from gendsl.runtime.loops import Iterations, LoopBlock, Slot, Source, _Update
from gendsl.runtime.paths import ColumnPaths, PathSet
from gendsl.runtime.reads import Changes, Frames, Read, Runner
from gendsl.runtime.reverse import ReverseIndex, SameIndex
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import Total, total_of
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.totals import value as total_value

LEAST = 48
"""Iterations from which on a loop is kept as columns."""
_FEW = 8
"""Iterations that are as fast one by one."""
_LARGE = 1e4
"""A mean score from which on scores are summed exactly: without that value they may be much smaller."""
_EXTREME = 1e6
"""A score from which on the last digit matters: taking it from a total again would leave a trace."""
_ARITHMETIC = {"divide": "raise", "over": "raise", "invalid": "raise"}


class Step:
    """A choice or an assigned variable of all iterations at once; see `ir.ColumnSite`, `ir.ColumnValue`.

    Attributes:
        site: the site of the choice; then `family` is its family, and `number` its place among the sites.
        needs: what it depends on, directly or by other assigned variables: slots by depth.
    """

    __slots__ = ("family", "index", "needs", "number", "position", "runner", "site", "slot")

    def __init__(self, runner: Runner, slot: int) -> None:
        self.runner = runner
        self.slot = slot
        self.site: SiteBlock | None = None
        self.family: Any = None
        self.number = self.position = self.index = -1
        self.needs: set[Slot] = set()


class Lookup:
    """A lookup by index in a container outside the loop; see `ir.Gather`. `needs`: what the index reads."""

    __slots__ = ("container", "needs", "of", "runner")

    def __init__(self, runner: Runner, container: Slot, of: int | None) -> None:
        self.runner = runner
        self.container = container
        self.of = of
        self.needs: set[Slot] = set()


class ColumnLoopBlock(LoopBlock):
    """A loop that can keep its iterations as columns."""

    def __init__(
        self,
        node: Any,
        sources: list[Source],
        body: Sequence,
        size: int,
        outs: list[tuple[int, int, Slot | None]],
        stored: list[Stored],
        state: int,
        addresses: list[list[Part] | None],
        steps: list[Step],
        lookups: list[Lookup],
        least: int,
    ) -> None:
        super().__init__(node, sources, body, size, [], outs, stored, state, False, addresses)
        self.steps = steps
        self.lookups = lookups
        self.least = least
        self.sites = [step for step in steps if step.site is not None]
        self.blocks: list[tuple[Any, bool]] = [(block, isinstance(block, SiteBlock)) for block in body.blocks]
        self.choices = [(step.site.value, step.site.state) for step in self.sites if step.site is not None]
        self.column_of = {value: i for i, (value, _) in enumerate(self.choices)}
        depth = self.depth
        reads: list[set[int]] = [set() for _ in range(depth)]
        for read in self._inner_reads(body):
            if read.depth < depth:
                reads[read.depth].add(read.slot)
        self.reads = [sorted(slots) for slots in reads]
        values: dict[int, set[Slot]] = {}
        for step in steps:
            for read in step.runner.reads:
                step.needs.add((read.depth, read.slot))
                if read.depth == depth:
                    step.needs |= values.get(read.slot, set())
            if step.site is None:
                values[step.slot] = step.needs
        for lookup in lookups:
            for read in lookup.runner.reads:
                lookup.needs.add((read.depth, read.slot))
                lookup.needs |= values.get(read.slot, set()) if read.depth == depth else set()
        self.needed_targets = [
            (source.target, i)
            for i, source in enumerate(sources)
            if any((depth, source.target) in step.needs for step in steps)
            or any((depth, source.target) == (r.depth, r.slot) for g in lookups for r in g.runner.reads)
        ]
        self.value_needs = values

    @staticmethod
    def _inner_reads(body: Sequence) -> list[Read]:
        return list(body.uses)

    # --- running ----------------------------------------------------------------------------------

    def run_over(self, execution: Any, frames: Frames, values: list[Any]) -> str | None:
        size = self.length(values)
        if size is not None and size >= self.least and type(execution) in _RUNS:
            store = self._run_columns(execution, frames, values, size)
            if store is not None:
                self._finish(frames, Iterations(store, store.total(), values, None, {}, {}))
                return None
        return super().run_over(execution, frames, values)

    def paths(self, execution: Any, frames: Frames, values: list[Any], size: int) -> list[ColumnPaths]:
        """The addresses of each site.

        Raises:
            NotColumnsError: they are not what they should be.
        """
        first = self.template.copy()
        for source, value in zip(self.sources, values, strict=True):
            first[source.target] = source.element(value, 0)
        found = []
        for step in self.sites:
            at_source = self.targets[step.index]
            value = values[at_source]
            if self.sources[at_source].counted and type(value) is int:
                indices = range(value, value + size)
            elif type(value) is range:
                indices = value[:size]
            else:
                raise NotColumnsError
            assert step.site is not None
            path = step.site.path(execution.prefix, (*frames, first))
            at = len(execution.prefix) + step.position
            hash(path)
            found.append(ColumnPaths(path[:at], indices, path[at + 1 :]))
        return found

    def _run_columns(
        self, execution: Any, frames: Frames, values: list[Any], size: int
    ) -> ColumnFrames | None:
        """Run all iterations at once; None, and nothing has happened, if they have to run one by one."""
        rng: Any = getattr(execution, "rng", None)
        state = None if rng is None else rng.bit_generator.state
        kind = type(execution)
        columns: list[Column] = []
        totals: list[Total] = []
        used: list[tuple[Constraints, ColumnPaths]] = []
        weight = 0.0
        arrays: dict[int, tuple[Any, Any]] = {}
        try:
            paths = self.paths(execution, frames, values, size)
            seen = execution.seen
            if seen is not None and not all(path.disjoint(seen) for path in paths):
                return None
            frame = self.vector_frame(values, size, arrays)
            scope = (*frames, frame)
            for step in self.steps:
                if step.site is None:
                    self.assign(step, scope)
                    continue
                parameters = self.parameters(step, scope)
                path = paths[step.number]
                given: Any = MISSING
                if kind is not Simulate:
                    given = self._given(execution, kind, path, used, step.family)
                drawn = given is MISSING
                if drawn:
                    given = sample_columns(step.family, rng, size, parameters)
                    if given is None:
                        raise NotColumnsError
                total = column_total(step.family, given, parameters)
                if drawn and total[2]:
                    raise NotColumnsError
                if total[2] and kind is Assess and execution.stop_at_zero:
                    raise NotColumnsError
                if not drawn:
                    weight += total_value(total)
                frame[step.slot] = given
                columns.append(Column.of(given))
                totals.append(total)
        except Exception:  # the iterations, one by one, meet it where it belongs
            if rng is not None and state is not None:
                rng.bit_generator.state = state
            return None
        if seen is not None:
            if type(seen) is not PathSet:
                seen = execution.seen = PathSet(seen, ())
            for path in paths:
                seen.add_column(path)
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
        path: ColumnPaths,
        used: list[tuple[Constraints, ColumnPaths]],
        family: Any,
    ) -> Any:
        """The values given for a choice of all iterations, or MISSING.

        Raises:
            NotColumnsError: they are given one by one, or not all.
        """
        dtype = COLUMN_DTYPES[family]
        if kind is Assess:
            if type(execution.given) is not Constraints:
                raise NotColumnsError
            given = execution.given.column(path.before, path.indices, path.after)
            if given is MISSING:
                raise NotColumnsError
            used.append((execution.given, path))
            return as_typed(given, dtype)
        for constraints in (execution.observations, execution.init):
            given = constraints.column(path.before, path.indices, path.after)
            if given is not MISSING:
                used.append((constraints, path))
                return as_typed(given, dtype)
        return MISSING

    # --- array code -------------------------------------------------------------------------------

    def vector_frame(
        self, values: list[Any], size: int, arrays: dict[int, tuple[Any, Any]]
    ) -> dict[int, Any]:
        """The loop variables as columns; `arrays` remembers those that have to be made."""
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
                    known = arrays[i] = value, as_column(value)
                column = known[1]
                frame[target] = column if len(column) == size else column[:size]
        return frame

    @staticmethod
    def assign(step: Step, scope: tuple[Any, ...]) -> None:
        """Compute an assigned variable."""
        with np.errstate(**_ARITHMETIC):  # type: ignore[arg-type]
            scope[-1][step.slot] = step.runner.call(*scope)

    @staticmethod
    def parameters(step: Step, scope: tuple[Any, ...]) -> tuple[Any, ...]:
        """The parameters of a choice, as columns or numbers.

        Raises:
            NotColumnsError: they are something else, or the family is another than it was.
        """
        with np.errstate(**_ARITHMETIC):  # type: ignore[arg-type]
            family, *parameters = step.runner.call(*scope)
        if family is not step.family:
            raise NotColumnsError
        if family in VECTORS:
            return tuple(parameters)
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
        lookups = [lookup for lookup in self.lookups if lookup.container == slot]
        scope = self.store_scope(store)
        found = []
        for lookup in lookups:
            with np.errstate(**_ARITHMETIC):  # type: ignore[arg-type]
                found.append(lookup.runner.call(*scope))
        first = found[0]
        if type(first) is range and all(type(f) is range and f == first for f in found):
            return SameIndex(first.start, first.step)
        keys = [np.asarray(np.arange(f.start, f.stop, f.step) if type(f) is range else f) for f in found]
        return ReverseIndex.of_columns(keys)

    def store_scope(self, store: ColumnFrames) -> tuple[Any, ...]:
        """What the array code of all iterations runs on, as they are."""
        frame = self.vector_frame(store.values, store.size, store.arrays)
        for step in self.sites:
            frame[step.slot] = store.columns[step.number].array()
        scope = (*store.outer, frame)
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
        values, moved = self._sources(before, new, changes)
        changed: set[Slot] = set()
        every = False
        visit: set[int] = set()
        groups: list[tuple[Slot, Any, np.ndarray]] = []
        for source, change in zip(self.sources, moved, strict=True):
            if change is ALL:
                if source.target in {step.index for step in self.sites}:
                    return super().update(execution, old, new, changes, touched)
                every = True
                changed.add((self.depth, source.target))
            elif change is not None:
                visit.update(key for key in change if key is not LENGTH)
        for depth, slots in enumerate(changes):
            for slot, change in slots.items():
                at = depth, slot
                use = self.outer.get(at)
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
            for path in touched:
                found = self._visited(before, path, offset)
                if found is None:
                    return self._one_by_one(execution, old, new, changes, touched)
                for t in found:
                    visit.add(t)
                    paths.setdefault(t, []).append(path)
        limit = self.length(values)
        assert limit is not None
        if not every and not groups and not visit and limit == store.size and not self._base_changed(changes):
            if any(change is not None for change in moved):
                kept = store.with_outer(store.outer, values)
                frame[self.state] = (
                    Iterations(kept, before.total, values, None, before.readers, before.positions),
                    *frame[self.state][1:],
                )
            return 0
        run = _ColumnUpdate(self, execution, before, values, old, new, changes, touched, paths, moved)
        after = run.go(visit, every, groups, changed, limit)
        return self._leave(frame, before, after, old, new, changes, run.keys)

    def _visited(self, before: Iterations, path: Path, offset: int) -> set[int] | None:
        """The iterations that make a choice at a path, or below it; None for all of them."""
        visited: set[int] = set()
        for step in self.sites:
            at = offset + step.position
            known = zip(path[offset:], step.site.parts, strict=False)  # type: ignore[union-attr, arg-type]
            if any(slot is None and c is not ... and c != constant for c, (constant, slot) in known):
                continue
            if at >= len(path) or path[at] is ...:
                return None
            source = self.targets[step.index]
            visited.update(t for t in self._at(before, source, path[at]) if t < len(before.frames))
        return visited

    def _one_by_one(
        self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched
    ) -> int:
        """An update that may concern every iteration by itself."""
        return super().update(execution, old, new, changes, touched)

    def update_of(self, *arguments: Any) -> _Update:
        before: Iterations = arguments[1]
        if type(before.frames) is ColumnFrames:
            return _ColumnUpdate(self, *arguments)
        return _Update(self, *arguments)


class _ColumnUpdate(_Update):
    """One update of a loop that is kept as columns."""

    loop: ColumnLoopBlock

    def __init__(self, loop: ColumnLoopBlock, execution: Any, before: Iterations, *arguments: Any) -> None:
        super().__init__(loop, execution, before, *arguments)
        self.store: ColumnFrames = before.frames
        self.frames: Any = self.store.with_outer(outer_of(loop.reads, self.new), self.values)
        self.extreme = False
        for building in self.inside.values():
            building.frames = self.frames

    def go(
        self,
        visit: set[int],
        every: bool,
        groups: list[tuple[Slot, Any, np.ndarray]],
        changed: set[Slot],
        limit: int,
    ) -> Iterations:
        """Visit some iterations one by one, and all of them, or those of some groups, at once."""
        common = min(len(self.store), limit)
        single = {t for t in visit if t < common}
        if every or groups:
            many: Any = None
            if not every:
                many = groups[0][2] if len(groups) == 1 else np.unique(np.concatenate([g[2] for g in groups]))
                if single or common < len(self.store):
                    many = np.array([t for t in many.tolist() if t not in single and t < common], np.int64)
            done = (not every or common == len(self.store)) and self._at_once(many, single, groups, changed)
            if done:
                self._note_values(changed)
            else:
                single.update(range(common) if every else many.tolist())
        for t in sorted(single):
            self._visit(t)
        return self._ending(None, None, limit)

    def _visit(self, t: int) -> None:
        changed, _ = self._iteration(t, {})
        if changed:
            for written in self.loop.stored:
                self._emitted(written, t, changed)

    def _iteration(self, t: int, previous: dict[int, Any]) -> tuple[dict[int, Any], str | None]:
        body = self.loop.body
        was = self.store[t]
        frame = was.copy()
        changed: dict[int, Any] = {}
        for source, value in self.sources:
            element = source.element(value, t)
            change = difference(frame[source.target], element)
            if change is not None:
                frame[source.target] = element
                changed[source.target] = change
        old, new, changes = (*self.old, was), (*self.new, frame), (*self.changes, changed)
        touched = self.paths.get(t)
        todo = body.affected(changes)
        if touched is not None:
            todo |= body.routed(touched, self.offset)
        if not todo:
            return changed, None
        body.update(self.execution, old, new, changes, touched, todo)
        frame[0] = body.score(frame)
        if not -_EXTREME < was[0] < _EXTREME:
            self.extreme = True
        frames = self.frames
        self.frames = frames.replaced(t, was, frame) if type(frames) is ColumnFrames else frames.set(t, frame)
        for building in self.inside.values():
            building.frames = self.frames
        for slot, index in self.readers.items():
            if type(index) is SameIndex:
                continue
            gone, come = set(body.keys_read(old, *slot)), set(body.keys_read(new, *slot))
            if gone != come:
                for key in gone - come:
                    index = index.remove(key, t)
                for key in come - gone:
                    index = index.add(key, t)
                self.readers[slot] = index
        return changed, None

    def _at_once(
        self, many: Any, apart: set[int], groups: list[tuple[Slot, Any, np.ndarray]], changed: set[Slot]
    ) -> bool:
        """Score iterations in their new scope with array code; whether that could be done.

        Args:
            many: which ones; None for all but those `apart`.
        """
        loop, frames = self.loop, self.frames
        steps = [step for step in loop.sites if not step.needs.isdisjoint(changed)]
        totals = list(frames.totals)
        weight = 0.0
        try:
            if many is None:
                scope = self._scope(frames, steps, None)
                for step in steps:
                    i = step.number
                    was, now = totals[i], loop.score(step, scope, frames.columns[i].array())
                    if was[2] or now[2]:
                        return False
                    weight += (now[0] + now[1]) - (was[0] + was[1])
                    totals[i] = now
                if apart:
                    weight -= self._moves(np.array(sorted(apart)), steps, None, totals, -1.0)
            else:
                weight = self._moves(many, steps, self._one_key(groups), totals, 1.0)
        except Exception:  # one by one, it is met where it belongs
            return False
        self.frames = frames.with_totals(tuple(totals))
        self.execution.weight += weight
        for lookup in loop.lookups:
            if not lookup.needs.isdisjoint(changed):
                self.readers.pop(lookup.container, None)
        return True

    def _moves(
        self,
        many: np.ndarray,
        steps: list[Step],
        one: tuple[int, int] | None,
        totals: list[Total],
        sign: float,
    ) -> float:
        """What the scores of some iterations change by, which is added to or taken from the totals."""
        loop, frames, store = self.loop, self.frames, self.store
        scope = self._scope(frames, steps, many)
        if one is not None:
            scope[-1][one[0]] = one[1]
        before = (*store.outer, dict(scope[-1]))
        if self.sources:
            before = self._scope(store, steps, many)
        elif loop.value_needs:
            self._assign(before, steps)
        change = 0.0
        for step in steps:
            i = step.number
            column = frames.columns[i].take(many)
            was, now = loop.score(step, before, column), loop.score(step, scope, column)
            if was[2] or now[2]:
                raise NotColumnsError
            difference = (now[0] + now[1]) - (was[0] + was[1])
            change += difference
            totals[i] = _moved(totals[i], was, now) if sign > 0.0 else _moved(totals[i], now, was)
        return change

    def _scope(self, store: ColumnFrames, steps: list[Step], many: np.ndarray | None) -> tuple[Any, ...]:
        """What the array code of some sites runs on, for some iterations or all of them."""
        loop = self.loop
        frame = loop.vector_frame(store.values, store.size, store.arrays)
        if many is not None:
            frame = {slot: _taken(column, many) for slot, column in frame.items()}
        for step in loop.sites:
            if any((loop.depth, step.slot) in other.needs for other in steps):
                column = store.columns[step.number]
                frame[step.slot] = column.array() if many is None else column.take(many)
        scope = (*store.outer, frame)
        self._assign(scope, steps)
        return scope

    def _assign(self, scope: tuple[Any, ...], steps: list[Any]) -> None:
        """The assigned variables that array code reads."""
        depth = self.loop.depth
        for step in self.loop.steps:
            if step.site is None and any((depth, step.slot) in other.needs for other in steps):
                self.loop.assign(step, scope)

    def _one_key(self, groups: list[tuple[Slot, Any, np.ndarray]]) -> tuple[int, int] | None:
        """Where all iterations of a group look up one key, by a choice: its slot and the key."""
        if len(groups) != 1 or type(groups[0][1]) is not int:
            return None
        lookups = [lookup for lookup in self.loop.lookups if lookup.container == groups[0][0]]
        if len(lookups) != 1 or lookups[0].of not in self.loop.column_of:
            return None
        return lookups[0].of, groups[0][1]

    def _note_values(self, changed: set[Slot]) -> None:
        """Note which entries of containers that the loop writes have changed with an assigned variable."""
        for written in self.loop.stored:
            for slot in (written.value, written.key):
                needs = self.loop.value_needs.get(slot)
                if needs is not None and not needs.isdisjoint(changed):
                    self.keys[written.inside] = ALL
                    self.inside[written.inside].forget()
                    self.changes[-1][written.inside] = ALL

    def _summed(self, store: ColumnFrames) -> ColumnFrames:
        """With totals summed afresh: of an extreme score, array code and a distribution round differently."""
        loop = self.loop
        try:
            scope = self._scope(store, loop.sites, None)
            totals = [loop.score(step, scope, store.columns[step.number].array()) for step in loop.sites]
        except Exception:
            frames = list(store)
            totals = [total_of([frame[state][2] for frame in frames]) for _, state in loop.choices]
        return store.with_totals(tuple(totals))

    def _ending(self, end: int | None, status: str | None, limit: int | None) -> Iterations:
        assert limit is not None
        size = len(self.store)
        if limit < size and type(self.frames) is ColumnFrames:
            totals = list(self.frames.totals)
            for t in range(limit, size):
                gone = self.store[t]
                for i, (_, state) in enumerate(self.loop.choices):
                    totals[i] = changed_total(totals[i], gone[state][2], 0.0)
            self.frames = self.frames.with_totals(tuple(totals))
        after = super()._ending(None, None, limit)
        if type(after.frames) is ColumnFrames:
            if self.extreme:
                after.frames = self._summed(after.frames)
            after.total = after.frames.total()
        else:
            after.total = total_of([frame[0] for frame in after.frames])
        return after


def _moved(total: Total, was: Total, now: Total) -> Total:
    """A total with other terms in place of some, given by their totals."""
    high, low, count = changed_total(total, was[0], now[0])
    return high, low + (now[1] - was[1]), count


def _taken(column: Any, many: np.ndarray) -> Any:
    if type(column) is range:
        return column.start + column.step * many
    return column[many]


def column_total(family: Any, column: np.ndarray, parameters: tuple[Any, ...]) -> Total:
    """The total of the scores of a column.

    Raises:
        NotColumnsError: they can't be vouched for.
    """
    total = total_columns(family, column, parameters)
    if total is None:
        raise NotColumnsError
    if abs(total) < _LARGE * len(column):
        return total, 0.0, 0
    scores = score_columns(family, column, parameters)
    if scores is None:
        raise NotColumnsError
    return total_of(scores.tolist())


def as_typed(given: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """Given values as a column of a family, as each by itself would be taken; a copy.

    Raises:
        NotColumnsError: some would be kept as something else.
    """
    column: Any = as_column(given)
    if type(column) is range:
        column = np.arange(column.start, column.stop, column.step)
    kind = column.dtype.kind
    fits = dtype.kind in ("f", kind) or (dtype.kind == "i" and kind == "b")
    if fits or (dtype.kind == "b" and kind == "i" and ((column == 0) | (column == 1)).all()):
        made: np.ndarray = column.astype(dtype)
        return made
    raise NotColumnsError


_RUNS = frozenset((Simulate, Generate, Assess))
