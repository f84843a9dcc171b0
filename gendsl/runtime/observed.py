"""The addresses of observations of a trace that is given more and more of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any

from gendsl.address import Path


class GrowingPaths(Set[Path]):
    """A set of paths whose extension is a new set that shares the old one's parts.

    The parts are disjoint, and each is less than half as large as the one before it, but for the first: so
    there are O(log n) of them, and n extensions by one path take O(n log n).
    """

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Set[Path], ...]) -> None:
        self.parts = parts

    @classmethod
    def _from_iterable(cls, paths: Iterable[Path]) -> frozenset[Path]:  # type: ignore[override]
        return frozenset(paths)

    __hash__ = Set._hash

    def __contains__(self, path: object) -> bool:
        return any(path in part for part in self.parts)

    def __iter__(self) -> Iterator[Path]:
        for part in self.parts:
            yield from part

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __reduce__(self) -> Any:
        return GrowingPaths, (self.parts,)

    def __repr__(self) -> str:
        return f"<{len(self)} paths>"


def extended(paths: Set[Path], more: Iterable[Path]) -> Set[Path]:
    """The union of two sets of paths, in time that depends on the second."""
    last = frozenset(path for path in more if path not in paths)
    if not last:
        return paths
    parts = list(paths.parts if isinstance(paths, GrowingPaths) else (paths,))
    while len(parts) > 1 and 2 * len(last) >= len(parts[-1]):
        last |= parts.pop()
    return GrowingPaths((*parts, last))
