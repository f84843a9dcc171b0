"""Arithmetic on a distribution: densities, supports, values and errors of scale * x + shift."""

from __future__ import annotations

import math
import pickle

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.stats as st
from autograd.test_util import check_grads

from gendsl import gen, select
from gendsl.distributions import (
    Distribution,
    affine,
    bernoulli,
    beta,
    binom,
    dirichlet,
    exponential,
    gamma,
    iid,
    lkj,
    mixture_of_normals,
    mvnormal,
    normal,
    poisson,
    uniform,
    uniform_discrete,
    von_mises,
)
from gendsl.errors import LostDerivativeError, ParameterError, UntracedChoiceError, ValueTypeError
from gendsl.inference import hmc, nuts
from gendsl.supports import Boolean, FiniteSet, Integers, Interval, Lattice, Positive, Real, RealArray
from tests.distributions.array_checks import (
    assert_density_ratio,
    assert_mean,
    assert_stack,
    assert_value_gradient,
)
from tests.distributions.checks import assert_chart, draws, label

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    "law, reference, xs",
    [
        (1.5 + normal(0.0, 2.0), st.norm(1.5, 2.0), [-3.0, 0.2, 50.0]),
        (normal(0.0, 2.0) + 1, st.norm(1.0, 2.0), [-3.0, 0.2, 50.0]),
        (normal(1.0, 2.0) - 0.5, st.norm(0.5, 2.0), [-3.0, 0.2, 50.0]),
        (3 - normal(1.0, 2.0), st.norm(2.0, 2.0), [-3.0, 0.2, 50.0]),
        (-normal(1.0, 2.0), st.norm(-1.0, 2.0), [-3.0, 0.2, 50.0]),
        (normal(1.0, 2.0) * 4.0, st.norm(4.0, 8.0), [-3.0, 0.2, 50.0]),
        (-0.5 * normal(1.0, 2.0), st.norm(-0.5, 1.0), [-3.0, 0.2, 50.0]),
        (normal(1.0, 2.0) / 4, st.norm(0.25, 0.5), [-3.0, 0.2, 5.0]),
        (2 * exponential(3.0) + 1, st.expon(1.0, 2.0 / 3.0), [1.0, 1.2, 8.0]),
        (np.float64(2.0) * exponential(3.0) + np.int64(1), st.expon(1.0, 2.0 / 3.0), [1.0, 1.2, 8.0]),
        (np.array(2.0) * exponential(3.0), st.expon(0.0, 2.0 / 3.0), [0.1, 1.2, 8.0]),
        (4 * beta(2.0, 3.0) - 1, st.beta(2.0, 3.0, -1.0, 4.0), [-0.9, 0.2, 2.5]),
        (((normal(0.0, 1.0) * 2 + 1) / 4 - 3) * -1, st.norm(2.75, 0.5), [0.2, 2.0]),
    ],
    ids=label,
)
def test_continuous_images(law, reference, xs):
    expected = reference.logpdf(xs)
    scores = [law.logpdf(x) for x in xs]
    assert all(type(score) is float for score in scores)
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(law.logpdf(np.array(xs)), expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(law.logpdf(xs), expected, rtol=1e-12, atol=1e-13)
    assert type(law.sample(np.random.default_rng(0))) is float
    x = draws(law, 2000)
    assert_mean(x, reference.mean())
    assert_mean((x - reference.mean()) ** 2, reference.var())
    assert all(law.support.contains(one) for one in x[:20])
    assert_chart(law.support)


@pytest.mark.parametrize(
    "law, reference, xs, kind",
    [
        (1 + poisson(1.5), st.poisson(1.5, loc=1), [1, 2, 5, 40], int),
        (poisson(1.5) - 3, st.poisson(1.5, loc=-3), [-3, 0, 7], int),
        (1 + bernoulli(0.3), st.bernoulli(0.3, loc=1), [1, 2], int),
        (1 + (1 + poisson(1.5)), st.poisson(1.5, loc=2), [2, 3, 9], int),
    ],
    ids=label,
)
def test_shifted_integers(law, reference, xs, kind):
    for given in (xs, np.array(xs), np.array(xs, dtype=float)):
        scores = [law.logpdf(x) for x in given]
        assert all(type(score) is float for score in scores)
        np.testing.assert_allclose(scores, reference.logpmf(xs), rtol=1e-12)
    np.testing.assert_allclose(law.logpdf(np.array(xs)), reference.logpmf(xs), rtol=1e-12)
    rng = np.random.default_rng(1)
    few = [law.sample(rng) for _ in range(20)]
    assert all(type(x) is kind and law.support.contains(x) for x in few)
    assert_mean(draws(law, 2000), reference.mean())


@pytest.mark.parametrize(
    "law, image, outside",
    [
        (2 * poisson(1.5), lambda i: 2 * i, [1, -2, 0.5, NAN, INF, -INF]),
        (3 - poisson(1.5), lambda i: 3 - i, [4, 0.5, NAN]),
        (1 - 2 * binom(5, 0.4), lambda i: 1 - 2 * i, [0, 3, -11, NAN]),
        (0.1 * poisson(1.5) + 0.3, lambda i: 0.1 * i + 0.3, [0.35, 0.2, NAN, INF]),
        (poisson(1.5) / 3, lambda i: i / 3, [0.5, -1 / 3, NAN]),
        (1.0 * poisson(1.5), float, [0.5, -1.0]),
        (-bernoulli(0.3), lambda i: -i, [1, 2, -0.5]),
    ],
    ids=label,
)
def test_images_of_integers(law, image, outside):
    top = 1 if law.dist == bernoulli(0.3) else 5
    for i in range(top + 1):
        for x in (image(i), np.array(image(i))[()]):
            assert law.logpdf(x) == pytest.approx(law.dist.logpdf(i), rel=1e-12)
    xs = np.array([image(i) for i in range(top + 1)])
    np.testing.assert_allclose(law.logpdf(xs), law.dist.logpdf(np.arange(top + 1)), rtol=1e-12)
    assert [law.logpdf(x) for x in outside] == [-INF] * len(outside)
    np.testing.assert_array_equal(law.logpdf(np.array(outside)), [-INF] * len(outside))
    rng = np.random.default_rng(3)
    for _ in range(50):
        x = law.sample(rng)
        assert type(x) is type(image(1)) and law.support.contains(x) and math.isfinite(law.logpdf(x))


@pytest.mark.parametrize(
    "law, support",
    [
        (1.5 + normal(0.0, 2.0), Real()),
        (2 * gamma(1.0, 2.0), Positive()),
        (1 + gamma(1.0, 2.0), Interval(1.0, INF)),
        (1 - gamma(1.0, 2.0), Interval(-INF, 1.0)),
        (3 * uniform(-1.0, 2.0), Interval(-3.0, 6.0)),
        (1 - 3 * uniform(-1.0, 2.0), Interval(-5.0, 4.0)),
        (1 + von_mises(0.0, 1.0), Interval(1 - math.pi, 1 + math.pi)),
        (1 + poisson(1.0), Integers(1, INF)),
        (1 - poisson(1.0), Integers(-INF, 1)),
        (uniform_discrete(2, 4) - 3, Integers(-1, 1)),
        (1 + bernoulli(0.5), Integers(1, 2)),
        (2 * uniform_discrete(2, 4) + 1, Lattice(1, 2, 2, 4)),
        (0.5 + poisson(1.0), Lattice(0.5, 1, 0, INF)),
        (1 + mvnormal([0.0, 1.0], np.eye(2)), RealArray((2,))),
        (2 * mixture_of_normals([1.0], [0.0], [1.0]), Real()),
    ],
    ids=label,
)
def test_support_of_the_image(law, support):
    assert law.support == support


def test_vectors_shift_and_scale():
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    law = 2 * mvnormal([0.5, -1.0], cov) + np.array([1.0, 3.0])
    assert law.logpdf([0.3, 0.2]) == pytest.approx(
        mvnormal([2.0, 1.0], 4 * cov).logpdf([0.3, 0.2]), rel=1e-12
    )
    assert (np.array([1.0, 3.0]) + mvnormal([0.5, -1.0], cov)).logpdf([0.3, 0.2]) == pytest.approx(
        mvnormal([1.5, 2.0], cov).logpdf([0.3, 0.2]), rel=1e-12
    )
    assert_stack(law)
    assert_value_gradient(law)
    assert_mean(draws(law, 2000), [2.0, 1.0])
    assert_density_ratio(law, mvnormal([2.1, 1.0], 3.5 * cov))
    assert law == pickle.loads(pickle.dumps(law)) and hash(law) == hash(pickle.loads(pickle.dumps(law)))
    assert repr(law).endswith("+ [1.0, 3.0]")


def test_nested_images_collapse():
    law = 2 * (1 - 3 * normal(0.0, 1.0)) + 0.5
    assert law == affine(normal(0.0, 1.0), -6, 2.5)
    assert law.dist == normal(0.0, 1.0)
    assert 1 + (poisson(1.0) - 1) == affine(poisson(1.0), 1, 0)


def test_repr_reads_as_it_was_written():
    assert repr(1 + poisson(2.0)) == "1 + poisson(rate=2.0)"
    assert repr(1 - poisson(2.0)) == "1 - poisson(rate=2.0)"
    assert repr(-poisson(2.0)) == "-poisson(rate=2.0)"
    assert repr(normal(0.0, 1.0) * 2 - 0.5) == "-0.5 + 2 * normal(mean=0.0, sd=1.0)"
    assert repr(normal(0.0, 1.0) / 4) == "0.25 * normal(mean=0.0, sd=1.0)"
    assert 1 + poisson(2.0) == poisson(2.0) + 1 != 2 + poisson(2.0)
    assert hash(1 + poisson(2.0)) == hash(poisson(2.0) + 1)


@pytest.mark.parametrize("x", [0.3, np.array([0.3, 1.7])])
def test_gradients(x):
    theta = np.array([-1.3, 0.4, 0.8])

    def score(theta):
        return anp.sum((normal(theta[1], 2.0) * theta[0] + theta[2]).logpdf(x))

    check_grads(score, modes=["rev"], order=1)(theta)
    check_grads(lambda x: anp.sum((3 - 2 * normal(0.5, 2.0)).logpdf(x)), modes=["rev"], order=1)(x)
    check_grads(lambda rate: (1 + poisson(rate)).logpdf(4), modes=["rev"], order=1)(1.5)
    check_grads(lambda rate: (1 - 2 * poisson(rate)).logpdf(-3), modes=["rev"], order=1)(1.5)


def test_edges():
    law = 2 * exponential(1.0) + 1
    assert law.logpdf(0.5) == law.logpdf(NAN) == law.logpdf(INF) == law.logpdf(-INF) == -INF
    np.testing.assert_array_equal(law.logpdf(np.array([0.5, NAN, INF])), [-INF] * 3)
    assert (1e-300 * normal(0.0, 1.0)).logpdf(1e10) == -INF
    np.testing.assert_array_equal((1e-300 * normal(0.0, 1.0)).logpdf(np.array([1e10])), [-INF])


class Word(Distribution):
    support = FiniteSet(("a", "b"))

    def sample(self, rng):
        return "a"

    def logpdf(self, x):
        return math.log(0.5)


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: 0 * normal(0, 1), "arithmetic on a distribution: the scale must be finite and not 0, got 0"),
        (
            lambda: INF * normal(0, 1),
            "arithmetic on a distribution: the scale must be finite and not 0, got inf",
        ),
        (
            lambda: NAN * normal(0, 1),
            "arithmetic on a distribution: the scale must be finite and not 0, got nan",
        ),
        (
            lambda: normal(0, 1) + NAN,
            "arithmetic on a distribution: the number added must be finite, got nan",
        ),
        (
            lambda: normal(0, 1) + np.float64(INF),
            "arithmetic on a distribution: the number added must be finite, got inf",
        ),
        (
            lambda: normal(0, 1) + "a",
            "arithmetic on a distribution: the number added must be a number, got 'a' of type str",
        ),
        (
            lambda: normal(0, 1) * None,
            "arithmetic on a distribution: the scale must be a number, got None of type NoneType",
        ),
        (
            lambda: normal(0, 1) * np.ones(2),
            "arithmetic on a distribution: the scale must be a number, got [1.0, 1.0]",
        ),
        (
            lambda: normal(0, 1) + np.ones(2),
            "arithmetic on normal(mean=0, sd=1): an array of shape (2,) can't be added",
        ),
        (lambda: mvnormal([0.0, 0.0], np.eye(2)) + np.ones(3), "arithmetic on mvnormal"),
        (
            lambda: dirichlet([1, 1]) + 1,
            "arithmetic on dirichlet(alpha=[1, 1]): its values, in Simplex(k=2), can't be",
        ),
        (lambda: 2 * lkj(2, 1.0), "arithmetic on lkj"),
        (lambda: 2 * iid(exponential(1.0), 2), "arithmetic on iid"),
        (lambda: Word() + 1, "arithmetic on"),
    ],
)
def test_bad_operands(make, text):
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.problem.startswith(text)


