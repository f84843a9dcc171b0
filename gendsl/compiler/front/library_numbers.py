"""Functions of numbers that Python and NumPy have, as plain Python; see `front`."""

from __future__ import annotations

import math
from typing import Any


def factorial(n: int) -> int:
    """n!."""
    assert n >= 0
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


def comb(n: int, k: int) -> int:
    """The number of ways to choose k of n."""
    assert n >= 0 and k >= 0
    if k > n:
        return 0
    result = 1
    for i in range(min(k, n - k)):
        result = result * (n - i) // (i + 1)
    return result


def perm(n: int, k: int) -> int:
    """The number of ways to choose k of n in order."""
    assert n >= 0 and k >= 0
    if k > n:
        return 0
    result = 1
    for i in range(k):
        result *= n - i
    return result


def gcd(a: int, b: int) -> int:
    """The greatest common divisor."""
    while b:
        a, b = b, a % b
    return abs(a)


def lcm(a: int, b: int) -> int:
    """The least common multiple."""
    return 0 if a == 0 or b == 0 else abs(a // gcd(a, b) * b)


def isqrt(n: int) -> int:
    """The integer part of the root of n."""
    assert n >= 0
    root = int(math.sqrt(n))
    while root > n // max(root, 1):
        root -= 1
    while root + 1 <= n // (root + 1):
        root += 1
    return root


def bit_length(n: int) -> int:
    """How many bits the size of an integer has."""
    left, count = abs(n), 0
    while left > 0:
        left = left >> 1
        count += 1
    return count


def bit_count(n: int) -> int:
    """How many bits of the size of an integer are 1."""
    left, count = abs(n), 0
    while left > 0:
        left = left & (left - 1)
        count += 1
    return count


def dist(p: Any, q: Any) -> float:
    """The distance of two points, as `math.dist` has it."""
    assert len(p) == len(q)
    largest = 0.0
    for i in range(len(p)):
        d = abs(float(p[i]) - float(q[i]))
        assert d == d
        largest = max(largest, d)
    if largest == 0.0 or largest == math.inf:
        return largest
    total = 0.0
    for i in range(len(p)):
        d = (float(p[i]) - float(q[i])) / largest
        total += d * d
    return largest * math.sqrt(total)


def product_rest(a: float, b: float, product: float) -> float:
    """What the product of two floats is more than the float next to it; Dekker 1971."""
    shift = 134217729.0
    high_a, high_b = shift * a, shift * b
    high_a, high_b = high_a - (high_a - a), high_b - (high_b - b)
    low_a, low_b = a - high_a, b - high_b
    return ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b


def rounded(x: Any, digits: int) -> float:
    """`round(x, digits)` of a float: to the nearest decimal, and the even one of two that are as near."""
    assert -22 <= digits <= 22
    if x == 0.0:
        return float(x)
    power = 1.0
    for _ in range(abs(digits)):
        power = power * 10.0
    scaled = x * power if digits >= 0 else x / power
    assert abs(scaled) < 1e12
    below = math.floor(scaled)
    part = scaled - below
    whole = float(below + 1 if part > 0.5 else below)
    if part == 0.5:  # as far as a float tells; what it is off by decides
        off = product_rest(x, power, scaled) if digits >= 0 else x - scaled * power
        off = off if digits >= 0 else off - product_rest(scaled, power, scaled * power)
        whole = float(below + below % 2) if off == 0.0 else float(below + (off > 0.0))
    result = whole / power if digits >= 0 else whole * power
    return math.copysign(result, x)


def rounded_integer(n: int, digits: int) -> int:
    """`round(n, digits)` of an integer: to the even one of two that are as near."""
    if digits >= 0:
        return n
    assert digits >= -18
    power = 1
    for _ in range(-digits):
        power = power * 10
    below = n // power
    rest = n - below * power
    if 2 * rest > power or (2 * rest == power and below % 2 == 1):
        below += 1
    return below * power


def near(a: float, b: float, rel_tol: float, abs_tol: float) -> bool:
    """`math.isclose`."""
    assert rel_tol >= 0.0 and abs_tol >= 0.0
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    difference = abs(b - a)
    return difference <= abs(rel_tol * b) or difference <= abs(rel_tol * a) or difference <= abs_tol
