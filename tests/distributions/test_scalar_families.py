"""Every family of one number in one table: densities, samplers, supports, derivatives, edges, bad input."""

from __future__ import annotations

import itertools
import math

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
    gamma,
    geometric,
    half_cauchy,
    half_normal,
    half_student_t,
    inv_gamma,
    laplace,
    log_normal,
    neg_binom,
    normal,
    piecewise_uniform,
    poisson,
    student_t,
    truncated_normal,
    uniform,
    uniform_discrete,
    von_mises,
)
from tests.distributions.checks import (
    Case,
    assert_chart,
    assert_elementwise,
    assert_gradients,
    assert_log_densities,
    assert_normalised,
    assert_sampler,
    assert_value_semantics,
)

INF, NAN = math.inf, math.nan
LINE = (-1e3, -30.0, -2.5, -1e-9, 0.0, 0.3, 1.0, 4.0, 77.0, 1e4)
RAY = (1e-12, 1e-3, 0.3, 0.999, 1.0, 2.5, 40.0, 900.0)
UNIT = (1e-12, 1e-3, 0.2, 0.5, 0.77, 0.9999)
COUNTS = (0, 1, 2, 3, 7, 20, 150)


class Laplace:
    """scipy's log density is the logarithm of its density, and underflows."""

    def __init__(self, loc, scale):
        self.loc, self.law, self.tail = loc, st.laplace(loc, scale), st.expon(scale=scale)
        self.cdf, self.stats = self.law.cdf, self.law.stats

    def logpdf(self, x):
        return self.tail.logpdf(abs(x - self.loc)) - math.log(2.0)


class BetaUniform:
    def __init__(self, theta, a, b):
        self.theta, self.beta = theta, st.beta(a, b)

    def logpdf(self, x):
        with np.errstate(divide="ignore"):
            return np.logaddexp(np.log(self.theta) + self.beta.logpdf(x), np.log1p(-self.theta))

    def cdf(self, x):
        return self.theta * self.beta.cdf(x) + (1.0 - self.theta) * x


class VonMises:
    def __init__(self, mu, kappa):
        self.law = st.vonmises(kappa, loc=mu)
        self.logpdf = self.law.logpdf

    def cdf(self, x):
        return self.law.cdf(x) - self.law.cdf(-math.pi)


class HalfT:
    def __init__(self, df, scale):
        self.law = st.t(df, scale=scale)

    def logpdf(self, x):
        return self.law.logpdf(x) + math.log(2.0)

    def cdf(self, x):
        return 1.0 - 2.0 * self.law.sf(x)


def truncnorm(mean, sd, low, high):
    return st.truncnorm((low - mean) / sd, (high - mean) / sd, loc=mean, scale=sd)


