"""Families of one number at the edges: of the support, of the parameters' ranges, of floating point."""

from __future__ import annotations

import math

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.special
import scipy.stats as st

from gendsl.distributions import (
    bernoulli,
    beta,
    beta_uniform,
    binom,
    categorical,
    cauchy,
    exponential,
    flat,
    gamma,
    geometric,
    half_cauchy,
    half_normal,
    half_student_t,
    iid,
    inv_gamma,
    laplace,
    log_normal,
    neg_binom,
    normal,
    piecewise_uniform,
    poisson,
    product,
    student_t,
    truncated_normal,
    uniform,
    uniform_discrete,
    von_mises,
)
from gendsl.distributions.columns import sample_columns
from gendsl.errors import ParameterError
from tests.distributions.checks import assert_gradients_outside, assert_outside

INF, NAN = math.inf, math.nan

OUTSIDE = [
    (normal(0.0, 1.0), [INF, -INF, NAN]),
    (laplace(0.0, 1.0), [INF, -INF, NAN]),
    (cauchy(0.0, 1.0), [INF, -INF, NAN]),
    (student_t(3.0), [INF, -INF, NAN]),
    (von_mises(0.0, 2.0), [3.2, -3.2, INF, NAN]),
    (exponential(2.0), [-1e-300, -5.0, INF, -INF, NAN]),
    (gamma(2.0, 1.0), [-1e-300, 0.0, -5, INF, -INF, NAN]),
    (inv_gamma(2.0, 1.0), [0.0, -5.0, INF, -INF, NAN]),
    (log_normal(0.0, 1.0), [0.0, -5.0, INF, -INF, NAN]),
    (half_normal(2.0), [-1e-300, INF, -INF, NAN]),
    (half_cauchy(2.0), [-1e-300, INF, -INF, NAN]),
    (half_student_t(3.0, 2.0), [-1e-300, INF, -INF, NAN]),
    (flat(), [INF, -INF, NAN]),
    (flat(0.0), [-1e-300, INF, -INF, NAN]),
    (flat(-INF, 1.0), [1.1, INF, -INF, NAN]),
    (flat(-2.0, 1.0), [-2.1, 1.1, INF, -INF, NAN]),
    (bernoulli(logit=1.0), [2, -1, 0.5, INF, NAN]),
    (binom(5, logit=0.5), [6, -1, 0.5, 10**400, -(10**400), INF, -INF, NAN]),
    (poisson(log_rate=0.7), [-1, 0.5, 1e15 + 0.5, -(10**400), INF, -INF, NAN]),
    (neg_binom(mean=2.0, dispersion=1.5), [-1, 0.5, -(10**400), INF, -INF, NAN]),
    (beta(2.0, 3.0), [-0.1, 1.1, INF, -INF, NAN]),
    (beta(0.5, 0.5), [-0.1, 1.1, INF, -INF, NAN]),
    (beta_uniform(0.5, 2.0, 3.0), [-0.1, 1.1, INF, -INF, NAN]),
    (uniform(0.0, 1.0), [-0.1, 1.1, INF, -INF, NAN]),
    (piecewise_uniform((0.0, 1.0, 2.0), (0.5, 0.5)), [-0.1, 2.1, INF, -INF, NAN]),
    (truncated_normal(0.0, 1.0, -1.0, INF), [-1.1, INF, -INF, NAN]),
    (truncated_normal(0.0, 1.0, -INF, INF), [INF, -INF, NAN]),
    (bernoulli(0.5), [2, -1, 0.5, INF, NAN]),
    (binom(5, 0.5), [6, -1, 0.5, 10**400, -(10**400), INF, -INF, NAN]),
    (geometric(0.5), [-1, 0.5, -(10**400), INF, -INF, NAN]),
    (neg_binom(2.0, 0.5), [-1, 0.5, -(10**400), INF, -INF, NAN]),
    (poisson(2.0), [-1, 0.5, 1e15 + 0.5, -(10**400), INF, -INF, NAN]),
    (uniform_discrete(-2, 5), [-3, 6, 0.5, 10**400, INF, -INF, NAN]),
    (categorical([0.5, 0.5]), [-1, 2, 0.5, 10**400, INF, -INF, NAN]),
]


@pytest.mark.parametrize("law, xs", OUTSIDE, ids=lambda p: repr(p)[:40])
def test_outside_the_support(law, xs):
    assert_outside(law, xs)
    for x in xs if not isinstance(law, flat) else []:
        assert_gradients_outside(law, x)


