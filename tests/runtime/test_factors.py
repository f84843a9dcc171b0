"""Factors: what they are in every operation, in kernels and in estimates of the evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate

from gendsl import (
    bernoulli,
    check_involutive,
    continuous,
    discrete,
    factor,
    gamma,
    gen,
    iid,
    involutive_mcmc,
    load_trace,
    normal,
    read,
    sample,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import ImproperError, MissingChoiceError, ParameterError, ZeroProbabilityError
from gendsl.inference import (
    cycle,
    enumerate_posterior,
    gibbs,
    importance_sampling,
    involutive,
    mh,
    nuts,
    random_walk,
    single_site,
    slice_sampling,
    tempered_smc,
)
from gendsl.runtime import reexecutions
from gendsl.runtime.trace import check_start
from gendsl.testing import assert_laws

RUNTIMES = pytest.mark.parametrize("runtime", ["compiled", "reference"])


def on(runtime, program):
    return program.reference if runtime == "reference" else program


@gen
def comes_and_goes(n):
    """Factors on their own, in a branch, in loops that grow, in a call, and of a discrete choice."""
    k = ~uniform_discrete(1, 3)
    x = ~normal(0, 1)
    "curve" @ ~factor(-0.5 * x**4)
    if x > 0:
        s = ~gamma(2, 1)
        "scale" @ ~factor(-s)
    for j in range(k):
        mu = ("mu", j) @ ~normal(x, 1)
        ("near", j) @ ~factor(-abs(mu))
    for i in range(n):
        ("y", i) @ ~normal(x, 1)
        ("w", i) @ ~factor(0.1 * i * x)
    "below" @ ~penalised(k)


@gen
def penalised(k):
    z = ~bernoulli(0.4)
    f = ~factor(1.5 * k if z else -0.25)
    return f


@gen
def two_arms():
    """One address that is a factor's in both arms, and one that is in one of them only."""
    z = ~bernoulli(0.5)
    x = ~normal(0, 1)
    if z:
        "f" @ ~factor(x)
        "g" @ ~factor(2.0)
    else:
        "f" @ ~factor(-x)


@RUNTIMES
def test_the_weight_laws(runtime):
    assert_laws(on(runtime, comes_and_goes), (3,), other_args=[(0,), (12,)], cases=12)
    assert_laws(on(runtime, two_arms), cases=20)


@pytest.mark.parametrize("planted", ["fresh", "gone"])
def test_the_laws_tell_a_factor_that_is_taken_for_a_draw(planted, monkeypatch):
    if planted == "fresh":
        monkeypatch.setattr(reexecutions, "of_factor", lambda d: (d, True, d.logpdf(True) + 1e-3))
    else:
        monkeypatch.setattr(reexecutions, "factors", lambda records: 0.0)
    with pytest.raises(AssertionError):
        assert_laws(two_arms.reference, cases=20)


@gen
def walk():
    x = ~normal(0, 1)
    y = "curve" @ ~factor(-abs(x))
    return y


@RUNTIMES
def test_each_operation(runtime):
    program = on(runtime, walk)
    trace = program.simulate(rng=1)
    x = trace["x"]
    assert trace["curve"] is True and trace.retval is True
    assert trace["x"] == normal(0, 1).sample(np.random.default_rng(1))  # as if there were no factor
    assert trace.log_prob == pytest.approx(normal(0, 1).logpdf(x) - abs(x))
    assert trace.project(select("curve")) == pytest.approx(-abs(x))
    _, weight = program.generate(rng=1)
    assert weight == pytest.approx(-abs(x))
    made, weight = program.generate((), {"x": 2.0, "curve": True})
    assert weight == made.log_prob == pytest.approx(normal(0, 1).logpdf(2.0) - 2.0)
    assert list(made.observed) == [("x",), ("curve",)]
    assert program.generate((), {"curve": False}, rng=1).trace.log_prob == -math.inf
    new, weight, discard = trace.update({"x": 3.0})
    assert weight == pytest.approx(normal(0, 1).logpdf(3.0) - 3.0 - trace.log_prob)
    assert discard.to_flat_dict() == {("x",): x}
    for selection in (select("x"), select("x", "curve"), select("curve")):
        new, weight = trace.regenerate(selection, rng=2)
        assert weight == pytest.approx(abs(x) - abs(new["x"]))
    assert program.assess((), {"x": 2.0}) == program.assess((), {"x": 2.0, "curve": True})
    with pytest.raises(MissingChoiceError):
        program.assess((), {"curve": True})
    assert trace.gradients(select("x"))["x"] == pytest.approx(-x - np.sign(x))
    assert program() is True


