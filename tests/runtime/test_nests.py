"""Loops in loops that are kept as one agree with the reference runtime, whatever they go through."""

import builtins
import math

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    gamma,
    gen,
    iid,
    mvnormal,
    normal,
    poisson,
    select,
    uniform_discrete,
)
from gendsl.errors import AddressConflictError, DuplicateAddressError
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.lowering.ir import Level
from gendsl.runtime.nest_loops import NestBlock
from gendsl.runtime.nests import Nest
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import SEEDS, Programs, kept_as
from tests.runtime.test_cost import GROWTH, calls

pytestmark = [
    pytest.mark.skipif(runs_whole(), reason="about the compiled runtime"),
    pytest.mark.usefixtures("in_columns"),
]

NESTS = Programs()
WRITTEN = Programs()  # that are no nests, but look like some
written = NESTS.written
SIZES = (3, 2), (2, 3), (4, 3), (1, 2), (0, 2), (3, 0), (4, 1), (5, 4)


@written(*SIZES)
@gen
def responses(persons, items):
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for i in range(persons):
        for j in range(items):
            ("y", i, j) @ ~bernoulli(1 / (1 + math.exp(-(theta[i] - b[j]))))


@written(*SIZES)
@gen
def two_parameters(persons, items):
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    slope, b = {}, np.zeros(items)
    for j in range(items):
        slope[j] = ~gamma(2, 1)
        b[j] = ~normal(0, 1)
    for i in range(persons):
        ability = theta[i]
        for j in range(items):
            eta = slope[j] * (ability - b[j])
            ("y", j, i, "seen") @ ~bernoulli(1 / (1 + math.exp(-eta)))
    return theta


@written(*SIZES)
@gen
def missing(persons, items):
    sd = ~gamma(2, 1)
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    b = [("b", j) @ ~normal(0, sd) for j in range(items)]
    for i in range(1, persons + 1):
        for j in range(items):
            z = ("z", i, j) @ ~uniform_discrete(0, 1)
            ("y", i, j) @ ~normal(theta[i - 1] - (b[j] if z > 0 else 0.5), sd)
    return sum(theta)


@written(*SIZES)
@gen
def through_the_lists(persons, items):
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for i, ability in enumerate(theta):
        for j, hard in enumerate(b, 1):
            ("y", i, j) @ ~normal(ability - hard, 1)


@written(*SIZES)
@gen
def through_arrays(persons, items):
    theta, b = np.zeros(persons), np.zeros(items)
    for i in range(persons):
        theta[i] = ~normal(0, 1)
    for j in range(items):
        b[j] = ~normal(0, 1)
    for i, ability in enumerate(theta):
        for j, (hard, _) in enumerate(zip(b, range(items))):  # noqa: B905 (with `strict` it is compared)
            ("y", i, j) @ ~normal(ability - hard, 1)


@written(*SIZES)
@gen
def through_what_is_computed(persons, items):
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    centred = [t - sum(theta) / len(theta) for t in theta]
    running = np.cumsum(b)
    for i, ability in enumerate(centred):
        for j, hard in enumerate(running):
            ("y", i, j) @ ~normal(ability - hard, 1)


@written(*SIZES)
@gen
def listed_inside(persons, items):
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for i in range(persons):
        t = theta[i]
        _ = [("y", i, j) @ ~normal(t - b[j], 1) for j in range(items)]


@written(*SIZES)
@gen
def listed(persons, items):
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    y = [("y", i, j) @ ~normal(theta[i] - b[j], 1) for i in range(persons) for j in range(items)]
    [("w", i, j) @ ~normal(theta[i] * b[j], 1) for j in range(items) for i in range(persons)]


ROWS = [[0, 2, 1], [1], [], [2, 2], [0, 1, 2, 0]]
MEMBERS = [(ROWS[:k], h) for k, h in ((3, 3), (5, 4), (1, 3), (0, 3), (4, 3))]
MEMBERS += [
    ([[0, 2], [1, 1], [], [2, 2]], 3), ([[1], [1, 0, 2], [2]], 3), ([*ROWS[2:], [0]], 4),
    ([np.array([0, 2, 1]), np.array([1])], 3), (np.array([[0, 1], [1, 2], [2, 0]]), 3), ([(0, 1), [2]], 3),
]  # fmt: skip


