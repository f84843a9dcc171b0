"""What is told of the measure of a user's class from the code of its support, against its supports."""

import math

import numpy as np
import pytest

import gendsl.supports as all_supports
from gendsl import Distribution, beta, normal
from gendsl.distributions.base import measured
from gendsl.distributions.class_measures import measure_of_class
from gendsl.supports import Boolean, Integers, Interval, Positive, Real, RealVector

LEFT = -1.0
ALIAS = Interval


class Base(Distribution):
    parameters = ("low", "high")

    def __init__(self, low=0.0, high=1.0):
        self.low, self.high = low, high


def supported(function):
    """A class whose support is given by a function of its code."""
    return type("made", (Base,), {"support": property(function), "__module__": __name__})


def by_position(self):
    return Interval(self.low, self.high)


def by_name(self):
    return Interval(high=self.high, low=self.low)


def computed(self):
    return Interval(LEFT, -self.low + 2 * self.high)


def documented(self):
    """All of it."""
    return Real()


def aliased(self):
    return ALIAS(self.low, self.high)


def positive(self):
    return Positive()


def integers(self):
    return Integers(0, math.inf)  # which gets an attribute of a module


def whole_numbers(self):
    return Integers(0, 9)


def booleans(self):
    return Boolean()


def vector(self):
    return RealVector(3)


def of_a_module(self):
    return all_supports.Interval(self.low, self.high)


def branching(self):
    if self.low < 0:
        return Integers(0, 3)
    return Interval(self.low, self.high)


def kept(self):
    support = Interval(self.low, self.high)
    return support


def Chosen(low, high):
    return Integers(0, 3)


def called(self):
    return Chosen(self.low, self.high)


def nested(self):
    return Interval(min(self.low, 0.0), self.high)


def picked(self):
    return [Interval(self.low, self.high), Integers(0, 3)][self.low < 0]


def of_a_class(self):
    return Interval.__new__(Integers)


def inside():
    Interval = Integers

    def in_a_function(self):
        return Interval(0, 3)

    return in_a_function


REAL = [by_position, by_name, computed, documented, aliased, positive]
KNOWN = [*REAL, integers, whole_numbers, booleans]
UNKNOWN = [vector, of_a_module, branching, kept, called, nested, picked, of_a_class, inside()]


@pytest.mark.parametrize("function", KNOWN + UNKNOWN, ids=lambda function: function.__name__)
def test_what_is_told_is_what_the_supports_are(function):
    kind = supported(function)
    told = measure_of_class(kind)
    assert kind._measure is told
    assert function in UNKNOWN or told is not None or function is integers
    for low in (0.25, -0.5):
        distribution = kind(low, 1.0)
        support, measure = distribution.support, measured(distribution)
        alike = (support.discrete, support.dim, support.shape)
        assert (measure.discrete, measure.dim, measure.shape) == alike
        if told is not None:
            assert (told.discrete, told.dim, told.shape) == alike
            assert type(told).canonical is type(support).canonical


@pytest.mark.parametrize("function", UNKNOWN, ids=lambda function: function.__name__)
def test_nothing_is_told_of_what_is_not_surely_known(function):
    assert supported(function)._measure is None


def test_a_support_that_is_an_attribute():
    class whole(Base):
        support = Integers(0, 9)

    class line(Base):
        support = Interval(0.0, 1.0)

    class vectors(Base):
        support = RealVector(2)

    assert type(whole._measure) is Integers and type(line._measure) is Real and vectors._measure is None


def test_a_class_derived_from_another():
    class line(Base):
        @property
        def support(self):
            return Interval(self.low, self.high)

    class same(line):
        def logpdf(self, x):
            return 0.0

    class whole(line):
        @property
        def support(self):
            return Integers(0, 3)

    class either(line):
        @property
        def support(self):
            return Integers(0, 3) if self.low < 0 else Interval(self.low, self.high)

    assert type(line._measure) is type(same._measure) is Real
    assert type(whole._measure) is Integers and whole._measure.discrete
    assert either._measure is None and measured(either(-1.0)).discrete and not measured(either(0.5)).discrete


def test_a_class_derived_from_one_of_ours():
    class whole_beta(beta):
        __slots__ = ()

        @property
        def support(self):
            return branching(self)

        low, high = -1.0, 1.0

    class half_normal(normal):
        __slots__ = ()

        @property
        def support(self):
            return Interval(0.0, np.inf)

    assert whole_beta._measure is None and measured(whole_beta(1, 1)).discrete
    assert half_normal._measure is None or type(half_normal._measure) is Real
