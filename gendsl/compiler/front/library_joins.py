"""NumPy's functions that put vectors together or take them apart, as plain Python; see `front`."""

from __future__ import annotations

from typing import Any

import numpy as np


def concatenate_rows(parts: Any) -> Any:
    """The entries of the arrays of a list behind one another."""
    count = 0
    for part in parts:
        count += len(part)
    result = np.zeros(count)
    count = 0
    for part in parts:
        for i in range(len(part)):
            result[count] = part[i]
            count += 1
    return result


def repeated(n: int, count: int) -> Any:
    """Each place of n so many times."""
    assert count >= 0
    result = np.zeros(n * count, int)
    for i in range(n * count):
        result[i] = i // count
    return result


def repeated_each(n: int, counts: Any) -> Any:
    """Each place of n as often as it says."""
    assert len(counts) == n
    total = 0
    for i in range(n):
        assert counts[i] >= 0
        total += counts[i]
    result = np.zeros(total, int)
    at = 0
    for i in range(n):
        for _ in range(counts[i]):
            result[at] = i
            at += 1
    return result


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
