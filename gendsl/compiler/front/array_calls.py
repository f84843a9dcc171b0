"""Attributes, methods and functions of NumPy arrays, by what they mean.

It is one module, as each function takes some lines and none stands by itself.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import library, library_more
from gendsl.compiler.front.array_calls_more import MORE
from gendsl.compiler.front.array_places import Place, positions_of, put_at
from gendsl.compiler.front.arrays import (
    as_array,
    binary,
    copy_into,
    filled,
    flat,
    library_call,
    load,
    mapped,
    of_entries,
    reshaped,
    shape_of,
    size_of,
    strides_of,
    times,
    to_list,
    view,
)
from gendsl.compiler.front.frame import Frame, is_never
from gendsl.compiler.front.numbers import ELEMENTWISE
from gendsl.compiler.front.values import (
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
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.types import (
    Array,
    Known,
    List,
    Method,
    Number,
    Tuple,
    Union,
)

_ONE = Const(1, "i")
_DTYPES: dict[Any, str] = {
    float: "f", int: "i", bool: "b", np.float64: "f", np.int64: "i", np.intp: "i", np.bool_: "b", "float":
    "f",
    "int": "i", "float64": "f", "int64": "i", "bool": "b",
}  # fmt: skip


def attribute(frame: Frame, value: Value, name: str) -> Value:
    """`value.name` of an array."""
    assert isinstance(value.type, Array)
    match name:
        case "shape":
            return make_tuple([_count(n) for n in shape_of(value)])
        case "size":
            return _count(size_of(frame, value))
        case "ndim":
            return known(value.type.rank)
        case "T":
            return view(value, value.leaves[1], shape_of(value)[::-1], strides_of(value)[::-1])
    return Value(Method(value.type, name), value.leaves)


def _count(n: Expr) -> Value:
    return known(n.value) if isinstance(n, Const) else number(n)


_METHODS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "cumsum",
        "cumprod", "dot", "clip", "searchsorted", "repeat", "transpose",
        "diagonal",
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
            frame.fail_if(Op("ne", (size_of(frame, value), _ONE), "b"), "item() of several entries")
            return number(load(frame, value, value.leaves[1]).leaf)
        case "flatten", [] if not named:
            return reshaped(frame, value, [size_of(frame, value)], copy=True)
        case "ravel", [] if not named:
            return value if value.type.rank == 1 else reshaped(frame, value, [size_of(frame, value)])
        case "astype", [dtype] if not named:
            return as_array(frame, value, _dtype(frame, dtype), copy=True)
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
        rest: Expr = _ONE
        for i, n in enumerate(lengths):
            if i not in unknown:
                rest = times(frame, rest, n)
        lengths[unknown[0]] = frame.op("floordiv", (size_of(frame, value), rest), "i")
    return reshaped(frame, value, lengths)


def _dtype(frame: Frame, value: Value) -> str:
    if is_known(value) and isinstance(object_of(value), (type, str)) and object_of(value) in _DTYPES:
        return _DTYPES[object_of(value)]
    raise frame.not_closed("an array of this dtype")


def shape_argument(frame: Frame, value: Value) -> list[Expr]:
    from gendsl.compiler.front.containers import index_leaf

    parts = [value] if is_number(value) else items_of(value)
    return [index_leaf(frame, part) for part in parts]


def arguments(
    frame: Frame, names: tuple[str, ...], args: list[Value], named: dict[str, Value]
) -> dict[str, Value]:
    """The arguments of one of NumPy's functions by name; one that is not in its list is refused."""
    if len(args) > len(names):
        raise frame.not_closed("a NumPy function with so many arguments")
    found = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name not in names or name in found:
            raise frame.not_closed(f"the argument {name} of a NumPy function")
        found[name] = value
    return found


def _make(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("shape", "dtype"), args, named)
        kind = _dtype(frame, given["dtype"]) if "dtype" in given else "f"
        return filled(frame, kind, shape_argument(frame, given["shape"]), as_kind(Const(fill, "f"), kind))

    return handle


def _full(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("shape", "fill_value", "dtype"), args, named)
    leaf = number_leaf(given["fill_value"])
    kind = _dtype(frame, given["dtype"]) if "dtype" in given else leaf.kind
    return filled(frame, kind, shape_argument(frame, given["shape"]), frame.atom(leaf))


def _like(fill: float) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("a", "dtype"), args, named)
        model = as_array(frame, given["a"], what="like")
        kind = _dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
        return filled(frame, kind, shape_of(model), as_kind(Const(fill, "f"), kind))

    return handle


def _full_like(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "fill_value", "dtype"), args, named)
    model = as_array(frame, given["a"], what="like")
    kind = _dtype(frame, given["dtype"]) if "dtype" in given else model.type.kind  # type: ignore[attr-defined]
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


