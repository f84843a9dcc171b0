"""Moves by plans: the output traces that a line of arithmetic leads to, and the same checks of them.

Where anything isn't as it was in the run that a plan was made of, there is no answer: the transform is run.
"""

from __future__ import annotations

from math import inf, isclose
from typing import Any, NamedTuple

import numpy as np

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.errors import RuntimeMismatchError
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.paths import PathSet
from gendsl.runtime.records import Records
from gendsl.runtime.trace import check_kept_choice
from gendsl.runtime.watched import runs_whole
from gendsl.supports import Real
from gendsl.transforms.came_back import RELATIVE_TOLERANCE
from gendsl.transforms.moves import Move, Scored, check_aux, check_weight
from gendsl.transforms.plans import Inputs, Line, Planned, inputs
from gendsl.transforms.run import lookups, measure_in
from gendsl.transforms.straight_lines import LOG_DET_TOLERANCE


class Step(NamedTuple):
    """What `gendsl.transforms.apply.Image` is, of a move by a plan: there is no run."""

    planned: Planned
    trace: Any
    aux: Any
    log_weight: float
    log_abs_det: float
    removed: dict[Path, Any]


def planned_image(
    f: Any,
    trace: Any,
    q: Any,
    q_args: tuple[Any, ...],
    aux: Any,
    *,
    stop_at_zero: bool = True,
    may_wait: bool = False,
    check: bool = False,
) -> Step | Scored | bool:
    """f(trace, aux) by a plan; if there is none that holds, whether one should be made of this image.

    Args:
        may_wait: whether the traces may be made later, if they are needed: then it is `Scored`.
        check: whether it should be told then, if it can be, whether f leads back.

    Raises:
        ZeroProbability: the output has probability zero (with `stop_at_zero`).
    """
    if runs_whole() or trace.gen_fn.direct:  # the reference runtime does nothing but run programs
        return False
    planned = f.plans.found(trace, aux, (q, q_args, check) if may_wait else None)
    if type(planned) is bool:
        return planned
    line, (values, aux_values), log_det, scores = planned
    observed = trace.observed_paths
    if type(observed) is not PathSet and not observed.isdisjoint(values):
        return False
    if scores is not None:
        if type(observed) is not PathSet and not observed.isdisjoint(line.removed):
            return False
        move, log_prob, log_aux, came_back = scores
        return Scored(planned, move, log_prob - trace.log_prob, log_prob, log_aux, came_back)
    try:
        edit = trace.edit(values, stop_at_zero=stop_at_zero)
    except ZeroProbability as signal:
        path = signal.path
        if path not in values and path in trace.records:
            if path not in observed:
                check_kept_choice(trace, path, signal.distribution, f"transform {f.name}")
            raise
        if _is_as_before(line, 0, signal):
            raise
        return False
    except Exception:  # the run raises it, too, and says where
        return False
    new, weight, removed, remeasured = edit
    if remeasured or weight != weight or removed.keys() != line.removed:
        return False
    if removed and any(path in observed for path in removed):
        return False
    new_aux = aux_records = None
    if q is not None:
        try:
            new_aux = q.score_once((new, *q_args), aux_values, stop_at_zero=stop_at_zero)
        except ZeroProbability as signal:
            if _is_as_before(line, 1, signal):
                raise
            return False
        except Exception:  # the same
            return False
        aux_records = new_aux.records
    if not are_of_kinds(line, new.records, aux_records):
        return False
    return Step(planned, new, new_aux, weight, log_det, removed)


def _is_as_before(line: Line, side: int, signal: ZeroProbability) -> bool:
    """Whether the choice that has probability zero was written, and has the measure that it had."""
    measure = measured(signal.distribution)
    return any(
        path == signal.path and kind is type(measure) and (measure.discrete or kind is Real)
        for path, kind, _ in line.kinds[side]
    )


def comes_back_from_zero(
    f: Any, inverse: Any, trace: Any, q: Any, q_args: tuple[Any, ...], aux: Any
) -> bool:
    """Whether it is seen at once, by plans, that `inverse` leads back from an output of probability zero."""
    there = planned_image(f, trace, q, q_args, aux, stop_at_zero=False)
    return isinstance(there, Step) and comes_back(inverse, trace, aux, there) is True


