"""Files that are whole or not there, with a format, a version and a checksum.

A file is one JSON object: its format and version, a checksum, and the content. It is written beside its
place, flushed to the disk and then renamed, so that at every moment there is a whole file or none.

The name of what is written beside it has the machine, the process and a random number in it. If the process
is killed it stays, and the next that saves there removes it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import socket
import stat
import zlib
from collections.abc import Collection
from pathlib import Path as FilePath
from reprlib import repr as short
from typing import Any

from gendsl.errors import FileFormatError, ValueTypeError
from gendsl.runtime.fields import Fields

_CONTENT, _END = b',"content":', b"}\n"
_MOST_DIGITS = 2500  # of an integer: reading one takes a time that grows with the square
_MACHINE = f"{zlib.crc32(socket.gethostname().encode()):08x}"
_PART = re.compile(r"\..*\.([0-9a-f]{8})-([0-9]+)-[0-9a-f]{16}\.part")


# --- writing ---------------------------------------------------------------------------------------


def to_json(content: Any) -> str:
    """Compact JSON, the same for the same content."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def checksum(data: bytes) -> str:
    """The CRC-32 of some bytes, in hexadecimal."""
    return f"{zlib.crc32(data):08x}"


def given_path(path: Any, user: str) -> FilePath:
    """The path of a file that was given to a function.

    Raises:
        ValueTypeError: it is no path. (A number would be that of an open file.)
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ValueTypeError(f"{user} got {short(path)}", fix="give the path of a file, such as 'trace.json'")
    return FilePath(path)


def write_file(path: str | os.PathLike[str], kind: str, content: Any, version: int = 1) -> None:
    """Write a file with its format, version and checksum; whole or not at all."""
    text = to_json(content).encode()
    head = {"format": kind, "version": version, "crc32": checksum(text)}
    replace_file(path, to_json(head)[:-1].encode() + _CONTENT + text + _END)


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Put a file in place of another at once: whoever opens it sees all of the old one or of the new.

    Raises:
        OSError: it can't be written; what was there is still there, and nothing else.
    """
    place = FilePath(path)
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a file can't be saved in place of a folder", os.fspath(path))
    beside = place.with_name(f".{place.name}.{_MACHINE}-{os.getpid()}-{secrets.token_hex(8)}.part")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename, error.filename2 = os.fspath(path), None
        raise
    sync_folder(place.parent)


def sync_folder(folder: FilePath) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_parts(folder: FilePath, beginning: str = "", *, locked: bool = False) -> None:
    """Remove what processes that were killed left beside the places of their files.

    Args:
        folder: where.
        beginning: how the names of the files begin.
        locked: whether nobody else can be writing them now. If not, what a process of this machine left is
            removed once it has ended.
    """
    names = []
    with contextlib.suppress(PermissionError):  # a folder that may be written and not listed
        names = os.listdir(folder)
    for name in names:
        if not name.startswith(f".{beginning}") or not (match := _PART.fullmatch(name)):
            continue
        if locked or (match[1] == _MACHINE and _has_ended(int(match[2]))):
            with contextlib.suppress(PermissionError):  # Windows keeps what is open: its process lives
                (folder / name).unlink(missing_ok=True)


def _has_ended(process: int) -> bool:
    """Whether a process of this machine has ended; on Windows, whether it is another."""
    if os.name == "nt":  # where a signal ends it, and open files can't be removed
        return process != os.getpid()
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


# --- reading ---------------------------------------------------------------------------------------


def read_file(path: str | os.PathLike[str], kind: str, versions: Collection[int] = (1,)) -> Fields:
    """The content of a file that `write_file` wrote.

    Raises:
        FileFormatError: it is another kind of file, of another version, or damaged.
        OSError: it can't be read.
    """
    data = read_bytes(path)
    try:
        document = parse(data)
    except ValueError:
        if data[:60].startswith(f'{{"format":{json.dumps(kind)}'.encode()):
            raise damaged(path) from None
        raise foreign(path, kind) from None
    if not isinstance(document, dict) or document.get("format") != kind:
        raise foreign(path, kind)
    version = document.get("version")
    if type(version) is not int or version not in versions:
        raise FileFormatError(
            f"{os.fspath(path)} has version {str(version)[:40]} of the format {kind!r}, and this gendsl "
            f"reads version {' and '.join(map(str, versions))}",
            fix="read it with the gendsl that wrote it",
        )
    _, found, text = data.partition(_CONTENT)
    whole = bool(found) and text.endswith(_END)
    if not whole or checksum(text[: -len(_END)]) != document.get("crc32"):
        raise damaged(path)
    return Fields(document["content"], path, version)


def read_bytes(path: str | os.PathLike[str], size: int | None = None) -> bytes:
    """What a file has, or its first bytes, of which there must be as many.

    Raises:
        FileFormatError: it is no regular file (a pipe would never end), or shorter.
        OSError: it can't be read.
    """
    known = os.stat(path)
    if not stat.S_ISREG(known.st_mode) and not stat.S_ISDIR(known.st_mode):
        raise FileFormatError(
            f"{os.fspath(path)} is no file of data, but a pipe or a device", fix="give the path of a file"
        )
    with open(path, "rb") as file:
        if size is None:
            return file.read()
        if size > known.st_size:
            raise damaged(path)
        return file.read(size)


def parse(text: str | bytes) -> Any:
    """What JSON says.

    Raises:
        ValueError: it is no JSON, or has numbers or a depth that gendsl never writes.
    """
    try:
        return json.loads(text, parse_int=_integer, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("too deep") from None


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("an integer of too many digits")
    return int(digits)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


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
