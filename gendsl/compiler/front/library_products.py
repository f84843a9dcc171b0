"""NumPy's products and linear algebra, as plain Python; see `front`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gendsl.compiler.front import library_making


def matmul(a: Any, b: Any) -> Any:
    """`a @ b` of vectors and matrices."""
    if a.ndim == 1:
        if b.ndim == 1:
            assert len(a) == len(b)
            total = 0.0
            for i in range(len(a)):
                total += a[i] * b[i]
            return total
        return matmul(b.T, a)
    if b.ndim == 1:
        result = np.zeros(len(a))
        assert a.shape[1] == len(b)
        for i in range(len(a)):
            total = 0.0
            for j in range(len(b)):
                total += a[i, j] * b[j]
            result[i] = total
        return result
    assert a.shape[1] == b.shape[0]
    product = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                product[i, j] += x * b[k, j]
    return product


def cholesky(a: Any) -> Any:
    """The lower triangular L with L Lᵀ = a."""
    n = len(a)
    assert a.shape[1] == n
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = 0.0 + a[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i == j:
                if not total > 0.0:
                    raise np.linalg.LinAlgError
                lower[i, i] = math.sqrt(total)
            else:
                lower[i, j] = total / lower[j, j]
    return lower


def factored(a: Any) -> Any:
    """L and U in one matrix, the order of the rows, and its sign; the pivot is the largest of its column."""
    n = len(a)
    assert a.shape[1] == n
    lu = a + 0.0
    order = np.arange(n)
    sign = 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[pivot, k]):
                pivot = i
        if pivot != k:
            sign = -sign
            for j in range(n):
                kept = lu[k, j]
                lu[k, j] = lu[pivot, j]
                lu[pivot, j] = kept
            swapped = order[k]
            order[k] = order[pivot]
            order[pivot] = swapped
        if lu[k, k] != 0.0:
            for i in range(k + 1, n):
                factor = lu[i, k] / lu[k, k]
                lu[i, k] = factor
                for j in range(k + 1, n):
                    lu[i, j] -= factor * lu[k, j]
    return lu, order, sign


def solve(a: Any, b: Any) -> Any:
    """The x with a x = b."""
    lu, order, _ = factored(a)
    assert len(b) == len(lu)
    return substituted(lu, b, order)


def substituted(lu: Any, b: Any, order: Any) -> Any:
    """The x with a x = b, for what `factored` gives of a."""
    n = len(lu)
    if b.ndim == 2:
        columns = np.zeros((b.shape[0], b.shape[1]))
        for j in range(b.shape[1]):
            columns[:, j] = substituted(lu, b[:, j], order)
        return columns
    x = np.zeros(n)
    for i in range(n):
        total = 0.0 + b[order[i]]
        for j in range(i):
            total -= lu[i, j] * x[j]
        x[i] = total
    for step in range(n):
        i = n - 1 - step
        total = x[i]
        for j in range(i + 1, n):
            total -= lu[i, j] * x[j]
        assert lu[i, i] != 0.0
        x[i] = total / lu[i, i]
    return x


def inv(a: Any) -> Any:
    """The inverse of a matrix."""
    return solve(a, library_making.eye(len(a)))


def det(a: Any) -> float:
    """The determinant of a matrix."""
    lu, _, sign = factored(a)
    result: float = sign
    for i in range(len(lu)):
        result *= lu[i, i]
    return result


def slogdet(a: Any) -> Any:
    """The sign of the determinant, and the logarithm of its size."""
    lu, _, sign = factored(a)
    total = 0.0
    for i in range(len(lu)):
        if lu[i, i] == 0.0:
            return 0.0, -math.inf
        if lu[i, i] < 0.0:
            sign = -sign
        total += math.log(abs(lu[i, i]))
    return sign, total


def convolve(a: Any, v: Any) -> Any:
    """The convolution of two vectors, with all its entries."""
    assert len(a) > 0 and len(v) > 0
    result = np.zeros(len(a) + len(v) - 1)
    for i in range(len(a)):
        for j in range(len(v)):
            result[i + j] += a[i] * v[j]
    return result


def convolve_same(a: Any, v: Any) -> Any:
    """The middle of the convolution, as long as the longer of the vectors."""
    n, m = max(len(a), len(v)), min(len(a), len(v))
    start = (m - 1) // 2
    return convolve(a, v)[start : start + n]


def convolve_valid(a: Any, v: Any) -> Any:
    """The entries of the convolution for which the vectors lie on one another."""
    n, m = max(len(a), len(v)), min(len(a), len(v))
    return convolve(a, v)[m - 1 : n]


def polyval(p: Any, x: Any) -> Any:
    """The value of a polynomial whose highest coefficient comes first."""
    y = x * 0.0
    for i in range(len(p)):
        y = y * x + p[i]
    return y


def eigvalsh(a: Any) -> Any:
    """The eigenvalues of a symmetric matrix of which the lower triangle counts, by Jacobi's rotations."""
    n = len(a)
    assert a.shape[1] == n
    m = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            m[i, j] = m[j, i] = a[i, j]
            assert math.isfinite(a[i, j])
    for _ in range(60):
        rest, all_of_it = 0.0, 0.0
        for i in range(n):
            for j in range(n):
                all_of_it += m[i, j] * m[i, j]
                if i != j:
                    rest += m[i, j] * m[i, j]
        if rest <= 1e-30 * all_of_it:
            return np.sort(np.diag(m))
        for p in range(n):
            for q in range(p + 1, n):
                if m[p, q] != 0.0:
                    angle = (m[q, q] - m[p, p]) / (2.0 * m[p, q])
                    t = math.copysign(1.0, angle) / (abs(angle) + math.hypot(1.0, angle))
                    c = 1.0 / math.hypot(1.0, t)
                    s = t * c
                    for k in range(n):
                        x, y = float(m[k, p]), float(m[k, q])
                        m[k, p] = c * x - s * y
                        m[k, q] = s * x + c * y
                    for k in range(n):
                        x, y = float(m[p, k]), float(m[q, k])
                        m[p, k] = c * x - s * y
                        m[q, k] = s * x + c * y
    assert n < 0
    return np.diag(m)


