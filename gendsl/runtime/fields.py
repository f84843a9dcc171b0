"""The content of a file, whoever wrote it: an entry is of the type that is asked for, or it is an error."""

from __future__ import annotations

import os
from collections.abc import Callable
from reprlib import repr as short
from typing import Any, TypeVar

from gendsl.errors import FileFormatError
from gendsl.runtime.encoding import decode, decode_choices
from gendsl.runtime.program_names import Find

_Made = TypeVar("_Made")

LARGEST_COUNT = 2**63 - 1
"""The largest count that a file may have: that of 64 bits."""


class Fields:
    """The entries of a JSON object of a file.

    Args:
        content: what was read.
        path: the file, which errors name.
        version: the version of its format.

    Raises:
        FileFormatError: the content is no object.
    """

    def __init__(self, content: Any, path: str | os.PathLike[str], version: int = 1) -> None:
        self.path = os.fspath(path)
        self.version = version
        if type(content) is not dict:
            raise self.error("its content is no object")
        self.content: dict[str, Any] = content

    def error(self, problem: str) -> FileFormatError:
        """The error for content that gendsl doesn't write."""
        return FileFormatError(
            f"{self.path} has what gendsl doesn't write: {problem}",
            fix="it was written by something else, or changed; restore it from a copy",
        )

    def __contains__(self, name: str) -> bool:
        return name in self.content

    def entry(self, name: str, *kinds: type) -> Any:
        """An entry of one of these types.

        Raises:
            FileFormatError: it isn't there, or is of another type; as for all that follow.
        """
        if name not in self.content:
            raise self.error(f"there is no {name!r}")
        value = self.content[name]
        if type(value) not in kinds:
            raise self.error(f"{name!r} is {short(value)[:60]}")
        return value

    def text(self, name: str) -> str:
        """A string."""
        value: str = self.entry(name, str)
        return value

    def count(self, name: str, least: int = 0, most: int = LARGEST_COUNT) -> int:
        """A whole number in a range."""
        value: int = self.entry(name, int)
        if not least <= value <= most:
            raise self.error(f"{name!r} is {short(value)[:60]}, and must be from {least} to {most}")
        return value

    def seconds(self, name: str) -> float:
        """A time that has passed."""
        value: float = self.entry(name, float, int)
        if not 0 <= value <= LARGEST_COUNT:
            raise self.error(f"{name!r} is {short(value)[:60]}")
        return float(value)

    def items(self, name: str) -> list[Any]:
        """A list."""
        value: list[Any] = self.entry(name, list)
        return value

    def inner(self, name: str) -> Fields:
        """An object in this one."""
        return Fields(self.entry(name, dict), self.path, self.version)

    # --- encoded values ------------------------------------------------------------------------------

    def values(self, name: str, find: Find | None = None) -> tuple[Any, ...]:
        """A list of encoded values."""
        return tuple(self.decoded(lambda: [decode(entry, find) for entry in self.items(name)]))

    def choices(self, name: str, find: Find | None = None) -> dict[Any, Any]:
        """Encoded choices."""
        return self.decoded(lambda: decode_choices(self.items(name), find))

    def number(self, name: str) -> float:
        """An encoded float."""
        value = self.decoded(lambda: decode(self.entry(name, float, dict)))
        if type(value) is not float:
            raise self.error(f"{name!r} is {short(value)[:60]}")
        return value

    def decoded(self, make: Callable[[], _Made]) -> _Made:
        """What a function makes of the content; its errors name the file."""
        try:
            return make()
        except FileFormatError as error:
            if self.path not in error.problem:
                error.problem = f"{self.path}: {error.problem}"
            raise
