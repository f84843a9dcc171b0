"""Families on the integers, and the booleans."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval

from gendsl.distributions.base import DiscreteFamily
from gendsl.distributions.large import (
    LARGE,
    binomial_kernel,
    poisson_kernel,
)
from gendsl.distributions.parameters import (
    LARGEST,
    NOT_GIVEN,
    PLAIN,
    family_called,
    integer,
    nonnegative,
    nonnegative_integer,
    ordered,
    positive,
    positive_probability,
    probabilities,
    probability,
    wrongly_called,
)
from gendsl.distributions.special import (
    density,
    log_beta,
    log_choose,
    log_factorial,
    where,
)
from gendsl.errors import ParameterError
from gendsl.supports import Boolean, Integers, Support

if TYPE_CHECKING:
    from gendsl.distributions.choice_types import BooleanChoice

_INF = math.inf
_BOOLEAN = Boolean()
_COUNTS = Integers(0)
_integers = functools.lru_cache(maxsize=1024, typed=True)(Integers)  # a move asks for supports often
_log, _log1p = math.log, math.log1p


def is_count(x: Any) -> Any:
    """Whether each x is an integer that isn't negative."""
    return (x >= 0) & (x < _INF) & (x == np.floor(getval(x)))


class Parameterised(DiscreteFamily):
    """A family that may be given other parameters by keyword, in place of its own.

    Then the distribution is of another class, a subclass, whose parameters are those; see `links`.

    Attributes:
        variants: those classes, by the names of the parameters that the family itself doesn't have.
    """

    __slots__ = ()
    variants: ClassVar[dict[str, type[Any]]] = {}

    def __new__(cls, *given: Any, **named: Any) -> Self:
        made: Self = object.__new__(family_called(cls, len(given), named) if named else cls)
        return made

    @classmethod
    def _given(cls, value: Any, *names: str) -> Any:
        """A parameter that may have been left out.

        Raises:
            ParameterError: it was, and so were those that may stand in its place; `names` are what was not.
        """
        if value is NOT_GIVEN:
            raise wrongly_called(cls, next(iter(cls.variants.values())), names)
        return value


class bernoulli(Parameterised):
    """True with probability p: log mass log(p) at True, log(1 - p) at False.

    Or, by keyword, with the logit log(p / (1 - p)): log mass -log(1 + exp(-logit)) at True, and
    -log(1 + exp(logit)) at False, also where p is 0 or 1 to the last digit.
    """

    __slots__ = parameters = ("p",)
    variants: ClassVar[dict[str, type[Any]]] = {}
    _domain = _BOOLEAN
    number: ClassVar[type] = bool

    if TYPE_CHECKING:

        def __invert__(self) -> BooleanChoice: ...  # type: ignore[override]

    def __init__(self, p: float = NOT_GIVEN, *, logit: float = NOT_GIVEN) -> None:
        if type(p) in PLAIN and 0.0 <= p <= 1.0:
            self.p = p
        else:
            self.p = probability("bernoulli", "p", self._given(p))

    def sample(self, rng: np.random.Generator) -> bool:
        return rng.random() < self.p

    def at(self, x: bool) -> float:
        if x is True:
            return _log(self.p) if self.p > 0.0 else -_INF
        if x is False:
            return _log1p(-self.p) if self.p < 1.0 else -_INF
        return -_INF

    def _number(self, x: Any) -> Any:
        return bool(x) if x == 0 or x == 1 else math.nan


class binom(Parameterised):
    """The number of successes in n trials: log mass log(n over x) + x log(p) + (n - x) log(1 - p).

    Or, by keyword, with the logit log(p / (1 - p)) in place of p: log mass
    log(n over x) - x log(1 + exp(-logit)) - (n - x) log(1 + exp(logit)).
    """

    __slots__ = parameters = ("n", "p")
    variants: ClassVar[dict[str, type[Any]]] = {}

    def __init__(self, n: int, p: float = NOT_GIVEN, *, logit: float = NOT_GIVEN) -> None:
        self.n = nonnegative_integer("binom", "n", n)
        self.p = probability("binom", "p", self._given(p, "n"))

    def sample(self, rng: np.random.Generator) -> int:
        return _binomial_draw(self, rng)

    def at(self, x: int) -> float:
        n, p = self.n, self.p
        if not 0 <= x <= n:
            return -_INF
        if 0.0 < p < 1.0:
            if n > 2.0 * LARGE and LARGE < x < n - LARGE:
                return binomial_kernel(x, n - x, p, 1.0 - p)
            return log_choose(n, x) + x * _log(p) + (n - x) * _log1p(-p)
        if p < 1.0:
            return n * _log1p(-p) if x == 0 else -_INF
        return n * _log(p) if x == n else -_INF

    @property
    def support(self) -> Support:
        return _integers(0, self.n)


