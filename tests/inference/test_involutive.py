"""One step of involutive MCMC: its ratio, what it returns, and what it does when something is wrong."""

import gc
import logging
import math

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    beta,
    copy,
    discrete,
    gen,
    involutive_mcmc,
    normal,
    read,
    transform,
    uniform,
    uniform_discrete,
    write,
)
from gendsl.errors import KernelError, NaNError, ZeroProbabilityError
from gendsl.inference import InvolutiveInfo, involutive, sample
from gendsl.supports import Positive

# --- the acceptance ratio ----------------------------------------------------------------------------


@gen
def one_or_two(n):
    k = ~uniform_discrete(1, 2)
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~normal(sum(mu) / k, 1)


@gen
def offset(trace, a):
    if trace["k"] == 1:
        u = ~beta(a, 2)


@transform
def split_merge(model_in, aux_in, *, model_out, aux_out):
    if read(model_in["k"], discrete) == 1:
        write(model_out["k"], 2, discrete)
        mu, u = read(model_in["mu", 0]), read(aux_in["u"])
        write(model_out["mu", 0], mu - u)
        write(model_out["mu", 1], mu + 2 * u)
    else:
        write(model_out["k"], 1, discrete)
        mu1, mu2 = read(model_in["mu", 0]), read(model_in["mu", 1])
        u = (mu2 - mu1) / 3
        write(model_out["mu", 0], mu1 + u)
        write(aux_out["u"], u)


def test_ratio_of_a_split_and_of_the_merge_that_undoes_it():
    data = np.array([0.2, 1.0])
    trace, _ = one_or_two.generate((2,), {"x": data}, init={"k": 1, ("mu", 0): 0.5})
    ratios = {}
    for seed in range(30):
        after, info = involutive_mcmc(trace, offset, (3.0,), split_merge, check=True, rng=seed)
        u = offset.simulate((trace, 3.0), rng=seed)["u"]
        model = (
            stats.norm.logpdf([0.5 - u, 0.5 + 2 * u], 0, 10).sum() - stats.norm.logpdf(0.5, 0, 10)
            + stats.norm.logpdf(data, 0.5 + u / 2, 1).sum() - stats.norm.logpdf(data, 0.5, 1).sum()
        )  # fmt: skip
        aux = -stats.beta.logpdf(u, 3, 2)
        assert info.log_model_ratio == pytest.approx(model)
        assert info.log_aux_ratio == pytest.approx(aux)
        assert info.log_abs_det == pytest.approx(math.log(3))
        assert info.log_accept_ratio == pytest.approx(model + aux + math.log(3))
        assert info.reason is None and not info.check_failed
        ratios[info.accepted] = info.log_accept_ratio
        if info.accepted:
            assert after["k"] == 2 and after is not trace
            back, undo = involutive_mcmc(after, offset, (3.0,), split_merge, check=True, rng=seed)
            assert undo.log_accept_ratio == pytest.approx(-info.log_accept_ratio)
            assert undo.log_abs_det == pytest.approx(-math.log(3))
        else:
            assert after is trace
    assert set(ratios) == {True, False}


def test_a_move_is_accepted_as_often_as_its_ratio_says():
    @gen
    def model():
        b = ~bernoulli(0.2)

    @transform
    def flip(model_in, *, model_out):
        write(model_out["b"], not read(model_in["b"]))

    trace, _ = model.generate((), init={"b": False})
    rng = np.random.default_rng(1)
    accepted = [involutive_mcmc(trace, None, (), flip, rng=rng)[1].accepted for _ in range(4000)]
    z = (np.mean(accepted) - 0.25) / math.sqrt(0.25 * 0.75 / 4000)
    assert abs(z) < 4
    _, info = involutive_mcmc(trace, None, (), flip, rng=rng)
    assert info.log_accept_ratio == pytest.approx(math.log(0.25))


@pytest.mark.slow
@pytest.mark.parametrize("check", [False, True])
def test_a_step_leaves_nothing_to_the_garbage_collector(check):
    """What a step makes is freed as the step ends: to collect it would take as long as to make it."""
    trace, _ = one_or_two.generate((2,), {"x": [0.2, 1.0]}, init={"k": 1, ("mu", 0): 0.5})
    rng = np.random.default_rng(1)

    def steps(trace):
        for _ in range(20):
            trace, _ = involutive_mcmc(trace, offset, (3.0,), split_merge, check=check, rng=rng)

    for _ in range(100):
        steps(trace)  # until there are all of the plans: to make one leaves something
    gc.collect()
    gc.disable()
    try:
        steps(trace)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_observations_and_arguments_survive():
    trace, _ = one_or_two.generate((2,), {"x": [0.2, 1.0]}, init={"k": 2, ("mu", 0): 0.5, ("mu", 1): 2.0})
    for seed in range(20):
        after, info = involutive_mcmc(trace, offset, (2.0,), split_merge, rng=seed)
        if info.accepted:
            break
    assert info.accepted
    assert after.observed == trace.observed and after.args == (2,)
    assert after.log_prob == pytest.approx(one_or_two.assess((2,), after.choices).log_prob)


def test_one_seed_one_step():
    trace = one_or_two.generate((1,), {("x", 0): 0.0}, init={"k": 1, ("mu", 0): 0.5}).trace
    results = [involutive_mcmc(trace, offset, (2.0,), split_merge, rng=seed)[1] for seed in (4, 4, 5)]
    assert results[0] == results[1] != results[2]


def test_check_changes_nothing_that_is_right():
    trace = one_or_two.generate((1,), {("x", 0): 0.0}, init={"k": 1, ("mu", 0): 0.5}).trace
    kernels = [involutive(offset, split_merge, (2.0,), check=check) for check in (False, True, "reject")]
    runs = [sample(kernel, trace, 200, record="k", seed=3) for kernel in kernels]
    assert runs[0].recorded == runs[1].recorded == runs[2].recorded
    assert len(set(runs[0]["k"])) == 2


