"""Whether running a body takes little beside its choices.

Such a body costs about as much to run as it makes choices, so where it makes few it is best run as a whole,
and nothing need be kept track of.
"""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import numpy as np

from gendsl.distributions import Distribution
from gendsl.lang.sites import is_choice, known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import walk

ENTRIES = 256
"""Entries of arrays and containers up to which going through them costs little."""

_NUMBERS = frozenset((float, int, bool))
_LOOPS = ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp
_HEAVY = (
    ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.With, ast.Try,
    ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
)  # fmt: skip
_CHEAP = frozenset((
    "abs", "bool", "dict", "enumerate", "float", "int", "len", "list", "max", "min", "range", "reversed",
    "round", "set", "str", "sum", "tuple", "zip",
))  # fmt: skip


def is_light(source: Source) -> bool:
    """Whether each run of the body costs little beside its choices, whatever its small arguments are.

    It may do arithmetic, call functions of `math`, loop where each iteration makes a choice, and call other
    programs; these have to be looked at by themselves.
    """
    return all(is_light_statement(source, statement) for statement in source.node.body)


def is_light_statement(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement of the body costs little beside its choices."""
    for node in walk(statement):
        if isinstance(node, _HEAVY):
            return False
        if isinstance(node, _LOOPS) and not any(map(is_choice, walk(node))):
            return False
        if isinstance(node, ast.Call) and not _is_cheap(source, node.func):
            return False
        if isinstance(node, ast.Name) and entries(known_value(source, node)) > ENTRIES:
            return False
    return True


def programs_called(source: Source, statements: list[ast.stmt] | None = None) -> list[Any]:
    """What the traced calls of a body, or of some of its statements, call; None where that isn't known."""
    return [
        known_value(source, node.operand.func)
        for statement in (source.node.body if statements is None else statements)
        for node in walk(statement)
        if isinstance(node, ast.UnaryOp) and is_choice(node) and isinstance(node.operand, ast.Call)
    ]


def entries(value: Any) -> int:
    """How many entries a value has: those of an array or a container, 1 for anything else."""
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, (list, tuple)):
        size = len(value)
        return size if size > ENTRIES or _NUMBERS.issuperset(map(type, value)) else sum(map(entries, value))
    if isinstance(value, (dict, set, frozenset, range, str)):
        return len(value)
    return 1


def _is_cheap(source: Source, function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute) and function.attr == "append":
        return True
    known = known_value(source, function)
    if known is None:
        name = function.id if isinstance(function, ast.Name) else ""
        return name in _CHEAP and name not in source.bound and name not in source.function.__globals__
    if isinstance(known, type):
        return issubclass(known, Distribution) or getattr(builtins, known.__name__, None) is known
    module = str(getattr(known, "__module__", ""))
    return (
        module.startswith("gendsl.distributions.")
        or getattr(math, getattr(known, "__name__", ""), None) is known
        or getattr(known, "compiled", None) is not None  # a program, looked at by itself
    )


