"""Functions of a trace whose values are recorded: their texts, which are kept with a kernel, and their values
in a chain. `closed_functions` makes the texts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.hir.encode import Words
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.hir.outside import stays
from gendsl.compiler.llvm.native_layout import FULL, NO_ROOM, Word
from gendsl.compiler.llvm.recorded_values import Rows
from gendsl.compiler.run.closed_functions import ClosedFunctions, Made

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel
    from gendsl.compiler.run.native_state import NativeState

_FIRST_ROOM = 8
"""For how many items of each list there is room at first."""
_MOST_ROOM = 1 << 20


def choice_at(path: tuple[Any, ...]) -> Callable[[Any], Any]:
    """The function of a trace that gives what is at an address."""
    return lambda trace: trace[path]


# --- texts that were made -------------------------------------------------------------------------

MOST_KEPT = 16
"""How many texts of functions are kept for the text of a kernel, the last ones."""


def _key(function: Any) -> Any:
    """What functions have in common that have one text, while what they find outside stays what it is."""
    bound = getattr(function, "__self__", None)
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return (function,)
    cells = []
    for cell in plain.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:
            cells.append(cell)
    named = tuple(sorted((plain.__kwdefaults__ or {}).items()))
    return code, plain.__globals__, bound, tuple(cells), plain.__defaults__, named


def _is_key(one: Any, other: Any) -> bool:
    return len(one) == len(other) and all(map(_is_part, one, other))


def _is_part(one: Any, other: Any) -> bool:
    if type(one) is tuple and type(other) is tuple:
        return len(one) == len(other) and all(map(_is_part, one, other))
    return stays(one, other) or (type(one) is type(other) is type(_key.__code__) and one == other)


def kept(closed: ChainKernel, functions: Mapping[str, Any]) -> Made | None:
    """The text of functions that was made before."""
    key, every = tuple((name, _key(one)) for name, one in functions.items()), closed.functions_kept
    for place, (known, text) in enumerate(every):
        if _is_part(known, key):
            if isinstance(text, ClosedFunctions) and text.outside.changed() is not None:
                del every[place]
                return None
            return text
    return None


def made(closed: ChainKernel, model: Any, args: tuple[Any, ...], functions: Mapping[str, Any]) -> Made:
    """The text of functions, which is kept."""
    text: Made
    try:
        text = ClosedFunctions(closed.layout, closed.lowered.facts.texts, model, args, functions)
    except NotClosed as reason:
        text = reason
    key = tuple((name, _key(one)) for name, one in functions.items())
    closed.functions_kept[:] = [(key, text), *closed.functions_kept][:MOST_KEPT]
    return text


# --- in a chain -----------------------------------------------------------------------------------


class RecordedFunctions:
    """Functions of the current trace of a chain of machine code.

    Attributes:
        recorders: what is recorded by them, by its name.
        found: what they found outside of themselves.
    """

    def __init__(self, text: ClosedFunctions, state: NativeState, recorders: Mapping[str, Any]) -> None:
        """
        Args:
            recorders: what is recorded: the functions of the text, or addresses of what they give.

        Raises:
            NotClosed: what the functions find outside is not of the types that the text is for.
        """
        self.text, self.state, self.recorders = text, state, dict(recorders)
        self.take_over()
        self.rooms = np.zeros((len(text.widths), 2), np.int64)
        self.rooms[:, 0] = _FIRST_ROOM
        self.call: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)(
            text.native.address
        )

    def take_over(self) -> None:
        """Take over what they find outside of themselves now.

        Raises:
            NotClosed: it is not of the types that the text is for.
        """
        self.found, self.memory = self.text.found_outside(), Words()
        self.given = self.text.given(self.memory)

    def look_outside(self) -> None:
        """Take over what code of the user's may have changed outside of them.

        Raises:
            NotClosed: it is something that the text takes for constant, or is of another type now.
        """
        changed = self.text.outside.changed(of_users=True)
        if changed is not None:
            raise NotClosed(f"{changed} is not what it was")
        if self.text.found_outside() != self.found:
            self.take_over()

    @property
    def width(self) -> int:
        """How many words what they give takes in a row."""
        rooms = iter(self.rooms[:, 0].tolist())
        return sum(kind.size([next(rooms) for _ in kind.widths]) for kind in self.text.kinds)

    def set_words(self) -> None:
        """Tell the machine code where they are, and what they are given."""
        self.state.widen(self.text.layout.size)
        words, first = self.state.words, self.text.layout.first
        words[first : first + len(self.given)] = self.given
        words[Word.FUNCTIONS], words[Word.FUNCTION_STATUS] = self.text.native.address, 0
        words[Word.FUNCTION_ROOMS] = self.rooms.ctypes.data

    def take(self, rows: Rows, at: int) -> list[list[Any]]:
        """What each function gave, in rows in which that begins with a word."""
        rooms, found = iter(self.rooms[:, 0].tolist()), []
        for kind in self.text.kinds:
            own = [next(rooms) for _ in kind.widths]
            found.append(kind.take(rows, at, iter(own)))
            at += kind.size(own)
        return found

    def make_room(self, status: int) -> bool:
        """Make room where there was none; whether that is what a status says, and there is some now."""
        if status == NO_ROOM:
            wanted = self.rooms[:, 1] > self.rooms[:, 0]
            self.rooms[wanted, 0] = 2 * self.rooms[wanted, 1]
            self.rooms[:, 1] = 0
            return bool((self.rooms[:, 0] <= _MOST_ROOM).all())
        return status == FULL and self.state.has_made_room()

    def read(self) -> dict[str, Any]:
        """What they give of the current trace, by their names.

        Raises:
            FailedText: Python decides.
        """
        while True:
            self.set_words()
            row = np.empty((1, self.width), np.int64)
            status = self.call(self.state.words.ctypes.data, row.ctypes.data, self.rooms.ctypes.data)
            if status == 0:
                values = self.take(row, 0)
                return {name: value for name, (value,) in zip(self.recorders, values, strict=True)}
            if not self.make_room(status):
                break
        if status in (FULL, NO_ROOM):
            raise FailedText(0, "more memory than a text may use")
        raise FailedText(*self.text.sites[int(self.state.words[Word.SITE])])