def test_kernel_and_its_name():
    kernel = involutive(offset, split_merge, (2.0,))
    assert kernel.name == "split_merge" and repr(kernel) == "<kernel split_merge>"
    assert involutive(offset, split_merge, (2.0,), name="sm").name == "sm"
    trace = one_or_two.generate((1,), {("x", 0): 0.0}, init={"k": 1, ("mu", 0): 0.5}).trace
    step = involutive_mcmc(trace, offset, (2.0,), split_merge, rng=4)
    assert kernel(trace, 4)[1] == step[1]
    with pytest.raises(KernelError, match="kernel split_merge was called with 3, which is no trace"):
        kernel(3)


def test_info_is_frozen():
    with pytest.raises(AttributeError):
        InvolutiveInfo(True, 0.0).accepted = False


# --- NaN and infinity --------------------------------------------------------------------------------


class Peak:
    """An improper density, infinite at 1."""

    support = Positive()

    def sample(self, rng):
        return 0.5

    def logpdf(self, x):
        return math.inf if x == 1.0 else 0.0


@gen
def peaked():
    x = ~Peak()


@pytest.mark.parametrize("check", [False, True])
def test_a_ratio_that_is_nan_is_an_error(check):
    """A move into an infinite density would always be accepted, and could never be left."""

    @transform
    def f(model_in, *, model_out):
        write(model_out["x"], 1.5 - read(model_in["x"]))

    trace, _ = peaked.generate((), init={"x": 0.5})
    with pytest.raises(NaNError, match="the log acceptance ratio of transform f is inf"):
        involutive_mcmc(trace, None, (), f, check=check)
    after, info = involutive_mcmc(trace, None, (), f, check="reject")
    assert after is trace and info.check_failed and not info.accepted


def test_infinities_that_cancel_between_model_and_auxiliary_program():
    @gen
    def q(trace):
        u = ~Peak()

    @transform
    def f(model_in, aux_in, *, model_out, aux_out):
        copy(model_in["x"], aux_out["u"])
        copy(aux_in["u"], model_out["x"])

    trace, _ = peaked.generate((), init={"x": 1.0})
    with pytest.raises(ZeroProbabilityError, match="the log density is inf"):
        involutive_mcmc(trace, q, (), f)


# --- check="reject" ----------------------------------------------------------------------------------


@gen
def ring():
    x = ~uniform(0, 1)
    weight = ~bernoulli(0.2 + 0.6 * x)


@gen
def shifts(trace):
    d = ~normal(0, 0.3)


@transform
def sticky(model_in, aux_in, *, model_out, aux_out):
    """A walk that is no involution where it starts left of 0.4."""
    x, d = read(model_in["x"]), read(aux_in["d"])
    write(model_out["x"], x + d + (0.2 if x < 0.4 else 0.0))
    write(aux_out["d"], -d)


@pytest.mark.slow
def test_rejected_failures_leave_the_posterior_invariant(caplog):
    """The lemma of section 6: x is uniform from the start and must stay so."""
    caplog.set_level(logging.CRITICAL, logger="gendsl")
    rng = np.random.default_rng(1)
    kernel = involutive(shifts, sticky, check="reject")
    finals, failed = [], 0
    for _ in range(400):
        trace = ring.simulate((), rng=rng)
        for _ in range(12):
            trace, info = kernel(trace, rng)
            failed += info.check_failed
        finals.append(trace["x"])
    assert failed > 400
    for power in (1, 2):
        moments = np.array(finals) ** power
        expected, variance = 1 / (power + 1), 1 / (2 * power + 1) - 1 / (power + 1) ** 2
        assert abs(moments.mean() - expected) / math.sqrt(variance / 400) < 4


def test_the_first_failures_are_logged_and_then_one_line_for_every_hundred(caplog):
    @transform
    def never_back(model_in, *, model_out):
        write(model_out["x"], read(model_in["x"]) / 2)

    trace, _ = ring.generate((), init={"x": 0.5})
    with caplog.at_level(logging.WARNING, logger="gendsl"):
        run = sample(involutive(None, never_back, check="reject"), trace, 420, seed=1)
    messages = [record.getMessage() for record in caplog.records]
    assert run.acceptance["never_back"].failed_checks == 420
    assert "420 failed a check and were rejected" in str(run)
    assert len(messages) == 3 + 1 + 4
    for message in messages[:3]:
        assert "failed a check, the proposal is rejected: " in message and "fix: " in message
    assert "a line for every 100, and a run counts all" in messages[3]
    for number, message in enumerate(messages[4:], 1):
        start = f"transform never_back has failed {100 * number} checks; the last: InvolutionError: "
        assert message.startswith(start) and "\n" not in message
    with caplog.at_level(logging.WARNING, logger="gendsl"):
        for _ in range(80):  # a step by hand is one of them
            trace, _ = involutive_mcmc(trace, None, (), never_back, check="reject")
    assert len(caplog.records) == 9 and "has failed 500 checks" in caplog.records[-1].getMessage()


def test_failures_are_counted_in_a_run(caplog):
    caplog.set_level(logging.CRITICAL, logger="gendsl")
    trace, _ = ring.generate((), init={"x": 0.1})
    run = sample(involutive(shifts, sticky, check="reject"), trace, 50, seed=1)
    tally = run.acceptance["sticky"]
    assert tally.proposed == 50 and 0 < tally.failed_checks <= 50 - tally.accepted
    assert f"{tally.failed_checks} failed a check and were rejected" in str(run)
