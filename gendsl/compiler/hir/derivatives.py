"""The derivatives of operations on one or two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from gendsl.compiler.hir import Const, Expr, Op

ZERO, ONE, TWO, MINUS_ONE = Const(0.0, "f"), Const(1.0, "f"), Const(2.0, "f"), Const(-1.0, "f")
_TWO_OVER_ROOT_PI = Const(2.0 / math.sqrt(math.pi), "f")
_ROOT_TWO_PI_INVERSE = Const(1.0 / math.sqrt(2.0 * math.pi), "f")


def _op(name: str, *args: Expr) -> Expr:
    return Op(name, args, "f")


def plus(x: Expr, y: Expr) -> Expr:
    """x + y, without what is zero."""
    return y if x == ZERO else x if y == ZERO else _op("add", x, y)


def times(x: Expr, y: Expr) -> Expr:
    """x y, without what is zero, one or -1."""
    if ZERO in (x, y):
        return ZERO
    if MINUS_ONE in (x, y):
        return minus(x if y == MINUS_ONE else y)
    return y if x == ONE else x if y == ONE else _op("mul", x, y)


def minus(x: Expr) -> Expr:
    """-x."""
    return ZERO if x == ZERO else MINUS_ONE if x == ONE else _op("neg", x)


def over(x: Expr, y: Expr) -> Expr:
    """x / y."""
    return ZERO if x == ZERO else _op("truediv", x, y)


def _square(x: Expr) -> Expr:
    return _op("mul", x, x)


Slope = Callable[[Expr, Expr], Expr]
"""The derivative of a function of one number, from the number and the value of the function."""

SLOPES: dict[str, Slope] = {
    "exp": lambda x, y: y,
    "expm1": lambda x, y: _op("exp", x),
    "exp2": lambda x, y: times(Const(math.log(2.0), "f"), y),
    "log": lambda x, y: over(ONE, x),
    "log1p": lambda x, y: over(ONE, plus(ONE, x)),
    "log2": lambda x, y: over(Const(1.0 / math.log(2.0), "f"), x),
    "log10": lambda x, y: over(Const(1.0 / math.log(10.0), "f"), x),
    "sqrt": lambda x, y: over(Const(0.5, "f"), y),
    "cbrt": lambda x, y: over(Const(1.0 / 3.0, "f"), _square(y)),
    "sin": lambda x, y: _op("cos", x),
    "cos": lambda x, y: minus(_op("sin", x)),
    "tan": lambda x, y: plus(ONE, _square(y)),
    "asin": lambda x, y: over(ONE, _op("sqrt", _op("sub", ONE, _square(x)))),
    "acos": lambda x, y: minus(over(ONE, _op("sqrt", _op("sub", ONE, _square(x))))),
    "atan": lambda x, y: over(ONE, plus(ONE, _square(x))),
    "sinh": lambda x, y: _op("cosh", x),
    "cosh": lambda x, y: _op("sinh", x),
    "tanh": lambda x, y: _op("sub", ONE, _square(y)),
    "asinh": lambda x, y: over(ONE, _op("sqrt", plus(ONE, _square(x)))),
    "acosh": lambda x, y: over(ONE, _op("sqrt", _op("sub", _square(x), ONE))),
    "atanh": lambda x, y: over(ONE, _op("sub", ONE, _square(x))),
    "erf": lambda x, y: times(_TWO_OVER_ROOT_PI, _op("exp", minus(_square(x)))),
    "erfc": lambda x, y: minus(times(_TWO_OVER_ROOT_PI, _op("exp", minus(_square(x))))),
    "lgamma": lambda x, y: _op("np_psi", x),
    "gammaln": lambda x, y: _op("np_psi", x),
    "expit": lambda x, y: times(y, _op("sub", ONE, y)),
    "logit": lambda x, y: over(ONE, times(x, _op("sub", ONE, x))),
    "ndtr": lambda x, y: times(_ROOT_TWO_PI_INVERSE, _op("exp", times(Const(-0.5, "f"), _square(x)))),
    "ndtri": lambda x, y: over(
        ONE, times(_ROOT_TWO_PI_INVERSE, _op("exp", times(Const(-0.5, "f"), _square(y))))
    ),
    "neg": lambda x, y: MINUS_ONE,
    "abs": lambda x, y: over(x, y),  # fails at 0
    "float": lambda x, y: ONE,
}  # fmt: skip


def of_two(name: str, op: Op, value: Expr, has_x: bool, has_y: bool) -> tuple[Expr, Expr] | None:
    """The derivatives of an operation on two numbers in each; None if it is none of these.

    Args:
        value: what has the value of the operation.
        has_x: whether the first has tangents; of one that has none the derivative is not asked for.
        has_y: whether the second has.
    """
    x, y = op.args
    match name:
        case "add":
            return ONE, ONE
        case "sub":
            return ONE, MINUS_ONE
        case "mul":
            return y, x
        case "truediv" | "div":
            return over(ONE, y), minus(over(value, y)) if has_y else ZERO
        case "pow" | "power":
            first: Expr = ZERO
            if has_x:
                first = times(TWO, x) if y == TWO else times(y, _op(op.name, x, _op("sub", y, ONE)))
            return first, times(value, _op("log", x)) if has_y else ZERO
        case "mod" | "fmod" if not has_y:
            return ONE, ZERO
        case "hypot":
            return over(x, value), over(y, value)
        case "atan2":
            square = _op("add", _square(x), _square(y))
            return over(y, square), minus(over(x, square))
        case "maximum" | "minimum":
            is_first = Op("ge" if name == "maximum" else "le", (x, y), "b")
            return Op("select", (is_first, ONE, ZERO), "f"), Op("select", (is_first, ZERO, ONE), "f")
        case "logaddexp":
            weight = _op("np_exp", _op("sub", x, value))
            return weight, _op("sub", ONE, weight)
        case "copysign" if not has_y:
            return over(value, x), ZERO
    return None
