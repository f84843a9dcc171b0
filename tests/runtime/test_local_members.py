"""Edits of what many points look up, while these come, go and change: what is kept of them is never stale."""

import os

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    categorical,
    exponential,
    gamma,
    gen,
    laplace,
    log_normal,
    normal,
    poisson,
    uniform_discrete,
)
from gendsl.distributions import columns
from gendsl.runtime import column_steps, members
from gendsl.runtime.local import edited

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)

N = 150


@gen
def means(n, k, sd):
    """Decided by the entry alone, with a list of labels for whoever wants it."""
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    labels, points = [], []
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 7)
        x = ("x", i) @ ~normal(mu[z], 1)
        labels.append(z)
        points.append(x)
    return labels, points


@gen
def scaled(n, k, sd):
    """By what is outside, too."""
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 7)
        ("x", i) @ ~normal(mu[z], sd)


@gen
def sloping(n, k, sd):
    """By another choice of the iteration, and by a number that the loop goes through."""
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i, w in enumerate([0.01 * t for t in range(n)]):
        z = ("z", i) @ ~uniform_discrete(0, 7)
        v = ("v", i) @ ~normal(0, 1)
        ("x", i) @ ~normal(mu[z] * v + w, 1)


@gen
def without_summary(n, k, sd):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 7)
        ("x", i) @ ~laplace(mu[z], 2)


@gen
def several(n, k, sd):
    """Several choices of an iteration, of several families, at entries of two containers of one loop."""
    mu, rate = [], []
    for j in range(k):
        mu.append(("mu", j) @ ~normal(0, 1))
        rate.append(("rate", j) @ ~gamma(3, 1))
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 7)
        ("x", i) @ ~normal(mu[z], rate[z])
        ("count", i) @ ~poisson(rate[z])
        ("wait", i) @ ~exponential(rate[z])
        ("size", i) @ ~log_normal(mu[z], 0.5)


@gen
def chances(n, k, sd):
    mu = [("mu", j) @ ~beta(2, 2) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.125] * 8)
        ("x", i) @ ~bernoulli(mu[z])


MODELS = means, scaled, sloping, without_summary, several, chances


def value_of(model, head, rng):
    if head == "z":
        return int(rng.integers(8))
    if head == "count":
        return int(rng.integers(5))
    if model is chances:
        return bool(rng.integers(2)) if head == "x" else float(rng.uniform(0.1, 0.9))
    positive = head in ("rate", "wait", "size")
    return float(rng.uniform(0.2, 3.0)) if positive else float(rng.normal(0.0, 2.0))


def agree(trace, other):
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9, abs=1e-9)
    assert trace.choices == other.choices
    assert trace.retval == other.retval


HEADS = {
    means: ("mu", "mu", "z", "x"), scaled: ("mu", "mu", "z", "x"), sloping: ("mu", "mu", "z", "v", "x"),
    without_summary: ("mu", "mu", "z", "x"), several: ("mu", "rate", "z", "x", "count", "wait", "size"),
    chances: ("mu", "mu", "z", "x"),
}  # fmt: skip


