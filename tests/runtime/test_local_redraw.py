"""Choices drawn anew by themselves: found by their address, weighed, and made only where accepted."""

import math
import os

import numpy as np
import pytest

from gendsl import Distribution, categorical, choicemap, gamma, gen, normal, poisson, select, uniform
from gendsl.errors import NaNError, ObservedError, RuntimeMismatchError, UnknownAddressError
from gendsl.inference import mh, single_site
from gendsl.runtime import verify
from gendsl.runtime.columns import Column
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.local import LocalRedraw
from gendsl.supports import Real

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)

N = 60  # enough for columns
ROWS = np.array([[1.0, 0.5], [0.5, 2.0]])


@gen
def plate(n):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(x, 0.5)


@gen
def walk(n):
    x = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(x, 1)
        ("y", i) @ ~normal(x, 0.5)


@gen
def between(n):
    """Assignments and checks between the choices, in a plate and in a chain."""
    scale = ~gamma(3, 1)
    for i in range(n):
        x = ("x", i) @ ~gamma(2, scale)
        root = math.sqrt(x)
        assert root < 100.0
        double = 2.0 * root
        ("y", i) @ ~poisson(double + 1.0)
        ("w", i) @ ~normal(root, scale)
    z = 0.0
    for t in range(n):
        middle = 0.5 * z
        z = ("z", t) @ ~normal(middle, 1)
        high = z + 1.0
        ("v", t) @ ~normal(high, 1)


@gen
def two_plates(n):
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(x, 0.5)
    for j in range(n):
        z = ("z", j) @ ~normal(3, 2)
        ("v", j) @ ~normal(z, 1.5)


@gen
def labelled(n):
    """What looks up an entry is known, and followed."""
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.2, 0.3, 0.5])
        ("x", i) @ ~normal(mu[z], 1)
    return mu


@gen
def allowed(n):
    """Another choice does not allow some of what is drawn."""
    for i in range(n):
        top = ("top", i) @ ~uniform(0, 5)
        ("x", i) @ ~uniform(0, top)


class shifted(Distribution):
    """A family that only the blocks know how to score."""

    parameters = ("mean",)

    def __init__(self, mean):
        self.mean = mean

    def sample(self, rng):
        return self.mean + rng.standard_normal()

    def logpdf(self, x):
        return -0.5 * (x - self.mean) ** 2 - 0.5 * math.log(2.0 * math.pi)

    @property
    def support(self):
        return Real()


@gen
def followed_by_ones_own(n):
    x = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(x, 1)
        ("y", i) @ ~shifted(x)


@gen
def also_followed_by_ones_own(n):
    for i in range(n):
        x = ("x", i) @ ~normal(3, 1)
        ("y", i) @ ~shifted(x)


PROGRAMS = {
    "a plate": (plate, "x"), "a walk": (walk, "x"), "sizes": (between, "x"), "counts": (between, "y"),
    "states": (between, "z"), "labels": (labelled, "z"), "a bound": (allowed, "top"),
    "one's own family": (followed_by_ones_own, "x"),
}  # fmt: skip


