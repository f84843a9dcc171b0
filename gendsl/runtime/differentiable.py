"""What gradients call in place of functions that know nothing of autograd's boxes.

`Differentiable.lift` gives, for each function that a body or a helper of the user calls: autograd's version
of a function of `math`, `numpy` or `scipy.special`; the user's own function with its calls lifted; or a
version that refuses boxes, where the original would drop their derivative.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any

import autograd.numpy as anp
import numpy as np
import scipy.special
from autograd.tracer import getval, isbox

from gendsl.errors import LostDerivativeError
from gendsl.lang.lift import Lifter

Function = Callable[..., Any]

_MATH_NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "pow": "power",
}  # fmt: skip
_MATH_SPECIAL = {"erf": "erf", "erfc": "erfc", "gamma": "gamma", "lgamma": "gammaln"}
_LOSSY: tuple[Function, ...] = (
    builtins.float, builtins.int, builtins.round, builtins.complex,
    math.floor, math.ceil, math.trunc, math.modf, math.frexp, math.copysign, math.fmod, math.remainder,
    np.floor, np.ceil, np.rint, np.round, np.trunc, np.sign, np.fix, np.floor_divide,
    *(kind for kind in vars(np).values() if isinstance(kind, type) and issubclass(kind, np.generic)),
)  # fmt: skip
_OF_SEQUENCES = {
    "append", "array", "block", "column_stack", "concatenate", "dstack", "einsum", "hstack", "row_stack",
    "select", "stack", "vstack",
}  # fmt: skip
_LIBRARIES = ("math", "numpy", "scipy")

WITHOUT_GRADIENT = (
    "leave the choice out of the selection and update it by a kernel that needs no gradient (random_walk, "
    "slice_sampling, elliptical_slice, mh)"
)
"""What to do about a choice whose derivative can't be followed."""


def holds_box(value: Any) -> bool:
    """Whether a value is traced by autograd, or a list or tuple that holds one that is."""
    if isinstance(value, (list, tuple)):
        return any(map(holds_box, value))
    return bool(isbox(value))


def _as_array(value: Any) -> Any:
    """A list or tuple that holds boxes as one boxed array; anything else as it is."""
    return anp.array(value) if isinstance(value, (list, tuple)) and holds_box(value) else value


def _of_arrays(lifted: Function) -> Function:
    """autograd's function, for lists of boxes too: it would take them for arrays of objects."""

    @functools.wraps(lifted)
    def convert(*args: Any, **kwargs: Any) -> Any:
        return lifted(*map(_as_array, args), **kwargs)

    return convert


def _of_sequences(lifted: Function) -> Function:
    """The same for a function of a sequence of arrays."""

    @functools.wraps(lifted)
    def convert(*args: Any, **kwargs: Any) -> Any:
        sequences = (list(map(_as_array, a)) if isinstance(a, (list, tuple)) else a for a in args)
        return lifted(*sequences, **kwargs)

    return convert


def _when_boxed(plain: Function, lifted: Function) -> Function:
    """math's function on plain numbers, so that its errors stay; autograd's where a derivative is needed."""

    @functools.wraps(plain)
    def choose(*args: Any) -> Any:
        return (lifted if any(map(isbox, args)) else plain)(*args)

    return choose


