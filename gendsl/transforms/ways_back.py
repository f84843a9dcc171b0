"""The way back on the tape of a move: the transform, run again on what it has written.

    let      y3 = x1 + x2            the transform
    ...
    let      y9 = y3 - x2            and again, from there
    y9 must be x1, and the two determinants must cancel
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.supports import Support
from gendsl.transforms.recording import RecordedInput, RecordedOutput
from gendsl.transforms.run import continuous, discrete
from gendsl.transforms.straight_lines import Relation, WayBack
from gendsl.transforms.tape import Read, Tape, Traced, TracedVector, Unrecordable, Written, refuse


class _Output(RecordedInput):
    """What a transform wrote, as the input of its way back."""

    __slots__ = ("choices", "taken")

    def __init__(self, tape: Tape, f: Any, side: int, trace: Any, choices: Mapping[Path, Any]) -> None:
        super().__init__(tape, f, side, trace)
        self.choices = choices
        self.taken: dict[Path, tuple[Support, tuple[str, ...]]] = {}

    def value(self, path: Path, label: Any) -> Any:
        support, _ = self.look_up(path)
        if label is not None and label is not (discrete if support.discrete else continuous):
            refuse()
        self.copied(path)
        return self.choices[path]

    def copied(self, path: Path) -> tuple[tuple[str, ...], Any, bool]:
        support, _ = self.look_up(path)
        seen = self.choices.get(path)
        if not support.discrete and path in self.observed:
            refuse()
        names: tuple[str, ...] = ()
        if type(seen) is Traced:
            names = (seen.name,)
        elif type(seen) is TracedVector:
            if not all(type(entry) is Traced for entry in seen.entries):
                refuse()
            names = tuple(entry.name for entry in seen.entries)
        elif not support.discrete or type(seen) not in (int, bool, str):
            refuse()
        self.taken[path] = support, names
        return names, seen if not names else None, type(seen) is TracedVector


def way_back(
    tape: Tape,
    f: Any,
    body: Callable[..., None],
    before: list[Any],
    after: list[Any],
    choices: Sequence[Mapping[Path, Any]],
    removed: frozenset[Path],
) -> WayBack:
    """Run a transform again, on what it has written, and note what must come back.

    Args:
        before, after: the traces that the transform was run on, and led to.
        choices: what the recorded runs of the programs saw of the choices after.
        removed: the model's choices that are gone after.

    Raises:
        Unrecordable: it can't be recorded, or doesn't come back.
    """
    first = len(tape.steps)
    written, tape.written = tape.written, []
    tape.computed = {}  # the way back has derivatives of its own
    try:
        inputs = [_Output(tape, f, side, trace, choices[side]) for side, trace in enumerate(after)]
        outputs = {name: RecordedOutput(tape, f, side) for side, name in enumerate(f.outputs)}
        body(*inputs, **{**f.parameters, **outputs})
    finally:
        returned, tape.written = tape.written, written
    there = [{w.path for w in written if w.side == side} for side in (0, 1)]
    back = [{w.path for w in returned if w.side == side} for side in (0, 1)]
    if sum(map(len, back)) < len(returned):
        raise Unrecordable("an address is written twice")
    gone = there[0] - back[0]
    if any(before[0].records.get(path) is not None for path in gone) or not removed <= back[0]:
        raise Unrecordable("other choices come back")
    if len(before) > 1 and back[1] != set(before[1].records):
        raise Unrecordable("other auxiliary choices come back")
    start = _start(inputs, [back[0] | gone, there[1]])
    ends: list[str] = []
    pairs: list[tuple[str, str]] = []
    known = _known(tape, written)
    for one in returned:
        names, expected = _end(tape, one, before[one.side].records[one.path], known)
        ends += names
        pairs += expected
    relations = [
        Relation(names, support.dim) for given in inputs for support, names in given.taken.values() if names
    ]
    return WayBack(first, tuple(start), tuple(ends), tuple(pairs), tuple(relations))


def _start(inputs: list[_Output], wanted: list[set[Path]]) -> list[str]:
    """The coordinates that go in."""
    start: list[str] = []
    for given, paths in zip(inputs, wanted, strict=False):
        for path in paths:
            if given.records.get(path) is None:
                continue
            if path not in given.taken:
                raise Unrecordable("a choice is neither read nor copied")
            support, names = given.taken[path]
            start += names[: support.dim]
    if len(set(start)) < len(start):
        raise Unrecordable("a number is written twice")
    return start


def _known(tape: Tape, written: list[Written]) -> dict[tuple[int, Path], Any]:
    """The discrete choices that went in whose values the line is for."""
    names = {name for one in written if one.copied for name in one.names}
    known = {(side, path): True for side, path, _ in tape.switches}
    for step in tape.steps:
        if type(step) is Read and step.kind is None and step.names[0] in names:
            known[step.side, step.path] = True  # copied, and then asked for: see `RecordedProgram`
    return known


def _end(
    tape: Tape, one: Written, record: Any, known: dict[tuple[int, Path], Any]
) -> tuple[list[str], list[tuple[str, str]]]:
    """The coordinates that come back at one address, and with them what they should be.

    Raises:
        Unrecordable: they are others, or it isn't known what they should be.
    """
    support, value = measured(record[0]), record[1]
    if one.label not in (None, discrete if support.discrete else continuous):
        raise Unrecordable("the label is wrong")
    key = one.side, one.path
    if support.discrete:
        if one.names or key not in known or type(one.constant) is not type(value) or one.constant != value:
            raise Unrecordable("another value comes back")
        return [], []
    seed = tape.seeds.get(key)
    if seed is None or one.vector != bool(seed[0].shape) or len(one.names) != len(seed[0].names):
        raise Unrecordable("it isn't known what should come back")
    return [*one.names[: support.dim]], [*zip(one.names, seed[0].names, strict=True)]
