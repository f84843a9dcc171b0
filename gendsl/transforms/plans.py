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
from gendsl.distributions.base import measured
from gendsl.lang.lift import compile_lifted
from gendsl.runtime.paths import PathSet
from gendsl.runtime.records import Records
from gendsl.runtime.verify import Schedule
from gendsl.supports import Support
from gendsl.transforms import ways_back
from gendsl.transforms.moves import LARGEST_SCORE, Move, Moves, scored
from gendsl.transforms.recording import RECORDER, record
from gendsl.transforms.run import continuous, discrete, finders, measure_in
from gendsl.transforms.straight_lines import Scores, WayBack, straight_line
from gendsl.transforms.surroundings import Gone, Surroundings
from gendsl.transforms.tape import Tape, Unrecordable, Written

SEEN = 16
"""How often there is no plan until one is made: that takes as long as some fifty runs."""

_MOST_LINES = 8
"""How many lines there are for the same discrete values: they differ in what was found by comparing."""

_MOST_PLANS = 256
_MOST_COUNTED = 1024
_MOST_FAILURES = 3

_RUN_FIRST, _RUN_TOGETHER, _RUN_OF = 16, 4, 256
"""How many checked steps of which there is no trace are run at first, and later how many, one after another,
of how many: one in 64, for half the price of single ones, whose code the processor has to fetch again."""

_FREE_PLANS, _USES = 16, 8
"""How many plans are made for nothing, and how often each of more must have been used."""

_DRY, _REST = 1024, 8192
"""After so many pairs of traces without a plan there is no looking for one for so many others."""


Program = tuple[Any, tuple[Any, ...], bool]
"""An auxiliary program, or None, with its arguments after the trace; and whether it is to be told, if it can
be, if the transform leads back."""


class Line(NamedTuple):
    """A straight line, and what must be so for its result to be that of the transform.

    Attributes:
        function: gives the values of the outputs and log |det J|.
        drawn: the auxiliary choices that go in.
        removed: the model's choices that the output doesn't have.
        new: the choices of the output that the model didn't have.
        kinds: for each output, the paths that were written with the class of their measure and its shape.
        moves: the same with log densities.
    """

    function: Callable[..., Any]
    drawn: frozenset[Path]
    removed: frozenset[Path]
    new: tuple[Path, ...]
    kinds: tuple[tuple[tuple[Path, type[Support], Any], ...], ...]
    moves: Moves


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
        self.misses[key] = times % SEEN
        return times >= SEEN


class Inputs(NamedTuple):
    """What is looked up in a pair of traces.

    Attributes:
        near0, known0, near1, known1: as `gendsl.transforms.run.finders`, of each.
        observed: the model's observations.
        drawn: the addresses of the auxiliary choices; None where there is no auxiliary trace.
        has: whether the model's trace has a choice.
    """

    near0: Any
    known0: Any
    near1: Any
    known1: Any
    observed: Any
    drawn: Any
    has: Callable[[Path], bool]


def inputs(trace: Any, aux: Any) -> Inputs:
    """What is looked up in a trace and an auxiliary one, or None."""
    records = trace.records
    near, known = finders(records)
    if aux is None:
        return Inputs(near, known, near, known, trace.observed_paths, None, records.__contains__)
    others = aux.records
    return Inputs(
        near, known, *finders(others), trace.observed_paths, others.keys(), records.__contains__
    )


class Planned(NamedTuple):
    """What a line gives for a pair of traces: the values of the outputs, and log |det J|.

    Attributes:
        scores: with a move, it, the log densities of the outputs, and whether it is known to lead back.
    """

    line: Line
    values: tuple[dict[Path, Any], dict[Path, Any]]
    log_abs_det: float
    scores: tuple[Move, float, float, bool] | None = None


