"""Frozen dataclasses that are made as fast as those that aren't frozen.

A frozen dataclass sets each of its attributes by a call of `object.__setattr__`, which takes most of the time
of making one, and each step of a kernel makes one. Here the attributes are set while the new object is still
of a class that isn't frozen, with the same slots.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar, dataclass_transform

_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True)
def frozen(cls: type[_Class]) -> type[_Class]:
    """`@dataclass(frozen=True, slots=True)`, for classes that nothing is derived from."""
    made: Any = dataclass(frozen=True, slots=True)(cls)
    names = [field.name for field in fields(made)]
    scope: dict[str, Any] = {
        "frozen": made,
        "open": type(made.__name__, (), {"__slots__": tuple(names)}),
        "reclass": object.__setattr__,
    }
    given = []
    for field in fields(made):
        given.append(field.name)
        if field.default is not MISSING:
            scope[f"default_{field.name}"] = field.default
            given[-1] += f"=default_{field.name}"
    lines = [
        f"def __init__(self, {', '.join(given)}):",
        "    reclass(self, '__class__', open)",
        *(f"    self.{name} = {name}" for name in names),
        "    self.__class__ = frozen",
    ]
    exec("\n".join(lines), scope)
    init = scope["__init__"]
    init.__annotations__, init.__qualname__ = made.__init__.__annotations__, f"{made.__qualname__}.__init__"
    made.__init__ = init
    return made  # type: ignore[no-any-return]
