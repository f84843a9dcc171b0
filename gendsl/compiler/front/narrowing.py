"""What a test says about the types of variables, where it holds and where it does not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gendsl.compiler.front import objects, outside
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir.types import (
    Known,
    Type,
    Union,
)
from gendsl.compiler.hir.values import NONE, Value, alternatives_of, narrowed


def narrowings(frame: Frame, test: ast.expr, positive: bool) -> dict[Any, Value]:
    """What a test, or its opposite, says about variables of several types."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return narrowings(frame, operand, not positive)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) == positive:
            found: dict[Any, Value] = {}
            for part in values:
                found.update(narrowings(frame, part, positive))
            return found
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]) if (
            isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq))
        ):
            wants_none = isinstance(op, (ast.Is, ast.Eq)) == positive
            return _kept(frame, name, lambda type_: (type_ == NONE.type) == wants_none)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), classes]):
            wanted = outside.try_constant(frame, classes)
            if wanted is not None:
                return _kept(
                    frame,
                    name,
                    lambda type_: objects.is_instance(frame, type_, wanted.value) in (positive, None),
                )
        case ast.Name(id=name):
            if positive:
                return _kept(frame, name, lambda type_: not (isinstance(type_, Known) and not type_.value))
    return {}


def _kept(frame: Frame, name: str, wanted: Callable[[Type], bool]) -> dict[Any, Value]:
    value = frame.env.get(name)
    if value is None:
        return {}
    value = frame.opened(value)
    if not isinstance(value.type, Union):
        return {}
    kept = [one.type for one in alternatives_of(value) if wanted(one.type)]
    if not kept or len(kept) == len(value.type.alternatives):
        return {}
    return {name: narrowed(value, kept)}


def apply_narrowings(frame: Frame, narrowing: dict[Any, Value]) -> None:
    """Let variables have the types that a test leaves them."""
    for name, value in narrowing.items():
        frame.env[name] = value
