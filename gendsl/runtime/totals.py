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

_POSITIVE = 1 << 40
_NAN = 1 << 80


def total_of(terms: Iterable[float]) -> Total:
    """The total of the terms."""
    finite, count = [], 0
    for term in terms:
        if term - term == 0.0:
            finite.append(term)
        else:
            count += _kind(term)
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
    difference = new - old
    part = difference - new
    error = (new - (difference - part)) - (old + part)
    result = high + difference
    part = result - high
    low += error + ((high - (result - part)) + (difference - part))
    if low - low == 0.0:
        return result, low, count
    return _change(total, old, new)


def value(total: Total) -> float:
    """The sum: -inf if a term is, +inf if a term is, NaN if both are or a term is NaN."""
    high, low, count = total
    if count == 0:
        return high + low
    if count < _POSITIVE:
        return -math.inf
    return math.nan if count >= _NAN or count % _POSITIVE else math.inf


def _change(total: Total, old: float, new: float) -> Total:
    """`change` where a term isn't finite, or the sum overflows."""
    high, low, count = total
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
