"""Distributions that are not gendsl's own: frozen scipy.stats ones, and objects with the right members.

A frozen distribution whose law is one of gendsl's families becomes that family, and so is fast and
differentiable; any other keeps scipy's `rvs` and `logpdf` behind gendsl's interface.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf
from types import FunctionType
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from gendsl.distributions.arithmetic import affine
from gendsl.distributions.arrays import brief, plain
from gendsl.distributions.base import Distribution
from gendsl.distributions.bounded import beta, truncated_normal, uniform
from gendsl.distributions.discrete import binom, geometric, neg_binom, poisson, uniform_discrete
from gendsl.distributions.location_scale import cauchy, laplace, normal, student_t, von_mises
from gendsl.distributions.matrices import inv_wishart, wishart
from gendsl.distributions.multivariate import dirichlet, multinomial, mvnormal
from gendsl.distributions.positive import (
    exponential,
    gamma,
    half_cauchy,
    half_normal,
    inv_gamma,
    log_normal,
)
from gendsl.errors import (
    GenDSLError,
    LostDerivativeError,
    NaNError,
    NotADistributionError,
    ParameterError,
    ValueTypeError,
)
from gendsl.supports import FiniteSet, Integers, Interval, Positive, Real, Support

# What nearly every `~value` in a program is; answered before anything is looked up.
_ORDINARY = frozenset(
    (
        int, float, bool, complex, str, bytes, list, tuple, dict, set, type(None), type, FunctionType,
        np.ndarray, np.bool_, np.int64, np.float64,
    )
)  # fmt: skip

# Laws with a location and a scale of their own, then laws that are scaled, then laws of integers.
LOCATED: dict[str, Callable[..., Distribution]] = {
    "norm": lambda loc, scale: normal(loc, scale),
    "uniform": lambda loc, scale: uniform(loc, loc + scale),
    "laplace": lambda loc, scale: laplace(loc, scale),
    "cauchy": lambda loc, scale: cauchy(loc, scale),
    "t": lambda df, loc, scale: student_t(df, loc, scale),
    "truncnorm": lambda a, b, loc, scale: truncated_normal(loc, scale, loc + a * scale, loc + b * scale),
}
SCALED: dict[str, Callable[..., Distribution]] = {
    "expon": lambda scale: exponential(1.0 / scale),
    "gamma": lambda a, scale: gamma(a, scale),
    "invgamma": lambda a, scale: inv_gamma(a, scale),
    "lognorm": lambda s, scale: log_normal(anp.log(scale), s),
    "halfnorm": lambda scale: half_normal(scale),
    "halfcauchy": lambda scale: half_cauchy(scale),
    "beta": lambda a, b, scale: beta(a, b) if scale == 1.0 else affine(beta(a, b), scale),
}
INTEGER: dict[str, Callable[..., Distribution]] = {
    "poisson": lambda mu: poisson(mu),
    "binom": lambda n, p: binom(n, p),
    "bernoulli": lambda p: binom(1, p),
    "geom": lambda p: affine(geometric(p), 1, 1),
    "nbinom": lambda n, p: neg_binom(n, p),
    "randint": lambda low, high: uniform_discrete(low, high - 1),
}
# Laws of angles: scipy brings their draws back to one turn of the circle after loc and scale have moved them.
CIRCULAR = "vonmises_gen", "wrapcauchy_gen"
_MULTIVARIATE: dict[str, Callable[[Any], Distribution]] = {
    "multivariate_normal_frozen": lambda frozen: mvnormal(frozen.mean, frozen.cov),
    "dirichlet_frozen": lambda frozen: dirichlet(frozen.alpha),
    "wishart_frozen": lambda frozen: wishart(frozen.df, frozen.scale),
    "invwishart_frozen": lambda frozen: inv_wishart(frozen.df, frozen.scale),
    "multinomial_frozen": lambda frozen: multinomial(frozen.n, frozen.p),
}

_WRITE_A_CLASS = "write a subclass of gendsl.Distribution with sample(rng), logpdf(x) and support"


def as_distribution(thing: Any) -> Distribution:
    """`thing` as a Distribution.

    Takes distributions (as they are), frozen `scipy.stats` distributions, and objects whose class has
    `sample(rng)` and `logpdf(x)` and that have a `support` of `gendsl.supports`.

    Raises:
        NotADistributionError: it is none, or one of another kind; the message says what to use instead.
    """
    return require_distribution(thing, "as_distribution")


def find_distribution(thing: Any) -> Distribution | None:
    """`thing` as a Distribution, or None if it is nothing of the kind.

    Raises:
        NotADistributionError: a distribution of another kind.
    """
    if isinstance(thing, Distribution):
        return thing
    cls = type(thing)
    if cls in _ORDINARY or not (hasattr(cls, "logpdf") or hasattr(cls, "rvs") or hasattr(cls, "logpmf")):
        return None
    if any(base.__module__.startswith("scipy.stats") for base in cls.__mro__):
        return _from_scipy(thing)
    if not (hasattr(cls, "logpdf") and hasattr(cls, "sample") and hasattr(thing, "support")):
        return None
    if not isinstance(thing.support, Support):
        raise NotADistributionError(
            f"{cls.__name__} has sample and logpdf, but its support is {brief(thing.support)}, "
            "not one of gendsl.supports",
            fix="give it a support such as gendsl.supports.Real(), as an attribute or a property",
        )
    return Duck(thing)


def require_distribution(thing: Any, owner: str) -> Distribution:
    """`thing` as a Distribution.

    Raises:
        NotADistributionError: it isn't one; the message says that `owner` needs one.
    """
    distribution = find_distribution(thing)
    if distribution is None:
        fix = "give one of gendsl, such as normal(0, 1), a frozen one of scipy.stats, or an object with "
        fix += "sample(rng), logpdf(x) and support"
        if isinstance(thing, type) and issubclass(thing, Distribution):
            fix = f"call it with its parameters: {thing.__name__}({', '.join(thing.parameters)})"
        raise NotADistributionError(
            f"{owner} needs a distribution, got {brief(thing)} of type {type(thing).__name__}", fix=fix
        )
    return distribution


class Duck(Distribution):
    """An object with `sample`, `logpdf` and `support` that doesn't inherit from Distribution."""

    __slots__ = ("thing",)
    parameters = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def sample(self, rng: np.random.Generator) -> Any:
        return self.thing.sample(rng)

    def logpdf(self, x: Any) -> Any:
        """The object's own, but -inf outside its support, of which its formula may know nothing."""
        if not isbox(x) and not self.support.contains(x):
            return -inf
        return self.thing.logpdf(x)

    @property
    def support(self) -> Support:
        support: Support = self.thing.support
        return support

    def __repr__(self) -> str:
        return repr(self.thing)


