"""Functions of NumPy and SciPy that compute with arrays, as plain Python; see `front`.

What a factorisation by LAPACK gives is the same here, and what it leaves of a matrix.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy

CLEARS = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)
"""Whether SciPy makes zeros of the triangle that a Cholesky factor does not fill."""


def _quantile_of(ordered: Any, q: float) -> float:
    n = len(ordered)
    assert n > 0 and 0.0 <= q <= 1.0
    at = q * (n - 1)
    low = min(math.floor(at), n - 1)
    high = min(low + 1, n - 1)
    part = at - low
    first, second = float(ordered[low]), float(ordered[high])
    if part >= 0.5:
        return second - (second - first) * (1.0 - part)
    return first + (second - first) * part


def quantile(a: Any, q: Any) -> Any:
    """Quantiles of the entries of a vector, with lines between these."""
    ordered = np.sort(a)
    if isinstance(q, (int, float)):
        return _quantile_of(ordered, q)
    result = np.zeros(len(q))
    for i in range(len(q)):
        result[i] = _quantile_of(ordered, q[i])
    return result


def percentile(a: Any, q: Any) -> Any:
    """The same in parts of a hundred."""
    return quantile(a, q / 100.0)


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product of two vectors or of two matrices."""
    if a.ndim == 1:
        assert b.ndim == 1
        vector = np.zeros(len(a) * len(b))
        for i in range(len(a)):
            for j in range(len(b)):
                vector[i * len(b) + j] = a[i] * b[j]
        return vector
    assert b.ndim == 2
    n, m = b.shape
    result = np.zeros((a.shape[0] * n, a.shape[1] * m))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(n):
                for h in range(m):
                    result[i * n + k, j * m + h] = a[i, j] * b[k, h]
    return result


def cross(a: Any, b: Any) -> Any:
    """The vector product in three dimensions."""
    assert len(a) == 3 and len(b) == 3
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def cov(m: Any, y: Any = None) -> Any:
    """The covariances of rows, or of two vectors; of one vector it has no axes, and is not read."""
    rows = m if y is None else np.stack([m, y])
    assert rows.ndim == 2
    n = rows.shape[1]
    assert n > 1
    centred = rows - np.mean(rows, axis=1, keepdims=True)
    return centred @ centred.T / (n - 1)


def corrcoef(x: Any, y: Any = None) -> Any:
    """The correlations of rows, or of two vectors."""
    c = cov(x, y)
    d = np.sqrt(np.diag(c))
    return np.clip(c / d[:, None] / d[None, :], -1.0, 1.0)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """The powers of the entries of a vector, as columns."""
    count = len(x) if N is None else N
    result = np.zeros((len(x), count))
    for i in range(len(x)):
        power = 1.0
        for j in range(count):
            result[i, j if increasing else count - 1 - j] = power
            power *= x[i]
    return result


def matrix_power(a: Any, n: int) -> Any:
    """A matrix, so many times multiplied by itself."""
    assert a.shape[0] == a.shape[1]
    base = np.linalg.inv(a) if n < 0 else a + 0.0
    result = np.eye(a.shape[0])
    left = abs(n)
    while left > 0:
        if left % 2 == 1:
            result = result @ base
        base = base @ base
        left //= 2
    return result


def _one_substituted(a: Any, b: Any, lower: bool, transposed: bool, is_unit: bool) -> Any:
    """The x with a x = b, where a triangle of a matrix counts."""
    n = len(b)
    x = b + 0.0
    forward = lower != transposed
    for step in range(n):
        i = step if forward else n - 1 - step
        total = x[i]
        for k in range(step):
            j = k if forward else n - 1 - k
            total -= (a[j, i] if transposed else a[i, j]) * x[j]
        if not is_unit:
            assert a[i, i] != 0.0
            total /= a[i, i]
        x[i] = total
    return x


def substituted(a: Any, b: Any, lower: bool, transposed: bool, is_unit: bool) -> Any:
    """The x with a x = b, or aᵀ x = b, where one triangle of a counts; its diagonal is 1 if `is_unit`."""
    assert a.shape[0] == a.shape[1] and len(b) == len(a)
    if b.ndim == 1:
        return _one_substituted(a, b, lower, transposed, is_unit)
    result = np.zeros((b.shape[0], b.shape[1]))
    for j in range(b.shape[1]):
        result[:, j] = _one_substituted(a, b[:, j], lower, transposed, is_unit)
    return result


# What `overwrite_a` and `overwrite_b` of SciPy's functions ask for changes no value.


def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """`scipy.linalg.solve_triangular`."""
    assert trans in (0, 1, 2, "N", "T", "C")
    if check_finite:
        assert np.all(np.isfinite(a)) and np.all(np.isfinite(b))
    return substituted(a, b, lower, trans not in (0, "N"), unit_diagonal)


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cholesky`, which computes with one triangle."""
    if check_finite:
        assert np.all(np.isfinite(a))
    if lower:
        return np.linalg.cholesky(a)
    return np.linalg.cholesky(a.T).T.copy()


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cho_factor`: the other triangle is zero or stays as it was, by SciPy's release."""
    factor = cholesky(a, lower, False, check_finite)
    if CLEARS:
        return factor, lower
    result = a.copy()
    for i in range(len(a)):
        for j in range(len(a)):
            if (j <= i) if lower else (i <= j):
                result[i, j] = factor[i, j]
    return result, lower


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cho_solve`."""
    c, lower = c_and_lower
    if check_finite:
        assert np.all(np.isfinite(c)) and np.all(np.isfinite(b))
    first = substituted(c, b, lower, not lower, False)
    return substituted(c, first, lower, lower, False)


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
) -> Any:
    """`scipy.linalg.solve`, of any matrix or of one that is positive definite."""
    if check_finite:
        assert np.all(np.isfinite(a)) and np.all(np.isfinite(b))
    if assume_a in ("pos", "positive definite"):
        return cho_solve(cho_factor(a, lower, False, False), b, False, False)
    assert assume_a in (None, "gen", "general")
    return np.linalg.solve(a, b)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.inv`."""
    if check_finite:
        assert np.all(np.isfinite(a))
    return np.linalg.inv(a)


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.det`."""
    if check_finite:
        assert np.all(np.isfinite(a))
    return np.linalg.det(a)


def toeplitz(c: Any) -> Any:
    """The symmetric matrix whose diagonals are constant."""
    n = len(c)
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            result[i, j] = c[abs(i - j)]
    return result


def softmax(x: Any, axis: Any = None) -> Any:
    """Exponentials, divided by their sums along an axis."""
    parts = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return parts / np.sum(parts, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of `softmax`."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))
