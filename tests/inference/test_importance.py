"""Importance sampling against exact evidences and posterior means; what particles say of themselves."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import betaln

from gendsl import (
    bernoulli,
    beta,
    errors,
    gamma,
    gen,
    iid,
    mvnormal,
    normal,
    poisson,
    select,
    uniform,
)  # fmt: skip
from gendsl.inference import Particles, importance_resampling, importance_sampling, mh

X = np.array([-1.0, -0.3, 0.2, 0.9, 1.4])
Y = np.array([-1.2, 0.1, 0.4, 1.0, 2.2])


@gen
def regression(x):
    slope = ~normal(0.0, 1.0)
    intercept = ~normal(0.0, 2.0)
    for i in range(len(x)):
        ("y", i) @ ~normal(intercept + slope * x[i], 0.7)


COVARIANCE = 0.49 * np.eye(5) + np.outer(X, X) + 4.0
LOG_EVIDENCE = stats.multivariate_normal(np.zeros(5), COVARIANCE).logpdf(Y)
NEAR = (0.9,)
POSTERIOR_MEAN = X @ np.linalg.solve(COVARIANCE, Y)  # of the slope


@gen
def near(center):
    slope = ~normal(center, 0.8)
    intercept = ~normal(0.5, 0.8)


@gen
def only_the_slope():
    slope = ~normal(1.0, 0.8)


@gen
def coin(n):
    p = ~beta(2, 3)
    for i in range(n):
        ("x", i) @ ~bernoulli(p)


def evidence_z(ratios):
    """z of the mean of independent estimates of the evidence, divided by the exact one."""
    ratios = np.array(ratios)
    return (ratios.mean() - 1.0) / (ratios.std(ddof=1) / math.sqrt(len(ratios)))


@pytest.mark.parametrize(("proposal", "args"), [(None, ()), (near, (0.9,)), (only_the_slope, ())])
def test_the_evidence_of_a_regression(proposal, args):
    rng = np.random.default_rng(1)
    ratios, errors_of_log = [], []
    for _ in range(80):
        found = importance_sampling(
            regression, (X,), {"y": Y}, 20, proposal=proposal, proposal_args=args, rng=rng
        )
        ratios.append(math.exp(found.log_evidence - LOG_EVIDENCE))
        errors_of_log.append(found.log_evidence_error)
    assert abs(evidence_z(ratios)) < 4
    spread = np.mean(np.square(errors_of_log) * np.square(ratios))  # unbiased for the variance
    assert spread == pytest.approx(np.var(ratios), rel=0.5)


@pytest.mark.statistical
def test_standard_errors_of_means():
    rng = np.random.default_rng(8)
    scores = []
    for _ in range(50):
        found = importance_sampling(
            regression, (X,), {"y": Y}, 200, proposal=near, proposal_args=NEAR, rng=rng
        )
        estimate = found.mean("slope")
        scores.append((estimate.mean - POSTERIOR_MEAN) / estimate.standard_error)
    assert abs(np.mean(scores)) * math.sqrt(50) < 4
    assert np.std(scores) == pytest.approx(1.0, abs=0.35)


def test_the_evidence_of_a_beta_binomial():
    rng = np.random.default_rng(2)
    data = {"x": [True] * 6 + [False] * 2}
    exact = betaln(8, 5) - betaln(2, 3)
    ratios = [
        math.exp(importance_sampling(coin, (8,), data, 20, rng=rng).log_evidence - exact) for _ in range(80)
    ]
    assert abs(evidence_z(ratios)) < 4
    many = importance_sampling(coin, (8,), data, 500, rng=rng)
    estimate = many.mean(lambda trace: trace["p"])
    assert abs(estimate.mean - 8 / 13) < 4 * estimate.standard_error < 0.2


def test_a_weight_without_the_proposals_score_is_found():
    """What the first test looks for: weights that forget log q are off by far."""
    rng = np.random.default_rng(3)
    found = importance_sampling(regression, (X,), {"y": Y}, 600, proposal=near, proposal_args=NEAR, rng=rng)
    assert abs(found.log_evidence - LOG_EVIDENCE) < 4 * found.log_evidence_error
    wrong = Particles(found.traces, [trace.log_prob for trace in found.traces], found.size)
    assert abs(wrong.log_evidence - LOG_EVIDENCE) > 10 * wrong.log_evidence_error


def test_observations_hold_in_the_traces():
    found = importance_sampling(regression, (X,), {"y": Y}, 3, proposal=only_the_slope, rng=1)
    moved, acceptance = found.rejuvenate(mh(select("slope")), rng=2)
    assert 0.0 <= acceptance <= 1.0
    for trace in (*found.traces, *moved.traces):
        assert [trace["y", i] for i in range(5)] == Y.tolist() and len(trace.observed) == 5
    with pytest.raises(errors.ObservedError):
        found.rejuvenate(mh(select("y")), rng=2)


def test_importance_resampling_draws_from_the_posterior():
    rng = np.random.default_rng(4)
    data = {"x": [True] * 6 + [False] * 2}
    drawn = [importance_resampling(coin, (8,), data, 40, rng=rng) for _ in range(60)]
    level = stats.beta(8, 5).cdf([trace["p"] for trace, _ in drawn])
    assert stats.kstest(level, "uniform").pvalue > 0.001
    exact = betaln(8, 5) - betaln(2, 3)
    assert abs(evidence_z([math.exp(log_evidence - exact) for _, log_evidence in drawn])) < 4


# --- weight zero -------------------------------------------------------------------------------------


@gen
def scale(n):
    sd = ~gamma(2, 1)
    for i in range(n):
        ("y", i) @ ~normal(0.0, sd)  # which doesn't run where sd < 0


@gen
def any_sd():
    sd = ~normal(0.5, 1.0)


def test_proposals_out_of_the_support_have_weight_zero():
    rng = np.random.default_rng(5)
    exact, _ = quad(lambda s: stats.gamma(2).pdf(s) * stats.norm(0, s).pdf(0.6), 0, 30)
    found = importance_sampling(scale, (1,), {"y": [0.6]}, 800, proposal=any_sd, rng=rng)
    assert len(found) == 800 and 490 < len(found.traces) < 620
    z = (math.exp(found.log_evidence) - exact) / (math.exp(found.log_evidence) * found.log_evidence_error)
    assert abs(z) < 4


def test_all_weights_zero():
    @gen
    def bounded():
        y = ~uniform(0, 1)

    for function in (importance_sampling, importance_resampling):
        with pytest.raises(errors.ZeroProbabilityError, match="all 5 particles have weight zero") as caught:
            function(bounded, (), {"y": 2.0}, 5)
        assert "out of support at 'y'" in str(caught.value) and "more particles" in caught.value.fix


def test_an_error_in_the_program_is_no_weight():
    @gen
    def broken():
        x = ~normal(0, 1)
        raise RuntimeError("oops")

    @gen
    def q():
        x = ~normal(0, 1)

    with pytest.raises(RuntimeError, match="oops"):
        importance_sampling(broken, (), {}, 3, proposal=q)


# --- errors ------------------------------------------------------------------------------------------


def test_what_importance_sampling_refuses():
    @gen
    def data():
        ("y", 1) @ ~normal(0, 1)

    @gen
    def typo():
        slop = ~normal(0, 1)

    @gen
    def count():
        slope = ~poisson(1)

    @gen
    def whole():
        y = ~iid(normal(0, 1), 5)

    def refuse(error, message, proposal, observations=None):
        with pytest.raises(error, match=message):
            importance_sampling(regression, (X,), observations, 3, proposal=proposal)

    refuse(errors.ObservedError, "proposes an observation", data, {"y": Y})
    refuse(errors.UnknownAddressError, "init|doesn't make", typo)
    refuse(errors.LabelError, "discrete", count)
    refuse(errors.UnknownAddressError, "doesn't make", whole)
    refuse(errors.KernelError, "the proposal is", "q")
    with pytest.raises(errors.KernelError, match="needs a model"):
        importance_sampling(lambda: 1)
    for wrong in (0, 2.5, True):
        with pytest.raises(errors.ValueTypeError, match="particles="):
            importance_sampling(regression, (X,), {"y": Y}, wrong)
    with pytest.raises(errors.UnknownAddressError):
        importance_sampling(regression, (X,), {"z": 1.0}, 2)


# --- particles ---------------------------------------------------------------------------------------


def test_summaries_of_particles():
    found = Particles(({"k": 1}, {"k": 2}, {"k": 1}), np.log([1.0, 2.0, 1.0]), 3)
    assert found.mean(lambda trace: trace["k"]).mean == pytest.approx(1.5)
    error = math.sqrt(np.sum(np.array([0.25, 0.5, 0.25]) ** 2 * 0.25))
    assert found.mean(lambda trace: trace["k"]).standard_error == pytest.approx(error)
    shares = found.frequency(lambda trace: trace["k"])
    assert str(shares).splitlines()[0].split() == ["value", "share", "error"]
    assert list(shares) == [1, 2] and shares[1].probability == pytest.approx(0.5)
    arrays = found.mean(lambda trace: np.array([trace["k"], 1.0]))
    np.testing.assert_allclose(arrays.mean, [1.5, 1.0])
    np.testing.assert_allclose(arrays.standard_error, [error, 0.0], atol=1e-15)
    drawn = found.sample_unweighted(4000, rng=1)
    assert np.mean([trace["k"] == 2 for trace in drawn]) == pytest.approx(0.5, abs=4 * 0.5 / 4000**0.5)
    with pytest.raises(errors.ValueTypeError, match="can't be counted"):
        found.frequency(lambda trace: np.array([trace["k"]]))
    with pytest.raises(errors.ValueTypeError, match="sample_unweighted got n=-1"):
        found.sample_unweighted(-1)


def test_particles_of_one_family_have_no_error():
    found = Particles(({"k": 1}, {"k": 2}), [0.0, 0.0], 2, families=np.array([1, 1]))
    assert math.isnan(found.mean(lambda trace: trace["k"]).standard_error)
    assert math.isnan(found.log_evidence_error)


def test_what_particles_refuse():
    with pytest.raises(errors.ZeroProbabilityError, match="all 4 particles"):
        Particles((), [], 4)
    with pytest.raises(errors.ValueTypeError, match="one finite log weight"):
        Particles(("a",), [math.nan], 1)
    with pytest.raises(errors.ValueTypeError, match="no trace translator"):
        Particles(("a",), [0.0], 1).translate("b")
    with pytest.raises(errors.ValueTypeError, match="NaN or infinite"):
        Particles(("a",), [0.0], 1).reweight([math.nan])
    with pytest.raises(errors.ZeroProbabilityError, match="all 1 particles"):
        Particles(("a",), [0.0], 1).reweight([-math.inf])
    assert "2 particles" in repr(Particles(("a", "b"), [0.0, 0.0], 2))


def test_the_effective_sample_size_doesn_t_depend_on_scale():
    """The formula (sum w)^2 / sum w^2, on weights far from 1."""
    weights = np.array([3.0, 1.0, 0.5]) * 1e-200
    assert Particles(("a", "b", "c"), np.log(weights), 3).ess == pytest.approx(4.5**2 / (9 + 1 + 0.25))


def test_arrays_of_choices():
    @gen
    def model():
        v = ~mvnormal(np.zeros(2), np.eye(2))
        "y" @ ~normal(v[0], 1.0)

    found = importance_sampling(model, (), {"y": 0.5}, 500, rng=6)
    estimate = found.mean("v")
    assert estimate.mean.shape == estimate.standard_error.shape == (2,)
    assert (np.abs(estimate.mean - [0.25, 0.0]) < 4 * estimate.standard_error).all()