class Frozen(Distribution):
    """A frozen univariate scipy.stats distribution that is none of gendsl's families."""

    __slots__ = ("_log", "_support", "arguments", "frozen", "kind", "name", "table")
    parameters = ("name", "kind", "arguments", "table")
    vectorised = True

    def __init__(self, frozen: Any) -> None:
        self.frozen = frozen
        self.name: str = frozen.dist.name
        self.kind = type(frozen.dist)
        self.arguments = (*frozen.args, *sorted(frozen.kwds.items()))
        self.table = _table(frozen.dist)
        low, high = (float(end) for end in frozen.support())
        if math.isnan(low) or math.isnan(high):
            raise ParameterError(
                f"scipy.stats.{self.name}: invalid parameters {brief([*frozen.args])} {brief(frozen.kwds)}",
                fix="its documentation says which values are allowed",
            )
        self._support: Support
        if hasattr(frozen.dist, "pmf"):
            self._log = frozen.logpmf
            self._support = _discrete_support(frozen, low, high)
        else:
            self._log = frozen.logpdf
            self._support = _continuous_support(low, high)

    def sample(self, rng: np.random.Generator) -> Any:
        value = self.frozen.rvs(random_state=rng)
        return int(value) if isinstance(self._support, Integers) else float(value)

    def logpdf(self, x: Any) -> Any:
        if isbox(x):
            if not self._support.discrete:
                raise LostDerivativeError(
                    f"scipy.stats.{self.name} has no derivative that gendsl knows",
                    fix="use one of gendsl's distributions, or write a subclass of gendsl.Distribution "
                    "whose logpdf uses autograd.numpy",
                )
            x = plain(x)
        values = np.asarray(x)
        if values.dtype.kind not in "biuf":
            raise ValueTypeError(f"scipy.stats.{self.name}: a value must be a number, got {brief(x)}")
        with np.errstate(all="ignore"):
            scores = np.asarray(self._log(values))
        lost = np.isnan(scores)
        if lost.any():
            self._refuse_nan(values[lost])
            scores = np.where(lost, -inf, scores)
        return scores if scores.ndim else float(scores)

    def _refuse_nan(self, values: np.ndarray) -> None:
        """NaN is right only where there is no density; elsewhere scipy has lost its way."""
        for value in values.ravel():
            if self._support.contains(value):
                raise NaNError(f"scipy.stats.{self.name}: the log density at {value} comes out as NaN")

    @property
    def support(self) -> Support:
        return self._support

    def __repr__(self) -> str:
        shown = [brief(a) for a in self.frozen.args] + [
            f"{k}={brief(v)}" for k, v in self.frozen.kwds.items()
        ]
        return f"scipy.stats.{self.name}({', '.join(shown)})"


def _table(dist: Any) -> tuple[Any, ...]:
    """What a distribution is made of that scipy counts among no parameters: values, masses, a histogram."""
    tables = (getattr(dist, name, None) for name in ("xk", "pk", "_histogram"))
    return tuple(_nested(table) for table in tables if table is not None)


