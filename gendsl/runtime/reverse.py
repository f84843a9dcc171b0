"""Which iterations read a key: a persistent multimap from hashable keys to sets of integers.

A hash table in a persistent vector leads to a key's bucket. A bucket is a sorted array and what changed
since, in dicts of which each may hold 32 times as many as the one before: a change copies the smallest one,
a full one goes into the next, and once there are many changes for the array's size, all go into a new array
(the logarithmic method of Bentley and Saxe). So a change costs the same for few members and for many.

Where an integer goes from one key to another, as a point does that gets another label, this is only noted:
many such moves come one after the other before anybody looks, and then the members of a key change at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gendsl.runtime.persistent import PersistentVector

Integers = npt.NDArray[np.int64]
Changes = dict[int, bool]  # whether an integer is a member now

_STEP = 32  # between the sizes of the dicts
_PART = 32  # the part of a base whose number of changes makes a new base
_LOAD = 4  # pairs per slot at most
_MOST = 512  # moves that are noted before they are made
_FEW = 4  # changes that are as fast one by one


class Bucket:
    """The integers of one key; `size` is their number, `kept` what others know of them."""

    __slots__ = ("base", "cached", "kept", "levels", "size")

    def __init__(self, base: Integers, levels: tuple[Changes, ...], size: int) -> None:
        self.base = base
        self.levels = levels
        self.size = size
        self.cached: Integers | None = None
        self.kept: dict[Any, Any] | None = None

    def __contains__(self, t: int) -> bool:
        for level in self.levels:
            if t in level:
                return level[t]
        base = self.base
        if not len(base):
            return False
        k = base.searchsorted(t)
        return bool(k < len(base) and base[k] == t)

    def changed(self, t: int, present: bool) -> Bucket:
        if len(self.levels[0]) >= _STEP:
            self._merge()
        levels, base = self.levels, self.base
        level = levels[0].copy()
        if present or len(base):
            level[t] = present
        else:
            del level[t]
        return Bucket(base, (level, *levels[1:]), self.size + (1 if present else -1))

    def changed_at(self, changes: Changes) -> Bucket:
        """With some integers more, and others no longer."""
        levels, base = self.levels, self.base
        level = levels[0] | changes
        if not len(base):
            level = {t: True for t, present in level.items() if present}
        more = sum(changes.values())
        bucket = Bucket(base, (level, *levels[1:]), self.size + 2 * more - len(changes))
        if len(level) >= _STEP:
            bucket._merge()
        return bucket

    def _merge(self) -> None:
        """Empties the first level; here, not in the next version, as many versions may come from this one."""
        if sum(map(len, self.levels)) * _PART >= len(self.base):
            self.base = self.array()
            self.levels = ({},)
            return
        level, *rest = self.levels
        k, most = 0, _STEP
        while len(level) >= most:
            if k == len(rest):
                rest.append({})
            level = {**rest[k], **level}
            rest[k] = {}
            k, most = k + 1, most * _STEP
        rest[k - 1] = level
        self.levels = ({}, *rest)

    def array(self) -> Integers:
        """The members in order."""
        if self.cached is None:
            levels, base = self.levels, self.base
            if not len(base):
                members = np.array(sorted(levels[0]), np.int64)
            elif len(levels) > 1 or levels[0]:
                members = _merged(base, levels)
            else:
                members = base
            if len(members) != self.size:
                raise ValueError("an integer has been moved from a key that it didn't belong to")
            members.flags.writeable = False
            self.cached = members
            if len(members) > _STEP:
                # The same members. Levels are read before the base everywhere, and written after it: for a
                # thread that comes between, the base has some changes in it already, but none is forgotten.
                self.base = members
                self.levels = ({},)
        return self.cached


def _merged(base: Integers, levels: tuple[Changes, ...]) -> Integers:
    """The members of a base after the changes, some of which it may have in it already."""
    changes: Changes = {}
    for level in reversed(levels):
        changes |= level
    if len(changes) <= _FEW:
        return _one_by_one(base, changes)
    keys = np.fromiter(changes, np.int64, len(changes))
    present = np.fromiter(changes.values(), np.bool_, len(changes))
    order = keys.argsort()
    keys, present = keys[order], present[order]
    at = np.minimum(base.searchsorted(keys), len(base) - 1)
    kept = np.ones(len(base), np.bool_)
    kept[at[base[at] == keys]] = False
    members = np.concatenate((base[kept], keys[present]))
    members.sort(kind="stable")  # merges the two parts in O(n)
    return members


def _one_by_one(base: Integers, changes: Changes) -> Integers:
    """The same for few changes, and a base that may be long."""
    pieces: list[Any] = []
    start, size = 0, len(base)
    for t in sorted(changes):
        k = int(base.searchsorted(t))
        pieces.append(base[start:k])
        if changes[t]:
            pieces.append((t,))
        start = k + 1 if k < size and base[k] == t else k
    pieces.append(base[start:])
    return np.concatenate(pieces)


_new: Any = object.__new__
Slot = tuple[tuple[Any, Bucket], ...]
_NONE = np.empty(0, np.int64)
_NONE.flags.writeable = False


class ReverseIndex:
    """A persistent multimap: `add`, `remove` and `moved` give a new one. Keys are equal as in a dict."""

    __slots__ = ("_before", "_count", "_made", "_move", "_moves")

    def __init__(self, slots: PersistentVector[Slot], count: int) -> None:
        self._made: PersistentVector[Slot] | None = slots  # None where moves are only noted
        self._count = count
        self._moves = 0  # how many
        self._move: Any = None  # the last of them: from which key to which, and what
        self._before: Any = None  # the index before it

    @staticmethod
    def of(pairs: Iterable[tuple[Hashable, int]] = ()) -> ReverseIndex:
        members: dict[Hashable, list[int]] = {}
        for key, t in pairs:
            members.setdefault(key, []).append(t)
        buckets = []
        for key, integers in members.items():
            buckets.append((key, _bucket(integers)))
        return ReverseIndex(_table(buckets, _slots_for(len(buckets))), len(buckets))

    @staticmethod
    def of_columns(keys: Sequence[Integers]) -> ReverseIndex:
        """The index of iterations t = 0, 1, ... that read keys[0][t], keys[1][t], ...; none is negative."""
        size = len(keys[0])
        every = np.concatenate(keys)
        order = every.argsort(kind="stable")
        every, members = every[order], order % size
        starts = np.flatnonzero(np.diff(every, prepend=-1))
        buckets = []
        for key, group in zip(every[starts].tolist(), np.split(members, starts[1:]), strict=True):
            buckets.append((key, _bucket_of(group if len(keys) == 1 else np.unique(group))))
        return ReverseIndex(_table(buckets, _slots_for(len(buckets))), len(buckets))

    def _items(self) -> Iterator[tuple[Any, Bucket]]:
        for slot in self._slots:
            yield from slot

    @property
    def _slots(self) -> PersistentVector[Slot]:
        slots = self._made
        return self._settled() if slots is None else slots

    def moved(self, was: Hashable, now: Hashable, t: int) -> ReverseIndex:
        """With t, which is among the integers of one key, among those of another; O(1)."""
        new: ReverseIndex = _new(ReverseIndex)
        new._made = None
        new._move = was, now, t
        new._before = self
        new._moves = moves = self._moves + 1
        if moves >= _MOST:
            new._settled()
        return new

    def _settled(self) -> PersistentVector[Slot]:
        """Make the moves that are noted."""
        moves = []
        index = self
        while index._made is None:
            move, before = index._move, index._before
            if before is None:
                continue  # another thread has just made them
            moves.append(move)
            index = before
        slots, self._count = _changed(index._slots, index._count, _net(moves))
        self._made = slots  # the last but these, which another thread looks at after it
        self._moves = 0
        self._before = self._move = None
        return slots

    def keys(self) -> Iterator[Any]:
        """The keys that have members, in no particular order."""
        return (key for key, _ in self._items())

    def get(self, key: Hashable) -> Integers:
        """The integers of a key in order, as a read-only array; empty for a key that has none."""
        bucket = self.bucket(key)
        return _NONE if bucket is None else bucket.array()

    def bucket(self, key: Hashable) -> Bucket | None:
        """The bucket of a key; None for a key that has no integers."""
        slots = self._made
        if slots is None:
            slots = self._settled()
        for other, bucket in slots[hash((key,)) & (len(slots) - 1)]:
            if other is key or other == key:
                return bucket
        return None

    def add(self, key: Hashable, t: int) -> ReverseIndex:
        """With t among the key's integers.

        Raises:
            ValueError: it is there already.
        """
        slots = self._slots
        k = hash((key,)) & (len(slots) - 1)
        slot = slots[k]
        for j, (other, bucket) in enumerate(slot):
            if other is key or other == key:
                if t in bucket:
                    raise ValueError(f"{t} is among the integers of {key!r} already")
                pair = (other, bucket.changed(t, True))
                return ReverseIndex(slots.set(k, (*slot[:j], pair, *slot[j + 1 :])), self._count)
        if self._count >= _LOAD * len(slots):
            # the same pairs in more slots: this version keeps them too, so that adding to it again is cheap
            self._made = slots = _table(self._items(), 4 * len(slots))
            k = hash((key,)) & (len(slots) - 1)
            slot = slots[k]
        pair = (key, Bucket(_NONE, ({t: True},), 1))
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
            if (other is key or other == key) and t in bucket:
                rest = (*slot[:j], *slot[j + 1 :])
                if bucket.size > 1:
                    slot = (*slot[:j], (other, bucket.changed(t, False)), *slot[j + 1 :])
                    return ReverseIndex(slots.set(k, slot), self._count)
                return ReverseIndex(slots.set(k, rest), self._count - 1)
        raise KeyError((key, t))

    def __reduce__(self) -> tuple[Any, ...]:
        pairs = [(key, int(t)) for key, bucket in self._items() for t in bucket.array()]
        return ReverseIndex.of, (pairs,)


class SameIndex:
    """The index of iterations t that read the key `first + step * t`: nothing has to be kept."""

    __slots__ = ("first", "step")

    def __init__(self, first: int, step: int) -> None:
        self.first = first
        self.step = step

    def get(self, key: Hashable) -> Integers:
        """The iteration of a key, also of one that the loop doesn't get to."""
        if not isinstance(key, (int, float, np.number)) or key != int(key):
            return _NONE
        t, rest = divmod(int(key) - self.first, self.step)
        return np.array([t]) if rest == 0 and t >= 0 else _NONE

    def keys(self, size: int) -> range:
        """The keys that `size` iterations read."""
        return range(self.first, self.first + self.step * size, self.step)

    def add(self, key: Hashable, t: int) -> SameIndex:
        return self

    remove = add


