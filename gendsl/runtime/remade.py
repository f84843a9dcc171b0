"""Distributions of users' classes that are made again with what they were made with: those needn't be.

    ("x", j) @ ~truncated(mean, sd, last, end)

Whether such a choice keeps its distribution takes a comparison of three objects where the class only keeps
what it is called with, in place of a call of it and a comparison of what it made.
"""

from __future__ import annotations

import dis
import inspect
from types import FunctionType
from typing import Any

from gendsl.distributions import Distribution
from gendsl.distributions.base import ARGUMENTS
from gendsl.runtime.change import SCALARS
from gendsl.runtime.records import is_unchanged

_ELSEWHERE = (
    "CALL", "IMPORT", "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_FROM", "LOAD_GLOBAL", "LOAD_NAME", "MAKE",
)  # fmt: skip
"""How the names of instructions begin that look at something else than arguments, or call something."""
_MANY = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


class _Keepers(dict[type, int]):
    """Class -> with how many arguments it is called, if what it makes of numbers and strings depends on those
    alone, as far as is quickly seen; else -1."""

    def __missing__(self, kind: type) -> int:
        found = self[kind] = _kept(kind)
        return found


_KEEPERS = _Keepers()


def _kept(kind: Any) -> int:
    usual = type(kind) is type and issubclass(kind, Distribution) and kind.__dictoffset__ != 0
    init = kind.__init__
    if not usual or kind.__new__ is not object.__new__ or type(init) is not FunctionType:
        return -1
    code = init.__code__
    if init.__defaults__ or code.co_kwonlyargcount or code.co_flags & _MANY:
        return -1  # it may be called with other numbers of arguments
    if "__dataclass_params__" in vars(kind):
        keeps = kind.__dataclass_params__.init and not hasattr(kind, "__post_init__")
    else:
        names = (instruction.opname for instruction in dis.get_instructions(code))
        keeps = kind.__setattr__ is object.__setattr__ and not any(n.startswith(_ELSEWHERE) for n in names)
    return code.co_argcount - 1 if keeps else -1


def is_remade(kind: Any, arguments: tuple[Any, ...], distribution: Any, before: Distribution) -> bool:
    """Whether what `kind` made of some arguments surely is the same distribution as before.

    Then that is told what it was made with, if `kind` only keeps that. (To tell each that is made would cost
    more than it saves: many are gone after the move that they are made in.)
    """
    if not is_unchanged(distribution, before):
        return False
    if type(before) is kind and _KEEPERS[kind] == len(arguments) and SCALARS.issuperset(map(type, arguments)):
        before.__dict__[ARGUMENTS] = (kind, *arguments)
    return True
