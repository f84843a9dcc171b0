"""Chains kept as columns, against the same programs with frames and on the reference runtime."""

from __future__ import annotations

import cProfile
import math
import pstats
import tracemalloc

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    dirichlet,
    gen,
    mixture_of_normals,
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.inference import single_site
from gendsl.runtime import column_loops
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_updates import ColumnUpdate
from gendsl.runtime.lowering.ir import Loop
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import SEEDS, Programs, kept_as

pytestmark = pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")

N = 60
PROGRAMS = Programs()
written = PROGRAMS.written


@written(4, 3, 7)
@gen
def walk(n):
    sd = ~uniform(0.5, 2)
    noise = ~uniform(0.5, 2)
    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(x, sd)
        ("y", t) @ ~normal(x, noise)


@written(4, 3, 7)
@gen
def under_another_name(n):
    start = ~normal(0, 1)
    before = start
    for t in range(n):
        x = ("x", t) @ ~normal(before, 1)
        ("y", t) @ ~normal(x - before, 1)
        now = x
        before = now


@written(4, 3, 7)
@gen
def two_back(n):
    a, b = 0.0, 0.5
    for t in range(n):
        x = ("x", t) @ ~normal(0.5 * a + 0.3 * b, 1)
        a, b = x, a


@written(4, 3, 7)
@gen
def from_integers(n):
    a = b = 0
    for t in range(n):
        x = ("x", t) @ ~normal(0.5 * a + 0.3 * b, 1)
        b = a
        a = x


@written((4, 1.0), (3, 1.0), (7, -0.5))
@gen
def added_up(n, weight):
    scale = ~uniform(0.5, 2)
    total = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(0, 1)
        total += weight * x
        ("y", t) @ ~normal(total, scale)
    return total


@written(([1.0, 0.5, 2.0, -1.0],), ([1.0, 0.5, 2.0],), ([1.0, 0.0, 2.0, -1.0, 3.0, 4.0],))
@gen
def derived(xs):
    slope = ~normal(0, 1)
    level = 1.0
    for t, x in enumerate(xs):
        e = ("e", t) @ ~normal(level, 1)
        level = slope * e + x
        ("y", t) @ ~normal(level, 1)


@written(4, 3, 7)
@gen
def kept_under_conditions(n):
    bound = ~normal(0, 1)
    top = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(0, 1)
        if x > bound:
            top = x
        ("y", t) @ ~normal(top, 1)


@written(4, 3, 7)
@gen
def states(n):
    means = [("mean", j) @ ~normal(0, 2) for j in range(3)]
    z = 1
    for t in range(n):
        z = ("z", t) @ ~uniform_discrete(max(z - 1, 0), min(z + 1, 2))
        ("y", t) @ ~normal(means[z], 1)


@written(4, 3, 7)
@gen
def looked_up_before(n):
    drift = [("drift", j) @ ~normal(0, 2) for j in range(3)]
    z, x = 0, 0
    for t in range(n):
        x = ("x", t) @ ~normal(drift[z] + x / 2, 1)
        z = ("z", t) @ ~categorical([0.2, 0.3, 0.5])


@written((4, [[0.8, 0.2], [0.3, 0.7]]), (3, [[0.8, 0.2], [0.4, 0.6]]), (7, [[1.0, 0.0], [0.4, 0.6]]))
@gen
def hidden(n, rows):
    stay = ~uniform(0.2, 0.8)
    moves = [[stay, 1 - stay], rows[1]]
    z = 0
    for t in range(n):
        z = ("z", t) @ ~categorical(moves[z])
        ("y", t) @ ~normal(z, 1)


@written(4, 3, 7)
@gen
def hidden_with_random_rows(n):
    moves = [("row", j) @ ~dirichlet([1.0, 2.0, 1.0]) for j in range(3)]
    means = np.array([0.0, 1.0, 2.5])
    z = 2
    for t in range(n):
        z = ("z", t) @ ~categorical(moves[z])
        ("y", t) @ ~mixture_of_normals(moves[z], means, [1.0, 2.0, 3.0])


@written(4, 3, 7)
@gen
def means_of_the_step_before(n):
    means = [("mean", j) @ ~normal(0, 2) for j in range(3)]
    z = 0
    for t in range(n):
        ("y", t) @ ~normal(means[z], 1)
        z = ("z", t) @ ~categorical([0.2, 0.3, 0.5])


