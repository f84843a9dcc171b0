"""Calls, of whatever is called: what each is, and which module makes it."""

from __future__ import annotations

import ast
import functools
import inspect
import sysconfig
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from gendsl.compiler.front import (
    array_calls,
    blocks,
    builtin_calls,
    components,
    draws,
    ellipses,
    handles,
    library_numbers,
    lines,
    list_methods,
    outside,
    scores,
    sets,
    stats,
    tables,
    text_columns,
    warming,
)
from gendsl.compiler.front.arrays import library_call
from gendsl.compiler.front.binding import arguments, check_spread
from gendsl.compiler.front.constructors import call_super, construct, gone_through, is_super, named_tuple
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.function_calls import call_closure, call_function, is_of_deques
from gendsl.compiler.front.instances import asks_python
from gendsl.compiler.front.objects import remembered
from gendsl.compiler.front.sources import FunctionSource
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import (
    Array,
    Closure,
    Dict,
    Iterator,
    Known,
    List,
    Method,
    Number,
    Set,
    Text,
    Tuple,
    Union,
    describe,
)
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never, items_of, known, object_of
from gendsl.errors import is_users_file


def call_node(frame: Frame, node: ast.Call) -> Value:
    """A call as it stands in the source."""
    if isinstance(node.func, ast.Attribute) and is_super(node.func.value):
        return call_super(frame, node)
    function = frame.language.expression(frame, node.func)
    special = builtin_calls.SYNTACTIC.get(object_of(function)) if _is_hashable_known(function) else None
    if special is not None:
        return special(frame, node)
    function = frame.atoms(function)
    found = object_of(function) if _is_hashable_known(function) else None
    if any(isinstance(part, ast.GeneratorExp) for part in node.args):
        of_container = isinstance(function.type, Method) and (
            isinstance(function.type.function, str) or is_of_deques(function.type.function)
        )
        if not of_container and found not in builtin_calls.EAGER | builtin_calls.LAZY:
            raise frame.not_closed("a generator as an argument, which can be gone through once only", node)
    args, named = arguments(
        frame, node, lazy=found in builtin_calls.LAZY, shown=found in builtin_calls.OF_DISPLAYS
    )
    frame.here, frame.line = node, node.lineno
    try:
        return call(frame, function, args, named)
    except NotClosed as reason:
        if reason.filename != frame.filename and not _is_of_library(frame.filename):
            _ask_of(reason, node, frame.filename)
        raise


def _ask_of(reason: NotClosed, node: ast.Call, filename: str) -> None:
    """Let what is wrong in the text of a library be wrong where that is called."""
    if not _is_of_library(reason.filename):
        return
    where = f" (line {reason.line} of {Path(reason.filename).name})" if is_users_file(reason.filename) else ""
    reason.reason = f"{ast.unparse(node.func)}{where}: {reason.reason}"
    reason.line, reason.filename = node.lineno, filename


@functools.cache
def _is_of_library(filename: str) -> bool:
    """Whether a file is Python's, gendsl's or of what is installed."""
    if not is_users_file(filename):
        return True
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return filename.startswith(tuple(folders))


def _is_hashable_known(value: Value) -> bool:
    if not isinstance(value.type, Known) or asks_python(value, "__eq__", "__hash__"):
        return False
    try:
        hash(object_of(value))
    except TypeError:
        return False
    return True


