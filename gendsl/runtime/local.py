"""Edits of one choice at a time in a plate in columns, and the density along one: what most moves come to.

Where a choice is made in an iteration of a plate in columns, and nothing reads what the plate leaves behind,
all that depends on the choice is in that iteration. One generated function finds there what doesn't depend on
the value, and gives others that take a value and score the rest:

    def local(f0, values, columns, t):
        f1 = template.copy()
        x1 = f1[5] = columns[1][t]                 a choice that depends on it
        d0 = call0(f0, f1)                         the choice's distribution
        def density(x):
            f1[4] = x
            return d0.at(x) + call1(f0, f1).at(x1)
        def scores(x):
            f1[4] = x
            return d0.at(x), call1(f0, f1).at(x1)
        def change(old, new, totals): ...
        return f1, d0, density, scores, change

An edit needs no more than the scores before and after. A kernel that asks for the density at many values
(Gibbs sampling at each of them, slice sampling at some) needs the new trace of one only.

Anything out of the ordinary (another family, a value of another type, a density that is infinite or
undefined) goes the usual way, through the blocks, so nothing but the time depends on this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.address import Path
from gendsl.compiler.ir import POSITION
from gendsl.compiler.vectors import NotColumnsError
from gendsl.runtime.blocks import Block, FragmentBlock, ReturnBlock, Sequence
from gendsl.runtime.column_frames import EXTREME, ColumnFrames, outer_of
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.guards import NotSeparableError
from gendsl.runtime.local_frames import FrameEdit, NotLocalError, beyond
from gendsl.runtime.loop_parts import ADDRESSES, Iterations, Slot
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.reads import Frame
from gendsl.runtime.records import PLAIN_FAMILIES, Record, drawn
from gendsl.runtime.reverse import SameIndex
from gendsl.runtime.totals import Total
from gendsl.runtime.totals import change as changed_total
from gendsl.runtime.totals import value as total_value

if TYPE_CHECKING:
    from gendsl.runtime.compiled import CompiledTrace

_MET_AGAIN = Exception, NotSeparableError

MOST = 8
"""How many choices are edited one by one."""


class LocalDensity:
    """log p(x') - log p(x) of a trace as a function of the value of one choice."""

    __slots__ = ("_density", "_path", "_start", "_trace")

    def __init__(self, trace: CompiledTrace, path: Path, density: Callable[[Any], float], value: Any) -> None:
        self._trace = trace
        self._path = path
        self._density = density
        self._start = density(value)

    def __call__(self, value: Any) -> float | None:
        """The log weight of the edit that gives the choice a value; None if only an edit can tell."""
        try:
            return self._density(value) - self._start
        except _MET_AGAIN:  # an edit meets it again, and says where
            return None

    def at_all(self, values: Iterable[Any]) -> list[float] | None:
        """The log weights of some values; None if only edits can tell."""
        density, start = self._density, self._start
        try:
            return [density(value) - start for value in values]
        except _MET_AGAIN:  # as above
            return None

    def edited(self, value: Any) -> Any:
        """The trace with a value."""
        return self._trace.edit({self._path: value}, stop_at_zero=True).trace


def local_density(trace: CompiledTrace, path: Path) -> LocalDensity | None:
    """The density of a trace along one choice; None where there is no short way to it."""
    try:
        loop = _edit(trace, path)
        number, t = loop.place(path)
        return LocalDensity(trace, path, loop.look(number, t)[2], loop.value(number, t))
    except NotLocalError:
        _forget(trace, path)
        return None
    except _MET_AGAIN:  # an edit meets it again, and says what it is
        return None


def edited(
    trace: CompiledTrace, values: Iterable[tuple[Path, Any]]
) -> tuple[CompiledTrace, float, dict[Path, Any]] | None:
    """The trace with other values of some choices of one loop, the log weight, and the values before.

    None, and nothing has happened, if this is not the way.
    """
    loop: ColumnEdit | FrameEdit | None = None
    weight = 0.0
    before: dict[Path, Any] = {}
    try:
        for path, value in values:
            if loop is None:
                loop = _edit(trace, path)
            number, t = loop.place(path)
            before[path] = loop.value(number, t)
            own, others = loop.put(path, number, t, loop.look(number, t), value)
            weight += own + others
    except NotLocalError:
        _forget(trace, path)
        return None
    except Exception:  # the blocks meet it again
        return None
    return None if loop is None else (loop.traced(), weight, before)


def resampled(
    trace: CompiledTrace, path: Path, rng: np.random.Generator, stop_at_zero: bool
) -> tuple[CompiledTrace, float] | None:
    """The trace with one choice drawn anew, and the log weight.

    None, and nothing is drawn, if this is not the way.
    """
    try:
        loop = _edit(trace, path)
        number, t = loop.place(path)
        look = loop.look(number, t)
    except NotLocalError:
        _forget(trace, path)
        return None
    except Exception:  # nothing has happened, and the blocks meet it again
        return None
    distribution = look[1]
    value = distribution.sample(rng)
    try:
        _, others = loop.put(path, number, t, look, value)
    except Exception:  # the blocks meet it again with the value that was drawn
        own = drawn(distribution, value)[2] - trace.records[path][2]
        edit = trace.edit({path: value}, stop_at_zero=stop_at_zero)
        return edit.trace, edit.log_weight - own  # type: ignore[return-value]
    return loop.traced(), others


def _forget(trace: CompiledTrace, path: Path) -> None:
    """Don't ask again for the choices that begin as this one does."""
    linked = trace._called.linked
    linked.alone = {head: loop for head, loop in linked.alone.items() if head != path[0]}


def _edit(trace: CompiledTrace, path: Path) -> ColumnEdit | FrameEdit:
    """What edits the choices of the loop that makes the choice at a path.

    Raises:
        Exception: nothing does.
    """
    called = trace._called
    loop = called.linked.alone[path[0]]
    iterations: Iterations = called.frame[loop.state][0]
    if not -inf < trace.log_prob < inf:
        raise NotColumnsError
    if type(iterations.frames) is ColumnFrames:
        return ColumnEdit(trace, loop, iterations)
    return FrameEdit(trace, loop, iterations)


class ColumnEdit:
    """A plate in columns of a trace, while choices in it are given other values.

    Raises:
        Exception: what is to be done is not to be done in this way.
    """

    __slots__ = (
        "before", "columns", "frame", "loop", "readers", "recent", "store", "totals", "trace", "visited",
    )  # fmt: skip

    def __init__(self, trace: CompiledTrace, loop: ColumnLoopBlock, before: Iterations) -> None:
        self.trace = trace
        self.loop = loop
        self.before = before
        self.frame: Frame = trace._called.frame
        self.store: Any = before.frames
        self.columns = [*self.store.columns]
        self.totals: list[Total] = [*self.store.totals]
        self.readers = before.readers
        self.recent: dict[Path, Record] = {}
        self.visited: set[int] = set()

    def place(self, path: Path) -> tuple[int, int]:
        """The number of the site that makes a choice, and the iteration."""
        found = self.loop.place(self.before, path)
        if found is None:
            raise NotColumnsError
        return found

    def value(self, number: int, t: int) -> Any:
        """The value of a choice."""
        return self.columns[number][t]

    def look(self, number: int, t: int) -> Any:
        """What the generated function of a site gives."""
        loop = self.loop
        local = loop.local.get(number)
        if local is None:
            local = loop.local[number] = _local(loop, number)
        return local(self.frame, self.store.values, self.columns, t)

    def put(self, path: Path, number: int, t: int, look: Any, value: Any) -> tuple[float, float]:
        """Give a choice a value; the changes of its own log density, and of those that depend on it."""
        inner, distribution, _, scores, change = look
        columns = self.columns
        before = columns[number][t]
        gone = self._looked_up(inner, scores, before) if self.readers else ()
        own, others, score = change(before, value, self.totals)
        for slot, keys in gone:
            self._reread(slot, t, keys, self.loop.keys_of((self.frame, inner), slot, 0))
        columns[number] = columns[number].set(t, value)
        if t in self.visited:
            self.recent.clear()  # one may depend on the other
        else:
            self.visited.add(t)
            self.recent[path] = distribution, value, score
        return own, others

    def _looked_up(self, inner: Frame, scores: Callable[[Any], Any], value: Any) -> list[tuple[Slot, Any]]:
        """What an iteration reads, with a value of a choice, of the containers whose readers are known."""
        followed = [
            slot
            for slot, index in self.readers.items()
            if type(index) is not SameIndex and slot is not ADDRESSES
        ]
        if followed:
            scores(value)  # leaves its frame as it is with that value
        return [(slot, self.loop.keys_of((self.frame, inner), slot, 0)) for slot in followed]

    def _reread(self, slot: Slot, t: int, gone: set[Any], come: set[Any]) -> None:
        """Note that an iteration reads other keys of a container than it did."""
        if gone != come:
            index = self.readers[slot]
            for key in gone - come:
                index = index.remove(key, t)
            for key in come - gone:
                index = index.add(key, t)
            self.readers = {**self.readers, slot: index}

    def traced(self) -> CompiledTrace:
        """The trace with the values given."""
        loop, before, store = self.loop, self.before, self.store
        frame = self.frame.copy()
        frames = ColumnFrames(
            loop, outer_of(loop.reads, (frame,)), store.values, store.size, tuple(self.columns),
            tuple(self.totals), store.arrays,
        )  # fmt: skip
        total = frames.total()
        # an index found out later is that of one trace
        after = Iterations(frames, total, before.values, before.status, {**self.readers}, before.positions)
        frame[loop.state] = after, None, total_value(total)
        for written in loop.stored:
            frame[written.inside] = frame[written.after] = frame[written.inside].over(frames)
        return self.trace.with_frame(frame, self.recent)


def loops_of(body: Sequence) -> dict[Any, LoopBlock]:
    """The loops of a body that are edited by themselves, by the first components of their addresses."""
    if body.leaves_early:
        return {}
    found: dict[Any, LoopBlock] = {}
    for head, mask in body.by_head.items():
        loop = body.by_bit.get(mask)
        if isinstance(loop, LoopBlock) and loop.keeps_apart:
            readers = 0
            for written in loop.stored:
                readers |= loop.readers.get(written.after, 0)
            if all(_only_gathers(block) for bit, block in body.by_bit.items() if bit & readers):
                found[head] = loop
    return found


def _only_gathers(block: Block) -> bool:
    """Whether a block makes its value when it is asked for."""
    return isinstance(block, ReturnBlock) and block.later


# --- generating ------------------------------------------------------------------------------------

_CHOICE = """\
    d{i} = call{i}(f0, f1)
    if type(d{i}) is not family{i}: raise NotColumnsError
"""

_DENSITY = """\
    def density(x):
        if type(x) is not number: raise NotColumnsError
        f1[{value}] = x
        total = d{i}.at(x)
        if not -inf < total < inf:
            total = beyond(d{i}, x)
            if total == -inf: return total
"""

_ADDED = """\
        d = call{i}(f0, f1)
        if type(d) is not family{i}: raise NotColumnsError
        score = d.at(x{i})
        if not -inf < score < inf:
            score = beyond(d, x{i})
        total += score
"""

_SCORES = """\
    def scores(x):
        if type(x) is not number: raise NotColumnsError
        f1[{value}] = x
        s{i} = d{i}.at(x)
        if not -inf < s{i} < inf: raise NotColumnsError
"""

_SCORE = """\
        d = call{i}(f0, f1)
        if type(d) is not family{i}: raise NotColumnsError
        s{i} = d.at(x{i})
        if not -inf < s{i} < inf: raise NotColumnsError
"""

_CHANGE = """\
    def change(old, new, totals):
        {was}, = scores(old)
        {now}, = scores(new)
        if {extreme}: raise NotColumnsError
"""

_TOTAL = """\
        if a{i} != b{i}: totals[{i}] = changed_total(totals[{i}], a{i}, b{i})
"""


def _local(loop: ColumnLoopBlock, number: int) -> Callable[..., Any]:
    """How the choice of a site is looked at by itself.

    Raises:
        NotLocalError: it isn't.
    """
    step = loop.sites[number]
    scope: dict[str, Any] = {
        "NotColumnsError": NotColumnsError, "beyond": beyond, "changed_total": changed_total, "inf": inf,
        "template": loop.template, "number": PLAIN_FAMILIES[step.family],
    }  # fmt: skip
    before = ["def local(f0, values, columns, t):\n", f"    f1 = template.copy()\n    f1[{POSITION}] = t\n"]
    for i, source in enumerate(loop.sources):
        scope[f"element{i}"] = source.element
        element = f"values[{i}] + t" if source.counted else f"element{i}(values[{i}], t)"
        before.append(f"    f1[{source.target}] = {element}\n")
    for other in loop.sites:
        if other is not step:
            before.append(f"    x{other.number} = f1[{other.slot}] = columns[{other.number}][t]\n")
    density = [_DENSITY.format(i=number, value=step.slot)]
    scores = [_SCORES.format(i=number, value=step.slot)]
    affected = [number]
    changed = {(loop.depth, step.slot)}
    sites = iter(loop.sites)
    for i, (block, is_site) in enumerate(loop.blocks):
        depends = any((read.depth, read.slot) in changed for read in block.uses)
        if not is_site:
            if not isinstance(block, FragmentBlock):
                raise NotLocalError
            scope[f"block{i}"] = block
            line = f"block{i}.run(None, (f0, f1))\n"
            if depends:
                changed.update((loop.depth, slot) for slot in block.defs)
                density.append(f"        {line}")
                scores.append(f"        {line}")
            else:
                before.append(f"    {line}")
            continue
        site = next(sites)
        i = site.number
        scope[f"call{i}"], scope[f"family{i}"] = block.thing.call, site.family
        if site is step:
            before.append(_CHOICE.format(i=i))
        elif depends:
            density.append(_ADDED.format(i=i))
            scores.append(_SCORE.format(i=i))
            affected.append(i)
        if PLAIN_FAMILIES[site.family] is None and i in affected:
            raise NotLocalError
    density.append("        return total\n")
    scores.append("        return {},\n".format(", ".join(f"s{i}" for i in affected)))
    was, now = ([f"{name}{i}" for i in affected] for name in "ab")
    # beside a score that is so large the others have no digits left
    extreme = " or ".join(f"not -{EXTREME} < {score} < {EXTREME}" for score in was)
    changes = [_CHANGE.format(was=", ".join(was), now=", ".join(now), extreme=extreme)]
    changes += [_TOTAL.format(i=i) for i in affected]
    own, *others = [f"{new} - {old}" for old, new in zip(was, now, strict=True)]
    changes.append(f"        return {own}, {' + '.join(f'({part})' for part in others) or 0.0}, {now[0]}\n")
    changes.append(f"    return f1, d{number}, density, scores, change\n")
    exec("".join([*before, *density, *scores, *changes]), scope)
    return scope["local"]  # type: ignore[no-any-return]
