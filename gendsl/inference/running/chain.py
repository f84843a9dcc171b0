"""One chain: its steps, from where it starts or was left to its last draw.

The numbers in a trace can differ in their last bits between one that came about by many small updates and one
that is made of the same choices at once. A trace that travels to another process, or is read from a file, is
of the second kind. So that a chain makes the same draws wherever it runs, every one starts from a trace that
is made afresh; and one that is written to files makes its trace afresh each time before it may be written.

Some of the traces that a chain comes to are compared with a second execution of the program; see
`gendsl.runtime.verify`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gendsl.errors import UnknownAddressError
from gendsl.inference.adaptation import finish_warmup, start_warmup
from gendsl.inference.any_kernel import KernelFunction, kernel_name, run_kernel
from gendsl.inference.compiled import by_hand
from gendsl.inference.compiled.looked_at import is_as_left
from gendsl.inference.compiled.policy import Decision, decide
from gendsl.inference.running.columns import Columns
from gendsl.inference.running.recording import Recorder, name_in_draws, quantities, reader_of
from gendsl.inference.running.steps import Steps
from gendsl.inference.running.tally import Tallies, count
from gendsl.interface import Trace
from gendsl.runtime.encoding import decode, encode
from gendsl.runtime.program_names import loaded_program
from gendsl.runtime.saving import latent
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.verify import Schedule, accounted, values_of

if TYPE_CHECKING:
    from gendsl.compiler.run.recorded_draws import Draws
    from gendsl.inference.compiled.machine import Machine

REPORT_EVERY = 0.1
"""Seconds between two reports of a chain's progress."""

SAMPLED = 0.02
"""Which part of its time a chain compares traces in, of what comparisons may take; the rest is for news."""

WAIT = 0.1
"""Seconds until a comparison for which there is no time yet is thought of again."""


@dataclass
class Plan:
    """What a chain is to do.

    Attributes:
        number: which chain it is, from 0.
        kernel: what makes a step.
        trace: where it starts.
        rng: its generator.
        recorders: what is recorded of a draw, by name; empty if whole traces are kept.
        draws, warmup, thin: see `sample`.
        watched: the quantity that the progress display shows.
        every: after how many steps the trace is made afresh, where the chain is written to files.
    """

    number: int
    kernel: KernelFunction
    trace: Trace
    rng: np.random.Generator
    recorders: dict[str, Recorder]
    draws: int
    warmup: int = 0
    thin: int = 1
    watched: Recorder | None = None
    every: int = 0

    @property
    def steps(self) -> int:
        """How many steps there are in all."""
        return self.warmup + self.draws * self.thin


@dataclass
class Chain:
    """What became of one chain.

    Attributes:
        rows: the recorded quantities of each draw.
        traces: the trace of each draw; empty if quantities were recorded.
        last: the trace that it stopped at.
        acceptance: what became of the proposals of each kernel after warm-up, by name.
        interrupted: whether it was stopped early.
        seconds: how long it took.
        rng_state: the state that its generator was left in.
        steps: what became of the steps of each draw.
        comparisons: how often something was compared with a second execution, since the chain started or was
            resumed.
        ran: how its steps were run, in words.
    """

    rows: Columns
    traces: Any
    last: Any
    acceptance: Tallies = field(default_factory=dict)
    interrupted: bool = False
    seconds: float = 0.0
    rng_state: Any = None
    steps: Steps = field(default_factory=Steps)
    comparisons: int = 0
    ran: str = ""

    def __len__(self) -> int:
        """The number of draws."""
        return len(self.traces) or len(self.rows)


@dataclass
class Report:
    """How far a chain is: `step` of its steps, the acceptance rates now, and the watched quantity as text.

    `seconds` is how long it has been warming up, or drawing since then; None if that isn't known.
    """

    step: int
    rates: dict[str, float]
    value: str | None = None
    seconds: float | None = None


class Position(Protocol):
    """Where a chain was left."""

    step: int
    trace: Any
    rng: np.random.Generator
    seconds: float
    acceptance: Tallies
    rows: Columns
    traces: Any
    steps: Steps


class Store(Protocol):
    """What writes a chain to files."""

    def position(self, plan: Plan) -> Position | None:
        """Where the chain was left; None if nothing has been written since it started."""

    def due(self) -> bool:
        """Whether it is time to write."""

    def write(self, plan: Plan, step: int, chain: Chain) -> None:
        """Write where the chain is, with the draws that were made since."""


