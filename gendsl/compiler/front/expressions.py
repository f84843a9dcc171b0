"""Expressions: names, attributes, operators, displays and comprehensions."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import (
    array_arguments,
    calls,
    choices,
    comprehensions,
    function_calls,
    generator_functions,
    lists,
    objects,
    outside,
    paths,
    sets,
    subscripts,
    tables,
    texts,
    traces,
)
from gendsl.compiler.front.draws import RandomGenerator
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.narrowing import apply_narrowings, narrowings
from gendsl.compiler.front.numbers import is_plain_tuple, negation, test_of, truth_value
from gendsl.compiler.front.operators import binary, compare, truth, unary
from gendsl.compiler.front.stats import FrozenMultivariate
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import (
    Array,
    Dict,
    Iterator,
    Known,
    List,
    Method,
    Number,
    Object,
    Set,
    SubTrace,
    Text,
    Tuple,
    Type,
    Union,
    Unread,
    describe,
)
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    attribute_of,
    is_known,
    is_never,
    items_of,
    known,
    make_tuple,
    number,
    object_of,
)
from gendsl.distributions import Distribution
from gendsl.lang.sites import is_addressed, is_choice


def expression(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression; its effects are statements that are added on the way."""
    if not frame.live:
        return NOTHING
    line, here = frame.line, frame.here
    frame.line, frame.here = getattr(node, "lineno", line), node
    try:
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            raise frame.not_closed(f"the syntax {type(node).__name__}", node)
        value = handler(frame, node)
        if isinstance(value.type, Unread):
            raise frame.not_closed(value.type.reason, node)
        return value
    finally:
        frame.line, frame.here = line, here


def _constant(frame: Frame, node: ast.Constant) -> Value:
    if isinstance(node.value, (complex, bytes)):
        raise frame.not_closed(f"a constant of type {type(node.value).__name__}", node)
    return known(node.value)


def _name(frame: Frame, node: ast.Name) -> Value:
    return name_value(frame, node.id)


def name_value(frame: Frame, name: str) -> Value:
    """What a name means: a variable, a captured or a global name, or one of Python's own."""
    if name in frame.comprehended:
        return frame.env[name]
    found = frame.look_up(name)
    if found is not None:
        return found
    return outside.free_name(frame, name)


def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    return attribute(frame, expression(frame, node.value), frame.private(node.attr))


def attribute(frame: Frame, value: Value, name: str) -> Value:
    """`value.name`."""
    value = frame.opened(value)
    if is_never(value):
        return NOTHING
    match value.type:
        case Union():
            return frame.switch(value, lambda one: attribute(frame, one, name))
        case Array():
            return array_arguments.attribute(frame, value, name)
        case SubTrace():
            return traces.attribute(frame, value, name)
        case Number(kind="i", mixed=False) if name in ("bit_count", "bit_length"):
            return Value(Method(value.type, name), value.leaves)
        case Number(members=members) | Text(members=members) if any(hasattr(one, name) for one in members):
            raise frame.not_closed(f"{name} of what may be a member of an enumeration")
        case _ if not _may_have(value.type, name):
            frame.fail(f"{describe(value.type)} has no attribute {name}")
            return NOTHING
        case Number(numpy=2 | 3) if name in ("ndim", "shape", "size"):
            return known({"ndim": 0, "shape": (), "size": 1}[name])
        case List() | Dict() | Set() | Text() | Iterator() | Number(numpy=2 | 3):
            return Value(Method(value.type, name), value.leaves)
        case Known(value=found) if isinstance(found, RandomGenerator) or _is_of_strings(found, name):
            return Value(Method(value.type, name), value.leaves)
        case Known(value=found):
            return outside.attribute_of_constant(frame, found, name)
        case Object():
            return objects.object_attribute(frame, value, name)
        case Tuple(cls=cls):
            own = attribute_of(value, name)
            if own is not None:
                return objects.set_or_of_class(frame, value, own, name)
            if cls is FrozenMultivariate:
                return Value(Method(value.type, name), value.leaves)
            if cls is tuple or (name in ("logpdf", "sample") and issubclass(cls, Distribution)):
                return Value(Method(value.type, name), value.leaves)
            return objects.class_attribute(frame, value, cls, name)
    building = objects.building_attribute(frame, value, name)
    if building is not None:
        return building
    raise frame.not_closed(f"the attribute {name} of {describe(value.type)}")


