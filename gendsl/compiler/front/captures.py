"""What a nested function uses of the functions around it, kept with it where that has one value for good.

    def wave(a, period):                        such a function holds the values of a and period: it may be
        return lambda t: a * math.sin(t / period)       put into a list, and called after others were made

Python looks such a variable up where the function is called. That is the value that it had where the function
was made if it is set once in the function around, not in a loop, and before.
"""

from __future__ import annotations

import ast
from typing import Any

from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.values import UNSET, Value, known
from gendsl.compiler.types import (
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

_KEPT = (Number, Text, Known, Array, List, Dict, Set, Object)


def captured(frame: Frame, node: Any) -> dict[str, Value] | None:
    """The variables of functions around that a nested function uses; None where one may change."""
    found: dict[str, Value] = {}
    inner = Frame(frame.program, frame.text, [], node, None, frame.filename, None)
    own = inner.locals - inner.globals
    for part in ast.walk(node):
        if not isinstance(part, ast.Name) or part.id in own or part.id in found:
            continue
        owner: Frame | None = frame
        while owner is not None and part.id not in owner.locals:
            if part.id in owner.comprehended:
                return None
            owner = owner.outer
        if owner is None:
            continue
        value = owner.env.get(part.id)
        changes = part.id in owner.globals or part.id in owner.cells or times_bound(owner.node, part.id) != 1
        if value is None or changes or not _is_kept(value.type):
            return None
        found[part.id] = value
    return found


def _is_kept(kind: Type) -> bool:
    """Whether a value of a type may be kept with a function."""
    if isinstance(kind, (Tuple, Union)):
        parts = kind.items if isinstance(kind, Tuple) else kind.alternatives
        return all(map(_is_kept, parts))
    if isinstance(kind, Closure):
        return kind.captured is not None
    return isinstance(kind, _KEPT) and kind != known(UNSET).type


def times_bound(node: Any, name: str) -> int:
    """How often the text of a function gives a variable a value; many times, where that is in a loop."""
    parameters = node.args
    given = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    count: int = sum(one.arg == name for one in given)
    count += sum(one is not None and one.arg == name for one in (parameters.vararg, parameters.kwarg))
    for part in ast.walk(node):
        binds = isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load)
        named = isinstance(part, (ast.FunctionDef, ast.ClassDef)) and part.name == name
        count += bool(binds or (named and part is not node))
        if isinstance(part, (ast.For, ast.While, ast.Nonlocal)):
            inner = [one for one in ast.walk(part) if isinstance(one, ast.Name) and one.id == name]
            inside = any(not isinstance(one.ctx, ast.Load) for one in inner)
            count += 2 * (inside or name in getattr(part, "names", ()))
    return count


def activation_of(frame: Frame, made_in: Frame, values: dict[str, Value]) -> Frame:
    """The functions around a nested function, with the variables that it uses of them and no others."""
    outer = None if made_in.outer is None else activation_of(frame, made_in.outer, values)
    made = Frame(
        frame.program, frame.text, frame.out, made_in.node, made_in.function, made_in.filename,
        frame.activation, outer,
    )  # fmt: skip
    made.env.update({name: value for name, value in values.items() if name in made.locals})
    return made
