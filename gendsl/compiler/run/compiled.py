"""What was made of programs, as machine code: all that it takes to run it, and nothing of how it is made."""

from __future__ import annotations

import marshal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from operator import is_
from typing import Any

import numpy as np

from gendsl.compiler.hir.addresses import Addresses
from gendsl.compiler.hir.encode import flat
from gendsl.compiler.hir.facts import Facts, TextColumn
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.outside import Outside
from gendsl.compiler.hir.templates import ArgumentsOf, Lowered
from gendsl.compiler.hir.types import Type
from gendsl.compiler.llvm.native import Code, Native, code_of
from gendsl.compiler.llvm.native_layout import Layout

_WITHOUT_REFERENCES = 2
"""The version of `marshal` whose bytes don't depend on who else has an object."""
_UNCHANGEABLE = frozenset([float, int, bool, str])


class Found:
    """What there is in some objects, which are looked at again and again.

    Attributes:
        items: for a list of numbers or strings what was in it last, and what stands for that, by its place.
    """

    def __init__(self) -> None:
        self.items: dict[int, tuple[list[Any], bytes]] = {}

    def look(self, facts: Facts, objects: Iterable[tuple[Any, Type]]) -> tuple[Any, ...]:
        """What stands for what there is now, for each object of some type: equal if that is.

        Raises:
            NotClosed: one of them is not of its type.
        """
        return tuple(self._of(facts, at, one, kind) for at, (one, kind) in enumerate(objects))

    def _of(self, facts: Facts, at: int, one: Any, kind: Type) -> bytes | tuple[Any, ...]:
        if type(one) is np.ndarray and one.dtype.kind in "fiub":  # of these it takes least time
            return one.dtype.str, one.shape, one.tobytes()
        if type(one) is list and at in self.items:
            before, known = self.items[at]
            if len(one) == len(before) and all(map(is_, one, before)):
                return known
        found = marshal.dumps(flat(facts, one, kind), _WITHOUT_REFERENCES)
        if type(one) is list and _UNCHANGEABLE.issuperset(map(type, one)):
            self.items[at] = list(one), found
        return found


class Compiled(ABC):
    """What was made of programs that were lowered together, as machine code.

    Attributes:
        lowered: the first program in HIR, with what all of them share.
    """

    lowered: Lowered

    def inputs(self) -> list[tuple[int, Any, Type]]:
        """The objects from outside: (number, object, type), and last what there is of strings."""
        found = [(number, one, kind) for number, (one, kind) in enumerate(self.lowered.inputs)]
        return sorted(found, key=lambda given: isinstance(given[1], TextColumn))

    def changed(self, *, of_users: bool = False) -> str | None:
        """The name of something outside that the text took for constant and that is another now; or None.

        Args:
            of_users: whether only what lies in no library is looked at.
        """
        return self._outside.changed(of_users=of_users)

    def found_outside(self) -> tuple[Any, ...]:
        """What stands for what there is now in the objects from outside that may change: equal if that is.

        Raises:
            NotClosed: one of them is not of the type that the text is for.
        """
        places = self.lowered.inputs
        found = [(one, kind) for number, one, kind in self.inputs() if self._may_change(places[number][0])]
        return self._found.look(self.lowered.facts, found)

    def fits(self) -> bool:
        """Whether the objects from outside that may change are of the types that the text is for."""
        try:
            self.found_outside()
        except NotClosed:
            return False
        return True

    def _may_change(self, place: Any) -> bool:
        """Whether what is at a place among the inputs is the user's own, and no copy."""
        return not isinstance(place, (ArgumentsOf, TextColumn))

    @cached_property
    def _found(self) -> Found:
        return Found()

    @cached_property
    def _outside(self) -> Outside:
        return Outside(self.lowered.guards)

    def places(self, choices: Mapping[Any, Any]) -> dict[int, list[tuple[tuple[int, ...], list[Any]]]]:
        """The indices and leaves of choices, and of the calls of programs that call themselves, by
        template.
        """
        addresses = Addresses(self.lowered)
        found: dict[int, list[tuple[tuple[int, ...], list[Any]]]] = {
            t.number: [] for t in self.lowered.templates
        }
        for path, value in choices.items():
            template, indices, parts = addresses.place(path, value)
            found[template.number].append((indices, parts))
        for (number, indices), node in addresses.nodes.items():
            found[number].append((indices, [node]))
        return found

    @cached_property
    def layout(self) -> Layout:
        """Where things lie in the context of machine code."""
        return Layout(self.lowered)

    @cached_property
    @abstractmethod
    def llvm(self) -> tuple[str, list[tuple[int, str]]]:
        """The LLVM IR, and what may fail where."""

    @cached_property
    def code(self) -> Code:
        """The machine code, as files."""
        return code_of(self.llvm[0], *self.shared())

    @cached_property
    def native(self) -> Native:
        """The machine code, to be run."""
        return Native(self.code)

    def shared(self) -> list[str]:
        """The LLVM IR of what this text shares with others."""
        return []
