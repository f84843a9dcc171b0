"""What is made from the text of `at`: log densities of columns, and derivatives."""

import itertools
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import autograd
import numpy as np
import pytest
from scipy import stats

from gendsl import distributions as families
from gendsl.distributions import formulas, writing
from gendsl.distributions.columns import MADE, score_columns, total_columns
from gendsl.distributions.made import Density, density_of, partials, scores
from gendsl.distributions.reading import UnreadableError, formula_of
from gendsl.errors import ParameterError

INF, NAN = math.inf, math.nan
POSITIVE = [5e-324, 1e-310, 1e-200, 1e-9, 0.3, 0.5, 1.0, 1.5, 15.9, 16.0, 40.0, 1e4, 3e5, 1e8, 1e200, 1.7e308]
FINITE = [-1e308, -1e200, -1e5, -3.2, -0.5, -1e-200, -5e-324, 0.0, *POSITIVE[::2], 1.7e308]
REAL = [-INF, *FINITE, INF, NAN]
SHARE = [0.0, 5e-324, 1e-200, 1e-9, 0.3, 0.5, 0.7, 1.0 - 1e-9, math.nextafter(1.0, 0.0), 1.0]
COUNTS = [-3, -1, 0, 1, 2, 5, 40, 255, 256, 1000, 120_000, 300_000, 10**12]
GRIDS = {
    "normal": (REAL, FINITE, POSITIVE), "laplace": (REAL, FINITE, POSITIVE),
    "cauchy": (REAL, FINITE, POSITIVE),
    "student_t": (REAL[::2], POSITIVE[::2], FINITE[::4], POSITIVE[::3]),
    "von_mises": ([*REAL, -math.pi, 3.1, math.pi], FINITE, [0.0, *POSITIVE]),
    "exponential": (REAL, POSITIVE), "gamma": (REAL, POSITIVE, POSITIVE),
    "inv_gamma": (REAL, POSITIVE, POSITIVE),
    "log_normal": (REAL, FINITE, POSITIVE), "half_normal": (REAL, POSITIVE), "half_cauchy": (REAL, POSITIVE),
    "half_student_t": (REAL, POSITIVE, POSITIVE[::2]), "beta": (SHARE + REAL, POSITIVE, POSITIVE),
    "uniform": (REAL, FINITE, FINITE), "flat": (REAL, [-INF, *FINITE[::3]], [*FINITE[::3], INF]),
    "bernoulli": ([False, True], SHARE), "bernoulli_logit": ([False, True], FINITE),
    "binom": (COUNTS, [0, 1, 5, 40, 1000, 1001, 700_000], SHARE),
    "binom_logit": (COUNTS, [0, 1, 5, 40, 1000, 1001, 700_000], FINITE), "geometric": (COUNTS, SHARE[1:]),
    "neg_binom": (COUNTS, POSITIVE, SHARE[1:]), "neg_binom_mean": (COUNTS, POSITIVE, POSITIVE),
    "poisson": (COUNTS, [0.0, *POSITIVE]), "poisson_log": (COUNTS, FINITE),
    "uniform_discrete": (COUNTS, [-5, 0, 2, 10**12], [-5, 0, 7, 10**12]),
}  # fmt: skip
FAMILIES = sorted(MADE, key=lambda family: family.__name__)
OF_ALL = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)


def rows_of(family):
    """The points of a grid whose parameters a family takes."""
    rows = []
    for row in itertools.product(*GRIDS[family.__name__]):
        try:
            family(*row[1:])
        except ParameterError:
            continue
        rows.append(row)
    return rows


def assert_elementwise(family, density):
    """Equal to `at`, at all points of a grid in one column, and in columns of points that are alike."""
    rows = rows_of(family)
    expected = np.array([family(*row[1:]).logpdf(row[0]) for row in rows])
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    # of log gamma, SciPy's and that of `math` differ in the last digit
    size = 3e-14 * max((abs(v) for row in rows for v in row[:2] if abs(v) < 1e7), default=1.0)
    np.testing.assert_allclose(density.elementwise(*columns), expected, rtol=1e-12, atol=size)
    for i in range(0, len(rows), 97):
        x, *parameters = rows[i]
        alike = density.elementwise(np.full(3, x), *parameters)
        np.testing.assert_allclose(alike, expected[i], rtol=1e-12, atol=size)


@OF_ALL
def test_columns_are_at(family):
    assert_elementwise(family, density_of(family))


