"""What decides how a chain runs: as machine code, as Python text, or a step at a time by today's runtime.

Whichever it is, one seed gives one chain; so all that is decided here is how long it takes.
"""

from __future__ import annotations

import ast
import logging
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.compiler.hir import collector
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.moves import Resampling, Rotating, Updating
from gendsl.distributions import Distribution
from gendsl.inference.compiled import thresholds
from gendsl.inference.compiled.looked_at import TOO_OFTEN
from gendsl.inference.compiled.mistakes import as_refusals
from gendsl.inference.compiled.moves import Flat, Part, check_all_compiled, flattened, moves_within
from gendsl.inference.compiled.texts import compiled_text, known
from gendsl.inference.running.recording import is_read
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.verify import values_of
from gendsl.runtime.watched import is_switched_off, wanted
from gendsl.selection import select

if TYPE_CHECKING:
    from gendsl.inference.compiled.machine import Machine

FEW_DEPEND = "few choices depend on each of those that are updated one by one"
"""Why today's runtime is faster, which looks at these alone."""

_LOG = logging.getLogger(__name__)
_LOOPS = (ast.For, ast.While, ast.comprehension)

_DONE: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()
"""The work of all chains that begin with a kernel: many short ones are worth compiling, too."""


@dataclass
class Decision:
    """How a chain runs.

    Attributes:
        machine: what runs it as machine code or as Python text; None if nothing does.
        reason: why not.
    """

    machine: Machine | None
    reason: str = ""


def decide(
    kernel: Any, trace: Any, rng: Any, steps: int, thin: int, recorders: Any, *, repeats: bool = False
) -> Decision:
    """How a chain is to run: `steps` steps of a kernel from a trace, of which something is recorded.

    Args:
        thin: how many of the steps there are for each draw.
        recorders: what is recorded of a draw, by name; nothing if whole traces are kept.
        repeats: whether it is a warm-up, or a chain that can go on from a file. What these find has the same
            bits each time, so that how they run must not depend on what ran before.
    """
    runtime = wanted()
    if runtime in ("reference", "compiled"):
        return Decision(None, "GENDSL_RUNTIME says so")
    if not isinstance(trace, ReferenceTrace) or trace.gen_fn.is_reference:
        return Decision(None, "the trace is one of the reference runtime")
    try:
        with as_refusals(f"a chain of {trace.gen_fn.name}"):
            return _decision(kernel, trace, rng, steps, thin, recorders, runtime, repeats=repeats)
    except NotClosed as reason:
        return Decision(None, str(reason))


def _decision(
    kernel: Any,
    trace: Any,
    rng: Any,
    steps: int,
    thin: int,
    recorders: Any,
    runtime: str | None,
    *,
    repeats: bool,
) -> Decision:
    """The same where the runtime is not one that runs step by step.

    Raises:
        NotClosed: why nothing is compiled.
    """
    only_values = False
    flat, start = flattened(kernel), _Start(trace)
    if not runtime:
        check_all_compiled(flat, thresholds.LEAST_STEPS_A_CALL)
        work = steps * _work(flat, start)
        if not (work >= thresholds.LEAST_WORK if repeats else _is_worth_it(flat.parts, trace, work)):
            return Decision(None, "so few steps take less time than compiling them")
        _check_faster(flat, start, steps)
        read = all(map(is_read, recorders.values()))
        updates = flat.moves + _updates_in_turn(flat, start)
        if not read and thin * updates < thresholds.LEAST_STEPS_A_LOOK:
            if repeats and steps // thin < thresholds.LEAST_DRAWS_OF_FUNCTIONS:
                return Decision(None, TOO_OFTEN)
            only_values = True
    missing = why_no_machine_code()
    if missing is not None and not runtime and _is_text_slower(flat, start):
        return Decision(None, f"{FEW_DEPEND}; no machine code: {missing}")
    machine = _machine(flat, trace, rng, only_values=only_values, missing=missing)
    if recorders and missing is None:
        is_long = bool(runtime) or steps // thin >= thresholds.LEAST_DRAWS_OF_FUNCTIONS
        _give_functions(machine, trace, recorders, is_long=is_long, repeats=repeats)
    if only_values and machine.gives_functions:
        machine.only_values = False
    elif only_values and repeats:
        return Decision(None, TOO_OFTEN)
    return Decision(machine)