@written(4, 3, 7)
@gen
def looked_up_and_carried(n):
    means = [("mean", j) @ ~normal(0, 2) for j in range(3)]
    level = 0.0
    for t in range(n):
        z = ("z", t) @ ~categorical([0.2, 0.3, 0.5])
        level = level / 2 + means[z]
        ("y", t) @ ~normal(level, 1)


@written(4, 3, 7)
@gen
def looked_up_by_what_is_derived(n):
    means = [("mean", j) @ ~normal(0, 2) for j in range(3)]
    k = 0
    for t in range(n):
        ("y", t) @ ~normal(means[k], 1)
        z = ("z", t) @ ~categorical([0.2, 0.3, 0.5])
        k = (z + 1) % 3


@written(4, 3, 7)
@gen
def looked_up_beside(n):
    means = [("mean", j) @ ~normal(0, 2) for j in range(3)]
    x = 0.0
    for t in range(n):
        z = ("z", t) @ ~categorical([0.2, 0.3, 0.5])
        ("y", t) @ ~normal(means[z] - x, 1)
        x = ("x", t) @ ~normal(x, 1)


@written(4, 3, 7)
@gen
def of_several_kinds(n):
    rate = ~uniform(0.5, 2)
    level, count, on = 0.0, 0, False
    for t in range(n):
        level = ("level", t) @ ~normal(level + count if on else level, 1)
        on = ("on", t) @ ~bernoulli(0.7 if on else 0.3)
        count = ("count", t) @ ~poisson(rate + 0.5 * count)
    return level, count, on


@written(4, 3, 7)
@gen
def filling(n):
    levels, seen, last = [], [0.0] * n, 0.0
    for t in range(n):
        last = ("x", t) @ ~normal(last, 1)
        levels.append(last)
        seen[t] = last * 2
    for t in range(n):
        ("y", t) @ ~normal(levels[t] + seen[t], 1)
    return levels, last


@written(4, 3, 7)
@gen
def in_a_plate(n):
    sd = ~uniform(0.5, 2)
    for g in range(3):
        at = ("at", g) @ ~normal(0, 1)
        x = at
        for t in range(n):
            x = ("x", g, t) @ ~normal(x, sd)


@written(4, 3, 7)
@gen
def of_another_type_later(n):
    total = 0
    for t in range(n):
        x = ("x", t) @ ~normal(total, 1)
        total = t if t < 3 else total + x


@written(4, 3, 7)
@gen
def beyond_integers(n):
    count = 2**61
    for t in range(n):
        x = ("x", t) @ ~bernoulli(0.5)
        count = count * 2 if x else count
        ("y", t) @ ~normal(0 if count < 2**63 else 1, 1)


@written(4, 3, 7)
@gen
def tuples(n):
    pair = 0.0, 1.0
    for t in range(n):
        x = ("x", t) @ ~normal(pair[0], pair[1])
        pair = x, 1.0 + abs(x)


@written(4, 3, 7)
@gen
def choices_in_arms(n):
    x = 0.0
    for t in range(n):
        if t == 0:
            x = ("x", t) @ ~normal(0, 10)
        else:
            x = ("x", t) @ ~normal(x, 1)


@written(4, 3, 7)
@gen
def without_a_first(n):
    for t in range(n):
        m = x if t > 0 else 0.0  # noqa: F821 (of the iteration before)
        x = ("x", t) @ ~normal(m, 1)


@written(4, 3, 7)
@gen
def stepping(n):
    x = 0.0
    for t in range(0, 2 * n, 2):
        x = ("x", "at", t) @ ~normal(x + t, 1)
        ("y", t) @ ~normal(math.exp(-abs(x)), 1)


@gen
def started(n, start):
    x = start
    for t in range(n):
        x = ("x", t) @ ~normal(x / 2, 1)
        ("y", t) @ ~normal(x, 1)


FRAMES = {"tuples", "choices_in_arms", "without_a_first"}


@pytest.mark.parametrize("columns_from", [2, 1000])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, columns_from, in_columns, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(column_loops, "MANY", 1)
    PROGRAMS.agree(name, seed, columns_from=columns_from)


