"""NumPy's ranges and matrices, as plain Python; see `front`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def arange(start: int, stop: int, step: int) -> Any:
    """The numbers of a range."""
    n = len(range(start, stop, step))
    result = np.zeros(n, int)
    for i in range(n):
        result[i] = start + step * i
    return result


def arange_floats(start: float, stop: float, step: float) -> Any:
    """`start + step * i`, up to `stop`, which is not included."""
    n = max(0, math.ceil((stop - start) / step))
    result = np.zeros(n)
    for i in range(n):
        result[i] = start + step * i
    return result


def linspace(start: float, stop: float, num: int, endpoint: bool) -> Any:
    """`num` numbers from start to stop, at equal distances."""
    assert num >= 0
    result = np.zeros(num)
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else 0.0
    for i in range(num):
        result[i] = start + step * i
    if endpoint and num > 1:
        result[num - 1] = stop
    return result


def eye(n: int, m: Any = None, k: int = 0) -> Any:
    """The matrix with ones on a diagonal."""
    columns = n if m is None else m
    result = np.zeros((n, columns))
    for i in range(n):
        if 0 <= i + k < columns:
            result[i, i + k] = 1.0
    return result


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
