"""What a loop has done, and what it goes through."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import chain
from operator import index
from types import GeneratorType
from typing import Any

import numpy as np

from gendsl.runtime.blocks import Sequence
from gendsl.runtime.lowering.tables import as_column, as_rows
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.reads import Frame, Frames, Runner
from gendsl.runtime.totals import Total
from gendsl.runtime.written import Written, copied

_new: Any = object.__new__
Slot = tuple[int, int]
EVERY = object()
"""All iterations."""
ADDRESSES: Slot = (-1, -1)
"""Among the containers that iterations read: the addresses they make, where these can't be told apart."""


class Iterations:
    """What a loop has done.

    Attributes:
        frames: the frame of each iteration: a PersistentVector, or ColumnFrames.
        total: the sum of their scores.
        values: what each source is.
        status: how the last iteration left the loop, if it did.
        readers: for a container outside the loop, which iterations read which of its keys.
    """

    __slots__ = ("frames", "positions", "readers", "status", "total", "values")

    def __init__(
        self,
        frames: Any,
        total: Total,
        values: list[Any],
        status: str | None,
        readers: dict[Slot, Any],
        positions: dict[int, tuple[Any, dict[Any, list[int]]]],
    ) -> None:
        self.frames = frames
        self.total = total
        self.values = values
        self.status = status
        self.readers = readers
        self.positions = positions

    def over(self, frames: Any, total: Total, readers: dict[Slot, Any]) -> Iterations:
        """What the loop has done when its iterations are others, of the same sources."""
        after: Iterations = _new(Iterations)
        after.frames, after.total, after.readers = frames, total, readers
        after.values, after.status, after.positions = self.values, self.status, self.positions
        return after


class Source:
    """One thing that a loop goes through; see `ir.Source`. `column` makes it a column."""

    __slots__ = ("column", "counted", "runner", "slot", "target")

    def __init__(
        self, runner: Runner, counted: bool, target: int, slot: Slot | None, rows: bool = False
    ) -> None:
        self.runner = runner
        self.counted = counted
        self.target = target
        self.slot = slot
        self.column = as_rows if rows else as_column

    def value(self, frames: Frames) -> Any:
        """What the loop goes through, as something that can be indexed, or the first of a count."""
        value = self.runner.call(*frames)
        return index(value) if self.counted else as_indexable(value)

    def element(self, value: Any, t: int) -> Any:
        """What iteration t gets."""
        if self.counted:
            return value + t
        return value.raw(t) if type(value) is Written else value[t]


def as_indexable(value: Any) -> Any:
    """An iterable as something with a length whose elements can be asked for by position."""
    if isinstance(value, (list, tuple, range, np.ndarray, str)):
        return value
    if type(value) is Written:
        return list(value.made()) if value.is_dict else value
    if isinstance(value, GeneratorType):
        return list(map(copied, value))  # it may change what it has given, as one with a buffer does
    made = getattr(value, "made", None)
    return list(made() if made is not None else value)


def counted_at(value: Any, component: Any) -> int | None:
    """Where a range, or a count from its first number on, gives a value; None if it doesn't.

    The end of either isn't looked at.
    """
    if type(component) is not int:
        if not isinstance(component, (int, float, np.number)) or not float(component).is_integer():
            return None
        component = int(component)
    first, step = (value.start, value.step) if type(value) is range else (value, 1)
    t: int = component - first
    if step != 1:
        t, rest = divmod(t, step)
        if rest:
            return None
    return t if t >= 0 else None


def one_length(lengths: list[int]) -> int:
    """The length that all have.

    Raises:
        ValueError: they haven't; as `zip` says it.
    """
    if len(set(lengths)) > 1:
        deque(zip(*map(range, lengths), strict=True), maxlen=0)
    return lengths[0]


class Growing:
    """Iterations that are being added to others, as a list would have them."""

    def __init__(self, frames: PersistentVector[Frame]) -> None:
        self.frames = frames
        self.start = len(frames)
        self.added: list[Frame] = []

    def __len__(self) -> int:
        return self.start + len(self.added)

    def __getitem__(self, t: int) -> Frame:
        return self.frames[t] if t < self.start else self.added[t - self.start]

    def __iter__(self) -> Iterator[Frame]:
        return chain(self.frames, self.added)

    def append(self, frame: Frame) -> None:
        self.added.append(frame)


def all_states(body: Sequence) -> Iterator[int]:
    """The slots of the states of blocks over one frame, in branches too."""
    for block in body.blocks:
        if block.state >= 0:
            yield block.state
        for arm in getattr(block, "arms", ()):
            yield from all_states(arm)
