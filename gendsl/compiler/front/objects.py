"""Attributes of the user's classes and their instances, and what they are instances of."""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import instances, library_deque, outside
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Const
from gendsl.compiler.hir.facts import number_type
from gendsl.compiler.hir.types import (
    Array,
    Dict,
    Iterator,
    Known,
    List,
    Method,
    Number,
    Object,
    Set,
    Text,
    Tuple,
    Type,
    Union,
    describe,
    leaves,
    may_change,
)
from gendsl.compiler.hir.values import NOTHING, UNSET, Value, is_never, known, may_be_unset
from gendsl.distributions.support_texts import CONTAINS


@dataclass(frozen=True, slots=True, eq=False)
class Building(Type):
    """An instance whose `__init__` is being lowered: its attributes are variables of that activation."""

    cls: Any
    frame: Frame


@dataclass(frozen=True, slots=True)
class Token:
    """Names the attributes of an instance that is being made."""

    building: Building


def remembered(frame: Frame, value: Value) -> Value:
    """The result of a function that remembers its results: what it gives again must not change."""
    match value.type:
        case List() | Dict() | Set() | Array():
            return Value(dataclasses.replace(value.type, frozen=True), value.leaves)
    if "r" in leaves(value.type):
        raise frame.not_closed("a function that remembers results which may change")
    return value


def widened(type: Type) -> Type:
    match type:
        case Text():
            return Text(None, type.members)
        case Known(value=bool() | int() | float()):
            return number_type(type) or type
        case Tuple(items, cls, names):
            return Tuple(tuple(map(widened, items)), cls, names)
        case Known(value=tuple() as items) if items and all(isinstance(i, (int, float)) for i in items):
            return Tuple(tuple(widened(Known(item)) for item in items))
    return type


def plain(type: Type) -> Type:
    """A type with Python's numbers in place of NumPy's, for functions of gendsl's, to which they are one."""
    match type:
        case Number(kind):
            return Number(kind)
        case Tuple(items, cls, names) if cls is tuple or str(cls.__module__).startswith("gendsl."):
            return Tuple(tuple(map(plain, items)), cls, names)
    return type


def object_layout(frame: Frame, site: int, cls: type) -> tuple[str, ...]:
    """The kinds of the leaves of the attributes of an object."""
    facts = frame.program.facts
    return tuple(kind for name in frame.program.object_fields(cls) for kind in leaves(facts.item(site, name)))


def object_attribute(frame: Frame, value: Value, name: str) -> Value:
    """`value.name` of an object with attributes that change."""
    assert isinstance(value.type, Object)
    names = frame.program.object_fields(value.type.cls)
    if name not in names:
        return class_attribute(frame, value, value.type.cls, name)
    facts, site = frame.program.facts, value.type.site
    if is_never(Value(facts.item(site, name))):
        return NOTHING
    layout = object_layout(frame, site, value.type.cls)
    targets = [frame.fresh(name, kind) for kind in layout]
    if targets:
        frame.emit(hir.Load(list(targets), value.leaf, layout, Const(0, "i")))
    start = sum(len(leaves(facts.item(site, other))) for other in names[: names.index(name)])
    kind = facts.item(site, name)
    return set_or_of_class(frame, value, Value(kind, tuple(targets[start : start + len(leaves(kind))])), name)


def set_or_of_class(frame: Frame, value: Value, found: Value, name: str) -> Value:
    """An attribute of an instance that may not be set: it is then what the class has, if it has one."""
    cls = value.type.cls  # type: ignore[attr-defined]
    if not may_be_unset(found):
        return found
    if hasattr(cls, name):
        unset = known(UNSET).type
        return frame.switch(
            found, lambda one: class_attribute(frame, value, cls, name) if one.type == unset else one
        )
    instances.check_missing(cls, name)
    frame.env[".attribute"] = found
    frame.locals.add(".attribute")
    result = frame.look_up(".attribute")
    frame.env.pop(".attribute", None)
    assert result is not None
    return result


def assign_attribute(frame: Frame, owner: Value, name: str, value: Value) -> None:
    """`owner.name = value`."""
    facts = frame.program.facts
    if is_never(owner) or is_never(value):
        return
    if isinstance(owner.type, (Building, Tuple, Object)) and owner.type.cls is not tuple:
        setter = instances.setter(owner.type.cls, name)
        if setter is not None:
            frame.program.noted(owner.type.cls, name)
            frame.language.call_function(frame, setter, [owner, value], {})
            return
    match owner.type:
        case Building():
            if owner.type.frame is not frame:
                raise frame.not_closed(
                    "an attribute that is set outside of __init__ while the object is made"
                )
            frame.bind((Token(owner.type), name), value)
            return
        case Union():
            frame.each_alternative(owner, lambda one: assign_attribute(frame, one, name, value))
            return
        case Tuple(cls=cls) if cls is not tuple:
            facts.flag(("changes", cls))
            frame.program.object_fields(cls, name)
            return
        case Object(site, cls):
            frame.program.object_fields(cls, name)
            facts.grow_item(site, value.type, name)
            names, layout = frame.program.object_fields(cls), object_layout(frame, site, cls)
            old = [frame.fresh("t", kind) for kind in layout]
            frame.emit(hir.Load(list(old), owner.leaf, layout, Const(0, "i")))
            start = sum(len(leaves(facts.item(site, other))) for other in names[: names.index(name)])
            new = facts.convert(value, facts.item(site, name))
            frame.emit(
                hir.Store(owner.leaf, layout, Const(0, "i"), (*old[:start], *new, *old[start + len(new) :]))
            )
            return
    raise frame.not_closed(f"an attribute of {describe(owner.type)} is set")


