"""Closed programs as text: instances of the user's classes are no tuples, though a text keeps them so."""

import dataclasses
import functools
import operator
from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import pytest

from gendsl import bernoulli, gen, normal
from tests.compiler.closed_outcomes import outcome, raises_everywhere


class Sized:
    def __init__(self, a, b, c):
        self.a, self.b, self.c = a, b, c

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return [self.a, self.b][i]

    def __contains__(self, x):
        return x == self.a


class Listed(Sized):
    def __iter__(self):
        return iter([1.0])


class Plain:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Pair(NamedTuple):
    a: float
    b: float


class Odd(Pair):
    def __len__(self):
        return 7


@gen
def special_methods(n):
    s = Sized(1.0, 2.0, 3.0)
    y = ~normal(len(s) + s[1] + (3.0 in s) + (1.0 in s) * 5, 1)
    z = ~normal(sum(Pair(1.0, n)) + len(Pair(1.0, 2.0)) + Pair(1.0, 2.0)[1] + (2.0 in Pair(1.0, 2.0)), 1)


@gen
def loop(n):
    t = 0.0
    for x in Listed(1.0, 2.0, 3.0):
        t += x
    y = ~normal(t, 1)


@gen
def length_of_a_kind_of_tuple(n):
    y = ~normal(len(Odd(1.0, 2.0)), 1)


def test_special_methods():
    assert outcome(special_methods, (4,)) == "equal"
    for program in (loop, length_of_a_kind_of_tuple):
        assert outcome(program, (4,)).startswith(("equal", "refused"))


@gen
def length(n):
    a = ~normal(0, 1)
    b = len(Plain(1.0, 2.0))


@gen
def unpacked(n):
    a = ~normal(0, 1)
    b, c = Plain(1.0, 2.0)


@gen
def looped(n):
    a = ~normal(0, 1)
    for x in Plain(1.0, 2.0):
        b = x


@gen
def asked(n):
    a = ~normal(0, 1)
    b = 1.0 in Plain(1.0, 2.0)


@gen
def indexed(n):
    a = ~normal(0, 1)
    b = Plain(1.0, 2.0)[0]


@gen
def starred(n):
    a = ~normal(0, 1)
    b = [*Plain(1.0, 2.0)], max(*Plain(1.0, 2.0))


@gen
def largest(n):
    a = ~normal(0, 1)
    b = max(Plain(1.0, 2.0))


@pytest.mark.parametrize("program", [length, unpacked, looped, asked, indexed, starred, largest])
def test_an_instance_has_no_items(program):
    raises_everywhere(program, (4,), {("a",): 0.0})


def difference(a, b, scale=1.0):
    return (a - b) * scale


@gen
def partials(n):
    f = functools.partial(difference, 3.0, scale=2.0)
    g = functools.partial(lambda a, b: a * b, n)
    total = functools.reduce(operator.mul, [1.0, 2.0, n]) + functools.reduce(difference, [], 5.0)
    y = ~normal(f(n) + f(n, scale=0.5) + g(2.0) + sum(map(g, [1.0, 2.0])) + total, 1)


@gen
def reduced_to_nothing(n):
    a = ~normal(0, 1)
    b = functools.reduce(operator.add, [x for x in range(n) if x > 10])


def test_functions_of_functools():
    assert outcome(partials, (4.0,)) == "equal"
    raises_everywhere(reduced_to_nothing, (4,), {("a",): 0.0})


@dataclasses.dataclass(frozen=True)
class Level:
    mean: float
    sd: float = 1.0
    steps: int = dataclasses.field(default=0)


@gen
def replaced(n):
    level = Level(0.0)
    bits = 0
    for t in range(n):
        jump = ("jump", t) @ ~bernoulli(0.3)
        x = ("x", t) @ ~normal(level.mean, level.sd)
        level = dataclasses.replace(level, mean=x, steps=level.steps + 1)
        if jump:
            level = dataclasses.replace(level, sd=2.0)
            bits |= 1 << t
    y = ~normal(level.mean, level.sd + level.steps + bits.bit_count())


def test_dataclasses_with_some_fields_replaced():
    for seed in range(3):
        assert outcome(replaced, (5,), rng=seed) == "equal"


class Place(NamedTuple):
    x: float
    y: float = 0.0


@gen
def named_replaced(n):
    place = Place(0.0)
    for t in range(n):
        x = ("x", t) @ ~normal(place.x, 1)
        place = place._replace(x=x) if t % 2 else place._replace(y=place.x + x)
    z = ~normal(place.x - 2 * place.y, 1)


def test_named_tuples_with_some_fields_replaced():
    assert outcome(named_replaced, (5,)) == "equal"


class Shape(ABC):
    @abstractmethod
    def mean(self, t): ...

    def twice(self, t):
        return 2 * self.mean(t)


class Line(Shape):
    def __init__(self, slope):
        self.slope = slope

    def mean(self, t):
        return self.slope * t


@dataclasses.dataclass(frozen=True)
class Parabola(Shape):
    width: float

    def mean(self, t):
        return self.width * t * t


class HasMean(Protocol):
    def mean(self, t): ...


class Flat(HasMean):
    def __init__(self, height):
        self.height = height

    def mean(self, t):
        return self.height


@gen
def abstract_classes():
    x, bent = ("x" @ ~normal(0, 1)), ("bent" @ ~bernoulli(0.5))
    shape = Parabola(x) if bent else Line(x)
    y = ~normal(shape.twice(2.0) + Flat(x).mean(1) + (1.0 if isinstance(shape, Shape) else 0.0), 1)


@gen
def without_its_methods():
    x = ~normal(0, 1)
    y = ~normal(Shape().twice(x), 1)


def test_classes_with_abstract_bases():
    assert [outcome(abstract_classes, (), rng=seed) for seed in range(4)] == ["equal"] * 4
    assert "abstract" in str(outcome(without_its_methods, ()))


def doubled(function):
    @functools.wraps(function)
    def inner(*args, **named):
        return 2 * function(*args, **named)

    return inner


@doubled
def shifted(x, by=1.0):
    return x + by


@gen
def decorated():
    x = ~normal(0, 1)
    y = ~normal(shifted(x) + shifted(x, by=x), 1)


def test_functions_that_a_decorator_of_the_module_wrapped():
    """It gives them the name of what they call, and their text is found all the same."""
    assert outcome(decorated, ()) == "equal"
