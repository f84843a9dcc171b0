"""log |det J| of one run of a transform, in the free coordinates of what it changed.

The rows are the coordinates of the continuous input choices that don't simply stay where they are: every
auxiliary choice, and the model's choices that were overwritten or are gone (all of its latent choices, where
the output is a trace of another model). The columns are those of the
continuous choices that were written or copied to. A copied choice has one 1 in its column, so expanding
the determinant along it removes its row and its column; that is done first, and what is left is usually
small and sparse. (Cusumano-Towner et al., "Automating Involutive MCMC", section 5.1; free coordinates as in
`gendsl.supports`.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from gendsl.address import Path, format_address
from gendsl.distributions.base import measured
from gendsl.errors import (
    DimensionError,
    LabelError,
    LostDerivativeError,
    MoveNaNError,
    SingularJacobianError,
)
from gendsl.runtime.records import Records
from gendsl.supports import Support
from gendsl.transforms.arrays import DualArray, as_dual_array
from gendsl.transforms.elimination import UNTRACED, same_coordinates, small_log_abs_det
from gendsl.transforms.forward import Dual
from gendsl.transforms.labels import check_label, continuous, discrete
from gendsl.transforms.outputs import Copy, Write
from gendsl.transforms.returned import NOT_A_CHOICE
from gendsl.transforms.run import Run

Key = tuple[int, Path]
"""A choice of one side: 0 the model, 1 the auxiliary trace."""


def log_abs_det(run: Run, output_records: list[Records], removed: Iterable[Path] | None) -> float:
    """log |det d outputs / d inputs| of a finished run, by the shorter way where there is one.

    Args and errors: as `matrix_log_abs_det`.
    """
    log_det = None if removed is None else small_log_abs_det(run, removed)
    return matrix_log_abs_det(run, output_records, removed) if log_det is None else log_det


def matrix_log_abs_det(run: Run, output_records: list[Records], removed: Iterable[Path] | None) -> float:
    """log |det d outputs / d inputs| of a finished run.

    Args:
        run: the run, with its writes checked against the output traces.
        output_records: the choices of the output traces, model first.
        removed: the choices of the model that are gone from the output; None where the output is a trace of
            another model, to which every latent choice of the first input goes.

    Raises:
        DimensionError: the numbers of free input and output coordinates differ.
        SingularJacobianError: an input is not used, or an output depends on none.
        LostDerivativeError: an output depends on a return value.
        MoveNaNError: a derivative is NaN.
    """
    inputs = _changed_inputs(run, removed)
    outputs, copies = _written(run, output_records)
    if copies:
        _cancel_copies(run, inputs, outputs, copies)
    rows = columns = 0
    for support in inputs.values():
        rows += support.dim
    for support in outputs.values():
        columns += support.dim
    if rows != columns:
        raise DimensionError(
            f"transform {run.transform.name} maps {rows} free continuous coordinates to {columns}\n"
            f"    in:  {_listing(run.inputs, inputs)}\n"
            f"    out: {_listing(run.outputs, outputs)}",
            location=run.transform.location,
            fix="every continuous coordinate that goes in must come out: sample the missing ones in the "
            "auxiliary program, or write them to its output",
        )
    if rows == 0:
        return 0.0
    return _log_abs_det(run, inputs, outputs, rows)


def _changed_inputs(run: Run, removed: Iterable[Path] | None) -> dict[Key, Support]:
    """The continuous inputs that don't stay as they are, with their supports."""
    model = run.inputs[0]
    inputs: dict[Key, Support] = {}
    for path in () if removed is None else run.outputs[0].entries:
        support = model.measure(path)
        if support is not None and not support.discrete:
            inputs[0, path] = support
    for path in removed or ():
        if path not in model.observed:
            support = model.support(path)
            if not support.discrete:
                inputs[0, path] = support
    first = 0 if removed is None else 1
    for side, state in enumerate(run.inputs[first:], first):
        supports = state.supports
        for path, record in state.records.items():  # all of an auxiliary trace goes in
            support = supports.get(path)
            if support is None:
                support = supports[path] = measured(record[0])
            if not support.discrete and path not in state.observed:
                inputs[side, path] = support
    return inputs


