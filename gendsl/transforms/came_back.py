"""What is seen at once to have come back, after a transform and its inverse: nearly all of a correct move.

What a choice was, and its support, is known from what the way there has read. So one look at each value that
the way back has written tells whether it is the same, and gives its columns for the determinant. Whatever
isn't seen at once to be the same may still be so within rounding, or be a mistake: `checks` says which.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gendsl.address import Path
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.elimination import UNTRACED, Tangent, add_entries, is_plain_copy
from gendsl.transforms.forward import Dual
from gendsl.transforms.run import Copy, Input, Output, Run, Write, continuous, discrete, measured

if TYPE_CHECKING:
    from gendsl.transforms.apply import Image

RELATIVE_TOLERANCE = 1e-8
"""How closely a continuous value must come back."""


def seen_to_come_back(
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    there: Image,
    back: Run,
    returned: list[dict[Path, Any]],
) -> list[Path] | None:
    """The model's choices that are gone on the way back, if it is seen at once that the others came back.

    Then the columns of the way back are known as well.
    """
    gone: list[Path] | None = None
    if aux is None or len(aux.records) == len(returned[1]):
        gone = _gone(trace, there, returned[0])
    if gone is None or not all(map(_came_back, there.run.inputs, back.outputs, returned)):
        for state in back.inputs:
            state.copied.clear()
        return None
    return gone


def _gone(trace: ReferenceTrace, there: Image, returned: dict[Path, Any]) -> list[Path] | None:
    """The choices that only the way there has written to; None if there was such a choice before."""
    gone: list[Path] = []
    for changed in (there.run.outputs[0].entries, there.removed):
        for path in changed:
            if path not in returned:
                if trace.records.get(path) is not None:
                    return None
                gone.append(path)
    return gone


def _came_back(source: Input, output: Output, values: dict[Path, Any]) -> bool:
    """Whether all that was written to an output of the way back is what the input of the way there was."""
    seeds, supports, near = source.seeds, source.supports, source.near
    columns: list[Tangent] = []
    for path, entry in output.entries.items():
        seed = seeds.get(path) if type(entry) is Write else None
        if seed is not None:
            before, value = seed[0], entry.value  # type: ignore[union-attr]
            if entry.label is discrete:  # type: ignore[union-attr]
                return False
            if type(value) is Dual and type(before) is Dual:
                x = before.value
                if not before.tangent or not abs(value.value - x) <= RELATIVE_TOLERANCE * abs(x) < inf:
                    return False
                columns.append(value.tangent)
            elif not (add_entries(value, supports[path], columns) and _are_same(before, values[path])):
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
            value = values[path]
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


def _are_same(before: Any, after: Any) -> bool:
    """Whether a short vector that was read is the same as an array of floats."""
    if type(before) is not list or type(after) is not np.ndarray or len(before) != len(after):
        return False
    for x, y in zip(before, after.tolist()):  # noqa: B905 (of one length; hot)
        if not abs(y - x.value) <= RELATIVE_TOLERANCE * abs(x.value) < inf:
            return False
    return True
