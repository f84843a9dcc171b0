"""Warm-up: what it finds, that it is frozen afterwards, and the protocol that composed kernels use."""

import itertools
import math

import numpy as np
import pytest

from gendsl import dirichlet, gamma, gen, normal, poisson, select, uniform_discrete
from gendsl.errors import KernelError, ValueTypeError
from gendsl.inference import Coordinates, adapt, hmc, mala, mh, nuts, random_walk
from gendsl.inference import warmup_rules as rules
from gendsl.inference.adaptation import Variances, finish_warmup, start_warmup
from gendsl.inference.metric import metric_at


@gen
def scaled():
    a = ~normal(0, 10)
    b = ~normal(0, 0.1)


@gen
def components():
    k = ~poisson(2)
    for i in range(k):
        ("mu", i) @ ~normal(0, 5)


def test_dual_averaging_finds_the_step_size_of_the_target():
    numbers = rules.rule_of(0.8)
    rules.begin(numbers, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        step_size = numbers[rules.STEP_SIZE]
        rules.learn(numbers, min(1.0, math.exp(-step_size + 0.1 * rng.standard_normal())))
    assert math.exp(-rules.found(numbers)) == pytest.approx(0.8, abs=0.03)


def test_running_variances():
    variances = Variances()
    draws = np.random.default_rng(0).normal([1.0, 5.0], [2.0, 0.1], (500, 2))
    for draw in draws:
        variances.add(("x",), draw)
    expected = 1 / ((500 * draws.var(axis=0, ddof=1) + 5e-3) / 505)
    assert variances.mass()[("x",)] == pytest.approx(expected)
    variances.add(("y",), 1.0)
    assert ("y",) not in variances.mass()  # one draw says nothing


def test_windows():
    assert rules.window_ends(1000) == [(75, 100), (100, 150), (150, 250), (250, 450), (450, 950)]
    assert rules.window_ends(10) == []
    for steps in (20, 50, 149, 150, 151, 400, 5000):
        ends = rules.window_ends(steps)
        assert ends[-1][1] <= steps and all(a[1] == b[0] for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize(
    ("kernel", "target", "steps"),
    [(nuts(select("a", "b")), 0.8, 300), (hmc(select("a", "b"), steps=3), 0.8, 300),
     (mala(select("a", "b")), 0.574, 600), (random_walk(select("a", "b")), 0.3, 600)],
    ids=["nuts", "hmc", "mala", "walk"],
)  # fmt: skip
def test_what_warm_up_finds(kernel, target, steps):
    kernel, trace = adapt(kernel, scaled.simulate(rng=1), steps=steps, rng=2)
    assert 2e3 < kernel.tuning.mass["b",] / kernel.tuning.mass["a",] < 5e4  # 10^4
    rng = np.random.default_rng(3)
    probabilities = []
    for _ in range(100):
        trace, info = kernel(trace, rng)
        probabilities.append(info.accept_probability)
    assert np.mean(probabilities) == pytest.approx(target, abs=0.2)


def test_it_is_frozen_afterwards():
    kernel, trace = adapt(nuts(select("a")), scaled.simulate(rng=1), steps=50, rng=2)
    before = kernel.tuning
    for seed in range(20):
        trace, _ = kernel(trace, seed)
    assert kernel.tuning is before
    assert kernel(trace, 5)[0].choices == kernel(trace, 5)[0].choices
    assert start_warmup(kernel, trace, 10, np.random.default_rng(1)) is kernel  # nothing is left to find


def test_what_is_given_stays():
    given = hmc(select("a"), 0.3)
    assert adapt(given, scaled.simulate(rng=1), steps=5, rng=1).kernel is given
    kernel, _ = adapt(hmc(select("a"), mass=[2.0]), scaled.simulate(rng=1), steps=60, rng=1)
    assert kernel.tuning.mass.tolist() == [2.0] and kernel.tuning.step_size > 0


def test_without_a_step_size_there_is_no_step():
    for kernel in (nuts(select("a")), hmc(select("a")), mala(select("a")), random_walk(select("a"))):
        with pytest.raises(KernelError, match="no step size yet") as caught:
            kernel(scaled.simulate(rng=1), 1)
        assert "warmup=" in caught.value.fix and "adapt(" in caught.value.fix


def test_the_structure_may_change():
    """Masses are by address, so that they fit whatever components there are."""
    kernel = nuts(select("mu"), skip_absent=True)
    rng = np.random.default_rng(1)
    trace = components.generate((), init={"k": 0}).trace
    warmup = start_warmup(kernel, trace, 200, rng)
    birth = mh(select("k", "mu"), skip_absent=True)
    for _ in range(200):
        trace, _ = warmup(trace, rng)
        trace, _ = birth(trace, rng)
    frozen = finish_warmup(warmup)
    assert frozen.tuning.step_size > 0 and ("mu", 0) in frozen.tuning.mass
    for k in range(4):
        frozen(components.generate((), init={"k": k}, rng=1).trace, 1)


@gen
def weighted():
    k = ~uniform_discrete(2, 5)
    w = ~dirichlet([2.0] * k)
    x = ~normal(100 * w[0], 30)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel", [nuts(select("w")), hmc(select("w"), steps=3), mala(select("w")), random_walk(select("w"))],
    ids=["nuts", "hmc", "mala", "walk"],
)  # fmt: skip
def test_the_dimension_of_a_choice_may_change(kernel):
    rng = np.random.default_rng(1)
    warmup = start_warmup(kernel, weighted.generate((), {"x": 40.0}, init={"k": 2}, rng=1).trace, 300, rng)
    for step in range(300):
        if step % 20 == 0:  # 5 is never met
            trace, _ = weighted.generate((), {"x": 40.0}, init={"k": 2 + step // 20 % 3}, rng=step)
        trace, _ = warmup(trace, rng)
    frozen = finish_warmup(warmup)
    assert {size: len(entries) for size, entries in frozen.tuning.mass["w",].items()} == {1: 1, 2: 2, 3: 3}
    again = nuts(select("w"), 0.1, mass=frozen.tuning.mass)
    for k in (2, 3, 4, 5):
        trace, _ = weighted.generate((), {"x": 40.0}, init={"k": k}, rng=1)
        for each in (frozen, again):
            assert {each(trace, seed)[0]["k"] for seed in range(5)} == {k}
        metric = metric_at(frozen.tuning.mass, Coordinates(trace, select("w")))
        expected = [1.0] * 4 if k == 5 else frozen.tuning.mass["w",][k - 1]
        assert metric.diagonal.tolist() == pytest.approx(list(expected))


def test_one_dimension_that_was_never_met_has_no_mass():
    kernel, _ = adapt(nuts(select("w")), weighted.generate((), init={"k": 3}, rng=1).trace, steps=60, rng=1)
    assert kernel.tuning.mass["w",].shape == (2,)
    trace, _ = weighted.generate((), init={"k": 4}, rng=1)
    assert kernel(trace, 1)[0]["k"] == 4


def test_kernels_without_anything_to_adapt():
    trace = scaled.simulate(rng=1)
    kernel = mh(select("a"))
    assert start_warmup(kernel, trace, 10, np.random.default_rng(1)) is kernel
    assert finish_warmup(kernel) is kernel
    assert adapt(kernel, trace, steps=3, rng=1).kernel is kernel
    with pytest.raises(ValueTypeError, match="steps"):
        adapt(kernel, trace, steps=0)


def test_a_selection_that_is_never_there_leaves_no_step_size():
    trace = components.generate((), init={"k": 0}).trace
    kernel, _ = adapt(nuts(select("mu"), skip_absent=True), trace, steps=5, rng=1)
    with pytest.raises(KernelError, match="no step size yet"):
        kernel(trace, 1)


def test_bounds_need_no_care():
    @gen
    def model():
        s = ~gamma(2, 1)
        y = ~normal(0, s)

    trace = model.generate((), {"y": 1.0}, rng=1).trace
    kernel, trace = adapt(nuts(select("s")), trace, steps=100, rng=1)
    assert trace["s"] > 0 and kernel.tuning.step_size > 0
