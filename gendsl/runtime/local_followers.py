"""Edits of one choice of which statements make something that whole plates in columns read; see `local`.

    beta = np.array([("beta", j) @ ~normal(0, 10) for j in range(3)])
    for i in range(len(rows)):
        ("y", i) @ ~normal(rows[i] @ beta, 2)

Beside its own loop, a coefficient concerns the statements that read it, one after the other, and the plates
in which every iteration reads what they make. These are scored with array code, once for each value.

A statement that fills a long container, and reads a choice for one entry of it, is followed by blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gendsl.address import Path
from gendsl.runtime.blocks import FragmentBlock, Sequence, only_gathers
from gendsl.runtime.change import is_same
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_scores import Affected, rescored
from gendsl.runtime.filled import FilledBlock
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.reads import Frame
from gendsl.runtime.totals import value as total_value

if TYPE_CHECKING:
    from gendsl.runtime.local_sites import Form, Moved


LONG, VERY_LONG = 200, 1000
"""Entries from which on blocks follow a change to its entry sooner than all is made again: for an edit, and
for the density at one more value."""

Step = tuple[Any, frozenset[int], Affected | None]
"""A block, the slots that it reads that may have changed, and what of a plate depends on them."""


class Followers:
    """What has to run again where some slots of a body have changed.

    Attributes:
        slots: those slots.
        steps: the blocks, in order.
        plates: those of them that are plates.
        filled: those of them that a change concerns at some entries of a container that they fill.
    """

    __slots__ = ("filled", "plates", "slots", "steps")

    def __init__(self, slots: frozenset[int], steps: list[Step]) -> None:
        self.slots = slots
        self.steps = steps
        self.plates = [block for block, _, affected in steps if affected is not None]
        self.filled = [b for b, reads, _ in steps if type(b) is FilledBlock and b.follows(reads)]

    def check_size(self, frame: Frame, least: int) -> None:
        """Raise NotColumnsError if blocks do it sooner: there are containers of so many entries."""
        for block in self.filled:
            if block.size(frame) >= least:
                raise NotColumnsError

    def run(self, frame: Frame) -> float:
        """Run the blocks in a frame in which the slots have changed; the change of the log density.

        Raises:
            Exception: of any kind, where code raises it or array code can't vouch for the scores.
        """
        change = 0.0
        changed = self.slots
        for block, reads, affected in self.steps:
            if reads.isdisjoint(changed):
                continue
            if affected is None:
                before = [frame[slot] for slot in block.defs]
                block.run(None, (frame,))
                defs = zip(block.defs, before, strict=True)
                changed = changed.union([slot for slot, was in defs if not is_same(was, frame[slot])])
                continue
            iterations: Iterations = frame[block.state][0]
            if type(iterations.frames) is not ColumnFrames:
                raise NotColumnsError
            found = rescored(block, iterations, (frame,), iterations.values, affected)
            if found is None:
                raise NotColumnsError
            after, more = found
            frame[block.state] = after, None, total_value(after.total)
            change += more
        return change


def followers_of(body: Sequence, slots: Iterable[int]) -> Followers | None:
    """What follows from a change of some slots, as a whole; None if more does than statements and plates."""
    steps: list[Step] = []
    first = frozenset(slots)
    known = {*first}
    for block in body.blocks:
        reads = frozenset(read.slot for read in block.uses if read.depth == 0 and read.slot in known)
        if not reads or only_gathers(block):
            continue
        if (type(block) is FragmentBlock or type(block) is FilledBlock) and block.runner.always:
            steps.append((block, reads, None))
            known.update(block.defs)
            continue
        affected = block.affected.throughout(reads) if isinstance(block, ColumnLoopBlock) else None
        if affected is None:
            return None
        steps.append((block, reads, affected))
    return Followers(first, steps)


def followed(form: Form, followers: Followers) -> Form:
    """The functions for a site that something follows from, from those that see to its own iterations."""

    def move(frame: Frame, before: Iterations, path: Path, value: Any, rng: Any) -> Moved:
        followers.check_size(frame, LONG)
        moved = form.move(frame, before, path, value, rng)
        record, was, own, others, _ = moved
        if record[2] is None:
            return moved
        new = frame.copy()
        try:
            form.put(new, before, moved)
            others += followers.run(new)
        except Exception:  # the blocks meet it again
            if rng is None:
                raise
            return (record[0], record[1], None), was, 0.0, 0.0, None
        return record, was, own, others, new

    def density(frame: Frame, before: Iterations, path: Path) -> Any:
        followers.check_size(frame, VERY_LONG)
        value, own = form.density(frame, before, path)

        def total(x: Any) -> float:
            here = own(x)
            if here - here == 0.0:
                new = frame.copy()
                form.put(new, before, form.move(frame, before, path, x, None))
                followers.run(new)
                here += sum(total_value(new[plate.state][0].total) for plate in followers.plates)
            return here

        return value, total

    def put(frame: Frame, before: Iterations, moved: Any) -> None:
        frame[:] = moved[4]

    return form._replace(move=move, density=density, put=put, followed=True, edit=None)
