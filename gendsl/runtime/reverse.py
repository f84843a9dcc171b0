"""Which iterations read a key: a persistent multimap from hashable keys to sets of integers.

A hash table in a persistent vector leads to a key's bucket. A bucket is a sorted array and what changed
since, in dicts of which each may hold 32 times as many as the one before: a change copies the smallest one,
a full one goes into the next, and once there are many changes for the array's size, all go into a new array
(the logarithmic method of Bentley and Saxe). So a change costs the same for few members and for many.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gendsl.runtime.persistent import PersistentVector

Integers = npt.NDArray[np.int64]
Changes = dict[int, bool]  # whether an integer is a member now

_STEP = 32  # between the sizes of the dicts
_LOAD = 4  # pairs per slot at most


class _Bucket:
    """The integers of one key; `size` is their number."""

    __slots__ = ("base", "levels", "size")

    def __init__(self, base: Integers, levels: tuple[Changes, ...], size: int) -> None:
        self.base = base
        self.levels = levels
        self.size = size

    def __contains__(self, t: int) -> bool:
        for level in self.levels:
            if t in level:
                return level[t]
        base = self.base
        k = int(base.searchsorted(t))
        return k < len(base) and bool(base[k] == t)

    def changed(self, t: int, present: bool) -> _Bucket:
        if self.levels and len(self.levels[0]) >= _STEP:
            self._merge()
        levels = self.levels
        size = self.size + (1 if present else -1)
        if not levels:
            return _Bucket(self.base, ({t: present},), size)
        level = levels[0].copy()
        level[t] = present
        return _Bucket(self.base, (level, *levels[1:]), size)

    def _merge(self) -> None:
        """Empties the first level; here, not in the next version, as many versions may come from this one."""
        level, *rest = self.levels
        k, most = 0, _STEP
        while len(level) >= most:
            if k == len(rest):
                if len(level) * 16 >= len(self.base):
                    self.array()
                    return
                rest.append({})
            level = {**rest[k], **level}
            rest[k] = {}
            k, most = k + 1, most * _STEP
        rest[k - 1] = level
        self.levels = ({}, *rest)

    def array(self) -> Integers:
        """The members in order; the changes go into the array, for which the bucket stands as before."""
        levels = self.levels
        if levels:
            changes: Changes = {}
            for level in reversed(levels):
                changes |= level
            keys = np.fromiter(changes, np.int64, len(changes))
            present = np.fromiter(changes.values(), np.bool_, len(changes))
            base = self.base
            if len(base):
                at = np.minimum(base.searchsorted(keys), len(base) - 1)
                at = at[base[at] == keys]
                kept = np.ones(len(base), np.bool_)
                kept[at] = False
                base = base[kept]
            added = np.sort(keys[present])
            merged = np.insert(base, base.searchsorted(added), added) if len(base) else added
            merged.flags.writeable = False
            # in this order: a reader that comes between applies changes that are in the array already
            self.base = merged
            self.levels = ()
        return self.base


Slot = tuple[tuple[Any, _Bucket], ...]
_NONE = np.empty(0, np.int64)
_NONE.flags.writeable = False


class ReverseIndex:
    """A persistent multimap: `add` and `remove` give a new one. Keys are equal as in a dict."""

    __slots__ = ("_count", "_slots")

    def __init__(self, slots: PersistentVector[Slot], count: int) -> None:
        self._slots = slots
        self._count = count

    @staticmethod
    def of(pairs: Iterable[tuple[Hashable, int]] = ()) -> ReverseIndex:
        members: dict[Hashable, list[int]] = {}
        for key, t in pairs:
            members.setdefault(key, []).append(t)
        buckets = []
        for key, integers in members.items():
            base = np.unique(np.array(integers, np.int64))
            base.flags.writeable = False
            buckets.append((key, _Bucket(base, (), len(base))))
        return ReverseIndex(_table(buckets, _slots_for(len(buckets))), len(buckets))

    def _items(self) -> Iterator[tuple[Any, _Bucket]]:
        for slot in self._slots:
            yield from slot

    def keys(self) -> Iterator[Any]:
        """The keys that have members, in no particular order."""
        return (key for key, _ in self._items())

    def get(self, key: Hashable) -> Integers:
        """The integers of a key in order, as a read-only array; empty for a key that has none."""
        slots = self._slots
        for other, bucket in slots[hash((key,)) & (len(slots) - 1)]:
            if other == key:
                return bucket.array()
        return _NONE

    def add(self, key: Hashable, t: int) -> ReverseIndex:
        """With t among the key's integers.

        Raises:
            ValueError: it is there already.
        """
        slots = self._slots
        k = hash((key,)) & (len(slots) - 1)
        slot = slots[k]
        for j, (other, bucket) in enumerate(slot):
            if other == key:
                if t in bucket:
                    raise ValueError(f"{t} is among the integers of {key!r} already")
                pair = (other, bucket.changed(t, True))
                return ReverseIndex(slots.set(k, (*slot[:j], pair, *slot[j + 1 :])), self._count)
        if self._count >= _LOAD * len(slots):
            # the same pairs in more slots: this version keeps them too, so that adding to it again is cheap
            self._slots = slots = _table(self._items(), 4 * len(slots))
            k = hash((key,)) & (len(slots) - 1)
            slot = slots[k]
        pair = (key, _Bucket(_NONE, ({t: True},), 1))
        return ReverseIndex(slots.set(k, (*slot, pair)), self._count + 1)

    def remove(self, key: Hashable, t: int) -> ReverseIndex:
        """Without t among the key's integers.

        Raises:
            KeyError: it isn't there.
        """
        slots = self._slots
        k = hash((key,)) & (len(slots) - 1)
        slot = slots[k]
        for j, (other, bucket) in enumerate(slot):
            if other == key and t in bucket:
                rest = (*slot[:j], *slot[j + 1 :])
                if bucket.size > 1:
                    slot = (*slot[:j], (other, bucket.changed(t, False)), *slot[j + 1 :])
                    return ReverseIndex(slots.set(k, slot), self._count)
                return ReverseIndex(slots.set(k, rest), self._count - 1)
        raise KeyError((key, t))

    def __reduce__(self) -> tuple[Any, ...]:
        pairs = [(key, int(t)) for key, bucket in self._items() for t in bucket.array()]
        return ReverseIndex.of, (pairs,)


def _slots_for(count: int) -> int:
    """A power of two, with two pairs per slot or fewer."""
    return 1 << max(3, (count // 2).bit_length())


def _table(items: Iterable[tuple[Any, _Bucket]], size: int) -> PersistentVector[Slot]:
    slots: list[list[tuple[Any, _Bucket]]] = [[] for _ in range(size)]
    for key, bucket in items:
        slots[hash((key,)) & (size - 1)].append((key, bucket))
    return PersistentVector.of(tuple(slot) for slot in slots)
