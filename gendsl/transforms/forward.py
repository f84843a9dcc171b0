"""Forward-mode differentiation of scalars: a number with its tangent.

While a transform runs, every free continuous coordinate has an index, and each number computed from them is
a `Dual`: its value, and its tangent {i: d value / d coordinate i}. The tangent is sparse, because a number in
a move usually depends on a few coordinates; an absent index means an exact zero. Tangents are never changed
once made, so numbers share them. One run gives outputs and derivatives together.

A derivative is never dropped in silence. What would drop it (`float(x)`, `round(x, 2)`, ...) raises
`LostDerivativeError`; so does formatting, `f"{x:.17g}"`, for what is read back from such a text has none.
Comparing and branching on a comparison look at the value only: they are where a program chooses its path,
and along one path the derivative is that of its arithmetic. Whole numbers are found the same way:
`math.floor(x)`, `math.ceil(x)`, `math.trunc(x)`, `int(x)`, `round(x)` and `x // y` are constant between their
jumps, so they are plain numbers without a derivative.
"""

from __future__ import annotations

import contextlib
import math
import numbers
import operator
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from gendsl.errors import LostDerivativeError
from gendsl.transforms.dispatch import Dispatched
from gendsl.transforms.rules import SLOPES, Slope

ARITHMETIC_ERRORS = (ValueError, OverflowError, ZeroDivisionError)
_REAL_TYPES: Any = (float, int, np.floating, np.integer, np.bool_, numbers.Rational)

# numpy's annotations know only arrays; at run time both come back to `Dual.__array_ufunc__`.
_arctan2: Callable[..., Any] = np.arctan2
_hypot: Callable[..., Any] = np.hypot

_KEEP = (
    "compute with it as it is: arithmetic, comparisons, math.* and numpy.* accept it, and print(x) shows it. "
    "To fill an array, build a list and call np.array(list), or start from np.zeros(n, dtype=object). "
    "A whole number, which has no derivative, is int(x), round(x), math.floor(x) or math.ceil(x)"
)


def lost(operation: str, fix: str = _KEEP) -> LostDerivativeError:
    """The error that says that `operation` would drop a derivative."""
    return LostDerivativeError(
        f"{operation} would drop the derivative of its argument with respect to the continuous choices "
        "that it was computed from",
        fix=fix,
    )


def real(x: Any) -> float | None:
    """`x` as a Python float if it is a plain real number, else None."""
    if isinstance(x, _REAL_TYPES):
        return float(x)
    return None


def edge_slope(rule: Slope, x: float, y: float) -> float:
    """The slope where Python's arithmetic raises: numpy's limit, inf or NaN, so that it can't pass unseen."""
    if y != y:
        return math.nan
    with np.errstate(all="ignore"):
        return float(rule(np.float64(x), np.float64(y), np))


def power_slope(x: float, exponent: float) -> float:
    """d x**c / dx = c x**(c - 1)."""
    if exponent == 0:
        return 0.0
    try:
        slope: float = exponent * x ** (exponent - 1)
    except ZeroDivisionError:
        slope = math.inf
    except OverflowError:
        slope = exponent * (x**exponent / x)
    return slope


def exponent_slope(base: float, exponent: float, y: float) -> float:
    """d b**x / dx = b**x log(b), for y = b**x."""
    if base > 0.0:
        return y * math.log(base)
    if base == 0.0:
        return 0.0 if exponent > 0 else math.nan
    if base != base:
        return math.nan
    raise ValueError(
        f"a power of a negative base ({base!r}) has no derivative with respect to its exponent ({exponent!r})"
    )


def _real_power(base: float, exponent: float) -> float:
    y = base**exponent
    if type(y) is float:
        return y
    raise ValueError(f"a negative number to a fractional power is not real: {base!r} ** {exponent!r}")


