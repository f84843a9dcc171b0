"""Take the choices out of an expression, in the order in which they are made."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from gendsl.lang.names import COMPREHENSIONS, has_choice, loaded
from gendsl.lang.sites import assigned_address, is_addressed, is_choice, is_splice
from gendsl.lang.trees import Transformer, walk
from gendsl.runtime.lowering.iterables import sources_of
from gendsl.runtime.lowering.scope import OpaqueError
from gendsl.runtime.lowering.syntax import replaced

if TYPE_CHECKING:
    from gendsl.runtime.lowering.lower import Lowerer


_GO_THROUGH = "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"
"""Functions that go through all of their first argument before they do anything else that could be seen."""


class Hoist(Transformer):
    """Takes the choices out of an expression whose parts are all evaluated, in order."""

    def __init__(self, lowerer: Lowerer) -> None:
        self.lowerer = lowerer

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not is_addressed(node):
            return self.generic_visit(node)
        assert isinstance(node.right, ast.UnaryOp)
        address = node.left if is_splice(node.left) else self.visit(node.left)
        return self.lowerer.site(node, address, self.visit(node.right.operand))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not is_choice(node):
            return self.generic_visit(node)
        return self.lowerer.site(node, None, self.visit(node.operand))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        if not (isinstance(node.value, ast.UnaryOp) and is_choice(node.value)):
            if has_choice(node.value):
                raise unhoistable(node, "`:=` of an expression with choices in it")
            return node
        address = assigned_address(node.target)
        name = self.lowerer.site(node.value, address, self.visit(node.value.operand), sugar=True)
        self.lowerer.bind(node.target.id, self.lowerer.env[name.id])
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        for i, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            node.keys[i] = None if key is None else self.visit(key)
            node.values[i] = self.visit(value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`sorted(... for j in xs)`, where all is evaluated before the call, as of a list."""
        effects = self.lowerer.effects
        match node:
            case ast.Call(args=[ast.GeneratorExp() as each, *rest]) if has_choice(each):
                listed = ast.copy_location(ast.ListComp(each.elt, each.generators), each)
                if effects.is_builtin(node.func, "list") and not (rest or node.keywords):
                    return self.visit_ListComp(listed)
                if any(effects.is_builtin(node.func, name) for name in _GO_THROUGH) and not any(
                    map(has_choice, (*rest, *node.keywords))
                ):
                    node.args[0] = listed
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node, "list", node.elt, None) if has_choice(node) else node

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node, "dict", node.value, node.key) if has_choice(node) else node

    def _comprehension(
        self, node: ast.ListComp | ast.DictComp, kind: str, value: ast.expr, key: ast.expr | None
    ) -> ast.AST:
        generator = node.generators[0]
        if len(node.generators) > 1 or generator.ifs or generator.is_async:
            raise unhoistable(node, "a comprehension with `if` or with two `for`")
        for part in walk(node):
            if isinstance(part, ast.NamedExpr):  # what it assigns is there after the comprehension
                raise unhoistable(part, "`:=` in a comprehension")
        lowerer = self.lowerer
        iterable = self.visit(generator.iter)
        over = sources_of(iterable, generator.target, lowerer.effects)
        version = lowerer.loop(node, over, [], generator.target, (kind, value, key))
        assert version is not None
        name = lowerer.temporary()
        lowerer.bind(name, version)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _conditional(self, node: ast.expr) -> ast.AST:
        if has_choice(node):
            raise unhoistable(node, "a choice in an expression that is not always evaluated")
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """`a and b`, where b is looked at if a is true: a value that a branch may replace."""
        if not any(map(has_choice, node.values[1:])):
            node.values[0] = self.visit(node.values[0])
            return node
        lowerer = self.lowerer
        name = lowerer.temporary()
        lowerer.name_value(name, node.values[0])
        for value in node.values[1:]:
            test: ast.expr = ast.copy_location(ast.Name(name, ast.Load()), value)
            if isinstance(node.op, ast.Or):
                test = ast.copy_location(ast.UnaryOp(ast.Not(), test), value)
            lowerer.fork(node, test, partial(lowerer.name_value, name, value), lambda: True)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """`a if c else b`: a branch that gives a name to one or the other."""
        if not (has_choice(node.body) or has_choice(node.orelse)):
            node.test = self.visit(node.test)
            return node
        lowerer = self.lowerer
        name = lowerer.temporary()
        lowerer.fork(
            node,
            node.test,
            partial(lowerer.name_value, name, node.body),
            partial(lowerer.name_value, name, node.orelse),
        )
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        node.left = self.visit(node.left)
        node.comparators[0] = self.visit(node.comparators[0])
        for value in node.comparators[1:]:
            self._conditional(value)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return self._conditional(node)

    visit_GeneratorExp = visit_SetComp = visit_Lambda


def unhoistable(node: ast.AST, what: str) -> OpaqueError:
    return OpaqueError(what, "make it a statement of its own: `if`, or a `for` with .append", node)


def without_walrus(lowerer: Lowerer, test: ast.expr, node: ast.AST) -> ast.expr:
    """A test with what it assigns by `:=` assigned before; all of it is where it may matter when."""
    inside = [part for part in walk(test) if isinstance(part, ast.NamedExpr)]
    if any(part.target.id in loaded(test) for part in inside) or any(map(_is_conditional, walk(test))):
        return lowerer.kept(test) if inside else test
    for part in inside:
        name = part.target.id
        lowerer.fragment(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], part.value), node))
        test = replaced(test, part, ast.copy_location(ast.Name(name, ast.Load()), part))
    return test


def _is_conditional(part: ast.AST) -> bool:
    """Whether parts of an expression may not be evaluated."""
    if isinstance(part, ast.Compare):
        return len(part.ops) > 1
    return isinstance(part, (ast.BoolOp, ast.IfExp, ast.Lambda, *COMPREHENSIONS))
