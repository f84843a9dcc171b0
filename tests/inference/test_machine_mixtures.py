"""Kernels that move choices whose prior is a mixture: its support is what holds those of its components."""

import numpy as np
import pytest

from gendsl import (
    bernoulli,
    beta,
    exponential,
    gamma,
    gen,
    laplace,
    mixture,
    normal,
    poisson,
    sample,
    select,
    truncated_normal,
    uniform,
    uniform_discrete,
)
from gendsl.inference import gibbs, random_walk, slice_sampling
from gendsl.testing import running_on, runtimes
from tests.compiler.test_supports_of_components import Rising


@gen
def spike_and_slab():
    x = ~mixture([0.5, 0.5], [normal(0, 0.1), laplace(0, 2)])
    y = ~normal(x, 1)


@gen
def positive():
    x = ~mixture([0.3, 0.7], [gamma(2, 1), exponential(2.0)])
    y = ~normal(x, 1)


@gen
def intervals():
    a = ~uniform(1, 2)
    x = ~mixture([0.3, 0.7], [uniform(-a, 1), truncated_normal(0, 1, -1, a + 1)])
    y = ~normal(x, 1)


@gen
def half_lines():
    x = ~mixture([0.3, 0.7], [gamma(2, 1), beta(2, 2)])
    y = ~normal(x, 1)


@gen
def of_several(n):
    x = ~mixture(np.ones(n) / n, [normal(3 * j, 0.5) for j in range(n)])
    y = ~normal(x, 1)


@gen
def of_users():
    a = ~uniform(1, 2)
    x = ~mixture([0.5, 0.5], [Rising(0.0, a), Rising(-a, 1.0)])
    y = ~normal(x, 1)


@gen
def integers():
    a = ~uniform_discrete(1, 3)
    x = ~mixture([0.3, 0.7], [uniform_discrete(0, a), uniform_discrete(2, 5)])
    y = ~normal(x, 1)


@gen
def flags():
    x = ~mixture([0.3, 0.7], [bernoulli(0.2), bernoulli(0.9)])
    y = ~normal(x, 1)


@gen
def counts():
    x = ~mixture([0.3, 0.7], [poisson(2.0), uniform_discrete(3, 9)])
    y = ~normal(x, 1)


def assert_one_chain(model, args, kernel):
    trace = model.generate(args, {"y": 0.8}, rng=1).trace
    drawn = {}
    for name in runtimes():
        with running_on(name):
            run = sample(kernel, trace, 150, record=["x"], seed=2, progress=False)
        drawn[name] = run["x"]
        assert name not in ("python", "native") or "step by step" not in run.ran[0], run.ran
    for name, values in drawn.items():
        np.testing.assert_allclose(values, drawn["reference"], rtol=1e-9, err_msg=name)
    assert len(np.unique(drawn["reference"])) > 1


CONTINUOUS = [
    (spike_and_slab, ()),
    (positive, ()),
    (intervals, ()),
    (half_lines, ()),
    (of_several, (3,)),
    (of_users, ()),
]


@pytest.mark.parametrize(("model", "args"), CONTINUOUS)
@pytest.mark.parametrize("kernel", [slice_sampling(select("x")), random_walk(select("x"), scale=0.7)])
def test_numbers(model, args, kernel):
    assert_one_chain(model, args, kernel)


@pytest.mark.parametrize("model", [integers, flags])
def test_all_values_of_integers(model):
    assert_one_chain(model, (), gibbs(select("x")))


def test_slices_of_counts():
    assert_one_chain(counts, (), slice_sampling(select("x")))