def _whole(law: geometric, draw: float) -> int:
    """A draw without its fraction."""
    if draw == _INF:
        raise ParameterError(f"{law!r} can't be sampled: its draws are beyond all floats")
    return int(draw)


def _binomial_draw(law: binom, rng: np.random.Generator) -> int:
    try:
        return int(rng.binomial(law.n, law.p))
    except OverflowError:
        raise too_large(law) from None


class geometric(DiscreteFamily):
    """The number of failures before the first success: log mass log(p) + x log(1 - p)."""

    __slots__ = parameters = ("p",)
    _domain = _COUNTS

    def __init__(self, p: float) -> None:
        self.p = positive_probability("geometric", "p", p)

    def sample(self, rng: np.random.Generator) -> int:
        if self.p == 1.0:
            return 0
        return _whole(self, rng.standard_exponential() / -_log1p(-self.p))  # P(draw >= k) = (1 - p)^k

    def at(self, x: int) -> float:
        if not x >= 0:
            return -_INF
        if self.p < 1.0:
            return _log(self.p) + x * _log1p(-self.p)
        return _log(self.p) if x == 0 else -_INF


class neg_binom(Parameterised):
    """The number of failures before the r-th success, r any positive number: log mass
    log(gamma(x + r) / (gamma(r) x!)) + r log(p) + x log(1 - p).

    Or, by keyword, with its mean and its dispersion, r = dispersion and p = dispersion / (dispersion + mean).
    The variance is then mean + mean^2 / dispersion: the larger the dispersion, the nearer is the Poisson
    distribution. (These are the two parameters of Stan's neg_binomial_2.)
    """

    __slots__ = parameters = ("r", "p")
    variants: ClassVar[dict[str, type[Any]]] = {}
    _domain = _COUNTS

    def __init__(
        self,
        r: float = NOT_GIVEN,
        p: float = NOT_GIVEN,
        *,
        mean: float = NOT_GIVEN,
        dispersion: float = NOT_GIVEN,
    ) -> None:
        self.r = positive("neg_binom", "r", self._given(r))
        self.p = positive_probability("neg_binom", "p", self._given(p, "r"))

    def sample(self, rng: np.random.Generator) -> int:
        return poisson_draw(self, rng.standard_gamma(self.r) * (1.0 - self.p) / self.p, rng)

    def at(self, x: int) -> float:
        if not x >= 0:
            return -_INF
        r, p = self.r, self.p
        if p < 1.0:
            if r > LARGE and x > LARGE:
                return binomial_kernel(r, x, p, 1.0 - p) - _log1p(x / r)
            # gamma(x + r) / (gamma(r) x!), where r may be small against a large x, or x against a large r
            return r * _log(p) + x * _log1p(-p) - log_beta(r, x + 1.0) - _log(x + r)
        return r * _log(p) if x == 0 else -_INF


class poisson(Parameterised):
    """The Poisson distribution: log mass x log(rate) - rate - log(x!). It is always 0 where rate is 0.

    Or, by keyword, with log_rate = log(rate): log mass x log_rate - exp(log_rate) - log(x!).
    """

    __slots__ = parameters = ("rate",)
    variants: ClassVar[dict[str, type[Any]]] = {}
    _domain = _COUNTS

    def __init__(self, rate: float = NOT_GIVEN, *, log_rate: float = NOT_GIVEN) -> None:
        if type(rate) in PLAIN and 0.0 <= rate <= LARGEST:
            self.rate = rate
        else:
            self.rate = nonnegative("poisson", "rate", self._given(rate))

    def sample(self, rng: np.random.Generator) -> int:
        return poisson_draw(self, self.rate, rng)

    def at(self, x: int) -> float:
        rate = self.rate
        if not x >= 0:
            return -_INF
        if rate > 0.0:
            if x > LARGE:
                return poisson_kernel(x, rate)
            return x * _log(rate) - rate - log_factorial(x)
        return 0.0 - float(rate) if x == 0 else -_INF