@written(*MEMBERS)
@gen
def crossed(members, h):
    alpha = [("alpha", g) @ ~normal(0, 1) for g in range(len(members))]
    gamma_ = [("gamma", k) @ ~normal(0, 1) for k in range(h)]
    for g in range(len(members)):
        for k, i in enumerate(members[g]):
            ("y", g, k) @ ~normal(alpha[g] + gamma_[i], 1)


@written(*MEMBERS)
@gen
def crossed_rows(members, h):
    alpha = [("alpha", g) @ ~normal(0, 1) for g in range(len(members))]
    gamma_ = [("gamma", k) @ ~normal(0, 1) for k in range(h)]
    for g, row in enumerate(members):
        a = alpha[g]
        for k, i in enumerate(row):
            ("y", g, k) @ ~normal(a + gamma_[i], 1 + len(members))


@written(*((rows,) for rows, _ in MEMBERS))
@gen
def numbered(members):
    top = ~normal(0, 1)
    alpha = [("alpha", g) @ ~normal(top, 1) for g in range(len(members))]
    for g, row in enumerate(members):
        for k in range(len(row)):
            for s in range(2):
                ("y", k, "of", g, s) @ ~normal(alpha[g] * s, 1)


@written((["a", "b"], 2), (["b", "a", "c"], 2), (["a", "c"], 3), ([], 2), (["d"], 0))
@gen
def by_name(names, items):
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for name in names:
        for j in range(items):
            ("y", name, j) @ ~normal(b[j], 1)


@written(
    ([1.5, 2.5], [0.0, 1.0]), ([1.5], [3, 2, 1]), ([], [1]), ([2.5, 1.5, 0.5], [0.25]), ([0.0, -0.0], [1.0])
)  # fmt: skip
@gen
def table(xs, zs):
    row = [("row", i) @ ~normal(0, 1) for i in range(len(xs))]
    col = [("col", j) @ ~normal(0, 1) for j in range(len(zs))]
    for i, x in enumerate(xs):
        for j, z in enumerate(zs):
            ("n", i, j) @ ~poisson(math.exp(0.1 * (row[i] + col[j] + x * z)))


@written(*SIZES)
@gen
def by_steps(persons, items):
    theta = [("theta", i) @ ~normal(0, 1) for i in range(persons)]
    for i in range(persons):
        for j, k in zip(range(1, 2 * items, 2), range(9, 0, -1)):  # noqa: B905 (with `strict` it is compared)
            ("y", i, j) @ ~normal(theta[i] * j + k, 1)


@written(*SIZES)
@gen
def chosen(most, items):
    k = ~uniform_discrete(0, 3)
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for c in range(k):
        for j in range(items):
            z = ("z", c, j) @ ~uniform_discrete(0, 2)
            ("y", c, j) @ ~normal(b[j] * z + k, 1)
    for i in range(most):
        for c in range(k):
            ("w", i, c) @ ~normal(i, 1)


@written(*SIZES)
@gen
def in_a_loop(persons, items):
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for t in range(2):
        mean = ("mean", t) @ ~normal(0, 1)
        for i in range(persons):
            for j in range(items):
                ("y", t, i, j) @ ~normal(mean + b[j] * i, 1)


@gen
def wave(persons, items, b):
    s = ~gamma(2, 1)
    for i in range(persons):
        for j in range(items):
            ("y", i, j) @ ~normal(b[j] * i, s)


@written(*SIZES)
@gen
def called(persons, items):
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for t in range(2):
        ("wave", t) @ ~wave(persons, items, b)
    "last" @ ~wave(2, items, b)


