"""Compile the code of a lowered body: each piece becomes a Python function of the frames in scope.

    mu = f0[5]; i = f1[4]          what it loads, under the user's own names
    return normal(mu, 1.0)         the user's expression, at the user's line and column

All of them stand in one definition that takes the place of the user's, so that globals, closures and
private names mean what they mean there, and tracebacks, debuggers and coverage show the user's lines.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from types import FunctionType, MappingProxyType
from typing import Any

from gendsl.errors import EXECUTION
from gendsl.lang.definition import as_function, compile_definition
from gendsl.lang.render import render
from gendsl.lang.source import Source
from gendsl.lang.trees import clone, located, walk
from gendsl.runtime.lowering.ir import FIRST, LENGTH, WHOLE, Code, Load, Program
from gendsl.runtime.lowering.liveness import levels

TOOLS = "__gendsl_tools__"
"""The name under which generated code finds the helpers it calls."""


def _frame(depth: int) -> str:
    return f"__gendsl_frame_{depth}__"


def _load(load: Load, code: Code, line: int) -> ast.expr:
    """The expression for one variable's value, UNSET if it may have none."""
    if load.depth < 0:
        return _tool("UNSET")
    value: ast.expr = _slot(load.depth, load.slot)
    if load.own is not None:
        frame = ast.Name(_frame(load.depth + 1), ast.Load())
        value = ast.Call(ast.Attribute(value, "upto", ast.Load()), [frame, ast.Constant(load.own)], [])
    for inner in levels(load)[1:]:
        frame = ast.Name(_frame(inner.depth + 1), ast.Load())
        arguments = [_slot(inner.depth, inner.slot), frame, ast.Constant(inner.own)]
        value = ast.Call(ast.Attribute(value, "within", ast.Load()), arguments, [])
    if load.cells:
        value = _call("cells", value)
    elif load.name in code.guarded:
        value = _call("alone", value, ast.Constant(load.name), ast.Constant(line))
    elif load.name in code.copied:
        value = _call("own_rows" if load.name in code.rows else "own", value)
    elif load.mode == WHOLE:
        value = _call("whole", value)
    return value


def _slot(depth: int, slot: int) -> ast.expr:
    return ast.Subscript(ast.Name(_frame(depth), ast.Load()), ast.Constant(slot), ast.Load())


def _tool(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(TOOLS, ast.Load()), name, ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(_tool(name), list(arguments), [])


def _definition(code: Code) -> ast.FunctionDef:
    """The function of one piece of code."""
    at = code.statements[0] if code.statements else code.result
    body: list[ast.stmt] = []
    for load in code.loads:
        body.append(ast.Assign([ast.Name(load.name, ast.Store())], _load(load, code, at.lineno)))
        if load.unset or load.depth < 0:  # so that a use of it, if there is one, raises what it should
            unset = ast.Compare(ast.Name(load.name, ast.Load()), [ast.Is()], [_tool("UNSET")])
            body.append(ast.If(unset, [ast.Delete([ast.Name(load.name, ast.Del())])], []))
    for made in body:
        _place(made, at)
    body += map(clone, code.statements)
    result = code.result
    if code.blank:  # some of the names may have no value
        assert isinstance(result, ast.Tuple)
        names = [ast.Constant(name.id) for name in result.elts if isinstance(name, ast.Name)]
        result = _call("values", _call("locals"), *names)
    end = ast.Return(result)
    if not hasattr(code.result, "lineno"):
        _place(end, at)
    else:
        ast.copy_location(end, code.result)
    body.append(end)
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(_frame(depth)) for depth in range(code.depth + 1)],
        vararg=None,
        kwonlyargs=[ast.arg(EXECUTION)],
        kw_defaults=[None],
        kwarg=None,
        defaults=[],
    )
    made = ast.FunctionDef(f"_{code.index}", arguments, body, [], None)
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined]
    return ast.copy_location(made, at)


def render_pieces(program: Program) -> str:
    """The pieces of a program as text, each under the line that it comes from."""
    shown = []
    for index, code in enumerate(program.codes):
        code.index = index
        made = _definition(code)
        shown.append(f"# line {made.lineno}\n{render(located(made))}")
    return "\n".join(shown)


def _place(node: ast.AST, at: ast.AST) -> None:
    """Let everything in a generated node stand at the start of the user's `at`."""
    for part in walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            part.lineno = part.end_lineno = at.lineno  # type: ignore[attr-defined]
            part.col_offset = part.end_col_offset = at.col_offset  # type: ignore[attr-defined]


def emit(
    source: Source,
    program: Program,
    tools: Any,
    requests: Any,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[list[Callable[..., Any]], Callable[..., list[Any]]]:
    """The functions of a program's codes, in order, and the function that makes a frame from arguments.

    Args:
        tools: the helpers that generated code calls.
        requests: what code without choices finds under `__gendsl__`, to request traced calls.
        known: objects that it refers to by names of gendsl's own.
    """
    for index, code in enumerate(program.codes):
        code.index = index
    node = copy.copy(source.node)
    names: list[ast.expr] = [ast.Name(f"_{code.index}", ast.Load()) for code in program.codes]
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(TOOLS)], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None,
        defaults=[],
    )  # fmt: skip
    node.args = arguments
    node.body = [*map(_definition, program.codes), ast.Return(ast.Tuple(names, ast.Load()))]
    compiled = compile_definition(node, source.scopes, source.function.__code__, known=tuple(known))
    made = as_function(compiled, source.function, known)
    made.__defaults__, made.__kwdefaults__ = None, None
    name, qualname = source.function.__name__, source.function.__qualname__
    functions = []
    for function, code in zip(made(tools), program.codes, strict=True):
        function.__code__ = function.__code__.replace(co_name=name, co_qualname=qualname)
        if not code.traced:
            function.__kwdefaults__ = {EXECUTION: requests}
        functions.append(function)
    return functions, _binder(source, program)


def _binder(source: Source, program: Program) -> Callable[..., list[Any]]:
    """The function that takes the arguments of the user's and returns the first slots and its parameters'."""
    node = copy.copy(source.node)
    head: list[ast.expr] = [ast.Constant(0.0), ast.Constant(None), ast.Constant(0), ast.Constant(None)]
    assert len(head) == FIRST
    head += [ast.Name(name, ast.Load()) for name in program.parameters]
    node.body = [ast.Return(ast.List(head, ast.Load()))]
    code = compile_definition(node, source.scopes, source.function.__code__)
    function: FunctionType = as_function(code, source.function)
    return function


__all__ = ["LENGTH", "TOOLS", "emit", "render_pieces"]