def test_a_flat_density_has_no_slope_in_or_outside_its_support():
    for x in (-1.0, 0.0, 2.0):
        assert autograd.value_and_grad(flat(0.0).logpdf)(x) == (0.0 if x >= 0.0 else -INF, 0.0)


EDGES = [
    (exponential(3.0), 0.0, math.log(3.0)),
    (exponential(3.0), -0.0, math.log(3.0)),
    (half_normal(2.0), 0.0, 0.5 * math.log(2.0 / math.pi) - math.log(2.0)),
    (half_cauchy(2.0), 0.0, -math.log(math.pi)),
    (gamma(0.5, 2.0), 0.0, INF),
    (gamma(1.0, 2.0), 0.0, -math.log(2.0)),
    (gamma(1.5, 2.0), 0.0, -INF),
    (gamma(1e-3, 1.0), 5e-324, (1e-3 - 1.0) * math.log(5e-324) - math.lgamma(1e-3)),
    (beta(0.5, 2.0), 0.0, INF),
    (beta(1.0, 3.0), 0.0, math.log(3.0)),
    (beta(2.0, 3.0), 0.0, -INF),
    (beta(3.0, 0.5), 1.0, INF),
    (beta(3.0, 1.0), 1.0, math.log(3.0)),
    (beta(3.0, 2.0), 1.0, -INF),
    (beta(1.0, 1.0), 1.0, 0.0),
    (beta_uniform(0.25, 0.5, 2.0), 0.0, INF),
    (beta_uniform(0.25, 2.0, 2.0), 0.0, math.log(0.75)),
    (beta_uniform(0.25, 1.0, 3.0), 0.0, math.log(0.25 * 3.0 + 0.75)),
    (beta_uniform(0.0, 0.5, 0.5), 0.0, 0.0),
    (beta_uniform(1.0, 0.5, 2.0), 0.0, INF),
    (beta_uniform(1.0, 2.0, 2.0), 0.0, -INF),
    (uniform(2.0, 6.0), 2.0, -math.log(4.0)),
    (uniform(2.0, 6.0), 6, -math.log(4.0)),
    (uniform(2.0, 6.0), True, -INF),
    (piecewise_uniform((0.0, 1.0, 3.0), (0.5, 0.5)), 1.0, math.log(0.25)),
    (piecewise_uniform((0.0, 1.0, 3.0), (0.5, 0.5)), 3.0, math.log(0.25)),
    (piecewise_uniform((0.0, 1.0, 3.0), (0.0, 1.0)), 0.5, -INF),
    (normal(0.0, 5e-324), 1.0, -INF),
    (normal(-1e308, 1.0), 1e308, -INF),
    (cauchy(0.0, 1.0), 1e200, -math.log(math.pi) - 2.0 * math.log(1e200)),
    (half_cauchy(1.0), 1e200, math.log(2.0 / math.pi) - 2.0 * math.log(1e200)),
    (student_t(2.0), 1e200, -3.0 * math.log(1e200)),
    (
        student_t(4.0, 0.0, 1e-10),
        1e308,
        math.log(0.375) + math.log(1e10) - 5.0 * (math.log(1e308) + math.log(1e10) - math.log(2.0)),
    ),
    (von_mises(0.0, 0.0), 1.0, -math.log(2.0 * math.pi)),
    (von_mises(0.0, 1e12), 0.0, 0.5 * math.log(1e12 / (2.0 * math.pi))),
    (von_mises(0.0, 3.0), math.pi, -3.0 - math.log(2.0 * math.pi * float(scipy.special.i0(3.0)))),
    (bernoulli(True), True, 0.0),
    (bernoulli(True), False, -INF),
    (bernoulli(0), False, 0.0),
    (bernoulli(0), True, -INF),
    (bernoulli(0.25), np.True_, math.log(0.25)),
    (bernoulli(0.25), np.False_, math.log(0.75)),
    (bernoulli(0.25), 1, math.log(0.25)),
    (bernoulli(0.25), 0.0, math.log(0.75)),
    (binom(4, 0.0), 1, -INF),
    (binom(4, 1.0), 3, -INF),
    (binom(4, 0.5), 2.0, math.log(6 / 16)),
    (geometric(1.0), 0, 0.0),
    (geometric(1.0), 1, -INF),
    (neg_binom(3.0, 1.0), 0, 0.0),
    (neg_binom(3.0, 1.0), 1, -INF),
    (poisson(0), 0, 0.0),
    (poisson(0.0), 1, -INF),
    (poisson(2.0), np.int64(1), math.log(2.0) - 2.0),
    (poisson(2.0), np.float64(1.0), math.log(2.0) - 2.0),
    (poisson(2.0), True, math.log(2.0) - 2.0),
    (poisson(2.0), 10**400, -INF),
    (half_student_t(2.0), 0.0, math.log(2.0) - 1.5 * math.log(2.0)),
    (half_student_t(2.0), 1e200, math.log(2.0) - 3.0 * math.log(1e200)),
    (flat(), 1e308, 0.0),
    (flat(0.0), 0.0, 0.0),
    (flat(0.0, 4.0), 4, 0.0),
    (bernoulli(logit=800.0), True, 0.0),
    (bernoulli(logit=800.0), False, -800.0),
    (bernoulli(logit=-800.0), True, -800.0),
    (bernoulli(logit=-40.0), False, -math.exp(-40.0)),
    (binom(7, logit=800.0), 7, 0.0),
    (binom(7, logit=800.0), 6, math.log(7.0) - 800.0),
    (binom(7, logit=-800.0), 1, math.log(7.0) - 800.0),
    (poisson(log_rate=-800.0), 0, 0.0),
    (poisson(log_rate=-800.0), 2, -1600.0 - math.log(2.0)),
    (poisson(log_rate=800.0), 2, -INF),
    (neg_binom(mean=1e-300, dispersion=1e10), 1, math.log(1e-300)),
    (neg_binom(mean=1e300, dispersion=1.0), 0, -math.log(1e300)),
    (categorical([0.0, 1.0]), 0, -INF),
    (categorical(np.array([0.25, 0.75])), True, math.log(0.75)),
]


