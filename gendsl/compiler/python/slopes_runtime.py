"""What a Python text does with derivatives: the functions of `library_slopes` as quick Python.

Those are loops over numbers, as machine code needs them; Python takes less time for dicts and whole lists.
The same numbers are added and multiplied in the same order, so that results have the same bits.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from gendsl.compiler.front import library_slopes
from gendsl.compiler.hir.operations import fail

Pairs = list[tuple[int, float]]


def ordered(state: Any, pairs: Pairs) -> None:
    """Put pairs in the order of their coordinates, and add up those of the same."""
    found: dict[int, float] = {}
    for coordinate, slope in pairs:
        found[coordinate] = found[coordinate] + slope if coordinate in found else slope
    pairs[:] = sorted(found.items())


def add(state: Any, pairs: Pairs, a: float, x: Pairs) -> None:
    """Add a dx to the derivatives of a number."""
    if a == 0.0 or not x:
        return
    if not pairs or pairs[-1][0] < x[0][0]:
        pairs += [(coordinate, a * slope) for coordinate, slope in x]
        return
    found = dict(pairs)
    for coordinate, slope in x:
        slope *= a
        found[coordinate] = slope + found[coordinate] if coordinate in found else slope
    pairs[:] = sorted(found.items())


def log_abs_det(state: Any, columns: list[Pairs], numbers: list[int]) -> float:
    """log |det J|; see `library_slopes.log_abs_det`."""
    n, most, sparse = len(columns), math.inf, []
    for column in columns:
        kept = []
        for coordinate, slope in column:
            if not abs(slope) < most:
                fail("an assertion")
            if coordinate >= 0 and slope != 0.0 and (row := numbers[coordinate]) >= 0:
                kept.append((row, slope))
        sparse.append(kept)
    row_left, column_left = [True] * n, [True] * n
    total, left = _taken_out(sparse, row_left, column_left)
    if left:
        turned: list[Pairs] = [[] for _ in range(n)]
        for j, kept in enumerate(sparse):
            for row, slope in kept:
                turned[row].append((j, slope))
        more, left = _taken_out(turned, column_left, row_left)
        total += more
        if left:
            total += _eliminated(turned, column_left, row_left)
    return total


def _taken_out(columns: list[Pairs], row_left: list[bool], column_left: list[bool]) -> tuple[float, int]:
    """Take out rows with one entry, and their columns; see `library_slopes`."""
    n = len(row_left)
    entries, column_sums = [0] * n, [0] * n
    for j, entered in enumerate(columns):
        if column_left[j]:
            for row, _ in entered:
                entries[row] += 1
                column_sums[row] += j
    alone, left = [], 0
    for row, is_left in enumerate(row_left):
        if is_left:
            left += 1
            if entries[row] < 2:
                if not entries[row]:
                    fail("an assertion")
                alone.append(row)
    total, product = 0.0, 1.0
    while alone:
        row = alone.pop()
        if entries[row] != 1:
            fail("an assertion")
        j = column_sums[row]
        row_left[row] = column_left[j] = False
        left -= 1
        slope = 0.0
        for other, value in columns[j]:
            if other == row:
                slope = abs(value)
            elif row_left[other]:
                entries[other] -= 1
                column_sums[other] -= j
                if entries[other] == 1:
                    alone.append(other)
        if 1e-100 < slope < 1e100:
            product *= slope
            slope = 1.0
        if slope != 1.0 or not 1e-100 < product < 1e100:
            total += math.log(slope) + math.log(product)
            product = 1.0
    return total + math.log(product), left


def _eliminated(turned: list[Pairs], column_left: list[bool], row_left: list[bool]) -> float:
    """log |det| of the rows and columns that are left, of a matrix by rows."""
    place: dict[int, int] = {}
    for j, is_left in enumerate(column_left):
        if is_left:
            place[j] = len(place)
    rows = []
    for row, is_left in enumerate(row_left):
        if is_left:
            made = [0.0] * len(place)
            for j, slope in turned[row]:
                if j in place:
                    made[place[j]] = slope
            rows.append(made)
    total = 0.0
    for k in range(len(rows)):
        pivot, best = k, 0.0
        for at, other in enumerate(rows[k:], k):
            if abs(other[k]) > best:
                pivot, best = at, abs(other[k])
        if not best > 0.0:
            fail("an assertion")
        total += math.log(best)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        first = rows[k]
        for other in rows[k + 1 :]:
            factor = other[k] / first[k]
            if factor != 0.0:
                for i in range(k + 1, len(first)):
                    other[i] -= factor * first[i]
    return total


def sizes(state: Any, columns: list[Pairs], numbers: list[int], coordinates: list[float]) -> list[float]:
    """How far rounding may take what is written; see `library_slopes.sizes`."""
    result: list[float] = library_slopes.sizes(columns, numbers, coordinates)
    return result


def finite(state: Any, pairs: Pairs) -> bool:
    """Whether all derivatives are numbers."""
    return all(abs(slope) < math.inf for _, slope in pairs)


RUNS = SimpleNamespace(ordered=ordered, add=add, log_abs_det=log_abs_det, sizes=sizes, finite=finite)
"""The functions by the names by which texts call them."""
