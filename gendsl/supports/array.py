"""Supports of continuous arrays: all of R^shape, the simplex, covariance and correlation matrices."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Any

import autograd.numpy as anp
import numpy as np

from gendsl.supports.base import Support, as_array, count, plain
from gendsl.supports.scalar import exp

_SUM_TOLERANCE = 1e-8  # how far the weights of a simplex may be from summing to one
_SYMMETRY_TOLERANCE = 1e-8  # relative to the largest entry


@dataclass(frozen=True)
class RealArray(Support):
    """All real arrays of a shape; an integer n stands for the shape (n,)."""

    shape: tuple[int, ...] = field()

    def __post_init__(self) -> None:
        lengths = (self.shape,) if isinstance(self.shape, (int, np.integer)) else self.shape
        shape = tuple(count("RealArray", "a length", n, 0) for n in lengths)
        self._fix(shape=shape, dim=math.prod(shape))

    def contains(self, value: Any) -> bool:
        array = as_array(value, self.shape)
        return array is not None and bool(np.isfinite(array).all())

    def from_coordinates(self, coordinates: Any) -> Any:
        return anp.reshape(coordinates, self.shape)

    def unconstrain(self, value: Any) -> Any:
        return self.coordinates(value)

    def constrain(self, u: Any) -> Any:
        return anp.reshape(u, self.shape)

    def log_abs_det(self, u: Any) -> Any:
        return 0.0


RealVector = RealArray  # RealVector(n) reads better where the array is a vector


@dataclass(frozen=True)
class Simplex(Support):
    """Vectors of k nonnegative weights that sum to one. Free coordinates: the first k - 1 weights.

    The chart is stick-breaking: weight i takes the share `expit(u[i] - log(k - 1 - i))` of what the
    weights before it have left, so that u = 0 is the centre (Stan Reference Manual, "Unit simplex").
    """

    k: int

    def __post_init__(self) -> None:
        k = count("Simplex", "k", self.k, 1)
        self._fix(k=k, shape=(k,), dim=k - 1)

    def contains(self, value: Any) -> bool:
        weights = as_array(value, (self.k,))
        return weights is not None and bool(
            (weights >= 0.0).all() and abs(weights.sum() - 1.0) <= _SUM_TOLERANCE
        )

    @property
    def embedding(self) -> np.ndarray:
        return _simplex_embedding(self.dim)

    def from_coordinates(self, coordinates: Any) -> Any:
        return anp.concatenate([coordinates, anp.reshape(1.0 - anp.sum(coordinates), (1,))])

    def _log_shares(self, u: Any) -> tuple[Any, Any, Any]:
        """log of each stick's share, of one minus it, and of what was left before it (k of these)."""
        v = u - np.log(np.arange(self.k - 1, 0, -1))
        log_share, log_rest = -anp.logaddexp(0.0, -v), -anp.logaddexp(0.0, v)
        return log_share, log_rest, anp.concatenate([np.zeros(1), anp.cumsum(log_rest)])

    def constrain(self, u: Any) -> Any:
        log_share, _, log_left = self._log_shares(u)
        return anp.exp(anp.concatenate([log_share, np.zeros(1)]) + log_left)

    def unconstrain(self, value: Any) -> Any:
        weights = anp.array(value, dtype=float)
        left = anp.cumsum(weights[::-1])[::-1][1:]
        return anp.log(weights[:-1]) - anp.log(left) + np.log(np.arange(self.k - 1, 0, -1))

    def log_abs_det(self, u: Any) -> Any:
        log_share, log_rest, log_left = self._log_shares(u)
        return plain(anp.sum(log_share + log_rest + log_left[:-1]))


@functools.lru_cache(maxsize=64)
def _simplex_embedding(dim: int) -> np.ndarray:
    embedding = np.vstack([np.eye(dim), np.full((1, dim), -1.0)])
    embedding.setflags(write=False)
    return embedding


