"""Closed programs as text: NumPy's and SciPy's functions of arrays, against the functions themselves."""

import math

import numpy as np
import pytest
import scipy.linalg
from scipy import special
from scipy.special import log_softmax, logsumexp, softmax

from gendsl import factor, gen, normal
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.run.closed import ClosedDensity
from tests.compiler.closed_outcomes import outcome, raises_everywhere

RANDOM = np.random.default_rng(0)
A, S, B = RANDOM.normal(size=(2, 3)), RANDOM.normal(size=(2, 3)), RANDOM.normal(size=(3, 2))
V, W, T = RANDOM.normal(size=3), RANDOM.normal(size=3), RANDOM.normal(size=(2, 3, 2))
M = S.T @ S + np.eye(3)
K, N, H = np.array([2, 0, 1]), np.array([[3, 1, 2], [0, 5, 4]]), np.array([True, False, True])


def told(values):
    """A number that tells arrays of one shape and order of entries from others."""
    total = 0.0
    for value in values:
        told_by = 1.0
        for n in value.shape:
            told_by = told_by * 7 + n
        total = total * 1.3 + told_by
        total += float(np.sum(np.cos(np.arange(value.size) + 1.0) * value.flatten()))
    return total


@gen
def joined(a, s, b, v, w, t, m, k, n, h):
    x = ~normal(0, 1)
    a = a + x
    found = told(
        (np.vstack([a, s]), np.vstack([v, w]), np.vstack((v, a)), np.hstack([a, s]), np.hstack([v, w]))
    )
    found += told((np.concatenate([a, s]), np.concatenate([a, s], axis=1), np.concatenate([v, [x]]), s))
    found += told(
        (np.concatenate([[0], np.cumsum(v)]), np.concatenate([a, s], axis=None), np.stack([a, s], -1))
    )
    found += told(
        (np.column_stack([v, s.T]), np.column_stack([v, w]), np.concatenate([row + 1 for row in a]))
    )
    found += told(
        (np.hstack([row[:, None] for row in a]), np.vstack([row[None] for row in a]), np.hstack([x, v]))
    )
    "found" @ ~factor(found)


@gen
def products(a, s, b, v, w, t, m, k, n, h):
    x = ~normal(0, 1)
    a = a + x
    found = told(
        (np.outer(a, v), np.outer(v, 2.0 * w), np.inner(a, s), np.inner(v, a), np.dot(a, b), np.diff(a))
    )
    found += np.vdot(a, s) + np.inner(v, w) + np.einsum("i,i", v, w) + np.einsum("ii", m)
    found += told((np.einsum("ij,jk->ik", a, b), np.einsum("ij,ij->i", a, s), np.einsum("ij->j", a)))
    found += told((np.einsum("ijk,kj->i", t, b.T), np.einsum("ij,j", n, k), np.tensordot(a, b, axes=1)))
    found += told((np.tensordot(a, s, axes=((1,), (1,))), np.tensordot(v, w, axes=0), np.kron(m, np.eye(2))))
    found += told(
        (np.cross(v, w), np.linalg.matrix_power(m, 3), np.linalg.matrix_power(m, -2), np.kron(v, w))
    )
    "found" @ ~factor(found)


@gen
def reductions(a, s, b, v, w, t, m, k, n, h):
    x = ~normal(0, 1)
    a, t = a + x, t * x
    found = told(
        (np.sum(t, axis=(1, 2)), np.sum(t, axis=1), t.mean(axis=(0, 2)), t.max(axis=1, keepdims=True))
    )
    found += told((np.std(a, axis=0), np.var(a, axis=1, ddof=1), np.median(a, axis=0), np.argmax(a, axis=1)))
    found += told((logsumexp(a, axis=1), logsumexp(t, axis=0), logsumexp(a, axis=1, keepdims=True)))
    found += told(
        (np.cumsum(t, axis=1), np.sort(a), np.sort(t, axis=0), np.sort(a, axis=None), np.argsort(a, axis=0))
    )
    found += told((softmax(a, axis=1), softmax(v), log_softmax(a, axis=0), np.any(a > 0, axis=0)))
    found += told(
        (np.count_nonzero(a > 0, axis=1), np.average(a, axis=1, weights=np.abs(v)), np.diff(t, axis=1))
    )
    found += told(
        (np.diff(v, n=2), np.add.reduce(a), np.logaddexp.reduce(a, axis=1), np.maximum.accumulate(a))
    )
    found += told((np.diff(v, prepend=0.0, append=n[0]), np.diff(n[0], append=w), np.diff(n[1], prepend=2)))
    found += np.median(a) + np.ptp(v) + np.std(v, ddof=1) + np.quantile(v, 0.3) + np.percentile(v, 90)
    found += np.prod(n + 1) // 2 + np.nansum(v) + np.sum(n, axis=0)[1] + np.max(n, axis=1)[0] + np.nanmax(v)
    found += told(
        (np.quantile(v, [0.1, 0.9]), np.cov(a), np.cov(v, w), np.corrcoef(v, w), np.all(a > 0, axis=-1))
    )
    "found" @ ~factor(found)


