"""What has a state of its own, or gives back what it was given, means on both runtimes the same."""

import operator
import re
from collections import namedtuple
from functools import partial
from itertools import count

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d, uniform_filter1d

from gendsl import bernoulli, gen, normal, poisson, uniform_discrete
from tests.runtime.idioms import SEEDS, Programs

PROGRAMS = Programs()
written = PROGRAMS.written


# --- results that are places for results ------------------------------------------------------------


@written()
@gen
def place_of_a_ufunc(n):
    a = np.zeros(2)
    x = ~normal(0, 1)
    r = np.exp(np.array([x, 1.0]), a)
    y = ~normal(r.sum(), 1)
    a[0] = y
    ("w", 0) @ ~normal(r.sum(), 1)
    return r


@written()
@gen
def place_by_keyword(n):
    a = np.zeros(2)
    x = ~normal(0, 1)
    r = np.exp(np.array([x, 1.0]), out=a)
    y = ~normal(r.sum(), 1)
    a[0] = y
    ("w", 0) @ ~normal(r.sum(), 1)
    return r


@written()
@gen
def place_of_a_product(n):
    a = np.zeros(2)
    x = ~normal(0, 1)
    r = np.dot(np.eye(2), np.array([x, 1.0]), a)
    y = ~normal(r.sum(), 1)
    a[0] = y
    ("w", 0) @ ~normal(r.sum(), 1)
    return r


@written()
@gen
def place_of_a_method(n):
    a = np.zeros(2)
    x = ~normal(0, 1)
    b = np.array([x, 1.0])
    r = b.cumsum(0, None, a)
    y = ~normal(r.sum(), 1)
    a[0] = y
    ("w", 0) @ ~normal(r.sum(), 1)
    return r


# --- what can be gone through only once -------------------------------------------------------------


def pairs(values):
    return zip(values, values[1:], [0.0, 1.0], strict=False)


@written()
@gen
def iterator_of_a_function(n):
    x = ~normal(0, 1)
    y = ~normal(0, 1)
    found = pairs([x, 1.0, 2.0])
    first = [a + y for a, *_ in found]
    z = ~normal(0, 1)
    second = [a + z for a, *_ in found]
    ("w", 0) @ ~normal(sum(first) + sum(second), 1)
    return len(second)


@written()
@gen
def iterator_of_a_method(n):
    x = ~normal(0, 1)
    values = [x, 1.0, 2.0].__iter__()
    y = ~normal(0, 1)
    top = max(values, default=0.0) + y
    z = ~normal(0, 1)
    total = sum(values) + z
    ("w", 0) @ ~normal(top + total, 1)
    return total


@written()
@gen
def indices_of_an_array(n):
    k = ~poisson(2)
    indices = np.ndindex(k, 2)
    y = ~normal(0, 1)
    first = len(list(indices)) + y
    z = ~normal(0, 1)
    second = len(list(indices)) + z
    ("w", 0) @ ~normal(first - second, 1)
    return second


@written()
@gen
def matches_of_a_pattern(n):
    k = ~poisson(2)
    matches = re.finditer("a", "a" * k)
    y = ~normal(0, 1)
    first = len(list(matches)) + y
    z = ~normal(0, 1)
    second = len(list(matches)) + z
    ("w", 0) @ ~normal(first - second, 1)
    return second


@written()
@gen
def flat_entries(n):
    x = ~normal(0, 1)
    entries = np.array([x, 1.0, 2.0]).flat
    y = ~normal(0, 1)
    top = max(entries, default=0.0) + y
    z = ~normal(0, 1)
    total = sum(entries) + z
    ("w", 0) @ ~normal(top + total, 1)
    return total


def numbers():
    return count(1)


@written()
@gen
def endless(n):
    values = [("x", i) @ ~normal(0, 1) for i in range(n)]
    for i, x in zip(numbers(), values, strict=False):
        ("y", i) @ ~normal(x, 1)


# --- functions with a state -------------------------------------------------------------------------


def counter():
    count = 0

    def tick():
        nonlocal count
        count += 1
        return count

    return tick


