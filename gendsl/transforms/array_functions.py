"""What numpy's functions of whole arrays do on dual arrays: one rule each, by the kind of function.

- a rearrangement only moves entries: it does to the tangents what it does to the values;
- a join does that to several arrays;
- a product is linear in each of its arguments;
- a question (which is largest? what shape?) has a discrete answer, found on the values;
- the rest have a rule written out here, or, for linear algebra, autograd's Jacobian at the values.

A function in none of these tables raises `LostDerivativeError`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import autograd
import autograd.numpy
import numpy as np
import scipy.special
from autograd.tracer import isbox

from gendsl.transforms.arrays import (
    DualArray,
    as_dual_array,
    finish,
    floats,
    holds_dual,
    padded,
    records,
    split,
    width,
)
from gendsl.transforms.ufuncs import assignable, full_name, multilinear, no_rule, plain, refuse_options

Function = Callable[..., Any]

RULES: dict[Function, Function] = {}
"""numpy's function -> its counterpart on dual arrays and on lists of dual numbers."""

# Options that every rule refuses unless they change nothing.
_OPTIONS = ("out", "dtype", "where", "initial", "casting", "like", "subok", "overwrite_input")


def apply_function(function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`function` of arguments of which at least one carries derivatives.

    Raises:
        LostDerivativeError: there is no derivative rule.
    """
    rule = RULES.get(function)
    if rule is None:
        raise no_rule(full_name(function))
    if kwargs and function not in _TAKES_OPTIONS:
        refuse_options(full_name(function), {key: kwargs[key] for key in _OPTIONS if key in kwargs})
        kwargs = {key: value for key, value in kwargs.items() if key not in _OPTIONS}
    try:
        return rule(*args, **kwargs)
    except TypeError:
        try:
            inspect.signature(rule).bind(*args, **kwargs)
        except TypeError as mismatch:
            raise no_rule(f"{full_name(function)} called like this ({mismatch})") from None
        raise


def _rule(*functions: Function) -> Callable[[Function], Function]:
    def register(implementation: Function) -> Function:
        RULES.update(dict.fromkeys(functions, implementation))
        return implementation

    return register


def _present(names: str, *modules: Any) -> list[Function]:
    """The functions of these names; numpy 1 lacks some, numpy 2 others."""
    return [getattr(m, name) for name in names.split() for m in modules if hasattr(m, name)]


# --- rearrangements and joins --------------------------------------------------------------------


def _rearrangement(function: Function, position: int = 0) -> Function:
    names = ("a", "ary", "arr", "m", "v", "A", "x", "array")

    def rearrange(*args: Any, **kwargs: Any) -> Any:
        arguments: Any = list(args)
        place: Any = position
        if len(args) <= position:
            arguments, place = kwargs, next(name for name in names if name in kwargs)
        array = as_dual_array(arguments[place])
        if type(array) is not DualArray:
            raise no_rule(full_name(function) + " with a number that has a derivative for an option")

        def moved(entries: np.ndarray) -> Any:
            arguments[place] = entries
            return function(*(args if arguments is kwargs else arguments), **kwargs)

        parts = moved(array.value)
        if not isinstance(parts, (list, tuple)):
            return array.derive(moved)
        return type(parts)(array.derive(_part(moved, j)) for j in range(len(parts)))

    return rearrange


def _part(function: Function, j: int) -> Function:
    return lambda entries: function(entries)[j]


def _join(function: Function) -> Function:
    def joined(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        parts = [split(x) for x in arrays]
        value = function([v for v, _ in parts], *args, **kwargs)
        tangent = function(_aligned_records(parts), *args, **kwargs)
        return finish(value, floats(np.asarray(tangent)))

    return joined


def _aligned_records(parts: list[tuple[np.ndarray, np.ndarray | None]]) -> list[np.ndarray]:
    n = width(parts)
    tangents = [np.zeros((*v.shape, n)) if t is None else padded(t, n) for v, t in parts]
    return [records(np.ascontiguousarray(t)) for t in tangents]


for _function in _present(
    "reshape ravel transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis squeeze expand_dims "
    "flip fliplr flipud rot90 roll repeat tile take take_along_axis diag diagonal diagflat tril triu delete "
    "resize broadcast_to split array_split hsplit vsplit dsplit unstack real",
    np,
):
    RULES[_function] = _rearrangement(_function)
for _function in _present("diagonal matrix_transpose", np.linalg):
    RULES[_function] = _rearrangement(_function)
for _function in (np.compress, np.extract):
    RULES[_function] = _rearrangement(_function, position=1)
for _function in _present("concatenate concat stack hstack vstack dstack column_stack row_stack", np):
    RULES.setdefault(_function, _join(_function))


def _at_least(function: Function) -> Function:
    one = _rearrangement(function)

    def at_least(*arrays: Any) -> Any:
        results = [one(x) if holds_dual(x) else function(x) for x in arrays]
        return results[0] if len(results) == 1 else tuple(results)

    return at_least


for _function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    RULES[_function] = _at_least(_function)


@_rule(np.append)
def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    if axis is None:
        arr, values = (np.ravel(as_dual_array(x)) for x in (arr, values))
    return RULES[np.concatenate]((arr, values), axis=axis or 0)


@_rule(np.insert)
def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    parts = [split(arr), split(values)]
    old, new = _aligned_records(parts)
    value = np.insert(parts[0][0], obj, parts[1][0], axis=axis)
    return finish(value, floats(np.insert(old, obj, new, axis=axis)))


@_rule(np.where)
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        return np.where(plain(condition))
    parts = [split(x), split(y)]
    condition = plain(condition)
    if all(t is None for _, t in parts):
        return np.where(condition, x, y)
    return finish(
        np.where(condition, parts[0][0], parts[1][0]),
        floats(np.asarray(np.where(condition, *_aligned_records(parts)))),
    )


@_rule(np.select)
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = np.where(condition, as_dual_array(choice), as_dual_array(result))
    return result


@_rule(np.pad)
def _pad(array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    value, tangent = _dual(array)
    allowed = {"constant_values"} if mode == "constant" else set()
    moves = mode in ("constant", "edge", "reflect", "symmetric", "wrap")
    if not moves or set(options) - allowed or any(map(holds_dual, options.values())):
        raise no_rule(f"numpy.pad(..., mode={mode!r}) with these options")
    rows = np.vstack([tangent.reshape(value.size, -1), np.zeros(tangent.shape[-1])])
    index = np.arange(value.size).reshape(value.shape)
    filler = {"constant_values": -1} if mode == "constant" else {}
    moved = np.pad(index, pad_width, mode=mode, **filler)  # type: ignore[call-overload]
    return finish(np.pad(value, pad_width, mode=mode, **options), rows[moved])  # type: ignore[call-overload]


# --- making arrays -------------------------------------------------------------------------------


def _made(thing: Any, dtype: Any, name: str, copy: bool) -> Any:
    if dtype is not None and np.dtype(dtype) == object:
        return np.asarray(as_dual_array(thing), dtype=object)
    refuse_options(name, {"dtype": dtype})
    array = as_dual_array(thing)
    return array.copy() if copy and array is thing else array


@_rule(np.array)
def _array(object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", ndmin: int = 0) -> Any:
    result = _made(object, dtype, "numpy.array", copy=bool(copy))
    return result.reshape((1,) * max(ndmin - result.ndim, 0) + result.shape)


@_rule(np.asarray, np.asanyarray)
def _asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    return _made(a, dtype, "numpy.asarray", copy=bool(copy))


@_rule(np.ascontiguousarray)
def _ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    return np.atleast_1d(_made(a, dtype, "numpy.ascontiguousarray", copy=False))


@_rule(np.copy)
def _copy(a: Any, order: Any = "K") -> Any:
    return as_dual_array(a).copy()


def _like(function: Function) -> Function:
    def like(a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Any:
        value = function(plain(a), dtype=dtype, shape=shape)
        if value.dtype != np.float64:
            return value
        return DualArray(value, np.zeros((*value.shape, 1)))  # constants, and entries can be assigned

    return like


for _function in (np.zeros_like, np.ones_like, np.empty_like):
    RULES[_function] = _like(_function)


@_rule(np.full)
def _full(shape: Any, fill_value: Any) -> Any:
    return np.broadcast_to(as_dual_array(fill_value), shape).copy()


@_rule(np.full_like)
def _full_like(a: Any, fill_value: Any, *, shape: Any = None) -> Any:
    return _full(np.shape(a) if shape is None else shape, fill_value)


@_rule(np.linspace)
def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    fraction = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    start, stop = as_dual_array(start), as_dual_array(stop)
    return np.multiply.outer(1.0 - fraction, start) + np.multiply.outer(fraction, stop)


@_rule(np.copyto)
def _copyto(dst: Any, src: Any) -> None:
    assignable(dst, "numpy.copyto")[...] = src


@_rule(np.fill_diagonal)
def _fill_diagonal(a: Any, val: Any) -> None:
    target = assignable(a, "numpy.fill_diagonal")
    diagonal = np.arange(min(target.shape))
    target[(diagonal,) * target.ndim] = val


# --- sums, products, extremes, order -------------------------------------------------------------


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(i % ndim for i in (axis if isinstance(axis, tuple) else (axis,)))


def _lined_up(value: np.ndarray, tangent: np.ndarray, axis: Any) -> tuple[np.ndarray, np.ndarray]:
    """Value (..., m) and tangent (..., m, n): the m entries along `axis` made the last axis."""
    axes = _axes(axis, value.ndim)
    rest = [i for i in range(value.ndim) if i not in axes]
    shape = tuple(value.shape[i] for i in rest)
    lines = value.transpose(*rest, *axes).reshape(*shape, -1)
    return lines, tangent.transpose(*rest, *axes, value.ndim).reshape(*lines.shape, -1)


def _dual(a: Any) -> tuple[np.ndarray, np.ndarray]:
    value, tangent = split(a)
    if tangent is None:
        raise no_rule("an option that is a number with a derivative")
    return value, tangent


@_rule(np.sum)
def _sum(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    axes = _axes(axis, value.ndim)
    return finish(value.sum(axis=axis, keepdims=keepdims), tangent.sum(axis=axes, keepdims=keepdims))


@_rule(np.mean)
def _mean(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    axes = _axes(axis, value.ndim)
    return finish(value.mean(axis=axis, keepdims=keepdims), tangent.mean(axis=axes, keepdims=keepdims))


@_rule(np.average)
def _average(a: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    if weights is None:
        return np.mean(as_dual_array(a), axis=axis, keepdims=keepdims)
    a, weights = as_dual_array(a), as_dual_array(weights)
    if np.shape(weights) != np.shape(a):
        raise no_rule("numpy.average with weights of another shape")
    total = np.sum(np.multiply(a, weights), axis=axis, keepdims=keepdims)
    return total / np.sum(weights, axis=axis, keepdims=keepdims)


@_rule(np.var)
def _var(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    a = as_dual_array(a)
    centered = a - a.mean(axis=axis, keepdims=True)
    count = np.prod([a.shape[i] for i in _axes(axis, a.ndim)])
    return np.sum(centered * centered, axis=axis, keepdims=keepdims) / (count - ddof)


@_rule(np.std)
def _std(a: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    return np.sqrt(_var(a, axis, ddof=ddof, keepdims=keepdims))


@_rule(np.prod)
def _prod(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    product = value.prod(axis=axis, keepdims=keepdims)
    lines, slopes = _lined_up(value, tangent, axis)
    # The product of the other entries, as products before and after each: right where entries are zero too.
    ones = np.ones((*lines.shape[:-1], 1))
    before = np.concatenate([ones, lines[..., :-1]], axis=-1).cumprod(axis=-1)
    after = np.concatenate([ones, lines[..., :0:-1]], axis=-1).cumprod(axis=-1)[..., ::-1]
    derivative = np.einsum("...m,...mn->...n", before * after, slopes)
    return finish(product, derivative.reshape(*np.shape(product), -1))


@_rule(np.cumsum)
def _cumsum(a: Any, axis: int | None = None) -> Any:
    a = as_dual_array(a) if axis is not None else as_dual_array(a).ravel()
    (along,) = _axes(axis or 0, a.ndim)
    return finish(a.value.cumsum(axis=along), a.tangent.cumsum(axis=along))


@_rule(np.cumprod)
def _cumprod(a: Any, axis: int | None = None) -> Any:
    a = as_dual_array(a) if axis is not None else as_dual_array(a).ravel()
    (along,) = _axes(axis or 0, a.ndim)
    entries = [np.take(a, j, axis=along) for j in range(a.shape[along])]
    products = [functools.reduce(np.multiply, entries[: j + 1]) for j in range(len(entries))]
    return np.stack(products, axis=along)


def _extreme(function: Function, find: Function) -> Function:
    def extreme(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        value, tangent = _dual(a)
        result = function(value, axis=axis, keepdims=keepdims)
        lines, slopes = _lined_up(value, tangent, axis)
        at = find(lines, axis=-1)
        rows = np.take_along_axis(slopes, at[..., np.newaxis, np.newaxis], axis=-2)
        return finish(result, rows.reshape(*np.shape(result), -1))

    return extreme


for _function in _present("max amax", np):
    RULES[_function] = _extreme(np.max, np.argmax)
for _function in _present("min amin", np):
    RULES[_function] = _extreme(np.min, np.argmin)


@_rule(np.ptp)
def _ptp(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    a = as_dual_array(a)
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


@_rule(np.sort)
def _sort(a: Any, axis: int | None = -1, *, kind: Any = None) -> Any:
    a = as_dual_array(a)
    if axis is None:
        a, axis = a.ravel(), -1
    order = np.argsort(a.value, axis=axis, kind=kind)
    along = axis
    return a.derive(lambda entries: np.take_along_axis(entries, order, axis=along))


@_rule(np.median)
def _median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    value, tangent = _dual(a)
    result = np.median(value, axis=axis, keepdims=keepdims)
    lines, slopes = _lined_up(value, tangent, axis)
    count = lines.shape[-1]
    middle = np.argsort(lines, axis=-1)[..., (count - 1) // 2 : count // 2 + 1]
    rows = np.take_along_axis(slopes, middle[..., np.newaxis], axis=-2).mean(axis=-2)
    return finish(result, rows.reshape(*np.shape(result), -1))


@_rule(np.clip)
def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    result = as_dual_array(a)
    if low is not None:
        result = np.maximum(result, as_dual_array(low))
    if high is not None:
        result = np.minimum(result, as_dual_array(high))
    return result


@_rule(np.diff)
def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if prepend is not None or append is not None:
        raise no_rule("numpy.diff with prepend or append (use np.concatenate first)")
    return multilinear(lambda array: np.diff(array, n, axis), a)


@_rule(*_present("trace", np, np.linalg))
def _trace(a: Any, offset: int = 0, axis1: int | None = None, axis2: int | None = None) -> Any:
    if axis1 is not None or axis2 is not None:
        raise no_rule("numpy.trace along other axes (use np.diagonal and np.sum)")
    if np.ndim(a) != 2:
        raise no_rule("numpy.trace of an array that isn't a matrix (use np.diagonal and np.sum)")
    return np.sum(np.diagonal(as_dual_array(a), offset))


@_rule(np.polyval)
def _polyval(p: Any, x: Any) -> Any:
    p, x = as_dual_array(p), as_dual_array(x)
    result = 0.0 * x
    for coefficient in p:
        result = result * x + coefficient
    return result


@_rule(scipy.special.logsumexp)
def _logsumexp(a: Any, axis: Any = None, b: Any = None, *, keepdims: bool = False) -> Any:
    """log sum b exp(a), with derivative b exp(a - result)."""
    a = as_dual_array(a)
    weights = 1.0 if b is None else as_dual_array(b)
    largest = np.max(plain(a), axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    total = np.log(np.sum(weights * np.exp(a - shift), axis=axis, keepdims=keepdims))
    return total + (shift if keepdims else np.squeeze(shift, axis=axis))


@_rule(scipy.special.softmax)
def _softmax(x: Any, axis: Any = None) -> Any:
    return np.exp(_log_softmax(x, axis))


@_rule(scipy.special.log_softmax)
def _log_softmax(x: Any, axis: Any = None) -> Any:
    x = as_dual_array(x)
    return x - _logsumexp(x, axis, keepdims=True)


# --- products ------------------------------------------------------------------------------------


def _product(function: Function) -> Function:
    def product(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        return multilinear(lambda x, y: function(x, y, *args, **kwargs), a, b)

    return product


for _function in _present("dot inner outer vdot tensordot kron convolve correlate cross", np):
    RULES[_function] = _product(_function)
for _function in _present("matmul outer tensordot cross vecdot", np.linalg):
    RULES[_function] = _product(_function)


@_rule(np.einsum)
def _einsum(subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    if not isinstance(subscripts, str):
        raise no_rule("numpy.einsum with lists of subscripts (use a string)")
    return multilinear(lambda *arrays: np.einsum(subscripts, *arrays, optimize=optimize), *operands)


@_rule(np.linalg.multi_dot)
def _multi_dot(arrays: Any) -> Any:
    return functools.reduce(np.dot, map(as_dual_array, arrays))


@_rule(np.linalg.matrix_power)
def _matrix_power(a: Any, n: int) -> Any:
    a = as_dual_array(a)
    base = np.linalg.inv(a) if n < 0 else a
    return functools.reduce(np.matmul, [base] * abs(n), np.eye(a.shape[-1]) + 0.0 * a)


# --- linear algebra ------------------------------------------------------------------------------


def _contracted(function: Function, arrays: tuple[Any, ...], value: Any) -> Any:
    """d value, for value = function(*arrays): autograd's Jacobian for each array times its tangent."""
    parts = [split(x) for x in arrays]
    values = [v for v, _ in parts]
    total = np.zeros((*np.shape(value), width(parts)))
    for position, (v, tangent) in enumerate(parts):
        if tangent is None:
            continue

        def of_one(x: Any, position: int = position) -> Any:
            result = function(*values[:position], x, *values[position + 1 :])
            if not isbox(result):  # autograd would take the derivative for zero
                raise no_rule(full_name(function))
            return result

        jacobian = autograd.jacobian(of_one)(v)
        total[..., : tangent.shape[-1]] += np.tensordot(jacobian, tangent, axes=v.ndim)
    return finish(value, total)


def _by_autograd(name: str, arguments: int = 1, symmetric: bool = False) -> Function:
    function = getattr(np.linalg, name)
    counterpart = getattr(autograd.numpy.linalg, name)

    def rule(*args: Any, **kwargs: Any) -> Any:
        arrays, options = args[:arguments], args[arguments:]
        if symmetric:
            arrays = (_lower_half(arrays[0]),)

        def differentiable(*values: Any) -> Any:
            return counterpart(*values, *options, **kwargs)

        with np.errstate(all="ignore"):
            value = function(*map(plain, arrays), *options, **kwargs)
            return _contracted(differentiable, arrays, value)

    return rule


def _lower_half(a: Any) -> Any:
    """The symmetric matrix that cholesky and eigh see: they read the lower triangle only."""
    a = as_dual_array(a)
    return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)


