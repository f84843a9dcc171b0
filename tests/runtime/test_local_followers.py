"""Edits of choices on which statements and whole plates depend are those of the reference runtime."""

import math
import os

import numpy as np
import pytest

from gendsl import gamma, gen, normal, select, uniform
from gendsl.inference import mh, slice_sampling
from gendsl.runtime import column_loops, local_followers
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_scores import rescored
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.local import LocalDensity, LocalRedraw
from gendsl.runtime.loops import LoopBlock

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)

N = 200
ROWS = np.random.default_rng(1).standard_normal((N, 3))
MANY = np.random.default_rng(1).standard_normal((N, 60))


@gen
def regression(rows):
    beta = np.array([("beta", j) @ ~normal(0, 10) for j in range(rows.shape[1])])
    for i in range(len(rows)):
        ("y", i) @ ~normal(rows[i] @ beta, 2)


@gen
def two_plates(rows):
    """A chain of coefficients, statements after one another, and plates that read different ones of them."""
    beta, last = [], 0.0
    for j in range(rows.shape[1]):
        last = ("beta", j) @ ~normal(last, 1)
        beta.append(last)
    vector = np.array(beta)
    size = math.sqrt(sum(b * b for b in beta))
    for i in range(len(rows)):
        middle = rows[i] @ vector
        ("y", i) @ ~normal(middle, 1.0 + size)
        ("w", i) @ ~normal(0, 1)
    for i in range(len(rows)):
        ("z", i) @ ~gamma(2, 1.0 + size)
    return size


@gen
def thresholds(rows):
    """What is made of the choices is often what it was before."""
    level = [("level", j) @ ~normal(0, 1) for j in range(3)]
    above = sum(x > 0.0 for x in level)
    for i in range(len(rows)):
        ("y", i) @ ~normal(above, 1)
    return level


@gen
def bounded(rows):
    top = [("top", j) @ ~uniform(0, 5) for j in range(3)]
    least = min(top)
    for i in range(len(rows)):
        ("x", i) @ ~uniform(0, least)


CASES = {
    "coefficients": (regression, ROWS, ("beta",)),
    "coefficients in columns": (regression, MANY, ("beta",)),
    "two plates": (two_plates, ROWS, ("beta",)),
    "thresholds": (thresholds, ROWS, ("level",)),
    "bounds": (bounded, ROWS, ("top",)),
}


def agree(trace, other):
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9, abs=1e-9)
    expected = other.choices.to_flat_dict()
    assert trace.choices.to_flat_dict() == expected
    for path, (_, _, score) in other.records.items():
        assert trace.records[path][2] == pytest.approx(score, rel=1e-9, abs=1e-9)
    assert trace.retval == other.retval


@pytest.fixture
def by_itself(monkeypatch):
    """No loop is updated by its block."""

    def refuse(*_):
        raise AssertionError("the block was asked")

    monkeypatch.setattr(ColumnLoopBlock, "update", refuse)
    monkeypatch.setattr(LoopBlock, "update", refuse)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("by_itself")
def test_edits_one_after_the_other(name):
    model, rows, (head,) = CASES[name]
    trace = model.simulate((rows,), rng=1)
    other, first = trace.whole(), trace
    values, rng = first.choices.to_flat_dict(), np.random.default_rng(3)
    for _ in range(12):
        path = head, int(rng.integers(3))
        given = {path: float(trace[path] + rng.uniform(0.0, 0.01))}
        new, weight, discard = trace.update(given)
        after, expected, gone = other.update(given)
        assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert discard == gone
        assert trace.edit(given, stop_at_zero=True).log_weight == weight
        if name != "coefficients in columns":
            agree(new, after)
        trace, other = new, after
    agree(trace, other)
    assert first.choices.to_flat_dict() == values


@pytest.mark.parametrize("name", CASES)
def test_one_drawn_anew(name):
    model, rows, (head,) = CASES[name]
    trace = model.simulate((rows,), rng=1)
    edit = trace.redraw((head, 1), np.random.default_rng(5))
    expected = trace.whole().redraw((head, 1), np.random.default_rng(5))
    assert type(edit) is LocalRedraw or name == "bounds"
    assert edit.log_weight == pytest.approx(expected.log_weight, rel=1e-9, abs=1e-9)
    agree(edit.trace, expected.trace)


