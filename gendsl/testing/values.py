"""Hypothesis strategies for the values of one choice, made from its distribution's support.

A strategy gives values of positive, finite density on the scale of the distribution: within the range of
a few of its draws and three times as far again, so that no counterexample lies where rounding is all that
goes wrong. Within that range it shrinks as hypothesis does: to few, equal, whole, small numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gendsl.distributions import Distribution
from gendsl.distributions.scipy_frozen import require_distribution
from gendsl.supports import (
    Boolean,
    Correlation,
    Counts,
    Covariance,
    DiscreteProduct,
    Integers,
    Lattice,
    RealArray,
    Repeated,
    Simplex,
    Stacked,
    Support,
)
from gendsl.supports.scalar import Line

Values = st.SearchStrategy[Any]

_PILOT = 24  # draws that fix the scale of a distribution
_LISTED = 256  # a finite support with no more values than this is listed
_ENTRIES = 128  # an array with more entries than this is drawn whole, by the number of a seed
_SHARES = 20  # the weights of a simplex are shares of whole numbers up to this


def values(distribution: Distribution) -> Values:
    """Values of a choice from a distribution: in its support, of positive and finite density.

    Args:
        distribution: the distribution; of any support, a user's own included. One whose support has a
            chart (`constrain`, `unconstrain`) is drawn in its coordinates, any other by seeds.
    """
    distribution = require_distribution(distribution, "values")
    try:
        return _cached(distribution)
    except TypeError:  # a parameter of a user's class that has no hash
        return _values(distribution)


def _values(distribution: Distribution) -> Values:
    support = distribution.support
    possible = functools.partial(_possible, distribution)
    if type(support) in (Boolean, Integers, Lattice) or (support.discrete and support.shape is None):
        listed = _listed(support)
        if listed is not None:
            return st.sampled_from([value for value in listed if possible(value)])
    generator = np.random.default_rng(0)
    draws = [distribution.sample(generator) for _ in range(_PILOT)]
    found = _of_support(support, draws)
    if found is None:
        found = st.integers(0, 99).map(lambda seed: distribution.sample(np.random.default_rng(seed)))
    return found.map(support.canonical).filter(possible)


_cached = functools.lru_cache(maxsize=4096)(_values)


def _possible(distribution: Distribution, value: Any) -> bool:
    return math.isfinite(distribution.logpdf(value))


def _listed(support: Support) -> tuple[Any, ...] | None:
    """The values of a small finite support."""
    if isinstance(support, Integers) and support.high - support.low >= _LISTED:
        return None
    found = support.values
    return found if found is not None and len(found) <= _LISTED else None


def _of_support(support: Support, draws: list[Any]) -> Values | None:
    """Values of a support on the scale of some draws; None where nothing is known of it."""
    if math.prod(support.shape or ()) > _ENTRIES:
        return None
    for kind, make in _KINDS:
        if isinstance(support, kind):
            return make(support, draws)
    return None if support.discrete else _in_chart(support, draws)


def _reach(numbers: Any) -> tuple[float, float]:
    """The range of some numbers and three times as far again."""
    low, high = float(np.min(numbers)), float(np.max(numbers))
    more = 1.5 * (high - low)
    return low - more, high + more


def _floats(low: float, high: float) -> st.SearchStrategy[float]:
    if not low < high:
        return st.just(low)
    return st.floats(low, high, allow_nan=False, allow_infinity=False, allow_subnormal=False)


def _line(support: Line, draws: list[Any]) -> Values:
    """Numbers between two ends that are found in the chart, where no boundary is near."""
    with np.errstate(divide="ignore"):
        u = np.array([support.unconstrain(float(x))[0] for x in draws])
    u = u[np.isfinite(u)]
    if not len(u):
        return st.just(draws[0])
    low, high = (float(support.constrain(np.array([end]))) for end in _reach(u))
    return _floats(low, high).filter(support.contains)


def _integers(support: Integers, draws: list[Any]) -> Values:
    low, high = _reach(draws)
    low, high = max(support.low, math.floor(low) - 1), min(support.high, math.ceil(high) + 1)
    return st.integers(int(low), int(high))


def _lattice(support: Lattice, draws: list[Any]) -> Values:
    indices = _integers(Integers(support.low, support.high), [int(support.index(x)) for x in draws])
    return indices.map(lambda i: support.offset + support.step * i)


def _simplex(support: Simplex, draws: list[Any]) -> Values:
    shares = st.lists(st.integers(1, _SHARES), min_size=support.k, max_size=support.k)
    return shares.map(lambda parts: np.array(parts) / sum(parts))


def _covariance(support: Covariance, draws: list[Any]) -> Values:
    """A factor times its transpose, on the scale of the draws; the simplest is a multiple of the identity."""
    d = support.d
    sizes = np.log([np.trace(matrix) / d for matrix in draws])
    low, high = (math.exp(end) for end in _reach(sizes))
    below = st.lists(st.floats(-1.0, 1.0), min_size=d * (d - 1) // 2, max_size=d * (d - 1) // 2)
    diagonal = st.lists(_floats(0.5, 2.0), min_size=d, max_size=d)

    def matrix(parts: tuple[float, list[float], list[float]]) -> np.ndarray:
        size, lower, upper = parts
        factor = np.diag(upper).astype(float)
        factor[np.tril_indices(d, -1)] = lower
        product = size * factor @ factor.T
        return np.asarray((product + product.T) / 2)

    return st.tuples(_floats(low, high), below, diagonal).map(matrix)


def _correlation(support: Correlation, draws: list[Any]) -> Values:
    chart = st.lists(st.floats(-1.5, 1.5), min_size=support.dim, max_size=support.dim)
    return chart.map(lambda u: support.constrain(np.array(u, dtype=float)))


def _counts(support: Counts, draws: list[Any]) -> Values:
    cuts = st.lists(st.integers(0, support.n), min_size=support.k - 1, max_size=support.k - 1)
    return cuts.map(lambda at: np.diff([0, *sorted(at), support.n]))


def _real_array(support: RealArray, draws: list[Any]) -> Values:
    """Each entry on its own scale."""
    columns = np.array([np.ravel(x) for x in draws]).T
    entries = [_floats(*_reach(column)) for column in columns]
    return st.tuples(*entries).map(lambda x: np.array(x, dtype=float).reshape(support.shape))


def _repeated(support: Repeated, draws: list[Any]) -> Values | None:
    listed = _listed(support.component) if support.discrete else None
    pool = [entry for x in draws for entry in x]
    one: Values | None
    if listed:
        one = st.sampled_from(listed)
    else:
        one = _of_support(support.component, pool) if pool else st.nothing()
    if one is None:
        return None
    return st.lists(one, min_size=support.n, max_size=support.n).map(
        lambda x: np.array(x).reshape(support.shape or ())
    )


def _entries(support: Stacked | DiscreteProduct, draws: list[Any]) -> Values | None:
    found = []
    for i, component in enumerate(support.components):
        listed = _listed(component) if component.discrete else None
        one = st.sampled_from(listed) if listed else _of_support(component, [x[i] for x in draws])
        if one is None:
            return None
        found.append(one)
    return st.tuples(*found).map(np.array)


def _in_chart(support: Support, draws: list[Any]) -> Values | None:
    """Values of a user's own continuous support, by its chart to R^dim; None where it has none."""
    try:
        columns = np.array([support.unconstrain(x) for x in draws], dtype=float).T
    except TypeError:
        return None
    columns = np.where(np.isfinite(columns), columns, 0.0)
    charts = st.tuples(*(_floats(*_reach(column)) for column in columns))
    return charts.map(lambda u: support.constrain(np.array(u, dtype=float)))


_KINDS: tuple[tuple[type[Support], Callable[[Any, list[Any]], Values | None]], ...] = (
    (Line, _line),
    (Integers, _integers),
    (Lattice, _lattice),
    (Simplex, _simplex),
    (Covariance, _covariance),
    (Correlation, _correlation),
    (Counts, _counts),
    (RealArray, _real_array),
    (Repeated, _repeated),
    (Stacked, _entries),
    (DiscreteProduct, _entries),
)
