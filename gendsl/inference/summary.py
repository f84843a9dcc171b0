"""Monte Carlo standard errors of what a chain recorded."""

from __future__ import annotations

import contextlib
import math
from typing import Any, NamedTuple

import numpy as np

from gendsl.errors import ValueTypeError


class Share(NamedTuple):
    """The share of draws with some value, with its Monte Carlo standard error."""

    probability: float
    standard_error: float


def monte_carlo_error(draws: Any) -> float:
    """The Monte Carlo standard error of the mean of a chain's draws, by batch means.

    The chain is cut into floor(sqrt(n)) batches of b draws; with batch means m_i and their mean m the
    error is sqrt(b sum (m_i - m)^2 / ((a - 1) n)), a the number of batches. (Flegal and Jones 2010,
    "Batch means and spectral variance estimators in Markov chain Monte Carlo".)

    Args:
        draws: n numbers, in the order they were drawn; n at least 4.

    Returns:
        The error; NaN for fewer than 4 draws.
    """
    x = np.asarray(draws, dtype=float)
    n = len(x)
    if n < 4:
        return float("nan")
    batches = int(np.sqrt(n))
    size = n // batches
    means = x[n - batches * size :].reshape(batches, size).mean(axis=1)
    return float(np.sqrt(size * means.var(ddof=1) / n))


def frequency(values: Any) -> dict[Any, Share]:
    """The share of each distinct value among draws, in increasing order of value where they have one.

    Raises:
        ValueTypeError: a draw is an array or a list.
    """
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    values = [math.nan if isinstance(v, float) and v != v else v for v in values]  # one NaN for all
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:
        raise ValueTypeError(
            "the share of draws with each value can't be counted for arrays and lists",
            fix="record one entry, or a tuple: lambda trace: tuple(trace['z'])",
        ) from None
    with contextlib.suppress(TypeError):  # values of several kinds keep the order in which they came up
        distinct.sort()
    shares = {}
    for value in distinct:
        hits = np.array([v is value or v == value for v in values], dtype=float)
        shares[value] = Share(float(hits.mean()), monte_carlo_error(hits))
    return shares
