"""Assignments under conditions as expressions: what each variable is after them.

    if x > 0:                 m = a * x if x > 0 else b
        m = a * x             s = 1.0 if x > 0 else 2.0
        s = 1.0          ->
    else:
        m = b
        s = 2.0
"""

from __future__ import annotations

import ast

from gendsl.compiler.names import COMPREHENSIONS, loaded
from gendsl.compiler.syntax import augmented_names
from gendsl.compiler.trees import Transformer, clone, located, walk

_SCOPES = (ast.Lambda, ast.NamedExpr, *COMPREHENSIONS)
_MOST = 400
"""How many nodes an expression has at most: each use of a variable repeats what it is."""

Values = dict[str, ast.expr | None]
"""What variables are; None for one that may have no value, or none that an expression can say."""


def assigned_surely(node: ast.stmt) -> set[str]:
    """The names to which a statement surely assigns, wherever control reaches its end."""
    match node:
        case ast.Assign(targets=targets):
            return {target.id for target in targets if isinstance(target, ast.Name)}
        case ast.AnnAssign(target=ast.Name(name), value=ast.expr()):
            return {name}
        case ast.If():
            if any(isinstance(part, ast.Delete) for part in walk(node)):
                return set()
            then, otherwise = (
                set[str]().union(*map(assigned_surely, arm)) for arm in (node.body, node.orelse)
            )
            return then & otherwise
    return set()


def read_first(statements: list[ast.stmt]) -> set[str]:
    """The names that statements may read before they assign to them."""
    found: set[str] = set()
    assigned: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.If):
            read = loaded(statement.test) | read_first(statement.body) | read_first(statement.orelse)
        else:
            read = loaded(statement) | augmented_names(statement)
        found |= read - assigned
        assigned |= assigned_surely(statement)
    return found


def values_after(statements: list[ast.stmt], known: frozenset[str]) -> Values | None:
    """What the variables are that statements assign to; None if they do anything else.

    Args:
        known: the names that have a value before.
    """
    values: Values = {}
    for statement in statements:
        match statement:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                made = _in_terms(value, values)
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value):
                made = _in_terms(value, values)
            case ast.If(test, body, orelse):
                condition = _in_terms(test, values)
                there = (known - values.keys()) | {name for name in values if values[name] is not None}
                arms = values_after(body, there), values_after(orelse, there)
                if condition is None or arms[0] is None or arms[1] is None:
                    return None
                values = _joined(statement, condition, (arms[0], arms[1]), values, known)
                continue
            case ast.Pass():
                continue
            case _:
                return None
        if made is None:
            return None
        values[name] = made
    return values


def _joined(
    at: ast.If, condition: ast.expr, arms: tuple[Values, Values], before: Values, known: frozenset[str]
) -> Values:
    """The variables after an `if`, of which the arms are in terms of what was before it."""
    after = dict(before)
    for name in (*arms[0], *arms[1]):
        ways = []
        for arm in arms:
            value = arm.get(name, before.get(name))
            if name in arm:
                value = None if value is None else _in_terms(value, before)
            elif name not in before and name in known:
                value = ast.copy_location(ast.Name(name, ast.Load()), at)
            ways.append(value)
        then, otherwise = ways
        after[name] = None
        if then is not None and otherwise is not None:
            made = ast.IfExp(clone(condition), clone(then), clone(otherwise))
            after[name] = located(ast.copy_location(made, at))
    return after


def _in_terms(expression: ast.expr, values: Values) -> ast.expr | None:
    """An expression with what variables are in their places; None where that can't be written so."""
    if not values:
        return clone(expression)
    parts = walk(expression)
    if any(isinstance(part, _SCOPES) for part in parts):
        return None
    if any(isinstance(part, ast.Name) and values.get(part.id, part) is None for part in parts):
        return None
    made: ast.expr = _Substituted(values).visit(clone(expression))
    return made if len(walk(made)) <= _MOST else None


class _Substituted(Transformer):
    def __init__(self, values: Values) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.values.get(node.id)
        return node if value is None else clone(value)
