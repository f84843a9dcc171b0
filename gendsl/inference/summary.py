"""Shares of draws with some value or structure, with Monte Carlo standard errors."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gendsl.errors import ValueTypeError

_ROUNDING = 1e-12  # what batch means that are the same can differ by; any real error is at least 1 / N


class Share(NamedTuple):
    """The share of draws with some value, with its Monte Carlo standard error: see `share_error`."""

    probability: float
    standard_error: float


class Group(NamedTuple):
    """The draws with one structure: their share, its Monte Carlo standard error, and the run of them."""

    probability: float
    standard_error: float
    run: Any


def monte_carlo_error(draws: Any) -> float:
    """The Monte Carlo standard error of the mean of draws, by batch means.

    Each chain is cut into floor(sqrt(n)) batches of b draws. With the means m_i of the a batches of all
    chains, their mean m, and N draws in all, the error is sqrt(b sum (m_i - m)^2 / ((a - 1) N)). (Flegal and
    Jones 2010, "Batch means and spectral variance estimators in Markov chain Monte Carlo"; for several chains
    Gupta and Vats 2020, "Estimating Monte Carlo variance from multiple Markov chains".)

    Args:
        draws: n numbers, in the order they were drawn, n at least 4; or a list of such, one for each chain.

    Returns:
        The error; NaN where a chain has fewer than 4 draws.
    """
    given = list(draws)
    chains = given if given and np.ndim(given[0]) > 0 else [given]
    values = [np.asarray(chain, dtype=float) for chain in chains]
    shortest = min(map(len, values))
    if shortest < 4:
        return float("nan")
    size = min(len(x) // math.isqrt(len(x)) for x in values)
    means = []
    for x in values:
        batches = len(x) // size
        means.append(x[len(x) - batches * size :].reshape(batches, size).mean(axis=1))
    return float(np.sqrt(size * np.concatenate(means).var(ddof=1) / sum(map(len, values))))


def share_error(hits: Sequence[Any]) -> float:
    """The Monte Carlo standard error of a share p of draws: that of batch means, and never 0.

    Where no chain ever left (or ever met) the value it is NaN: draws that are all alike don't tell a
    probability of 1 from one that the chains would only have left later, however many they are, for how long
    they stay is what the error depends on. That is how the R package posterior treats constant draws
    (Bürkner, Gabry, Kay and Vehtari, documentation of its `mcse_mean`). Where some draws differ and the
    batches agree exactly, as they can by chance if there are few, batch means say nothing, and it is the
    error of N independent draws, sqrt(p (1 - p) / N).

    Args:
        hits: for each chain, 1 or 0 for each draw.

    Returns:
        The error; NaN also where a chain has fewer than 4 draws.
    """
    error = monte_carlo_error(hits)
    if not error < _ROUNDING:
        return error
    draws = np.concatenate(list(hits))
    p = float(draws.mean())
    return math.sqrt(p * (1.0 - p) / len(draws)) if 0.0 < p < 1.0 else math.nan


def frequency(chains: Sequence[Any]) -> dict[Any, Share]:
    """The share of each distinct value among the draws of some chains.

    In increasing order of value where the values have one. The errors are those of `share_error`.

    Args:
        chains: the values in each chain, in the order they were drawn.

    Raises:
        ValueTypeError: a draw is an array or a list.
    """
    values = [_hashable(chain) for chain in chains]
    distinct = _distinct(values)
    with contextlib.suppress(TypeError):  # values of several kinds keep the order in which they came up
        distinct.sort()
    return {value: _share(value, values) for value in distinct}


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