def test_a_mistake_in_a_branch_is_found(monkeypatch):
    family = next(f for f in FAMILIES if f.__name__ == "beta")
    monkeypatch.setattr(writing, "branch", lambda condition, then, other: then())
    with pytest.raises(AssertionError):
        assert_elementwise(family, Density(family))


@OF_ALL
def test_scores_that_are_finite_are_right_and_their_parameters_valid(family):
    """Whatever the parameters are: the constructor is not asked."""
    grid = GRIDS[family.__name__]
    wrong = [-1.5, 0.0, 2.5, NAN, INF]
    for parameters in itertools.product(*([*values[::4], *wrong] for values in grid[1:])):
        for x in grid[0][::2]:
            column = np.full(2, x, np.dtype(family.number))
            for given in (parameters, [np.full(2, float(p)) for p in parameters]):
                with np.errstate(all="ignore"):
                    try:
                        found = scores(family, column, tuple(given))[0]
                    except (ArithmeticError, ValueError):
                        continue
                if math.isfinite(found):
                    expected = family(*parameters).logpdf(column[0].item())
                    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), (x, parameters)


SCIPY = {
    "normal": (stats.norm(0.3, 1.7), (0.3, 1.7)), "laplace": (stats.laplace(0.3, 1.7), (0.3, 1.7)),
    "cauchy": (stats.cauchy(-0.4, 0.6), (-0.4, 0.6)), "student_t": (stats.t(3.5, 0.2, 1.3), (3.5, 0.2, 1.3)),
    "von_mises": (stats.vonmises(2.0, 0.0), (0.0, 2.0)), "exponential": (stats.expon(0, 1 / 1.4), (1.4,)),
    "gamma": (stats.gamma(2.3, 0, 0.7), (2.3, 0.7)), "inv_gamma": (stats.invgamma(2.3, 0, 0.7), (2.3, 0.7)),
    "log_normal": (stats.lognorm(0.8, 0, math.exp(0.2)), (0.2, 0.8)),
    "half_normal": (stats.halfnorm(0, 1.4), (1.4,)), "half_cauchy": (stats.halfcauchy(0, 1.4), (1.4,)),
    "half_student_t": (None, (3.5, 1.4)), "beta": (stats.beta(1.6, 0.8), (1.6, 0.8)),
    "uniform": (stats.uniform(-0.5, 3.0), (-0.5, 2.5)), "bernoulli": (stats.bernoulli(0.3), (0.3,)),
    "bernoulli_logit": (stats.bernoulli(1 / (1 + math.exp(-0.7))), (0.7,)),
    "binom": (stats.binom(7, 0.35), (7, 0.35)),
    "binom_logit": (stats.binom(7, 1 / (1 + math.exp(0.4))), (7, -0.4)),
    "geometric": (stats.geom(0.4, -1), (0.4,)), "neg_binom": (stats.nbinom(1.7, 0.4), (1.7, 0.4)),
    "neg_binom_mean": (stats.nbinom(1.7, 1.7 / 4.2), (2.5, 1.7)), "poisson": (stats.poisson(2.5), (2.5,)),
    "poisson_log": (stats.poisson(math.exp(1.1)), (1.1,)),
    "uniform_discrete": (stats.randint(0, 8), (0, 7)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCIPY)
def test_columns_and_totals_are_scipys(name):
    family = next(f for f in FAMILIES if f.__name__ == name)
    reference, parameters = SCIPY[name]
    law = family(*parameters)
    x = np.array([law.sample(np.random.default_rng(seed)) for seed in range(40)])
    if reference is None:
        expected = stats.t(*parameters[:1], 0.0, parameters[1]).logpdf(x) + math.log(2.0)
    else:
        expected = (reference.logpmf if law.support.discrete else reference.logpdf)(x.astype(float))
    for given in (parameters, tuple(np.full(40, float(p)) for p in parameters)):
        np.testing.assert_allclose(score_columns(family, x, given), expected, rtol=1e-11, atol=1e-12)
        assert total_columns(family, x, given) == pytest.approx(expected.sum(), rel=1e-11)


def assert_derivatives(family, density):
    """Those of numbers against differences, and those of columns against those of numbers."""
    parameters = SCIPY[family.__name__][1]
    law = family(*parameters)
    names = [p for p in family.parameters if p not in ("n", "low", "high") or law.number is float]
    wanted = [i + 1 for i, p in enumerate(family.parameters) if p in names]
    wanted = [0, *wanted] if law.number is float else wanted
    xs = [law.sample(np.random.default_rng(seed)) for seed in range(6)]
    made = density.partials(tuple(wanted))
    for x in xs:
        value, *slopes = made(x, *parameters)
        assert value == pytest.approx(law.logpdf(x), rel=1e-12, abs=1e-14)
        for i, slope in zip(wanted, slopes, strict=True):
            step = 1e-4 * max(abs([x, *parameters][i]), 0.1)

            def along(by, i=i, x=x, step=step):
                point = [x, *parameters]
                point[i] += by * step
                return family(*point[1:]).logpdf(point[0])

            expected = (8.0 * (along(1) - along(-1)) - (along(2) - along(-2))) / (12.0 * step)
            assert slope == pytest.approx(expected, rel=1e-7, abs=1e-7), (x, i)
    columns = made(np.array(xs), *parameters), made(np.array(xs), *(np.full(6, p, float) for p in parameters))
    for found in columns:
        for column, entries in zip(found, zip(*(made(x, *parameters) for x in xs), strict=True), strict=True):
            np.testing.assert_allclose(np.broadcast_to(column, 6), entries, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", [name for name in SCIPY if name != "uniform_discrete"])
def test_derivatives(name):
    family = next(f for f in FAMILIES if f.__name__ == name)
    assert_derivatives(family, density_of(family))


def test_a_mistake_in_a_derivative_is_found(monkeypatch):
    family = next(f for f in FAMILIES if f.__name__ == "normal")
    wrong = lambda x, y: formulas.over(formulas.ONE, formulas.times(x, x))
    monkeypatch.setitem(formulas._SLOPES, "log", wrong)
    with pytest.raises(AssertionError):
        assert_derivatives(family, Density(family))


def test_a_flat_density_has_no_slope():
    flat = next(f for f in FAMILIES if f.__name__ == "flat")
    for low, high in ((-INF, INF), (0.0, INF), (-1.0, 2.0)):
        assert partials(flat, (1.0, low, high), (0, 1, 2)) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("logit", [-800.0, 800.0])
def test_links_have_slopes_where_probabilities_are_0_or_1(logit):
    """d log p / d logit is x - n p, and p is 0 or 1 to the last digit."""
    p = float(logit > 0)
    for name, n, first in (("bernoulli_logit", 1, ()), ("binom_logit", 5, (5,))):
        family = next(f for f in FAMILIES if f.__name__ == name)
        for x in range(n + 1):
            value = bool(x) if n == 1 else x
            score, slope = partials(family, (value, *first, logit), (1 + len(first),))
            assert score == pytest.approx(family(*first, logit).logpdf(value), rel=1e-13)
            assert slope == x - n * p
    family = next(f for f in FAMILIES if f.__name__ == "poisson_log")
    assert partials(family, (3, -800.0), (1,))[1] == 3.0


def test_what_is_no_formula_is_refused():
    def looping(x):
        total = 0.0
        for _ in range(3):
            total = total + x
        return total

    with pytest.raises(UnreadableError, match="looping"):
        formula_of(looping, [formulas.variable("x")])


def test_threads_make_the_same_nodes(monkeypatch):
    """Equal nodes are one object, whichever thread came first: here each waits for the other in between."""
    both, made = threading.Barrier(2, timeout=30), formulas.Node

    def waiting(*args):
        both.wait()
        return made(*args)

    monkeypatch.setattr(formulas, "Node", waiting)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(formulas.variable, ["of_two_threads"] * 2)
    assert first is second


def checked_by_the_user(family, name, value):
    return float(value)


class centred(families.normal):
    """A family that is derived from one of gendsl's, with a constructor of its own."""

    def __init__(self, mean):
        self.mean, self.sd = checked_by_the_user("centred", "mean", mean), 2.0


def test_a_family_that_is_derived_has_a_constructor_of_its_own():
    x = np.array([0.3, -1.2])
    np.testing.assert_allclose(centred(1.0).logpdf(x), stats.norm(1.0, 2.0).logpdf(x), rtol=1e-13)
    slope = autograd.elementwise_grad(centred(1.0).logpdf)(x)
    np.testing.assert_allclose(slope, (1.0 - x) / 4.0, rtol=1e-13)


class rounded(families.normal):
    """A family whose log density is no formula."""

    def at(self, x):
        return super().at(round(x, 1))


def test_a_density_that_is_no_formula_says_what_to_do():
    assert rounded(0.0, 1.0).logpdf(0.52) == stats.norm.logpdf(0.5)
    with pytest.raises(UnreadableError, match=r"rounded.at: .* define elementwise"):
        rounded(0.0, 1.0).logpdf(np.array([0.52, 1.0]))