def _is_of_strings(found: Any, name: str) -> bool:
    """Whether an attribute of a constant is that of any string, and none of a class of its own."""
    return isinstance(found, str) and getattr(type(found), name, None) is getattr(str, name, 0)


def _may_have(type_: Type, name: str) -> bool:
    """Whether a value of a type may have an attribute: containers and strings have those of their classes."""
    match type_:
        case List():
            classes: tuple[type, ...] = list, tuple, deque
        case Dict():
            classes = dict, Counter, OrderedDict, defaultdict
        case Set():
            classes = set, frozenset
        case Known(value=str() as found):
            return hasattr(found, name)
        case Text():
            classes = (str,)
        case _:
            return True
    return any(hasattr(one, name) for one in classes)


def _binary(frame: Frame, node: ast.BinOp) -> Value:
    if is_addressed(node):
        return choices.addressed(frame, node)
    left = frame.atoms(expression(frame, node.left))
    right = expression(frame, node.right)
    return binary(frame, node.op, left, right)


def _unary(frame: Frame, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Invert):
        found = choices.unaddressed(frame, node)
        if found is not None:
            return found
    return unary(frame, node.op, expression(frame, node.operand))


def _compare(frame: Frame, node: ast.Compare) -> Value:
    left = expression(frame, node.left)
    if len(node.ops) == 1:
        right = node.comparators[0]
        if isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(right, ast.Set):
            items = [expression(frame, part) for part in right.elts]
            if all(map(is_known, items)):  # nobody else sees the set
                return compare(frame, node.ops[0], left, known(frozenset(map(object_of, items))))
        return compare(frame, node.ops[0], left, expression(frame, right))

    def from_(i: int, left: Value) -> Value:
        right = frame.atoms(expression(frame, node.comparators[i]))
        first = compare(frame, node.ops[i], left, right)
        if i == len(node.ops) - 1:
            return first
        if is_known(first):
            return from_(i + 1, right) if object_of(first) else first
        return frame.choose(test_of(first), lambda: from_(i + 1, right), lambda: number(hir.FALSE, first))

    result = from_(0, left)
    return _simplified(result)


def _simplified(value: Value) -> Value:
    """`b if a else False` as `a and b`."""
    match value.leaves:
        case (Op("select", (test, chosen, Const(False)), "b"),):
            return Value(value.type, (Op("and", (test, chosen), "b"),))
    return value


def _boolean(frame: Frame, node: ast.BoolOp, *, as_test: bool = False) -> Value:
    is_and = isinstance(node.op, ast.And)

    def operand(i: int) -> Value:
        part = node.values[i]
        return truth_value(condition(frame, part)) if as_test else expression(frame, part)

    def from_(i: int) -> Value:
        if i == len(node.values) - 1:
            return operand(i)
        first = frame.atoms(operand(i))
        test = truth(frame, first)
        if isinstance(test, Const):
            return from_(i + 1) if bool(test.value) == is_and else first
        if not isinstance(first.type, Union) and test == (first.leaves[0] if first.leaves else None):
            kept = number(Const(not is_and, "b"), first)
        else:
            kept = first
        narrowing = narrowings(frame, node.values[i], is_and)

        def rest() -> Value:
            apply_narrowings(frame, narrowing)
            return from_(i + 1)

        saved = dict(frame.env)
        result = frame.choose(test, rest, lambda: kept) if is_and else frame.choose(test, lambda: kept, rest)
        for name in narrowing:  # what was narrowed for the second operand only
            if frame.live and isinstance(name, str) and name in saved:
                frame.env[name] = saved[name]
        return result

    return _simplified(from_(0))


def _conditional(frame: Frame, node: ast.IfExp) -> Value:
    test = condition(frame, node.test)
    positive, negative = narrowings(frame, node.test, True), narrowings(frame, node.test, False)
    saved = {name: frame.env[name] for name in {*positive, *negative} if name in frame.env}

    def side(part: ast.expr, narrowing: dict[Any, Value]) -> Callable[[], Value]:
        def lower() -> Value:
            apply_narrowings(frame, narrowing)
            result = expression(frame, part)
            if frame.live:
                frame.env.update(saved)
            return result

        return lower

    return frame.choose(test, side(node.body, positive), side(node.orelse, negative))


def _walrus(frame: Frame, node: ast.NamedExpr) -> Value:
    if is_choice(node.value):
        value = choices.assigned(frame, node.value, node.target)
    else:
        value = expression(frame, node.value)
    frame.bind(node.target.id, value)
    return name_value(frame, node.target.id)


