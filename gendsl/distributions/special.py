"""Special functions that densities need: each for Python numbers and, elementwise, for autograd.

They keep their accuracy where the textbook formula cancels or overflows. Functions in the plural, and
those without a plural, take arrays and whatever autograd traces; the singular ones Python floats only.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
import scipy.special
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.scipy.special import gammaln, psi

LOG_2 = math.log(2.0)
LOG_PI = math.log(math.pi)
LOG_2PI = math.log(2.0 * math.pi)
HALF_LOG_2PI = 0.5 * LOG_2PI
_SQRT_HALF = math.sqrt(0.5)
_STIRLING_FROM = 16.0  # from here on five terms of Stirling's series are exact to the last digit


def _where(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)[()]


where = primitive(_where)  # autograd's own gets the derivatives of arguments that broadcast wrong
defvjp(
    where,
    lambda ans, c, x, y: unbroadcast_f(x, lambda g: where(c, g, 0.0)),
    lambda ans, c, x, y: unbroadcast_f(y, lambda g: where(c, 0.0, g)),
    argnums=(1, 2),
)


def density(inside: Any, x: Any, stand_in: Any, log_density: Callable[[Any], Any]) -> Any:
    """`log_density(x)` where `inside`, -inf elsewhere.

    Elsewhere it is evaluated at `stand_in`, a point of the support, so that neither the value nor the
    derivative meets a NaN.
    """
    with np.errstate(all="ignore"):
        return where(inside, log_density(where(inside, x, stand_in)), -math.inf)


def stirling_rest(z: Any) -> Any:
    """log gamma(z) - ((z - 1/2) log z - z + log(2 pi) / 2) by Stirling's series (DLMF 5.11.1)."""
    y = 1.0 / (z * z)
    return (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y / 1188)))) / z


def log_gamma_ratio(a: float, d: float) -> float:
    """log(gamma(a + d) / gamma(a)) for a > 0, d >= 0, exact also where d is small against a large a."""
    if a < _STIRLING_FROM:
        return math.lgamma(a + d) - math.lgamma(a)
    rest: float = stirling_rest(a + d) - stirling_rest(a)
    return (a - 0.5) * math.log1p(d / a) + d * (math.log(a + d) - 1.0) + rest


@np.errstate(all="ignore")
def _log_gamma_ratios(a: Any, d: Any) -> Any:
    large = np.asarray(a) >= _STIRLING_FROM
    z = np.where(large, a, _STIRLING_FROM)
    rest = stirling_rest(z + d) - stirling_rest(z)
    by_series = (z - 0.5) * np.log1p(d / z) + d * (np.log(z + d) - 1.0) + rest
    y = np.where(large, 1.0, a)
    return np.where(large, by_series, scipy.special.gammaln(y + d) - scipy.special.gammaln(y))[()]


log_gamma_ratios = primitive(_log_gamma_ratios)
defvjp(
    log_gamma_ratios,
    lambda ans, a, d: unbroadcast_f(a, lambda g: g * (psi(a + d) - psi(a))),
    lambda ans, a, d: unbroadcast_f(d, lambda g: g * psi(a + d)),
)


@functools.lru_cache(maxsize=256)  # which choices that are made again and again mostly have in common
def log_beta(a: float, b: float) -> float:
    """log B(a, b) for positive a and b."""
    if a < b:
        a, b = b, a
    return math.lgamma(b) - log_gamma_ratio(a, b)


def log_betas(a: Any, b: Any) -> Any:
    """log B(a, b), elementwise."""
    larger, smaller = where(a < b, b, a), where(a < b, a, b)
    return gammaln(smaller) - log_gamma_ratios(larger, smaller)


def log_choose(n: int, k: int) -> float:
    """log of n over k for 0 <= k <= n."""
    k = min(k, n - k)
    return log_gamma_ratio(n - k + 1.0, k) - math.lgamma(k + 1.0)


def log_chooses(n: Any, k: Any) -> Any:
    """log of n over k for 0 <= k <= n, elementwise."""
    k = anp.minimum(k, n - k)
    return log_gamma_ratios(n - k + 1.0, k) - gammaln(k + 1.0)


