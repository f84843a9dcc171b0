"""Closed programs as text: distributions of `scipy.stats`, their methods and choices from them."""

import numpy as np
import pytest
import scipy.stats as st

from gendsl import factor, gen, normal, sample, select
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.inference import cycle, mh, random_walk
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import outcome, raises_everywhere

V, K = np.array([0.3, -1.2, 2.5]), np.array([3, 0, 7])
PRIOR = st.norm(0.5, scale=2.0)


def total(values):
    return sum(float(np.sum(np.cos(np.arange(one.size) + 1.0) * one)) for one in values)


@gen
def continuous_laws(v, k):
    x = ~normal(0, 1)
    a = np.abs(v)
    found = total((st.norm.logpdf(v), st.norm.logpdf(v, 0.5, 2.0), st.norm.logpdf(v, loc=v * x, scale=1 + a)))
    found += total((st.norm(x, 2.0).logpdf(v), st.norm(loc=v, scale=2.0).logpdf(0.3), st.norm.cdf(v, x)))
    found += total((st.norm.sf(v, 1), st.norm.logcdf(v), st.norm.logsf(v), st.norm.ppf([0.1, 0.9], 1.0, 2.0)))
    found += total((st.norm.pdf(v), st.expon.pdf([0.0, 1.0, -1.0]), st.expon(scale=0.5).logpdf(a)))
    found += total((st.uniform.pdf(v, -1, 2), st.laplace.logpdf(v, 0.1, 0.3), st.cauchy.logpdf(v, x, 0.3)))
    found += total((st.t.logpdf(v, 3), st.t(df=3.0, scale=0.5).logpdf(v), st.halfnorm.logpdf(a, scale=3.0)))
    found += total((st.gamma.logpdf(a, a=2.5, scale=1 / 3), st.gamma.pdf([0.5, -1.0, 0.0], 2.0)))
    found += total((st.beta.logpdf([0.1, 0.9], 2.0, 3.0), st.beta.pdf([0.0, 1.0, 2.0], 1.0, 3.0)))
    found += total((st.lognorm.logpdf(a, 0.5, scale=np.exp(x)), st.lognorm.pdf([0.0, -1.0, 1.0], s=0.5)))
    "found" @ ~factor(found + st.norm.logpdf(x, loc=0.1) + PRIOR.logpdf(x))


@gen
def laws_of_integers(v, k):
    x = ~normal(0, 1)
    found = total(
        (st.poisson.logpmf(k, 2.0), st.poisson.logpmf(k, np.abs(v)), st.poisson.pmf([0, 1.5, -1], 2.0))
    )
    found += total((st.poisson(2.0).logpmf(k), st.binom.logpmf(k, 7, 0.3), st.binom.pmf([0, 6, 2.5], 5, 0.3)))
    found += total(
        (st.binom.logpmf(2, n=np.array([3, 4]), p=st.norm.cdf(x)), st.bernoulli.logpmf(k > 0, 0.3))
    )
    found += total((st.nbinom.logpmf(k, 3.5, 0.4), st.geom.logpmf(k + 1, 0.3), st.geom.pmf([0, 1], 0.3)))
    "found" @ ~factor(found)


@pytest.mark.parametrize("model", [continuous_laws, laws_of_integers], ids=lambda one: one.name)
def test_methods(model):
    assert outcome(model, (V, K)) == "equal"


@gen
def of_no_scale(v, k):
    x = ~normal(0, 1)
    "found" @ ~factor(st.norm.logpdf(x, 0.0, v[1]))


def test_parameters_that_are_none():
    raises_everywhere(of_no_scale, (V, K), {"x": 0.3, "found": None})


@gen
def with_choices(v, k):
    mu = ~PRIOR
    sd = ~st.gamma(2.0, scale=0.5)
    z = ~st.bernoulli(0.3)
    n = ~st.poisson(mu=2.0)
    r = ~st.beta(a=2.0, b=3.0)
    w = ~st.lognorm(0.5, scale=sd)
    for i in range(len(v)):
        ("y", i) @ ~(st.norm(mu, scale=sd) if z else st.t(4, mu, sd + w))
    "more" @ ~factor(st.binom.logpmf(n, n + 1, r))


@pytest.mark.skipif(available() is not None, reason="there is no LLVM here")
def test_choices_from_frozen_distributions():
    assert outcome(with_choices, (V, K)) == "equal"
    start = with_choices.generate((V, K), {("y", i): one for i, one in enumerate(V)}, rng=1).trace
    kernel = cycle(random_walk(select("mu", "sd", "r", "w"), 0.3), mh(select("z", "n")))
    found = {}
    for way in ("native", "reference"):
        with running_on(way):
            run = sample(kernel, start, 60, record=["mu", "sd", "n"], seed=1, progress=False)
            found[way] = run.recorded
            if way == "native":
                assert run.ran == ["as machine code"]
    assert found["native"]["n"] == found["reference"]["n"]
    for name in ("mu", "sd"):
        assert found["native"][name] == pytest.approx(found["reference"][name], rel=1e-10)


@gen
def unknown_method(v, k):
    x = ~normal(st.norm.mean(0.1, 2.0), 1)


def test_other_methods_are_refused():
    with pytest.raises(NotClosed, match=r"scipy\.stats\.norm\.mean"):
        ClosedDensity(unknown_method, (V, K))


@gen
def density_of_rows(rows, mean, cov):
    m = ~normal(0, 1)
    total = 0.0
    for one in st.multivariate_normal.logpdf(rows, mean + m, cov):
        total += one
    y = ~normal(total, 1)


def test_the_density_of_several_vectors():
    rows, cov = np.array([[0.3, -1.2], [2.5, 0.1], [0.7, 0.9]]), np.array([[2.0, 0.5], [0.5, 1.0]])
    assert outcome(density_of_rows, (rows, np.array([0.1, -0.4]), cov)) == "equal"
