"""Containers that a loop fills, one entry per iteration, as views of the loop's iterations.

    mu = [("mu", j) @ ~d for j in range(k)]        mu[j] is the value of iteration j
    x.append(("x", t) @ ~d)                         x[t], after what x held before the loop
    mu[j] = ~d                                      mu[j], over what mu held before the loop

Nothing is copied when an iteration changes: code that reads by index looks the entry up where it is
stored, and only code that wants the whole container gets a real list, dict or array.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from gendsl.compiler.ir import POSITION
from gendsl.compiler.tables import Columnar, as_column
from gendsl.runtime.change import ALL, SCALARS, UNSET
from gendsl.runtime.column_frames import ColumnFrames

_NOT_MADE: Any = object()


class Written(Columnar):
    """A container with entries written by the iterations of a loop.

    Attributes:
        kind: "append" where iteration t writes the entry after those of `base` and of earlier iterations;
            else it writes the entry at the value of its slot `key`.
        base: what the container was before the loop.
        frames: the iterations.
        value, key: the slots of an iteration's entry and its key.
        count: for keys that are counted, the first and the step; else None.
    """

    __slots__ = (
        "_column", "_known", "_made", "_writers", "base", "count", "frames", "is_dict", "key", "kind",
        "value",
    )  # fmt: skip

    def __init__(
        self, kind: str, base: Any, frames: Any, value: int, key: int, count: tuple[int, int] | None
    ) -> None:
        self.kind = kind
        self.base = base
        self.frames = frames
        self.value = value
        self.key = key
        self.count = count
        self.is_dict = isinstance(base, dict) or getattr(base, "is_dict", False)
        self._made: Any = _NOT_MADE
        self._column: Any = None
        self._writers: dict[Any, list[int]] | None = None
        self._known = 0

    def over(self, frames: Any) -> Written:
        """The container when the iterations are others, but write at the same keys."""
        return Written(self.kind, self.base, frames, self.value, self.key, self.count)

    # --- who wrote what ---------------------------------------------------------------------------

    def key_of(self, t: int) -> Any:
        """The key of iteration t's entry; ALL if it is a mask, a slice or several indices."""
        if self.kind == "append":
            return len(self.base) + t
        key = self.slot(t, self.key)
        return key if self.is_dict else self._index(key, len(self.base))

    def slot(self, t: int, slot: int) -> Any:
        """One slot of iteration t."""
        frames = self.frames
        return frames.entry(t, slot) if type(frames) is ColumnFrames else frames[t][slot]

    def column(self) -> Any:
        if self._column is None:
            frames = self.frames
            column = None
            if self._is_filled() and type(frames) is ColumnFrames:
                column = frames.column(self.value)
            self._column = as_column(self.made()) if column is None else column.array()
        return self._column

    def _is_filled(self) -> bool:
        """Whether entry t is that of iteration t, and there is no other."""
        base = self.base
        if self.kind == "append":
            return type(base) is list and not base
        if self.count != (0, 1):
            return False
        return not len(base) if type(base) is dict else type(base) is list and len(base) == len(self.frames)

    def key_in(self, t: int, frame: list[Any]) -> Any:
        """The key that a frame of iteration t writes."""
        if self.kind == "append":
            return len(self.base) + t
        key = frame[self.key]
        return key if self.is_dict else self._index(key, len(self.base))

    def _index(self, key: Any, size: int) -> Any:
        if type(key) is not int:
            if not self._is_index(key):
                return ALL
            key = operator.index(key)
        return key + size if key < 0 else key

    def _is_index(self, key: Any) -> bool:
        """Whether a key is that of one entry: not a mask, a slice or several indices."""
        if isinstance(key, (bool, np.ndarray)):
            return not self.is_array
        return hasattr(key, "__index__")

    @property
    def root(self) -> Any:
        """The list, dict or array from before all the loops that wrote it."""
        root = self.base
        while type(root) is Written:
            root = root.base
        return root

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return isinstance(self.root, np.ndarray)

    def writers(self, key: Any) -> list[int]:
        """The iterations that write the entry at a key, in order; at ALL, those that write several."""
        if self.kind == "append":
            t = key - len(self.base)
            return [t] if 0 <= t < len(self.frames) else []
        if self.count is not None:
            if not isinstance(key, (int, np.integer)):
                return []
            first, step = self.count
            t, rest = divmod(int(key) - first, step)
            return [t] if rest == 0 and 0 <= t < len(self.frames) else []
        size = len(self.frames)
        if self._writers is None:
            self._writers, self._known = {}, 0
        for t in range(self._known, size):
            self._writers.setdefault(self.key_of(t), []).append(t)
        self._known = size
        return self._writers.get(key, [])

    def forget(self) -> None:
        """Let keys be looked up afresh: an iteration writes at another key than it did."""
        self._writers = None

    # --- reading ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.length_before(len(self.frames))

    def writes_several(self) -> bool:
        """Whether an iteration writes more than one entry, or may write none."""
        return self.kind == "index" and not self.is_dict and bool(self.writers(ALL))

    def length_before(self, t: int) -> int:
        """How many entries there are when iteration t begins."""
        if self.kind == "append":
            return len(self.base) + t
        if self.writes_several():
            return len(self.made_before(t))
        if self.is_dict:
            return len(self.base) + len({self.key_of(s) for s in range(t)} - set(_keys(self.base)))
        return len(self.base)

    def entry(self, key: Any, before: int, own: Any = UNSET, frame: Any = None) -> Any:
        """The entry at a key as iteration `before` sees it, which has itself written `own` in its frame."""
        if not self.is_dict:
            if (type(key) is not int and not self._is_index(key)) or self._some_several(own, frame):
                return self.made_before(before, own, frame)[key]
            size = self.length_before(before) + (self.kind == "append" and own is not UNSET)
            index = operator.index(key)
            if index < 0:
                index += size
            if not 0 <= index < size:
                raise IndexError("list index out of range")
            key = index
        if own is not UNSET and key == self.key_in(before, frame):
            return self.converted(own)
        for t in reversed(self.writers(key)):
            if t < before:
                return self.converted(self.slot(t, self.value))
        return whole(self.base[key])

    def _some_several(self, own: Any, frame: Any) -> bool:
        """Whether an iteration writes several entries, the one of a frame that has written `own` too."""
        if self.kind == "append" or self.count is not None:
            return False
        return self.writes_several() or (own is not UNSET and self.key_in(0, frame) is ALL)

    def converted(self, value: Any) -> Any:
        """An entry as the container gives it back: an array's has the array's type."""
        value = whole(value)
        root = self.root
        if isinstance(root, np.ndarray):
            cell = np.empty(root.shape[1:], root.dtype)
            cell[...] = value
            return cell[()]
        return value

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int and self.kind == "append":
            t, frames = key - len(self.base), self.frames
            if type(frames) is not ColumnFrames:
                if 0 <= t < len(frames):
                    return whole(frames[t][self.value])
            elif 0 <= t < frames.size:
                i = frames.loop.column_of.get(self.value)
                return whole(frames.entry(t, self.value)) if i is None else frames.columns[i][t]
        return self.entry(key, len(self.frames))

    def raw(self, t: int) -> Any:
        """What a loop over the container gets in its iteration t."""
        if self.kind == "append" and t >= len(self.base):
            value = self.slot(t - len(self.base), self.value)
            return value if type(value) is Written else self.converted(value)
        return self[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.made())

    def made(self) -> Any:
        """The list, dict or array itself."""
        if self._made is _NOT_MADE:
            self._made = self.made_before(len(self.frames))
        return self._made

    def made_before(self, t: int, own: Any = UNSET, frame: Any = None) -> Any:
        """The container when iteration t begins, or after it has written `own`."""
        made = whole(self.base)
        made = made.copy() if hasattr(made, "copy") else list(made)
        values = self._first(t, self.value)
        if self.kind == "append":
            made.extend(values)
            if own is not UNSET:
                made.append(whole(own))
            return made
        for key, value in zip(self._first(t, self.key), values, strict=True):
            made[key] = value
        if own is not UNSET:
            made[frame[self.key]] = whole(own)
        return made

    def _first(self, t: int, slot: int) -> list[Any]:
        """One slot of the first t iterations, as the user knows it."""
        frames = self.frames
        if type(frames) is ColumnFrames and t == len(frames):
            values = frames.entries(slot)
        else:
            values = [frame[slot] for frame in islice(frames, t)]
        kinds = set(map(type, values))
        return [*map(whole, values)] if Written in kinds or View in kinds else values

    def upto(self, frame: list[Any], own: int) -> View:
        """The container as the iteration of a frame sees it, which has written the slot `own` (or -1)."""
        return View(self, frame, own)


