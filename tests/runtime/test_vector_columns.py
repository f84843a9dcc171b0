"""Plates and chains of choices that are vectors, against frames and the reference runtime."""

from __future__ import annotations

import cProfile
import math
import pstats
import tracemalloc

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    categorical,
    dirichlet,
    exponential,
    gamma,
    gen,
    geometric,
    half_normal,
    iid,
    inv_wishart,
    laplace,
    mixture,
    multinomial,
    mvnormal,
    normal,
    poisson,
    product,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.distributions.column_laws import sample_column, score_column, total_column
from gendsl.distributions.row_columns import ROW_FAMILIES
from gendsl.errors import ParameterError
from gendsl.runtime import column_loops
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.lowering import vector_rows
from gendsl.runtime.lowering.ir import Loop
from gendsl.runtime.lowering.tables import NotColumnsError, Table
from gendsl.runtime.persistent import PersistentVector
from gendsl.runtime.row_columns import RowColumn
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import SEEDS, Programs, kept_as

pytestmark = pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")

PROGRAMS = Programs()
written = PROGRAMS.written
S = np.array([[2.0, 0.5], [0.5, 1.0]])
X = np.array([[0.5, -1.0, 2.0], [1.5, 0.0, -0.5], [0.1, 0.2, 0.3], [1.0, 1.0, 1.0], [0.0, 2.0, 0.5]] * 2)


@written(4, 3, 7)
@gen
def shared(n):
    mean = ~mvnormal(np.zeros(2), np.eye(2))
    for i in range(n):
        ("x", i) @ ~mvnormal(mean, S)


@written((4, 2), (3, 2), (7, 3), (6, 1))
@gen
def clusters(n, k):
    mu = [("mu", j) @ ~mvnormal(np.zeros(2), 25 * np.eye(2)) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~mvnormal(mu[z], np.eye(2))


@written((4, 2), (3, 2), (7, 3), (6, 1))
@gen
def clusters_with_covariances(n, k):
    mu, cov = [], []
    for j in range(k):
        mu.append(("mu", j) @ ~mvnormal(np.zeros(2), 25 * np.eye(2)))
        cov.append(("cov", j) @ ~inv_wishart(5.0, np.eye(2)))
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        x = ("x", i) @ ~mvnormal(mu[z], cov[z])
        ("y", i) @ ~normal(x[0], 1)


@written((4, 1.0), (3, 1.0), (7, 2.5))
@gen
def data(n, scale):
    centre = ~normal(0, 1)
    for i in range(n):
        m = X[i]
        x = ("x", i) @ ~mvnormal(m - centre, scale * np.eye(3))
        ("y", i) @ ~normal(x @ np.array([1.0, -1.0, 0.5]), 1)
        ("w", i) @ ~normal(x[1] * x[2], 1)


@written(4, 3, 7)
@gen
def assigned_before(n):
    mu = [np.array([0.0, 1.0]), np.array([2.0, 1.0])]
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.4)
        m = mu[z]
        ("x", i) @ ~mvnormal(m, S)


@written(([[0.0, 1.0], [1.0, 0.5]],), ([[0.0, 1.0], [1.0, 0.5], [2.0, 2.0]],), ([[1.0, 0.5, 0.1]] * 5,))
@gen
def of_lists(rows):
    for i, row in enumerate(rows):
        ("x", i) @ ~mvnormal(row, np.eye(len(rows[0])))


@written(4, 3, 7)
@gen
def walk(n):
    x = np.zeros(2)
    for t in range(n):
        x = ("x", t) @ ~mvnormal(x, S)
        ("y", t) @ ~mvnormal(x, 0.5 * np.eye(2))


@written(4, 3, 7)
@gen
def walk_from_a_choice(n):
    start = ~mvnormal(np.ones(2), S)
    x = start
    for t in range(n):
        ("y", t) @ ~normal(x[1], 1)
        x = ("x", t) @ ~mvnormal(x, S)
    return x


@written(4, 3, 7)
@gen
def weights(n):
    base = ~dirichlet([2.0, 3.0, 1.0])
    rows = [("row", j) @ ~dirichlet(1.0 + 4.0 * base) for j in range(2)]
    trials = 4 if base[0] > 0.3 else 5
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.5)
        p = ("p", i) @ ~dirichlet(rows[z])
        ("counts", i) @ ~multinomial(trials, p)
        ("others", i) @ ~multinomial(trials, base)


@written((4, 2), (3, 3), (7, 2))
@gen
def of_other_lengths(n, d):
    for i in range(n):
        ("x", i) @ ~mvnormal(np.zeros(d if i < 3 else 2), np.eye(d if i < 3 else 2))
        ("y", i) @ ~mvnormal(np.zeros(d), np.eye(d))


