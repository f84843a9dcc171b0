"""Compare a trace with what a second execution of its whole program makes of the same choices.

A body must give the same for the same arguments and choices. Where it doesn't, or where the analysis of it
has missed something, nothing else would say so: the posterior would be a wrong one. So what runs is executed
again now and then, by the reference runtime, and a difference is an error:

- what edits of traces, auxiliary programs and transforms lead to: the first 16 times, and where something is
  new (choices that there were not together before, an arm of an `if` that was not taken before); then more
  and more rarely;
- in every chain the trace that it is at, whichever kernel led there; see `gendsl.inference.running.chain`;
- a move with `check=True`: the first few proposals on a program, and one in `_PERIOD` after, fewer the more
  choices there are.

But for the last, comparisons take at most `SHARE` of the time of a run (or, outside of runs, of the process):
they are left out, or come later, where they would take more. Only the first of those that take no more than
`_CHEAP` seconds are always made. That doesn't decide on any result, only on when a mistake is found.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from math import inf
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gendsl.choices import same_value
from gendsl.errors import NotDeterministicError, RuntimeMismatchError
from gendsl.runtime.lowering.suspects import CAUSES, suspects
from gendsl.runtime.trace import ReferenceTrace, definition

if TYPE_CHECKING:
    from gendsl.lang.source import Source
    from gendsl.runtime.lowering.build import Compiled

_Trace = TypeVar("_Trace", bound=ReferenceTrace)

SHARE = 0.05
"""Which part of the time comparisons may take."""

_FIRST = 16
_PERIOD = 64
_TOLERANCE = 1e-9
_CHEAP = 2e-3
"""Seconds that one of the first comparisons may take in any case."""
_EACH = 4e-6
"""Seconds that a comparison is taken to need for each choice, before there was one."""
_MOST_SHAPES = 4096
MISMATCH_FIX = (
    "a body must be deterministic given its arguments and choices, and what it finds outside of itself must "
    "stay as it is (global values, functions, attributes of objects); if that is so, this is a mistake in "
    "gendsl: please report it, and use model.reference until it is mended"
)
REPEAT_FIX = f"a body must be deterministic given its arguments and choices; {CAUSES}"


# --- when ------------------------------------------------------------------------------------------


class Account:
    """What comparisons have taken.

    Attributes:
        since: when the time began of which they may take a share.
        spent: how many seconds they have taken since.
        made: how many there were.
    """

    __slots__ = ("made", "since", "spent")

    def __init__(self) -> None:
        self.since = perf_counter()
        self.spent = 0.0
        self.made = 0

    def affordable(self) -> float:
        """How many seconds may be spent now."""
        return SHARE * (perf_counter() - self.since) - self.spent


_ACCOUNT: ContextVar[Account] = ContextVar("account", default=Account())  # noqa: B039 (of the process)


@contextmanager
def accounted() -> Iterator[Account]:
    """Let the comparisons that are made in a block be counted, and take their share of its time."""
    account = Account()
    token = _ACCOUNT.set(account)
    try:
        yield account
    finally:
        _ACCOUNT.reset(token)


def count_comparison() -> None:
    """Count a comparison."""
    _ACCOUNT.get().made += 1


def is_affordable(seconds: float) -> bool:
    """Whether a comparison may take so long now."""
    return _ACCOUNT.get().affordable() >= seconds


def spend(seconds: float) -> None:
    """Count the time that a comparison took."""
    _ACCOUNT.get().spent += seconds


class Schedule:
    """After which edits, or executions, of a program it is compared: 1 to 16, 25, 38, ..., 40 of a million.

    Attributes:
        edits: how many edits there have been.
        due: the next of them to compare after.
        compared: how many comparisons there have been.
        seconds: how long the last one took.
        shapes: which choices there were together when something was compared.
    """

    __slots__ = ("compared", "due", "edits", "seconds", "shapes")

    def __init__(self) -> None:
        self.edits = self.compared = 0
        self.due = 1
        self.seconds = 0.0
        self.shapes: set[Any] = set()

    def keep(self, thing: Any, compare: Callable[[Any], None] | None = None, *, shape: Any = None) -> bool:
        """Compare something that is due, if there is time for it, and say when the next is; whether it was.

        Args:
            thing: a trace; or whatever `compare` takes.
            compare: raises where a second execution differs.
            shape: stands for the choices that there are.
        """
        account = _ACCOUNT.get()
        seconds = account.affordable()
        if self.compared < _FIRST:
            seconds = max(seconds, _CHEAP)
        if not self._takes_at_most(seconds, thing):
            self.due = self.edits + _FIRST
            return False
        start = thread_time()  # of this thread alone: another one, or process, may run meanwhile
        with _untraced():
            (compare or compare_with_reference)(thing)
        self.seconds = thread_time() - start
        account.spent += self.seconds
        self.compared += 1
        self.due = self.edits + 1
        if self.is_under_way:
            self.due += self.edits // 2
        if shape is not None:
            if len(self.shapes) >= _MOST_SHAPES:
                self.shapes.clear()
            self.shapes.add(shape)
        return True

    @property
    def is_under_way(self) -> bool:
        """Whether the first comparisons have been made."""
        return self.compared >= _FIRST

    def _takes_at_most(self, seconds: float, thing: Any) -> bool:
        """Whether a comparison is expected to take no longer."""
        if self.compared:
            return self.seconds <= seconds
        if not isinstance(thing, ReferenceTrace):
            return True
        most = int(seconds / _EACH)
        return sum(1 for _ in islice(values_of(thing), most + 1)) <= most

    def is_new(self, shape: Any) -> bool:
        """Whether nothing has been compared yet that had these choices."""
        return shape not in self.shapes


@contextmanager
def _untraced() -> Iterator[None]:
    """Keep debuggers out of a block: a breakpoint of the user's would be met once more for one execution."""
    tracer = sys.gettrace()
    if tracer is None:
        yield
        return
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def schedule_of(compiled: Compiled) -> Schedule:
    """When executions of a whole body are compared."""
    found: Schedule | None = getattr(compiled, "_watch", None)
    if found is None:
        found = Schedule()
        object.__setattr__(compiled, "_watch", found)  # frozen for its users
    return found


