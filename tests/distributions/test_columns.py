"""Columns of choices: what array operations make of them is what each distribution makes of each value."""

from __future__ import annotations

import math

import autograd
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import scipy.stats
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gendsl.distributions as families
from gendsl.distributions import (
    bernoulli,
    beta,
    binom,
    categorical,
    exponential,
    flat,
    gamma,
    mixture,
    mixture_of_normals,
    mvnormal,
    normal,
    piecewise_uniform,
    poisson,
    student_t,
    truncated_normal,
    uniform,
    uniform_discrete,
)
from gendsl.distributions.columns import COLUMN_DTYPES, sample_columns, score_columns, total_columns
from gendsl.distributions.links import bernoulli_logit, binom_logit, neg_binom_mean, poisson_log
from tests.distributions.checks import DRAWS, KS_MAX, assert_follows
from tests.distributions.test_scalar_families import CASES

INF, NAN = math.inf, math.nan

REAL = st.floats(-50.0, 50.0)
POSITIVE = st.floats(1e-3, 60.0)
PROBABILITY = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 1e-9]))
OPEN = st.floats(0.01, 1.0)
LOGIT = st.one_of(st.floats(-40.0, 40.0), st.sampled_from([-800.0, 800.0]))
WHOLE = st.integers(-6, 6)
# by family: what each parameter is drawn from; a pair in order is (low, width)
DOMAINS = {
    families.normal: [REAL, POSITIVE],
    families.laplace: [REAL, POSITIVE],
    families.cauchy: [REAL, POSITIVE],
    families.student_t: [POSITIVE, REAL, POSITIVE],
    families.von_mises: [REAL, st.floats(0.0, 50.0)],
    families.exponential: [POSITIVE],
    families.gamma: [st.one_of(POSITIVE, st.just(1.0)), POSITIVE],
    families.inv_gamma: [POSITIVE, POSITIVE],
    families.log_normal: [st.floats(-3.0, 3.0), POSITIVE],
    families.half_normal: [POSITIVE],
    families.half_cauchy: [POSITIVE],
    families.half_student_t: [POSITIVE, POSITIVE],
    families.beta: [st.one_of(POSITIVE, st.just(1.0)), POSITIVE],
    families.beta_uniform: [PROBABILITY, POSITIVE, POSITIVE],
    families.uniform: [REAL, POSITIVE],
    families.truncated_normal: [REAL, POSITIVE, st.one_of(REAL, st.just(-INF)), POSITIVE],
    families.bernoulli: [PROBABILITY],
    bernoulli_logit: [LOGIT],
    families.binom: [st.integers(0, 40), PROBABILITY],
    binom_logit: [st.integers(0, 40), LOGIT],
    families.geometric: [OPEN],
    families.neg_binom: [POSITIVE, OPEN],
    neg_binom_mean: [POSITIVE, POSITIVE],
    families.poisson: [st.floats(0.0, 60.0)],
    poisson_log: [st.floats(-800.0, 6.0)],
    families.uniform_discrete: [WHOLE, st.integers(0, 9)],
}
WIDTHS = {families.uniform: (0, 1), families.uniform_discrete: (0, 1), families.truncated_normal: (2, 3)}
SHARED = {families.categorical, families.piecewise_uniform, families.mixture_of_normals}


def laws(family, parameters, n):
    """The distribution at each point, by the constructor."""
    rows = [p.tolist() if isinstance(p, np.ndarray) and family not in SHARED else [p] * n for p in parameters]
    return [family(*point) for point in zip(*rows, strict=True)]


def assert_columns(family, x, parameters):
    points = laws(family, parameters, len(x))
    expected = np.array([law.logpdf(value) for law, value in zip(points, x.tolist(), strict=True)])
    scores = score_columns(family, x, parameters)
    assert scores.shape == x.shape and scores.dtype == float
    # what cancels in a log density is at most about this large
    terms = (
        1.0
        + np.abs(x.astype(float))
        + sum(np.abs(np.max(np.abs(p), initial=0.0)) for p in finite(parameters))
    )
    with np.errstate(invalid="ignore"):
        close = np.abs(scores - expected) <= 1e-12 * np.maximum(np.abs(expected), np.minimum(terms, 1e3))
    assert (close | (scores == expected)).all(), (scores, expected)
    total = total_columns(family, x, parameters)
    assert type(total) is float
    if -INF in expected:
        assert total == -INF
    elif INF in expected:
        assert total == INF
    else:
        size = np.abs(expected).sum() + np.minimum(terms, 1e3).sum()
        assert abs(total - math.fsum(expected)) <= 1e-12 * size, (total, expected)


