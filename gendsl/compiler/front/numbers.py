"""Arithmetic, comparisons and functions of numbers, with Python's meaning, errors included.

Operators, comparisons and functions of numbers dispatch on the same types, so this is one module.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import scipy.special

from gendsl.compiler import hir
from gendsl.compiler.front import exact
from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.types import (
    MAYBE,
    TEXT,
    YES,
    Array,
    Dict,
    Joined,
    Known,
    List,
    Method,
    Object,
    Set,
    Text,
    Tuple,
    Type,
    Union,
    describe,
)
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_number,
    items_of,
    kind_of,
    known,
    number,
    number_leaf,
    numpy_number,
    numpys,
    object_of,
)
from gendsl.distributions import Distribution

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
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
_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
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
}  # fmt: skip
"""Functions of NumPy and SciPy from numbers to a float, elementwise; they raise nothing."""


def truth(frame: Frame, value: Value) -> Expr:
    """Whether a value is true."""
    from gendsl.compiler.front import instances

    value = frame.opened(value)
    match value.type:
        case Known(value=found):
            if isinstance(found, np.ndarray):
                raise frame.not_closed("the truth of an array")
            if instances.asks_python(value, "__bool__", "__len__"):
                raise frame.not_closed(f"the truth of {describe(value.type)}")
            return Const(bool(found), "b")
        case _ if is_never(value):
            return hir.FALSE
        case Tuple(items, cls):
            if not is_plain_tuple(value.type):
                return _truth_of_instance(frame, value, cls)
            return Const(bool(items), "b")
        case List() | Dict() | Set():
            from gendsl.compiler.front.containers import length

            return Op("ne", (length(frame, value), Const(0, "i")), "b")
        case Union():
            return test_of(frame.switch(value, lambda one: number(truth(frame, one))))
        case Method():
            return hir.TRUE
        case Text():
            return Op("ne", (value.leaf, Const(frame.program.facts.text_number(""), "i")), "b")
        case Object(_, cls):
            return _truth_of_instance(frame, value, cls)
    leaf = number_leaf(value)
    if leaf.kind == "b":
        return leaf
    return Op("ne", (leaf, hir.ZEROS[leaf.kind]), "b")


def _truth_of_instance(frame: Frame, value: Value, cls: Any) -> Expr:
    """Whether an instance of a class is true: by its `__bool__`, or its `__len__`."""
    from gendsl.compiler.front import calls

    for name in ("__bool__", "__len__"):
        method = getattr(cls, name, None)
        if isinstance(method, FunctionType):
            return truth(frame, calls.call_method(frame, value, name, []))
        if method is not None:
            raise frame.not_closed(f"the truth of a {cls.__name__}")
    return hir.TRUE


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


def _folded(frame: Frame, function: Callable[..., Any], *values: Value) -> Value | None:
    """What Python makes of constants, if all are; an error is the program's."""
    if not all(isinstance(value.type, Known) for value in values):
        return None
    objects = [object_of(value) for value in values]
    if not all(isinstance(found, (bool, int, float, str, tuple, frozenset, type(None))) for found in objects):
        return None
    try:
        return known(function(*objects))
    except (ArithmeticError, TypeError, ValueError) as error:
        frame.fail(f"{type(error).__name__}: {error}")
        return NOTHING


def binary(frame: Frame, operator_: ast.operator, a: Value, b: Value) -> Value:
    """`a operator b`."""
    name, function = _BINARY[type(operator_)]
    folded = _folded(frame, function, a, b)
    if folded is not None:
        return folded
    return arithmetic(frame, name, a, b)


