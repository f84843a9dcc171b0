"""What functions of `itertools`, and their like of NumPy, give, as lists, in plain Python; see `front`."""

from __future__ import annotations

from typing import Any


def alone(values: Any) -> Any:
    """Each value alone in a tuple."""
    return [(value,) for value in values]


def each_with_each(rows: Any, values: Any) -> Any:
    """Tuples with each of the values behind them."""
    return [(*row, value) for row in rows for value in values]


def pairs(values: Any) -> Any:
    """`combinations(values, 2)`."""
    n = len(values)
    return [(values[i], values[j]) for i in range(n) for j in range(i + 1, n)]


def triples(values: Any) -> Any:
    """`combinations(values, 3)`."""
    n = len(values)
    return [
        (values[i], values[j], values[k]) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)
    ]


def pairs_in_order(values: Any) -> Any:
    """`permutations(values, 2)`."""
    n = len(values)
    return [(values[i], values[j]) for i in range(n) for j in range(n) if i != j]


def pairs_with_replacement(values: Any) -> Any:
    """`combinations_with_replacement(values, 2)`."""
    n = len(values)
    return [(values[i], values[j]) for i in range(n) for j in range(i, n)]


def neighbours(values: Any) -> Any:
    """`pairwise(values)`."""
    return [(values[i], values[i + 1]) for i in range(len(values) - 1)]


def with_indices(a: Any) -> Any:
    """`numpy.ndenumerate(a)`."""
    if a.ndim == 1:
        return [((i,), a[i]) for i in range(a.shape[0])]
    if a.ndim == 2:
        return [((i, j), a[i, j]) for i in range(a.shape[0]) for j in range(a.shape[1])]
    return [
        ((i, j, k), a[i, j, k])
        for i in range(a.shape[0])
        for j in range(a.shape[1])
        for k in range(a.shape[2])
    ]
