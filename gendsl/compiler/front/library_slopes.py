"""What a step does with derivatives, in plain Python; see `library`.

The derivatives of a number are a list of pairs: a coordinate that was read, and the derivative in it. The
coordinates rise, and those that are missing have derivatives of zero.
"""

from __future__ import annotations

import math
from typing import Any


def combined(a: float, x: Any, b: float, y: Any) -> Any:
    """The derivatives of a number whose differential is a dx + b dy."""
    result = []
    m, n = 0, 0
    if a != 0.0:
        m = len(x)
    if b != 0.0:
        n = len(y)
    i, j = 0, 0
    while i < m and j < n:
        first, slope = x[i]
        second, other = y[j]
        if first < second:
            result.append((first, a * slope))
            i += 1
        elif second < first:
            result.append((second, b * other))
            j += 1
        else:
            result.append((first, a * slope + b * other))
            i += 1
            j += 1
    while i < m:
        first, slope = x[i]
        result.append((first, a * slope))
        i += 1
    while j < n:
        second, other = y[j]
        result.append((second, b * other))
        j += 1
    return result


def log_abs_det(columns: Any, numbers: Any) -> float:
    """log |det J|.

    Where a column has but one entry, that entry times the determinant without its row and column is the
    determinant, and so for rows. What is left is eliminated, with the largest entry of a column as pivot.

    Args:
        columns: the derivatives of each coordinate that is written.
        numbers: for each coordinate that was read its row of the Jacobian, or -1.
    """
    n = len(columns)
    starts, most = [0] * (n + 1), 0
    for j in range(n):
        most += len(columns[j])
    rows, values, count = [0] * most, [0.0] * most, 0
    for j in range(n):
        for coordinate, slope in columns[j]:
            assert coordinate >= 0 and abs(slope) < math.inf  # a derivative that is no number
            row = numbers[coordinate]
            if row >= 0 and slope != 0.0:
                rows[count] = row
                values[count] = slope
                count += 1
        starts[j + 1] = count
    row_left, column_left = [True] * n, [True] * n
    total, left, before, turn = 0.0, n, n + 1, 0
    while 0 < left < before:
        before = left
        for at in range(n):
            j = n - 1 - at if turn % 2 else at  # a triangle is gone through from its corner
            if column_left[j]:
                found, entries = -1, 0
                for k in range(starts[j], starts[j + 1]):
                    if row_left[rows[k]]:
                        found, entries = k, entries + 1
                assert entries > 0  # a determinant of zero
                if entries == 1:
                    total += math.log(abs(values[found]))
                    row_left[rows[found]] = column_left[j] = False
                    left -= 1
        turn += 1
        if left > 0 and (left == before or turn % 2 == 0):
            total, left = _rows_alone(starts, rows, values, row_left, column_left, total, left)
    if left > 0:
        total += _eliminated(starts, rows, values, row_left, column_left, left)
    return total


def _rows_alone(
    starts: Any, rows: Any, values: Any, row_left: Any, column_left: Any, total: float, left: int
) -> tuple[float, int]:
    """Take out rows with one entry: `total` and `left` without them."""
    n = len(row_left)
    entries, found, column = [0] * n, [0] * n, [0] * n
    for j in range(n):
        if column_left[j]:
            for k in range(starts[j], starts[j + 1]):
                row = rows[k]
                entries[row] += 1
                found[row], column[row] = k, j
    for row in range(n):
        if row_left[row]:
            assert entries[row] > 0  # a determinant of zero
            if entries[row] == 1 and column_left[column[row]]:
                total += math.log(abs(values[found[row]]))
                row_left[row] = column_left[column[row]] = False
                left -= 1
    return total, left


def _eliminated(starts: Any, rows: Any, values: Any, row_left: Any, column_left: Any, left: int) -> float:
    """log |det| of the rows and columns that are left."""
    n, total = len(row_left), 0.0
    place, many = [0] * n, 0
    for i in range(n):
        if row_left[i]:
            place[i] = many
            many += 1
    matrix, many = [0.0] * (left * left), 0  # by columns
    for j in range(n):
        if column_left[j]:
            for k in range(starts[j], starts[j + 1]):
                if row_left[rows[k]]:
                    matrix[many * left + place[rows[k]]] = values[k]
            many += 1
    for k in range(left):
        best, pivot = 0.0, k
        for j in range(k, left):
            if abs(matrix[j * left + k]) > best:
                best, pivot = abs(matrix[j * left + k]), j
        assert best > 0.0  # a determinant of zero
        total += math.log(best)
        if pivot != k:
            for i in range(k, left):
                held = matrix[k * left + i]
                matrix[k * left + i] = matrix[pivot * left + i]
                matrix[pivot * left + i] = held
        for j in range(k + 1, left):
            factor = matrix[j * left + k] / matrix[k * left + k]
            if factor != 0.0:
                for i in range(k + 1, left):
                    matrix[j * left + i] -= factor * matrix[k * left + i]
    return total


def sizes(columns: Any, numbers: Any, coordinates: Any) -> Any:
    """For each coordinate x that is written sum |dx / dz| |z|, over the rows z of the Jacobian.

    So much can cancel between them.

    Args:
        coordinates: the values of the coordinates that were read.
    """
    result = []
    for column in columns:
        total = 0.0
        for coordinate, slope in column:
            if coordinate >= 0 and numbers[coordinate] >= 0:
                total += abs(slope * coordinates[coordinate])
        result.append(total)
    return result
