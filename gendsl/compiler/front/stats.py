"""The distributions of `scipy.stats`: `norm.logpdf(x, loc=mu)`, `norm(mu, sd).logpdf(x)`, `~norm(mu, sd)`."""

from __future__ import annotations

import functools
import sys
from types import MethodType
from typing import Any

import numpy as np

from gendsl.compiler.front import array_calls, library_stats, outside
from gendsl.compiler.front.arrays import as_array, library_call
from gendsl.compiler.front.families import constant_distribution
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Const, Op
from gendsl.compiler.hir.types import Array, Tuple
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    is_known,
    is_never,
    is_number,
    items_of,
    known,
    make_tuple,
    number_leaf,
    object_of,
)
from gendsl.distributions.scipy_frozen import (
    CIRCULAR,
    INTEGER,
    LOCATED,
    SCALED,
    Frozen,
    find_distribution,
)

_METHODS: dict[str, Any] = {
    name: getattr(library_stats, name)
    for name in ("logpdf", "pdf", "logcdf", "cdf", "logsf", "sf", "ppf", "isf", "logpmf", "pmf")
}
"""The texts of methods of families."""
_OF_INTEGERS: dict[str, Any] = {
    **{name: getattr(library_stats, f"discrete_{name}") for name in ("cdf", "logcdf", "sf", "logsf")},
    **{name: _METHODS[name] for name in ("logpmf", "pmf")},
}
"""The same of families of integers."""


_CHOOSING: dict[str, Any] = {name: getattr(library_stats, name) for name in ("apply_where", "_lazywhere")}
"""The functions of SciPy that compute one thing or another."""


def _is_family(found: Any) -> bool:
    """Whether an object is a family of SciPy's, or made as those are."""
    if "scipy.stats" not in sys.modules:
        return False
    from scipy.stats import rv_continuous, rv_discrete

    return isinstance(found, (rv_continuous, rv_discrete))


