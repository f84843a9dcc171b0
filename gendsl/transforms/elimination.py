"""log |det J| of a small move without a matrix: from the nonzero entries, column by column.

The coordinates of the inputs are the rows and the tangents of the outputs the columns. A column with one
entry left takes that entry's row with it, so most of a usual move is a product of such entries; the rest is
eliminated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from gendsl.address import Path
from gendsl.runtime.records import Records
from gendsl.supports import Simplex, Support
from gendsl.transforms.forward import Dual
from gendsl.transforms.returned import NOT_A_CHOICE
from gendsl.transforms.run import Copy, Input, Output, Run, continuous, discrete, measured
from gendsl.transforms.vectors import entries

UNTRACED = frozenset((bool, int, float, str))
"""Types that carry no derivatives."""

Rows = dict[Path, tuple[int, Support]]
"""For choices of one input trace that don't stay as they are: the first coordinate, and the support."""

Tangent = dict[int, float]

_UNREAD = -1
"""The coordinate of a choice that was not read."""


def small_log_abs_det(
    run: Run, output_records: list[Records], removed: Iterable[Path], most: int
) -> float | None:
    """log |det J| of a run, if it has at most `most` rows and columns, all of numbers or short vectors.

    None where it isn't positive and finite, or anything else is out of the ordinary: what is wrong, if
    anything is, is found by the other way.
    """
    rows = _rows(run, removed)
    columns: list[Tangent] = []
    for output, records in zip(run.outputs, output_records):  # noqa: B905 (of one length; hot)
        if not _add_columns(run, output, records, rows, columns):
            return None
    live: set[int] = set()
    for side in rows:
        for start, support in side.values():
            if start == _UNREAD:
                return None
            if support.dim == 1:
                live.add(start)
            else:
                live.update(range(start, start + support.dim))
    if len(live) != len(columns) or len(columns) > most:
        return None
    if not columns:
        return 0.0
    det = abs(_product(columns, live))
    return math.log(det) if 0.0 < det < math.inf else None


def _rows(run: Run, removed: Iterable[Path]) -> list[Rows]:
    """The continuous inputs of each trace that don't stay as they are."""
    model = run.inputs[0]
    changed: Rows = {}
    rows = [changed]
    seeds, supports = model.seeds, model.supports
    for path in run.outputs[0].entries:
        seed = seeds.get(path)
        support = supports.get(path)
        if support is None:
            record = model.find(path)
            if record is None:
                continue
            support = supports[path] = measured(record[0])
        if not support.discrete:
            changed[path] = _UNREAD if seed is None else seed[1], support
    for path in removed:
        if path not in model.observed:
            support = model.support(path)
            if not support.discrete:
                seed = seeds.get(path)
                changed[path] = _UNREAD if seed is None else seed[1], support
    for state in run.inputs[1:]:
        rows.append(_all_rows(state))
    return rows


def _all_rows(state: Input) -> Rows:
    """The continuous choices of an auxiliary trace, all of which go in."""
    rows: Rows = {}
    seeds, supports, observed = state.seeds, state.supports, state.observed
    for path, record in state.records.items():
        support = supports.get(path)
        if support is None:
            support = supports[path] = measured(record[0])
        if not support.discrete and path not in observed:
            seed = seeds.get(path)
            rows[path] = _UNREAD if seed is None else seed[1], support
    return rows


def _add_columns(
    run: Run, output: Output, records: Records, rows: list[Rows], columns: list[Tangent]
) -> bool:
    """Add the tangents written to an output, and remove the rows of what is copied; whether that is all."""
    supports = output.supports
    for path, entry in output.entries.items():
        support = supports.get(path)
        if support is None:
            support = supports[path] = measured(records[path][0])
        is_discrete = support.discrete
        if isinstance(entry, Copy):
            source = entry.source
            copied = source.support(entry.path)
            if copied.discrete != is_discrete:
                return False
            if is_discrete:
                continue
            taken = rows[0 if source is run.inputs[0] else 1].pop(entry.path, None)
            if taken is None or not same_coordinates(copied, support):
                return False
            continue
        label = entry.label
        if label is not None and label is not (discrete if is_discrete else continuous):
            return False
        value = entry.value
        kind = type(value)
        if kind is Dual:
            if support.dim != 1:
                return False
            columns.append(value.tangent)
        elif is_discrete:
            if kind not in UNTRACED:
                return False
        else:
            parts = entries(value)
            dim = support.dim
            if parts is None or (len(parts) != dim and type(support) is not Simplex):
                return False
            for part in parts[:dim]:
                if type(part) is not Dual:
                    return False
                columns.append(part.tangent)
    return True


def same_coordinates(a: Support, b: Support) -> bool:
    """Whether a value of one support has the free coordinates that it has in the other."""
    return a.shape == b.shape and a.dim == b.dim and (a.shape == () or type(a) is type(b))


def _product(columns: list[Tangent], live: set[int]) -> float:
    """The determinant, up to its sign, of the columns in the rows that are live; NaN if an entry is none."""
    det = 1.0
    total = 0.0
    if len(columns) > 1:
        columns.sort(key=len)
    for tangent in columns:
        if NOT_A_CHOICE in tangent:
            return math.nan
        total += sum(tangent.values())
    if total - total != 0.0:
        return math.nan
    while columns:
        left: list[Tangent] = []
        for tangent in columns:
            count = 0
            for row, d in tangent.items():
                if row in live:
                    count += 1
                    only, slope = row, d
            if count == 1:
                live.discard(only)
                det *= slope
            elif count:
                left.append(tangent)
            else:
                return 0.0
        if len(left) == len(columns):
            return det * eliminate([{row: d for row, d in t.items() if row in live} for t in left])
        columns = left
    return det


def eliminate(columns: list[Tangent]) -> float:
    """The product of the pivots of a square matrix, |det| up to its sign; its columns are used up.

    Short columns come first, which keeps the others short; in each the largest entry is the pivot.
    """
    det = 1.0
    columns.sort(key=len, reverse=True)
    while columns:
        column = columns.pop()
        pivot, largest = None, 0.0
        for row, x in column.items():
            if abs(x) > largest:
                pivot, largest = row, abs(x)
        if pivot is None:
            return 0.0
        x = column.pop(pivot)
        det *= x
        for other in columns:
            y = other.pop(pivot, 0.0)
            if y and column:
                factor = y / x
                for row, d in column.items():
                    other[row] = other.get(row, 0.0) - factor * d
    return det
