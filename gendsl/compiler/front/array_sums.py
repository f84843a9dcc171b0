"""NumPy's sums and other reductions, along an axis or over all, and cumulative ones."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from gendsl.compiler.front import exact, library_numbers, library_searches, library_sums
from gendsl.compiler.front.array_arguments import arguments, given_arguments, shape_count, vector
from gendsl.compiler.front.array_axes import axis_of, changed, differences, joined, reduced
from gendsl.compiler.front.arrays import as_array, flat, library_call, same_shape, shape_of
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir.types import Array
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_known,
    is_never,
    is_number,
    known,
    make_tuple,
    object_of,
)

_REDUCED: dict[Any, Any] = {
    np.sum: library_sums.sum_all, np.prod: library_sums.prod_all, np.max: library_sums.max_all,
    np.min: library_sums.min_all, np.mean: library_sums.mean_all, np.any: library_sums.any_all,
    np.all: library_sums.all_all, np.argmax: library_searches.argmax, np.argmin: library_searches.argmin,
    np.var: library_sums.var_all, np.std: library_sums.std_all, np.amax: library_sums.max_all,
    np.amin: library_sums.min_all, np.median: library_sums.median, np.ptp: library_sums.peak_to_peak,
    np.count_nonzero: library_sums.count_nonzero, np.nansum: library_sums.nan_sum,
    np.nanvar: library_sums.nan_var, np.nanstd: library_sums.nan_std, np.nanmedian: library_sums.nan_median,
    np.nanmean: library_sums.nan_mean, np.nanmax: library_sums.nan_max, np.nanmin: library_sums.nan_min,
}  # fmt: skip
"""Functions from a vector to a number."""
_OF_THE_KIND = (np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.ptp, np.nansum, np.nanmax, np.nanmin)
"""Those whose result is of the kind of the entries."""
_KINDS = {np.any: "b", np.all: "b", np.argmax: "i", np.argmin: "i", np.count_nonzero: "i"}
_COUNTING = (np.sum, np.prod, np.mean, np.var, np.std, np.median, np.nansum, np.nanmean)
"""Those for which a truth value counts as 0 or 1."""
_OF_SOME = (np.max, np.min, np.amax, np.amin, np.argmax, np.argmin, np.ptp, np.nanmax, np.nanmin)
"""Those that NumPy has of one entry or more."""
_NO_TRUTHS = (np.ptp, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.nanmedian)


def _reduce(frame: Frame, args: list[Value], named: dict[str, Value], *, function: Any) -> Value:
    """A sum, an extreme, a mean: of all entries, or along axes."""
    names = ("a", "axis", "ddof", "keepdims") if function in (np.var, np.std) else ("a", "axis", "keepdims")
    given = arguments(frame, names[:2], args, {})
    given = {**given, **arguments(frame, names, [], named)}
    if len(given) < len(args) + len(named):
        raise frame.not_closed("an argument of a NumPy function that is given twice")
    if is_never(given["a"]):
        return NOTHING
    kept = given.get("keepdims", known(False))
    if not is_known(kept) or not isinstance(object_of(kept), bool):
        raise frame.not_closed("keepdims that is not a constant")
    if is_number(given["a"]):
        if "axis" in given:
            raise frame.not_closed("a reduction of a number along an axis")
        given["a"] = make_tuple([given["a"]])
    value = as_array(frame, given["a"], what="reduced")
    if is_never(value):
        return NOTHING
    assert isinstance(value.type, Array)
    if value.type.kind == "b" and function in _NO_TRUTHS:
        raise frame.not_closed(f"{function.__name__} of truth values")
    if value.type.kind == "b" and function in _COUNTING:
        value = as_array(frame, value, "i", what="counted")
    text, more = _REDUCED[function], []
    if given.get("ddof", known(0)).type != known(0).type:
        text, more = library_sums.spread if function is np.var else library_sums.root_spread, [given["ddof"]]
        value = as_array(frame, value, "f", what="spread")
    if frame.program.records:
        text = exact.added(frame, text, value)
    kind = value.type.kind if function in _OF_THE_KIND else _KINDS.get(function, "f")  # type: ignore[attr-defined]
    return reduced(
        frame, text, value, given.get("axis", NONE), *more,
        kind=kind, keepdims=object_of(kept), least=int(function in _OF_SOME),
    )  # fmt: skip


def _along(text: Any, axis: int | None, *, sums: bool = False) -> Callable[..., Value]:
    """A function that makes of a vector one of the same length: along an axis.

    Args:
        axis: the axis where none is named; None for all entries as a vector.
        sums: whether truth values count as 0 or 1.
    """

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("a", "axis"), args, named)
        value = as_array(frame, given["a"], what="changed")
        if sums and getattr(value.type, "kind", "f") == "b":
            value = as_array(frame, value, "i", what="counted")
        return changed(frame, text, value, given.get("axis", known(axis)))

    return handle


def _diff(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "n", "axis", "prepend", "append"), args, named)
    value = as_array(frame, given["a"], what="diff")
    if is_never(value):
        return NOTHING
    axis = axis_of(frame, value, given.get("axis", known(-1)))
    ends = {name: given[name] for name in ("prepend", "append") if name in given}
    if ends and shape_count(value) != 1:
        raise frame.not_closed("np.diff with these arguments")
    if ends:
        parts = {
            name: as_array(frame, make_tuple([end]) if is_number(end) else end, what=name)
            for name, end in ends.items()
        }
        every = [parts[name] for name in ("prepend", "append") if name in parts]
        every.insert("prepend" in parts, value)
        kinds = [one.type.kind for one in every]  # type: ignore[attr-defined]
        kind = "f" if "f" in kinds else "i"
        value = as_array(frame, joined(frame, every, what="diff"), kind, what="joined")
    count = given.get("n", known(1))
    if not is_known(count) or object_of(count) not in (1, 2, 3):
        raise frame.not_closed("np.diff of this order")
    if getattr(value.type, "kind", "f") == "b":
        raise frame.not_closed("np.diff of truth values")
    for i in range(object_of(count)):
        frame.unrolled += (("diff", i),)
        value = differences(frame, value, axis)
        frame.unrolled = frame.unrolled[:-1]
    return value


def _logsumexp(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis", "b", "keepdims"), args, named)
    kept = given.get("keepdims", known(False))
    if ("b" in given and given["b"].type != NONE.type) or not is_known(kept):
        raise frame.not_closed("logsumexp with these arguments")
    value = as_array(frame, given["a"], "f", what="logs")
    axis = given.get("axis", NONE)
    return reduced(frame, library_sums.logsumexp, value, axis, keepdims=bool(object_of(kept)), least=1)


def _average(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis", "weights"), args, named)
    axis = given.get("axis", NONE)
    if given.get("weights", NONE).type == NONE.type:
        return frame.language.call_numpy(frame, np.mean, [given["a"], axis], {}) or NONE
    value, weights = (as_array(frame, given[name], "f", what=name) for name in ("a", "weights"))
    if is_never(value) or is_never(weights):
        return NOTHING
    rank = value.type.rank  # type: ignore[attr-defined]
    if is_known(axis) and object_of(axis) is None:
        same_shape(frame, shape_of(value), shape_of(weights))
        return library_call(frame, library_sums.average, [flat(frame, value), flat(frame, weights)])
    if weights.type.rank != 1 and rank != 1:  # type: ignore[attr-defined]
        raise frame.not_closed("np.average along an axis with weights of several")
    return reduced(frame, library_sums.average, value, known(axis_of(frame, value, axis)), weights)


def _trapezoid(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("y", "x", "dx"), args, named)
    y = vector(frame, given["y"], "y", "f")
    if given.get("x", NONE).type != NONE.type:
        return library_call(frame, library_sums.trapezoid, [y, vector(frame, given["x"], "x", "f")])
    return library_call(frame, library_sums.trapezoid_steps, [y, given.get("dx", known(1.0))])


def _dist(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`math.dist`, which gives one of Python's floats."""
    if len(args) != 2 or named:
        raise frame.not_closed("math.dist with these arguments")
    return library_call(frame, library_numbers.dist, args)


