"""Supports: membership, free coordinates, charts and their determinants, enumeration, equality."""

from __future__ import annotations

import math
import pickle

import autograd
import autograd.numpy as anp
import numpy as np
import pytest

from gendsl.errors import ParameterError
from gendsl.supports import (
    Boolean,
    Circle,
    Correlation,
    Counts,
    Covariance,
    DiscreteProduct,
    FiniteSet,
    Integers,
    Interval,
    Lattice,
    Ordered,
    Positive,
    Real,
    RealArray,
    RealVector,
    Repeated,
    Simplex,
    Stacked,
    Support,
)
from tests.distributions.checks import assert_chart

INF, NAN = math.inf, math.nan

CONTINUOUS = [
    Real(),
    Positive(),
    Interval(0.0, 1.0),
    Interval(-3, 40.0),
    Interval(2.0, INF),
    Interval(-INF, 2.0),
    Interval(-INF, INF),
    Circle(),
    RealVector(3),
    RealArray((2, 3)),
    RealArray(()),
    Simplex(1),
    Simplex(2),
    Simplex(5),
    Covariance(1),
    Covariance(3),
    Correlation(1),
    Correlation(2),
    Correlation(4),
    Repeated(Positive(), 3),
    Repeated(Simplex(3), 2),
    Repeated(Covariance(2), 2),
    Repeated(Repeated(Interval(0.0, 2.0), 2), 3),
    Repeated(Real(), 0),
    Stacked((Real(), Positive(), Interval(0.0, 2.0))),
    Ordered(Real(), 4),
    Ordered(Positive(), 3),
    Ordered(Interval(-1.0, 2.0), 3),
    Ordered(Interval(-INF, 2.0), 2),
    Ordered(Real(), 1),
    Ordered(Real(), 0),
]

DISCRETE = [
    (Boolean(), (False, True)),
    (Integers(-1, 2), (-1, 0, 1, 2)),
    (Integers(0), None),
    (Integers(0, 10**7), None),
    (Lattice(0.5, 0.25, 0, 2), (0.5, 0.75, 1.0)),
    (Lattice(1, 2, -1, 1), (-1, 1, 3)),
    (Lattice(0.0, 1.0), None),
    (FiniteSet(("a", 3, None)), ("a", 3, None)),
    (FiniteSet((2, "a", True, 2.0, 1, "a")), (2, "a", True)),
    (Counts(2, 2), ([0, 2], [1, 1], [2, 0])),
    (Counts(3, 1), ([3],)),
    (Counts(1000, 10), None),
    (DiscreteProduct((Boolean(), Integers(5, 6))), ([0, 5], [0, 6], [1, 5], [1, 6])),
    (DiscreteProduct((Boolean(), Integers(5))), None),
    (Repeated(Boolean(), 2), ([False, False], [False, True], [True, False], [True, True])),
    (Repeated(Integers(0, 9), 50), None),
]