def test_sums_of_distributions_and_bad_values():
    for make in (
        lambda: normal(0, 1) + normal(0, 1),
        lambda: normal(0, 1) - poisson(1),
        lambda: normal(0, 1) * poisson(1),
        lambda: normal(0, 1) / normal(0, 1),
    ):
        with pytest.raises(ParameterError, match="two distributions"):
            make()
    with pytest.raises(ParameterError, match="must be a number, got 'a'"):
        normal(0, 1) - "a"
    with pytest.raises(ParameterError, match="divided by 0"):
        normal(0, 1) / 0
    for law in (1 + poisson(1.0), 1.5 * normal(0.0, 1.0)):
        for wrong in ("a", None, ["a"]):
            with pytest.raises(ValueTypeError):
                law.logpdf(wrong)


def test_a_traced_shift_of_integers_is_refused():
    for law in (lambda c: poisson(1.0) + c, lambda c: c + poisson(1.0), lambda c: c * poisson(1.0)):
        with pytest.raises(LostDerivativeError, match="no derivative"):
            autograd.grad(lambda c, law=law: law(c).logpdf(3))(1.0)


@pytest.mark.parametrize(
    "law",
    [
        lambda t: t[0] + t[1] * normal(0.5, 2.0),
        lambda t: t[0] - normal(0.5, t[1]),
        lambda t: t[0] * (t[2] + normal(t[1], 2.0)),
        lambda t: t[0] - (t[1] + 2 * normal(t[2], 1.0)) * t[1],
    ],
)
def test_gradients_where_the_number_comes_first(law):
    """autograd is asked for the sum before the distribution is."""
    theta = np.array([-1.3, 0.4, 0.8])
    check_grads(lambda t: law(t).logpdf(0.3), modes=["rev"], order=1)(theta)
    check_grads(lambda t: anp.sum(law(t).logpdf(np.array([0.3, 1.7]))), modes=["rev"], order=1)(theta)
    assert law(theta).logpdf(0.3) == pytest.approx(law(theta.tolist()).logpdf(0.3), rel=1e-14)


