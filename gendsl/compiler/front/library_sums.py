"""NumPy's sums and other reductions of vectors, and cumulative ones, as plain Python; see `front`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def sum_all(a: Any) -> Any:
    """The sum of the entries of a vector."""
    total = 0
    for i in range(len(a)):
        total = total + a[i]
    return total


def prod_all(a: Any) -> Any:
    """The product of the entries of a vector."""
    total = 1
    for i in range(len(a)):
        total = total * a[i]
    return total


def max_all(a: Any) -> Any:
    """The largest entry of a vector."""
    best = a[0]
    for i in range(1, len(a)):
        if a[i] > best or a[i] != a[i]:
            best = a[i]
    return best


def min_all(a: Any) -> Any:
    """The least entry of a vector."""
    best = a[0]
    for i in range(1, len(a)):
        if a[i] < best or a[i] != a[i]:
            best = a[i]
    return best


def mean_all(a: Any) -> float:
    """The mean of the entries of a vector."""
    assert len(a) > 0
    return float(sum_all(a)) / len(a)


def var_all(a: Any) -> float:
    """The mean squared distance from the mean."""
    mean = mean_all(a)
    total = 0.0
    for i in range(len(a)):
        total += (a[i] - mean) * (a[i] - mean)
    return total / len(a)


def std_all(a: Any) -> float:
    """The root of the mean squared distance from the mean."""
    return math.sqrt(var_all(a))


def any_all(a: Any) -> bool:
    """Whether an entry is not 0."""
    found = False
    for i in range(len(a)):
        if a[i] != 0:
            found = True
    return found


def all_all(a: Any) -> bool:
    """Whether no entry is 0."""
    found = True
    for i in range(len(a)):
        if a[i] == 0:
            found = False
    return found


def cumsum(a: Any) -> Any:
    """The sums of the first entries of a vector."""
    result = a * 1  # numbers, of which zeros keep their signs
    for i in range(1, len(a)):
        result[i] = result[i - 1] + a[i]
    return result


def cumprod(a: Any) -> Any:
    """The products of the first entries of a vector."""
    result = a * 1
    for i in range(1, len(a)):
        result[i] = result[i - 1] * a[i]
    return result


def logsumexp(a: Any) -> float:
    """log Σ exp(a_i), without overflow."""
    top = max_all(a)
    if not -math.inf < top < math.inf:
        return float(top)
    total = 0.0
    for i in range(len(a)):
        total += math.exp(a[i] - top)
    result: float = top + math.log(total)
    return result


def norm(a: Any) -> float:
    """The square root of the sum of the squares of the entries."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[i]
    return math.sqrt(total)


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


def nan_var(a: Any) -> float:
    """The mean squared distance of the entries that are numbers from their mean."""
    return var_all(a[a == a])


def nan_std(a: Any) -> float:
    """The root of that."""
    return math.sqrt(nan_var(a))


def nan_median(a: Any) -> float:
    """The median of the entries that are numbers."""
    return median(a[a == a])


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
