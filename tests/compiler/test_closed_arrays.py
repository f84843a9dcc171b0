"""Closed programs as text: what is done with NumPy arrays."""

import math

import numpy as np
import pytest

from gendsl import categorical, factor, gen, normal
from tests.compiler.closed_outcomes import outcome, raises_everywhere

trapezoid = getattr(np, "trapezoid", None) or np.trapz


@gen
def picked(n):
    """An index beside an array of indices stays, and the array picks in what is left."""
    a = np.arange(24.0).reshape(2, 3, 4)
    i, j = np.array([0, 2, 1]), [1, -1]
    x = ~normal(0, 1)
    total = a[1, i].sum() + a[1, 2, j].sum() + a[:, 1, j].sum() + a[1, i, 1].sum() + a[n, :2, 1:][0, 0]
    b = a[0]
    b[i, 1] = x
    b[2, j] += 1.0
    b[i % 2, 0] += 1.0
    v = np.arange(3.0)
    v[i] = v[::-1]
    c = a[:, 2, j]
    y = ~normal(total + (b * np.arange(12.0).reshape(3, 4)).sum() + c[1, 0] + v[0] + 2 * v[2], 1)


@pytest.mark.parametrize("n", [0, 1])
def test_arrays_of_indices_beside_an_index(n):
    assert outcome(picked, (n,)) == "equal"


@gen
def picked_outside(n):
    a = ~normal(0, 1)
    b = np.zeros((2, 3))[n, np.array([0, 1])]


@gen
def of_the_wrong_shape(n):
    a = ~normal(0, 1)
    b = np.convolve(np.zeros(0), np.ones(n))


@gen
def average_of_no_weight(n):
    a = ~normal(0, 1)
    b = np.average([1.0, 2.0], weights=[0.0, 0.0])


@gen
def points_of_different_length(n):
    a = ~normal(0, 1)
    b = math.dist([1.0, 2.0], [0.0] * n)


@gen
def bits_of_floats(n):
    a = ~normal(0, 1)
    b = np.array([1.0, 2.0]) & 1


@pytest.mark.parametrize(
    "program",
    [picked_outside, of_the_wrong_shape, average_of_no_weight, points_of_different_length, bits_of_floats],
)
def test_where_numpy_raises_a_text_fails(program):
    raises_everywhere(program, (5,), {("a",): 0.0})


