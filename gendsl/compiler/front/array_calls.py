"""Attributes, methods and functions of NumPy arrays, by what they mean.

It is one module, as each function takes some lines and none stands by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import array_arguments, exact, families, library, library_more
from gendsl.compiler.front.array_arguments import (
    ONE,
    arguments,
    attribute,
    dtype,
    into,
    several,
    shape_argument,
    shape_count,
    with_axes_before,
)
from gendsl.compiler.front.array_axes import axes_of, axis_of, changed, differences, joined, permuted, reduced
from gendsl.compiler.front.array_calls_more import MORE, positions
from gendsl.compiler.front.array_calls_parts import PARTS
from gendsl.compiler.front.array_places import Place, at_place, put_at
from gendsl.compiler.front.array_texts import TEXTS, texts_of_scipy_linalg
from gendsl.compiler.front.arrays import (
    as_array,
    binary,
    copy_into,
    filled,
    flat,
    library_call,
    load,
    of_entries,
    reshaped,
    row,
    shape_of,
    size_of,
    strides_of,
    times,
    to_list,
    view,
)
from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.front.numbers import ELEMENTWISE, call_elementwise, no_number, of_one_type
from gendsl.compiler.front.operators import truth
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import (
    NEVER,
    Array,
    Known,
    List,
    Number,
    Tuple,
)
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
    numpy_number,
    object_of,
)

_METHODS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "cumsum",
        "cumprod", "dot", "clip", "searchsorted", "repeat", "transpose", "diagonal", "ptp", "take",
        "swapaxes", "trace", "round", "nonzero", "argsort", "squeeze",
    )
}  # fmt: skip


def method(frame: Frame, value: Value, name: str, args: list[Value], named: dict[str, Value]) -> Value:
    """A method of an array."""
    assert isinstance(value.type, Array)
    match name, args:
        case "tolist", []:
            return to_list(frame, value)
        case "copy", [] if not named:
            return as_array(frame, value, copy=True)
        case "item", [] if not named:
            frame.fail_if(Op("ne", (size_of(frame, value), ONE), "b"), "item() of several entries")
            return number(load(frame, value, value.leaves[1]).leaf)
        case "flatten", [] if not named:
            return reshaped(frame, value, [size_of(frame, value)], copy=True)
        case "ravel", [] if not named:
            return value if value.type.rank == 1 else reshaped(frame, value, [size_of(frame, value)])
        case "astype", [dtype] if not named:
            return as_array(frame, value, array_arguments.dtype(frame, dtype), copy=True)
        case "reshape", _ if not named:
            return _reshape(frame, value, args)
        case "sort", [] if not named:
            ordered = library_call(frame, library.sort, [value])
            copy_into(frame, value, ordered, "sort")
            return NONE
        case "fill", [new]:
            put_at(frame, value, Place("view", value), new)
            return NONE
    if name in _METHODS:
        found = call(frame, _METHODS[name], [value, *args], named)
        if found is not None:
            return found
    raise frame.not_closed(f"the method {name} of an array")


def _reshape(frame: Frame, value: Value, args: list[Value]) -> Value:
    parts = items_of(args[0]) if len(args) == 1 and not is_number(args[0]) else args
    lengths = [number_leaf(part, "i") for part in parts]
    unknown = [i for i, n in enumerate(lengths) if n == Const(-1, "i")]
    if len(unknown) == 1:
        rest: Expr = ONE
        for i, n in enumerate(lengths):
            if i not in unknown:
                rest = times(frame, rest, n)
        lengths[unknown[0]] = frame.op("floordiv", (size_of(frame, value), rest), "i")
    return reshaped(frame, value, lengths)


def _make(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("shape", "dtype"), args, named)
        kind = dtype(frame, given["dtype"]) if "dtype" in given else "f"
        return filled(frame, kind, shape_argument(frame, given["shape"]), as_kind(Const(fill, "f"), kind))

    return handle


def _full(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("shape", "fill_value", "dtype"), args, named)
    leaf = number_leaf(given["fill_value"])
    kind = dtype(frame, given["dtype"]) if "dtype" in given else leaf.kind
    return filled(frame, kind, shape_argument(frame, given["shape"]), frame.atom(leaf))


def _like(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("a", "dtype"), args, named)
        model = as_array(frame, given["a"], what="like")
        kind = dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
        return filled(frame, kind, shape_of(model), as_kind(Const(fill, "f"), kind))

    return handle


def _full_like(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "fill_value", "dtype"), args, named)
    model = as_array(frame, given["a"], what="like")
    kind = dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
    return filled(frame, kind, shape_of(model), number_leaf(given["fill_value"], kind))


def _diagonal(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """The diagonal of a matrix, as a view that is not to be written to."""
    (value,) = args
    if named or not isinstance(value.type, Array) or value.type.rank != 2:
        raise frame.not_closed("np.diagonal with these arguments")
    rows, columns = shape_of(value)
    strides = strides_of(value)
    count = frame.atom(Op("imin", (rows, columns), "i"))
    step = frame.atom(Op("add", (strides[0], strides[1]), "i"))
    found = view(value, value.leaves[1], [count], [step])
    return Value(Array(value.type.kind, 1, True), found.leaves)


def _array(copy: bool) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("object", "dtype"), args, named)
        kind = (
            dtype(frame, given["dtype"]) if "dtype" in given and given["dtype"].type != NONE.type else None
        )
        return as_array(frame, given["object"], kind, copy=copy)

    return handle


def _arange(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("start", "stop", "step"), args, named)
    if len(given) == 1:
        given = {"start": known(0), "stop": given["start"]}
    step = given.get("step", known(1))
    if any(kind_of(one) == "f" for one in (given["start"], given["stop"], step)):
        return library_call(frame, library.arange_floats, [given["start"], given["stop"], step])
    return library_call(frame, library.arange, [given["start"], given["stop"], step])


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


def _function(name: str) -> Callable[..., Value]:
    """One of NumPy's elementwise functions that give floats."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")
        if all(map(is_number, args)):
            return call_elementwise(frame, name, args)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            if any(leaf.kind == "b" for leaf in leaves):
                raise frame.not_closed("NumPy computes with truth values in 16 bits")
            return Op(name, tuple(as_kind(leaf, "f") for leaf in leaves), "f")

        return several(frame, args, lambda _: "f", entry)

    return handle


