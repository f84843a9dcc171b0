"""Rewrite every call `f(x)` to `__gendsl__.lift(f)(x)`, so that a runtime can substitute `f`.

Derivatives need this: `math.sqrt(x)` and `numpy.exp(x)` know nothing of traced values, and neither do
the plain functions of the user that call them. A `Lifter` knows what to call in their place: a
differentiable version from its table, or the user's own function, lifted in its turn.

Where traced values can't be stored in arrays, assignments are lifted too:

    a[i, j] = v   ->  a = __gendsl__.put(v, a, (i, j))
    a += v        ->  a = __gendsl__.inplace("add", a, v)
"""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

from gendsl.distributions.base import CHECK
from gendsl.errors import EXECUTION, SourceUnavailableError, UnsupportedSyntaxError, is_users_file
from gendsl.lang.definition import FunctionNode, as_function, compile_definition
from gendsl.lang.sites import is_program
from gendsl.lang.source import Source, find_source
from gendsl.lang.trees import Transformer, clone, located, walk

_STDLIB = sysconfig.get_paths()["stdlib"]
_LIBRARIES = ("site-packages", "dist-packages")

# the functions of `operator` that the in-place operators stand for
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift", ast.RShift: "rshift",
    ast.BitOr: "or_", ast.BitXor: "xor", ast.BitAnd: "and_",
}  # fmt: skip


