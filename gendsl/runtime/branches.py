"""`if`: one of two sequences of blocks over the same frame."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from typing import Any

from gendsl.address import Path
from gendsl.runtime.blocks import NOTHING, Block, Sequence, Touched
from gendsl.runtime.change import ALL, difference
from gendsl.runtime.lowering.ir import ITEM
from gendsl.runtime.reads import Changes, Frame, Frames, Runner, is_dirty


class BranchBlock(Block):
    """`if`: one of two sequences over the same frame."""

    def __init__(
        self, node: ast.AST, test: Runner, arms: tuple[Sequence, Sequence], defs: list[int], state: int
    ) -> None:
        self.node = node
        self.test = test
        self.arms = arms
        self.defs = defs
        self.state = state
        self.taken = [False, False]
        self.uses = [*test.reads, *arms[0].uses, *arms[1].uses]
        self.may_exit = arms[0].may_exit or arms[1].may_exit
        heads = arms[0].heads, arms[1].heads
        self.heads = None if heads[0] is None or heads[1] is None else heads[0] | heads[1]

    def run(self, execution: Any, frames: Frames) -> str | None:
        arm = 0 if self.test.call(*frames) else 1
        sequence = self.arms[arm]
        if not self.taken[arm]:
            self.taken[arm] = execution.news = True
        status = sequence.run(execution, frames)
        frame = frames[-1]
        frame[self.state] = arm, status, sequence.score(frame)
        return status

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        frame = new[-1]
        before = frame[self.state][0]
        arm = before
        if is_dirty(self.test.reads, new, changes):
            arm = 0 if self.test.call(*new) else 1
        sequence = self.arms[arm]
        if arm == before:
            hit = 0 if touched is None else sequence.routed(touched, len(execution.prefix))
            todo = sequence.affected(changes) | hit
            if not todo:
                return 0
            status = sequence.update(execution, old, new, changes, touched, todo, hit)
            mask = 0
            changed = changes[-1]
            for slot in self.defs:
                if slot in changed:
                    mask |= self.readers.get(slot, 0)
        else:
            kept = frame.copy()
            self.arms[before].remove(execution, old)
            self.arms[before].clear(frame)
            if not self.taken[arm]:
                self.taken[arm] = execution.news = True
            status = sequence.run(execution, new)
            mask = 0
            for slot, (a, b) in enumerate(zip(kept, frame, strict=True)):
                if a is not b:
                    change = difference(a, b)
                    if change is not None:
                        changes[-1][slot] = change
                        mask |= self.readers.get(slot, 0)
        frame[self.state] = arm, status, sequence.score(frame)
        return mask

    def status(self, frame: Frame) -> str | None:
        return frame[self.state][1]  # type: ignore[no-any-return]

    def _arm(self, frame: Frame) -> Sequence:
        return self.arms[frame[self.state][0]]

    def remove(self, execution: Any, frames: Frames) -> None:
        self._arm(frames[-1]).remove(execution, frames)

    def clear(self, frame: Frame) -> None:
        self._arm(frame).clear(frame)
        frame[self.state] = NOTHING

    def records(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        return self._arm(frames[-1]).records(frames, prefix)

    def values(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        return self._arm(frames[-1]).values(frames, prefix)

    def score_of(self, frames: Frames, prefix: Path, paths: Set[Path]) -> float:
        return self._arm(frames[-1]).score_of(frames, prefix, paths)

    def calls(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        return self._arm(frames[-1]).calls(frames, prefix)

    def addresses(self, frames: Frames, offset: int) -> Iterator[Path]:
        return self._arm(frames[-1]).addresses(frames, offset)

    def find(self, frames: Frames, path: Path, offset: int, below: bool) -> Iterator[tuple[Path, Any]]:
        return self._arm(frames[-1]).find(frames, path, offset, below)

    def keys_read(self, frames: Frames, depth: int, slot: int) -> Iterator[Any]:
        """The keys of a container in an outer frame that the test and the arm taken have read."""
        for read in self.test.reads:
            if read.depth == depth and read.slot == slot:
                if read.mode is ITEM:
                    yield from read.keys_read(frames)
                else:
                    yield ALL
        yield from self._arm(frames[-1]).keys_read(frames, depth, slot)
