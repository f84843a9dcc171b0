"""Which variables statements surely assign to, and which they may read before they do."""

from __future__ import annotations

import ast

from gendsl.lang.names import loaded, stored
from gendsl.lang.trees import children, walk
from gendsl.runtime.lowering.syntax import augmented_names


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


def assigned_at_once(node: ast.stmt) -> set[str]:
    """The names that a statement with no others in it surely assigns to, also by `:=` in what always runs."""
    names = {*stored(node)}
    if any(isinstance(part, ast.NamedExpr) for part in walk(node)):
        names -= _assigned_perhaps(node, False) - assigned_surely(node)
    return names


def _assigned_perhaps(node: ast.AST, perhaps: bool) -> set[str]:
    """The targets of `:=` in parts that may not run; all of them if the node itself is one."""
    sure: list[ast.AST]
    match node:
        case ast.Lambda():
            return set()
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first):
            sure = [first]
        case ast.Compare(left=left, comparators=[second, *_]):
            sure = [left, second]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            sure = [node.generators[0]]
        case ast.comprehension(iter=first):
            sure = [first]
        case ast.Assert(test=first):
            sure = [first]
        case _:
            sure = children(node)
    found = {node.target.id} if perhaps and isinstance(node, ast.NamedExpr) else set()
    return found.union(*(_assigned_perhaps(part, perhaps or part not in sure) for part in children(node)))


def read_first(statements: list[ast.stmt]) -> set[str]:
    """The names that statements may read before they assign to them."""
    found: set[str] = set()
    assigned: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.If):
            read = loaded(statement.test) | read_first(statement.body) | read_first(statement.orelse)
        elif isinstance(statement, ast.For):
            target = statement.target
            own = set(stored(target)) if isinstance(target, (ast.Name, ast.Tuple)) else set[str]()
            read = loaded(statement.iter, target) | (read_first(statement.body) - own)
            read |= read_first(statement.orelse)
        else:
            read = loaded(statement) | augmented_names(statement)
        found |= read - assigned
        assigned |= assigned_surely(statement)
    return found
