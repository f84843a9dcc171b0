"""Gradients of log_prob: the body runs once on autograd's boxes, its calls lifted to autograd's functions."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import autograd.scipy.special as aspecial
import numpy as np
import scipy.special
from autograd import value_and_grad
from autograd.tracer import isbox

from gendsl.address import Path
from gendsl.choices import ChoiceMap
from gendsl.compiler.build import Compiled
from gendsl.compiler.lift import Lifter
from gendsl.distributions import Distribution
from gendsl.errors import LostDerivativeError, NaNError
from gendsl.interface import CallRequest, GenerativeFunction
from gendsl.runtime.executions import Execution, Record, Records
from gendsl.selection import Selection

_MATH_NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "pow": "power", "dist": "", "fsum": "sum", "prod": "prod",
}  # fmt: skip
_MATH_SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}
_LOSSY = (
    builtins.float, builtins.int, builtins.round, builtins.complex,
    math.floor, math.ceil, math.trunc, math.modf, math.frexp, math.copysign, math.fmod, math.remainder,
    np.floor, np.ceil, np.rint, np.round, np.trunc, np.sign, np.fix,
)  # fmt: skip


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, but refusing boxes: it would drop their derivative."""
    name = getattr(function, "__name__", repr(function))

    def refuse(*args: Any, **kwargs: Any) -> Any:
        if any(isbox(a) for a in args):
            raise LostDerivativeError(
                f"{name}(x) drops the derivative of a random choice that the gradient is taken of",
                fix="use the value as it is, or leave the choice out of the selection",
            )
        return function(*args, **kwargs)

    return refuse


def _table() -> dict[Any, Callable[..., Any]]:
    table: dict[Any, Callable[..., Any]] = {}
    for plain, differentiable in (
        (np, anp),
        (np.linalg, anp.linalg),
        (scipy.special, aspecial),
    ):
        for name in dir(differentiable):
            function, lifted = getattr(plain, name, None), getattr(differentiable, name)
            if callable(function) and callable(lifted) and not isinstance(function, type):
                table[function] = lifted
    for name in dir(math):
        function = getattr(math, name)
        lifted = getattr(anp, _MATH_NAMES.get(name, name), None)
        if name in _MATH_SPECIAL:
            lifted = getattr(aspecial, _MATH_SPECIAL[name])
        if callable(function) and callable(lifted):
            table[function] = _when_boxed(function, lifted)
    for function in _LOSSY:
        table[function] = _refusing(function)
    return table


def _when_boxed(plain: Callable[..., Any], lifted: Callable[..., Any]) -> Callable[..., Any]:
    """math's function on plain numbers, so that its errors stay; autograd's where a derivative is needed."""

    def choose(*args: Any, **kwargs: Any) -> Any:
        boxed = any(isbox(a) or (isinstance(a, (list, tuple)) and any(map(isbox, a))) for a in args)
        return (lifted if boxed else plain)(*args, **kwargs)

    return choose


_TABLE = _table()


def _lookup(function: Any) -> Callable[..., Any] | None:
    try:
        return _TABLE.get(function)
    except TypeError:  # unhashable: no library function is
        return None


_LIFTER = Lifter(_lookup)


class _Differentiate(Execution):
    """Every choice has its old value, boxed where a gradient is wanted."""

    lift = staticmethod(_LIFTER.lift)

    def __init__(self, old: Records, boxed: dict[Path, Any]) -> None:
        super().__init__()
        self.old = old
        self.boxed = boxed

    def body_of(self, compiled: Compiled) -> Callable[..., Any]:
        return compiled.differentiable

    def callee(self, function: Any) -> Any:
        return super().callee(self.lift(function))

    def choose(self, path: Path, distribution: Distribution) -> Record:
        value = self.boxed[path] if path in self.boxed else self.old[path][1]
        return distribution, value, distribution.logpdf(value)


def gradients(
    function: GenerativeFunction, args: tuple[Any, ...], records: Records, selection: Selection
) -> ChoiceMap:
    """The gradient of the log probability of `records` with respect to the selected choices."""
    paths = [path for path in records if path in selection]
    for path in paths:
        if records[path][0].support.discrete:
            raise LostDerivativeError(
                "a discrete choice has no gradient",
                address=path,
                fix="select continuous choices only",
            )

    def log_prob(values: list[Any]) -> Any:
        execution = _Differentiate(records, dict(zip(paths, values, strict=True)))
        execution.run(CallRequest(function, args, {}))
        return execution.score

    values = [np.asarray(records[path][1], dtype=float) if np.ndim(records[path][1]) else
              float(records[path][1]) for path in paths]  # fmt: skip
    if not paths:
        return ChoiceMap._from_flat({})
    _, found = value_and_grad(log_prob)(values)
    for path, gradient in zip(paths, found, strict=True):
        if np.any(np.isnan(gradient)):
            raise NaNError(
                "the gradient of the log probability is NaN", address=path,
                fix="look for 0 * inf or inf - inf in what the program computes from this choice",
            )  # fmt: skip
    flat = {
        path: float(gradient) if np.ndim(gradient) == 0 else np.asarray(gradient)
        for path, gradient in zip(paths, found, strict=True)
    }
    return ChoiceMap._from_flat(flat)
