"""Random choices and traced calls: addresses, distributions, and the functions that score them."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import families
from gendsl.compiler.front.frame import Frame, Text, is_never
from gendsl.compiler.front.values import (
    NOTHING,
    Value,
    items_of,
    known,
    number,
    number_leaf,
    object_of,
)
from gendsl.compiler.hir import Const, Expr
from gendsl.compiler.sites import is_addressed, is_choice, is_splice, target_indices
from gendsl.compiler.types import (
    Array,
    Known,
    Number,
    SubTrace,
    Tuple,
    Type,
    describe,
    leaves,
)
from gendsl.compiler.types import (
    Text as TextType,
)
from gendsl.distributions import Distribution
from gendsl.distributions.base import ScalarFamily

__all__ = ["is_addressed", "is_choice"]


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
    from gendsl.compiler.front.expressions import expression

    address = frame.atoms(expression(frame, left))
    return _made(frame, address, node.right.operand)


def unaddressed(frame: Frame, node: ast.UnaryOp) -> Value | None:
    """`~E` where nothing gives an address; None where it is the ordinary operator."""
    return None


def assigned(frame: Frame, node: ast.expr, target: ast.Name) -> Value:
    """`(name := ~E)`."""
    assert isinstance(node, ast.UnaryOp)
    return _made(frame, known((target.id,)), node.operand)


def assign_choice(frame: Frame, target: ast.expr, node: ast.UnaryOp) -> None:
    """`target = ~E`, where the target gives the address."""
    from gendsl.compiler.front.expressions import expression
    from gendsl.compiler.front.numbers import unary
    from gendsl.compiler.front.statements import assign

    found = target_indices(target)
    if found is None or not _makes_choices(frame):
        assign(frame, target, unary(frame, node.op, expression(frame, node.operand)))
        return
    name, indices = found
    if not indices:
        assign(frame, target, _made(frame, known((name,)), node.operand))
        return
    request = _operand(frame, node.operand)
    at = [frame.atoms(expression(frame, index)) for index in indices]
    from gendsl.compiler.front.values import make_tuple

    value = frame.atoms(_from_request(frame, make_tuple([known(name), *at]), request, node))
    _store(frame, target, at, value)


def _store(frame: Frame, target: ast.expr, at: list[Value], value: Value) -> None:
    """Store into `name[i][j]`, with the indices at hand."""
    from gendsl.compiler.front import arrays
    from gendsl.compiler.front.containers import item_at, put
    from gendsl.compiler.front.expressions import expression
    from gendsl.compiler.front.values import make_tuple

    groups: list[list[Value]] = []
    node = target
    rest = list(at)
    while isinstance(node, ast.Subscript):
        count = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        groups.insert(0, rest[len(rest) - count :])
        del rest[len(rest) - count :]
        node = node.value
    owner = expression(frame, node)
    for group in groups[:-1]:
        owner = frame.atoms(_indexed(frame, owner, group))
    last = groups[-1]
    if isinstance(owner.type, Array):
        arrays.put(frame, owner, last, value)
    else:
        put(frame, owner, last[0] if len(last) == 1 else make_tuple(last), value)
    del item_at


def _indexed(frame: Frame, owner: Value, group: list[Value]) -> Value:
    from gendsl.compiler.front import arrays
    from gendsl.compiler.front.containers import item_at
    from gendsl.compiler.front.values import make_tuple

    if isinstance(owner.type, Array):
        return arrays.at_indices(frame, owner, group)
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
    from gendsl.compiler.front import calls
    from gendsl.compiler.front.expressions import expression

    if not isinstance(node, ast.Call):
        return Request(expression(frame, node))
    function = frame.atoms(expression(frame, node.func))
    program = _generative(frame, function)
    if program is None:
        frame.here, frame.line = node, node.lineno
        args, named = calls.arguments(frame, node)
        frame.here, frame.line = node, node.lineno
        return Request(calls.call(frame, function, args, named))
    args, named = calls.arguments(frame, node)
    found, owner = program
    return Request(None, found, [*owner, *args], named)


def _generative(frame: Frame, function: Value) -> tuple[Any, list[Value]] | None:
    from gendsl.compiler.types import Method

    match function.type:
        case Known(value=found) if frame.program.is_generative(found):
            if not hasattr(found, "compiled"):
                raise frame.not_closed(f"a call of {found!r}, a generative function of another kind")
            return found, [frame.program.constant(frame, one) for one in found.bound]
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
    parts, indices = _path(frame, address)
    if request.value is None:
        return _call_program(frame, request, parts, indices)
    return frame.switch(request.value, lambda one: _choice(frame, one, parts, indices))


def _splice(frame: Frame, node: ast.expr) -> Value:
    request = _operand(frame, node)
    if request.value is not None:
        raise frame.not_closed("`... @ ~` of what is no call of a @gen function", node)
    return _call_program(frame, request, (), ())


def _path(frame: Frame, address: Value) -> tuple[tuple[Any, ...], tuple[Expr, ...]]:
    """An address as the parts of a template, with None for each index, and the indices."""
    if isinstance(address.type, (Tuple, Known)) and not (
        isinstance(address.type, Known) and not isinstance(object_of(address), tuple)
    ):
        items = items_of(address)
    else:
        items = [address]
    if not items:
        frame.fail("an empty address")
    parts: list[Any] = []
    indices: list[Expr] = []
    for item in items:
        match item.type:
            case Known(value=str() as text):
                parts.append(text)
            case Known(value=int() as at) if not isinstance(at, bool) and abs(at) < 2**31:
                parts.append(None)
                indices.append(Const(at, "i"))
            case Number("i"):
                parts.append(None)
                indices.append(frame.atom(item.leaf, "at"))
            case _ if is_never(item):
                parts.append(None)
                indices.append(Const(0, "i"))
            case TextType():
                parts.append(...)
                indices.append(frame.atom(item.leaf, "at"))
            case _:
                raise frame.not_closed(f"{describe(item.type)} in an address")
    return tuple(parts), tuple(indices)


def _call_program(frame: Frame, request: Request, parts: tuple[Any, ...], indices: tuple[Expr, ...]) -> Value:
    """A call of a `@gen` function whose choices lie below an address."""
    from gendsl.compiler.front import calls
    from gendsl.compiler.front.calls import Building, _widened
    from gendsl.compiler.front.program import Below
    from gendsl.compiler.types import holds_closure

    lowering, facts, program = frame.program, frame.program.facts, request.program
    origin = program.compiled.origin
    given = calls.bound(
        frame,
        origin.node,
        lowering.defaults(frame, origin.function),
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
    recursive = origin.function in lowering.stack
    if recursive and parts:
        facts.flag(("calls itself", origin.function))
    if ("calls itself", origin.function) in facts.flags and parts:
        edge = lowering.template(prefix, Number("i"), origin.function)
        node = frame.fresh("node", "i")
        frame.emit(hir.Visit([node], edge, below))
        prefix, below = (Below(origin.function),), (node,)
    types: dict[str, Type] = {}
    for name, value in given.items():
        kind = facts.canonical(value.type)
        if recursive or isinstance(getattr(kind, "value", None), (int, float)):
            kind = _widened(kind)
        if recursive:
            kind = facts.grow((origin.function, prefix, "parameter", name), kind)
        types[name] = kind
    key = (origin.function, prefix, tuple(types.items()))
    made = lowering.functions.get(key)
    if made is None:
        made = lowering.lower_program(frame, key, program, types, prefix)
    leaves_ = [leaf for name, value in given.items() for leaf in facts.convert(value, types[name])]
    result = lowering.result_type((key, "result"), origin.node)
    targets = [frame.fresh("value", kind) for kind in leaves(result)]
    frame.emit(hir.Call(list(targets), made, [*below, *leaves_]))
    return Value(result, tuple(targets))


# --- choices ---------------------------------------------------------------------------------------


def _choice(frame: Frame, distribution: Value, parts: tuple[Any, ...], indices: tuple[Expr, ...]) -> Value:
    """A choice from a distribution at an address."""
    if is_never(distribution):
        return NOTHING
    cls = getattr(distribution.type, "cls", None)
    if not (isinstance(distribution.type, Tuple) and isinstance(cls, type) and issubclass(cls, Distribution)):
        raise frame.not_closed(f"`~` of {describe(distribution.type)}")
    assert frame.prefix is not None
    kind = value_type(frame, distribution)
    template = frame.program.template((*frame.prefix, *parts), kind)
    names = [part for part in template.parts if isinstance(part, str)]
    targets = [frame.fresh(str(names[-1]) if names else "x", leaf) for leaf in leaves(kind)]
    density, given = density_function(frame, distribution, kind)
    choice = hir.Choice(list(targets), template, (*frame.prefix_indices, *indices), density, given)
    frame.emit(choice)
    return Value(kind, tuple(targets))


def value_type(frame: Frame, distribution: Value) -> Type:
    """The type of the values of a distribution."""
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    if issubclass(cls, ScalarFamily):
        return Number({float: "f", int: "i", bool: "b"}[cls.number])
    found = families.value_type(frame, distribution)
    if found is not None:
        return found
    if cls.__module__.startswith("gendsl."):
        raise frame.not_closed(f"choices of the family {cls.__name__}")
    support = support_of(frame, distribution)
    name = getattr(support.type, "cls", type(None)).__name__
    if name in ("Real", "Positive", "Interval", "Circle"):
        return Number("f")
    if name == "Integers":
        return Number("i")
    if name == "Boolean":
        return Number("b")
    if name == "Repeated":
        component = items_of(support)[0]
        cls_name = getattr(component.type, "cls", type(None)).__name__
        kinds = {"Real": "f", "Positive": "f", "Interval": "f", "Integers": "i", "Boolean": "b"}
        if cls_name in kinds:
            return Array(kinds[cls_name], 1, True)
    if name in ("RealVector", "Simplex"):
        return Array("f", 1, True)
    raise frame.not_closed(f"choices whose support is a {name}")


def support_of(frame: Frame, distribution: Value) -> Value:
    """The support of a distribution of the user's, from the text of its class."""
    from gendsl.compiler.front.expressions import attribute

    return attribute(frame, distribution, "support")


