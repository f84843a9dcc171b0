"""What families with array parameters or array values share: conversion, comparison, error texts."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive
from autograd.tracer import getval, isbox

from gendsl.distributions.base import Distribution, ScalarFamily
from gendsl.errors import ParameterError, ValueTypeError

if TYPE_CHECKING:
    from gendsl.distributions.choice_types import ArrayChoice

LOG_2PI = math.log(2.0 * math.pi)
SYMMETRY_TOLERANCE = 1e-8
SUM_TOLERANCE = 1e-8


def plain(x: Any) -> Any:
    """`x` without autograd's boxes, however deeply they are nested."""
    while isbox(x):
        x = getval(x)
    return x


def brief(x: Any) -> str:
    """A parameter or value as an error message shows it: lists for arrays, cut at 120 characters."""
    x = plain(x)
    text = repr(x.tolist() if isinstance(x, (np.ndarray, np.generic)) else x)
    return text if len(text) <= 120 else text[:117] + "..."


def bad_parameter(
    family: str, name: str, requirement: str, got: Any, fix: str | None = None
) -> ParameterError:
    """The error for a parameter: which one, what it must be, and what it was."""
    return ParameterError(f"{family}: {name} must {requirement}, got {brief(got)}", fix=fix)


def as_array(x: Any) -> Any:
    """`x` as a float array; arrays and nested lists that hold autograd boxes stay differentiable.

    Raises:
        TypeError, ValueError: `x` is not an array of numbers.
    """
    is_masked = type(x) is not np.ndarray and np.ma.is_masked(x)
    if isinstance(x, np.ndarray) and x.dtype == float and not is_masked:
        return x
    if isbox(x):
        return x
    if isinstance(x, (list, tuple)) and _holds_boxes(x):
        return anp.array(x)
    array = np.asarray(x)
    if array.dtype.kind not in "fiub" or is_masked:
        raise TypeError(f"not an array of real numbers: {brief(x)}")
    return array.astype(float)


def _holds_boxes(items: list[Any] | tuple[Any, ...]) -> bool:
    return any(_holds_boxes(item) if isinstance(item, (list, tuple)) else isbox(item) for item in items)


def parameter_array(family: str, name: str, x: Any, ndim: int, *, may_be_empty: bool = False) -> Any:
    """A parameter as a float array with `ndim` axes and finite entries, else a ParameterError."""
    kind = {1: "be a vector of finite numbers", 2: "be a square matrix of finite numbers"}[ndim]
    try:
        array = as_array(x)
    except (TypeError, ValueError):
        raise bad_parameter(family, name, kind, x) from None
    values = plain(array)
    is_empty = np.size(values) == 0 and not may_be_empty
    if np.ndim(values) != ndim or is_empty or not np.isfinite(values).all():
        raise bad_parameter(family, name, kind, x)
    if ndim == 2 and values.shape[0] != values.shape[1]:
        raise bad_parameter(family, name, kind, x)
    return array


def weight_array(family: str, name: str, x: Any) -> Any:
    """A parameter as a vector of numbers, at least 0, that sum to one within 1e-8."""
    weights = parameter_array(family, name, x, 1)
    values = plain(weights)
    for i in np.flatnonzero(values < 0.0):
        raise bad_parameter(family, f"{name}[{i}]", "be at least 0", values[i])
    if abs(values.sum() - 1.0) > SUM_TOLERANCE:
        raise ParameterError(
            f"{family}: {name} must sum to 1, got {brief(x)}, which sums to {values.sum():.12g}",
            fix=f"divide {name} by their sum",
        )
    return weights


def value_array(family: str, x: Any, ndim: int) -> Any:
    """A value, or a stack of values along leading axes, as a float array with at least `ndim` axes.

    Raises:
        ValueTypeError: `x` is no array of numbers, or has too few axes.
    """
    try:
        array = as_array(x)
    except (TypeError, ValueError):
        array = None
    if array is None or np.ndim(plain(array)) < ndim:
        kind = {1: "a vector", 2: "a matrix"}[ndim]
        raise ValueTypeError(f"{family}: a value is {kind} of numbers, got {brief(x)}")
    return array


def finished(score: Any) -> Any:
    """A score as it leaves `logpdf`: a float for one value, else an array, or what autograd traces."""
    return score if isbox(score) or np.ndim(score) else float(score)


def outside(lead: tuple[int, ...]) -> Any:
    """-inf for one value, an array of -inf for a stack of shape `lead`."""
    return np.full(lead, -math.inf) if lead else -math.inf


def is_symmetric(matrix: np.ndarray) -> bool:
    """Symmetric up to rounding: |a_ij - a_ji| <= 1e-8 max |a|."""
    largest = np.abs(matrix).max(initial=0.0)
    return bool(np.abs(matrix - matrix.T).max(initial=0.0) <= SYMMETRY_TOLERANCE * largest)


