"""Refuse, with file, line and caret, what a `@gen` body can't mean, before anything is rewritten."""

from __future__ import annotations

import ast

from gendsl.compiler.sites import assigned_address, is_addressed, is_choice, known_value
from gendsl.compiler.source import Source
from gendsl.distributions.base import Distribution
from gendsl.errors import UnsupportedSyntaxError
from gendsl.interface import GenerativeFunction

RESERVED = "__gendsl__"

_GIVE_ADDRESS = 'give it one: `name = ~...`, or `("name", i) @ ~...`'


class _Fence(ast.NodeVisitor):
    def __init__(self, source: Source) -> None:
        self.source = source

    def refuse(self, problem: str, node: ast.AST, fix: str) -> None:
        raise UnsupportedSyntaxError(problem, fix=fix, location=self.source.location(node))

    # --- scopes whose choices the trace couldn't order ------------------------------------------

    def _nested(self, node: ast.AST, kind: str) -> None:
        for inner in ast.walk(node):
            if is_choice(inner) and self._is_random(inner):
                self.refuse(
                    f"a random choice inside a nested {kind}",
                    inner,
                    "make the choice in the @gen function itself, or decorate the inner function with "
                    "@gen and call it as `addr @ ~inner(...)`",
                )

    def _is_random(self, node: ast.AST) -> bool:
        """Whether `~E` is surely a choice, or stands where its address would make it one."""
        assert isinstance(node, ast.UnaryOp)
        operand = node.operand
        called = operand.func if isinstance(operand, ast.Call) else operand
        value = known_value(self.source, called)
        return (isinstance(value, type) and issubclass(value, Distribution)) or isinstance(
            value, (Distribution, GenerativeFunction)
        )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._nested(node, "def")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._nested(node, "async def")

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._nested(node, "lambda")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._nested(node, "class")

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self.refuse(
            "a @gen function can't be a generator", node, "collect the values in a list and return it"
        )

    visit_YieldFrom = visit_Yield

    def visit_Await(self, node: ast.Await) -> None:
        self.refuse("a @gen function can't await", node, "fetch the data first and pass it as an argument")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == RESERVED:
            self.refuse(f"the name {RESERVED} is gendsl's own", node, "use another name")

    # --- choices ----------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if is_addressed(node):
            address = node.left
            if isinstance(address, ast.Tuple) and not address.elts:
                self.refuse("() is not an address", address, "use at least one component")
            if isinstance(address, (ast.List, ast.Set, ast.Dict)):
                self.refuse("an address can't be a list, set or dict", address, "use a tuple")
            self.visit(address)
            assert isinstance(node.right, ast.UnaryOp)
            self.visit(node.right.operand)
        else:
            self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Reached only by `~E` that neither `addr @` nor an assignment gives an address."""
        if is_choice(node) and self._is_random(node):
            self.refuse("a random choice without an address", node, _GIVE_ADDRESS)
        self.generic_visit(node)

    def _assigned(self, targets: list[ast.expr], value: ast.expr) -> None:
        assert isinstance(value, ast.UnaryOp)
        for target in targets:
            self.visit(target)
        self.visit(value.operand)
        if len(targets) == 1:
            self._check_target(targets[0], value)
        elif self._is_random(value):
            self.refuse("which of several targets names the choice?", targets[0], "assign to one name first")

    def _check_target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Tuple, ast.List, ast.Attribute, ast.Starred)) and self._is_random(value):
            self.refuse(
                f"`{ast.unparse(target)} = ~...` gives no address",
                target,
                f'write `{ast.unparse(target)} = "name" @ ~...`',
            )
        node = target
        while isinstance(node, ast.Subscript):
            index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(isinstance(part, (ast.Slice, ast.Starred)) for part in index):
                self.refuse(
                    "a slice can't name a random choice",
                    target,
                    'assign one element at a time, or write `x[...] = "name" @ ~iid(d, n)`',
                )
            node = node.value
        if assigned_address(target) is None and self._is_random(value):
            self.refuse(f"`{ast.unparse(target)} = ~...` gives no address", target, _GIVE_ADDRESS)

    def visit_Assign(self, node: ast.Assign) -> None:
        if is_choice(node.value):
            self._assigned(node.targets, node.value)
        else:
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and is_choice(node.value):
            self._assigned([node.target], node.value)
        else:
            self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if is_choice(node.value):
            self._assigned([node.target], node.value)
        else:
            self.generic_visit(node)


def check_syntax(source: Source) -> None:
    """Raise `UnsupportedSyntaxError` where the body of a `@gen` function can't be given a meaning."""
    fence = _Fence(source)
    if isinstance(source.node, ast.AsyncFunctionDef):
        fence.refuse("a @gen function can't be async", source.node, "use a plain `def`")
    for argument in ast.walk(source.node.args):
        if isinstance(argument, ast.arg) and argument.arg == RESERVED:
            fence.refuse(f"the name {RESERVED} is gendsl's own", argument, "use another name")
    for statement in source.node.body:
        fence.visit(statement)
