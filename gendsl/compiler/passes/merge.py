"""Functions of a text that say the same are one.

A program is copied for each of its uses: it is drawn, scored, replayed and differentiated. Copies of
functions in which that makes no difference are found here, so that they are printed and compiled once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields
from functools import cache
from itertools import takewhile
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import Call, Const, Function, Statement


def merge(mains: Sequence[Function], named: Callable[[str], str]) -> None:
    """Let functions, and all that they call, call one of those that say the same.

    Args:
        named: what makes of a name one that no function has.
    """
    every = {id(function): function for main in mains for function in hir.functions(main)}
    alike: dict[Hashable, list[Function]] = {}
    kept: dict[int, Function] = {}
    said: dict[int, Hashable] = {}

    def all_of(function: Function) -> Hashable:
        if id(function) not in said:
            said[id(function)] = _said(function.body)
        return said[id(function)]

    for function in every.values():  # callees first
        for statement in hir.walk(function.body):
            if isinstance(statement, Call):
                statement.function = kept.get(id(statement.function), statement.function)
        others = alike.setdefault(_outline(function), [])
        first = next((one for one in others if all_of(one) == all_of(function)), function)
        if first is function:
            others.append(function)
        if first is function or function in mains:
            continue
        is_second = first not in kept.values()
        kept[id(function)] = first
        same = takewhile(lambda pair: pair[0] == pair[1], zip(first.name, function.name, strict=False))
        shared = "".join(letter for letter, _ in same).rstrip("_")
        if is_second and shared and shared != first.name:
            first.name = named(shared)


def _outline(function: Function) -> Hashable:
    """What functions that say the same have in common, and few others."""
    kinds = tuple(map(type, hir.walk(function.body)))
    return function.origin, function.scores, tuple(function.parameters), tuple(function.results), kinds


def _said(what: Any) -> Hashable:
    """What a part of a text says: equal where another says the same."""
    if isinstance(what, Const):
        return Const, what.kind, type(what.value), repr(what.value)  # 0.0 is not -0.0
    if isinstance(what, (list, tuple)):  # expressions are tuples
        return type(what), *map(_said, what)
    if isinstance(what, Statement):
        cls: type = type(what)
        return cls, *[_said(getattr(what, name)) for name in _names(cls)]
    return what if isinstance(what, (str, int)) else id(what)


@cache
def _names(cls: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(cls))
