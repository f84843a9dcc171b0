"""The iterations that read one key of a container, and what is known of them.

They are a bucket of a `ReverseIndex`, which is the same in all versions of a trace between which none of them
comes or goes. Their entries of a column are gathered once, and so is what can be said of the scores of these
for any parameters: an edit of what they look up then costs the same for few and for many.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np

from gendsl.distributions.column_summaries import Summary, summary_of
from gendsl.runtime.column_steps import LARGE, column_total
from gendsl.runtime.columns import Column
from gendsl.runtime.reverse import Bucket
from gendsl.runtime.totals import Total

_PLAIN = frozenset((float, int))
_NUMBERS = _PLAIN | {np.float64}
_UNKNOWN: Any = object()
_NOTHING = (None, None)


class Gathered:
    """The entries of a column at the members of a bucket, as an array.

    The column itself is not kept alive: it may be that of a version which nobody has any more. `column` gives
    it, or None.
    """

    __slots__ = ("_last", "_most", "_one_before", "_summary", "array", "column")

    def __init__(self, column: Column, array: np.ndarray) -> None:
        self.column = ref(column)
        self._summary: Summary | None = _UNKNOWN
        self._most = LARGE * len(array)
        self.array = array
        self._last: tuple[Any, Total | None] = _NOTHING
        self._one_before: tuple[Any, Total | None] = _NOTHING

    def known(self, value: Any) -> Total | None:
        """What was kept for a value, if it was one of the last two: a trace's, and one proposed since."""
        last, one_before = self._last, self._one_before
        if last[0] == value and value:  # 0.0 is not -0.0
            return last[1]
        if one_before[0] == value and value:
            self._last, self._one_before = one_before, last
            return one_before[1]
        return None

    def keep(self, value: Any, total: Total) -> None:
        """Keep the total of the scores for a value that decides on all parameters."""
        self._one_before = self._last
        self._last = value, total

    def total(self, family: Any, parameters: tuple[Any, ...]) -> Total:
        """The total of their scores as choices of a family.

        Raises:
            Exception: of any kind, where array code can't vouch for it.
        """
        summary = self._summary
        if summary is _UNKNOWN:
            summary = self._summary = summary_of(family, self.array)
        if summary is not None:
            if not _PLAIN.issuperset(map(type, parameters)):
                if not _NUMBERS.issuperset(map(type, parameters)):
                    return column_total(family, self.array, parameters)
                parameters = (*map(float, parameters),)
            total = summary(*parameters)
            if -self._most < total < self._most:
                return total, 0.0, 0
        return column_total(family, self.array, parameters)


def gathered(bucket: Bucket, number: int, column: Column) -> Gathered:
    """The entries of a column at the members of a bucket; `number` is the column's."""
    kept = bucket.kept
    if kept is None:
        kept = bucket.kept = {}
    known: Gathered | None = kept.get(number)
    if known is None or known.column() is not column:
        known = kept[number] = Gathered(column, column.take(bucket.array()))
    return known
