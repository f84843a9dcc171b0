"""The stationarity test itself: what it accepts, what it sees, what it says."""

import math

import pytest

from gendsl import bernoulli, cauchy, gen, normal, poisson, select
from gendsl.errors import UnknownAddressError, ValueTypeError
from gendsl.inference import gibbs, mh
from gendsl.inference.kernel import Kernel
from gendsl.testing import assert_stationary, stationarity


@gen
def model(sd):
    x = ~normal(0, sd)
    y = ~normal(x, 1)


@gen
def structured():
    n = ~poisson(1)
    for i in range(n):
        ("x", i) @ ~cauchy(0, 1)
    y = ~bernoulli(0.5 if n else 0.1)


@gen
def walk(trace):
    x = ~normal(trace["x"], 1.7)


def for_another_prior(sd):
    """A kernel that is right for another standard deviation of x."""

    def step(trace, rng):
        after, info = mh(walk)(trace.update(args=(sd,)).trace, rng)
        return after.update(args=(1.0,)).trace, info

    return Kernel(step, "for another prior")


@pytest.mark.statistical
@pytest.mark.gendsl_long
def test_an_error_of_ten_percent_in_a_second_moment_is_seen():
    settings = {"observed": "y", "steps": 1200, "draws": 40_000}
    assert_stationary(for_another_prior(1.0), model, (1.0,), **settings)
    with pytest.raises(AssertionError, match="not stationary") as failure:
        assert_stationary(for_another_prior(math.sqrt(1.1)), model, (1.0,), **settings)
    assert "'x'²" in str(failure.value)


@gen
def seldom():
    stays = ~bernoulli(0.5)
    z = ~bernoulli(0.04)


def resampling_unless_it_stays(z):
    """A kernel that never leaves the states that stay, and draws the rest again by a Gibbs kernel of z."""
    return Kernel(lambda trace, rng: (trace, None) if trace["stays"] else z(trace, rng), "unless it stays")


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [1, 3, 9])
def test_states_that_no_chain_starts_in_are_no_mistake(seed):
    """In one of four seeds no chain has both, and the others say that z is never seen so often."""
    kernel = resampling_unless_it_stays(gibbs("z"))
    few = stationarity(kernel, seldom, steps=100, draws=5000, rng=seed)
    assert few.p_value < 1e-6  # a t-test of 64 chains is misled
    assert_stationary(kernel, seldom, steps=100, draws=5000, rng=seed)


def test_a_mistake_in_such_a_kernel_is_seen():
    def too_often(trace, rng):
        return trace.update({"z": bool(rng.random() < 0.5)}).trace, None

    with pytest.raises(AssertionError, match="not stationary"):
        assert_stationary(resampling_unless_it_stays(too_often), seldom, steps=100, draws=5000)


def test_a_kernel_that_ignores_the_data_is_seen():
    def from_the_prior(trace, rng):
        return model.generate((1.0,), {"y": trace["y"]}, rng=rng).trace, None

    report = stationarity(from_the_prior, model, (1.0,), observed="y", steps=50, draws=5000)
    assert report.worst.name == "'x' · 'y'"
    assert report.worst.z < -10


def test_structure_and_heavy_tails():
    kernel = mh(select("n"))
    report = assert_stationary(kernel, structured, observed="y", steps=200, draws=10_000)
    names = {score.name for score in report.scores}
    assert {"'n'", "'n'²", "('x', 0) exists", "('x', 0)²", "'n' · ('x', 0)", "'y'"} <= names
    assert "'n' exists" not in names

    def sometimes_one_more(trace, rng):
        n = trace["n"] + (rng.random() < 0.05)
        return structured.generate((), {"y": trace["y"]}, init={"n": n}, rng=rng).trace, None

    with pytest.raises(AssertionError, match="not stationary"):
        assert_stationary(sometimes_one_more, structured, observed="y", steps=50, draws=5000)


def test_statistics_of_ones_own():
    statistics = {"x": lambda trace: trace["x"], "far": lambda trace: abs(trace["x"]) > 2}
    report = assert_stationary(
        mh(select("x")), model, (1.0,), observed=select("y"), statistics=statistics, steps=100, draws=5000
    )
    assert {score.name for score in report.scores} == {"x", "far"}
    far = next(score for score in report.scores if score.name == "far")
    assert far.expected == pytest.approx(0.0455, abs=0.01)


def test_without_data():
    report = assert_stationary(mh(walk), model, (2.0,), steps=100, draws=5000)
    assert 0.3 < report.moved < 0.9
    assert "steps moved" in str(report)


def test_the_same_seed_gives_the_same_report():
    reports = [stationarity(mh(walk), model, (1.0,), steps=5, draws=100, rng=3) for _ in range(2)]
    assert reports[0] == reports[1]


def test_a_kernel_that_never_moves_shows_nothing():
    with pytest.raises(AssertionError, match="never moved"):
        assert_stationary(lambda trace, rng: (trace, None), model, (1.0,), steps=2, draws=100)


def test_what_is_wrong_is_said():
    with pytest.raises(UnknownAddressError, match="named in observed"):
        assert_stationary(mh(walk), model, (1.0,), observed="z", steps=2, draws=100)
    with pytest.raises(ValueTypeError, match="steps is a whole number"):
        assert_stationary(mh(walk), model, (1.0,), steps=0)

    def changes_the_data(trace, rng):
        return trace.update({"y": trace["y"] + 1.0}).trace, None

    with pytest.raises(AssertionError, match="changed an observation"):
        assert_stationary(changes_the_data, model, (1.0,), observed="y", steps=2, draws=100)


def test_a_stale_score_is_seen():
    def stale(trace, rng):
        after, info = mh(walk)(trace, rng)
        after = after.update().trace
        after.log_prob += 1e-3
        return after, info

    with pytest.raises(AssertionError, match="chains end in a trace whose log_prob is not"):
        assert_stationary(stale, model, (1.0,), steps=5, draws=500)
