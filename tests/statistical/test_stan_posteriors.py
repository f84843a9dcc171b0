"""Posteriors that Stan's users know, against numerical integration.

Eight schools (Rubin 1981; Gelman et al., "Bayesian Data Analysis", section 5.5) with the priors of Stan's
example; the bioassay, a logistic regression with flat priors (the same, section 3.7); a mixture of two
normals with means in order (Stan User's Guide). All are moved by `nuts()` as it comes.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from gendsl import (
    binom,
    flat,
    gen,
    half_cauchy,
    iid,
    mixture_of_normals,
    normal,
    ordered,
    product,
    sample,
    select,
    uniform,
)
from gendsl.inference import monte_carlo_error, nuts

pytestmark = pytest.mark.statistical


def scores(run, exact):
    """By quantity, how many standard errors the mean of a run is away from what it should be."""
    found = {}
    for name, expected in exact.items():
        values = np.asarray(run[name], dtype=float).reshape(len(run), -1).T
        for i, (column, mean) in enumerate(zip(values, np.ravel(expected), strict=True)):
            found[name, i] = (column.mean() - mean) / monte_carlo_error(column)
    return found


def assert_means(run, exact):
    assert max(map(abs, scores(run, exact).values())) < 4.0, scores(run, exact)


def are_told_apart(run, wrong):
    return max(map(abs, scores(run, wrong).values())) > 4.0


# --- eight schools, not centred ---------------------------------------------------------------------------

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


@gen
def eight_schools(errors):
    mu = ~normal(0, 5)
    tau = ~half_cauchy(5)
    eta = [("eta", j) @ ~normal(0, 1) for j in range(len(errors))]
    for j in range(len(errors)):
        ("y", j) @ ~normal(mu + tau * eta[j], errors[j])


def eight_schools_exactly(scale=5.0):
    """The means of mu, tau and eta: given tau they are normal, and what is left is an integral over tau."""

    def given(tau):
        variances = ERRORS**2 + tau**2
        precision = 1 / 25.0 + (1 / variances).sum()
        mu = (EFFECTS / variances).sum() / precision
        log_marginal = -0.5 * np.log(variances).sum() - 0.5 * math.log(25.0 * precision)
        log_marginal += 0.5 * mu * mu * precision - 0.5 * (EFFECTS**2 / variances).sum()
        weight = math.exp(log_marginal + 30.0) / (1 + (tau / scale) ** 2)
        return weight * np.array([1.0, mu, tau, *(tau * (EFFECTS - mu) / variances)])

    integrals, _ = scipy.integrate.quad_vec(given, 0.0, np.inf, epsrel=1e-9)
    _, mu, tau, *eta = integrals / integrals[0]
    return {"mu": mu, "tau": tau, "eta": eta}


@functools.cache
def schools_run():
    init = {"mu": 4.0, "tau": 3.0, "eta": np.zeros(8)}
    start, _ = eight_schools.generate((ERRORS,), {"y": EFFECTS}, init=init)
    return sample(nuts(), start, 400, warmup=150, record=["mu", "tau", "eta"], seed=1)


def test_eight_schools():
    assert schools_run()["eta"].shape == (400, 8)
    assert_means(schools_run(), eight_schools_exactly())
    assert are_told_apart(schools_run(), eight_schools_exactly(scale=1.0))


# --- a logistic regression with flat priors ---------------------------------------------------------------

DOSES, ANIMALS, DEATHS = [-0.86, -0.30, -0.05, 0.73], [5, 5, 5, 5], [0, 1, 3, 5]


@gen
def bioassay(doses, animals):
    alpha = ~flat()
    beta = ~flat()
    for i in range(len(doses)):
        ("deaths", i) @ ~binom(animals[i], logit=alpha + beta * doses[i])


@gen
def bioassay_at_once(doses, animals):
    alpha = ~flat()
    beta = ~flat()
    deaths = ~product(binom, n=animals, logit=alpha + beta * doses)


def bioassay_exactly(deaths):
    """The means of alpha and beta by the trapezium rule."""
    alpha, beta = np.linspace(-8.0, 14.0, 600)[:, None], np.linspace(-10.0, 70.0, 800)
    total = np.zeros((600, 800))
    for x, n, y in zip(DOSES, ANIMALS, deaths, strict=True):
        total += scipy.stats.binom.logpmf(y, n, scipy.special.expit(alpha + beta * x))
    weights = np.exp(total - total.max())
    assert max(weights[0].max(), weights[-1].max(), weights[:, 0].max(), weights[:, -1].max()) < 1e-6
    return {"alpha": (alpha * weights).sum() / weights.sum(), "beta": (beta * weights).sum() / weights.sum()}


def test_a_logistic_regression():
    start, _ = bioassay.generate((DOSES, ANIMALS), {"deaths": DEATHS}, init={"alpha": 1.0, "beta": 10.0})
    run = sample(nuts(), start, 500, warmup=150, record=["alpha", "beta"], seed=2)
    assert_means(run, bioassay_exactly(DEATHS))
    assert are_told_apart(run, bioassay_exactly([1, 1, 3, 5]))


def test_a_logistic_regression_at_once_is_the_same():
    given, init = np.array(DEATHS), {"alpha": 0.7, "beta": 8.0}
    one, _ = bioassay.generate((DOSES, ANIMALS), {"deaths": DEATHS}, init=init)
    args = np.array(DOSES), np.array(ANIMALS)
    other, _ = bioassay_at_once.generate(args, {"deaths": given}, init=init)
    assert other.log_prob == pytest.approx(one.log_prob, rel=1e-12)
    kernel = nuts(step_size=0.3, max_depth=4)
    for seed in range(5):
        one, other = (kernel(trace, np.random.default_rng(seed))[0] for trace in (one, other))
        assert other["beta"] == pytest.approx(one["beta"], rel=1e-9)


def test_the_logistic_regression_has_its_slopes_far_away():
    """At logits of 800 and -800 the density and its gradient are numbers, and a trajectory leads back."""
    data = {"deaths": DEATHS}
    for alpha in (800.0, -800.0):
        start, _ = bioassay.generate((DOSES, ANIMALS), data, init={"alpha": alpha, "beta": 0.0})
        slope = sum(DEATHS) - sum(ANIMALS) * (alpha > 0)
        gradient = start.gradients(select("alpha", "beta"))
        assert gradient["alpha"] == pytest.approx(slope)
        assert start.log_prob == pytest.approx(-abs(slope) * 800.0, rel=1e-2)
        after, info = nuts(step_size=2.0, max_depth=5)(start, np.random.default_rng(1))
        assert info.divergences == 0 and abs(after["alpha"]) < 800.0


# --- a mixture of two normals, its means in order ---------------------------------------------------------

POINTS = np.random.default_rng(5).normal([-1.5] * 12 + [2.0] * 8)


@gen
def two_clusters(n):
    means = ~ordered(flat(-10, 10), 2)
    share = ~uniform(0, 1)
    y = ~iid(mixture_of_normals([share, 1 - share], means, [1.0, 1.0]), n)


def two_clusters_exactly(in_order=True):
    """The means of both means and of the share, by the trapezium rule and Gauss-Legendre's.

    Not in order, the second mean is uniform wherever the first one is.
    """
    grid = np.linspace(-10.0, 10.0, 201)
    ends = np.where((grid == -10.0) | (grid == 10.0), 0.5, 1.0)
    area = ends[:, None] * ends
    if in_order:
        area = area * (0.5 + 0.5 * np.sign(grid - grid[:, None]))
    each = scipy.stats.norm.pdf(POINTS[:, None], grid)
    nodes, weights = np.polynomial.legendre.leggauss(30)
    total, sums = 0.0, np.zeros(3)
    for share, weight in zip(0.5 * (nodes + 1.0), 0.5 * weights, strict=True):
        product = np.ones((201, 201))
        for density in each:
            product *= 4.0 * (share * density[:, None] + (1.0 - share) * density)
        product *= area * weight
        total += product.sum()
        sums += (product * grid[:, None]).sum(), (product * grid).sum(), share * product.sum()
    return {"means": sums[:2] / total, "share": sums[2] / total}


def test_a_mixture_with_means_in_order():
    init = {"means": np.array([-1.0, 1.0]), "share": 0.5}
    start, _ = two_clusters.generate((len(POINTS),), {"y": POINTS}, init=init)
    run = sample(nuts(), start, 250, warmup=100, record=["means", "share"], seed=3)
    assert (np.diff(run["means"]) >= 0).all()
    assert_means(run, two_clusters_exactly())
    assert are_told_apart(run, two_clusters_exactly(in_order=False))
