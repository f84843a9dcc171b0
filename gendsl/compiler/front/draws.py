"""Draws: the methods of NumPy's Generator, and the function of the text that draws from a distribution.

A draw of a family is its method `sample`, read as any method of a user's is; the generator is a value whose
methods become `Draw` statements. Parameters that a method does not take, or may not take, fail, and the
reference interpreter raises the error. The text of families whose class is written with NumPy is in
`gendsl.distributions.draw_texts`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from autograd.tracer import getval

from gendsl.compiler import hir
from gendsl.compiler.front import arrays
from gendsl.compiler.front.arrays import library_call
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.lists import append, list_of
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.numbers import is_plain_tuple
from gendsl.compiler.front.operators import arithmetic
from gendsl.compiler.front.scores import number_leaves, value_type
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.draw_methods import METHODS, Parameter, not_negative
from gendsl.compiler.hir.types import Array, Number, Tuple, Type, Union, describe, leaves
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    is_known,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    number,
    number_leaf,
    object_of,
    without_axes,
)
from gendsl.distributions import draw_texts, product
from gendsl.distributions.base import ScalarFamily, is_built_in
from gendsl.distributions.compound import _ProductOfFamily


class RandomGenerator:
    """What stands for the generator while a program is lowered: there is one, in the state."""


GENERATOR = RandomGenerator()


# --- the methods of a generator ------------------------------------------------------------------------


def call(frame: Frame, name: str, args: list[Value], named: dict[str, Value]) -> Value:
    """`rng.name(*args, **named)`."""
    if any(map(is_never, (*args, *named.values()))):
        return NOTHING
    if name == "choice":
        return _choice(frame, args, named)
    if name == "permutation" and len(args) == 1 and not named and _is_whole(args[0]):
        return library_call(frame, draw_texts.permutation, [known(GENERATOR), *args])
    if name not in METHODS:
        raise frame.not_closed(f"the method {name} of a generator")
    if name == "integers":
        args, named = _range(frame, args, named)
    method = METHODS[name]
    names = [parameter.name for parameter in method.parameters]
    given = dict(zip((*names, "size"), args, strict=False))
    if len(args) > len(names) + 1 or set(named) & set(given) or not set(named) <= {*names, "size"}:
        raise frame.not_closed(f"these arguments of the method {name} of a generator")
    given.update(named)
    size = given.pop("size", known(None))
    leaves_ = []
    for parameter in method.parameters:
        value = given.get(parameter.name)
        if value is None:
            if parameter.default is None:
                frame.fail(f"{name} is called without {parameter.name}")
                return NOTHING
            value = known(parameter.default)
        leaves_.append(_argument(frame, name, parameter, value))
        if parameter.domain is not None:
            frame.fail_unless(parameter.domain(leaves_[-1]), f"a parameter of {name} out of its domain")
    if name == "uniform":
        width = Op("sub", (leaves_[1], leaves_[0]), "f")
        frame.fail_unless(both(Op("isfinite", (width,), "b"), not_negative(width)), "the ends of uniform")
    if name == "integers":
        frame.fail_unless(Op("lt", tuple(leaves_), "b"), "no integer to draw")

    def one() -> Value:
        target = frame.fresh("draw", method.result)
        frame.emit(hir.Draw(target, name, tuple(leaves_)))
        return number(target)

    if is_known(size) and object_of(size) is None:
        return one()
    if is_plain_tuple(size.type) and not items_of(size):
        return without_axes(one().leaf)
    return _many(frame, size, method.result, one)


def _is_whole(value: Value) -> bool:
    return is_number(value) and kind_of(value) == "i"


def _argument(frame: Frame, name: str, parameter: Parameter, value: Value) -> Expr:
    if not is_number(value):
        raise frame.not_closed(f"{describe(value.type)} as an argument of the method {name} of a generator")
    if parameter.kind == "i" and kind_of(value) == "f":
        raise frame.not_closed(f"a float as the integer {parameter.name} of the method {name} of a generator")
    return frame.atom(number_leaf(value, parameter.kind))


def _many(frame: Frame, size: Value, kind: str, one: Callable[[], Value]) -> Value:
    """An array of draws, of as many or of a shape."""
    parts = items_of(size) if is_plain_tuple(size.type) else [size]
    if not parts or not all(is_number(part) and kind_of(part) != "f" for part in parts):
        raise frame.not_closed("draws whose number is no integer")
    shape = [frame.atom(number_leaf(part, "i")) for part in parts]
    for n in shape:
        frame.fail_unless(Op("ge", (n, Const(0, "i")), "b"), "a negative number of draws")
    made = list_of(frame, frame.here, [], "draws")
    arrays.over(frame, shape, lambda at: append(frame, made, one()), "draws")
    drawn = arrays.as_array(frame, made, kind, what="draws")
    return drawn if len(shape) == 1 else arrays.reshaped(frame, drawn, shape)


def _range(frame: Frame, args: list[Value], named: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of `integers` as the ends of a range, the second excluded."""
    named = dict(named)
    endpoint = named.pop("endpoint", known(False))
    if not is_known(endpoint) or len(args) > 2 or not set(named) <= {"low", "high", "size"}:
        raise frame.not_closed("these arguments of the method integers of a generator")
    found = dict(zip(("low", "high"), args, strict=False))
    low, high = found.get("low", named.pop("low", None)), found.get("high", named.pop("high", known(None)))
    if low is None:
        raise frame.not_closed("these arguments of the method integers of a generator")
    if is_known(high) and object_of(high) is None:
        low, high = known(0), low
    if object_of(endpoint):
        high = arithmetic(frame, "add", high, known(1))
    return [low, high], named


