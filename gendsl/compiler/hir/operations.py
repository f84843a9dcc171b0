"""What a text calls that Python has no operator for; the names of a Python text."""

from __future__ import annotations

import math
import struct
from typing import Any, NoReturn

import numpy as np
import scipy.special

from gendsl.compiler.hir.failures import TextFailure
from gendsl.compiler.hir.linear_python import lapack

_MASK = (1 << 64) - 1


def fail(reason: str) -> NoReturn:
    """End the text."""
    raise TextFailure(reason)


def power(x: float, y: float) -> float:
    """`x ** y` of floats, where it is one."""
    if x < 0.0 and y != math.floor(y):
        fail("a power that is no real number")
    result: float = x**y
    return result


def ipow(x: int, n: int) -> int:
    """`x ** n` of integers, where it is one."""
    if n < 0:
        fail("a negative power of an integer")
    result: int = x**n
    return result


def bits(x: float) -> int:
    """The bits of a float, with those of 0.0 for -0.0, as equal keys have equal hashes."""
    (found,) = struct.unpack("<q", struct.pack("<d", x + 0.0))
    return int(found)


def mix(h: int, x: int) -> int:
    """A hash with one more number in it."""
    h = ((h ^ (x & _MASK)) * 0x9E3779B97F4A7C15) & _MASK
    h ^= h >> 29
    return h if h < (1 << 63) else h - (1 << 64)


def range_length(start: int, stop: int, step: int) -> int:
    """The length of a range."""
    return len(range(start, stop, step))


def _quiet(function: Any) -> Any:
    def call(*args: float) -> float:
        with np.errstate(all="ignore"):
            return float(function(*args))

    return call


def np_lgamma(x: float) -> float:
    """As `math.lgamma`, but infinity where that fails."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


_UFUNCS: dict[str, Any] = dict((
    ("div", np.divide),
    ("exp", np.exp), ("log", np.log), ("sqrt", np.sqrt), ("sin", np.sin), ("cos", np.cos), ("tan",
    np.tan),
    ("atan", np.arctan), ("asin", np.arcsin), ("acos", np.arccos), ("sinh", np.sinh), ("cosh", np.cosh),
    ("asinh", np.arcsinh), ("acosh", np.arccosh), ("atanh", np.arctanh),
    ("tanh", np.tanh), ("log1p", np.log1p), ("expm1", np.expm1), ("log2", np.log2), ("log10", np.log10),
    ("floor", np.floor), ("ceil", np.ceil), ("rint", np.rint), ("atan2", np.arctan2), ("hypot", np.hypot),
    ("logaddexp", np.logaddexp), ("exp2", np.exp2), ("cbrt", np.cbrt), ("copysign", np.copysign),
    ("gammaln", scipy.special.gammaln), ("expit", scipy.special.expit), ("logit", scipy.special.logit),
    ("erf", scipy.special.erf), ("erfc", scipy.special.erfc), ("ndtr", scipy.special.ndtr),
    ("log_ndtr", scipy.special.log_ndtr), ("ndtri", scipy.special.ndtri), ("psi", scipy.special.psi),
    ("i0e", scipy.special.i0e), ("i1e", scipy.special.i1e), ("gamma", scipy.special.gamma),
    ("xlogy", scipy.special.xlogy), ("xlog1py", scipy.special.xlog1py), ("betaln",
    scipy.special.betaln), ("erfcx", scipy.special.erfcx),
    *((name, getattr(scipy.special, name)) for name in (
        "gammainc", "gammaincc", "gammaincinv", "gammainccinv", "betainc", "betaincinv", "erfinv",
        "erfcinv", "beta", "i0", "i1", "entr", "rel_entr", "poch",
    )),
    ("power", np.power), ("mod", np.mod), ("floordiv", np.floor_divide), ("maximum", np.maximum),
    ("minimum", np.minimum),
))  # fmt: skip


def _of_floats(found: Any) -> bool:
    """Whether an object is a function of at most four numbers, all taken for floats."""
    if not isinstance(found, np.ufunc) or found.nin > 4 or found.nout != 1:
        return False
    takes_floats = f"{'d' * found.nin}->d" in found.types
    return takes_floats and all(set(one) <= set("fdgFDG->") for one in found.types)


LOOPS: dict[str, Any] = {
    name: found
    for name, found in vars(scipy.special._ufuncs).items()
    if _of_floats(found) and not hasattr(np, name) and name not in _UFUNCS
}
"""The other functions of scipy.special, also those that scipy.stats calls: their own loops compute them."""
OF_FLOATS = ("fmax", "fmin", "fmod", "reciprocal", "trunc")
"""Functions that have other loops for integers."""
LOOPS |= {
    name: getattr(np, name)
    for name in (*OF_FLOATS, "degrees", "deg2rad", "float_power", "heaviside", "logaddexp2", "nextafter",
                 "rad2deg", "radians", "spacing")
}  # fmt: skip
UFUNCS: dict[str, Any] = {**_UFUNCS, **LOOPS}
"""NumPy's and SciPy's functions, by the names that their operations have behind "np_"."""
NAMES: dict[str, Any] = {
    "np_lgamma": np_lgamma,
    "fail": fail, "power": power, "ipow": ipow, "bits": bits, "mix": mix, "range_length": range_length,
    "lapack": lapack,
    "inf": math.inf, "nan": math.nan,
    **{name: getattr(math, name) for name in (
        "exp", "log", "sqrt", "sin", "cos", "tan", "atan", "asin", "acos", "sinh", "cosh", "tanh", "log1p",
        "expm1",
        "log2", "log10", "lgamma", "gamma", "erf", "erfc", "asinh", "acosh", "atanh", "cbrt", "exp2", "atan2",
        "hypot", "copysign", "fmod", "floor", "ceil", "isnan", "isinf", "isfinite", "factorial", "comb",
    )},
    **{f"np_{name}": _quiet(function) for name, function in UFUNCS.items()},
}  # fmt: skip
"""The names that a Python text may use."""
