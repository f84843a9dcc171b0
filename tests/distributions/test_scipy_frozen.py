"""What as_distribution takes for a distribution: scipy.stats, duck-typed objects, user classes."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.stats as st

from gendsl import gen, select
from gendsl.distributions import (
    Distribution,
    as_distribution,
    beta,
    binom,
    dirichlet,
    exponential,
    gamma,
    geometric,
    half_cauchy,
    half_normal,
    iid,
    inv_gamma,
    inv_wishart,
    laplace,
    log_normal,
    mixture,
    multinomial,
    mvnormal,
    neg_binom,
    normal,
    poisson,
    product,
    student_t,
    truncated_normal,
    uniform,
    uniform_discrete,
    von_mises,
    wishart,
)
from gendsl.distributions.base import DiscreteFamily, ScalarFamily
from gendsl.distributions.scipy_frozen import find_distribution
from gendsl.errors import (
    GenDSLError,
    LostDerivativeError,
    NaNError,
    NotADistributionError,
    ParameterError,
    ValueTypeError,
)
from gendsl.inference import hmc, mh, random_walk, slice_sampling
from gendsl.supports import FiniteSet, Integers, Interval, Positive, Real, Support
from tests.distributions.array_checks import assert_mean
from tests.distributions.checks import draws

INF, NAN = math.inf, math.nan
COV = np.array([[2.0, 0.5], [0.5, 1.0]])

# frozen, the family it becomes
OWN = [
    (st.norm(1.0, 2.0), normal(1.0, 2.0)),
    (st.norm(scale=2.0), normal(0.0, 2.0)),
    (st.uniform(-1.0, 4.0), uniform(-1.0, 3.0)),
    (st.laplace(1.0, 2.0), laplace(1.0, 2.0)),
    (st.cauchy(1.0, 2.0), None),
    (st.t(4.5, 1.0, 2.0), student_t(4.5, 1.0, 2.0)),
    (st.truncnorm(-1.0, 2.0, 0.5, 2.0), truncated_normal(0.5, 2.0, -1.5, 4.5)),
    (st.expon(scale=2.0), exponential(0.5)),
    (st.expon(1.5, 2.0), 1.5 + exponential(0.5)),
    (st.gamma(2.5, scale=3.0), gamma(2.5, 3.0)),
    (st.gamma(2.5, -1.0, 3.0), gamma(2.5, 3.0) - 1.0),
    (st.invgamma(2.5, scale=3.0), inv_gamma(2.5, 3.0)),
    (st.lognorm(0.7, scale=math.exp(0.4)), log_normal(0.4, 0.7)),
    (st.halfnorm(scale=2.0), half_normal(2.0)),
    (st.halfcauchy(scale=2.0), half_cauchy(2.0)),
    (st.beta(2.0, 3.0), beta(2.0, 3.0)),
    (st.beta(2.0, 3.0, -1.0, 4.0), 4.0 * beta(2.0, 3.0) - 1.0),
    (st.poisson(2.5), poisson(2.5)),
    (st.poisson(2.5, loc=2), 2 + poisson(2.5)),
    (st.binom(7, 0.3), binom(7, 0.3)),
    (st.bernoulli(0.3), binom(1, 0.3)),
    (st.geom(0.3), 1 + geometric(0.3)),
    (st.nbinom(4, 0.3), neg_binom(4, 0.3)),
    (st.randint(-2, 5), uniform_discrete(-2, 4)),
]
# frozen, its support
OTHERS = [
    (st.gumbel_r(1.0, 2.0), Real()),
    (st.weibull_min(1.7, scale=2.0), Positive()),
    (st.pareto(3.0), Interval(1.0, INF)),
    (st.triang(0.3, -1.0, 2.0), Interval(-1.0, 1.0)),
    (st.arcsine(), Interval(0.0, 1.0)),
    (st.wrapcauchy(0.4), Interval(0.0, 2.0 * math.pi)),
    (st.hypergeom(20, 7, 12), Integers(0, 7)),
    (st.skellam(2.0, 3.0), Integers()),
    (st.logser(0.6), Integers(1, INF)),
    (st.rv_discrete(values=([1, 3, 4], [0.2, 0.5, 0.3]))(), Integers(1, 4)),
    (st.rv_discrete(values=([1, 2.5, 4], [0.2, 0.5, 0.3]))(), FiniteSet((1.0, 2.5, 4.0))),
    (st.rv_discrete(name="poisson", values=([1, 3], [0.2, 0.8]))(), Integers(1, 3)),
    (st.rv_histogram(np.histogram([0.0, 0.5, 2.0], bins=2), name="norm")(), Interval(0.0, 2.0)),
]


def name(value):
    return value.dist.name if hasattr(value, "dist") and hasattr(value, "kwds") else None


@pytest.mark.parametrize("frozen, family", OWN, ids=name)
def test_frozen_distributions_that_are_families(frozen, family):
    law = as_distribution(frozen)
    assert type(law).__module__.startswith("gendsl") and type(law).__name__ != "Frozen"
    if family is not None and law != family:
        for x in frozen.rvs(20, random_state=1):
            assert law.logpdf(x) == pytest.approx(family.logpdf(x), rel=1e-12, abs=1e-12)
    compare(law, frozen)


ANGLES = [st.vonmises(2.0), st.vonmises(2.0, 1.5), st.vonmises_line(2.0)]


@pytest.mark.parametrize("frozen", ANGLES, ids=["circle", "moved", "line"])
def test_angles_have_no_density_beyond_one_turn(frozen):
    law = as_distribution(frozen)
    assert law == von_mises(frozen.kwds.get("loc", (*frozen.args, 0.0)[1]), 2.0)
    assert law.support.contains(3.0) and not law.support.contains(3.5)
    assert law.logpdf(3.5) == -INF  # which scipy's has, as if there were more turns
    for x in frozen.rvs(20, random_state=1):
        assert law.logpdf(x) == pytest.approx(frozen.logpdf(x), rel=1e-12)


@pytest.mark.parametrize("frozen, support", OTHERS, ids=name)
def test_frozen_distributions_that_stay(frozen, support):
    law = as_distribution(frozen)
    assert law.support == support
    compare(law, frozen)
    x = law.sample(np.random.default_rng(3))
    assert x == frozen.rvs(random_state=np.random.default_rng(3))
    if not support.discrete:
        with pytest.raises(LostDerivativeError, match=rf"scipy.stats.{frozen.dist.name} has no derivative"):
            autograd.grad(law.logpdf)(x)


def test_tables_and_histograms_are_told_apart():
    """scipy counts what they are made of among no parameters."""
    for make in (
        lambda p: st.rv_discrete(values=([0, 1], [p, 1 - p]))(),
        lambda p: st.rv_histogram((np.array([p, 1 - p]), np.array([0.0, 1.0, 2.0])), density=False)(),
    ):
        law, other = as_distribution(make(0.25)), as_distribution(make(0.75))
        assert law == as_distribution(make(0.25)) and hash(law) == hash(as_distribution(make(0.25)))
        assert law != other and as_distribution(st.rv_discrete(values=([0, 2], [0.25, 0.75]))()) != law


def test_values_that_are_no_integers_stay_where_they_are():
    with pytest.raises(NotADistributionError, match=r"its values are no integers, and loc moves them"):
        as_distribution(st.rv_discrete(values=([1, 2.5], [0.5, 0.5]))(loc=1))


def compare(law, frozen):
    discrete = hasattr(frozen.dist, "pmf")
    log_density = frozen.logpmf if discrete else frozen.logpdf
    xs = np.concatenate([frozen.rvs(20, random_state=1), [-1e3, 1e3, 0, 1, 2]])
    with np.errstate(all="ignore"):
        expected = log_density(xs)
    expected[np.isnan(expected)] = -INF
    finite = np.isfinite(expected)  # at the ends of a support scipy's convention may be another
    kind = int if discrete and not isinstance(law.support, FiniteSet) else float
    scores = np.array([law.logpdf(kind(x)) for x in xs])
    np.testing.assert_allclose(scores[finite], expected[finite], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(law.logpdf(xs), scores, rtol=1e-11, atol=1e-12)
    assert type(law.logpdf(kind(xs[0]))) is float
    assert law.logpdf(NAN) == -INF
    np.testing.assert_array_equal(law.logpdf(np.array([NAN, INF, -INF])), [-INF] * 3)
    assert law.support.discrete == discrete
    rng = np.random.default_rng(2)
    for _ in range(10):
        x = law.sample(rng)
        assert type(x) is kind and law.support.contains(x)


def test_samples_of_a_frozen_distribution():
    x = draws(as_distribution(st.gumbel_r(1.0, 2.0)), 300)
    assert_mean(x, st.gumbel_r(1.0, 2.0).mean())


@pytest.mark.parametrize(
    "frozen, law",
    [
        (st.multivariate_normal([1.0, 2.0], COV), mvnormal([1.0, 2.0], COV)),
        (st.dirichlet([2.0, 3.0]), dirichlet([2.0, 3.0])),
        (st.wishart(4.5, COV), wishart(4.5, COV)),
        (st.invwishart(4.5, COV), inv_wishart(4.5, COV)),
        (st.multinomial(5, [0.2, 0.8]), multinomial(5, [0.2, 0.8])),
    ],
    ids=lambda v: type(v).__name__,
)
def test_frozen_multivariate_distributions(frozen, law):
    assert as_distribution(frozen) == law
    x = law.sample(np.random.default_rng(1))
    log_density = frozen.logpmf if law.support.discrete else frozen.logpdf
    assert law.logpdf(x) == pytest.approx(log_density(x), rel=1e-12)


def test_gradients_through_frozen_families():
    slope = autograd.grad(as_distribution(st.norm(1.0, 2.0)).logpdf)(0.5)
    assert slope == pytest.approx(0.125)
    slope = autograd.grad(lambda x: as_distribution(st.beta(2.0, 3.0, -1.0, 4.0)).logpdf(x))(0.5)
    assert slope == pytest.approx(1 / 1.5 - 2 / 2.5)
    slope = autograd.grad(lambda m: as_distribution(st.norm(m, 2.0)).logpdf(0.5))(1.0)
    assert slope == pytest.approx(-0.125)
    slope = autograd.grad(lambda s: as_distribution(st.lognorm(0.7, scale=s)).logpdf(1.0))(2.0)
    assert slope == pytest.approx(-math.log(2.0) / 0.49 / 2.0)
    with pytest.raises(
        LostDerivativeError, match="gumbel_r has no derivative with respect to its parameters"
    ):
        autograd.grad(lambda m: as_distribution(st.gumbel_r(m, 2.0)).logpdf(0.5))(1.0)


def test_frozen_value_semantics():
    law, other = as_distribution(st.gumbel_r(1.0, 2.0)), as_distribution(st.gumbel_r(1.0, scale=3.0))
    assert law == as_distribution(st.gumbel_r(1.0, 2.0)) != other
    assert hash(law) == hash(pickle.loads(pickle.dumps(law))) and law == pickle.loads(pickle.dumps(law))
    assert repr(law) == "scipy.stats.gumbel_r(1.0, 2.0)"
    assert repr(other) == "scipy.stats.gumbel_r(1.0, scale=3.0)"
    with pytest.raises(ValueTypeError, match=r"scipy.stats.gumbel_r: a value must be a number, got 'a'"):
        law.logpdf("a")


def test_frozen_distributions_inside_others():
    law = product(st.norm(0.0, 1.0), st.gumbel_r(0.0, 1.0))
    assert law.logpdf(np.array([0.1, 0.2])) == pytest.approx(st.norm.logpdf(0.1) + st.gumbel_r.logpdf(0.2))
    assert iid(st.pareto(3.0), 2).logpdf(np.array([1.5, 2.0])) == pytest.approx(
        st.pareto(3.0).logpdf([1.5, 2.0]).sum()
    )
    assert mixture([0.5, 0.5], [st.norm(), st.norm(1.0)]) == mixture(
        [0.5, 0.5], [normal(0.0, 1.0), normal(1.0, 1.0)]
    )
    shifted = 2 * as_distribution(st.gumbel_r(0.0, 1.0)) + 1
    assert shifted.logpdf(0.3) == pytest.approx(st.gumbel_r(1.0, 2.0).logpdf(0.3))


class _Broken(st.rv_continuous):
    """A scipy distribution that computes NaN inside its support."""

    def _logpdf(self, x):
        return np.where(x > 0.5, math.nan, 0.0)


class _Norm(st.rv_continuous):
    """A user's scipy distribution that happens to be called norm."""

    def _logpdf(self, x):
        return np.log(2.0 * x)


