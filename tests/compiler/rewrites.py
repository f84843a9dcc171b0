"""Other ways to write a module: variables renamed, expressions moved to helpers, independent lines exchanged.

What a program means, and which addresses it has, stays as it is; so must what the compiler makes of it.
"""

from __future__ import annotations

import ast
import builtins

import numpy as np

_PLAIN = (
    ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Call,
    ast.Attribute, ast.Tuple, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip
_MODULES = {"math", "np"}
_CALLED = {"len", "abs", "min", "max", "float", "int", "sum"}


def rewritten(text: str, seed: int) -> str:
    """A module written in another way."""
    tree = ast.parse(text)
    rng = np.random.default_rng(seed)
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | set(dir(builtins))
    taken |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    helpers: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            _rename(node, rng, taken)
            _exchange(node, rng)
            _move_out(node, rng, helpers)
    last_import = max(i for i, node in enumerate(tree.body) if isinstance(node, (ast.Import, ast.ImportFrom)))
    tree.body[last_import + 1 : last_import + 1] = helpers
    return ast.unparse(ast.fix_missing_locations(tree))


# --- variables -----------------------------------------------------------------------------------


def _has_choice(node: ast.AST) -> bool:
    """Whether a `~` is in it, which may be a choice at the address of its target's name."""
    return any(isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Invert) for part in ast.walk(node))


def _local_names(function: ast.FunctionDef) -> set[str]:
    """The variables of a function that no address, argument or inner function has the name of."""
    stored: set[str] = set()
    kept = {arg.arg for node in ast.walk(function) for arg in ast.walk(node) if isinstance(arg, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.add(node.id)
        if isinstance(node, (ast.Assign, ast.NamedExpr, ast.AnnAssign)) and _has_choice(node):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            kept |= {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            kept.add(node.name)
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            kept.update(node.names)
        if isinstance(node, ast.MatchAs) and node.name:
            kept.add(node.name)
        if isinstance(node, ast.keyword) and node.arg:
            kept.add(node.arg)
    return stored - kept


def _rename(function: ast.FunctionDef, rng: np.random.Generator, taken: set[str]) -> None:
    names = {}
    for name in sorted(_local_names(function)):
        if rng.random() < 0.6:
            new = f"{'abcdefgh'[int(rng.integers(8))]}{int(rng.integers(1000))}"
            while new in taken:
                new += "_"
            names[name] = new
            taken.add(new)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]


# --- the order of lines --------------------------------------------------------------------------


def _is_simple(node: ast.stmt) -> bool:
    """Whether a line only gives a variable a number that is computed without any effect."""
    match node:
        case ast.Assign(targets=[ast.Name()], value=value):
            return not _has_choice(node) and _is_plain(value)
    return False


def _is_plain(node: ast.expr) -> bool:
    for part in ast.walk(node):
        if not isinstance(part, _PLAIN) or isinstance(part, ast.Invert):
            return False
        if isinstance(part, ast.Call):
            function = part.func
            known = (isinstance(function, ast.Name) and function.id in _CALLED) or (
                isinstance(function, ast.Attribute)
                and isinstance(function.value, ast.Name)
                and function.value.id in _MODULES
            )
            if not known or part.keywords:
                return False
    return True


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _exchange(function: ast.FunctionDef, rng: np.random.Generator) -> None:
    for node in ast.walk(function):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if not isinstance(body, list):
                continue
            for i in range(len(body) - 1):
                first, second = body[i], body[i + 1]
                if not (_is_simple(first) and _is_simple(second)) or rng.random() < 0.3:
                    continue
                here, there = first.targets[0].id, second.targets[0].id  # type: ignore[attr-defined]
                if here not in _names(second) and there not in _names(first):
                    body[i], body[i + 1] = second, first


# --- helpers -------------------------------------------------------------------------------------


class _Mover(ast.NodeTransformer):
    """Replaces expressions by calls of new functions at the top of the module."""

    def __init__(self, rng: np.random.Generator, local: set[str], helpers: list[ast.stmt]) -> None:
        self.rng, self.local, self.helpers = rng, local, helpers

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.BinOp, ast.Compare)) and _is_plain(node) and self.rng.random() < 0.3:
            names = sorted(_names(node) & self.local)
            if names:
                name = f"helper_{len(self.helpers)}"
                arguments = ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in names], kwonlyargs=[],
                                          kw_defaults=[], defaults=[])  # fmt: skip
                made = ast.FunctionDef(
                    name=name, args=arguments, body=[ast.Return(node)], decorator_list=[], type_params=[]
                )
                self.helpers.append(made)
                return ast.Call(ast.Name(name, ast.Load()), [ast.Name(n, ast.Load()) for n in names], [])
        return super().generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.MatMult):  # perhaps `address @ ~distribution`: the address stays
            node.right = self.visit(node.right)
            return node
        return self.generic_visit(node)


def _move_out(function: ast.FunctionDef, rng: np.random.Generator, helpers: list[ast.stmt]) -> None:
    every = list(ast.walk(function))
    local = {node.id for node in every if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in every if isinstance(node, ast.arg)}
    local |= {str(node.name) for node in every if isinstance(node, (ast.MatchAs, ast.MatchStar))}
    mover = _Mover(rng, local, helpers)
    function.body = [mover.visit(statement) for statement in function.body]