def chain_of(trace):
    """The chain of a program's own body, and how its iterations are kept."""
    block = next(block for block in trace._called.linked.body.blocks if getattr(block, "carried", ()))
    return block, trace._called.frame[block.state][0].frames


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "in_a_plate"])
def test_which_have_columns(name):
    model, _ = PROGRAMS[name]
    loops = [node for node in model.compiled.program.body if isinstance(node, Loop) and node.carried]
    assert (loops[0].columns is None) == (name in FRAMES)


def test_they_are_columns_only_while_all_that_is_carried_is_of_one_kind():
    for name, kept in (("walk", 0), ("under_another_name", 0), ("two_back", 1), ("added_up", 1)):
        trace = PROGRAMS[name][0].simulate((N, 1.0) if name == "added_up" else (N,), rng=1)
        chain, store = chain_of(trace)
        assert type(store) is ColumnFrames
        assert len(chain.kept) == kept
        assert len(store.columns) == len(chain.choices) + kept
    for model in (of_another_type_later, beyond_integers, from_integers):
        assert type(chain_of(model.simulate((N,), rng=1))[1]) is PersistentVector


@gen
def turning(n):
    a = 0
    for t in range(n):
        x = ("x", t) @ ~normal(a, 1)
        a = 1 if x < 8 else x


@gen
def starting_high(n):
    a = 0.5
    for t in range(n):
        x = ("x", t) @ ~normal(0, 1)
        ("y", t) @ ~normal(a, 1)
        a = 1 if x > 8 else x


def test_they_become_frames_when_a_value_is_of_another_type():
    trace = turning.simulate((N,), rng=1)
    new, weight, _ = trace.update({("x", 5): 9.0, ("x", 7): 3.0})
    assert type(chain_of(trace)[1]) is ColumnFrames
    assert type(chain_of(new)[1]) is PersistentVector
    other, expected, _ = turning.reference.generate((N,), trace.choices).trace.update(
        {("x", 5): 9.0, ("x", 7): 3.0}
    )
    assert weight == pytest.approx(expected, abs=1e-9)
    assert new.log_prob == pytest.approx(other.log_prob, abs=1e-9)
    assert trace.log_prob == pytest.approx(turning.assess((N,), trace.choices).log_prob, abs=1e-9)


def test_they_become_frames_when_some_of_many_values_are_of_another_type():
    trace = starting_high.simulate((N,), rng=1)
    values = {("x", t): 9.0 if t % 2 else 1.5 for t in range(12)}
    new, weight, _ = trace.update(values)
    assert type(chain_of(trace)[1]) is ColumnFrames
    assert type(chain_of(new)[1]) is PersistentVector
    expected = starting_high.assess((N,), new.choices).log_prob
    assert weight == pytest.approx(expected - trace.log_prob, abs=1e-9)


@gen
def largest(xs):
    most = 0
    for i in range(len(xs)):
        most = max(most, xs[i])
        ("y", i) @ ~normal(most, 1)


@pytest.mark.parametrize("n", [N, N - 10, N + 10])
def test_they_become_frames_when_there_are_other_iterations_too(n):
    """The first number of another type comes with fewer, or with more, to go through."""
    numbers = [i % 7 for i in range(n)]
    trace = largest.simulate(([i % 7 for i in range(N)],), rng=1)
    assert type(chain_of(trace)[1]) is ColumnFrames
    new, _, discard = trace.update(args=([*numbers[:5], 7.5, *numbers[6:]],), rng=2)
    assert type(chain_of(new)[1]) is PersistentVector
    assert len(discard) == max(N - n, 0)
    for t in (new, new.update({("y", 3): 0.25}).trace, trace):
        assert t.log_prob == pytest.approx(largest.reference.assess(t.args, t.choices).log_prob, abs=1e-9)


@pytest.mark.parametrize(
    "model", [looked_up_by_what_is_derived, means_of_the_step_before], ids=lambda model: model.name
)
def test_which_iterations_look_an_entry_up_is_known_after_a_move(model, unwatched):
    trace = model.simulate((N,), rng=1)
    rng = np.random.default_rng(2)
    for t in (5, 6, N - 1, 5):
        trace = trace.update({("mean", t % 3): rng.normal()}).trace
        new = trace.resample(select(("z", t)), rng).trace
        for j in range(3):
            moved, weight, _ = new.update({("mean", j): rng.normal()})
            expected = model.assess((N,), moved.choices).log_prob
            assert moved.log_prob == pytest.approx(expected, abs=1e-9)
            assert weight == pytest.approx(expected - new.log_prob, abs=1e-9)
        trace = new


