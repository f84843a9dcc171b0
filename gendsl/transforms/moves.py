"""Whole moves by plans: the log densities of what a transform leads to, from the same straight line.

Where a plan has given a transform's run (`gendsl.transforms.plans`) a few times, the model and the auxiliary
program are run once more on recorded numbers. What they score goes into the line:

    model["mu", 0] = y3              what the transform writes
    score = normal(0, 10).at(y3)     + ...

So a proposal has its acceptance ratio before there is a trace of it; only where it is accepted is the trace
made, as without a plan, and must have that log density.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isclose
from typing import Any, NamedTuple

from gendsl.address import Path
from gendsl.choices import MISSING
from gendsl.errors import RuntimeMismatchError
from gendsl.interface import CallRequest
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.trace import ReferenceTrace, definition
from gendsl.runtime.verify import MISMATCH_FIX
from gendsl.supports import Support
from gendsl.transforms.forms import PLAIN, Form, is_plain_and_same, is_short
from gendsl.transforms.recorded_programs import RecordedProgram, RecordedTrace
from gendsl.transforms.run import finders
from gendsl.transforms.straight_lines import Scores
from gendsl.transforms.surroundings import Gone
from gendsl.transforms.tape import Tape, Unrecordable, Unseen

SEEN = 64
"""How often a line has led to a trace until the densities are put into it, and how often a move has been
looked at from the other end until it is told the way back: each takes as long as a hundred steps or two."""

LARGEST_SCORE = 1e6
"""Up to which size of log p a move is made by its line, whose acceptance ratio is a difference of two sums:
beyond, the change of each term must be added up."""

_MOST = 4
"""How many moves a line has: they differ in what the model found by comparing, and in its form."""

_MOST_FAILURES = 3
_MOST_WAYS_BACK = 8

_TRIED, _OFTEN = 32, 0.6
"""After how many proposals, and from which part of them that is accepted, traces are made at once."""

_MOST_COUNTED = 1024
_TOLERANCE = 1e-8


class Move(NamedTuple):
    """A line with the log densities of what it leads to.

    Attributes:
        function: the line.
        checked: the same with the way back, if that is wanted and can be.
        q, q_args: the auxiliary program and its arguments.
        form: what the trace must be.
        unchanged: what tells whether everything that the programs find outside of themselves is as it was.
        supports: for each output a measure like that of each choice that it writes.
    """

    function: Callable[..., Any]
    checked: Callable[..., Any] | None
    q: Any
    q_args: tuple[Any, ...]
    form: Form
    unchanged: Callable[[], bool]
    supports: tuple[dict[Path, Support], dict[Path, Support]]

    def is_of(self, trace: Any, q: Any, q_args: tuple[Any, ...]) -> bool:
        """Whether it is one of a trace by an auxiliary program."""
        if q is not self.q or (q_args is not self.q_args and not _are_same(q_args, self.q_args)):
            return False
        try:
            return self.form.holds(trace) and self.unchanged()
        except Gone:
            return False


def _are_same(args: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return len(args) == len(others) and all(map(is_plain_and_same, args, others))


class Moves:
    """The moves of a line.

    Attributes:
        made: those there are.
        misses: how often the line has led to a trace since the last was made.
        looked_at: how often one of them was looked at from the other end since one was told the way back.
        failures: how often none could be made.
        ways_back: how often one was told the way back, or should have been.
        used, accepted: how many proposals the line has led to, lately, and of these how many were accepted.
    """

    __slots__ = ("accepted", "failures", "looked_at", "made", "misses", "used", "ways_back")

    def __init__(self) -> None:
        self.made: list[Move] = []
        self.misses = 0
        self.failures = 0
        self.used = self.accepted = self.ways_back = self.looked_at = 0

    def pay(self) -> bool:
        """Whether it pays to make traces only of what is accepted; where most is, densities are in vain."""
        return self.used < _TRIED or self.accepted < _OFTEN * self.used

    def note(self, accepted: bool) -> None:
        """Count a proposal."""
        self.used += 1
        self.accepted += accepted
        if self.used >= _MOST_COUNTED:
            self.used //= 2
            self.accepted //= 2

    def is_wanted(self) -> bool:
        """Count a trace that a line led to; whether a move should be made of it."""
        if len(self.made) >= _MOST or self.failures >= _MOST_FAILURES or not self.pay():
            return False
        self.misses += 1
        if self.misses < SEEN:
            return False
        self.misses = 0
        return True

    def wants_way_back(self) -> bool:
        """Count a move that was looked at from the other end; whether it should be told the way back."""
        if self.ways_back >= _MOST_WAYS_BACK:
            return False
        self.looked_at += 1
        if self.looked_at < SEEN:
            return False
        self.looked_at = 0
        return True


# --- making one ------------------------------------------------------------------------------------


class Recorded(NamedTuple):
    """What was recorded of a step besides the transform.

    Attributes:
        scores: the densities.
        form: what the model's trace must be.
        choices: what the programs saw of the new choices.
    """

    scores: Scores
    form: Form
    choices: list[dict[Path, Any]]


def scored(
    tape: Tape, trace: Any, q: Any, q_args: tuple[Any, ...], step: Any, *, by_object: bool
) -> Recorded:
    """Put what the model and the auxiliary program score of a step on the tape of its transform.

    Args:
        step: the step that is recorded, with its traces.
        by_object: as for `Form`.

    Raises:
        Unrecordable: it can't be.
    """
    first = len(tape.steps)
    written = [{w.path: w for w in tape.written if w.side == side} for side in (0, 1)]
    values = step.planned.values
    if trace.gen_fn.compiled.changes_arguments:
        raise Unrecordable("an argument may change")
    args = tuple(
        a if type(a) in PLAIN or is_short(a) else Unseen(f"args[{i}]") for i, a in enumerate(trace.args)
    )
    objects = tuple(a for a in args if type(a) not in PLAIN)
    model = RecordedProgram(tape, 0, trace.gen_fn, written[0], values[0], trace, step.trace, objects)
    model.run(CallRequest(trace.gen_fn, args, {}))
    _check_choices(model, written[0], step.trace)
    constants, choices = [float(model.score), 0.0], [model.choices]
    if q is not None:
        if not all(type(a) in PLAIN for a in q_args) or q.bound:
            raise Unrecordable("an argument may change")
        aux = RecordedProgram(tape, 1, q, written[1], values[1], None, step.aux)
        aux.run(CallRequest(q, (RecordedTrace(model.choices), *q_args), {}))
        _check_choices(aux, written[1], step.aux)
        constants[1] = float(aux.score)
        choices.append(aux.choices)
    return Recorded(Scores(first, tuple(constants)), Form(trace, model.plates, by_object=by_object), choices)


def _check_choices(run: RecordedProgram, written: dict[Path, Any], after: Any) -> None:
    """Raise unless the run made the choices of the new trace, and all that are written."""
    if run.failure is not None or not written.keys() <= run.choices.keys():
        raise Unrecordable("a choice that is written isn't made")
    made = set(after.records) if type(after) is ReferenceTrace else set()
    if type(after) is CompiledTrace:
        frames, states = (after._called.frame,), [plate.block.state for plate in run.plates]
        for block in after._called.linked.body.blocks:
            if block.state not in states:
                made.update(path for path, _ in block.records(frames, ()))
    if run.choices.keys() != made:
        raise Unrecordable("other choices are made")


# --- using one -------------------------------------------------------------------------------------


class Scored(NamedTuple):
    """A step by a plan of which there is no trace yet.

    Attributes:
        planned: what the line gave.
        move: whose line it is.
        log_weight: log p(x') - log p(x).
        log_prob: log p(x').
        log_aux: log q_x'(y').
        came_back: whether it is known that the transform leads back.
    """

    planned: Any
    move: Move
    log_weight: float
    log_prob: float
    log_aux: float
    came_back: bool

    @property
    def log_abs_det(self) -> float:
        """log |det J|."""
        return self.planned.log_abs_det  # type: ignore[no-any-return]

    def inputs(self, trace: Any, aux: Any) -> tuple[Any, ...]:
        """What is looked up in the output, by the way back; see `gendsl.transforms.plans.Inputs`."""
        records = trace.records
        near, known = finders(records)
        gone = self.planned.line.removed
        model, auxiliary = self.planned.values
        measures, others = self.move.supports

        def near_model(path: Path) -> Any:
            return None if path in model or path in gone else near(path)

        def known_model(path: Path) -> Any:
            value = model.get(path, MISSING)
            if value is not MISSING:
                return measures[path], value
            return None if path in gone else known(path)

        def known_aux(path: Path) -> Any:
            value = auxiliary.get(path, MISSING)
            return None if value is MISSING else (others[path], value)

        def has(path: Path) -> bool:
            return path in model or (path not in gone and path in records)

        drawn = None if aux is None else auxiliary.keys()
        return near_model, known_model, _nothing, known_aux, trace.observed_paths, drawn, has


def _nothing(path: Path) -> None:
    return None


def trace_of(f: Any, trace: Any, there: Scored) -> Any:
    """The trace of a step that was accepted.

    Raises:
        RuntimeMismatchError: it has another log density than the plan gave.
    """
    edit = trace.edit(there.planned.values[0])
    check_weight(f, there, trace, edit.log_weight)
    return edit.trace


def check_weight(f: Any, there: Scored, trace: Any, log_weight: float) -> None:
    """Raise unless a plan gave the log density that the new trace has.

    Raises:
        RuntimeMismatchError: it doesn't; a mistake of gendsl's, or the model is not deterministic.
    """
    size = max(1.0, abs(there.log_prob), abs(trace.log_prob))
    if not abs(there.log_weight - log_weight) <= _TOLERANCE * size:
        raise RuntimeMismatchError(
            f"{trace.gen_fn.name}, by what was kept of an earlier move of transform {f.name}: the log "
            f"probability changes by {there.log_weight}, not {log_weight}",
            location=definition(trace.gen_fn),
            fix=MISMATCH_FIX,
        )


def check_aux(f: Any, q: Any, there: Scored, log_prob: float) -> None:
    """Raise unless a plan gave the log density of the auxiliary choices.

    Raises:
        RuntimeMismatchError: it doesn't; a mistake of gendsl's, or the program is not deterministic.
    """
    if not isclose(there.log_aux, log_prob, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE):
        raise RuntimeMismatchError(
            f"{q.name}, by what was kept of an earlier move of transform {f.name}: the log probability is "
            f"{there.log_aux}, not {log_prob}",
            location=definition(q),
            fix=MISMATCH_FIX,
        )
