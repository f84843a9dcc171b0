"""The methods of gendsl's own families as statements, to stand where a choice is made.

    def at(self, x):                                   z = (x - mean) / sd
        z = (x - self.mean) / self.sd           ->     score = -0.5 * z * z - log(sd) - 0.9189385332046727
        return -0.5 * z * z - _log(self.sd) - HALF_LOG_2PI

What a method finds in its module becomes a constant. A method that can't be put so (one with a loop in it, or
one whose text isn't to be had) is called.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

from gendsl.lang.trees import Transformer, clone, located, walk

_NUMBERS = frozenset((float, int, bool))


def own(name: str) -> str:
    """A name in generated code that no user's name is equal to."""
    return f"__gendsl_{name}__"


def load(name: str) -> ast.Name:
    """The value of such a name."""
    return ast.Name(own(name), ast.Load())


def assign(name: str, value: ast.expr) -> ast.Assign:
    """Give such a name a value."""
    return ast.Assign([ast.Name(own(name), ast.Store())], value)


class Constants:
    """Objects that generated code refers to, by names of their own: they aren't looked up where it runs."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def load(self, value: Any) -> ast.Name:
        """The name of an object."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"constant_{len(self.objects)}"
            self.objects[own(name)] = value  # and so its id stays its own
        return load(name)


class _InvolvedError(Exception):
    """A method that can't be put as statements."""


class _Put(Transformer):
    """A method's expressions with the names that they have among the statements."""

    def __init__(
        self, family: Any, method: FunctionType, names: dict[str, ast.expr], constants: Constants
    ) -> None:
        self.parameters = family.parameters
        self.module = method.__globals__
        self.local = set(method.__code__.co_varnames)
        self.names = names
        self.constants = constants

    def known(self, node: ast.expr) -> Any:
        """What a global name, or an attribute of a module, refers to."""
        if isinstance(node, ast.Name) and node.id not in self.local:
            if node.id in self.module:
                return self.module[node.id]
            return getattr(builtins, node.id)
        if isinstance(node, ast.Attribute) and isinstance(self.known(node.value), ModuleType):
            return getattr(self.known(node.value), node.attr)
        return None

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.names:
            return clone(self.names[node.id])
        if node.id in self.local:
            return ast.Name(own(node.id), node.ctx)
        return self._constant(self.known(node))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self.parameters:
            return load(node.attr)
        known = self.known(node)
        return self.generic_visit(node) if known is None else self._constant(known)

    def _constant(self, value: Any) -> ast.expr:
        return ast.Constant(value) if type(value) in _NUMBERS else self.constants.load(value)


def _parsed(method: FunctionType) -> list[ast.stmt]:
    """The statements of a method."""
    code = method.__code__
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        (node,) = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body
    except (ValueError, SyntaxError):  # there is no text, or none of a definition
        raise _InvolvedError from None
    if not isinstance(node, ast.FunctionDef) or node.name != method.__name__:
        raise _InvolvedError
    return node.body


def _assigned(statement: ast.stmt) -> ast.Assign:
    """A statement that gives values to names, and does nothing else."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        statement = ast.Assign([statement.target], statement.value)
    if not isinstance(statement, ast.Assign):
        raise _InvolvedError
    return statement


def _put(statements: list[ast.stmt], result: str, put: Callable[[Any], Any]) -> list[ast.stmt]:
    """Statements that give a name the value that others return."""
    made: list[ast.stmt] = []
    for i, statement in enumerate(statements):
        if isinstance(statement, ast.Return) and statement.value is not None:
            return [*made, assign(result, put(statement.value))]
        if isinstance(statement, ast.If) and not statement.orelse:
            then, otherwise = statement.body, statements[i + 1 :]
            return [*made, ast.If(put(statement.test), _put(then, result, put), _put(otherwise, result, put))]
        made.append(put(_assigned(statement)))
    raise _InvolvedError  # a value isn't returned in all cases


def value_of(
    family: Any, name: str, given: dict[str, ast.expr], result: str, constants: Constants
) -> list[ast.stmt]:
    """Statements that give `result` what a method of a distribution returns.

    The distribution is in `distribution`, and its parameters are in variables of their names.

    Args:
        given: the arguments of the method, by name.
    """
    method = getattr(family, name)
    try:
        statements = _parsed(method)
        if any(isinstance(part, (ast.Lambda, ast.comprehension)) for s in statements for part in walk(s)):
            raise _InvolvedError
        put = _Put(family, method, {**given, "self": load("distribution")}, constants)
        return _put(statements, result, put.visit)
    except _InvolvedError:
        bound = ast.Attribute(load("distribution"), name, ast.Load())
        return [assign(result, ast.Call(bound, list(given.values()), []))]


def _left_to_ask(test: ast.expr, known: dict[str, float], constants: Constants) -> ast.expr:
    """What is left of a test where some of its variables are known: the parts that need others."""
    scope = {**constants.objects, **{own(name): value for name, value in known.items()}}
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    left = []
    for part in parts:
        names = {node.id for node in walk(part) if isinstance(node, ast.Name)}
        expression = located(ast.Expression(clone(part)))
        if not (names <= scope.keys() and eval(compile(expression, "<known>", "eval"), scope)):
            left.append(part)
    return left[0] if len(left) == 1 else ast.BoolOp(ast.And(), left or parts)


def made(family: Any, constants: Constants, known: dict[str, float]) -> list[ast.stmt]:
    """Statements that make a distribution of parameters in variables of their names.

    Parameters that are as they should be are only compared, but for those that are known. Of any others the
    family makes what it keeps, or says what is wrong with them.
    """
    names: Iterable[str] = family.parameters
    call = ast.Call(constants.load(family), [load(name) for name in names], [])
    kept = [assign(name, ast.Attribute(load("distribution"), name, ast.Load())) for name in names]
    general: list[ast.stmt] = [assign("distribution", call), *kept]
    try:
        *first, last = _parsed(family.__init__)
    except _InvolvedError:
        return general
    stored = [f"self.{name} = {name}" for name in names]
    if not isinstance(last, ast.If) or list(map(ast.unparse, last.body)) != stored:
        return general
    put = _Put(family, family.__init__, {name: load(name) for name in names}, constants)
    test = _left_to_ask(put.visit(last.test), known, constants)
    new = ast.Call(constants.load(object.__new__), [constants.load(family)], [])
    usual: list[ast.stmt] = [assign("distribution", new)]
    for name in names:
        target = ast.Attribute(load("distribution"), name, ast.Store())
        usual.append(ast.Assign([target], load(name)))
    return [*(put.visit(_assigned(s)) for s in first), ast.If(test, usual, general)]

