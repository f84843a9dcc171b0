"""What is known of each string that only the data tell: its length, its place in the order, its characters,
and what methods of strings give for it.

A string is its number in a table of strings. A column of this table has a number, or a list of characters,
for each string there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import texts
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import extend, list_of
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.facts import MOST_OPTIONS
from gendsl.compiler.hir.types import TEXT, List, Number, Text
from gendsl.compiler.hir.values import NOTHING, Value, is_known, known, number, object_of

_NO_NUMBER = -(2**63)
"""What stands in a column for a string that has no number there: Python raises."""


def _number_of(value: Value, frame: Frame) -> Expr:
    (text,) = frame.program.facts.convert(value, TEXT)
    return text


def _found(frame: Frame, value: Value, key: Any, function: Callable[[list[str]], list[int]]) -> Expr:
    """The number that a string has in a column of the table of strings."""
    column = frame.program.text_column(("text", *key), function, Number("i"))
    found = frame.fresh(key[0], "i")
    frame.emit(hir.Load([found], column.leaf, ("i",), _number_of(value, frame)))
    return found


def _places(every: list[str]) -> list[int]:
    places = {text: place for place, text in enumerate(sorted(every))}
    return [places[text] for text in every]


def place_of(frame: Frame, value: Value) -> Expr:
    """The place of a string among all of them, in their order."""
    return _found(frame, value, ("place",), _places)


def length(frame: Frame, value: Value) -> Expr:
    """How many characters a string has."""
    return _found(frame, value, ("length",), lambda every: list(map(len, every)))


# --- characters ------------------------------------------------------------------------------------------


def characters(frame: Frame, value: Value) -> Value:
    """The characters of a string, as a list that nobody may change."""
    return _parts(frame, value, ("characters",), list)


def _parts(frame: Frame, value: Value, key: Any, function: Callable[[str], list[str]]) -> Value:
    """The list of strings that a string has in a column of the table of strings, which nobody may change."""
    facts = frame.program.facts
    number_of = facts.text_number

    def rows(every: list[str]) -> list[list[int]]:
        return [[number_of(one) for one in function(text)] for text in every]

    site = facts.site(("parts", *key))
    facts.grow_item(site, TEXT)
    row = List(facts.find(site), True)
    column = frame.program.text_column(("parts", *key), rows, row)
    found = frame.fresh(key[0], "r")
    frame.emit(hir.Load([found], column.leaf, ("r",), _number_of(value, frame)))
    return Value(row, (found,))


def character(value: Value, one: Value) -> Value:
    """A character of a string, as one of those that it may be."""
    options = _options(value)
    every = frozenset(c for option in options or () for c in option)
    return Value(Text(every), one.leaves) if options is not None and len(every) <= MOST_OPTIONS else one


def _options(value: Value) -> frozenset[str] | None:
    """The strings that a value may be; None where only the data tell."""
    if is_known(value):
        return frozenset([object_of(value)])
    return value.type.options if isinstance(value.type, Text) else None


def part(frame: Frame, value: Value, where: slice) -> Value:
    """`text[where]`."""
    try:
        "text"[where]
    except (TypeError, ValueError) as error:
        frame.fail(str(error))
        return NOTHING
    number_of = frame.program.facts.text_number
    key = ("slice", where.start, where.stop, where.step)
    return Value(TEXT, (_found(frame, value, key, lambda every: [number_of(one[where]) for one in every]),))


# --- numbers ---------------------------------------------------------------------------------------------


def as_integer(frame: Frame, value: Value) -> Value:
    """`int(text)`."""
    return _or_failure(frame, value, ("int",), int)


def code_point(frame: Frame, value: Value) -> Value:
    """`ord(text)`."""
    return _or_failure(frame, value, ("ord",), ord)


def _or_failure(frame: Frame, value: Value, key: Any, function: Callable[[str], int]) -> Value:
    """The integer that a function gives for a string; where it raises, the program does."""

    def entry(text: str) -> int:
        try:
            result = function(text)
        except (ValueError, TypeError):
            return _NO_NUMBER
        return result if abs(result) < 2**63 else _NO_NUMBER

    leaf = _found(frame, value, key, lambda every: list(map(entry, every)))
    frame.fail_if(Op("eq", (leaf, Const(_NO_NUMBER, "i")), "b"), f"{key[0]}() of a string", ValueError)
    return number(leaf)


# --- methods ---------------------------------------------------------------------------------------------

_INTEGERS = frozenset(["count", "find", "rfind"])
_OR_ERRORS = frozenset(["index", "rindex"])
_TESTS = frozenset([
    "startswith", "endswith", "isdigit", "isdecimal", "isnumeric", "isupper", "islower", "isalpha", "isalnum",
    "isspace", "__contains__",
])  # fmt: skip
_STRINGS = frozenset(["upper", "lower", "strip", "lstrip", "rstrip", "casefold"])
_LISTS = frozenset(["split", "rsplit", "splitlines"])
"""Methods that give strings, or lists of them; applied over and over they give no more than some others."""


def told(frame: Frame, name: str, values: Sequence[Value]) -> Value | None:
    """What a method gives for a string and its arguments, one of which only the data tell; None for methods
    that no column is made for.
    """
    (place,) = (i for i, one in enumerate(values) if not is_known(one))
    if name not in _INTEGERS | _OR_ERRORS | _TESTS and not (name in _STRINGS | _LISTS and place == 0):
        return None
    before, after = (tuple(map(object_of, part)) for part in (values[:place], values[place + 1 :]))
    method: Callable[..., Any] = getattr(str, name)

    def called(text: str) -> Any:
        return method(*before, text, *after)

    try:
        called("")
    except (TypeError, ValueError) as error:
        if isinstance(error, TypeError) or name not in _OR_ERRORS:  # these raise as "" has nothing in it
            frame.fail(str(error))
            return NOTHING
    key = (name, before, after)
    if name in _OR_ERRORS:
        return _or_failure(frame, values[place], key, called)
    if name in _STRINGS:
        number_of = frame.program.facts.text_number
        text = _found(frame, values[place], key, lambda every: [number_of(called(one)) for one in every])
        return Value(TEXT, (text,))
    if name in _LISTS:
        made = list_of(frame, frame.here, [], name)
        extend(frame, frame.here, made, _parts(frame, values[place], key, called))
        return made
    leaf = _found(frame, values[place], key, lambda every: [int(called(one)) for one in every])
    return number(leaf if name in _INTEGERS else Op("ne", (leaf, Const(0, "i")), "b"))


def method(frame: Frame, value: Value, name: str, args: list[Value]) -> Value:
    """A method of a string."""
    if name == "format" and is_known(value) and not all(map(is_known, args)):
        return texts.format_method(frame, object_of(value), args)
    every = [value, *args]
    unknown = [one for one in every if not is_known(one)]
    if len(unknown) == 1 and isinstance(unknown[0].type, Text):
        found = told(frame, name, every)
        if found is not None:
            return found
    if unknown:
        raise frame.not_closed(f"the method {name} of a string, which makes one of values")
    result = getattr(object_of(value), name)(*map(object_of, args))
    if isinstance(result, (str, int, bool, tuple)):
        return known(result)
    if isinstance(result, list):
        return list_of(frame, frame.here, [known(one) for one in result])
    raise frame.not_closed(f"the method {name} of a string")