def _method(name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
    execution = ast.Name(EXECUTION, ast.Load())
    call = ast.Call(ast.Attribute(execution, name, ast.Load()), arguments, [])
    for node in (execution, call.func, call):
        ast.copy_location(node, at)
    return call


# --- calls -----------------------------------------------------------------------------------------


class _LiftCalls(Transformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if is_program(node) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.func = _method("lift", [node.func], node.func)
        return node


def lift_calls(node: FunctionNode) -> FunctionNode:
    """A copy of a definition in which every call goes through `__gendsl__.lift`."""
    lifted = clone(node)
    lifter = _LiftCalls()
    lifted.body = [lifter.visit(statement) for statement in lifted.body]
    return located(lifted)


# --- assignments -----------------------------------------------------------------------------------


class _LiftAssignments(Transformer):
    """Only names of the function's own scope are assigned to: elsewhere that would make them local."""

    def __init__(self, local: set[str]) -> None:
        self.local = local

    def _scope(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _scope

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return node
        return self._put(target, node.value, node) or node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        target = node.target
        current = clone(target)
        current.ctx = ast.Load()
        name = ast.copy_location(ast.Constant(_OPERATORS[type(node.op)]), node)
        value = _method("inplace", [name, current, node.value], node)
        if isinstance(target, ast.Name):
            return ast.copy_location(ast.Assign([target], value), node)
        if isinstance(target, ast.Subscript) and not any(isinstance(n, ast.Call) for n in walk(target)):
            return self._put(target, value, node) or node
        return node

    def _put(self, target: ast.Subscript, value: ast.expr, at: ast.stmt) -> ast.stmt | None:
        """The statement for `target = value`, or None if the target has no name of this scope at its root."""
        indices: list[ast.expr] = []
        node: ast.expr = target
        while isinstance(node, ast.Subscript):
            indices.insert(0, _index(node.slice))
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.local:
            return None
        load = ast.copy_location(ast.Name(node.id, ast.Load()), node)
        store = ast.copy_location(ast.Name(node.id, ast.Store()), node)
        put = _method("put", [value, load, *indices], at)
        return ast.copy_location(ast.Assign([store], put), at)


def _index(index: ast.expr) -> ast.expr:
    """An index as an expression: `1:n` is `slice(1, n)`."""
    if isinstance(index, ast.Tuple):
        return ast.copy_location(ast.Tuple([_index(part) for part in index.elts], ast.Load()), index)
    if not isinstance(index, ast.Slice):
        return index
    nothing = ast.Constant(None)
    parts = [part or nothing for part in (index.lower, index.upper, index.step)]
    return ast.copy_location(_method("slice", parts, index), index)


def lift_assignments(node: FunctionNode, function: FunctionType) -> FunctionNode:
    """Make assignments to parts of local variables, and in-place operators, into calls; in place."""
    code = function.__code__
    lifter = _LiftAssignments({*code.co_varnames, *code.co_cellvars})
    node.body = [lifter.visit(statement) for statement in node.body]
    return located(node)


# --- functions -------------------------------------------------------------------------------------


class Lifter:
    """Substitutes functions: by a table, or by compiling the user's own functions with lifted calls.

    Args:
        table: the replacement for a function, or None where it needs none.
        assignments: lift assignments too; a subclass defines what `put` and `inplace` do.
    """

    slice = slice

    def __init__(
        self, table: Callable[[Any], Callable[..., Any] | None], *, assignments: bool = False
    ) -> None:
        self.table = table
        self.assignments = assignments
        self._functions: WeakKeyDictionary[FunctionType, FunctionType] = WeakKeyDictionary()
        self._codes: dict[tuple[str, CodeType], CodeType | None] = {}

    def lift(self, function: Any) -> Any:
        """What to call in place of `function`."""
        replacement = self.table(function)
        if replacement is not None:
            return replacement
        kind = type(function)
        if kind is FunctionType:
            return self._lift_function(function)
        if kind is MethodType and type(function.__func__) is FunctionType:
            return MethodType(self._lift_function(function.__func__), function.__self__)
        return function

    def _lift_function(self, function: FunctionType) -> FunctionType:
        lifted = self._functions.get(function)
        if lifted is not None:
            return lifted
        check = getattr(function, CHECK, None)
        if check is not None:
            inner: FunctionType = check(self._lift_function(function.__wrapped__))  # type: ignore[attr-defined]
            self._functions[function] = inner
            return inner
        # closures are made anew all the time, but their code isn't
        key = function.__code__.co_filename, function.__code__
        if key not in self._codes:
            self._codes[key] = self._lift_code(function)
        code = self._codes[key]
        if code is None:
            return function
        lifted = self._functions[function] = self._function(code, function)
        return lifted

    def _lift_code(self, function: FunctionType) -> CodeType | None:
        """The code of a function with its calls lifted, or None if it must stay as it is."""
        if not _is_users(function):
            return None
        try:
            return self._compile(find_source(function, "transform"))
        except (SourceUnavailableError, UnsupportedSyntaxError):
            # a lambda, or source that is gone: its calls stay as they are, and those that
            # would lose a derivative raise LostDerivativeError themselves
            return None

    def rewrite(self, source: Source) -> FunctionNode:
        """A copy of a definition in which calls are made through the lifter."""
        return lift_calls(source.node)

    def _compile(self, source: Source) -> CodeType:
        node = self.rewrite(source)
        if self.assignments:
            node = lift_assignments(node, source.function)
        node.args.kwonlyargs.append(ast.arg(EXECUTION))
        node.args.kw_defaults.append(ast.Constant(None))
        return compile_definition(located(node), source.scopes, source.function.__code__)

    def _function(self, code: CodeType, original: FunctionType) -> FunctionType:
        function = as_function(code, original)
        function.__kwdefaults__ = {**(original.__kwdefaults__ or {}), EXECUTION: self}
        return function

    def compile(self, source: Source) -> FunctionType:
        """The function of `source` with its calls lifted."""
        return self._function(self._compile(source), source.function)


def compile_lifted(source: Source, lifter: Lifter) -> FunctionType:
    """The function of `source` with its calls lifted by `lifter`."""
    return lifter.compile(source)


def _is_users(function: FunctionType) -> bool:
    code = function.__code__
    return (
        is_users_file(code.co_filename)
        and not code.co_filename.startswith(_STDLIB)
        and not any(part in code.co_filename for part in _LIBRARIES)
    )
