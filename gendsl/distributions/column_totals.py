"""Sums of the log densities of whole columns: block by block, and in closed form where there is one.

As in `column_scores`, a finite result is right and proves that everything was valid; any other decides
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.column_scores import (
    MIXTURE_BLOCK,
    SHARED,
    log_of,
    made_scores,
    mixture_densities,
    sum_of,
)
from gendsl.distributions.discrete import bernoulli
from gendsl.distributions.location_scale import normal
from gendsl.distributions.mixtures import UNDERFLOW, mixture_of_normals
from gendsl.distributions.positive import exponential
from gendsl.distributions.special import HALF_LOG_2PI

# Entries that stay in the cache. From 10,000 on BLAS would start threads, and two arrays of twice this size
# are enough for the allocator to give memory back, only to ask for it again.
BLOCK = 7168
_FEW = 500
_FOURTH = 1e70  # the product of four such numbers is a number
_LOG_FOURTH, _LOG_UNDERFLOW = math.log(_FOURTH), math.log(UNDERFLOW)
MODERATE = 1e140  # squares of numbers between this and its inverse are far from overflow and underflow


def total_of_scores(family: Any, x: np.ndarray, parameters: tuple[Any, ...]) -> float:
    """The sum of the log densities, by adding them up."""
    if len(x) <= BLOCK:
        scores = made_scores(family, x, parameters)
        return math.nan if scores is None else sum_of(scores)
    total = 0.0
    for start in range(0, len(x), BLOCK):
        rows = slice(start, start + BLOCK)
        scores = made_scores(
            family, x[rows], tuple(p[rows] if type(p) is np.ndarray else p for p in parameters)
        )
        if scores is None:
            return math.nan
        total += sum_of(scores)
    return total


def shared_total(x: np.ndarray, law: Any) -> float:
    """The same for a distribution from a family in SHARED.

    Raises:
        TypeError, ValueError: autograd traces a parameter.
    """
    if type(law) is mixture_of_normals:
        return _mixture_of_normals(x, law.weights, law.means, law.vars)
    vectors = [np.ascontiguousarray(getattr(law, name), dtype=float) for name in law.parameters]
    total = 0.0
    for start in range(0, len(x), BLOCK):
        scores = SHARED[type(law)](x[start : start + BLOCK], *vectors)
        if scores is None:
            return math.nan
        total += sum_of(scores)
    return total


def _mixture_of_normals(x: np.ndarray, weights: Any, means: Any, variances: Any) -> float:
    n, k = len(x), len(means)
    heights, factors, squares = [], [], 0.0  # lists: a few numbers take longer as arrays
    for weight, variance in zip(weights, variances, strict=True):
        height = weight / math.sqrt(variance)
        heights.append(height)
        factors.append(-0.5 / variance)
        squares += height * height
    scales, centres, slopes = np.array((heights, means, factors), dtype=float)
    log_limit = 0.5 * math.log(k * squares)  # by Cauchy and Schwarz, above log(Σ scales)
    if n < _FEW:
        densities = mixture_densities(x, scales, centres, slopes)
        np.log(densities, densities)
        total = sum_of(densities)
        # Where even all together are not far below n times the limit, none of them is.
        if total - (n - 1) * log_limit > _LOG_UNDERFLOW or densities.min() > _LOG_UNDERFLOW:
            return total - n * HALF_LOG_2PI
        return math.nan
    total = -n * HALF_LOG_2PI
    blocks = -(-n * k // MIXTURE_BLOCK)
    size = -(-n // blocks)  # all blocks are about equal
    for start in range(0, n, size):
        densities = mixture_densities(x[start : start + size], scales, centres, slopes)
        least = densities.min()
        if not least > UNDERFLOW:
            return math.nan
        if least > 1.0 / _FOURTH and log_limit < _LOG_FOURTH:  # one logarithm of a product for four points
            quarter = len(densities) // 4
            products = densities[:quarter] * densities[quarter : 2 * quarter]
            products *= densities[2 * quarter : 3 * quarter]
            products *= densities[3 * quarter : 4 * quarter]
            total += float(np.log(products, products).sum())
            densities = densities[4 * quarter :]
        total += float(np.log(densities, densities).sum())
    return total


def _normal(x: np.ndarray, mean: Any, sd: Any) -> float:
    n = len(x)
    if type(sd) is np.ndarray:
        squares, logs = _squares_and_logs(x, mean, sd)
        return float(-0.5 * squares - logs - n * HALF_LOG_2PI)
    if not 1.0 / MODERATE < sd < MODERATE:
        return math.nan
    if n <= BLOCK:
        z = x - mean
        squares = z.dot(z)
    else:
        squares = 0.0
        buffer = np.empty(BLOCK)
        for start in range(0, n, BLOCK):
            rows = slice(start, start + BLOCK)
            xs = x[rows]
            z = np.subtract(xs, mean[rows] if type(mean) is np.ndarray else mean, buffer[: len(xs)])
            squares += z.dot(z)
    return float(-0.5 * squares / (sd * sd) - n * (math.log(sd) + HALF_LOG_2PI))


def _squares_and_logs(x: np.ndarray, mean: Any, sd: np.ndarray) -> tuple[float, float]:
    """Σ ((x - mean) / sd)² and Σ log(sd)."""
    if len(x) <= BLOCK:
        z = x - mean
        z /= sd
        return z.dot(z), sum_of(np.log(sd))
    squares = logs = 0.0
    for start in range(0, len(x), BLOCK):
        rows = slice(start, start + BLOCK)
        means = mean[rows] if type(mean) is np.ndarray else mean
        more_squares, more_logs = _squares_and_logs(x[rows], means, sd[rows])
        squares += more_squares
        logs += more_logs
    return squares, logs


def _exponential(x: np.ndarray, rate: Any) -> float:
    if type(rate) is np.ndarray:
        return total_of_scores(exponential, x, (rate,))
    return len(x) * log_of(rate) - rate * float(x.sum()) if x.min() >= 0.0 else math.nan


def _bernoulli(x: np.ndarray, p: Any) -> float:
    if type(p) is np.ndarray:
        if not (p.min() > 0.0 and p.max() < 1.0):
            return math.nan
        return float(np.log(p[x]).sum() + np.log1p(-p[~x]).sum())
    successes = int(np.count_nonzero(x))
    if not 0.0 < p < 1.0:
        return math.nan
    return successes * math.log(p) + (len(x) - successes) * math.log1p(-p)


TOTALS: dict[type[Distribution], Callable[..., float]] = {
    normal: _normal,
    exponential: _exponential,
    bernoulli: _bernoulli,
}
