"""Which variables' values the value of an expression may be, hold or be a view of.

A list that only its own name reaches may be changed in place: its new version is a copy, and nothing
else could tell. One that anything else reaches may not, so whatever isn't known to be new counts as shared.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any

import numpy as np

from gendsl.distributions import Distribution
from gendsl.lang.sites import is_choice, known_value
from gendsl.lang.source import Source
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.overwrites import overwritten

NEW_METHODS = frozenset((
    "all", "any", "argmax", "argmin", "argsort", "astype", "bit_length", "capitalize", "copy", "count",
    "cumsum", "dot", "endswith", "find", "flatten", "format", "index", "is_integer", "isdigit", "item",
    "join", "logpdf", "lower", "max", "mean", "min", "prod", "repeat", "replace", "round", "searchsorted",
    "split", "startswith", "std", "strip", "sum", "take", "tolist", "upper", "var",
))  # fmt: skip
"""Methods whose value shares nothing with what they are called on or given, but for entries of lists."""

VIEWING_METHODS = frozenset((
    "clip", "conj", "diagonal", "get", "ravel", "reshape", "squeeze", "swapaxes", "trace", "transpose",
))  # fmt: skip
"""Methods whose value may be an entry, or a view of an array."""

_NUMBERS = frozenset(("dtype", "itemsize", "nbytes", "ndim", "shape", "size"))
NEW_BUILTINS = frozenset((
    "abs", "all", "any", "bin", "bool", "bytes", "chr", "complex", "divmod", "float", "format", "hash",
    "int", "isinstance", "issubclass", "len", "ord", "pow", "print", "range", "repr", "round", "str",
    "sum", "type",
))  # fmt: skip
_COLLECTING = frozenset(("dict", "frozenset", "list", "set", "sorted", "tuple"))
_ITERATING = frozenset(("enumerate", "filter", "iter", "map", "next", "reversed", "zip"))
_NEW_NUMPY = frozenset((
    "arange", "array", "average", "concatenate", "copy", "cumprod", "cumsum", "dot", "empty", "eye", "full",
    "hstack", "linspace", "mean", "median", "ones", "ones_like", "prod", "quantile", "sort", "stack", "std",
    "sum", "var", "vstack", "where", "zeros", "zeros_like",
))  # fmt: skip

Names = set[str]


class Sharing:
    """What the expressions of one function may share."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._bound: dict[tuple[int, ...], tuple[Any, dict[str, list[ast.expr | None]]]] = {}

    def gives_new(self, function: Any) -> bool:
        """Whether what a function of the user's returns surely shares nothing with its arguments."""
        raise TypeError("defined by Effects")

    def function_of(self, call: ast.Call) -> Any:
        """The function that is called, if it is known."""
        function = known_value(self.source, call.func)
        if function is None and isinstance(call.func, ast.Name) and call.func.id not in self.source.bound:
            return getattr(builtins, call.func.id, None)
        return function

    def is_drawn(self, call: ast.Call) -> bool:
        """Whether `~call` is surely a draw from a distribution."""
        function = self.function_of(call)
        return isinstance(function, type) and issubclass(function, Distribution)

    def reached(self, node: ast.expr | None) -> tuple[Names, Names]:
        """The names whose values an expression's value may be or hold, and those that it may show parts of.

        Parts are entries of lists, and views of arrays.
        """
        match node:
            case ast.Name():
                return {node.id}, set()
            case ast.Tuple() | ast.List() | ast.Set():
                return self._all(node.elts)
            case ast.Dict():
                return self._all(node.values)
            case ast.IfExp():
                return self._all((node.body, node.orelse))
            case ast.BoolOp():
                return self._all(node.values)
            case ast.NamedExpr():
                return self._all((node.target, node.value))
            case ast.Starred() | ast.Subscript():
                return self.entries(node.value)
            case ast.Attribute():
                return (set(), set()) if node.attr in _NUMBERS else self.reached(node.value)
            case ast.BinOp():
                displays = (ast.List, ast.Tuple, ast.BinOp)
                return self._all(n for n in (node.left, node.right) if isinstance(n, displays))
            case ast.UnaryOp(operand=ast.Call() as call) if is_choice(node) and not self.is_drawn(call):
                return self.reached(call)
            case ast.Call():
                return self._called(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                element = node.value if isinstance(node, ast.DictComp) else node.elt
                found = self.reached(element)
                if any(found):
                    inside = [self.entries(generator.iter) for generator in node.generators]
                    return _joined([found, *inside])
                return found
            case ast.GeneratorExp() | ast.Lambda() | ast.Await() | ast.Yield() | ast.YieldFrom():
                return {n.id for n in walk(node) if isinstance(n, ast.Name)}, set()
        return set(), set()

    def _all(self, nodes: Iterable[ast.expr | None]) -> tuple[Names, Names]:
        return _joined(map(self.reached, nodes))

    def entries(self, node: ast.expr) -> tuple[Names, Names]:
        """What an entry of the value of an expression may be: of `(a, b)` it is a or b themselves."""
        match node:
            case ast.Name() | ast.Attribute():
                return _parts(self.reached(node))
            case ast.IfExp():
                return _joined(map(self.entries, (node.body, node.orelse)))
            case ast.BoolOp():
                return _joined(map(self.entries, node.values))
            case ast.Call(func=ast.Attribute(value=owner, attr="items" | "keys" | "values")):
                return self.entries(owner)
            case ast.Call():
                function = self.function_of(node)
                iterates = getattr(function, "__name__", "") in _ITERATING
                if iterates or getattr(function, "__module__", "") == "itertools":
                    return _joined(map(self.entries, node.args))
        return self.reached(node)

    def _called(self, call: ast.Call) -> tuple[Names, Names]:
        places = overwritten(self.source, call)  # `np.exp(x, out=y)` is y
        return _joined((self._given_back(call), self._all(places))) if places else self._given_back(call)

    def _given_back(self, call: ast.Call) -> tuple[Names, Names]:
        function = self.function_of(call)
        name = getattr(function, "__name__", "")
        arguments = [*call.args, *(k.value for k in call.keywords)]
        nothing: tuple[Names, Names] = set(), set()
        if function is None:
            if isinstance(call.func, ast.Attribute):
                copies = not any(k.arg == "copy" for k in call.keywords)
                if call.func.attr in NEW_METHODS and copies:
                    return nothing
                if call.func.attr in VIEWING_METHODS:
                    given = self._all(arguments)
                    given = given if call.func.attr == "get" else _parts(given)
                    return _joined((self.entries(call.func.value), given))
                return self._all((call.func.value, *arguments))
            return self._all((call.func, *arguments))
        if isinstance(function, np.ufunc):
            return nothing
        module = (getattr(function, "__module__", None) or "").partition(".")[0]
        if module == "builtins":
            if name in NEW_BUILTINS:
                return nothing
            if name in _COLLECTING:
                given = self._all(k.value for k in call.keywords)
                return _joined((given, *map(self.entries, call.args)))
            if name in ("max", "min") and len(call.args) == 1:
                return _joined(map(self.entries, arguments))
            return self._all(arguments)
        if module in ("math", "statistics"):
            return nothing
        if module in ("numpy", "scipy", "autograd"):
            copies = name in _NEW_NUMPY and not any(k.arg in ("copy", "out") for k in call.keywords)
            return nothing if copies else _parts(self._all(arguments))
        return nothing if self.gives_new(function) else self._all(arguments)

    def bindings(self, name: str, *nodes: ast.AST) -> list[ast.expr | None]:
        """The values that a name gets in statements; None for one that is not an expression's."""
        key = tuple(map(id, nodes))
        if key not in self._bound:  # with the nodes, so that no other gets the identity of one
            self._bound[key] = nodes, self._bindings(nodes)
        return self._bound[key][1].get(name, [])

    def _bindings(self, nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr | None]]:
        """For every name the values that it gets."""
        found: dict[str, list[ast.expr | None]] = {}

        def bind(target: ast.AST | str | None, value: ast.expr | None) -> None:
            if isinstance(target, str):
                found.setdefault(target, []).append(value)
            elif isinstance(target, ast.Name):
                bind(target.id, value)
            elif isinstance(target, (ast.Tuple, ast.List)):
                paired = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
                starred = any(isinstance(e, ast.Starred) for e in target.elts)
                for i, element in enumerate(target.elts):
                    bind(element, value.elts[i] if paired and not starred else None)  # type: ignore[union-attr]
            elif isinstance(target, ast.Starred):
                bind(target.value, None)

        for part in (part for node in nodes for part in walk(node)):
            match part:
                case ast.Assign():
                    for target in part.targets:
                        bind(target, part.value if len(part.targets) == 1 else None)
                case ast.AnnAssign(value=ast.expr()):
                    bind(part.target, part.value)
                case ast.NamedExpr():
                    bind(part.target, None)
                case ast.For() | ast.comprehension():
                    counts = isinstance(part.iter, ast.Call) and self.function_of(part.iter) is range
                    bind(part.target, ast.Constant(0) if counts else None)
                case ast.withitem(optional_vars=ast.expr()):
                    bind(part.optional_vars, None)
                case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
                    bind(part.name, None)
                case ast.MatchMapping():
                    bind(part.rest, None)
                case ast.alias():
                    bind((part.asname or part.name).partition(".")[0], None)
        return found


def _parts(found: tuple[Names, Names]) -> tuple[Names, Names]:
    return set(), _union(found)


def _union(found: tuple[Names, Names]) -> Names:
    return found[0] | found[1]


def _joined(found: Iterable[tuple[Names, Names]]) -> tuple[Names, Names]:
    always, parts = zip((set(), set()), *found, strict=True)
    return set().union(*always), set().union(*parts)
