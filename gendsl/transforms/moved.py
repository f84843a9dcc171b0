"""A trace with some of its values changed and nothing run again, without a copy of the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from gendsl.address import Path
from gendsl.runtime.records import Record, Records
from gendsl.runtime.trace import ReferenceTrace


def moved(trace: ReferenceTrace, values: dict[Path, Any]) -> ReferenceTrace:
    """A trace with other values at some paths; its scores and return values are still those of the old."""
    return trace.with_records(cast(Records, _Moved(trace.records, values)))


class _Moved(Mapping[Path, Record]):
    __slots__ = ("changed", "records")

    def __init__(self, records: Mapping[Path, Record], changed: dict[Path, Any]) -> None:
        self.records = records
        self.changed = changed

    def __getitem__(self, path: Path) -> Record:
        record = self.records[path]
        return (record[0], self.changed[path], record[2]) if path in self.changed else record

    def __contains__(self, path: object) -> bool:
        return path in self.records

    def __iter__(self) -> Iterator[Path]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)