@pytest.mark.parametrize("law, x, expected", EDGES, ids=lambda p: repr(p)[:40])
def test_edges(law, x, expected):
    score = law.logpdf(x)
    assert type(score) is float
    assert score == pytest.approx(expected, rel=1e-13, abs=1e-14)
    if abs(x) < 1e300:
        (column,) = law.logpdf(np.array([x]))
        assert column == pytest.approx(expected, rel=1e-13, abs=1e-14)


def test_large_arguments_cancel_nothing():
    """Exact values, by integer arithmetic, where the difference of log gammas would lose all digits."""
    n, k = 10**15, 3
    exact = math.log(math.comb(n, k)) + k * math.log(1e-15) + (n - k) * math.log1p(-1e-15)
    assert binom(n, 1e-15).logpdf(k) == pytest.approx(exact, rel=1e-14)
    assert binom(n, 1e-15).logpdf(np.array([k]))[0] == pytest.approx(exact, rel=1e-14)

    r, p = 10**14, 1.0 - 1e-14
    exact = math.log(math.comb(r + k - 1, k)) + r * math.log(p) + k * math.log1p(-p)
    assert neg_binom(r, p).logpdf(k) == pytest.approx(exact, rel=1e-13)
    law = neg_binom(mean=1.0, dispersion=1e14)  # nearly Poisson; 1 - p would have two digits left
    assert law.logpdf(k) == pytest.approx(poisson(1.0).logpdf(k), abs=1e-12)
    many = binom(10**7, logit=0.1)
    p = 1.0 / (1.0 + math.exp(-0.1))
    assert many.logpdf(5_250_000) == pytest.approx(binom(10**7, p).logpdf(5_250_000), rel=1e-12)
    assert many.logpdf(np.array([5_250_000]))[0] == pytest.approx(many.logpdf(5_250_000), rel=1e-12)
    large = poisson(log_rate=math.log(2e6))
    assert large.logpdf(2_001_000) == pytest.approx(poisson(2e6).logpdf(2_001_000), rel=1e-10)
    assert student_t(1e15).logpdf(1.5) == pytest.approx(normal(0, 1).logpdf(1.5), rel=1e-14)


def test_narrow_and_far_truncation():
    """A flat density: log(1 / width), up to the slope."""
    for low in (0.0, 3.0, 35.0, -35.0, 1e4):
        law = truncated_normal(0.0, 1.0, low, low + 1e-9)
        middle = low + 0.5e-9
        width = law.high - law.low
        assert law.logpdf(middle) == pytest.approx(-math.log(width), rel=1e-6)
        assert all(law.support.contains(law.sample(np.random.default_rng(s))) for s in range(20))