Listener = Callable[[int, Report], bool | None]
"""Called with the number of a chain and how far it is; whether the chain is to stop."""


def remade(trace: Any) -> Any:
    """The trace made afresh of its arguments and choices; any other kind of trace as it is."""
    if not isinstance(trace, ReferenceTrace):
        return trace
    return _scored(trace, dict(values_of(trace)))


def _scored(trace: ReferenceTrace, values: dict[Any, Any]) -> Any:
    """The trace with the program and the arguments of another that the values of all choices make."""
    made = trace.gen_fn.score(trace.args, values)
    made.observed_paths = trace.observed_paths
    return made


def as_saved(trace: Any) -> Any:
    """The trace as it will be when it is read from a file: made afresh, and arrays in C order."""
    values = dict(values_of(trace))
    for path, value in latent(trace).items():
        values[path] = decode(encode(value, "a choice"), loaded_program)
    return _scored(trace, values)


def run_chain(plan: Plan, report: Listener | None = None, store: Store | None = None) -> Chain:
    """Run a chain to its end, or until a KeyboardInterrupt.

    Args:
        plan: what it is to do.
        report: called ten times a second or less.
        store: what writes the chain to files, and continues it from them.
    """
    chain = Chain(Columns(), [], plan.trace)
    steps = _Steps(plan, chain, report, store)
    with accounted() as account, by_hand.off():
        try:
            steps.run()
        except KeyboardInterrupt:
            chain.interrupted = True
            chain.rows.cut()
            chain.steps.cut(len(chain))
    chain.comparisons = account.made
    chain.ran = steps.how()
    chain.rng_state = plan.rng.bit_generator.state
    return chain


def warm_up(plan: Plan) -> tuple[KernelFunction, Trace]:
    """Run the warm-up of a chain; the kernel as it is then, and the trace that it came to."""
    chain = Chain(Columns(), [], remade(plan.trace))
    steps = _Steps(plan, chain, None, None)
    with accounted(), by_hand.off():
        kernel, done = steps.warm_up()
        if done < plan.warmup:
            steps.decision = steps.decide(kernel, plan.warmup)
            steps.advance(kernel, 0, plan.warmup)
    return kernel, chain.last


