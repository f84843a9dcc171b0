"""Loops that fill a list, an array or a dict at an index next to their own: `x[t + 1] = ...`."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, uniform_discrete
from tests.runtime.idioms import SEEDS, Programs

programs = Programs()
written = programs.written


@written(4, 3, 6)
@gen
def chain_in_an_array(n):
    x = np.zeros(n + 1)
    for t in range(n):
        x[t + 1] = ("x", t) @ ~normal(x[t], 1)
        ("y", t) @ ~normal(x[t + 1], 1)
    return x


@written(4, 3, 6)
@gen
def with_a_first(n):
    x = np.zeros(n + 1)
    x[0] = ("start",) @ ~normal(0, 1)
    for t in range(n):
        x[1 + t] = ("x", t) @ ~normal(0.5 * x[t], 1)
    for t in range(n + 1):
        ("y", t) @ ~normal(x[t], 1)


@written(4, 5)
@gen
def before_in_a_list(n):
    x = [0.0] * n
    for t in range(1, n + 1):
        x[t - 1] = ("x", t) @ ~normal(t, 1)
        ("y", t) @ ~normal(x[t - 1] + x[0], 1)
    return x


@written(4, 2)
@gen
def from_the_end(n):
    x = [0.0] * (n + 2)
    for t in range(n):
        x[t - 2] = ("x", t) @ ~normal(t, 1)  # the last two entries come first
    for t in range(n + 2):
        ("y", t) @ ~normal(x[t], 1)
    return x


@written(4, 3)
@gen
def in_a_dict(n):
    x = {0: 0.0}
    for t in range(n):
        z = ("z", t) @ ~bernoulli(0.5)
        m = x[t] if z else -x[t]
        x[t + 1] = ("x", t) @ ~normal(m, 1)
    for i, v in enumerate(x.values()):
        ("y", i) @ ~normal(v, 1)
    return x


@written(4, 3)
@gen
def two_steps(n):
    x = np.zeros(2 * n + 2)
    for t in range(0, 2 * n, 2):
        x[t + 1] = ("x", t) @ ~normal(x[t - 1], 1)
    s = ~normal(x.sum(), 1)
    return s


@written(4, 3)
@gen
def whole_numbers(n):
    z = np.zeros(n + 1, int)
    for t in range(n):
        z[t + 1] = ("z", t) @ ~uniform_discrete(0, 2)
        ("y", t) @ ~normal([0.0, 1.0, 4.0][z[t + 1]] + z[t], 1)


@written(60, 55)
@gen
def a_plate_in_columns(n):
    x = np.zeros(n + 1)
    for i in range(n):
        x[i + 1] = ("x", i) @ ~normal(i, 1)
    for i in range(n):
        ("y", i) @ ~normal(x[i] + x[i + 1], 1)
    return x[3]


@written(([2, 0, 1],), ([1, 0],), ([0, 0, 3],))
@gen
def an_index_that_does_not_count(order):
    x = [0.0] * 5
    for k in order:
        x[k + 1] = ("x", k + 1, len(order)) @ ~normal(x[k], 1) if k < 0 else 0.5
        ("y", k) @ ~normal(x[k + 1], 1) if k < 0 else None
    return x


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", programs)
def test_both_runtimes_agree(name, seed):
    programs.agree(name, seed)


def test_they_are_followed_by_entry():
    for name in ("chain_in_an_array", "with_a_first", "before_in_a_list", "in_a_dict", "whole_numbers"):
        assert "opaque" not in str(programs[name][0].explain())


def test_many_entries_of_a_plate_are_changed_at_once():
    """The keys of the entries are found, though the loop variable is none of them."""
    trace = a_plate_in_columns.simulate((60,), rng=1)
    given = {("x", i): 0.1 * i for i in range(40)}
    after = trace.update(given).trace
    assert after.log_prob == pytest.approx(a_plate_in_columns.reference.assess((60,), after.choices).log_prob)
    assert after.retval == pytest.approx(0.2)
    again = after.update({("x", 2): 7.0}).trace
    assert again.log_prob == pytest.approx(a_plate_in_columns.reference.assess((60,), again.choices).log_prob)
    assert again.retval == 7.0