def finite(parameters):
    return [np.where(np.isfinite(p), p, 0.0) for p in parameters]


@st.composite
def columns(draw, family):
    n = draw(st.integers(1, 6))
    parameters = []
    for domain in DOMAINS[family]:
        if draw(st.booleans()):
            parameters.append(np.array(draw(st.lists(domain, min_size=n, max_size=n))))
        else:
            parameters.append(draw(domain))
    if family in WIDTHS:
        low, high = WIDTHS[family]
        base = np.where(np.isfinite(parameters[low]), parameters[low], 0.0)
        parameters[high] = (base if np.ndim(base) else base.item()) + parameters[high]
        if family is uniform_discrete and not np.ndim(parameters[high]):
            parameters[high] = int(parameters[high])
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    drawn = np.array([law.sample(rng) for law in laws(family, [*parameters, np.zeros(n)][:-1], n)])
    other = draw(hnp.arrays(drawn.dtype, n, elements=VALUES[drawn.dtype.kind]))
    return np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.2])), other, drawn), tuple(parameters)


VALUES = {
    "f": st.one_of(st.sampled_from([-1.0, 0.0, 1.0, 3.0, 1e9, INF, -INF, NAN]), REAL),
    "i": st.sampled_from([-1, 0, 1, 2, 300, 1 << 40]),
    "b": st.booleans(),
}
QUICK = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def test_every_scalar_family_is_covered():
    assert set(DOMAINS) | SHARED | {flat} == set(COLUMN_DTYPES)
    assert {type(case.law) for case in CASES} <= set(COLUMN_DTYPES)


@pytest.mark.parametrize("family", DOMAINS, ids=lambda family: family.__name__)
def test_scores_are_those_of_the_points(family):
    @QUICK
    @given(columns(family))
    def check(column):
        assert_columns(family, *column)

    check()


def test_columns_of_an_improper_law_are_scored_and_not_drawn():
    x, low = np.array([0.0, 2.0, 1e9]), np.array([-INF, 2.0, 0.0])
    for parameters in ((-INF, INF), (low, INF), (low, np.array([1.0, 2.5, INF]))):
        assert np.array_equal(score_columns(flat, x, parameters), np.zeros(3))
        assert total_columns(flat, x, parameters) == 0.0
        assert sample_columns(flat, np.random.default_rng(1), 3, parameters) is None
    assert np.array_equal(score_columns(flat, x, (1.0, INF)), [-INF, 0.0, 0.0])
    assert total_columns(flat, x, (1.0, INF)) == total_columns(flat, np.array([INF]), (0.0, INF)) == -INF
    assert score_columns(flat, x, (np.array([0.0, 3.0, 0.0]), 3.0)) is None  # there is none from 3 to 3


@st.composite
def shared(draw, family):
    k = draw(st.integers(1, 5))
    weights = np.array(draw(st.lists(st.sampled_from([0.0, 1e-3, 0.3, 1.0, 2.0]), min_size=k, max_size=k)))
    weights = weights / weights.sum() if weights.sum() > 0.0 else np.full(k, 1.0 / k)
    if family is categorical:
        x = draw(
            hnp.arrays(int, 6, elements=draw(st.sampled_from([st.integers(0, k - 1), st.integers(-1, k)])))
        )
        return x, (weights,)
    x = draw(hnp.arrays(float, 6, elements=VALUES["f"] if draw(st.booleans()) else REAL))
    if family is piecewise_uniform:
        bounds = np.cumsum(draw(st.lists(st.floats(0.1, 9.0), min_size=k + 1, max_size=k + 1))) - 10.0
        return x, (bounds, weights)
    means = draw(st.lists(REAL, min_size=k, max_size=k))
    variances = draw(st.lists(st.floats(1e-3, 1e3), min_size=k, max_size=k))
    return x, (weights, np.array(means), np.array(variances))


