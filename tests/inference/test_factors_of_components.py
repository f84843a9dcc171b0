"""Components whose namespace has a factor: it is no choice, so no move copies it, and none has to give it."""

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    categorical,
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
    uniform_discrete,
    write,
)
from gendsl.errors import CoverageError
from gendsl.inference import birth_death, cycle, effective_draws, involutive, random_walk, split_merge
from gendsl.testing import assert_exact, running_on, runtimes

# --- exactly, on a model of which every choice has few values -----------------------------------------


@gen
def source(levels):
    level = ~categorical(levels)
    "near" @ ~factor(-0.7 * level)
    if level == 1:
        ("more", "bright") @ ~factor(0.3)
    return level


@gen
def sources(levels):
    k = ~uniform_discrete(0, 3)
    total = 0
    for j in range(k):
        total = total + ("source", j) @ ~source(levels)
        ("apart", j) @ ~factor(0.2 * j)
    seen = ~bernoulli((1 + total) / 8)


@gen
def some_sources(levels):
    k = ~uniform_discrete(1, 3)
    total = 0
    for j in range(k):
        total = total + ("source", j) @ ~source(levels)
    seen = ~bernoulli((1 + total) / 8)


@gen
def new_source(trace):
    ("source", "level") @ ~categorical([0.5, 0.25, 0.25])


def share(one, u):
    level = one["source", "level"]
    return {("source", "level"): u["first"]}, {("source", "level"): (level + u["first"]) % 3}


def join(first, second):
    level = (second["source", "level"] - first["source", "level"]) % 3
    return {("source", "level"): level}, {"first": first["source", "level"]}


@gen
def first_of_two(trace, component):
    first = ~categorical([0.25, 0.5, 0.25])


@pytest.mark.parametrize("insert", ["swap", "shift", "last"])
@pytest.mark.parametrize("propose", [None, new_source], ids=["prior", "proposal"])
def test_births_and_deaths_are_exact(propose, insert):
    kernel = birth_death("source", propose=propose, insert=insert, check=True)
    found = assert_exact(kernel, sources, ([0.2, 0.5, 0.3],), {"seen": True})
    assert len(found.traces) == 1 + 3 + 9 + 27


def test_splits_and_merges_are_exact():
    kernel = split_merge("source", bijection=(share, join), auxiliary=first_of_two, check=True)
    found = assert_exact(kernel, some_sources, ([0.2, 0.5, 0.3],), {"seen": True})
    assert len(found.traces) == 3 + 9 + 27


# --- the same chain on every runtime, and the law of k ------------------------------------------------


@gen
def body(centre):
    at = ~normal(centre, 1.0)
    "bound" @ ~factor(-abs(at))
    for i in range(2):
        ("each", i) @ ~factor(-0.05 * at)
    return at


@gen
def bodies(centre):
    k = ~poisson(2.0)
    for j in range(k):
        ("body", j) @ ~body(centre)


@gen
def new_body(trace):
    ("body", "at") @ ~normal(trace.args[0], 1.5)


@gen
def offset(trace, component):
    by = ~normal(0.0, 1.0)


def move_apart(one, u):
    return {("body", "at"): one["body", "at"] - u["by"]}, {("body", "at"): one["body", "at"] + u["by"]}


def move_together(first, second):
    low, high = first["body", "at"], second["body", "at"]
    return {("body", "at"): (low + high) / 2}, {"by": (high - low) / 2}


@transform
def turn(model_in, *, model_out):
    """The bodies in reverse order, each copied whole."""
    k = read(model_in["k"], discrete)
    write(model_out["k"], k, discrete)
    for j in range(k):
        copy(model_in["body", j], model_out["body", k - 1 - j])


walk = random_walk(select(("body", ..., "at")), 0.7, skip_absent=True)
splits = split_merge("body", bijection=(move_apart, move_together), auxiliary=offset, least=1)
KERNELS = {
    "proposal": birth_death("body", propose=new_body),
    "checked": birth_death("body", propose=new_body, check=True),
    "prior": birth_death("body", least=1),
    "split": cycle(splits, involutive(None, turn), walk),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_chain_is_the_same_on_every_runtime(name):
    start = bodies.generate((0.3,), init={"k": 3}, rng=1).trace
    found = {}
    for runtime in runtimes():
        with running_on(runtime):
            run = sample(KERNELS[name], start, 150, seed=3, progress=False)
        if runtime in ("native", "python"):
            assert run.ran[0].startswith("as ") and "interpreter" not in run.ran[0], run.ran
        found[runtime] = [(dict(trace.choices), trace.log_prob) for trace in run.traces]
    reference = found.pop("reference")
    assert len({choices["k",] for choices, _ in reference}) > 2
    for runtime, chain in found.items():
        for (choices, log_prob), (others, other) in zip(chain, reference, strict=True):
            assert choices == pytest.approx(others, rel=1e-9), runtime
            assert log_prob == pytest.approx(other, rel=1e-9), runtime


def law_of_k(least):
    """Each body adds a factor to the density of k: a Poisson distribution again, of another mean."""
    grid = np.linspace(-12.0, 12.0, 200_001)
    weights = stats.norm.pdf(grid, 0.3, 1.0) * np.exp(-np.abs(grid) - 0.1 * grid)
    k = np.arange(least, 40)
    law = stats.poisson.pmf(k, 2.0 * np.trapezoid(weights, grid))
    return k, law / law.sum()


@pytest.mark.parametrize(("name", "least"), [("proposal", 0), ("prior", 1), ("split", 1)])
def test_k_has_its_law(name, least):
    start = bodies.generate((0.3,), init={"k": 2}, rng=1).trace
    run = sample(cycle(KERNELS[name], walk), start, 40_000, seed=7, record="k", progress=False)
    drawn = np.asarray(run["k"], dtype=float).ravel()
    k, law = law_of_k(least)
    for value in (lambda k: 1.0 * k, lambda k: 1.0 * (k == least), lambda k: 1.0 * k * k):
        found, mean = value(drawn), float(np.sum(law * value(k)))
        error = found.std() / np.sqrt(effective_draws([found]))
        assert abs(found.mean() - mean) < 4.0 * error, (found.mean(), mean, error)


# --- what is an error still ---------------------------------------------------------------------------


@gen
def coin_for_factor(trace):
    ("body", "at") @ ~normal(0.3, 1.0)
    ("body", "other") @ ~bernoulli(0.5)


def test_choices_that_a_component_has_not_are_an_error_still():
    start = bodies.generate((0.3,), init={"k": 2}, rng=1).trace
    for runtime in runtimes():
        with running_on(runtime), pytest.raises(CoverageError, match="other"):
            sample(birth_death("body", propose=coin_for_factor), start, 50, seed=3, progress=False)
