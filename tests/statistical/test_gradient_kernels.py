"""Random walk, MALA, HMC and NUTS leave the posterior invariant, and would be seen not to with a mistake.

Each starts from exact draws of the model; see `gendsl.testing`. The mistakes are those that samplers had.
"""

from __future__ import annotations

import math
from importlib import import_module

import autograd.numpy as anp
import numpy as np
import pytest

from gendsl import (
    dirichlet,
    exponential,
    gamma,
    gen,
    inv_wishart,
    lkj,
    mvnormal,
    normal,
    select,
    uniform,
    wishart,
)
from gendsl.inference import hmc, mala, nuts, random_walk
from gendsl.inference.coordinates import Coordinates, Point
from gendsl.inference.kernel import Kernel
from gendsl.inference.metric import Metric
from gendsl.inference.trajectory import State
from gendsl.supports import Correlation, Covariance
from gendsl.supports.scalar import Interval, Positive
from gendsl.testing import assert_stationary

pytestmark = pytest.mark.statistical

hmc_module = import_module("gendsl.inference.hmc")
mala_module = import_module("gendsl.inference.mala")
nuts_module = import_module("gendsl.inference.nuts")


@gen
def gaussian():
    x = ~normal(0.5, 2)


@gen
def bounded():
    x = ~uniform(0, 1)
    y = ~uniform(0, x)  # its chart depends on x
    z = ~normal(y, 0.5)


@gen
def positive():
    s = ~gamma(2, 1)
    y = ~normal(0, s)


@gen
def simplex():
    w = ~dirichlet([1.5, 2.0, 3.0])
    y = ~normal(w[0] - w[2], 0.3)


@gen
def covariance():
    cov = ~inv_wishart(6, np.array([[1.0, 0.3], [0.3, 1.5]]))
    y = ~mvnormal([0.0, 1.0], cov)


@gen
def scatter():
    cov = ~wishart(5, np.array([[0.4, 0.1], [0.1, 0.3]]))
    y = ~mvnormal([0.0, 1.0], cov)


@gen
def correlation():
    corr = ~lkj(3, 1.5)  # two rows below the diagonal
    y = ~mvnormal([0.0, 0.0, 0.0], corr)


@gen
def changing():
    n = ~uniform(0, 1)
    if n > 0.5:  # moving n moves x in or out: such moves are rejected
        x = ~normal(n, 1)
    y = ~exponential(1 + n)


WALK = {"walk": lambda s: random_walk(s, 1.0), "mala": lambda s: mala(s, 0.8)}
TRAJECTORIES = {"hmc": lambda s: hmc(s, 0.7, 3), "nuts": lambda s: nuts(s, 0.7)}


def check(kernel, model, observed=None, steps=40, draws=4000, chains=64):
    return assert_stationary(
        kernel, model, observed=observed, chains=chains, steps=steps, draws=draws, rng=3
    )


@pytest.mark.parametrize(
    ("kernel", "steps"),
    [
        (random_walk(select("x"), 4.0), 250), (mala(select("x"), 2.5), 70), (hmc(select("x"), 1.2, 3), 35),
        (hmc(select("x"), 0.6, 3, mass=[0.25]), 35), (nuts(select("x"), 1.8), 80),
    ],
    ids=["walk", "mala", "hmc", "hmc with mass", "nuts"],
)  # fmt: skip
def test_the_second_moment_of_a_gaussian(kernel, steps):
    """Within 10 % of what it is, which is three standard errors."""
    statistics = {"x": lambda trace: trace["x"], "x²": lambda trace: (trace["x"] - 0.5) ** 2}
    report = assert_stationary(
        kernel, gaussian, statistics=statistics, chains=64, steps=steps, draws=20_000, rng=1
    )
    square = next(score for score in report.scores if score.name == "x²")
    assert 3 * square.error < 0.1 * 4.0 and abs(square.mean - 4.0) < 0.4, square


CASES = [
    (bounded, ("x", "y"), "z", 0.8), (positive, ("s",), "y", 0.8), (simplex, ("w",), "y", 0.7),
    (changing, ("n", "x", "y"), None, 0.6),
]  # fmt: skip


@pytest.mark.parametrize(("model", "names", "observed", "size"), CASES, ids=[c[0].name for c in CASES])
@pytest.mark.parametrize("kind", ["walk", "mala", "hmc", "nuts"])
def test_stationary(kind, model, names, observed, size):
    selection = select(*names)
    kernel = {
        "walk": lambda: random_walk(selection, 1.3 * size, skip_absent=True),
        "mala": lambda: mala(selection, size, skip_absent=True),
        "hmc": lambda: hmc(selection, size, 2, skip_absent=True),
        "nuts": lambda: nuts(selection, size, max_depth=3, skip_absent=True),
    }[kind]()
    check(kernel, model, observed, steps=30 if kind == "walk" else 12)