@pytest.mark.parametrize("family", sorted(SHARED, key=repr), ids=lambda family: family.__name__)
def test_vectors_are_shared_by_all_points(family):
    @QUICK
    @given(shared(family))
    def check(column):
        x, parameters = column
        assert_columns(family, x, parameters)
        lists = tuple(p.tolist() for p in parameters)
        assert np.array_equal(score_columns(family, x, parameters), score_columns(family, x, lists))
        assert total_columns(family, x, parameters) == total_columns(family, x, lists)

    check()


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.law))
def test_the_whole_table(case):
    family = type(case.law)
    parameters = tuple(getattr(case.law, name) for name in case.law.parameters)
    x = np.array(case.xs)
    assert x.dtype == COLUMN_DTYPES[family]
    expected = np.array([case.law.logpdf(value) for value in case.xs])
    for columns in (parameters, tuple(np.full(len(x), p) if np.ndim(p) == 0 else p for p in parameters)):
        error = np.abs(score_columns(family, x, columns) - expected)
        assert (error <= 1e-12 * np.maximum(np.abs(expected), case.terms)).all()
        total = total_columns(family, x, columns)
        assert abs(total - math.fsum(expected)) <= 1e-12 * (np.abs(expected).sum() + case.terms * len(x))


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.law))
def test_draws_follow_the_law(case):
    family = type(case.law)
    parameters = tuple(getattr(case.law, name) for name in case.law.parameters)
    if family not in SHARED:
        parameters = (np.full(DRAWS, parameters[0]), *parameters[1:])
    draws = sample_columns(family, np.random.default_rng(3), DRAWS, parameters)
    assert draws.dtype == COLUMN_DTYPES[family] and draws.shape == (DRAWS,)
    assert total_columns(family, draws, parameters) > -INF
    assert all(case.law.support.contains(x) for x in draws[:50].tolist())
    assert_follows(case, draws.astype(float))


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.law))
def test_draws_are_those_of_one_after_the_other(case):
    """So programs that draw columns are those that don't, as with one seed they are to be."""
    family = type(case.law)
    parameters = tuple(getattr(case.law, name) for name in case.law.parameters)
    columns = [parameters]
    if family not in SHARED:
        columns.append((np.full(200, parameters[0]), *parameters[1:]))
    expected = np.random.default_rng(7)
    one_by_one = np.array([case.law.sample(expected) for _ in range(200)])
    for given_so in columns:
        rng = np.random.default_rng(7)
        draws = sample_columns(family, rng, 200, given_so)
        np.testing.assert_allclose(draws, one_by_one, rtol=1e-14)
        assert rng.bit_generator.state == expected.bit_generator.state


def test_a_column_that_is_not_drawn_at_once_draws_nothing():
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    for family, parameters in [
        (uniform_discrete, (0, np.array([5, 1 << 30]))),
        (families.neg_binom, (np.array([1.0, 1e300]), 0.5)),
        (families.geometric, (1e-300,)),
    ]:
        assert sample_columns(family, rng, 2, parameters) is None
        assert rng.bit_generator.state == before


def test_draws_from_a_mixture_of_normals():
    weights, means, variances = [0.3, 0.0, 0.7], [-1.0, 50.0, 2.0], [0.25, 1.0, 4.0]
    law = st_mixture(weights, means, variances)
    draws = sample_columns(mixture_of_normals, np.random.default_rng(1), DRAWS, (weights, means, variances))
    ranks, steps = law(np.sort(draws)), np.arange(DRAWS + 1) / DRAWS
    distance = max(np.abs(ranks - steps[1:]).max(), np.abs(ranks - steps[:-1]).max())
    assert distance * math.sqrt(DRAWS) < KS_MAX


def st_mixture(weights, means, variances):
    parts = [scipy.stats.norm(m, math.sqrt(v)) for m, v in zip(means, variances, strict=True)]
    return lambda x: sum(w * part.cdf(x) for w, part in zip(weights, parts, strict=True))


def test_each_draw_has_the_parameters_of_its_point():
    rng = np.random.default_rng(5)
    means = np.linspace(-1e6, 1e6, 500)
    assert np.abs(sample_columns(normal, rng, 500, (means, 1.0)) - means).max() < 6.0
    p = np.arange(500) % 2 == 0
    assert np.array_equal(sample_columns(bernoulli, rng, 500, (p.astype(float),)), p)
    low = np.arange(500)
    assert np.array_equal(sample_columns(uniform_discrete, rng, 500, (low, low)), low)
    bounds = (means, 2.0, means + 1.0, means + 2.0)
    draws = sample_columns(truncated_normal, rng, 500, bounds)
    assert ((bounds[2] <= draws) & (draws <= bounds[3])).all()


