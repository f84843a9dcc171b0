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
_BITS = numba.int64[::1]
_FLOAT = numba.float64

_BLOCK = 512
_HUGE = 1e35  # a product of eight numbers below this is a number
_NARROW = 1e10  # times exp(-700) this is still far below any sum of densities that is trusted
_LOG2_E = 1.0 / math.log(2.0)
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is log(2)
_LN2 = math.log(2.0)
_TO_EXPONENT = 1.5 * 2.0**52 + 1023  # adding k to this rounds it; the lowest bits are the exponent of 2^k
_MANTISSA, _ONE = (1 << 52) - 1, 1023 << 52  # bits of a float


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
    numba.void, _COLUMN, _FLOAT, _FLOAT, _FLOAT, _BUFFER, _BUFFER, _BITS, _BUFFER, fastmath={"contract"}
)
def _add_component(
    x: Any, mean: Any, factor: Any, scale: Any, densities: Any, powers: Any, bits: Any, rests: Any
) -> None:
    """Add scale exp(factor (x - mean)²): with y = k log(2) + r, exp(y) is 2^k exp(r).

    `powers` and `bits` are one piece of memory. A density of exp(-700) stands for all below.
    """
    n = len(x)
    for i in range(n):
        d = x[i] - mean
        y = max(factor * d * d, -700.0)
        shifted = y * _LOG2_E + _TO_EXPONENT
        powers[i] = shifted
        k = shifted - _TO_EXPONENT
        r = (y - k * _LN2_HIGH) - k * _LN2_LOW
        # The polynomial through exp at 12 Chebyshev points of |r| <= log(2) / 2, to 2e-17 of it.
        e = 2.5110049204818658e-08
        e = e * r + 2.763265472252779e-07
        e = e * r + 2.755724088722987e-06
        e = e * r + 2.4801485441561313e-05
        e = e * r + 0.00019841269890076403
        e = e * r + 0.0013888888952352863
        e = e * r + 0.008333333333319589
        e = e * r + 0.04166666666648795
        e = e * r + 0.1666666666666668
        e = e * r + 0.5000000000000019
        e = e * r + 1.0
        e = e * r + 1.0
        rests[i] = e * scale
    for i in range(n):
        bits[i] <<= 52  # the float 2^k
    for i in range(n):
        densities[i] += rests[i] * powers[i]


@_compiled(_FLOAT, _BUFFER, _BITS, numba.int64, _FLOAT, fastmath={"reassoc"})
def _log_product(factors: Any, bits: Any, n: Any, least: Any) -> Any:
    """The logarithm of the product of the first n of at most 1000 positive numbers; NaN unless each is above
    `least`, a normal number.

    `factors` and `bits` are one piece of memory, and are changed: of 2^k m only the m in [1, 2) is left.
    """
    above = True
    for i in range(n):
        above &= factors[i] > least
    if not above:
        return math.nan
    exponents = 0
    for i in range(n):
        exponents += (bits[i] >> 52) - 1023
    for i in range(n):
        bits[i] = (bits[i] & _MANTISSA) | _ONE
    product = 1.0
    for i in range(n):
        product *= factors[i]
    return math.log(product) + exponents * _LN2


@_compiled(_FLOAT, _COLUMN, _BUFFER, _FLOAT, fastmath={"contract"})
def log_mixtures(x: Any, components: Any, least: Any) -> Any:
    """Σ_i log Σ_j w_j exp(-(x_i - μ_j)² / 2v_j) / √v_j; NaN where one of these densities is not above
    `least`, of about 1e-280, or a component is so narrow that it can't be told, or is none.

    `components` are all the weights w, then all the means μ and all the variances v.
    """
    k = len(components) // 3
    weights, means, variances = components[:k], components[k : 2 * k], components[2 * k :]
    sum_ = 0.0
    most = 1.0
    for j in range(k):
        if not (weights[j] >= 0.0 and -math.inf < means[j] < math.inf and 0.0 < variances[j] < math.inf):
            return math.nan
        sum_ += weights[j]
        scale = weights[j] / math.sqrt(variances[j])
        if not scale < _NARROW:
            return math.nan
        most += scale
    if not -1e-8 <= sum_ - 1.0 <= 1e-8:
        return math.nan
    # No density is above `most`, so where a product of eight is above this, each of them is above `least`.
    floor = least * most**7 if most < _HUGE else math.inf
    memory = np.empty(3 * _BLOCK)
    densities, powers, rests = memory[:_BLOCK], memory[_BLOCK : 2 * _BLOCK], memory[2 * _BLOCK :]
    bits = powers.view(np.int64)
    total = 0.0
    for start in range(0, len(x), _BLOCK):
        n = min(_BLOCK, len(x) - start)
        densities[:n] = 0.0
        for j in range(k):
            scale = weights[j] / math.sqrt(variances[j])
            _add_component(
                x[start : start + n], means[j], -0.5 / variances[j], scale, densities, powers, bits, rests
            )
        eighth = n // 8
        d = densities
        for i in range(eighth):
            first = d[i] * d[eighth + i] * d[2 * eighth + i] * d[3 * eighth + i]
            second = d[4 * eighth + i] * d[5 * eighth + i] * d[6 * eighth + i] * d[7 * eighth + i]
            powers[i] = first * second
        logs = _log_product(powers, bits, eighth, floor)
        if logs == logs:
            total += logs
        else:
            eighth = 0
        for i in range(8 * eighth, n):
            if not least < d[i] < math.inf:  # NaN is not, either
                return math.nan
            total += math.log(d[i])
    return total
