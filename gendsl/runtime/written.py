"""Containers that a loop fills, one entry per iteration, as views of the loop's iterations.

    mu = [("mu", j) @ ~d for j in range(k)]        mu[j] is the value of iteration j
    x.append(("x", t) @ ~d)                         x[t], after what x held before the loop
    mu[j] = ~d                                      mu[j], over what mu held before the loop
    for j in range(n): f[i, j] = ~d                 each f[i, j] of iteration i, over what f held before

Nothing is copied when an iteration changes: code that reads by index looks the entry up where it is
stored, and only code that wants the whole container gets a real list, dict or array.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from gendsl.compiler.ir import POSITION
from gendsl.compiler.tables import Columnar, as_column
from gendsl.runtime.change import ALL, LENGTH, SCALARS, UNSET
from gendsl.runtime.column_frames import ColumnFrames

_NOT_MADE: Any = object()


class Written(Columnar):
    """A container with entries written by the iterations of a loop.

    Attributes:
        kind: "append" where iteration t writes the entry after those of `base` and of earlier iterations;
            "nested" where it writes those that it, or a loop in it, has put into a dict; else it writes the
            entry at the value of its slot `key`.
        base: what the container was before the loop.
        frames: the iterations.
        value, key: the slots of an iteration's entry, or of the inner loop's dict, and of its key.
        count: for keys that are counted, the first and the step; else None.
        indices: how many indices of an array name an entry: 2 for f[i, j] = ...
    """

    __slots__ = (
        "_column", "_from_end", "_known", "_made", "_shared", "_writers", "base", "count", "frames",
        "indices", "is_dict", "key", "kind", "value",
    )  # fmt: skip

    def __init__(
        self, kind: str, base: Any, frames: Any, value: int, key: int, count: Any, indices: int = 1
    ) -> None:
        self.kind = kind
        self.base = base
        self.frames = frames
        self.value = value
        self.key = key
        self.count = count
        self.indices = indices
        self.is_dict = isinstance(base, dict) or getattr(base, "is_dict", False)
        self._made: Any = _NOT_MADE
        self._column: Any = None
        self._writers: dict[Any, list[int]] | None = None
        self._known = 0
        self._shared = False
        self._from_end: bool | None = None

    def over(self, frames: Any) -> Written:
        """The container when the iterations are others, but write at the same keys."""
        after = Written(self.kind, self.base, frames, self.value, self.key, self.count, self.indices)
        after.know_writers(self)
        return after

    def know_writers(self, before: Any) -> None:
        """Take over which iteration writes what from a container whose iterations write at the same keys."""
        if type(before) is not Written or before._writers is None or before._known > len(self.frames):
            return
        if self.is_dict or self.shape == before.shape:  # indices from the end mean the same
            self._writers, self._known = before._writers, before._known
            self._shared = before._shared = True
            if before._known == len(self.frames):
                self._from_end = before._from_end

    # --- who wrote what ---------------------------------------------------------------------------

    def key_of(self, t: int) -> Any:
        """The key of iteration t's entry; ALL if it is a mask, a slice or several indices."""
        if self.kind == "append":
            return len(self.base) + t
        return self._normal(self.slot(t, self.key))

    def keys_of(self, t: int) -> Iterable[Any]:
        """The keys of what iteration t writes."""
        if self.kind == "nested":
            return [self._normal(key) for key, _ in _pairs(self.slot(t, self.value))]
        return (self.key_of(t),)

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
        return len(self.base) + t if self.kind == "append" else self._normal(frame[self.key])

    def keys_in(self, t: int, frame: list[Any]) -> Iterable[Any]:
        """The keys that a frame of iteration t writes."""
        if self.kind == "nested":
            return [self._normal(key) for key, _ in _pairs(frame[self.value])]
        return (self.key_in(t, frame),)

    def changed_keys(self, t: int, frame: list[Any], change: Any) -> set[Any]:
        """The keys at which the container changes where a frame's `value` does; ALL among them if unknown."""
        if self.kind != "nested":
            return {self.key_in(t, frame)}
        if change is ALL or LENGTH in change:
            self.forget()
        return {ALL} if change is ALL else {self._normal(key) for key in change if key is not LENGTH}

    def positions(self, change: Any) -> Any:
        """The positions, in a loop over the container, of what a change of it is of."""
        if self.indices == 1 or change is ALL:
            return change
        return {key[0] if type(key) is tuple else key for key in change}

    def change_of_base(self, change: Any) -> Any:
        """What a change of the container before the loop is to those who read this one."""
        if change is None or self.is_dict or self.indices == getattr(self.base, "indices", 1):
            return change
        return ALL  # its entries are rows of these, or these of those

    def _normal(self, key: Any) -> Any:
        """A key at which an iteration writes, as changes have it; ALL if it may name several entries."""
        if self.is_dict:
            try:
                hash(key)
            except TypeError:  # an array of indices, in an inner loop's dict for an array
                return ALL
            return key
        if self.indices == 1:
            return self._index(key, len(self.base))
        return self.entry_of(key) if type(key) is tuple and len(key) == self.indices else ALL

    def entry_of(self, key: Any) -> Any:
        """The key of the entry in which a lookup looks; ALL if it may look in several."""
        if self.is_dict:
            return key
        n, shape = self.indices, self.shape
        if type(key) is not tuple or not n <= len(key) <= len(shape) or not self.is_array:
            return ALL
        if not all(type(part) is int or isinstance(part, np.integer) for part in key[:n]):
            return ALL
        if not all(isinstance(part, (int, np.integer, slice)) and type(part) is not bool for part in key[n:]):
            return ALL
        found = []
        for part, size in zip(key[:n], shape, strict=False):
            if not -size <= part < size:
                return ALL  # an error, where it is looked up
            found.append(int(part) + size if part < 0 else int(part))
        return found[0] if n == 1 else tuple(found)

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

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array; of a list or a dict from before the loops, its length."""
        root = self.root
        return root.shape if isinstance(root, np.ndarray) else (len(root),)

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
        writers = self._writers
        if writers is None or self._known > size:
            writers, self._known, self._shared = {}, 0, False
        elif self._shared and self._known < size:
            writers, self._shared = {key: known.copy() for key, known in writers.items()}, False
        for t in range(self._known, size):
            for written in self.keys_of(t):
                writers.setdefault(written, []).append(t)
        self._writers, self._known = writers, size
        return writers.get(key, [])

    def forget(self) -> None:
        """Let keys be looked up afresh: an iteration writes at another key than it did."""
        self._writers = self._from_end = None

    # --- whether there is room for it ---------------------------------------------------------------

    def check_room(self, before: Any = None) -> None:
        """Raise what Python raises where an entry is written out of range, or doesn't fit; after an update
        of `before`, `check_entry` has looked at what changed, unless the list or array is another."""
        if self.kind == "append" or self.is_dict or not len(self.frames):
            return
        if self.count is not None and len(self.shape) == 1:
            first, step = self.count
            if not max(first, first + step * (len(self.frames) - 1)) < len(self.base):
                self.made()
        elif type(before) is not Written or before.shape != self.shape:
            self.made()

    def check_entry(self, frame: list[Any], change: Any = ALL) -> None:
        """The same for what an iteration's frame writes, as far as it is in a change of its `value`."""
        if self.kind == "append" or self.is_dict or (self.count is not None and len(self.shape) == 1):
            return
        entries = frame[self.value]
        if self.kind != "nested":
            pairs: Iterable[tuple[Any, Any]] = ((frame[self.key], entries),)
        elif change is ALL or LENGTH in change:
            pairs = _pairs(entries)
        else:
            pairs = ((key, entries[key]) for key in change)
        for key, value in pairs:
            if not self.is_array and type(key) is int and -len(self.base) <= key < len(self.base):
                continue
            if self.is_array and self._normal(key) is not ALL:
                self.converted(value)
            else:
                whole(self.base).copy()[key] = whole(value)

    # --- reading ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.length_before(len(self.frames))

    def writes_several(self) -> bool:
        """Whether an iteration writes more than one entry, or may write none."""
        return self.kind in ("index", "nested") and not self.is_dict and bool(self.writers(ALL))

    def length_before(self, t: int) -> int:
        """How many entries there are when iteration t begins."""
        if self.kind == "append":
            return len(self.base) + t
        if self.writes_several():
            return len(self.made_before(t))
        if self.is_dict:
            keys = {key for s in range(t) for key in self.keys_of(s)}
            return len(self.base) + len(keys - set(_keys(self.base)))
        return len(self.base)

    def entry(self, key: Any, before: int, own: Any = UNSET, frame: Any = None) -> Any:
        """The entry at a key as iteration `before` sees it, which has itself written `own` in its frame."""
        if self.is_dict:
            return self._entry(key, before, own, frame)
        several = self._some_several(own, frame)
        if type(key) is tuple or self.indices > 1:
            found = ALL if several else self.entry_of(key)
            if found is ALL:
                return self._seen(before, own, frame)[key]
            rest = key[self.indices :]
            entry = self._entry(found, before, own, frame)
            return entry[rest] if rest else entry
        if several or (type(key) is not int and not self._is_index(key)):
            return self._seen(before, own, frame)[key]
        size = self.length_before(before) + (self.kind == "append" and own is not UNSET)
        index = operator.index(key)
        if index < 0:
            index += size
        if not 0 <= index < size:
            raise IndexError("list index out of range")
        return self._entry(index, before, own, frame)

    def _entry(self, key: Any, before: int, own: Any, frame: Any) -> Any:
        if self.kind == "nested":
            for written in chain(
                () if own is UNSET else (own,),
                (self.slot(t, self.value) for t in reversed(self.writers(key)) if t < before),
            ):
                value = self._nested_entry(written, key)
                if value is not UNSET:
                    return self.converted(value)
            return whole(self.base[key])
        if own is not UNSET and key == self.key_in(before, frame):
            return self.converted(own)
        for t in reversed(self.writers(key)):
            if t < before:
                return self.converted(self.slot(t, self.value))
        return whole(self.base[key])

    def _nested_entry(self, entries: Any, key: Any) -> Any:
        """What an iteration has written last at a key; UNSET if nothing."""
        if type(entries) is Written and (self.is_dict or not entries.counts_from_end()):
            return entries[key] if entries.writers(key) else UNSET
        found = (value for k, value in reversed([*_pairs(entries)]) if self._normal(k) == key)
        return next(found, UNSET)

    def counts_from_end(self) -> bool:
        """Whether it is a dict with negative numbers among the parts of its keys."""
        if self._from_end is None:
            self._from_end = any(part < 0 for key, _ in self.pairs() for part in np.atleast_1d(key))
        return self._from_end

    def _seen(self, before: int, own: Any, frame: Any) -> Any:
        """The list, dict or array as an iteration of a frame sees it, or what follows the loop (None)."""
        return self.made() if frame is None else self.made_before(before, own, frame)

    def _some_several(self, own: Any, frame: Any) -> bool:
        """Whether an iteration writes several entries, the one of a frame that has written `own` too."""
        if self.kind == "append" or self.count is not None:
            return False
        if own is not UNSET and self.kind == "nested":
            return self.writes_several() or any(self._normal(key) is ALL for key, _ in _pairs(own))
        return self.writes_several() or (own is not UNSET and self.key_in(0, frame) is ALL)

    def converted(self, value: Any) -> Any:
        """An entry as the container gives it back: an array's has the array's type."""
        value = whole(value)
        root = self.root
        if isinstance(root, np.ndarray):
            cell = np.empty(root.shape[self.indices :], root.dtype)
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
        if self.kind == "append":
            made.extend(self._first(t, self.value))
            if own is not UNSET:
                made.append(whole(own))
            return made
        for key, value in self.pairs(t):
            made[key] = value
        if own is not UNSET:
            for key, value in _pairs(own) if self.kind == "nested" else ((frame[self.key], own),):
                made[key] = whole(value)
        return made

    def pairs(self, t: int | None = None) -> Iterator[tuple[Any, Any]]:
        """The keys and values that the first t iterations (or all) write, in order."""
        t = len(self.frames) if t is None else t
        if self.kind == "nested":
            for s in range(t):
                yield from _pairs(self.slot(s, self.value))
        else:
            yield from zip(self._first(t, self.key), self._first(t, self.value), strict=True)

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

    @property
    def indices(self) -> int:
        """How many indices of an array name an entry."""
        return self.written.indices

    def __len__(self) -> int:
        extra = self.written.kind == "append" and self.own is not UNSET
        if self.own is not UNSET and self.is_dict:
            return len(self.made())
        return self.written.length_before(self.t) + extra

    def __getitem__(self, key: Any) -> Any:
        return self.written.entry(key, self.t, self.own, self.frame)

    def entry_of(self, key: Any) -> Any:
        """The key of the entry in which a lookup looks; ALL if it may look in several."""
        return self.written.entry_of(key)

    def made(self) -> Any:
        """The list, dict or array itself."""
        return self.written.made_before(self.t, self.own, self.frame)


def _pairs(entries: Any) -> Iterable[tuple[Any, Any]]:
    """The keys and values that one iteration writes: those of an inner loop's container, or of a dict."""
    return entries.pairs() if type(entries) is Written else entries.items()


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
