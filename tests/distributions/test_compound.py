"""mixture_of_normals, mixture, product and iid."""

from __future__ import annotations

import math
import pickle
import re

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.special
import scipy.stats

from gendsl import gen, select
from gendsl.distributions import (
    Distribution,
    bernoulli,
    beta,
    binom,
    categorical,
    dirichlet,
    exponential,
    gamma,
    geometric,
    iid,
    inv_gamma,
    laplace,
    mixture,
    mixture_of_normals,
    multinomial,
    mvnormal,
    normal,
    poisson,
    product,
    student_t,
    truncated_normal,
    uniform,
    uniform_discrete,
)
from gendsl.distributions.base import ScalarFamily, measured
from gendsl.errors import NotADistributionError, ParameterError, ValueTypeError
from gendsl.supports import (
    Boolean,
    DiscreteProduct,
    FiniteSet,
    Integers,
    Interval,
    Positive,
    Real,
    RealArray,
    Repeated,
    Stacked,
)
from tests.distributions.array_checks import (
    assert_density_ratio,
    assert_mean,
    assert_parameter_gradient,
    assert_stack,
    assert_support,
    assert_value_gradient,
)
from tests.distributions.checks import assert_value_semantics, draws, label

NAN, INF = math.nan, math.inf
W, M, V = [0.2, 0.3, 0.5], [-1.0, 0.5, 4.0], [1.0, 0.25, 9.0]
three_normals = mixture_of_normals(W, M, V)


class Coin(Distribution):
    """A user's class whose logpdf takes one value at a time."""

    support = Boolean()

    def sample(self, rng):
        return bool(rng.random() < 0.25)

    def logpdf(self, x):
        return math.log(0.25) if x else math.log(0.75)


class Suit(Distribution):
    """A user's class whose values are strings."""

    support = FiniteSet(("red", "black"))

    def sample(self, rng):
        return "red" if rng.random() < 0.5 else "black"

    def logpdf(self, x):
        return math.log(0.5)


# --- mixture_of_normals ------------------------------------------------------------------------


def by_scipy(x, w=W, m=M, v=V):
    terms = scipy.stats.norm(m, np.sqrt(v)).logpdf(np.asarray(x)[..., None])
    return scipy.special.logsumexp(terms, b=w, axis=-1)


@pytest.mark.parametrize("x", [0.3, -7.0, 2, 40.0, -300.0, 1e3, 1e10, True, np.float64(0.3), np.int64(2)])
def test_mixture_of_normals_agrees_with_scipy(x):
    for law in (
        three_normals,
        mixture_of_normals(np.array(W), np.array(M), np.array(V)),
        mixture_of_normals((0.2, 0.3, 0.5), M, V),
    ):
        score = law.logpdf(x)
        assert type(score) is float
        assert score == pytest.approx(by_scipy(x), rel=1e-12)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (0,), ()])
def test_mixture_of_normals_over_arrays(shape):
    x = np.random.default_rng(0).normal(0.0, 30.0, size=shape)
    score = three_normals.logpdf(x)
    assert np.shape(score) == shape
    np.testing.assert_allclose(score, by_scipy(x), rtol=1e-12)


def test_mixture_of_normals_far_away_and_at_the_edges():
    far = -0.5 * (1e5 - 4.0) ** 2 / 9.0 + math.log(0.5) - 0.5 * math.log(2 * math.pi * 9.0)
    assert three_normals.logpdf(1e5) == pytest.approx(far, rel=1e-12)
    x = np.array([1e5, 0.0, INF, -INF, NAN, 1e200])
    expected = [far, by_scipy(0.0), -INF, -INF, -INF, -INF]
    np.testing.assert_allclose(three_normals.logpdf(x), expected, rtol=1e-12)
    np.testing.assert_allclose([three_normals.logpdf(float(one)) for one in x], expected, rtol=1e-12)
    assert three_normals.logpdf(10**400) == -INF


@pytest.mark.parametrize("x", [0.3, 1e4, -1e4])
def test_mixture_of_normals_with_a_weight_of_zero(x):
    law = mixture_of_normals([0.0, 1.0], [1e4, 0.0], [1.0, 4.0])
    expected = normal(0.0, 2.0).logpdf(x)
    assert law.logpdf(x) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(law.logpdf(np.array([x, x])), [expected, expected], rtol=1e-12)


def test_mixture_of_normals_with_one_component():
    assert mixture_of_normals([1.0], [2.0], [9.0]).logpdf(1.0) == pytest.approx(normal(2.0, 3.0).logpdf(1.0))


