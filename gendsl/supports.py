"""Supports: the set a choice's value lies in, its base measure, and its coordinates.

A support is discrete (counting measure) or continuous. A continuous support has `dim` free coordinates,
in which its base measure is Lebesgue measure: densities are densities, and Jacobians are taken, in these.
Every support here embeds its coordinates linearly, `value.ravel() = embedding @ coordinates + constant`
(the last weight of a simplex is one minus the others; the upper triangle of a symmetric matrix repeats
the lower one), so the embedding matrix is all that a Jacobian needs to know of a support.

A continuous support also has a chart to all of R^dim, for samplers that want no boundary:
`constrain`, `unconstrain`, and `log_abs_det(u)` = log |d coordinates(constrain(u)) / d u|.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Support:
    """The set of values that a distribution can give, with its base measure.

    Attributes:
        discrete: whether the base measure is counting measure.
        dim: number of free coordinates, 0 for a discrete support.
        shape: the shape of a value, `()` for a scalar, None where values are not arrays of one shape.
    """

    discrete: bool = False
    dim: int = 1
    shape: tuple[int, ...] | None = ()

    def contains(self, value: Any) -> bool:
        """Whether `value` lies in the support."""
        raise TypeError(f"{type(self).__name__} must define contains")

    @property
    def embedding(self) -> np.ndarray:
        """d value.ravel() / d coordinates, of shape (value size, dim)."""
        return np.eye(self.dim)

    @property
    def free_entries(self) -> np.ndarray:
        """The indices into `value.ravel()` that are the free coordinates, of shape (dim,)."""
        return np.arange(self.dim)

    def coordinates(self, value: Any) -> np.ndarray:
        """The free coordinates of a value, of shape (dim,)."""
        return np.asarray(value, dtype=float).ravel()[self.free_entries]
