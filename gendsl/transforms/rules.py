"""The derivatives of elementwise functions, one rule each.

A rule for a function of one argument is `rule(x, y, m)`: the derivative of y = f(x), written with arithmetic
and with the functions of `m`, which is `math` for Python floats and `numpy` for arrays. So scalars and arrays
are differentiated by the same line. Where a derivative has no limit, numpy's arithmetic gives inf or NaN.

A rule for a function of two arguments is a pair of `partial(x, y, z)`, for z = f(x, y) on arrays; None stands
for a partial derivative that doesn't exist or isn't known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

Slope = Callable[[Any, Any, Any], Any]
Partial = Callable[[Any, Any, Any], Any]

LN2 = math.log(2.0)
LN10 = math.log(10.0)
_ROOT_PI = math.sqrt(math.pi)
_ROOT_2PI = math.sqrt(2.0 * math.pi)

# Functions of one argument under their numpy names.
SLOPES: dict[str, Slope] = {
    "sqrt": lambda x, y, m: 0.5 / y,
    "cbrt": lambda x, y, m: 1.0 / (3.0 * y * y),
    "square": lambda x, y, m: 2.0 * x,
    "reciprocal": lambda x, y, m: -y * y,
    "absolute": lambda x, y, m: x / y,  # 0/0 at zero: |x| has no derivative there
    "fabs": lambda x, y, m: x / y,
    "negative": lambda x, y, m: -1.0,
    "positive": lambda x, y, m: 1.0,
    "conjugate": lambda x, y, m: 1.0,
    "exp": lambda x, y, m: y,
    "exp2": lambda x, y, m: y * LN2,
    "expm1": lambda x, y, m: y + 1.0,
    "log": lambda x, y, m: 1.0 / x,
    "log2": lambda x, y, m: 1.0 / (x * LN2),
    "log10": lambda x, y, m: 1.0 / (x * LN10),
    "log1p": lambda x, y, m: 1.0 / (1.0 + x),
    "sin": lambda x, y, m: m.cos(x),
    "cos": lambda x, y, m: -m.sin(x),
    "tan": lambda x, y, m: 1.0 + y * y,
    "arcsin": lambda x, y, m: 1.0 / m.sqrt((1.0 - x) * (1.0 + x)),
    "arccos": lambda x, y, m: -1.0 / m.sqrt((1.0 - x) * (1.0 + x)),
    "arctan": lambda x, y, m: 1.0 / (1.0 + x * x),
    "sinh": lambda x, y, m: m.cosh(x),
    "cosh": lambda x, y, m: m.sinh(x),
    "tanh": lambda x, y, m: (1.0 / m.cosh(x)) ** 2,  # 1 - y*y would cancel for large |x|
    "arcsinh": lambda x, y, m: 1.0 / m.sqrt(1.0 + x * x),
    "arccosh": lambda x, y, m: 1.0 / m.sqrt((x - 1.0) * (x + 1.0)),
    "arctanh": lambda x, y, m: 1.0 / ((1.0 - x) * (1.0 + x)),
    "degrees": lambda x, y, m: 180.0 / math.pi,
    "radians": lambda x, y, m: math.pi / 180.0,
    "rad2deg": lambda x, y, m: 180.0 / math.pi,
    "deg2rad": lambda x, y, m: math.pi / 180.0,
}

# The same under scipy.special's names.
SPECIAL_SLOPES: dict[str, Slope] = {
    "erf": lambda x, y, m: 2.0 / _ROOT_PI * m.exp(-x * x),
    "erfc": lambda x, y, m: -2.0 / _ROOT_PI * m.exp(-x * x),
    "erfcx": lambda x, y, m: 2.0 * x * y - 2.0 / _ROOT_PI,
    "erfinv": lambda x, y, m: _ROOT_PI / 2.0 * m.exp(y * y),
    "erfcinv": lambda x, y, m: -_ROOT_PI / 2.0 * m.exp(y * y),
    "ndtr": lambda x, y, m: m.exp(-0.5 * x * x) / _ROOT_2PI,
    "ndtri": lambda x, y, m: _ROOT_2PI * m.exp(0.5 * y * y),
    "log_ndtr": lambda x, y, m: m.exp(-0.5 * x * x - y) / _ROOT_2PI,
    "expit": lambda x, y, m: y * scipy.special.expit(-x),
    "log_expit": lambda x, y, m: scipy.special.expit(-x),
    "logit": lambda x, y, m: 1.0 / (x * (1.0 - x)),
    "gamma": lambda x, y, m: y * scipy.special.digamma(x),
    "gammaln": lambda x, y, m: scipy.special.digamma(x),
    "rgamma": lambda x, y, m: -y * scipy.special.digamma(x),
    "digamma": lambda x, y, m: scipy.special.polygamma(1, x),
    "entr": lambda x, y, m: -m.log(x) - 1.0,
    "exp2": SLOPES["exp2"],
    "exp10": lambda x, y, m: y * LN10,
    "expm1": SLOPES["expm1"],
    "log1p": SLOPES["log1p"],
    "cbrt": SLOPES["cbrt"],
    "i0": lambda x, y, m: scipy.special.i1(x),
    "i0e": lambda x, y, m: scipy.special.i1e(x) - np.sign(x) * y,
    "j0": lambda x, y, m: -scipy.special.j1(x),
    "exprel": lambda x, y, m: (m.exp(x) - y) / x,
}


def _power_base(x: Any, y: Any, z: Any) -> Any:
    """d x**y / dx = y x**(y - 1), and 0 for y = 0 even at x = 0."""
    return np.where(y == 0, 0.0, y * np.power(x, np.where(y == 0, 1.0, y - 1.0)))


def _power_exponent(x: Any, y: Any, z: Any) -> Any:
    """d x**y / dy = x**y log(x); 0 on the line x = 0 < y; NaN for negative bases and at 0**0."""
    on_zero = np.where(y > 0, 0.0, np.nan)
    return np.where(x == 0, on_zero, z * np.log(np.where(x == 0, 1.0, x)))


def _one(x: Any, y: Any, z: Any) -> Any:
    return 1.0


def _copysign_magnitude(x: Any, y: Any, z: Any) -> Any:
    return np.where(x == 0, np.nan, np.copysign(1.0, x) * np.copysign(1.0, y))


_BINARY: dict[str, tuple[Partial | None, Partial | None]] = {
    "add": (_one, _one),
    "subtract": (_one, lambda x, y, z: -1.0),
    "multiply": (lambda x, y, z: y, lambda x, y, z: x),
    "divide": (lambda x, y, z: 1.0 / y, lambda x, y, z: -z / y),
    "power": (_power_base, _power_exponent),
    "float_power": (_power_base, _power_exponent),
    "arctan2": (lambda x, y, z: y / (x * x + y * y), lambda x, y, z: -x / (x * x + y * y)),
    "hypot": (lambda x, y, z: x / z, lambda x, y, z: y / z),
    "logaddexp": (lambda x, y, z: np.exp(x - z), lambda x, y, z: np.exp(y - z)),
    "logaddexp2": (lambda x, y, z: np.exp2(x - z), lambda x, y, z: np.exp2(y - z)),
    # At a tie either argument's derivative is one-sided; the first is taken, as Python's max and min do.
    "maximum": (lambda x, y, z: x >= y, lambda x, y, z: ~(x >= y)),
    "minimum": (lambda x, y, z: x <= y, lambda x, y, z: ~(x <= y)),
    "fmax": (lambda x, y, z: (x >= y) | np.isnan(y), lambda x, y, z: ~((x >= y) | np.isnan(y))),
    "fmin": (lambda x, y, z: (x <= y) | np.isnan(y), lambda x, y, z: ~((x <= y) | np.isnan(y))),
    "remainder": (_one, None),
    "fmod": (_one, None),
    "ldexp": (lambda x, y, z: np.ldexp(1.0, y), None),
    "copysign": (_copysign_magnitude, None),
}

_SPECIAL_BINARY: dict[str, tuple[Partial | None, Partial | None]] = {
    "xlogy": (lambda x, y, z: np.log(y), lambda x, y, z: x / y),
    "xlog1py": (lambda x, y, z: np.log1p(y), lambda x, y, z: x / (1.0 + y)),
    "rel_entr": (lambda x, y, z: np.log(x / y) + 1.0, lambda x, y, z: -x / y),
    "kl_div": (lambda x, y, z: np.log(x / y), lambda x, y, z: 1.0 - x / y),
    "beta": (
        lambda x, y, z: z * (scipy.special.digamma(x) - scipy.special.digamma(x + y)),
        lambda x, y, z: z * (scipy.special.digamma(y) - scipy.special.digamma(x + y)),
    ),
    "betaln": (
        lambda x, y, z: scipy.special.digamma(x) - scipy.special.digamma(x + y),
        lambda x, y, z: scipy.special.digamma(y) - scipy.special.digamma(x + y),
    ),
    "gammainc": (None, lambda x, y, z: np.exp((x - 1.0) * np.log(y) - y - scipy.special.gammaln(x))),
    "gammaincc": (None, lambda x, y, z: -np.exp((x - 1.0) * np.log(y) - y - scipy.special.gammaln(x))),
}

# Functions whose result is discrete and says so: truth values, which a program may branch on.
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_TESTS = ("isfinite", "isinf", "isnan", "signbit", "logical_and", "logical_or", "logical_xor", "logical_not")

# `//`, whose result is constant between its jumps.
_WHOLE_NUMBERS = ("floor_divide",)

# Two names of one function share its ufunc, so a table by ufunc serves both.
UNARY_UFUNCS: dict[np.ufunc, Slope] = {getattr(np, name): rule for name, rule in SLOPES.items()}
UNARY_UFUNCS.update(
    (getattr(scipy.special, name), rule)
    for name, rule in SPECIAL_SLOPES.items()
    if isinstance(getattr(scipy.special, name), np.ufunc)
)
BINARY_UFUNCS: dict[np.ufunc, tuple[Partial | None, Partial | None]] = {
    **{getattr(np, name): rules for name, rules in _BINARY.items()},
    **{getattr(scipy.special, name): rules for name, rules in _SPECIAL_BINARY.items()},
}
VALUE_UFUNCS: frozenset[np.ufunc] = frozenset(
    getattr(np, name) for name in (*_COMPARISONS, *_TESTS, *_WHOLE_NUMBERS)
)


class ArrayRules(dict[Callable[..., Any], Callable[..., Any]]):
    """numpy's functions of arrays -> what to call for dual arrays, and lists of dual numbers."""

    def of(self, *functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorate the rule of `functions`."""

        def register(rule: Callable[..., Any]) -> Callable[..., Any]:
            self.update(dict.fromkeys(functions, rule))
            return rule

        return register


def present(names: str, *modules: Any) -> list[Callable[..., Any]]:
    """The functions of these names; numpy 1 lacks some, numpy 2 others."""
    return [getattr(m, name) for name in names.split() for m in modules if hasattr(m, name)]
