"""Arrays with tangents: elementwise functions, numpy's functions of arrays, indexing, assignment, errors."""

from __future__ import annotations

import copy
import operator
import warnings

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from gendsl.errors import LostDerivativeError, ValueTypeError
from gendsl.transforms import array_functions
from gendsl.transforms.arrays import DualArray, as_dual_array, seed_array
from gendsl.transforms.forward import Dual, seed_scalar
from gendsl.transforms.functions import lifted
from gendsl.transforms.rules import BINARY_UFUNCS, UNARY_UFUNCS

VECTOR = np.array([0.7, 1.9, 1.2])
MATRIX = np.array([[2.1, 0.3, -0.5], [0.4, 1.7, 0.2], [-0.1, 0.6, 1.4]])
WIDE = np.array([[0.3, -1.2, 0.8, 2.0], [1.5, 0.1, -0.4, 0.9]])


def seed(value, offset=0):
    return seed_array(value, offset, np.eye(np.size(value)))


# --- elementwise ----------------------------------------------------------------------------------

DOMAINS = {
    "arccosh": [1.3, 2.5],
    "reciprocal": [-1.3, 0.4],
    "erfinv": [-0.6, 0.3],
    "erfcinv": [0.4, 1.3],
    "ndtri": [0.2, 0.9],
    "logit": [0.2, 0.9],
    "entr": [0.2, 1.7],
    "gamma": [0.6, 2.7, -0.6],
    "gammaln": [0.6, 2.7, -0.6],
    "psi": [0.6, 2.7],
    "rgamma": [0.6, 2.7],
    **{name: [-0.6, 0.3] for name in ["arcsin", "arccos", "arctanh"]},
    **{name: [0.3, 4.0] for name in ["sqrt", "log", "log2", "log10", "log1p"]},
    "tan": [-1.2, 0.4, 2.0],
    **{name: [-1.4, 0.8] for name in ["absolute", "fabs", "cbrt"]},
}


@pytest.mark.parametrize("ufunc", UNARY_UFUNCS, ids=lambda f: f.__name__)
def test_function_of_one_argument(ufunc, check_derivative):
    points = DOMAINS.get(ufunc.__name__, [-1.2, 0.4, 1.6])
    check_derivative(ufunc, np.array(points))
    check_derivative(ufunc, points[0])


PAIRS = {
    "remainder": ([5.2, -1.3], None),
    "fmod": ([5.2, -1.3], None),
    "ldexp": ([5.2, -1.3], None),
    "copysign": ([5.2, -1.3], None),
    "gammainc": (None, [0.8, 2.3]),
    "gammaincc": (None, [0.8, 2.3]),
}


@pytest.mark.parametrize("ufunc", BINARY_UFUNCS, ids=lambda f: f.__name__)
def test_function_of_two_arguments(ufunc, check_derivative):
    left, right = PAIRS.get(ufunc.__name__, ([0.7, 1.9], [1.4, 0.6]))
    other = np.array([2, 3])
    if left is not None:
        check_derivative(lambda x: ufunc(x, other), np.array(left))
        check_derivative(lambda x: ufunc(x, 2), left[0])
    if right is not None:
        check_derivative(lambda y: ufunc(other.astype(float), y), np.array(right))
        check_derivative(lambda y: ufunc(2.0, y), right[0])
    if left is not None and right is not None:
        check_derivative(ufunc, np.array(left), np.array(right))
        check_derivative(ufunc, np.array(left), right[0])
        check_derivative(ufunc, left[0], np.array(right))
        check_derivative(lambda x, y: ufunc(x[:, None], y), np.array(left), np.array([1.1, 1.6, 0.4]))
    else:
        x = seed(np.array([1.2, 0.4]))
        arguments = (x, 2.0) if left is None else (2.0, x)
        if ufunc is not np.ldexp:  # its second argument is an integer
            with pytest.raises(LostDerivativeError, match="as a function of its argument"):
                ufunc(*arguments)


def test_operators(check_derivative):
    for f in (
        lambda a, b: a + b * a - b / a,
        lambda a, b: 2 * a - b[::-1] / 3,
        lambda a, b: 2.0**a + a**2 - a**-1 + a**b,
        lambda a, b: -a + abs(b) + (+a),
        lambda a, b: [1.0, 2.0, 3.0] + a * [2, 3, 4] + (1, 2, 3) - b,
        lambda a, b: np.array([1, 2, 3]) * a + np.float64(2.0) * b + np.array(2.0),
        lambda a, b: a @ b + (a * b).sum(),
        lambda a, b: 1 - a % 0.9,
    ):
        check_derivative(f, VECTOR, VECTOR[::-1] + 0.1)
    check_derivative(lambda a, s: s * a + a / s - s**a + a**s + s - a, VECTOR, 1.3)
    check_derivative(lambda a: MATRIX @ a + a @ MATRIX + MATRIX * a, VECTOR)


def test_powers_at_zero_and_of_negative_bases():
    x = seed(np.array([0.0, -2.0, 0.0]))
    np.testing.assert_array_equal((x**2).tangent.diagonal(), [0.0, -4.0, 0.0])
    np.testing.assert_array_equal((x**1).tangent.diagonal(), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal((x**0).tangent.diagonal(), [0.0, 0.0, 0.0])
    assert np.isinf((x**0.5).tangent[0, 0]) and np.isnan((x**0.5).tangent[1]).all()
    exponential = np.array([0.0, 2.0]) ** seed([2.0, 0.0])
    np.testing.assert_array_equal(exponential.tangent.diagonal(), [0, np.log(2)])


def test_undefined_is_nan_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = np.log(seed(np.array([-1.0, 0.0, 2.0])))
        assert np.isnan(result.value[0]) and np.isnan(result.tangent[0]).all()
        assert result.value[1] == -np.inf and result.tangent[1, 1] == np.inf
        assert result.tangent[2, 2] == 0.5
        assert np.isnan(np.abs(seed(np.array([0.0]))).tangent).all()
        assert np.isinf(np.sqrt(seed(np.array([0.0]))).tangent).all()


@pytest.mark.slow
def test_comparisons_give_plain_booleans():
    x, y = seed(VECTOR), seed(VECTOR[::-1])
    results = (x < y, x == y, x != 1.0, x >= np.array([1, 1, 1]), operator.lt(1.0, x), x < [1, 1, 1])
    for result in (*results, seed_scalar(1.0, 0) < x):
        assert type(result) is np.ndarray and result.dtype == bool
    np.testing.assert_array_equal(x < y, np.less(VECTOR, VECTOR[::-1]))
    np.testing.assert_array_equal(np.isfinite(x), [True] * 3)
    np.testing.assert_array_equal(np.logical_and(x > 1, x), VECTOR > 1)
    assert 1.9 in x and 5.0 not in x
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)


