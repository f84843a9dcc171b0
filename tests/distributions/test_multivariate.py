"""dirichlet, multinomial, mvnormal, wishart, inv_wishart, lkj: one table, and what is special to each."""

from __future__ import annotations

import math

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.stats
from autograd.test_util import check_grads

from gendsl.distributions import arrays, dirichlet, inv_wishart, lkj, multinomial, mvnormal, wishart
from gendsl.distributions.arrays import _solve
from gendsl.errors import ParameterError, ValueTypeError
from gendsl.supports import RealArray
from tests.distributions.array_checks import (
    assert_density_ratio,
    assert_mean,
    assert_parameter_gradient,
    assert_stack,
    assert_support,
    assert_value_gradient,
)
from tests.distributions.checks import assert_value_semantics, draws

COV = np.array([[2.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 0.7]])
PAIR = np.array([[2.0, 0.6], [0.6, 1.0]])
MANY = np.linspace(0.5, 3.0, 60)

# distribution, the same law in scipy
SCIPY = {
    "dirichlet": (dirichlet([2.0, 0.7, 3.5]), scipy.stats.dirichlet([2.0, 0.7, 3.5]).logpdf),
    "dirichlet-two": (dirichlet([2, 2]), scipy.stats.dirichlet([2, 2]).logpdf),
    "dirichlet-many": (dirichlet(MANY), scipy.stats.dirichlet(MANY).logpdf),
    "mvnormal": (
        mvnormal([1.0, -2.0, 0.5], COV),
        scipy.stats.multivariate_normal([1.0, -2.0, 0.5], COV).logpdf,
    ),
    "mvnormal-one": (mvnormal([1.0], [[4.0]]), lambda x: scipy.stats.norm(1.0, 2.0).logpdf(x[0])),
    "multinomial": (multinomial(7, [0.2, 0.3, 0.5]), scipy.stats.multinomial(7, [0.2, 0.3, 0.5]).logpmf),
    "wishart": (wishart(4.5, COV), scipy.stats.wishart(4.5, COV).logpdf),
    "wishart-one": (wishart(3.0, [[2.0]]), lambda x: scipy.stats.gamma(1.5, scale=4.0).logpdf(x[0, 0])),
    "inv_wishart": (inv_wishart(5.0, COV), scipy.stats.invwishart(5.0, COV).logpdf),
    "lkj-two": (lkj(2, 1.7), lambda x: scipy.stats.beta(1.7, 1.7, loc=-1, scale=2).logpdf(x[1, 0])),
}
CONTINUOUS = {
    **{name: law for name, (law, _) in SCIPY.items() if name != "multinomial"},
    "dirichlet-single": dirichlet([3.0]),
    "lkj-three": lkj(3, 0.8),
    "lkj-one": lkj(1, 2.0),
}


def ids(table):
    return [pytest.param(*row if isinstance(row, tuple) else (row,), id=name) for name, row in table.items()]