def watched(trace: _Trace) -> _Trace:
    """A trace that an execution of the whole body left, compared where that is due."""
    compiled = trace.gen_fn.compiled
    watch: Schedule = getattr(compiled, "_watch", None) or schedule_of(compiled)
    watch.edits += 1
    if type(trace) is ReferenceTrace:
        records = trace.records
        shape = len(records), next(reversed(records), None)
        if watch.edits >= watch.due or shape not in watch.shapes:
            watch.keep(trace, shape=shape)
    elif watch.edits >= watch.due:
        watch.keep(trace)
    return trace


def shape_after(shape: int, made: Iterable[Any], gone: Iterable[Any]) -> int:
    """What stands for the choices of a trace, where some came and went."""
    for path in made:
        shape ^= hash(path)
    for path in gone:
        shape ^= hash(path)
    return shape


def is_due(trace: ReferenceTrace) -> bool:
    """Whether a proposed trace is one of those that are compared; each call counts as a proposal."""
    if type(trace) is ReferenceTrace:
        return False
    compiled = trace.gen_fn.compiled
    compiled.checked[0] += 1
    count = compiled.checked[0]
    return count <= _FIRST or count % compiled.checked[1] == 0


# --- what ------------------------------------------------------------------------------------------


def compare_with_reference(trace: ReferenceTrace) -> None:
    """Raise unless a second, whole execution gives a trace's choices the same log density and value.

    Raises:
        NotDeterministicError: the program is not deterministic.
        RuntimeMismatchError: the compiled runtime has missed something; this is a mistake of gendsl's, or
            what the program finds outside of itself has been replaced.
    """
    count_comparison()
    values = dict(values_of(trace))
    trace.gen_fn.compiled.checked[1] = max(_PERIOD, len(values) // 4)
    fresh = _execution(trace, values)
    found = _difference(trace, fresh)
    if found is None:
        return
    problem, path = found
    name, cause = trace.gen_fn.name, fresh if isinstance(fresh, Exception) else None
    place = definition(trace.gen_fn)
    repeated = type(trace) is ReferenceTrace
    if not repeated and isinstance(fresh, ReferenceTrace):
        again = _difference(fresh, _execution(trace, values))
        repeated = again is not None
        problem, path = again or found
    if repeated:
        fix = repeat_fix(trace.gen_fn.compiled.origin)
        raise NotDeterministicError(f"{name}: {problem}", address=path, location=place, fix=fix) from cause
    raise RuntimeMismatchError(
        f"{name}: {problem}", address=path, location=place, fix=MISMATCH_FIX
    ) from cause


def repeat_fix(origin: Source) -> str:
    """What to do about a body that isn't deterministic, with the lines of it that look like causes."""
    lines = suspects(origin)
    return f"look at {', '.join(lines)}: {REPEAT_FIX}" if lines else REPEAT_FIX


def _execution(trace: ReferenceTrace, values: dict[Any, Any]) -> ReferenceTrace | Exception:
    """What the reference runtime makes of a trace's choices, or the error that it raises."""
    try:
        return trace.gen_fn.reference.score(trace.args, values)
    except Exception as error:
        return error


def _difference(trace: ReferenceTrace, fresh: ReferenceTrace | Exception) -> tuple[str, Any] | None:
    """How a second execution differs, and the first address at which it does; None if it doesn't."""
    compiled = type(trace) is not ReferenceTrace
    one, other = ("the compiled runtime", "the reference") if compiled else ("one execution", "a second one")
    if isinstance(fresh, Exception):
        problem = f"{one} has a trace, {other} raises {type(fresh).__name__}: {fresh}"
        return problem, getattr(fresh, "address", None)
    mine, theirs = trace.records, fresh.records
    for path, _ in values_of(trace):
        if path not in theirs:
            return f"{one} makes a choice that {other} doesn't", path
    log_probs = trace.log_prob, fresh.log_prob
    if not (_close(*log_probs, 0.0) or _close(*log_probs, _size(fresh))):
        problem = f"{one} has log_prob {trace.log_prob}, {other} {fresh.log_prob}"
        for path, record in theirs.items():
            if not _close(mine[path][2], record[2], abs(record[2])):
                one, other = _brief(mine[path][0]), _brief(record[0])
                return problem if one == other else f"{problem}: first {one}, then {other}", path
        return problem, None
    plain = _is_plain(trace.retval) and _is_plain(fresh.retval)
    if plain and not same_value(trace.retval, fresh.retval, rtol=_TOLERANCE, atol=_TOLERANCE):
        return f"{one} returns {_brief(trace.retval)}, {other} {_brief(fresh.retval)}", None
    return None


def values_of(trace: Any) -> Iterator[tuple[Any, Any]]:
    """The values of a trace's choices by their paths, in program order."""
    return trace._values()  # type: ignore[no-any-return]


def _brief(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


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