# --- widths ---------------------------------------------------------------------------------------


def test_arrays_of_different_widths_combine():
    early, late = seed(np.array([1.0, 2.0])), seed(np.array([3.0, 4.0]), 5)
    assert early.tangent.shape == (2, 2) and late.tangent.shape == (2, 7)
    product = early * late
    assert product.tangent.shape == (2, 7)
    np.testing.assert_array_equal(product.tangent, [[3, 0, 0, 0, 0, 1, 0], [0, 4, 0, 0, 0, 0, 2]])
    joined = np.concatenate([early, late, [9.0]])
    np.testing.assert_array_equal(joined.tangent[:2, :2], np.eye(2))
    np.testing.assert_array_equal(joined.tangent[2:4, 5:], np.eye(2))
    np.testing.assert_array_equal(joined.tangent[4], np.zeros(7))
    total = early + seed_scalar(1.0, 9)
    assert total.tangent.shape == (2, 10) and total[0].tangent == {0: 1.0, 9: 1.0}


def test_entries_are_sparse_but_never_empty():
    x = seed(np.array([0.0, 2.0]), 3)
    assert x[1].tangent == {4: 1.0}
    square = x * x
    assert set(square[0].tangent) == {0, 1, 2, 3, 4}  # 0 * inf must not become 0
    assert np.isnan(square[0].sqrt().tangent[3])


def test_the_last_weight_of_a_simplex():
    embedding = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    weights = seed_array([0.2, 0.3, 0.5], 4, embedding)
    assert weights[2].tangent == {4: -1.0, 5: -1.0}
    assert weights[0].tangent == {4: 1.0}
    np.testing.assert_array_equal(weights.sum().tangent.get(4, 0.0), 0.0)
    rebuilt = np.append(weights[:2], 1 - weights[:2].sum())
    np.testing.assert_array_equal(rebuilt.tangent, weights.tangent)
    normalised = weights / weights.sum()
    np.testing.assert_allclose(normalised.tangent, weights.tangent, atol=1e-15)
    one = seed_array([1.0], 0, np.zeros((1, 0)))
    assert one.tangent.shape == (1, 1) and not one.tangent.any()