def _written(
    run: Run, output_records: list[Records]
) -> tuple[dict[Key, Support], list[tuple[int, Path, Copy]]]:
    """The continuous outputs that were written or copied to, with their supports; and all copies."""
    outputs: dict[Key, Support] = {}
    copies: list[tuple[int, Path, Copy]] = []
    for side, state in enumerate(run.outputs):
        records, supports = output_records[side], state.supports
        for path, entry in state.entries.items():
            support = supports.get(path)
            if support is None:
                support = supports[path] = measured(records[path][0])
            is_discrete = support.discrete
            if isinstance(entry, Copy):
                copies.append((side, path, entry))
            else:
                label = entry.label
                if label is not None and label is not (discrete if is_discrete else continuous):
                    check_label(label, is_discrete, path, entry.location)
                if is_discrete and type(entry.value) not in UNTRACED:
                    refuse_traced(path, entry)
            if not is_discrete:
                outputs[side, path] = support
    return outputs, copies


def refuse_traced(path: Path, entry: Write) -> None:
    """Raise `LabelError` if an entry gives a discrete choice a value computed from continuous ones."""
    if _is_traced(entry.value):
        raise LabelError(
            "a value computed from continuous choices is written to a discrete choice",
            address=path,
            location=entry.location,
            fix="compute discrete values from discrete choices only",
        )


def _cancel_copies(
    run: Run,
    inputs: dict[Key, Support],
    outputs: dict[Key, Support],
    copies: list[tuple[int, Path, Copy]],
) -> None:
    """Remove the row and the column of every copied choice."""
    for side, path, entry in copies:
        target = side, path
        is_discrete = entry.source.support(entry.path).discrete
        if is_discrete != (target not in outputs):
            kinds = "discrete", "continuous"
            kind, other = kinds if is_discrete else kinds[::-1]
            raise LabelError(
                f"a {kind} choice ({format_address(entry.path)} of {entry.source.name}) is copied to "
                f"a {other} one",
                address=path,
                location=entry.location,
                fix="copy between choices of one kind",
            )
        if not is_discrete:
            source = run.position(entry.source), entry.path
            if source in inputs and same_coordinates(inputs[source], outputs[target]):
                del inputs[source], outputs[target]


def _log_abs_det(run: Run, inputs: dict[Key, Support], outputs: dict[Key, Support], size: int) -> float:
    row_of: dict[int, int] = {}
    row = 0
    for (side, path), support in inputs.items():
        seed = run.inputs[side].seeds.get(path)
        if seed is not None:
            for offset in range(support.dim):
                row_of[seed[1] + offset] = row + offset
        row += support.dim
    matrix = np.zeros((size, size))
    column = 0
    for (side, path), support in outputs.items():
        entry = run.outputs[side].entries[path]
        if isinstance(entry, Write):
            value = as_dual_array(entry.value) if type(entry.value) is not Dual else entry.value
        elif entry.path in entry.source.observed:
            value = entry.source.records[entry.path][1]  # a constant
        else:
            value = entry.source.value(entry.path, None)
            seed_start = entry.source.seeds[entry.path][1]
            row_of.update(_rows_of_copy(inputs, run, entry, seed_start))
        if type(value) is Dual:
            for coordinate, derivative in value.tangent.items():
                target = row_of.get(coordinate)
                if target is not None:
                    matrix[target, column] = derivative
                elif coordinate == NOT_A_CHOICE and derivative != 0.0:
                    raise _depends_on_return_value(path, entry)
        elif type(value) is DualArray:
            _fill_columns(matrix, value, support, row_of, column, path, entry)
        column += support.dim
    if size == 1:
        det = float(matrix[0, 0])
        log_det = math.log(abs(det)) if det != 0.0 else -math.inf
    else:
        log_det = float(np.linalg.slogdet(matrix)[1]) if np.isfinite(matrix).all() else math.nan
    if log_det != log_det or log_det == math.inf:
        raise _not_a_number(run, outputs, matrix)
    if log_det == -math.inf:
        raise _singular(run, inputs, outputs, matrix)
    return log_det


