"""Draws from families as plain Python functions over numbers, which the compiler reads.

Scalar families have theirs in their methods `sample`; here are those whose classes are written with NumPy, or
with what the compiler does not read. A function here makes the calls of the generator that the class makes,
in the same order, so that it draws the same numbers; its parameters are those of the log density in `texts`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from gendsl.distributions import bounded, discrete, location_scale, positive
from gendsl.distributions.arithmetic import affine
from gendsl.distributions.compound import iid
from gendsl.distributions.factors import factor
from gendsl.distributions.matrices import inv_wishart, wishart
from gendsl.distributions.mixtures import mixture, mixture_of_normals
from gendsl.distributions.multivariate import dirichlet, multinomial, mvnormal
from gendsl.distributions.order_statistics import ordered
from gendsl.distributions.support_texts import TOLERANCE
from gendsl.errors import ImproperError

TINY = 5e-324


def mixture_of_normals_draw(rng: Any, weights: Any, means: Any, vars: Any) -> float:
    """One of the components, then a draw from it."""
    left = rng.random()
    chosen = 0
    for j in range(len(weights)):
        if weights[j] > 0.0:
            chosen = j
            left -= weights[j]
            if left < 0.0:
                break
    return float(means[chosen] + sqrt(vars[chosen]) * rng.standard_normal())


def position(weights: Any, u: float) -> int:
    """The first index up to which the weights sum to more than u, where that is a part of all."""
    sums: list[float] = []
    total = 0.0
    for weight in weights:
        total += weight
        sums.append(total)
    for j in range(len(sums)):
        if sums[j] > u * total:
            return j
    raise IndexError("a rounding error that NumPy makes an error, too")


def permutation(rng: Any, n: int) -> Any:
    """`rng.permutation(n)`: each number is exchanged with one up to it, found by rejection."""
    assert n <= 4294967296
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        above = 1
        while above <= i:
            above *= 2
        j = rng.integers(4294967296) % above
        while j > i:
            j = rng.integers(4294967296) % above
        kept = order[i]
        order[i] = order[j]
        order[j] = kept
    return order


def mixture_draw(rng: Any, weights: Any, distributions: Any) -> Any:
    """A draw from one of the distributions."""
    chosen = position(weights, rng.random())
    for j, distribution in enumerate(distributions):
        if j == chosen:
            return distribution.sample(rng)
    raise IndexError("more weights than distributions")


def dirichlet_draw(rng: Any, alpha: Any) -> Any:
    """Gamma variables over their sum; for small concentrations parts of what is left, by beta variables."""
    k = len(alpha)
    weights = np.zeros(k)
    if max(alpha) < 0.1:
        sums = [0.0] * k
        total = 0.0
        for j in range(k - 1, -1, -1):
            total += alpha[j]
            sums[j] = total
        left = 1.0
        for j in range(k - 1):
            part = rng.beta(alpha[j], sums[j + 1])
            weights[j] = left * part
            left *= 1.0 - part
        weights[k - 1] = left
    else:
        total = 0.0
        for j in range(k):
            weights[j] = rng.standard_gamma(alpha[j])
            total += weights[j]
        inverse = 1.0 / total
        for j in range(k):
            weights[j] *= inverse
    for j in range(k):
        if weights[j] == 0.0:
            weights[j] = TINY  # 0 would be outside of the support
    return weights


def numpy_sum(values: Any) -> float:
    """The sum of at most 128 numbers in the order in which NumPy adds them."""
    n = len(values)
    assert n <= 128
    total = 0.0
    if n < 8:
        for i in range(n):
            total += values[i]
        return total
    parts: list[float] = [values[j] for j in range(8)]
    for i in range(8, n - n % 8, 8):
        for j in range(8):
            parts[j] += values[i + j]
    total = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]))
    for i in range(n - n % 8, n):
        total += values[i]
    return total


def multinomial_draw(rng: Any, n: int, p: Any) -> Any:
    """Binomial draws, each of what is left."""
    k = len(p)
    counts = np.zeros(k, dtype=int)
    total = numpy_sum(p)
    left = n
    rest = 1.0
    for j in range(k - 1):
        part = p[j] / total
        counts[j] = rng.binomial(left, part / rest)
        left -= counts[j]
        if left <= 0:
            break
        rest -= part
    if left > 0:
        counts[k - 1] = left
    return counts


def mvnormal_draw(rng: Any, mean: Any, lower: Any) -> Any:
    """The mean plus the factor times standard normal variables."""
    return mean + lower @ rng.standard_normal(len(mean))


def _bartlett(rng: Any, df: float, dim: int) -> Any:
    """A, lower triangular, such that A Aᵀ is Wishart(df, identity)."""
    factor = np.zeros((dim, dim))
    for i in range(dim):
        for j in range(dim):
            drawn = rng.standard_normal()
            if j < i:
                factor[i, j] = drawn
    for i in range(dim):
        factor[i, i] = sqrt(rng.chisquare(df - i))
    return factor


def _gram(root: Any) -> Any:
    """root rootᵀ, symmetric to the last bit."""
    dim = len(root)
    product = np.zeros((dim, dim))
    for i in range(dim):
        for j in range(i + 1):
            total = 0.0
            for k in range(dim):
                total += root[i, k] * root[j, k]
            product[i, j] = total
            product[j, i] = total
    return product


def wishart_draw(rng: Any, df: float, scale: Any) -> Any:
    """A draw by Bartlett's decomposition; `scale` is the factor of V."""
    return _gram(scale @ _bartlett(rng, df, len(scale)))