def test_seeds():
    value = np.array([[1.0, 0.5], [0.5, 2.0]])
    embedding = np.array([[1.0, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    covariance = seed_array(value, 1, embedding)
    value[0, 0] = 99.0
    assert covariance[0, 0].value == 1.0
    assert covariance[0, 1].tangent == covariance[1, 0].tangent == {2: 1.0}
    with pytest.raises(ValueError, match="tangent of shape"):
        DualArray([1.0, 2.0], np.zeros((3, 1)))
    with pytest.raises(ValueError, match="tangent of shape"):
        DualArray([1.0, 2.0], np.zeros((2, 0)))


# --- functions of arrays --------------------------------------------------------------------------

MASK = np.array([True, False, True])
STRUCTURE = {
    "reshape": (np.reshape, lambda a: np.reshape(a, (4, 2))),
    "ravel": (np.ravel, np.ravel),
    "ravel F": (np.ravel, lambda a: np.ravel(a, order="F")),
    "transpose": (np.transpose, np.transpose),
    "swapaxes": (np.swapaxes, lambda a: np.swapaxes(a, 0, 1)),
    "moveaxis": (np.moveaxis, lambda a: np.moveaxis(a, 0, -1)),
    "rollaxis": (np.rollaxis, lambda a: np.rollaxis(a, 1)),
    "squeeze": (np.squeeze, lambda a: np.squeeze(a[:1])),
    "expand_dims": (np.expand_dims, lambda a: np.expand_dims(a, 1)),
    "flip": (np.flip, lambda a: np.flip(a, 1)),
    "fliplr": (np.fliplr, np.fliplr),
    "flipud": (np.flipud, np.flipud),
    "rot90": (np.rot90, np.rot90),
    "roll": (np.roll, lambda a: np.roll(a, 1, axis=1)),
    "repeat": (np.repeat, lambda a: np.repeat(a, 2, axis=0)),
    "tile": (np.tile, lambda a: np.tile(a, (2, 2))),
    "take": (np.take, lambda a: np.take(a, [2, 0], axis=1)),
    "take_along_axis": (np.take_along_axis, lambda a: np.take_along_axis(a, np.array([[1, 0], [2, 3]]), 1)),
    "diag": (np.diag, lambda a: np.diag(a[0])),
    "diag of a matrix": (np.diag, np.diag),
    "diagonal": (np.diagonal, np.diagonal),
    "diagflat": (np.diagflat, np.diagflat),
    "tril": (np.tril, np.tril),
    "triu": (np.triu, lambda a: np.triu(a, 1)),
    "delete": (np.delete, lambda a: np.delete(a, 1, axis=1)),
    "resize": (np.resize, lambda a: np.resize(a, (3, 5))),
    "broadcast_to": (np.broadcast_to, lambda a: np.broadcast_to(a, (3, 2, 4))),
    "split": (np.split, lambda a: np.split(a, 2, axis=1)),
    "array_split": (np.array_split, lambda a: np.array_split(a, 3, axis=1)),
    "hsplit": (np.hsplit, lambda a: np.hsplit(a, 2)),
    "vsplit": (np.vsplit, lambda a: np.vsplit(a, 2)),
    "dsplit": (np.dsplit, lambda a: np.dsplit(a[None], 2)),
    "real": (np.real, np.real),
    "compress": (np.compress, lambda a: np.compress([True, False], a, axis=0)),
    "extract": (np.extract, lambda a: np.extract(WIDE > 0, a)),
    "concatenate": (np.concatenate, lambda a: np.concatenate([a, WIDE, a], axis=1)),
    "concatenate flat": (np.concatenate, lambda a: np.concatenate([a, [[1.0, 2.0]]], axis=None)),
    "stack": (np.stack, lambda a: np.stack([a, WIDE], axis=1)),
    "hstack": (np.hstack, lambda a: np.hstack([a, a])),
    "vstack": (np.vstack, lambda a: np.vstack([a, [1.0, 2.0, 3.0, 4.0]])),
    "dstack": (np.dstack, lambda a: np.dstack([a, a])),
    "column_stack": (np.column_stack, lambda a: np.column_stack([a[0], a[1], WIDE[0]])),
    "atleast_1d": (np.atleast_1d, lambda a: np.atleast_1d(a[0, 0])),
    "atleast_2d": (np.atleast_2d, lambda a: np.atleast_2d(a[0], 3.0)),
    "atleast_3d": (np.atleast_3d, np.atleast_3d),
    "append": (np.append, lambda a: np.append(a, [1.0, 2.0])),
    "append axis": (np.append, lambda a: np.append(a, a[:, :1], axis=1)),
    "insert": (np.insert, lambda a: np.insert(a, 1, a[0, 0], axis=1)),
    "insert constants": (np.insert, lambda a: np.insert(a[0], [0, 2], [5.0, 6.0])),
    "where": (np.where, lambda a: np.where(WIDE > 0, a, 0.0)),
    "where of two": (np.where, lambda a: np.where(a > 0, a * a, -a)),
    "where scalar": (np.where, lambda a: np.where(a[0, 0] > 0, a[0, 0], a[1])),
    "select": (np.select, lambda a: np.select([WIDE > 1, WIDE > 0], [a, a * a], default=2.0)),
    "pad": (np.pad, lambda a: np.pad(a, 1)),
    "pad with": (np.pad, lambda a: np.pad(a, ((1, 0), (0, 2)), constant_values=7.0)),
    "pad edge": (np.pad, lambda a: np.pad(a, 1, mode="edge")),
    "array": (np.array, lifted(np.array)),
    "array of lists": (np.array, lambda a: lifted(np.array)([list(a[0]), a[1], [1.0] * 4])),
    "array ndmin": (np.array, lambda a: lifted(np.array)(a[0], ndmin=2)),
    "asarray": (np.asarray, lambda a: lifted(np.asarray)([a[0, 0], 2.0])),
    "asanyarray": (np.asanyarray, lifted(np.asanyarray)),
    "ascontiguousarray": (np.ascontiguousarray, lambda a: lifted(np.ascontiguousarray)(a.T)),
    "full": (np.full, lambda a: lifted(np.full)((2, 2), a[0, 0])),
    "copy": (np.copy, np.copy),
    "linspace": (np.linspace, lambda a: np.linspace(a[0, 0], a[1, 1], 5)),
    "linspace open": (np.linspace, lambda a: np.linspace(1.0, a[1], 4, endpoint=False)),
    "zeros_like": (np.zeros_like, lambda a: np.zeros_like(a) + a),
    "ones_like": (np.ones_like, lambda a: np.ones_like(a) * a),
    "full_like": (np.full_like, lambda a: np.full_like(a, a[0, 0])),
}
if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
    STRUCTURE |= {
        "unstack": (np.unstack, np.unstack),
        "permute_dims": (np.permute_dims, np.permute_dims),
        "matrix_transpose": (np.matrix_transpose, np.matrix_transpose),
        "concat": (np.concat, lambda a: np.concat([a, a])),
        "linalg.matrix_transpose": (np.linalg.matrix_transpose, np.linalg.matrix_transpose),
        "linalg.diagonal": (np.linalg.diagonal, np.linalg.diagonal),
    }
TRAPEZOID = getattr(np, "trapezoid", None) or np.trapz
ZEROS = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 1.0], [1.5, -1.0, 2.0]])
REDUCTIONS = {
    "sum": (np.sum, np.sum),
    "sum axis": (np.sum, lambda a: np.sum(a, axis=0)),
    "sum last": (np.sum, lambda a: np.sum(a, axis=-1, keepdims=True)),
    "sum axes": (np.sum, lambda a: np.sum(a, axis=(0, 1))),
    "mean": (np.mean, np.mean),
    "mean axis": (np.mean, lambda a: np.mean(a, axis=1)),
    "average": (np.average, np.average),
    "average weights": (np.average, lambda a: np.average(a, weights=a * a + 1.0, axis=1)),
    "average by": (np.average, lambda a: np.average(WIDE, weights=a * a + 1.0)),
    "var": (np.var, np.var),
    "var axis": (np.var, lambda a: np.var(a, axis=0, ddof=1)),
    "std": (np.std, lambda a: np.std(a, axis=1, keepdims=True)),
    "prod": (np.prod, np.prod),
    "prod axis": (np.prod, lambda a: np.prod(a, axis=1)),
    "prod keepdims": (np.prod, lambda a: np.prod(a, axis=0, keepdims=True)),
    "cumsum": (np.cumsum, np.cumsum),
    "cumsum axis": (np.cumsum, lambda a: np.cumsum(a, axis=1)),
    "cumprod": (np.cumprod, np.cumprod),
    "cumprod axis": (np.cumprod, lambda a: np.cumprod(a, axis=-1)),
    "max": (np.max, np.max),
    "max axis": (np.max, lambda a: np.max(a, axis=0)),
    "amax": (np.amax, lambda a: np.amax(a, axis=1, keepdims=True)),
    "min": (np.min, lambda a: np.min(a, axis=(0, 1))),
    "amin": (np.amin, np.amin),
    "ptp": (np.ptp, lambda a: np.ptp(a, axis=1)),
    "sort": (np.sort, np.sort),
    "sort axis": (np.sort, lambda a: np.sort(a, axis=0)),
    "sort flat": (np.sort, lambda a: np.sort(a, axis=None)),
    "median": (np.median, np.median),
    "median odd": (np.median, lambda a: np.median(a[:, :3], axis=1)),
    "clip": (np.clip, lambda a: np.clip(a, 0.0, 1.0)),
    "clip by": (np.clip, lambda a: np.clip(a, None, a[0, 0])),
    "diff": (np.diff, np.diff),
    "diff n": (np.diff, lambda a: np.diff(a, 2, axis=-1)),
    "diff prepend": (np.diff, lambda a: np.diff(a, prepend=0.0, append=a[0, 0])),
    "diff prepend axis": (np.diff, lambda a: np.diff(a, 1, 0, prepend=[WIDE[0]])),
    "interp at": (np.interp, lambda a: np.interp(a, [-1.1, 0.03, 1.7], [2.0, 3.0, -1.0])),
    "interp at, beyond": (np.interp, lambda a: np.interp(a, [0.11, 0.57], [2.0, 3.0], -1.0, 7.0)),
    "interp of": (np.interp, lambda a: np.interp([-9.0, 0.3, 1.0, 2.5, 9.0], [0.0, 1.0, 2.0, 3.0], a[1])),
    "interp between": (np.interp, lambda a: np.interp(0.7, np.cumsum(a[0] ** 2), a[1], left=a[0, 0])),
    "trapezoid": (TRAPEZOID, TRAPEZOID),
    "trapezoid axis": (TRAPEZOID, lambda a: TRAPEZOID(a, dx=0.3, axis=0)),
    "trapezoid over": (TRAPEZOID, lambda a: TRAPEZOID(a, np.cumsum(a[0] ** 2))),
    "trapezoid over each": (TRAPEZOID, lambda a: TRAPEZOID(a[1:], x=a[:1] * 2)),
    "quantile": (np.quantile, lambda a: np.quantile(a, 0.3)),
    "quantile axis": (np.quantile, lambda a: np.quantile(a, 0.6, axis=1, keepdims=True)),
    "quantile ends": (np.quantile, lambda a: np.quantile(a, 0, axis=0) + np.quantile(a, 1.0, axis=0)),
    "percentile": (np.percentile, lambda a: np.percentile(a, 40, keepdims=True)),
    "trace": (np.trace, np.trace),
    "trace offset": (np.trace, lambda a: np.trace(a, offset=1)),
    "linalg.trace": (getattr(np.linalg, "trace", np.trace), getattr(np.linalg, "trace", np.trace)),
    "polyval": (np.polyval, lambda a: np.polyval(a[0], a[1])),
    "add.reduce": (np.sum, np.add.reduce),
    "multiply.reduce": (np.prod, lambda a: np.multiply.reduce(a, axis=1)),
    "maximum.reduce": (np.max, lambda a: np.maximum.reduce(a, axis=None)),
    "minimum.reduce": (np.min, lambda a: np.minimum.reduce(a, axis=1, keepdims=True)),
    "logaddexp.reduce": (scipy.special.logsumexp, np.logaddexp.reduce),
    "add.accumulate": (np.cumsum, np.add.accumulate),
    "multiply.accumulate": (np.cumprod, lambda a: np.multiply.accumulate(a, axis=1)),
    "multiply.outer": (np.outer, lambda a: np.multiply.outer(a[0], a)),
    "subtract.outer": (np.outer, lambda a: np.subtract.outer(a[0], [1.0, 2.0])),
}
PRODUCTS = {
    "dot": (np.dot, lambda a, m: np.dot(a, m)),
    "dot vectors": (np.dot, lambda a, m: np.dot(a, m[0])),
    "dot matrices": (np.dot, lambda a, m: np.dot(m, m)),
    "dot scalar": (np.dot, lambda a, m: np.dot(3.0, m)),
    "inner": (np.inner, np.inner),
    "outer": (np.outer, np.outer),
    "vdot": (np.vdot, lambda a, m: np.vdot(a, m[1])),
    "tensordot": (np.tensordot, lambda a, m: np.tensordot(m, a, axes=1)),
    "kron": (np.kron, np.kron),
    "convolve": (np.convolve, lambda a, m: np.convolve(a, m[0], mode="same")),
    "correlate": (np.correlate, lambda a, m: np.correlate(a, m[0], mode="full")),
    "cross": (np.cross, lambda a, m: np.cross(a, m[0])),
    "einsum": (np.einsum, lambda a, m: np.einsum("i,ij,j->", a, m, a)),
    "einsum trace": (np.einsum, lambda a, m: np.einsum("ii->i", m)),
    "multi_dot": (np.linalg.multi_dot, lambda a, m: np.linalg.multi_dot([a, m, m, a])),
    "matrix_power": (np.linalg.matrix_power, lambda a, m: np.linalg.matrix_power(m, 3)),
    "matrix_power 0": (np.linalg.matrix_power, lambda a, m: np.linalg.matrix_power(m, 0) + m),
    "matrix_power -2": (np.linalg.matrix_power, lambda a, m: np.linalg.matrix_power(m, -2)),
    "matmul": (np.dot, lambda a, m: np.stack([m, m]) @ m + m @ np.stack([m, m])),
    "matmul vector": (np.dot, lambda a, m: a @ np.stack([m, m])[:, None]),
    "inv": (np.linalg.inv, lambda a, m: np.linalg.inv(m)),
    "pinv": (np.linalg.pinv, lambda a, m: np.linalg.pinv(m)),
    "det": (np.linalg.det, lambda a, m: np.linalg.det(m)),
    "slogdet": (np.linalg.slogdet, lambda a, m: np.linalg.slogdet(-m)[1]),
    "solve": (np.linalg.solve, lambda a, m: np.linalg.solve(m, a)),
    "solve constant": (np.linalg.solve, lambda a, m: np.linalg.solve(MATRIX, a)),
    "solve matrix": (np.linalg.solve, lambda a, m: np.linalg.solve(m, MATRIX)),
    "norm": (np.linalg.norm, lambda a, m: np.linalg.norm(a)),
    "norm of a matrix": (np.linalg.norm, lambda a, m: np.linalg.norm(m)),
    "norm axis": (np.linalg.norm, lambda a, m: np.linalg.norm(m, axis=1)),
    "cholesky": (np.linalg.cholesky, lambda a, m: np.linalg.cholesky(m @ m.T)),
    "cholesky of the lower half": (np.linalg.cholesky, lambda a, m: np.linalg.cholesky(m + 3 * np.eye(3))),
    "eigh": (np.linalg.eigh, lambda a, m: list(np.linalg.eigh(m + m.T + np.diag([0.0, 1.0, 5.0])))),
    "eigvalsh": (np.linalg.eigvalsh, lambda a, m: np.linalg.eigvalsh(m)),
    **{
        f"linalg.{name}": (getattr(np.linalg, name), call)
        for name, call in {
            "matmul": lambda a, m: np.linalg.matmul(m, m),
            "outer": lambda a, m: np.linalg.outer(a, m[0]),
            "tensordot": lambda a, m: np.linalg.tensordot(a, m, axes=1),
            "cross": lambda a, m: np.linalg.cross(a, m),
            "vecdot": lambda a, m: np.linalg.vecdot(a, m) + np.vecdot(m, a) + np.matvec(m, a),
        }.items()
        if hasattr(np.linalg, name)
    },
}


