"""The density along one choice is the log weight of the edits that it stands for."""

import math
import os

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    categorical,
    dirichlet,
    gamma,
    gen,
    mvnormal,
    normal,
    poisson,
    select,
    uniform,
    uniform_discrete,
)
from gendsl.errors import RuntimeMismatchError
from gendsl.inference import gibbs, slice_sampling
from gendsl.runtime.executions import ZeroProbability
from gendsl.runtime.local import LocalDensity

pytestmark = pytest.mark.skipif(
    os.environ.get("GENDSL_RUNTIME") == "reference", reason="about the compiled runtime"
)

N = 60  # enough for columns


@gen
def mixture(n):
    mu = [("mu", j) @ ~normal(0, 10) for j in range(4)]
    for i in range(n):
        z = ("z", i) @ ~uniform_discrete(0, 3)
        ("x", i) @ ~normal(mu[z], 1)


@gen
def assigned(n):
    """Labels in a list that is returned, and variables between the choices."""
    weights = ~dirichlet([1.0] * 4)
    mu = {j: ("mu", j) @ ~normal(0, 10) for j in range(4)}
    z = [0] * n
    for i in range(n):
        scale = 1.0 + i % 3
        z[i] = ~categorical(weights)
        middle = mu[z[i]] * 2.0
        far = middle + scale
        ("x", i) @ ~normal(middle, scale)
        ("y", i) @ ~normal(far, 1)
        ("other", i) @ ~gamma(2, scale)
    return z


@gen
def plate(n):
    noise = ~gamma(2, 1)
    for i in range(n):
        p = ("p", i) @ ~beta(2, 2)
        flag = ("flag", i) @ ~bernoulli(p)
        level = ("level", i) @ ~normal(p + flag, noise)
        ("count", i) @ ~poisson(math.exp(level))


@gen
def first_in_support(n):
    """The density is zero beyond what a later choice allows."""
    for i in range(n):
        top = ("top", i) @ ~uniform(0, 5)
        ("x", i) @ ~uniform(0, top)


CASES = {
    "a label": (mixture, ("z", 7), [0, 1, 2, 3, 4, -1]),
    "a label in a list": (assigned, ("z", 7), [0, 1, 2, 3]),
    "an observation of it": (assigned, ("x", 0), [0.5, -3.0, math.inf]),
    "the last in an iteration": (assigned, ("other", 59), [0.5, 3.0, -1.0, 0.0]),
    "the first in an iteration": (plate, ("p", 3), [0.5, 0.01, 1.5, 0.0]),
    "a boolean": (plate, ("flag", 3), [True, False]),
    "one in the middle": (plate, ("level", 3), [0.5, -3.0]),
    "a count": (plate, ("count", 3), [0, 3, -1]),
    "a bound of another choice": (first_in_support, ("top", 3), [4.9, 1e-9, 7.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_log_weight_of_an_edit(name):
    model, path, values = CASES[name]
    trace = model.simulate((N,), rng=1)
    local = trace.local_density(path)
    assert isinstance(local, LocalDensity)
    for value in [trace[path], *values]:
        try:
            weight = trace.edit({path: value}, stop_at_zero=True).log_weight
        except ZeroProbability:
            weight = -math.inf
        assert local(value) == pytest.approx(weight, rel=1e-9, abs=1e-9), value
    assert local.at_all(values) == [local(value) for value in values]
    after = local.edited(values[0])
    assert after[path] == values[0]
    assert after.log_prob - trace.log_prob == pytest.approx(local(values[0]), abs=1e-8)


def test_after_edits_it_is_that_of_the_new_trace():
    trace = assigned.simulate((N,), rng=1)
    before = trace.local_density(("z", 7))
    kept = before(2)
    changed = trace.update({("mu", 2): 30.0, ("z", 7): 1, "weights": [0.1, 0.2, 0.3, 0.4]}).trace
    after = changed.local_density(("z", 7))
    assert after(2) == pytest.approx(changed.edit({("z", 7): 2}).log_weight, abs=1e-9)
    assert after(2) != pytest.approx(kept)
    assert before(2) == kept


@pytest.mark.parametrize("value", ["a", 1, None, np.float64(0.5)])
def test_of_a_value_of_another_type_an_edit_must_tell(value):
    local = plate.simulate((N,), rng=1).local_density(("p", 3))
    assert local(value) is None
    assert local.at_all([0.5, value]) is None


def test_of_a_value_that_the_program_fails_on_an_edit_must_tell():
    local = assigned.simulate((N,), rng=1).local_density(("z", 7))
    assert local(4) == -math.inf  # outside of its own support, so nothing else is asked
    trace = plate.simulate((N,), rng=1)
    local = trace.local_density(("level", 3))
    assert local(1000.0) is None
    with pytest.raises(OverflowError):
        trace.edit({("level", 3): 1000.0})


@gen
def read_afterwards(n):
    z = [0] * n
    for i in range(n):
        z[i] = ~bernoulli(0.3)
    total = sum(z)
    y = ~normal(total, 1)


@gen
def last_is_read(n):
    for i in range(n):
        z = ("z", i) @ ~normal(0, 1)
    y = ~normal(z, 1)


@gen
def walk(n):
    x = 0.0
    for i in range(n):
        x = ("z", i) @ ~normal(x, 1)


@gen
def vectors(n):
    for i in range(n):
        z = ("z", i) @ ~mvnormal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]])


