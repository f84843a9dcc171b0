"""How values of Python lie in the words of a row, where functions of a trace are recorded by machine code.

    number: itself | string: its number | constant: nothing | tuple: its items
    one of several types: which | the words of each
    list: how many items | room for some | array: its lengths | room for some entries

Each kind gives back exactly the values that the function itself returns, of the same types; there is none for
types of which that is not sure.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from gendsl.compiler.hir.decode import typed
from gendsl.compiler.hir.facts import Facts
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import (
    NO,
    YES,
    Array,
    Known,
    List,
    Never,
    Number,
    Text,
    Tuple,
    Type,
    Union,
    describe,
)

_CONSTANTS = (bool, int, float, str, bytes, type(None))
"""Types of constants that stay what they are."""

Rows = np.ndarray
"""Words, of the shape (rows, words of a row)."""


class Kind(ABC):
    """What values are of.

    Attributes:
        fixed: how many words there are besides those that there is room for.
        widths: of each list or array how many words an item takes.
    """

    fixed: int
    widths: list[int]

    @abstractmethod
    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        """The value in each row.

        Args:
            at: the word that it begins with.
            rooms: how many items there is room for, of each list or array.
        """

    def size(self, rooms: Sequence[int]) -> int:
        """How many words it takes where there is so much room."""
        return self.fixed + sum(width * room for width, room in zip(self.widths, rooms, strict=True))


@dataclass(frozen=True)
class Constant(Kind):
    """A constant."""

    value: Any
    fixed = 0
    widths = []  # noqa: RUF012

    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        return [self.value] * len(rows)


@dataclass(frozen=True)
class Scalar(Kind):
    """A number, of Python's or of NumPy's."""

    kind: str
    is_numpy: bool
    fixed = 1
    widths = []  # noqa: RUF012

    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        numbers = typed(rows[:, at], self.kind)
        return list(numbers) if self.is_numpy else numbers.tolist()


@dataclass(frozen=True)
class String(Kind):
    """A string, by its number in the table of the text."""

    facts: Facts
    fixed = 1
    widths = []  # noqa: RUF012

    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        by_number = {number: text for text, number in self.facts.texts.items()}
        return [by_number[number] for number in rows[:, at].tolist()]


class Items(Kind):
    """A tuple."""

    def __init__(self, items: Sequence[Kind]) -> None:
        self.items = items
        self.fixed = sum(item.fixed for item in items)
        self.widths = [width for item in items for width in item.widths]

    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        columns = []
        for item in self.items:
            own = [next(rooms) for _ in item.widths]
            columns.append(item.take(rows, at, iter(own)))
            at += item.size(own)
        return list(zip(*columns, strict=True)) if columns else [()] * len(rows)


class Either(Kind):
    """A value of one of several types."""

    def __init__(self, alternatives: Sequence[Kind]) -> None:
        self.alternatives = alternatives
        self.fixed = 1 + sum(one.fixed for one in alternatives)
        self.widths = [width for one in alternatives for width in one.widths]

    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        tags, found = rows[:, at], np.empty(len(rows), object)
        at += 1
        for tag, one in enumerate(self.alternatives):
            own = [next(rooms) for _ in one.widths]
            places = np.flatnonzero(tags == tag)
            for place, value in zip(places.tolist(), one.take(rows[places], at, iter(own)), strict=True):
                found[place] = value
            at += one.size(own)
        return list(found)


class Sequences(Kind):
    """A list, or a tuple whose length is known only when the text runs."""

    def __init__(self, item: Kind, cls: type) -> None:
        self.item, self.cls = item, cls
        self.fixed, self.widths = 1, [item.fixed]

    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        room, width, counts = next(rooms), self.item.fixed, rows[:, at]
        every = rows[:, at + 1 : at + 1 + room * width].reshape(len(rows), room, width)
        items = self.item.take(every[np.arange(room) < counts[:, None]], 0, iter(()))
        ends = np.cumsum(counts).tolist()
        return [self.cls(items[begin:end]) for begin, end in pairwise([0, *ends])]


class Grid(Kind):
    """An array."""

    def __init__(self, kind: str, rank: int) -> None:
        self.kind, self.rank = kind, rank
        self.fixed, self.widths = rank, [1]

    def take(self, rows: Rows, at: int, rooms: Iterator[int]) -> list[Any]:
        first = at + self.rank
        numbers = typed(rows[:, first : first + next(rooms)], self.kind)
        shapes = map(tuple, rows[:, at:first].tolist())
        return [
            row[: math.prod(shape)].reshape(shape).copy() for row, shape in zip(numbers, shapes, strict=True)
        ]


def kind_of(facts: Facts, type: Type) -> Kind:
    """How values of a type lie in rows.

    Raises:
        NotClosed: they would not be given back as what they are.
    """
    match facts.canonical(type):
        case Known(value) if _is_constant(value):
            return Constant(value)
        case Number(members=members) | Text(members=members) if members:
            raise NotClosed("a value that may be a member of an enumeration: make it int(...), or str(...)")
        case Number(mixed=True):
            raise NotClosed("a number that is now an int or a bool, now another kind: make it float(...)")
        case Number(kind, numpy) if numpy in (NO, YES):
            return Scalar(kind, numpy == YES)
        case Number():
            raise NotClosed("a number that may be one of Python's or of NumPy's: make it float(...)")
        case Text():
            return String(facts)
        case Tuple(items, cls) if cls is tuple:
            return Items([kind_of(facts, item) for item in items])
        case Union(alternatives):
            return Either([kind_of(facts, one) for one in alternatives])
        case Array(kind, rank):
            return Grid(kind, rank)
        case List(site):
            made, cls = facts.item(site), facts.sequence(site)
            if cls is None:
                raise NotClosed("a list or a tuple, of which the text does not know which")
            item: Kind = Constant(None) if isinstance(made, Never) else kind_of(facts, made)
            if item.widths:
                raise NotClosed("a list of lists or arrays")
            return Sequences(item, cls)
        case other:
            raise NotClosed(f"a value of type {describe(other)}")


def _is_constant(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return type(value) in _CONSTANTS


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are of the same types, and have the same bits but for those of what is no number."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and is_same(one.tolist(), other.tolist())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, float):
        return (one != one and other != other) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    return bool(one == other)
