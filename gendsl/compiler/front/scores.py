"""What scores a choice: the type of its values, and the function of the text for its log density."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

from gendsl import supports
from gendsl.compiler import hir
from gendsl.compiler.front import families, outside
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.numbers import test_of
from gendsl.compiler.front.objects import plain, widened
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, List, Never, Number, Tuple, Type, Union, describe, leaves
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    alternatives_of,
    attribute_of,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
)
from gendsl.distributions import mixture
from gendsl.distributions.base import CHECK, ScalarFamily, domain_of, is_built_in

_KINDS = "bif"
_WHOLE = Const(2.0**53, "f")
_OF_SUPPORTS: dict[Any, Type] = {
    **dict.fromkeys([supports.Real, supports.Positive, supports.Interval, supports.Circle], Number("f")),
    **dict.fromkeys([supports.Simplex, supports.Ordered], Array("f", 1, True)),
    **dict.fromkeys([supports.Covariance, supports.Correlation], Array("f", 2, True)),
    supports.Integers: Number("i"), supports.Boolean: Number("b"), supports.Counts: Array("i", 1, True),
}  # fmt: skip


def value_type(frame: Frame, distribution: Value) -> Type:
    """The type of the values of a distribution, or of one of several."""
    if isinstance(distribution.type, Union):
        types = {value_type(frame, one) for one in alternatives_of(distribution)}
        if len(types) != 1:
            raise frame.not_closed("a distribution of numbers of one kind or another")
        return types.pop()
    if not isinstance(distribution.type, Tuple):
        raise frame.not_closed(f"{describe(distribution.type)}, where a distribution is needed")
    cls = distribution.type.cls
    if issubclass(cls, ScalarFamily):
        return Number({float: "f", int: "i", bool: "b"}[cls.number])
    found = families.value_type(frame, distribution)
    if found is not None:
        return found
    if is_built_in(cls):
        raise frame.not_closed(f"choices of the family {cls.__name__}")
    return _type_in(frame, support_told(frame, distribution))


def _type_in(frame: Frame, support: Value) -> Type:
    """The type of the values of a support."""
    cls = getattr(support.type, "cls", None)
    if not (isinstance(cls, type) and issubclass(cls, supports.Support)):
        raise frame.not_closed(f"a support that is {describe(support.type)}")
    if cls in _OF_SUPPORTS:
        return _OF_SUPPORTS[cls]
    if cls is supports.Repeated:
        component = _type_in(frame, items_of(support)[0])
        if isinstance(component, (Number, Array)):
            return families.repeated(component)
    if cls is supports.FiniteSet:
        return _type_of_elements(frame, items_of(support)[0])
    if cls is supports.RealArray:
        shape = items_of(support)[0]
        return Array("f", 1 if is_number(shape) else len(items_of(shape)), True)
    if cls.__module__.startswith("gendsl."):
        raise frame.not_closed(f"choices whose support is a {cls.__name__}")
    if cls.shape == () and not cls.discrete and cls.canonical is supports.Support.canonical:
        return Number("f")
    return _type_kept(frame, support)


def _type_of_elements(frame: Frame, elements: Value) -> Type:
    """The type of the values of a finite set, where they are numbers of one kind."""
    if isinstance(elements.type, List):
        found = [frame.program.facts.item(elements.type.site)]
    else:
        found = list({number_leaves(one.type) for one in items_of(elements)})
    if len(found) == 1 and isinstance(found[0], Number):
        return Number(found[0].kind)
    if all(isinstance(one, Never) for one in found):
        raise frame.not_closed("choices that are never made, as what comes before them always fails")
    raise frame.not_closed("choices from a finite set of other than numbers of one kind")


def _type_kept(frame: Frame, support: Value) -> Type:
    """The only type whose values `canonical` of a user's support keeps, and `contains` may find inside."""
    found = []
    if getattr(support.type, "cls", None).canonical is not supports.Support.canonical:  # type: ignore[union-attr]
        candidates = [Number(kind) for kind in _KINDS]
        for type_ in (*candidates, *(Array(kind, rank, True) for kind in _KINDS for rank in (1, 2, 3))):
            if _keeps(frame, support, type_):
                found.append(type_)
    if len(found) != 1:
        cls = getattr(support.type, "cls", None)
        raise frame.not_closed(f"choices whose support is a {getattr(cls, '__name__', None)}")
    return found[0]


