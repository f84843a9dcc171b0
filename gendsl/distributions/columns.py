"""A column of choices from one family: log densities, their sum, and draws, by array operations.

The parameters are those of the family's constructor, each a number, or an array with one entry for each
point; vectors (of `categorical`, `piecewise_uniform`, `mixture_of_normals`) are shared by all points.
Every function returns None where it can't vouch for the result: for families without columns, for what is
no column of numbers, and where the constructor would refuse the parameters of some point. It is then for
the caller to go point by point, and to meet the error at the point where it belongs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.bounded import truncated_normal, uniform
from gendsl.distributions.column_draws import DRAWS, VECTORS
from gendsl.distributions.column_totals import EXACT, TOTALS, is_plain, mixture_of_normals_total
from gendsl.distributions.discrete import binom, uniform_discrete
from gendsl.distributions.mixtures import mixture_of_normals
from gendsl.errors import ParameterError

_INF = math.inf

COLUMN_DTYPES: Mapping[type[Distribution], np.dtype] = MappingProxyType(
    {family: np.dtype(getattr(family, "number", float)) for family in DRAWS}
)
"""The families that have columns, and the type of the column that holds their values."""

# Any box of parameters is valid if its corners are, but for these pairs.
_ORDERED = {uniform: (0, 1), uniform_discrete: (0, 1), truncated_normal: (2, 3)}
_INTEGERS = {binom: (0,), uniform_discrete: (0, 1)}


@np.errstate(all="ignore")
def score_columns(family: Any, x: Any, parameters: tuple[Any, ...]) -> np.ndarray | None:
    """The log density at each point, of shape (n,): `family(*parameters of the point).logpdf(x[i])`."""
    column = _values(family, x)
    if column is None:
        return None
    checked = _checked(family, parameters, len(column))
    if checked is None:
        return None
    if len(column) == 0:
        return np.empty(0)
    scores: np.ndarray = family.elementwise(column, *checked)
    return scores


@np.errstate(all="ignore")
def total_columns(family: Any, x: Any, parameters: tuple[Any, ...]) -> float | None:
    """The sum of the log densities at all points; -inf where one of them is."""
    total = TOTALS.get(family)
    if total is not None and is_plain(x, parameters):
        value = total(x, *parameters)
        if -_INF < value < _INF:
            return value
    elif family is mixture_of_normals:
        column, vectors = _values(family, x), _vectors(family, parameters)
        if column is not None and len(column) and vectors is not None:
            value = mixture_of_normals_total(column, *vectors)
            if -_INF < value < _INF:
                return value
    scores = score_columns(family, x, parameters)
    if scores is None:
        return None
    value = float(scores.sum())
    return value if value == value else -_INF  # infinite densities don't make up for impossible points


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


def _values(family: Any, x: Any) -> np.ndarray | None:
    """x as a column of floats, or of what a discrete family takes."""
    dtype = COLUMN_DTYPES.get(family)
    if dtype is None or type(x) is not np.ndarray or x.ndim != 1 or x.dtype.kind not in "biuf":
        return None
    if x.dtype == dtype or (x.dtype == np.int64 and dtype.kind != "f"):
        return x
    return x.astype(np.int64 if dtype.kind != "f" and x.dtype.kind in "bi" else float)


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
        if column is None or (i in _INTEGERS.get(family, ()) and not (column == np.floor(column)).all()):
            return None
        rows[i] = column
    law = _law(family, parameters, rows, 0)
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
            if type(number) is not float and not (isinstance(number, int) and -EXACT <= number <= EXACT):
                return None
            checked.append(float(number))
    if rows and family in _ORDERED:
        low, high = (checked[i] for i in _ORDERED[family])
        gap = np.broadcast_to(high - low, n)
        critical.add(int(gap.argmin()))
        critical.add(int(np.where(np.isfinite(low) & np.isfinite(high), gap, 0.0).argmax()))
    if any(_law(family, parameters, rows, at) is None for at in critical):
        return None
    return checked


def _law(family: Any, parameters: tuple[Any, ...], rows: dict[int, np.ndarray], at: int) -> Any:
    """The distribution at one point; None if there is none."""
    try:
        return family(*(rows[i][at].item() if i in rows else p for i, p in enumerate(parameters)))
    except (ParameterError, TypeError):  # TypeError: not the right number of parameters
        return None


def _column(parameter: np.ndarray, n: int) -> np.ndarray | None:
    """A column of n floats; None for what isn't one, exactly."""
    if parameter.dtype.kind not in "biuf":
        return None
    if parameter.dtype.kind in "iu" and not (-EXACT <= parameter.min() and parameter.max() <= EXACT):
        return None
    if parameter.shape != (n,):
        try:
            parameter = np.broadcast_to(parameter, n)
        except ValueError:
            return None
    return parameter.astype(float, copy=False)


def _vectors(family: Any, parameters: tuple[Any, ...]) -> list[Any] | None:
    """Valid parameters of a family in VECTORS, as arrays; else None."""
    try:
        law = family(*parameters)
        return [np.asarray(getattr(law, name), dtype=float) for name in family.parameters]
    except (ParameterError, TypeError, ValueError):  # the last two: autograd traces some of the entries
        return None
