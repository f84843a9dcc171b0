"""Compare a trace of the compiled runtime with what the reference runtime makes of the same choices.

The reference runtime executes the whole program each time, so its cost is spread over many steps:

- a move with `check=True` compares the first few proposals on a program, and one in `_PERIOD` after, fewer
  the more choices there are;
- every program of few choices is compared after some of its edits whether that is asked for or not, more and
  more rarely: what the analysis of a body has not seen becomes an error then, and no wrong posterior.
"""

from __future__ import annotations

from itertools import islice
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from gendsl.choices import same_value
from gendsl.errors import RuntimeMismatchError
from gendsl.runtime.trace import ReferenceTrace, definition

if TYPE_CHECKING:
    from gendsl.runtime.compiled import CompiledTrace

_FIRST = 16
_PERIOD = 64
_TOLERANCE = 1e-9
MISMATCH_FIX = (
    "a body must be deterministic given its arguments and choices, and must not change what it has passed "
    "on; if it is and doesn't, this is a mistake in gendsl: please report it, and use model.reference until "
    "it is mended"
)
_MOST_CHOICES = 1000
"""How many choices a trace may have to be compared unasked."""
_SECONDS = 1e-3
"""What a comparison may cost for each edit until the next."""


class Schedule:
    """After which edits of a program it is compared unasked: 1, 2, 4, 7, 11, 17, ..., about 30 of a million.

    They are fewer where one costs more than a millisecond: that doesn't decide on any result, only on when a
    mistake is found.

    Attributes:
        edits: how many edits there have been.
        due: the next of them to compare after.
    """

    __slots__ = ("due", "edits")

    def __init__(self) -> None:
        self.edits = 0
        self.due = 1

    def keep(self, trace: CompiledTrace) -> None:
        """Compare a trace that is due, if its choices are few, and say when the next is."""
        self.due = self.edits + 1 + self.edits // 2
        if sum(1 for _ in islice(trace._values(), _MOST_CHOICES + 1)) > _MOST_CHOICES:
            return
        start = perf_counter()
        compare_with_reference(trace)
        self.due = max(self.due, self.edits + int((perf_counter() - start) / _SECONDS))


def is_due(trace: ReferenceTrace) -> bool:
    """Whether a proposed trace is one of those that are compared; each call counts as a proposal."""
    if type(trace) is ReferenceTrace:
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
    try:
        fresh = trace.gen_fn.reference.score(trace.args, values)
    except Exception as error:
        problem = f"the compiled runtime has a trace, the reference raises {type(error).__name__}: {error}"
        raise _mismatch(trace, problem, getattr(error, "address", None)) from error
    if not values.keys() <= fresh.records.keys():
        path = next(path for path in values if path not in fresh.records)
        raise _mismatch(trace, "the compiled runtime makes a choice that the reference doesn't", path)
    log_probs = trace.log_prob, fresh.log_prob
    if not (_close(*log_probs, 0.0) or _close(*log_probs, _size(fresh))):
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


def _size(trace: ReferenceTrace) -> float:
    """What the terms of a log probability come to without their signs, which says how it may be rounded."""
    return sum(abs(record[2]) for record in trace.records.values() if -inf < record[2] < inf)


def _close(one: float, other: float, size: float) -> bool:
    return one == other or abs(one - other) <= _TOLERANCE * (1.0 + size)


def _mismatch(trace: Any, problem: str, path: Any) -> RuntimeMismatchError:
    return RuntimeMismatchError(
        f"{trace.gen_fn.name}: {problem}",
        address=path or (),
        location=definition(trace.gen_fn),
        fix=MISMATCH_FIX,
    )
