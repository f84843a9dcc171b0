"""Plain Python functions over numbers, read as formulas: the log densities `at` and what they call.

A function is assignments to names, `if` and `return`; expressions are arithmetic, comparisons, `and`, `or`,
`not`, `a if c else b`, attributes of `self`, and calls of functions of `math` and of other such functions.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import scipy.special

from gendsl.distributions.formulas import Node, apply, call, constant, when
from gendsl.distributions.parameters import certain

_INF = math.inf
_FUNCTIONS: dict[Any, str] = {
    math.log: "log", math.log1p: "log1p", math.exp: "exp", math.expm1: "expm1", math.sqrt: "sqrt",
    math.sin: "sin", math.cos: "cos", math.atan2: "arctan2", math.lgamma: "gammaln",
    scipy.special.psi: "psi", scipy.special.i0e: "i0e", scipy.special.i1e: "i1e",
    abs: "abs", float: "float", min: "minimum", max: "maximum",
}  # fmt: skip
_OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.And: "and", ast.Or: "or",
    ast.USub: "neg", ast.Not: "not", ast.Lt: "lt", ast.LtE: "le", ast.Eq: "eq",
}  # fmt: skip
_TURNED: dict[type, str] = {ast.Gt: "lt", ast.GtE: "le"}


class UnreadableError(TypeError):
    """A function is no formula."""


def formula_of(function: Any, args: Sequence[Node], own: Mapping[str, Node] | None = None) -> Node:
    """What a function returns.

    Args:
        function: a plain function.
        args: its arguments; those left out have their defaults.
        own: the attributes of `self`, of a method.

    Raises:
        UnreadableError: it is not of the subset.
    """
    function = inspect.unwrap(function)
    text = definition(function)
    names = [argument.arg for argument in text.args.args][own is not None :]
    defaults = map(
        constant, (function.__defaults__ or ())[len(args) - len(names) :] if len(args) < len(names) else ()
    )
    values = dict(zip(names, [*args, *defaults], strict=True))
    return _Reader(function, own or {}).block(text.body, values)


@functools.cache
def definition(function: Any) -> ast.FunctionDef:
    """The text of a function.

    Raises:
        UnreadableError: there is none.
    """
    try:
        [found] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, SyntaxError, ValueError) as error:
        raise UnreadableError(f"the text of {function!r} can't be read") from error
    if not isinstance(found, ast.FunctionDef):
        raise UnreadableError(f"{function!r} is not written as a function")
    return found


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))


class _Reader:
    def __init__(self, function: Any, own: Mapping[str, Node]) -> None:
        self.function = function
        self.own = own

    def unreadable(self, node: ast.AST) -> UnreadableError:
        return UnreadableError(
            f"{self.function.__qualname__}: {ast.unparse(node)} is not read as a formula; write it by math, "
            "or define elementwise(x, *parameters) by autograd.numpy, too"
        )

    def block(self, statements: Sequence[ast.stmt], values: dict[str, Node]) -> Node:
        for i, statement in enumerate(statements):
            match statement:
                case ast.Expr(ast.Constant(str())):
                    pass
                case ast.Assign() | ast.AnnAssign():
                    self.assignments([statement], values)
                case ast.Return(ast.expr() as value):
                    return self.expression(value, values)
                case ast.If(test, body, other) if not any(_returns(one) for one in (*body, *other)):
                    condition, first, second = self.expression(test, values), dict(values), dict(values)
                    self.assignments(body, first)
                    self.assignments(other, second)
                    for name in first.keys() & second.keys():
                        values[name] = when(condition, first[name], second[name])
                case ast.If(test, body, other):
                    rest = statements[i + 1 :]
                    condition = self.expression(test, values)
                    sides = [self.block([*side, *rest], dict(values)) for side in (body, other)]
                    return when(condition, *sides)
                case _:
                    raise self.unreadable(statement)
        raise UnreadableError(f"{self.function.__qualname__} does not always return")

    def assignments(self, statements: Sequence[ast.stmt], values: dict[str, Node]) -> None:
        for statement in statements:
            match statement:
                case ast.Assign([target], value):
                    self.assign(target, value, values)
                case ast.AnnAssign(target, _, ast.expr() as value):
                    self.assign(target, value, values)
                case _:
                    raise self.unreadable(statement)

    def assign(self, target: ast.expr, value: ast.expr, values: dict[str, Node]) -> None:
        match target, value:
            case ast.Tuple(names), ast.Tuple(several):
                found = [self.expression(one, values) for one in several]
                values.update(zip((ast.unparse(name) for name in names), found, strict=True))
            case ast.Name(name), _:
                values[name] = self.expression(value, values)
            case _:
                raise self.unreadable(target)

    def expression(self, node: ast.expr, values: Mapping[str, Node]) -> Node:
        match node:
            case ast.Name(name) if name in values:
                return values[name]
            case ast.Attribute(ast.Name("self"), name) if name in self.own:
                return self.own[name]
            case ast.Constant() | ast.Name() | ast.Attribute():
                found = self.known(node)
                if isinstance(found, (float, int)):
                    return constant(found)
            case ast.UnaryOp(operator, operand) if type(operator) in _OPERATORS:
                return apply(_OPERATORS[type(operator)], self.expression(operand, values))
            case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
                both = self.expression(left, values), self.expression(right, values)
                return apply(_OPERATORS[type(operator)], *both)
            case ast.BoolOp(operator, operands):
                name = _OPERATORS[type(operator)]
                return functools.reduce(
                    functools.partial(apply, name), [self.expression(o, values) for o in operands]
                )
            case ast.IfExp(test, body, other):
                return when(*(self.expression(one, values) for one in (test, body, other)))
            case ast.Compare(left, operators, right):
                sides = [self.expression(one, values) for one in (left, *right)]
                pairs = zip(operators, sides[:-1], sides[1:], strict=True)
                return functools.reduce(
                    functools.partial(apply, "and"), [self.compared(node, *pair) for pair in pairs]
                )
            case ast.Call(called, args, []):
                function, found = self.known(called), [self.expression(one, values) for one in args]
                if function is certain:
                    return when(found[0], constant(0.0), constant(-_INF))
                if function in _FUNCTIONS:
                    return apply(_FUNCTIONS[function], *found)
                if callable(function):
                    return call(function, found)
        raise self.unreadable(node)

    def compared(self, node: ast.expr, operator: ast.cmpop, left: Node, right: Node) -> Node:
        if isinstance(operator, ast.Is) and right.op == "constant":
            return left if right.value is True else apply("not", left)  # of a truth value
        if type(operator) in _TURNED:
            return apply(_TURNED[type(operator)], right, left)
        if type(operator) not in _OPERATORS:
            raise self.unreadable(node)
        return apply(_OPERATORS[type(operator)], left, right)

    def known(self, node: ast.expr) -> Any:
        """A constant, or what a global name means."""
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                found = self.function.__globals__
                return found[name] if name in found else getattr(builtins, name, None)
            case ast.Attribute(owner, name):
                return getattr(self.known(owner), name, None)
        raise self.unreadable(node)
