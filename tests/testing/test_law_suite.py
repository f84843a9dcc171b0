"""The law suite as a user runs it: on a program of his own, with and without a second definition."""

import math

import numpy as np
import pytest
from scipy import stats

from gendsl import bernoulli, gen, normal, poisson
from gendsl.errors import ValueTypeError
from gendsl.interface import Proposed
from gendsl.runtime.executions import Generate
from gendsl.runtime.generative import GenFunction
from gendsl.testing import assert_laws, assert_weight_laws


@gen
def program(scale, n=2):
    heads = ~bernoulli(0.4)
    total = 0.0
    for i in range(n):
        x = ("x", i) @ ~normal(1.0 if heads else -1.0, scale)
        total += x
    if heads:
        k = ~poisson(math.exp(0.1 * total))
    return total


def oracle(args, choices):
    """The same program by SciPy."""
    scale, n = (*args, 2)[:2]
    heads, xs = choices["heads"], [choices["x", i] for i in range(n)]
    scores = {"heads": math.log(0.4 if heads else 0.6)}
    for i, x in enumerate(xs):
        scores["x", i] = stats.norm.logpdf(x, 1.0 if heads else -1.0, scale)
    if heads:
        scores["k"] = stats.poisson.logpmf(choices["k"], math.exp(0.1 * sum(xs, 0.0)))
    return scores, sum(xs, 0.0)


@pytest.mark.parametrize("second", [None, oracle])
def test_a_program_that_obeys_the_laws(second):
    assert_laws(program, (1.0,), other_args=[(2.0,), (0.5, 3)], oracle=second, cases=4)


def test_the_reference_runtime_obeys_them():
    assert_laws(program.reference, (1.0,), other_args=[(0.5, 3)], cases=3)


def test_a_broken_law_is_named_with_its_equation(monkeypatch):
    choose = Generate.choose

    def planted(self, path, distribution):
        record = choose(self, path, distribution)
        self.weight += 0.01
        return record

    monkeypatch.setattr(Generate, "choose", planted)
    with pytest.raises(AssertionError) as failure:
        assert_laws(program.reference, (1.0,), cases=3)
    for part in ("program breaks the generate law", "log p(t; x) / q(t; u, x)", "heads"):
        assert part in str(failure.value)


def test_an_oracle_that_disagrees_is_seen():
    def other(args, choices):
        scores, retval = oracle(args, choices)
        return {**scores, "heads": scores["heads"] + 1e-6}, retval

    with pytest.raises(AssertionError, match="breaks the simulate law"):
        assert_laws(program, (1.0,), oracle=other)


def test_weight_laws_at_one_trace(monkeypatch):
    trace = program.generate((1.0,), {("x", 0): 0.5}, rng=1).trace
    assert_weight_laws(trace, other_args=[(2.0,)])

    def planted(self, args=(), *, rng=None):
        drawn = self.simulate(args, rng=9)
        return Proposed(drawn.choices, drawn.log_prob, drawn.retval)

    monkeypatch.setattr(GenFunction, "propose", planted)
    with pytest.raises(AssertionError, match="breaks the propose law"):
        assert_weight_laws(trace)


def test_what_is_no_program_is_an_error():
    with pytest.raises(ValueTypeError, match="decorate it with @gen"):
        assert_laws(lambda: 0)
    with pytest.raises(ValueTypeError, match="draw it from traces"):
        assert_weight_laws(program)


def test_options_leave_laws_out():
    @gen
    def local():
        x = ~normal(0, 1)
        y = ~normal(float(np.round(x)), 1)  # neither can be pickled here nor differentiated

    assert_laws(local, pickled=False, differentiable=False, cases=2)
    with pytest.raises(Exception, match=r"pickle|derivative|float"):
        assert_laws(local, pickled=True, differentiable=True, cases=2)
