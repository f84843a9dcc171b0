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

import autograd.numpy as anp
import numpy as np
import scipy.special
from autograd.extend import defvjp, primitive
from autograd.numpy.numpy_vjps import unbroadcast_f
from autograd.tracer import getval

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


def log_gamma(x: float) -> float:
    """log gamma(x) for x > 0; infinite where that is beyond all floats."""
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


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
    return np.where(large, by_series, _log_gammas(y + d) - _log_gammas(y))[()]


def digamma_differences(a: Any, d: Any) -> Any:
    """psi(a + d) - psi(a) for a > 0, d >= 0, elementwise; exact also where d is small against a large a."""
    if type(a) is float and a < _STIRLING_FROM:
        return psi(a + d) - psi(a)
    large = a >= _STIRLING_FROM
    z = where(large, a, _STIRLING_FROM)
    by_series = anp.log1p(d / z) + _digamma_rest(z + d) - _digamma_rest(z)
    y = where(large, 1.0, a)
    return where(large, by_series, psi(y + d) - psi(y))


def _digamma_rest(z: Any) -> Any:
    """psi(z) - log z (DLMF 5.11.2)."""
    y = 1.0 / (z * z)
    return -0.5 / z - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))


def log_less_digamma(log_y: Any, y: Any, m: Any) -> Any:
    """log(y) - psi(m) for positive y and m, elementwise; exact also where y is close to a large m."""
    if type(m) is float and m < _STIRLING_FROM:
        return log_y - psi(m)
    t = (y - m) / m
    close = (m >= _STIRLING_FROM) & (t > -0.5) & (t < 1.0)
    z = where(close, m, _STIRLING_FROM)
    return where(close, anp.log1p(where(close, t, 0.0)) - _digamma_rest(z), log_y - psi(m))


