"""A transform as it is written down, apart from what runs it: what is said of it needs no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gendsl.errors import Location
from gendsl.lang.source import Source


@dataclass(frozen=True, eq=False)
class Definition:
    """A function that was made a transform.

    Attributes:
        origin: its source.
        body: the function with what differentiates it.
        inputs: names of the input traces.
        outputs: names of the output traces.
        parameters: the extra parameters, with their values.
    """

    origin: Source
    body: Callable[..., None]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        """The name to show to people."""
        return self.origin.function.__qualname__.rpartition("<locals>.")[2]

    @property
    def __name__(self) -> str:
        return self.origin.function.__name__

    @property
    def location(self) -> Location:
        """Where it is defined."""
        return self.origin.location(self.origin.node)