ON_THE_EDGE = [
    gamma(1e-4, 1.0),
    inv_gamma(1e-4, 1.0),
    beta(1e-4, 1e-4),
    beta_uniform(1.0, 1e-4, 1e-4),
    log_normal(0.0, 1e4),
    student_t(1e-3),
    half_student_t(1e-3),
]


@pytest.mark.parametrize("law", ON_THE_EDGE, ids=repr)
def test_draws_that_round_to_the_boundary_stay_in_the_support(law):
    rng = np.random.default_rng(5)
    for _ in range(200):
        x = law.sample(rng)
        assert law.support.contains(x) and math.isfinite(law.logpdf(x))


@pytest.mark.parametrize("mu", [-9.8, 9.5, 1e3])
@pytest.mark.parametrize("kappa", [2.0, 4e6, 1e12])
def test_angles_about_any_mean_lie_on_the_circle(mu, kappa):
    law, rng = von_mises(mu, kappa), np.random.default_rng(1)
    turned = math.atan2(math.sin(mu), math.cos(mu))
    draws = [law.sample(rng) for _ in range(50)]
    draws += sample_columns(von_mises, rng, 50, (mu, kappa)).tolist()
    draws += sample_columns(von_mises, rng, 50, (np.full(50, mu), kappa)).tolist()
    for x in draws:
        assert -math.pi <= x <= math.pi
        assert law.logpdf(x) == pytest.approx(von_mises(turned, kappa).logpdf(x), rel=1e-5)
        assert 2.0 * kappa * (1.0 - math.cos(x - turned)) < 30.0 + 4.0 * kappa * (kappa < 10.0)


def test_a_geometric_draw_beyond_all_floats_is_an_error():
    with pytest.raises(ParameterError, match="its draws are beyond all floats"):
        geometric(1e-310).sample(np.random.default_rng(1))


def test_parameters_are_differentiated_at_the_ends_of_their_range():
    slope = autograd.grad(lambda t: beta_uniform(t, 2.0, 5.0).logpdf(0.1))
    density = st.beta(2.0, 5.0).pdf(0.1)
    assert slope(0.0) == pytest.approx(density - 1.0, rel=1e-12)
    assert slope(1.0) == pytest.approx(1.0 - 1.0 / density, rel=1e-12)
    assert autograd.grad(lambda p: bernoulli(p).logpdf(True))(1.0) == 1.0
    assert autograd.grad(lambda p: binom(4, p).logpdf(0))(0.0) == -4.0
    assert autograd.grad(lambda rate: poisson(rate).logpdf(0))(0.0) == -1.0


def test_vectors_of_parameters_are_differentiated():
    def from_list(theta):
        p = 1.0 / (1.0 + anp.exp(-theta))
        return categorical([p, 1.0 - p]).logpdf(0) + 2.0 * categorical(anp.array([p, 1.0 - p])).logpdf(1)

    p = 1.0 / (1.0 + math.exp(-0.3))
    assert autograd.grad(from_list)(0.3) == pytest.approx((1.0 - p) - 2.0 * p, rel=1e-12)

    probs = np.array([0.25, 0.75])
    law = lambda bounds, probs: piecewise_uniform(bounds, probs).logpdf(np.array([0.5, 2.0]))
    jacobian = autograd.jacobian(lambda bounds: law(bounds, probs))(np.array([0.0, 1.0, 3.0]))
    assert np.allclose(jacobian, [[1.0, -1.0, 0.0], [0.0, 0.5, -0.5]])
    assert np.allclose(
        autograd.jacobian(lambda p: law((0.0, 1.0, 3.0), p))(probs), np.diag([4.0, 1.0 / 0.75])
    )