def call(frame: Frame, found: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of a family, or of a method of one; None for any other function."""
    if getattr(found, "__name__", "") in _CHOOSING and found.__module__.startswith("scipy."):
        return frame.language.call_function(frame, _CHOOSING[found.__name__], args, named)
    if isinstance(found, MethodType) and found.__func__.__module__.startswith("scipy.stats"):
        owner: Any = found.__self__
        name = found.__func__.__name__
        if type(owner).__name__ in ("multivariate_normal_gen", "multivariate_normal_frozen"):
            if type(owner).__name__ == "multivariate_normal_frozen":
                own = [outside.constant(frame, one) for one in (owner.mean, owner.cov)]
                args = [*args[:1], *own]
            return _multivariate(frame, name, args, named)
        if name.startswith("_"):
            return None  # a family's own methods are read as any other's
        if _is_family(owner):
            return _method(frame, owner, name, args, named)
        if is_frozen(owner):
            args = [*args, *(outside.constant(frame, one) for one in owner.args)]
            named = {**named, **{key: outside.constant(frame, one) for key, one in owner.kwds.items()}}
            return _method(frame, owner.dist, name, args, named)
    if type(found).__name__ == "multivariate_normal_gen":
        return _frozen_multivariate(frame, args, named)
    return _frozen(frame, found, args, named) if _is_family(found) else None


class FrozenMultivariate:
    """The class of `multivariate_normal(mean, cov)`."""


def _frozen_multivariate(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    names = ("mean", "cov")
    given = {**dict(zip(names, args, strict=False)), **named}
    if len(args) > 2 or len(given) != len(args) + len(named) or set(given) != set(names):
        raise frame.not_closed("scipy.stats.multivariate_normal with these arguments")
    return make_tuple([given[name] for name in names], FrozenMultivariate, names)


def multivariate_method(frame: Frame, owner: Value, name: str, args: list[Value]) -> Value:
    """`multivariate_normal(mean, cov).logpdf(x)`."""
    return _multivariate(frame, name, [*args, *items_of(owner)], {})


def _multivariate(frame: Frame, name: str, args: list[Value], named: dict[str, Value]) -> Value:
    """`multivariate_normal.logpdf(x, mean, cov)`."""
    names = ("x", "mean", "cov")
    given = {**dict(zip(names, args, strict=False)), **named}
    if name not in ("logpdf", "pdf") or len(args) > 3 or set(given) != set(names):
        raise frame.not_closed(f"scipy.stats.multivariate_normal.{name} with these arguments")
    if any(map(is_number, given.values())):
        raise frame.not_closed("scipy.stats.multivariate_normal of numbers")
    made = [as_array(frame, given[one], "f", what=one) for one in names]
    if any(map(is_never, made)):
        return NOTHING
    ranks = [one.type.rank for one in made if isinstance(one.type, Array)]
    if ranks[0] > 2 or ranks[1:] != [1, 2]:
        raise frame.not_closed("scipy.stats.multivariate_normal of arrays with other axes")
    found = library_call(frame, library_stats.multivariate_normal_logpdf, made)
    return found if name == "logpdf" else array_calls.call(frame, np.exp, [found], {}) or NOTHING


def _parameters(family: Any) -> tuple[str, ...]:
    """The names of the parameters of a family."""
    from scipy.stats import rv_discrete

    shapes = tuple(family.shapes.replace(" ", "").split(",")) if family.shapes else ()
    return (*shapes, "loc") if isinstance(family, rv_discrete) else (*shapes, "loc", "scale")


@functools.cache
def frozen_class(family: Any) -> type:
    """What stands for the frozen distributions of a family, with their parameters as attributes."""
    frozen = type(family(*[0.5] * family.numargs))
    methods = {name: one for base in frozen.__mro__[:-1] for name, one in vars(base).items() if callable(one)}
    return type(f"{family.name}_frozen", (FrozenFamily,), {**methods, "family": family})


class FrozenFamily:
    """The base of these classes."""

    family: Any


def _frozen(frame: Frame, family: Any, args: list[Value], named: dict[str, Value]) -> Value:
    """`norm(mu, scale=sd)`."""
    names = _parameters(family)
    given = _given(frame, family, names, args, named)
    return make_tuple([given[name] for name in names], frozen_class(family), names)


def _given(
    frame: Frame, family: Any, names: tuple[str, ...], args: list[Value], named: dict[str, Value]
) -> dict[str, Value]:
    """What each parameter is."""
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or any(name not in names or name in given for name in named):
        raise frame.not_closed(f"scipy.stats.{family.name} with these arguments")
    given = {"loc": known(0), "scale": known(1), **given, **named}
    if any(name not in given for name in names):
        raise frame.not_closed(f"scipy.stats.{family.name} with these arguments")
    return given


def method_of_frozen(
    frame: Frame, owner: Value, name: str, args: list[Value], named: dict[str, Value]
) -> Value:
    """`norm(mu, sd).logpdf(x)`."""
    assert isinstance(owner.type, Tuple)
    if named or len(args) != 1:
        raise frame.not_closed(f"the method {name} of a frozen distribution with these arguments")
    parameters = dict(zip(owner.type.names, items_of(owner), strict=True))
    return _method(frame, owner.type.cls.family, name, args, parameters)


def is_frozen(found: Any) -> bool:
    """Whether an object is one of these distributions with its parameters."""
    is_scipys = type(found).__module__.startswith("scipy.stats")
    return is_scipys and all(hasattr(found, name) for name in ("dist", "args", "kwds"))


def as_family(frame: Frame, value: Value) -> Value:
    """What a choice is from: of a frozen distribution, the family of gendsl's that has its law."""
    if is_known(value) and is_frozen(object_of(value)):
        found: Any = object_of(value)
        own = find_distribution(found)
        args = [outside.constant(frame, one) for one in frame.program.noted(found, "args")]
        items = frame.program.noted_items(frame.program.noted(found, "kwds"))
        named = {key: outside.constant(frame, one) for key, one in items.items()}
        if not isinstance(own, Frozen):
            return value if own is None else constant_distribution(frame, own)
        return _other(frame, found.dist, _given(frame, found.dist, _parameters(found.dist), args, named))
    cls = getattr(value.type, "cls", None)
    if not isinstance(cls, type) or not issubclass(cls, FrozenFamily):
        return value
    assert isinstance(value.type, Tuple)
    family = cls.family
    given = dict(zip(value.type.names, items_of(value), strict=True))
    shapes = [name for name in given if name not in ("loc", "scale")]
    tables = LOCATED, SCALED, INTEGER
    if not any(family.name in table for table in tables) or not _is_scipys(family):
        return _other(frame, family, given)
    if not all(map(is_number, given.values())):
        raise frame.not_closed(f"scipy.stats.{family.name} with arrays as parameters")
    loc, scale = given["loc"], given.get("scale", known(1))
    parameters = [given[name] for name in shapes]
    leaf = frame.atom(number_leaf(scale, "f"))
    frame.fail_unless(Op("gt", (leaf, Const(0.0, "f")), "b"), "a scale that is not positive")
    if family.name in LOCATED:
        return frame.language.call(frame, known(LOCATED[family.name]), [*parameters, loc, scale], {})
    if not is_known(loc) or object_of(loc) != 0:
        raise frame.not_closed(f"scipy.stats.{family.name} with loc")
    if family.name in SCALED:
        return frame.language.call(frame, known(SCALED[family.name]), [*parameters, scale], {})
    return frame.language.call(frame, known(INTEGER[family.name]), parameters, {})


def _check(frame: Frame, family: Any, *methods: str) -> None:
    """Refuse a family with methods of its own where those that all have are needed, and tables of values.

    What a family writes itself is `_logpdf` and the like, which these call.
    """
    from scipy.stats import rv_continuous, rv_discrete

    usual = (rv_continuous, rv_discrete)
    for name in methods:
        owner = next(cls for cls in type(family).__mro__ if name in vars(cls))
        if not any(issubclass(cls, owner) for cls in usual):
            raise frame.not_closed(f"scipy.stats.{family.name}, which has a {name} of its own")
    if hasattr(family, "xk"):
        raise frame.not_closed(f"scipy.stats.{family.name}, which has a table of values")


def _is_scipys(family: Any) -> bool:
    """Whether a family is the one that `scipy.stats` has under its name."""
    import scipy.stats

    return getattr(scipy.stats, family.name, None) is family


def _other(frame: Frame, family: Any, given: dict[str, Value]) -> Value:
    """A distribution of a family that is none of gendsl's."""
    _check(frame, family, "logpdf" if "scale" in _parameters(family) else "logpmf", "rvs", "support")
    if type(family).__name__ in CIRCULAR:
        raise frame.not_closed(f"scipy.stats.{family.name}, whose values are angles")
    shapes = make_tuple([given[one] for one in _parameters(family) if one not in ("loc", "scale")])
    cls: Any = library_stats.OfReals if "scale" in _parameters(family) else library_stats.OfIntegers
    last = [given[one] for one in cls.parameters[2:]]
    return make_tuple([known(family), shapes, *last], cls, cls.parameters)


def _method(frame: Frame, family: Any, name: str, args: list[Value], named: dict[str, Value]) -> Value:
    names = _parameters(family)
    text = (_METHODS if "scale" in names else _OF_INTEGERS).get(name)
    if text is None:
        raise frame.not_closed(f"scipy.stats.{family.name}.{name}")
    _check(frame, family, name)
    first = "q" if name in ("ppf", "isf") else "x" if "scale" in names else "k"
    given = _given(frame, family, (first, *names), args, named)
    for one, value in given.items():
        if is_number(value):
            continue
        made = as_array(frame, value, what=one)
        if is_never(made):
            return NOTHING
        assert isinstance(made.type, Array)
        given[one] = as_array(frame, made, "i", what=(one, "i")) if made.type.kind == "b" else made
    shapes = make_tuple([given[one] for one in names if one not in ("loc", "scale")])
    last = [given[one] for one in ("loc", "scale") if one in names]
    return frame.language.call_function(frame, text, [known(family), given[first], shapes, *last], {})
