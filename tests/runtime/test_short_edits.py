"""Edits of few choices take short ways: for choices of any distribution, and for what reads them. All agree
with the reference runtime."""

import copy
import math
import os
import pickle

import numpy as np
import pytest

from gendsl import (
    Distribution,
    bernoulli,
    binom,
    categorical,
    dirichlet,
    gamma,
    gen,
    inv_gamma,
    mixture_of_normals,
    normal,
    poisson,
    uniform,
    uniform_discrete,
)
from gendsl.distributions.base import measured
from gendsl.errors import AddressConflictError, DuplicateAddressError
from gendsl.runtime import small
from gendsl.runtime.change import difference, is_same
from gendsl.runtime.compiled import CompiledTrace
from gendsl.runtime.impossible import ZeroProbability
from gendsl.runtime.lowering.light import entries
from gendsl.runtime.namespaces import check_namespaces
from gendsl.runtime.records import as_given, is_unchanged
from gendsl.supports import FiniteSet, Interval, Real

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="about what is done by default"
)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 24)


class triangle(Distribution):
    """A density that rises from 0 at `low`; values and scores are NumPy's where `wide` is set."""

    parameters = ("low", "high")

    def __init__(self, low, high, wide=False):
        self.low, self.high, self.wide = low, high, wide

    @property
    def support(self):
        return Interval(self.low, self.high)

    def sample(self, rng):
        return self.low + (self.high - self.low) * math.sqrt(rng.random())

    def logpdf(self, x):
        score = math.log(2 * max(x - self.low, 5e-324)) - 2 * math.log(self.high - self.low)
        return np.float64(score) if self.wide else score


class one_of(Distribution):
    """Any of some values, or a number near the first."""

    def __init__(self, values, near=False):
        self.values, self.near = values, near

    @property
    def support(self):
        return Real() if self.near else FiniteSet(tuple(self.values))

    def sample(self, rng):
        return float(rng.normal(self.values[0])) if self.near else self.values[rng.integers(len(self.values))]

    def logpdf(self, x):
        return normal(self.values[0], 1).logpdf(x) if self.near else -math.log(len(self.values))


kind_of = categorical([0.25, 0.5, 0.25])


@gen
def mixed():
    kind = ~kind_of
    k = ~(1 + poisson(1))
    doubled = ~(2 * binom(k, 0.5) + 1)
    last, places = 0.0, []
    for j in range(k):
        last = ("place", j) @ ~triangle(last, 10.0 + kind, j % 2 == 1)
        places.append(last)
    w = ~dirichlet([1.0 + kind] * k)
    flag = ~one_of([1.0, 2.0], kind == 2)
    if kind == 1:
        "extra" @ ~mixture_of_normals(w, places, [1.0] * k)
    return places, flag


@gen
def mixed_over_data(n):
    kind = ~kind_of
    k = ~(1 + poisson(1))
    doubled = ~(2 * binom(k, 0.5) + 1)
    places = [("place", j) @ ~triangle(0.0, 10.0 + kind, j % 2 == 1) for j in range(k)]
    w = ~dirichlet([1.0 + kind] * k)
    flag = ~one_of([1.0, 2.0], kind == 2)
    sd = [("sd", j) @ ~gamma(2, 1.0 + flag) for j in range(k)]
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(w, places, sd)
    return places


def pair_of(program, args, seed):
    """A trace of few choices, and the same on the reference runtime."""
    trace = program.simulate(args, rng=seed)
    reference = program.reference.score(args, {path: r[1] for path, r in trace.records.items()})
    return trace, reference


def proposed(trace, rng):
    """Values of some choices: draws, of another type now and then, or outside the support."""
    values = {}
    for path, (distribution, _, _) in trace.records.items():
        if path[0] != "x" and rng.random() < 0.35:
            values[path] = value = distribution.sample(rng)
            if rng.random() < 0.2:
                values[path] = value.tolist() if np.ndim(value) else np.float64(value)
            if path == ("flag",) and rng.random() < 0.5:
                values[path] = 1
            if rng.random() < 0.1 and path != ("k",):
                values[path] = rng.choice([math.nan, -1.0, 1e3]) if np.ndim(values[path]) == 0 else [0.5, 0.6]
    return values