def _choice(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`rng.choice(n, p=p)` and `rng.choice(n)` of an integer n."""
    if len(args) != 1 or set(named) - {"p"} or not is_number(args[0]) or kind_of(args[0]) == "f":
        raise frame.not_closed("these arguments of the method choice of a generator")
    if "p" in named:
        text: Any = draw_texts.choice_draw
        return frame.language.call_function(frame, text, [known(GENERATOR), args[0], named["p"]], {})
    return call(frame, "integers", args, {})


# --- the draws of distributions --------------------------------------------------------------------------


def sampler_function(frame: Frame, distribution: Value, kind: Type) -> hir.Function:
    """The function of the text that draws from a distribution; its parameters are those of the density."""
    program, facts = frame.program, frame.program.facts
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    wide = number_leaves(facts.canonical(distribution.type))
    key = ("draw", wide, kind)
    if key not in program.helpers:
        made = hir.Function(
            program.function_name(f"{cls.__name__}_draw"),
            results=list(leaves(kind)),
            origin=f"draw from {cls.__name__}",
        )
        program.helpers[key] = made
        inner = Frame(program, Text(made), made.body, frame.node, None, frame.filename, key)
        inner.line = 0
        assert isinstance(wide, Tuple)
        names = wide.names or tuple("p" for _ in wide.items)
        for name, item in zip(names, wide.items, strict=True):
            made.parameters += [inner.fresh(name, leaf) for leaf in leaves(item)]
        result = _sampled(frame, inner, Value(wide, tuple(made.parameters)), kind)
        if not is_never(result):
            inner.emit(hir.Return(list(facts.convert(result, kind))))
        elif inner.live:
            inner.emit(hir.Fail("a draw that is never made"))
    return program.helpers[key]  # type: ignore[no-any-return]


def _sampled(outer: Frame, frame: Frame, owner: Value, kind: Type) -> Value:
    """A draw as the text of the class, or `draw_texts`, makes it; `outer` is where the choice is made."""
    assert isinstance(owner.type, Tuple)
    cls, rng = owner.type.cls, known(GENERATOR)
    if cls is _ProductOfFamily:
        _one_by_one(outer, owner)
    text = _text_of(cls)
    if text is not None:
        drawn = frame.language.inline_function(frame, text, [rng, *items_of(owner)])
    elif is_built_in(cls) and not issubclass(cls, ScalarFamily):
        raise outer.not_closed(f"draws of the family {cls.__name__}")
    else:
        sample = frame.program.noted(cls, "sample")
        sample = draw_texts.SAMPLES.get(sample, sample)
        if not isinstance(sample, FunctionType):
            raise outer.not_closed(f"the method sample of {cls.__name__}, {sample!r}")
        drawn = frame.language.call_function(frame, sample, [owner, rng], {})
    if is_never(drawn):
        return NOTHING
    return _of_kind(outer, drawn, kind, cls)


def _text_of(cls: type) -> Any:
    """The function that draws from a family that is written with NumPy; None for others."""
    if issubclass(cls, product):
        return draw_texts.product_draw
    return draw_texts.TEXTS.get(cls)


def _of_kind(frame: Frame, drawn: Value, kind: Type, cls: type) -> Value:
    """A draw, whose type must be that of the values."""
    found = drawn.type
    match kind:
        case Number(wanted):
            alike = is_number(drawn) and kind_of(drawn) == wanted
            alike = alike and not (wanted == "b" and getattr(found, "numpy", False))
        case Array(wanted, rank):
            alike = isinstance(found, Array) and (found.kind, found.rank) == (wanted, rank)
        case _:
            alike = False
    if isinstance(found, Union) or not alike:
        raise frame.not_closed(f"{cls.__name__} draws {describe(found)}, which is no {describe(kind)}")
    return Value(kind, drawn.leaves) if isinstance(kind, Array) else drawn


def _one_by_one(frame: Frame, owner: Value) -> None:
    """Refuse `product(family, ...)` of a family whose draws NumPy makes in another order than one by one."""
    components = items_of(owner)[0]
    item = frame.program.facts.item(components.type.site)  # type: ignore[attr-defined]
    family = getattr(item, "cls", None)
    if family is not None and family not in draw_texts.ONE_BY_ONE:
        raise frame.not_closed(f"draws of a product of {family.__name__}, which are made all at once")


def drawn(frame: Frame, distribution: Value) -> Value:
    """`distribution.sample(rng)`."""
    kind = value_type(frame, distribution)
    sampler = sampler_function(frame, distribution, kind)
    facts = frame.program.facts
    given = facts.convert(distribution, number_leaves(facts.canonical(distribution.type)))
    targets = [frame.fresh("draw", leaf) for leaf in leaves(kind)]
    frame.emit(hir.Call(list(targets), sampler, list(given)))
    return Value(kind, tuple(targets))


def plain_call(frame: Frame, function: Any, args: list[Value]) -> Value | None:
    """A call of one of gendsl's functions whose text is in `draw_texts`; None for any other."""
    if function is getval:  # nothing here is in a box of autograd's
        return args[0]
    text: Any = draw_texts.DRAWS.get(function)
    return None if text is None else frame.language.call_function(frame, text, args, {})