class View:
    """A container that a loop is filling, as one of the loop's iterations sees it."""

    __slots__ = ("frame", "is_dict", "own", "t", "written")

    def __init__(self, written: Written, frame: list[Any], own: int) -> None:
        self.written = written
        self.is_dict = written.is_dict
        self.frame = frame
        self.t: int = frame[POSITION]
        self.own = frame[own] if own >= 0 else UNSET

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.written.is_array

    def __len__(self) -> int:
        extra = self.written.kind == "append" and self.own is not UNSET
        if self.own is not UNSET and self.is_dict:
            return len(self.made())
        return self.written.length_before(self.t) + extra

    def __getitem__(self, key: Any) -> Any:
        return self.written.entry(key, self.t, self.own, self.frame)

    def made(self) -> Any:
        """The list, dict or array itself."""
        return self.written.made_before(self.t, self.own, self.frame)


def _keys(container: Any) -> Any:
    return container.made() if type(container) is Written else container


def whole(value: Any) -> Any:
    """A value as the user knows it: a container that a loop filled as a list, dict or array."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is Written or kind is View:
        return value.made()
    return value


def copied(value: Any) -> Any:
    """A value that may be changed in place without the original's knowing."""
    value = whole(value)
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.writeable else value
    return value.copy() if isinstance(value, (list, dict, set, bytearray)) else value
