"""Log densities and domains of families as plain Python functions over numbers, which the compiler reads.

Scalar families have theirs in their methods `at` and `__init__`; here are those whose classes are written
with NumPy. A function that checks parameters returns them as the log density takes them, and raises where
they are out of their domain; the class then says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, lgamma, log, pi, sqrt
from typing import Any

import numpy as np
import scipy

from gendsl.distributions.arithmetic import affine
from gendsl.distributions.compound import iid
from gendsl.distributions.factors import factor
from gendsl.distributions.large import LARGE
from gendsl.distributions.matrices import inv_wishart, lkj, wishart
from gendsl.distributions.mixtures import UNDERFLOW, mixture, mixture_of_normals
from gendsl.distributions.multivariate import FAR, SIMPLEX_TOLERANCE, dirichlet, multinomial, mvnormal
from gendsl.distributions.order_statistics import ordered
from gendsl.distributions.parameters import factor_weight
from gendsl.distributions.special import HALF_LOG_2PI
from gendsl.distributions.support_texts import TOLERANCE, factor_of

WHOLE = 2.0**50
"""Up to here a float tells an integer from the next, with digits to spare."""
STEP = 1e8
"""From here on `Lattice` takes the next integer for the same."""
EPSILON = 2.0**-52


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
    last = -inf
    checked: list[float] = []
    for value in values:
        assert last < value < inf
        last = float(value)
        checked.append(last)
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


def check_mixture_of_arrays(weights: Any, distributions: Any) -> Any:
    """The same, where all distributions have the support of the first one."""
    support = distributions[0].support
    for distribution in distributions:
        assert distribution.support == support
    return check_mixture(weights, distributions)


def check_mixture_of_products(weights: Any, distributions: Any) -> Any:
    """The same for products, whose components have one support each."""
    first = distributions[0].components
    for distribution in distributions:
        components = distribution.components
        assert len(components) == len(first)
        for i in range(len(first)):
            assert components[i].support == first[i].support
    return check_mixture(weights, distributions)


def mixture_log_density(x: Any, weights: Any, distributions: Any) -> float:
    """log Σ_j w_j p_j(x)."""
    terms = []
    top = -inf
    for j in range(len(weights)):
        term = distributions[j].logpdf(x)
        terms.append(term)
        if weights[j] > 0.0:
            top = max(top, term)
    if not -inf < top < inf:
        return top
    total = 0.0
    for j in range(len(weights)):
        weight = weights[j]
        if weight > 0.0:
            total += weight * exp(terms[j] - top)
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


def check_covariance(cov: Any) -> Any:
    """The lower triangular factor of a symmetric positive definite matrix."""
    matrix = np.asarray(cov, float)
    n = len(matrix)
    assert matrix.ndim == 2 and matrix.shape[1] == n
    largest = 0.0
    for i in range(n):
        assert -inf < matrix[i, i] < inf
        largest = max(largest, abs(matrix[i, i]))
    for i in range(n):
        for j in range(i):
            assert abs(matrix[i, j] - matrix[j, i]) <= 1e-12 * largest
    return np.linalg.cholesky(matrix)


def check_mvnormal(mean: Any, cov: Any) -> Any:
    """A finite mean, and the factor of a covariance matrix, in which nothing depends on the mean: where many
    choices have one matrix it is taken apart once."""
    lower = check_covariance(cov)
    means = np.array(mean) + 0.0
    assert len(means) == len(lower)
    for i in range(len(means)):
        assert -inf < means[i] < inf
    return means, lower


def mvnormal_log_density(x: Any, mean: Any, lower: Any) -> float:
    """-(d log 2π + log det Σ + (x - μ)ᵀ Σ⁻¹ (x - μ)) / 2."""
    n = len(lower)
    score = 0.0
    for i in range(n):
        score -= log(lower[i, i]) + HALF_LOG_2PI
    if len(x) != n:
        return -inf
    for i in range(n):
        if not -FAR < x[i] < FAR:
            return -inf
    whitened = scipy.linalg.solve_triangular(lower, x - mean, lower=True, check_finite=False)
    for i in range(n):
        score -= 0.5 * whitened[i] * whitened[i]
    return score


def product_log_density(x: Any, components: Any) -> float:
    """Σ_i log p_i(x_i)."""
    if len(x) != len(components):
        return -inf
    score = 0.0
    for value, component in zip(x, components, strict=True):  # as many as there are data
        score += component.logpdf(value)
    return score


def check_iid(dist: Any, n: Any) -> Any:
    """A distribution, and how many values of it."""
    assert n >= 0 and int(n) == n
    return dist, int(n)


def iid_log_density(x: Any, dist: Any, n: int) -> float:
    """Σ_i log p(x_i)."""
    if len(x) != n:
        return -inf
    score = 0.0
    for i in range(n):
        score += dist.logpdf(x[i])
    return score


def ordered_log_density(x: Any, dist: Any, n: int) -> float:
    """log n! + Σ_i log p(x_i), where the x_i increase."""
    if len(x) != n:
        return -inf
    score = lgamma(n + 1.0)
    for i in range(n):
        if i > 0 and not x[i] >= x[i - 1]:
            return -inf
        score += dist.logpdf(x[i])
    return score


def check_affine(dist: Any, scale: Any, shift: Any) -> Any:
    """A distribution, a scale other than 0, and a finite shift."""
    assert -inf < scale < 0 or 0 < scale < inf
    assert np.all(np.isfinite(shift))
    return dist, scale, shift


def affine_log_density(x: float, dist: Any, scale: Any, shift: Any) -> float:
    """log p((x - shift) / scale) - log|scale|."""
    score: float = dist.logpdf((x - shift) / scale) - log(abs(scale))
    return score


def affine_of_vectors_log_density(x: Any, dist: Any, scale: Any, shift: Any) -> float:
    """log p((x - shift) / scale) - d log|scale|."""
    score: float = dist.logpdf((x - shift) / scale) - len(x) * log(abs(scale))
    return score


def affine_of_integers_log_density(x: int, dist: Any, scale: int, shift: int) -> float:
    """log p(i), where x = scale i + shift."""
    i = (x - shift) // scale
    assert -WHOLE < x < WHOLE and -WHOLE < shift < WHOLE and -STEP < scale < STEP
    if scale * i + shift != x:
        return -inf
    score: float = dist.logpdf(i)
    return score


def affine_of_lattice_log_density(x: float, dist: Any, scale: Any, shift: Any) -> float:
    """log p(i), where x = scale i + shift up to rounding."""
    at = (x - shift) / scale
    if not -WHOLE < at < WHOLE:
        return -inf
    i = round(at)
    rounding = 4.0 * EPSILON * max(abs(x), abs(shift))
    if not abs(shift + scale * i - x) <= 1e-9 * abs(scale) + rounding:
        return -inf
    score: float = dist.logpdf(i)
    return score


def check_factor(log_weight: Any) -> Any:
    """A number, or -inf."""
    return (factor_weight(log_weight),)


def factor_log_density(x: bool, log_weight: float) -> float:
    """The weight."""
    return log_weight if x else -inf


def _log_det(lower: Any) -> float:
    total = 0.0
    for i in range(len(lower)):
        total += 2.0 * log(lower[i, i])
    return total


def _sum_of_squares(lower: Any, right: Any) -> float:
    """The sum of the squares of lower⁻¹ right, for two lower triangular matrices."""
    n = len(lower)
    total = 0.0
    column = np.zeros(n)
    for j in range(n):
        for i in range(j, n):
            left = right[i, j]
            for k in range(j, i):
                left -= lower[i, k] * column[k]
            column[i] = left / lower[i, i]
            total += column[i] * column[i]
    return total


def check_wishart(df: Any, scale: Any) -> Any:
    """Degrees of freedom, and the lower triangular factor of the scale."""
    lower = factor_of(np.array(scale) + 0.0)
    assert len(lower) > 0
    assert len(lower) - 1 < df < inf
    return float(df), lower


def _log_wishart_normaliser(df: float, dim: int) -> float:
    """log(2^(df d/2) Γ_d(df/2))."""
    total = 0.25 * dim * (dim - 1) * log(pi) + 0.5 * df * dim * log(2.0)
    for j in range(dim):
        total += lgamma(0.5 * df - 0.5 * j)
    return total


def wishart_log_density(x: Any, df: float, scale: Any) -> float:
    """log |X|^((n-d-1)/2) exp(-tr(V⁻¹ X)/2) / (2^(nd/2) |V|^(n/2) Γ_d(n/2)); `scale` is the factor of V."""
    dim = len(scale)
    if len(x) != dim:
        return -inf
    lower = factor_of(x)
    if len(lower) == 0:
        return -inf
    score = 0.5 * (df - dim - 1) * _log_det(lower) - 0.5 * df * _log_det(scale)
    return score - 0.5 * _sum_of_squares(scale, lower) - _log_wishart_normaliser(df, dim)


def inv_wishart_log_density(x: Any, df: float, scale: Any) -> float:
    """log |V|^(n/2) |X|^(-(n+d+1)/2) exp(-tr(V X⁻¹)/2) / (2^(nd/2) Γ_d(n/2)); `scale` is the factor of V."""
    dim = len(scale)
    if len(x) != dim:
        return -inf
    lower = factor_of(x)
    if len(lower) == 0:
        return -inf
    score = 0.5 * df * _log_det(scale) - 0.5 * (df + dim + 1) * _log_det(lower)
    return score - 0.5 * _sum_of_squares(lower, scale) - _log_wishart_normaliser(df, dim)


def check_lkj(d: Any, eta: Any) -> Any:
    """A dimension, and a positive concentration."""
    assert d >= 1 and int(d) == d
    assert 0.0 < eta < inf
    return int(d), float(eta)


def lkj_log_density(x: Any, d: int, eta: float) -> float:
    """log |R|^(η - 1), less the logarithm of its integral."""
    if len(x) != d:
        return -inf
    for i in range(d):
        if not abs(x[i, i] - 1.0) <= TOLERANCE:
            return -inf
    lower = factor_of(x)
    if len(lower) == 0:
        return -inf
    score = (eta - 1.0) * _log_det(lower) - 0.25 * d * (d - 1) * log(pi)
    for i in range(1, d):
        score -= lgamma(eta + 0.5 * (d - 1 - i)) - lgamma(eta + 0.5 * (d - 1))
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
        component: which of the parameters says the kind.
    """

    check: Callable[..., Any]
    log_density: Callable[..., Any]
    names: tuple[str, ...]
    kind: str | None = "f"
    rank: int = 0
    component: int = 0


