"""Resampling: which particles go on, in how many copies, given their weights.

Each scheme takes normalised weights W_1, ..., W_m and a number n, and returns n indices in increasing order.
All are unbiased: the expected number of copies of particle i is n W_i. They differ in its variance, which is
largest for multinomial resampling. (Douc, Cappé and Moulines 2005, "Comparison of resampling schemes for
particle filtering".)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gendsl.errors import ValueTypeError

Scheme = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]
"""A resampling scheme: (weights, n, rng) -> n indices."""

_BELOW_ONE = np.nextafter(1.0, 0.0)


def multinomial_resampling(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """n independent draws; the numbers of copies are multinomial."""
    alive = np.flatnonzero(weights)
    return np.repeat(alive, rng.multinomial(n, weights[alive] / weights[alive].sum()))


def residual_resampling(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """floor(n W_i) copies of each particle, and the rest multinomial with what is left of the weights."""
    copies = np.floor(n * weights).astype(int)
    left = n - int(copies.sum())
    if left > 0:
        rest = n * weights - copies
        alive = np.flatnonzero(rest)
        copies[alive] += rng.multinomial(left, rest[alive] / rest[alive].sum())
    return np.repeat(np.arange(len(weights)), copies)


def stratified_resampling(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """The particles at n points of the cumulated weights, one uniform in each of n equal intervals."""
    return _at((np.arange(n) + rng.random(n)) / n, weights)


def systematic_resampling(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """The particles at n points of the cumulated weights, 1 / n apart, the first uniform on [0, 1 / n)."""
    return _at((np.arange(n) + rng.random()) / n, weights)


def _at(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The particle at each of some points of [0, 1); one without weight takes no room."""
    ends = np.cumsum(weights)
    return np.asarray(np.searchsorted(ends / ends[-1], np.minimum(points, _BELOW_ONE), side="right"))


SCHEMES: dict[str, Scheme] = {
    "multinomial": multinomial_resampling,
    "residual": residual_resampling,
    "stratified": stratified_resampling,
    "systematic": systematic_resampling,
}


def as_scheme(resampling: str | Scheme) -> Scheme:
    """The scheme of that name, or a user's own.

    Raises:
        ValueTypeError: there is none of that name.
    """
    if isinstance(resampling, str) and resampling in SCHEMES:
        return SCHEMES[resampling]
    if callable(resampling):
        return resampling
    raise ValueTypeError(
        f"resampling={resampling!r} is no resampling scheme",
        fix=f"it is one of {', '.join(SCHEMES)}, or a function (weights, n, rng) -> n indices",
    )