@pytest.mark.parametrize("k", [8, 60], ids=["entries in frames", "entries in columns"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_edits_of_all_kinds_in_any_order(model, seed, k):
    """Values, arguments that give more and fewer points and entries, and old traces edited again."""
    rng = np.random.default_rng([seed, k])
    args = [N, k, 1.5]
    trace = model.simulate(tuple(args), rng=seed)
    other = trace.whole()
    old = []
    for step in range(60):
        kind = rng.integers(12)
        if kind == 0 and old:  # an old one, from which others came since
            trace, other, args = old[rng.integers(len(old))]
            args = [*args]
        if kind == 1:
            args = [int(rng.integers(60, N + 30)), int(rng.integers(8, k + 1)), float(rng.uniform(1, 2))]
            draws = int(rng.integers(1 << 30))
            trace, weight, discard = trace.update(args=tuple(args), rng=draws)
            other, expected, discarded = other.update(args=tuple(args), rng=draws)
        else:
            head = HEADS[model][rng.integers(len(HEADS[model]))]
            size = 8 if head in ("mu", "rate") else min(args[0], 60)
            values = {
                (head, int(rng.integers(size))): value_of(model, head, rng)
                for _ in range(1 + (kind > 9) * int(rng.integers(1, 4)))
            }
            trace, weight, discard = trace.update(values)
            other, expected, discarded = other.update(values)
        assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert discard == discarded
        agree(trace, other)
        if step % 7 == 0:
            old.append((trace, other, tuple(args)))
    for then, reference, _ in old:
        agree(then, reference)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_key_loses_all_and_gains_some(model):
    trace = model.simulate((N, 8, 1.0), rng=1)
    other = trace.whole()
    value = 0.6
    for goes_to in (4, 3):
        for i in range(N):
            if trace["z", i] == 7 - goes_to or (goes_to == 3 and i % 9 == 0):
                trace, weight, _ = trace.update({("z", i): goes_to})
                other, expected, _ = other.update({("z", i): goes_to})
                assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        for j in (3, 4, 3):
            value = 1.1 - value if model is chances else value + 0.3
            trace, weight, _ = trace.update({("mu", j): value})
            other, expected, _ = other.update({("mu", j): value})
            assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        agree(trace, other)


@pytest.mark.parametrize("model", [means, without_summary, several], ids=lambda model: model.name)
def test_proposals_from_one_trace_do_not_meet(model):
    """Many are made of a trace, and some of those that were made of others before; none is rejected twice."""
    rng = np.random.default_rng(4)
    trace = model.simulate((N, 8, 1.0), rng=1)
    for _ in range(12):
        other = trace.whole()
        proposals = [{("mu", int(rng.integers(3))): float(rng.normal())} for _ in range(6)]
        updates = [trace.update(proposal) for proposal in proposals]
        for proposal, (made, weight, _) in zip(proposals, updates, strict=True):
            expected = other.update(proposal)
            assert weight == pytest.approx(expected.log_weight, rel=1e-9, abs=1e-9)
            agree(made, expected.trace)
        trace = updates[rng.integers(6)].trace


def test_zero_is_not_negative_zero():
    @gen
    def signed(n):
        mu = [("mu", j) @ ~normal(0, 1) for j in range(4)]
        for i in range(n):
            z = ("z", i) @ ~uniform_discrete(0, 3)
            ("x", i) @ ~normal(np.copysign(1.0, mu[z]), 1)

    trace = signed.simulate((N,), rng=1)
    for value in (0.0, -0.0, 0.5, -0.0, 0.0):
        other = trace.whole()
        trace, weight, _ = trace.update({("mu", 2): value})
        expected = other.update({("mu", 2): value})
        assert weight == pytest.approx(expected.log_weight, rel=1e-9, abs=1e-9)
        agree(trace, expected.trace)


@pytest.mark.parametrize("model", [means, scaled, several, chances], ids=lambda model: model.name)
def test_members_are_gone_through_once(model, monkeypatch):
    """As long as they are the same, an edit of what they look up costs the same for few and for many."""
    trace = model.simulate((N, 8, 1.0), rng=1)
    for j in range(8):
        trace = trace.update({("mu", j): 0.4}).trace
    passes = []
    for module in (members, column_steps):
        monkeypatch.setattr(module, "column_total", lambda *_: passes.append("a pass"))
    monkeypatch.setattr(columns, "score_columns", lambda *_: passes.append("a pass"))
    for value in (0.3, 0.7, 0.5):
        for j in range(8):
            trace = trace.update({("mu", j): value}).trace
    assert not passes


def test_without_a_summary_what_was_proposed_is_known_once_it_is_accepted(monkeypatch):
    trace = without_summary.simulate((N, 8, 1.0), rng=1).update({("mu", 2): 1.0}).trace
    passes = []

    def counted(*given):
        passes.append(given)
        return column_steps.column_total(*given)

    monkeypatch.setattr(members, "column_total", counted)
    for value in (0.5, 1.5, 2.5):
        trace = trace.update({("mu", 2): value}).trace
    for value in (0.25, 1.25):  # rejected
        trace.update({("mu", 2): value})
    assert len(passes) == 5


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_such_choices_are_edited_by_themselves(model):
    trace = model.simulate((N, 60, 1.0), rng=1)
    assert edited(trace, {("mu", 3): 0.5}.items()) is not None
    trace = trace.update({("mu", 3): 0.5}).trace
    assert edited(trace, {("z", 3): 5}.items()) is not None


@pytest.mark.slow
@pytest.mark.parametrize("model", [means, several], ids=lambda model: model.name)
def test_after_many_edits_the_density_is_that_of_the_choices(model):
    rng = np.random.default_rng(1)
    trace = model.simulate((N, 8, 1.0), rng=1)
    for step in range(20_000):
        head = "z" if step % 3 else "mu"
        if head == "mu":
            value = float(rng.normal() * 10.0 ** rng.uniform(-2, 3))
            trace = trace.update({("mu", int(rng.integers(8))): value}).trace
        else:
            trace = trace.update({("z", int(rng.integers(N))): int(rng.integers(8))}).trace
    for j in range(8):
        trace = trace.update({("mu", j): 0.1}).trace
    fresh = model.assess(trace.args, trace.choices).log_prob
    assert trace.log_prob == pytest.approx(fresh, rel=1e-9)


@gen
def into_the_same(n, k):
    """The plate adds to what it looks up in."""
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        x = ("x", i) @ ~normal(mu[z], 1)
        mu.append(x)
    return mu


@gen
def leaves_what_it_looks_up(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    centres = []
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)
        centres.append(mu[z])
    for i in range(n):
        ("y", i) @ ~normal(centres[i], 1)
    return centres


@gen
def leaves_the_last(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    centre = 0.0
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)
        centre = mu[z]
    return centre


@gen
def leaves_labels(n, k):
    """The labels are looked at again, and the means with them."""
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    labels = []
    for i in range(n):
        labels.append(("z", i) @ ~uniform_discrete(0, k - 1))
        ("x", i) @ ~normal(mu[labels[i]], 1)
    for i in range(n):
        z = labels[i]
        ("y", i) @ ~normal(mu[z], 1)
    return labels


@pytest.mark.parametrize(
    "model", [into_the_same, leaves_what_it_looks_up, leaves_the_last, leaves_labels], ids=lambda m: m.name
)
@pytest.mark.parametrize("k", [4, 60])
def test_plates_that_leave_something_behind(model, k):
    rng = np.random.default_rng(2)
    trace = model.simulate((N, k), rng=1)
    other = trace.whole()
    for step in range(30):
        path = ("z", int(rng.integers(N))) if step % 3 == 0 else ("mu", int(rng.integers(4)))
        values = {path: int(rng.integers(4)) if path[0] == "z" else float(rng.normal())}
        trace, weight, _ = trace.update(values)
        other, expected, _ = other.update(values)
        assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        agree(trace, other)
