"""Supports of several independent values at once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import autograd.numpy as anp
import numpy as np

from gendsl.errors import ParameterError
from gendsl.supports.base import ENUMERABLE, Support, as_array, as_typed_array, count, plain
from gendsl.supports.scalar import Line, Real, ScalarSupport, exp


def _products(components: Iterable[Support]) -> tuple[Any, ...] | None:
    choices, total = [], 1
    for component in components:
        if component.values is None:
            return None
        choices.append(component.values)
        total *= len(component.values)
        if total > ENUMERABLE:
            return None
    return tuple(np.array(combination) for combination in itertools.product(*choices))


def _kind(component: Support) -> type:
    """The type of the entries of an array of values of a support."""
    if not component.discrete:
        return float
    return type(component.canonical(1.0)) if component.shape == () else int


@dataclass(frozen=True)
class Repeated(Support):
    """n independent values of one support: arrays of shape (n,) + the component's shape."""

    component: Support
    n: int

    def __post_init__(self) -> None:
        if self.component.shape is None:
            raise ParameterError(f"Repeated: the values of {self.component!r} are not arrays of one shape")
        n = count("Repeated", "n", self.n, 0)
        self._fix(
            n=n,
            discrete=self.component.discrete,
            shape=(n, *self.component.shape),
            dim=n * self.component.dim,
        )

    @property
    def values(self) -> tuple[Any, ...] | None:
        return _products([self.component] * self.n) if self.discrete else None

    def canonical(self, value: Any) -> Any:
        return as_typed_array(value, _kind(self.component))

    def contains(self, value: Any) -> bool:
        array = as_array(value, (self.n, *(self.component.shape or ())))
        if array is None:
            return False
        if isinstance(self.component, ScalarSupport):
            return bool(np.all(self.component.inside(array)))
        return all(self.component.contains(one) for one in array)

    @property
    def embedding(self) -> np.ndarray:
        return np.kron(np.eye(self.n), self.component.embedding)

    @property
    def free_entries(self) -> np.ndarray:
        size = math.prod(self.component.shape or ())
        entries: np.ndarray = np.arange(self.n)[:, None] * size + self.component.free_entries
        return entries.ravel()

    def _each(self, method: Any, points: Any) -> Any:
        parts = anp.reshape(points, (self.n, self.component.dim))
        return anp.array([method(parts[i]) for i in range(self.n)])

    def from_coordinates(self, coordinates: Any) -> Any:
        self._require_continuous("coordinates")
        if self.component.shape == () or self.n == 0:
            return anp.reshape(coordinates, self.shape)
        return self._each(self.component.from_coordinates, coordinates)

    def unconstrain(self, value: Any) -> Any:
        self._require_continuous("chart")
        if isinstance(self.component, Line):
            return self.component.to_line(anp.array(value, dtype=float))
        if self.n == 0:
            return np.zeros(0)
        return anp.concatenate([self.component.unconstrain(value[i]) for i in range(self.n)])

    def constrain(self, u: Any) -> Any:
        self._require_continuous("chart")
        if isinstance(self.component, Line):
            return self.component.from_line(u)
        return anp.reshape(u, self.shape) if self.n == 0 else self._each(self.component.constrain, u)

    def log_abs_det(self, u: Any) -> Any:
        self._require_continuous("chart")
        if self.n == 0:
            return 0.0
        if isinstance(self.component, Line):
            return plain(anp.sum(self.component.log_slope(u)))
        return plain(anp.sum(self._each(self.component.log_abs_det, u)))


@dataclass(frozen=True)
class Stacked(Support):
    """Independent scalars, each with a continuous support of its own: float arrays of shape (n,)."""

    components: tuple[Support, ...]

    def __post_init__(self) -> None:
        n = len(self.components)
        self._fix(components=tuple(self.components), shape=(n,), dim=n)
        for component in self.components:
            if component.discrete or component.shape != ():
                raise ParameterError(f"Stacked: needs continuous scalar supports, got {component!r}")

    def contains(self, value: Any) -> bool:
        array = as_array(value, (len(self.components),))
        return array is not None and all(c.contains(x) for c, x in zip(self.components, array, strict=True))

    def from_coordinates(self, coordinates: Any) -> Any:
        return anp.array(coordinates, dtype=float)

    def unconstrain(self, value: Any) -> Any:
        if not self.components:
            return np.zeros(0)
        return anp.concatenate([c.unconstrain(value[i]) for i, c in enumerate(self.components)])

    def constrain(self, u: Any) -> Any:
        return anp.array([c.constrain(u[i : i + 1]) for i, c in enumerate(self.components)])

    def log_abs_det(self, u: Any) -> Any:
        return sum((c.log_abs_det(u[i : i + 1]) for i, c in enumerate(self.components)), 0.0)


@dataclass(frozen=True)
class Ordered(Support):
    """k values of one interval in increasing order, equal neighbours included: arrays of shape (k,).

    All entries are free coordinates. With v the entries on the whole line, by the chart of the interval, the
    chart is u_0 = v_0 and u_i = log(v_i - v_(i-1)) (Stan Reference Manual, "Ordered vector").
    """

    component: Support
    k: int

    def __post_init__(self) -> None:
        if not isinstance(self.component, Line):
            raise ParameterError(f"Ordered: needs an interval of real numbers, got {self.component!r}")
        k = count("Ordered", "k", self.k, 0)
        self._fix(k=k, shape=(k,), dim=k)

    def contains(self, value: Any) -> bool:
        array = as_array(value, (self.k,))
        return array is not None and bool(np.all(self._line.inside(array)) and (np.diff(array) >= 0.0).all())

    @property
    def _line(self) -> Line:
        assert isinstance(self.component, Line)
        return self.component

    def _on_line(self, u: Any) -> Any:
        """v at the point u of the chart."""
        return anp.concatenate([u[:1], u[:1] + anp.cumsum(exp(u[1:]))])

    def from_coordinates(self, coordinates: Any) -> Any:
        return anp.array(coordinates, dtype=float)

    def unconstrain(self, value: Any) -> Any:
        v = self._line.to_line(anp.array(value, dtype=float))
        with np.errstate(divide="ignore"):
            return anp.concatenate([v[:1], anp.log(v[1:] - v[:-1])])

    def constrain(self, u: Any) -> Any:
        return self._line.from_line(self._on_line(u))

    def log_abs_det(self, u: Any) -> Any:
        if self.k == 0:
            return 0.0
        gaps = anp.sum(u[1:])
        if type(self.component) is Real:
            return plain(gaps)
        return plain(gaps + anp.sum(self._line.log_slope(self._on_line(u))))


@dataclass(frozen=True)
class DiscreteProduct(Support):
    """Independent discrete scalars, each with a support of its own: arrays of shape (n,)."""

    components: tuple[Support, ...]
    discrete = True

    def __post_init__(self) -> None:
        self._fix(components=tuple(self.components), shape=(len(self.components),))
        for component in self.components:
            if not component.discrete or component.shape != ():
                raise ParameterError(f"DiscreteProduct: needs discrete scalar supports, got {component!r}")

    @property
    def values(self) -> tuple[np.ndarray, ...] | None:
        return _products(self.components)

    def canonical(self, value: Any) -> Any:
        kinds = {_kind(component) for component in self.components}
        return as_typed_array(value, kinds.pop() if len(kinds) == 1 else float if float in kinds else int)

    def contains(self, value: Any) -> bool:
        array = as_array(value, (len(self.components),))
        return array is not None and all(c.contains(x) for c, x in zip(self.components, array, strict=True))
