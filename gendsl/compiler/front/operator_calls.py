"""The functions of `operator`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from gendsl.compiler.front import array_places, operators
from gendsl.compiler.front.frame import Frame, only
from gendsl.compiler.front.subscripts import item_at
from gendsl.compiler.hir.types import Array
from gendsl.compiler.hir.values import NOTHING, Value


def _operator(node: ast.operator | ast.cmpop | ast.unaryop) -> Callable[..., Value]:
    """A function of `operator`: what its operator means."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        only(frame, named)
        if len(args) != (1 if isinstance(node, ast.unaryop) else 2):
            frame.fail("an operator with a wrong number of arguments")
            return NOTHING
        if isinstance(node, ast.operator):
            return operators.binary(frame, node, *args)
        if isinstance(node, ast.cmpop):
            return operators.compare(frame, node, *args)
        return operators.unary(frame, node, *args)

    return handle


def _getitem(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    if len(args) != 2:
        frame.fail("operator.getitem with a wrong number of arguments")
        return NOTHING
    if isinstance(args[0].type, Array):
        return array_places.at_indices(frame, args[0], [args[1]])
    return item_at(frame, *args)


OPERATORS: dict[Any, Callable[..., Value]] = {
    operator.add: _operator(ast.Add()), operator.sub: _operator(ast.Sub()),
    operator.mul: _operator(ast.Mult()),
    operator.truediv: _operator(ast.Div()), operator.floordiv: _operator(ast.FloorDiv()),
    operator.mod: _operator(ast.Mod()), operator.pow: _operator(ast.Pow()), operator.matmul:
    _operator(ast.MatMult()),
    operator.and_: _operator(ast.BitAnd()), operator.or_: _operator(ast.BitOr()), operator.xor:
    _operator(ast.BitXor()),
    operator.neg: _operator(ast.USub()), operator.pos: _operator(ast.UAdd()), operator.invert:
    _operator(ast.Invert()),
    operator.not_: _operator(ast.Not()), operator.lt: _operator(ast.Lt()), operator.le: _operator(ast.LtE()),
    operator.gt: _operator(ast.Gt()), operator.ge: _operator(ast.GtE()), operator.eq: _operator(ast.Eq()),
    operator.ne: _operator(ast.NotEq()), operator.is_: _operator(ast.Is()), operator.is_not:
    _operator(ast.IsNot()),
    operator.getitem: _getitem,
}  # fmt: skip