@written(4, 3, 7)
@gen
def filled(n):
    xs, table = [], {}
    for i in range(n):
        x = ("x", i) @ ~mvnormal(np.zeros(2), S)
        xs.append(x)
        table[i] = x
    for i in range(n):
        ("y", i) @ ~mvnormal(xs[i], S)
        ("v", i) @ ~normal(table[i][0], 1)
    return sum(x.sum() for x in xs)


@written(4, 3, 7)
@gen
def in_a_plate(n):
    for g in range(3):
        at = ("at", g) @ ~mvnormal(np.zeros(2), S)
        for i in range(n):
            ("x", g, i) @ ~mvnormal(at, np.eye(2))


@written(4, 3, 7)
@gen
def not_always_valid(n):
    s = ~normal(1, 1)
    mean = ~mvnormal(np.zeros(2), np.eye(2))
    for i in range(n):
        ("x", i) @ ~mvnormal(mean, np.eye(2) if s < 1 else np.array([[s, 0.5], [0.5, s]]))


@written(4, 3, 7)
@gen
def of_no_numbers(n):
    mean = ~mvnormal(np.zeros(2), np.eye(2))
    for i in range(n):
        ("x", i) @ ~mvnormal(mean + np.zeros(2), [[2.0, 0.5], [0.5, 1.0]])
        ("y", i) @ ~mvnormal([1, 2], 2 * np.eye(2, dtype=int))


@written(4, 3, 7)
@gen
def repeated(n):
    m = ~normal(0, 1)
    p = ~beta(2, 2)
    mu = [("mu", j) @ ~normal(0, 2) for j in range(2)]
    for i in range(n):
        z = ("z", i) @ ~bernoulli(p)
        x = ("x", i) @ ~iid(normal(mu[z], 1.0), 3)
        ("y", i) @ ~iid(normal(x[1] + m, 1 + x[0] ** 2), n=2)
        ("k", i) @ ~iid(poisson(math.exp(m)), 2)
        ("b", i) @ ~iid(bernoulli(p), 4)
        ("c", i) @ ~iid(categorical(np.array([0.2, 0.5, 0.3])), 2)


@written((4, X), (3, X), (7, X))
@gen
def products(n, rows):
    m = ~normal(0, 1)
    mean = ~mvnormal(np.zeros(3), np.eye(3))
    mu = [("mu", j) @ ~mvnormal(np.zeros(3), np.eye(3)) for j in range(2)]
    for i in range(n):
        z = ("z", i) @ ~bernoulli(0.3)
        x = ("x", i) @ ~product(normal, mean, 1.5)
        ("y", i) @ ~product(normal, mu[z], [1.0, 2.0, 0.5])
        ("w", i) @ ~product(normal, rows[i] + x, 1 + rows[i] ** 2)
        ("v", i) @ ~product(normal(m, 1), gamma(2.0, 1 + x[0] ** 2))
        ("k", i) @ ~product([poisson(1.0 + i), bernoulli(0.5), uniform_discrete(z, 4)])
        ("u", i) @ ~product(uniform, np.zeros(2), 1.0 + m**2)


@written(4, 3, 7)
@gen
def mixtures(n):
    m = ~normal(0, 1)
    w = ~beta(2, 2)
    weights = ~dirichlet([1.0, 2.0, 1.0])
    for i in range(n):
        p = ("p", i) @ ~beta(2, 2)
        x = ("x", i) @ ~mixture([w, 1 - w], [normal(m, 1), normal(-m, 2)])
        ("y", i) @ ~mixture([p, 1 - p], [normal(x, 1), laplace(m, 1 + p)])
        ("z", i) @ ~mixture(weights, [gamma(2.0, 1.0), half_normal(1 + p), exponential(1.0)])
        ("k", i) @ ~mixture([0.5, 0.5], [poisson(1.0 + p), geometric(0.5)])
        ("b", i) @ ~mixture([w, 1 - w], [bernoulli(p), uniform_discrete(0, 3)])
        ("c", i) @ ~mixture(weights=[0.0, 1.0], distributions=[uniform(0, 1), laplace(m, 1)])


@written(4, 3, 7)
@gen
def not_always_a_mixture(n):
    w = ~normal(0.5, 0.2)
    s = ~normal(1, 1)
    for i in range(n):
        ("x", i) @ ~mixture([w, 1 - w] if w > 0 else [0.5, 0.5], [normal(0, 1), normal(1, 2)])
        ("y", i) @ ~mixture([0.5, 0.5], [normal(0, s if s > 0 else -s), normal(1, 2)])


