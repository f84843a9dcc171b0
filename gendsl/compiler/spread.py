"""A body in which choices of gendsl's own families are made by statements of its own, without a call.

    i = ~uniform_discrete(0, n - 1)   ->   path = ("i",)
                                           family, low, high = uniform_discrete, 0, n - 1
                                           if family is <uniform_discrete>:
                                               ... draw, score and keep
                                           else:
                                               value = __gendsl__.makers[family](...)
                                           i = value

Those are the choices that are a statement, or its value, at an address that is a constant. Which statements
make one is the caller's to say. All others are made as `rewrite` has it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from gendsl.compiler.definition import as_function, compile_definition
from gendsl.compiler.methods import Constants, assign, load
from gendsl.compiler.rewrite import Rewriter, rewritten
from gendsl.compiler.sites import assigned_address, is_addressed, is_choice, is_splice
from gendsl.compiler.source import Source
from gendsl.compiler.trees import clone, walk
from gendsl.errors import EXECUTION

MOST = 16
"""How many choices of a body are made so: each takes about a millisecond to compile."""

_Statement = ast.Assign | ast.AnnAssign | ast.Expr | ast.Return

Blocks = Mapping[Any, list[ast.stmt]]
"""For each family, the statements that make a choice from it.

Its parameters are in variables of their names, its address in `path`. Its value is left in `value`.
"""


class _Spreader(Rewriter):
    def __init__(self, source: Source, blocks: Blocks, constants: Constants) -> None:
        super().__init__(source)
        self.blocks = blocks
        self.constants = constants
        self.left = MOST

    def _spread(self, node: _Statement) -> list[ast.AST] | None:
        """The statements for one whose value is a choice; None if that is made in another way."""
        value = node.value
        address: ast.expr | None = None
        operand: Any = None
        if isinstance(value, ast.BinOp) and is_addressed(value) and not is_splice(value.left):
            address, operand = value.left, value.right.operand  # type: ignore[attr-defined]
        elif isinstance(value, ast.UnaryOp) and is_choice(value):
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            if len(targets) == 1 and isinstance(targets[0], ast.Name):
                address, operand = assigned_address(targets[0]), value.operand
        path = None if address is None else _constant(address)
        family = None if path is None or self.nested or not self.left else self.family(operand)
        if family is None:
            return None
        self.left -= 1
        assert value is not None
        arguments = [self.visit(argument) for argument in operand.args]
        made = [assign("path", ast.Constant(path)), assign("family", operand.func)]
        made += [assign(name, given) for name, given in zip(family.parameters, arguments, strict=True)]
        makers = ast.Attribute(ast.Name(EXECUTION, ast.Load()), "makers", ast.Load())
        given = [ast.Name(EXECUTION, ast.Load()), load("path"), ast.Constant(isinstance(value, ast.UnaryOp))]
        given += [load(name) for name in family.parameters]
        call = ast.Call(ast.Subscript(makers, load("family"), ast.Load()), given, [])
        known = self.constants.load(family)
        is_family = ast.Compare(load("family"), [ast.Is()], [known])
        choice = ast.If(is_family, [*map(clone, self.blocks[family])], [assign("value", call)])
        node.value = load("value")
        for part in walk(choice):  # what fails to be made is the distribution, not the choice
            is_making = isinstance(part, ast.Call) and getattr(part.func, "id", None) == known.id
            ast.copy_location(part, operand if is_making else value)
        for statement in made:
            ast.copy_location(statement, value)
        return [*made, choice, self.generic_visit(node)]  # in whose targets there may be choices, too

    def visit_Assign(self, node: ast.Assign) -> Any:
        return self._spread(node) or super().visit_Assign(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        return self._spread(node) or super().visit_AnnAssign(node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        return self._spread(node) or self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> Any:
        return self._spread(node) or self.generic_visit(node)


def _constant(address: ast.expr) -> Any:
    """The path of an address that is a constant; None for any other."""
    parts = address.elts if isinstance(address, ast.Tuple) else [address]
    if not parts or not all(isinstance(part, ast.Constant) and part.value is not ... for part in parts):
        return None
    return tuple(part.value for part in parts)  # type: ignore[attr-defined]


def spread(source: Source, blocks: Blocks, constants: Constants) -> Callable[..., Any]:
    """The body with choices made by statements, called with the execution as its first argument."""
    node = rewritten(source, _Spreader(source, blocks, constants), first=True)
    used = {part.id for part in walk(node) if isinstance(part, ast.Name)}
    known = {name: value for name, value in constants.objects.items() if name in used}
    code = compile_definition(node, source.scopes, source.function, known=tuple(known))
    return as_function(code, source.function, known)