def table():
    for mean, sd in [(0, 1), (-3.0, 0.01), (2.5, 30.0), (1e5, 1e-3)]:
        yield Case(
            normal(mean, sd), st.norm(mean, sd), [mean + sd * z for z in (-40.0, -3, -0.5, 0.0, 1.7, 9, 200)]
        )
    for loc, scale in [(0.0, 1.0), (-3.0, 0.01), (2.5, 30.0)]:
        yield Case(laplace(loc, scale), Laplace(loc, scale), LINE)
        yield Case(cauchy(loc, scale), st.cauchy(loc, scale), LINE)
    for df, loc, scale in [
        (0.3, 0.0, 1.0),
        (1.0, 2.0, 0.1),
        (4.5, -1.0, 3.0),
        (80.0, 0.5, 2.0),
        (1e7, 0.0, 1.0),
    ]:
        yield Case(student_t(df, loc, scale), st.t(df, loc, scale), LINE[1:-1])
    for mu, kappa in [(0.0, 0.5), (1.0, 3.0), (-2.5, 40.0), (4.0, 1.3), (0.3, 1e4)]:
        yield Case(von_mises(mu, kappa), VonMises(mu, kappa), np.linspace(-3.1, 3.1, 9))

    for rate in (1e-3, 1.0, 7.5, 400.0):
        yield Case(exponential(rate), st.expon(scale=1.0 / rate), RAY)
    for shape, scale in [(0.05, 1.0), (1.0, 3.0), (2.5, 0.1), (30.0, 20.0), (900.0, 1.0)]:
        terms = 10.0 * shape
        yield Case(gamma(shape, scale), st.gamma(shape, scale=scale), RAY, terms)
        yield Case(inv_gamma(shape, scale), st.invgamma(shape, scale=scale), RAY, terms)
    for mu, sigma in [(0.0, 1.0), (-2.0, 0.1), (3.0, 2.0)]:
        yield Case(log_normal(mu, sigma), st.lognorm(sigma, scale=math.exp(mu)), RAY)
    for scale in (0.1, 1.0, 25.0):
        yield Case(half_normal(scale), st.halfnorm(scale=scale), RAY)
        yield Case(half_cauchy(scale), st.halfcauchy(scale=scale), RAY)

    for df, scale in [(0.3, 1.0), (1.0, 0.1), (4.5, 3.0), (80.0, 2.0), (1e7, 1.0)]:
        yield Case(half_student_t(df, scale), HalfT(df, scale), RAY)

    for a, b in [(2, 2), (0.1, 0.3), (1.0, 5.0), (60.0, 2.5), (400.0, 700.0)]:
        yield Case(beta(a, b), st.beta(a, b), UNIT, terms=a + b)
    for theta, a, b in [(0.5, 2.0, 2.0), (0.9, 0.4, 3.0), (0.0, 2.0, 2.0), (1.0, 2.0, 5.0)]:
        free = ("theta", "a", "b") if 0.0 < theta < 1.0 else ("a", "b")  # differences would leave [0, 1]
        yield Case(beta_uniform(theta, a, b), BetaUniform(theta, a, b), UNIT, differentiable=free)
    for low, high in [(0, 1), (-3.0, 5.5), (1e3, 1e3 + 0.01)]:
        yield Case(uniform(low, high), st.uniform(low, high - low), [low + (high - low) * t for t in UNIT])
    for bounds, probs in [((0.0, 1.0, 3.0), (0.25, 0.75)), ((-2.0, -1.5, 0.0, 4.0), (0.5, 0.1, 0.4))]:
        law = st.rv_histogram((np.array(probs), np.array(bounds)), density=False)
        yield Case(
            piecewise_uniform(bounds, probs),
            law,
            (bounds[0], bounds[1], 0.3, -0.0, 2.9 - 1e-9),
            differentiable=("bounds",),
        )
    for mean, sd, low, high in [
        (0.0, 1.0, -1.0, 2.0),
        (1.0, 2.0, -INF, 0.5),
        (1.0, 2.0, 0.5, INF),
        (0.0, 1.0, -INF, INF),
        (0.0, 0.3, 1.5, 2.5),
        (5.0, 1.0, -2.0, -1.0),
        (0.0, 2.0, -0.25, 0.5),
        (0.0, 1.0, -0.49, 0.5),
        (0.0, 1.0, 20.0, 21.0),
    ]:
        a, b = (
            max(low, mean - 4.0 * sd if high > mean else low),
            min(high, mean + 4.0 * sd if low < mean else high),
        )
        a, b = (a, b) if math.isfinite(a) else (b - 2.0 * sd, b)
        a, b = (a, b) if math.isfinite(b) else (a, a + 2.0 * sd)
        xs = [a + (b - a) * t for t in (0.0, 0.01, 0.3, 0.5, 0.8, 1.0)]
        ends = tuple(name for name, end in (("low", low), ("high", high)) if math.isfinite(end))
        law = truncated_normal(mean, sd, low, high)
        terms = max(1.0, 0.5 * (min(abs(low - mean), abs(high - mean)) / sd) ** 2) if low * high > 0 else 1.0
        yield Case(
            law,
            truncnorm(mean, sd, low, high),
            xs,
            terms if math.isfinite(terms) else 1.0,
            ("mean", "sd", *ends),
        )

    for p in (1e-9, 0.3, 0.999):
        yield Case(
            bernoulli(p), st.bernoulli(p), (False, True), differentiable=("p",) if 0.1 < p < 0.9 else ()
        )
    for n, p in [(0, 0.3), (1, 0.5), (10, 0.2), (300, 0.7), (5, 0.0), (5, 1.0)]:
        yield Case(
            binom(n, p),
            st.binom(n, p),
            [k for k in COUNTS if k <= n] if 0 < p < 1 else [int(n * p)],
            max(1.0, n),
            ("p",) if 0.0 < p < 1.0 else (),
        )
    for logit in (-20.0, -0.7, 0.0, 2.5):
        p = scipy.special.expit(logit)
        yield Case(bernoulli(logit=logit), st.bernoulli(p), (False, True))
        for n in (0, 1, 10, 300):
            xs = [k for k in COUNTS if k <= n]
            yield Case(binom(n, logit=logit), st.binom(n, p), xs, 30.0 * n, ("logit",))
    for p in (0.01, 0.5, 0.97):
        yield Case(geometric(p), st.geom(p, loc=-1), COUNTS)
    for r, p in [(0.2, 0.3), (1.0, 0.5), (7.5, 0.9), (40.0, 0.4), (1000.0, 0.99)]:
        yield Case(neg_binom(r, p), st.nbinom(r, p), COUNTS, 10.0 * r + 100.0)
    for rate in (1e-3, 0.7, 3, 45.0, 1e3):
        yield Case(poisson(rate), st.poisson(rate), COUNTS, 10.0 * rate)
    for log_rate in (-7.0, 0.3, 4.0, 6.9):
        rate = math.exp(log_rate)
        yield Case(poisson(log_rate=log_rate), st.poisson(rate), COUNTS, 10.0 * rate + 100.0)
    for mean, dispersion in [(0.4, 0.2), (1.0, 1.0), (0.8, 7.5), (60.0, 40.0), (5.0, 1000.0)]:
        law = st.nbinom(dispersion, dispersion / (dispersion + mean))
        terms = 100.0 * dispersion + 100.0
        yield Case(neg_binom(mean=mean, dispersion=dispersion), law, COUNTS, terms)
    for low, high in [(0, 0), (0, 1), (-4, 9), (0, 10**7)]:
        yield Case(
            uniform_discrete(low, high),
            st.randint(low, high + 1),
            [low, (low + high) // 2, high],
            differentiable=(),
        )
    for probs in [(1.0,), (0.2, 0.5, 0.3), (0.0, 0.4, 0.0, 0.6, 0.0)]:
        law = st.rv_discrete(values=(range(len(probs)), probs))
        yield Case(categorical(probs), law, [i for i, p in enumerate(probs) if p > 0.0], differentiable=())


CASES = list(table())


def each(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: repr(case.law))


def family(law):
    return type(law).__name__


@each(CASES)
def test_log_density_agrees_with_scipy(case):
    assert_log_densities(case)


@each(CASES)
def test_samples_follow_the_law(case):
    assert_sampler(case)


@each(CASES)
def test_derivatives(case):
    assert_gradients(case)


def neighbours():
    """Cases of one family, two at a time, with parameters of equal lengths."""
    for _, group in itertools.groupby(
        sorted(CASES, key=lambda c: family(c.law)), key=lambda c: family(c.law)
    ):
        for first, second in itertools.pairwise(group):
            shapes = [[np.shape(getattr(c.law, name)) for name in c.law.parameters] for c in (first, second)]
            if shapes[0] == shapes[1]:
                yield first, second


@pytest.mark.parametrize("first, second", list(neighbours()), ids=lambda case: repr(case.law))
def test_elementwise_broadcasts_over_parameters(first, second):
    assert_elementwise(first.law, second.law, [*first.xs, *second.xs, -1e3, 1e9])


@pytest.mark.parametrize(
    "vectors, xs",
    [
        (([[0.2, 0.8], [1.0, 0.0]],), [0, 1, 2, -1]),
        (([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]],), [0, 1, 2, 3]),
    ],
)
def test_categorical_broadcasts_over_vectors(vectors, xs):
    (probs,) = vectors
    scores = categorical.elementwise(np.array(xs)[:, None], np.array(probs))
    assert np.array_equal(scores, [[categorical(p).logpdf(x) for p in probs] for x in xs])