A = np.array([[0.9, 0.1], [-0.2, 0.8]])
TS = [0.5, -1.0, 2.0, 0.25, 1.0, 3.0, -0.5]


@written(4, 3, 7)
@gen
def linear(n):
    gain = ~normal(1, 0.5)
    x = np.zeros(2)
    for t in range(n):
        x = ("x", t) @ ~mvnormal(A @ x, S)
        ("y", t) @ ~mvnormal(x @ (gain * A), S)
        ("w", t) @ ~mvnormal(np.dot(np.ones((1, 2)), x), np.eye(1))


@written((X, 4), (X, 3), (X[1:], 7), (X.tolist(), 4), ((X > 0) * 1, 4))
@gen
def regression(rows, n):
    b = ~mvnormal(np.zeros(3), np.eye(3))
    w = np.stack([b, 2 * b], axis=1)
    for i in range(n):
        m = rows[i] @ w
        ("x", i) @ ~mvnormal(m, S)
    for i in range(n):
        ("y", i) @ ~mvnormal(rows[i] * b, np.eye(3))
        ("z", i) @ ~mvnormal(rows[i] @ w - 1.0, S)


@written((TS, 4, 0.5), (np.array(TS), 3, 1.0), (TS, 7, -2.0), ([1, 2, 3, 2, 1, 0, 1], 6, 1.0))
@gen
def lines(ts, n, shift):
    a = ~mvnormal(np.zeros(2), np.eye(2))
    b = ~mvnormal(np.zeros(2), np.eye(2))
    c = ~normal(0, 1)
    mu = [("mu", j) @ ~mvnormal(np.zeros(2), np.eye(2)) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        m = a + ts[i] * b
        d = m - mu[z]
        x = ("x", i) @ ~mvnormal(d, S)
        ("y", i) @ ~mvnormal([c, c * ts[i]], np.eye(2))
        ("w", i) @ ~mvnormal(np.array([z, c * ts[i]]) + mu[z] / 2, np.eye(2))
        ("d", i) @ ~dirichlet(np.exp(0.1 * mu[z] + a) + 0.5)
        ("e", i) @ ~mvnormal(-x + shift * x[0] * b, S)
        ("f", i) @ ~mvnormal(0.001 * i * a, S)
        ("g", i) @ ~mvnormal(math.exp(-0.1 * i) * a + mu[z], S)


FRAMES = {"of_other_lengths"}


@pytest.mark.parametrize("columns_from", [None, 2, 1000])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, columns_from, in_columns, monkeypatch):
    if seed % 2:
        monkeypatch.setattr(column_loops, "MANY", 1)
    PROGRAMS.agree(name, seed, columns_from=columns_from)


test_no_part_is_executed_whole = PROGRAMS.test_of_blocks()


@pytest.mark.parametrize("name", PROGRAMS)
def test_which_have_columns(name):
    model, _ = PROGRAMS[name]
    loops = [node for node in model.compiled.program.body if isinstance(node, Loop)]
    if name == "in_a_plate":
        loops = [node for node in loops[0].body if isinstance(node, Loop)]
    assert (loops[-1].columns is None) == (name in FRAMES)


def stores(trace):
    """How the iterations of the loops of a program's own body are kept."""
    linked, frame = trace._called.linked, trace._called.frame
    return [frame[block.state][0].frames for block in linked.body.blocks if hasattr(block, "sites")]


def columns(trace):
    return [column for store in stores(trace) if type(store) is ColumnFrames for column in store.columns]


# --- values --------------------------------------------------------------------------------------------


def test_values_are_arrays_that_nothing_can_change():
    trace = shared.simulate((60,), rng=1)
    assert [type(column) for column in columns(trace)] == [RowColumn]
    given = np.array([1.0, 2.0])
    after = trace.update({("x", 3): given}).trace
    given[0] = 7.0
    assert after["x", 3].tolist() == [1.0, 2.0]
    for version in (trace, after, trace.update({("mean",): given}).trace):
        choices = version.choices
        for value in (version["x", 3], version["x", 59], dict(choices)["x", 3], choices["x", 4]):
            assert type(value) is np.ndarray and value.shape == (2,) and value.dtype == float
            with pytest.raises(ValueError):
                value[0] = 1.0
    data = np.ones((60, 2))
    trace, _ = shared.generate((60,), {"x": data}, rng=1)
    data[5] = 9.0
    assert trace["x", 5].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], [1.0], 2.0, [[1.0, 2.0]], "a", [1.0, "a"], [np.nan, 1.0]])
