"""Closed programs as text: the families that are read from texts of their own, and arithmetic on them."""

import itertools
import math

import numpy as np
import pytest

from gendsl import (
    Distribution,
    affine,
    bernoulli,
    binom,
    categorical,
    dirichlet,
    factor,
    flat,
    gamma,
    gen,
    iid,
    inv_wishart,
    lkj,
    mixture,
    mvnormal,
    normal,
    ordered,
    poisson,
    product,
    truncated_normal,
    uniform,
    uniform_discrete,
    von_mises,
    wishart,
)  # fmt: skip
from gendsl.compiler.hir.failures import FailedText, NotClosed
from gendsl.compiler.run.closed import ClosedDensity
from gendsl.supports import (
    Correlation,
    Covariance,
    Ordered,
    Positive,
    Real,
    RealVector,
    Repeated,
    Simplex,
    Support,
)  # fmt: skip
from tests.compiler.closed_outcomes import NATIVE, equal, outcome


@gen
def images(a, n):
    k = ~(1 + poisson(3))
    m = ~(n - binom(5, 0.3))
    s = ~(2 * normal(0, 1) + a)
    t = ~(-gamma(2, 1) / 4)
    u = ~(0.5 * (3 - 2 * (1 + poisson(abs(s)))))
    v = ~(True + bernoulli(0.3))
    w = ~affine(uniform_discrete(1, 6), scale=2)
    x = ~affine(von_mises(0, 2))
    y = [("y", i) @ ~(k * normal(0, 1) + m) for i in range(k)]
    return k, m, s, t, u, v, w, x, y


@gen
def images_of_arrays(n):
    x = ~(mvnormal(np.zeros(n), np.eye(n)) * 2 - np.ones(n))
    y = ~iid(3 - poisson(2), n)
    z = ~product(1 + normal(0, 1), gamma(2, 1) * 3)
    w = ~mixture([0.25, 0.75], [1 + poisson(2), 2 * poisson(3)])
    return x, y, z, w


@gen
def a_family_or_its_image(far):
    base = normal(0, 1) if far < 0 else gamma(2, 1) + far
    x = ~(base * 2)
    family = 1 + poisson(2) if x > 0 else poisson(2)
    y = ~family


@gen
def in_order(k):
    means = ~ordered(normal(0, 2), k)
    times = ~ordered(gamma(2, 1), 3)
    z = ~categorical([1 / k] * k)
    x = ~normal(means[z], 1)


@gen
def factors(n):
    x = [("x", i) @ ~normal(0, 1) for i in range(n)]
    ("smooth",) @ ~factor(-0.5 * sum((a - b) ** 2 for a, b in itertools.pairwise(x)))
    if x[0] > 0:
        "possible" @ ~factor(0)


@gen
def matrices(n):
    v = ~wishart(n + 1.5, np.eye(n) + 0.2)
    s = ~inv_wishart(n + 2, v)
    r = ~lkj(n, 1.5)
    x = ~mvnormal(np.zeros(n), s)
    y = ~mvnormal(np.zeros(n), r * 2.0)


@gen
def bounded(n):
    x = ~truncated_normal(0, 1, -1, math.inf)
    y = ~truncated_normal(x, 0.1, 5, 6)
    z = [("z", i) @ ~uniform(x, 10) for i in range(n)]


@gen
def vectors(n):
    x = ~iid(mvnormal(np.zeros(2), np.eye(2)), n)
    return x[0, 1]


@pytest.mark.parametrize("program, args", [
    (images, (0.5, 7)), (images, (-1, 2.5)), (images_of_arrays, (3,)), (a_family_or_its_image, (-1.0,)),
    (a_family_or_its_image, (2.0,)), (in_order, (3,)), (factors, (4,)), (matrices, (1,)), (matrices, (3,)),
    (bounded, (3,)), (vectors, (3,)),
])  # fmt: skip
def test_families_are_those_of_the_reference(program, args):
    assert [outcome(program, args, rng=seed) for seed in range(5)] == ["equal"] * 5


@gen
def improper(low):
    theta = ~flat()
    above = ~flat(low)
    x = ~normal(theta, 1)


@gen
def one_of_each():
    a = ~(3 * poisson(2) + 1)
    b = ~(0.1 * poisson(2) + 0.3)
    c = ~(2 * bernoulli(0.25))
    d = ~ordered(normal(0, 1), 2)
    e = ~lkj(2, 2.0)
    f = ~factor(1.5)


