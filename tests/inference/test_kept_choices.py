"""Choices that a move keeps, where their new distributions have another dimension or kind: an error on every
way to run, also where it happens first long after steps were compared with the reference.
"""

import numpy as np
import pytest

import gendsl
from gendsl import (
    Distribution,
    bernoulli,
    dirichlet,
    gamma,
    gen,
    iid,
    lkj,
    mvnormal,
    normal,
    ordered,
    poisson,
    product,
    uniform,
    uniform_discrete,
    wishart,
)
from gendsl.errors import LabelError
from gendsl.inference import (
    cycle,
    elliptical_slice,
    gibbs,
    mh,
    random_walk,
    sample,
    single_site,
    slice_sampling,
)
from gendsl.selection import select
from gendsl.supports import Interval, Repeated, Simplex
from gendsl.testing import running_on

WAYS = ["reference", "compiled", "python", "native"]
FAR = 2.8
"""Beyond this, where a standard normal is rarely, the choices have another dimension or kind."""


class Weights(Distribution):
    """Uniform on the simplex."""

    def __init__(self, k):
        self.k = k

    @property
    def support(self):
        return Simplex(self.k)

    def sample(self, rng):
        return rng.dirichlet(np.ones(self.k))

    def logpdf(self, x):
        return 0.0


class Cube(Weights):
    """Uniform on the unit cube."""

    @property
    def support(self):
        return Repeated(Interval(0.0, 1.0), self.k)

    def sample(self, rng):
        return rng.random(self.k)


def size(x):
    return 2 if x < FAR else 3


@gen
def of_dirichlet():
    x = ~normal(0, 1)
    w = ~dirichlet([1.0] * size(x))


@gen
def of_iid():
    x = ~normal(0, 1)
    w = ~iid(normal(0, 1), size(x))


@gen
def of_mvnormal():
    x = ~normal(0, 1)
    w = ~mvnormal(np.zeros(size(x)), np.eye(size(x)))


@gen
def of_affine():
    x = ~normal(0, 1)
    w = ~(1.0 + 2.0 * mvnormal(np.zeros(size(x)), np.eye(size(x))))


@gen
def of_ordered():
    x = ~normal(0, 1)
    w = ~ordered(normal(0, 1), size(x))


@gen
def of_product():
    x = ~normal(0, 1)
    w = ~product(normal, np.zeros(size(x)), np.ones(size(x)))


@gen
def of_wishart():
    x = ~normal(0, 1)
    w = ~wishart(5, np.eye(size(x)))


@gen
def of_lkj():
    x = ~normal(0, 1)
    w = ~lkj(size(x), 1.5)


@gen
def of_rows():
    """Of another length is what each of three is."""
    x = ~normal(0, 1)
    w = ~iid(mvnormal(np.zeros(size(x)), np.eye(size(x))), 3)


@gen
def of_mixture():
    x = ~normal(0, 1)
    w = ~gendsl.mixture([0.5, 0.5], [iid(normal(0, 1), size(x)), iid(normal(1, 1), size(x))])


@gen
def of_weights():
    x = ~normal(0, 1)
    w = ~Weights(size(x))


@gen
def of_cube():
    x = ~normal(0, 1)
    w = ~Cube(size(x))


@gen
def of_kinds():
    x = ~normal(0, 1)
    if x < FAR:
        w = ~gamma(2, 1)
    else:
        w = ~poisson(2)


@gen
def of_kinds_of_floats():
    x = ~normal(0, 1)
    w = ~(normal(0, 1) if x < FAR else 0.5 * poisson(2))


@gen
def of_floats_that_are_possible():
    x = ~normal(0, 1)
    w = ~(0.5 * poisson(2) if x < FAR else normal(0, 1))


@gen
def of_one_shape():
    x = ~normal(0, 1)
    w = ~(iid(normal(0, 1), 3) if x < FAR else dirichlet([1.0, 1.0, 1.0]))


@gen
def of_one_shape_that_is_possible():
    x = ~normal(0, 1)
    w = ~(dirichlet([1.0, 1.0, 1.0]) if x < FAR else iid(normal(0, 1), 3))


@gen
def made_in(k):
    w = ~iid(normal(0, 1), k)


@gen
def of_a_call():
    x = ~normal(0, 1)
    "w" @ ~made_in(size(x))


@gen
def of_plates():
    for i in range(3):
        x = ("x", i) @ ~normal(0, 1)
        ("w", i) @ ~dirichlet([1.0] * size(x))


@gen
def of_loops():
    xs = [("x", i) @ ~normal(0, 1) for i in range(3)]
    for i in range(3):
        ("w", i) @ ~iid(normal(0, 1), size(xs[i]))


@gen
def of_kinds_in_plates():
    for i in range(3):
        x = ("x", i) @ ~normal(0, 1)
        if x < FAR:
            ("w", i) @ ~gamma(2, 1)
        else:
            ("w", i) @ ~poisson(2)


