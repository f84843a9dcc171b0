"""The names of a text: those of its variables, and those that have a meaning of their own there."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Hashable
from dataclasses import dataclass, field

from gendsl.compiler import hir
from gendsl.compiler.hir.operations import NAMES

Name = Hashable  # a variable's name, or (an object that is being made, its attribute)


@dataclass(eq=False)
class Text:
    """The function of the text that statements are added to: its name space and its labels."""

    function: hir.Function
    used: dict[str, int] = field(default_factory=dict)
    count: int = 0
    """How many statements were added."""

    def fresh(self, hint: str) -> str:
        """A name that the function does not use yet."""
        count = self.used.get(hint, 0)
        self.used[hint] = count + 1
        name = hint if count == 0 else f"{hint}_{count}"
        if count and name in self.used:
            return self.fresh(hint)
        self.used.setdefault(name, 1)
        return name


RESERVED = {
    *dir(builtins),
    *keyword.kwlist,
    *NAMES,
    "lanes",
    "state",
    "lp",
    "None",
    "True",
    "False",
    "and",
    "or",
    "not",
    "if",
    "lambda",
}
