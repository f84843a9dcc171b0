"""Supports as plain Python functions over numbers, which the compiler reads: whether a value lies in one, and
the charts of vectors.

Supports of numbers have theirs in their classes; here are those whose classes are written with NumPy. Where a
value has not the shape of the support they raise: the class then says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from gendsl import supports

TOLERANCE = 1e-8


def factor_of(matrix: Any) -> Any:
    """The lower triangular factor of a symmetric positive definite matrix; an empty matrix for any other."""
    n = len(matrix)
    assert matrix.ndim == 2 and matrix.shape[1] == n and n > 0
    largest = 0.0
    for i in range(n):
        for j in range(n):
            if not -inf < matrix[i, j] < inf:
                return np.zeros((0, 0))
            largest = max(largest, abs(matrix[i, j]))
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            if not abs(matrix[i, j] - matrix[j, i]) <= TOLERANCE * largest:
                return np.zeros((0, 0))
            left = matrix[i, j]
            for k in range(j):
                left -= lower[i, k] * lower[j, k]
            if i == j:
                if not left > 0.0:
                    return np.zeros((0, 0))
                lower[i, i] = sqrt(left)
            else:
                lower[i, j] = left / lower[j, j]
    return lower


def _repeated_contains(self: Any, value: Any) -> bool:
    assert len(value) == self.n
    return all(self.component.contains(one) for one in value)


def _real_array_contains(self: Any, value: Any) -> bool:
    lengths = self.shape if isinstance(self.shape, tuple) else (self.shape,)
    assert value.shape == lengths
    return bool(np.all(np.isfinite(value)))


def _simplex_contains(self: Any, value: Any) -> bool:
    assert len(value) == self.k
    total = 0.0
    for weight in value:
        if not weight >= 0.0:
            return False
        total += weight
    return abs(total - 1.0) <= TOLERANCE


def _ordered_contains(self: Any, value: Any) -> bool:
    assert len(value) == self.k
    for i in range(len(value)):
        if not self.component.contains(value[i]):
            return False
        if i > 0 and not value[i] >= value[i - 1]:
            return False
    return True


def _counts_contains(self: Any, value: Any) -> bool:
    assert len(value) == self.k
    total = 0
    for count in value:
        if count < 0:
            return False
        total += count
    return bool(total == self.n)


def _covariance_contains(self: Any, value: Any) -> bool:
    assert len(value) == self.d
    return len(factor_of(value)) > 0


def _correlation_contains(self: Any, value: Any) -> bool:
    assert len(value) == self.d
    for i in range(len(value)):
        if not abs(value[i, i] - 1.0) <= TOLERANCE:
            return False
    return len(factor_of(value)) > 0


def _finite_set_contains(self: Any, value: Any) -> bool:
    for element in self.elements:
        assert element == element
        if value == element:
            return True
    return False


CONTAINS: dict[type, Callable[[Any, Any], bool]] = {
    supports.Repeated: _repeated_contains,
    supports.FiniteSet: _finite_set_contains,
    supports.RealArray: _real_array_contains,
    supports.Simplex: _simplex_contains,
    supports.Ordered: _ordered_contains,
    supports.Counts: _counts_contains,
    supports.Covariance: _covariance_contains,
    supports.Correlation: _correlation_contains,
}
"""Whether a value of the shape of a support lies in it, for those whose classes are written with NumPy."""


# --- charts -------------------------------------------------------------------------------------------


def _simplex_slope(u: Any) -> float:
    n = len(u)
    left, slope = 0.0, 0.0
    for i in range(n):
        v = u[i] - np.log(float(n - i))
        rest = -np.logaddexp(0.0, v)
        slope += rest - np.logaddexp(0.0, -v) + left
        left += rest
    return slope


def _simplex_to_line(self: Any, weights: Any) -> Any:
    n = len(weights) - 1
    u = np.zeros(n)
    left = 0.0
    for i in range(n - 1, -1, -1):
        left += weights[i + 1]
        u[i] = np.log(weights[i]) - np.log(left) + np.log(float(n - i))
    return u, _simplex_slope(u)


def _simplex_from_line(self: Any, u: Any) -> Any:
    n = len(u)
    weights = np.zeros(n + 1)
    left = 0.0
    for i in range(n):
        v = u[i] - np.log(float(n - i))
        weights[i] = np.exp(left - np.logaddexp(0.0, -v))
        left -= np.logaddexp(0.0, v)
    weights[n] = np.exp(left)
    return weights, _simplex_slope(u)


def _ordered_to_line(self: Any, values: Any) -> Any:
    n = len(values)
    u = np.zeros(n)
    before, slope = 0.0, 0.0
    for i in range(n):
        v = self.component.to_line(values[i])
        u[i] = v if i == 0 else np.log(v - before)
        slope += self.component.log_slope(v) + (0.0 if i == 0 else u[i])
        before = v
    return u, slope


def _ordered_from_line(self: Any, u: Any) -> Any:
    n = len(u)
    values = np.zeros(n)
    v, slope = 0.0, 0.0
    for i in range(n):
        v = u[i] if i == 0 else v + np.exp(u[i])
        values[i] = self.component.from_line(v)
        slope += self.component.log_slope(v) + (0.0 if i == 0 else u[i])
    return values, slope


class Chart(NamedTuple):
    """The chart of a support of vectors.

    Attributes:
        to_line: from a support and a value to the coordinates, and the log slope of the chart there.
        from_line: from a support and coordinates to the value, and that log slope.
        fewer: how many coordinates there are less than entries.
    """

    to_line: Callable[[Any, Any], Any]
    from_line: Callable[[Any, Any], Any]
    fewer: int


CHARTS: dict[type, Chart] = {
    supports.Simplex: Chart(_simplex_to_line, _simplex_from_line, 1),
    supports.Ordered: Chart(_ordered_to_line, _ordered_from_line, 0),
}
"""The charts of vectors whose entries have none of their own."""
