"""What a kernel is made of, as JSON: so that a run goes on with the kernel that it was started with.

A kernel of gendsl is described by the function that made it and the arguments that it was given, down through
kernels of kernels: names, numbers, strings, addresses and selections as they are, arrays by a checksum,
functions and programs by their qualified names. What a step or a warm-up changes later is not in it.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar

import numpy as np

from gendsl.distributions import Distribution
from gendsl.inference.kernel import Kernel
from gendsl.interface import GenerativeFunction
from gendsl.runtime.encoding import LARGEST, encode
from gendsl.selection import Selection
from gendsl.transforms.language import Transform, TransformPair

_Parameters = ParamSpec("_Parameters")
_Made = TypeVar("_Made", bound=Kernel)

_DEEPEST = 50
_FUNCTIONS = types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, functools.partial
_PLAIN = (
    type(None), bool, int, float, str, np.generic, Selection, Kernel, GenerativeFunction, Transform,
    TransformPair, *_FUNCTIONS,
)  # fmt: skip
_NOT_DESCRIBED = ("structure", "recipe", "parts", "move", "told", "order")
"""The attributes of a kernel that say the same in another way, or are described by themselves."""

_PARTS = ("kernel", "kernels")
"""The parameters of the makers of kernels of kernels that `parts` stands for."""


def kernel_maker(make: Callable[_Parameters, _Made]) -> Callable[_Parameters, _Made]:
    """Decorates a function that makes kernels: each has a description of what it was made with."""
    signature = inspect.signature(make)

    @functools.wraps(make)
    def made(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Made:
        kernel = make(*args, **kwargs)
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        composed = hasattr(kernel, "parts")
        arguments = {
            name: describe(value)
            for name, value in given.arguments.items()
            if not (composed and name in _PARTS)
        }
        kernel = replace(kernel, structure={make.__name__: arguments})
        return kernel.from_recipe(made, *args, **kwargs)  # type: ignore[no-any-return]

    return made


def describe(value: Any, depth: int = 0) -> Any:
    """A kernel, or what one is made with, as JSON that is equal for what is made alike."""
    kind, depth = type(value), depth + 1
    if kind is int and value.bit_length() > LARGEST:
        return hex(value)
    if value is None or kind in (bool, int, float, str):
        return encode(value)
    if depth > _DEEPEST:
        return {"class": kind.__qualname__}
    if isinstance(value, np.generic):
        return describe(value.item(), depth)
    if isinstance(value, np.ndarray):
        return _array(value, depth)
    if isinstance(value, Mapping):
        return {"dict": [[describe(key, depth), describe(value[key], depth)] for key in value]}
    if isinstance(value, (list, tuple)):
        return [describe(entry, depth) for entry in value]
    if isinstance(value, (set, frozenset)):
        return {"set": sorted((describe(entry, depth) for entry in value), key=str)}
    if isinstance(value, Kernel):
        return _kernel(value, depth)
    if isinstance(value, _FUNCTIONS):
        return _function(value, depth)
    if isinstance(value, GenerativeFunction):
        name = getattr(value, "__qualname__", value.name)
        return {"program": name, "bound": describe(getattr(value, "bound", ()), depth)}
    if isinstance(value, Transform):
        name = value.origin.function.__qualname__
        return {"transform": name, "parameters": describe(value.parameters, depth)}
    if isinstance(value, TransformPair):
        return {"pair": [describe(value.forward, depth), describe(value.backward, depth)]}
    if isinstance(value, (Selection, Distribution)):
        return {kind.__qualname__: {name: describe(at, depth) for name, at in _attributes(value).items()}}
    return _object(value, depth)


def _array(array: np.ndarray, depth: int) -> Any:
    if array.dtype.kind == "O":
        return describe(array.tolist(), depth)
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]
    return {"array": [array.dtype.str, list(array.shape), digest]}


def _function(function: Any, depth: int) -> Any:
    if isinstance(function, functools.partial):
        given = [describe(function.args, depth), describe(function.keywords, depth)]
        return {"partial": describe(function.func, depth), "arguments": given}
    described = {"function": function.__qualname__}
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.MethodType) and owner is not None:
        described["of"] = describe(owner, depth)
    return described


def _kernel(kernel: Kernel, depth: int) -> Any:
    described = kernel.structure
    if described is None:
        described = {type(kernel).__qualname__: _attributes_described(kernel, depth, _NOT_DESCRIBED)}
    parts = getattr(kernel, "parts", None)
    if parts is None:
        return described
    return {**described, "parts": [describe(part, depth) for part in parts]}


def _object(value: Any, depth: int) -> Any:
    """An object of any class, such as a kernel of the user's own: its class, its numbers and the like.

    Of what else it has, the classes: it may be large, or change as the kernel runs.
    """
    return {"class": type(value).__qualname__, **_attributes_described(value, depth)}


def _attributes_described(value: Any, depth: int, left_out: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        name: describe(at, depth) if _is_plain(at) else {"class": type(at).__qualname__}
        for name, at in _attributes(value).items()
        if name not in left_out
    }


def _is_plain(value: Any) -> bool:
    """Whether an attribute is described by what is in it."""
    return all(map(_is_plain, value)) if isinstance(value, tuple) else isinstance(value, _PLAIN)


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object that are not private, by name."""
    names = [name for kind in type(value).__mro__ for name in _slots(kind)]
    names += getattr(value, "__dict__", ())
    return {
        name: getattr(value, name)
        for name in dict.fromkeys(names)
        if not name.startswith("_") and hasattr(value, name)
    }


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def difference(before: Any, now: Any, where: str = "") -> str | None:
    """The first place in which two descriptions differ, and what is there; None if they are equal."""
    if before == now:
        return None
    if isinstance(before, dict) and isinstance(now, dict) and before.keys() == now.keys():
        names = (difference(before[name], now[name], f"{where}, {name}") for name in before)
        return next(found for found in names if found)
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        entries = (difference(*pair, f"{where}, {i}") for i, pair in enumerate(zip(before, now, strict=True)))
        return next(found for found in entries if found)
    place = where.removeprefix(", ") or "all of it"
    return f"{place}: it was {_short(before)}, and is {_short(now)}"


def _short(described: Any) -> str:
    text = str(described)
    return text if len(text) <= 120 else f"{text[:117]}..."
