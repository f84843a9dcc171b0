"""Blocks without choices of their own, and the sequence that runs and updates them.

A block is given the frames in scope, the outermost first. `run` computes what is new in the last of
them; `update` makes the last of `new`, a copy of the last of `old`, what it would be after a run, visiting
only what `changes` (for each frame, slot -> change) and the touched addresses can have made different. It
returns the mask of the later blocks of its sequence that read what it changed.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Set
from typing import Any

from gendsl.address import Path
from gendsl.runtime import fused
from gendsl.runtime.change import ALL, UNSET, difference
from gendsl.runtime.lowering.ir import ITEM, RETVAL, STATUS
from gendsl.runtime.lowering.ir import LENGTH as OF_LENGTH
from gendsl.runtime.reads import Changes, Frame, Frames, Read, Runner, is_dirty

Touched = Iterable[Path] | None
"""The paths at which something is given or selected, or None; `...` stands for any component."""

BREAK, CONTINUE, RETURN = "break", "continue", "return"
NOTHING: Any = (None, None, 0.0)
"""The state of a block with choices that has not run."""


class Later:
    """A value that is computed when it is asked for. Two of them may differ anywhere, so it is no tuple."""

    __slots__ = ("make",)

    def __init__(self, make: Any) -> None:
        self.make = make


class Block(ABC):
    """One block of a body.

    Attributes:
        node: the syntax it came from.
        readers: slot -> the later blocks of the same sequence that read it; set when linked.
        uses: every read in it, of any depth.
        state: the slot of its state, or -1; a state's third entry is its score.
        heads: the first components of the addresses it makes, or None if they are not known.
    """

    node: ast.AST
    readers: dict[int, int]
    uses: list[Read]
    state = -1
    heads: frozenset[Any] | None = frozenset()
    may_exit = False

    @abstractmethod
    def run(self, execution: Any, frames: Frames) -> str | None:
        """Compute what is new; how control leaves, if it doesn't go on."""

    @abstractmethod
    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        """Compute what is different; the mask of the blocks that have to be visited for it."""

    def written_out(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        """The lines that do the same as `update` in a generated function; see `fused`."""
        return fused.written_out_other(i)

    def written_out_run(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        """The line that does the same as `run` in a generated function, in the frame f."""
        return fused.written_out_run(self, i, frames, scope)

    def status(self, frame: Frame) -> str | None:
        """How control left the block, in a frame where it has run."""
        return None

    def remove(self, execution: Any, frames: Frames) -> None:  # noqa: B027 (most blocks have none)
        """Report the choices in a frame as gone."""

    def clear(self, frame: Frame) -> None:  # noqa: B027 (nothing to clear where nothing is defined)
        """Set the slots that the block defines to what they were before it ran."""

    def records(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        """The choices, in program order."""
        return iter(())

    def values(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        """The values of the choices, in program order."""
        return ((path, record[1]) for path, record in self.records(frames, prefix))

    def score_of(self, frames: Frames, prefix: Path, paths: Set[Path]) -> float:
        """The sum of the scores of its choices that are in a set."""
        return sum((record[2] for path, record in self.records(frames, prefix) if path in paths), 0.0)

    def calls(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        """The calls and what they returned."""
        return iter(())

    def addresses(self, frames: Frames, offset: int) -> Iterator[Path]:
        """The addresses of the choices and calls made, below the first `offset` components."""
        return iter(())

    def find(self, frames: Frames, path: Path, offset: int, below: bool) -> Iterator[tuple[Path, Any]]:
        """The choices at a path, or at and below it; calls' values come as records of None and the value."""
        return iter(())


class FragmentBlock(Block):
    """Deterministic code."""

    def __init__(self, node: ast.AST, runner: Runner, defs: list[int]) -> None:
        self.node = node
        self.runner = runner
        self.defs = defs
        self.uses = runner.reads

    def run(self, execution: Any, frames: Frames) -> None:
        values = self.runner.call(*frames)
        frame = frames[-1]
        for slot, value in zip(self.defs, values):  # noqa: B905 (of one length by construction; hot)
            frame[slot] = value

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        runner = self.runner
        if not runner.always and not is_dirty(runner.reads, new, changes):
            return 0
        values = runner.call(*new)
        frame = new[-1]
        mask = 0
        for slot, value in zip(self.defs, values):  # noqa: B905 (as above)
            change = difference(frame[slot], value)
            if change is not None:
                frame[slot] = value
                changes[-1][slot] = change
                mask |= self.readers.get(slot, 0)
        return mask

    def written_out(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        return fused.written_out_fragment(self, i, frames, scope, self.runner, self.defs)

    def written_out_run(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        return fused.written_out_call(i, frames, scope, self.runner, self.defs)

    def clear(self, frame: Frame) -> None:
        for slot in self.defs:
            frame[slot] = UNSET


class CopyBlock(Block):
    """A variable's version where ways of control join."""

    def __init__(self, node: ast.AST, source: tuple[int, int] | None, slot: int) -> None:
        self.node = node
        self.source = source
        self.slot = slot
        self.uses = [] if source is None else [Read(*source, "raw", [], None)]

    def run(self, execution: Any, frames: Frames) -> None:
        source = self.source
        frames[-1][self.slot] = UNSET if source is None else frames[source[0]][source[1]]

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        if self.source is None:
            return 0
        depth, source = self.source
        change = changes[depth].get(source)
        if change is None:
            return 0
        new[-1][self.slot] = new[depth][source]
        changes[-1][self.slot] = change
        return self.readers.get(self.slot, 0)

    def written_out(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        return fused.written_out_copy(self, i, self.source, self.slot)

    def written_out_run(self, i: int, frames: str, scope: dict[str, Any]) -> str:
        return f"    f[{self.slot}] = {'f{}[{}]'.format(*self.source) if self.source else 'UNSET'}\n"

    def clear(self, frame: Frame) -> None:
        """Nothing: other ways of control copy to the same slot, and may have done so by now."""


class ReturnBlock(Block):
    """The value of the body. One that only gathers variables is made when it is asked for."""

    may_exit = True

    def __init__(self, node: ast.AST, runner: Runner, later: bool) -> None:
        self.node = node
        self.runner = runner
        self.later = later
        self.uses = runner.reads

    def run(self, execution: Any, frames: Frames) -> str:
        frame = frames[-1]
        frame[RETVAL] = Later(self.runner.call) if self.later else self.runner.call(*frames)
        frame[STATUS] = RETURN
        return RETURN

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        if not is_dirty(self.runner.reads, new, changes):
            return 0
        frame = new[-1]
        if self.later:
            changes[-1][RETVAL] = ALL
            return 0
        value = self.runner.call(*new)
        change = difference(frame[RETVAL], value)
        reads = self.runner.reads
        if change is not None:
            if change is ALL and len(reads) == 1 and reads[0].mode == "raw":
                change = changes[reads[0].depth][reads[0].slot]
            frame[RETVAL] = value
            changes[-1][RETVAL] = change
        return 0

    def status(self, frame: Frame) -> str:
        return RETURN


def only_gathers(block: Block) -> bool:
    """Whether a block makes its value when it is asked for."""
    return isinstance(block, ReturnBlock) and block.later


class ExitBlock(Block):
    """`break` and `continue`."""

    may_exit = True

    def __init__(self, node: ast.AST, how: str) -> None:
        self.node = node
        self.how = how
        self.uses = []

    def run(self, execution: Any, frames: Frames) -> str:
        frames[-1][STATUS] = self.how
        return self.how

    def update(self, execution: Any, old: Frames, new: Frames, changes: Changes, touched: Touched) -> int:
        return 0

    def status(self, frame: Frame) -> str:
        return self.how


class _Routes(dict[Any, int]):
    """The first component of an address, or `...` -> the mask of the blocks that may make a choice there."""

    def __init__(self, by_head: dict[Any, int], anywhere: int, addressed: int) -> None:
        super().__init__(by_head)
        self[...] = addressed
        self.others = anywhere

    def __missing__(self, head: Any) -> int:
        return self.others


class Sequence:
    """Blocks that run one after the other over one frame.

    Attributes:
        update: visits the blocks of a mask, and those that read what they change; how control leaves now.
        score: the sum of the scores of the blocks in a frame.
        leaves_early: whether control may leave before the last block; where it only leaves with that,
            `final` says how.
        direct: the choices that are found by their address in one step; see `lookup`.
    """

    update: Callable[..., str | None]
    score: Callable[[Frame], float]

    def __init__(self, blocks: list[Block], depth: int) -> None:
        self.blocks = blocks
        self.depth = depth
        self.update = self._update
        self.updates = 0
        self.direct: dict[Any, Any] | None = None
        self.by_bit = {1 << i: block for i, block in enumerate(blocks)}
        self.states = [block.state for block in blocks if block.state >= 0]
        self.score = fused.fused_score(self.states)
        self.may_exit = any(block.may_exit for block in blocks)
        last = blocks[-1] if blocks else None
        ends = isinstance(last, (ReturnBlock, ExitBlock))
        self.leaves_early = any(block.may_exit for block in (blocks[:-1] if ends else blocks))
        self.final = last.status([]) if isinstance(last, (ReturnBlock, ExitBlock)) else None
        self.uses = [read for block in blocks for read in block.uses]
        self.users: dict[tuple[int, int], int] = {}
        self.by_head: dict[Any, int] = {}
        self.anywhere = self.addressed = 0
        for i, block in enumerate(blocks):
            for read in block.uses:
                key = read.depth, read.slot
                self.users[key] = self.users.get(key, 0) | 1 << i
            if block.heads is None:
                self.anywhere |= 1 << i
            else:
                for head in block.heads:
                    self.by_head[head] = self.by_head.get(head, 0) | 1 << i
            if block.heads is None or block.heads:
                self.addressed |= 1 << i
        for head in self.by_head:
            self.by_head[head] |= self.anywhere
        self.routes = _Routes(self.by_head, self.anywhere, self.addressed)
        self.own_users = {slot: mask for (at, slot), mask in self.users.items() if at == depth}
        for i, block in enumerate(blocks):
            later = -1 << (i + 1)
            block.readers = {slot: mask & later for slot, mask in self.own_users.items() if mask & later}

    @property
    def heads(self) -> frozenset[Any] | None:
        """The first components of the addresses in it, or None if they are not known."""
        return None if self.anywhere else frozenset(self.by_head)

    # --- running ----------------------------------------------------------------------------------

    def run(self, execution: Any, frames: Frames) -> str | None:
        """Run the blocks; how control leaves, if not at the end."""
        if self.may_exit:
            for block in self.blocks:
                status = block.run(execution, frames)
                if status is not None:
                    return status
            return None
        for block in self.blocks:
            block.run(execution, frames)
        return None

    def routed(self, touched: Touched, offset: int) -> int:
        """The mask of the blocks that may make a choice at a touched address."""
        if touched is None:
            return 0
        mask = 0
        routes = self.routes
        for path in touched:
            try:
                mask |= routes[path[offset]]
            except (IndexError, TypeError):
                mask |= self.addressed
        return mask

    def affected(self, changes: Changes) -> int:
        """The mask of the blocks that read what has changed."""
        mask = 0
        users = self.users
        for depth, changed in enumerate(changes):
            for slot in changed:
                mask |= users.get((depth, slot), 0)
        return mask

    def _update(
        self,
        execution: Any,
        old: Frames,
        new: Frames,
        changes: Changes,
        touched: Touched,
        todo: int,
        hit: int,
    ) -> str | None:
        """Visit the blocks of a mask, and those that read what they change; how control leaves now.

        Args:
            hit: the mask of the blocks that may make a choice at a touched address.
        """
        by_bit = self.by_bit
        if not self.leaves_early:
            self.updates += 1
            if self.updates > fused.AFTER:
                self.update = fused.fused_update(self)
            while todo:
                bit = todo & -todo
                todo ^= bit
                todo |= by_bit[bit].update(execution, old, new, changes, touched if hit & bit else None)
            return self.final
        was: str | None = None
        now: str | None = None
        before, after = old[-1], new[-1]
        for i, block in enumerate(self.blocks):
            bit = 1 << i
            if was is None and now is None:
                if block.may_exit:
                    was = block.status(before)
                if todo & bit:
                    todo |= block.update(execution, old, new, changes, touched if hit & bit else None)
                    if block.may_exit:
                        now = block.status(after)
                else:
                    now = was
            elif now is None:
                todo |= run_anew(block, execution, new, changes)
                if block.may_exit:
                    now = block.status(after)
            elif was is None:
                was = block.status(before) if block.may_exit else None
                block.remove(execution, old)
                block.clear(after)
            else:
                break
        if now != RETURN and was == RETURN:
            after[RETVAL] = None
            changes[-1][RETVAL] = ALL
        return now

    def remove(self, execution: Any, frames: Frames) -> None:
        """Report the choices in a frame as gone."""
        for block in self.ran(frames[-1]):
            block.remove(execution, frames)

    def clear(self, frame: Frame) -> None:
        """Set the slots that the blocks define to what they were before they ran."""
        for block in list(self.ran(frame)):
            block.clear(frame)

    def end(self, frame: Frame) -> str | None:
        """How control left, in a frame where it has run."""
        if self.may_exit:
            for block in self.blocks:
                if block.may_exit:
                    status = block.status(frame)
                    if status is not None:
                        return status
        return None

    # --- looking ----------------------------------------------------------------------------------

    def ran(self, frame: Frame) -> Iterator[Block]:
        """The blocks that ran, in order."""
        for block in self.blocks:
            yield block
            if block.may_exit and block.status(frame) is not None:
                return

    def records(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        for block in self.ran(frames[-1]):
            yield from block.records(frames, prefix)

    def values(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        for block in self.ran(frames[-1]):
            yield from block.values(frames, prefix)

    def score_of(self, frames: Frames, prefix: Path, paths: Set[Path]) -> float:
        """The sum of the scores of the choices that are in a set."""
        return sum((block.score_of(frames, prefix, paths) for block in self.ran(frames[-1])), 0.0)

    def calls(self, frames: Frames, prefix: Path) -> Iterator[tuple[Path, Any]]:
        for block in self.ran(frames[-1]):
            yield from block.calls(frames, prefix)

    def addresses(self, frames: Frames, offset: int) -> Iterator[Path]:
        for block in self.ran(frames[-1]):
            yield from block.addresses(frames, offset)

    def find(self, frames: Frames, path: Path, offset: int, below: bool) -> Iterator[tuple[Path, Any]]:
        mask = self.routed((path,), offset)
        if not mask:
            return
        if not self.leaves_early:
            while mask:
                bit = mask & -mask
                mask ^= bit
                yield from self.by_bit[bit].find(frames, path, offset, below)
            return
        for i, block in enumerate(self.ran(frames[-1])):
            if mask >> i & 1:
                yield from block.find(frames, path, offset, below)

    def keys_read(self, frames: Frames, depth: int, slot: int) -> Iterator[Any]:
        """The keys of a container in an outer frame that the blocks that ran have read."""
        mask = self.users.get((depth, slot), 0)
        for i, block in enumerate(self.ran(frames[-1])):
            if mask >> i & 1:
                yield from block_keys(block, frames, depth, slot)


def block_keys(block: Block, frames: Frames, depth: int, slot: int) -> Iterator[Any]:
    """The keys of a container in an outer frame that a block has read."""
    inner = getattr(block, "keys_read", None)
    if inner is not None:
        yield from inner(frames, depth, slot)
        return
    for read in block.uses:
        if read.depth == depth and read.slot == slot:
            if read.mode is ITEM:
                yield from read.keys_read(frames)
            elif read.mode is not OF_LENGTH:  # whoever asks knows which containers' lengths are read
                yield ALL


def run_anew(block: Block, execution: Any, frames: Frames, changes: Changes) -> int:
    """Run a block that had not run in the frame before; the mask of the blocks that read what it defines."""
    before = frames[-1].copy()
    block.run(execution, frames)
    mask = 0
    for slot, (old, new) in enumerate(zip(before, frames[-1], strict=True)):
        if old is not new:
            changes[-1][slot] = ALL
            mask |= block.readers.get(slot, 0)
    return mask