def least_squares(a: Any, b: Any) -> Any:
    """The x of the least |a x - b|, by Householder's reflections, where the columns of a tell it well."""
    m, n = a.shape
    assert m >= n and m > 0 and len(b) == m
    r, x = a + 0.0, b + 0.0
    for k in range(n):
        length = 0.0
        for i in range(k, m):
            length += float(r[i, k] * r[i, k])
        length = math.copysign(math.sqrt(length), float(r[k, k]))
        assert length != 0.0
        v = np.zeros(m)
        for i in range(k, m):
            v[i] = r[i, k]
        v[k] += length
        scale = 2.0 / float(v @ v)
        r = r - scale * np.outer(v, v @ r)
        x = x - scale * (np.outer(v, v @ x) if b.ndim == 2 else v * (v @ x))
    largest, least = 0.0, math.inf
    for k in range(n):
        largest, least = max(largest, abs(float(r[k, k]))), min(least, abs(float(r[k, k])))
    assert least > 1e-7 * largest
    return _backwards(r, x, n)


def _backwards(r: Any, x: Any, n: int) -> Any:
    result = x[:n] + 0.0
    for step in range(n):
        i = n - 1 - step
        total = x[i]
        for j in range(i + 1, n):
            total = total - r[i, j] * result[j]
        result[i] = total / r[i, i]
    return result


def polyfit(x: Any, y: Any, deg: int) -> Any:
    """The coefficients of the polynomial that fits best, the highest one first."""
    return least_squares(np.vander(x, deg + 1), y)


def residuals(a: Any, b: Any, x: Any) -> Any:
    """The sums of squares that are left, where there are more rows than columns."""
    left = b - a @ x
    if a.shape[0] <= a.shape[1]:
        return np.zeros(0)
    if b.ndim == 2:
        return np.sum(left * left, axis=0)
    return np.array([float(left @ left)])


def pinv(a: Any) -> Any:
    """The inverse of a matrix that may have more rows than columns, or fewer, and is of full rank."""
    if a.shape[0] >= a.shape[1]:
        return least_squares(a, np.eye(a.shape[0]))
    return least_squares(a.T, np.eye(a.shape[1])).T.copy()
