"""Densities where parameters are large, against the textbook formulas in 60 digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from autograd import elementwise_grad, grad
from scipy.special import psi

from gendsl import beta, binom, dirichlet, gamma, inv_gamma, multinomial, neg_binom, poisson
from gendsl.distributions.column_scores import made_scores
from gendsl.distributions.made import partials

_TWO_PI = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494")
_BERNOULLI = (1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)


def log_gamma(z):
    """By Stirling's series from 300 on, where its ninth term is below 1e-36."""
    shift = Decimal(0)
    while z < 300:
        shift += z.ln()
        z += 1
    series = sum(
        Decimal(n) / d / (2 * k * (2 * k - 1)) / z ** (2 * k - 1) for k, (n, d) in enumerate(_BERNOULLI, 1)
    )
    return (z - Decimal("0.5")) * z.ln() - z + _TWO_PI.ln() / 2 + series - shift


EXACT = {
    poisson: lambda x, rate: x * rate.ln() - rate - log_gamma(x + 1),
    gamma: lambda x, k, s: (k - 1) * (x / s).ln() - x / s - log_gamma(k) - s.ln(),
    inv_gamma: lambda x, k, s: k * s.ln() - log_gamma(k) - (k + 1) * x.ln() - s / x,
    beta: lambda x, a, b: (
        (a - 1) * x.ln() + (b - 1) * (1 - x).ln() + log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    ),
    binom: lambda x, n, p: (
        log_gamma(n + 1) - log_gamma(x + 1) - log_gamma(n - x + 1) + x * p.ln() + (n - x) * (1 - p).ln()
    ),
    neg_binom: lambda x, r, p: (
        log_gamma(x + r) - log_gamma(r) - log_gamma(x + 1) + r * p.ln() + x * (1 - p).ln()
    ),
}


def exact(family, x, *parameters):
    with localcontext() as context:
        context.prec = 60
        return float(EXACT[family](*(Decimal(float(v)) for v in (x, *parameters))))


def parameters_of(family, size, rng, n):
    """Columns of parameters of a size, and after them some of a usual size."""
    large = np.concatenate([rng.uniform(0.5, 2.0, n) * size, rng.uniform(0.5, 2.0, 3)])
    scale = rng.uniform(0.2, 5.0, n + 3)
    share = rng.uniform(0.1, 0.9, n + 3)
    match family.__name__:
        case "poisson":
            return (large,)
        case "beta":
            return large, rng.permutation(large)
        case "binom":
            return np.ceil(large).astype(int), share
        case "neg_binom":
            return large, share
    return large, scale