def _extreme(name: str) -> Callable[..., Value]:
    """`np.maximum` and `np.minimum`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named or len(args) != 2:
            raise frame.not_closed("these arguments of a NumPy function")

        def kind(kinds: list[str]) -> str:
            return max(kinds, key="bif".index)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            k = kind([leaf.kind for leaf in leaves])
            x, y = (as_kind(leaf, k) for leaf in leaves)
            if k == "f":
                return Op(f"np_{name}", (x, y), "f")
            if k == "b":
                return Op("or" if name == "maximum" else "and", (x, y), "b")
            return Op("imax" if name == "maximum" else "imin", (x, y), "i")

        return several(frame, args, kind, entry)

    return handle


def _entrywise(name: str, kind: str | None = None) -> Callable[..., Value]:
    """An operation that NumPy has as a function: `np.add`, `np.isnan`, `np.abs`."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")
        if len(args) == 2:
            if all(map(is_number, args)):
                return numpy_number(of_entries(frame, name, *(frame.atom(number_leaf(a)) for a in args)))
            return binary(frame, name, *args)

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            leaf = leaves[0]
            if leaf.kind == "b" and name in ("neg", "abs", "sign"):
                raise frame.not_closed(f"np.{name} of truth values")
            if name == "not":
                return Op("not", (as_kind(leaf, "b"),), "b")
            if kind == "b":
                return Op(name, (as_kind(leaf, "f"),), "b")
            if name == "sign":
                zero = hir.ZEROS[leaf.kind]
                one, minus = as_kind(Const(1.0, "f"), leaf.kind), as_kind(Const(-1.0, "f"), leaf.kind)
                rest = Op("add", (leaf, zero), leaf.kind)  # NaN, or a zero without a sign
                below = Op("select", (Op("lt", (leaf, zero), "b"), minus, rest), leaf.kind)
                return Op("select", (Op("gt", (leaf, zero), "b"), one, below), leaf.kind)
            return Op(name, (leaf,), leaf.kind)

        return several(frame, args, lambda kinds: kind or kinds[0], entry)

    return handle


