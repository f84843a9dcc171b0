"""Families of counts by parameters on the whole real line, and by their mean: what regressions compute.

    bernoulli(logit=a + b * x)      binom(n, logit=a + b * x)
    poisson(log_rate=a + b * x)     neg_binom(mean=m, dispersion=d)

No density is computed by way of a probability or a rate that is 0, 1 or infinite to the last digit. Each is a
class of its own beside the family that it is called by: what columns and gradients know a family by.
"""

from __future__ import annotations

import math
from typing import Any

import autograd.numpy as anp
import numpy as np

from gendsl.distributions.base import Distribution
from gendsl.distributions.discrete import bernoulli, binom, is_count, neg_binom, poisson, poisson_draw
from gendsl.distributions.large import (
    LARGE,
    any_large,
    binomial_kernel,
    binomial_kernels,
    poisson_kernel,
    poisson_kernels,
)
from gendsl.distributions.parameters import nonnegative_integer, positive, real
from gendsl.distributions.special import (
    density,
    expit,
    expits,
    exponential,
    log1p_exp,
    log1p_exps,
    log1p_ratio,
    log1p_ratios,
    log_beta,
    log_betas,
    log_choose,
    log_chooses,
    log_gammas,
    where,
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
        if x is True:
            return -log1p_exp(-self.logit)
        if x is False:
            return -log1p_exp(self.logit)
        return -_INF

    @staticmethod
    def elementwise(x: Any, logit: Any) -> Any:
        def inner(x: Any) -> Any:
            return -log1p_exps(where(x == 1, -logit, logit))

        return density((x == 0) | (x == 1), x, 0, inner)


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
        if LARGE < x < n - LARGE and abs(logit) < _LARGEST_LOGIT:
            return binomial_kernel(x, n - x, expit(logit), expit(-logit))
        return log_choose(n, x) - x * log1p_exp(-logit) - (n - x) * log1p_exp(logit)

    @staticmethod
    def elementwise(x: Any, n: Any, logit: Any) -> Any:
        def inner(x: Any) -> Any:
            usual = log_chooses(n, x) - x * log1p_exps(-logit) - (n - x) * log1p_exps(logit)
            if not any_large(x, n - x):
                return usual
            large = (x > LARGE) & (n - x > LARGE) & (anp.abs(logit) < _LARGEST_LOGIT)
            safe = where(large, logit, 0.0)
            return where(large, binomial_kernels(x, n - x, expits(safe), expits(-safe)), usual)

        return density(is_count(x) & (x <= n), x, 0, inner)


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
        return x * self.log_rate - rate - math.lgamma(x + 1.0)

    @staticmethod
    def elementwise(x: Any, log_rate: Any) -> Any:
        def inner(x: Any) -> Any:
            rate = anp.exp(log_rate)
            log_mass = x * log_rate - rate - log_gammas(x + 1.0)
            if not any_large(x):
                return log_mass
            large = (x > LARGE) & (rate > 0.0) & (rate < _INF)
            return where(large, poisson_kernels(x, where(large, rate, 1.0)), log_mass)

        return density(is_count(x), x, 0, inner)


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

    @staticmethod
    def elementwise(x: Any, mean: Any, dispersion: Any) -> Any:
        r = dispersion

        def inner(x: Any) -> Any:
            log_p, log_rest = -log1p_ratios(mean, r), -log1p_ratios(r, mean)
            usual = r * log_p + x * log_rest - log_betas(r, x + 1.0) - anp.log(x + r)
            if not any_large(r, x):
                return usual
            far = _LARGEST_LOGIT
            large = (r > LARGE) & (x > LARGE) & (log_p > -far) & (log_rest > -far)
            p, rest = anp.exp(where(large, log_p, -1.0)), anp.exp(where(large, log_rest, -1.0))
            return where(large, binomial_kernels(r, x, p, rest) - anp.log1p(x / r), usual)

        return density(is_count(x), x, 0, inner)


bernoulli.variants["logit"] = bernoulli_logit
binom.variants["logit"] = binom_logit
poisson.variants["log_rate"] = poisson_log
neg_binom.variants["mean"] = neg_binom.variants["dispersion"] = neg_binom_mean
