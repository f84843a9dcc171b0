"""Values as JSON and back, exactly, in an open format with no code in it.

None, booleans, strings, integers and finite floats are themselves (JSON writes a float with the digits that
read back as the same float), and a list is an array. Everything else is an object with one key, its kind:

    {"float": "nan"}  {"complex": [re, im]}  {"tuple": [...]}  {"dict": [[key, value], ...]}  {"set": [...]}
    {"frozenset": [...]}  {"bytes": base64}  {"choices": [[path, value], ...]}  {"program": "module:name"}
    {"scalar": [dtype, value]}  {"array": {"dtype": "<f8", "shape": [2, 3], "entries": [...]}}

with the entries of an array in C order. A program is a name and no code: what has the name is for the caller
to give (see `gendsl.runtime.program_names`).

What is read may come from anybody. What `encode` doesn't make is a `FileFormatError`, and what `decode` makes
takes at most some hundred times the memory of its text. `encode` refuses what would be refused when read.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable
from reprlib import repr as short
from typing import Any

import numpy as np

from gendsl.choices import ChoiceMap
from gendsl.errors import FileFormatError, ValueTypeError
from gendsl.interface import GenerativeFunction
from gendsl.runtime.program_names import NOTHING_GIVEN, Find, program_name

DEEPEST = 100
"""How deeply values may be nested in each other."""

LARGEST = 8192
"""How many bits an integer may have."""

_PLAIN = frozenset({type(None), bool, str})
_NUMERIC = "biufc"
_STORED = "biufcUSO"
_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[US][0-9]{1,9}|O)")
_ENTRY = {"b": bool, "i": int, "u": int, "f": float, "c": complex, "U": str, "S": bytes}


def encode(value: Any, what: str = "the value", depth: int = 0) -> Any:
    """A value as what `json.dumps` takes; `what` names it in errors.

    Raises:
        ValueTypeError: it is of a class that has no open format, or too large or deep to be read again.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is int:
        if value.bit_length() > LARGEST:
            raise ValueTypeError(
                f"{what} has an integer of {value.bit_length()} bits, and files have at most {LARGEST}",
                fix="save it as a string or as bytes",
            )
        return value
    if depth > DEEPEST:
        raise ValueTypeError(
            f"{what} has values nested more than {DEEPEST} deep, which can't be saved",
            fix="make it flatter: a table instead of nodes in nodes",
        )
    if kind is list:
        return [encode(entry, what, depth + 1) for entry in value]
    encoder = _ENCODERS.get(kind)
    if encoder is not None:
        return encoder(value, what, depth + 1)
    if isinstance(value, np.generic) and value.dtype.kind in _NUMERIC:
        _check_precision(value.dtype, what)
        return {"scalar": [value.dtype.str, encode(value.item(), what)]}
    if isinstance(value, GenerativeFunction):
        return {"program": program_name(value, what)}
    raise ValueTypeError(
        f"{what} has a value of type {kind.__module__}.{kind.__qualname__}, which can't be saved without "
        "pickled code",
        fix="make it of numbers, strings, arrays, lists, tuples, dicts and sets; pickle saves anything",
    )


def _check_precision(dtype: np.dtype[Any], what: str) -> None:
    if dtype in (np.longdouble, np.clongdouble) and dtype not in (np.float64, np.complex128):
        raise ValueTypeError(
            f"{what} has numbers of dtype {dtype}, which would be rounded in a file",
            fix="make them float64 or complex128",
        )


def _encode_array(array: Any, what: str, depth: int) -> Any:
    dtype, entries = array.dtype, array.ravel().tolist()
    if dtype.kind not in _STORED:
        raise ValueTypeError(
            f"{what} has an array of dtype {dtype}, which can't be saved without pickled code",
            fix="make it of numbers, strings or objects that can be saved",
        )
    _check_precision(dtype, what)
    if dtype.kind in "US" and array.nbytes > _most_bytes(entries):
        raise ValueTypeError(
            f"{what} has an array of dtype {dtype}, far wider than its entries: files are read with no more "
            "memory than their size explains",
            fix=f"make it narrower: array.astype({dtype.kind!r})",
        )
    if dtype.kind not in "biu":
        entries = [encode(entry, what, depth) for entry in entries]
    return {"array": {"dtype": dtype.str, "shape": list(array.shape), "entries": entries}}


