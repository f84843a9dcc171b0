"""A column of choices from one family: log densities, their sum, and draws, by array operations.

The parameters are those of the family's constructor, each a number, or an array with one entry for each
point; vectors (of `categorical`, `piecewise_uniform`, `mixture_of_normals`) are shared by all points.
For families whose values are vectors, and those that are made of others, see `column_laws`.
Every function returns None where it can't vouch for the result: for families without columns, for what is
no column of numbers, and where the constructor would refuse the parameters of some point. It is then for
the caller to go point by point, and to meet the error at the point where it belongs. Nothing is asked of
the parameters of no points at all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution, ScalarFamily
from gendsl.distributions.bounded import flat, truncated_normal, uniform
from gendsl.distributions.column_draws import DRAWS, VECTORS
from gendsl.distributions.column_scores import SHARED, made_scores, sum_of
from gendsl.distributions.column_totals import (
    TOTALS,
    shared_total,
    total_of_scores,
)
from gendsl.distributions.discrete import binom, uniform_discrete
from gendsl.distributions.links import binom_logit
from gendsl.errors import ParameterError

__all__ = ["COLUMN_DTYPES", "VECTORS", "sample_columns", "score_columns", "total_columns", "valid_columns"]

_INF = math.inf
_EXACT = 1 << 52  # integers up to here are floats, and so are their neighbours
_FLOAT = np.dtype(float)
_FLOATS = frozenset((float, np.float64))

COLUMN_DTYPES: Mapping[type[Distribution], np.dtype] = MappingProxyType(
    {family: np.dtype(getattr(family, "number", float)) for family in DRAWS}
)
"""The families that have columns, and the type of the column that holds their values."""

MADE = frozenset(
    family
    for family in COLUMN_DTYPES
    if getattr(family.elementwise, "__func__", None) is ScalarFamily.elementwise.__func__  # type: ignore[attr-defined]
)
"""Those whose log densities and derivatives are made from the text of `at`."""

# Any box of parameters is valid if its corners are, but for these pairs.
_ORDERED = {uniform: (0, 1), flat: (0, 1), uniform_discrete: (0, 1), truncated_normal: (2, 3)}
_INTEGERS = {binom: (0,), binom_logit: (0,), uniform_discrete: (0, 1)}


@np.errstate(all="ignore")
def score_columns(family: Any, x: Any, parameters: tuple[Any, ...]) -> np.ndarray | None:
    """The log density at each point, of shape (n,): `family(*parameters of the point).logpdf(x[i])`."""
    column = _values(family, x)
    if column is None:
        return None
    n = len(column)
    if n == 0:
        return np.empty(0)
    scores: np.ndarray | None = None
    if column.dtype == COLUMN_DTYPES[family]:
        if family in VECTORS:
            vectors = _vectors(family, parameters)
            if vectors is None:
                return None
            if family in SHARED:
                scores = SHARED[family](column, *vectors)
        elif family in MADE and _plain(family, parameters, n):
            scores = made_scores(family, column, parameters)
        if scores is not None and -_INF < sum_of(scores) < _INF:
            return scores
    checked = _checked(family, parameters, n)
    if checked is None:
        return None
    scores = family.elementwise(column, *checked)
    return None if np.isnan(scores).any() else scores


def total_columns(family: Any, x: Any, parameters: tuple[Any, ...]) -> float | None:
    """The sum of the log densities at all points; -inf where one of them is."""
    with np.errstate(all="ignore"):
        return _total_columns(family, x, parameters)


def _total_columns(family: Any, x: Any, parameters: tuple[Any, ...]) -> float | None:
    dtype = COLUMN_DTYPES.get(family)
    if dtype is None:
        return None
    if type(x) is np.ndarray and x.ndim == 1 and len(x) and x.dtype == dtype:
        total = math.nan
        if family in SHARED:
            law = _law(family, parameters)
            try:
                total = math.nan if law is None else shared_total(x, law)
            except (TypeError, ValueError):  # autograd traces a parameter
                return None
        elif family in MADE and _plain(family, parameters, len(x)):
            total = (
                TOTALS[family](x, *parameters) if family in TOTALS else total_of_scores(family, x, parameters)
            )
        if -_INF < total < _INF:
            return total
    scores = score_columns(family, x, parameters)
    if scores is None:
        return None
    total = float(scores.sum())
    return total if total == total else -_INF  # infinite densities don't make up for impossible points


def sample_columns(
    family: Any, rng: np.random.Generator, n: int, parameters: tuple[Any, ...]
) -> np.ndarray | None:
    """n independent draws, of the family's column type."""
    dtype = COLUMN_DTYPES.get(family)
    if dtype is None:
        return None
    with np.errstate(all="ignore"):
        checked = _checked(family, parameters, n)
        if checked is None:
            return None
        if n == 0:
            return np.empty(0, dtype)
        draws = DRAWS[family](rng, n, *checked)
    return None if draws is None else np.asarray(draws, dtype)


