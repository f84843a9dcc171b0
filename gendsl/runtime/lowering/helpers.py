"""Functions of the user's that array code stands for, and what they read outside themselves.

    def mean(x, b):                    (lambda x, b, np: multiply(b[0], elementwise(np.exp, x)))(
        return b[0] * np.exp(x)   ->       xs, b, *helper(0, mean))

Where such a function, or a function or module that it uses, is another than it was when the array code was
made, the array code can't vouch for its result. Everything else is looked up each time, as the function
itself does.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gendsl.errors import SourceUnavailableError, UnsupportedSyntaxError
from gendsl.lang.names import arguments_of, loaded, stored
from gendsl.lang.source import Source, find_source
from gendsl.runtime.lowering.effects import is_pure
from gendsl.runtime.lowering.overwrites import is_users
from gendsl.runtime.lowering.tables import NotColumnsError

_MISSING = object()


@dataclass(frozen=True, eq=False)
class Helper:
    """A function that array code stands for.

    Attributes:
        code: what it ran when the array code was made.
        outside: the names that it reads outside itself.
        relied: of these, the functions, classes and modules, as they were when the array code was made.
    """

    source: Source
    code: CodeType
    outside: tuple[str, ...]
    relied: dict[str, Any]

    def arguments(self, call: ast.Call) -> dict[str, ast.expr] | None:
        """What a call gives to which parameters, in order; None where that can't be told, or is an error."""
        arguments = self.source.node.args
        positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        by_name = {a.arg for a in (*arguments.args, *arguments.kwonlyargs)}
        given = dict(zip(positional, call.args, strict=False))
        if len(call.args) > len(positional) or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        for keyword in call.keywords:
            if keyword.arg not in by_name or keyword.arg in given:
                return None
            given[keyword.arg] = keyword.value
        every = {*positional, *by_name}
        return given if every - given.keys() <= defaults_of(self.source.function).keys() else None

    def omitted(self, given: Iterable[str]) -> list[str]:
        """The parameters that a call leaves to their defaults."""
        return [name for name in defaults_of(self.source.function) if name not in given]

    def values(self, function: Any, omitted: tuple[str, ...]) -> tuple[Any, ...]:
        """What a call of the function finds: the defaults of the parameters omitted, and what is outside.

        Raises:
            NotColumnsError: it is another function, or uses others.
        """
        if type(function) is not FunctionType or function.__code__ is not self.code:
            raise NotColumnsError
        found = {name: _outside(function, name) for name in self.outside}
        for name, value in found.items():
            if value is _MISSING or self.relied.get(name, value) is not value:
                raise NotColumnsError
        given = defaults_of(function) if omitted else {}
        if not given.keys() >= set(omitted):
            raise NotColumnsError
        return (*(given[name] for name in omitted), *found.values())


def defaults_of(function: FunctionType) -> dict[str, Any]:
    """The defaults of a function's parameters, by their names."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    values = function.__defaults__ or ()
    last = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return {**last, **(function.__kwdefaults__ or {})}


def _outside(function: FunctionType, name: str) -> Any:
    """What a function finds under a name that it doesn't bind."""
    free = function.__code__.co_freevars
    if name in free:
        try:
            return (function.__closure__ or ())[free.index(name)].cell_contents
        except ValueError:  # not assigned yet, or no more
            return _MISSING
    return function.__globals__.get(name, getattr(builtins, name, _MISSING))


def helper_of(function: Any) -> Helper | None:
    """What array code has to know of a function; None for one that it can't stand for."""
    if type(function) is not FunctionType or not is_users(function) or not is_pure(function):
        return None
    try:
        source = find_source(function, "transform")
    except (SourceUnavailableError, UnsupportedSyntaxError):
        return None
    code, arguments, body = function.__code__, source.node.args, source.node.body
    late = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
    if arguments.vararg is not None or arguments.kwarg is not None or code.co_flags & late:
        return None
    outside = sorted(loaded(*body) - {*stored(*body), *arguments_of(source.node)})
    private = any(name.startswith("__") for name in (*outside, *source.bound))
    if private or not source.bound.isdisjoint(outside):
        return None
    found = {name: _outside(function, name) for name in outside}
    if any(value is _MISSING for value in found.values()):
        return None
    relied = {name: v for name, v in found.items() if callable(v) or isinstance(v, ModuleType)}
    return Helper(source, code, tuple(outside), relied)
