"""A choice has the type that its distribution says, whether it is drawn, given or kept."""

import math

import numpy as np
import pytest

from gendsl import Distribution, bernoulli, categorical, gen, iid, normal, poisson, sample, select
from gendsl.inference import mh
from gendsl.supports import Integers, Positive, Real, RealArray
from gendsl.testing import running_on, runtimes


class Of(Distribution):
    """What a function makes of a uniform number, which numbers of NumPy's may be."""

    def __init__(self, make, support):
        self.make, self.kept = make, support

    def sample(self, rng):
        return self.make(rng.random())

    def logpdf(self, x):
        return -1.0

    @property
    def support(self):
        return self.kept


DRAWN = {
    "integer": (Of(lambda u: np.int64(3 * u), Integers(0, 2)), int),
    "truth value": (Of(lambda u: u < 0.5, Integers(0, 1)), int),
    "float": (Of(lambda u: np.exp(np.float64(u)), Positive()), float),
    "float of 32 bits": (Of(lambda u: np.float32(u), Real()), float),
    "array without axes": (Of(lambda u: np.array(u), Real()), float),
    "list": (Of(lambda u: [u, 1.0], RealArray(2)), np.ndarray),
}


@gen
def of(law):
    y = ~law
    x = ~normal(1.0 if isinstance(y, (int, float)) else 2.0, 1)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("runtime", ["reference", "compiled"])
def test_what_is_drawn_has_the_type_of_what_is_given(name, runtime):
    law, kind = DRAWN[name]
    with running_on(runtime):
        for seed in range(4):
            trace = of.simulate((law,), rng=seed)
            assert type(trace["y"]) is kind
            assert of.assess((law,), trace.choices)[0] == pytest.approx(trace.log_prob, rel=1e-12)
            assert type(iid(law, 2).sample(np.random.default_rng(seed))) is np.ndarray


@gen
def changes():
    a = ~bernoulli(0.5)
    b = "b" @ ~(categorical([0.5, 0.5]) if a else bernoulli(0.5))
    means = np.array([3.0, -3.0])
    x = ~normal(means[b] if a else 0.0, 1)


@gen
def changes_its_components():
    a = ~bernoulli(0.5)
    b = "b" @ ~iid(categorical([0.5, 0.5]) if a else bernoulli(0.5), 2)
    x = ~normal(np.array([3.0, -3.0])[b].sum() if a else 0.0, 1)


@gen
def changes_to_counts():
    a = ~bernoulli(0.5)
    b = "b" @ ~(1.0 * poisson(1) if a else poisson(1))
    x = ~normal(math.log(1 + b), 1)


@pytest.mark.parametrize("runtime", ["reference", "compiled"])
def test_what_is_kept_has_the_type_of_its_distribution_now(runtime):
    cases = (changes, True, int), (changes_to_counts, 2, float)
    with running_on(runtime):
        for model, value, kind in cases:
            trace = model.generate((), {"x": 1.0}, init={"a": False, "b": value}, rng=1).trace
            other = trace.update({"a": True})[0]
            assert type(other["b"]) is kind and type(other.update({"a": False})[0]["b"]) is type(value)
            assert other.log_prob == pytest.approx(model.assess((), other.choices)[0], rel=1e-12)
        start = changes_its_components.generate((), {"x": 1.0}, init={"a": False, "b": [True, False]}, rng=1)
        other = start.trace.update({"a": True})[0]
        assert other["b"].dtype == np.int64 and other["b"].tolist() == [1, 0]


@pytest.mark.parametrize("model", [changes, changes_its_components, changes_to_counts])
def test_the_chain_is_the_same_on_all_runtimes(model):
    drawn = {}
    for name in runtimes():
        with running_on(name):
            trace = model.generate((), {"x": 1.0}, init={"a": False}, rng=1).trace
            run = sample(mh(select("a")), trace, 40, seed=3, record=["a", "b"], progress=False)
        drawn[name] = [
            (a, type(b), np.asarray(b).tolist()) for a, b in zip(run["a"], run.recorded["b"], strict=True)
        ]
    assert all(draws == drawn["reference"] for draws in drawn.values())
