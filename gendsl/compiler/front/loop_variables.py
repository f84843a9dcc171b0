"""Which variables a loop hands from iteration to iteration."""

from __future__ import annotations

import ast
import functools
from typing import Any

from gendsl.compiler.front import objects
from gendsl.compiler.front.frame import Frame
from gendsl.lang import trees


def handed_on(frame: Frame, node: ast.For | ast.While) -> tuple[list[Any], list[Any]]:
    """The variables that a loop hands from iteration to iteration, and those that each iteration sets
    anew.
    """
    every, carried = _set_in(node, frame.node)
    attributes = [
        name for name in frame.env if isinstance(name, tuple) and isinstance(name[0], objects.Building)
    ]
    mine = [name for name in every if name in frame.locals]
    return (
        [*(name for name in mine if name in carried), *attributes],
        [name for name in mine if name not in carried],
    )


@functools.lru_cache(maxsize=4096)
def _set_in(node: ast.For | ast.While, function: Any) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names that a loop of a function sets; those that it hands from iteration to iteration."""
    order: list[tuple[str, bool, bool]] = []  # (name, whether it is set, whether that may be skipped)

    def visit(part: ast.AST, skipped: bool) -> None:
        match part:
            case ast.Name(id=name, ctx=ctx):
                order.append((name, not isinstance(ctx, ast.Load), skipped))
            case ast.Assign(targets=targets, value=value):
                visit(value, skipped)
                for target in targets:
                    visit(target, skipped)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    visit(value, skipped)
                    visit(target, skipped)
            case ast.AugAssign(target=target, value=value):
                visit(value, skipped)
                if isinstance(target, ast.Name):
                    order.append((target.id, False, skipped))
                visit(target, skipped)
            case ast.NamedExpr(target=target, value=value):
                visit(value, skipped)
                visit(target, skipped)
            case ast.For(target=target, iter=iter_, body=body, orelse=orelse):
                visit(iter_, skipped)
                visit(target, True)
                for inner in (*body, *orelse):
                    visit(inner, True)
            case ast.If(test=test, body=body, orelse=orelse):
                visit(test, skipped)
                first = len(order)
                for inner in body:
                    visit(inner, True)
                middle = len(order)
                for inner in orelse:
                    visit(inner, True)
                # what both sides set is surely set
                then = {name for name, is_set, _ in order[first:middle] if is_set}
                other = {name for name, is_set, _ in order[middle:] if is_set}
                order.extend((name, True, skipped) for name in then & other)
            case ast.IfExp() | ast.BoolOp() | ast.While() | ast.Match() | ast.With() | ast.Try():
                for child in trees.children(part):
                    visit(child, True)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                for child in trees.children(part):
                    visit(child, True)
                order.append((name, True, skipped))
            case ast.ListComp() | ast.DictComp() | ast.GeneratorExp() | ast.SetComp():
                own = {n.id for g in part.generators for n in trees.walk(g.target) if isinstance(n, ast.Name)}
                mark = len(order)
                for child in trees.children(part):
                    visit(child, True)
                order[mark:] = [entry for entry in order[mark:] if entry[0] not in own]
            case ast.Lambda() | ast.FunctionDef():
                if isinstance(part, ast.FunctionDef):
                    order.append((part.name, True, skipped))
                for below in trees.walk(part):
                    if isinstance(below, ast.Name) and isinstance(below.ctx, ast.Load):
                        order.append((below.id, False, skipped))
            case _:
                for child in trees.children(part):
                    visit(child, skipped)

    if isinstance(node, ast.For):
        for part in trees.walk(node.iter):  # what a generator reads, it reads in each iteration
            if isinstance(part, ast.GeneratorExp):
                inside = [n for n in trees.walk(part) if isinstance(n, ast.Name)]
                order.extend((n.id, False, False) for n in inside if isinstance(n.ctx, ast.Load))
        visit(node.target, False)
    else:
        visit(node.test, False)
    for part in node.body:
        visit(part, False)
    written = dict.fromkeys(name for name, is_set, _ in order if is_set)
    first: dict[str, bool] = {}
    for name, is_set, skipped in order:
        if name not in first:
            if is_set and skipped:
                continue  # it may be skipped: what comes next decides
            first[name] = is_set
    outside = _read_outside(function, node)
    return tuple(written), frozenset(
        name for name in written if name in outside or not first.get(name, False)
    )


def _read_outside(function: Any, node: ast.AST) -> set[str]:
    """The names that the function reads outside of a loop, or in nested functions."""
    found: set[str] = set()

    def visit(part: ast.AST, own: frozenset[str]) -> None:
        if part is node or part is getattr(node, "copy_of", None):
            return
        if isinstance(part, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            own |= {n.id for g in part.generators for n in trees.walk(g.target) if isinstance(n, ast.Name)}
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id not in own:
            found.add(part.id)
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            found.add(part.target.id)
        for child in trees.children(part):
            visit(child, own)

    body = function.body
    for part in body if isinstance(body, list) else [body]:
        visit(part, frozenset())
    return found