def same(trace, other):
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)
    choices, expected = trace.choices.to_flat_dict(), other.choices.to_flat_dict()
    assert choices.keys() == expected.keys()
    assert all(choices[path] == pytest.approx(value, rel=1e-9) for path, value in expected.items())
    for path, record in trace._recent.items():
        if path in expected:  # no whole column, which a run keeps there
            assert record[1] == choices[path]
            assert record[2] == pytest.approx(other.records[path][2], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("size", [7, N])  # frames, and columns where these are kept
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_chain_is_that_of_the_reference_runtime(name, size):
    model, head = PROGRAMS[name]
    kernel = single_site(head)
    trace = model.simulate((size,), rng=1)
    other = model.reference.generate((size,), init=trace.choices, rng=1).trace
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    taken = 0
    for step in range(60):
        if name == "labels" and step % 20 == 10:  # from here on the readers of the means are known
            values = {("mu", 1): 0.1 * step}
            trace, other = trace.update(values).trace, other.update(values).trace
        start, kept = trace, trace.choices.to_flat_dict()
        trace, info = kernel(trace, one)
        other, expected = kernel(other, two)
        assert info.accepted == expected.accepted
        assert info.log_accept_ratio == pytest.approx(expected.log_accept_ratio, rel=1e-9, abs=1e-9)
        assert info.reason == expected.reason
        assert start.choices.to_flat_dict() == kept
        same(trace, other)
        taken += info.accepted
    assert taken > 5
    assert one.random() == two.random()


@pytest.mark.parametrize("kernel", [single_site("x"), mh(("x", 3))], ids=["single_site", "mh"])
@pytest.mark.parametrize("model", [plate, walk], ids=["plate", "walk"])
def test_what_is_rejected_is_not_made(model, kernel, monkeypatch):
    made = []
    with_frame = CompiledTrace.with_frame

    def counted(self, *arguments):
        made.append(self)
        return with_frame(self, *arguments)

    trace = model.simulate((N,), rng=1)
    for _ in range(20):  # unasked comparisons are over for a while
        trace, _ = kernel(trace, 1)
    monkeypatch.setattr(trace._called.linked.watch, "due", 10**9)
    monkeypatch.setattr(CompiledTrace, "with_frame", counted)
    rng = np.random.default_rng(2)
    accepted = 0
    for _ in range(50):
        trace, info = kernel(trace, rng)
        accepted += info.accepted
        assert len(made) == accepted
    assert 0 < accepted < 50


@pytest.mark.parametrize("model", [plate, walk], ids=["plate", "walk"])
def test_a_proposal_is_made_once(model):
    trace = model.simulate((N,), rng=1)
    structure = trace.structure
    edit = trace.redraw(("x", 3), np.random.default_rng(2))
    assert type(edit) is LocalRedraw
    assert edit.trace is edit.trace
    assert edit.removed == edit.remeasured == {}
    assert edit.trace.structure is structure
    assert edit.trace["x", 3] != trace["x", 3]
    assert edit.log_weight == trace.regenerate(select(("x", 3)), rng=2).log_weight


@pytest.mark.parametrize("model", [plate, walk], ids=["plate", "walk"])
def test_proposals_are_compared_whether_accepted_or_not(model, monkeypatch):
    monkeypatch.setattr(verify, "SHARE", math.inf)  # whatever other tests have spent
    trace = model.simulate((N,), rng=1)
    watch = trace._called.linked.watch
    monkeypatch.setattr(watch, "edits", 0)
    monkeypatch.setattr(watch, "due", 3)
    rng = np.random.default_rng(1)
    for _ in range(2):
        trace.redraw(("x", 3), rng)
    assert (watch.edits, watch.due) == (2, 3)
    monkeypatch.setattr(type(trace), "log_prob", property(lambda self: 1.0, lambda *_: None), raising=False)
    with pytest.raises(RuntimeMismatchError):
        trace.redraw(("x", 3), rng)


def test_an_accepted_proposal_is_counted_once():
    trace = walk.simulate((N,), rng=1)
    watch = trace._called.linked.watch
    for operation in (
        lambda: trace.redraw(("x", 3), np.random.default_rng(1)).trace,
        lambda: trace.regenerate(select(("x", 3)), rng=1),
        lambda: trace.update({("x", 3): 0.5}),
        lambda: trace.edit({("x", 3): 0.5}),
    ):
        before = watch.edits
        operation()
        assert watch.edits == before + 1


def test_what_can_not_be_put_into_a_column_is_made_by_the_blocks(monkeypatch):
    trace = plate.simulate((N,), rng=1)
    edit = trace.redraw(("x", 3), np.random.default_rng(2))
    expected = trace.regenerate(select(("x", 3)), rng=2)

    def refused(*_):
        raise TypeError

    monkeypatch.setattr(Column, "set", refused)
    after = edit.trace
    monkeypatch.undo()
    same(after, expected.trace)
    assert edit.log_weight == expected.log_weight


def test_a_density_that_is_too_large_beside_the_others_is_made_by_the_blocks():
    choices = walk.simulate((N,), rng=1).choices
    trace = walk.generate((N,), init={**choices, ("y", 30): 1e10}).trace
    assert trace.log_prob < -1e19
    edit = trace.redraw(("x", 30), np.random.default_rng(2))
    assert edit.log_weight == pytest.approx(trace.whole().regenerate(select(("x", 30)), rng=2).log_weight)
    back = edit.trace.update({("y", 30): 0.0}).trace
    assert back.log_prob == pytest.approx(back.whole().update({}).trace.log_prob, rel=1e-12)


def test_a_dependent_of_ones_own_family_is_found_out_before_anything_is_drawn():
    trace = also_followed_by_ones_own.simulate((N,), rng=1)
    assert "x" in trace._called.linked.alone
    edit = trace.redraw(("x", 3), np.random.default_rng(2))
    assert type(edit) is not LocalRedraw
    assert "x" not in trace._called.linked.alone
    assert edit.trace["x", 3] == 3.0 + np.random.default_rng(2).standard_normal()


def test_it_is_a_tuple_as_other_edits_are():
    trace = plate.simulate((N,), rng=1)
    trace, weight, removed, remeasured = edit = trace.resample(select(("x", 3)), np.random.default_rng(2))
    assert type(edit) is LocalRedraw
    assert (trace, weight) == (edit.trace, edit.log_weight)
    assert removed == remeasured == {}


def shift_where_large(values):
    if values[0] > 1.0:
        values += 1.0
    return values.sum()


def looked_at(chained):
    """A program with a function of which only some values show that it changes what it is given."""

    @gen
    def plate_with_arrays(function, n):
        for i in range(n):
            x = ("x", i) @ ~normal(0, 1)
            values = ROWS @ np.array([x, 1.0])
            ("y", i) @ ~normal(function(values), 1)
            ("w", i) @ ~normal(values.sum(), 1)

    @gen
    def chain_with_arrays(function, n):
        x = 0.0
        for i in range(n):
            x = ("x", i) @ ~normal(x, 1)
            values = ROWS @ np.array([x, 1.0])
            ("y", i) @ ~normal(function(values), 1)
            ("w", i) @ ~normal(values.sum(), 1)

    return chain_with_arrays if chained else plate_with_arrays


@pytest.mark.parametrize("chained", [False, True])
def test_what_is_found_to_change_its_values_is_executed_whole(chained):
    found = 0
    for seed in range(8):
        model = looked_at(chained)
        trace = model.generate((shift_where_large, N), init={"x": [0.0] * N}, rng=1).trace
        other = model.reference.generate((shift_where_large, N), init=trace.choices).trace
        one, two = np.random.default_rng(seed), np.random.default_rng(seed)
        kernel = single_site("x")
        for _ in range(5):
            before = model.linked is not None
            trace, info = kernel(trace, one)
            other, expected = kernel(other, two)
            found += before and model.linked is None
            assert info.log_accept_ratio == pytest.approx(expected.log_accept_ratio, rel=1e-9)
            assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9)
        assert one.random() == two.random()
    assert found > 3