COLUMN = np.array([0.5, 2.0, 1.0])
INVALID = [
    (normal, (0.0, 0.0)),
    (normal, (0.0, np.array([1.0, -1.0, 1.0]))),
    (normal, (0.0, np.array([1.0, NAN, 1.0]))),
    (normal, (np.array([1.0, INF, 1.0]), 1.0)),
    (normal, (0.0, np.array([1.0, INF, 1.0]))),
    (normal, (INF, 1.0)),
    (normal, (0.0, "1")),
    (normal, (0.0, None)),
    (normal, (0.0, 10**400)),
    (normal, (0.0,)),
    (normal, (0.0, 1.0, 2.0)),
    (normal, (np.zeros(2), 1.0)),
    (normal, (np.zeros((3, 1)), 1.0)),
    (normal, (np.zeros(3, dtype=complex), 1.0)),
    (normal, (np.array([None, 0.0, 0.0]), 1.0)),
    (gamma, (np.array([1.0, 0.0, 1.0]), 1.0)),
    (gamma, (np.array([1.0, -0.5, 1.0]), 1.0)),
    (gamma, (-0.5, 1.0)),
    (beta, (1.0, np.array([1.0, -2.5, 1.0]))),
    (student_t, (np.array([1.0, -3.0, 1.0]), 0.0, 1.0)),
    (exponential, (np.array([1.0, -3.0, 1.0]),)),
    (uniform, (np.array([0.0, 3.0, 0.0]), np.array([3.0, 3.0, 4.0]))),
    (uniform, (-1e308, np.array([3.0, 1e308, 3.0]))),
    (uniform, (np.array([0.0, -INF, 0.0]), 3.0)),
    (truncated_normal, (0.0, 1.0, np.array([0.0, INF, 0.0]), INF)),
    (truncated_normal, (0.0, 1.0, np.array([0.0, -INF, 0.0]), np.array([1.0, -INF, 1.0]))),
    (truncated_normal, (0.0, 1.0, np.array([-INF, -1e308, 0.0]), np.array([1.0, 1e308, 1.0]))),
    (truncated_normal, (0.0, np.array([1.0, 0.0, 1.0]), 0.0, 3.0)),
    (bernoulli, (np.array([0.5, 1.5, 0.5]),)),
    (bernoulli, (-0.1,)),
    (binom, (np.array([3.0, 2.5, 3.0]), 0.5)),
    (binom, (np.array([3, -1, 3]), 0.5)),
    (poisson, (np.array([3.0, -1.0, 3.0]),)),
    (uniform_discrete, (0, np.array([3, -1, 3]))),
    (uniform_discrete, (0, np.array([3.0, 3.5, 4.0]))),
    (categorical, ([0.5, 0.6],)),
    (categorical, (np.full((3, 2), 0.5),)),
    (piecewise_uniform, ([0.0, 1.0], [0.5, 0.5])),
    (mixture_of_normals, ([0.5, 0.5], [0.0, 1.0], [1.0, 0.0])),
    (mixture_of_normals, ([0.5, 0.6], [0.0, 1.0], [1.0, 1.0])),
    (mixture_of_normals, ([0.5, 0.5], [0.0, INF], [1.0, 1.0])),
    (mixture_of_normals, ([0.5, 0.5], [0.0, 1.0], [1.0, INF])),
    (mixture_of_normals, ([1.5, -0.5], [0.0, 1.0], [1.0, 1.0])),
    (mixture_of_normals, ([1.0], [0.0, 1.0], [1.0, 1.0])),
]


@pytest.mark.parametrize("family, parameters", INVALID, ids=repr)
def test_parameters_that_a_constructor_refuses(family, parameters):
    x = COLUMN if COLUMN_DTYPES[family].kind == "f" else np.array([0, 1, 1]).astype(COLUMN_DTYPES[family])
    assert score_columns(family, x, parameters) is None
    assert total_columns(family, x, parameters) is None
    assert sample_columns(family, np.random.default_rng(1), 3, parameters) is None


def test_the_same_with_valid_points_only():
    """Each refusal above is for one entry: with the second point left out, columns are valid."""
    for family, parameters in INVALID:
        if any(isinstance(p, np.ndarray) and p.shape == (3,) and p.dtype.kind in "if" for p in parameters):
            rest = tuple(np.delete(p, 1) if np.ndim(p) else p for p in parameters)
            assert sample_columns(family, np.random.default_rng(1), 2, rest) is not None, (family, rest)


