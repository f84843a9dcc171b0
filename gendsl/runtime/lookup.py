"""One record of a compiled trace by its path, by the shortest way: what `find` yields first."""

from __future__ import annotations

from typing import Any

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.runtime.blocks import Sequence
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.reads import Frames
from gendsl.runtime.sites import SiteBlock


def record_at(body: Sequence, frames: Frames, path: Path, offset: int = 0) -> Any:
    """The record at a path, a call's as (None, what it returned, 0.0); None if there is neither.

    `offset` is the length of the namespace that the body runs in.
    """
    if body.may_exit or len(path) <= offset or path[offset] is ...:
        return _first(body, frames, path, offset)
    mask = body.by_head.get(path[offset], body.anywhere)
    while mask:
        bit = mask & -mask
        mask ^= bit
        block = body.by_bit[bit]
        if type(block) is SiteBlock:
            state = frames[-1][block.state]
            if isinstance(state[0], Distribution):
                if block.path(path[:offset], frames) == path:
                    return state
                continue
        elif isinstance(block, LoopBlock):
            iterations = frames[-1][block.state][0]
            found = block.positions(iterations, frames, path, offset, False)
            for t in range(len(iterations.frames)) if found is None else found:
                record = record_at(block.body, (*frames, iterations.frames[t]), path, offset)
                if record is not None:
                    return record
            continue
        record = _first(block, frames, path, offset)
        if record is not None:
            return record
    return None


def _first(block: Any, frames: Frames, path: Path, offset: int) -> Any:
    for _, record in block.find(frames, path, offset, False):
        return record
    return None
