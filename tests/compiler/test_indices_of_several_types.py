"""Indices of arrays of which one type or another is known: an integer, a list, a mask or an array."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, half_normal, iid, normal, product
from gendsl.compiler.run.closed_move import ClosedKernel
from gendsl.inference import random_walk
from tests.compiler.closed_outcomes import outcome

RNG = np.random.default_rng(0)
DATA = {
    "group": RNG.integers(0, 4, 30), "x": RNG.normal(size=30), "one": 2, "mask": RNG.random(4) < 0.5,
    "some": [0, 2, 1], "pair": (1, 2),
}  # fmt: skip


@gen
def read_at(data):
    e = ~iid(normal(0, 1), 4)
    total = e[data["group"]].sum() + e[data["one"]] + e[data["mask"]].sum() + e[data["some"]].sum()
    y = ~normal(total, 1)
    return e[data["group"]] * data["x"]


@gen
def written_at(data):
    e = ~iid(normal(0, 1), 4)
    weights = np.zeros(4)
    weights[data["group"]] = 1.0
    weights[data["one"]] = 3.0
    weights[data["mask"]] += 2.0
    weights[data["some"]] = e[:3]
    y = ~normal((weights * e).sum(), 1)
    return weights


@gen
def of_a_matrix(data):
    e = ~iid(normal(0, 1), 4)
    z = ~bernoulli(0.5)
    A = np.outer(e, e + 1.0)
    i = data["some"] if z else data["group"]
    j = 1 if z else np.array([1, 2])
    y = ~normal(A[i].sum() + A[data["one"], data["group"]].sum() + np.sum(A[:, j]) + A[data["pair"]], 1)
    return A[i]


@pytest.mark.parametrize("program", [read_at, written_at, of_a_matrix], ids=lambda program: program.name)
def test_each_means_what_it_is(program):
    for seed in range(5):
        assert outcome(program, (DATA,), rng=seed) == "equal"


@gen
def by_group(data):
    s = ~half_normal(1)
    e = ~iid(normal(0, 1), 4)
    y = ~product(normal, e[data["group"]] + data["x"], np.full(30, s))


def test_charts_of_a_product_of_what_they_pick():
    trace = by_group.simulate((DATA,), rng=1)
    closed = ClosedKernel(by_group, trace.args, [random_walk().move])
    assert {template.name for template in closed.lowered.templates} == {"s", "e", "y"}
