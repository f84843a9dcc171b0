"""Which names, and which indices, surely are integers: what loops count, and sums of that."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection

from gendsl.lang.source import Source
from gendsl.lang.trees import walk


def is_integer(index: ast.expr, counted: Collection[str]) -> bool:
    """Whether an index surely is an integer, given the names that are."""
    match index:
        case ast.Name(id=name):
            return name in counted
        case ast.Constant(value=value):
            return type(value) is int
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() | ast.Mod(), right):
            return is_integer(left, counted) and is_integer(right, counted)
        case ast.UnaryOp(ast.USub(), operand):
            return is_integer(operand, counted)
    return False


def counted(definition: Source, is_builtin: Callable[[ast.expr, str], bool]) -> set[str]:
    """The names that are only ever what a loop over a range, or an `enumerate`, counts."""
    found: Counter[str] = Counter()
    for part in walk(definition.node):
        match part:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=function)):
                found[name] += is_builtin(function, "range")
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=name), _]),
                iter=ast.Call(func=function, args=[_], keywords=[]),
            ):
                found[name] += is_builtin(function, "enumerate")
    parts = (part for part in walk(definition.node) if isinstance(part, ast.Name))
    times = Counter(part.id for part in parts if not isinstance(part.ctx, ast.Load))
    return {name for name in found if found[name] == times[name]} - bound_otherwise(definition)


def bound_otherwise(definition: Source) -> set[str]:
    """The names that anything but an assignment or a loop binds: arguments, patterns, imports, functions."""
    fields = "arg", "asname", "name", "rest"
    found = (getattr(part, field, None) for part in walk(definition.node) for field in fields)
    return {name for name in found if name is not None}