@written(*SIZES)
@gen
def deep(persons, items):
    a = [("a", i) @ ~normal(0, 1) for i in range(persons)]
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for i in range(persons):
        for j in range(i, items):
            for t in range(j + 1):
                ("y", i, j, t) @ ~normal(a[i] + b[j] * t, 1)


@written(*((rows, h) for rows, h in MEMBERS))
@gen
def by_the_inner(members, h):
    b = [("b", k) @ ~normal(0, 1) for k in range(h)]
    for k in range(len(members)):
        shift = k / 2
        for j in range(10 * k, 10 * k + len(members[k])):
            ("y", j) @ ~normal(b[0] + shift, 1)


# --- no nests, for one reason or another -----------------------------------------------------------


@WRITTEN.written(*SIZES)
@gen
def left_behind(persons, items):
    for i in range(persons):
        for j in range(items):
            ("y", i, j) @ ~normal(j, 1)
    ("end", 0) @ ~normal(i if persons else 0, 1)
    return j if persons and items else None


@WRITTEN.written(*SIZES)
@gen
def summed(persons, items):
    for i in range(persons):
        total = 0.0
        for j in range(items):
            total = total + (("y", i, j) @ ~normal(total, 1))


@WRITTEN.written(*SIZES)
@gen
def carried(persons, items):
    last = 0.0
    for i in range(persons):
        for j in range(items):
            last = ("y", i, j) @ ~normal(last, 1)


@WRITTEN.written(*SIZES)
@gen
def rows_of_its_own(persons, items):
    grid = [[0.0] * items for _ in range(persons)]
    for i in range(persons):
        for j in range(items):
            grid[i][j] = ("x", i, j) @ ~normal(0, 1)
    for i, row in enumerate(grid):
        for j, x in enumerate(row):
            ("y", i, j) @ ~normal(x, 1)


@WRITTEN.written(*SIZES)
@gen
def one_name(persons, items):
    j = 7
    for i in range(persons):
        mean = j
        for j in range(items):
            ("y", i, j) @ ~normal(mean, 1)


@WRITTEN.written(*SIZES)
@gen
def assigned_anew(persons, items):
    b = [("b", j) @ ~normal(0, 1) for j in range(items)]
    for i in range(persons):
        mean = i
        for j in range(items):
            ("y", i, j) @ ~normal(mean + b[j], 1)
            mean = mean + 1


@WRITTEN.written(*SIZES)
@gen
def stopped(persons, items):
    for i in range(persons):
        for j in range(items):
            if ("y", i, j) @ ~bernoulli(0.5):
                break


@WRITTEN.written(*SIZES)
@gen
def gone_through_once(persons, items):
    numbers = iter(range(items))
    for i in range(persons):
        for j in numbers:
            ("y", i, j) @ ~normal(i, 1)


@WRITTEN.written(*SIZES)
@gen
def counted_otherwise(persons, items):
    range = counting()
    for i in range(persons):
        for j in range(items):
            ("y", i, j) @ ~normal(i, 1)


def counting():
    return lambda size: [100 + k for k in builtins.range(size)]


@WRITTEN.written(*SIZES)
@gen
def vectors(persons, items):
    mu = [("mu", j) @ ~iid(normal(0, 1), 2) for j in range(items)]
    for i in range(persons):
        for j in range(items):
            ("y", i, j) @ ~mvnormal(mu[j], np.eye(2))
            ("z", i, j) @ ~normal(mu[j][0] + i, 1)


@WRITTEN.written(*SIZES)
@gen
def weights(persons, items):
    w = [[0.2 + i, 0.3, 0.5] for i in range(persons)]
    for i in range(persons):
        p = [v / sum(w[i]) for v in w[i]]
        for j in range(items):
            ("y", i, j) @ ~categorical(p)


LENGTHS = [1, 6, None]
test_nests_agree_with_the_reference_runtime = NESTS.test_of_agreement(columns_from=LENGTHS)
test_others_agree_with_the_reference_runtime = WRITTEN.test_of_agreement(columns_from=LENGTHS)
test_nothing_is_executed_whole = NESTS.test_of_blocks()