def test_mixture_of_normals_draws():
    x = draws(three_normals, 5000)
    assert type(three_normals.sample(np.random.default_rng(0))) is float
    assert_mean(x, np.dot(W, M))
    assert_mean(x**2, np.dot(W, np.square(M) + V))
    assert_mean(x < 1.0, np.dot(W, scipy.stats.norm(M, np.sqrt(V)).cdf(1.0)))
    assert_density_ratio(three_normals, mixture_of_normals([0.2, 0.3, 0.5], M, np.multiply(V, 0.9)))
    assert (np.abs(draws(mixture_of_normals([0.0, 1.0, 0.0], [100.0, 0.0, 100.0], [1.0] * 3), 50)) < 20).all()


@pytest.mark.parametrize("x", [0.3, -30.0, np.array([0.3, -200.0, 4.0])])
def test_mixture_of_normals_gradients(x):
    total = lambda law: anp.sum(law.logpdf(x))
    for make in (
        lambda t: mixture_of_normals(anp.exp(t) / anp.sum(anp.exp(t)), M, V),
        lambda t: mixture_of_normals(W, t, V),
        lambda t: mixture_of_normals(W, M, anp.exp(t)),
        lambda t: mixture_of_normals(W, [t[0], 0.5, t[1]], V),
    ):
        check_total(lambda t, make=make: total(make(t)), [0.3, -0.4, 0.8])
    check_total(lambda x: anp.sum(three_normals.logpdf(x)), x)


def check_total(score, theta):
    theta = np.array(theta, dtype=float)
    gradient = autograd.grad(score)(theta)
    step = 1e-5
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += step
        down[i] -= step
        assert gradient[i] == pytest.approx((score(up) - score(down)) / (2 * step), rel=1e-5, abs=1e-7)


def test_gradient_at_a_weight_of_zero_is_finite():
    gradient = autograd.grad(lambda w: mixture_of_normals([w, 1.0], [1.0, 0.0], [1.0, 1.0]).logpdf(0.5))(0.0)
    assert gradient == pytest.approx(1.0)
    far = autograd.grad(lambda w: mixture_of_normals([w, 1.0], [100.0, 0.0], [1.0, 1.0]).logpdf(100.0))(0.0)
    assert math.isfinite(far)


def test_mixture_of_normals_elementwise_broadcasts_parameters():
    w = np.array([[0.5, 0.5], [0.1, 0.9]])
    m, v = np.array([[0.0, 1.0], [2.0, -1.0]]), np.array([1.0, 4.0])
    x = np.array([0.3, -2.0])
    expected = [mixture_of_normals(w[i], m[i], v).logpdf(float(x[i])) for i in range(2)]
    np.testing.assert_allclose(mixture_of_normals.elementwise(x, w, m, v), expected, rtol=1e-12)


# --- mixture -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law, x",
    [
        (mixture([0.3, 0.7], [normal(0.0, 1.0), normal(3.0, 2.0)]), [0.5, -40.0, 1e3]),
        (mixture([0.3, 0.7], [exponential(1.0), uniform(-2.0, 1.0)]), [0.5, -1.0, 30.0]),
        (mixture([0.3, 0.7], [poisson(3.0), uniform_discrete(-2, 4)]), [0, -1, 4, 9]),
        (mixture([0.0, 1.0], [normal(0.0, 1.0), normal(3.0, 2.0)]), [0.5, -40.0]),
    ],
)
def test_mixture_scores(law, x):
    expected = [
        scipy.special.logsumexp([d.logpdf(one) for d in law.distributions], b=law.weights) for one in x
    ]
    np.testing.assert_allclose([law.logpdf(one) for one in x], expected, rtol=1e-12)
    np.testing.assert_allclose(law.logpdf(np.array(x)), expected, rtol=1e-12)
    assert type(law.logpdf(x[0])) is float


