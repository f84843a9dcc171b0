"""The `~` expressions of a body: which address each has, and where it stands."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from types import FrameType, ModuleType
from typing import Any

from gendsl.lang.source import Source
from gendsl.lang.trees import Transformer, clone, located, walk


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


def is_choice(node: ast.AST) -> bool:
    """Whether a node is `~E`."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)


def is_addressed(node: ast.AST) -> bool:
    """Whether a node is `addr @ ~E`."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and is_choice(node.right)


def is_splice(node: ast.AST) -> bool:
    """Whether the address of an `addr @ ~E` is `...`."""
    return isinstance(node, ast.Constant) and node.value is ...


def is_program(node: ast.AST) -> bool:
    """Whether a definition inside a body is decorated with `@gen`: a program of its own."""
    if not isinstance(node, ast.FunctionDef):
        return False
    decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(getattr(d, "attr", getattr(d, "id", None)) == "gen" for d in decorators)


# --- addresses in braces -----------------------------------------------------------------------------


def is_braced(node: ast.AST) -> bool:
    """Whether the address of an `addr @ ~E` was written in braces, which `without_braces` took away."""
    return "braces" in node.__dict__


class _Unbraced(Transformer):
    def _scope(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _scope

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if is_addressed(node) and isinstance(node.left, ast.Set) and len(node.left.elts) == 1:
            (address,) = node.left.elts
            if not isinstance(address, ast.Starred):
                node.left = address
                node.__dict__["braces"] = True
        return self.generic_visit(node)


def without_braces(source: Source) -> Source:
    """The source with `addr @ ~E` for `{addr} @ ~E`, the paper's notation.

    Where E turns out to be no distribution and no call of a program, the braces make a set, as elsewhere;
    `is_braced` tells. Nested functions are as they were: there are no choices in them.
    """
    if not any(isinstance(part, ast.BinOp) and isinstance(part.left, ast.Set) for part in source.parts):
        return source
    node = clone(source.node)
    node.body = _Unbraced().visit_all(node.body)
    return replace(source, node=node)


# --- addresses that assignments give ---------------------------------------------------------------


def target_indices(target: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """The name and the indices of an assignment target such as `mu[i, j]`.

    None where they can't make an address: no name at the root, or a slice, `*` or `...` as an index.
    """
    indices: list[ast.expr] = []
    while isinstance(target, ast.Subscript):
        index = target.slice
        indices[:0] = index.elts if isinstance(index, ast.Tuple) else [index]
        target = target.value
    if not isinstance(target, ast.Name):
        return None
    if any(isinstance(index, (ast.Slice, ast.Starred)) or is_splice(index) for index in indices):
        return None
    return target.id, indices


def assigned_address(target: ast.expr) -> ast.expr | None:
    """The address that an assignment target gives: `mu[i, j]` is `("mu", i, j)`; None if it gives none."""
    found = target_indices(target)
    if found is None:
        return None
    name = ast.copy_location(ast.Constant(found[0]), target)
    return ast.copy_location(ast.Tuple([name, *found[1]], ast.Load()), target)


# --- what is known before the function runs --------------------------------------------------------


def known_value(source: Source, node: ast.expr) -> Any:
    """What an expression evaluates to as far as it is known before the function runs, else None.

    Only names that nothing in the function binds are looked up, and attributes of modules.
    """
    function = source.function
    if isinstance(node, ast.Name):
        if node.id in source.bound:
            return None
        free = function.__code__.co_freevars
        if node.id in free:
            cell = (function.__closure__ or ())[free.index(node.id)]
            try:
                return cell.cell_contents
            except ValueError:  # the enclosing function hasn't assigned it yet
                return None
        return function.__globals__.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = known_value(source, node.value)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


# --- where an error came from ----------------------------------------------------------------------

_PURE = ast.Name, ast.Constant, ast.Tuple, ast.BinOp, ast.UnaryOp, ast.Subscript


def address_in_frame(sites: list[Site], frame: FrameType, lineno: int, column: int) -> Any:
    """The address of the innermost site at a position of a frame, evaluated there; None if unknown.

    Used to say where an error came from, so only expressions that can't have side effects are evaluated.
    """
    spanning = [site for site in sites if site.spans(lineno, column)]
    if not spanning:
        return None
    # of sites that span one position, the innermost is the last to start
    address = max(spanning, key=lambda site: (site.lines[0], site.columns[0])).address
    if address is None or not all(isinstance(part, _PURE) for part in walk(address)):
        return None
    expression = located(ast.Expression(address))
    try:
        return eval(compile(expression, "<address>", "eval"), frame.f_globals, frame.f_locals)
    except Exception:  # the error being reported matters more than its address
        return None
