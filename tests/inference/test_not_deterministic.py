"""What is not deterministic is an error, whichever kernel and whichever runtime runs it."""

import math
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    gen,
    involutive_mcmc,
    normal,
    poisson,
    read,
    sample,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import NotDeterministicError, RuntimeMismatchError
from gendsl.inference import cycle, gibbs, involutive, mh, random_walk, single_site
from gendsl.runtime.compiled import CompiledTrace
from gendsl.testing import running_on

SEEN = []
DRAWN = np.random


class Counter:
    made = 0


@gen
def usual(n):
    mu = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(mu, 1)


@gen
def mutable_default(n, seen=[]):  # noqa: B006
    seen.append(n)
    mu = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(mu + 0.01 * len(seen), 1)


@gen
def growing_list(n):
    mu = ~normal(0, 1)
    SEEN.append(1)
    for i in range(n):
        ("y", i) @ ~normal(mu + 0.01 * len(SEEN), 1)


@gen
def counter_on_a_class(n):
    Counter.made += 1
    mu = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(mu + 0.01 * Counter.made, 1)


@gen
def drawn_beside(n):
    mu = ~normal(0, 1)
    noise = DRAWN.normal()
    for i in range(n):
        ("y", i) @ ~normal(mu + noise, 1)


@gen
def by_the_clock(n):
    mu = ~normal(0, 1)
    now = time.perf_counter()
    for i in range(n):
        ("y", i) @ ~normal(mu + now, 1)


@gen
def opaque_and_random(n):
    mu = ~normal(0, 1)
    del n
    y = ~normal(mu + random.random(), 1)


MODELS = {
    mutable_default: ("seen.append", ("y", 0)),
    growing_list: ("SEEN.append", ("y", 0)),
    counter_on_a_class: ("Counter.made", ("y", 0)),
    drawn_beside: ("DRAWN.normal", ("y", 0)),
    by_the_clock: ("time.perf_counter", ("y", 0)),
    opaque_and_random: ("random.random", ("y",)),
}


@gen
def offset(trace):
    u = ~normal(0, 0.5)