def test_second_derivatives():
    hessian = autograd.hessian(
        lambda v: gamma(v[0], v[1]).logpdf(2.0) + student_t(v[0], 0.0, v[1]).logpdf(1.0)
    )
    v = np.array([2.5, 0.8])
    step = 1e-5
    slope = autograd.grad(lambda v: gamma(v[0], v[1]).logpdf(2.0) + student_t(v[0], 0.0, v[1]).logpdf(1.0))
    numeric = [(slope(v + e) - slope(v - e)) / (2.0 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(hessian(v), numeric, rtol=1e-7)
    curve = autograd.grad(autograd.grad(lambda k: von_mises(0.0, k).logpdf(0.5)))
    first = autograd.grad(lambda k: von_mises(0.0, k).logpdf(0.5))
    for kappa in (0.0, 1.3):
        assert curve(kappa) == pytest.approx(
            (first(kappa + 1e-5) - first(max(kappa - 1e-5, 0.0))) / (1e-5 + min(kappa, 1e-5)), rel=1e-3
        )


def test_long_vectors_of_probabilities():
    probs = np.arange(200.0) / np.arange(200.0).sum()
    law = categorical(probs)
    assert law == categorical(list(probs)) or isinstance(law.probs, np.ndarray)
    assert law.logpdf(0) == -INF and law.logpdf(199) == pytest.approx(math.log(probs[199]))
    rng = np.random.default_rng(6)
    samples = np.array([law.sample(rng) for _ in range(4000)])
    mean, variance = np.arange(200) @ probs, (np.arange(200) ** 2) @ probs - (np.arange(200) @ probs) ** 2
    assert abs(samples.mean() - mean) < 4.5 * math.sqrt(variance / 4000)
    assert type(law.sample(rng)) is int


def test_probabilities_that_fall_short_of_one_are_drawn_to_the_last_possible():
    class Highest:
        def random(self):
            return math.nextafter(1.0, 0.0)

    assert categorical([0.5, 0.5 - 1e-9, 0.0]).sample(Highest()) == 1
    long = np.zeros(100)
    long[:2] = 0.5, 0.5 - 1e-9
    assert categorical(long).sample(Highest()) == 1


def test_large_ranges_of_integers():
    law = uniform_discrete(-(10**18), 10**18)
    rng = np.random.default_rng(7)
    samples = np.array([law.sample(rng) for _ in range(2000)], dtype=float)
    assert abs(samples.mean()) < 4.5 * 1e18 / math.sqrt(3 * 2000)
    assert law.support.values is None
    assert geometric(1e-300).sample(rng) > 10**290  # Python integers have no bound


def test_lists_are_scored_as_arrays():
    assert np.array_equal(normal(0, 1).logpdf([0.0, 1.0]), normal(0, 1).logpdf(np.array([0.0, 1.0])))
    assert normal(0, 1).logpdf([]).shape == (0,)


def test_an_impossible_category_is_never_drawn():
    class Lowest:
        def random(self):
            return 0.0

    assert categorical([0.0, 1.0]).sample(Lowest()) == 1
    long = np.zeros(100)
    long[7] = 1.0
    assert categorical(long).sample(Lowest()) == 7


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint8, np.int16, np.uint16, np.bool_])
@pytest.mark.parametrize(
    "law",
    [
        normal(0.3, 1.7), student_t(3.0, 0.1, 1.2), log_normal(0.1, 0.7), gamma(2.5, 1.3), poisson(2.2),
        binom(1000, 0.3), bernoulli(0.3), uniform_discrete(-3, 5), iid(normal(0.3, 1.7), 3),
        iid(binom(1000, 0.3), 3), product(normal, np.array([0.1, 0.2, 0.3]), 1.7),
        product(binom, 1000, np.array([0.1, 0.2, 0.3])),
    ],
)  # fmt: skip
def test_short_numbers_are_scored_as_long_ones(law, dtype):
    x = np.array([0, 1, 1])
    np.testing.assert_allclose(law.logpdf(x.astype(dtype)), law.logpdf(x), rtol=1e-13)


@pytest.mark.parametrize(
    "of",
    [
        lambda one: student_t(one, 0.1, 1.2), lambda one: gamma(1e8, one), lambda one: normal(one, 1.0),
        lambda one: poisson(one), lambda one: log_normal(one, one), lambda one: von_mises(one, one),
    ],
)  # fmt: skip
@pytest.mark.parametrize("x", [np.array([0.5, 2.0]), np.array([1, 2]), np.array([True, True])])
def test_truth_values_as_parameters_are_numbers(of, x):
    np.testing.assert_allclose(of(True).logpdf(x), [of(1.0).logpdf(float(v)) for v in x], rtol=1e-12)
    np.testing.assert_allclose(of(np.True_).logpdf(x), of(1.0).logpdf(x.astype(float)), rtol=1e-12)
