"""A kernel goes on after what its programs find outside changed: its text is of what there is now."""

import functools
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from gendsl import Distribution, gen, normal, sample, select
from gendsl.inference import mh
from gendsl.supports import Real
from gendsl.testing import running_on


class Own(Distribution):
    support = Real()

    def __init__(self, centre):
        self.centre = centre

    def sample(self, rng):
        return self.centre + rng.standard_normal()

    def logpdf(self, x):
        return -0.5 * (x - self.centre) ** 2


class Link:
    def __init__(self, x):
        self.x = x

    def __call__(self):
        return self.x


def scaled(x, *, factor=1.0):
    return factor * x


def flat(self, x):
    return -abs(x - self.centre)


def uniform(self, rng):
    return 0.1 * self.centre + rng.uniform()


def reversed_(self, x):
    self.x = -x


def constant(self):
    return 1.5


SETTINGS, MODULE = SimpleNamespace(), ModuleType("settings")
PARTIAL = functools.partial(scaled, factor=1.0)
OWN, NORMAL, FROZEN = Own(0.0), normal(0.0, 1.0), stats.norm(loc=0.0)


@gen
def with_default():
    x = ~normal(0, 1)
    y = ~normal(x, getattr(SETTINGS, "sd", 1.0))


@gen
def with_switch():
    x = ~normal(0, 1)
    y = ~normal(x, 3.0 if hasattr(MODULE, "DEBUG") else 1.0)


@gen
def with_link():
    x = ~normal(0, 1)
    y = ~normal(Link(x)(), 1.0)


@gen
def with_own():
    x = ~normal(0, 1)
    y = ~Own(x)


@gen
def from_own():
    x = ~Own(0.3)
    y = ~normal(x, 1.0)


@gen
def with_partial():
    x = ~normal(0, 1)
    y = ~normal(PARTIAL(x), 1.0)


@gen
def with_keyword():
    x = ~normal(0, 1)
    y = ~normal(scaled(x), 1.0)


@gen
def from_instance():
    x = ~OWN
    y = ~normal(x, 1.0)


@gen
def from_normal():
    x = ~NORMAL
    y = ~normal(x, 1.0)


@gen
def from_frozen():
    x = ~FROZEN
    y = ~normal(x, 1.0)


DATA = {"scale": 1, "shift": 0.5, "values": np.array([1.0, 2.0])}


@gen
def with_data():
    x = ~normal(DATA["shift"], 1)
    y = ~normal(x, DATA["scale"] + 1 // DATA["scale"])


CHANGES = {
    "an attribute that getattr did not find": (with_default, lambda m: m.setattr(SETTINGS, "sd", 3.0, False)),
    "one that hasattr did not find": (with_switch, lambda m: m.setattr(MODULE, "DEBUG", True, raising=False)),
    "__call__": (with_link, lambda m: m.setattr(Link, "__call__", constant)),
    "__init__": (with_link, lambda m: m.setattr(Link, "__init__", reversed_)),
    "logpdf": (with_own, lambda m: m.setattr(Own, "logpdf", flat)),
    "sample": (from_own, lambda m: m.setattr(Own, "sample", uniform)),
    "a keyword of a partial": (with_partial, lambda m: m.setitem(PARTIAL.keywords, "factor", -3.0)),
    "a default": (with_keyword, lambda m: m.setitem(scaled.__kwdefaults__, "factor", -3.0)),
    "an attribute of a distribution": (from_instance, lambda m: m.setattr(OWN, "centre", 2.0)),
    "the mean of a normal": (from_normal, lambda m: m.setattr(NORMAL, "mean", 2.0)),
    "a number of a dict, of another type": (with_data, lambda m: m.setitem(DATA, "scale", 1.5)),
    "what a frozen one was given": (from_frozen, lambda m: m.setitem(FROZEN.kwds, "loc", 2.0)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_text_is_made_again(what, form, monkeypatch):
    model, change = CHANGES[what]
    kernel = mh(select("x"))

    def chain(runtime):
        with running_on(runtime):
            start = model.generate((), {"y": 2.0}, init={"x": 0.5}, rng=1).trace
            return sample(kernel, start, 2000, record="x", seed=1, progress=False)

    before = chain(form)
    change(monkeypatch)
    found, expected = chain(form), chain("reference")
    assert before.ran == found.ran and not found.ran[0].startswith("step by step")
    np.testing.assert_allclose(found["x"], expected["x"], rtol=1e-12)
    assert not np.array_equal(before["x"], found["x"])
