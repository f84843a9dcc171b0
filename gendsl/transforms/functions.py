"""Which function to call, in a transform, in place of one that knows nothing of derivatives.

`lifted(f)` is a version of f that differentiates, for the functions of `math`, `numpy`, `numpy.linalg`,
`numpy.fft` and `scipy.special`, or None for any other f. Given plain numbers and arrays, it just calls f.
"""

from __future__ import annotations

import math
import traceback
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.special

from gendsl.errors import GenDSLError, LostDerivativeError, is_users_file, traceback_location
from gendsl.transforms.array_functions import apply_function
from gendsl.transforms.arrays import as_dual_array, holds_dual
from gendsl.transforms.forward import (
    ARITHMETIC_ERRORS,
    Dual,
    chain,
    dual,
    edge_slope,
    exponent_slope,
    lost,
    power_slope,
)
from gendsl.transforms.rules import SLOPES, SPECIAL_SLOPES, Slope

Function = Callable[..., Any]

_LIBRARIES = {"numpy", "scipy"}


def lifted(function: Any) -> Function | None:
    """The version of `function` that differentiates, or None if it needs none."""
    try:
        return _TABLE.get(function)
    except TypeError:  # it can't be hashed, so it is no function of a module
        return None


def lifted_or_refusing(function: Any) -> Function | None:
    """`lifted`, and for what else is SciPy's a version that refuses numbers with derivatives."""
    found = lifted(function)
    if found is None:
        module = getattr(function, "__module__", None)
        if type(module) is str and module.startswith("scipy."):
            return _refusing(function, module)
    return found


def _refusing(function: Any, module: str) -> Function:
    owner = getattr(function, "__self__", None)
    law = getattr(owner, "dist", owner)  # of a frozen distribution, or itself one
    parts = [".".join(part for part in module.split(".") if not part.startswith("_"))]
    parts += [getattr(law, "name", "")] if owner is not None else []
    parts += [getattr(function, "__name__", getattr(function, "name", type(function).__name__))]

    def refuse(*args: Any, **kwargs: Any) -> Any:
        if any(map(holds_dual, args)) or any(map(holds_dual, kwargs.values())):
            raise lost(
                ".".join(filter(None, parts)),
                "write it with math.*, numpy.* or scipy.special.*, which have derivatives: for normal "
                "distributions scipy.special.ndtr is the distribution function, log_ndtr its logarithm and "
                "ndtri its inverse",
            )
        try:
            return function(*args, **kwargs)
        except (LostDerivativeError, SystemError) as error:  # of a function given to it; C makes it the other
            raise lost(".".join(filter(None, parts))) from error

    return refuse


def lost_in(error: Exception) -> LostDerivativeError | None:
    """What an error of a library says that was given numbers with derivatives and knows nothing of them.

    That happens where a call can't be seen, as in a lambda. None if the error is something else.
    """
    text = str(error)
    if isinstance(error, GenDSLError):
        if not isinstance(error, LostDerivativeError) or not _came_by_library(error):
            return None
        text = error.problem
    elif isinstance(error.__cause__, LostDerivativeError):  # C made it another
        text = error.__cause__.problem
    elif not _met_dual(error, text):
        return None
    return LostDerivativeError(
        f"a derivative can't be followed: {text}",
        location=traceback_location(error.__traceback__),
        fix="use functions of math, numpy and scipy.special that have a derivative, and call them in a plain "
        "`def`, not in a lambda",
    )


def _came_by_library(error: Exception) -> bool:
    """Whether an error was raised below a library's function: C hands it on as it is, or as another."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES for frame in frames)


def _met_dual(error: Exception, text: str) -> bool:
    """Whether a library raised an error about the type of a number with derivatives."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    inside = [not is_users_file(frame.f_code.co_filename) for frame in frames]
    called = frames[len(frames) - next((i for i, it in enumerate(reversed(inside)) if not it), len(frames)) :]
    if isinstance(error, ValueError) and "object" not in text:
        return False
    if not called and "ufunc" not in text:
        return False
    held = [value for frame in called or frames[-1:] for value in frame.f_locals.values()]
    return any(map(holds_dual, [*held, getattr(error, "obj", None)]))


