"""The language inside a transform: handles, and `read`, `write` and `copy`, which act on them.

`handle[address]` names an address of a trace; what is done to it is recorded in the run's inputs and
outputs, from which the output traces and the Jacobian are made. A continuous choice that is read comes
back as a dual number (or array) that carries its derivative with respect to the coordinates of the inputs.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.choices.unknown import explain_unknown
from gendsl.errors import HandleError, LostDerivativeError, ReadError
from gendsl.runtime.records import detached
from gendsl.transforms.arrays import DualArray
from gendsl.transforms.forward import Dual
from gendsl.transforms.returned import undifferentiated
from gendsl.transforms.run import (
    Copy,
    Input,
    Label,
    Line,
    Output,
    Write,
    check_is_label,
    continuous,
    discrete,
)


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
        if not self.path:
            problem = f"{self!r} is a whole trace, not a value"
            raise HandleError(problem, fix=f"name an address: {self!r}['x']")
        reader = f"read({self!r})" if isinstance(self, InputHandle) else "the value that you wrote there"
        raise HandleError(
            f"{self!r} is an address, not a value",
            address=self.path,
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
            fix=f"ask it of an input trace, such as `in {self.state.transform.inputs[0]}`",
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
        check_is_label(label, path)
    kind = type(value)
    if kind is Dual:
        plain = value.value
        if plain != plain:
            state.unsettled.append(path)
    elif kind is int or kind is bool:
        plain = value
    elif kind is float:
        plain = value
        if value != value:
            state.unsettled.append(path)
    else:
        plain = None
        state.unsettled.append(path)
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
        transform = thing.state.transform
        inputs = " or ".join(f"{name}[...]" for name in transform.inputs)
        outputs = " or ".join(f"{name}[...]" for name in transform.outputs)
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