def noting():
    noted = []

    def note(x):
        noted.append(x)
        return sum(noted)

    return note


def lambda_that_notes():
    noted = []
    return lambda x: (noted.append(x), len(noted))[1]


def squared(length):
    def between(t, s):
        apart = []
        apart.append((t - s) / length)
        return np.exp(-0.5 * apart[0] ** 2)

    return between


def push(values, x):
    values.append(x)
    return sum(values)


@written()
@gen
def closures_that_count(n):
    tick = counter()
    x = ~normal(0, 1)
    y = ~normal(tick() + x, 1)
    z = ~normal(tick() + y, 1)
    ("w", 0) @ ~normal(tick() + z, 1)
    return tick()


@written()
@gen
def closures_that_note(n):
    note, other = noting(), lambda_that_notes()
    x = ~normal(0, 1)
    y = ~normal(note(x), 1)
    z = ~normal(note(y) + other(x), 1)
    ("w", 0) @ ~normal(note(z) + other(y), 1)
    return note(0.0)


@written()
@gen
def closures_that_only_compute(n):
    length = ~uniform_discrete(1, 3)
    kernel = squared(length)
    x = ~normal(kernel(0.0, 1.0), 1)
    y = ~normal(kernel(0.0, x), 1)
    return kernel(x, y)


@written()
@gen
def functions_of_themselves(n):
    known = {}

    def number(k):
        if k not in known:
            known[k] = k if k < 2 else number(k - 1) + number(k - 2)
        return known[k]

    k = ~poisson(3)
    ("x", 0) @ ~normal(number(k), 1)
    return len(known)


