"""Whether a value lies in a support, as plain Python functions over numbers, which the compiler reads.

Supports of numbers have theirs in their classes; here are those whose classes are written with NumPy. Where a
value has not the shape of the support they raise: the class then says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import Any

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


CONTAINS: dict[type, Callable[[Any, Any], bool]] = {
    supports.Repeated: _repeated_contains,
    supports.RealArray: _real_array_contains,
    supports.Simplex: _simplex_contains,
    supports.Ordered: _ordered_contains,
    supports.Counts: _counts_contains,
    supports.Covariance: _covariance_contains,
    supports.Correlation: _correlation_contains,
}
"""Whether a value of the shape of a support lies in it, for those whose classes are written with NumPy."""
