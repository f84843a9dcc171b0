"""What a piece of syntax reads, binds and leaves: what can be told without knowing what it does."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from gendsl.lang.definition import FunctionNode
from gendsl.lang.sites import is_choice, is_program, known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import children, walk

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def has_choice(node: ast.AST) -> bool:
    """Whether a `~` stands in a statement or expression, outside `@gen` functions defined in it."""
    if is_program(node):
        return False
    return is_choice(node) or any(map(has_choice, children(node)))


def exits(node: ast.stmt, inside_loop: bool = False) -> bool:
    """Whether a statement may leave the block that it stands in: return, or break/continue its loop."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return not inside_loop
    if isinstance(node, SCOPES):
        return False
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):  # whose `else` is no part of the loop
        in_body = any(exits(child, True) for child in node.body)
        return in_body or any(exits(child, inside_loop) for child in node.orelse)
    return any(exits(child, inside_loop) for child in _children(node))


def _children(node: ast.AST) -> list[ast.stmt]:
    """The statements directly inside a compound statement."""
    found: list[ast.stmt] = []
    for _, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.stmt):
                found.append(item)
            elif isinstance(item, (ast.ExceptHandler, ast.match_case)):
                found.extend(item.body)
    return found


def loaded(*nodes: ast.AST, outside: ast.AST | None = None) -> set[str]:
    """Every name that is read, in nested scopes too; a comprehension's own variables left out.

    Args:
        outside: a part that is left out, too.
    """
    names: set[str] = set()
    for node in nodes:
        _collect_loads(node, frozenset(), names, outside)
    return names


def _collect_loads(
    node: ast.AST, bound: frozenset[str], names: set[str], outside: ast.AST | None
) -> None:
    if node is outside:
        return
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in bound:
            names.add(node.id)
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id not in bound:
        names.add(node.target.id)
    if isinstance(node, COMPREHENSIONS):
        first = node.generators[0].iter
        _collect_loads(first, bound, names, outside)
        own = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
        bound = bound | own
        for child in children(node):
            _collect_loads(child, bound, names, outside)
        return
    if isinstance(node, ast.Lambda):
        arguments = node.args
        own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        own |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
        for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)):
            _collect_loads(default, bound, names, outside)
        _collect_loads(node.body, bound | own, names, outside)
        return
    for child in children(node):
        _collect_loads(child, bound, names, outside)


def reads_builtin(source: Source, functions: tuple[Any, ...]) -> ast.expr | None:
    """Where the body of a function reads one of some builtins, under whichever name; None if nowhere.

    A variable or an argument of its own that has the name of a builtin is none.
    """
    body = source.node.body
    free = loaded(*body) - arguments_of(source.node) - set(stored(*body))
    for part in (part for statement in body for part in walk(statement)):
        if isinstance(part, ast.Attribute):
            value = known_value(source, part)
        elif isinstance(part, ast.Name) and part.id in free:
            value = known_value(source, part)
            value = getattr(builtins, part.id, None) if value is None else value
        else:
            continue
        if any(value is function for function in functions):
            return part
    return None


def read_elsewhere(function: ast.AST, left_out: ast.AST) -> set[str]:
    """The names that are read in a function outside one statement, where they may have what that leaves.

    What another loop binds in each of its iterations before it reads it is its own.
    """
    return _read_elsewhere(function.body, left_out, None)  # type: ignore[attr-defined]


