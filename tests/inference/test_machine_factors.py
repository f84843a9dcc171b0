"""Factors that come and go with what a move changes: no move has to write them, on any runtime."""

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    copy,
    discrete,
    factor,
    gen,
    normal,
    poisson,
    read,
    sample,
    select,
    transform,
    write,
)
from gendsl.errors import GenDSLError
from gendsl.inference import (
    birth_death,
    cycle,
    elliptical_slice,
    gibbs,
    involutive,
    mh,
    random_walk,
    single_site,
    slice_sampling,
)
from gendsl.testing import running_on, runtimes


@gen
def one_by_one(centre):
    k = ~poisson(3.0)
    for j in range(k):
        x = ("x", j) @ ~normal(centre, 1.0)
        ("weight", j) @ ~factor(-0.1 * x * x)


@gen
def in_lanes(centre):
    k = ~poisson(20.0)
    for j in range(k):
        x = ("x", j) @ ~normal(centre, 1.0)
        ("weight", j) @ ~factor(0.05 * np.log1p(np.exp(x)) - np.log(1.0 + x * x) / 20)


@gen
def elsewhere(centre):
    k = ~poisson(20.0)
    for j in range(k):
        x = ("x", j) @ ~normal(centre, 1.0)
        ("weight", 3 * j % 64, k) @ ~factor(0.05 * np.log1p(np.exp(x)) - np.log(1.0 + x * x) / 20)


@gen
def pairs(centre):
    k = ~poisson(4.0)
    x = [("x", j) @ ~normal(centre, 1.0) for j in range(k)]
    for i in range(k):
        for j in range(i):
            ("apart", i, j) @ ~factor(-1.0 / (1.0 + (x[i] - x[j]) ** 2))


@gen
def in_order(centre):
    k = ~poisson(3.0)
    if k > 2:
        "many" @ ~factor(-0.5 * k)
    for j in range(k):
        ("x", j) @ ~normal(centre, 1.0)


PROGRAMS = (one_by_one, in_lanes, elsewhere, pairs, in_order)


@gen
def component(centre):
    at = ~normal(centre, 1.0)
    "bound" @ ~factor(-abs(at))
    return at


@gen
def components(centre):
    k = ~poisson(2.0)
    for j in range(k):
        ("part", j) @ ~component(centre)


@gen
def centred(trace):
    x = ~normal(trace.args[0], 1.5)


MOVES = (birth_death("x", propose=centred), birth_death("x", propose=centred, check=True))


def chains(kernel, start, draws, *, whole=True):
    found = {}
    for runtime in runtimes():
        with running_on(runtime):
            run = sample(kernel, start, draws, seed=3, progress=False)
            if whole and runtime in ("native", "python"):
                assert "interpreter" not in run.ran[0] and run.ran[0].startswith("as "), run.ran
            found[runtime] = [(dict(trace.choices), trace.log_prob) for trace in run.traces]
    return found


def assert_alike(found):
    reference = found.pop("reference")
    for runtime, chain in found.items():
        for (choices, log_prob), (others, other) in zip(chain, reference, strict=True):
            assert choices == pytest.approx(others, rel=1e-9), runtime
            assert log_prob == pytest.approx(other, rel=1e-9), runtime


@pytest.mark.parametrize("move", MOVES, ids=["unchecked", "checked"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_factors_of_components_that_are_born_and_die(program, move):
    start = program.simulate((0.3,), rng=4)
    found = chains(cycle(move, random_walk(select("x"), 0.2, skip_absent=True)), start, 120)
    assert len({choices["k",] for choices, _ in found["reference"]}) > 2
    assert_alike(found)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_factors_where_choices_are_drawn_anew(program):
    start = program.simulate((0.3,), rng=4)
    found = chains(single_site(select("k", "x"), skip_absent=True), start, 150)
    assert len({choices["k",] for choices, _ in found["reference"]}) > 2
    assert_alike(found)


@transform
def turn(model_in, *, model_out):
    """The parts in reverse order, each with its factor."""
    k = read(model_in["k"], discrete)
    for j in range(k):
        copy(model_in["part", j], model_out["part", k - 1 - j])


@transform
def one_or_two(model_in, *, model_out):
    k = read(model_in["k"], discrete)
    write(model_out["k"], k, discrete)
    if k > 1:
        copy(model_in["part", 0], model_out["part", 1])
        copy(model_in["part", 1], model_out["part", 0])


def test_factors_that_are_copied_with_what_they_are_of():
    start = components.generate((0.3,), init={"k": 4}, rng=4).trace
    anew = single_site(select("k", "part"), skip_absent=True)
    kernel = cycle(anew, involutive(None, turn), involutive(None, one_or_two))
    found = chains(kernel, start, 120)
    assert len({choices["k",] for choices, _ in found["reference"]}) > 2
    assert_alike(found)


@gen
def either_way():
    z = ~bernoulli(0.5)
    x = ~normal(0, 1)
    if z:
        "one" @ ~factor(1.0)
    if x > 0.2:
        "more" @ ~factor(-x)
    for j in range(3 if z else 2):
        ("each", j + z) @ ~factor(-0.1 * x * x)


UPDATES = (
    gibbs("z"),
    gibbs("z", block=True),
    slice_sampling("x"),
    elliptical_slice("x"),
    mh(select("z", "x")),
)


@pytest.mark.parametrize("kernel", UPDATES, ids=str)
def test_factors_that_come_and_go_where_a_choice_is_updated(kernel):
    assert_alike(chains(kernel, either_way.simulate(rng=1), 100, whole=False))


@gen
def twice(centre):
    k = ~poisson(2.0)
    for j in range(k):
        x = ("x", j) @ ~normal(centre, 1.0)
        ("weight", j % 4) @ ~factor(-0.01 * x * x)


def test_two_factors_at_one_address_are_an_error():
    start = twice.generate((0.0,), init={"k": 3}, rng=4).trace
    for runtime in runtimes():
        with running_on(runtime), pytest.raises(GenDSLError, match="weight"):
            sample(birth_death("x", propose=centred), start, 200, seed=3, progress=False)
