"""Plates that look up entries of lists of lists, and go through their rows: at once, as one by one."""

import math

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, uniform_discrete
from gendsl.runtime.lowering import vectors
from gendsl.runtime.lowering.ir import Loop
from gendsl.runtime.lowering.tables import NotColumnsError, Table, as_rows
from tests.runtime.idioms import SEEDS, Programs, calls_of_an_update, slopes_are_right

PROGRAMS = Programs()
written = PROGRAMS.written

X = [[0.5, 1.0], [-1.0, 0.25], [2.0, -0.5], [0.0, 1.5]]
MIXED = [[1, 0.5], [1, -1.0], [1, 2]]
WHOLE = [[1, 0], [2, -3], [0, 5]]
PAIRS = [(0.5, 1), (1.5, 0), (-0.5, 2)]
YES = [[True, False], [True, True]]
RAGGED = [[0.5, 1.0], [-1.0, 0.25, 2.0]]
OTHERS = [[0.5, "a"], [1.0, None]]
ARRAYS = [np.array([0.5, 1.0]), np.array([1.0, 2.0])]
KINDS = (X,), (X[:3],), (MIXED,), (WHOLE,), (PAIRS,), (YES,), (RAGGED,), (ARRAYS,), (np.array(X),)


@written(*KINDS)
@gen
def cells(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        ("y", i) @ ~normal(b[0] * xs[i][0] + b[1] * xs[i][1], 1)
    for i in range(len(xs)):
        eta = b[0]
        for j in range(2):
            eta += b[j] * xs[i][j]
        ("w", i) @ ~normal(eta, 1)


@written(*KINDS)
@gen
def through_rows(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i in range(len(xs)):
        ("y", i) @ ~normal(sum(c * x for c, x in zip(b, xs[i], strict=False)), 1)
    for i, row in enumerate(xs):
        ("w", i) @ ~normal(row[0] * b[0] - row[1], 1)
    for i, row in enumerate(xs):
        total = 0.0
        for x in row:
            total += x * b[1]
        ("v", i) @ ~normal(total, 1)


@written((X,), (PAIRS,), (RAGGED,), (WHOLE,), (np.array(X),))
@gen
def unpacked(xs):
    b = [("b", j) @ ~normal(0, 1) for j in range(2)]
    for i, (x, z) in enumerate(xs):
        ("y", i) @ ~normal(b[0] * x + b[1] * z, 1)


@written((X, [0, 1, 0, 2]), (WHOLE, [2, 0, 1, 1]), (PAIRS, [0, 1, 1, 1]))
@gen
def looked_up(xs, g):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(3)]
    for i in range(len(g)):
        z = ("z", i) @ ~uniform_discrete(0, 1)
        ("y", i) @ ~normal(mu[g[i]] * xs[g[i]][z], 1)
        ("w", i) @ ~bernoulli(1 / (1 + math.exp(-xs[z][1] * mu[z])))


@written((X,), (WHOLE,))
@gen
def products_of_lists(xs):
    b = np.array([("b", j) @ ~normal(0, 1) for j in range(2)])
    for i in range(len(xs)):
        ("y", i) @ ~normal(np.dot(xs[i], b), 1)


@written((X,), (X[:3],))
@gen
def from_the_end(xs):
    b = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(xs[-1 - i][-1] * b, 1)
    for i, row in enumerate(xs):
        ("w", i) @ ~normal(row[-1] * b, 1)


@written(5, 4)
@gen
def rows_of_choices(n):
    """The entries are choices, and change one by one."""
    a = [[("a", i, j) @ ~normal(0, 1) for j in range(2)] for i in range(3)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        ("y", i) @ ~normal(a[z][0] + a[z][1], 1)
        ("w", i) @ ~normal(sum(a[z][j] * j for j in range(2)), 1)


@written((OTHERS,))
@gen
def of_other_things(xs):
    b = ~normal(0, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(xs[i][0] * b, 1)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, in_columns):
    PROGRAMS.agree(name, seed, columns_from=1000 if seed % 2 else 2)


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_have_array_code(name):
    model, _ = PROGRAMS[name]
    last = [node for node in model.compiled.program.body if isinstance(node, Loop)][-1]
    assert last.columns is not None


@pytest.mark.parametrize("name", ["cells", "through_rows", "unpacked"])
def test_a_change_outside_takes_as_many_calls_however_many_iterations_there_are(name, unwatched):
    model, _ = PROGRAMS[name]
    made = []
    for n in (60, 600):
        trace = model.simulate((np.random.default_rng(1).normal(size=(n, 2)).tolist(),), rng=2)
        made.append(calls_of_an_update(trace, ("b", 1)))
    assert made[1] < made[0] + 60


@pytest.mark.parametrize("name", ["cells", "through_rows", "unpacked"])
def test_gradients(name, monkeypatch):
    model, _ = PROGRAMS[name]
    trace = model.simulate((np.random.default_rng(1).normal(size=(60, 2)).tolist(),), rng=2)
    assert slopes_are_right(trace, "b", monkeypatch)


@pytest.mark.parametrize(
    "values",
    [RAGGED, OTHERS, [ARRAYS[0], ARRAYS[1] > 0], [], [[0.5], 1.0], [[True, 0.5]], [[2**53 + 1, 0.5]],
     [[2**70]], 1.0, {0: [1.0]}, np.ones(3), np.ones((2, 2), np.float32)],
)  # fmt: skip
def test_what_is_no_column_of_rows(values):
    with pytest.raises(NotColumnsError):
        as_rows(values)
    if type(values) is list:
        with pytest.raises(NotColumnsError):
            Table(values).as_rows()


@pytest.mark.parametrize("values", [X, MIXED, WHOLE, PAIRS, YES, tuple(X), np.array(X)], ids=repr)
def test_rows_have_the_entries_that_their_lists_have(values):
    expected = [list(row) for row in values]
    table = values if type(values) is np.ndarray else Table(values)
    n, last = len(expected), len(expected[0]) - 1
    assert vectors.rows(table, range(n)).tolist() == expected
    assert vectors.rows(table, np.array([1, 0])).tolist() == [expected[1], expected[0]]
    assert vectors.cells(table, range(n), last).tolist() == [row[last] for row in expected]
    assert vectors.entry(as_rows(values), last).tolist() == [row[last] for row in expected]
    columns = [[row[j] for row in expected] for j in range(last + 1)]
    for made in (vectors.across(as_rows(values)), vectors.unpacked(as_rows(values), last + 1)):
        assert [column.tolist() for column in made] == columns
    for index in (last + 1, -1, 0.0, True, np.array([last + 1] * n)):
        with pytest.raises(NotColumnsError):
            vectors.entry(as_rows(values), index)
    with pytest.raises(NotColumnsError):
        vectors.unpacked(as_rows(values), last)


def test_rows_of_lists_have_no_products():
    with pytest.raises(NotColumnsError):
        vectors.dot(as_rows(X), [1.0, 2.0])
    assert vectors.dot(np.array(X), [1.0, 2.0]).tolist() == [x + 2 * y for x, y in X]
