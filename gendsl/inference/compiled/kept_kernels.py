"""Kernels that were compiled before, kept in the user's folder, so that nothing need be read again.

What is kept is found by a fingerprint of all that a kernel was made from, and holds its machine code and what
there is to know of its memory. Objects of the user's are told by their places in the fingerprint, so that
those of this process are found for those of that one.
"""

from __future__ import annotations

import io
import logging
import pickle
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from gendsl.compiler.front.argument_types import types_of_arguments
from gendsl.compiler.hir.facts import Facts, TextColumn
from gendsl.compiler.hir.observations import Strings
from gendsl.compiler.hir.outside import now, stays
from gendsl.compiler.hir.templates import ArgumentsOf, Lowered
from gendsl.compiler.llvm import native, native_cache
from gendsl.compiler.moves import Step
from gendsl.compiler.run.chain_kernel import ChainKernel
from gendsl.inference.compiled.fingerprints import (
    FAILURES,
    OF_LIBRARIES,
    Fingerprint,
    installation,
    is_library,
)

if TYPE_CHECKING:
    from gendsl.compiler.run.closed_move import ClosedKernel
    from gendsl.compiler.steps.warming import Memory

_LOG = logging.getLogger("gendsl")
_BASIC = (str, int, float, bool, bytes, type(None), type(Ellipsis), tuple, list, dict, set, frozenset)
_OURS = ("gendsl.compiler.", __name__)
_NAMED = (type, FunctionType, BuiltinFunctionType, ModuleType, np.ufunc, type(np.sum))
"""What is written by its name, if that is where it is."""


class _Kept(NamedTuple):
    """What is kept of a kernel.

    Attributes:
        lowered: its programs without their texts, and without the objects that they took for constant.
        memories: what its warm-ups find, without what they have found.
        sites: what may fail where.
    """

    lowered: Lowered
    memories: dict[int, Memory]
    rows: list[int]
    row_count: int
    sites: list[tuple[int, str]]
    slopes_of: set[tuple[int, int]]
    written: set[int]
    code: native.Code


class KeptKernel(ChainKernel):
    """A kernel whose machine code was kept; its text is made where somebody asks for it."""

    def __init__(
        self,
        model: Any,
        args: tuple[Any, ...],
        steps: Sequence[Step | None],
        observed: frozenset[Strings],
        kept: _Kept,
    ) -> None:
        self.made_of, self.kept = (model, args, steps, observed), kept
        self.observed = observed
        self.lowered, self.meetings, self.memories = kept.lowered, [], kept.memories
        self.rows, self.row_count = kept.rows, kept.row_count
        self.start(args, steps)
        self.set_values_of_walks(steps)

    @cached_property
    def whole(self) -> ClosedKernel:
        """The kernel with its text."""
        return _made(*self.made_of)

    @cached_property
    def text(self) -> str:
        return self.whole.text

    @cached_property
    def llvm(self) -> tuple[str, list[tuple[int, str]]]:
        return "", self.kept.sites  # the IR is not needed again

    @cached_property
    def code(self) -> native.Code:
        return self.kept.code

    @cached_property
    def slopes_of(self) -> set[tuple[int, int]]:
        return self.kept.slopes_of

    @cached_property
    def written(self) -> set[int]:
        return self.kept.written

    def retuned(self, steps: Sequence[Step | None]) -> Self:
        made = super().retuned(steps)
        made.__dict__.pop("whole", None)
        made.made_of = *self.made_of[:2], steps, self.made_of[3]
        return made


def kernel_of(
    model: Any,
    args: tuple[Any, ...],
    steps: Sequence[Step | None],
    observed: frozenset[Strings],
    *,
    as_text: bool = False,
) -> ChainKernel:
    """A kernel for arguments of given types, as machine code: the one that is kept, or else one that then is.

    Args:
        as_text: whether no machine code is to be made of it.

    Raises:
        NotClosed: there is none.
    """
    keeps = not as_text and native_cache.folder() is not None
    found = _fingerprint(model, args, steps) if keeps else None
    if found is None:
        return _made(model, args, steps, observed)
    alone = repr(sorted(map(repr, observed)))
    key = native_cache.key_of("kernel", installation(), native.made_by(), found.bytes, alone)
    written = native_cache.load(key)
    kept: _Kept | None = None if written is None else _Reader(written, found).load()
    if kept is not None and all(stays(one, now(where, name)) for where, name, one in kept.lowered.guards):
        return KeptKernel(model, args, steps, observed, kept)
    made = _made(model, args, steps, observed)
    if not made.meetings:  # else its text tells which choices there are
        written = _written(made, found)
        if written is not None:
            native_cache.store(key, written)
    return made


