"""Chains of compiled kernels: what runs them, compares steps with the reference, and tells what became of it.

All of this is about one state of one chain, and so one module, of some 550 lines.

Their text is machine code, or Python where there is none. A step that it can't make, because it fails there,
is made by the kernel itself on a trace, so that users see their own errors.
"""

from __future__ import annotations

import math
import time
import weakref
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gendsl.address import Path
from gendsl.choices import same_value
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.native_layout import (
    ACCEPTED,
    CYCLES,
    IMPOSSIBLE,
    LOG_AUX,
    LOG_DET,
    LOG_RATIO,
    PROPOSED,
    WEIGHED,
    Word,
)
from gendsl.compiler.llvm.recorded_values import is_same as is_same_value
from gendsl.compiler.moves import REPEAT, RUN, Picked, Transition
from gendsl.compiler.run.chain_reading import choice_reader, reader
from gendsl.compiler.run.chain_state import FIRST_ZERO, OTHER_THAN_OBSERVED, ChainState, followed
from gendsl.compiler.run.native_state import NativeState
from gendsl.compiler.run.recorded_draws import Draws, RecordedDraws, entry_at
from gendsl.errors import NotDeterministicError, RuntimeMismatchError
from gendsl.inference.compiled import thresholds
from gendsl.inference.compiled.looked_at import TOO_OFTEN, AsItWas, LookedAt, Values
from gendsl.inference.compiled.moves import Flat, Part, is_of_many_values
from gendsl.inference.compiled.texts import compiled, compiled_text, observed_of
from gendsl.inference.compose import ComposedInfo
from gendsl.inference.kernel import run_kernel
from gendsl.inference.running.recording import is_read
from gendsl.inference.running.tally import OTHER, Tallies, Tally, count
from gendsl.runtime.change import is_same
from gendsl.runtime.trace import definition
from gendsl.runtime.verify import MISMATCH_FIX, count_comparison, is_affordable, spend, values_of

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel
    from gendsl.compiler.run.python_state import PythonState
    from gendsl.compiler.run.recorded_functions import RecordedFunctions

_TOLERANCE = 1e-9


