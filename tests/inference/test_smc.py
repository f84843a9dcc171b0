"""SMC samplers: temperatures and sequences of models, against exact evidences and posteriors."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, logsumexp

from gendsl import (
    bernoulli,
    beta,
    categorical,
    continuous,
    copy,
    errors,
    gen,
    normal,
    read,
    select,
    transform,
    write,
)
from gendsl.inference import (
    general_translator,
    importance_sampling,
    log_likelihood,
    mh,
    smc,
    tempered_mh,
    tempered_smc,
)
from gendsl.inference.mh import decide, mh_deciding
from gendsl.inference.smc import next_temperature
from gendsl.testing import enumerate_outcomes


@gen
def coin(n):
    p = ~beta(2, 3)
    for i in range(n):
        ("x", i) @ ~bernoulli(p)


DATA = {"x": [True] * 9 + [False] * 1}
LOG_EVIDENCE = betaln(11, 4) - betaln(2, 3)


@gen
def nearby(trace, width):
    p = ~normal(trace["p"], width)


def z_score(values, exact):
    values = np.array(values)
    return (values.mean() - exact) / (values.std(ddof=1) / math.sqrt(len(values)))


@pytest.mark.slow
@pytest.mark.parametrize(("make", "temperatures"), [
    (lambda b: tempered_mh(select("p"), b), [0.2, 0.5, 1.0]),
    (lambda b: tempered_mh(nearby, b, (0.2,)), [0.15, 1.0]),
    (None, [0.5, 1.0]),
])  # fmt: skip
def test_the_evidence_by_temperatures(make, temperatures):
    rng = np.random.default_rng(1)
    ratios, means, intermediate = [], [], []
    for _ in range(40):
        run = tempered_smc(coin, (10,), DATA, 20, kernel=make, temperatures=temperatures, rng=rng)
        ratios.append(math.exp(run.log_evidence - LOG_EVIDENCE))
        first = temperatures[0]
        powered = betaln(2 + 9 * first, 3 + first) - betaln(2, 3)  # the integral of the likelihood^beta
        intermediate.append(math.exp(run.log_evidences[0] - powered))
        means.append(run.particles.mean("p").mean)
        assert run.temperatures.tolist() == temperatures
    assert abs(z_score(ratios, 1.0)) < 4 and abs(z_score(intermediate, 1.0)) < 4
    assert np.mean(means) == pytest.approx(11 / 15, abs=0.03)


@pytest.mark.statistical
def test_adaptive_temperatures():
    rng = np.random.default_rng(2)
    runs = [
        tempered_smc(
            coin, (10,), DATA, 50, kernel=lambda b: tempered_mh(nearby, b, (0.2,)), ladder=0.6, rng=rng
        )
        for _ in range(25)
    ]
    assert abs(z_score([math.exp(run.log_evidence - LOG_EVIDENCE) for run in runs], 1.0)) < 4
    for run in runs:
        assert run.temperatures[-1] == 1.0 and (np.diff(run.temperatures) > 0).all()
        assert len(run.temperatures) > 1 and len(run.ess) == len(run.temperatures)


def test_the_next_temperature_keeps_the_share():
    rng = np.random.default_rng(3)
    log_weights, likelihoods = rng.normal(size=50), rng.normal(0, 20, size=50)
    after = next_temperature(0.1, log_weights, likelihoods, 0.6)
    w = np.exp(log_weights - logsumexp(log_weights))
    u = np.exp((after - 0.1) * likelihoods)
    assert (w @ u) ** 2 / (w @ u**2) == pytest.approx(0.6, rel=1e-6)
    assert next_temperature(0.9, log_weights, np.zeros(50), 0.6) == 1.0
    assert next_temperature(0.5, log_weights, 1e12 * likelihoods, 0.6) == pytest.approx(0.5 + 1e-6)


# --- tempered kernels, exactly -----------------------------------------------------------------------


@gen
def discrete():
    a = ~categorical([0.2, 0.5, 0.3])
    b = ~bernoulli(0.3 + 0.2 * a)
    "y" @ ~bernoulli(0.9 if b else 0.2 + 0.1 * a)
    "w" @ ~bernoulli(0.3 if b else 0.6)


@gen
def other_values(trace):
    a = ~categorical([0.6, 0.2, 0.2] if trace["b"] else [0.2, 0.2, 0.6])
    b = ~bernoulli(0.25 if trace["a"] == 0 else 0.6)


def tempered_error(kernel, power):
    """The largest |pi K - pi| for pi proportional to prior times likelihood^power, by enumeration."""
    observations = {"y": True, "w": False}
    states = [(a, b) for a in range(3) for b in (False, True)]
    traces = [
        discrete.generate((), observations, init={"a": a, "b": b}).trace for a, b in states
    ]
    logs = np.array([t.log_prob - (1 - power) * log_likelihood(t) for t in traces])
    pi = np.exp(logs - logsumexp(logs))
    after = np.zeros(len(states))
    for i, trace in enumerate(traces):
        for (new, _), p in enumerate_outcomes(lambda rng, trace=trace: kernel(trace, rng)):
            after[states.index((new["a"], bool(new["b"])))] += pi[i] * p
    return np.max(np.abs(after - pi))


@pytest.mark.parametrize("power", [0.1, 0.6, 1.0])
@pytest.mark.parametrize("target", [select("a"), select("b"), select("a", "b"), other_values])
def test_a_tempered_kernel_leaves_its_target_invariant(target, power):
    assert tempered_error(tempered_mh(target, power), power) < 1e-12


def test_a_kernel_of_the_posterior_is_not_tempered():
    assert tempered_error(mh(select("a", "b")), 0.3) > 0.01
    assert tempered_error(tempered_mh(select("a", "b"), 0.5), 0.3) > 0.001


def test_the_likelihood_is_that_of_the_observations():
    trace = discrete.generate((), {"y": True, "w": False}, init={"a": 1, "b": False}).trace
    assert log_likelihood(trace) == pytest.approx(math.log(0.3) + math.log(0.4))
    assert log_likelihood(trace) == pytest.approx(trace.project(select("y", "w")))


def test_tempering_with_the_wrong_sign_is_found():
    def step(trace, rng):
        def wrong(t, new, ratio, rng):
            change = log_likelihood(new.trace()) - log_likelihood(t)
            return decide(t, new, ratio + 0.7 * change, rng)

        return mh_deciding(wrong, select("a", "b"), (), False, None)(trace, rng)

    assert tempered_error(step, 0.3) > 0.01


# --- a sequence of models ----------------------------------------------------------------------------

X = np.array([-1.0, 0.2, 0.9, 1.4])
Y = np.array([-0.8, 0.4, 1.0, 1.9])


@gen
def constant():
    level = ~normal(0.0, 1.0)
    for i in range(4):
        ("y", i) @ ~normal(level, 0.8)


@gen
def line():
    level = ~normal(0.0, 1.0)
    slope = ~normal(0.0, 1.5)
    for i in range(4):
        ("y", i) @ ~normal(level + slope * X[i], 0.8)


@gen
def propose_slope(trace):
    s = ~normal(0.8, 0.6)


@transform
def add_slope(model_in, aux_in, *, model_out, aux_out):
    s = read(aux_in["s"], continuous)
    copy(aux_in["s"], model_out["slope"])
    write(model_out["level"], read(model_in["level"]) - 0.375 * s)


@gen
def random_walk(trace):
    level = ~normal(trace["level"], 0.4)


def log_evidence(covariance):
    return stats.multivariate_normal(np.zeros(4), covariance).logpdf(Y)


CONSTANT = log_evidence(0.64 * np.eye(4) + 1.0)
LINE = log_evidence(0.64 * np.eye(4) + 1.0 + 2.25 * np.outer(X, X))


@pytest.mark.slow
@pytest.mark.parametrize("kernels", [None, mh(random_walk), [mh(random_walk)]])
def test_a_sequence_of_models(kernels):
    rng = np.random.default_rng(5)
    to_line = general_translator(add_slope, line, (), {"y": Y}, forward=propose_slope)
    ratios = []
    for _ in range(40):
        start = importance_sampling(constant, (), {"y": Y}, 25, rng=rng)
        run = smc(start, [to_line], kernels=kernels, threshold=0.8, rng=rng)
        assert len(run.log_evidences) == 2
        ratios.append(np.exp(run.log_evidences - [CONSTANT, LINE]))
    ratios = np.array(ratios)
    assert abs(z_score(ratios[:, 0], 1.0)) < 4 and abs(z_score(ratios[:, 1], 1.0)) < 4
    assert np.isnan(run.acceptance).tolist() == [True, kernels is None]
    assert run.particles.traces[0].gen_fn == line


# --- errors ------------------------------------------------------------------------------------------


def test_what_smc_refuses():
    start = importance_sampling(constant, (), {"y": Y}, 4, rng=1)
    to_line = general_translator(add_slope, line, (), {"y": Y}, forward=propose_slope)
    with pytest.raises(errors.KernelError, match="2 kernels for 1 translators"):
        smc(start, [to_line], kernels=[None, None])
    with pytest.raises(errors.ValueTypeError, match="no trace translator"):
        smc(start, [mh(select("level"))])
    with pytest.raises(errors.KernelError):
        smc(start, [to_line], kernels=[random_walk])
    for wrong in ([], [0.5], [0.5, 0.5, 1.0], [0.0, 1.0], [1.0, 0.5]):
        with pytest.raises(errors.ValueTypeError, match="don't lead from the prior"):
            tempered_smc(coin, (1,), {}, 4, temperatures=wrong)
    with pytest.raises(errors.ValueTypeError, match="ladder="):
        tempered_smc(coin, (1,), {}, 4, ladder=1.0)
    with pytest.raises(errors.KernelError, match="one target for all temperatures"):
        tempered_smc(coin, (1,), {}, 4, kernel=mh(select("p")))
    with pytest.raises(errors.KernelError, match="tempered_smc needs a kernel for the target at beta"):
        tempered_smc(coin, (1,), {}, 4, kernel=lambda beta: mh(select("p")), temperatures=[0.5, 1.0])
    for wrong in (0.0, 1.5, "hot", True):
        with pytest.raises(errors.ValueTypeError, match="beta="):
            tempered_mh(select("p"), wrong)
    with pytest.raises(errors.KernelError):
        tempered_mh(["p"], 0.5)
    assert tempered_mh(select("p"), 0.5).name == "mh select('p') at 0.5"
    assert tempered_mh(select("p"), 0.5, name="mine").name == "mine"
