"""`simulate`, `generate` and `regenerate` draw from the prior: a test of distributions, not of scores.

A runtime that draws a chain from a wrong prior, with scores that are consistent with it, passes every test
of scores. Here each choice x is mapped to F(x | the choices before it), which is uniform, or for a discrete
one to a uniform number between F(x - 1) and F(x). Means, mean squares and products of neighbours are
compared with those of independent uniform numbers, by z-scores.
"""

import math

import numpy as np
import pytest
from scipy import stats

from gendsl import (
    bernoulli,
    beta,
    binom,
    categorical,
    cauchy,
    dirichlet,
    exponential,
    gamma,
    gen,
    geometric,
    iid,
    inv_gamma,
    laplace,
    mixture_of_normals,
    mvnormal,
    neg_binom,
    normal,
    poisson,
    select,
    student_t,
    uniform,
    uniform_discrete,
)

pytestmark = pytest.mark.usefixtures("runtime")

LAWS = {
    "beta": (beta(2, 3), stats.beta(2, 3)),
    "cauchy": (cauchy(1, 2), stats.cauchy(1, 2)),
    "exponential": (exponential(2), stats.expon(scale=0.5)),
    "gamma": (gamma(2.5, 2), stats.gamma(2.5, scale=2)),
    "inv_gamma": (inv_gamma(3, 2), stats.invgamma(3, scale=2)),
    "laplace": (laplace(1, 2), stats.laplace(1, 2)),
    "normal": (normal(-1, 3), stats.norm(-1, 3)),
    "student_t": (student_t(4, 1, 2), stats.t(4, 1, 2)),
    "uniform": (uniform(-1, 3), stats.uniform(-1, 4)),
    "bernoulli": (bernoulli(0.3), stats.bernoulli(0.3)),
    "binom": (binom(5, 0.4), stats.binom(5, 0.4)),
    "geometric": (geometric(0.3), stats.geom(0.3, loc=-1)),
    "neg_binom": (neg_binom(3, 0.4), stats.nbinom(3, 0.4)),
    "poisson": (poisson(3), stats.poisson(3)),
    "uniform_discrete": (uniform_discrete(2, 6), stats.randint(2, 7)),
}
COIN = np.random.default_rng(7)


def between(law, x):
    """F(x), or a uniform number from F(x - 1) to F(x) where the law is discrete."""
    if hasattr(law.dist, "pmf"):
        return law.cdf(x - 1) + COIN.random(np.shape(x)) * law.pmf(x)
    return law.cdf(x)


def scores(u):
    """z-scores of what independent uniform numbers are known to have."""
    u = np.ravel(u)
    centred = u - 0.5
    neighbours = centred[1:] * centred[:-1]
    n = len(u)
    return {
        "mean": centred.mean() * math.sqrt(12 * n),
        "mean square": ((centred**2).mean() - 1 / 12) * math.sqrt(180 * n),
        "product of neighbours": neighbours.mean() * 12 * math.sqrt(n - 1),
    }


def check(u):
    found = scores(u)
    assert all(abs(z) < 4.5 for z in found.values()), found


# --- one family after the other ----------------------------------------------------------------------


@gen
def plate(law, n):
    for i in range(n):
        ("x", i) @ ~law


@pytest.mark.parametrize("family", LAWS)
def test_families(family):
    ours, theirs = LAWS[family]
    long = np.array([*plate.simulate((ours, 2000), rng=1).choices.to_flat_dict().values()])
    rng = np.random.default_rng(2)
    short = [[*plate.simulate((ours, 2), rng=rng).choices.to_flat_dict().values()] for _ in range(500)]
    check(between(theirs, long))
    check(between(theirs, np.array(short)))


# --- choices that depend on others -------------------------------------------------------------------


@gen
def chain(n, coefficient=0.8):
    x = 2.0
    for t in range(n):
        x = ("x", t) @ ~normal(coefficient * x, 0.5)


def chain_uniforms(trace):
    x = np.array([2.0] + [trace["x", t] for t in range(trace.args[0])])
    return stats.norm.cdf((x[1:] - 0.8 * x[:-1]) / 0.5)


@gen
def assigned(n, shift=0):
    mu = [("mu", j) @ ~normal(0, 3) for j in range(3)]
    for i in range(n):
        z = ("z", i) @ ~categorical([0.5, 0.3, 0.2])
        ("y", i) @ ~gamma(2, math.exp(mu[(z + shift) % 3] / 5))


