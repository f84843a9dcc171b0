"""The types of values that programs are given, or find outside of themselves."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Hashable
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from gendsl.compiler.hir.encode import missing_of
from gendsl.compiler.hir.facts import MOST_ALTERNATIVES, Facts
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import (
    NEVER,
    TEXT,
    YES,
    Array,
    Dict,
    Iterator,
    Known,
    List,
    Number,
    Set,
    Tuple,
    Type,
    Unread,
)
from gendsl.interface import GenerativeFunction

LONGEST_TUPLE = 16
"""A tuple of more items than this is one of any length."""
MOST_FIELDS = 100
"""So many values under strings are told apart by their types."""
_INSTEAD = {
    "i": ": give array.astype(int)",
    "u": ": give array.astype(int)",
    "f": ": give array.astype(float)",
    "U": ": give array.tolist()",
    "O": ": give array.tolist()",
}
"""What is compiled in place of an array, by the kind of its type."""
NUMPYS: dict[type, str] = {np.float64: "f", np.int64: "i", np.bool_: "b"}
"""NumPy's numbers that are those of a text, and their kinds."""


def check_access(cls: Any) -> None:
    """Raise NotClosed for a class whose instances don't have the attributes that they were given."""
    if isinstance(getattr(cls, "__getattribute__", None), FunctionType):
        raise NotClosed(f"an instance of {cls.__name__}, which has a __getattribute__ of its own")


def type_of(facts: Facts, place: Hashable, value: Any, path: str = "") -> Type:
    """The type of a value that a program is given.

    Args:
        path: what the value is called in a message.

    Raises:
        NotClosed: it is of a type that programs can't be given, or a part of itself.
    """
    if id(value) in facts.looked_into:
        raise NotClosed("a value that is a part of itself")
    facts.looked_into.add(id(value))
    try:
        return _type_of(facts, place, value, path)
    finally:
        facts.looked_into.discard(id(value))


def _type_of(facts: Facts, place: Hashable, value: Any, path: str) -> Type:
    if isinstance(value, np.generic):
        if type(value) not in NUMPYS:
            raise NotClosed(f"a number of type {type(value).__name__}")
        return Number(NUMPYS[type(value)], YES)
    match value:
        case None | Enum():  # a member is one object, however it is come by
            return Known(value)
        case bool():
            return Number("b")
        case int() if type(value) is int:
            if not -(2**63) <= value < 2**63:
                raise NotClosed("an integer of more than 64 bits")
            return Number("i")
        case float() if type(value) is float:
            return Number("f")
        case str() if type(value) is str:
            return TEXT
        case range():
            return Iterator("range", (Number("i"),) * 3)
        case tuple() if type(value) is tuple and len(value) > LONGEST_TUPLE:
            return _list_type(facts, place, value, path)
        case tuple() if hasattr(value, "_fields"):
            items = tuple(one_of(facts, (place, i), one, f"{path}[{i}]") for i, one in enumerate(value))
            return Tuple(items, type(value), tuple(value._fields))
        case tuple() if type(value) is tuple:
            return Tuple(
                tuple(one_of(facts, (place, i), one, f"{path}[{i}]") for i, one in enumerate(value))
            )
        case list() if type(value) is list:
            return _list_type(facts, place, value, path)
        case dict() if type(value) is dict or missing_of(value) is not None:
            return _dict_type(facts, place, value, path)
        case set() | frozenset() if type(value) in (set, frozenset):
            site = facts.site(place)
            facts.grow_item(site, Known(None), "value")
            for item in value:
                facts.grow_item(site, type_of(facts, (place, "key"), item), "key")
            return Set(facts.find(site), True)
        case np.ndarray() if type(value) is np.ndarray:
            if value.dtype.type not in NUMPYS or not value.dtype.isnative or not 1 <= value.ndim <= 4:
                instead = _INSTEAD.get(value.dtype.kind, "") if 1 <= value.ndim <= 4 else ""
                raise NotClosed(
                    f"an array of {value.dtype} with {value.ndim} axes, where those of float64, int64 "
                    f"and bool with 1 to 4 are read{instead}"
                )
            return Array(NUMPYS[value.dtype.type], value.ndim, True)
    if isinstance(value, (type, FunctionType, MethodType, ModuleType, GenerativeFunction)) or callable(value):
        return Known(value)
    if isinstance(value, (int, float, str, bytes, list, tuple, dict, set, frozenset, np.ndarray)):
        raise NotClosed(f"a value of type {type(value).__name__}")
    if dataclasses.is_dataclass(value) or type(value).__module__ not in ("builtins",):
        attributes = _attributes(value)
        if attributes is not None:
            check_access(type(value))
            types = tuple(
                one_of(facts, (place, name), one, f"{path}.{name}") for name, one in attributes.items()
            )
            return Tuple(types, type(value), tuple(attributes))
    library = type(value).__module__.partition(".")[0]
    instead = ": give its columns as arrays, by to_numpy()" if library == "pandas" else ""
    raise NotClosed(f"a value of type {type(value).__name__}{instead}")


