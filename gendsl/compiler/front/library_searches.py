"""NumPy's functions that order and find entries, and count them, as plain Python; see `front`."""

from __future__ import annotations

from typing import Any

import numpy as np


def in_range(x: int, start: int, stop: int, step: int) -> bool:
    """`x in range(start, stop, step)`."""
    assert step != 0
    if step > 0:
        return start <= x and x < stop and (step == 1 or (x - start) % step == 0)
    return stop < x and x <= start and (start - x) % -step == 0


def item_of_range(at: int, start: int, stop: int, step: int) -> int:
    """`range(start, stop, step)[at]`."""
    count = len(range(start, stop, step))
    if at < 0:
        at += count
    if at < 0 or at >= count:
        raise IndexError("range object index out of range")
    return start + at * step


def argmax(a: Any) -> int:
    """The position of the largest entry."""
    best = 0
    assert len(a) > 0
    for i in range(1, len(a)):
        assert a[i] == a[i]
        if a[i] > a[best]:
            best = i
    return best


def argmin(a: Any) -> int:
    """The position of the least entry."""
    best = 0
    assert len(a) > 0
    for i in range(1, len(a)):
        assert a[i] == a[i]
        if a[i] < a[best]:
            best = i
    return best


def positions(a: Any) -> Any:
    """The positions of the entries of a vector that are not 0."""
    count = 0
    for i in range(len(a)):
        if a[i] != 0:
            count += 1
    result = np.zeros(count, int)
    count = 0
    for i in range(len(a)):
        if a[i] != 0:
            result[count] = i
            count += 1
    return result


def compress(mask: Any, a: Any) -> Any:
    """The entries of a vector where a mask holds."""
    return a[positions(mask)]


def sort(a: Any) -> Any:
    """The entries of a vector in increasing order."""
    for i in range(len(a)):
        assert a[i] == a[i]
    return np.array(sorted(a.tolist()))


def argsort(a: Any) -> Any:
    """The positions of the entries of a vector in increasing order of these, equal ones as they stand."""
    for i in range(len(a)):
        assert a[i] == a[i]
    return np.array(sorted(range(len(a)), key=lambda i: a[i]), dtype=int)


def argsort_of_different(a: Any) -> Any:
    """The same of entries that all differ: which of equal ones comes first depends on how they are sorted."""
    order = argsort(a)
    for i in range(1, len(a)):
        assert a[order[i - 1]] != a[order[i]], "equal entries, of which a sort may give either first"
    return order


def search_left(a: Any, v: float) -> int:
    """How many entries of a sorted vector are less than a number."""
    assert v == v  # NumPy puts NaN last
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


def search_right(a: Any, v: float) -> int:
    """How many entries of a sorted vector are not greater than a number."""
    assert v == v
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] <= v:
            low = middle + 1
        else:
            high = middle
    return low


def search_all_left(a: Any, v: Any) -> Any:
    """`search_left` of each entry of a vector."""
    result = np.zeros(len(v), int)
    for i in range(len(v)):
        result[i] = search_left(a, v[i])
    return result


def search_all_right(a: Any, v: Any) -> Any:
    """`search_right` of each entry of a vector."""
    result = np.zeros(len(v), int)
    for i in range(len(v)):
        result[i] = search_right(a, v[i])
    return result


def interp(x: float, xp: Any, fp: Any) -> Any:
    """The line through the points (xp, fp), at x; constant outside."""
    n = len(xp)
    assert n > 0 and len(fp) == n
    if x <= xp[0]:
        return fp[0]
    if x >= xp[n - 1]:
        return fp[n - 1]
    i = search_right(xp, x) - 1
    return fp[i] + (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]) * (x - xp[i])


def interp_all(x: Any, xp: Any, fp: Any) -> Any:
    """`interp` of each entry of a vector."""
    result = np.zeros(len(x))
    for i in range(len(x)):
        result[i] = interp(x[i], xp, fp)
    return result


def bincount(x: Any, least: int) -> Any:
    """How often each integer is in a vector."""
    size = least
    for i in range(len(x)):
        assert x[i] >= 0
        size = max(size, x[i] + 1)
    result = np.zeros(size, int)
    for i in range(len(x)):
        result[x[i]] += 1
    return result


def bincount_weights(x: Any, weights: Any, least: int) -> Any:
    """The sum of the weights of each integer in a vector."""
    assert len(x) == len(weights)
    size = least
    for i in range(len(x)):
        assert x[i] >= 0
        size = max(size, x[i] + 1)
    result = np.zeros(size)
    for i in range(len(x)):
        result[x[i]] += weights[i]
    return result


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