def test_what_has_no_columns():
    one = np.ones(2)
    for family in (mvnormal, mixture, families.product, int, None):
        assert score_columns(family, one, (0.0, 1.0)) is None
        assert total_columns(family, one, (0.0, 1.0)) is None
        assert sample_columns(family, np.random.default_rng(1), 2, (0.0, 1.0)) is None
        assert family not in COLUMN_DTYPES
    for x in ([0.0], 0.0, np.float64(0.0), np.zeros((2, 2)), np.array(["a"]), np.array([None]), one + 1j):
        assert score_columns(normal, x, (0.0, 1.0)) is None
        assert total_columns(normal, x, (0.0, 1.0)) is None


def test_traced_parameters_are_left_to_the_distributions():
    seen = []

    def score(p):
        seen.extend(
            (
                total_columns(normal, COLUMN, (p, 1.0)),
                score_columns(normal, COLUMN, (p, 1.0)),
                total_columns(categorical, np.array([0, 1]), ([p, 1.0 - p],)),
                total_columns(mixture_of_normals, COLUMN, ([1.0], [p], [1.0])),
                score_columns(mixture_of_normals, COLUMN, ([p, 1.0 - p], [0.0, 1.0], [1.0, 1.0])),
            )
        )
        return p

    autograd.grad(score)(0.25)
    assert seen == [None] * 5


@pytest.mark.parametrize("family", COLUMN_DTYPES, ids=lambda family: family.__name__)
def test_empty_columns(family):
    x = np.empty(0, COLUMN_DTYPES[family])
    parameters = tuple(np.empty(0) for _ in family.parameters)
    assert score_columns(family, x, parameters).shape == (0,)
    assert total_columns(family, x, parameters) == 0.0
    draws = sample_columns(family, np.random.default_rng(1), 0, parameters)
    assert draws.shape == (0,) and draws.dtype == x.dtype


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.uint64, np.float32, float, ">f8"])
def test_values_of_other_types_of_numbers(dtype):
    x = np.array([0, 1, 1, 0], dtype=dtype)
    for family, parameters in [
        (normal, (3, 2.0)),
        (normal, (np.array([1, 2, 3, 4], dtype=np.uint8), np.float32(2.0))),
        (uniform, (-1, np.array([2], dtype=np.int8))),
        (bernoulli, (0.3,)),
        (binom, (3, 0.3)),
        (binom, (np.array([1.0, 2.0, 3.0, 4.0]), 0.3)),
        (poisson, (np.array([1, 2, 3, 4]),)),
        (uniform_discrete, (-3, 4.0)),
        (categorical, ((0.25, 0.75),)),
        (mixture_of_normals, ((0.25, 0.75), (0, 1), (2, 3))),
    ]:
        rows = [np.broadcast_to(p, 4) if isinstance(p, np.ndarray) else p for p in parameters]
        points = laws(family, rows, 4)
        expected = [law.logpdf(value) for law, value in zip(points, x, strict=True)]
        np.testing.assert_allclose(score_columns(family, x, parameters), expected, rtol=1e-13)
        np.testing.assert_allclose(total_columns(family, x, parameters), math.fsum(expected), rtol=1e-13)


@pytest.mark.parametrize("n", [31, 32, 511, 600, 7168, 7169, 40_000])
def test_long_columns(n):
    """Sums by blocks are sums."""
    rng = np.random.default_rng(n)
    x, mean, sd = rng.normal(size=n), rng.normal(size=n), rng.gamma(3.0, size=n)
    k = 9
    for family, values, parameters in [
        (normal, x, (mean, 0.7)),
        (normal, x, (0.2, 0.7)),
        (normal, x, (mean, sd)),
        (normal, x, (0.2, sd)),
        (gamma, np.exp(x), (2.0, sd)),
        (exponential, np.exp(x), (2.0,)),
        (exponential, np.exp(x), (sd,)),
        (bernoulli, x > 0.0, (0.3,)),
        (bernoulli, x > 0.0, (sd / (1.0 + sd),)),
        (poisson, rng.poisson(3.0, n), (sd,)),
        (poisson, rng.poisson(300.0, n), (sd,)),
        (categorical, rng.integers(0, 3, n), ([0.2, 0.5, 0.3],)),
        (mixture_of_normals, x, (np.full(k, 1 / k), np.linspace(-2, 2, k), np.linspace(0.2, 1.0, k))),
        (mixture_of_normals, x, ([1.0], [0.5], [0.2])),
        (mixture_of_normals, 3.0 * x, ([0.5, 0.5], [0.5, -9.0], [0.02, 0.1])),
    ]:
        expected = family.elementwise(values, *parameters)
        np.testing.assert_allclose(
            score_columns(family, values, parameters), expected, rtol=1e-12, atol=1e-12
        )
        total = total_columns(family, values, parameters)
        assert abs(total - math.fsum(expected)) <= 1e-12 * np.abs(expected).sum()
        for at in (0, n - 1):  # what is impossible is found in every block
            wrong = values.astype(float)
            wrong[at] = NAN
            assert total_columns(family, wrong, parameters) == -INF
            assert score_columns(family, wrong, parameters)[at] == -INF