def _reduced(function: Any) -> Handler:
    """`np.add.reduce(a)` and the like: along the first axis, if none is named."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("array", "axis"), args, named)
        return (
            frame.language.call_numpy(frame, function, [given["array"], given.get("axis", known(0))], {})
            or NONE
        )

    return handle


def _log_sum(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.logaddexp.reduce`."""
    given = arguments(frame, ("array", "axis"), args, named)
    value = as_array(frame, given["array"], "f", what="array")
    return reduced(frame, library_sums.log_sum, value, given.get("axis", known(0)))


def _accumulated(text: Any, *, sums: bool = False) -> Handler:
    """`np.maximum.accumulate(a)` and the like: along the first axis, if none is named."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("array", "axis"), args, named)
        value = as_array(frame, given["array"], what="array")
        if getattr(value.type, "kind", "f") == "b":
            raise frame.not_closed("a NumPy function of truth values")
        return changed(frame, text, value, given.get("axis", known(0)))

    return handle


def _trapezoids() -> dict[Any, Handler]:
    names = [name for name in ("trapezoid", "trapz") if name in np.__dict__]
    return {getattr(np, name): _trapezoid for name in names}


def _norm(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.linalg.norm`: of all entries, of vectors along an axis, or of a matrix, but for spectral ones."""
    given = given_arguments(frame, ("x", "ord", "axis", "keepdims"), args, named)
    value = as_array(frame, given["x"], "f", what="norm")
    order, axis = given.get("ord", NONE), given.get("axis", NONE)
    kept = given.get("keepdims", known(False))
    if is_never(value) or not all(map(is_known, (order, axis, kept))) or isinstance(object_of(axis), tuple):
        raise frame.not_closed("np.linalg.norm with these arguments")
    assert isinstance(value.type, Array)
    which, is_kept = object_of(order), bool(object_of(kept))
    if object_of(axis) is None and (which is None or (which == "fro" and value.type.rank == 2)):
        return reduced(frame, library_sums.norm, value, NONE, keepdims=is_kept)
    if object_of(axis) is None and value.type.rank == 2 and not is_kept:
        if which not in (1, -1, math.inf, -math.inf):
            raise frame.not_closed("np.linalg.norm of a matrix of this order")
        sizes = frame.language.call_numpy(frame, np.abs, [value], {}) or NOTHING
        sums = frame.language.call_numpy(frame, np.sum, [sizes, known(int(abs(which) != 1))], {})
        return (
            frame.language.call_numpy(frame, np.max if which > 0 else np.min, [sums or NOTHING], {})
            or NOTHING
        )
    if object_of(axis) is None and value.type.rank != 1:
        raise frame.not_closed("np.linalg.norm with these arguments")
    if which is None or which == 2:
        return reduced(frame, library_sums.norm, value, axis, keepdims=is_kept)
    if isinstance(which, str) or (which < 0 and which != -math.inf):
        raise frame.not_closed("np.linalg.norm of this order")
    exact = known(float(which))
    return reduced(frame, library_sums.norm_of_order, value, axis, exact, keepdims=is_kept, least=1)


FUNCTIONS: dict[Any, Handler] = {
    **{function: functools.partial(_reduce, function=function) for function in _REDUCED},
    np.average: _average, math.dist: _dist, **_trapezoids(), np.add.reduce: _reduced(np.sum),
    np.multiply.reduce: _reduced(np.prod), np.maximum.reduce: _reduced(np.max),
    np.minimum.reduce: _reduced(np.min), np.logical_and.reduce: _reduced(np.all),
    np.logical_or.reduce: _reduced(np.any), np.add.accumulate: _accumulated(library_sums.cumsum),
    np.multiply.accumulate: _accumulated(library_sums.cumprod),
    np.maximum.accumulate: _accumulated(library_sums.running_max),
    np.minimum.accumulate: _accumulated(library_sums.running_min), np.logaddexp.reduce: _log_sum,
    np.linalg.norm: _norm, np.diff: _diff, scipy.special.logsumexp: _logsumexp,
    np.cumsum: _along(library_sums.cumsum, None, sums=True),
    np.cumprod: _along(library_sums.cumprod, None, sums=True), np.sort: _along(library_searches.sort, -1),
}  # fmt: skip
