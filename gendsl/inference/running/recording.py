"""What is kept of a draw: addresses, functions of the trace, and what they are called."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.interface import Trace
from gendsl.runtime.trace import ReferenceTrace

Recorder = Callable[[Trace], Any]

Quantities = dict[str, Any]
"""The recorded quantities of one draw, by name."""


class AtAddress:
    """Records what is at an address of the trace; of a namespace of numbered choices, an array of them.

    With choices at ("theta", 0), ("theta", 1), ... "theta" is an array of shape (n,), and with choices at
    ("m", i, j) "m" is a matrix. An entry is a number, or an array of the shape that all of them have.
    """

    def __init__(self, address: Any) -> None:
        self.address = as_path(address)

    def __call__(self, trace: Trace) -> Any:
        try:
            return trace[self.address]
        except UnknownAddressError as error:
            array = _numbered(trace, self.address)
            if array is not None:
                return array
            error.problem = f"a recorded address must exist in every draw: {error.problem}"
            name = format_address(self.address)
            if trace.choices.submap(self.address):
                error.fix = (
                    "the choices below it are no array, as they are not numbered without gaps or differ in "
                    f"shape; record a function: lambda trace: trace.choices[{name}] keeps all of them"
                )
            else:
                error.fix = (
                    f"{error.fix}; for a choice that comes and goes record a function: "
                    f"lambda trace: trace[{name}] if {name} in trace else float('nan'); for choices below "
                    f"it, of which there may be none, lambda trace: trace.choices.submap({name})"
                )
            raise


def is_read(recorder: Recorder) -> bool:
    """Whether what is recorded is at an address, and not computed from a whole trace."""
    return type(recorder) is AtAddress


def _numbered(trace: Trace, address: Path) -> Any:
    """The choices below an address as an array, if they are numbered from 0 on; None if not."""
    if not isinstance(trace, ReferenceTrace):
        return None
    paths, start = trace.paths_below(address), len(address)
    indices = [path[start:] for path in paths]
    if len({len(index) for index in indices}) != 1 or {type(i) for index in indices for i in index} != {int}:
        return None
    shape = tuple(max(column) + 1 for column in zip(*indices, strict=True))
    if len(indices) != math.prod(shape) or any(i < 0 for index in indices for i in index):
        return None  # some are missing: as they are different paths, all are there where there are so many
    values = [np.asarray(trace[path]) for path in paths]
    if len({value.shape for value in values}) != 1:
        return None
    array = np.empty((*shape, *values[0].shape), np.result_type(*{value.dtype for value in values}))
    for index, value in zip(indices, values, strict=True):
        array[index] = value
    return array


def as_recorder(what: Any) -> Recorder:
    """What computes a quantity from a trace: a function itself, or what is at an address."""
    return what if callable(what) else AtAddress(what)


def as_recorders(record: Any) -> dict[str, Recorder]:
    """What computes each quantity, by name; the name is "" where a function may name its own."""
    if record is None:
        return {}
    if isinstance(record, Mapping):
        return {str(name): as_recorder(what) for name, what in record.items()}
    if not isinstance(record, list):
        return {"" if callable(record) else quantity_name(record): as_recorder(record)}
    if not record:
        raise ValueTypeError("record=[] records nothing", fix="leave it out to keep whole traces")
    recorders: dict[str, Recorder] = {}
    for what in record:
        name = quantity_name(what)
        if name in recorders:
            raise ValueTypeError(
                f"two recorded quantities are named {name}",
                fix='name them in a dict: record={"mean": f, "spread": g}',
            )
        recorders[name] = as_recorder(what)
    return recorders


def quantity_name(what: Any) -> str:
    """What a quantity is called: the name of a function, or an address as it is written."""
    if callable(what):
        return _function_name(what)
    path = as_path(what)
    return str(path[0]) if len(path) == 1 else format_address(path)


def quantities(
    recorders: dict[str, Recorder], before: Sequence[Quantities], of: Callable[[Recorder], Any]
) -> Quantities:
    """What is recorded of one draw, which has the same names as every draw before it.

    Args:
        of: gives what a recorder records of the draw.
    """
    if "" not in recorders:
        return {name: _as_it_is_now(of(recorder)) for name, recorder in recorders.items()}
    draw: Quantities = {}
    for name, recorder in recorders.items():
        value = of(recorder)
        if name:
            draw[name] = _as_it_is_now(value)
        elif isinstance(value, dict):
            draw.update({key: _as_it_is_now(each) for key, each in value.items()})
        else:
            draw[name_in_draws(name, recorder)] = _as_it_is_now(value)
    if before and draw.keys() != before[0].keys():
        raise ValueTypeError(
            f"draw {len(before)} has the quantities {_names(draw)}, and the draws before it have "
            f"{_names(before[0])}",
            fix="return the same names for every draw; what is missing can be None or float('nan')",
        )
    return draw


def reader_of(trace: Trace) -> Callable[[Recorder], Any]:
    """What gives what a recorder records of a trace."""
    return lambda recorder: recorder(trace)


def _as_it_is_now(value: Any) -> Any:
    """A value, or a copy of one that can change: a function may fill the same array in every draw."""
    if type(value) is float or type(value) is int:
        return value
    if isinstance(value, np.ndarray):
        return value.copy() if value.flags.writeable else value
    return value.copy() if isinstance(value, (list, dict, set)) else value


def name_in_draws(name: str, recorder: Recorder) -> str:
    """What a quantity is called in draws, where the function doesn't name its own."""
    return name or _function_name(recorder)


def _names(draw: Quantities) -> str:
    return ", ".join(map(str, draw)) or "none"


def _function_name(function: Any) -> str:
    name = str(getattr(function, "__name__", "value"))
    return "value" if name == "<lambda>" else name
