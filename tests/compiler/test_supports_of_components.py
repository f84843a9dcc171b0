"""What is learnt of the support of a component, for its type, is not run by the text."""

import math

import pytest

from gendsl import Distribution, gen, iid, normal, ordered, sample, select, uniform_discrete
from gendsl.inference import single_site
from gendsl.supports import FiniteSet, Integers, Interval
from gendsl.testing import running_on, runtimes
from tests.compiler.closed_outcomes import outcome


class Pick(Distribution):
    """One of some integers, whose support reads a list."""

    parameters = ("values",)

    def __init__(self, values):
        self.values = list(values)

    def sample(self, rng):
        return self.values[int(rng.random() * len(self.values))]

    def logpdf(self, x):
        return -math.log(len(self.values))

    @property
    def support(self):
        return Integers(min(self.values), max(self.values))


class Rising(Distribution):
    """A density that rises along an interval, whose ends must be in order."""

    parameters = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

    def sample(self, rng):
        return self.a + (self.b - self.a) * max(rng.random(), rng.random())

    def logpdf(self, x):
        return math.log(2 * (x - self.a)) - 2 * math.log(self.b - self.a) if x > self.a else -math.inf

    @property
    def support(self):
        return Interval(self.a, self.b)


@gen
def picked():
    a = ~uniform_discrete(1, 3)
    y = ~iid(Pick([1, 5, a]), 2)


@gen
def rising():
    a = ~uniform_discrete(0, 3)
    y = ~iid(Rising(0.0, a + 1.0), 2)


@gen
def in_order():
    a = ~uniform_discrete(0, 3)
    y = ~ordered(Rising(0.0, a + 1.0), 2)


@pytest.mark.parametrize("model", [picked, rising, in_order])
def test_the_text_gives_what_the_reference_gives(model):
    for seed in range(5):
        assert outcome(model, (), rng=seed) == "equal"


@pytest.mark.parametrize("model", [picked, rising, in_order])
def test_chains_are_the_same(model):
    start, drawn = model.simulate(rng=1), {}
    for name in runtimes():
        with running_on(name):
            run = sample(single_site(select("a")), start, 40, seed=1, progress=False)
        drawn[name] = run["a"].tolist()
        assert name not in ("python", "native") or "interpreter" not in run.ran[0], run.ran
    assert len(set(map(tuple, drawn.values()))) == 1


class Label(Distribution):
    """One of some strings."""

    def sample(self, rng):
        return "ab"[int(2 * rng.random())]

    def logpdf(self, x):
        return -math.log(2)

    @property
    def support(self):
        return FiniteSet(["a", "b"])


@gen
def labelled():
    kind = ~Label()
    y = ~normal({"a": 0.0, "b": 1.0}[kind], 1)


def test_of_choices_of_strings_it_is_said_what_is_compiled():
    assert outcome(labelled, ()).endswith("choices from a finite set of other than numbers of one kind")
