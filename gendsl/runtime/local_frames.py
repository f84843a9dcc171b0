"""Edits of one choice at a time in a loop that keeps a frame for each iteration; see `local`.

What depends on a choice is in its iteration, and in the next one where the loop carries it there, as in a
chain. What the next iteration carries on must not depend on it: it is then a choice, or something else.

    def local(f0, frames, t):
        w1, d = frames[t], frames[t][6][0]
        f1 = w1.copy()
        w2 = frames[t + 1]                     the next iteration, which gets f1[5] as f2[4]
        f2 = w2.copy()
        def density(x): ...
        def scores(x):
            f1[5] = x
            ...
            return own change, change of the others
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from gendsl.address import Path
from gendsl.compiler.vectors import NotColumnsError
from gendsl.runtime.blocks import CopyBlock, FragmentBlock
from gendsl.runtime.column_frames import EXTREME
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.records import PLAIN_FAMILIES, Record
from gendsl.runtime.reverse import without_same
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import HUGE
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.totals import value as total_value

if TYPE_CHECKING:
    from gendsl.runtime.compiled import CompiledTrace
    from gendsl.runtime.loops import LoopBlock


class NotLocalError(NotColumnsError):
    """A choice can't be looked at by itself, whatever its value is."""


class FrameEdit:
    """A loop of a trace, while choices in it are given other values.

    Raises:
        Exception: what is to be done is not to be done in this way.
    """

    __slots__ = ("before", "frame", "frames", "loop", "readers", "recent", "total", "trace", "visited")

    def __init__(self, trace: CompiledTrace, loop: LoopBlock, before: Iterations) -> None:
        self.trace = trace
        self.loop = loop
        self.before = before
        self.frame = trace._called.frame
        self.frames = before.frames
        self.total = before.total
        self.readers = without_same(before.readers)
        self.recent: dict[Path, Record] = {}
        self.visited: set[int] = set()

    def place(self, path: Path) -> tuple[int, int]:
        """The position of the site that makes a choice, and the iteration."""
        loop, frame = self.loop, self.frame
        found = loop.positions(self.before, (frame,), path, 0, False)
        if found is None or len(found) != 1:
            raise NotColumnsError
        (t,) = found
        frames = frame, self.frames[t]
        for i, block in enumerate(loop.body.blocks):
            if type(block) is SiteBlock and block.path((), frames) == path:
                return i, t
        raise NotColumnsError

    def value(self, number: int, t: int) -> Any:
        """The value of a choice."""
        block: Any = self.loop.body.blocks[number]
        return self.frames[t][block.state][1]

    def look(self, number: int, t: int) -> Any:
        """What the generated function of a site gives."""
        loop = self.loop
        local = loop.local.get(-1 - number)
        if local is None:
            local = loop.local[-1 - number] = _local(loop, number)
        return local(self.frame, self.frames, t)

    def put(self, path: Path, number: int, t: int, look: Any, value: Any) -> tuple[float, float]:
        """Give a choice a value; the changes of its own log density, and of those that depend on it."""
        edited, _, _, scores = look
        loop = self.loop
        own, others = scores(value)
        limit = EXTREME if self.visited else HUGE  # what is left of the change before must have digits, too
        for s, frame in enumerate(edited, t):
            was = self.frames[s]
            if not -limit < was[0] < limit:
                raise NotColumnsError  # the others have no digits left beside it
            frame[0] = loop.body.score(frame)
            self.frames = self.frames.set(s, frame)
            if frame[0] != was[0]:
                self.total = changed_total(self.total, was[0], frame[0])
            for slot in self.readers:
                self.readers = loop.reread(self.readers, slot, s, (self.frame, was), (self.frame, frame), 0)
        visited = range(t, t + len(edited))
        if self.visited.isdisjoint(visited):
            block: Any = loop.body.blocks[number]
            self.recent[path] = edited[0][block.state]
        else:
            self.recent.clear()  # one may depend on the other
        self.visited.update(visited)
        return own, others

    def traced(self) -> CompiledTrace:
        """The trace with the values given."""
        loop, before = self.loop, self.before
        frame = self.frame.copy()
        after = Iterations(
            self.frames, self.total, before.values, before.status, {**self.readers}, before.positions
        )
        frame[loop.state] = after, before.status, total_value(self.total)
        for written in loop.stored:
            frame[written.inside] = frame[written.after] = frame[written.inside].over(self.frames)
        return self.trace.with_frame(frame, self.recent)


# --- generating ------------------------------------------------------------------------------------

_OWN = """\
    d = w1[{state}][0]
    number = families[type(d)]
    if number is None: raise NotLocalError
    before = w1[{state}][2]
"""