@gen
def shapes(a, s, b, v, w, t, m, k, n, h):
    x = ~normal(0, 1)
    a = a + x
    found = told(
        (np.roll(a, 1), np.roll(a, 1, axis=0), np.roll(a, -1, axis=1), np.flip(a), np.flip(a, axis=0))
    )
    found += told(
        (
            np.fliplr(a),
            np.flipud(a),
            np.tile(v, 2),
            np.triu(m),
            np.tril(m, -1),
            np.triu(n, k=1),
            np.diag(v, 1),
        )
    )
    found += told(
        (m[np.triu_indices(3, k=1)], m[np.tril_indices(3, -1)], m[np.diag_indices_from(m)], np.diag(m, -1))
    )
    found += told(
        (m[np.ix_(k, k)], m[np.ix_([0, 1], [1, 2])], *np.meshgrid(v, [x, 2.0]), np.eye(2, 3), np.eye(3, k=1))
    )
    found += told(
        (*np.meshgrid(v, w, indexing="ij"), *np.nonzero(a > 0), *np.where(a > 0), np.flatnonzero(a > 0))
    )
    found += told(
        (np.transpose(t, (2, 0, 1)), t.transpose(1, 0, 2), np.swapaxes(t, 0, 2), np.moveaxis(t, 0, -1))
    )
    found += told(
        (np.expand_dims(v, 0), np.expand_dims(v, axis=1), np.atleast_2d(v), np.squeeze(a[:1], axis=0))
    )
    found += told(
        (
            np.take(a, [0, 1], axis=1),
            np.take(a, 0, axis=1),
            np.delete(v, 1),
            np.reshape(a, (3, 2)),
            np.ravel(a),
        )
    )
    found += told(
        (
            np.linspace(0, x, 4, endpoint=False),
            np.logspace(0, 2, 3),
            np.geomspace(1, 100, 3),
            v.clip(0),
            v.clip(max=0),
        )
    )
    found += told(
        (np.convolve(v, w, mode="same"), np.convolve(v, [0.5, 0.5], "valid"), np.digitize(v, [-0.5, 0.5]))
    )
    found += told(
        (np.isin(k, [0, 1]), np.gradient(v), np.vander(v, 3), np.subtract.outer(v, w), np.less.outer(v, w))
    )
    "found" @ ~factor(found)


@gen
def decompositions(a, s, b, v, w, t, m, k, n, h):
    x = ~normal(0, 1)
    m = m * (1 + x * x)
    lower = np.linalg.cholesky(m)
    found = told(
        (scipy.linalg.solve_triangular(lower, v, lower=True), scipy.linalg.solve_triangular(lower.T, b))
    )
    found += told(
        (scipy.linalg.cho_solve((lower, True), v), scipy.linalg.cho_solve(scipy.linalg.cho_factor(m), b))
    )
    found += told(
        (scipy.linalg.cho_factor(m, lower=True)[0], scipy.linalg.cho_factor(m)[0], scipy.linalg.cholesky(m))
    )
    found += told((scipy.linalg.solve(m, v), scipy.linalg.inv(m), scipy.linalg.toeplitz(v)))
    found += told(
        (scipy.linalg.solve_triangular(lower, v, trans=1, lower=True), scipy.linalg.cholesky(m, lower=True))
    )
    "found" @ ~factor(found)


@gen
def special_functions(a, s, b, v, w, t, m, k, n, h):
    x = ~normal(0, 1)
    p = np.abs(v) + 0.5 + x * x
    q = 1.0 / (1.0 + p)
    found = told((special.gammainc(p, 1.5), special.gammaincc(2.0, p), special.gammaincinv(p, 0.3)))
    found += told((special.gammainccinv(p, q), special.betainc(p, 2.0, q), special.betaincinv(2.0, p, q)))
    found += told((special.erfinv(q), special.erfcinv(q), special.beta(p, q), special.i0(v), special.i1(v)))
    found += told((special.entr(p), special.rel_entr(p, q), special.poch(p, 2.0)))
    found += special.betainc(2.0, 3.0, 0.3 / (1.0 + x * x)) + special.gammainc(2, 1 + x * x)
    found += told((np.arcsinh(v), np.arccosh(1.0 + p), np.arctanh(q)))
    found += math.isnan(special.gammainc(-1.0, 1.0 + x * x)) + special.poch(2, 3)
    "found" @ ~factor(found)


EVERY = (A, S, B, V, W, T, M, K, N, H)


@pytest.mark.parametrize(
    "model",
    [joined, products, reductions, shapes, decompositions, special_functions],
    ids=lambda one: one.name,
)
def test_functions_of_arrays(model):
    assert outcome(model, EVERY) == "equal"


