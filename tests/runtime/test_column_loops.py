"""Loops kept as columns, against the same programs with frames and on the reference runtime."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    categorical,
    gamma,
    gen,
    mixture_of_normals,
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.errors import (
    AddressConflictError,
    DuplicateAddressError,
    GenDSLError,
    ParameterError,
    PartialObservationWarning,
)
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import kept_as

pytestmark = pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")

N = 60
XS = np.linspace(-1.0, 2.0, N)
WEIGHTS = [0.5, 0.3, 0.2]


@gen
def shared(n):
    mu = ~normal(0, 10)
    sd = ~gamma(2, 1)
    for i in range(n):
        ("x", i) @ ~normal(mu, sd)


@gen
def line(n, xs):
    slope = ~normal(0, 1)
    for i, x in enumerate(xs[:n]):
        mean = 1 + slope * x**2 / 2 - i / 100
        ("y", i) @ ~normal(mean + math.exp(-abs(x)), 0.5)


@gen
def clusters(n):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~categorical(WEIGHTS)
        ("x", i) @ ~normal(mu[z], 1)
    return mu


@gen
def shifted(n):
    k = ~uniform_discrete(1, 3)
    mu = [("mu", j) @ ~normal(0, 10) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 5)
        ("x", i) @ ~normal(mu[z % k], 1)


@gen
def chained(n):
    scale = ~uniform(0.1, 3)
    level = [("level", i) @ ~normal(0, scale) for i in range(n)]
    on = []
    for i in range(n):
        flip = ("on", i) @ ~bernoulli(0.3)
        on.append(flip)
    total = []
    for i in range(n):
        count = ("count", i) @ ~poisson(math.exp(level[i] / 4) + on[i])
        total.append(count * scale)
    return total, count


@gen
def figure(n):
    means = [("mean", j) @ ~normal(0, 10) for j in range(3)]
    for i in range(n):
        ("x", i) @ ~mixture_of_normals(WEIGHTS, means, [1.0, 2.0, 3.0])


@gen
def inner(m, at):
    for i in range(m):
        ("v", i) @ ~normal(at, 1)


@gen
def nested(n):
    base = ~normal(0, 1)
    for g in range(3):
        for i in range(n):
            ("w", g, i) @ ~normal(base + g, 1)
    "sub" @ ~inner(n, base)


PROGRAMS = {
    "shared": (shared, lambda n: (n,), ["mu", "sd"], ["x"]),
    "line": (line, lambda n: (n, XS), ["slope"], ["y"]),
    "clusters": (clusters, lambda n: (n,), [("mu", 0), ("mu", 2)], ["x", "z"]),
    "shifted": (shifted, lambda n: (n,), [("mu", 1), "k"], ["x", "z"]),
    "chained": (chained, lambda n: (n,), ["scale", ("level", 3)], ["level", "on", "count"]),
    "figure": (figure, lambda n: (n,), [("mean", 1)], ["x"]),
    "nested": (nested, lambda n: (n,), ["base"], []),
}


@gen
def paired(xs, sds):
    level = ~normal(0, 1)
    for i, (x, sd) in enumerate(zip(xs, sds, strict=True)):
        ("y", i) @ ~normal(level * x, sd)


def test_what_is_of_one_length_is_kept_as_columns():
    trace = paired.simulate((XS[:N], [1.0] * N), rng=1)
    assert len(stores(trace)) == 1
    lengths = "zip[(][)] argument 2 is shorter than argument 1"
    with pytest.raises(ValueError, match=lengths):
        trace.update(args=(XS[:N], [1.0] * (N - 1)))
    with pytest.raises(ValueError, match=lengths):
        paired.simulate((XS[:N], [1.0] * (N - 1)))


def stores(trace):
    """The columns of the loops at the top of a program's body."""
    called = trace._called
    states = [called.frame[b.state][0] for b in called.linked.body.blocks if isinstance(b, ColumnLoopBlock)]
    return [state.frames for state in states if type(state.frames) is ColumnFrames]


