"""Running totals of log probabilities: changing a term costs O(1), and rounding doesn't add up.

A total is the pair of floats of a compensated sum (Knuth's TwoSum; Ogita, Rump and Oishi, "Accurate sum and
dot product", SIAM J. Sci. Comput. 26, 2005) and a count of the terms that are no finite numbers. Those are
counted, never added: taking the last -inf away gives the sum of the others back. The error is about 1e-32 of
the largest magnitude that the sum had since `total_of`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

Total = tuple[float, float, int]
"""(high, low, number of -inf terms); the number has 2**40 more for each +inf, and 2**80 for each NaN."""

ZERO: Total = (0.0, 0.0, 0)

HUGE = 1e18
"""A term from which on taking it away again leaves too few digits of the others: sum these afresh."""

_POSITIVE = 1 << 40
_NAN = 1 << 80


def total_of(terms: Iterable[float]) -> Total:
    """The total of the terms."""
    given, count = list(terms), 0
    finite = [term for term in given if term - term == 0.0]
    if len(finite) < len(given):
        count = sum(_kind(term) for term in given if term - term != 0.0)
    try:
        high = math.fsum(finite)
    except OverflowError:
        return sum(finite), 0.0, count
    return high, math.fsum([*finite, -high]), count


def change(total: Total, old: float, new: float) -> Total:
    """The total with the term `new` in place of `old`; O(1).

    The sum of finite terms may overflow; then `value` is NaN until `total_of` is called afresh.
    """
    high, low, count = total
    if 4.0 * (old * old + new * new) < high * high:
        # finite, and so much smaller than the sum that its rounding errors take one subtraction each (Dekker)
        middle = high - old
        result = middle + new
        return result, low + (((high - middle) - old) + ((middle - result) + new)), count
    return _change(high, low, count, old, new)


def value(total: Total) -> float:
    """The sum: -inf if a term is, +inf if a term is, NaN if both are or a term is NaN."""
    high, low, count = total
    if count == 0:
        return high + low
    if count < _POSITIVE:
        return -math.inf
    return math.nan if count >= _NAN or count % _POSITIVE else math.inf


def _change(high: float, low: float, count: int, old: float, new: float) -> Total:
    """`change` for terms of any size."""
    if old - old != 0.0:
        count -= _kind(old)
        old = 0.0
    if new - new != 0.0:
        count += _kind(new)
        new = 0.0
    for term in (-old, new):
        result = high + term
        part = result - high
        low += (high - (result - part)) + (term - part)
        high = result
    return (high, low, count) if low - low == 0.0 else (math.nan, 0.0, count)


def _kind(term: float) -> int:
    """What a term that isn't finite adds to the count."""
    if term == -math.inf:
        return 1
    return _POSITIVE if term == math.inf else _NAN