def learn_way_back(
    f: Any, trace: Any, q: Any, q_args: tuple[Any, ...], aux: Any, move: Move
) -> None:
    """Put the way back of a step into its move, if it can be."""
    step = planned_image(f, trace, q, q_args, aux, stop_at_zero=False)
    if isinstance(step, Step):
        f.plans.learn_way_back(f, trace, aux, move, step)


def comes_back(inverse: Any, trace: Any, aux: Any, there: Step | Scored) -> bool | None:
    """Whether it is seen at once, by plans, that `inverse` leads from where a step went to where it started.

    None if there is no plan, and one should be made.
    """
    if isinstance(there, Scored):
        given = Inputs(*there.inputs(trace, aux))
    else:
        given = inputs(there.trace, there.aux)
    planned = inverse.plans.find(given)
    if type(planned) is bool:
        return None if planned else False
    line, (values, aux_values), log_det, _ = planned
    records, gone = trace.records, [path for path in there.planned.values[0] if path not in values]
    if line.removed != set(gone) or not there.planned.line.removed <= values.keys():
        return False
    for path in gone:
        if records.get(path) is not None:
            return False
    aux_records = None if aux is None else aux.records
    if not _came_back(values, records) or not are_of_kinds(line, records, aux_records):
        return False
    if aux_records is not None and aux_values.keys() != aux_records.keys():
        return False
    if aux_records is not None and not _came_back(aux_values, aux_records):
        return False
    return bool(abs(there.log_abs_det + log_det) <= LOG_DET_TOLERANCE * max(1.0, abs(log_det)))


def _came_back(values: dict[Path, Any], records: Records) -> bool:
    near, known = lookups(records)
    for path, after in values.items():
        record = near(path)
        if record is not None:
            before = record[1]
        elif (found := known(path)) is not None:
            before = found[1]
        elif (record := records.get(path)) is not None:
            before = record[1]
        else:
            return False
        if before is after:
            continue
        kind = type(after)
        if type(before) is not kind:
            return False
        if kind is np.ndarray:
            if before.shape != after.shape or not all(map(_is_close, before.tolist(), after.tolist())):
                return False
        elif before != after and (kind is not float or not _is_close(before, after)):
            return False
    return True


def _is_close(before: float, after: float) -> bool:
    return before == after or abs(after - before) <= RELATIVE_TOLERANCE * abs(before) < inf


def check_plan(f: Any, step: Step | Scored, there: Any, trace: Any, q: Any) -> None:
    """Raise unless a plan led to what the run of the transform led to.

    Raises:
        RuntimeMismatchError: it doesn't; a mistake of gendsl's, or the transform is not deterministic.
    """
    for made, output in zip(step.planned.values, there.run.outputs):  # noqa: B905 (of one trace or two)
        if made.keys() != output.values.keys():
            path = next(iter(made.keys() ^ output.values.keys()))
            raise _mismatch(f, "other choices are written", path)
        for path, value in made.items():
            if not _is_equal(value, output.values[path]):
                raise _mismatch(f, f"{value!r} is written, not {output.values[path]!r}", path)
    if not isclose(step.log_abs_det, there.log_abs_det, rel_tol=1e-9, abs_tol=1e-9):
        raise _mismatch(f, f"log|det J| is {step.log_abs_det}, not {there.log_abs_det}", None)
    if isinstance(step, Scored):
        check_weight(f, step, trace, there.log_weight)
        if q is not None:
            check_aux(f, q, step, there.aux.log_prob)


def _is_equal(made: Any, found: Any) -> bool:
    kind = type(made)
    if kind is type(found) and kind is not np.ndarray:
        return bool(made == found)
    return np.array_equal(made, found)


def _mismatch(f: Any, problem: str, path: Path | None) -> RuntimeMismatchError:
    return RuntimeMismatchError(
        f"transform {f.name}, by what was kept of an earlier run: {problem}",
        address=path,
        location=f.location,
        fix="a transform must be deterministic given what it reads; if it is, this is a mistake in gendsl: "
        "please report it",
    )


def are_of_kinds(line: Line, records: Records, aux_records: Records | None) -> bool:
    """Whether the choices that a line writes have the measures that they had."""
    near, _ = lookups(records)
    for written in line.kinds:
        for path, kind, shape in written:
            found = near(path)
            support = measure_in(records, path) if found is None else found[0]._measure or measured(found[0])
            if support.__class__ is not kind or (shape and support.shape != shape):
                return False
        if aux_records is None:
            break
        records = aux_records
        near, _ = lookups(records)
    return True