def inv_wishart_draw(rng: Any, df: float, scale: Any) -> Any:
    """The inverse of (L⁻ᵀ A)(L⁻ᵀ A)ᵀ, which is (L A⁻ᵀ)(L A⁻ᵀ)ᵀ; `scale` is the factor L of V."""
    dim = len(scale)
    factor = _bartlett(rng, df, dim)
    inverse = np.zeros((dim, dim))
    for j in range(dim):
        for i in range(j, dim):
            left = 1.0 if i == j else 0.0
            for k in range(j, i):
                left -= factor[i, k] * inverse[k, j]
            inverse[i, j] = left / factor[i, i]
    return _gram(scale @ inverse.T)


def product_draw(rng: Any, components: Any) -> Any:
    """A draw from each component."""
    values = []
    for component in components:
        values.append(component.sample(rng))
    return np.array(values)


def iid_draw(rng: Any, dist: Any, n: int) -> Any:
    """n draws."""
    values = []
    for _ in range(n):
        values.append(dist.sample(rng))
    return np.array(values)


def ordered_draw(rng: Any, dist: Any, n: int) -> Any:
    """n draws in increasing order."""
    return np.sort(iid_draw(rng, dist, n))


def affine_draw(rng: Any, dist: Any, scale: Any, shift: Any) -> Any:
    """A draw, scaled and shifted."""
    return scale * dist.sample(rng) + shift


def factor_draw(rng: Any, log_weight: float) -> bool:
    """The value of every factor."""
    return True


def draw_index(probs: Any, rng: Any) -> int:
    """An index with the given probabilities, at most 64 of an array; see `discrete.draw_index`."""
    u = rng.random()
    for i in range(len(probs)):
        u -= probs[i]
        if u < 0.0:
            return i
    last = 0
    for i in range(len(probs)):
        if probs[i] > 0.0:
            last = i
    return last


def choice_draw(rng: Any, n: int, p: Any) -> int:
    """`rng.choice(n, p=p)`."""
    assert n > 0 and len(p) == n
    sums: list[float] = []
    total = 0.0
    for part in p:
        assert part >= 0.0
        total += part
        sums.append(total)
    assert -TOLERANCE <= total - 1.0 <= TOLERANCE
    u = rng.random()
    count = 0
    for s in sums:
        if s / total <= u:
            count += 1
    return count


def _poisson_draw(distribution: Any, rate: float, rng: Any) -> int:
    return int(rng.poisson(rate))


def _large_draw(low: int, high: int, rng: Any) -> int:
    return low + int(rng.integers(high - low + 1))


def _binomial_draw(law: Any, rng: Any) -> int:
    return int(rng.binomial(law.n, law.p))


def _flat_draw(law: Any, rng: Any) -> float:
    raise ImproperError("it can't be drawn from")


TEXTS: dict[type, Callable[..., Any]] = {
    mixture_of_normals: mixture_of_normals_draw,
    mixture: mixture_draw,
    dirichlet: dirichlet_draw,
    multinomial: multinomial_draw,
    mvnormal: mvnormal_draw,
    wishart: wishart_draw,
    inv_wishart: inv_wishart_draw,
    iid: iid_draw,
    ordered: ordered_draw,
    affine: affine_draw,
    factor: factor_draw,
}
"""Draws from families that are written with NumPy, given a generator and their parameters."""
DRAWS: dict[Any, Callable[..., Any]] = {
    discrete.poisson_draw: _poisson_draw,
    discrete._large_draw: _large_draw,
    discrete.draw_index: draw_index,
}
"""Functions of gendsl that draw, and what is read in their place."""
SAMPLES: dict[Any, Callable[..., Any]] = {
    discrete.binom.sample: _binomial_draw,
    bounded.flat.sample: _flat_draw,
}
"""The methods `sample` of which the same holds."""
ONE_BY_ONE: frozenset[type] = frozenset(
    [
        location_scale.normal, location_scale.laplace, location_scale.cauchy, location_scale.student_t,
        location_scale.von_mises, positive.exponential, positive.gamma, positive.inv_gamma,
        positive.log_normal, positive.half_normal, positive.half_cauchy, positive.half_student_t,
        bounded.beta, bounded.uniform, bounded.truncated_normal, discrete.bernoulli, discrete.binom,
        discrete.poisson,
    ]
)  # fmt: skip
"""The families of which columns of draws are those that `sample` makes one by one."""
