"""What the lists, dicts and arrays that one function makes hold, and what views there are of them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.lang.names import COMPREHENSIONS, arguments_of, entries_of, loaded, root_name
from gendsl.lang.sites import known_value
from gendsl.lang.trees import walk
from gendsl.runtime.lowering.callees import Callees

_SIMPLE = ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr


class Contents(Callees):
    """What the containers of one function hold."""

    # --- values that nothing else holds -----------------------------------------------------------

    def is_builtin(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is the builtin of that name."""
        if not isinstance(node, ast.Name) or node.id != name or name in self.source.bound:
            return False
        value = known_value(self.source, node)
        return value is None or value is getattr(builtins, name)

    def is_range(self, node: ast.expr) -> bool:
        """Whether an expression is a call of the builtin `range`."""
        return isinstance(node, ast.Call) and self.is_builtin(node.func, "range")

    def all_fresh(self, values: list[ast.expr | None]) -> bool:
        """Whether all values that a variable gets are ones that nothing else holds."""
        return all(value is not None and self.is_fresh(value) for value in values)

    def is_fresh(self, node: ast.expr) -> bool:
        """Whether an expression makes a list, dict or array that nothing else holds."""
        if isinstance(node, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)):
            return True
        if isinstance(node, ast.BinOp):
            return self._is_new_list(node)
        if isinstance(node, ast.Call):
            if self.is_builtin(node.func, "list") or self.is_builtin(node.func, "dict"):
                return True
            function: Any = known_value(self.source, node.func)
            if any(keyword.arg == "copy" for keyword in node.keywords) or self._of_objects(node):
                return False
            return any(
                function is made
                for made in (np.zeros, np.ones, np.empty, np.full, np.array, np.arange, np.linspace)
            )
        return False

    def _is_new_list(self, node: ast.BinOp) -> bool:
        """Whether `[0.0] * n` or `[0.0] + rest` is a list, and no array."""
        sides = node.left, node.right
        if not any(isinstance(side, (ast.List, ast.ListComp, ast.BinOp)) for side in sides):
            return False
        if isinstance(node.op, ast.Mult):
            lists = [self._is_list(side) for side in sides]
            return any(lists) and not any(map(self._may_be_array, sides))
        return isinstance(node.op, ast.Add) and all(map(self._is_list, sides))

    def is_list_or_array(self, node: ast.expr, is_number: Callable[[ast.expr], bool]) -> bool:
        """Whether what looks like a new list, `[0.5, 0.5] * n`, is an array if the n is one, as it may be."""
        if not isinstance(node, ast.BinOp):
            return False
        sides = node.left, node.right
        if any(self.is_list_or_array(side, is_number) for side in sides):
            return True
        others = [side for side in sides if not self._is_list(side)]
        multiplied = isinstance(node.op, ast.Mult) and self._is_new_list(node)
        return multiplied and not all(self._is_count(side, is_number) for side in others)

    def may_become_array(self, node: ast.AugAssign, is_number: Callable[[ast.expr], bool]) -> bool:
        """Whether `a *= n`, or `a += b`, may give an array where a was a list: if n or b is one."""
        if isinstance(node.op, ast.Mult):
            return not self._is_count(node.value, is_number)
        entries = isinstance(node.value, (ast.Tuple, ast.GeneratorExp, ast.Constant))
        lists = self._is_list(node.value) and not self.is_list_or_array(node.value, is_number)
        return not entries and not lists

    def _is_count(self, node: ast.expr, is_number: Callable[[ast.expr], bool]) -> bool:
        """Whether an expression surely gives a number. (What `range` goes up to may be an array of one.)"""
        if isinstance(node, ast.BinOp):
            return self._is_count(node.left, is_number) and self._is_count(node.right, is_number)
        return is_number(node)

    def _is_list(self, node: ast.expr | None) -> bool:
        """Whether an expression surely gives a list."""
        match node:
            case ast.List() | ast.ListComp():
                return True
            case ast.BinOp():
                return self._is_new_list(node)
            case ast.Subscript(slice=ast.Slice()):
                return self._is_list(node.value)
            case ast.Call():
                return any(self.is_builtin(node.func, name) for name in ("list", "sorted"))
            case ast.Name(id=name):
                values = self.bindings(name, *self.source.node.body)
                lists = self.of_name("list", name, True, lambda: all(map(self._is_list, values)))
                return bool(values) and lists
        return False

    def _may_be_array(self, node: ast.expr) -> bool:
        """Whether there is something to show that an expression gives an array."""
        match node:
            case ast.BinOp():
                return self._may_be_array(node.left) or self._may_be_array(node.right)
            case ast.Call():
                module = getattr(self.function_of(node), "__module__", None) or ""
                array = module.partition(".")[0] in ("numpy", "scipy", "autograd")
                return array or isinstance(self.function_of(node), np.ufunc)
            case ast.Name(id=name):
                values = self.given(name)
                return self.of_name("array", name, False, lambda: any(map(self._may_be_array, values)))
        return False

    def _of_objects(self, call: ast.Call) -> bool:
        """Whether a call makes an array of objects, as far as one can see: a copy of it holds the same."""
        types = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "dtype")]
        for dtype in types:
            if self.is_builtin(dtype, "object") or known_value(self.source, dtype) is np.object_:
                return True
            if isinstance(dtype, ast.Constant) and dtype.value in ("O", "object", None):
                return True
        return any(isinstance(entry, (ast.Dict, ast.DictComp)) for a in call.args for entry in entries_of(a))

    def is_dict(self, name: str) -> bool:
        """Whether a variable surely has a dict that the function has made."""
        made = self._dicts_among(name)
        return any(made) and all(made) and name not in arguments_of(self.source.node)

    def is_also_dict(self, name: str) -> bool:
        """Whether some of the values that the function makes for a variable are dicts, and others are not."""
        made = self._dicts_among(name)
        return any(made) and not all(made)

    def _dicts_among(self, name: str) -> list[bool]:
        """Which of the values that a variable gets are new dicts."""
        return [
            isinstance(value, (ast.Dict, ast.DictComp))
            or (isinstance(value, ast.Call) and self.is_builtin(value.func, "dict"))
            for value in self.bindings(name, *self.source.node.body)
        ]

    # --- entries and views ------------------------------------------------------------------------

    def _put_into(self, name: str) -> list[ast.expr]:
        """The entries that may be put into a container of a name, as far as they are written down."""
        entries = self._put_in_later(name)
        for value in self.bindings(name, *self.source.node.body):
            entries += [] if value is None else entries_of(value)
            if isinstance(value, ast.Call) and self.only_gathers(value):
                entries += [*value.args, *(keyword.value for keyword in value.keywords)]
        return entries

    def _put_in_later(self, name: str) -> list[ast.expr]:
        """The same of those that are not there when the container is made."""
        entries: list[ast.expr] = []
        for part in self.source.parts:
            match part:
                case ast.Assign(targets=[ast.Subscript() as target]) if root_name(target) == name:
                    entries.append(part.value)
                case ast.Call(func=ast.Attribute() as function) if root_name(function) == name:
                    entries += part.args
        return entries

    def holds_containers(self, name: str) -> bool:
        """Whether the function may put lists, dicts or arrays into a container of a name."""
        containers = (ast.List, ast.Dict, ast.Set, *COMPREHENSIONS)
        for entry in self._put_into(name):
            values = [entry]
            if isinstance(entry, ast.Name):
                values = [v for v in self.bindings(entry.id, *self.source.node.body) if v is not None]
            if any(isinstance(value, containers) or self.is_fresh(value) for value in values):
                return True
        return False

    def holds_numbers(self, name: str) -> bool:
        """Whether all entries of a list or dict of a name are numbers, as far as their form tells."""
        bound = self.bindings(name, *self.source.node.body)
        values = [self._gathered(value) for value in bound]
        known = all(value is not None and (entries_of(value) or _is_empty(value)) for value in values)
        entries = [entry for value in values if value is not None for entry in entries_of(value)]
        if not all(isinstance(value, ast.Call) for value in bound):  # adding to arrays adds no entries
            entries += self._put_in_by_operators(name)
        return known and all(map(self.is_number, [*entries, *self._put_in_later(name)]))

    def _put_in_by_operators(self, name: str) -> list[ast.expr]:
        """The entries that a list or a dict gets by `+=`, by `|=` or by keywords; or what may have them."""
        entries: list[ast.expr] = []
        for part in self.source.parts:
            match part:
                case ast.AugAssign(ast.Name(found), ast.Add() | ast.BitOr(), value) if found == name:
                    entries += entries_of(value) or [value]
                case ast.Call(ast.Attribute(attr="update") as function) if root_name(function) == name:
                    entries += [keyword.value for keyword in part.keywords]
        return entries

    def has_number_entries(self, name: str) -> bool:
        """Whether all entries of a list or dict, or of an array of one dimension, are surely numbers."""
        parts = self.source.parts
        alone = (p for p in parts if isinstance(p, ast.Assign) and len(p.targets) == 1)
        assigned = {part.targets[0] for part in alone}
        written = [p for p in parts if isinstance(p, ast.Subscript) and not isinstance(p.ctx, ast.Load)]
        plain = all(p in assigned for p in written if root_name(p) == name)
        return self.of_name("numbers", name, False, lambda: plain and self.holds_numbers(name))

    def _gathered(self, value: ast.expr | None) -> ast.expr | None:
        """What `np.array(...)` makes an array of; of any other expression, itself."""
        if isinstance(value, ast.Call) and self.function_of(value) is np.array and len(value.args) == 1:
            return value.args[0] if all(keyword.arg == "dtype" for keyword in value.keywords) else value
        return value

    def viewed(self, name: str, changed: ast.stmt) -> bool:
        """Whether a view of an array may be held when a statement changes the array in place."""
        loops = [part for part in self.source.parts if isinstance(part, (ast.For, ast.While))]
        around = [loop for loop in loops if any(part is changed for part in walk(loop))]
        for part in self.source.parts:
            inside = any(part is other for loop in around for other in walk(loop))
            if not isinstance(part, ast.stmt) or (part.lineno >= changed.lineno and not inside):
                continue
            if isinstance(part, ast.For) and name in self.entries(part.iter)[1]:
                own = {n.id for n in walk(part.target) if isinstance(n, ast.Name)}
                kept = self.aliased(ast.Module(part.body, []))[0] | loaded(self.source.node, outside=part)
                if part in around or own & kept:
                    return True
            entry = isinstance(part, ast.AugAssign) and isinstance(part.value, (ast.Subscript, ast.Attribute))
            if isinstance(part, _SIMPLE) and not entry and name in self.aliased(part)[1]:
                return True
        return False

    def aliased(self, node: ast.AST) -> tuple[set[str], set[str]]:
        """The local names whose values a statement makes reachable otherwise: surely, and if arrays."""
        raise TypeError("defined by Effects")


def _is_empty(node: ast.expr) -> bool:
    return isinstance(node, (ast.List, ast.Dict))
