"""Closed programs as text: stars in calls, and variables that nested functions assign to."""

# ruff: noqa: C408, PIE804 (calls in all ways)

import copy
import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import brentq

from gendsl import bernoulli, gen, normal, uniform_discrete
from tests.compiler.closed_outcomes import outcome, raises_everywhere

OPTIONS = {"b": 3.0, "c": 0.5}


def weighed(a, *, b=1, c=2):
    return a + 2 * b + 3 * c


def summed(*values, **options):
    return sum(values) * options.get("b", 1) + options["c"] + len(options) + 10 * len(values)


def handed_on(*args, **kwargs):
    return weighed(*args, **kwargs)


def placed(a, b=2.0, c=3.0, *more):
    return a + 10 * b + 100 * c + 1000 * sum(more)


def of_places_only(a, /, **more):
    return a + more.get("a", 5.0)


@dataclass
class Link:
    scale: float

    def of(self, x, shift=0.0, *, power=1):
        return (self.scale * x + shift) ** power


@gen
def mappings(n):
    x = ~normal(0, 1)
    own = {"b": x, "c": 2.0}
    ("y", 0) @ ~normal(weighed(1, **own), 1)
    ("y", 1) @ ~normal(weighed(1, **{"b": x, "c": n}) + weighed(x, **dict(b=x)) + weighed(x, **OPTIONS), 1)
    ("y", 2) @ ~normal(handed_on(x, b=n) + handed_on(x, **own) + handed_on(a=x), 1)
    ("y", 3) @ ~normal(summed(1, x, b=x, c=2) + summed(c=1, **{"d": 3}) + summed(**OPTIONS), 1)
    more = {}
    if x > 0:
        more["c"] = x
    ("y", 4) @ ~normal(weighed(1, **more) + weighed(1, **{**own, "b": 5.0}), 1)
    ("y", 5) @ ~normal(Link(2.0).of(x, **{"shift": 1.0}) + Link(2.0).of(*[x, 1.0], **{"power": 2}), 1)
    ("y", 6) @ ~normal(of_places_only(x, **{"a": x}) + (lambda a, b=1: a - b)(**{"a": x}), 1)


@gen
def lists(n):
    k = ~uniform_discrete(1, 3)
    x = [("x", i) @ ~normal(0, 1) for i in range(k)]
    a = np.array(x)
    ("y", 0) @ ~normal(placed(*x) + placed(*a) + placed(*range(k)) + placed(*(x[0], 2.0)), 1)
    ("y", 1) @ ~normal(placed(1.0, *x) + placed(1.0, 2.0, 3.0, *x) + placed(1.0, 2.0, 3.0, 4.0, *x), 1)
    ("y", 2) @ ~normal(summed(*x, c=1.0) + summed(*x, **OPTIONS) + placed(*[i * 1.0 for i in range(k)]), 1)


@gen
def likelihood(a, b, *, scale=1.0):
    ("z", 0) @ ~normal(a - b, scale)


