"""Functions of the user's with the names of others that call what they are given."""

import itertools

import numpy as np
import pytest
from scipy import stats

from gendsl import gen, normal
from gendsl.testing import running_on, runtimes


def filter(level, steps):
    return level + sum(steps)


def reduce(level, steps):
    return 100.0 if callable(level) else level + sum(steps)


def accumulate(level, steps):
    return [level + step for step in itertools.accumulate(steps)][-1]


class Kalman:
    def __init__(self, level):
        self.level = level

    def map(self, steps):
        return self.level + sum(steps)


@gen
def filtered():
    level = ~normal(0, 1)
    steps = [("step", j) @ ~normal(0, 1) for j in range(3)]
    y = ~normal(filter(level, steps), 0.5)


@gen
def reduced():
    level = ~normal(0, 1)
    steps = [("step", j) @ ~normal(0, 1) for j in range(3)]
    total = reduce(level, steps=steps)
    y = ~normal(total, 0.5)


@gen
def accumulated():
    level = ~normal(0, 1)
    steps = [("step", j) @ ~normal(0, 1) for j in range(3)]
    y = ~normal(accumulate(level, steps), 0.5)


@gen
def mapped():
    level = ~normal(0, 1)
    steps = [("step", j) @ ~normal(0, 1) for j in range(3)]
    y = ~normal(Kalman(level).map(steps), 0.5)


@pytest.mark.parametrize("runtime", runtimes())
@pytest.mark.parametrize("model", [filtered, reduced, accumulated, mapped], ids=lambda model: model.name)
def test_they_are_given_what_the_program_says(model, runtime):
    def expected(trace):
        numbers = [trace["level"], *(trace["step", j] for j in range(3))]
        return np.sum(stats.norm.logpdf(numbers)) + stats.norm.logpdf(0.4, sum(numbers), 0.5)

    with running_on(runtime):
        trace = model.generate((), {"y": 0.4}, rng=1).trace
        assert trace.log_prob == pytest.approx(expected(trace), rel=1e-12)
        for changes in ({"level": 0.7}, {("step", 1): -0.2}):
            trace = trace.update(changes, rng=1).trace
            assert trace.log_prob == pytest.approx(expected(trace), rel=1e-12)
