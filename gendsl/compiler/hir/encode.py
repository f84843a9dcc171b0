"""Values as the leaves that a text takes: Python objects for Python text, words of 64 bits for machine
code.
"""

from __future__ import annotations

import builtins
import struct
from collections import Counter, defaultdict
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.compiler.hir.facts import Facts, TextColumn
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.machine import LANES
from gendsl.compiler.hir.operations import bits, mix
from gendsl.compiler.hir.types import (
    NO,
    Array,
    Dict,
    Iterator,
    Known,
    List,
    Never,
    Number,
    Set,
    Text,
    Tuple,
    Type,
    Union,
    Unread,
    leaves,
)

_REALS = {bool, int, float, np.float64}
"""The types of what a list of floats may have."""


def room(count: int) -> np.ndarray:
    """Words, all 0, behind which there are some more: vectors are read whole where they end."""
    return np.zeros(count + LANES, np.int64)[:count]


def flat(facts: Facts, value: Any, type: Type) -> list[Any]:
    """The leaves of a value, for Python text: a list for each reference.

    Raises:
        NotClosed: the value is not of this type.
    """
    type = facts.canonical(type)
    if isinstance(value, TextColumn):
        facts.fill_columns()
        return [value.values]
    if isinstance(value, np.generic):
        if isinstance(type, Number) and type.numpy == NO and not isinstance(value, np.float64):
            raise NotClosed("a number of NumPy's where there was one of Python's")
        value = value.item()
    match type:
        case Unread():
            return []
        case Known(value=known):
            if value is not known and not _is_same(value, known):
                raise NotClosed("a value that is not the one that the text was made for")
            return []
        case Number(kind):
            if not isinstance(value, (bool, int, float)) or "bif".index(_kind(value)) > "bif".index(kind):
                raise NotClosed("a value of another type than before")
            return [_number(kind, value)]
        case Iterator("range") if isinstance(value, range):
            return [value.start, value.stop, value.step]
        case Text() if isinstance(value, str):
            return [facts.text_number(value)]
        case Tuple(items, cls, names):
            if cls is tuple or not names:
                if not isinstance(value, tuple) or len(value) != len(items):
                    raise NotClosed("a tuple of another length than before")
                parts = list(value)
            elif builtins.type(value) is not cls or not all(hasattr(value, name) for name in names):
                raise NotClosed(f"something else where there was an instance of {cls.__name__}")
            else:
                parts = [getattr(value, name) for name in names]
            return [leaf for part, item in zip(parts, items, strict=True) for leaf in flat(facts, part, item)]
        case List(site):
            sequence = facts.sequence(site)
            if sequence is not None and value.__class__ is not sequence:
                raise NotClosed("a list where there was a tuple, or a tuple where there was a list")
            item = facts.item(site)
            if item == Number("f"):
                if not set(map(builtins.type, value)) <= _REALS:
                    raise NotClosed("a value of another type than before")
                try:
                    return [list(map(float, value))]
                except OverflowError:
                    raise NotClosed("an integer that is no float") from None
            if isinstance(item, Number):
                return [[flat(facts, one, item)[0] for one in value]]
            return [[_item(flat(facts, one, item)) for one in value]]
        case Dict(site, missing=missing) if isinstance(value, dict) and missing_of(value) is missing:
            key, item = facts.item(site, "key"), facts.item(site, "value")
            if not facts.knows_keys(site):
                return [_table(facts, value, key, lambda _, one: flat(facts, one, item))]
            _check_fields(facts, value, site)
            under = {name: facts.value_under(site, Known(name)) for name in value}
            return [_table(facts, value, key, lambda name, one: _field(facts, one, under[name], item))]
        case Set(site) if isinstance(value, (set, frozenset)):
            return [_table(facts, dict.fromkeys(value), facts.item(site, "key"), lambda *_: [])]
        case Array(kind=kind):
            dtype = {"f": np.float64, "i": np.int64, "b": np.bool_}[kind]
            if not isinstance(value, np.ndarray) or value.dtype.type is not dtype or value.ndim != type.rank:
                raise NotClosed("a value of another type than before")
            array = np.ascontiguousarray(value)
            strides = [step // array.itemsize for step in array.strides]
            return [array.ravel().tolist(), 0, *array.shape, *strides]
        case Union(alternatives):
            for tag, alternative in enumerate(alternatives):
                try:
                    found = flat(facts, value, alternative)
                except (NotClosed, TypeError, AttributeError):
                    continue
                return _of_union(type, tag, found)
    raise NotClosed("a value that a text can't be given")


def missing_of(value: Any) -> Any:
    """What a `defaultdict` calls for a key that it doesn't have, or `Counter`; None for anything else."""
    if type(value) is Counter:
        return Counter
    return value.default_factory if type(value) is defaultdict else None


def _is_same(value: Any, known: Any) -> bool:
    """Whether a value is a constant, or nobody can tell it from it: a user's class may call two of them equal
    that are not.
    """
    own = type(value).__eq__
    users = isinstance(own, FunctionType) and not type(value).__module__.startswith("gendsl.")
    return type(value) is type(known) and not users and not isinstance(value, np.ndarray) and value == known


def _of_union(type: Union, tag: int, found: list[Any]) -> list[Any]:
    """The leaves of a union for those of one of its alternatives."""
    result: list[Any] = [tag]
    for i, other in enumerate(type.alternatives):
        zeros = [{"f": 0.0, "i": 0, "b": False, "r": None}[kind] for kind in leaves(other)]
        result += found if i == tag else zeros
    return result


def _field(facts: Facts, value: Any, under: Type, item: Type) -> list[Any]:
    """The leaves of a value of a dict for what is known to lie under its key."""
    if isinstance(item, Union) and isinstance(under, (List, Dict)):
        return _of_union(item, facts.alternative(under, item), flat(facts, value, under))
    return flat(facts, value, item)


def _check_fields(facts: Facts, value: dict[Any, Any], site: int) -> None:
    """Refuse a dict with other keys, or something of another type under one, than a text was made for."""
    for key, one in value.items():
        under = facts.value_under(site, Known(key))
        every = under.alternatives if isinstance(under, Union) else (under,)
        if not any(_may_be(one, facts.canonical(kind)) for kind in every):
            raise NotClosed(f"another value under {key!r} than before")


def _may_be(value: Any, type: Type) -> bool:
    """Whether a value may be of a type, as far as its own tells without a look into it."""
    match type:
        case Never():
            return False
        case Number(kind):
            value = value.item() if isinstance(value, np.generic) else value
            is_number = isinstance(value, (bool, int, float))
            return is_number and "bif".index(_kind(value)) <= "bif".index(kind)
        case Array(kind, rank):
            return isinstance(value, np.ndarray) and value.dtype.kind == kind and value.ndim == rank
        case Text():
            return isinstance(value, str)
        case Dict(missing=missing):
            return isinstance(value, dict) and missing_of(value) is missing
        case List():
            return isinstance(value, (list, tuple))
    return True


def _number(kind: str, value: Any) -> Any:
    """A number as one of a kind."""
    if kind == "i" and not -(2**63) <= value < 2**63:
        raise NotClosed("an integer of more than 64 bits")
    try:
        return {"f": float, "i": int, "b": bool}[kind](value)
    except OverflowError:
        raise NotClosed("an integer that is no float") from None


def _kind(value: Any) -> str:
    return "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "f"


def _item(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else tuple(parts)


def _table(
    facts: Facts, value: dict[Any, Any], key: Type, leaves_of: Callable[[Any, Any], list[Any]]
) -> list[Any]:
    size = 8
    while size < 2 * len(value) + 1:
        size *= 4
    entries, table = [], [-1] * size
    for position, (one, kept) in enumerate(value.items()):
        leaves_ = flat(facts, one, key)
        entries.append(_item([*leaves_, *leaves_of(one, kept)]))
        h = 0
        for leaf in leaves_:
            h = mix(h, bits(leaf) if isinstance(leaf, float) else int(leaf))
        place = h & (size - 1)
        while table[place] >= 0:
            place = (place + 1) & (size - 1)
        table[place] = position
    return [(entries, table)]


def with_tangents(value: Any, layout: tuple[Any, ...]) -> Any:
    """A list of Python text with no tangents behind each float."""
    if not isinstance(value, list) or not layout:
        return value
    if len(layout) == 1:
        kind, inner = layout[0]
        if kind == "f":
            return [(one, []) for one in value]
        return [with_tangents(one, inner) for one in value] if kind == "r" else value
    return [
        tuple(
            part
            for leaf, (kind, inner) in zip(item, layout, strict=True)
            for part in ((leaf, []) if kind == "f" else (with_tangents(leaf, inner),))
        )
        for item in value
    ]


def tangent_layout(layout: tuple[Any, ...]) -> tuple[Any, ...]:
    """The layout of a list with the tangents behind each float."""
    floats = (("f", ()), ("r", (("i", ()), ("f", ()))))
    return tuple(
        one for kind, inner in layout for one in (floats if kind == "f" else ((kind, tangent_layout(inner)),))
    )


# --- words -----------------------------------------------------------------------------------------


class Words:
    """Leaves of Python text as words, with the memory that the references among them point into."""

    def __init__(self) -> None:
        self.memory: list[np.ndarray] = []

    def word(self, leaf: Any, kind: str, type_layout: tuple[Any, ...] = ()) -> int:
        """A leaf as a word."""
        if kind == "f":
            return int(struct.unpack("<q", struct.pack("<d", float(leaf)))[0])
        if kind in "ib":
            return int(leaf)
        return 0 if leaf is None else self.list(leaf, type_layout)

    def list(self, items: list[Any], layout: tuple[Any, ...]) -> int:
        """The address of a list; `layout` has for each leaf its kind, and for a reference the layout behind
        it.
        """
        width = len(layout)
        if width == 1 and layout[0][0] in "fib":
            dtype = np.float64 if layout[0][0] == "f" else np.int64
            data = room(len(items))
            data[:] = np.array(items, dtype=dtype).view(np.int64)
        else:
            data = room(len(items) * width)
            for i, item in enumerate(items):
                parts = (item,) if width == 1 else item
                for j, (leaf, (kind, inner)) in enumerate(zip(parts, layout, strict=True)):
                    data[i * width + j] = self.word(leaf, kind, inner)
        header = np.array([len(items), len(items), data.ctypes.data], np.int64)
        self.memory += [data, header]
        return int(header.ctypes.data)


def deep_layout(facts: Facts, type: Type, depth: int = 0) -> list[tuple[str, tuple[Any, ...]]]:
    """For each leaf of a type its kind, and for a reference the layout of what it refers to."""
    type = facts.canonical(type)
    if depth > 12:
        raise NotClosed("data that is nested too deeply")
    match type:
        case List(site):
            return [("r", tuple(deep_layout(facts, facts.item(site), depth + 1)))]
        case Dict(site) | Set(site):
            entry = [
                *deep_layout(facts, facts.item(site, "key"), depth + 1),
                *deep_layout(facts, facts.item(site, "value"), depth + 1),
            ]
            return [("r", (("r", tuple(entry)), ("r", (("i", ()),))))]
        case Array(kind=kind, rank=rank):
            return [("r", ((kind, ()),)), ("i", ()), *[("i", ())] * (2 * rank)]
        case Tuple(items) | Union(items):
            inner = [leaf for item in items for leaf in deep_layout(facts, item, depth + 1)]
            return [("i", ()), *inner] if isinstance(type, Union) else inner
    return [(kind, ()) for kind in leaves(type)]