@pytest.mark.parametrize(
    "laws, support, value",
    [
        ([normal(0, 1), normal(2, 1)], Real(), float),
        ([exponential(1.0), exponential(2.0)], Interval(0.0, INF), float),
        ([gamma(1.0, 2.0), gamma(2.0, 2.0)], Positive(), float),
        ([exponential(1.0), uniform(-1.0, 2.0)], Interval(-1.0, INF), float),
        ([uniform(0.0, 1.0), uniform(2.0, 3.0)], Interval(0.0, 3.0), float),
        ([normal(0, 1), beta(1, 2)], Real(), float),
        ([bernoulli(0.2), bernoulli(0.4)], Boolean(), bool),
        ([bernoulli(0.2), bernoulli(0.3) + 1], Integers(0, 2), int),
        ([bernoulli(0.2), poisson(1.0)], Integers(0, INF), int),
        ([3 - 2 * poisson(1.0), uniform_discrete(0, 5)], Integers(-INF, 5), int),
        ([mvnormal([0.0, 1.0], np.eye(2)), mvnormal([3.0, 1.0], np.eye(2))], RealArray((2,)), np.ndarray),
        ([dirichlet([1, 2]), dirichlet([3, 1])], dirichlet([1, 2]).support, np.ndarray),
        ([iid(normal(0, 1), 2), product(normal(3, 1), normal(-3, 1))], Repeated(Real(), 2), np.ndarray),
    ],
)
def test_mixture_support(laws, support, value):
    law = mixture([0.5, 0.5], laws)
    assert law.support == support
    for x in draws_list(law, 20):
        assert type(x) is value and support.contains(x) and math.isfinite(law.logpdf(x))


def draws_list(law, count):
    rng = np.random.default_rng(4)
    return [law.sample(rng) for _ in range(count)]


def test_mixture_edges():
    law = mixture([0.5, 0.5], [uniform(0.0, 1.0), uniform(2.0, 3.0)])
    assert law.logpdf(1.5) == law.logpdf(NAN) == law.logpdf(INF) == -INF
    np.testing.assert_array_equal(law.logpdf(np.array([1.5, NAN, 0.5])), [-INF, -INF, math.log(0.5)])
    assert mixture([0.5, 0.5], [beta(0.5, 1.0), normal(0.0, 1.0)]).logpdf(0.0) == INF
    assert mixture([0.5, 0.5], [poisson(1.0), geometric(0.2)]).logpdf(0.5) == -INF


def test_mixture_draws():
    law = mixture([0.3, 0.7], [exponential(1.0), uniform(-2.0, 1.0)])
    x = draws(law, 4000)
    assert_mean(x, 0.3 - 0.7 * 0.5)
    assert_mean(x < 0.0, 0.7 * 2.0 / 3.0)


def test_mixture_of_vectors_scores_stacks():
    law = mixture([0.5, 0.5], [mvnormal([0.0, 1.0], np.eye(2)), mvnormal([3.0, 1.0], 2 * np.eye(2))])
    assert_stack(law)
    assert_value_gradient(law)
    assert_support(law)


def test_mixture_of_a_users_class():
    law = mixture([0.5, 0.5], [Coin(), bernoulli(0.5)])
    np.testing.assert_allclose(np.exp(law.logpdf(np.array([True, False, True]))), [0.375, 0.625, 0.375])


def test_mixture_gradients():
    check_total(mixture([0.3, 0.7], [normal(0.0, 1.0), normal(3.0, 2.0)]).logpdf, 0.4)
    check_total(lambda t: mixture([t, 1.0 - t], [normal(t, 1.0), normal(3.0, 2.0)]).logpdf(0.4), 0.4)


# --- product -----------------------------------------------------------------------------------


def test_product_of_continuous_scalars():
    law = product(normal(0.0, 1.0), exponential(2.0), beta(2.0, 3.0))
    assert law == product([normal(0.0, 1.0), exponential(2.0), beta(2.0, 3.0)])
    x = np.array([0.3, 1.2, 0.4])
    expected = normal(0.0, 1.0).logpdf(0.3) + exponential(2.0).logpdf(1.2) + beta(2.0, 3.0).logpdf(0.4)
    assert law.logpdf(x) == law.logpdf([0.3, 1.2, 0.4]) == pytest.approx(expected, rel=1e-13)
    assert law.support == Stacked((Real(), Interval(0.0, INF), Interval(0.0, 1.0)))
    assert draws(law, 3).dtype == float
    assert repr(law) == "product(normal(mean=0.0, sd=1.0), exponential(rate=2.0), beta(a=2.0, b=3.0))"
    assert_stack(law)
    assert_support(law)
    assert_value_gradient(law)
    assert_parameter_gradient(
        lambda t: product(normal(t[0], 1.0), exponential(t[1])), [0.2, 1.5], np.array([0.3, 1.2])
    )
    assert_density_ratio(law, product(normal(0.0, 0.9), exponential(2.2), beta(2.1, 3.0)))


