"""When two values are the same, within a tolerance."""

import datetime
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gendsl.choices import same_value

laws = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
shapes = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=2)
leaves = st.one_of(
    st.sampled_from([0, 1, 1.0, 1.0 + 1e-9, True, 1j, float("nan"), float("inf"), 10**400]),
    st.sampled_from([None, "", "a", b"a"]),
    st.floats(),
    hnp.arrays(np.float64, shapes, elements=st.sampled_from([0.0, 1.0, 1.0 + 1e-9, np.nan, np.inf])),
    hnp.arrays(np.int64, shapes, elements=st.integers(0, 1)),
    hnp.arrays(object, shapes, elements=st.sampled_from([0, 1.0, None, "a", (1.0,)])),
    hnp.arrays(np.dtype("U1"), shapes),
)
values = st.recursive(leaves, lambda v: st.lists(v, max_size=2) | st.tuples(v, v), max_leaves=4)

NAN, INF = float("nan"), float("inf")


class Crashing:
    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None


class Ambiguous:
    def __eq__(self, other):
        return np.array([True, False])

    __hash__ = None


@laws
@given(values, values, st.sampled_from([0.0, 1e-8, 0.5]), st.sampled_from([0.0, 1e-3]))
def test_reflexive_and_symmetric(a, b, rtol, atol):
    assert same_value(a, a, rtol, atol)
    assert same_value(a, b, rtol, atol) == same_value(b, a, rtol, atol)
    assert same_value([a], [b], rtol, atol) == same_value(a, b, rtol, atol)
    if same_value(a, b):
        assert same_value(a, b, rtol, atol)


@laws
@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.sampled_from([0.0, 1e-8, 0.5]))
def test_scalars_and_arrays_agree(a, b, rtol):
    scalar = same_value(a, b, rtol)
    assert scalar == (abs(a - b) <= rtol * max(abs(a), abs(b)))
    assert scalar == same_value(np.array([a, 1.0]), np.array([b, 1.0]), rtol)
    assert scalar == same_value(np.float64(a), b, rtol)
    assert scalar == same_value(np.array(a), b, rtol)
    assert scalar == same_value(np.array([a], dtype=object), [b], rtol)


SAME = [
    (1, 1.0),
    (1, True),
    (np.int64(3), 3),
    (np.float64(0.5), 0.5),
    (NAN, float("nan")),
    (NAN, np.float64("nan")),
    (INF, INF),
    (-INF, -INF),
    (complex(NAN, 0), complex(NAN, 0)),
    (10**400, 10**400),
    ("a", np.str_("a")),
    (None, None),
    (np.array(2.0), 2),
    (np.array([1.0, NAN, INF]), np.array([1.0, NAN, INF])),
    (np.array([1, 2]), np.array([1.0, 2.0])),
    (np.array([1, 2]), [1, 2]),
    ((1, 2), [1, 2]),
    ([], np.array([])),
    (np.array(["a", "b"]), np.array(["a", "b"])),
    (np.array([None, "x", 1.0], dtype=object), [None, "x", 1.0]),
    (((1.0, "s"), [None, np.array([2.0])]), ((1.0, "s"), [None, np.array([2.0])])),
    ({"a": np.array([1.0])}, {"a": np.array([1.0])}),
    (frozenset({1}), frozenset({1})),
    (Fraction(1, 3), Fraction(1, 3)),
    (datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)),
    (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), np.array(["2020-01-01", "NaT"], dtype="M8[D]")),
    (np.array([(1, 2.0)], dtype="i4,f8"), np.array([(1, 2.0)], dtype="i4,f8")),
]

