"""What can be told only where a body runs: whether it changes in place what something else holds, and where.

The compiler takes a body apart where it can vouch for what each statement changes. Where that depends on what
a value is, or on what a function does, the code asks here when it runs:

    total += x                  a number gets a new value; an array changes, in `history` too
    eta = link(eta)             most functions leave their arguments as they were; this one may not
    x[t, m] = ...               one entry of x, unless m is an array of indices

A body that is found to change such a value can't be taken apart. It is executed whole from then on, as the
compiler would have had it, and the operation that found it out is done again from its start.
"""

from __future__ import annotations

import ast
import collections
import functools
import inspect
from collections.abc import Callable, Iterable
from math import inf
from operator import is_
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from gendsl.errors import too_deep
from gendsl.interface import as_rng
from gendsl.lang.trees import walk
from gendsl.runtime.change import SCALARS
from gendsl.runtime.lowering.build import Compiled
from gendsl.runtime.lowering.effects import is_pure
from gendsl.runtime.lowering.overwrites import is_users
from gendsl.runtime.written import whole

_Value = TypeVar("_Value")
_Operation = TypeVar("_Operation", bound=Callable[..., Any])
_IN_PLACE = "__iadd__", "__ior__", "__imul__", "__isub__", "__itruediv__"
_GENERATORS = np.random.Generator, np.random.BitGenerator, np.random.RandomState
_LARGE = 64  # entries
_UNWATCHED = SCALARS | {np.float64, np.int64, np.bool_, range, type, FunctionType, BuiltinFunctionType}


Where = tuple[int, str, tuple[int, ...]]
"""The line of a call, how it is written, and which of its arguments, as they are the body's own arguments,
are not watched where they are large: a body is not to change them."""


_STILL: WeakKeyDictionary[type, dict[str, bool]] = WeakKeyDictionary()


class NotSeparableError(BaseException):
    """A body has been found to change what something else may hold, or to go through an iterator twice.

    Not an `Exception`, so that an `except Exception` in a user's body doesn't catch it.
    """

    def __init__(self, compiled: Compiled, reason: str, rewrite: str, line: int) -> None:
        super().__init__(reason)
        nodes = walk(compiled.origin.node)
        found = (n for n in nodes if isinstance(n, ast.stmt) and n.lineno == line)
        compiled.execute_whole(reason, rewrite, next(found, compiled.origin.node))


