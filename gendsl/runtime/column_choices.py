"""The choices of a loop that is kept as columns, with their addresses, by going through whole columns."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import chain
from typing import Any

from gendsl.address import Path
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_steps import Step
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.paths import ColumnPaths, PathSet
from gendsl.runtime.reads import Frames
from gendsl.runtime.row_columns import AnyColumn, entries_of
from gendsl.runtime.totals import value as total

_AT_ONCE = 1024


class LookedThrough(LoopBlock):
    """A loop whose iterations may be columns, as one that lists its choices."""

    sites: list[Step]
    choices: list[tuple[int, int]]
    constants: list[tuple[Step, list[tuple[int, Any]]]]
    places: list[tuple[int, int, list[tuple[int, Any]], int, int]]
    """For each site: its number, the length of its addresses, what they have where, and where they have the
    element of which source; but for those that have two."""

    def paths(self, prefix: Path, frames: Frames, values: list[Any], size: int) -> list[Any]:
        """The addresses of each site: ColumnPaths, or NestPaths.

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
            path = step.site.path(prefix, (*frames, first))
            at = len(prefix) + step.position
            hash(path)
            found.append(ColumnPaths(path[:at], indices, path[at + 1 :]))
        return found

    def found_places(self) -> list[Any]:
        """The `places`."""
        return [
            (step.number, len(step.site.parts), constants, step.position, self.targets[step.index])
            for step, constants in self.constants
            if step.site is not None and step.site.parts and len(step.site.parts) == len(constants) + 1
        ]

    def place(self, iterations: Iterations, path: Path) -> tuple[int, int] | None:
        """The number of the site that makes a choice of the program's own body, and its iteration.

        None where there is no such choice, or it isn't found in one step.
        """
        size = len(path)
        for number, length, constants, position, source in self.places:
            if length == size:
                for i, constant in constants:
                    if path[i] != constant:
                        break
                else:
                    found = self.iterations_at(iterations, source, path[position])
                    known = len(found) == 1 and found[0] < len(iterations.frames)
                    return (number, found[0]) if known else None
        return None

    def _by_column(self, frames: Frames, prefix: Path) -> tuple[ColumnFrames, list[Any]] | None:
        """The columns with their addresses; None where the iterations aren't kept so."""
        iterations: Iterations = frames[-1][self.state][0]
        store: Any = iterations.frames
        if type(store) is not ColumnFrames or not store.size:
            return None
        try:
            return store, self.paths(prefix, frames, store.values, store.size)
        except NotColumnsError:
            return None

    def values(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        found = self._by_column(frames, prefix)
        if found is None:
            return super().values(frames, prefix)
        store, paths = found
        columns = [zip(p, _entries(c), strict=True) for p, c in zip(paths, store.columns, strict=False)]
        return chain.from_iterable(zip(*columns, strict=True))

    def score_of(self, frames: Frames, prefix: Path, paths: Set[Path]) -> float:
        found = self._by_column(frames, prefix)
        if found is None or type(paths) is not PathSet:
            return super().score_of(frames, prefix, paths)
        store, columns = found
        sums = [paths.has_columns(column.runs) for column in columns]
        if None in sums:
            return super().score_of(frames, prefix, paths)
        return sum((total(part) for part, whole in zip(store.totals, sums, strict=True) if whole), 0.0)

    def records(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        found = self._by_column(frames, prefix)
        if found is None:
            return super().records(frames, prefix)
        store, paths = found
        states = [state for _, state in self.choices]
        each = zip(*paths, strict=True)
        return (
            (path, frame[state])
            for frame, here in zip(store, each, strict=True)
            for path, state in zip(here, states, strict=True)
        )


def _entries(column: AnyColumn) -> Iterator[Any]:
    """The entries of a column, some at a time: whoever wants the first few doesn't wait for all."""
    return chain.from_iterable(
        entries_of(column, t, t + _AT_ONCE) for t in range(0, len(column), _AT_ONCE)
    )
