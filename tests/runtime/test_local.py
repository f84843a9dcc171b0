"""Edits of choices of a plate by themselves, and the density along one, are what the blocks make of them."""

import math
import os

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    categorical,
    dirichlet,
    gamma,
    gen,
    mvnormal,
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.errors import NaNError, ObservedError
from gendsl.inference import gibbs, slice_sampling
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.local import LocalDensity
from gendsl.runtime.local_sites import NotLocalError
from gendsl.runtime.loops import LoopBlock
from gendsl.runtime.views import RecordsView

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)

N = 60  # enough for columns


@gen
def mixture(n):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(4)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def assigned(n):
    """Labels in a list that is returned, and variables between the choices."""
    weights = ~dirichlet([1.0] * 4)
    mu = {j: ("mu", j) @ ~normal(0, 10) for j in range(4)}
    z = [0] * n
    for i in range(n):
        scale = 1.0 + i % 3
        z[i] = ~categorical(weights)
        middle = mu[z[i]] * 2.0
        far = middle + scale
        ("x", i) @ ~normal(middle, scale)
        ("y", i) @ ~normal(far, 1)
        ("other", i) @ ~gamma(2, scale)
    return z


@gen
def plate(n):
    noise = ~gamma(2, 1)
    for i in range(n):
        p = ("p", i) @ ~beta(2, 2)
        flag = ("flag", i) @ ~bernoulli(p)
        level = ("level", i) @ ~normal(p + flag, noise)
        ("count", i) @ ~poisson(math.exp(level))


@gen
def first_in_support(n):
    """The density is zero beyond what a later choice allows."""
    for i in range(n):
        top = ("top", i) @ ~uniform(0, 5)
        ("x", i) @ ~uniform(0, top)


@gen
def scaled(n):
    for i in range(n):
        ("x", i) @ ~normal(1 / 3, 0.7)


@gen
def hidden(n):
    """A chain of states that looks up two means, and counts."""
    mu = [("mu", j) @ ~normal(0, 10) for j in range(2)]
    z = 0
    for t in range(n):
        z = ("z", t) @ ~categorical([0.7, 0.3] if z == 0 else [0.2, 0.8])
        middle = mu[z] / 2
        ("x", t) @ ~normal(middle, 1)
        ("count", t) @ ~poisson(2.0 + z)


@gen
def walk(n):
    x = 0.0
    for i in range(n):
        x = ("z", i) @ ~normal(x, 1)
        ("y", i) @ ~normal(x, 1)


@gen
def wide(n):
    x = 0.0
    for i in range(n):
        x = ("z", i) @ ~normal(x, 1e9)
        ("y", i) @ ~normal(x, 1)


@gen
def nested(n):
    for j in range(2):
        for i in range(n):
            ("z", i, j) @ ~normal(0, 1)


@gen
def listed(xs):
    """A plate that takes no columns."""
    kept = []
    for i, x in enumerate(xs):
        b = ("b", i) @ ~bernoulli(0.5)
        kept.append(("x", i) @ ~normal(x[0] if b else x[1], 1))
    return kept


