"""Draws in increasing order: the density against order statistics, the chart, columns, kernels and moves."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats

from gendsl import (
    beta,
    continuous,
    exponential,
    flat,
    gen,
    involutive_mcmc,
    normal,
    ordered,
    poisson,
    read,
    select,
    student_t,
    transform,
    uniform,
    write,
)
from gendsl.errors import ImproperError, ParameterError, ValueTypeError
from gendsl.inference import Coordinates, nuts, random_walk
from gendsl.supports import Interval, Ordered, Real
from gendsl.testing import assert_stationary
from tests.distributions.array_checks import (
    assert_parameter_gradient,
    assert_stack,
    assert_support,
    assert_value_gradient,
)
from tests.distributions.checks import KS_MAX, assert_value_semantics, draws

INF = math.inf
LAWS = [
    (ordered(normal(1.0, 2.0), 3), scipy.stats.norm(1.0, 2.0)),
    (ordered(exponential(0.5), 4), scipy.stats.expon(scale=2.0)),
    (ordered(uniform(-1.0, 2.0), 2), scipy.stats.uniform(-1.0, 3.0)),
    (ordered(beta(2.0, 3.0), 3), scipy.stats.beta(2.0, 3.0)),
    (ordered(student_t(4.0), 1), scipy.stats.t(4.0)),
    (ordered(2.0 - exponential(1.0), 2), scipy.stats.expon()),
]


@pytest.mark.parametrize("law, one", LAWS[:5], ids=[repr(law) for law, _ in LAWS[:5]])
def test_the_density_is_that_of_k_ordered_draws(law, one):
    for x in draws(law, 5, seed=2):
        orders = math.log(math.factorial(law.k))
        assert law.logpdf(x) == pytest.approx(orders + one.logpdf(x).sum(), rel=1e-12)
    turned = draws(law, 1)[0][::-1].copy()
    assert law.k == 1 or (law.logpdf(turned) == -INF and not law.support.contains(turned))


@pytest.mark.parametrize("law", [law for law, _ in LAWS], ids=repr)
def test_support_stacks_and_gradients(law):
    assert_support(law)
    assert_value_gradient(law)
    assert_stack(law)
    assert_value_semantics(law, normal(17.0, 17.0))


def test_the_density_integrates_to_one():
    law = ordered(normal(0.5, 1.3), 2)
    density = lambda y, x: math.exp(law.logpdf(np.array([x, y])))
    total, _ = scipy.integrate.dblquad(density, -8, 9, lambda x: x, 9, epsabs=1e-7)
    assert total == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("law, one", LAWS[:5], ids=[repr(law) for law, _ in LAWS[:5]])
def test_each_entry_is_drawn_from_its_order_statistic(law, one):
    """F(x_(j)) of k draws is beta(j, k - j + 1) (David and Nagaraja 2003, section 2.1)."""
    n = 4000
    samples = draws(law, n, seed=7)
    for j in range(law.k):
        ranks = scipy.special.betainc(j + 1, law.k - j, one.cdf(np.sort(samples[:, j])))
        distance = np.abs(ranks - (np.arange(n) + 0.5) / n).max()
        assert distance * math.sqrt(n) < KS_MAX


def test_gradient_of_the_parameters():
    x = np.array([-0.4, 0.3, 2.0])
    assert_parameter_gradient(lambda t: ordered(normal(t[0], t[1]), 3), [0.5, 2.0], x)


def test_edges():
    law = ordered(normal(0.0, 1.0), 3)
    each = normal(0, 1).logpdf(np.array([1, 1, 2])).sum()
    assert law.logpdf([1.0, 1.0, 2.0]) == pytest.approx(math.log(6) + each)
    assert law.logpdf([2.0, 1.0, 3.0]) == law.logpdf([1.0, math.nan, 3.0]) == law.logpdf([1.0, 2.0]) == -INF
    assert law.support == Ordered(Real(), 3) and ordered(exponential(1.0), 2).support.dim == 2
    assert ordered(normal(0, 1), 0).logpdf(ordered(normal(0, 1), 0).sample(np.random.default_rng(1))) == 0.0
    assert repr(law) == "ordered(dist=normal(mean=0.0, sd=1.0), k=3)"
    with pytest.raises(ValueTypeError, match="ordered: a value is an array of 3 numbers, got 'abc'"):
        law.logpdf("abc")
    for wrong in (poisson(2.0), ordered(normal(0, 1), 2)):
        with pytest.raises(ParameterError, match="ordered: needs a continuous distribution of numbers, got"):
            ordered(wrong, 2)
    with pytest.raises(ParameterError, match="ordered: k must be a nonnegative integer, got -1"):
        ordered(normal(0, 1), -1)


def test_of_an_improper_prior():
    law = ordered(flat(), 3)
    assert law.logpdf([0.0, 1.0, 5.0]) == pytest.approx(math.log(6)) and law.support == Ordered(Real(), 3)
    assert ordered(flat(0.0), 2).support == Ordered(Interval(0.0, INF), 2)
    with pytest.raises(ImproperError):
        law.sample(np.random.default_rng(1))


# --- in programs ------------------------------------------------------------------------------------------


@gen
def groups(n):
    centre = ~normal(0, 1)
    for g in range(n):
        ("m", g) @ ~ordered(normal(centre, 2.0), 3)
    for g in range(n):
        ("w", g) @ ~ordered(exponential(1.0), 2)


@pytest.mark.parametrize("runtime", ["compiled", "reference"])
def test_in_loops_the_density_is_that_of_each_choice(runtime):
    program = groups.reference if runtime == "reference" else groups
    trace = program.simulate((20,), rng=1)

    def score(trace):
        law, other = ordered(normal(trace["centre"], 2.0), 3), ordered(exponential(1.0), 2)
        total = normal(0, 1).logpdf(trace["centre"])
        return total + sum(law.logpdf(trace["m", g]) + other.logpdf(trace["w", g]) for g in range(20))

    assert trace.log_prob == pytest.approx(score(trace), rel=1e-12)
    new, weight, _ = trace.update({"centre": 0.7})
    assert new.log_prob == pytest.approx(score(new), rel=1e-12)
    assert weight == pytest.approx(new.log_prob - trace.log_prob, rel=1e-9)
    out, _, _ = trace.update({("m", 3): np.array([1.0, 0.0, 2.0])})
    assert out.log_prob == -INF and list(out.impossible) == [("m", 3)]
    slope = trace.gradients(select("centre"))["centre"]
    exact = -trace["centre"] + sum(trace["m", g].sum() - 3 * trace["centre"] for g in range(20)) / 4
    assert slope == pytest.approx(exact, rel=1e-9)
    assert all(np.all(np.diff(trace["m", g]) >= 0) for g in range(20))


def test_in_loops_they_are_columns():
    assert str(groups.explain()).count("kept as columns\n") == 2


@gen
def two_means():
    means = ~ordered(normal(0.5, 1.0), 2)
    y = ~normal(means[0] + 0.5 * means[1], 0.7)


def test_the_density_in_unconstrained_coordinates():
    """By the change of variables that the chart is, and its gradient by differences."""
    trace = two_means.generate((), {"y": 0.4}, rng=1).trace
    coordinates = Coordinates(trace, select("means"))
    for u in np.random.default_rng(3).normal(size=(5, 2)):
        means = [u[0], u[0] + math.exp(u[1])]  # the determinant of this is exp(u[1])
        density = normal(0.5, 1.0).logpdf(means[0]) + normal(0.5, 1.0).logpdf(means[1]) + math.log(2.0)
        density += normal(means[0] + 0.5 * means[1], 0.7).logpdf(0.4) + u[1]
        point = coordinates.point(u)
        assert point.log_density == pytest.approx(density, rel=1e-12)
        for i, e in enumerate(1e-5 * np.eye(2)):
            slope = (coordinates.log_density(u + e) - coordinates.log_density(u - e)) / 2e-5
            assert point.gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel, steps",
    [(random_walk("means", 0.8), 60), pytest.param(nuts("means", 0.6), 15, marks=pytest.mark.statistical)],
    ids=lambda p: getattr(p, "name", None),
)
def test_kernels_leave_it_invariant(kernel, steps):
    assert_stationary(kernel, two_means, observed="y", chains=64, steps=steps, draws=4000)


@pytest.mark.slow
def test_a_chart_without_its_determinant_is_found(monkeypatch):
    monkeypatch.setattr(Ordered, "log_abs_det", lambda self, u: 0.0 * u[0])
    with pytest.raises(AssertionError, match="z = "):
        assert_stationary(random_walk("means", 0.8), two_means, observed="y", chains=64, steps=60, draws=4000)
    with pytest.raises(AssertionError):
        test_the_density_in_unconstrained_coordinates()


@gen
def three():
    x = ~ordered(exponential(1.0), 3)


@gen
def shift(trace):
    u = ~normal(0, 0.3)


@transform
def stretch(model_in, aux_in, *, model_out, aux_out):
    x, u = read(model_in["x"], continuous), read(aux_in["u"], continuous)
    first, second, third = x
    scale = np.exp(u)
    stretched = [first, first + (second - first) * scale, first + (third - first) * scale]
    write(model_out["x"], stretched, continuous)
    write(aux_out["u"], -u, continuous)


def test_jacobians_of_moves_are_taken_in_its_entries():
    trace = three.simulate(rng=1)
    for seed in range(5):
        new, info = involutive_mcmc(trace, shift, (), stretch, check=True, rng=seed)
        u = shift.simulate((trace,), rng=np.random.default_rng(seed))["u"]
        assert info.log_abs_det == pytest.approx(2 * u, abs=1e-12)  # two distances times exp(u)
        if info.accepted:
            assert np.all(np.diff(new["x"]) >= 0)