@pytest.mark.parametrize("size", [1e4, 3e5, 1e8, 1e12, 1e15])
@pytest.mark.parametrize("family", EXACT, ids=lambda family: family.__name__)
def test_log_densities_keep_their_digits(family, size):
    """Rounding of x or of a parameter alone moves the density by 1e-16 times some standard deviations."""
    rng = np.random.default_rng(1)
    columns = parameters_of(family, size, rng, 12)
    laws = [family(*(column[i].item() for column in columns)) for i in range(len(columns[0]))]
    x = np.array([law.sample(rng) for law in laws])
    x[:2] = [law.sample(rng) * 3 // 2 if x.dtype.kind == "i" else law.sample(rng) for law in laws[:2]]
    if family is binom:
        x = np.minimum(x, columns[0])
    expected = np.array([exact(family, x[i], *(c[i] for c in columns)) for i in range(len(laws))])
    tolerance = {1e4: 1e-9, 3e5: 1e-9, 1e8: 1e-10, 1e12: 3e-9, 1e15: 1e-7}[size]

    def same(found, wanted=expected):
        assert found == pytest.approx(wanted, rel=2e-14, abs=tolerance)

    same([law.logpdf(value.item()) for law, value in zip(laws, x, strict=True)])
    same(family.elementwise(x, *columns))
    with np.errstate(all="ignore"):
        same(made_scores(family, x, columns))
        same(made_scores(family, x[3:4], tuple(column[3].item() for column in columns)), expected[3:4])
        same(partials(family, [x, *columns], [1])[0])
    same(partials(family, [x[3].item(), *(column[3].item() for column in columns)], [1])[0], expected[3])


@pytest.mark.parametrize(
    ("r", "x"), [(2050.6, 1.6e9), (4.7, 9e13), (1e-5, 9e13), (0.3, 2e5), (1e9, 40.0), (1e-5, 0.0)]
)
def test_a_large_count_beside_a_small_one_keeps_its_digits(r, x):
    p = min(0.9, r / (r + x) if x else 0.5)
    expected = exact(neg_binom, x, r, p)
    assert neg_binom(r, p).logpdf(int(x)) == pytest.approx(expected, rel=1e-13, abs=1e-11)
    assert neg_binom.elementwise(np.array([x]), r, p)[0] == pytest.approx(expected, rel=1e-13, abs=1e-11)
    up, down = (exact(neg_binom, x, r * by, p) for by in (1 + 1e-6, 1 - 1e-6))
    slope = elementwise_grad(lambda r: neg_binom.elementwise(x, r, p))(r)
    assert slope == pytest.approx((up - down) / (2e-6 * r), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("size", [3e5, 1e8])
@pytest.mark.parametrize("family", EXACT, ids=lambda family: family.__name__)
def test_derivatives_where_parameters_are_large(family, size):
    rng = np.random.default_rng(2)
    columns = parameters_of(family, size, rng, 6)
    laws = [family(*(column[i].item() for column in columns)) for i in range(len(columns[0]))]
    x = np.array([law.sample(rng) for law in laws])
    for k, column in enumerate(columns):
        if column.dtype.kind == "i":
            continue
        others = columns[:k], columns[k + 1 :]
        found = elementwise_grad(lambda c, o=others: family.elementwise(x, *o[0], c, *o[1]))(column)
        step = column * 1e-6
        up, down = ([exact(family, x[i], *(c[i] + sign * step[i] * (j == k) for j, c in enumerate(columns)))
                     for i in range(len(x))] for sign in (1, -1))  # fmt: skip
        assert found == pytest.approx((np.array(up) - down) / (2 * step), rel=1e-4, abs=1e-4 / column.min())


@pytest.mark.parametrize("size", [2e5, 1e8, 1e11])
@pytest.mark.parametrize("small", [[], [0.5], [1.0]])
def test_weights_keep_their_digits(size, small):
    """What is left is what rounding of the weights alone does: 1e-16 times the size."""
    alpha = np.array([0.3 * size, 2.0 * size, 0.7 * size, 1e-6 * size, *small])
    x = dirichlet(alpha).sample(np.random.default_rng(3))
    with localcontext() as context:
        context.prec = 60
        a, w = ([Decimal(float(v)) for v in vector] for vector in (alpha, x))
        terms = ((b - 1) * v.ln() - log_gamma(b) for b, v in zip(a, w, strict=True))
        expected = pytest.approx(float(sum(terms) + log_gamma(sum(a))), abs=1e-15 * size)
    found = dirichlet(alpha).logpdf(x)
    assert found == expected
    assert dirichlet.elementwise(np.array([x, -x, x]), alpha).tolist() == [found, -math.inf, found]
    slope = grad(lambda a: dirichlet.elementwise(x, a))(alpha)
    assert slope == pytest.approx(psi(alpha.sum()) - psi(alpha) + np.log(x), abs=1e-9)


@pytest.mark.parametrize("n", [2 * 10**5, 10**8, 10**11])
def test_counts_keep_their_digits(n):
    p = np.array([0.2, 0.5, 0.3, 0.0])
    law = multinomial(n, p)
    x = law.sample(np.random.default_rng(3))
    with localcontext() as context:
        context.prec = 60
        k, q = ([Decimal(v) for v in vector.tolist()[:3]] for vector in (x, p))
        terms = (i * v.ln() - log_gamma(i + 1) for i, v in zip(k, q, strict=True))
        expected = float(log_gamma(Decimal(n) + 1) + sum(terms))
    assert law.logpdf(x) == pytest.approx(expected, abs=1e-15 * n)
    assert law.logpdf(np.array([n, 0, 0, 0])) == pytest.approx(n * math.log(0.2), rel=1e-12)
    assert law.logpdf(x + np.array([-1, 0, 0, 1])) == -math.inf
    slope = grad(lambda p: multinomial(n, p).logpdf(x))(p)
    assert slope[:3] == pytest.approx(x[:3] / p[:3], rel=1e-12)


@pytest.mark.parametrize("value", [1e-300, 1e300])
def test_far_from_the_mode_nothing_overflows(value):
    for law in (gamma(1e6, 1e-5), inv_gamma(1e6, 1e-5)):
        assert law.logpdf(value) == pytest.approx(float(law.elementwise(value, 1e6, 1e-5)), rel=1e-12)
    assert poisson(value).logpdf(10**6) < -1e5
    assert math.isinf(poisson(0.0).logpdf(10**6))
    assert beta(1e6, 1e6).logpdf(1e-300) == pytest.approx(exact(beta, 1e-300, 1e6, 1e6), rel=1e-14)
    assert poisson(1e200).logpdf(10**200) == pytest.approx(-0.5 * math.log(2e200 * math.pi), rel=1e-12)
    law = beta(1e306, 1e307)
    assert law.logpdf(0.5) == pytest.approx(-1e306 * (math.log(2 / 11) + 10 * math.log(20 / 11)), rel=1e-12)
    assert law.elementwise(0.5, 1e306, 1e307) == pytest.approx(law.logpdf(0.5), rel=1e-15)
