"""numpy's functions that add, multiply, compare or order the entries of an array, on dual arrays."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from gendsl.transforms.arrays import as_dual_array, finish, split
from gendsl.transforms.rules import ArrayRules, present
from gendsl.transforms.ufuncs import multilinear, no_rule, plain

Function = Callable[..., Any]

RULES = ArrayRules()


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(i % ndim for i in (axis if isinstance(axis, tuple) else (axis,)))


def _lined_up(value: np.ndarray, tangent: np.ndarray, axis: Any) -> tuple[np.ndarray, np.ndarray]:
    """Value (..., m) and tangent (..., m, n): the m entries along `axis` made the last axis."""
    axes = _axes(axis, value.ndim)
    rest = [i for i in range(value.ndim) if i not in axes]
    shape = *(value.shape[i] for i in rest), math.prod(value.shape[i] for i in axes)
    lines = value.transpose(*rest, *axes).reshape(shape)
    return lines, tangent.transpose(*rest, *axes, value.ndim).reshape((*shape, tangent.shape[-1]))


def _dual(a: Any) -> tuple[np.ndarray, np.ndarray]:
    value, tangent = split(a)
    if tangent is None:
        raise no_rule("an option that is a number with a derivative")
    return value, tangent


@RULES.of(np.sum)
def _sum(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    axes = _axes(axis, value.ndim)
    return finish(value.sum(axis=axis, keepdims=keepdims), tangent.sum(axis=axes, keepdims=keepdims))


@RULES.of(np.mean)
def _mean(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    axes = _axes(axis, value.ndim)
    return finish(value.mean(axis=axis, keepdims=keepdims), tangent.mean(axis=axes, keepdims=keepdims))


@RULES.of(np.average)
def _average(a: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    if weights is None:
        return np.mean(as_dual_array(a), axis=axis, keepdims=keepdims)
    a, weights = as_dual_array(a), as_dual_array(weights)
    if np.shape(weights) != np.shape(a):
        raise no_rule("numpy.average with weights of another shape")
    total = np.sum(np.multiply(a, weights), axis=axis, keepdims=keepdims)
    return total / np.sum(weights, axis=axis, keepdims=keepdims)


@RULES.of(np.var)
def _var(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    a = as_dual_array(a)
    centered = a - a.mean(axis=axis, keepdims=True)
    count = np.prod([a.shape[i] for i in _axes(axis, a.ndim)])
    return np.sum(centered * centered, axis=axis, keepdims=keepdims) / (count - ddof)


@RULES.of(np.std)
def _std(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    return np.sqrt(_var(a, axis, ddof=ddof, keepdims=keepdims))


@RULES.of(np.prod)
def _prod(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    product = value.prod(axis=axis, keepdims=keepdims)
    lines, slopes = _lined_up(value, tangent, axis)
    # The product of the other entries, as products before and after each: right where entries are zero too.
    ones = np.ones((*lines.shape[:-1], 1))
    before = np.concatenate([ones, lines[..., :-1]], axis=-1).cumprod(axis=-1)
    after = np.concatenate([ones, lines[..., :0:-1]], axis=-1).cumprod(axis=-1)[..., ::-1]
    others = (before * after)[..., : lines.shape[-1]]  # of no entries there are none
    derivative = np.einsum("...m,...mn->...n", others, slopes)
    return finish(product, derivative.reshape((*np.shape(product), slopes.shape[-1])))


@RULES.of(np.cumsum)
def _cumsum(a: Any, axis: int | None = None) -> Any:
    a = as_dual_array(a) if axis is not None else as_dual_array(a).ravel()
    (along,) = _axes(axis or 0, a.ndim)
    return finish(a.value.cumsum(axis=along), a.tangent.cumsum(axis=along))


@RULES.of(np.cumprod)
def _cumprod(a: Any, axis: int | None = None) -> Any:
    a = as_dual_array(a) if axis is not None else as_dual_array(a).ravel()
    (along,) = _axes(axis or 0, a.ndim)
    entries = [np.take(a, j, axis=along) for j in range(a.shape[along])]
    if not entries:
        return a.copy()
    products = [functools.reduce(np.multiply, entries[: j + 1]) for j in range(len(entries))]
    return np.stack(products, axis=along)


def _extreme(function: Function, find: Function) -> Function:
    def extreme(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        value, tangent = _dual(a)
        result = function(value, axis=axis, keepdims=keepdims)
        lines, slopes = _lined_up(value, tangent, axis)
        at = find(lines, axis=-1)
        rows = np.take_along_axis(slopes, at[..., np.newaxis, np.newaxis], axis=-2)
        return finish(result, rows.reshape((*np.shape(result), slopes.shape[-1])))

    return extreme


for _function in present("max amax", np):
    RULES[_function] = _extreme(np.max, np.argmax)
for _function in present("min amin", np):
    RULES[_function] = _extreme(np.min, np.argmin)


@RULES.of(np.ptp)
def _ptp(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    a = as_dual_array(a)
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


@RULES.of(np.sort)
def _sort(a: Any, axis: int | None = -1, *, kind: Any = None) -> Any:
    a = as_dual_array(a)
    if axis is None:
        a, axis = a.ravel(), -1
    order = np.argsort(a.value, axis=axis, kind=kind)
    along = axis
    return a.derive(lambda entries: np.take_along_axis(entries, order, axis=along))


@RULES.of(np.median)
def _median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    result = np.median(value, axis=axis, keepdims=keepdims)
    lines, slopes = _lined_up(value, tangent, axis)
    count = lines.shape[-1]
    middle = np.argsort(lines, axis=-1)[..., (count - 1) // 2 : count // 2 + 1]
    rows = np.take_along_axis(slopes, middle[..., np.newaxis], axis=-2).mean(axis=-2)
    return finish(result, rows.reshape((*np.shape(result), slopes.shape[-1])))


@RULES.of(np.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    result = as_dual_array(a)
    if low is not None:
        result = np.maximum(result, as_dual_array(low))
    if high is not None:
        result = np.minimum(result, as_dual_array(high))
    return result


@RULES.of(np.diff)
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    parts = [_beside(prepend, a, axis), a, _beside(append, a, axis)]
    whole = np.concatenate([part for part in parts if part is not None], axis)
    return multilinear(lambda array: np.diff(array, n, axis), whole)


def _beside(part: Any, a: Any, axis: int) -> Any:
    """What goes before or after an array along an axis: a number counts as one entry of each line."""
    if part is None or np.ndim(part):
        return part
    shape = [1 if i == axis % np.ndim(a) else size for i, size in enumerate(np.shape(a))]
    return np.broadcast_to(as_dual_array(part), shape)


@RULES.of(*present("trace", np, np.linalg))
def _trace(a: Any, offset: int = 0, axis1: int | None = None, axis2: int | None = None) -> Any:
    if axis1 is not None or axis2 is not None:
        raise no_rule("numpy.trace along other axes (use np.diagonal and np.sum)")
    if np.ndim(a) != 2:
        raise no_rule("numpy.trace of an array that isn't a matrix (use np.diagonal and np.sum)")
    return np.sum(np.diagonal(as_dual_array(a), offset))


@RULES.of(np.polyval)
def _polyval(p: Any, x: Any) -> Any:
    p, x = as_dual_array(p), as_dual_array(x)
    result = 0.0 * x
    for coefficient in p:
        result = result * x + coefficient
    return result


@RULES.of(scipy.special.logsumexp)
def _logsumexp(a: Any, axis: Any = None, b: Any = None, *, keepdims: bool = False) -> Any:
    """log sum b exp(a), with derivative b exp(a - result)."""
    a = as_dual_array(a)
    weights = 1.0 if b is None else as_dual_array(b)
    largest = np.max(plain(a), axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    total = np.log(np.sum(weights * np.exp(a - shift), axis=axis, keepdims=keepdims))
    return total + (shift if keepdims else np.squeeze(shift, axis=axis))


@RULES.of(scipy.special.softmax)
def _softmax(x: Any, axis: Any = None) -> Any:
    return np.exp(_log_softmax(x, axis))


@RULES.of(scipy.special.log_softmax)
def _log_softmax(x: Any, axis: Any = None) -> Any:
    x = as_dual_array(x)
    return x - _logsumexp(x, axis, keepdims=True)