def edited(trace, values, seed, stop):
    try:
        return trace.edit(dict(values), rng=np.random.default_rng(seed), stop_at_zero=stop)
    except (ZeroProbability, Exception) as error:
        where = getattr(error, "address", getattr(error, "path", None))
        line = getattr(getattr(error, "location", None), "lineno", None)
        return type(error), getattr(error, "problem", None), where, line


def agree(mine, theirs):
    """Whether two edits are the same, to rounding; or fail in the same way."""
    if type(theirs) is tuple and type(theirs[0]) is type:
        assert mine == theirs
        return False
    assert mine.trace.choices == theirs.trace.choices
    for path, (distribution, value, score) in theirs.trace.records.items():
        record = mine.trace.records[path]
        assert type(record[1]) is type(value) and type(record[2]) is float
        assert record[0] == distribution or type(distribution) is one_of
        assert record[2] == pytest.approx(score, rel=1e-9, abs=1e-9)
    assert mine.trace.log_prob == pytest.approx(theirs.trace.log_prob, rel=1e-9, nan_ok=True)
    assert mine.log_weight == pytest.approx(theirs.log_weight, rel=1e-9, abs=1e-9, nan_ok=True)
    assert mine.removed.keys() == theirs.removed.keys()
    assert mine.remeasured.keys() == theirs.remeasured.keys()
    return True


@pytest.mark.parametrize(("program", "args"), [(mixed, ()), (mixed_over_data, (60,))], ids=["whole", "group"])
@pytest.mark.parametrize("seed", range(12))
def test_edits_are_those_of_the_reference_runtime(program, args, seed):
    rng = np.random.default_rng(seed)
    trace, reference = pair_of(program, args, seed)
    assert (type(trace) is CompiledTrace) == bool(args)
    done = 0
    for step in range(30):
        values = proposed(reference, rng)
        before = trace.choices
        results = [edited(t, values, step, seed % 2 == 0) for t in (trace, reference)]
        assert trace.choices == before
        if agree(*results):
            done += 1
            if -math.inf < results[1].trace.log_prob < math.inf:
                trace, reference = results[0].trace, results[1].trace
        assert trace.log_prob == pytest.approx(reference.log_prob)
    assert done > 3


@pytest.mark.parametrize("size", [0, 60])
def test_a_choice_that_stays_keeps_its_record_or_is_scored_again(size):
    program, args = (mixed_over_data, (size,)) if size else (mixed, ())
    start = {"kind": 0, "k": 2, "doubled": 3, "place": [1.0, 2.0], "w": [0.5, 0.5], "flag": 2.0}
    trace = program.generate(args, init=start, rng=1).trace.edit({("doubled",): 5}).trace
    same = trace.edit({("doubled",): 1}).trace
    for path in (("place", 1), ("w",), ("flag",), ("kind",)):
        assert same.records[path] is trace.records[path]
    other = trace.edit({("kind",): 1, ("extra",): 0.5} if not size else {("kind",): 1})
    assert other.trace.records["place", 1][1] == 2.0
    low = 0.0 if size else 1.0
    assert other.trace.records["place", 1][2] == pytest.approx(triangle(low, 11.0).logpdf(2.0))
    measured = trace.edit({("kind",): 2})
    assert list(measured.remeasured) == [("flag",)]


@gen
def one_or_the_other():
    which = ~kind_of
    if which:
        "here" @ ~triangle(0.0, 1.0)
    else:
        "there" @ ~triangle(0.0, 1.0)


def test_a_choice_that_comes_where_another_goes():
    trace, reference = (t.edit({("which",): 1, ("here",): 0.25}).trace for t in pair_of_one_or_the_other())
    for t in (trace, reference):
        edit = t.edit({("which",): 0, ("there",): 0.5})
        assert list(edit.removed) == [("here",)] and "here" not in edit.trace
        assert edit.log_weight == pytest.approx(math.log(0.25 / 0.5) + math.log(2.0))