@pytest.mark.parametrize(
    "law, kind, outside",
    [
        (product(poisson(2.0), uniform_discrete(1, 3)), "i", [0, 4]),
        (product(bernoulli(0.2), bernoulli(0.6)), "b", [0, 2]),
        (product(bernoulli(0.2), poisson(2.0)), "i", [0.5, 1]),
    ],
)
def test_product_of_discrete_scalars(law, kind, outside):
    x = law.sample(np.random.default_rng(1))
    assert x.dtype.kind == kind and x.shape == (2,)
    supports = [c.support for c in law.components]
    alike = supports[0] == supports[1]
    assert law.support == (Repeated(supports[0], 2) if alike else DiscreteProduct(supports))
    assert law.support.contains(x)
    assert law.logpdf(x) == pytest.approx(
        sum(c.logpdf(v) for c, v in zip(law.components, x.tolist(), strict=True))
    )
    assert law.logpdf(np.array(outside)) == -INF
    assert_stack(law)


MEANS, SDS = np.array([-1.0, 0.5, 3.0]), np.array([0.5, 1.0, 2.5])
RATES = np.array([0.5, 2.0, 7.0])
OF_FAMILIES = [
    (product(normal, MEANS, SDS), scipy.stats.norm(MEANS, SDS)),
    (product(normal, MEANS, 1.5), scipy.stats.norm(MEANS, 1.5)),
    (product(gamma, RATES, [1.0, 2.0, 0.3]), scipy.stats.gamma(RATES, scale=[1.0, 2.0, 0.3])),
    (product(exponential, RATES), scipy.stats.expon(scale=1 / RATES)),
    (product(beta, RATES, 2.0), scipy.stats.beta(RATES, 2.0)),
    (product(student_t, 4.0, MEANS, SDS), scipy.stats.t(4.0, MEANS, SDS)),
    (product(uniform, MEANS, MEANS + SDS), scipy.stats.uniform(MEANS, SDS)),
    (product(poisson, RATES), scipy.stats.poisson(RATES)),
    (product(bernoulli, [0.2, 0.9, 0.5]), scipy.stats.bernoulli([0.2, 0.9, 0.5])),
    (product(binom, 7, [0.2, 0.9, 0.5]), scipy.stats.binom(7, [0.2, 0.9, 0.5])),
]