@gen
def of_floats_in_plates():
    for i in range(3):
        x = ("x", i) @ ~normal(0, 1)
        ("w", i) @ ~(normal(0, 1) if x < FAR else 0.5 * poisson(2))


@gen
def of_an_array():
    x = ~mvnormal([0.0, 0.0], np.eye(2))
    w = ~dirichlet([1.0] * size(x[1]))


MODELS = [
    of_dirichlet, of_iid, of_mvnormal, of_affine, of_ordered, of_product, of_wishart, of_lkj, of_rows,
    of_mixture, of_weights, of_cube, of_kinds, of_kinds_of_floats, of_floats_that_are_possible, of_one_shape,
    of_one_shape_that_is_possible, of_a_call, of_plates, of_loops, of_kinds_in_plates, of_floats_in_plates,
    of_an_array,
]  # fmt: skip
KERNELS = {
    "slice": slice_sampling("x"),
    "elliptical": elliptical_slice("x"),
    "mh": mh("x"),
    "single_site": single_site("x"),
    "walk": random_walk("x", 0.8),
}


def started(model, init=None):
    """A trace on this side of where choices have another dimension or kind."""
    for seed in range(20):
        with running_on("reference"):
            trace = model.generate((), {}, init=init or {}, rng=seed).trace
        if all(np.all(np.asarray(value) < FAR) for path, value in trace.choices.items() if "x" in path):
            return trace
    raise AssertionError("there is no such trace")


def raises(kernel, trace, way, draws=20_000):
    """The error of a chain on some way to run."""
    with running_on(way), pytest.raises(LabelError, match="keeps this choice, which was") as caught:
        sample(kernel, trace, draws, seed=1, progress=False)
    assert caught.value.address[0] == "w"
    assert "a move must give it a new value" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("model", MODELS, ids=lambda one: one.name)
def test_a_kept_choice_of_another_measure(model, name, way):
    told = raises(KERNELS[name], started(model), way)
    assert name not in ("slice", "elliptical") or told.startswith(name)


@gen
def rarely_of_another(p):
    """Its z is as good as never true, and only tried."""
    x = ~normal(0, 1)
    z = ~bernoulli(p)
    v = ~bernoulli(0.5)
    w = ~dirichlet([1.0] * (3 if z and x > 2.3 else 2))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "kernel", [gibbs("z"), gibbs(select("z", "v"), block=True)], ids=["gibbs", "gibbs of a block"]
)
def test_gibbs_keeps_a_choice_of_another_dimension(kernel, way):
    with running_on("reference"):
        trace = rarely_of_another.generate((1e-12,), {}, init={"x": 0.0, "z": False}, rng=1).trace
    assert raises(cycle(mh("x"), kernel), trace, way).startswith("gibbs keeps")


def test_choices_of_several_kinds_that_are_numbers_of_one_type_are_not_compiled():
    """What a text has of a choice that is kept does not tell its kind."""
    for model in (of_kinds_of_floats, of_one_shape):
        told = slice_sampling("x").explain(started(model))
        assert "choices at one address, w, of several kinds or dimensions" in str(told), told
    told = slice_sampling("x").explain(started(of_iid))
    assert "several kinds" not in str(told)


@gen
def counted(n):
    k = ~uniform_discrete(2, 4)
    w = ~dirichlet([1.0] * k)
    y = ~normal(w[0], 0.3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "kernel", [gibbs("k"), gibbs("k", block=True), slice_sampling("k")], ids=["gibbs", "block", "slice"]
)
def test_the_first_step_keeps_a_choice_of_another_dimension(kernel, way):
    trace = counted.generate((0,), {"y": 0.4}, init={"k": 3}, rng=1).trace
    raises(kernel, trace, way, 50)


@gen
def bounded():
    """Values out of their supports are no error, and neither is an observation of another length."""
    x = ~normal(0, 1)
    top = ~gamma(2, 1)
    w = ~iid(uniform(0, top), 5)
    z = ~bernoulli(0.5)
    v = ~iid(uniform(0, 1.0 if z else 0.5), 2)
    c = ~Cube(3)
    y = ~iid(normal(x, 1), 3 if x > 0.5 else 2)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "kernel",
    [
        slice_sampling(select("top", "x")), slice_sampling("w"), elliptical_slice("x"), gibbs("z"),
        gibbs("z", block=True), mh("top"), random_walk("top", 0.5), mh("x"),
    ],
    ids=lambda one: one.name,
)  # fmt: skip
def test_what_is_out_of_its_support_is_silently_impossible(kernel, way):
    init = {"top": 2.0, "w": [0.1, 0.2, 0.3, 0.4, 1.9], "x": 0.0, "z": True, "v": [0.7, 0.2]}
    trace = bounded.generate((), {"y": [0.3, -0.2]}, init=init, rng=1).trace
    with running_on(way):
        run = sample(kernel, trace, 60, seed=1, progress=False)
    assert "interpreter" not in run.ran[0]  # which is left no step
