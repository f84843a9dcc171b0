"""Distributions of users' classes are not made again where they were made with the same objects."""

import math
import os
from dataclasses import dataclass, field

import numpy as np
import pytest

from gendsl import Distribution, gen, normal, uniform_discrete
from gendsl.runtime import remade, small
from gendsl.supports import Real
from tests.runtime.test_again import agree

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME", "") != "", reason="about what is done by default"
)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(small, "CHOICES", 24)


class Bell(Distribution):
    """A normal distribution, one way or the other; its density tells the types of its parameters, too."""

    parameters = ("mean", "sd")

    @property
    def support(self):
        return Real()

    def sample(self, rng):
        return float(rng.normal(self.mean, self.sd))

    def logpdf(self, x):
        tag = 0.25 * len(type(self.mean).__name__) + 0.5 * len(type(self.sd).__name__)
        sign = 0.125 * math.copysign(1.0, self.mean)
        return tag + sign - 0.5 * ((x - self.mean) / self.sd) ** 2 - math.log(self.sd)


class keeps(Bell):
    def __init__(self, mean, sd):
        self.mean, self.sd = mean, sd


class keeps_sums(Bell):
    def __init__(self, mean, sd):
        self.total = mean + sd
        self.mean, self.sd = mean, self.total - mean or sd


class turned(Bell):
    """The same the other way round."""

    def __init__(self, sd, mean):
        self.mean, self.sd = mean, sd


@dataclass
class data(Bell):
    mean: float
    sd: float


@dataclass(frozen=True)
class frozen_data(Bell):
    mean: float
    sd: float


SHIFT = [0.0]


class looks_around(Bell):
    def __init__(self, mean, sd):
        self.mean, self.sd = mean + SHIFT[0], sd


class asks(Bell):
    def __init__(self, mean, sd):
        self.mean, self.sd = mean, abs(sd)


class with_default(Bell):
    def __init__(self, mean, sd=1.0):
        self.mean, self.sd = mean, sd


class with_any(Bell):
    def __init__(self, mean, *sd):
        self.mean, self.sd = mean, sd[0]


class with_slots(Bell):
    __slots__ = ("mean", "sd")

    def __init__(self, mean, sd):
        self.mean, self.sd = mean, sd


class made_elsewhere(Bell):
    def __new__(cls, mean, sd):
        made = super().__new__(cls)
        made.mean, made.sd = mean, sd
        return made

    def __init__(self, mean, sd):
        pass


class guarded(Bell):
    def __init__(self, mean, sd):
        self.mean, self.sd = mean, sd

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value + SHIFT[0])


@dataclass
class data_with_list(Bell):
    mean: float
    sd: float
    more: list = field(default_factory=list)


@dataclass
class data_with_more(Bell):
    mean: float
    sd: float

    def __post_init__(self):
        self.mean += SHIFT[0]


class derived(data):
    def __init__(self, mean, sd):
        super().__init__(mean + SHIFT[0], sd)


KEEPERS = [keeps, keeps_sums, turned, data, frozen_data]
OTHERS = [
    looks_around, asks, with_default, with_any, made_elsewhere, guarded, data_with_list,
    data_with_more, derived,
]  # fmt: skip


@pytest.mark.parametrize("kind", KEEPERS + OTHERS)
def test_which_classes_only_keep_their_arguments(kind):
    assert remade._KEEPERS[kind] == (2 if kind in KEEPERS else -1)


def test_what_has_no_attributes_of_its_own_or_is_no_class_keeps_nothing():
    class bare(Distribution):
        __slots__ = ()

    for thing in (bare, normal):
        assert remade._KEEPERS[thing] == -1


def program_of(kind):
    """A choice from a class, with parameters from a table, beside others."""
    table = [(1.0, 2.0), (0.5, 1.0), (2, 1.5)]

    @gen
    def program():
        i = ~uniform_discrete(0, 2)
        m, s = table[i]
        x = ~kind(m, s)
        xs = [("y", j) @ ~kind(m, 1.25) for j in range(3)]
        z = ~normal(x, 1)
        return xs

    return program