def _number_leaves(type: Type) -> Type:
    from gendsl.compiler.front.calls import _widened

    return _widened(type)


def density_function(frame: Frame, distribution: Value, kind: Type) -> tuple[hir.Function, tuple[Expr, ...]]:
    """The function of the text for the log density of a distribution, and the parameters to call it with."""

    program, facts = frame.program, frame.program.facts
    assert isinstance(distribution.type, Tuple)
    cls = distribution.type.cls
    wide = _number_leaves(facts.canonical(distribution.type))
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


def scored(frame: Frame, distribution: Value, x: Value) -> Value:
    """`distribution.logpdf(x)`."""
    if is_never(x):
        return NOTHING
    kind = value_type(frame, distribution)
    density, given = density_function(frame, distribution, kind)
    leaves_ = frame.program.facts.convert(x, kind)
    var = frame.fresh("lp_term", "f")
    frame.emit(hir.Call([var], density, [*given, *leaves_]))
    return number(var)


def _own_density(frame: Frame, owner: Value, value: Value) -> Value:
    """The log density as the text of the class has it; -inf outside of the support."""
    from gendsl.compiler.front import calls

    assert isinstance(owner.type, Tuple)
    cls = owner.type.cls
    if issubclass(cls, ScalarFamily) and cls.__module__.startswith("gendsl."):
        return calls.inline_function(frame, cls.at, [owner, value])
    logpdf = _unwrapped(cls.at if issubclass(cls, ScalarFamily) else cls.logpdf)

    def inside() -> Value:
        return calls.call_function(frame, logpdf, [owner, value], {})

    if cls.checks_support or cls.__module__.startswith("gendsl."):
        return inside()
    from gendsl.compiler.front.numbers import test_of

    support = support_of(frame, owner)
    if isinstance(value.type, Array):
        raise frame.not_closed(f"the support of {cls.__name__}, a family of arrays")
    test = test_of(calls.call_method(frame, support, "contains", [value]))
    return frame.branch(test, inside, lambda: known(float("-inf")))


