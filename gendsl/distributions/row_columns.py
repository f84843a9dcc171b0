"""Columns of vectors, each a row of a matrix: log densities and draws of the families of vectors.

A parameter is the same for all points, or, where it is a vector itself, a matrix with a row for each. As in
`columns`, None means that it can't be vouched for, and that the points are to be asked one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from gendsl.distributions.arrays import SUM_TOLERANCE, solve_lower
from gendsl.distributions.base import Distribution
from gendsl.distributions.large import LARGE
from gendsl.distributions.multivariate import FAR, SIMPLEX_TOLERANCE, dirichlet, multinomial, mvnormal
from gendsl.distributions.special import LOG_FACTORIALS
from gendsl.errors import ParameterError

_TINY = math.ulp(0.0)
_REFUSED = (ParameterError, TypeError, ValueError)
"""What is raised where there is no such distribution."""
_TRUSTED = 1e40
"""A sum of log densities from which on one of the points may be too far away for a float."""
_WIDE = 1e100
_BLOCK = 2048
"""Points whose entries stay in the cache."""
_FEW_AXES = 8
"""Up to how many entries of a vector arithmetic on columns solves faster than BLAS."""


class RowFamily(NamedTuple):
    """What is known of a family whose values are vectors of one length.

    Attributes:
        dtype: the type of their entries.
        rows: which of the parameters may have a row for each point; the others are the same for all.
        score: the log density of each row of a matrix, for such parameters; None where it can't tell.
        total: their sum, by a shorter way; NaN where that decides nothing.
        sample: so many draws as rows; None where they must be made one by one.
    """

    dtype: np.dtype[Any]
    rows: tuple[int, ...]
    score: Callable[..., np.ndarray | None]
    total: Callable[..., float] | None
    sample: Callable[..., np.ndarray | None]


@np.errstate(all="ignore")
def score_rows(family: Any, x: Any, parameters: tuple[Any, ...]) -> np.ndarray | None:
    """The log density at each point, of shape (n,); see `columns.score_columns`."""
    known = ROW_FAMILIES[family]
    if not _are_rows(family, x, parameters):
        return None
    if not len(x):
        return np.empty(0)
    try:
        scores = known.score(x, *parameters)
    except _REFUSED:
        return None
    return None if scores is None or np.isnan(scores).any() else scores


@np.errstate(all="ignore")
def total_rows(family: Any, x: Any, parameters: tuple[Any, ...]) -> float | None:
    """The sum of the log densities at all points; -inf where one of them is."""
    total = ROW_FAMILIES[family].total
    if total is not None and _are_rows(family, x, parameters) and len(x):
        try:
            found = total(x, *parameters)
        except _REFUSED:
            return None
        if -_TRUSTED < found < _TRUSTED:
            return found
    scores = score_rows(family, x, parameters)
    return None if scores is None else float(scores.sum())


def sample_rows(
    family: Any, rng: np.random.Generator, n: int, parameters: tuple[Any, ...]
) -> np.ndarray | None:
    """n independent draws, as the rows of a matrix."""
    known = ROW_FAMILIES[family]
    if not n or not _are_for(family, n, parameters):
        return None
    try:
        with np.errstate(all="ignore"):
            draws = known.sample(rng, n, *parameters)
    except _REFUSED:
        return None
    return None if draws is None else np.ascontiguousarray(draws, known.dtype)


def _are_rows(family: Any, x: Any, parameters: tuple[Any, ...]) -> bool:
    """Whether x is a column of a family's type, and has a row for each that is among the parameters."""
    dtype = ROW_FAMILIES[family].dtype
    return type(x) is np.ndarray and x.ndim == 2 and x.dtype == dtype and _are_for(family, len(x), parameters)


def _are_for(family: Any, n: int, parameters: tuple[Any, ...]) -> bool:
    """Whether all parameters are there, and one that is a matrix of vectors has one for each of n points."""
    if len(parameters) != len(family.parameters):
        return False
    return all(np.ndim(parameters[i]) != 2 or len(parameters[i]) == n for i in ROW_FAMILIES[family].rows)


def _floats(parameter: Any) -> np.ndarray:
    """Rows of numbers as rows of floats.

    Raises:
        TypeError: it is no matrix of numbers.
    """
    if type(parameter) is not np.ndarray:
        parameter = np.asarray(parameter)
    if parameter.dtype.kind not in "fiub":
        raise TypeError
    floats: np.ndarray = parameter.astype(float, copy=False)
    return floats


# --- mvnormal ----------------------------------------------------------------------------------------


def _normal(mean: Any, cov: Any) -> tuple[Any, mvnormal] | None:
    """The means, and a distribution with the covariance matrix and a mean that the first of them may be."""
    if np.ndim(mean) != 2:
        law = mvnormal(mean, cov)
        return law.mean, law
    means = _floats(mean)
    law = mvnormal(means[0], cov)
    return (means, law) if np.isfinite(means).all() else None


def _score_mvnormal(x: np.ndarray, mean: Any, cov: Any) -> np.ndarray | None:
    known = _normal(mean, cov)
    if known is None:
        return None
    means, law = known
    if x.shape[1] != len(law.mean) or not x.shape[1]:
        return None
    squares = _squares(x - means, law.lower)
    scores: np.ndarray = law.constant - 0.5 * squares
    if not (x.max() < FAR and x.min() > -FAR):  # NaN is neither
        scores[~(np.abs(x) < FAR).all(1)] = -math.inf
    return scores