@pytest.mark.parametrize(("law", "exact"), OF_FAMILIES, ids=lambda case: label(case))
def test_product_of_a_family_agrees_with_scipy(law, exact):
    score = exact.logpdf if hasattr(exact.dist, "pdf") else exact.logpmf
    samples = draws(law, 4000)
    assert samples.dtype == draws(product(list(law.components)), 2).dtype
    for x in samples[:5]:
        assert type(law.logpdf(x)) is float
        assert law.logpdf(x) == pytest.approx(score(x).sum(), rel=1e-10)
        assert law.logpdf(x.tolist()) == pytest.approx(product(list(law.components)).logpdf(x), rel=1e-10)
        assert law.support.contains(x)
    stack = samples[:6].reshape(2, 3, 3)
    np.testing.assert_allclose(law.logpdf(stack), score(stack).sum(-1))
    z = (samples.mean(0) - exact.mean()) / (exact.std() / math.sqrt(len(samples)))
    assert np.abs(z).max() < 4
    assert np.abs(samples.std(0) / exact.std() - 1).max() < 0.2
    correlations = np.corrcoef(samples.T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 4 / math.sqrt(len(samples))
    assert law.logpdf(np.full(3, NAN)) == law.logpdf(np.zeros(4)) == -INF
    assert_stack(law)
    if not law.support.discrete:
        assert_support(law)
        assert_value_gradient(law)


def test_product_of_normals_is_a_multivariate_normal():
    law, same = product(normal, MEANS, SDS), mvnormal(MEANS, np.diag(SDS**2))
    x = np.array([0.3, -1.0, 2.0])
    assert law.logpdf(x) == pytest.approx(same.logpdf(x), rel=1e-13)
    assert law.support == Repeated(Real(), 3)
    assert_parameter_gradient(lambda t: product(normal, t[:3], t[3]), [0.1, 0.2, 0.4, 1.3], x)
    assert_parameter_gradient(lambda t: product(normal, 0.5, t), [0.7, 0.2, 1.4], x)
    assert_parameter_gradient(lambda t: product(normal, [t[0], 1.0, t[1]], 2.0), [0.7, 0.2], x)


class half_line(normal):
    """A user's own family, on less than all numbers."""

    __slots__ = ()

    @property
    def support(self):
        return Interval(self.mean, math.inf)


def test_the_support_of_a_family_takes_no_component(monkeypatch):
    """One was made for each entry: milliseconds for each change of a mean vector."""

    def refuse(self):
        raise AssertionError("the components are made")

    laws = product(normal, MEANS, SDS), product(poisson, RATES), product(bernoulli, [0.5, 0.25])
    expected = [Repeated(law.components[0].support, law.n) for law in laws]
    other = product(half_line, MEANS, SDS).support
    monkeypatch.setattr(type(laws[0]), "components", property(refuse))
    assert [type(law)(law.family, *law.given).support for law in laws] == expected
    assert other.contains(MEANS + 1.0)
    assert not other.contains(MEANS - 1.0)


@pytest.mark.parametrize("law", [law for law, _ in OF_FAMILIES], ids=lambda law: law.family.__name__)
def test_the_measure_of_a_family_is_that_of_its_support(law):
    """It is looked at in place of the support, which takes longer to find."""
    measure, support = measured(law), law.support
    assert (measure.discrete, measure.dim, measure.shape) == (support.discrete, support.dim, support.shape)


def test_product_of_a_family_as_a_value():
    law = product(normal, MEANS, 1.5)
    assert isinstance(law, product) and len(law.components) == 3 and law.components[1] == normal(0.5, 1.5)
    assert repr(law) == "product(normal, mean=[-1.0, 0.5, 3.0], sd=1.5)"
    same = pickle.loads(pickle.dumps(law))
    assert same == law and hash(same) == hash(law) and law != product(normal, MEANS, 1.6)
    assert law != product(laplace, MEANS, 1.5) and law != product(normal, MEANS, [1.5] * 3)
    assert product(uniform, [0.0, 1.0], 3.0).support == Stacked((Interval(0.0, 3.0), Interval(1.0, 3.0)))
    assert product(uniform_discrete, 0, [1, 2]).support.values[0].tolist() == [0, 0]
    assert product(inv_gamma, [2.0, 3.0], 1.0).support == Repeated(Positive(), 2)


class shifted(ScalarFamily):
    """A user's family, which has no columns."""

    parameters = ("shift",)

    def __init__(self, shift):
        self.shift = shift

    def sample(self, rng):
        return self.shift + rng.normal()

    def at(self, x):
        return normal(0.0, 1.0).logpdf(x - self.shift)

    support = Real()


def test_product_of_a_users_family():
    law = product(shifted, MEANS)
    assert law.logpdf(MEANS) == pytest.approx(3 * normal(0, 1).logpdf(0.0))
    assert draws(law, 2).shape == (2, 3)


class of_unknown_kind(shifted):
    """One whose support depends on its parameter, so that no class's tells what it is."""

    @property
    def support(self):
        return Integers(0, 1) if self.shift else Real()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: product(normal, MEANS, -SDS), "product: entry 0: normal: sd must be positive and finite"),
        (lambda: product(normal, MEANS, [1.0, 1.0, 0.0]), "product: entry 2: normal: sd must be positive"),
        (lambda: product(normal, 0, 1), "none of the parameters of normal is a vector, got 0 and 1"),
        (lambda: product(normal), "none of the parameters of normal is a vector, got none"),
        (lambda: product(normal, MEANS, [1.0, 2.0]), "the parameters of normal have 2 and 3 entries"),
        (lambda: product(), "product: needs at least one distribution"),
        (lambda: product([]), "give the family and its parameters: product(normal, means, 1.0)"),
        (lambda: product(normal, [], [1.0]), "the parameters of normal have 0 and 1 entries"),
        (lambda: product(of_unknown_kind, []), "without them its support isn't known"),
        (lambda: product(normal, np.eye(3), 1.0), "is a number or a vector of them, got "),
        (lambda: product(normal, "a", 1.0), "is a number or a vector of them, got 'a'"),
        (lambda: product(categorical, [0.5, 0.5]), "categorical has no parameters that are one number"),
        (lambda: product(mvnormal, MEANS, SDS), "mvnormal has no parameters that are one number"),
    ],
)
def test_bad_products_of_a_family(make, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        make()


EMPTY = [
    (product(normal, [], 1.0), "f"),
    (product(normal, [], []), "f"),
    (product(normal, np.array([]), np.array([])), "f"),
    (product(uniform, [], 3.0), "f"),
    (product(truncated_normal, 0.0, 1.0, [], 2.0), "f"),
    (product(shifted, []), "f"),
    (product(poisson, []), "i"),
    (product(uniform_discrete, [], 4), "i"),
    (product(bernoulli, []), "b"),
]


@pytest.mark.parametrize(("law", "kind"), EMPTY)
def test_product_of_nothing_is_empty(law, kind):
    x = law.sample(np.random.default_rng(0))
    assert x.shape == (0,) and x.dtype.kind == kind
    assert law.logpdf(x) == law.logpdf([]) == 0.0 and type(law.logpdf([])) is float
    assert law.logpdf(np.zeros((3, 0))).tolist() == [0.0, 0.0, 0.0]
    assert law.logpdf([1.0]) == -INF
    support = law.support
    assert support.contains(x) and not support.contains(np.array([1.0]))
    assert support.shape == (0,) and support.dim == 0 and support.discrete == (kind != "f")
    assert law.components == () and law == pickle.loads(pickle.dumps(law))


def test_product_of_nothing_is_what_a_product_of_one_is_without_it():
    assert repr(product(normal, [], 1.0)) == "product(normal, mean=[], sd=1.0)"
    assert product(normal, [], 1.0) != product(normal, [0.0], 1.0)
    with pytest.raises(TypeError, match="missing a required argument: 'sd'"):
        product(normal, [])


@pytest.mark.parametrize("runtime", [lambda model: model, lambda model: model.reference])
def test_product_of_nothing_in_a_model(runtime):
    """k of components, their means in one choice; of none the density is that of the rest."""

    @gen
    def model():
        k = ~uniform_discrete(0, 2)
        means = ~product(normal, [1.0] * k, 2.0)
        y = ~normal(means.sum(), 1.0)

    program = runtime(model)
    trace, weight = program.generate((), {"y": 0.5}, init={"k": 0}, rng=1)
    assert trace["means"].shape == (0,)
    assert trace.log_prob == pytest.approx(-np.log(3) + normal(0.0, 1.0).logpdf(0.5))
    more, weight, _ = trace.update({"k": 2, "means": np.array([0.1, 0.2])})
    ratio = normal(1.0, 2.0).logpdf(0.1) + normal(1.0, 2.0).logpdf(0.2)
    ratio += normal(0.3, 1.0).logpdf(0.5) - normal(0.0, 1.0).logpdf(0.5)
    assert weight == pytest.approx(ratio)
    back, weight, _ = more.update({"k": 0, "means": np.array([])})
    assert weight == pytest.approx(-ratio) and back.choices == trace.choices
    assert trace.gradients(select("means"))["means"].shape == (0,)


@pytest.mark.parametrize("runtime", [lambda model: model, lambda model: model.reference])
def test_product_of_a_family_in_a_model(runtime):
    """mu ~ N(0, 1), x_i ~ N(mu, s_i): the posterior of mu is known, and so is the gradient."""

    @gen
    def model(s):
        mu = ~normal(0, 1)
        x = ~product(normal, [mu] * len(s), s)
        return x

    x = np.array([0.5, 1.5, -1.0])
    trace = runtime(model).generate((SDS,), {"x": x}, init={"mu": 0.2}, rng=1).trace
    expected = -0.2 + np.sum((x - 0.2) / SDS**2)
    assert trace.gradients(select("mu"))["mu"] == pytest.approx(expected)
    assert trace.update({"mu": 0.4}).log_weight == pytest.approx(
        scipy.stats.norm(0.4, SDS).logpdf(x).sum() - scipy.stats.norm(0.2, SDS).logpdf(x).sum()
        + scipy.stats.norm.logpdf(0.4) - scipy.stats.norm.logpdf(0.2)
    )  # fmt: skip


def test_product_edges():
    law = product(normal(0.0, 1.0), exponential(2.0))
    assert law.logpdf(np.array([0.3, -1.0])) == -INF
    assert law.logpdf(np.array([NAN, 1.0])) == -INF
    assert law.logpdf(np.array([0.3, 1.0, 2.0])) == -INF
    np.testing.assert_array_equal(law.logpdf(np.zeros((4, 3))), [-INF] * 4)
    # an infinite density beside a density of zero is zero
    assert product(beta(0.5, 0.5), exponential(1.0)).logpdf(np.array([0.0, -1.0])) == -INF
    with pytest.raises(ValueTypeError, match="product: a value is an array"):
        law.logpdf(0.5)
    with pytest.raises(ValueTypeError, match="product: a value is an array"):
        law.logpdf(["a", "b"])


# --- iid ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "law, kind",
    [
        (iid(normal(1.0, 2.0), 4), "f"),
        (iid(poisson(2.0), 3), "i"),
        (iid(bernoulli(0.3), 3), "b"),
        (iid(categorical([0.2, 0.3, 0.5]), 3), "i"),
        (iid(mvnormal([0.0, 1.0], np.eye(2)), 3), "f"),
        (iid(dirichlet([2, 3, 4]), 2), "f"),
        (iid(multinomial(3, [0.2, 0.8]), 2), "i"),
        (iid(product(normal(0.0, 1.0), exponential(1.0)), 2), "f"),
        (iid(iid(exponential(1.0), 2), 3), "f"),
        (iid(mixture_of_normals(W, M, V), 3), "f"),
        (iid(1 + poisson(1.0), 3), "i"),
        (iid(Coin(), 3), "b"),
    ],
    ids=label,
)
def test_iid(law, kind):
    x = law.sample(np.random.default_rng(1))
    assert x.dtype.kind == kind
    assert x.shape == law.support.shape == (law.n, *law.dist.support.shape)
    assert law.support == Repeated(law.dist.support, law.n)
    assert law.support.contains(x)
    assert law.logpdf(x) == pytest.approx(sum(law.dist.logpdf(one) for one in x), rel=1e-12)
    assert_stack(law)
    if kind == "f":
        assert_support(law)
        assert_value_gradient(law)