@functools.lru_cache(maxsize=64)
def _lower(d: int, diagonal: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For the lower triangle up to `diagonal`, row by row: the flat indices, the matrix that puts
    entries there, and the one that also mirrors them into the upper triangle."""
    rows, columns = np.tril_indices(d, diagonal)
    entries = rows * d + columns
    place = np.zeros((d * d, len(entries)))
    place[entries, np.arange(len(entries))] = 1.0
    mirror = place.copy()
    mirror[columns * d + rows, np.arange(len(entries))] = 1.0
    for array in (entries, place, mirror):
        array.setflags(write=False)
    return entries, place, mirror


def _symmetric_positive_definite(matrix: np.ndarray | None) -> bool:
    if matrix is None or not np.isfinite(matrix).all():
        return False
    if np.abs(matrix - matrix.T).max(initial=0.0) > _SYMMETRY_TOLERANCE * np.abs(matrix).max(initial=0.0):
        return False
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


@dataclass(frozen=True)
class Covariance(Support):
    """Symmetric positive definite (d, d) matrices. Free coordinates: the lower triangle, row by row.

    The chart is the Cholesky factor L, lower triangle row by row, with the logarithm of its diagonal:
    |det| = 2^d prod_i L_ii^(d - i + 1), i from 0 (Muirhead 1982, theorem 2.1.9).
    """

    d: int

    def __post_init__(self) -> None:
        d = count("Covariance", "d", self.d, 1)
        self._fix(d=d, shape=(d, d), dim=d * (d + 1) // 2)

    def contains(self, value: Any) -> bool:
        return _symmetric_positive_definite(as_array(value, (self.d, self.d)))

    @property
    def embedding(self) -> np.ndarray:
        return _lower(self.d, 0)[2]

    @property
    def free_entries(self) -> np.ndarray:
        return _lower(self.d, 0)[0]

    @property
    def _on_diagonal(self) -> np.ndarray:
        on_diagonal: np.ndarray = self.free_entries % (self.d + 1) == 0
        return on_diagonal

    def constrain(self, u: Any) -> Any:
        on_diagonal = self._on_diagonal
        factor = anp.where(on_diagonal, exp(anp.where(on_diagonal, u, 0.0)), u)
        lower = anp.reshape(anp.dot(_lower(self.d, 0)[1], factor), (self.d, self.d))
        return anp.dot(lower, lower.T)

    def unconstrain(self, value: Any) -> Any:
        factor = anp.ravel(anp.linalg.cholesky(anp.array(value, dtype=float)))[self.free_entries]
        on_diagonal = self._on_diagonal
        return anp.where(on_diagonal, anp.log(anp.where(on_diagonal, factor, 1.0)), factor)

    def log_abs_det(self, u: Any) -> Any:
        powers = np.arange(self.d + 1, 1, -1)
        return plain(self.d * math.log(2.0) + anp.dot(powers, u[self._on_diagonal]))


@dataclass(frozen=True)
class Correlation(Support):
    """Correlation matrices of d variables. Free coordinates: below the diagonal, row by row.

    The chart is the inverse hyperbolic tangent of the canonical partial correlations
    (Lewandowski, Kurowicka and Joe 2009, section 2).
    """

    d: int

    def __post_init__(self) -> None:
        d = count("Correlation", "d", self.d, 1)
        self._fix(d=d, shape=(d, d), dim=d * (d - 1) // 2)

    def contains(self, value: Any) -> bool:
        matrix = as_array(value, (self.d, self.d))
        if matrix is None or not np.abs(np.diag(matrix) - 1.0).max() <= _SYMMETRY_TOLERANCE:
            return False
        return _symmetric_positive_definite(matrix)

    @property
    def embedding(self) -> np.ndarray:
        return _lower(self.d, -1)[2]

    @property
    def free_entries(self) -> np.ndarray:
        return _lower(self.d, -1)[0]

    def from_coordinates(self, coordinates: Any) -> Any:
        return anp.reshape(anp.dot(self.embedding, coordinates), (self.d, self.d)) + np.eye(self.d)

    def _factor(self, u: Any) -> tuple[Any, Any, Any]:
        """The Cholesky factor L, log(1 - z^2) of the partial correlations z, and log of what row i of
        unit length has left for its columns from j on, each of shape (d, d)."""
        w = anp.reshape(anp.dot(_lower(self.d, -1)[1], u), (self.d, self.d))
        log_rest = 2.0 * (math.log(2.0) - anp.logaddexp(w, -w))
        log_left = anp.concatenate([np.zeros((self.d, 1)), anp.cumsum(log_rest, axis=1)[:, :-1]], axis=1)
        factor = (anp.tanh(w) + np.eye(self.d)) * anp.exp(0.5 * log_left)
        return factor, log_rest, log_left

    def constrain(self, u: Any) -> Any:
        factor, _, _ = self._factor(u)
        below = anp.tril(anp.dot(factor, factor.T), -1)
        return below + below.T + np.eye(self.d)

    def unconstrain(self, value: Any) -> Any:
        factor = anp.linalg.cholesky(anp.array(value, dtype=float))
        left = anp.cumsum((factor**2)[:, ::-1], axis=1)[:, ::-1]  # row sums of squares from column j on
        rows, columns = np.tril_indices(self.d, -1)
        return anp.arcsinh(factor[rows, columns] / anp.sqrt(left[rows, columns + 1]))

    def log_abs_det(self, u: Any) -> Any:
        # d z/d u = 1 - z^2; d L_ij/d z_ij = sqrt(left_ij); d R_ij/d L_ij = L_jj
        _, log_rest, log_left = self._factor(u)
        from_factor = anp.dot(np.arange(self.d - 1, -1, -1), anp.diag(log_left))
        return plain(anp.sum(log_rest) + 0.5 * anp.sum(anp.tril(log_left, -1)) + 0.5 * from_factor)
