"""What a distribution is: `sample`, `logpdf`, `support`; and how scalar families are written."""

from __future__ import annotations

import contextlib
import functools
import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval, isbox

from gendsl.choices.values import same_value
from gendsl.distributions.class_measures import measure_of_class
from gendsl.distributions.made import density_of
from gendsl.errors import NotADistributionError, ParameterError, UntracedChoiceError, ValueTypeError
from gendsl.supports import Integers, Real, Support

if TYPE_CHECKING:
    from gendsl.distributions.choice_types import IntegerChoice, RealChoice

_INF = math.inf
_LINE = Real()
_MOST_KNOWN = 64
_UNKNOWN: Any = ((lambda: _UNKNOWN), None)  # refers to nothing that is a value
MEASURE = "_measure"
"""The attribute of a distribution that says what its measure is; no parameter of it."""
ARGUMENTS = "_arguments"
"""The attribute of a distribution that says how it was made; no parameter of it."""
CHECK = "__gendsl_check__"
"""The attribute of a function of a user's that has a check around it: what puts it there."""
_OPERATORS: dict[np.ufunc, tuple[str, str]] = {
    np.add: ("__add__", "__radd__"),
    np.subtract: ("__sub__", "__rsub__"),
    np.multiply: ("__mul__", "__rmul__"),
}


