"""Traces of the direct runtime: immutable records of one execution, and the operations on them."""

from __future__ import annotations

import html
import os
import reprlib
from collections.abc import Callable, Iterator, Sequence, Set
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gendsl.address import Path, as_path, format_address
from gendsl.choices import MISSING, ChoiceMap, Constraints, Exactly, choicemap
from gendsl.choices.unknown import explain_unknown
from gendsl.distributions import Distribution
from gendsl.distributions.base import measured
from gendsl.errors import (
    AddressConflictError,
    LabelError,
    Location,
    NaNError,
    ObservedError,
    UnknownAddressError,
    ValueTypeError,
    too_deep,
)
from gendsl.interface import Choices, Regenerated, Rng, Trace, Updated, as_rng
from gendsl.runtime import small
from gendsl.runtime.arguments import private
from gendsl.runtime.executions import Execution
from gendsl.runtime.gradients import gradients
from gendsl.runtime.impossible import blame_given, refuse_start
from gendsl.runtime.measures import describe_measure, remeasured, same_measure
from gendsl.runtime.records import UNCHANGEABLE, Record, Records, detached, without_factors
from gendsl.runtime.reexecutions import Regenerate, Update, executed_again
from gendsl.runtime.saving import save_trace
from gendsl.runtime.structure import Structure, paths_in
from gendsl.runtime.watched import is_usual
from gendsl.selection import Selection, select

if TYPE_CHECKING:
    from gendsl.runtime.generative import GenFunction
    from gendsl.runtime.local import LocalDensity, LocalRedraw


def check_args(args: Any, name: str) -> tuple[Any, ...]:
    """`args` if it is a tuple; the error that says how to write one if not."""
    if type(args) is not tuple:
        given = reprlib.repr(args)
        none = args is None or (type(args) is list and not args)
        raise ValueTypeError(
            f"the arguments of {name} must be a tuple, got {given}",
            fix="write ()" if none else f"write ({'x' if '...' in given else given},) for a single argument",
        )
    return args


def check_start(trace: Any) -> None:
    """Raise unless the density of a trace that a kernel starts from is positive and finite.

    Raises:
        ZeroProbabilityError: it is 0, or infinite; a chain could never move, or never be left.
    """
    density = getattr(trace, "chain_density", None)  # those of other runtimes have none
    if not -inf < (getattr(trace, "log_prob", inf) if density is None else density) < inf:
        refuse_start(trace)


def at_definition(function: GenFunction, finish: Callable[[], None]) -> None:
    """Close an execution of a program; what is wrong with its choices is wrong where it is defined.

    The body has returned by then, so the line that runs is that of whoever asked for the operation.
    """
    try:
        finish()
    except (NaNError, AddressConflictError) as error:
        error.location = definition(function)
        raise


def definition(function: GenFunction) -> Location:
    """Where a program is defined."""
    return function.compiled.origin.location(function.compiled.origin.node)


class Edit(NamedTuple):
    """What an edit of a trace by a kernel leads to.

    Attributes:
        trace: the new trace.
        log_weight: log p(t'; x') - log p(t; x), less the log density of choices that were drawn.
        removed: the choices that are gone, observations among them, but no factors.
        remeasured: the old and new distributions of latent choices that were kept, not given, and whose
            density is with respect to another base measure than it was.
    """

    trace: ReferenceTrace
    log_weight: float
    removed: dict[Path, Record]
    remeasured: dict[Path, tuple[Distribution, Distribution]]


