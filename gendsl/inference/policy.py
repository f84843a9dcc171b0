"""What decides how a chain runs: as machine code, or a step at a time by today's runtime.

Whichever it is, one seed gives one chain; so all that is decided here is how long it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gendsl.compiler.moves import NotClosed
from gendsl.inference.moves import Part, flattened
from gendsl.inference.recording import is_read
from gendsl.runtime.trace import ReferenceTrace
from gendsl.runtime.watched import runs_native

if TYPE_CHECKING:
    from gendsl.inference.machine import Machine

LEAST_STEPS = 5000
"""How many steps of single kernels a chain must have, to be worth compiling."""

LEAST_STEPS_A_DRAW = 10
"""How many of them there must be for each draw of which a whole trace is needed, which takes long to make."""


@dataclass
class Decision:
    """How a chain runs.

    Attributes:
        machine: what runs it as machine code; None if nothing does.
        reason: why not.
    """

    machine: Machine | None
    reason: str = ""


def decide(kernel: Any, trace: Any, rng: Any, steps: int, thin: int, recorders: Any) -> Decision:
    """How a chain is to run: `steps` steps of a kernel from a trace, of which something is recorded.

    Args:
        thin: how many of the steps there are for each draw.
        recorders: what is recorded of a draw, by name; nothing if whole traces are kept.
    """
    wanted = runs_native()
    if wanted is False:
        return Decision(None, "GENDSL_NATIVE or GENDSL_RUNTIME says so")
    if not isinstance(trace, ReferenceTrace) or trace.gen_fn.is_reference:
        return Decision(None, "the trace is one of the reference runtime")
    try:
        moves, schedule, a_sweep = flattened(kernel)
        if not wanted:
            if steps * a_sweep < LEAST_STEPS:
                return Decision(None, f"a chain of fewer than {LEAST_STEPS} steps")
            read = bool(recorders) and all(map(is_read, recorders.values()))
            if not read and thin * a_sweep < LEAST_STEPS_A_DRAW:
                return Decision(None, "whole traces are needed too often")
        return _compiled(moves, schedule, trace, rng)
    except NotClosed as reason:
        return Decision(None, str(reason))


def _compiled(moves: list[Part], schedule: list[int], trace: Any, rng: Any) -> Decision:
    from gendsl.compiler import native  # with the compiler, which takes long to import
    from gendsl.inference.machine import Machine

    missing = native.available()
    return Decision(None, missing) if missing is not None else Decision(Machine(moves, schedule, trace, rng))
