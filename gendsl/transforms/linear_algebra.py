"""Products of arrays, and numpy.linalg, on dual arrays.

A product is linear in each of its arguments. The functions of a matrix use autograd's Jacobian at the values;
only functions that autograd is known, and tested, to differentiate are here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import autograd
import autograd.numpy
import numpy as np
from autograd.tracer import isbox

from gendsl.transforms.arrays import as_dual_array, finish, split, width
from gendsl.transforms.rules import ArrayRules, present
from gendsl.transforms.ufuncs import full_name, multilinear, no_rule, plain

Function = Callable[..., Any]

RULES = ArrayRules()


# --- products ------------------------------------------------------------------------------------


def _product(function: Function) -> Function:
    def product(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        return multilinear(lambda x, y: function(x, y, *args, **kwargs), a, b)

    return product


for _function in present("dot inner outer vdot tensordot kron convolve correlate cross", np):
    RULES[_function] = _product(_function)
for _function in present("matmul outer tensordot cross vecdot", np.linalg):
    RULES[_function] = _product(_function)


@RULES.of(np.einsum)
def _einsum(subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    if not isinstance(subscripts, str):
        raise no_rule("numpy.einsum with lists of subscripts (use a string)")
    return multilinear(lambda *arrays: np.einsum(subscripts, *arrays, optimize=optimize), *operands)


@RULES.of(np.linalg.multi_dot)
def _multi_dot(arrays: Any) -> Any:
    return functools.reduce(np.dot, map(as_dual_array, arrays))


@RULES.of(np.linalg.matrix_power)
def _matrix_power(a: Any, n: int) -> Any:
    a = as_dual_array(a)
    base = np.linalg.inv(a) if n < 0 else a
    return functools.reduce(np.matmul, [base] * abs(n), np.eye(a.shape[-1]) + 0.0 * a)


# --- linear algebra ------------------------------------------------------------------------------


def _contracted(function: Function, arrays: tuple[Any, ...], value: Any) -> Any:
    """d value, for value = function(*arrays): autograd's Jacobian for each array times its tangent."""
    parts = [split(x) for x in arrays]
    values = [v for v, _ in parts]
    total = np.zeros((*np.shape(value), width(parts)))
    for position, (v, tangent) in enumerate(parts):
        if tangent is None:
            continue

        def of_one(x: Any, position: int = position) -> Any:
            result = function(*values[:position], x, *values[position + 1 :])
            if not isbox(result):  # autograd would take the derivative for zero
                raise no_rule(full_name(function))
            return result

        jacobian = autograd.jacobian(of_one)(v)
        total[..., : tangent.shape[-1]] += np.tensordot(jacobian, tangent, axes=v.ndim)
    return finish(value, total)


def _by_autograd(name: str, arguments: int = 1, symmetric: bool = False) -> Function:
    function = getattr(np.linalg, name)
    counterpart = getattr(autograd.numpy.linalg, name)

    def rule(*args: Any, **kwargs: Any) -> Any:
        arrays, options = args[:arguments], args[arguments:]
        if symmetric:
            arrays = (_lower_half(arrays[0]),)

        def differentiable(*values: Any) -> Any:
            return counterpart(*values, *options, **kwargs)

        with np.errstate(all="ignore"):
            value = function(*map(plain, arrays), *options, **kwargs)
            return _contracted(differentiable, arrays, value)

    return rule


def _lower_half(a: Any) -> Any:
    """The symmetric matrix that cholesky and eigh see: they read the lower triangle only."""
    a = as_dual_array(a)
    return np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)


for _name in ("inv", "pinv", "det"):
    RULES[getattr(np.linalg, _name)] = _by_autograd(_name)
_euclidean = _by_autograd("norm")


@RULES.of(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = as_dual_array(x)
    of_matrix = isinstance(axis, tuple) or (axis is None and x.ndim == 2)
    if ord in (None, "fro", "nuc") or (ord == 2 and not of_matrix):
        return _euclidean(x, ord=ord, axis=axis, keepdims=keepdims)
    if of_matrix or isinstance(ord, str) or ord == 0:
        raise no_rule(f"numpy.linalg.norm(..., ord={ord!r}) of {'a matrix' if of_matrix else 'a vector'}")
    sizes = np.abs(x)
    if np.isinf(ord):
        return (np.max if ord > 0 else np.min)(sizes, axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(sizes, axis=axis, keepdims=keepdims)
    return np.sum(sizes**ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


RULES[np.linalg.solve] = _by_autograd("solve", arguments=2)


@RULES.of(np.linalg.cholesky)
def _cholesky(a: Any) -> Any:
    return _by_autograd("cholesky", symmetric=True)(a)


@RULES.of(np.linalg.slogdet)
def _slogdet(a: Any) -> Any:
    result = np.linalg.slogdet(plain(a))
    logdet = _contracted(lambda x: autograd.numpy.linalg.slogdet(x)[1], (as_dual_array(a),), result[1])
    return type(result)(result[0], logdet)


@RULES.of(np.linalg.eigh)
def _eigh(a: Any) -> Any:
    a = _lower_half(a)
    result = np.linalg.eigh(a.value)
    return type(result)(
        _contracted(lambda x: autograd.numpy.linalg.eigh(x)[0], (a,), result[0]),
        _contracted(lambda x: autograd.numpy.linalg.eigh(x)[1], (a,), result[1]),
    )


@RULES.of(np.linalg.eigvalsh)
def _eigvalsh(a: Any) -> Any:
    return _eigh(a)[0]
