"""Gibbs, slice and elliptical slice sampling, proposals of all kinds, and compositions leave the posterior
invariant: exactly on discrete models, by the joint-distribution test on others; and mistakes are seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    binom,
    categorical,
    dirichlet,
    gamma,
    gen,
    iid,
    mvnormal,
    normal,
    poisson,
    select,
    student_t,
    uniform_discrete,
)
from gendsl.errors import KernelError
from gendsl.inference import (
    cycle,
    elliptical_slice,
    gibbs,
    independent,
    mh,
    mixture,
    repeat,
    single_site,
    slice_sampling,
    tempered,
    tempered_mh,
)
from gendsl.testing import assert_exact, assert_stationary, transitions
from tests.statistical import broken
from tests.statistical import broken_without_gradients as planted

mh_module = import_module("gendsl.inference.mh")


@pytest.fixture(autouse=True)
def few_seeds(monkeypatch):
    """Functions that pick a selection get one of few streams, so that all of them can be run through.

    What they do is exact for each stream, so for any number of them.
    """
    monkeypatch.setattr(mh_module, "_SEEDS", 6)


# --- discrete models ---------------------------------------------------------------------------------


@gen
def network():
    a = ~bernoulli(0.3)
    b = ~categorical([0.2, 0.5, 0.3] if a else [0.6, 0.4, 0.0])
    c = ~binom(2, 0.2 + 0.2 * b)
    seen = ~bernoulli([0.1, 0.5, 0.8][c])


@gen
def branching():
    """What b can be, and whether c exists, depends on a; b indexes a list of a's."""
    a = ~uniform_discrete(0, 2)
    if a:
        b = ~uniform_discrete(0, a)
        c = ~bernoulli(0.2 + 0.1 * b)
    else:
        b = ~uniform_discrete(0, 0)
        c = 0
    level = [[0.2], [0.9, 0.1], [0.3, 0.4, 0.8]][a][b]
    seen = ~bernoulli(level if c else 1 - level)


@gen
def points(n):
    k = ~uniform_discrete(2, 3)
    w = ~categorical([0.2, 0.8])
    for i in range(n):
        z = ("z", i) @ ~categorical([1 / k] * k)
        ("x", i) @ ~bernoulli([0.3, 0.8, 0.5 + 0.1 * w][z])


@gen
def components():
    k = ~uniform_discrete(1, 3)
    total = 0
    for j in range(k):
        total += ("z", j) @ ~categorical([0.6, 0.3, 0.1] if j % 2 else [0.2, 0.2, 0.6])
    signal = ~bernoulli(0.05 + 0.15 * total)


@gen
def bits():
    v = ~iid(bernoulli(0.3), 2)
    y = ~bernoulli(0.1 + 0.3 * v.sum())


@gen
def counts():
    n = ~binom(5, 0.4)
    m = ~uniform_discrete(2, 4)
    y = ~binom(4, 0.1 + 0.15 * n if m < 4 else 0.2)


@gen
def two_modes(temperature):
    x = ~categorical([0.2] * 5)
    w = ~bernoulli(0.4)
    odds = (([9.0, 0.3, 0.1, 0.1, 4.0] if w else [9.0, 0.02, 0.001, 0.1, 4.0])[x]) ** (1 / temperature)
    y = ~bernoulli(odds / (1 + odds))


@gen
def neighbour(trace):
    x = trace["x"]
    x = ~categorical([float(abs(i - x) == 1) / (2 - (x in (0, 4))) for i in range(5)])


def any_component(trace, rng):
    return select(("z", int(rng.integers(trace["k"]))))


def last_component(trace):
    """Another one, where the last component is drawn as 2."""
    return select("k") if trace["z", trace["k"] - 1] == 2 else select(("z", trace["k"] - 1))


SEEN, X2, SIGNAL = {"seen": True}, {("x", 0): True, ("x", 1): False}, {"signal": True}
ON = {"y": True}
BY_STATE = mixture(
    [mh(select("k")), single_site(select("z"))], lambda trace: [trace["k"], 1 + trace["z", 0]]
)
LADDER = tempered(mh(neighbour), [(3.0,), (6.0,)])
POWERS = tempered(lambda beta: tempered_mh(neighbour, beta), [0.4])

