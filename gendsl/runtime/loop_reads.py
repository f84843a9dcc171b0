"""What the iterations of a loop read outside it, and which of them a change there concerns.

What every iteration reads concerns all of them. For the rest there are indexes, from the keys of a container
to the iterations that read them; what stands in a branch that others don't take has the key ALL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gendsl.runtime.blocks import CONTINUE, Block, ExitBlock, ReturnBlock, Sequence
from gendsl.runtime.branches import BranchBlock
from gendsl.runtime.change import ALL, LENGTH, Change
from gendsl.runtime.loop_parts import Slot
from gendsl.runtime.loop_routes import Routed
from gendsl.runtime.lowering.ir import ITEM
from gendsl.runtime.lowering.ir import LENGTH as OF_LENGTH
from gendsl.runtime.reads import Changes


class OuterUse:
    """How the body of a loop reads a slot outside it.

    Attributes:
        always: every iteration reads it, in some way; else those that do are found by an index.
        whole: every iteration reads all of it.
        items: some iterations read entries of it, or read it in a branch that others don't take.
        length: some iterations read how many entries it has.
        steers: the slots on which it depends which keys an iteration reads, besides how long the container
            is; None if that isn't known.
    """

    __slots__ = ("always", "at", "items", "length", "steers", "whole")

    def __init__(self, at: Slot) -> None:
        self.at = at
        self.always = self.items = self.length = self.whole = False
        self.steers: frozenset[Slot] | None = None

    def is_every(self, change: Change) -> bool:
        """Whether a change concerns every iteration, or is taken to."""
        if change is ALL:
            return self.always or self.length
        return self.whole or (self.length and LENGTH in change)

    def is_steady(self, changes: Changes) -> bool:
        """Whether an iteration surely reads the keys that it did, after these changes, its own the last."""
        depth, slot = self.at
        change = changes[depth].get(slot)
        if change is ALL or (change is not None and LENGTH in change):
            return False  # where keys count from the end, they are others
        steers = self.steers
        return steers is not None and not any(slot in changes[depth] for depth, slot in steers)


def keys_of_change(index: Any, change: Change) -> Iterable[Any]:
    """The keys of an index under which the iterations stand that a change concerns."""
    return index.keys() if change is ALL else (*change, ALL)


def outer_uses(body: Sequence) -> dict[Slot, OuterUse]:
    """How a loop's body reads the slots outside it."""
    sure = _sure_reads(body)
    uses: dict[Slot, OuterUse] = {}
    for read in body.uses:
        if read.depth >= body.depth:
            continue
        at = read.depth, read.slot
        use = uses.get(at)
        if use is None:
            use = uses[at] = OuterUse(at)
            use.always = (at, False) in sure
            use.whole = (at, True) in sure
            steers = _steers(body, at)
            use.steers = None if steers is None else frozenset(steers)
        if read.mode is OF_LENGTH:
            use.length = True
        elif read.mode is ITEM or not use.whole:
            use.items = True
    return uses


def _sure_reads(body: Sequence) -> set[tuple[Slot, bool]]:
    """The slots that every run of a body reads, marked False, and those that it reads whole, marked True.

    `break` and `return` count as if they weren't there: they keep only one iteration from going on.
    """
    sure: set[tuple[Slot, bool]] = set()
    for block in body.blocks:
        reads = block.uses
        if isinstance(block, BranchBlock):
            first, second = map(_sure_reads, block.arms)
            sure |= first & second
            reads = block.test.reads
        elif isinstance(block, Routed):
            for slot, use in block.outer.items():
                if use.always:
                    sure.add((slot, False))
                if use.whole:
                    sure.add((slot, True))
            sure.update((slot, whole) for slot in block.firsts for whole in (False, True))
            reads = [read for source in block.sources for read in source.runner.reads]
        for read in reads:
            slot = read.depth, read.slot
            sure.add((slot, False))
            if read.mode is not ITEM and read.mode is not OF_LENGTH:
                sure.add((slot, True))
        if _continues(block):
            break
    return sure


def _continues(block: Block) -> bool:
    """Whether a block may go to the next iteration of the loop around it."""
    if isinstance(block, ExitBlock):
        return block.how == CONTINUE
    return any(_continues(inner) for arm in getattr(block, "arms", ()) for inner in arm.blocks)


def _steers(body: Sequence, at: Slot) -> set[Slot] | None:
    """The slots on which it depends which keys of a slot a body reads; None if that isn't known."""
    steers: set[Slot] = set()
    for block in body.blocks:
        if isinstance(block, BranchBlock):
            steers.update((read.depth, read.slot) for read in block.test.reads)
            for arm in block.arms:
                inner = _steers(arm, at)
                if inner is None:
                    return None
                steers |= inner
        elif block.may_exit and not isinstance(block, (ExitBlock, ReturnBlock)):
            return None
        if isinstance(block, Routed) and any((read.depth, read.slot) == at for read in block.uses):
            inner = _steers_of_loop(block, at)
            if inner is None:
                return None
            steers |= inner
        for read in block.test.reads if isinstance(block, BranchBlock) else block.uses:
            if (read.depth, read.slot) == at and not isinstance(block, Routed):
                if read.mode is ITEM:
                    steers |= read.key_slots
                if read.own is not None:
                    steers.add((read.depth + 1, read.own))
                if read.around is not None:
                    steers.add((read.around.depth, read.around.slot))
    return steers


def _steers_of_loop(loop: Routed, at: Slot) -> set[Slot] | None:
    """The slots outside a loop on which it depends which keys of a slot its iterations read.

    None if that isn't known, as where it depends on more in an iteration than on what the loop goes through.
    """
    use = loop.outer.get(at)
    reads = [read for source in loop.sources for read in source.runner.reads]
    if use is None or use.steers is None or not loop.sources or loop.exits or at in loop.firsts:
        return None
    if any((read.depth, read.slot) == at for read in reads):
        return None
    inner = {slot for slot in use.steers if slot[0] >= loop.depth}
    if not inner <= {(loop.depth, source.target) for source in loop.sources}:
        return None
    around = loop.depth - 1  # what the loop is filling there is by another name what it has filled
    filled = {(around, written.inside): (around, written.after) for written in loop.stored}
    outside = {filled.get(slot, slot) for slot in use.steers - inner}
    return outside | {(read.depth, read.slot) for read in reads}
