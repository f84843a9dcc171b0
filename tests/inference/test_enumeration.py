"""Exact posteriors by enumeration, against sums written by hand and against the enumerating generator."""

import math

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    binom,
    categorical,
    errors,
    gen,
    multinomial,
    normal,
    poisson,
    select,
    uniform_discrete,
)  # fmt: skip
from gendsl.inference import enumerate_posterior, mh
from gendsl.testing import transitions


@gen
def clusters(n):
    k = ~uniform_discrete(1, 3)
    z = [("z", i) @ ~categorical([1 / k] * k) for i in range(n)]
    for i in range(n):
        ("x", i) @ ~normal(z[i], 1.0)


@gen
def burglary():
    thief = ~bernoulli(0.01)
    quake = ~bernoulli(0.02)
    alarm = ~bernoulli(0.95 if thief else 0.3 if quake else 0.001)


def test_a_model_by_hand():
    found = enumerate_posterior(burglary, (), {"alarm": True})
    joint = {
        (t, q): (0.01 if t else 0.99) * (0.02 if q else 0.98) * (0.95 if t else 0.3 if q else 0.001)
        for t in (False, True) for q in (False, True)
    }  # fmt: skip
    total = sum(joint.values())
    assert found.log_evidence == pytest.approx(math.log(total), rel=1e-12)
    assert found.marginal("thief")[True] == pytest.approx((joint[True, False] + joint[True, True]) / total)
    assert found.mean("quake") == pytest.approx((joint[False, True] + joint[True, True]) / total)
    assert found.best["thief"] and not found.best["quake"]
    pairs = found.marginal(lambda trace: (trace["thief"], trace["quake"]))
    for values, p in joint.items():
        assert pairs[values] == pytest.approx(p / total)
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert all(dict(trace.observed.items()) == {("alarm",): True} for trace in found.traces)
    assert repr(found).startswith("<enumeration of 4 traces, log evidence -")


def test_choices_that_come_and_go():
    found = enumerate_posterior(clusters, (3,), {"x": [0.1, 1.2, 2.3]})
    assert len(found.traces) == 1 + 2**3 + 3**3
    by_generator = transitions(mh(select("k", "z")), clusters, (3,), {"x": [0.1, 1.2, 2.3]})
    assert found.log_evidence == pytest.approx(by_generator.log_evidence, rel=1e-12)
    means = {t: math.exp(lp) for t, lp in zip(map(str, found.traces), found.log_probs, strict=True)}
    assert len(means) == len(found.traces)
    exact = sum(
        math.prod(np.mean([math.exp(-0.5 * (x - z) ** 2) for z in range(k)]) for x in (0.1, 1.2, 2.3))
        for k in (1, 2, 3)
    ) / 3 / (2 * math.pi) ** 1.5  # fmt: skip
    assert found.log_evidence == pytest.approx(math.log(exact), rel=1e-12)
    assert sum(found.marginal("k").values()) == pytest.approx(1.0)
    kernel = mh(select(("z", 0)))
    assert kernel(found.best, 1)[0]["x", 1] == 1.2


def test_impossible_values_are_left_out():
    @gen
    def model(n):
        a = ~uniform_discrete(0, 3)
        b = ~binom(3, 0.0 if a == 0 else 0.5)
        "total" @ ~uniform_discrete(a, a + b)

    found = enumerate_posterior(model, (3,), {"total": 4})
    assert {(t["a"], t["b"]) for t in found.traces} == {
        (a, b) for a in range(4) for b in range(4) if a <= 4 <= a + b and not (a == 0 and b > 0)
    }


def test_vectors_of_counts():
    @gen
    def model():
        counts = ~multinomial(3, [0.2, 0.3, 0.5])
        "y" @ ~normal(counts[0], 1.0)

    found = enumerate_posterior(model, (), {"y": 1.0})
    assert len(found.traces) == 10
    assert found.mean("counts").sum() == pytest.approx(3.0)
    with pytest.raises(errors.ValueTypeError, match="not hashable"):
        found.marginal("counts")


def test_no_latent_choice():
    found = enumerate_posterior(burglary, (), {"thief": True, "quake": False, "alarm": True})
    assert found.log_evidence == pytest.approx(math.log(0.01 * 0.98 * 0.95)) and len(found.traces) == 1


def test_what_can_t_be_enumerated():
    @gen
    def continuous():
        k = ~bernoulli(0.5)
        x = ~normal(0, 1)

    @gen
    def unbounded():
        k = ~poisson(1.0)

    with pytest.raises(errors.EnumerationError, match="a continuum of values") as caught:
        enumerate_posterior(continuous)
    assert caught.value.address == ("x",)
    with pytest.raises(errors.EnumerationError, match="infinitely many values"):
        enumerate_posterior(unbounded)
    with pytest.raises(errors.EnumerationError, match="more than 7 traces"):
        enumerate_posterior(clusters, (3,), {"x": [0.0, 0.0, 0.0]}, most=7)
    with pytest.raises(errors.ZeroProbabilityError, match="observations have probability zero"):
        enumerate_posterior(clusters, (1,), {"x": [0.0], "k": 7})
    with pytest.raises(errors.UnknownAddressError):
        enumerate_posterior(burglary, (), {"alarm": True, "typo": 1})
    with pytest.raises(errors.ValueTypeError, match="needs a model"):
        enumerate_posterior(3)
