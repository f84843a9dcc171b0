"""What a compiled trace shows of its choices and calls: looked up in its frames when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.runtime.arguments import separate
from gendsl.runtime.lookup import known_at, record_at
from gendsl.runtime.records import REMEMBERED, Record
from gendsl.runtime.regions import Called
from gendsl.runtime.written import whole
from gendsl.supports import Support


class RecordsView(Mapping[Path, Record]):
    """The records of a compiled trace by path: looked up where they are, in program order.

    Attributes:
        near: the record of a choice that was looked up before, as those that an edit changed; else None.
    """

    __slots__ = ("_found", "_size", "called", "near")

    def __init__(self, called: Called, found: dict[Path, Any]) -> None:
        self.called = called
        self._found: dict[Path, Record | None] = found
        self.near = found.get
        self._size: int | None = None

    def get(self, path: Any, default: Any = None) -> Any:
        try:
            record = self._found[path]
        except KeyError:
            called = self.called
            record = record_at(called.linked.body, (called.frame,), path)
            if record is not None and record[0] is None:
                record = None  # a call
            if len(self._found) < 2 * REMEMBERED:
                self._found[path] = record
        return default if record is None else record

    def known(self, path: Path) -> tuple[Support, Any] | None:
        """The measure and the value of a choice, where they are found without its record; else None."""
        called = self.called
        return known_at(called.linked.body, called.frame, path)

    def found(self, path: Path) -> tuple[Support, Any] | None:
        """The measure and the value of a choice, or None if there is none."""
        known = self.known(path)
        if known is None and (record := self.get(path)) is not None:
            known = record[0]._measure or measured(record[0]), record[1]
        return known

    def __getitem__(self, path: Path) -> Record:
        record = self.get(path)
        if record is None:
            raise KeyError(path)
        return record  # type: ignore[no-any-return]

    def __contains__(self, path: object) -> bool:
        return self.get(path) is not None

    def pairs(self) -> Iterator[tuple[Path, Record]]:
        """Paths with records, in program order."""
        called = self.called
        return called.linked.body.records((called.frame,), ())  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Path]:
        return (path for path, _ in self.pairs())

    def items(self) -> Any:
        return dict(self.pairs()).items()

    def __len__(self) -> int:
        if self._size is None:
            self._size = sum(1 for _ in self.pairs())
        return self._size


class CallsView(Mapping[Path, Any]):
    """What the traced calls of a compiled trace returned, by path: looked up where it is."""

    __slots__ = ("called",)

    def __init__(self, called: Called) -> None:
        self.called = called

    def __getitem__(self, path: Path) -> Any:
        called = self.called
        for _, record in called.linked.body.find((called.frame,), path, 0, False):
            if record[0] is None:
                return separate(whole(record[1]))
        raise KeyError(path)

    def __iter__(self) -> Iterator[Path]:
        called = self.called
        return (path for path, _ in called.linked.body.calls((called.frame,), ()))

    def __len__(self) -> int:
        return sum(1 for _ in self)
