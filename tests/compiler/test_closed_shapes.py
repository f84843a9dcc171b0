"""Closed programs as text: entries in another shape or order, and what is special of some entries."""

import math

import numpy as np
import pytest

from gendsl import gen, normal
from tests.compiler.closed_outcomes import outcome

A, V = np.arange(12.0).reshape(3, 4), np.array([0.5, -1.0, 2.5, 4.0])


def told(arrays):
    """A number that tells the entries of arrays, and their order."""
    total = 0.0
    for one in arrays:
        total = 0.7 * total + float(np.sum(np.cos(np.arange(one.size) + 1.0) * one.flatten()))
    return total


@gen
def in_one_line(a, v):
    x = ~normal(0, 1)
    found = [
        a.T.ravel(), a.T.reshape(-1), v[::-1].ravel(), a[:, ::2].ravel(), a[::2].reshape(-1),
        a[:, :1].ravel(), a[:1].T.ravel(), np.ravel(a[1:2, ::2]), a[:0].T.ravel(), (a * x).ravel(),
    ]  # fmt: skip
    others = [
        v[::2].reshape(2, 1), v[::-1].reshape(2, 2), a[:, ::2].reshape(2, len(a)), a.T.reshape(2, 2 * len(a)),
    ]  # fmt: skip
    ("y",) @ ~normal(told(found) + told(others), 1)


@gen
def changed_later(a, v):
    x = ~normal(0, 1)
    a, v = a * x, v * x
    views = [a.ravel(), a[:, ::2].reshape(-1), a[:, :1].reshape(-1), a[:1].T.ravel()]
    others = [v[::2].reshape(1, 2), v[::-1].reshape(2, 2)]
    for i in range(4):
        views[i][-1] = 20.0 + i
    others[0][0, 1] = 7.0
    others[1][1, 0] = 9.0
    ("y",) @ ~normal(told(views) + told(others) + told([a]) + told([v]), 1)


@pytest.mark.parametrize("program", [in_one_line, changed_later])
@pytest.mark.parametrize("rows", [3, 2, 1])
def test_a_view_is_one_where_numpy_makes_one(program, rows):
    assert outcome(program, (A[:rows], V)) == "equal"


@gen
def of_no_line(a, v):
    x = ~normal(0, 1)
    ("y",) @ ~normal(told([(a * x).T.reshape(2, 6)]), 1)


@gen
def of_another_order(a, v):
    x = ~normal(0, 1)
    b = a.T + x  # whose columns lie one behind another, as those of a.T do
    line = b.T.ravel()
    b[0, 1] = 50.0
    ("y",) @ ~normal(told([line]), 1)


@gen
def backwards(a, v):
    x = ~normal(0, 1)
    v = v * x
    line = v[::-1].ravel()
    line[0] = 50.0
    ("y",) @ ~normal(told([line, v]), 1)


@gen
def written_to(a, v):
    x = ~normal(0, 1)
    line = a.T.ravel()
    line[0] = x
    ("y",) @ ~normal(told([line]), 1)


@pytest.mark.parametrize("program", [of_no_line, of_another_order, backwards, written_to])
def test_what_may_be_a_copy_is_left_to_the_interpreter(program):
    """Of what is made or changed: in NumPy that depends on how entries lie in memory."""
    assert "do not lie one behind another" in outcome(program, (A, V))


@gen
def added_at(a, v):
    x = ~normal(0, 1)
    v = v * x
    np.add.at(v, np.array([2, 0, 1, 1]), v)
    np.subtract.at(v, np.array([2, 0, 1, 1]), v[::-1])
    ("y",) @ ~normal(told([v]), 1)


def test_what_is_added_at_indices_may_be_the_array_itself():
    assert outcome(added_at, (A, V)) == "equal"


@gen
def of_odd_entries(odd, v):
    x = ~normal(0, 1)
    roots = (odd * abs(x)) ** 0.5
    signs = np.copysign(1.0, roots)
    total = 0.0
    for i in range(len(odd)):
        total += 1.0 if math.isnan(roots[i]) else 10.0 * signs[i]
    whole = np.round(odd * x, 1)
    total += float(np.nansum(np.where(np.isinf(whole), 3.0, whole))) + float(np.copysign(1.0, np.rint(-0.2)))
    total += float(np.sum(abs(v > x)) + np.sum(np.abs(v > 2.0))) + float(np.fabs(np.array([1, -3]))[1] / 2)
    ("y",) @ ~normal(total, 1)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("rng", range(3))
def test_entries_that_are_special(rng):
    odd = np.array([-np.inf, -0.0, 0.0, 4.0, np.inf, np.nan, -2.5, 1e19])
    assert outcome(of_odd_entries, (odd, V), rng=rng) == "equal"


@gen
def of_gaps(a, v):
    x = ~normal(0, 1)
    a, v = a * x, v * x
    a[1, 2], v[3], gaps = np.nan, np.nan, np.isnan
    found = np.nanvar(a) + np.nanstd(v) + np.nanmedian(a) + float(np.argwhere(gaps(v))[0, 0])
    arrays = [np.nanvar(a, axis=0), np.nanstd(a, axis=1), np.nanmedian(a, axis=0), np.argwhere(gaps(a)) * 1.0]
    a[1, 2] = 5.0
    arrays += [np.quantile(a, 0.3, axis=0), np.percentile(a, 70.0, axis=1), np.quantile(a[0], [0.2, 0.9])]
    ("y",) @ ~normal(found + np.quantile(a, 0.4) + np.percentile(a, 60) + told(arrays), 1)


@pytest.mark.parametrize("rng", range(3))
def test_gaps_and_quantiles(rng):
    assert outcome(of_gaps, (A, V), rng=rng) == "equal"