@gen
def nested(n):
    for j in range(2):
        for i in range(n):
            ("z", i, j) @ ~normal(0, 1)


@gen
def one_name_twice(n):
    for i, j in zip(range(n), range(n, 2 * n)):
        ("z", i, 0) @ ~normal(0, 1)
        ("z", j, 1) @ ~normal(0, 1)


@gen
def shared(n):
    z = ~normal(0, 1)
    for i in range(n):
        ("x", i) @ ~normal(z, 1)


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (read_afterwards, ("z", 3)), (last_is_read, ("z", 3)), (walk, ("z", 3)), (vectors, ("z", 3)),
        (nested, ("z", 3, 1)), (one_name_twice, ("z", 3, 0)), (shared, ("z",)), (mixture, ("mu", 1)), (mixture, ("z",)),
        (mixture, ("z", 99)), (mixture, ("none", 1)),
    ],
)  # fmt: skip
def test_there_is_none_where_others_depend_on_the_choice(model, path):
    assert model.simulate((N,), rng=1).local_density(path) is None


def test_few_iterations_have_none():
    assert mixture.simulate((5,), rng=1).local_density(("z", 3)) is None
    assert mixture.reference.simulate((N,), rng=1).local_density(("z", 3)) is None


@pytest.mark.parametrize(
    ("model", "kernel"),
    [
        (mixture, gibbs("z")),
        (assigned, gibbs(select(("z", 7), ("z", 8)))),
        (plate, gibbs("flag")),
        (plate, slice_sampling(select("p", "level"))),
        (plate, slice_sampling("count", scan="random")),
        (first_in_support, slice_sampling("top")),
    ],
    ids=["labels", "labels in a list", "booleans", "numbers", "counts", "bounds"],
)
def test_kernels_draw_what_they_draw_by_edits(model, kernel):
    trace = model.simulate((N,), rng=1)
    other = model.reference.generate((N,), init=trace.choices, rng=1).trace
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    for _ in range(3):
        trace, info = kernel(trace, one)
        other, expected = kernel(other, two)
        assert info == expected
        for path, value in other.choices.to_flat_dict().items():
            assert trace[path] == pytest.approx(value, rel=1e-9)
    assert one.random() == two.random()


@pytest.mark.parametrize("kernel", [gibbs("z"), slice_sampling("x")], ids=["gibbs", "slice"])
def test_a_density_that_an_edit_does_not_confirm_is_an_error(kernel, monkeypatch):
    keep = LocalDensity.__init__

    def wrong(self, trace, path, density, value):
        keep(self, trace, path, lambda x: density(x) + (0.5 if x != value else 0.0), value)

    monkeypatch.setattr(LocalDensity, "__init__", wrong)
    trace = mixture.simulate((N,), rng=1)
    with pytest.raises(RuntimeMismatchError, match="was expected"):
        for seed in range(20):
            trace, _ = kernel(trace, np.random.default_rng(seed))
