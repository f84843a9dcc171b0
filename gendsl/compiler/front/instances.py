"""Comparisons of instances: by the methods of their classes, the fields of dataclasses, or as objects."""

from __future__ import annotations

import dataclasses
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.values import Value
from gendsl.compiler.hir import Expr, Op
from gendsl.compiler.types import Object, Tuple

_REFLECTED = {"lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__"}


def _class_of(value: Value) -> type | None:
    """The class of an instance that is no tuple; None for any other value."""
    if not isinstance(value.type, (Tuple, Object)):
        return None
    cls = value.type.cls
    return cls if isinstance(cls, type) and not issubclass(cls, tuple) else None


def _written(cls: type | None, name: str) -> bool:
    """Whether a class has a method that is written in Python, by the user."""
    method = getattr(cls, name, None)
    return isinstance(method, FunctionType) and method.__code__.co_filename != "<string>"


def _answer(frame: Frame, found: Value, cls: Any) -> Value:
    if getattr(found.type, "value", None) is NotImplemented:
        raise frame.not_closed(f"a comparison of a {cls.__name__} that is not implemented")
    return found


def ordered(frame: Frame, name: str, a: Value, b: Value) -> Value | None:
    """A comparison by `__lt__` and the like; None where neither class has it."""
    from gendsl.compiler.front import calls

    first, second = _class_of(a), _class_of(b)
    if first is not second and None not in (first, second):
        return None
    if _written(first, f"__{name}__"):
        return _answer(frame, calls.call_method(frame, a, f"__{name}__", [b]), first)
    if _written(second, _REFLECTED[name]):
        return _answer(frame, calls.call_method(frame, b, _REFLECTED[name], [a]), second)
    return None


def equal(frame: Frame, a: Value, b: Value) -> Expr | None:
    """Whether two instances are equal; None where that is not known of their classes."""
    from gendsl.compiler.front import calls, numbers

    first, second = _class_of(a), _class_of(b)
    if first is None or "__ne__" in vars(first):
        return None
    if _written(first, "__eq__"):
        return numbers.truth(frame, _answer(frame, calls.call_method(frame, a, "__eq__", [b]), first))
    if second is not first:
        return None
    if getattr(first, "__eq__", None) is getattr(object, "__eq__", None):
        both = isinstance(a.type, Object) and isinstance(b.type, Object)
        return Op("same", (a.leaf, b.leaf), "b") if both else None
    if not dataclasses.is_dataclass(first) or "__eq__" not in vars(first):
        return None
    from gendsl.compiler.front.expressions import attribute

    result: Expr = hir.TRUE
    for one in dataclasses.fields(first):
        if one.compare:
            mine, theirs = (frame.atoms(attribute(frame, value, one.name)) for value in (a, b))
            result = numbers.both(result, frame.atom(numbers.equal(frame, mine, theirs)))
    return result
