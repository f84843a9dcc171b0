"""Addresses of choices and the templates of a text: from the one to the other, and back."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any

import numpy as np

from gendsl.compiler.hir.encode import flat
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.joined import may_be_one, parsed, spelled
from gendsl.compiler.hir.key_paths import EMPTY, PATHS, code_of, has_path, is_key, key_of, segments
from gendsl.compiler.hir.templates import MODEL, NO_VALUE, Lowered, Template
from gendsl.compiler.hir.types import Array, Below, Joined, Nested, PathPart, Type

_Fitted = list[Any]
"""The indices of an address: integers, strings, and tuples whose lengths are not known."""


def _fits(parts: tuple[Any, ...], path: tuple[Any, ...]) -> _Fitted | None:
    """The indices of an address, if it has the parts of a template and no others."""
    if not has_path(parts):
        return _fitted(parts, path) if len(parts) == len(path) else None
    found = _begins(parts, path, whole=True)
    return None if found is None else found[0]


def _begins(
    parts: tuple[Any, ...], path: tuple[Any, ...], *, whole: bool = False
) -> tuple[_Fitted, int] | None:
    """The indices of an address, if it begins with the parts of a template, and how many of its parts these
    are.
    """
    if not has_path(parts):
        found = _fitted(parts, path[: len(parts)]) if len(parts) <= len(path) else None
        return None if found is None else (found, len(parts))
    where = segments(parts, path, lambda part, given: _fitted((part,), (given,)) is not None, whole=whole)
    if where is None:
        return None
    result: _Fitted = []
    for part, start, end in where:
        given = path[start:end]
        if isinstance(part, PathPart):
            if not all(map(is_key, given)):
                return None
            result.append(given)
        else:
            result += _fitted((part,), given) or []
    return result, where[-1][2]


def _fitted(parts: tuple[Any, ...], path: tuple[Any, ...]) -> _Fitted | None:
    """The indices of an address, if it has the parts of a template, of the same length."""
    found: _Fitted = []
    for part, given in zip(parts, path, strict=True):
        if part is None and isinstance(given, (np.int64, IntEnum)):  # they equal the integer
            found.append(int(given))
        elif part is None or part is ...:
            if type(given) is not (int if part is None else str):
                return None
            found.append(given)
        elif isinstance(part, Joined):
            pieces = parsed(part, given) if type(given) is str else None
            if pieces is None:
                return None
            found += pieces
        elif part != given:
            return None
    return found


def unnested(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """An address as a template has it: before the items of a tuple in it stands how many there are."""
    if not any(type(part) is tuple for part in path):
        return path
    result: list[Any] = []
    for part in path:
        result += [Nested(len(part)), *unnested(part)] if type(part) is tuple else [part]
    return tuple(result)


def _nested(parts: Iterator[Any], count: int) -> tuple[Any, ...]:
    """The opposite, for `count` parts of an address."""
    found = itertools.islice(parts, count)
    return tuple(_nested(parts, one.count) if isinstance(one, Nested) else one for one in found)


def array_of(value: Any, type: Type) -> Any:
    """The value of a choice as one of a type: a list of numbers, as users write them, is an array."""
    if not isinstance(type, Array) or not isinstance(value, (list, tuple)):
        return value
    found = np.asarray(value)
    kind = {np.float64: "f", np.int64: "i", np.bool_: "b"}.get(found.dtype.type)
    if kind is None or "bif".index(kind) > "bif".index(type.kind):
        return value
    return found.astype({"f": np.float64, "i": np.int64, "b": np.bool_}[type.kind])


class Addresses:
    """Finds the template and the indices of an address.

    Attributes:
        nodes: the calls of programs that call themselves: (template, indices) -> node.
    """

    def __init__(self, lowered: Lowered, trace: str = MODEL) -> None:
        self.facts = lowered.facts
        self.nodes: dict[tuple[int, tuple[int, ...]], int] = {}
        self.choices: dict[Any, list[tuple[tuple[Any, ...], Template]]] = {}
        self.calls: dict[Any, list[tuple[tuple[Any, ...], Template]]] = {}
        self.paths = next((one for one in lowered.templates if one.trace == PATHS), None)
        for template in lowered.templates:
            if template.trace != trace or template.type == NO_VALUE:
                continue
            table = self.choices if template.calls is None else self.calls
            table.setdefault(template.context, []).append((template.own, template))

    def _indices(self, fitted: _Fitted, node: int | None) -> tuple[int, ...]:
        own = [
            self.facts.text_number(one)
            if isinstance(one, str)
            else self._path_number(one)
            if isinstance(one, tuple)
            else one
            for one in fitted
        ]
        return tuple(own if node is None else [node, *own])

    def _path_number(self, keys: tuple[Any, ...]) -> int:
        """The number of a tuple whose length is not known."""
        assert self.paths is not None
        at = EMPTY
        for key in keys:
            place = self.paths.number, (at, code_of(key, self.facts.text_number))
            at = self.nodes.setdefault(place, len(self.nodes)) + 1
        return at

    def find(self, path: tuple[Any, ...]) -> tuple[list[Template], tuple[int, ...]]:
        """The templates, of one address and several types, and the indices of an address.

        Raises:
            NotClosed: the program makes no choice there, or it can't be said which.
        """
        found = self.find_all(path)
        if len({template.own for template, _ in found}) > 1:
            raise NotClosed(f"two templates of the address {path!r}")
        return [template for template, _ in found], found[0][1]

    def find_all(self, path: tuple[Any, ...]) -> list[tuple[Template, tuple[int, ...]]]:
        """The templates that an address may be of, with its indices.

        Raises:
            NotClosed: the program makes no choice there.
        """
        below, node, rest = None, None, unnested(path)
        while True:
            found = [
                (template, self._indices(fitted, node))
                for parts, template in self.choices.get(below, ())
                if (fitted := _fits(parts, rest)) is not None
            ]
            if found:
                return found
            edges = [
                (template, *begun)
                for parts, template in self.calls.get(below, ())
                if (begun := _begins(parts, rest)) is not None and begun[1] < len(rest)
            ]
            if len(edges) != 1:
                raise NotClosed(f"the program makes no choice at {path!r}")
            template, fitted, count = edges[0]
            key = template.number, self._indices(fitted, node)
            node = self.nodes.setdefault(key, len(self.nodes))
            below, rest = template.calls, rest[count:]

    def places(self, path: tuple[Any, ...], value: Any) -> list[tuple[Template, tuple[int, ...], list[Any]]]:
        """The templates that a choice may be of, with its indices and the leaves of its value.

        Raises:
            NotClosed: the program makes no choice there, or none of a type that the value has.
        """
        found = []
        for template, indices in self.find_all(path):
            with contextlib.suppress(NotClosed):
                parts = flat(self.facts, array_of(value, template.type), template.type)
                found.append((template, indices, parts))
        if not found:
            raise NotClosed(f"a value of another type at {path!r}")
        return found

    def place(self, path: tuple[Any, ...], value: Any) -> tuple[Template, tuple[int, ...], list[Any]]:
        """The template and the indices of an address, and the leaves of a value there.

        Raises:
            NotClosed: the program makes no choice there, or none of a type that the value has.
        """
        templates, indices = self.find(path)
        for template in templates:
            try:
                return template, indices, flat(self.facts, array_of(value, template.type), template.type)
            except NotClosed:
                continue
        raise NotClosed(f"a value of another type at {path!r}")


class Paths:
    """The addresses of templates with indices: what `Addresses` finds, the other way round.

    Attributes:
        calls: the calls of programs that call themselves, by their nodes: (template, indices).
    """

    def __init__(self, lowered: Lowered, calls: dict[int, tuple[Template, tuple[int, ...]]]) -> None:
        self.texts = {number: text for text, number in lowered.facts.texts.items()}
        self.calls = calls
        self.nodes: dict[int, tuple[Any, ...]] = {}
        self.keys: dict[int, tuple[Any, ...]] = {EMPTY: ()}

    def path(self, template: Template, indices: Iterable[int]) -> tuple[Any, ...]:
        """The address of a choice or a call."""
        result: list[Any] = []
        rest = iter(indices)
        for part in template.parts:
            if part is None:
                result.append(next(rest))
            elif part is ...:
                result.append(self.texts[next(rest)])
            elif isinstance(part, Joined):
                result.append(spelled(part, rest, self.texts))
            elif isinstance(part, Below):
                result += self._node(next(rest))
            elif isinstance(part, PathPart):
                keys = self._keys(next(rest))
                result += keys if part.spread else [Nested(len(keys)), *keys]
            else:
                result.append(part)
        if any(isinstance(part, Nested) for part in result):
            return _nested(iter(result), len(result))
        return tuple(result)

    def _keys(self, path: int) -> tuple[Any, ...]:
        """The tuple whose length is not known that has a number."""
        more: list[int] = []
        while path not in self.keys:
            more.append(path)
            _, (path, _) = self.calls[path - 1]
        for one in reversed(more):
            _, (above, code) = self.calls[one - 1]
            self.keys[one] = (*self.keys[above], key_of(code, self.texts))
        return self.keys[more[0] if more else path]

    def _node(self, node: int) -> tuple[Any, ...]:
        if node not in self.nodes:
            self.nodes[node] = self.path(*self.calls[node])
        return self.nodes[node]


def may_meet(templates: Iterable[Template]) -> bool:
    """Whether one address of these templates may be another's, or be below it.

    Below the address of a call is what the called program makes: of a program that calls itself that alone.
    """

    every = list(templates)
    if any(has_path(template.parts) for template in every):
        return True
    for first, second in itertools.combinations(every, 2):
        if (first.trace, first.context) != (second.trace, second.context):
            continue
        shorter, longer = sorted((first, second), key=lambda t: len(t.parts))
        if shorter.type == NO_VALUE and len(shorter.parts) < len(longer.parts):
            continue
        both = zip(shorter.own, longer.own, strict=False)
        if all(one == other or may_be_one(one, other) for one, other in both):
            return True
    return False
