"""NumPy's functions that find entries, their places and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gendsl.compiler.front import library_searches
from gendsl.compiler.front.array_arguments import arguments, given_arguments, several
from gendsl.compiler.front.array_axes import axes_of, changed
from gendsl.compiler.front.array_places import Place, at_place
from gendsl.compiler.front.array_shapes import without_axis
from gendsl.compiler.front.arrays import as_array, binary, flat, library_call, shape_of
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import Handler
from gendsl.compiler.front.operators import truth
from gendsl.compiler.hir import Expr, Op
from gendsl.compiler.hir.types import Array
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_never,
    is_number,
    items_of,
    known,
    make_tuple,
    number,
    number_leaf,
    numpy_number,
    object_of,
)


def _where(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("condition", "x", "y"), args, named)
    if len(given) == 1:
        return positions(frame, as_array(frame, given["condition"]))
    if all(is_number(one) for one in given.values()):
        x, y = number_leaf(given["x"]), number_leaf(given["y"])
        kind = max(x.kind, y.kind, key="bif".index)
        return numpy_number(
            Op("select", (truth(frame, given["condition"]), as_kind(x, kind), as_kind(y, kind)), kind)
        )
    return several(frame, [given[name] for name in ("condition", "x", "y")], _where_kind, _where_entry)


def _where_kind(kinds: list[str]) -> str:
    return max(kinds[1:], key="bif".index)


def _where_entry(frame: Frame, leaves: list[Expr]) -> Expr:
    kind = _where_kind([leaf.kind for leaf in leaves])
    return Op("select", (as_kind(leaves[0], "b"), as_kind(leaves[1], kind), as_kind(leaves[2], kind)), kind)


def _argsort(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.argsort`: which of equal entries comes first is known of a stable sort only."""
    given = arguments(frame, ("a", "axis", "kind", "order", "stable"), args, named)
    value = as_array(frame, given["a"], what="changed")
    if "order" in given or "stable" in given:
        raise frame.not_closed("np.argsort with these arguments")
    kind = given.get("kind", NONE)
    if not is_known(kind) or object_of(kind) not in (None, "quicksort", "heapsort", "stable", "mergesort"):
        raise frame.not_closed("np.argsort of this kind")
    text = (
        library_searches.argsort
        if object_of(kind) in ("stable", "mergesort")
        else library_searches.argsort_of_different
    )
    return changed(frame, text, value, given.get("axis", known(-1)), kind="i")


def _searchsorted(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "v", "side"), args, named)
    side = given.get("side", known("left"))
    if not is_known(side):
        raise frame.not_closed("a side that is not a constant")
    left = object_of(side) == "left"
    a = as_array(frame, given["a"], what="sorted")
    if is_number(given["v"]):
        return library_call(
            frame, library_searches.search_left if left else library_searches.search_right, [a, given["v"]]
        )
    v = as_array(frame, given["v"], what="wanted")
    return library_call(
        frame, library_searches.search_all_left if left else library_searches.search_all_right, [a, v]
    )


def _bincount(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("x", "weights", "minlength"), args, named)
    x = as_array(frame, given["x"], what="counted")
    least = given.get("minlength", known(0))
    if "weights" in given and given["weights"].type != NONE.type:
        return library_call(
            frame,
            library_searches.bincount_weights,
            [x, as_array(frame, given["weights"], what="weights"), least],
        )
    return library_call(frame, library_searches.bincount, [x, least])


def _interp(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("x", "xp", "fp"), args, named)
    points = [as_array(frame, given[name], "f", what=name) for name in ("xp", "fp")]
    if is_number(given["x"]):
        return library_call(frame, library_searches.interp, [given["x"], *points])
    return library_call(
        frame, library_searches.interp_all, [as_array(frame, given["x"], "f", what="x"), *points]
    )


def _take(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "indices", "axis"), args, named)
    value, axis = as_array(frame, given["a"], what="a"), given.get("axis", NONE)
    if is_never(value):
        return NOTHING
    where = axes_of(frame, value, axis)
    if where is None:
        value, where = flat(frame, value), [0]
    single = is_number(given["indices"])
    indices = as_array(frame, make_tuple([given["indices"]]) if single else given["indices"], what="indices")
    if getattr(indices.type, "kind", "f") != "i" or len(where) != 1:
        raise frame.not_closed("np.take with these indices")
    found = at_place(frame, value, Place("axis", value, (where[0], indices)))
    return without_axis(frame, found, where[0]) if single else found


def _nonzero(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value = as_array(frame, arguments(frame, ("a",), args, named)["a"], what="a")
    return positions(frame, value)


def positions(frame: Frame, value: Value) -> Value:
    """The indices of the entries that are not 0, for each axis."""
    if is_never(value):
        return NOTHING
    shape = shape_of(value)
    found = library_call(frame, library_searches.positions, [flat(frame, value)])
    result: list[Value] = []
    for axis in reversed(range(len(shape))):
        frame.unrolled += (("axis of positions", axis),)
        if axis:
            n = number(shape[axis])
            result.insert(0, binary(frame, "mod", found, n))
            found = binary(frame, "floordiv", found, n)
        else:
            result.insert(0, found)
        frame.unrolled = frame.unrolled[:-1]
    return make_tuple(result)


def _flatnonzero(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    value = as_array(frame, arguments(frame, ("a",), args, named)["a"], what="a")
    return (
        NOTHING if is_never(value) else library_call(frame, library_searches.positions, [flat(frame, value)])
    )


def _histogram(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = given_arguments(frame, ("a", "bins", "range", "density"), args, named)
    value = as_array(frame, given["a"], what="a")
    density, bins = given.get("density", known(False)), given.get("bins", known(10))
    if is_never(value) or not is_known(density):
        raise frame.not_closed("np.histogram with these arguments")
    value = flat(frame, value)
    if not is_number(bins):
        edges = as_array(frame, bins, what="bins")
    elif given.get("range", NONE).type == NONE.type:
        edges = library_call(frame, library_searches.edges_of, [value, bins])
    else:
        low, high = items_of(given["range"])
        edges = library_call(frame, library_searches.edges_between, [low, high, bins])
    counts = library_call(frame, library_searches.histogram, [value, edges])
    if bool(object_of(density)):
        counts = library_call(
            frame, library_searches.densities, [counts, as_array(frame, edges, "f", what="e")]
        )
    return make_tuple([counts, edges])


def _unique(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    asked = ("return_index", "return_inverse", "return_counts")
    given = given_arguments(frame, ("ar", *asked), args, named)
    value = as_array(frame, given["ar"], what="ar")
    if is_never(value):
        return NOTHING
    assert isinstance(value.type, Array)
    if value.type.rank != 1 or value.type.kind == "b":
        raise frame.not_closed("np.unique of these values")
    wanted = [given.get(name, known(False)) for name in asked]
    if not all(map(is_known, wanted)):
        raise frame.not_closed("np.unique with these arguments")
    different = library_call(frame, library_searches.unique, [value])
    if not any(object_of(one) for one in wanted):
        return different
    more = items_of(library_call(frame, library_searches.unique_places, [value]))
    kept = [one for one, is_wanted in zip(more, wanted, strict=True) if object_of(is_wanted)]
    return make_tuple([different, *kept])


FUNCTIONS: dict[Any, Handler] = {
    np.take: _take, np.flatnonzero: _flatnonzero, np.nonzero: _nonzero, np.histogram: _histogram,
    np.unique: _unique, np.where: _where, np.searchsorted: _searchsorted, np.bincount: _bincount,
    np.argsort: _argsort, np.interp: _interp,
}  # fmt: skip
