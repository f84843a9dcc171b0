"""What is seen at once to have come back, after a transform and its inverse: nearly all of a correct move.

What a choice was, and its support, is known from what the way there has read. So one look at each value that
the way back has written tells whether it is the same, and gives its columns for the determinant. Whatever
isn't seen at once to be the same may still be so within rounding, or be a mistake: `checks` says which.
"""

from __future__ import annotations

from collections.abc import Container
from math import inf
from typing import TYPE_CHECKING, Any, cast

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.runtime.trace import ReferenceTrace
from gendsl.supports import Support
from gendsl.transforms.elimination import SMALL, UNTRACED, Tangent, is_plain_copy, log_abs_det_of
from gendsl.transforms.forward import Dual
from gendsl.transforms.returned import NOT_A_CHOICE
from gendsl.transforms.run import Copy, Input, Output, Run, Write, continuous, discrete
from gendsl.transforms.vectors import entries

if TYPE_CHECKING:
    from gendsl.transforms.apply import Image

RELATIVE_TOLERANCE = 1e-8
"""How closely a continuous value must come back."""


def seen_to_come_back(
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    there: Image,
    back: Run,
) -> list[Path] | None:
    """The model's choices that are gone on the way back, if it is seen at once that the others came back.

    Then the columns of the way back are known as well.
    """
    gone: list[Path] | None = None
    if aux is None or len(aux.records) == len(back.outputs[1].entries):
        gone = _gone(trace, there, back.outputs[0].entries)
    if gone is None or not all(map(_came_back, there.run.inputs, back.outputs)):
        for state in back.inputs:
            state.copied.clear()
        return None
    return gone


def _gone(trace: ReferenceTrace, there: Image, returned: Container[Path]) -> list[Path] | None:
    """The choices that only the way there has written to; None if there was such a choice before."""
    for path in there.removed:
        if path not in returned:
            return None
    gone = [path for path in there.run.outputs[0].entries if path not in returned]
    for path in gone:
        if trace.records.get(path) is not None:
            return None
    return gone


def _came_back(source: Input, output: Output) -> bool:
    """Whether all that was written to an output of the way back is what the input of the way there was."""
    seeds, supports, near = source.seeds, source.supports, source.near
    columns: list[Tangent] = []
    for path, entry in output.entries.items():
        seed = seeds.get(path)
        if seed is not None and type(entry) is Write:
            before, value = seed[0], entry.value
            if entry.label is discrete:
                return False
            if type(value) is Dual and type(before) is Dual:
                x, y = before.value, value.value
                if y != x and not abs(y - x) <= RELATIVE_TOLERANCE * abs(x) < inf:
                    return False
                columns.append(value.tangent)
            elif type(before) is not list or not _entries_came_back(before, value, supports[path], columns):
                return False
            continue
        record = near(path) or source.find(path)
        if record is None:
            return False
        before, support = record[1], supports.get(path) or measured(record[0])
        if type(entry) is Write:
            if not support.discrete or entry.label is continuous:
                return False
            value = entry.value
        elif is_plain_copy(cast(Copy, entry), support):
            value = output.values[path]
        else:
            return False
        if before is value:
            continue
        if type(before) is not type(value) or type(value) not in UNTRACED:
            return False
        if before == value:
            continue
        if type(value) is not float or not abs(value - before) <= RELATIVE_TOLERANCE * abs(before) < inf:
            return False
    output.columns = columns
    return True


def _entries_came_back(before: list[Dual], after: Any, support: Support, columns: list[Tangent]) -> bool:
    """The same of a short vector: whether its entries, which all have derivatives, are what they were."""
    parts = entries(after)
    if parts is None or len(parts) != len(before):
        return False
    for x, y in zip(before, parts):  # noqa: B905 (of one length; hot)
        if type(y) is not Dual:
            return False
        if y.value != x.value and not abs(y.value - x.value) <= RELATIVE_TOLERANCE * abs(x.value) < inf:
            return False
    columns += [part.tangent for part in parts[: support.dim]]
    return True


def known_log_abs_det(there: Image, back: Run) -> float | None:
    """log |det J| of a way back that was seen to lead to where the way there has come from.

    It has as many columns as what the way there has written has coordinates. If it has read that, and nothing
    else, its rows are all coordinates that it gave out. None where that isn't seen at once.
    """
    columns: list[Tangent] = []
    for made, state, output in zip(there.run.outputs, back.inputs, back.outputs):  # noqa: B905 (hot)
        if state.copied or not state.seeds.keys() <= made.entries.keys():
            return None
        columns += output.columns  # type: ignore[arg-type]
    rows = range(NOT_A_CHOICE + 1, back.next_coordinate[0])
    return log_abs_det_of(rows, columns) if len(columns) <= SMALL else None
