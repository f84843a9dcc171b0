"""Choices drawn anew where others are observed: those that are all observed are scored, and never drawn.

Where a program comes to make one there that is no observation, another text is made.
"""

import math
import time

import numpy as np
import pytest

from gendsl import Distribution, gen, normal, poisson, sample, select
from gendsl.errors import GenDSLError
from gendsl.inference import cycle, mh, single_site
from gendsl.inference.compiled import machine
from gendsl.inference.compiled.policy import why_no_machine_code
from gendsl.supports import Positive
from gendsl.testing import running_on
from tests.inference.forms import AS

pytestmark = pytest.mark.skipif(why_no_machine_code() is not None, reason="there is no machine code")
FORMS = pytest.mark.parametrize("form", AS)
N = 3


@gen
def rows(n, more):
    k = ~(n + poisson(more))
    mu = ~normal(0, 1)
    for i in range(k):
        ("y", i) @ ~normal(mu, 1)
        ("x", i) @ ~normal(mu, 2)


def start(n=N, more=1.5, given=N):
    observed = {("y", i): 0.5 * i for i in range(given)}
    return rows.generate((n, more), observed, init={"k": N}, rng=1).trace


KERNELS = {
    "how many": mh(select("k")),
    "in turn": cycle(mh(select("k")), single_site(select("mu"))),
    "one of two": single_site(select("k", "mu")),
    "of the other rows": cycle(mh(select("k", "x")), single_site(select("x"))),
}


def drawn(kernel, trace, form, draws=600):
    with running_on(form):
        return sample(kernel, trace, draws, record=["k", "mu", ("x", 0)], seed=3, progress=False)


@FORMS
@pytest.mark.parametrize("name", KERNELS)
def test_rows_that_are_not_observed_come_and_go(name, form):
    expected, run = (drawn(KERNELS[name], start(), one) for one in ("compiled", form))
    assert run.ran == [AS[form]]
    assert max(expected["k"]) > N
    for what in ("k", "mu", ("x", 0)):
        assert list(run[what]) == list(expected[what])
    assert run.last.choices == expected.last.choices
    counts = [[(one.proposed, one.accepted) for one in each.acceptance.values()] for each in (run, expected)]
    assert counts[0] == counts[1]


@FORMS
def test_step_that_takes_an_observation_away_is_an_error(form):
    messages = []
    for one in ("compiled", form):
        with pytest.raises(GenDSLError) as caught:
            drawn(KERNELS["how many"], start(n=1, more=2.0), one)
        messages.append((type(caught.value), caught.value.address, caught.value.problem))
    assert messages[0] == messages[1]


def test_distribution_of_how_many_rows_there_are():
    """It is that of the prior, as what is not observed says nothing; z = 2.9 is one in 250."""
    run = drawn(KERNELS["how many"], start(), "native", draws=20_000)
    counts = np.bincount(np.array(run["k"]) - N, minlength=6)[:6]
    expected = 20_000 * np.array([np.exp(poisson(1.5).logpdf(j)) for j in range(6)])
    z = (counts - expected) / np.sqrt(expected)
    assert np.abs(z).max() < 3.5, z


def test_text_is_made_anew_once(monkeypatch):
    machines = []
    monkeypatch.setattr("gendsl.inference.compiled.texts._KNOWN", {})
    load = machine.Machine.load

    def noted(self, trace):
        machines.append(self)
        load(self, trace)

    monkeypatch.setattr(machine.Machine, "load", noted)
    run = drawn(KERNELS["how many"], start(), "native")
    assert run.ran == [AS["native"]] and len(set(map(id, machines))) == 2


class folded(Distribution):
    """What is drawn of it no text says: it asks for the time."""

    parameters = ("mean",)

    def __init__(self, mean):
        self.mean = mean

    @property
    def support(self):
        return Positive()

    def sample(self, rng):
        return abs(rng.normal(self.mean, 1)) + 0 * time.time()

    def logpdf(self, x):
        return math.log(math.exp(-0.5 * (x - self.mean) ** 2) + math.exp(-0.5 * (x + self.mean) ** 2))


@gen
def distances(n):
    mean = ~normal(0, 3)
    for i in range(n):
        ("d", i) @ ~folded(mean)


@FORMS
def test_what_is_observed_needs_no_text_of_how_it_is_drawn(form):
    trace = distances.generate((4,), {("d", i): 0.5 + i for i in range(4)}, init={"mean": 1.0}, rng=1).trace
    kernel = mh(select("mean"))
    runs = []
    for one in ("compiled", form):
        with running_on(one):
            runs.append(sample(kernel, trace, 400, record=["mean"], seed=2, progress=False))
    assert runs[1].ran == [AS[form]] and list(runs[0]["mean"]) == list(runs[1]["mean"])
