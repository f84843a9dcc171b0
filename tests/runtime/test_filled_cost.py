"""An edit of one choice costs the same for many entries, where a program computes an entry from each."""

import math
import os

import numpy as np
import pytest

from gendsl import gen, normal, select, uniform_discrete
from tests.runtime.test_cost import GROWTH, calls

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
    ),
    pytest.mark.usefixtures("unwatched"),
]

SMALL, LARGE = 300, 3000


@gen
def listed(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(v) for v in x]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)


@gen
def gone_through(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(v) for v in x]
    for i, v in enumerate(w):
        ("y", i) @ ~normal(v, 1)


@gen
def appended(n):
    x = []
    for i in range(n):
        x.append(("x", i) @ ~normal(0, 1))
    w = []
    for v in x:
        e = math.exp(v)
        w.append(e)
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)


@gen
def filled_in(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [0.0] * n
    for i in range(n):
        w[i] = math.exp(x[i])
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)


@gen
def array(n):
    x = np.zeros(n)
    for i in range(n):
        x[i] = ~normal(0, 1)
    w = np.zeros(n)
    for i in range(n):
        w[i] = math.exp(x[i])
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)


@gen
def whole_array(n):
    x = np.zeros(n)
    for i in range(n):
        x[i] = ~normal(0, 1)
    w = np.exp(x)
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)


@gen
def one_after_the_other(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    w = [math.exp(v) for v in x]
    u = [2 * a + b for a, b in zip(w, x, strict=True)]
    for i in range(n):
        ("y", i) @ ~normal(math.exp(u[i] / 10), 1)


@gen
def looked_up(n):
    mu = [("mu", j) @ ~normal(0, 1) for j in range(20)]
    z = [("x", i) @ ~uniform_discrete(0, 19) for i in range(n)]
    m = [math.exp(mu[c]) for c in z]
    for i in range(n):
        ("y", i) @ ~normal(m[i], 1)


@gen
def in_a_dict(n):
    x = {i: ("x", i) @ ~normal(0, 1) for i in range(n)}
    w = {k: math.exp(v) for k, v in x.items()}
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)


@gen
def filled_dict(n):
    x = {i: ("x", i) @ ~normal(0, 1) for i in range(n)}
    w = {}
    for k, v in x.items():
        w[k] = math.exp(v)
    u = [2 * v for v in w.values()]
    for i in range(n):
        ("y", i) @ ~normal(u[i], 1)


@gen
def neighbours(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    d = [math.exp(x[i] - x[i - 1]) for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(d[i], 1)


PROGRAMS = [
    listed, gone_through, appended, filled_in, array, whole_array, one_after_the_other, looked_up, in_a_dict,
    filled_dict, neighbours,
]  # fmt: skip


def counted(action):
    counts = [calls(action(n)) for n in (SMALL, LARGE)]
    assert counts[1] <= GROWTH * counts[0]


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_one_choice(program):
    def action(n):
        trace = program.simulate((n,), rng=1)
        for seed in range(6):  # after some such edits it pays to know which entry reads what
            trace = trace.regenerate(select(("x", seed)), rng=seed)[0]
        return lambda: trace.regenerate(select(("x", n // 2)), rng=1)

    counted(action)


@pytest.mark.parametrize("more", [1, -1])
@pytest.mark.parametrize("program", [listed, gone_through, appended, one_after_the_other])
def test_one_entry_more_or_less(program, more):
    def action(n):
        trace = program.simulate((n,), rng=1)
        trace = trace.update({("x", 3): 0.5}).trace
        return lambda: trace.update(args=(n + more,), rng=1)

    counted(action)


def test_a_cluster_mean_costs_its_members():
    def action(n):
        z = {("x", i): 1 if i in (3, 5, 8) else 2 + i % 10 for i in range(n)}
        trace = looked_up.generate((n,), init=z, rng=1).trace
        for value in range(6):
            trace = trace.update({("mu", 1): 0.1 * value}).trace
        return lambda: trace.update({("mu", 1): 0.7})

    counted(action)


@gen
def scaled(n):
    a = ~normal(0, 1)
    w = [a * i for i in range(n)]
    for i in range(n):
        ("y", i) @ ~normal(w[i], 1)


def test_what_all_entries_read():
    def action(n):
        trace = scaled.simulate((n,), rng=1)
        return lambda: trace.update({("a",): 0.7})

    counted(action)


def test_a_rejected_edit_leaves_what_was_found_out():
    trace = listed.simulate((LARGE,), rng=1)
    trace.update({("x", 1): 0.5})
    few = calls(lambda: trace.update({("x", 2): 0.5}))
    again = trace.update({("x", 3): 0.5}).trace
    assert calls(lambda: again.update({("x", 2): 0.5})) <= GROWTH * few