def test_observations_are_not_drawn():
    trace = plate.generate((N,), {"y": [0.5] * N}, rng=1).trace
    with pytest.raises(ObservedError):
        trace.redraw(("y", 3), np.random.default_rng(1))


def test_of_several_observations_that_are_selected_the_first_is_named():
    for program in (plate, plate.reference):
        trace = program.generate((N,), {"y": [0.5] * N}, rng=1).trace
        with pytest.raises(ObservedError) as caught:
            trace.regenerate(select(("y", 5), ("x", 2), ("y", 3)))
        assert caught.value.address == ("y", 3)
        with pytest.raises(UnknownAddressError):
            trace.regenerate(select(("y", 5), ("nowhere", 1)))


# --- addresses ---------------------------------------------------------------------------------------


@gen
def from_three(n):
    for i in range(3, 3 + n):
        ("x", i) @ ~normal(0, 1)


@gen
def by_twos(n):
    for i in range(1, 2 * n, 2):
        ("x", i) @ ~normal(0, 1)


@gen
def numbered(n):
    for i, scale in enumerate([1.0] * n, 5):
        ("x", i) @ ~normal(0, scale)


@gen
def long_addresses(n):
    for i in range(n):
        ("x", i, "value") @ ~normal(0, 1)
        ("y", 2, i) @ ~normal(0, 1)


