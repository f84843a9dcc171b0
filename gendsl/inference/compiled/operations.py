"""Operations on programs that are called in a loop of the user's own: `simulate`, `generate` and `assess`.

A program of which they were called often is compiled: from then on they draw and score as machine code, and
give traces whose choices are read from copies of its memory. What more is asked of such a trace takes a run
of the program, as for any other that machine code leaves; see `looked_at`. Whatever machine code does not
give, from a warning of gendsl's to an impossible trace, is done by today's runtime, from the same random
numbers. So are programs that call themselves, and those that are given objects, which nobody copies, or find
lists and arrays outside that have been changed. And so is an operation in which today's runtime draws loops
in columns, in another order than the program: one seed gives one trace, however often it was called before.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gendsl.address import Path
from gendsl.choices import same_value
from gendsl.compiler.hir import collector
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.recorded_values import is_same as is_same_value
from gendsl.errors import RuntimeMismatchError
from gendsl.inference.compiled import policy, thresholds
from gendsl.inference.compiled.comparison import are_close
from gendsl.inference.compiled.looked_at import AsItWas, LookedAt
from gendsl.inference.compiled.mistakes import as_refusals
from gendsl.interface import Assessed, Generated, as_rng
from gendsl.runtime.arguments import private
from gendsl.runtime.change import UNSET, is_same
from gendsl.runtime.column_steps import OUT_OF_ORDER
from gendsl.runtime.trace import definition
from gendsl.runtime.verify import MISMATCH_FIX, count_comparison, is_affordable, spend, values_of
from gendsl.runtime.watched import runs_whole, wanted

if TYPE_CHECKING:
    from gendsl.compiler.run.called_sampler import CalledSampler, Made
    from gendsl.compiler.run.closed_sampler import ClosedSampler

_LOG = logging.getLogger(__name__)
_TODAYS = "reference", "compiled", "python"
"""The runtimes that run an operation as today."""
_KEEPS_ORDER = True
"""Whether what today's runtime draws in another order than the program stays as it is."""
_TOLERANCE = 1e-9
_QUIET = frozenset(["warn", "ignore"])
_PLAIN = frozenset([bool, int, float, str, type(None), range])


class Call(NamedTuple):
    """A call of an operation.

    Attributes:
        operation: its name.
        args: the arguments of the program.
        given: the choices that are given, first those that are observed.
        rng: what is drawn from, as it was given.
    """

    operation: str
    args: Any
    given: tuple[Any, ...] = ()
    rng: Any = None

    def by(self, program: Any, rng: Any) -> Any:
        """What another program, or form of the same, makes of it."""
        if self.operation == "simulate":
            return program.simulate(self.args, rng=rng)
        if self.operation == "assess":
            return program.assess(self.args, *self.given)
        observations, init = self.given
        return program.generate(self.args, observations, init=init, rng=rng)


class DrawnAt:
    """Where the choices are of a trace that machine code of an operation gave; a source of `LookedAt`.

    Attributes:
        model, args, observed: of the trace.
        as_it_was: whether what the program finds outside is what it was.
        gives_functions, checks: what a trace that is looked at asks of a chain.
        retval: what the program returned; UNSET if that is not known.
    """

    gives_functions = checks = True

    def __init__(
        self, sampler: _Sampler, args: tuple[Any, ...], observed: frozenset[Path], made: Made
    ) -> None:
        self.model, self.args, self.observed = sampler.program, args, observed
        self.as_it_was: AsItWas = sampler.as_it_was
        self.made, self.sampler = made, sampler
        self.retval = made.retval if sampler.returns else UNSET

    @property
    def log_density(self) -> float:
        """The log density of the trace."""
        return self.made.log_prob

    @property
    def asked_for_more(self) -> bool:
        """Whether more than values was asked for; it is noted each time that it is."""
        return False

    @asked_for_more.setter
    def asked_for_more(self, more: bool) -> None:
        self.sampler.strays += more

    def choices(self) -> dict[Path, Any]:
        """All choices, by path."""
        return self.made.choices.choices()

    def choice(self, path: Path) -> Any:
        """The value of a choice; None if there is none."""
        return self.made.choices.choice(path)

    @property
    def trace(self) -> Any:
        """The trace of today's runtime."""
        trace = self.model.score(self.args, self.choices())
        trace.observed_paths = self.observed
        return trace