@gen
def calls_a_program(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    "first" @ ~likelihood(*x)
    "second" @ ~likelihood(*x, **{"scale": 2.0})
    options = {"b": 1.0, "scale": 3.0}
    "third" @ ~likelihood(x[0], **options)


@pytest.mark.parametrize("program", [mappings, lists])
@pytest.mark.parametrize("rng", range(4))
def test_calls_with_stars(program, rng):
    assert outcome(program, (2,), rng=rng) == "equal"


def test_programs_called_with_stars():
    assert outcome(calls_a_program, (2,)) == "equal"


@gen
def too_many(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    y = Link(1.0).of(*x)


@gen
def unknown_name(n):
    x = ~normal(0, 1)
    options = {"b": x, "d": 1.0}
    y = weighed(1, **options)


@gen
def given_twice(n):
    x = ~normal(0, 1)
    options = {"b": x}
    y = weighed(1, b=2, **options)


@gen
def too_few(n):
    x = ~normal(0, 1)
    options = {"b": x}
    y = (lambda a, b: a + b)(**options)


@pytest.mark.parametrize("program", [unknown_name, given_twice, too_few])
def test_arguments_that_do_not_fit_fail(program):
    raises_everywhere(program, (3,), {("x",): 0.0})
    raises_everywhere(too_many, (3,), {("x", i): 0.0 for i in range(3)})


@gen
def counted(n, start):
    calls = 0
    best = None
    seen = []

    def note(x):
        nonlocal calls, best, start
        calls += 1
        if best is None or x > best:
            best = x
        for i in range(2):
            start = start + i * x
        seen.append(best)
        return calls

    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        if ("skip", i) @ ~bernoulli(0.3):
            continue
        note(x)
        while note(x) % 3:
            pass
    ("y", 0) @ ~normal(calls + start + len(seen), 1)
    if best is not None:
        ("y", 1) @ ~normal(best, 1)
    best = 0.5 if best is None else best
    [note(i) for i in range(3)]
    ("y", 2) @ ~normal(best + sum(seen), 1)
    if n > 1:
        calls = 7
    ("y", 3) @ ~normal((calls := calls + 1) + calls, 1)


def running(values):
    total, count = 0.0, 0

    def add(x):
        nonlocal total
        total += x

        def inner():
            nonlocal count, total
            count += 1
            total *= 0.5

        inner()

    for x in values:
        count = count + 1
        add(x)
    return total + count


@gen
def in_helpers(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    y = ~normal(running(x) + running([1.0, 2.0]), 1)
    for i in range(n):
        level = 0.0

        def up(by):
            nonlocal level
            level += by * i

        for v in x:
            up(v)
        ("z", i) @ ~normal(level, 1)


@pytest.mark.parametrize("rng", range(6))
def test_variables_that_nested_functions_assign_to(rng):
    assert outcome(counted, (4, 1.5), rng=rng) == "equal"
    assert outcome(counted, (1, 2), rng=rng) == "equal"
    assert outcome(in_helpers, (3,), rng=rng) == "equal"


@gen
def functions_in_a_list(n):
    waves = []
    for j in range(n):
        size = ("size", j) @ ~normal(0, 1)
        waves.append(lambda t, size=size: size * t)
    "y" @ ~normal(sum(wave(1.5) for wave in waves), 1)


class Wave:
    def __init__(self, size):
        self.size = size

    def __call__(self, t):
        return self.size * t


@gen
def objects_in_a_list(n):
    waves = [Wave(("size", j) @ ~normal(0, 1)) for j in range(n)]
    "y" @ ~normal(sum(wave(1.5) for wave in waves), 1)


@gen
def functions_that_look_up_late(n):
    waves = []
    for j in range(n):
        size = ("size", j) @ ~normal(0, 1)
        waves.append(lambda t: size * t)
    "y" @ ~normal(sum(wave(1.5) for wave in waves), 1)


def test_functions_in_a_list_compile_or_are_refused_where_they_are_put_there():
    assert outcome(functions_in_a_list, (3,)) == outcome(objects_in_a_list, (3,)) == "equal"
    found = outcome(functions_that_look_up_late, (3,))
    line = inspect.getsourcelines(functions_that_look_up_late.__wrapped__)[1] + 5
    assert found.startswith(f"refused: line {line} of ") and "give that to a parameter" in found


def copied(x):
    return copy.deepcopy([x])


@gen
def in_a_library(n):
    x = ~normal(0, 1)
    "y" @ ~normal(copied(x)[0], 1)


@gen
def in_scipy(n):
    x = ~normal(0, 1)
    "y" @ ~normal(brentq(lambda z: z**3 + z - x, -9, 9), 1)


def test_what_a_library_does_is_refused_where_the_user_calls_it():
    """And not in a line that he has not written."""
    line = inspect.getsourcelines(copied)[1] + 1
    found = outcome(in_a_library, (1,))
    assert found.startswith(f"refused: line {line} of test_closed_calls.py: copy.deepcopy (line ")
    assert " of copy.py): " in found
    line = inspect.getsourcelines(in_scipy.__wrapped__)[1] + 3
    assert outcome(in_scipy, (1,)).startswith(f"refused: line {line} of test_closed_calls.py: brentq: ")


def sum_of(a, b=2.0, **others):
    return a + b


@gen
def twice_by_name(k):
    if k:
        y = ~normal(sum_of(a=1.0, **{"a": 2.0 * k}), 1)
    else:
        y = ~normal(sum_of(1.0, c=k, **{"d": 3.0}), 1)


@gen
def twice_among_others(k):
    y = ~normal(sum_of(1.0, c=k, **{"c": 3.0}) if k else 0.0, 1)


@pytest.mark.parametrize("model", [twice_by_name, twice_among_others])
def test_an_argument_that_is_given_twice_by_its_name(model):
    assert outcome(model, (0,)) == "equal"
    raises_everywhere(model, (1,), {("y",): 0.5})
