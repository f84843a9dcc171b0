"""What a text takes for constant that lies outside of it, and whether it is what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter, methodcaller
from types import ModuleType
from typing import Any

import numpy as np

_LIBRARIES = {"gendsl", "numpy", "scipy", "autograd", "math", "builtins"}


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
        self.of_users = [guard for guard in self.guards if not _is_of_library(guard[1])]

    def changed(self, *, of_users: bool = False) -> str | None:
        """The name of one that is another now; None if there is none.

        Args:
            of_users: whether only those are looked at that don't lie in a library, which takes less time.
        """
        for read, where, name, before in self.of_users if of_users else self.guards:
            try:
                after = read(where)
            except AttributeError:
                after = now(where, name)
            if after is not before and not stays(before, after):
                return name.removeprefix(".").removesuffix(".__func__")
        return None


def _is_of_library(where: Any) -> bool:
    """Whether a module, its globals or a class belongs to a library that users' code doesn't change."""
    name = where.get("__name__") if isinstance(where, dict) else getattr(where, "__module__", None)
    name = where.__name__ if isinstance(where, ModuleType) else name
    return isinstance(name, str) and name.partition(".")[0] in _LIBRARIES


def _reader(where: Any, name: str) -> Callable[[Any], Any]:
    """What reads as `now` does, where there is something."""
    return methodcaller("get", name) if isinstance(where, dict) else attrgetter(name.removeprefix("."))