def is_worth_compiling(calls: Mapping[Any, int], trace: Any) -> bool:
    """Whether kernels that were called so often, each time with the last trace, are worth compiling."""
    start = _Start(trace)
    work = (times * _work(flattened(kernel), start) for kernel, times in calls.items())
    return sum(work) >= thresholds.LEAST_WORK


def _work(flat: Flat, start: _Start) -> float:
    """The work of a step of a kernel for today's runtime; see `thresholds.LEAST_WORK`."""
    work = flat.moves * (thresholds.A_STEP + start.choices)
    for part, often in zip(flat.parts, flat.often, strict=True):
        for move in moves_within(part):
            if isinstance(move, Updating):
                every, visited = len(start.selected(move)), start.in_turn(move)
                work += often * thresholds.A_STEP * max(visited - 1, 0)
                work += often * thresholds.VALUES_TRIED * start.choices * visited / max(every, 1)
    return work


def check_called(kernel: Any, trace: Any) -> None:
    """Raise `NotClosed` where a kernel that is called takes today's runtime less time than machine code."""
    missing = why_no_machine_code()
    if missing is not None:
        raise NotClosed(missing)
    _check_faster(flattened(kernel), _Start(trace))


def _check_faster(flat: Flat, start: _Start, steps: int = 0) -> None:
    """Raise `NotClosed` where steps take today's runtime less time than machine code.

    Args:
        steps: how many there are, if that is known.
    """
    most = _most_choices(flat, start)
    if start.choices > most and not _scores_parts_alone(flat, start, steps):
        raise NotClosed(f"the trace has more than {most:,} choices")
    if _takes_longer(flat, start):
        raise NotClosed(FEW_DEPEND)
    if any(isinstance(part.move, Rotating) for part in flat.parts) and _has_large_matrix(start.trace):
        most = thresholds.MOST_ROWS
        raise NotClosed(f"on the ellipse a distribution has a matrix of more than {most} rows")


class _Start:
    """The trace that steps start from.

    Attributes:
        trace: that trace.
        choices: how many it has, or that they are too many.
    """

    def __init__(self, trace: Any) -> None:
        self.trace, self.choices = trace, count_of_choices(trace)
        self._selected: dict[Any, list[Any]] = {}

    @cached_property
    def paths(self) -> list[Any]:
        """The paths of its choices, without a run of the program where their values are known."""
        scored = self.trace.scored_from
        return [path for path, _ in values_of(self.trace)] if scored is None else list(scored)

    def selected(self, move: Updating | Resampling) -> list[Any]:
        """Those that a move selects."""
        wanted = move.wanted.selection
        if wanted not in self._selected:
            self._selected[wanted] = [path for path in self.paths if path in wanted]
        return self._selected[wanted]

    def in_turn(self, move: Updating) -> int:
        """How many choices a step of a move updates: all in turn, or one."""
        every = len(self.selected(move))
        return every if move.scan == "systematic" else min(every, 1)


def count_of_choices(trace: Any) -> int:
    """How many choices a trace has; of many, only that they are too many."""
    if trace.scored_from is not None:
        return len(trace.scored_from)
    every = thresholds.MOST_CHOICES, thresholds.MOST_CHOICES_OF_LOOPS, thresholds.MOST_CHOICES_OF_FEW
    observed, most = len(trace.observed_paths), max(every)
    return observed if observed > most else sum(1 for _ in islice(values_of(trace), most + 1))


def _most_choices(flat: Flat, start: _Start) -> int:
    """How many choices a trace may have."""
    if start.choices - len(start.trace.observed_paths) <= thresholds.FEW:
        return thresholds.MOST_CHOICES_OF_FEW
    have_loops = all(
        _has_loop(getattr(one, "q", None)) or (isinstance(one, Updating) and one.scan == "systematic")
        for part in flat.parts
        for one in moves_within(part)
    )
    return thresholds.MOST_CHOICES_OF_LOOPS if have_loops else thresholds.MOST_CHOICES


