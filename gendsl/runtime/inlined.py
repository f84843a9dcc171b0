"""Choices from gendsl's own families of one number, each made in one call where a body runs as a whole.

    addr @ ~normal(a, b)  ->  __gendsl__.makers[normal](__gendsl__, addr, False, a, b)

in place of a call each to look up what is called, to make the distribution, to find the value, to score it
and to keep the record. In an update, a choice that keeps its value and its parameters keeps its record: that
takes two comparisons. Whatever is out of the ordinary (a value of another type, one outside the support, a
choice that is new) goes the usual way, `Execution.at`, so nothing but the time depends on this module. The
reference runtime doesn't use it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import inf
from typing import Any

from gendsl.address import as_path
from gendsl.choices import MISSING
from gendsl.runtime.records import PLAIN_FAMILIES

Maker = Callable[..., Any]

_PATH = """\
def make(self, address, sugar, {arguments}):
    path = address if type(address) is tuple else (address,)
    if self.prefix:
        path = self.prefix + (path or as_path(path))
"""

_KEEP = """\
    records = self.records
    try:
        is_second = path in records
    except TypeError:
        as_path(address)  # explains what can't be an address
        raise
    if is_second:
        raise self.twice(path)
    records[path] = record
    self.score += record[2]
    return record[1]
"""

_SCORE = """\
        try:
            score = distribution.at(value) if type(value) is number else None
        except (TypeError, OverflowError):
            score = None
        if score is None or not -inf < score < inf:
            return self.at(address, distribution, sugar)
        record = distribution, value, score
"""

DRAWN = (
    _PATH
    + """\
    distribution = family({arguments})
    value = distribution.sample(self.rng)
    try:
        score = distribution.at(value) if type(value) is number else None
    except OverflowError:
        score = None
    if score is not None and -inf < score < inf:
        record = distribution, value, score
    else:
        record = drawn(distribution, value)
"""
    + _KEEP
)
"""How a choice is made that is drawn."""

GIVEN = (
    _PATH
    + """\
    distribution = family({arguments})
    try:
        value = self.values.get(path, MISSING)
    except TypeError:
        as_path(address)  # explains what can't be an address
        raise
    if True:
"""
    + _SCORE
    + _KEEP
)
"""How a choice is made that is given."""

_BEFORE = """\
    try:
        before = self.old.get(path)
        {value}
    except TypeError:
        as_path(address)  # explains what can't be an address
        raise
    distribution = None
    if before is not None:
        known = before[0]
        if type(known) is family and {plain} and {same}:
            distribution = known
"""

UPDATED = (
    _PATH
    + _BEFORE.replace("{value}", "value = self.values.get(path, MISSING)")
    + """\
    if value is MISSING and distribution is not None and -inf < before[2] < inf:
        record = before
    else:
        if distribution is None:
            distribution = family({arguments})
        if value is MISSING and before is not None:
            value = before[1]
            if type(known) is not family:
                self.remade.append(path)
"""
    + _SCORE
    + """\
        if before is None:
            self.added += 1
"""
    + _KEEP
)
"""How a choice is made that is given, or is what it was."""

REGENERATED = (
    _PATH
    + _BEFORE.replace("{value}", "selected = before is None or path in self.selection")
    + """\
    if selected:
        return self.at(address, family({arguments}) if distribution is None else distribution, sugar)
    if distribution is not None and -inf < before[2] < inf:
        record = before
    else:
        if distribution is None:
            distribution = family({arguments})
        value = before[1]
"""
    + _SCORE
    + """\
        self.weight += score - before[2]
"""
    + _KEEP
)
"""How a choice is made that is what it was unless it is selected."""


REGENERATED_WITHIN = REGENERATED.replace("self.weight", "self.outer.weight")
"""How one is made within such a regeneration."""


class Makers(dict[Any, Maker]):
    """family -> the function that makes a choice from it; for anything else, the usual way.

    Args:
        template: how executions of this class make a choice; None for the usual way in all cases.
    """

    def __init__(self, template: str | None, **scope: Any) -> None:
        super().__init__()
        self.template = template
        self.scope = {"MISSING": MISSING, "as_path": as_path, "inf": inf, **scope}

    def __missing__(self, function: Any) -> Maker:
        number = PLAIN_FAMILIES[function] if isinstance(function, type) else None
        if self.template is None or number is None:

            def usual(execution: Any, address: Any, sugar: bool | str, *arguments: Any) -> Any:
                return execution.at(address, execution.callee(function)(*arguments), sugar)

            return usual  # not remembered: that would keep what is the user's alive
        names = function.parameters
        arguments = [f"a{i}" for i in range(len(names))]
        source = self.template.format(
            arguments=", ".join(arguments),
            plain=" and ".join(f"type({a}) in PLAIN" for a in arguments),
            same=" and ".join(f"known.{name} == {a}" for name, a in zip(names, arguments, strict=True)),
        )
        scope = {**self.scope, "family": function, "number": number, "PLAIN": _PLAIN}
        exec(compile(source, _FILE, "exec"), scope)
        maker: Maker = scope["make"]
        self[function] = maker
        return maker


_PLAIN = frozenset((float, int))
_FILE = os.path.join(os.path.dirname(__file__), "<inlined>")  # one of ours, as far as error messages go
