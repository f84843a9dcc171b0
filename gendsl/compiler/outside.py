"""What a text takes for constant that lies outside of it, and whether it is what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np


def now(where: Any, name: str) -> Any:
    """What is at a place outside of the text; None if there is nothing."""
    if isinstance(where, dict):
        return where.get(name)
    for part in name.removeprefix(".").split("."):
        where = getattr(where, part, None)
    return where


def stays(before: Any, after: Any) -> bool:
    """Whether what was at a place outside of the text and what is there now is the same for it."""
    if before is after:
        return True
    if type(before) is not type(after):
        return False
    if isinstance(before, np.generic):
        return bool(before.tobytes() == after.tobytes())
    if type(before) is tuple:
        return len(before) == len(after) and all(map(stays, before, after))
    return type(before) in (str, int, float, bool, bytes) and repr(before) == repr(after)


class Outside:
    """What a text took for constant, to be looked at each time that a function of the user's was called.

    Args:
        guards: where each of them is, its name, and what it was.
    """

    def __init__(self, guards: Iterable[tuple[Any, str, Any]]) -> None:
        self.guards = [(_reader(where, name), where, name, before) for where, name, before in guards]

    def changed(self) -> str | None:
        """The name of one that is another now; None if there is none."""
        for read, where, name, before in self.guards:
            try:
                after = read(where)
            except AttributeError:
                after = now(where, name)
            if after is not before and not stays(before, after):
                return name.removeprefix(".").removesuffix(".__func__")
        return None


def _reader(where: Any, name: str) -> Callable[[Any], Any]:
    """What reads as `now` does, where there is something."""
    return methodcaller("get", name) if isinstance(where, dict) else attrgetter(name.removeprefix("."))
