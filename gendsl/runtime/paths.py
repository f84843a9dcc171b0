"""Sets of paths in which a column counts as one: `("x", 0)`, `("x", 1)`, ... take no memory of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gendsl.address import Path
from gendsl.runtime.namespaces import check_namespaces


@dataclass(frozen=True)
class ColumnPaths(Sequence[Path]):
    """The paths `(*before, i, *after)` for the i of a range."""

    before: Path
    indices: range
    after: Path = ()

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[Path]:
        before, after = self.before, self.after
        return ((*before, i, *after) for i in self.indices)

    def __getitem__(self, k: int) -> Path:  # type: ignore[override]
        return (*self.before, self.indices[k], *self.after)

    @property
    def runs(self) -> tuple[ColumnPaths, ...]:
        """The columns that it is made of."""
        return (self,)

    def matches(self, path: Path) -> bool:
        """Whether a path that starts with `before` is one of them."""
        at = len(self.before)
        return len(path) == at + 1 + len(self.after) and path[at + 1 :] == self.after and self._has(path[at])

    def _has(self, index: Any) -> bool:
        if type(index) is not int:
            try:
                whole = int(index)
                if whole != index:
                    return False
            except (TypeError, ValueError, OverflowError):
                return False
            index = whole
        return index in self.indices

    def disjoint(self, seen: Set[Path] | set[Path]) -> bool:
        """Whether none of them is in a set."""
        if len(seen) > len(self):
            return not any(path in seen for path in self)
        at = len(self.before)
        return not any(path[:at] == self.before and self.matches(path) for path in seen)


class NestPaths:
    """The paths of several columns, one after the other."""

    __slots__ = ("runs",)

    def __init__(self, runs: list[ColumnPaths]) -> None:
        self.runs = runs

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def __iter__(self) -> Iterator[Path]:
        return chain.from_iterable(self.runs)

    def disjoint(self, seen: Set[Path] | set[Path]) -> bool:
        """Whether none of them is in a set."""
        if not self.runs or len(seen) > len(self):
            return not any(path in seen for path in self)
        by_ends = {(run.before, run.after): run for run in self.runs}
        at = len(self.runs[0].before)
        for path in seen:
            run = by_ends.get((path[:at], path[at + 1 :]))
            if run is not None and len(path) > at and run.matches(path):
                return False
        return True


_MANY = 1000
"""From how many paths on they are made a column of, if they are one."""


def column_of(paths: Sequence[Path]) -> ColumnPaths | None:
    """The column that many paths are, where they are ("x", 0), ("x", 1), ... in this order."""
    if len(paths) < _MANY:
        return None
    first = paths[0]
    if len(first) != 2 or type(first[1]) is not int:
        return None
    head, start = first
    for i, path in enumerate(paths, start):
        if len(path) != 2 or path[0] != head or type(path[1]) is not int or path[1] != i:
            return None
    return ColumnPaths((head,), range(start, start + len(paths)))


class PathSet(Set[Path]):
    """A set of paths, some of them as columns. `gone` are those of the columns that were taken out."""

    __slots__ = ("_by_prefix", "_every_head", "_gone", "_heads", "_size", "_sizes", "columns", "single")

    def __init__(
        self, single: Iterable[Path], columns: Iterable[ColumnPaths], gone: Iterable[Path] = ()
    ) -> None:
        self.single = set(single)
        self.columns: list[ColumnPaths] = []
        self._gone = frozenset(gone)
        self._by_prefix: dict[Path, list[ColumnPaths]] = {}
        self._sizes: set[int] = set()
        self._heads: frozenset[Any] = frozenset()  # what the paths of columns begin with
        self._every_head: frozenset[Any] | None = None
        self._size = 0
        for column in columns:
            self.add_column(column)

    @classmethod
    def _from_iterable(cls, paths: Iterable[Path]) -> frozenset[Path]:  # type: ignore[override]
        return frozenset(paths)

    __hash__ = Set._hash

    def add(self, path: Path) -> None:
        """Add one path."""
        self.single.add(path)
        self._every_head = None

    def add_column(self, column: ColumnPaths) -> None:
        """Add the paths of a column, none of which is there yet."""
        self._every_head = None
        self.columns.append(column)
        self._by_prefix.setdefault(column.before, []).append(column)
        self._sizes.add(len(column.before))
        self._heads |= {column.before[0] if column.before else ...}
        self._size += len(column)

    @property
    def heads(self) -> frozenset[Any] | None:
        """What the paths begin with; None if one may begin with anything."""
        heads = self._every_head
        if heads is None and ... not in self._heads:
            heads = self._every_head = self._heads.union(path[0] for path in self.single)
        return heads

    def __contains__(self, path: object) -> bool:
        if path in self.single:
            return True
        if type(path) is tuple and path:
            if path[0] not in self._heads and ... not in self._heads:
                return False
            for size in self._sizes:
                for column in self._by_prefix.get(path[:size], ()):
                    if column.matches(path):
                        return path not in self._gone
        return False

    def has_column(self, column: ColumnPaths) -> bool | None:
        """Whether it has all paths of a column (True) or none (False), where that is seen at once."""
        before = column.before
        if before and before[0] not in self._heads and not self.single and ... not in self._heads:
            return False
        if column in self._by_prefix.get(before, ()):
            return None if self._gone else True
        size = len(before)
        near = any(other[:size] == before[: len(other)] for other in self._by_prefix)
        return None if near or any(column.matches(p) for p in self.single if p[:size] == before) else False

    def has_columns(self, columns: Iterable[ColumnPaths]) -> bool | None:
        """The same of several columns."""
        found = {self.has_column(column) for column in columns}
        return found.pop() if len(found) == 1 else None

    def __iter__(self) -> Iterator[Path]:
        yield from self.single
        for column in self.columns:
            for path in column:
                if path not in self._gone:
                    yield path

    def __len__(self) -> int:
        return len(self.single) + self._size - len(self._gone)

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)

    def without(self, paths: Mapping[Path, Any]) -> PathSet:
        """The others."""
        single = {path for path in self.single if path not in paths}
        gone = [path for path in paths if path not in self.single and path in self]
        return PathSet(single, self.columns, self._gone.union(gone))

    def __reduce__(self) -> Any:
        return PathSet, (self.single, self.columns, self._gone)

    def __repr__(self) -> str:
        return f"<{len(self)} paths>"

    def crosses(self, called: Iterable[Path]) -> bool:
        """Whether a column may share an address with what else there is, or one be the other's namespace.

        Columns of one loop are known not to, and differ in what follows a common prefix.
        """
        prefixes = self._by_prefix
        for paths in (self.single, called):
            for path in paths:
                if any(path[:size] in prefixes for size in self._sizes if size <= len(path)):
                    return True
        for before, columns in prefixes.items():
            if len(columns) > 1 and not all(column.after for column in columns):
                return True
            for size in range(1, len(before) + 1):
                if before[:size] in self.single or (size < len(before) and before[:size] in prefixes):
                    return True
        return False


def path_set(paths: Iterable[Path], columns: list[ColumnPaths]) -> Set[Path]:
    """The set of some paths, and of those of columns, which are others."""
    by_head: dict[Any, list[Path]] = {}
    for path in paths:
        by_head.setdefault(path[0], []).append(path)
    single: list[Path] = []
    columns = [*columns]
    for group in by_head.values():
        column = column_of(group)
        if column is None:
            single += group
        else:
            columns.append(column)
    return PathSet(single, columns) if columns else frozenset(single)


def check_paths(seen: set[Path] | PathSet, called: set[Path]) -> None:
    """Raise `AddressConflictError` if an address is both a choice and a namespace or call."""
    if type(seen) is not PathSet:
        check_namespaces(dict.fromkeys(seen), dict.fromkeys(called))
    elif seen.crosses(called):
        check_namespaces(dict.fromkeys(iter(seen)), dict.fromkeys(called))
    else:
        check_namespaces(dict.fromkeys(seen.single), dict.fromkeys(called))


def without(paths: Any, gone: Mapping[Path, Any]) -> Any:
    """A set of paths without some."""
    if type(paths) is PathSet:
        return paths.without(gone)
    return frozenset(path for path in paths if path not in gone)
