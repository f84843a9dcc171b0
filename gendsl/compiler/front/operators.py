"""Operators and comparisons of values of any types: which class, container or array says what they mean."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import (
    arrays,
    container_operators,
    containers,
    instances,
    numbers,
    paths,
    sets,
    tables,
    text_columns,
    texts,
)
from gendsl.compiler.front.containers import length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import (
    BINARY,
    COMPARE,
    NAN_IN_CONTAINER,
    is_nan,
    is_plain_tuple,
    negation,
    no_number,
    of_numbers,
    test_of,
    truth_value,
)
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
    Number,
    Object,
    Set,
    Text,
    Tuple,
    Union,
    describe,
)
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_known,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
    numpys,
    object_of,
)
from gendsl.distributions import Distribution


def truth(frame: Frame, value: Value) -> Expr:
    """Whether a value is true."""
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
    for name in ("__bool__", "__len__"):
        method = getattr(cls, name, None)
        if isinstance(method, FunctionType):
            return truth(frame, frame.language.call_method(frame, value, name, []))
        if method is not None:
            raise frame.not_closed(f"the truth of a {cls.__name__}")
    return hir.TRUE


def binary(frame: Frame, operator_: ast.operator, a: Value, b: Value) -> Value:
    """`a operator b`."""
    name, function = BINARY[type(operator_)]
    folded = numbers.folded(frame, function, a, b)
    if folded is not None:
        return folded
    return arithmetic(frame, name, a, b)


def arithmetic(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """An operation on two values of any types."""
    a, b = frame.opened(a), frame.opened(b)
    if is_never(a) or is_never(b):
        return NOTHING
    if name == "add" and Union in (type(a.type), type(b.type)) and _are_tuples(frame, a, b):
        return containers.one_behind_another(frame, a, b)
    if isinstance(a.type, Union):
        return frame.switch(a, lambda one: arithmetic(frame, name, one, b))
    if isinstance(b.type, Union):
        return frame.switch(b, lambda one: arithmetic(frame, name, a, one))
    if is_number(a) and is_number(b):
        return of_numbers(frame, name, a, b)
    found = instances.arithmetic(frame, name, a, b)
    if found is not None:
        return found
    if isinstance(a.type, Array) or isinstance(b.type, Array):
        return arrays.binary(frame, name, a, b)
    return container_operators.binary(frame, name, a, b)


def _are_tuples(frame: Frame, *values: Value) -> bool:
    return all(is_plain_tuple(one.type) or paths.is_path(frame, one) for one in values)


def unary(frame: Frame, operator_: ast.unaryop, a: Value) -> Value:
    """`operator a`, where it makes no choice."""
    if isinstance(operator_, ast.Not):
        return number(negation(truth(frame, a))) if not is_known(a) else known(not object_of(a))
    functions: dict[type[ast.unaryop], Callable[[Any], Any]] = {
        ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
    }  # fmt: skip
    function = functions[type(operator_)]
    folded = numbers.folded(frame, function, a)
    if folded is not None:
        return folded
    if is_never(a):
        return a
    if isinstance(a.type, Union):
        return frame.switch(a, lambda one: unary(frame, operator_, one))
    if isinstance(a.type, Array):
        return arrays.unary(frame, type(operator_), a)
    if not is_number(a):
        method = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}[type(operator_)]
        found = instances.operator_of(a, method)
        if instances.is_distribution(a) and found is getattr(Distribution, method, None):
            return frame.language.image_of_distribution(frame, method, a, NONE)
        if found is not None:
            return frame.language.call_method(frame, a, method, [])
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


def compare(frame: Frame, operator_: ast.cmpop, a: Value, b: Value) -> Value:
    """`a operator b` of one comparison."""
    if isinstance(operator_, (ast.Is, ast.IsNot)):
        same = identical(frame, a, b)
        return truth_value(same if isinstance(operator_, ast.Is) else negation(same))
    if isinstance(operator_, (ast.In, ast.NotIn)):
        found = container_operators.contains(frame, b, a)
        return truth_value(found if isinstance(operator_, ast.In) else negation(found))
    name, function = COMPARE[type(operator_)]
    folded = numbers.folded(frame, function, a, b)
    return folded if folded is not None else compared(frame, name, a, b)


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
        return arrays.binary(frame, name, a, b)
    if name == "eq" and (answer := instances.answered(frame, a, b)) is not None:
        return answer
    if name in ("eq", "ne"):
        same = equal(frame, a, b)
        return truth_value(same if name == "eq" else negation(same))
    return _ordered(frame, name, a, b)


def _ordered(frame: Frame, name: str, a: Value, b: Value) -> Value:
    """Whether one tuple comes before another, item by item."""
    if any(map(is_number, (a, b))) and any(map(no_number, (a, b))):
        frame.fail("an order of values of different types")
        return NOTHING
    if _is_text(a) and _is_text(b):
        return number(Op(name, (text_columns.place_of(frame, a), text_columns.place_of(frame, b)), "b"))
    if isinstance(a.type, List) and isinstance(b.type, List):
        return containers.ordered_lists(frame, name, a, b)
    if isinstance(a.type, Set) and isinstance(b.type, Set):
        return truth_value(sets.ordered(frame, name, a, b))
    if not (is_plain_tuple(a.type) and is_plain_tuple(b.type)):
        found = instances.ordered(frame, name, a, b)
        if found is not None:
            return found
        raise frame.not_closed(f"the order of {describe(a.type)} and {describe(b.type)}")
    xs, ys = items_of(a), items_of(b)
    if not xs or not ys:
        function = dict(COMPARE.values())[name]
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
    return make_tuple(items[1:])


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
        frame.fail_if(both(*(is_nan(number_leaf(one, "f")) for one in (a, b))), NAN_IN_CONTAINER)
    same = equal(frame, a, b)
    if instances.says_what_is_equal(a) and a.type == b.type:
        same = frame.atom(same)
        one_object: Expr = hir.TRUE
        for mine, other in zip(a.leaves, b.leaves, strict=True):
            one_object = both(one_object, _alike(mine, other))
        frame.fail_if(both(negation(same), one_object), "an object that is not equal to itself")
    return same


def _alike(one: Expr, other: Expr) -> Expr:
    """Whether two leaves can't be told from each other."""
    if one.kind == "r":
        return Op("same", (one, other), "b")
    equal = Op("eq", (one, other), "b")
    return equal if one.kind != "f" else Op("or", (equal, both(is_nan(one), is_nan(other))), "b")


