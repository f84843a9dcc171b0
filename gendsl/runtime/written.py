"""Containers that a loop fills, one entry per iteration, as views of the loop's iterations.

    mu = [("mu", j) @ ~d for j in range(k)]        mu[j] is the value of iteration j
    x.append(("x", t) @ ~d)                         x[t], after what x held before the loop
    mu[j] = ~d                                      mu[j], over what mu held before the loop
    for j in range(n): f[i, j] = ~d                 each f[i, j] of iteration i, over what f held before
    for j in range(n): f[i][j] = ~d                 the same, where f is a list, or a dict, of rows

Nothing is copied when an iteration changes: code that reads by index looks the entry up where it is
stored, and only code that wants the whole container gets a real list, dict or array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from math import prod
from typing import Any

import numpy as np

from gendsl.errors import Location, raise_at
from gendsl.runtime.change import ALL, LENGTH, SCALARS, UNSET
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.entries import EntryStore
from gendsl.runtime.seen import Layered, View
from gendsl.runtime.writers import STORES, pairs_of
from gendsl.runtime.written_arrays import AsArrays
from gendsl.runtime.written_keys import CELL

_NOT_MADE: Any = object()


class Written(AsArrays):
    """A container with entries written by the iterations of a loop; `where` is the user's line that does."""

    __slots__ = ("_asked", "_made", "_made_rows", "where")

    def __init__(
        self,
        kind: str,
        base: Any,
        frames: Any,
        value: int,
        key: int,
        count: Any,
        indices: int = 1,
        rows: bool = False,
        plain: bool = False,
        where: Location | None = None,
    ) -> None:
        self.kind = kind
        self.base = base
        self.frames = frames
        self.value = value
        self.key = key
        self.count = count
        self.indices = indices
        self.rows = rows
        self.plain = plain
        self.where = where
        self.is_dict = isinstance(base, dict) or getattr(base, "is_dict", False)
        self._made: Any = _NOT_MADE
        self._asked = 0
        self._made_rows: dict[Any, Any] | None = None
        self._column: Any = None
        self._writers = None
        self._known = 0
        self._shared = False
        self._from_end = None
        self._from_start = 0

    def over(self, frames: Any) -> Written:
        """The container when the iterations are others, but write at the same keys."""
        after: Written = object.__new__(Written)
        after.kind, after.base, after.frames, after.is_dict = self.kind, self.base, frames, self.is_dict
        after.value, after.key, after.count, after.indices = self.value, self.key, self.count, self.indices
        after.rows, after.plain, after.where, after._made = self.rows, self.plain, self.where, _NOT_MADE
        after._column = after._made_rows = after._writers = after._from_end = None
        after._known = after._asked = 0
        after._shared = False
        after._from_start = self._from_start and min(self._from_start, len(frames))
        if self._writers is not None:
            after.know_writers(self)
        return after

    # --- whether there is room for it ---------------------------------------------------------------

    def check_room(self, before: Any = None) -> None:
        """Raise what Python raises where an entry is written out of range, or doesn't fit; after an update
        of `before`, `check_entry` has looked at what changed, unless the container is another."""
        if not len(self.frames) or (self.is_dict and not self.rows):
            return
        if self.kind == "append":
            if self.is_array:  # which looked like a list: `[0.5] * n`
                raise_at(self.where, AttributeError("'numpy.ndarray' object has no attribute 'append'"))
        elif self.rows:
            if type(before) is not Written or before.base is not self.base:
                self.made()
        elif self.count is not None and len(self.shape) == 1:
            first, step = self.count
            if not max(first, first + step * (len(self.frames) - 1)) < len(self.base):
                self.made()
        elif type(before) is not Written or not self._has_room_of(before):
            self.made()

    def _has_room_of(self, before: Written) -> bool:
        """Whether there is an entry where the container before an update had one."""
        if not self.is_array or not before.is_array:
            return self.is_array is before.is_array and len(before.base) <= len(self.base)
        here, there = self.shape, before.shape
        return len(here) == len(there) and there[0] <= here[0] and here[1:] == there[1:]

    def check_entry(self, frame: list[Any], change: Any = ALL) -> None:
        """The same for what an iteration's frame writes, as far as it is in a change of its `value`."""
        counted = self.count is not None and len(self.shape) == 1
        if self.kind == "append" or counted or (self.is_dict and not self.rows):
            return
        entries = frame[self.value]
        if entries is UNSET:
            return
        if self.kind != "nested":
            pairs: Iterable[tuple[Any, Any]] = ((frame[self.key], entries),)
        elif change is ALL or LENGTH in change:
            pairs = pairs_of(entries)
        else:
            pairs = ((key, entries[key]) for key in change)
        for key, value in pairs:
            at = self.normal(key)
            if at is ALL or (type(at) is int and not 0 <= at < len(self.base)):
                self.put(whole(self.base).copy(), ((key, whole(value)),))
            elif self.is_array or self.rows:
                try:
                    self.converted(value, at)
                except Exception as error:
                    raise_at(self.where, error)

    # --- reading ----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.length_before(len(self.frames))

    def writes_several(self) -> bool:
        """Whether an iteration writes more than one entry, or may write none."""
        asks = self.kind in ("index", "nested") and (self.rows or not self.is_dict)
        return asks and len(self.writers(ALL)) > 0

    def length_before(self, t: int) -> int:
        """How many entries there are when iteration t begins."""
        if self.kind == "append" or (self.kind == "key" and type(self.frames) is EntryStore):
            return len(self.base) + t
        if self.rows:
            return len(self.base)
        if self.writes_several():
            return len(self.made_before(t))
        if self.is_dict:
            keys = {key for s in range(t) for key in self.keys_of(s)}
            return len(self.base) + len(keys - set(_keys(self.base)))
        return len(self.base)

    def entry(self, key: Any, before: int, own: Any = UNSET, frame: Any = None) -> Any:
        """The entry at a key as iteration `before` sees it, which has itself written `own` in its frame."""
        if self.is_dict and not self.rows:
            return self._entry(key, before, own, frame)
        several = self._some_several(own, frame)
        if self.rows:
            row = None if several else self.row_at(key)
            if row is None:
                return self._seen(before, own, frame)[key]
            return self._row(key if self.is_dict else self.index(key, len(self.base)), before, own, frame)
        if type(key) is tuple or self.indices > 1:
            found = ALL if several else self.entry_of(key)
            if found is ALL and (several or (frame is None and self._is_asked_much(key))):
                return self._seen(before, own, frame)[key]
            if found is ALL:
                put_at, made = self.put_at, self._seen
                return self.part(
                    key, lambda at: put_at(at, before, own, frame), lambda: made(before, own, frame)
                )
            rest = key[self.indices :]
            entry = self._entry(found, before, own, frame)
            return entry[rest] if rest else entry
        if several or (type(key) is not int and not self.is_index(key)):
            return self._seen(before, own, frame)[key]
        size = self.length_before(before) + (self.kind == "append" and own is not UNSET)
        index = operator.index(key)
        if index < 0:
            index += size
        if not 0 <= index < size:
            return self._seen(before, own, frame)[key]  # which raises what a list, or an array, does
        return self._entry(index, before, own, frame)

    def _is_asked_much(self, key: Any) -> bool:
        """Whether to make the array is the shorter way, after so many of its parts have been made."""
        if self._made is _NOT_MADE:
            self._asked += len(self.parts_of(key) or ())
        return self._made is not _NOT_MADE or self._asked * 4 > prod(self.shape[: self.indices])

    def _entry(self, key: Any, before: int, own: Any, frame: Any) -> Any:
        value = self.put_at(key, before, own, frame)
        return self.before(key) if value is UNSET else self.converted(value, key)

    def put_at(self, key: Any, before: int, own: Any = UNSET, frame: Any = None) -> Any:
        """What iteration `before` finds written at a key, as changes have it; UNSET if nothing."""
        if self.kind == "nested":
            for written in chain(
                () if own is UNSET else (own,),
                (self.slot(t, self.value) for t in self.writers_before(key, before)),
            ):
                value = self._nested_entry(written, key)
                if value is not UNSET:
                    return value
            return UNSET
        if own is not UNSET and key in (self.key_in(before, frame),):
            return own
        for t in self.writers_before(key, before):
            return self.slot(t, self.value)
        return UNSET

    def put_within(self, key: Any, before: int, own: Any, frame: Any) -> Any:
        """The same of what a loop has written of a container that one around it writes: see `Layered`."""
        value = self.put_at(key, before, own, frame)
        return self.base[key] if value is UNSET and key in self.base else value

    def part(self, key: Any, put_at: Callable[[Any], Any], made: Callable[[], Any]) -> Any:
        """A part of the array: what `put_at` finds written at its keys, or a part of what `made` gives."""
        keys = self.parts_of(key)
        if keys is None:
            return made()[key]
        part = self.base[key].copy()
        entries = part.reshape(len(keys), *self.shape[self.indices :])
        for i, at in enumerate(keys):
            value = put_at(at)
            if value is not UNSET:
                entries[i] = whole(value)
        return part

    def cell(
        self, key: Any, inner: Any, before: int | None = None, own: Any = UNSET, frame: Any = None
    ) -> Any:
        """An entry of a row as an iteration of a frame sees it, or what follows the loop."""
        before = len(self.frames) if before is None else before
        found = ALL if self._some_several(own, frame) else self.normal((key, inner))
        if found is ALL:
            return self.entry(key, before, own, frame)[inner]
        return self._entry(found, before, own, frame)

    def before(self, key: Any) -> Any:
        """The entry that was there before the loop."""
        base = self.base
        if not self.rows:
            return whole(base[key])
        if type(base) is Written and base.rows:
            return base._entry(key, len(base.frames), UNSET, None)
        return whole(whole(base[key[1]])[key[2]])

    def _row(self, key: Any, before: int, own: Any, frame: Any) -> Any:
        """A row as an iteration of a frame sees it, or what follows the loop (None)."""
        if frame is None and self._made_rows is not None and key in self._made_rows:
            return self._made_rows[key]
        row = whole(self.row_at(key))
        if type(row) is list:
            row = [self._entry((CELL, key, j), before, own, frame) for j in range(len(row))]
        else:
            row = row.copy()
            for inner, value in self._pairs_in(key, before, own, frame):
                row[inner] = value
        if frame is None:
            if self._made_rows is None:
                self._made_rows = {}
            self._made_rows[key] = row
        return row

    def _pairs_in(self, key: Any, before: int, own: Any, frame: Any) -> Iterator[tuple[Any, Any]]:
        """The keys within a row, and values, that iterations write there, in order."""
        steps = reversed([*self.writers_before(key, before)])
        pairs = chain.from_iterable(map(self._pairs_of, steps))
        for (outer, inner), value in chain(pairs, self._pairs_with(own, frame)):
            if key == (outer if self.is_dict else self.index(outer, len(self.base))):
                yield inner, whole(value)

    def _nested_entry(self, entries: Any, key: Any) -> Any:
        """What an iteration has written last at a key; UNSET if nothing."""
        from_start = self.is_dict and not self.rows
        if type(entries) is Written and (from_start or self.plain or not entries.counts_from_end()):
            return entries.put_within(key[1:] if self.rows else key, len(entries.frames), UNSET, None)
        found = (value for k, value in reversed([*pairs_of(entries)]) if key in (self.normal(k),))
        return next(found, UNSET)

    def counts_from_end(self) -> bool:
        """Whether it is a dict with negative numbers among the parts of its keys."""
        if self._from_end is None:
            parts = (part for key, _ in pairs_of(self) for part in (key if type(key) is tuple else (key,)))
            self._from_end = any(isinstance(part, (int, np.integer)) and part < 0 for part in parts)
        return self._from_end

    def _seen(self, before: int, own: Any, frame: Any) -> Any:
        """The list, dict or array as an iteration of a frame sees it, or what follows the loop (None)."""
        return self.made() if frame is None else self.made_before(before, own, frame)

    def _some_several(self, own: Any, frame: Any) -> bool:
        """Whether an iteration writes several entries, the one of a frame that has written `own` too."""
        if self.kind == "append" or self.count is not None:
            return False
        if self.plain:
            return False
        if own is not UNSET and self.kind == "nested":
            return self.writes_several() or any(self.normal(key) is ALL for key, _ in pairs_of(own))
        return self.writes_several() or (own is not UNSET and self.key_in(0, frame) is ALL)

    def converted(self, value: Any, key: Any) -> Any:
        """An entry as the container gives it back: an array's has the array's type."""
        value = whole(value)
        holder = self.row_at(key[1]) if self.rows else self.root
        if isinstance(holder, np.ndarray):
            cells = np.empty((1, *holder.shape[self.indices :]), holder.dtype)
            cells[0] = value  # as `holder[key] = value`: what one takes, or refuses, so does the other
            return cells[0]
        return value

    def __getitem__(self, key: Any) -> Any:
        if type(key) is int and self.kind == "append":
            t, frames = key - len(self.base), self.frames
            if type(frames) is EntryStore:
                if 0 <= t < len(frames.keys):
                    return frames.values[t]
            elif type(frames) is not ColumnFrames:
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
            return value if type(value) is Written else self.converted(value, t)
        return self[t]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.made())

    def __contains__(self, key: Any) -> bool:
        return self.contains(key, len(self.frames))

    def contains(self, key: Any, before: int, own: Any = UNSET, frame: Any = None) -> bool:
        """Whether it has a key, or an entry, as iteration `before` sees it; see `entry`."""
        if not self.is_dict or self.rows:
            return key in self._seen(before, own, frame)
        if key in [written for written, _ in self._pairs_with(own, frame)]:
            return True
        return key in self.base or next(self.writers_before(key, before), None) is not None

    def made(self) -> Any:
        """The list, dict or array itself."""
        if self._made is _NOT_MADE:
            self._made = self.made_before(len(self.frames))
        return self._made

    def hold(self, made: Any) -> None:
        """Let the list, dict or array itself be one that is there already."""
        self._made = made

    def made_before(self, t: int, own: Any = UNSET, frame: Any = None) -> Any:
        """The container when iteration t begins, or after it has written `own`."""
        made = whole(self.base)
        made = made.copy() if hasattr(made, "copy") else list(made)
        if self.kind == "append":
            made.extend(self._first(t, self.value))
            if own is not UNSET:
                made.append(whole(own))
            return made
        if own is UNSET and t == len(self.frames) and self._fills_at_once(made):
            return made
        self.put(made, chain(self.pairs(t), self._pairs_with(own, frame)))
        return made

    def put(self, made: Any, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Write entries into a copy of the container; of rows, copies are made, too."""
        copies: dict[int, Any] = {}
        for key, value in pairs:
            try:
                if not self.rows:
                    made[key] = value
                    continue
                outer, inner = key
                row = made[outer]
                if id(row) not in copies:
                    made[outer] = row = row.copy()
                    copies[id(row)] = row
                row[inner] = value
            except Exception as error:
                raise_at(self.where, error)

    def pairs(self, t: int | None = None) -> Iterator[tuple[Any, Any]]:
        """The keys and values that the first t iterations (or all) write, in order."""
        t = len(self.frames) if t is None else t
        if self.kind == "nested":
            for s in range(t):
                yield from pairs_of(self.slot(s, self.value))
        else:
            pairs = zip(self._first(t, self.key), self._first(t, self.value), strict=True)
            yield from ((key, value) for key, value in pairs if value is not UNSET)

    def pairs_before(self, t: int, own: Any, frame: Any) -> Iterable[tuple[Any, Any]]:
        """The keys and values of what iteration t of a loop within another finds written in this one's."""
        return chain(pairs_of(self.base), self.pairs(t), self._pairs_with(own, frame))

    def _pairs_of(self, t: int) -> Iterable[tuple[Any, Any]]:
        value = self.slot(t, self.value)
        return pairs_of(value) if self.kind == "nested" else ((self.slot(t, self.key), value),)

    def _pairs_with(self, own: Any, frame: Any) -> Iterable[tuple[Any, Any]]:
        """The keys and values that an iteration has written which has written `own`."""
        if own is UNSET:
            return ()
        pairs = pairs_of(own) if self.kind == "nested" else ((frame[self.key], own),)
        return ((key, whole(value)) for key, value in pairs)

    def _first(self, t: int, slot: int) -> list[Any]:
        """One slot of the first t iterations, as the user knows it."""
        frames = self.frames
        if type(frames) in STORES and t == len(frames):
            values = frames.entries(slot)
        else:
            values = [frame[slot] for frame in islice(frames, t)]
        kinds = set(map(type, values))
        return [*map(whole, values)] if Written in kinds or View in kinds else values

    def upto(self, frame: list[Any], own: int) -> View:
        """The container as the iteration of a frame sees it, which has written the slot `own` (or -1)."""
        return View(self, frame, own)


def _keys(container: Any) -> Any:
    return container.made() if type(container) is Written else container


def whole(value: Any) -> Any:
    """A value as the user knows it: a container that a loop filled as a list, dict or array."""
    kind = type(value)
    if kind in SCALARS:
        return value
    if kind is Written or kind is View or kind is Layered:
        return value.made()
    return value


def copied(value: Any) -> Any:
    """A value that may be changed in place without the original's knowing."""
    value = whole(value)
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.writeable else value
    return value.copy() if isinstance(value, (list, dict, set, bytearray)) else value


def copied_rows(value: Any) -> Any:
    """A list or a dict whose rows may be changed in place, too."""
    value = copied(value)
    for key, row in list(value.items() if isinstance(value, dict) else enumerate(value)):
        value[key] = copied(row)
    return value
