"""Strings that are made of values: `f"mu_{i}"`, `"mu_" + str(i)`, `"mu_%d" % i`, `"mu_{}".format(i)`.

They are not made in a text: what they are made of is known, which is all that an address needs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.front.values import (
    NOTHING,
    Value,
    is_known,
    is_number,
    items_of,
    kind_of,
    known,
    object_of,
)
from gendsl.compiler.hir import Expr
from gendsl.compiler.types import Joined, Known, Text, Tuple, describe

_PLACES = re.compile(r"(%%|%[dis])")


def interpolated(frame: Frame, node: ast.JoinedStr) -> Value:
    """`f"..."`."""
    from gendsl.compiler.front.expressions import expression

    parts: list[Value] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(known(str(part.value)))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = expression(frame, part.value)
        if is_never(value):
            return NOTHING
        if part.format_spec is not None or part.conversion not in (-1, ord("s")):
            raise frame.not_closed("a string with a value that is formatted", node)
        parts.append(frame.atoms(value))
    return joined(frame, parts)


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
    return Value(Joined(tuple(pieces)), tuple(leaves))


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
        if piece in ("%d", "%i", "%s"):
            if not given:
                raise frame.not_closed("% with fewer values than it has places")
            value, *given = given
            if piece != "%s" and not (is_number(value) and kind_of(value) == "i"):
                raise frame.not_closed(f"{piece} of {describe(value.type)}")
            parts.append(value)
        elif "%" in piece.replace("%%", ""):
            raise frame.not_closed(f"the format {pattern!r}")
        else:
            parts.append(known(piece.replace("%%", "%")))
    if given:
        raise frame.not_closed("% with more values than it has places")
    return joined(frame, parts)


def format_method(frame: Frame, pattern: str, args: Sequence[Value]) -> Value:
    """`pattern.format(*args)`."""
    constants = pattern.split("{}")
    if len(constants) != len(args) + 1 or any("{" in one or "}" in one for one in constants):
        raise frame.not_closed(f"the format {pattern!r}")
    parts = [known(constants[0])]
    for arg, constant in zip(args, constants[1:], strict=True):
        parts += [arg, known(constant)]
    return joined(frame, parts)


def is_made(value: Value) -> bool:
    """Whether a value is a string that is made of values."""
    return isinstance(value.type, Joined)


def of(frame: Frame, args: Sequence[Value]) -> Value:
    """`str(value)`."""
    if len(args) != 1:
        raise frame.not_closed("str with these arguments")
    return known(str(object_of(args[0]))) if is_known(args[0]) else joined(frame, args)