def chain(y: float, terms: Iterable[tuple[float, Dual]]) -> Dual:
    """The number y with the chain rule's tangent: the sum of slope * dx over the (slope, x) of `terms`."""
    total: dict[int, float] = {}
    for slope, x in terms:
        for i, d in x.tangent.items():
            total[i] = total[i] + slope * d if i in total else slope * d
    return dual(y, total)


def _method(name: str, function: Callable[[float], float]) -> Callable[[Dual], Dual]:
    """The numpy function `name` of a scalar; like numpy, it answers inf or NaN where `math` raises."""
    rule: Slope = SLOPES[name]
    ufunc: np.ufunc = getattr(np, name)

    def method(self: Dual) -> Dual:
        x = self.value
        try:
            y = function(x)
            slope = rule(x, y, math)
        except ARITHMETIC_ERRORS:
            with np.errstate(all="ignore"):
                y = float(ufunc(x))
            slope = edge_slope(rule, x, y)
        return dual(y, {i: slope * d for i, d in self.tangent.items()})

    method.__name__ = name
    return method


def dual(value: float, tangent: dict[int, float]) -> Dual:
    """A number with its tangent."""
    made = Dual()
    made.value = value
    made.tangent = tangent
    return made


class Dual(Dispatched):
    """A number and its tangent: `value`, and `tangent[i]` = d value / d coordinate i (absent: 0).

    Made by `dual`, or where the cost of a move is by the lines that are in it: an `__init__` would double the
    time that it takes.
    """

    __slots__ = ("tangent", "value")
    value: float
    tangent: dict[int, float]

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.tangent!r})"

    def __format__(self, spec: str) -> str:
        if spec:
            raise lost(
                f"formatting x as {spec!r}, and reading a number back from that,",
                "to look at it, print(x), or f'{x}', which shows the derivative, too; compute with x itself",
            )
        return repr(self)

    # --- arithmetic: written out, since the cost of a move is in these lines ---------------------
    # (a loop over a small dict is faster than a comprehension, which Python 3.11 makes a call)

    def __add__(self, other: Any) -> Any:
        if type(other) is Dual:
            total = self.tangent.copy()
            for i, d in other.tangent.items():
                total[i] = total[i] + d if i in total else d
            return dual(self.value + other.value, total)
        if type(other) is float or type(other) is int:
            return dual(self.value + other, self.tangent)
        number = real(other)
        return NotImplemented if number is None else dual(self.value + number, self.tangent)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Dual:
            total = self.tangent.copy()
            for i, d in other.tangent.items():
                total[i] = total[i] - d if i in total else -d
            return dual(self.value - other.value, total)
        if type(other) is float or type(other) is int:
            return dual(self.value - other, self.tangent)
        number = real(other)
        return NotImplemented if number is None else dual(self.value - number, self.tangent)

    def __rsub__(self, other: Any) -> Any:
        number = other if type(other) is float or type(other) is int else real(other)
        if number is None:
            return NotImplemented
        total = {}
        for i, d in self.tangent.items():
            total[i] = -d
        return dual(number - self.value, total)

    def __mul__(self, other: Any) -> Any:
        if type(other) is Dual:
            a = self.value
            b = other.value
            total = {}
            for i, d in self.tangent.items():
                total[i] = b * d
            for i, d in other.tangent.items():
                total[i] = total[i] + a * d if i in total else a * d
            return dual(a * b, total)
        number = other if type(other) is float or type(other) is int else real(other)
        if number is None:
            return NotImplemented
        total = {}
        for i, d in self.tangent.items():
            total[i] = number * d
        return dual(self.value * number, total)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Dual:
            b = other.value
            y = self.value / b
            a = -y / b
            total = {}
            for i, d in self.tangent.items():
                total[i] = d / b
            for i, d in other.tangent.items():
                total[i] = total[i] + a * d if i in total else a * d
            return dual(y, total)
        number = other if type(other) is float or type(other) is int else real(other)
        if number is None:
            return NotImplemented
        total = {}
        for i, d in self.tangent.items():
            total[i] = d / number
        return dual(self.value / number, total)

    def __rtruediv__(self, other: Any) -> Any:
        number = other if type(other) is float or type(other) is int else real(other)
        if number is None:
            return NotImplemented
        b = self.value
        y = number / b
        slope = -y / b
        total = {}
        for i, d in self.tangent.items():
            total[i] = slope * d
        return dual(y, total)

    def __pow__(self, other: Any) -> Any:
        x = self.value
        if type(other) is Dual:
            exponent = other.value
            y = _real_power(x, exponent)
            slopes = power_slope(x, exponent), exponent_slope(x, exponent, y)
            return chain(y, zip(slopes, (self, other), strict=True))
        number = other if type(other) is float or type(other) is int else real(other)
        if number is None:
            return NotImplemented
        if number == 2:
            y, slope = x**number, 2.0 * x
        else:
            y, slope = _real_power(x, number), power_slope(x, number)
        total = {}
        for i, d in self.tangent.items():
            total[i] = slope * d
        return dual(y, total)

    def __rpow__(self, other: Any) -> Any:
        base = real(other)
        if base is None:
            return NotImplemented
        y = _real_power(base, self.value)
        slope = exponent_slope(base, self.value, y)
        return dual(y, {i: slope * d for i, d in self.tangent.items()})

    def __mod__(self, other: Any) -> Any:
        if type(other) is Dual:
            raise lost("x % y, for y a number with a derivative,")
        number = real(other)
        return NotImplemented if number is None else dual(self.value % number, self.tangent)

    def __rmod__(self, other: Any) -> Any:
        if real(other) is None:
            return NotImplemented
        raise lost("x % y, for y a number with a derivative,")

    def __floordiv__(self, other: Any) -> Any:
        number = other.value if type(other) is Dual else real(other)
        return NotImplemented if number is None else self.value // number

    def __rfloordiv__(self, other: Any) -> Any:
        number = real(other)
        return NotImplemented if number is None else number // self.value

    def __divmod__(self, other: Any) -> Any:
        if type(other) is Dual:
            raise lost("divmod(x, y), for y a number with a derivative,")
        return NotImplemented if real(other) is None else (self // other, self % other)

    def __rdivmod__(self, other: Any) -> Any:
        if real(other) is None:
            return NotImplemented
        raise lost("divmod(x, y), for y a number with a derivative,")

    def __neg__(self) -> Dual:
        total = {}
        for i, d in self.tangent.items():
            total[i] = -d
        return dual(-self.value, total)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        x = self.value
        if x > 0.0:
            return self
        if x < 0.0:
            return -self
        return dual(abs(x), dict.fromkeys(self.tangent, math.nan))  # no derivative at zero

    # --- looking at the value --------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        if type(other) is Dual:
            return self.value == other.value
        return self.value == other if isinstance(other, _REAL_TYPES) else NotImplemented

    def __ne__(self, other: object) -> Any:
        if type(other) is Dual:
            return self.value != other.value
        return self.value != other if isinstance(other, _REAL_TYPES) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        if type(other) is Dual:
            return self.value < other.value
        return self.value < other if isinstance(other, _REAL_TYPES) else NotImplemented

    def __le__(self, other: Any) -> Any:
        if type(other) is Dual:
            return self.value <= other.value
        return self.value <= other if isinstance(other, _REAL_TYPES) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        if type(other) is Dual:
            return self.value > other.value
        return self.value > other if isinstance(other, _REAL_TYPES) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        if type(other) is Dual:
            return self.value >= other.value
        return self.value >= other if isinstance(other, _REAL_TYPES) else NotImplemented

    def __bool__(self) -> bool:
        return self.value != 0.0

    def __hash__(self) -> int:
        # equal values can have different tangents, and a cache would give back the wrong one
        raise lost(
            "hashing a number that was read (as a cache or dict does with its keys)",
            fix="don't cache functions of continuous choices, and look continuous values up in no dict",
        )

    # --- whole numbers: constant between their jumps ---------------------------------------------

    def __int__(self) -> int:
        return int(self.value)

    def __trunc__(self) -> int:
        return math.trunc(self.value)

    def __floor__(self) -> int:
        return math.floor(self.value)

    def __ceil__(self) -> int:
        return math.ceil(self.value)

    def __round__(self, digits: Any = None) -> int:
        if digits is not None:
            raise lost("round(x, digits)")
        return round(self.value)

    # --- what would drop the derivative ----------------------------------------------------------

    def __float__(self) -> NoReturn:
        raise lost(
            "float(x), storing x in an array of floats, or math.* where its call can't be seen (in a lambda, "
            "a callable object, or through map or partial: use numpy.* or a plain `def` there),"
        )

    def __index__(self) -> NoReturn:
        raise lost("using x as an integer (an index, a size, a count)")

    def __complex__(self) -> NoReturn:
        raise lost("complex(x)")

    # --- numpy -----------------------------------------------------------------------------------
    # There is no `__array__`: np.array([x, y]) holds the Duals themselves, as objects, and its loops call the
    # operators above and the methods below (`x.sqrt()`), so derivatives survive it.

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """numpy's hook for np.exp(x), np.float64(2.0) * x, array * x, ..."""
        if method == "__call__" and not kwargs:
            scalar = _SCALAR_UFUNCS.get(ufunc)
            if scalar is not None:
                numbers_ = [x if type(x) is Dual else real(x) for x in inputs]
                if not any(x is None for x in numbers_):
                    # Where Python raises, numpy gives inf or NaN: then its own loops decide, below.
                    with contextlib.suppress(*ARITHMETIC_ERRORS):
                        return scalar(*numbers_)
        return self.apply_ufunc(ufunc, method, inputs, kwargs)

    sqrt = _method("sqrt", math.sqrt)
    cbrt = _method("cbrt", math.cbrt)
    square = _method("square", lambda x: x * x)
    reciprocal = _method("reciprocal", lambda x: 1.0 / x)
    fabs = __abs__
    conjugate = __pos__
    exp = _method("exp", math.exp)
    exp2 = _method("exp2", math.exp2)
    expm1 = _method("expm1", math.expm1)
    log = _method("log", math.log)
    log2 = _method("log2", math.log2)
    log10 = _method("log10", math.log10)
    log1p = _method("log1p", math.log1p)
    sin = _method("sin", math.sin)
    cos = _method("cos", math.cos)
    tan = _method("tan", math.tan)
    arcsin = _method("arcsin", math.asin)
    arccos = _method("arccos", math.acos)
    arctan = _method("arctan", math.atan)
    sinh = _method("sinh", math.sinh)
    cosh = _method("cosh", math.cosh)
    tanh = _method("tanh", math.tanh)
    arcsinh = _method("arcsinh", math.asinh)
    arccosh = _method("arccosh", math.acosh)
    arctanh = _method("arctanh", math.atanh)
    degrees = _method("degrees", math.degrees)
    radians = _method("radians", math.radians)
    rad2deg = degrees
    deg2rad = radians

    def arctan2(self, other: Any) -> Any:
        return _arctan2(self, other)

    def hypot(self, other: Any) -> Any:
        return _hypot(self, other)


def seed_scalar(value: Any, index: int) -> Dual:
    """The number that coordinate `index` is."""
    return dual(float(value), {index: 1.0})


# numpy's functions of scalars that need no arrays. Comparisons are here too: np.float64(1.0) < x.
_SCALAR_UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.remainder: operator.mod,
    np.negative: operator.neg,
    np.positive: operator.pos,
    np.absolute: operator.abs,
    np.fabs: operator.abs,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    **{
        getattr(np, name): getattr(Dual, name)
        for name in SLOPES
        if name not in ("absolute", "fabs", "negative", "positive")
    },
}
