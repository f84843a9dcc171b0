"""The output traces of a run of a transform: what was written and copied to them."""

from __future__ import annotations

import os
from collections.abc import Container
from typing import Any, NoReturn

from gendsl.address import Path
from gendsl.errors import CoverageError, HandleError, Location, ProtectedObservationError
from gendsl.runtime.paths import PathSet
from gendsl.supports import Support
from gendsl.transforms.definition import Definition
from gendsl.transforms.handles import Handle
from gendsl.transforms.inputs import Input
from gendsl.transforms.labels import Label

Line = tuple[str, int, str]
"""A line of the user's: the file, its number, and the function that it is in."""


class Entry:
    """What an output was given at one address, with the line that gave it.

    Those who make one set its attributes: an `__init__` would double the time that it takes.
    """

    __slots__ = ("line",)
    line: Line

    @property
    def location(self) -> Location:
        """The user's line."""
        return Location(*self.line)


class Write(Entry):
    """A value written to an output: as it was written, so with its derivatives."""

    __slots__ = ("label", "value")
    value: Any
    label: Label | None


class Copy(Entry):
    """A choice copied to an output."""

    __slots__ = ("path", "source")
    path: Path
    source: Input


class OutputHandle(Handle):
    """An address in an output trace."""

    __slots__ = ()
    state: Output

    def _at(self, path: Path) -> Handle:
        return DeeperOutput(self.state, path)

    def __setitem__(self, address: Any, value: Any) -> NoReturn:
        raise HandleError(
            f"values are not assigned to {self!r}", fix=f"call write({self[address]!r}, value)"
        )

    def __contains__(self, address: Any) -> bool:
        raise HandleError(
            f"`in {self!r}` can't be asked: {self.state.name} is an output trace",
            fix=f"ask it of an input trace, such as `in {self.state.transform.inputs[0]}`",
        )


class DeeperOutput(OutputHandle):
    """An address in an output trace that isn't all of it."""

    __slots__ = ("path", "state")

    def __init__(self, state: Output, path: Path) -> None:
        self.state = state
        self.path = path


class Output(OutputHandle):
    """An output trace as a transform sees it: the handle of the whole, and what was written and copied to it.

    Attributes:
        heads: what the protected addresses begin with, where that is known.
        values: the plain values of the entries, as far as they are known from the start.
        unsettled: where they aren't known from the start, or aren't numbers.
        supports: those of the choices of the trace that was made of it, once there is one.
        columns: the tangents of what was written to continuous choices of it, once there is one; None where
            something else than numbers and short vectors was.
    """

    __slots__ = (
        "columns", "entries", "heads", "name", "protected", "supports", "transform", "unsettled", "values",
    )  # fmt: skip
    path: Path = ()

    def __init__(self, transform: Definition, name: str, protected: Container[Path]) -> None:
        self.transform = transform
        self.name = name
        self.protected = protected
        self.heads = protected.heads if type(protected) is PathSet else None
        self.entries: dict[Path, Write | Copy] = {}
        self.values: dict[Path, Any] = {}
        self.unsettled: list[Path] = []
        self.supports: dict[Path, Support] = {}
        self.columns: list[dict[int, float]] | None = None

    @property
    def state(self) -> Output:  # type: ignore[override]
        """Itself: the handle of the whole trace."""
        return self

    def put(self, path: Path, entry: Write | Copy, value: Any) -> None:
        """Record a write or copy of a plain value to a path."""
        if path in self.protected:
            raise ProtectedObservationError(
                f"a transform writes to an observation of {self.name}, and observations are held fixed",
                address=path,
                fix="write to latent choices only",
            )
        before = self.entries.get(path)
        if before is not None:
            raise CoverageError(
                f"{self.name} is written twice at one address (first at {os.path.basename(before.line[0])}:"
                f"{before.line[1]})",
                address=path,
                fix="write or copy to each output address exactly once",
            )
        self.entries[path] = entry
        self.values[path] = value
