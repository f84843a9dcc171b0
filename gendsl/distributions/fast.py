"""Sums over columns compiled by numba: one pass over memory, and no call into NumPy for each step.

An option (`pip install gendsl[fast]`), and not imported before it is needed: numba takes its time. Arrays are
contiguous and of floats; what is computed is what `column_totals` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

_COLUMN = numba.types.Array(numba.float64, 1, "C", readonly=True)
_BUFFER = numba.float64[::1]
_FLOAT = numba.float64

_BLOCK = 512
_TINY, _HUGE = 1e-35, 1e35  # products of eight numbers between these are numbers
_NARROW = 1e10  # times exp(-700) this is still far below any sum of densities that is trusted
_LOG2_E = 1.0 / math.log(2.0)
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is log(2)
_TO_INTEGER = 1.5 * 2.0**52  # a float so large that adding to it rounds to an integer, in its lowest bits


def _compiled(result: Any, *parameters: Any, fastmath: Any) -> Callable[[Any], Any]:
    """Compile for these types, when imported; kept on disk where some directory can be written to."""

    def decorate(function: Any) -> Any:
        options = {"error_model": "numpy", "fastmath": fastmath}
        try:
            return numba.njit(result(*parameters), cache=True, **options)(function)
        except RuntimeError:
            return numba.njit(result(*parameters), **options)(function)

    return decorate


@_compiled(_FLOAT, _COLUMN, _COLUMN, fastmath={"reassoc", "contract"})
def squares_from_column(x: Any, mean: Any) -> Any:
    """Σ (x_i - mean_i)²."""
    total = 0.0
    for i in range(len(x)):
        d = x[i] - mean[i]
        total += d * d
    return total


@_compiled(_FLOAT, _COLUMN, _FLOAT, fastmath={"reassoc", "contract"})
def squares_from_number(x: Any, mean: Any) -> Any:
    """Σ (x_i - mean)²."""
    total = 0.0
    for i in range(len(x)):
        d = x[i] - mean
        total += d * d
    return total


# Reassociation would undo the rounding to an integer. The loops are apart so that each is vectorised.
@_compiled(
    numba.void, _COLUMN, _FLOAT, _FLOAT, _FLOAT, _BUFFER, _BUFFER, numba.int64[::1], _BUFFER,
    fastmath={"contract"},
)  # fmt: skip
def _add_component(
    x: Any, mean: Any, factor: Any, scale: Any, densities: Any, powers: Any, bits: Any, rests: Any
) -> None:
    """Add scale exp(factor (x - mean)²): with y = k log(2) + r, exp(y) is 2^k exp(r).

    `powers` and `bits` are one piece of memory. A density of exp(-700) stands for all below.
    """
    n = len(x)
    for i in range(n):
        d = x[i] - mean
        powers[i] = max(factor * d * d, -700.0)
    for i in range(n):
        y = powers[i]
        shifted = y * _LOG2_E + _TO_INTEGER
        powers[i] = shifted
        k = shifted - _TO_INTEGER
        r = (y - k * _LN2_HIGH) - k * _LN2_LOW
        e = 1.0 / 6227020800.0  # Taylor's series to the 13th power, as |r| <= log(2) / 2
        e = e * r + 1.0 / 479001600.0
        e = e * r + 1.0 / 39916800.0
        e = e * r + 1.0 / 3628800.0
        e = e * r + 1.0 / 362880.0
        e = e * r + 1.0 / 40320.0
        e = e * r + 1.0 / 5040.0
        e = e * r + 1.0 / 720.0
        e = e * r + 1.0 / 120.0
        e = e * r + 1.0 / 24.0
        e = e * r + 1.0 / 6.0
        e = e * r + 0.5
        e = e * r + 1.0
        e = e * r + 1.0
        rests[i] = e * scale
    for i in range(n):
        bits[i] = (bits[i] + 1023) << 52  # the float 2^k
    for i in range(n):
        densities[i] += rests[i] * powers[i]


@_compiled(_FLOAT, _COLUMN, _COLUMN, _COLUMN, _COLUMN, _FLOAT, fastmath={"contract"})
def log_mixtures(x: Any, scales: Any, means: Any, variances: Any, least: Any) -> Any:
    """Σ_i log Σ_j s_j exp(-(x_i - μ_j)² / 2v_j); NaN where one of these densities is not above `least`,
    of about 1e-280, or a component is so narrow that it can't be told.
    """
    densities, powers, rests = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    bits = powers.view(np.int64)
    total = 0.0
    for start in range(0, len(x), _BLOCK):
        n = min(_BLOCK, len(x) - start)
        densities[:] = 0.0
        for j in range(len(means)):
            if not scales[j] < _NARROW:
                return math.nan
            _add_component(
                x[start : start + n], means[j], -0.5 / variances[j], scales[j], densities, powers, bits, rests
            )
        low = high = densities[0]
        sum_ = 0.0
        for i in range(n):
            low = min(low, densities[i])
            high = max(high, densities[i])
            sum_ += densities[i]
        if not (low > least and sum_ < math.inf):  # NaN is neither
            return math.nan
        eighth = n // 8 if low > _TINY and high < _HUGE else 0
        d = densities
        for i in range(eighth):
            first = d[i] * d[eighth + i] * d[2 * eighth + i] * d[3 * eighth + i]
            second = d[4 * eighth + i] * d[5 * eighth + i] * d[6 * eighth + i] * d[7 * eighth + i]
            total += math.log(first * second)
        for i in range(8 * eighth, n):
            total += math.log(d[i])
    return total
