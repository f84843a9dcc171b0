"""What a support is, and how its methods read the values they are given."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval, isbox

from gendsl.choices.values import as_entries
from gendsl.errors import ParameterError

ENUMERABLE = 1_000_000  # a finite support with more values than this lists none of them


class Support:
    """The set of values that a distribution can give, with its base measure.

    To write your own, set `discrete`, `dim` and `shape`, and define `contains`; for gradient-based
    kernels also `unconstrain`, `constrain` and `log_abs_det` (with `autograd.numpy`); where a value has
    other than `dim` entries also `embedding`, `free_entries` and `from_coordinates`.

    Attributes:
        discrete: whether the base measure is counting measure.
        dim: the number of free coordinates, 0 for a discrete support.
        shape: the shape of a value, `()` for a scalar, None where values are not arrays of one shape.
    """

    discrete: bool = False
    dim: int = 1
    shape: tuple[int, ...] | None = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.discrete is True:
            cls.dim = 0

    @property
    def values(self) -> tuple[Any, ...] | None:
        """All values of a finite discrete support; None if there are infinitely (or millions) many."""
        return None

    def contains(self, value: Any) -> bool:
        """Whether `value` lies in the support."""
        raise TypeError(f"{type(self).__name__} must define contains")

    def canonical(self, value: Any) -> Any:
        """The value in the type that a trace keeps: that of a draw, so that a body can't tell them apart.

        A number of another type, or a list in place of an array, becomes a float or an array of floats;
        what isn't such a value at all is left as it is.
        """
        if self.discrete or self.shape is None:
            return value
        if self.shape == ():
            return as_number(value, float)
        return as_typed_array(value, float)

    @property
    def embedding(self) -> np.ndarray:
        """d value.ravel() / d coordinates, of shape (value size, dim)."""
        return np.eye(math.prod(self.shape or ()), self.dim)

    @property
    def free_entries(self) -> np.ndarray:
        """The indices into `value.ravel()` that are the free coordinates, of shape (dim,)."""
        return np.arange(self.dim)

    def coordinates(self, value: Any) -> Any:
        """The free coordinates of a value, of shape (dim,)."""
        if self.dim == 0:
            return np.zeros(0)
        return anp.ravel(anp.array(value, dtype=float))[self.free_entries]

    def from_coordinates(self, coordinates: Any) -> Any:
        """The value with these free coordinates."""
        self._require_continuous("coordinates")
        if self.shape == ():
            return plain(coordinates[0])
        return anp.reshape(anp.dot(self.embedding, coordinates), self.shape)

    def unconstrain(self, value: Any) -> Any:
        """The point u of R^dim with `constrain(u) == value`, of shape (dim,)."""
        self._require_continuous("chart")
        raise TypeError(f"{type(self).__name__} must define unconstrain")

    def constrain(self, u: Any) -> Any:
        """The value at the point u of the chart, u of shape (dim,)."""
        self._require_continuous("chart")
        raise TypeError(f"{type(self).__name__} must define constrain")

    def log_abs_det(self, u: Any) -> Any:
        """log |det d coordinates(constrain(u)) / d u|."""
        self._require_continuous("chart")
        raise TypeError(f"{type(self).__name__} must define log_abs_det")

    def _require_continuous(self, what: str) -> None:
        if self.discrete:
            raise TypeError(f"{self!r} is discrete and has no {what}")

    def _fix(self, **attributes: Any) -> None:
        """Set attributes while a frozen dataclass initialises itself."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)


def plain(x: Any) -> Any:
    """A 0-d result as a Python float, or as it is where autograd traces it."""
    return x if isbox(x) else float(x)


def as_float(value: Any) -> float:
    """A real number as a float, NaN for anything else (and so in no support)."""
    value = getval(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, (float, int, np.floating, np.integer, np.bool_)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_array(value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """A real array of this shape as floats, None for anything else."""
    try:
        array = np.asarray(getval(value))
    except ValueError:  # nested lists of unequal lengths
        return None
    are_numbers = array.dtype.kind in "biuf" and not np.ma.is_masked(value)
    return array.astype(float) if array.shape == shape and are_numbers else None


def as_number(value: Any, kind: Callable[[Any], Any]) -> Any:
    """A number as a Python number of this type, if it is one; anything else as it is."""
    if type(value) is kind:
        return value
    if isinstance(value, np.ndarray) and value.ndim == 0 and not np.ma.is_masked(value):
        value = value[()]
    if not isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating)):
        return value
    if value != value or abs(value) == math.inf:
        return float(value)
    converted: Any = kind(value)
    return converted if converted == value else value


def as_typed_array(value: Any, kind: type) -> Any:
    """A list, range, column or array of numbers as an array of this type, if nothing is lost.

    Anything else is left as it is.
    """
    value = value if isinstance(value, (list, tuple, np.ndarray)) else as_entries(value)
    if not isinstance(value, (list, tuple, np.ndarray)) or np.ma.is_masked(value):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # nested lists of unequal lengths
        return value
    if array.dtype.kind not in "biuf":
        return value
    if array.dtype == kind:
        return array
    with np.errstate(invalid="ignore"):
        converted: Any = array.astype(kind)
    return converted if np.array_equal(converted, array, equal_nan=kind is float) else array


def count(owner: str, name: str, value: Any, least: int) -> int:
    """An integer parameter that is at least `least`.

    Raises:
        ParameterError: it is anything else.
    """
    if isinstance(value, (int, np.integer)) and value >= least:
        return int(value)
    raise ParameterError(f"{owner}: {name} must be an integer, at least {least}, got {value!r}")