def pair_of_one_or_the_other():
    trace = one_or_the_other.generate((), init={"which": 0, "there": 0.125}).trace
    return trace, one_or_the_other.reference.score((), trace.choices.to_flat_dict())


def test_two_choices_at_one_address():
    @gen
    def twice():
        a = ~kind_of
        for _ in range(1 + (a == 1)):
            "x" @ ~triangle(0.0, 1.0)

    @gen
    def twice_from_a_family_of_ours():
        a = ~kind_of
        for _ in range(1 + (a == 1)):
            "x" @ ~uniform(0.0, 1.0)

    for program in (twice, twice_from_a_family_of_ours):
        trace = program.generate((), init={"a": 0, "x": 0.5}).trace
        for t in (trace, program.reference.score((), {("a",): 0, ("x",): 0.5})):
            with pytest.raises(DuplicateAddressError, match=r"'x'"):
                t.edit({("a",): 1})
            assert t.edit({("a",): 2}).trace["x"] == 0.5


@pytest.mark.parametrize(
    "paths",
    [
        [("a",), ("a", 0)], [("a", 0), ("a",)], [("a", 0, 1, 2), ("b",), ("a",)],
        [("b", 1), ("a", 0, 1), ("a", 0)], [("a", 0, "c", 1), ("a", 0)],
    ],
)  # fmt: skip
def test_an_address_that_is_also_a_namespace(paths):
    with pytest.raises(AddressConflictError) as caught:
        check_namespaces(dict.fromkeys(paths), {})
    assert caught.value.address in {path[:n] for path in paths for n in range(len(path))} & {*paths}
    check_namespaces(dict.fromkeys(paths[:1]), {("c",): 1})
    with pytest.raises(AddressConflictError):
        check_namespaces({("c", 0, 1): None}, {("c", 0, 1): 1})


# --- what the plates that read a group are told -------------------------------------------------------


@gen
def read_in_many_ways(n):
    k = ~(1 + poisson(2))
    shift = ~bernoulli(0.5)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    name = "x" if k % 2 else "y"
    far = [20.0, 30.0, -20.0][shift]
    for i in range(n):
        (name, i) @ ~normal(mu[(i + shift) % k], 1)
    for i in range(n):
        ("z", i) @ ~normal(far, 2)
    for i in range(n if k > 1 else n + 3):
        ("u", i) @ ~uniform(-1.0, 2.0 + k)
    for j, m in enumerate(mu):
        ("v", j) @ ~normal(m, 1)


@gen
def members(n):
    a = ~normal(0, 1)
    mu = [("mu", j) @ ~normal(a, 3) for j in range(4)]
    total = ~normal(sum(mu), 1)
    for i in range(n):
        z = ("z", i) @ ~categorical([0.25] * 4)
        ("x", i) @ ~normal(mu[z], 1)
    for j in range(n):
        ("y", j) @ ~normal(total, 1)


@gen
def looked_up(n):
    shift = ~uniform_discrete(0, 3)
    at = ~uniform_discrete(0, 3)
    mu = [("mu", j) @ ~normal(0, 3) for j in range(7)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.25] * 4)
        ("x", i) @ ~normal(mu[z + shift], 1)
    for j in range(n):
        ("y", j) @ ~normal(mu[at] + mu[j % 7] + shift, 1)


@gen
def used_elsewhere(n):
    k = ~uniform_discrete(0, 1)
    m = ~normal(0, 3)
    for a in range(n + k):
        ("a", a) @ ~normal(m + k, 1)
    for b in range(n):
        ("b", k, b) @ ~normal(m - k, 1)
    out = []
    for c in range(n):
        out.append(m * c / 1000)
        ("c", c) @ ~normal(m, 1)
    total = sum(out)
    for d in range(n):
        last = ("d", d) @ ~normal(m + total, 1 + k)
    "after" @ ~normal(d + last, 1)