def without_same(readers: dict[Any, Any]) -> dict[Any, Any]:
    """The indexes that are kept up to date; a `SameIndex` holds only while the loop counts as it did."""
    return {slot: index for slot, index in readers.items() if type(index) is not SameIndex}


def _net(moves: list[tuple[Any, Any, int]]) -> dict[Any, Changes]:
    """How the integers of each key change by some moves, the last of them first."""
    changes: dict[Any, Changes] = {}
    for was, now, t in reversed(moves):
        for key, present in ((was, False), (now, True)):
            of_key = changes.get(key)
            if of_key is None:
                changes[key] = {t: present}
            elif of_key.setdefault(t, present) is not present:
                del of_key[t]  # it was the other way round, and is again as it was
    return changes


def _changed(
    slots: PersistentVector[Slot], count: int, changes: dict[Any, Changes]
) -> tuple[PersistentVector[Slot], int]:
    """The slots, and how many keys they have, when other integers belong to some keys."""
    new: dict[int, Slot] = {}
    for key, of_key in changes.items():
        if not of_key:
            continue
        k = hash((key,)) & (len(slots) - 1)
        slot = new.get(k)
        if slot is None:
            slot = slots[k]
        pairs = []
        bucket = Bucket(_NONE, ({},), 0)
        for pair in slot:
            if pair[0] is key or pair[0] == key:
                key, bucket = pair
                count -= 1
            else:
                pairs.append(pair)
        bucket = bucket.changed_at(of_key)
        if bucket.size:
            pairs.append((key, bucket))
            count += 1
        new[k] = tuple(pairs)
    slots = slots.set_many(new)
    if count > _LOAD * len(slots):
        slots = _table((pair for slot in slots for pair in slot), 4 * len(slots))
    return slots, count


def _bucket_of(members: Integers) -> Bucket:
    if len(members) <= _STEP:
        return Bucket(_NONE, (dict.fromkeys(members.tolist(), True),), len(members))
    members = members.copy()
    members.flags.writeable = False
    return Bucket(members, ({},), len(members))


def _bucket(integers: list[int]) -> Bucket:
    distinct = dict.fromkeys(integers, True)
    if len(distinct) <= _STEP:
        return Bucket(_NONE, (distinct,), len(distinct))
    base = np.fromiter(distinct, np.int64, len(distinct))
    base.sort()
    base.flags.writeable = False
    return Bucket(base, ({},), len(base))


def _slots_for(count: int) -> int:
    """A power of two, with two pairs per slot or fewer."""
    return 1 << max(3, (count // 2).bit_length())


def _table(items: Iterable[tuple[Any, Bucket]], size: int) -> PersistentVector[Slot]:
    slots: list[list[tuple[Any, Bucket]]] = [[] for _ in range(size)]
    for key, bucket in items:
        slots[hash((key,)) & (size - 1)].append((key, bucket))
    return PersistentVector.of(tuple(slot) for slot in slots)
