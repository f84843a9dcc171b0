"""Mixtures: mixture_of_normals, and mixture of any distributions of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, inf, log, sqrt
from typing import TYPE_CHECKING, Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from gendsl.distributions.arrays import (
    LOG_2PI,
    ArrayFamily,
    as_array,
    bad_parameter,
    finished,
    plain,
    score_stack,
    weight_array,
)
from gendsl.distributions.scipy_frozen import require_distribution
from gendsl.errors import ParameterError, ValueTypeError
from gendsl.supports import Boolean, Integers, Interval, Lattice, Positive, Real, Support

if TYPE_CHECKING:
    from gendsl.distributions.choice_types import RealChoice

_HALF_LOG_2PI = 0.5 * LOG_2PI
# A sum of densities below this is close to the subnormal numbers, where digits get lost.
UNDERFLOW = 1e-280
# exp of more than this overflows.
_MAX_EXPONENT = 700.0


def log_sum(weights: Any, terms: Any) -> Any:
    """log Σ_j w_j exp(t_j) over the first axis, without underflow; -inf where every t_j is -inf.

    The weights stay outside the logarithm, so that a weight of 0 has a finite derivative.
    """
    values = plain(terms)
    top = np.max(np.where(plain(weights) > 0.0, values, -inf), axis=0)
    usable = np.isfinite(top)
    peak = np.where(usable, top, 0.0)
    exponents = anp.minimum(anp.where(np.isfinite(values), terms, -inf) - peak, _MAX_EXPONENT)
    total = anp.sum(weights * anp.exp(exponents), axis=0)
    return anp.where(usable, anp.log(anp.where(usable, total, 1.0)) + peak, top)


def _log_sum_of_floats(weights: list[float], terms: list[float]) -> float:
    """The same for one value, by `math` alone."""
    used = [(w, t) for w, t in zip(weights, terms, strict=True) if w > 0.0]
    top = max(t for _, t in used)
    return top + log(fsum(w * exp(t - top) for w, t in used)) if -inf < top < inf else top


class mixture_of_normals(ArrayFamily):
    """Mixture of normals: log Σ_j w_j exp(-(x - μ_j)² / 2v_j) / √(2π v_j).

    Args:
        weights: at least 0, sum to one.
        means: one for each weight.
        vars: the *variances*, positive.

    Values are floats.
    """

    __slots__ = ("means", "vars", "weights")
    parameters = ("weights", "means", "vars")
    _measure = Real()

    if TYPE_CHECKING:

        def __invert__(self) -> RealChoice: ...  # type: ignore[override]

    def __init__(self, weights: Any, means: Any, vars: Any) -> None:
        if type(weights) is np.ndarray:
            weights = weights.tolist()
        if type(means) is np.ndarray:
            means = means.tolist()
        if type(vars) is np.ndarray:
            vars = vars.tolist()
        try:
            if not len(weights) == len(means) == len(vars):
                raise self._error(weights, means, vars)
            total = 0.0
            for w, m, v in zip(weights, means, vars):  # noqa: B905 (of one length; hot)
                if not (w >= 0.0 and -inf < m < inf and 0.0 < v < inf):
                    raise self._error(weights, means, vars)
                total += w
        except (TypeError, ValueError):
            raise self._error(weights, means, vars) from None
        if not -1e-8 <= total - 1.0 <= 1e-8:
            raise self._error(weights, means, vars)
        self.weights = weights
        self.means = means
        self.vars = vars

    @staticmethod
    def _error(weights: Any, means: Any, vars: Any) -> ParameterError:
        """What is wrong with parameters that the constructor's one test turned down."""
        family = "mixture_of_normals"
        for name, values in (("weights", weights), ("means", means), ("vars", vars)):
            try:
                array = plain(as_array(values))
            except (TypeError, ValueError):
                array = None
            if np.ndim(array) != 1:
                return bad_parameter(family, name, "be a vector of numbers", values)
        if not len(weights) == len(means) == len(vars):
            return ParameterError(
                f"{family}: weights, means and vars must have one length, "
                f"got {len(weights)}, {len(means)} and {len(vars)}"
            )
        for i, (mean, var) in enumerate(zip(means, vars, strict=True)):
            if not -inf < mean < inf:
                return bad_parameter(family, f"means[{i}]", "be finite", mean)
            if not 0.0 < var < inf:
                fix = "the third parameter holds variances, not standard deviations"
                return bad_parameter(family, f"vars[{i}]", "be positive and finite", var, fix)
        try:
            weight_array(family, "weights", weights)
        except ParameterError as error:
            return error
        return bad_parameter(family, "weights", "be a vector of numbers", weights)

    def sample(self, rng: np.random.Generator) -> float:
        left = rng.random()
        chosen = 0
        for j, weight in enumerate(self.weights):
            if weight > 0.0:
                chosen = j
                left -= weight
                if left < 0.0:
                    break
        return float(plain(self.means[chosen]) + sqrt(plain(self.vars[chosen])) * rng.standard_normal())

    def logpdf(self, x: Any) -> Any:
        if isinstance(x, (float, int)):
            try:
                total = 0.0
                for w, m, v in zip(self.weights, self.means, self.vars):  # noqa: B905 (checked above; hot)
                    d = x - m
                    total += w / sqrt(v) * exp(-0.5 * d * d / v)
                if total > UNDERFLOW:
                    return log(total) - _HALF_LOG_2PI
                if not isbox(total):
                    return self._far(x)
            except TypeError:  # autograd traces a parameter
                pass
            except OverflowError:  # an integer beyond all floats
                return -inf
        return self.elementwise(x, self.weights, self.means, self.vars)

    def _far(self, x: float) -> float:
        """The log density where the densities themselves underflow."""
        if not -inf < x < inf:
            return -inf
        terms = [-0.5 * (log(v) + (x - m) / v * (x - m)) for m, v in zip(self.means, self.vars, strict=True)]
        return _log_sum_of_floats(self.weights, terms) - _HALF_LOG_2PI

    @staticmethod
    def elementwise(x: Any, weights: Any, means: Any, vars: Any) -> Any:
        """The log density at each entry of x; parameters have components along their last axis, and
        their leading axes broadcast with x."""
        try:
            x = as_array(x)
        except (TypeError, ValueError):
            raise ValueTypeError(f"mixture_of_normals: a value is a number, got {x!r}") from None
        values = plain(x)
        # Components along the first axis: sums over few components of many points are then sums of rows.
        w, m, v = (_components_first(as_array(p), np.ndim(values)) for p in (weights, means, vars))
        inside = np.isfinite(values)
        with np.errstate(over="ignore"):
            z = ((x if inside.all() else anp.where(inside, x, 0.0)) - m) / anp.sqrt(v)
            terms = -0.5 * z * z
        if any(map(isbox, (x, w, m, v))) or not inside.all() or not (plain(w) > 0.0).all():
            score = log_sum(w, terms - 0.5 * anp.log(v)) - _HALF_LOG_2PI
            return finished(anp.where(inside, score, -inf))
        terms += np.log(w) - 0.5 * np.log(v) - _HALF_LOG_2PI
        top = terms.max(0)
        if not top.min(initial=0.0) > -inf:
            return finished(log_sum(1.0, terms))
        terms -= top
        return finished(np.log(np.exp(terms, out=terms).sum(0)) + top)

    @property
    def support(self) -> Real:
        return Real()


