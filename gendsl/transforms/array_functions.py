"""What numpy's functions of whole arrays do on dual arrays.

Each has a rule, by its kind: functions that move entries (`structure`), that reduce or order them
(`reductions`) or go between them (`interpolation`), products and linear algebra (`linear_algebra`), and
questions (which is largest? what shape?), whose discrete answer is found on the values. A function without a
rule raises `LostDerivativeError`. The `reduce` and `accumulate` of elementwise functions (`ufuncs`) are such
functions, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special

from gendsl.transforms import interpolation, linear_algebra, reductions, structure
from gendsl.transforms.dispatch import Dispatched
from gendsl.transforms.rules import present
from gendsl.transforms.ufuncs import call, full_name, no_rule, outer, plain, refuse_options, stored

Function = Callable[..., Any]


def _question(function: Function) -> Function:
    def answer(*args: Any, **kwargs: Any) -> Any:
        return function(*map(plain, args), **{key: plain(value) for key, value in kwargs.items()})

    return answer


_QUESTIONS = present(
    "shape ndim size argmax argmin argsort argpartition lexsort searchsorted digitize nonzero flatnonzero "
    "argwhere count_nonzero any all isclose allclose array_equal array_equiv isin isposinf isneginf "
    "isreal iscomplexobj isrealobj iterable",
    np,
)

RULES: dict[Function, Function] = {
    **structure.RULES,
    **reductions.RULES,
    **interpolation.RULES,
    **linear_algebra.RULES,
    **{function: _question(function) for function in _QUESTIONS},
    np.isscalar: lambda element: np.ndim(element) == 0,
}

# Their options are their own: a result of another type, or stored elsewhere, loses nothing.
_TAKES_OPTIONS = frozenset([*_QUESTIONS, np.array, np.asarray, np.asanyarray, np.ascontiguousarray])
_TAKES_OPTIONS |= {np.zeros_like, np.ones_like, np.empty_like}

# Options that every rule refuses unless they change nothing.
_OPTIONS = ("out", "dtype", "where", "initial", "casting", "like", "subok", "overwrite_input")


def apply_function(function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`function` of arguments of which at least one carries derivatives.

    Raises:
        LostDerivativeError: there is no derivative rule.
    """
    rule = RULES.get(function)
    if rule is None:
        raise no_rule(full_name(function))
    if kwargs and function not in _TAKES_OPTIONS:
        refuse_options(full_name(function), {key: kwargs[key] for key in _OPTIONS if key in kwargs})
        kwargs = {key: value for key, value in kwargs.items() if key not in _OPTIONS}
    try:
        return rule(*args, **kwargs)
    except TypeError:
        try:
            inspect.signature(rule).bind(*args, **kwargs)
        except TypeError as mismatch:
            raise no_rule(f"{full_name(function)} called like this ({mismatch})") from None
        raise


# The function of a whole array that a ufunc's `reduce` or `accumulate` is.
_REDUCTIONS: dict[tuple[np.ufunc, str], Callable[..., Any]] = {
    (np.add, "reduce"): np.sum,
    (np.multiply, "reduce"): np.prod,
    (np.maximum, "reduce"): np.max,
    (np.minimum, "reduce"): np.min,
    (np.logical_and, "reduce"): np.all,
    (np.logical_or, "reduce"): np.any,
    (np.logaddexp, "reduce"): scipy.special.logsumexp,
    (np.add, "accumulate"): np.cumsum,
    (np.multiply, "accumulate"): np.cumprod,
}


def apply_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`ufunc` (or its `method`) on inputs of which at least one carries derivatives.

    Raises:
        LostDerivativeError: there is no derivative rule.
    """
    name = full_name(ufunc)
    outputs = options.pop("out", None) or ()
    if method == "__call__" or (method == "outer" and ufunc.nin == 2):
        refuse_options(name, options)
        result = (call if method == "__call__" else outer)(ufunc, name, inputs)
    else:
        result = _reduce(ufunc, method, f"{name}.{method}", inputs, options)
    return stored(result, outputs[0], name) if outputs else result


def _reduce(
    ufunc: np.ufunc, method: str, name: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    function = _REDUCTIONS.get((ufunc, method))
    if function is None:
        raise no_rule(name)
    axis = options.pop("axis", 0)
    keepdims = {"keepdims": True} if options.pop("keepdims", False) else {}
    refuse_options(name, options)
    return apply_function(function, inputs, {"axis": axis, **keepdims})


Dispatched.apply_ufunc = staticmethod(apply_ufunc)
Dispatched.apply_function = staticmethod(apply_function)
