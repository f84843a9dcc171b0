"""Rows of arrays that a loop fills, by other spellings: each is an entry, or a part, of the array.

    x[t][j]             x[t, j]
    prev = x[t - 1]     a view: wherever `prev` is used, it is what x[t - 1] is then
    ... prev[j]         x[t - 1, j]

So it is where x surely has a second axis and t surely is one integer. What is executed whole keeps the
spelling that the user gave it.
"""

from __future__ import annotations

import ast

import numpy as np

from gendsl.lang.names import COMPREHENSIONS, SCOPES, arguments_of, loaded, stored
from gendsl.lang.sites import known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import Transformer, clone, located, walk
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.integers import bound_otherwise, counted, is_integer
from gendsl.runtime.lowering.syntax import names_inside

_MAKERS = np.zeros, np.ones, np.empty, np.full


def as_entries(definition: Source, effects: Effects, statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a loop with entries and parts of arrays that they fill in place of rows of these."""
    changed = {name for statement in statements for name in effects.changed(statement)}
    arrays = {name for name in changed - {*stored(*statements)} if _has_two_axes(name, definition, effects)}
    if not arrays:
        return statements
    spelling = _Spelling(arrays, counted(definition, effects.is_builtin), definition, {*stored(*statements)})
    return spelling.block(statements)


def _has_two_axes(name: str, definition: Source, effects: Effects) -> bool:
    """Whether a name is only bound to arrays of which the shape says that they have two axes or more."""
    values = effects.bindings(name, *definition.node.body)
    if not values or name in arguments_of(definition.node):
        return False
    for value in values:
        match value:
            case ast.Call(args=[ast.Tuple(elts=[_, _, *_]), *_]):
                made = known_value(definition, value.func)
                if not any(made is maker for maker in _MAKERS):
                    return False
            case _:
                return False
    return True


class _Spelling(Transformer):
    """Spells entries and parts of arrays in one way."""

    def __init__(self, arrays: set[str], counted: set[str], definition: Source, assigned: set[str]) -> None:
        self.arrays = arrays
        self.counted = counted
        self.definition = definition
        self.assigned = assigned
        self.views: dict[str, ast.Subscript] = {}

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements in order; one that only gives a row a name is left as one that looks the row up."""
        made: list[ast.stmt] = []
        for k, statement in enumerate(statements):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as row):
                    if self._is_row(row) and self._is_alone(name, row, statements[k + 1 :]):
                        self.views[name] = row
                        made.append(ast.copy_location(ast.Expr(row), statement))
                        continue
            names = {part.id for part in walk(statement) if isinstance(part, ast.Name)}
            concerned = not names.isdisjoint(self.arrays | self.views.keys())
            made.append(self.visit(clone(statement)) if concerned else statement)
        return made

    def _is_alone(self, name: str, row: ast.Subscript, after: list[ast.stmt]) -> bool:
        """Whether a name is a row wherever it is used, which is only after the statement that makes it so."""
        uses = [n for n in walk(self.definition.node) if isinstance(n, ast.Name) and n.id == name]
        own = sum(isinstance(n, ast.Name) and n.id == name for s in after for n in walk(s))
        names = {name, *loaded(row)}
        scopes = [n for s in after for n in walk(s) if isinstance(n, (*SCOPES, *COMPREHENSIONS))]
        inside = {n for scope in scopes for n in names_inside(scope)}
        assigned = [n for n in uses if not isinstance(n.ctx, ast.Load)]
        known = len(assigned) == 1 and len(uses) == own + 1 and name not in bound_otherwise(self.definition)
        return known and inside.isdisjoint(names) and loaded(row).isdisjoint(self.assigned)

    def _is_row(self, node: ast.AST) -> bool:
        """Whether it is the row of an array at one integer."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return name in self.arrays and is_integer(index, self.counted)
        return False

    def visit_If(self, node: ast.If) -> ast.AST:
        node.test = self.visit(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        row = self.views.get(node.id)
        return node if row is None else located(ast.copy_location(clone(row), node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if self._is_row(node.value):
            assert isinstance(node.value, ast.Subscript)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            node.slice = ast.copy_location(ast.Tuple([node.value.slice, *inner], ast.Load()), node.slice)
            node.value = node.value.value
        return node