# --- math ----------------------------------------------------------------------------------------
# These raise what math raises (ValueError for the logarithm of a negative number), with the same message.


def _value(x: Any) -> Any:
    return x.value if type(x) is Dual else x


def _of_one(function: Function, rule: Slope) -> Function:
    def differentiable(x: Any, /) -> Any:
        if type(x) is not Dual:
            return function(x)
        value = x.value
        y = function(value)
        try:
            slope = rule(value, y, math)
        except ARITHMETIC_ERRORS:
            slope = edge_slope(rule, value, y)
        tangent = {}
        for i, d in x.tangent.items():
            tangent[i] = slope * d
        made = Dual()
        made.value, made.tangent = y, tangent
        return made

    return differentiable


def _special(name: str) -> Slope:
    rule = SPECIAL_SLOPES[name]
    return lambda x, y, m: float(rule(x, y, m))


_log_of_one = _of_one(math.log, SLOPES["log"])


def _log(x: Any, /, *base: Any) -> Any:
    if not base:
        return _log_of_one(x)
    if type(x) is not Dual and type(base[0]) is not Dual:
        return math.log(x, *base)
    return _log_of_one(x) / _log_of_one(*base)


def _pow(x: Any, y: Any, /) -> Any:
    if type(x) is not Dual and type(y) is not Dual:
        return math.pow(x, y)
    base, exponent = float(_value(x)), float(_value(y))
    z = math.pow(base, exponent)
    terms = []
    if type(x) is Dual:
        terms.append((power_slope(base, exponent), x))
    if type(y) is Dual:
        terms.append((exponent_slope(base, exponent, z), y))
    return chain(z, terms)


def _atan2(y: Any, x: Any, /) -> Any:
    if type(x) is not Dual and type(y) is not Dual:
        return math.atan2(y, x)
    a, b = _value(y), _value(x)
    r = math.hypot(a, b) or math.nan  # no derivative at the origin
    terms = [(slope, z) for slope, z in ((b / r / r, y), (-a / r / r, x)) if type(z) is Dual]
    return chain(math.atan2(a, b), terms)


def _hypot(*coordinates: Any) -> Any:
    values = [_value(x) for x in coordinates]
    length = math.hypot(*values)
    r = length or math.nan  # no derivative at the origin
    terms = [(value / r, x) for value, x in zip(values, coordinates, strict=True) if type(x) is Dual]
    return chain(length, terms) if terms else length