def _scores_parts_alone(flat: Flat, start: _Start, steps: int) -> bool:
    """Whether each of many steps scores what has to do with one choice."""
    pays_from = start.choices / thresholds.LOADED_IN_A_STEP
    if start.choices > thresholds.MOST_CHOICES_OF_PARTS or flat.moves * steps < pays_from:
        return False
    return compiled_text(flat.parts, start.trace).scores_changes


def _has_loop(program: Any) -> bool:
    """Whether a program has a loop, or what is made by one, in its own text."""
    if not isinstance(program, GenFunction):
        return False
    return any(isinstance(node, _LOOPS) for node in program.compiled.origin.parts)


def _takes_longer(flat: Flat, start: _Start) -> bool:
    """Whether a step takes machine code longer, which looks at all choices each time that one is updated.

    Today's runtime looks at those that depend on a choice: at least at as many as if each depended on one of
    those that are updated. Where machine code looks at these alone, too, and of other moves, it is taken for
    granted that it is no slower.
    """
    native = today = updates = 0.0
    trace, choices = start.trace, start.choices
    visited: list[tuple[float, list[Any]]] = []
    for part, often in zip(flat.parts, flat.often, strict=True):
        for move in moves_within(part):
            picks = isinstance(move, Resampling) and move.picks
            if not picks and not isinstance(move, Updating):
                native += often * choices
                today += often * max(choices, thresholds.A_MOVE)
                continue
            assert isinstance(move, (Updating, Resampling))
            selected = start.selected(move)
            if selected:
                visits = often * (start.in_turn(move) if isinstance(move, Updating) else 1)
                native += visits * choices
                updates += visits * choices * isinstance(move, Updating)
                dependents = thresholds.A_DEPENDENT * choices / len(selected)
                own = thresholds.AN_UPDATE if isinstance(move, Updating) else thresholds.ANOTHER_VALUE
                today += visits * (own + dependents)
                visited.append((visits, selected))
    if native <= today:
        return False
    if native - updates <= today and compiled_text(flat.parts, trace).scores_parts:
        return False
    for visits, selected in visited:
        more = _dependents(trace, selected) - choices / len(selected)
        today += visits * thresholds.A_DEPENDENT * max(more, 0.0)
    if native <= today:
        return False
    return native - updates > today or not compiled_text(flat.parts, trace).scores_parts


