"""Choices of loops that are edited by themselves: which they are, how one is found by its address, and what
becomes of its loop.

They are found once, when a body is linked. No two sites of it begin their addresses alike (else there are
none), so the first component of an address says which loop and which site; the iteration is one subtraction
away where one component counts the iterations and the others are constants.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path
from gendsl.runtime.blocks import Block, FragmentBlock, Sequence, only_gathers
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.local_followers import Followers, followers_of
from gendsl.runtime.loop_parts import ADDRESSES, Iterations, Slot
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.reads import Frame, Runner
from gendsl.runtime.records import Record
from gendsl.runtime.reverse import SameIndex
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import Total
from gendsl.runtime.totals import value as total_value


class NotLocalError(NotColumnsError):
    """A choice can't be looked at by itself, whatever its value is."""


Moved = tuple[tuple[Any, Any, float | None], Any, float, float, Any]
"""What becomes of a choice that has another value:

- its record; the score is None where only the blocks can tell what depends on a value that was drawn, and
  then nothing else is here;
- the value that it had;
- the changes of its own log density, and of those that depend on it;
- what `put` is to be told.
"""


class Form(NamedTuple):
    """The functions for one site, over iterations that are kept in one way.

    Attributes:
        move: what becomes of the choice at a path (frame, iterations, path, value, rng), with a value or one
            drawn by rng, in a trace whose density is positive and finite.
        density: the value of the choice (frame, iterations, path), and the density as a function of another.
        put: makes a frame that of the new trace (frame, what the loop has done, moved) after a move.
        followed: whether the distributions of other choices depend on the choice.
        edit: gives some choices of the site values at once (frame, iterations, paths with values); only one
            where the loop keeps track of what they decide. It makes the frame that of the new trace, puts
            the values before and the new records into two dicts, and returns the change of the log density.
            None where they are edited one by one.

    Raises:
        NotLocalError: this is not the way for any value.
        Exception: it isn't for this one; nothing has happened, but to the frame that `put` was given.
    """

    move: Callable[[Frame, Iterations, Path, Any, Any], Moved]
    density: Callable[[Frame, Iterations, Path], tuple[Any, Callable[[Any], float]]]
    put: Callable[[Frame, Iterations, Any], None]
    followed: bool
    edit: Callable[[Frame, Iterations, Any, dict[Path, Any], dict[Path, Record]], float] | None = None


Lookups = list[tuple[ColumnLoopBlock, int]]


class LocalSite:
    """The choices of one site of a loop.

    Attributes:
        loop, block: the loop and the site in it.
        state: where in a frame the loop's state is.
        lookups: the plates that look the choices up, each with the slot of the container.
        followers: what else has to run again after an edit, if it is known; then there are no lookups.
        single, steady: containers of which an iteration reads the entry at a choice's value, or at that of
            the iteration before, and those of which the choice doesn't decide what is read.
        forms: kind of iterations (columns or frames) -> the functions for them, made when first needed.
    """

    __slots__ = (
        "_constants", "_length", "_position", "_source", "block", "followers", "forms", "lookups", "loop",
        "single", "state", "steady",
    )  # fmt: skip

    def __init__(
        self, loop: LoopBlock, block: SiteBlock, lookups: Lookups, followers: Followers | None = None
    ) -> None:
        self.loop = loop
        self.block = block
        self.state = loop.state
        self.lookups = lookups
        self.followers = followers
        self.forms: dict[type, Form] = {}
        self.single, self.steady = _keys_read(loop, block)
        parts = block.parts or ()
        variable = [i for i, (_, slot) in enumerate(parts) if slot is not None]
        constants = [(i, part[0]) for i, part in enumerate(parts) if i and i not in variable]
        self._constants = constants  # but the first, which has led here
        self._length = -1  # no address is found directly
        if len(variable) == 1 and all(constant is not None for _, constant in constants):
            depth, slot = parts[variable[0]][1]  # type: ignore[misc]
            if depth == loop.depth and slot in loop.targets:
                self._length, self._position = len(parts), variable[0]
                self._source = loop.targets[slot]

    def placing_own(self, scope: dict[str, Any]) -> str:
        """The same in the functions that see to the choice's own iteration.

        Where others see to what looks it up, these give them the iteration in place of the path.
        """
        return "    t = path\n" if self.lookups else self.placing(scope)

    def placing(self, scope: dict[str, Any]) -> str:
        """The lines of a generated function that find the iteration t of the choice at a path.

        Where the loop counts, it is one subtraction away; then t may be one that the loop doesn't get to.
        """
        scope["place"] = self._place
        if self._length < 0:
            return "    t = place(f0, before, path)\n"
        scope["constants"] = dict(self._constants)
        counted = self.loop.sources[self._source].counted
        terms = ["type(first) is int"] if counted else ["type(first) is range", "first.step == 1"]
        terms += [f"len(path) == {self._length}", f"type(path[{self._position}]) is int"]
        terms += [f"path[{i}] == constants[{i}]" for i, _ in self._constants]
        found = f"path[{self._position}] - {'first' if counted else 'first.start'}"
        return (
            f"    first = before.values[{self._source}]\n"
            f"    t = {found} if {' and '.join(terms)} else place(f0, before, path)\n"
        )

    def _place(self, frame: Frame, iterations: Iterations, path: Path) -> int:
        """The iteration that makes the choice at a path.

        Raises:
            NotColumnsError: it isn't found.
        """
        if len(path) != self._length:
            return self._looked_for(frame, iterations, path)
        for i, constant in self._constants:
            if path[i] != constant:
                raise NotColumnsError
        found = self.loop.iterations_at(iterations, self._source, path[self._position])
        if len(found) != 1:
            raise NotColumnsError
        return found[0]

    def _looked_for(self, frame: Frame, iterations: Iterations, path: Path) -> int:
        """The same for an address of any kind."""
        found = self.loop.positions(iterations, (frame,), path, 0, False)
        if found is None or len(found) != 1:
            raise NotColumnsError
        (t,) = found
        if self.block.path((), (frame, iterations.frames[t])) != path:
            raise NotColumnsError
        return t