CASES = {
    "a state": (hidden, ("z", 7), [0, 1, 2, -1]),
    "the first state": (hidden, ("z", 0), [0, 1]),
    "the last state": (hidden, ("z", N - 1), [0, 1]),
    "an observation of a state": (hidden, ("x", 7), [0.5, 30.0, math.inf]),
    "the first of a walk": (walk, ("z", 0), [0.5, -3.0]),
    "one of a walk": (walk, ("z", 30), [0.5, -3.0]),
    "the last of a walk": (walk, ("z", N - 1), [0.5, -3.0]),
    "in a plate of frames": (listed, ("b", 3), [True, False]),
    "a label": (mixture, ("z", 7), [0, 1, 2, 3, 4, -1]),
    "a mean that labels look up": (mixture, ("mu", 1), [0.5, -30.0, math.inf]),
    "a label in a list": (assigned, ("z", 7), [0, 1, 2, 3]),
    "an observation of it": (assigned, ("x", 0), [0.5, -3.0, math.inf]),
    "the last in an iteration": (assigned, ("other", 59), [0.5, 3.0, -1.0, 0.0]),
    "the first in an iteration": (plate, ("p", 3), [0.5, 0.01, 1.5, 0.0]),
    "a boolean": (plate, ("flag", 3), [True, False]),
    "one in the middle": (plate, ("level", 3), [0.5, -3.0]),
    "a count": (plate, ("count", 3), [0, 3, -1]),
    "in a loop in a loop": (nested, ("z", 3, 1), [0.5, -3.0]),
    "a bound of another choice": (first_in_support, ("top", 3), [4.9, 1e-9, 7.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_log_weight_of_an_edit(name):
    model, path, values = CASES[name]
    trace = model.simulate(arguments(model), rng=1)
    local = trace.local_density(path)
    assert isinstance(local, LocalDensity)
    for value in [trace[path], *values]:
        try:
            weight = trace.edit({path: value}, stop_at_zero=True).log_weight
        except ZeroProbability:
            weight = -math.inf
        assert local(value) == pytest.approx(weight, rel=1e-9, abs=1e-9), value
    assert local.at_all(values) == [local(value) for value in values]
    after = trace.edit({path: values[0]}, stop_at_zero=True).trace
    assert after[path] == values[0]
    assert after.log_prob - trace.log_prob == pytest.approx(local(values[0]), abs=1e-8)


def test_after_edits_it_is_that_of_the_new_trace():
    trace = assigned.simulate((N,), rng=1)
    before = trace.local_density(("z", 7))
    kept = before(2)
    changed = trace.update({("mu", 2): 30.0, ("z", 7): 1, "weights": [0.1, 0.2, 0.3, 0.4]}).trace
    after = changed.local_density(("z", 7))
    assert after(2) == pytest.approx(changed.edit({("z", 7): 2}).log_weight, abs=1e-9)
    assert after(2) != pytest.approx(kept)
    assert before(2) == kept


@pytest.mark.parametrize("value", ["a", 1, None, np.float64(0.5)])
def test_of_a_value_of_another_type_an_edit_must_tell(value):
    local = plate.simulate((N,), rng=1).local_density(("p", 3))
    assert local(value) is None
    assert local.at_all([0.5, value]) is None


def test_of_a_value_that_the_program_fails_on_an_edit_must_tell():
    local = assigned.simulate((N,), rng=1).local_density(("z", 7))
    assert local(4) == -math.inf  # outside of its own support, so nothing else is asked
    trace = plate.simulate((N,), rng=1)
    local = trace.local_density(("level", 3))
    assert local(1000.0) is None
    with pytest.raises(OverflowError):
        trace.edit({("level", 3): 1000.0})


@gen
def read_afterwards(n):
    z = [0] * n
    for i in range(n):
        z[i] = ~bernoulli(0.3)
    total = sum(z)
    y = ~normal(total, 1)


@gen
def last_is_read(n):
    for i in range(n):
        z = ("z", i) @ ~normal(0, 1)
    y = ~normal(z, 1)


@gen
def summed(n):
    z = [0] * n
    for i in range(n):
        z[i] = ~bernoulli(0.3)
    return sum(z)


@gen
def in_a_dict(n):
    names = [f"{i}" for i in range(n)]
    z = {}
    for name in names:
        z[name] = ~bernoulli(0.3)
    return z


@gen
def ends(n):
    x = 0.0
    for i in range(n):
        x = ("z", i) @ ~normal(x, 1)
    y = ~normal(x, 1)


@gen
def summed_up(n):
    total = 0.0
    for i in range(n):
        total = total + (("z", i) @ ~normal(0, 1))
        ("y", i) @ ~normal(total, 1)


@gen
def looked_back(n):
    x = [0.0] * n
    for i in range(n):
        x[i] = ("z", i) @ ~normal(x[i - 1] if i else 0.0, 1)


@gen
def plates_in_plates(n):
    for i in range(n):
        z = ("z", i) @ ~normal(0, 1)
        for j in range(3):
            ("x", i, j) @ ~normal(z, 1)


@gen
def inner(x):
    y = ~normal(x, 1)


@gen
def calling(n):
    for i in range(n):
        z = ("z", i) @ ~normal(0, 1)
        ("inner", i) @ ~inner(z)


@gen
def addressed(n):
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.5)
        ("x", i, z) @ ~normal(0, 1)


@gen
def left(n):
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.5)
        if z:
            break


@gen
def vectors(n):
    for i in range(n):
        z = ("z", i) @ ~mvnormal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])


@gen
def one_name_twice(n):
    for i, j in zip(range(n), range(n, 2 * n)):  # noqa: B905 (with `strict` it is no plate)
        ("z", i, 0) @ ~normal(0, 1)
        ("z", j, 1) @ ~normal(0, 1)


