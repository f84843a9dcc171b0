"""A pair of transforms as a move: neither is its own inverse, and the posterior is still left alone."""

import copy
import math
import pickle

import numpy as np
import pytest

from gendsl import (
    check_involutive,
    continuous,
    errors,
    gen,
    involutive_mcmc,
    log_normal,
    normal,
    pair,
    read,
    sample,
    transform,
    write,
)
from gendsl.inference import cycle, involutive


@gen
def positive():
    x = ~log_normal(0.3, 0.8)
    y = ~normal(x, 1)


@transform
def double(model_in, *, model_out):
    write(model_out["x"], 2 * read(model_in["x"], continuous), continuous)


@transform
def halve(model_in, *, model_out):
    write(model_out["x"], read(model_in["x"], continuous) / 2, continuous)


@transform
def third(model_in, *, model_out):
    write(model_out["x"], read(model_in["x"], continuous) / 3, continuous)


SCALE = pair(double, halve)


def moments(kernel, chains=4000, seed=3):
    """z-scores of log x and its square after a few steps from exact prior draws."""
    rng = np.random.default_rng(seed)
    finals = []
    for _ in range(chains):
        trace = positive.simulate((), rng=rng)
        for _ in range(4):
            trace, _ = kernel(trace, rng)
        finals.append((math.log(trace["x"]) - 0.3) / 0.8)
    z = np.array(finals)
    return z.mean() * math.sqrt(chains), (np.mean(z**2) - 1) * math.sqrt(chains / 2)


def test_a_pair_leaves_the_prior_invariant():
    first, second = moments(involutive(None, SCALE, check=True))
    assert abs(first) < 4 and abs(second) < 4


def test_the_test_sees_a_pair_whose_directions_are_not_equally_likely():
    def mostly_double(trace, rng):
        f = double if rng.random() < 0.8 else halve
        return involutive_mcmc(trace, None, (), f, rng=rng)

    first, second = moments(mostly_double)
    assert max(abs(first), abs(second)) > 6


def test_both_directions_are_taken_and_their_determinants_are_opposite():
    trace = positive.simulate((), rng=0)
    seen = set()
    for seed in range(20):
        _, info = involutive_mcmc(trace, None, (), SCALE, rng=seed)
        seen.add(round(info.log_abs_det, 12))
    assert seen == {round(math.log(2), 12), -round(math.log(2), 12)}


def test_checks_find_a_pair_that_is_no_pair():
    assert check_involutive(positive, (), None, SCALE, n=20, rng=1).ok
    report = check_involutive(positive, (), None, pair(double, third), n=20, rng=1)
    assert len(report.failures) == 40  # each case in both directions
    assert "transform third is not the inverse of double" in str(report)
    with pytest.raises(errors.InvolutionError, match="is not the inverse of"):
        involutive_mcmc(positive.simulate((), rng=1), None, (), pair(double, third), check=True, rng=1)


def test_a_pair_is_counted_under_both_names():
    run = sample(cycle(involutive(None, SCALE)), positive.simulate((), rng=0), 5, seed=0)
    assert set(run.acceptance) == {"double and halve"}


def test_a_pair_is_pickled_and_copied_after_steps_with_it():
    """Of a loop of `involutive_mcmc` it keeps kernels, which are no part of it."""
    trace = positive.simulate((), rng=1)
    for seed in range(3):
        trace, _ = involutive_mcmc(trace, None, (), SCALE, rng=seed)
    for again in (pickle.loads(pickle.dumps(SCALE)), copy.copy(SCALE), copy.deepcopy(SCALE)):
        assert not again.kernels and type(again) is type(SCALE)
        assert involutive_mcmc(trace, None, (), again, rng=4)[1] == involutive_mcmc(
            trace, None, (), SCALE, rng=4
        )[1]
    kernel = pickle.loads(pickle.dumps(involutive(None, SCALE)))
    assert kernel(trace, 5)[1] == involutive(None, SCALE)(trace, 5)[1]