def _unwrapped(function: Any) -> FunctionType:
    from gendsl.distributions.base import CHECK

    while getattr(function, CHECK, None) is not None:
        function = function.__wrapped__
    if not isinstance(function, FunctionType):
        from gendsl.compiler.front.values import NotClosed

        raise NotClosed(f"the log density {function!r}")
    return function


# --- distributions as values -------------------------------------------------------------------------


def construct(frame: Frame, cls: type, args: list[Value], named: dict[str, Value]) -> Value | None:
    """A distribution; None where the class is none, or its own `__init__` says what it is."""
    if not issubclass(cls, Distribution):
        return None
    return families.construct(frame, cls, args, named)


def constant_distribution(program: Any, frame: Frame, found: Distribution) -> Value:
    """A distribution that exists when the text is made."""
    from gendsl.compiler.front.values import make_tuple

    cls = type(found)
    names = tuple(cls.parameters) or tuple(vars(found))
    if any(not hasattr(found, name) for name in names):
        raise frame.not_closed(f"a distribution of the class {cls.__name__} from outside")
    return make_tuple([program.constant(frame, getattr(found, name)) for name in names], cls, names)


# --- traces as values --------------------------------------------------------------------------------


def contains(frame: Frame, container: Value, value: Value) -> Expr | None:
    """`address in trace`; None where the container is no trace."""
    if isinstance(container.type, SubTrace):
        raise frame.not_closed("`in` a trace")
    return None


def subscript(frame: Frame, value: Value, node: ast.expr) -> Value | None:
    """`trace[address]`; None where the value is no trace."""
    if isinstance(value.type, SubTrace):
        raise frame.not_closed("a choice of a trace", node)
    return None


def attribute(frame: Frame, value: Value, name: str) -> Value:
    """An attribute of a trace."""
    raise frame.not_closed(f"the attribute {name} of a trace")