def test_iid_asks_for_one_vectorised_call():
    calls = []

    class counted(normal):
        def logpdf(self, x):
            calls.append(np.shape(x))
            return super().logpdf(x)

    iid(counted(0.0, 1.0), 1000).logpdf(np.zeros(1000))
    assert calls == [(1000,)]


def test_iid_moments_and_parameter_gradient():
    x = draws(iid(normal(1.0, 2.0), 3), 2000)
    assert_mean(x, 1.0)
    assert_mean(x[:, 0] * x[:, 1], 1.0)
    assert_parameter_gradient(lambda t: iid(normal(t[0], t[1]), 3), [0.5, 2.0], np.array([0.1, 2.0, 3.0]))


def test_iid_edges():
    law = iid(exponential(1.0), 2)
    assert law.logpdf([1.0, -1.0]) == -INF
    assert law.logpdf(np.array([1.0, -1.0])) == -INF
    assert law.logpdf(np.array([1.0, NAN])) == -INF
    assert law.logpdf(np.array([1.0, 2.0, 3.0])) == -INF
    assert iid(beta(0.5, 0.5), 2).logpdf(np.array([0.0, 2.0])) == -INF
    empty = iid(normal(0.0, 1.0), 0)
    assert empty.logpdf(empty.sample(np.random.default_rng(0))) == 0.0
    assert iid(poisson(1.0), 0).sample(np.random.default_rng(0)).dtype.kind == "i"
    with pytest.raises(ValueTypeError, match="iid: a value is an array of shape"):
        law.logpdf(1.0)
    assert repr(law) == "iid(dist=exponential(rate=1.0), n=2)"
    assert law == iid(exponential(1.0), 2) != iid(exponential(1.0), 3)


