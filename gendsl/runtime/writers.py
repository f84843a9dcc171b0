"""Which iterations of a loop write which entries of a container."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from gendsl.runtime.change import ALL, LENGTH, UNSET
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.entries import EntryStore
from gendsl.runtime.reverse import Integers, ReverseIndex
from gendsl.runtime.written_keys import Keyed

STORES = frozenset((ColumnFrames, EntryStore))
"""What holds the slots of iterations apart from each other."""


class Writers(Keyed):
    """A container of which the iterations of a loop write entries.

    Attributes:
        kind: "append" where iteration t writes the entry after those of `base` and of earlier iterations;
            "nested" where it writes those that it, or a loop in it, has put into a dict; else it writes the
            entry at the value of its slot `key`.
        frames: the iterations.
        value, key: the slots of an iteration's entry, or of the inner loop's dict, and of its key.
        count: for keys that are counted, the first and the step; else None.
        plain: whether they surely are those of one entry each, at indices that count from the start.
    """

    __slots__ = (
        "_from_end", "_from_start", "_known", "_shared", "_writers",
        "count", "frames", "key", "kind", "plain", "value",
    )  # fmt: skip

    kind: str
    frames: Any
    value: int
    key: int
    count: Any
    _writers: dict[Any, list[int]] | ReverseIndex | None
    plain: bool
    _known: int
    _shared: bool
    _from_end: bool | None
    _from_start: int  # how many of the first iterations surely write at no index from the end

    @abstractmethod
    def pairs(self, t: int | None = None) -> Iterator[tuple[Any, Any]]:
        """The keys and values that the first t iterations (or all) write, in order."""

    @abstractmethod
    def _pairs_of(self, t: int) -> Iterable[tuple[Any, Any]]:
        """The keys and values that iteration t writes, or UNSET for a value."""

    def key_of(self, t: int) -> Any:
        """The key of iteration t's entry; ALL if it is a mask, a slice or several indices."""
        if self.kind == "append":
            return len(self.base) + t
        return self.normal(self.slot(t, self.key))

    def keys_of(self, t: int) -> Iterable[Any]:
        """The keys of what iteration t writes."""
        if self.kind == "nested":
            return self.with_rows([self.normal(key) for key, _ in pairs_of(self.slot(t, self.value))])
        if self.kind != "append" and self.slot(t, self.value) is UNSET:
            return ()
        return self.with_rows((self.key_of(t),))

    def slot(self, t: int, slot: int) -> Any:
        """One slot of iteration t."""
        frames = self.frames
        return frames.entry(t, slot) if type(frames) in STORES else frames[t][slot]

    def key_in(self, t: int, frame: list[Any]) -> Any:
        """The key that a frame of iteration t writes."""
        return len(self.base) + t if self.kind == "append" else self.normal(frame[self.key])

    def keys_in(self, t: int, frame: list[Any]) -> Iterable[Any]:
        """The keys that a frame of iteration t writes."""
        if self.kind == "nested":
            return self.with_rows([self.normal(key) for key, _ in pairs_of(frame[self.value])])
        if self.kind != "append" and frame[self.value] is UNSET:
            return ()
        return self.with_rows((self.key_in(t, frame),))

    def changed_keys(self, t: int, frame: list[Any], change: Any) -> set[Any]:
        """The keys at which the container changes where a frame's `value` does; ALL among them if unknown."""
        if self.kind != "nested":
            return {*self.keys_in(t, frame)}
        if change is ALL or LENGTH in change:
            self.forget()
        if change is ALL:
            return {ALL}
        keys = {*self.with_rows([self.normal(key) for key in change if key is not LENGTH])}
        return keys | {LENGTH} if self.is_dict and LENGTH in change else keys

    def writers(self, key: Any) -> Sequence[int] | Integers:
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
        if type(writers) is ReverseIndex and self._known <= size:
            for t in range(self._known, size):
                for written in {*self.keys_of(t)}:
                    writers = writers.add(written, t)
            self._writers, self._known = writers, size
            return writers.get(key)
        if type(writers) is not dict or self._known > size:
            writers, self._known, self._shared = {}, 0, False
        elif self._shared and self._known < size:
            writers, self._shared = {key: known.copy() for key, known in writers.items()}, False
        for t in range(self._known, size):
            for written in self.keys_of(t):
                those = writers.setdefault(written, [])
                if not those or those[-1] != t:
                    those.append(t)
        self._writers, self._known = writers, size
        return writers.get(key, ())

    def writers_before(self, key: Any, before: int) -> Iterator[int]:
        """The iterations before one that write the entry at a key, the last one first."""
        members = self.writers(key)
        size = len(members) if before >= len(self.frames) else bisect_left(members, before)
        for i in range(size - 1, -1, -1):
            yield int(members[i])

    def counts_from_start(self) -> bool:
        if self.plain or self.is_dict or self.count is not None:
            return True
        return self.kind != "append" and not self._writes_from_end()

    def _writes_from_end(self) -> bool:
        """Whether some iteration writes at an index that is another entry's where the list is longer."""
        for t in range(self._from_start, len(self.frames)):
            keys = [key for key, value in self._pairs_of(t) if value is not UNSET]
            several = self.rows or self.indices > 1
            indices = [key[0] if several and type(key) is tuple else key for key in keys]
            if not all(isinstance(index, (int, np.integer)) and index >= 0 for index in indices):
                return True
            self._from_start = t + 1
        return False

    def forget(self) -> None:
        """Let keys be looked up afresh: an iteration writes at another key than it did."""
        self._writers = self._from_end = None
        self._from_start = 0

    def move(self, t: int, gone: set[Any], come: set[Any], before: Writers) -> None:
        """Note that an iteration no longer writes at some keys, and now at others, or at the same but counted
        from the other end; `before` is the container before an update, of which the lists of writers may be
        shared."""
        writers = self._writers
        self._from_end = None
        self._from_start = min(self._from_start, t)
        if writers is None or t >= self._known or not (gone or come):
            return
        if isinstance(writers, ReverseIndex):
            index = writers
        else:
            index = _as_index(writers)
            if before._writers is writers:
                before._writers = index
        # where they were looked up since it writes elsewhere, they are as they should be already
        for key in gone:
            if _has(index, key, t):
                index = index.remove(key, t)
        for key in come:
            if not _has(index, key, t):
                index = index.add(key, t)
        self._writers = index

    def writes_where(self, before: Writers) -> bool:
        """Whether all iterations surely write at the keys at which they did, which is found out once, and
        so did those of the loops that wrote there before."""
        base, base_before = self.base, before.base
        if len(self.frames) != len(before.frames):
            return False
        if isinstance(base, Writers) and isinstance(base_before, Writers):
            if not base.writes_where(base_before):
                return False
        elif base is not base_before and (len(base) or len(base_before)):
            return False
        if before._writers is None:
            before.writers(UNSET)
        if self._writers is None:
            self.writers(UNSET)
            if type(before._writers) is not dict or self._writers != before._writers:
                return False
            self._writers, self._shared, before._shared = before._writers, True, True
        return self._writers is before._writers

    def know_keys(self, before: Any) -> None:
        """Take over what is known of the keys themselves from a container with the same ones, as far as both
        have them."""
        if isinstance(before, Writers):
            self._from_start = min(before._from_start, len(self.frames))

    def know_writers(self, before: Any, *, growing: bool = False) -> None:
        """Take over which iteration writes what from a container whose iterations write at the same keys.

        Args:
            growing: whether there may come to be more iterations.
        """
        if not isinstance(before, Writers) or before._writers is None or before._known > len(self.frames):
            return
        if growing and type(before._writers) is dict:
            before._writers = _as_index(before._writers)
        same = self.is_dict or self.plain or self.is_as_long(before)  # indices from the end mean the same
        if self.rows and not self.plain:
            same = self.base is before.base  # the rows may differ in their lengths
        if same:
            self._writers, self._known = before._writers, before._known
            self._shared = before._shared = True
            if before._known == len(self.frames) and (self.base is before.base or not len(self.base)):
                self._from_end = before._from_end


def _has(index: ReverseIndex, key: Any, t: int) -> bool:
    bucket = index.bucket(key)
    return bucket is not None and t in bucket


def _as_index(writers: dict[Any, list[int]]) -> ReverseIndex:
    return ReverseIndex.of((key, t) for key, members in writers.items() for t in members)


def put_before(entries: Any) -> dict[Any, Any]:
    """What an iteration has put into a container so far, by statements of which some may not have run."""
    return {} if entries is UNSET else entries


def pairs_of(entries: Any) -> Iterable[tuple[Any, Any]]:
    """The keys and values that one iteration writes: those of an inner loop's container, or of a dict."""
    if entries is UNSET:
        return ()
    if not isinstance(entries, Writers):
        return entries.items()  # type: ignore[no-any-return]
    return chain(pairs_of(entries.base), entries.pairs()) if len(entries.base) else entries.pairs()
