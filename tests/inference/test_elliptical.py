"""Elliptical slice sampling: exact posteriors of linear models, and priors that are refused."""

import numpy as np
import pytest

from gendsl import bernoulli, gen, iid, mvnormal, normal, product, select, student_t
from gendsl.errors import KernelError
from gendsl.inference import EllipticalInfo, elliptical_slice, sample
from gendsl.inference.ellipses import normal_mean


def test_the_posterior_of_a_linear_model():
    cov = np.array([[2.0, 1.2], [1.2, 1.0]])
    mean = np.array([1.0, -1.0])

    @gen
    def linear():
        f = ~mvnormal(mean, cov)
        y = ~normal(f[0] + 2 * f[1], 0.5)

    a = np.array([1.0, 2.0])
    gain = cov @ a / (a @ cov @ a + 0.25)
    expected = mean + gain * (1.5 - a @ mean)
    trace = linear.generate((), {"y": 1.5}, rng=1).trace
    run = sample(elliptical_slice("f"), trace, 800, record="f", seed=1)
    draws = run["f"]
    posterior_cov = cov - np.outer(gain, a @ cov)
    assert np.abs(draws.mean(0) - expected).max() < 0.25
    assert np.abs(np.cov(draws.T) - posterior_cov).max() < 0.25


@gen
def mixed():
    x = ~normal(0.0, 1.0)
    h = ~student_t(3, 0, 1)
    z = ~normal(x, 1)
    on = ~(1 - bernoulli(0.5))


def test_what_is_refused():
    trace = mixed.simulate(rng=1)
    with pytest.raises(KernelError, match="needs choices with normal distributions") as caught:
        elliptical_slice("h")(trace, 1)
    assert caught.value.address == ("h",)
    with pytest.raises(KernelError, match="depends on other selected choices") as caught:
        elliptical_slice(select("x", "z"))(trace, 1)
    assert caught.value.address == ("z",)
    assert isinstance(elliptical_slice("x")(trace, 1)[1], EllipticalInfo)


def test_a_value_that_decides_what_exists_is_refused():
    @gen
    def branches():
        x = ~normal(0, 1)
        if x > 0:
            z = ~normal(0, 1)

    with pytest.raises(KernelError, match="decides whether 'z' exists"):
        sample(elliptical_slice("x"), branches.generate((), init={"x": 0.01}, rng=1).trace, 20, seed=1)


def test_means():
    path = ("x",)
    assert normal_mean(3 * normal(2, 1) - 1, path) == 5
    assert normal_mean(iid(normal(2, 1), 3), path).tolist() == [2, 2, 2]
    assert normal_mean(product(normal(1, 1), normal(2, 1)), path).tolist() == [1, 2]
    assert normal_mean(2 * mvnormal([1.0, 2.0], np.eye(2)), path).tolist() == [2, 4]
    for other in (product(normal(1, 1), student_t(3, 0, 1)), iid(student_t(3, 0, 1), 2)):
        with pytest.raises(KernelError, match="normal distributions"):
            normal_mean(other, path)


def test_nothing_selected():
    assert elliptical_slice("w", skip_absent=True)(mixed.simulate(rng=1), 1)[1].evaluations == 0
