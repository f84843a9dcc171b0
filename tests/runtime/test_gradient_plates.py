"""Gradients of loops whose iterations are scored at once: the same as one by one, and as differences."""

import math

import numpy as np
import pytest

from gendsl import bernoulli, categorical, gamma, gen, iid, normal, poisson, select, uniform
from gendsl.errors import LostDerivativeError
from gendsl.inference import Coordinates
from gendsl.runtime import followed, gradients
from gendsl.runtime.gradients import Differentiate

N = 60


@gen
def regression(xs):
    a = ~normal(0, 1)
    b = ~normal(0, 1)
    s = ~gamma(2, 1)
    for i in range(len(xs)):
        ("y", i) @ ~normal(a + b * xs[i] - a**2 / 2, math.sqrt(s))


@gen
def enumerated(xs):
    rate = ~gamma(2, 1)
    for i, x in enumerate(xs):
        mean = rate * math.exp(0.1 * x)
        ("n", i) @ ~poisson(mean)
        ("b", i) @ ~bernoulli(1 / (1 + mean * mean))


@gen
def looked_up(xs):
    mu = [("mu", j) @ ~normal(0, 2) for j in range(3)]
    sd = np.array([1.0, 2.0, 0.5])
    for i in range(len(xs)):
        z = ("z", i) @ ~categorical([0.3, 0.3, 0.4])
        ("y", i) @ ~normal(mu[z] + xs[i], sd[z])


@gen
def local_latents(xs):
    m = ~normal(0, 1)
    t = ~gamma(2, 1)
    for i in range(len(xs)):
        z = ("z", i) @ ~normal(m, t)
        ("y", i) @ ~normal(-z * xs[i], 1)


@gen
def branching(xs):
    a = ~normal(0, 1)
    if a < 100:
        for i in range(len(xs)):
            ("y", i) @ ~normal(abs(a) + 2 - xs[i] * a / 3, 1.5)
    t = "sub" @ ~regression(xs)


@gen
def one_by_one(xs):
    p = ~uniform(0.1, 0.9)
    for i in range(len(xs)):
        ("k", i) @ ~categorical([p, 1 - p])  # a vector that autograd follows has no columns


@gen
def crossed(xs):
    s = ~uniform(0.5, 2)
    row = [("row", i) @ ~normal(0, 1) for i in range(4)]
    col = [("col", j) @ ~normal(0, s) for j in range(len(xs))]
    for i in range(4):
        r = row[i]
        for j in range(i, len(xs)):
            ("y", i, "at", j) @ ~normal(r * xs[j] + col[j], s)
    for i, r in enumerate(row):
        for j, (c, x) in enumerate(zip(col, xs)):  # noqa: B905 (with `strict` it is compared)
            z = ("z", j, i) @ ~normal(c, 1)
            ("w", i, j) @ ~normal(r * x + c * z, 1)


MODELS = {
    regression: ("a", "b", "s"), enumerated: ("rate",), looked_up: ("mu",), local_latents: ("m", "t"),
    branching: ("a", "sub"), one_by_one: ("p",), crossed: ("s", "row", "col"),
}  # fmt: skip
XS = np.linspace(-1, 1, N)


def observed(model, seed):
    trace = model.simulate((XS,), rng=seed)
    names = [name for name in MODELS[model] if name != "sub"]
    chosen = select(*names, ("sub", "a"), ("sub", "b"), ("sub", "s")) if "sub" in MODELS[model] else select(
        *names)  # fmt: skip
    return trace, chosen


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_gradients(model, seed, monkeypatch):
    trace, selection = observed(model, seed)
    runs = []
    plate = Differentiate.plate

    def watched(self, *arguments):
        runs.append(plate(self, *arguments))
        return runs[-1]

    monkeypatch.setattr(Differentiate, "plate", watched)
    coordinates = Coordinates(trace, selection)
    point = coordinates.start()
    assert runs and all(runs) == (model is not one_by_one)
    monkeypatch.setattr(Differentiate, "plate", lambda self, *arguments: False)
    alone = Coordinates(trace, selection).start()
    assert point.log_density == pytest.approx(alone.log_density, rel=1e-12)
    assert point.gradient == pytest.approx(alone.gradient, rel=1e-10)
    assert alone.log_density == pytest.approx(coordinates.log_density(coordinates.position), rel=1e-12)
    for i in range(coordinates.dim):
        change = np.zeros(coordinates.dim)
        change[i] = 1e-6
        up, down = (coordinates.log_density(coordinates.position + s * change) for s in (1, -1))
        assert point.gradient[i] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_gradients_of_traces(model, monkeypatch):
    trace, selection = observed(model, 3)
    at_once = trace.gradients(selection)
    monkeypatch.setattr(Differentiate, "plate", lambda self, *arguments: False)
    alone = trace.gradients(selection)
    assert list(at_once.paths()) == list(alone.paths())
    for path, value in alone.items():
        assert at_once[path] == pytest.approx(value, rel=1e-10)


