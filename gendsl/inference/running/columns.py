"""What is recorded of the draws of a chain: for each quantity its values, one after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from gendsl.inference.running.recording import Quantities

if TYPE_CHECKING:
    from gendsl.compiler.run.recorded_draws import Part


class Columns(Sequence[Quantities]):
    """The quantities of draws, each of which has the same ones. As a sequence it has a dict for each draw."""

    __slots__ = ("_count", "_parts")

    def __init__(self, draws: Iterable[Quantities] = ()) -> None:
        self._count = 0  # of draws of which all quantities are noted
        self._parts: dict[str, list[Part]] = {}
        for draw in draws:
            self.append(draw)

    @property
    def names(self) -> list[str]:
        """What the quantities are called."""
        return list(self._parts)

    def __len__(self) -> int:
        """The number of draws."""
        return self._count

    @overload
    def __getitem__(self, draw: int) -> Quantities: ...
    @overload
    def __getitem__(self, draw: slice) -> list[Quantities]: ...
    def __getitem__(self, draw: int | slice) -> Quantities | list[Quantities]:
        if isinstance(draw, slice):
            return self._of_draws(range(self._count)[draw])
        return self._of_draws([range(self._count)[draw]])[0]

    def __iter__(self) -> Iterator[Quantities]:
        """The draws, one after another."""
        return iter(self[:])

    def _of_draws(self, draws: Sequence[int]) -> list[Quantities]:
        """The quantities of some draws."""
        columns = {name: self._some(parts, draws) for name, parts in self._parts.items()}
        if not columns:
            return [{} for _ in draws]
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    @staticmethod
    def _some(parts: list[Part], draws: Sequence[int]) -> list[Any]:
        ends = list(accumulate(map(len, parts)))
        found = []
        for draw in draws:
            place = bisect_right(ends, draw)
            value = parts[place][draw - ends[place]]
            found.append(value.item() if isinstance(parts[place], np.ndarray) else value)
        return found

    def values(self, name: str) -> list[Any]:
        """A quantity in every draw."""
        return [value for part in self._parts[name] for value in _objects(part)][: self._count]

    def array(self, name: str) -> np.ndarray | None:
        """A quantity in every draw, if all of it came in arrays of one type; None if not."""
        parts = self._parts[name]
        types = {part.dtype if isinstance(part, np.ndarray) else None for part in parts}
        return None if len(types) > 1 or None in types else np.concatenate(parts)[: self._count]

    def part(self, draws: Sequence[int]) -> Columns:
        """Of some draws, given by their numbers."""
        return Columns(self._of_draws(draws))

    def append(self, draw: Quantities) -> None:
        """Add a draw."""
        for name, value in draw.items():
            parts = self._parts.setdefault(name, [])
            if not parts or isinstance(parts[-1], np.ndarray):
                parts.append([])
            parts[-1].append(value)  # type: ignore[union-attr]
        self._count += 1

    def extend(self, count: int, values: Mapping[str, Sequence[Part]]) -> None:
        """Add several draws, with the values of each quantity in turn."""
        for name, parts in values.items():
            self._parts.setdefault(name, []).extend(parts)
        self._count += count

    def cut(self) -> None:
        """Forget what was noted of draws that do not count: an interrupt can come between two quantities."""
        for name in self.names if self._count else ():
            self._parts[name] = [self.values(name)]
        if not self._count:
            self._parts.clear()


def _objects(part: Part) -> list[Any]:
    """The values of a part, as objects of Python."""
    return part.tolist() if isinstance(part, np.ndarray) else part
