"""The trace that a chain of compiled kernels is at, for functions that look at it, and the one it stops at.

The program runs for it when something is asked for that takes a run: a run of 10,000 observations takes as
long as hundreds of steps, and most traces that chains stop at are asked for some values, or gone on from.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterator, Mapping, Set
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from gendsl.address import Path
from gendsl.choices import ChoiceMap
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.observations import Strings
from gendsl.errors import NotDeterministicError
from gendsl.inference.compiled import thresholds
from gendsl.runtime.change import UNSET
from gendsl.runtime.records import UNCHANGEABLE, Record, detached
from gendsl.runtime.trace import ReferenceTrace, definition

if TYPE_CHECKING:
    from gendsl.compiler.run.chain_kernel import ChainKernel
    from gendsl.compiler.run.compiled import Compiled

_LOG = logging.getLogger(__name__)
TOO_OFTEN = "whole traces are needed too often"
"""Why a chain runs step by step, where each draw costs more than the steps that lead to it."""


def _of_whole(name: str) -> Callable[..., Any]:
    def operation(self: LookedAt, *args: Any, **options: Any) -> Any:
        return getattr(self.whole, name)(*args, **options)

    operation.__name__, operation.__doc__ = name, getattr(ReferenceTrace, name).__doc__
    return operation


class AsItWas:
    """Whether what programs find outside of themselves is what it was where a chain stopped, or was.

    Args:
        closed: the text of the chain, or of the program.
        program: the model.
        found: what the text finds outside, if that was looked at.
    """

    def __init__(self, closed: Compiled, program: Any, found: tuple[Any, ...] | None = None) -> None:
        self.closed, self.program = closed, program
        found = self._found() if found is None else found
        marked = _MARKS.get(closed)
        if marked is None or marked[0] != found:
            marked = _MARKS[closed] = found, mark_of(program)
        self.found, self.mark = marked  # one copy of the data for all traces that are kept

    def _found(self) -> tuple[Any, ...] | None:
        """What a text finds outside; None if that is not what it was made for."""
        try:
            return None if self.closed.changed() else self.closed.found_outside()
        except NotClosed:
            return None

    def holds(self) -> bool:
        """Whether it is, for all that a text was made of; if not, the log density may be another, too."""
        return self.found is not None and self._found() == self.found

    def holds_for_model(self) -> bool:
        """Whether it is, for all that the model may come to."""
        return self.holds() or (self.mark is not None and mark_of(self.program) == self.mark)


_Marked = tuple[tuple[Any, ...] | None, bytes | None]
_MARKS: weakref.WeakKeyDictionary[Compiled, _Marked] = weakref.WeakKeyDictionary()
"""For each text what it found outside last, and the mark of the model then."""


class AsItTravelled:
    """The same of a trace that was pickled, whose text is in no other process."""

    def __init__(self, program: Any, mark: bytes) -> None:
        self.program, self.mark = program, mark

    def holds(self) -> bool:
        """Whether it is, for all that a reader of the program may come to."""
        return mark_of(self.program) == self.mark

    holds_for_model = holds


def mark_of(program: Any) -> bytes | None:
    """Some bytes that tell a program and what it finds outside from others; None if there are none."""
    from gendsl.inference.compiled.fingerprints import FAILURES, Fingerprint  # with the compiler

    try:
        return sha256(Fingerprint(program).bytes).digest()
    except FAILURES:
        _LOG.debug("it can't be told whether %s finds outside what it found", program, exc_info=True)
        return None


class Values(dict[Any, Any]):
    """The values of the choices of a trace, which can be known without being kept.

    Attributes:
        outside: whether what programs find outside is what it was where the trace was left.
    """

    def __init__(self, values: Mapping[Path, Any], outside: AsItWas | AsItTravelled) -> None:
        super().__init__(values)
        self.outside = outside


class Source(Protocol):
    """What has the choices of a trace that is looked at: a chain that is there, or what one left.

    Attributes:
        asked_for_more: whether more than values was asked for.
    """

    asked_for_more: bool

    @property
    def model(self) -> Any: ...

    @property
    def args(self) -> tuple[Any, ...]: ...

    @property
    def observed(self) -> Set[Path]: ...

    @property
    def as_it_was(self) -> AsItWas | None:
        """Whether what the program finds outside is what it was; None as long as its chain is there."""
        ...

    @property
    def gives_functions(self) -> bool:
        """Whether machine code gives the values of recorded functions."""
        ...

    @property
    def log_density(self) -> float: ...

    @property
    def checks(self) -> bool:
        """Whether a run of the program is to be that of what it found outside, whatever it is for."""
        ...

    @property
    def retval(self) -> Any:
        """What the program returned; UNSET where to know that takes a run."""
        ...

    @property
    def trace(self) -> Any:
        """The trace of today's runtime."""
        ...

    def choices(self) -> dict[Path, Any]: ...

    def choice(self, path: Path) -> Any: ...