def with_text(closed: ChainKernel) -> ClosedKernel:
    """A kernel with the functions of its text, which one that was kept has not."""
    from gendsl.compiler.run.closed_move import ClosedKernel  # takes long to import

    whole = closed.whole if isinstance(closed, KeptKernel) else closed
    assert isinstance(whole, ClosedKernel)
    return whole


def _made(
    model: Any, args: tuple[Any, ...], steps: Sequence[Step | None], observed: frozenset[Strings]
) -> ClosedKernel:
    """A kernel with its text."""
    from gendsl.compiler.run.closed_move import ClosedKernel  # takes long to import

    return ClosedKernel(model, args, steps, observed)


def _fingerprint(model: Any, args: tuple[Any, ...], steps: Sequence[Step | None]) -> Fingerprint | None:
    """What a kernel is made from: of arguments their types."""
    facts = Facts()
    types = types_of_arguments(facts, model, args)
    try:
        return Fingerprint(model, tuple(steps), types, facts)
    except FAILURES as error:
        _LOG.debug("a kernel can't be kept: %s", error)
        return None


def _written(made: ClosedKernel, found: Fingerprint) -> bytes | None:
    """What is kept of a kernel; None if that can't be."""
    given = [one for one, _ in made.lowered.inputs if not isinstance(one, (ArgumentsOf, TextColumn))]
    if any(id(one) not in found.numbers for one in given):  # these may change
        _LOG.debug("a kernel can't be kept: it is given what is not in the fingerprint")
        return None
    guards = [one for one in made.lowered.guards if not _stays(one[0], one[2], found)]
    lowered = replace(
        made.lowered, main=replace(made.lowered.main, body=[]), replays={}, asked={}, returned={},
        guards=guards, facts=made.lowered.facts.of_values(),
    )  # fmt: skip
    memories = {number: memory.apart(lowered) for number, memory in made.memories.items()}
    kept = _Kept(
        lowered, memories, made.rows, made.row_count, made.llvm[1], made.slopes_of, made.written, made.code
    )
    file = io.BytesIO()
    try:
        _Writer(file, found).dump(kept)
    except FAILURES as error:
        _LOG.debug("a kernel can't be kept: %s", error)
        return None
    return file.getvalue()


def _stays(where: Any, value: Any, found: Fingerprint) -> bool:
    """Whether what is at a place stays what it is, as it is a library's: it is not compared then.

    Of a library's module that is so of its objects, but not of its functions and numbers; and it is not so of
    objects of a library's classes that the user has made.
    """
    if isinstance(where, dict):
        return is_library(str(where.get("__name__")))
    if isinstance(where, ModuleType):
        return is_library(where.__name__) and not isinstance(value, OF_LIBRARIES)
    if isinstance(where, (type, FunctionType)):
        return is_library(str(where.__module__))
    return id(where) not in found.numbers and is_library(str(type(where).__module__))


def _module(name: str) -> Any:
    """A module of a library, or of the user's, of which it is then looked at what it has."""
    return sys.modules.get(name)


class _Writer(pickle.Pickler):
    """Writes what is kept: of the user's objects their places in the fingerprint."""

    def __init__(self, file: io.BytesIO, found: Fingerprint) -> None:
        super().__init__(file, protocol=5)
        self._found = found

    def persistent_id(self, one: Any) -> int | None:
        number = self._found.numbers.get(id(one))
        if number is not None:
            return number
        cls = type(one)
        if cls in _BASIC or isinstance(one, (*_NAMED, np.generic)) or cls.__module__.startswith(_OURS):
            return None
        raise pickle.PicklingError(f"a {cls.__qualname__} that is not in the fingerprint")

    def reducer_override(self, one: Any) -> Any:
        return (_module, (one.__name__,)) if isinstance(one, ModuleType) else NotImplemented


class _Reader(pickle.Unpickler):
    """Reads what is kept, with the objects of this process."""

    def __init__(self, kept: bytes, found: Fingerprint) -> None:
        super().__init__(io.BytesIO(kept))
        self._found = found

    def persistent_load(self, number: int) -> Any:
        return self._found.met[number]