log_gamma_ratios = primitive(_log_gamma_ratios)
defvjp(
    log_gamma_ratios,
    lambda ans, a, d: unbroadcast_f(a, lambda g: g * digamma_differences(a, d)),
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
    return log_gammas(smaller) - log_gamma_ratios(larger, smaller)


def log_choose(n: int, k: int) -> float:
    """log of n over k for 0 <= k <= n."""
    k = min(k, n - k)
    return log_gamma_ratio(n - k + 1.0, k) - math.lgamma(k + 1.0)


def log_chooses(n: Any, k: Any) -> Any:
    """log of n over k for 0 <= k <= n, elementwise."""
    k = anp.minimum(k, n - k)
    return log_gamma_ratios(n - k + 1.0, k) - log_gammas(k + 1.0)


def log_half_step(df: float) -> float:
    """log(gamma((df + 1) / 2) / gamma(df / 2)), also where half of df is no float."""
    return log_gamma_ratio(0.5 * df, 0.5) if df > _TINY else 0.5 * LOG_PI + math.log(df) - LOG_2


def log_half_steps(df: Any) -> Any:
    """The same, elementwise."""
    tiny = df <= _TINY
    usual = log_gamma_ratios(0.5 * where(tiny, 1.0, df), 0.5)
    return where(tiny, 0.5 * LOG_PI + anp.log(where(tiny, df, 1.0)) - LOG_2, usual)


_SQUARED = 1e150
"""The square of what is no larger than this is finite."""


def log1p_square(d: float, scale: float, root: float = 1.0) -> float:
    """log(1 + z^2) with z = d / (scale root), also where z^2 or z itself is beyond all floats."""
    z = abs(d / scale / root)
    if z <= _SQUARED:
        return math.log1p(z * z)
    if z < math.inf:
        return 2.0 * math.log(z) + math.log1p(1.0 / (z * z))
    return 2.0 * (math.log(abs(d)) - math.log(scale) - math.log(root))


def log1p_squares(d: Any, scale: Any, root: Any = 1.0) -> Any:
    """The same, elementwise."""
    far = np.isinf(getval(d) / getval(scale) / getval(root))
    z = anp.abs(where(far, 0.0, d) / scale / root)
    large = z > _SQUARED
    beyond = where(large, z, 1.0)
    small = where(large, 1.0 / beyond, z)
    usual = 2.0 * anp.log(beyond) + anp.log1p(small * small)
    if not np.any(far):
        return usual
    logs = anp.log(where(far, anp.abs(d), 1.0)) - anp.log(scale) - anp.log(root)
    return where(far, 2.0 * logs, usual)


def expit(x: float) -> float:
    """1 / (1 + exp(-x)): the probability whose logit is x."""
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    odds = math.exp(x)
    return odds / (1.0 + odds)


expits = primitive(lambda x: scipy.special.expit(x))
"""The same, elementwise."""
defvjp(expits, lambda ans, x: lambda g: g * ans * expits(-x))


def log1p_exp(x: float) -> float:
    """log(1 + exp(x)), also where exp(x) is beyond all floats."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


log1p_exps = primitive(lambda x: np.logaddexp(0.0, x))
"""The same, elementwise."""
defvjp(log1p_exps, lambda ans, x: lambda g: g * expits(x))


_LARGEST_LOG = math.log(sys.float_info.max)


def exponential(x: float) -> float:
    """exp(x); infinite where that is beyond all floats."""
    return math.inf if x > _LARGEST_LOG else math.exp(x)


def log1p_ratio(a: float, b: float) -> float:
    """log(1 + a / b) for positive a and b, also where a / b is beyond all floats."""
    return math.log1p(a / b) if a <= b else math.log(a) - math.log(b) + math.log1p(b / a)


def log1p_ratios(a: Any, b: Any) -> Any:
    """The same, elementwise."""
    less = a <= b
    larger, smaller = where(less, b, a), where(less, a, b)
    return where(less, 0.0, anp.log(larger) - anp.log(smaller)) + anp.log1p(smaller / larger)


def log_i0e(kappa: float) -> float:
    """log(I0(kappa)) - kappa for kappa >= 0."""
    if kappa > _BESSEL_FROM:
        return 0.125 / kappa - 0.5 * (LOG_2PI + math.log(kappa))
    return math.log(scipy.special.i0e(kappa))


def _log_i0es(kappa: Any) -> Any:
    far = kappa > _BESSEL_FROM
    z = np.where(far, kappa, _BESSEL_FROM)
    by_series = 0.125 / z - 0.5 * (LOG_2PI + np.log(z))
    return np.where(far, by_series, np.log(scipy.special.i0e(np.where(far, 0.0, kappa))))[()]


def _bessel_rests(x: Any) -> Any:
    far = x > _RATIO_FROM
    y = 1.0 / np.where(far, x, _RATIO_FROM)
    by_series = -0.5 * y * (1.0 + 0.25 * y * (1.0 + y * (1.0 + 1.5625 * y)))
    return np.where(far, by_series, scipy.special.i1e(x) / scipy.special.i0e(x) - 1.0)[()]


def _bessel_curve(x: Any, rest: Any) -> Any:
    """The derivative of I1(x) / I0(x)."""
    far, ratio = x > _RATIO_FROM, 1.0 + rest
    y = 1.0 / where(far, x, _RATIO_FROM)
    by_series = 0.5 * y * y * (1.0 + 0.5 * y * (1.0 + 1.5 * y))
    over = where(x == 0.0, 0.5, ratio / where(x == 0.0, 1.0, x))
    return where(far, by_series, 1.0 - over - ratio * ratio)


log_i0es = primitive(_log_i0es)
"""`log_i0e`, elementwise."""
_bessel_rest = primitive(_bessel_rests)  # I1(x) / I0(x) - 1
defvjp(log_i0es, lambda ans, x: lambda g: g * _bessel_rest(x))
defvjp(_bessel_rest, lambda ans, x: lambda g: g * _bessel_curve(x, ans))
