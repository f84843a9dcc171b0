"""Arithmetic, comparisons and functions of numbers, with Python's meaning, errors included.

Operators, comparisons and functions of numbers dispatch on the same types, so this is one module.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from gendsl.compiler import hir
from gendsl.compiler.front import exact
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.operations import LOOPS, OF_FLOATS
from gendsl.compiler.hir.types import (
    MAYBE,
    Dict,
    Joined,
    Known,
    List,
    Number,
    Text,
    Tuple,
    Type,
    Union,
    describe,
)
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_never,
    is_number,
    kind_of,
    known,
    may_be_flag,
    number,
    number_leaf,
    numpy_number,
    numpys,
    object_of,
)

Handler = Callable[[Frame, list[Value], dict[str, Value]], Value]
BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.BitAnd: ("bitand", operator.and_),
    ast.BitOr: ("bitor", operator.or_),
    ast.BitXor: ("bitxor", operator.xor),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
    ast.MatMult: ("matmul", operator.matmul),
}
COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
}
OF_NUMBERS: dict[Any, str] = {
    math.exp: "exp", math.log: "log", math.sqrt: "sqrt", math.sin: "sin", math.cos: "cos", math.tan: "tan",
    math.atan: "atan", math.asin: "asin", math.acos: "acos", math.sinh: "sinh", math.cosh: "cosh",
    math.tanh: "tanh", math.log1p: "log1p", math.expm1: "expm1", math.log2: "log2", math.log10: "log10",
    math.lgamma: "lgamma", math.gamma: "gamma", math.erf: "erf", math.erfc: "erfc", math.fabs: "fabs",
    math.asinh: "asinh", math.acosh: "acosh", math.atanh: "atanh", math.cbrt: "cbrt", math.exp2: "exp2",
    math.atan2: "atan2", math.hypot: "hypot", math.copysign: "copysign", math.pow: "math_pow", math.fmod:
    "fmod",
}  # fmt: skip
"""Functions of `math` from numbers to a float, which raise where Python's do."""
ELEMENTWISE: dict[Any, str] = {
    np.exp: "np_exp", np.log: "np_log", np.sqrt: "np_sqrt", np.sin: "np_sin", np.cos: "np_cos", np.tan:
    "np_tan",
    np.arctan: "np_atan", np.arcsin: "np_asin", np.arccos: "np_acos", np.sinh: "np_sinh", np.cosh: "np_cosh",
    np.tanh: "np_tanh", np.log1p: "np_log1p", np.expm1: "np_expm1", np.log2: "np_log2", np.log10: "np_log10",
    np.arcsinh: "np_asinh", np.arccosh: "np_acosh", np.arctanh: "np_atanh",
    np.floor: "np_floor", np.ceil: "np_ceil", np.arctan2: "np_atan2", np.hypot: "np_hypot",
    np.fabs: "abs",
    np.logaddexp: "np_logaddexp", np.exp2: "np_exp2", np.cbrt: "np_cbrt", np.copysign: "np_copysign",
    scipy.special.gammaln: "np_gammaln", scipy.special.expit: "np_expit", scipy.special.logit: "np_logit",
    scipy.special.erf: "np_erf", scipy.special.erfc: "np_erfc", scipy.special.ndtr: "np_ndtr",
    scipy.special.log_ndtr: "np_log_ndtr", scipy.special.ndtri: "np_ndtri", scipy.special.psi: "np_psi",
    scipy.special.log1p: "np_log1p", scipy.special.expm1: "np_expm1", scipy.special.i0e: "np_i0e",
    scipy.special.i1e: "np_i1e", scipy.special.gamma: "np_gamma", scipy.special.xlogy: "np_xlogy",
    scipy.special.xlog1py: "np_xlog1py", scipy.special.betaln: "np_betaln", scipy.special.erfcx: "np_erfcx",
    scipy.special.gammainc: "np_gammainc", scipy.special.gammaincc: "np_gammaincc",
    scipy.special.gammaincinv: "np_gammaincinv", scipy.special.gammainccinv: "np_gammainccinv",
    scipy.special.betainc: "np_betainc", scipy.special.betaincinv: "np_betaincinv",
    scipy.special.erfinv: "np_erfinv", scipy.special.erfcinv: "np_erfcinv", scipy.special.beta: "np_beta",
    scipy.special.i0: "np_i0", scipy.special.i1: "np_i1", scipy.special.entr: "np_entr",
    scipy.special.rel_entr: "np_rel_entr", scipy.special.poch: "np_poch",
    **{function: f"np_{name}" for name, function in LOOPS.items()},
}  # fmt: skip
"""Functions of NumPy and SciPy from numbers to a float, elementwise; they raise nothing."""