def _most_bytes(entries: Iterable[Any]) -> int:
    """How many bytes an array of these strings may take: some hundred times those of its text."""
    return 256 * (50 + sum(3 + len(entry) for entry in entries))


def encode_choices(choices: Any, what: str = "the trace", depth: int = 0) -> list[list[Any]]:
    """Pairs of path and value, encoded."""
    return [
        [[encode(part, what, depth) for part in path], encode(value, what, depth)]
        for path, value in choices.items()
    ]


def _encode_all(entries: Iterable[Any], what: str, depth: int) -> list[Any]:
    return [encode(entry, what, depth) for entry in entries]


_ENCODERS: dict[type, Callable[[Any, str, int], Any]] = {
    tuple: lambda value, what, depth: {"tuple": _encode_all(value, what, depth)},
    dict: lambda value, what, depth: {"dict": [_encode_all(pair, what, depth) for pair in value.items()]},
    set: lambda value, what, depth: {"set": _encode_all(value, what, depth)},
    frozenset: lambda value, what, depth: {"frozenset": _encode_all(value, what, depth)},
    complex: lambda value, what, depth: {"complex": _encode_all((value.real, value.imag), what, depth)},
    bytes: lambda value, what, depth: {"bytes": base64.b64encode(value).decode("ascii")},
    ChoiceMap: lambda value, what, depth: {"choices": encode_choices(value, what, depth)},
    np.ndarray: _encode_array,
}


# --- reading ---------------------------------------------------------------------------------------


def decode(encoded: Any, find: Find | None = None, depth: int = 0) -> Any:
    """The value that `encode` made this of.

    Args:
        encoded: what was made of it.
        find: what gives the program of a name; none is given if this isn't.
        depth: how many values it is in.

    Raises:
        FileFormatError: it is nothing that `encode` makes.
        UntrustedFileError: it names a program that isn't given.
    """
    kind = type(encoded)
    if kind is float or kind in _PLAIN:
        return encoded
    if kind is int:
        if encoded.bit_length() > LARGEST:
            raise FileFormatError(f"an integer has more than {LARGEST} bits", fix=_FOREIGN)
        return encoded
    if depth > DEEPEST:
        raise FileFormatError(f"values are nested more than {DEEPEST} deep", fix=_FOREIGN)
    try:
        if kind is list:
            return [decode(entry, find, depth + 1) for entry in encoded]
        ((name, content),) = encoded.items()
        return _DECODERS[name](content, find, depth + 1)
    except FileFormatError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileFormatError(
            f"{short(encoded)[:80]} is no value in gendsl's format ({error})", fix=_FOREIGN
        ) from None


_FOREIGN = "it was written by something else, or by another version of gendsl"


def _decode_array(content: Any, find: Find | None, depth: int) -> Any:
    name, shape, entries = (content[key] for key in ("dtype", "shape", "entries"))
    dtype = _dtype(name)
    if type(shape) is not list or type(entries) is not list:
        raise TypeError("shape and entries must be lists")
    if any(type(size) is not int or size < 0 for size in shape) or math.prod(shape) != len(entries):
        raise ValueError(f"{len(entries)} entries make no array of shape {shape}"[:80])
    if dtype.kind not in "biu":
        entries = [decode(entry, find, depth) for entry in entries]
    if dtype.kind == "O":
        array = np.empty(len(entries), dtype=object)
        for place, entry in enumerate(entries):  # `array[:] = entries` takes lists of one length as rows
            array[place] = entry
        return array.reshape(shape)
    wanted = _ENTRY[dtype.kind]
    if any(type(entry) is not wanted for entry in entries):
        raise TypeError(f"an entry is no {wanted.__name__}")
    if wanted is str or wanted is bytes:
        if dtype.itemsize * len(entries) > _most_bytes(entries):
            raise ValueError(f"the dtype {name} is far wider than the entries")
        width = dtype.itemsize // (4 if wanted is str else 1)
        if any(len(entry) > width for entry in entries):
            raise ValueError(f"an entry is longer than the dtype {name}")
    return np.array(entries, dtype=dtype).reshape(shape)


