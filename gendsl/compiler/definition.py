"""Compile one function definition as if it still stood where the user wrote it.

The definition is wrapped in a function that binds its free variables (so that they compile to cells)
and in a class of the right name (so that private names are mangled); the code object is then taken out.
Nothing of the wrapper ever runs.
"""

from __future__ import annotations

import __future__

import ast
from types import CodeType, FunctionType

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag


def bare(node: FunctionNode) -> FunctionNode:
    """The definition without what is evaluated outside its body: decorators, defaults, annotations."""

    def unannotated(argument: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(argument.arg, None), argument)

    def placeholder(default: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Constant(None), default)

    old = node.args
    arguments = ast.arguments(
        posonlyargs=[unannotated(a) for a in old.posonlyargs],
        args=[unannotated(a) for a in old.args],
        vararg=None if old.vararg is None else unannotated(old.vararg),
        kwonlyargs=[unannotated(a) for a in old.kwonlyargs],
        kw_defaults=[None if d is None else placeholder(d) for d in old.kw_defaults],
        kwarg=None if old.kwarg is None else unannotated(old.kwarg),
        defaults=[placeholder(d) for d in old.defaults],
    )
    result = type(node)(name=node.name, args=arguments, body=node.body, decorator_list=[], returns=None)
    if "type_params" in type(node)._fields:
        result.type_params = []
    return ast.copy_location(result, node)


def _find(code: CodeType, name: str) -> CodeType:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            return constant if constant.co_name == name else _find(constant, name)
    raise LookupError(name)  # pragma: no cover - the wrapper always holds its definition


def compile_definition(node: FunctionNode, original: FunctionType, class_name: str | None) -> CodeType:
    """The code object of a (possibly rewritten) definition of `original`."""
    definition: ast.stmt = bare(node)
    if class_name is not None:
        wrapper = ast.ClassDef(name=class_name, bases=[], keywords=[], body=[definition], decorator_list=[])
        if "type_params" in ast.ClassDef._fields:
            wrapper.type_params = []
        definition = ast.copy_location(wrapper, node)
    free = [name for name in original.__code__.co_freevars if name != "__class__" or class_name is None]
    binding = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in free]
    factory = ast.FunctionDef(
        name="<definition>",
        args=ast.arguments(
            posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
        ),
        body=[*binding, definition],
        decorator_list=[],
        returns=None,
    )
    if "type_params" in ast.FunctionDef._fields:
        factory.type_params = []
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(factory, node)], []))
    code = compile(
        module,
        original.__code__.co_filename,
        "exec",
        flags=original.__code__.co_flags & _FUTURE_FLAGS,
        dont_inherit=True,
    )
    return _find(_find(code, "<definition>"), node.name)


def as_function(code: CodeType, original: FunctionType) -> FunctionType:
    """A function that runs `code` with the globals, defaults and cells of `original`."""
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    function = FunctionType(
        code.replace(co_qualname=original.__qualname__),
        original.__globals__,
        original.__name__,
        original.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    function.__kwdefaults__ = original.__kwdefaults__
    function.__dict__.update(original.__dict__)
    function.__doc__ = original.__doc__
    function.__module__ = original.__module__
    function.__annotations__ = original.__annotations__
    return function