# support, values inside, values outside
MEMBERS = [
    (Real(), [0, -1.5, np.float32(2.0), np.array(1.0), True, 10**20],
     [NAN, INF, -INF, "a", None, 1j, [1.0], 10**400]),
    (Positive(), [5e-324, 1e308], [0.0, -1.0, INF, NAN]),
    (Interval(0.0, 1.0), [0.0, 0.5, 1], [-5e-324, 1.0000000001, NAN]),
    (Interval(-INF, 1.0), [-1e308, 1.0], [-INF, 1.1]),
    (Interval(1.0, INF), [1.0, 1e308], [INF, 0.9]),
    (Circle(), [-math.pi, 0.0, math.pi], [3.15, -3.15]),
    (RealVector(2), [[0.0, 1], np.array([1, 2])],
     [[0.0], [0.0, NAN], [[0.0, 1.0]], 1.0, ["a", "b"], [[1.0], 2.0]]),
    (RealArray((1, 2)), [[[0.0, 1.0]]], [[0.0, 1.0]]),
    (Simplex(3), [[0.2, 0.3, 0.5], [0.0, 0.0, 1.0], [0.2, 0.3, 0.5 + 1e-9]],
     [[0.2, 0.3, 0.6], [-0.1, 0.6, 0.5], [0.5, 0.5], [NAN, 0.5, 0.5]]),
    (Covariance(2), [[[2.0, 0.5], [0.5, 1.0]], 1e-200 * np.eye(2)],
     [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.1], [0.2, 1.0]], [[1.0, NAN], [NAN, 1.0]], 0.0 * np.eye(2)]),
    (Correlation(2), [[[1.0, 0.9], [0.9, 1.0]]],
     [[[2.0, 0.0], [0.0, 1.0]], [[1.0, 1.1], [1.1, 1.0]], np.eye(3)]),
    (Repeated(Positive(), 2), [[1.0, 2.0]], [[1.0, -2.0], [1.0], [1.0, "a"]]),
    (Repeated(Simplex(2), 2), [[[0.5, 0.5], [1.0, 0.0]]], [[[0.5, 0.5], [1.0, 1.0]]]),
    (Repeated(Boolean(), 2), [[True, False]], [[True, 2], [True]]),
    (Stacked((Real(), Positive())), [[-1.0, 1.0]], [[1.0, -1.0], [1.0]]),
    (Ordered(Positive(), 3), [[1.0, 2.0, 3.0], [1, 1, 2]],
     [[1.0, 3.0, 2.0], [-1.0, 2.0, 3.0], [1.0, 2.0], [1.0, NAN, 2.0], 1.0]),
    (Boolean(), [True, False, np.True_, 0, 1.0], [2, -1, 0.5, "True", None, NAN]),
    (Integers(0, 5), [0, 5, 3.0, np.int8(2)], [-1, 6, 2.5, NAN, INF, "2"]),
    (Integers(), [-(10**15), 0], [0.5, INF, -INF, NAN]),
    (Lattice(0.1, 0.1, 0, 5), [0.1, 0.3, 0.1 + 2 * 0.1, 0.6], [0.0, 0.7, 0.15, NAN, INF]),
    (Lattice(1, 1, 0, INF), [1, 7, 1e9], [0, 1.5, INF]),
    (Lattice(0.0, -2.0, 0, INF), [0, -2, -40], [2, -3]),
    (FiniteSet(("a", 3, (1, 2))), ["a", 3, 3.0, (1, 2)], ["b", 4, None]),
    (FiniteSet((("node", (1, "leaf")), ("leaf",))),
     [("node", (1, "leaf")), ("leaf",)], [("node", (1,)), "leaf"]),
    (Counts(3, 2), [[1, 2], np.array([3, 0]), [3.0, 0.0]], [[1, 1], [-1, 4], [1.5, 1.5], [3], 3]),
    (DiscreteProduct((Boolean(), Integers(5, 6))), [[1, 5]], [[1, 4], [2, 5], [5]]),
]  # fmt: skip


@pytest.mark.parametrize("support", CONTINUOUS, ids=repr)
def test_charts_and_coordinates(support):
    assert_chart(support)
    assert support.discrete is False and support.values is None
    assert support.embedding.shape == (math.prod(support.shape), support.dim)


@pytest.mark.parametrize("support", CONTINUOUS, ids=repr)
def test_chart_points_far_out_give_no_warning_and_no_nan(support):
    for size in (-2000.0, 2000.0):
        u = np.full(support.dim, size)
        assert not np.isnan(support.log_abs_det(u))
        if not isinstance(support, (Covariance, Repeated)):
            assert not np.isnan(support.constrain(u)).any()


@pytest.mark.parametrize("support, dim", [(Simplex(4), 3), (Covariance(3), 6), (Correlation(3), 3)], ids=repr)
def test_free_coordinates_rebuild_the_whole_value(support, dim):
    value = support.constrain(np.linspace(-0.5, 0.5, dim))
    assert support.dim == dim
    moved = support.coordinates(value) + 1e-3
    rebuilt = support.from_coordinates(moved)
    assert support.contains(rebuilt)
    assert np.allclose(np.ravel(rebuilt - value), support.embedding @ np.full(dim, 1e-3))


def test_scalar_values_are_floats():
    for support in (Real(), Positive(), Interval(0, 1), Circle()):
        assert type(support.constrain(np.array([0.3]))) is float
        assert type(support.from_coordinates(np.array([0.3]))) is float
    # and autograd's where it traces
    slope = autograd.grad(lambda u: anp.sin(Positive().constrain(anp.array([u]))))(0.5)
    assert slope == pytest.approx(math.cos(math.exp(0.5)) * math.exp(0.5))


def test_interval_chart_keeps_digits_at_both_ends():
    support = Interval(0.0, 1.0)
    assert support.constrain(np.array([-600.0])) == pytest.approx(math.exp(-600.0), rel=1e-12)
    support = Interval(-1.0, 0.0)
    assert support.constrain(np.array([600.0])) == pytest.approx(-math.exp(-600.0), rel=1e-12)
    assert support.unconstrain(-math.exp(-600.0))[0] == pytest.approx(600.0, rel=1e-12)


@pytest.mark.parametrize("support, inside, outside", MEMBERS, ids=lambda p: repr(p)[:50])
def test_membership(support, inside, outside):
    for value in inside:
        assert support.contains(value) is True, value
    for value in outside:
        assert support.contains(value) is False, value


def test_membership_of_a_traced_value():
    seen = []

    def f(x):
        seen.append(Positive().contains(x))
        return x * 1.0

    autograd.grad(f)(2.0)
    assert seen == [True]