def _dict_type(facts: Facts, place: Hashable, value: dict[Any, Any], path: str) -> Type:
    """The type of a dict; of a few values of several types, under strings, each is known by itself.

    Where all are of one type there may be others under other keys later.
    """
    site, kinds, missing = facts.site(place), [], missing_of(value)
    may_be = 1 < len(value) <= MOST_FIELDS and all(type(key) is str for key in value) and missing is None
    for key, item in value.items():
        facts.grow_item(site, type_of(facts, (place, "key"), key), "key")
        at = (place, "value", key) if may_be else (place, "value")
        kinds.append(_part(facts, at, item, f"[{key!r}]", path))
    several = {_kept_apart(facts, kind) for kind in kinds}
    alternatives = {"number" if isinstance(one, Number) else one for one in several}
    is_record = may_be and len(several) > 1 and len(alternatives) <= MOST_ALTERNATIVES
    for key, kind in zip(value, kinds, strict=True):
        if is_record and isinstance(kind, (List, Dict)):
            facts.keep_apart(kind.site, _kept_apart(facts, kind))
        facts.grow_value(site, Known(key) if is_record else NEVER, kind)
    return Dict(facts.find(site), True, missing)


def _kept_apart(facts: Facts, kind: Type) -> Hashable:
    """What is the same of two values under strings that are of one type."""
    if isinstance(kind, List):
        return "list", facts.item(kind.site)
    return ("dict", kind.site) if isinstance(kind, Dict) else kind


def types_of_arguments(
    facts: Facts, program: GenerativeFunction, args: tuple[Any, ...], place: str = "argument", before: int = 0
) -> list[Type]:
    """The types of the arguments of a program that come behind so many others."""
    names = list(inspect.signature(program).parameters)[before:] if callable(program) else []
    names += map(str, range(before + len(names) + 1, before + len(args) + 1))
    return [
        one_of(facts, (place, i), arg, f"argument {name}")
        for i, (arg, name) in enumerate(zip(args, names, strict=False))
    ]


def one_of(facts: Facts, place: Hashable, value: Any, path: str) -> Type:
    """The type of one of several values, which a program need not look at."""
    try:
        return type_of(facts, place, value, path)
    except NotClosed as refusal:
        return Unread(f"{path}{refusal.part}: {refusal.reason}")


def _part(facts: Facts, place: Hashable, value: Any, name: str, path: str) -> Type:
    """The type of a part of a value; what is refused there is told with the name of the part."""
    try:
        return type_of(facts, place, value, path + name)
    except NotClosed as refusal:
        refusal.part = name + refusal.part
        raise


def _attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an instance of a class of the user's; None where they can't all be seen."""
    cls = type(value)
    if cls.__module__.partition(".")[0] in ("numpy", "scipy", "pandas", "builtins", "autograd"):
        return None
    slots = [name for base in cls.__mro__ for name in getattr(base, "__slots__", ()) if name != "__dict__"]
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    found.update(getattr(value, "__dict__", {}))
    return found


def _list_type(facts: Facts, place: Hashable, value: Any, path: str) -> Type:
    site = facts.site(place)
    facts.note_given(site, tuple if isinstance(value, tuple) else list)
    kinds = set(map(type, value))
    if kinds <= {bool, int, float}:  # the common case, without a look at each item
        for kind in kinds:
            facts.grow_item(site, {bool: Number("b"), int: Number("i"), float: Number("f")}[kind])
        if int in kinds and any(not -(2**63) <= one < 2**63 for one in value):
            raise NotClosed("an integer of more than 64 bits")
        return List(facts.find(site), True)
    for i, one in enumerate(value):
        facts.grow_item(site, _part(facts, (place, "item"), one, f"[{i}]", path))
    return List(facts.find(site), True)