def _read_elsewhere(
    statements: list[ast.stmt], left_out: ast.AST, bound: frozenset[str] | None
) -> set[str]:
    """The same of some statements; `bound` are the names that have been bound in an iteration around them.

    In an iteration of a loop that has the statement in it nothing counts as bound.
    """
    names: set[str] = set()
    own = bound
    for statement in statements:
        if isinstance(statement, ast.For) and statement is not left_out:
            around = own or frozenset()
            inside = None if left_out in walk(statement) else around | frozenset(stored(statement.target))
            names |= loaded(statement.iter, statement.target) - around
            names |= _read_elsewhere(statement.body, left_out, inside)
            names |= _read_elsewhere(statement.orelse, left_out, own)
            continue
        if isinstance(statement, ast.If) and statement is not left_out:
            names |= loaded(statement.test, outside=left_out) - (own or frozenset())
            names |= _read_elsewhere(statement.body, left_out, own)
            names |= _read_elsewhere(statement.orelse, left_out, own)
            continue
        names |= loaded(statement, outside=left_out) - (own or frozenset())
        if own is not None and isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value:
            targets_of = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            own |= {target.id for target in targets_of if isinstance(target, ast.Name)}
    return names


def stored(*nodes: ast.AST) -> list[str]:
    """Every name that is bound in the scope itself, in order of appearance."""
    names: dict[str, None] = {}
    for node in nodes:
        for part in _own_scope(node):
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                names[part.id] = None
            elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
                names[part.name] = None
            elif isinstance(part, ast.MatchMapping) and part.rest:
                names[part.rest] = None
            elif isinstance(part, ast.alias):
                names[(part.asname or part.name).partition(".")[0]] = None
            elif isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                names[part.name] = None
    return list(names)


def _own_scope(node: ast.AST) -> list[ast.AST]:
    """A node and what is in it, without nested scopes' insides; walrus targets in comprehensions count."""
    found: list[ast.AST] = []
    pending = [node]
    while pending:
        part = pending.pop()
        found.append(part)
        if isinstance(part, COMPREHENSIONS):
            found += [inner.target for inner in walk(part) if isinstance(inner, ast.NamedExpr)]
        elif not isinstance(part, SCOPES) and not is_declaration(part):
            pending += reversed(children(part))
    return found


def is_declaration(node: ast.AST) -> bool:
    """Whether a statement is `name: type`, which makes a name a variable of the function and does nothing."""
    return isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name)


def is_idle(node: ast.stmt) -> bool:
    """Whether a statement does nothing: a string, `pass` or a declaration."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or is_declaration(node)


def declared(statements: list[ast.stmt]) -> list[str]:
    """The names that statements declare without giving them a value."""
    parts = [part for statement in statements for part in _own_scope(statement)]
    return [part.target.id for part in parts if is_declaration(part)]  # type: ignore[attr-defined]


def unbound_after(node: ast.AST) -> set[str]:
    """The names that a statement leaves unassigned: those of its exception handlers."""
    return {part.name for part in _own_scope(node) if isinstance(part, ast.ExceptHandler) and part.name}


def base_of(node: ast.expr) -> ast.expr:
    """What is at the root of `a[i].b[j]`."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return node


def root_name(node: ast.expr) -> str | None:
    """The name at the root of `a[i].b[j]`, or None."""
    root = base_of(node)
    return root.id if isinstance(root, ast.Name) else None


def arguments_of(node: FunctionNode | ast.Lambda) -> set[str]:
    return {part.arg for part in walk(node.args) if isinstance(part, ast.arg)}


def levels(target: ast.expr) -> int:
    """How many lookups lead from a name to what is changed."""
    levels = 0
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target, levels = target.value, levels + 1
    return levels if isinstance(target, ast.Name) else levels + 2


def entries_of(node: ast.expr) -> list[ast.expr]:
    """The entries of the container that an expression makes, as far as they are written down."""
    match node:
        case ast.List() | ast.Tuple():
            return node.elts
        case ast.Dict():
            return node.values
        case ast.BinOp():
            return entries_of(node.left) + entries_of(node.right)
        case ast.ListComp():
            return [node.elt]
        case ast.DictComp():
            return [node.value]
    return []


def binds(node: ast.AST, name: str) -> bool:
    """Whether a node itself gives a name a value."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.arg):
        return node.arg == name
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return node.name == name
    if isinstance(node, ast.MatchMapping):
        return node.rest == name
    return isinstance(node, ast.alias) and (node.asname or node.name).partition(".")[0] == name
