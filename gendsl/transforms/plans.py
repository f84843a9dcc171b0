"""Moves by plans: a transform's run as the line of arithmetic that it was before.

What a transform writes is decided by what it reads. Where the discrete values that it reads are those of a
run that was recorded (`tape`), the run is a function of numbers (`straight_lines`), which takes a
fraction of the time. The discrete values lead along a tree to it:

    k = 3 ─ split = True ─ j = 0:  a line;  j = 1:  a line
                         └ False ─ ...

A plan is no other meaning of a transform: it is made from a run, must give what that run gave, to the last
digit, before it is used, and wherever anything is not as it was then (a measure, which choices there are, a
number out of the ordinary, a global name that was given another value) the transform is run after all. So
every error is the one that the run raises.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isclose
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path
from gendsl.compiler.lift import compile_lifted
from gendsl.distributions.base import measured
from gendsl.runtime.paths import PathSet
from gendsl.runtime.records import Records
from gendsl.supports import Support
from gendsl.transforms.recording import RECORDER, record
from gendsl.transforms.run import continuous, discrete, lookups, measure_in
from gendsl.transforms.straight_lines import straight_line
from gendsl.transforms.surroundings import Surroundings
from gendsl.transforms.tape import Tape, Unrecordable, Written

_SEEN = 4
"""How often there is no plan until one is made: it takes as long as some twenty runs."""

_MOST_LINES = 8
"""How many lines there are for the same discrete values: they differ in what was found by comparing."""

_MOST_PLANS = 256
_MOST_COUNTED = 1024
_MOST_FAILURES = 3

_FREE_PLANS, _USES = 16, 8
"""How many plans are made for nothing, and how often each of more must have been used."""

_DRY, _REST = 256, 4096
"""After so many pairs of traces without a plan there is no looking for one for so many others."""


class Line(NamedTuple):
    """A straight line, and what must be so for its result to be that of the transform.

    Attributes:
        function: gives the values of the outputs and log |det J|.
        drawn: the auxiliary choices that go in.
        removed: the model's choices that the output doesn't have.
        new: the choices of the output that the model didn't have.
        kinds: for each output, the paths that were written with the class of their measure and its shape.
    """

    function: Callable[..., Any]
    drawn: frozenset[Path]
    removed: frozenset[Path]
    new: tuple[Path, ...]
    kinds: tuple[tuple[tuple[Path, type[Support], Any], ...], ...]


class Node:
    """A place in the tree.

    Attributes:
        where: the side and path of the discrete choice whose value says how to go on.
        lines: where there is none.
        misses: how often values came that lead nowhere yet, or no line was the right one (at `None`).
    """

    __slots__ = ("children", "lines", "misses", "where")

    def __init__(self) -> None:
        self.where: tuple[int, Path] | None = None
        self.children: dict[tuple[type, Any], Node] = {}
        self.lines: list[Line] = []
        self.misses: dict[Any, int] = {}

    def missed(self, key: Any) -> bool:
        """Count a value that leads nowhere; whether it has come often enough for a plan."""
        times = self.misses.get(key, 0) + 1
        if times == 1 and len(self.misses) >= _MOST_COUNTED:
            self.misses.clear()
        self.misses[key] = times % _SEEN
        return times >= _SEEN


class Planned(NamedTuple):
    """What a line gives for a pair of traces: the values of the outputs, and log |det J|."""

    line: Line
    values: tuple[dict[Path, Any], dict[Path, Any]]
    log_abs_det: float


class Plans:
    """The plans of a transform.

    Attributes:
        off: whether it has none and gets none, because no tape can hold what it does.
        dry, rest: for how many pairs of traces there was no plan, and how many will not be looked at.
        uses, due: how often a plan was used, and the use that is compared next with the transform itself.
    """

    __slots__ = ("body", "dry", "due", "failures", "made", "off", "rest", "roots", "unchanged", "uses")

    def __init__(self) -> None:
        self.off = False
        self.failures = 0
        self.made = 0
        self.uses = self.dry = self.rest = 0
        self.due = 1
        self.roots: dict[frozenset[Any] | None, Node] = {}
        self.body: Callable[..., None] | None = None
        self.unchanged: Callable[[], bool] | None = None

    def found(self, trace: Any, aux: Any) -> Planned | bool:
        """As `find`; but where there was none for long it is not looked for."""
        if self.rest:
            self.rest -= 1
            return False
        planned = self.find(trace, aux)
        if type(planned) is not bool:
            self.dry = 0
        else:
            self.dry += 1
            if self.dry >= _DRY:
                self.dry, self.rest = 0, _REST
        return planned

    def find(self, trace: Any, aux: Any) -> Planned | bool:
        """What the plan for a pair of traces gives; if there is none, whether one should be made."""
        unchanged = self.unchanged
        if unchanged is not None and not _holds(unchanged):
            self.roots, self.unchanged, self.body = {}, None, None
        observed = trace.observed_paths
        heads = None
        if type(observed) is PathSet:
            heads = observed.heads
            if heads is None:
                return False
        node = self.roots.get(heads)
        if node is None:
            node = self.roots[heads] = Node()
        records = trace.records
        near0, known0 = near1, known1 = lookups(records)
        if aux is not None:
            near1, known1 = lookups(aux.records)
            if aux.observed_paths:
                return False
        while (where := node.where) is not None:
            side, path = where
            record = near1(path) if side else near0(path)
            if record is not None:
                support, value = record[0]._measure or measured(record[0]), record[1]
            else:
                known = known1(path) if side else known0(path)
                if known is None:
                    return False
                support, value = known
            if not support.discrete:
                return False
            key = type(value), value
            try:
                child = node.children.get(key)
            except TypeError:  # an array
                return False
            if child is None:
                return node.missed(key)
            node = child
        for line in node.lines:
            try:
                result = line.function(near0, known0, near1, known1, observed)
            except (ArithmeticError, ValueError):
                return False
            if result is not None:
                if aux is not None and aux.records.keys() != line.drawn:
                    return False
                if line.new and any(path in records for path in line.new):
                    return False
                return Planned(line, result[:2], result[2])
        return len(node.lines) < _MOST_LINES and node.missed(None)

    def is_due(self) -> bool:
        """Count a use; whether it is one of those to compare: 1, 2, 4, 7, ..., about 30 of a million."""
        self.uses += 1
        if self.uses < self.due:
            return False
        self.due = self.uses + 1 + self.uses // 2
        return True

    def learn(self, f: Any, trace: Any, aux: Any, there: Any) -> None:
        """Make a plan from a pair of traces and its image, if there can be one."""
        if self.made >= _MOST_PLANS or self.made >= _FREE_PLANS + self.uses // _USES:
            return
        try:
            self._learn(f, trace, aux, there)
            self.failures = 0
        except (Unrecordable, Exception):  # whatever the user's code does with numbers that it doesn't know
            self.failures += 1
            self.off = self.failures >= _MOST_FAILURES

    def _learn(self, f: Any, trace: Any, aux: Any, there: Any) -> None:
        body = self.body
        if body is None:
            if not hasattr(f.body, "__code__"):
                raise Unrecordable("a method's object may change")
            if not all(isinstance(value, (int, float, str)) for value in f.parameters.values()):
                raise Unrecordable("a parameter may change")
            self.unchanged = Surroundings(f.origin.function).unchanged()
            body = self.body = compile_lifted(f.origin, RECORDER)
        traces = [trace] if aux is None else [trace, aux]
        tape = record(f, body, traces)
        line = _line(tape, traces, there)
        node = self._place(trace, tape)
        _compare(line, traces, there)
        node.lines.append(line)
        self.made += 1

    def _place(self, trace: Any, tape: Tape) -> Node:
        observed = trace.observed_paths
        node = self.roots[observed.heads if type(observed) is PathSet else None]
        seen: set[tuple[int, Path]] = set()
        for side, path, value in tape.switches:
            if (side, path) in seen:
                continue
            seen.add((side, path))
            if node.lines or node.where not in (None, (side, path)):
                raise Unrecordable("which choices are read depends on numbers")
            node.where = side, path
            key = type(value), value
            if key not in node.children:
                node.children[key] = Node()
            node = node.children[key]
        if node.where is not None:
            raise Unrecordable("which choices are read depends on numbers")
        return node


def _holds(unchanged: Callable[[], bool]) -> bool:
    try:
        return unchanged()
    except ValueError:  # a variable of a function around it has no value any more
        return False


# --- making a line ---------------------------------------------------------------------------------


def _line(tape: Tape, traces: list[Any], there: Any) -> Line:
    outputs = [there.trace.records] if len(traces) == 1 else [there.trace.records, there.aux.records]
    columns: list[tuple[Written, int]] = []
    kinds: list[list[tuple[Path, type[Support], Any]]] = [[] for _ in traces]
    for written in tape.written:
        support = _measure(outputs[written.side], written.path)
        kinds[written.side].append((written.path, type(support), support.shape))
        if written.label not in (None, discrete if support.discrete else continuous):
            raise Unrecordable("the label is wrong")
        if support.discrete:
            if not written.copied and written.names:
                raise Unrecordable("a number is written to a discrete choice")
            continue
        if written.vector != (support.shape != ()) or not written.names:
            raise Unrecordable("a value of another shape")
        columns.append((written, support.dim))
    model = {written.path for written in tape.written if written.side == 0}
    old = traces[0].records
    gone = [(0, path) for path in (*model, *there.removed) if old.get(path) is not None]
    new = tuple(path for path in model if old.get(path) is None)
    rows: list[tuple[int, Path]] = []
    for key in dict.fromkeys([*gone, *((1, path) for t in traces[1:] for path in t.records)]):
        if key not in tape.looked_at:
            raise Unrecordable("a choice is neither read nor copied")
        if key in tape.seeds:
            rows.append(key)
    observed = traces[0].observed_paths
    heads = observed.heads if type(observed) is PathSet else None
    checked = {(side, path) for side, path in tape.seeds if side == 0 and (heads is None or path[0] in heads)}
    if heads is not None and any(path[0] in heads for path in model):
        raise Unrecordable("what is written may be observed elsewhere")
    function = straight_line(tape, rows, columns, checked)
    drawn = frozenset(traces[1].records) if len(traces) > 1 else frozenset()
    return Line(function, drawn, frozenset(there.removed), new, tuple(map(tuple, kinds)))


def _measure(records: Records, path: Path) -> Support:
    support = measure_in(records, path)
    if support is None or not type(support).__module__.startswith("gendsl.supports"):
        raise Unrecordable("a measure of a user's own")
    return support


def _compare(line: Line, traces: list[Any], there: Any) -> None:
    """Raise unless a line gives what the run that it was made from gave."""
    near0, known0 = near1, known1 = lookups(traces[0].records)
    if len(traces) > 1:
        near1, known1 = lookups(traces[1].records)
    result = line.function(near0, known0, near1, known1, traces[0].observed_paths)
    if result is None:
        raise Unrecordable("the run is out of the ordinary")
    *values, log_det = result
    for made, output in zip(values, there.run.outputs):  # noqa: B905 (of one trace or two)
        if [*made] != [*output.values]:
            raise Unrecordable("other choices are written")
        for path, value in made.items():
            expected = output.values[path]
            if type(value) is not type(expected) or not np.array_equal(value, expected):
                raise Unrecordable(f"another value is written: {path} {value!r} for {expected!r}")
    if not isclose(log_det, there.log_abs_det, rel_tol=1e-9, abs_tol=1e-9):
        raise Unrecordable("the determinant is another")
