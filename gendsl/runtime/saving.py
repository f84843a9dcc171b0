"""Traces in files, without pickle: the program's name, its arguments and the choices, as JSON.

A file is one JSON object: its format and version, a checksum, and the content. It is written beside its
place, flushed to the disk and then renamed, so that at every moment there is a whole file or none.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path as FilePath
from typing import Any

from gendsl.errors import FileFormatError, ValueTypeError
from gendsl.interface import GenerativeFunction, Trace
from gendsl.runtime.encoding import (
    decode,
    decode_choices,
    encode,
    encode_choices,
    find_program,
    program_name,
)

TRACE = "gendsl trace"
VERSION = 1

_CONTENT, _END = b',"content":', b"}\n"


# --- any file --------------------------------------------------------------------------------------


def to_json(content: Any) -> str:
    """Compact JSON, the same for the same content."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def checksum(data: bytes) -> str:
    """The CRC-32 of some bytes, in hexadecimal."""
    return f"{zlib.crc32(data):08x}"


def write_file(path: str | os.PathLike[str], kind: str, content: Any) -> None:
    """Write a file with its format, version and checksum; whole or not at all."""
    text = to_json(content).encode()
    head = {"format": kind, "version": VERSION, "crc32": checksum(text)}
    replace_file(path, to_json(head)[:-1].encode() + _CONTENT + text + _END)


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Put a file in place of another at once: whoever opens it sees all of the old one or of the new."""
    place = FilePath(path)
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    with open(beside, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, place)
    sync_folder(place.parent)


def sync_folder(folder: FilePath) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_file(path: str | os.PathLike[str], kind: str) -> Any:
    """The content of a file that `write_file` wrote.

    Raises:
        FileFormatError: it is another kind of file, of a newer version, or damaged.
        OSError: it can't be read.
    """
    data = FilePath(path).read_bytes()
    try:
        document = json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        if data[:60].startswith(f'{{"format":{json.dumps(kind)}'.encode()):
            raise damaged(path) from None
        raise foreign(path, kind) from None
    if not isinstance(document, dict) or document.get("format") != kind:
        raise foreign(path, kind)
    if document.get("version") != VERSION:
        raise FileFormatError(
            f"{os.fspath(path)} has version {document.get('version')!r} of the format {kind!r}, and this "
            f"gendsl reads version {VERSION}",
            fix="read it with the gendsl that wrote it",
        )
    _, found, text = data.partition(_CONTENT)
    whole = bool(found) and text.endswith(_END)
    if not whole or checksum(text[: -len(_END)]) != document.get("crc32"):
        raise damaged(path)
    return document["content"]


def damaged(path: str | os.PathLike[str]) -> FileFormatError:
    """The error for a file that isn't as it was written."""
    return FileFormatError(
        f"{os.fspath(path)} is damaged: it was cut off or changed after it was written",
        fix="restore it from a copy",
    )


def foreign(path: str | os.PathLike[str], kind: str) -> FileFormatError:
    """The error for a file that something else wrote."""
    return FileFormatError(
        f"{os.fspath(path)} is no file of the format {kind!r}",
        fix="give the path of one that gendsl saved",
    )


# --- traces ----------------------------------------------------------------------------------------


def save_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Save a trace: `trace.save(path)`."""
    content = {
        "program": program_name(trace.gen_fn, must_be_found=False),
        "args": [encode(arg, "an argument of the trace") for arg in trace.args],
        "observed": encode_choices(trace.observed),
        "choices": encode_choices(latent(trace)),
        "log_prob": encode(float(trace.log_prob)),
    }
    write_file(path, TRACE, content)


def load_trace(path: str | os.PathLike[str], model: GenerativeFunction | None = None) -> Any:
    """The trace that `trace.save(path)` saved.

    Args:
        path: the file.
        model: the program it is a trace of. If not given, its module is imported and it is looked up by name.

    Returns:
        A trace with the same arguments, choices and observations; everything else is computed from them.

    Raises:
        FileFormatError: the file is damaged or no saved trace; or the program isn't found, is another one, or
            gives these choices another density.
        OSError: the file can't be read.
    """
    content = read_file(path, TRACE)
    name = content["program"]
    if model is None:
        model = find_program(name)
    elif not isinstance(model, GenerativeFunction):
        raise ValueTypeError(f"load_trace got model={model!r}", fix="pass a @gen function")
    args = tuple(decode(arg) for arg in content["args"])
    observed = decode_choices(content["observed"])
    trace = remake(model, args, {**decode_choices(content["choices"]), **observed}, observed)
    check_density(trace, decode(content["log_prob"]), f"{os.fspath(path)}, a trace of {name},")
    return trace


def remake(model: Any, args: tuple[Any, ...], values: dict[Any, Any], observed: Any) -> Any:
    """A trace made of nothing but its arguments and choices, all of which must be the program's.

    Raises:
        FileFormatError: they are not the program's.
    """
    if model.__module__ and hasattr(model, "score"):
        try:
            trace = model.score(args, values)
        except KeyError as error:  # MissingChoiceError is one
            raise FileFormatError(
                f"{model.name} makes a choice that was not saved: {error.args[0] if error.args else error}",
                fix="give the program that it was saved from, as it was then",
            ) from None
        extra = next((path for path in values if path not in trace.records), None)
        if extra is not None:
            raise FileFormatError(
                f"{model.name} has no such choice as was saved",
                address=extra,
                fix="give the program that it was saved from, as it was then",
            )
        trace.observed_paths = frozenset(observed)
        return trace
    raise ValueTypeError(f"traces of {model!r} can't be remade", fix="use a @gen function")


def check_density(trace: Any, expected: float, what: str) -> None:
    """Raise unless a trace that was made again has the log density that it had.

    Raises:
        FileFormatError: it has another; the program isn't what it was.
    """
    found = trace.log_prob
    if found == expected or (found != found and expected != expected):
        return
    if not abs(found - expected) <= 1e-8 * max(1.0, abs(found), abs(expected)):
        raise FileFormatError(
            f"{what} had the log density {expected!r}, and {trace.gen_fn.name} now gives it {found!r}",
            fix="give the program that it was saved from, as it was then",
        )


def latent(trace: Any) -> dict[Any, Any]:
    """The choices of a trace that are no observations, by path."""
    observed = trace.observed_paths
    return {path: record[1] for path, record in trace.records.items() if path not in observed}


def whole_trace(start: Any, choices: dict[Any, Any]) -> Any:
    """The trace with the program, the arguments and the observations of another, and these latent choices."""
    observed = dict(start.observed.items())
    trace = remake(start.gen_fn, start.args, {**observed, **choices}, ())
    trace.observed_paths = start.observed_paths
    return trace