def test_values_of_other_shapes_are_what_they_are_to_the_reference_runtime(value):
    def outcome(operation):
        try:
            return operation()
        except Exception as error:
            return type(error), str(error).split("\n")[0]

    trace = shared.simulate((60,), rng=1)
    twin = shared.reference.generate((60,), trace.choices)[0]
    after, expected = (outcome(lambda t=t: t.update({("x", 3): value}).log_weight) for t in (trace, twin))
    assert after == pytest.approx(expected) if isinstance(expected, float) else after == expected
    one_by_one = {("x", i): np.ones(2) for i in range(60)} | {("x", 3): value}
    together = [np.ones(2)] * 3 + [value] + [np.ones(2)] * 56
    for given in (one_by_one, {"x": together}):
        choices = {"mean": np.zeros(2), **given}
        found, expected = (
            outcome(lambda m=m, c=choices: m.assess((60,), c)[0]) for m in (shared, shared.reference)
        )
        assert found == pytest.approx(expected) if isinstance(expected, float) else found == expected


@gen
def into_an_array_of_objects(n):
    table = np.empty(n, object)
    for i in range(n):
        table[i] = ("x", i) @ ~mvnormal(np.zeros(2), S)
    return table


@gen
def into_an_array_of_numbers(n):
    table = np.zeros(n)
    for i in range(n):
        table[i] = ("x", i) @ ~mvnormal(np.zeros(2), S)
    return table


def test_vectors_in_arrays_of_one_axis():
    trace = into_an_array_of_objects.simulate((60,), rng=1)
    trace = trace.update({("x", 3): np.ones(2)}).trace
    twin = into_an_array_of_objects.reference.generate((60,), trace.choices)[0]
    assert [row.tolist() for row in trace.retval] == [row.tolist() for row in twin.retval]
    for program in (into_an_array_of_numbers, into_an_array_of_numbers.reference):
        with pytest.raises(ValueError):
            assert program.simulate((60,), rng=1).retval is None


def test_a_mixture_has_one_weight_for_each_distribution():
    @gen
    def model(n):
        for i in range(n):
            ("x", i) @ ~mixture([1.0], [normal(0, 1), normal(1, 1)])

    for program in (model, model.reference):
        with pytest.raises(ParameterError, match="one weight for each"):
            program.simulate((60,), rng=1)


def test_integers_and_lists_are_taken_as_floats():
    ones = np.ones((60, 2))
    for xs in (ones.astype(int), ones.tolist(), [np.ones(2)] * 60, ones.astype(np.float32)):
        trace, weight = shared.generate((60,), {"x": xs, "mean": [1, 2]}, rng=1)
        assert trace["x", 4].dtype == float
        assert weight == pytest.approx(shared.reference.generate((60,), {"x": xs, "mean": [1, 2]}, rng=1)[1])


# --- what is kept, and as what -------------------------------------------------------------------------


def test_all_iterations_are_run_and_scored_at_once():
    for model, args, given in (
        (shared, (500,), {"x": np.ones((500, 2))}),
        (clusters, (500, 3), {"x": np.ones((500, 2)), "z": [1] * 500}),
        (weights, (500,), {"counts": np.array([[4, 0, 0]] * 500)}),
    ):
        for trace in (model.simulate(args, rng=1), model.generate(args, {}, rng=2)[0]):
            assert all(type(store) is ColumnFrames for store in stores(trace) if len(store) >= 48)
            fresh, _ = model.reference.assess(args, trace.choices)
            assert trace.log_prob == pytest.approx(fresh, rel=1e-12)
        if model is not weights:
            trace, weight = model.generate(args, given, rng=3)
            rest = {path: trace[path] for path in trace.choices if path[0] not in given}
            fresh, expected = model.reference.generate(args, {**given, **rest}), trace.log_prob
            assert fresh[0].log_prob == pytest.approx(expected, rel=1e-12)


ONE_BY_ONE = {"of_other_lengths", "in_a_plate"}
"""Programs of which array code doesn't run a loop, as its vectors have several lengths; or where choices are
given by two indices.
"""


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ONE_BY_ONE])
def test_array_code_runs_each_of_the_programs(name, monkeypatch, in_columns):
    made = []
    run = ColumnLoopBlock._run_columns

    def watched(self, execution, frames, values, size):
        made.append(run(self, execution, frames, values, size))
        return made[-1]

    monkeypatch.setattr(ColumnLoopBlock, "_run_columns", watched)
    model, args = PROGRAMS[name]
    program = kept_as(model, columns_from=2)
    trace = model.simulate(args[0], rng=3)
    made.clear()
    by_name = {}
    for path, value in trace.choices.items():
        by_name.setdefault(path[:-1] if type(path[-1]) is int else path, []).append(value)
    together = {head: some if len(some) > 1 else some[0] for head, some in by_name.items()}
    _, weight = program.generate(args[0], together, rng=1)
    assert made and None not in made
    assert weight == pytest.approx(trace.log_prob, rel=1e-9)


