"""trace.gradients against central differences, and the ways in which a derivative must not be lost."""

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

from gendsl import (
    Distribution,
    bernoulli,
    beta,
    dirichlet,
    gamma,
    gen,
    iid,
    mixture_of_normals,
    mvnormal,
    normal,
    poisson,
    select,
    uniform,
)
from gendsl.errors import LostDerivativeError, NaNError, UnknownAddressError
from gendsl.selection import Selection
from gendsl.supports import Real

pytestmark = pytest.mark.usefixtures("runtime")


def check(model, *args, seed=1, step=1e-5, tolerance=1e-6):
    """Compare the gradient with respect to every continuous choice with central differences of update."""
    trace = model.simulate(args, rng=seed)
    paths = [path for path, record in trace.records.items() if not record[0].support.discrete]
    gradient = trace.gradients(select(*paths))
    assert list(gradient.paths()) == paths
    for path in paths:
        value = np.asarray(trace[path], dtype=float)
        found = np.asarray(gradient[path])
        assert found.shape == value.shape
        for direction in tangents(trace.records[path][0].support, value):
            change = step * direction
            up, down = (
                trace.update({path: float(v) if v.ndim == 0 else v}).log_weight
                for v in (value + change, value - change)
            )
            expected = (up - down) / (2 * step)
            actual = float(np.sum(found * direction))
            assert actual == pytest.approx(expected, rel=tolerance, abs=tolerance), (path, direction)
    return gradient


def tangents(support, value):
    """Directions in which a value can be changed and stay in its support."""
    return [column.reshape(value.shape) for column in support.embedding.T]


# --- what differentiates ---------------------------------------------------------------------------


def test_functions_of_numpy_and_math():
    @gen
    def model(a):
        x = ~normal(0.3, 1)
        y = ~gamma(2, 1)
        m = math.exp(0.1 * x) + math.log(y) + math.log(y, 3) + math.sqrt(y) + math.hypot(x, y) + math.erf(x)
        m += math.atan2(x, y) + math.pow(y, x) + math.fsum([x, y]) + math.prod([x, y, 2.0]) + abs(x) + x**2
        n = np.exp(x) + np.log1p(y) + np.dot(a, np.array([x, y])) + np.sum(np.array([[x, 1.0], [y, x]]) @ a)
        n += np.mean([x, y]) + np.sum((x, y)) + np.max([x, y]) + np.where(x > y, x, y) + np.hypot(x, y)
        n += np.linalg.norm(np.stack([a * x, a + y])) + np.concatenate([a * x, [y]]).sum() + a.dot([x, y])
        n += np.exp([x, y]).sum() + np.cumsum((x, y))[1] + a.dot(np.array([x, y]))
        s = scipy.special.expit(x) + scipy.special.gammaln(y) + scipy.special.erf(x)
        z = ~normal(m, 1 + y)
        w = ~normal(n + s + sum([x, y]) + max(x, y) + min(x, y), math.exp(0.2 * x))
        return z

    for seed in range(3):
        check(model, np.array([0.5, -1.5]), seed=seed)


def test_linear_algebra_and_indexing():
    @gen
    def model(n):
        x = [("x", i) @ ~normal(i, 1) for i in range(n)]
        v = np.array(x)
        k = np.exp(-0.5 * (v[:, None] - v[None, :]) ** 2) + np.eye(n)
        y = ~mvnormal(v[::-1], k)
        solved = np.linalg.solve(k, y)
        chosen = solved[np.array([0, 2])]
        z = ~normal(solved[-1] + chosen.sum() + np.linalg.slogdet(k)[1], 1 + x[0] ** 2)
        u = ~normal(np.exp(0.1 * np.ones((2, n)).dot(v)).sum(), 1)
        w = ~normal((k @ y)[1] + np.linalg.inv(k)[0, 1] + np.asarray(x)[0] + y.T @ y, 1)

    check(model, 3)


def test_vector_choices_and_boxes_as_parameters():
    @gen
    def model():
        alpha = ~gamma(3, 1)
        w = ~dirichlet([alpha, 2.0, 1.0])
        p = ~beta(1 + w[0], 2)
        m = ~iid(normal(p, 1 + alpha), 3)
        x = ~mixture_of_normals(w, m, np.array([1.0, alpha, 2.0]))
        k = ~poisson(alpha)
        b = ~bernoulli(p)
        u = ~uniform(p - 1, 2 + alpha)
        cov = np.array([[1 + alpha, 0.2 * p], [0.2 * p, 1.0]])
        v = ~mvnormal([x, m[1]], cov)
        return v

    for seed in range(3):
        check(model, seed=seed)