class _Steps:
    """The steps of a chain."""

    def __init__(self, plan: Plan, chain: Chain, report: Listener | None, store: Store | None) -> None:
        self.plan = plan
        self.chain = chain
        self.report = report
        self.store = store
        self.name = kernel_name(plan.kernel)
        self.warmup_tallies: Tallies = {}  # shown, and not kept
        self.reported = self.began = time.perf_counter()
        self.drawing = False
        self.watch = Schedule()
        self.compare_at = self.began
        self.decision: Decision | None = None
        self.given_up: Machine | None = None
        self.warmed = ""

    def run(self) -> None:
        """All of them."""
        plan, chain = self.plan, self.chain
        # a trace that is as if it were made afresh needs not be made again, if nothing will edit it
        is_fresh = not plan.warmup and is_as_left(plan.trace)
        chain.last = plan.trace if is_fresh else remade(plan.trace)
        saved = None if self.store is None else self.store.position(plan)
        kernel, step = self.warm_up()
        if saved is not None:
            plan.rng = saved.rng  # itself, as the state of its bits doesn't say how many it has spawned
            step, chain.last = saved.step, saved.trace
            chain.acceptance, chain.rows, chain.traces = saved.acceptance, saved.rows, saved.traces
            chain.seconds, chain.steps = saved.seconds, saved.steps
            self.began = time.perf_counter() - saved.seconds
            if step > plan.warmup:
                self.drawing = True
                self.began += saved.seconds * plan.warmup / step
        if step >= plan.warmup and not self.drawing:  # compiling is part of it
            self.drawing, self.began = True, time.perf_counter()
        # what goes on from a file runs as all of it was to run
        goes_on = self.store is not None and step < plan.steps
        self.decision = self.decide(kernel, plan.steps if goes_on else plan.steps - step)
        if self.decision.machine is None and chain.last is plan.trace:
            chain.last = remade(plan.trace)
        self.advance(kernel, step, plan.steps)
        self.tell(plan.steps, reader_of(chain.last))

    def warm_up(self) -> tuple[KernelFunction, int]:
        """Adapt the kernel, if it has something to adapt; what it is then, and how many steps that took."""
        plan, kernel = self.plan, self.plan.kernel
        warmup = start_warmup(kernel, self.chain.last, plan.warmup, plan.rng) if plan.warmup else kernel
        if warmup is kernel:
            return kernel, 0
        # what a warm-up finds is in no file: it is found again, from the same start
        self.decision = decide(warmup, self.chain.last, plan.rng, plan.warmup, plan.warmup, {}, repeats=True)
        self.advance(warmup, 0, plan.warmup, write=False)
        self.warmed, self.decision, self.given_up = self._how(), None, None
        return finish_warmup(warmup), plan.warmup

    def how(self) -> str:
        """How the steps were run, in words, and those of a warm-up, if that was another way."""
        drawn, warmed = self._how(), self.warmed
        differ = drawn and warmed and warmed.split()[0] != drawn.split()[0]
        return f"{drawn}; in warm-up {warmed}" if differ else drawn or warmed

    def _how(self) -> str:
        """How the last steps were run."""
        decision = self.decision
        if decision is None:
            return ""
        machine = decision.machine or self.given_up
        if machine is None:
            return f"step by step: {decision.reason}"
        left = "".join(f"; {count} by the interpreter: {why}" for why, count in machine.fallbacks.items())
        end = f"; then step by step: {decision.reason}" if decision.machine is None else ""
        others = f" but for {', '.join(machine.called)}" if machine.called else ""
        calls, why_called = machine.readings.calls.items(), machine.readings.why_called
        left += "".join(f"; {count} values of functions by Python: {why}" for why, count in calls)
        called = f"; recorded functions are called: {why_called}" if why_called else ""
        return f"{machine.ran}{others}{left}{called}{end}"

    def decide(self, kernel: KernelFunction, steps: int) -> Decision:
        """How the steps of a kernel are to be run."""
        plan = self.plan
        kept = self.store is not None
        return decide(kernel, self.chain.last, plan.rng, steps, plan.thin, plan.recorders, repeats=kept)

    def advance(self, kernel: KernelFunction, first: int, last: int, *, write: bool = True) -> None:
        """The steps after step `first` up to step `last`, a piece at a time."""
        plan, chain, every = self.plan, self.chain, self.plan.every
        while first < last:
            piece = min(last, plan.warmup) if first < plan.warmup else last
            if every:
                piece = min(piece, (first // every + 1) * every)
            machine = None if self.decision is None else self.decision.machine
            if machine is None:
                self.piece(kernel, first, piece)
                first = piece
            else:
                first = self.machine_piece(machine, first, piece)
                if first < piece:  # the machine was given up
                    if machine.needs_another_text:
                        self.decision = self.decide(kernel, last - first)
                    continue
            if every and (first % every == 0 or first == plan.steps):
                chain.last = as_saved(chain.last)
                store = self.store
                if store is not None and write and (first == plan.steps or store.due()):
                    store.write(plan, first, chain)

    def piece(self, kernel: KernelFunction, first: int, last: int) -> None:
        """Steps that are all in the warm-up, or all after it."""
        plan, chain, name, clock = self.plan, self.chain, self.name, time.perf_counter
        warmup, thin, recorders, rng = plan.warmup, plan.thin, plan.recorders, plan.rng
        drawing = first >= warmup
        tallies = chain.acceptance if drawing else self.warmup_tallies
        due = self.reported + REPORT_EVERY
        trace, rows, traces, note = chain.last, chain.rows, chain.traces, chain.steps.add
        started, before = clock(), chain.seconds
        if drawing and not self.drawing:
            self.drawing, self.began = True, started
        try:
            for step in range(first + 1, last + 1):
                start = clock()
                before_step = trace
                trace, info = run_kernel(kernel, trace, rng)
                now = clock()
                if now >= self.compare_at and trace is not before_step:
                    self.compare(trace, now)
                count(tallies, name, info, now - start)
                if drawing and (step - warmup) % thin == 0:
                    if recorders:
                        row = quantities(recorders, rows, reader_of(trace))
                        note(trace.log_prob, tallies)
                        rows.append(row)
                    else:
                        note(trace.log_prob, tallies)
                        traces.append(trace)
                if now >= due:
                    if self.tell(step, reader_of(trace)):
                        raise KeyboardInterrupt  # from where the run was asked for
                    due = now + REPORT_EVERY
        finally:
            chain.last = trace
            chain.seconds = before + clock() - started

    def machine_piece(self, machine: Machine, first: int, last: int) -> int:
        """The same by a machine; up to which step it has come before it was given up."""
        plan, chain, clock = self.plan, self.chain, time.perf_counter
        drawing = first >= plan.warmup
        tallies = chain.acceptance if drawing else self.warmup_tallies
        started, before = clock(), chain.seconds
        if drawing and not self.drawing:
            self.drawing, self.began = True, started
        due, told = self.reported + REPORT_EVERY, started
        if chain.last is not machine.known:
            machine.load(chain.last)
        step, now = first, started
        reason = None
        recorded = machine.recorded(plan.recorders) if drawing else None
        try:
            while step < last and reason is None:
                at_once = min(plan.thin - (step - plan.warmup) % plan.thin if drawing else last, last - step)
                is_due, draws = machine.is_due(now), 0
                is_first = at_once == plan.thin <= machine.at_once  # of the steps of a draw, which are few
                if recorded is not None and is_first and machine.beyond is None and not is_due:
                    draws = min((last - step) // plan.thin, recorded.room())
                if recorded is not None and draws:
                    made = machine.draw(recorded, draws, plan.thin)
                    self._note(made, tallies, machine)
                    is_whole = machine.finish_draw(made, plan.thin, tallies)
                    step += (made.count + is_whole) * plan.thin
                    at_once = 0
                elif is_due:
                    machine.compare(tallies)
                    at_once -= 1
                    step += 1
                if at_once and machine.beyond is None:
                    at_once = min(at_once, machine.at_once)
                    machine.sweep(at_once, tallies)
                    step += at_once
                now = clock()
                machine.counted.tell(tallies, now - told)
                told = now
                if not draws:
                    is_whole = drawing and (step - plan.warmup) % plan.thin == 0
                if is_whole:
                    if plan.recorders:
                        row = quantities(plan.recorders, chain.rows, machine.quantity)
                        chain.steps.add(machine.log_density, tallies)
                        chain.rows.append(row)
                    else:
                        chain.steps.add(machine.log_density, tallies)
                        chain.traces.append(machine.draws.trace(machine))
                if now >= due:
                    if self.tell(step, machine.quantity):
                        raise KeyboardInterrupt  # from where the run was asked for
                    due = now + REPORT_EVERY
                reason = machine.why_given_up()
                if recorded is not None and recorded.functions is not machine.readings.functions:
                    recorded = machine.recorded(plan.recorders)
        finally:
            chain.last = machine.left()
            chain.seconds = before + clock() - started
        if reason is not None:
            self.decision, self.given_up = Decision(None, reason), machine
        return step

    def _note(self, made: Draws, tallies: Tallies, machine: Machine) -> None:
        """Add what was recorded of draws."""
        names = [name_in_draws(given, recorder) for given, recorder in self.plan.recorders.items()]
        self.chain.steps.extend(made.log_prob, tallies, machine.counted.in_draws(made))
        self.chain.rows.extend(made.count, dict(zip(names, made.values, strict=True)))

    def compare(self, trace: Any, now: float) -> None:
        """Compare a trace that a step led to with a second execution of its program, and say when again.

        The first traces are compared one after another, later ones for a small part of the time.
        """
        watch = self.watch
        watch.edits += 1
        if not isinstance(trace, ReferenceTrace):
            self.compare_at = inf
        elif not watch.keep(trace):
            self.compare_at = now + WAIT
        elif watch.is_under_way:
            self.compare_at = now + watch.seconds / SAMPLED

    def tell(self, step: int, read: Callable[[Recorder], Any]) -> bool:
        """Report how far the chain is; whether it is to stop.

        Args:
            read: what a recorder gives of the trace that the chain is at.
        """
        if self.report is None:
            return False
        tallies = self.warmup_tallies if step <= self.plan.warmup else self.chain.acceptance
        seconds = time.perf_counter() - self.began
        stop = self.report(self.plan.number, report_of(self.plan, step, tallies, read, seconds))
        self.reported = time.perf_counter()
        return bool(stop)


def report_of(
    plan: Plan,
    step: int,
    tallies: Tallies,
    read: Callable[[Recorder], Any],
    seconds: float | None = None,
) -> Report:
    """How far a chain is."""
    rates = {name: tally.rate for name, tally in tallies.items()}
    return Report(step, rates, _shown(plan.watched, read), seconds)


def _shown(watched: Recorder | None, read: Callable[[Recorder], Any]) -> str | None:
    """A watched quantity as short text; None if nothing is watched."""
    if watched is None:
        return None
    try:
        value = read(watched)
    except UnknownAddressError:  # a choice that comes and goes
        return "-"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return " ".join(str(value).split())[:24]
