"""Columns of choices as a compiled trace holds them, without looking them up one by one."""

from __future__ import annotations

from typing import Any

from gendsl.address import Path
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.compiled import CompiledTrace


def column_of(trace: Any, before: Path, indices: range, after: Path, family: Any) -> Any:
    """The values at (*before, i, *after), all from a family, as a read-only array; None if there is none.

    It is found where a loop of the program's own body, not of one that it calls, is kept as columns.
    """
    if not isinstance(trace, CompiledTrace):
        return None
    called = trace._called
    for block in called.linked.body.blocks:
        if not isinstance(block, ColumnLoopBlock):
            continue
        state = called.frame[block.state]
        store = getattr(state[0], "frames", None) if isinstance(state, tuple) else None
        if type(store) is not ColumnFrames or store.size != len(indices):
            continue
        for step, constants in block.constants:
            if step.family is not family or not _has_address(step, constants, before, after):
                continue
            at = block.targets[step.index]
            start = store.values[at]
            if block.sources[at].counted:
                same = start == indices.start and indices.step == 1
            else:
                same = type(start) is range and start[: store.size] == indices
            if same:
                return store.columns[step.number].array()
    return None


def _has_address(step: Any, constants: list[tuple[int, Any]], before: Path, after: Path) -> bool:
    """Whether a site's addresses are these, with the index of the iteration between them."""
    at = step.position
    if len(before) != at or len(step.site.parts or ()) != at + 1 + len(after):
        return False
    return dict(constants) == {**dict(enumerate(before)), **dict(enumerate(after, at + 1))}
