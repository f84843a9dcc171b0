"""What a run of a transform reads and writes: inputs and outputs, and the coordinates that it gives out."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.distributions.base import measured
from gendsl.errors import CoverageError, LabelError, Location, ProtectedObservationError, ReadError
from gendsl.runtime.paths import PathSet
from gendsl.runtime.records import UNCHANGEABLE, Record, detached
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.views import RecordsView
from gendsl.supports import Support
from gendsl.transforms.arrays import DualArray, seed_array, short
from gendsl.transforms.definition import Definition
from gendsl.transforms.forward import dual
from gendsl.transforms.handles import InputHandle, OutputHandle
from gendsl.transforms.returned import NOT_A_CHOICE
from gendsl.transforms.vectors import seed_entries


class Label:
    """A claim about a choice, checked against its distribution: `discrete` or `continuous`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name  # labels are told apart by identity: pickled, each is itself


discrete = Label("discrete")
continuous = Label("continuous")


class Run:
    """One execution of a transform: its inputs and outputs, and the coordinates given out so far.

    The inputs and outputs don't refer to their run. What refers to itself that way is left to the garbage
    collector, and to collect a run took about as long as to make one.

    Attributes:
        next_coordinate: the first coordinate that no choice has yet, alone in a list that the inputs share.
    """

    __slots__ = ("inputs", "next_coordinate", "outputs", "transform")

    def __init__(self, transform: Definition) -> None:
        self.transform = transform
        self.inputs: list[Input] = []
        self.outputs: list[Output] = []
        self.next_coordinate = [NOT_A_CHOICE + 1]

    @property
    def asked(self) -> bool:
        """Whether an input was asked for what may tell of choices that are not read."""
        return any(state.asked for state in self.inputs)

    def position(self, state: Input) -> int:
        """Which of the inputs one is. (They can't be compared, as handles have no values.)"""
        return next(i for i, other in enumerate(self.inputs) if other is state)


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

    def __init__(self, run: Run, name: str, trace: ReferenceTrace, args: tuple[Any, ...]) -> None:
        self.transform = run.transform
        self.next_coordinate = run.next_coordinate
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


Line = tuple[str, int, str]
"""A line of the user's: the file, its number, and the function that it is in."""


class Entry:
    """What an output was given at one address, with the line that gave it.

    Those who make one set its attributes: an `__init__` would double the time that it takes.
    """

    __slots__ = ("line",)
    line: Line

    @property
    def location(self) -> Location:
        """The user's line."""
        return Location(*self.line)


class Write(Entry):
    """A value written to an output: as it was written, so with its derivatives."""

    __slots__ = ("label", "value")
    value: Any
    label: Label | None


class Copy(Entry):
    """A choice copied to an output."""

    __slots__ = ("path", "source")
    path: Path
    source: Input


class Output(OutputHandle):
    """An output trace as a transform sees it: the handle of the whole, and what was written and copied to it.

    Attributes:
        heads: what the protected addresses begin with, where that is known.
        values: the plain values of the entries, as far as they are known from the start.
        unsettled: where they aren't known from the start, or aren't numbers.
        supports: those of the choices of the trace that was made of it, once there is one.
        columns: the tangents of what was written to continuous choices of it, once there is one; None where
            something else than numbers and short vectors was.
    """

    __slots__ = (
        "columns", "entries", "heads", "name", "protected", "supports", "transform", "unsettled", "values",
    )  # fmt: skip
    path: Path = ()

    def __init__(self, run: Run, name: str, protected: Container[Path]) -> None:
        self.transform = run.transform
        self.name = name
        self.protected = protected
        self.heads = protected.heads if type(protected) is PathSet else None
        self.entries: dict[Path, Write | Copy] = {}
        self.values: dict[Path, Any] = {}
        self.unsettled: list[Path] = []
        self.supports: dict[Path, Support] = {}
        self.columns: list[dict[int, float]] | None = None

    @property
    def state(self) -> Output:  # type: ignore[override]
        """Itself: the handle of the whole trace."""
        return self

    def put(self, path: Path, entry: Write | Copy, value: Any) -> None:
        """Record a write or copy of a plain value to a path."""
        if path in self.protected:
            raise ProtectedObservationError(
                f"a transform writes to an observation of {self.name}, and observations are held fixed",
                address=path,
                fix="write to latent choices only",
            )
        before = self.entries.get(path)
        if before is not None:
            raise CoverageError(
                f"{self.name} is written twice at one address (first at {os.path.basename(before.line[0])}:"
                f"{before.line[1]})",
                address=path,
                fix="write or copy to each output address exactly once",
            )
        self.entries[path] = entry
        self.values[path] = value


def check_is_label(label: Any, path: Path) -> None:
    """Raise `LabelError` unless this is a label."""
    if label is not discrete and label is not continuous:
        raise LabelError(
            f"{label!r} is no label", address=path, fix="use discrete or continuous, without quotes"
        )


def check_label(label: Label, is_discrete: bool, path: Path, location: Location | None = None) -> None:
    """Raise `LabelError` unless the label says what the choice's distribution is."""
    check_is_label(label, path)
    if (label is discrete) != is_discrete:
        actual = "discrete" if is_discrete else "continuous"
        raise LabelError(
            f"this choice is labelled {label} but its distribution is {actual}",
            address=path,
            location=location,
            fix=f"label it {actual}, or leave the label out",
        )