@pytest.mark.parametrize("law, reference", ids(SCIPY))
def test_logpdf_agrees_with_scipy(law, reference):
    for x in draws(law, 8):
        np.testing.assert_allclose(law.logpdf(x), reference(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("law", ids({**CONTINUOUS, "multinomial": SCIPY["multinomial"][0]}))
def test_stacks_of_values(law):
    assert_stack(law)


@pytest.mark.parametrize("law", ids(CONTINUOUS))
def test_support_and_chart(law):
    assert_support(law)


@pytest.mark.parametrize("law", ids({k: v for k, v in CONTINUOUS.items() if 0 < v.support.dim < 10}))
def test_gradient_in_the_value(law):
    assert_value_gradient(law)


def symmetric(theta, dim):
    """A positive definite matrix with free entries theta, row by row."""
    rows = [[theta[max(i, j) * (max(i, j) + 1) // 2 + min(i, j)] for j in range(dim)] for i in range(dim)]
    return anp.array([anp.array(row) for row in rows])


@pytest.mark.parametrize(
    "make, theta, x",
    [
        pytest.param(lambda a: dirichlet(a), [2.0, 0.7, 3.5], np.array([0.2, 0.3, 0.5]), id="dirichlet"),
        pytest.param(
            lambda a: dirichlet([a[0], 2.0, a[1]]), [2.0, 0.7], np.array([0.2, 0.3, 0.5]), id="dirichlet-list"
        ),
        pytest.param(
            lambda a: multinomial(6, a / anp.sum(a)), [0.2, 0.3, 0.5], np.array([1, 2, 3]), id="multinomial"
        ),
        pytest.param(lambda m: mvnormal(m, PAIR), [0.5, -1.0], np.array([0.1, 0.3]), id="mvnormal-mean"),
        pytest.param(
            lambda m: mvnormal([m[0], 0.0], PAIR), [0.5], np.array([0.1, 0.3]), id="mvnormal-mean-list"
        ),
        pytest.param(
            lambda s: mvnormal([0.5, -1.0], symmetric(s, 2)),
            [2.0, 0.6, 1.0],
            np.array([0.1, 0.3]),
            id="mvnormal-cov",
        ),
        pytest.param(lambda n: wishart(n[0], PAIR), [4.5], PAIR, id="wishart-df"),
        pytest.param(lambda s: wishart(4.5, symmetric(s, 2)), [1.0, 0.2, 1.5], PAIR, id="wishart-scale"),
        pytest.param(lambda n: inv_wishart(n[0], PAIR), [4.5], PAIR + 0.1, id="inv_wishart-df"),
        pytest.param(
            lambda s: inv_wishart(4.5, symmetric(s, 2)), [1.0, 0.2, 1.5], PAIR, id="inv_wishart-scale"
        ),
        pytest.param(lambda e: lkj(2, e[0]), [1.7], np.array([[1.0, 0.3], [0.3, 1.0]]), id="lkj"),
    ],
)
def test_gradient_in_the_parameters(make, theta, x):
    assert_parameter_gradient(make, theta, x)


def lower(matrix):
    return matrix[..., *np.tril_indices(matrix.shape[-1])]


def test_dirichlet_moments():
    alpha = np.array([2.0, 0.7, 3.5])
    mean = alpha / alpha.sum()
    second = (np.diag(mean) + np.outer(mean, alpha)) / (alpha.sum() + 1)
    x = draws(dirichlet(alpha), 4000)
    assert_mean(x, mean)
    assert_mean(x[:, :, None] * x[:, None, :], second)


def test_multinomial_moments():
    p = np.array([0.2, 0.3, 0.5])
    x = draws(multinomial(7, p), 4000)
    assert x.dtype.kind == "i" and (x.sum(1) == 7).all()
    assert_mean(x, 7 * p)
    assert_mean(x[:, 0] * x[:, 2], 7 * 6 * p[0] * p[2])


def test_mvnormal_moments():
    mean = np.array([1.0, -2.0, 0.5])
    x = draws(mvnormal(mean, COV), 4000)
    assert_mean(x, mean)
    assert_mean((x - mean)[:, :, None] * (x - mean)[:, None, :], COV)


def test_wishart_moments():
    x = draws(wishart(4.5, COV), 4000)
    assert_mean(x, 4.5 * COV)
    variance = 4.5 * (COV**2 + np.outer(np.diag(COV), np.diag(COV)))
    assert_mean((x - 4.5 * COV) ** 2, variance)


def test_inv_wishart_moments():
    x = draws(inv_wishart(14.0, COV), 4000)
    assert_mean(x, COV / 10.0)
    assert_mean(np.linalg.inv(x), 14.0 * np.linalg.inv(COV))


@pytest.mark.parametrize("dim, eta", [(2, 0.6), (3, 1.0), (5, 2.5)])
def test_lkj_marginals_are_beta(dim, eta):
    a = eta + 0.5 * dim - 1.0
    r = draws(lkj(dim, eta), 3000)[:, *np.tril_indices(dim, -1)]
    assert_mean(r, 0.0)
    assert_mean(r**2, 1.0 / (2.0 * a + 1.0))
    assert_mean(r**4, 3.0 / ((2.0 * a + 1.0) * (2.0 * a + 3.0)))


@pytest.mark.parametrize(
    "p, q",
    [
        pytest.param(dirichlet([2.0, 1.5, 3.0]), dirichlet([2.5, 1.6, 3.5]), id="dirichlet"),
        pytest.param(multinomial(4, [0.2, 0.3, 0.5]), multinomial(4, [0.25, 0.35, 0.4]), id="multinomial"),
        pytest.param(mvnormal([0.0, 1.0], PAIR), mvnormal([0.1, 1.0], 0.9 * PAIR), id="mvnormal"),
        pytest.param(wishart(6.0, PAIR), wishart(7.0, 0.8 * PAIR), id="wishart"),
        pytest.param(inv_wishart(6.0, PAIR), inv_wishart(7.0, 1.1 * PAIR), id="inv_wishart"),
        pytest.param(lkj(4, 1.0), lkj(4, 1.6), id="lkj"),
    ],
)
def test_samplers_and_densities_belong_together(p, q):
    assert_density_ratio(p, q)


def test_lkj_normaliser_by_integration():
    # In partial correlations z on [-1, 1]^3: det R = (1-z12²)(1-z13²)(1-z²), dr23/dz = √((1-z12²)(1-z13²)).
    nodes, weights = np.polynomial.legendre.leggauss(14)
    total = 0.0
    for z12, w12 in zip(nodes, weights, strict=True):
        for z13, w13 in zip(nodes, weights, strict=True):
            slope = math.sqrt((1 - z12**2) * (1 - z13**2))
            matrices = np.tile(np.eye(3), (14, 1, 1))
            matrices[:, 0, 1] = matrices[:, 1, 0] = z12
            matrices[:, 0, 2] = matrices[:, 2, 0] = z13
            matrices[:, 1, 2] = matrices[:, 2, 1] = z12 * z13 + nodes * slope
            total += w12 * w13 * slope * (weights @ np.exp(lkj(3, 2.5).logpdf(matrices)))
    assert total == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("dim", [2, 3, 6])
@pytest.mark.parametrize("eta", [0.5, 1.0, 4.2])
def test_lkj_normaliser_as_published(dim, eta):
    # Lewandowski, Kurowicka and Joe (2009), equation 16.
    betas = [eta + 0.5 * (dim - k - 1) for k in range(1, dim)]
    log_normaliser = sum(
        (2 * eta - 2 + dim - k) * (dim - k) * math.log(2)
        + (dim - k) * (2 * math.lgamma(b) - math.lgamma(2 * b))
        for k, b in enumerate(betas, 1)
    )
    assert lkj(dim, eta).logpdf(np.eye(dim)) == pytest.approx(-log_normaliser, rel=1e-12)


def asymmetric(matrix):
    matrix = matrix.copy()
    matrix[0, 1] += 1e-3
    return matrix


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    "law, x",
    [
        (dirichlet([2, 2, 2]), [0.5, 0.5, 0.0]),
        (dirichlet([0.5, 2, 2]), [0.0, 0.5, 0.5]),
        (dirichlet([1, 1, 1]), [0.5, 0.6, -0.1]),
        (dirichlet([2, 2, 2]), [0.2, 0.3, 0.5 + 1e-8]),
        (dirichlet([2, 2, 2]), [0.5, 0.5]),
        (dirichlet([2, 2, 2]), [0.2, NAN, 0.5]),
        (dirichlet([1, 2, 2]), [INF, 0.5, 0.5]),
        (dirichlet([1, 2, 2]), [INF, -INF, 0.5]),
        (multinomial(3, [0.5, 0.5, 0.0]), [1, 1, 1]),
        (multinomial(3, [0.2, 0.3, 0.5]), [1, 1, 2]),
        (multinomial(3, [0.2, 0.3, 0.5]), [4, -1, 0]),
        (multinomial(3, [0.2, 0.3, 0.5]), [1.5, 1.5, 0]),
        (multinomial(3, [0.2, 0.3, 0.5]), [1, 2]),
        (multinomial(3, [0.2, 0.3, 0.5]), [NAN, 2, 1]),
        (multinomial(3, [0.2, 0.3, 0.5]), [INF, -INF, 3]),
        (mvnormal([0.0, 1.0], PAIR), [NAN, 0.0]),
        (mvnormal([0.0, 1.0], PAIR), [INF, 0.0]),
        (mvnormal([0.0, 1.0], PAIR), [1e300, -1e300]),
        (mvnormal([0.0, 1.0], 1e-20 * PAIR), [1e149, -1e149]),
        (mvnormal([0.0, 1.0], PAIR), [0.0, 1.0, 2.0]),
        (wishart(4.0, PAIR), -PAIR),
        (wishart(4.0, PAIR), asymmetric(PAIR)),
        (wishart(4.0, PAIR), np.eye(3)),
        (wishart(4.0, PAIR), np.full((2, 2), NAN)),
        (wishart(4.0, PAIR), np.diag([INF, 1.0])),
        (inv_wishart(4.0, PAIR), np.array([[1.0, 2.0], [2.0, 1.0]])),
        (inv_wishart(4.0, PAIR), np.zeros((2, 2))),
        (lkj(2, 1.0), np.array([[1.0, 1.1], [1.1, 1.0]])),
        (lkj(2, 1.0), PAIR),
        (lkj(2, 1.0), np.full((2, 2), NAN)),
        (lkj(2, 1.0), asymmetric(np.eye(2))),
    ],
)
def test_out_of_support(law, x):
    for value in (x, np.asarray(x, dtype=float)):
        assert law.logpdf(value) == -INF
    stacked = law.logpdf(np.array([x, x], dtype=float))
    np.testing.assert_array_equal(stacked, [-INF, -INF])


def test_edges_in_support():
    assert dirichlet([3.0]).logpdf(np.array([1.0])) == 0.0
    assert dirichlet([1, 1, 1]).logpdf(np.array([0.0, 0.0, 1.0])) == pytest.approx(math.log(2.0))
    assert dirichlet([1, 1, 1]).logpdf(np.array([[0.0, 0.0, 1.0]])) == pytest.approx([math.log(2.0)])
    assert multinomial(0, [0.5, 0.5]).logpdf([0, 0]) == 0.0
    assert multinomial(3, [1.0, 0.0]).logpdf([3, 0]) == 0.0
    assert multinomial(3, [1.0]).logpdf([3]) == 0.0
    assert lkj(1, 2.0).logpdf(np.ones((1, 1))) == 0.0
    assert lkj(3, 1.0).logpdf(np.eye(3)) == pytest.approx(-math.log(math.pi**2 / 2))
    assert mvnormal([0.0, 0.0], PAIR).logpdf([1e10, 0.0]) == pytest.approx(-5e19 / np.linalg.det(PAIR))


def test_a_normal_vector_without_entries():
    """The coefficients of a regression without predictors: one value, of density 1."""
    law = mvnormal([], np.eye(0))
    assert law.support == RealArray((0,)) and law.support.dim == 0
    assert law.sample(np.random.default_rng(1)).shape == (0,)
    assert law.logpdf([]) == 0.0 and law.logpdf([1.0]) == -INF
    np.testing.assert_array_equal(law.logpdf(np.zeros((3, 0))), np.zeros(3))
    assert autograd.grad(lambda x: law.logpdf(x) + 2.0 * x.sum())(np.zeros(0)).shape == (0,)
    with pytest.raises(ParameterError, match="have 0 rows and columns"):
        mvnormal([], np.eye(1))


def test_weights_too_small_for_a_float():
    law = dirichlet([0.003, 0.003, 0.2])
    x = draws(law, 200)
    assert (x > 0.0).all() and np.isfinite(law.logpdf(x)).all()
    assert (x.min(axis=1) < 1e-300).any()


def test_a_zero_weight_has_no_gradient_trouble():
    assert_parameter_gradient(lambda a: dirichlet([1.0, a[0], 2.0]), [1.5], np.array([0.0, 0.4, 0.6]))


@pytest.mark.parametrize(
    "law, x",
    [
        (dirichlet([2, 2]), "a"),
        (dirichlet([2, 2]), 0.5),
        (multinomial(2, [0.5, 0.5]), None),
        (mvnormal([0.0, 1.0], PAIR), 1.0),
        (mvnormal([0.0, 1.0], PAIR), ["a", "b"]),
        (wishart(4.0, PAIR), [1.0, 2.0]),
        (lkj(2, 1.0), [[1.0, 0.0], [0.0]]),
    ],
)
def test_values_of_a_wrong_type(law, x):
    with pytest.raises(ValueTypeError, match=type(law).__name__):
        law.logpdf(x)


@pytest.mark.parametrize(
    "make, text",
    [
        (
            lambda: dirichlet([1.0, -2.0]),
            "dirichlet: alpha must have positive and finite entries, got [1.0, -2.0]",
        ),
        (lambda: dirichlet([1.0, NAN]), "dirichlet: alpha must have positive and finite entries"),
        (lambda: dirichlet([]), "dirichlet: alpha must have positive and finite entries, got []"),
        (lambda: dirichlet(3.0), "dirichlet: alpha must be a vector of positive numbers, got 3.0"),
        (lambda: dirichlet("ab"), "dirichlet: alpha must be a vector of positive numbers, got 'ab'"),
        (lambda: dirichlet(np.ones((2, 2))), "dirichlet: alpha must be a vector of positive numbers"),
        (lambda: multinomial(-1, [1.0]), "multinomial: n must be a nonnegative integer, got -1"),
        (lambda: multinomial(1.5, [1.0]), "multinomial: n must be a nonnegative integer, got 1.5"),
        (
            lambda: multinomial(2, [0.5, 0.4]),
            "multinomial: p must sum to 1, got [0.5, 0.4], which sums to 0.9",
        ),
        (lambda: multinomial(2, [1.5, -0.5]), "multinomial: p[1] must be at least 0, got -0.5"),
        (lambda: multinomial(2, 1.0), "multinomial: p must be a vector of finite numbers, got 1.0"),
        (lambda: mvnormal(0.0, PAIR), "mvnormal: mean must be a vector of finite numbers, got 0.0"),
        (
            lambda: mvnormal([0.0, INF], PAIR),
            "mvnormal: mean must be a vector of finite numbers, got [0.0, inf]",
        ),
        (lambda: mvnormal([0.0], PAIR), "mvnormal: cov must have 1 rows and columns"),
        (
            lambda: mvnormal([0.0, 0.0], 1.0),
            "mvnormal: cov must be a square matrix of finite numbers, got 1.0",
        ),
        (lambda: mvnormal([0.0, 0.0], PAIR[:1]), "mvnormal: cov must be a square matrix"),
        (lambda: mvnormal([0.0, 0.0], -PAIR), "mvnormal: cov must be positive definite, got [[-2.0"),
        (
            lambda: mvnormal([0.0, 0.0], asymmetric(PAIR)),
            "mvnormal: cov must be symmetric, got [[2.0, 0.601]",
        ),
        (lambda: wishart(1.0, PAIR), "wishart: df must be greater than 1, the dimension minus 1, got 1.0"),
        (lambda: wishart("a", PAIR), "wishart: df must be a number, got 'a'"),
        (
            lambda: inv_wishart(0.5, PAIR),
            "inv_wishart: df must be greater than 1, the dimension minus 1, got 0.5",
        ),
        (lambda: inv_wishart(4.0, np.zeros((2, 2))), "inv_wishart: scale must be positive definite"),
        (lambda: lkj(0, 1.0), "lkj: d must be at least 1, got 0"),
        (lambda: lkj(2.5, 1.0), "lkj: d must be an integer, got 2.5"),
        (lambda: lkj(2, 0.0), "lkj: eta must be positive and finite, got 0.0"),
    ],
)
def test_invalid_parameters(make, text):
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.problem.startswith(text)


def test_a_diagonal_in_place_of_a_matrix():
    with pytest.raises(ParameterError, match="cov must be a square matrix") as caught:
        mvnormal([0.0, 0.0], [1.0, 2.0])
    assert "write product(normal, mean, sd)" in caught.value.fix


@pytest.mark.parametrize("law", ids({**CONTINUOUS, "multinomial": SCIPY["multinomial"][0]}))
def test_value_semantics(law):
    assert_value_semantics(law, dirichlet([1.0, 7.0]))


def test_equality_and_repr():
    assert dirichlet([1, 2]) == dirichlet(np.array([1.0, 2.0])) == dirichlet((1, 2))
    assert hash(dirichlet([1, 2])) == hash(dirichlet(np.array([1.0, 2.0])))
    assert dirichlet([1, 2]) != dirichlet([1, 3])
    assert mvnormal([0, 1], PAIR) == mvnormal(np.array([0.0, 1.0]), PAIR.tolist())
    assert wishart(4.0, PAIR) != inv_wishart(4.0, PAIR)
    assert repr(dirichlet([1.0, 2.0])) == "dirichlet(alpha=[1.0, 2.0])"
    assert repr(mvnormal([0, 1], PAIR)) == "mvnormal(mean=[0.0, 1.0], cov=[[2.0, 0.6], [0.6, 1.0]])"
    assert repr(lkj(3, 2.0)) == "lkj(d=3, eta=2.0)"


@pytest.mark.parametrize("transposed", [False, True])
def test_triangular_systems_have_first_and_second_derivatives(transposed):
    rng = np.random.default_rng(1)
    lower, right = np.tril(rng.normal(size=(3, 3))) + 3 * np.eye(3), rng.normal(size=(3, 2))
    check_grads(lambda a, b: _solve(a, b, transposed), modes=["rev"], order=2)(lower, right)
    expected = np.linalg.solve(lower.T if transposed else lower, right)
    np.testing.assert_allclose(_solve(lower, right, transposed), expected, rtol=1e-12)


def test_points_that_share_a_covariance_share_its_factor():
    """A matrix that changes in place, or another with the same entries, has the factor of what it is now."""
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    first, second = mvnormal([0.0, 0.0], cov), mvnormal([1.0, 1.0], cov.copy())
    assert first.lower is second.lower
    cov[0, 0] = 3.0
    assert np.array_equal(mvnormal([0.0, 0.0], cov).lower, np.linalg.cholesky(cov))
    assert np.allclose(second.lower @ second.lower.T, [[2.0, 0.5], [0.5, 1.0]], rtol=1e-14)
    wide = np.full((2, 8), 0.5)  # as many entries as a square matrix may have
    mvnormal(np.zeros(4), np.eye(4))
    for bad in (wide, np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 0.2], [0.3, 1.0]]), np.eye(4)[:2]):
        for _ in range(2):
            with pytest.raises(ParameterError):
                mvnormal([0.0, 0.0], bad)
    for k in range(600):  # they are not kept for ever
        mvnormal([0.0], np.array([[1.0 + k]]))
    assert len(arrays._FACTORS) <= 256
