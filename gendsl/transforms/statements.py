"""`read`, `write` and `copy`: the statements of a transform.

What is done to a handle is recorded in the run's inputs and outputs, from which the output traces and the
Jacobian are made. A continuous choice that is read comes back as a dual number (or array) that carries its
derivative with respect to the coordinates of the inputs.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy as np

from gendsl.address import Path
from gendsl.errors import HandleError
from gendsl.runtime.records import detached, is_factor
from gendsl.transforms.arrays import DualArray
from gendsl.transforms.forward import Dual
from gendsl.transforms.handles import Handle
from gendsl.transforms.inputs import Input, InputHandle
from gendsl.transforms.labels import Label, check_is_label, continuous, discrete
from gendsl.transforms.outputs import Copy, Line, Output, OutputHandle, Write


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
    if not isinstance(source, InputHandle):
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
    if not isinstance(destination, OutputHandle):
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
    entry = Write()
    entry.value, entry.label, entry.line = value, label, line
    if path in state.entries or path in state.protected:
        state.put(path, entry, plain)  # which raises
    state.entries[path] = entry
    state.values[path] = plain


def copy(source: Any, destination: Any) -> None:
    """Copy a choice, or every choice in a namespace, from an input trace to an output trace.

    Copied coordinates are left out of the Jacobian, so this is cheaper than `read` and `write`. The factors
    in a namespace stay behind: they are no choices, and the program of the output trace makes its own.

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
    if not isinstance(source, InputHandle):
        _refuse_handle(source, "copy from", "an input trace")
    if not isinstance(destination, OutputHandle):
        _refuse_handle(destination, "copy to", "an output trace")
    state, start, target = source.state, source.path, destination.path
    record = state.find(start)
    if record is not None:
        if not target:
            refuse_whole(destination)
        destination.state.put(target, _copied(state, start, line), record[1])
        return
    below = state.trace.paths_below(start)
    if not below and start not in state.trace.calls:
        raise state.missing(start)
    for path in below:
        record = state.records[path]
        if not is_factor(record):
            entry = _copied(state, path, line)
            destination.state.put(target + path[len(start) :], entry, record[1])


def _copied(source: Input, path: Path, line: Line) -> Copy:
    entry = Copy()
    entry.source, entry.path, entry.line = source, path, line
    return entry


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
