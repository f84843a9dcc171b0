"""How far the average of a statistic along chains is from its expectation, and how likely that is by chance.

The chains are independent, so their averages m_1, ..., m_C of a statistic are, too, and where the kernel
is right each has the expectation of the statistic over the model. Two tests of that, by what is known:

- The chains' averages differ from one another: Student's t with Welch's degrees of freedom, transformed to
  take out the skewness of the averages (Hall 1992, "On the removal of skewness by transformation").
- Fewer than a quarter of them differ, as with an event that most chains never see: their spread says too
  little. Bernstein's inequality holds whatever the chains do, for under the null hypothesis an average
  along a chain has no larger variance than a single draw. That variance is taken from the draws and from
  the chains' averages together: an event that none of a few draws sees may still be possible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtr

_FEW = 0.25
_UNUSUAL = 1e-3  # of a normal z with a p-value below this, another p-value is explained
_TIMES = 10.0  # if it is so many times larger


@dataclass(frozen=True)
class Score:
    """How the average of one statistic along the chains compares with that over draws of the model.

    Attributes:
        name: what was averaged.
        mean: its average along the chains.
        expected: its average over independent draws of the model.
        error: the standard error of the difference.
        p_value: the probability of so large a difference in either direction if the kernel is right.
        bounded: whether fewer than a quarter of the chains differed, so that p_value is Bernstein's bound.
        chains: how many chains there were.
        width: the difference of the largest and the smallest value at the draws.
    """

    name: str
    mean: float
    expected: float
    error: float
    p_value: float
    bounded: bool = False
    chains: int = 0
    width: float = 0.0

    @property
    def unseen(self) -> float:
        """The least probability of states that no chain was in, if such states explain the difference.

        A chain that starts in one and stays there has the most extreme value as its average. The fewer
        the chains, the likelier it is that none does so: (1 - p)^chains for states of probability p.
        """
        return min(1.0, abs(self.mean - self.expected) / self.width) if self.width else 1.0

    @property
    def z(self) -> float:
        """The difference in standard errors."""
        difference = self.mean - self.expected
        if self.error == 0.0:
            return 0.0 if abs(difference) < 1e-12 else math.copysign(math.inf, difference)
        return difference / self.error

    @property
    def note(self) -> str:
        """Why z says more than the p-value, where it does: a large z of a statistic that passes."""
        normal = 2.0 * float(ndtr(-abs(self.z)))
        if normal > _UNUSUAL or self.p_value < _TIMES * normal or self.p_value < _UNUSUAL * _UNUSUAL:
            return ""
        if self.bounded:
            return (
                "fewer than a quarter of the chains differ in it, so their spread, and z, say little: p is "
                "a bound that holds whatever they do"
            )
        return "the chains are few, or their averages skewed, and a large z is then no rarity: p allows that"


def compare(name: str, means: np.ndarray, draws: np.ndarray) -> Score:
    """The score of a statistic, from its averages along chains and its values at draws of the model.

    Args:
        name: the name of the statistic.
        means: its average along each chain, shape (chains,).
        draws: its values at independent draws of the model, shape (draws,).
    """
    chains = len(means)
    mean, expected = float(means.mean()), float(draws.mean())
    difference, width = mean - expected, float(np.ptp(draws))
    differing = np.count_nonzero(np.abs(means - np.median(means)) > 1e-12 * (1.0 + np.abs(means)))
    if differing < _FEW * chains:
        seen = np.concatenate([draws, means])
        error = math.sqrt(float(seen.var()) * (1.0 / chains + 1.0 / len(draws)))
        bound = _bernstein(difference, error, chains, np.ptp(seen))
        return Score(name, mean, expected, error, bound, True, chains, width)
    of_means = float(means.var(ddof=1)) / chains
    error = math.sqrt(of_means + float(draws.var()) / len(draws))
    skewness = float(np.mean((means - mean) ** 3)) / chains**2 / error**3
    t = _unskewed(difference / error, skewness)
    freedom = (chains - 1) * (error**2 / of_means) ** 2
    return Score(name, mean, expected, error, float(2.0 * stdtr(freedom, -abs(t))), False, chains, width)


def _unskewed(t: float, skewness: float) -> float:
    """Hall's cubic transformation of a t statistic, increasing in t, whose law is less skewed."""
    return t + skewness / 3.0 * t**2 + skewness**2 / 27.0 * t**3 + skewness / 6.0


def _bernstein(difference: float, error: float, chains: int, width: float) -> float:
    """2 exp(-d² / (2 (v + w |d| / (3 n)))): a bound of P(|mean - expectation| >= |d|)."""
    if abs(difference) < 1e-12:
        return 1.0
    spread = error**2 + float(width) * abs(difference) / (3.0 * chains)
    return min(1.0, 2.0 * math.exp(-(difference**2) / (2.0 * spread))) if spread else 0.0
