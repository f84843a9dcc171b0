"""Checks that a transform is an involution, at one pair of traces.

Cusumano-Towner et al., "Automating Involutive MCMC", section 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from gendsl.address import Path, format_address
from gendsl.choices import MISSING
from gendsl.choices.values import same_value
from gendsl.errors import (
    CoverageError,
    GenDSLError,
    InvolutionError,
    SupportError,
    TransformError,
    traceback_location,
)
from gendsl.runtime.generative import GenFunction
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.records import Records
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.apply import Image, image, output_values, run_transform
from gendsl.transforms.arrays import DualArray, as_dual_array
from gendsl.transforms.elimination import assign_columns
from gendsl.transforms.jacobian import log_abs_det
from gendsl.transforms.language import Transform
from gendsl.transforms.moved import moved
from gendsl.transforms.outputs import Copy, Output, Write
from gendsl.transforms.run import Run

CANCELLATION_TOLERANCE = 1e-12
"""The absolute error allowed, relative to what the inputs of a value contribute to it: see `_rounding`."""

RELATIVE_TOLERANCE = 1e-8
"""How closely a continuous value must come back."""

LOG_DET_TOLERANCE = 1e-6
"""How closely the forward and backward log-determinants must cancel."""

_TURNED = 1e-6  # relative, of what comes back where a sign is flipped


def check_round_trip(
    f: Transform,
    inverse: Transform,
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    q_args: tuple[Any, ...],
    there: Image,
    *,
    elsewhere: bool = False,
) -> None:
    """Raise unless `inverse` takes `there` = f(trace, aux) back, with the inverse determinant.

    The inverse of an involution is f itself. `q_args` are the arguments that the inverse is shown.

    Only what either run mentions, or what the move removed, is compared: everything else is shared by
    the three pairs of traces. Where f leads to another model (`elsewhere`) nothing is shared, and every
    latent choice is compared. The program is not run again, for the choices of a trace determine it.

    Raises:
        InvolutionError: a value doesn't come back, or the determinants don't cancel.
        TransformError: the inverse fails on the output of f.
    """
    try:
        protected = trace.observed_paths if elsewhere else None
        back = run_transform(inverse, there.trace, there.aux, q_args, there.run, protected=protected)
        returned = [output_values(output) for output in back.outputs]
    except TransformError as error:
        error.problem = f"{_applied_to_output(f, inverse)} fails: {error.problem}"
        raise
    except GenDSLError:
        raise
    except Exception as error:  # whatever the user's code raises, the way back doesn't exist
        raise InvolutionError(
            f"{_applied_to_output(f, inverse)} raises {type(error).__name__}: {error}",
            location=traceback_location(error.__traceback__),
            fix="the second application must undo the first: look at the branch that it takes",
        ) from error
    for output, source in zip(back.outputs, there.run.inputs, strict=True):
        output.supports = source.supports  # those of the same choices
    records = [trace.records]
    if aux is not None:
        records.append(aux.records if type(aux.records) is dict else dict(aux.records.items()))
    try:
        gone = _check_returned(f, inverse, trace, records, there, back, returned, elsewhere)
    except InvolutionError as error:
        turned = _unturned(f, trace, aux, q_args, there) if inverse is f else []
        if turned:
            name = there.run.outputs[1].name
            shown = " and ".join(f"{name}[{', '.join(map(repr, path))}]" for path in turned)
            error.fix = (
                f"did you forget to flip a sign? If minus the value is written to {shown}, the "
                "second application leads back here"
            )
        raise
    backward = log_abs_det(back, records, gone)
    total = there.log_abs_det + backward
    if not abs(total) <= LOG_DET_TOLERANCE * max(1.0, abs(backward)):
        raise InvolutionError(
            f"the Jacobian determinants of transform {f.name} and of its return don't cancel: "
            f"log|det J| is {there.log_abs_det:.8g} there and {backward:.8g} back",
            location=f.location,
            fix="the way back is the inverse at this point but not near it: compare what the branches do",
        )


def _check_returned(
    f: Transform,
    inverse: Transform,
    trace: ReferenceTrace,
    records: list[Records],
    there: Image,
    back: Run,
    returned: list[dict[Path, Any]],
    elsewhere: bool,
) -> list[Path] | None:
    """Raise unless the values that came back are those there were in the `records` of the traces.

    Returns:
        The model's choices that are gone there.
    """
    gone: list[Path] | None = None
    model = old = records[0]
    if not elsewhere:
        changed = {**there.run.outputs[0].entries, **back.outputs[0].entries, **there.removed}
        gone = _compare_all(f, inverse, there, back, 0, changed, model, returned[0], there.trace.records)
    else:
        old = {path: record for path, record in model.items() if path not in trace.observed_paths}
        _compare_all(f, inverse, there, back, 0, old, old, returned[0], None)
    _refuse_surplus(f, inverse, back.outputs[0], old)
    for drawn in records[1:]:
        _refuse_surplus(f, inverse, back.outputs[1], drawn)
        _compare_all(f, inverse, there, back, 1, drawn, drawn, returned[1], None)
    return gone


def _compare_all(
    f: Transform,
    inverse: Transform,
    there: Image,
    back: Run,
    side: int,
    paths: Iterable[Path],
    records: Records,
    values: dict[Path, Any],
    kept: Records | None,
) -> list[Path]:
    """Raise unless the choices at some paths came back: those that weren't written stay as in `kept`.

    Returns:
        The paths at which there was no choice.
    """
    new = []
    for path in paths:
        record = records.get(path)
        if record is None:
            new.append(path)
            continue
        after = values.get(path, MISSING)
        if after is MISSING and kept is not None and (stays := kept.get(path)) is not None:
            after = stays[1]
        _compare(f, inverse, there, back, side, path, record[1], after)
    return new


def _unturned(
    f: Transform, trace: ReferenceTrace, aux: ReferenceTrace | None, q_args: tuple[Any, ...], there: Image
) -> list[Path]:
    """Auxiliary choices with which f would be an involution if it wrote minus their value; none if not so.

    With R the change of their signs, R f is an involution here if f R f = R: like a momentum, with which
    a trajectory runs backwards when it is turned round.
    """
    if aux is None or there.aux is None:
        return []
    flipped: dict[Path, Any] = {}
    for path, entry in there.run.outputs[1].entries.items():
        distribution, value, _ = there.aux.records[path]
        support = distribution.support
        if type(entry) is Copy or support.discrete or not isinstance(value, (float, np.ndarray)):
            continue
        if support.contains(-value):
            flipped[path] = -value
    if not flipped:
        return []
    try:
        back = run_transform(f, there.trace, moved(there.aux, flipped), q_args)
        model, auxiliary = (output_values(output) for output in back.outputs)
    except Exception:  # it was a guess, and the error that asked for it is raised
        return []
    expected = {path: -value if path in flipped else value for path, (_, value, _) in aux.records.items()}
    before = {path: trace.records[path][1] for path in there.run.outputs[0].entries if path in trace.records}
    for values, wanted in ((model, before), (auxiliary, expected)):
        if values.keys() != wanted.keys():
            return []
        if not all(same_value(value, wanted[path], _TURNED) for path, value in values.items()):
            return []
    return list(flipped)


def _rounding(back: Run, side: int, path: Path) -> float:
    """How far rounding alone may take a returned value x: 1e-12 sum_c |dx / dz_c| |z_c|.

    z_c are the coordinates that x was computed from on the way back, so this is what cancellation between
    them can leave, on the scale of this value and of no other.
    """
    entry = back.outputs[side].entries.get(path)
    value: Any = as_dual_array(entry.value) if isinstance(entry, Write) else None
    if type(value) is not DualArray:
        return 0.0
    inputs: dict[int, float] = {}
    for state in back.inputs:
        for read, (_, start) in state.seeds.items():
            distribution, input_value, _ = state.records[read]
            for offset, z in enumerate(distribution.support.coordinates(input_value)):
                inputs[start + offset] = abs(float(z))
    slopes = np.abs(value.tangent.reshape(-1, value.tangent.shape[-1]))
    total = float(np.max(slopes @ [inputs.get(c, 0.0) for c in range(slopes.shape[1])], initial=0.0))
    return CANCELLATION_TOLERANCE * total if math.isfinite(total) else 0.0


def _applied_to_output(f: Transform, inverse: Transform) -> str:
    whose = "its own output" if inverse is f else f"the output of {f.name}"
    return f"applied to {whose}, transform {inverse.name}"


def _not_inverse(f: Transform, inverse: Transform) -> str:
    if inverse is f:
        return f"transform {f.name} is not an involution: applied twice"
    return f"transform {inverse.name} is not the inverse of {f.name}: after one and the other"


def _refuse_surplus(f: Transform, inverse: Transform, output: Output, records: Records) -> None:
    surplus = assign_columns(output, records)
    if surplus is not None:
        raise InvolutionError(
            f"{_not_inverse(f, inverse)}, there is a choice in {output.name} that wasn't there before",
            address=surplus,
            location=output.entries[surplus].location,
            fix="the second application must undo the first: look at the branch that it takes",
        )


def _compare(
    f: Transform,
    inverse: Transform,
    there: Image,
    back: Run,
    side: int,
    path: Path,
    before: Any,
    after: Any,
) -> None:
    """Raise unless a value came back."""
    if after is not MISSING and same_value(before, after, RELATIVE_TOLERANCE):
        return
    if after is not MISSING and same_value(before, after, RELATIVE_TOLERANCE, _rounding(back, side, path)):
        return
    output = back.outputs[side]
    entry = output.entries.get(path) or there.run.outputs[side].entries.get(path)
    came_back = f"comes back as {after!r}"
    fix = (
        "check that the branch taken on the way back undoes the one taken on the way there, and that "
        "the auxiliary choices written say how to get back"
    )
    if after is MISSING:
        came_back = "is not restored: nothing is written or copied to it on the way back"
        handle = f"{output.name}[{', '.join(map(repr, path))}]"
        fix = f"in the branch taken on the way back, write or copy to {handle}; or {fix}"
    elif _is_minus(before, after):
        fix = (
            "it comes back with the other sign: did you forget to flip a sign, or lose one (in a square, "
            f"say)? Else {fix}"
        )
    raise InvolutionError(
        f"{_not_inverse(f, inverse)}, {format_address(path)} of {output.name}, "
        f"which was {before!r}, {came_back}",
        address=path,
        location=f.location if entry is None else entry.location,
        fix=fix,
    )


def _is_minus(before: Any, after: Any) -> bool:
    """Whether a number, or a vector of them, is minus another."""
    try:
        negative = [-x for x in after] if isinstance(after, (list, tuple)) else -after
    except TypeError:
        return False
    return same_value(before, negative, RELATIVE_TOLERANCE)


def check_departure(
    f: Transform,
    inverse: Transform,
    trace: ReferenceTrace,
    q: GenFunction | None,
    q_args: tuple[Any, ...],
    aux: ReferenceTrace | None,
    signal: ZeroProbability,
) -> None:
    """Raise unless a proposal of probability zero is one that a correct move may make.

    A transform may be an involution on a larger set than where the densities are positive, as a random
    walk is on a bounded parameter, or a merge of two components that no split makes. Rejecting such a
    proposal is then the ordinary Metropolis-Hastings rejection. So the round trip is checked through the
    point outside; if it fails, or can't be made because the program can't run there, that is an error.

    Raises:
        SupportError: the round trip through the point of probability zero fails.
    """
    location = f.location
    try:
        try:
            there = image(f, trace, q, q_args, aux, stop_at_zero=False)
        except Exception:  # the program can't run there: a negative standard deviation, say
            there = _by_the_transform_alone(f, trace, aux, q_args)
        for output in there.run.outputs:
            entry = output.entries.get(signal.path)
            location = location if entry is None else entry.location
        check_round_trip(f, inverse, trace, aux, q_args, there)
    except Exception as error:  # whatever goes wrong outside the support, the support was left
        why = error.problem if isinstance(error, GenDSLError) else f"{type(error).__name__}: {error}"
        raise SupportError(
            f"transform {f.name} leads to a state of probability zero: {signal}, and the way back from there "
            f"fails\n    ({why})",
            address=signal.path,
            location=location,
            fix="map into the support; if the move may leave it and such proposals should be rejected, "
            'use check="reject" or check=False, which do so correctly',
        ) from error


def _by_the_transform_alone(
    f: Transform, trace: ReferenceTrace, aux: ReferenceTrace | None, q_args: tuple[Any, ...]
) -> Image:
    """The image of a transform that leaves every choice in its place, without running the programs.

    Raises:
        CoverageError: the transform makes or removes choices, so the programs would have to run.
    """
    run = run_transform(f, trace, aux, q_args)
    outputs: list[ReferenceTrace] = []
    for output, old in zip(run.outputs, [trace] if aux is None else [trace, aux], strict=True):
        values = output_values(output)
        new = any(path not in old.records for path in values)
        if new or (old is aux and len(values) != len(old.records)):
            raise CoverageError(f"transform {f.name} changes which choices {output.name} has")
        outputs.append(moved(old, values))
    log_det = log_abs_det(run, [output.records for output in outputs], [])
    return Image(run, outputs[0], None if aux is None else outputs[1], -math.inf, log_det, {})