def test_choices_of_a_plate_that_are_selected():
    trace = local_latents.simulate((XS,), rng=1)
    selection = select("m", "z")
    found = trace.gradients(selection)
    z, x = np.array([trace["z", i] for i in range(N)]), XS
    y = np.array([trace["y", i] for i in range(N)])
    expected = -(z - trace["m"]) / trace["t"] ** 2 - x * (y + z * x)
    assert [found["z", i] for i in range(N)] == pytest.approx(expected.tolist())
    assert Coordinates(trace, selection).start().gradient[1:] == pytest.approx(expected)


def test_choices_of_loops_in_loops_that_are_selected(monkeypatch):
    trace = crossed.simulate((XS,), rng=1)
    selection = select("row", "z")
    at_once = trace.gradients(selection)
    point = Coordinates(trace, selection).start().gradient
    monkeypatch.setattr(Differentiate, "plate", lambda self, *arguments: False)
    alone = trace.gradients(selection)
    for path, value in alone.items():
        assert at_once[path] == pytest.approx(value, rel=1e-10)
    assert point == pytest.approx(Coordinates(trace, selection).start().gradient, rel=1e-10)


def test_what_stands_before_a_loop_that_goes_through_nothing_is_executed():
    @gen
    def model(shift, members):
        a = ~normal(0, 1)
        for i in range(len(members)):
            t = shift[i]
            for j in range(members[i]):
                ("y", i, j) @ ~normal(a + t, 1)

    trace = model.simulate(([0.5, 1.0], [30, 0]), rng=1)
    expected = -trace["a"] + sum(trace["y", 0, j] - trace["a"] - 0.5 for j in range(30))
    assert trace.gradients(select("a"))["a"] == pytest.approx(expected)


def test_a_density_of_zero_is_met_one_by_one():
    @gen
    def model(n):
        top = ~uniform(1, 3)
        for i in range(n):
            ("x", i) @ ~uniform(0, top)

    data = np.where(np.arange(N) == 40, 2.0, 0.5)
    trace = model.generate((N,), {"x": data}, init={"top": 2.5}).trace
    coordinates = Coordinates(trace, select("top"))
    assert coordinates.start().gradient.shape == (1,)
    point = coordinates.point(np.array([-5.0]))
    assert point.log_density == -math.inf and "('x', 40)" in point.reason


def test_what_drops_a_derivative_is_still_told():
    @gen
    def model(n):
        a = ~normal(2, 0.1)
        for i in range(n):
            ("y", i) @ ~normal(float(a) * i, 1)

    with pytest.raises(LostDerivativeError, match="drops the derivative"):
        model.simulate((N,), rng=1).gradients(select("a"))


def test_a_family_whose_derivatives_are_not_made_is_left_to_autograd(monkeypatch):
    trace, selection = observed(regression, 1)
    expected = Coordinates(trace, selection).start()
    for module in (followed, gradients):
        monkeypatch.setattr(module, "MADE", module.MADE - {normal})
    found = Coordinates(trace, selection).start()
    assert found.gradient == pytest.approx(expected.gradient, rel=1e-10)


@gen
def arrays():
    m = ~normal(0, 1)
    s = ~gamma(2, 1)
    x = ~iid(normal(m, s), 4)
    g = ~iid(gamma(1 + s, 2), 3)
    flags = ~iid(bernoulli(0.3), 2)
    many = ~iid(iid(normal(m, 1), 2), 3)


@pytest.mark.parametrize("seed", [1, 2])
def test_arrays_of_one_family(seed):
    coordinates = Coordinates(arrays.simulate(rng=seed), select("m", "s", "x", "g", "many"))
    point = coordinates.start()
    for i in range(coordinates.dim):
        change = np.zeros(coordinates.dim)
        change[i] = 1e-6
        up, down = (coordinates.log_density(coordinates.position + s * change) for s in (1, -1))
        assert point.gradient[i] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-5)
