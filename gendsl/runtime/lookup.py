"""One record of a compiled trace by its path, by the shortest way: what `find` yields first."""

from __future__ import annotations

from typing import Any, NamedTuple

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.runtime.blocks import Sequence
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_steps import Step
from gendsl.runtime.groups import GroupBlock
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.reads import Frame, Frames
from gendsl.runtime.sites import SiteBlock
from gendsl.supports import Support


class Route(NamedTuple):
    """Where the choices ("x", i) of a loop over numbers are.

    Attributes:
        loop, state: the slot of the loop, and that of the choice in an iteration's frame.
        source: which of the sources gives the number i.
        number, measure: which column it is, and the measure of its values, where iterations may be columns.
    """

    loop: int
    source: int
    state: int
    number: int
    measure: Support | None


def record_at(body: Sequence, frames: Frames, path: Path, offset: int = 0) -> Any:
    """The record at a path, a call's as (None, what it returned, 0.0); None if there is neither.

    `offset` is the length of the namespace that the body runs in.
    """
    if len(path) == 2 and not offset:
        record = _of_iteration(body, frames[-1], path)
        if record is not None:
            return record
    if body.leaves_early or len(path) <= offset or path[offset] is ...:
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
        elif type(block) is GroupBlock:
            record = frames[-1][block.state][0].get(path)
            if record is not None:
                return record
            continue
        record = _first(block, frames, path, offset)
        if record is not None:
            return record
    return None


def known_at(body: Sequence, frame: Frame, path: Path) -> tuple[Support, Any] | None:
    """The measure and the value of a choice in a plate in columns, without its record.

    To make a record takes all that its iteration computes. None where it takes one, or there is no choice.
    """
    routes = body.direct
    if routes is None:
        routes = _routes(body)
    try:
        route = routes.get(path[0])
        if route is not None and len(path) == 2 and type(path[1]) is int:
            loop, source, _, number, measure = route
            iterations = frame[loop][0]
            store, first = iterations.frames, iterations.values[source]
            if measure is None or type(store) is not ColumnFrames:
                return None
            if type(first) is range and first.step == 1:
                return measure, store.columns[number][path[1] - first.start]
            if type(first) is int:
                return measure, store.columns[number][path[1] - first]
        loop = body.by_bit.get(body.by_head.get(path[0], 0))
        if not isinstance(loop, ColumnLoopBlock) or body.leaves_early:
            return None
        iterations = frame[loop.state][0]
        store = iterations.frames
        if type(store) is not ColumnFrames:
            return None
        found = loop.place(iterations, path)
    except (IndexError, TypeError):  # no address
        return None
    if found is None:
        return None
    number, t = found
    measure = _measure(loop.sites[number])
    return None if measure is None else (measure, store.columns[number][t])


def _measure(step: Step) -> Support | None:
    """The measure of a choice in columns, where its family knows it."""
    measure = step.family._measure
    return measure if isinstance(measure, Support) else None


def _of_iteration(body: Sequence, frame: Frame, path: Path) -> Any:
    """The record of the choice ("x", i) of iteration i of a loop over numbers, the most usual; else None."""
    route = _routes(body).get(path[0])
    if route is None:
        return None
    iterations = frame[route.loop][0]
    t = _iteration(iterations, route.source, path[1])
    if t is None:
        return None
    record = iterations.frames[t][route.state]
    return record if isinstance(record[0], Distribution) else None


def _iteration(iterations: Iterations, source: int, component: Any) -> int | None:
    """The iteration in which the source, if it counts, gives a number; None if none does."""
    if type(component) is not int:
        return None
    first = iterations.values[source]
    if type(first) is range and first.step == 1:
        first = first.start
    elif type(first) is not int:
        return None
    t = component - first
    return t if 0 <= t < len(iterations.frames) else None


def _routes(body: Sequence) -> dict[Any, Route]:
    """First component of an address -> where the choice is, if ("x", i) is all of it."""
    if body.direct is not None:
        return body.direct
    routes: dict[Any, Route] = {}
    for head, mask in body.by_head.items():
        loop = body.by_bit.get(mask)
        if body.leaves_early or not isinstance(loop, LoopBlock) or loop.body.leaves_early:
            continue
        site = loop.body.by_bit.get(loop.body.by_head.get(head, 0))
        if type(site) is not SiteBlock or site.splice or site.parts is None or len(site.parts) != 2:
            continue
        (constant, first), (_, slot) = site.parts
        if first is None and constant == head and slot is not None and slot[0] == loop.depth:
            source = loop.targets.get(slot[1])
            if source is not None:
                step = next((s for s in getattr(loop, "sites", ()) if s.site is site), None)
                number, measure = (-1, None) if step is None else (step.number, _measure(step))
                routes[head] = Route(loop.state, source, site.state, number, measure)
    body.direct = routes
    return routes


def _first(block: Any, frames: Frames, path: Path, offset: int) -> Any:
    for _, record in block.find(frames, path, offset, False):
        return record
    return None