FAR = [
    (normal, np.array([1e200, 0.0]), (0.0, 1.0)),
    (normal, np.array([1e200, -1e200]), (0.0, 1e180)),
    (normal, np.array([3e-200, -1e-200]), (0.0, 1e-200)),
    (normal, np.array([1e308, 0.0]), (-1e308, 1.0)),
    (normal, np.array([1e308, 0.0]), (np.array([-1e308, 0.0]), np.array([1.0, 1.0]))),
    (families.cauchy, np.array([1e200, 1.0]), (0.0, 1e-3)),
    (student_t, np.array([1e200, 1.0]), (3.0, 0.0, 1e-3)),
    (families.log_normal, np.array([0.0, 1.0]), (0.0, 1.0)),
    (beta, np.array([0.0, 0.5]), (0.5, 2.0)),
    (beta, np.array([0.0, 1.0]), (1.0, 1.0)),
    (gamma, np.array([0.0, 0.5]), (1.0, 2.0)),
    (gamma, np.array([1.0, 0.5]), (1e306, 2.0)),
    (gamma, np.array([1.0, 0.5]), (np.array([1e306, 1.0]), 2.0)),
    (poisson, np.array([0, 0]), (0.0,)),
    (poisson, np.array([0, 1]), (0.0,)),
    (bernoulli, np.array([True, False]), (np.array([1.0, 0.0]),)),
    (bernoulli, np.array([True, False]), (1.0,)),
    (mixture_of_normals, np.array([0.0, 900.0]), ([0.5, 0.5], [0.0, 1.0], [1.0, 2.0])),
    (mixture_of_normals, np.array([0.0, 1e200]), ([0.5, 0.5], [0.0, 1.0], [1.0, 2.0])),
    (mixture_of_normals, np.array([0.0, 37.9]), ([0.5, 0.5], [0.0, 0.0], [1.0, 1.0])),
    (mixture_of_normals, np.array([0.0, 1.0]), ([0.5, 0.5], [0.0, 1.0], [1e-320, 1e300])),
    (mixture_of_normals, np.array([0.0, 1.0]), ([1.0, 0.0], [0.0, 1.0], [1e-3, 1.0])),
    (mixture_of_normals, np.array([1e-24, 0.0]), ([0.5, 0.5], [0.0, 1.0], [1e-48, 1.0])),
    (mixture_of_normals, np.array([0.0, 34.0]), ([0.5, 0.5], [0.0, 1e-30], [1e-48, 1.0])),
]


@pytest.mark.parametrize("family, x, parameters", FAR, ids=repr)
@pytest.mark.parametrize("copies", [1, 20])
def test_far_out_and_on_the_edge(family, x, parameters, copies):
    """Where sums overflow or underflow on the way; under NumPy's strictest settings too."""
    x = np.tile(x, copies)
    if family not in SHARED:
        parameters = tuple(np.tile(p, copies) if np.ndim(p) else p for p in parameters)
    with np.errstate(all="raise"):
        scores, total = score_columns(family, x, parameters), total_columns(family, x, parameters)
    expected = [
        law.logpdf(value) for law, value in zip(laws(family, parameters, len(x)), x.tolist(), strict=True)
    ]
    np.testing.assert_allclose(scores, expected, rtol=1e-13)
    np.testing.assert_allclose(total, sum(expected), rtol=1e-13)


