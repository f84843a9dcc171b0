"""Long chains: the score doesn't drift, memory stays flat, and traces from long ago stay what they were.

GENDSL_LONG=1 makes the chains a hundred times as long.
"""

import gc
import math
import os
import tracemalloc

import numpy as np
import pytest

from gendsl import categorical, gamma, gen, normal, poisson, select, uniform_discrete
from tests.laws.agreement import alike, close
from tests.programs import PROGRAMS

LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")
STEPS = 100_000 if LONG else 1_000
ROWS = ((0.7, 0.2, 0.1), (0.1, 0.8, 0.1), (0.3, 0.3, 0.4))


@gen
def plate(n):
    slope = ~normal(0, 2)
    sd = ~gamma(2.0, 1.0)
    for i in range(n):
        ("y", i) @ ~normal(slope * i, sd)


@gen
def mixture(n):
    k = ~uniform_discrete(1, 4)
    mu = [("mu", j) @ ~normal(0, 5) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        ("x", i) @ ~normal(mu[z % k], 1)
    return mu


@gen
def chain(n):
    state, level = 0, 0.0
    for t in range(n):
        state = ("state", t) @ ~categorical(ROWS[state])
        level = ("level", t) @ ~normal(0.9 * level + state, 0.5)
        ("seen", t) @ ~poisson(math.exp(math.tanh(level)))
    return level


@gen
def branches(n):
    for g in range(n):
        group = ("group", g) @ ~leaf(g)


@gen
def leaf(g):
    scale = ~gamma(2.0, 10.0 ** (g % 7 - 3))  # scores of very different size in one sum
    x = ~normal(0, scale)
    if x > 0:
        y = ~normal(x, 1e-3 * scale)
    return x


MODELS = {
    "plate": (plate, (8,)),
    "mixture": (mixture, (8,)),
    "chain": (chain, (8,)),
    "branches": (branches, (7,)),
}


def steps(model, args, count, rng):
    """The traces of a chain that accepts every change, over values that stay where the prior puts them."""
    trace = model.simulate(args, rng=rng)
    sources = [model.simulate(args, rng=rng).choices.to_flat_dict() for _ in range(20)]
    for step in range(count):
        if step % 10 == 9:
            paths = list(trace.choices)
            trace = trace.regenerate(select(paths[int(rng.integers(len(paths)))]), rng=rng).trace
        else:
            source = sources[int(rng.integers(len(sources)))]
            paths = [path for path in source if path in trace]
            path = paths[int(rng.integers(len(paths)))]
            new = trace.update({path: source[path]}, rng=rng).trace
            if new.log_prob > -math.inf:  # from probability 0 no weight leads on
                trace = new
        yield trace


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_score_does_not_drift(name):
    model, args = MODELS[name]
    largest = 0.0
    for step, trace in enumerate(steps(model, args, STEPS, np.random.default_rng(1))):
        largest = max(largest, abs(trace.log_prob))
        if step % (STEPS // 10) == 0:
            fresh = model.assess(trace.args, trace.choices)
            assert close(trace.log_prob, fresh.log_prob), f"after {step} steps"
            assert alike(trace.retval, fresh.retval)
    assert largest > 10
    assert close(trace.log_prob, model.assess(trace.args, trace.choices).log_prob)


@pytest.mark.parametrize("extreme", [1e8, 1e-8])
def test_the_score_returns_from_large_values(extreme):
    """What a sum lost beside one enormous score is there again when that score has gone."""
    trace = plate.simulate((5,), rng=1)
    start = trace.log_prob
    for _ in range(50):
        y = trace["y", 3]
        trace = trace.update({("y", 3): extreme}).trace
        trace = trace.update({"sd": 1.5}).trace
        trace = trace.update({("y", 3): y}).trace
    fresh = plate.assess((5,), trace.choices).log_prob
    assert close(trace.log_prob, fresh)
    assert start != trace.log_prob


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_memory_is_flat(name):
    """A chain that keeps only its last trace holds no more after many steps than after a few."""
    model, args = MODELS[name]
    held = []
    chain_steps = steps(model, args, STEPS, np.random.default_rng(2))
    tracemalloc.start()
    try:
        for step, _ in enumerate(chain_steps):
            if step in (STEPS // 4, STEPS // 2, STEPS - 1):
                gc.collect()
                held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert held[-1] - held[0] < 50_000, held
    assert held[-1] - held[1] < 50_000, held


def test_memory_that_grows_is_noticed():
    kept = []
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept.extend(steps(chain, (8,), 200, np.random.default_rng(2)))
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown > 50_000


@pytest.mark.parametrize("name", MODELS)
def test_old_traces_stay_valid(name):
    """Every trace of a chain is what it was, however many edits have been made to its descendants."""
    model, args = MODELS[name]
    kept = []
    for step, trace in enumerate(steps(model, args, STEPS, np.random.default_rng(3))):
        if step % (STEPS // 50) == 0:
            kept.append((trace, trace.choices.to_flat_dict(), trace.log_prob, repr(trace.retval)))
    for trace, choices, log_prob, retval in kept:
        assert alike(trace.choices.to_flat_dict(), choices)
        assert trace.log_prob == log_prob
        assert repr(trace.retval) == retval
        fresh = model.assess(args, trace.choices)
        assert close(log_prob, fresh.log_prob)
        assert alike(trace.retval, fresh.retval)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_programs_of_the_tests_do_not_drift(program):
    args = program.args[0]
    rng = np.random.default_rng(4)
    trace = program.model.simulate(args, rng=rng)
    for step in range(STEPS // 20):
        paths = list(trace.choices)
        if not paths:
            return
        new = trace.regenerate(select(paths[step % len(paths)]), rng=rng).trace
        trace = new if new.log_prob > -math.inf else trace
    fresh = program.model.assess(args, trace.choices)
    assert close(trace.log_prob, fresh.log_prob)
    assert alike(trace.retval, fresh.retval)