_STARTS = {
    ("a",): 7, ("b",): 0.1 * 3 + 0.3, ("c",): 2, ("d",): np.array([0.0, 1.0]),
    ("e",): np.array([[1.0, 0.5], [0.5, 1.0]]), ("f",): True,
}  # fmt: skip


@pytest.mark.parametrize("change", [
    {("a",): 8}, {("a",): -2}, {("a",): 1}, {("b",): 0.35}, {("b",): 0.2}, {("b",): 0.6 + 1e-14}, {("c",): 1},
    {("c",): 4}, {("d",): np.array([1.0, 0.0])}, {("d",): np.array([1.0, 1.0])},
    {("e",): np.array([[1.0, 0.5], [0.4, 1.0]])}, {("e",): np.array([[1.0, 1.5], [1.5, 1.0]])},
    {("e",): np.array([[1.0, 0.5], [0.5, 2.0]])}, {},
])  # fmt: skip
def test_values_at_the_edge_of_a_support(change):
    choices = {**_STARTS, **change}
    expected = one_of_each.reference.assess((), choices).log_prob
    closed = ClosedDensity(one_of_each, ())
    ways = [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]
    for way in ways:
        assert equal(way((), choices), expected)


def test_flat_densities():
    choices = {("theta",): 0.5, ("above",): 2.0, ("x",): 1.0}
    closed = ClosedDensity(improper, (1.0,))
    assert equal(closed.assess_python((1.0,), choices), improper.assess((1.0,), choices).log_prob)
    choices["above",] = 0.5
    assert closed.assess_python((1.0,), choices) == -math.inf


@gen
def scaled(a, d):
    x = ~(a * normal(0, 1))
    y = ~iid(poisson(1) + 1, d)
    z = ~wishart(d, np.eye(2))


@pytest.mark.parametrize("args", [(0.0, 3), (math.inf, 3), (1.0, -1), (1.0, 1)])
def test_parameters_out_of_their_domain_fail(args):
    closed = ClosedDensity(scaled, (1.0, 3))
    choices = {("x",): 0.5, ("y",): np.array([1, 2, 3]), ("z",): np.eye(2)}
    assert equal(closed.assess_python((1.0, 3), choices), scaled.assess((1.0, 3), choices).log_prob)
    with pytest.raises(FailedText):
        closed.assess_python(args, choices)


@gen
def scores_of_other_numbers(x):
    total = poisson(3).logpdf(x) + bernoulli(0.25).logpdf(2) + bernoulli(0.25).logpdf(1.0)
    y = ~normal(0, 1 if total > -20 else 2)


@pytest.mark.parametrize("x", [2.0, 2.5, -1.0])
def test_log_densities_of_numbers_of_another_kind(x):
    assert outcome(scores_of_other_numbers, (x,)) == "equal"


# --- families and supports of the user's -----------------------------------------------------------------


class Steps(Support):
    """Increasing numbers from 0 on."""

    shape = None

    def contains(self, value):
        return bool(np.all(np.diff(self.canonical(value), prepend=0.0) >= 0.0))

    def canonical(self, value):
        return np.asarray(value, dtype=float)


class of_support(Distribution):
    """A family of arrays: some starting value, of a density that says little."""

    parameters = ("within", "start")

    def __init__(self, within, start):
        self.within, self.start = within, start

    @property
    def support(self):
        return self.within

    def sample(self, rng):
        return np.array(self.start) + 0.0

    def logpdf(self, x):
        return -0.5 * float(np.sum(x**2))


class shifted(Distribution):
    parameters = ("by",)
    support = Positive()

    def __init__(self, by):
        self.by = by

    def sample(self, rng):
        return self.by + rng.exponential()

    def logpdf(self, x):
        return -(x - self.by)


@gen
def of_the_users(by):
    a = ~of_support(Repeated(Positive(), 3), [1.0, 2.0, 3.0])
    b = ~of_support(RealVector(2), [1.0, 2.0])
    c = ~of_support(Simplex(2), [0.25, 0.75])
    d = ~of_support(Ordered(Real(), 2), [1.0, 2.0])
    e = ~of_support(Covariance(2), [[1.0, 0.5], [0.5, 1.0]])
    f = ~of_support(Steps(), [1.0, 2.0])
    g = ~shifted(by)
    h = ~of_support(Correlation(2), [[1.0, 0.5], [0.5, 1.0]])


