"""Checks for distributions of arrays; each raises AssertionError with what is wrong."""

from __future__ import annotations

import math

import autograd
import autograd.numpy as anp
import numpy as np
from autograd.test_util import check_grads

from tests.distributions import checks
from tests.distributions.checks import Z_MAX, draws


def assert_mean(samples, expected):
    """Every entry of the samples' mean lies within 4.5 standard errors of what is expected."""
    samples = np.asarray(samples, dtype=float)
    error = samples.std(axis=0, ddof=1) / math.sqrt(len(samples))
    difference = np.abs(samples.mean(axis=0) - expected)
    assert (difference <= Z_MAX * error + 1e-12).all(), f"z-scores {difference / error}"


def assert_density_ratio(p, q, count=2000, seed=3):
    """E[q(x) / p(x)] = 1 under p: holds only if p's sampler and both densities belong together."""
    samples = draws(p, count, seed)
    ratios = np.exp(q.logpdf(samples) - p.logpdf(samples))
    assert_mean(ratios, 1.0)


def assert_stack(distribution, count=6):
    """A stack of values is scored as its values are, along two leading axes too."""
    samples = draws(distribution, count)
    one_by_one = [distribution.logpdf(x) for x in samples]
    assert all(type(score) is float for score in one_by_one)
    np.testing.assert_allclose(distribution.logpdf(samples), one_by_one, rtol=1e-12, atol=1e-13)
    folded = samples.reshape(2, count // 2, *samples.shape[1:])
    np.testing.assert_allclose(
        distribution.logpdf(folded), np.reshape(one_by_one, (2, -1)), rtol=1e-12, atol=1e-13
    )


def assert_support(distribution):
    """Draws lie in the support; its coordinates and its chart go there and back."""
    support = distribution.support
    checks.assert_chart(support)
    for x in draws(distribution, 3, seed=5):
        assert support.contains(x)
        np.testing.assert_allclose(support.from_coordinates(support.coordinates(x)), x, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(support.constrain(support.unconstrain(x)), x, rtol=1e-9, atol=1e-12)


def assert_value_gradient(distribution):
    """autograd's gradient in the free coordinates agrees with finite differences."""
    support = distribution.support
    x = draws(distribution, 1, seed=7)[0]
    score = lambda c: distribution.logpdf(support.from_coordinates(c))
    c = support.coordinates(x)
    np.testing.assert_allclose(score(c), distribution.logpdf(x), rtol=1e-9)
    check_grads(score, modes=["rev"], order=1)(c)


def assert_parameter_gradient(make, theta, x):
    """autograd's gradient with respect to parameters agrees with finite differences."""
    theta = anp.array(theta, dtype=float)
    score = lambda theta: make(theta).logpdf(x)
    assert np.any(autograd.grad(score)(theta) != 0.0)
    check_grads(score, modes=["rev"], order=1)(theta)
