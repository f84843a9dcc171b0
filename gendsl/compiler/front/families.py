"""The families of distributions: how the compiler reads those whose classes are written with NumPy.

The log density of a scalar family is its method `at`, and its parameters are what `__init__` sets; both are
read as any class of a user's is. What `gendsl.distributions.parameters` checks is a test here, after which
the reference interpreter raises the error. The text of the others is in `gendsl.distributions.texts`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from gendsl.compiler.front import arrays, outside
from gendsl.compiler.front.containers import length
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.instances import is_distribution, is_family
from gendsl.compiler.front.lists import append, list_of
from gendsl.compiler.front.numbers import test_of
from gendsl.compiler.front.operators import arithmetic, compared
from gendsl.compiler.front.subscripts import item_at
from gendsl.compiler.hir import Const, Expr, Op, both
from gendsl.compiler.hir.types import NEVER, Array, Known, List, Number, Tuple, Type, Union, describe, leaves
from gendsl.compiler.hir.values import (
    NOTHING,
    Value,
    is_never,
    is_number,
    items_of,
    kind_of,
    known,
    make_tuple,
    number,
    number_leaf,
    object_of,
)
from gendsl.distributions import Distribution, affine, mvnormal, ordered, parameters, product, texts
from gendsl.distributions.base import ScalarFamily, is_built_in
from gendsl.distributions.compound import _ProductOfFamily
from gendsl.distributions.parameters import family_called
from gendsl.errors import ParameterError
from gendsl.supports import base as supports

_LARGEST = Const(parameters.LARGEST, "f")
_ZERO, _ONE = Const(0.0, "f"), Const(1.0, "f")


def _within(low: tuple[str, Expr] | None, high: tuple[str, Expr]) -> Callable[[Expr], Expr]:
    def test(x: Expr) -> Expr:
        upper = Op(high[0], (x, high[1]), "b")
        return upper if low is None else both(Op(low[0], (x, low[1]), "b"), upper)

    return test


_LEAST = Const(-parameters.LARGEST, "f")
_CHECKS: dict[Any, Callable[[Expr], Expr]] = {
    parameters.real: _within(("ge", _LEAST), ("le", _LARGEST)),
    parameters.positive: _within(("gt", _ZERO), ("le", _LARGEST)),
    parameters.nonnegative: _within(("ge", _ZERO), ("le", _LARGEST)),
    parameters.probability: _within(("ge", _ZERO), ("le", _ONE)),
    parameters.positive_probability: _within(("gt", _ZERO), ("le", _ONE)),
    parameters.bound: _within(("ge", Const(-math.inf, "f")), ("le", Const(math.inf, "f"))),
}


def parameter_check(frame: Frame, function: Any, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A call of one of the functions that check parameters; None for any other."""
    vectors = parameters.probabilities, parameters.increasing
    checks = (parameters.integer, parameters.nonnegative_integer, *vectors, *_CHECKS)
    if function in checks and isinstance(args[2].type, Union):
        return frame.switch(
            args[2], lambda one: parameter_check(frame, function, [*args[:2], one], named) or one
        )
    if function in _CHECKS:
        value = args[2]
        if isinstance(value.type, Array) or not is_number(value):
            frame.fail(f"{describe(value.type)} as a parameter")
            return NOTHING
        if isinstance(value.type, Known):
            try:
                return known(function("family", "parameter", object_of(value)))
            except ParameterError:
                frame.fail("a parameter out of its domain")
                return NOTHING
        leaf = frame.atom(number_leaf(value))
        frame.fail_unless(_CHECKS[function](number_leaf(number(leaf), "f")), "a parameter out of its domain")
        return number(leaf) if leaf.kind != "b" else number(number_leaf(value, "i"))
    if function in (parameters.integer, parameters.nonnegative_integer):
        return _integer(frame, args[2], least=None if function is parameters.integer else 0)
    if function is parameters.ordered:
        low, high = args[1], args[2]
        equal = named.get("equal", known(False)).type.value  # type: ignore[attr-defined]
        test = compared(frame, "le" if equal else "lt", low, high)
        frame.fail_unless(test_of(test), "ends that are not in order")
        if kind_of(low) == "f" or kind_of(high) == "f":
            ends = Op("sub", (number_leaf(high, "f"), number_leaf(low, "f")), "f")
            infinite = Op(
                "or",
                (Op("isinf", (number_leaf(low, "f"),), "b"), Op("isinf", (number_leaf(high, "f"),), "b")),
                "b",
            )
            frame.fail_unless(
                Op("or", (Op("le", (ends, _LARGEST), "b"), infinite), "b"), "ends that are too far apart"
            )
        return known(None)
    if function is parameters.factor_weight:
        return _factor_weight(frame, args[0])
    if function is parameters.probabilities:
        if frame.program.draws and isinstance(args[2].type, Array):  # of a longer one the draws are others
            short = Op("le", (length(frame, args[2]), Const(parameters.SHORT, "i")), "b")
            frame.fail_unless(short, "a long array of probabilities")
        return _vector(frame, texts.check_probabilities, args[2])
    if function is parameters.increasing:
        return _vector(frame, texts.check_increasing, args[2])
    drawn = frame.language.plain_call(frame, function, args)
    if drawn is not None:
        return drawn
    if function is supports.as_float:
        return number(number_leaf(args[0], "f"))
    if function is parameters.certain:
        return frame.choose(test_of(args[0]), lambda: known(0.0), lambda: known(-math.inf))
    return None


