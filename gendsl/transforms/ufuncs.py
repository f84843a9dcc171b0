"""What numpy's elementwise functions, and their `outer`, do on dual arrays."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gendsl.errors import LostDerivativeError
from gendsl.transforms.arrays import DualArray, as_dual_array, finish, split, width
from gendsl.transforms.forward import lost
from gendsl.transforms.rules import BINARY_UFUNCS, UNARY_UFUNCS, VALUE_UFUNCS

# Products over inner dimensions: linear in each argument. (numpy 2 has more of them than numpy 1.)
_PRODUCTS = frozenset(
    getattr(np, name) for name in ("matmul", "vecdot", "matvec", "vecmat") if hasattr(np, name)
)

_LOGICAL = frozenset((np.logical_and, np.logical_or, np.logical_xor))


def no_rule(name: str) -> LostDerivativeError:
    """The error for a function that has no derivative rule, or no derivative."""
    return lost(
        name,
        "use functions that have a derivative; to look at the value only, compare (x < 0.5, np.argsort(x)) "
        "or print(x); for a whole number, which has no derivative, int(x), round(x), math.floor(x) or x // 1",
    )


def full_name(function: Any) -> str:
    """A numpy or scipy function as its documentation calls it."""
    if isinstance(function, np.ufunc):
        name = function.__name__
        known = (m for m in ("numpy", "scipy.special") if getattr(sys.modules[m], name, None) is function)
        module = next(known, None)
        return name if module is None else f"{module}.{name}"
    public = [part for part in function.__module__.split(".") if not part.startswith("_")]
    return ".".join([*public, function.__name__])


def plain(x: Any) -> Any:
    """`x` without its derivatives."""
    x = as_dual_array(x)
    return x.value if type(x) is DualArray else x


def refuse_options(name: str, options: dict[str, Any]) -> None:
    """Raise for options that change the type of the result, where it is stored, or which entries count."""
    for option, value in options.items():
        harmless = value is None or value is np._NoValue or (option == "where" and value is True)
        if harmless or (option == "dtype" and np.dtype(value) == np.float64):
            continue
        raise no_rule(f"{name}(..., {option}={value!r})")


def assignable(target: Any, name: str) -> Any:
    """`target`, if entries that carry derivatives can be stored in it."""
    if type(target) is DualArray or (isinstance(target, np.ndarray) and target.dtype.kind == "O"):
        return target
    raise lost(
        f"{name} into an array of floats",
        "write a = a + b in place of a += b, or start from np.zeros(n, dtype=object) or np.zeros_like(x)",
    )


def stored(result: Any, target: Any, name: str) -> Any:
    """`target`, with the result in it."""
    assignable(target, name)[...] = result if type(target) is DualArray else np.asarray(result, dtype=object)
    return target


def call(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...]) -> Any:
    """`ufunc` on inputs of which at least one carries derivatives.

    Raises:
        LostDerivativeError: there is no derivative rule.
    """
    if ufunc in VALUE_UFUNCS:
        # split refuses what is no number: np.logical_or(x, objects) would give x's value, not a truth value
        return ufunc(*(split(x)[0] if ufunc in _LOGICAL else plain(x) for x in inputs))
    if ufunc in _PRODUCTS:
        return multilinear(ufunc, *inputs)
    # Where a function is undefined, the result is NaN and has tangent NaN; numpy's warning would add nothing.
    with np.errstate(all="ignore"):
        if ufunc in UNARY_UFUNCS:
            x, tangent = split(inputs[0])
            assert tangent is not None
            y = ufunc(x)
            slope = np.asarray(UNARY_UFUNCS[ufunc](x, y, np))
            return finish(y, slope[..., np.newaxis] * tangent)
        if ufunc in BINARY_UFUNCS:
            return _binary(ufunc, name, inputs)
    raise no_rule(name)


def outer(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...]) -> Any:
    """The same for each entry of the first input with each of the second."""
    left, right = (as_dual_array(x) for x in inputs)
    column = np.reshape(left, np.shape(left) + (1,) * np.ndim(right))
    return call(ufunc, name, (column, right))


def _binary(ufunc: np.ufunc, name: str, inputs: tuple[Any, ...]) -> Any:
    parts = [split(x) for x in inputs]
    values = [value for value, _ in parts]
    z = np.asarray(ufunc(*values))
    total = np.zeros((*z.shape, width(parts)))
    for position, (value, tangent) in enumerate(parts):
        if tangent is None:
            continue
        partial = BINARY_UFUNCS[ufunc][position]
        if partial is None:
            raise no_rule(f"{name} (as a function of its argument {position + 1})")
        slope = np.asarray(partial(values[0], values[1], z))
        aligned = tangent.reshape((1,) * (z.ndim - value.ndim) + tangent.shape)
        total[..., : tangent.shape[-1]] += slope[..., np.newaxis] * aligned
    return finish(z, total)


def multilinear(function: Callable[..., Any], *operands: Any) -> Any:
    """A function that is linear in each operand: d f(a, b) = f(da, b) + f(a, db)."""
    parts = [split(x) for x in operands]
    values = [value for value, _ in parts]
    y = np.asarray(function(*values))
    total = np.zeros((*y.shape, width(parts)))
    for position, (_, tangent) in enumerate(parts):
        if tangent is None:
            continue
        before, after = values[:position], values[position + 1 :]
        for i in np.flatnonzero(tangent.reshape(-1, tangent.shape[-1]).any(axis=0)):
            total[..., i] += function(*before, tangent[..., i], *after)
    return finish(y, total)