def nests_of(model):
    return [loop for loop in model.compiled.program.body if getattr(loop, "levels", None)]


@pytest.mark.parametrize("name", NESTS)
def test_loops_in_loops_are_one(name):
    model, _ = NESTS[name]
    inner = {"in_a_loop": 0, "called": 0, "chosen": 2, "listed": 2}.get(name, 1)
    assert len(nests_of(model)) == inner


def test_they_are_said_to_be():
    said = " ".join(responses.explain().replace("|", " ").split())
    assert "plate over range(persons), and in it range(items): each iteration by itself, kept as" in said
    assert "for j in range(items): one plate with the loop around it" in said
    assert "scored again when b at [j] or theta at [i] changes" in said


@pytest.mark.parametrize("name", WRITTEN)
def test_where_it_would_not_be_the_same_they_are_not(name):
    model, _ = WRITTEN[name]
    kept = {"gone_through_once"}  # which is found out as it runs
    if name == "left_behind" or name not in kept:
        assert not nests_of(model)


@pytest.mark.parametrize("name", ["responses", "crossed", "table", "deep", "numbered"])
def test_they_are_columns(name):
    model, args = NESTS[name]
    model = kept_as(model, columns_from=1)
    for given in args:
        trace = model.simulate(given, rng=1)
        (block,) = [b for b in trace._called.linked.body.blocks if isinstance(b, NestBlock)]
        store = trace._called.frame[block.state][0].frames
        assert type(store) is ColumnFrames or not len(store)
        fresh = model.reference.generate(given, trace.choices).trace
        assert list(trace.choices) == list(fresh.choices)
        assert trace.log_prob == pytest.approx(fresh.log_prob, rel=1e-9)
        assert model.assess(given, trace.choices).log_prob == pytest.approx(trace.log_prob, rel=1e-9)
        for path, value in fresh.choices.items():
            assert trace[path] == value
        if not any(path[0] in "yn" for path in trace.choices):
            continue
        assert trace.project(select(path[0])) == pytest.approx(fresh.project(select(path[0])), rel=1e-9)


# --- many iterations, and what concerns many of them -------------------------------------------------

LARGE = Programs()
LARGE_SIZES = (12, 9), (10, 9), (12, 3), (13, 11), (7, 9), (0, 9), (24, 5)
for _name in (
    "responses", "two_parameters", "missing", "through_the_lists", "listed", "chosen", "deep", "called",
    "by_steps",
):  # fmt: skip
    LARGE[_name] = NESTS[_name][0], list(LARGE_SIZES)
MANY_MEMBERS = [
    ([[(g * 7 + k) % h for k in range((g * g) % 11)] for g in range(n)], h)
    for n, h in ((12, 11), (14, 11), (12, 13), (3, 11), (11, 12))
]
MANY_MEMBERS += [(rows[3:] + [row[::-1] for row in rows[:2]], h + 1) for rows, h in MANY_MEMBERS[:2]]
for _name in ("crossed", "crossed_rows", "by_the_inner"):
    LARGE[_name] = NESTS[_name][0], MANY_MEMBERS
test_large_ones_agree_with_the_reference_runtime = LARGE.test_of_agreement(columns_from=[None])


def agree(trace, other):
    assert list(trace.choices) == list(other.choices)
    assert trace.choices.allclose(other.choices, rtol=1e-12)
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9, abs=1e-9)
    assert trace.retval == other.retval
    for path, record in other.records.items():
        assert trace.records[path][0] == record[0]
        assert trace.records[path][2] == pytest.approx(record[2], rel=1e-9, abs=1e-9)


