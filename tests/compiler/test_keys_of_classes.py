"""Named tuples and frozen dataclasses as keys of dicts, and the last entry of a dict."""

from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from gendsl import gen, normal
from tests.compiler.closed_outcomes import outcome, raises_everywhere


class Point(NamedTuple):
    x: int
    y: int


class Odd(NamedTuple):
    x: int

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


@dataclass(frozen=True)
class Cell:
    x: int
    y: float


@dataclass(frozen=True)
class Noted:
    x: int
    note: str = field(default="", compare=False)


@dataclass(frozen=True)
class Plain:
    x: int

    def __hash__(self):
        return 1


@dataclass(frozen=True, eq=False)
class Itself:
    x: int


@gen
def points(n):
    counts = {}
    for i in range(n):
        at = Point(i % 2, i % 3)
        counts[at] = counts.get(at, 0) + 1
    for at in counts:
        ("y", at.x, at.y) @ ~normal(counts[at], 1)
    z = ~normal(counts.get(Point(0, 0), 7) + (Point(5, 5) in counts), 1)


@gen
def cells(n):
    counts, seen = {}, set()
    for i in range(n):
        at = Cell(i % 2, 0.5 * (i % 3))
        counts[at] = counts.get(at, 0) + 1
        seen.add(at)
        counts.pop(Cell(1, 1.0), None)
    for at, count in counts.items():
        ("y", at.x) @ ~normal(count + at.y, 1) if at.y == 0.5 else None
    z = ~normal(len(seen) + 2 * (Cell(1, 0.5) in seen), 1)


@gen
def last_ones(n):
    counts = {}
    for i in range(n):
        counts[i % 5] = 1.0 * i
    key, value = counts.popitem()
    counts[key + 10] = 3.0
    other, _ = counts.popitem()
    z = ~normal(100 * key + 10 * value + other + sum(counts.values()), 1)


@pytest.mark.parametrize(
    ("model", "args"), [(points, (9,)), (cells, (9,)), (last_ones, (8,)), (last_ones, (1,))]
)
def test_they_are_what_python_has(model, args):
    assert outcome(model, args) == "equal"


def test_an_empty_dict_has_no_last_entry():
    raises_everywhere(last_ones, (0,), {"z": 0.0})


@gen
def of_two_classes(n):
    counts = {Point(0, 1): 2.0}
    for i in range(n):
        counts[i % 2, i % 3] = 1.0
    z = ~normal(len(counts), 1)


@gen
def of_constants(key, n):
    counts = {key(1): 1.0}
    for i in range(n):
        counts[key(i)] = 2.0
    z = ~normal(len(counts), 1)


@gen
def of_distributions():
    counts = {normal(0, 1): 1.0}
    counts[normal(0, 1)] = 2.0
    z = ~normal(len(counts), 1)


@pytest.mark.parametrize(
    ("model", "args"),
    [
        (of_two_classes, (7,)),
        (of_distributions, ()),
        *((of_constants, (key, 3)) for key in (Odd, Noted, Plain, Itself)),
    ],
)
def test_what_is_equal_otherwise_is_refused(model, args):
    told = outcome(model, args)
    assert told.startswith("refused") and " of a dict" in told, told
