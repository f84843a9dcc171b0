"""Which iterations read which key of a container: an index holds for one trace, and one way of counting."""

import pytest

from gendsl import gen, normal, poisson, select, uniform_discrete
from gendsl.runtime.lowering import vectors
from gendsl.runtime.watched import runs_whole


def log_prob(program, trace):
    return program.reference.assess(trace.args, trace.choices).log_prob


def assert_right(program, *traces):
    for trace in traces:
        assert trace.log_prob == pytest.approx(log_prob(program, trace), rel=1e-9)


@gen
def gathered(zs, n):
    mu = [("mu", k) @ ~normal(0, 3) for k in range(3)]
    for i in range(n):
        ("x", i) @ ~normal(mu[zs[i]], 1.0)


def test_two_traces_have_indexes_of_their_own():
    first, second = [i % 3 for i in range(200)], [i % 2 for i in range(200)]
    start = gathered.simulate((first, 200), rng=1)
    other = start.update(args=(second, 200)).trace
    changed = other.update({("mu", 0): 1.5}).trace
    again = start.update({("mu", 0): 1.5}).trace
    assert_right(gathered, start, other, changed, again)


@pytest.mark.skipif(runs_whole(), reason="the reference runtime makes no columns")
@pytest.mark.usefixtures("unwatched")
def test_a_list_that_is_looked_up_in_is_made_a_column_once(monkeypatch):
    made = []
    as_column = vectors.as_column

    def watched(values):
        if type(values) is list and len(values) == 200:
            made.append(values)
        return as_column(values)

    monkeypatch.setattr(vectors, "as_column", watched)
    first, second = [i % 3 for i in range(200)], [i % 2 for i in range(200)]
    one, two = (gathered.simulate((zs, 200), rng=1) for zs in (first, second))
    made.clear()
    for k in (0, 1, 0, 1):
        one = one.update({("mu", k): 1.5}).trace
    assert len(made) <= 1
    for k in (0, 1):  # and is not taken for another
        one, two = (trace.update({("mu", k): -0.5}).trace for trace in (one, two))
        assert_right(gathered, one, two)


def test_keys_from_the_end_are_those_of_the_entries():
    start = gathered.simulate(([i % 3 for i in range(60)], 60), rng=1)
    other = start.update(args=([-1, -3, *[i % 3 for i in range(58)]], 60)).trace
    for k in range(3):
        assert_right(gathered, other.update({("mu", k): 1.5}).trace)


@gen
def counted(idx, size):
    mu = [("mu", k) @ ~normal(0, 3) for k in range(size)]
    for i in idx:
        ("x", i) @ ~normal(mu[i], 1.0)


@pytest.mark.parametrize("idx", [list(range(60))[::-1], range(2, 62), range(0, 120, 2)])
def test_a_loop_that_counts_otherwise(idx):
    trace = counted.simulate((range(60), 130), rng=1)
    trace = trace.update({("mu", 3): 1.0, ("mu", 4): 0.5}).trace
    moved = trace.update(args=(idx, 130), rng=2).trace
    changed = moved.update({("mu", 3): 2.0, ("mu", 4): -2.0}).trace
    assert_right(counted, trace, moved, changed)


@gen
def indirect(n, idx):
    mu = [("mu", k) @ ~normal(0, 3) for k in range(n)]
    for j, i in zip(range(n), idx):  # noqa: B905
        ("x", j) @ ~normal(mu[i], 1.0)


def test_indices_that_become_negative():
    trace = indirect.simulate((60, list(range(60))), rng=1)
    trace = trace.update({("mu", 3): 1.0}).trace
    moved = trace.update(args=(60, [-1, *range(59)])).trace
    for j in (0, 2, 3, 58, 59):
        moved = moved.update({("mu", j): 2.0}).trace
        assert_right(indirect, moved)


@gen
def counts(size, n):
    mu = [("mu", k) @ ~normal(20, 0.1) for k in range(size)]
    for i in range(n):
        ("x", i) @ ~poisson(mu[i])


def test_columns_that_become_frames():
    trace = counts.simulate((100, 60), rng=1)
    trace = trace.update({("mu", 3): 21.0}).trace
    trace = trace.update({("x", 3): 2**70}).trace
    trace = trace.update({("mu", 80): 20.5}).trace
    trace = trace.update({("mu", 4): 20.5}).trace
    assert_right(counts, trace)