def arithmetic(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """An operation on two values of any types."""
    a, b = frame.opened(a), frame.opened(b)
    if is_never(a) or is_never(b):
        return NOTHING
    if name == "add" and any(isinstance(one.type, Union) for one in (a, b)):
        from gendsl.compiler.front import containers, paths

        if all(is_plain_tuple(one.type) or paths.is_path(frame, one) for one in (a, b)):
            return containers.one_behind_another(frame, a, b)
    if isinstance(a.type, Union):
        return frame.switch(a, lambda one: arithmetic(frame, name, one, b))
    if isinstance(b.type, Union):
        return frame.switch(b, lambda one: arithmetic(frame, name, a, one))
    if is_number(a) and is_number(b):
        return of_numbers(frame, name, a, b)
    from gendsl.compiler.front import arrays, containers, instances

    found = instances.arithmetic(frame, name, a, b)
    if found is not None:
        return found
    if isinstance(a.type, Array) or isinstance(b.type, Array):
        return arrays.binary(frame, name, a, b)
    return containers.binary(frame, name, a, b)


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
        return number(frame.op(name, (number_leaf(a, "i"), number_leaf(b, "i")), "i"), a, b)
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
    if isinstance(y, Const) and y.value and name == "truediv":
        return number(Op("np_div", (x, y), "f"), a, b)  # it can't fail
    return number(frame.op(name, (x, y), kind), a, b)


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
    if frame.program.records and max(numpys(a), numpys(b)):
        exact.note(frame, "a power of one of NumPy's numbers")
    return number(frame.op("pow", (number_leaf(a, "f"), number_leaf(b, "f")), "f"), a, b)


def unary(frame: Frame, operator_: ast.unaryop, a: Value) -> Value:
    """`operator a`, where it makes no choice."""
    if isinstance(operator_, ast.Not):
        return number(negation(truth(frame, a))) if not is_known(a) else known(not object_of(a))
    functions: dict[type[ast.unaryop], Callable[[Any], Any]] = {
        ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    }  # fmt: skip
    function = functions[type(operator_)]
    folded = _folded(frame, function, a)
    if folded is not None:
        return folded
    if is_never(a):
        return a
    if isinstance(a.type, Union):
        return frame.switch(a, lambda one: unary(frame, operator_, one))
    if isinstance(a.type, Array):
        from gendsl.compiler.front import arrays

        return arrays.unary(frame, type(operator_), a)
    if not is_number(a):
        from gendsl.compiler.front import calls, families, instances

        method = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}[type(operator_)]
        found = instances.operator_of(a, method)
        if families.is_distribution(a) and found is getattr(Distribution, method, None):
            return families.image(frame, method, a, NONE)
        if found is not None:
            return calls.call_method(frame, a, method, [])
        raise frame.not_closed(f"{type(operator_).__name__} of {describe(a.type)}")
    kind = kind_of(a)
    if kind == "b" and numpys(a):
        if numpys(a) == MAYBE:
            raise frame.not_closed("an operation on a truth value that may be NumPy's or Python's")
        if isinstance(operator_, ast.Invert):
            return Value(a.type, (negation(a.leaf),))
        frame.fail("the sign of NumPy's truth values")
        return NOTHING
    if isinstance(operator_, ast.Invert):
        if kind == "f":
            frame.fail("~ of a float")
            return NOTHING
        return number(Op("sub", (Const(-1, "i"), number_leaf(a, "i")), "i"), a)
    leaf = number_leaf(a, "f" if kind == "f" else "i")
    if isinstance(operator_, ast.UAdd):
        return number(leaf, a)
    return number(frame.op("neg", (leaf,), leaf.kind), a)


# --- comparisons -----------------------------------------------------------------------------------


def compare(frame: Frame, operator_: ast.cmpop, a: Value, b: Value) -> Value:
    """`a operator b` of one comparison."""
    if isinstance(operator_, (ast.Is, ast.IsNot)):
        same = identical(frame, a, b)
        return _truth_value(same if isinstance(operator_, ast.Is) else negation(same))
    if isinstance(operator_, (ast.In, ast.NotIn)):
        from gendsl.compiler.front import containers

        found = containers.contains(frame, b, a)
        return _truth_value(found if isinstance(operator_, ast.In) else negation(found))
    name, function = _COMPARE[type(operator_)]
    folded = _folded(frame, function, a, b)
    return folded if folded is not None else compared(frame, name, a, b)


def _truth_value(test: Expr) -> Value:
    return known(bool(test.value)) if isinstance(test, Const) else number(test)


