"""Closed programs as text: deques, and instances whose class says how long they are."""

# ruff: noqa: B905, RUF015 (deques used in all ways)

from collections import deque
from dataclasses import dataclass

import numpy as np
import pytest

from gendsl import bernoulli, gen, normal, uniform_discrete
from tests.compiler.closed_outcomes import outcome, raises_everywhere


@gen
def lagged(n):
    past = deque([0.0] * 2, maxlen=2)
    recent = deque(maxlen=n - 2)
    for i in range(n):
        x = ("x", i) @ ~normal(0.5 * past[0] - 0.2 * past[-1] + len(recent), 1)
        past.appendleft(x)
        recent.append(i)
    ("y", 0) @ ~normal(sum(past) + sum(recent) + past.maxlen + (past.maxlen or 0), 1)


@gen
def searched(n):
    queue, seen, tot = deque([0]), set(), 0
    while queue:
        u = queue.popleft()
        if u in seen:
            continue
        seen.add(u)
        for v in (2 * u + 1, 2 * u + 2):
            if v < n and ("edge", u, v) @ ~bernoulli(0.7):
                queue.append(v)
        tot += len(queue) + (u in queue)
    y = ~normal(tot + len(seen) + (1 if not queue else 2), 1)


@gen
def changed_in_all_ways(n):
    k = ~uniform_discrete(-7, 7)
    q = deque([1.0, 2.0, 3.0, 4.0])
    q.rotate(k)
    q.extend([5.0, 6.0])
    q.extendleft(list(q)[:2])
    a = q.pop() + 10 * q.popleft()
    q.insert(1, 7.0)
    q[0] = 0.5
    q.remove(7.0)
    other = q.copy()
    q.reverse()
    ("y", 0) @ ~normal(a + q.index(5.0) + q.count(1.0) + max(q) + other[1] + sorted(q)[1], 1)
    for i, value in enumerate(q):
        ("y", 1, i) @ ~normal(value, 1)
    ("y", 2) @ ~normal(sum(u * v for u, v in zip(q, reversed(other))) + np.array(list(q)).sum(), 1)
    q.clear()
    ("y", 3) @ ~normal(len(q) + len(other) + isinstance(q, deque) + 2 * isinstance(q, list), 1)
    q.extend(x for x in other if x > 1)
    ("y", 4) @ ~normal(sum(q) + [*q][0] + (q is other) + tuple(q)[-1], 1)
    q.extend(map(abs, [-8.0]))
    ("y", 5) @ ~normal(q[-1] + sum(deque(map(abs, (-1.0, 2.0)))) + sum(deque(i for i in range(n))), 1)
    grid = deque([(i, 2.0 * i) for i in range(n)])
    while len(grid) > 1:
        i, x = grid.pop()
        ("z", i) @ ~normal(x, 1)


@gen
def of_numpys_numbers(n):
    x = np.array([("x", i) @ ~normal(0, 1) for i in range(n)])
    signs = deque(x > 0)
    signs.append(x[0] > 1)
    y = ~normal(1.0 * (signs[0] + signs[1]) + signs.popleft() * 3.0, 1)


@pytest.mark.parametrize("program", [lagged, searched, changed_in_all_ways, of_numpys_numbers])
@pytest.mark.parametrize("rng", range(5))
def test_deques(program, rng):
    assert outcome(program, (6,), rng=rng) == "equal"


@gen
def grows_meanwhile(n):
    x = ~normal(0, 1)
    q = deque([1.0, 2.0])
    for v in q:
        if v == 2.0:
            q.append(x)


@gen
def from_an_empty_one(n):
    x = ~normal(0, 1)
    q = deque([x])
    q.popleft()
    y = q.popleft() if n else 0.0


@gen
def full(n):
    x = ~normal(0, 1)
    q = deque([x, 1.0], 2)
    q.insert(0, 2.0)


@gen
def sliced(n):
    x = ~normal(0, 1)
    q = deque([x, 1.0])[:1]


@pytest.mark.parametrize("program", [grows_meanwhile, from_an_empty_one, full, sliced])
def test_where_python_raises_a_text_fails(program):
    raises_everywhere(program, (3,), {("x",): 0.0})


@dataclass
class Bag:
    """Instances that say how long they are, and whether they are true."""

    values: list[float]

    def __len__(self):
        return len(self.values)


class Switch:
    def __init__(self, level):
        self.level = level

    def __bool__(self):
        return self.level > 0

    def __len__(self):
        return 5


def exp(x):
    return 2 * x


def log(x):
    return exp(x) + 1


@gen
def truths(n):
    x = ~normal(0, 1)
    bag, switch = Bag([1.0] * n), Switch(x)
    y = ~normal((1 if bag else 2) + (10 if switch else 20) + len(switch) + len(bag), 1)
    switch.level = 1.0
    z = ~normal((1 if switch and bag else 2) + exp(x) + log(x), 1)


@pytest.mark.parametrize("rng", range(3))
def test_instances_with_a_length_and_functions_named_as_others_are(rng):
    assert outcome(truths, (0,), rng=rng) == "equal"
    assert outcome(truths, (3,), rng=rng) == "equal"


@gen
def turned_by_one(n):
    q = deque([float(i) for i in range(n)])
    q.rotate()
    for i, value in enumerate(q):
        ("y", i) @ ~normal(value, 1)


def test_a_deque_turns_by_one_where_nothing_is_said():
    assert outcome(turned_by_one, (4,)) == "equal"
