"""Rewrite every call `f(x)` to `__gendsl__.lift(f)(x)`, so that a runtime can substitute `f`.

Derivatives need this: `math.sqrt(x)` and `numpy.exp(x)` know nothing of traced values, and neither do
the plain functions of the user that call them. A `Lifter` knows what to call in their place: a
differentiable version from its table, or the user's own function, lifted in its turn.
"""

from __future__ import annotations

import ast
import copy
import sysconfig
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from gendsl.compiler.definition import FunctionNode, as_function, compile_definition
from gendsl.compiler.fence import RESERVED
from gendsl.compiler.source import Source, find_source
from gendsl.errors import SourceUnavailableError, UnsupportedSyntaxError, is_users_file

_STDLIB = sysconfig.get_paths()["stdlib"]
_LIBRARIES = ("site-packages", "dist-packages")


class _LiftCalls(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            if function.value.id == RESERVED:
                return node
        execution = ast.Name(RESERVED, ast.Load())
        lifted = ast.Call(ast.Attribute(execution, "lift", ast.Load()), [function], [])
        for new in (execution, lifted.func, lifted):
            ast.copy_location(new, function)
        node.func = lifted
        return node


def lift_calls(node: FunctionNode) -> FunctionNode:
    """A copy of a definition in which every call goes through `__gendsl__.lift`."""
    lifted = copy.deepcopy(node)
    lifted.decorator_list = []
    lifter = _LiftCalls()
    lifted.body = [lifter.visit(statement) for statement in lifted.body]
    return ast.fix_missing_locations(lifted)


def with_hidden_parameter(node: FunctionNode) -> FunctionNode:
    """Add the keyword `__gendsl__` to a definition, in place."""
    node.args.kwonlyargs.append(ast.arg(RESERVED))
    node.args.kw_defaults.append(ast.Constant(None))
    return ast.fix_missing_locations(node)


def compile_lifted(source: Source, lifter: Lifter) -> FunctionType:
    """The function of `source` with its calls lifted by `lifter`."""
    node = with_hidden_parameter(lift_calls(source.node))
    code = compile_definition(node, source.function, source.class_name)
    lifted = as_function(code, source.function)
    lifted.__kwdefaults__ = {**(source.function.__kwdefaults__ or {}), RESERVED: lifter}
    return lifted


class Lifter:
    """Substitutes functions: by a table, or by compiling the user's own functions with lifted calls.

    Args:
        table: the replacement for a function, or None where it needs none.
    """

    def __init__(self, table: Callable[[Any], Callable[..., Any] | None]) -> None:
        self.table = table
        self._compiled: dict[FunctionType, FunctionType] = {}

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
        lifted = self._compiled.get(function)
        if lifted is None:
            lifted = self._compile(function) if _is_users(function) else function
            self._compiled[function] = lifted
        return lifted

    def _compile(self, function: FunctionType) -> FunctionType:
        try:
            return compile_lifted(find_source(function, "transform"), self)
        except (SourceUnavailableError, UnsupportedSyntaxError):
            # a lambda, or source that is gone: its calls stay as they are, and those that
            # would lose a derivative raise LostDerivativeError themselves
            return function


def _is_users(function: FunctionType) -> bool:
    filename = function.__code__.co_filename
    return (
        is_users_file(filename)
        and not filename.startswith(_STDLIB)
        and not any(part in filename for part in _LIBRARIES)
        and RESERVED not in function.__code__.co_varnames
    )