def _rows_of_copy(inputs: dict[Key, Support], run: Run, entry: Copy, start: int) -> dict[int, int]:
    """The rows of a choice that was copied but whose copy was not cancelled."""
    rows: dict[int, int] = {}
    row = 0
    for (side, path), support in inputs.items():
        if run.inputs[side] is entry.source and path == entry.path:
            rows = {start + offset: row + offset for offset in range(support.dim)}
        row += support.dim
    return rows


def _fill_columns(
    matrix: np.ndarray,
    value: DualArray,
    support: Support,
    row_of: dict[int, int],
    column: int,
    path: Path,
    entry: Write | Copy,
) -> None:
    tangent = value.tangent.reshape(-1, value.tangent.shape[-1])[support.free_entries]
    width = tangent.shape[1]
    coordinates = [c for c in row_of if c < width]
    rows = [row_of[c] for c in coordinates]
    matrix[rows, column : column + support.dim] = tangent[:, coordinates].T
    if width > NOT_A_CHOICE:
        returned = tangent[:, NOT_A_CHOICE]
        undefined = np.isnan(returned)
        if (returned[~undefined] != 0.0).any():
            raise _depends_on_return_value(path, entry)
        matrix[:, column + np.flatnonzero(undefined)] = math.nan  # where a slope is none, nothing is known


def _is_traced(value: Any) -> bool:
    if type(value) in (Dual, DualArray):
        return True
    if type(value) in (list, tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        return any(_is_traced(item) for item in value)
    return False


# --- explaining what is wrong ----------------------------------------------------------------------


def _listing(states: Any, supports: dict[Key, Support]) -> str:
    parts = []
    for (side, path), support in supports.items():
        name = f"{states[side].name}[{format_address(path)}]"
        parts.append(name if support.dim == 1 else f"{name} ({support.dim})")
    return ", ".join(parts) or "none"


def _depends_on_return_value(path: Path, entry: Write | Copy) -> LostDerivativeError:
    return LostDerivativeError(
        "the value written here depends on a float in a return value, and its derivative is not known",
        address=path,
        location=entry.location,
        fix="read the choices that the return value was computed from",
    )


def _expanded(supports: dict[Key, Support]) -> list[Key]:
    return [key for key, support in supports.items() for _ in range(support.dim)]


def _singular(
    run: Run, inputs: dict[Key, Support], outputs: dict[Key, Support], matrix: np.ndarray
) -> SingularJacobianError:
    for row, (side, path) in enumerate(_expanded(inputs)):
        if not matrix[row].any():
            return SingularJacobianError(
                f"no output depends on this continuous input of {run.inputs[side].name}, so transform "
                f"{run.transform.name} loses it",
                address=path,
                location=run.transform.location,
                fix="read it and write what it determines, or copy it to an output",
            )
    for column, (side, path) in enumerate(_expanded(outputs)):
        if not matrix[:, column].any():
            return SingularJacobianError(
                f"the value written here, in {run.outputs[side].name}, depends on no continuous input",
                address=path,
                location=run.outputs[side].entries[path].location,
                fix="compute it from what was read, or sample it in the auxiliary program",
            )
    return SingularJacobianError(
        f"the Jacobian of transform {run.transform.name} is singular: its outputs are not independent\n"
        f"    in:  {_listing(run.inputs, inputs)}\n    out: {_listing(run.outputs, outputs)}",
        location=run.transform.location,
        fix="two outputs are functions of each other; each must carry information of its own",
    )


def _not_a_number(run: Run, outputs: dict[Key, Support], matrix: np.ndarray) -> MoveNaNError:
    for column, (side, path) in enumerate(_expanded(outputs)):
        if not np.isfinite(matrix[:, column]).all():
            return MoveNaNError(
                "a derivative of the value written here is NaN or infinite",
                address=path,
                location=run.outputs[side].entries[path].location,
                fix="look for a division by zero or the square root of zero in what was written",
            )
    return MoveNaNError(
        f"the determinant of the Jacobian of transform {run.transform.name} overflows",
        location=run.transform.location,
        fix="rescale the choices",
    )