@pytest.mark.parametrize("name", STRUCTURE)
def test_function_that_moves_entries(name, check_derivative):
    check_derivative(STRUCTURE[name][1], WIDE)
    check_derivative(STRUCTURE[name][1], WIDE, first=3)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_function_that_reduces(name, check_derivative):
    check_derivative(REDUCTIONS[name][1], WIDE)


@pytest.mark.parametrize("name", PRODUCTS)
def test_function_of_linear_algebra(name, check_derivative):
    check_derivative(PRODUCTS[name][1], VECTOR, MATRIX, first=1)


def test_products_with_zeros(check_derivative):
    check_derivative(np.prod, ZEROS)
    check_derivative(lambda a: np.prod(a, axis=1), ZEROS)
    check_derivative(lambda a: np.cumprod(a, axis=1), ZEROS)


SOFT = {
    "logsumexp": lambda f: lambda a: f(a, axis=1),
    "softmax": lambda f: lambda a: f(a, axis=-1),
    "log_softmax": lambda f: lambda a: f(a, axis=0),
}


@pytest.mark.parametrize("name", SOFT)
def test_scipys_functions_of_arrays(name, check_derivative):
    function = getattr(scipy.special, name)

    def rule(*args, **kwargs):
        return array_functions.apply_function(function, args, kwargs)

    check_derivative(function, WIDE, dual=rule)
    check_derivative(SOFT[name](function), WIDE, dual=SOFT[name](rule))
    if name == "logsumexp":
        weights = np.abs(WIDE) + 1.0
        check_derivative(lambda a: function(a, axis=0, b=weights, keepdims=True), WIDE,
                         dual=lambda a: rule(a, axis=0, b=weights, keepdims=True))  # fmt: skip
        huge = rule(seed(np.array([1e3, 1e3 + 1, -np.inf])))
        assert huge.value == pytest.approx(1e3 + 1 + np.log1p(np.exp(-1)))
        assert huge.tangent[0] == pytest.approx(1 / (1 + np.e))


