"""The source of functions: syntax trees, and what they show."""

from __future__ import annotations

import ast
import functools
import linecache
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from gendsl.lang import trees
from gendsl.lang.definition import FUTURE_FLAGS
from gendsl.lang.source import module_imports


@dataclass(frozen=True)
class FunctionSource:
    """A function's syntax tree and the file that it is in."""

    node: Any
    filename: str


def marked(node: Any, name: str) -> list[Any]:
    """A statement of a loop's body, or a part of one, that sets a variable before each `break` of it."""
    if isinstance(node, ast.Break):
        mark = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(True))
        return [ast.fix_missing_locations(ast.copy_location(mark, node)), node]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node]
    for field_ in ("orelse",) if isinstance(node, (ast.For, ast.While)) else trees.STATEMENTS:
        parts = getattr(node, field_, [])
        if parts:
            setattr(node, field_, [part for old in parts for part in marked(old, name)])
    return [node]


def origin_of(function: Any) -> str:
    """What a function is called and where it stands, as comments of the text have it."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    name, file = function.__qualname__.rpartition("<locals>.")[2], code.co_filename.rpartition("/")[2]
    return f"{name}, {file}:{code.co_firstlineno}"


@functools.lru_cache(maxsize=4096)
def returns_closure(node: Any) -> bool:
    """Whether a definition may return a function that is defined in it."""
    parts = trees.walk(node)
    nested = {part.name for part in parts if isinstance(part, ast.FunctionDef) and part is not node}
    for part in parts:
        if isinstance(part, ast.Return) and part.value is not None:
            for inner in trees.walk(part.value):
                if isinstance(inner, ast.Lambda) and not _is_argument(part.value, inner):
                    return True
                if isinstance(inner, ast.Name) and inner.id in nested and not _is_called(part.value, inner):
                    return True
    return isinstance(node, ast.Lambda) and isinstance(node.body, ast.Lambda)


def _is_argument(value: ast.expr, inner: ast.AST) -> bool:
    """Whether an expression is an argument of a call in `value`, and not returned itself."""
    return any(
        isinstance(part, ast.Call)
        and any(inner is a for arg in (*part.args, *part.keywords) for a in trees.walk(arg))
        for part in trees.walk(value)
    )


def _is_called(value: ast.expr, inner: ast.AST) -> bool:
    calls = (part for part in trees.walk(value) if isinstance(part, ast.Call))
    return any(part.func is inner for part in calls) or _is_argument(value, inner)


def lambda_source(function: FunctionType) -> FunctionSource:
    """The syntax tree of a lambda: one of its line that has its code, and so says what it does."""
    filename, line = function.__code__.co_filename, function.__code__.co_firstlineno
    text = "".join(linecache.getlines(filename, function.__globals__))
    nodes = [node for node in trees.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]
    # an interactive shell compiles each statement by itself, without the imports before it
    for imports in (module_imports(text), ()):
        for one in nodes:
            if one.lineno == line and _is_of(function.__code__, one, imports):
                return FunctionSource(one, filename)
    raise OSError("a lambda that is not in its file")


def _is_of(running: CodeType, node: ast.Lambda, imports: tuple[str, ...]) -> bool:
    """Whether a lambda, in a module that imports some names, has the code that runs."""
    names = [ast.arg(name) for name in running.co_freevars]
    outer = ast.copy_location(ast.Lambda(ast.arguments([], names, None, [], [], None, []), node), node)
    body: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in imports]
    module = ast.fix_missing_locations(ast.Module([*body, ast.Expr(outer)], []))
    flags = running.co_flags & FUTURE_FLAGS  # not those of this module
    code: Any = compile(module, running.co_filename, "exec", flags=flags, dont_inherit=True)
    for _ in range(2):  # in a lambda whose parameters are the variables that it finds around it
        code = next(one for one in code.co_consts if isinstance(one, CodeType))
    same = all(getattr(code, part) == getattr(running, part) for part in _TELLING)
    return same and _exact(code.co_consts) == _exact(running.co_consts)


_TELLING = ("co_code", "co_names", "co_varnames", "co_freevars")


def _exact(constant: Any) -> Any:
    """Something that tells a constant of a code from others, as 1 from 1.0 and True, and 0.0 from -0.0."""
    if isinstance(constant, (tuple, frozenset)):
        return type(constant)(map(_exact, constant))
    return constant if isinstance(constant, CodeType) else (type(constant), repr(constant))