@gen
def shared(n):
    z = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(z, 1)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (read_afterwards, ("z", 3)), (summed, ("z", 3)), (in_a_dict, ("z", "3")),
        (last_is_read, ("z", 3)), (ends, ("z", 3)), (summed_up, ("z", 3)), (looked_back, ("z", 3)),
        (calling, ("z", 3)),
        (plates_in_plates, ("z", 3)), (addressed, ("z", 3)), (left, ("z", 0)), (vectors, ("z", 3)),
        (one_name_twice, ("z", 3, 0)), (shared, ("z",)),
        (mixture, ("z",)), (mixture, ("z", 99)), (mixture, ("none", 1)),
    ],
)  # fmt: skip
def test_there_is_none_where_others_depend_on_the_choice(model, path):
    assert model.simulate((N,), rng=1).local_density(path) is None


@pytest.mark.parametrize("form", ["column_form", "frame_form"])
def test_that_there_is_no_short_way_is_found_out_once(form, monkeypatch):
    model, path = (mixture if form == "column_form" else walk), ("z", 3)
    trace = model.simulate((N if form == "column_form" else 40,), rng=1)
    linked = trace._called.linked
    known = set(linked.alone)
    monkeypatch.setattr(linked, "alone", linked.alone)
    monkeypatch.setattr(linked.alone["z"], "forms", {})
    tried = []

    def refused(site, *plates):
        tried.append(site)
        raise NotLocalError

    monkeypatch.setattr(f"gendsl.runtime.local.{form}", refused)
    for _ in range(3):
        assert trace.local_density(path) is None
    assert len(tried) == 1
    assert "z" not in linked.alone
    assert linked.alone.keys() == known - {"z"}  # the others are still looked at by themselves


def arguments(model):
    return ([(0.1 * i, 3.0) for i in range(N)],) if model is listed else (N,)


def test_the_reference_runtime_has_none():
    assert mixture.reference.simulate((N,), rng=1).local_density(("z", 3)) is None


@pytest.mark.parametrize(
    ("model", "kernel"),
    [
        (mixture, gibbs("z")),
        (assigned, gibbs(select(("z", 7), ("z", 8)))),
        (plate, gibbs("flag")),
        (plate, slice_sampling(select("p", "level"))),
        (plate, slice_sampling("count", scan="random")),
        (first_in_support, slice_sampling("top")),
        (hidden, gibbs("z")),
        (walk, slice_sampling("z")),
    ],
    ids=["labels", "labels in a list", "booleans", "numbers", "counts", "bounds", "states", "a walk"],
)
def test_kernels_draw_what_they_draw_by_edits(model, kernel):
    trace = model.simulate((N,), rng=1)
    other = model.reference.generate((N,), init=trace.choices, rng=1).trace
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(3):
        trace, info = kernel(trace, one)
        other, expected = kernel(other, two)
        assert info == expected
        for path, value in other.choices.to_flat_dict().items():
            assert trace[path] == pytest.approx(value, rel=1e-9)
    assert one.random() == two.random()


# --- edits -----------------------------------------------------------------------------------------


def agree(trace, other):
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)
    choices, expected = trace.choices.to_flat_dict(), other.choices.to_flat_dict()
    assert choices.keys() == expected.keys()
    assert all(np.allclose(value, expected[path], rtol=1e-9) for path, value in choices.items())
    assert trace.retval == other.retval


@pytest.fixture
def by_itself(monkeypatch):
    """No loop is updated by its block."""

    def refuse(*_):
        raise AssertionError("the block was asked")

    monkeypatch.setattr(ColumnLoopBlock, "update", refuse)
    monkeypatch.setattr(LoopBlock, "update", refuse)


