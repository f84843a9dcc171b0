"""Which iterations of a loop an address may belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gendsl.address import Path
from gendsl.runtime.blocks import Block
from gendsl.runtime.loop_parts import (
    ADDRESSES,
    EVERY,
    Iterations,
    Slot,
    Source,
    counted_at,
)
from gendsl.runtime.lowering.ir import Part
from gendsl.runtime.reads import Frames


class Routed(Block):
    """A loop that finds the iterations that may make a choice at an address."""

    sources: list[Source]
    targets: dict[int, int]
    templates: list[list[Part] | None]
    routes: dict[Any, list[tuple[int, int]] | None]
    depth: int
    outer: dict[Slot, Any]
    """How the body reads the slots outside the loop: an OuterUse each."""
    firsts: frozenset[Slot]
    """The slots that say what the loop begins with."""
    exits: bool
    """Whether an iteration may be the last before the loop's end."""
    stored: list[Any]
    """The containers that it fills: a Stored each."""

    def readers_of(self, iterations: Iterations, frames: Frames, slot: Slot, offset: int = 0) -> Any:
        """Which iterations read which key of a container."""
        raise TypeError(f"{type(self).__name__} must define readers_of")

    def _route(
        self,
        before: Iterations,
        old: Frames,
        touched: Iterable[Path],
        offset: int,
        visit: Any,
        paths: dict[int, list[Path]],
    ) -> Any:
        """Add the iterations that may make a choice at a touched address."""
        every: list[Path] = []
        routes = self.routes
        for path in touched:
            if routes and len(path) > offset and path[offset] is not ... and path[offset] not in routes:
                continue  # of another block
            found = self.positions(before, old, path, offset)
            if found is None:
                every.append(path)
                visit = EVERY
                continue
            for t in found:
                paths.setdefault(t, []).append(path)
                if visit is not EVERY:
                    visit.add(t)
        if every:
            for t in range(len(before.frames)):
                paths.setdefault(t, []).extend(every)
        return visit

    def _routes(self) -> dict[Any, list[tuple[int, int]] | None]:
        """First component of an address -> for its sites, which component is which loop variable.

        None where an iteration can't be told from the address; a missing component where no site has it.
        """
        routes: dict[Any, list[tuple[int, int]] | None] = {}
        for parts in self.templates:
            if not parts or parts[0][0] is None:
                return {}
            head = parts[0][0]
            own = [
                (i, self.targets[slot[1]])
                for i, (_, slot) in enumerate(parts)
                if slot is not None and slot[0] == self.depth and slot[1] in self.targets
            ]
            known = routes.setdefault(head, [])
            if known is None or not own:
                routes[head] = None
            elif own[0] not in known:
                known.append(own[0])
        return routes

    def positions(
        self, iterations: Iterations, frames: Frames, path: Path, offset: int, below: bool = True
    ) -> list[int] | None:
        """The iterations that may make a choice at a path (or below it), or None for all of them."""
        if len(path) <= offset or path[offset] is ...:
            return None
        routes = self.routes.get(path[offset], ()) if self.routes else None
        if routes is None:
            if ... in path:
                return None
            index = self.readers_of(iterations, frames, ADDRESSES, offset)
            keys: list[Any] = [path[offset:size] for size in range(offset + 1, len(path) + 1)]
            if below:
                keys.append((ADDRESSES, path[offset:]))
            return sorted({t for key in keys for t in index.get(key).tolist()})
        size = len(iterations.frames)
        found: list[int] = []
        for component, source in routes:
            at = offset + component
            if at >= len(path):
                if below:
                    return None
                continue  # what has this address is longer
            if path[at] is ...:
                return None
            found += [t for t in self.iterations_at(iterations, source, path[at]) if t < size]
        return found if len(routes) < 2 else list(dict.fromkeys(found))

    def iterations_at(self, iterations: Iterations, source: int, component: Any) -> list[int]:
        """The iterations in which a loop variable has a value."""
        value = iterations.values[source]
        if self.sources[source].counted or type(value) is range:
            t = counted_at(value, component)
            return [] if t is None else [t]
        table = iterations.positions.get(source)
        if table is None or table[0] is not value:
            made: dict[Any, list[int]] = {}
            for t in range(len(value)):
                element = self.sources[source].element(value, t)
                try:
                    made.setdefault(element, []).append(t)
                except TypeError:
                    continue  # no address, so no choice is made there
            table = iterations.positions[source] = value, made
        try:
            return table[1].get(component, [])
        except TypeError:
            return []
