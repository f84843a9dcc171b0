"""Chains of compiled kernels: what runs their steps, and looks at what these are made for.

Their text is machine code, or Python where there is none. A step that it can't make, because it fails there,
is made by the kernel itself on a trace, so that users see their own errors.
"""

from __future__ import annotations

import time
import weakref
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gendsl.address import Path
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.native_layout import Word
from gendsl.compiler.moves import REPEAT, RUN
from gendsl.compiler.run.chain_state import FIRST_ZERO, OTHER_THAN_OBSERVED, ChainState, followed
from gendsl.compiler.run.native_state import NativeState
from gendsl.compiler.run.recorded_draws import Draws, RecordedDraws
from gendsl.errors import RuntimeMismatchError
from gendsl.inference.any_kernel import run_kernel
from gendsl.inference.compiled import thresholds
from gendsl.inference.compiled.at_hand import KeptDraws
from gendsl.inference.compiled.comparison import check_density, difference
from gendsl.inference.compiled.counted import Counted
from gendsl.inference.compiled.looked_at import TOO_OFTEN, AsItWas, LookedAt, Values
from gendsl.inference.compiled.moves import Flat, Part, is_of_many_values
from gendsl.inference.compiled.readings import Readings
from gendsl.inference.compiled.texts import compiled, compiled_text, observed_of
from gendsl.inference.running.tally import OTHER, Tallies, Tally, count
from gendsl.runtime.change import UNSET, is_same
from gendsl.runtime.trace import definition
from gendsl.runtime.verify import MISMATCH_FIX, count_comparison, is_affordable, spend, values_of

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel
    from gendsl.compiler.run.python_state import PythonState


