"""Choices of which each iteration looks its vector of parameters up, scored and drawn at once."""

from __future__ import annotations

import numpy as np
import pytest

from gendsl import categorical, dirichlet, gen, mixture_of_normals, normal, select, uniform_discrete
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.column_steps import column_total, drawn_column
from gendsl.runtime.column_updates import ColumnUpdate
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.lowering.vectors import Chosen, chosen
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import SEEDS, Programs

pytestmark = pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")

N = 80
ROWS = [[0.7, 0.2, 0.1], [0.1, 0.9, 0.0], [0.2, 0.3, 0.5]]
PROGRAMS = Programs()
written = PROGRAMS.written


@written(([0, 1, 2, 1],), ([2, 2, 1],), ([0, 1, 2, 1, 0, 1],))
@gen
def by_group(groups):
    weights = [("weights", g) @ ~dirichlet([1.0, 2.0, 3.0]) for g in range(3)]
    for i, g in enumerate(groups):
        ("z", i) @ ~categorical(weights[g])


@written(4, 3, 7)
@gen
def by_choice(n):
    for i in range(n):
        g = ("g", i) @ ~uniform_discrete(0, 2)
        z = ("z", i) @ ~categorical(ROWS[g])
        ("x", i) @ ~mixture_of_normals(ROWS[g], ROWS[z], [1.0, 2.0, 3.0])


@written((4, np.array(ROWS)), (3, np.array(ROWS)), (4, np.array(ROWS[::-1])))
@gen
def of_a_matrix(n, rows):
    for i in range(n):
        g = ("g", i) @ ~categorical(rows[i % 3])
        ("z", i) @ ~categorical(rows[g])


@pytest.mark.parametrize("columns_from", [2, 1000])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed, columns_from, in_columns):
    PROGRAMS.agree(name, seed, columns_from=columns_from)


def test_all_iterations_are_run_and_scored_at_once(monkeypatch):
    groups = (np.arange(N) % 3).tolist()
    extend = ColumnLoopBlock._extend

    def few(self, execution, frames, values, made):
        assert self.length(values) < self.least
        return extend(self, execution, frames, values, made)

    with monkeypatch.context() as patched:
        patched.setattr(ColumnLoopBlock, "_extend", few)
        trace = by_group.simulate((groups,), rng=1)
    frames = [trace._called.frame[block.state][0].frames for block in trace._called.linked.body.blocks]
    assert type(frames[-1]) is ColumnFrames
    monkeypatch.setattr(ColumnUpdate, "_iteration", None)
    new, weight, _ = trace.update({("weights", 1): [0.25, 0.25, 0.5]})
    expected = by_group.assess((groups,), new.choices).log_prob
    assert new.log_prob == pytest.approx(expected, abs=1e-9)
    assert weight == pytest.approx(expected - trace.log_prob, abs=1e-9)


def test_the_total():
    index = np.array([2, 0, 0, 1, 2, 2])
    x = np.array([1, 0, 2, 1, 0, 2])
    total = column_total(categorical, x, (Chosen(ROWS, index),))
    expected = sum(categorical(ROWS[k]).logpdf(int(v)) for k, v in zip(index, x, strict=True))
    assert total[0] + total[1] == pytest.approx(expected, abs=1e-12)
    x[3] = 2  # which has no chance in the second row
    assert column_total(categorical, x, (Chosen(ROWS, index),))[2] == 1
    assert column_total(categorical, x[:3], (Chosen(ROWS, index[:3]),))[2] == 0
    two = Chosen(ROWS, index), Chosen(ROWS, index[::-1]), [1.0, 1.0, 1.0]
    with pytest.raises(NotColumnsError):
        column_total(mixture_of_normals, x.astype(float), two)
    many = Chosen([ROWS[0]] * 300, np.arange(300))
    with pytest.raises(NotColumnsError):
        column_total(categorical, np.zeros(300, np.int64), (many,))


def test_draws():
    index = np.repeat([0, 2, 1, 0], 5000)
    x = drawn_column(categorical, np.random.default_rng(1), len(index), (Chosen(ROWS, index),))
    for k, row in enumerate(ROWS):
        counts = np.bincount(x[index == k], minlength=3)
        n = counts.sum()
        for count, p in zip(counts, row, strict=True):
            assert abs(count - n * p) <= 4 * np.sqrt(n * p * (1 - p))


@pytest.mark.parametrize(
    "index", [np.array([0, 3]), np.array([-1, 0]), 3, -1, range(-1, 2), np.array([0.0, 1.0])], ids=repr
)
def test_an_index_that_is_none(index):
    with pytest.raises(NotColumnsError):
        chosen(ROWS, index)


def test_gradients_take_them_one_by_one():
    @gen
    def model(n):
        a = ~normal(0, 1)
        rows = [[0.5, 0.5], [1 / (1 + a * a), 1 - 1 / (1 + a * a)]]
        for i in range(n):
            ("z", i) @ ~categorical(rows[i % 2])

    trace = model.simulate((N,), rng=1)
    slope = trace.gradients(select("a"))["a"]
    moved = [trace.update({"a": trace["a"] + d}).trace.log_prob for d in (1e-6, -1e-6)]
    assert slope == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-5, abs=1e-4)
