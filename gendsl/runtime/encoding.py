"""Values as JSON and back, exactly, in an open format with no code in it.

None, booleans, strings, integers and finite floats are themselves (JSON writes a float with the digits that
read back as the same float), and a list is an array. Everything else is an object with one key, its kind:

    {"float": "nan"}  {"complex": [re, im]}  {"tuple": [...]}  {"dict": [[key, value], ...]}  {"set": [...]}
    {"frozenset": [...]}  {"bytes": base64}  {"choices": [[path, value], ...]}  {"program": "module:name"}
    {"scalar": [dtype, value]}  {"array": {"dtype": "<f8", "shape": [2, 3], "entries": [...]}}

with the entries of an array in C order.
"""

from __future__ import annotations

import base64
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.choices import ChoiceMap
from gendsl.errors import FileFormatError, ValueTypeError
from gendsl.interface import GenerativeFunction

_PLAIN = frozenset({type(None), bool, int, str})
_NUMERIC = "biufc"
_STORED = "biufcUSO"


def encode(value: Any, what: str = "the value") -> Any:
    """A value as what `json.dumps` takes; `what` names it in errors.

    Raises:
        ValueTypeError: it is of a class that has no open format.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is list:
        return [encode(entry, what) for entry in value]
    encoder = _ENCODERS.get(kind)
    if encoder is not None:
        return encoder(value, what)
    if isinstance(value, np.generic) and value.dtype.kind in _NUMERIC:
        return {"scalar": [value.dtype.str, encode(value.item(), what)]}
    if isinstance(value, GenerativeFunction):
        return {"program": program_name(value, what)}
    raise ValueTypeError(
        f"{what} has a value of type {kind.__module__}.{kind.__qualname__}, which can't be saved without "
        "pickled code",
        fix="make it of numbers, strings, arrays, lists, tuples, dicts and sets; pickle saves anything",
    )


def _encode_array(array: Any, what: str) -> Any:
    dtype, entries = array.dtype, array.ravel().tolist()
    if dtype.kind not in _STORED:
        raise ValueTypeError(
            f"{what} has an array of dtype {dtype}, which can't be saved without pickled code",
            fix="make it of numbers, strings or objects that can be saved",
        )
    if dtype in (np.longdouble, np.clongdouble) and dtype not in (np.float64, np.complex128):
        raise ValueTypeError(
            f"{what} has an array of dtype {dtype}, which would be rounded in a file",
            fix="make it float64 or complex128",
        )
    if dtype.kind not in "biu":
        entries = [encode(entry, what) for entry in entries]
    return {"array": {"dtype": dtype.str, "shape": list(array.shape), "entries": entries}}


def encode_choices(choices: Any, what: str = "the trace") -> list[list[Any]]:
    """Pairs of path and value, encoded."""
    return [
        [[encode(part, what) for part in path], encode(value, what)] for path, value in choices.items()
    ]


_ENCODERS: dict[type, Callable[[Any, str], Any]] = {
    tuple: lambda value, what: {"tuple": [encode(entry, what) for entry in value]},
    dict: lambda value, what: {"dict": [[encode(k, what), encode(v, what)] for k, v in value.items()]},
    set: lambda value, what: {"set": [encode(entry, what) for entry in value]},
    frozenset: lambda value, what: {"frozenset": [encode(entry, what) for entry in value]},
    complex: lambda value, what: {"complex": [encode(value.real, what), encode(value.imag, what)]},
    bytes: lambda value, what: {"bytes": base64.b64encode(value).decode("ascii")},
    ChoiceMap: lambda value, what: {"choices": encode_choices(value, what)},
    np.ndarray: _encode_array,
}


def decode(encoded: Any) -> Any:
    """The value that `encode` made this of.

    Raises:
        FileFormatError: it is nothing that `encode` makes.
    """
    if type(encoded) in _PLAIN or type(encoded) is float:
        return encoded
    if type(encoded) is list:
        return [decode(entry) for entry in encoded]
    try:
        ((kind, content),) = encoded.items()
        return _DECODERS[kind](content)
    except FileFormatError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{str(encoded)[:80]} is no value in gendsl's format ({error})",
            fix="it was written by something else, or by another version of gendsl",
        ) from None


def _decode_array(content: Any) -> Any:
    dtype, shape = np.dtype(content["dtype"]), tuple(content["shape"])
    entries = content["entries"]
    if dtype.kind not in "biu":
        entries = [decode(entry) for entry in entries]
    if dtype.kind == "O":
        array = np.empty(len(entries), dtype=object)
        array[:] = entries
        return array.reshape(shape)
    return np.array(entries, dtype=dtype).reshape(shape)


def _decode_scalar(content: Any) -> Any:
    dtype, value = content
    return np.dtype(dtype).type(decode(value))


def decode_choices(content: Any) -> dict[Any, Any]:
    """The dict from paths to values of encoded pairs."""
    return {tuple(decode(part) for part in path): decode(value) for path, value in content}


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda content: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content],
    "complex": lambda content: complex(*(decode(part) for part in content)),
    "tuple": lambda content: tuple(decode(entry) for entry in content),
    "dict": lambda content: {decode(key): decode(value) for key, value in content},
    "set": lambda content: {decode(entry) for entry in content},
    "frozenset": lambda content: frozenset(decode(entry) for entry in content),
    "bytes": lambda content: base64.b64decode(content, validate=True),
    "choices": lambda content: ChoiceMap(decode_choices(content)),
    "program": lambda content: find_program(content),
    "scalar": _decode_scalar,
    "array": _decode_array,
}


# --- programs by name ------------------------------------------------------------------------------


def program_name(program: Any, what: str = "the trace", *, must_be_found: bool = True) -> str:
    """`module:qualified.name` of a program.

    Raises:
        ValueTypeError: no program is found by that name, and it must be.
    """
    name = f"{program.__module__}:{program.__qualname__}"
    if must_be_found:
        try:
            found = find_program(name)
        except FileFormatError:
            found = None
        if found != program:
            raise ValueTypeError(
                f"{what} refers to {program!r}, which is not found by its name {name}",
                fix="define it at the top level of a module",
            )
    return name


def find_program(name: str) -> Any:
    """The program of a name that `program_name` gave; its module is imported.

    Raises:
        FileFormatError: there is none.
    """
    module, _, qualname = str(name).partition(":")
    try:
        __import__(module)
        found: Any = sys.modules[module]
        for part in qualname.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError, KeyError):
        found = None
    if not isinstance(found, GenerativeFunction):
        raise FileFormatError(f"there is no generative function {name}", fix="pass it: model=...")
    return found
