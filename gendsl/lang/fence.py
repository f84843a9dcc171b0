"""Refuse, with file, line and caret, what a `@gen` body can't mean, before anything is rewritten.

Only what is surely wrong is refused: `~` keeps its ordinary meaning on ordinary values, so an expression
counts as a random choice here if it is known to be one before the function runs.
"""

from __future__ import annotations

import ast
from types import FunctionType

from gendsl.distributions import Distribution
from gendsl.errors import EXECUTION, UnsupportedSyntaxError
from gendsl.interface import GenerativeFunction
from gendsl.lang.sites import is_addressed, is_choice, is_program, is_splice, known_value, target_indices
from gendsl.lang.source import Source
from gendsl.lang.trees import Visitor, children

_GIVE_ADDRESS = 'give it one: `name = ~...`, or `("name", i) @ ~...`'
_PART_OF_VALUE = (
    "the name before `=` is its address only where `~...` is all that is behind it: give it one of its own, "
    '`"name" @ ~...`, or write the rest as a statement of its own'
)
_DISTRIBUTIONS = Distribution.__module__.rpartition(".")[0]


class _Fence(Visitor):
    def __init__(self, source: Source) -> None:
        self.source = source
        self._give_address = _GIVE_ADDRESS

    def refuse(self, problem: str, node: ast.AST, fix: str) -> None:
        raise UnsupportedSyntaxError(problem, fix=fix, location=self.source.location(node))

    # --- what is known to be random ---------------------------------------------------------------

    def _is_distribution(self, node: ast.expr) -> bool:
        """Whether an expression is known to be a distribution, or arithmetic on one."""
        if isinstance(node, ast.BinOp):
            return self._is_distribution(node.left) or self._is_distribution(node.right)
        if isinstance(node, ast.UnaryOp):
            return not is_choice(node) and self._is_distribution(node.operand)
        if isinstance(node, ast.Call):
            made_by = known_value(self.source, node.func)
            if isinstance(made_by, type):
                return issubclass(made_by, Distribution)
            return isinstance(made_by, FunctionType) and made_by.__module__.startswith(_DISTRIBUTIONS)
        return isinstance(known_value(self.source, node), Distribution)

    def _is_program(self, node: ast.expr) -> bool:
        return isinstance(known_value(self.source, node), GenerativeFunction)

    def _is_random(self, operand: ast.expr) -> bool:
        """Whether `~operand` is known to be a random choice or a traced call."""
        called = operand.func if isinstance(operand, ast.Call) else operand
        return self._is_distribution(operand) or self._is_program(called)

    # --- scopes whose choices the trace couldn't order ------------------------------------------

    def _nested(self, node: ast.AST, kind: str) -> None:
        if is_program(node):
            return
        if isinstance(node, ast.UnaryOp) and is_choice(node) and self._is_random(node.operand):
            self.refuse(
                f"a random choice inside a nested {kind}",
                node,
                "make the choice in the @gen function itself, or decorate the inner function with "
                "@gen and call it as `addr @ ~inner(...)`",
            )
        for child in children(node):
            self._nested(child, kind)

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

    # --- choices that an address precedes ---------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if is_addressed(node):
            assert isinstance(node.right, ast.UnaryOp)
            if self._is_random(node.right.operand):
                self._check_address(node, node.right.operand)
            self.visit(node.left)
            self.visit(node.right.operand)
            return
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if (is_choice(side) or is_addressed(side)) and self._is_distribution(other):
                self.refuse(
                    "`~` binds more tightly than the arithmetic around it",
                    node,
                    "put the distribution into parentheses: `~(1 + d)`",
                )
        self.generic_visit(node)

    def _check_address(self, node: ast.BinOp, operand: ast.expr) -> None:
        address = node.left
        if is_splice(address) and self._is_distribution(operand):
            self.refuse(
                "`... @ ~` splices a call of a generative function, not a distribution",
                node,
                "give the choice an address: `addr @ ~d`",
            )
        if not isinstance(operand, ast.Call) and self._is_program(operand):
            name = ast.unparse(operand)
            self.refuse(f"~{name} is not a traced call", node, f"call it: `addr @ ~{name}(...)`")
        if isinstance(address, ast.BinOp) and isinstance(address.op, (ast.Mult, ast.Div)):
            own = address.right
            if isinstance(own, ast.Tuple) or (isinstance(own, ast.Constant) and isinstance(own.value, str)):
                whole, rest = ast.unparse(own), ast.unparse(address.left)
                sign = "*" if isinstance(address.op, ast.Mult) else "/"
                self.refuse(
                    f"`{sign}` and `@` bind alike, so that the address here is `{ast.unparse(address)}`",
                    node,
                    f"put the choice into parentheses: `{rest} {sign} ({whole} @ ~...)`",
                )
        parts = address.elts if isinstance(address, ast.Tuple) else []
        if isinstance(address, ast.Tuple) and not parts:
            self.refuse("() is not an address", address, "use at least one component")
        if isinstance(address, ast.Set):
            whole = ast.unparse(ast.Tuple(address.elts, ast.Load()))
            fix = f"write `{{{whole}}} @ ~...`, or `{whole} @ ~...`"
            self.refuse("braces hold one address", address, fix)
        for part in (address, *parts):
            if isinstance(part, (ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)):
                self.refuse("an address can't hold a list, set or dict", part, "use a tuple")
            if part is not address and is_splice(part):
                self.refuse("... can't be part of an address", part, "`... @ ~f(x)` splices; name the rest")

    # --- choices that an assignment names ---------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> None:
        """`"x", i @ ~d`, alone, is a tuple of "x" and a choice at i: the parentheses were forgotten."""
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else []
        if len(parts) > 1 and is_addressed(parts[-1]) and not any(map(is_addressed, parts[:-1])):
            assert isinstance(parts[-1], ast.BinOp)
            address = ", ".join(ast.unparse(part) for part in (*parts[:-1], parts[-1].left))
            self.refuse(
                "an address of several parts without parentheses", node, f"write `({address}) @ ~...`"
            )
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Reached only by `~E` that neither `addr @` nor an assignment gives an address."""
        if is_choice(node) and self._is_random(node.operand):
            self.refuse("a random choice without an address", node, self._give_address)
        self.generic_visit(node)

    def _assigned(self, targets: list[ast.expr], value: ast.UnaryOp) -> None:
        if self._is_random(value.operand):
            self._check_targets(targets)
            called = value.operand
            if not isinstance(called, ast.Call) and self._is_program(called):
                name = ast.unparse(called)
                self.refuse(f"~{name} is not a traced call", value, f"call it: `~{name}(...)`")
        for target in targets:
            self.visit(target)
        self.visit(value.operand)

    def _check_targets(self, targets: list[ast.expr]) -> None:
        target = targets[0]
        if len(targets) > 1:
            self.refuse("which of several targets names the choice?", target, "assign to one name first")
        if target_indices(target) is not None:
            return
        shown = ast.unparse(target)
        if isinstance(target, ast.Subscript):
            self.refuse(
                f"`{shown} = ~...` gives no address: its indices must be those of one element",
                target,
                f'assign one element at a time, or write `{shown} = "name" @ ~...`',
            )
        self.refuse(f"`{shown} = ~...` gives no address", target, f'write `{shown} = "name" @ ~...`')

    def _part_of_value(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        """Visit an assignment whose value is more than one choice: what it assigns to names none of them."""
        before, self._give_address = self._give_address, _PART_OF_VALUE
        self.generic_visit(node)
        self._give_address = before

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.UnaryOp) and is_choice(node.value):
            self._assigned(node.targets, node.value)
        else:
            self._part_of_value(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if isinstance(node.value, ast.UnaryOp) and is_choice(node.value):
            self._assigned([node.target], node.value)
        else:
            self._part_of_value(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        if isinstance(node.value, ast.UnaryOp) and is_choice(node.value):
            self._assigned([node.target], node.value)
        else:
            self._part_of_value(node)


def check_syntax(source: Source) -> None:
    """Raise `UnsupportedSyntaxError` where the body of a `@gen` function can't be given a meaning."""
    fence = _Fence(source)
    if isinstance(source.node, ast.AsyncFunctionDef):
        fence.refuse("a @gen function can't be async", source.node, "use a plain `def`")
    for part in source.parts:
        if EXECUTION in (getattr(part, "id", None), getattr(part, "arg", None)):
            fence.refuse(f"the name {EXECUTION} is gendsl's own", part, "use another name")
    for statement in source.node.body:
        fence.visit(statement)