class _Sampler:
    """The machine code of a program for arguments of some types.

    Attributes:
        args, types: the arguments that it was given last, which nobody else can change, and what they are of.
        returns: whether it gives what the program returned, with the bits that Python gives it.
        calls, strays, failed: how often it ran, more than choices was asked of what it gave, and it failed.
        made_anew: how often memory was made, for choices that are given at other addresses.
        compared: how often what it made was compared with the reference.
        drawn_today: the operations, with the numbers of choices and of those that are given, that ran as
            today, too, once there was machine code.
        unused: the generator of calls that draw nothing; to make one takes as long as a call.
    """

    def __init__(self, program: Any, args: tuple[Any, ...]) -> None:
        """
        Raises:
            NotClosed: the program is not closed for these.
        """
        from gendsl.compiler.run.called_sampler import check_called  # with the compiler
        from gendsl.compiler.run.closed_sampler import ClosedSampler

        missing = policy.why_no_machine_code()
        if missing is not None:
            raise NotClosed(missing)
        self.program, self.args = program, private(args)
        self.types = tuple(map(_type, self.args))
        with collector.waiting():
            self.closed: ClosedSampler = ClosedSampler(program, self.args, returns=True)
        check_called(self.closed)
        self.returns = self.closed.returned is not None
        self.memories: list[CalledSampler] = []
        self.unused = np.random.default_rng(0)
        self.calls = self.strays = self.failed = self.compared = self.made_anew = 0
        self.seconds = self.compare_at = 0.0
        self.sizes_compared: set[int] = set()
        self.drawn_today: set[tuple[str, int, int]] = set()
        self.as_it_was = AsItWas(self.closed, program)

    def take(self, args: Any) -> bool:
        """Take arguments; whether they are of the types that it is for."""
        if type(args) is not tuple or len(args) != len(self.args):
            return False
        new = private(args, self.args)
        if all(map(is_same, self.args, new)):
            return True
        if tuple(map(_type, new)) != self.types:
            return False
        before, self.args = self.args, new
        try:
            self.closed.arguments(self.args)
            for memory in self.memories:
                memory.set_arguments(self.args)
        except NotClosed:
            self.args = before
            self.memories.clear()
            return False
        return True

    def look_outside(self) -> None:
        """
        Raises:
            NotClosed: what lies outside of the program is not what the text is for.
        """
        changed = self.closed.changed(of_users=True)
        if changed is not None:
            raise NotClosed(f"{changed} is not what it was")
        if self.closed.found_outside() != self.as_it_was.found:
            raise NotClosed("what it finds outside is not what it was")

    def memory(self, given: tuple[Any, ...]) -> CalledSampler:
        """The memory with the choices that are given.

        Raises:
            NotClosed: they are not of the types that the text is for, or it can't be said which they are.
        """
        from gendsl.compiler.run.called_sampler import CalledSampler  # with the compiler
        from gendsl.compiler.run.given import Given, written

        keys, values, count = [], [], 0
        for number, choices in enumerate(given):
            own = written(choices)
            keys += own[0]
            values += own[1]
            count = len(keys) if number == 0 else count
        for memory in self.memories:
            if memory.given.is_of(keys, values, count):
                memory.give(values)
                self.memories.remove(memory)
                self.memories.insert(0, memory)
                return memory
        self.made_anew += 1
        one = Given(self.closed.lowered, keys, values, count)
        memory = CalledSampler(self.closed, self.args, one, values)
        self.memories[:] = [memory, *self.memories][: thresholds.MOST_SHAPES]
        return memory

    def give_back(self) -> None:
        """Give back the memory, as one call has taken much."""
        self.memories.clear()
        self.closed.begin_small()

    def why_given_up(self) -> str | None:
        """Why it is not to run any more; None if it is."""
        if self.calls < thresholds.FIRST_CALLS:
            return None
        if self.strays > thresholds.MOST_STRAYS * self.calls:
            return "more than choices is asked of the traces too often"
        if self.failed > thresholds.MOST_FALLBACKS * self.calls:
            return "machine code fails too often"
        if self.made_anew > thresholds.MOST_STRAYS * self.calls:
            return "choices are given at other addresses too often"
        return None

    def is_due(self, size: int, now: float) -> bool:
        """Whether what was made, of so many choices, is to be compared with what the reference makes."""
        if self.compared < thresholds.FIRST_COMPARED:
            return self.compared == 0 or self.seconds <= thresholds.CHEAP or is_affordable(self.seconds)
        if size in self.sizes_compared and now < self.compare_at:
            return False
        return is_affordable(self.seconds)