@pytest.mark.parametrize("program", [read_in_many_ways, members, looked_up, used_elsewhere])
@pytest.mark.parametrize("seed", range(6))
def test_plates_that_read_a_group_in_other_ways(program, seed):
    rng = np.random.default_rng(seed)
    trace, reference = pair_of(program, (70,), seed)
    for step in range(12):
        paths = list(reference.records)
        chosen = [paths[int(rng.integers(min(8, len(paths))))]]
        if rng.random() < 0.3:
            chosen.append(paths[int(rng.integers(len(paths)))])
        values = {path: reference.records[path][0].sample(rng) for path in chosen}
        results = [edited(t, values, step, False) for t in (trace, reference)]
        if agree(*results) and results[1].trace.log_prob > -math.inf:
            trace, reference = results[0].trace, results[1].trace


def test_what_is_looked_up_elsewhere_after_an_edit():
    start = {"shift": 2, "at": 3, "mu": [0.5 * j for j in range(7)]}
    trace = looked_up.generate((70,), init=start, rng=1).trace
    reference = looked_up.reference.score((70,), trace.choices.to_flat_dict())
    for path, value in [
        (("mu", 1), 2.0), (("shift",), 0), (("mu", 1), -1.0), (("mu", 5), 1.0), (("at",), 1),
        (("mu", 1), 0.0), (("mu", 3), 1.0), (("shift",), 3), (("at",), 0), (("mu", 5), 2.5), (("mu", 0), 2.0),
    ]:  # fmt: skip
        edits = [t.edit({path: value}) for t in (trace, reference)]
        assert agree(*edits)
        trace, reference = (edit.trace for edit in edits)


def test_only_the_members_of_a_cluster_are_scored_again(monkeypatch):
    """A change at a known place in a list stays one, so that who reads elsewhere isn't looked at."""
    from gendsl.runtime import column_steps

    trace = members.simulate((400,), rng=1)
    assert trace._called.linked.group_blocks
    sizes = []
    total = column_steps.total_column
    monkeypatch.setattr(
        column_steps, "total_column", lambda family, x, p: sizes.append(len(x)) or total(family, x, p)
    )
    trace.edit({("mu", 2): 0.5})
    assert sizes and max(sizes) < 200


# --- the questions asked on the way ---------------------------------------------------------------------

VALUES = [
    0.0, -0.0, 1.0, 1, True, False, 0, math.nan, "a", b"a", None, 1j, range(3), range(2), (), [], (1.0,),
    [1.0], [1], [True], [0.0], [-0.0], [1.0, 2.0], [[1.0], 2.0], [(1.0,), 2.0], [1.0] * 65, np.float64(1.0),
    np.int64(1), np.array([1.0]), np.array([1.0, 2.0]), np.array([1]), np.array(1.0), [np.array([1.0])],
    {"a": 1.0}, {"a": 1}, {}, {"a": -0.0}, normal(0, 1),
]  # fmt: skip


@pytest.mark.parametrize("old", VALUES, ids=repr)
def test_what_is_the_same_has_no_difference(old):
    for new in [*VALUES, *copy.deepcopy(VALUES)]:
        assert is_same(old, new) == (difference(old, new) is None)
    assert is_same(old, old)


def test_what_a_user_s_distribution_holds_is_compared():
    one = triangle(0.0, 1.0)
    assert is_unchanged(triangle(0.0, 1.0), one)
    for other in (triangle(-0.0, 1.0), triangle(0, 1.0), triangle(0.0, 2.0), triangle(0.0, 1.0, 1)):
        assert not is_unchanged(other, one)
    more = triangle(0.0, 1.0)
    more.note = 1
    assert not is_unchanged(more, one) and not is_unchanged(one, more)
    one.other = 1
    assert not is_unchanged(more, one)
    assert is_unchanged(one_of([1.0, 2.0]), one_of([1.0, 2.0]))
    assert not is_unchanged(one_of([1.0, 2.0]), one_of([1.0, 2]))
    assert not is_unchanged(one_of([1.0, 0.0]), one_of([1.0, -0.0]))


