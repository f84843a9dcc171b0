"""Columns of `iid`, `product` and `mixture` of families of one number that have columns themselves.

Where such a distribution has others among its parameters there is a `Law` for each: its family, and its
parameters, which are numbers or columns. As in `columns`, None means that it can't be vouched for, and that
the points are to be asked one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gendsl.distributions.arrays import weight_array
from gendsl.distributions.base import Distribution
from gendsl.distributions.columns import VECTORS, sample_columns, score_columns, total_columns
from gendsl.distributions.compound import iid, product
from gendsl.distributions.mixtures import log_sum, mixture
from gendsl.distributions.order_statistics import ordered
from gendsl.errors import ParameterError


class Law(NamedTuple):
    """A family of one number, and its parameters at all points: numbers, or columns."""

    family: Any
    parameters: tuple[Any, ...]

    def repeated(self, times: int) -> tuple[Any, ...]:
        """The parameters for so many values at each point, one after the other."""
        if self.family in VECTORS:
            return self.parameters  # all points share them
        return tuple(np.repeat(p, times) if type(p) is np.ndarray else p for p in self.parameters)


class Composite(NamedTuple):
    """How columns are scored and drawn, for parameters that are laws, and others."""

    score: Callable[..., np.ndarray | None]
    total: Callable[..., float | None]
    sample: Callable[..., np.ndarray | None]


# --- iid -----------------------------------------------------------------------------------------------


def _is_iid(x: np.ndarray, n: Any) -> bool:
    return type(n) is int and x.ndim == 2 and x.shape[1] == n > 0


def _score_iid(x: np.ndarray, law: Law, n: Any) -> np.ndarray | None:
    if not _is_iid(x, n):
        return None
    return _added(score_columns(law.family, x.reshape(-1), law.repeated(n)), x.shape)


def _total_iid(x: np.ndarray, law: Law, n: Any) -> float | None:
    return total_columns(law.family, x.reshape(-1), law.repeated(n)) if _is_iid(x, n) else None


def _sample_iid(rng: np.random.Generator, size: int, law: Law, n: Any) -> np.ndarray | None:
    if type(n) is not int or n < 1:
        return None
    draws = sample_columns(law.family, rng, size * n, law.repeated(n))
    return None if draws is None else draws.reshape(size, n)


def _added(scores: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray | None:
    """The sum of the scores of each row; -inf where one is."""
    if scores is None:
        return None
    sums: np.ndarray = scores.reshape(shape).sum(1)
    sums[np.isnan(sums)] = -np.inf  # infinite densities don't make up for what is impossible
    return sums


# --- ordered -------------------------------------------------------------------------------------------


def _score_ordered(x: np.ndarray, law: Law, k: Any) -> np.ndarray | None:
    scores = _score_iid(x, law, k)
    if scores is not None:
        scores += math.lgamma(k + 1.0)
        scores[~(x[:, 1:] >= x[:, :-1]).all(1)] = -np.inf
    return scores


def _sample_ordered(rng: np.random.Generator, size: int, law: Law, k: Any) -> np.ndarray | None:
    draws = _sample_iid(rng, size, law, k)
    return None if draws is None else np.sort(draws, 1)


# --- product -------------------------------------------------------------------------------------------


def _of_family(x_shape: tuple[int, ...], parameters: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The parameters of `product(family, ...)` for each entry of a matrix: numbers, vectors or matrices."""
    made: list[Any] = []
    known = False
    for parameter in parameters:
        if isinstance(parameter, (np.ndarray, list, tuple)):
            given = np.asarray(parameter)
            if given.dtype.kind not in "biuf" or given.shape not in (x_shape, x_shape[1:]):
                return None
            known = True
            made.append(np.broadcast_to(given.astype(float), x_shape).reshape(-1))
        else:
            made.append(parameter)
    return tuple(made) if known else None


