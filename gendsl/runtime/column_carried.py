"""What the iterations of a chain in columns hand on: each gets what the one before it has left.

A carried variable that is the value of a choice, as that of a random walk, needs no column of its own; what
else is carried, as the sum of all values so far, has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gendsl.choices import MISSING
from gendsl.runtime.column_steps import Lookup, Step
from gendsl.runtime.loop_parts import Slot
from gendsl.runtime.lowering.tables import NotColumnsError

_EXACT = 1 << 53


class Handed(NamedTuple):
    """A carried variable.

    Attributes:
        into: the slot in which an iteration receives it.
        first: where the first iteration's is, or None.
        out: the slot in which an iteration leaves it.
        slot: the slot of the choice, or the variable, whose value it is.
        number: which column that is.
    """

    into: int
    first: Slot | None
    out: int
    slot: int
    number: int


def handed_on(
    carried: list[tuple[str, Slot | None, int, int]], leaves: list[int], choices: list[int]
) -> tuple[list[Handed], list[int]]:
    """The carried variables of a loop, and the slots of those that take columns beside the choices."""
    kept = [slot for slot in dict.fromkeys(leaves) if slot not in choices]
    columns = [*choices, *kept]
    handed = [
        Handed(into, first, out, slot, columns.index(slot))
        for (_, first, into, out), slot in zip(carried, leaves, strict=True)
    ]
    return handed, kept


def needs_of(
    steps: list[Step], lookups: list[Lookup], handed: list[Handed], depth: int
) -> dict[int, set[Slot]]:
    """What the variables of an iteration depend on, but for choices; and it is noted in steps and lookups.

    What is handed on depends on what it is in the iteration before, and on what this depends on.
    """
    values: dict[int, set[Slot]] = {carried.into: {(depth, carried.slot)} for carried in handed}
    size = -1
    while size != sum(map(len, values.values())):
        size = sum(map(len, values.values()))
        for step in steps:
            _add(step.needs, step.runner.reads, values, depth)
            if step.site is None:
                values[step.slot] = step.needs
        for carried in handed:
            values[carried.into] |= values.get(carried.slot, set())
    for lookup in lookups:
        _add(lookup.needs, lookup.runner.reads, values, depth)
    return values


def _add(needs: set[Slot], reads: list[Any], values: dict[int, set[Slot]], depth: int) -> None:
    for read in reads:
        needs.add((read.depth, read.slot))
        if read.depth == depth:
            needs |= values.get(read.slot, set())


def hand_on(
    handed: list[Handed], scope: tuple[Any, ...], columns: Sequence[Any], many: np.ndarray | None = None
) -> None:
    """Put carried variables, as the iterations receive them, into the scope of array code.

    Args:
        columns: the columns, by their numbers.
        many: which iterations the scope is of; None for all.

    Raises:
        NotColumnsError: a column doesn't have it.
    """
    for carried in handed:
        column = columns[carried.number]
        if carried.first is None or column is MISSING:
            raise NotColumnsError
        depth, slot = carried.first
        start = scope[depth][slot]
        if many is None:
            array = column if type(column) is np.ndarray else column.array()
            made = np.empty_like(array)
            made[1:] = array[:-1]
            made[:1] = _as_element(start, array.dtype, array.shape[1:])
        else:
            made = column.take(np.maximum(many - 1, 0))
            made[many == 0] = _as_element(start, column.dtype, made.shape[1:])
        scope[-1][carried.into] = made


def _as_element(start: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """What the first iteration is handed, as an element of a column, or a row, that has the others.

    Raises:
        NotColumnsError: it is of another type, in a way that matters.
    """
    kind = type(start)
    if shape:
        if kind is np.ndarray and start.shape == shape and start.dtype == dtype:
            return start
        raise NotColumnsError
    if kind is {"f": float, "i": int, "b": bool}[dtype.kind]:
        if kind is int and not -_EXACT < start < _EXACT:
            raise NotColumnsError
        return start
    if kind is int and dtype.kind == "f" and -_EXACT < start < _EXACT:
        return start
    if isinstance(start, np.generic) and start.dtype == dtype:
        return start
    raise NotColumnsError


def and_next(many: np.ndarray, size: int) -> np.ndarray:
    """Iterations, and those that come after them."""
    return np.union1d(many, many[many < size - 1] + 1)