EXACT = {
    "gibbs": (gibbs("b"), network, (), SEEN),
    "gibbs, every one": (gibbs(select("a", "b", "c")), network, (), SEEN),
    "gibbs, one at random": (gibbs(select("a", "b", "c"), scan="random"), network, (), SEEN),
    "gibbs, block": (gibbs(select("a", "b"), block=True), network, (), SEEN),
    "gibbs, block of all": (gibbs(select("c", "a", "b"), block=True), network, (), SEEN),
    "gibbs, block with structure": (
        gibbs(select("c", "b", "a"), block=True, skip_absent=True), branching, (), SEEN),
    "gibbs, all points": (gibbs("z"), points, (2,), X2),
    "gibbs, points at random": (gibbs(select(("z", ...)), scan="random"), points, (2,), X2),
    "gibbs, block of points": (gibbs(select("w", ("z", 0), ("z", 1)), block=True), points, (2,), X2),
    "gibbs, array": (gibbs("v"), bits, (), ON),
    "gibbs, block with an array": (gibbs("v", block=True), bits, (), ON),
    "single site": (single_site(select("z", "k")), components, (), SIGNAL),
    "picked at random": (mh(any_component), components, (), SIGNAL),
    "picked at random, with k": (
        mh(lambda trace, rng: any_component(trace, rng) | select("k")), components, (), SIGNAL),
    "picked by the state": (mh(last_component), components, (), SIGNAL),
    "independent": (
        independent({"a": bernoulli(0.8), "c": categorical([0.1, 0.2, 0.7])}), network, (), SEEN),
    "integer slice": (slice_sampling("n", width=2, max_steps=3), counts, (), {"y": 2}),
    "integer slice, narrow": (slice_sampling("n", max_steps=2), counts, (), {"y": 2}),
    "integer slice, wide": (slice_sampling("m", width=4, max_steps=1), counts, (), {"y": 2}),
    "mixture by state": (BY_STATE, components, (), SIGNAL),
    "tempered by arguments": (LADDER, two_modes, (1.0,), ON),
    "tempered by powers": (POWERS, two_modes, (1.0,), ON),
    "palindrome": (cycle(mh(neighbour), gibbs("w"), mh(neighbour)), two_modes, (1.0,), ON),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    kernel, *model = EXACT[name]
    found = assert_exact(kernel, *model)
    if kernel.reversible:
        assert found.imbalance < 1e-12


def test_a_block_of_everything_gives_independent_draws():
    for name in ("gibbs, block of all", "gibbs, block with structure", "gibbs, block with an array"):
        found = transitions(*EXACT[name])
        assert np.abs(found.matrix - found.posterior).max() < 1e-12


def test_reversibility_is_what_the_matrices_say():
    a, b, c = mh(select("a")), gibbs("b", scan="random"), mh(select("c"))
    same = cycle(a, b, a)
    swept = gibbs(select("a", "b"))
    for kernel in (same, repeat(mixture([a, b]), 2), cycle(a, b), cycle(a, cycle(b, c)), swept):
        found = assert_exact(kernel, network, (), SEEN)
        assert (found.imbalance < 1e-12) == kernel.reversible


EXACT_MISTAKES = [
    ("gibbs", planted.even_draws),
    ("gibbs", planted.always_another_value),
    ("gibbs, block", planted.even_draws),
    ("gibbs, block with structure", planted.always_another_value),
    ("single site", planted.uncorrected_count),
    ("independent", broken.dropped_backward),
    ("integer slice", planted.even_split),
    ("integer slice", planted.level_of_the_square_root),
    ("mixture by state", planted.uncorrected_weights),
    ("tempered by arguments", planted.uncorrected_climb),
    ("tempered by arguments", planted.unweighted_descent),
    ("tempered by powers", planted.unweighted_descent),
]


@pytest.mark.parametrize(
    ("name", "mistake"), EXACT_MISTAKES, ids=lambda part: getattr(part, "__name__", part)
)
def test_a_mistake_is_seen(name, mistake, monkeypatch):
    made = {
        "tempered by arguments": lambda: tempered(mh(neighbour), [(3.0,), (6.0,)]),
        "tempered by powers": lambda: tempered(lambda beta: tempered_mh(neighbour, beta), [0.4]),
    }
    mistake(monkeypatch)
    kernel, *model = EXACT[name]
    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(made[name]() if name in made else kernel, *model)


def test_an_unchecked_selection_is_a_mistake(monkeypatch):
    planted.unchecked_selection(monkeypatch)
    with pytest.raises(AssertionError, match="doesn't leave the posterior invariant"):
        assert_exact(mh(last_component), components, (), SIGNAL)


# --- continuous models -------------------------------------------------------------------------------


@dataclass
class Case:
    """A kernel to test, and the mistakes to plant."""

    name: str
    kernel: Callable[[], Any]
    model: Any
    args: tuple[Any, ...] = ()
    observed: Any = "y"
    mistakes: tuple[Callable[..., None], ...] = ()
    steps: int = 80

    def check(self, part=1.0):
        return assert_stationary(
            self.kernel(), self.model, self.args, observed=self.observed, steps=int(part * self.steps),
            draws=int(part * 8_000),
        )  # fmt: skip


@gen
def clusters(n):
    mu = [("mu", j) @ ~normal(j, 1) for j in range(2)]
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.3)
        ("y", i) @ ~normal(mu[int(z)], 0.7)


