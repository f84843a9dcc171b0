"""Rewrite the `~` and `@ ~` of a body into calls on the execution that is running it.

    addr @ ~E       ->  __gendsl__.at(addr, E')
    {addr} @ ~E     ->  __gendsl__.at(addr, E', "braces")
    ... @ ~E        ->  __gendsl__.splice(E')
    name = ~E       ->  name = __gendsl__.at(("name",), E', True)
    mu[i, j] = ~E   ->  mu[i, j] = __gendsl__.at(("mu", i, j), E', True)
    mu[f(x)] = ~E   ->  mu[t] = __gendsl__.assign(E', ("mu", (t := f(x))))
    addr @ ~normal(a, b)  ->  __gendsl__.makers[normal](__gendsl__, addr, False, a, b)  (where asked for)
    ~E elsewhere    ->  __gendsl__.unaddressed(E')
    [addr @] ~E in a nested def, lambda or class  ->  __gendsl__.nested(E'[, addr])

where E' is E with a call `f(x)` turned into `__gendsl__.callee(f)(x)`, so that a call of a generative
function is traced instead of run. The rewritten function takes the execution as a hidden keyword.
"""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from gendsl.distributions.base import ScalarFamily
from gendsl.errors import EXECUTION
from gendsl.lang.definition import FunctionNode
from gendsl.lang.sites import (
    Site,
    assigned_address,
    is_addressed,
    is_braced,
    is_choice,
    is_program,
    is_splice,
    known_value,
    site_of,
    target_indices,
)
from gendsl.lang.source import Source
from gendsl.lang.trees import Transformer, clone, located, walk

_Assignment = TypeVar("_Assignment", ast.Assign, ast.AnnAssign)