def _keeps(frame: Frame, support: Value, type_: Type) -> bool:
    inner = Frame(
        frame.program, Text(hir.Function("probe")), [], frame.node, None, frame.filename, ("probe", type_)
    )
    value = Value(type_, tuple(hir.ZEROS[kind] for kind in leaves(type_)))
    point = frame.point()
    try:
        kept = frame.language.call_method(inner, support, "canonical", [value])
        inside = frame.language.call_method(inner, support, "contains", [value])
    except NotClosed:
        frame.back(point)
        return False
    if isinstance(kept.type, Array):
        kept = Value(Array(kept.type.kind, kept.type.rank, True))
    return kept.type == type_ and not is_never(inside) and inside.type != known(False).type


def support_of(frame: Frame, distribution: Value) -> Value:
    """The support of a distribution of the user's or of a mixture, from its text."""
    if getattr(distribution.type, "cls", None) is mixture:
        every = families.component_examples(frame, items_of(distribution)[1])
        domains = {domain_of(one.type.cls) for one in every if isinstance(one.type, Tuple)}
        if len(domains) == 1 and (same := domains.pop()) is not None:
            return outside.constant(frame, same)
        return frame.language.call_method(frame, distribution, "_hull", [])
    return frame.language.attribute(frame, distribution, "support")


def support_told(frame: Frame, distribution: Value) -> Value:
    """The same for what its type tells: nothing of it is left in the text, and it must not be used there."""
    point, live = frame.point(), frame.live
    try:
        return support_of(frame, distribution)
    finally:
        frame.back(point)
        frame.live = live


def number_leaves(type: Type) -> Type:
    """The type of a distribution with numbers in place of constants."""
    return plain(widened(type))


def density_function(frame: Frame, distribution: Value, kind: Type) -> tuple[hir.Function, tuple[Expr, ...]]:
    """The function of the text for the log density of a distribution, and the parameters to call it with."""
    program, facts = frame.program, frame.program.facts
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    wide = number_leaves(facts.canonical(distribution.type))
    given = facts.convert(distribution, wide)
    key = ("density", wide, kind)
    if key not in program.helpers:
        made = hir.Function(
            program.function_name(f"{cls.__name__}_logpdf"),
            results=["f"],
            origin=f"log density of {cls.__name__}",
        )
        program.helpers[key] = made
        inner = Frame(program, Text(made), made.body, frame.node, None, frame.filename, key)
        inner.line = 0
        assert isinstance(wide, Tuple)
        names = wide.names or tuple("p" for _ in wide.items)
        variables = []
        for name, item in zip(names, wide.items, strict=True):
            variables += [inner.fresh(name, leaf) for leaf in leaves(item)]
        x = [inner.fresh("x", leaf) for leaf in leaves(kind)]
        made.parameters = [*variables, *x]
        owner, value = Value(wide, tuple(variables)), Value(kind, tuple(x))
        result = families.log_density(inner, owner, value)
        if result is None:
            result = _own_density(inner, owner, value)
        if not is_never(result):
            inner.emit(hir.Return([number_leaf(result, "f")]))
        elif inner.live:
            inner.emit(hir.Fail("a log density that is never made"))
    return program.helpers[key], given


_UNSCORED = hir.Function("unscored", results=["f"], body=[hir.Fail("a density that is not known")])


def density_of_choice(
    frame: Frame, distribution: Value, kind: Type
) -> tuple[hir.Function, tuple[Expr, ...]]:
    """The same for a choice; where functions of traces are recorded nothing scores those."""
    if frame.program.records:
        return _UNSCORED, ()
    return density_function(frame, distribution, kind)


