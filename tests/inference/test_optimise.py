"""Modes against those found by hand."""

import math

import numpy as np
import pytest

from gendsl import bernoulli, beta, exponential, gamma, gen, normal, select
from gendsl.errors import KernelError, LabelError
from gendsl.inference import maximise


@gen
def coin(n):
    p = ~beta(2, 3)
    for i in range(n):
        ("x", i) @ ~bernoulli(p)


def test_the_mode_of_a_beta_posterior():
    """beta(2 + 7, 3 + 3): mode (9 - 1) / (15 - 2); in the logit it is 9 / 15."""
    data = np.array([True] * 7 + [False] * 3)
    trace = coin.generate((10,), {"x": data}, init={"p": 0.2}).trace
    found = maximise(trace)
    assert found.converged and found.trace["p"] == pytest.approx(8 / 13, rel=1e-6)
    assert found.log_prob == pytest.approx(found.trace.log_prob)
    assert maximise(trace, jacobian=True).trace["p"] == pytest.approx(9 / 15, rel=1e-6)


def test_several_choices_and_a_selection():
    @gen
    def model():
        m = ~normal(0, 10)
        s = ~gamma(3, 1)
        k = ~bernoulli(0.5)
        y = ~normal(m, 1)

    trace = model.generate((), {"y": 2.0}, rng=1).trace
    found = maximise(trace)
    assert found.trace["m"] == pytest.approx(2 / (1 + 1 / 100), rel=1e-6)
    assert found.trace["s"] == pytest.approx(2.0, rel=1e-6)
    assert found.trace["k"] == trace["k"] and found.trace["y"] == 2.0
    only = maximise(trace, select("s"))
    assert only.trace["m"] == trace["m"] and only.trace["s"] == pytest.approx(2.0, rel=1e-6)


def test_a_mode_on_the_border_is_approached():
    @gen
    def model():
        x = ~exponential(1.0)

    found = maximise(model.simulate(rng=1))
    assert found.trace["x"] < 1e-3 and found.log_prob == pytest.approx(0.0, abs=1e-3)
    assert maximise(model.simulate(rng=1), jacobian=True).trace["x"] == pytest.approx(1.0, rel=1e-6)


def test_errors():
    @gen
    def discrete():
        k = ~bernoulli(0.5)

    with pytest.raises(KernelError, match="no continuous choice"):
        maximise(discrete.simulate(rng=1))
    with pytest.raises(LabelError):
        maximise(discrete.simulate(rng=1), select("k"))
    with pytest.raises(LabelError):
        maximise(discrete.simulate(rng=1), "k")  # an address does as well
    with pytest.raises(KernelError, match="maximise needs a selection or an address"):
        maximise(discrete.simulate(rng=1), ["k"])
    assert math.isfinite(discrete.simulate(rng=1).log_prob)