def equal(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two values are equal."""
    a, b = frame.opened(a), frame.opened(b)
    if is_never(a) or is_never(b):
        return hir.FALSE
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
    if any(isinstance(one.type, Joined) for one in (a, b)) and all(map(texts.is_string, (a, b))):
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
        return containers.equal_sequences(frame, a, b)
    if isinstance(a.type, Set) and isinstance(b.type, Set):
        return sets.equal(frame, a, b)
    if isinstance(a.type, Dict) and isinstance(b.type, Dict):
        return tables.equal(frame, a, b)
    if isinstance(a.type, (Set, Dict)) and isinstance(b.type, (Set, Dict)):
        return hir.FALSE
    told = instances.equal(frame, a, b)
    if told is not None:
        return told
    simple = (Known, Text, Tuple, List)
    if is_number(a) or is_number(b) or (isinstance(a.type, simple) and isinstance(b.type, simple)):
        if any(instances.asks_python(one, "__eq__") for one in (a, b)):
            raise frame.not_closed(f"== of {describe(a.type)} and {describe(b.type)}")
        same_kind = not is_number(a) and not is_number(b) and type(a.type) is type(b.type) and not is_known(a)
        of_same_class = any(
            is_known(one) and instances.may_be(other, object_of(one)) for one, other in ((a, b), (b, a))
        )
        if same_kind or of_same_class:
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
            if isinstance(one.type, Number) and one.type.mixed:
                raise frame.not_closed("`is` of a number that may be a truth value")
            if kind_of(one) != "b":
                return hir.FALSE
            if numpys(one) == MAYBE:
                raise frame.not_closed("`is` of a truth value that may be NumPy's or Python's")
            if numpys(one) == YES:
                return hir.FALSE
            leaf = number_leaf(one)
            return leaf if constant else negation(leaf)
        if constant is None or not isinstance(constant, (int, float, str, tuple)):
            if constant is not None and instances.may_be(one, constant):
                raise frame.not_closed(f"`is` of {describe(a.type)} and {describe(b.type)}")
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


def extreme(frame: Frame, name: str, values: list[Value]) -> Value:
    """`min` or `max` of values, which keeps the first of equal ones, as Python does."""
    best = values[0]
    for value in values[1:]:
        best, value = frame.atoms(best), frame.atoms(value)
        better = compared(frame, "lt" if name == "min" else "gt", value, best)
        if is_never(better):
            return NOTHING
        if is_known(better):
            best = value if object_of(better) else best
            continue
        best = _select(frame, better.leaf, value, best)
    return best


def _select(frame: Frame, test: Expr, a: Value, b: Value) -> Value:
    return frame.choose(test, lambda: a, lambda: b)
