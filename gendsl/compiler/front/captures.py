"""What a nested function uses of the functions around it, kept with it where that has one value for good.

    def wave(a, period):                        such a function holds the values of a and period: it may be
        return lambda t: a * math.sin(t / period)       put into a list, and called after others were made

Python looks such a variable up where the function is called. That is the value that it had where the function
was made if it is set nowhere after that.
"""

from __future__ import annotations

import ast
from typing import Any

from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir.types import (
    Array,
    Closure,
    Dict,
    Known,
    List,
    Number,
    Object,
    Set,
    Text,
    Tuple,
    Type,
    Union,
)
from gendsl.compiler.hir.values import UNSET, Value, known
from gendsl.lang import trees

_KEPT = (Number, Text, Known, Array, List, Dict, Set, Object)


def captured(frame: Frame, node: Any) -> dict[str, Value] | None:
    """The variables of functions around that a nested function uses; None where one may change."""
    found: dict[str, Value] = {}
    inner = Frame(frame.program, frame.text, [], node, None, frame.filename, None)
    own = inner.locals - inner.globals
    for part in trees.walk(node):
        if not isinstance(part, ast.Name) or part.id in own or part.id in found:
            continue
        owner = _owner(frame, part.id)
        if owner is None:
            continue
        if part.id in owner.comprehended:
            return None
        value = owner.env.get(part.id)
        stays = part.id not in owner.globals | owner.cells and _is_settled(owner.node, part.id, node)
        if value is None or not stays or not _is_kept(value.type):
            return None
        found[part.id] = value
    return found


def _owner(frame: Frame, name: str) -> Frame | None:
    """The activation that has a variable, as nested functions see it; None for a global one."""
    owner: Frame | None = frame
    while owner is not None and name not in owner.locals | owner.comprehended:
        owner = owner.outer
    return owner


def owner_of(frame: Frame, name: str) -> Frame:
    """The activation that has a variable which a nested function has captured."""
    owner = _owner(frame, name)
    assert owner is not None
    return owner


def _is_kept(kind: Type) -> bool:
    """Whether a value of a type may be kept with a function."""
    if isinstance(kind, (Tuple, Union)):
        parts = kind.items if isinstance(kind, Tuple) else kind.alternatives
        return all(map(_is_kept, parts))
    if isinstance(kind, Closure):
        return kind.captured is not None
    return isinstance(kind, _KEPT) and kind != known(UNSET).type


def _is_settled(around: Any, name: str, node: Any) -> bool:
    """Whether a variable of a definition is set nowhere after a nested function of it is made."""
    place = node.lineno, node.col_offset

    def visit(part: ast.AST, repeated: bool, statement: ast.AST) -> bool:
        inner = isinstance(part, ast.stmt) and part is not around
        statement = part if inner else statement
        if binds(part, name) and part is not around:
            before = isinstance(part, ast.arg) or (part.lineno, part.col_offset) < place  # type: ignore[attr-defined]
            if not before or repeated or (statement is not around and _holds(statement, node)):
                return False
        again = repeated or (isinstance(part, (ast.For, ast.While)) and _holds(part, node))
        return all(visit(child, again, statement) for child in _own(part, around))

    return visit(around, False, around)


def _own(part: ast.AST, around: Any) -> list[ast.AST]:
    """What is in a part of a definition, but for the bodies of those in it."""
    if part is around or not isinstance(part, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        return trees.children(part)
    if isinstance(part, ast.ClassDef):
        return [*part.decorator_list, *part.bases]
    given = [*part.args.defaults, *(one for one in part.args.kw_defaults if one is not None)]
    return [*getattr(part, "decorator_list", ()), *given]


def _holds(part: ast.AST, node: Any) -> bool:
    return any(one is node for one in trees.walk(part))


def binds(part: ast.AST, name: str) -> bool:
    """Whether a part of a text gives a variable a value itself."""
    match part:
        case ast.Name(id=found):
            return found == name and not isinstance(part.ctx, ast.Load)
        case ast.arg(arg=found) | ast.FunctionDef(name=found) | ast.ClassDef(name=found):
            return found == name
        case ast.MatchAs(name=found) | ast.MatchStar(name=found):
            return found == name
        case ast.alias(name=found, asname=other):
            return (other or found).partition(".")[0] == name
    return False


def activation_of(frame: Frame, made_in: Frame, values: dict[str, Value]) -> Frame:
    """The functions around a nested function, with the variables that it uses of them and no others."""
    outer = None if made_in.outer is None else activation_of(frame, made_in.outer, values)
    made = Frame(
        frame.program, frame.text, frame.out, made_in.node, made_in.function, made_in.filename,
        frame.activation, outer,
    )  # fmt: skip
    made.again = True  # wherever these values come from
    made.env.update({name: value for name, value in values.items() if name in made.locals})
    return made
