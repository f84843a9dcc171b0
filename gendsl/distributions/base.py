"""What a distribution is: `sample`, `logpdf`, `support`; and how scalar families are written."""

from __future__ import annotations

import math
import operator
from typing import Any, ClassVar

import numpy as np

from gendsl.errors import ParameterError, UntracedChoiceError, ValueTypeError
from gendsl.supports import Support


class Distribution:
    """A probability distribution as a value: `d.sample(rng)`, `d.logpdf(x)`, `d.support`.

    Subclass it to make a distribution of your own; define the three members below. Inside a `@gen`
    function `addr @ ~d` then makes a random choice from it.
    """

    __slots__ = ()

    def sample(self, rng: np.random.Generator) -> Any:
        """One draw, using `rng` and no other source of randomness."""
        raise TypeError(f"{type(self).__name__} must define sample(self, rng)")

    def logpdf(self, x: Any) -> Any:
        """The log density (log mass where discrete) at x; -inf outside the support, never NaN."""
        raise TypeError(f"{type(self).__name__} must define logpdf(self, x)")

    @property
    def support(self) -> Support:
        """The set of values with positive density, with its base measure."""
        raise TypeError(f"{type(self).__name__} must define support")

    def __invert__(self) -> Any:
        raise UntracedChoiceError(
            f"~{self!r} makes a random choice, and that works only inside a @gen function",
            fix="decorate the function with @gen, or call .sample(rng) for a plain draw",
        )