# --- displays --------------------------------------------------------------------------------------


def _tuple(frame: Frame, node: ast.Tuple) -> Value:
    parts: list[tuple[Value, bool]] = []  # and whether it is behind a star
    for i, part in enumerate(node.elts):
        is_star = isinstance(part, ast.Starred)
        found = _spread(frame, part, i) if isinstance(part, ast.Starred) else expression(frame, part)
        parts.append((frame.atoms(found), is_star))
    if any(is_star and isinstance(value.type, List) for value, is_star in parts):
        made = lists.list_of(frame, node, [])
        for i, (value, is_star) in enumerate(parts):
            frame.unrolled += (("star", i),)
            if is_star:
                lists.extend(frame, node, made, value)
            else:
                lists.append(frame, made, value)
            frame.unrolled = frame.unrolled[:-1]
        pieces = (lists.pieces_of(one) if is_star else ((one, False),) for one, is_star in parts)
        return lists.as_tuple(frame, made, tuple(piece for found in pieces for piece in found))
    items = [item for value, is_star in parts for item in (items_of(value) if is_star else [value])]
    if items and all(isinstance(item.type, Known) for item in items):
        return known(tuple(object_of(item) for item in items))
    return make_tuple(items)


def _spread(frame: Frame, part: ast.Starred, place: int) -> Value:
    """What stands behind a star in a tuple: a tuple, or a list of what there is now."""
    value = comprehensions.spread(frame, part)
    if is_plain_tuple(value.type) or is_never(value):
        return make_tuple([]) if is_never(value) else value
    if paths.is_path(frame, value):
        return paths.listed(frame, value)  # which nobody changes
    made = lists.list_of(frame, part, [], ("spread", place))
    lists.extend(frame, part, made, value)
    return made


def _list(frame: Frame, node: ast.List) -> Value:
    if not any(isinstance(part, ast.Starred) for part in node.elts):
        return lists.list_of(frame, node, [frame.atoms(expression(frame, part)) for part in node.elts])
    made = lists.list_of(frame, node, [])
    for i, part in enumerate(node.elts):
        frame.unrolled += (("star", i),)
        if isinstance(part, ast.Starred):
            lists.extend(frame, part, made, comprehensions.spread(frame, part))
        else:
            lists.append(frame, made, expression(frame, part))
        frame.unrolled = frame.unrolled[:-1]
    return made


def _dict(frame: Frame, node: ast.Dict) -> Value:
    made = tables.make(frame, node)
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            more = expression(frame, value)
            if not isinstance(more.type, Dict):
                raise frame.not_closed(f"** of {describe(more.type)} in a dict", node)
            tables.update(frame, value, made, more)
            continue
        at = frame.atoms(expression(frame, key))
        tables.store(frame, made, at, expression(frame, value))
    return made


def _set(frame: Frame, node: ast.Set) -> Value:
    made = sets.make(frame, node)
    for i, part in enumerate(node.elts):
        frame.unrolled += (("item", i),)
        if isinstance(part, ast.Starred):
            sets.update(frame, part, made, comprehensions.spread(frame, part))
        else:
            sets.add(frame, made, frame.atoms(expression(frame, part)))
        frame.unrolled = frame.unrolled[:-1]
    return made


def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    return subscripts.subscript(frame, expression(frame, node.value), node.slice)


def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    return function_calls.closure(frame, node)


def _call(frame: Frame, node: ast.Call) -> Value:
    return calls.call_node(frame, node)


def condition(frame: Frame, node: ast.expr) -> Expr:
    """The truth of an expression, of which Python asks once for each operand of `and`, `or` and `not`."""
    match node:
        case ast.BoolOp():
            return truth(frame, _boolean(frame, node, as_test=True))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return negation(condition(frame, operand))
    return truth(frame, expression(frame, node))


_EXPRESSIONS: dict[type[ast.AST], Callable[[Frame, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _boolean,
    ast.IfExp: _conditional,
    ast.NamedExpr: _walrus,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.Set: _set,
    ast.JoinedStr: texts.interpolated,
    ast.Subscript: _subscript,
    ast.Lambda: _lambda,
    ast.Call: _call,
    ast.ListComp: comprehensions.list_comprehension,
    ast.DictComp: comprehensions.dict_comprehension,
    ast.SetComp: comprehensions.set_comprehension,
    ast.GeneratorExp: comprehensions.generator,
    ast.Yield: generator_functions.yielded,
    ast.YieldFrom: generator_functions.yielded_from,
}
