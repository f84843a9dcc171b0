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


def convolve_same(a: Any, v: Any) -> Any:
    """The middle of the convolution, as long as the longer of the vectors."""
    n, m = max(len(a), len(v)), min(len(a), len(v))
    start = (m - 1) // 2
    return convolve(a, v)[start : start + n]


def convolve_valid(a: Any, v: Any) -> Any:
    """The entries of the convolution for which the vectors lie on one another."""
    n, m = max(len(a), len(v)), min(len(a), len(v))
    return convolve(a, v)[m - 1 : n]


def logspace(start: float, stop: float, num: int, endpoint: bool) -> Any:
    """Powers of 10, with exponents from start to stop."""
    return np.power(10.0, np.linspace(start, stop, num, endpoint=endpoint))


def geomspace(start: float, stop: float, num: int, endpoint: bool) -> Any:
    """`num` positive numbers from start to stop, at equal ratios."""
    assert start > 0.0 and stop > 0.0
    result = np.power(10.0, np.linspace(math.log10(start), math.log10(stop), num, endpoint=endpoint))
    if num > 0:
        result[0] = start
        if endpoint and num > 1:
            result[num - 1] = stop
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


def peak_to_peak(a: Any) -> Any:
    """The largest entry minus the least."""
    return np.max(a) - np.min(a)


def nan_sum(a: Any) -> Any:
    """The sum of the entries that are numbers."""
    total = 0
    for i in range(len(a)):
        if a[i] == a[i]:
            total = total + a[i]
    return total


def nan_mean(a: Any) -> float:
    """The mean of the entries that are numbers."""
    total, count = 0.0, 0
    for i in range(len(a)):
        if a[i] == a[i]:
            total += a[i]
            count += 1
    assert count > 0
    return total / count


def nan_max(a: Any) -> Any:
    """The largest of the entries that are numbers."""
    best = a[0]
    for i in range(1, len(a)):
        if a[i] > best or best != best:
            best = a[i]
    assert best == best
    return best


def nan_min(a: Any) -> Any:
    """The least of the entries that are numbers."""
    best = a[0]
    for i in range(1, len(a)):
        if a[i] < best or best != best:
            best = a[i]
    assert best == best
    return best


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


def bit_count(n: int) -> int:
    """How many bits of the size of an integer are 1."""
    left, count = abs(n), 0
    while left > 0:
        left = left & (left - 1)
        count += 1
    return count


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
