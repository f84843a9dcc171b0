"""Plates that multiply rows of a matrix by a vector, or read its cells: at once, as one by one."""

import math

import numpy as np
import pytest

from gendsl import bernoulli, gamma, gen, mvnormal, normal, poisson, select, uniform_discrete
from gendsl.inference import Coordinates
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.gradients import Differentiate
from gendsl.runtime.lowering import vectors
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import SEEDS, Programs

RNG = np.random.default_rng(7)
N = 60  # some of the programs' arguments are long enough for columns, others are not
X = RNG.normal(size=(N, 3)) * 0.4
Z = RNG.integers(-2, 3, size=(N, 3))
OFFSETS = RNG.normal(size=N).tolist()
GROUPS = RNG.integers(0, 3, N).tolist()
WITH_NAN = np.where(np.arange(3 * N).reshape(N, 3) == 13, np.nan, X)

programs = Programs()


@programs.written((X,), (X[:5],), (Z,))
@gen
def matmul(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i in range(len(rows)):
        ("y", i) @ ~normal(rows[i] @ beta, 1)


@programs.written((X,), (X[33:],))
@gen
def dot_with_a_list(rows):
    beta = [("b", j) @ ~normal(0, 1) for j in range(3)]
    s = ~gamma(2, 1)
    for i in range(len(rows)):
        ("y", i) @ ~normal(np.dot(beta, rows[i]), s)


@programs.written((X,), (X[::-1],), (X[:4],), (X.tolist(),))
@gen
def loop_over_rows(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i, row in enumerate(rows):
        ("y", i) @ ~poisson(np.exp(beta @ row))


@programs.written((X, OFFSETS), (X[:5], OFFSETS))
@gen
def logistic(rows, offsets):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i, (row, offset) in enumerate(zip(rows, offsets, strict=False)):
        eta = row @ beta + offset
        ("y", i) @ ~bernoulli(1 / (1 + np.exp(-eta)))


@programs.written((X,), (X[35:],))
@gen
def assigned_row(rows):
    beta = ~mvnormal(np.zeros(3), np.eye(3))
    for i in range(len(rows)):
        x = rows[i]
        mean = np.inner(x, beta)
        ("y", i) @ ~normal(mean, 1)


@programs.written((X,), (Z,), (X[:, :2],))
@gen
def cells(rows):
    b0 = ~normal(0, 1)
    b1 = ~normal(0, 1)
    for i in range(rows.shape[0]):
        ("y", i) @ ~normal(b0 * rows[i, 0] + b1 * rows[i, 1], 1)


@programs.written((X, GROUPS), (X[:5], GROUPS[:5]))
@gen
def sliced_with_groups(rows, groups):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    u = [("u", j) @ ~normal(0, 1) for j in range(3)]
    for i in range(len(groups)):
        ("y", i) @ ~normal(rows[i, :] @ beta + u[groups[i]], 1)


@programs.written((X,), (WITH_NAN,))
@gen
def chosen_row(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i in range(len(rows)):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        ("y", i) @ ~normal(rows[z] @ beta + rows[z, 1], 1)


@programs.written((X,))
@gen
def row_used_twice(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i, row in enumerate(rows):
        ("y", i) @ ~normal(row @ beta + row[0], 1)


@programs.written((X,), (X[:3],))
@gen
def later_rows(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i in range(2, len(rows)):
        ("y", i) @ ~normal(rows[i] @ beta, 1)


@programs.written((X,), (Z,), (X[:5],))
@gen
def with_a_sign(rows):
    """The sign belongs to the row: `-x @ b` is `(-x) @ b`."""
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i in range(len(rows)):
        ("y", i) @ ~bernoulli(1 / (1 + math.exp(-rows[i] @ beta)))


@programs.written((X,), (Z,), (X[:5],))
@gen
def centred_and_scaled(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    scale = np.array([1.0, 2.0, 0.5])
    for i in range(len(rows)):
        ("y", i) @ ~normal((rows[i, :] - 1e4) / scale @ beta, 1e3)


@programs.written((X,), (Z,), (X[:5],))
@gen
def powers(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    m = np.array([("m", j) @ ~normal(0, 1) for j in range(3)])
    for i, row in enumerate(rows):
        ("y", i) @ ~normal(np.dot(2 * -row**2 + m, beta), 1)


@programs.written((X,), (Z,), (X[:5],))
@gen
def weighted(rows):
    s = ~normal(0, 1)
    beta = np.array([0.5, 1.0, -1.0])
    for i in range(len(rows)):
        ("y", i) @ ~normal(np.sum(s * rows[i] * beta), 1)


@programs.written((X,), (Z,), (X[:5],))
@gen
def parts_of_rows(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    first = 1
    for i in range(len(rows)):
        mean = beta[0] + rows[i, first:] @ beta[1:] + rows[i][:2] @ beta[:-1]
        ("y", i) @ ~normal(mean + rows[i, ::-1] @ beta, 1)


@programs.written((X,), (X[:5],))
@gen
def distances(rows):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i in range(len(rows)):
        squared = np.sum((rows[i] - beta) ** 2)
        apart = np.linalg.norm(rows[i] - beta) + (rows[i] + beta).mean() + np.mean(2 * rows[i])
        apart += rows[i, 1:].sum()
        ("y", i) @ ~normal(squared, 0.5)
        ("z", i) @ ~normal(apart, 0.5)


@programs.written((X, OFFSETS), (X[:5], OFFSETS))
@gen
def where_a_number_is(rows, offsets):
    beta = np.array([("b", j) @ ~normal(0, 1) for j in range(3)])
    for i in range(len(rows)):
        ("y", i) @ ~normal(np.where(offsets[i] < beta[0], rows[i] @ beta, beta[1]), 1)


AT_ONCE = set(programs)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", programs)
def test_both_runtimes_agree(name, seed):
    programs.agree(name, seed)


@pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")
@pytest.mark.parametrize("name", programs)
def test_they_run_at_once(name):
    model, (args, *_) = programs[name]
    trace = model.simulate(args, rng=1)
    called = trace._called
    (store,) = [
        called.frame[block.state][0].frames
        for block in called.linked.body.blocks
        if isinstance(block, ColumnLoopBlock) and any(parts[0][0] == "y" for parts in block.templates)
    ] or [None]  # fmt: skip
    assert (type(store) is ColumnFrames) == (name in AT_ONCE)


@pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")
def test_a_row_that_is_read_in_two_ways_or_meets_another_row_is_no_column():
    @gen
    def both(rows, beta):
        for i, row in enumerate(rows):
            ("y", i) @ ~normal(row @ beta, abs(row))

    @gen
    def two_rows(rows, others):
        for i in range(len(rows)):
            ("y", i) @ ~normal(rows[i] @ others[i], 1)

    assert "kept as columns" not in str(both.explain())
    assert "kept as columns" not in str(two_rows.explain())
    trace = two_rows.simulate((X, X), rng=1)
    assert trace.log_prob == pytest.approx(two_rows.reference.assess((X, X), trace.choices).log_prob)


GRADIENTS = (
    "matmul", "dot_with_a_list", "loop_over_rows", "logistic", "cells", "with_a_sign", "centred_and_scaled",
    "powers", "parts_of_rows", "distances",
)  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, monkeypatch):
    model, (args, *_) = programs[name]
    trace = model.simulate(args, rng=2)
    names = ["b0", "b1"] if name == "cells" else ["b"]
    runs = []
    plate = Differentiate.plate

    def watched(self, *arguments):
        runs.append(plate(self, *arguments))
        return runs[-1]

    monkeypatch.setattr(Differentiate, "plate", watched)
    coordinates = Coordinates(trace, select(*names))
    point = coordinates.start()
    assert runs and all(runs)
    for i in range(coordinates.dim):
        change = np.zeros(coordinates.dim)
        change[i] = 1e-6
        up, down = (coordinates.log_density(coordinates.position + s * change) for s in (1, -1))
        assert point.gradient[i] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-5)


def test_what_is_no_matrix_or_out_of_range_is_left_to_python():
    ragged = [[0.5], [1.0, 2.0]]
    for other in (X[0].tolist(), X[0], X.astype(np.float32), X.astype(object), [X[0], X[1] > 0], ragged):
        with pytest.raises(NotColumnsError):
            vectors.rows(other, range(2))
    for index in (np.array([0, -1]), np.array([N]), range(8, N + 1), range(-1, 2), np.array([0.0]), "a"):
        with pytest.raises(NotColumnsError):
            vectors.rows(X, index)
        with pytest.raises(NotColumnsError):
            vectors.cells(X, index, 0)
    with pytest.raises(NotColumnsError):
        vectors.cells(X, np.array([0, 1]), 3)
    with pytest.raises(NotColumnsError):
        vectors.cells(X, np.array([0, 1]))
    vectors_of_others = np.ones(2), np.ones((3, 1)), 2.0, [math.nan, 1.0, 1.0], ["a", "b", "c"]
    for vector in (*vectors_of_others, np.ones(3, object)):
        with pytest.raises(NotColumnsError):
            vectors.dot(X, vector)
    with pytest.raises(NotColumnsError):
        vectors.dot(Z, np.ones(3, int))  # whose products are integers of NumPy's


def test_a_list_of_vectors_of_one_length_is_a_matrix():
    for some in ([X[0], X[1], X[2]], (X[0], X[1], X[2])):
        assert np.array_equal(vectors.rows(some, np.array([2, 0])), X[[2, 0]])
        assert vectors.rows(some, 1) is X[1] or np.array_equal(vectors.rows(some, 1), X[1])
    for other in ([X[0], X[1][:2]], [X[0], X[1].tolist()], [X, X], [X[0].astype(object)]):
        with pytest.raises(NotColumnsError):
            vectors.rows(other, np.array([0]))


def test_arithmetic_of_rows_is_that_of_each_row():
    for sign, other in (("+", 1.5), ("-", X[0]), ("*", 2), ("/", np.float64(3.0)), ("**", 2)):
        of_rows = vectors.rowwise(sign, X, other)
        one_by_one = [eval(f"row {sign} other", {"row": row, "other": other}) for row in X]
        assert np.array_equal(of_rows, one_by_one)
        one_by_one = [eval(f"2.5 {sign} row", {"row": row}) for row in X + 9]
        assert np.array_equal(vectors.rowwise(sign, 2.5, X + 9), one_by_one)
    lists = vectors.rows(X.tolist(), range(N))  # twice a list is a longer list
    for matrix in (lists, X > 0, X[0], X.astype(np.float32), "x"):
        with pytest.raises(NotColumnsError):
            vectors.rowwise("*", matrix, 2)
        with pytest.raises(NotColumnsError):
            vectors.signed(matrix)
    others = X, X[:, :1], X[0][:2], [1.0, 2.0, 3.0], True, None, np.ones(3, object), X[0].astype(np.float32)
    for other in others:
        with pytest.raises(NotColumnsError):
            vectors.rowwise("*", X, other)


def test_a_number_of_each_row_is_what_the_function_gives():
    for function in (np.sum, np.mean, np.linalg.norm):
        assert vectors.reduced(function, X) == pytest.approx([function(row) for row in X], rel=1e-14)
    wide = np.array([[1 << 40, 1 << 40], [3, 4]])
    assert vectors.reduced(np.linalg.norm, wide) == pytest.approx([np.linalg.norm(row) for row in wide])
    for matrix in (X > 0, X[0], WITH_NAN, vectors.rows(X.tolist(), range(N))):
        with pytest.raises(NotColumnsError):
            vectors.reduced(np.linalg.norm, matrix)
    with pytest.raises(NotColumnsError):
        vectors.reduced(np.sum, Z)  # whose sums are integers of NumPy's
    assert np.array_equal(vectors.parts(X, (None, None, -1)), X[:, ::-1])
