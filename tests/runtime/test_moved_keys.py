"""Iterations that write at other keys than they did, in containers that are others, too."""

import math

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, uniform_discrete
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


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def read_after_the_loop(n, k):
    w = [0.5] * n
    for i in range(k):
        z = ("z", i) @ ~uniform_discrete(-2, 2)
        w[z] = ("w", i) @ ~normal(0, 1)
    for j in range(n):
        ("y", j) @ ~normal(w[j], 1)
    return w


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def the_last_ones(n, k):
    w = [0.5] * n
    for i in range(1, 3):
        w[-i] = ("w", i) @ ~normal(w[1], 1)
    for j in range(3):
        ("y", j) @ ~normal(w[j] + k, 1)
    return w


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def some_of_them(n, k):
    f = [[0.5] * 2 for _ in range(n)]
    for i in range(k):
        z = ("z", i) @ ~uniform_discrete(-2, 2)
        if z != 1:
            f[z][z % 2] = ("f", i) @ ~normal(f[1][0], 1)
    for j in range(n):
        ("y", j) @ ~normal(f[j][0] + f[j][1], 1)
    return f


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def after_what_was_there(n, k):
    w = [0.5] * n
    for i in range(k):
        w.append(("w", i) @ ~normal(0, 1))
    for j in range(5):
        ("y", j) @ ~normal(w[j], 1)
    return w


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def after_two_loops(n, k):
    w = []
    for i in range(n):
        w.append(("v", i) @ ~normal(0, 1))
    for i in range(k):
        w.append(("w", i) @ ~normal(w[-1], 1))
    for i in range(3):
        w[-1 - i] = ("q", i) @ ~normal(w[-3], 1)
    for j in range(n):
        ("y", j) @ ~normal(w[j] + w[-j], 1)
    return w


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def in_a_list_of_choices(n, k):
    w = [("v", i) @ ~normal(0, 1) for i in range(n)]
    for i in range(k):
        z = ("z", i) @ ~uniform_discrete(-3, 2)
        w[z] = ("w", i) @ ~normal(0, 1)
    for j in range(n):
        ("y", j) @ ~normal(w[j], 1)


@written(3, 5, 2)
@gen
def how_many(n):
    d = {}
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 2)
        for j in range(z):
            d[i, j] = ("d", i, j) @ ~normal(0, 1)
    ("size",) @ ~normal(len(d), 1)
    for i in range(n):
        if (i, 1) in d:
            ("y", i) @ ~normal(d[i, 1] + len(d), 1)


@written((5, 3), (3, 2), (4, 6), (6, 1))
@gen
def written_or_read(n, k):
    w = [0.5] * n
    for i in range(k):
        z = ("z", i) @ ~uniform_discrete(-2, 2)
        b = ("b", i) @ ~bernoulli(0.5)
        if b:
            w[z] = ("w", i) @ ~normal(w[0] + w[-1], 1)
        else:
            ("y", i) @ ~normal(w[z], 1)
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


@pytest.mark.parametrize(
    "name",
    ["read_after_the_loop", "the_last_ones", "some_of_them", "after_what_was_there", "after_two_loops"],
)
def test_a_list_grows_and_shrinks(name):
    model, _ = PROGRAMS[name]
    trace = model.simulate((5, 3), rng=1)
    for size in (6, 7, 4, 5, 3, 4):
        trace = trace.update({}, args=(size, 3), rng=size).trace
        fresh = model.reference.assess((size, 3), trace.choices)
        assert (trace.retval, trace.log_prob) == (fresh.retval, pytest.approx(fresh.log_prob))


def test_an_entry_is_found_from_the_other_end():
    """The same entry, until the list grows."""
    model, _ = PROGRAMS["read_after_the_loop"]
    trace = model.generate((5, 3), init={("z", 0): 2, ("z", 1): 1, ("z", 2): 0}, rng=1).trace
    for choices, size in (({}, 3), ({("z", 0): -1}, 3), ({}, 6)):
        trace = trace.update(choices, args=(size, 3), rng=1).trace
    fresh = model.reference.assess((6, 3), trace.choices)
    assert (trace.retval, trace.log_prob) == (fresh.retval, pytest.approx(fresh.log_prob))


def test_a_list_of_choices_that_shrinks_has_no_room():
    model, _ = PROGRAMS["in_a_list_of_choices"]
    trace = model.generate((5, 3), init={("z", i): i for i in range(3)}, rng=1).trace
    for runtime in (model, model.reference):
        with pytest.raises(IndexError):
            runtime.generate((5, 3), init=trace.choices).trace.update({}, args=(2, 3))


def test_an_inner_loop_that_grows_makes_a_dict_longer():
    model, _ = PROGRAMS["how_many"]
    trace = model.generate((3,), init={("z", i): 1 for i in range(3)}, rng=1).trace
    for inner in (2, 0, 1, 2):
        trace = trace.update({("z", 1): inner}, rng=1).trace
        assert trace.log_prob == pytest.approx(model.reference.assess((3,), trace.choices).log_prob)


@pytest.mark.parametrize("now", [0, -2])
def test_a_key_moves_where_the_iteration_looks_up_from_the_end(now):
    """In a trace in which nobody has asked yet which iterations write where."""
    model, _ = PROGRAMS["written_or_read"]
    start = {("b", 0): True, ("z", 0): -1}
    trace = model.generate((3, 1), init=start, rng=1).trace
    trace.update({("z", 0): now}, rng=1)  # from now on it is known who reads what
    for args in ((4, 2), (3, 1)):
        trace = trace.update({}, args=args, rng=1).trace
    trace = trace.update({("z", 0): now}, rng=1).trace
    fresh = model.reference.assess((3, 1), trace.choices)
    assert (trace.retval, trace.log_prob) == (fresh.retval, pytest.approx(fresh.log_prob))
