"""What in a body may make it give something else each time: where to look first when it does."""

from __future__ import annotations

import ast
import inspect
import random
from types import ModuleType
from typing import Any

import numpy as np

from gendsl.lang.names import root_name
from gendsl.lang.sites import known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.objects import CHANGING_METHODS

CAUSES = (
    "likely causes: a draw from `random` or `np.random` where `~` should be; global state that changes from "
    "call to call, as a list that grows, a counter or an attribute of a class; a default argument that is "
    "changed (`def f(x, seen=[])`); the time; the order of a set"
)
_GENERATORS = random.Random, np.random.RandomState, np.random.Generator
_CLOCKS = frozenset(("time", "datetime", "secrets", "uuid"))
_MOST = 3


def suspects(source: Source) -> list[str]:
    """The lines of a body that look as if they did something else each time, as `line 7 (rs.normal)`."""
    found: dict[str, None] = {}
    for statement in source.node.body:
        for part in walk(statement):
            if _is_suspect(source, part):
                shown = part.func if isinstance(part, ast.Call) else part
                if isinstance(part, ast.AugAssign):
                    shown = part.target
                found[f"line {part.lineno} ({ast.unparse(shown)})"] = None  # type: ignore[attr-defined]
    return [*found][:_MOST]


def _is_suspect(source: Source, part: ast.AST) -> bool:
    if isinstance(part, ast.AugAssign) and isinstance(part.target, (ast.Attribute, ast.Subscript)):
        return root_name(part.target) not in source.bound or _is_default(source, root_name(part.target))
    if not isinstance(part, ast.Call):
        return False
    function = _known(source, part.func)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, _GENERATORS) or getattr(function, "__module__", None) in _CLOCKS:
        return True
    if isinstance(owner, ModuleType) and owner.__name__ in _CLOCKS:
        return True
    if not isinstance(part.func, ast.Attribute) or part.func.attr not in CHANGING_METHODS:
        return False
    root = root_name(part.func)
    return root is not None and (root not in source.bound or _is_default(source, root))


def _known(source: Source, node: ast.expr) -> Any:
    """What an expression is, attributes of objects included, as far as that is known."""
    value = known_value(source, node)
    if value is None and isinstance(node, ast.Attribute):
        owner = _known(source, node.value)
        return None if owner is None else getattr(owner, node.attr, None)
    return value


def _is_default(source: Source, name: str | None) -> bool:
    """Whether a name is an argument whose default can be changed."""
    parameter = inspect.signature(source.function).parameters.get(name or "")
    return parameter is not None and isinstance(parameter.default, (list, dict, set))
