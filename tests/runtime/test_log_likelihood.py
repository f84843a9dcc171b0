"""The density of the observations is that of all that was observed, found by column where it can be."""

import sys

import numpy as np
import pytest

from gendsl import gen, normal, select
from gendsl.inference.smc import log_likelihood


@gen
def inner(mean):
    a = ~normal(mean, 1)
    for t in range(60):
        ("y", t) @ ~normal(a, 2)


@gen
def model(n):
    mu = ~normal(0, 1)
    for i in range(n):
        x = ("x", i) @ ~normal(mu, 1)
        ("y", i) @ ~normal(x, 1)
    if mu > 0:
        ("z", 0) @ ~normal(mu, 1)
    for j in range(2):
        ("part", j) @ ~inner(mu)


Y = np.linspace(-1, 1, 70)
PART = np.linspace(0, 1, 60)
OBSERVED = [
    {"y": Y},
    {"y": Y, ("z", 0): 0.5},
    {"y": Y, ("x", 3): 0.5, ("part", 1, "y"): PART},
    {("y", 2): 0.5, ("y", 5): 1.0},
    {"y": Y[:50]},
    {"x": Y, ("part", 0, "y"): PART, ("part", 0, "a"): 1.0},
    {},
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seen", OBSERVED, ids=lambda seen: f"{len(seen)} entries")
@pytest.mark.parametrize("n", [70, 90])
def test_it_is_the_sum_over_the_observations(seen, n):
    trace, _ = model.generate((n,), seen, init={"mu": 0.7}, rng=1)
    for new in (
        trace,
        trace.update({("x", 8): 2.0} if ("x", 8) not in trace.observed else {"mu": 0.9}).trace,
        trace.update({"mu": 0.1}).trace,
        trace.update(args=(n - 5,)).trace,
        trace.update(args=(n + 5,), rng=1).trace,
        trace.update(args=(n - 5,)).trace.update(args=(n,), rng=1).trace,
        trace.update({"mu": -1.0}).trace,
    ):
        expected = sum(new.records[path][2] for path in new.observed)
        assert log_likelihood(new) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if new.observed:
            assert log_likelihood(new) == pytest.approx(new.project(select(new.observed)))


def test_its_cost_does_not_depend_on_the_number_of_observations():
    def trace_of(n):
        return model.generate((n,), {"y": np.zeros(n)}, init={"mu": -0.5}, rng=1).trace

    calls = []
    for n in (100, 5000):
        trace, counted = trace_of(n), 0
        if trace.gen_fn.is_reference:
            pytest.skip("the reference runtime goes through the trace")

        def count(frame, event, arg):
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        log_likelihood(trace)
        sys.setprofile(None)
        calls.append(counted)
    assert calls[1] < 1.1 * calls[0]
