"""Closed programs as text: patterns of sequences and of mappings, and `~` that makes no choice."""

import math

import numpy as np
import pytest

from gendsl import gen, normal, uniform, uniform_discrete
from tests.compiler.closed_outcomes import outcome


def area(shape):
    match shape:
        case {"kind": "disc", "radius": radius}:
            return math.pi * radius**2
        case {"kind": "box", "sides": (width, height)}:
            return width * height
        case {"sides": _}:
            return -1.0
    return 0.0


def told(values):
    match values:
        case []:
            return 0.0
        case [one]:
            return one
        case [first, 0.0, *_]:
            return -first
        case [first, *inner, last] if len(inner) < 3:
            return first + 10 * sum(inner) + 100 * last
        case [*_, last]:
            return last
    return 5.0


@gen
def of_patterns(shapes, n):
    x = ~uniform(0, 1)
    z = ~uniform_discrete(0, 5)
    total = sum(area(shape) for shape in shapes) + area({"kind": "disc", "radius": x})
    match (x, z, "end"):
        case (first, *rest, "end"):
            total += first * len(rest)
        case _:
            total += 50.0
    counts = {1: x, 2: 2.0}
    match counts:
        case {3: found}:
            total += found
        case {1: found, 2: other}:
            total += found * other
    ("y",) @ ~normal(total, 1)
    ("list",) @ ~normal(told([x, 0.5, 2.0, x, 7.0, 8.0][:z]) + told([x, 0.0, 1.0]), 1)


def nested(rows):
    match rows:
        case [[first, *_], [second]]:
            return first + 2 * second
        case [[first], *others]:
            return 10 * first + len(others)
        case [{"x": [one, two]}]:
            return one * two
    return -7.0


@gen
def of_nested_patterns(n):
    x = ~uniform(0, 1)
    z = ~uniform_discrete(0, 3)
    rows = [[x, 1.0], [2.0 * x]][:z]
    some = [{"x": [x, 3.0]}, {"y": [1.0, x]}][z % 2 :]
    total = nested(rows) + nested([[x], [1.0, 2.0], []]) + 100 * nested(some)
    ("y",) @ ~normal(total + nested([{"x": [x, 1.0, 2.0]}][: z % 2]), 1)


@pytest.mark.parametrize("rng", range(3))
def test_patterns_in_patterns(rng):
    assert outcome(of_nested_patterns, (2,), rng=rng) == "equal"


@pytest.mark.parametrize("rng", range(3))
def test_patterns(rng):
    shapes = [{"kind": "box", "sides": (1.0, 2.0)}, {"kind": "box", "sides": (0.5, 3.0)}]
    assert outcome(of_patterns, (shapes, 2), rng=rng) == "equal"


@gen
def without_choices(table, k):
    x = ~normal(0, 1)
    seen = ~np.isnan(table)
    low = ~(table > x)
    bits = ~k
    rows = [0, 0]
    rows[1] = ~(k + 1)
    array = np.array([x, 1.0])
    far = ~(np.abs(array) < 1)
    ("y",) @ ~normal(table[seen].sum() + low.sum() + bits + rows[1] + array[far].sum() + np.sum(~far), 1)


@gen
def of_a_float(k):
    x = ~normal(0, 1)
    y = ~x


@pytest.mark.parametrize("rng", range(3))
def test_an_operator_that_makes_no_choice(rng):
    assert outcome(without_choices, (np.array([[1.0, np.nan], [0.2, 3.0]]), 3), rng=rng) == "equal"
    assert "~ is before" in outcome(of_a_float, (1,), rng=rng)


@gen
def of_integers(n):
    z = ~uniform_discrete(0, 30)
    x = ~normal(0, 1)
    total = math.gcd(z, 12) + 10 * math.lcm(z, 4) + 100 * math.isqrt(z * z + n) + math.perm(6, z % 8)
    total += z.bit_length() + (-z).bit_length()
    ("y",) @ ~normal(total + math.hypot(x, 1.0, 2.0) + math.hypot(x) + math.hypot(x, 3.0), 1)


@pytest.mark.parametrize("rng", range(3))
def test_functions_of_integers_and_distances(rng):
    assert outcome(of_integers, (7,), rng=rng) == "equal"


@gen
def bound_from_iteration_to_iteration(n):
    x = ~uniform(0, 1)
    first, rest, other = 7.0, [], 3.0
    total = 0.0
    for i in range(n):
        total += (i + 1) * (first + 10 * len(rest) + 100 * other)
        match [x * i, 1.0, 2.0]:
            case [first, *rest] if i == 1:
                pass
            case [_, _, 2.0 as other]:
                pass
    ("y",) @ ~normal(total + first, 1)


@pytest.mark.parametrize("n", range(4))
def test_names_in_patterns_are_handed_from_iteration_to_iteration(n):
    assert outcome(bound_from_iteration_to_iteration, (n,)) == "equal"


@gen
def set_in_a_test_that_is_known(n):
    x = ~uniform(0, 1)
    first, second, third, i = x, 0.0, 5.0, 0
    while i < n and (first := 1) > 1:
        i += 1
    while (second := 2.0 + i) < 1.0 and x < 2.0:
        i += 1
    else:
        third = second
    while (third := third + 1.0) and i < 3:
        i += 1
        third = x
    ("y",) @ ~normal(first + 10 * second + 100 * third + i, 1)


@pytest.mark.parametrize("n", range(3))
def test_what_the_test_of_a_loop_sets_is_handed_on_where_it_ends(n):
    assert outcome(set_in_a_test_that_is_known, (n,)) == "equal"
