"""Sums of log densities in few passes over memory.

Each function takes a float column x and parameters that `is_plain` approves of, unchecked, and adds up the
log density as it is inside the support. A finite result is right, and proves that every parameter was
valid and every x in the support; any other result means only that this is not the place to decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.location_scale import normal
from gendsl.distributions.mixtures import UNDERFLOW
from gendsl.distributions.special import HALF_LOG_2PI

_NUMBERS = frozenset((float, np.float64))
_FLOAT = np.dtype(float)
EXACT = 1 << 52  # integers up to here are floats, and so are their neighbours
BLOCK = 8192  # entries that stay in the cache; beyond some more BLAS would start threads
_MIXTURE_BLOCK = 65536
_MODERATE = 1e140  # squares of numbers between this and its inverse are far from overflow and underflow


def is_plain(x: np.ndarray, parameters: tuple[Any, ...]) -> bool:
    """Whether x is a column of floats, and each parameter a number or such a column of the same length."""
    if type(x) is not np.ndarray or x.ndim != 1 or x.dtype != _FLOAT:
        return False
    for parameter in parameters:
        kind = type(parameter)
        if kind is np.ndarray:
            if parameter.shape != x.shape or parameter.dtype != _FLOAT:
                return False
        elif kind not in _NUMBERS and not (kind is int and -EXACT <= parameter <= EXACT):
            return False
    return True


def _blocks(x: np.ndarray, *parameters: Any) -> Iterator[tuple[Any, ...]]:
    """The rows, block by block, each with an array of its length for intermediate results."""
    buffer = np.empty(BLOCK)
    for start in range(0, len(x), BLOCK):
        stop = min(start + BLOCK, len(x))
        rows = (p[start:stop] if type(p) is np.ndarray else p for p in parameters)
        yield buffer[: stop - start], x[start:stop], *rows


def _normal(x: np.ndarray, mean: Any, sd: Any) -> float:
    if type(sd) is np.ndarray:
        if len(x) > BLOCK:
            total = 0.0
            for z, xs, means, sds in _blocks(x, mean, sd):
                np.subtract(xs, means, z)
                z /= sds
                total -= 0.5 * z.dot(z)
                total -= np.log(sds, z).sum()
        else:
            z = x - mean
            z /= sd
            total = -0.5 * z.dot(z) - np.log(sd).sum()
        return float(total - len(x) * HALF_LOG_2PI)
    if not 1.0 / _MODERATE < sd < _MODERATE:
        return math.nan
    if len(x) > BLOCK:
        squares = 0.0
        for z, xs, means in _blocks(x, mean):
            np.subtract(xs, means, z)
            squares += z.dot(z)
    else:
        z = x - mean
        squares = z.dot(z)
    return float(-0.5 * squares / (sd * sd) - len(x) * (math.log(sd) + HALF_LOG_2PI))


def mixture_of_normals_total(x: np.ndarray, weights: Any, means: Any, variances: Any) -> float:
    """The same for the shared vectors of `mixture_of_normals`, which are valid."""
    k, n = len(means), len(x)
    size = -(-n // -(-n * k // _MIXTURE_BLOCK))  # points in a block; all blocks are about equal
    buffer = np.empty(k * size)
    centres, factors, scales = means[:, None], (-0.5 / variances)[:, None], weights / np.sqrt(variances)
    total = 0.0
    for start in range(0, n, size):
        xs = x[start : start + size]
        terms = buffer[: k * len(xs)].reshape(k, len(xs))
        np.subtract(xs, centres, terms)
        np.multiply(terms, terms, terms)
        np.multiply(terms, factors, terms)
        np.exp(terms, terms)
        densities = scales.dot(terms) if k > 1 else terms[0] * scales[0]
        if not np.minimum.reduce(densities) > UNDERFLOW:
            return math.nan
        total += np.add.reduce(np.log(densities, densities))
    return float(total - n * HALF_LOG_2PI)


TOTALS: dict[type[Distribution], Callable[..., float]] = {
    normal: _normal,
}