QUESTIONS = {
    "shape": np.shape,
    "ndim": np.ndim,
    "size": np.size,
    "argmax": lambda a: np.argmax(a, axis=1),
    "argmin": np.argmin,
    "argsort": np.argsort,
    "argpartition": lambda a: np.argpartition(a, 1),
    "lexsort": lambda a: np.lexsort((a[0], a[1])),
    "searchsorted": lambda a: np.searchsorted([0.0, 1.0], a),
    "digitize": lambda a: np.digitize(a, [0.0, 1.0]),
    "nonzero": np.nonzero,
    "flatnonzero": np.flatnonzero,
    "argwhere": np.argwhere,
    "count_nonzero": np.count_nonzero,
    "any": np.any,
    "all": lambda a: np.all(a, axis=0),
    "isclose": lambda a: np.isclose(a, 0.3),
    "allclose": lambda a: np.allclose(a, a + 1e-12),
    "array_equal": lambda a: np.array_equal(a, WIDE),
    "array_equiv": lambda a: np.array_equiv(a, WIDE),
    "isin": lambda a: np.isin(a, [0.3, 2.0]),
    "isposinf": np.isposinf,
    "isneginf": np.isneginf,
    "isreal": np.isreal,
    "iscomplexobj": np.iscomplexobj,
    "isrealobj": np.isrealobj,
    "iterable": lambda a: np.iterable(a),
    "isscalar": None,
    "logical_and.reduce": lambda a: np.logical_and.reduce(a, axis=1),
    "logical_or.reduce": np.logical_or.reduce,
    "where": lambda a: np.where(a > 0),
    "where on dual": np.where,
    "where of constants": lambda a: np.where(a, 1.0, 2.0),
}


@pytest.mark.parametrize("name", [name for name, ask in QUESTIONS.items() if ask])
def test_question_is_answered_on_the_values(name):
    ask = QUESTIONS[name]
    actual, expected = ask(seed(WIDE)), ask(WIDE)
    assert type(actual) is type(expected)
    np.testing.assert_array_equal(actual, expected)


def test_every_rule_is_tested():
    covered = {f for table in (STRUCTURE, REDUCTIONS, PRODUCTS) for f, _ in table.values()}
    covered |= {getattr(np, name) for name in QUESTIONS if hasattr(np, name)}
    covered |= {getattr(scipy.special, name) for name in SOFT}
    elsewhere = {"empty_like", "copyto", "fill_diagonal", "row_stack"}
    missing = {f.__name__ for f in array_functions.RULES if f not in covered} - elsewhere
    assert not missing


# --- methods --------------------------------------------------------------------------------------

