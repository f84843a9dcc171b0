"""The steps of a loop that is kept as columns, and what their columns score."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gendsl.distributions.column_laws import sample_column, score_column, total_column
from gendsl.distributions.compound import product
from gendsl.distributions.row_columns import ROW_FAMILIES
from gendsl.runtime.loop_parts import Slot
from gendsl.runtime.lowering.tables import NotColumnsError, as_column, as_rows
from gendsl.runtime.lowering.vectors import Chosen
from gendsl.runtime.reads import Runner
from gendsl.runtime.sites import SiteBlock
from gendsl.runtime.totals import Total, total_of
from gendsl.runtime.totals import change as changed_total

_MOST_VECTORS = 256
"""How many vectors the iterations of a loop share at most: each is looked at by itself."""
LARGE = 1e4
"""A mean score from which on scores are summed exactly: without that value they may be much smaller."""


class _Draws:
    """Draws that loops made in another order than the program: one site after the other.

    Attributes:
        count: how often.
    """

    count = 0


OUT_OF_ORDER = _Draws()
ARITHMETIC = {"divide": "raise", "over": "raise", "invalid": "raise"}


class Step:
    """A choice or an assigned variable of all iterations at once; see `ir.ColumnSite`, `ir.ColumnValue`.

    Attributes:
        site: the site of the choice; then `family` is its family, and `number` its place among the sites.
        dtype, rows: the type of its column, and whether its values are vectors, which are rows of it.
        computes: whether its parameters are computed from columns.
        needs: what it depends on, directly or by other assigned variables: slots by depth.
    """

    __slots__ = (
        "computes", "dtype", "family", "index", "needs", "number", "position", "rows", "runner", "site",
        "slot",
    )  # fmt: skip

    def __init__(self, runner: Runner, slot: int) -> None:
        self.runner = runner
        self.slot = slot
        self.site: SiteBlock | None = None
        self.computes = True
        self.family: Any = None
        self.dtype: Any = None
        self.rows = False
        self.number = self.position = self.index = -1
        self.needs: set[Slot] = set()

    def is_of_family(self, distribution: Any) -> bool:
        """Whether a distribution is of the choice's family."""
        kind = type(distribution)
        return kind is self.family or (self.family is product and issubclass(kind, product))


class Lookup:
    """A lookup by index in a container outside the loop; see `ir.Gather`. `needs`: what the index reads."""

    __slots__ = ("container", "needs", "of", "runner")

    def __init__(self, runner: Runner, container: Slot, of: int | None) -> None:
        self.runner = runner
        self.container = container
        self.of = of
        self.needs: set[Slot] = set()


def column_total(family: Any, column: np.ndarray, parameters: tuple[Any, ...]) -> Total:
    """The total of the scores of a column.

    Raises:
        NotColumnsError: they can't be vouched for.
    """
    if Chosen in map(type, parameters):
        totals = [
            column_total(family, column[members], given) for members, given in _by_vector(family, parameters)
        ]
        high = math.fsum(part for total in totals for part in total[:2])
        return high, 0.0, sum(count for _, _, count in totals)
    total = total_column(family, column, parameters)
    if total is None:
        raise NotColumnsError
    if abs(total) < LARGE * len(column):
        return total, 0.0, 0
    scores = score_column(family, column, parameters)
    if scores is None:
        raise NotColumnsError
    return total_of(scores.tolist())


def drawn_column(
    family: Any, rng: Any, size: int, parameters: tuple[Any, ...], *, in_order: bool = False
) -> np.ndarray:
    """Draws, one for each iteration.

    Args:
        in_order: whether they are to be those that one would draw one after the other.

    Raises:
        NotColumnsError: they have to be drawn one by one.
    """
    if Chosen in map(type, parameters):
        if in_order:
            raise NotColumnsError
        OUT_OF_ORDER.count += 1
        made: Any = None
        for members, given in _by_vector(family, parameters):
            some = drawn_column(family, rng, len(members), given)
            made = np.empty((size, *some.shape[1:]), some.dtype) if made is None else made
            made[members] = some
        return made  # type: ignore[no-any-return]
    draws = sample_column(family, rng, size, parameters)
    if draws is None:
        raise NotColumnsError
    return draws


def _by_vector(family: Any, parameters: tuple[Any, ...]) -> Iterator[tuple[np.ndarray, tuple[Any, ...]]]:
    """The iterations that have the same vectors as parameters, and these; of a matrix with a row for each,
    their rows.

    Raises:
        NotColumnsError: there are so many that array code doesn't pay.
    """
    indices = [parameter.index for parameter in parameters if type(parameter) is Chosen]
    index = indices[0]
    if any(not np.array_equal(index, other) for other in indices[1:]):
        raise NotColumnsError
    known = ROW_FAMILIES.get(family)
    apart = () if known is None else [i for i in known.rows if np.ndim(parameters[i]) == 2]
    keys, which = np.unique(index, return_inverse=True)
    if len(keys) > _MOST_VECTORS:
        raise NotColumnsError
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which))
    for key, members in zip(keys.tolist(), np.split(order, ends[:-1]), strict=True):
        yield (
            members,
            tuple(
                p.vectors[key] if type(p) is Chosen else p[members] if i in apart else p
                for i, p in enumerate(parameters)
            ),
        )


def as_typed(given: Any, step: Step) -> np.ndarray:
    """Given values as the column of a choice, as each by itself would be taken; a copy.

    Raises:
        NotColumnsError: some would be kept as something else.
    """
    dtype = step.dtype
    column: Any = as_rows(given) if step.rows else as_column(given)
    if type(column) is range:
        column = np.arange(column.start, column.stop, column.step)
    kind = column.dtype.kind
    fits = dtype.kind in ("f", kind) or (dtype.kind == "i" and kind == "b")
    if fits or (dtype.kind == "b" and kind == "i" and ((column == 0) | (column == 1)).all()):
        made: np.ndarray = np.array(column, dtype, order="C")
        return made
    raise NotColumnsError


def moved_total(total: Total, was: Total, now: Total) -> Total:
    """A total with other terms in place of some, given by their totals."""
    high, low, count = changed_total(total, was[0], now[0])
    return high, low + (now[1] - was[1]), count