TEXTS: dict[type, FamilyText] = {
    mixture_of_normals: FamilyText(
        check_mixture_of_normals, mixture_of_normals_log_density, ("weights", "means", "vars")
    ),
    mixture: FamilyText(check_mixture, mixture_log_density, ("weights", "distributions"), None, 0, 1),
    dirichlet: FamilyText(check_dirichlet, dirichlet_log_density, ("alpha",), "f", 1),
    multinomial: FamilyText(check_multinomial, multinomial_log_density, ("n", "p"), "i", 1),
    mvnormal: FamilyText(check_mvnormal, mvnormal_log_density, ("mean", "lower"), "f", 1),
    iid: FamilyText(check_iid, iid_log_density, ("dist", "n"), None, 1),
    ordered: FamilyText(check_iid, ordered_log_density, ("dist", "k"), None, 1),
    affine: FamilyText(check_affine, affine_log_density, ("dist", "scale", "shift"), None),
    factor: FamilyText(check_factor, factor_log_density, ("log_weight",), "b"),
    wishart: FamilyText(check_wishart, wishart_log_density, ("df", "scale"), "f", 2),
    inv_wishart: FamilyText(check_wishart, inv_wishart_log_density, ("df", "scale"), "f", 2),
    lkj: FamilyText(check_lkj, lkj_log_density, ("d", "eta"), "f", 2),
}
"""The families that are not read from their classes."""