def test_of(value: Value) -> Expr:
    """A truth value as an expression."""
    if is_never(value):
        return hir.FALSE
    return number_leaf(value, "b")


def negation(test: Expr) -> Expr:
    """The opposite of a truth value."""
    if isinstance(test, Const):
        return Const(not test.value, "b")
    if isinstance(test, Op) and test.name == "not":
        return test.args[0]
    return Op("not", (test,), "b")


# --- arithmetic ------------------------------------------------------------------------------------


def folded(frame: Frame, function: Callable[..., Any], *values: Value) -> Value | None:
    """What Python makes of constants, if all are; an error is the program's."""
    plain = (bool, int, float, str, tuple, frozenset, type(None))
    if not all(isinstance(value.type, Known) and isinstance(object_of(value), plain) for value in values):
        return None
    return called(frame, function, *values)


def called(frame: Frame, function: Callable[..., Any], *values: Value) -> Value | None:
    """The same of constants of any types: also fractions, ranges, or objects of the user's."""
    if not all(isinstance(value.type, Known) for value in values):
        return None
    try:
        return known(function(*map(object_of, values)))
    except (ArithmeticError, TypeError, ValueError) as error:
        frame.fail(f"{type(error).__name__}: {error}", type(error))
        return NOTHING


def of_numbers(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """An operation on two numbers."""
    numpy = max(numpys(a), numpys(b))
    kinds = {kind_of(a), kind_of(b)}
    if kinds == {"b"} and numpy and name not in ("bitand", "bitor", "bitxor", "truediv"):
        return _of_numpy_truths(frame, name, numpy, a, b)
    if name in ("bitand", "bitor", "bitxor"):
        if kinds == {"b"}:
            logic = {"bitand": "and", "bitor": "or", "bitxor": "ne"}[name]
            return number(Op(logic, (number_leaf(a), number_leaf(b)), "b"), a, b)
        if "f" in kinds:
            frame.fail("a bit operation on a float")
            return NOTHING
        leaf = frame.op(name, (number_leaf(a, "i"), number_leaf(b, "i")), "i")
        of_flags = all(kind_of(one) == "b" or may_be_flag(one.type) for one in (a, b))
        return Value(Number("i", numpy, of_flags), (leaf,))  # of two truth values it is one
    if name in ("lshift", "rshift"):
        if numpy:
            raise frame.not_closed("a shift of NumPy's integers")
        return number(frame.op(name, (number_leaf(a, "i"), number_leaf(b, "i")), "i"))
    if name == "matmul":
        frame.fail("@ of numbers")
        return NOTHING
    if name == "pow":
        return _power(frame, a, b)
    kind = "f" if "f" in kinds or name == "truediv" else "i"
    x, y = number_leaf(a, kind), number_leaf(b, kind)
    if kind == "f" and (name == "truediv" or any(map(_is_float, (a, b)))):
        a, b = (Value(Number("f", numpys(one)), one.leaves) for one in (a, b))  # whatever else the other is
    if isinstance(y, Const) and y.value and name == "truediv":
        return number(Op("np_div", (x, y), "f"), a, b)  # it can't fail
    if name in _DIVISIONS and not numpy and frame.handler(ZeroDivisionError) is not None:
        x, y = frame.atom(x), frame.atom(y)
        frame.fail_if(Op("eq", (y, hir.ZEROS[kind]), "b"), "a division by zero", ZeroDivisionError)
    return number(frame.op(name, (x, y), kind), a, b)


def _is_float(value: Value) -> bool:
    """Whether a number is sure to be a float."""
    if is_known(value):
        return isinstance(object_of(value), float)
    return isinstance(value.type, Number) and value.type.kind == "f" and not value.type.mixed


def _of_numpy_truths(frame: Frame, name: str, numpy: int, a: Value, b: Value) -> Value:
    """An operation on two truth values, one of which is NumPy's or may be."""
    if numpy == MAYBE:
        raise frame.not_closed("arithmetic of truth values that may be NumPy's or Python's")
    if name in ("add", "mul"):
        return numpy_number(Op("or" if name == "add" else "and", (number_leaf(a), number_leaf(b)), "b"))
    if name == "sub":
        frame.fail("the difference of NumPy's truth values")
        return NOTHING
    raise frame.not_closed("NumPy computes with truth values in 8 bits")


def _power(frame: Frame, a: Value, b: Value) -> Value:
    integer = kind_of(a) != "f" and kind_of(b) != "f"
    if is_known(b) and (integer or not frame.program.records):
        exponent = object_of(b)
        if exponent == 2 or (exponent == 3 and integer):
            kind = "i" if integer and not isinstance(exponent, float) else "f"
            x = frame.atom(number_leaf(a, kind))
            square = Op("mul", (x, x), kind)
            return number(square if exponent == 2 else Op("mul", (square, x), kind), a, b)
        if integer and exponent < 0 and numpys(a):
            frame.fail("a negative power of one of NumPy's integers")
            return NOTHING
        if integer and exponent < 0:  # which makes a float
            return number(frame.op("pow", (number_leaf(a, "f"), number_leaf(b, "f")), "f"), a, b)
    if integer:  # an integer where the exponent is not negative; elsewhere the reference decides
        return number(frame.op("ipow", (number_leaf(a, "i"), number_leaf(b, "i")), "i"), a, b)
    leaf = frame.op("pow", (number_leaf(a, "f"), number_leaf(b, "f")), "f")
    if frame.program.records and max(numpys(a), numpys(b)):
        leaf = exact.noted(frame, leaf, "a power of one of NumPy's numbers")
    return number(leaf, a, b)


# --- comparisons -----------------------------------------------------------------------------------


def truth_value(test: Expr) -> Value:
    return known(bool(test.value)) if isinstance(test, Const) else number(test)


_OF_TUPLES = (
    "__len__", "__iter__", "__getitem__", "__contains__", "__add__", "__mul__", "__rmul__", "__bool__",
    "__hash__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
)  # fmt: skip


def is_plain_tuple(type: Type) -> bool:
    """Whether values of a type are tuples, or of a class of tuples that does with items what tuples do."""
    cls = type_of_tuples(type.value) if isinstance(type, Known) else getattr(type, "cls", None)
    if not isinstance(type, (Known, Tuple)) or not isinstance(cls, type_of_tuples):
        return False
    return cls is tuple or (
        issubclass(cls, tuple)
        and all(getattr(cls, name, None) is getattr(tuple, name, None) for name in _OF_TUPLES)
    )


type_of_tuples = type


NAN_IN_CONTAINER = "a NaN that is compared as part of a container, where it equals only itself"


def is_nan(expr: Expr) -> Expr:
    return Const(expr.value != expr.value, "b") if isinstance(expr, Const) else Op("isnan", (expr,), "b")


# --- functions of numbers --------------------------------------------------------------------------


def of_one_type(frame: Frame, args: list[Value], lower: Callable[[list[Value]], Value]) -> Value:
    """What is made of values, each of one type: of values of several types, for each of these."""
    first = next((i for i, value in enumerate(args) if isinstance(value.type, Union)), None)
    if first is None:
        return lower(args)
    before, after = args[:first], args[first + 1 :]
    return frame.switch(args[first], lambda one: of_one_type(frame, [*before, one, *after], lower))


def of_numbers_only(function: Callable[..., Any], lower: Handler) -> Handler:
    """One of Python's functions, which raises TypeError where an argument is no number."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        return of_one_type(frame, args, lambda given: checked(frame, given, named))

    def checked(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if any(map(is_never, args)):
            return NOTHING
        result = None if named else called(frame, function, *args)
        if result is not None:
            return result
        args = [frame.opened(value) for value in args]
        if any(map(no_number, args)):
            frame.fail(f"{function.__name__} of what is no number")
            return NOTHING
        return lower(frame, args, named)

    return handle


_DIVISIONS = ("truediv", "floordiv", "mod")
_OUTSIDE = {"log": "le", "log2": "le", "log10": "le", "sqrt": "lt"}
"""The functions of `math` with numbers that they have no value for: those of which this holds with zero."""


def call_math(frame: Frame, name: str, function: Any, args: list[Value]) -> Value:
    """A function of `math` that gives a float."""
    return of_numbers_only(function, lambda frame, args, _: _of_floats(frame, name, args))(frame, args, {})


def _of_floats(frame: Frame, name: str, args: list[Value]) -> Value:
    if not all(map(is_number, args)):
        raise frame.not_closed(f"math.{name} of {', '.join(describe(v.type) for v in args)}")
    if name == "hypot" and len(args) != 2:  # of two at a time, with other last bits
        result: Expr = Const(0.0, "f")
        for value in args:
            result = frame.op("hypot", (result, number_leaf(value, "f")), "f")
        if frame.program.records:
            result = exact.noted(frame, result, "math.hypot of other than two numbers")
        return number(result)
    if name == "fabs":
        return number(Op("abs", (number_leaf(args[0], "f"),), "f"))
    if name == "math_pow":
        name = "pow"
    if name in _OUTSIDE and frame.handler(ValueError) is not None:
        x = frame.atom(number_leaf(args[0], "f"))
        frame.fail_if(Op(_OUTSIDE[name], (x, hir.ZEROS["f"]), "b"), f"math.{name} of this number", ValueError)
    return number(frame.op(name, [number_leaf(value, "f") for value in args], "f"))


def cast(frame: Frame, leaf: Expr, kind: str) -> Expr:
    """A number as one of another kind, as NumPy casts it: floats are cut off."""
    if kind == "i" and leaf.kind == "f":
        leaf = frame.op("int_trunc", (leaf,), "i")
    return as_kind(leaf, kind)


_KEEPS = np.floor(np.int64(0)).dtype.kind == "i"
_KEEP_INTEGERS = ("np_floor", "np_ceil", "np_trunc") if _KEEPS else ()
"""What gives integers of integers, from NumPy 2.1 on."""


def kind_of_result(frame: Frame, name: str, kinds: list[str]) -> str:
    """What kind a function of NumPy's gives; refuses what it computes by another loop than that of floats."""
    if "b" in kinds:
        raise frame.not_closed("NumPy computes with truth values in 16 bits")
    if name in _KEEP_INTEGERS and "f" not in kinds:
        return "i"
    if name.removeprefix("np_") in OF_FLOATS and "f" not in kinds:
        raise frame.not_closed(f"{name.replace('np_', 'np.')} of integers")
    return "f"


def call_elementwise(frame: Frame, name: str, args: list[Value]) -> Value:
    """A function of NumPy's or SciPy's of one or two numbers."""
    if kind_of_result(frame, name, [kind_of(value) for value in args]) == "i":
        return numpy_number(number_leaf(args[0]))
    return numpy_number(Op(name, tuple(number_leaf(value, "f") for value in args), "f"))


def to_integer(frame: Frame, leaf: Expr, how: str) -> Value:
    """`int(x)` (how="trunc"), `math.floor`, `math.ceil`, `round(x)` of a number; NaN and infinities fail."""
    if leaf.kind != "f":
        return number(as_kind(leaf, "i"))
    return number(
        frame.op(
            {"trunc": "int_trunc", "floor": "int_floor", "ceil": "int_ceil", "round": "int_round"}[how],
            (leaf,),
            "i",
        )
    )


def no_number(value: Value) -> bool:
    """Whether a value is surely none that arithmetic with a number accepts: Python raises TypeError."""
    match value.type:
        case Tuple(cls=cls):
            return cls is tuple
        case Known(value=found):
            return found is None or isinstance(found, (str, tuple))
        case List() | Dict() | Text() | Joined():
            return True
    return False