def _keys_read(loop: LoopBlock, block: SiteBlock) -> tuple[dict[Slot, int], frozenset[Slot]]:
    """The containers of which an iteration reads one entry, at the value of a choice, each with 1 where that
    is the choice of the iteration before, else 0; and those of which the iterations read the same entries
    whatever that value is. There may be others.
    """
    if not isinstance(loop, ColumnLoopBlock):
        return {}, frozenset()
    own = loop.depth, block.value
    places = {block.value: 0} | {carried.into: 1 for carried in loop.handed if carried.slot == block.value}
    single, steady = {}, set()
    for container in {lookup.container for lookup in loop.lookups} - loop.unlooked:
        lookups = [lookup for lookup in loop.lookups if lookup.container == container]
        if not any(own in lookup.needs for lookup in lookups):
            steady.add(container)
        elif lookups[0].of in places and all(lookup.of == lookups[0].of for lookup in lookups):
            single[container] = places[lookups[0].of]
    return single, frozenset(steady)


def sites_of(body: Sequence) -> dict[Any, LocalSite]:
    """The sites whose choices are edited by themselves, by the first components of their addresses.

    What the loop leaves behind must be read by nothing that would have to run again, but for plates in
    columns that look single entries up; or for statements, and plates of which every iteration reads it.
    """
    if body.leaves_early:
        return {}
    found: dict[Any, LocalSite] = {}
    for head, mask in body.by_head.items():
        loop = body.by_bit.get(mask)
        if isinstance(loop, LoopBlock) and loop.keeps_apart:
            site = loop.body.by_bit.get(loop.body.by_head.get(head, 0))
            if type(site) is SiteBlock and site.address is not None:
                lookups = _lookups(body, loop, site)
                if lookups is not None:
                    found[head] = LocalSite(loop, site, lookups)
                    continue
                followers = followers_of(body, _read_after(loop, site))
                if followers is not None:
                    found[head] = LocalSite(loop, site, [], followers)
    return found


def _lookups(body: Sequence, loop: LoopBlock, site: SiteBlock) -> Lookups | None:
    """The plates that look up the choices of a site; None if something else reads what depends on them."""
    written = {written.after: written.value for written in loop.stored}
    lookups: Lookups = []
    for after in _read_after(loop, site):
        mask = loop.readers.get(after, 0)
        for bit, block in body.by_bit.items():
            if not bit & mask or only_gathers(block):
                continue
            if written[after] != site.value or not _looks_up(block, after):
                return None
            lookups.append((block, after))  # type: ignore[arg-type]
    plates = [id(block) for block, _ in lookups]
    return lookups if len(plates) == len(set(plates)) else None


def _read_after(loop: LoopBlock, site: SiteBlock) -> list[int]:
    """The slots of the containers that a loop leaves behind in which a choice of one site may be told."""
    others = {block.value for block in loop.body.blocks if type(block) is SiteBlock and block is not site}
    return [written.after for written in loop.stored if written.value not in others]


