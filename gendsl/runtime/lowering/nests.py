"""Loops of which each iteration does nothing but go through another loop: one loop over pairs.

    for i in range(persons):                          for i, j in ((i, j) for i in range(persons)
        t = theta[i]                          ->                   for j in range(items)):
        for j in range(items):                            t = theta[i]
            ("y", i, j) @ ~bernoulli(...)                 ("y", i, j) @ ~bernoulli(...)

What is said here is only how such statements look; whether it is all the same to them is for `lower_nests` to
say. What they go through may be of another length for each i.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gendsl.lang.names import has_choice, is_idle, loaded, stored
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.iterables import sources_of


@dataclass
class Level:
    """One of the loops, from the outermost on.

    Attributes:
        node: the loop, or a part of a comprehension.
        sources: what it goes through, as in `iterables.Over`.
        strict: whether all that don't count must have one length.
        statements: what an iteration does before it goes through the next loop.
    """

    node: ast.For | ast.comprehension
    sources: list[tuple[ast.expr, bool, ast.expr]]
    strict: bool
    statements: list[ast.stmt]


def levels_of(node: ast.stmt, effects: Effects) -> tuple[list[Level], list[ast.stmt], set[str]] | None:
    """The loops that a statement is, what an iteration of the innermost does, and the names that get lists.

    None if it is no loop in a loop.
    """
    levels: list[Level] = []
    unread: set[str] = set()
    while True:
        if isinstance(node, ast.For):
            if node.orelse:
                return None
            *before, last = [s for s in node.body if not is_idle(s)] or [node.body[0]]
            levels.append(_level(node, node.iter, node.target, effects))
            if not has_choice(last) or any(map(has_choice, before)) or not _goes_on(last):
                body = [*before, last]
                break
            levels[-1].statements = before
            node = last
            continue
        made = _comprehension(node)
        if made is None:
            return None
        listed, name = made
        if name is not None:
            unread.add(name)
        for part in listed.generators:
            if part.ifs or part.is_async:
                return None
            levels.append(_level(part, part.iter, part.target, effects))
        body = [ast.copy_location(ast.Expr(listed.elt), listed.elt)]
        break
    return (levels, body, unread) if len(levels) > 1 and are_apart(levels, body, effects) else None


def _level(node: ast.For | ast.comprehension, over: ast.expr, target: ast.expr, effects: Effects) -> Level:
    sources, strict = sources_of(over, target, effects)
    return Level(node, sources, strict, [])


def _goes_on(node: ast.stmt) -> bool:
    return isinstance(node, ast.For) or _comprehension(node) is not None


def _comprehension(node: ast.stmt) -> tuple[ast.ListComp, str | None] | None:
    """The list comprehension that a statement is, with the name that it gets."""
    match node:
        case ast.Expr(value=ast.ListComp() as made):
            return made, None
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as made):
            return made, name
    return None


def are_apart(levels: list[Level], body: list[ast.stmt], effects: Effects) -> bool:
    """Whether what one loop names is no other's, and none uses what a loop inside it leaves in its variables.

    Then the statements of an outer loop mean the same in each iteration of the inner ones.
    """
    targets: set[str] = set()
    earlier: set[str] = set()  # what the loops around this one read or assign
    assigned: set[str] = set()
    for level in levels:
        for expression, _, target in level.sources:
            if not isinstance(target, ast.Name) or has_choice(expression):
                return False
            if target.id in targets or target.id in earlier or not _is_plain(expression, effects):
                return False
            targets.add(target.id)
        read = loaded(*(expression for expression, _, _ in level.sources))
        if read & assigned:
            return False
        earlier |= read
        for statement in level.statements:
            if not _is_cheap(statement):
                return False
        names = {*stored(*level.statements)}
        earlier |= loaded(*level.statements) | names
        if names & targets or names & assigned:
            return False
        assigned |= names
    inside = {*stored(*body)}
    return not (inside & (assigned | targets)) and not (inside & earlier)


_PLAIN = (
    ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
    ast.expr_context, ast.Tuple, ast.List,
)  # fmt: skip
_COUNTING = ("range", "len", "min", "max", "enumerate", "zip")


def _is_plain(expression: ast.expr, effects: Effects) -> bool:
    """Whether it is all the same when what a loop goes through is evaluated: it only looks things up."""
    return all(
        isinstance(part, _PLAIN)
        or (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id in _COUNTING
            and effects.is_builtin(part.func, part.func.id)
            and not part.keywords
        )
        for part in walk(expression)
    )


def _is_cheap(statement: ast.stmt) -> bool:
    """Whether it costs next to nothing to execute a statement for each pair, in place of once for several."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value):
            return all(isinstance(part, _PLAIN) and not isinstance(part, ast.MatMult) for part in walk(value))
    return False

