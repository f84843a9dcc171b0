"""Gibbs by enumeration: conditional probabilities by hand, what a step costs, and what is refused."""

import math
import os
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from gendsl import Distribution, bernoulli, categorical, gen, iid, normal, poisson, select, uniform_discrete
from gendsl.errors import KernelError, ObservedError, UnknownAddressError
from gendsl.inference import GibbsInfo, enumerate_posterior, gibbs, sample
from gendsl.supports import Boolean, FiniteSet
from gendsl.testing import assert_exact, running_on
from tests.runtime.test_cost import calls


@gen
def clusters(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.5, 0.3, 0.2])
        ("y", i) @ ~normal(mu[z], 1)


def start(n=2, rng=1):
    y = {("y", i): i % 3 - 0.5 for i in range(n)}
    return clusters.generate((n,), y, init={("mu", j): float(j) for j in range(3)}, rng=rng).trace


def test_draws_have_the_conditional_probabilities():
    trace, rng = start(), np.random.default_rng(1)
    kernel = gibbs(("z", 1))
    counts = np.zeros(3)
    for _ in range(600):
        after, info = kernel(trace, rng)
        counts[after["z", 1]] += 1
        assert info == GibbsInfo(True, 1, int(after["z", 1] != trace["z", 1]))
        assert after["z", 0] == trace["z", 0]
    weights = np.array([0.5, 0.3, 0.2]) * stats.norm.pdf(0.5, [0, 1, 2], 1)
    expected = weights / weights.sum()
    assert np.abs((counts / 600 - expected) / np.sqrt(expected * (1 - expected) / 600)).max() < 4


def test_a_value_that_stays_gives_the_same_trace():
    trace, rng = start(), np.random.default_rng(1)
    seen = set()
    with running_on("compiled"):  # machine code makes a trace each time
        for kernel in (gibbs(("z", 1)), gibbs(select(("z", 0), ("z", 1)), block=True)):
            for _ in range(30):
                after, info = kernel(trace, rng)
                assert (after is trace) == (info.changed == 0)
                seen.add(info.changed)
    assert seen == {0, 1, 2}


def test_scans():
    trace = start(5)
    assert gibbs("z")(trace, 1)[1].visited == 5
    assert gibbs(select(("z", ...)), scan="random")(trace, 1)[1].visited == 1
    assert gibbs(select(("z", 1), ("z", 2)), block=True)(trace, 1)[1].visited == 2
    assert gibbs("w", skip_absent=True)(trace, 1) == (trace, GibbsInfo(True, 0, 0))


