"""Derivatives of a transform against finite differences: what forward mode can't see, this does.

A value that is found by comparing (a bisection, say) carries only the derivative of the arithmetic that it
was made by, and where both directions of a move lose theirs alike, the determinants still cancel. So random
test cases also move the inputs a little and look how far the outputs go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.address import Path
from gendsl.errors import DerivativeError
from gendsl.runtime.trace import ReferenceTrace
from gendsl.transforms.apply import output_values, run_transform
from gendsl.transforms.arrays import DualArray, as_dual_array
from gendsl.transforms.forward import Dual
from gendsl.transforms.language import Transform
from gendsl.transforms.moved import moved
from gendsl.transforms.outputs import Write
from gendsl.transforms.run import Run

_STEP = 1e-6
"""How far an input coordinate moves, relative to its size."""

_TOLERANCE = 1e-4
"""How far a difference may be from the derivative, relative to what the coordinates contribute."""


def check_derivatives(
    f: Transform,
    trace: ReferenceTrace,
    aux: ReferenceTrace | None,
    q_args: tuple[Any, ...],
    run: Run,
    rng: np.random.Generator,
) -> None:
    """Raise unless the derivatives of a run agree with a central difference in a random direction.

    Raises:
        DerivativeError: a written value changes by other than its derivative says.
    """
    traces = [trace] if aux is None else [trace, aux]
    steps: dict[int, float] = {}
    runs = []
    for sign in (1.0, -1.0):
        shifted = []
        for state, old in zip(run.inputs, traces, strict=True):
            values: dict[Path, Any] = {}
            for path, (_, start) in state.seeds.items():
                distribution, value, _ = old.records[path]
                support = distribution.support
                coordinates = np.array(support.coordinates(value), dtype=float)
                for offset, z in enumerate(coordinates):
                    size = _STEP * max(abs(z), _STEP) * rng.uniform(0.5, 1.0) * rng.choice([-1.0, 1.0])
                    coordinates[offset] += sign * steps.setdefault(start + offset, size)
                values[path] = support.from_coordinates(coordinates)
            shifted.append(moved(old, values))
        runs.append(run_transform(f, shifted[0], shifted[1] if aux is not None else None, q_args))
    for side, output in enumerate(run.outputs):
        above, below = (output_values(other.outputs[side]) for other in runs)
        if above.keys() != output.entries.keys() or below.keys() != output.entries.keys():
            continue  # the step crossed into another branch
        for path, entry in output.entries.items():
            if not isinstance(entry, Write) or not np.issubdtype(np.asarray(above[path]).dtype, np.floating):
                continue
            difference = (np.asarray(above[path]) - np.asarray(below[path])) / 2
            predicted, scale = _predicted(entry.value, steps)
            floor = 1e-3 * _STEP * np.abs(np.asarray(above[path]))
            if difference.shape != np.shape(predicted):
                continue
            wrong = np.abs(difference - predicted) > _TOLERANCE * (scale + np.abs(difference)) + floor
            if np.any(wrong):
                raise DerivativeError(
                    f"the derivative of the value that transform {f.name} writes here is not that of finite "
                    f"differences: a small step changes it by {_shown(predicted)} by its derivative, by "
                    f"{_shown(difference)} in fact",
                    address=path,
                    location=entry.location,
                    fix="a value found by comparisons has lost its derivative: end with a step of arithmetic "
                    "that determines it (Newton's, say)",
                )


def _predicted(value: Any, steps: dict[int, float]) -> tuple[Any, Any]:
    """The change of a value by its tangent, and the sum of the absolute contributions."""
    if type(value) is Dual:
        parts = [slope * steps.get(c, 0.0) for c, slope in value.tangent.items()]
        return sum(parts), sum(map(abs, parts))
    value = as_dual_array(value)
    if type(value) is DualArray:
        step = np.array([steps.get(c, 0.0) for c in range(value.tangent.shape[-1])])
        return value.tangent @ step, np.abs(value.tangent) @ np.abs(step)
    shape = np.shape(value)
    return np.zeros(shape), np.zeros(shape)


def _shown(x: Any) -> str:
    return np.array2string(np.asarray(x), precision=4)
