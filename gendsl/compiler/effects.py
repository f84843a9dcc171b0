"""What a piece of syntax reads, binds, changes and may call: the facts that lowering stands on."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from gendsl.compiler.sites import is_choice, is_program, known_value
from gendsl.compiler.source import Source, find_source
from gendsl.distributions import Distribution
from gendsl.errors import SourceUnavailableError, UnsupportedSyntaxError, is_users_file

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

PURE_METHODS = frozenset((
    "all", "any", "argmax", "argmin", "argsort", "astype", "bit_length", "capitalize", "clip", "conj",
    "copy", "count", "cumsum", "diagonal", "dot", "endswith", "find", "flatten", "format", "get", "imag",
    "index", "is_integer", "isdigit", "item", "items", "join", "keys", "logpdf", "lower", "max", "mean",
    "min", "ndim", "nonzero", "prod", "ravel", "real", "repeat", "replace", "request", "reshape", "round",
    "sample", "searchsorted", "shape", "size", "split", "squeeze", "startswith", "std", "strip", "sum",
    "support", "swapaxes", "take", "tolist", "trace", "transpose", "upper", "values", "var",
))  # fmt: skip
"""Methods that leave what they are called on as it was."""

_CHANGING_FUNCTIONS = frozenset((
    "shuffle", "fill_diagonal", "put", "copyto", "place", "putmask", "put_along_axis", "at", "next",
    "setattr", "delattr",
))  # fmt: skip
_IMPURE_BUILTINS = frozenset((
    "next", "setattr", "delattr", "eval", "exec", "locals", "globals", "vars", "super", "input", "open",
))  # fmt: skip
_CONSUMERS = (
    "all", "any", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple",
)  # fmt: skip
"""Builtins that go through a whole iterable before they return."""
_UNKNOWABLE = frozenset((
    "eval", "exec", "locals", "globals", "vars", "super", "__class__", "dir", "breakpoint",
))  # fmt: skip


def has_choice(node: ast.AST) -> bool:
    """Whether a `~` stands in a statement or expression, outside `@gen` functions defined in it."""
    if is_program(node):
        return False
    return is_choice(node) or any(map(has_choice, ast.iter_child_nodes(node)))


def exits(node: ast.stmt, inside_loop: bool = False) -> bool:
    """Whether a statement may leave the block that it stands in: return, or break/continue its loop."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return not inside_loop
    if isinstance(node, _SCOPES):
        return False
    inside = inside_loop or isinstance(node, (ast.For, ast.While))
    return any(exits(child, inside) for child in _children(node))


def _children(node: ast.AST) -> list[ast.stmt]:
    """The statements directly inside a compound statement."""
    found: list[ast.stmt] = []
    for _, value in ast.iter_fields(node):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.stmt):
                found.append(item)
            elif isinstance(item, (ast.ExceptHandler, ast.match_case)):
                found.extend(item.body)
    return found


def loaded(*nodes: ast.AST) -> set[str]:
    """Every name that is read, in nested scopes too; a comprehension's own variables left out."""
    names: set[str] = set()
    for node in nodes:
        _collect_loads(node, frozenset(), names)
    return names


def _collect_loads(node: ast.AST, bound: frozenset[str], names: set[str]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in bound:
            names.add(node.id)
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id not in bound:
        names.add(node.target.id)
    if isinstance(node, _COMPREHENSIONS):
        first = node.generators[0].iter
        _collect_loads(first, bound, names)
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        bound = bound | own
        for child in ast.iter_child_nodes(node):
            _collect_loads(child, bound, names)
        return
    if isinstance(node, ast.Lambda):
        arguments = node.args
        own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        own |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
        for default in (*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)):
            _collect_loads(default, bound, names)
        _collect_loads(node.body, bound | own, names)
        return
    for child in ast.iter_child_nodes(node):
        _collect_loads(child, bound, names)


def stored(*nodes: ast.AST) -> list[str]:
    """Every name that is bound in the scope itself, in order of appearance."""
    names: dict[str, None] = {}
    for node in nodes:
        for part in _own_scope(node):
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                names[part.id] = None
            elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
                names[part.name] = None
            elif isinstance(part, ast.MatchMapping) and part.rest:
                names[part.rest] = None
            elif isinstance(part, ast.alias):
                names[(part.asname or part.name).partition(".")[0]] = None
            elif isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                names[part.name] = None
    return list(names)