def test_memory():
    shared.simulate((100,), rng=1)
    tracemalloc.start()
    try:
        trace = shared.simulate((20_000,), rng=1)
        each = tracemalloc.get_traced_memory()[0] / 20_000
    finally:
        tracemalloc.stop()
    assert each < 20 and len(trace.choices) == 20_001


def test_a_row_of_another_length_makes_frames_of_them():
    trace = of_other_lengths.simulate((60, 2), rng=1)
    assert all(type(store) is PersistentVector for store in stores(trace)) or not stores(trace)
    trace = shared.simulate((60,), rng=1)
    after = trace.update({("x", 3): np.ones(3)}).trace
    assert after.log_prob == -np.inf and after["x", 3].shape == (3,)
    again = after.update({("x", 3): trace["x", 3]}).trace
    assert again.log_prob == pytest.approx(trace.log_prob, rel=1e-12)


def test_a_number_is_no_vector_of_one():
    @gen
    def model(ts):
        for i, t in enumerate(ts):
            ("x", i) @ ~mvnormal(t, np.eye(1))

    @gen
    def computed(ts):
        for i in range(len(ts)):
            ("x", i) @ ~mvnormal(2.0 * ts[i], np.eye(1))

    for program in (model, computed):
        with pytest.raises(ParameterError):
            program.simulate(([1.0] * 60,), rng=1)
        with pytest.raises(ParameterError):
            program.reference.simulate(([1.0] * 60,), rng=1)
        assert program.simulate(([np.ones(1)] * 60,), rng=1)["x", 3].shape == (1,)


def test_a_matrix_that_all_points_share_is_no_mean():
    @gen
    def model(means):
        for i in range(len(means)):
            ("x", i) @ ~mvnormal(means, np.eye(2))

    with pytest.raises(ParameterError):
        model.simulate((np.zeros((60, 2)),), rng=1)


def test_a_row_of_another_length_may_come_with_fewer_iterations():
    @gen
    def counts(ns):
        for i, n in enumerate(ns):
            ("x", i) @ ~poisson(n)

    for program, long, short, value in (
        (of_lists, [[0.0, 1.0]] * 60, [[0.0, 1.0]] * 50, np.ones(3)),
        (counts, [1.0] * 60, [1.0] * 50, 2**70),
    ):
        trace = program.simulate((long,), rng=1)
        twin = program.reference.generate((long,), trace.choices)[0]
        for path in (("x", 4), ("x", 49)):
            found, expected = (t.update({path: value}, args=(short,), rng=1) for t in (trace, twin))
            assert found.log_weight == pytest.approx(expected.log_weight) and len(found.trace.choices) == 50
            assert {*found.discard} == {*expected.discard}


# --- what it costs -------------------------------------------------------------------------------------


def calls(trace, choices, times=3):
    for value in choices[:times]:
        trace = trace.update(value).trace
    profile = cProfile.Profile()
    profile.enable()
    trace.update(choices[times])
    profile.disable()
    return pstats.Stats(profile).total_calls


def values(address, dim=2):
    rng = np.random.default_rng(4)
    return [{address: rng.normal(size=dim)} for _ in range(4)]


@pytest.mark.parametrize("address", [("mean",), ("x", 5)])
def test_an_update_of_a_plate_takes_as_many_calls_for_any_number_of_points(address, unwatched):
    small, large = (calls(shared.simulate((n,), rng=1), values(address)) for n in (60, 6000))
    assert large <= small + 20


@pytest.mark.parametrize("address", [("mu", 1), ("x", 5)])
def test_an_update_of_a_mixture_takes_as_many_calls_for_any_number_of_points(address, unwatched):
    small, large = (calls(clusters.simulate((n, 3), rng=1), values(address)) for n in (120, 6000))
    assert large <= small + 20
    small, large = (
        calls(clusters.simulate((n, 3), rng=1), [{("z", 4): z} for z in (0, 1, 2, 0)]) for n in (120, 6000)
    )
    assert large <= small + 20