class LookedAt(ReferenceTrace):
    """A trace of which a function reads some choices, or what the program returned.

    The values of choices are those that the text left: for them nothing runs. For what the program returned,
    and all else that can be looked at, the reference interpreter runs it once, in about a third of the time
    that a trace of today's runtime takes. That is made for operations that give other traces, and for all
    that is asked for once the chain has gone on, or stopped.

    Attributes:
        source: what has the values, as long as they are not the trace's own.
        outside: whether what the program finds outside is what it was; None as long as its chain is there.
        left_density: the log density of a chain that stopped there, of which another goes on from there; it
            is that of the text, whose sums may have other last bits than those of the program. None of other
            traces.
        left_observed: the strings of the addresses that have nothing but observations, of such a chain.
    """

    __slots__ = (
        "_executed", "_known", "_log_density", "_observed", "_retval", "_singly", "_whole", "left_density",
        "left_observed", "outside", "source",
    )  # fmt: skip

    def __init__(self, source: Source) -> None:
        self._start(source.model, source.args, source.observed, source)

    def _start(
        self, gen_fn: Any, args: tuple[Any, ...], observed: Set[Path], source: Source | None = None
    ) -> None:
        self.gen_fn, self.args, self._observed = gen_fn, args, observed
        self._spaces = self._structure = self.scored_from = None
        self.left_density: float | None = None
        self.left_observed: frozenset[Strings] | None = None
        self.source = source
        self.outside: AsItWas | AsItTravelled | None = None if source is None else source.as_it_was
        gives = source is not None and source.gives_functions
        self._log_density = source.log_density if source is not None and gives else None
        self._retval = UNSET if source is None else source.retval
        self._known: dict[Path, Any] | None = None
        self._singly = 0
        self._executed: ReferenceTrace | None = None
        self._whole: ReferenceTrace | None = None

    @property
    def observed_paths(self) -> Set[Path]:
        """The paths of the observations."""
        return self._observed

    @observed_paths.setter
    def observed_paths(self, observed: Set[Path]) -> None:
        """Count other choices as observations, of a trace that nobody else has yet."""
        self._observed = self.whole.observed_paths = observed

    @property
    def values(self) -> dict[Path, Any]:
        """The values of all choices, by path."""
        if self._known is None:
            assert self.source is not None
            self._known = self.source.choices()
        return self._known

    def _values(self) -> Iterator[tuple[Path, Any]]:
        return iter(self.values.items())

    def _value(self, path: Path) -> Any:
        """The value of a choice.

        Raises:
            KeyError: there is none.
        """
        if self._known is None and self._singly < thresholds.MOST_READ_SINGLY:
            assert self.source is not None
            self._singly += 1
            value = self.source.choice(path)
            if value is not None:
                return value
        return self.values[path]

    def keep(self, closed: ChainKernel) -> None:
        """Take the values over, before the chain goes on."""
        self.outside = AsItWas(closed, self.gen_fn)
        self._known, self.source = self.values, None

    def leave(self, closed: ChainKernel, observed: frozenset[Strings]) -> None:
        """Be the trace that a chain stops at; the addresses with these strings are all observed."""
        assert self.source is not None
        self.left_density, self.left_observed = self.source.log_density, observed
        outside = self.outside = AsItWas(closed, self.gen_fn)
        self.scored_from = self._known = Values(self.values, outside)
        self.source = None

    def __reduce__(self) -> Any:
        is_left = self.left_density is not None and is_as_left(self)
        mark = mark_of(self.gen_fn) if is_left else None
        if mark is None:
            return self.whole.__reduce__()
        state = self.gen_fn, self.args, dict(self.values), frozenset(self.observed_paths)
        return _left_again, (*state, mark, self.left_density, self.left_observed)

    def _tell(self) -> None:
        """Tell the chain that more than values was asked for."""
        if self.source is not None:
            self.source.asked_for_more = True

    @property
    def executed(self) -> ReferenceTrace:
        """The trace that the reference interpreter makes of the values."""
        if self._whole is not None or self.source is None:
            return self.whole
        if self._executed is None:
            if self.source.checks:
                self._check_as_it_was()
            self._tell()
            self._executed = self.gen_fn.reference.score(self.args, self.values)
        return self._executed

    @property
    def whole(self) -> ReferenceTrace:
        """The trace of today's runtime."""
        if self._whole is None and self.source is not None:
            if self.source.checks:
                self._check_as_it_was()
            self._tell()
            self._whole = self.source.trace
        elif self._whole is None:
            self._whole = self.gen_fn.score(self.args, self.values)
            self._whole.observed_paths = self.observed_paths
        return self._whole

    def _is_as_it_was(self) -> bool:
        """Whether a run of the program gives what it gave when these values were drawn."""
        is_made = self._executed is not None or self._whole is not None
        return is_made or self.outside is None or self.outside.holds_for_model()

    def _check_as_it_was(self) -> None:
        """
        Raises:
            NotDeterministicError: the program finds something else outside of itself than it did.
        """
        if not self._is_as_it_was():
            raise NotDeterministicError(
                f"{self.gen_fn.name} finds something else outside of itself than when this trace was made, "
                "so that a run would not give what it returned then; the values of choices can be read",
                location=definition(self.gen_fn),
                fix="read what the program returned before its globals, closures or objects change, or give "
                "it what changes as an argument",
            )

    @property
    def records(self) -> Mapping[Path, Record]:  # type: ignore[override]
        return self.executed.records

    @property
    def calls(self) -> Any:  # type: ignore[override]
        self._check_as_it_was()
        return self.executed.calls

    @property
    def impossible(self) -> ChoiceMap:
        self._check_as_it_was()
        return super().impossible

    @property
    def log_likelihood(self) -> float:
        self._check_as_it_was()
        return super().log_likelihood

    @property
    def log_prob(self) -> float:  # type: ignore[override]
        """The log density, to the last bit that of a trace of today's runtime, as is saved.

        Where machine code gives the values of recorded functions it is what the chain tells of the draw.
        """
        if self._log_density is not None and self.left_density is None:
            return self._log_density
        if self.left_density is not None and not self._is_as_it_was():
            return self.left_density
        return self.whole.log_prob

    @property
    def chain_density(self) -> float:
        return self.log_prob if self.left_density is None else self.left_density

    @property
    def retval(self) -> Any:
        if self._retval is not UNSET:
            return self._retval
        self._check_as_it_was()
        return self.executed.retval

    def __getitem__(self, address: Any) -> Any:
        path = address if type(address) is tuple else (address,)
        try:
            value = self._value(path)
        except (KeyError, TypeError):  # what a call returned, or nothing
            return super().__getitem__(address)
        return value if type(value) in UNCHANGEABLE else detached(value)

    def __contains__(self, address: Any) -> bool:
        path = address if type(address) is tuple else (address,)
        try:
            self._value(path)
        except (KeyError, TypeError):
            return super().__contains__(address)
        return True

    @property
    def choices(self) -> ChoiceMap:
        return self.executed.choices if self._is_as_it_was() else ChoiceMap._from_flat(self.values)

    @property
    def observed(self) -> ChoiceMap:
        observed = self.observed_paths
        if not self._is_as_it_was():
            return ChoiceMap._from_flat({path: self.values[path] for path in observed})
        records = self.executed.records.items()  # in the order in which the program makes them
        return ChoiceMap._from_flat({path: record[1] for path, record in records if path in observed})

    def __repr__(self) -> str:
        if self._is_as_it_was():
            return super().__repr__()
        return f"<trace of {self.gen_fn.name} as it was: {len(self.values)} choices>"

    update, regenerate, edit = _of_whole("update"), _of_whole("regenerate"), _of_whole("edit")
    resample, redraw, gradients = _of_whole("resample"), _of_whole("redraw"), _of_whole("gradients")
    local_density, rerun = _of_whole("local_density"), _of_whole("rerun")


def is_as_left(trace: Any) -> bool:
    """Whether a chain can go on from a trace as one left it, without a run of the program."""
    values = getattr(trace, "scored_from", None)
    return isinstance(values, Values) and values.outside.holds()


def _left_again(
    gen_fn: Any,
    args: tuple[Any, ...],
    values: dict[Path, Any],
    observed: frozenset[Path],
    mark: bytes,
    *left: Any,
) -> LookedAt:
    """A trace that a chain stopped at, from its choices: how one is unpickled."""
    trace = LookedAt.__new__(LookedAt)
    trace._start(gen_fn, args, observed)
    trace.outside = AsItTravelled(gen_fn, mark)
    trace.scored_from = trace._known = Values(values, trace.outside)
    trace.left_density, trace.left_observed = left
    return trace
