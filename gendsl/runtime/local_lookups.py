"""Edits of one choice that loops in columns look up by its place in a container; see `local`.

    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical(weights)
        ("x", i) @ ~normal(mu[z], 1)

Beside its own iteration, a mean concerns the points of its cluster, which an index finds. Their columns are
gathered once, and scored with array code for as many means as are asked for.
"""

from __future__ import annotations

from typing import Any

from gendsl.address import Path
from gendsl.compiler.tables import NotColumnsError
from gendsl.compiler.vectors import taken
from gendsl.runtime.column_carried import hand_on
from gendsl.runtime.column_frames import ColumnFrames, outer_of
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_scores import is_key
from gendsl.runtime.column_steps import column_total, moved_total
from gendsl.runtime.generated import generated
from gendsl.runtime.local_sites import Form, LocalSite, Moved, leave
from gendsl.runtime.loop_parts import Iterations
from gendsl.runtime.reads import Frame
from gendsl.runtime.totals import Total


class _Entry:
    """A container of which one entry is asked for, with a value in its place."""

    __slots__ = ("_key", "_size", "value")

    def __init__(self, size: int, key: int) -> None:
        self._size = size
        self._key = key
        self.value: Any = None

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, key: int) -> Any:
        if key != self._key:
            raise NotColumnsError
        return self.value


class _Plate:
    """A plate in columns whose iterations look up entries of a container, each at the value of its choice.

    Attributes:
        steps: the choices whose parameters depend on the entry.
        of: the slot of the choice that is the key.
        columns, assigned, handed: what it takes to score these; the columns with their slots.
    """

    __slots__ = ("assigned", "columns", "handed", "loop", "of", "slot", "steps")

    def __init__(self, loop: ColumnLoopBlock, slot: int) -> None:
        self.loop = loop
        self.slot = slot
        affected = loop.affected[frozenset(((0, slot),))]
        self.steps = affected.steps
        self.assigned = affected.assigned
        self.handed = affected.handed
        self.of: Any = next(lookup.of for lookup in loop.lookups if lookup.container == (0, slot))
        self.columns = [(at, i) for at, i in affected.columns if at != self.of]


class _Readers:
    """The iterations of a plate that look up one entry of a container.

    Raises:
        Exception: of any kind, where they can't be found, or array code can't vouch for their scores.
    """

    __slots__ = ("_entry", "_outer", "_own", "_scope", "before", "plate", "totals")

    def __init__(self, plate: _Plate, frame: Frame, t: int) -> None:
        loop, slot = plate.loop, plate.slot
        self.plate = plate
        self.before: Iterations = frame[loop.state][0]
        self.totals: list[Total] = []
        store: Any = self.before.frames
        if type(store) is not ColumnFrames:
            raise NotColumnsError
        container = frame[slot]
        key = _key(container, t)
        members = loop.readers_of(self.before, (frame,), (0, slot)).get(key)
        if not is_key(loop, store, plate.of, key, members):
            raise NotColumnsError
        columns = store.columns
        given: dict[int, Any] = {at: columns[i].take(members) for at, i in plate.columns}
        given[plate.of] = key
        if loop.needed_targets:
            targets = loop.vector_frame(store.values, store.size, store.arrays)
            given |= {at: taken(column, members) for at, column in targets.items()}
        outer = {at: frame[at] for at in loop.reads[0]}
        outer[slot] = self._entry = _Entry(len(container), key)
        self._scope = outer, given
        hand_on(plate.handed, self._scope, columns, members)
        self._own = [(step, columns[step.number].take(members)) for step in plate.steps if len(members)]

    def score(self, value: Any) -> list[Total]:
        """The total score of each choice that depends on the entry, with another value there."""
        loop, scope = self.plate.loop, self._scope
        self._entry.value = value
        for assigned in self.plate.assigned:
            loop.assign(assigned, scope)
        totals = [column_total(step.family, own, loop.parameters(step, scope)) for step, own in self._own]
        for _, _, infinite in totals:
            if infinite:
                raise NotColumnsError
        return totals

    def move(self, was: Any, now: Any) -> float:
        """What the scores change by; `put` puts it into the plate."""
        store, change = self.before.frames, 0.0
        self.totals = totals = [*store.totals]
        for (step, _), old, new in zip(self._own, self.score(was), self.score(now), strict=True):
            totals[step.number] = moved_total(totals[step.number], old, new)
            change += (new[0] + new[1]) - (old[0] + old[1])
        return change

    def put(self, frame: Frame) -> None:
        """Put what has changed into a frame."""
        loop, before = self.plate.loop, self.before
        frames = before.frames.with_outer(outer_of(loop.reads, (frame,)), before.values)
        frames.totals = tuple(self.totals)
        leave(loop, frame, before, frames, frames.total(), {**before.readers})


def looked_up(form: Form, site: LocalSite) -> Form:
    """The functions for a site whose choices plates look up, from those that see to its own iterations."""
    plates = [_Plate(loop, slot) for loop, slot in site.lookups]
    scope: dict[str, Any] = {}
    lines = ["def place_of(f0, before, path):\n", site.placing(scope), "    return t\n"]
    place_of = generated("place_of", lines, scope)

    def found(frame: Frame, before: Iterations, path: Path) -> list[_Readers]:
        t = place_of(frame, before, path)
        return [_Readers(plate, frame, t) for plate in plates]

    def move(frame: Frame, before: Iterations, path: Path, value: Any, rng: Any) -> Moved:
        readers = found(frame, before, path)
        (distribution, given, score), was, own, others, rest = form.move(frame, before, path, value, rng)
        if score is not None:
            try:
                for reader in readers:
                    others += reader.move(was, given)
            except Exception:  # the blocks meet it again
                if rng is None:
                    raise
                score = None
        return (distribution, given, score), was, own, others, (rest, readers)

    def density(frame: Frame, before: Iterations, path: Path) -> Any:
        value, own = form.density(frame, before, path)
        readers = found(frame, before, path)

        def total(x: Any) -> float:
            here = own(x)
            if here - here == 0.0:
                for reader in readers:
                    here += sum(high + low for high, low, _ in reader.score(x))
            return here

        return value, total

    def put(frame: Frame, before: Iterations, moved: Any) -> None:
        *rest, (inner, readers) = moved
        form.put(frame, before, (*rest, inner))
        for reader in readers:
            reader.put(frame)

    return Form(move, density, put, True)


def _key(container: Any, t: int) -> int:
    """The key under which the container that a loop fills has what iteration t writes, and only it does.

    Raises:
        NotColumnsError: it isn't known, or what it has there is another value.
    """
    one_each = container.kind == "append" or container.count is not None
    if not one_each or type(container.base) not in (list, dict):
        raise NotColumnsError
    key = container.key_of(t)
    if type(key) is not int:
        raise NotColumnsError
    return key
