"""Iterations that write at other keys than they did, in containers that are others, too."""

import math

import numpy as np
import pytest

from gendsl import gen, normal, uniform_discrete
from tests.runtime.idioms import Programs

PROGRAMS = Programs()
written = PROGRAMS.written
KEYS = math.nan, 0.0, -0.0


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def from_the_end_of_a_list(n, k):
    w = [0.5] * n
    for i in range(k):
        z = ("z", i) @ ~uniform_discrete(-2, 2)
        w[z] = ("w", i) @ ~normal(w[0] + w[-1], 1)
    return w


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def from_the_end_of_an_array(n, k):
    w = np.zeros(n)
    for i in range(k):
        z = ("z", i) @ ~uniform_discrete(-2, 2)
        w[z] = ("w", i) @ ~normal(w[0] + w[-1], 1)
    for j in range(n):
        ("y", j) @ ~normal(w[j], 1)
    return w


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def from_the_end_of_rows(n, k):
    w = [[0.0] * n for _ in range(n + 1)]
    for i in range(k):
        row = ("row", i) @ ~uniform_discrete(-2, 2)
        at = ("at", i) @ ~uniform_discrete(-1, 1)
        w[row][at] = ("w", i) @ ~normal(w[0][row] + w[-1][at], 1)
    for j in range(n):
        ("y", j) @ ~normal(w[j][j] + w[-1][-j], 1)
    return w


@written(3, 5, 2)
@gen
def keys_that_equal_nothing(n):
    d = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        d[KEYS[z]] = ("d", i) @ ~normal(0, 1)
        ("y", i) @ ~normal(d[KEYS[z]] + (KEYS[z] in d), 1)
    return len(d), [*d.values()]


@written(3, 5, 2)
@gen
def several_keys_that_equal_nothing(n):
    d = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        d[KEYS[z]] = ("d", i) @ ~normal(0, 1)
        d[KEYS[z - 1]] = ("e", i) @ ~normal(d[KEYS[z]], 1)
    return len(d), d[KEYS[z]], [*d.values()]


test_both_runtimes_agree = PROGRAMS.test_of_agreement(columns_from=[None, 2])
test_none_is_executed_whole = PROGRAMS.test_of_blocks()


def test_a_key_moves_in_a_list_that_grows():
    model, _ = PROGRAMS["from_the_end_of_a_list"]
    for size in (3, 40):
        start = {("z", 0): -1, ("z", 1): -1, ("z", 2): 2} | {("z", i): 0 for i in range(3, size)}
        trace = model.generate((3, size), init=start, rng=1).trace.update({("z", 1): 0}, args=(4, size)).trace
        fresh = model.reference.assess((4, size), trace.choices)
        assert (trace.retval, trace.log_prob) == (fresh.retval, pytest.approx(fresh.log_prob))
