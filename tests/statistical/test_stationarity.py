"""Every kind of kernel leaves the posterior invariant, and would be seen not to with a mistake in it.

The joint-distribution test of `gendsl.testing` on each kernel, sharp enough to see an error of 10 % in a
second moment; then the same test on the same kernel with a planted mistake, which must fail.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from examples import birth_death, galaxies, one_or_two_means, polar
from gendsl import (
    bernoulli,
    categorical,
    copy,
    dirichlet,
    gamma,
    gen,
    inv_wishart,
    log_normal,
    mvnormal,
    normal,
    poisson,
    read,
    select,
    transform,
    uniform_discrete,
    write,
)
from gendsl.errors import CoverageError
from gendsl.inference import cycle, involutive, mh, mixture, repeat
from gendsl.inference.kernel import Kernel
from gendsl.testing import StationarityReport, assert_stationary, running_on
from tests.statistical import broken

pytestmark = pytest.mark.statistical


LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")


@dataclass
class Case:
    """A kernel to test: its options, the statistics that must be sharp, and the mistakes to plant."""

    name: str
    kernel: Any
    model: Any
    args: tuple[Any, ...] = ()
    observed: Any = None
    sharp: tuple[str, ...] = ()
    mistakes: tuple[Callable[..., None], ...] = ()
    steps: int = 400
    part: float = 0.25  # of the steps, which is enough to see a mistake

    def check(self, part: float = 1.0) -> StationarityReport:
        """Run the test, or a part of it."""
        return assert_stationary(
            self.kernel, self.model, self.args, observed=self.observed, steps=int(part * self.steps),
            draws=int(part * 40_000),
        )  # fmt: skip


# --- mh with a selection -----------------------------------------------------------------------------


@gen
def two_normals():
    x = ~normal(0, 1)
    y = ~normal(x, 1)


@gen
def mixed(n):
    heads = ~bernoulli(0.3)
    k = ~uniform_discrete(1, 3)
    x = ~normal(2 if heads else -1, k)
    for i in range(n):
        ("y", i) @ ~normal(x, 3)


@gen
def sums():
    k = ~(1 + poisson(1))
    total = sum([("mu", j) @ ~normal(1, 1) for j in range(k)])
    if k > 1:
        spread = ~gamma(2, 2)
    else:
        spread = 2.0
    y = ~normal(total, spread)


def draw_spread(trace, rng):
    """mh on a choice that exists only sometimes."""
    return mh(select("spread"))(trace, rng) if trace["k"] > 1 else (trace, None)


# --- mh with a proposal --------------------------------------------------------------------------------


@gen
def counts():
    rate = ~gamma(3, 1)
    n = ~poisson(rate)


@gen
def drifting_walk(trace):
    rate = ~log_normal(math.log(trace["rate"]) + 0.3, 0.6)


@gen
def widening_walk(trace):
    x = ~normal(0.5 * trace["x"], 0.5 + abs(trace["x"]))


@gen
def jump(trace):
    """Another k, with the new means it needs: a proposal that changes the structure."""
    k = trace["k"]
    k_new = ("k") @ ~uniform_discrete(max(1, k - 1), k + 1)
    if k_new > k:
        ("mu", k) @ ~normal(0.5, 1.5)
        if k == 1:
            spread = ~gamma(1, 2)


# --- simplices, covariances, vectors -------------------------------------------------------------------


@gen
def weights_and_draws():
    w = ~dirichlet([2.0, 1.0, 3.0])
    for i in range(2):
        ("c", i) @ ~categorical(w)


@gen
def push(trace):
    i = ~uniform_discrete(0, 2)
    u = ~normal(0, 1.5)


@transform
def push_and_renormalise(model_in, aux_in, *, model_out, aux_out):
    i, u = read(aux_in["i"]), read(aux_in["u"])
    w = list(read(model_in["w"]))
    w[i] = w[i] * math.exp(u)
    total = sum(w)
    write(model_out["w"], [x / total for x in w])
    copy(aux_in["i"], aux_out["i"])
    write(aux_out["u"], -u)


@transform
def push_and_rebuild_the_last(model_in, aux_in, *, model_out, aux_out):
    i, u = read(aux_in["i"]), read(aux_in["u"])
    w = read(model_in["w"])
    odds = w[i] / (1 - w[i]) * math.exp(u)
    share = odds / (1 + odds)
    new = [x * (1 - share) / (1 - w[i]) for x in w]
    new[i] = share
    write(model_out["w"], [new[0], new[1], 1 - new[0] - new[1]])
    copy(aux_in["i"], aux_out["i"])
    write(aux_out["u"], -u)


@transform
def push_arrays(model_in, aux_in, *, model_out, aux_out):
    i, u = read(aux_in["i"]), read(aux_in["u"])
    w = read(model_in["w"]) * np.exp(u * (np.arange(3) == i))
    write(model_out["w"], w / np.sum(w))
    copy(aux_in["i"], aux_out["i"])
    write(aux_out["u"], -u)


@gen
def spread_of_points():
    cov = ~inv_wishart(7.0, np.array([[3.0, 1.0], [1.0, 4.0]]))
    x = ~mvnormal(np.zeros(2), cov)
    y = ~normal(x[0] + x[1], 3)


@gen
def scales(trace):
    s = ~normal(0, 0.8)
    t = ~normal(0.2, 0.8)


@transform
def rescale(model_in, aux_in, *, model_out, aux_out):
    s, t = read(aux_in["s"]), read(aux_in["t"])
    write(model_out["cov"], read(model_in["cov"]) * math.exp(s))
    write(model_out["x"], math.exp(t) * read(model_in["x"]))
    write(aux_out["s"], -s)
    write(aux_out["t"], -t)


# --- a transform that forgets a write ------------------------------------------------------------------


@gen
def switched():
    on = ~bernoulli(0.5)
    level = 0
    if on:
        level = ~categorical([0.1, 0.2, 0.7])
    y = ~normal(level, 1)


@transform
def switch_and_write(model_in, aux_in, *, model_out, aux_out):
    on = read(model_in["on"])
    write(model_out["on"], not on)
    if on:
        copy(model_in["level"], aux_out["level"])
    else:
        copy(aux_in["level"], model_out["level"])


@gen
def draw_level(trace):
    if not trace["on"]:
        level = ~categorical([0.4, 0.3, 0.3])


@transform
def switch_and_forget(model_in, *, model_out):
    if read(model_in["on"]):
        read(model_in["level"])  # so that only what is new is forgotten
    write(model_out["on"], not read(model_in["on"]))


# --- the cases -----------------------------------------------------------------------------------------


def only_sometimes(address):
    """mh on a choice that exists only sometimes."""
    return Kernel(
        lambda trace, rng: mh(select(address))(trace, rng) if address in trace else (trace, None), "sometimes"
    )


JACOBIAN = (broken.dropped_jacobian, broken.inverted_jacobian)

CASES = [
    Case("prior proposals", mh(select("x")), two_normals, observed="y", sharp=("'x'²",),
         mistakes=(broken.stale_scores, broken.always_accept), steps=800),
    Case("prior proposals, discrete and continuous",
         cycle(mh(select("heads")), mh(select("k")), mh(select("x")), mh(select("heads", "x"))),
         mixed, (2,), "y", ("'x'²", "'k'²"), (broken.stale_scores, broken.always_accept), 1000),
    Case("prior proposals of structure", cycle(mh(select("k")), mh(select("mu")), draw_spread), sums,
         observed="y", sharp=("('mu', 0)²", "'k'²"), mistakes=(broken.stale_scores,),
         steps=600),
    Case("asymmetric walk", mh(drifting_walk), counts, observed="n", sharp=("'rate'²",),
         mistakes=(broken.dropped_backward, broken.stale_backward, broken.backward_at_proposed_values),
         steps=1200),
    Case("walk of varying width", mh(widening_walk), two_normals, observed="y", sharp=("'x'²",),
         mistakes=(broken.dropped_backward, broken.backward_at_proposed_values), steps=900),
    Case("proposal of structure", cycle(mh(jump), mh(select("mu")), draw_spread), sums, observed="y",
         sharp=("('mu', 0)²",), mistakes=(broken.dropped_backward,), steps=600),
    Case("cycle, mixture and repeat",
         cycle(repeat(mh(widening_walk), 2), mixture([mh(select("x")), mh(widening_walk)], [1, 3])),
         two_normals, observed="y", sharp=("'x'²",), mistakes=(broken.dropped_backward,)),
    Case("polar and cartesian", cycle(involutive(None, polar.switch), polar.draw_again), polar.point,
         observed="z", sharp=("'x'²",), mistakes=JACOBIAN, steps=600),
    Case("split and merge of means", cycle(involutive(one_or_two_means.offset, one_or_two_means.split_merge),
         mh(select("mu")), mh(one_or_two_means.walk)), one_or_two_means.one_or_two, (2,), "x",
         ("('mu', 0)²",), JACOBIAN),
    Case("split and merge of clusters",
         cycle(involutive(galaxies.split_or_merge, galaxies.split_merge), mh(select("mu", "weights")),
               mh(select("var"))),
         galaxies.clusters, (1,), "x", ("('var', 0)²",),
         (*JACOBIAN, broken.wrong_sign, broken.dropped_backward_auxiliary)),
    Case("birth and death", cycle(involutive(birth_death.propose, birth_death.birth_death),
         mh(select("mu", "weights")), mh(select("var"))),
         birth_death.clusters, (1,), "x", ("('var', 0)²",),
         (*JACOBIAN, broken.wrong_sign, broken.ambient_coordinates)),
    Case("weights renormalised", involutive(push, push_and_renormalise), weights_and_draws, observed="c",
         sharp=("'w'[0]²", "'w'[2]²"), mistakes=JACOBIAN, steps=800),
    Case("last weight rebuilt", involutive(push, push_and_rebuild_the_last), weights_and_draws,
         observed="c", mistakes=(broken.dropped_jacobian,), steps=300),
    Case("weights as arrays", involutive(push, push_arrays), weights_and_draws, observed="c",
         mistakes=(broken.dropped_jacobian,), steps=200, part=0.4),
    Case("covariances and vectors",
         cycle(repeat(involutive(scales, rescale), 3), mh(select("x")), mh(select("cov"))),
         spread_of_points, observed="y", sharp=("'cov'[0]²",), mistakes=(broken.dropped_jacobian,),
         steps=200, part=0.55),
    Case("a switch that writes what is new", cycle(involutive(draw_level, switch_and_write),
         only_sometimes("level")), switched, observed="y", sharp=("'y'²",),
         mistakes=(broken.wrong_sign, broken.dropped_auxiliary)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def weak_data(monkeypatch):
    """Means that are close enough for merges to be accepted, and data that tell little of the rest."""
    monkeypatch.setattr(one_or_two_means, "PRIOR_SD", 1.0)
    monkeypatch.setattr(polar, "NOISE", 2.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_stationary(case):
    """A part of the steps, in which the mistakes planted below are seen; all of them in the long run."""
    report = case.check(1.0 if LONG else case.part)
    scores = {score.name: score for score in report.scores}
    for name in case.sharp if LONG else ():
        # an error of 10 % would be four standard errors or more, mostly five
        assert 4 * scores[name].error < 0.1 * scores[name].expected, scores[name]
        assert abs(scores[name].z) < 4, scores[name]


@pytest.mark.parametrize(
    ("case", "mistake"),
    [
        pytest.param(
            case, mistake, id=f"{case.name}: {mistake.__name__}", marks=[pytest.mark.gendsl_long] if i else []
        )
        for case in CASES
        for i, mistake in enumerate(case.mistakes)
    ],
)
def test_a_mistake_is_seen(case, mistake, monkeypatch):
    """At the latest by the part of the steps in which the kernel without it passes, mostly sooner.

    Without machine code, of which the first steps would be compared with those that have the mistake.
    """
    mistake(monkeypatch)
    with running_on("compiled"), pytest.raises(AssertionError, match="not stationary"):
        for share in (0.2, 0.5, 1.0):
            case.check(share * case.part)


def test_a_forgotten_write_is_an_error_and_would_be_a_mistake(monkeypatch):
    """Filling it in by sampling is the mistake that the check is there for."""
    kernel = cycle(involutive(None, switch_and_forget), only_sometimes("level"))
    with pytest.raises(CoverageError, match="neither writes nor copies"):
        assert_stationary(kernel, switched, observed="y", steps=10, draws=1000)
    broken.implicit_resampling(monkeypatch)
    with pytest.raises(AssertionError, match="not stationary"):
        assert_stationary(kernel, switched, observed="y", steps=100, draws=5000)


def test_rejecting_flawed_moves_leaves_the_posterior_invariant():
    """The paper's flawed birth/death move, with its failures rejected."""
    flawed = involutive(birth_death.propose_flawed, birth_death.flawed, check="reject")
    kernel = cycle(flawed, mh(select("mu", "weights")), mh(select("var")))
    report = assert_stationary(kernel, birth_death.clusters, (1,), observed="x", steps=80, draws=10_000)
    assert report.moved > 0.5
