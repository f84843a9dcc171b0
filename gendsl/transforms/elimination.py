"""log |det J| of a small move without a matrix: from the nonzero entries, column by column.

The coordinates of the inputs are the rows and the tangents of the outputs the columns. A column with one
entry left takes that entry's row with it, so most of a usual move is a product of such entries; the rest is
eliminated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, cast

from gendsl.address import Path
from gendsl.distributions.base import measured
from gendsl.runtime.records import Records, is_certain
from gendsl.supports import Simplex, Support
from gendsl.transforms.forward import Dual
from gendsl.transforms.inputs import Input, lookups, measure_in
from gendsl.transforms.labels import continuous, discrete
from gendsl.transforms.outputs import Copy, Output, Write
from gendsl.transforms.returned import NOT_A_CHOICE
from gendsl.transforms.run import Run
from gendsl.transforms.vectors import entries

UNTRACED = frozenset((bool, int, float, str))
"""Types that carry no derivatives."""

SMALL = 10
"""The largest Jacobian that is eliminated entry by entry; from about there on LAPACK is faster."""

Tangent = dict[int, float]


def assign_columns(output: Output, records: Records) -> Path | None:
    """Find the supports of what was written, in the trace that was made of it, and its columns.

    Returns:
        A path that the trace doesn't have, if there is one.
    """
    supports = output.supports
    near, known_at = lookups(records)
    columns: list[Tangent] = []
    plain = True
    for path, entry in output.entries.items():
        record = near(path)
        if record is not None:
            support = record[0]._measure or supports.get(path) or measured(record[0])
        elif path in supports:  # on the way back, where those are known of the choices that were read
            support = supports[path]
        elif (known := known_at(path)) is not None:
            support = known[0]
        elif (measure := measure_in(records, path)) is not None:
            support = measure
        else:
            return path
        supports[path] = support
        if type(entry) is not Write:
            if not is_plain_copy(cast(Copy, entry), support):
                plain = False
            continue
        value = entry.value
        if type(value) is Dual:
            columns.append(value.tangent)
            if support.dim != 1 or entry.label is discrete:
                plain = False
        elif support.discrete:
            if entry.label is continuous or type(value) not in UNTRACED:
                plain = False
        elif entry.label is discrete or not add_entries(value, support, columns):
            plain = False
    output.columns = columns if plain else None
    return None


def is_plain_copy(entry: Copy, support: Support) -> bool:
    """Note that a choice was copied; whether it is to one of the same kind, and for the first time."""
    source, path = entry.source, entry.path
    copied = source.supports.get(path) or source.support(path)
    if support.discrete:
        return copied.discrete
    if path in source.copied or not (copied is support or same_coordinates(copied, support)):
        return False
    source.copied.add(path)
    return True


def add_entries(value: Any, support: Support, columns: list[Tangent]) -> bool:
    """Add the tangents of a short vector's free entries; whether it is one, and they all have theirs."""
    parts, dim = entries(value), support.dim
    if parts is None or (len(parts) != dim and type(support) is not Simplex):
        return False
    for part in parts[:dim]:
        if type(part) is not Dual:
            return False
        columns.append(part.tangent)
    return True


def small_log_abs_det(run: Run, removed: Iterable[Path]) -> float | None:
    """log |det J| of a run, if it has few rows and columns, all of numbers or short vectors.

    None where it isn't positive and finite, or anything else is out of the ordinary: what is wrong, if
    anything is, is found by the other way.
    """
    columns: list[Tangent] = []
    for output in run.outputs:
        if output.columns is None:
            return None
        columns += output.columns
    if len(columns) > SMALL:
        return None
    live: list[int] = []
    written = run.outputs[0].entries
    if not _add_rows(run, run.inputs[0], [*written, *removed] if removed else written, live):
        return None
    for state in run.inputs[1:]:
        paths: Iterable[Path] = state.records  # all of an auxiliary trace goes in
        if state.observed:
            paths = [path for path in paths if path not in state.observed]
        if not _add_rows(run, state, paths, live):
            return None
    if len(live) != len(columns):
        return None
    if not columns:
        return 0.0
    log_det = _log_abs_det(columns, set(live))
    return log_det if math.isfinite(log_det) else None


def _add_rows(run: Run, state: Input, paths: Iterable[Path], live: list[int]) -> bool:
    """Add the coordinates of a trace's continuous choices at some paths, but for those that were copied.

    False if a choice was neither read nor copied that should have been: a continuous one, or a discrete one
    that could have had another value and of which nothing else may tell; or if one was copied that is at none
    of the paths.
    """
    seeds, supports, copied = state.seeds, state.supports, state.copied
    left = len(copied)
    for path in paths:
        if left and path in copied:
            left -= 1
            continue
        seed = seeds.get(path)
        if seed is not None:
            value, start = seed
            if type(value) is Dual:
                live += value.tangent  # its only coordinate
            else:
                live.extend(range(start, start + supports[path].dim))
            continue
        support = supports.get(path)
        if support is not None:
            if not support.discrete:
                return False
        else:
            record = state.find(path)
            if record is None:
                continue
            if not measured(record[0]).discrete or not (is_certain(record) or run.asked):
                return False
    return not left


def same_coordinates(a: Support, b: Support) -> bool:
    """Whether a value of one support has the free coordinates that it has in the other."""
    return a.shape == b.shape and a.dim == b.dim and (a.shape == () or type(a) is type(b))


def _log_abs_det(columns: list[Tangent], live: set[int]) -> float:
    """log |det| of the columns in the rows that are live; -inf if that is zero, NaN if an entry is none."""
    log_det = 0.0
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
            if count > 1:
                left.append(tangent)
            elif count and slope:
                live.discard(only)
                log_det += math.log(abs(slope))
            else:
                return -math.inf
        if len(left) == len(columns):
            return log_det + eliminate([{row: d for row, d in t.items() if row in live} for t in left])
        columns = left
    return log_det


def eliminate(columns: list[Tangent]) -> float:
    """log |det| of a square matrix, from its pivots; its columns are used up.

    Short columns come first, which keeps the others short; in each the largest entry is the pivot.
    """
    log_det = 0.0
    columns.sort(key=len, reverse=True)
    while columns:
        column = columns.pop()
        pivot, largest = None, 0.0
        for row, x in column.items():
            if abs(x) > largest:
                pivot, largest = row, abs(x)
        if pivot is None:
            return -math.inf
        x = column.pop(pivot)
        log_det += math.log(largest)
        for other in columns:
            y = other.pop(pivot, 0.0)
            if y and column:
                factor = y / x
                for row, d in column.items():
                    other[row] = other.get(row, 0.0) - factor * d
    return log_det