class Plans:
    """The plans of a transform.

    Attributes:
        off: whether it has none and gets none, because no tape can hold what it does.
        dry, rest: for how many pairs of traces there was no plan, and how many will not be looked at.
        checked: for how many checked steps of which there was no trace.
        uses, due: how often a plan was used, and the use that is compared next with the transform itself.
        watch: when a run is compared with a second one.
    """

    __slots__ = (
        "around", "body", "checked", "dry", "due", "failures", "made", "off", "rest", "roots", "unchanged",
        "uses", "watch",
    )  # fmt: skip

    def __init__(self) -> None:
        self.off = False
        self.failures = 0
        self.made = 0
        self.uses = self.dry = self.rest = self.checked = 0
        self.due = 1
        self.roots: dict[frozenset[Any] | None, Node] = {}
        self.body: Callable[..., None] | None = None
        self.around: Surroundings | None = None
        self.unchanged: Callable[[], bool] | None = None
        self.watch = Schedule()

    def found(self, trace: Any, aux: Any, program: Program | None = None) -> Planned | bool:
        """As `find` for a pair of traces; but where there was none for long it is not looked for.

        Args:
            program: the auxiliary program, where the output's densities are wanted.
        """
        if self.rest:
            self.rest -= 1
            return False
        planned = self.find(inputs(trace, aux), trace, program)
        if type(planned) is not bool:
            self.dry = 0
        else:
            self.dry += 1
            if self.dry >= _DRY:
                self.dry, self.rest = 0, _REST
        return planned

    def find(self, given: Inputs, trace: Any = None, program: Program | None = None) -> Planned | bool:
        """What the plan for a pair of traces gives; if there is none, whether one should be made.

        Args:
            trace, program: the model's trace and the auxiliary program, where the output's densities are
                wanted.
        """
        unchanged = self.unchanged
        if unchanged is not None and not _holds(unchanged):
            self.roots, self.unchanged, self.body = {}, None, None
        near0, known0, near1, known1, observed, drawn, has = given
        heads = None
        if type(observed) is PathSet:
            heads = observed.heads
            if heads is None:
                return False
        node = self.roots.get(heads)
        if node is None:
            node = self.roots[heads] = Node()
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
            if drawn is not None and drawn != line.drawn:
                continue
            if program is not None and line.moves.pay() and abs(trace.log_prob) < LARGEST_SCORE:
                q, q_args, check = program
                for move in line.moves.made:
                    if move.is_of(trace, q, q_args):
                        function = move.checked if check and move.checked is not None else move.function
                        try:
                            scored = function(near0, known0, near1, known1, observed, trace)
                        except (Unrecordable, Exception):  # the usual way says what is wrong
                            continue
                        if scored is not None:
                            return Planned(line, scored[:2], scored[2], (move, *scored[3:]))
            try:
                result = line.function(near0, known0, near1, known1, observed, None)
            except (ArithmeticError, ValueError):
                return False
            if result is not None:
                if line.new and any(map(has, line.new)):
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

    def is_run(self) -> bool:
        """Count a checked step; whether it is one of those that are run all the same."""
        self.checked += 1
        return self.checked <= _RUN_FIRST or self.checked % _RUN_OF < _RUN_TOGETHER

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
            self.around = Surroundings(f.origin.function)
            self.unchanged = self.around.unchanged()
            body = self.body = compile_lifted(f.origin, RECORDER)
        traces = [trace] if aux is None else [trace, aux]
        tape = record(f, body, traces)
        line = _line(tape, traces, there)
        node = self._place(trace, tape)
        _compare(line, traces, there)
        node.lines.append(line)
        self.made += 1

    def learn_move(self, f: Any, trace: Any, q: Any, q_args: tuple[Any, ...], aux: Any, step: Any) -> None:
        """Put the densities into the line of a step, if they can be."""
        moves = step.planned.line.moves
        try:
            moves.made.append(self._move(f, trace, q, q_args, aux, step))
        except (Unrecordable, Exception):  # whatever the user's code does with numbers that it doesn't know
            moves.failures += 1

    def learn_way_back(self, f: Any, trace: Any, aux: Any, move: Move, step: Any) -> None:
        """Put the way back into a move, if it can be."""
        moves = step.planned.line.moves
        moves.ways_back += 1
        try:
            made = self._move(f, trace, move.q, move.q_args, aux, step, way_back=True)
            moves.made[:] = [made if known is move else known for known in moves.made]
        except (Unrecordable, Exception):  # the same
            return

    def _move(
        self,
        f: Any,
        trace: Any,
        q: Any,
        q_args: tuple[Any, ...],
        aux: Any,
        step: Any,
        *,
        way_back: bool = False,
    ) -> Move:
        body = self.body
        if body is None:
            raise Unrecordable("the transform has changed")
        originals = [program.compiled.original for program in (trace.gen_fn, q) if program is not None]
        around = Surroundings(*originals, programs=True, besides=self.around)
        traces = [trace] if aux is None else [trace, aux]
        after = [step.trace] if aux is None else [step.trace, step.aux]
        tape = record(f, body, traces)
        recorded = scored(tape, trace, q, q_args, step, by_object=around.compares_objects)
        line = _line(tape, traces, step, recorded.scores)
        supports = tuple(
            {w.path: measured(after[side].records[w.path][0]) for w in tape.written if w.side == side}
            for side in (0, 1)
        )
        checked = None
        if way_back:
            back = ways_back.way_back(tape, f, body, traces, after, recorded.choices, line.removed)
            checked = _line(tape, traces, step, recorded.scores, back).function
        holds = around.unchanged()
        move = Move(line.function, checked, q, q_args, recorded.form, holds, supports)  # type: ignore[arg-type]
        _compare_move(move, line, trace, aux, step)
        return move

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
    except Gone:
        return False


