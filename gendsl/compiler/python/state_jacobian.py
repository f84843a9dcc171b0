"""The Jacobian of a move: its rows and columns, and how far rounding goes; see `state`."""

from __future__ import annotations

import math
from typing import Any

from gendsl.compiler.hir.coordinates import DISCRETE, UNKNOWN
from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.python.choice_values import ROUNDING, numbers_of
from gendsl.compiler.python.state_columns import NEVER_READ, NO_COORDINATE, Column, Phases, dimension


class JacobianState(Phases):
    """What the determinant of a move is taken of."""

    def rows(self) -> list[int]:
        """For each coordinate that was read its row of the Jacobian, or -1.

        There are rows for the coordinates of the continuous choices that do not stay as they are: the
        auxiliary ones, and those of the model that were written or are gone. All that does not stay must have
        been read, or else nothing says which values to go back to; but for discrete choices where a trace was
        asked.
        """
        overwritten = new = 0
        columns = 0
        for one in self.writes:
            column, index = one.column, one.index
            if not self.in_proposed(column, index):
                raise TextFailure("a choice is written that the program does not make")
            if column.coordinates == UNKNOWN:
                raise TextFailure("a choice whose coordinates are not known")
            if column.is_model and column.counted:
                if column.current[index] == self.current[0]:
                    overwritten += 1
                else:
                    new += 1
            if one.source is None:
                columns += dimension(column, one.value)
        gone = self.counts[0] + new - self.visits[0]
        told = [0, 0, 0]

        def tell(column: Column, index: Any) -> bool:
            is_written = column.written[index] == self.now
            is_gone = column.counted and not self.in_proposed(column, index)
            changed = not column.is_model or is_written or is_gone
            told[0 if not column.is_model else 1 if is_written else 2] += changed and column.counted
            return changed

        for column in self.columns if self.asked else ():
            if column.coordinates == DISCRETE and not column.is_node:
                for index in filter(column.has, list(column.values)):
                    if column.read_at.get(index, NEVER_READ)[0] != self.now and index not in column.observed:
                        tell(column, index)
        numbers, count = [NO_COORDINATE] * len(self.followed), 0
        for column, index in self.reads:
            changed = tell(column, index)
            _, copied, first = column.read_at[index]
            if column.coordinates == DISCRETE:
                continue
            if not changed:
                if copied:
                    raise TextFailure("a continuous choice that is copied, and stays")
                continue
            if column.coordinates == UNKNOWN:
                raise TextFailure("a choice whose coordinates are not known")
            if not copied:
                for entry in range(dimension(column, column.values[index])):
                    numbers[first + entry] = count
                    count += 1
        if told != [self.counts[1], overwritten, gone]:
            raise TextFailure("a choice that does not stay is neither read nor copied")
        if count != columns:
            raise TextFailure("the numbers of coordinates that go in and come out differ")
        return numbers

    def columns_written(self) -> list[list[tuple[int, float]]]:
        """The columns of the Jacobian: the derivatives of each coordinate that was written."""
        found = []
        for one in self.writes:
            if one.source is None:
                found += one.slopes[: dimension(one.column, one.value)]
        return found

    def coordinates(self) -> list[float]:
        """The values of the coordinates that were read."""
        return [float(numbers_of(column.values[index])[entry]) for column, index, entry in self.followed]

    def note_rounding(self, sizes: list[float]) -> None:
        """Note how far rounding may take each value x that was written: 5e-13 sum |dx / dz| |z|.

        Of a vector it is the largest of its coordinates.
        """
        place = 0
        for one in self.writes:
            if one.source is None:
                end = place + dimension(one.column, one.value)
                largest = max(sizes[place:end], default=0.0)
                one.rounding = ROUNDING * largest if largest < math.inf else 0.0
                place = end
