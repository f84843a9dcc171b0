"""numpy's functions that make arrays and move their entries about, on dual arrays.

A rearrangement (reshape, take, flip, ...) does to the tangents what it does to the values, and a join
(concatenate, stack, ...) does that to several arrays; views stay views.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

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
from gendsl.transforms.rules import ArrayRules, present
from gendsl.transforms.ufuncs import assignable, full_name, no_rule, plain, refuse_options

Function = Callable[..., Any]

RULES = ArrayRules()


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


for _function in present(
    "reshape ravel transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis squeeze expand_dims "
    "flip fliplr flipud rot90 roll repeat tile take take_along_axis diag diagonal diagflat tril triu delete "
    "resize broadcast_to split array_split hsplit vsplit dsplit unstack real",
    np,
):
    RULES[_function] = _rearrangement(_function)
for _function in present("diagonal matrix_transpose", np.linalg):
    RULES[_function] = _rearrangement(_function)
for _function in (np.compress, np.extract):
    RULES[_function] = _rearrangement(_function, position=1)
for _function in present("concatenate concat stack hstack vstack dstack column_stack row_stack", np):
    RULES.setdefault(_function, _join(_function))


def _at_least(function: Function) -> Function:
    one = _rearrangement(function)

    def at_least(*arrays: Any) -> Any:
        results = [one(x) if holds_dual(x) else function(x) for x in arrays]
        return results[0] if len(results) == 1 else tuple(results)

    return at_least


for _function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    RULES[_function] = _at_least(_function)


@RULES.of(np.append)
def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    if axis is None:
        arr, values = (np.ravel(as_dual_array(x)) for x in (arr, values))
    return RULES[np.concatenate]((arr, values), axis=axis or 0)


@RULES.of(np.insert)
def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    parts = [split(arr), split(values)]
    old, new = _aligned_records(parts)
    value = np.insert(parts[0][0], obj, parts[1][0], axis=axis)
    return finish(value, floats(np.insert(old, obj, new, axis=axis)))


@RULES.of(np.where)
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


@RULES.of(np.select)
def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = np.where(condition, as_dual_array(choice), as_dual_array(result))
    return result


@RULES.of(np.pad)
def _pad(array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    array = as_dual_array(array)
    if type(array) is not DualArray:
        raise no_rule("numpy.pad with an option that has a derivative")
    value, tangent = array.value, array.tangent
    allowed = {"constant_values"} if mode == "constant" else set()
    moves = mode in ("constant", "edge", "reflect", "symmetric", "wrap")
    if not moves or set(options) - allowed or any(map(holds_dual, options.values())):
        raise no_rule(f"numpy.pad(..., mode={mode!r}) with these options")
    rows = np.vstack([tangent.reshape(value.size, tangent.shape[-1]), np.zeros(tangent.shape[-1])])
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


@RULES.of(np.array)
def _array(object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", ndmin: int = 0) -> Any:
    result = _made(object, dtype, "numpy.array", copy=bool(copy))
    return result.reshape((1,) * max(ndmin - result.ndim, 0) + result.shape)


@RULES.of(np.asarray, np.asanyarray)
def _asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    return _made(a, dtype, "numpy.asarray", copy=bool(copy))


@RULES.of(np.ascontiguousarray)
def _ascontiguousarray(a: Any, dtype: Any = None) -> Any:
    return np.atleast_1d(_made(a, dtype, "numpy.ascontiguousarray", copy=False))


@RULES.of(np.copy)
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


@RULES.of(np.full)
def _full(shape: Any, fill_value: Any) -> Any:
    return np.broadcast_to(as_dual_array(fill_value), shape).copy()


@RULES.of(np.full_like)
def _full_like(a: Any, fill_value: Any, *, shape: Any = None) -> Any:
    return _full(np.shape(a) if shape is None else shape, fill_value)


@RULES.of(np.linspace)
def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    fraction = np.linspace(0.0, 1.0, num, endpoint=endpoint)
    start, stop = as_dual_array(start), as_dual_array(stop)
    return start + np.multiply.outer(fraction, np.subtract(stop, start))


@RULES.of(np.copyto)
def _copyto(dst: Any, src: Any) -> None:
    assignable(dst, "numpy.copyto")[...] = src


@RULES.of(np.fill_diagonal)
def _fill_diagonal(a: Any, val: Any) -> None:
    target = assignable(a, "numpy.fill_diagonal")
    diagonal = np.arange(min(target.shape))
    target[(diagonal,) * target.ndim] = val
