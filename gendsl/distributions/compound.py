"""Independent components in one array: product of different scalars, iid repeats of one distribution."""

from __future__ import annotations

import inspect
from math import fsum, inf
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from gendsl.distributions.arrays import (
    ArrayFamily,
    add_scores,
    as_array,
    brief,
    outside,
    plain,
    score_stack,
)
from gendsl.distributions.base import Distribution, ScalarFamily, domain_of, wide
from gendsl.distributions.columns import (
    COLUMN_DTYPES,
    VECTORS,
    sample_columns,
    total_columns,
    valid_columns,
)
from gendsl.distributions.parameters import family_called, nonnegative_integer
from gendsl.distributions.scipy_frozen import require_distribution
from gendsl.errors import ParameterError, ValueTypeError
from gendsl.supports import DiscreteProduct, Repeated, Stacked, Support


class product(ArrayFamily):
    """Independent scalars, all continuous or all discrete: log p(x) = Σ_i log p_i(x_i).

        product(normal(0, 1), gamma(2, 1))      # two
        product([normal(m, 1) for m in means])  # as many as there are means
        product(normal, means, 1.0)             # the same, scored at once
        product(bernoulli, logit=x @ beta)      # parameters by their names

    Args:
        components: distributions, or one list of them; or a family of scalars and its parameters, each a
            number or a vector with one entry for each of the n values.

    Values are arrays of shape (n,): floats for continuous components, else integers or booleans. With
    `normal`, means and standard deviations it is the multivariate normal with a diagonal covariance matrix.
    Of a family n may be 0: `product(normal, [], 1.0)` has one value, the empty array, of log density 0.
    """

    __slots__ = ("components",)
    parameters: ClassVar[tuple[str, ...]] = ("components",)

    def __new__(cls, *components: Any, **named: Any) -> product:
        first = components[0] if components else None
        of_family = cls is product and isinstance(first, type) and issubclass(first, Distribution)
        return object.__new__(_ProductOfFamily if of_family else cls)

    def __init__(self, *components: Any, **named: Any) -> None:
        if named:
            raise ParameterError(
                f"product: {', '.join(named)} given by name, and no family",
                fix="name parameters after a family of scalars: product(bernoulli, logit=...)",
            )
        if len(components) == 1 and isinstance(components[0], list | tuple):
            components = tuple(components[0])
        if not components:
            raise ParameterError(
                "product: needs at least one distribution",
                fix="where there may be none give the family and its parameters: product(normal, means, 1.0)",
            )
        self.components = tuple(require_distribution(c, "product") for c in components)
        supports = [c.support for c in self.components]
        for component, support in zip(self.components, supports, strict=True):
            if support.shape != ():
                raise ParameterError(
                    f"product: components must be scalar, got {component!r}",
                    fix="give it an address of its own; iid(d, n) repeats a vector or matrix",
                )
        if len({support.discrete for support in supports}) > 1:
            raise ParameterError(
                f"product: components must be all discrete or all continuous, got {brief(self.components)}",
                fix="give each component an address of its own",
            )

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        return np.array([component.sample(rng) for component in self.components])

    def logpdf(self, x: Any) -> Any:
        x = _stack("product", x)
        shape, count = np.shape(plain(x)), len(self.components)
        if not shape:
            raise ValueTypeError(f"product: a value is an array of shape ({count},), got {brief(x)}")
        if shape[-1] != count:
            return outside(shape[:-1])
        columns = x.tolist() if len(shape) == 1 and not isbox(x) else [x[..., i] for i in range(count)]
        scores = [score_stack(c, column, 0) for c, column in zip(self.components, columns, strict=True)]
        if all(type(score) is float for score in scores):
            # fsum: the builtin sum of floats rounds differently from Python 3.12 on
            return -inf if -inf in scores else fsum(scores)
        return add_scores(anp.moveaxis(anp.array(scores), 0, -1))

    @property
    def support(self) -> Any:
        supports = tuple(component.support for component in self.components)
        if all(support == supports[0] for support in supports):
            return Repeated(supports[0], len(supports))
        return DiscreteProduct(supports) if supports[0].discrete else Stacked(supports)

    def __repr__(self) -> str:
        return f"product({', '.join(map(repr, self.components))})"


