"""Distributions of matrices: wishart, inv_wishart, lkj.

Densities are with respect to the free entries: the lower triangle with the diagonal for covariance
matrices, the strict lower triangle for correlation matrices.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from math import inf
from typing import Any

import autograd.numpy as anp
import numpy as np

from gendsl.distributions.arrays import (
    ArrayFamily,
    bad_parameter,
    cholesky,
    finished,
    is_symmetric,
    log_det_of_cholesky,
    outside,
    parameter_cholesky,
    plain,
    solve_lower,
    sum_of_squares,
    value_array,
)
from gendsl.distributions.parameters import PLAIN, integer, positive, real
from gendsl.distributions.special import log_gammas
from gendsl.supports import Correlation, Covariance

_LOG_2 = math.log(2.0)
_LOG_PI = math.log(math.pi)
_UNIT_DIAGONAL = 1e-8


def _remembered(function: Callable[[Any, int], Any]) -> Callable[[Any, int], Any]:
    """A function of a parameter and a dimension that remembers its values at plain numbers."""
    of_numbers = functools.lru_cache(maxsize=256)(function)

    def remembered(parameter: Any, dim: int) -> Any:
        return (of_numbers if type(parameter) in PLAIN else function)(parameter, dim)

    return remembered


@_remembered
def _log_wishart_normaliser(df: Any, dim: int) -> Any:
    """log(2^(df d/2) Γ_d(df/2)), with log Γ_d(a) = d(d-1)/4 log π + Σ_j log Γ(a - j/2), j = 0 .. d-1."""
    log_multigamma = 0.25 * dim * (dim - 1) * _LOG_PI
    log_multigamma = log_multigamma + sum(log_gammas(0.5 * df - 0.5 * j) for j in range(dim))
    return 0.5 * df * dim * _LOG_2 + log_multigamma


@_remembered
def _log_lkj_normaliser(eta: Any, dim: int) -> Any:
    """The logarithm of the integral of |R|^(η - 1)."""
    return 0.25 * dim * (dim - 1) * _LOG_PI + sum(
        log_gammas(eta + 0.5 * (dim - 1 - i)) - log_gammas(eta + 0.5 * (dim - 1)) for i in range(1, dim)
    )


_below_diagonal = functools.lru_cache(maxsize=64)(lambda dim: np.tri(dim, k=-1, dtype=bool))


class _MatrixFamily(ArrayFamily):
    """Values are symmetric positive definite (d, d) matrices, scored through their Cholesky factor."""

    __slots__ = ()

    def _dim(self) -> int:
        raise TypeError(f"{type(self).__name__} must define _dim")

    def _score(self, lower: Any) -> Any:
        """The log density at the matrix with the Cholesky factor `lower`."""
        raise TypeError(f"{type(self).__name__} must define _score")

    def logpdf(self, x: Any) -> Any:
        x = value_array(type(self).__name__, x, 2)
        shape, dim = plain(x).shape, self._dim()
        if shape[-2:] != (dim, dim):
            return outside(shape[:-2])
        if len(shape) == 2:
            return finished(self._one(x))
        stack = anp.reshape(x, (-1, dim, dim))
        return anp.reshape(anp.array([self._one(matrix) for matrix in stack]), shape[:-2])

    def _one(self, x: Any) -> Any:
        values = plain(x)
        if not np.isfinite(values).all() or not is_symmetric(values):
            return -inf
        try:
            lower = cholesky(x)
        except np.linalg.LinAlgError:
            return -inf
        return self._score(lower)


class _WishartFamily(_MatrixFamily):
    """What wishart and inv_wishart share: their parameters, and Bartlett's decomposition."""

    __slots__ = ("_lower", "df", "scale")
    parameters = ("df", "scale")

    def __init__(self, df: Any, scale: Any) -> None:
        name = type(self).__name__
        self.scale, self._lower = parameter_cholesky(name, "scale", scale)
        dim = len(self.scale)
        self.df = real(name, "df", df)
        if not self.df > dim - 1:
            raise bad_parameter(name, "df", f"be greater than {dim - 1}, the dimension minus 1", df)

    def _dim(self) -> int:
        return len(self.scale)

    def _bartlett(self, rng: np.random.Generator) -> np.ndarray:
        """A, lower triangular, such that A Aᵀ is Wishart(df, identity)."""
        dim, df = self._dim(), plain(self.df)
        factor = np.where(_below_diagonal(dim), rng.standard_normal((dim, dim)), 0.0)
        factor.flat[:: dim + 1] = np.sqrt(rng.chisquare(df - np.arange(dim)))
        return factor

    @property
    def support(self) -> Covariance:
        return Covariance(self._dim())


