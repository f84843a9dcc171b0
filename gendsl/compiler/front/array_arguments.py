"""Arguments of NumPy's functions, by their names, and what several functions do with arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.compiler.front.arrays import (
    as_array,
    copy_into,
    elementwise,
    library_call,
    mapped,
    same_shape,
    shape_of,
    size_of,
    strides_of,
    view,
)
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import index_leaf, writable
from gendsl.compiler.front.numbers import Handler, cast
from gendsl.compiler.hir import Const, Expr, Op
from gendsl.compiler.hir.types import Array, Method
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
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

ONE = Const(1, "i")
_WHOLE = Const(2.0**53, "f")


_DTYPES: dict[Any, str] = {
    float: "f", int: "i", bool: "b", np.float64: "f", np.int64: "i", np.intp: "i", np.bool_: "b", "float":
    "f",
    "int": "i", "float64": "f", "int64": "i", "bool": "b",
}  # fmt: skip


def _is_whole(leaf: Expr) -> Expr:
    return Op("eq", (Op("np_floor", (leaf,), "f"), leaf), "b")


def as_integers(frame: Frame, found: Value) -> Value:
    """What was computed with floats where NumPy computes with integers; fails where these may be rounded."""

    def whole(leaf: Expr) -> Expr:
        leaf = frame.atom(leaf)
        exact = Op("and", (Op("lt", (Op("abs", (leaf,), "f"), _WHOLE), "b"), _is_whole(leaf)), "b")
        frame.fail_unless(exact, "a number that is no integer below 2 ** 53")
        return cast(frame, leaf, "i")

    if is_never(found):
        return NOTHING
    return numpy_number(whole(found.leaf)) if is_number(found) else elementwise(frame, found, whole, "i")


def attribute(frame: Frame, value: Value, name: str) -> Value:
    """`value.name` of an array."""
    assert isinstance(value.type, Array)
    match name:
        case "shape":
            return make_tuple([count(n) for n in shape_of(value)])
        case "size":
            return count(size_of(frame, value))
        case "ndim":
            return known(value.type.rank)
        case "T":
            return view(value, value.leaves[1], shape_of(value)[::-1], strides_of(value)[::-1])
    return Value(Method(value.type, name), value.leaves)


def count(n: Expr) -> Value:
    return known(n.value) if isinstance(n, Const) else number(n)


def dtype(frame: Frame, value: Value) -> str:
    if is_known(value) and isinstance(object_of(value), (type, str)) and object_of(value) in _DTYPES:
        return _DTYPES[object_of(value)]
    raise frame.not_closed("an array of this dtype")


def shape_argument(frame: Frame, value: Value) -> list[Expr]:
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


def with_axes_before(value: Value) -> Value:
    return view(value, value.leaves[1], [ONE, *shape_of(value)], [Const(0, "i"), *strides_of(value)])


def shape_count(value: Value) -> int:
    """How many axes an array has."""
    assert isinstance(value.type, Array)
    return value.type.rank


def into(frame: Frame, out: Value, found: Value) -> Value:
    """What a function of NumPy's gives, put into an array that is given as `out=`."""
    if is_never(found) or is_never(out):
        return NOTHING
    if not isinstance(out.type, Array) or not isinstance(found.type, Array):
        raise frame.not_closed("the argument out of a NumPy function")
    writable(frame, out)
    if found.type.kind != out.type.kind or found.type.rank != out.type.rank:
        raise frame.not_closed("the argument out of a NumPy function, of another kind")
    same_shape(frame, shape_of(out), shape_of(found))
    copy_into(frame, out, found, "out")
    return out


def vector(frame: Frame, value: Value, what: str, kind: str | None = None) -> Value:
    """An argument that is an array of one axis."""
    made = as_array(frame, value, kind, what=what)
    if not isinstance(made.type, Array) or made.type.rank != 1:
        raise frame.not_closed(f"the argument {what} of a NumPy function, of several axes")
    return made


def of_vectors(function: Any, *names: str, kind: str | None = None) -> Handler:
    """A function of the library whose arguments are all vectors."""

    def handle(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
        given = arguments(frame, names, args, named)
        if len(given) != len(names):
            raise frame.not_closed("a NumPy function with these arguments")
        vectors = [vector(frame, given[name], name, kind) for name in names]
        if any(getattr(one.type, "kind", "f") == "b" for one in vectors):
            raise frame.not_closed("a NumPy function of truth values")
        return library_call(frame, function, vectors)

    return handle


def given_arguments(
    frame: Frame, names: tuple[str, ...], args: list[Value], named: dict[str, Value]
) -> dict[str, Value]:
    return arguments(frame, names, args, named)
