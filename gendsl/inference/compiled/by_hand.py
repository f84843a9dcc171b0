"""Kernels that are called in a loop of the user's own, and not by `sample`.

A kernel that was called often, each time with a trace that a kernel gave, is compiled, with all others that
take turns with it: from then on a call of one of them makes its step as machine code, and gives a trace
whose choices are read where they lie. Such traces can be kept as any other: before a step may change the
choices of the one that it is called with, these are copied.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.random import Generator

from gendsl.compiler.hir.failures import NotClosed
from gendsl.inference.any_kernel import Compilable
from gendsl.inference.compiled import policy, thresholds
from gendsl.inference.compiled.looked_at import LookedAt
from gendsl.inference.compiled.mistakes import as_refusals
from gendsl.inference.compiled.texts import observed_of
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.watched import runs_whole, wanted

if TYPE_CHECKING:
    from gendsl.inference.compiled.called import Running

_LOG = logging.getLogger(__name__)
TRACES = {LookedAt, CompiledTrace, ReferenceTrace}  # the last of programs with few choices
_TODAYS = "reference", "compiled", "python"
"""The runtimes that run a step of a called kernel as today."""


@dataclass
class _Called:
    """How often a kernel was called on traces of a program.

    Attributes:
        times: how often with a trace that a kernel gave.
        refused: why it is not compiled; empty if nothing is known of that.
    """

    times: int = 0
    refused: str = ""


class _Hands(threading.local):
    """What is known of the calls in one thread.

    Attributes:
        are_off: whether kernels are called by something that has decided already how they run.
        given: the traces that kernels gave, as long as there are such.
        called: how often kernels were called, by the program, of which nothing here may hold more.
        running: those that are machine code, the last first.
    """

    def __init__(self) -> None:
        self.are_off = False
        self.given: weakref.WeakSet[Any] = weakref.WeakSet()
        self.called: weakref.WeakKeyDictionary[Any, weakref.WeakKeyDictionary[Compilable, _Called]]
        self.called = weakref.WeakKeyDictionary()
        self.running: list[Running] = []

    def called_on(self, program: Any) -> weakref.WeakKeyDictionary[Compilable, _Called]:
        """How often kernels were called on traces of a program."""
        found = self.called.get(program)
        if found is None:
            found = self.called[program] = weakref.WeakKeyDictionary()
        return found


_HANDS = _Hands()


def _may_run(trace: Any) -> bool:
    """Whether machine code may go on from a trace."""
    if type(trace) not in TRACES or trace.gen_fn.is_reference:
        return False
    return not runs_whole() and wanted() not in _TODAYS


@contextmanager
def off() -> Iterator[None]:
    """Kernels run a step at a time: what calls them has decided that."""
    before, _HANDS.are_off = _HANDS.are_off, True
    try:
        yield
    finally:
        _HANDS.are_off = before


def step(kernel: Compilable, trace: Any, rng: Generator) -> tuple[Any, Any] | None:
    """A step of a kernel as machine code; None if it is not that."""
    hands = _HANDS
    if hands.are_off or not hands.running or type(rng) is not Generator or not _may_run(trace):
        return None  # a generator of another class may draw otherwise than its bits say
    running = next((one for one in hands.running if id(kernel) in one.numbers and one.is_for(trace)), None)
    if running is None:
        return None
    hands.are_off = True
    try:
        made = running.step(running.numbers[id(kernel)], trace, rng)
        why = running.why_given_up()
    finally:
        hands.are_off = False
    if why is not None or running.is_outdated:
        hands.running.remove(running)
        for part in running.machine.parts:
            hands.called_on(trace.gen_fn)[part.kernel] = _Called(refused=why or "")
    if made is not None:
        hands.given.add(made[0])
    return made


def note(kernel: Compilable, before: Any, after: Any) -> None:
    """Note that a kernel was called with a trace, and gave another, or the same; it may be compiled now."""
    hands = _HANDS
    if hands.are_off or not _may_run(before):
        return
    on_program = hands.called_on(before.gen_fn)
    called = on_program.get(kernel)
    if called is None:
        called = on_program[kernel] = _Called()
    if before in hands.given:
        called.times += 1
        if called.times % thresholds.LEAST_CALLS == 0 and not called.refused:
            with off():
                _compile(hands, called, after)
    hands.given.add(after)


def told_of(kernel: Any, program: Any) -> str | None:
    """How a kernel that was called runs on traces of a program; None if it was not called."""
    called = _HANDS.called_on(program).get(kernel)
    if called is None:
        return None
    if any(id(kernel) in one.numbers and one.machine.model is program for one in _HANDS.running):
        return "as machine code"
    calls = f"{called.times} calls went on from another"
    return f"step by step: {called.refused or calls}"


def _compile(hands: _Hands, called: _Called, trace: Any) -> None:
    """Make machine code of a kernel that is called often, and of those that take turns, where that pays."""
    on_program, least = hands.called_on(trace.gen_fn), called.times / thresholds.OFTEN_ENOUGH
    several = {
        one: often.times
        for one, often in on_program.items()
        if often.times >= least and not often.refused
    }
    if not policy.is_worth_compiling(several, trace):
        return
    kernels, running, why = list(several), None, ""
    for check in (policy.check_called, _check_closed):  # all; else those that are closed by themselves
        kernels = _which(check, kernels, trace, on_program)
        try:
            running = _running(kernels, trace)
            break
        except NotClosed as reason:
            why = str(reason)
    if running is None:
        for one in kernels:
            on_program[one].refused = why
        return
    others = [one for one in hands.running if not one.is_for(trace)]
    hands.running[:] = [running, *others][:thresholds.MOST_RUNNING]


def _running(kernels: list[Compilable], trace: Any) -> Running | None:
    """Kernels as machine code; None if there are none."""
    from gendsl.inference.compiled.called import Running  # with the compiler

    if not kernels:
        return None
    with as_refusals(f"a kernel on {trace.gen_fn.name}"):
        return Running(kernels, trace)


def _which(
    check: Callable[[Compilable, Any], None],
    kernels: Iterable[Compilable],
    trace: Any,
    called: Mapping[Compilable, _Called],
) -> list[Compilable]:
    """The kernels for which a check doesn't say why not; of others that is noted."""
    found = []
    for one in kernels:
        try:
            with as_refusals(one.name):
                check(one, trace)
        except NotClosed as reason:
            called[one].refused = str(reason)
            _LOG.debug("%s runs step by step where it is called: %s", one.name, reason)
        else:
            found.append(one)
    return found


def _check_closed(kernel: Compilable, trace: Any) -> None:
    """Raise `NotClosed` unless a kernel can be compiled by itself."""
    from gendsl.compiler.run.closed_move import ClosedKernel  # takes long to import

    ClosedKernel(trace.gen_fn, trace.args, [kernel.move], observed_of(trace))
