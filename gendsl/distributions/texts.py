"""Log densities and domains of families as plain Python functions over numbers, which the compiler reads.

Scalar families have theirs in their methods `at` and `__init__`; here are those whose classes are written
with NumPy. A function that checks parameters returns them as the log density takes them, and raises where
they are out of their domain; the class then says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, lgamma, log, sqrt
from typing import Any

import numpy as np

from gendsl.distributions.large import LARGE
from gendsl.distributions.mixtures import UNDERFLOW, mixture, mixture_of_normals
from gendsl.distributions.multivariate import FAR, SIMPLEX_TOLERANCE, dirichlet, multinomial, mvnormal
from gendsl.distributions.special import HALF_LOG_2PI

TOLERANCE = 1e-8


def check_probabilities(values: Any) -> Any:
    """Nonnegative numbers that sum to 1, as a list of floats."""
    total = 0.0
    checked: list[float] = []
    for value in values:
        assert value >= 0.0
        total += value
        checked.append(float(value))
    assert -TOLERANCE <= total - 1.0 <= TOLERANCE
    return checked


def check_increasing(values: Any) -> Any:
    """Two or more finite numbers in increasing order, as a list of floats."""
    checked: list[float] = []
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


def check_mixture(weights: Any, distributions: Any) -> Any:
    """Weights that sum to 1, one for each distribution."""
    assert len(weights) == len(distributions) > 0
    return check_probabilities(weights), distributions


def mixture_log_density(x: Any, weights: Any, distributions: Any) -> float:
    """log Σ_j w_j p_j(x)."""
    terms = [d.logpdf(x) for d in distributions]
    top = -inf
    for j in range(len(weights)):
        if weights[j] > 0.0:
            top = max(top, terms[j])
    if not -inf < top < inf:
        return top
    total = 0.0
    for j in range(len(weights)):
        if weights[j] > 0.0:
            total += weights[j] * exp(terms[j] - top)
    return top + log(total)


def check_dirichlet(alpha: Any) -> Any:
    """Positive concentrations, as a list of floats."""
    assert len(alpha) > 0
    checked = []
    for concentration in alpha:
        assert 0.0 < concentration < inf
        checked.append(float(concentration))
    return (checked,)


def dirichlet_log_density(x: Any, alpha: Any) -> float:
    """log Γ(Σ α_i) Π w_i^(α_i - 1) / Γ(α_i)."""
    if len(x) != len(alpha):
        return -inf
    score = 0.0
    total = 0.0
    concentration = 0.0
    for i in range(len(alpha)):
        a, w = alpha[i], x[i]
        if w > 0.0:
            score += (a - 1.0) * log(w) - lgamma(a)
        elif w != 0.0 or a != 1.0:
            return -inf
        total += w
        concentration += a
    assert concentration <= LARGE  # beyond that the class loses fewer digits
    if not -SIMPLEX_TOLERANCE <= total - 1.0 <= SIMPLEX_TOLERANCE:
        return -inf
    return score + lgamma(concentration)


def check_multinomial(n: Any, p: Any) -> Any:
    """A number of draws, and probabilities that sum to 1."""
    assert n >= 0 and int(n) == n and n <= LARGE
    return int(n), check_probabilities(p)


def multinomial_log_density(x: Any, n: int, p: Any) -> float:
    """log n! Π p_i^x_i / x_i!."""
    if len(x) != len(p):
        return -inf
    total = 0
    score = lgamma(n + 1.0)
    for i in range(len(p)):
        if x[i] < 0 or (p[i] == 0.0 and x[i] != 0):
            return -inf
        total += x[i]
        if x[i] > 0:
            score += x[i] * log(p[i]) - lgamma(x[i] + 1.0)
    return score if total == n else -inf


def check_mvnormal(mean: Any, cov: Any) -> Any:
    """A finite mean, and the lower triangular factor of a symmetric positive definite matrix."""
    means = np.array(mean) + 0.0
    matrix = np.array(cov) + 0.0
    n = len(means)
    assert matrix.ndim == 2 and len(matrix) == n and matrix.shape[1] == n
    largest = 0.0
    for i in range(n):
        assert -inf < means[i] < inf
        largest = max(largest, abs(matrix[i, i]))
    for i in range(n):
        for j in range(i):
            assert abs(matrix[i, j] - matrix[j, i]) <= 1e-12 * largest
    return means, np.linalg.cholesky(matrix)


def mvnormal_log_density(x: Any, mean: Any, lower: Any) -> float:
    """-(d log 2π + log det Σ + (x - μ)ᵀ Σ⁻¹ (x - μ)) / 2."""
    n = len(mean)
    if len(x) != n:
        return -inf
    whitened = np.zeros(n)
    score = 0.0
    for i in range(n):
        if not -FAR < x[i] < FAR:
            return -inf
        left = x[i] - mean[i]
        for j in range(i):
            left -= lower[i, j] * whitened[j]
        left /= lower[i, i]
        whitened[i] = left
        score -= 0.5 * left * left + log(lower[i, i]) + HALF_LOG_2PI
    return score


def product_log_density(x: Any, components: Any) -> float:
    """Σ_i log p_i(x_i)."""
    assert len(x) == len(components)
    score = 0.0
    for i, component in enumerate(components):
        score += component.logpdf(x[i])
    return score


def iid_log_density(x: Any, dist: Any, n: int) -> float:
    """Σ_i log p(x_i)."""
    assert len(x) == n
    score = 0.0
    for i in range(n):
        score += dist.logpdf(x[i])
    return score


@dataclass(frozen=True)
class FamilyText:
    """What the compiler reads of a family.

    Attributes:
        check: the parameters, as the log density takes them.
        log_density: the log density of a value, given these parameters.
        names: what they are called.
        kind: "f" where values are floats, "i" integers, "b" truth values; None where a component says it.
        rank: how many axes an array of values has.
    """

    check: Callable[..., Any]
    log_density: Callable[..., Any]
    names: tuple[str, ...]
    kind: str | None = "f"
    rank: int = 0


TEXTS: dict[type, FamilyText] = {
    mixture_of_normals: FamilyText(
        check_mixture_of_normals, mixture_of_normals_log_density, ("weights", "means", "vars")
    ),
    mixture: FamilyText(check_mixture, mixture_log_density, ("weights", "distributions"), None),
    dirichlet: FamilyText(check_dirichlet, dirichlet_log_density, ("alpha",), "f", 1),
    multinomial: FamilyText(check_multinomial, multinomial_log_density, ("n", "p"), "i", 1),
    mvnormal: FamilyText(check_mvnormal, mvnormal_log_density, ("mean", "lower"), "f", 1),
}
"""The families that are not read from their classes."""