class Rewriter(Transformer):
    """Rewrites the statements of a body."""

    def __init__(self, inlines: Source | None = None) -> None:
        self.inlines = inlines  # the function, where choices of known families are to be made in one call
        self.sites: list[Site] = []
        self.temporaries = 0
        self.nested = 0  # how many function or class scopes below the body we are

    # --- pieces -----------------------------------------------------------------------------------

    def _method(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
        execution = ast.Name(EXECUTION, ast.Load())
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

    def _choice(
        self, node: ast.UnaryOp, address: ast.expr | None, evaluated_last: ast.expr | None = None
    ) -> ast.Call:
        """The call for `~E` whose address, if any, an assignment gives; `evaluated_last` if E goes first."""
        self.sites.append(site_of(node, None if address is None else clone(address)))
        if not self.nested and address is not None and evaluated_last is None:
            return self._at(address, node.operand, node, True)
        thing = self._callable(node.operand)
        if self.nested:
            return self._method("nested", [thing], node)
        if address is None:
            return self._method("unaddressed", [thing], node)
        assert evaluated_last is not None
        return self._method("assign", [thing, evaluated_last], node)

    def _at(self, address: ast.expr, operand: ast.expr, node: ast.expr, sugar: bool | str) -> ast.Call:
        """The call that makes a choice, or calls a program, at an address."""
        named = ast.copy_location(ast.Constant(sugar), node)
        if self.family(operand) is not None:
            assert isinstance(operand, ast.Call)
            makers = self._method("makers", [], node).func
            maker = ast.copy_location(ast.Subscript(makers, operand.func, ast.Load()), node)
            execution = ast.copy_location(ast.Name(EXECUTION, ast.Load()), node)
            given = [execution, address, named, *(self.visit(argument) for argument in operand.args)]
            return ast.copy_location(ast.Call(maker, given, []), node)
        return self._method("at", [address, self._callable(operand), *([named] if sugar else [])], node)

    def family(self, operand: ast.expr) -> Any:
        """The family of ours that an expression, as far as one knows now, makes a distribution of."""
        if self.inlines is None or not isinstance(operand, ast.Call) or operand.keywords:
            return None
        family = known_value(self.inlines, operand.func)
        if not isinstance(family, type) or not issubclass(family, ScalarFamily):
            return None
        starred = any(isinstance(argument, ast.Starred) for argument in operand.args)
        own = family.__module__.startswith("gendsl.distributions.")
        usual = own and not starred and len(operand.args) == len(family.parameters)
        return family if usual else None

    # --- scopes -----------------------------------------------------------------------------------

    def _scope(self, node: ast.AST) -> ast.AST:
        if is_program(node):
            return node
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
        if is_splice(node.left):
            self.sites.append(site_of(node, None))
            return self._method("splice", [self._callable(node.right.operand)], node)
        self.sites.append(site_of(node, clone(node.left)))
        address = self.visit(node.left)
        return self._at(address, node.right.operand, node, "braces" if is_braced(node) else False)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return self._choice(node, None) if is_choice(node) else self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        if isinstance(node.value, ast.UnaryOp) and is_choice(node.value):
            node.value = self._choice(node.value, assigned_address(node.target))
            return node
        return self.generic_visit(node)

    # --- assignments ------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        return self._assignment(node, node.targets[0] if len(node.targets) == 1 else None)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return self._assignment(node, node.target)

    def _assignment(self, node: _Assignment, target: ast.expr | None) -> ast.AST:
        """`target = ~E`; a target None gives no address, as several targets don't."""
        value = node.value
        if target is None or not isinstance(value, ast.UnaryOp) or not is_choice(value):
            return self.generic_visit(node)
        found = target_indices(target)
        address = assigned_address(target)
        if found is None or address is None or self.nested:
            self._visit_targets(node)
            node.value = self._choice(value, None)
        elif self._is_stable(found[1], value):
            node.value = self._choice(value, address)
        else:
            address = clone(address)
            self._visit_targets(node)
            node.value = self._choice(value, address, self._with_temporaries(target))
        return node

    def _visit_targets(self, node: ast.Assign | ast.AnnAssign) -> None:
        if isinstance(node, ast.Assign):
            node.targets = [self.visit(target) for target in node.targets]
        else:
            node.target = self.visit(node.target)

    def _is_stable(self, indices: list[ast.expr], value: ast.expr) -> bool:
        """Whether indices evaluate to the same, without side effects, before and after a value."""
        rebinds = any(isinstance(part, ast.NamedExpr) for part in walk(value))
        return all(
            isinstance(index, ast.Constant) or (isinstance(index, ast.Name) and not rebinds)
            for index in indices
        )

    def _with_temporaries(self, target: ast.expr) -> ast.expr:
        """The address of a target whose indices it evaluates once, into names that the target then uses."""
        address = assigned_address(target)
        assert isinstance(address, ast.Tuple)
        loads: list[ast.expr] = []
        for position, index in enumerate(address.elts[1:], start=1):
            name = f"__gendsl_index_{self.temporaries}__"
            self.temporaries += 1
            store, load = ast.Name(name, ast.Store()), ast.Name(name, ast.Load())
            keep = ast.NamedExpr(store, index)
            for part in (store, load, keep):
                ast.copy_location(part, index)
            address.elts[position] = keep
            loads.append(load)
        node = target
        while isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Tuple):
                count = len(node.slice.elts)
                node.slice.elts = loads[len(loads) - count :]
            else:
                count = 1
                node.slice = loads[-1]
            del loads[len(loads) - count :]
            node = node.value
        return address


def rewrite(source: Source, *, inline: bool = False) -> tuple[FunctionNode, list[Site]]:
    """The rewritten definition of a `@gen` function, and the sites of its choices and calls."""
    rewriter = Rewriter(source if inline else None)
    return rewritten(source, rewriter), rewriter.sites


def rewritten(source: Source, rewriter: Rewriter, *, first: bool = False) -> FunctionNode:
    """The definition of a `@gen` function, rewritten, with the execution as a hidden keyword.

    Args:
        first: have it as the first argument.
    """
    node = clone(source.node)
    node.body = rewriter.visit_all(node.body)
    if first:
        node.args.posonlyargs.insert(0, ast.arg(EXECUTION))
    else:
        node.args.kwonlyargs.append(ast.arg(EXECUTION))
        node.args.kw_defaults.append(None)
    return located(node)


def rewrite_statements(statements: list[ast.stmt], *, inlines: Source | None = None) -> list[ast.stmt]:
    """Statements of a body, rewritten to be run by themselves.

    Args:
        inlines: their function, where choices of known families are to be made in one call.
    """
    rewriter = Rewriter(inlines)
    return [located(rewriter.visit(clone(s))) for s in statements]