class mixture(ArrayFamily):
    """Mixture of distributions of one kind: log Σ_j w_j p_j(x).

    Args:
        weights: at least 0, sum to one.
        distributions: one for each weight; all discrete or all continuous. They have one support, or
            are scalar: then the mixture's support is the smallest interval that holds theirs.
    """

    __slots__ = ("_support", "distributions", "weights")
    parameters = ("weights", "distributions")

    if TYPE_CHECKING:

        def __invert__(self) -> Any: ...

    def __init__(self, weights: Any, distributions: Sequence[Any] | None = None) -> None:
        _refuse_kernels(weights, distributions)
        self.weights = weight_array("mixture", "weights", weights)
        if not isinstance(distributions, (list, tuple)):
            raise bad_parameter(
                "mixture", "distributions", "be a list of distributions", distributions,
                "write mixture(weights, [first, second])",
            )  # fmt: skip
        if len(self.weights) != len(distributions):
            raise ParameterError(
                f"mixture: one weight for each distribution, got {len(self.weights)} weights "
                f"and {len(distributions)} distributions"
            )
        self.distributions = tuple(require_distribution(d, "mixture") for d in distributions)
        self._support = self._hull()

    def sample(self, rng: np.random.Generator) -> Any:
        cumulative = np.cumsum(plain(self.weights))
        chosen = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        value = self.distributions[chosen].sample(rng)
        # Where False or True may be drawn beside other integers, all draws are integers.
        return int(value) if isinstance(value, bool) and self._support != Boolean() else value

    def logpdf(self, x: Any) -> Any:
        if isinstance(x, (float, int)):
            terms = [d.logpdf(x) for d in self.distributions]
            if not isbox(self.weights) and not any(map(isbox, terms)):
                return _log_sum_of_floats(self.weights.tolist(), terms)
        ndim = len(self._support.shape or ())
        scores = anp.array([score_stack(d, x, ndim) for d in self.distributions])
        trailing = (1,) * (np.ndim(plain(scores)) - 1)
        return finished(log_sum(anp.reshape(self.weights, (-1, *trailing)), scores))

    @property
    def support(self) -> Support:
        return self._support

    def _hull(self) -> Support:
        return hull([d.support for d in self.distributions])


