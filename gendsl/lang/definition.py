"""Compile one function definition as if it still stood where the user wrote it.

The definition is put into the functions and classes that enclosed it, all empty but for it, so that its
free variables compile to cells, its private names are mangled and its inner functions get the right
qualified names. The code object is then taken out; nothing of what encloses it ever runs.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Iterable, Mapping
from types import CellType, CodeType, FunctionType, MappingProxyType
from typing import Any, NoReturn

from gendsl.errors import Location
from gendsl.lang.trees import located, walk

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
ScopeNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

FUTURE_FLAGS = 0
for _feature in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _feature).compiler_flag


_NO_ARGUMENTS = ast.arguments(
    posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
)


def _nothing(at: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), at)


def _bare(node: FunctionNode) -> FunctionNode:
    """The definition without what is evaluated outside its body: decorators, defaults, annotations.

    The decorators' places stay, since a function's first line is that of its first decorator.
    """

    def unannotated(argument: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(argument.arg, None), argument)

    old = node.args
    arguments = ast.arguments(
        posonlyargs=[unannotated(a) for a in old.posonlyargs],
        args=[unannotated(a) for a in old.args],
        vararg=None if old.vararg is None else unannotated(old.vararg),
        kwonlyargs=[unannotated(a) for a in old.kwonlyargs],
        kw_defaults=[None if d is None else _nothing(d) for d in old.kw_defaults],
        kwarg=None if old.kwarg is None else unannotated(old.kwarg),
        defaults=[_nothing(d) for d in old.defaults],
    )
    return _scope(node, arguments, node.body, [_nothing(d) for d in node.decorator_list])


def _keep_type_parameters(old: ScopeNode, new: ScopeNode) -> None:
    if "type_params" in old._fields:  # from Python 3.12 on
        new.type_params = old.type_params  # type: ignore[union-attr]


def _scope(
    like: FunctionNode, arguments: ast.arguments, body: list[ast.stmt], decorators: list[ast.expr]
) -> FunctionNode:
    result = type(like)(name=like.name, args=arguments, body=body, decorator_list=decorators, returns=None)
    _keep_type_parameters(like, result)
    return ast.copy_location(result, like)


def _enclose(inner: ScopeNode, scope: ScopeNode, free: tuple[str, ...]) -> ScopeNode:
    """The scope with nothing in it but `inner`, and cells for the free variables of the function."""
    if isinstance(scope, ast.ClassDef):
        body: list[ast.stmt] = [inner]
        outer = ast.ClassDef(name=scope.name, bases=[], keywords=[], body=body, decorator_list=[])
        _keep_type_parameters(scope, outer)
        return ast.copy_location(outer, scope)
    body = [ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None)) for name in free]
    used = {node.id for node in walk(inner) if isinstance(node, ast.Name)}
    if inner.name in used and inner.name not in free:  # it means a global, not this definition
        body.append(ast.Global([inner.name]))
    return _scope(scope, _NO_ARGUMENTS, [*body, inner], [])


def _inside(code: CodeType, name: str) -> CodeType:
    """The code of the one definition in `code`; that of a generic one lies a level deeper."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name == f"<generic parameters of {name}>":
                return _inside(constant, name)
            if constant.co_name == name:
                return constant
    raise LookupError(name)  # pragma: no cover - each scope holds its definition


def compile_definition(
    node: FunctionNode,
    scopes: Iterable[ScopeNode],
    original: CodeType,
    imports: Iterable[str] = (),
    known: tuple[str, ...] = (),
) -> CodeType:
    """The code object of a (possibly rewritten) definition of `original`.

    Args:
        node: the definition.
        scopes: the definitions that enclose it, outermost first.
        original: the code of the function, whose free variables and future imports hold.
        imports: names that its module imports.
        known: other names that are to be free in it, for which `as_function` is given objects.
    """
    scopes = list(scopes)
    definition: ScopeNode = _bare(node)
    for scope in reversed(scopes):
        definition = _enclose(definition, scope, original.co_freevars)
    if known:
        outermost = ast.FunctionDef("__gendsl_outermost__", _NO_ARGUMENTS, [], [])
        if "type_params" in ast.FunctionDef._fields:  # from Python 3.12 on
            outermost.type_params = []  # type: ignore[attr-defined]
        definition = _enclose(definition, outermost, known)
        scopes.insert(0, outermost)
    importing: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in imports]
    code: CodeType = compile(
        located(ast.Module([*importing, definition], [])),
        original.co_filename,
        "exec",
        flags=original.co_flags & FUTURE_FLAGS,
        dont_inherit=True,
    )
    for scope in (*scopes, node):
        code = _inside(code, scope.name)
    return code


def as_function(
    code: CodeType, original: FunctionType, known: Mapping[str, Any] = MappingProxyType({})
) -> FunctionType:
    """A function that runs `code` with the globals, defaults and cells of `original`.

    `known` are the objects that stand for other free names.
    """
    cells = dict(zip(original.__code__.co_freevars, original.__closure__ or (), strict=True))
    cells.update((name, CellType(value)) for name, value in known.items())
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


def raise_at(error: Exception, node: ast.AST, location: Location) -> NoReturn:
    """Raise an error again from a line of the user's, whose own frame is not on the stack.

    The traceback then shows that line between the frames of those who called it and of what it called.
    """
    statement = ast.copy_location(ast.Raise(ast.copy_location(ast.Name("error", ast.Load()), node)), node)
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg("error")], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None,
        defaults=[],
    )  # fmt: skip
    name = location.function if location.function.isidentifier() else "model"
    made = ast.FunctionDef(name, arguments, [statement], [], None)
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined]
    module = ast.Module([ast.copy_location(made, node)], [])
    namespace: dict[str, Any] = {}
    exec(compile(located(module), location.filename, "exec"), namespace)
    raise namespace[name](error)