@gen
def functions(n):
    x = np.array([("x", i) @ ~normal(0, 1) for i in range(n)])
    k = np.array([3, 1, 1, 2, 0])[:n]
    m = np.arange(6.0).reshape(2, 3)
    ("y", 0) @ ~normal((np.roll(x, 2) * np.arange(n)).sum() + (np.flip(x) * np.arange(n)).sum(), 1)
    ("y", 1) @ ~normal(np.average(x) + np.average(x, weights=np.exp(x)) + np.median(x) + np.median(k), 1)
    ("y", 2) @ ~normal(trapezoid(x, np.arange(n) * 1.5) + trapezoid(x, dx=0.5) + trapezoid(x), 1)
    ("y", 3) @ ~normal((np.convolve(x, [1.0, 2.0]) * np.arange(n + 1)).sum() + np.take(m, [1, -1]).sum(), 1)
    ("y", 4) @ ~normal(np.std(x, ddof=1) + x.var(ddof=1) + np.count_nonzero(k) + len(np.unique(k)), 1)
    ("y", 5) @ ~normal(np.broadcast_to(x, (2, n)).sum() + np.broadcast_to(2.0, 3).sum() + np.unique(k)[-1], 1)
    ("y", 6) @ ~normal(np.nan_to_num(np.log(x)).sum() + np.nan_to_num(np.array([1.0, np.nan])).sum(), 1)
    s = np.stack([x, 2 * x], axis=1)
    t = np.stack([m, m + 1], axis=-1)
    ("y", 7) @ ~normal(s[1, 0] + s[0, 1] + t[1, 2, 1] + np.stack([x, x])[1, 0] + s.shape[0], 1)
    ("y", 8) @ ~normal(
        np.add.reduce(x) + np.maximum.reduce(x) + np.multiply.reduce(x) + np.minimum.reduce(x), 1
    )
    ("y", 9) @ ~normal(
        np.maximum.accumulate(x).sum() + np.add.accumulate(x).sum() + np.logaddexp.reduce(x), 1
    )
    ("y", 10) @ ~normal((np.subtract.outer(x, x) * np.arange(n)).sum() + np.add.outer(x, k)[0, -1], 1)
    ("y", 11) @ ~normal(math.dist(x, k) + math.dist((1.0, 2.0), [0.5, x[0]]) + math.dist([3.0], [3.0]), 1)
    ("y", 12) @ ~normal(np.polyval([1.0, 2.0, 3.0], x).sum() + np.polyval([1, 2.0], x[0]), 1)
    ("y", 13) @ ~normal(
        np.logical_and(k, x > 0).sum() + np.logical_or(k, 0).sum() + np.logical_not(x).sum(), 1
    )
    ("y", 14) @ ~normal(np.nonzero(k)[0].sum() + np.eye(2, dtype=int)[0, 0] + np.append(1, m).sum(), 1)
    ("y", 15) @ ~normal(np.logical_xor(k, x > 0).sum() + np.logical_and.reduce(k > 0), 1)
    centred = m - m.mean(axis=1, keepdims=True) + m.max(axis=0, keepdims=True) * m.sum(keepdims=True)
    ("y", 16) @ ~normal((centred * m).sum() + np.sum(x, keepdims=True)[0] + x.min(0, keepdims=False), 1)
    edge = k > 1
    inserted = np.insert(edge, 0, False) & np.insert(edge, n, True) | np.insert(edge, -1, True)
    ("y", 17) @ ~normal(inserted @ np.arange(n + 1.0) + np.insert(x, 1, 2)[1] + np.insert(k, 1, 7)[1], 1)
    upto = np.cumsum(m, axis=1) * np.arange(3.0) + np.cumprod(m + 1, axis=0) + (m > 2).cumsum(axis=-1)
    ("y", 19) @ ~normal(upto.sum() + m[0].cumsum(axis=0)[2] + np.cumsum(m)[3] + np.append(k, k[:1])[-1], 1)
    whole = np.arange(6).reshape(2, 3)
    above = (whole > 1).sum(axis=1)
    ("y", 20) @ ~normal(whole[above[0] - 1, whole.max(axis=0)[0] - 2] + m[whole.min(axis=1) // 3, 1].sum(), 1)
    every = [1.0, *(2 * z for z in x if z > 0), x[0], *(float(i) for i in range(n))]
    ("y", 18) @ ~normal(sum(every) + len(every) + len({0, *(i // 2 for i in range(n))}), 1)


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.filterwarnings("ignore")
def test_functions_of_numpy(n):
    assert outcome(functions, (n,)) == "equal"


def broken_off(sticks):
    shares = np.append(sticks, 1.0)
    return shares * np.append(1.0, np.cumprod(1.0 - shares[:-1]))


@gen
def sticks(n):
    z = ~categorical(broken_off(np.full(n, 0.3)))


def test_an_array_of_one_number_is_appended():
    assert outcome(sticks, (4,)) == "equal"


@gen
def sums_of_infinities(x):
    a = ~normal(0, 1)
    terms = np.where(x > 0, -np.inf, x + a)
    scores @ ~factor(terms.sum())
    counted @ ~normal((x > 0).sum() + np.arange(3).sum() + np.zeros(0).sum() + x.astype(int).sum(), 1)


scores, counted = "scores", "counted"


@pytest.mark.parametrize("x", [[1.0, 2.0], [-1.0, 2.0], [-1.0, -1.0]])
def test_a_sum_with_an_infinity_is_one(x):
    assert outcome(sums_of_infinities, (np.array(x),)) == "equal"


@gen
def of_arrays():
    a = ~normal(0, 1)
    first = np.array([a, 2.0, 3.0])
    second, third = np.asarray(first), np.array(first)
    second[0] = 5.0
    third[1] = 7.0
    ("y", 0) @ ~normal(first.sum(), 1)


def test_asarray_gives_the_array_itself_and_array_a_copy():
    assert outcome(of_arrays, ()) == "equal"