EDITS = {
    "a state": (hidden, {("z", 7): 1}),
    "states": (hidden, {("z", 7): 1, ("z", 8): 1, ("x", 8): 0.5, ("z", 20): 0, ("z", 6): 1}),
    "the last state": (hidden, {("z", N - 1): 1}),
    "a walk": (walk, {("z", 30): 0.5, ("y", 31): 1.0, ("z", 0): 0.1, ("z", N - 1): 2.0}),
    "in a plate of frames": (listed, {("b", 3): True, ("x", 4): 0.5, ("x", 3): 0.5}),
    "a label": (mixture, {("z", 7): 2}),
    "a label in a list": (assigned, {("z", 7): 2}),
    "labels": (assigned, {("z", 7): 2, ("z", 8): 3, ("x", 7): 0.5}),
    "two in an iteration": (plate, {("level", 3): 0.5, ("flag", 3): True}),
    "the same value": (plate, {("flag", 3): None}),
    "several numbers": (scaled, {("x", 3): 0.5, ("x", N - 1): -3.0, ("x", 0): None}),
    "several that others depend on": (plate, {("level", 3): 0.5, ("level", 59): -1.0, ("level", 4): None}),
    "several booleans": (plate, {("flag", i): i % 2 == 0 for i in range(8)}),
    "several bounds": (first_in_support, {("top", 5): 4.99, ("top", 6): 4.98}),
    "several labels in a list": (assigned, {("z", 7): 2, ("z", 8): 3}),
    "a count": (plate, {("count", 59): 4}),
    "a bound": (first_in_support, {("x", 5): 0.01, ("top", 5): 0.5}),
}


@pytest.mark.parametrize("name", EDITS)
def test_edits_are_those_of_the_reference_runtime(name, by_itself):
    model, values = EDITS[name]
    trace = model.simulate(arguments(model), rng=1)
    values = {path: trace[path] if value is None else value for path, value in values.items()}
    other = trace.whole()
    before = [(path, r[1]) for path, r in trace.records.items() if type(r[1]) is not np.ndarray]
    new, weight, discard = trace.update(values)
    expected, expected_weight, expected_discard = other.update(values)
    agree(new, expected)
    assert weight == pytest.approx(expected_weight, rel=1e-9, abs=1e-9)
    assert discard == expected_discard
    edit = trace.edit(values, stop_at_zero=True)
    agree(edit.trace, expected)
    assert (edit.log_weight, edit.removed, edit.remeasured) == (weight, {}, {})
    for path, value in values.items():
        assert edit.trace.records[path][:2] == (expected.records[path][0], value)
        assert edit.trace.records[path][2] == pytest.approx(expected.records[path][2], rel=1e-9)
    assert all(trace[path] == value for path, value in before)
    agree(trace, other)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (mixture, ("z", 7)), (assigned, ("z", 7)), (assigned, ("other", 1)), (plate, ("p", 3)),
        (plate, ("level", 3)), (hidden, ("z", 7)), (walk, ("z", 7)), (walk, ("y", 7)),
    ],
    ids=str,
)  # fmt: skip
def test_a_choice_is_drawn_as_the_blocks_draw_it(model, path):
    trace = model.simulate((N,), rng=1)
    new, weight = trace.regenerate(select(path), rng=5)
    edit = trace.resample(select(path), np.random.default_rng(5))
    alone, trace._called.linked.alone = trace._called.linked.alone, {}
    try:
        expected, expected_weight = trace.regenerate(select(path), rng=5)
    finally:
        trace._called.linked.alone = alone
    assert alone
    assert new[path] == expected[path] == edit.trace[path]
    assert weight == pytest.approx(expected_weight, abs=1e-12)
    assert edit.log_weight == weight
    agree(new, expected)
    agree(new, new.whole().update({}).trace)


def test_what_reads_an_entry_is_found_after_edits(monkeypatch):
    """Which labels look up a mean is known after one mean was changed, and followed from then on."""
    for model, labels in ((mixture, 4), (assigned, 4), (hidden, 2)):
        trace = model.simulate((N,), rng=1)
        other = trace.whole()
        rng = np.random.default_rng(2)
        for step in range(60):
            if step % 3:
                values = {("z", int(rng.integers(N))): int(rng.integers(labels))}
            else:
                values = {("mu", int(rng.integers(labels))): float(rng.normal())}
            trace, weight, _ = trace.update(values)
            other, expected, _ = other.update(values)
            assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        agree(trace, other)


def test_a_draw_that_another_choice_does_not_allow():
    trace = first_in_support.simulate((N,), rng=1).update({("top", 3): 4.9, ("x", 3): 4.8}).trace
    new, weight = trace.regenerate(select(("top", 3)), rng=1)
    assert new["top", 3] < 4.8
    assert weight == new.log_prob == -math.inf
    with pytest.raises(ZeroProbability):
        trace.resample(select(("top", 3)), np.random.default_rng(1), stop_at_zero=True)
    assert new.update({("top", 3): 4.85}).trace.log_prob == pytest.approx(
        trace.update({("top", 3): 4.85}).trace.log_prob
    )


