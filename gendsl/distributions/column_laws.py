"""A column of choices from any family that has columns: of numbers, of vectors, and those made of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.distributions import columns
from gendsl.distributions.composite_columns import COMPOSITES, REFUSED
from gendsl.distributions.row_columns import ROW_FAMILIES, sample_rows, score_rows, total_rows

__all__ = ["sample_column", "score_column", "total_column"]


def score_column(family: Any, x: Any, parameters: tuple[Any, ...]) -> np.ndarray | None:
    """The log density at each point, of shape (n,); None where array code can't vouch for it."""
    if family in ROW_FAMILIES:
        return score_rows(family, x, parameters)
    if family in COMPOSITES:
        try:
            with np.errstate(all="ignore"):
                scores = COMPOSITES[family].score(x, *parameters)
        except REFUSED:
            return None
        return None if scores is None or np.isnan(scores).any() else scores
    return columns.score_columns(family, x, parameters)


def total_column(family: Any, x: Any, parameters: tuple[Any, ...]) -> float | None:
    """The sum of the log densities at all points; -inf where one of them is."""
    total: float | None
    if family in ROW_FAMILIES:
        total = total_rows(family, x, parameters)
    elif family in COMPOSITES:
        try:
            with np.errstate(all="ignore"):
                total = COMPOSITES[family].total(x, *parameters)
        except REFUSED:
            return None
    else:
        return columns.total_columns(family, x, parameters)
    return total if total is None or total == total else -np.inf


def sample_column(
    family: Any, rng: np.random.Generator, n: int, parameters: tuple[Any, ...]
) -> np.ndarray | None:
    """n independent draws."""
    if family in ROW_FAMILIES:
        return sample_rows(family, rng, n, parameters)
    if family in COMPOSITES:
        try:
            with np.errstate(all="ignore"):
                return COMPOSITES[family].sample(rng, n, *parameters)
        except REFUSED:
            return None
    return columns.sample_columns(family, rng, n, parameters)