def edited(trace, other, edit, args=None):
    """The two after an edit that draws nothing, if they agree on all of it."""
    one, two = trace.update(edit, args=args, rng=1), other.update(edit, args=args, rng=1)
    agree(one.trace, two.trace)
    assert one.log_weight == pytest.approx(two.log_weight, rel=1e-9, abs=1e-9)
    assert one.discard == two.discard
    return one.trace, two.trace


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["responses", "missing", "crossed", "through_the_lists", "two_parameters", "by_steps"]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_many_moves_that_concern_many(name, seed):
    model, sizes = LARGE[name]
    rng = np.random.default_rng(seed)
    trace = model.simulate(sizes[seed % len(sizes)], rng=seed)
    other = model.reference.generate(trace.args, init=trace.choices).trace
    versions = [(trace, other)]
    for _ in range(14):
        trace, other = versions[int(rng.integers(len(versions)))] if rng.random() < 0.3 else versions[-1]
        args, edit = None, {}
        if rng.random() < 0.3:
            args = sizes[int(rng.integers(len(sizes)))]
            wanted = model.simulate(args, rng=int(rng.integers(99))).choices
            edit = {path: value for path, value in wanted.items() if path not in trace.choices}
        kept = [path for path in trace.choices if args is None or path in wanted]
        for head in {path[0] for path in kept if rng.random() < 0.5}:
            some = [path for path in kept if path[0] == head]
            for k in rng.choice(len(some), min(len(some), int(rng.choice([1, 2, 40]))), replace=False):
                value = trace[some[k]]
                edit[some[k]] = 1 - value if isinstance(value, int) else abs(value) * 0.9 + 0.05
        versions.append(edited(trace, other, edit, args))
    for trace, other in versions:
        agree(trace, other)


