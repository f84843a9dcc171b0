"""Mixtures of distributions of vectors and matrices."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from gendsl import (
    beta,
    dirichlet,
    gamma,
    gen,
    iid,
    inv_wishart,
    mixture,
    multinomial,
    mvnormal,
    normal,
    poisson,
    product,
    sample,
    select,
    uniform_discrete,
    wishart,
)
from gendsl.inference import cycle, mh, random_walk, repeat, slice_sampling
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import outcome, raises_everywhere
from tests.compiler.closed_steps import needs_llvm


@gen
def clusters(n):
    w = ~beta(2, 2)
    means = [("m", j) @ ~mvnormal(np.zeros(2), 9.0 * np.eye(2)) for j in range(2)]
    shape = np.array([[1.0, 0.3], [0.3, 0.5]])
    for i in range(n):
        ("y", i) @ ~mixture([w, 1 - w], [mvnormal(m, shape) for m in means])


@gen
def unknown_number():
    k = ~uniform_discrete(1, 4)
    w = ~dirichlet([1.0] * k)
    parts = []
    for j in range(k):
        centre = ("c", j) @ ~mvnormal([0.0, 1.0, 2.0], np.diag([4.0, 1.0, 1.0]))
        parts.append(mvnormal(centre, 0.2 * np.eye(3)))
    for i in range(5):
        ("y", i) @ ~mixture(w, parts)


@gen
def on_the_simplex():
    a = ~beta(2, 2)
    p = ~mixture([a, 1 - a], [dirichlet([1.0, 2.0, 3.0]), dirichlet([5.0, 1.0, 1.0])])
    c = ~mixture([0.5, 0.5], [multinomial(6, p), multinomial(6, [0.2, 0.3, 0.5])])


@gen
def of_products():
    s = ~beta(2, 2)
    x = ~mixture([s, 1 - s], [iid(normal(0, 1), 3), iid(normal(4, s), 3)])
    n = ~mixture([0.25, 0.75], [iid(poisson(3), 2), iid(poisson(30), 2)])
    y = ~mixture([s, 1 - s], [product(normal, [0.0, s], 1.0), product(normal, [3.0, 4.0], s)])
    z = ~mixture([s, 1 - s], [product(normal(s, 1), gamma(2, 1)), product(normal(0, 1), gamma(3, s))])


@gen
def of_matrices():
    m = ~mixture([0.4, 0.6], [wishart(5, np.eye(2)), wishart(9, 0.1 * np.eye(2))])
    v = ~mixture([0.4, 0.6], [inv_wishart(5, m), inv_wishart(9, np.eye(2))])


@pytest.mark.parametrize(
    "model, args",
    [(clusters, (4,)), (unknown_number, ()), (on_the_simplex, ()), (of_products, ()), (of_matrices, ())],
)
def test_the_densities_are_those_of_the_reference(model, args):
    for seed in range(6):
        assert outcome(model, args, rng=seed) == "equal"


def test_the_density_is_that_of_scipy():
    trace = clusters.simulate((4,), rng=3)
    w, shape = trace["w"], np.array([[1.0, 0.3], [0.3, 0.5]])
    ys = np.array([trace["y", i] for i in range(4)])
    terms = [stats.multivariate_normal(trace["m", j], shape).logpdf(ys) for j in range(2)]
    expected = logsumexp(np.array(terms).T + np.log([w, 1 - w]), axis=1).sum() + stats.beta(2, 2).logpdf(w)
    expected += sum(stats.multivariate_normal([0, 0], 9 * np.eye(2)).logpdf(trace["m", j]) for j in range(2))
    assert trace.log_prob == pytest.approx(expected)


@gen
def walk(trace):
    for j in range(2):
        ("m", j) @ ~mvnormal(trace["m", j], 0.1 * np.eye(2))
    w = ~beta(2, 2)


@gen
def walk_of_k(trace):
    k = ~uniform_discrete(1, 4)
    w = ~dirichlet([1.0] * k)
    for j in range(k):
        ("c", j) @ ~mvnormal([0.0, 1.0, 2.0], np.diag([4.0, 1.0, 1.0]))


@needs_llvm
@pytest.mark.parametrize(
    "model, args, kernel, names",
    [
        (clusters, (5,), cycle(mh(walk), random_walk(select(("m", 0)), scale=0.3)), [("m", 1), ("y", 2)]),
        (clusters, (5,), slice_sampling(select(("y", 1), "w")), [("y", 1)]),
        (unknown_number, (), cycle(mh(walk_of_k), mh(select(("y", 0)))), ["k", ("y", 0)]),
        (on_the_simplex, (), cycle(mh(select("p")), mh(select("c", "a"))), ["p", "c"]),
        (of_products, (), mh(select("x", "n", "y", "z")), ["x", "n", "y", "z"]),
        (of_products, (), random_walk(select("x", "y"), scale=0.3), ["x", "y"]),
        (of_matrices, (), mh(select("m")), ["m", "v"]),
    ],
)
def test_same_chain(model, args, kernel, names):
    """Draws of components, supports of what is proposed and densities, against the interpreter's chain."""
    start = model.simulate(args, rng=5)
    runs = {}
    for runtime in ("reference", "native"):
        with running_on(runtime):
            runs[runtime] = sample(repeat(kernel, 20), start, 60, record=names, seed=2)
    assert runs["native"].ran == ["as machine code"]
    for name in names:
        expected, found = runs["reference"][name], runs["native"][name]
        assert all(np.allclose(a, b, rtol=1e-9) for a, b in zip(expected, found, strict=True))


@gen
def of_other_lengths(n):
    y = ~mixture([0.5, 0.5], [mvnormal(np.zeros(2), np.eye(2)), mvnormal(np.zeros(n), np.eye(n))])


@gen
def of_other_totals(n):
    y = ~mixture([0.5, 0.5], [multinomial(2, [0.5, 0.5]), multinomial(n, [0.5, 0.5])])


@gen
def of_other_families(n):
    second = [normal(0, 1), gamma(2, 1)] if n == 2 else [gamma(2, 1), normal(0, 1)]
    y = ~mixture([0.5, 0.5], [product([normal(0, 1), gamma(2, 1)]), product(second)])


@pytest.mark.parametrize(
    "model, value",
    [(of_other_lengths, [0.1, 0.2]), (of_other_totals, [1, 1]), (of_other_families, [0.1, 0.2])],
)
def test_components_of_other_supports_are_an_error(model, value):
    assert outcome(model, (2,)) == "equal"
    raises_everywhere(model, (3,), {"y": np.array(value)})
