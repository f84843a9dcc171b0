"""The language inside a transform: handles, and `read`, `write` and `copy`, which act on them.

`handle[address]` names an address of a trace; what is done to it is recorded in the run's inputs and
outputs, from which the output traces and the Jacobian are made. A continuous choice that is read comes
back as a dual number (or array) that carries its derivative with respect to the coordinates of the inputs.
"""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import Any, NoReturn, Protocol

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.errors import (
    CoverageError,
    HandleError,
    LabelError,
    Location,
    LostDerivativeError,
    ProtectedObservationError,
    ReadError,
)
from gendsl.distributions import Distribution
from gendsl.runtime.records import UNCHANGEABLE, detached
from gendsl.runtime.trace import ReferenceTrace
from gendsl.supports import Support
from gendsl.transforms.arrays import DualArray, seed_array, short
from gendsl.transforms.forward import Dual
from gendsl.transforms.returned import NOT_A_CHOICE, undifferentiated
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


# --- what a run reads and writes -------------------------------------------------------------------


class Defined(Protocol):
    """A transform, as far as error messages need it."""

    @property
    def name(self) -> str:
        """The name to show to people."""

    @property
    def location(self) -> Location:
        """Where it is defined."""


class Run:
    """One execution of a transform: its inputs and outputs, and the coordinates given out so far."""

    __slots__ = ("inputs", "next_coordinate", "outputs", "transform")

    def __init__(self, transform: Defined) -> None:
        self.transform = transform
        self.inputs: list[Input] = []
        self.outputs: list[Output] = []
        self.next_coordinate = NOT_A_CHOICE + 1


class Input:
    """An input trace as a transform sees it.

    Attributes:
        seeds: for each continuous choice that was read, its traced value (a list for a short vector) and
            first coordinate.
        supports: those of the choices that were looked at.
    """

    __slots__ = ("args", "find", "name", "observed", "records", "run", "seeds", "supports", "trace")

    def __init__(self, run: Run, name: str, trace: ReferenceTrace, args: tuple[Any, ...]) -> None:
        self.run = run
        self.name = name
        self.trace = trace
        self.records = records = trace.records
        self.find = records.get
        self.observed = trace.observed_paths
        self.args = args
        self.seeds: dict[Path, tuple[Any, int]] = {}
        self.supports: dict[Path, Support] = {}

    def support(self, path: Path) -> Support:
        """The support of a choice that there is."""
        support = self.supports.get(path)
        if support is None:
            support = self.supports[path] = measured(self.records[path][0])
        return support

    def value(self, path: Path, label: Label | None) -> Any:
        """The value of a choice; a dual number where it is continuous and not observed."""
        record = self.find(path)
        if record is None:
            raise self.missing(path)
        support = self.supports.get(path)
        if support is None:
            support = self.supports[path] = record[0]._measure or record[0].support
        is_discrete = support.discrete
        if label is not None and label is not (discrete if is_discrete else continuous):
            check_label(label, is_discrete, path)
        if is_discrete or path in self.observed:
            value = record[1]
            if type(value) in UNCHANGEABLE:
                return value.copy() if type(value) is np.ndarray else value
            return detached(value)
        seed = self.seeds.get(path)
        if seed is not None:
            value = seed[0]
            if type(value) is list:
                return short(value)
            return value.copy() if type(value) is DualArray else value
        run = self.run
        start = run.next_coordinate
        run.next_coordinate = start + support.dim
        if support.shape == ():
            value = Dual(float(record[1]), {start: 1.0} if support.dim else {})
            self.seeds[path] = value, start
            return value
        entries = seed_entries(record[1], start, support)
        if entries is not None:
            self.seeds[path] = entries, start
            return short(entries)
        array = seed_array(np.asarray(record[1], dtype=float), start, support.embedding)
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


Line = tuple[str, int, str]
"""A line of the user's: the file, its number, and the function that it is in."""


class Entry:
    """What an output was given at one address, with the line that gave it."""

    __slots__ = ("line",)
    line: Line

    @property
    def location(self) -> Location:
        """The user's line."""
        return Location(*self.line)


class Write(Entry):
    """A value written to an output: as it was written, so with its derivatives."""

    __slots__ = ("label", "value")

    def __init__(self, value: Any, label: Label | None, line: Line) -> None:
        self.value = value
        self.label = label
        self.line = line


class Copy(Entry):
    """A choice copied to an output."""

    __slots__ = ("path", "source")

    def __init__(self, source: Input, path: Path, line: Line) -> None:
        self.source = source
        self.path = path
        self.line = line


