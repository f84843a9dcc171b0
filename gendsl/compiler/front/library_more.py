"""More of NumPy's functions as plain Python; see `library`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def roll(a: Any, shift: int) -> Any:
    """The entries of a vector, shifted around."""
    result = a.copy()
    for i in range(len(a)):
        result[(i + shift) % len(a)] = a[i]
    return result


def insert(a: Any, index: int, new: Any) -> Any:
    """The entries of a vector with one more, before that with an index."""
    at = index + len(a) if index < 0 else index
    assert 0 <= at <= len(a)
    return np.concatenate([np.concatenate([a[:at], new]), a[at:]])


def cumsum_rows(a: Any) -> Any:
    """The cumulative sums along each row."""
    result = a.copy()
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            result[i, j] += result[i, j - 1]
    return result


def cumprod_rows(a: Any) -> Any:
    """The cumulative products along each row."""
    result = a.copy()
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            result[i, j] *= result[i, j - 1]
    return result


def median(a: Any) -> float:
    """The median of a vector."""
    n = len(a)
    assert n > 0
    for i in range(n):
        assert a[i] == a[i]
    ordered = np.sort(a)
    if n % 2 == 1:
        return float(ordered[n // 2])
    return (float(ordered[n // 2 - 1]) + float(ordered[n // 2])) / 2


def average(a: Any, weights: Any) -> float:
    """The mean of a vector with weights."""
    assert len(a) == len(weights)
    total, norm = 0.0, 0.0
    for i in range(len(a)):
        total += a[i] * weights[i]
        norm += weights[i]
    assert norm != 0.0
    return total / norm


def spread(a: Any, ddof: int) -> float:
    """The sum of squared distances from the mean, divided by n - ddof."""
    assert len(a) > ddof
    return float(np.var(a)) * len(a) / (len(a) - ddof)


def root_spread(a: Any, ddof: int) -> float:
    """The root of `spread`."""
    return math.sqrt(spread(a, ddof))


def trapezoid(y: Any, x: Any) -> float:
    """The integral by trapezoids."""
    assert len(x) == len(y)
    total = 0.0
    for i in range(1, len(y)):
        total += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2.0
    return total


def trapezoid_steps(y: Any, dx: float) -> float:
    """The integral by trapezoids of one width."""
    total = 0.0
    for i in range(1, len(y)):
        total += dx * (y[i] + y[i - 1]) / 2.0
    return total


def convolve(a: Any, v: Any) -> Any:
    """The convolution of two vectors, with all its entries."""
    assert len(a) > 0 and len(v) > 0
    result = np.zeros(len(a) + len(v) - 1)
    for i in range(len(a)):
        for j in range(len(v)):
            result[i + j] += a[i] * v[j]
    return result


def running_max(a: Any) -> Any:
    """The largest of the first entries of a vector."""
    result = a.copy()
    for i in range(1, len(a)):
        result[i] = np.maximum(result[i - 1], a[i])
    return result


def running_min(a: Any) -> Any:
    """The least of the first entries of a vector."""
    result = a.copy()
    for i in range(1, len(a)):
        result[i] = np.minimum(result[i - 1], a[i])
    return result


def log_sum(a: Any) -> float:
    """The logarithm of the sum of exponentials, one by one."""
    total = -math.inf
    for i in range(len(a)):
        total = float(np.logaddexp(total, a[i]))
    return total


def count_nonzero(a: Any) -> int:
    """How many entries of a vector are not 0."""
    count = 0
    for i in range(len(a)):
        if a[i] != 0:
            count += 1
    return count


def unique(a: Any) -> Any:
    """The entries of a vector in order, each once."""
    for i in range(len(a)):
        assert a[i] == a[i]
    ordered = np.sort(a)
    count = 0
    for i in range(len(a)):
        if i == 0 or ordered[i] != ordered[i - 1]:
            ordered[count] = ordered[i]
            count += 1
    return ordered[:count]


def dist(p: Any, q: Any) -> float:
    """The distance of two points, as `math.dist` has it."""
    assert len(p) == len(q)
    largest = 0.0
    for i in range(len(p)):
        d = abs(float(p[i]) - float(q[i]))
        assert d == d
        largest = max(largest, d)
    if largest == 0.0 or largest == math.inf:
        return largest
    total = 0.0
    for i in range(len(p)):
        d = (float(p[i]) - float(q[i])) / largest
        total += d * d
    return largest * math.sqrt(total)


def polyval(p: Any, x: Any) -> Any:
    """The value of a polynomial whose highest coefficient comes first."""
    y = x * 0.0
    for i in range(len(p)):
        y = y * x + p[i]
    return y
