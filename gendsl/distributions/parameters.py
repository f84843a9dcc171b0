"""What scalar families ask of their parameters, and the errors where they don't get it.

Each check returns the parameter as a Python number (or as autograd has it), and costs next to nothing
when it is given a plain Python float in range.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval, isbox

from gendsl.errors import ParameterError

PLAIN = frozenset((float, int))  # constructors on the hot path let these through with a comparison alone
NOT_GIVEN: Any = None
"""The default of a parameter in whose place another may be given."""
_INF = math.inf
LARGEST = np.finfo(float).max.item()
_SUM_TOLERANCE = 1e-8
SHORT = 64  # up to this length tuples are faster than arrays


def family_called(family: type[Any], given: int, named: Collection[str]) -> type[Any]:
    """The family of distributions that a call of a family makes: by its own parameters, or by others.

    Args:
        family: its `variants` are families by the names of the parameters that they have in place of its own.
        given: how many arguments the call has by position.
        named: the names of those by keyword.

    Raises:
        ParameterError: parameters of both are given, or not all that one needs.
    """
    variants: Mapping[str, type[Any]] = vars(family).get("variants", {})
    variant = next((variants[name] for name in named if name in variants), None)
    if variant is None:
        return family
    names = {*family.parameters[:given], *named}
    if names != set(variant.parameters) or given + len(named) != len(names):
        raise wrongly_called(family, variant, names)
    return variant


def wrongly_called(family: type[Any], variant: type[Any], names: Collection[str]) -> ParameterError:
    """The error for a call of a family with other parameters than its own or those of a variant."""
    name = family.__name__
    others = ", ".join(p if p in family.parameters else f"{p}=..." for p in variant.parameters)
    return ParameterError(
        f"{name} is given {' and '.join(sorted(names)) or 'no parameter'}",
        fix=f"write either {name}({', '.join(family.parameters)}) or {name}({others})",
    )


def real(family: str, name: str, value: float) -> float:
    """A finite real number."""
    if type(value) in PLAIN and -LARGEST <= value <= LARGEST:
        return value
    return _checked(family, name, value, lambda v: -_INF < v < _INF, "be finite")


def positive(family: str, name: str, value: float) -> float:
    """A finite number above 0."""
    if type(value) in PLAIN and 0.0 < value <= LARGEST:
        return value
    return _checked(family, name, value, lambda v: 0.0 < v < _INF, "be positive and finite")


def nonnegative(family: str, name: str, value: float) -> float:
    """A finite number not below 0."""
    if type(value) in PLAIN and 0.0 <= value <= LARGEST:
        return value
    return _checked(family, name, value, lambda v: 0.0 <= v < _INF, "be nonnegative and finite")


def probability(family: str, name: str, value: float) -> float:
    """A number from 0 to 1, both included."""
    if type(value) in PLAIN and 0.0 <= value <= 1.0:
        return value
    return _checked(family, name, value, lambda v: 0.0 <= v <= 1.0, "lie between 0 and 1")


def positive_probability(family: str, name: str, value: float) -> float:
    """A number above 0, up to 1."""
    if type(value) in PLAIN and 0.0 < value <= 1.0:
        return value
    return _checked(family, name, value, lambda v: 0.0 < v <= 1.0, "lie above 0 and not above 1")


def factor_weight(value: float) -> float:
    """The log weight of a factor: a number, or -inf."""
    if type(value) is float and value < _INF:
        return value
    if np.ndim(getval(value)) > 0:
        raise ParameterError(
            f"factor: log_weight must be one number, got {shown(value)}",
            fix="add up the terms: factor(np.sum(log_weights))",
        )
    return _checked("factor", "log_weight", value, lambda v: v < _INF, "be a number or -inf")


def bound(family: str, name: str, value: float) -> float:
    """An end of an interval: a number, or infinite."""
    if type(value) is float and -_INF <= value <= _INF:
        return value
    return _checked(family, name, value, lambda v: -_INF <= v <= _INF, "be a number or infinite")


def integer(family: str, name: str, value: Any) -> int:
    """An integer; a float that is one is taken for it."""
    if type(value) is int:
        return value
    return int(getval(_checked(family, name, value, _is_integer, "be an integer")))


def nonnegative_integer(family: str, name: str, value: Any) -> int:
    """An integer not below 0; a float that is one is taken for it."""
    if type(value) is int and value >= 0:
        return value
    return int(
        getval(_checked(family, name, value, lambda v: _is_integer(v) and v >= 0, "be a nonnegative integer"))
    )


def probabilities(family: str, name: str, value: Any) -> Any:
    """Nonnegative numbers that sum to 1: a tuple of floats, or a longer or traced array as it is."""
    vector = _vector(family, name, value)
    if type(vector) is tuple:
        total, least = math.fsum(vector), min(vector, default=math.nan)
    else:
        array = getval(vector)
        total, least = float(array.sum()), array.min()
    if not least >= 0.0:
        raise ParameterError(f"{family}: {name} must be one or more nonnegative numbers, got {shown(value)}")
    if not abs(total - 1.0) <= _SUM_TOLERANCE:
        raise ParameterError(
            f"{family}: {name} must sum to 1, got {shown(value)}, which sum to {total!r}",
            fix="divide them by their sum",
        )
    return vector


def increasing(family: str, name: str, value: Any) -> Any:
    """Two or more finite numbers, each greater than the one before: a tuple of floats, or a traced array."""
    vector = _vector(family, name, value)
    numbers = getval(vector)
    steps = len(numbers) >= 2 and all(a < b for a, b in itertools.pairwise(numbers))
    if not (steps and numbers[-1] - numbers[0] < _INF):
        raise ParameterError(
            f"{family}: {name} must be two or more finite numbers in increasing order, got {shown(value)}"
        )
    return vector


def _vector(family: str, name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        if PLAIN.issuperset(map(type, value)):
            return tuple(value)
        if all(isinstance(entry, (float, int, np.floating, np.integer)) for entry in value):
            return tuple(map(float, value))
        if any(map(isbox, value)):
            return anp.array(value)
    elif isinstance(getval(value), np.ndarray):
        array = getval(value)
        if array.ndim == 1 and array.dtype.kind in "biuf" and not np.ma.is_masked(array):
            return value if isbox(value) or array.size > SHORT else tuple(map(float, array.tolist()))
    raise ParameterError(f"{family}: {name} must be a vector of numbers, got {shown(value)}")


def ordered(family: str, low: Any, high: Any, *, equal: bool = False) -> None:
    """Refuse `low` above (or at) `high`, and ends so far apart that their distance is no float."""
    if -_INF < low < high < _INF and high - low > LARGEST:
        raise ParameterError(
            f"{family}: low and high are too far apart, got low={shown(low)}, high={shown(high)}"
        )
    if not (low <= high if equal else low < high):
        relation = "not be less than" if equal else "be greater than"
        raise ParameterError(f"{family}: high must {relation} low, got low={shown(low)}, high={shown(high)}")


def certain(holds: bool, *parameters: Any) -> float:
    """The log probability of what is certain or impossible at these values of the parameters.

    Raises:
        TypeError: autograd traces one of them, and a constant would lose its derivative.
    """
    if any(map(isbox, parameters)):
        raise TypeError("a traced parameter needs the elementwise log density")
    return 0.0 if holds else -_INF


def shown(value: Any) -> str:
    """A parameter as an error message shows it: no array boxes, no NumPy scalar types, not too long."""
    value = getval(value)
    if isinstance(value, np.generic):
        value = value.item()
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) or float(value).is_integer()


def _checked(family: str, name: str, value: Any, valid: Callable[[float], bool], demand: str) -> float:
    number = getval(value)
    if isinstance(number, (np.ndarray, list, tuple)) and np.ndim(number) > 0:
        raise ParameterError(
            f"{family}: {name} must be one number, got {shown(value)}",
            fix="an array of choices is product(...), or iid(dist, n) where the parameters are equal",
        )
    if isinstance(number, (np.generic, np.ndarray)):
        number = None if np.ma.is_masked(number) else number.item()
    if isinstance(number, bool):
        number = int(number)  # NumPy computes with truth values in 16 bits
    if not isinstance(number, (float, int)):
        drawn = callable(getattr(number, "logpdf", None))
        raise ParameterError(
            f"{family}: {name} must be a number, got {shown(value)} of type {type(value).__name__}",
            fix="draw it first, with `~`: `name = ~d`" if drawn else None,
        )
    if not (abs(number) <= LARGEST or number in (_INF, -_INF)) or not valid(number):
        raise ParameterError(f"{family}: {name} must {demand}, got {shown(value)}")
    checked: float = value if isbox(value) else number
    return checked