def poisson_draw(distribution: DiscreteFamily, rate: float, rng: np.random.Generator) -> int:
    """A draw from a Poisson distribution, for a distribution that is made of it."""
    try:
        return int(rng.poisson(rate))
    except ValueError:
        raise too_large(distribution) from None


def too_large(distribution: Any) -> ParameterError:
    """The error for a distribution whose draws are beyond what NumPy's generators make."""
    return ParameterError(
        f"{distribution!r} can't be sampled: its draws don't fit into 64 bits",
        fix="take a continuous distribution of the same mean and variance; values can be scored as it is",
    )


class uniform_discrete(DiscreteFamily):
    """The integers from low to high, both included: log mass -log(high - low + 1)."""

    __slots__ = parameters = ("low", "high")

    def __init__(self, low: int, high: int) -> None:
        if type(low) is int and type(high) is int and low <= high <= low + BY_SCALING:
            self.low = low
            self.high = high
        else:
            self.low = integer("uniform_discrete", "low", low)
            self.high = integer("uniform_discrete", "high", high)
            ordered("uniform_discrete", self.low, self.high, equal=True)

    def sample(self, rng: np.random.Generator) -> int:
        n = self.high - self.low + 1
        if n <= BY_SCALING:
            return self.low + int(rng.random() * n)
        return _large_draw(self.low, self.high, rng)

    def at(self, x: int) -> float:
        return -_log(self.high - self.low + 1) if self.low <= x <= self.high else -_INF

    @property
    def support(self) -> Support:
        return _integers(self.low, self.high)


_MOST_INTEGERS = 1 << 63  # as many as `Generator.integers` draws from


def _large_draw(low: int, high: int, rng: np.random.Generator) -> int:
    if high - low >= _MOST_INTEGERS:
        raise too_large(uniform_discrete(low, high))
    return low + int(rng.integers(high - low + 1))


BY_SCALING = 1 << 20  # scaling a uniform number to n integers is off by n / 2^53 relative at most


class categorical(DiscreteFamily):
    """The index i, counted from 0, with probability probs[i]: log mass log(probs[x]).

    `probs` is a vector (list, tuple or array) of nonnegative numbers that sum to 1 within 1e-8.
    """

    __slots__ = parameters = ("probs",)

    def __init__(self, probs: Any) -> None:
        self.probs = probabilities("categorical", "probs", probs)

    def sample(self, rng: np.random.Generator) -> int:
        return draw_index(getval(self.probs), rng)

    def at(self, x: int) -> float:
        if not 0 <= x < len(self.probs):
            return -_INF
        p = self.probs[x]
        return _log(p) if p > 0.0 else -_INF

    @staticmethod
    def elementwise(x: Any, probs: Any) -> Any:
        """The vectors of probabilities lie along the last axis of `probs`."""
        probs = anp.array(probs)
        k = probs.shape[-1]

        def inner(x: Any) -> Any:
            index = np.asarray(getval(x)).astype(int)
            if probs.ndim == 1:
                p = probs[index]
            else:
                p = anp.sum(where(np.arange(k) == index[..., None], probs, 0.0), axis=-1)
            return where(p > 0.0, anp.log(where(p > 0.0, p, 1.0)), -_INF)

        return density(is_count(x) & (x < k), x, 0, inner)

    @property
    def support(self) -> Support:
        return _integers(0, len(self.probs) - 1)


def draw_index(probs: Any, rng: np.random.Generator) -> int:
    """An index with the given probabilities, a tuple or a vector."""
    u = rng.random()
    if type(probs) is tuple:
        for i, p in enumerate(probs):
            u -= p
            if u < 0.0:
                return i
    else:
        i = int(np.searchsorted(np.cumsum(probs), u, side="right"))
        if i < len(probs):
            return i
    return max(i for i, p in enumerate(probs) if p > 0.0)  # the sum fell short of 1, by rounding
