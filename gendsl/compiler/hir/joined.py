"""Strings that are made of values, as the parts of addresses: `f"mu_{i}"` is the choice `i` of a template.

    spelled(Joined(("mu_", None)), [3]) == "mu_3"        parsed(Joined(("mu_", None)), "mu_3") == (3,)

Only strings whose pieces can be told from the whole are read: no digit stands before or behind an integer.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from gendsl.compiler.hir.types import Joined, Padded

_INTEGER, _ANYTHING = "(0|-?[1-9][0-9]*)", "(.*)"
_DIGITS = "0123456789"


def is_integer(piece: Any) -> bool:
    """Whether a piece stands for an integer."""
    return piece is None or isinstance(piece, Padded)


def is_readable(joined: Joined) -> bool:
    """Whether the pieces can be told from the whole."""
    before: Any = ""
    texts = 0
    for piece in (*joined.pieces, ""):
        if not isinstance(piece, str) and not isinstance(before, str):
            return False
        if is_integer(piece) and before and (before[-1] in _DIGITS or (texts and before[-1] == "-")):
            return False
        if is_integer(before) and piece and piece[0] in _DIGITS:
            return False
        texts += piece is ...
        before = piece
    return texts <= 1


@functools.cache
def _pattern(joined: Joined) -> re.Pattern[str]:
    def of(piece: Any) -> str:
        if isinstance(piece, str):
            return re.escape(piece)
        if isinstance(piece, Padded):
            return "(-?[0-9]+)"
        return _INTEGER if piece is None else _ANYTHING

    return re.compile("".join(map(of, joined.pieces)), re.DOTALL)


def parsed(joined: Joined, text: str) -> tuple[int | str, ...] | None:
    """The values of the pieces that a string has; None if it isn't made of such pieces."""
    found = _pattern(joined).fullmatch(text)
    if found is None:
        return None
    kinds = [piece for piece in joined.pieces if not isinstance(piece, str)]
    values: list[int | str] = []
    for kind, one in zip(kinds, found.groups(), strict=True):
        values.append(int(one) if is_integer(kind) else one)
        if is_integer(kind) and one != _digits(kind, values[-1]):
            return None
    return tuple(values)


def _digits(piece: Any, value: Any) -> str:
    """An integer as its piece has it."""
    return f"{value:0{piece.width}d}" if isinstance(piece, Padded) else str(value)


def spelled(joined: Joined, values: Iterator[int], texts: dict[int, str]) -> str:
    """The string of some values: integers, and the numbers of strings of the data."""
    pieces = []
    for piece in joined.pieces:
        if isinstance(piece, str):
            pieces.append(piece)
        else:
            value = next(values)
            pieces.append(texts[value] if piece is ... else _digits(piece, value))
    return "".join(pieces)


def may_be_one(one: Any, other: Any) -> bool:
    """Whether two parts of addresses, one of which is made of values, may be the same string."""
    if one == other or ... in (one, other):
        return all(part is ... or isinstance(part, (str, Joined)) for part in (one, other))
    if isinstance(one, str) and isinstance(other, Joined):
        return parsed(other, one) is not None
    if isinstance(other, str) and isinstance(one, Joined):
        return parsed(one, other) is not None
    if not (isinstance(one, Joined) and isinstance(other, Joined)):
        return False
    if ... in one.pieces or ... in other.pieces:
        return _may_begin_alike(one, other) and _may_end_alike(one, other)
    mine, theirs = _tokens(one), _tokens(other)
    return len(mine) == len(theirs) and all(map(_may_be_one_token, mine, theirs))


def _may_begin_alike(one: Joined, other: Joined) -> bool:
    mine, theirs = (str(p.pieces[0]) if isinstance(p.pieces[0], str) else "" for p in (one, other))
    return mine.startswith(theirs) or theirs.startswith(mine)


def _may_end_alike(one: Joined, other: Joined) -> bool:
    mine, theirs = (str(p.pieces[-1]) if isinstance(p.pieces[-1], str) else "" for p in (one, other))
    return mine.endswith(theirs) or theirs.endswith(mine)


def _tokens(joined: Joined) -> Sequence[Any]:
    """The pieces, with the digits in constants apart: strings stand at even places, numbers at odd ones."""
    found: list[Any] = [""]
    for piece in joined.pieces:
        for token in [piece] if is_integer(piece) else re.split("([0-9]+)", piece):
            if is_integer(token) or token.isdecimal():
                found += [token, ""]
            else:
                found[-1] = f"{found[-1]}{token}"
    return found


def _may_have(piece: Padded, digits: str) -> bool:
    """Whether an integer may have these digits, and a sign before them."""
    value = int(digits)
    return digits in (_digits(piece, value), _digits(piece, -value).removeprefix("-"))


def _may_be_one_token(mine: Any, theirs: Any) -> bool:
    for one, other in ((mine, theirs), (theirs, mine)):
        if isinstance(one, Padded):  # of numbers in two ways, some may be alike
            return is_integer(other) or (other.isdecimal() and _may_have(one, other))
    if mine is None or theirs is None:  # any number, which has no zeros before it
        number = theirs if mine is None else mine
        return number is None or bool(number == str(int(number)))
    if mine.isdecimal() or theirs.isdecimal():
        return bool(mine == theirs)
    return bool(mine.removesuffix("-") == theirs.removesuffix("-"))  # as a number may be negative
