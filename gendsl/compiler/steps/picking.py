"""Picking a move with probabilities that depend on the state, as plain functions that the compiler reads.

They say what `gendsl.inference.mixture` does with a function of the trace. Where that returns no weights,
they raise, and the reference interpreter says what the error is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gendsl.compiler.moves import TIE


def shares_at(trace: Any, weights: Any, count: int) -> Any:
    """The probabilities of so many moves at a trace."""
    given = np.asarray(weights(trace), dtype=float)
    if given.shape != (count,):
        raise ValueError("not one weight for each move")
    total = 0.0
    for i in range(count):
        if not 0.0 <= given[i] < math.inf:
            raise ValueError("a weight that is negative or not finite")
        total += given[i]
    if not 0.0 < total < math.inf:
        raise ValueError("weights that are all zero, or too large")
    return given / total


def picked(trace: Any, uniform: float, weights: Any, count: int) -> tuple[int, float]:
    """Which of so many moves a uniform number picks, and the logarithm of that one's probability.

    Where the number is next to the end of a probability, sums in another order may pick another move; then
    the reference interpreter decides.
    """
    shares = shares_at(trace, weights, count)
    chosen, end = 0, 0.0
    for i in range(count - 1):
        end += shares[i]
        if abs(end - uniform) < TIE:
            raise ValueError("a tie")
        if end <= uniform:
            chosen = i + 1
    return chosen, math.log(shares[chosen])


def log_share(trace: Any, chosen: int, weights: Any, count: int) -> float:
    """The logarithm of the probability of a move at a trace."""
    share = shares_at(trace, weights, count)[chosen]
    return math.log(share) if share > 0.0 else -math.inf