class Distribution:
    """A probability distribution as a value: `d.sample(rng)`, `d.logpdf(x)`, `d.support`.

    Subclass it to make a distribution of your own; define the three members. Inside a `@gen` function
    `addr @ ~d` then makes a random choice from it. Name the constructor's parameters in `parameters`,
    keep them in attributes of the same names, and instances compare and print by them.

    Outside `support` the log density of a class of your own is -inf, whatever its `logpdf` says; one that
    sees to that itself may say so by `checks_support = True`, and is then not asked whether a value lies in
    the support each time that it is scored.

    Attributes:
        checks_support: whether `logpdf` itself gives -inf outside the support.
        _measure: a support with the kind, dimension and shape of the distribution's own, where that is known
            without making it; else None. (What `measured` found out is kept in the instance.)
        _arguments: its class and what that was called with, where calling it with that again surely gives
            the same (as `runtime.remade` finds out, and keeps in the instance); else None.
        _affine: makes the images `scale * x + shift` that arithmetic gives. They are distributions
            themselves, so their module, `arithmetic`, comes after this one and sets it.

    Arithmetic with numbers gives the distribution of the result: `1 + poisson(3)`, `normal(0, 1) * 2`.
    """

    __slots__ = ()
    parameters: ClassVar[tuple[str, ...]] = ()
    checks_support: ClassVar[bool] = False
    _measure: ClassVar[Support | None] = None
    _arguments: ClassVar[tuple[Any, ...] | None] = None
    _affine: ClassVar[Callable[..., Distribution]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not is_ours(cls) and "support" in cls.__dict__ and "_measure" not in cls.__dict__:
            cls._measure = measure_of_class(cls)
        logpdf = cls.__dict__.get("logpdf")
        if logpdf is not None and _is_to_be_checked(cls) and not isinstance(logpdf, property):
            cls.logpdf = _within_support(logpdf)  # type: ignore[assignment, method-assign]

    def sample(self, rng: np.random.Generator) -> Any:
        """One draw, using `rng` and no other source of randomness."""
        raise self._undefined("sample(self, rng)")

    def logpdf(self, x: Any) -> Any:
        """The log density (log mass where discrete) at x; -inf outside the support, never NaN."""
        raise self._undefined("logpdf(self, x)")

    @property
    def support(self) -> Support:
        """The set of values with positive density, with its base measure."""
        raise self._undefined("support")

    def _undefined(self, member: str) -> NotADistributionError:
        return NotADistributionError(
            f"{type(self).__name__} is a distribution, and must define {member}",
            fix="a distribution has sample(self, rng), logpdf(self, x) and support, one of gendsl.supports",
        )

    def __invert__(self) -> Any:
        raise UntracedChoiceError(
            f"~{self!r} makes a random choice, and that works only inside a @gen function",
            fix="decorate the function with @gen, or call .sample(rng) for a plain draw",
        )

    def _no_choice(self, *_: Any) -> NoReturn:
        raise UntracedChoiceError(
            f"{self!r} is a distribution, not a value drawn from it",
            fix="write `~` before it to make a random choice: `addr @ ~d`, or `name = ~d`",
        )

    # what happens when the `~` was forgotten
    __bool__ = __index__ = __float__ = __matmul__ = __rmatmul__ = _no_choice

    def __repr__(self) -> str:
        if not self.parameters:
            return object.__repr__(self)
        shown = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in self.parameters)
        return f"{self.family_name()}({shown})"

    @classmethod
    def family_name(cls) -> str:
        """What its distributions are called by."""
        return cls.__name__

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        if not self.parameters:
            return self is other
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.parameters)

    def __hash__(self) -> int:
        if not self.parameters:
            return object.__hash__(self)
        return hash((type(self), *(_hashable(getattr(self, name)) for name in self.parameters)))

    def __add__(self, shift: Any) -> Any:
        return self._affine(self, 1, shift)

    __radd__ = __add__

    def __sub__(self, shift: Any) -> Any:
        with contextlib.suppress(TypeError):  # what has no negative, affine refuses with a better error
            shift = -shift
        return self._affine(self, 1, shift)

    def __rsub__(self, shift: Any) -> Any:
        return self._affine(self, -1, shift)

    def __mul__(self, scale: Any) -> Any:
        return self._affine(self, scale, 0)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        try:
            scale = divisor if isinstance(divisor, Distribution) else 1 / divisor
        except TypeError:
            scale = divisor  # affine refuses it, as it does a distribution
        except ZeroDivisionError:
            raise ParameterError(f"{self!r} is divided by 0", fix="divide by another number") from None
        return self._affine(self, scale, 0)

    def __neg__(self) -> Any:
        return self._affine(self, -1, 0)

    def _no_image(self, *_: Any) -> NoReturn:
        raise ParameterError(
            f"arithmetic on {self!r}: a distribution can be shifted, scaled and divided by a number",
            fix="make a random choice, and compute with its value: `x = ~d`, then x**2, abs(x), 1 / x, x < 0",
        )

    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _no_image
    __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _no_image

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """The same arithmetic where NumPy or autograd is asked first: `x + d` for an x of theirs.

        autograd calls twice. First with the number that it follows, and can make nothing of an answer that
        is no number; then with what it follows that number by.
        """
        if ufunc is np.equal or ufunc is np.not_equal:
            return ufunc is np.not_equal
        names = _OPERATORS.get(ufunc)
        if names is None or method != "__call__" or options:
            self._no_choice()
        first, second = inputs
        return getattr(self, names[0])(second) if first is self else getattr(self, names[1])(first)


def measured(distribution: Distribution) -> Support:
    """A support with the kind, the dimension and the shape of a distribution's own.

    Classes of users' make their supports anew each time, which takes longer than what a move asks of them. So
    a distribution of numbers, if it has attributes, is told once that its measure is that of the real line.
    """
    measure = distribution._measure
    if measure is not None:
        return measure
    support = _support_of(distribution)
    usual = type(support).canonical is Support.canonical
    if usual and support.shape == () and support.dim == 1 and not support.discrete:
        attributes = getattr(distribution, "__dict__", None)
        if attributes is not None:
            attributes[MEASURE] = _LINE
            return _LINE
    return support


def _support_of(distribution: Distribution) -> Support:
    """The support of a distribution.

    Raises:
        NotADistributionError: it is none.
    """
    support = distribution.support
    if not isinstance(support, Support):
        raise NotADistributionError(
            f"the support of {type(distribution).__name__} is {support!r}",
            fix="give one of gendsl.supports, such as Real(), Positive(), Interval(0, 1)",
        )
    return support


