"""The entries that a loop without choices has put into a container: to `Written`, iterations of one value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gendsl.runtime.columns import Column
from gendsl.runtime.lowering.tables import EXACT, KINDS
from gendsl.runtime.persistent import PersistentVector

_KINDS = {float: np.float64, int: np.int64, bool: np.bool_}


class EntryStore:
    """The entries of all iterations, of which a new version shares nearly all with the old one.

    Attributes:
        slot: the slot of an iteration's frame that would hold its entry.
        values: the entries, a Column where that gives them back as they are, else a PersistentVector.
        keys: under which keys they are in the container.
    """

    __slots__ = ("keys", "slot", "values")

    def __init__(self, slot: int, values: Any, keys: Sequence[Any]) -> None:
        self.slot = slot
        self.values = values
        self.keys = keys

    @staticmethod
    def of(slot: int, entries: Any, keys: Sequence[Any]) -> EntryStore:
        """The store of the entries in a list, or in an array of one dimension."""
        if isinstance(entries, np.ndarray):
            return EntryStore(slot, Column.of(entries.copy()), keys)
        kinds = set(map(type, entries))
        dtype = _KINDS.get(kinds.pop()) if len(kinds) == 1 else None
        if dtype is not None:
            try:
                return EntryStore(slot, Column.of(np.array(entries, dtype)), keys)
            except OverflowError:
                pass  # integers beyond 64 bits
        return EntryStore(slot, PersistentVector.of(entries), keys)

    def __len__(self) -> int:
        return len(self.keys)

    def entry(self, t: int, slot: int) -> Any:
        """The entry of iteration t, or its key."""
        return self.values[t] if slot == self.slot else self.keys[t]

    def entries(self, slot: int) -> list[Any]:
        """The entries of all iterations, or their keys."""
        values = self.values if slot == self.slot else self.keys
        return values.array().tolist() if type(values) is Column else list(values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.entries(self.slot))

    def column(self, slot: int) -> Column | None:
        """The entries as a column; None where they are none, or integers that floats don't tell apart."""
        column = self.values
        if slot != self.slot or type(column) is not Column:
            return None
        if column.dtype.kind == "i" and len(column):
            flat = column.array()
            if flat.min() < -EXACT or flat.max() > EXACT:
                return None
        return column

    def changed(self, edits: dict[int, Any]) -> EntryStore:
        """With other entries at some iterations."""
        values = self.values
        if type(values) is Column:
            for t, value in edits.items():
                if type(value) is not type(values[t]):
                    return EntryStore(self.slot, PersistentVector.of(self).set_many(edits), self.keys)
                try:
                    values = values.set(t, value)
                except TypeError:  # an integer beyond 64 bits
                    return EntryStore(self.slot, PersistentVector.of(self).set_many(edits), self.keys)
            return EntryStore(self.slot, values, self.keys)
        return EntryStore(self.slot, values.set_many(edits), self.keys)

    def truncated(self, keys: Sequence[Any]) -> EntryStore:
        """The first entries, as many as there are keys."""
        return EntryStore(self.slot, self.values.truncate(len(keys)), keys)

    def extended(self, added: list[Any], keys: Sequence[Any]) -> EntryStore:
        """With more entries; `keys` are those of all."""
        values: Any = self.values
        if type(values) is Column:
            kind = type(values[0]) if len(values) else None
            try:
                for value in added:
                    if type(value) is not kind:
                        raise TypeError
                    values = values.append(value)
                return EntryStore(self.slot, values, keys)
            except TypeError:
                values = PersistentVector.of(self)
        return EntryStore(self.slot, values.extend(added), keys)


def can_hold(entries: Any) -> bool:
    """Whether a store may hold the entries of a list or an array."""
    return type(entries) is list or (
        type(entries) is np.ndarray and entries.ndim == 1 and entries.dtype in KINDS
    )