DIFFERENT = [
    (1, 2),
    (1, 1.5),
    (NAN, 0.0),
    (NAN, INF),
    (INF, -INF),
    (INF, 1.0),
    (complex(0, INF), 1j),
    (10**400, 1.0),
    (10**400, INF),
    (1.7e308, -1.7e308),
    (np.float64(1.7e308), np.float64(-1.7e308)),
    ("a", "b"),
    ("1", 1),
    (None, 0),
    (None, ""),
    (None, NAN),
    ((), None),
    ("ab", ["a", "b"]),
    (b"a", "a"),
    (np.array([1.0]), 1.0),
    (np.array([1.0]), None),
    (np.array([1.0]), "s"),
    (np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])),
    (np.zeros((2, 3)), np.zeros((3, 2))),
    (np.zeros((0, 2)), np.zeros((0, 3))),
    (np.zeros((1, 2)), np.zeros(2)),
    (np.array([1, 2]), np.array([1, 3])),
    (np.array([INF, 1.0]), np.array([1.0, 1.0])),
    (np.array([1.7e308, 0]), np.array([-1.7e308, 0])),
    (np.array([1.0, NAN]), np.array([1.0, 0.0])),
    (np.array(["a"]), np.array([1.0])),
    (np.array([None], dtype=object), np.array([0.0])),
    (((1.0, 2.0), 3), ((1.0, 2.5), 3)),
    ((1.0, (2.0,)), (1.0, 2.0)),
    ({"a": 1}, {"b": 1}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1}, [1]),
    (Crashing(), Crashing()),
    (Crashing(), 1.0),
    (Ambiguous(), Ambiguous()),
    (np.array([1, 2]), Ambiguous()),
]


@pytest.mark.parametrize(("a", "b"), SAME)
def test_same(a, b):
    assert same_value(a, b)
    assert same_value(b, a)
    assert same_value(a, b, 1e-8, 1e-8)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_different(a, b):
    assert not same_value(a, b)
    assert not same_value(b, a)
    assert not same_value(a, b, 1e-8, 1e-8)
    assert not same_value(b, a, 1e-8, 1e-8)


CLOSE = [
    (1.0, 1.0 + 5e-9),
    (1, 1.0 + 5e-9),
    (np.float32(1.0), 1.0 + 5e-9),
    (1e200, 1e200 * (1 + 5e-9)),
    (1j, 1j * (1 + 5e-9)),
    (np.array([1.0, NAN, INF]), np.array([1.0 + 5e-9, NAN, INF])),
    (np.array([1, 2]), np.array([1.0 + 5e-9, 2.0])),
    (np.array([True]), np.array([1.0 + 5e-9])),
    (((1.0, "s"), [2.0]), ((1.0 + 5e-9, "s"), [2.0])),
    (np.array([1.0, None], dtype=object), np.array([1.0 + 5e-9, None], dtype=object)),
    ({"a": 1.0}, {"a": 1.0 + 5e-9}),
]


@pytest.mark.parametrize(("a", "b"), CLOSE)
def test_close(a, b):
    assert not same_value(a, b)
    assert same_value(a, b, 1e-8)
    assert same_value(b, a, 1e-8)
    assert not same_value(a, b, 1e-9)


def test_integers_and_strings_have_no_tolerance():
    assert not same_value(10, 11, 0.5, 5.0)
    assert not same_value(np.array([10]), np.array([11]), 0.5, 5.0)
    assert not same_value(False, True, 5.0, 5.0)
    assert not same_value("a", "b", 5.0, 5.0)


def test_zero_needs_an_absolute_tolerance():
    assert not same_value(0.0, 1e-300, 1e-8)
    assert same_value(0.0, 1e-300, 0.0, 1e-299)
    assert same_value(np.zeros(2), np.full(2, 1e-300), 0.0, 1e-299)
    assert same_value(0.0, -0.0)


def test_named_tuples_and_array_subclasses():
    point = namedtuple("point", "x y")
    assert same_value(point(1.0, "s"), point(1.0 + 5e-9, "s"), 1e-8)
    masked = np.ma.array([1.0, 2.0], mask=[False, False])
    assert same_value(masked, np.array([1.0, 2.0]))
    assert same_value(np.array([1.0, 2.0]).view(np.recarray), np.array([1.0, 2.0]))
