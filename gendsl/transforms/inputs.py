"""The input traces of a run of a transform: what is asked of them, and what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.distributions.base import measured
from gendsl.errors import HandleError, ReadError
from gendsl.runtime.paths import PathSet
from gendsl.runtime.records import UNCHANGEABLE, Record, detached
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.views import RecordsView
from gendsl.supports import Support
from gendsl.transforms.arrays import DualArray, seed_array, short
from gendsl.transforms.definition import Definition
from gendsl.transforms.forward import dual
from gendsl.transforms.handles import Handle
from gendsl.transforms.labels import Label, check_label, continuous, discrete
from gendsl.transforms.returned import undifferentiated
from gendsl.transforms.vectors import seed_entries


class InputHandle(Handle):
    """An address in an input trace."""

    __slots__ = ()
    state: Input

    def _at(self, path: Path) -> Handle:
        return DeeperInput(self.state, path)

    def _value_by(self) -> str:
        return f"read({self!r})"

    @property
    def retval(self) -> Any:
        """What the program, or the call at this address, returned.

        Floats in it may be used to decide what to do, but not in what is written: how they depend on the
        choices is not known. `write` refuses what depends on them.
        """
        self.state.asked = True
        if not self.path:
            return undifferentiated(self.state.trace.retval)
        calls = self.state.trace.calls
        if self.path not in calls:
            chosen = self.state.find(self.path) is not None
            raise ReadError(
                f"{self.state.name} has no traced call at this address",
                address=self.path,
                fix=f"it is a choice: read({self!r})" if chosen else explain_unknown(self.path, calls),
            )
        return undifferentiated(calls[self.path])

    def __contains__(self, address: Any) -> bool:
        self.state.asked = True
        return self[address].path in self.state.trace


class DeeperInput(InputHandle):
    """An address in an input trace that isn't all of it."""

    __slots__ = ("path", "state")

    def __init__(self, state: Input, path: Path) -> None:
        self.state = state
        self.path = path

    @property
    def args(self) -> NoReturn:
        """Refused: only a whole trace has arguments."""
        raise HandleError(
            "only a whole trace has arguments", address=self.path, fix=f"use {self.state.name}.args"
        )


class Input(InputHandle):
    """An input trace as a transform sees it: the handle of the whole trace, and what was read of it.

    Attributes:
        find, near: the record of a choice; `near` knows those at hand only, and costs less.
        known: the measure and the value of a choice, where that takes no record; else None.
        seeds: for each continuous choice that was read, its traced value (a list for a short vector) and
            first coordinate.
        supports: those of the choices that were looked at.
        copied: the continuous choices that were copied, once it is known to what.
        heads: what the observed addresses begin with, where that is known.
        asked: whether it was asked for what a call returned, or for which choices there are, which may tell
            of choices that are not read.
    """

    __slots__ = (
        "args", "asked", "copied", "find", "heads", "known", "name", "near", "next_coordinate", "observed",
        "records", "seeds", "supports", "trace", "transform",
    )  # fmt: skip
    path: Path = ()

    def __init__(
        self,
        transform: Definition,
        next_coordinate: list[int],
        name: str,
        trace: ReferenceTrace,
        args: tuple[Any, ...],
    ) -> None:
        self.transform = transform
        self.next_coordinate = next_coordinate
        self.name = name
        self.trace = trace
        self.records = records = trace.records
        self.find: Near = records.get
        self.near: Near
        self.known: Known
        if type(records) is dict:
            self.near, self.known = self.find, _unknown
        else:
            self.near, self.known = lookups(records)
        self.observed = observed = trace.observed_paths
        self.heads = observed.heads if type(observed) is PathSet else None
        self.args = args
        self.seeds: dict[Path, tuple[Any, int]] = {}
        self.supports: dict[Path, Support] = {}
        self.copied: set[Path] = set()
        self.asked = False

    @property
    def state(self) -> Input:  # type: ignore[override]
        """Itself: the handle of the whole trace."""
        return self

    def support(self, path: Path) -> Support:
        """The support of a choice that there is."""
        support = self.measure(path)
        if support is None:
            raise KeyError(path)
        return support

    def measure(self, path: Path) -> Support | None:
        """The support of a choice; None if there is no such choice."""
        support = self.supports.get(path)
        if support is None:
            support = measure_in(self.records, path)
            if support is not None:
                self.supports[path] = support
        return support

    def value(self, path: Path, label: Label | None) -> Any:
        """The value of a choice; a dual number where it is continuous and not observed."""
        record = self.near(path)
        known = self.known(path) if record is None else None
        if known is not None:
            support, value = known
        else:
            record = record or self.find(path)
            if record is None:
                raise self.missing(path)
            support, value = record[0]._measure or self.supports.get(path) or measured(record[0]), record[1]
        self.supports[path] = support
        is_discrete = support.discrete
        if label is not None and label is not (discrete if is_discrete else continuous):
            check_label(label, is_discrete, path)
        if is_discrete or path in self.observed:
            if type(value) in UNCHANGEABLE:
                return value.copy() if type(value) is np.ndarray else value
            return detached(value)
        seed = self.seeds.get(path)
        if seed is not None:
            traced = seed[0]
            if type(traced) is list:
                return short(traced)
            return traced.copy() if type(traced) is DualArray else traced
        start = self.next_coordinate[0]
        self.next_coordinate[0] += support.dim
        if support.shape == ():
            number = dual(float(value), {start: 1.0} if support.dim else {})
            self.seeds[path] = number, start
            return number
        entries = seed_entries(value, start, support)
        if entries is not None:
            self.seeds[path] = entries, start
            return short(entries)
        array = seed_array(np.asarray(value, dtype=float), start, support.embedding)
        self.seeds[path] = array, start
        return array.copy()

    def missing(self, path: Path) -> ReadError:
        """The error for an address at which there is no choice."""
        if not path:
            return ReadError(
                f"{self.name} is a whole trace, not a choice", fix=f"name an address: {self.name}['x']"
            )
        if path in self.trace.calls:
            return ReadError(
                f"{self.name} has a traced call at this address, not a choice",
                address=path,
                fix=f"read the choices below it, or use {self.name}[{format_address(path)}].retval",
            )
        if self.trace.paths_below(path):
            return ReadError(
                f"this address of {self.name} is a namespace, not a choice",
                address=path,
                fix="read the choices below it, or copy the whole namespace",
            )
        return ReadError(
            f"{self.name} has no such choice",
            address=path,
            fix=explain_unknown(path, self.records),
        )


Near = Callable[[Path], Record | None]
Known = Callable[[Path], tuple[Support, Any] | None]


def lookups(records: Mapping[Path, Record]) -> tuple[Near, Known]:
    """What gives the record of a choice if the trace has it at hand, as it has those that were edited; and
    what gives the measure and the value of a choice, where that takes no record."""
    if type(records) is RecordsView:
        return records.near, records.known
    return records.get, _unknown


def _unknown(path: Path) -> None:
    return None


def measure_in(records: Mapping[Path, Record], path: Path) -> Support | None:
    """The measure of a choice in a trace with these records; None if there is no such choice."""
    near, known_at = lookups(records)
    record = near(path)
    known = known_at(path) if record is None else None
    if known is not None:
        return known[0]
    record = record or records.get(path)
    return None if record is None else measured(record[0])
