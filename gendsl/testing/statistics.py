"""What is looked at in traces: every number in them by name, and statistics of these numbers.

The statistics are moments of normal scores (the normal score of x is the quantile of N(0, 1) at the level
that x has in the model, which makes them work for heavy tails) and indicator functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from gendsl.address import format_address
from gendsl.errors import ValueTypeError
from gendsl.interface import Trace
from gendsl.selection import Selection

RARE = 0.01  # a choice that fewer traces have (or lack) than this is not looked at
_ROUNDING = 1e-9
_LATENT_PAIRS, _DATA_PAIRS = 9, 4  # how many numbers of each kind are looked at in pairs, too
_FEW_VALUES = 6
_TAIL = float(ndtri(0.9))


def look(trace: Trace, where: Selection | None = None) -> dict[str, float]:
    """Every number in a trace, or in a selection of its choices, by a name."""
    numbers: dict[str, float] = {}
    for path, value in trace.choices.items():
        if where is not None and path not in where:
            continue
        if isinstance(value, (bool, int, float, np.generic)):
            numbers[format_address(path)] = float(value)
        elif isinstance(value, np.ndarray):
            name = format_address(path)
            for index, entry in enumerate(value.ravel().tolist()):
                numbers[f"{name}[{index}]"] = float(entry)
    return numbers


def as_functions(given: Any, name: str) -> dict[str, Callable[[Trace], Any]]:
    """The functions of a trace that an argument of that name gives, by their names."""
    if not isinstance(given, Mapping) or not given or not all(map(callable, given.values())):
        raise ValueTypeError(
            f"{name}={given!r}", fix=f"give a dict of functions: {name}={{'k': lambda trace: trace['k']}}"
        )
    return dict(given)


def values_of(functions: Mapping[str, Callable[[Trace], Any]], trace: Trace) -> dict[str, float]:
    """What functions of a trace give, all of them numbers."""
    found = {}
    for name, function in functions.items():
        value = function(trace)
        try:
            found[name] = float(value)
        except (TypeError, ValueError):
            raise ValueTypeError(f"{name} is {value!r}, which is no number", fix="return a number") from None
    return found


def data_names(traces: Sequence[Trace], data: Selection | None) -> set[str]:
    """The names of the numbers that are data."""
    if data is None:
        return set()
    return {name for trace in traces for name in look(trace, data)}


class Table:
    """Numbers by name in each of n traces; NaN where a trace has none of that name."""

    def __init__(self, rows: list[dict[str, float]]) -> None:
        self.size = len(rows)
        self.columns: dict[str, np.ndarray] = {}
        for i, row in enumerate(rows):
            for name, value in row.items():
                column = self.columns.get(name)
                if column is None:
                    column = self.columns[name] = np.full(self.size, np.nan)
                column[i] = value

    def scales(self) -> dict[str, np.ndarray]:
        """The sorted values of each name that is common enough."""
        common = {name: column[~np.isnan(column)] for name, column in self.columns.items()}
        return {name: np.sort(values) for name, values in common.items() if len(values) >= RARE * self.size}

    def scored(self, scales: dict[str, np.ndarray], pilot: int, data: set[str]) -> dict[str, np.ndarray]:
        """Statistics of the numbers, each of shape (size,).

        For every name: whether it exists; its normal score and the square of that; where it has few values
        whether it is each of these, else whether it is in the lowest or highest tenth. And products of the
        scores of two names.

        Args:
            scales: the sorted values of each name in `pilot` draws of the model.
            data: the names of what is observed.
        """
        statistics: dict[str, np.ndarray] = {}
        scores: dict[str, np.ndarray] = {}
        for name, scale in scales.items():
            column = self.columns.get(name, np.full(self.size, np.nan))
            exists = ~np.isnan(column)
            if len(scale) <= (1.0 - RARE) * pilot:
                statistics[f"{name} exists"] = exists.astype(float)
            if scale[0] == scale[-1]:
                continue
            score = np.where(exists, normal_score(column, scale), 0.0)
            statistics[name] = scores[name] = score
            distinct, counts = np.unique(scale, return_counts=True)
            if len(distinct) > 2:
                statistics[f"{name}²"] = score**2
            if 2 < len(distinct) <= _FEW_VALUES:
                for value in distinct[counts >= RARE * pilot]:
                    statistics[f"{name} = {value:g}"] = (column == value).astype(float)
            elif len(distinct) > _FEW_VALUES:
                statistics[f"{name} in its lowest tenth"] = (score < -_TAIL).astype(float)
                statistics[f"{name} in its highest tenth"] = (score > _TAIL).astype(float)
        names = [name for name in scores if name not in data][:_LATENT_PAIRS]
        names += [name for name in scores if name in data][:_DATA_PAIRS]
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                statistics[f"{first} · {second}"] = scores[first] * scores[second]
        return statistics


def normal_score(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The quantile of N(0, 1) at the level of each value among the sorted values of `scale`.

    Values that are equal but for rounding count as equal, as a weight that a move has scaled up to one.
    """
    rounding = _ROUNDING * np.maximum(1.0, np.abs(values))
    below = np.searchsorted(scale, values - rounding, side="left")
    upto = np.searchsorted(scale, values + rounding, side="right")
    n = len(scale)
    return np.asarray(ndtri(np.clip((below + upto) / (2 * n), 0.5 / n, 1.0 - 0.5 / n)))
