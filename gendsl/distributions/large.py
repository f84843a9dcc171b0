"""The densities of the gamma and the beta family where parameters are large.

There the textbook formula is a difference of terms much larger than itself: log(x!) alone is 1.7e9 at 1e8, of
which floats keep 2e-7. With Stirling's series for the factorials these terms cancel on paper (Loader 2000,
"Fast and accurate computation of binomial probabilities"):

    m log y - y - log gamma(m + 1) = -D(m, y) - log(2 pi m) / 2 - r(m),    D(m, y) = m log(m / y) + y - m,

with r the rest of the series. What is left is of the size of the result; its error is about 1e-16 |y - m|.
"""

from __future__ import annotations

import math

from gendsl.distributions.special import (
    HALF_LOG_2PI,
    stirling_rest,
)

LARGE = 1e5
"""From here on the error of the textbook formulas, less than 1e-9 below, is worth the cost."""


def _deviance(m: float, y: float) -> float:
    """D(m, y) for positive m and y."""
    t = (y - m) / m
    if -0.5 < t < 1.0:
        return m * (t - math.log1p(t))
    return m * (math.log(m) - math.log(y)) + (y - m)


def poisson_kernel(m: float, y: float) -> float:
    """m log y - y - log gamma(m + 1), for m > 1e5 and y > 0."""
    m = float(m)  # of a count, whose square may be no float
    rest: float = stirling_rest(m)
    return -_deviance(m, y) - 0.5 * math.log(m) - HALF_LOG_2PI - rest


def binomial_kernel(i: float, j: float, p: float, q: float) -> float:
    """log((i + j)! / (i! j!) p^i q^j), for i and j > 1e5, and 0 < p = 1 - q < 1."""
    i, j = float(i), float(j)
    n = i + j
    rest: float = stirling_rest(n) - stirling_rest(i) - stirling_rest(j)
    root = 0.5 * (math.log(n) - math.log(i) - math.log(j)) - HALF_LOG_2PI
    return rest + root - _deviance(i, n * p) - _deviance(j, n * q)
