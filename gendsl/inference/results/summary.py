"""Shares of draws with some value or structure, with Monte Carlo standard errors."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gendsl.choices.display import summary as short
from gendsl.distributions.arrays import brief
from gendsl.errors import ValueTypeError
from gendsl.inference.results.convergence import autocovariances, entries, restored, scaled
from gendsl.inference.results.tables import html_table, number, text_table

FEW = 20
"""A value that chains came to less often than that has a share of which little is known."""


class Share(NamedTuple):
    """The share of draws with some value, with its Monte Carlo standard error: see `share_error`."""

    probability: float
    standard_error: float

    def __repr__(self) -> str:
        return f"Share({_shown(self)})"


class Frequency(dict[Any, Share]):
    """The share of draws with each value of a quantity: a dict that shows itself as a table.

    Attributes:
        name: what the quantity is called.
        entries: how often the chains came to each value from another one. A share is known no better than by
            these: one of a value that was entered once says how long one visit was.
    """

    def __init__(
        self, shares: Mapping[Any, Share], name: str = "value", entries: Mapping[Any, int] | None = None
    ) -> None:
        super().__init__(shares)
        self.name = name
        self.entries = dict(entries or {})

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        heads = [self.name, "share", "error", *(["entered"] if self.entries else [])]
        rows = []
        for value, share in self.items():
            row = [short(value), number(share.probability), number(share.standard_error, 4)]
            rows.append([*row, str(self.entries[value])] if self.entries else row)
        return heads, rows

    def __str__(self) -> str:
        heads, rows = self._rows()
        return text_table(heads, rows) if rows else f"no draws of {self.name}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        heads, rows = self._rows()
        return html_table(heads, rows)


class Group(NamedTuple):
    """The draws with one structure: their share, its Monte Carlo standard error, and the run of them."""

    probability: float
    standard_error: float
    run: Any

    def __repr__(self) -> str:
        return f"Group({_shown(self)}, run={self.run!r})"


def _shown(share: Share | Group) -> str:
    return f"probability={number(share.probability)}, standard_error={number(share.standard_error, 4)}"


def monte_carlo_error(draws: Any) -> float:
    """The Monte Carlo standard error of the mean of draws, by their autocorrelations.

    For m chains of n draws, with the mean c_t of their autocovariances at lag t and the variance B of their
    means (0 for one chain), let rho_t = (c_t + B) / (c_0 + B). The error is

        sqrt((c_0 + B) tau / (m n)),  tau = -1 + 2 sum_k (rho_2k + rho_2k+1),

    with the sum over the initial monotone sequence: each term is at most the one before, and it ends before
    the first that isn't positive. (Geyer 1992, "Practical Markov chain Monte Carlo", section 3.3; for several
    chains Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021, "Rank-normalization, folding, and
    localization", section 3.2, with their bound tau >= 1 / log10(m n).)

    A chain that is no longer than a few times tau says little of tau: the error is then too small.

    Args:
        draws: n numbers, in the order they were drawn, n at least 4; or a list of such, one for each chain.
            Of chains that are longer than others only the end tells tau.

    Returns:
        The error; NaN where a chain has fewer than 4 draws, or a draw isn't finite.
    """
    try:
        given = list(draws)
        chains = given if given and np.ndim(given[0]) > 0 else [given]
        values = [np.asarray(chain, dtype=float) for chain in chains]
    except (TypeError, ValueError):
        raise ValueTypeError(
            f"monte_carlo_error needs draws that are numbers, got {brief(draws)}",
            fix="give those of a quantity, run['mu'], or a list of such, one for each chain",
        ) from None
    shortest, total = min(map(len, values)), sum(map(len, values))
    if shortest < 4 or not all(np.isfinite(x).all() for x in values):
        return math.nan
    ends, exponent = scaled(np.array([x[len(x) - shortest :] for x in values]))
    covariances = autocovariances(ends)
    if len(ends) > 1:
        covariances += ends.mean(axis=1).var(ddof=1)
    variance = covariances[0]
    if not variance > 0.0 or not np.ptp(ends):  # what rounding leaves of equal draws is not their variance
        return 0.0
    pairs = covariances[: shortest // 2 * 2].reshape(-1, 2).sum(axis=1)
    ending = np.flatnonzero(pairs <= 0.0)
    kept = np.minimum.accumulate(pairs[: ending[0]] if len(ending) else pairs)
    asymptotic = max(2.0 * kept.sum() - variance, variance / math.log10(total))
    return restored(math.sqrt(asymptotic / total), exponent)


def share_error(hits: Sequence[Any]) -> float:
    """The Monte Carlo standard error of a share of draws.

    Where no chain ever left (or ever met) the value it is NaN, and not 0: draws that are all alike don't tell
    a probability of 1 from one that the chains would only have left later, however many they are, for how
    long they stay is what the error depends on. That is how the R package posterior treats constant draws
    (Bürkner, Gabry, Kay and Vehtari, documentation of its `mcse_mean`).

    Args:
        hits: for each chain, 1 or 0 for each draw.

    Returns:
        The error; NaN also where a chain has fewer than 4 draws.
    """
    return monte_carlo_error(hits) or math.nan


def frequency(chains: Sequence[Any], name: str = "value") -> Frequency:
    """The share of each distinct value among the draws of some chains.

    In increasing order of value where the values have one. The errors are those of `share_error`.

    Args:
        chains: the values in each chain, in the order they were drawn.
        name: what the values are of.

    Raises:
        ValueTypeError: a draw is an array or a list.
    """
    values = [_hashable(chain) for chain in chains]
    distinct = _distinct(values)
    with contextlib.suppress(TypeError):  # values of several kinds keep the order in which they came up
        distinct.sort()
    shares = {value: _share(value, values) for value in distinct}
    return Frequency(shares, name, {value: entries(values, value) for value in distinct})


def per_structure(keys: list[list[Any]], part: Callable[[list[list[int]]], Any]) -> dict[Any, Group]:
    """The draws grouped by a key, the most frequent first; `part` makes the run of some of them."""
    values = [_hashable(chain) for chain in keys]
    groups = {}
    for value in _distinct(values):
        chosen = [[i for i, v in enumerate(chain) if v is value or v == value] for chain in values]
        groups[value] = Group(*_share(value, values), part(chosen))
    return dict(sorted(groups.items(), key=lambda item: -item[1].probability))


def _hashable(chain: Any) -> list[Any]:
    values = chain.tolist() if isinstance(chain, np.ndarray) else list(chain)
    values = [v.item() if isinstance(v, np.generic) else v for v in values]
    return [math.nan if isinstance(v, float) and v != v else v for v in values]  # one NaN for all


def _distinct(chains: list[list[Any]]) -> list[Any]:
    try:
        return list(dict.fromkeys(value for chain in chains for value in chain))
    except TypeError:
        raise ValueTypeError(
            "the share of draws with each value can't be counted for arrays and lists",
            fix="record one entry, or a tuple: lambda trace: tuple(trace['z'])",
        ) from None


def _share(value: Any, chains: list[list[Any]]) -> Share:
    hits = [np.array([v is value or v == value for v in chain], dtype=float) for chain in chains]
    return Share(float(np.concatenate(hits).mean()), share_error(hits))
