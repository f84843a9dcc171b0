"""Log densities and domains of families as plain Python functions over numbers, which the compiler reads.

Scalar families have theirs in their methods `at` and `__init__`; here are those whose classes are written with
NumPy. A function that checks parameters returns them as the log density takes them, and raises where they are out of
their domain; the class then says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log, sqrt
from typing import Any

from gendsl.distributions.mixtures import UNDERFLOW, mixture_of_normals
from gendsl.distributions.special import HALF_LOG_2PI

TOLERANCE = 1e-8


def check_probabilities(values: Any) -> Any:
    """Nonnegative numbers that sum to 1, as a list of floats."""
    total = 0.0
    checked = []
    for value in values:
        assert value >= 0.0
        total += value
        checked.append(float(value))
    assert -TOLERANCE <= total - 1.0 <= TOLERANCE
    return checked


def check_increasing(values: Any) -> Any:
    """Two or more finite numbers in increasing order, as a list of floats."""
    checked = []
    for value in values:
        assert -inf < value < inf
        assert not checked or checked[-1] < value
        checked.append(float(value))
    assert len(checked) >= 2
    return checked


def check_mixture_of_normals(weights: Any, means: Any, vars: Any) -> Any:
    """Weights that sum to 1, finite means and positive variances, one for each component."""
    count = len(weights)
    assert len(means) == count and len(vars) == count
    total = 0.0
    for j in range(count):
        assert weights[j] >= 0.0
        assert -inf < means[j] < inf
        assert 0.0 < vars[j] < inf
        total += weights[j]
    assert -TOLERANCE <= total - 1.0 <= TOLERANCE
    return weights, means, vars


def mixture_of_normals_log_density(x: float, weights: Any, means: Any, vars: Any) -> float:
    """log Σ_j w_j exp(-(x - μ_j)² / 2v_j) / √(2π v_j)."""
    total = 0.0
    for j in range(len(weights)):
        d = x - means[j]
        total += weights[j] / sqrt(vars[j]) * exp(-0.5 * d * d / vars[j])
    if total > UNDERFLOW:
        return log(total) - HALF_LOG_2PI
    if not -inf < x < inf:
        return -inf
    top = -inf
    for j in range(len(weights)):
        if weights[j] > 0.0:
            top = max(top, -0.5 * (log(vars[j]) + (x - means[j]) / vars[j] * (x - means[j])))
    if not -inf < top < inf:
        return top - HALF_LOG_2PI
    total = 0.0
    for j in range(len(weights)):
        if weights[j] > 0.0:
            total += weights[j] * exp(-0.5 * (log(vars[j]) + (x - means[j]) / vars[j] * (x - means[j])) - top)
    return top + log(total) - HALF_LOG_2PI


CHECKS: dict[type, Callable[..., Any]] = {mixture_of_normals: check_mixture_of_normals}
"""Functions that check the parameters of a family, in the order of `parameters`."""

LOG_DENSITIES: dict[type, Callable[..., Any]] = {mixture_of_normals: mixture_of_normals_log_density}
"""Log densities as functions of the value and the parameters."""

VALUES: dict[type, str] = {mixture_of_normals: "f"}
"""The kind of the values: "f" a float, "i" an integer, "b" a truth value."""
