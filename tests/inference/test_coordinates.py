"""Coordinates without bounds: densities, gradients, Jacobians and moves, against independent ones."""

import math

import numpy as np
import pytest
import scipy.stats

from gendsl import (
    Distribution,
    bernoulli,
    dirichlet,
    gamma,
    gen,
    inv_wishart,
    lkj,
    mvnormal,
    normal,
    sample,
    select,
    uniform,
)
from gendsl.errors import LabelError, NaNError, ObservedError, UnknownAddressError, ValueTypeError
from gendsl.inference import Coordinates, hmc, mala, nuts, random_walk, slice_sampling
from gendsl.inference.coordinates import OutsideError
from gendsl.supports import Real


@gen
def many():
    b = ~bernoulli(0.5)
    x = ~uniform(-1, 2)
    y = ~uniform(x - 1, 3)  # the chart depends on x
    s = ~gamma(2, 1)
    w = ~dirichlet([1.0, 2.0, 3.0])
    cov = ~inv_wishart(5, np.eye(2))
    corr = ~lkj(3, 2.0)
    z = ~normal(y + w[0] + b, s)
    v = ~mvnormal([x, y], cov)
    t = "sub" @ ~below(z, corr[0, 1])


@gen
def below(mean, shift):
    q = ~normal(mean, 1 + shift**2)
    r = ~uniform(0, math.exp(0.1 * q))


ALL = select("x", "y", "s", "w", "cov", "corr", "z", "sub")


def differences(coordinates, step=1e-6):
    found = []
    for i in range(coordinates.dim):
        change = np.zeros(coordinates.dim)
        change[i] = step
        up, down = (coordinates.log_density(coordinates.position + s * change) for s in (1, -1))
        found.append((up - down) / (2 * step))
    return np.array(found)


@pytest.mark.parametrize("jacobian", [True, False])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gradients_against_differences(seed, jacobian):
    trace = many.simulate(rng=seed)
    coordinates = Coordinates(trace, ALL, jacobian=jacobian)
    assert coordinates.dim == 1 + 1 + 1 + 2 + 3 + 3 + 1 + 2
    point = coordinates.start()
    assert point.gradient == pytest.approx(differences(coordinates), rel=1e-4, abs=1e-5)
    for path, value in point.values.items():
        assert value == pytest.approx(trace[path], rel=1e-9)
    if not jacobian:
        assert point.log_density == pytest.approx(trace.log_prob)


def test_the_density_has_the_determinant_of_the_whole_map():
    """log|det| of the values' coordinates by all u at once, by differences; charts depend on each other."""
    coordinates = Coordinates(many.simulate(rng=5), ALL)
    trace = coordinates.trace

    def values(position):
        placed = coordinates.point(position).values
        supports = {path: trace.records[path][0].support for path in coordinates.paths}
        return np.concatenate([np.atleast_1d(supports[p].coordinates(placed[p])) for p in coordinates.paths])

    u, step = coordinates.position, 1e-5
    columns = [
        (values(u + step * e) - values(u - step * e)) / (2 * step) for e in np.eye(coordinates.dim)
    ]
    expected = np.linalg.slogdet(np.array(columns).T)[1]
    assert coordinates.point(u).log_density - trace.log_prob == pytest.approx(expected, abs=1e-5)


def test_a_density_by_hand():
    @gen
    def model():
        s = ~gamma(3, 2)
        x = ~uniform(0, s)

    trace = model.generate((), init={"s": 1.7, "x": 0.4}).trace
    u = np.array([0.3, -0.8])
    s = math.exp(0.3)
    share = 1 / (1 + math.exp(0.8))
    expected = scipy.stats.gamma(3, scale=2).logpdf(s) - math.log(s)
    expected += math.log(s) + math.log(s * share * (1 - share))
    point = Coordinates(trace, select("s", "x")).point(u)
    assert point.log_density == pytest.approx(expected)
    assert point.values == pytest.approx({("s",): s, ("x",): s * share})


@pytest.mark.parametrize("names", [("x", "y", "s"), ("x",), ("w", "cov"), ("s", "z", "sub")])
def test_moves_are_to_the_same_traces(names):
    trace = many.simulate(rng=2)
    coordinates = Coordinates(trace, select(*names))
    position = coordinates.position + 0.2
    proposal = coordinates.propose(position)
    moved = proposal.trace()
    point = coordinates.point(position)
    for path, value in point.values.items():
        assert moved[path] == pytest.approx(value, rel=1e-12)
    assert proposal.log_weight == pytest.approx(point.log_density - coordinates.start().log_density, rel=1e-9)
    assert moved.log_prob == pytest.approx(many.assess((), moved.choices).log_prob)


def test_what_is_not_selected_stays():
    trace = many.simulate(rng=2)
    moved = Coordinates(trace, select("x")).propose(np.array([0.1])).trace()
    assert all(moved[path] is value or np.all(moved[path] == value)
               for path, value in trace.choices.items() if path != ("x",))  # fmt: skip


@gen
def structural():
    n = ~uniform(0, 1)
    if n > 0.5:
        extra = ~normal(0, 1)
    else:
        other = ~gamma(1, 1)
    y = ~normal(n, 1)


