"""Closed programs as text: instances that are compared, masks that are assigned to, and `zip(*rows)`."""

# ruff: noqa: B905, RUF007 (in the ways of users)
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from gendsl import gen, normal, uniform_discrete
from tests.compiler.closed_outcomes import outcome, raises_everywhere


@dataclass
class Point:
    x: float
    label: str = "a"
    noted: list = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Edge:
    low: int
    high: int


class Level:
    bias = 0.5

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value == other.value

    def __lt__(self, other):
        return self.value < other.value


class Plain:
    def __init__(self, value):
        self.value = value
        self.value += 1


@gen
def instances(n):
    x = [("x", i) @ ~uniform_discrete(0, 2) for i in range(n)]
    levels = [Level(one) for one in x]
    points = [Point(1.0 * one) for one in x]
    points[0].noted.append(1)
    edges = [Edge(min(a, b), max(a, b)) for a, b in zip(x, x[1:])]
    ordered = sorted(levels)
    ("y", 0) @ ~normal(sum(i * one.value for i, one in enumerate(ordered)) + max(levels).value, 1)
    ("y", 1) @ ~normal(
        (levels[0] == levels[1]) + 2 * (levels[0] != levels[2]) + 4 * (levels[1] > levels[2]), 1
    )
    ("y", 2) @ ~normal(
        (points[0] == points[1]) + 2 * (points[0] == Point(0.0)) + 4 * (Point(1.0) in points), 1
    )
    ("y", 3) @ ~normal((edges[0] == edges[1]) + 2 * (Edge(0, 1) in edges) + 4 * edges.count(Edge(0, 2)), 1)
    a, b = Plain(x[0]), Plain(x[1])
    c = a
    a.value = 5
    ("y", 4) @ ~normal((a == b) + 2 * (a == c) + 4 * ([a, b].index(b)) + (points[0] != points[2]), 1)
    ("y", 5) @ ~normal(hasattr(edges[0], "low") + 2 * hasattr(edges[0], "no") + getattr(edges[0], "no", 4), 1)
    ("y", 6) @ ~normal(getattr(levels[0], "bias", 7) + hasattr(np, "ptp") + getattr(np.pi, "real", 1.0), 1)


@gen
def masks(n):
    x = np.array([("x", i) @ ~normal(0, 1) for i in range(n)])
    mask = x > 0
    a, b, c = x.copy(), np.zeros(n), np.zeros((n, 2))
    a[mask] = a[mask][::-1]
    a[~mask] += np.arange((~mask).sum())
    b[mask] = np.array([3.0])
    b[x < -0.5] = list(x[x < -0.5] * 2)
    c[c == 0.0] = np.arange(2.0 * n)
    counts = np.zeros(n, dtype=int)
    counts[mask] = a[mask]
    ("y", 0) @ ~normal((a * np.arange(n)).sum() + (b * np.arange(n)).sum() + counts.sum() + c[1].sum(), 1)


@gen
def transposed(n):
    k = ~uniform_discrete(1, 3)
    pairs = [(i, ("x", i) @ ~normal(0, 1)) for i in range(k)]
    numbers, values = zip(*pairs)
    rows = [[1.0 * i * j for j in range(n)] for i in range(k)]
    turned = list(map(list, zip(*rows)))
    ("y", 0) @ ~normal(sum(numbers) + values[-1] + len(values) + isinstance(values, tuple), 1)
    ("y", 1) @ ~normal(sum(map(sum, turned)) + turned[1][-1] + len(turned), 1)
    for j, column in enumerate(zip(*rows)):
        ("z", j) @ ~normal(sum(column) + (column == tuple(turned[j])), 1)
    ("y", 2) @ ~normal(sum(a * b for a, b in zip(*[numbers, values])), 1)


@pytest.mark.parametrize("program", [instances, masks, transposed])
@pytest.mark.parametrize("rng", range(8))
def test_instances_masks_and_columns(program, rng):
    assert outcome(program, (4,), rng=rng) == "equal"


@gen
def nothing_to_unpack(n):
    x = ~normal(0, 1)
    pairs = [(i, x) for i in range(n)]
    a, b = zip(*pairs)


@gen
def too_few_for_a_mask(n):
    x = ~normal(0, 1)
    a = np.zeros(4)
    a[a == 0] = np.ones(2) * x


@pytest.mark.parametrize("program", [nothing_to_unpack, too_few_for_a_mask])
def test_where_python_raises_a_text_fails(program):
    raises_everywhere(program, (0,), {("x",): 0.0})


class SlotsAndOthers:
    __slots__ = ("__dict__", "scale")

    def __init__(self, scale, shift):
        self.scale, self.shift = scale, shift


@gen
def of_slots_and_others(given):
    y = ~normal(given.shift + 2 * given.scale, given.scale)


def test_an_instance_with_slots_and_other_attributes():
    assert outcome(of_slots_and_others, (SlotsAndOthers(0.5, 1.5),)) == "equal"


@dataclass(frozen=True)
class Node:
    value: float
    before: Any


def total(node):
    return 0.0 if node is None else node.value + total(node.before)


@gen
def linked(n):
    node = None
    for i in range(n):
        x = ("x", i) @ ~normal(0, 1)
        node = Node(x, node)
    y = ~normal(total(node), 1)


def test_a_list_of_linked_instances():
    assert outcome(linked, (4,)) == "equal"