def scored(frame: Frame, distribution: Value, x: Value) -> Value:
    """`distribution.logpdf(x)`."""
    if is_never(x):
        return NOTHING
    if isinstance(x.type, Union):
        return frame.switch(x, lambda one: scored(frame, distribution, one))
    kind = value_type(frame, distribution)
    if isinstance(kind, Number) and is_number(x) and _KINDS.index(kind_of(x)) > _KINDS.index(kind.kind):
        return _scored_narrower(frame, distribution, number(frame.atom(number_leaf(x))))
    density, given = density_function(frame, distribution, kind)
    leaves_ = frame.program.facts.convert(x, kind)
    var = frame.fresh("lp_term", "f")
    frame.emit(hir.Call([var], density, [*given, *leaves_]))
    return number(var)


def _scored_narrower(frame: Frame, distribution: Value, x: Value) -> Value:
    """`distribution.logpdf(x)` of a number of a wider kind than the values; -inf where it is none of them."""
    leaf = x.leaf
    if leaf.kind == "f":
        frame.fail_if(Op("ge", (Op("abs", (leaf,), "f"), _WHOLE), "b"), "a value beyond 2 ** 53")
        test: Expr = Op("eq", (Op("np_floor", (leaf,), "f"), leaf), "b")

        def narrower() -> Expr:
            return frame.set(Op("int_trunc", (leaf,), "i"))
    else:
        test = both(Op("ge", (leaf, Const(0, "i")), "b"), Op("le", (leaf, Const(1, "i")), "b"))

        def narrower() -> Expr:
            return Op("ne", (leaf, Const(0, "i")), "b")

    return frame.branch(
        test, lambda: scored(frame, distribution, number(narrower())), lambda: known(-math.inf)
    )


def _own_density(frame: Frame, owner: Value, value: Value) -> Value:
    """The log density as the text of the class has it; -inf outside of the support."""
    assert isinstance(owner.type, Tuple)
    cls = owner.type.cls
    if issubclass(cls, ScalarFamily) and cls.__module__.startswith("gendsl."):
        return frame.language.inline_function(frame, cls.at, [owner, value])
    by_number = issubclass(cls, ScalarFamily) and is_built_in(_owner_of(cls, "logpdf"))
    logpdf = _unwrapped(frame.program.noted(cls, "at" if by_number else "logpdf"))

    def inside() -> Value:
        return frame.language.call_function(frame, logpdf, [owner, value], {})

    if getattr(cls, "checks_support", False) or cls.__module__.startswith("gendsl."):
        return inside()
    support = support_of(frame, owner)
    test = test_of(frame.language.call_method(frame, support, "contains", [value]))
    return frame.branch(test, inside, lambda: known(float("-inf")))


def _owner_of(cls: type, name: str) -> type:
    """The class that an attribute of a class is from."""
    return next(base for base in cls.__mro__ if name in vars(base))


def of_base(frame: Frame, owner: Value, base: type, x: Value) -> Value:
    """`super().logpdf(x)` of a family of the user's, where that is of a family of this package."""
    assert isinstance(owner.type, Tuple)
    if not issubclass(base, ScalarFamily) or not is_built_in(base):
        raise frame.not_closed(f"super().logpdf of {base.__name__}")
    names = tuple(base.parameters)
    found = [one for name in names if (one := attribute_of(owner, name)) is not None]
    if len(found) < len(names):
        raise frame.not_closed(f"super().logpdf of {base.__name__} without all of its parameters")
    return scored(frame, make_tuple(found, base, names), x)


def _unwrapped(function: Any) -> FunctionType:
    while getattr(function, CHECK, None) is not None:
        function = function.__wrapped__
    if not isinstance(function, FunctionType):
        raise NotClosed(f"the log density {function!r}")
    return function
