"""Kernels that are called by hand, once they are machine code, and the traces that they give."""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from gendsl.compiler.hir import collector
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.llvm.native_layout import ACCEPTED, IMPOSSIBLE, Word
from gendsl.compiler.moves import REPEAT, RUN
from gendsl.compiler.run.native_choices import HeldChoices
from gendsl.compiler.run.native_state import NativeState
from gendsl.inference.any_kernel import Compilable
from gendsl.inference.compiled import thresholds
from gendsl.inference.compiled.at_hand import AtHand, place_of
from gendsl.inference.compiled.looked_at import AsItWas, LookedAt
from gendsl.inference.compiled.machine import Machine
from gendsl.inference.compiled.moves import Flat, Part
from gendsl.inference.infos import Told
from gendsl.inference.running.tally import OTHER, Tally
from gendsl.runtime.change import is_same

_WORDS = 4
"""How many words the schedule has for each kernel."""
_TERMS = slice(Word.LAST_RATIO, Word.LAST_DET + 1)


def _nothing() -> None:
    """No trace, as a reference that has none."""


class Running:
    """Kernels that are machine code, on traces of one program with the same arguments.

    Attributes:
        numbers: the numbers of the kernels, by their identities.
        at: a reference to the trace that the state is at, or to where its choices are.
        others: the choices of traces that came from elsewhere, and the state was at.
        is_outdated: whether what programs find outside of themselves is not what it was.
        calls: how often they were called.
        strays: how often with a trace that had to be read, or of which more than choices was asked.
    """

    def __init__(self, kernels: Sequence[Compilable], trace: Any) -> None:
        parts = [Part(kernel, kernel.move, (kernel.name,)) for kernel in kernels]
        schedule = [word for number in range(len(parts)) for word in (RUN, number, REPEAT, 0)]  # _WORDS each
        flat = Flat(parts, schedule, 1.0, 0.0, [1.0] * len(parts))
        self.rng: Any = np.random.default_rng(0)  # until it is given another
        with collector.waiting():
            self.machine = Machine(flat, trace, self.rng)
        self.numbers = {id(kernel): number for number, kernel in enumerate(kernels)}
        self.at: Any = weakref.ref(trace)
        self.others: weakref.WeakKeyDictionary[Any, HeldChoices] = weakref.WeakKeyDictionary()
        self.is_outdated = False
        self.calls = self.strays = 0
        self.outside = self.machine.closed.found_outside()
        self.why_zero: list[Any] = [None] * self.machine.state.told_zeros

    def is_for(self, trace: Any) -> bool:
        """Whether they are for traces of the program and with the arguments of one."""
        machine = self.machine
        if trace.gen_fn is not machine.model:
            return False
        return trace.args is machine.args or is_same(trace.args, machine.args)

    @property
    def state(self) -> NativeState:
        """The memory of the machine code."""
        return self.machine.state  # type: ignore[return-value]

    def step(self, number: int, trace: Any, rng: np.random.Generator) -> tuple[Any, Any] | None:
        """A step of the kernel with a number; None if it can't make one from that trace."""
        machine = self.machine
        if not self._is_as_it_was():
            self.is_outdated = True
            return None
        self.calls += 1
        last, at = self.at(), place_of(trace) or trace
        self.at = _nothing  # until the step is made
        strays = self.strays
        if last is not at:
            if last is not None:
                self._held(last)
            if not self._go_to(trace, at):
                return None
        if isinstance(last, AtHand) and last.asked_for_more:
            self.strays, last.asked_for_more = strays + 1, False  # that took a run of the program
        if rng is not self.rng:
            self.rng = machine.rng = rng
            machine.state.draw_from(rng.bit_generator)
        state, row, tallies = self.state, machine.closed.rows[number], dict[str, Tally]()
        state.words[Word.COUNTER] = _WORDS * number
        state.begin_from(self._held(at))  # a step may change the choices where they are
        before, machine.told = state.tallies[row].tolist(), None
        if machine.is_due(time.perf_counter()):
            machine.compare(tallies)
        else:
            machine.sweep(1, tallies)
        return self._made(number, trace, before)

    def _is_as_it_was(self) -> bool:
        """Whether what programs find outside of themselves is what it was; anything may have run since."""
        closed = self.machine.closed
        try:
            return closed.changed(of_users=True) is None and closed.found_outside() == self.outside
        except NotClosed:
            return False

    def _made(self, number: int, trace: Any, before: list[int]) -> tuple[Any, Any]:
        """What became of a step of a kernel from a trace, of which so much had been counted before."""
        machine, state = self.machine, self.state
        kernel, row = machine.parts[number].kernel, machine.closed.rows[number]
        if machine.told is not None:  # it made the step itself
            info, is_another = machine.told
            if state.told_zeros > len(self.why_zero):  # by more than one where a step raised an error
                self.why_zero += [None] * (state.told_zeros - len(self.why_zero) - 1)
                self.why_zero.append(info)
            if machine.beyond is not None:
                return machine.known, info
        else:
            counted = state.tallies[row].tolist()
            is_another = counted[ACCEPTED] > before[ACCEPTED]
            is_zero = counted[IMPOSSIBLE] > before[IMPOSSIBLE]
            info = self._where_zero(row) if is_zero else None
            if info is None:
                terms = state.words[_TERMS].view(np.float64).tolist()
                ratio, model, aux, det = terms
                info = kernel.told(Told(is_another, ratio, model, aux, det, OTHER if is_zero else None))
        if not is_another:
            self.at = weakref.ref(place_of(trace) or trace)
            return trace, info
        now = AtHand(machine, AsItWas(machine.closed, machine.model, self.outside))
        self.at = weakref.ref(now)
        return LookedAt(now), info

    def _where_zero(self, row: int) -> Any:
        """What the kernel told of the first step that met a density of zero where this one did."""
        state = self.state
        where = [row, *state.words[[Word.ZERO, Word.ZERO_PLACE]].tolist()]
        for zero, info in zip(state.zeros.tolist(), self.why_zero, strict=False):
            if zero[:3] == where:
                return info
        return None

    def _held(self, at: Any) -> HeldChoices:
        """The choices of the trace that the state is at, or where they are; copied if they have not been."""
        held = self._known(at)
        if held is None:
            held = self.state.held()
            if isinstance(at, AtHand) and at.machine is self.machine:
                at.hold(held)
            else:
                self.others[at] = held
        return held

    def _known(self, at: Any) -> HeldChoices | None:
        """The choices of a trace, if they were copied from the state."""
        held = at.held if isinstance(at, AtHand) else None
        if isinstance(held, HeldChoices) and held.closed is self.machine.closed:
            return held
        return self.others.get(at)

    def _go_to(self, trace: Any, at: Any) -> bool:
        """Go to a trace that is not the last; whether machine code can go on from it."""
        machine, held = self.machine, self._known(at)
        if held is not None and self.state.go_to(held):
            machine.known, machine.observed = None, trace.observed_paths
        else:
            self.strays += 1
            try:
                machine.load(trace)
            except NotClosed:
                return False
        return True

    def why_given_up(self) -> str | None:
        """Why the kernels are not to run as machine code any more; None if they are."""
        if self.calls >= thresholds.FIRST_CALLS and self.strays > thresholds.MOST_STRAYS * self.calls:
            return "other traces are given, or more than choices is asked of them, too often"
        return self.machine.why_given_up()
