"""NumPy's functions of parts of arrays, and some of decimals and nearness, as plain Python; see `library`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy


def rounded(x: Any, digits: int) -> float:
    """`round(x, digits)` of a float, where no decimal is so near to a half that the last bit decides."""
    assert -22 <= digits <= 22
    if x == 0.0:
        return float(x)
    power = 1.0
    for _ in range(abs(digits)):
        power = power * 10.0
    scaled = x * power if digits >= 0 else x / power
    assert abs(scaled) < 1e12
    below = math.floor(scaled)
    part = scaled - below
    if digits == 0 and part == 0.5:
        whole = float(below + below % 2)
    else:
        assert abs(part - 0.5) > 1e-15 * abs(scaled) or digits == 0
        whole = float(below + 1 if part > 0.5 else below)
    result = whole / power if digits >= 0 else whole * power
    return math.copysign(result, x)


def rounded_integer(n: int, digits: int) -> int:
    """`round(n, digits)` of an integer: to the even one of two that are as near."""
    if digits >= 0:
        return n
    assert digits >= -18
    power = 1
    for _ in range(-digits):
        power = power * 10
    below = n // power
    rest = n - below * power
    if 2 * rest > power or (2 * rest == power and below % 2 == 1):
        below += 1
    return below * power


def near(a: float, b: float, rel_tol: float, abs_tol: float) -> bool:
    """`math.isclose`."""
    assert rel_tol >= 0.0 and abs_tol >= 0.0
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    difference = abs(b - a)
    return difference <= abs(rel_tol * b) or difference <= abs(rel_tol * a) or difference <= abs_tol


def split(a: Any, count: int) -> Any:
    """As many parts of one length."""
    assert count > 0 and len(a) % count == 0
    size = len(a) // count
    return [a[i * size : (i + 1) * size] for i in range(count)]


def array_split(a: Any, count: int) -> Any:
    """As many parts, of which the first may have one entry more."""
    assert count > 0
    size, longer = len(a) // count, len(a) % count
    parts = []
    start = 0
    for i in range(count):
        stop = start + size + (1 if i < longer else 0)
        parts.append(a[start:stop])
        start = stop
    return parts


def split_at(a: Any, indices: Any) -> Any:
    """The parts between indices."""
    parts = []
    start = 0
    for stop in indices:
        parts.append(a[start:stop])
        start = stop
    parts.append(a[start:])
    return parts


def edges_of(a: Any, count: int) -> Any:
    """The edges of bins of one width, from the least entry to the largest."""
    assert count > 0
    low, high = 0.0, 1.0
    if len(a) > 0:
        low, high = float(np.min(a)), float(np.max(a))
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, count + 1)


def edges_between(low: float, high: float, count: int) -> Any:
    """The edges of bins of one width between two numbers."""
    assert count > 0 and low <= high
    if low == high:
        return np.linspace(low - 0.5, high + 0.5, count + 1)
    return np.linspace(low, high, count + 1)


def histogram(a: Any, edges: Any) -> Any:
    """How many entries lie in each bin; the last one has its right edge."""
    n = len(edges) - 1
    assert n >= 1
    for i in range(n):
        assert edges[i] <= edges[i + 1]
    counts = np.zeros(n, int)
    for i in range(len(a)):
        assert a[i] == a[i]
        if edges[0] <= a[i] <= edges[n]:
            at = n - 1
            if a[i] < edges[n]:
                at = int(np.searchsorted(edges, a[i], side="right")) - 1
            counts[at] += 1
    return counts


def densities(counts: Any, edges: Any) -> Any:
    """The counts of bins, divided by their sum and the widths of the bins."""
    return counts / np.diff(edges) / np.sum(counts)


def unique_places(a: Any) -> Any:
    """For each different entry, in order, its first place; for each entry which of these it is; how often
    each is there.
    """
    order = np.argsort(a, kind="stable")
    first, which, counts = np.zeros(len(a), int), np.zeros(len(a), int), np.zeros(len(a), int)
    n = 0
    for i in range(len(a)):
        if i == 0 or a[order[i]] != a[order[i - 1]]:
            first[n] = order[i]
            n += 1
        which[order[i]] = n - 1
        counts[n - 1] += 1
    return first[:n], which, counts[:n]


def norm_of_order(a: Any, order: float) -> float:
    """The norm of a vector of an order."""
    if order == math.inf:
        return float(np.max(np.abs(a)))
    if order == -math.inf:
        return float(np.min(np.abs(a)))
    if order == 0.0:
        return float(np.count_nonzero(a))
    if order == 1.0:
        return float(np.sum(np.abs(a)))
    total = 0.0
    for i in range(len(a)):
        total += float(np.abs(a[i]) ** order)
    return float(np.float64(total) ** (1.0 / order))


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
    assert m >= n > 0 and len(b) == m
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


def multivariate_normal_logpdf(x: Any, mean: Any, cov: Any) -> Any:
    """`scipy.stats.multivariate_normal.logpdf` of one point, or of rows."""
    n = len(mean)
    assert n > 1 and cov.shape[0] == n and cov.shape[1] == n
    for i in range(n):
        for j in range(i):
            assert abs(cov[i, j] - cov[j, i]) <= 1e-8 + 1e-5 * abs(cov[j, i])
    factor = np.linalg.cholesky(cov)
    constant = n * math.log(2 * math.pi)
    largest, least = 0.0, math.inf
    for i in range(n):
        constant += 2.0 * math.log(factor[i, i])
        largest, least = max(largest, float(factor[i, i])), min(least, float(factor[i, i]))
    assert least > 1e-4 * largest
    if x.ndim == 1:
        z = scipy.linalg.solve_triangular(factor, x - mean, lower=True)
        return np.float64(-0.5 * (constant + float(z @ z)))
    result = np.zeros(len(x))
    for i in range(len(x)):
        z = scipy.linalg.solve_triangular(factor, x[i] - mean, lower=True)
        result[i] = -0.5 * (constant + float(z @ z))
    return result