def test_piecewise_uniform_broadcasts_over_vectors():
    bounds, probs = [[0.0, 1.0, 3.0], [-1.0, 1.0, 2.0]], [[0.5, 0.5], [0.0, 1.0]]
    xs = np.array([-1.0, -0.5, 0.0, 1.0, 1.5, 2.0, 3.0, 3.1, NAN])
    scores = piecewise_uniform.elementwise(xs[:, None], np.array(bounds), np.array(probs))
    laws = [piecewise_uniform(b, p) for b, p in zip(bounds, probs, strict=True)]
    np.testing.assert_allclose(scores, [[law.logpdf(x) for law in laws] for x in xs], rtol=1e-14)


FIRST = list({family(case.law): case for case in reversed(CASES)}.values())


@each(FIRST)
def test_chart_of_the_support(case):
    if not case.law.support.discrete:
        assert_chart(case.law.support)


@each(FIRST)
def test_instances_are_values(case):
    assert_value_semantics(case.law, cauchy(17.0, 17.0))
    assert eval(repr(case.law)) == case.law
    assert len(FIRST) == 28


NORMALISED = [
    (normal(1.0, 0.7), -20.0, 20.0, [1.0]),
    (laplace(0.5, 2.0), -90.0, 90.0, [0.5]),
    (cauchy(0.0, 1e-3), -1e5, 1e5, [-10.0, -0.1, 0.0, 0.1, 10.0]),
    (student_t(5.0, 1.0, 0.5), -1e3, 1e3, [-9.0, 1.0, 9.0]),
    (von_mises(2.0, 3.0), -math.pi, math.pi, []),
    (von_mises(0.3, 0.0), -math.pi, math.pi, []),
    (exponential(0.4), 0.0, 100.0, [1.0]),
    (gamma(3.5, 0.5), 0.0, 60.0, [2.0]),
    (inv_gamma(4.0, 2.0), 0.0, 1e3, [0.1, 1.0, 10.0]),
    (log_normal(0.2, 0.5), 0.0, 60.0, [1.0]),
    (half_normal(2.0), 0.0, 40.0, [2.0]),
    (half_cauchy(1e-3), 0.0, 1e5, [1e-3, 0.1, 10.0]),
    (half_student_t(4.0, 0.5), 0.0, 1e4, [0.1, 1.0, 10.0, 100.0]),
    (beta(2.5, 3.0), 0.0, 1.0, []),
    (beta_uniform(0.3, 5.0, 2.0), 0.0, 1.0, []),
    (uniform(-1.0, 4.0), -1.0, 4.0, []),
    (piecewise_uniform((0.0, 1.0, 5.0), (0.3, 0.7)), 0.0, 5.0, [1.0]),
    (truncated_normal(0.0, 1.0, 6.0, 8.0), 6.0, 8.0, []),
    (truncated_normal(0.0, 1.0, 30.0, 30.01), 30.0, 30.01, []),
    (truncated_normal(3.0, 2.0, -INF, 3.5), -40.0, 3.5, [0.0]),
    (bernoulli(0.3), 0, 1, []),
    (binom(60, 0.37), 0, 60, []),
    (geometric(0.2), 0, 400, []),
    (neg_binom(2.5, 0.3), 0, 600, []),
    (poisson(30.0), 0, 200, []),
    (bernoulli(logit=-1.3), 0, 1, []),
    (binom(60, logit=0.4), 0, 60, []),
    (poisson(log_rate=3.3), 0, 200, []),
    (neg_binom(mean=6.0, dispersion=2.5), 0, 600, []),
    (uniform_discrete(-3, 8), -3, 8, []),
    (categorical([0.2, 0.0, 0.8]), 0, 2, []),
]


@pytest.mark.parametrize("law, low, high, points", NORMALISED, ids=lambda p: repr(p)[:40])
def test_density_is_normalised(law, low, high, points):
    assert_normalised(law, low, high, points)


@each(CASES)
def test_a_family_knows_the_measure_of_its_supports(case):
    for law in (case.law, 3 - 2 * case.law):
        one, other = law._measure, law.support
        assert (one.discrete, one.dim, one.shape) == (other.discrete, other.dim, other.shape)