@gen
def counted_twice(n):
    x = 0.0
    for i in range(n):
        x = ("x", i, i) @ ~normal(x, 1)


@gen
def tagged(n, tag):
    x = 0.0
    for i in range(n):
        x = ("x", tag, i) @ ~normal(x, 1)


@gen
def both_ways(n):
    x = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(x, 1)
        ("y", i) @ ~normal(x, 1)


FOUND = {
    "from three": (from_three, (), [("x", 3), ("x", 62)], [("x", 2), ("x", 63), ("x", 0), ("x", -1)]),
    "by twos": (by_twos, (), [("x", 1), ("x", 119)], [("x", 0), ("x", 2), ("x", 121), ("x", -1)]),
    "numbered": (numbered, (), [("x", 5), ("x", 64)], [("x", 4), ("x", 65)]),
    "long": (
        long_addresses, (), [("x", 3, "value"), ("y", 2, 3)],
        [("x", 3, "other"), ("y", 3, 3), ("y", 2, 60), ("y", 2, 3, 1), ("x", [3], "value")],
    ),
    "twice": (counted_twice, (), [("x", 3, 3)], [("x", 3, 4), ("x", 60, 60)]),
    "tagged": (tagged, ("a",), [("x", "a", 3)], [("x", "b", 3), ("x", "a", 60), ("x", "a", -1)]),
    "a plate": (plate, (), [("x", 0), ("x", 59), ("x", 3.0), ("x", np.int64(3))], [("x", 60), ("x", -1)]),
    "a chain": (both_ways, (), [("x", 0), ("y", 59), ("x", True)], [("x", 60), ("x", -1), ("x", 0.5)]),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_a_choice_is_found_by_its_address(name):
    model, rest, there, nowhere = FOUND[name]
    trace = model.simulate((N, *rest), rng=1)
    other = trace.whole()
    for path in there:
        edit = trace.redraw(path, np.random.default_rng(2))
        assert type(edit) is LocalRedraw
        expected = other.redraw(path, np.random.default_rng(2))
        assert edit.log_weight == pytest.approx(expected.log_weight, abs=1e-9)
        same(edit.trace, expected.trace)
        value = trace[path] + 0.25
        new, weight, discard = trace.update({path: value})
        after, expected_weight, gone = other.update({path: value})
        assert weight == pytest.approx(expected_weight, abs=1e-9)
        assert discard == gone
        same(new, after)
    for path in nowhere:
        assert trace.local_density(path) is None
        with pytest.raises((LookupError, TypeError, ValueError)):
            trace.redraw(path, np.random.default_rng(2))


# --- edits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (between, {("x", 3): 0.5, ("z", 3): 1.0, ("y", 3): 2}),
        (two_plates, {("x", 3): 0.5, ("z", 3): 1.0, ("z", 4): 1.0}),
    ],
    ids=["a plate and a chain", "two plates"],
)
def test_choices_of_two_loops(model, values):
    trace = model.simulate((N,), rng=1)
    new, weight, discard = trace.update(values)
    other, expected, gone = trace.whole().update(values)
    assert weight == pytest.approx(expected, rel=1e-9)
    assert discard == gone
    same(new, other)


def test_code_that_refuses_a_value_is_heard():
    trace = between.simulate((N,), rng=1)
    assert trace.local_density(("x", 3))(1.1e4) is None
    for one in (trace, trace.whole()):
        with pytest.raises(AssertionError):
            one.update({("x", 3): 1.1e4})
    large = trace.update({"scale": 1e6}).trace  # nearly every draw of x is refused
    for one in (large, large.whole()):
        with pytest.raises(AssertionError):
            one.redraw(("x", 3), np.random.default_rng(1))


def test_an_entry_that_no_iteration_has_read_is_read_as_it_is_now():
    z = [i % 2 for i in range(N)]
    trace = labelled.generate((N,), init={"z": z}, rng=1).trace
    trace = trace.update({("mu", 2): 7.0}).trace
    trace = trace.update({("z", 3): 2}).trace
    other = trace.whole().update({}).trace
    for path, record in other.records.items():
        assert trace.records[path][2] == pytest.approx(record[2], rel=1e-9)


