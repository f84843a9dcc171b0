"""Ranges that are given, that a program makes, and constants: what is in them, and their items."""

import numpy as np
import pytest

from gendsl import gen, normal, uniform_discrete
from tests.compiler.closed_outcomes import outcome, raises_everywhere
from tests.compiler.closed_steps import needs_llvm

FIXED = range(6, -3, -2)


@gen
def of_given(given, n):
    inside = [i for i in range(-n, n) if i in given]
    for i in given:
        ("y", i % 10) @ ~normal(i, 1)
    z = ~normal(sum(inside) + len(given) + (n not in given), 1)


@gen
def of_made(n, step):
    found = [0.0] * 4
    for i in range(-10, 11):
        found[0] += i * (i in range(n))
        found[1] += i * (i in range(2, n))
        found[2] += i * (i in range(8, -n, step))
        found[3] += i * (i in FIXED)
    z = ~normal(found[0] + 2 * found[1] + 3 * found[2] + 4 * found[3], 1)


@pytest.mark.parametrize("given", [range(3), range(1, 7, 2), range(5, -4, -3), range(0), range(4, 2)])
def test_what_is_given(given):
    assert outcome(of_given, (given, 7)) == "equal"


@pytest.mark.parametrize(("n", "step"), [(5, -2), (0, 1), (7, 3), (9, -1)])
def test_what_a_program_makes(n, step):
    assert outcome(of_made, (n, step)) == "equal"


def test_a_step_of_zero():
    raises_everywhere(of_made, (3, 0), {"z": 0.0})


@gen
def at_least(n):
    a = ~normal(0, 1)
    for i in range(np.maximum(n, 3)):
        ("x", i) @ ~normal(a, 1)
    for i in range(np.maximum(2, n)):
        ("y", i) @ ~normal(a, 1)
    for i in range(np.maximum(n, 0)):
        ("z", i) @ ~normal(a, 1)


@pytest.mark.parametrize("n", [-1, 1, 5])
def test_ranges_of_at_least_some_numbers(n):
    assert outcome(at_least, (n,)) == "equal"


@gen
def items_of_ranges(given, n):
    k = ~uniform_discrete(0, 3)
    down = range(n, -n, -2)
    total = given[k] + given[-1] + down[k] + range(5)[k] + range(n)[-k - 1] + range(2, 9)[k - 4]
    total += 10 * (given[k] in down) + range(3, 30, 7)[2]
    try:
        total += down[n + 1]
    except IndexError:
        total += 100
    y = ~normal(total, 1)
    return y


@pytest.mark.parametrize("rng", range(5))
@pytest.mark.parametrize("native", [False, pytest.param(True, marks=needs_llvm)])
def test_items_of_ranges(rng, native):
    assert outcome(items_of_ranges, (range(2, 30, 3), 4), rng=rng, native=native) == "equal"


@gen
def beyond_a_range(given):
    k = ~uniform_discrete(0, 3)
    y = ~normal(given[k], 1)
    return y


def test_an_index_behind_the_end_of_a_range():
    raises_everywhere(beyond_a_range, (range(3),), {("k",): 3, ("y",): 0.5})