def _dtype(name: Any) -> np.dtype[Any]:
    if type(name) is not str or not _DTYPE.fullmatch(name):
        raise ValueError("no such dtype is saved")
    return np.dtype(name)


def _decode_scalar(content: Any, find: Find | None, depth: int) -> Any:
    name, encoded = content
    dtype = _dtype(name)
    value = decode(encoded)
    if dtype.kind not in _NUMERIC or type(value) is not _ENTRY[dtype.kind]:
        raise TypeError(f"no scalar of dtype {name}")
    if dtype.kind in "iu" and isinstance(value, int):
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"out of the range of {name}")
    return np.array(value, dtype=dtype)[()]


def decode_choices(content: Any, find: Find | None = None, depth: int = 0) -> dict[Any, Any]:
    """The dict from paths to values of encoded pairs.

    Raises:
        FileFormatError: it is nothing that `encode_choices` makes.
        UntrustedFileError: it names a program that isn't given.
    """
    try:
        pairs = [
            (tuple(_decode_all(path, find, depth)), decode(value, find, depth)) for path, value in content
        ]
        return _mapping(pairs)
    except FileFormatError:
        raise
    except (TypeError, ValueError) as error:
        raise FileFormatError(
            f"{short(content)[:80]} are no choices in gendsl's format ({error})", fix=_FOREIGN
        ) from None


def _decode_all(content: Any, find: Find | None, depth: int) -> list[Any]:
    if type(content) is not list:
        raise TypeError("a list must be here")
    return [decode(entry, find, depth) for entry in content]


def _mapping(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """A dict, if its keys are distinct, and so are most of their hashes: else it would take a time that
    grows with the square of its size.
    """
    if len({hash(key) for key, _ in pairs}) < len(pairs) // 2:
        raise ValueError("the keys have too few different hashes")
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is there twice")
    return made


def _decode_dict(content: Any, find: Find | None, depth: int) -> dict[Any, Any]:
    pairs = [_decode_all(pair, find, depth) for pair in content]
    return _mapping([(key, value) for key, value in pairs])


def _members(content: Any, find: Find | None, depth: int) -> Iterable[Any]:
    return _mapping([(entry, None) for entry in _decode_all(content, find, depth)])


def _decode_complex(content: Any, find: Find | None, depth: int) -> complex:
    real, imaginary = _decode_all(content, find, depth)
    if not type(real) is type(imaginary) is float:
        raise TypeError("the parts must be floats")
    return complex(real, imaginary)


def _decode_program(content: Any, find: Find | None, depth: int) -> Any:
    if type(content) is not str:
        raise TypeError("a name must be a string")
    return (find or NOTHING_GIVEN)(content)


_DECODERS: dict[str, Callable[[Any, Find | None, int], Any]] = {
    "float": lambda content, find, depth: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content],
    "complex": _decode_complex,
    "tuple": lambda content, find, depth: tuple(_decode_all(content, find, depth)),
    "dict": _decode_dict,
    "set": lambda content, find, depth: set(_members(content, find, depth)),
    "frozenset": lambda content, find, depth: frozenset(_members(content, find, depth)),
    "bytes": lambda content, find, depth: base64.b64decode(content, validate=True),
    "choices": lambda content, find, depth: ChoiceMap(decode_choices(content, find, depth)),
    "program": _decode_program,
    "scalar": _decode_scalar,
    "array": _decode_array,
}
