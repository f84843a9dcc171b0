"""Return values in a transform: their floats are marked, for how they depend on the choices is not known."""

from __future__ import annotations

import copy as shallow
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from gendsl.errors import LostDerivativeError
from gendsl.interface import GenerativeFunction
from gendsl.transforms.arrays import DualArray
from gendsl.transforms.forward import dual

NOT_A_CHOICE = 0
"""The coordinate of values that come from a return value: no choice's, so nothing may depend on it."""

_OPAQUE = (
    bool, int, np.integer, np.bool_, range, str, bytes, type(None), type,
    ModuleType, BuiltinFunctionType, np.ufunc, GenerativeFunction,
)  # fmt: skip
"""What a return value may hold as it is: nothing in it is a float computed from choices."""


def undifferentiated(value: Any, known: dict[int, Any] | None = None) -> Any:
    """A return value with its floats, however deep, marked as depending on what is no choice.

    `known` holds the copies made so far, by the id of the original, since objects can be cyclic.
    """
    if isinstance(value, (float, np.floating)):
        return dual(float(value), {NOT_A_CHOICE: 1.0})
    if isinstance(value, _OPAQUE) or _is_pure(value):
        return value
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)]

    def mark(item: Any) -> Any:
        return undifferentiated(item, known)

    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            tangent = np.zeros((*value.shape, NOT_A_CHOICE + 1))
            tangent[..., NOT_A_CHOICE] = 1.0
            return DualArray(value.astype(float), tangent)
        if value.dtype.kind not in "biuSUO":
            raise _unknown_return(value)
        marked = value.copy()
        if value.dtype.kind == "O":
            for index, item in np.ndenumerate(value):
                marked[index] = mark(item)
        return marked
    if isinstance(value, tuple):
        items = map(mark, value)
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, (set, frozenset)):
        return type(value)(map(mark, value))
    if not _is_plain_data(value):
        raise _unknown_return(value)
    marked = known[id(value)] = shallow.copy(value)
    if isinstance(value, list):
        marked[:] = map(mark, value)
    elif isinstance(value, dict):
        if any(isinstance(key, (float, np.floating)) for key in value):
            raise _unknown_return(value)
        marked.update((key, mark(item)) for key, item in value.items())
    for name in _attributes(value):
        object.__setattr__(marked, name, mark(getattr(value, name)))
    return marked


def _is_pure(value: Any) -> bool:
    """Whether a value is a function that holds no values of its own."""
    return isinstance(value, FunctionType) and not (value.__closure__ or value.__defaults__)


def _is_plain_data(value: Any) -> bool:
    """Whether all that an object knows is in its items or attributes, where floats can be marked."""
    if isinstance(value, (list, dict)):
        return True
    kind = type(value)
    stores = hasattr(value, "__dict__") or any("__slots__" in base.__dict__ for base in kind.__mro__)
    builtin_base = next((b for b in kind.__mro__ if b.__module__ == "builtins"), object)
    return stores and builtin_base is object and not isinstance(value, (partial, FunctionType, MethodType))


def _unknown_return(value: Any) -> LostDerivativeError:
    return LostDerivativeError(
        f"a return value of type {type(value).__name__} may hold or compute floats whose dependence on the "
        "choices is not known",
        fix="return plain data (numbers, strings, tuples, lists, dicts, arrays, objects with attributes), or "
        "read the choices themselves",
    )


def _attributes(thing: Any) -> list[str]:
    """The names of the attributes that an object stores, in its __dict__ or in slots."""
    slots = [name for kind in type(thing).__mro__ for name in kind.__dict__.get("__slots__", ())]
    return [*getattr(thing, "__dict__", ()), *(name for name in slots if hasattr(thing, name))]