def test_users_own_scipy_distributions():
    broken = as_distribution(_Broken(a=0.0, b=1.0, name="broken")())
    assert broken.logpdf(0.2) == 0.0
    with pytest.raises(NaNError, match=r"scipy.stats.broken: the log density at 0.7 comes out as NaN"):
        broken.logpdf(0.7)
    mine = as_distribution(_Norm(a=0.0, b=1.0, name="norm")())
    assert mine.logpdf(0.5) == 0.0 and mine.support == Interval(0.0, 1.0)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: st.norm, NotADistributionError, "scipy.stats.norm is a family, not a distribution"),
        (lambda: st.poisson, NotADistributionError, "scipy.stats.poisson is a family, not a distribution"),
        (
            lambda: st.multivariate_normal,
            NotADistributionError,
            "scipy.stats.multivariate_normal is a family",
        ),
        (
            lambda: st.norm([0.0, 1.0], 1.0),
            NotADistributionError,
            "scipy.stats.norm: parameters must be numbers",
        ),
        (
            lambda: st.multivariate_t([0.0], [[1.0]]),
            NotADistributionError,
            "multivariate_t_frozen of scipy.stats is none",
        ),
        (
            lambda: st.matrix_normal(np.zeros((2, 2))),
            NotADistributionError,
            "matrix_normal_frozen of scipy.stats is none",
        ),
        (lambda: st.gaussian_kde([1.0, 2.0]), NotADistributionError, "gaussian_kde of scipy.stats is none"),
        (
            lambda: st.weibull_min(-1.0),
            ParameterError,
            "scipy.stats.weibull_min: invalid parameters [-1.0]",
        ),
        (
            lambda: st.norm(0.0, -1.0),
            ParameterError,
            "scipy.stats.norm: scale must be positive and finite, got -1.0",
        ),
        (
            lambda: st.vonmises(2.0, scale=2.0),
            NotADistributionError,
            "scipy.stats.vonmises: its draws are angles of one turn",
        ),
        (lambda: st.vonmises_line(2.0, 1.0), NotADistributionError, "scipy.stats.vonmises_line: its draws"),
        (lambda: st.wrapcauchy(0.5, 1.0), NotADistributionError, "scipy.stats.wrapcauchy: its draws"),
        (lambda: st.norm(NAN, 1.0), ParameterError, "normal: mean must be finite, got nan"),
        (lambda: st.lognorm(0.5, scale=-1.0), ParameterError, "scipy.stats.lognorm: scale must be positive"),
        (lambda: st.expon(scale=0.0), ParameterError, "scipy.stats.expon: scale must be positive"),
    ],
)
def test_what_can_not_be_taken(make, error, text):
    with pytest.raises(error) as caught:
        as_distribution(make())
    assert caught.value.problem.startswith(text)
    assert isinstance(caught.value, GenDSLError)


