"""Whether chains agree, and how many independent draws theirs are worth: split R-hat and effective draws.

After Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021, "Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC" (Bayesian Analysis 16). Each chain is cut into halves, so
that one chain can be compared with itself, and draws are replaced by the normal scores of their ranks, so
that no moment of theirs need exist.

A quantity that exists in some structures only is looked at in the draws that have it: a chain that is watched
only while it is in some set is a Markov chain too, of the posterior given that set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

LEAST = 4
"""The fewest draws of a chain of which anything is said."""


def r_hat(chains: Any) -> float:
    """The rank-normalised split R-hat: near 1 where chains agree, in location and in spread.

    With B the variance of the means of the half chains and W the mean of their variances, n draws each,
    R = sqrt((n - 1) / n + B / W) of the normal scores z = Phi^-1((rank - 3/8) / (N + 1/4)); what is returned
    is the greater of R for the draws and R for their distances to the median (section 4).

    Args:
        chains: the draws of one chain, or a list of these. Of chains of different lengths as many ends of one
            length are taken as have the most draws in all.

    Returns:
        R-hat; NaN where a chain has fewer than 4 draws, all are alike, or one is NaN.
    """
    whole = rectangle(chains)
    if whole is None:
        return math.nan
    draws = split(whole)
    with np.errstate(invalid="ignore", over="ignore"):  # infinity less an infinite median
        far = np.abs(draws - np.median(draws))
    # NaN is equal to nothing, so that distances among which there is one are left out
    both = [_ratio(normal_scores(each)) for each in (draws, far) if each.min() < each.max()]
    return max(both, default=math.nan)


def effective_draws(chains: Any, *, tail: bool = False) -> float:
    """How many independent draws would tell as much as these, of which neighbours are alike.

    N / tau of the normal scores of the draws' ranks, with tau as in `monte_carlo_error` by the initial
    monotone sequence of autocorrelations (section 3.2); with `tail` the lesser of this for whether draws are
    beyond the 5 % and the 95 % quantile (section 4.3).

    Args:
        chains: as for `r_hat`; draws that are left out count as much as the others.
        tail: whether to say it of quantiles in the tails.

    Returns:
        The number; NaN where a chain has fewer than 4 draws, all are alike, or one is NaN.
    """
    whole = rectangle(chains)
    if whole is None or whole.min() == whole.max():
        return math.nan
    more = sum(map(len, _columns(chains))) / whole.size
    if not tail:
        draws = split(whole)
        return _effective(normal_scores(draws)) * more if draws.min() < draws.max() else math.nan
    found = []
    ordered = np.sort(whole, axis=None)
    for probability in (0.05, 0.95):  # an infinite draw can't be interpolated, and needn't be
        level = ordered[int((whole.size - 1) * probability + 1e-9)]
        beyond = split(whole <= level).astype(float)
        if beyond.min() < beyond.max():
            found.append(_effective(beyond))
    return min(found, default=math.nan) * more


def entries(chains: Sequence[Sequence[Any]], value: Any) -> int:
    """How often any of the chains came to a value from another one."""
    count = 0
    for chain in chains:
        hits = np.array([v is value or v == value for v in chain], dtype=bool)
        count += int(np.count_nonzero(hits[1:] & ~hits[:-1]))
    return count


# --- chains as arrays ------------------------------------------------------------------------------


def rectangle(chains: Any) -> np.ndarray | None:
    """Chains as one array of shape (chains, draws); None where there are too few draws, or one is NaN.

    Of chains of different lengths, the ends of such a length that as many draws as possible are kept.
    """
    columns = sorted(_columns(chains), key=len, reverse=True)
    sizes = [(number + 1) * len(column) for number, column in enumerate(columns)]
    if not sizes or not max(sizes):
        return None
    many = sizes.index(max(sizes)) + 1
    length = len(columns[many - 1])
    if length < LEAST:
        return None
    kept = np.array([column[len(column) - length :] for column in columns[:many]])
    return None if np.isnan(kept).any() else kept


def split(chains: np.ndarray) -> np.ndarray:
    """The halves of each chain, without its middle draw where the number is odd."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, chains.shape[1] - half :]])


def _columns(chains: Any) -> list[np.ndarray]:
    given = list(chains)
    several = bool(given) and np.ndim(given[0]) > 0
    return [np.asarray(chain, dtype=float) for chain in (given if several else [given])]


def scaled(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbers without a common power of two, so that no square of theirs overflows, and its exponent."""
    largest = float(np.abs(values).max(initial=0.0))
    exponent = math.frexp(largest)[1] if math.isfinite(largest) else 0
    return np.ldexp(values, -exponent), exponent


def restored(value: float, exponent: int) -> float:
    """A mean, an error or a standard deviation of what was `scaled`, as that of the numbers themselves."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))


def mean_and_deviation(values: np.ndarray, ddof: int = 0) -> tuple[float, float]:
    """The mean and the standard deviation of numbers; NaN where there are too few, or infinite ones."""
    small, exponent = scaled(values)
    with np.errstate(invalid="ignore"):  # of infinite draws
        mean = restored(small.mean(), exponent)
        deviation = restored(small.std(ddof=ddof), exponent) if len(values) > ddof else math.nan
    return mean, deviation


# --- the statistics --------------------------------------------------------------------------------


def normal_scores(draws: np.ndarray) -> np.ndarray:
    """Phi^-1((rank - 3/8) / (N + 1/4)) of each draw among all N, equal ones with their mean rank."""
    _, inverse, counts = np.unique(draws, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - 0.5 * (counts - 1.0)
    scores: np.ndarray = ndtri((ranks - 0.375) / (draws.size + 0.25))[inverse].reshape(draws.shape)
    return scores


def _ratio(scores: np.ndarray) -> float:
    """R-hat of chains, each a row; infinite where none of them moves and they differ."""
    n = scores.shape[1]
    between, within = scores.mean(axis=1).var(ddof=1), scores.var(axis=1, ddof=1).mean()
    if np.ptp(scores, axis=1).max() == 0.0:
        return math.inf
    return float(math.sqrt((n - 1.0) / n + between / within))


def _effective(chains: np.ndarray) -> float:
    """N / tau of chains, each a row, whose draws aren't all alike."""
    n = chains.shape[1]
    covariances = autocovariances(chains)
    within = covariances[0] * n / (n - 1.0)
    plus = covariances[0] + (chains.mean(axis=1).var(ddof=1) if len(chains) > 1 else 0.0)
    correlations = 1.0 - (within - covariances) / plus
    correlations[0] = 1.0
    pairs = correlations[: max((n - 1) // 2, 1) * 2].reshape(-1, 2)
    sums = pairs.sum(axis=1)
    ending = np.flatnonzero(sums <= 0.0)
    last = int(ending[0]) if len(ending) else len(sums) - 1
    rest = pairs[last, 0] if pairs[last, 0] > 0.0 or sums[last] >= 0.0 else 0.0
    tau = -1.0 + 2.0 * np.minimum.accumulate(sums[:last]).sum() + rest
    return float(chains.size / max(tau, 1.0 / math.log10(chains.size)))


def autocovariances(chains: np.ndarray) -> np.ndarray:
    """sum_i (x_i - mean) (x_i+t - mean) / n at each lag t, on average over chains, shape (m, n)."""
    n = chains.shape[1]
    size = 1 << (2 * n - 1).bit_length()  # the ends of a chain don't meet
    spectrum = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), size)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=0)
    found: np.ndarray = np.fft.irfft(power, size)[:n] / n
    return found
