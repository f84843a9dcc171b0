"""Many choices of a plate edited at once come to what the same edits one by one come to."""

import math
import os

import numpy as np
import pytest

from gendsl import bernoulli, categorical, choicemap, gen, normal, poisson, select
from gendsl.runtime import column_loops
from gendsl.runtime.column_edits import edit_many
from tests.laws.edits import Session, random_edits

N = 50
LONG = os.environ.get("GENDSL_LONG", "") not in ("", "0")


@gen
def labels(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(4)]
    z = [("z", i) @ ~categorical([0.1, 0.2, 0.3, 0.4]) for i in range(n)]
    for i in range(n):
        ("x", i) @ ~normal(mu[z[i]], 1)
    y = ~normal(sum(z) / (1 + n), 1)
    return mu, y


@gen
def together(n):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(4)]
    z = np.zeros(n, int)
    flags = {}
    for i in range(1, n):
        z[i] = ~categorical([0.1, 0.2, 0.3, 0.4])
        flags[i] = ~bernoulli(0.25)
        shift = 2.0 * z[i] + flags[i]
        ("x", "at", i) @ ~normal(mu[z[i]] + shift, math.exp(0.5))
        ("count", i) @ ~poisson(1 + shift)
    ("total", 0) @ ~normal(z.sum(), 1)
    return flags


@gen
def inside(n):
    for j in range(2):
        ("part", j) @ ~labels(n + j)


MODELS = [labels, together, inside]
SIZES = [(N,), (N + 1,), (48,)]


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr(column_loops, "MANY", 1)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("seed", range(12 if LONG else 1))
def test_both_runtimes_agree(model, seed, many):
    Session(model, SIZES, lambda args, rng: SIZES[int(rng.integers(3))]).run(random_edits(seed), seed)


def given(trace, rng, share):
    """Values for a share of the choices; for the others none."""
    return {
        path: trace.records[path][0].sample(rng)
        for path in trace.choices
        if rng.random() < share and path not in trace.observed
    }


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_edits_of_many_choices(model, share, many):
    rng = np.random.default_rng(3)
    trace = model.generate((N,), {"x": np.zeros(N)} if model is labels else None, rng=1).trace
    for _ in range(3):
        values = given(trace, rng, share)
        latent = {path: value for path, value in trace.choices.items() if path not in trace.observed}
        reference = model.reference.generate((N,), trace.observed, init=latent).trace
        mine, theirs = trace.update(choicemap(values)), reference.update(choicemap(values))
        assert mine.trace.choices == theirs.trace.choices and mine.discard == theirs.discard
        assert mine.log_weight == pytest.approx(theirs.log_weight, rel=1e-9)
        assert mine.trace.log_prob == pytest.approx(theirs.trace.log_prob, rel=1e-9)
        assert mine.trace.retval == theirs.trace.retval
        edit = trace.edit(values)
        assert edit.log_weight == pytest.approx(mine.log_weight, rel=1e-12) and not edit.removed
        trace = mine.trace
        for path in list(values)[:3]:  # what was edited at once can be edited one by one, and looked up
            trace = trace.update({path: trace[path]}).trace
        new = trace.update({("mu", 1): 0.5} if model is not inside else {("part", 0, "mu", 1): 0.5})
        fresh = model.assess((N,), new.trace.choices)
        assert new.trace.log_prob == pytest.approx(fresh.log_prob, rel=1e-9)
        part = trace.project(select("x")) if model is labels else None
        assert part is None or part == pytest.approx(sum(trace.records["x", i][2] for i in range(N)))


@gen
def two_parts(n):
    first, second = "ab"
    return first @ ~labels(n), second @ ~labels(n)


def test_an_edit_stays_under_its_own_address(many):
    trace = two_parts.simulate((N,), rng=1)
    new = trace.update({("a", "z", i): (trace["a", "z", i] + 1) % 4 for i in range(N)})
    assert new.trace.log_prob == pytest.approx(two_parts.assess((N,), new.trace.choices).log_prob, rel=1e-9)
    assert all(new.trace["b", "z", i] == trace["b", "z", i] for i in range(N))
    assert all(new.trace["a", "z", i] != trace["a", "z", i] for i in range(N))


def test_it_is_the_way_taken(monkeypatch):
    if labels.is_reference:
        pytest.skip("the reference runtime has no columns")
    taken = []

    def noted(*arguments):
        taken.append(edit_many(*arguments))
        return taken[-1]

    monkeypatch.setattr(column_loops, "edit_many", noted)
    trace = labels.simulate((1000,), rng=1)
    values = {("z", i): 1 for i in range(500)}
    new = trace.edit(values).trace
    assert len(taken) == 2 and None not in taken
    assert new.log_prob == pytest.approx(labels.assess((1000,), new.choices).log_prob, rel=1e-9)
    for wrong in ({("z", 3): -1}, {("x", 3): -1e9}, {("x", 3): math.nan}, {("x", 3): 1e9}):
        taken.clear()
        new = trace.edit({**values, **wrong})
        assert None in taken
        expected = labels.reference.score((1000,), {**trace.choices.to_flat_dict(), **values, **wrong})
        assert new.trace.log_prob == pytest.approx(expected.log_prob, rel=1e-9)
