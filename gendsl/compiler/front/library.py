"""NumPy's functions as plain Python, which the front end lowers as it does a user's functions.

Arguments are arrays, and numbers where a name says so. A wrong shape fails, and the reference interpreter
raises what NumPy raises.

It is one module, as each function takes a few lines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


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


def sum_all(a: Any) -> Any:
    """The sum of the entries of a vector."""
    total = 0
    for i in range(len(a)):
        total = total + a[i]
    return total


def prod_all(a: Any) -> Any:
    """The product of the entries of a vector."""
    total = 1
    for i in range(len(a)):
        total = total * a[i]
    return total


def max_all(a: Any) -> Any:
    """The largest entry of a vector."""
    best = a[0]
    for i in range(1, len(a)):
        if a[i] > best or a[i] != a[i]:
            best = a[i]
    return best


def min_all(a: Any) -> Any:
    """The least entry of a vector."""
    best = a[0]
    for i in range(1, len(a)):
        if a[i] < best or a[i] != a[i]:
            best = a[i]
    return best


def mean_all(a: Any) -> float:
    """The mean of the entries of a vector."""
    assert len(a) > 0
    return float(sum_all(a)) / len(a)


def var_all(a: Any) -> float:
    """The mean squared distance from the mean."""
    mean = mean_all(a)
    total = 0.0
    for i in range(len(a)):
        total += (a[i] - mean) * (a[i] - mean)
    return total / len(a)


def std_all(a: Any) -> float:
    """The root of the mean squared distance from the mean."""
    return math.sqrt(var_all(a))


def any_all(a: Any) -> bool:
    """Whether an entry is not 0."""
    found = False
    for i in range(len(a)):
        if a[i] != 0:
            found = True
    return found


def all_all(a: Any) -> bool:
    """Whether no entry is 0."""
    found = True
    for i in range(len(a)):
        if a[i] == 0:
            found = False
    return found


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


def cumsum(a: Any) -> Any:
    """The sums of the first entries of a vector."""
    result = a * 1  # numbers, of which zeros keep their signs
    for i in range(1, len(a)):
        result[i] = result[i - 1] + a[i]
    return result


def cumprod(a: Any) -> Any:
    """The products of the first entries of a vector."""
    result = a * 1
    for i in range(1, len(a)):
        result[i] = result[i - 1] * a[i]
    return result


def outer(a: Any, b: Any) -> Any:
    """The products of the entries of two vectors."""
    return a[:, None] * b[None, :]


def matmul(a: Any, b: Any) -> Any:
    """`a @ b` of vectors and matrices."""
    if a.ndim == 1:
        if b.ndim == 1:
            assert len(a) == len(b)
            total = 0.0
            for i in range(len(a)):
                total += a[i] * b[i]
            return total
        return matmul(b.T, a)
    if b.ndim == 1:
        result = np.zeros(len(a))
        assert a.shape[1] == len(b)
        for i in range(len(a)):
            total = 0.0
            for j in range(len(b)):
                total += a[i, j] * b[j]
            result[i] = total
        return result
    assert a.shape[1] == b.shape[0]
    product = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                product[i, j] += x * b[k, j]
    return product


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


def trace(a: Any) -> Any:
    """The sum of the diagonal of a matrix."""
    total = 0.0
    for i in range(min(a.shape[0], a.shape[1])):
        total += a[i, i]
    return total


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
        assert a[order[i - 1]] != a[order[i]]
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


def logsumexp(a: Any) -> float:
    """log Σ exp(a_i), without overflow."""
    top = max_all(a)
    if not -math.inf < top < math.inf:
        return float(top)
    total = 0.0
    for i in range(len(a)):
        total += math.exp(a[i] - top)
    result: float = top + math.log(total)
    return result


def cholesky(a: Any) -> Any:
    """The lower triangular L with L Lᵀ = a."""
    n = len(a)
    assert a.shape[1] == n
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            total = 0.0 + a[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i == j:
                assert total > 0.0
                lower[i, i] = math.sqrt(total)
            else:
                lower[i, j] = total / lower[j, j]
    return lower


def factored(a: Any) -> Any:
    """L and U in one matrix, the order of the rows, and its sign; the pivot is the largest of its column."""
    n = len(a)
    assert a.shape[1] == n
    lu = a + 0.0
    order = np.arange(n)
    sign = 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(lu[i, k]) > abs(lu[pivot, k]):
                pivot = i
        if pivot != k:
            sign = -sign
            for j in range(n):
                kept = lu[k, j]
                lu[k, j] = lu[pivot, j]
                lu[pivot, j] = kept
            swapped = order[k]
            order[k] = order[pivot]
            order[pivot] = swapped
        if lu[k, k] != 0.0:
            for i in range(k + 1, n):
                factor = lu[i, k] / lu[k, k]
                lu[i, k] = factor
                for j in range(k + 1, n):
                    lu[i, j] -= factor * lu[k, j]
    return lu, order, sign


def norm(a: Any) -> float:
    """The square root of the sum of the squares of the entries."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[i]
    return math.sqrt(total)


def solve(a: Any, b: Any) -> Any:
    """The x with a x = b."""
    lu, order, _ = factored(a)
    assert len(b) == len(lu)
    return substituted(lu, b, order)


def substituted(lu: Any, b: Any, order: Any) -> Any:
    """The x with a x = b, for what `factored` gives of a."""
    n = len(lu)
    if b.ndim == 2:
        columns = np.zeros((b.shape[0], b.shape[1]))
        for j in range(b.shape[1]):
            columns[:, j] = substituted(lu, b[:, j], order)
        return columns
    x = np.zeros(n)
    for i in range(n):
        total = 0.0 + b[order[i]]
        for j in range(i):
            total -= lu[i, j] * x[j]
        x[i] = total
    for step in range(n):
        i = n - 1 - step
        total = x[i]
        for j in range(i + 1, n):
            total -= lu[i, j] * x[j]
        assert lu[i, i] != 0.0
        x[i] = total / lu[i, i]
    return x


def inv(a: Any) -> Any:
    """The inverse of a matrix."""
    return solve(a, eye(len(a)))


def det(a: Any) -> float:
    """The determinant of a matrix."""
    lu, _, sign = factored(a)
    result: float = sign
    for i in range(len(lu)):
        result *= lu[i, i]
    return result


def slogdet(a: Any) -> Any:
    """The sign of the determinant, and the logarithm of its size."""
    lu, _, sign = factored(a)
    total = 0.0
    for i in range(len(lu)):
        if lu[i, i] == 0.0:
            return 0.0, -math.inf
        if lu[i, i] < 0.0:
            sign = -sign
        total += math.log(abs(lu[i, i]))
    return sign, total
