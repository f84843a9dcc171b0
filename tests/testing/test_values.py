"""Values that hypothesis draws for a choice lie in its support, on its scale, and shrink to simple ones."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis.errors import NoSuchExample
from scipy import stats

import gendsl
from gendsl import (
    Distribution,
    beta,
    binom,
    categorical,
    cauchy,
    dirichlet,
    gamma,
    iid,
    inv_gamma,
    inv_wishart,
    lkj,
    mixture,
    multinomial,
    mvnormal,
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
from gendsl.distributions import as_distribution
from gendsl.supports import FiniteSet, Interval, Support
from gendsl.testing.values import values

QUICK = settings(
    max_examples=15, derandomize=True, database=None, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


class Colour(Distribution):
    """A distribution of strings, with a colour that never occurs."""

    support = FiniteSet(("red", "green", "blue"))

    def sample(self, rng):
        return str(rng.choice(["green", "blue"]))

    def logpdf(self, x):
        return -math.inf if x == "red" else math.log(0.5)


class Ring(Support):
    """A support of a user's own, without a chart: points of the plane at distance 1."""

    dim = 1
    shape = (2,)

    def contains(self, value):
        return abs(math.hypot(*value) - 1) < 1e-9


class OnRing(Distribution):
    support = Ring()

    def sample(self, rng):
        angle = rng.uniform(0, 2 * math.pi)
        return np.array([math.cos(angle), math.sin(angle)])

    def logpdf(self, x):
        return -math.log(2 * math.pi)


class Unhashable(Distribution):
    parameters = ("table",)
    support = Interval(0.0, 1.0)
    __hash__ = None

    def __init__(self):
        self.table = {"a": 1}

    def sample(self, rng):
        return float(rng.random())

    def logpdf(self, x):
        return 0.0 if 0 <= x <= 1 else -math.inf


DISTRIBUTIONS = [
    normal(0, 1), normal(1e9, 1e-3), cauchy(0, 1), student_t(1.5, 2, 3), gamma(2, 1e-6), inv_gamma(1, 1e4),
    beta(0.5, 2), uniform(-3, 7), truncated_normal(0, 1, 2, 3), von_mises(0, 1), uniform_discrete(-5, 5),
    poisson(1e6), 1 + poisson(1), 0.5 * poisson(3) - 1, binom(1000, 0.5), categorical([0, 0.5, 0.5]),
    dirichlet([2.0, 1.0, 3.0]), dirichlet([1.0]), mvnormal(np.array([0.0, 1e6]), np.eye(2)),
    inv_wishart(6.0, 100 * np.eye(3)), lkj(3, 1.0), multinomial(40, [0.2, 0.3, 0.5]), iid(gamma(2, 1), 4),
    iid(dirichlet([1.0, 1.0]), 2), iid(normal(0, 1), 0), iid(categorical([0.0, 1.0]), 3),
    iid(normal(0, 1), 200), product([normal(0, 1), gamma(1, 1)]),
    product([poisson(1), categorical([0.5, 0.5])]),
    mixture([0.5, 0.5], [uniform(0, 1), uniform(2, 3)]), piecewise_uniform([0, 1, 3], [0.5, 0.5]),
    gendsl.bernoulli(1.0), 3 - gamma(2, 1), stats.norm(3, 2), Colour(), OnRing(), Unhashable(),
]  # fmt: skip


def shown(distribution):
    """What it is called in every process."""
    text = repr(distribution)
    return type(distribution).__name__ if " at 0x" in text else text


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=shown)
def test_values_are_possible(distribution):
    distribution = as_distribution(distribution)

    @QUICK
    @given(values(distribution))
    def check(x):
        assert distribution.support.contains(x)
        assert math.isfinite(distribution.logpdf(x))
        drawn = distribution.sample(np.random.default_rng(1))
        assert type(x) is type(drawn)
        assert np.shape(x) == np.shape(drawn)

    check()


def smallest(distribution, wanted=lambda x: True):
    return find(values(distribution), wanted, settings=settings(QUICK, max_examples=60))


@pytest.mark.slow
def test_the_simplest_values():
    assert smallest(normal(0, 1)) == 0.0
    assert smallest(gamma(2, 1)) == 1.0
    assert smallest(poisson(4)) == 0
    assert smallest(1 + poisson(4)) == 1
    assert smallest(categorical([0.0, 0.5, 0.5])) == 1
    assert smallest(dirichlet([5.0, 1.0])).tolist() == [0.5, 0.5]
    covariance = smallest(inv_wishart(6.0, 5 * np.eye(2)))
    assert covariance[0, 0] == covariance[1, 1] > 0 and covariance[0, 1] == 0
    assert smallest(lkj(2, 1.0)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert smallest(normal(0, 1), lambda x: x > 1.3) == 2.0


def test_values_reach_beyond_the_usual_and_no_further():
    assert smallest(normal(1000, 1), lambda x: x > 1003) < 1010
    with pytest.raises(NoSuchExample, match="No examples found"):
        smallest(normal(1000, 1), lambda x: abs(x - 1000) > 20)