def compared(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """A comparison of two values of any types."""
    a, b = frame.opened(a), frame.opened(b)
    if is_never(a) or is_never(b):
        return NOTHING
    if isinstance(a.type, Union):
        return frame.switch(a, lambda one: compared(frame, name, one, b))
    if isinstance(b.type, Union):
        return frame.switch(b, lambda one: compared(frame, name, a, one))
    if is_number(a) and is_number(b):
        kind = max(kind_of(a), kind_of(b), key="bif".index)
        if kind == "b" and name not in ("eq", "ne"):
            kind = "i"
        return number(Op(name, (number_leaf(a, kind), number_leaf(b, kind)), "b"), a, b)
    if isinstance(a.type, Array) or isinstance(b.type, Array):
        from gendsl.compiler.front import arrays

        return arrays.binary(frame, name, a, b)
    if name in ("eq", "ne"):
        same = equal(frame, a, b)
        return _truth_value(same if name == "eq" else negation(same))
    return _ordered(frame, name, a, b)


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


def _ordered(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """Whether one tuple comes before another, item by item."""
    from gendsl.compiler.front import instances, texts
    from gendsl.compiler.front.containers import no_number

    if any(map(is_number, (a, b))) and any(map(no_number, (a, b))):
        frame.fail("an order of values of different types")
        return NOTHING
    if _is_text(a) and _is_text(b):
        return number(Op(name, (texts.place_of(frame, a), texts.place_of(frame, b)), "b"))
    if isinstance(a.type, List) and isinstance(b.type, List):
        from gendsl.compiler.front import containers

        return containers.ordered_lists(frame, name, a, b)
    if not (is_plain_tuple(a.type) and is_plain_tuple(b.type)):
        found = instances.ordered(frame, name, a, b)
        if found is not None:
            return found
        raise frame.not_closed(f"the order of {describe(a.type)} and {describe(b.type)}")
    xs, ys = items_of(a), items_of(b)
    if not xs or not ys:
        function = dict(_COMPARE.values())[name]
        return known(function(len(xs), len(ys)))
    x, y = frame.atoms(xs[0]), frame.atoms(ys[0])
    if len(xs) == len(ys) == 1:
        equal_parts(frame, x, y)  # which fails where both are NaN
        return compared(frame, name, x, y)
    strict = {"le": "lt", "ge": "gt"}.get(name, name)
    return frame.choose(
        equal_parts(frame, x, y),
        lambda: _ordered(frame, name, _rest(xs), _rest(ys)),
        lambda: compared(frame, strict, x, y),
    )


def _is_text(value: Value) -> bool:
    """Whether a value is a string that has a number."""
    return isinstance(value.type, Text) or (is_known(value) and isinstance(object_of(value), str))


def _rest(items: list[Value]) -> Value:
    from gendsl.compiler.hir.values import make_tuple

    return make_tuple(items[1:])


NAN_IN_CONTAINER = "a NaN that is compared as part of a container, where it equals only itself"


def equal_parts(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether parts of containers are equal, as lists, tuples, sets and dicts compare them.

    For these an object is equal to itself, also if it is NaN; a text does not know which NaN is which object.
    """
    a, b = frame.atoms(frame.opened(a)), frame.atoms(frame.opened(b))
    if isinstance(a.type, Union):
        return test_of(frame.switch(a, lambda one: number(equal_parts(frame, one, b))))
    if isinstance(b.type, Union):
        return test_of(frame.switch(b, lambda one: number(equal_parts(frame, a, one))))
    if all(is_number(one) and kind_of(one) == "f" for one in (a, b)):
        frame.fail_if(both(*(_is_nan(number_leaf(one, "f")) for one in (a, b))), NAN_IN_CONTAINER)
    return equal(frame, a, b)


def _is_nan(expr: Expr) -> Expr:
    return Const(expr.value != expr.value, "b") if isinstance(expr, Const) else Op("isnan", (expr,), "b")


def equal(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two values are equal."""
    a, b = frame.opened(a), frame.opened(b)
    if is_never(a) or is_never(b):
        return hir.FALSE
    from gendsl.compiler.front import instances

    if is_known(a) and is_known(b):
        if any(instances.asks_python(one, "__eq__", "__ne__") for one in (a, b)):
            raise frame.not_closed(f"== of {describe(a.type)} and {describe(b.type)}")
        x, y = object_of(a), object_of(b)
        if any(isinstance(found, np.ndarray) for found in (x, y)):
            raise frame.not_closed("== of arrays")
        return Const(bool(x == y), "b")
    if isinstance(a.type, Union):
        return test_of(frame.switch(a, lambda one: number(equal(frame, one, b))))
    if isinstance(b.type, Union):
        return test_of(frame.switch(b, lambda one: number(equal(frame, a, one))))
    if is_number(a) and is_number(b):
        return compared(frame, "eq", a, b).leaf
    if any(isinstance(one.type, Joined) for one in (a, b)):
        from gendsl.compiler.front import texts

        if all(map(texts.is_string, (a, b))):
            return texts.equal(frame, a, b)
    if _is_text(a) and _is_text(b):
        facts = frame.program.facts
        return Op("eq", (*facts.convert(a, TEXT), *facts.convert(b, TEXT)), "b")
    if is_plain_tuple(a.type) and is_plain_tuple(b.type):
        xs, ys = items_of(a), items_of(b)
        if len(xs) != len(ys):
            return hir.FALSE
        result: Expr = hir.TRUE
        for x, y in zip(xs, ys, strict=True):
            result = both(result, equal_parts(frame, x, y))
        return result
    if isinstance(a.type, List) or isinstance(b.type, List):
        from gendsl.compiler.front import containers

        return containers.equal_sequences(frame, a, b)
    if isinstance(a.type, Set) and isinstance(b.type, Set):
        from gendsl.compiler.front import sets

        return sets.equal(frame, a, b)
    if isinstance(a.type, Dict) and isinstance(b.type, Dict):
        from gendsl.compiler.front import tables

        return tables.equal(frame, a, b)
    told = instances.equal(frame, a, b)
    if told is not None:
        return told
    simple = (Known, Text, Tuple, List)
    if is_number(a) or is_number(b) or (isinstance(a.type, simple) and isinstance(b.type, simple)):
        if any(instances.asks_python(one, "__eq__") for one in (a, b)):
            raise frame.not_closed(f"== of {describe(a.type)} and {describe(b.type)}")
        if not is_number(a) and not is_number(b) and type(a.type) is type(b.type) and not is_known(a):
            raise frame.not_closed(f"== of {describe(a.type)} and {describe(b.type)}")
        return hir.FALSE
    raise frame.not_closed(f"== of {describe(a.type)} and {describe(b.type)}")


def identical(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two values are one object; asked of None, truth values, known objects and references."""
    a, b = frame.opened(a), frame.opened(b)
    if is_never(a) or is_never(b):
        return hir.FALSE
    if isinstance(a.type, Union):
        return test_of(frame.switch(a, lambda one: number(identical(frame, one, b))))
    if isinstance(b.type, Union):
        return test_of(frame.switch(b, lambda one: number(identical(frame, a, one))))
    if is_known(a) and is_known(b):
        x, y = object_of(a), object_of(b)
        if (
            x is None
            or y is None
            or isinstance(x, bool)
            or isinstance(y, bool)
            or not isinstance(x, (int, float, str, tuple))
        ):
            return Const(x is y, "b")
        raise frame.not_closed("`is` of numbers or strings")
    one, other = (a, b) if is_known(b) else (b, a)
    if is_known(other):
        constant = object_of(other)
        if isinstance(constant, bool) and is_number(one):
            if kind_of(one) != "b":
                return hir.FALSE
            if numpys(one) == MAYBE:
                raise frame.not_closed("`is` of a truth value that may be NumPy's or Python's")
            if numpys(one) == YES:
                return hir.FALSE
            leaf = number_leaf(one)
            return leaf if constant else negation(leaf)
        if constant is None or not isinstance(constant, (int, float, str, tuple)):
            return hir.FALSE
    sites = [one.type.site for one in (a, b) if isinstance(one.type, List)]
    if any(frame.program.facts.sequence(site) is not list for site in sites):
        raise frame.not_closed("`is` of tuples")
    references = (List, Dict, Set, Object)
    if isinstance(a.type, references) and isinstance(b.type, references):
        if type(a.type) is not type(b.type):
            return hir.FALSE
        return Op("same", (a.leaf, b.leaf), "b")
    raise frame.not_closed(f"`is` of {describe(a.type)} and {describe(b.type)}")


# --- functions of numbers --------------------------------------------------------------------------


def call_math(frame: Frame, name: str, function: Any, args: list[Value]) -> Value:
    """A function of `math` that gives a float."""
    if any(map(is_never, args)):
        return NOTHING
    folded = _folded(frame, function, *args)
    if folded is not None:
        return folded
    several = [i for i, value in enumerate(args) if isinstance(value.type, Union)]
    if several:
        first = several[0]

        def with_one(one: Value) -> Value:
            return call_math(frame, name, function, [*args[:first], one, *args[first + 1 :]])

        return frame.switch(args[first], with_one)
    from gendsl.compiler.front.containers import no_number

    args = [frame.opened(value) for value in args]
    if any(map(no_number, args)):
        frame.fail(f"math.{name} of what is no number")
        return NOTHING
    if not all(map(is_number, args)):
        raise frame.not_closed(f"math.{name} of {', '.join(describe(v.type) for v in args)}")
    if name == "fabs":
        return number(Op("abs", (number_leaf(args[0], "f"),), "f"))
    if name == "math_pow":
        name = "pow"
    return number(frame.op(name, [number_leaf(value, "f") for value in args], "f"))


def call_elementwise(frame: Frame, name: str, args: list[Value]) -> Value:
    """A function of NumPy's or SciPy's of one or two numbers, that gives a float."""
    for value in args:
        if kind_of(value) == "b":
            raise frame.not_closed("NumPy computes with truth values in 16 bits")
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


def extreme(frame: Frame, name: str, values: list[Value]) -> Value:
    """`min` or `max` of values, which keeps the first of equal ones, as Python does."""
    best = values[0]
    for value in values[1:]:
        best, value = frame.atoms(best), frame.atoms(value)
        better = compared(frame, "lt" if name == "min" else "gt", value, best)
        if is_known(better):
            best = value if object_of(better) else best
            continue
        best = _select(frame, better.leaf, value, best)
    return best


def _select(frame: Frame, test: Expr, a: Value, b: Value) -> Value:
    return frame.choose(test, lambda: a, lambda: b)