class Machine:
    """One chain of compiled kernels.

    Args:
        missing: why there is no machine code, so that Python text runs; None if there is.

    Attributes:
        parts: the kernels that the schedule runs.
        called: the names of those that are not compiled.
        readings: what is recorded of its current trace.
        counted: what was counted in its steps.
        fallbacks: how often a step was made by its kernel itself, by the reason.
        looked_at: the current trace for functions that are recorded, once one asked for it.
        draws: the draws whose traces are kept.
        beyond: why the machine code can't go on from the current trace; None if it can.
        at_once: how many sweeps take about as long as the machine code may run at once.
        others_ran: whether other code than this may have run, that of programs or whoever asked for a trace,
            since what the text took for constant was looked at.
        only_values: whether the chain is only worth it if recorded functions ask for no more than values.
        asked_for_more: whether one has.
        failure: why the last draws that were made at once ended early, if a step failed.
        interrupt: what ended them early, if that was an interrupt.
        swept: how many steps of the whole kernel they took until then.
        told: what a kernel told of the last step that it made itself, and whether it led to another trace.
        outside: what was found outside of the programs, which what is called may change.
        has_changed: whether that has become another.
        recorder_ran: whether a recorder was called since it was looked at.
    """

    as_it_was, checks, retval = None, False, UNSET  # a function looks at the trace that the chain is at

    def __init__(
        self, flat: Flat, trace: Any, rng: Any, *, only_values: bool = False, missing: str | None = None
    ) -> None:
        self.parts, self.rng = flat.parts, rng
        self.called = [part.name for part in flat.called]
        self.model, self.args, self.observed = trace.gen_fn, trace.args, trace.observed_paths
        self.observed_alone = observed_of(trace)
        self.missing = missing
        self.closed: ChainKernel = (compiled if missing is None else compiled_text)(self.parts, trace)
        self.fallbacks: dict[str, int] = {}
        self.beyond: str | None = None
        self.at_once, self.steps_at_once, self.draws_at_once = 1, 1000, 1
        self.others_ran, self.look_at = True, 0.0
        goes_on, seconds = trace.scored_from is not None, self.closed.seconds
        self.compare_at = self.closed.compare_at if goes_on else 0.0
        self.seconds = seconds if goes_on or seconds > thresholds.MOST_AT_A_START else 0.0
        self.only_values, self.asked_for_more = only_values, False
        self.failure: FailedText | None = None
        self.interrupt: KeyboardInterrupt | None = None
        self.swept = 0
        self.told: Any = None
        state = self._taken_over(trace)
        self.state: ChainState = self.form(cast(Any, self.closed)) if state is None else state
        self.state.start(rng.bit_generator, flat.schedule)
        self.outside = self.closed.found_outside()
        self.has_changed = self.recorder_ran = False
        self.known: Any = trace
        self.looked_at: LookedAt | None = None
        self.draws = KeptDraws()
        if state is None:
            self.load(trace)
        else:
            state.set_float(Word.LOG_DENSITY, trace.chain_density)
            state.remember(trace)
        self.readings = Readings(self.state, self.model, weakref.WeakMethod(self._look))
        self.counted = Counted(self.state, self.parts)
        self.state.prepare()

    @property
    def form(self) -> type[NativeState] | type[PythonState]:
        """What the state of the chain is."""
        if self.missing is None:
            return NativeState
        from gendsl.compiler.run.python_state import PythonState  # with what makes texts

        return PythonState

    @property
    def ran(self) -> str:
        """What runs the steps, in words."""
        why = "" if self.missing is None else f" (no machine code: {self.missing})"
        return f"as {self.form.form}{why}"

    def _taken_over(self, trace: Any) -> ChainState | None:
        """The memory of the last chain of these kernels, if it stopped at this trace."""
        try:
            last, steps, state = self.closed.left.pop()
        except IndexError:
            return None
        if last() is not trace.scored_from or state.words[Word.STEPS] != steps:
            return None
        return state if isinstance(state, self.form) else None

    def load(self, trace: Any) -> None:
        """Go on from a trace.

        Raises:
            NotClosed: it is not one that the text is for.
        """
        self.observed = trace.observed_paths
        values = trace.scored_from
        if values is None:
            values = dict(values_of(trace))
        self.state.load(values, self.observed, trace.chain_density)
        self.state.remember(trace)
        self.known = trace
        self.draws.forget()

    @property
    def trace(self) -> Any:
        """The trace that the chain is at."""
        self.others_ran = True
        if self.known is None:
            self.known = self.model.score(self.args, self.state.choices())
            self.known.observed_paths = self.observed
        elif isinstance(self.known, LookedAt):
            self.known = self.known.whole
        return self.known

    def _let_go(self) -> None:
        """Let go of the trace that was looked at, before the chain goes on; whoever has it has its values."""
        self.readings.let_go()
        if self.looked_at is not None:
            left, self.looked_at = weakref.ref(self.looked_at), None
            if (kept := left()) is not None:
                kept.keep(self.closed)

    def left(self) -> Any:
        """The trace that the chain stops at: one that goes on from there needs not make it afresh."""
        self._let_go()
        if self.beyond is not None:
            return self.known
        self.state.tell()
        if self.known is None:
            self.known = self.draws.current(self) or LookedAt(self)
            self.known.leave(self.closed, self.observed_alone)
            self.draws.forget()
        trace = self.known
        if trace.scored_from is None:
            trace.scored_from = Values(self.state.choices(), AsItWas(self.closed, self.model))
        left, steps = self.closed.left, int(self.state.words[Word.STEPS])
        left[:] = [(weakref.ref(trace.scored_from, lambda _: left.clear()), steps, self.state)]
        return trace

    @property
    def log_density(self) -> float:
        """Its log density."""
        return self.state.log_density() if self.beyond is None else float(self.known.log_prob)

    def quantity(self, recorder: Any) -> Any:
        """What is recorded of the trace."""
        return self.readings.quantity(recorder) if self.beyond is None else recorder(self.trace)

    def _look(self, recorder: Any) -> Any:
        """What a recorder gives of the trace itself."""
        self.others_ran = self.recorder_ran = True
        if self.known is not None:
            return recorder(self.known)
        if self.looked_at is None:
            self.looked_at = LookedAt(self)
        return recorder(self.looked_at)

    def choices(self) -> dict[Path, Any]:
        """All choices of the current trace, by path."""
        return self.state.choices()

    def choice(self, path: Path) -> Any:
        """The value of a choice of the current trace; None if it has none there."""
        return self.readings.choice(path)

    @property
    def gives_functions(self) -> bool:
        """Whether machine code gives the values of recorded functions, and not only of addresses."""
        return self.readings.gives_functions

    def is_due(self, now: float) -> bool:
        """Whether steps are to be compared with the reference now: the first, and those from a new structure.

        They are compared for a small part of the time, which calls that go on from one another share.
        """
        compared = self.closed.compared
        if compared < thresholds.FIRST_COMPARED:
            return compared == 0 or self.seconds <= thresholds.CHEAP or is_affordable(self.seconds)
        count = int(self.state.words[Word.COUNT])
        if count in self.closed.sizes_compared and now < self.compare_at:
            return False
        return is_affordable(self.seconds)

    def why_given_up(self) -> str | None:
        """Why the chain is not to go on as machine code; None if it is."""
        if self.beyond is not None:
            return self.beyond
        if self.only_values and self.asked_for_more:
            return TOO_OFTEN
        steps = int(self.state.words[Word.STEPS])
        most = thresholds.MOST_FALLBACKS * steps
        if steps >= thresholds.FIRST_STEPS and sum(self.fallbacks.values()) > most:
            return "too many steps are left to the reference interpreter"
        now = time.perf_counter()
        if not self.others_ran and now < self.look_at:
            return None
        self.others_ran, self.look_at = False, now + thresholds.LOOK_EVERY
        self.readings.check_outside()
        changed = self.closed.changed()
        if changed is not None:
            return f"{changed} is not what it was"
        if self.recorder_ran:
            self.recorder_ran = False
            try:
                self._look_outside()
            except NotClosed as error:
                return str(error)
        return None

    @property
    def needs_another_text(self) -> bool:
        """Whether it was given up for a choice that there was not where the text was made."""
        return self.beyond == OTHER_THAN_OBSERVED

    # --- steps ------------------------------------------------------------------------------------

    def sweep(self, times: int, tallies: Tallies) -> None:
        """So many steps of the whole kernel."""
        self._let_go()
        self.known = None
        self.state.words[Word.SWEEPS] = times
        started = time.perf_counter()
        self._finish(tallies)
        if times == self.at_once:
            seconds = time.perf_counter() - started
            if seconds < thresholds.MOST_SECONDS / 2:
                self.at_once *= 2
            elif seconds > thresholds.MOST_SECONDS:
                self.at_once = max(1, times // 2)

    def recorded(self, recorders: dict[str, Any]) -> RecordedDraws | None:
        """What records draws in machine code; None where Python says what there is."""
        return None if self.called else self.readings.in_rows(recorders)

    def draw(self, recorded: RecordedDraws, draws: int, thin: int) -> Draws:
        """Up to so many draws, of `thin` steps of the whole kernel each; what was recorded of them."""
        self._let_go()
        self.known = None
        draws = min(draws, self.draws_at_once, recorded.room())
        looked_at = self.closed.sizes_compared if is_affordable(self.seconds) else None
        recorded.begin(draws, thin, looked_at)
        started = time.perf_counter()
        self.failure = self.interrupt = None
        try:
            self.failure = self._some_steps()
            while self.failure is None and self.state.is_stopped:
                self.failure = self._some_steps()
        except KeyboardInterrupt as interrupt:
            self.interrupt = interrupt
        finally:
            self.swept = recorded.swept
            made = recorded.end()
            self.readings.draws += made.count
        if draws == self.draws_at_once and self.swept == draws * thin:
            seconds = time.perf_counter() - started
            if seconds < thresholds.MOST_SECONDS / 2:
                self.draws_at_once *= 2
            elif seconds > thresholds.MOST_SECONDS:
                self.draws_at_once = max(1, draws // 2)
        return made

    def finish_draw(self, made: Draws, thin: int, tallies: Tallies) -> bool:
        """Make a draw whole that was begun and not recorded; whether there is one."""
        if self.interrupt is not None:
            raise self.interrupt
        failure, words = self.failure, self.state.words
        if failure is None:
            words[Word.SWEEPS] = 0
            return self.swept // thin > made.count
        words[Word.SWEEPS] = thin - self.swept % thin
        self._make_step(failure, tallies)
        self._finish(tallies)
        return True

    def _make_step(self, failure: FailedText | None, tallies: Tallies) -> None:
        """Make a step by its kernel itself, for a reason; for none where that is not compiled."""
        part = self.parts[self.state.kernel()]
        reason = str(failure)
        if failure is not None and reason != FIRST_ZERO:
            self.fallbacks[reason] = self.fallbacks.get(reason, 0) + 1
        self.state.tell()
        started = time.perf_counter()
        # where it is only to be told why a density is zero, the chain mostly stays where it is
        before = self._oracle(part) if reason == FIRST_ZERO else self.trace
        trace, info = run_kernel(part.kernel, before, self.rng)
        self.told = info, trace is not before
        counted: Tallies = {}
        seconds = time.perf_counter() - started
        self.counted.seconds += seconds
        count(counted, part.name, info, seconds)
        for name, tally in counted.items():
            tallies[name] = tallies.get(name, Tally()) + tally
        if reason == FIRST_ZERO:
            self.state.why_zero.append(next((why for one in counted.values() for why in one.reasons), OTHER))
        self.state.skip()
        try:
            if trace is not before:
                if trace.args is not before.args and not is_same(trace.args, before.args):
                    raise NotClosed("a kernel that changes the arguments of the model")
                self.load(trace)
            elif self.state.kept:
                self.state.remember(trace)
            if part.move is None:
                self._look_outside()
        except NotClosed as error:
            if trace.gen_fn.direct:
                given = self.model.score(trace.args, dict(values_of(trace)))
                given.observed_paths = trace.observed_paths
                trace = given
            self._give_up(str(error), trace, tallies)
            return
        self.state.forget()
        self.known = None

    def _look_outside(self) -> None:
        """Take over what code of the user's may have changed outside of programs and recorded functions.

        Raises:
            NotClosed: it is something that the text of the programs takes for constant, or is of another type
                now.
        """
        self.readings.look_outside()
        changed = self.closed.changed(of_users=True)
        if changed is not None:
            raise NotClosed(f"{changed} is not what it was")
        found = self.closed.found_outside()
        if found != self.outside:
            self.outside, self.has_changed = found, True
            self.state.renew()
            known = self.known
            self.state.remember(self.trace if self.state.kept else known)
            self.known = known

    def _give_up(self, why: str, trace: Any, tallies: Tallies) -> None:
        """Go on from a trace by the kernels themselves, for a reason."""
        self.beyond, self.known = why, trace
        self._go_on_without(tallies)

    def _go_on_without(self, tallies: Tallies) -> None:
        """Make what is left of the sweeps by the kernels themselves."""
        words, schedule = self.state.words, self.state.schedule
        while words[Word.SWEEPS] > 0:
            at = int(words[Word.COUNTER])
            code, argument = schedule[at : at + 2].tolist()
            if code == RUN:
                part = self.parts[argument]
                started = time.perf_counter()
                self.known, info = run_kernel(part.kernel, self.known, self.rng)
                seconds = time.perf_counter() - started
                self.counted.seconds += seconds
                count(tallies, part.name, info, seconds)
                at += 2
            else:
                at = followed(schedule, at, self.rng.random)
                words[Word.SWEEPS] -= code == REPEAT
            words[Word.COUNTER] = at

    def compare(self, tallies: Tallies) -> None:
        """Make the steps of one sweep, and compare the first of them with the reference.

        Raises:
            NotDeterministicError: the model finds something else outside of itself than before.
            RuntimeMismatchError: the machine code does something else than the reference.
        """
        state = self.state
        state.words[Word.SWEEPS] = 1
        self._let_go()
        self.readings.compares = True
        part = self._first_compiled(tallies)
        if part is None:
            return
        started = time.perf_counter()
        self.closed.sizes_compared.add(int(state.words[Word.COUNT]))
        steps, before = int(state.words[Word.STEPS]), self._oracle(part)
        if self.has_changed:
            check_density(self.model, self.log_density, before.log_prob)
        rng = np.random.Generator(type(self.rng.bit_generator)())
        rng.bit_generator.state = self.rng.bit_generator.state
        state.tell()
        self.known = None
        failure = state.go_on(last=steps + 1)
        if failure is None:
            expected, info = part.kernel(before, rng)
            rules = [memory.one.found for memory in self.closed.memories.values()]
            numbers = [number for rule in rules for number in rule.numbers]
            state.tell()  # which that kernel has told what it found
            found = [number for rule in rules for number in rule.numbers]
            problem, path = difference(
                state, expected, info, (self.rng, rng), list(zip(found, numbers, strict=True))
            )
            if problem:
                raise RuntimeMismatchError(
                    f"{part.name}: the {self.form.form} of a step {problem}",
                    address=path,
                    location=definition(self.model),
                    fix=f"{MISMATCH_FIX}; with GENDSL_RUNTIME=compiled it is not used",
                )
            self.closed.compared += 1
            count_comparison()
        self.seconds = time.perf_counter() - started
        spend(self.seconds)
        self.compare_at = started + self.seconds / thresholds.SAMPLED
        self.closed.seconds, self.closed.compare_at = self.seconds, self.compare_at
        if failure is not None:
            self._make_step(failure, tallies)
        self._finish(tallies)

    def _first_compiled(self, tallies: Tallies) -> Part | None:
        """Go on to the first step of a sweep that is compiled; None if there is none."""
        state, words = self.state, self.state.words
        while words[Word.SWEEPS] > 0:
            state.go_on(limit=int(words[Word.STEPS]))
            if words[Word.SWEEPS] <= 0 or self.beyond is not None:
                break
            part = self.parts[state.kernel()]
            if part.move is not None:
                return part
            self._make_step(None, tallies)
        return None

    def _oracle(self, part: Part) -> Any:
        """The current trace, as one on which a step says what is to come of it: of the reference interpreter.

        That runs the whole program for each value that a choice is given. So where a step gives many choices
        other values, it is the trace of today's runtime, which is compared with the reference by itself.
        """
        known = self.known
        if is_of_many_values(part):
            return self.trace
        self.others_ran = True
        values = self.state.choices() if known is None else dict(values_of(known))
        reference = self.model.reference.score(self.args, values)
        reference.observed_paths = self.observed
        return reference

    def _finish(self, tallies: Tallies) -> None:
        """Make what is left of the sweeps."""
        while self.state.words[Word.SWEEPS] > 0:
            failure = self._some_steps()
            if failure is not None or self.state.waits:
                self._make_step(failure, tallies)

    def _some_steps(self) -> FailedText | None:
        """Some of the steps that are left, in a time after which Python is to look; why one failed."""
        words, started = self.state.words, time.perf_counter()
        steps = int(words[Word.STEPS])
        failure = self.state.go_on(limit=steps + self.steps_at_once)
        if failure is None and not self.state.waits:
            if time.perf_counter() - started > thresholds.MOST_SECONDS:
                self.steps_at_once = max(1, self.steps_at_once // 2)
            elif words[Word.STEPS] - steps == self.steps_at_once:
                self.steps_at_once *= 2
        return failure