@gen
def constrained():
    x = ~gamma(2, 1)
    b = ~beta(2, 1)
    n = ~poisson(3)
    y = ~normal(x + b + n, 1)


@gen
def shares():
    w = ~dirichlet([2.0, 1.0, 3.0])
    y = ~normal(w[0] - w[2], 0.3)


@gen
def gaussian():
    x = ~normal(1, 2)
    v = ~mvnormal(np.array([1.0, 2.0]), np.array([[2.0, 1.0], [1.0, 3.0]]))
    u = ~iid(normal(1, 0.5), 2)
    y = ~normal(x * v[0] + v[1] + u[0], 1)


@gen
def shifted():
    x = ~normal(1, 2)
    a = ~(2 * normal(1, 1) + 1)
    y = ~normal(x * a, 2)


@gen
def sums():
    k = ~(1 + poisson(1))
    total = sum([("mu", j) @ ~normal(1, 1) for j in range(k)])
    y = ~normal(total, 2)


@gen
def two_normals(temperature):
    x = ~normal(1, 1)
    y = ~normal(x * x, temperature)


@gen
def walk(trace):
    x = ~normal(trace["x"], 0.1)


@gen
def wide_walk(trace):
    x = ~normal(trace["x"], 2)


def one_mean(trace, rng):
    return select(("mu", int(rng.integers(trace["k"]))))


CASES = [
    Case("gibbs and slice", lambda: cycle(gibbs("z"), slice_sampling("mu")), clusters, (2,), "y",
         (planted.even_draws,), 40),
    Case("slice", lambda: slice_sampling(select("x", "b", "n"), width=0.4, max_steps=3), constrained,
         mistakes=(planted.level_of_the_square_root,)),
    Case("slice on a simplex", lambda: slice_sampling("w", width=0.3, max_steps=2), shares,
         steps=40),
    Case("elliptical slice", lambda: elliptical_slice(select("x", "a")), shifted,
         mistakes=(planted.prior_counted_twice, planted.mean_forgotten)),
    Case("elliptical slice of vectors", lambda: elliptical_slice(select("x", "v", "u")), gaussian, steps=25),
    Case("independent", lambda: independent({"x": student_t(4, 0, 2)}), two_normals, (1.0,),
         mistakes=(broken.dropped_backward,)),
    Case("single site of many", lambda: single_site(select("k", "mu")), sums, steps=150,
         mistakes=(planted.uncorrected_count,)),
    Case("picked", lambda: mixture([mh(select("k")), mh(one_mean)]), sums, steps=60),
    Case("mixture by state",
         lambda: mixture([mh(walk), mh(wide_walk)], lambda trace: [9 if trace["x"] > 1 else 0.1, 1]),
         two_normals, (1.0,), steps=100),
    Case("tempered", lambda: tempered(mh(wide_walk), [(2.0,), (4.0,)]), two_normals, (1.0,),
         mistakes=(planted.unweighted_descent,)),
]  # fmt: skip


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_stationary(case):
    case.check()


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("case", "mistake"),
    [
        pytest.param(case, mistake, id=f"{case.name}: {mistake.__name__}")
        for case in CASES
        for mistake in case.mistakes
    ],
)
def test_a_mistake_is_not_stationary(case, mistake, monkeypatch):
    mistake(monkeypatch)
    with pytest.raises(AssertionError, match="not stationary"):
        for part in (0.15, 0.3, 0.6):
            case.check(part)


def test_a_step_that_leaves_the_normals_is_refused():
    @gen
    def chain():
        x = ~normal(0, 1)
        z = ~normal(x, 1)

    with pytest.raises(KernelError, match="depends on other selected choices"):
        elliptical_slice(select("x", "z"))(chain.simulate(rng=1), 1)