@pytest.mark.parametrize("size", [7, N])
def test_who_reads_an_entry_is_known_of_each_trace_by_itself(size):
    trace = labelled.generate((size,), init={"z": [0] * size}, rng=1).trace
    other = trace.update({("z", 3): 1}).trace
    trace.update({("mu", 1): 2.0})  # finds out who reads it
    new, weight, _ = other.update({("mu", 1): 2.0})
    expected, expected_weight, _ = other.whole().update({("mu", 1): 2.0})
    assert weight == pytest.approx(expected_weight, rel=1e-9)
    same(new, expected)


@pytest.mark.parametrize("size", [7, N])
def test_a_value_outside_of_its_own_support(size):
    trace = allowed.simulate((size,), rng=1)
    assert trace.update({("top", 3): 7.0}).trace.log_prob == -math.inf
    with pytest.raises(ZeroProbability):
        trace.edit({("top", 3): 7.0}, stop_at_zero=True)


@pytest.mark.parametrize("size", [7, N])
def test_a_draw_in_a_trace_of_probability_zero(size):
    trace = allowed.simulate((size,), rng=1).update({("x", 3): 6.0}).trace
    for one in (trace, trace.whole()):
        with pytest.raises(NaNError):
            one.regenerate(select(("top", 4)), rng=1)


@gen
def shared(n, spread):
    """Choices with one distribution for all of them, until what it depends on changes."""
    mu = ~normal(0, 1)
    sd = ~gamma(2, 1)
    for i in range(n):
        x = ("x", i) @ ~normal(mu, spread)
        y = ("y", i) @ ~gamma(2, sd)
        ("z", i) @ ~normal(x, y)


def test_a_distribution_that_all_iterations_share_changes_with_what_it_depends_on():
    trace = shared.simulate((N, 1.0), rng=1)
    other = trace.whole()
    for t, edit in enumerate(({"mu": 1.5}, {"sd": 0.3}, {"mu": -2.0}, None)):
        one, two = np.random.default_rng(t), np.random.default_rng(t)
        for path in (("x", t), ("y", 7)):
            drawn, expected = trace.redraw(path, one), other.redraw(path, two)
            assert type(drawn) is LocalRedraw
            assert drawn.trace[path] == expected.trace[path]
            assert drawn.log_weight == pytest.approx(expected.log_weight, rel=1e-9)
            trace, other = drawn.trace, expected.trace
            density = trace.local_density(path)
            expected = other.edit({path: 0.25}).log_weight
            assert density(0.25) == pytest.approx(expected, rel=1e-9)
        if edit is None:
            trace, other = (each.update(None, args=(N, 3.0)).trace for each in (trace, other))
        else:
            trace, other = trace.update(edit).trace, other.update(edit).trace
    drawn, expected = (each.redraw(("x", 1), np.random.default_rng(9)) for each in (trace, other))
    assert drawn.trace["x", 1] == expected.trace["x", 1]
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-12)


@pytest.mark.parametrize("model", [plate, walk], ids=["plate", "walk"])
def test_a_value_far_away_leaves_nothing_behind(model):
    trace = back = model.simulate((N,), rng=1)
    for t, value in ((3, 1e16), (30, 3.1e15), (3, trace["x", 3]), (30, trace["x", 30])):
        back = back.update({("x", t): value}).trace
    assert back.log_prob == pytest.approx(trace.log_prob, rel=1e-12)


@pytest.mark.parametrize("value", [1, np.float64(0.5), np.float32(0.5)])
@pytest.mark.parametrize("model", [plate, walk], ids=["plate", "walk"])
def test_a_value_of_another_type_is_kept_as_the_choice_has_it(model, value):
    trace = model.simulate((N,), rng=1)
    other = trace.whole()
    for operation in ("update", "edit"):
        new = getattr(trace, operation)({("x", 3): value})
        assert new.log_weight == pytest.approx(getattr(other, operation)({("x", 3): value}).log_weight)
        assert type(new.trace["x", 3]) is type(new.trace.records["x", 3][1]) is float


