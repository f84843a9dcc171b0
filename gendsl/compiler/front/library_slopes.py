"""What a step does with derivatives, in plain Python; see `front`.

The derivatives of a number are a list of pairs: a coordinate that was read, and the derivative in it. The
coordinates rise, and those that are missing have derivatives of zero. What stays as it is has no coordinate,
but a negative number.
"""

from __future__ import annotations

import math
from typing import Any


def ordered(pairs: Any) -> None:
    """Put few pairs in the order of their coordinates, and add up those of the same."""
    kept = 1
    for k in range(1, len(pairs)):
        coordinate, slope = pairs[k]
        i = kept
        while i > 0 and pairs[i - 1][0] > coordinate:
            i -= 1
        if i > 0 and pairs[i - 1][0] == coordinate:
            pairs[i - 1] = (coordinate, pairs[i - 1][1] + slope)
        else:
            for j in range(kept, i, -1):
                pairs[j] = pairs[j - 1]
            pairs[i] = (coordinate, slope)
            kept += 1
    del pairs[kept:]


def add(pairs: Any, a: float, x: Any) -> None:
    """Add a dx to the derivatives of a number."""
    if a != 0.0:
        i, j = len(pairs) - 1, len(x) - 1
        at = i + j + 1
        for coordinate, slope in x:
            pairs.append((coordinate, a * slope))
        while j >= 0:  # from behind, as there is room
            coordinate, slope = x[j]
            slope *= a
            if i >= 0 and pairs[i][0] > coordinate:
                pairs[at] = pairs[i]
                i -= 1
            else:
                if i >= 0 and pairs[i][0] == coordinate:
                    slope += pairs[i][1]
                    i -= 1
                pairs[at] = (coordinate, slope)
                j -= 1
            at -= 1
        if at > i:  # as many coordinates are in both
            for k in range(at + 1, len(pairs)):
                pairs[k - at + i] = pairs[k]
            del pairs[len(pairs) - at + i :]


def log_abs_det(columns: Any, numbers: Any) -> float:
    """log |det J|.

    Where a row has but one entry, that entry times the determinant without its row and column is the
    determinant, and so for columns. What is left is eliminated, with the largest entry of a column as pivot.

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
            assert abs(slope) < math.inf  # a derivative that is no number
            if coordinate >= 0 and numbers[coordinate] >= 0 and slope != 0.0:
                rows[count] = numbers[coordinate]
                values[count] = slope
                count += 1
        starts[j + 1] = count
    row_left, column_left, total, left = [True] * n, [True] * n, 0.0, n
    for turn in range(2):
        if left > 0:
            if turn == 1:  # columns with one entry are rows of the transposed matrix; rows are none the fewer
                starts, rows, values = _transposed(starts, rows, values)
                row_left, column_left = column_left, row_left
            more, left = _taken_out(starts, rows, values, row_left, column_left)
            total += more
    if left > 0:
        total += _eliminated(starts, rows, values, row_left, column_left, left)
    return total


def _taken_out(starts: Any, rows: Any, values: Any, row_left: Any, column_left: Any) -> tuple[float, int]:
    """Take out rows with one entry, and their columns, one after another: log |det| of these, and how many
    are left.
    """
    n, left = len(row_left), 0
    entries, at, column = [0] * n, [0] * n, [0] * n  # with one entry the sums are that and its column
    for j in range(n):
        if column_left[j]:
            for k in range(starts[j], starts[j + 1]):
                row = rows[k]
                entries[row] += 1
                at[row] += k
                column[row] += j
    alone = []
    for row in range(n):
        if row_left[row]:
            left += 1
            assert entries[row] > 0  # a determinant of zero
            if entries[row] == 1:
                alone.append(row)
    total, product = 0.0, 1.0
    while len(alone) > 0:
        row = alone.pop()
        assert entries[row] == 1  # a determinant of zero
        j, slope = column[row], abs(values[at[row]])
        row_left[row] = column_left[j] = False
        left -= 1
        if 1e-100 < slope < 1e100:
            product *= slope
            slope = 1.0
        if slope != 1.0 or not 1e-100 < product < 1e100:
            total += math.log(slope) + math.log(product)
            product = 1.0
        for k in range(starts[j], starts[j + 1]):
            row = rows[k]
            if row_left[row]:
                entries[row] -= 1
                at[row] -= k
                column[row] -= j
                if entries[row] == 1:
                    alone.append(row)
    return total + math.log(product), left


def _transposed(starts: Any, rows: Any, values: Any) -> tuple[Any, Any, Any]:
    """The matrix by rows."""
    n, count = len(starts) - 1, starts[-1]
    begins, places, numbers = [0] * (n + 1), [0] * count, [0.0] * count
    for k in range(count):
        begins[rows[k] + 1] += 1
    for i in range(n):
        begins[i + 1] += begins[i]
    filled = [0] * n
    for j in range(n):
        for k in range(starts[j], starts[j + 1]):
            row = rows[k]
            place = begins[row] + filled[row]
            places[place] = j
            numbers[place] = values[k]
            filled[row] += 1
    return begins, places, numbers


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


def finite(pairs: Any) -> bool:
    """Whether all derivatives are numbers."""
    return all(abs(slope) < math.inf for _, slope in pairs)