def _refuse_kernels(*arguments: Any) -> None:
    """Raise where kernels are given: their mixture has the same name, and is another thing."""
    for argument in arguments:
        for item in argument if isinstance(argument, (list, tuple)) else ():
            if callable(item) and hasattr(item, "step") and not hasattr(item, "logpdf"):
                raise ParameterError(
                    f"mixture: this is the mixture of distributions, and {item!r} is none",
                    fix="the kernel that picks one of some is gendsl.inference.mixture(kernels, weights)",
                )


def hull(supports: Sequence[Support]) -> Support:
    """The one support of all, or the smallest interval (of reals, of integers) that holds them.

    Raises:
        ParameterError: there is none; some are discrete and some continuous, or they are not scalar.
    """
    first = supports[0]
    if all(support == first for support in supports):
        return first
    if len({support.discrete for support in supports}) > 1:
        raise ParameterError(
            "mixture: all distributions must be discrete or all continuous, got supports "
            + ", ".join(map(repr, supports)),
            fix="make the discrete part a choice of its own, at an address of its own",
        )
    ends = [_ends(support) for support in supports]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if first.discrete:
        return Integers(low, high)
    return Real() if (low, high) == (-inf, inf) else Interval(low, high)


def _ends(support: Support) -> tuple[float, float]:
    match support:
        case Real():
            return -inf, inf
        case Positive():
            return 0.0, inf
        case Interval():
            return support.low, support.high
        case Boolean():
            return 0, 1
        case Integers():
            return support.low, support.high
    if isinstance(support, Lattice) and isinstance(support.offset + support.step, int):
        ends = support.offset + support.step * support.low, support.offset + support.step * support.high
        return min(ends), max(ends)
    raise ParameterError(
        f"mixture: distributions with different supports must be scalar, and discrete ones must have integer "
        f"values; one has the support {support!r}"
    )


def _components_first(parameter: Any, ndim: int) -> Any:
    """A parameter of shape (..., k) as (k, 1, ..., 1, ...), to broadcast with x of `ndim` axes."""
    shape = np.shape(plain(parameter))
    if len(shape) > 1:
        parameter = anp.moveaxis(parameter, -1, 0)
    return anp.reshape(parameter, (shape[-1], *[1] * (ndim - len(shape) + 1), *shape[:-1]))