def _type(value: Any) -> Any:
    """What an argument is of: other values of that give results of the same types.

    Raises:
        NotClosed: it is an object, which may be changed by anybody.
    """
    kind = type(value)
    if kind in _PLAIN or issubclass(kind, np.generic):
        return kind
    if kind is list or kind is tuple:
        types = set(map(type, value))
        if len(types) == 1 and types <= _PLAIN and kind is list:
            return kind, *types
        return kind, *map(_type, value)
    if kind is dict:
        return kind, *((_type(key), key, _type(one)) for key, one in value.items())
    if kind is np.ndarray and value.dtype.kind in "fiub":
        return kind, value.dtype, value.ndim
    raise NotClosed(f"an argument of class {kind.__name__}")


class _Called:
    """What is known of the operations on a program.

    Attributes:
        calls: how often they were called.
        work: the work of these, as `thresholds.LEAST_WORK` counts it.
        refused: why they are not compiled; empty if nothing is known of that.
        in_columns: the operations in which today's runtime draws in another order than the program.
    """

    def __init__(self) -> None:
        self.calls, self.work, self.refused = 0, 0.0, ""
        self.in_columns: set[str] = set()
        self.samplers: list[_Sampler] = []

    def sampler(self, program: Any, args: Any) -> _Sampler:
        """The machine code for arguments.

        Raises:
            NotClosed: there is none.
        """
        for one in self.samplers:
            if one.take(args):
                return one
        if len(self.samplers) >= thresholds.MOST_TYPES:
            raise NotClosed("arguments of many types")
        with as_refusals(f"{program.name}, called by hand,"):
            self.samplers.append(_Sampler(program, args))
        return self.samplers[-1]


def _called(program: Any) -> _Called:
    """What is known of the operations on a program that were called in this thread."""
    hands: dict[int, _Called] = program.__dict__.setdefault("hands", {})
    found = hands.get(threading.get_ident())
    if found is None:
        alive = {thread.ident for thread in threading.enumerate()}
        for gone in hands.keys() - alive:
            hands.pop(gone, None)
        found = hands[threading.get_ident()] = _Called()
    return found


def told_of(program: Any) -> str | None:
    """How operations on a program run that are called by hand; None if none were called often."""
    called = _called(program)
    if called.refused:
        return f"step by step: {called.refused}"
    apart = " and ".join(sorted(called.in_columns))
    if called.samplers:
        return "as machine code" + (f", but for {apart}, which draws loops in columns" if apart else "")
    return f"step by step: {apart} draws loops in columns" if apart else None


def expect(program: Any, calls: int) -> None:
    """Note that an operation on a program is going to be called so often."""
    _called(program).work += calls * thresholds.A_STEP


def done(program: Any, call: Call, today: Callable[[], Any]) -> Any:
    """What an operation gives: by machine code, or as today."""
    called = _called(program)
    if called.refused or call.operation in called.in_columns:
        return today()
    if wanted() in _TODAYS or runs_whole() or type(call.args) is not tuple:
        return today()
    if not called.samplers:
        result = _as_today(called, call, today)
        called.calls += 1
        if called.calls % thresholds.LEAST_CALLS == 0:
            _compile_if_worth_it(called, program, call.args, _count(result))
        return result
    if not _QUIET.issuperset(np.geterr().values()):
        return today()  # which raises, or calls, where NumPy only warns else
    try:
        sampler = called.sampler(program, call.args)
        sampler.look_outside()
    except NotClosed as reason:
        _give_up(called, program, str(reason))
        return today()
    result = _made(sampler, call)
    why = sampler.why_given_up()
    if why is not None:
        _give_up(called, program, why)
    return _as_today(called, call, today) if result is None else result


def _as_today(called: _Called, call: Call, today: Callable[[], Any]) -> Any:
    """What an operation gives today, which shows in which order its choices are drawn."""
    before = OUT_OF_ORDER.count
    result = today()
    if OUT_OF_ORDER.count > before and _KEEPS_ORDER:
        called.in_columns.add(call.operation)
    return result


def _compile_if_worth_it(called: _Called, program: Any, args: Any, choices: int) -> None:
    """Make machine code of a program that makes so many choices, where there can be some, and that pays."""
    called.work += thresholds.LEAST_CALLS * (thresholds.A_STEP + choices)
    if called.work < thresholds.LEAST_WORK:
        return
    try:
        if choices > thresholds.MOST_CHOICES:
            raise NotClosed(f"a trace has more than {thresholds.MOST_CHOICES:,} choices")
        called.sampler(program, args)
    except NotClosed as reason:
        _give_up(called, program, str(reason))


def _give_up(called: _Called, program: Any, reason: str) -> None:
    called.refused = reason
    called.samplers.clear()
    _LOG.debug("operations on %s run as today: %s", program.name, reason)


def _count(result: Any) -> int:
    """How many choices there are in what an operation gave; some, where that is not known."""
    if isinstance(result, Assessed):
        return 0
    return policy.count_of_choices(result.trace if isinstance(result, Generated) else result)


