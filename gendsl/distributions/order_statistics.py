"""Independent draws in increasing order."""

from __future__ import annotations

from math import inf, lgamma
from typing import Any

import autograd.numpy as anp
import numpy as np

from gendsl.distributions.arrays import ArrayFamily, brief, finished, outside, plain
from gendsl.distributions.base import Distribution
from gendsl.distributions.compound import iid
from gendsl.distributions.parameters import nonnegative_integer
from gendsl.distributions.scipy_frozen import require_distribution
from gendsl.errors import ParameterError, ValueTypeError
from gendsl.supports import Ordered
from gendsl.supports.scalar import Line


class ordered(ArrayFamily):
    """k independent draws from one distribution, in increasing order: log p(x) = log k! + Σ_i log p(x_i).

    A vector in order stands for the k! orders of its entries, and so the density integrates to 1. As the
    means of a mixture, `means = ~ordered(normal(0, 2), 2)`, it tells exchangeable components apart.

    Args:
        dist: a continuous distribution of numbers.
        k: how many, an integer at least 0.

    Values are float arrays of shape (k,). Where they are not in increasing order the density is 0.
    """

    __slots__ = ("dist", "k")
    parameters = ("dist", "k")

    def __init__(self, dist: Any, k: Any) -> None:
        self.dist: Distribution = require_distribution(dist, "ordered")
        self.k = nonnegative_integer("ordered", "k", k)
        if not isinstance(self.dist.support, Line):
            raise ParameterError(
                f"ordered: needs a continuous distribution of numbers, got {brief(self.dist)}",
                fix="for integers, or vectors, make the choices one by one and order what is made of them",
            )

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return np.sort(iid(self.dist, self.k).sample(rng))

    def logpdf(self, x: Any) -> Any:
        try:
            score = iid(self.dist, self.k).logpdf(x)
        except ValueTypeError:
            raise ValueTypeError(
                f"ordered: a value is an array of {self.k} numbers, got {brief(x)}"
            ) from None
        values = np.asarray(plain(x) if not isinstance(x, list | tuple) else [plain(entry) for entry in x])
        if values.shape[-1] != self.k:
            return outside(values.shape[:-1])
        increasing = (np.diff(values, axis=-1) >= 0.0).all(-1)
        return finished(anp.where(increasing, score + lgamma(self.k + 1.0), -inf))

    @property
    def support(self) -> Ordered:
        return Ordered(self.dist.support, self.k)
