"""The keys at which loops write the entries of a container, as changes of the container have them.

    f[i] = ...          i                       an index from the end counts from the start
    f[i, j] = ...       (i, j)                  of an array; of a dict that is the key itself
    f[i][j] = ...       (CELL, i, j) and i      one entry of a row, and with it the row

What looks f[i][j] up where f is filled so reads (CELL, i, j), and (ROW, i): it may come to be another row.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from gendsl.runtime.change import ALL, LENGTH, Mark
from gendsl.runtime.lowering.tables import Columnar

CELL = Mark("CELL")
"""What the key of an entry of a row begins with; no key of the user's does."""
ROW = Mark("ROW")
"""The same of a row that is another list than it was, and not only changed by the loop at single entries."""


class Keyed(Columnar):
    """A container of which loops write entries.

    Attributes:
        base: what the container was before the loop.
        indices: how many indices of an array name an entry: 2 for f[i, j] = ...
        rows: whether the entries are those of its rows: f[i][j] = ... A key is then a pair of keys.
        is_dict: whether it is a dict; one of rows, too.
    """

    __slots__ = ("base", "indices", "is_dict", "rows")

    base: Any
    indices: int
    is_dict: bool
    rows: bool

    @abstractmethod
    def made(self) -> Any:
        """The list, dict or array itself."""

    def positions(self, change: Any) -> Any:
        """The positions, in a loop over the container, of what a change of it is of."""
        if change is ALL:
            return change
        if self.indices == 1:
            return {key for key in change if type(key) is not tuple}
        return {key[0] if type(key) is tuple else key for key in change}

    def change_of_base(self, change: Any, before: Any) -> Any:
        """What a change of the container before the loop is to those who read this one.

        Args:
            before: what that container was before the change.
        """
        if change is None:
            return None
        if (change is ALL or LENGTH in change) and not self.counts_from_start():
            return ALL  # what has been written lies elsewhere now
        if change is ALL:
            if not _has_other_length(before, self.base):
                return ALL
            ends = range(*sorted((len(before), len(self.base))))
            rest = product(*map(range, self.base.shape[1 : self.indices]))
            return {LENGTH, *ends, *(() if self.indices == 1 else ((i, *j) for j in rest for i in ends))}
        if self.rows and not getattr(self.base, "rows", False):
            return {*change, *((ROW, key) for key in change if key is not LENGTH)}
        if self.is_dict or self.indices == getattr(self.base, "indices", 1):
            return change
        return ALL  # its entries are rows of these, or these of those

    @abstractmethod
    def counts_from_start(self) -> bool:
        """Whether what is written stays where it is, however long the container was before the loop."""

    def with_rows(self, keys: Sequence[Any]) -> Sequence[Any]:
        """The keys of some entries, and those of the rows that they are in."""
        if self.rows:
            return [*keys, *(key[1] for key in keys if key is not ALL)]
        if self.indices > 1 and not self.is_dict:  # array code that looks up rows knows them by one index
            return [*keys, *(key[0] for key in keys if type(key) is tuple)]
        return keys

    def normal(self, key: Any) -> Any:
        """A key at which an iteration writes, as changes have it; ALL if it may name several entries."""
        if self.rows:
            return self._cell(*key)
        if self.is_dict:
            return key if _is_hashable(key) else ALL  # if not, an inner loop's dict for an array
        if self.indices == 1:
            return self.index(key, len(self.base))
        return self.entry_of(key) if type(key) is tuple and len(key) == self.indices else ALL

    def keys_of_cell(self, outer: Any, within: Any) -> tuple[Any, ...]:
        """The keys of changes that concern code which looks up an entry of a row; ALL if that isn't known."""
        found = self._cell(outer, within)
        if found is ALL:
            return (ALL,)
        _, key, inner = found
        from_end = () if self.is_dict or key == outer else (LENGTH,)
        if inner != within:  # from the end of the row
            return (key, *from_end)
        return (found, (ROW, key), *from_end)

    def _cell(self, key: Any, inner: Any) -> Any:
        """The key of an entry of a row; ALL if there is no such entry, or it may be several."""
        row = self.row_at(key)
        if row is None or not _is_hashable(inner):
            return ALL
        if not self.is_dict:
            key = self.index(key, len(self.base))
        if type(row) is not dict:
            if isinstance(inner, bool) and isinstance(row, np.ndarray):
                return ALL
            inner = self.index(inner, len(row))
            if inner is ALL or not 0 <= inner < len(row):
                return ALL
        return CELL, key, inner

    def row_at(self, key: Any) -> Any:
        """A row as it was before the loop; None if the key is not that of one."""
        base = self.base
        if self.is_dict:
            return base[key] if _is_hashable(key) and key in _keys(base) else None
        index = self.index(key, len(base))
        return base[index] if index is not ALL and 0 <= index < len(base) else None

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

    def parts_of(self, key: Any) -> list[Any] | None:
        """The keys of the entries of a part of an array, in order; None if that isn't known."""
        n, shape = self.indices, self.shape
        parts = key if type(key) is tuple else (key,)
        if n < 2 or len(parts) > n or type(self.root) is not np.ndarray or n > len(shape):
            return None
        ranges: list[range] = []
        for part, size in zip(parts, shape, strict=False):
            if isinstance(part, slice):
                ranges.append(range(*part.indices(size)))
            elif (type(part) is int or isinstance(part, np.integer)) and -size <= part < size:
                first = int(part) % size
                ranges.append(range(first, first + 1))
            else:
                return None
        ranges += map(range, shape[len(parts) : n])
        return list(product(*ranges))

    def index(self, key: Any, size: int) -> Any:
        """An index counted from the start; ALL if it is none."""
        if type(key) is not int:
            if not self.is_index(key):
                return ALL
            key = operator.index(key)
        return key + size if key < 0 else key

    def is_index(self, key: Any) -> bool:
        """Whether a key is that of one entry: not a mask, a slice or several indices."""
        if isinstance(key, (bool, np.ndarray)):
            return not self.is_array
        return hasattr(key, "__index__")

    @property
    def root(self) -> Any:
        """The list, dict or array from before all the loops that wrote it."""
        root = self.base
        while isinstance(root, Keyed):
            root = root.base
        return root

    def is_as_long(self, before: Keyed) -> bool:
        """Whether indices name the same entries of it as of the container before an update."""
        if self.is_array or before.is_array:
            return self.shape == before.shape
        return self.base is before.base or len(self.base) == len(before.base)

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return isinstance(self.root, np.ndarray)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array; of a list or a dict from before the loops, its length."""
        root = self.root
        return root.shape if isinstance(root, np.ndarray) else (len(root),)


class _Cells:
    """A container of rows for code that only looks up single entries: no row is made for that."""

    __slots__ = ("container",)

    def __init__(self, container: Any) -> None:
        self.container = container

    def __getitem__(self, key: Any) -> _Row:
        return _Row(self.container, key)


class _Row:
    """A row of it."""

    __slots__ = ("container", "key")

    def __init__(self, container: Any, key: Any) -> None:
        self.container = container
        self.key = key

    def __getitem__(self, inner: Any) -> Any:
        return self.container.cell(self.key, inner)


def cells(container: Any) -> Any:
    """A container for code that only looks up single entries of its rows."""
    return _Cells(container) if getattr(container, "rows", False) else container


def _has_other_length(before: Any, now: Any) -> bool:
    """Whether two arrays, of which one may be longer, have the same entries as far as both have any."""
    if not (type(before) is type(now) is np.ndarray) or before.dtype != now.dtype or not now.ndim:
        return False
    if before.shape[1:] != now.shape[1:] or before.dtype == object:
        return False
    size = min(len(before), len(now))
    return before[:size].tobytes() == now[:size].tobytes()


def _keys(base: Any) -> Any:
    """What tells whether a dict has a key."""
    return base.made() if isinstance(base, Keyed) else base


def _is_hashable(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True