def _nested(table: Any) -> tuple[Any, ...]:
    return tuple(map(_nested, table)) if isinstance(table, tuple) else tuple(np.ravel(table).tolist())


def _discrete_support(frozen: Any, low: float, high: float) -> Support:
    """The integers between the ends; or the values of an `rv_discrete` that aren't all integers."""
    values = getattr(frozen.dist, "xk", None)
    if values is None or np.equal(np.floor(values), values).all():
        return Integers(low, high)
    if low != float(np.min(values)):
        raise NotADistributionError(
            f"scipy.stats.{frozen.dist.name}: its values are no integers, and loc moves them",
            fix="give the values as they are to be: rv_discrete(values=(values, probabilities))",
        )
    return FiniteSet(tuple(map(float, np.ravel(values))))


def _continuous_support(low: float, high: float) -> Support:
    if (low, high) == (-inf, inf):
        return Real()
    return Positive() if (low, high) == (0.0, inf) else Interval(low, high)


def _from_scipy(thing: Any) -> Distribution:
    cls = type(thing)
    if cls.__name__ in _MULTIVARIATE:
        return _MULTIVARIATE[cls.__name__](thing)
    if hasattr(thing, "dist") and hasattr(thing, "args") and hasattr(thing, "kwds"):
        return _from_univariate(thing)
    if hasattr(cls, "_parse_args") or cls.__name__.endswith("_gen"):
        name = getattr(thing, "name", cls.__name__.removesuffix("_gen"))
        raise NotADistributionError(
            f"scipy.stats.{name} is a family, not a distribution: its parameters are not fixed",
            fix=f"call it with its parameters, as in scipy.stats.{name}(...)",
        )
    raise NotADistributionError(
        f"{cls.__name__} of scipy.stats is none that gendsl can take: its support is not known",
        fix="use a frozen univariate distribution such as scipy.stats.norm(0, 1), or " + _WRITE_A_CLASS,
    )


def _from_univariate(frozen: Any) -> Distribution:
    name = frozen.dist.name
    given = [*frozen.args, *frozen.kwds.values()]
    if any(np.ndim(plain(value)) for value in given):
        raise NotADistributionError(
            f"scipy.stats.{name}: parameters must be numbers, got arrays",
            fix="use product(...) for different components, iid(dist, n) for equal ones",
        )
    own = _circular(frozen, name)
    if own is None:
        own = _own_family(frozen, name)
    if own is not None:
        return own
    if any(map(isbox, given)):
        raise LostDerivativeError(
            f"scipy.stats.{name} has no derivative with respect to its parameters that gendsl knows",
            fix="use one of gendsl's distributions, or " + _WRITE_A_CLASS,
        )
    return Frozen(frozen)


def _circular(frozen: Any, name: str) -> Distribution | None:
    """The same law of angles from -pi to pi; None if it is no von Mises distribution.

    What scipy says of its support is no help: the whole line, on which its density doesn't add up to 1, or a
    turn that its draws are not in.

    Raises:
        NotADistributionError: its draws and its density don't agree.
    """
    kind = type(frozen.dist)
    if not kind.__module__.startswith("scipy.stats") or kind.__name__ not in CIRCULAR:
        return None
    shapes, loc, scale = frozen.dist._parse_args(*frozen.args, **frozen.kwds)
    if scale != 1.0 or (loc != 0.0 and name != "vonmises"):
        raise NotADistributionError(
            f"scipy.stats.{name}: its draws are angles of one turn, and its density with loc={brief(loc)} "
            f"and scale={brief(scale)} is not that of an angle",
            fix="use gendsl's von_mises(mu, kappa), or " + _WRITE_A_CLASS,
        )
    return von_mises(loc, *shapes) if kind.__name__ == "vonmises_gen" else None


def _own_family(frozen: Any, name: str) -> Distribution | None:
    """The same law as one of gendsl's families; None if it is none of them."""
    kind = type(frozen.dist)
    if not kind.__module__.startswith("scipy.stats") or kind.__name__ != f"{name}_gen":
        return None  # a user's subclass, a histogram or a table of values may be called anything
    shapes, loc, scale = frozen.dist._parse_args(*frozen.args, **frozen.kwds)
    if not 0.0 < scale < inf:
        raise ParameterError(f"scipy.stats.{name}: scale must be positive and finite, got {brief(scale)}")
    try:
        if name in LOCATED:
            return LOCATED[name](*shapes, loc, scale)
        if name in SCALED:
            return _shifted(SCALED[name](*shapes, scale), loc)
        if name in INTEGER:
            return _shifted(INTEGER[name](*shapes), loc)
    except GenDSLError as error:
        error.add_note(f"from scipy.stats.{name}")
        raise
    return None


def _shifted(distribution: Distribution, loc: Any) -> Distribution:
    if not isbox(loc) and loc == 0:
        return distribution
    if distribution.support.discrete and not isbox(loc) and float(loc).is_integer():
        loc = int(loc)
    return affine(distribution, 1, loc)