@pytest.mark.parametrize("kind", KEEPERS + OTHERS + [with_slots])
def test_edits_are_what_they_are_on_the_reference_runtime(kind, monkeypatch, unwatched):
    rng = np.random.default_rng(3)
    trace = program_of(kind).simulate(rng=2)
    for _ in range(60):
        values = {}
        if rng.random() < 0.3:
            values[("i",)] = int(rng.integers(3))
        if rng.random() < 0.3:
            values[("x",)] = float(rng.normal())
        if rng.random() < 0.3:
            values[("y", int(rng.integers(3)))] = float(rng.normal())
        if rng.random() < 0.5:
            values[("z",)] = float(rng.normal())
        trace = agree(trace, values)


@pytest.mark.parametrize("kind", KEEPERS)
def test_a_class_that_only_keeps_its_arguments_is_not_called_again(kind, monkeypatch, unwatched):
    trace = program_of(kind).simulate(rng=2)
    trace = trace.update({"z": 0.1}).trace
    for _ in range(2):
        trace = trace.edit({("z",): 0.25}).trace  # the first of these calls it once more

    def refuse(self, *_):
        raise AssertionError("it was called")

    with monkeypatch.context() as patch:
        patch.setattr(kind, "__init__", refuse)
        again = trace.edit({("z",): 0.5})
    assert again.trace["z"] == 0.5
    kept = {path: record for path, record in trace.records.items() if path != ("z",)}
    assert all(again.trace.records[path] is record for path, record in kept.items())
    before = trace.records["x",][0]
    assert before._arguments == (kind, *((1.0, 2.0), (0.5, 1.0), (2, 1.5))[trace["i"]])
    assert "_arguments" not in repr(before)


def test_a_change_of_what_a_constructor_looks_at_is_seen(unwatched):
    trace = program_of(looks_around).simulate(rng=2)
    for _ in range(3):
        trace = trace.edit({("z",): 0.25}).trace
    try:
        SHIFT[0] = 1.0
        new = trace.edit({("z",): 0.5}).trace
        fresh = trace.gen_fn.reference.score((), {path: record[1] for path, record in new.records.items()})
        assert new.log_prob == pytest.approx(fresh.log_prob, rel=1e-12)
    finally:
        SHIFT[0] = 0.0


def other_way(mean, sd):
    return turned(mean, sd)


def doubled(mean, sd):
    return keeps(2.0 * mean, sd)


def test_the_same_arguments_of_something_else_are_others(unwatched):
    kinds = [keeps, turned, doubled, other_way, data, frozen_data]
    numbers = [0.5, 1, 1.0, True, -0.0, 0.0]

    @gen
    def program():
        k = ~uniform_discrete(0, 5)
        i = ~uniform_discrete(0, 5)
        kind = kinds[k]
        mean = numbers[i]
        x = ~kind(mean, 2.0)
        y = ("y", 0) @ ~keeps(mean, 1.5)
        z = ~normal(y, 1)

    rng = np.random.default_rng(4)
    trace = program.simulate(rng=2).whole()  # which makes all choices again by statements
    if (trace["k"], trace["i"]) in [(1, 4), (1, 5)]:
        trace = trace.edit({("i",): 0}).trace
    for _ in range(300):
        k, i = int(rng.integers(6)), int(rng.integers(6))
        values = {("z",): float(rng.normal())}
        if rng.random() < 0.6:
            values.update({("k",): k, ("i",): i})
        for kind in (1, 3):
            if values.get(("k",), trace["k"]) == kind and values.get(("i",), trace["i"]) >= 4:
                values.update({("k",): 0})  # a standard deviation of zero
        trace = agree(trace, values)


def test_what_can_change_is_compared(unwatched):
    table = [[0.5], [0.5]]

    class of_list(Bell):
        def __init__(self, means, sd):
            self.means, self.sd = means, sd

        @property
        def mean(self):
            return self.means[0]

    @gen
    def program():
        x = ~of_list(table[0], 1.0)
        z = ~normal(x, 1)

    assert remade._KEEPERS[of_list] == 2
    trace = program.simulate(rng=2)
    for _ in range(3):
        trace = trace.edit({("z",): 0.25}).trace
    assert trace.records["x",][0]._arguments is None