def _made(sampler: _Sampler, call: Call) -> Any:
    """What machine code gives; None if that is nothing."""
    sampler.calls += 1
    is_score = call.operation == "assess"
    if is_score and not sampler.returns:
        return None  # which gives what the program returns
    rng = sampler.unused if is_score else as_rng(call.rng)
    if type(rng) is not np.random.Generator:
        return None  # one of another class may draw otherwise than its bits say
    memory = None
    try:
        memory = sampler.memory(call.given)
        made = memory.make(rng, draws=not is_score)
    except (FailedText, NotClosed) as reason:
        _LOG.debug("%s of %s runs as today: %s", call.operation, sampler.program.name, reason)
        sampler.failed += 1
        if memory is not None and memory.is_spent:
            sampler.give_back()
        return None
    if sampler.is_due(made.size, time.perf_counter()):
        _compare(sampler, call, made, type(rng.bit_generator))
    shape = call.operation, made.size, len(memory.given.keys)
    if not is_score and shape not in sampler.drawn_today and _KEEPS_ORDER:
        sampler.drawn_today.add(shape)
        rng.bit_generator.state = made.states[0]
        return None
    if is_score:
        return Assessed(made.log_prob, made.retval) if sampler.returns else None
    trace = LookedAt(DrawnAt(sampler, private(call.args), memory.given.observed, made))
    return trace if call.operation == "simulate" else Generated(trace, made.weight)


def _compare(sampler: _Sampler, call: Call, made: Made, kind: type[np.random.BitGenerator]) -> None:
    """
    Args:
        kind: the class of the generator that was drawn from.

    Raises:
        RuntimeMismatchError: machine code made something else than the reference makes.
    """
    started = time.perf_counter()
    before, after = made.states
    rng = np.random.Generator(kind())
    rng.bit_generator.state = before
    expected = call.by(sampler.program.reference, rng)
    problem, path = _difference(made, expected, after, rng.bit_generator.state)
    if not problem and sampler.returns:
        retval = (expected.trace if isinstance(expected, Generated) else expected).retval
        if not _are_alike(made.retval, retval, math.inf):
            problem = f"returned {made.retval!r}, and the reference {retval!r}"
        sampler.returns = is_same_value(made.retval, retval)  # a sum in another order has other bits
    if problem:
        raise RuntimeMismatchError(
            f"{sampler.program.name}: the machine code of {call.operation!r} {problem}",
            address=path,
            location=definition(sampler.program),
            fix=f"{MISMATCH_FIX}; with GENDSL_RUNTIME=compiled it is not used",
        )
    count_comparison()
    now = time.perf_counter()
    sampler.compared += 1
    sampler.sizes_compared.add(made.size)
    sampler.seconds = now - started
    sampler.compare_at = started + sampler.seconds / thresholds.SAMPLED
    spend(sampler.seconds)


def _difference(made: Made, expected: Any, after: Any, state: Any) -> tuple[str, Path | None]:
    """In what it differs from what the reference gives; nothing if in nothing, and the address, if it is at
    one.
    """
    trace = expected.trace if isinstance(expected, Generated) else expected
    found, log_prob = made.log_prob, trace.log_prob
    size = abs(found) + abs(log_prob)
    if not are_close(found, log_prob, size):
        return f"has the log density {found}, and the reference {log_prob}", None
    if isinstance(expected, Assessed):
        return "", None
    if isinstance(expected, Generated) and not are_close(made.weight, expected.log_weight, size):
        return f"has the log weight {made.weight}, and the reference {expected.log_weight}", None
    mine = made.choices.choices()
    values = dict(values_of(trace))
    if mine.keys() != values.keys():
        path = next(iter(mine.keys() ^ values.keys()))
        return f"has {len(mine)} choices, and the reference {len(values)}", path
    for at, value in values.items():
        if not _are_alike(value, mine[at], _TOLERANCE):
            return f"has {mine[at]!r} there, and the reference {value!r}", at
    if str(after) != str(state):
        return "draws other random numbers than the reference", None
    return "", None


def _are_alike(one: Any, other: Any, tolerance: float) -> bool:
    """Whether values are of the same types, and the same but for rounding of floats."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_are_alike(a, b, tolerance) for a, b in pairs)
    if isinstance(one, float) and tolerance == math.inf:
        return True
    if isinstance(one, np.ndarray) and one.dtype == np.float64 and tolerance == math.inf:
        return bool(one.shape == other.shape and other.dtype == one.dtype)
    return same_value(one, other, rtol=tolerance, atol=tolerance)