def _own_scope(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without nested scopes' insides; walrus targets in comprehensions count."""
    yield node
    if isinstance(node, _SCOPES):
        return
    if isinstance(node, _COMPREHENSIONS):
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                yield part.target
        return
    for child in ast.iter_child_nodes(node):
        yield from _own_scope(child)


def unbound_after(node: ast.AST) -> set[str]:
    """The names that a statement leaves unassigned: those of its exception handlers."""
    return {part.name for part in _own_scope(node) if isinstance(part, ast.ExceptHandler) and part.name}


def root_name(node: ast.expr) -> str | None:
    """The name at the root of `a[i].b[j]`, or None."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


class Effects:
    """What the statements of one function may do to the values they touch."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def unknowable(self, body: list[ast.stmt]) -> tuple[str, str, ast.AST] | None:
        """Why no statement of a body can be taken by itself, or None."""
        for statement in body:
            for part in ast.walk(statement):
                if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                    return f"it defines {part.name} inside", "define it outside", part
                if isinstance(part, ast.Global):
                    return "`global`", "pass values in and out as arguments and return values", part
                if isinstance(part, ast.Nonlocal):
                    return "`nonlocal`", "pass values in and out as arguments and return values", part
                if isinstance(part, ast.Delete):
                    return "`del`", "leave the name, or build the container without the entry", part
                if isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)):
                    return "it is a generator", "return a list", part
                if isinstance(part, ast.Name) and part.id in _UNKNOWABLE:
                    return f"`{part.id}` reaches every variable", f"do without `{part.id}`", part
                if isinstance(part, ast.Attribute) and part.attr == "set_trace":
                    return "a debugger reaches every variable", "do without `set_trace`", part
        return None

    def outlives(self, node: ast.AST) -> bool:
        """Whether choices in a statement's lambdas and generators may be made after it was executed."""
        used_up = {
            argument
            for call in ast.walk(node)
            if isinstance(call, ast.Call) and any(self.is_builtin(call.func, name) for name in _CONSUMERS)
            for argument in call.args
        }
        return any(
            isinstance(part, (ast.Lambda, ast.GeneratorExp)) and part not in used_up and has_choice(part)
            for part in ast.walk(node)
        )

    def changed(self, node: ast.AST) -> dict[str, ast.AST]:
        """The local names whose values a statement changes in place, with where it does."""
        names: dict[str, ast.AST] = {}

        def change(target: ast.expr, at: ast.AST) -> None:
            name = root_name(target)
            if name is not None and name in self.source.bound:
                names.setdefault(name, at)

        for part in ast.walk(node):
            if isinstance(part, (ast.Subscript, ast.Attribute)) and not isinstance(part.ctx, ast.Load):
                change(part, part)
            elif isinstance(part, ast.Call):
                if isinstance(part.func, ast.Attribute):
                    if root_name(part.func) in self.source.bound and part.func.attr not in PURE_METHODS:
                        change(part.func, part)
                    elif part.func.attr in _CHANGING_FUNCTIONS:
                        for argument in part.args:
                            change(argument, part)
                elif isinstance(part.func, ast.Name) and part.func.id in _CHANGING_FUNCTIONS:
                    for argument in part.args:
                        change(argument, part)
                for keyword in part.keywords:
                    if keyword.arg == "out":
                        change(keyword.value, part)
        return names

    def aliased(self, node: ast.AST) -> tuple[set[str], set[str]]:
        """The local names whose values a statement may make reachable by another way.

        The second set are those of which it may do so if they are arrays, which have views.
        """
        names: set[str] = set()
        arrays: set[str] = set()

        def value(expression: ast.expr | None) -> None:
            """What `expression` evaluates to is kept somewhere."""
            if isinstance(expression, ast.Name):
                names.add(expression.id)
            elif isinstance(expression, (ast.Tuple, ast.List, ast.Set)):
                for entry in expression.elts:
                    value(entry)
            elif isinstance(expression, ast.Dict):
                for entry in expression.values:
                    value(entry)
            elif isinstance(expression, ast.IfExp):
                value(expression.body)
                value(expression.orelse)
            elif isinstance(expression, ast.BoolOp):
                for entry in expression.values:
                    value(entry)
            elif isinstance(expression, (ast.Starred, ast.NamedExpr)):
                value(expression.value)
            elif isinstance(expression, (ast.Subscript, ast.Attribute)):
                arrays.add(root_name(expression) or "")
            elif isinstance(expression, ast.Call):
                if isinstance(expression.func, ast.Attribute):
                    arrays.add(root_name(expression.func) or "")
                for argument in expression.args:
                    if isinstance(argument, ast.Name):
                        arrays.add(argument.id)

        for part in ast.walk(node):
            if isinstance(part, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                value(part.value)
            elif isinstance(part, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
                if not isinstance(getattr(part, "ctx", None), ast.Store):
                    value(part)
            elif isinstance(part, _COMPREHENSIONS):
                value(part.value if isinstance(part, ast.DictComp) else part.elt)
            elif isinstance(part, ast.Lambda):
                names |= loaded(part)
            elif isinstance(part, ast.For):
                value(part.iter)
            elif isinstance(part, ast.Call) and not self.leaves_alone(part):
                for argument in (*part.args, *(k.value for k in part.keywords)):
                    value(argument)
        return names, arrays

    def exposed(self, node: ast.AST) -> dict[str, ast.AST]:
        """The local names that a statement hands to calls that may change their values."""
        return {
            argument.id: part
            for part in ast.walk(node)
            if isinstance(part, ast.Call) and not self.leaves_alone(part) and not self._method(part)
            for argument in (*part.args, *(k.value for k in part.keywords))
            if isinstance(argument, ast.Name)
        }

    def _method(self, call: ast.Call) -> bool:
        """Whether a call is of a container's method: that keeps what it is given, and doesn't change it."""
        method = isinstance(call.func, ast.Attribute) and root_name(call.func) in self.source.bound
        return method and call.func.attr in ("append", "extend", "insert", "add", "setdefault")  # type: ignore

    def leaves_alone(self, call: ast.Call) -> bool:
        """Whether a call surely neither changes nor keeps its arguments."""
        function = known_value(self.source, call.func)
        if function is None and isinstance(call.func, ast.Name) and call.func.id not in self.source.bound:
            function = getattr(builtins, call.func.id, None)
        if function is None:
            return False
        name = getattr(function, "__name__", "")
        if name in _CHANGING_FUNCTIONS or name in _IMPURE_BUILTINS:
            return False
        if isinstance(function, type):
            return issubclass(function, Distribution) or function.__module__ == "builtins"
        if isinstance(function, FunctionType) and is_users_file(function.__code__.co_filename):
            return is_pure(function)
        module = (getattr(function, "__module__", None) or "").partition(".")[0]
        if isinstance(function, np.ufunc):
            return True
        if module == "builtins" or isinstance(function, BuiltinFunctionType):
            return True
        return module in ("numpy", "scipy", "math", "operator", "gendsl", "statistics", "autograd")

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is the builtin of that name."""
        if not isinstance(node, ast.Name) or node.id != name or name in self.source.bound:
            return False
        value = known_value(self.source, node)
        return value is None or value is getattr(builtins, name)

    def is_fresh(self, node: ast.expr) -> bool:
        """Whether an expression makes a list, dict or array that nothing else holds."""
        if isinstance(node, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add)):
            return isinstance(node.left, ast.List) or isinstance(node.right, ast.List)
        if isinstance(node, ast.Call):
            if self.is_builtin(node.func, "list") or self.is_builtin(node.func, "dict"):
                return True
            function: Any = known_value(self.source, node.func)
            return any(
                function is made
                for made in (np.zeros, np.ones, np.empty, np.full, np.array, np.arange, np.linspace)
            )
        return False


_PURE: dict[Any, bool] = {}


def is_pure(function: FunctionType) -> bool:
    """Whether a plain function of the user's surely neither changes nor keeps its arguments."""
    key = function.__code__
    if key not in _PURE:
        _PURE[key] = True  # a recursive call is as pure as the rest
        try:
            _PURE[key] = _reads_only(find_source(function, "transform"))
        except (SourceUnavailableError, UnsupportedSyntaxError):
            _PURE[key] = False
    return _PURE[key]


def _reads_only(source: Source) -> bool:
    effects = Effects(source)
    body = source.node.body
    if effects.unknowable(body) is not None:
        return False
    fresh = {
        target.id
        for statement in body
        for part in ast.walk(statement)
        if isinstance(part, ast.Assign) and effects.is_fresh(part.value)
        for target in part.targets
        if isinstance(target, ast.Name)
    }
    arguments = {a.arg for a in ast.walk(source.node.args) if isinstance(a, ast.arg)}
    for statement in body:
        if not set(effects.changed(statement)) <= fresh - arguments:
            return False
        for part in ast.walk(statement):
            if isinstance(part, ast.AugAssign) and root_name(part.target) in arguments:
                return False
            if isinstance(part, ast.Call) and not effects.leaves_alone(part):
                method = part.func.attr if isinstance(part.func, ast.Attribute) else ""
                pure = method in PURE_METHODS and root_name(part.func) in source.bound
                if not pure and root_name(part.func) not in fresh:
                    return False
    return True