@written()
@gen
def ranks(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    rank = [0] * n
    for r, i in enumerate(sorted(range(n), key=lambda i: x[i])):
        rank[i] = r
    for i in range(n):
        ("y", i) @ ~normal(rank[i], 1)
    return rank


def nested_sum(values):
    def total(part):
        return sum(map(total, part)) if isinstance(part, list) else part

    return total


@written()
@gen
def functions_that_make_functions(n):
    total = nested_sum(1)
    x = ~normal(0, 1)
    y = ~normal(total([x, [x, 1.0]]), 1)
    return total([y])


@written()
@gen
def partials_with_a_list(n):
    note = partial(push, [])
    x = ~normal(0, 1)
    y = ~normal(note(x), 1)
    z = ~normal(note(y), 1)
    ("w", 0) @ ~normal(note(z), 1)
    return note(x)


@written()
@gen
def method_by_its_name(n):
    values = [1.0]
    x = ~normal(0, 1)
    getattr(values, "append")(x)  # noqa: B009
    y = ~normal(sum(values), 1)
    add = getattr(values, "append")  # noqa: B009
    add(y)
    ("w", 0) @ ~normal(sum(values), 1)
    return values


# --- methods that aren't what their names say -------------------------------------------------------


class Urn:
    def __init__(self, balls):
        self.balls, self.drawn = balls, 0

    def sample(self):
        self.drawn += 1
        return self.balls[self.drawn % len(self.balls)]

    def get(self, count):
        self.drawn += count
        return self.drawn

    @classmethod
    def of(cls, *balls):
        return cls(list(balls))

    def mean(self):
        return sum(self.balls) / len(self.balls)


by_name = {"urn": Urn}


def drawn_from(urn):
    return urn.sample()


def taken_from(urn):
    return urn.get(2)


@written()
@gen
def urns(n):
    urn = Urn([1.0, 2.0, 4.0])
    x = ~normal(0, 1)
    y = ~normal(drawn_from(urn) + x, 1)
    z = ~normal(drawn_from(urn) + y, 1)
    ("w", 0) @ ~normal(taken_from(urn) + z, 1)
    return urn.drawn


@written()
@gen
def urns_of_an_unknown_class(n):
    urn = by_name["urn"]([1.0, 2.0, 4.0])
    x = ~normal(0, 1)
    y = ~normal(urn.sample() + x, 1)
    ("w", 0) @ ~normal(urn.sample() + y, 1)


@written()
@gen
def urns_of_a_method(n):
    urn = Urn.of(1.0, 2.0, 4.0)
    x = ~normal(0, 1)
    y = ~normal(urn.sample() + x, 1)
    ("w", 0) @ ~normal(urn.sample() + y, 1)


@written()
@gen
def urns_that_are_only_read(n):
    x = ~normal(0, 1)
    urn = Urn.of(1.0, x)
    y = ~normal(urn.mean(), 1)
    ("w", 0) @ ~normal(urn.mean() + y, 1)


# --- other places for results -----------------------------------------------------------------------


@written()
@gen
def filtered_into(n):
    v = np.array([1.0, 2.0, 4.0, 3.0])
    out = np.zeros(4)
    a = ~normal(0, 1)
    gaussian_filter1d(v * a, 1.0, output=out)
    ("y", 0) @ ~normal(out.sum(), 1)
    b = ~normal(0, 1)
    uniform_filter1d(v * b, 2, -1, out)
    ("y", 1) @ ~normal(out.sum(), 1)
    return out


@written()
@gen
def operators(n):
    v = np.ones(2)
    a = ~normal(0, 1)
    b = ~normal(v.sum() + a, 1)
    operator.itruediv(v, 2.0)
    ("y", 0) @ ~normal(v.sum() + b, 1)
    operator.__imul__(v, 3.0)
    ("y", 1) @ ~normal(v.sum(), 1)
    return v


@written()
@gen
def lists_with_arrays(n):
    a = ~normal(0, 1)
    v = [0.0, 0.0] + np.array([a, 1.0])  # noqa: RUF005
    first = v[:1]
    b = ~normal(first[0], 1)
    v[0] = b
    whole = [2, 3] * np.array([1, 1])
    for i in range(2):
        whole[i] = 2.5 + i
        ("y", i) @ ~normal(whole[i] * a, 1)
    ("z", 0) @ ~normal(first[0], 1)
    return v, first, whole


@written()
@gen
def lists_of_lists(n):
    values = [0.0] * n + [1.0]
    more = [2.0] + values[:1]  # noqa: RUF005
    for i in range(n):
        values[i] = ~normal(0, 1)
    for i in range(n):
        more.append(("more", i) @ ~normal(values[i], 1))
    return values, more


# --- lists inside what can't change -----------------------------------------------------------------

State = namedtuple("State", "values number")


def change_first(rows, x):
    rows[0].append(x)
    return sum(map(sum, rows))


def sum_of_last(rows, x):
    return sum(rows[-1]) + x


def change_values(state, x):
    state.values.append(x)
    return len(state.values)


def number_of_values(state, x):
    return len(state.values)


@written((3, change_first), (2, sum_of_last))
@gen
def tuples_of_lists(n, function):
    rows = ([0.0], [1.0])
    x = ~normal(0, 1)
    y = ~normal(function(rows, x), 1)
    ("w", 0) @ ~normal(function(rows, y), 1)
    return [list(row) for row in rows]


@written((3, change_values), (2, number_of_values))
@gen
def named_tuples_of_lists(n, function):
    state = State([0.0], 1)
    x = ~normal(0, 1)
    y = ~normal(function(state, x), 1)
    ("w", 0) @ ~normal(function(state, y), 1)
    return list(state.values)


# --- equal keys that aren't the same ----------------------------------------------------------------


@written()
@gen
def keys_of_two_types(n):
    k = ~uniform_discrete(0, 1)
    z = ~bernoulli(0.5)
    given = {(k if z else float(k)): 3.0}
    found = list(given)
    ("y", 0) @ ~normal(found[0], 1)
    return found


@pytest.mark.parametrize(
    "model",
    [closures_that_only_compute, lists_of_lists, urns_that_are_only_read],
    ids=lambda model: model.name,
)
def test_nothing_is_executed_as_a_whole_without_need(model):
    model.simulate((3,), rng=1).update({})
    assert model.compiled.program.opaque is None


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_both_runtimes_agree(name, seed):
    PROGRAMS.agree(name, seed)