class wishart(_WishartFamily):
    """Wishart: |X|^((n-d-1)/2) exp(-tr(V⁻¹ X)/2) / (2^(nd/2) |V|^(n/2) Γ_d(n/2)), with mean n V.

    Args:
        df: degrees of freedom n > d - 1.
        scale: V, shape (d, d), symmetric and positive definite.
    """

    __slots__ = ()

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        root = plain(self._lower) @ self._bartlett(rng)
        return _gram(root)

    def _score(self, lower: Any) -> Any:
        dim, df = self._dim(), self.df
        trace = sum_of_squares(solve_lower(self._lower, lower))
        return (
            0.5 * (df - dim - 1) * log_det_of_cholesky(lower)
            - 0.5 * trace
            - 0.5 * df * log_det_of_cholesky(self._lower)
            - _log_wishart_normaliser(df, dim)
        )


class inv_wishart(_WishartFamily):
    """Inverse Wishart: |V|^(n/2) |X|^(-(n+d+1)/2) exp(-tr(V X⁻¹)/2) / (2^(nd/2) Γ_d(n/2)).

    Args:
        df: degrees of freedom n > d - 1. The mean is V / (n - d - 1) where n > d + 1.
        scale: V, shape (d, d), symmetric and positive definite.
    """

    __slots__ = ()

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        # With V = L Lᵀ, the inverse of (L⁻ᵀ A)(L⁻ᵀ A)ᵀ is (L A⁻ᵀ)(L A⁻ᵀ)ᵀ.
        factor = self._bartlett(rng)
        inverse = solve_lower(factor, np.eye(self._dim()))
        return _gram(plain(self._lower) @ inverse.T)

    def _score(self, lower: Any) -> Any:
        dim, df = self._dim(), self.df
        trace = sum_of_squares(solve_lower(lower, self._lower))
        return (
            0.5 * df * log_det_of_cholesky(self._lower)
            - 0.5 * (df + dim + 1) * log_det_of_cholesky(lower)
            - 0.5 * trace
            - _log_wishart_normaliser(df, dim)
        )


class lkj(_MatrixFamily):
    """Correlation matrices with density proportional to |R|^(η - 1) in the strict lower triangle.

    Args:
        d: the dimension, an integer at least 1.
        eta: η > 0; 1 is uniform, larger values concentrate at the identity.

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices based on vines and
    extended onion method, J. Multivariate Analysis 100 (2009), sections 3.2 (onion) and 3.3 (normaliser).
    """

    __slots__ = ("d", "eta")
    parameters = ("d", "eta")

    def __init__(self, d: Any, eta: Any) -> None:
        self.d = integer("lkj", "d", d)
        self.eta = positive("lkj", "eta", eta)
        if self.d < 1:
            raise bad_parameter("lkj", "d", "be at least 1", d)

    def _dim(self) -> int:
        return self.d

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        # The onion: row i of the Cholesky factor is a point in the unit ball, uniform in direction,
        # with squared radius beta(i/2, η + (d-1-i)/2), and the diagonal entry that makes its length 1.
        dim, eta = self.d, plain(self.eta)
        lower = np.zeros((dim, dim))
        lower[0, 0] = 1.0
        for i in range(1, dim):
            squared = rng.beta(0.5 * i, eta + 0.5 * (dim - 1 - i))
            direction = rng.standard_normal(i)
            lower[i, :i] = math.sqrt(squared) * direction / np.linalg.norm(direction)
            lower[i, i] = math.sqrt(1.0 - squared)
        correlation = _gram(lower)
        np.fill_diagonal(correlation, 1.0)
        return correlation

    def _one(self, x: Any) -> Any:
        if not np.abs(np.diag(plain(x)) - 1.0).max() <= _UNIT_DIAGONAL:
            return -inf
        return super()._one(x)

    def _score(self, lower: Any) -> Any:
        return (self.eta - 1.0) * log_det_of_cholesky(lower) - _log_lkj_normaliser(self.eta, self.d)

    @property
    def support(self) -> Correlation:
        return Correlation(self.d)


def _gram(root: np.ndarray) -> np.ndarray:
    """root rootᵀ, symmetric to the last bit."""
    product = root @ root.T
    return np.asarray(0.5 * (product + product.T))