class Triangle(Distribution):
    """A user's class: density 2x on the unit interval."""

    support = Interval(0.0, 1.0)

    def sample(self, rng):
        return math.sqrt(rng.random())

    def logpdf(self, x):
        return anp.log(2.0 * x) if 0.0 < x <= 1.0 else -INF


class Duckling:
    """The same without the base class."""

    def __init__(self):
        self.support = Interval(0.0, 1.0)

    sample = Triangle.sample
    logpdf = Triangle.logpdf


def test_a_users_class():
    law = Triangle()
    assert as_distribution(law) is law
    x = draws(law, 2000)
    assert_mean(x, 2.0 / 3.0)
    assert_mean(x**2, 0.5)
    assert law.logpdf(0.5) == 0.0 and law.logpdf(1.5) == -INF
    assert autograd.grad(law.logpdf)(0.5) == pytest.approx(2.0)
    assert (1 + 2 * law).logpdf(2.0) == pytest.approx(-math.log(2.0))
    assert iid(law, 2).logpdf(np.array([0.5, 0.25])) == pytest.approx(math.log(0.5))
    assert mixture([0.5, 0.5], [law, uniform(0.0, 1.0)]).logpdf(np.array([0.5, 1.0])) == pytest.approx(
        [0.0, math.log(1.5)]
    )


