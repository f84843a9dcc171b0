"""Choices as users give them again and again: at the same addresses, with other values each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path, as_path
from gendsl.choices import ChoiceMap, choicemap
from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import Lowered

_NESTED = frozenset([dict, ChoiceMap])
_SEQUENCES = frozenset([list, tuple, np.ndarray])


class Form(Enum):
    """What an address is given."""

    CHOICE = auto()
    """The value of the choice there."""
    ITEMS = auto()
    """The values of the choices at the indices of a list or array."""
    ENTRIES = auto()
    """The same of an array with two axes, at both indices."""


class _Entry(NamedTuple):
    """What an address is given: its form, and the lengths of what has some."""

    form: Form
    lengths: tuple[int, ...]


def written(choices: Any) -> tuple[list[Any], list[Any]]:
    """The addresses and the values that are given.

    Raises:
        NotClosed: they are not given by a dict or a choice map.
    """
    if choices is None:
        return [], []
    if type(choices) is ChoiceMap:
        choices = choices._flat
    elif type(choices) is not dict:
        raise NotClosed("choices that are given by neither a dict nor a choice map")
    if not _NESTED.isdisjoint(map(type, choices.values())):
        choices = choicemap(choices)._flat
    return list(choices), list(choices.values())


class Given:
    """Where choices are given, and in which form: what is found once for all that are given alike.

    Attributes:
        paths: the addresses of the choices.
        listed: the places among these of observations that lists and arrays give: where they give a part of
            the choices there are, users are warned.
        count: how many of the first addresses that were written are of observations.
        observed: the addresses of the choices that are observed.
    """

    def __init__(self, lowered: Lowered, keys: Sequence[Any], values: Sequence[Any], count: int = 0) -> None:
        """
        Raises:
            NotClosed: it can't be said which choices these are.
        """
        self.keys, self.count = list(keys), count
        self.entries: list[_Entry] = []
        self.paths: list[Path] = []
        self.listed: set[int] = set()
        addresses = Addresses(lowered)
        observed = 0
        for place, (key, value) in enumerate(zip(keys, values, strict=True)):
            path = tuple(int(part) if isinstance(part, np.integer) else part for part in as_path(key))
            if any(type(part) is tuple for part in path):
                raise NotClosed("a tuple in an address")
            entry = _entry(addresses, path, value)
            self.entries.append(entry)
            if entry.form is Form.CHOICE:
                self.paths.append(path)
            else:
                first = len(self.paths)
                self.paths += [(*path, *index) for index in np.ndindex(*entry.lengths)]
                if place < count:
                    self.listed.update(range(first, len(self.paths)))
            observed = len(self.paths) if place < count else observed
        self.observed = frozenset(self.paths[:observed])
        own = [as_path(key) for key in keys]
        above = {path[:end] for path in own for end in range(1, len(path))}
        if len(set(self.paths)) < len(self.paths) or not above.isdisjoint(own):
            raise NotClosed("an address that is given twice")
        self.are_numbers = all(entry == (Form.CHOICE, ()) for entry in self.entries)

    def is_of(self, keys: list[Any], values: list[Any], count: int = 0) -> bool:
        """Whether choices are given at these addresses, in this form, and so many are observed."""
        if self.keys != keys or self.count != count:
            return False
        if self.are_numbers:
            return _SEQUENCES.isdisjoint(map(type, values))
        pairs = zip(self.entries, map(_lengths, values), strict=True)
        return all(
            own == (lengths[:1] if form is Form.ITEMS else lengths) for (form, own), lengths in pairs
        )

    def flattened(self, values: list[Any]) -> list[Any]:
        """The value of each choice."""
        if self.are_numbers:
            return values
        found: list[Any] = []
        for (form, _), value in zip(self.entries, values, strict=True):
            if form is Form.CHOICE:
                found.append(value)
            elif form is Form.ITEMS:
                found += value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else list(value)
            else:
                found += value.ravel().tolist()
        return found


def _lengths(value: Any) -> tuple[int, ...]:
    """The lengths of what is given, along each axis; none of a number."""
    if type(value) is np.ndarray:
        return tuple(value.shape)
    return (len(value),) if type(value) in _SEQUENCES else ()


def _entry(addresses: Addresses, path: Path, value: Any) -> _Entry:
    """In which form an address is given a value."""
    if isinstance(value, Mapping):
        raise NotClosed("choices that are given by another mapping than a dict")
    lengths = _lengths(value)
    if not lengths or _is_choice(addresses, path):
        return _Entry(Form.CHOICE, lengths)
    if not all(lengths):
        raise NotClosed("a list without items")
    if _is_choice(addresses, (*path, 0)):
        return _Entry(Form.ITEMS, lengths[:1])
    if len(lengths) == 2 and _is_choice(addresses, (*path, 0, 0)):
        return _Entry(Form.ENTRIES, lengths)
    raise NotClosed(f"the program makes no choice at {path!r}")


def _is_choice(addresses: Addresses, path: Path) -> bool:
    try:
        return bool(addresses.find_all(path))
    except NotClosed:
        return False