def building_attribute(frame: Frame, value: Value, name: str) -> Value | None:
    """`self.name` in `__init__`."""
    if not isinstance(value.type, Building):
        return None
    key = (Token(value.type), name)
    found = value.type.frame.env.get(key)
    if found is not None:
        return set_or_of_class(frame, value, found, name)
    return class_attribute(frame, value, value.type.cls, name)


def class_attribute(frame: Frame, value: Value, cls: type, name: str) -> Value:
    """An attribute that an instance has from its class: a method, a property or a constant."""
    try:
        raw = CONTAINS.get(cls) if name == "contains" else None
        raw = raw or inspect.getattr_static(cls, name)
    except AttributeError:
        instances.check_missing(cls, name)
        if ("changes", cls) in frame.program.facts.flags or isinstance(value.type, Building):
            frame.fail(f"{cls.__name__} has no attribute {name}")
            return NOTHING
        frame.emit(hir.Fail(f"{cls.__name__} has no attribute {name}"))
        return NOTHING
    program = frame.program
    if name == "__class__":
        return known(cls)
    if not isinstance(raw, _UNDERSTOOD) and not program.is_generative(raw):
        instances.check_found(cls, name, raw)
    found = program.noted(cls, name) if hasattr(cls, name) else None
    match raw:
        case property():
            return frame.language.call_function(frame, raw.fget, [value], {})  # type: ignore[arg-type]
        case functools.cached_property():
            if isinstance(value.type, Building) or may_change(value.type):
                raise frame.not_closed("a property that is computed once, of an object that may change")
            return remembered(frame, frame.language.call_function(frame, raw.func, [value], {}))  # type: ignore[arg-type]
        case FunctionType():
            return Value(Method(value.type, raw), value.leaves)
        case staticmethod():
            return known(raw.__func__)
        case classmethod():
            return known(found)
    if program.is_generative(raw):
        return Value(Method(value.type, raw), value.leaves)
    return outside.constant(frame, getattr(cls, name))


_UNDERSTOOD = (property, functools.cached_property, FunctionType, staticmethod, classmethod)
"""What of a class it is known of what its instances make of it."""


def classes_of(type_: Type) -> list[type]:
    """The classes that a number or a string may be of."""
    if isinstance(type_, Text):
        return [str, *type_.members]
    assert isinstance(type_, Number)
    kinds = "bif"[: "bif".index(type_.kind) + 1] if type_.mixed else type_.kind
    python: dict[str, type] = {"f": float, "i": int, "b": bool}
    other: dict[str, type] = {"f": np.float64, "i": np.int64, "b": np.bool_}
    array: dict[str, type] = dict.fromkeys("bif", np.ndarray)
    every: tuple[list[dict[str, type]], ...] = (
        [python], [python, other], [other], [array], [python, other, array],
    )  # fmt: skip
    return [*type_.members, *(table[kind] for kind in kinds for table in every[type_.numpy])]


def named_classes(type_: Type) -> str:
    """What a value may be an instance of, as a message shows it."""
    if not isinstance(type_, (Number, Text)):
        return describe(type_)
    return " or ".join(dict.fromkeys(one.__name__ for one in classes_of(type_)))


def is_instance(frame: Frame, type_: Type, classes: Any) -> bool | None:
    """Whether a value of a type is an instance of classes; None where that is not known."""
    every = classes if isinstance(classes, tuple) else (classes,)
    match type_:
        case Known(value=found):
            return isinstance(found, classes)
        case Number():
            wanted = {issubclass(one, classes) for one in classes_of(type_)}
            return wanted.pop() if len(wanted) == 1 else None
        case Tuple(cls=cls) | Object(cls=cls) | Building(cls=cls):
            cls = collections.deque if cls is library_deque.Deque else cls
            return any(issubclass(cls, one) for one in every)
        case List(site):
            sequence = frame.program.facts.sequence(site)
            if sequence is None:
                raise frame.not_closed("a value that is a list or a tuple")
            return any(issubclass(sequence, one) for one in every)
        case Dict():
            return any(issubclass(type_.own_class, one) for one in every)
        case Set():
            found = {any(issubclass(kind, one) for one in every) for kind in (set, frozenset)}
            return found.pop() if len(found) == 1 else None
        case Array():
            return any(issubclass(np.ndarray, one) for one in every)
        case Iterator("range"):
            return any(issubclass(range, one) for one in every)
        case Text():
            found = {issubclass(one, classes) for one in classes_of(type_)}
            return found.pop() if len(found) == 1 else None
    return None