def test_a_duck_typed_distribution():
    duck = Duckling()
    law = as_distribution(duck)
    assert isinstance(law, Distribution) and law.support == Interval(0.0, 1.0)
    assert law.logpdf(0.5) == 0.0 and 0.0 < law.sample(np.random.default_rng(0)) < 1.0
    assert law == as_distribution(duck) and repr(law) == repr(duck)
    assert product(duck, normal(0.0, 1.0)).support.shape == (2,)

    class NoSupport(Duckling):
        def __init__(self):
            self.support = (0.0, 1.0)

    with pytest.raises(
        NotADistributionError, match=r"NoSupport has sample and logpdf, but its support is \(0.0, 1.0\)"
    ):
        as_distribution(NoSupport())


class Looks:
    def logpdf(self, x):
        return 0.0


@pytest.mark.parametrize(
    "thing",
    [
        3, 2.5, True, None, "normal", b"x", [1], (1,), {}, {1}, np.ones(3), np.float32(1.0),
        np.array(True), normal, Triangle, Duckling, math.sin, np.add, lambda x: x, object(), Looks(),
        np.random.default_rng(0), st,
    ],
    ids=lambda thing: type(thing).__name__,
)  # fmt: skip
def test_what_is_no_distribution(thing):
    assert find_distribution(thing) is None
    with pytest.raises(NotADistributionError, match="as_distribution needs a distribution, got") as caught:
        as_distribution(thing)
    assert caught.value.fix and caught.value.location.filename == __file__


