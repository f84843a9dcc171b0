"""Log densities of whole columns as they are inside the support, in few passes over memory.

Each function takes a column x of the family's type, and parameters that are numbers or float columns of
the same length (for families in SHARED: valid vectors), otherwise unchecked. Where every entry
of what it returns is finite, they are the log densities, and every parameter was valid and every x in the
support; anything else, or None, means only that this is not the place to decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.discrete import categorical
from gendsl.distributions.made import UNDECIDED, scores
from gendsl.distributions.mixtures import UNDERFLOW, mixture_of_normals
from gendsl.distributions.special import HALF_LOG_2PI, all_from_0_to

Score = Callable[..., Any]
MIXTURE_BLOCK = 131072  # points times components; from some more on, BLAS would start threads


def log_of(parameter: Any) -> Any:
    """The logarithm; NaN of what is not positive, infinite of what is infinite."""
    if type(parameter) is np.ndarray:
        return np.log(parameter)
    return math.log(parameter) if parameter > 0.0 else math.nan


def made_scores(family: Any, x: np.ndarray, parameters: tuple[Any, ...]) -> Any:
    """The log densities for a family that they are made for."""
    try:
        return scores(family, x, parameters)
    except UNDECIDED:
        return None


def _categorical(x: np.ndarray, probs: np.ndarray) -> Any:
    return np.log(probs).take(x) if all_from_0_to(len(probs) - 1, x) else None


def _mixture_of_normals(x: np.ndarray, weights: np.ndarray, means: np.ndarray, variances: np.ndarray) -> Any:
    n, pieces = len(x), -(-len(x) * len(means) // MIXTURE_BLOCK)
    if pieces > 1:
        size = -(-n // pieces)
        parts = (x[start : start + size] for start in range(0, n, size))
        scores = [_mixture_of_normals(part, weights, means, variances) for part in parts]
        return None if any(part is None for part in scores) else np.concatenate(scores)
    densities = mixture_densities(x, weights / np.sqrt(variances), means, -0.5 / variances)
    if not densities.min() > UNDERFLOW:
        return None
    np.log(densities, densities)
    densities -= HALF_LOG_2PI
    return densities


def mixture_densities(x: np.ndarray, scales: np.ndarray, means: np.ndarray, factors: np.ndarray) -> Any:
    """Σ_j s_j exp(f_j (x - μ_j)²) at each x, for f_j = -1 / 2v_j."""
    terms = x - means[:, None]
    terms *= terms
    terms *= factors[:, None]
    np.exp(terms, terms)
    if len(scales) > 1:
        return scales.dot(terms)
    densities = terms[0]  # BLAS would start threads for one long row
    densities *= scales[0]
    return densities


_ONES = np.ones(8192)


def sum_of(scores: np.ndarray) -> float:
    """Their sum; as a product with ones where that is faster."""
    n = len(scores)
    return float(scores.dot(_ONES[:n]) if n <= len(_ONES) else np.add.reduce(scores))


SHARED: dict[type[Distribution], Score] = {
    categorical: _categorical,
    mixture_of_normals: _mixture_of_normals,
}
