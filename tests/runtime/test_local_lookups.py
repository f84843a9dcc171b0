"""Edits of choices that plates look up are those of the reference runtime, and keep the index they go by."""

import math
import os

import numpy as np
import pytest

from gendsl import categorical, gamma, gen, normal, poisson, select, uniform, uniform_discrete
from gendsl.inference import slice_sampling
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.local import LocalRedraw, edited
from gendsl.runtime.loops import LoopBlock

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)

N = 200


@gen
def points(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def scaled(n, k):
    """Two containers of one loop, one choice depending on the other; and a variable between."""
    mu, sd = [], {}
    for j in range(k):
        m = ("mu", j) @ ~normal(0, 10)
        mu.append(m)
        sd[j] = ("sd", j) @ ~gamma(2.0 + abs(m), 1)
    for i, w in enumerate([0.1 * t for t in range(n)]):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        middle = mu[z] * 2.0 + w
        ("x", i) @ ~normal(middle, sd[z])
        ("y", i) @ ~normal(middle, 1)
    return mu


@gen
def walk(n, k):
    """Levels that depend on the one before, and two plates that look them up."""
    level = {}
    before = 0.0
    for j in range(k):
        before = ("level", j) @ ~normal(before, 1)
        level[j] = before
    for i in range(n):
        z = ("z", i) @ ~categorical([1.0 / k] * k)
        ("x", i) @ ~normal(level[z], 1)
    for i in range(n):
        w = ("w", i) @ ~uniform_discrete(0, k - 1)
        ("count", i) @ ~poisson(math.exp(0.1))
        ("y", i) @ ~normal(level[w], 2)


@gen
def bounded(n, k):
    top = [("top", j) @ ~uniform(0, 5) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~uniform(0, top[z])


def trace_of(model, k, n=N, seed=1):
    return model.simulate((n, k), rng=seed)


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


def new_value(rng, head):
    """A value that is possible whatever the others are."""
    if head in ("z", "w"):
        return int(rng.integers(4))
    return float(rng.uniform(6, 9)) if head == "top" else float(rng.uniform(0.5, 3))


CASES = {
    "means in frames": (points, 4, ("mu", "z", "x")),
    "means in columns": (points, 60, ("mu", "z", "x")),
    "means and scales in frames": (scaled, 4, ("mu", "sd", "z", "x", "y")),
    "means and scales in columns": (scaled, 60, ("mu", "sd", "z", "x", "y")),
    "a chain of levels": (walk, 60, ("level", "z", "w", "x", "y")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("by_itself")
def test_edits_one_after_the_other(name):
    model, k, heads = CASES[name]
    trace = trace_of(model, k)
    before = []
    other = trace.whole()
    rng = np.random.default_rng(3)
    for step in range(30):
        values = {}
        before.append((trace, trace.choices.to_flat_dict()))
        for _ in range(1 + step % 3):
            head = heads[rng.integers(len(heads))]
            size = k if head in ("mu", "sd", "level") else N
            values[head, int(rng.integers(size))] = new_value(rng, head)
        trace, weight, discard = trace.update(values)
        other, expected, discarded = other.update(values)
        assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert discard == discarded
        agree(trace, other)
    for old, choices in before[::6]:
        assert old.choices.to_flat_dict() == choices
        edits = {(heads[0], j): 0.7 for j in range(4)}  # what is known of it is as it was, too
        agree(old.update(edits).trace, old.whole().update(edits).trace)


@pytest.mark.parametrize("name", CASES)
def test_one_drawn_anew(name):
    model, k, heads = CASES[name]
    trace = trace_of(model, k)
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    for j in range(6):
        other = trace.whole()
        edit = trace.redraw((heads[0], j % k), one)
        assert type(edit) is LocalRedraw
        expected = other.regenerate(select((heads[0], j % k)), rng=two)
        assert edit.log_weight == pytest.approx(expected.log_weight, rel=1e-9, abs=1e-9)
        trace = edit.trace
        agree(trace, expected.trace)


@pytest.mark.parametrize("name", CASES)
def test_the_density_along_one(name):
    model, k, heads = CASES[name]
    trace = trace_of(model, k)
    local = trace.local_density((heads[0], 2))
    for value in (0.5, -1.5, 30.0):
        expected = trace.whole().edit({(heads[0], 2): value}).log_weight
        assert local(value) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("k", [4, 60])
def test_where_the_density_is_zero_the_blocks_tell(k):
    trace = trace_of(bounded, k)
    members = [i for i in range(N) if trace["z", i] == 2]
    most = max(trace["x", i] for i in members)
    below, above = 0.9 * most, 0.5 * (most + 5.0)
    with pytest.raises(ZeroProbability):
        trace.edit({("top", 2): below}, stop_at_zero=True)
    assert trace.update({("top", 2): below}).log_weight == -math.inf
    edit = trace.edit({("top", 2): above}, stop_at_zero=True)
    agree(edit.trace, trace.whole().update({("top", 2): above}).trace)
    local = trace.local_density(("top", 2))
    assert local(below) in (None, -math.inf)
    assert local(above) == pytest.approx(edit.log_weight, rel=1e-9)
    assert local(7.0) == -math.inf  # outside of its own support


@pytest.mark.parametrize("k", [4, 60])
def test_what_is_drawn_may_be_impossible(k):
    trace = trace_of(bounded, k)
    outcomes = set()
    for seed in range(12):
        one, two = np.random.default_rng(seed), np.random.default_rng(seed)
        path = ("top", seed % k)
        try:
            expected = trace.whole().resample(select(path), two, stop_at_zero=True).log_weight
        except ZeroProbability:
            with pytest.raises(ZeroProbability):
                trace.redraw(path, one, stop_at_zero=True)
            outcomes.add("impossible")
        else:
            edit = trace.redraw(path, one, stop_at_zero=True)
            assert edit.log_weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
            outcomes.add("possible")
        assert one.random() == two.random()
    assert outcomes == {"impossible", "possible"}


def test_an_entry_that_nobody_reads():
    trace = trace_of(points, 60)
    for i in range(N):
        if trace["z", i] == 7:
            trace = trace.update({("z", i): 8}).trace
    after, weight, _ = trace.update({("mu", 7): 0.25})
    before = trace["mu", 7]
    assert weight == pytest.approx((before**2 - 0.25**2) / 200.0, rel=1e-9)
    agree(after, trace.whole().update({("mu", 7): 0.25}).trace)
    later = after.update({("z", 3): 7}).trace  # and is read afterwards
    agree(later, after.whole().update({("z", 3): 7}).trace)


@pytest.mark.parametrize("value", [np.float64(0.75), np.float32(0.75)])
@pytest.mark.usefixtures("by_itself")
def test_a_number_of_numpys(value):
    after = trace_of(points, 60).update({("mu", 7): value}).trace
    assert type(after["mu", 7]) is float
    assert after["mu", 7] == 0.75


def test_means_and_labels_change_in_turns_and_the_index_is_made_once(monkeypatch):
    made = []
    original = ColumnLoopBlock._readers

    def counted(loop, store, slot):
        made.append(slot)
        return original(loop, store, slot)

    monkeypatch.setattr(ColumnLoopBlock, "_readers", counted)
    trace = trace_of(points, 60)
    rng = np.random.default_rng(1)
    for j in range(40):
        trace = trace.update({("mu", j): float(j)}).trace
        trace = trace.update({("z", int(rng.integers(N))): int(rng.integers(60))}).trace
        trace = trace.update({("x", j): 0.5}).trace
    assert len(made) == 1
    agree(trace, trace.whole().update({}).trace)


@gen
def read_at_once(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    total = sum(mu)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z] + total, 1)


@gen
def read_twice(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z] + mu[k - 1 - z], 1)


@gen
def by_two_labels(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        w = ("w", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z] + mu[w], 1)


@gen
def first_is_read_too(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z] + mu[0], 1)


@gen
def beside(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 2)
        ("x", i) @ ~normal(mu[z + 1], 1)


@gen
def derived(n, k):
    scale = []
    for j in range(k):
        s = ("mu", j) @ ~normal(0, 1)
        scale.append(math.exp(s))
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(0, scale[z])


@gen
def overwritten(n, k):
    mu = [0.0] * k
    for j in range(k):
        mu[j // 2] = ("mu", j) @ ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def appended_to_others(n, k):
    mu = [5.0, 6.0]
    for j in range(k):
        mu.append(("mu", j) @ ~normal(0, 1))
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k + 1)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def in_an_array(n, k):
    mu = np.zeros(k, np.float32)
    for j in range(k):
        mu[j] = ("mu", j) @ ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def counted_down(n, k):
    mu = [0.0] * k
    for j in range(k - 1, -1, -1):
        mu[j] = ("mu", j) @ ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def shifted(n, k):
    mu = {}
    for j in range(3, k + 3):
        mu[j] = ("mu", j - 3) @ ~normal(0, 1)
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(3, k + 2)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def looked_up_twice(n, k):
    mu = [("mu", j) @ ~uniform(0.1, 0.9) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("v", i) @ ~normal(z, 1)
        ("x", i) @ ~normal(mu[z], mu[z])


@gen
def from_the_end(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(-k, k - 1)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def few(n, k):
    """The points are in frames."""
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i in range(n // 10):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1)


OTHERS = (
    read_at_once, read_twice, by_two_labels, first_is_read_too, beside, derived, overwritten,
    appended_to_others, in_an_array, counted_down, shifted, looked_up_twice, from_the_end, few,
)  # fmt: skip


@pytest.mark.parametrize("k", [4, 60])
@pytest.mark.parametrize("model", OTHERS, ids=lambda model: model.name)
def test_other_ways_to_look_up(model, k):
    trace = trace_of(model, k)
    other = trace.whole()
    rng = np.random.default_rng(3)
    latent = range(3, 7) if model is shifted else range(4)
    for step in range(12):
        path = ("mu", int(rng.integers(4))) if step % 3 else ("z", int(rng.integers(N // 10)))
        label = int(latent[rng.integers(2)])
        values = {path: label if path[0] == "z" else float(rng.uniform(0.2, 0.8))}
        trace, weight, _ = trace.update(values)
        other, expected, _ = other.update(values)
        assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        agree(trace, other)


USUAL = read_at_once, read_twice, by_two_labels, first_is_read_too, beside, derived, in_an_array, few


@pytest.mark.parametrize("model", [*USUAL, appended_to_others, looked_up_twice], ids=lambda model: model.name)
def test_what_else_is_read_goes_the_usual_way(model):
    found = edited(trace_of(model, 60), {("mu", 3): 0.5}.items())
    assert (found is None) == (model in USUAL)


def test_slice_sampling_draws_what_it_draws_by_edits():
    trace = trace_of(points, 5)
    other = trace.whole()
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    kernel = slice_sampling("mu")
    for _ in range(2):
        trace, info = kernel(trace, one)
        other, expected = kernel(other, two)
        assert info == expected
        for j in range(5):
            assert trace["mu", j] == pytest.approx(other["mu", j], rel=1e-9)
    assert one.random() == two.random()


def test_after_many_edits_the_density_is_that_of_the_choices():
    trace = trace_of(points, 60)
    rng = np.random.default_rng(2)
    for _ in range(1500):
        j = int(rng.integers(60))
        trace = trace.update({("mu", j): float(10.0 ** rng.uniform(-3, 4))}).trace
        trace = trace.update({("mu", j): float(rng.normal())}).trace
    fresh = points.assess((N, 60), trace.choices).log_prob
    assert trace.log_prob == pytest.approx(fresh, rel=1e-9)


@gen
def in_another_order(n, k):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(k)]
    for i, m in enumerate(reversed(mu)):
        ("x", i) @ ~normal(m, 1)
    for i, (a, b) in enumerate(zip(mu[1:], mu)):  # noqa: B905
        ("z", i) @ ~normal(a - b, 1)


def test_a_plate_may_go_through_what_is_made_of_the_choices():
    trace = in_another_order.simulate((0, 60), rng=1)
    assert "mu" not in in_another_order.linked.alone
    new, weight, _ = trace.update({("mu", 3): 0.5})
    other, expected, _ = trace.whole().update({("mu", 3): 0.5})
    assert weight == pytest.approx(expected, rel=1e-9)
    agree(new, other)