def _dependents(trace: Any, selected: list[Any]) -> float:
    """How many choices have another density where one of these has another value, in the mean."""
    before, found = trace.records, []
    for k in range(1, thresholds.LOOKED_AT + 1):
        path = selected[k * len(selected) // (thresholds.LOOKED_AT + 1)]
        try:
            after = trace.regenerate(select(path), rng=k).trace.records
        except Exception:  # of any type: the user's program may not be meant for what is drawn
            _LOG.debug("another value of %s can't be looked at", path, exc_info=True)
            continue
        if path in after and after[path][1] != before[path][1]:
            stay = sum(1 for one, record in after.items() if one in before and before[one][2] == record[2])
            found.append(len(before) - stay)
    return sum(found) / len(found) if found else 0.0


def _has_large_matrix(trace: Any) -> bool:
    """Whether the distribution of a choice is given a large matrix."""
    if trace.scored_from is not None:  # it was looked at where the chain began
        return False
    return any(_rows(record[0]) > thresholds.MOST_ROWS for record in trace.records.values())


def _rows(distribution: Any) -> int:
    """How many rows the largest matrix has that a distribution is given."""
    most = 0
    for name in getattr(distribution, "parameters", ()):
        found = getattr(distribution, name, None)
        if isinstance(found, np.ndarray):
            most = max(most, len(found) if found.ndim == 2 else 0)
        elif isinstance(found, Distribution):
            most = max(most, _rows(found))
    return most


def _is_worth_it(moves: list[Part], trace: Any, work: float) -> bool:
    """Whether so much work, with what was done before, takes longer than compiling."""
    if known(moves, trace) is not None:
        return work >= thresholds.LEAST_WORK_AGAIN
    first = moves[0].kernel
    done = _DONE[first] = _DONE.get(first, 0.0) + work
    return done >= thresholds.LEAST_WORK


def why_no_machine_code() -> str | None:
    """Why there is to be no machine code; None if there is."""
    runtime = wanted()
    if runtime == "python":
        return "GENDSL_RUNTIME says so"
    if is_switched_off() and not runtime:
        return "GENDSL_NATIVE says so"
    from gendsl.compiler.llvm import native  # with the compiler, which takes long to import

    return native.available()


def _is_text_slower(flat: Flat, start: _Start) -> bool:
    """Whether Python text would take longer than today's runtime.

    A text looks at all choices in each step, at those of loops over data all at once. Today's runtime looks
    at those that depend on what a step changes.
    """
    trace, paths = start.trace, start.paths
    closed = compiled_text(flat.parts, trace)
    singly, may_change = closed.looked_at(paths)
    changed = [path for path in may_change if path not in trace.observed_paths]
    moves = [one for part in flat.parts for one in moves_within(part)]
    in_turn = max((start.in_turn(one) for one in moves if isinstance(one, Updating)), default=0)
    if not changed or max(singly, in_turn) <= thresholds.MOST_SINGLY:
        return False
    dependents = _dependents(trace, changed)
    if in_turn > thresholds.MOST_SINGLY and dependents < len(paths) / thresholds.ONE_BY_ONE:
        return True
    most = len(changed) if closed.writes_in_loops else 1
    return singly > thresholds.MOST_SINGLY + thresholds.ONE_BY_ONE * most * dependents


def _updates_in_turn(flat: Flat, start: _Start) -> float:
    """How many choices a step updates one after another, but for the first of each kernel."""
    more = 0.0
    for part, often in zip(flat.parts, flat.often, strict=True):
        for move in moves_within(part):
            if isinstance(move, Updating):
                more += often * max(start.in_turn(move) - 1, 0)
    return more


def _give_functions(
    machine: Machine, trace: Any, recorders: dict[str, Any], *, is_long: bool, repeats: bool
) -> None:
    """Let machine code give what is recorded by functions, and at addresses that rows can't hold.

    It does where it can and that is worth it: addresses alone where functions are not closed.

    Args:
        is_long: whether the chain has so many draws that they are worth compiling.
    """
    addresses = machine.readings.beyond_rows(recorders)
    every = {name: one for name, one in recorders.items() if name in addresses or not is_read(one)}
    for asked in [every, addresses] if len(addresses) < len(every) else [addresses]:
        try:
            with as_refusals("what is recorded"):
                if asked and _gives(machine, trace, asked, is_long=is_long, repeats=repeats):
                    return
        except NotClosed as reason:
            if asked is not addresses:
                machine.readings.why_called = str(reason)


def _gives(
    machine: Machine, trace: Any, recorders: dict[str, Any], *, is_long: bool, repeats: bool
) -> bool:
    """Let machine code give what is recorded; whether it does.

    Raises:
        NotClosed: it can't.
    """
    from gendsl.compiler.run import recorded_functions  # with the compiler
    from gendsl.compiler.run.native_state import NativeState

    state, choice_at = machine.state, recorded_functions.choice_at
    assert isinstance(state, NativeState)
    functions = {name: choice_at(one.address) if is_read(one) else one for name, one in recorders.items()}
    text = recorded_functions.kept(machine.closed, functions) if is_long or not repeats else None
    if not is_long and (text is None or getattr(text, "has_density", False)):
        return False
    if text is None:
        text = recorded_functions.made(machine.closed, trace.gen_fn, trace.args, functions)
    if isinstance(text, NotClosed):
        raise text
    machine.readings.give(recorded_functions.RecordedFunctions(text, state, recorders))
    return True


@collector.waiting()
def _machine(flat: Flat, trace: Any, rng: Any, *, only_values: bool, missing: str | None) -> Machine:
    from gendsl.inference.compiled.machine import Machine  # with the compiler

    return Machine(flat, trace, rng, only_values=only_values, missing=missing)