def test_assignment_into_arrays():
    @gen
    def model(n):
        mu = np.zeros(n)
        for i in range(n):
            mu[i] = ~normal(0, 2)
        grid = np.zeros((2, n))
        grid[0] = mu
        grid[1, :2] = mu[1:] * mu[0]
        grid[:, 0] += mu[2] ** 2
        mu *= 2.0
        total = np.zeros(n)
        total += mu
        rows = [np.ones(2), [0.0]]
        rows[0][1] = mu[0]
        rows[1][0] = rows[0][1]
        table = {}
        table["k"] = [mu[1]]
        table["k"][0] += 1.0
        counts = np.zeros(2, dtype=int)
        counts[0] += 3
        y = ~normal(grid.sum() + total[1] * rows[0][1] + rows[1][0] + table["k"][0] + counts[0], 1)
        objects = np.empty(2, dtype=object)
        objects[0] = y
        listed = [0.0] * n
        ("o", 0) @ ~normal(objects[0], 1)
        listed[1] = ~normal(y, 1)
        return grid

    check(model, 3)


def helper(x):
    def inner(y):
        return math.exp(0.3 * y) + (lambda z: np.exp(-z * z) + y)(y) + sum(map(np.tanh, [y]))

    return fill(inner(x)) + Curve(2.0).at(x) + Curve.shared(x)


def fill(x):
    out = np.zeros(3)
    out[0] = x
    for i in range(1, 3):
        out[i] = out[i - 1] * 0.5
    return out.sum()


class Curve:
    def __init__(self, power):
        self.power = power

    def at(self, x):
        return np.abs(x) ** self.power + self.__hidden(x)

    def __hidden(self, x):
        return np.sin(x)

    @staticmethod
    def shared(x):
        return math.cos(x)

    @gen
    def model(self, scale):
        x = ~normal(0, scale)
        y = ~normal(self.at(x), 1)
        return x * y


def test_helpers_methods_and_closures():
    shift = 0.7

    def closure(x):
        return math.tanh(x + shift) if isinstance(x, float) else 0.0

    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(helper(x) + closure(x), 1)
        z = ~Curve(3.0).model(1 + x**2)
        ... @ ~spliced(z)
        return z

    @gen
    def spliced(m):
        s = ~normal(np.square(m), 1)

    for seed in range(3):
        check(model, seed=seed)
    check(Curve(1.5).model, 2.0)


def test_recursion_and_control_flow():
    @gen
    def chain(n, state):
        if n == 0:
            return state
        state = "x" @ ~normal(0.8 * state, 1 + 0.1 * state**2)
        if state > 0:
            state = np.log1p(state)
        return "next" @ ~chain(n - 1, state)

    for seed in range(4):
        check(chain, 5, 0.5, seed=seed)


class Flat(Distribution):
    support = Real()

    def sample(self, rng):
        return 0.5

    def logpdf(self, x):
        return -1.0


def test_users_distributions():
    class Mine:
        def __init__(self, scale):
            self.scale = scale

        def sample(self, rng):
            return float(rng.standard_normal() * self.scale)

        def logpdf(self, x):
            return -0.5 * math.pow(x / self.scale, 2) - math.log(self.scale)

        support = Real()

    @gen
    def flat():
        f = ~Flat()

    assert check(flat)["f"] == 0.0

    @gen
    def model():
        x = ~gamma(2, 1)
        y = ~Mine(x)
        z = ~(1 + normal(x, 1) * 2)
        s = ~scipy.stats.norm(1, 2)

    check(model)


def test_a_choice_that_the_density_is_flat_in():
    @gen
    def model():
        x = ~uniform(0, 1)
        y = ~normal(0, 1)
        return x

    gradient = check(model)
    assert gradient["x"] == 0.0 and isinstance(gradient["y"], float)


def test_only_what_is_selected():
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(int(x), 1)
        b = ~bernoulli(0.5)
        return y

    trace = model.simulate(rng=1)
    assert list(trace.gradients(select("y")).paths()) == [("y",)]
    assert len(trace.gradients(select())) == 0
    with pytest.raises(UnknownAddressError):
        trace.gradients(select("z"))
    with pytest.raises(LostDerivativeError) as caught:
        trace.gradients(select("b"))
    assert caught.value.address == ("b",) and "a discrete choice has no gradient" in str(caught.value)
    with pytest.raises(LostDerivativeError):
        trace.gradients(Selection.all())


def test_the_trace_is_unchanged():
    @gen
    def model(a):
        x = ~normal(0, 1)
        a = a + np.zeros(2)
        a[0] = ~normal(x, 1)
        return a

    argument = np.ones(2)
    trace = model.simulate((argument,), rng=1)
    before = trace.choices, trace.log_prob, trace.retval.copy()
    trace.gradients(select("x"))
    assert (trace.choices, trace.log_prob) == before[:2] and (trace.retval == before[2]).all()
    assert argument.tolist() == [1.0, 1.0]


# --- what must not lose a derivative in silence ----------------------------------------------------


def int_array(x):
    a = np.zeros(2, dtype=int)
    a[0] = x
    return a[0]


def aliased(x):
    a = np.zeros(2)
    b = a
    a[0] = x
    return b[0]


def filled_by_a_helper(x):
    a = np.zeros(2)
    put_first(a, x)
    return a[0]


def put_first(a, x):
    a[0] = x


class Holder:
    def __init__(self):
        self.a = np.zeros(2)


def attribute_array(x):
    h = Holder()
    h.a[0] = x
    return h.a[0]


def uses_float(x):
    return float(x)


def uses_int(x):
    return int(x)


