"""Solvers in programs: no derivative is followed through them, and errors say which kernels need none."""

import linecache
import math

import pytest
from scipy.integrate import RK45, odeint, quad, solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, minimize_scalar

from gendsl import gamma, gen, normal, sample, select
from gendsl.errors import LostDerivativeError
from gendsl.inference import hmc, mala, mh, nuts, random_walk, slice_sampling


def decay(t, y, rate):
    return -rate * y


class Reaction:
    def end(self, k):
        return solve_ivp(lambda t, y: -k * y, (0, 1), [1.0]).y[0, -1]


def by_a_stubborn_solver(k):
    try:
        return brentq(lambda x: x**3 + x - k, -10, 100)
    except ValueError:
        return 0.0


@gen
def by_solve_ivp():
    k = ~gamma(2, 1)
    y = ~normal(solve_ivp(decay, (0, 1), [1.0], args=(k,)).y[0, -1], 0.1)


@gen
def by_a_lambda():
    k = ~gamma(2, 1)
    path = solve_ivp(fun=lambda t, y: -k * y, t_span=(0, 1), y0=[1.0], events=[lambda t, y: y[0] - 9.0])
    y = ~normal(path.y[0, -1], 0.1)


@gen
def by_odeint():
    k = ~gamma(2, 1)

    def f(y, t):
        return -k * y

    y = ~normal(odeint(f, [1.0], [0.0, 1.0])[-1, 0], 0.1)


@gen
def by_quad():
    k = ~gamma(2, 1)
    y = ~normal(quad(lambda x: math.exp(-k * x), 0, 1)[0], 0.1)


@gen
def by_a_root():
    k = ~gamma(2, 1)
    y = ~normal(by_a_stubborn_solver(k), 0.1)


@gen
def by_minimize():
    k = ~gamma(2, 1)
    y = ~normal(minimize_scalar(lambda x: (x - k) ** 2).x, 0.1)  # it only compares what the lambda gives


@gen
def by_a_method():
    k = ~gamma(2, 1)
    y = ~normal(Reaction().end(k), 0.1)


@gen
def by_an_object():
    k = ~gamma(2, 1)
    y = ~normal(CubicSpline([0.0, 1.0, 2.0, 9.0], [0.0, 1.0, 3.0, 2.0])(k), 0.1)


@gen
def by_steps():
    k = ~gamma(2, 1)
    solver = RK45(lambda t, y: -k * y, 0.0, [1.0], 1.0)
    while solver.status == "running":
        solver.step()
    y = ~normal(solver.y[0], 0.1)


@gen
def by_a_spline():
    k = ~gamma(2, 1)
    y = ~normal(CubicSpline([0.0, 1.0, 2.0], [0.0, k, 3.0])(1.5), 0.1)


@pytest.mark.parametrize(
    ("program", "solver"),
    [
        (by_solve_ivp, "solve_ivp"), (by_a_lambda, "solve_ivp"), (by_odeint, "odeint"), (by_quad, "quad"),
        (by_a_root, "brentq"), (by_minimize, "minimize_scalar"), (by_a_method, "solve_ivp"),
        (by_an_object, "CubicSpline"), (by_steps, "RK45"), (by_a_spline, "CubicSpline"),
    ],
)  # fmt: skip
def test_a_solver_is_named_with_kernels_that_need_no_gradient(program, solver):
    trace = program.generate((), {"y": 0.5}, init={"k": 0.8}, rng=1).trace
    for kernel in (nuts("k"), nuts("k", 0.1), hmc("k", 0.1, 3), mala("k", 0.1)):
        with pytest.raises(LostDerivativeError, match=rf"^{solver}.* drops the derivative") as caught:
            sample(kernel, trace, 2, warmup=10, seed=1)
        assert "a kernel that needs no gradient (random_walk, slice_sampling, el" in caught.value.fix
        line = linecache.getline(caught.value.location.filename, caught.value.location.lineno)
        assert f"{solver}(" in line
    with pytest.raises(LostDerivativeError, match=rf"^{solver}"):
        trace.gradients(select("k"))
    for kernel in (random_walk("k", 0.3), slice_sampling("k"), mh(select("k"))):
        sample(kernel, trace, 2, seed=1)


def test_a_solver_of_what_is_not_selected_is_no_matter():
    @gen
    def program():
        k = ~gamma(2, 1)
        x = ~normal(0, 1)
        y = ~normal(x * solve_ivp(lambda t, y: -k * y, (0, 1), [1.0]).y[0, -1], 0.1)

    trace = program.generate((), {"y": 0.5}, rng=1).trace
    sample(nuts("x"), trace, 5, warmup=10, seed=1)
    slope = trace.gradients(select("x"))["x"]
    factor = solve_ivp(lambda t, y: -trace["k"] * y, (0, 1), [1.0]).y[0, -1]
    assert slope == pytest.approx(-trace["x"] + (0.5 - trace["x"] * factor) * factor / 0.01)


def test_errors_in_what_a_solver_calls_are_the_users():
    @gen
    def program():
        k = ~gamma(2, 1)
        y = ~normal(k * quad(lambda x: [x][1], 0, 1)[0] if k < 0.5 else k, 0.1)

    trace = program.generate((), {"y": 0.9}, init={"k": 0.9}, rng=1).trace
    with pytest.raises(IndexError):
        sample(hmc("k", 0.2, 20), trace, 20, seed=1)
