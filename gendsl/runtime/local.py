"""Edits of one choice at a time in a loop, and the density along one: what most moves come to.

Where a choice is made in an iteration of a loop, and nothing reads what the loop leaves behind, all that
depends on the choice is in that iteration (and, in a chain, in the next). One generated function holds the
whole move: it finds what doesn't depend on the value, draws the value if asked to, and scores the rest before
and after. A proposal needs no more than that; the new trace is made once it is accepted. Another function
gives the density at many values (Gibbs sampling at each of them, slice sampling at some).

`local_sites` says for which choices there are such functions, `local_columns` and `local_frames` make them
for plates in columns and for loops that keep frames. Anything out of the ordinary (another family, a value of
another type, a density that is infinite or undefined) goes the usual way, through the blocks, so nothing but
the time depends on these modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gendsl.address import Path
from gendsl.runtime.column_frames import EXTREME, ColumnFrames
from gendsl.runtime.guards import NotSeparableError
from gendsl.runtime.local_columns import column_form
from gendsl.runtime.local_frames import frame_form
from gendsl.runtime.local_sites import Form, LocalSite, Moved, NotLocalError
from gendsl.runtime.loop_parts import ADDRESSES, Iterations
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.records import Record, drawn
from gendsl.runtime.reverse import SameIndex
from gendsl.runtime.totals import HUGE
from gendsl.runtime.totals import value as total_value
from gendsl.runtime.trace import Edit

if TYPE_CHECKING:
    from gendsl.runtime.compiled import CompiledTrace

_MET_AGAIN = Exception, NotSeparableError

MOST = 8
"""How many choices are edited one by one."""
_NONE: Mapping[Path, Any] = MappingProxyType({})


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


class LocalRedraw:
    """The edit that draws one choice anew, as `Edit` is one, whose trace is made when it is asked for.

    Attributes:
        log_weight: the change of the log densities of what depends on the choice.
        removed, remeasured: nothing; other choices than before there are none, either.
    """

    __slots__ = ("_before", "_made", "_moved", "_path", "_site", "_t", "log_weight")

    removed: ClassVar[Mapping[Path, Any]] = _NONE
    remeasured: ClassVar[Mapping[Path, Any]] = _NONE

    def __init__(self, before: CompiledTrace, path: Path, site: LocalSite, t: int, moved: Moved) -> None:
        self._before = before
        self._path = path
        self._site = site
        self._t = t
        self._moved = moved
        self._made: CompiledTrace | None = None
        self.log_weight = moved[2]

    def __iter__(self) -> Iterator[Any]:
        """What an `Edit` is as a tuple."""
        return iter((self.trace, self.log_weight, self.removed, self.remeasured))

    @property
    def trace(self) -> CompiledTrace:
        """The new trace."""
        made = self._made
        if made is None:
            before, path = self._before, self._path
            try:
                edit = _LoopEdit(before, self._site)
                edit.take(path, self._site, self._t, self._moved)
                made = edit.traced()
            except _MET_AGAIN:  # the blocks can do it
                made = before.edit({path: self._moved[0][1]}).trace  # type: ignore[assignment]
            self._made = made
        return made  # type: ignore[return-value]


def local_density(trace: CompiledTrace, path: Path) -> LocalDensity | None:
    """The density of a trace along one choice; None where there is no short way to it."""
    called = trace._called
    if not -inf < trace.log_prob < inf:
        return None
    try:
        site = called.linked.alone[path[0]]
        iterations: Iterations = called.frame[site.loop.state][0]
        t = site.place(called.frame, iterations, path)
        value, density = _form(site, iterations.frames).density(called.frame, iterations.frames, t)
        return LocalDensity(trace, path, density, value)
    except NotLocalError:
        _forget(trace, path)
        return None
    except _MET_AGAIN:  # an edit meets it again, and says what it is
        return None


def edited(
    trace: CompiledTrace, values: Iterable[tuple[Any, Any]]
) -> tuple[CompiledTrace, float, dict[Path, Any]] | None:
    """The trace with other values of some choices of one loop, the log weight, and the values before.

    None, and nothing has happened, if this is not the way: so it is for all that is no path of such a choice
    with a number.
    """
    called = trace._called
    frame, alone = called.frame, called.linked.alone
    if not -inf < trace.log_prob < inf:
        return None
    edit: _LoopEdit | None = None
    weight = 0.0
    before: dict[Path, Any] = {}
    try:
        for path, value in values:
            if type(path) is not tuple:
                return None
            site = alone[path[0]]
            if edit is None:
                edit = _LoopEdit(trace, site)
            elif site.loop is not edit.loop:
                return None
            frames = edit.frames
            t = site.place(frame, edit.before, path)
            moved = _form(site, frames).move(frame, frames, t, value, None)
            before[path] = moved[3][0][0][site.block.value]
            edit.take(path, site, t, moved)
            weight += moved[1] + moved[2]
        return None if edit is None else (edit.traced(), weight, before)
    except NotLocalError:
        _forget(trace, path)
        return None
    except Exception:  # the blocks meet it again
        return None


def redrawn(
    trace: CompiledTrace, path: Path, rng: np.random.Generator, stop_at_zero: bool
) -> LocalRedraw | Edit | None:
    """The edit that draws one choice anew, with the weight of `regenerate`.

    None, and nothing is drawn, if this is not the way.
    """
    called = trace._called
    frame = called.frame
    try:
        site = called.linked.alone[path[0]]
        if not -inf < trace.log_prob < inf:
            return None
        iterations: Iterations = frame[site.loop.state][0]
        frames = iterations.frames
        t = site.place(frame, iterations, path)
        moved = _form(site, frames).move(frame, frames, t, None, rng)
    except NotLocalError:
        _forget(trace, path)
        return None
    except Exception:  # nothing has happened, and the blocks meet it again
        return None
    distribution, value, score = moved[0]
    if score is not None:
        return LocalRedraw(trace, path, site, t, moved)
    # the blocks meet what it was again, with the value that was drawn
    own = drawn(distribution, value)[2] - trace.records[path][2]
    edit = trace.edit({path: value}, stop_at_zero=stop_at_zero)
    return edit._replace(log_weight=edit.log_weight - own)


def _forget(trace: CompiledTrace, path: Path) -> None:
    """Don't ask again for the choices that begin as this one does."""
    linked = trace._called.linked
    linked.alone = {head: site for head, site in linked.alone.items() if head != path[0]}


