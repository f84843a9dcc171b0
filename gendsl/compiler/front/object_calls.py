"""Python's functions of types and attributes, texts of values, and decorators."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
from typing import Any

import numpy as np

from gendsl.compiler.front import lists, objects, texts
from gendsl.compiler.front.frame import Frame, only
from gendsl.compiler.front.numbers import Handler, is_plain_tuple
from gendsl.compiler.hir.types import (
    Array,
    Closure,
    Dict,
    Known,
    List,
    Number,
    Set,
    Text,
    Tuple,
    Union,
    describe,
)
from gendsl.compiler.hir.values import NOTHING, Value, is_known, items_of, known, may_be_unset, object_of

_ANY_NUMBER = object()
"""The type of a number that may be Python's or NumPy's."""


def _str(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    only(frame, named)
    return texts.of(frame, args)


def _isinstance(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value, classes = args
    if isinstance(classes.type, Tuple) or not is_known(classes):
        raise frame.not_closed("isinstance with classes that are not constants")
    wanted = object_of(classes)
    try:
        isinstance(None, wanted)
    except TypeError:
        frame.fail("isinstance with what is no class")
        return NOTHING

    def one(value: Value) -> Value:
        found = objects.is_instance(frame, value.type, wanted)
        if found is None:
            raise frame.not_closed(f"isinstance of what may be of type {objects.named_classes(value.type)}")
        return known(found)

    return frame.switch(value, one)


def _type(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    match value.type:
        case Known(value=found):
            return known(type(found))
        case Tuple(cls=cls):
            return known(cls)
        case List():
            return known(lists.sequence_of(frame, value))
        case Dict():
            return known(value.type.own_class)
        case Array():
            return known(np.ndarray)
        case Number() | Union() if str(getattr(frame.function, "__module__", "")).startswith("gendsl."):
            return known(_ANY_NUMBER)  # gendsl's own code asks only in order to skip a check
        case Number() if len(objects.classes_of(value.type)) == 1:
            return known(objects.classes_of(value.type)[0])
    raise frame.not_closed(f"type() of {describe(value.type)}")


def _found(frame: Frame, found: Any, name: str) -> bool:
    """Whether an object of outside has an attribute; that it has none is noted."""
    has = hasattr(found, name)
    if not has:
        frame.program.noted_absent(found, name)
    return has


def _has(frame: Frame, value: Value, name: Any) -> bool:
    """Whether a value has an attribute, where that is known of its type."""
    match value.type:
        case Known(value=found):
            return _found(frame, found, name)
        case Array():
            return hasattr(np.ndarray, name)
        case Dict():
            return hasattr(value.type.own_class, name)
        case List() | Tuple(cls=builtins.tuple):
            return hasattr({List: list, Tuple: tuple}[type(value.type)], name)
        case Tuple(cls=cls, names=names) if isinstance(cls, type) and not hasattr(cls, "__getattr__"):
            if _found(frame, cls, name):
                return True
            if name in names and may_be_unset(items_of(value)[names.index(name)]):
                raise frame.not_closed(f"whether {name} of {cls.__name__} is set, as it is in some cases")
            return name in names
    raise frame.not_closed(f"whether {describe(value.type)} has an attribute")


def _hasattr(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if len(args) != 2 or not is_known(args[1]):
        raise frame.not_closed("hasattr of a name that is not a constant")
    return frame.switch(args[0], lambda one: known(_has(frame, one, object_of(args[1]))))


def _getattr(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if not 2 <= len(args) <= 3 or not is_known(args[1]):
        raise frame.not_closed("getattr of a name that is not a constant")
    if len(args) == 3 and not _has(frame, args[0], object_of(args[1])):
        return args[2]
    return frame.language.attribute(frame, args[0], object_of(args[1]))


def _replace(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`dataclasses.replace(instance, ...)`: another instance, made with the fields of this one."""
    def of(one: Value) -> Value:
        cls = getattr(one.type, "cls", None)
        if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
            raise frame.not_closed(f"dataclasses.replace of {describe(one.type)}")
        fields = {field.name: field for field in dataclasses.fields(cls)}
        if any(name not in fields or not fields[name].init for name in named):
            frame.fail("dataclasses.replace of what is no field")
            return NOTHING
        given = {
            name: named[name] if name in named else frame.atoms(frame.language.attribute(frame, one, name))
            for name, field in fields.items()
            if field.init
        }
        return frame.language.construct(frame, cls, [], given)

    if len(args) != 1:
        raise frame.not_closed("dataclasses.replace with these arguments")
    return frame.switch(args[0], of)


def _cache(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`functools.cache` and `functools.lru_cache`, as decorators of nested functions."""
    if not args or (len(args) == 1 and is_known(args[0]) and not callable(object_of(args[0]))):
        return known(functools.cache)
    (function,) = args
    if not isinstance(function.type, Closure) or function.type.defaults or named:
        raise frame.not_closed("a cache of what is no nested function")
    return Value(dataclasses.replace(function.type, remembers=True), function.leaves)


def _wraps(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`functools.wraps(function)`, a decorator that changes names only."""
    return known(_unchanged)


def _unchanged(function: Any) -> Any:
    return function


def _first(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    return args[0]


def _copy(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`copy.copy(value)` of a container, or of what never changes."""
    value = frame.opened(args[0])
    match value.type:
        case Union():
            return frame.switch(value, lambda one: _copy(frame, [one], named))
        case Number() | Text() | Known(value=bool() | int() | float() | str() | tuple() | None):
            return value
        case Tuple() if is_plain_tuple(value.type):
            return value
        case List() | Dict() | Set() | Array():
            return frame.language.call_method(frame, value, "copy", [])
    raise frame.not_closed(f"a copy of {describe(value.type)}")


OBJECTS: dict[Any, Handler] = {
    isinstance: _isinstance, type: _type, str: _str, getattr: _getattr, hasattr: _hasattr,
    dataclasses.replace: _replace, functools.cache: _cache, functools.lru_cache: _cache,
    functools.wraps: _wraps, _unchanged: _first, copy.copy: _copy,
}  # fmt: skip