def _score_product(x: np.ndarray, *parameters: Any) -> np.ndarray | None:
    if x.ndim != 2:
        return None
    if type(parameters[0]) is Law:
        if len(parameters) != x.shape[1]:
            return None
        each = [
            score_columns(law.family, np.ascontiguousarray(x[:, i]), law.parameters)
            for i, law in enumerate(parameters)
        ]
        return None if any(scores is None for scores in each) else _added(np.stack(each, 1), x.shape)  # type: ignore[arg-type]
    family, *others = parameters
    given = _of_family(x.shape, tuple(others))
    return None if given is None else _added(score_columns(family, x.reshape(-1), given), x.shape)


def _total_product(x: np.ndarray, *parameters: Any) -> float | None:
    if x.ndim == 2 and type(parameters[0]) is not Law:
        family, *others = parameters
        given = _of_family(x.shape, tuple(others))
        return None if given is None else total_columns(family, x.reshape(-1), given)
    return _total_of(_score_product(x, *parameters))


def _sample_product(rng: np.random.Generator, size: int, *parameters: Any) -> np.ndarray | None:
    if type(parameters[0]) is Law:
        each = [sample_columns(law.family, rng, size, law.parameters) for law in parameters]
        return None if any(draws is None for draws in each) else np.stack(each, 1)  # type: ignore[arg-type]
    family, *others = parameters
    widths = {np.shape(p)[-1] for p in others if np.ndim(p)}
    if len(widths) != 1:
        return None
    shape = size, widths.pop()
    given = _of_family(shape, tuple(others))
    draws = None if given is None else sample_columns(family, rng, shape[0] * shape[1], given)
    return None if draws is None else draws.reshape(shape)


# --- mixture -------------------------------------------------------------------------------------------


def _weights(weights: Any, laws: tuple[Law, ...], n: int) -> np.ndarray | None:
    """The weights, of shape (k, 1) or (k, n), if they are valid at each of n points."""
    if np.ndim(weights) == 2:
        rows = np.asarray(weights, float)
        if rows.shape != (n, len(laws)) or not rows.min() >= 0.0:
            return None
        if not (np.abs(rows.sum(1) - 1.0) <= 1e-8).all():
            return None
    else:
        rows = weight_array("mixture", "weights", weights)[None, :]
        if rows.shape[1] != len(laws):
            return None
    return rows.T


def _score_mixture(x: np.ndarray, weights: Any, laws: tuple[Law, ...]) -> np.ndarray | None:
    known = _weights(weights, laws, len(x))
    if known is None:
        return None
    each = [score_columns(law.family, x, law.parameters) for law in laws]
    if any(scores is None for scores in each):
        return None
    return np.asarray(log_sum(known, np.stack(each)))  # type: ignore[arg-type]


def _total_mixture(x: np.ndarray, weights: Any, laws: tuple[Law, ...]) -> float | None:
    return _total_of(_score_mixture(x, weights, laws))


def _sample_mixture(
    rng: np.random.Generator, size: int, weights: Any, laws: tuple[Law, ...]
) -> np.ndarray | None:
    known = _weights(weights, laws, size)
    if known is None:
        return None
    ends = np.cumsum(known, 0)
    chosen = (rng.random(size) * ends[-1] >= ends[:-1]).sum(0)
    each = [sample_columns(law.family, rng, size, law.parameters) for law in laws]
    return None if any(draws is None for draws in each) else np.choose(chosen, each)  # type: ignore[arg-type]


def _total_of(scores: np.ndarray | None) -> float | None:
    return None if scores is None else float(scores.sum())


COMPOSITES: dict[type[Distribution], Composite] = {
    iid: Composite(_score_iid, _total_iid, _sample_iid),
    ordered: Composite(
        _score_ordered, lambda x, law, k: _total_of(_score_ordered(x, law, k)), _sample_ordered
    ),
    product: Composite(_score_product, _total_product, _sample_product),
    mixture: Composite(_score_mixture, _total_mixture, _sample_mixture),
}
"""The families that are made of others."""

REFUSED = (ParameterError, TypeError, ValueError)
"""What is raised where there is no such distribution."""