@pytest.mark.parametrize(
    "distribution",
    [
        normal(0, 1), gamma(1, 2), inv_gamma(1, 1), poisson(2), binom(3, 0.5), bernoulli(0.5), kind_of,
        1 + poisson(2), 2 * binom(3, 0.5) - 1, -poisson(1), 0.5 + poisson(2), 1.0 * poisson(2),
        0.5 * binom(3, 0.5), 1 + bernoulli(0.5), 2.0 - normal(0, 1),
        mixture_of_normals([0.5, 0.5], [0, 1], [1, 1]), dirichlet([1.0, 2.0]), triangle(0.0, 1.0),
        one_of([1.0, 2.0]), one_of([1, 2]), one_of([0.5], True),
    ],
    ids=lambda distribution: "one_of" if type(distribution) is one_of else repr(distribution),
)  # fmt: skip
def test_a_given_value_is_taken_as_its_support_takes_it(distribution):
    drawn = distribution.sample(np.random.default_rng(1))
    for value in (drawn, 1, 1.0, True, 0.5, np.float64(1.0), np.int64(1), "a", None):
        taken, known = as_given(value, distribution), distribution.support.canonical(value)
        assert type(taken) is type(known) and (np.array_equal(taken, known) or value is None)


def test_entries_are_counted_in_what_holds_others():
    assert entries([1.0, 2, True]) == 3 and entries([]) == 0 and entries((1.0, [2.0, 3.0], "abc")) == 6
    assert entries([np.zeros(5), 1.0]) == 6 and entries([[1.0] * 300]) == 300 and entries([None, 1j]) == 2


@gen
def renamed(n):
    k = ~bernoulli(0.5)
    name = "x" if k else "y"
    for i in range(n):
        (name, i) @ ~normal(0.0, 1.0)


def test_a_plate_whose_addresses_have_changed_finds_its_choices():
    trace = renamed.generate((100,), init={"k": True}, rng=1).trace
    after = trace.edit({("k",): False}, rng=np.random.default_rng(1)).trace
    assert ("y", 63) in after and after.records["y", 63][1] == after["y", 63]
    again = after.edit({("y", 63): 2.0})
    assert again.trace["y", 63] == 2.0 and again.trace["y", 62] == after["y", 62]
    assert again.log_weight == pytest.approx(normal(0, 1).logpdf(2.0) - after.records["y", 63][2])
    assert trace["x", 63] and ("x", 63) not in after


class half_line(Distribution):
    """An exponential from `low` on; counts how often its support is made."""

    parameters = ("low",)
    made = 0

    def __init__(self, low):
        self.low = low

    @property
    def support(self):
        half_line.made += 1
        return Interval(self.low, math.inf)

    def sample(self, rng):
        return self.low + rng.exponential()

    def logpdf(self, x):
        return self.low - x


class rounded(Interval):
    """A support that keeps its values rounded."""

    def canonical(self, value):
        return round(float(value), 3)


class rounding(half_line):
    @property
    def support(self):
        return rounded(self.low, math.inf)


def test_a_users_distribution_says_once_what_its_measure_is():
    one = half_line(0.0)
    half_line.made = 0
    measure = measured(one)
    assert (measure.discrete, measure.dim, measure.shape) == (False, 1, ())
    assert measured(one) is measure and half_line.made == 1
    assert one.support == Interval(0.0, math.inf)  # its own is what it was
    assert one == half_line(0.0) and repr(one) == "half_line(low=0.0)"
    assert is_unchanged(one, half_line(0.0)) and is_unchanged(half_line(0.0), one)
    assert not is_unchanged(one, half_line(1.0)) and not is_unchanged(half_line(0), one)
    again = pickle.loads(pickle.dumps(one))
    assert again == one and measured(again) == measure


def test_a_support_that_keeps_values_in_its_own_way_is_asked_each_time():
    one = rounding(0.0)
    measured(one)
    assert as_given(1.23456, one) == 1.235
    assert as_given(1.23456, half_line(0.0)) == 1.23456