def test_what_they_go_through_may_change_altogether():
    trace = derived.simulate((np.linspace(-1, 1, 80).tolist(),), rng=1)
    new, weight, _ = trace.update(args=(np.linspace(2, 1, 80).tolist(),))
    assert type(chain_of(new)[1]) is ColumnFrames
    expected = derived.assess(new.args, new.choices).log_prob
    assert new.log_prob == pytest.approx(expected, abs=1e-9)
    assert weight == pytest.approx(expected - trace.log_prob, abs=1e-9)


def test_a_change_stops_where_what_is_carried_is_as_it_was(monkeypatch):
    visited = []
    made = ColumnUpdate._iteration
    monkeypatch.setattr(ColumnUpdate, "_iteration", lambda s, t, p: visited.append(t) or made(s, t, p))
    trace = walk.simulate((N,), rng=1)
    trace.update({("x", 20): 0.5, "sd": trace["sd"]})  # with two heads, it is no edit of one choice
    assert visited == [20, 21]
    visited.clear()
    added_up.simulate((N, 1.0), rng=1).update({("x", N - 3): 0.5, ("y", 2): 1.0})
    assert visited == [2, N - 3, N - 2, N - 1]


@pytest.mark.parametrize("model", [walk, under_another_name, states, derived], ids=lambda model: model.name)
@pytest.mark.parametrize("columns_from", [2, 1000])
def test_one_choice_at_a_time(model, columns_from, unwatched):
    args = (np.linspace(-1, 1, N).tolist(),) if model is derived else (N,)
    program = kept_as(model, columns_from=columns_from)
    trace = program.simulate(args, rng=1)
    twin = model.reference.generate(args, trace.choices).trace
    rng = np.random.default_rng(2)
    for head in ("x", "z", "y", "e"):
        if (head, 0) not in trace:
            continue
        for t in (0, 1, 30, N - 2, N - 1):
            path = head, t
            drawn = trace.resample(select(path), rng)
            value = drawn.trace[path]
            other, weight, _ = twin.update({path: value})
            own = other.records[path][2] - twin.records[path][2]
            assert drawn.log_weight == pytest.approx(weight - own, abs=1e-9)
            density = trace.local_density(path)
            assert density is not None
            assert density(value) == pytest.approx(weight, abs=1e-9)
            edited, again, _ = trace.update({path: value})
            assert again == pytest.approx(weight, abs=1e-9)
            for made in (drawn.trace, edited):
                assert made.log_prob == pytest.approx(other.log_prob, abs=1e-9)
                assert made.choices == other.choices
                assert made.retval == other.retval
            trace, twin = drawn.trace, other
    assert type(chain_of(trace)[1]) is (ColumnFrames if columns_from == 2 else PersistentVector)


@pytest.mark.parametrize(
    ("model", "short"), [(states, True), (looked_up_beside, True), (looked_up_and_carried, False)]
)
def test_an_entry_that_iterations_look_up(model, short, unwatched):
    trace = model.simulate((N,), rng=1)
    density = trace.local_density(("mean", 2))
    assert (density is not None) == short
    rng = np.random.default_rng(2)
    for j in (2, 0, 2):
        path = "mean", j
        new, weight, _ = trace.update({path: rng.normal()})
        expected = model.assess((N,), new.choices).log_prob
        assert new.log_prob == pytest.approx(expected, abs=1e-9)
        assert weight == pytest.approx(expected - trace.log_prob, abs=1e-9)
        if short:
            assert trace.local_density(path)(new[path]) == pytest.approx(weight, abs=1e-9)
        trace = new


def test_neighbours_are_edited_together(unwatched):
    trace = walk.simulate((N,), rng=1)
    for values in ({("x", 5): 0.5, ("x", 6): -1.0}, {("x", t): 0.1 * t for t in (N - 1, N - 2, 3, 4)}):
        new, weight, _ = trace.update(values)
        expected = walk.assess((N,), new.choices).log_prob
        assert new.log_prob == pytest.approx(expected, abs=1e-9)
        assert weight == pytest.approx(expected - trace.log_prob, abs=1e-9)


