"""Distributions of vectors: dirichlet, multinomial, mvnormal."""

from __future__ import annotations

import functools
import math
from math import inf, lgamma, log
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from gendsl.distributions.arrays import (
    LOG_2PI,
    ArrayFamily,
    as_array,
    bad_parameter,
    factor_of,
    finished,
    log_det_of_cholesky,
    outside,
    parameter_array,
    parameter_cholesky,
    plain,
    solve_lower,
    value_array,
    weight_array,
)
from gendsl.distributions.discrete import poisson, too_large
from gendsl.distributions.large import LARGE
from gendsl.distributions.parameters import nonnegative_integer
from gendsl.distributions.positive import gamma
from gendsl.distributions.special import log_gammas
from gendsl.supports import Counts, RealVector, Simplex

# Up to this many entries a loop over Python floats beats NumPy's cost per call.
_SMALL = 40
_TINY = math.ulp(0.0)
SIMPLEX_TOLERANCE = 1e-9
# Squares of anything larger overflow; every normal density there is 0 to double precision.
FAR = 1e150

# a move asks for supports often
_simplex = functools.lru_cache(maxsize=1024)(Simplex)
_real_vector = functools.lru_cache(maxsize=1024)(RealVector)


class dirichlet(ArrayFamily):
    """Weights that sum to one, with density Γ(Σ α_i) Π w_i^(α_i - 1) / Γ(α_i) in the first k-1 weights.

    Args:
        alpha: k positive concentrations.

    Values are float arrays of shape (k,). A weight of 0 has density 0 unless its α_i is 1.
    """

    __slots__ = ("alpha",)
    parameters = ("alpha",)

    def __init__(self, alpha: Any) -> None:
        bad, given = None, alpha
        try:
            if type(alpha) is not list and not isbox(alpha):
                alpha = alpha.tolist() if isinstance(alpha, np.ndarray) else list(alpha)
            for concentration in alpha:
                if not 0.0 < concentration < inf:
                    bad = concentration
                    break
        except (TypeError, ValueError):
            raise bad_parameter("dirichlet", "alpha", "be a vector of positive numbers", given) from None
        if bad is not None or not len(alpha):
            raise bad_parameter("dirichlet", "alpha", "have positive and finite entries", alpha)
        self.alpha = alpha

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        weights = rng.dirichlet(plain(as_array(self.alpha)))
        # Small concentrations give weights below every float: 0 would be outside of the support.
        return weights if weights.all() else np.maximum(weights, _TINY)

    def logpdf(self, x: Any) -> Any:
        if type(x) is np.ndarray and x.ndim == 1 and x.size <= _SMALL:
            try:
                return self._loop(x.tolist())
            except TypeError:
                pass
        return self.elementwise(x, self.alpha)

    def _loop(self, weights: list[float]) -> float:
        alpha = self.alpha
        if len(weights) != len(alpha):
            return -inf
        score = total = concentration = 0.0
        for a, w in zip(alpha, weights, strict=True):
            if w > 0.0:
                score += (a - 1.0) * log(w) - lgamma(a)
            elif w != 0.0 or a != 1.0:
                return -inf
            total += w
            concentration += a
        if concentration > LARGE:
            return float(self.elementwise(np.array(weights), alpha))
        if not -SIMPLEX_TOLERANCE <= total - 1.0 <= SIMPLEX_TOLERANCE:
            return -inf
        return score + lgamma(concentration)

    @staticmethod
    def elementwise(x: Any, alpha: Any) -> Any:
        """The log density; `x` and `alpha` broadcast over leading axes."""
        x, alpha = value_array("dirichlet", x, 1), as_array(alpha)
        values, concentrations = plain(x), plain(alpha)
        if values.shape[-1] != concentrations.shape[-1]:
            return outside(values.shape[:-1])
        positive = values > 0.0
        allowed = positive | ((values == 0.0) & (concentrations == 1.0))
        with np.errstate(invalid="ignore"):
            inside = allowed.all(-1) & (np.abs(values.sum(-1) - 1.0) <= SIMPLEX_TOLERANCE)
        total = anp.sum(alpha, -1)
        if plain(total).max(initial=0.0) > LARGE:
            # The weights are y / sum(y) for independent y_i of gamma distributions, whose densities keep
            # their digits: logarithms of gamma functions are much larger than what is left of them.
            y = anp.sum(alpha, -1, keepdims=True) * anp.where(inside[..., None], x, 0.5)
            score = anp.sum(gamma.elementwise(y, alpha, 1.0), -1) - gamma.elementwise(total, total, 1.0)
            score = score + (values.shape[-1] - 1) * anp.log(total) + anp.sum(y, -1) - total
        else:
            safe = anp.where(positive & inside[..., None], x, 1.0)
            score = anp.sum((alpha - 1.0) * anp.log(safe) - log_gammas(alpha), -1) + log_gammas(total)
        return finished(anp.where(inside, score, -inf))

    @property
    def support(self) -> Simplex:
        return _simplex(len(self.alpha))