@pytest.mark.parametrize(
    "make, text",
    [
        (
            lambda: mixture_of_normals([0.5, 0.4], [0, 1], [1, 1]),
            "mixture_of_normals: weights must sum to 1, got [0.5, 0.4]",
        ),
        (
            lambda: mixture_of_normals([1.5, -0.5], [0, 1], [1, 1]),
            "mixture_of_normals: weights[1] must be at least 0, got -0.5",
        ),
        (
            lambda: mixture_of_normals([0.5, 0.5], [0, NAN], [1, 1]),
            "mixture_of_normals: means[1] must be finite, got nan",
        ),
        (
            lambda: mixture_of_normals([0.5, 0.5], [0, 1], [1, 0.0]),
            "mixture_of_normals: vars[1] must be positive and finite, got 0.0",
        ),
        (
            lambda: mixture_of_normals([0.5, 0.5], [0, 1], np.array([1, -2.0])),
            "mixture_of_normals: vars[1] must be positive and finite, got -2.0",
        ),
        (
            lambda: mixture_of_normals([0.5, 0.5], [0], [1, 1]),
            "mixture_of_normals: weights, means and vars must have one length, got 2, 1 and 2",
        ),
        (
            lambda: mixture_of_normals(1.0, [0], [1]),
            "mixture_of_normals: weights must be a vector of numbers, got 1.0",
        ),
        (
            lambda: mixture_of_normals([1.0], [0], ["a"]),
            "mixture_of_normals: vars must be a vector of numbers, got ['a']",
        ),
        (
            lambda: mixture_of_normals([], [], []),
            "mixture_of_normals: weights must be a vector of finite numbers, got []",
        ),
        (
            lambda: mixture_of_normals([NAN, 1.0], [0, 1], [1, 1]),
            "mixture_of_normals: weights must be a vector of finite numbers",
        ),
        (
            lambda: mixture([0.5, 0.4], [normal(0, 1)] * 2),
            "mixture: weights must sum to 1, got [0.5, 0.4], which sums to 0.9",
        ),
        (
            lambda: mixture([1.5, -0.5], [normal(0, 1)] * 2),
            "mixture: weights[1] must be at least 0, got -0.5",
        ),
        (
            lambda: mixture([1.0], [normal(0, 1)] * 2),
            "mixture: one weight for each distribution, got 1 weights and 2",
        ),
        (
            lambda: mixture([1.0], normal(0, 1)),
            "mixture: distributions must be a list of distributions, got normal(",
        ),
        (
            lambda: mixture([0.5, 0.5], [normal(0, 1), poisson(1)]),
            "mixture: all distributions must be discrete or all continuous",
        ),
        (
            lambda: mixture([0.5, 0.5], [dirichlet([1, 1]), dirichlet([1, 1, 1])]),
            "mixture: distributions with different supports must be scalar",
        ),
        (
            lambda: mixture([0.5, 0.5], [poisson(1), 0.5 * poisson(1)]),
            "mixture: distributions with different supports",
        ),
        (lambda: product(), "product: needs at least one distribution"),
        (
            lambda: product(normal(0, 1), poisson(1)),
            "product: components must be all discrete or all continuous",
        ),
        (
            lambda: product(dirichlet([1, 1])),
            "product: components must be scalar, got dirichlet(alpha=[1, 1])",
        ),
        (lambda: product(Suit()), "product: components must be scalar"),
        (lambda: iid(normal(0, 1), -1), "iid: n must be a nonnegative integer, got -1"),
        (lambda: iid(normal(0, 1), 2.5), "iid: n must be a nonnegative integer, got 2.5"),
        (lambda: iid(Suit(), 3), "iid: the values of"),
    ],
)
def test_invalid_parameters(make, text):
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.problem.startswith(text)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: mixture([1.0], [3]), "mixture needs a distribution, got 3 of type int"),
        (lambda: product(normal(0, 1), "normal"), "product needs a distribution, got 'normal' of type str"),
        (lambda: iid(normal, 3), "iid needs a distribution, got <class"),
    ],
)
def test_what_is_no_distribution(make, text):
    with pytest.raises(NotADistributionError) as caught:
        make()
    assert caught.value.problem.startswith(text)


