"""Small questions about syntax."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from operator import is_
from typing import Any

from gendsl.lang.names import COMPREHENSIONS, SCOPES, exits, root_name
from gendsl.lang.trees import children, clone, walk
from gendsl.runtime.lowering.effects import Effects
from gendsl.runtime.lowering.rows import as_cell, cell_of


def is_simple(value: ast.expr) -> bool:
    """Whether an expression only gathers variables, so that it can't fail and can wait."""
    if isinstance(value, (ast.Name, ast.Constant)):
        return True
    return isinstance(value, (ast.Tuple, ast.List)) and all(map(is_simple, value.elts))


def keyword(node: ast.AST) -> str:
    return {"AsyncFor": "async for", "TryStar": "try"}.get(type(node).__name__, type(node).__name__.lower())


def augmented_names(node: ast.AST) -> frozenset[str]:
    """The names of `name += ...` in a statement, which changes lists, sets and arrays in place."""
    parts = (part.target for part in walk(node) if isinstance(part, ast.AugAssign))
    return frozenset(target.id for target in parts if isinstance(target, ast.Name))


def callee(function: ast.expr) -> ast.expr:
    """`f` as `__gendsl__.callee(f)`."""
    execution = ast.Name("__gendsl__", ast.Load())
    call = ast.Call(ast.Attribute(execution, "callee", ast.Load()), [function], [])
    for node in (execution, call.func, call):
        ast.copy_location(node, function)
    return call


def is_request(node: ast.expr) -> bool:
    """Whether an expression is a call that `as_requested` has made."""
    match node:
        case ast.Call(func=ast.Call(func=ast.Attribute(value=ast.Name(id="__gendsl__"), attr="callee"))):
            return True
    return False


def as_requested(operand: ast.expr) -> ast.expr:
    """The operand of a `~` with a call turned into one that is only requested."""
    if not isinstance(operand, ast.Call):
        return operand
    call = ast.Call(callee(operand.func), operand.args, operand.keywords)
    return ast.copy_location(call, operand)


def evaluated_in_order(target: ast.expr, value: ast.expr) -> bool:
    """Whether it can matter that `target = ~E` evaluates E before the indices of its target."""
    if any(isinstance(part, ast.NamedExpr) for part in walk(value)):
        return isinstance(target, ast.Subscript)
    effects = (ast.Call, ast.NamedExpr, ast.Lambda, ast.Invert, *COMPREHENSIONS)
    while isinstance(target, ast.Subscript):
        if any(isinstance(part, effects) for part in walk(target.slice)):
            return True
        target = target.value
    return False


def parts_of(target: ast.expr) -> list[ast.AST]:
    return [n for n in walk(target) if not isinstance(n, ast.expr_context)]


def only_bare(name: str, call: ast.expr) -> bool:
    """Whether every use of a name in a call is as an argument by itself."""
    assert isinstance(call, ast.Call)
    bare = sum(isinstance(a, ast.Name) and a.id == name for a in call.args)
    uses = sum(isinstance(n, ast.Name) and n.id == name for n in walk(call))
    return bare == uses