def test_what_goes_on_and_on_is_no_edit_of_one_choice():
    for model in (kept_under_conditions, two_back):
        assert model.simulate((N,), rng=1).local_density(("x", 5)) is None
    assert kept_under_conditions.simulate((N,), rng=1).local_density(("y", 5)) is not None


def test_all_iterations_are_scored_at_once(monkeypatch):
    given = {"x": np.cumsum(np.linspace(-1, 1, N)), "y": np.linspace(-2, 2, N)}
    ran = []
    run = ColumnLoopBlock._extend
    monkeypatch.setattr(ColumnLoopBlock, "_extend", lambda *a: ran.append(1) or run(*a))
    trace = walk.generate((N,), given, rng=1).trace
    assert not ran
    monkeypatch.setattr(ColumnUpdate, "_iteration", None)
    for values in ({"sd": 1.25}, {"noise": 0.75}, {"sd": 0.5, "noise": 1.5}):
        new, weight, _ = trace.update(values)
        expected = walk.assess((N,), new.choices).log_prob
        assert new.log_prob == pytest.approx(expected, abs=1e-9)
        assert weight == pytest.approx(new.log_prob - trace.log_prob, abs=1e-9)


@pytest.mark.parametrize(
    ("start", "at_once"),
    [(0.5, True), (2, True), (np.float64(0.5), True), (True, False), (2**60, False), (np.int64(1), False)],
    ids=repr,
)
def test_what_the_first_iteration_is_handed(start, at_once, monkeypatch):
    values = {"x": np.linspace(-1, 1, N), "y": np.linspace(-2, 2, N)}
    with monkeypatch.context() as patched:
        ran = []
        run = ColumnLoopBlock._extend
        patched.setattr(ColumnLoopBlock, "_extend", lambda *a: ran.append(1) or run(*a))
        trace = started.generate((N, start), values, rng=1).trace
    assert bool(ran) != at_once
    assert type(chain_of(trace)[1]) is ColumnFrames
    twin = started.reference.generate((N, start), values, rng=1).trace
    assert trace.log_prob == pytest.approx(twin.log_prob, abs=1e-9)
    new, weight, _ = trace.update(args=(N, 0.25))
    other, expected, _ = twin.update(args=(N, 0.25))
    assert weight == pytest.approx(expected, abs=1e-9)
    assert new.log_prob == pytest.approx(other.log_prob, abs=1e-9)


def test_many_choices_are_edited_at_once(monkeypatch):
    n = 4 * N
    trace = walk.simulate((n,), rng=1)
    monkeypatch.setattr(ColumnUpdate, "_iteration", None)
    values = {("x", t): 0.1 * t for t in range(n) if t % 3}
    new, weight, discard = trace.update(values)
    assert new.log_prob == pytest.approx(walk.assess((n,), new.choices).log_prob, abs=1e-9)
    assert weight == pytest.approx(new.log_prob - trace.log_prob, abs=1e-9)
    assert discard == {path: trace[path] for path in values}
    back, undone, _ = new.update(discard)
    assert undone == pytest.approx(-weight, abs=1e-9)
    assert back.choices == trace.choices


def test_a_step_more_costs_no_more_where_there_are_many(unwatched):
    made = []
    for n in (100, 5000):
        trace = walk.simulate((n,), rng=1)
        for step in (1, 2, 1):
            trace = trace.update(args=(n + step,), rng=2).trace
        profile = cProfile.Profile()
        profile.enable()
        trace.update(args=(n + 2,), rng=3)
        profile.disable()
        made.append(pstats.Stats(profile).total_calls)
        assert trace.log_prob == pytest.approx(walk.assess((n + 1,), trace.choices).log_prob, abs=1e-9)
    assert made[1] < made[0] + 60


def test_bytes_per_choice(unwatched):
    n = 5000
    walk.simulate((n,), rng=1)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        trace = walk.simulate((n,), rng=1).update({("x", 5): 0.25}).trace
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert ("x", n - 1) in trace
    assert kept < 40 * 2 * n


def test_memory_is_flat(unwatched):
    trace = walk.simulate((N,), rng=1)
    kernel, rng = single_site(select("x")), np.random.default_rng(1)
    for _ in range(500):
        trace, _ = kernel(trace, rng)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(2000):
            trace, _ = kernel(trace, rng)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 50_000