METHODS = {
    "sum": lambda a: a.sum(axis=0),
    "mean": lambda a: a.mean(),
    "prod": lambda a: a.prod(1),
    "cumsum": lambda a: a.cumsum(),
    "cumprod": lambda a: a.cumprod(axis=0),
    "var": lambda a: a.var(),
    "std": lambda a: a.std(axis=1, ddof=1),
    "max": lambda a: a.max(axis=0),
    "min": lambda a: a.min(),
    "clip": lambda a: a.clip(0.0, 1.0),
    "dot": lambda a: a.dot(a.T),
    "trace": lambda a: a.trace(),
    "diagonal": lambda a: a.diagonal(1),
    "take": lambda a: a.take([1, 0], axis=1),
    "repeat": lambda a: a.repeat(2),
    "T": lambda a: a.T,
    "transpose": lambda a: a[None].transpose(2, 0, 1),
    "reshape": lambda a: a.reshape(4, 2),
    "reshape to shape": lambda a: a.reshape((-1, 2)),
    "ravel": lambda a: a.ravel(),
    "flatten": lambda a: a.flatten(),
    "squeeze": lambda a: a[:1].squeeze(),
    "swapaxes": lambda a: a.swapaxes(0, 1),
    "copy": lambda a: a.copy(),
    "astype": lambda a: a.astype(float),
    "tolist": lambda a: [x for row in a.tolist() for x in row],
    "item": lambda a: [a.item(3), a.item(1, 2), a.item((0, 1))],
    "iteration": lambda a: list(a),
    "item of one": lambda a: a[:1, :1].item(),
    "int index": lambda a: [a[0, 1], a[1][2], a[-1, -1]],
    "slices": lambda a: a[:, 1:3] * a[::-1, ::2],
    "ellipsis": lambda a: a[..., 0],
    "new axis": lambda a: a[:, None, :],
    "mask": lambda a: a[WIDE > 0.5],
    "fancy": lambda a: a[[1, 0, 1], [2, 2, 0]],
    "np int": lambda a: a[0][np.int64(1)],
}


@pytest.mark.parametrize("name", METHODS)
def test_method_or_index(name, check_derivative):
    check_derivative(METHODS[name], WIDE)


def test_types_of_entries():
    a = seed(WIDE)
    assert type(a[0, 0]) is Dual and type(a[0]) is DualArray and type(a.sum()) is Dual
    assert type(a.tolist()[0][0]) is Dual and type(a.item(0)) is Dual
    assert a.shape == (2, 4) and a.ndim == 2 and a.size == 8 and a.dtype == np.float64 and len(a) == 2
    assert type(next(iter(a[0]))) is Dual
    np.testing.assert_array_equal(a.argsort(), WIDE.argsort())
    assert a.argmax() == 3 and a.argmin() == 1 and a.any() and a.all()
    assert seed(VECTOR).searchsorted(1.0) == 1
    assert len(a.nonzero()) == 2
    with pytest.raises(IndexError):
        a[5]
    with pytest.raises(TypeError, match="unsized"):
        len(as_dual_array(seed_scalar(1.0, 0)))
    assert "DualArray(array([1.])" in repr(seed(np.array([1.0])))
    assert seed(np.array([2.0])) and not seed(np.array([0.0]))


# --- assignment and views -------------------------------------------------------------------------


def test_assignment(check_derivative):
    def program(a, s):
        a = a.copy()
        a[0, 0] = s
        a[0, 1] = 5.0
        a[1] = a[0] * 2
        a[:, 3] = [s, 7.0]
        a[..., 2] = s * s
        a[a > 1.9] *= 3.0
        return a

    check_derivative(program, WIDE, 1.3)