def of_covariance(trace):
    """Logarithms of the variances, the correlation, and products with the data."""
    (a, b), (_, c) = trace["cov"]
    y = trace["y"] - [0.0, 1.0]
    return math.log(a), math.log(c), b / math.sqrt(a * c), math.log(a * c - b * b), math.atan(y[0] * y[1] * b)


def of_correlation(trace):
    """The correlations, the determinant, and products with the data."""
    r, y = trace["corr"], trace["y"]
    return r[0, 1], r[0, 2], r[1, 2], math.log(np.linalg.det(r)), math.tanh(y[0] * y[1]) * r[0, 1]


def moments(parts):
    """The first and second moments of what a function gives for a trace."""
    first = {f"{i}": lambda trace, i=i: parts(trace)[i] for i in range(5)}
    return first | {f"{i}²": lambda trace, i=i: parts(trace)[i] ** 2 for i in range(5)}


FAMILIES = {
    "inv_wishart": (covariance, "cov", moments(of_covariance)),
    "wishart": (scatter, "cov", moments(of_covariance)),
    "lkj": (correlation, "corr", moments(of_correlation)),
}
KINDS = {
    "walk": lambda name: random_walk(select(name), 0.3), "mala": lambda name: mala(select(name), 0.3),
    "hmc": lambda name: hmc(select(name), 0.3, 2), "nuts": lambda name: nuts(select(name), 0.3, max_depth=2),
}  # fmt: skip
BY_DEFAULT = {("mala", "inv_wishart"), ("nuts", "wishart"), ("walk", "lkj")}


def check_matrices(family, kind, steps):
    model, name, statistics = FAMILIES[family]
    return assert_stationary(
        KINDS[kind](name), model, observed="y", statistics=statistics, chains=64, steps=steps, draws=1500,
        rng=3,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        pytest.param(kind, family, marks=[] if (kind, family) in BY_DEFAULT else [pytest.mark.gendsl_long])
        for family in FAMILIES
        for kind in KINDS
    ],
)
def test_matrices(kind, family):
    assert check_matrices(family, kind, 4).moved > 0.3


# --- planted mistakes --------------------------------------------------------------------------------


def stale_gradient(monkeypatch):
    """The second half of a leapfrog step uses the gradient of where the step began."""

    def planted(coordinates, metric, state, step_size):
        half = state.momentum + 0.5 * step_size * state.point.gradient
        point = coordinates.point(state.point.position + step_size * metric.velocity(half))
        stale = Point(point.position, point.log_density, state.point.gradient, point.values, point.reason)
        return State(stale, half + 0.5 * step_size * stale.gradient)

    for module in (hmc_module, nuts_module):
        monkeypatch.setattr(module, "leapfrog", planted)


def momentum_of_another_mass(monkeypatch):
    """The momentum is drawn from N(0, M), and all else has the identity as mass.

    (Only moving by p instead of M^-1 p leaves the posterior invariant; the leapfrog test sees that.)
    """
    monkeypatch.setattr(Metric, "velocity", lambda self, momentum: momentum)


def no_jacobian(monkeypatch):
    """The density of the choices is taken for that of the coordinates."""
    original = Coordinates.__init__

    def planted(self, trace, selection, *, skip_absent=False, jacobian=True):
        original(self, trace, selection, skip_absent=skip_absent, jacobian=False)

    monkeypatch.setattr(Coordinates, "__init__", planted)


def always_accepted(monkeypatch):
    """There is no accept step."""
    for module in (hmc_module, mala_module):
        monkeypatch.setattr(module, "accept", lambda ratio, rng: ratio > -math.inf)


def first_half_favoured(monkeypatch):
    """The state is drawn from the halves of a trajectory without regard to their weights."""
    monkeypatch.setattr(nuts_module, "accept", lambda ratio, rng: rng.random() < 0.5)


def last_state(monkeypatch):
    """The next state is an end of the trajectory: a biased tree."""
    joined = nuts_module.joined
    monkeypatch.setattr(
        nuts_module, "joined", lambda first, second, chosen: joined(first, second, second.far.point)
    )
    monkeypatch.setattr(nuts_module, "accept", lambda ratio, rng: True)