# --- making a line ---------------------------------------------------------------------------------


def _line(
    tape: Tape,
    traces: list[Any],
    there: Any,
    scores: Scores | None = None,
    way_back: WayBack | None = None,
) -> Line:
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
    if heads is not None and any(path[0] in heads for path in (*model, *there.removed)):
        raise Unrecordable("what is written may be observed elsewhere")
    function = straight_line(tape, rows, columns, checked, scores, way_back)
    drawn = frozenset(traces[1].records) if len(traces) > 1 else frozenset()
    return Line(function, drawn, frozenset(there.removed), new, tuple(map(tuple, kinds)), Moves())


def _measure(records: Records, path: Path) -> Support:
    support = measure_in(records, path)
    if support is None or not type(support).__module__.startswith("gendsl.supports"):
        raise Unrecordable("a measure of a user's own")
    return support


def _compare(line: Line, traces: list[Any], there: Any) -> None:
    """Raise unless a line gives what the run that it was made from gave."""
    given = inputs(traces[0], traces[1] if len(traces) > 1 else None)
    result = line.function(*given[:5], None)
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


def _compare_move(move: Move, line: Line, trace: Any, aux: Any, step: Any) -> None:
    """Raise unless a move gives what the step that it was made from gave."""
    before = step.planned.line
    if not move.is_of(trace, move.q, move.q_args) or line[1:5] != before[1:5]:
        raise Unrecordable("it isn't a move of this trace")
    given = inputs(trace, aux)[:5]
    result = move.function(*given, trace)
    if result is None:
        raise Unrecordable("the run is out of the ordinary")
    *values, log_det, score, aux_score, _ = result
    if move.checked is not None and move.checked(*given, trace)[2:] != (*result[2:-1], True):
        raise Unrecordable("it doesn't lead back")
    for made, expected in zip(values, step.planned.values, strict=True):
        if made.keys() != expected.keys() or not all(np.array_equal(made[p], expected[p]) for p in made):
            raise Unrecordable("other values are written")
    expected_aux = 0.0 if aux is None else step.aux.log_prob
    near = isclose(score, step.trace.log_prob, rel_tol=1e-9, abs_tol=1e-9)
    if not near or not isclose(aux_score, expected_aux, rel_tol=1e-9, abs_tol=1e-9):
        raise Unrecordable("the log densities are others")
    if log_det != step.log_abs_det:
        raise Unrecordable("the determinant is another")