@pytest.mark.parametrize("name", ["responses", "missing", "crossed"])
def test_an_element_drawn_anew(name):
    model, sizes = LARGE[name]
    trace = model.simulate(sizes[0], rng=1)
    other = model.reference.generate(trace.args, init=trace.choices).trace
    heads = {path[0] for path in trace.choices}
    for seed, head in enumerate(sorted(heads)):
        some = [path for path in trace.choices if path[0] == head]
        for path in (some[len(some) // 2], some[-1]):
            one, weight = trace.regenerate(select(path), rng=seed)
            two, expected = other.regenerate(select(path), rng=seed)
            agree(one, two)
            assert weight == pytest.approx(expected, rel=1e-9, abs=1e-9)
            trace, other = one, two


def test_given_arrays():
    rows = {("y", i): [0.5 * i] * 9 for i in range(12)}
    made = missing.generate((11, 9), {("y", i + 1): rows["y", i] for i in range(11)}, rng=1).trace
    one_by_one = {("y", i + 1, j): 0.5 * i for i in range(11) for j in range(9)}
    other = missing.reference.generate((11, 9), one_by_one, init=latent(made)).trace
    agree(made, other)
    assert made.observed_paths == other.observed_paths and len(made.observed_paths) == 99
    edited(made, other, {("b", 3): 0.25})


def latent(trace):
    return {path: value for path, value in trace.choices.items() if path not in trace.observed_paths}


def level(*, same=False):
    return Level([False], [True], False, same, 0, None)


def test_what_is_gone_through_once_is_gone_through_once():
    numbers = iter(range(3))
    nest = Nest(((range(2),), lambda: (numbers,)), [level(), level(same=True)])
    assert [[column[t] for t in range(3)] for column in nest.columns] == [[0, 0, 0], [0, 1, 2]]
    again = Nest(((range(2),), lambda: (range(3),)), [level(), level(same=True)])
    every = [[column[t] for t in range(6)] for column in again.columns]
    assert every == [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]


def test_iterations_are_found_in_their_own_run():
    nest = Nest(((range(3),), lambda i: (range(2 - i % 2),)), [level(), level()])
    assert nest.size == 5
    assert [nest.find({0: i, 1: 1}) for i in range(3)] == [[1], [], [4]]
    assert nest.find({1: 0}) == [0, 2, 3] and nest.find({0: 1}) == [2] and nest.find({0: 3}) == []


# --- what fails --------------------------------------------------------------------------------------


@gen
def looked_up_in_vain(theta, members):
    for i in range(len(members)):
        t = theta[i]
        for j in range(members[i]):
            ("y", i, j) @ ~normal(t, 1)


def test_what_stands_before_a_loop_that_goes_through_nothing_fails_as_it_should():
    assert nests_of(looked_up_in_vain)
    for model in (looked_up_in_vain, looked_up_in_vain.reference):
        for members in ([2, 0], [0, 0], [2, 2]):
            with pytest.raises(IndexError):
                model.simulate(([0.5], members), rng=1)
        trace = model.simulate(([0.5, 1.0], [60, 0]), rng=1)
        with pytest.raises(IndexError):
            trace.update({}, args=([0.5], [60, 0]))
        assert len(trace.update({}, args=([0.5, 1.0], [60, 1]), rng=1).trace.choices) == 61


@gen
def twice(rows):
    for i in rows:
        for j in range(30):
            ("y", i, j) @ ~normal(0, 1)


@gen
def twice_inside(n):
    for i in range(n):
        for j in [k // 2 for k in range(4)]:
            ("y", i, j) @ ~normal(0, 1)


@gen
def as_above(n):
    for i in range(n):
        for j in range(60):
            ("y", j) @ ~normal(i, 1)


@pytest.mark.parametrize(("model", "args"), [(twice, ([0, 1, 0],)), (twice_inside, (2,)), (as_above, (2,))])
def test_an_address_that_two_pairs_make(model, args):
    for version in (model, model.reference):
        with pytest.raises((DuplicateAddressError, AddressConflictError)):
            version.simulate(args, rng=1)


def test_lengths_that_differ_and_must_not():
    @gen
    def strict(xs, rows):
        for i, (x, row) in enumerate(zip(xs, rows, strict=True)):
            for j, y in enumerate(row):
                ("y", i, j) @ ~normal(x, y)

    good = [0.5, 1.0], [[1.0, 2.0], [3.0]]
    for model in (strict, strict.reference):
        trace = model.simulate(good, rng=1)
        with pytest.raises(ValueError, match="shorter"):
            trace.update({}, args=(good[0], good[1][:1]))


# --- what it costs -----------------------------------------------------------------------------------


def calls_of(trace, address):
    """How many calls a change of one choice makes."""
    value = trace[address]
    other = 1 - value if isinstance(value, int) else value + 0.5
    return calls(lambda: trace.update({address: other}))


@pytest.mark.usefixtures("unwatched")
@pytest.mark.parametrize("args", [(None, 20), (None, 5), (200, None)], ids=str)
@pytest.mark.parametrize("name", ["responses", "listed_inside", "listed", "through_the_lists", "missing"])
def test_an_edit_costs_the_same_for_many(name, args):
    model, _ = NESTS[name]
    counts = []
    for n in (200, 800):
        trace = model.simulate(tuple(n if size is None else size for size in args), rng=1)
        for address in (("b", 3), ("theta", 3)):
            trace = trace.update({address: 0.1}).trace
        addresses = ("b", 3), ("theta", 3), ("y", 3, 3)
        counts.append([calls_of(trace, address) for address in addresses])
    for few, many in zip(*counts, strict=True):
        assert many <= GROWTH * few
        assert few < 700


@pytest.mark.usefixtures("unwatched")
def test_an_edit_costs_the_same_for_many_members():
    counts = []
    for n in (200, 800):
        trace = crossed.simulate(([[(g + k) % 20 for k in range(g % 9)] for g in range(n)], 20), rng=1)
        counts.append([calls_of(trace, address) for address in (("gamma", 3), ("alpha", 5), ("y", 5, 2))])
    for few, many in zip(*counts, strict=True):
        assert many <= GROWTH * few
        assert few < 700


@pytest.mark.usefixtures("unwatched")
def test_another_person_costs_the_same_for_many():
    counts = []
    for n in (200, 800):
        trace = responses.simulate((n, 10), rng=1)
        for address in (("b", 3), ("theta", 3)):
            trace = trace.update({address: 0.1}).trace
        counts.append([calls(lambda k=k: trace.update({}, args=(n + k, 10), rng=1)) for k in (1, -1)])
    for few, many in zip(*counts, strict=True):
        assert many <= GROWTH * few
