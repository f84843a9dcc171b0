"""The `~` expressions of a body: which address each has, and where it stands."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

from gendsl.compiler.source import Source


@dataclass(frozen=True)
class Site:
    """One `~` expression: its span in the source and the expression of its address, if it has one."""

    lines: tuple[int, int]
    columns: tuple[int, int]
    address: ast.expr | None

    def spans(self, lineno: int, column: int) -> bool:
        """Whether a position lies within this expression."""
        return (self.lines[0], self.columns[0]) <= (lineno, column) < (self.lines[1], self.columns[1])


def site_of(node: ast.expr, address: ast.expr | None) -> Site:
    """The site that a whole `addr @ ~E` or `~E` expression makes."""
    assert node.end_lineno is not None and node.end_col_offset is not None
    return Site((node.lineno, node.end_lineno), (node.col_offset, node.end_col_offset), address)


def assigned_address(target: ast.expr) -> ast.expr | None:
    """The address that an assignment target gives: `mu[i, j]` is `("mu", i, j)`; None if it gives none."""
    parts: list[ast.expr] = []
    node = target
    while isinstance(node, ast.Subscript):
        index = node.slice
        parts[:0] = index.elts if isinstance(index, ast.Tuple) else [index]
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    path = ast.Tuple([ast.Constant(node.id), *parts], ast.Load())
    for part in (path, path.elts[0]):
        ast.copy_location(part, target)
    return path


def is_choice(node: ast.AST) -> bool:
    """Whether a node is `~E`."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)


def is_addressed(node: ast.AST) -> bool:
    """Whether a node is `addr @ ~E`."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and is_choice(node.right)


def known_value(source: Source, node: ast.expr) -> Any:
    """What an expression evaluates to as far as it is known before the function runs, else None.

    Only names that the function doesn't bind itself are looked up, and attributes of modules.
    """
    function = source.function
    code = function.__code__
    if isinstance(node, ast.Name):
        if node.id in code.co_varnames or node.id in code.co_cellvars:
            return None
        if node.id in code.co_freevars:
            cell = (function.__closure__ or ())[code.co_freevars.index(node.id)]
            try:
                return cell.cell_contents
            except ValueError:  # the enclosing function hasn't assigned it yet
                return None
        return function.__globals__.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = known_value(source, node.value)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


_PURE = (
    ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Load,
    ast.operator, ast.unaryop,
)  # fmt: skip


def address_in_frame(sites: list[Site], frame: FrameType, lineno: int, column: int) -> Any:
    """The address of the innermost site at a position of a frame, evaluated there; None if unknown.

    Used to say where an error came from, so only expressions that can't have side effects are evaluated.
    """
    spanning = [site for site in sites if site.spans(lineno, column)]
    if not spanning:
        return None
    address = min(spanning, key=lambda s: (s.lines[1] - s.lines[0], s.columns[1] - s.columns[0])).address
    if address is None or not all(isinstance(part, _PURE) for part in ast.walk(address)):
        return None
    expression = ast.fix_missing_locations(ast.Expression(address))
    try:
        return eval(compile(expression, "<address>", "eval"), frame.f_globals, frame.f_locals)
    except Exception:  # the error being reported matters more than its address
        return None
