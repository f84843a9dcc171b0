"""Loops with an `if` in them that goes the same way in all iterations: a loop in either arm of that `if`.

    for i in range(n):                            if robust:
        m = a * x[i]                                  for i in range(n):
        if robust:                                        m = a * x[i]
            ("y", i) @ ~student_t(nu, m, 1)   ->          ("y", i) @ ~student_t(nu, m, 1)
        else:                                     else:
            ("y", i) @ ~normal(m, 1)                  for i in range(n):
                                                          m = a * x[i]
                                                          ("y", i) @ ~normal(m, 1)

Each arm makes its choices in all iterations then, as array code needs it. What is tested are numbers: choices
that the body makes before, from gendsl's own families, in variables that get no other value. So it is all the
same when that is done, and how often.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace

from gendsl.distributions.columns import COLUMN_DTYPES
from gendsl.lang.names import has_choice
from gendsl.lang.sites import is_choice, known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import clone, walk

_TESTS = ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Tuple
"""What a test is made of."""

_LEAVES = ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await
_SHARED = ast.Global, ast.Nonlocal
_MOST = 2
"""How many such `if`s of a loop are taken out of it: each doubles what there is to lower."""


def unswitched(source: Source) -> Source:
    """A definition with such loops among its statements as it is said above; itself if there are none."""
    statements = source.node.body
    if not any(isinstance(statement, ast.For) for statement in statements):
        return source
    if any(isinstance(part, _SHARED) for part in source.parts):
        return source
    bound = Counter(name for part in source.parts for name in _bound_by(part))
    numbers: set[str] = set()
    body: list[ast.stmt] = []
    for statement in statements:
        name = _drawn(source, statement)
        if name is not None and bound[name] == 1:
            numbers.add(name)
        taken = isinstance(statement, ast.For)
        body.append(_taken_apart(statement, numbers, _MOST) if taken else statement)  # type: ignore[arg-type]
    if body == statements:
        return source
    node = clone(source.node)
    node.body = body
    return replace(source, node=node)


def _bound_by(part: ast.AST) -> list[str]:
    """The names that a part of a definition itself gives another value, wherever they mean something."""
    match part:
        case ast.Name(name, ctx):
            return [] if isinstance(ctx, ast.Load) else [name]
        case ast.arg(name):
            return [name]
        case ast.alias(name, other):
            return [(other or name).partition(".")[0]]
        case ast.MatchMapping(rest=str(name)):
            return [name]
    defined = getattr(part, "name", None)  # by functions, classes, handlers of exceptions and patterns
    return [defined] if isinstance(defined, str) else []


def _drawn(source: Source, statement: ast.stmt) -> str | None:
    """The variable that a statement gives a number that it draws, if it is such a statement."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.UnaryOp(operand=ast.Call(function)) as value):
            family = known_value(source, function)
            if is_choice(value) and isinstance(family, type) and family in COLUMN_DTYPES:
                return name
    return None


def _taken_apart(loop: ast.For, numbers: set[str], left: int) -> ast.stmt:
    """A loop, or the `if` with a loop in either arm that it is."""
    at = _steady(loop, numbers) if left else None
    if at is None:
        return loop
    branch = loop.body[at]
    assert isinstance(branch, ast.If)
    arms: list[list[ast.stmt]] = []
    for arm in (branch.body, branch.orelse):
        made = clone(loop)
        made.body[at : at + 1] = [*map(clone, arm)] or [ast.copy_location(ast.Pass(), branch)]
        arms.append([_taken_apart(made, numbers, left - 1)])
    return ast.copy_location(ast.If(clone(branch.test), *arms), branch)


def _steady(loop: ast.For, numbers: set[str]) -> int | None:
    """Where in the body of a loop there is an `if` with choices that goes the same way in all iterations."""
    if loop.orelse or any(isinstance(part, _LEAVES) for part in walk(loop)):
        return None
    for at, statement in enumerate(loop.body):
        if not isinstance(statement, ast.If) or not has_choice(statement):
            continue
        if all(_is_steady(part, numbers) for part in walk(statement.test)):
            return at  # and so there is none in the test
    return None


def _is_steady(part: ast.AST, numbers: set[str]) -> bool:
    """Whether a part of a test has one value, and can't fail."""
    match part:
        case ast.Name(name):
            return name in numbers
        case ast.Constant(value):
            return isinstance(value, (int, float))
        case ast.UnaryOp(op):
            return isinstance(op, (ast.Not, ast.USub))
        case ast.Compare(ops=ops, comparators=others):
            within = any(isinstance(op, (ast.In, ast.NotIn)) for op in ops)
            pairs = any(isinstance(other, ast.Tuple) for other in others)
            return within == pairs and len(ops) == 1 and not isinstance(ops[0], (ast.Is, ast.IsNot))
    return isinstance(part, _TESTS)
