"""Strings that are made of values: `f"mu_{i}"`, `"mu_" + str(i)`, `"mu_%d" % i`, `"mu_{}".format(i)`.

They are not made in a text: what they are made of is known, which is all that an address needs.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Sequence
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.facts import MOST_OPTIONS
from gendsl.compiler.hir.joined import is_readable, may_be_one, parsed
from gendsl.compiler.hir.types import (
    TEXT,
    Joined,
    Known,
    Padded,
    Text,
    Tuple,
    Type,
    Union,
    describe,
    index_count,
)
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    is_known,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    object_of,
)

_PLACES = re.compile(r"(%%|%0[0-9]+d|%[dis])")
_WIDTH = re.compile(r"(?:0([0-9]+))?d?")
_BRACES = re.compile(r"\{(?::([^{}]*))?\}")


def interpolated(frame: Frame, node: ast.JoinedStr) -> Value:
    """`f"..."`."""
    parts: list[Value] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(known(str(part.value)))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = frame.language.expression(frame, part.value)
        if is_never(value):
            return NOTHING
        spec = part.format_spec
        if part.conversion not in (-1, ord("s")) or (spec is not None and part.conversion != -1):
            raise frame.not_closed("a string with a value that is formatted", node)
        if spec is not None:
            value = with_format(frame, frame.atoms(value), _constant(frame, spec))
        parts.append(frame.atoms(value))
    return joined(frame, parts)


def _constant(frame: Frame, spec: ast.expr) -> str:
    """A format that is a constant."""
    if isinstance(spec, ast.JoinedStr) and all(isinstance(one, ast.Constant) for one in spec.values):
        return "".join(str(one.value) for one in spec.values)  # type: ignore[attr-defined]
    raise frame.not_closed("a format that is no constant", spec)


def with_format(frame: Frame, value: Value, spec: str) -> Value:
    """The string of a value in a format: of a constant, or of an integer with zeros before it."""
    if is_known(value) and isinstance(object_of(value), (str, int, float)):
        try:
            return known(format(object_of(value), spec))
        except ValueError as error:
            frame.fail(str(error))
            return NOTHING
    found = _WIDTH.fullmatch(spec)
    if found is None or not is_number(value) or kind_of(value) != "i":
        raise frame.not_closed(f"{describe(value.type)} in the format {spec!r}")
    width = int(found[1] or 0)
    return Value(Joined((Padded(width) if width > 1 else None,)), value.leaves)


def is_string(value: Value) -> bool:
    """Whether a value is a string, known or not, or made of values."""
    return isinstance(value.type, (Text, Joined)) or (is_known(value) and isinstance(object_of(value), str))


def joined(frame: Frame, parts: Sequence[Value]) -> Value:
    """The string that values make one after another, each as `str` has it."""
    pieces: list[Any] = []
    leaves: list[Expr] = []
    for part in parts:
        for piece in _pieces(frame, part):
            if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            elif piece != "":
                pieces.append(piece)
        leaves += part.leaves
    if all(isinstance(piece, str) for piece in pieces):
        return known("".join(pieces))
    made = Joined(tuple(pieces))
    if not is_readable(made):
        told = _told_by_options(frame, parts)
        if told is not None:
            return told
    return Value(made, tuple(leaves))


MOST_TOLD = 64
"""How many strings, made of constants, are told apart one by one."""


def _told_by_options(frame: Frame, parts: Sequence[Value]) -> Value | None:
    """The string that parts make of which each is one of some constants; None where one is not, or where
    there are many strings.
    """
    every = [_options(part) for part in parts]
    if not all(every) or math.prod(map(len, every)) > MOST_TOLD:
        return None
    number_of = frame.program.facts.text_number
    strings: set[str] = set()

    def number_from(i: int, before: str) -> Expr:
        if i == len(every):
            strings.add(before)
            return Const(number_of(before), "i")
        *others, last = every[i]
        result = number_from(i + 1, before + last)
        for option in others:
            same = Op("eq", (parts[i].leaf, Const(number_of(option), "i")), "b")
            result = Op("select", (same, number_from(i + 1, before + option), result), "i")
        return result

    leaf = frame.atom(number_from(0, ""), "text")
    return Value(Text(frozenset(strings)) if len(strings) <= MOST_OPTIONS else TEXT, (leaf,))


def _options(part: Value) -> list[str]:
    """The strings that a value may be in another one; none if that isn't known."""
    if is_known(part):
        return [format(object_of(part))]
    return sorted(part.type.options or ()) if isinstance(part.type, Text) else []


def _pieces(frame: Frame, value: Value) -> tuple[Any, ...]:
    """What a value is in a string: constants, None for an integer, ... for a string of the data."""
    match value.type:
        case Joined(pieces):
            return pieces
        case Text():
            return (...,)
        case Known(value=found):
            return (format(found),)
    if is_number(value) and kind_of(value) == "i":
        return (None,)
    raise frame.not_closed(f"a string that is made of {describe(value.type)}")