def test_a_set_holds_what_can_not_be_hashed_once():
    assert FiniteSet(([1, 2], 3, (1, 2), 3)).values == ([1, 2], 3)


@pytest.mark.parametrize("support, values", DISCRETE, ids=lambda p: repr(p)[:60])
def test_discrete_supports(support, values):
    assert support.discrete is True and support.dim == 0
    assert support.coordinates(0).shape == (0,)
    assert support.free_entries.shape == (0,)
    if values is None:
        assert support.values is None
    else:
        assert [np.array(v).tolist() for v in support.values] == [np.array(v).tolist() for v in values]
        assert all(support.contains(value) for value in support.values)
    for method, argument in [("constrain", np.zeros(0)), ("unconstrain", 0), ("log_abs_det", np.zeros(0))]:
        with pytest.raises(TypeError, match="is discrete and has no chart"):
            getattr(support, method)(argument)
    with pytest.raises(TypeError, match="is discrete and has no coordinates"):
        support.from_coordinates(np.zeros(0))


def test_lattice_index():
    lattice = Lattice(0.1, 0.3, 0, 10)
    assert np.array_equal(
        lattice.index(np.array([0.1, 0.7, 0.8, 3.4, INF])), [0, 2, NAN, NAN, NAN], equal_nan=True
    )
    assert all(type(value) is int for value in Lattice(1, 2, 0, 3).values)


EVERY = [*CONTINUOUS, *(support for support, _ in DISCRETE)]


@pytest.mark.parametrize("support", EVERY, ids=repr)
def test_supports_are_values(support):
    again = pickle.loads(pickle.dumps(support))
    assert again == support and hash(again) == hash(support)
    assert eval(repr(support).replace("inf", "INF")) == support
    assert sum(support == other for other in EVERY) == 1


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Interval(1.0, 1.0), "Interval: high must be greater than low, got low=1.0, high=1.0"),
        (lambda: Interval(NAN, 1.0), "Interval: high must be greater than low, got low=nan, high=1.0"),
        (lambda: Simplex(0), "Simplex: k must be an integer, at least 1, got 0"),
        (lambda: Covariance(1.5), "Covariance: d must be an integer, at least 1, got 1.5"),
        (lambda: Correlation(0), "Correlation: d must be an integer, at least 1, got 0"),
        (lambda: RealArray((2, -1)), "RealArray: a length must be an integer, at least 0, got -1"),
        (lambda: Repeated(Real(), -1), "Repeated: n must be an integer, at least 0, got -1"),
        (lambda: Repeated(FiniteSet(("a",)), 2), "Repeated: the values of FiniteSet"),
        (lambda: Ordered(Boolean(), 2), "Ordered: needs an interval of real numbers, got Boolean()"),
        (lambda: Ordered(Real(), -1), "Ordered: k must be an integer, at least 0, got -1"),
        (lambda: Stacked((Boolean(),)), "Stacked: needs continuous scalar supports, got Boolean()"),
        (lambda: Stacked((Simplex(2),)), "Stacked: needs continuous scalar supports, got Simplex(k=2)"),
        (lambda: DiscreteProduct((Real(),)), "DiscreteProduct: needs discrete scalar supports, got Real()"),
        (lambda: Integers(0.5, 2), "Integers: low must be an integer or infinite, got 0.5"),
        (lambda: Integers(0, NAN), "Integers: high must be an integer or infinite, got nan"),
        (lambda: Integers(3, 2), "Integers: none from low=3 to high=2"),
        (lambda: Lattice(0.0, 0.0), "Lattice: offset must be finite and step finite and not 0"),
        (lambda: Counts(-1, 2), "Counts: n must be an integer, at least 0, got -1"),
        (lambda: Counts(1, 0), "Counts: k must be an integer, at least 1, got 0"),
    ],
)
def test_invalid_supports(make, message):
    with pytest.raises(ParameterError) as raised:
        make()
    assert raised.value.problem.startswith(message)


def test_a_users_support():
    class Squares(Support):
        discrete = True

        def contains(self, value):
            return value >= 0 and math.isqrt(value) ** 2 == value

    class Line(Support):
        def contains(self, value):
            return True

    assert Squares().dim == 0 and Squares().coordinates(4).shape == (0,)
    line = Line()
    assert line.dim == 1 and line.coordinates(2.0) == [2.0] and line.from_coordinates(np.array([2.0])) == 2.0
    assert np.array_equal(line.embedding, [[1.0]])
    for method in ("constrain", "unconstrain", "log_abs_det"):
        with pytest.raises(TypeError, match=f"Line must define {method}"):
            getattr(line, method)(np.zeros(1))
    with pytest.raises(TypeError, match="Support must define contains"):
        Support().contains(1.0)
