"""A table of mistakes that samplers really had: each test of gendsl.testing passes the kernel that is right
and fails the one with the mistake.

More mistakes, planted into the shipped kernels themselves, are in `broken.py`, run by
`test_stationarity.py`, `test_exactness.py` and `tests/laws/test_planted_mistakes.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from gendsl import bernoulli, categorical, gamma, gen, normal, read, transform, write
from gendsl.errors import TransformError
from gendsl.inference.kernel import accept
from gendsl.testing import (
    assert_exact,
    assert_stationary,
    check_involutive,
    simulation_based_calibration,
)

pytestmark = pytest.mark.statistical


@gen
def line():
    x = ~normal(0, 1)


@gen
def line_with_data():
    x = ~normal(0, 1)
    y = ~normal(x, 1)


@gen
def rate():
    r = ~gamma(2, 1)


@gen
def states():
    x = ~categorical([0.1, 0.2, 0.3, 0.4])


@gen
def two_coins():
    a = ~bernoulli(0.3)
    b = ~bernoulli(0.8 if a else 0.2)


def moved(trace, **values):
    """The trace with other values."""
    return trace.update(values).trace


def metropolis(trace, rng, address, value, correction=0.0):
    """Accept a value, or keep the trace."""
    after = moved(trace, **{address: value})
    ratio = after.log_prob - trace.log_prob + correction
    return (after if accept(ratio, rng) else trace), None


# --- continuous: the joint-distribution test ------------------------------------------------------------


def hmc(trace, rng, stale=False, kinetic=True):
    """Ten leapfrog steps of 0.2 on N(0, 1)."""
    x = trace["x"]
    start = x, rng.normal()
    p, slope = start[1], -x
    for _ in range(10):
        p += 0.1 * slope
        x += 0.2 * p
        p += 0.1 * -x
        slope = slope if stale else -x
    change = start[1] ** 2 / 2 - p**2 / 2 if kinetic else 0.0
    return metropolis(trace, rng, "x", x, change)


def scaled_walk(trace, rng, jacobian=True):
    """A random walk on log r."""
    step = rng.normal()
    return metropolis(trace, rng, "r", trace["r"] * math.exp(step), step if jacobian else 0.0)


def widening_walk(trace, rng, corrected=True):
    """A step as wide as x is large."""
    x = trace["x"]
    new = x + (0.3 + abs(x)) * rng.normal()
    there, back = (normal(a, 0.3 + abs(a)).logpdf(b) for a, b in ((x, new), (new, x)))
    return metropolis(trace, rng, "x", new, back - there if corrected else 0.0)


def walk(trace, rng, until_accepted=False, one_random_number=False):
    for _ in range(20):
        step = rng.normal()
        if one_random_number:  # which way to go and whether to accept are decided by one number
            u = rng.random()
            after = moved(trace, x=trace["x"] + (2 * u if u < 0.5 else 2 * u - 2))
            return (after if u < math.exp(min(0.0, after.log_prob - trace.log_prob)) else trace), None
        after, _ = metropolis(trace, rng, "x", trace["x"] + 4 * step)
        if after is not trace or not until_accepted:
            return after, None
    return trace, None


def slice_sampler(trace, rng, placed=True):
    """Shrinkage from an interval of width 2; its place around x must be random."""
    x, level = trace["x"], trace.log_prob - rng.exponential()
    low = x - (2 * rng.random() if placed else 0.0)
    high = low + 2
    while True:
        new = rng.uniform(low, high)
        after = moved(trace, x=new)
        if after.log_prob >= level:
            return after, None
        low, high = (new, high) if new < x else (low, new)


def gibbs(trace, rng, variance=0.5, mean=0.5):
    """x given y is N(y / 2, sd sqrt(1 / 2))."""
    return moved(trace, x=rng.normal(mean * trace["y"], math.sqrt(variance))), None


def from_the_prior(trace, rng):
    return line_with_data.generate((), {"y": trace["y"]}, rng=rng).trace, None


# --- discrete: pi K = pi ------------------------------------------------------------------------------


def independent(trace, rng, corrected=True):
    new = int(rng.random() < 0.7) + 2 * int(rng.random() < 0.4)
    q = [0.3 * 0.6, 0.7 * 0.6, 0.3 * 0.4, 0.7 * 0.4]
    correction = math.log(q[trace["x"]] / q[new]) if corrected else 0.0
    return metropolis(trace, rng, "x", new, correction)


def neighbour(trace, rng, counted=True):
    """To a neighbour on 0, 1, 2, 3; the ends have only one."""
    x = trace["x"]
    ways = [w for w in (x - 1, x + 1) if 0 <= w <= 3]
    new = ways[int(rng.integers(len(ways)))]
    back = sum(0 <= w <= 3 for w in (new - 1, new + 1))
    return metropolis(trace, rng, "x", new, math.log(len(ways) / back) if counted else 0.0)


def undefined_ratio(trace, rng, nan_is_no=True):
    """A proposal with a ratio that is NaN for odd states."""
    new = (trace["x"] + 1 + 2 * int(rng.integers(2))) % 4
    after = moved(trace, x=new)
    ratio = math.nan if trace["x"] == 3 or new == 3 else after.log_prob - trace.log_prob
    if ratio != ratio:
        return (trace if nan_is_no else after), None
    return (after if accept(ratio, rng) else trace), None


def state_dependent_mixture(trace, rng, corrected=True):
    """A small or a large step, chosen with a probability that depends on the state."""
    chance = [0.9, 0.5, 0.2, 0.6]
    x = trace["x"]
    small = rng.random() < chance[x]
    new = (x ^ 1) if small else (x + 2) % 4
    there, back = (chance[s] if small else 1 - chance[s] for s in (x, new))
    return metropolis(trace, rng, "x", new, math.log(back / there) if corrected else 0.0)


def draw(trace, rng, address, given):
    """A coin from its conditional distribution given the other in `given`."""
    other = {"a": "b", "b": "a"}[address]
    scores = [moved(given, **{address: value}).log_prob for value in (False, True)]
    return {address: bool(rng.random() < 1 / (1 + math.exp(scores[0] - scores[1])))}, other


def coin_by_coin(trace, rng, stale=False):
    """Gibbs; with stale conditionals both coins are drawn given the old other."""
    first, _ = draw(trace, rng, "a", trace)
    after = moved(trace, **first)
    second, _ = draw(after, rng, "b", trace if stale else after)
    return moved(after, **second), None


# --- moves ---------------------------------------------------------------------------------------------


@gen
def pair_of_means():
    a = ~normal(0, 1)
    b = ~normal(0, 1)


@transform
def to_mean_and_back(model_in, *, model_out, sign=-1.0):
    """Reflect a about b; with another sign it is no involution."""
    a, b = read(model_in["a"]), read(model_in["b"])
    write(model_out["a"], 2 * b + sign * a)


@transform
def by_bisection(model_in, *, model_out, exact=False):
    """-a, found by comparing: the value is right, and its derivative is lost."""
    a = read(model_in["a"])
    low, high = -50.0, 50.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        low, high = (middle, high) if middle < -a else (low, middle)
    write(model_out["a"], -a if exact else 0.0 * a + low)


def passes(kernel, model, **options):
    assert_stationary(kernel, model, steps=options.pop("steps", 60), draws=5000, **options)


def calibrated(kernel, **options):
    simulation_based_calibration(
        kernel, line_with_data, observed="y", simulations=200, draws=9, thin=2, **options
    ).assert_calibrated()


def sound(f):
    check_involutive(pair_of_means, (), None, f, n=5, rng=1).raise_if_failed()


@dataclass
class Row:
    """A mistake, the test that sees it, and what is tested without and with it."""

    mistake: str
    test: Callable[..., None]
    right: Any
    wrong: Any


STATIONARY = partial(passes, model=line)
WITH_DATA = partial(passes, model=line_with_data, observed="y")
EXACT = partial(assert_exact, model=states)

TABLE = [
    Row("HMC goes on with the gradient of the first step", STATIONARY, hmc, partial(hmc, stale=True)),
    Row("HMC leaves the kinetic energy out of the ratio", STATIONARY, hmc, partial(hmc, kinetic=False)),
    Row("a walk on log r forgets the Jacobian", partial(passes, model=rate), scaled_walk,
        partial(scaled_walk, jacobian=False)),
    Row("a step size that depends on the state isn't corrected for", STATIONARY, widening_walk,
        partial(widening_walk, corrected=False)),
    Row("proposing again until one is accepted", STATIONARY, walk, partial(walk, until_accepted=True)),
    Row("one random number both proposes and accepts", STATIONARY, walk,
        partial(walk, one_random_number=True)),
    Row("a slice that isn't placed at random", STATIONARY, slice_sampler,
        partial(slice_sampler, placed=False)),
    Row("a conditional that forgets the prior", WITH_DATA, gibbs, partial(gibbs, variance=1.0, mean=1.0)),
    Row("a variance for a standard deviation", WITH_DATA, gibbs, partial(gibbs, variance=0.25)),
    Row("data are ignored", WITH_DATA, gibbs, from_the_prior),
    Row("data are ignored", calibrated, gibbs, from_the_prior),
    Row("data are counted twice", WITH_DATA, gibbs, partial(gibbs, variance=1 / 3, mean=2 / 3)),
    Row("draws are too close to one another", calibrated, gibbs, partial(gibbs, variance=0.2)),
    Row("no warm-up", partial(calibrated, warmup=0), gibbs,
        lambda trace, rng: metropolis(trace, rng, "x", trace["x"] + 0.05 * rng.normal())),
    Row("an independent proposal without its density", EXACT, independent,
        partial(independent, corrected=False)),
    Row("fewer ways out than in at the boundary", EXACT, neighbour, partial(neighbour, counted=False)),
    Row("a ratio that is NaN is accepted", EXACT, undefined_ratio, partial(undefined_ratio, nan_is_no=False)),
    Row("a mixture whose weights depend on the state", EXACT, state_dependent_mixture,
        partial(state_dependent_mixture, corrected=False)),
    Row("Gibbs with conditionals of the old state", partial(assert_exact, model=two_coins), coin_by_coin,
        partial(coin_by_coin, stale=True)),
    Row("a reflection that isn't one", sound, to_mean_and_back, to_mean_and_back.bind(sign=-0.5)),
    Row("a derivative that a search loses", sound, by_bisection.bind(exact=True), by_bisection),
]  # fmt: skip


def name_of(test):
    """What a test is called; its text has the place in memory of what it calls."""
    return getattr(test, "func", test).__name__ if callable(test) else test


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.mistake}: {name_of(row.test)}")
def test_a_mistake_is_seen(row):
    row.test(row.right)
    seen = "not stationary|not calibrated|posterior invariant|no involution|not an involution|loses it"
    with pytest.raises((AssertionError, TransformError), match=seen):
        row.test(row.wrong)


def test_the_table_is_long_enough():
    assert len({row.mistake for row in TABLE}) >= 12


def test_without_warm_up_the_kernel_is_stationary_all_the_same():
    """Why calibration is another test: a slow chain started from the posterior stays there."""
    slow = next(row.wrong for row in TABLE if row.mistake == "no warm-up")
    assert_stationary(slow, line_with_data, observed="y", steps=30, draws=2000)
