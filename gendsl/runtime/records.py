"""Records of choices: a distribution, a value of the type that it draws, and the log density there."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np
from autograd.tracer import isbox

from gendsl.address import Path
from gendsl.distributions import Distribution
from gendsl.distributions.arithmetic import affine
from gendsl.distributions.base import ARGUMENTS, MEASURE, ScalarFamily, measured
from gendsl.distributions.factors import factor
from gendsl.errors import ImproperError, NaNError, NotADistributionError, ValueTypeError
from gendsl.runtime.change import is_same
from gendsl.supports import Support

Record = tuple[Distribution, Any, float]
Records = dict[Path, Record]

REMEMBERED = 64
"""How many records a compiled trace keeps by address: those that the parts of a move ask for."""

UNCHANGEABLE = frozenset((float, int, bool, str, bytes, type(None), complex, np.ndarray))
"""Types whose values nothing can change; arrays in a trace are made read-only."""


class _PlainFamilies(dict[type, type | None]):
    """Type of a distribution -> the type of its values, if one of gendsl's own families of one number.

    What such a family's `at` gives for a value of that type, if finite, is its log density, and the value is
    as a trace keeps it. None for every other type.
    """

    def __missing__(self, kind: type) -> type | None:
        number: type | None = None
        if issubclass(kind, ScalarFamily) and kind.__module__.startswith("gendsl.distributions."):
            number = kind.number
        self[kind] = number
        return number


PLAIN_FAMILIES = _PlainFamilies()
_FLOATS = np.dtype(float)
_ABSENT: Any = object()
_NO_PARAMETERS = frozenset((ARGUMENTS, MEASURE))


class _Attributes(dict[type, tuple[tuple[str, ...], bool]]):
    """Class of a distribution -> the names of its slots, and whether instances have other attributes."""

    def __missing__(self, kind: type) -> tuple[tuple[str, ...], bool]:
        slots = (getattr(base, "__slots__", ()) for base in kind.__mro__)
        names = [name for some in slots for name in ((some,) if isinstance(some, str) else some)]
        plain = tuple(name for name in names if name not in ("__dict__", "__weakref__"))
        found = self[kind] = plain, kind.__dictoffset__ != 0
        return found


_ATTRIBUTES = _Attributes()


def is_unchanged(distribution: Distribution, before: Distribution) -> bool:
    """Whether two distributions surely are the same: of one type, and with the same in every attribute."""
    if distribution is before:
        return True
    kind = type(distribution)
    if kind is not type(before):
        return False
    names, has_others = _ATTRIBUTES[kind]
    for name in names:
        was, value = getattr(before, name, None), getattr(distribution, name, None)
        if was is not value and not is_same(was, value):
            return False
    if has_others:
        mine, theirs = distribution.__dict__, before.__dict__
        for name, value in mine.items():
            was = theirs.get(name, _ABSENT)
            if was is value or name in _NO_PARAMETERS:
                continue
            if type(value) is type(was) is float and value == was != 0.0:
                continue
            if was is _ABSENT or not is_same(was, value):
                return False
        if len(mine) != len(theirs):
            return len(mine.keys() - _NO_PARAMETERS) == len(theirs.keys() - _NO_PARAMETERS)
    return True


def detached(value: Any) -> Any:
    """A value that shares nothing with the original that could be changed.

    Raises:
        ValueTypeError: it can't be copied, as an iterator, a lock or an open file.
    """
    if type(value) in UNCHANGEABLE or isbox(value):
        return value
    try:
        return copy.deepcopy(value)
    except TypeError as error:
        raise ValueTypeError(
            f"a value of type {type(value).__name__} can't be copied: {error}",
            fix="give a value that is plain data; for a generator, the list of what it yields",
        ) from error


def of_factor(distribution: Distribution) -> Record:
    """The record of a factor, of which nothing is drawn."""
    assert type(distribution) is factor
    return distribution, True, distribution.logpdf(True)


def made_of_factor(execution: Any, path: Path, distribution: Distribution) -> Record | None:
    """The record of a choice that is a factor, in an execution that draws or scores; None of any other.

    Raises:
        ImproperError: the execution is that of a program that proposes.
    """
    if type(distribution) is not factor:
        return None
    if execution.proposes:
        raise execution.fail(
            ImproperError(
                "a program that proposes has a factor, so its density is not that of its draws",
                address=path,
                fix="put the factor into the model, and leave proposals without factors",
            )
        )
    return of_factor(distribution)


def is_factor(record: Record) -> bool:
    """Whether a record is that of a factor."""
    return type(record[0]) is factor


def factors(records: Iterable[Record]) -> float:
    """The sum of the factors among some choices."""
    return sum((record[2] for record in records if type(record[0]) is factor), 0.0)


def without_factors(records: Records) -> Records:
    """The choices that are no factors."""
    if not any(map(is_factor, records.values())):
        return records
    return {path: record for path, record in records.items() if not is_factor(record)}


def is_certain(record: Record) -> bool:
    """Whether a discrete choice surely has no other value."""
    return record[2] == 0.0 or is_factor(record)


def draw(distribution: Distribution, rng: np.random.Generator) -> Record:
    """The record of a choice drawn from its distribution.

    Raises:
        NaNError: the draw's own log density is infinite or NaN: the distribution contradicts itself.
    """
    try:
        value = distribution.sample(rng)
    except TypeError as error:
        if error.__traceback__ is None or error.__traceback__.tb_next is not None:
            raise  # of what `sample` does
        raise NotADistributionError(
            f"{type(distribution).__name__}.sample can't be called with a generator: {error}",
            fix="define sample(self, rng), which draws from rng",
        ) from None
    return drawn(distribution, value)


def drawn(distribution: Distribution, value: Any) -> Record:
    """The record of a choice that was drawn from its distribution.

    Raises:
        NaNError: the draw's own log density is infinite or NaN: the distribution contradicts itself.
    """
    value = canonical(value, distribution)  # of a class of the user's it may be a number of NumPy's
    score = distribution.logpdf(value)
    if type(score) is not float:
        score = as_score(score, distribution, value)
    if not -inf < score < inf:
        raise NaNError(
            f"{distribution!r} drew {value!r}, and says that its log density there is {score}",
            fix="sample and logpdf must agree: a draw has a finite log density; if the parameters are "
            "extreme, make them less so",
        )
    if type(value) is np.ndarray and value.flags.writeable:
        value.flags.writeable = False  # a trace is a value: nothing may change what it holds
    return distribution, value, score


def rescored(distribution: Distribution, value: Any) -> Record:
    """The record of a choice with a value that it is given, or keeps."""
    score = distribution.logpdf(value)
    if type(score) is not float:
        score = as_score(score, distribution, value)
    return distribution, value, score


def as_score(score: Any, distribution: Distribution, value: Any) -> float:
    """A log density as a float.

    Raises:
        ValueTypeError: it is no number, as where an array is given for a scalar choice.
    """
    if isinstance(score, (float, int, np.floating)) or (isinstance(score, np.ndarray) and score.ndim == 0):
        return float(score)
    if np.ndim(value) and np.shape(score) == np.shape(value):
        raise ValueTypeError(
            f"a value of shape {np.shape(value)} is given for a choice from {distribution!r}, which is one "
            "number",
            fix="give one number; or make an array of choices: `~iid(d, n)`, or one choice per index",
        )
    shape = distribution.support.shape
    if isinstance(value, np.ndarray) and shape is not None and value.shape != shape:
        raise ValueTypeError(
            f"a value of shape {value.shape} is given for a choice from {distribution!r}, whose values are "
            f"of shape {shape}",
            fix="give one value of the choice",
        )
    raise ValueTypeError(
        f"the logpdf of {distribution!r} gave {score!r} for {value!r}", fix="logpdf must return one number"
    )


def other_shape(distribution: Distribution, value: Any) -> str | None:
    """The lengths of a list or array that is given and of a distribution's values, where these differ."""
    shape = distribution.support.shape
    if shape is None or not isinstance(value, (np.ndarray, list, tuple)):
        return None
    given = value.shape if isinstance(value, np.ndarray) else (len(value),)
    if given == shape:
        return None
    if len(given) == len(shape) == 1:
        return f"a value of length {given[0]} is given for a choice whose values have length {shape[0]}"
    return f"a value of shape {given} is given for a choice whose values have shape {shape}"