def formatted(frame: Frame, pattern: str, values: Value) -> Value:
    """`pattern % values`."""
    given = items_of(values) if isinstance(values.type, Tuple) else [values]
    parts: list[Value] = []
    for piece in _PLACES.split(pattern):
        if piece in ("%d", "%i", "%s") or piece.startswith("%0"):
            if not given:
                raise frame.not_closed("% with fewer values than it has places")
            value, *given = given
            if piece != "%s" and not (is_number(value) and kind_of(value) == "i"):
                raise frame.not_closed(f"{piece} of {describe(value.type)}")
            parts.append(with_format(frame, value, piece[1:]) if piece.startswith("%0") else value)
        elif "%" in piece.replace("%%", ""):
            raise frame.not_closed(f"the format {pattern!r}")
        else:
            parts.append(known(piece.replace("%%", "%")))
    if given:
        raise frame.not_closed("% with more values than it has places")
    return joined(frame, parts)


def format_method(frame: Frame, pattern: str, args: Sequence[Value]) -> Value:
    """`pattern.format(*args)`."""
    pieces = _BRACES.split(pattern)
    constants, formats = pieces[::2], pieces[1::2]
    if len(formats) != len(args) or any("{" in one or "}" in one for one in constants):
        raise frame.not_closed(f"the format {pattern!r}")
    parts = [known(constants[0])]
    for arg, spec, constant in zip(args, formats, constants[1:], strict=True):
        parts += [with_format(frame, arg, spec) if spec else arg, known(constant)]
    return joined(frame, parts)


def is_made(value: Value) -> bool:
    """Whether a value is a string that is made of values."""
    return isinstance(value.type, Joined)


def of(frame: Frame, args: Sequence[Value]) -> Value:
    """`str(value)`."""
    if len(args) != 1:
        raise frame.not_closed("str with these arguments")
    return known(str(object_of(args[0]))) if is_known(args[0]) else joined(frame, args)


# --- strings that may be one -----------------------------------------------------------------------------


def _alternatives(type: Type) -> tuple[Type, ...]:
    return type.alternatives if isinstance(type, Union) else (type,)


def as_alternative(frame: Frame, value: Value, type: Type) -> Value:
    """A string as it is among others of a type: a constant as what others there are made of."""
    made = [one for one in _alternatives(type) if isinstance(one, Joined)]
    if isinstance(value.type, Joined) and not is_readable(value.type):
        raise frame.not_closed(f"{describe(value.type)} as a key: two may be one")
    if made and isinstance(value.type, Text) and value.type.options is not None:
        return _option_as_alternative(frame, value, value.type.options, made)
    if not made or not (is_known(value) and isinstance(object_of(value), str)):
        return value
    number_of = frame.program.facts.text_number
    for one in made:
        found = parsed(one, object_of(value))
        if found is not None:
            leaves = (number_of(part) if isinstance(part, str) else part for part in found)
            return Value(one, tuple(Const(leaf, "i") for leaf in leaves))
    return value


def _option_as_alternative(
    frame: Frame, value: Value, options: frozenset[str], made: list[Joined]
) -> Value:
    """The same of a string that is one of some constants."""
    for one in made:
        tests: list[Expr] = []
        values = values_of_options(frame, one, options, value.leaf, tests)
        if values is not None and not tests:
            return Value(one, tuple(values))
        if values is not None:
            raise frame.not_closed("a string that is one of some constants among others made of values")
    return value


def values_of_options(
    frame: Frame, wanted: Joined, options: frozenset[str], text: Expr, tests: list[Expr]
) -> list[Expr] | None:
    """The values that a string, which is one of some constants, is made of as another one is; the tests get
    what tells whether it is made so. None if none of them is.
    """
    number = frame.program.facts.text_number
    fitting = {one: found for one in sorted(options) if (found := parsed(wanted, one)) is not None}
    if not fitting:
        return None
    same = {one: Op("eq", (text, Const(number(one), "i")), "b") for one in fitting}
    if len(fitting) < len(options):
        tests.append(functools.reduce(lambda a, b: Op("or", (a, b), "b"), same.values()))
    result: list[Expr] = []
    for place in range(index_count(wanted)):
        leaf: Expr | None = None
        for one, found in fitting.items():
            value = found[place]
            mine = Const(number(value) if isinstance(value, str) else value, "i")
            leaf = mine if leaf is None else Op("select", (same[one], mine, leaf), "i")
        assert leaf is not None
        result.append(frame.atom(leaf, "at"))
    return result


def check_alternatives(frame: Frame, type: Type) -> None:
    """Refuse a type whose strings may be one, though they are not made in one way."""
    every = _alternatives(type)
    made = [one for one in every if isinstance(one, Joined)]
    alike = any(may_be_one(one, other) for i, one in enumerate(made) for other in made[:i])
    if alike or (made and any(isinstance(one, Text) and one.options is None for one in every)):
        raise frame.not_closed("keys that are strings made of values in two ways")


def equal(frame: Frame, a: Value, b: Value) -> Expr:
    """Whether two strings are equal, one of which is made of values."""
    if not isinstance(a.type, Joined):
        a, b = b, a
    b = as_alternative(frame, b, a.type)
    a = as_alternative(frame, a, a.type)
    if a.type == b.type:
        same: Expr = hir.TRUE
        for x, y in zip(a.leaves, b.leaves, strict=True):
            test = Op("eq", (x, y), "b")
            same = test if same is hir.TRUE else Op("and", (same, test), "b")
        return same
    other = object_of(b) if is_known(b) else b.type
    if isinstance(other, Text) or may_be_one(a.type, other):
        raise frame.not_closed(f"== of {describe(a.type)} and {describe(b.type)}")
    return hir.FALSE
