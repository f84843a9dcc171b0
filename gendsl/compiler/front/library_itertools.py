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


def of_each(rows: Any) -> Any:
    """`chain.from_iterable(rows)`."""
    return [value for row in rows for value in row]


def while_true(test: Any, values: Any) -> Any:
    """`takewhile(test, values)`."""
    found = []
    for value in values:
        if not test(value):
            break
        found.append(value)
    return found


def from_false(test: Any, values: Any) -> Any:
    """`dropwhile(test, values)`."""
    found = []
    begun = False
    for value in values:
        begun = begun or not test(value)
        if begun:
            found.append(value)
    return found


def applied(function: Any, rows: Any) -> Any:
    """`starmap(function, rows)`."""
    return [function(*row) for row in rows]


def some(values: Any, start: Any, stop: Any, step: Any) -> Any:
    """`islice(values, start, stop, step)`."""
    assert start >= 0 and step > 0 and (stop is None or stop >= 0)
    return values[start:stop:step]


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