def log1p_square(z: float) -> float:
    """log(1 + z^2), also where z^2 is beyond all floats."""
    z = abs(z)
    return math.log1p(z * z) if z <= 1.0 else 2.0 * math.log(z) + math.log1p(1.0 / (z * z))


def log1p_squares(z: Any) -> Any:
    """log(1 + z^2), elementwise."""
    z = anp.abs(z)
    large = z > 1.0
    beyond = where(large, z, 1.0)
    small = where(large, 1.0 / beyond, z)
    return 2.0 * anp.log(beyond) + anp.log1p(small * small)


log_i0e = primitive(lambda x: np.log(scipy.special.i0e(x)))  # log(I0(x)) - x for x >= 0
_bessel_ratio = primitive(lambda x: scipy.special.i1e(x) / scipy.special.i0e(x))  # I1(x) / I0(x)
defvjp(log_i0e, lambda ans, x: lambda g: g * (_bessel_ratio(x) - 1.0))
defvjp(
    _bessel_ratio,
    lambda ans, x: lambda g: g * (1.0 - where(x == 0.0, 0.5, ans / where(x == 0.0, 1.0, x)) - ans * ans),
)

# --- the mass of an interval under the standard normal distribution --------------------------------

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_QUADRATURE = tuple(zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True))
_ERFC_TO = 36.0  # the upper tail underflows soon after


def log_normal_tail(t: float) -> float:
    """log P(Z > t)."""
    if t < _ERFC_TO:
        return math.log(0.5 * math.erfc(t * _SQRT_HALF))
    return float(scipy.special.log_ndtr(-t))


def log_normal_mass(a: float, b: float) -> float:
    """log P(a < Z < b) for a < b, exact also for narrow intervals and far out in the tails."""
    if math.isinf(a) and math.isinf(b):
        return 0.0
    if a + b < 0.0:
        a, b = -b, -a
    width = b - a
    if width < 1.0 and width * b < 1.0:  # the density is nearly flat: the tails would cancel
        middle, half = 0.5 * (a + b), 0.5 * width
        flat = math.fsum(w * math.exp(-t * half * (middle + 0.5 * t * half)) for t, w in _QUADRATURE)
        return math.log(half * flat) - 0.5 * middle * middle - HALF_LOG_2PI
    if a <= 0.0:
        return math.log1p(-0.5 * (math.erfc(b * _SQRT_HALF) + math.erfc(-a * _SQRT_HALF)))
    beyond_a = log_normal_tail(a)
    return beyond_a + math.log1p(-math.exp(log_normal_tail(b) - beyond_a))


@np.errstate(all="ignore")
def _log_normal_masses(a: Any, b: Any) -> Any:
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    swap = a + b < 0.0
    a, b = np.where(swap, -b, a), np.where(swap, -a, b)
    width = b - a
    middle, half = 0.5 * (a + b), 0.5 * width
    flat = sum(w * np.exp(-t * half * (middle + 0.5 * t * half)) for t, w in _QUADRATURE)
    narrow = np.log(half * flat) - 0.5 * middle * middle - HALF_LOG_2PI
    central = np.log1p(-scipy.special.ndtr(-b) - scipy.special.ndtr(a))
    beyond_a = scipy.special.log_ndtr(-a)
    tail = beyond_a + np.log1p(-np.exp(scipy.special.log_ndtr(-b) - beyond_a))
    return np.where((width < 1.0) & (width * b < 1.0), narrow, np.where(a <= 0.0, central, tail))[()]


log_normal_masses = primitive(_log_normal_masses)
defvjp(
    log_normal_masses,
    lambda ans, a, b: unbroadcast_f(a, lambda g: -g * anp.exp(-0.5 * a * a - HALF_LOG_2PI - ans)),
    lambda ans, a, b: unbroadcast_f(b, lambda g: g * anp.exp(-0.5 * b * b - HALF_LOG_2PI - ans)),
)
