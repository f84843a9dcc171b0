"""To go through a syntax tree, to copy one and to change one.

The standard library's functions do the same for every class of node that there may be, by way of several
calls for each node. A body is gone through so often that they took most of the time to compile it.

Contexts such as `Load()` and operators such as `Add()` are no parts of a tree here. They say what a node is
and stand nowhere, and the parser itself puts the same few objects everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

_Tree = TypeVar("_Tree", bound=ast.AST)

_PLAIN = frozenset((
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "op", "ops",
    "rest", "simple", "tag", "type_comment",
))  # fmt: skip
"""Fields that have no parts in any class: names, numbers, contexts and operators."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """For each class of node the fields that may have parts."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = () if issubclass(kind, ast.Constant) else kind._fields
        found = self[kind] = tuple(name for name in names if name not in _PLAIN)
        return found


_FIELDS = _Fields()

STATEMENTS = "body", "orelse", "handlers", "finalbody", "cases"
"""Fields of statements that hold other statements, or what holds some."""


# --- going through -------------------------------------------------------------------------------------


def children(node: ast.AST) -> list[ast.AST]:
    """The parts directly in a node, in order."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            for part in value:
                if isinstance(part, ast.AST):
                    found.append(part)
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(tree: ast.AST) -> list[ast.AST]:
    """A tree's nodes, those that are as deep as each other in order, before those that are deeper."""
    found = [tree]
    for node in found:  # which grows; as with `children`, but without a call for each node
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                for part in value:
                    if isinstance(part, ast.AST):
                        found.append(part)
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


class Visitor:
    """Calls `visit_Name` for a name and so on, and `generic_visit` for what there is no such method for."""

    def visit(self, node: ast.AST) -> Any:
        method: Callable[[ast.AST], Any] | None = getattr(self, "visit_" + type(node).__name__, None)
        return self.generic_visit(node) if method is None else method(node)

    def generic_visit(self, node: ast.AST) -> Any:
        """Visit the parts of a node."""
        for part in children(node):
            self.visit(part)


class Transformer(Visitor):
    """A visitor that puts what its methods return in the places of what they were called with.

    That is a node, or for one of several in a row a list of nodes.
    """

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The node itself, with what comes of its parts in their places."""
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                value[:] = self.visit_all(value)
            elif isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def visit_all(self, parts: list[Any]) -> list[Any]:
        """What comes of several in a row."""
        made: list[Any] = []
        for part in parts:
            found = self.visit(part) if isinstance(part, ast.AST) else part
            made += found if isinstance(found, list) else [found]
        return made


# --- making ------------------------------------------------------------------------------------------


def clone(tree: _Tree) -> _Tree:
    """A copy of all nodes of a tree, with all their attributes; a part in two places is copied twice."""
    kind = type(tree)
    made = kind.__new__(kind)
    own = made.__dict__
    own.update(tree.__dict__)
    if kind is ast.Compare:  # its operators are no parts, but the list of them is its own
        own["ops"] = [*own["ops"]]
    for name in _FIELDS[kind]:
        value = own.get(name)
        if type(value) is list:
            own[name] = [clone(part) if isinstance(part, ast.AST) else part for part in value]
        elif isinstance(value, ast.AST):
            own[name] = clone(value)
    return made


def located(tree: _Tree) -> _Tree:
    """The tree itself, where parts without a place have got that of the part that they are in."""
    _locate(tree, 1, 0, 1, 0)
    return tree


def _locate(node: ast.AST, line: int, column: int, end_line: int, end_column: int) -> None:
    kind = type(node)
    if kind._attributes:
        own = node.__dict__
        line = own.setdefault("lineno", line)
        column = own.setdefault("col_offset", column)
        if own.get("end_lineno") is None:  # as it may be where a node has got the place of another
            own["end_lineno"] = end_line
        if own.get("end_col_offset") is None:
            own["end_col_offset"] = end_column
        end_line, end_column = own["end_lineno"], own["end_col_offset"]
    for name in _FIELDS[kind]:
        value = getattr(node, name, None)
        if type(value) is list:
            for part in value:
                if isinstance(part, ast.AST):
                    _locate(part, line, column, end_line, end_column)
        elif isinstance(value, ast.AST):
            _locate(value, line, column, end_line, end_column)