def test_mixture_of_normals_values_of_a_wrong_type():
    for wrong in ("a", None, [1.0, "a"]):
        with pytest.raises(ValueTypeError, match="mixture_of_normals: a value is a number"):
            three_normals.logpdf(wrong)


@pytest.mark.parametrize(
    "law",
    [three_normals, mixture([1.0], [normal(0.0, 1.0)]), iid(normal(0.0, 1.0), 2)],
)
def test_value_semantics(law):
    assert_value_semantics(law, mixture([1.0], [normal(0.0, 3.0)]))


def test_equality_and_repr():
    assert three_normals == mixture_of_normals(np.array(W), np.array(M), np.array(V))
    assert hash(three_normals) == hash(mixture_of_normals(np.array(W), np.array(M), np.array(V)))
    assert three_normals != mixture_of_normals(W, M, [1.0, 1.0, 1.0])
    assert (
        repr(mixture_of_normals([1.0], [0.0], [2.0]))
        == "mixture_of_normals(weights=[1.0], means=[0.0], vars=[2.0])"
    )
    two = mixture([0.5, 0.5], [normal(0.0, 1.0), normal(1.0, 1.0)])
    assert two == mixture(np.array([0.5, 0.5]), (normal(0.0, 1.0), normal(1.0, 1.0)))
    assert hash(two) == hash(mixture(np.array([0.5, 0.5]), (normal(0.0, 1.0), normal(1.0, 1.0))))
