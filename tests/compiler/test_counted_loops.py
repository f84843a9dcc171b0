"""Loops that count up to a number as loops over ranges: which do, and that all do what they did."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, poisson
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome


@gen
def below(n):
    i = 0
    while i < n:
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def turned_round(n):
    i = 0
    while n > i:
        ("x", i) @ ~normal(i, 1)
        i = 1 + i


@gen
def up_to(n):
    i = 1
    while i <= n:
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def at_least(n):
    i = 2
    while n - 1 >= i:
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def until(n):
    i = 0
    while True:
        if i >= n:
            break
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def unless(n):
    i = 0
    while not i > n - 1:
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def in_the_middle(n):
    """What stands behind the increase has the number of the next iteration."""
    i = 0
    before = 0.0
    while i < n:
        x = ("x", i) @ ~normal(before + i, 1)
        i += 1
        ("y", i) @ ~normal(x * i, 1)
        before = x


@gen
def read_after(n, first):
    """The number is read behind the loop, also where there is no iteration."""
    i = first
    while i < n:
        ("x", i) @ ~normal(i, 1)
        i += 1
    "y" @ ~normal(i, 1)


@gen
def nested(n):
    i = 0
    while i < n:
        j = i
        while j < n:
            ("x", i, j) @ ~normal(i - j, 1)
            j += 1
        ("z", i) @ ~normal(j, 1)
        i += 1


@gen
def one_after_another(n):
    i = 0
    while i < n:
        ("x", i) @ ~normal(i, 1)
        i += 1
    while i < 2 * n:
        ("x", i) @ ~normal(-i, 1)
        i += 1


@gen
def along(values):
    total, i = 0.0, 0
    while i < len(values):
        total += values[i]
        ("x", i) @ ~normal(total, 1)
        i += 1


@gen
def a_drawn_number(rate):
    n = ~poisson(rate)
    i = 0
    while i < n:
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def ends_early(n):
    """A return in the loop."""
    i = 0
    while i < n:
        x = ("x", i) @ ~normal(i, 1)
        if x > 4:
            return i
        i += 1
    "y" @ ~normal(i, 1)
    return -1


@gen
def left(n):
    i = 0
    while i < n:
        if ("z", i) @ ~bernoulli(0.3):
            break
        i += 1
    "y" @ ~normal(i, 1)


@gen
def goes_on(n):
    i = 0
    while i < n:
        i += 1
        if i % 2:
            continue
        ("x", i) @ ~normal(i, 1)


@gen
def changes_its_end(n):
    i = 0
    while i < n:
        ("x", i) @ ~normal(n, 1)
        if i % 3 == 0:
            n -= 1
        i += 1
    "y" @ ~normal(n, 1)


@gen
def grows(n):
    values, i = [0.0], 0
    while i < len(values):
        x = ("x", i) @ ~normal(values[i], 1)
        if len(values) < n:
            values.append(x)
        i += 1


@gen
def becomes_another(n):
    """The list is another one in each iteration."""
    values, i = [float(j) for j in range(n)], 0
    while i < len(values):
        ("x", i) @ ~normal(values[i], 1)
        values = values[:-1]
        i += 1


@gen
def two_at_a_time(n):
    i = 0
    while i < n:
        ("x", i) @ ~normal(i, 1)
        i += 2


@gen
def now_and_then(n):
    i, count = 0, 0
    while i < n:
        ("x", count) @ ~normal(i, 1)
        if count % 2:
            i += 1
        count += 1


@gen
def twice(n):
    i = 0
    while i < n:
        i += 1
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def to_a_float(n):
    i, end = 0, n - 0.5
    while i < end:
        ("x", i) @ ~normal(i, 1)
        i += 1


@gen
def of_itself(n):
    i = 0
    while i < 2 * n - i:
        ("x", i) @ ~normal(i, 1)
        i += 1


COUNTED = [
    below, turned_round, up_to, at_least, until, unless, in_the_middle, nested, one_after_another,
    a_drawn_number, ends_early,
]  # fmt: skip
OTHERS = [
    left, goes_on, changes_its_end, grows, becomes_another, two_at_a_time, now_and_then, twice, to_a_float,
    of_itself,
]  # fmt: skip


@pytest.mark.parametrize("model", COUNTED + OTHERS, ids=lambda one: one.name)
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_iterations_are_what_they_were(model, n):
    for rng in range(3):
        assert outcome(model, (n,), rng=rng) == "equal"


@pytest.mark.parametrize("args", [(5, 0), (5, 5), (5, 9), (-1, 3)])
def test_the_number_behind_the_loop(args):
    assert outcome(read_after, args, rng=1) == "equal"


@pytest.mark.parametrize("values", [[], [1.5], [1.0, 2.0, 0.5], np.arange(4.0)])
def test_along_a_list(values):
    assert outcome(along, (values,), rng=1) == "equal"
    assert "while" not in ClosedDensity(along, ([1.0, 2.0],)).text


@pytest.mark.parametrize("model", COUNTED, ids=lambda one: one.name)
def test_loops_that_count_are_over_ranges(model):
    assert "while" not in ClosedDensity(model, (5,)).text


@pytest.mark.parametrize("model", OTHERS, ids=lambda one: one.name)
def test_others_stay(model):
    assert "while" in ClosedDensity(model, (5,)).text
