"""Central differences, the derivative that every rule is checked against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gendsl.transforms.arrays import DualArray, as_dual_array, seed_array
from gendsl.transforms.forward import Dual, seed_scalar


def _flat(result: Any) -> np.ndarray:
    if isinstance(result, (tuple, list)) and not all(isinstance(x, (int, float)) for x in result):
        return np.concatenate([_flat(x) for x in result])
    return np.ravel(np.asarray(result, dtype=float))


def _flat_tangent(result: Any, n: int) -> np.ndarray:
    """The Jacobian (outputs, n) that a result of dual numbers and arrays carries."""
    if isinstance(result, (tuple, list)):
        return np.concatenate([_flat_tangent(x, n) for x in result])
    array = as_dual_array(result)
    if type(array) is not DualArray:
        return np.zeros((np.size(array), n))
    rows = array.tangent.reshape(array.size, -1)
    assert not rows[:, n:].any()
    return np.pad(rows, [(0, 0), (0, max(n - rows.shape[1], 0))])[:, :n]


def _flat_value(result: Any) -> np.ndarray:
    if isinstance(result, (tuple, list)):
        return np.concatenate([_flat_value(x) for x in result])
    array = as_dual_array(result)
    return np.ravel(np.asarray(array.value if type(array) is DualArray else array, dtype=float))


def _differences(function: Callable[..., Any], points: tuple[Any, ...]) -> np.ndarray:
    """d outputs / d inputs, by differences of fourth order."""
    flat = np.concatenate([np.ravel(np.asarray(p, dtype=float)) for p in points])

    def at(coordinates: np.ndarray) -> np.ndarray:
        args, start = [], 0
        for p in points:
            size = np.size(p)
            part = coordinates[start : start + size].reshape(np.shape(p))
            args.append(part if isinstance(p, np.ndarray) else float(part))
            start += size
        return _flat(function(*args))

    columns = []
    for i in range(flat.size):
        h = 1e-3 * max(abs(flat[i]), 0.1)
        step = np.eye(flat.size)[i] * h
        columns.append(
            (8 * (at(flat + step) - at(flat - step)) - (at(flat + 2 * step) - at(flat - 2 * step))) / (12 * h)
        )
    return np.stack(columns, axis=-1)


def _check(
    function: Callable[..., Any],
    *points: Any,
    dual: Callable[..., Any] | None = None,
    rtol: float = 1e-7,
    first: int = 0,
) -> None:
    """`dual or function` of dual inputs has the values and the derivatives of `function`.

    Args:
        points: floats and arrays to differentiate at.
        dual: what to call with dual numbers and arrays, if not `function`.
        first: the first coordinate's index.
    """
    inputs: list[Dual | DualArray] = []
    n = first
    for p in points:
        if isinstance(p, np.ndarray):
            inputs.append(seed_array(p, n, np.eye(p.size)))
            n += p.size
        else:
            inputs.append(seed_scalar(p, n))
            n += 1
    result = (dual or function)(*inputs)
    np.testing.assert_allclose(_flat_value(result), _flat(function(*points)), rtol=1e-12, atol=1e-14)
    actual = _flat_tangent(result, n)[:, first:]
    expected = _differences(function, points)
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol * max(1.0, np.abs(expected).max()))


@pytest.fixture
def check_derivative() -> Callable[..., None]:
    return _check
