"""Traces whose choices lie where machine code left them, until more is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gendsl.address import Path
from gendsl.compiler.llvm.native_layout import ACCEPTED
from gendsl.inference.compiled.looked_at import AsItWas, LookedAt, Source
from gendsl.runtime.change import UNSET

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel
    from gendsl.compiler.run.chain_state import ChainState, KeptDraw


class Chain(Source, Protocol):
    """A chain whose draws are kept; see `Machine`."""

    closed: ChainKernel
    state: ChainState
    outside: Any
    known: Any


class AtHand:
    """Where the choices are of a trace that a called kernel gave, or of a draw that is kept.

    Attributes:
        model, args, observed: of the trace.
        log_density: its log density.
        held: its choices, once they may be changed by another step.
        as_it_was: whether what the program finds outside is what it was.
        gives_functions, asked_for_more, checks, retval: what a trace that is looked at asks of a chain.
    """

    gives_functions = True
    asked_for_more = checks = False
    retval = UNSET

    def __init__(self, machine: Source, as_it_was: AsItWas) -> None:
        self.as_it_was = as_it_was
        self.model, self.args, self.observed = machine.model, machine.args, machine.observed
        self.log_density = machine.log_density
        self.machine: Source | None = machine
        self.held: KeptDraw | None = None

    def choices(self) -> dict[Path, Any]:
        """All choices, by path."""
        machine = self.machine
        found = {} if machine is None else machine.choices()
        return self.held.choices() if self.held is not None else found

    def hold(self, held: KeptDraw) -> None:
        """Have the choices where they were copied, as another step may change them."""
        self.held, self.machine = held, None

    def choice(self, path: Path) -> Any:
        """The value of a choice; None if there is none."""
        machine = self.machine
        if machine is not None:
            found = machine.choice(path)
            if self.held is None:  # as it is unless another thread has gone on meanwhile
                return found
        assert self.held is not None
        return self.held.choice(path)

    @property
    def trace(self) -> Any:
        """The trace of today's runtime."""
        made = self.model.score(self.args, self.choices())
        made.observed_paths = self.observed
        return made


class KeptDraws:
    """The draws of a chain whose traces are kept; those between which nothing changed have one.

    Attributes:
        last: the trace of the last draw; None if the next one shares nothing with it.
        accepted: how many moves were accepted then.
        found: what was found outside of the programs then, and what says whether it still is.
    """

    def __init__(self) -> None:
        self.last: Any = None
        self.accepted = 0
        self.found: Any = None, None

    def forget(self) -> None:
        """Share nothing with the last draw."""
        self.last = None

    def current(self, machine: Chain) -> Any:
        """The trace of the last draw, if the chain is there still."""
        is_there = self.last is not None and self._accepted(machine) == self.accepted
        return self.last if is_there and self.found[0] is machine.outside else None

    def trace(self, machine: Chain) -> Any:
        """The trace that a chain is at. No program runs for it before more than values is asked for."""
        trace = self.current(machine) if machine.known is None else machine.known
        if trace is None:
            outside = machine.outside
            if self.found[1] is None or self.found[0] is not outside:
                self.found = outside, AsItWas(machine.closed, machine.model, outside)
            before = None if self.last is None else self.last.source.held
            place = AtHand(machine, self.found[1])
            place.hold(machine.state.kept_draw(before, machine.observed))
            trace = self.last = LookedAt(place)
            self.accepted = self._accepted(machine)
        return trace

    @staticmethod
    def _accepted(machine: Chain) -> int:
        return int(machine.state.tallies[:, ACCEPTED].sum())


def place_of(trace: Any) -> AtHand | None:
    """Where the choices of a trace are, if a called kernel gave it, or a chain kept it."""
    found = trace.source if type(trace) is LookedAt else None
    return found if isinstance(found, AtHand) else None