def test_families_of_the_users_of_arrays():
    assert outcome(of_the_users, (1.0,)) == "equal"


@pytest.mark.parametrize("change", [
    ("a", [1.0, -2.0, 3.0]), ("a", [1.0, math.inf, 3.0]), ("b", [1.0, math.inf]), ("c", [0.25, 0.25]),
    ("c", [1.5, -0.5]), ("d", [2.0, 1.0]), ("e", [[1.0, 2.0], [2.0, 1.0]]), ("e", [[1.0, 0.5], [0.4, 1.0]]),
    ("f", [-1.0, 2.0]), ("f", []), ("f", [3.0, 2.0]), ("g", -1.0), ("h", [[2.0, 0.5], [0.5, 1.0]]),
])  # fmt: skip
def test_outside_of_a_support_the_density_is_0(change):
    choices = dict(of_the_users.simulate((1.0,), rng=0).choices.items())
    name, value = change
    choices[name,] = value if isinstance(value, float) else np.array(value)
    closed = ClosedDensity(of_the_users, (1.0,))
    expected = of_the_users.reference.assess((1.0,), choices).log_prob
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        assert equal(way((1.0,), choices), expected)


@gen
def mixed_lattices():
    x = ~mixture([0.5, 0.5], [0.5 * poisson(1), normal(0, 1)])


def test_a_mixture_of_a_lattice_and_a_line_is_refused():
    with pytest.raises(NotClosed, match="discrete, and no integers"):
        ClosedDensity(mixed_lattices, ())


@gen
def product_of_a_family_of_vectors():
    x = ~product(dirichlet, [1.0, 2.0])


@gen
def image_of_a_number():
    x = ~affine(3, 1.0, 2.0)


@gen
def mixture_with_a_number():
    x = ~mixture([0.5, 0.5], [normal(0, 1), 3])


@gen
def product_with_a_number():
    x = ~product(normal(0, 1), 4)


@pytest.mark.parametrize("program", [
    product_of_a_family_of_vectors, image_of_a_number, mixture_with_a_number, product_with_a_number,
])  # fmt: skip
def test_what_is_made_of_no_distribution_is_refused(program):
    """And so run by the interpreter, whose error says what is wrong with it."""
    with pytest.raises(NotClosed, match="where a distribution is needed"):
        ClosedDensity(program, ())


@gen
def products_by_keyword(rows):
    b = ~product(normal, mean=np.zeros(2), sd=1.0)
    z = ~product(bernoulli, logit=rows @ b)
    n = ~product(binom, 5, logit=rows @ b)
    v = ~product(normal, rows @ b, sd=2.0)
    y = ~normal(z.sum() + n.sum() + v.sum(), 1)


@gen
def products_of_other_parameters(rows):
    b = ~product(normal, mean=np.zeros(2), width=1.0)


def test_products_with_parameters_by_keyword():
    rows = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]])
    assert outcome(products_by_keyword, (rows,)) == "equal"
    assert str(outcome(products_of_other_parameters, (rows,))).startswith("raised: product: normal ")


@gen
def of_any_length(family, k):
    if family == "iid":
        x = ~iid(normal(0, 1), k)
    elif family == "product":
        x = ~product([normal(0, 1)] * k)
    elif family == "ordered":
        x = ~ordered(normal(0, 1), k)
    elif family == "wishart":
        x = ~wishart(k + 2.0, np.eye(k))
    elif family == "inv_wishart":
        x = ~inv_wishart(k + 2.0, np.eye(k))
    else:
        x = ~lkj(k, 2.0)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("family", ["iid", "product", "ordered", "wishart", "inv_wishart", "lkj"])
def test_what_has_another_length_has_a_density_of_zero(family, k):
    """Also where a kernel changes the length, and the value is what it was."""
    x = np.array([0.1, 0.2]) if family in ("iid", "product", "ordered") else np.eye(2)
    closed = ClosedDensity(of_any_length, (family, k))
    expected, _ = of_any_length.reference.assess((family, k), {"x": x})
    assert np.isfinite(expected) == (k == 2)
    for way in [closed.assess_python, closed.assess_native] if NATIVE else [closed.assess_python]:
        assert way((family, k), {"x": x}) == pytest.approx(expected, rel=1e-12)