@gen
def looked_up(n):
    """Entries of lists that loops have appended to, on top of what was there."""
    mu = [10.0, 20.0]
    for j in range(3):
        mu.append(("mu", j) @ ~normal(0, 3))
    pairs = [mu for _ in range(2)]
    for i in range(n):
        k = ("k", i) @ ~poisson(1)
        ("x", i) @ ~normal(mu[k], 1)
        ("y", i) @ ~normal(mu[-1 - k % 3] + pairs[1][k % 5], 1)


@pytest.mark.parametrize("size", [7, N])
def test_entries_of_lists_are_looked_up_as_they_stand(size):
    trace = looked_up.generate((size,), init={"k": [i % 5 for i in range(size)]}, rng=1).trace
    other = trace.whole()
    for k in (0, 1, 2, 4):
        new, weight, _ = trace.update({("k", 3): k})
        expected, expected_weight, _ = other.update({("k", 3): k})
        assert weight == pytest.approx(expected_weight, rel=1e-9)
        same(new, expected)
    for one in (trace, other):
        with pytest.raises(IndexError, match="list index out of range"):
            one.update({("k", 3): 5})


@gen
def whole_entries(n):
    """An entry that is a list, which a loop has filled, is one; there are as many as there are."""
    rows = []
    for j in range(2):
        rows.append([("mu", j, k) @ ~normal(0, 3) for k in range(2)])
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    k = ~poisson(3)
    ("y", 0) @ ~normal(x[k], 1)
    ("z", 0) @ ~normal(sum(rows[1] + [1.0]), 1)
    return rows[0]


def test_entries_are_what_they_were():
    trace = whole_entries.generate((N,), init={"k": 3}, rng=1).trace
    other = trace.whole()
    new, weight, _ = trace.update({("mu", 1, 0): 0.5, "k": 4})
    expected, expected_weight, _ = other.update({("mu", 1, 0): 0.5, "k": 4})
    assert weight == pytest.approx(expected_weight, rel=1e-9)
    same(new, expected)
    assert type(new.retval) is list
    for one in (trace, other):
        with pytest.raises(IndexError, match="list index out of range"):
            one.update({"k": N})


GIVEN = [
    {"scale": 2.0}, {"scale": 2.0, ("x", 3): 0.5}, {"x": {3: 0.5}}, {("x",): {3: 0.5, 4: 0.25}},
    {"x": [0.5] * N}, {"x": np.full(N, 0.5)}, {("x", np.int64(3)): 0.5}, {("x", 3.0): 0.5}, {},
]  # fmt: skip
REFUSED = [
    {("x", 3): {"a": 1}}, {("x", 3): 0.5, ("x", 3, "a"): 1}, {("x", 3): 0.5, "x": [0.5]}, {("x", 99): 0.5},
    {"xy": 0.5}, {("x", 3): "a"}, {(): 0.5}, {("x", 3): 0.5, "nothing": 1.0},
]  # fmt: skip


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_choices_are_given_in_all_the_ways_that_there_are(given):
    trace = between.simulate((N,), rng=1)
    other = trace.whole()
    for choices in (given, choicemap(given)):
        new, weight, discard = trace.update(choices)
        expected, expected_weight, gone = other.update(choices)
        assert weight == pytest.approx(expected_weight, rel=1e-9, abs=1e-9)
        assert discard == gone
        same(new, expected)


@pytest.mark.parametrize("given", REFUSED, ids=str)
def test_what_is_given_wrongly_is_refused(given):
    trace = between.simulate((N,), rng=1)
    errors = []
    for one in (trace.whole(), trace):
        with pytest.raises(Exception) as caught:
            one.update(given)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


# --- over a long time --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [plate, walk], ids=["plate", "walk"])
def test_rounding_does_not_add_up(model):
    trace = model.generate((N,), {"y": [0.1 * i for i in range(N)]}, rng=1).trace
    kernel, rng = single_site("x"), np.random.default_rng(3)
    for _ in range(3000):
        trace, _ = kernel(trace, rng)
    fresh = math.fsum(record[2] for record in trace.whole().update({}).trace.records.values())
    assert trace.log_prob == pytest.approx(fresh, rel=1e-14)
