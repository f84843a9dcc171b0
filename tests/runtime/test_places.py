"""Plates that look for the segment that a number is in: at once, as one by one."""

import bisect

import numpy as np
import pytest

from gendsl import gamma, gen, normal, poisson, select, uniform
from gendsl.inference import Coordinates
from gendsl.runtime.column_frames import ColumnFrames
from gendsl.runtime.column_loops import ColumnLoopBlock
from gendsl.runtime.lowering import vectors
from gendsl.runtime.lowering.tables import NotColumnsError
from gendsl.runtime.watched import runs_whole
from tests.runtime.idioms import SEEDS, Programs

programs = Programs()
written = programs.written
TIMES = np.linspace(0, 1, 60)
HALVES = (np.arange(60) // 2 / 4).tolist()


@written(60, 55, 5)
@gen
def counted(n):
    k = ~poisson(2)
    cps = [("c", j) @ ~uniform(0, 1) for j in range(k)]
    hs = [("h", j) @ ~gamma(2, 1) for j in range(k + 1)]
    for i in range(n):
        seg = sum(c < i / n for c in cps)
        ("y", i) @ ~poisson(hs[seg])


@written((TIMES,), (TIMES[::-1],), (HALVES,))
@gen
def in_all_senses(times):
    cuts = [1.0, 0.5, 0.25, 0.5]
    h = [("h", j) @ ~normal(0, 1) for j in range(5)]
    for i, t in enumerate(times):
        a = sum(t >= c for c in cuts)
        b = sum([c <= t for c in cuts])
        ("y", i) @ ~normal(h[a] + 10 * h[b], 1)
        ("z", i) @ ~normal(h[sum(c > t for c in cuts)] - h[sum(c >= t for c in cuts)], 1)
        ("u", i) @ ~normal(h[sum(t < c for c in cuts)] - h[sum(t <= c for c in cuts)], 1)


@written((TIMES,), (HALVES,), (TIMES[:4],))
@gen
def found(times):
    cuts = np.array([0.25, 0.5, 0.5, 1.0])
    h = [("h", j) @ ~normal(0, 1) for j in range(5)]
    for i in range(len(times)):
        ("y", i) @ ~normal(h[np.searchsorted(cuts, times[i])], 1)
        ("z", i) @ ~normal(h[bisect.bisect(cuts, times[i])] + h[bisect.bisect_left(cuts, times[i])], 1)


@written(60, 55, 5)
@gen
def sorted_first(n):
    cps = sorted([("c", j) @ ~uniform(0, 1) for j in range(3)])
    hs = [("h", j) @ ~gamma(2, 1) for j in range(4)]
    for i in range(n):
        ("y", i) @ ~poisson(hs[bisect.bisect_right(cps, i / n)])


@written(60, 55)
@gen
def not_sorted(n):
    cps = [("c", j) @ ~uniform(0, 1) for j in range(3)]
    hs = [("h", j) @ ~gamma(2, 1) for j in range(4)]
    for i in range(n):
        ("y", i) @ ~poisson(hs[bisect.bisect(cps, i / n)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", programs)
def test_both_runtimes_agree(name, seed):
    programs.agree(name, seed)


@pytest.mark.skipif(runs_whole(), reason="the reference runtime has no columns")
@pytest.mark.parametrize("name", ["counted", "in_all_senses", "found", "sorted_first"])
def test_they_run_at_once(name):
    model, (args, *_) = programs[name]
    called = model.simulate(args, rng=1)._called
    stores = [
        called.frame[block.state][0].frames
        for block in called.linked.body.blocks
        if isinstance(block, ColumnLoopBlock) and any(parts[0][0] == "y" for parts in block.templates)
    ]
    assert [type(store) for store in stores] == [ColumnFrames]


def test_gradients():
    trace = sorted_first.simulate((60,), rng=3)
    coordinates = Coordinates(trace, select("h"))
    point = coordinates.start()
    for i in range(coordinates.dim):
        change = np.zeros(coordinates.dim)
        change[i] = 1e-6
        up, down = (coordinates.log_density(coordinates.position + s * change) for s in (1, -1))
        assert point.gradient[i] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-5)


def test_what_has_no_order_is_left_to_python():
    for values in ([np.nan, 1.0], [True, False], ["a"], [1.0, None], np.ones((2, 2))):
        with pytest.raises(NotColumnsError):
            vectors.count(values, "<", TIMES)
        with pytest.raises(NotColumnsError):
            vectors.place(TIMES, values, "left")
    with pytest.raises(NotColumnsError):
        vectors.place([2.0, 1.0], TIMES, "left")