class Output:
    """An output trace as a transform sees it: what was written and copied to it so far.

    Attributes:
        values: the plain values of the entries, as far as they are known from the start.
        settled: whether they are all known, and numbers.
        supports: those of the choices of the trace that was made of it, once there is one.
    """

    __slots__ = ("entries", "name", "protected", "run", "settled", "supports", "values")

    def __init__(self, run: Run, name: str, protected: Container[Path]) -> None:
        self.run = run
        self.name = name
        self.protected = protected
        self.entries: dict[Path, Write | Copy] = {}
        self.values: dict[Path, Any] = {}
        self.settled = True
        self.supports: dict[Path, Support] = {}

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
                f"{self.name} is written twice at one address (first on line {before.line[1]})",
                address=path,
                fix="write or copy to each output address exactly once",
            )
        self.entries[path] = entry
        self.values[path] = value


def measured(distribution: Distribution) -> Support:
    """A support with the kind, the dimension and the shape of a distribution's own."""
    return distribution._measure or distribution.support


def _check_is_label(label: Any, path: Path) -> None:
    if label is not discrete and label is not continuous:
        raise LabelError(
            f"{label!r} is no label", address=path, fix="use discrete or continuous, without quotes"
        )


def check_label(label: Label, is_discrete: bool, path: Path, location: Location | None = None) -> None:
    """Raise `LabelError` unless the label says what the choice's distribution is."""
    _check_is_label(label, path)
    if (label is discrete) != is_discrete:
        actual = "discrete" if is_discrete else "continuous"
        raise LabelError(
            f"this choice is labelled {label} but its distribution is {actual}",
            address=path,
            location=location,
            fix=f"label it {actual}, or leave the label out",
        )


# --- handles ---------------------------------------------------------------------------------------