class Guards:
    """The questions that the code of one program asks."""

    __slots__ = ("_compiled",)

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled

    def alone(self, value: Any, name: str, line: int) -> Any:
        """The value of a variable that `name += ...` is about to change, if that gives it a new one.

        Raises:
            NotSeparableError: it is a list or an array, which would change in place, for others who hold it.
        """
        value = whole(value)
        if type(value) not in _UNWATCHED and any(hasattr(value, method) for method in _IN_PLACE):
            kind = type(value).__name__
            raise NotSeparableError(
                self._compiled,
                f"it changes {name} in place: a {kind} that something else may hold",
                f"write `{name} = {name} ...` with an operator, or copy it first",
                line,
            )
        return value

    def entry(self, key: Any, name: str, line: int) -> Any:
        """The key at which an iteration writes one of several entries of a container.

        Raises:
            NotSeparableError: it is, or has among its parts, an array or a list of indices.
        """
        try:
            hash(key)
        except TypeError:
            reason = f"it changes {name} at several entries at once, and at others in the same iteration"
            raise NotSeparableError(self._compiled, reason, "write one entry after another", line) from None
        return key

    def counted(self, key: Any, name: str, line: int) -> Any:
        """The key of an entry that a nested loop writes of a container that it looks up in, too.

        Raises:
            NotSeparableError: it is anything but an index that counts from the start, or a tuple of such.
        """
        for part in key if type(key) is tuple else (key,):
            if not (type(part) is int or isinstance(part, np.integer)) or part < 0:
                reason = f"it changes {name} from the end, or at several entries at once, and looks up in it"
                rewrite = "write one entry after another, at indices from the start"
                raise NotSeparableError(self._compiled, reason, rewrite, line)
        return key

    def counted_in_row(self, key: tuple[Any, Any], name: str, line: int) -> Any:
        """The same of an entry of a row, where the rows are those of a dict."""
        self.counted(key[1], name, line)
        return key

    def listed(self, value: Any, name: str, line: int) -> Any:
        """The list that `[...] * n` makes, of which no part is a view.

        Raises:
            NotSeparableError: n was an array, and so it is one.
        """
        if isinstance(value, np.ndarray):
            reason = f"it changes {name}, an array that something else may hold a part of"
            raise NotSeparableError(self._compiled, reason, "let `*` have numbers and lists only", line)
        return value

    def watched(self, where: Where, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """What a function returns that leaves its arguments as they were.

        Raises:
            NotSeparableError: it has changed one of them, which then is as it was again.
        """
        given = (*args, *kwargs.values()) if kwargs else args
        if _UNWATCHED.issuperset(map(type, given)):
            return function(*args, **kwargs)
        line, call, own = where
        before = [_state(value, _LARGE if i in own else inf) for i, value in enumerate(given)]
        if all(state is None for state in before):
            return function(*args, **kwargs)
        value = function(*args, **kwargs)
        if not all(map(_is_as_before, given, before)):
            raise _put_back(given, before, self._compiled, call, line)
        return value

    def watching(self, where: Where, function: Any, /) -> Any:
        """A function that is watched at each of its calls; anything else stays, as the None of `filter`."""
        if not callable(function):
            return function
        return functools.partial(self.watched, where, function)

    def still(self, where: Where, value: Any, method: str, /) -> Any:
        """An object that doesn't change when a method of it is called.

        Raises:
            NotSeparableError: it may, as far as the class says.
        """
        kind = type(value)
        known = _STILL.setdefault(kind, {})
        if method not in known:
            function = inspect.getattr_static(kind, method, None)
            function = getattr(function, "__func__", function)
            known[method] = not is_users(function) or is_pure(function) or _is_named_tuples(kind, function)
        if not known[method]:
            reason = f"{where[1]} may change a {kind.__name__}"
            rewrite = f"give {method} another name, or let it return something new"
            raise NotSeparableError(self._compiled, reason, rewrite, where[0])
        return value

    def settled(self, where: Where, value: Any, /) -> Any:
        """The value of a variable that can be gone through more than once.

        Raises:
            NotSeparableError: it is an iterator.
        """
        if hasattr(type(value), "__next__"):
            raise NotSeparableError(
                self._compiled, "an iterator in a variable", "make a list of it", where[0]
            )
        return value


def _is_named_tuples(kind: type, function: Any) -> bool:
    """Whether a method is one that named tuples have: they return something new."""
    code = getattr(function, "__code__", None)
    return issubclass(kind, tuple) and code is not None and code.co_filename == collections.__file__


def unchanged_by(request: Any, caller: Any, node: ast.AST, run: Callable[[], _Value]) -> _Value:
    """What a traced call of an opaque body gives, if it leaves its arguments as they were.

    Raises:
        NotSeparableError: it has changed one of them, so that its caller is to be executed whole, too.
    """
    given = (*request.args, *request.kwargs.values())
    if _UNWATCHED.issuperset(map(type, given)):
        return run()
    callee = getattr(request.function, "compiled", None)
    most = inf if callee is None or callee.changes_arguments else _LARGE
    before = [_state(value, most) for value in given]
    value = run()
    if not all(map(_is_as_before, given, before)):
        line: int = node.lineno  # type: ignore[attr-defined]
        raise _put_back(given, before, caller.compiled, request.function.name, line)
    return value


def _put_back(
    given: tuple[Any, ...], before: list[Any], compiled: Compiled, call: str, line: int
) -> NotSeparableError:
    """Give the arguments of a call that has changed them their states back; the error that says so."""
    for argument, state in zip(given, before, strict=True):
        _restore(argument, state)
    reason = f"{call} changes what it is given"
    return NotSeparableError(compiled, reason, "give it a copy, or let it return something new", line)


def _state(value: Any, most: float = inf) -> Any:
    """What tells whether a list, dict, set or array of at most so many entries has changed.

    None for what can't change, or isn't known.
    """
    kind = type(value)
    if kind in _UNWATCHED:
        return None
    if isinstance(value, np.ndarray):
        if value.size > most or not value.flags.writeable:
            return None
        return [*value.flat] if value.dtype == object else value.tobytes()
    if not isinstance(value, (list, tuple, dict, set, bytearray)) or len(value) > most:
        return None
    if isinstance(value, (list, tuple)):
        return [*value], _states(value, most)
    if isinstance(value, dict):
        parts = [*value.values()]
        return [*value], parts, _states(parts, most)
    return value.copy()


def _states(parts: Iterable[Any], most: float) -> list[Any] | None:
    """The states of what a container holds; None where it only holds what can't change."""
    return None if _UNWATCHED.issuperset(map(type, parts)) else [_state(part, most) for part in parts]


def _is_as_before(value: Any, state: Any) -> bool:
    """Whether a value has the state that it had."""
    if state is None:
        return True
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return all(map(is_, value.flat, state))
        return bool(value.tobytes() == state)
    if isinstance(value, (list, tuple)):
        parts, states = state
        same = len(value) == len(parts) and all(map(is_, value, parts))
        return same and (states is None or all(map(_is_as_before, value, states)))
    if isinstance(value, dict):
        keys, parts, states = state
        same = len(value) == len(keys) and all(map(is_, value, keys))
        same = same and all(map(is_, value.values(), parts))
        return same and (states is None or all(map(_is_as_before, parts, states)))
    if isinstance(value, set):
        return set(map(id, value)) == set(map(id, state))
    return bool(value == state)


def _restore(value: Any, state: Any) -> None:
    """Give a value the state back that it had."""
    if state is None:
        return
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            for i, part in enumerate(state):
                value.flat[i] = part
        else:
            value[...] = np.frombuffer(state, value.dtype).reshape(value.shape)
    elif isinstance(value, (list, tuple)):
        parts, states = state
        if isinstance(value, list):
            value[:] = parts
        for part, inner in zip(parts, states or (), strict=False):
            _restore(part, inner)
    elif isinstance(value, dict):
        keys, parts, states = state
        value.clear()
        value.update(zip(keys, parts, strict=True))
        for part, inner in zip(parts, states or (), strict=False):
            _restore(part, inner)
    elif isinstance(value, set):
        value.clear()
        value.update(state)
    else:
        value[:] = state


def or_whole(operation: _Operation) -> _Operation:
    """An operation of a program that is done again where a body is found that is to be executed whole.

    It then draws from its generator what it drew the first time: what is found may depend on the draws.
    """
    draws = "rng" in inspect.signature(operation).parameters

    @functools.wraps(operation)
    def done(self: Any, *args: Any, **kwargs: Any) -> Any:
        compiled = self.compiled
        if self.is_reference or not compiled.asks:
            try:
                return operation(self, *args, **kwargs)
            except RecursionError as error:
                raise too_deep(error, self.name) from None
        restore = _place_of(args, kwargs, draws)
        program = compiled.program
        try:
            result = operation(self, *args, **kwargs)
            if compiled.program is program:
                return result
        except NotSeparableError:
            pass
        except RecursionError as error:
            raise too_deep(error, self.name) from None
        except Exception:
            if compiled.program is program:
                raise  # if not, an `except:` of the body's own has caught what was found
        restore()
        return done(self, *args, **kwargs)

    return done  # type: ignore[return-value]


def edit_or_whole(edit: _Operation) -> _Operation:
    """The same of an edit of a trace, which is then done on that trace as the program runs now."""
    draws = inspect.signature(edit).parameters["rng"].annotation == "Rng"  # or a generator is given

    @functools.wraps(edit)
    def done(self: Any, *args: Any, **kwargs: Any) -> Any:
        compiled = self.gen_fn.compiled
        if not compiled.asks:
            try:
                return edit(self, *args, **kwargs)
            except RecursionError as error:
                raise too_deep(error, self.gen_fn.name) from None
        restore = _place_of(args, kwargs, draws)
        program = compiled.program
        try:
            result = edit(self, *args, **kwargs)
            if compiled.program is program:
                return result
        except NotSeparableError:
            pass
        except Exception:
            if compiled.program is program:
                raise
        restore()
        trace = self.gen_fn.score(self.args, {path: record[1] for path, record in self.records.items()})
        trace.observed_paths = frozenset(self.observed_paths)
        return getattr(trace, edit.__name__)(*args, **kwargs)

    return done  # type: ignore[return-value]


def _place_of(args: tuple[Any, ...], kwargs: dict[str, Any], draws: bool) -> Callable[[], None]:
    """What puts the generators among the arguments of an operation back to where they are now.

    An operation that draws and was given none gets one.
    """
    if draws and kwargs.get("rng") is None:
        kwargs["rng"] = np.random.default_rng()
    given = (v for v in (*args, *kwargs.values()) if isinstance(v, _GENERATORS))
    generators = [as_rng(v).bit_generator for v in given]
    states = [generator.state for generator in generators]

    def restore() -> None:
        for generator, state in zip(generators, states, strict=True):
            generator.state = state

    return restore