def _is_of_integers(image: Any) -> bool:
    """Whether all values of an affine image are integers, as far as is quickly seen."""
    return type(image.scale) is type(image.shift) is int and PLAIN_FAMILIES[type(image.dist)] is int


def canonical(value: Any, distribution: Distribution) -> Any:
    """A value in the type in which a trace keeps what is drawn from its distribution."""
    kind, family = type(value), type(distribution)
    if kind is PLAIN_FAMILIES[family] or (kind is int and family is affine and _is_of_integers(distribution)):
        return value
    if kind is float:
        measure = distribution._measure or measured(distribution)
        if type(measure).canonical is Support.canonical:
            return value  # which takes it as it is, whatever its shape
    support = distribution.support
    plain = kind is np.ndarray and value.dtype is _FLOATS and value.ndim > 0
    if not isinstance(support, Support) or (plain and type(support).canonical is Support.canonical):
        return value  # the log density says what is wrong
    return support.canonical(value)


def kept(before: Record, distribution: Distribution) -> Any:
    """The value of a choice that stays, in the type in which what its distribution draws now is kept."""
    value, family = before[1], type(distribution)
    if family is type(before[0]) and (PLAIN_FAMILIES[family] or type(value) is float or _is_of_floats(value)):
        return value
    return canonical(value, distribution)


def _is_of_floats(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype is _FLOATS


def as_given(value: Any, distribution: Distribution) -> Any:
    """A given value as a trace keeps it: of the type that a draw has, and sharing nothing."""
    value = canonical(value, distribution)
    if type(value) is np.ndarray:
        if value.flags.writeable:
            value = value.copy()
            value.flags.writeable = False
        return value
    return detached(value)
