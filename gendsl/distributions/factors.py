"""Terms of a program's log density that are the density of no choice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from autograd.tracer import getval

from gendsl.distributions.base import Distribution
from gendsl.distributions.parameters import factor_weight
from gendsl.supports import FiniteSet

_TRUE = FiniteSet((True,))


class factor(Distribution):
    """A term of the log density: `"prior" @ ~factor(log_weight)` adds log_weight to that of the program.

    What Stan writes as `target += log_weight`, and what Pyro calls a factor. Its value is always True, and
    nothing is drawn: it is as an observation that the program itself makes. So with F the sum of the factors
    that an execution makes, the density p(t; x) of its trace is that of its choices times exp(F), which
    need not be normalised, and

    - `simulate` draws the choices as if there were no factors; `trace.log_prob` and `project` count them;
    - `generate` draws from that, and its log weight has F; so have the weights of importance sampling;
    - `update` and `regenerate` have F' - F in their log weights, whether a factor is new, gone, selected or
      kept: no proposal draws one;
    - it needs no value where all choices are given; it may be given True. A move need not write or copy it.

    A program with a factor is no proposal: `propose`, and kernels that draw from it, raise ImproperError. Nor
    is it a model for tests that start from draws of it, such as `assert_stationary`.

    Args:
        log_weight: a number, or -inf where the trace is impossible.
    """

    __slots__ = parameters = ("log_weight",)

    def __init__(self, log_weight: float) -> None:
        self.log_weight = factor_weight(log_weight)

    def sample(self, rng: np.random.Generator) -> bool:
        """True, without a draw."""
        return True

    def logpdf(self, x: Any) -> Any:
        """`log_weight` at True, -inf elsewhere."""
        if not self.support.contains(getval(x)):
            return -math.inf
        weight = self.log_weight
        return weight if weight is not getval(weight) else float(weight)

    @property
    def support(self) -> FiniteSet:
        return _TRUE