def _is_to_be_checked(kind: type[Distribution]) -> bool:
    """Whether its formulas may know nothing of its support: a user's class that doesn't say that they do."""
    return not kind.checks_support and not is_ours(kind)


def is_ours(kind: type[Distribution]) -> bool:
    """Whether a class of distributions is one of gendsl's own."""
    return kind.__module__.startswith("gendsl.")


def is_built_in(kind: type[Distribution]) -> bool:
    """Whether a class is one of the families of this package, for which others have texts and tables."""
    return kind.__module__.startswith("gendsl.distributions.")


def _within_support(logpdf: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A log density that is -inf outside the support, of which its formula may know nothing."""
    # id -> an array found in its support, and that: data stays what it is for long
    inside: dict[int, tuple[Any, Support]] = {}

    @functools.wraps(logpdf)
    def within(self: Distribution, x: Any) -> Any:
        if not isbox(x):
            support = _support_of(self)
            array, of = inside.get(id(x), _UNKNOWN)
            if array() is x and support == of:
                return logpdf(self, x)
            is_array = isinstance(x, np.ndarray)
            stacked = is_array and support.shape is not None and x.shape != support.shape
            if not stacked and not support.contains(x):
                return -_INF
            if is_array and not x.flags.writeable:
                if len(inside) > _MOST_KNOWN:
                    inside.clear()
                inside[id(x)] = weakref.ref(x), support
        return logpdf(self, x)

    setattr(within, CHECK, _within_support)
    return within


class ScalarFamily(Distribution):
    """A family of distributions of one number.

    A family defines, besides `sample` and `support`:

    - `at(x)`: the log density at one Python number of type `number`, or NaN, by `math` alone: the hot path.
      Where the value of a parameter that autograd traces would do, it may raise TypeError instead.

    Of its text the rest is made: `elementwise(x, *parameters)`, the same for arrays of x and of parameters
    that broadcast, and for anything that autograd traces. A family whose `at` is more than `reading` reads
    defines that as well, by `autograd.numpy`.
    """

    __slots__ = ()
    number: ClassVar[type] = float
    _measure: ClassVar[Support | None] = Real()
    _domain: ClassVar[Support | None] = None  # the support, where it is the same for all parameters
    _checked: ClassVar[bool] = False  # whether `at` and `_score` look at the support

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not _is_to_be_checked(cls):
            return
        if "at" in cls.__dict__ or not cls._checked:
            cls.at = _within_support(cls.at)  # type: ignore[assignment, method-assign]
        if not cls._checked:
            cls._score = _score_within_support(cls._score)  # type: ignore[assignment, method-assign]
            cls._checked = True

    if TYPE_CHECKING:

        def __invert__(self) -> RealChoice: ...

    @property
    def support(self) -> Support:
        return super().support if self._domain is None else self._domain

    def at(self, x: Any) -> float:
        """The log density at one Python number."""
        raise TypeError(f"{type(self).__name__} must define at(self, x)")

    @classmethod
    def elementwise(cls, x: Any, *parameters: Any) -> Any:
        """The log density, elementwise; -inf outside the support, without NaN and without warnings.

        Raises:
            UnreadableError: `at` is not of the subset that `reading` reads.
        """
        return density_of(cls).elementwise(x, *parameters)  # type: ignore[arg-type]

    def logpdf(self, x: Any) -> Any:
        """The log density (log mass where discrete) at x: a float for a number, an array for an array.

        Raises:
            ValueTypeError: x is neither a number nor an array of numbers.
        """
        if type(x) is self.number:
            try:
                log_density = self.at(x)
            except (TypeError, OverflowError):  # autograd traces a parameter; an integer beyond all floats
                return self._score(x)
            if -_INF < log_density < _INF:
                return log_density
        return self._score(x)

    def _score(self, x: Any) -> Any:
        """The log density, away from the hot path."""
        parameters = [getattr(self, name) for name in self.parameters]
        x = self._read(x)
        if isbox(x) or isinstance(x, np.ndarray):
            return self.elementwise(x, *parameters)
        if any(map(isbox, parameters)):
            return self.elementwise(_as_float(x), *parameters)
        try:
            log_density = self.at(x)
        except OverflowError:
            return -_INF
        return log_density if log_density == log_density else -_INF  # NaN is in no support

    def _read(self, x: Any) -> Any:
        """x as a number of the family's type where it is one, else as an array or as autograd has it."""
        value = getval(x)
        if isinstance(value, (list, tuple)):
            value = _array(value)
        if isinstance(value, np.ndarray) and value.ndim == 0 and not isbox(x):
            value = value[()]
        if isinstance(value, np.ndarray):  # `numpy.ma.masked`, too
            if value.dtype.kind in "biuf" and not np.ma.is_masked(value):
                return x if isbox(x) else wide(value, booleans=self.number is bool)
        elif isinstance(value, (float, int, np.floating, np.integer, np.bool_)):
            return x if isbox(x) else self._number(value)
        raise ValueTypeError(
            f"{self.family_name()}: a value must be a number, got {x!r} of type {type(x).__name__}"
        )

    def _number(self, x: Any) -> Any:
        return _as_float(x)


def domain_of(family: type[Distribution]) -> Support | None:
    """The support of every distribution of a family, where it doesn't depend on the parameters."""
    fixed = issubclass(family, ScalarFamily) and family.support is ScalarFamily.support
    return family._domain if fixed else None  # type: ignore[attr-defined]


def _score_within_support(score: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`ScalarFamily._score` that is -inf outside the support, elementwise."""

    @functools.wraps(score)
    def within(self: ScalarFamily, x: Any) -> Any:
        support, value = self.support, getval(self._read(x))
        if not isinstance(value, np.ndarray):
            return score(self, x) if support.contains(value) else -_INF
        inside = np.reshape([support.contains(number) for number in value.ravel().tolist()], value.shape)
        if inside.all():
            return score(self, x)
        with np.errstate(all="ignore"):
            return anp.where(inside, score(self, x), -_INF)

    return within


class DiscreteFamily(ScalarFamily):
    """A family of distributions of one integer. Any float that is an integer is taken for it."""

    __slots__ = ()
    number: ClassVar[type] = int
    _measure: ClassVar[Support | None] = Integers(-math.inf, math.inf)

    if TYPE_CHECKING:

        def __invert__(self) -> IntegerChoice: ...  # type: ignore[override]

    def _number(self, x: Any) -> Any:
        """An int; NaN, in no support, for what is no integer."""
        if isinstance(x, (float, np.floating)):
            return int(x) if float(x).is_integer() else math.nan
        return int(x)


def wide(array: np.ndarray, *, booleans: bool) -> np.ndarray:
    """Numbers of 64 bits, as NumPy computes with shorter ones in their own precision.

    `booleans` stay what they are, if so asked.
    """
    kind = array.dtype.kind
    if kind == "b":
        return array if booleans else array.astype(int)
    return array if array.dtype.itemsize >= 8 else array.astype(float if kind == "f" else int)


def _as_float(x: Any) -> float:
    try:
        return float(x)
    except OverflowError:  # an integer beyond all floats
        return _INF if x > 0 else -_INF


def _array(value: Any) -> Any:
    try:
        return np.asarray(value)
    except ValueError:  # nested lists of unequal lengths
        return None


def _shown(parameter: Any) -> str:
    parameter = getval(parameter)
    if isinstance(parameter, (np.generic, np.ndarray)):
        parameter = parameter.tolist()
    return repr(parameter)


def _same(a: Any, b: Any) -> bool:
    a, b = getval(a), getval(b)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    if isinstance(a, (list, tuple, dict)):
        return same_value(a, b)  # there may be arrays inside
    return bool(a == b)


def _hashable(parameter: Any) -> Any:
    """Equal parameters give equal results: arrays and sequences become nested tuples."""
    parameter = getval(parameter)
    if isinstance(parameter, np.ndarray):
        parameter = parameter.tolist()
    if isinstance(parameter, (list, tuple)):
        return tuple(_hashable(entry) for entry in parameter)
    return parameter