def _refusing(function: Function) -> Function:
    """`function`, but refusing boxes: it would drop their derivative, or not understand them.

    So it does with functions that it is given, as solvers are, where these give boxes.
    """
    name = getattr(function, "__name__", type(function).__name__)

    def refuse(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if any(map(holds_box, given)):
            raise LostDerivativeError(
                f"{name}(x) drops the derivative of a random choice that the gradient is taken of",
                fix=f"use the value as it is, or {WITHOUT_GRADIENT}",
            )
        if any(map(_calls, given)):
            return _watched(name, function, args, kwargs)
        return function(*args, **kwargs)

    return refuse


def _calls(given: Any) -> bool:
    """Whether an argument is a function, or a list or tuple that holds one."""
    if isinstance(given, (list, tuple)):
        return any(map(_calls, given))
    return callable(given) and not isinstance(given, type)


def _watched(name: str, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function gives that calls some of its arguments, as solvers do.

    Raises:
        LostDerivativeError: one of these gave a box, whatever the function made of that.
    """
    lost: list[LostDerivativeError] = []

    def watch(given: Any) -> Any:
        if isinstance(given, (list, tuple)):
            return [watch(item) for item in given] if _calls(given) else given
        return call_of(given) if _calls(given) else given

    def call_of(given: Function) -> Function:
        @functools.wraps(given)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = given(*args, **kwargs)
            except (TypeError, ValueError, AttributeError) as error:
                if not tells_of_box(error):
                    raise
            else:
                is_of_objects = isinstance(result, np.ndarray) and result.dtype == object
                if not holds_box(result.tolist() if is_of_objects else result):
                    return result
            lost.append(
                LostDerivativeError(
                    f"{name} drops the derivative of a random choice that the gradient is taken of: a "
                    "function that it calls depends on the choice",
                    fix=WITHOUT_GRADIENT,
                )
            )
            raise lost[0]

        return call

    try:
        result = function(*map(watch, args), **{key: watch(given) for key, given in kwargs.items()})
    except Exception:
        if lost:
            raise lost[0] from None
        raise
    if lost:
        raise lost[0]
    return result


def tells_of_box(error: BaseException) -> bool:
    """Whether the text of an error, or of its cause, says that something was given a box."""
    return "Box" in f"{error} {error.__cause__}"


# --- functions that autograd lacks or gets wrong ---------------------------------------------------


def _log(x: Any, *base: Any) -> Any:
    return anp.log(x) / anp.log(base[0]) if base else anp.log(x)


def _hypot(*coordinates: Any) -> Any:
    return anp.sqrt(sum(x * x for x in coordinates))


def _asarray(value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    if not holds_box(value):
        return np.asarray(value, dtype, **kwargs)
    if dtype is not None and np.dtype(dtype).kind not in "fcO":
        return _refusing(np.asarray)(value)
    return value if isbox(value) else anp.array(value)


def _sum(terms: Any) -> Any:
    terms = list(terms)
    return sum(terms) if holds_box(terms) else math.fsum(terms)


def _prod(factors: Any, *, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, factors, start)


def _where(condition: Any, *branches: Any) -> Any:
    if len(branches) == 2:  # the slope of a branch that is nowhere taken may be NaN, and NaN * 0 is NaN
        yes, no = branches
        taken = np.asarray(getval(condition), dtype=bool)
        branches = yes if taken.any() else getval(yes), getval(no) if taken.all() else no
    return anp.where(getval(condition), *branches)


def _full_like(array: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    if not holds_box(fill_value):
        return np.full_like(getval(array), fill_value, *args, **kwargs)
    zeros = np.zeros_like(getval(array), *args, **kwargs)
    return zeros + fill_value if zeros.dtype.kind == "f" else _refusing(np.full_like)(zeros, fill_value)


def _isinstance(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) or isinstance(getval(value), kinds)


def _lifted_names(plain: Any, differentiable: Any) -> dict[Any, Function]:
    """The functions of a module that autograd's module of the same names has, with autograd's."""
    table: dict[Any, Function] = {}
    for name in dir(differentiable):
        function, lifted = getattr(plain, name, None), getattr(differentiable, name)
        if callable(function) and callable(lifted) and not isinstance(function, type):
            table[function] = _of_sequences(lifted) if name in _OF_SEQUENCES else _of_arrays(lifted)
    return table


def _table() -> dict[Any, Function]:
    table = _lifted_names(np, anp) | _lifted_names(np.linalg, anp.linalg)
    for name, function in vars(math).items():
        lifted = getattr(anp, _MATH_NAMES.get(name, name), None)
        if callable(function) and callable(lifted):
            table[function] = _when_boxed(function, lifted)
    for function in _LOSSY:
        table[function] = _refusing(function)
    table |= {
        math.log: _when_boxed(math.log, _log),
        math.hypot: _when_boxed(math.hypot, _hypot),
        math.fsum: _sum,
        math.prod: _prod,
        np.full_like: _of_arrays(_full_like),
        np.where: _of_arrays(_where),
        np.asarray: _asarray,
        np.asanyarray: _asarray,
        builtins.isinstance: _isinstance,
    }
    return table


_TABLE = _table()


def special_functions() -> Any:
    """`autograd.scipy.special`, which imports scipy.stats and more: it is loaded where a program needs it."""
    import autograd.scipy.special

    return autograd.scipy.special


def _special(function: Any) -> Function | None:
    """autograd's version of a function of `scipy.special`, or of `math` that is one of these."""
    name = getattr(function, "__name__", "")
    of_math = function is getattr(math, name, None)
    if of_math:
        name = _MATH_SPECIAL.get(name, "")
    elif function is not getattr(scipy.special, name, None):
        name = ""
    lifted = getattr(special_functions(), name, None) if name else None
    if lifted is None:
        return None
    return _when_boxed(function, lifted) if of_math else _of_arrays(lifted)


def _lookup(function: Any) -> Function | None:
    try:
        found = _TABLE.get(function)
    except TypeError:  # unhashable: no library function is
        return None
    if found is not None:
        return found
    if type(function) is BuiltinFunctionType and isinstance(function.__self__, np.ndarray):
        return _method(function.__self__, function)
    library = (getattr(function, "__module__", None) or "").partition(".")[0]
    is_class = isinstance(function, type) and library != "scipy"  # whose classes are solvers and splines
    if isinstance(function, np.ufunc) or (library in _LIBRARIES and not is_class):
        found = _TABLE[function] = _special(function) or _refusing(function)
    return found


def _method(array: np.ndarray[Any, Any], method: Function) -> Function:
    """A method of an array that holds no boxes itself but may be given some, as `a.dot(x)` is."""
    lifted = getattr(anp, method.__name__, None)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not any(map(holds_box, args)):
            return method(*args, **kwargs)
        if lifted is None:
            return _refusing(method)(*args, **kwargs)
        return lifted(array, *map(_as_array, args), **kwargs)

    return call


class Differentiable(Lifter):
    """Substitutes functions, and assignments to parts of arrays, which autograd can't record."""

    def __init__(self) -> None:
        super().__init__(_lookup, assignments=True)

    def put(self, value: Any, container: Any, index: Any, *deeper: Any) -> Any:
        """What `container` is after `container[index] = value`: itself, or an array that takes its place."""
        if deeper:
            value = self.put(value, container[index], *deeper)
        if isinstance(getval(container), np.ndarray) and (isbox(container) or holds_box(value)):
            return _replaced(container, index, _as_array(value))
        container[index] = value
        return container

    def inplace(self, name: str, left: Any, right: Any) -> Any:
        """`left += right`, or another operator; a new value where autograd records it."""
        right = _as_array(right) if isinstance(getval(left), np.ndarray) else right
        boxed = isbox(left) or isbox(right)
        return getattr(operator, name if boxed else f"i{name}")(left, right)


def _replaced(array: Any, index: Any, value: Any) -> Any:
    """A copy of an array with other entries at an index, differentiable in both."""
    plain = getval(array)
    if plain.dtype == object:
        plain[index] = value
        return array
    if plain.dtype.kind != "f":
        return _refusing(plain.__setitem__)(index, value)
    places = np.arange(plain.size).reshape(plain.shape)[index]
    entries = anp.ravel(value * np.ones(np.shape(places)))
    source = np.arange(plain.size)
    source[np.ravel(places)] = plain.size + np.arange(np.size(places))
    return anp.reshape(anp.concatenate([anp.ravel(array), entries])[source], plain.shape)