class _ProductOfFamily(product):
    """`product(family, *parameters)`: what can be is done with all entries at once."""

    __slots__ = ("_components", "_support", "family", "given", "n")
    parameters = ("family", "given")

    def __init__(self, family: type[Distribution], *given: Any, **named: Any) -> None:
        name = family.family_name()
        if named:
            family = family_called(family, len(given), named)
            try:
                given += tuple(named.pop(parameter) for parameter in family.parameters[len(given) :])
            except KeyError as missing:
                raise ParameterError(f"product: {name} is given no {missing.args[0]}") from None
            if named:
                raise ParameterError(f"product: {name} has no parameter {next(iter(named))}")
        if family in VECTORS or not issubclass(family, ScalarFamily):
            raise ParameterError(
                f"product: {name} has no parameters that are one number for each value",
                fix=f"give a list of distributions: product([{name}(...), ...])",
            )
        self.family = family
        self.given = tuple(_entries(parameter) for parameter in given)
        lengths = {len(plain(parameter)) for parameter in self.given if np.ndim(plain(parameter))}
        if len(lengths) != 1:
            shown = " and ".join(map(brief, given)) or "none"
            raise ParameterError(
                f"product: the parameters of {name} have {_listed(lengths)} entries, got {shown}"
                if lengths
                else f"product: none of the parameters of {name} is a vector, got {shown}",
                fix=f"give vectors of one length, or numbers beside them; for n values with the same "
                f"parameters write iid({name}(...), n)",
            )
        (self.n,) = lengths
        self._components: tuple[Distribution, ...] | None = None
        self._support: Support | None = None
        if self.n == 0:
            self._support = Repeated(_measure_of(family), 0)
            inspect.signature(family).bind(*given)  # which raises where one is missing or too many
        elif not valid_columns(family, self._numbers, self.n):
            _ = self.components  # which raises where one of them is wrong

    @property
    def _numbers(self) -> tuple[Any, ...]:
        """The parameters without autograd's boxes."""
        return tuple(plain(parameter) for parameter in self.given)

    @property
    def components(self) -> tuple[Distribution, ...]:  # type: ignore[override]
        """The distribution of each entry."""
        if self._components is None:
            columns = [np.broadcast_to(p, self.n).tolist() if not isbox(p) else None for p in self.given]
            made = []
            for i in range(self.n):
                point = [
                    column[i] if column is not None else (given[i] if np.ndim(plain(given)) else given)
                    for column, given in zip(columns, self.given, strict=True)
                ]
                try:
                    made.append(self.family(*point))
                except ParameterError as error:
                    raise ParameterError(f"product: entry {i}: {error.problem}", fix=error.fix) from None
            self._components = tuple(made)
        return self._components

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        draws = sample_columns(self.family, rng, self.n, self._numbers)
        if draws is None and self.n == 0:
            return np.empty(0, dtype=int if self.support.discrete else float)
        return super().sample(rng) if draws is None else draws

    def logpdf(self, x: Any) -> Any:
        x = _stack("product", x)
        shape = np.shape(plain(x))
        if self.n == 0 and shape[-1:] == (0,):
            return np.zeros(shape[:-1]) if len(shape) > 1 else 0.0
        if self.family not in COLUMN_DTYPES or not shape or shape[-1] != self.n:
            return super().logpdf(x)
        boxed = isbox(x) or any(map(isbox, self.given))
        if not boxed and len(shape) == 1:
            total = total_columns(self.family, x, self.given)
            if total is not None:
                return total
        family: Any = self.family
        return add_scores(family.elementwise(x, *self.given))

    @property
    def support(self) -> Any:
        if self._support is None:
            domain = domain_of(self.family)
            if domain is not None:
                self._support = Repeated(domain, self.n)
            else:
                self._support = super().support
        return self._support

    @property
    def _measure(self) -> Support | None:  # type: ignore[override]
        measure = self.family._measure
        return Repeated(measure, self.n) if isinstance(measure, Support) else None

    def __repr__(self) -> str:
        named = zip(self.family.parameters, self.given, strict=False)
        shown = ", ".join(f"{name}={brief(parameter)}" for name, parameter in named)
        return f"product({self.family.family_name()}, {shown})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ProductOfFamily):
            return NotImplemented
        mine, theirs = self._numbers, other._numbers
        if self.family is not other.family or len(mine) != len(theirs):
            return False
        return all(map(np.array_equal, mine, theirs))

    def __hash__(self) -> int:
        return hash((self.family, *(np.asarray(p).tobytes() for p in self._numbers)))

    def __reduce__(self) -> Any:
        return product, (self.family, *self.given)