def uses_round(x):
    return round(x)


def uses_floor(x):
    return np.floor(x)


def uses_math_floor(x):
    return math.floor(x)


def uses_fmod(x):
    return math.fmod(x, 0.3)


def uses_float64(x):
    return np.float64(x)


def uses_integer_array(x):
    return np.asarray([x, 1.0], dtype=int)[0]


def uses_item(x):
    return np.asarray(x).item()


def uses_format(x):
    return float(f"{x:.3f}")


def uses_interp(x):
    return np.interp(x, [-10.0, 10.0], [0.0, 1.0])


def uses_scipy_function(x):
    return scipy.special.zeta(2.0 + x * x)


def uses_scipy_stats(x):
    return scipy.stats.norm.cdf(x)


exponential_of = lambda x: math.exp(x)


def uses_math_in_a_module_lambda(x):
    return exponential_of(x)


def uses_dist(x):
    return math.dist([x, 0.0], [0.0, 1.0])


@pytest.mark.parametrize(
    "lossy",
    [
        uses_float, uses_int, uses_round, uses_floor, uses_math_floor, uses_fmod, uses_float64,
        uses_integer_array, uses_item, uses_format, uses_interp, uses_scipy_function, uses_scipy_stats,
        uses_math_in_a_module_lambda, uses_dist, int_array, aliased,
        filled_by_a_helper, attribute_array,
    ],
)  # fmt: skip
def test_a_lost_derivative_raises(lossy):
    @gen
    def model(f):
        x = ~normal(2.0, 0.1)
        y = ~normal(f(x), 1)
        return y

    trace = model.simulate((lossy,), rng=1)
    assert isinstance(trace.gradients(select("y"))["y"], float)  # y isn't affected
    with pytest.raises(LostDerivativeError) as caught:
        trace.gradients(select("x"))
    assert caught.value.fix


def test_an_integer_array_is_refused_even_where_it_rounds_nothing():
    @gen
    def model():
        x = ~normal(2.0, 0.1)
        y = ~normal(int_array(x), 1)

    with pytest.raises(LostDerivativeError):
        model.generate((), {"x": 2.0}, rng=1).trace.gradients(select("x"))


def test_the_error_names_the_line_and_the_choice():
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(uses_float(x), 1)

    with pytest.raises(LostDerivativeError) as caught:
        model.simulate(rng=1).gradients(select("x"))
    assert "return float(x)" in str(caught.value) and "float(x) drops the derivative" in str(caught.value)
    assert caught.value.address == ("y",)


def test_other_errors_stay_what_they_are():
    @gen
    def model(fail):
        x = ~normal(0, 1)
        if fail:
            raise ValueError("mine")

    trace = model.simulate(([],), rng=1)
    trace.args[0].append(1)
    with pytest.raises(ValueError, match=r"^mine$"):
        trace.gradients(select("x"))


def test_nan_gradients_raise():
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(np.sqrt(x - x) * 0.0, 1)

    with np.errstate(all="ignore"), pytest.raises(NaNError, match="gradient"):
        model.simulate(rng=1).gradients(select("x"))


def test_the_branch_that_where_does_not_take_has_no_say():
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(np.where(x > 0, np.sqrt(x), 0.5 * x), 1)

    with np.errstate(all="ignore"):
        for x, slope in ((-1.0, 0.5), (4.0, 0.25)):
            trace = model.generate((), {"y": 1.0}, init={"x": x}).trace
            mean = 0.5 * x if x < 0 else 2.0
            gradient = trace.gradients(select("x"))["x"]
            assert gradient == pytest.approx(-x + (1.0 - mean) * slope)


def test_filling_an_array_keeps_the_derivative():
    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(np.full_like(np.ones(3), x).sum(), 1)
        z = ~normal(np.full_like(np.ones(3, int), 2.5).sum(), 1)

    trace = model.generate((), {"y": 1.0, "z": 0.0}, init={"x": 0.5}).trace
    assert trace.gradients(select("x"))["x"] == pytest.approx(-0.5 + 3 * (1.0 - 1.5))

    @gen
    def whole():
        x = ~normal(0, 1)
        y = ~normal(np.full_like(np.ones(3, int), x).sum(), 1)

    with pytest.raises(LostDerivativeError, match="full_like"):
        whole.simulate(rng=1).gradients(select("x"))


def test_where_autograd_itself_fails_the_derivative_is_lost():
    @gen
    def eigenvalues():
        x = ~mvnormal([1.0, 2.0], np.eye(2))
        y = ~normal(np.linalg.eigh(np.outer(x, x) + np.eye(2))[0][0], 1)

    @gen
    def padded():
        x = ~mvnormal([1.0, 2.0], np.eye(2))
        y = ~normal(np.pad(x, 1)[1], 1)

    @gen
    def broadcast():
        x = ~normal(0, 1)
        y = ~normal(np.broadcast_to(x, 3)[1], 1)

    for program in (eigenvalues, padded, broadcast):
        with pytest.raises(LostDerivativeError, match="a derivative can't be followed"):
            program.simulate(rng=1).gradients(select("x"))