def _factor_weight(frame: Frame, value: Value) -> Value:
    if isinstance(value.type, Union):
        return frame.switch(value, lambda one: _factor_weight(frame, one))
    if not is_number(value):
        frame.fail(f"{describe(value.type)} as the weight of a factor")
        return NOTHING
    leaf = frame.atom(number_leaf(value, "f"))
    frame.fail_unless(Op("lt", (leaf, Const(math.inf, "f")), "b"), "the weight of a factor")
    return number(leaf)


def _integer(frame: Frame, value: Value, least: int | None) -> Value:
    if not is_number(value):
        frame.fail(f"{describe(value.type)} as an integer parameter")
        return NOTHING
    if isinstance(value.type, Known):
        found = object_of(value)
        if float(found) != int(found) or (least is not None and found < least):
            frame.fail("a parameter that is no integer of its domain")
            return NOTHING
        return known(int(found))
    if kind_of(value) == "f":
        leaf = frame.atom(number_leaf(value, "f"))
        frame.fail_unless(
            Op("eq", (Op("np_floor", (leaf,), "f"), leaf), "b"), "a parameter that is no integer"
        )
        value = number(frame.op("int_trunc", (leaf,), "i"))
    leaf = frame.atom(number_leaf(value, "i"))
    if least is not None:
        frame.fail_unless(Op("ge", (leaf, Const(least, "i")), "b"), "a parameter below its domain")
    return number(leaf)


def _vector(frame: Frame, check: Any, value: Value) -> Value:
    """A vector of numbers, checked and copied, as a list of floats."""
    if isinstance(value.type, (List, Tuple, Array)) or (
        isinstance(value.type, Known) and isinstance(object_of(value), tuple)
    ):
        return frame.language.call_function(frame, check, [value], {})
    frame.fail(f"{describe(value.type)} as a vector of numbers")
    return NOTHING


# --- families that are written with NumPy --------------------------------------------------------------


