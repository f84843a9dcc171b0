"""Apply a transform to a pair of traces: run it, make the output traces, take the Jacobian."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any, cast

import numpy as np

from gendsl.address import Path
from gendsl.choices import MISSING, ChoiceMap, Constraints
from gendsl.choices.unknown import explain_unknown
from gendsl.distributions import Distribution
from gendsl.distributions.base import measured
from gendsl.errors import (
    CoverageError,
    DimensionError,
    GenDSLError,
    HandleError,
    KernelError,
    MissingChoiceError,
    MoveNaNError,
    NaNError,
    ProtectedObservationError,
    ValueTypeError,
)
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.records import Records, is_certain
from gendsl.runtime.trace import ReferenceTrace, check_kept_choice
from gendsl.transforms.arrays import DualArray, as_dual_array
from gendsl.transforms.elimination import assign_columns, small_log_abs_det
from gendsl.transforms.forward import Dual
from gendsl.transforms.inputs import Input
from gendsl.transforms.jacobian import matrix_log_abs_det, refuse_traced
from gendsl.transforms.labels import check_label
from gendsl.transforms.language import Transform, TransformPair, directions
from gendsl.transforms.no_draws import NO_DRAWS
from gendsl.transforms.outputs import Copy, Output, Write
from gendsl.transforms.repeated import compare_runs
from gendsl.transforms.run import Run
from gendsl.transforms.vectors import entries, numbers


def check_move(q: Any, q_args: Any, f: Any) -> None:
    """Raise unless q, its arguments and f are the parts of one move."""
    _check_order(q, q_args, f)
    if q is not None and not isinstance(q, GenFunction):
        raise KernelError(f"the auxiliary program is {q!r}", fix="decorate it with @gen, or pass None")
    if type(q_args) is not tuple:
        raise KernelError(
            f"q_args must be a tuple, got {q_args!r}",
            fix="write () for no arguments and (x,) for one; the model trace is passed before them",
        )
    for transform in directions(f) if isinstance(f, TransformPair) else ((f, f),):
        _check_traces(q, transform[0])


def _check_order(q: Any, q_args: Any, f: Any) -> None:
    """Raise where the parts of a move are given in an order that another function takes."""
    transforms = Transform, TransformPair
    if isinstance(q, transforms) or isinstance(q_args, transforms) or isinstance(f, (GenFunction, tuple)):
        given = ", ".join(getattr(part, "name", None) or repr(part) for part in (q, q_args, f))
        raise KernelError(
            f"the auxiliary program, its arguments and the transform are in another order: they are {given}",
            fix="write involutive(q, f, q_args), involutive_mcmc(trace, q, q_args, f) or "
            "check_involutive(model, args, q, f, q_args=...); all take q=, f= and q_args= by name",
        )


def _check_traces(q: Any, f: Any) -> None:
    if not isinstance(f, Transform):
        raise HandleError(f"{f!r} is no transform", fix="decorate the function with @transform")
    needed = 1 if q is None else 2
    if len(f.inputs) != needed:
        raise HandleError(
            f"transform {f.name} takes {len(f.inputs)} of the {needed} traces of this move"
            if needed == 2
            else f"transform {f.name} takes 2 traces, and without an auxiliary program a move has one",
            fix="with an auxiliary program a transform is (model_in, aux_in, *, model_out, aux_out); "
            "without one, pass None for it and write (model_in, *, model_out)",
        )


@dataclass(slots=True)
class Image:
    """Where a transform takes a model trace and an auxiliary trace.

    Attributes:
        run: the run of the transform, with its writes.
        trace, aux: the output traces (aux is None for a transform of one trace).
        log_weight: log p(x') - log p(x).
        log_abs_det: log |det J|.
        removed: the model's choices that are gone.
    """

    run: Run
    trace: ReferenceTrace
    aux: ReferenceTrace | None
    log_weight: float
    log_abs_det: float
    removed: dict[Path, Any]


def output_values(output: Output) -> dict[Path, Any]:
    """The plain values that a run gave to an output, copies included.

    Long lists of traced values become traced arrays in the output's entries, for the Jacobian.
    """
    values = output.values
    for path in output.unsettled:
        entry = cast(Write, output.entries[path])
        parts = entries(entry.value)
        listed = None if parts is None else numbers(parts)
        if listed is not None and (total := sum(listed)) == total:  # so none of them is NaN
            values[path] = np.array(listed, dtype=float)
            continue
        values[path] = value = _plain_written(path, entry)
        if _has_nan(value):
            raise MoveNaNError(
                "the value written here is NaN",
                address=path,
                location=entry.location,
                fix="look for a division by zero, inf - inf or the root of a negative number",
            )
    output.unsettled = []
    return values


def _plain_written(path: Path, entry: Write) -> Any:
    """The value of an entry, without its derivatives."""
    value = entry.value
    if type(value) is Dual:
        return value.value
    if type(value) in (list, tuple, np.ndarray):
        try:
            value = as_dual_array(value)
        except ValueTypeError as error:
            error.address, error.location = path, entry.location
            raise
    if type(value) is DualArray:
        entry.value = value
        return value.value if value.ndim else float(value.value)
    return value


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return value != value
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and bool((value != value).any())


def run_transform(
    f: Transform,
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    q_args: tuple[Any, ...],
    there: Run | None = None,
    *,
    protected: Container[Path] | None = None,
) -> Run:
    """Run a transform on a model trace and an auxiliary trace.

    `there` is the run whose output they are, if one made them; what is known from it is not found again.
    `protected` are the observations of the output: those of the input, if not given.
    """
    inputs: list[tuple[ReferenceTrace, tuple[Any, ...]]] = [(trace, trace.args)]
    if aux is not None:
        inputs.append((aux, q_args))
    return f.run(inputs, trace.observed_paths if protected is None else protected, there)


def image(
    f: Transform,
    trace: ReferenceTrace,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    aux: ReferenceTrace | None,
    *,
    stop_at_zero: bool = True,
) -> Image:
    """f(trace, aux), with the change in the model's log density and the Jacobian.

    Raises:
        ZeroProbability: the output has probability zero (with `stop_at_zero`).
        TransformError: the transform is wrong at this input; each subclass says how.
    """
    run = run_transform(f, trace, aux, q_args)
    model_values = output_values(run.outputs[0])
    _watch(f, run, lambda: run_transform(f, trace, aux, q_args))
    try:
        edit = trace.edit(model_values, stop_at_zero=stop_at_zero)
    except MissingChoiceError as error:
        raise _uncovered(error, f, run.outputs[0]) from None
    except ValueTypeError as error:
        _point_at_entry(run.outputs[0], error)
        raise
    except ZeroProbability as signal:
        _check_entry(run.outputs[0], signal.path, signal.distribution)
        kept = signal.path in trace.records and signal.path not in run.outputs[0].entries
        if kept and signal.path not in trace.observed_paths:
            check_kept_choice(trace, signal.path, signal.distribution, f"transform {f.name}")
        raise
    new = edit.trace
    _refuse_surplus(run.outputs[0], new.records)
    removed, remeasured = edit.removed, edit.remeasured
    for path in remeasured:
        check_kept_choice(trace, path, remeasured[path][1], f"transform {f.name}")
    for path in removed:
        if path in trace.observed_paths:
            raise ProtectedObservationError(
                f"transform {f.name} removes an observation from {run.outputs[0].name}",
                address=path,
                location=f.location,
                fix="the choices that are observed must exist whatever the latent choices are",
            )
    records = [new.records]
    new_aux = None
    if q is not None:
        new_aux = _assess_auxiliary(f, q, (new, *q_args), run.outputs[1], stop_at_zero)
        records.append(new_aux.records)
    if edit.log_weight != edit.log_weight:
        raise NaNError(
            f"the log density of the model went from {trace.log_prob} to {new.log_prob}",
            fix="start the chain from a trace of positive, finite density",
        )
    log_det = small_log_abs_det(run, removed)
    if log_det is None:  # something is out of the ordinary, or the move is large
        lost = []
        if not run.asked:
            lost = _unread(run, run.inputs[0], [*removed, *model_values])
            if aux is not None:
                lost += _unread(run, run.inputs[1], aux.records)
        log_det = matrix_log_abs_det(run, records, removed)
        _refuse_lost(run, lost)
    return Image(run, new, new_aux, edit.log_weight, log_det, removed)


def _watch(f: Transform, run: Run, again: Callable[[], Run]) -> None:
    """Compare a run with a second one, where that is due or it writes to other addresses than others did."""
    watch = f.watch
    watch.edits += 1
    shape = tuple(tuple(output.entries) for output in run.outputs)
    if watch.edits >= watch.due or watch.is_new(shape):
        watch.keep(run, lambda run: compare_runs(f, run, again, output_values), shape=shape)


def image_elsewhere(
    f: Transform,
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    q_args: tuple[Any, ...],
    target: Target,
    backward: GenFunction | None,
    backward_args: tuple[Any, ...],
) -> Image:
    """f(trace, aux) as a trace of another program, with the change in log density and the Jacobian.

    There are no implicit copies: every latent choice of the new trace is written or copied, and every
    latent choice of the old one counts as an input.

    Raises:
        ZeroProbability: the output, or the new observations, have probability zero.
        TransformError: the transform is wrong at this input; each subclass says how.
    """
    run = run_transform(f, trace, aux, q_args, protected=target)
    _watch(f, run, lambda: run_transform(f, trace, aux, q_args, protected=target))
    lost = [pair for state in run.inputs if not state.asked for pair in _unread(run, state, state.records)]
    new = target.trace_of(f, run.outputs[0])
    _refuse_surplus(run.outputs[0], new.records)
    records = [new.records]
    new_aux = None
    if backward is not None:
        new_aux = _assess_auxiliary(f, backward, (new, *backward_args), run.outputs[1], True)
        records.append(new_aux.records)
    log_det = matrix_log_abs_det(run, records, None)
    _refuse_lost(run, lost)
    return Image(run, new, new_aux, new.log_prob - trace.log_prob, log_det, {})


def _unread(run: Run, state: Input, paths: Iterable[Path]) -> list[tuple[Input, Path]]:
    """The discrete choices, of some that the output may not have as they are, neither read nor copied.

    Nothing of the output tells the value of such a choice: all its values lead to one output, and each
    would count as if it were the only one. (Continuous choices are counted with the Jacobian.) A choice of
    probability one has no other value. To be asked before anything but the transform looks at the input.
    """
    found = []
    for path in paths:
        if path in state.supports or path in state.observed:
            continue
        record = state.records.get(path)
        if record is None or is_certain(record) or not measured(record[0]).discrete:
            continue
        if not _is_copied(run, state, path):
            found.append((state, path))
    return found


def _refuse_lost(run: Run, lost: list[tuple[Input, Path]]) -> None:
    """Raise if there are discrete choices of which the output doesn't tell the value."""
    for state, path in lost:
        raise CoverageError(
            f"transform {run.transform.name} neither reads nor copies a discrete choice of {state.name}, so "
            "nothing says which value to go back to",
            address=path,
            location=run.transform.location,
            fix="write or copy it to the output, as an auxiliary (or backward) choice if the new trace has "
            "none for it; read it if other choices tell its value",
        )


def _is_copied(run: Run, state: Input, path: Path) -> bool:
    return any(
        type(entry) is Copy and entry.path == path and entry.source is state
        for output in run.outputs
        for entry in output.entries.values()
    )


class Target:
    """The program that a transform leads to, with its arguments and observations."""

    def __init__(self, model: GenFunction, args: tuple[Any, ...], observations: ChoiceMap) -> None:
        self.model = model
        self.args = args
        self.observations = observations
        self._observed = Constraints(observations)

    def __contains__(self, path: object) -> bool:
        """Whether an address is observed."""
        return self._observed.lookup(path) is not MISSING  # type: ignore[arg-type]

    def trace_of(self, f: Transform, output: Output) -> ReferenceTrace:
        """The trace with the choices that a transform wrote, and no others but the observations.

        Raises:
            ZeroProbability: it has probability zero.
            CoverageError: a choice was not written.
        """
        values = output_values(output)
        init = ChoiceMap._from_flat(values)
        try:
            generated = self.model.generate(self.args, self.observations, init=init, rng=NO_DRAWS)
            new = cast(ReferenceTrace, generated.trace)
            signal = None
            if new.log_prob == -inf:
                path, value = next(iter(new.impossible.items()))
                signal = ZeroProbability(path, new.records[path][0], value)
        except Exception as error:  # the program may not run where a choice is missing or out of its support
            signal = self._why(f, output, values, error)
        if signal is None:
            return new
        _check_entry(output, signal.path, signal.distribution)
        raise signal

    def _why(
        self, f: Transform, output: Output, values: dict[Path, Any], error: Exception
    ) -> ZeroProbability:
        """Why the program fails on these values: the first of them that has probability zero.

        Raises:
            CoverageError: because a choice is missing.
            Exception: `error`, if nothing is wrong with the values before it is raised.
        """
        given = _Together(values, Constraints(self.observations))
        try:
            scored = self.model.score(self.args, given, stop_at_zero=True)
        except ZeroProbability as signal:
            return signal
        except MissingChoiceError as missing:
            raise _uncovered(missing, f, output) from None
        except ValueTypeError as wrong:
            _point_at_entry(output, wrong)
            raise
        _refuse_surplus(output, scored.records)
        raise error


class _Together:
    """Values that are given exactly, and observations."""

    __slots__ = ("observations", "values")

    def __init__(self, values: dict[Path, Any], observations: Constraints) -> None:
        self.values = values
        self.observations = observations

    def lookup(self, path: Path) -> Any:
        """The value at a path, or MISSING."""
        value = self.values.get(path, MISSING)
        return self.observations.lookup(path) if value is MISSING else value


def _check_entry(output: Output, path: Path, distribution: Distribution) -> None:
    """Explain a value of probability zero, if it is one because it is of the wrong kind or shape."""
    entry = output.entries.get(path)
    if entry is None:
        return
    support = distribution.support
    if isinstance(entry, Write):
        if entry.label is not None:
            check_label(entry.label, support.discrete, path, entry.location)
        if support.discrete:
            refuse_traced(path, entry)
    if support.shape is None:
        return
    shape = np.shape(output_values(output)[path])
    if shape != support.shape:
        raise DimensionError(
            f"transform {output.transform.name} gives this choice a value of shape {shape}, and "
            f"{distribution!r} has values of shape {support.shape}",
            address=path,
            location=entry.location,
            fix="write as many entries as the choice has in the output trace",
        )


def _point_at_entry(output: Output, error: GenDSLError) -> None:
    """Let an error about the value of a choice point at the line that wrote it."""
    entry = None if error.address is None else output.entries.get(error.address)
    if entry is not None:
        error.location = entry.location


def _assess_auxiliary(
    f: Transform, q: GenFunction, args: tuple[Any, ...], output: Output, stop_at_zero: bool
) -> ReferenceTrace:
    try:
        aux = q.score_once(args, output_values(output), stop_at_zero=stop_at_zero)
    except MissingChoiceError as error:
        raise _uncovered(error, f, output) from None
    except ValueTypeError as error:
        _point_at_entry(output, error)
        raise
    except ZeroProbability as signal:
        _check_entry(output, signal.path, signal.distribution)
        raise
    _refuse_surplus(output, aux.records)
    return aux


def _uncovered(error: MissingChoiceError, f: Transform, output: Output) -> CoverageError:
    place = f.location
    return CoverageError(
        f"transform {f.name} ({place.filename}:{place.lineno}) neither writes nor copies to a choice that "
        f"{output.name} has",
        address=error.address,
        location=error.location,
        fix=f"write or copy to {output.name}[{_subscript(error.address)}]; a move never fills a choice in by "
        "sampling",
    )


def _subscript(path: Path | None) -> str:
    """An address as it stands between brackets."""
    return ", ".join(map(repr, path or ()))


def _refuse_surplus(output: Output, records: Records) -> None:
    surplus = assign_columns(output, records)
    if surplus is not None:
        raise CoverageError(
            f"transform {output.transform.name} writes to a choice that {output.name} doesn't have",
            address=surplus,
            location=output.entries[surplus].location,
            fix=explain_unknown(surplus, records),
        )