def _form(site: LocalSite, frames: Any) -> Form:
    """The functions for a site, over iterations as a trace keeps them.

    Raises:
        NotLocalError: there are none.
    """
    kind = type(frames)
    form = site.forms.get(kind)
    if form is None:
        form = site.forms[kind] = column_form(site) if kind is ColumnFrames else frame_form(site)
    return form


class _LoopEdit:
    """A loop of a trace, while choices in it are given other values.

    Raises:
        Exception: what is to be done is not to be done in this way.
    """

    __slots__ = ("before", "frame", "frames", "loop", "readers", "recent", "total", "trace", "visited")

    def __init__(self, trace: CompiledTrace, site: LocalSite) -> None:
        self.trace = trace
        self.loop: LoopBlock = site.loop
        self.frame = trace._called.frame
        self.before: Iterations = self.frame[self.loop.state][0]
        self.frames = self.before.frames
        self.total = self.before.total
        self.readers = self.before.readers
        self.recent: dict[Path, Record] = {}
        self.visited: set[int] = set()

    def take(self, path: Path, site: LocalSite, t: int, moved: Moved) -> None:
        """Take over a move of the choice at a path."""
        most = EXTREME if self.visited else HUGE  # what is left of the change before must have digits, too
        form = site.forms[type(self.frames)]
        self.frames, self.total = form.moved(self.loop, self.frame, self.frames, self.total, t, moved, most)
        visited = range(t, t + len(moved[3]))
        if self.readers:
            self._reread(t, moved)
        if self.visited.isdisjoint(visited):
            self.recent[path] = moved[0]  # type: ignore[assignment]
        else:
            self.recent.clear()  # one may depend on the other
        self.visited.update(visited)

    def _reread(self, t: int, moved: Moved) -> None:
        """Note which keys the iterations read now, of the containers whose readers are known."""
        for slot, index in self.readers.items():
            if slot is not ADDRESSES and type(index) is not SameIndex:
                for s, (was, now) in enumerate(moved[3], t):
                    old, new = (self.frame, was), (self.frame, now)
                    self.readers = self.loop.reread(self.readers, slot, s, old, new, 0)

    def traced(self) -> CompiledTrace:
        """The trace with the values given."""
        loop, before, total = self.loop, self.before, self.total
        frame = self.frame.copy()
        # an index found out later is that of one trace
        readers = {**self.readers}
        after = Iterations(self.frames, total, before.values, before.status, readers, before.positions)
        frame[loop.state] = after, before.status, total_value(total)
        for written in loop.stored:
            frame[written.inside] = frame[written.after] = frame[written.inside].over(self.frames)
        return self.trace.with_frame(frame, self.recent)