_DENSITY = """\
    def density(x):
        if type(x) is not number: raise NotColumnsError
        f1[{value}] = x
        total = d.at(x)
        if not -inf < total < inf:
            total = beyond(d, x)
            if total == -inf: return total
"""

_ADDED = """\
{indent}r = w{n}[{state}]
{indent}e = call{i}(f0, f{n})
{indent}if families[type(e)] is None: raise NotLocalError
{indent}if type(e) is not type(r[0]) or families[type(e)] is not type(r[1]): raise NotColumnsError
{indent}score = e.at(r[1])
{indent}if not -inf < score < inf:
{indent}    score = beyond(e, r[1])
{indent}total += score
"""

_SCORES = """\
    def scores(x):
        if type(x) is not number: raise NotColumnsError
        f1[{value}] = x
        score = d.at(x)
        if not -inf < score < inf or not -inf < before < inf: raise NotColumnsError
        f1[{state}] = d, x, score
        own, others = score - before, 0.0
"""

_SCORED = """\
{indent}r = w{n}[{state}]
{indent}e = call{i}(f0, f{n})
{indent}if families[type(e)] is None: raise NotLocalError
{indent}if type(e) is not type(r[0]) or families[type(e)] is not type(r[1]): raise NotColumnsError
{indent}score = e.at(r[1])
{indent}if not -inf < score < inf or not -inf < r[2] < inf: raise NotColumnsError
{indent}f{n}[{state}] = e, r[1], score
{indent}others += score - r[2]
"""


def _local(loop: LoopBlock, number: int) -> Any:
    """The function that looks at the choice of a site by itself.

    Raises:
        NotLocalError: there is none.
    """
    block: Any = loop.body.blocks[number]
    scope: dict[str, Any] = {
        "NotColumnsError": NotColumnsError, "NotLocalError": NotLocalError, "beyond": beyond,
        "families": PLAIN_FAMILIES, "inf": inf,
    }  # fmt: skip
    density = [_DENSITY.format(value=block.value)]
    scores = [_SCORES.format(value=block.value, state=block.state)]
    changed = {block.value}
    _follow(loop, changed, 1, "        ", scope, density, scores)
    into = [(into, out) for _, _, into, out in loop.carried if out in changed]
    before = ["def local(f0, frames, t):\n    w1 = frames[t]; f1 = w1.copy()\n"]
    before.append(_OWN.format(state=block.state))
    if into:
        before.append("    more = t + 1 < len(frames)\n    if more: w2 = frames[t + 1]; f2 = w2.copy()\n")
        handed = "".join(f"            f2[{slot}] = f1[{out}]\n" for slot, out in into)
        density.append(f"        if more:\n{handed}")
        scores.append(f"        if more:\n{handed}")
        after = {slot for slot, _ in into}
        _follow(loop, after, 2, "            ", scope, density, scores)
        if any(out in after for _, _, _, out in loop.carried):
            raise NotLocalError  # it goes on and on
        before.append("    edited = (f1, f2) if more else (f1,)\n")
    else:
        before.append("    edited = f1,\n")
    density.append("        return total\n")
    scores.append("        return own, others\n")
    exec("".join([*before, *density, *scores, "    return edited, d, density, scores\n"]), scope)
    return scope["local"]


def _follow(
    loop: LoopBlock,
    changed: set[int],
    n: int,
    indent: str,
    scope: dict[str, Any],
    density: list[str],
    scores: list[str],
) -> None:
    """Write out what depends on the slots that have changed in iteration `n`, and add what it changes."""
    depth = loop.depth
    for i, block in enumerate(loop.body.blocks):
        if not any(read.depth == depth and read.slot in changed for read in block.uses):
            continue
        if isinstance(block, (FragmentBlock, CopyBlock)):
            scope[f"block{i}"] = block
            line = f"{indent}block{i}.run(None, (f0, f{n}))\n"
            density.append(line)
            scores.append(line)
            changed.update(block.defs if isinstance(block, FragmentBlock) else [block.slot])
            continue
        if type(block) is not SiteBlock or block.splice or block.address is None:
            raise NotLocalError
        if any(read.depth == depth and read.slot in changed for read in block.address_reads):
            raise NotLocalError
        scope[f"call{i}"] = block.thing.call
        density.append(_ADDED.format(indent=indent, n=n, state=block.state, i=i))
        scores.append(_SCORED.format(indent=indent, n=n, state=block.state, i=i))


def beyond(distribution: Any, value: Any) -> float:
    """The log density where the short formula doesn't give a finite one: -inf.

    Raises:
        NotColumnsError: it is anything else.
    """
    if distribution.logpdf(value) != -inf:
        raise NotColumnsError
    return -inf
