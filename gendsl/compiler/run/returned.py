"""What a program returned, from the words that machine code leaves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gendsl.compiler.hir.decode import from_words, typed
from gendsl.compiler.hir.facts import Facts
from gendsl.compiler.hir.types import YES, Array, Known, List, Never, Number, Text, Tuple, Type, Union, leaves
from gendsl.compiler.llvm.recorded_values import kind_of

Reader = Callable[[Iterator[int]], Any]
"""What makes a value of its leaves, which are the next words."""


def reader(facts: Facts, type: Type) -> Reader:
    """What reads values of a type.

    Raises:
        NotClosed: they would not be given back as what they are.
    """
    match facts.canonical(type):
        case Tuple(items, cls) if cls is tuple:
            readers = [reader(facts, item) for item in items]
            return lambda words: tuple(read(words) for read in readers)
        case Union(alternatives):
            return _either([(reader(facts, one), len(leaves(one))) for one in alternatives])
        case List(site) if facts.sequence(site) is not None:
            return _items(facts, site)
        case other:
            kind_of(facts, other)
    match other:
        case Known(value):
            return lambda words: value
        case Number(kind, numpy):
            return _number(kind, is_numpy=numpy == YES)
        case Text():
            return lambda words: list(facts.texts)[next(words)]
        case Array():
            count = len(leaves(other))
            return lambda words: from_words(other, [next(words) for _ in range(count)])
    raise AssertionError(other)


def _number(kind: str, *, is_numpy: bool) -> Reader:
    def read(words: Iterator[int]) -> Any:
        number = typed(np.array([next(words)], np.int64), kind)
        return number[0] if is_numpy else number.item()

    return read


def _either(alternatives: list[tuple[Reader, int]]) -> Reader:
    """What reads a value of one of several types, each with how many leaves it has."""

    def read(words: Iterator[int]) -> Any:
        tag, found = next(words), None
        for number, (read_one, count) in enumerate(alternatives):
            if number == tag:
                found = read_one(words)
            else:
                for _ in range(count):  # there is nothing behind those
                    next(words)
        return found

    return read


def _items(facts: Facts, site: int) -> Reader:
    """What reads a list, or a tuple of any length, of which there is the address."""
    item, cls = facts.canonical(facts.item(site)), facts.sequence(site)
    assert cls is not None
    width = 0 if isinstance(item, Never) else len(leaves(item))
    plain = item.kind if isinstance(item, Number) and item.numpy != YES else None
    read_item = (lambda words: None) if isinstance(item, Never) else reader(facts, item)

    def read(words: Iterator[int]) -> Any:
        count, _, data = (ctypes.c_int64 * 3).from_address(next(words))
        if not count or not width:
            return cls([read_item(iter(())) for _ in range(count)])
        found = np.ctypeslib.as_array((ctypes.c_int64 * (count * width)).from_address(data))
        if plain is not None:
            return cls(typed(found, plain).tolist())
        return cls([read_item(iter(row)) for row in found.reshape(count, width).tolist()])

    return read
