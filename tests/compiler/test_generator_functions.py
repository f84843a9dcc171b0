"""Closed programs as text: generator functions, which are lists of what they yield where nobody sees that."""

import math
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

from gendsl import gen, normal, uniform, uniform_discrete
from tests.compiler.closed_outcomes import outcome


def neighbours(i, j, rows, columns):
    if i > 0:
        yield i - 1, j
    if i < rows - 1:
        yield i + 1, j
    if j > 0:
        yield i, j - 1
    if j < columns - 1:
        yield i, j + 1


@gen
def grid(rows, columns):
    field = {}
    for i in range(rows):
        for j in range(columns):
            around = [field[p, q] for p, q in neighbours(i, j, rows, columns) if (p, q) in field]
            field[i, j] = ("x", i, j) @ ~normal(sum(around) / (1 + len(around)), 1)
    for i in range(rows):
        for j in range(columns):
            smooth = max(abs(field[i, j] - field[at]) for at in neighbours(i, j, rows, columns))
            ("y", i, j) @ ~normal(smooth, 1)


class Node(NamedTuple):
    low: object
    high: object


def leaves(tree):
    if isinstance(tree, Node):
        yield from leaves(tree.low)
        yield from leaves(tree.high)
    else:
        yield tree


@gen
def tree(depth, low=0.0):
    if ("split",) @ ~uniform_discrete(0, 1) and depth > 0:
        first = ("low",) @ ~tree(depth - 1, low)
        second = ("high",) @ ~tree(depth - 1, low + 1)
        return Node(first, second)
    value = ~normal(low, 1)
    return value


@gen
def of_trees():
    found = ("tree",) @ ~tree(2)
    total = 0.0
    for number, leaf in enumerate(leaves(found)):
        total += leaf * (number + 1)
    y = ~normal(total, 1)


def ancestors(parents, i):
    while True:
        yield i
        if i == 0:
            return
        i = parents[i]


def crossings(path, level):
    before = None
    for at, now in enumerate(path):
        if before is not None and (before < level) != (now < level):
            yield at, (level - before) / (now - before)
        before = now


class Walk:
    def __init__(self, step):
        self.step = step

    def places(self, n):
        at = 0.0
        for _ in range(n):
            at += self.step
            yield at

    def __iter__(self):
        for k in range(3):
            yield self.step + k


@gen
def of_data(parents, path):
    step = ~uniform(0.5, 2)
    counts = [0] * len(parents)
    for i in range(len(parents)):
        for j in ancestors(parents, i):
            counts[j] += 1
    for i, count in enumerate(counts):
        ("count", i) @ ~normal(count * step, 1)
    for at, part in crossings(path, step):
        ("crossing", at) @ ~normal(part, 1)
    first = next(crossings(path, step), None)
    ("first",) @ ~normal(-1 if first is None else first[1], 1)


@gen
def of_methods(n):
    step = ~uniform(0.5, 2)
    walk = Walk(step)
    farthest = 0.0
    for place in walk.places(n):
        if place > 3:
            break
        farthest = place
    ("farthest",) @ ~normal(farthest, 1)
    steps, *rest = walk.places(3)
    pairs = sum(a * b for a, b in zip(walk.places(n), range(1, n), strict=False))
    ("pairs",) @ ~normal(pairs + steps + rest[1], 1)
    ("sorted",) @ ~normal(sorted(walk.places(n), key=math.cos)[0] + len(list(walk.places(n))), 1)
    first, second = map(math.sin, (step, farthest))
    ("sines",) @ ~normal(first - second, 1)


@gen
def kept_at_once():
    x = ~normal(0, 1)
    k = ~uniform_discrete(0, 2)
    values = [1, 2, k, 2]
    listed, few, counts = list(over(values)), set(over(values)), Counter(over(values))
    shown = [*over(values), 7]
    table = {value: value * x for value in over(values)}
    squares = [value**2 for value in sorted(over(values))]
    total = sum(listed) + 10 * len(few) + 100 * counts[2] + shown[-2] + sum(table.values()) + squares[0]
    ("y",) @ ~normal(total + max(over(values)), 1)


@gen
def own_iterations():
    step = ~uniform(0.5, 2)
    walk = Walk(step)
    total = 0.0
    for number, place in enumerate(walk):
        total += place * number
    ("all",) @ ~normal(total + sum(walk) + max(place**2 for place in walk), 1)


@pytest.mark.parametrize(
    "program, args",
    [
        (grid, (3, 2)),
        (of_trees, ()),
        (of_data, ([0, 0, 1, 1, 2], np.array([0.3, 1.2, 0.4, 2.5]))),
        (of_data, ((0, 0, 1), [0.1, 0.2])),
        (of_methods, (4,)),
        (own_iterations, ()),
        (kept_at_once, ()),
    ],
)
def test_generator_functions_are_closed(program, args):
    for seed in range(3):
        assert outcome(program, args, rng=seed) == "equal"


def growing(rows):
    made = []
    for row in rows:
        made.append(row)
        yield made


def noting(rows, seen):
    for row in rows:
        seen.append(row)
        yield row


def over(values):
    for i in range(len(values)):
        yield values[i]


def counting():
    k = 0
    while True:
        yield k
        k += 1


def returning():
    yield 1.0
    return 2.0


@gen
def yields_what_changes():
    x = ~normal(0, 1)
    total = 0
    for made in growing([1, 2, 3]):
        total += len(made)
    ("y",) @ ~normal(total * x, 1)


@gen
def changes_what_is_given():
    x = ~normal(0, 1)
    seen, total = [], 0
    for row in noting([1, 2, 3], seen):
        total += len(seen) * row
    ("y",) @ ~normal(total * x, 1)


@gen
def changed_meanwhile():
    x = ~normal(0, 1)
    values, total = [1.0, 2.0, 3.0], 0.0
    for value in over(values):
        values[-1] += x
        total += value
    ("y",) @ ~normal(total, 1)


@gen
def changed_by_a_function():
    x = ~normal(0, 1)
    values = [1.0, 2.0, 3.0]

    def bump(value):
        values[-1] += 1.0
        return value

    ("y",) @ ~normal(sum(bump(value) for value in over(values)) * x, 1)


@gen
def without_end():
    x = ~normal(0, 1)
    for k in counting():
        if k > 3:
            break
    ("y",) @ ~normal(k * x, 1)


@gen
def with_a_result():
    x = ~normal(0, 1)
    ("y",) @ ~normal(sum(returning()) * x, 1)


@gen
def nested():
    x = ~normal(0, 1)

    def twice():
        yield x
        yield x

    ("y",) @ ~normal(sum(twice()), 1)


@gen
def kept():
    x = ~normal(0, 1)
    values = over([x, 1.0])
    first = next(values)
    ("y",) @ ~normal(first + 2 * sum(values), 1)


@pytest.mark.parametrize(
    "program, reason",
    [
        (yields_what_changes, "growing yields what may change, a list"),
        (changes_what_is_given, "the generator function noting changes what it has not made"),
        (changed_meanwhile, "a loop over what over yields, which may change what its items are made of"),
        (changed_by_a_function, "a loop over what over yields, which may change what its items are made of"),
        (without_end, "a generator function that never ends"),
        (with_a_result, "a generator function that returns a value"),
        (nested, "a generator function inside another function"),
        (kept, "an iterator that is kept"),
    ],
)
def test_generator_functions_whose_order_shows_are_refused(program, reason):
    assert reason in outcome(program, (), rng=1)