_REDUCED: dict[Any, Any] = {
    np.sum: library.sum_all, np.prod: library.prod_all, np.max: library.max_all, np.min: library.min_all,
    np.mean: library.mean_all, np.any: library.any_all, np.all: library.all_all, np.argmax: library.argmax,
    np.argmin: library.argmin, np.var: library.var_all, np.std: library.std_all, np.amax: library.max_all,
    np.amin: library.min_all, np.median: library_more.median, np.ptp: library_more.peak_to_peak,
    np.count_nonzero: library_more.count_nonzero, np.nansum: library_more.nan_sum,
    np.nanmean: library_more.nan_mean, np.nanmax: library_more.nan_max, np.nanmin: library_more.nan_min,
}  # fmt: skip
"""Functions from a vector to a number."""
_OF_THE_KIND = (np.sum, np.prod, np.max, np.min, np.amax, np.amin, np.ptp, np.nansum, np.nanmax, np.nanmin)
"""Those whose result is of the kind of the entries."""
_KINDS = {np.any: "b", np.all: "b", np.argmax: "i", np.argmin: "i", np.count_nonzero: "i"}
_COUNTING = (np.sum, np.prod, np.mean, np.var, np.std, np.median, np.nansum, np.nanmean)
"""Those for which a truth value counts as 0 or 1."""
_OF_SOME = (np.max, np.min, np.amax, np.amin, np.argmax, np.argmin, np.ptp, np.nanmax, np.nanmin)
"""Those that NumPy has of one entry or more."""
_NO_TRUTHS = (np.ptp, np.nanmax, np.nanmin)


