"""`read`, `write` and `copy` without the handles in between, and calls without the lookups in between.

    read(source[address], label)     ->  __gendsl__.read_at(read, source, address, label)
    write(target[address], value)    ->  __gendsl__.write_at(write, line, target, address, value)
    copy(source[here], target[there])  ->  __gendsl__.copy_at(copy, line, source, here, target, there)
    math.sqrt(x)                     ->  __gendsl__.known[math.sqrt](x)
    f(x)                             ->  __gendsl__.lift(f)(x)

These lines are most of what a small move does, so each should be one call. What is called is still looked at
when the body runs: a function that only has the name of ours, or a subscript of what is no handle, does what
it says.
"""

from __future__ import annotations

import ast
import builtins
from types import BuiltinFunctionType, ModuleType
from typing import Any

from gendsl.distributions.base import measured
from gendsl.errors import EXECUTION
from gendsl.lang.definition import FunctionNode
from gendsl.lang.lift import Lifter
from gendsl.lang.sites import is_program
from gendsl.lang.source import Source
from gendsl.lang.trees import Transformer, clone, located
from gendsl.supports import Real
from gendsl.transforms.forward import Dual
from gendsl.transforms.functions import lifted as differentiable
from gendsl.transforms.functions import lifted_or_refusing
from gendsl.transforms.inputs import DeeperInput, Input
from gendsl.transforms.labels import continuous, discrete
from gendsl.transforms.outputs import Copy, DeeperOutput, Line, Output, Write
from gendsl.transforms.statements import carry, copy, put, put_at, read, refuse_whole, write

_ABSENT = object()


def is_permanent(function: Any) -> bool:
    """Whether a function or type is never freed, so that remembering it keeps nothing of the user's alive."""
    if isinstance(function, BuiltinFunctionType):
        return isinstance(function.__self__, ModuleType)
    if type(function) is type:
        return function.__module__ == "builtins"
    return differentiable(function) is not None


class _Known(dict[Any, Any]):
    """What to call in place of functions; those that are no permanent ones are looked up each time."""

    def __init__(self, lifter: Accessor) -> None:
        super().__init__({read: read, write: write, copy: copy})
        self.lifter = lifter

    def __missing__(self, function: Any) -> Any:
        answer = Lifter.lift(self.lifter, function)
        if is_permanent(function):
            self[function] = answer
        return answer


class Accessor(Lifter):
    """What a transform's body finds under `__gendsl__`."""

    def __init__(self) -> None:
        super().__init__(lifted_or_refusing)
        self.known = _Known(self)

    def rewrite(self, source: Source) -> FunctionNode:
        return rewritten(source)

    def lift(self, function: Any) -> Any:
        try:
            return self.known[function]
        except TypeError:  # it can't be hashed
            return super().lift(function)

    def read_at(self, function: Any, handle: Any, address: Any, label: Any = _ABSENT) -> Any:
        """`function(handle[address], label)`, where function is usually `read`."""
        path = address if type(address) is tuple else (address,)
        state = handle
        if type(handle) is not Input or function is not read:
            if type(handle) is not DeeperInput or function is not read:
                return self.lift(function)(handle[address], *(() if label is _ABSENT else (label,)))
            state, path = handle.state, handle.path + path
        try:
            record = state.near(path)
            known = None if record is not None else state.known(path)
        except TypeError:
            handle[address]  # says so if it is no address
            raise
        if record is not None:
            support, value = record[0]._measure or measured(record[0]), record[1]
        elif known is not None:
            support, value = known
        else:
            return state.value(path, None if label is _ABSENT else label)
        kind = type(value)
        if support.discrete:
            if (kind is int or kind is bool) and (label is discrete or label is _ABSENT or label is None):
                state.supports[path] = support
                return value
        elif kind is float and type(support) is Real and (
            label is continuous or label is _ABSENT or label is None
        ):
            state.supports[path] = support
            heads = state.heads
            if (heads is None or path[0] in heads) and path in state.observed:
                return value
            seed = state.seeds.get(path)
            if seed is not None:
                return seed[0]
            free = state.next_coordinate
            start = free[0]
            free[0] = start + 1
            number = Dual()
            number.value, number.tangent = value, {start: 1.0}
            state.seeds[path] = number, start
            return number
        return state.value(path, None if label is _ABSENT else label)

    def write_at(
        self, function: Any, line: Line, handle: Any, address: Any, value: Any, label: Any = _ABSENT
    ) -> Any:
        """`function(handle[address], value, label)`, where function is usually `write`."""
        if function is not write:
            return self.lift(function)(handle[address], value, *(() if label is _ABSENT else (label,)))
        if label is _ABSENT:
            label = None
        path = address if type(address) is tuple else (address,)
        kind = type(handle)
        if kind is Output:
            state = handle
        elif kind is DeeperOutput:
            state = handle.state
            path = handle.path + path
        else:
            return put(handle[address], value, label, line)
        if not path:
            refuse_whole(handle)
        kind = type(value)
        try:
            if kind is Dual:
                plain = value.value
            elif kind is int or kind is bool or kind is float:
                plain = value
            else:
                return put_at(state, path, value, label, line)
            heads = state.heads
            free = (heads is not None and path[0] not in heads) or path not in state.protected
            usual = plain == plain and (label is continuous or label is discrete or label is None)
            if not (free and usual and path not in state.entries):
                return put_at(state, path, value, label, line)
            entry = state.entries[path] = Write()
            entry.value, entry.label, entry.line = value, label, line
            state.values[path] = plain
        except TypeError:
            handle[address]  # says so if it is no address
            raise

    def copy_at(self, function: Any, line: Line, source: Any, here: Any, target: Any, there: Any) -> Any:
        """`function(source[here], target[there])`, where function is usually `copy`."""
        if function is not copy:
            return self.lift(function)(source[here], target[there])
        if type(source) is Input and type(target) is Output:
            start = here if type(here) is tuple else (here,)
            end = there if type(there) is tuple else (there,)
            try:
                record = source.near(start) or source.find(start)
                if record is not None and end and end not in target.entries and end not in target.protected:
                    source.supports[start] = record[0]._measure or measured(record[0])
                    entry = target.entries[end] = Copy()
                    entry.source, entry.path, entry.line = source, start, line
                    target.values[end] = record[1]
                    return
            except TypeError:
                source[here], target[there]  # says so if one is no address
                raise
        carry(source[here], target[there], line)