class multinomial(ArrayFamily):
    """Counts of n independent draws: n! Π p_i^x_i / x_i!.

    Args:
        n: the number of draws, an integer at least 0.
        p: k probabilities that sum to one.

    Values are integer arrays of shape (k,).
    """

    __slots__ = ("n", "p")
    parameters = ("n", "p")

    def __init__(self, n: Any, p: Any) -> None:
        self.n = nonnegative_integer("multinomial", "n", n)
        self.p = weight_array("multinomial", "p", p)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        p = plain(self.p)
        try:
            return rng.multinomial(self.n, p / p.sum())
        except OverflowError:
            raise too_large(self) from None

    def logpdf(self, x: Any) -> Any:
        return self.elementwise(x, self.n, self.p)

    @staticmethod
    def elementwise(x: Any, n: int, p: Any) -> Any:
        """The log density; `x` and `p` broadcast over leading axes."""
        x = plain(value_array("multinomial", x, 1))
        values = plain(p)
        if x.shape[-1] != values.shape[-1]:
            return outside(x.shape[:-1])
        with np.errstate(invalid="ignore"):
            allowed = (x >= 0.0) & (x == np.floor(x)) & ((values > 0.0) | (x == 0.0))
            inside = allowed.all(-1) & (x.sum(-1) == n)
        counts = np.where(inside[..., None], x, 0.0)
        if n > LARGE:
            # The counts are those of independent Poisson distributions, given their sum; see `dirichlet`.
            draws = float(n)
            score = anp.sum(poisson.elementwise(counts, draws * p), -1) - poisson.elementwise(draws, draws)
            score = score + draws * (anp.sum(p, -1) - 1.0)
        else:
            log_p = anp.log(anp.where(values > 0.0, p, 1.0))
            score = log_gammas(n + 1.0) + anp.sum(counts * log_p - log_gammas(counts + 1.0), -1)
        return finished(anp.where(inside, score, -inf))

    @property
    def support(self) -> Counts:
        return Counts(self.n, len(self.p))


class mvnormal(ArrayFamily):
    """Multivariate normal: -(d log 2π + log det Σ + (x - μ)ᵀ Σ⁻¹ (x - μ)) / 2.

    Args:
        mean: μ, shape (d,).
        cov: Σ, shape (d, d), symmetric and positive definite.

    Values are float arrays of shape (d,); d may be 0, as in a regression without predictors: the only value
    has density 1. Where Σ is diagonal, `product(normal, mean, sd)` with the standard
    deviations is the same and costs less.
    """

    __slots__ = ("_rows", "constant", "cov", "lower", "mean")
    parameters = ("mean", "cov")

    def __init__(self, mean: Any, cov: Any) -> None:
        self._rows: list[list[float]] | None = None
        known = factor_of(cov)
        if known is not None and _is_plain(mean, len(cov)) and all(map(math.isfinite, mean.tolist())):
            self.mean, self.cov, self.lower, self._rows = mean, cov, known.lower, known.rows
            self.constant = -0.5 * (len(mean) * LOG_2PI + known.log_det)
            return
        self.mean = parameter_array("mvnormal", "mean", mean, 1, may_be_empty=True)
        if np.ndim(plain(cov)) == 1:
            raise bad_parameter(
                "mvnormal", "cov", "be a square matrix of finite numbers", cov,
                "for independent entries write product(normal, mean, sd), with standard deviations",
            )  # fmt: skip
        self.cov, self.lower = parameter_cholesky("mvnormal", "cov", cov, may_be_empty=True)
        dim = len(self.mean)
        if len(self.cov) != dim:
            raise bad_parameter(
                "mvnormal", "cov", f"have {dim} rows and columns, as many as mean has entries", cov
            )
        self.constant = -0.5 * (dim * LOG_2PI + log_det_of_cholesky(self.lower))
        known = factor_of(cov)
        if known is not None and not isbox(self.mean):
            self._rows = known.rows

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        mean = plain(self.mean)
        return np.asarray(mean + plain(self.lower) @ rng.standard_normal(len(mean)))

    def logpdf(self, x: Any) -> Any:
        if self._rows is not None and _is_plain(x, len(self.mean)):
            return self._of_few(x.tolist(), self._rows)
        x = value_array("mvnormal", x, 1)
        values = plain(x)
        lead, dim = values.shape[:-1], len(self.mean)
        if values.shape[-1] != dim:
            return outside(lead)
        if not dim:
            return finished(np.zeros(lead))
        inside = (np.abs(values) < FAR).all(-1)
        if not (lead or isbox(x) or isbox(self.mean) or isbox(self.lower)):
            return self._one(x) if inside else -inf
        deviation = anp.where(inside[..., None], x, 0.0) - self.mean
        with np.errstate(over="ignore"):
            whitened = solve_lower(self.lower, anp.reshape(deviation, (-1, dim)).T)
            squares = anp.reshape(anp.sum(whitened**2, 0), lead)
        return finished(anp.where(inside, self.constant - 0.5 * squares, -inf))

    def _of_few(self, x: list[float], rows: list[list[float]]) -> float:
        """The log density at one vector of few numbers, without NumPy; `rows` are those of the factor."""
        squares = 0.0
        whitened: list[float] = []
        for value, mean, row in zip(x, self.mean.tolist(), rows, strict=True):
            if not -FAR < value < FAR:
                return -inf
            left = value - mean
            for entry, other in zip(row, whitened):  # noqa: B905 (the last of a row is on the diagonal; hot)
                left -= entry * other
            left /= row[-1]
            whitened.append(left)
            squares += left * left
        return float(self.constant - 0.5 * squares)

    def _one(self, x: np.ndarray) -> float:
        """The log density at one vector of numbers."""
        with np.errstate(over="ignore"):
            whitened = solve_lower(self.lower, (x - self.mean)[:, None])
            return float(self.constant - 0.5 * (whitened**2).sum(0)[0])

    @property
    def support(self) -> RealVector:
        return _real_vector((len(self.mean),))


def _is_plain(vector: Any, size: int) -> bool:
    """Whether it is a vector of so many floats."""
    return type(vector) is np.ndarray and vector.dtype == float and vector.shape == (size,)
