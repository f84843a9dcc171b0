"""An edit costs the same for many entries, where nested loops look up in what they fill."""

import os

import numpy as np
import pytest

from gendsl import gen, normal
from tests.runtime.test_cost import GROWTH, calls

pytestmark = [
    pytest.mark.skipif(os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"),
    pytest.mark.usefixtures("unwatched"),
]


@gen
def panel(n):
    rho = ~normal(0, 1)
    y = np.zeros((n, 4))
    for i in range(n):
        y[i, 0] = ~normal(0, 1)
        for t in range(1, 4):
            y[i, t] = ~normal(0.5 * y[i, t - 1], 1)
    for i in range(n):
        ("o", i) @ ~normal(y[i, 3] + y[i].sum(), 1)


@gen
def long_panel(n):
    y = np.zeros((3, n))
    for i in range(3):
        for t in range(n):
            y[i, t] = ~normal(y[i, t - 1] if t > 0 else 0.0, 1)


@gen
def arms(n):
    x = np.zeros((n, 3))
    for t in range(n):
        for j in range(3):
            if t == 0:
                x[t, j] = ~normal(0, 1)
            else:
                x[t, j] = ~normal(x[t - 1, j], 1)
        ("y", t) @ ~normal(x[t, 0] + x[t, 2], 1)


@gen
def arms_of_a_chain(n):
    x = np.zeros(n)
    y = []
    for t in range(n):
        if t == 0:
            x[t] = ~normal(0, 1)
            y.append(("y", t) @ ~normal(x[t], 1))
        else:
            x[t] = ~normal(x[t - 1], 1)
            y.append(("y", t) @ ~normal(x[t] + y[t - 1], 1))


@gen
def lists(n):
    x = [[0.0] * 3 for _ in range(n)]
    for t in range(n):
        for j in range(3):
            x[t][j] = ~normal(x[t - 1][j] if t > 0 else 0.0, 1)
        ("y", t) @ ~normal(sum(x[t]), 1)


@gen
def field(n):
    x = {}
    for t in range(n):
        for j in range(3):
            mean = 0.3 * (x[t - 1, j] if t > 0 else 0.0) + 0.3 * (x[t, j - 1] if j > 0 else 0.0)
            x[t, j] = ~normal(mean, 1)
            ("y", t, j) @ ~normal(x[t, j], 1)


@gen
def vector_chain(n):
    a = 0.3 * np.ones((3, 3))
    x = np.zeros((n, 3))
    for t in range(1, n):
        mean = a @ x[t - 1]
        for j in range(3):
            x[t, j] = ~normal(mean[j], 1)
    for t in range(n):
        ("y", t) @ ~normal(x[t, :].sum(), 1)


COSTS = [
    (panel, ("y", 700, 2)), (panel, ("y", 700, 0)), (panel, ("o", 3)), (long_panel, ("y", 1, 700)),
    (arms, ("x", 700, 1)), (arms_of_a_chain, ("x", 700)), (lists, ("x", 700, 1)), (field, ("x", 700, 1)),
    (field, ("y", 700, 1)), (vector_chain, ("x", 700, 1)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("model", "address"), COSTS, ids=lambda part: getattr(part, "name", str(part)))
def test_an_edit_costs_what_depends_on_it(model, address):
    counts = []
    for n in (800, 1600):
        trace = model.simulate((n,), rng=1).update({address: 0.1}).trace
        counts.append(calls(lambda: trace.update({address: 0.5})))
    assert counts[1] <= GROWTH * counts[0]
    assert counts[0] < 1500
