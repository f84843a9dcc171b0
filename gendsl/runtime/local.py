"""Edits of one choice at a time in a loop, and the density along one: what most moves come to.

Where a choice is made in an iteration of a loop, and nothing reads all of what the loop leaves behind, what
depends on the choice is in that iteration (and, in a chain, in the next). One generated function holds the
whole move: it finds what doesn't depend on the value, draws the value if asked to, and scores the rest before
and after. A proposal needs no more than that; the new trace is made once it is accepted. Another function
gives the density at many values (Gibbs sampling at each of them, slice sampling at some).

`local_sites` says for which choices there are such functions, `local_columns` and `local_frames` make them
for loops in columns and for those that keep frames, `local_lookups` adds the plates that look a choice up,
as points look up the mean of their cluster, and `local_followers` those that depend on all of a loop's
choices, as on the coefficients of a regression. Anything out of the ordinary (another family, a value of
another type, a density that is infinite or undefined) goes the usual way, through the blocks, so nothing but
the time depends on these modules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gendsl.address import Path
from gendsl.runtime.column_frames import EXTREME, ColumnFrames
from gendsl.runtime.guards import NotSeparableError
from gendsl.runtime.local_columns import column_form
from gendsl.runtime.local_followers import followed
from gendsl.runtime.local_frames import frame_form
from gendsl.runtime.local_lookups import looked_up, plates_of
from gendsl.runtime.local_sites import Form, LocalSite, Moved, NotLocalError
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.reads import Frame
from gendsl.runtime.records import Record, drawn
from gendsl.runtime.trace import Edit

if TYPE_CHECKING:
    from gendsl.runtime.compiled import CompiledTrace

_MET_AGAIN = Exception, NotSeparableError

MOST = 8
"""How many choices are edited one by one."""
_NONE: Mapping[Path, Any] = MappingProxyType({})


class LocalDensity:
    """log p(x') - log p(x) of a trace as a function of the value of one choice."""

    __slots__ = ("_density", "_start")

    def __init__(self, density: Callable[[Any], float], value: Any) -> None:
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


class LocalRedraw:
    """The edit that draws one choice anew, as `Edit` is one, whose trace is made when it is asked for.

    Attributes:
        log_weight: the change of the log densities of what depends on the choice.
        removed, remeasured: nothing; other choices than before there are none, either.
    """

    __slots__ = ("_before", "_made", "_moved", "_path", "_site", "log_weight")

    removed: ClassVar[Mapping[Path, Any]] = _NONE
    remeasured: ClassVar[Mapping[Path, Any]] = _NONE

    def __init__(self, before: CompiledTrace, path: Path, site: LocalSite, moved: Moved) -> None:
        self._before = before
        self._path = path
        self._site = site
        self._moved = moved
        self._made: CompiledTrace | None = None
        self.log_weight = moved[3]

    def __iter__(self) -> Iterator[Any]:
        """What an `Edit` is as a tuple."""
        return iter((self.trace, self.log_weight, self.removed, self.remeasured))

    @property
    def trace(self) -> CompiledTrace:
        """The new trace."""
        made = self._made
        if made is None:
            before, record = self._before, self._moved[0]
            try:
                site, frame = self._site, before._called.frame.copy()
                iterations: Iterations = frame[site.state][0]
                site.forms[type(iterations.frames)].put(frame, iterations, self._moved)
                made = before.with_frame(frame, {self._path: record})
            except _MET_AGAIN:  # the blocks can do it
                made = before.edit({self._path: record[1]}).trace  # type: ignore[assignment]
            self._made = made
        return made  # type: ignore[return-value]


def local_density(trace: CompiledTrace, path: Path) -> LocalDensity | None:
    """The density of a trace along one choice; None where there is no short way to it."""
    called = trace._called
    if not -inf < trace.log_prob < inf:
        return None
    try:
        site = called.linked.alone[path[0]]
        iterations: Iterations = called.frame[site.state][0]
        value, density = _form(site, iterations).density(called.frame, iterations, path)
        return LocalDensity(density, value)
    except NotLocalError:
        _forget(trace, path[0])
        return None
    except _MET_AGAIN:  # an edit meets it again, and says what it is
        return None


def edited(
    trace: CompiledTrace, values: Collection[tuple[Any, Any]]
) -> tuple[CompiledTrace, float, dict[Path, Any]] | None:
    """The trace with other values of some choices of loops, the log weight, and the values before.

    None, and nothing has happened, if this is not the way: so it is for all that is no path of such a choice
    with a number.
    """
    if not values or not -inf < trace.log_prob < inf:
        return None
    if len(values) > 1:
        return _several_edited(trace, values)
    ((path, value),) = values
    called = trace._called
    before: dict[Path, Any] = {}
    recent: dict[Path, Any] = {}
    try:
        site = called.linked.alone.get(path[0]) if type(path) is tuple else None
        if site is None:
            return None
        frame = called.frame.copy()
        iterations: Iterations = frame[site.state][0]
        form = site.forms.get(type(iterations.frames)) or _form(site, iterations)
        if form.edit is not None:
            weight = form.edit(frame, iterations, values, before, recent)
        else:
            moved = form.move(frame, iterations, path, value, None)
            form.put(frame, iterations, moved)
            recent[path], before[path], own, others, _ = moved
            weight = own + others
    except NotLocalError:
        _forget(trace, path[0])
        return None
    except Exception:  # the blocks meet it again
        return None
    return trace.with_frame(frame, recent), weight, before


def _several_edited(
    trace: CompiledTrace, values: Collection[tuple[Any, Any]]
) -> tuple[CompiledTrace, float, dict[Path, Any]] | None:
    """`edited` for some choices, one after the other."""
    called = trace._called
    alone = called.linked.alone
    frame: Frame = []
    weight = 0.0
    before: dict[Path, Any] = {}
    recent: dict[Path, Record] = {}
    try:
        for path, value in values:
            head = path[0] if type(path) is tuple else None
            site = alone.get(head)
            if site is None or site.followers is not None:
                return None  # what follows from several is done once
            if not frame:
                frame = called.frame.copy()
            iterations: Iterations = frame[site.state][0]
            form = site.forms.get(type(iterations.frames)) or _form(site, iterations)
            if form.edit is not None and not (before or iterations.readers) and _all_begin(values, head):
                weight = form.edit(frame, iterations, values, before, recent)
                break
            moved = form.move(frame, iterations, path, value, None)
            form.put(frame, iterations, moved)
            record, before[path], own, others, _ = moved
            if form.followed:
                recent.clear()  # what was edited before may depend on it
            recent[path] = record  # type: ignore[assignment]
            change = own + others
            if not -EXTREME < change < EXTREME:
                return None  # what is left of it when the next is taken away must have digits, too
            weight += change
    except NotLocalError:
        _forget(trace, head)
        return None
    except Exception:  # the blocks meet it again
        return None
    return trace.with_frame(frame, recent), weight, before


def _all_begin(values: Collection[tuple[Any, Any]], head: Any) -> bool:
    """Whether all that is given is at paths that begin with the same component."""
    return {path[0] if type(path) is tuple else None for path, _ in values} == {head}


def redrawn(
    trace: CompiledTrace, path: Path, rng: np.random.Generator, stop_at_zero: bool
) -> LocalRedraw | Edit | None:
    """The edit that draws one choice anew, with the weight of `regenerate`.

    None, and nothing is drawn, if this is not the way.
    """
    called = trace._called
    try:
        site = called.linked.alone.get(path[0])
        if site is None or not -inf < trace.log_prob < inf:
            return None
        iterations: Iterations = called.frame[site.state][0]
        form = site.forms.get(type(iterations.frames)) or _form(site, iterations)
        moved = form.move(called.frame, iterations, path, None, rng)
    except NotLocalError:
        _forget(trace, path[0])
        return None
    except Exception:  # nothing has happened, and the blocks meet it again
        return None
    distribution, value, score = moved[0]
    if score is not None:
        edit = LocalRedraw(trace, path, site, moved)
        watch = called.linked.watch
        watch.edits += 1
        if watch.edits >= watch.due:  # whether it will be accepted or not
            watch.keep(edit.trace)
        return edit
    # the blocks meet what it was again, with the value that was drawn
    own = drawn(distribution, value)[2] - trace.records[path][2]
    new = trace.edit({path: value}, stop_at_zero=stop_at_zero)
    return new._replace(log_weight=new.log_weight - own)


def _forget(trace: CompiledTrace, first: Any) -> None:
    """Don't ask again for the choices whose addresses begin so."""
    linked = trace._called.linked
    linked.alone = {head: site for head, site in linked.alone.items() if head != first}


def _form(site: LocalSite, iterations: Iterations) -> Form:
    """The functions for a site, over iterations as a trace keeps them.

    Raises:
        NotLocalError: there are none.
    """
    kind = type(iterations.frames)
    form = site.forms.get(kind)
    if form is None:
        plates = plates_of(site)
        form = column_form(site, plates) if kind is ColumnFrames else frame_form(site)
        if plates:
            form = looked_up(form, site, plates)
        elif site.followers is not None:
            form = followed(form, site.followers)
        site.forms[kind] = form
    return form