def test_gradients_where_an_array_comes_first():
    cov, x = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.3, 1.7])
    check_grads(lambda m: (m + mvnormal([0.5, -1.0], cov)).logpdf(x), modes=["rev"], order=1)(np.ones(2))


@gen
def shifted():
    a = ~normal(0, 1)
    s = ~gamma(3, 2)
    for i in range(3):
        ("y", i) @ ~(a + s * normal(0, 1))
    z = ~(s * (a - normal(0, 1)))


@pytest.mark.parametrize("kernel", [hmc(select("a", "s"), 0.3, 4), nuts(select("a", "s"), 0.3)], ids=repr)
def test_a_shift_that_is_a_choice_comes_first_in_a_program(kernel):
    trace = shifted.generate((), {"y": [0.3, -0.2, 1.1], "z": 0.4}, rng=1).trace
    a, s = trace["a"], trace["s"]
    gradient = trace.gradients(select("a"))
    expected = -a + sum(y - a for y in (0.3, -0.2, 1.1)) / s**2 + (0.4 - s * a) / s
    assert gradient["a"] == pytest.approx(expected, rel=1e-10)
    rng, accepted = np.random.default_rng(1), 0
    for _ in range(20):
        trace, info = kernel(trace, rng)
        accepted += info.accepted
    assert accepted > 5