@pytest.mark.parametrize(
    ("program", "given", "choices"),
    [
        (repeated, lambda n: (n,), [{"m": m} for m in (0.1, 0.2, 0.3, 0.4)]),
        (repeated, lambda n: (n,), [{("mu", 1): m} for m in (0.1, 0.2, 0.3, 0.4)]),
        (mixtures, lambda n: (n,), [{"m": m} for m in (0.1, 0.2, 0.3, 0.4)]),
        (products, lambda n: (n, np.ones((n, 3))), values("mean", 3)),
        (weights, lambda n: (n,), [{"base": [w, 0.4, 0.6 - w]} for w in (0.32, 0.34, 0.36, 0.38)]),
        (lines, lambda n: (TS * n, n, 0.5), values("a")),
        (lines, lambda n: (TS * n, n, 0.5), values(("mu", 1))),
        (regression, lambda n: (np.ones((n, 3)), n), values("b", 3)),
    ],
)
def test_what_all_points_read_takes_as_many_calls_for_any_number_of_them(program, given, choices, unwatched):
    small, large = (calls(program.simulate(given(n), rng=1), choices) for n in (120, 3000))
    assert large <= small + 40


def test_an_update_of_a_chain_takes_as_many_calls_for_any_number_of_steps(unwatched):
    small, large = (calls(walk.simulate((n,), rng=1), values(("x", 5))) for n in (60, 6000))
    assert large <= small + 20


def test_a_redrawn_mean_takes_as_many_calls_for_any_number_of_points(unwatched):
    counts = []
    for n in (120, 6000):
        trace = clusters.simulate((n, 3), rng=1)
        trace = trace.regenerate(select(("mu", 0)), rng=1).trace
        profile = cProfile.Profile()
        profile.enable()
        trace.regenerate(select(("mu", 0)), rng=2)
        profile.disable()
        counts.append(pstats.Stats(profile).total_calls)
    assert counts[1] <= counts[0] + 20


# --- columns of families -------------------------------------------------------------------------------

N = 12
ROWS = np.random.default_rng(5)
LAWS = {
    mvnormal: [
        (np.array([1.0, 2.0]), S),
        ([1, 2], [[2.0, 0.5], [0.5, 1.0]]),
        (ROWS.normal(size=(N, 2)), S),
        (ROWS.normal(size=(N, 11)), 2.0 * np.eye(11) + 0.1),
        (ROWS.integers(0, 3, (N, 1)), np.array([[4.0]])),
        (np.zeros(2), 1e296 * np.eye(2)),
    ],
    dirichlet: [
        ([0.5, 2.0, 3.0],),
        (ROWS.gamma(2.0, 1.0, (N, 3)) + 0.2,),
        (np.array([0.001, 0.001]),),
        (1e6 * (ROWS.random((N, 2)) + 1),),
    ],
    multinomial: [
        (5, [0.5, 0.25, 0.25]),
        (7, ROWS.dirichlet([1.0, 2.0], N)),
        (0, [0.5, 0.5]),
        (10**9, ROWS.dirichlet([1.0, 2.0], N)),
    ],
}


def cases():
    return [(family, given) for family, some in LAWS.items() for given in some]


def point(given, family, i):
    rows = ROW_FAMILIES[family].rows
    return [p[i] if k in rows and np.ndim(p) == 2 else p for k, p in enumerate(given)]


@pytest.mark.parametrize(("family", "given"), cases())
def test_a_column_scores_what_its_points_do(family, given):
    rng = np.random.default_rng(1)
    laws = [family(*point(given, family, i)) for i in range(N)]
    x = np.array([law.sample(rng) for law in laws])
    expected = [law.logpdf(row) for law, row in zip(laws, x, strict=True)]
    assert score_column(family, x, given) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert total_column(family, x, given) == pytest.approx(sum(expected), rel=1e-9, abs=1e-9)
    outside = x.copy()
    outside[3] = np.full(x.shape[1], -1 if x.dtype.kind == "i" else 1e200)
    scores = score_column(family, outside, given)
    assert scores[3] == -np.inf and scores[4] == pytest.approx(expected[4], rel=1e-9, abs=1e-9)
    assert total_column(family, outside, given) == -np.inf


def test_what_is_too_far_away_shows_in_the_sum():
    far = np.full((N, 2), 1e155)
    for given in ((far[0], np.eye(2)), (far, np.eye(2)), (far[0] - 1.0, S)):
        assert mvnormal(*point(given, mvnormal, 0)).logpdf(far[0]) == -np.inf
        assert total_column(mvnormal, far, given) == -np.inf
        assert score_column(mvnormal, far, given)[0] == -np.inf
    cov = np.array([[1e-300, 0.0], [0.0, 1e300]])
    x = np.array([[1e-150, 1e151]] * N)
    assert total_column(mvnormal, x, (np.zeros(2), cov)) == -np.inf


