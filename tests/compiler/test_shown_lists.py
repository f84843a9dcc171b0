"""Lists that are only gone through, with parts of addresses in them; and what is behind a star in a call."""

import pytest

from gendsl import gen, iid, normal
from tests.compiler.closed_outcomes import outcome


@gen
def of_pairs():
    for name, spread in [("amplitude", 0.1), ("phase", 0.2)]:
        (name,) @ ~normal(0, spread)


@gen
def of_names():
    found = {name: name @ ~normal(0, 1) for name in ["u", "v"]}
    more = [name @ ~normal(0, 1) for name in ["p", "q"]]
    y = ~normal(found["u"] + sum(more), 1)


@gen
def with_a_break():
    x = ~normal(0, 1)
    for name in ["first", "second", "third"]:
        name @ ~normal(x, 1)
        if x > 0:
            break
    else:
        y = ~normal(0, 1)


def line(a, b, c, at, *more):
    return a + 2.0 * b + 3.0 * c * at + sum(more)


@gen
def behind_a_star():
    theta = ~iid(normal(0, 1), 3)
    y = ~normal(line(*theta, 2.0) + line(*theta, 2, 4.0) + line(*theta[:2], theta[0], 0.5), 1)


PROGRAMS = [of_pairs, of_names, with_a_break, behind_a_star]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_they_are_read(program):
    for seed in range(4):
        assert outcome(program, (), rng=seed) == "equal"