def test_scores_that_are_no_numbers_are_those_of_the_points():
    assert [beta(1e308, 1e308).logpdf(x) for x in (1.0, 0.5)] == [-INF, -INF]
    assert score_columns(beta, np.array([1.0, 0.5]), (1e308, 1e308)).tolist() == [-INF, -INF]
    assert total_columns(beta, np.array([1.0, 0.5]), (1e308, 1e308)) == -INF


def test_infinite_densities_do_not_make_up_for_impossible_values():
    assert total_columns(beta, np.array([0.0, -1.0]), (0.5, 0.5)) == -INF


def test_draws_beyond_64_bits():
    """The distributions themselves raise, or draw Python's longer integers."""
    rng = np.random.default_rng(1)
    for family, parameters in [
        (poisson, (1e300,)),
        (families.neg_binom, (1e300, 0.5)),
        (families.geometric, (1e-300,)),
    ]:
        assert sample_columns(family, rng, 3, parameters) is None
    assert sample_columns(uniform_discrete, rng, 3, (0, 2**62)) is None
    assert sample_columns(uniform_discrete, rng, 3, (0, np.array([1.0, 1e300, 1.0]))) is None
    assert sample_columns(binom, rng, 3, (np.array([1.0, 1e300, 1.0]), 0.5)) is None


@pytest.mark.parametrize(
    "parameters",
    [
        ([0.5, 0.6], [0.0, 1.0], [1.0, 1.0]),
        ([1.5, -0.5], [0.0, 1.0], [1.0, 1.0]),
        ([0.5, 0.5], [0.0, INF], [1.0, 1.0]),
        ([0.5, 0.5], [0.0, NAN], [1.0, 1.0]),
        ([0.5, 0.5], [0.0, 1.0], [1.0, 0.0]),
        ([0.5, 0.5], [0.0, 1.0], [1.0, INF]),
        ([0.5, 0.5], [0.0, 1.0], [1.0]),
        ([0.5, 0.5], [0.0, 1.0]),
        ([], [], []),
        (1.0, 0.0, 1.0),
        (["0.5", "0.5"], ["0.0", "1.0"], ["1.0", "1.0"]),
    ],
)
def test_what_is_no_mixture_has_no_total(parameters):
    assert total_columns(mixture_of_normals, np.zeros(100), parameters) is None


@pytest.mark.parametrize("power", [-100.0, -560.0, -640.0, -650.0, -800.0])
def test_far_points_among_many_keep_their_digits(power):
    """Where the product of the densities of eight points would be no number, and where one is none."""
    parameters = [0.25, 0.75], [0.0, 1e-3], [1.0, 1.0]
    x = np.random.default_rng(1).normal(size=700)
    x[::9] = math.sqrt(-2.0 * power)
    law = mixture_of_normals(*parameters)
    total = total_columns(mixture_of_normals, x, parameters)
    assert total == pytest.approx(math.fsum(law.logpdf(point) for point in x.tolist()), rel=1e-13)


def test_columns_that_are_not_contiguous_or_not_writable():
    rng = np.random.default_rng(8)
    x = rng.normal(size=200)[::2]
    mean = rng.normal(size=200)[::-2]
    mixed = (np.full(6, 1.0 / 3.0)[::2], np.arange(6.0)[::2], np.ones(6)[::2])
    expected = [
        total_columns(normal, x.copy(), (mean.copy(), 2.0)),
        total_columns(normal, x.copy(), (0.5, 2.0)),
    ]
    expected.append(total_columns(mixture_of_normals, x.copy(), tuple(p.copy() for p in mixed)))
    for column in (x, x.copy()):
        column.flags.writeable = False
        totals = [total_columns(normal, column, (mean, 2.0)), total_columns(normal, column, (0.5, 2.0))]
        totals.append(total_columns(mixture_of_normals, column, mixed))
        np.testing.assert_allclose(totals, expected, rtol=1e-13)


@pytest.mark.parametrize("power", [-600.0, -700.0, -720.0, -740.0, -800.0])
def test_one_far_point_among_few_keeps_its_digits(power):
    weights, means, variances = [0.25, 0.75], [0.0, 1e-3], [1.0, 1.0]
    x = np.array([0.1, 0.2, math.sqrt(-2.0 * power), -0.3])
    law = mixture_of_normals(weights, means, variances)
    total = total_columns(mixture_of_normals, x, (weights, means, variances))
    assert total == pytest.approx(sum(law.logpdf(float(point)) for point in x), rel=1e-13)