def indices_read(
    name: str, node: ast.AST, effects: Effects, rows: bool = False
) -> tuple[list[ast.expr], int] | None:
    """The indices at which a name is read and how often its length is; None if it is used otherwise.

    An index with variables of a comprehension inside, such as the j of `sum(mu[j] for j in near)`, stands for
    many: it comes as `*[j for j in near]`. One with those of a lambda is a use of another kind, for outside
    of it the same names mean something else, if they mean anything.
    With `rows`, `name[i][j]` is a lookup of a kind of its own; see `rows.as_cell`.
    """
    indices: list[ast.expr] = []
    lengths = 0
    pending: list[tuple[ast.AST, frozenset[str], list[ast.comprehension] | None]] = [(node, frozenset(), [])]
    while pending:
        part, inside, generators = pending.pop()
        if isinstance(part, (*SCOPES, *COMPREHENSIONS)):
            inside |= names_inside(part)
        cell = cell_of(name, part) if rows else None
        if cell is not None or (isinstance(part, ast.Subscript) and _is_name(name, part.value)):
            assert isinstance(part, ast.Subscript)
            if isinstance(part.slice, ast.Slice) or not isinstance(part.ctx, ast.Load):
                return None
            index = part.slice if cell is None else as_cell(*cell)
            if any(isinstance(n, ast.Name) and n.id in inside for n in walk(index)):
                if generators is None:
                    return None
                index = _each(index, generators)
            indices.append(index)
            pending += [(key, inside, generators) for key in (cell or (part.slice,))]
            continue
        if _is_membership(name, part) and effects.is_dict(name):
            pending.append((part.left, inside, generators))  # type: ignore[attr-defined]
            indices.append(part.left)  # type: ignore[attr-defined]
            if any(isinstance(n, ast.Name) and n.id in inside for n in walk(indices[-1])):
                return None
            continue
        if isinstance(part, ast.Call) and effects.is_builtin(part.func, "len") and len(part.args) == 1:
            argument = part.args[0]
            if isinstance(argument, ast.Name) and argument.id == name:
                lengths += 1
                continue
        if isinstance(part, ast.Name) and part.id == name:
            return None
        if isinstance(part, ast.AugAssign) and root_name(part.target) == name:
            return None
        if isinstance(part, COMPREHENSIONS) and generators is not None:
            pending.extend((child, inside, known) for child, known in _in_comprehension(part, generators))
            continue
        if isinstance(part, SCOPES):
            generators = None
        pending.extend((child, inside, generators) for child in children(part))
    return indices, lengths


def _is_name(name: str, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_membership(name: str, node: ast.AST) -> bool:
    """Whether a node is `key in name` or `key not in name`."""
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=found)]):
            return found == name
    return False


def _in_comprehension(
    node: Any, outer: list[ast.comprehension]
) -> Iterator[tuple[ast.AST, list[ast.comprehension]]]:
    """The parts of a comprehension, each with the generators that say what it is evaluated for."""
    known = outer
    for generator in node.generators:
        yield generator.target, known
        yield generator.iter, known
        for i, test in enumerate(generator.ifs):
            before = generator.ifs[:i]
            reached = ast.comprehension(generator.target, generator.iter, before, generator.is_async)
            yield test, [*known, reached]
        known = [*known, generator]
    for element in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
        yield element, known


def _each(index: ast.expr, generators: list[ast.comprehension]) -> ast.expr:
    """`*[index for ... in ...]`."""
    every = ast.ListComp(clone(index), [clone(generator) for generator in generators])
    starred = ast.Starred(every, ast.Load())
    for made in (every, starred):
        ast.copy_location(made, index)
    return starred


def names_inside(scope: ast.AST) -> set[str]:
    """The names that may have a meaning of their own in a lambda, a comprehension or a nested function."""
    names = {n.id for n in walk(scope) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return names | {n.arg for n in walk(scope) if isinstance(n, ast.arg)}


def replaced(tree: ast.AST, old: ast.expr, new: ast.expr) -> Any:
    """A tree with `new` in place of `old`; the tree itself stays, as do those parts that don't hold `old`."""
    if tree is old:
        return new
    changed = tree
    for name, value in ast.iter_fields(tree):
        fresh = value
        if isinstance(value, ast.AST):
            fresh = replaced(value, old, new)
        elif isinstance(value, list):
            parts = [replaced(part, old, new) if isinstance(part, ast.AST) else part for part in value]
            fresh = value if all(map(is_, parts, value)) else parts
        if fresh is not value:
            changed = copy.copy(tree) if changed is tree else changed
            setattr(changed, name, fresh)
    return changed


def breaks(node: ast.stmt) -> bool:
    """Whether a statement of a loop's body may end the loop, or the iteration, itself."""
    return exits(node)
