"""How pieces of code read the slots of frames, and when they have to run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gendsl.runtime.change import ALL, LENGTH, normal_key
from gendsl.runtime.lowering.ir import ITEM
from gendsl.runtime.lowering.ir import LENGTH as OF_LENGTH
from gendsl.runtime.lowering.tables import is_array
from gendsl.runtime.written_keys import CELL

Frame = list[Any]
Frames = tuple[Frame, ...]
Changes = tuple[dict[int, Any], ...]


Key = tuple[Callable[..., Any], bool]
"""Code for a key of a container, or for a list of keys, and whether it is one for a list."""


_SEQUENCES = frozenset((list, tuple, dict, np.ndarray))


class Read:
    """How a piece of code reads one slot of a frame in scope.

    Attributes:
        keys: which entries it reads, where it reads entries.
        key_slots: the depths and slots of what these depend on.
        own: for a container that the loop itself writes, what it has written so far; see `ir.Load`.
        around: where the loop writes entries of a container that a loop around it writes, the read of that:
            the keys are those of its changes.
    """

    __slots__ = ("around", "depth", "key_slots", "keys", "mode", "own", "slot")

    def __init__(
        self,
        depth: int,
        slot: int,
        mode: str,
        keys: list[Key],
        own: int | None,
        key_slots: frozenset[tuple[int, int]] = frozenset(),
        around: Read | None = None,
    ) -> None:
        self.around = around
        self.key_slots = key_slots
        self.depth = depth
        self.slot = slot
        self.mode = mode
        self.keys = keys
        self.own = own

    def container(self, frames: Frames) -> Any:
        """What is read, as the code sees it."""
        if self.around is not None:
            return self.around.container(frames)
        value = frames[self.depth][self.slot]
        if self.own is not None:
            value = value.upto(frames[self.depth + 1], self.own)
        return value

    def keys_read(self, frames: Frames) -> Iterator[Any]:
        """The keys that the code reads, LENGTH too where it counts from the end, or ALL if unknown."""
        container = self.container(frames)
        for key_code, several in self.keys:
            try:
                found = key_code(*frames)
                keys = [_keys(container, key) for key in (found if several else (found,))]
            except Exception:  # the code may not have got there: what it reads is then not known
                yield ALL
                return
            for normal in keys:
                yield from normal


def _keys(container: Any, key: Any) -> tuple[Any, ...]:
    """The keys of the changes that concern a lookup, LENGTH among them where it counts from the end."""
    if type(key) is tuple and key and key[0] is CELL:
        if getattr(container, "rows", False):
            return container.keys_of_cell(*key[1:])  # type: ignore[no-any-return]
        key = key[1]
    normal, from_the_end = _normal(container, key)
    if normal is ALL and (parts := getattr(container, "parts_of", _no_parts)(key)) is not None:
        return (*parts, LENGTH) if from_the_end else tuple(parts)
    return (normal, LENGTH) if from_the_end else (normal,)


def _is_from_end(key: Any) -> bool:
    """Whether it may depend on the length of an array which of its entries an index names."""
    first = key[0] if type(key) is tuple and key else key
    return not isinstance(first, (int, np.integer)) or bool(first < 0)


def _no_parts(_: Any) -> None:
    """The keys of the parts of what no loop fills aren't known."""


def _normal(container: Any, key: Any) -> tuple[Any, bool]:
    """A key as changes have it, ALL if it may name several entries, and whether it counts from the end."""
    if type(key) is tuple or type(container) not in _SEQUENCES:
        entry_of = getattr(container, "entry_of", None)
        if entry_of is not None and (type(key) is tuple or container.indices > 1):  # a loop has filled it
            return entry_of(key), not container.is_dict and _is_from_end(key)
    if type(key) is not int and not is_one_entry(container, key):
        return ALL, False
    normal = normal_key(container, key)
    hash(normal)
    return normal, isinstance(key, (int, np.integer)) and bool(key < 0) and not _is_dict(container)


def _is_dict(container: Any) -> bool:
    return isinstance(container, dict) or getattr(container, "is_dict", False)


def is_one_entry(container: Any, key: Any) -> bool:
    """Whether a key surely names one entry, as changes do; a mask or several indices name others too."""
    if _is_dict(container):
        return True
    if isinstance(key, bool):  # a mask, where it is the index of an array
        return not is_array(container)
    return isinstance(key, np.integer)


def is_dirty(reads: list[Read], frames: Frames, changes: Changes) -> bool:
    """Whether code with these reads has to run again."""
    for read in reads:
        change = changes[read.depth].get(read.slot)
        if change is None:
            continue
        if change is ALL:
            return True
        if read.mode is ITEM:
            for key in read.keys_read(frames):
                if key is ALL or key in change:
                    return True
        elif read.mode is OF_LENGTH:
            if LENGTH in change:
                return True
        else:
            return True
    return False


class Runner:
    """A piece of code, and when it has to run again."""

    __slots__ = ("always", "call", "reads")

    def __init__(self, call: Callable[..., Any], reads: list[Read]) -> None:
        self.call = call
        self.reads = reads
        self.always = all(read.mode is not ITEM and read.mode is not OF_LENGTH for read in reads)

    def is_dirty(self, frames: Frames, changes: Changes) -> bool:
        """Whether what it reads has changed."""
        return is_dirty(self.reads, frames, changes)