def _measure_of(family: type[Distribution]) -> Support:
    """What the values of a family are, whatever its parameters.

    Raises:
        ParameterError: that is not known without parameters.
    """
    measure = domain_of(family) or family._measure
    if measure is None:
        raise ParameterError(
            f"product: the parameters of {family.__name__} have no entries, and without them its support "
            "isn't known",
            fix="give one or more, or make the choice only where there are any",
        )
    return measure


def _entries(parameter: Any) -> Any:
    """A parameter as a number or a vector of floats; boxes of autograd stay what they are."""
    try:
        array = as_array(parameter)
    except (TypeError, ValueError):
        array = None
    if array is None or np.ndim(plain(array)) > 1:
        raise ParameterError(
            f"product: a parameter of a family is a number or a vector of them, got {brief(parameter)}"
        )
    return array if np.ndim(plain(array)) or isbox(array) else array.item()


def _listed(lengths: set[int]) -> str:
    return " and ".join(map(str, sorted(lengths)))


_MANY = 1_000_000  # of more values it is asked first whether there is room


class iid(ArrayFamily):
    """n independent values of one distribution: log p(x) = Σ_i log p(x_i).

    Args:
        dist: a distribution of scalars, or of arrays of one shape.
        n: how many, an integer at least 0.

    Values are arrays of shape (n,) + the shape of one value: floats, or integers or booleans.
    """

    __slots__ = ("dist", "n")
    parameters = ("dist", "n")

    def __init__(self, dist: Any, n: Any) -> None:
        self.dist: Distribution = require_distribution(dist, "iid")
        self.n = nonnegative_integer("iid", "n", n)
        if self.dist.support.shape is None:
            raise ParameterError(
                f"iid: the values of {self.dist!r} are not numbers or arrays of one shape",
                fix="make n choices, each at an address of its own",
            )

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        if self.n > _MANY:
            self._check_size()
        if self.n:
            return np.array([self.dist.sample(rng) for _ in range(self.n)])
        return np.empty(self._shape(), dtype=int if self.dist.support.discrete else float)

    def _check_size(self) -> None:
        """Raise if no array has room for a value."""
        try:
            np.empty(self._shape())
        except (MemoryError, ValueError):
            raise ParameterError(
                f"{self!r} can't be sampled: an array of shape {self._shape()} doesn't fit into memory",
                fix="give fewer values",
            ) from None

    def _shape(self) -> tuple[int, ...]:
        return (self.n, *(self.dist.support.shape or ()))

    def logpdf(self, x: Any) -> Any:
        x = _stack("iid", x)
        shape, event = np.shape(plain(x)), self._shape()
        if len(shape) < len(event):
            raise ValueTypeError(f"iid: a value is an array of shape {event}, got {brief(x)}")
        lead = shape[: len(shape) - len(event)]
        if shape[len(lead) :] != event:
            return outside(lead)
        if self.n == 0:
            return np.zeros(lead) if lead else 0.0
        return add_scores(score_stack(self.dist, x, len(event) - 1))

    @property
    def support(self) -> Repeated:
        return Repeated(self.dist.support, self.n)


def _stack(family: str, x: Any) -> Any:
    """A value as an array of numbers of its own kind (booleans and integers stay what they are)."""
    if isbox(x):
        return x
    try:
        array = np.asarray(x)
    except (TypeError, ValueError):
        array = None
    is_masked = type(x) is not np.ndarray and np.ma.is_masked(x)
    if array is not None and array.dtype.kind in "biuf" and not is_masked:
        return wide(array, booleans=True)
    if isinstance(x, (list, tuple)) and any(map(isbox, x)):
        return anp.array(x)
    raise ValueTypeError(f"{family}: a value is an array of numbers, got {brief(x)}")