def assigned_uniforms(trace):
    (n, *_) = trace.args
    mu = np.array([trace["mu", j] for j in range(3)])
    z = np.array([trace["z", i] for i in range(n)])
    y = np.array([trace["y", i] for i in range(n)])
    which = stats.rv_discrete(values=(range(3), [0.5, 0.3, 0.2]))
    below = which.cdf(z - 1) + COIN.random(n) * which.pmf(z)
    return np.concatenate([stats.norm.cdf(mu / 3), below, stats.gamma.cdf(y, 2, scale=np.exp(mu[z] / 5))])


@gen
def restaurant(n, alpha=1.5):
    counts = []
    for i in range(n):
        z = ("z", i) @ ~categorical([c / (i + alpha) for c in counts] + [alpha / (i + alpha)])
        if z == len(counts):
            counts.append(0)
            ("mean", z) @ ~normal(0, 1)
        counts[z] += 1


def restaurant_uniforms(trace):
    counts, found = [], []
    for i in range(trace.args[0]):
        p = np.array([*counts, 1.5]) / (i + 1.5)
        z = trace["z", i]
        found.append(p[:z].sum() + COIN.random() * p[z])
        if z == len(counts):
            counts.append(0)
            found.append(stats.norm.cdf(trace["mean", z]))
        counts[z] += 1
    return found


@gen
def arrays(n, factor=1.0):
    weights = ~dirichlet([1.0, 1.0, 1.0])
    for i in range(n):
        v = ("v", i) @ ~mvnormal([1.0, -1.0], [[4.0, 0.0], [0.0, 9.0]])
        e = ("e", i) @ ~iid(exponential(factor * (1 + v[0] ** 2)), 2)
        ("m", i) @ ~mixture_of_normals([0.25, 0.75], [v[1], 5.0], [1.0, 4.0])


def arrays_uniforms(trace):
    w = trace["weights"]
    found = [stats.beta.cdf(w[0], 1, 2), stats.uniform.cdf(w[1], 0, 1 - w[0])]
    for i in range(trace.args[0]):
        v, m = trace["v", i], trace["m", i]
        found += [*stats.norm.cdf(v, [1.0, -1.0], [2.0, 3.0])]
        found += [*stats.expon.cdf(trace["e", i] * (1 + v[0] ** 2))]
        found.append(0.25 * stats.norm.cdf(m, v[1], 1.0) + 0.75 * stats.norm.cdf(m, 5.0, 2.0))
    return found


PROGRAMS = {
    "chain": (chain, chain_uniforms, 0.5),
    "assigned": (assigned, assigned_uniforms, 1),
    "restaurant": (restaurant, restaurant_uniforms, 5.0),
    "arrays": (arrays, arrays_uniforms, 1.2),
}


def drawn(program, uniforms, rng, *more):
    """From many short traces and a long one."""
    traces = [program.simulate((3, *more), rng=rng) for _ in range(250)]
    return np.concatenate([uniforms(trace) for trace in [*traces, program.simulate((600, *more), rng=rng)]])


@pytest.mark.parametrize("name", PROGRAMS)
def test_simulate(name):
    program, uniforms, _ = PROGRAMS[name]
    check(drawn(program, uniforms, np.random.default_rng(3)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_wrong_prior_is_found(name):
    program, uniforms, wrong = PROGRAMS[name]
    found = scores(drawn(program, uniforms, np.random.default_rng(3), wrong))
    assert max(map(abs, found.values())) > 4.5, found


@pytest.mark.parametrize("size", [3, 400])
def test_what_generate_and_regenerate_fill_in(size):
    """Half of a chain is given, or stays; the other half is drawn given what comes before it."""
    rng = np.random.default_rng(4)
    generated, redrawn = [], []
    odd = range(1, size, 2)
    kept = {("x", t): 0.5 * t % 1 for t in range(0, size, 2)}
    for _ in range(1200 // size):
        trace = chain.generate((size,), kept, rng=rng).trace
        generated += [chain_uniforms(trace)[t] for t in odd]
        again = trace.regenerate(select(*[("x", t) for t in odd]), rng=rng).trace
        assert all(again["x", t] != trace["x", t] for t in odd)
        redrawn += [chain_uniforms(again)[t] for t in odd]
    check(generated)
    check(redrawn)