def test_assigning_a_constant_clears_the_tangent():
    a = seed(VECTOR)
    a[1] = 5
    a[:1] = 2.0
    np.testing.assert_array_equal(a.tangent, np.diag([0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(a.value, [2.0, 5.0, 1.2])


def test_views_share_memory_even_when_coordinates_are_new():
    a = seed(WIDE)
    row, column, flat, other = a[1], a[:, 0], a.reshape(-1), a.T
    new = seed_scalar(9.0, 20)
    row[0] = new
    for view, key in ((a, (1, 0)), (column, 1), (flat, 4), (other, (0, 1)), (row, 0)):
        assert view[key].value == 9.0 and view[key].tangent == {20: 1.0}
    part = flat[2:4]
    part[:] = new * 2
    assert a[0, 2].tangent == {20: 2.0} and a[0, 3].value == 18.0
    a[0, 3] = 1.5
    assert part[1].value == 1.5 and not any(part[1].tangent.values())
    first, second = np.split(a, 2)
    second[0, 3] = new
    assert a[1, 3].tangent == {20: 1.0} and first[0, 0].tangent == {0: 1.0}


def test_copies_do_not_share():
    a = seed(VECTOR)
    copies = (a.copy(), copy.copy(a), copy.deepcopy(a), lifted(np.array)(a), np.copy(a))
    for duplicate in (*copies, a.flatten(), a[[0, 1, 2]], a + 0):
        duplicate[0] = 77.0
        assert a[0].value == 0.7 and a[0].tangent == {0: 1.0}
    assert lifted(np.asarray)(a) is a


def test_in_place_operators_change_the_array():
    a = seed(VECTOR)
    alias, part = a, a[1:]
    a += 1.0
    a *= seed_scalar(2.0, 8)
    part -= 1
    a /= 2
    a **= 2
    assert alias is a
    plain = VECTOR.copy()
    plain = (plain + 1.0) * 2.0
    plain[1:] -= 1
    np.testing.assert_allclose(a.value, (plain / 2) ** 2)
    assert a[0].tangent == pytest.approx({0: 2 * 1.7, 8: 2 * 1.7 * 1.7 / 2})
    a.sort()
    np.testing.assert_allclose(a.value, np.sort((plain / 2) ** 2), rtol=1e-14)
    a.fill(3.0)
    assert not a.tangent.any()
    b = np.zeros(3, dtype=object)
    b += seed(VECTOR)
    assert b[1].tangent == {1: 1.0}
    target = np.zeros_like(seed(VECTOR))
    np.copyto(target, seed(VECTOR, 2))
    np.testing.assert_array_equal(target.tangent[:, 2:], np.eye(3))
    square = np.zeros_like(seed(MATRIX))
    np.fill_diagonal(square, seed(VECTOR))
    np.testing.assert_array_equal(square.value, np.diag(VECTOR))
    assert square[1, 1].tangent == {1: 1.0}


def test_broadcast_views_are_read_only():
    wide = np.broadcast_to(seed(VECTOR), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        wide[0, 0] = 1.0


# --- lists and object arrays ----------------------------------------------------------------------


def test_as_dual_array():
    x, y = seed_scalar(2.0, 0), seed_scalar(3.0, 4)
    flat = as_dual_array([x, 0.3, y, np.float64(1), 7])
    np.testing.assert_array_equal(flat.value, [2, 0.3, 3, 1, 7])
    assert flat.tangent.shape == (5, 5)
    assert flat.tangent[0, 0] == flat.tangent[2, 4] == 1 and flat.tangent.sum() == 2
    nested = as_dual_array([[x, 1.0], (2, y)])
    assert nested.shape == (2, 2) and nested[1, 1].tangent == {4: 1.0}
    mixed = as_dual_array([seed(VECTOR), [1.0, x, 2.0], np.ones(3)])
    assert mixed.shape == (3, 3) and mixed[1, 1].tangent == {0: 1.0} and mixed[0, 2].tangent == {2: 1.0}
    objects = np.empty((2, 2), dtype=object)
    objects[:] = [[x, 1.0], [y, 2]]
    assert as_dual_array(objects)[1, 0].tangent == {4: 1.0}
    alone = np.empty((), dtype=object)
    alone[()] = y
    assert as_dual_array(alone).shape == () and as_dual_array(alone)[()].tangent == {4: 1.0}
    zero = as_dual_array(x)
    assert zero.shape == () and zero[()].tangent == {0: 1.0} and (zero * 2).tangent == {0: 2.0}
    for plain in ([1.0, 2.0], np.ones(2), "abc", None, [["a"]], np.array(["a"], dtype=object)):
        assert as_dual_array(plain) is plain
    a = seed(VECTOR)
    assert as_dual_array(a) is a
    assert as_dual_array(a.tolist()).tangent.tolist() == a.tangent.tolist()
    assert as_dual_array(a.astype(object)).tangent.tolist() == a.tangent.tolist()


def test_lists_that_are_no_arrays():
    x = seed_scalar(2.0, 0)
    with pytest.raises(ValueError, match="same shape"):
        as_dual_array([[x, 1.0], [2.0]])
    for wrong in ([x, "a"], [x, None], [[x], ["a"]], [x, 1j]):
        with pytest.raises(ValueTypeError, match="can't be combined with numbers that carry derivatives"):
            as_dual_array(wrong)


def test_whole_numbers_have_no_derivative():
    a = seed_array([1.7, -1.7, 2.5], 0, np.eye(3))
    for found, expected in ((a // 0.5, [3.0, -4.0, 5.0]), (5 // a, [2.0, -3.0, 2.0]), (a // a, [1.0] * 3)):
        assert type(found) is np.ndarray and found.tolist() == expected
    b = a.copy()
    b //= 2
    assert b.value.tolist() == [0.0, -1.0, 1.0] and not b.tangent.any()
    assert (a - a // 1).tangent.tolist() == np.eye(3).tolist()


# --- errors ---------------------------------------------------------------------------------------

LOST = {
    "np.asarray": (lambda a: np.asarray(a.astype(object), dtype=float), "float(x)"),
    "store": (lambda a: np.zeros((2, 4)).__setitem__(slice(None), a), "turning x into a plain array"),
    "float": (lambda a: float(a[:1, :1]), "numpy.* function"),
    "int": (lambda a: int(a), "int(x)"),
    "index": (lambda a: range(a), "as an integer"),
    "complex": (lambda a: complex(a), "complex(x)"),
    "round": (lambda a: round(a), "round(x)"),
    "method round": (lambda a: a.round(2), "numpy.round"),
    "astype int": (lambda a: a.astype(int), "astype"),
    "floor": (np.floor, "numpy.floor"),
    "ceil": (np.ceil, "numpy.ceil"),
    "rint": (np.rint, "numpy.rint"),
    "trunc": (np.trunc, "numpy.trunc"),
    "sign": (np.sign, "numpy.sign"),
    "round_": (np.round, "numpy.round"),
    "fix": (np.fix, "numpy."),
    "divmod": (lambda a: divmod(a, 2), "numpy.divmod"),
    "modf": (np.modf, "numpy.modf"),
    "frexp": (np.frexp, "numpy.frexp"),
    "spacing": (np.spacing, "numpy.spacing"),
    "heaviside": (lambda a: np.heaviside(a, 0.5), "numpy.heaviside"),
    "nextafter": (lambda a: np.nextafter(a, 1.0), "numpy.nextafter"),
    "special ufunc": (scipy.special.ellipk, "scipy.special.ellipk"),
    "unique": (np.unique, "numpy.unique"),
    "histogram": (np.histogram, "numpy.histogram"),
    "nan_to_num": (np.nan_to_num, "numpy.nan_to_num"),
    "interp period": (lambda a: np.interp(a, [0, 1], [0, 1], period=2), "numpy.interp with a period"),
    "interp at one": (lambda a: np.interp(a, [0], [0]), "fewer than two points"),
    "quantiles": (lambda a: np.quantile(a, [0.1, 0.2]), "numpy.quantile at several q"),
    "quantile by": (lambda a: np.quantile(a, a[0, 0]), "with a derivative"),
    "quantile method": (lambda a: np.percentile(a, 10, method="lower"), "method='lower'"),
    "svd": (np.linalg.svd, "numpy.linalg.svd"),
    "eig": (lambda a: np.linalg.eig(a[:, :2]), "numpy.linalg.eig"),
    "rank": (np.linalg.matrix_rank, "numpy.linalg.matrix_rank"),
    "fft": (np.fft.fft, "numpy.fft.fft"),
    "reduceat": (lambda a: np.add.reduceat(a, [0, 1]), "numpy.add.reduceat"),
    "at": (lambda a: np.add.at(a, 0, 1.0), "numpy.add.at"),
    "subtract.reduce": (np.subtract.reduce, "numpy.subtract.reduce"),
    "out": (lambda a: np.add(a, 1.0, out=np.zeros((2, 4))), "numpy.add into an array of floats"),
    "+=": (lambda a: np.zeros((2, 4)).__iadd__(a), "numpy.add into an array of floats"),
    "where=": (lambda a: np.add(a, 1.0, where=WIDE > 0), "where="),
    "sum where": (lambda a: np.sum(a, where=WIDE > 0), "where="),
    "sum initial": (lambda a: np.sum(a, initial=3.0), "initial=3.0"),
    "sum dtype": (lambda a: np.sum(a, dtype=int), "dtype="),
    "sum out": (lambda a: np.sum(a, axis=0, out=np.zeros(4)), "out="),
    "ufunc dtype": (lambda a: np.add(a, 1, dtype=np.float32), "dtype="),
    "array dtype": (lambda a: array_functions.apply_function(np.array, (a,), {"dtype": int}), "numpy.array"),
    "copyto": (lambda a: np.copyto(np.zeros((2, 4)), a), "numpy.copyto into an array of floats"),
    "index by": (lambda a: a[a[0]], "using x as an index"),
    "index by number": (lambda a: a[a[0, 0]], "using x as an index"),
    "assign by": (lambda a: a.__setitem__(a[0, 0], 1.0), "using x as an index"),
    "take by": (lambda a: np.take(WIDE, a), "numpy.take"),
    "repeat by": (lambda a: np.repeat(WIDE, a), "numpy.repeat"),
    "unknown option": (lambda a: np.average(a, returned=True), "unexpected keyword argument 'returned'"),
    "pad mode": (lambda a: np.pad(a, 1, mode="mean"), "mode='mean'"),
    "pad by": (lambda a: np.pad(WIDE, 1, constant_values=a[0, 0]), "numpy.pad"),
    "pad with": (lambda a: np.pad(a, 1, constant_values=a[0, 0]), "numpy.pad"),
    "trace axes": (lambda a: np.trace(a, 0, 1, 0), "np.diagonal"),
    "trace of more": (lambda a: np.trace(a[None]), "np.diagonal"),
    "average shape": (lambda a: np.average(a, axis=1, weights=[1, 2, 3, 4]), "weights of another shape"),
    "einsum lists": (lambda a: np.einsum(a, [0, 1]), "use a string"),
}


@pytest.mark.parametrize("name", LOST)
def test_a_lost_derivative_raises(name):
    operation, text = LOST[name]
    with pytest.raises(LostDerivativeError) as caught:
        operation(seed(WIDE))
    message = str(caught.value)
    assert text in message
    assert "would drop the derivative" in message and "fix:" in message


def test_a_plain_array_is_never_made_of_it():
    with pytest.raises(LostDerivativeError, match="turning x into a plain array"):
        np.asarray(seed(VECTOR), dtype=float)
    with pytest.raises(TypeError):
        hash(seed(VECTOR))


# --- compositions ---------------------------------------------------------------------------------

STEPS = {
    "sin": lambda a, b, m: m.sin(a),
    "exp": lambda a, b, m: m.exp(-m.abs(a + 0.01)),
    "log": lambda a, b, m: m.log(1.0 + a * a),
    "times": lambda a, b, m: a * b,
    "over": lambda a, b, m: a / (1.0 + b**2),
    "reverse": lambda a, b, m: a[::-1] - b,
    "shift": lambda a, b, m: m.concatenate([a[1:], b[:1]]),
    "normalise": lambda a, b, m: a / (1.0 + m.sum(a**2)),
    "accumulate": lambda a, b, m: m.cumsum(a) * 0.3,
    "matrix": lambda a, b, m: m.dot(m.outer(a, b) + np.eye(3), a) * 0.2,
    "where": lambda a, b, m: m.where(b > 0.2, a, b * 2.0),
    "solve": lambda a, b, m: m.linalg.solve(m.outer(b, b) + np.eye(3), a),
    "stack": lambda a, b, m: m.stack([a, b]).T[:, 0] + m.mean(b),
}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6),
    st.lists(st.floats(-2, 2).map(lambda x: round(x, 3)), min_size=6, max_size=6),
)
def test_compositions_agree_with_autograd(steps, point):
    def program(a, b, m):
        for name in steps:
            a, b = STEPS[name](a, b, m), a
        return a

    point = np.array(point)
    result = program(seed(point[:3]), seed(point[3:], 3), np)
    expected = autograd.jacobian(lambda p: program(p[:3], p[3:], anp))(point)
    np.testing.assert_allclose(result.value, program(point[:3], point[3:], np), rtol=1e-10, atol=1e-12)
    actual = np.pad(result.tangent, [(0, 0), (0, 6 - result.tangent.shape[1])])
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("shape", [(0,), (0, 3)], ids=str)
def test_arrays_without_entries(shape):
    a, x = seed_array(np.zeros(shape), 1, np.zeros((0, 0))), seed_scalar(2.0, 3)
    assert a.shape == shape and (a * x).shape == shape and a.astype(object).shape == shape
    for function in (np.sum, np.prod, np.cumsum, np.cumprod, np.exp, np.sort, np.ravel):
        assert np.shape(function(a)) == np.shape(function(a.value))
    for function in (np.prod, np.sum):
        assert np.shape(function(a, axis=-1)) == np.shape(function(a.value, axis=-1))
    assert np.prod(a).value == 1.0 and not any(np.prod(a).tangent.values())
    grown = lifted(np.append)(a, x)
    assert grown.shape == (1,) and grown[0].tangent == {3: 1.0}
    assert np.pad(a, 1).shape == np.pad(a.value, 1).shape
    if len(shape) == 2:
        assert np.max(a, axis=1).shape == np.median(a, axis=1).shape == (0,)
