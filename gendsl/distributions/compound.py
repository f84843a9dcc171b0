"""Independent components in one array: product of different scalars, iid repeats of one distribution."""

from __future__ import annotations

from math import fsum, inf
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from gendsl.distributions.arrays import ArrayFamily, add_scores, brief, outside, plain, score_stack
from gendsl.distributions.base import Distribution
from gendsl.distributions.parameters import nonnegative_integer
from gendsl.distributions.scipy_frozen import require_distribution
from gendsl.errors import ParameterError, ValueTypeError
from gendsl.supports import DiscreteProduct, Repeated, Stacked


class product(ArrayFamily):
    """Independent scalars, all continuous or all discrete: log p(x) = Σ_i log p_i(x_i).

    Args:
        components: distributions, or one list of them.

    Values are arrays of shape (n,): floats for continuous components, else integers or booleans.
    """

    __slots__ = ("components",)
    parameters = ("components",)

    def __init__(self, *components: Any) -> None:
        if len(components) == 1 and isinstance(components[0], list | tuple):
            components = tuple(components[0])
        if not components:
            raise ParameterError("product: needs at least one distribution")
        self.components = tuple(require_distribution(c, "product") for c in components)
        supports = [c.support for c in self.components]
        for component, support in zip(self.components, supports, strict=True):
            if support.shape != ():
                raise ParameterError(
                    f"product: components must be scalar, got {component!r}",
                    fix="give it an address of its own; iid(d, n) repeats a vector or matrix",
                )
        if len({support.discrete for support in supports}) > 1:
            raise ParameterError(
                f"product: components must be all discrete or all continuous, got {brief(self.components)}",
                fix="give each component an address of its own",
            )

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([component.sample(rng) for component in self.components])

    def logpdf(self, x: Any) -> Any:
        x = _stack("product", x)
        shape, count = np.shape(plain(x)), len(self.components)
        if not shape:
            raise ValueTypeError(f"product: a value is an array of shape ({count},), got {brief(x)}")
        if shape[-1] != count:
            return outside(shape[:-1])
        columns = x.tolist() if len(shape) == 1 and not isbox(x) else [x[..., i] for i in range(count)]
        scores = [score_stack(c, column, 0) for c, column in zip(self.components, columns, strict=True)]
        if all(type(score) is float for score in scores):
            # fsum: the builtin sum of floats rounds differently from Python 3.12 on
            return -inf if -inf in scores else fsum(scores)
        return add_scores(anp.moveaxis(anp.array(scores), 0, -1))

    @property
    def support(self) -> Stacked | DiscreteProduct:
        supports = tuple(component.support for component in self.components)
        return DiscreteProduct(supports) if supports[0].discrete else Stacked(supports)

    def __repr__(self) -> str:
        return f"product({', '.join(map(repr, self.components))})"


class iid(ArrayFamily):
    """n independent values of one distribution: log p(x) = Σ_i log p(x_i).

    Args:
        dist: a distribution of scalars, or of arrays of one shape.
        n: how many, an integer at least 0.

    Values are arrays of shape (n,) + the shape of one value: floats, or integers or booleans.
    """

    __slots__ = ("dist", "n")
    parameters = ("dist", "n")

    def __init__(self, dist: Any, n: Any) -> None:
        self.dist: Distribution = require_distribution(dist, "iid")
        self.n = nonnegative_integer("iid", "n", n)
        if self.dist.support.shape is None:
            raise ParameterError(
                f"iid: the values of {self.dist!r} are not numbers or arrays of one shape",
                fix="make n choices, each at an address of its own",
            )

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        if self.n:
            return np.array([self.dist.sample(rng) for _ in range(self.n)])
        return np.empty(self._shape(), dtype=int if self.dist.support.discrete else float)

    def _shape(self) -> tuple[int, ...]:
        return (self.n, *(self.dist.support.shape or ()))

    def logpdf(self, x: Any) -> Any:
        x = _stack("iid", x)
        shape, event = np.shape(plain(x)), self._shape()
        if len(shape) < len(event):
            raise ValueTypeError(f"iid: a value is an array of shape {event}, got {brief(x)}")
        lead = shape[: len(shape) - len(event)]
        if shape[len(lead) :] != event:
            return outside(lead)
        if self.n == 0:
            return np.zeros(lead) if lead else 0.0
        return add_scores(score_stack(self.dist, x, len(event) - 1))

    @property
    def support(self) -> Repeated:
        return Repeated(self.dist.support, self.n)


def _stack(family: str, x: Any) -> Any:
    """A value as an array of numbers of its own kind (booleans and integers stay what they are)."""
    if isbox(x):
        return x
    try:
        array = np.asarray(x)
    except (TypeError, ValueError):
        array = None
    if array is not None and array.dtype.kind in "biuf":
        return array
    if isinstance(x, (list, tuple)) and any(map(isbox, x)):
        return anp.array(x)
    raise ValueTypeError(f"{family}: a value is an array of numbers, got {brief(x)}")