@gen
def with_the_first(n):
    mu = [("mu", k) @ ~normal(0, 3) for k in range(n)]
    z = ~uniform_discrete(0, 2)
    for t in range(n):
        ("y", t) @ ~normal(mu[t] + mu[0], 1.0)
    for t in range(n):
        ("w", t) @ ~normal(mu[z] - mu[t], 1.0)
    for t in range(n - 1):
        ("v", t) @ ~normal(mu[t + 1] + mu[-1], 1.0)


def test_reads_at_an_index_that_does_not_vary():
    trace = with_the_first.simulate((60,), rng=1)
    for change in ({("mu", 0): 1.0}, {("mu", 2): 1.0}, {"z": 2}, {("mu", 2): 2.0}, {("mu", 59): 0.5}):
        trace = trace.update(change).trace
        assert_right(with_the_first, trace)
    for n in (58, 61, 59):
        trace = trace.update(args=(n,), rng=1).trace
        trace = trace.update({("mu", n - 1): 0.3, ("mu", 0): 0.1 * n}).trace
        assert_right(with_the_first, trace)


@gen
def nested(n):
    mu = [("mu", k) @ ~normal(0, 3) for k in range(n)]
    for i in range(3):
        for j in range(n):
            ("x", i, j) @ ~normal(mu[j], 1.0)


def test_columns_inside_a_loop():
    trace = nested.simulate((60,), rng=1)
    for k in (1, 5, 1):
        trace = trace.update({("mu", k): 0.5 * k}).trace
        assert_right(nested, trace)


@gen
def one_of(n):
    mu = [("mu", k) @ ~normal(0, 3) for k in range(3)]
    g = ~uniform_discrete(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(mu[g + 1], 1.0)
    nu = [("nu", k) @ ~normal(0, 3) for k in range(g + 2)]
    for i in range(n):
        ("y", i) @ ~normal(nu[-1] + mu[i % 3], 1.0)


def test_a_fixed_index_that_changes():
    trace = one_of.generate((60,), {"g": 0}, rng=1).trace
    for change in (
        {("mu", 1): 1.0}, {("nu", 1): 0.5}, {"g": 1, ("nu", 2): 0.1}, {("mu", 2): -2.5}, {("nu", 2): 2.0},
        {("mu", 1): 3.0}, {"g": 0}, {("mu", 1): -1.0, ("nu", 1): 1.5}, {("nu", 1): 0.2},
    ):  # fmt: skip
        trace = trace.update(change, rng=1).trace
        assert_right(one_of, trace)
        assert_right(one_of, trace.update(args=(59,)).trace)
        assert type(trace.log_prob) is float


@gen
def assigned(n, k):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(k)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, k - 1)
        ("x", i) @ ~normal(mu[z], 1.0)


def test_an_entry_that_nothing_had_read_when_it_changed():
    trace = assigned.generate((60, 3), {("z", i): 0 for i in range(60)}, rng=1).trace
    trace = trace.update({("mu", 2): 5.0}).trace
    trace = trace.update({("z", 7): 2}).trace
    assert_right(assigned, trace)
    assert trace.project(select(("x", 7))) == pytest.approx(
        assigned.reference.generate(trace.args, trace.choices).trace.project(select(("x", 7)))
    )
    assert_right(assigned, trace.update({("x", 7): 0.5}).trace)


@gen
def forest(n):
    """Each iteration reads one of the entries that were written before it."""
    depth = [0.0] * n
    for i in range(n):
        k = ("k", i) @ ~uniform_discrete(0, i)
        depth[i] = depth[k] + 1.0 if k != i else 5.0
    for i in range(n):
        ("y", i) @ ~normal(depth[i], 1)
    return depth


def test_an_index_that_is_found_out_in_the_middle_of_an_update_is_that_of_its_end():
    trace = forest.generate((3,), init={("k", 0): 0, ("k", 1): 1, ("k", 2): 2}, rng=1).trace
    traces = [trace]
    for change in ({("k", 1): 0}, {("k", 1): 1}, {("k", 2): 1, ("k", 1): 0}, {("k", 1): 1}, {("k", 2): 0}):
        traces.append(traces[-1].update(change).trace)
    assert_right(forest, *traces)
    assert [each.retval for each in traces[1:]] == [
        [5.0, 6.0, 5.0], [5.0, 5.0, 5.0], [5.0, 6.0, 7.0], [5.0, 5.0, 6.0], [5.0, 5.0, 6.0],
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_the_roots_of_trees_are_followed(seed):
    trace = forest.simulate((12,), rng=seed)
    traces = [trace]
    for step in range(60):
        i = (7 * step + seed) % 12
        traces.append(traces[-1].update({("k", i): (step * step) % (i + 1)}).trace)
    assert_right(forest, *traces)
