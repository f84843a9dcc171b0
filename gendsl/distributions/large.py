"""The densities of the gamma and the beta family where parameters are large.

There the textbook formula is a difference of terms much larger than itself: log(x!) alone is 1.7e9 at 1e8, of
which floats keep 2e-7. With Stirling's series for the factorials these terms cancel on paper (Loader 2000,
"Fast and accurate computation of binomial probabilities"):

    m log y - y - log gamma(m + 1) = -D(m, y) - log(2 pi m) / 2 - r(m),    D(m, y) = m log(m / y) + y - m,

with r the rest of the series. What is left is of the size of the result; its error is about 1e-16 |y - m|.
"""

from __future__ import annotations

import math
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

from gendsl.distributions.special import (
    HALF_LOG_2PI,
    digamma_differences,
    log_less_digamma,
    stirling_rest,
    where,
)

LARGE = 1e5
"""From here on the error of the textbook formulas, less than 1e-9 below, is worth the cost."""


def any_large(*parameters: Any) -> bool:
    """Whether each of the parameters has a large entry."""
    for parameter in parameters:
        plain = getval(parameter)
        if not (plain.max(initial=0.0) if isinstance(plain, np.ndarray) else plain) > LARGE:
            return False
    return True


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


# --- elementwise: of any use where the parameters are large, and a number elsewhere ------------------


def _deviances(m: Any, y: Any) -> Any:
    t = (y - m) / m
    near = (t > -0.5) & (t < 1.0)
    t = np.where(near, t, 0.0)
    return np.where(near, m * (t - np.log1p(t)), m * (np.log(m) - np.log(y)) + (y - m))


@np.errstate(all="ignore")
def _poisson_kernels(m: Any, y: Any) -> Any:
    m = np.maximum(m, LARGE)
    return (-_deviances(m, y) - 0.5 * np.log(m) - HALF_LOG_2PI - stirling_rest(m))[()]


@np.errstate(all="ignore")
def _binomial_kernels(i: Any, j: Any, p: Any, q: Any) -> Any:
    i, j = np.maximum(i, LARGE), np.maximum(j, LARGE)
    n = i + j
    rest = stirling_rest(n) - stirling_rest(i) - stirling_rest(j) - HALF_LOG_2PI
    root = 0.5 * (np.log(n) - np.log(i) - np.log(j))
    return (rest + root - _deviances(i, n * p) - _deviances(j, n * q))[()]


def _to_count(i: Any, j: Any, p: Any, q: Any) -> Any:
    """The derivative of `binomial_kernel` in i; the smaller of p and q has the more digits."""
    return digamma_differences(i + 1.0, j) + where(p < 0.5, anp.log(p), anp.log1p(-q))


poisson_kernels = primitive(_poisson_kernels)
defvjp(
    poisson_kernels,
    lambda ans, m, y: unbroadcast_f(m, lambda g: g * log_less_digamma(anp.log(y), y, m + 1.0)),
    lambda ans, m, y: unbroadcast_f(y, lambda g: g * (m / y - 1.0)),
)
binomial_kernels = primitive(_binomial_kernels)
defvjp(
    binomial_kernels,
    lambda ans, i, j, p, q: unbroadcast_f(i, lambda g: g * _to_count(i, j, p, q)),
    lambda ans, i, j, p, q: unbroadcast_f(j, lambda g: g * _to_count(j, i, q, p)),
    lambda ans, i, j, p, q: unbroadcast_f(p, lambda g: g * i / p),
    lambda ans, i, j, p, q: unbroadcast_f(q, lambda g: g * j / q),
)