def test_an_object_has_no_density_outside_the_support_that_it_states():
    class Careless:
        support = Positive()

        def sample(self, rng):
            return float(rng.exponential())

        def logpdf(self, x):
            return -x

    d = as_distribution(Careless())
    assert d.logpdf(2.0) == -2.0
    assert d.logpdf(-1.0) == d.logpdf(NAN) == -INF
    assert iid(d, 2).logpdf(np.array([1.0, -1.0])) == -INF


# --- outside the support that a class states --------------------------------------------------------


class Careless(Distribution):
    """An exponential whose formula knows nothing of its support."""

    parameters = ("rate",)
    support = Positive()

    def __init__(self, rate):
        self.rate = rate

    def sample(self, rng):
        return rng.exponential(1.0 / self.rate)

    def logpdf(self, x):
        """The log density."""
        return math.log(self.rate) - self.rate * x


class Careful(Careless):
    checks_support = True

    def logpdf(self, x):
        return -INF if x <= 0 else math.log(self.rate) - self.rate * x


def test_the_density_is_zero_outside_the_support_that_a_class_states():
    assert Careless(2.0).logpdf(-1.0) == -INF
    assert Careless(2.0).logpdf(0.5) == math.log(2.0) - 1.0
    assert Careless.logpdf.__doc__ == "The log density."
    assert 1.0 - Careless(2.0) != Careless(2.0)
    assert (1.0 - Careless(2.0)).logpdf(2.0) == -INF
    assert autograd.grad(Careless(2.0).logpdf)(0.5) == -2.0
    assert Careful.logpdf is Careful.__dict__["logpdf"]
    assert not hasattr(Careful.logpdf, "__wrapped__")