def parameter_cholesky(family: str, name: str, x: Any, *, may_be_empty: bool = False) -> tuple[Any, Any]:
    """A covariance-like parameter as an array, with its lower Cholesky factor.

    Raises:
        ParameterError: not a symmetric, positive definite matrix.
    """
    known = factor_of(x)
    if known is not None:
        return x, known.lower
    matrix = parameter_array(family, name, x, 2, may_be_empty=may_be_empty)
    if not is_symmetric(plain(matrix)):
        raise bad_parameter(family, name, "be symmetric", x)
    try:
        lower = cholesky(matrix)
    except np.linalg.LinAlgError:
        raise bad_parameter(family, name, "be positive definite", x) from None
    if _is_small(x):
        if len(_FACTORS) >= _MOST_FACTORS:
            _FACTORS.clear()
        lower.flags.writeable = False
        rows = [row[: i + 1] for i, row in enumerate(lower.tolist())]
        _FACTORS[len(x), x.tobytes()] = Factor(lower, rows, log_det_of_cholesky(lower))
    return matrix, lower


class Factor(NamedTuple):
    """The lower Cholesky factor of a matrix, its rows as far as they aren't 0, and log det of the matrix."""

    lower: Any
    rows: list[list[float]]
    log_det: float


def factor_of(x: Any) -> Factor | None:
    """The factor of a small matrix, if it was asked for lately: the points of a cluster share one."""
    return _FACTORS.get((len(x), x.tobytes())) if _is_small(x) else None


def _is_small(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype == np.float64 and 0 < x.size <= _SMALL and x.ndim == 2


_SMALL = 64  # entries
_MOST_FACTORS = 256
_FACTORS: dict[tuple[int, bytes], Factor] = {}
"""The factors of small matrices that were asked for lately, by their numbers of rows and entries."""


# What autograd wraps costs several microseconds more than NumPy's own, and most of what is scored is plain.


def cholesky(matrix: Any) -> Any:
    """The lower Cholesky factor.

    Raises:
        numpy.linalg.LinAlgError: the matrix is not positive definite.
    """
    return anp.linalg.cholesky(matrix) if isbox(matrix) else np.linalg.cholesky(matrix)


def solve_lower(lower: Any, right: Any) -> Any:
    """lower⁻¹ right, for a lower triangular matrix and a matrix."""
    if isbox(lower) or isbox(right):
        return _solve(lower, right, False)
    return _solved(lower, right, False)


def sum_of_squares(x: Any) -> Any:
    """The sum of the squares of all entries."""
    return anp.sum(x**2) if isbox(x) else (x**2).sum()


@functools.cache
def _dtrsm() -> Any:
    """BLAS's; scipy.linalg takes a while to import, and few programs need it."""
    from scipy.linalg.blas import dtrsm

    return dtrsm


def _solved(lower: Any, right: Any, transposed: bool) -> Any:
    """lower⁻¹ right, or lower⁻ᵀ right."""
    # not LAPACK's dtrtrs: OpenBLAS runs it in threads even on 2x2 matrices, and where other processes
    # keep the cores busy a call then takes milliseconds
    return _dtrsm()(1.0, lower, right, lower=1, trans_a=int(transposed))


_solve = primitive(_solved)


def _of_factor(solved: Any, lower: Any, right: Any, transposed: bool) -> Any:
    def gradient(g: Any) -> Any:
        back = _solve(lower, g, not transposed)
        return -anp.tril(anp.dot(solved, back.T) if transposed else anp.dot(back, solved.T))

    return gradient


defvjp(
    _solve,
    _of_factor,
    lambda solved, lower, right, transposed: lambda g: _solve(lower, g, not transposed),
    argnums=(0, 1),
)


def log_det_of_cholesky(lower: Any) -> Any:
    """log det(L Lᵀ)."""
    if not isbox(lower):
        return 2.0 * np.log(lower.diagonal()).sum()
    return 2.0 * anp.sum(anp.log(anp.diag(lower)))


def scores_stacks(distribution: Distribution) -> bool:
    """Whether `logpdf` takes stacks of values; a user's class is asked value by value."""
    return bool(getattr(distribution, "vectorised", isinstance(distribution, ScalarFamily)))


def score_stack(distribution: Distribution, x: Any, ndim: int) -> Any:
    """The log density at every value of a stack: `x` has `ndim` axes for the value, others before it."""
    shape = np.shape(plain(x))
    lead = shape[: len(shape) - ndim]
    if not lead or scores_stacks(distribution):
        return distribution.logpdf(x)
    values = anp.reshape(x, (-1, *shape[len(lead) :]))
    scores = [distribution.logpdf(one) for one in (values if isbox(x) or ndim else values.tolist())]
    return anp.reshape(anp.array(scores, dtype=float), lead)


def add_scores(scores: Any) -> Any:
    """The sum along the last axis; -inf wherever one of them is, whatever the others are."""
    values = plain(scores)
    dead = (values == -math.inf).any(-1)
    total = anp.sum(anp.where(values == -math.inf, 0.0, scores), -1)
    return finished(anp.where(dead, -math.inf, total))


class ArrayFamily(Distribution):
    """A family with arrays among its parameters or as its values.

    `logpdf` takes one value, or a stack of values along leading axes.
    """

    __slots__ = ()
    vectorised: ClassVar[bool] = True

    if TYPE_CHECKING:

        def __invert__(self) -> ArrayChoice: ...
