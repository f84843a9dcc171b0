"""Containers that loops are filling, as one of their iterations sees them.

for t in range(n): x[t] = ... x[t - 1] ...              View: what earlier iterations have written
for t in range(n):
    for j in range(m): x[t, j] = ... x[t, j - 1] ...    Layered: and the inner loop's, over that
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from gendsl.runtime.change import ALL, UNSET
from gendsl.runtime.lowering.ir import POSITION
from gendsl.runtime.written_keys import CELL


class Seen(ABC):
    """A container as an iteration sees it.

    Attributes:
        outer: the container with what the outermost loop has written.
        frame, t: that of the iteration of the innermost loop, and which iteration it is.
        own: what the iteration has written so far; UNSET if nothing.
    """

    __slots__ = ("frame", "is_dict", "outer", "own", "t")

    outer: Any
    is_dict: bool

    def __init__(self, outer: Any, frame: list[Any], own: int) -> None:
        self.outer = outer
        self.is_dict = outer.is_dict
        self.frame = frame
        self.t: int = frame[POSITION]
        self.own = frame[own] if own >= 0 else UNSET

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.outer.is_array  # type: ignore[no-any-return]

    @property
    def indices(self) -> int:
        """How many indices of an array name an entry."""
        return self.outer.indices  # type: ignore[no-any-return]

    @property
    def rows(self) -> bool:
        """Whether its entries are those of its rows."""
        return self.outer.rows  # type: ignore[no-any-return]

    def keys_of_cell(self, outer: Any, within: Any) -> tuple[Any, ...]:
        """The keys of changes that concern code which looks up an entry of a row."""
        return self.outer.keys_of_cell(outer, within)  # type: ignore[no-any-return]

    def entry_of(self, key: Any) -> Any:
        """The key of the entry in which a lookup looks; ALL if it may look in several."""
        return self.outer.entry_of(key)

    def parts_of(self, key: Any) -> Any:
        """The keys of the entries in which a lookup looks; None if that isn't known."""
        return self.outer.parts_of(key)

    def within(self, written: Any, frame: list[Any], own: int) -> Layered:
        """The container as the iteration of a frame sees it, of a loop in this iteration that writes, too."""
        return Layered(self, written, frame, own)

    @abstractmethod
    def put_at(self, key: Any) -> Any:
        """What has been written last at a key, as changes have it; UNSET if nothing."""

    @abstractmethod
    def made(self) -> Any:
        """The list, dict or array itself."""


class View(Seen):
    """A container that a loop is filling, as one of the loop's iterations sees it."""

    __slots__ = ()

    def __len__(self) -> int:
        extra = self.outer.kind == "append" and self.own is not UNSET
        if self.own is not UNSET and self.is_dict and not self.rows:
            return len(self.made())
        return self.outer.length_before(self.t) + extra  # type: ignore[no-any-return]

    def __getitem__(self, key: Any) -> Any:
        return self.outer.entry(key, self.t, self.own, self.frame)

    def __contains__(self, key: Any) -> bool:
        return self.outer.contains(key, self.t, self.own, self.frame)  # type: ignore[no-any-return]

    def cell(self, key: Any, inner: Any) -> Any:
        """An entry of a row."""
        return self.outer.cell(key, inner, self.t, self.own, self.frame)

    def put_at(self, key: Any) -> Any:
        return self.outer.put_at(key, self.t, self.own, self.frame)

    def made(self) -> Any:
        return self.outer.made_before(self.t, self.own, self.frame)


class Layered(Seen):
    """A container that a loop is filling, and a loop in it, as an iteration of the inner one sees it.

    Attributes:
        around: the container as the outer loop's iteration sees it.
        written: what the inner loop has written of it, as a dict.
    """

    __slots__ = ("around", "written")

    def __init__(self, around: Seen, written: Any, frame: list[Any], own: int) -> None:
        super().__init__(around.outer, frame, own)
        self.around = around
        self.written = written

    def put_at(self, key: Any) -> Any:
        raw = key[1:] if self.rows else key
        value = self.written.put_within(raw, self.t, self.own, self.frame)
        return self.around.put_at(key) if value is UNSET else value

    def made(self) -> Any:
        made = self.around.made()
        self.outer.put(made, self.written.pairs_before(self.t, self.own, self.frame))
        return made

    def _at(self, key: Any) -> Any:
        """The entry at a key, as changes have it."""
        value = self.put_at(key)
        return self.outer.before(key) if value is UNSET else self.outer.converted(value, key)

    def __getitem__(self, key: Any) -> Any:
        outer = self.outer
        if self.rows:
            return self._row(key)
        if self.is_dict:
            return self._at(key)
        if type(key) is tuple or outer.indices > 1:
            found = outer.entry_of(key)
            if found is ALL:
                return outer.part(key, self.put_at, self.made)
            rest = key[outer.indices :]
            entry = self._at(found)
            return entry[rest] if rest else entry
        found = outer.index(key, len(outer.base))
        if found is ALL:
            return self.made()[key]
        if not 0 <= found < len(outer.base):
            return self.made()[key]  # which raises what a list, or an array, does
        return self._at(found)

    def _row(self, key: Any) -> Any:
        """A row."""
        row = self.outer.row_at(key)
        if type(row) is not list:
            return self.made()[key]
        at = key if self.is_dict else self.outer.index(key, len(self.outer.base))
        return [self._at((CELL, at, j)) for j in range(len(row))]

    def cell(self, key: Any, inner: Any) -> Any:
        """An entry of a row."""
        found = self.outer.normal((key, inner))
        return self[key][inner] if found is ALL else self._at(found)

    def __contains__(self, key: Any) -> bool:
        if self.is_dict and not self.rows and self.put_at(key) is not UNSET:
            return True
        return key in (self.outer.base if self.is_dict else self.made())

    def __len__(self) -> int:
        return len(self.made() if self.is_dict and not self.rows else self.outer.base)
