"""Families of counts by parameters on the whole real line, and by their mean: what regressions compute.

    bernoulli(logit=a + b * x)      binom(n, logit=a + b * x)
    poisson(log_rate=a + b * x)     neg_binom(mean=m, dispersion=d)

No density is computed by way of a probability or a rate that is 0, 1 or infinite to the last digit. Each is a
class of its own beside the family that it is called by: what columns and gradients know a family by.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.discrete import bernoulli, binom, neg_binom, poisson, poisson_draw
from gendsl.distributions.large import (
    LARGE,
    binomial_kernel,
    poisson_kernel,
)
from gendsl.distributions.parameters import nonnegative_integer, positive, real
from gendsl.distributions.special import (
    expit,
    exponential,
    log1p_exp,
    log1p_ratio,
    log_beta,
    log_choose,
    log_factorial,
)

_INF = math.inf
_LARGEST_LOGIT = 700.0  # up to here the probability and the rest both are floats with all digits


class _Variant(Distribution):
    """What is called by the name of the family that it is a subclass of, with parameters of its own."""

    __slots__ = ()

    @classmethod
    def family_name(cls) -> str:
        return cls.__bases__[-1].__name__

    def __reduce__(self) -> Any:
        return type(self), tuple(getattr(self, name) for name in self.parameters)


class bernoulli_logit(_Variant, bernoulli):
    """`bernoulli(logit=...)`."""

    __slots__ = parameters = ("logit",)

    def __init__(self, logit: float) -> None:
        self.logit = real("bernoulli", "logit", logit)

    @property
    def p(self) -> float:  # type: ignore[override]
        """The probability of True."""
        return expit(self.logit)

    def sample(self, rng: np.random.Generator) -> bool:
        return rng.random() < self.p

    def at(self, x: bool) -> float:
        against = -self.logit if x is True else self.logit
        return -log1p_exp(against) if x is True or x is False else -_INF


class binom_logit(_Variant, binom):
    """`binom(n, logit=...)`."""

    __slots__ = ("logit",)
    parameters = ("n", "logit")

    def __init__(self, n: int, logit: float) -> None:
        self.n = nonnegative_integer("binom", "n", n)
        self.logit = real("binom", "logit", logit)

    @property
    def p(self) -> float:  # type: ignore[override]
        """The probability of success."""
        return expit(self.logit)

    def at(self, x: int) -> float:
        n, logit = self.n, self.logit
        if not 0 <= x <= n:
            return -_INF
        if n > 2.0 * LARGE and LARGE < x < n - LARGE and abs(logit) < _LARGEST_LOGIT:
            return binomial_kernel(x, n - x, expit(logit), expit(-logit))
        return log_choose(n, x) - x * log1p_exp(-logit) - (n - x) * log1p_exp(logit)


class poisson_log(_Variant, poisson):
    """`poisson(log_rate=...)`."""

    __slots__ = parameters = ("log_rate",)

    def __init__(self, log_rate: float) -> None:
        self.log_rate = real("poisson", "log_rate", log_rate)

    @property
    def rate(self) -> float:  # type: ignore[override]
        """The rate; infinite where that is beyond all floats."""
        return exponential(self.log_rate)

    def sample(self, rng: np.random.Generator) -> int:
        return poisson_draw(self, self.rate, rng)

    def at(self, x: int) -> float:
        if not x >= 0:
            return -_INF
        rate = exponential(self.log_rate)
        if x > LARGE and 0.0 < rate < _INF:
            return poisson_kernel(x, rate)
        return x * self.log_rate - rate - log_factorial(x)


class neg_binom_mean(_Variant, neg_binom):
    """`neg_binom(mean=..., dispersion=...)`."""

    __slots__ = parameters = ("mean", "dispersion")

    def __init__(self, mean: float, dispersion: float) -> None:
        self.mean = positive("neg_binom", "mean", mean)
        self.dispersion = positive("neg_binom", "dispersion", dispersion)

    @property
    def r(self) -> float:  # type: ignore[override]
        """The number of successes at which the count ends."""
        return self.dispersion

    @property
    def p(self) -> float:  # type: ignore[override]
        """The probability of success."""
        return 1.0 / (1.0 + self.mean / self.dispersion)

    def sample(self, rng: np.random.Generator) -> int:
        return poisson_draw(self, rng.standard_gamma(self.dispersion) / self.dispersion * self.mean, rng)

    def at(self, x: int) -> float:
        if not x >= 0:
            return -_INF
        mean, r = self.mean, self.dispersion
        log_p, log_rest = -log1p_ratio(mean, r), -log1p_ratio(r, mean)  # of success, and of failure
        if r > LARGE and x > LARGE and log_p > -_LARGEST_LOGIT and log_rest > -_LARGEST_LOGIT:
            return binomial_kernel(r, x, math.exp(log_p), math.exp(log_rest)) - math.log1p(x / r)
        return r * log_p + x * log_rest - log_beta(r, x + 1.0) - math.log(x + r)


bernoulli.variants["logit"] = bernoulli_logit
binom.variants["logit"] = binom_logit
poisson.variants["log_rate"] = poisson_log
neg_binom.variants["mean"] = neg_binom.variants["dispersion"] = neg_binom_mean
