"""What loops in loops go through that are kept as one: pairs, or more at once, in the order of the loops.

Each loop has *nodes*: its iterations, one run of them for each node of the loop around it. Those of the
innermost are the iterations of the one loop. A `NestColumn` is what one loop variable is in each of these.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise, repeat
from operator import index
from typing import Any

import numpy as np

from gendsl.runtime.change import difference
from gendsl.runtime.loop_parts import as_indexable, counted_at, one_length
from gendsl.runtime.lowering.ir import Level
from gendsl.runtime.lowering.tables import Columnar, NotColumnsError, as_column
from gendsl.runtime.paths import ColumnPaths, NestPaths
from gendsl.runtime.written import Written

Known = dict[int, Any]
"""Number of a source -> the value that it has."""


class Nest:
    """What some loops, each in the other, go through.

    Attributes:
        levels: what is known of each loop.
        starts: for each loop the first node of each of its runs, and how many nodes there are.
        values: for each loop and each of its runs what the sources are, as something that can be indexed, or
            the first of a count.
        size: how many iterations the innermost loop has in all.
        columns: what each source is.
    """

    __slots__ = ("_ends", "_tables", "columns", "levels", "size", "starts", "values")

    def __init__(self, parts: tuple[Any, ...], levels: list[Level]) -> None:
        self.levels = levels
        self.starts: list[Any] = []
        self.values: list[Any] = []
        count = 1
        for i, (part, level) in enumerate(zip(parts, levels, strict=True)):
            runs, starts = self._runs(part if i else lambda given=part: given, level, count)
            self.values.append(runs)
            self.starts.append(starts)
            count = starts[-1]
        self.size: int = count
        self._tables: dict[tuple[int, int], dict[Any, list[int]]] = {}
        self._ends: list[tuple[int, int]] | None = None
        self.columns: list[Any] = [
            NestColumn(self, i, k) for i, level in enumerate(levels) for k in range(len(level.counted))
        ]

    def _runs(self, part: Callable[..., Any], level: Level, count: int) -> tuple[Any, Any]:
        """What the sources of a loop are in each of its runs, and the first nodes of these."""
        if level.same and count:
            given = part()
            run, size = _run(given, level)
            if all(counted or type(v) in _LASTING for v, counted in zip(given, level.counted, strict=True)):
                return Repeated(run, count), range(0, size * count + 1, size) if size else [0] * (count + 1)
            runs, sizes = [run], [size]  # which what is gone through once may be part of
        else:
            runs, sizes = [], []
        names = [] if level.same else self._elements()
        for node in range(len(runs), count):
            run, size = _run(part(*(column[node] for column in names)), level)
            runs.append(run)
            sizes.append(size)
        return runs, [0, *accumulate(sizes)]

    def _elements(self) -> list[list[Any]]:
        """What each source of the loops so far gives at the nodes of the last of them."""
        columns: list[list[Any]] = []
        for level, runs, starts in zip(self.levels, self.values, self.starts, strict=False):
            sizes = [b - a for a, b in pairwise(starts)]
            columns = [
                [element for element, size in zip(column, sizes, strict=True) for _ in range(size)]
                for column in columns
            ]
            for k, counted in enumerate(level.counted):
                column: list[Any] = []
                for run, size in zip(runs, sizes, strict=True):
                    column.extend(range(run[k], run[k] + size) if counted else run[k][:size])
                columns.append(column)
        return columns

    def place(self, level: int, node: int) -> tuple[int, int]:
        """The run that a node is in, and where."""
        starts = self.starts[level]
        run = bisect_right(starts, node) - 1
        return run, node - starts[run]

    def above(self, level: int, node: int, inner: int) -> int:
        """The node of a loop that a node of a loop inside it, or of itself, belongs to."""
        for i in range(inner, level, -1):
            node = self.place(i, node)[0]
        return node

    def element(self, level: int, number: int, node: int) -> Any:
        """What a source of a loop gives at a node."""
        run, k = self.place(level, node)
        value = self.values[level][run][number]
        return value + k if self.levels[level].counted[number] else value[k]

    def ends(self) -> list[tuple[int, int]]:
        """The nodes of outer loops, each after its loop, for which the loop inside goes through nothing."""
        if self._ends is None:
            self._ends = [
                (i, node)
                for i, starts in enumerate(self.starts[1:])
                for node in range(len(starts) - 1)
                if starts[node] == starts[node + 1]
            ]
        return self._ends

    def find(self, known: Known) -> list[int]:
        """The iterations in which some loop variables have these values."""
        nodes: Any = (0,)  # as it were, the one node around the outermost loop
        number = 0
        every = True
        for i, level in enumerate(self.levels):
            wanted = [(k, known[number + k]) for k in range(len(level.counted)) if number + k in known]
            number += len(level.counted)
            starts = self.starts[i]
            if not wanted:
                nodes = [node for run in nodes for node in range(starts[run], starts[run + 1])]
                continue
            found: Any = None
            for k, component in wanted:
                some = set(self._found(i, k, nodes, every, component))
                found = some if found is None else found & some
            nodes = sorted(found)
            every = False
        return list(nodes)

    def _found(self, level: int, number: int, runs: Any, every: bool, component: Any) -> Iterator[int]:
        """The nodes in some runs, or all of them, at which a source gives a value."""
        starts, counted = self.starts[level], self.levels[level].counted[number]
        values = self.values[level]
        if all(counted or type(values[run][number]) is range for run in runs):
            for run in runs:
                k = counted_at(values[run][number], component)
                if k is not None and k < starts[run + 1] - starts[run]:
                    yield starts[run] + k
            return
        try:
            nodes = self._table(level, number).get(component, [])
        except TypeError:
            return  # no address
        if every and level == 0:
            yield from nodes
            return
        for run in runs:
            yield from nodes[bisect_left(nodes, starts[run]) : bisect_left(nodes, starts[run + 1])]

    def _table(self, level: int, number: int) -> dict[Any, list[int]]:
        """The nodes at which a source gives each value, made once."""
        table = self._tables.get((level, number))
        if table is None:
            table = self._tables[level, number] = {}
            for node in range(self.starts[level][-1]):
                try:
                    table.setdefault(self.element(level, number, node), []).append(node)
                except TypeError:
                    continue  # no address, so no choice is made there
        return table

    def agrees(self, other: Nest) -> bool:
        """Whether another surely goes through the same, in the outermost iterations that both have."""
        count = 1
        for i, level in enumerate(self.levels):
            here, there = self.starts[i], other.starts[i]
            common = min(here[1], there[1]) if i == 0 else here[count]
            runs, others = self.values[i], other.values[i]
            if type(runs) is Repeated and type(others) is Repeated:
                if i and here[1] != there[1]:
                    return False
                sizes, checked = [common if i == 0 else here[1]], min(count, 1)
            else:
                if i and [*here[: count + 1]] != [*there[: count + 1]]:
                    return False
                sizes, checked = [b - a for a, b in pairwise(here)] if i else [common], count
            for run in range(checked):
                pairs = zip(runs[run], others[run], level.counted, strict=True)
                if not all(_alike(one, two, counted, sizes[run]) for one, two, counted in pairs):
                    return False
            count = common
        return True

    def is_same(self, other: Nest) -> bool:
        """Whether another surely goes through the same."""
        return self.size == other.size and self.starts[0][-1] == other.starts[0][-1] and self.agrees(other)


def _alike(one: Any, other: Any, counted: bool, size: int) -> bool:
    """Whether two sources surely give the same in so many iterations."""
    if counted or one is other:
        return bool(one == other) if counted else True
    return difference(one[:size], other[:size]) is None


_LASTING = frozenset((list, tuple, range, np.ndarray, str, Written))
"""What gives the same as often as one goes through it."""


class Repeated(Sequence[Any]):
    """The same run for each node of the loop around it."""

    __slots__ = ("_count", "run")

    def __init__(self, run: list[Any], count: int) -> None:
        self.run = run
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: Any) -> Any:
        return self.run

    def __iter__(self) -> Iterator[Any]:
        return repeat(self.run, self._count)


def _run(values: tuple[Any, ...], level: Level) -> tuple[list[Any], int]:
    """What the sources of a loop are, and how many iterations that makes."""
    made: list[Any] = [
        index(value) if counted else _plain(value)
        for value, counted in zip(values, level.counted, strict=True)
    ]
    sizes = [len(value) for value, counted in zip(made, level.counted, strict=True) if not counted]
    return made, one_length(sizes) if level.strict else min(sizes)


def _plain(value: Any) -> Any:
    made = as_indexable(value)
    return [made.raw(t) for t in range(len(made))] if type(made) is Written else made


class NestColumn(Columnar):
    """What a loop variable is in each iteration of the innermost of some loops."""

    __slots__ = ("_column", "level", "nest", "number")

    def __init__(self, nest: Nest, level: int, number: int) -> None:
        self.nest = nest
        self.level = level
        self.number = number
        self._column: Any = None

    def __len__(self) -> int:
        return self.nest.size

    def __getitem__(self, t: int) -> Any:
        nest = self.nest
        node = nest.above(self.level, t, len(nest.levels) - 1)
        return nest.element(self.level, self.number, node)

    def column(self) -> Any:
        if self._column is None:
            column = self._own()
            for starts in self.nest.starts[self.level + 1 :]:
                column = np.repeat(column, np.diff(as_array(starts)))
            column.flags.writeable = False
            self._column = column
        return self._column

    def as_rows(self) -> Any:
        raise NotColumnsError

    def take(self, many: np.ndarray) -> Any:
        """What it is in some iterations, as a column; see `tables.as_column`."""
        if self._column is not None:
            return self._column[many]
        nest, level = self.nest, self.level
        for starts in nest.starts[: level : -1]:
            many = _runs_of(starts, many)
        runs, starts = nest.values[level], nest.starts[level]
        if type(runs) is not Repeated or type(starts) is not range:
            own = self._own()
            if level == len(nest.levels) - 1:
                self._column = own
            return own[many]
        value = runs.run[self.number]
        within = many % starts.step
        if nest.levels[level].counted[self.number]:
            return within + value
        column = as_column(value)
        return value.start + value.step * within if type(column) is range else column[within]

    def _own(self) -> Any:
        """What it is at each node of its own loop."""
        nest, level = self.nest, self.level
        runs = [run[self.number] for run in nest.values[level]]
        starts = as_array(nest.starts[level])
        sizes = np.diff(starts)
        counted = nest.levels[level].counted[self.number]
        if counted or all(type(value) is range for value in runs):
            ranges = [(value, 1) if counted else (value.start, value.step) for value in runs]
            try:
                first, step = np.array(ranges, np.int64).reshape(-1, 2).T
            except OverflowError:
                raise NotColumnsError from None
            nodes = np.arange(starts[-1])
            return np.repeat(first - step * starts[:-1], sizes) + np.repeat(step, sizes) * nodes
        if not {np.ndarray, list, tuple, range}.issuperset(map(type, runs)):
            raise NotColumnsError
        runs = [value[:size] for value, size in zip(runs, sizes.tolist(), strict=True)]
        if np.ndarray not in map(type, runs):
            return np.array(as_column([element for run in runs for element in run]))
        if {(np.ndarray, 1)} != {(type(run), getattr(run, "ndim", 0)) for run in runs}:
            raise NotColumnsError
        if len({run.dtype for run in runs}) != 1:
            raise NotColumnsError
        return as_column(np.concatenate(runs))


def as_array(starts: Any) -> np.ndarray:
    """The first nodes of runs as an array."""
    if type(starts) is range:
        return np.arange(starts.start, starts.stop, starts.step)
    return np.array(starts, np.int64)


def _runs_of(starts: Any, nodes: np.ndarray) -> np.ndarray:
    """The runs that nodes are in."""
    if type(starts) is range:
        return nodes // starts.step
    found: np.ndarray = as_array(starts).searchsorted(nodes, "right") - 1
    return found


def nest_paths(path: list[Any], own: list[tuple[int, NestColumn]], last: NestColumn) -> NestPaths:
    """The addresses of a site, by the runs of the innermost loop.

    Args:
        path: one of them.
        own: which of its components are what loop variables.
        last: that of these which is the innermost loop's.

    Raises:
        NotColumnsError: they are no columns, or two of them may be one.
    """
    nest, level = last.nest, last.level
    starts, counted = nest.starts[level], nest.levels[level].counted[last.number]
    if level != len(nest.levels) - 1 or any(c.level == level and c is not last for _, c in own):
        raise NotColumnsError
    at, *more = [i for i, column in own if column is last]
    if more:
        raise NotColumnsError
    outer = [(i, column) for i, column in own if column is not last]
    runs, seen = [], set()
    for run, sources in enumerate(nest.values[level]):
        count = starts[run + 1] - starts[run]
        if not count:
            continue
        value = sources[last.number]
        if not counted and type(value) is not range:
            raise NotColumnsError
        for i, column in outer:
            path[i] = nest.element(column.level, column.number, nest.above(column.level, run, level - 1))
        before, after = tuple(path[:at]), tuple(path[at + 1 :])
        seen.add((before, after))
        runs.append(ColumnPaths(before, range(value, value + count) if counted else value[:count], after))
    if len(seen) != len(runs):
        raise NotColumnsError
    return NestPaths(runs)


class Reordered(Columnar):
    """The same in another order of the iterations."""

    __slots__ = ("_of", "_order", "nest")

    def __init__(self, of: NestColumn, order: np.ndarray) -> None:
        self._of = of
        self._order = order
        self.nest = _ReorderedNest(of.nest, order)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, t: int) -> Any:
        return self._of[self._order.item(t)]

    def column(self) -> Any:
        return self._of.column()[self._order]

    def as_rows(self) -> Any:
        raise NotColumnsError

    def take(self, many: np.ndarray) -> Any:
        """The same of some iterations."""
        return self._of.take(self._order[many])


class _ReorderedNest:
    """Finds iterations by their places in another order."""

    __slots__ = ("_nest", "_order")

    def __init__(self, nest: Nest, order: np.ndarray) -> None:
        self._nest = nest
        self._order = order

    def find(self, known: Known) -> list[int]:
        """The same as of a `Nest`."""
        found: list[int] = np.flatnonzero(np.isin(self._order, self._nest.find(known))).tolist()
        return found


def orders(old: Nest, new: Nest) -> tuple[np.ndarray, np.ndarray]:
    """The iterations of two, those first that both have, in the same order.

    They both have those that are at the same place in each of the loops, whatever the variables are there.
    """
    common_old = common_new = np.zeros(1, np.int64)
    for olds, news in zip(old.starts, new.starts, strict=True):
        starts_old, starts_new = as_array(olds), as_array(news)
        sizes = np.minimum(
            starts_old[common_old + 1] - starts_old[common_old],
            starts_new[common_new + 1] - starts_new[common_new],
        )
        within = np.arange(sizes.sum()) - np.repeat(sizes.cumsum() - sizes, sizes)
        common_old = np.repeat(starts_old[common_old], sizes) + within
        common_new = np.repeat(starts_new[common_new], sizes) + within
    return _first(common_old, old.size), _first(common_new, new.size)


def _first(some: np.ndarray, size: int) -> np.ndarray:
    others = np.ones(size, np.bool_)
    others[some] = False
    return np.concatenate((some, np.flatnonzero(others)))


def differing(old: Any, new: Any) -> set[int]:
    """Where two columns, or their first parts, differ."""
    size = min(len(old), len(new))
    try:
        one, two = old.column()[:size], new.column()[:size]
    except NotColumnsError:
        one = two = None
    if one is None or one.dtype != two.dtype:
        return {t for t in range(size) if difference(old[t], new[t]) is not None}
    bits = np.dtype(np.int64) if one.dtype.itemsize == 8 else one.dtype
    where: list[int] = np.flatnonzero(one.view(bits) != two.view(bits)).tolist()
    return set(where)