def test_the_math_in_a_users_density_is_differentiated():
    """Its support is looked at first, and what math.log is replaced by is still found behind that."""

    @gen
    def model():
        rate = ~gamma(3, 1)
        x = ~Careless(rate)

    trace = model.generate((), {"x": 0.5}, rng=1).trace
    rate = trace["rate"]
    assert trace.gradients(select("rate"))["rate"] == pytest.approx(2 / rate - 1 + 1 / rate - 0.5, rel=1e-12)
    assert trace.gradients(select("x"))["x"] == pytest.approx(-rate, rel=1e-12)


class CarelessFamily(ScalarFamily):
    """The same as a family of one number, whose formulas know nothing of its support."""

    parameters = ("rate",)
    support = Positive()

    def __init__(self, rate):
        self.rate = rate

    def sample(self, rng):
        return rng.exponential(1.0 / self.rate)

    def at(self, x):
        return math.log(self.rate) - self.rate * x

    @staticmethod
    def elementwise(x, rate):
        return anp.log(rate) - rate * x


class Narrower(CarelessFamily):
    support = Interval(0.0, 1.0)


class NarrowNormal(normal):
    """A family of gendsl's with another support."""

    support = Interval(-1.0, 1.0)


class CarefulFamily(CarelessFamily):
    checks_support = True

    def at(self, x):
        return -INF if x <= 0 else math.log(self.rate) - self.rate * x


class CarelessDie(DiscreteFamily):
    parameters = ()
    support = Integers(1, 6)

    def sample(self, rng):
        return int(rng.integers(1, 7))

    def at(self, x):
        return -math.log(6)

    @staticmethod
    def elementwise(x):
        return 0.0 * x - math.log(6)


def test_a_users_family_has_no_density_outside_the_support_that_it_states():
    inside, law = math.log(2.0) - 1.0, CarelessFamily(2.0)
    for x in (-1.0, -1, np.float64(-1.0), NAN, INF):
        assert law.logpdf(x) == -INF and law.at(float(x)) == -INF, x
    assert law.logpdf(0.5) == law.at(0.5) == inside
    np.testing.assert_array_equal(law.logpdf(np.array([-1.0, 0.5, NAN])), [-INF, inside, -INF])
    assert iid(law, 2).logpdf(np.array([1.0, -1.0])) == -INF
    assert iid(law, 2).logpdf(np.array([0.5, 0.5])) == 2 * inside
    assert Narrower(2.0).logpdf(0.5) == inside and Narrower(2.0).logpdf(1.5) == -INF
    assert NarrowNormal(0.0, 1.0).logpdf(0.5) == normal(0.0, 1.0).logpdf(0.5)
    assert NarrowNormal(0.0, 1.0).logpdf(1.5) == -INF
    assert CarelessDie().logpdf(6) == CarelessDie().logpdf(6.0) == -math.log(6)
    assert CarelessDie().logpdf(7) == CarelessDie().logpdf(2.5) == CarelessDie().logpdf(True + 6) == -INF
    np.testing.assert_array_equal(CarelessDie().logpdf(np.array([0, 3])), [-INF, -math.log(6)])


