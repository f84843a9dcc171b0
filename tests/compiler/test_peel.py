"""The first iteration of a loop is made before it where others have more in common without it."""

import numpy as np
import pytest

from gendsl import gamma, gen, mvnormal, normal
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome


@gen
def one_scale_first(n):
    first = ~gamma(2, 1)
    other = ~gamma(3, 1)
    for t in range(n):
        sd = first if t == 0 else other
        ("x", t) @ ~normal(0.1 * t, sd)


@gen
def carried(n):
    phi = ~normal(0, 1)
    s = ~gamma(2, 1)
    x = 0.0
    for t in range(n):
        if t > 0:
            mean, sd = phi * x, s
        else:
            mean, sd = 1.0, 2 * s
        x = ("x", t) @ ~normal(mean, sd)
        ("y", t) @ ~normal(x + t, 1)
    ("last", n) @ ~normal(x, sd if n > 0 else 1.0)


@gen
def set_by_the_last(n):
    s = ~gamma(2, 1)
    for t in range(n):
        sd = 0.5 if t == 0 else s
        if t > 0:
            ("y", t) @ ~normal(last, sd)  # noqa: F821
        last = ("x", t) @ ~normal(t, sd)


@gen
def from_one(n):
    s = ~gamma(2, 1)
    total = 0.0
    for t in range(1, n):
        total += t
        sd = 1.5 if t < 2 else s
        ("x", t) @ ~normal(total, sd)


@gen
def from_a_number(n, start):
    s = ~gamma(2, 1)
    for t in range(start, n):
        sd = 0.5 if t == start else s
        ("x", t - start) @ ~normal(t, sd)


@gen
def bounds_that_change(n):
    s = ~gamma(2, 1)
    stop = n
    for t in range(stop):
        stop = 2
        sd = 0.5 if t == 0 else s
        ("x", t) @ ~normal(stop + t, sd)


@gen
def left_early(n):
    s = ~gamma(2, 1)
    for t in range(n):
        sd = 0.5 if t == 0 else s
        x = ("x", t) @ ~normal(t, sd)
        if x < 0.3:
            continue
        if x > 4:
            break
        ("y", t) @ ~normal(x, sd)


@gen
def the_counter_is_another(n):
    s = ~gamma(2, 1)
    for t in range(n):
        sd = 0.5 if t == 0 else s
        ("x", t) @ ~normal(t, sd)
        t = t + 7
        ("y", t) @ ~normal(t, sd)
    ("t", 0) @ ~normal(t if n > 0 else 0.0, 1)


@gen
def in_a_loop(n):
    s = ~gamma(2, 1)
    for i in range(3):
        for t in range(i, n):
            sd = 0.5 if t == i else s
            ("x", i, t) @ ~normal(i + t, sd)


@gen
def matrices(n, start, noise):
    x = np.zeros(2)
    for t in range(n):
        x = ("x", t) @ ~mvnormal(x, start if t == 0 else noise)


NOISE = np.array([[2.0, 0.3], [0.3, 1.0]])
PROGRAMS = [
    (one_scale_first, ()), (carried, ()), (set_by_the_last, ()), (from_one, ()),
    (from_a_number, (1,)), (from_a_number, (-2,)),
    (bounds_that_change, ()), (left_early, ()), (the_counter_is_another, ()), (in_a_loop, ()),
    (matrices, (np.eye(2), NOISE)),
]  # fmt: skip


@pytest.mark.parametrize(("model", "more"), PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 12])
def test_all_iterations_are_made_once(model, more, n):
    for rng in range(3):
        assert outcome(model, (n, *more), rng=rng) == "equal"


@pytest.mark.parametrize("model", [one_scale_first, carried, from_one])
def test_first_iterations_stand_before_their_loops(model):
    """So that the logarithm of the scale is computed once."""
    text = ClosedDensity(model, (40,)).text
    assert "range(1, " in text or "t_left = 1" in text


def test_a_matrix_of_all_other_iterations_is_factorised_once():
    text = ClosedDensity(matrices, (40, np.eye(2), NOISE)).text.partition("def matrices")[2]
    loop = text.partition("for t in range(1, n)")[2]
    assert "check_mvnormal_once" in text.partition("for t in range(1, n)")[0]
    assert "check_mvnormal_once" not in loop


@gen
def little_in_common(n):
    for t in range(n):
        mean = 0.5 if t == 0 else 2.0 * t
        ("x", t) @ ~normal(mean, 1)


def test_a_loop_that_would_win_nothing_stays_one():
    text = ClosedDensity(little_in_common, (40,)).text
    assert "_first" not in text