@pytest.mark.parametrize(("family", "given"), cases())
def test_a_column_of_draws_is_distributed_as_they_are(family, given):
    rng = np.random.default_rng(2)
    of_points = any(np.ndim(given[k]) == 2 for k in ROW_FAMILIES[family].rows)
    many = N if of_points else 4000
    draws = sample_column(family, rng, many, given)
    assert draws.shape[0] == many and draws.dtype == ROW_FAMILIES[family].dtype
    scores = score_column(family, draws, given)
    assert np.isfinite(scores).all()
    if many > N:
        law = family(*given)
        others = np.array([law.sample(rng) for _ in range(many)])
        spread = np.maximum(others.std(0), 1e-9) / np.sqrt(many)
        assert (np.abs(draws.mean(0) - others.mean(0)) < 6 * spread).all()
        assert np.abs(np.cov(draws.T) - np.cov(others.T)).max() < 0.25 * np.abs(np.cov(others.T)).max() + 1e-9


@pytest.mark.parametrize(
    ("family", "given"),
    [
        (mvnormal, (np.full((N, 2), np.nan), S)),
        (mvnormal, (np.zeros((N, 3)), S)),
        (mvnormal, (np.zeros((N + 1, 2)), S)),
        (mvnormal, (np.zeros((N, 2)), -S)),
        (mvnormal, (np.zeros(2), np.array([[1.0, 0.5], [0.0, 1.0]]))),
        (mvnormal, (np.zeros((N, 2)),)),
        (dirichlet, (np.zeros((N, 2)),)),
        (dirichlet, ([1.0, -1.0],)),
        (multinomial, (-1, np.full((N, 2), 0.5))),
        (multinomial, (2, np.full((N, 2), 0.4))),
        (multinomial, (2, np.array([[1.5, -0.5]] * N))),
    ],
)
def test_parameters_that_are_refused_are_left_to_the_points(family, given):
    x = np.full((N, 2), 0.5) if ROW_FAMILIES[family].dtype == float else np.ones((N, 2), int)
    assert score_column(family, x, given) is None
    assert total_column(family, x, given) is None
    assert sample_column(family, np.random.default_rng(1), N, given) is None


