"""Whether an integer is in a range: one that is given, one that a program makes, and constants."""

import numpy as np
import pytest

from gendsl import gen, normal
from tests.compiler.closed_outcomes import outcome, raises_everywhere

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
