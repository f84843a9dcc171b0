"""What a transform finds outside of itself: a plan holds as long as nothing of it changes."""

from __future__ import annotations

import builtins
import dis
import opcode
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gendsl.distributions import Distribution
from gendsl.distributions.base import is_ours
from gendsl.runtime.lowering.build import Compiled
from gendsl.transforms.recording import MODULES, USUAL
from gendsl.transforms.run import Label
from gendsl.transforms.statements import copy, read, write
from gendsl.transforms.tape import Made, Traced, TracedVector, Unrecordable, Unseen

_CONSTANTS = (int, float, str, bytes, bool, type(None), Label)

_REFUSED = frozenset(
    opcode.opmap[name]
    for name in (
        "PUSH_EXC_INFO", "IMPORT_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR",
        "MATCH_CLASS", "MATCH_SEQUENCE", "MATCH_MAPPING",
    )
)  # fmt: skip
"""Instructions of `try` and `with`, by which a run may go on after an error, of what changes names and
attributes, and of patterns that ask of which class a value is."""

_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_OURS = frozenset(name for kind in (Traced, TracedVector, Unseen, Made) for name in kind.__slots__)
"""Attributes that a plain number, array or argument would not have, or another of that name."""

_IS = frozenset(
    number for name, number in opcode.opmap.items() if name == "IS_OP" or name.endswith("NONE")
)
"""Instructions that ask which object a value is."""


Gone = KeyError, ValueError
"""What is raised for a global name, or a variable of a function around, that has no value any more."""


_KINDS = frozenset(("isinstance", "issubclass", "type"))
"""What asks of which class a value is: a recorded number isn't of the class of numbers."""


class Surroundings:
    """What functions and those that they call find outside of themselves, besides what they are given.

    Args:
        programs: whether they are bodies of programs: those may make distributions, and call programs.
        besides: what is asked elsewhere, and need not be asked here.

    Attributes:
        given: objects by name, for an expression that asks of them.
        parts: the terms of the expression that nothing has changed.
        compares_objects: whether it is asked anywhere which object a value is, as `is None` does.

    Raises:
        Unrecordable: something may change without being another object.
    """

    def __init__(
        self, *functions: FunctionType, programs: bool = False, besides: Surroundings | None = None
    ) -> None:
        self.given: dict[str, Any] = {}
        self.parts: list[str] = []
        self.programs = programs
        self.compares_objects = False
        self._asked: set[Any] = set() if besides is None else set(besides._asked)
        self._done: set[Any] = set()
        for function in functions:
            self._function(function)

    def unchanged(self) -> Callable[[], bool]:
        """What tells whether all is as it was.

        Where something has no value any more it raises `Gone`.
        """
        names = ", ".join(f"{name}={name}" for name in self.given)
        asked = " and ".join(self.parts) or "True"
        made: Callable[[], bool] = eval(f"lambda {names}: {asked}", dict(self.given))
        return made

    def _name(self, thing: Any) -> str:
        name = f"g{len(self.given)}"
        self.given[name] = thing
        return name

    def _function(self, function: FunctionType) -> None:
        if function in self._done:
            return
        self._done.add(function)
        this, code = self._name(function), self._name(function.__code__)
        self.parts.append(f"{this}.__code__ is {code}")
        if not function.__dict__.keys() <= {"__wrapped__"}:
            raise Unrecordable("attributes of a function may change")
        for attribute in ("__defaults__", "__kwdefaults__"):
            self.parts.append(f"{this}.{attribute} is {self._name(getattr(function, attribute))}")
        for default in function.__defaults__ or ():
            self._look_at(default)
        for name, default in (function.__kwdefaults__ or {}).items():
            self.parts.append(f"{this}.__kwdefaults__[{name!r}] is {self._name(default)}")
            self._look_at(default)
        for cell in function.__closure__ or ():
            value = cell.cell_contents
            self._look_at(value)
            self.parts.append(f"{self._name(cell)}.cell_contents is {self._name(value)}")
        space = self._name(function.__globals__)
        names = _names(function.__code__)
        self.compares_objects = self.compares_objects or compares_objects(function.__code__)
        if self.programs and not _KINDS.isdisjoint(names):
            raise Unrecordable("it is asked of which class a value is")
        for name in sorted(names):
            key = id(function.__globals__), name
            is_new = key not in self._asked
            self._asked.add(key)
            if name in function.__globals__:
                value = function.__globals__[name]
                self._look_at(value)
                if is_new:
                    self.parts.append(f"{space}[{name!r}] is {self._name(value)}")
            elif hasattr(builtins, name) and is_new:
                self.parts.append(f"{name!r} not in {space}")

    def _look_at(self, value: Any) -> None:
        """Raise unless a value can't change but by being replaced; look at functions in their turn."""
        if isinstance(value, _CONSTANTS) or value is read or value is write or value is copy:
            return
        if self.programs and isinstance(value, Distribution) and is_ours(type(value)):
            return
        if self.programs and isinstance(value, type) and issubclass(value, Distribution):
            return
        if self.programs and type(getattr(value, "compiled", None)) is Compiled:
            if value.bound:
                raise Unrecordable("a method's object may change")
            self._function(value.compiled.original)
        elif isinstance(value, tuple):
            for part in value:
                self._look_at(part)
        elif isinstance(value, ModuleType):
            if value.__name__ not in MODULES:
                raise Unrecordable(f"what module {value.__name__} holds may change")
        elif isinstance(value, BuiltinFunctionType):
            if not isinstance(value.__self__, ModuleType):
                raise Unrecordable("a method's object may change")
        elif isinstance(value, FunctionType):
            self._function(value)
        elif not isinstance(value, np.ufunc) and not (isinstance(value, type) and value in USUAL):
            raise Unrecordable(f"a {type(value).__name__} may change")


def compares_objects(code: CodeType) -> bool:
    """Whether some code asks which object a value is."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return not _IS.isdisjoint(code.co_code[::2]) or any(map(compares_objects, inner))


def _names(code: CodeType) -> set[str]:
    """The names of globals and attributes in some code, and in that which is defined in it."""
    if not _REFUSED.isdisjoint(code.co_code[::2]):
        raise Unrecordable("a run may go on after an error, change names, or ask of what class a value is")
    if any(step.opname in _ATTRIBUTES and step.argval in _OURS for step in dis.get_instructions(code)):
        raise Unrecordable("an attribute is asked for that recorded numbers have for themselves")
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names
