"""Choices whose last indices are one behind another, looked at all at once, in Python text.

A row of a column is what it has at some first indices: `state.y[i, 0]`, `state.y[i, 1]`, ... It is kept as an
array beside the choices themselves, once somebody has looked at it whole. That all choices of a row are in a
trace, or were visited, is one stamp for all of them; later stamps of single choices take its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gendsl.compiler.python.numpy_runtime import SMALL, TYPES, narrow

First = tuple[int, ...]
"""The first indices of the choices of a row."""
NEVER = 0, 0, 0


def _split(index: Any) -> tuple[First, Any]:
    """The first indices of a choice, and the last."""
    return (index[:-1], index[-1]) if isinstance(index, tuple) and index else ((), index)


def joined(first: First, last: int) -> Any:
    """The indices of a choice, as Python text writes them."""
    return (*first, last) if first else last


class Stamps(dict[Any, int]):
    """For each choice a stamp, 0 where there is none; and for parts of rows one stamp for all choices.

    Attributes:
        rows: for first indices the place of the first choice, that behind the last one, and their stamp.
    """

    def __init__(self, stamps: Mapping[Any, int] | None = None) -> None:
        super().__init__(stamps or {})
        self.rows: dict[First, tuple[int, int, int]] = {}
        if isinstance(stamps, Stamps):
            self.rows |= stamps.rows

    def __missing__(self, index: Any) -> int:
        if self.rows:
            first, last = _split(index)
            start, stop, stamp = self.rows.get(first, NEVER)
            if start != stop and start <= last < stop:
                return stamp
        return 0

    def _singles(self, first: First, start: int, stop: int) -> list[Any]:
        """The choices of a part of a row that have stamps of their own."""
        if len(self) > 2 * (stop - start):
            return [index for at in range(start, stop) if (index := joined(first, at)) in self]
        found = []
        for index in self:
            at, last = _split(index)
            if at == first and last != () and start <= last < stop:
                found.append(index)
        return found

    def stamp_row(self, first: First, start: int, stop: int, stamp: int) -> None:
        """Give all choices of a part of a row the same stamp."""
        before, end, old = self.rows.get(first, NEVER)
        for place in (*range(before, min(start, end)), *range(max(stop, before), end)):
            self.setdefault(joined(first, place), old)  # the others keep theirs
        if self:
            for index in self._singles(first, start, stop):
                del self[index]
        self.rows[first] = start, stop, stamp

    def all_have(self, first: First, start: int, stop: int, stamp: int) -> bool:
        """Whether all choices of a part of a row have a stamp."""
        before, end, known = self.rows.get(first, NEVER)
        if known == stamp and before <= start and stop <= end:
            return not self or all(self[index] == stamp for index in self._singles(first, start, stop))
        if not all(self[joined(first, place)] == stamp for place in range(start, stop)):
            return False
        self.stamp_row(first, start, stop, stamp)  # so that it is known at once the next time
        return True

    def any_has(self, first: First, start: int, stop: int, stamp: int) -> bool:
        """Whether a choice of a part of a row has a stamp."""
        before, end, known = self.rows.get(first, NEVER)
        if known == stamp and before < stop and start < end:
            return any(self[joined(first, place)] == stamp for place in range(start, stop))
        return bool(self) and any(self[index] == stamp for index in self._singles(first, start, stop))


class Values(dict[Any, Any]):
    """The values of choices, with the arrays of rows that were looked at whole.

    Attributes:
        kind: what they are, if they are numbers.
        rows: the arrays, by the first indices.
    """

    def __init__(self, kind: str, values: Mapping[Any, Any] | None = None) -> None:
        super().__init__(values or {})
        self.kind, self.rows = kind, dict[First, np.ndarray]()

    def __setitem__(self, index: Any, value: Any) -> None:
        dict.__setitem__(self, index, value)
        if self.rows:
            first, last = _split(index)
            row = self.rows.get(first)
            if row is not None and 0 <= last < len(row):
                if self.kind == "i" and not -SMALL < value < SMALL:
                    del self.rows[first]
                else:
                    row[last] = value

    def __delitem__(self, index: Any) -> None:
        dict.__delitem__(self, index)
        self.rows.pop(_split(index)[0], None)

    def row(self, first: First, start: int, stop: int) -> np.ndarray:
        """The values of a part of a row, all of which are there; fails where integers are large."""
        row = self.rows.get(first)
        if row is None or len(row) < stop:
            row = np.zeros(2 * stop, TYPES[self.kind])  # with room for more
            made = [self.get(joined(first, place), 0) for place in range(len(row))]
            row[:] = made
            self.rows[first] = narrow(row) if self.kind == "i" else row
        return row[start:stop]
