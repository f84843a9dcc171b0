"""Shares of draws with some value or structure, with Monte Carlo standard errors."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gendsl.errors import ValueTypeError


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
    given = list(draws)
    chains = given if given and np.ndim(given[0]) > 0 else [given]
    values = [np.asarray(chain, dtype=float) for chain in chains]
    shortest, total = min(map(len, values)), sum(map(len, values))
    if shortest < 4 or not all(np.isfinite(x).all() for x in values):
        return math.nan
    ends = np.array([x[len(x) - shortest :] for x in values])
    covariances = _autocovariances(ends)
    if len(ends) > 1:
        covariances += ends.mean(axis=1).var(ddof=1)
    variance = covariances[0]
    if not variance > 0.0:
        return 0.0
    pairs = covariances[: shortest // 2 * 2].reshape(-1, 2).sum(axis=1)
    ending = np.flatnonzero(pairs <= 0.0)
    kept = np.minimum.accumulate(pairs[: ending[0]] if len(ending) else pairs)
    asymptotic = max(2.0 * kept.sum() - variance, variance / math.log10(total))
    return math.sqrt(asymptotic / total)


def _autocovariances(chains: np.ndarray) -> np.ndarray:
    """sum_i (x_i - mean) (x_i+t - mean) / n at each lag t, on average over chains, shape (m, n)."""
    n = chains.shape[1]
    size = 1 << (2 * n - 1).bit_length()  # the ends of a chain don't meet
    spectrum = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), size)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    found: np.ndarray = np.fft.irfft(power, size)[:n] / n
    return found


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
