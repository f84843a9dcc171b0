"""Closed programs as text: distributions of `scipy.stats`, their methods and choices from them."""

import math

import numpy as np
import pytest
import scipy.stats as st

from gendsl import factor, gen, normal, sample, select
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.llvm.native import available
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.inference import cycle, mh, random_walk
from gendsl.testing import running_on
from tests.compiler.closed_outcomes import NATIVE, outcome, raises_everywhere

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


def finite(*values):
    return total([np.where(np.isfinite(one), one, 0.7) for one in values])


@gen
def other_laws(v, k):
    """Families of which nothing is known here but what SciPy's own text says."""
    x = ~normal(0, 1)
    a = np.append(np.abs(v), -0.5)
    found = finite(st.weibull_min.logpdf(a, 1.5, scale=2.0), st.weibull_min(0.8).logsf(a), st.chi2.sf(a, 3))
    found += finite(st.gumbel_r.logpdf(v, x), st.logistic(x, 0.5).logcdf(v), st.norm.isf([0.1, 0.7], x))
    found += finite(st.skewnorm.logpdf(v, 2.0, loc=x), st.expon.logsf(a), st.gamma.cdf(a, 2.0))
    found += finite(st.lognorm.sf(a, 0.5), st.betabinom.logpmf(k, 10, x * x + 1, 2.0), st.poisson.cdf(k, 2.5))
    found += finite(st.geom.logsf(k, 0.3), st.binom.logpmf([-1, 2, 8], 7, 0.3), st.zipf.pmf(k + 1, 3.0))
    for one in a:
        if one > 0:
            found += st.weibull_min.logpdf(one, 1.5, scale=2.0) + st.pareto.logsf(one + 2, 1.5)
        found += st.expon.cdf(one) + st.uniform.sf(one, -1, 2) + st.t.cdf(one, 4)
    "found" @ ~factor(found)


class Tent(st.rv_continuous):
    """A family of the user's own."""

    def _pdf(self, x, peak):
        return np.where(x < peak, 2.0 * x / peak, 2.0 * (1.0 - x) / (1.0 - peak))


TENT = Tent(a=0.0, b=1.0, name="tent", shapes="peak")


@gen
def own_family(v, k):
    x = ~normal(0, 1)
    found = TENT.logpdf(0.3, 0.2) + TENT(peak=0.6).logpdf(0.5) + TENT.pdf(1.5, 0.6)
    "found" @ ~factor(found + x)


@pytest.mark.parametrize(
    "model", [continuous_laws, laws_of_integers, other_laws, own_family], ids=lambda one: one.name
)
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
def lifetimes(v, k):
    """Choices from families that are none of gendsl's."""
    shape = ~st.gamma(2.0)
    first = ~st.weibull_min(0.5 + shape, scale=2.0)
    level = ~st.skewnorm(shape, loc=1.0)
    count = ~st.betabinom(10, shape + 1.0, 2.0)
    bounded = ~st.powerlaw(1.6, loc=level)
    "seen" @ ~st.logistic(first + level + count + bounded, 0.5)


@pytest.mark.skipif(available() is not None, reason="there is no LLVM here")
def test_choices_from_other_families():
    """They are drawn as `rvs` draws them, and have SciPy's densities and supports."""
    assert outcome(lifetimes, (V, K)) == "equal"
    start = lifetimes.generate((V, K), {"seen": 6.0}, rng=1).trace
    kernel = cycle(*(mh(select(name)) for name in ("shape", "first", "level", "count", "bounded")))
    found = {}
    for way in ("native", "python", "reference"):
        with running_on(way):
            run = sample(kernel, start, 40, record=["first", "count", "bounded"], seed=1, progress=False)
            found[way] = run.recorded
            assert way != "native" or run.ran == ["as machine code"]
    for way in ("native", "python"):
        for name, values in found[way].items():
            assert values == pytest.approx(found["reference"][name], rel=1e-9)
    assert len(set(found["native"]["count"])) > 3


class Doubled(st.rv_continuous):
    """A family whose `logpdf` is not made of its `_logpdf`."""

    def _logpdf(self, x):
        return -x

    def _rvs(self, size=None, random_state=None):
        return random_state.exponential(size=size)

    def logpdf(self, x, *args, **named):
        return 2.0 * super().logpdf(x, *args, **named)


NAMESAKE = Doubled(a=0.0, name="expon")
TABLE = st.rv_discrete(name="table", values=((0.5, 2.0), (0.3, 0.7)))


@gen
def own_method(v, k):
    x = ~normal(0, 1)
    "found" @ ~factor(NAMESAKE(loc=x).logpdf(5.0))


@gen
def namesake(v, k):
    x = ~normal(0, 1)
    y = ~NAMESAKE(loc=x)


@gen
def table_of_values(v, k):
    x = ~normal(0, 1)
    "found" @ ~factor(TABLE.logpmf(0.5) + x)


@gen
def angles(v, k):
    kappa = ~st.gamma(2.0)
    y = ~st.vonmises(kappa)


@pytest.mark.parametrize("model, why", [
    (own_method, "a logpdf of its own"), (namesake, "a logpdf of its own"),
    (table_of_values, "a table of values"), (angles, "a rvs of its own"),
], ids=lambda one: getattr(one, "name", ""))  # fmt: skip
def test_what_scipy_does_otherwise_is_refused(model, why):
    assert str(outcome(model, (V, K))).endswith(why)


@gen
def of_no_shape(v, k):
    x = ~normal(0, 1)
    y = ~st.weibull_min(v[1])


def test_parameters_out_of_their_domain():
    raises_everywhere(of_no_shape, (V, K), {"x": 0.3, "y": 1.0})


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


@gen
def overflowing(df, shift):
    x = ~normal(0, 1)
    y = ~normal(st.nct.logpdf(math.exp(100.0 * x), df, shift), 1)


def test_what_raises_an_error_is_left_to_the_interpreter():
    """Boost raises Python's errors, which machine code would go on with."""
    lowered = {"x": 0.01, "y": -1.0}
    closed = ClosedDensity(overflowing, (0.5, 0.3))
    ways = [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]
    for way in ways:
        expected, _ = overflowing.reference.assess((0.5, 0.3), lowered)
        assert way((0.5, 0.3), lowered) == pytest.approx(expected, rel=1e-12)
        with pytest.raises(FailedText, match=r"nct_pdf|Overflow"):
            way((0.5, 0.3), {"x": 5.0, "y": -1.0})
        assert way((0.5, 0.3), lowered) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(OverflowError):
        overflowing.reference.assess((0.5, 0.3), {"x": 5.0, "y": -1.0})


@gen
def by_their_names(v, k):
    z = ~normal(0, 1)
    found = total((st.weibull_min.logpdf(x=np.abs(v), c=1.5), st.norm.cdf(x=v, loc=z)))
    found += total((st.poisson.logpmf(k=k, mu=2.0), st.zipf.pmf(k=k + 1, a=3.0), st.norm.ppf(q=[0.1, 0.9])))
    "found" @ ~factor(found)


def test_what_methods_are_given_has_a_name():
    assert outcome(by_their_names, (V, K)) == "equal"
