"""Machine code, and what else was made before, kept in a folder of the user's.

A file is named by a hash of what it was made from: of machine code, the LLVM IR, the version of LLVM and the
processor. It holds a hash of what is kept, and then that itself. The folder must be one that nobody else can
write to, as what is in it is run. `GENDSL_CACHE` names another folder; with `GENDSL_CACHE=0` nothing is kept.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import platformdirs

MOST_BYTES = 256 * 2**20
"""How much is kept; of more, what was used last."""

_HASH_BYTES = 32
_LOG = logging.getLogger("gendsl")


def folder() -> Path | None:
    """The folder, made where there is none; None where there is to be none, or it is not the user's own."""
    named = os.environ.get("GENDSL_CACHE", "")
    if named == "0":
        return None
    path = Path(named) if named else platformdirs.user_cache_path("gendsl") / "machine-code"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_users_own(path):
            return path
        reason = "others can write to it"
    except OSError as error:
        reason = str(error)
    _LOG.debug("machine code is not kept in %s: %s", path, reason)
    return None


def is_users_own(path: Path) -> bool:
    """Whether a folder belongs to the user and nobody else can write to it, as far as the system tells."""
    if not hasattr(os, "getuid"):
        return True  # folders in a user's profile are the user's own there
    found = path.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def key_of(*parts: str | bytes) -> str:
    """The name of what is made from these."""
    made = hashlib.sha256()
    for part in parts:
        found = part.encode() if isinstance(part, str) else part
        made.update(f"{len(found)} ".encode())
        made.update(found)
    return made.hexdigest()


def load(key: str) -> bytes | None:
    """What is kept under a name; None where there is nothing, or it is damaged."""
    found = folder()
    if found is None:
        return None
    path = found / f"{key}.o"
    try:
        kept = path.read_bytes()
        code = kept[_HASH_BYTES:]
        if hashlib.sha256(code).digest() != kept[:_HASH_BYTES]:
            _LOG.debug("machine code in %s is damaged", path)
            return None
        os.utime(path)  # it was used
    except FileNotFoundError:
        return None
    except OSError as error:
        _LOG.debug("machine code in %s can't be read: %s", path, error)
        return None
    return code


def store(key: str, code: bytes) -> None:
    """Keep something under a name. Whoever reads it finds all of it or nothing."""
    found = folder()
    if found is None:
        return
    try:
        handle, name = tempfile.mkstemp(dir=found)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(name, found / f"{key}.o")
        except OSError:
            with suppress(FileNotFoundError):
                os.remove(name)
            raise
        _forget_oldest(found)
    except OSError as error:
        _LOG.debug("machine code can't be kept in %s: %s", found, error)


def _forget_oldest(path: Path) -> None:
    """Remove what was used longest ago, until not too much is kept."""
    files = [(entry.stat(), entry.path) for entry in os.scandir(path) if entry.name.endswith(".o")]
    left = sum(found.st_size for found, _ in files)
    for found, name in sorted(files, key=lambda file: file[0].st_mtime):
        if left <= MOST_BYTES:
            break
        with suppress(FileNotFoundError):  # another process removes it, too
            os.remove(name)
        left -= found.st_size