class ReferenceTrace(Trace):
    """A trace that stores every choice with its distribution, value and score.

    Attributes:
        records: path -> (distribution, value, score), in program order.
        calls: what each traced call returned, by its address.
        observed_paths: the paths that were given as observations.
        scored_from: the values of all choices, by path, if it was made afresh of these; None if not known.
    """

    __slots__ = (
        "__weakref__", "_spaces", "_structure", "args", "calls", "gen_fn", "log_prob", "observed_paths",
        "records", "retval", "scored_from",
    )  # fmt: skip

    gen_fn: GenFunction

    def __init__(
        self,
        gen_fn: GenFunction,
        args: tuple[Any, ...],
        retval: Any,
        execution: Execution,
        observed_paths: Set[Path],
    ) -> None:
        self.gen_fn = gen_fn
        self.args = args
        self.retval = retval
        self.records = execution.records
        self.calls = execution.calls
        self.log_prob = execution.score
        self.observed_paths = observed_paths
        self._spaces: dict[Path, list[Path]] | None = None
        self._structure: Structure | None = None
        self.scored_from: dict[Path, Any] | None = None

    @property
    def chain_density(self) -> float:
        """The log density of a chain that starts here."""
        return self.log_prob

    # --- looking ----------------------------------------------------------------------------------

    @property
    def choices(self) -> ChoiceMap:
        return ChoiceMap._from_flat(dict(self._values()))

    @property
    def observed(self) -> ChoiceMap:
        return ChoiceMap._from_flat({p: value for p, value in self._values() if p in self.observed_paths})

    def _values(self) -> Iterator[tuple[Path, Any]]:
        """The values of the choices, by their paths, in program order."""
        return ((path, record[1]) for path, record in self.records.items())

    def paths_below(self, prefix: Path) -> list[Path]:
        """The paths of the choices in a namespace, in program order."""
        if self._spaces is None:
            spaces: dict[Path, list[Path]] = {}
            for path in self.records:
                for n in range(len(path)):
                    spaces.setdefault(path[:n], []).append(path)
            self._spaces = spaces
        return self._spaces.get(prefix, [])

    @property
    def impossible(self) -> ChoiceMap:
        return ChoiceMap._from_flat({path: r[1] for path, r in self.records.items() if r[2] == -inf})

    def __getitem__(self, address: Any) -> Any:
        path = address if type(address) is tuple else (address,)
        try:
            record = self.records.get(path)
        except TypeError:
            as_path(address)  # explains what can't be an address
            raise
        if record is not None:
            value = record[1]
            return value if type(value) in UNCHANGEABLE else detached(value)
        if path in self.calls:
            return self.calls[path]
        raise self.unknown(as_path(address))

    def unknown(self, path: Path) -> UnknownAddressError:
        """The error for an address at which there is no choice."""
        if self.paths_below(path):
            name = format_address(path)
            return UnknownAddressError(
                "this address is a namespace, not a choice",
                address=path,
                fix=f"trace.choices[{name}] is the choices below it",
            )
        return UnknownAddressError(
            f"the trace of {self.gen_fn.name} has no such choice",
            address=path,
            fix=explain_unknown(path, [*self.records, *self.calls]),
        )

    def __contains__(self, address: Any) -> bool:
        path = as_path(address)
        return path in self.records or path in self.calls or bool(self.paths_below(path))

    def __repr__(self) -> str:
        return (
            f"<trace of {self.gen_fn.name}: {len(self.records)} choices, "
            f"{len(self.observed_paths)} observed, log_prob={self.log_prob:.6g}>"
        )

    def __str__(self) -> str:
        return f"{self!r}\n{self.choices}"

    def _repr_html_(self) -> str:
        latent = self.choices
        observed = self.observed
        if not observed:
            return f"<div><code>{html.escape(repr(self))}</code>{latent._repr_html_()}</div>"
        latent = ChoiceMap._from_flat({path: v for path, v in latent.items() if path not in observed})
        parts = f"<p>latent</p>{latent._repr_html_()}<p>observed</p>{observed._repr_html_()}"
        return f"<div><code>{html.escape(repr(self))}</code>{parts}</div>"

    @property
    def log_likelihood(self) -> float:
        """The sum of the log densities of the observations."""
        observed = self.observed_paths
        return float(sum(record[2] for path, record in self.records.items() if path in observed))

    def with_records(self, records: Records) -> ReferenceTrace:
        """This trace with other records and nothing else changed; they need not be of one execution."""
        return _restore(
            self.gen_fn, self.args, self.retval, records, self.calls, self.log_prob, self.observed_paths
        )

    def __reduce__(self) -> Any:
        state = (self.gen_fn, self.args, self.retval, self.records, self.calls, self.log_prob)
        return _unpickled, (*state, self.observed_paths)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the program's name, its arguments and the choices in a file; `load_trace` reads it.

        The format is open, JSON without pickled code; see `gendsl.runtime.encoding`.

        Raises:
            ValueTypeError: an argument or a choice is of a class that can't be saved so.
            OSError: the file can't be written.
        """
        save_trace(self, path)

    # --- operations -------------------------------------------------------------------------------

    def update(
        self, choices: Choices | None = None, *, args: tuple[Any, ...] | None = None, rng: Rng = None
    ) -> Updated:
        given = Constraints(choicemap(choices))
        execution = Update(self.records, given, as_rng(rng))
        trace = self.rerun(execution, args)
        given.check_used(trace.records, "the update")
        weight = self.weight_of(execution)
        removed = self.removed(execution)
        discard = {
            path: record[1]
            for path, record in self.records.items()
            if path in removed or given.lookup(path) is not MISSING
        }
        return Updated(trace, weight, ChoiceMap._from_flat(discard))

    def regenerate(
        self, selection: Selection, *, args: tuple[Any, ...] | None = None, rng: Rng = None
    ) -> Regenerated:
        self.check_selection(selection)
        execution = Regenerate(self.records, selection, as_rng(rng))
        trace = self.rerun(execution, args)
        return Regenerated(trace, not_nan(execution.weight, self))

    def project(self, selection: Selection) -> float:
        check_is_selection(selection)
        selection.check(self.records, "the projection")
        total = 0.0
        for path, record in self.records.items():
            if path in selection:
                total += record[2]
        return total

    def gradients(self, selection: Selection) -> ChoiceMap:
        check_is_selection(selection)
        selection.check(self.records, "the gradient")
        return gradients(self.gen_fn, self.args, self.records, selection)

    # --- shared by the operations and by kernels --------------------------------------------------

    def edit(
        self,
        values: dict[Path, Any] | ChoiceMap,
        *,
        args: tuple[Any, ...] | None = None,
        rng: np.random.Generator | None = None,
        stop_at_zero: bool = False,
    ) -> Edit:
        """The trace with some choices given, the others kept, and, without `rng`, nothing drawn.

        The values of a dict are given exactly at their paths, and what is given in surplus is for the caller
        to find; a choice map is taken as `update` takes it. With `rng` new choices are drawn from the prior,
        and the weight is that of `update`.

        Raises:
            MissingChoiceError: a choice is new, and has no value (without `rng`).
            UnknownAddressError: a choice map names a choice that the new trace doesn't have.
            NaNError: this trace has density zero, and so has the new one.
            ZeroProbability: a choice has density zero (with `stop_at_zero`).
        """
        given = Exactly(values) if type(values) is dict else Constraints(values)
        if args is None and rng is None and type(given) is Exactly:
            again = executed_again(self, given, stop_at_zero)
            if again is not None:
                execution, retval, weight, gone, observed, is_alike = again
                new = self.gen_fn.watched(ReferenceTrace(self.gen_fn, self.args, retval, execution, observed))
                if is_alike:
                    new._structure = self._structure
                if len(execution.records) > small.CHOICES:
                    new = self.gen_fn.fitted(new)
                other = remeasured(self, execution.records, execution.remade, values)
                return tuple.__new__(Edit, (new, weight, gone, other))  # in half of the time
        execution = Update(self.records, given, rng, stop_at_zero=stop_at_zero)
        new = self.rerun(execution, args)
        if isinstance(given, Constraints):
            given.check_used(new.records, "the new choices")
        weight = self.weight_of(execution)
        other = remeasured(self, execution.records, execution.remade, values)
        return Edit(new, weight, without_factors(self.removed(execution)), other)

    def resample(
        self,
        selection: Selection,
        rng: np.random.Generator,
        *,
        skip_absent: bool = False,
        stop_at_zero: bool = False,
    ) -> Edit | LocalRedraw:
        """The trace with the selected choices drawn anew from the prior.

        Its `log_weight` is that of `regenerate`, and `remeasured` tells of the choices not selected.

        Raises:
            UnknownAddressError: an address in the selection is not in the trace (without `skip_absent`).
            ObservedError: an observation is selected.
            NaNError: a choice that was kept had density zero, and has it still.
            ZeroProbability: a choice that was kept has density zero (with `stop_at_zero`).
        """
        self.check_selection(selection, skip_absent=skip_absent)
        execution = Regenerate(self.records, selection, rng, stop_at_zero=stop_at_zero)
        new = self.rerun(execution)
        weight = not_nan(execution.weight, self)
        other = remeasured(self, new.records, new.records, selection)
        return Edit(new, weight, without_factors(self.removed(execution)), other)

    def redraw(
        self, path: Path, rng: np.random.Generator, *, stop_at_zero: bool = False
    ) -> Edit | LocalRedraw:
        """The trace with one choice drawn anew from the prior; see `resample`."""
        return self.resample(select(path), rng, stop_at_zero=stop_at_zero)

    def local_density(self, path: Path) -> LocalDensity | None:
        """The density along one choice, found without edits of the trace; None where it takes those."""
        return None

    def has_any(self, selection: Selection) -> bool:
        """Whether a choice is in the selection."""
        return any(path in selection for path in self.records)

    @property
    def structure(self) -> Structure:
        """Which choices the trace has; the same object in traces that have the same choices."""
        if self._structure is None:
            self._structure = Structure()
        return self._structure

    def selected(self, selection: Selection, *, skip_absent: bool = False) -> Sequence[Path]:
        """The paths of the choices in a selection, found once for all traces with the same choices.

        Raises:
            UnknownAddressError: an address in the selection is not in the trace (without `skip_absent`).
            ObservedError: an observation is selected.
        """
        known = self._structure
        paths = None if known is None else known.get(selection, self.observed_paths, skip_absent)
        if paths is None:
            self.check_selection(selection, skip_absent=skip_absent)
            paths = paths_in(self, selection)
            self.structure.remember(selection, self.observed_paths, skip_absent, paths)
        return paths

    def check_selection(self, selection: Selection, *, skip_absent: bool = False) -> None:
        """Raise unless the selection names choices of this trace and no observation."""
        check_is_selection(selection)
        if not skip_absent:
            try:
                selection.check(self.records, "the selection")
            except UnknownAddressError as error:
                more = "a kernel takes skip_absent=True where only some traces have the choices"
                error.fix = f"{error.fix}; {more}"
                raise
        for path in self.observed_paths:
            if path in selection:
                path = next(p for p in self.records if p in self.observed_paths and p in selection)
                raise ObservedError(
                    "an observation is selected, and observations are held fixed",
                    address=path,
                    fix="select latent choices only: `selection & ~select(trace.observed)`",
                )

    def rerun(self, execution: Execution, args: tuple[Any, ...] | None = None) -> ReferenceTrace:
        """The trace that an execution of the program leaves; observations stay marked as such."""
        args = self.args if args is None else private(check_args(args, self.gen_fn.name), self.args)
        execution.quick = not self.gen_fn.direct and is_usual()
        try:
            retval = execution.run(self.gen_fn.called_with(args))
        except RecursionError as error:
            raise too_deep(error, self.gen_fn.name) from None
        except Exception as error:
            blame_given(error, execution.records)
            raise
        at_definition(self.gen_fn, execution.finish)
        observed = self.observed_paths
        if observed and not observed <= execution.records.keys():
            observed = frozenset(path for path in observed if path in execution.records)
        trace = self.gen_fn.watched(ReferenceTrace(self.gen_fn, args, retval, execution, observed))
        if self._structure is not None and tuple(execution.records) == tuple(self.records):  # in this order
            trace._structure = self._structure
        if args is self.args and len(execution.records) <= small.CHOICES:
            return trace
        return self.gen_fn.fitted(trace)

    def weight_of(self, execution: Update) -> float:
        """log p(t'; x') / (p(t; x) q(fresh)) of a finished update of this trace."""
        return not_nan(execution.score - self.log_prob - execution.fresh_score, self)

    def removed(self, execution: Update | Regenerate) -> dict[Path, Record]:
        """The choices of this trace that a finished execution of it no longer makes."""
        kept = len(execution.records) - execution.added
        if kept == len(self.records):
            return {}
        return {path: record for path, record in self.records.items() if path not in execution.records}


def check_kept_choice(old: ReferenceTrace, path: Path, distribution: Distribution, move: str) -> None:
    """Raise unless a choice that a move keeps has, with its new distribution, the base measure it had."""
    before, after = measured(old.records[path][0]), measured(distribution)
    if not same_measure(before, after):
        raise LabelError(
            f"{move} keeps this choice, which was {describe_measure(before)} and is now "
            f"{describe_measure(after)}",
            address=path,
            location=definition(old.gen_fn),
            fix="a move must give it a new value; or give the two kinds of choice different addresses",
        )


def check_is_selection(selection: Any) -> None:
    """Raise unless something is a selection."""
    if not isinstance(selection, Selection):
        example = repr(selection) if isinstance(selection, (str, tuple)) else "'x', ('mu', 0)"
        raise ValueTypeError(f"expected a selection, got {selection!r}", fix=f"write select({example})")


def not_nan(weight: float, trace: ReferenceTrace) -> float:
    """The weight, unless it is NaN: a trace of probability zero has no weight relative to it."""
    if weight != weight:
        if abs(trace.log_prob) == inf:
            problem = f"the old trace has log probability {trace.log_prob}, so the weight is undefined"
        else:
            problem = "the log weight is NaN"
        raise NaNError(problem, fix="start from a trace of positive probability: check trace.log_prob")
    return weight


def _restore(
    gen_fn: GenFunction,
    args: tuple[Any, ...],
    retval: Any,
    records: Records,
    calls: dict[Path, Any],
    log_prob: float,
    observed: Set[Path],
) -> ReferenceTrace:
    execution = Execution()
    execution.records, execution.calls, execution.score = records, calls, log_prob
    return ReferenceTrace(gen_fn, args, retval, execution, observed)


def _unpickled(
    gen_fn: GenFunction, args: tuple[Any, ...], retval: Any, records: Records, *rest: Any
) -> ReferenceTrace:
    """The trace again, with arrays that are read-only again: that isn't pickled."""
    for _, value, _ in records.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    return _restore(gen_fn, private(args), retval, records, *rest)
