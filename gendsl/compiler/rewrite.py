"""Rewrite the `~` and `@ ~` of a body into calls on the execution that is running it.

    addr @ ~E       ->  __gendsl__.at(addr, E')
    ... @ ~E        ->  __gendsl__.splice(E')
    name = ~E       ->  name = __gendsl__.at(("name",), E', True)
    mu[i, j] = ~E   ->  mu[i, j] = __gendsl__.at(("mu", i, j), E', True)
    ~E elsewhere    ->  __gendsl__.unaddressed(E')
    [addr @] ~E in a nested def, lambda or class  ->  __gendsl__.nested(E'[, addr])

where E' is E with a call `f(x)` turned into `__gendsl__.callee(f)(x)`, so that a call of a generative
function is traced instead of run. The rewritten function takes the execution as a hidden keyword.
"""

from __future__ import annotations

import ast
import copy

from gendsl.compiler.definition import FunctionNode
from gendsl.compiler.fence import RESERVED
from gendsl.compiler.sites import Site, assigned_address, is_addressed, is_choice, site_of
from gendsl.compiler.source import Source


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self.sites: list[Site] = []
        self.temporaries = 0
        self.nested = 0  # how many function or class scopes below the body we are

    # --- pieces -----------------------------------------------------------------------------------

    def _method(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
        execution = ast.Name(RESERVED, ast.Load())
        call = ast.Call(ast.Attribute(execution, name, ast.Load()), arguments, [])
        for node in (execution, call.func, call):
            ast.copy_location(node, at)
        return call

    def _callable(self, expression: ast.expr) -> ast.expr:
        """E' of the operand of a `~`."""
        expression = self.visit(expression)
        if isinstance(expression, ast.Call):
            expression.func = self._method("callee", [expression.func], expression.func)
        return expression

    def _choice(self, node: ast.expr, operand: ast.expr, address: ast.expr | None) -> ast.Call:
        """The call for `node`, a choice whose address was assigned (None: it has no address)."""
        self.sites.append(site_of(node, None if address is None else copy.deepcopy(address)))
        thing = self._callable(operand)
        if self.nested:
            return self._method("nested", [thing], node)
        if address is None:
            return self._method("unaddressed", [thing], node)
        sugar = ast.copy_location(ast.Constant(True), node)
        return self._method("at", [address, thing, sugar], node)

    # --- scopes ---

    def _scope(self, node: ast.AST) -> ast.AST:
        self.nested += 1
        self.generic_visit(node)
        self.nested -= 1
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _scope

    # --- expressions ------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not is_addressed(node):
            return self.generic_visit(node)
        assert isinstance(node.right, ast.UnaryOp)
        if self.nested:
            address = self.visit(node.left)
            return self._method("nested", [self._callable(node.right.operand), address], node)
        if isinstance(node.left, ast.Constant) and node.left.value is ...:
            self.sites.append(site_of(node, None))
            return self._method("splice", [self._callable(node.right.operand)], node)
        self.sites.append(site_of(node, copy.deepcopy(node.left)))
        address = self.visit(node.left)
        return self._method("at", [address, self._callable(node.right.operand)], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if is_choice(node):
            return self._choice(node, node.operand, None)
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        if isinstance(node.value, ast.UnaryOp) and is_choice(node.value):
            address = assigned_address(node.target)
            node.value = self._choice(node.value, node.value.operand, address)
            return node
        return self.generic_visit(node)

    # --- assignments ------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        if len(node.targets) != 1 or not is_choice(node.value):
            return self.generic_visit(node)
        before, node.targets[0], node.value = self._assignment(node.targets[0], node.value)
        return [*before, node]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        if node.value is None or not is_choice(node.value):
            return self.generic_visit(node)
        before, target, node.value = self._assignment(node.target, node.value)
        assert isinstance(target, (ast.Name, ast.Attribute, ast.Subscript))
        node.target = target
        return [*before, node]

    def _assignment(
        self, target: ast.expr, value: ast.expr
    ) -> tuple[list[ast.stmt], ast.expr, ast.expr]:
        """Statements to run first, the target and the value of `target = ~E`.

        The index of a subscript is needed twice, in the address and in the target; what isn't a plain
        name or constant is evaluated once, into a temporary.
        """
        assert isinstance(value, ast.UnaryOp)
        target = self.visit(target)
        before: list[ast.stmt] = []
        node = target
        while isinstance(node, ast.Subscript):
            index = node.slice
            level: list[ast.stmt] = []
            if isinstance(index, ast.Tuple):
                index.elts = [self._once(part, level) for part in index.elts]
            else:
                node.slice = self._once(index, level)
            before[:0] = level
            node = node.value
        address = assigned_address(target)
        if address is not None:
            address = copy.deepcopy(address)
        return before, target, self._choice(value, value.operand, address)

    def _once(self, index: ast.expr, before: list[ast.stmt]) -> ast.expr:
        if isinstance(index, (ast.Name, ast.Constant, ast.Slice)):
            return index
        name = f"__gendsl_index_{self.temporaries}__"
        self.temporaries += 1
        store, load = ast.Name(name, ast.Store()), ast.Name(name, ast.Load())
        statement = ast.Assign([store], index)
        for node in (store, load, statement):
            ast.copy_location(node, index)
        before.append(statement)
        return load


def rewrite(source: Source) -> tuple[FunctionNode, list[Site]]:
    """The rewritten definition of a `@gen` function, and the sites of its choices and calls."""
    node = copy.deepcopy(source.node)
    rewriter = _Rewriter()
    body: list[ast.stmt] = []
    for statement in node.body:
        result = rewriter.visit(statement)
        body.extend(result if isinstance(result, list) else [result])
    node.body = body
    node.decorator_list = []
    node.args.kwonlyargs.append(ast.arg(RESERVED))
    node.args.kw_defaults.append(None)
    return ast.fix_missing_locations(node), rewriter.sites