class Machine:
    """One chain of compiled kernels.

    Args:
        missing: why there is no machine code, so that Python text runs; None if there is.

    Attributes:
        parts: the kernels that the schedule runs.
        called: the names of those that are not compiled.
        names: what is counted, by the rows of the tallies.
        untold: for each whether the terms of its ratio are not told.
        fallbacks: how often a step was made by its kernel itself, by the reason.
        looked_at: the current trace for functions that are recorded, once one asked for it.
        beyond: why the machine code can't go on from the current trace; None if it can.
        at_once: how many sweeps take about as long as the machine code may run at once.
        others_ran: whether other code than this may have run, that of programs or whoever asked for a trace,
            since what the text took for constant was looked at.
        only_values: whether the chain is only worth it if recorded functions ask for no more than values.
        asked_for_more: whether one has.
        in_order: the names in the order in which the tallies were told last.
        failure: why the last draws that were made at once ended early, if a step failed.
        interrupt: what ended them early, if that was an interrupt.
        swept: how many steps of the whole kernel they took until then.
        functions: the recorded functions that machine code gives the values of, if there are any.
        why_called: why Python calls them, where it does.
        calls: how often it did as machine code failed, by the reason.
        told: what a kernel told of the last step that it made itself, and whether it led to another trace.
        outside: what was found outside of the programs, which what is called may change.
        has_changed: whether that has become another.
        recorder_ran: whether a recorder was called since it was looked at.
    """

    as_it_was = None  # a function looks at the trace that the chain is at

    def __init__(
        self, flat: Flat, trace: Any, rng: Any, *, only_values: bool = False, missing: str | None = None
    ) -> None:
        self.parts, self.rng = flat.parts, rng
        self.called = [part.name for part in flat.called]
        self.names = [name for part in self.parts for name in part.names]
        every = [part.move.parts if isinstance(part.move, Picked) else [part.move] for part in self.parts]
        self.untold = [isinstance(move, Transition) for moves in every for move in moves]
        self.model, self.args, self.observed = trace.gen_fn, trace.args, trace.observed_paths
        self.observed_alone = observed_of(trace)
        self.missing = missing
        self.closed: ChainKernel = (compiled if missing is None else compiled_text)(self.parts, trace)
        self.fallbacks: dict[str, int] = {}
        self.beyond: str | None = None
        self.at_once, self.steps_at_once, self.draws_at_once = 1, 1000, 1
        self.others_ran, self.look_at = True, 0.0
        self.compare_at = self.seconds = self.told_seconds = 0.0
        if trace.scored_from is not None:  # a chain that goes on
            self.compare_at, self.seconds = self.closed.compare_at, self.closed.seconds
        self.readers: dict[Any, Any] = {}
        self.only_values, self.asked_for_more = only_values, False
        self.in_order: list[str] = []
        self.failure: FailedText | None = None
        self.interrupt: KeyboardInterrupt | None = None
        self.swept = 0
        self.functions: RecordedFunctions | None = None
        self.why_called = ""
        self.calls: dict[str, int] = {}
        self.told: Any = None
        self.function_values: dict[str, Any] | None = None
        self.compares_functions, self.draws_given = True, 0
        self.choice_readers: dict[Path, Any] = {}
        state = self._taken_over(trace)
        self.state: ChainState = self.form(cast(Any, self.closed)) if state is None else state
        self.state.start(rng.bit_generator, flat.schedule)
        self.outside = self.closed.found_outside()
        self.has_changed = self.recorder_ran = False
        self.known: Any = trace
        self.looked_at: LookedAt | None = None
        if state is None:
            self.load(trace)
        else:
            state.set_float(Word.LOG_DENSITY, trace.chain_density)
            state.remember(trace)
        tallies = self.state.tallies
        self.counted = tallies.tolist(), tallies.view(np.float64).tolist()
        self.zeros_counted = self.state.zeros.copy()
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
        self.function_values = None
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
            self.known = LookedAt(self)
            self.known.leave(self.closed, self.observed_alone)
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
        if self.beyond is not None:
            return recorder(self.trace)
        functions = self.functions
        if functions is not None:
            values = self._values_of_functions(functions)
            for name, one in functions.recorders.items():
                if one is recorder and name in values:
                    return values[name]
        return self._read(recorder)

    def _read(self, recorder: Any) -> Any:
        """What is recorded of the trace, where Python says what that is."""
        if recorder not in self.readers:
            self.readers[recorder] = reader(self.state, recorder.address) if is_read(recorder) else None
        read = self.readers[recorder]
        value = None if read is None else read()
        if value is not None:
            return value
        self.others_ran = self.recorder_ran = True
        if self.known is not None:
            return recorder(self.known)
        if self.looked_at is None:
            self.looked_at = LookedAt(self)
        return recorder(self.looked_at)

    def _values_of_functions(self, functions: RecordedFunctions) -> dict[str, Any]:
        """What recorded functions give of the current trace; nothing where Python is to say it."""
        if self.function_values is None:
            self.draws_given += 1
            try:
                self.function_values = functions.read()
            except FailedText as failure:
                self.calls[str(failure)] = self.calls.get(str(failure), 0) + 1
                self.function_values = {}
            if self.compares_functions and self.function_values:
                self._compare_functions(functions, self.function_values)
        return self.function_values

    def _compare_functions(self, functions: RecordedFunctions, values: dict[str, Any]) -> None:
        """Compare what machine code gives of recorded functions with what they give themselves.

        Raises:
            RuntimeMismatchError: that is something else, and was the same before.
        """
        self.compares_functions = False
        for name, recorder in functions.recorders.items():
            expected = self._read(recorder)
            if is_same_value(values[name], expected):
                continue
            changed = functions.text.outside.changed()
            problem = f"machine code gives {values[name]!r}, and the function {expected!r}"
            if changed is None and functions.text.compared:
                raise RuntimeMismatchError(
                    f"the recorded {name}: {problem}",
                    location=definition(self.model),
                    fix=f"{MISMATCH_FIX}; with GENDSL_RUNTIME=compiled it is not used",
                )
            self.call_functions(problem if changed is None else f"{changed} is not what it was")
            values.clear()
            return
        functions.text.compared += 1
        count_comparison()

    def beyond_rows(self, recorders: dict[str, Any]) -> dict[str, Any]:
        """Of what is recorded the addresses of choices that rows can't hold: below calls, or of matrices."""
        if not isinstance(self.state, NativeState):
            return {}
        addresses = {name: one for name, one in recorders.items() if is_read(one)}
        found = {name: entry_at(self.state, one.address) for name, one in addresses.items()}
        return {name: addresses[name] for name, (entry, may_be) in found.items() if may_be and entry is None}

    @property
    def gives_functions(self) -> bool:
        """Whether machine code gives the values of recorded functions, and not only of addresses."""
        return self.functions is not None and not all(map(is_read, self.functions.recorders.values()))

    def give(self, functions: RecordedFunctions) -> None:
        """Let machine code give the values of recorded functions."""
        self.functions, self.function_values, self.compares_functions = functions, None, True

    def call_functions(self, reason: str) -> None:
        """Call recorded functions in Python from now on, for a reason."""
        self.functions, self.function_values, self.why_called = None, {}, reason

    def choices(self) -> dict[Path, Any]:
        """All choices of the current trace, by path."""
        return self.state.choices()

    def choice(self, path: Path) -> Any:
        """The value of a choice of the current trace; None if it has none there."""
        try:
            read = self.choice_readers[path]
        except KeyError:
            if len(self.choice_readers) >= thresholds.MOST_READERS:  # addresses below calls may be any number
                self.choice_readers.clear()
            read = self.choice_readers[path] = choice_reader(self.state, path)
        return None if read is None else read()

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
        if self.functions is not None:
            changed = self.functions.text.outside.changed()
            if changed is not None:
                self.call_functions(f"{changed} is not what it was")
            elif sum(self.calls.values()) > (
                thresholds.FIRST_STEPS + thresholds.MOST_FALLBACKS * self.draws_given
            ):
                self.call_functions("machine code fails too often")
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
        if not isinstance(self.state, NativeState) or self.called or not recorders:
            return None
        names, given = list(recorders), {} if self.functions is None else self.functions.recorders
        left = {place: recorders[name] for place, name in enumerate(names) if name not in given}
        if not all(map(is_read, left.values())):
            return None
        paths = {place: one.address for place, one in left.items()}
        return RecordedDraws.of(self.state, paths, self.functions, list(map(names.index, given)))

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
            self.draws_given += len(made.log_prob)
        if draws == self.draws_at_once and self.swept == draws * thin:
            seconds = time.perf_counter() - started
            if seconds < thresholds.MOST_SECONDS / 2:
                self.draws_at_once *= 2
            elif seconds > thresholds.MOST_SECONDS:
                self.draws_at_once = max(1, draws // 2)
        return made

    def counts_of(self, made: Draws) -> dict[str, tuple[Any, Any]]:
        """How often kernels have run and accepted since it was told last, when draws were made, by name."""
        found: dict[str, tuple[Any, Any]] = {}
        if made.counts:
            before = np.array([[row[PROPOSED], row[ACCEPTED]] for row in self.counted[0]])
            since = np.concatenate(made.counts) - before
            for number, name in enumerate(self.names):
                proposed, accepted = found.get(name, (0, 0))
                found[name] = proposed + since[:, number, 0], accepted + since[:, number, 1]
        return {name: columns for name, columns in found.items() if columns[0][-1]}

    def finish_draw(self, made: Draws, thin: int, tallies: Tallies) -> bool:
        """Make a draw whole that was begun and not recorded; whether there is one."""
        if self.interrupt is not None:
            raise self.interrupt
        failure, words = self.failure, self.state.words
        if failure is None:
            words[Word.SWEEPS] = 0
            return self.swept // thin > len(made.log_prob)
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
        self.told_seconds += seconds
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
        if self.functions is not None:
            try:
                self.functions.look_outside()
            except NotClosed as error:
                self.call_functions(str(error))
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
                self.told_seconds += seconds
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
        self.compares_functions = True
        part = self._first_compiled(tallies)
        if part is None:
            return
        started = time.perf_counter()
        self.closed.sizes_compared.add(int(state.words[Word.COUNT]))
        steps, before = int(state.words[Word.STEPS]), self._oracle(part)
        if self.has_changed:
            self._check_density(before)
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
            self._check(part, expected, info, rng, list(zip(found, numbers, strict=True)))
            self.closed.compared += 1
            count_comparison()
        self.seconds = time.perf_counter() - started
        spend(self.seconds)
        self.compare_at = started + self.seconds / thresholds.SAMPLED
        self.closed.seconds, self.closed.compare_at = self.seconds, self.compare_at
        if failure is not None:
            self._make_step(failure, tallies)
        self._finish(tallies)

    def _check_density(self, reference: Any) -> None:
        """
        Raises:
            NotDeterministicError: the current trace has another log density as it is made of what there is
                outside of the model now.
        """
        found, now = self.log_density, reference.log_prob
        if not _close(found, now, abs(found) + abs(now)):
            raise NotDeterministicError(
                f"{self.model.name} has the log_prob {found} in the chain, and {now} with what it finds "
                "outside of itself now, which a kernel or a recorded function has changed",
                location=definition(self.model),
                fix="what changes while a chain runs may be used by proposals and transforms, and not by the "
                "model: give that what changes as an argument, and change it by trace.update(args=...)",
            )

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

    def _check(
        self, part: Part, expected: Any, info: Any, rng: Any, numbers: list[tuple[float, float]]
    ) -> None:
        """Raise unless the last step was what the reference made of it, and the numbers of warm-ups, too."""
        words = self.state.words
        found = float(words[Word.LAST_RATIO : Word.LAST_RATIO + 1].view(np.float64)[0])
        size = abs(expected.log_prob) + abs(self.log_density)
        problem, path = "", None
        values = dict(values_of(expected))
        mine = self.state.choices()
        ratio = _ratio(info)
        if not _close(found, ratio, size + (abs(ratio) if math.isfinite(ratio) else 0.0)):
            problem = f"has the log acceptance ratio {found}, and the reference {ratio}"
        elif mine.keys() != values.keys():
            path = next(iter(mine.keys() ^ values.keys()))
            problem = f"has {len(mine)} choices after the step, and the reference {len(values)}"
        elif str(rng.bit_generator.state) != str(self.rng.bit_generator.state):
            problem = "draws other random numbers than the reference"
        elif not _close(self.log_density, expected.log_prob, size):
            problem = f"has the log density {self.log_density}, and the reference {expected.log_prob}"
        elif not all(_close(one, other, abs(other) + size) for one, other in numbers):
            problem = f"has found in warm-up {numbers}, in each pair the reference the second"
        else:
            for at, value in values.items():
                if not same_value(value, mine[at], rtol=_TOLERANCE, atol=_TOLERANCE):
                    path, problem = at, f"has {mine[at]!r} there, and the reference {value!r}"
                    break
        if problem:
            raise RuntimeMismatchError(
                f"{part.name}: the {self.form.form} of a step {problem}",
                address=path,
                location=definition(self.model),
                fix=f"{MISMATCH_FIX}; with GENDSL_RUNTIME=compiled it is not used",
            )

    # --- what became of them ----------------------------------------------------------------------------

    def tell(self, tallies: Tallies, seconds: float) -> None:
        """Add to the tallies what was counted since they were told last, in so much time."""
        seconds, self.told_seconds = max(seconds - self.told_seconds, 0.0), 0.0
        rows, floats = self.state.tallies.tolist(), self.state.tallies.view(np.float64).tolist()
        before, floats_before = self.counted
        # steps that were made again may have taken less time
        spent = [max(row[CYCLES] - old[CYCLES], 0) for row, old in zip(rows, before, strict=True)]
        cycles = max(sum(spent), 1)
        for number, name in enumerate(self.names):
            row, old = rows[number], before[number]
            if row[PROPOSED] == old[PROPOSED]:
                continue
            tally = tallies.get(name)
            if tally is None:
                tally = tallies[name] = Tally()
            tally.proposed += row[PROPOSED] - old[PROPOSED]
            tally.accepted += row[ACCEPTED] - old[ACCEPTED]
            tally.seconds += seconds * spent[number] / cycles
            if row[WEIGHED] > old[WEIGHED]:
                sums, sums_before = floats[number], floats_before[number]
                tally.weighed += row[WEIGHED] - old[WEIGHED]
                ratios = sums[LOG_RATIO] - sums_before[LOG_RATIO]
                tally.log_ratio += ratios
                tally.log_untold += ratios if self.untold[number] else 0.0
                tally.log_aux += sums[LOG_AUX] - sums_before[LOG_AUX]
                tally.log_abs_det += sums[LOG_DET] - sums_before[LOG_DET]
            if row[IMPOSSIBLE] > old[IMPOSSIBLE]:
                self._tell_zeros(number, tally, row[IMPOSSIBLE] - old[IMPOSSIBLE])
        self.counted = rows, floats
        if list(tallies) != self.in_order:
            places = {name: place for place, name in enumerate(self.names)}  # whichever was made again first
            in_order = sorted(tallies.items(), key=lambda item: places.get(item[0], len(places)))
            tallies.clear()
            tallies.update(in_order)
            self.in_order = list(tallies)

    def _tell_zeros(self, number: int, tally: Tally, times: int) -> None:
        """Say where the density was zero."""
        state = self.state
        for place in range(int(state.words[Word.ZERO_COUNT])):
            row, _, _, often, *_ = state.zeros[place].tolist()
            new = often - int(self.zeros_counted[place, 3])
            if row == number and new > 0:
                tally.because(state.why_zero[place], new)
                self.zeros_counted[place, 3] = often
                times -= new
        if times > 0:
            tally.because(OTHER, times)


def _ratio(info: Any) -> float:
    """The log acceptance ratio of a step; of a kernel that was picked its own, or that of its weights.

    It is inf, as in the machine code, where the kernel is made of several, which have none in common.
    """
    if isinstance(info, ComposedInfo):
        ((_, picked),) = info.parts
        if picked.info.accepted:
            return float(picked.log_weight_ratio)
        info = picked.info
    return float(getattr(info, "log_accept_ratio", math.inf))


def _close(one: float, other: float, size: float) -> bool:
    return one == other or abs(one - other) <= _TOLERANCE * (1.0 + size)