@gen
def sorted_with_ties(k):
    x = ~normal(0, 1)
    order = np.argsort(k)
    "found" @ ~factor(float(order[0]))


@gen
def largest_of_none(k):
    x = ~normal(0, 1)
    found = np.max(np.zeros((3, len(k))), axis=1)


@gen
def of_different_lengths(k):
    x = ~normal(0, 1)
    found = np.concatenate([np.zeros((2, 3)), np.zeros((len(k), 2))])


@pytest.mark.parametrize("model", [largest_of_none, of_different_lengths], ids=lambda one: one.name)
def test_what_numpy_refuses(model):
    raises_everywhere(model, (np.zeros(0),), {"x": 0.5})


def test_which_of_equal_entries_comes_first_is_left_to_numpy():
    assert outcome(sorted_with_ties, (np.array([1, 0, 2]),)) == "equal"
    assert outcome(sorted_with_ties, (np.array([1, 0, 0]),)).startswith("failed")


@gen
def without_axes(a):
    x = ~normal(0, 1)
    found = np.tensordot(a, a * x, axes=2)


def test_arrays_without_axes_are_refused():
    with pytest.raises(NotClosed, match="without axes"):
        ClosedDensity(without_axes, (A,))


@gen
def added_at(k, v):
    x = ~normal(0, 1)
    a, n = np.zeros(4), np.zeros(4, dtype=int)
    np.add.at(a, k, v * x)
    np.add.at(a, [0, 0, -1], 0.5)
    np.add.at(n, k % 2, 1)
    np.subtract.at(a, k, 1)
    np.maximum.at(a, k, v)
    np.minimum.at(a, [1, 2], x)
    "found" @ ~factor(told((a, n)))


@gen
def floats_added_to_integers(k, v):
    x = ~normal(0, 1)
    n = np.zeros(4, dtype=int)
    np.add.at(n, k, v)


def test_numbers_added_at_places():
    assert outcome(added_at, (K, V)) == "equal"
    assert outcome(floats_added_to_integers, (K, V)).startswith(("refused", "raised"))


@gen
def repeated(a, k, v):
    x = ~normal(0, 1)
    found = told(
        (np.repeat(v * x, 2), np.repeat(v, k), np.repeat(a, 2), np.repeat(a, 3, axis=0), np.repeat(k, 0))
    )
    found += told(
        (np.repeat(a, k, axis=1), np.repeat(x, 3), v[np.repeat(k, 2)], v[np.repeat(np.arange(3), k)])
    )
    "found" @ ~factor(found)


def test_repeated_entries():
    assert outcome(repeated, (A, K, V)) == "equal"


@gen
def put_into(made):
    x = ~normal(0, 1)
    found = made.copy()
    np.multiply(np.array([x, 1.0]), 2.0, out=found)
    y = ~normal(found.sum(), 1)


def test_what_is_put_into_an_array_is_of_its_kind():
    assert outcome(put_into, (np.zeros(2),)) == "equal"
    assert outcome(put_into, (np.zeros(2, dtype=int),)).startswith("raised")


@gen
def largest_of_two(values):
    x = ~normal(0, 1)
    y = ~normal(np.maximum(*[x, 0.5]) + np.maximum(*values), 1)


@gen
def long_side(values):
    y = ~normal(math.hypot(*values), 1)


def test_a_star_in_a_call_with_a_list_of_any_length_is_for_functions_of_the_users():
    for program in (largest_of_two, long_side):
        assert outcome(program, ((0.5, 1.5),)) == "equal"
        assert outcome(program, ([0.5, 1.5],)).startswith("refused")


@gen
def of_pairs(v, w, k):
    x = ~normal(0, 1)
    v = v + x
    found = told((np.minimum.outer(v, w), np.maximum.outer(k, w), np.hypot.outer(v, k)))
    found += told((np.arctan2.outer(v, w), np.logaddexp.outer(v, w), np.floor_divide.outer(v, w)))
    found += told([np.mod.outer(k, [2, 3])])
    found += told((np.power.outer(np.abs(v), k), np.greater_equal.outer(v, w), np.outer(k, k)))
    found += np.sum(np.less(v, 0.5)) + np.sum(np.equal(k, [1, 0, 2])) + np.greater_equal(x, v[0])
    flags = np.logical_or.outer(v > 0, w > 0), np.logical_and.outer(v > 0, w > 0)
    "found" @ ~factor(found + told([np.where(one, 1.0, 2.0) for one in flags]))


@pytest.mark.parametrize("rng", range(3))
def test_functions_of_pairs_of_entries(rng):
    args = np.array([0.3, -1.2, 2.0]), np.array([0.7, 1.1]), np.array([1, 4, 2])
    assert outcome(of_pairs, args, rng=rng) == "equal"
