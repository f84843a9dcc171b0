"""What families of one number ask of their parameters and values, and the errors where they don't get it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gendsl.distributions import (
    bernoulli,
    beta,
    beta_uniform,
    binom,
    categorical,
    cauchy,
    exponential,
    flat,
    gamma,
    geometric,
    half_cauchy,
    half_normal,
    half_student_t,
    inv_gamma,
    laplace,
    log_normal,
    neg_binom,
    normal,
    piecewise_uniform,
    poisson,
    student_t,
    truncated_normal,
    uniform,
    uniform_discrete,
    von_mises,
)
from gendsl.errors import ParameterError, ValueTypeError

INF, NAN = math.inf, math.nan

INVALID = [
    (lambda: normal(0.0, -1.0), "normal: sd must be positive and finite, got -1.0"),
    (lambda: normal(0, 0), "normal: sd must be positive and finite, got 0"),
    (lambda: normal(0.0, NAN), "normal: sd must be positive and finite, got nan"),
    (lambda: normal(0.0, INF), "normal: sd must be positive and finite, got inf"),
    (lambda: normal(NAN, 1.0), "normal: mean must be finite, got nan"),
    (lambda: normal(np.float64(-INF), 1.0), "normal: mean must be finite, got -inf"),
    (lambda: normal("0", 1.0), "normal: mean must be a number, got '0' of type str"),
    (lambda: normal(None, 1.0), "normal: mean must be a number, got None of type NoneType"),
    (lambda: normal(0.0, 1j), "normal: sd must be a number, got 1j of type complex"),
    (lambda: normal(0.0, np.complex128(1j)), "normal: sd must be a number, got 1j of type complex128"),
    (lambda: normal(np.zeros(2), 1.0), "normal: mean must be one number, got array([0., 0.])"),
    (lambda: normal(0.0, np.ones(1)), "normal: sd must be one number, got array([1.])"),
    (lambda: normal([0.0, 1.0], 1.0), "normal: mean must be one number, got [0.0, 1.0]"),
    (lambda: laplace(0.0, 0.0), "laplace: scale must be positive and finite, got 0.0"),
    (lambda: cauchy(INF, 1.0), "cauchy: loc must be finite, got inf"),
    (lambda: student_t(0.0), "student_t: df must be positive and finite, got 0.0"),
    (lambda: student_t(1.0, 0.0, -2), "student_t: scale must be positive and finite, got -2"),
    (lambda: von_mises(0.0, -1.0), "von_mises: kappa must be nonnegative and finite, got -1.0"),
    (lambda: exponential(0.0), "exponential: rate must be positive and finite, got 0.0"),
    (lambda: exponential(10**400), "exponential: rate must be positive and finite, got 1000"),
    (lambda: gamma(-1.0, 1.0), "gamma: shape must be positive and finite, got -1.0"),
    (lambda: gamma(1.0, np.float64(NAN)), "gamma: scale must be positive and finite, got nan"),
    (lambda: inv_gamma(1.0, "a"), "inv_gamma: scale must be a number, got 'a' of type str"),
    (lambda: log_normal(0.0, 0.0), "log_normal: sigma must be positive and finite, got 0.0"),
    (lambda: half_normal(-1), "half_normal: scale must be positive and finite, got -1"),
    (lambda: half_cauchy(NAN), "half_cauchy: scale must be positive and finite, got nan"),
    (lambda: half_student_t(0.0), "half_student_t: df must be positive and finite, got 0.0"),
    (lambda: half_student_t(3.0, -1), "half_student_t: scale must be positive and finite, got -1"),
    (lambda: flat(1.0, 1.0), "flat: high must be greater than low, got low=1.0, high=1.0"),
    (lambda: flat(INF), "flat: high must be greater than low, got low=inf, high=inf"),
    (lambda: flat(NAN), "flat: low must be a number or infinite, got nan"),
    (lambda: bernoulli(logit=INF), "bernoulli: logit must be finite, got inf"),
    (lambda: binom(3, logit=NAN), "binom: logit must be finite, got nan"),
    (lambda: binom(-1, logit=0.0), "binom: n must be a nonnegative integer, got -1"),
    (lambda: poisson(log_rate=-INF), "poisson: log_rate must be finite, got -inf"),
    (lambda: neg_binom(mean=0.0, dispersion=1.0), "neg_binom: mean must be positive and finite, got 0.0"),
    (lambda: neg_binom(mean=1.0, dispersion=INF), "neg_binom: dispersion must be positive"),
    (lambda: beta(0.0, 1.0), "beta: a must be positive and finite, got 0.0"),
    (lambda: beta_uniform(1.5, 1.0, 1.0), "beta_uniform: theta must lie between 0 and 1, got 1.5"),
    (lambda: uniform(1.0, 1.0), "uniform: high must be greater than low, got low=1.0, high=1.0"),
    (lambda: uniform(2, 1), "uniform: high must be greater than low, got low=2, high=1"),
    (lambda: uniform(0.0, INF), "uniform: high must be finite, got inf"),
    (lambda: uniform(-1e308, 1e308), "uniform: low and high are too far apart, got low=-1e+308, high=1e+308"),
    (lambda: uniform("a", "b"), "uniform: low must be a number, got 'a' of type str"),
    (lambda: uniform(np.zeros(3), 1.0), "uniform: low must be one number, got array([0., 0., 0.])"),
    (
        lambda: truncated_normal(0.0, 1.0, 2.0, 1.0),
        "truncated_normal: high must be greater than low, got low=2.0, high=1.0",
    ),
    (
        lambda: truncated_normal(0.0, 1.0, NAN, 1.0),
        "truncated_normal: low must be a number or infinite, got nan",
    ),
    (
        lambda: truncated_normal(0.0, 1.0, INF, INF),
        "truncated_normal: high must be greater than low, got low=inf, high=inf",
    ),
    (
        lambda: piecewise_uniform([0.0, 0.0, 1.0], [0.5, 0.5]),
        "piecewise_uniform: bounds must be two or more finite numbers in increasing order, got [0.0",
    ),
    (
        lambda: piecewise_uniform([0.0, INF], [1.0]),
        "piecewise_uniform: bounds must be two or more finite numbers in increasing order",
    ),
    (lambda: piecewise_uniform([], []), "piecewise_uniform: bounds must be two or more finite numbers"),
    (
        lambda: piecewise_uniform([0.0, 1.0], [0.5, 0.5]),
        "piecewise_uniform: 2 probs need 3 bounds, got bounds=[0.0, 1.0]",
    ),
    (lambda: bernoulli(1.1), "bernoulli: p must lie between 0 and 1, got 1.1"),
    (lambda: bernoulli(NAN), "bernoulli: p must lie between 0 and 1, got nan"),
    (lambda: bernoulli("x"), "bernoulli: p must be a number, got 'x' of type str"),
    (lambda: binom(-1, 0.5), "binom: n must be a nonnegative integer, got -1"),
    (lambda: binom(2.5, 0.5), "binom: n must be a nonnegative integer, got 2.5"),
    (lambda: binom(INF, 0.5), "binom: n must be a nonnegative integer, got inf"),
    (lambda: binom(3, -0.1), "binom: p must lie between 0 and 1, got -0.1"),
    (lambda: geometric(0.0), "geometric: p must lie above 0 and not above 1, got 0.0"),
    (lambda: neg_binom(0.0, 0.5), "neg_binom: r must be positive and finite, got 0.0"),
    (lambda: neg_binom(1.0, 0.0), "neg_binom: p must lie above 0 and not above 1, got 0.0"),
    (lambda: poisson(-1.0), "poisson: rate must be nonnegative and finite, got -1.0"),
    (lambda: poisson(INF), "poisson: rate must be nonnegative and finite, got inf"),
    (lambda: uniform_discrete(3, 2), "uniform_discrete: high must not be less than low, got low=3, high=2"),
    (lambda: uniform_discrete(0.5, 2), "uniform_discrete: low must be an integer, got 0.5"),
    (lambda: categorical([0.5, 0.6]), "categorical: probs must sum to 1, got [0.5, 0.6], which sum to 1.1"),
    (lambda: categorical([0.5, 0.5 + 2e-8]), "categorical: probs must sum to 1"),
    (
        lambda: categorical([1.5, -0.5]),
        "categorical: probs must be one or more nonnegative numbers, got [1.5, -0.5]",
    ),
    (lambda: categorical([]), "categorical: probs must be one or more nonnegative numbers, got []"),
    (lambda: categorical([NAN, 1.0]), "categorical: probs must be one or more nonnegative numbers, got"),
    (
        lambda: categorical(np.full((2, 2), 0.25)),
        "categorical: probs must be a vector of numbers, got array([[0.25, 0.25],",
    ),
    (lambda: categorical(0.5), "categorical: probs must be a vector of numbers, got 0.5"),
    (lambda: categorical("ab"), "categorical: probs must be a vector of numbers, got 'ab'"),
    (lambda: categorical(["a", 0.5]), "categorical: probs must be a vector of numbers, got ['a', 0.5]"),
    (lambda: categorical(np.full(100, 0.02)), "categorical: probs must sum to 1"),
    (
        lambda: poisson(1e300).sample(np.random.default_rng(0)),
        "poisson(rate=1e+300) can't be sampled: its draws don't fit into 64 bits",
    ),
]


@pytest.mark.parametrize("make, message", INVALID, ids=[message[:60] for _, message in INVALID])
def test_invalid_parameters(make, message):
    with pytest.raises(ParameterError) as raised:
        make()
    assert raised.value.problem.startswith(message), raised.value.problem


def test_array_parameters_are_told_of_products():
    with pytest.raises(ParameterError, match=r"product\(\.\.\.\)") as raised:
        gamma(np.ones(3), 1.0)
    assert "iid(dist, n)" in str(raised.value)


@pytest.mark.parametrize(
    "law", [normal(0.0, 1.0), poisson(1.0), bernoulli(0.5), categorical([1.0])], ids=repr
)
@pytest.mark.parametrize(
    "x", ["a", None, 1j, {}, ["a", "b"], [[1.0], [1.0, 2.0]], np.array(["x"]), np.array(1j)], ids=repr
)
def test_values_of_wrong_types(law, x):
    with pytest.raises(ValueTypeError, match=f"{type(law).__name__}: a value must be a number, got"):
        law.logpdf(x)


def test_accepted_forms_of_parameters():
    assert normal(np.float64(1.0), np.int64(2)) == normal(1.0, 2.0) == normal(np.array(1.0), True + 1)
    assert type(normal(np.float64(1.0), np.int64(2)).mean) is float
    assert binom(3.0, 0.5) == binom(np.int32(3), 0.5) and type(binom(3.0, 0.5).n) is int
    forms = [0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75]), [np.float64(0.25), np.float64(0.75)]
    assert len({categorical(probs) for probs in forms}) == 1
    assert repr(normal(0.0, np.float64(1.0))) == "normal(mean=0.0, sd=1.0)"
    assert repr(half_normal()) == "half_normal(scale=1.0)"
    assert repr(categorical(np.array([0.5, 0.5]))) == "categorical(probs=(0.5, 0.5))"
    assert normal(0.0, 1.0) != normal(0.0, 2.0) and normal(0.0, 1.0) != laplace(0.0, 1.0)