def construct(frame: Frame, cls: type, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A distribution of a class whose `__init__` the compiler does not read; None for others."""
    if cls is product:
        return _product(frame, args, named)
    text = texts.TEXTS.get(cls)
    if text is None:
        if is_built_in(cls) and not issubclass(cls, ScalarFamily):
            raise frame.not_closed(f"the family {cls.__name__}")
        return None
    defaults = outside.defaults_of(frame, cls.__init__)  # type: ignore[misc]
    names: tuple[str, ...] = cls.parameters  # type: ignore[attr-defined]
    found = {**dict(zip(names, args, strict=False)), **named}
    given = [found.get(name, defaults.get(name, NOTHING)) for name in names]
    if not set(found) <= set(names) or len(args) + len(named) != len(found) or any(map(is_never, given)):
        frame.fail(f"{cls.__name__} is called with arguments that it does not take")
        return NOTHING
    for i, value in enumerate(given):
        if isinstance(value.type, Union) and all(map(is_family, value.type.alternatives)):

            def with_one(one: Value, at: int = i) -> Value:
                made = construct(frame, cls, [*given[:at], one, *given[at + 1 :]], {})
                assert made is not None
                return made

            return frame.switch(value, with_one)
    if cls is affine:
        given = _image_of(frame, *given)
    check = _check_of(frame, text, given[text.component])
    checked = frame.language.call_function(frame, check, given, {})  # type: ignore[arg-type]
    if not frame.live or is_never(checked):
        return NOTHING
    return make_tuple([frame.atoms(one) for one in items_of(checked)], cls, text.names)


def _check_of(frame: Frame, text: texts.FamilyText, given: Value) -> Callable[..., Any]:
    """The check of a family's parameters: a mixture of arrays has components of one support."""
    if text.check is not texts.check_mixture or is_never(given):
        return text.check
    every = component_examples(frame, given)
    if not any(isinstance(frame.language.value_type(frame, one), Array) for one in every):
        return text.check
    products = all(issubclass(one.type.cls, product) for one in every if isinstance(one.type, Tuple))
    return texts.check_mixture_of_products if products else texts.check_mixture_of_arrays


def _image_of(frame: Frame, dist: Value, scale: Value, shift: Value) -> list[Value]:
    """The parameters of an image, where that of an image is one image."""
    if isinstance(dist.type, Tuple) and dist.type.cls is affine:
        dist, inner_scale, inner_shift = items_of(dist)
        shift = arithmetic(frame, "add", arithmetic(frame, "mul", scale, inner_shift), shift)
        scale = arithmetic(frame, "mul", scale, inner_scale)
    return [dist, frame.atoms(_plain(scale)), frame.atoms(_plain(shift))]


def _plain(value: Value) -> Value:
    """A number, a truth value as the integer that `affine` makes of it."""
    return number(number_leaf(value, "i")) if is_number(value) and kind_of(value) == "b" else value


def image(frame: Frame, operator: str, distribution: Value, other: Value) -> Value:
    """Arithmetic on a distribution: `1 + d`, `d - 1`, `2 * d`, `d / 2`, `-d`."""
    one, nothing = known(1), known(0)
    if operator in ("__truediv__", "__sub__") and not is_number(other) and not isinstance(other.type, Array):
        frame.fail("arithmetic on a distribution with what is no number")
        return NOTHING
    match operator:
        case "__add__" | "__radd__":
            scale, shift = one, other
        case "__sub__":
            scale, shift = one, arithmetic(frame, "mul", known(-1), other)
        case "__rsub__":
            scale, shift = known(-1), other
        case "__mul__" | "__rmul__":
            scale, shift = other, nothing
        case "__truediv__":
            scale, shift = arithmetic(frame, "truediv", one, other), nothing
        case "__neg__":
            scale, shift = known(-1), nothing
        case _:
            frame.fail("arithmetic that a distribution does not have")
            return NOTHING
    return construct(frame, affine, [distribution, scale, shift], {}) or NOTHING


def _written(frame: Frame, found: Distribution) -> Value | None:
    """A distribution from outside, of a family that is written with NumPy; None for others."""
    cls = type(found)
    if isinstance(found, product):
        components = [outside.constant(frame, one) for one in frame.program.noted(found, "components")]
        if cls is not product:
            raise frame.not_closed("a product of a family from outside")
        return make_tuple([make_tuple(components)], product, ("components",))
    if cls in texts.TEXTS:
        return construct(frame, cls, _parameters_of(frame, found, cls.parameters), {})
    return None


def _parameters_of(frame: Frame, found: Distribution, names: Iterable[str]) -> list[Value]:
    """The parameters of a distribution from outside."""
    return [outside.constant(frame, frame.program.noted(found, name)) for name in names]


def _product(frame: Frame, args: list[Value], named: dict[str, Value]) -> Value:
    """`product(d, e)`, `product([d, e])` or `product(family, *parameters)`."""
    family = object_of(args[0]) if args and isinstance(args[0].type, Known) else None
    if named:
        if not (isinstance(family, type) and issubclass(family, ScalarFamily)):
            raise frame.not_closed("product of no family with parameters by keyword")
        try:
            family = family_called(family, len(args) - 1, tuple(named))
        except ParameterError as error:
            frame.fail(error.problem)
            return NOTHING
        rest = family.parameters[len(args) - 1 :]
        if set(rest) != set(named):
            frame.fail("other parameters of a product than those of its family")
            return NOTHING
        args = [*args, *(named[name] for name in rest)]
    if not (isinstance(family, type) and issubclass(family, ScalarFamily)):
        components = (
            args[0]
            if len(args) == 1 and isinstance(args[0].type, (List, Tuple)) and not is_distribution(args[0])
            else make_tuple(args)
        )
        return make_tuple([components], product, ("components",))
    vectors = [value for value in args[1:] if not is_number(value)]
    if not vectors:
        frame.fail("none of the parameters of a product is a vector")
        return NOTHING
    n = frame.atom(length(frame, vectors[0]), "n")
    for other in vectors[1:]:
        frame.fail_if(Op("ne", (n, length(frame, other)), "b"), "vectors of different lengths")
    made = list_of(frame, frame.here, [], "components")

    def add(at: list[Expr]) -> None:
        point = []
        for value in args[1:]:
            if is_number(value):
                point.append(value)
            elif isinstance(value.type, Array):
                point.append(arrays.row(frame, value, at[0]))
            else:
                point.append(item_at(frame, value, number(at[0])))
        append(frame, made, frame.language.construct(frame, family, point, {}))

    arrays.over(frame, [n], add, "components")
    return make_tuple([made], _ProductOfFamily, ("components",))


def value_type(frame: Frame, distribution: Value) -> Type | None:
    """The type of the values of a family that is written with NumPy; None for others."""
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    if issubclass(cls, product):
        return repeated(_component_type(frame, items_of(distribution)[0]))
    text = texts.TEXTS.get(cls)
    if text is None:
        return None
    if cls is affine:
        return _image_type(frame, distribution)
    if text.kind is not None:
        return Array(text.kind, text.rank, True) if text.rank else Number(text.kind)
    component = _component_type(frame, items_of(distribution)[text.component])
    if not text.rank:
        return component
    if cls is ordered and component != Number("f"):
        raise frame.not_closed("ordered of a distribution that is not of floats")
    return repeated(component)


def repeated(component: Type) -> Array:
    """The type of arrays of values of a type."""
    if isinstance(component, Array):
        return Array(component.kind, component.rank + 1, True)
    assert isinstance(component, Number)
    return Array(component.kind, 1, True)


def _image_type(frame: Frame, distribution: Value) -> Type:
    """The type of the values of an image: integers where scale and shift of a discrete one are."""
    dist, scale, shift = items_of(distribution)
    inside = frame.language.value_type(frame, dist)
    if isinstance(inside, Array):
        if getattr(dist.type, "cls", None) is not mvnormal:
            raise frame.not_closed("arithmetic on a distribution of arrays")
        return inside
    if not all(map(is_number, (scale, shift))):
        raise frame.not_closed("arithmetic on a distribution of numbers with arrays")
    assert isinstance(inside, Number)
    whole = inside.kind != "f" and kind_of(scale) != "f" and kind_of(shift) != "f"
    return Number("i" if whole else "f")


def component_examples(frame: Frame, components: Value) -> list[Value]:
    """A value of the type of each of the distributions that another one is made of, in no order.

    It is none that the text has: only its type tells something.
    """
    if is_distribution(components):
        found: list[Type] = [components.type]
    elif isinstance(components.type, Union) and all(map(is_family, components.type.alternatives)):
        found = list(components.type.alternatives)
    elif isinstance(components.type, List):
        item = frame.program.facts.item(components.type.site)
        found = [] if item == NEVER else list(item.alternatives) if isinstance(item, Union) else [item]
    else:
        found = [item.type for item in items_of(components)]
    return [Value(type_, tuple(frame.fresh("none", k) for k in leaves(type_))) for type_ in found]


def _component_type(frame: Frame, components: Value) -> Type:
    """The type of the values of distributions, which is the same for all of them."""
    types = set()
    for one in component_examples(frame, components):
        kind = frame.language.value_type(frame, one)
        is_image = kind == Number("f") and getattr(one.type, "cls", None) is affine
        if is_image and frame.language.value_type(frame, items_of(one)[0]) != kind:
            raise frame.not_closed("components whose values are discrete, and no integers")
        types.add(kind)
    if not types and isinstance(components.type, List):
        return Number("f")
    if len(types) != 1:
        raise frame.not_closed("components of different kinds")
    return types.pop()


def log_density(frame: Frame, distribution: Value, value: Value) -> Value | None:
    """The log density of a family that is written with NumPy; None for others."""
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    if issubclass(cls, product):
        function: Any = texts.product_log_density
    elif cls is affine:
        inside = frame.language.value_type(frame, items_of(distribution)[0])
        if isinstance(inside, Array):
            function = texts.affine_of_vectors_log_density
        elif inside == Number("f"):
            function = texts.affine_log_density
        else:
            function = (
                texts.affine_of_integers_log_density
                if kind_of(value) == "i"
                else texts.affine_of_lattice_log_density
            )
    elif cls in texts.TEXTS:
        function = texts.TEXTS[cls].log_density
    else:
        return None
    return frame.language.inline_function(frame, function, [value, *items_of(distribution)])


def distribution_of_class(
    frame: Frame, cls: type, args: list[Value], named: dict[str, Value]
) -> Value | None:
    """A distribution; None where the class is none, or its own `__init__` says what it is."""
    if not issubclass(cls, Distribution):
        return None
    return construct(frame, cls, args, named)


def constant_distribution(frame: Frame, found: Distribution) -> Value:
    """A distribution that exists when the text is made."""
    cls = type(found)
    made = _written(frame, found)
    if made is not None:
        return made
    names = tuple(cls.parameters) or tuple(vars(found))
    if any(not hasattr(found, name) for name in names):
        raise frame.not_closed(f"a distribution of the class {cls.__name__} from outside")
    return make_tuple(_parameters_of(frame, found, names), cls, names)
