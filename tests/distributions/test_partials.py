"""The partial derivatives that are written out, against autograd's of the elementwise log densities."""

import math

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import elementwise_grad

from gendsl.distributions import flat
from gendsl.distributions.partials import PARTIALS
from gendsl.distributions.special import density

PARAMETERS = {
    "normal": (0.3, 1.7), "laplace": (0.3, 1.7), "cauchy": (-0.4, 0.6), "student_t": (3.5, 0.2, 1.3),
    "exponential": (1.4,), "gamma": (2.3, 0.7), "inv_gamma": (2.3, 0.7), "log_normal": (0.2, 0.8),
    "half_normal": (1.4,), "half_cauchy": (1.4,), "half_student_t": (3.5, 1.4),
    "beta": (1.6, 0.8), "uniform": (-0.5, 2.5),
    "bernoulli_logit": (0.7,), "binom_logit": (7, -0.4), "poisson_log": (1.1,), "neg_binom_mean": (2.5, 1.7),
    "bernoulli": (0.3,), "poisson": (2.5,), "binom": (7, 0.35), "geometric": (0.4,),
}  # fmt: skip
FAMILIES = sorted(PARTIALS.keys() - {flat}, key=lambda family: family.__name__)


def draws(family):
    return [family(*PARAMETERS[family.__name__]).sample(np.random.default_rng(seed)) for seed in range(6)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_against_autograd(family):
    parameters = PARAMETERS[family.__name__]
    discrete = family(*parameters).support.discrete
    for x in draws(family):
        found = PARTIALS[family](x, *parameters)
        assert found[0] == pytest.approx(family(*parameters).logpdf(x), rel=1e-12)
        for i, partial in enumerate(found[1:]):
            if partial is None:
                assert discrete and i < 2  # of integers
                continue
            arguments = [float(x), *map(float, parameters)]
            expected = elementwise_grad(family.elementwise, i)(*arguments)
            actual = partial() if callable(partial) else partial
            assert actual == pytest.approx(float(expected), rel=1e-10, abs=1e-12), i


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_columns_are_the_numbers_one_by_one(family):
    parameters = PARAMETERS[family.__name__]
    xs = draws(family)
    column = PARTIALS[family](np.array(xs), *parameters)
    for i, parts in enumerate(zip(*(PARTIALS[family](x, *parameters) for x in xs), strict=True)):
        if parts[0] is None:
            assert column[i] is None
            continue
        entries = [part() if callable(part) else part for part in parts]
        whole = column[i]() if callable(column[i]) else column[i]
        assert np.broadcast_to(whole, len(xs)) == pytest.approx(entries, rel=1e-12)


def test_outside_the_support_there_are_none():
    everywhere = "normal", "laplace", "cauchy", "student_t", "bernoulli", "bernoulli_logit"
    for family in FAMILIES:
        parameters = PARAMETERS[family.__name__]
        if family.__name__ not in everywhere:
            assert PARTIALS[family](-1.0, *parameters) is None
            assert PARTIALS[family](np.array([-1.0, 1.0]), *parameters) is None


def test_a_flat_density_has_no_slope():
    for low, high in ((-math.inf, math.inf), (0.0, math.inf), (-1.0, 2.0)):
        assert PARTIALS[flat](1.0, low, high) == (0.0, 0.0, 0.0, 0.0)
        assert PARTIALS[flat](np.array([1.0, 3.0]), low, high) is None or high > 3.0
    assert PARTIALS[flat](-1.0, 0.0, math.inf) is None


@pytest.mark.parametrize("logit", [-800.0, 800.0])
def test_links_have_slopes_where_probabilities_are_0_or_1(logit):
    """d log p / d logit is x - n p, and p is 0 or 1 to the last digit."""
    p = float(logit > 0)
    for family, n, first in (("bernoulli_logit", 1, ()), ("binom_logit", 5, (5,))):
        family = next(f for f in FAMILIES if f.__name__ == family)
        for x in range(n + 1):
            value = bool(x) if n == 1 else x
            score, *slopes = PARTIALS[family](value, *first, logit)
            assert score == pytest.approx(family(*first, logit).logpdf(value), rel=1e-13)
            assert slopes[-1] == x - n * p
            arguments = [float(x), *map(float, first), logit]
            assert elementwise_grad(family.elementwise, len(arguments) - 1)(*arguments) == x - n * p
    family = next(f for f in FAMILIES if f.__name__ == "poisson_log")
    assert PARTIALS[family](3, -800.0)[2] == 3.0
    assert elementwise_grad(family.elementwise, 1)(3.0, -800.0) == 3.0


def test_the_comparison_tells_a_wrong_derivative(monkeypatch):
    """The density of a normal with the wrong sign for the derivative of the mean."""
    family = next(f for f in FAMILIES if f.__name__ == "normal")

    def planted(x, mean, sd):
        z = (x - mean) / sd
        return -0.5 * z * z - math.log(sd) - 0.5 * math.log(2 * math.pi), -z / sd, -z / sd, (z * z - 1) / sd

    monkeypatch.setitem(PARTIALS, family, planted)
    with pytest.raises(AssertionError):
        test_against_autograd(family)


def test_autograd_follows_what_the_partials_replace():
    assert elementwise_grad(lambda x: density(x > 0, x, 1.0, lambda y: anp.log(y)))(2.0) == 0.5