def valid_columns(family: Any, parameters: tuple[Any, ...], n: int) -> bool:
    """Whether the family takes the parameters of each of n points; False where that isn't known."""
    if family not in COLUMN_DTYPES:
        return False
    with np.errstate(all="ignore"):
        return _checked(family, parameters, n) is not None


def _values(family: Any, x: Any) -> np.ndarray | None:
    """x as a column of floats, or for a discrete family of what it takes for an integer."""
    dtype = COLUMN_DTYPES.get(family)
    if dtype is None or type(x) is not np.ndarray or x.ndim != 1 or x.dtype.kind not in "biuf":
        return None
    if x.dtype == dtype:
        return x
    return x.astype(np.int64 if dtype.kind != "f" and x.dtype.kind in "bi" else float, copy=False)


def _plain(family: Any, parameters: tuple[Any, ...], n: int) -> bool:
    """Whether all are there, each a number that is a float without loss, or a column of n floats."""
    if len(parameters) != len(family.parameters):
        return False
    for parameter in parameters:
        kind = type(parameter)
        if kind is np.ndarray:
            if parameter.shape != (n,) or parameter.dtype != _FLOAT:
                return False
        elif kind not in _FLOATS and not (kind is int and -_EXACT <= parameter <= _EXACT):
            return False
    return True


def _checked(family: Any, parameters: tuple[Any, ...], n: int) -> list[Any] | None:
    """The parameters, valid at every point: Python floats, and columns of floats; else None.

    The family's constructor decides, at the points where some parameter is least or greatest, and where
    two that must be in order are closest and farthest. That is enough: otherwise domains are boxes.
    """
    if n == 0:
        return []
    if family in VECTORS:
        return _vectors(family, parameters)
    rows = {i: p for i, p in enumerate(parameters) if type(p) is np.ndarray and p.ndim}
    for i, row in rows.items():
        column = _column(row, n)
        if column is None or (i in _INTEGERS.get(family, ()) and not _are_integers(column)):
            return None
        rows[i] = column
    law = _law(family, _point(parameters, rows, 0))
    if law is None:
        return None
    checked: list[Any] = []
    critical: set[int] = set()
    for i, name in enumerate(family.parameters):
        if i in rows:
            critical.update((int(rows[i].argmin()), int(rows[i].argmax())))
            checked.append(rows[i])
        else:
            number = getattr(law, name)
            if type(number) is not float and not (isinstance(number, int) and -_EXACT <= number <= _EXACT):
                return None
            checked.append(float(number))
    if rows and family in _ORDERED:
        low, high = (checked[i] for i in _ORDERED[family])
        gap = np.broadcast_to(high - low, n)
        critical.add(int(gap.argmin()))
        critical.add(int(np.where(np.isfinite(low) & np.isfinite(high), gap, 0.0).argmax()))
    if any(_law(family, _point(parameters, rows, i)) is None for i in critical):
        return None
    return checked


def _point(parameters: tuple[Any, ...], rows: dict[int, np.ndarray], at: int) -> tuple[Any, ...]:
    return tuple(rows[i][at].item() if i in rows else p for i, p in enumerate(parameters))


def _law(family: Any, parameters: tuple[Any, ...]) -> Any:
    """The distribution at one point; None where the constructor refuses."""
    try:
        return family(*parameters)
    except (ParameterError, TypeError):  # TypeError: not the right number of parameters
        return None


def _column(parameter: np.ndarray, n: int) -> np.ndarray | None:
    """A column of n floats; None for what isn't one, exactly."""
    if parameter.dtype.kind not in "biuf":
        return None
    if parameter.dtype.kind in "iu" and not (parameter.min() >= -_EXACT and parameter.max() <= _EXACT):
        return None
    if parameter.shape != (n,):
        try:
            parameter = np.broadcast_to(parameter, n)
        except ValueError:
            return None
    return parameter.astype(float, copy=False)


def _are_integers(column: np.ndarray) -> bool:
    """Whether they are, and fit into 64 bits."""
    return bool((np.abs(column) <= _EXACT).all() and (column == np.floor(column)).all())


def _vectors(family: Any, parameters: tuple[Any, ...]) -> list[Any] | None:
    """Valid parameters of a family in VECTORS, as arrays; else None."""
    if _law(family, parameters) is None:
        return None
    try:
        return [np.ascontiguousarray(parameter, dtype=float) for parameter in parameters]
    except (TypeError, ValueError):  # autograd traces some of the entries
        return None