# --- the columns themselves ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_a_column_of_rows_is_a_list_that_never_changes(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 400))
    rows = [rng.normal(size=3) for _ in range(size)]
    versions = [(RowColumn.of(np.array(rows)), list(rows))]
    for _ in range(60):
        column, known = versions[int(rng.integers(len(versions)))]
        known = list(known)
        match int(rng.integers(5)):
            case 0 if known:
                i, row = int(rng.integers(len(known))), rng.normal(size=3)
                column, known[i] = column.set(i, row), row
            case 1 if known:
                count = int(rng.integers(0, len(known) // 8 + 1))
                some = rng.choice(len(known), count, replace=False).tolist()
                given = [rng.normal(size=3) for _ in some]
                column = column.set_many(some, given)
                for i, row in zip(some, given, strict=True):
                    known[i] = row
            case 2:
                added = [rng.normal(size=3) for _ in range(int(rng.integers(0, 40)))]
                column, known = column.extended(added), known + added
            case 3:
                row = rng.normal(size=3)
                column, known = column.append(row), [*known, row]
            case 4:
                size = int(rng.integers(len(known) // 2, len(known) + 1))
                column, known = column.truncate(size), known[:size]
        versions.append((column, known))
    for column, known in versions:
        assert len(column) == len(known)
        assert [row.tolist() for row in column] == [row.tolist() for row in known]
        if known:
            i = int(rng.integers(len(known)))
            assert column[i].tolist() == known[i].tolist() and not column[i].flags.writeable
            some = rng.integers(0, len(known), 5)
            assert np.array_equal(column.take(some), [known[i] for i in some])
        assert not column.array().flags.writeable
    for bad in (np.ones(2), np.ones(3, int), [1.0, 2.0, 3.0], np.ones((1, 3)), 1.0):
        with pytest.raises(TypeError):
            versions[0][0].set(0, bad)
        with pytest.raises(TypeError):
            versions[0][0].append(bad)
    for i in (-1, len(versions[0][1])):
        with pytest.raises(IndexError):
            versions[0][0][i]
        with pytest.raises(IndexError):
            versions[0][0].set(i, np.ones(3))


def test_kept_as_frames_or_as_columns_an_update_gives_the_same():
    few, many = (kept_as(clusters, columns_from=size) for size in (2, 10_000))
    trace = many.simulate((40, 3), rng=1)
    twin = few.generate((40, 3), trace.choices)[0]
    rng = np.random.default_rng(1)
    for _ in range(40):
        j, i, z = int(rng.integers(3)), int(rng.integers(40)), int(rng.integers(3))
        choices = {("mu", j): rng.normal(size=2), ("z", i): z}
        a, b = trace.update(choices), twin.update(choices)
        assert a.log_weight == pytest.approx(b.log_weight, rel=1e-9, abs=1e-9)
        trace, twin = a.trace, b.trace
    assert type(stores(twin)[-1]) is ColumnFrames and type(stores(trace)[-1]) is PersistentVector


# --- what array code calls -----------------------------------------------------------------------------


def of_all(made, n=N):
    """What a tool has made, as a list of what each iteration has."""
    if type(made) is vector_rows.Numbers:
        return made.column.tolist()
    return made.tolist() if np.ndim(made) == 2 else [made.tolist()] * n


def test_arithmetic_on_vectors_is_that_of_each_iteration():
    rows, fixed, number = ROWS.normal(size=(N, 3)), np.array([1.0, 2.0, -0.5]), 1.5
    column = ROWS.normal(size=N)
    spread = vector_rows.spread(column)
    for sign in ("+", "-", "*", "/"):
        for left, right in (
            (rows, rows), (rows, fixed), (fixed, rows), (rows, number), (2, rows), (rows, spread),
            (spread, fixed), (fixed, spread), (spread, number), (spread, spread), (rows[0], spread),
        ):  # fmt: skip
            each = [eval(f"x {sign} y", {"x": one(left, i), "y": one(right, i)}) for i in range(N)]
            assert np.array_equal(of_all(vector_rows.between(sign, left, right)), each)


def one(operand, i):
    """What an operand is in an iteration."""
    if type(operand) is vector_rows.Numbers:
        return operand.column[i].item()
    return operand[i] if np.ndim(operand) == 2 else operand


def test_what_python_has_no_arithmetic_for_or_another_is_refused():
    rows, lists = ROWS.normal(size=(N, 3)), vector_rows.rows(ROWS.normal(size=(N, 3)).tolist(), range(N))
    integers = vector_rows.spread(np.arange(N))
    for left, right in (
        (rows, True), (rows, [1.0, 2.0, 3.0]), (lists, 2), (rows > 0, 2), (rows, None), (integers, 2),
        (integers, integers), (rows.astype(np.float32), 2), (np.ones((N, 3, 1)), 2), (integers, [1, 2]),
    ):  # fmt: skip
        with pytest.raises(NotColumnsError):
            vector_rows.between("*", left, right)
    for bad in (np.arange(N) > 2, True, "a", rows):
        with pytest.raises(NotColumnsError):
            vector_rows.spread(bad)
    for left, right, which in (
        (np.eye(2), rows, 1), (rows, np.eye(2), 0), (rows, [[1.0]], 0), (np.ones(3), rows, 1),
        (lists, np.eye(3), 0), (np.full((3, 3), np.inf), rows, 1), (np.eye(3) > 0, rows, 1),
        (np.eye(3, dtype=int), rows.astype(int), 1),
    ):  # fmt: skip
        with pytest.raises(NotColumnsError), np.errstate(all="ignore"):
            vector_rows.mapped(left, right, which)
    with pytest.raises(NotColumnsError):
        vector_rows.assembled(np.arange(N) + 2**53, 0.5)
    with pytest.raises(NotColumnsError):
        vector_rows.assembled(rows, 0.5)
    assert vector_rows.assembled(np.arange(N), 2).dtype == int
    assert vector_rows.assembled(range(N), 0.5).tolist() == [[float(i), 0.5] for i in range(N)]
    for bad in (1.0, integers, rows.astype(object), None):
        with pytest.raises(NotColumnsError):
            vector_rows.as_vectors(bad)


@pytest.mark.parametrize("index", [np.array([2, 0, 1]), range(1, 3), 1])
def test_what_is_looked_up_is_a_vector_or_a_number(index):
    vectors = ROWS.normal(size=(3, 2))
    at = [index] if type(index) is int else list(index)
    for container in (vectors, list(vectors), tuple(vectors)):
        found = vector_rows.either(container, index)
        assert np.array_equal(np.atleast_2d(found), vectors[at])
    numbers = vectors[:, 0]
    for container in (numbers, numbers.tolist(), Table(numbers.tolist())):
        found = vector_rows.either(container, index)
        assert (found if type(index) is int else found.column.tolist()) == pytest.approx(
            numbers[1] if type(index) is int else numbers[at]
        )
    assert of_all(vector_rows.either(range(5, 9), np.array([1, 3]))) == [6, 8]
    assert of_all(vector_rows.either([5, 6], np.array([True, False]))) == [6, 5]
    for container, bad in ((vectors, np.array([True, False, True])), (vectors, 3), (numbers, -1), ([], 0)):
        with pytest.raises(NotColumnsError):
            vector_rows.either(container, bad)