def _reduce(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value:
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
        text, more = library_more.spread if function is np.var else library_more.root_spread, [given["ddof"]]
        value = as_array(frame, value, "f", what="spread")
    if frame.program.records:
        text = exact.added(frame, text, value)
    kind = value.type.kind if function in _OF_THE_KIND else _KINDS.get(function, "f")  # type: ignore[attr-defined]
    return reduced(
        frame, text, value, given.get("axis", NONE), *more,
        kind=kind, keepdims=object_of(kept), least=int(function in _OF_SOME),
    )  # fmt: skip


def _concatenate(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arrays", "axis"), args, named)
    axis = given.get("axis", known(0))
    if not isinstance(given["arrays"].type, (Tuple, Known)):
        return _concatenate_display(frame, given["arrays"], axis)
    parts = [as_array(frame, part, what=("part", i)) for i, part in enumerate(items_of(given["arrays"]))]
    if any(map(is_never, parts)):
        return NOTHING
    if is_known(axis) and object_of(axis) is None:
        return joined(frame, [flat(frame, part) for part in parts])
    return joined(frame, parts, axis_of(frame, parts[0], axis))


def _concatenate_display(frame: Frame, value: Value, axis: Value) -> Value:
    """The arrays of a list whose length is not known, behind one another."""
    item = frame.program.facts.item(value.type.site) if isinstance(value.type, List) else None
    if isinstance(item, Array) and item.rank == 1 and is_known(axis) and object_of(axis) in (0, -1):
        result = library_call(frame, library.concatenate_rows, [value])
        return result if item.kind == "f" else as_array(frame, result, item.kind, what="joined")
    if not isinstance(value.type, (List, Array)) or item == NEVER:
        raise frame.not_closed("np.concatenate of these values")
    made = as_array(frame, value, copy=True, what="displayed")  # whose parts are equally long
    if is_never(made):
        return NOTHING
    assert isinstance(made.type, Array)
    if made.type.rank < 2:
        raise frame.not_closed("np.concatenate of numbers")
    where = axis_of(frame, row(frame, made, 0), axis) if made.type.rank > 2 else 0
    order = list(range(1, made.type.rank))
    order.insert(where, 0)
    moved = permuted(made, order)
    shape = shape_of(moved)
    long = times(frame, shape[where], shape[where + 1])
    return reshaped(frame, moved, [*shape[:where], long, *shape[where + 2 :]], copy=True)


def _vstack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """Vectors as rows; matrices below one another."""
    given = arguments(frame, ("tup",), args, named)
    return _stacked_below(frame, given["tup"])


def _stacked_below(frame: Frame, value: Value) -> Value:
    if isinstance(value.type, (Tuple, Known)):
        parts = [as_array(frame, one, what=("part", i)) for i, one in enumerate(items_of(value))]
        if any(map(is_never, parts)):
            return NOTHING
        return joined(frame, [_as_matrix(one) for one in parts])
    made = as_array(frame, value, copy=True, what="stack")
    if is_never(made):
        return NOTHING
    assert isinstance(made.type, Array)
    if made.type.rank < 3:
        if made.type.rank == 1:
            raise frame.not_closed("np.vstack of numbers")
        return made
    return _concatenate_display(frame, value, known(0))


def _as_matrix(value: Value) -> Value:
    """A vector as a matrix of one row; what has more axes as it is."""
    assert isinstance(value.type, Array)
    return with_axes_before(value) if value.type.rank == 1 else value


def _hstack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """Vectors behind one another; matrices beside one another."""
    value = arguments(frame, ("tup",), args, named)["tup"]
    if isinstance(value.type, (Tuple, Known)):
        parts = [
            as_array(frame, make_tuple([one]) if is_number(one) else one, what=("part", i))
            for i, one in enumerate(items_of(value))
        ]
        if any(map(is_never, parts)):
            return NOTHING
        return joined(frame, parts, min(shape_count(one) for one in parts[:1]) > 1)
    item = frame.program.facts.item(value.type.site) if isinstance(value.type, List) else None
    rank = item.rank if isinstance(item, Array) else getattr(value.type, "rank", 1) - 1
    return _concatenate_display(frame, value, known(int(rank > 1)))


def _column_stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """Vectors as columns; matrices beside one another."""
    value = arguments(frame, ("tup",), args, named)["tup"]
    if not isinstance(value.type, (Tuple, Known)):
        made = as_array(frame, value, what="columns")
        if is_never(made):
            return NOTHING
        if made.type.rank != 2:  # type: ignore[attr-defined]
            raise frame.not_closed("column_stack of these arrays")
        return attribute(frame, made, "T")
    parts = [as_array(frame, one, what=("part", i)) for i, one in enumerate(items_of(value))]
    if any(map(is_never, parts)):
        return NOTHING
    columns = [
        view(one, one.leaves[1], [*shape_of(one), ONE], [*strides_of(one), Const(0, "i")])
        if shape_count(one) == 1 else one
        for one in parts
    ]  # fmt: skip
    return joined(frame, columns, 1)


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


def _argsort(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`np.argsort`: which of equal entries comes first is known of a stable sort only."""
    given = arguments(frame, ("a", "axis", "kind", "order", "stable"), args, named)
    value = as_array(frame, given["a"], what="changed")
    if "order" in given or "stable" in given:
        raise frame.not_closed("np.argsort with these arguments")
    kind = given.get("kind", NONE)
    if not is_known(kind) or object_of(kind) not in (None, "quicksort", "heapsort", "stable", "mergesort"):
        raise frame.not_closed("np.argsort of this kind")
    text = library.argsort if object_of(kind) in ("stable", "mergesort") else library.argsort_of_different
    return changed(frame, text, value, given.get("axis", known(-1)), kind="i")


_Texts = dict[Any, tuple[Any, tuple[str, ...]]]
_TEXTS: _Texts = {
    np.dot: (library.matmul, ("a", "b")),
    np.matmul: (library.matmul, ("a", "b")), np.trace: (library.trace, ("a",)),
    np.linalg.cholesky: (library.cholesky, ("a",)),
    np.linalg.solve: (library.solve, ("a", "b")), np.linalg.inv: (library.inv, ("a",)),
    np.linalg.det: (library.det, ("a",)),
}  # fmt: skip
"""NumPy's functions that `library` has as Python text, and their arguments, all of which are arrays."""


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


def _searchsorted(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "v", "side"), args, named)
    side = given.get("side", known("left"))
    if not is_known(side):
        raise frame.not_closed("a side that is not a constant")
    left = object_of(side) == "left"
    a = as_array(frame, given["a"], what="sorted")
    if is_number(given["v"]):
        return library_call(frame, library.search_left if left else library.search_right, [a, given["v"]])
    v = as_array(frame, given["v"], what="wanted")
    return library_call(frame, library.search_all_left if left else library.search_all_right, [a, v])


def _bincount(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("x", "weights", "minlength"), args, named)
    x = as_array(frame, given["x"], what="counted")
    least = given.get("minlength", known(0))
    if "weights" in given and given["weights"].type != NONE.type:
        return library_call(
            frame, library.bincount_weights, [x, as_array(frame, given["weights"], what="weights"), least]
        )
    return library_call(frame, library.bincount, [x, least])


def _slogdet(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a",), args, named)
    return library_call(frame, library.slogdet, [as_array(frame, given["a"], "f", what="matrix")])


def _eye(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("N", "M", "k", "dtype"), args, named)
    made = library_call(frame, library.eye, [given["N"], given.get("M", NONE), given.get("k", known(0))])
    return as_array(frame, made, dtype(frame, given["dtype"]), copy=True) if "dtype" in given else made


def _identity(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("n", "dtype"), args, named)
    return _eye(frame, [given.pop("n")], given)


def _clip(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    ends = {"min": "a_min", "max": "a_max"}
    given = arguments(
        frame, ("a", "a_min", "a_max"), args, {ends.get(name, name): one for name, one in named.items()}
    )
    value = given["a"]
    for name, extreme in (("a_min", "maximum"), ("a_max", "minimum")):
        if given.get(name, NONE).type != NONE.type:
            value = _extreme(extreme)(frame, [value, given[name]], {})
    if value is given["a"]:
        raise frame.not_closed("np.clip without ends")
    return value


def _append(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arr", "values"), args, named)
    parts = [_entries(frame, given[name], name) for name in ("arr", "values")]
    return _concatenate(frame, [make_tuple(parts)], {})


def _entries(frame: Frame, value: Value, what: str) -> Value:
    """All entries of a number or an array, as an array of one axis."""
    if is_number(value):
        value = make_tuple([value])
    return flat(frame, as_array(frame, value, what=what))


def _repeat(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "repeats", "axis"), args, named)
    repeats, axis = given["repeats"], given.get("axis", NONE)
    if is_number(given["a"]) and is_number(repeats) and "axis" not in given:
        leaf = frame.atom(number_leaf(given["a"]))
        return filled(frame, leaf.kind, [number_leaf(repeats, "i")], leaf)
    value = as_array(frame, given["a"], what="a")
    if not is_number(repeats):
        repeats = as_array(frame, repeats, what="repeats")
        if getattr(repeats.type, "kind", "i") != "i" or getattr(repeats.type, "rank", 1) != 1:
            raise frame.not_closed("np.repeat with these counts")
    if is_never(value) or is_never(repeats):
        return NOTHING
    where = axes_of(frame, value, axis)
    if where is None:
        value, where = flat(frame, value), [0]
    if len(where) != 1:
        raise frame.not_closed("np.repeat along several axes")
    text = library.repeated if is_number(repeats) else library.repeated_each
    indices = library_call(frame, text, [number(shape_of(value)[where[0]]), repeats])
    return at_place(frame, value, Place("axis", value, (where[0], indices)))


def _logsumexp(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "axis", "b", "keepdims"), args, named)
    kept = given.get("keepdims", known(False))
    if ("b" in given and given["b"].type != NONE.type) or not is_known(kept):
        raise frame.not_closed("logsumexp with these arguments")
    value = as_array(frame, given["a"], "f", what="logs")
    axis = given.get("axis", NONE)
    return reduced(frame, library.logsumexp, value, axis, keepdims=bool(object_of(kept)), least=1)


def _transpose(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    every = [args[0], make_tuple(args[1:])] if len(args) > 2 else args
    given = arguments(frame, ("a", "axes"), every, named)
    value = as_array(frame, given["a"])
    if is_never(value):
        return NOTHING
    axes = given.get("axes", NONE)
    if axes.type == NONE.type:
        return attribute(frame, value, "T")
    order = [object_of(one) if is_known(one) else None for one in items_of(axes)]
    rank = shape_count(value)
    if any(type(one) is not int or not -rank <= one < rank for one in order):
        raise frame.not_closed("np.transpose with these axes")
    found = [one % rank for one in order]  # type: ignore[operator]
    if sorted(found) != list(range(rank)):
        raise frame.not_closed("np.transpose with these axes")
    return permuted(value, found)


def _interp(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("x", "xp", "fp"), args, named)
    points = [as_array(frame, given[name], "f", what=name) for name in ("xp", "fp")]
    if is_number(given["x"]):
        return library_call(frame, library.interp, [given["x"], *points])
    return library_call(frame, library.interp_all, [as_array(frame, given["x"], "f", what="x"), *points])


def _diag_indices(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("n",), args, named)
    made = library_call(frame, library.arange, [known(0), given["n"], known(1)])
    return make_tuple([made, made])


def _fill_diagonal(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "val"), args, named)
    indices = _diag_indices(frame, [number(shape_of(given["a"])[0])], {})
    put_at(frame, given["a"], Place("points", given["a"], items_of(indices)), given["val"])
    return NONE


def _cast(kind: str) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        (value,) = args
        if is_number(value):
            leaf = number_leaf(value)
            if kind == "i" and leaf.kind == "f":
                leaf = frame.op("int_trunc", (leaf,), "i")
            return numpy_number(as_kind(leaf, kind))
        return as_array(frame, value, kind, copy=True)

    return handle


def _functions() -> dict[Any, Callable[..., Value]]:
    import scipy.special

    found: dict[Any, Callable[..., Value]] = {
        function: _function(name) for function, name in ELEMENTWISE.items()
    }
    found.update({
        np.zeros: _make(0.0), np.ones: _make(1.0), np.empty: _make(0.0), np.full: _full, np.zeros_like:
        _like(0.0),
        np.ones_like: _like(1.0), np.empty_like: _like(0.0), np.array: _array(True), np.asarray:
        _array(False),
        np.arange: _arange, np.where: _where, np.maximum: _extreme("maximum"), np.minimum:
        _extreme("minimum"),
        np.concatenate: _concatenate, np.hstack: _hstack, np.vstack: _vstack,
        np.column_stack: _column_stack, np.diff: _diff,
        np.full_like: _full_like, np.diagonal: _diagonal,
        np.searchsorted: _searchsorted,
        np.bincount: _bincount,
        np.linalg.slogdet: _slogdet, np.eye: _eye, np.identity: _identity, np.clip: _clip,
        np.append: _append, np.repeat: _repeat, np.transpose: _transpose, np.float64: _cast("f"), np.int64:
        _cast("i"),
        np.abs: _entrywise("abs"), np.absolute: _entrywise("abs"), np.fabs: _entrywise("abs"),
        np.isnan: _entrywise("isnan", "b"), np.isfinite: _entrywise("isfinite", "b"),
        np.isinf: _entrywise("isinf", "b"), np.sign: _entrywise("sign"), np.add: _entrywise("add"),
        np.subtract: _entrywise("sub"), np.multiply: _entrywise("mul"), np.divide: _entrywise("truediv"),
        np.power: _entrywise("pow"), np.negative: _entrywise("neg"), np.logical_not: _entrywise("not", "b"),
        np.logical_and: _logical("bitand"), np.logical_or: _logical("bitor"),
        np.logical_xor: _logical("bitxor"), np.mod: _entrywise("mod"),
        scipy.special.logsumexp: _logsumexp, np.square: _square,
        np.cumsum: _along(library.cumsum, None, sums=True),
        np.cumprod: _along(library.cumprod, None, sums=True), np.sort: _along(library.sort, -1),
        np.argsort: _argsort,
        np.interp: _interp, np.diag_indices: _diag_indices, np.fill_diagonal: _fill_diagonal,
    })  # fmt: skip
    found.update(MORE)
    found.update(TEXTS)
    found.update(PARTS)
    return found


def _logical(name: str) -> Callable[..., Value]:
    """`np.logical_and` and the like: whether entries are not 0."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")

        def entry(frame: Frame, leaves: list[Expr]) -> Expr:
            return of_entries(frame, name, *(as_kind(leaf, "b") for leaf in leaves))

        return several(frame, args, lambda _: "b", entry)

    return handle


def _square(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    (value,) = args
    return _entrywise("mul")(frame, [value, value], named)


_FUNCTIONS = _functions()


def call(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of one of NumPy's functions; None for any other."""
    checked = families.parameter_check(frame, function, args, named)
    if checked is not None:
        return checked
    out = named.get("out", NONE)
    if "out" in named:
        named = {name: value for name, value in named.items() if name != "out"}
    if not _is_read(function):
        return None
    found = of_one_type(frame, args, lambda given: _numpys(_called(frame, function, given, named)))
    if out.type == NONE.type:
        return found
    return into(frame, items_of(out)[0] if isinstance(out.type, Tuple) else out, found)


def _numpys(value: Value) -> Value:
    """What a function of NumPy's gives: numbers in it are NumPy's."""
    match value.type:
        case Number():
            return numpy_number(value.leaf)
        case Tuple(_, cls, names):
            return make_tuple([_numpys(one) for one in items_of(value)], cls, names)
    return value


def _is_read(function: Any) -> bool:
    """Whether a function has a meaning here."""
    return _handler(function) is not None or function in _REDUCED or function in _TEXTS


def _handler(function: Any) -> Callable[..., Value] | None:
    handler = _FUNCTIONS.get(function)
    if handler is None and "scipy.linalg" in sys.modules:
        handler = texts_of_scipy_linalg().get(function)
    return handler


def _called(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value:
    if function in _REDUCED:
        return _reduce(frame, function, args, named)
    if function in _TEXTS:
        text, names = _TEXTS[function]
        given = arguments(frame, names, args, named)
        if len(given) != len(names):
            raise frame.not_closed("a NumPy function with these arguments")
        arrays = [as_array(frame, given[name], what=name) for name in names]
        if all(getattr(one.type, "kind", "f") == "b" for one in arrays):
            raise frame.not_closed(f"{function.__name__} of truth values")
        if any(getattr(one.type, "rank", 1) > 2 for one in arrays):
            raise frame.not_closed(f"{function.__name__} of an array of more than two axes")
        return library_call(frame, text, arrays)
    handler = _handler(function)
    assert handler is not None
    if any(map(is_never, args)):
        return NOTHING
    if isinstance(function, np.ufunc) and any(is_known(one) and no_number(one) for one in args):
        try:
            function(*(object_of(one) if is_known(one) else 1.0 for one in args))
        except TypeError as error:  # of None, or a string
            frame.fail(str(error))
            return NOTHING
    if isinstance(function, np.ufunc) and len(args) != function.nin:
        raise frame.not_closed(f"{function.__name__} of {len(args)} arguments: what is behind its own is out")
    return handler(frame, args, named)
