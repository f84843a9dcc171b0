"""Special functions that densities need: each for Python numbers and, elementwise, for autograd.

They keep their accuracy where the textbook formula cancels or overflows. Functions in the plural, and
those without a plural, take arrays and whatever autograd traces; the singular ones Python floats only.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f

LOG_2 = math.log(2.0)
LOG_PI = math.log(math.pi)
LOG_2PI = math.log(2.0 * math.pi)
HALF_LOG_2PI = 0.5 * LOG_2PI
_STIRLING_FROM = 16.0  # from here on five terms of Stirling's series are exact to the last digit
_TINY = 1e-300  # up to here gamma(x) is 1 / x to the last digit
_BESSEL_FROM, _RATIO_FROM = 1e10, 1e4


def _where(condition: Any, x: Any, y: Any) -> Any:
    return np.where(condition, x, y)[()]


# autograd.scipy has the next two as well, and imports scipy.stats, scipy.integrate and scipy.signal first.
_polygamma = primitive(scipy.special.polygamma)
psi = primitive(scipy.special.psi)
"""The derivative of log gamma(x), elementwise."""
defvjp(_polygamma, None, lambda ans, n, x: lambda g: g * _polygamma(n + 1, x))
defvjp(psi, lambda ans, x: lambda g: g * _polygamma(1, x))

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


def _log_gammas(x: Any) -> Any:
    found = scipy.special.gammaln(x)
    tiny = x < _TINY  # scipy's is infinite where 1 / x is
    if not (tiny.any() if isinstance(tiny, np.ndarray) else tiny):
        return found
    return np.where(tiny, -np.log(np.where(tiny, x, 1.0)), found)[()]


log_gammas = primitive(_log_gammas)
"""log gamma(x) for x > 0, elementwise."""
defvjp(log_gammas, lambda ans, x: lambda g: g * psi(x))


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


@functools.lru_cache(maxsize=256)  # which choices that are made again and again mostly have in common
def log_beta(a: float, b: float) -> float:
    """log B(a, b) for positive a and b."""
    if a < b:
        a, b = b, a
    return math.lgamma(b) - log_gamma_ratio(a, b)


def log_factorial(k: int) -> float:
    """log k! for k >= 0."""
    return math.lgamma(k + 1.0)


def log_choose(n: int, k: int) -> float:
    """log of n over k for 0 <= k <= n."""
    k = min(k, n - k)
    return log_gamma_ratio(n - k + 1.0, k) - log_factorial(k)


def log_half_step(df: float) -> float:
    """log(gamma((df + 1) / 2) / gamma(df / 2)), also where half of df is no float."""
    return log_gamma_ratio(0.5 * df, 0.5) if df > _TINY else 0.5 * LOG_PI + math.log(df) - LOG_2


def log1p_square(d: float, scale: float, root: float = 1.0) -> float:
    """log(1 + z^2) with z = d / (scale root), also where z^2 or z itself is beyond all floats."""
    z = d / scale / root
    square = z * z
    return math.log1p(square) if square < math.inf else _log_large_square(d, scale, root, z)


def _log_large_square(d: float, scale: float, root: float, z: float) -> float:
    """log(1 + z^2) where z^2 is beyond all floats."""
    if -math.inf < z < math.inf:
        return 2.0 * math.log(abs(z))
    return 2.0 * (math.log(abs(d)) - math.log(scale) - math.log(root))


def expit(x: float) -> float:
    """1 / (1 + exp(-x)): the probability whose logit is x."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    odds = math.exp(x)
    return odds / (1.0 + odds)


def log1p_exp(x: float) -> float:
    """log(1 + exp(x)), also where exp(x) is beyond all floats."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


_LARGEST_LOG = math.log(sys.float_info.max)


def exponential(x: float) -> float:
    """exp(x); infinite where that is beyond all floats."""
    return math.inf if x > _LARGEST_LOG else math.exp(x)


def log1p_ratio(a: float, b: float) -> float:
    """log(1 + a / b) for positive a and b, also where a / b is beyond all floats."""
    return math.log1p(a / b) if a <= b else math.log(a) - math.log(b) + math.log1p(b / a)


def log_i0e(kappa: float) -> float:
    """log(I0(kappa)) - kappa for kappa >= 0."""
    if kappa > _BESSEL_FROM:
        return 0.125 / kappa - 0.5 * (LOG_2PI + math.log(kappa))
    return math.log(scipy.special.i0e(kappa))


def bessel_rest(kappa: float) -> float:
    """I1(kappa) / I0(kappa) - 1: the derivative of `log_i0e`."""
    if kappa > _RATIO_FROM:
        y = 1.0 / kappa
        return -0.5 * y * (1.0 + 0.25 * y * (1.0 + y * (1.0 + 1.5625 * y)))
    ratio: float = scipy.special.i1e(kappa) / scipy.special.i0e(kappa)
    return ratio - 1.0


# --- columns and derivatives of what is not best made from its text ------------------------------------

LOG_FACTORIALS = np.array([math.lgamma(k + 1.0) for k in range(256)])
_TABLES_TO = 1000


def all_from_0_to(largest: float, x: np.ndarray) -> bool:
    """Whether all integers x are; as unsigned numbers, negative ones are very large."""
    return bool(x.view(np.uint64).max() <= largest)


def _looked_up(table: np.ndarray, k: Any) -> Any:
    """The entries of a table at integers, none of which is negative; None where it is too short."""
    if k.dtype.kind != "i":
        return None
    try:
        return table.take(k)
    except IndexError:
        return None


@functools.lru_cache(maxsize=64)
def _log_binomials(n: int) -> np.ndarray:
    return np.array([log_choose(n, k) for k in range(n + 1)])


def _known_binomials(n: Any, k: Any) -> Any:
    return None if type(n) is np.ndarray or n > _TABLES_TO else _looked_up(_log_binomials(int(n)), k)


def _bessel_curve(kappa: float) -> float:
    """The derivative of `bessel_rest`."""
    if kappa > _RATIO_FROM:
        y = 1.0 / kappa
        return 0.5 * y * y * (1.0 + 0.5 * y * (1.0 + 1.5 * y))
    ratio: float = scipy.special.i1e(kappa) / scipy.special.i0e(kappa)
    return 1.0 - (ratio / kappa if kappa > 0.0 else 0.5) - ratio * ratio


def _expit_slope(x: float) -> float:
    return expit(x) * expit(-x)


COLUMN_FUNCTIONS: dict[Callable[..., float], Callable[..., Any]] = {
    log_factorial: lambda k: _looked_up(LOG_FACTORIALS, k),
    log_choose: _known_binomials,
    expit: scipy.special.expit,
    log1p_exp: lambda x: np.logaddexp(0.0, x),
    exponential: np.exp,
}
"""Functions of columns, where they are faster than what is made of the text; None where they can't tell."""

SLOPES: dict[Callable[..., float], Callable[..., float]] = {
    log1p_exp: expit,
    expit: _expit_slope,
    exponential: exponential,
    log_i0e: bessel_rest,
    bessel_rest: _bessel_curve,
}
"""The derivatives of functions of one number, where those of their texts lose digits."""
