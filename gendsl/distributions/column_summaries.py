"""Log densities of a whole column as a function of parameters that are the same for all of it.

Where a family has sufficient statistics, they are found once, in a pass or two over the column; from then on
the sum of its log densities takes a few operations for any parameters, however long the column is. As in
`column_totals`, a finite result is right and proves that everything was valid; any other decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.bounded import beta, uniform
from gendsl.distributions.column_scores import log_of, sum_of
from gendsl.distributions.column_totals import BLOCK, MODERATE
from gendsl.distributions.discrete import bernoulli, geometric, poisson
from gendsl.distributions.location_scale import normal
from gendsl.distributions.positive import exponential, gamma, half_normal, inv_gamma, log_normal
from gendsl.distributions.special import HALF_LOG_2PI, LOG_2, LOG_FACTORIALS, all_from_0_to, log_beta

Summary = Callable[..., float]
"""The sum of the log densities for parameters that are numbers; NaN, or infinite, where it can't tell."""

_LEAST = 1.0 / MODERATE
_LARGE = 1e3  # shapes from which on the terms are much larger than their sum
_log = math.log


@np.errstate(all="ignore")
def summary_of(family: Any, x: np.ndarray) -> Summary | None:
    """What is known of a column of a family's type; None where nothing short is."""
    find = SUMMARIES.get(family)
    return find(x) if find is not None and len(x) else None


def _squares(column: np.ndarray) -> float:
    return float(column.dot(column)) if len(column) <= BLOCK else sum_of(column * column)


def _normal(x: np.ndarray) -> Summary:
    n = len(x)
    centre = sum_of(x) / n
    apart = x - centre
    rest = sum_of(apart)  # what rounding has left
    squares = _squares(apart)

    def total(mean: float, sd: float) -> float:
        if not _LEAST < sd < MODERATE:
            return math.nan
        d = centre - mean
        return -0.5 * (squares + d * (2.0 * rest + n * d)) / (sd * sd) - n * (_log(sd) + HALF_LOG_2PI)

    return total


def _log_normal(x: np.ndarray) -> Summary:
    log_x = np.log(x)
    logs, of_normal = sum_of(log_x), _normal(log_x)
    return lambda mu, sigma: of_normal(mu, sigma) - logs


def _half_normal(x: np.ndarray) -> Summary | None:
    n, squares = len(x), _squares(x)

    def total(scale: float) -> float:
        if not _LEAST < scale < MODERATE:
            return math.nan
        return -0.5 * squares / (scale * scale) - n * (_log(scale) + HALF_LOG_2PI - LOG_2)

    return total if x.min() >= 0.0 else None


def _exponential(x: np.ndarray) -> Summary | None:
    n, sum_x = len(x), sum_of(x)
    return (lambda rate: n * log_of(rate) - rate * sum_x) if x.min() >= 0.0 else None


def _gamma(x: np.ndarray) -> Summary | None:
    n, sum_x, logs = len(x), sum_of(x), sum_of(np.log(x))

    def total(shape: float, scale: float) -> float:
        if not (0.0 < shape <= _LARGE and scale > 0.0):
            return math.nan
        return (shape - 1.0) * logs - sum_x / scale - n * (math.lgamma(shape) + shape * _log(scale))

    return total


def _inv_gamma(x: np.ndarray) -> Summary | None:
    n, inverses, logs = len(x), sum_of(1.0 / x), sum_of(np.log(x))

    def total(shape: float, scale: float) -> float:
        if not (0.0 < shape <= _LARGE and scale > 0.0):
            return math.nan
        return n * (shape * _log(scale) - math.lgamma(shape)) - (shape + 1.0) * logs - scale * inverses

    return total


def _beta(x: np.ndarray) -> Summary | None:
    n, logs, others = len(x), sum_of(np.log(x)), sum_of(np.log1p(-x))

    def total(a: float, b: float) -> float:
        if not (0.0 < a <= _LARGE and 0.0 < b <= _LARGE):
            return math.nan
        return (a - 1.0) * logs + (b - 1.0) * others - n * log_beta(a, b)

    return total


def _uniform(x: np.ndarray) -> Summary:
    n, least, most = len(x), x.min().item(), x.max().item()
    return lambda low, high: -n * log_of(high - low) if low <= least and most <= high else math.nan


def _bernoulli(x: np.ndarray) -> Summary:
    n, successes = len(x), int(np.count_nonzero(x))

    def total(p: float) -> float:
        return successes * _log(p) + (n - successes) * math.log1p(-p) if 0.0 < p < 1.0 else math.nan

    return total


def _geometric(x: np.ndarray) -> Summary | None:
    n, failures = len(x), sum_of(x.astype(float))

    def total(p: float) -> float:
        return failures * math.log1p(-p) + n * _log(p) if 0.0 < p < 1.0 else math.nan

    return total if x.min() >= 0 else None


def _poisson(x: np.ndarray) -> Summary | None:
    if not all_from_0_to(len(LOG_FACTORIALS) - 1, x):
        return None
    n, sum_x, logs = len(x), sum_of(x.astype(float)), sum_of(LOG_FACTORIALS.take(x))
    return lambda rate: sum_x * log_of(rate) - n * rate - logs


SUMMARIES: Mapping[type[Distribution], Callable[[np.ndarray], Summary | None]] = MappingProxyType(
    {
        normal: _normal,
        log_normal: _log_normal,
        half_normal: _half_normal,
        exponential: _exponential,
        gamma: _gamma,
        inv_gamma: _inv_gamma,
        beta: _beta,
        uniform: _uniform,
        bernoulli: _bernoulli,
        geometric: _geometric,
        poisson: _poisson,
    }
)
"""The families that have short summaries."""
