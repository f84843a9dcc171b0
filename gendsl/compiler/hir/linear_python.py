"""What BLAS and LAPACK compute of large matrices, as a Python text calls it; see `front.linear`.

An array is given, and returned, as a text has it: a list of numbers, the place of the first entry, the
shape, and the strides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

Leaves = tuple[Any, ...]

LEAST = {
    "cholesky": (16, 16), "factored": (16, 16), "substituted": (24, 12), "triangular": (24, 12),
    "product": (14, 8),
}  # fmt: skip
"""How many rows and columns a matrix has from which on this is faster, with a vector and with a matrix."""


def lapack(name: str, ranks: Sequence[int], *given: Any, **flags: bool) -> Leaves | None:
    """The results of an operation; None where matrices are small, or do not fit to each other.

    Args:
        ranks: how many axes each of its arrays of floats has, whose leaves are given first.
        given: these, and further leaves.
        flags: the constants of the operation.

    Raises:
        LinAlgError: a matrix is singular, or not positive definite.
    """
    arrays, at = [], 0
    for rank in ranks:
        arrays.append(given[at : at + 2 + 2 * rank])
        at += 2 + 2 * rank
    if not _is_large(name, [array[2 : 2 + rank] for array, rank in zip(arrays, ranks, strict=True)]):
        return None
    matrices = [_array(*array) for array in arrays]
    if name == "substituted":
        matrices.append(_array(*given[at:]))
    with np.errstate(all="ignore"):
        return _OPERATIONS[name](*matrices, **flags)


def _is_large(name: str, shapes: Sequence[Sequence[int]]) -> bool:
    (n, columns), least = shapes[0], LEAST[name][len(shapes[-1]) - 1]
    if name == "product":
        inner, *others = shapes[1]
        return columns == inner and bool(n * columns * np.prod(others) >= least ** (2 + len(others)))
    return n == columns and n >= least and all(m == n and 0 not in rest for m, *rest in shapes[1:])


def _array(numbers: list[Any], first: int, *axes: int) -> np.ndarray:
    rank = len(axes) // 2
    strides = [8 * stride for stride in axes[rank:]]
    return np.lib.stride_tricks.as_strided(np.array(numbers)[first:], axes[:rank], strides)


def _leaves(array: np.ndarray) -> Leaves:
    strides = (array.shape[1], 1) if array.ndim == 2 else (1,)
    return array.ravel().tolist(), 0, *array.shape, *strides


def _cholesky(a: np.ndarray) -> Leaves:
    lower = np.linalg.cholesky(a)
    if not np.all(lower.diagonal() > 0.0):
        raise np.linalg.LinAlgError("not positive definite")
    return _leaves(lower)


def _factored(a: np.ndarray) -> Leaves:
    lu, swaps, _ = scipy.linalg.lapack.dgetrf(a)
    order, sign = list(range(len(a))), 1.0
    for i, other in enumerate(swaps.tolist()):
        if other != i:
            order[i], order[other], sign = order[other], order[i], -sign
    return *_leaves(lu), order, 0, len(order), 1, sign


def _substituted(lu: np.ndarray, b: np.ndarray, order: np.ndarray) -> Leaves:
    first = _solved(lu, b[order], lower=True, transposed=False, is_unit=True)
    return _leaves(_solved(lu, first, lower=False, transposed=False, is_unit=False))


def _triangular(a: np.ndarray, b: np.ndarray, lower: bool, transposed: bool, is_unit: bool) -> Leaves:
    return _leaves(_solved(a, b, lower=lower, transposed=transposed, is_unit=is_unit))


def _solved(a: np.ndarray, b: np.ndarray, *, lower: bool, transposed: bool, is_unit: bool) -> np.ndarray:
    found: np.ndarray = scipy.linalg.solve_triangular(
        a, b, trans=int(transposed), lower=lower, unit_diagonal=is_unit, check_finite=False
    )
    return found


def _product(a: np.ndarray, b: np.ndarray) -> Leaves:
    return _leaves(a @ b)


_OPERATIONS: dict[str, Callable[..., Leaves]] = {
    "cholesky": _cholesky,
    "factored": _factored,
    "substituted": _substituted,
    "triangular": _triangular,
    "product": _product,
}
