"""Functions of NumPy that put entries into other places, as plain Python; see `front`."""

from __future__ import annotations

from typing import Any

import numpy as np


def diag(v: Any, k: int = 0) -> Any:
    """A diagonal of a matrix, or the matrix with a diagonal."""
    if v.ndim == 1:
        n = len(v) + abs(k)
        result = np.zeros((n, n))
        for i in range(len(v)):
            result[i + max(0, -k), i + max(0, k)] = v[i]
        return result
    count = max(0, min(v.shape[0] + min(0, k), v.shape[1] - max(0, k)))
    diagonal = np.zeros(count)
    for i in range(count):
        diagonal[i] = v[i + max(0, -k), i + max(0, k)]
    return diagonal


def triu(m: Any, k: int = 0) -> Any:
    """A matrix without what is below a diagonal."""
    result = m.copy()
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j - i < k:
                result[i, j] = 0
    return result


def tril(m: Any, k: int = 0) -> Any:
    """A matrix without what is above a diagonal."""
    result = m.copy()
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if j - i > k:
                result[i, j] = 0
    return result


def triu_indices(n: int, k: int = 0, m: Any = None) -> Any:
    """The places on and above a diagonal."""
    return np.nonzero(np.subtract.outer(np.arange(n), np.arange(n if m is None else m)) <= -k)


def tril_indices(n: int, k: int = 0, m: Any = None) -> Any:
    """The places on and below a diagonal."""
    return np.nonzero(np.subtract.outer(np.arange(n), np.arange(n if m is None else m)) >= -k)


def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """The places of a matrix on and above a diagonal."""
    return triu_indices(arr.shape[0], k, arr.shape[1])


def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """The places of a matrix on and below a diagonal."""
    return tril_indices(arr.shape[0], k, arr.shape[1])


def tile(A: Any, reps: int) -> Any:
    """The entries of a vector, so many times."""
    n = len(A)
    result = np.zeros(n * reps)
    for i in range(n * reps):
        result[i] = A[i % n]
    return result


def delete(arr: Any, obj: int) -> Any:
    """The entries of a vector but for one."""
    n = len(arr)
    assert -n <= obj < n
    at = obj % n
    return np.concatenate((arr[:at], arr[at + 1 :]))


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """How many of the ends of bins in increasing order are not greater than numbers."""
    for i in range(1, len(bins)):
        assert bins[i - 1] <= bins[i]
    if right:
        return np.searchsorted(bins, x, side="left")
    return np.searchsorted(bins, x, side="right")


def isin(element: Any, test_elements: Any) -> Any:
    """Whether each entry of a vector is one of another's."""
    result = np.zeros(len(element), bool)
    for i in range(len(element)):
        for j in range(len(test_elements)):
            if element[i] == test_elements[j]:
                result[i] = True
    return result


def array_equal(a1: Any, a2: Any) -> bool:
    """Whether arrays have one shape and equal entries."""
    if a1.shape != a2.shape:
        return False
    return bool(np.all(a1 == a2))


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    """Whether the entries of arrays, all of which are finite, are nearly equal."""
    assert np.all(np.isfinite(a)) and np.all(np.isfinite(b))
    return bool(np.all(np.abs(a - b) <= atol + rtol * np.abs(b)))


def ediff1d(ary: Any) -> Any:
    """The differences of entries that follow one another."""
    return ary[1:] - ary[:-1]


def gradient(f: Any) -> Any:
    """The slopes of a vector, from both neighbours."""
    n = len(f)
    assert n >= 2
    result = np.zeros(n)
    for i in range(1, n - 1):
        result[i] = (f[i + 1] - f[i - 1]) / 2.0
    result[0] = f[1] - f[0]
    result[n - 1] = f[n - 1] - f[n - 2]
    return result


def argwhere(a: Any) -> Any:
    """The indices of the entries that are not 0, as rows."""
    return np.stack(np.nonzero(a), axis=1)


def add_at(a: Any, indices: Any, b: Any) -> None:
    """Add numbers to entries of a vector, one after another."""
    each = np.broadcast_to(b, (len(indices),))
    for i in range(len(indices)):
        a[indices[i]] = a[indices[i]] + each[i]


def subtract_at(a: Any, indices: Any, b: Any) -> None:
    """Subtract numbers from entries of a vector, one after another."""
    each = np.broadcast_to(b, (len(indices),))
    for i in range(len(indices)):
        a[indices[i]] = a[indices[i]] - each[i]


def maximum_at(a: Any, indices: Any, b: Any) -> None:
    """Raise entries of a vector, one after another."""
    each = np.broadcast_to(b, (len(indices),))
    for i in range(len(indices)):
        a[indices[i]] = np.maximum(a[indices[i]], each[i])


def minimum_at(a: Any, indices: Any, b: Any) -> None:
    """Lower entries of a vector, one after another."""
    each = np.broadcast_to(b, (len(indices),))
    for i in range(len(indices)):
        a[indices[i]] = np.minimum(a[indices[i]], each[i])