def same(trace, other):
    assert trace.choices == other.choices or trace.choices.allclose(other.choices, rtol=1e-12)
    assert list(trace.choices) == list(other.choices)
    assert [type(v) for v in trace.choices.values()] == [type(v) for v in other.choices.values()]
    assert trace.log_prob == pytest.approx(other.log_prob, rel=1e-9, abs=1e-9)
    assert trace.retval == other.retval
    for path, record in other.records.items():
        assert trace.records[path][0] == record[0]
        assert trace.records[path][2] == pytest.approx(record[2], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_is_scored_as_the_reference_scores_it(name):
    program, args, _, _ = PROGRAMS[name]
    columns = kept_as(program, columns_from=1)
    trace = columns.simulate(args(N), rng=1)
    assert stores(trace) or name == "nested"
    same(trace, program.reference.generate(args(N), trace.choices).trace)
    again = columns.generate(args(N), trace.choices).trace
    same(again, trace)
    assert columns.assess(args(N), trace.choices).log_prob == pytest.approx(trace.log_prob, rel=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", range(6))
def test_edits_agree_with_frames_and_the_reference(name, seed):
    program, args, parameters, plates = PROGRAMS[name]
    rng = random.Random(seed)
    columns, frames = kept_as(program, columns_from=1), kept_as(program, columns_from=10**9)
    n = N - 10
    start = columns.simulate(args(n), rng=seed).choices
    versions = [[p.generate(args(n), start).trace for p in (columns, frames, program.reference)]]
    before = [versions[0][0].choices]
    for _ in range(12):
        old = rng.randrange(len(versions))
        traces, kind = versions[old], rng.randrange(4)
        new_args = None
        if kind == 0:
            new_args = args(rng.randrange(max(1, n - 8), N))
        edit = {}
        for address in rng.sample(parameters, rng.randrange(len(parameters) + 1)):
            value = traces[0][address]
            edit[address] = 1 + value % 3 if address == "k" else abs(value) * 0.9 + 0.01
        if kind < 3 and plates:
            plate = rng.choice(plates)
            for i in rng.sample(range(5), rng.randrange(3)):
                value = traces[2][plate, i]
                new = (value + 1) % 3 if plate == "z" else value + 1
                edit[plate, i] = not value if plate == "on" else new
        fresh = None if new_args is None else new_args[0]
        if fresh is not None:  # what is new is given, so that nothing is drawn
            other = columns.simulate(new_args, rng=rng.randrange(99)).choices
            edit |= {path: value for path, value in other.items() if path not in traces[0].choices}
        results = [trace.update(edit, args=new_args, rng=1) for trace in traces]
        mine, *others = results
        for result in others:
            same(mine.trace, result.trace)
            assert mine.log_weight == pytest.approx(result.log_weight, rel=1e-9, abs=1e-9)
            assert mine.discard == result.discard
        versions.append([result.trace for result in results])
        before.append(mine.trace.choices)
        assert [trace[0].choices == choices for trace, choices in zip(versions, before, strict=True)]


@pytest.mark.parametrize("name", ["shared", "clusters", "chained"])
def test_regenerate_weighs_as_frames_do(name):
    program, args, parameters, plates = PROGRAMS[name]
    columns, frames = kept_as(program, columns_from=1), kept_as(program, columns_from=10**9)
    start = columns.simulate(args(N), rng=1).choices
    a, b = (p.generate(args(N), init=start).trace for p in (columns, frames))
    for seed, address in enumerate([*parameters, *((plate, 4) for plate in plates), *plates]):
        new_a = a.regenerate(select(address), rng=seed)
        new_b = b.regenerate(select(address), rng=seed)
        assert new_a.log_weight == pytest.approx(new_b.log_weight, rel=1e-9, abs=1e-9)
        same(new_a.trace, new_b.trace)


@pytest.mark.slow
def test_draws_have_the_moments_of_the_model():
    draws = 400
    trace = [kept_as(shared, columns_from=1).simulate((N,), rng=seed) for seed in range(draws)]
    z = np.array([[(t["x", i] - t["mu"]) / t["sd"] for i in range(N)] for t in trace])
    assert abs(z.mean()) * math.sqrt(z.size) < 4
    assert abs((z**2).mean() - 1) * math.sqrt(z.size / 2) < 4
    assert abs(np.mean(z[:, 1:] * z[:, :-1])) * math.sqrt(draws * (N - 1)) < 4


# --- given arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [XS, XS.tolist(), tuple(XS.tolist()), list(range(N)), np.arange(N)])
def test_arrays_are_observed_as_their_entries_are(given):
    columns = kept_as(shared, columns_from=1)
    made = columns.generate((N,), {"x": given}, rng=1)
    init = {name: made.trace[name] for name in ("mu", "sd")}
    other = shared.reference.generate((N,), {"x": given}, init=init)
    same(made.trace, other.trace)
    assert stores(made.trace)
    observed = made.trace.observed_paths
    assert observed == other.trace.observed_paths and len(observed) == N
    assert ("x", 3) in observed and ("x", 3.0) in observed and ("x", N) not in observed
    assert ("x", "3") not in observed and ("mu",) not in observed
    assert observed <= set(made.trace.records) and set(observed) == {("x", i) for i in range(N)}


def test_an_array_that_is_given_stays_the_callers():
    data = XS.copy()
    trace = kept_as(shared, columns_from=1).generate((N,), {"x": data}, rng=1).trace
    data[0] = 7.0
    assert trace["x", 0] == XS[0]


def test_an_array_that_is_too_long_or_too_short():
    columns = kept_as(shared, columns_from=1)
    with pytest.raises(GenDSLError) as mine:
        columns.generate((N,), {"x": np.zeros(N + 2)}, rng=1)
    with pytest.raises(GenDSLError) as reference:
        shared.reference.generate((N,), {"x": np.zeros(N + 2)}, rng=1)
    assert mine.value.problem == reference.value.problem and mine.value.address == reference.value.address
    with pytest.warns(PartialObservationWarning, match="ends before the choices do"):
        trace = columns.generate((N,), {"x": np.zeros(N - 2)}, rng=1).trace
    assert len(trace.observed_paths) == N - 2


def test_what_is_not_observed_any_more_leaves_the_observed():
    trace = kept_as(shared, columns_from=1).generate((N,), {"x": XS}, rng=1).trace
    shorter = trace.update(args=(N - 1,)).trace
    assert len(shorter.observed_paths) == N - 1 and ("x", N - 1) not in shorter.observed_paths
    longer = shorter.update({("x", N - 1): 0.0}, args=(N,)).trace
    assert ("x", N - 1) not in longer.observed_paths and len(trace.observed_paths) == N


# --- errors and zero densities ---------------------------------------------------------------------


@gen
def bounded(n, high):
    for i in range(n):
        ("u", i) @ ~uniform(0, high - i / 100)


@gen
def spread(sds):
    scale = ~uniform(-1, 1)
    for i, sd in enumerate(sds):
        ("x", i) @ ~normal(0, sd * scale)


@gen
def clashing(n):
    ("x", 3) @ ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(0, 1)


@gen
def above(n):
    x = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(x, 1)


def test_scores_of_minus_infinity_come_and_go():
    columns = kept_as(bounded, columns_from=1)
    trace = columns.generate((N, 2.0), {"u": np.full(N, 1.0)}).trace
    outside = trace.update(args=(N, 1.2)).trace
    assert outside.log_prob == -math.inf
    assert outside.update(args=(N, 2.0)).trace.log_prob == pytest.approx(trace.log_prob)
    one = trace.update({("u", 3): 5.0}).trace
    assert one.log_prob == -math.inf
    assert one.update({("u", 3): 1.0}).trace.log_prob == pytest.approx(trace.log_prob)


@pytest.mark.parametrize("build", [
    lambda f: f.simulate((np.where(np.arange(N) == 17, 0.0, 1.0),), rng=1),
    lambda f: f.generate((np.ones(N),), {"scale": 0.5, "x": XS}).trace.update({"scale": -0.5}),
    lambda f: f.generate((np.ones(N),), {"scale": 0.5, "x": ["a"] * N}),
])  # fmt: skip
def test_errors_are_those_of_the_iteration(build):
    messages = []
    for program in (kept_as(spread, columns_from=1), kept_as(spread, columns_from=10**9)):
        with pytest.raises(GenDSLError) as caught:
            build(program)
        messages.append((type(caught.value), str(caught.value)))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    ("program", "error"), [(clashing, DuplicateAddressError), (above, AddressConflictError)]
)
def test_addresses_that_meet_those_of_columns(program, error):
    with pytest.raises(error) as mine:
        kept_as(program, columns_from=1).simulate((N,), rng=1)
    with pytest.raises(error) as reference:
        program.reference.simulate((N,), rng=1)
    assert mine.value.address == reference.value.address


@gen
def indexed(n, table):
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(-2, 1)
        ("x", i) @ ~normal(table[z], 1)


@pytest.mark.parametrize("table", [[0.0, 1.0, 5.0], [0, 1, 5], {-2: 0, -1: 1, 0: 2, 1: 3}, np.arange(3)])
def test_what_array_code_does_not_cover_runs_one_by_one(table):
    columns = kept_as(indexed, columns_from=1)
    trace = columns.simulate((N, table), rng=1)
    same(trace, indexed.reference.generate((N, table), trace.choices).trace)


@gen
def renamed(n):
    k = ~uniform_discrete(0, 3)
    for i in range(n):
        ("x", k, i) @ ~normal(0, 1)


def test_a_namespace_that_changes_makes_other_choices():
    columns = kept_as(renamed, columns_from=1)
    trace = columns.simulate((N,), rng=1)
    k = (trace["k"] + 1) % 4
    given = {"k": k} | {("x", k, i): 0.5 for i in range(N)}
    mine = trace.update(given)
    reference = renamed.reference.generate((N,), init=trace.choices).trace.update(given)
    same(mine.trace, reference.trace)
    assert mine.discard == reference.discard
    assert mine.log_weight == pytest.approx(reference.log_weight)
    assert ("x", k, 0) in trace.update({"k": k}, rng=1).trace


def test_large_integers_are_not_rounded():
    @gen
    def program(n, offset):
        for i in range(n):
            ("x", i) @ ~normal((i + offset) - offset, 1)

    trace = kept_as(program, columns_from=1).simulate((N, 2**60), rng=1)
    assert trace.log_prob == pytest.approx(program.reference.assess((N, 2**60), trace.choices).log_prob)


def test_loops_that_start_one_by_one_are_columns_all_the_same():
    @gen
    def model(n):
        sd = ~gamma(2, 1)
        z = {}
        for t in range(n):
            z[t] = ~categorical([0.5, 0.5])
        for t in range(n):
            ("y", t) @ ~normal(z[t], sd)

    n = 100
    given = {("y", t): 0.1 * t for t in range(n)} | {("z", t): t % 2 for t in range(n)}
    trace = model.generate((n,), given, rng=1).trace
    assert len(stores(trace)) == 2
    for sd in (0.5, 2.0):
        trace = trace.update({"sd": sd, ("z", 7): 0}).trace
        assert trace.log_prob == pytest.approx(model.reference.assess((n,), trace.choices).log_prob)
    odd = model.generate((n,), given | {("z", 3): 2**70}, rng=1).trace
    assert odd[("z", 3)] == 2**70
    assert odd.log_prob == -np.inf


def test_the_first_choices_are_listed_without_the_others(monkeypatch):
    listed = []

    class Watched(np.ndarray):
        def tolist(self):
            listed.append(len(self))
            return super().tolist()

    trace = shared.simulate((5000,), rng=1)
    (store,) = stores(trace)
    array = store.columns[0].array()
    monkeypatch.setattr(type(store.columns[0]), "array", lambda self: array.view(Watched))
    assert next(value for path, value in trace._values() if path == ("x", 3)) == array[3]
    assert sum(listed) <= 1024
    assert [value for _, value in trace._values()][2:] == array.tolist()


def test_a_negative_choice_names_an_entry_from_the_end_and_stays_what_it_is():
    @gen
    def model(n):
        mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
        sd = [("sd", j) @ ~gamma(5, 0.2) for j in range(5)]
        for i in range(n):
            z = ("z", i) @ ~uniform_discrete(-2, 2)
            ("x", i) @ ~normal(mu[z] + z, sd[z])

    n = 200
    first = trace = model.simulate((n,), rng=1)
    assert len(stores(trace)) == 1
    changes = [{(name, j): 0.3 + j} for name in ("mu", "sd") for j in range(3)]
    changes += [{("mu", 0): 0.2, ("mu", 1): 0.1}, {("mu", 2): 0.5, ("z", 3): -1}]
    for change in changes:
        edited = [first.update(change).trace, trace.update(change).trace, trace.edit(change).trace]
        for trace in edited:
            expected = model.reference.assess((n,), trace.choices)
            assert trace.log_prob == pytest.approx(expected.log_prob, rel=1e-12)


@gen
def masked(n):
    means = np.zeros(2)
    for j in range(2):
        means[j] = ~normal(j, 1)
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.5)
        ("y", i) @ ~normal(means[z], 1)


@pytest.mark.parametrize("n", [3, 10, 60])
def test_a_truth_value_is_a_mask_of_an_array_that_a_loop_has_filled_too(n):
    for model in (masked, masked.reference):
        with pytest.raises(ParameterError, match="mean must be one number, got array"):
            model.simulate((n,), rng=1)