def call(frame: Frame, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """`function(*args, **named)`."""
    function = frame.opened(function)
    if is_never(function):
        return NOTHING
    if not isinstance(function.type, Union):
        args = check_spread(frame, function, args, named)
    match function.type:
        case Union():
            return frame.switch(function, lambda one: call(frame, one, args, named))
        case Known(value=found):
            return _call_known(frame, found, args, named)
        case Closure():
            return call_closure(frame, function, args, named)
        case Method(owner, name) if isinstance(name, str):
            return _call_container_method(frame, Value(owner, function.leaves), name, args, named)
        case Method(Tuple(cls=cls), method) if isinstance(cls, type) and issubclass(cls, stats.FrozenFamily):
            owned = Value(function.type.owner, function.leaves)
            return stats.method_of_frozen(frame, owned, method.__name__, args, named)
        case Method(Tuple(cls=cls), method) if _is_replace(cls, method):
            owned = Value(function.type.owner, function.leaves)
            fields = dict(zip(cls._fields, items_of(owned), strict=True))
            if args or not set(named) <= set(fields):
                raise frame.not_closed("_replace of what is no field")
            return named_tuple(frame, cls, [], {**fields, **named})
        case Method(owner, method):
            if is_of_deques(method):
                args = [gone_through(frame, one) for one in args]
            return call_function(frame, method, [Value(owner, function.leaves), *args], named)
    cls = getattr(function.type, "cls", None)
    if cls is functools.partial:
        inner, given, keywords = items_of(function)
        more = dict(zip(keywords.type.names, items_of(keywords), strict=True))  # type: ignore[attr-defined]
        return call(frame, inner, [*items_of(given), *args], {**more, **named})
    if isinstance(cls, type) and any("__call__" in base.__dict__ for base in cls.__mro__):
        return call_method(frame, function, "__call__", args, named)
    raise frame.not_closed(f"a call of {describe(function.type)}")


def _is_replace(cls: Any, method: Any) -> bool:
    """Whether a method is `_replace` as named tuples have it."""
    return hasattr(cls, "_fields") and (method.__name__, method.__module__) == ("_replace", "collections")


def _call_known(frame: Frame, found: Any, args: list[Value], named: dict[str, Value]) -> Value:
    if getattr(found, "_is_autograd_primitive", False):  # nothing here is in a box of autograd's
        found = found.fun
    if asks_python(known(found), "__eq__", "__hash__"):  # no function that is known here
        return _call_instance(frame, found, args, named)
    handled = handles.statement(frame, found, args, named)
    if handled is None and not named:
        handled = components.call(frame, found, args) or lines.call(frame, found, args)
        handled = handled or ellipses.call(frame, found, args) or blocks.call(frame, found, args)
        handled = handled or warming.call(frame, found, args)
    if handled is None:
        handled = builtin_calls.call(frame, found, args, named) or stats.call(frame, found, args, named)
    if handled is not None:
        return handled
    if isinstance(found, type):
        return construct(frame, found, args, named)
    if isinstance(found, FunctionType):
        if found.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise frame.not_closed(f"{found.__name__} is asynchronous")
        return call_function(frame, found, args, named)
    if isinstance(found, MethodType):
        owner = outside.constant(frame, found.__self__)
        return _call_bound(frame, owner, found.__func__, args, named)
    if isinstance(found, functools.partial):
        given = [outside.constant(frame, arg) for arg in found.args]
        keywords = frame.program.noted_items(found.keywords)
        more = {name: outside.constant(frame, arg) for name, arg in keywords.items()}
        return call(frame, outside.constant(frame, found.func), [*given, *args], {**more, **named})
    wrapped = getattr(found, "__wrapped__", None)
    if isinstance(found, functools._lru_cache_wrapper):
        return remembered(frame, call(frame, known(wrapped), args, named))
    if handles.is_transform(found):
        return _call_transform(frame, found, args, named)
    return _call_instance(frame, found, args, named)


def _call_instance(frame: Frame, found: Any, args: list[Value], named: dict[str, Value]) -> Value:
    """A call of an object whose class has a `__call__` of the user's."""
    method = getattr(type(found), "__call__", None)  # noqa: B004 (that of the class)
    if isinstance(method, FunctionType):
        return call_function(frame, method, [known(found), *args], named)
    name = getattr(found, "__qualname__", None) or getattr(found, "name", None) or repr(found)
    raise frame.not_closed(f"a call of {name}")


def _call_transform(frame: Frame, found: Any, args: list[Value], named: dict[str, Value]) -> Value:
    """A transform that another one calls."""
    program, origin = frame.program, found.origin
    program.sources.setdefault(origin.function, FunctionSource(origin.node, origin.filename))
    owner = [outside.constant(frame, one) for one in found._bound]
    given = {name: outside.constant(frame, value, name) for name, value in found.parameters.items()}
    call_function(frame, origin.function, [*owner, *args], {**given, **named})
    return NONE


def _call_bound(
    frame: Frame, owner: Value, function: Any, args: list[Value], named: dict[str, Value]
) -> Value:
    if not isinstance(function, FunctionType):
        raise frame.not_closed(f"a call of {function!r}")
    return call_function(frame, function, [owner, *args], named)


def call_method(
    frame: Frame, value: Value, name: str, args: list[Value], named: dict[str, Value] | None = None
) -> Value:
    """`value.name(*args)` of an instance of a class of the user's."""
    return call(frame, frame.language.attribute(frame, value, name), args, named or {})


def _call_container_method(
    frame: Frame, owner: Value, name: str, args: list[Value], named: dict[str, Value]
) -> Value:
    match owner.type:
        case List():
            return list_methods.list_method(frame, owner, name, args, named)
        case Dict() if name in ("keys", "values", "items") and not args:
            return Value(Iterator(name, (owner.type,)), owner.leaves)
        case Set() if not named:
            return sets.method(frame, owner, name, args)
        case Dict() if not named:
            return tables.method(frame, owner, name, args)
        case Array():
            return array_calls.method(frame, owner, name, args, named)
        case Known(value=str()) | Text() if not named:
            return text_columns.method(frame, owner, name, args)
        case Tuple() if name in ("count", "index") and not named:
            raise frame.not_closed(f"the method {name} of a tuple")
        case Number(kind="i", mixed=False) if name in ("bit_count", "bit_length") and not args and not named:
            return library_call(frame, getattr(library_numbers, name), [owner])
        case Number() if name == "item" and not args:
            return Value(Number(owner.type.kind), owner.leaves)
        case Number(numpy=2 | 3) if not named:
            found = array_calls.method_of_number(frame, owner, name, args)
            if found is not None:
                return found
        case Known(value=draws.RandomGenerator()):
            return draws.call(frame, name, args, named)
        case Tuple(cls=stats.FrozenMultivariate) if not named:
            return stats.multivariate_method(frame, owner, name, args)
        case Tuple() if name == "sample" and [one.type for one in args] == [Known(draws.GENERATOR)]:
            return draws.drawn(frame, owner)
        case Tuple() if name == "logpdf" and len(args) == 1 and not named:
            return scores.scored(frame, owner, args[0])
    raise frame.not_closed(f"the method {name} of {describe(owner.type)}")
