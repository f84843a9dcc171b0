"""Slice sampling: the procedure on functions, edges of supports, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

from gendsl import bernoulli, gamma, gen, normal, poisson, select, uniform, wishart
from gendsl.errors import KernelError, NaNError
from gendsl.inference import SliceInfo, elliptical_slice, sample, slice_sampling
from gendsl.inference.slice import sample_integer, sample_real, split
from gendsl.testing.enumeration import enumerate_outcomes


@gen
def model():
    x = ~normal(0, 1)
    s = ~gamma(2, 1)
    n = ~poisson(2)
    y = ~normal(x + s, 1 + n)


TRACE = model.generate((), {"y": 1.0}, rng=1).trace


def test_draws_on_the_line_stay_in_the_slice_and_fit():
    rng, x = np.random.default_rng(1), 0.3
    draws = []

    def at(new):
        return math.log(new / x) - new + x if new > 0 else -math.inf

    for _ in range(3000):
        x, _, _ = sample_real(at, x, 1.5, 4, rng)
        draws.append(x)
    assert min(draws) > 0
    assert stats.kstest(draws[::15], stats.gamma(2).cdf).pvalue > 1e-3


def test_draws_of_integers_fit():
    rng, x = np.random.default_rng(1), 3
    draws = []

    def at(new):
        if new < 0:
            return -math.inf
        return (new - x) * math.log(4) - math.lgamma(new + 1) + math.lgamma(x + 1)

    for _ in range(3000):
        x, _, _ = sample_integer(at, x, 3, 4, rng)
        draws.append(x)
    mean = np.mean(draws[::6])
    assert abs(mean - 4) < 4 * 2 / math.sqrt(500)


class _Levels:
    """A generator whose level is 1/2, and whose integers are all possible ones in turn."""

    def __init__(self, rng):
        self.rng = rng

    def random(self):
        return 0.5

    def integers(self, *bounds):
        return self.rng.integers(*bounds)


@pytest.mark.parametrize("steps", [1, 2, 3])
@pytest.mark.parametrize("width", [2, 3])
def test_a_slice_of_integers_with_gaps_is_sampled_evenly(width, steps):
    slice_ = [0, 1, 3, 4, 5, 9]

    def at(x):
        return 0.0 if x in slice_ else -math.inf

    flow = np.zeros((10, 10))
    for start in slice_:
        for end, probability in enumerate_outcomes(
            lambda rng, start=start: sample_integer(at, start, width, steps, _Levels(rng))[0]
        ):
            flow[start, end] += probability
    assert np.allclose(flow.sum(axis=1)[slice_], 1.0)
    assert np.abs(flow - flow.T).max() < 1e-12


def test_the_steps_out_are_divided_at_random():
    rng = np.random.default_rng(1)
    pairs = [split(4, rng) for _ in range(200)]
    assert {left for left, _ in pairs} == {0, 1, 2, 3} and {left + right for left, right in pairs} == {3}
    assert split(1, rng) == (0, 0)


def test_a_step_updates_every_selected_choice_or_one():
    after, info = slice_sampling(select("x", "s", "n"))(TRACE, 1)
    assert isinstance(info, SliceInfo) and info.accepted and info.visited == 3 and info.evaluations >= 3
    assert after["x"] != TRACE["x"] and after["s"] != TRACE["s"] and after["y"] == 1.0
    assert type(after["n"]) is int
    after, info = slice_sampling(select("x", "s"), scan="random")(TRACE, 1)
    assert info.visited == 1 and (after["x"] == TRACE["x"]) != (after["s"] == TRACE["s"])
    assert after.log_prob == pytest.approx(model.assess((), after.choices).log_prob)


def test_few_and_many_steps_out_are_both_right():
    for options in ({"width": 0.05, "max_steps": 1}, {"width": 100.0}):
        run = sample(slice_sampling("s", **options), TRACE, 50, record="s", seed=1)
        assert min(run["s"]) > 0 and len(set(run["s"])) > 40


def test_a_matrix_coordinate_by_coordinate():
    @gen
    def spread():
        cov = ~wishart(5.0, np.eye(2))
        y = ~normal(cov[0, 1], 1)

    trace = spread.generate((), {"y": 2.0}, rng=1).trace
    after, _ = slice_sampling("cov")(trace, 2)
    assert np.allclose(after["cov"], after["cov"].T) and np.all(after["cov"] != trace["cov"])
    assert np.linalg.eigvalsh(after["cov"]).min() > 0


def test_bounded():
    @gen
    def box():
        x = ~uniform(0, 1)

    run = sample(slice_sampling("x"), box.simulate(rng=1), 400, record="x", seed=1)
    assert 0 < run["x"].min() < 0.1 and 0.9 < run["x"].max() < 1


def test_what_is_refused():
    @gen
    def branches():
        x = ~normal(0, 1)
        if x > 0:
            z = ~normal(0, 1)
        b = ~bernoulli(0.5)

    trace = branches.generate((), init={"x": 0.01}, rng=1).trace
    with pytest.raises(KernelError, match=r"decides whether 'z' exists") as caught:
        sample(slice_sampling("x"), trace, 20, seed=1)
    assert caught.value.address == ("x",)
    with pytest.raises(KernelError, match="use gibbs or mh"):
        slice_sampling("b")(trace, 1)
    for width in (0, -1.0, math.inf, math.nan, "1", True):
        with pytest.raises(KernelError, match="width must be positive"):
            slice_sampling("x", width=width)
    for steps in (0, 1.5, True):
        with pytest.raises(KernelError, match="max_steps must be"):
            slice_sampling("x", max_steps=steps)


@gen
def root():
    x = ~normal(0.2, 1)
    y = ~normal(math.sqrt(x), 0.5)


@gen
def root_of_numpy():
    x = ~normal(0.2, 1)
    y = ~normal(np.sqrt(x), 0.5)


@gen
def sd_below_zero():
    x = ~normal(0.2, 1)
    y = ~normal(x**2, x)


@gen
def reciprocal():
    n = ~poisson(2)
    y = ~normal(1 / n, 0.5)


@gen
def loop():
    x = [("x", i) @ ~normal(0.2, 1) for i in range(3)]
    for i in range(3):
        ("y", i) @ ~normal(math.sqrt(x[i]), 0.5)


def posterior_mean(mean, sd):
    """That of x > 0 where x ~ N(0.2, 1) and 0.4 ~ N(mean(x), sd(x)), by quadrature."""
    x = np.linspace(1e-6, 8.0, 200_001)
    weights = stats.norm.pdf(x, 0.2, 1.0) * stats.norm.pdf(0.4, mean(x), sd(x))
    return (x * weights).sum() / weights.sum(), (x**2 * weights).sum() / weights.sum()


DOMAINS = {
    "math": (root, "x", np.sqrt, lambda x: 0.5),
    "numpy": (root_of_numpy, "x", np.sqrt, lambda x: 0.5),
    "parameter": (sd_below_zero, "x", lambda x: x**2, lambda x: x),
    "in a loop": (loop, ("x", 1), np.sqrt, lambda x: 0.5),
}


@pytest.mark.parametrize("runtime", ["default", "reference"])
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("kernel", [slice_sampling, elliptical_slice])
def test_the_density_is_zero_where_the_body_has_no_value(kernel, name, runtime):
    """In half of the prior; the rest of it is sampled right."""
    program, address, mean, sd = DOMAINS[name]
    program = program if runtime == "default" else program.reference
    observed = {("y", i): 0.4 for i in range(3)} if name == "in a loop" else {"y": 0.4}
    init = {("x", i): 0.3 for i in range(3)} if name == "in a loop" else {"x": 0.3}
    start, _ = program.generate((), observed, init=init, rng=1)
    run = sample(kernel(address), start, 1200, record={"x": lambda trace: trace[address]}, seed=3)
    x = run["x"]
    assert x.min() > 0
    for found, exact in zip((x, x**2), posterior_mean(mean, sd), strict=True):
        error = found.reshape(30, 40).mean(1).std(ddof=1) / math.sqrt(30)
        assert abs(found.mean() - exact) < 4 * error < 0.5 * exact


def test_an_integer_at_which_the_body_has_no_value():
    start, _ = reciprocal.generate((), {"y": 0.4}, init={"n": 1}, rng=1)
    run = sample(slice_sampling("n"), start, 400, record="n", seed=3)
    n = np.arange(1, 30)
    weights = stats.poisson.pmf(n, 2) * stats.norm.pdf(0.4, 1 / n, 0.5)
    exact = (weights / weights.sum())[0]
    assert run["n"].min() == 1
    found = (run["n"] == 1).reshape(20, 20).mean(1)
    assert abs(found.mean() - exact) < 4 * found.std(ddof=1) / math.sqrt(20) < 0.4 * exact


def test_other_errors_of_the_body_end_a_run():
    @gen
    def wrong():
        x = ~normal(0, 1)
        y = ~normal([0.0][0 if x == 0.5 else 1], 1)

    start, _ = wrong.generate((), {"y": 0.4}, init={"x": 0.5}, rng=1)
    for kernel in (slice_sampling, elliptical_slice):
        with pytest.raises(IndexError, match="list index out of range"):
            kernel("x")(start, 1)


def test_an_infinite_density_is_an_error():
    class Spike:
        support = normal(0, 1).support

        def sample(self, rng):
            return 1.0

        def logpdf(self, x):
            return 0.0 if x == 1.0 else math.inf

    @gen
    def spiked():
        x = ~Spike()

    with pytest.raises(NaNError, match="boundary of its support"):
        slice_sampling("x")(spiked.simulate(rng=1), 1)
