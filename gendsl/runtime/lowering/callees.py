"""What calls are of, and what the functions that they call may do to what they are given."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import sys
from collections.abc import Callable
from inspect import CO_GENERATOR
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.distributions.base import ScalarFamily
from gendsl.lang.names import arguments_of, entries_of
from gendsl.lang.sites import is_choice, known_value
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.objects import CHANGING_METHODS, PURE_METHODS, Objects, function_inside
from gendsl.runtime.lowering.overwrites import is_users

_HIGHER = (
    filter, functools.reduce, itertools.dropwhile, itertools.filterfalse, itertools.starmap,
    itertools.takewhile, map, np.apply_along_axis, np.apply_over_axes, np.fromfunction, np.vectorize,
)  # fmt: skip
"""Functions that call their first argument; `itertools.accumulate` calls its second."""
_METHODS = frozenset(one.__name__ for one in _HIGHER)
"""Methods of objects of which nothing is known that may do so."""


class Callees(Objects):
    """What the calls of one function are of."""

    def called(self, function: ast.expr) -> Any:
        """What an expression that is called, or passed to be called, is; None where that is not known."""
        if isinstance(function, ast.Name) and function.id not in self.source.bound:
            found = known_value(self.source, function)
            return getattr(builtins, function.id, None) if found is None else found
        return self.found(function)

    def passed(self, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call that it surely, or as far as one can see, calls itself."""
        function = self.called(call.func)
        keys = [keyword.value for keyword in call.keywords if keyword.arg in ("key", "func", "function")]
        firsts = call.args[1:2] if function is itertools.accumulate else []
        if any(function is one for one in _HIGHER) or (
            function is None and getattr(call.func, "attr", "") in _METHODS
        ):
            firsts = call.args[:1]
        rest = [a for a in call.args[1:] if isinstance(a, (ast.Name, ast.Attribute))]
        known = [a for a in rest if function_inside(self.called(a)) is not None]
        found = (*firsts, *known, *keys)
        return [a for a in found if not (isinstance(a, ast.Constant) and a.value is None)]

    def writes(self, call: ast.AST) -> bool:
        """Whether a call is of a function of the user's, or gets one, that plainly changes an argument."""
        if not isinstance(call, ast.Call):
            return False
        inner = [function_inside(self.called(function)) for function in (call.func, *self.passed(call))]
        return any(f is not None and _is_no_librarys(f) and self.writes_arguments(f) for f in inner)

    def is_unknown(self, call: ast.AST) -> bool:
        """Whether nothing is known of what a call calls, or of a function that it is given to call."""
        if not isinstance(call, ast.Call):
            return False
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        found = [] if method in PURE_METHODS | CHANGING_METHODS else [call.func]
        found += [function for function in self.passed(call) if not isinstance(function, ast.Lambda)]
        return any(self.called(function) is None for function in found)

    def changes_elements(self, node: ast.expr) -> bool:
        """Whether what an expression goes through may change what it has given, as `groupby` does."""
        for part in walk(node):
            function = self.called(part.func) if isinstance(part, ast.Call) else None
            if function is itertools.groupby or function is np.nditer:
                return True
            inner = function_inside(function)
            if inner is None or not is_users(inner) or not inner.__code__.co_flags & CO_GENERATOR:
                continue
            if self.changes_yielded(inner):
                return True
        return False

    def changes_yielded(self, function: FunctionType) -> bool:
        """Whether a generator function of the user's may change what it has yielded."""
        raise TypeError("defined by Effects")

    def sources(self, name: str) -> set[str]:
        """The variables whose values, or parts of them, a variable may have, and itself."""
        found, pending = {name}, [name]
        while pending:
            for value in self.given(pending.pop()):
                names = {n.id for n in walk(value) if isinstance(n, ast.Name)} - found
                found |= names
                pending += names
        return found

    def may_be_given(self, name: str) -> bool:
        """Whether a variable may have an argument of the function, or something that holds or shows one."""
        found, pending = {name}, [name]
        while pending:
            for value in self.given(pending.pop()):
                names = {other for part in self.reached(value) for other in part} - found
                found |= names
                pending += names
        return not found.isdisjoint(arguments_of(self.source.node))

    def is_given(self, node: ast.expr) -> bool:
        """Whether an expression surely gives an argument of the function, or an entry of one."""
        match node:
            case ast.Name(id=name) if name in self.source.bound:
                values = self.given(name)
                if not values:
                    return name in arguments_of(self.source.node)
                return self.of_name("given", name, True, lambda: all(map(self.is_given, values)))
            case ast.Subscript() | ast.Attribute() | ast.Starred():
                return self.is_given(node.value)
            case ast.Call(func=ast.Name(id="enumerate" | "zip" | "range" | "len")):
                return self.function_of(node) is not None and all(map(self.is_given, node.args))
        return isinstance(node, (ast.Constant, ast.Name))

    def of_name(self, question: str, name: str, meanwhile: bool, find: Callable[[], bool]) -> bool:
        """The answer to a question about a variable, found once; `meanwhile` where it depends on itself."""
        key = question, name
        if key not in self._answers:
            self._answers[key] = meanwhile
            self._answers[key] = find()
        return self._answers[key]

    def has_views(self, name: str) -> bool:
        """Whether an entry of an array may be a view of it: unless it is surely of one dimension."""
        made = np.zeros, np.ones, np.empty, np.full, np.arange, np.linspace
        for value in self.bindings(name, *self.source.node.body):
            flat = isinstance(value, ast.Call) and any(self.function_of(value) is one for one in made)
            if not flat or not value.args or self._is_shape(value.args[0]):  # type: ignore[union-attr]
                return True
        return False

    def has_rows(self, name: str) -> bool:
        """Whether a variable may have an array of several dimensions that the function has made."""
        for value in self.bindings(name, *self.source.node.body):
            if isinstance(value, ast.Call) and value.args:
                function, first = self.function_of(value), value.args[0]
                if any(function is made for made in (np.zeros, np.ones, np.empty, np.full)):
                    if self._is_shape(first):
                        return True
                elif function is np.array and not all(map(self.is_number, entries_of(first) or [first])):
                    return True
        return False

    def _is_shape(self, node: ast.expr) -> bool:
        """Whether an expression may give several numbers, as far as one can see."""
        if isinstance(node, ast.Name):
            return any(isinstance(value, (ast.Tuple, ast.Attribute)) for value in self.given(node.id))
        return isinstance(node, (ast.Tuple, ast.List, ast.Attribute))

    def is_number(self, node: ast.expr) -> bool:
        """Whether an expression surely gives a number, as far as its form tells."""
        match node:
            case ast.Constant():
                return True
            case ast.BinOp(op=ast.MatMult(), right=right) if is_choice(right):
                return self.is_number(right)
            case ast.BinOp():
                return self.is_number(node.left) and self.is_number(node.right)
            case ast.UnaryOp(operand=ast.Call() as call) if is_choice(node):
                family = self.function_of(call)
                return isinstance(family, type) and issubclass(family, ScalarFamily)
            case ast.UnaryOp():
                return self.is_number(node.operand)
            case ast.Call(args=[value]) if self.function_of(node) is abs:
                return self.is_number(value)
            case ast.Call():
                return any(self.function_of(node) is made for made in (len, int, float, bool))
        return False


def _is_no_librarys(function: FunctionType) -> bool:
    module = function.__module__ or ""
    return is_users(function) and module.partition(".")[0] not in sys.stdlib_module_names - {"__main__"}