@pytest.mark.parametrize("name", CASES)
def test_the_density_along_one(name):
    model, rows, (head,) = CASES[name]
    trace = model.simulate((rows,), rng=1)
    path = head, 2
    density = trace.local_density(path)
    assert type(density) is LocalDensity
    for value in (trace[path] + 0.01, trace[path], trace[path] + 0.5):
        assert density(value) == pytest.approx(
            trace.whole().edit({path: value}).log_weight, rel=1e-9, abs=1e-9
        )


@pytest.mark.usefixtures("by_itself")
def test_a_plate_is_not_scored_where_what_it_reads_is_what_it_was(monkeypatch):
    trace = thresholds.simulate((ROWS,), rng=1)
    value = trace["level", 0]
    monkeypatch.setattr(local_followers, "rescored", None)
    kept = trace.edit({("level", 0): math.copysign(abs(value) + 1.0, value)})
    assert kept.trace._called.frame[2] is trace._called.frame[2]
    agree(kept.trace, trace.whole().edit({("level", 0): kept.trace["level", 0]}).trace)


def test_several_at_once_are_left_to_the_blocks(monkeypatch):
    """The plate is scored once for all of them."""
    trace = regression.simulate((ROWS,), rng=1)
    scored = []
    monkeypatch.setattr(column_loops, "rescored", lambda *a: scored.append(1) or rescored(*a))
    given = {("beta", j): 0.1 * j for j in range(3)}
    new, weight, _ = trace.update(given)
    after, expected, _ = trace.whole().update(given)
    assert weight == pytest.approx(expected, rel=1e-9)
    assert len(scored) == 1
    agree(new, after)


def test_what_is_impossible_is_met_by_the_blocks():
    trace = bounded.simulate((ROWS,), rng=1)
    with pytest.raises(ZeroProbability):
        trace.edit({("top", 1): 1e-9}, stop_at_zero=True)
    assert trace.update({("top", 1): 1e-9}).log_weight == -math.inf
    back = trace.update({("top", 1): 1e-9}).trace.update({("top", 1): trace["top", 1]}).trace
    assert back.log_prob == pytest.approx(trace.log_prob, rel=1e-9)


@pytest.mark.parametrize(
    "kernel", [mh(select(("beta", 1))), slice_sampling(select(("beta", 1)))], ids=["mh", "slice"]
)
@pytest.mark.parametrize("model", [regression, two_plates], ids=["regression", "two plates"])
def test_kernels_draw_what_they_draw_by_edits(model, kernel):
    trace = model.simulate((ROWS,), rng=1)
    other = model.reference.generate((ROWS,), init=trace.choices, rng=1).trace
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(3):
        trace, info = kernel(trace, one)
        other, expected = kernel(other, two)
        assert trace["beta", 1] == pytest.approx(other["beta", 1], rel=1e-9)
    assert one.random() == two.random()
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)


@gen
def entries_read(rows):
    """Statements that read one entry each: only the first concerns the plate."""
    beta = [("beta", j) @ ~normal(0, 10) for j in range(3)]
    slope = beta[0]
    other = math.exp(beta[1])
    for i in range(len(rows)):
        ("y", i) @ ~normal(slope, 2)
    return other


@gen
def chosen_between(rows):
    beta = [("beta", j) @ ~normal(0, 10) for j in range(3)]
    if sum(beta) > 0.0:
        z = ~normal(0, 1)
    for i in range(len(rows)):
        ("y", i) @ ~normal(beta[0], 2)


@pytest.mark.parametrize("model", [entries_read, chosen_between], ids=["entries", "a branch"])
def test_what_else_depends_on_a_choice_goes_the_usual_way(model):
    trace = model.simulate((ROWS,), rng=1)
    assert trace.local_density(("beta", 1)) is None
    agree(trace.update({("beta", 1): 0.5}).trace, trace.whole().update({("beta", 1): 0.5}).trace)
