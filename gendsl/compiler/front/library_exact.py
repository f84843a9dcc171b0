"""Sums and what is made of them in the order in which NumPy adds numbers, as plain Python; see `front` and
`exact`.

NumPy adds up to 128 numbers in eight sums, and more of them in two parts (`pairwise_sum` in its sources).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_START = float(np.sum(np.array([-0.0])))
"""What a sum of few numbers starts from: 0.0 or, in later versions, -0.0."""
_BLOCK = 128


def _added(a: Any, start: int, n: int) -> float:
    """The sum of n entries of a vector, from one on."""
    if n < 8:
        total = _START
        for i in range(start, start + n):
            total += a[i]
        return total
    if n > _BLOCK:
        half = n // 2 - n // 2 % 8
        return _added(a, start, half) + _added(a, start + half, n - half)
    sums = [float(a[start + i]) for i in range(8)]
    last = start + n - n % 8
    for i in range(start + 8, last, 8):
        for j in range(8):
            sums[j] += a[i + j]
    total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))
    for i in range(last, start + n):
        total += a[i]
    return total


def sum_of_integers(a: Any) -> Any:
    """The sum of the entries of a vector of integers or truth values."""
    total = 0
    for i in range(len(a)):
        total = total + a[i]
    return total


def sum_all(a: Any) -> float:
    """The sum of the entries of a vector of floats."""
    return _added(a, 0, len(a)) if len(a) > 0 else 0.0


def mean_all(a: Any) -> float:
    """The mean of the entries of a vector of floats."""
    assert len(a) > 0
    return sum_all(a) / len(a)


def spread(a: Any, ddof: int) -> float:
    """The sum of squared distances from the mean, divided by n - ddof."""
    assert len(a) > ddof
    mean = mean_all(a)
    squares = np.array([(a[i] - mean) * (a[i] - mean) for i in range(len(a))])
    return sum_all(squares) / (len(a) - ddof)


def root_spread(a: Any, ddof: int) -> float:
    """The root of `spread`."""
    return math.sqrt(spread(a, ddof))


def var_all(a: Any) -> float:
    """The mean squared distance from the mean."""
    return spread(a, 0)


def std_all(a: Any) -> float:
    """The root of the mean squared distance from the mean."""
    return math.sqrt(spread(a, 0))