def _looks_up(block: Block, slot: int) -> bool:
    """Whether a block is a loop in columns that reads a container at the value of one choice only."""
    at = 0, slot
    if type(block) is not ColumnLoopBlock or block.unlooked or not _leaves_the_same(block, at):
        return False
    keys = {lookup.of for lookup in block.lookups if lookup.container == at}
    return (
        len(keys) == 1
        and keys <= block.column_of.keys()
        and not block.outer[at].whole
        and at not in block.source_slots | block.address_slots | block.followed
        and not block.affected[frozenset((at,))].stale
    )


def _leaves_the_same(block: ColumnLoopBlock, at: Slot) -> bool:
    """Whether a loop leaves the same behind whatever a container has, so the values of its choices."""
    choices = {value for value, _ in block.choices}
    return not block.outs and all(
        written.value in choices and not written.may_move and written.base != at for written in block.stored
    )


def slots_read(runner: Runner, depth: int) -> set[int]:
    """The slots of an iteration that code reads, in the frame of this depth."""
    slots = {read.slot for read in runner.reads if read.depth == depth}
    return slots.union(slot for read in runner.reads for at, slot in read.key_slots if at == depth)


def code_of(block: FragmentBlock, i: int, frame: str, scope: dict[str, Any]) -> str:
    """The line of a generated function that runs deterministic code, block i, on a frame of its loop."""
    scope[f"code{i}"] = block.runner.call
    call = f"code{i}(f0, {frame})"
    return "".join(f"{frame}[{slot}], " for slot in block.defs) + f"= {call}" if block.defs else call


def beyond(distribution: Any, value: Any) -> float:
    """The log density where the short formula doesn't give a finite one: -inf.

    Raises:
        NotColumnsError: it is anything else.
    """
    if distribution.logpdf(value) != -inf:
        raise NotColumnsError
    return -inf


def as_plain(value: Any, number: type) -> Any:
    """A value as a choice of a family of such numbers has it.

    Raises:
        NotColumnsError: it is of another type.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if type(plain) is not number:
        raise NotColumnsError
    return plain


def readers_after(
    site: LocalSite, frame: Frame, before: Iterations, frames: Any, visited: range, was: Any, now: Any
) -> dict[Slot, Any]:
    """Which keys the iterations of a loop read after a move, of the containers whose readers are known.

    Args:
        frames: the iterations after it, of which some differ from those before.
        was, now: the value of the choice, which is made in the first of these.
    """
    readers = {**before.readers}  # an index found out later is that of one trace
    t = visited.start
    for slot, index in before.readers.items():
        if slot is ADDRESSES or type(index) is SameIndex or slot in site.steady:
            continue
        entries = slot[0] > 0 or getattr(frame[slot[1]], "indices", 1) == 1  # and no rows
        if entries and slot in site.single and type(was) is type(now) is int and was >= 0 and now >= 0:
            s = t + site.single[slot]
            if was != now and s in visited:
                readers[slot] = index.moved(was, now, s)
            continue
        for s in visited:
            old, new = (frame, before.frames[s]), (frame, frames[s])
            readers = site.loop.reread(readers, slot, s, old, new, 0)
    return readers


def outer_text(loop: Any) -> str:
    """What makes what a loop of the program's own body reads outside it, as `outer_of` does, of frame f0."""
    (slots,) = loop.reads
    return "({" + ", ".join(f"{slot}: f0[{slot}]" for slot in slots) + "},)"


def total_text(loop: Any, name: str = "p") -> str:
    """What sums the totals of a loop's choices, p0, p1, ..., as `ColumnFrames.total` does."""
    numbers = range(len(loop.sites))
    sums = (" + ".join(f"{name}{i}[{k}]" for i in numbers) for k in range(3))
    return f"{name}0" if len(numbers) == 1 else f"({', '.join(sums)})"


def leaving(loop: LoopBlock, total: str) -> str:
    """The lines of `leave`; `frames` and `readers` are there, and the total is an expression."""
    stored = "".join(
        f"    f0[{w.inside}] = f0[{w.after}] = f0[{w.inside}].over(frames)\n" for w in loop.stored
    )
    return (
        f"    high, low, infinite = total = {total}\n"
        f"    f0[{loop.state}] = (\n"
        "        before.over(frames, total, readers), before.status,\n"
        "        total_value(total) if infinite else high + low,\n"
        f"    )\n{stored}"
    )


def leave(
    loop: LoopBlock, frame: Frame, before: Iterations, frames: Any, total: Total, readers: dict[Slot, Any]
) -> None:
    """Put what a loop has done into a frame, in place of what it had done before with the same sources."""
    high, low, infinite = total
    score = total_value(total) if infinite else high + low
    frame[loop.state] = before.over(frames, total, readers), before.status, score
    for written in loop.stored:
        frame[written.inside] = frame[written.after] = frame[written.inside].over(frames)