def test_other_structures_are_outside():
    trace = structural.generate((), init={"n": 0.7}, rng=1).trace
    coordinates = Coordinates(trace, select("n"))
    assert coordinates.point(np.array([-1.0])).log_density == -math.inf
    assert "other choices" in coordinates.point(np.array([-1.0])).reason
    assert coordinates.log_density(np.array([-1.0])) == -math.inf
    with pytest.raises(OutsideError):
        coordinates.propose(np.array([-1.0]))
    assert coordinates.point(np.array([1.0])).log_density > -math.inf

    @gen
    def fewer():
        n = ~uniform(0, 1)
        if n > 0.5:
            extra = ~normal(0, 1)

    coordinates = Coordinates(fewer.generate((), init={"n": 0.7}, rng=1).trace, select("n"))
    coordinates.start()
    assert "fewer choices" in coordinates.point(np.array([-1.0])).reason
    with pytest.raises(OutsideError, match="fewer"):
        coordinates.propose(np.array([-1.0]))


def test_points_that_cannot_be_computed_are_outside():
    @gen
    def model():
        s = ~gamma(2, 1)
        y = ~normal(0, s)
        z = ~normal(math.exp(100 * s), 1)

    coordinates = Coordinates(model.generate((), init={"s": 0.01, "y": 0.0}, rng=1).trace, select("s"))
    for u in (-800.0, 800.0, 5.0, math.nan, math.inf):
        point = coordinates.point(np.array([u]))
        assert point.log_density == -math.inf and point.reason and not point.gradient.any()
    with pytest.raises(OutsideError):
        coordinates.propose(np.array([-800.0]))


def test_the_border_of_a_support():
    @gen
    def model():
        x = ~uniform(0, 1)

    coordinates = Coordinates(model.generate((), init={"x": 1.0}).trace, select("x"))
    assert "'x' lies on the border" in coordinates.border
    inside = Coordinates(model.generate((), init={"x": 0.5}).trace, select("x"))
    with pytest.raises(OutsideError, match="rounded to the border"):
        inside.propose(np.array([50.0]))


def test_errors():
    trace = many.generate((), {"z": 1.0}, rng=1).trace
    with pytest.raises(LabelError, match="discrete choice is selected") as caught:
        Coordinates(trace, select("b"))
    assert caught.value.address == ("b",)
    with pytest.raises(ObservedError):
        Coordinates(trace, select("z"))
    with pytest.raises(UnknownAddressError):
        Coordinates(trace, select("nothing"))
    assert Coordinates(trace, select("nothing"), skip_absent=True).dim == 0


@gen
def caught():
    x = ~normal(0, 1)
    try:
        mean = math.sqrt(x)
    except ValueError:  # autograd's square root has none: it gives NaN
        mean = 0.0
    y = ~normal(mean, 1)


@gen
def converted():
    x = ~normal(0, 1)
    mean = 0.0
    if x < 0:
        mean = np.fromiter((x for _ in range(2)), float).sum()  # takes numbers only
    y = ~normal(mean, 1)


@gen
def masked():
    x = ~mvnormal([0, 0], np.eye(2))
    mean = np.where(x > 0, np.sqrt(x), 0.0).sum()
    y = ~normal(mean, 1)


@pytest.mark.parametrize("program", [caught, converted, masked], ids=lambda p: p.name)
def test_what_only_autograd_cannot_compute_has_the_density_of_the_program(program):
    def value(u):
        return np.array([0.3, u]) if program is masked else u

    with np.errstate(all="ignore"):
        trace = program.generate((), {"y": 1.0}, init={"x": value(0.2)}).trace
        coordinates = Coordinates(trace, select("x"))
        position = np.atleast_1d(value(-1.5))
        point = coordinates.point(position)
        expected = program.assess((), {"x": value(-1.5), "y": 1.0}).log_prob
    assert point.log_density == pytest.approx(expected) and point.reason and not point.gradient.any()
    moved = coordinates.trace_at(point.values)
    with pytest.raises(NaNError, match="no gradient at this trace"):
        Coordinates(moved, select("x")).start()


@pytest.mark.parametrize("kernel", [hmc(select("x"), 0.3, 8), nuts(select("x"), 0.3), mala(select("x"), 1.0)],
                         ids=repr)  # fmt: skip
def test_no_part_of_a_posterior_is_left_out_in_silence(kernel):
    """At x < 0 autograd meets a NaN, and the program doesn't: half of the posterior lies there."""
    trace = caught.generate((), {"y": 1.0}, init={"x": 0.2}).trace
    with pytest.raises(NaNError, match="no gradient at this trace"):
        sample(kernel, trace, 500, record="x", seed=1, progress=False)


@pytest.mark.parametrize("x", [0.0, -1.0])
def test_a_root_of_zero_or_of_a_negative_number_has_no_gradient(x):
    """Of Python's own numbers the slope is an error, or complex."""

    @gen
    def model():
        x = ~normal(0, 1)
        y = ~normal(np.nan_to_num(np.sqrt(x)), 1)

    with np.errstate(all="ignore"):
        trace = model.generate((), {"y": 1.0}, init={"x": x}).trace
        with pytest.raises(NaNError, match="no gradient at this trace"):
            Coordinates(trace, select("x")).start()


class Vector(Distribution):
    """Says that it draws numbers, and draws arrays."""

    support = Real()

    def sample(self, rng):
        return rng.normal(size=3)

    def logpdf(self, x):
        return float(-0.5 * np.sum(np.square(x)))


@gen
def of_vectors():
    v = ~Vector()
    y = ~normal(v[0], 1)


@pytest.mark.parametrize("kernel", [random_walk("v", 0.1), slice_sampling("v")], ids=str)
def test_arrays_where_numbers_were_promised_are_an_error(kernel):
    with pytest.raises(ValueTypeError, match=r"an array of shape \(3,\), and its .* Real\(\)") as error:
        sample(kernel, of_vectors.simulate((), rng=1), 10, seed=1, progress=False)
    assert error.value.address == ("v",) and "RealArray((3,))" in error.value.fix