@pytest.mark.skipif(os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime")
def test_the_cost_of_one_site_doesnt_grow():
    kernel = gibbs(select(("z", ...)), scan="random")
    few, many = (start(n) for n in (60, 3000))
    for trace in (few, many):  # some edits are compared with the reference runtime, whatever they cost
        trace._called.linked.watch.due = 10**9
    # twenty steps, since those that change a choice cost more than those that don't
    first, second = (calls(lambda t=t: [kernel(t, seed) for seed in range(20)]) for t in (few, many))
    assert second < 1.4 * first


def test_what_a_block_makes_may_come_and_go():
    @gen
    def optional():
        a = ~bernoulli(0.4)
        b = False
        if a:
            b = ~bernoulli(0.7)
        y = ~bernoulli(0.8 if a and b else 0.3)

    kernel = gibbs(select("a", "b"), block=True, skip_absent=True)
    found = assert_exact(kernel, optional, (), {"y": True})
    assert len(found.traces) == 3
    assert np.abs(found.matrix - found.posterior).max() < 1e-12


class one_of_the_data(Distribution):
    """An entry of a list in which some may be equal."""

    parameters = ("data",)

    def __init__(self, data):
        self.data = tuple(data)

    def sample(self, rng):
        return self.data[int(rng.integers(len(self.data)))]

    def logpdf(self, x):
        return math.log(self.data.count(x) / len(self.data)) if x in self.data else -math.inf

    @property
    def support(self):
        return FiniteSet(self.data)


@gen
def resampled():
    x = ~one_of_the_data((1, 3, 1, 1.0))
    y = ~bernoulli(0.1 * x)


@pytest.mark.parametrize("block", [False, True])
def test_equal_values_of_a_support_count_once(block):
    found = assert_exact(gibbs("x", block=block), resampled, (), {"y": True})
    assert found.posterior == pytest.approx([0.5, 0.5])
    assert enumerate_posterior(resampled, (), {"y": True}).marginal("x") == pytest.approx({1: 0.5, 3: 0.5})


def test_a_value_that_decides_what_exists_is_refused():
    @gen
    def sizes():
        k = ~uniform_discrete(1, 2)
        for j in range(k):
            ("mu", j) @ ~normal(0, 1)

    for k in (1, 2):
        trace = sizes.generate((), init={"k": k}, rng=1).trace
        for kernel in (gibbs("k"), gibbs("k", block=True)):
            with pytest.raises(KernelError, match=r"decides whether \('mu', 1\) exists") as caught:
                kernel(trace, 1)
            assert caught.value.address == ("k",)
            assert "use mh(select('k'))" in str(caught.value) and "involutive" in str(caught.value)


def test_a_block_that_decides_what_exists_is_refused():
    """The choice is named that exists or does not: which of the block decides is not known."""

    @gen
    def flags():
        a = ~bernoulli(0.4)
        b = ~bernoulli(0.5)
        if a:
            c = ~bernoulli(0.2)
        y = ~normal(a + b, 1)

    block = gibbs(select("a", "b"), block=True)
    for a in (0, 1):
        trace = flags.generate((), {"y": 1.0}, init={"a": a}, rng=1).trace
        with pytest.raises(KernelError, match="their values decide whether 'c' exists") as caught:
            block(trace, 1)
        assert caught.value.address == ("c",) and "skip_absent=True" in str(caught.value)
    whole = gibbs(select("a", "b", "c"), block=True, skip_absent=True)
    run = sample(whole, trace, 4000, record="a", seed=1, progress=False)
    exact = _share_of_a()
    assert abs(np.mean(run["a"]) - exact) < 4 * math.sqrt(exact * (1 - exact) / 4000)


def _share_of_a():
    """The posterior probability of a, with the density of y at 1 up to a constant."""
    zero, one = (math.exp(-0.5 * (1 - a) ** 2) + math.exp(-0.5 * a**2) for a in (0, 1))
    return 0.4 * one / (0.4 * one + 0.6 * zero)


def test_what_cant_be_enumerated():
    @gen
    def model():
        n = ~poisson(3)
        x = ~normal(0, 1)

    trace = model.simulate(rng=1)
    with pytest.raises(KernelError, match="infinitely many values"):
        gibbs("n")(trace, 1)
    with pytest.raises(KernelError, match="a continuous distribution"):
        gibbs("x")(trace, 1)


def test_blocks_that_are_too_large(monkeypatch):
    @gen
    def many():
        for i in range(10):
            ("v", i) @ ~iid(bernoulli(0.5), 4)

    monkeypatch.setattr(import_module("gendsl.inference.blocks"), "MOST_STATES", 60)
    with pytest.raises(KernelError, match="more than 60 joint values"):
        gibbs("v", block=True)(many.simulate(rng=1), 1)


def test_observations_and_typos():
    trace = start()
    with pytest.raises(ObservedError):
        gibbs(select("z", "y"))(trace, 1)
    with pytest.raises(UnknownAddressError):
        gibbs("zz")(trace, 1)
    with pytest.raises(KernelError, match='"systematic" or "random"'):
        gibbs("z", scan="sweep")
    with pytest.raises(KernelError, match="block is True or False"):
        gibbs("z", block="z")
    with pytest.raises(KernelError, match="needs a selection or an address"):
        gibbs(clusters)


def test_a_run_counts_it():
    run = sample(gibbs("z"), start(), 20, record=("z", 0), seed=1)
    assert run.acceptance["gibbs select('z')"].proposed == 20


class coin(Distribution):
    """A user's distribution that takes everything that is not false for heads."""

    checks_support = True  # which is not so
    parameters = ("p",)

    def __init__(self, p):
        self.p = p

    @property
    def support(self):
        return Boolean()

    def sample(self, rng):
        return bool(rng.random() < self.p)

    def logpdf(self, x):
        return math.log(self.p if x else 1 - self.p)


class plain_coin:
    """The same, and no subclass."""

    __init__ = coin.__init__
    sample = coin.sample
    logpdf = coin.logpdf
    support = Boolean()


@gen
def two_coins(kind):
    a = ~kind(0.5)
    b = ~bernoulli(0.3 if a else 0.6)
    y = ~bernoulli(0.9 if a != b else 0.2)


def test_a_block_of_a_distribution_that_takes_anything_is_refused():
    trace = two_coins.generate((coin,), {"y": True}, init={"a": False, "b": False}, rng=1).trace
    with pytest.raises(KernelError, match="takes NaN for a possible value"):
        gibbs(select("a", "b"), block=True)(trace, 1)
    assert_exact(gibbs(select("a", "b"), scan="random"), two_coins, (coin,), {"y": True})


def test_a_block_of_an_object_that_says_its_support_is_exact():
    assert_exact(gibbs(select("a", "b"), block=True), two_coins, (plain_coin,), {"y": True})


def test_a_table_of_values_of_which_some_are_no_integers():
    table = stats.rv_discrete(values=([1, 2.5, 4], [0.2, 0.5, 0.3]))()

    @gen
    def tabled():
        x = ~table
        y = ~bernoulli(0.1 * x)

    posterior = enumerate_posterior(tabled, (), {"y": True}).marginal("x")
    assert posterior == pytest.approx({1.0: 0.02 / 0.265, 2.5: 0.125 / 0.265, 4.0: 0.12 / 0.265})
    trace = tabled.generate((), {"y": True}, init={"x": 4}, rng=1).trace
    rng, counts = np.random.default_rng(1), {}
    for _ in range(300):
        trace, _ = gibbs("x")(trace, rng)
        counts[trace["x"]] = counts.get(trace["x"], 0) + 1
    assert counts.keys() == posterior.keys()
    for value, p in posterior.items():
        assert abs(counts[value] / 300 - p) < 4 * math.sqrt(p * (1 - p) / 300)