@RUNTIMES
def test_a_trace_with_factors_is_saved_and_loaded(runtime, tmp_path):
    trace = on(runtime, comes_and_goes).generate((3,), {"y": [0.1, 0.2, 0.3]}, rng=1).trace
    trace.save(tmp_path / "t.trace")
    again = load_trace(tmp_path / "t.trace", on(runtime, comes_and_goes))
    assert again.choices == trace.choices and again.log_prob == pytest.approx(trace.log_prob)


def test_parameters():
    assert factor(-math.inf).logpdf(True) == -math.inf and factor(3).logpdf(True) == 3.0
    assert factor(np.float64(0.5)) == factor(0.5) and repr(factor(0.5)) == "factor(log_weight=0.5)"
    assert factor(0.5).logpdf(1) == 0.5 and factor(0.5).logpdf(None) == -math.inf
    for wrong, text in [
        (math.nan, "factor: log_weight must be a number or -inf, got nan"),
        (math.inf, "factor: log_weight must be a number or -inf, got inf"),
        ("a", "factor: log_weight must be a number, got 'a' of type str"),
        (np.zeros(2), r"factor: log_weight must be one number, got array"),
    ]:
        with pytest.raises(ParameterError, match=text) as caught:
            factor(wrong)
    assert caught.value.fix == "add up the terms: factor(np.sum(log_weights))"
    with pytest.raises(ParameterError):
        iid(factor(0.5), 3)


@gen
def bounded():
    x = ~normal(0, 1)
    "limit" @ ~factor(0.0 if x < 1.0 else -math.inf)


@RUNTIMES
def test_an_impossible_trace(runtime):
    """The limit makes a truncated normal: moves beyond it are rejected."""
    program = on(runtime, bounded)
    out, weight = program.generate((), {"x": 2.0})
    assert weight == out.log_prob == -math.inf
    with pytest.raises(ZeroProbabilityError, match="the log weight of a factor is -inf") as caught:
        check_start(out)
    assert caught.value.address == ("limit",)
    assert program.simulate(rng=4).log_prob > -math.inf  # from a seed with x < 1
    trace, _ = program.generate(init={"x": 0.5})
    for kernel in (mh("x"), random_walk("x", 1.0), slice_sampling("x"), single_site(select.all)):
        rng = np.random.default_rng(1)
        now, values = trace, []
        for _ in range(100):
            now, _ = kernel(now, rng)
            values.append(now["x"])
        assert max(values) < 1.0 and len(set(values)) > 20


@gen
def quartic():
    x = ~normal(0, 1)
    "curve" @ ~factor(-(x**4) + x)


def moments():
    density = lambda x: math.exp(-0.5 * x * x - x**4 + x)
    total = scipy.integrate.quad(density, -8, 8)[0]
    first, second = (scipy.integrate.quad(lambda x: x**p * density(x), -8, 8)[0] / total for p in (1, 2))
    return first, second, total / math.sqrt(2 * math.pi)


@gen
def step(trace):
    d = ~normal(0, 0.7)


@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    x, d = read(model_in["x"], continuous), read(aux_in["d"], continuous)
    write(model_out["x"], x + d)
    write(aux_out["d"], -d)


@gen
def near(trace):
    x = ~normal(0.5 * trace["x"], 1)


@pytest.mark.parametrize(
    "kernel",
    [mh("x"), mh(select("x", "curve")), mh(near), involutive(step, shift, check=True), nuts("x", 0.7),
     random_walk("x", 1.0), slice_sampling("x")],
    ids=lambda kernel: kernel.name,
)  # fmt: skip
@RUNTIMES
def test_kernels_sample_the_density_with_its_factors(kernel, runtime):
    """Against numerical integration: E x and E x^2 of exp(-x^2 / 2 - x^4 + x)."""
    first, second, _ = moments()
    start, _ = on(runtime, quartic).generate(init={"x": 0.3})
    draws = 600 if "nuts" in kernel.name else 2000
    run = sample(kernel, start, draws, warmup=20, record="x", seed=11)
    for power, exact in ((1, first), (2, second)):
        values = run["x"] ** power
        batches = values.reshape(20, -1).mean(1)
        error = batches.std(ddof=1) / math.sqrt(20)
        assert abs(values.mean() - exact) < 4.0 * error, (power, values.mean(), exact, error)
        assert error < 0.1


def test_a_kernel_that_forgets_the_factor_is_seen(monkeypatch):
    monkeypatch.setattr(reexecutions, "of_factor", lambda distribution: (distribution, True, 0.0))
    with pytest.raises(AssertionError):
        test_kernels_sample_the_density_with_its_factors(mh("x"), "reference")