def test_a_users_family_is_differentiated_inside_its_support():
    assert autograd.grad(CarelessFamily(2.0).logpdf)(0.5) == -2.0
    assert autograd.grad(lambda rate: CarelessFamily(rate).logpdf(0.25))(2.0) == 0.25
    gradient = autograd.grad(lambda x: anp.sum(CarelessFamily(2.0).logpdf(x)))(np.array([0.5, 1.0]))
    np.testing.assert_array_equal(gradient, [-2.0, -2.0])
    assert autograd.grad(lambda rate: CarelessFamily(rate).logpdf(-1.0) + 3.0 * rate)(2.0) == 3.0


def test_families_that_see_to_their_support_are_not_asked_for_it():
    assert CarefulFamily.at is CarefulFamily.__dict__["at"]
    assert not hasattr(CarefulFamily.at, "__wrapped__")
    for family in (normal, poisson, exponential):
        assert not hasattr(family.at, "__wrapped__") and not hasattr(family._score, "__wrapped__")


def test_a_program_with_a_users_family():
    """No value outside its support is taken, by either runtime, whatever is scored again."""

    @gen
    def model():
        rate = ~gamma(3, 1)
        x = ~CarelessFamily(rate)
        y = ~normal(x, 1)

    trace = model.generate((), {"y": -3.0}, rng=1).trace
    assert trace.update({"x": -1.0}).trace.log_prob == -INF
    assessed = model.assess((), {"rate": 2.5, "x": trace["x"], "y": -3.0})
    assert trace.update({"rate": 2.5}).trace.log_prob == pytest.approx(assessed.log_prob, rel=1e-12)
    rng = np.random.default_rng(1)
    x = select("x")
    for kernel in (mh(x), slice_sampling(x), random_walk(x, 1.0), hmc(x, 0.2, 3)):
        moved = 0
        for _ in range(20):
            after, _ = kernel(trace, rng)
            moved += after is not trace
            trace = after
            assert trace["x"] > 0.0
        assert moved > 2, kernel


def test_data_is_looked_at_once_for_each_support():
    looked = []

    @dataclass(frozen=True)
    class Ordered(Support):
        end: float
        shape = (2,)

        def contains(self, value):
            looked.append(self.end)
            return bool(0 < value[0] < value[1] < self.end)

        def canonical(self, value):
            return value

    class events(Distribution):
        parameters = ("end",)

        def __init__(self, end):
            self.end = end

        @property
        def support(self):
            return Ordered(self.end)

        def logpdf(self, x):
            return -2.0

    data = np.array([1.0, 2.0])
    assert [events(3.0).logpdf(data) for _ in range(2)] == [-2.0] * 2 and len(looked) == 2  # it may change
    data.flags.writeable = False
    assert [events(3.0).logpdf(data) for _ in range(3)] == [-2.0] * 3 and len(looked) == 3
    assert events(1.5).logpdf(data) == -math.inf and events(3.0).logpdf(data) == -2.0
    for i in range(200):  # many arrays, some at places in memory where another was
        again = np.array([1.0, 2.0 + i % 2 * 5])
        again.flags.writeable = False
        assert events(3.0).logpdf(again) == (-math.inf if i % 2 else -2.0)


class Pieces(Distribution):
    """With a list of arrays for a parameter."""

    parameters = ("parts",)
    support = Real()

    def __init__(self, parts):
        self.parts = parts

    def sample(self, rng):
        return rng.standard_normal()

    def logpdf(self, x):
        return -(float(x) ** 2)


def test_arrays_in_a_list_of_parameters_are_compared():
    law = Pieces([np.zeros(2), np.ones(2)])
    assert law == Pieces([np.zeros(2), np.ones(2)]) and hash(law) == hash(Pieces([np.zeros(2), np.ones(2)]))
    assert law != Pieces([np.zeros(2), np.zeros(2)]) and law != Pieces([np.zeros(2)])