def test_what_numpy_makes_of_a_distribution():
    law, number = normal(0, 1), np.float64(2.0)
    assert number + law == 2.0 + law and number - law == 2.0 - law and number * law == 2.0 * law
    assert np.add(law, 2) == law + 2 and np.subtract(law, 2) == law - 2
    assert (number == law) is False and (number != law) is True and (law == number) is False
    assert (np.ones(2) == law) is False
    for make in (lambda: np.exp(law), lambda: number < law, lambda: number / law, lambda: np.ones(2) @ law):
        with pytest.raises(UntracedChoiceError, match="is a distribution, not a value drawn from it"):
            make()


class Dice(Distribution):
    """A user's class of integers that scores one value at a time."""

    support = Integers(1, 6)

    def sample(self, rng):
        return int(rng.integers(1, 7))

    def logpdf(self, x):
        return -math.log(6) if 1 <= x <= 6 else -INF


def test_images_of_a_users_class():
    law = 10 * Dice()
    assert law.support == Lattice(0, 10, 1, 6)
    assert law.logpdf(30) == -math.log(6) and law.logpdf(35) == law.logpdf(70) == -INF
    assert (Dice() + 1).logpdf(7) == -math.log(6)
    assert (Boolean(), Dice().support.values) == (Boolean(), (1, 2, 3, 4, 5, 6))
    assert_mean(draws(law, 500), 35.0)


class Weighted(Distribution):
    """A place in a list, as an integer, of which the density is given integers."""

    def __init__(self, weights):
        self.weights = weights

    def sample(self, rng):
        return int(rng.random() * len(self.weights))

    def logpdf(self, x):
        return math.log(self.weights[x]) if 0 <= x < len(self.weights) else -INF

    @property
    def support(self):
        return Integers(0, len(self.weights) - 1)


@pytest.mark.parametrize("law", [2 * Weighted([0.25, 0.75]) + 1, 0.5 * Weighted([0.25, 0.75]) + 1.5])
def test_the_density_of_a_users_class_is_given_integers(law):
    values = [law.shift, law.shift + law.scale]
    assert [law.logpdf(x) for x in values] == [math.log(0.25), math.log(0.75)]
    assert law.logpdf(values[1] + law.scale) == law.logpdf(values[0] + law.scale / 3) == -INF