def _total_mvnormal(x: np.ndarray, mean: Any, cov: Any) -> float:
    known = _normal(mean, cov)
    if known is None:
        return math.nan
    means, law = known
    dim = len(law.mean)
    if x.shape[1] != dim or not 0 < dim <= _FEW_AXES:
        return math.nan
    if not (np.abs(law.lower).max() < _WIDE and means.max() < _WIDE and means.min() > -_WIDE):
        return math.nan  # what is far away might not show in the sum
    buffer = np.empty((dim, min(len(x), _BLOCK)))
    squares = 0.0
    for start in range(0, len(x), _BLOCK):
        some = x[start : start + _BLOCK].T
        shift = means[:, None] if means.ndim == 1 else means[start : start + _BLOCK].T
        whitened = buffer[:, : some.shape[1]]
        np.subtract(some, shift, whitened)
        for row in _whiten(whitened, law.lower):
            squares += float(row.dot(row))
    return float(len(x) * law.constant - 0.5 * squares)


def _squares(deviations: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """|L⁻¹ z|² of each row z, by one solution for all of them."""
    if len(lower) > _FEW_AXES:
        whitened = solve_lower(lower, deviations.T)
        np.multiply(whitened, whitened, whitened)
        return np.asarray(whitened.sum(0))
    squares = np.zeros(len(deviations))
    for row in _whiten(np.ascontiguousarray(deviations.T), lower):
        squares += row * row
    return squares


def _whiten(rows: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """L⁻¹ z for each column z of a matrix, in place: of few rows faster than BLAS, which is made for many."""
    for i, factors in enumerate(lower.tolist()):
        row = rows[i]
        for j in range(i):
            if factors[j]:
                row -= factors[j] * rows[j]
        if factors[i] != 1.0:
            row /= factors[i]
    return rows


def _sample_mvnormal(rng: np.random.Generator, n: int, mean: Any, cov: Any) -> np.ndarray | None:
    known = _normal(mean, cov)
    if known is None:
        return None
    means, law = known
    draws: np.ndarray = rng.standard_normal((n, len(law.mean))) @ law.lower.T
    draws += means
    return draws


# --- dirichlet ---------------------------------------------------------------------------------------


def _concentrations(alpha: Any) -> np.ndarray | None:
    """A vector of positive concentrations, or one in each row."""
    if np.ndim(alpha) != 2:
        return np.asarray(dirichlet(alpha).alpha, float)
    rows = _floats(alpha)
    return rows if rows.shape[1] and ((rows > 0.0) & (rows < math.inf)).all() else None


def _score_dirichlet(x: np.ndarray, alpha: Any) -> np.ndarray | None:
    concentrations = _concentrations(alpha)
    if concentrations is None:
        return None
    sums = concentrations.sum(-1)
    usual = x.shape[1] == concentrations.shape[-1] and np.max(sums) <= LARGE
    if not usual or not x.min() > 0.0 or np.abs(x.sum(1) - 1.0).max() > SIMPLEX_TOLERANCE:
        return np.asarray(dirichlet.elementwise(x, concentrations))
    logs, powers = np.log(x), concentrations - 1.0
    terms = logs @ powers if powers.ndim == 1 else np.einsum("ij,ij->i", logs, powers)
    return np.asarray(terms + (gammaln(sums) - gammaln(concentrations).sum(-1)))


def _sample_dirichlet(rng: np.random.Generator, n: int, alpha: Any) -> np.ndarray | None:
    concentrations = _concentrations(alpha)
    if concentrations is None:
        return None
    if concentrations.ndim == 1:
        draws = rng.dirichlet(concentrations, n)
    else:
        if concentrations.min() < 0.1:
            return None  # all of a row may be too small for a float
        draws = rng.standard_gamma(concentrations)
        draws /= draws.sum(1, keepdims=True)
    return np.maximum(draws, _TINY)  # 0 would be outside of the support


# --- multinomial -------------------------------------------------------------------------------------


def _probabilities(n: Any, p: Any) -> tuple[int, np.ndarray] | None:
    """How many draws, and a vector of probabilities, or one in each row."""
    if np.ndim(p) != 2:
        law = multinomial(n, p)
        return law.n, law.p
    rows = _floats(p)
    law = multinomial(n, rows[0])
    sums = rows.sum(1)
    valid = rows.min() >= 0.0 and (np.abs(sums - 1.0) <= SUM_TOLERANCE).all()
    return (law.n, rows) if valid else None


def _score_multinomial(x: np.ndarray, n: Any, p: Any) -> np.ndarray | None:
    known = _probabilities(n, p)
    if known is None:
        return None
    n, probabilities = known
    usual = x.shape[1] == probabilities.shape[-1] and 0 < n < len(LOG_FACTORIALS)
    if not usual or x.min() < 0 or not probabilities.min() > 0.0 or (x.sum(1) != n).any():
        return np.asarray(multinomial.elementwise(x, n, probabilities))
    logs = np.log(probabilities)
    terms = x @ logs if logs.ndim == 1 else np.einsum("ij,ij->i", x, logs)
    return np.asarray(terms + (LOG_FACTORIALS[n] - LOG_FACTORIALS.take(x).sum(1)))


def _sample_multinomial(rng: np.random.Generator, size: int, n: Any, p: Any) -> np.ndarray | None:
    known = _probabilities(n, p)
    if known is None:
        return None
    n, probabilities = known
    return rng.multinomial(n, probabilities / probabilities.sum(-1, keepdims=True), size)


ROW_FAMILIES: dict[type[Distribution], RowFamily] = {
    mvnormal: RowFamily(np.dtype(float), (0,), _score_mvnormal, _total_mvnormal, _sample_mvnormal),
    dirichlet: RowFamily(np.dtype(float), (0,), _score_dirichlet, None, _sample_dirichlet),
    multinomial: RowFamily(np.dtype(int), (1,), _score_multinomial, None, _sample_multinomial),
}
"""The families of vectors that have columns."""