@transform
def shift(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"])
    write(model_out["mu"], read(model_in["mu"]) + u)
    write(aux_out["u"], -u)


KERNELS = {
    "involutive": involutive(offset, shift),
    "single_site": single_site("mu"),
    "random_walk": random_walk("mu", 0.5),
    "cycle": cycle(random_walk("mu", 0.5), involutive(offset, shift)),
}


def chain(kernel, trace, draws=3000):
    return sample(kernel, trace, draws, record="mu", seed=1, progress=False)


@pytest.mark.parametrize(
    ("kernel", "n"), [*((kernel, 3) for kernel in KERNELS), ("random_walk", 2000), ("single_site", 2000)]
)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_that_is_not_deterministic(model, n, kernel):
    suspect, address = MODELS[model]
    trace = model.simulate((n,), rng=1)
    draws = 3000 if n < 100 else 60_000  # comparisons of many choices wait for their share of the time
    with pytest.raises(NotDeterministicError, match="deterministic") as caught:
        chain(KERNELS[kernel], trace, draws)
    message = str(caught.value)
    assert caught.value.address == address  # the first that differs
    assert f"({suspect})" in message
    assert "np.random" in message and "global state" in message
    assert f"def {model.name}" in message


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_on_the_reference_runtime(model):
    trace = model.reference.simulate((3,), rng=1)
    with pytest.raises(NotDeterministicError):
        chain(random_walk("mu", 0.5), trace)


# --- auxiliary programs and transforms --------------------------------------------------------------


@gen
def of_a_random_scale(trace):
    u = ~normal(0, random.choice([0.1, 1.0]))


@gen
def with_a_random_value(trace):
    u = ~normal(0, 0.5)
    return DRAWN.random()


@gen
def random_walk_of_a_random_scale(trace):
    mu = ~normal(trace["mu"], random.choice([0.1, 1.0]))


@transform
def shift_somewhere(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"])
    write(model_out["mu"], read(model_in["mu"]) + random.choice([-1, 1]) * u)
    write(aux_out["u"], -u)


@transform
def shift_or_not(model_in, aux_in, *, model_out, aux_out):
    u = read(aux_in["u"])
    if random.random() < 0.5:
        write(model_out["mu"], read(model_in["mu"]) + u)
    write(aux_out["u"], -u)


@pytest.mark.parametrize("n", [3, 2000])
@pytest.mark.parametrize(
    ("kernel", "name", "address"),
    [
        (involutive(of_a_random_scale, shift), "of_a_random_scale", ("u",)),
        (involutive(with_a_random_value, shift), "with_a_random_value", None),
        (mh(random_walk_of_a_random_scale), "random_walk_of_a_random_scale", ("mu",)),
        (involutive(offset, shift_somewhere), "shift_somewhere", ("mu",)),
        (involutive(offset, shift_or_not), "shift_or_not", ("mu",)),
        (cycle(random_walk("mu", 0.1), involutive(of_a_random_scale, shift)), "of_a_random_scale", ("u",)),
    ],
)
def test_a_move_that_is_not_deterministic(kernel, name, address, n):
    with pytest.raises(NotDeterministicError, match=name) as caught:
        chain(kernel, usual.simulate((n,), rng=1))
    assert caught.value.address == address
    assert "random" in str(caught.value).partition("likely causes")[0]


def test_steps_by_hand():
    trace = usual.simulate((3,), rng=1)
    with pytest.raises(NotDeterministicError):
        for seed in range(100):
            trace, _ = involutive_mcmc(trace, of_a_random_scale, (), shift, rng=seed)


# --- in mid-chain ----------------------------------------------------------------------------------

LATER = {"since": math.inf, "calls": 0}


def drift():
    """0 at first, and something else each time after many calls."""
    LATER["calls"] += 1
    return LATER["calls"] if LATER["calls"] > LATER["since"] else 0


@gen
def drifting(n):
    mu = ~normal(0, 1)
    k = ~poisson(3)
    y = ~normal(mu + drift(), 1)


@gen
def drifting_move(trace):
    u = ~normal(drift(), 0.5)


@pytest.mark.parametrize("kernel", [random_walk("mu", 0.5), cycle(single_site("k"), single_site("mu"))])
def test_a_model_that_is_deterministic_only_at_first(kernel):
    LATER.update(since=3000, calls=0)
    with pytest.raises(NotDeterministicError):
        chain(kernel, drifting.simulate((1,), rng=1), draws=20_000)
    assert LATER["calls"] < 12_000


def test_a_move_that_is_deterministic_only_at_first():
    LATER.update(since=3000, calls=0)
    with pytest.raises(NotDeterministicError):
        chain(involutive(drifting_move, shift), usual.simulate((3,), rng=1), draws=20_000)


@gen
def two_ways(n):
    k = ~bernoulli(0.5)
    if k:
        mu = ~normal(0, 1)
    else:
        mu = ~normal(random.random(), 1)  # an arm that comes late
    for i in range(n):
        ("y", i) @ ~normal(mu, 1)


def test_an_arm_that_was_not_taken_before():
    trace = two_ways.generate((30,), init={"k": 1}, rng=1).trace
    for _ in range(200):
        trace = trace.update({"mu": 0.3}).trace
    with pytest.raises(NotDeterministicError):
        trace.update({"k": 0})


# --- what it costs, and what is told ---------------------------------------------------------------


def test_the_run_counts_comparisons():
    run = chain(random_walk("mu", 0.5), usual.simulate((3,), rng=1), draws=200)
    assert run.comparisons >= 16
    start = usual.simulate((3,), rng=1)
    with ThreadPoolExecutor(2) as threads:
        several = sample(
            random_walk("mu", 0.5), start, 50, chains=2, seed=1, executor=threads, progress=False
        )
    assert several.comparisons == sum(chain.comparisons for chain in several.chains) >= 32


def test_comparisons_change_no_draw(monkeypatch):
    trace = usual.simulate((50,), rng=1)
    kernel = cycle(single_site("mu"), involutive(offset, shift))
    with running_on("compiled"):
        with_them = chain(kernel, trace, 300)
        monkeypatch.setattr("gendsl.runtime.verify.Schedule.keep", lambda *_, **__: True)
        without = chain(kernel, trace, 300)
    assert with_them.comparisons and not without.comparisons
    assert with_them.recorded == without.recorded


def test_a_program_that_remembers_what_it_has_computed_is_deterministic():
    known = {}
    log = []

    def slow(k):
        if k not in known:
            known[k] = 2.0 * k
        return known[k]

    @gen
    def remembering(n):
        k = ~uniform_discrete(0, 5)
        mu = ~normal(slow(k), 1)
        log.append(k)
        y = ~normal(mu, 1)

    chain(cycle(gibbs("k"), random_walk("mu", 0.5)), remembering.simulate((1,), rng=1), 500)


# --- what is replaced ------------------------------------------------------------------------------


@gen
def with_math(n):
    scale = ~normal(0, 1)
    for i in range(n):
        ("y", i) @ ~normal(math.exp(scale), 1)
    mu = ~normal(0, 1)
    for i in range(n):
        ("z", i) @ ~normal(mu, 1)


def test_a_function_of_math_that_is_replaced_during_a_chain(monkeypatch):
    """Step by step: machine code is given up there, and the chain goes on from a trace that is made anew."""
    trace = with_math.generate((200,), init={"scale": 0.5}, rng=1).trace
    if not isinstance(trace, CompiledTrace):
        pytest.skip("whatever is executed whole has no old values of it")
    steps = []

    def replacing(trace):
        steps.append(1)
        if len(steps) == 100:
            monkeypatch.setattr(math, "exp", lambda x: x * x)
        return trace["mu"]

    with running_on("compiled"), pytest.raises(RuntimeMismatchError, match="must stay as it is") as caught:
        sample(single_site("mu"), trace, 20_000, record=replacing, seed=1, progress=False)
    assert "global values" in str(caught.value)
