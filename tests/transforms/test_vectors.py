"""Short vectors behave as the arrays that they stand for, whether or not arrays are made of them."""

import numpy as np
import pytest

from gendsl.supports import Real, RealArray, Simplex
from gendsl.transforms.arrays import DualArray, seed_array, short
from gendsl.transforms.forward import Dual, dual
from gendsl.transforms.vectors import SHORT, entries, numbers, seed_entries

VALUE = np.array([0.2, 0.3, 0.5])
WEIGHTS = Simplex(3)


def both(support=WEIGHTS, start=2):
    """The same vector as a list of its entries and as arrays."""
    return short(seed_entries(VALUE, start, support)), seed_array(VALUE, start, support.embedding)


def same(a, b):
    if isinstance(b, DualArray):
        n = max(a.tangent.shape[-1], b.tangent.shape[-1])
        wide = [np.pad(x.tangent, [(0, 0), (0, n - x.tangent.shape[-1])]) for x in (a, b)]
        return np.array_equal(a.value, b.value) and np.array_equal(*wide)
    if isinstance(b, Dual):
        kept = [{i: d for i, d in x.tangent.items() if d} for x in (a, b)]
        return a.value == b.value and kept[0] == kept[1]
    return a == b


def assign_through_a_slice(w):
    first = w[:2]
    first[0] = w[2] * 2.0
    return w


def assign_after_slicing(w):
    first = w[:2]
    w[1] = 7.0
    return first


def assign_to_a_copy(w):
    other = w.copy()
    other[0] = 7.0
    return w


def slice_of_a_slice(w):
    inner = w[1:][:1]
    w[1] = w[0] * w[2]
    return inner


@pytest.mark.parametrize("support", [Simplex(3), RealArray(3)], ids=repr)
@pytest.mark.parametrize(
    "function",
    [
        lambda w: w[0],
        lambda w: w[-1],
        lambda w: w[np.int64(1)],
        lambda w: w[:2],
        lambda w: w[::-1],
        lambda w: w[1:][0],
        lambda w: w[[0, 2]],
        lambda w: w[3:],
        lambda w: len(w) + len(w[1:]),
        lambda w: (w.shape, w.ndim, w.size),
        lambda w: list(w)[2] * w[0],
        lambda w: w * 2.0 + w[::-1],
        lambda w: w.sum(),
        lambda w: [*w[:1], w[1]][1] + w[2],
        lambda w: w / w.sum(),
        assign_through_a_slice,
        assign_after_slicing,
        assign_to_a_copy,
        slice_of_a_slice,
    ],
)
def test_a_short_vector_is_the_array(function, support):
    listed, dense = both(support)
    assert same(function(listed), function(dense))


def test_an_index_out_of_range_is_numpys_error():
    for vector in both():
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
            vector[3]


def test_only_short_vectors_are_listed():
    assert seed_entries(np.zeros(SHORT + 1), 1, RealArray(SHORT + 1)) is None
    assert seed_entries(np.zeros((2, 2)), 1, RealArray((2, 2))) is None
    assert seed_entries(np.zeros(0), 1, RealArray(0)) is None
    assert seed_entries(1.0, 1, Real()) is None


def test_seeds_are_kept_by_shape_and_start():
    for start in (1, 5):
        for support in (Simplex(2), RealArray(2), Simplex(2)):
            seeded = seed_entries(VALUE[:2], start, support)
            last = {start: -1.0} if support == Simplex(2) else {start + 1: 1.0}
            assert [x.tangent for x in seeded] == [{start: 1.0}, last]


def test_the_values_of_a_list():
    x = dual(2.0, {1: 1.0})
    assert numbers([x, 3, 0.5]) == [2.0, 3, 0.5]
    assert numbers([1.0, 2]) is None  # no derivatives: an ordinary value
    assert numbers([x, np.float64(1.0)]) is None and numbers([x, [x]]) is None
    listed, dense = both()
    assert entries(x) == [x] and len(entries(listed)) == len(entries(dense)) == 3
    assert entries(1.0) is None and entries([x] * (SHORT + 1)) is None
