"""Methods and functions of NumPy arrays: what reads a call of each is in the modules of their kinds."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gendsl.compiler.front import (
    array_arguments,
    array_elementwise,
    array_joins,
    array_making,
    array_products,
    array_searches,
    array_shapes,
    array_sums,
    array_texts,
    families,
    library_searches,
)
from gendsl.compiler.front.array_arguments import ONE, into
from gendsl.compiler.front.array_places import Place, put_at
from gendsl.compiler.front.array_shapes import raveled, reshape
from gendsl.compiler.front.arrays import as_array, copy_into, library_call, load, reshaped, size_of, to_list
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.numbers import Handler, cast, no_number, of_one_type
from gendsl.compiler.hir import Op
from gendsl.compiler.hir.types import (
    Array,
    Number,
    Tuple,
    may_be_array,
)
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    Value,
    as_kind,
    is_known,
    is_never,
    items_of,
    make_tuple,
    number,
    numpy_number,
    object_of,
    without_axes,
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
            return raveled(frame, value)
        case "astype", [dtype] if not named:
            return as_array(frame, value, array_arguments.dtype(frame, dtype), copy=True)
        case "reshape", _ if not named:
            return reshape(frame, value, args)
        case "sort", [] if not named:
            ordered = library_call(frame, library_searches.sort, [value])
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


def method_of_number(frame: Frame, value: Value, name: str, args: list[Value]) -> Value | None:
    """A method of one of NumPy's scalars, or of an array without axes; None for one that is not read."""
    leaf = value.leaf
    match name, args:
        case "astype", [dtype]:
            made = without_axes if may_be_array(value.type) else numpy_number
            return made(cast(frame, leaf, array_arguments.dtype(frame, dtype)))
        case ("copy", []):
            return value
        case (("min" | "max"), []):
            return numpy_number(leaf)
        case "sum", []:
            return numpy_number(as_kind(leaf, "f" if leaf.kind == "f" else "i"))
        case "mean", []:
            return numpy_number(as_kind(leaf, "f"))
        case (("any" | "all"), []):
            return numpy_number(as_kind(leaf, "b"))
    return None


_MODULES: tuple[Any, ...] = (
    array_elementwise,
    array_joins,
    array_making,
    array_products,
    array_searches,
    array_shapes,
    array_sums,
    array_texts,
)
FUNCTIONS: dict[Any, Handler] = {
    function: handler for module in _MODULES for function, handler in module.FUNCTIONS.items()
}


def call(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of one of NumPy's functions; None for any other."""
    checked = families.parameter_check(frame, function, args, named)
    if checked is not None:
        return checked
    out = named.get("out", NONE)
    if "out" in named:
        named = {name: value for name, value in named.items() if name != "out"}
    handler = handler_of(function)
    if handler is None:
        return None
    of_result = _as_it_is if function in (np.asarray, np.array, np.broadcast_arrays) else _numpys
    found = of_one_type(frame, args, lambda given: of_result(_called(frame, function, handler, given, named)))
    if out.type == NONE.type:
        return found
    return into(frame, items_of(out)[0] if isinstance(out.type, Tuple) else out, found)


def _as_it_is(value: Value) -> Value:
    return value


def _numpys(value: Value) -> Value:
    """What a function of NumPy's gives: numbers in it are NumPy's."""
    match value.type:
        case Number():
            return numpy_number(value.leaf)
        case Tuple(_, cls, names):
            return make_tuple([_numpys(one) for one in items_of(value)], cls, names)
    return value


def handler_of(function: Any) -> Handler | None:
    """What reads a call of a function; None for one that has no meaning here."""
    handler = FUNCTIONS.get(function)
    if handler is None and "scipy.linalg" in sys.modules:
        handler = array_texts.texts_of_scipy_linalg().get(function)
    return handler


def _called(
    frame: Frame, function: Any, handler: Handler, args: list[Value], named: dict[str, Value]
) -> Value:
    if any(map(is_never, args)):
        return NOTHING
    if isinstance(function, np.ufunc) and any(is_known(one) and no_number(one) for one in args):
        try:
            function(*(object_of(one) if is_known(one) else 1.0 for one in args))
        except (TypeError, ValueError) as error:  # of None, or a string
            frame.fail(str(error))
            return NOTHING
    if isinstance(function, np.ufunc) and all(one.type == NONE.type for one in args[function.nin :]):
        args = args[: function.nin]
    if isinstance(function, np.ufunc) and len(args) != function.nin:
        raise frame.not_closed(f"{function.__name__} of {len(args)} arguments: what is behind its own is out")
    return handler(frame, args, named)