def test_observations_are_not_drawn():
    trace = mixture.generate((N,), {("x", 3): 1.0}, rng=1).trace
    for step in (trace.regenerate, trace.resample):
        with pytest.raises(ObservedError):
            step(select(("x", 3)), rng=np.random.default_rng(1))


def test_a_selection_that_names_a_choice_without_selecting_it():
    trace = mixture.simulate((N,), rng=1)
    new, weight = trace.regenerate(select(("z", 3)) & select("mu"), rng=1)
    assert new["z", 3] == trace["z", 3]
    assert weight == 0.0


def test_what_a_plate_leaves_behind_is_brought_up_to_date():
    for model in (assigned, summed, in_a_dict, last_is_read):
        trace = model.simulate((N,), rng=1)
        for t, value in ((3, 1), (N - 1, 1), (N - 1, 0), (3, 0)):
            path = "z", f"{t}" if model is in_a_dict else t
            trace = trace.update({path: value}).trace
            agree(trace, model.reference.generate((N,), init=trace.choices).trace)


def test_large_densities_leave_nothing_behind():
    """One that is found again isn't what it was in the sum to the last digit, and that is of their size."""
    values = scaled.simulate((N,), rng=1).choices.to_flat_dict()
    expected, _ = scaled.reference.assess((N,), values)
    for x in np.random.default_rng(1).uniform(1e9, 1e10, 40).tolist():
        trace = scaled.generate((N,), init={**values, ("x", 3): x}).trace
        assert trace.log_prob < -1e17
        back = trace.update({("x", 3): values["x", 3]}).trace
        assert back.log_prob == pytest.approx(expected, rel=1e-12)


def test_choices_that_move_far_together_leave_nothing_behind():
    """Between the two edits the density is a number that has no digits left for the others."""
    for by in (1e4, 1e8, 1e9):
        trace = wide.simulate((N,), rng=1)
        values = {("z", 3): trace["z", 3] + by, ("y", 3): trace["y", 3] + by}
        expected = trace.whole().update(values).log_weight
        assert trace.update(values).log_weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert trace.edit(values).log_weight == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_draw_beside_a_large_density():
    values = {**assigned.simulate((N,), rng=1).choices.to_flat_dict(), ("x", 3): 1e5}
    trace = assigned.generate((N,), init=values).trace
    new, weight = trace.regenerate(select(("z", 3)), rng=3)
    assert new["z", 3] != trace["z", 3]
    rest = sum(new.records[name, 3][2] - trace.records[name, 3][2] for name in ("x", "y"))
    own = new.records["z", 3][2] - trace.records["z", 3][2]
    assert weight == pytest.approx(rest, abs=1e-4)
    assert abs(own) > 1e-3


def test_a_trace_of_probability_zero():
    trace = first_in_support.simulate((N,), rng=1).update({("x", 3): 6.0}).trace
    assert trace.log_prob == -math.inf
    for operation in (trace.whole().update, trace.update, trace.edit):
        with pytest.raises(NaNError):
            operation({("top", 4): 4.99})
    assert trace.update({("x", 3): 1e-3}).trace.log_prob > -math.inf


# --- looking ---------------------------------------------------------------------------------------


@gen
def by_threes(n):
    """Addresses that don't count the iterations, in one loop from two on."""
    for i in range(0, 3 * n, 3):
        ("x", i) @ ~normal(0, 1)
    for i, _ in enumerate([0] * n, 2):
        ("z", i) @ ~normal(0, 1)


@pytest.mark.parametrize(
    "model", [mixture, assigned, plate, vectors, one_name_twice, read_afterwards, by_threes], ids=str
)
def test_what_is_known_of_a_choice_without_its_record(model):
    trace = model.simulate((N,), rng=1)
    view = RecordsView(trace._called, {})
    found = 0
    for path, record in trace.records.items():
        known = view.known(path)
        if known is None:
            assert path[0] in ("mu", "weights", "noise", "y") or model is vectors
            continue
        found += 1
        measure, value = known
        assert value == record[1]
        assert type(value) is type(record[1])
        support = record[0].support
        assert (measure.discrete, measure.dim) == (support.discrete, support.dim)
        assert measure.shape == support.shape
    assert found >= (0 if model is vectors else N)
    nowhere = ("z",), ("z", 99), ("z", -1), ("none", 3), (), ("z", [3]), ([3], 3), ("z", 3, "b"), ("z", ...)
    assert [view.known(path) for path in nowhere] == [None] * len(nowhere)