class Handle:
    """An address in a trace. It names a choice and is no value: `read` gives the value."""

    __slots__ = ("path", "state")

    def __init__(self, state: Any, path: Path) -> None:
        self.state = state
        self.path = path

    def __getitem__(self, address: Any) -> Any:
        path = address if type(address) is tuple else (address,)
        try:
            hash(path)
        except TypeError:
            _refuse_address(path)
        if self.path:
            path = self.path + path
        return type(self)(self.state, path)

    def __repr__(self) -> str:
        return f"{self.state.name}[{format_address(self.path)}]" if self.path else self.state.name

    def _no_value(self, *_: Any, **__: Any) -> NoReturn:
        reader = f"read({self!r})" if isinstance(self, InputHandle) else "the value that you wrote there"
        raise HandleError(
            f"{self!r} is an address, not a value",
            address=self.path or None,
            fix=f"use {reader}",
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = _no_value
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = _no_value
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __mod__ = __rmod__ = __matmul__ = _no_value
    __floordiv__ = __rfloordiv__ = __and__ = __rand__ = __or__ = __ror__ = __xor__ = __invert__ = _no_value
    __round__ = __floor__ = __ceil__ = __trunc__ = __complex__ = __hash__ = _no_value


class InputHandle(Handle):
    """An address in an input trace."""

    __slots__ = ()
    state: Input

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments of the trace."""
        if self.path:
            raise HandleError(
                "only a whole trace has arguments", address=self.path, fix=f"use {self.state.name}.args"
            )
        return self.state.args

    @property
    def retval(self) -> Any:
        """What the program, or the call at this address, returned.

        Floats in it may be used to decide what to do, but not in what is written: how they depend on the
        choices is not known. `write` refuses what depends on them.
        """
        if not self.path:
            return undifferentiated(self.state.trace.retval)
        calls = self.state.trace.calls
        if self.path not in calls:
            raise ReadError(
                f"{self.state.name} has no traced call at this address",
                address=self.path,
                fix=explain_unknown(self.path, calls),
            )
        return undifferentiated(calls[self.path])

    def __contains__(self, address: Any) -> bool:
        return self[address].path in self.state.trace


class OutputHandle(Handle):
    """An address in an output trace."""

    __slots__ = ()
    state: Output

    def __setitem__(self, address: Any, value: Any) -> NoReturn:
        raise HandleError(
            f"values are not assigned to {self!r}", fix=f"call write({self[address]!r}, value)"
        )

    def __contains__(self, address: Any) -> bool:
        raise HandleError(
            f"`in {self!r}` can't be asked: {self.state.name} is an output trace",
            fix=f"ask it of an input trace, such as `in {self.state.run.inputs[0].name}`",
        )


def _refuse_address(path: Path) -> NoReturn:
    """Say why `path` can't be an address."""
    for component in path:
        if isinstance(component, Handle):
            component._no_value()
        if type(component) is Dual or type(component) is DualArray:
            raise LostDerivativeError(
                "a continuous value is part of an address",
                fix="build addresses from discrete values: read(..., discrete)",
            )
    as_path(path)
    raise AssertionError("a path that can't be hashed has a component that can't")  # pragma: no cover


def read(source: Any, label: Label | None = None) -> Any:
    """The value at an address of an input trace.

    A continuous choice comes back as a number that carries its derivative; compute with it as with a
    float. An observation is a plain value.

    Args:
        source: `handle[address]` of an input trace.
        label: `discrete` or `continuous`, checked against the distribution at the address.

    Raises:
        ReadError: there is no choice at the address.
        LabelError: the label is wrong.
        HandleError: `source` is no address of an input trace.
    """
    if type(source) is not InputHandle:
        _refuse_handle(source, "read", "an input trace")
    return source.state.value(source.path, label)


def write(destination: Any, value: Any, label: Label | None = None) -> None:
    """Set the value at an address of an output trace.

    Args:
        destination: `handle[address]` of an output trace.
        value: the value, computed from what was read.
        label: `discrete` or `continuous`, checked against the distribution at the address.

    Raises:
        CoverageError: the address was written or copied to before.
        ProtectedObservationError: the address is observed.
        HandleError: `destination` is no address of an output trace, or `value` is a handle.
    """
    frame = sys._getframe(1)
    code = frame.f_code
    put(destination, value, label, (code.co_filename, frame.f_lineno, code.co_name))


def put(destination: Any, value: Any, label: Label | None, line: Line) -> None:
    """`write`, for a line of the user's."""
    if type(destination) is not OutputHandle:
        _refuse_handle(destination, "write to", "an output trace")
    path = destination.path
    if not path:
        refuse_whole(destination)
    put_at(destination.state, path, value, label, line)


def put_at(state: Output, path: Path, value: Any, label: Label | None, line: Line) -> None:
    """`write` to a path of an output."""
    if label is not None and label is not continuous and label is not discrete:
        _check_is_label(label, path)
    kind = type(value)
    if kind is Dual:
        plain = value.value
        if plain != plain:
            state.settled = False
    elif kind is int or kind is bool:
        plain = value
    elif kind is float:
        plain = value
        if value != value:
            state.settled = False
    else:
        plain = None
        state.settled = False
        if kind is list or kind is tuple:
            for item in value:
                if isinstance(item, Handle):
                    _refuse_as_value(item)
            value = kind(value)
        elif kind is np.ndarray or kind is DualArray:
            value = value.copy()
        elif isinstance(value, Handle):
            _refuse_as_value(value)
        else:
            value = detached(value)
    if path in state.entries or path in state.protected:
        state.put(path, Write(value, label, line), plain)  # which raises
    state.entries[path] = Write(value, label, line)
    state.values[path] = plain


def copy(source: Any, destination: Any) -> None:
    """Copy a choice, or every choice in a namespace, from an input trace to an output trace.

    Copied coordinates are left out of the Jacobian, so this is cheaper than `read` and `write`.

    Args:
        source: `handle[address]` of an input trace.
        destination: `handle[address]` of an output trace.

    Raises:
        ReadError: there is neither a choice nor a namespace at the source.
        CoverageError: a destination was written or copied to before.
        ProtectedObservationError: a destination is observed.
        HandleError: the arguments are no such addresses.
    """
    frame = sys._getframe(1)
    code = frame.f_code
    carry(source, destination, (code.co_filename, frame.f_lineno, code.co_name))


def carry(source: Any, destination: Any, line: Line) -> None:
    """`copy`, for a line of the user's."""
    if type(source) is not InputHandle:
        _refuse_handle(source, "copy from", "an input trace")
    if type(destination) is not OutputHandle:
        _refuse_handle(destination, "copy to", "an output trace")
    state, start, target = source.state, source.path, destination.path
    record = state.find(start)
    if record is not None:
        if not target:
            refuse_whole(destination)
        destination.state.put(target, Copy(state, start, line), record[1])
        return
    below = state.trace.paths_below(start)
    if not below and start not in state.trace.calls:
        raise state.missing(start)
    for path in below:
        entry = Copy(state, path, line)
        destination.state.put(target + path[len(start) :], entry, state.records[path][1])


def _refuse_handle(thing: Any, verb: str, what: str) -> NoReturn:
    if isinstance(thing, Handle):
        run = thing.state.run
        inputs = " or ".join(f"{state.name}[...]" for state in run.inputs)
        outputs = " or ".join(f"{state.name}[...]" for state in run.outputs)
        problem = f"can't {verb} {thing!r}: it isn't {what}"
        fix = f"read and copy from {inputs}; write and copy to {outputs}"
    else:
        problem = f"can't {verb} {thing!r}: it is no address of {what}"
        fix = 'pass handle[address], such as model_in["k"], and not a value'
    raise HandleError(problem, fix=fix)


def _refuse_as_value(handle: Handle) -> NoReturn:
    raise HandleError(
        f"{handle!r} is an address, not a value",
        address=handle.path or None,
        fix="write the value that `read` gives, or use copy(source, destination)",
    )


def refuse_whole(handle: Handle) -> NoReturn:
    """Say that a value can't be written to a whole trace."""
    raise HandleError(
        f"{handle!r} is a whole trace, and a value needs an address in it", fix=f"write {handle!r}['x']"
    )