def _dist(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    p, q = list(p), list(q)
    if not (holds_dual(p) or holds_dual(q)):
        return math.dist(p, q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return _hypot(*(a - b for a, b in zip(p, q, strict=True)))


def _fsum(seq: Iterable[Any], /) -> Any:
    items = list(seq)
    terms = [(1.0, x) for x in items if type(x) is Dual]
    total = math.fsum(map(_value, items))
    return chain(total, terms) if terms else total


def _prod(iterable: Iterable[Any], /, *, start: Any = 1) -> Any:
    items = list(iterable)
    if not holds_dual(items):
        return math.prod(items, start=start)
    for x in items:
        start = start * x
    return start


def _sumprod(p: Iterable[Any], q: Iterable[Any], /) -> Any:
    p, q = list(p), list(q)
    if not (holds_dual(p) or holds_dual(q)):
        return math.sumprod(p, q)  # type: ignore[attr-defined]
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    return sum(a * b for a, b in zip(p, q, strict=True))


def _of_dividend(function: Function) -> Function:
    """A remainder: derivative 1 for the dividend; for the divisor it jumps with the quotient."""

    def remainder(x: Any, y: Any, /) -> Any:
        if type(y) is Dual:
            raise lost(f"math.{function.__name__}(x, y), for y a number with a derivative,")
        return dual(function(x.value, y), x.tangent) if type(x) is Dual else function(x, y)

    return remainder


def _ldexp(x: Any, i: Any, /) -> Any:
    return chain(math.ldexp(x.value, i), [(math.ldexp(1.0, i), x)]) if type(x) is Dual else math.ldexp(x, i)


def _copysign(x: Any, y: Any, /) -> Any:
    sign = _value(y)
    if type(x) is Dual:
        z = math.copysign(x.value, sign)
        return chain(z, [(z / x.value if x.value else math.nan, x)])
    if type(y) is Dual:
        raise lost("math.copysign(x, y), for x a plain number,")
    return math.copysign(x, y)


def _fma(x: Any, y: Any, z: Any, /) -> Any:
    if holds_dual((x, y, z)):
        return x * y + z
    return math.fma(x, y, z)  # type: ignore[attr-defined]


def _on_values(function: Function) -> Function:
    def answer(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_value, args), **kwargs)

    return answer


def _losing(function: Function) -> Function:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        if holds_dual(args):
            raise lost(f"math.{function.__name__}")
        return function(*args, **kwargs)

    return refuse


_SAME_NAME = (
    "sqrt exp expm1 exp2 cbrt log1p log2 log10 sin cos tan sinh cosh tanh fabs degrees radians"  # as in numpy
)
_MATH: dict[str, Function] = {
    **{name: _of_one(getattr(math, name), SLOPES[name]) for name in _SAME_NAME.split()},
    **{
        name: _of_one(getattr(math, name), SLOPES["arc" + name[1:]])
        for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")
    },
    "erf": _of_one(math.erf, _special("erf")),
    "erfc": _of_one(math.erfc, _special("erfc")),
    "gamma": _of_one(math.gamma, _special("gamma")),
    "lgamma": _of_one(math.lgamma, _special("gammaln")),
    "log": _log,
    "pow": _pow,
    "atan2": _atan2,
    "hypot": _hypot,
    "dist": _dist,
    "fsum": _fsum,
    "prod": _prod,
    "sumprod": _sumprod,
    "fma": _fma,
    "fmod": _of_dividend(math.fmod),
    "remainder": _of_dividend(math.remainder),
    "ldexp": _ldexp,
    "copysign": _copysign,
    **{name: _on_values(getattr(math, name)) for name in ("isfinite", "isinf", "isnan", "isclose")},
    **{name: _on_values(getattr(math, name)) for name in ("floor", "ceil", "trunc")},
}


# --- numpy and scipy.special ---------------------------------------------------------------------
# numpy dispatches on dual numbers and arrays itself; what it can't see are lists and object arrays of them.


def _elementwise(ufunc: np.ufunc) -> Function:
    method = getattr(Dual, ufunc.__name__, None) if ufunc.nin == 1 else None

    def call(*args: Any, **kwargs: Any) -> Any:
        if method is not None and len(args) == 1 and type(args[0]) is Dual and not kwargs:
            return method(args[0])
        inputs = (x if type(x) is Dual else as_dual_array(x) for x in args[: ufunc.nin])
        return ufunc(*inputs, *args[ufunc.nin :], **kwargs)

    return call


def _of_arrays(function: Function) -> Function:
    def call(*args: Any, **kwargs: Any) -> Any:
        if any(map(holds_dual, args)) or (kwargs and any(map(holds_dual, kwargs.values()))):
            return apply_function(function, args, kwargs)
        return function(*args, **kwargs)

    return call


def _table() -> dict[Any, Function]:
    table: dict[Any, Function] = {}
    kinds = (types.FunctionType, types.BuiltinFunctionType, type(np.sum))
    for module in (np, np.linalg, np.fft, scipy.special):
        for name in dir(module):
            function = getattr(module, name)
            if name.startswith("_"):
                continue
            if isinstance(function, np.ufunc):
                table[function] = _elementwise(function)
            elif isinstance(function, kinds):
                table[function] = _of_arrays(function)
    for name in dir(math):
        function = getattr(math, name)
        if isinstance(function, types.BuiltinFunctionType) and not name.startswith("_"):
            table[function] = _MATH.get(name) or _losing(function)
    for function, replacement in table.items():
        replacement.__name__ = function.__name__
        replacement.__doc__ = function.__doc__
    return table


_TABLE = _table()
