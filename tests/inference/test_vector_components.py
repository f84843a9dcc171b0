"""Births of components that are vectors from the prior, also where there is none yet."""

import numpy as np
import pytest
from scipy import stats

from gendsl import dirichlet, gen, mvnormal, normal, poisson, product, sample, uniform_discrete
from gendsl.inference import birth_death, cycle, mh, random_walk, repeat
from gendsl.testing import running_on
from tests.compiler.closed_steps import needs_llvm


@gen
def of_products(n):
    k = ~poisson(1)
    mu = [("mu", j) @ ~product(normal, np.zeros(2), 1.0) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(sum(m[0] for m in mu), 1)


@gen
def with_a_scale(n):
    s = ~uniform_discrete(1, 3)
    m = ~uniform_discrete(0, 3)
    cov = np.diag(np.arange(1.0, 3.0)) * s
    parts = []
    for j in range(m):
        parts.append(("mu", j) @ ~mvnormal(np.array([0.5, -0.5]), cov))
    for i in range(n):
        ("y", i) @ ~normal(sum(p[0] * p[1] for p in parts), 2)


@gen
def by_their_number(n):
    k = ~uniform_discrete(0, 4)
    mu = [("mu", j) @ ~mvnormal(np.zeros(2), np.eye(2) * (1.0 + k)) for j in range(k)]
    for i in range(n):
        ("y", i) @ ~normal(sum(m[1] for m in mu), 1)


@gen
def at_most_one(n):
    k = ~uniform_discrete(0, 1)
    level = 0.0
    for j in range(k):
        w = ("w", j) @ ~dirichlet(np.ones(3) * (1 + k))
        level += w[0] - w[1]
    for i in range(n):
        ("y", i) @ ~normal(level, 1)


@gen
def rescaled(trace):
    s = ~uniform_discrete(1, 3)


@needs_llvm
@pytest.mark.parametrize(
    "model, kernel, number",
    [
        (of_products, birth_death("mu"), "k"),
        (with_a_scale, cycle(birth_death("mu", number="m"), mh(rescaled)), "m"),
        (by_their_number, birth_death("mu"), "k"),
        (at_most_one, birth_death("w"), "k"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_same_chain(model, kernel, number):
    start = model.generate((4,), init={number: 0}, rng=3).trace
    runs = []
    for runtime in ("reference", "native"):
        with running_on(runtime):
            runs.append(sample(repeat(kernel, 2), start, 150, seed=2, record=[number]))
    assert runs[1].ran == ["as machine code"]
    assert np.array_equal(runs[0][number], runs[1][number])
    assert 0 in runs[0][number][5:] and max(runs[0][number]) > 0


@needs_llvm
def test_the_posterior_of_the_number():
    """Of 0 or 1 vectors of which the data sees the first entry, against the two marginal densities."""

    @gen
    def model(n):
        k = ~uniform_discrete(0, 1)
        level = 0.0
        for j in range(k):
            mu = ("mu", j) @ ~product(normal, np.zeros(2), 1.5)
            level += mu[0]
        for i in range(n):
            ("y", i) @ ~normal(level, 1)

    y = np.array([0.9, 1.3, -0.2, 0.8, 0.6])
    with_one = stats.multivariate_normal(np.zeros(5), np.eye(5) + 1.5**2).pdf(y)
    with_none = stats.norm.pdf(y).prod()
    exact = with_one / (with_one + with_none)
    start = model.generate((5,), {"y": y}, init={"k": 0}, rng=1).trace
    kernel = cycle(birth_death("mu"), random_walk("mu", scale=0.7, skip_absent=True))
    run = sample(repeat(kernel, 5), start, 8000, record="k", seed=4)
    assert run.ran == ["as machine code"]
    one = run.frequency("k")[1]
    assert abs(one.probability - exact) < 4 * one.standard_error
    assert abs(1 - one.probability - exact) > 4 * one.standard_error