for _name in ("inv", "pinv", "det", "norm"):
    RULES[getattr(np.linalg, _name)] = _by_autograd(_name)
RULES[np.linalg.solve] = _by_autograd("solve", arguments=2)


@_rule(np.linalg.cholesky)
def _cholesky(a: Any) -> Any:
    return _by_autograd("cholesky", symmetric=True)(a)


@_rule(np.linalg.slogdet)
def _slogdet(a: Any) -> Any:
    result = np.linalg.slogdet(plain(a))
    logdet = _contracted(lambda x: autograd.numpy.linalg.slogdet(x)[1], (as_dual_array(a),), result[1])
    return type(result)(result[0], logdet)


@_rule(np.linalg.eigh)
def _eigh(a: Any) -> Any:
    a = _lower_half(a)
    result = np.linalg.eigh(a.value)
    return type(result)(
        _contracted(lambda x: autograd.numpy.linalg.eigh(x)[0], (a,), result[0]),
        _contracted(lambda x: autograd.numpy.linalg.eigh(x)[1], (a,), result[1]),
    )


@_rule(np.linalg.eigvalsh)
def _eigvalsh(a: Any) -> Any:
    return _eigh(a)[0]


# --- questions -----------------------------------------------------------------------------------


def _question(function: Function) -> Function:
    def answer(*args: Any, **kwargs: Any) -> Any:
        return function(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})

    return answer


_QUESTIONS = _present(
    "shape ndim size argmax argmin argsort argpartition lexsort searchsorted digitize nonzero flatnonzero "
    "argwhere count_nonzero any all isclose allclose array_equal array_equiv isin isposinf isneginf "
    "iscomplexobj isrealobj isscalar array_repr array_str array2string",
    np,
)
for _function in _QUESTIONS:
    RULES[_function] = _question(_function)
RULES[np.isscalar] = lambda element: np.ndim(element) == 0

# Their options are their own: a result of another type, or stored elsewhere, loses nothing.
_TAKES_OPTIONS = frozenset([*_QUESTIONS, np.array, np.asarray, np.asanyarray, np.ascontiguousarray])
_TAKES_OPTIONS |= {np.zeros_like, np.ones_like, np.empty_like}