@RUNTIMES
def test_the_evidence_has_the_factors(runtime):
    exact = math.log(moments()[2])
    program = on(runtime, quartic)
    particles = importance_sampling(program, (), None, 2000, rng=3)
    weights = np.exp(particles.log_weights)
    error = weights.std() / weights.mean() / math.sqrt(2000)
    assert abs(particles.log_evidence - exact) < 4.0 * error < 0.2
    smc = tempered_smc(program, (), None, 2000, rng=4)
    assert abs(smc.log_evidence - exact) < 0.2


@gen
def coins():
    a = ~bernoulli(0.3)
    b = ~bernoulli(0.6)
    "agree" @ ~factor(1.2 if a == b else -0.4)


@RUNTIMES
def test_enumeration_and_gibbs(runtime):
    weights = {
        (a, b): (0.3 if a else 0.7) * (0.6 if b else 0.4) * math.exp(1.2 if a == b else -0.4)
        for a in (False, True) for b in (False, True)
    }  # fmt: skip
    program = on(runtime, coins)
    found = enumerate_posterior(program)
    assert found.log_evidence == pytest.approx(math.log(sum(weights.values())))
    start = program.simulate(rng=1)
    run = sample(cycle(gibbs("a"), gibbs("b"), gibbs("agree")), start, 1500, record=["a", "b"], seed=2)
    for (a, b), weight in weights.items():
        p = weight / sum(weights.values())
        seen = ((run["a"] == a) & (run["b"] == b)).mean()
        assert abs(seen - p) < 4.5 * math.sqrt(p * (1 - p) / 700)  # of 1500, about 700 are independent


# --- moves and proposals ----------------------------------------------------------------------------------


@gen
def one_or_two():
    k = ~uniform_discrete(1, 2)
    mu = [("mu", j) @ ~normal(0, 1) for j in range(k)]
    for j in range(k):
        ("near", j) @ ~factor(-abs(mu[j]))


@gen
def more(trace):
    if trace["k"] == 1:
        u = ~normal(0, 1)


@transform
def birth_death(model_in, aux_in, *, model_out, aux_out):
    k = read(model_in["k"], discrete)
    write(model_out["k"], 3 - k, discrete)
    if k == 1:
        write(model_out["mu", 1], read(aux_in["u"], continuous))
    else:
        write(aux_out["u"], read(model_in["mu", 1], continuous))


@RUNTIMES
def test_a_move_makes_and_removes_factors_without_a_word_of_them(runtime):
    """u is drawn from the prior of mu[1], so the ratio is the new factor, or one over the one that goes."""
    program = on(runtime, one_or_two)
    check_involutive(program, (), more, birth_death, n=30)
    trace, _ = program.generate(init={"k": 1, ("mu", 0): 0.4})
    for seed in range(4):
        rng = np.random.default_rng(seed)
        u = more.simulate((trace,), rng=np.random.default_rng(seed))["u"]
        _, info = involutive_mcmc(trace, more, (), birth_death, check=True, rng=rng)
        assert info.log_accept_ratio == pytest.approx(-abs(u))
    trace, _ = program.generate(init={"k": 2, ("mu", 0): 0.4, ("mu", 1): -1.3})
    _, info = involutive_mcmc(trace, more, (), birth_death, check=True, rng=1)
    assert info.log_accept_ratio == pytest.approx(1.3)


@RUNTIMES
def test_a_chain_over_structures(runtime):
    """p(k = 2) / p(k = 1) is E exp(-|mu|)."""
    ratio = scipy.integrate.quad(lambda x: math.exp(-abs(x) - 0.5 * x * x), -9, 9)[0] / math.sqrt(2 * math.pi)
    start, _ = on(runtime, one_or_two).generate(init={"k": 1, ("mu", 0): 0.4})
    kernel = cycle(involutive(more, birth_death), random_walk("mu", 1.0))
    run = sample(kernel, start, 1500, record="k", seed=5)
    share = (run["k"] == 2).reshape(15, -1).mean(1)
    exact = ratio / (1 + ratio)
    assert abs(share.mean() - exact) < 4.0 * share.std(ddof=1) / math.sqrt(15)


@gen
def tilted(trace):
    d = ~normal(0, 0.7)
    "tilt" @ ~factor(d)


@gen
def near_tilted(trace):
    x = ~normal(trace["x"], 1)
    "tilt" @ ~factor(x)


@RUNTIMES
def test_a_program_with_a_factor_is_no_proposal(runtime):
    trace = on(runtime, quartic).simulate(rng=1)
    for attempt in (
        lambda: on(runtime, quartic).propose(),
        lambda: involutive_mcmc(trace, tilted, (), shift, rng=1),
        lambda: mh(near_tilted)(trace, np.random.default_rng(1)),
    ):
        with pytest.raises(ImproperError) as caught:
            attempt()
        assert caught.value.problem == (
            "a program that proposes has a factor, so its density is not that of its draws"
        )
        assert caught.value.address in (("curve",), ("tilt",))
        assert caught.value.location.filename == __file__