def _norm(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if len(args) != 1 or named:
        raise frame.not_closed("np.linalg.norm with these arguments")
    value = as_array(frame, args[0], "f", what="norm")
    return library_call(frame, library.norm, [flat(frame, value)])


def _array(copy: bool) -> Callable[..., Value]:
    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("object", "dtype"), args, named)
        kind = (
            _dtype(frame, given["dtype"]) if "dtype" in given and given["dtype"].type != NONE.type else None
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
        return make_tuple([positions_of(frame, as_array(frame, given["condition"]))])
    if all(is_number(one) for one in given.values()):
        from gendsl.compiler.front.numbers import truth

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


def several(
    frame: Frame,
    values: list[Value],
    kind: Callable[[list[str]], str],
    entry: Callable[[Frame, list[Expr]], Expr],
) -> Value:
    """A function of the entries of values, some of which are numbers."""
    scalars: dict[int, Expr] = {}
    arrays: dict[int, Value] = {}
    for i, value in enumerate(values):
        if is_never(value):
            return NOTHING
        if is_number(value):
            scalars[i] = frame.atom(number_leaf(value))
        else:
            arrays[i] = as_array(frame, value, what=("several", i))
    kinds = [scalars[i].kind if i in scalars else arrays[i].type.kind for i in range(len(values))]  # type: ignore[attr-defined]
    if not arrays:
        return numpy_number(entry(frame, [scalars[i] for i in range(len(values))]))

    def one(entries: list[Expr]) -> Expr:
        left = dict(zip(arrays, entries, strict=True))
        return entry(frame, [scalars[i] if i in scalars else left[i] for i in range(len(values))])

    return mapped(frame, list(arrays.values()), kind(kinds), one, "several")


def _function(name: str) -> Callable[..., Value]:
    """One of NumPy's elementwise functions that give floats."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        from gendsl.compiler.front.numbers import call_elementwise

        if named:
            raise frame.not_closed(f"the argument {next(iter(named))} of a NumPy function")
        if any(isinstance(value.type, Union) for value in args):
            raise frame.not_closed("a NumPy function of a value of several types")
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
                below = Op("select", (Op("lt", (leaf, zero), "b"), minus, leaf), leaf.kind)
                return Op("select", (Op("gt", (leaf, zero), "b"), one, below), leaf.kind)
            return Op(name, (leaf,), leaf.kind)

        return several(frame, args, lambda kinds: kind or kinds[0], entry)

    return handle


_REDUCED: dict[Any, tuple[Any, Any]] = {
    np.sum: (library.sum_all, library.sum_axis), np.prod: (library.prod_all, library.prod_axis),
    np.max: (library.max_all, library.max_axis), np.min: (library.min_all, library.min_axis),
    np.mean: (library.mean_all, library.mean_axis), np.any: (library.any_all, library.any_axis),
    np.all: (library.all_all, library.all_axis), np.argmax: (library.argmax, None), np.argmin:
    (library.argmin, None),
    np.var: (library.var_all, None), np.std: (library.std_all, None),
    np.amax: (library.max_all, library.max_axis), np.amin: (library.min_all, library.min_axis),
}  # fmt: skip


_OF_THE_KIND = (np.sum, np.prod, np.max, np.min, np.amax, np.amin)
"""Reductions whose result is of the kind of the entries."""
_COUNTING = (np.sum, np.prod, np.mean, np.var, np.std)
"""Reductions for which a truth value counts as 0 or 1."""


def _reduce(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value:
    """A sum, an extreme, a mean: of all entries, or along one axis."""
    whole, along = _REDUCED[function]
    if function in (np.var, np.std) and "ddof" in named:
        ddof = named["ddof"]
        if len(args) != 1 or len(named) > 1 or not is_known(ddof) or not isinstance(object_of(ddof), int):
            raise frame.not_closed("a spread with ddof and other arguments")
        value = flat(frame, as_array(frame, args[0], "f", what="reduced"))
        text = library_more.spread if function is np.var else library_more.root_spread
        return library_call(frame, text, [value, ddof])
    given = arguments(frame, ("a", "axis", "keepdims"), args, named)
    if is_never(given["a"]):
        return NOTHING
    if "keepdims" in given:
        kept = given.pop("keepdims")
        if not is_known(kept) or not isinstance(object_of(kept), bool):
            raise frame.not_closed("keepdims that is not a constant")
        if object_of(kept):
            return _with_axes(frame, function, given)
    if is_number(given["a"]):
        if "axis" in given:
            raise frame.not_closed("a reduction of a number along an axis")
        given["a"] = make_tuple([given["a"]])
    value = as_array(frame, given["a"], what="reduced")
    if getattr(value.type, "kind", "f") == "b" and function in _COUNTING:
        value = as_array(frame, value, "i", what="counted")
    axis = given.get("axis", NONE)
    if not is_known(axis):
        raise frame.not_closed("an axis that is not a constant")
    if is_never(value):
        return NOTHING
    assert isinstance(value.type, Array)
    where = object_of(axis)
    if where is None or value.type.rank == 1:
        return library_call(frame, whole, [flat(frame, value)])
    if along is None or value.type.rank != 2 or not isinstance(where, int):
        raise frame.not_closed("a reduction along this axis")
    kind = value.type.kind
    if where % 2 == 0:
        value = attribute(frame, value, "T")
    result = library_call(frame, along, [value])
    if kind != "f" and function in _OF_THE_KIND and not is_never(result):
        return as_array(frame, result, kind, what="reduced along")
    return result


def _with_axes(frame: Frame, function: Any, given: dict[str, Value]) -> Value:
    """A reduction that keeps the axes that are gone through, with one entry each."""
    value = as_array(frame, given["a"], what="reduced")
    reduced = _reduce(frame, function, [value], {"axis": given.get("axis", NONE)})
    if is_never(value) or is_never(reduced):
        return NOTHING
    assert isinstance(value.type, Array)
    if is_number(reduced):
        return reshaped(frame, as_array(frame, make_tuple([reduced]), what="kept"), [_ONE] * value.type.rank)
    (n,) = shape_of(reduced)
    return reshaped(frame, reduced, [_ONE, n] if object_of(given["axis"]) % 2 == 0 else [n, _ONE])


def _concatenate(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arrays",), args, named)
    if not isinstance(given["arrays"].type, (Tuple, Known)):
        return _concatenate_display(frame, given["arrays"])
    parts = [as_array(frame, part, what=("part", i)) for i, part in enumerate(items_of(given["arrays"]))]
    result = parts[0]
    for i, part in enumerate(parts[1:]):
        frame.unrolled += (("concatenate", i),)
        result = library_call(frame, library.concatenate, [result, part])
        frame.unrolled = frame.unrolled[:-1]
    if any(map(is_never, [*parts, result])):
        return NOTHING
    kind = max((part.type.kind for part in parts), key="bif".index)  # type: ignore[attr-defined]
    return as_array(frame, result, kind, what="joined")


def _concatenate_display(frame: Frame, value: Value) -> Value:
    result = library_call(frame, library.concatenate_rows, [value])
    item = frame.program.facts.item(value.type.site) if isinstance(value.type, List) else None
    if isinstance(item, Array) and item.kind != "f" and not is_never(result):
        return as_array(frame, result, item.kind, what="joined")
    return result


def _stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("arrays",), args, named)
    return as_array(frame, given["arrays"], what="stack")


def _column_stack(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("tup",), args, named)
    made = as_array(frame, given["tup"], what="columns")
    if made.type.rank != 2:  # type: ignore[attr-defined]
        raise frame.not_closed("column_stack of these arrays")
    return attribute(frame, made, "T")


def _cumulative(along: Any, whole: Any) -> Callable[..., Value]:
    """A cumulative sum or product: of all entries, or along an axis of a matrix."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, ("a", "axis"), args, named)
        value = as_array(frame, given["a"], what="cumulated")
        if getattr(value.type, "kind", "f") == "b":
            value = as_array(frame, value, "i", what="counted")
        axis = given.get("axis", NONE)
        if is_never(value):
            return NOTHING
        assert isinstance(value.type, Array)
        if not is_known(axis):
            raise frame.not_closed("an axis that is not a constant")
        if object_of(axis) is None or value.type.rank == 1:
            return library_call(frame, whole, [flat(frame, value)])
        if value.type.rank != 2 or not isinstance(object_of(axis), int):
            raise frame.not_closed("a cumulative sum along this axis")
        if object_of(axis) % 2:
            return library_call(frame, along, [value])
        return attribute(frame, library_call(frame, along, [attribute(frame, value, "T")]), "T")

    return handle


_Texts = dict[Any, tuple[Any, tuple[str, ...]]]
_TEXTS: _Texts = {
    np.dot: (library.matmul, ("a", "b")),
    np.matmul: (library.matmul, ("a", "b")), np.outer: (library.outer, ("a", "b")),
    np.sort: (library.sort, ("a",)), np.argsort: (library.argsort, ("a",)), np.diag: (library.diag, ("v",)),
    np.trace: (library.trace, ("a",)), np.linalg.cholesky: (library.cholesky, ("a",)),
    np.linalg.solve: (library.solve, ("a", "b")), np.linalg.inv: (library.inv, ("a",)),
    np.linalg.det: (library.det, ("a",)), np.flatnonzero: (library.positions, ("a",)),
    np.vdot: (library.matmul, ("a", "b")), np.inner: (library.matmul, ("a", "b")),
}  # fmt: skip
"""NumPy's functions that `library` has as Python text, and their arguments, all of which are arrays."""
_OF_TRUTHS = (np.sort, np.argsort, np.diag, np.flatnonzero)
"""Those of them that compute nothing with the entries."""


def _diff(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    if not args or not set(named) <= {"prepend", "append"}:
        raise frame.not_closed("np.diff with these arguments")
    value = as_array(frame, args[0], what="diff")
    if len(args) > 1 or (named and getattr(value.type, "rank", 1) != 1):
        raise frame.not_closed("np.diff with these arguments")
    for name, end in named.items():
        more = as_array(frame, make_tuple([end]) if is_number(end) else end, what=name)
        kinds = [one.type.kind for one in (more, value)]  # type: ignore[attr-defined]
        value = library_call(
            frame, library.concatenate, [more, value] if name == "prepend" else [value, more]
        )
        value = as_array(frame, value, "f" if "f" in kinds else "i", what=("diff", name))
    return library_call(frame, library.diff, [value])


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


def _linspace(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("start", "stop", "num"), args, named)
    return library_call(frame, library.linspace, [given["start"], given["stop"], given.get("num", known(50))])


def _eye(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("N",), args, {key: one for key, one in named.items() if key != "dtype"})
    made = library_call(frame, library.eye, [given["N"]])
    return as_array(frame, made, _dtype(frame, named["dtype"]), copy=True) if "dtype" in named else made


def _clip(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a", "a_min", "a_max"), args, named)
    lower = _extreme("maximum")(frame, [given["a"], given["a_min"]], {})
    return _extreme("minimum")(frame, [lower, given["a_max"]], {})


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
    given = arguments(frame, ("a", "repeats"), args, named)
    if not is_number(given["repeats"]):
        raise frame.not_closed("np.repeat with an array of counts")
    if is_number(given["a"]):
        leaf = frame.atom(number_leaf(given["a"]))
        return filled(frame, leaf.kind, [number_leaf(given["repeats"], "i")], leaf)
    return library_call(frame, library.repeat, [as_array(frame, given["a"]), given["repeats"]])


def _logsumexp(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a",), args, named)
    return library_call(frame, library.logsumexp, [flat(frame, as_array(frame, given["a"], "f"))])


def _transpose(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    given = arguments(frame, ("a",), args, named)
    return attribute(frame, as_array(frame, given["a"]), "T")


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
        np.concatenate: _concatenate, np.hstack: _concatenate, np.vstack: _stack,
        np.column_stack: _column_stack, np.diff: _diff,
        np.full_like: _full_like, np.diagonal: _diagonal, np.linalg.norm: _norm,
        np.searchsorted: _searchsorted,
        np.bincount: _bincount,
        np.linalg.slogdet: _slogdet, np.linspace: _linspace, np.eye: _eye, np.identity: _eye, np.clip: _clip,
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
        np.cumsum: _cumulative(library_more.cumsum_rows, library.cumsum),
        np.cumprod: _cumulative(library_more.cumprod_rows, library.cumprod),
        np.interp: _interp, np.diag_indices: _diag_indices, np.fill_diagonal: _fill_diagonal,
    })  # fmt: skip
    found.update(MORE)
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
    from gendsl.compiler.front import families

    checked = families.parameter_check(frame, function, args, named)
    if checked is not None:
        return checked
    found = _called(frame, function, args, named)
    return None if found is None else _numpys(found)


def _numpys(value: Value) -> Value:
    """What a function of NumPy's gives: numbers in it are NumPy's."""
    match value.type:
        case Number():
            return numpy_number(value.leaf)
        case Tuple(_, cls, names):
            return make_tuple([_numpys(one) for one in items_of(value)], cls, names)
    return value


def _called(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    if function in _REDUCED:
        return _reduce(frame, function, args, named)
    if function in _TEXTS:
        text, names = _TEXTS[function]
        given = arguments(frame, names, args, named)
        if len(given) != len(names):
            raise frame.not_closed("a NumPy function with these arguments")
        arrays = [as_array(frame, given[name], what=name) for name in names]
        if all(getattr(one.type, "kind", "f") == "b" for one in arrays) and function not in _OF_TRUTHS:
            raise frame.not_closed(f"{function.__name__} of truth values")
        return library_call(frame, text, arrays)
    handler = _FUNCTIONS.get(function)
    if handler is None:
        return None
    if any(map(is_never, args)):
        return NOTHING
    if isinstance(function, np.ufunc) and len(args) != function.nin:
        raise frame.not_closed(f"{function.__name__} of {len(args)} arguments: what is behind its own is out")
    return handler(frame, args, named)