# --- rewriting -------------------------------------------------------------------------------------


def rewritten(source: Source) -> FunctionNode:
    """A copy of a definition in which every call is made as it is said above."""
    node = clone(source.node)
    rewriter = _Rewriter(source)
    node.body = [rewriter.visit(statement) for statement in node.body]
    return located(node)


def _method(name: str, arguments: list[ast.expr], at: ast.AST) -> ast.Call:
    call = ast.Call(ast.Attribute(ast.Name(EXECUTION, ast.Load()), name, ast.Load()), arguments, [])
    for node in (call.func.value, call.func, call):  # type: ignore[attr-defined]
        ast.copy_location(node, at)
    return call


class _Rewriter(Transformer):
    def __init__(self, source: Source) -> None:
        self.source = source
        self.local = source.bound | set(source.function.__code__.co_freevars)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if is_program(node) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return self._access(node) or self._called(node)

    def _access(self, node: ast.Call) -> ast.AST | None:
        """The call that reads, writes or copies by address; None if this is no such call."""
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
        handles = {"read": 1, "write": 1, "copy": 2}.get(name or "", 0)
        keywords = node.keywords
        if not handles or any(keyword.arg != "label" for keyword in keywords) or len(keywords) > 1:
            return None
        arguments = [*node.args, *(keyword.value for keyword in keywords)]
        least = 2 if name == "write" else handles
        if len(node.args) < least or len(arguments) > (2 if name != "write" else 3):
            return None
        if any(isinstance(argument, ast.Starred) for argument in arguments):
            return None
        given: list[ast.expr] = [node.func]
        if name != "read":
            line = self.source.filename, node.lineno, self.source.function.__name__
            given.append(ast.copy_location(ast.Constant(line), node))  # type: ignore[arg-type]
        for subscript in arguments[:handles]:
            if not isinstance(subscript, ast.Subscript) or any(
                isinstance(part, ast.Slice) for part in (subscript.slice, *_parts(subscript.slice))
            ):
                return None
            given += [subscript.value, subscript.slice]
        return _method(f"{name}_at", given + arguments[handles:], node)

    def _called(self, node: ast.Call) -> ast.AST:
        if is_permanent(self._meant(node.func)):
            known = _method("known", [], node.func).func
            node.func = ast.copy_location(ast.Subscript(known, node.func, ast.Load()), node.func)
        else:
            node.func = _method("lift", [node.func], node.func)
        return node

    def _meant(self, node: ast.expr) -> Any:
        """What a name, or an attribute of a module, is now; _ABSENT where that isn't known."""
        if isinstance(node, ast.Name):
            if node.id in self.local:
                return _ABSENT
            known = self.source.function.__globals__
            return known.get(node.id, getattr(builtins, node.id, _ABSENT))
        if isinstance(node, ast.Attribute):
            owner = self._meant(node.value)
            if isinstance(owner, ModuleType):
                return getattr(owner, node.attr, _ABSENT)
        return _ABSENT


def _parts(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else []
