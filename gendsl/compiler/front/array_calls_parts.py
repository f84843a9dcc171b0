"""NumPy's functions about parts of arrays, histograms, norms and factorisations; see `library_parts`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gendsl.compiler.front import library, library_more, library_parts, scalar_calls
from gendsl.compiler.front.array_arguments import arguments, count
from gendsl.compiler.front.array_axes import axis_of, reduced
from gendsl.compiler.front.arrays import as_array, flat, library_call, shape_of, strides_of, view
from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import Array
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    is_known,
    is_number,
    items_of,
    known,
    make_tuple,
    object_of,
)


def _given(
    frame: Frame, names: tuple[str, ...], args: list[Value], named: dict[str, Value]
) -> dict[str, Value]:
    return arguments(frame, names, args, named)


def _matrix(frame: Frame, value: Value, what: str, ranks: tuple[int, ...] = (2,)) -> Value:
    """An argument that is an array of floats with one of some numbers of axes."""
    made = as_array(frame, value, "f", what=what)
    if not is_never(made) and (not isinstance(made.type, Array) or made.type.rank not in ranks):
        raise frame.not_closed(f"the argument {what} of a NumPy function, with other axes")
    return made


def _split(whole: Any) -> Handler:
    """`np.split` and `np.array_split` along the first axis: by a count, or at indices."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = _given(frame, ("ary", "indices_or_sections", "axis"), args, named)
        value = as_array(frame, given["ary"], what="split")
        if is_never(value):
            return NOTHING
        if axis_of(frame, value, given.get("axis", known(0))) != 0:
            raise frame.not_closed("np.split along another axis than the first")
        parts = given["indices_or_sections"]
        return library_call(frame, whole if is_number(parts) else library_parts.split_at, [value, parts])

    return handle


def _histogram(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _given(frame, ("a", "bins", "range", "density"), args, named)
    value = as_array(frame, given["a"], what="a")
    density, bins = given.get("density", known(False)), given.get("bins", known(10))
    if is_never(value) or not is_known(density):
        raise frame.not_closed("np.histogram with these arguments")
    value = flat(frame, value)
    if not is_number(bins):
        edges = as_array(frame, bins, what="bins")
    elif given.get("range", NONE).type == NONE.type:
        edges = library_call(frame, library_parts.edges_of, [value, bins])
    else:
        low, high = items_of(given["range"])
        edges = library_call(frame, library_parts.edges_between, [low, high, bins])
    counts = library_call(frame, library_parts.histogram, [value, edges])
    if bool(object_of(density)):
        counts = library_call(frame, library_parts.densities, [counts, as_array(frame, edges, "f", what="e")])
    return make_tuple([counts, edges])


def _unique(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    asked = ("return_index", "return_inverse", "return_counts")
    given = _given(frame, ("ar", *asked), args, named)
    value = as_array(frame, given["ar"], what="ar")
    if is_never(value):
        return NOTHING
    assert isinstance(value.type, Array)
    if value.type.rank != 1 or value.type.kind == "b":
        raise frame.not_closed("np.unique of these values")
    wanted = [given.get(name, known(False)) for name in asked]
    if not all(map(is_known, wanted)):
        raise frame.not_closed("np.unique with these arguments")
    different = library_call(frame, library_more.unique, [value])
    if not any(object_of(one) for one in wanted):
        return different
    more = items_of(library_call(frame, library_parts.unique_places, [value]))
    kept = [one for one, is_wanted in zip(more, wanted, strict=True) if object_of(is_wanted)]
    return make_tuple([different, *kept])


def _norm(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.linalg.norm`: of all entries, of vectors along an axis, or of a matrix, but for spectral ones."""
    given = _given(frame, ("x", "ord", "axis", "keepdims"), args, named)
    value = as_array(frame, given["x"], "f", what="norm")
    order, axis = given.get("ord", NONE), given.get("axis", NONE)
    kept = given.get("keepdims", known(False))
    if is_never(value) or not all(map(is_known, (order, axis, kept))) or isinstance(object_of(axis), tuple):
        raise frame.not_closed("np.linalg.norm with these arguments")
    assert isinstance(value.type, Array)
    which, is_kept = object_of(order), bool(object_of(kept))
    if object_of(axis) is None and (which is None or (which == "fro" and value.type.rank == 2)):
        return reduced(frame, library.norm, value, NONE, keepdims=is_kept)
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
        return reduced(frame, library.norm, value, axis, keepdims=is_kept)
    if isinstance(which, str) or (which < 0 and which != -math.inf):
        raise frame.not_closed("np.linalg.norm of this order")
    exact = known(float(which))
    return reduced(frame, library_parts.norm_of_order, value, axis, exact, keepdims=is_kept, least=1)


def _eigvalsh(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _given(frame, ("a",), args, named)
    return library_call(frame, library_parts.eigvalsh, [_matrix(frame, given["a"], "a")])


_SINGULAR_VALUES = object()
"""Stands for what is not computed of a fit."""


def _lstsq(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _given(frame, ("a", "b", "rcond"), args, named)
    if given.get("rcond", NONE).type != NONE.type:
        raise frame.not_closed("np.linalg.lstsq with a bound for singular values")
    a, b = _matrix(frame, given["a"], "a"), _matrix(frame, given["b"], "b", (1, 2))
    found = library_call(frame, library_parts.least_squares, [a, b])
    left = library_call(frame, library_parts.residuals, [a, b, found])
    if is_never(found) or is_never(left):
        return NOTHING
    return make_tuple([found, left, count(shape_of(a)[1]), known(_SINGULAR_VALUES)])


def _pinv(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _given(frame, ("a",), args, named)
    return library_call(frame, library_parts.pinv, [_matrix(frame, given["a"], "a")])


def _polyfit(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = _given(frame, ("x", "y", "deg"), args, named)
    x, y = (_matrix(frame, given[name], name, (1,)) for name in ("x", "y"))
    return library_call(frame, library_parts.polyfit, [x, y, given["deg"]])


def squeezed(frame: Frame, value: Value) -> Value:
    """`np.squeeze(a)`: without the axes of one entry that are known; others have more, or it fails."""
    assert isinstance(value.type, Array)
    one, kept = Const(1, "i"), []
    for axis, n in enumerate(shape_of(value)):
        if n != one:
            frame.fail_if(Op("eq", (n, one), "b"), "an axis that may have one entry")
            kept.append(axis)
    if not kept:
        raise frame.not_closed("np.squeeze of one entry")
    shape, strides = shape_of(value), strides_of(value)
    return view(value, value.leaves[1], [shape[i] for i in kept], [strides[i] for i in kept])


PARTS: dict[Any, Handler] = {
    np.split: _split(library_parts.split), np.array_split: _split(library_parts.array_split),
    np.histogram: _histogram, np.unique: _unique, np.linalg.norm: _norm, np.linalg.eigvalsh: _eigvalsh,
    np.linalg.lstsq: _lstsq, np.linalg.pinv: _pinv, np.polyfit: _polyfit, np.isclose: scalar_calls.are_close,
    np.round: scalar_calls.numpys_round, np.around: scalar_calls.numpys_round, np.rint: scalar_calls.rint,
    np.radians: scalar_calls.all_times(math.pi / 180.0), np.deg2rad: scalar_calls.all_times(math.pi / 180.0),
    np.degrees: scalar_calls.all_times(180.0 / math.pi), np.rad2deg: scalar_calls.all_times(180.0 / math.pi),
}  # fmt: skip
