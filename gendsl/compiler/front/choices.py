"""Random choices and traced calls: addresses, distributions and traces as values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import (
    array_places,
    calls,
    charts,
    draws,
    ellipses,
    functions,
    kept_densities,
    outside,
    paths,
    scores,
    stats,
)
from gendsl.compiler.front.binding import arguments, bound
from gendsl.compiler.front.coordinates import coordinates
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.objects import Building, widened
from gendsl.compiler.front.operators import unary
from gendsl.compiler.front.paths import path
from gendsl.compiler.front.subscripts import item_at, put
from gendsl.compiler.hir import Const, Expr
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.templates import MODEL, NO_VALUE
from gendsl.compiler.hir.types import (
    Array,
    Below,
    Joined,
    Known,
    Method,
    Number,
    PathPart,
    Tuple,
    Type,
    Union,
    describe,
    holds_closure,
    leaves,
)
from gendsl.compiler.hir.types import (
    Text as TextType,
)
from gendsl.compiler.hir.values import NOTHING, Value, is_never, is_number, items_of, known, make_tuple
from gendsl.distributions import Distribution, factor
from gendsl.lang.sites import is_choice, is_splice, target_indices
from gendsl.lang.trees import walk


def _makes_choices(frame: Frame) -> bool:
    return frame.prefix is not None and frame.outer is None


# --- the four ways to write a choice -----------------------------------------------------------------


def addressed(frame: Frame, node: ast.BinOp) -> Value:
    """`addr @ ~E`."""
    assert isinstance(node.right, ast.UnaryOp)
    if not _makes_choices(frame):
        raise frame.not_closed("`@ ~` outside of a @gen function", node)
    left = node.left
    if isinstance(left, ast.Set) and len(left.elts) == 1:  # the paper's braces
        left = left.elts[0]
    if is_splice(left):
        return _splice(frame, node.right.operand)
    address = frame.atoms(frame.language.expression(frame, left))
    return _made(frame, address, node.right.operand)


def unaddressed(frame: Frame, node: ast.UnaryOp) -> Value | None:
    """`~E` where nothing gives an address; None where it is the ordinary operator."""
    return None


def assigned(frame: Frame, node: ast.expr, target: ast.Name) -> Value:
    """`(name := ~E)`."""
    assert isinstance(node, ast.UnaryOp)
    request = _operand(frame, node.operand)
    found = _without_choice(frame, request)
    return _from_request(frame, known((target.id,)), request, node.operand) if found is None else found


def assign_choice(frame: Frame, target: ast.expr, node: ast.UnaryOp) -> None:
    """`target = ~E`, where the target gives the address."""
    found = target_indices(target)
    if found is None or not _makes_choices(frame):
        frame.language.assign(
            frame, target, unary(frame, node.op, frame.language.expression(frame, node.operand))
        )
        return
    name, indices = found
    request = _operand(frame, node.operand)
    plain = _without_choice(frame, request)
    if plain is not None:
        frame.language.assign(frame, target, plain)
        return
    if not indices:
        made = _from_request(frame, known((name,)), request, node.operand)
        frame.language.assign(frame, target, made)
        return
    at = [frame.atoms(frame.language.expression(frame, index)) for index in indices]
    value = frame.atoms(_from_request(frame, make_tuple([known(name), *at]), request, node))
    _store(frame, target, at, value)


def _store(frame: Frame, target: ast.expr, at: list[Value], value: Value) -> None:
    """Store into `name[i][j]`, with the indices at hand."""
    groups: list[list[Value]] = []
    node = target
    rest = list(at)
    while isinstance(node, ast.Subscript):
        count = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        groups.insert(0, rest[len(rest) - count :])
        del rest[len(rest) - count :]
        node = node.value
    owner = frame.language.expression(frame, node)
    for group in groups[:-1]:
        owner = frame.atoms(_indexed(frame, owner, group))
    last = groups[-1]
    if isinstance(owner.type, Array):
        array_places.put(frame, owner, last, value)
    else:
        put(frame, owner, last[0] if len(last) == 1 else make_tuple(last), value)


def _indexed(frame: Frame, owner: Value, group: list[Value]) -> Value:
    if isinstance(owner.type, Array):
        return array_places.at_indices(frame, owner, group)
    return item_at(frame, owner, group[0] if len(group) == 1 else make_tuple(group))


# --- requests --------------------------------------------------------------------------------------


class Request:
    """What stands behind a `~`: a distribution, or a call of a generative function."""

    def __init__(self, value: Value | None, program: Any = None, args: Any = None, named: Any = None) -> None:
        self.value = value
        self.program = program
        self.args = args
        self.named = named


def _operand(frame: Frame, node: ast.expr) -> Request:
    """The operand of a `~`."""
    if not isinstance(node, ast.Call):
        return Request(frame.language.expression(frame, node))
    function = frame.atoms(frame.language.expression(frame, node.func))
    program = _generative(frame, function)
    if program is None:
        frame.here, frame.line = node, node.lineno
        args, named = arguments(frame, node)
        frame.here, frame.line = node, node.lineno
        return Request(calls.call(frame, function, args, named))
    args, named = arguments(frame, node)
    found, owner = program
    return Request(None, found, [*owner, *args], named)


def _without_choice(frame: Frame, request: Request) -> Value | None:
    """`~` of a number or an array, which is the ordinary operator; None where it makes a choice."""
    value = None if request.value is None else frame.opened(request.value)
    return unary(frame, ast.Invert(), value) if value is not None and _is_plain(value) else None


def _is_plain(value: Value) -> bool:
    return isinstance(value.type, Array) or is_number(value)


def _generative(frame: Frame, function: Value) -> tuple[Any, list[Value]] | None:
    match function.type:
        case Known(value=found) if frame.program.is_generative(found):
            if not hasattr(found, "compiled"):
                raise frame.not_closed(f"a call of {found!r}, a generative function of another kind")
            return found, [outside.constant(frame, one) for one in found.bound]
        case Method(owner, found) if frame.program.is_generative(found):
            if not hasattr(found, "compiled") or found.kind is not None:
                raise frame.not_closed("a static or class method that is a @gen function")
            return found, [Value(owner, function.leaves)]
    return None


def _made(frame: Frame, address: Value, node: ast.expr) -> Value:
    request = _operand(frame, node)
    return _from_request(frame, address, request, node)


def _from_request(frame: Frame, address: Value, request: Request, node: ast.AST) -> Value:
    if request.value is not None and is_never(request.value):
        return NOTHING
    if isinstance(address.type, Union) and not paths.is_path(frame, address):
        return _over_union(frame, address, lambda one: _from_request(frame, one, request, node))
    if isinstance(address.type, Tuple) and address.type.cls is tuple:
        items = items_of(address)
        several = [
            i
            for i, item in enumerate(items)
            if isinstance(item.type, Union) and not paths.is_path(frame, item)
        ]
        if several:
            at = several[0]

            def with_one(one: Value) -> Value:
                whole = make_tuple([*items[:at], one, *items[at + 1 :]])
                return _from_request(frame, whole, request, node)

            return _over_union(frame, items[at], with_one)
    apart = _apart_in_model(frame, address)
    if apart is not None:
        items, place = apart

        def with_option(one: Value) -> Value:
            whole = make_tuple([*items[:place], one, *items[place + 1 :]])
            return _from_request(frame, whole, request, node)

        return _each_option(frame, items[place], with_option)
    parts, indices = path(frame, address)
    if request.value is None:
        return _call_program(frame, request, parts, indices)
    return frame.switch(
        request.value, lambda one: _choice(frame, stats.as_family(frame, one), parts, indices)
    )


def _over_union(frame: Frame, value: Value, lower: Callable[[Value], Value]) -> Value:
    """The result for whichever alternative a part of an address has; beside strings that are made of values,
    one of some constants is each of these.
    """
    assert isinstance(value.type, Union)
    beside = any(isinstance(one, Joined) for one in value.type.alternatives)

    def of_one(one: Value) -> Value:
        if not (beside and isinstance(one.type, TextType) and one.type.options):
            return lower(one)
        return _each_option(frame, one, lower)

    return frame.switch(value, of_one)


def _each_option(frame: Frame, value: Value, lower: Callable[[Value], Value]) -> Value:
    """The result for whichever of its constants a string is."""
    assert isinstance(value.type, TextType) and value.type.options is not None
    options = sorted(value.type.options)
    number_of = frame.program.facts.text_number

    def from_(i: int) -> Value:
        if i == len(options):
            frame.fail("a string that is none of its constants")
            return NOTHING
        test = hir.Op("eq", (value.leaf, Const(number_of(options[i]), "i")), "b")
        return frame.branch(test, lambda: lower(known(options[i])), lambda: from_(i + 1))

    return from_(0)


def _apart_in_model(frame: Frame, address: Value) -> tuple[list[Value], int] | None:
    """The parts of an address, and the place among them of a string that is one of some constants, each with
    choices of its own in the model; None if there is no such string, or this is the model itself.

    A program that proposes then makes them one by one, as the model does.
    """
    if frame.program.trace == MODEL or frame.prefix is None:
        return None
    items = items_of(address) if isinstance(address.type, Tuple) else [address]
    for i, item in enumerate(items):
        if not (isinstance(item.type, TextType) and item.type.options):
            continue
        one = known(min(item.type.options))
        parts = (*frame.prefix, *path(frame, make_tuple([*items[:i], one, *items[i + 1 :]]))[0])
        for template in frame.program.templates_of(MODEL):
            if len(template.parts) == len(parts) and all(
                wanted == given or (given is ... and type(wanted) is str)
                for wanted, given in zip(template.parts, parts, strict=True)
            ):
                return items, i
    return None


def _splice(frame: Frame, node: ast.expr) -> Value:
    request = _operand(frame, node)
    if request.value is not None:
        raise frame.not_closed("`... @ ~` of what is no call of a @gen function", node)
    return _call_program(frame, request, (), ())


def _call_program(frame: Frame, request: Request, parts: tuple[Any, ...], indices: tuple[Expr, ...]) -> Value:
    """A call of a `@gen` function whose choices lie below an address."""
    lowering, facts, program = frame.program, frame.program.facts, request.program
    origin = program.compiled.origin
    given = bound(
        frame,
        origin.node,
        outside.defaults_of(frame, origin.function),
        request.args,
        request.named,
        program.name,
    )
    if given is None:
        frame.fail("a @gen function is called with arguments that it does not take")
        return NOTHING
    if any(isinstance(v.type, Building) or holds_closure(v.type) for v in given.values()):
        raise frame.not_closed("a @gen function that is given a nested function")
    assert frame.prefix is not None
    prefix = (*frame.prefix, *parts)
    below: tuple[Expr, ...] = (*frame.prefix_indices, *indices)
    called: Any = None
    recursive = origin.function in lowering.stack
    if parts and (recursive or not any(map(is_choice, walk(origin.node)))):  # no choice tells two calls
        facts.flag(("has nodes", origin.function))
    if ("has nodes", origin.function) in facts.flags and parts:
        prefix, below = paths.noted(frame, prefix, below, calls=True)
        if PathPart(True) in prefix:
            raise frame.not_closed("a call below the items of a tuple, whose length is not known")
        edge = lowering.template(prefix, Number("i"), origin.function)
        node = frame.fresh("node", "i")
        frame.emit(hir.Visit([node], edge, below))
        prefix, below, called = (Below(origin.function),), (node,), origin.function
    elif lowering.draws and parts:
        full, at = paths.noted(frame, prefix, below, calls=True)
        called = lowering.template(full, NO_VALUE, origin.function)
        frame.emit(hir.Keep(called, at, []))
    types: dict[str, Type] = {}
    for name, value in given.items():
        kind = facts.canonical(value.type)
        if recursive or isinstance(getattr(kind, "value", None), (int, float)):
            kind = widened(kind)
        if recursive:
            kind = facts.grow((origin.function, prefix, "parameter", name), kind)
        types[name] = kind
    key = (lowering.trace, origin.function, prefix, tuple(types.items()))
    made = lowering.functions.get(key)
    if made is None:
        made = functions.lower_program(frame, key, program, types, prefix)
    leaves_ = [leaf for name, value in given.items() for leaf in facts.convert(value, types[name])]
    result = lowering.result_type((key, "result"), origin.node)
    if called is not None:
        lowering.note_call(called, result)
    targets = [frame.fresh("value", kind) for kind in leaves(result)]
    frame.emit(hir.Call(list(targets), made, [*below, *leaves_]))
    return Value(result, tuple(targets))


def is_like(cls: type) -> bool:
    """Whether instances of a class are distributions: of `Distribution`, or with all that these have."""
    if issubclass(cls, Distribution):
        return True
    return not issubclass(cls, tuple) and all(hasattr(cls, name) for name in ("logpdf", "sample", "support"))


# --- choices ---------------------------------------------------------------------------------------


def _choice(frame: Frame, distribution: Value, parts: tuple[Any, ...], indices: tuple[Expr, ...]) -> Value:
    """A choice from a distribution at an address."""
    if is_never(distribution):
        return NOTHING
    cls = getattr(distribution.type, "cls", None)
    if not (isinstance(distribution.type, Tuple) and isinstance(cls, type) and is_like(cls)):
        raise frame.not_closed(f"`~` of {describe(distribution.type)}")
    assert frame.prefix is not None
    kind = scores.value_type(frame, distribution)
    full, at = paths.noted(frame, (*frame.prefix, *parts), (*frame.prefix_indices, *indices))
    if full[-1] == PathPart(True):
        paths.cover(frame, full, at)
    weighs = cls is factor
    template = frame.program.template(full, kind, weighs=weighs)
    targets = [frame.fresh(template.label, leaf) for leaf in leaves(kind)]
    density, given = scores.density_of_choice(frame, distribution, kind)
    sampler, undrawn = _sampler(frame, distribution, kind) if frame.program.samples else (None, None)
    wide = scores.number_leaves(frame.program.facts.canonical(distribution.type))
    told = frame.program.note_distribution(frame.text.function, template, distribution, wide)
    frame.program.note_coordinates(template, coordinates(frame, distribution, kind))
    chart = charts.chart(frame, distribution, kind) if frame.program.charts else None
    turned = ellipses.normal_choice(frame, distribution, kind) if frame.program.turns else None
    may_be_kept = frame.program.samples and frame.program.trace == MODEL
    kept = kept_densities.kept_density(frame, distribution, kind, density) if may_be_kept else None
    frame.emit(
        hir.Choice(
            list(targets), template, at, density, given, sampler, weighs, undrawn, chart, turned, told, kept
        )
    )
    return Value(kind, tuple(targets))


def _sampler(frame: Frame, distribution: Value, kind: Type) -> tuple[hir.Function | None, NotClosed | None]:
    """The function of the text that draws from a distribution, or why there is none."""
    point = frame.point()
    try:
        return draws.sampler_function(frame, distribution, kind), None
    except NotClosed as refusal:  # it matters only where the choice is drawn
        frame.back(point)
        return None, refusal


# --- distributions as values -------------------------------------------------------------------------
