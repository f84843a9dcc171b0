"""Columns of choices as a compiled trace holds them, without looking them up one by one."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from gendsl.address import Path
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.nest_loops import NestBlock
from gendsl.runtime.paths import ColumnPaths, NestPaths
from gendsl.runtime.regions import Called


def column_of(trace: Any, paths: ColumnPaths | NestPaths, family: Any) -> Any:
    """The values at some addresses, all from a family, as a read-only array; None if there is none.

    It is found where a loop of the program's own body, not of one that it calls, is kept as columns.
    """
    if not isinstance(trace, CompiledTrace):
        return None
    called = trace._called
    if isinstance(paths, NestPaths):
        return _of_nest(called, paths, family)
    before, indices, after = paths.before, paths.indices, paths.after
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


def _of_nest(called: Called, paths: NestPaths, family: Any) -> Any:
    """The same at the addresses of loops in loops that are one."""
    for block in called.linked.body.blocks:
        state = called.frame[block.state] if isinstance(block, NestBlock) else None
        store = getattr(state[0], "frames", None) if isinstance(state, tuple) else None
        if type(store) is not ColumnFrames or store.size != len(paths):
            continue
        with suppress(NotColumnsError):
            found = block.paths((), (called.frame,), store.values, store.size)
            for step, own in zip(block.sites, found, strict=True):
                if step.family is family and own.runs == paths.runs:
                    return store.columns[step.number].array()
    return None


def _has_address(step: Any, constants: list[tuple[int, Any]], before: Path, after: Path) -> bool:
    """Whether a site's addresses are these, with the index of the iteration between them."""
    at = step.position
    if len(before) != at or len(step.site.parts or ()) != at + 1 + len(after):
        return False
    return dict(constants) == {**dict(enumerate(before)), **dict(enumerate(after, at + 1))}
