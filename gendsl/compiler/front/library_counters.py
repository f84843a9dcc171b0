"""What counters do with one another, and with what is to be counted, in plain Python; see `front`."""

from __future__ import annotations

from collections import Counter
from typing import Any


def plus(a: Any, b: Any) -> Any:
    """`a + b`, of which only what is positive is kept."""
    result: Counter[Any] = Counter()
    for key, count in a.items():
        more = count + b[key]
        if more > 0:
            result[key] = more
    _add_alone(result, a, b)
    return result


def _add_alone(result: Any, a: Any, b: Any) -> None:
    """What b has and a has not."""
    for key, count in b.items():
        if key not in a and count > 0:
            result[key] = count


def minus(a: Any, b: Any) -> Any:
    """`a - b`."""
    result: Counter[Any] = Counter()
    for key, count in a.items():
        rest = count - b[key]
        if rest > 0:
            result[key] = rest
    for key, count in b.items():
        if key not in a and count < 0:
            result[key] = 0 - count
    return result


def most(a: Any, b: Any) -> Any:
    """`a | b`."""
    result: Counter[Any] = Counter()
    for key, count in a.items():
        other = b[key]
        more = other if count < other else count
        if more > 0:
            result[key] = more
    _add_alone(result, a, b)
    return result


def least(a: Any, b: Any) -> Any:
    """`a & b`."""
    result: Counter[Any] = Counter()
    for key, count in a.items():
        other = b[key]
        less = count if count < other else other
        if less > 0:
            result[key] = less
    return result


def count_all(counter: Any, values: Any) -> None:
    """`counter.update(values)`."""
    for value in values:
        counter[value] += 1


def take_all(counter: Any, values: Any) -> None:
    """`counter.subtract(values)`."""
    for value in values:
        counter[value] -= 1


def add_counts(counter: Any, counts: Any) -> None:
    """`counter.update(counts)`."""
    for key, count in counts.items():
        counter[key] = count + counter.get(key, 0)


def take_counts(counter: Any, counts: Any) -> None:
    """`counter.subtract(counts)`."""
    for key, count in counts.items():
        counter[key] = counter.get(key, 0) - count
