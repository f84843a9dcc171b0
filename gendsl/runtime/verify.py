"""Compare a trace of the compiled runtime with what the reference runtime makes of the same choices.

A move with `check=True` does so for the first few proposals on a program and for one in `_PERIOD` after,
fewer the more choices there are, since the reference runtime executes the whole program each time: its cost
is spread over many steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.choices import same_value
from gendsl.errors import RuntimeMismatchError
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.trace import ReferenceTrace, definition

_FIRST = 16
_PERIOD = 64
_TOLERANCE = 1e-9


def is_due(trace: ReferenceTrace) -> bool:
    """Whether a proposed trace is one of those that are compared; each call counts as a proposal."""
    if not isinstance(trace, CompiledTrace):
        return False
    compiled = trace.gen_fn.compiled
    compiled.checked[0] += 1
    count = compiled.checked[0]
    return count <= _FIRST or count % compiled.checked[1] == 0


def compare_with_reference(trace: ReferenceTrace) -> None:
    """Raise unless the reference runtime gives a trace's choices the same log density and value.

    Raises:
        RuntimeMismatchError: it doesn't; this is a mistake of gendsl's, or the program is not deterministic.
    """
    values = trace.choices.to_flat_dict()
    trace.gen_fn.compiled.checked[1] = max(_PERIOD, len(values) // 4)
    fresh = trace.gen_fn.reference.score(trace.args, values)
    size = sum(abs(record[2]) for record in fresh.records.values())
    for path in values:
        if path not in fresh.records:
            raise _mismatch(trace, "the compiled runtime makes a choice that the reference doesn't", path)
    if not _close(trace.log_prob, fresh.log_prob, size):
        apart = (p for p, r in fresh.records.items() if not _close(trace.records[p][2], r[2], abs(r[2])))
        problem = f"the compiled runtime has log_prob {trace.log_prob}, the reference {fresh.log_prob}"
        raise _mismatch(trace, problem, next(apart, ()))
    plain = _is_plain(trace.retval) and _is_plain(fresh.retval)
    if plain and not same_value(trace.retval, fresh.retval, rtol=_TOLERANCE, atol=_TOLERANCE):
        raise _mismatch(
            trace, f"the compiled runtime returns {trace.retval!r}, the reference {fresh.retval!r}", None
        )


def _is_plain(value: Any) -> bool:
    """Whether a value has parts that can be compared; objects made anew each time may equal nothing."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return isinstance(value, (float, int, str, bytes, np.ndarray, np.generic, type(None)))


def _close(one: float, other: float, size: float) -> bool:
    return one == other or abs(one - other) <= _TOLERANCE * (1.0 + size)


def _mismatch(trace: Any, problem: str, path: Any) -> RuntimeMismatchError:
    return RuntimeMismatchError(
        f"{trace.gen_fn.name}: {problem}",
        address=path or (),
        location=definition(trace.gen_fn),
        fix="a body must be deterministic given its arguments and choices, and must not change what it has "
        "passed on; if it is and doesn't, this is a mistake in gendsl: please report it, and use "
        "model.reference until it is mended",
    )
