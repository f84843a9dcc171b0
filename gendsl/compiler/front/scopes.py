"""The names that a definition binds itself, and those of its variables that functions in it assign to."""

from __future__ import annotations

import ast
import functools
from typing import Any

from gendsl.lang import trees


@functools.lru_cache(maxsize=4096)
def scope_of(node: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a definition binds itself, and those it declares to be of outside."""
    bound: set[str] = set()
    outside: set[str] = set()
    if node is None:
        return frozenset(), frozenset()
    arguments = node.args
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    bound |= {a.arg for a in every if a is not None}

    def visit(part: ast.AST) -> None:
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            bound.add(part.id)
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            outside.update(part.names)
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(part.name)
            return
        elif isinstance(part, (ast.Import, ast.ImportFrom)):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in part.names)
        elif isinstance(part, (ast.MatchAs, ast.MatchStar)) and part.name:
            bound.add(part.name)
        elif isinstance(part, ast.Lambda):
            return
        elif isinstance(part, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for inner in trees.walk(part):
                if isinstance(inner, ast.NamedExpr):
                    bound.add(inner.target.id)
            return
        for child in trees.children(part):
            visit(child)

    for part in node.body if isinstance(node.body, list) else [node.body]:
        visit(part)
    return frozenset(bound), frozenset(outside)


@functools.lru_cache(maxsize=4096)
def nonlocals(node: Any) -> frozenset[str]:
    """The names that a definition declares to be those of a function around it."""
    found: set[str] = set()

    def visit(part: ast.AST) -> None:
        if isinstance(part, ast.Nonlocal):
            found.update(part.names)
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            for child in trees.children(part):
                visit(child)

    for part in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
        visit(part)
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def cells_of(node: Any) -> frozenset[str]:
    """The variables of a definition that functions in it assign to."""
    inner = [
        part
        for part in trees.walk(node)
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part is not node
    ] if node is not None else []
    own, outside = scope_of(node)
    return frozenset(name for part in inner for name in nonlocals(part) if name in own - outside)


def mangled(name: str, function: str) -> str:
    """The name of an attribute as Python has it in the text of a function with a qualified name: private ones
    of a class begin with its name.
    """
    if not name.startswith("__") or name.endswith("__"):
        return name
    scopes = function.split(".")[:-1]
    while scopes and scopes[-1] == "<locals>":  # a function in a function
        del scopes[-2:]
    owner = scopes[-1].lstrip("_") if scopes else ""
    return f"_{owner}{name}" if owner else name