def backward_at_discarded_values(monkeypatch):
    """The way back is scored where the chain was, so that the noise there and back is the same."""
    back = mala_module.backward_noise
    monkeypatch.setattr(mala_module, "backward_noise", lambda here, there, *rest: back(there, here, *rest))


def chart_of_the_old_trace(monkeypatch):
    """The chart of y stays what it was at the old x, and so the determinant does too."""
    monkeypatch.setattr(Interval, "log_slope", lambda self, u: 0.0 * u - 2.0 * np.logaddexp(0.0, -u) - u)


def no_slope_of_the_logarithm(monkeypatch):
    """The Jacobian of the chart of positive numbers is left out of what the random walk accepts by."""
    monkeypatch.setattr(Positive, "log_slope", lambda self, u: 0.0 * u)


def no_determinant(support):
    """The Jacobian of the chart of matrices, or of weights, is left out."""

    def planted(monkeypatch):
        monkeypatch.setattr(support, "log_abs_det", lambda self, u: 0.0 * u[0])

    planted.__name__ = f"no_determinant of {support.__name__}"
    return planted


def powers_shifted(monkeypatch):
    """The powers of the diagonal of the Cholesky factor are those of a triangular matrix one smaller."""
    log_abs_det = Covariance.log_abs_det
    monkeypatch.setattr(
        Covariance, "log_abs_det", lambda self, u: log_abs_det(self, u) - anp.sum(u[self._on_diagonal])
    )


GAUSSIAN_HMC = hmc(select("x"), 1.4, 4)
MISTAKES = [
    (stale_gradient, GAUSSIAN_HMC, gaussian, None),
    (stale_gradient, nuts(select("x"), 1.4), gaussian, None),
    (momentum_of_another_mass, hmc(select("x"), 0.5, 3, mass=[3.0]), gaussian, None),
    (no_jacobian, random_walk(select("s"), 1.0), positive, "y"),
    (no_jacobian, hmc(select("x", "y"), 0.8, 3), bounded, "z"),
    (no_jacobian, mala(select("w"), 0.7), simplex, "y"),
    (no_slope_of_the_logarithm, random_walk(select("s"), 1.0), positive, "y"),
    (chart_of_the_old_trace, hmc(select("x", "y"), 0.8, 3), bounded, "z"),
    (always_accepted, hmc(select("x"), 3.4, 3), gaussian, None),
    (always_accepted, mala(select("x"), 2.5), gaussian, None),
    (first_half_favoured, nuts(select("x"), 3.0), gaussian, None),
    (last_state, nuts(select("x"), 3.0), gaussian, None),
    (backward_at_discarded_values, mala(select("x"), 2.5), gaussian, None),
]


@pytest.mark.parametrize(
    ("mistake", "kernel", "model", "observed"), MISTAKES,
    ids=[f"{mistake.__name__}: {kernel.name}" for mistake, kernel, _, _ in MISTAKES],
)  # fmt: skip
def test_a_mistake_is_seen(mistake, kernel, model, observed, monkeypatch):
    """In as many steps as the kernel passes with, mostly; else in five times as many."""
    check(kernel, model, observed, steps=8, draws=2000)  # right without it
    mistake(monkeypatch)
    with pytest.raises(AssertionError, match="not stationary"):
        check(kernel, model, observed, steps=8, draws=2000)
        check(kernel, model, observed, steps=40)


@pytest.mark.parametrize(
    ("mistake", "family", "kind"),
    [
        (no_determinant(Covariance), "inv_wishart", "mala"),
        (no_determinant(Correlation), "lkj", "walk"),
        pytest.param(powers_shifted, "wishart", "nuts", marks=pytest.mark.gendsl_long),
        pytest.param(no_determinant(Correlation), "lkj", "hmc", marks=pytest.mark.gendsl_long),
    ],
)
def test_a_mistake_in_the_chart_of_matrices_is_seen(mistake, family, kind, monkeypatch):
    """`test_matrices` passes without it, with fewer steps."""
    mistake(monkeypatch)
    with pytest.raises(AssertionError, match="not stationary"):
        check_matrices(family, kind, 10)


def test_a_walk_whose_way_back_is_scored_at_the_discarded_values():
    """A random walk with steps as wide as |x|: the ratio q(x | x') / q(x' | x) is left out."""

    def step(trace, rng):
        x = trace["x"]
        new, weight, _ = trace.update({"x": x + (0.3 + abs(x)) * float(rng.standard_normal())})
        return (new, None) if math.log(rng.random()) < weight else (trace, None)

    with pytest.raises(AssertionError, match="not stationary"):
        check(Kernel(step, "wrong"), gaussian, steps=60)
