"""Supports: the set a choice's value lies in, its base measure, and its coordinates.

A support is discrete (counting measure) or continuous. A continuous support has `dim` free coordinates,
in which its base measure is Lebesgue measure: densities are densities, and Jacobians are taken, in these.
Every support here embeds its coordinates linearly, `value.ravel() = embedding @ coordinates + constant`
(the last weight of a simplex is one minus the others; the upper triangle of a symmetric matrix repeats
the lower one), so the embedding matrix is all that a Jacobian needs to know of a support.

A continuous support also has a chart to all of R^dim, for samplers that want no boundary:
`constrain`, `unconstrain`, and `log_abs_det(u)` = log |d coordinates(constrain(u)) / d u|. The chart is
not the coordinates: the chart of a simplex is stick-breaking, its coordinates are the first k-1 weights.
"""

from gendsl.supports.array import Correlation, Covariance, RealArray, RealVector, Simplex
from gendsl.supports.base import Support
from gendsl.supports.discrete import Boolean, Counts, FiniteSet, Integers, Lattice
from gendsl.supports.product import DiscreteProduct, Ordered, Repeated, Stacked
from gendsl.supports.scalar import Circle, Interval, Positive, Real

__all__ = [
    "Boolean",
    "Circle",
    "Correlation",
    "Counts",
    "Covariance",
    "DiscreteProduct",
    "FiniteSet",
    "Integers",
    "Interval",
    "Lattice",
    "Ordered",
    "Positive",
    "Real",
    "RealArray",
    "RealVector",
    "Repeated",
    "Simplex",
    "Stacked",
    "Support",
]
