"""What is known of a column scores it for any parameters as its points do one by one."""

import math
import warnings

import numpy as np
import pytest

from gendsl import bernoulli, exponential, gamma, geometric, laplace, normal, poisson, uniform
from gendsl.distributions.column_summaries import SUMMARIES, summary_of
from gendsl.distributions.columns import COLUMN_DTYPES

REAL, POSITIVE, PROBABILITY = (-20.0, 20.0), (0.05, 30.0), (0.02, 0.98)
DOMAINS = {
    "mean": REAL, "mu": (-2.0, 2.0), "loc": REAL, "sd": POSITIVE, "sigma": (0.1, 2.0), "scale": POSITIVE,
    "rate": POSITIVE, "shape": POSITIVE, "a": POSITIVE, "b": POSITIVE, "p": PROBABILITY,
    "low": (-30.0, -20.0), "high": (20.0, 30.0),
}  # fmt: skip
FAMILIES = sorted(SUMMARIES, key=lambda family: family.__name__)


def by_name(family):
    return family.__name__


def parameters_of(family, rng):
    return tuple(float(rng.uniform(*DOMAINS[name])) for name in family.parameters)


def column_of(family, rng, n):
    law = family(*parameters_of(family, rng))
    return np.array([law.sample(rng) for _ in range(n)], COLUMN_DTYPES[family])


def one_by_one(family, column, parameters):
    law = family(*parameters)
    return [law.logpdf(x) for x in column.tolist()]


@pytest.mark.parametrize("family", FAMILIES, ids=by_name)
@pytest.mark.parametrize("n", [1, 2, 37, 1000, 20_000])
def test_the_total_for_any_parameters(family, n):
    rng = np.random.default_rng(n)
    column = column_of(family, rng, n)
    total = summary_of(family, column)
    assert total is not None
    for _ in range(4):
        parameters = parameters_of(family, rng)
        scores = one_by_one(family, column, parameters)
        found = total(*parameters)
        if math.isfinite(found):
            size = sum(map(abs, scores))
            assert found == pytest.approx(math.fsum(scores), rel=0, abs=1e-12 * size + 1e-11 * n)
        else:
            assert family is uniform  # outside of another's bounds it leaves it to others


@pytest.mark.parametrize("family", FAMILIES, ids=by_name)
def test_it_never_vouches_for_what_is_impossible(family):
    """Points outside the support, and parameters that the constructor refuses."""
    rng = np.random.default_rng(1)
    column = column_of(family, rng, 20)
    bad = [math.nan, math.inf, -math.inf, -1.0, 0.0, 1.5, 1e300]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = summary_of(family, column)
        for i in range(len(family.parameters)):
            for value in bad:
                parameters = list(parameters_of(family, rng))
                parameters[i] = value
                try:
                    scores = one_by_one(family, column, parameters)
                except ValueError:
                    scores = [-math.inf]
                found = total(*parameters)
                if math.isfinite(found):
                    assert found == pytest.approx(math.fsum(scores), rel=1e-12)
        if column.dtype == bool:
            return
        for value in [math.nan, math.inf, -math.inf, -1.0, 0.0, 1.0, 1e308, -1e308]:
            if column.dtype != float and not abs(value) < 1e18:
                continue
            outside = column.copy()
            outside[3] = value
            total = summary_of(family, outside)
            parameters = parameters_of(family, rng)
            found = math.nan if total is None else total(*parameters)
            if math.isfinite(found):
                assert found == pytest.approx(sum(one_by_one(family, outside, parameters)), rel=1e-12)


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9])
def test_points_far_from_zero_lose_no_digits(far):
    rng = np.random.default_rng(2)
    column = far + rng.standard_normal(500)
    total = summary_of(normal, column)
    for mean in (far, far + 0.25, float(column[0])):
        apart = [(x - mean) for x in column.tolist()]
        expected = -0.5 * math.fsum(d * d for d in apart) - 250 * math.log(2 * math.pi)
        assert total(mean, 1.0) == pytest.approx(expected, rel=1e-13)


def test_shapes_so_large_that_terms_cancel_are_left_to_others():
    column = np.full(10, 1e5)
    assert math.isnan(summary_of(gamma, column)(1e5, 1.0))
    assert math.isnan(summary_of(normal, column)(0.0, 1e-150))
    assert summary_of(poisson, np.array([3, 1000])) is None


def test_there_may_be_no_summary():
    assert summary_of(laplace, np.zeros(3)) is None
    assert summary_of(normal, np.empty(0)) is None


@pytest.mark.parametrize(
    "law, column, expected",
    [
        (exponential, np.array([1.0, 2.0]), 2 * math.log(3.0) - 9.0),
        (bernoulli, np.array([True, False, True]), 3 * math.log(0.5)),
        (geometric, np.array([2, 0]), 2 * math.log(0.5) + 2 * math.log(0.5)),
        (uniform, np.array([1.0, 2.0]), -2 * math.log(3.0)),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_by_hand(law, column, expected):
    parameters = {exponential: (3.0,), bernoulli: (0.5,), geometric: (0.5,), uniform: (0, 3)}[law]
    assert summary_of(law, column)(*parameters) == pytest.approx(expected, rel=1e-14)
