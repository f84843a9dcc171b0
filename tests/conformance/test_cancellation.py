"""Scores of any size come and go, and what is left is the sum of the others."""

import pytest

from gendsl import gen, normal

pytestmark = pytest.mark.usefixtures("runtime")


@gen
def plate(scales, n):
    for i in range(n):
        ("x", i) @ ~normal(0.0, scales[i])


@gen
def walk(n):
    x = 0.0
    for t in range(n):
        x = ("x", t) @ ~normal(x, 1.0)


def right(program, trace):
    fresh = program.reference.assess(trace.args, trace.choices).log_prob
    assert trace.log_prob == pytest.approx(fresh, rel=1e-9)


@pytest.mark.parametrize("n", [12, 100])
def test_in_a_plate(n):
    scales = [1.0 + 0.1 * i for i in range(n)]
    trace = plate.simulate((scales, n), rng=1)
    trace = trace.update({("x", n - 1): 1e16, ("x", 3): 2.0}).trace
    right(plate, trace)
    right(plate, trace.update(args=(scales, 5)).trace)
    trace = trace.update({("x", 0): 2.0**53 + 1}).trace
    trace = trace.update({("x", n - 1): 0.5, ("x", 0): 1e-3}).trace
    right(plate, trace)


def test_in_a_chain():
    trace = walk.simulate((30,), rng=1)
    trace = trace.update({("x", 10): 1e16}).trace
    right(walk, trace.update(args=(5,)).trace)
    right(walk, trace.update({("x", 10): 0.5}).trace)
