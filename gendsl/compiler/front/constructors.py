"""How instances are made: by `__init__`, also of base classes, or by the fields that a class has."""

from __future__ import annotations

import ast
import collections
import dataclasses
import math
from abc import ABCMeta
from enum import Enum, EnumType, Flag
from types import FunctionType
from typing import Any, Protocol

from gendsl.compiler import hir
from gendsl.compiler.front import families, instances, library_deque, lists, outside, scores
from gendsl.compiler.front.argument_types import check_access
from gendsl.compiler.front.binding import arguments, bound
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.function_calls import call_function, run_inline
from gendsl.compiler.front.numbers import test_of
from gendsl.compiler.front.objects import Building, Token, object_layout
from gendsl.compiler.front.operators import compared, equal
from gendsl.compiler.hir.types import Known, Object, Tuple, Type, Union, goes_once
from gendsl.compiler.hir.values import NONE, NOTHING, UNSET, Value, known, make_tuple
from gendsl.distributions.base import CHECK, is_built_in
from gendsl.distributions.discrete import Parameterised
from gendsl.distributions.parameters import family_called
from gendsl.errors import ParameterError
from gendsl.supports import Interval, Support

_METACLASSES: tuple[type, ...] = type, ABCMeta, type(Protocol)
"""Those that make classes whose instances are made as usual."""


def construct(frame: Frame, cls: type, args: list[Value], named: dict[str, Value]) -> Value:
    """An instance of a class."""
    if issubclass(cls, BaseException):
        return NONE
    if isinstance(cls, EnumType):
        return _member(frame, cls, args, named)
    if cls is collections.deque:
        cls, args = library_deque.Deque, [gone_through(frame, one) for one in args]
    if issubclass(cls, Parameterised) and named:
        try:
            cls = family_called(cls, len(args), tuple(named))
        except ParameterError as error:
            frame.fail(error.problem)
            return NOTHING
    made = families.distribution_of_class(frame, cls, args, named)
    if made is not None:
        return made
    if issubclass(cls, Interval):
        if not args:
            args = [known(-math.pi), known(math.pi)]
        frame.fail_unless(test_of(compared(frame, "lt", *args)), "an interval without an inside")
        return make_tuple(args, cls, ("low", "high"))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        owner = next(base for base in cls.__mro__ if "__new__" in vars(base))
        if "_fields" not in vars(owner) or instances.overrides(cls, "__init__"):
            raise frame.not_closed(f"an instance of {cls.__name__}, which has a __new__ of its own")
        check_access(cls)
        return named_tuple(frame, cls, args, named)
    if getattr(cls, "__abstractmethods__", None):
        frame.fail(f"{cls.__name__} is an abstract class", TypeError)
        return NOTHING
    if cls.__flags__ & (1 << 9) == 0 or type(cls) not in _METACLASSES:  # made by C, or by another metaclass
        raise frame.not_closed(f"an instance of {cls.__name__}")
    if cls.__new__ is not object.__new__ and not issubclass(cls, Parameterised):
        raise frame.not_closed(f"an instance of {cls.__name__}, which has a __new__ of its own")
    check_access(cls)
    init = frame.program.noted(cls, "__init__")
    if dataclasses.is_dataclass(cls) and "__init__" in cls.__dict__ and _is_generated(init):
        return _dataclass(frame, cls, args, named)
    if init is object.__init__:
        return finished(frame, cls, {})
    if not isinstance(init, FunctionType):
        raise frame.not_closed(f"an instance of {cls.__name__}")
    return built(frame, cls, init, args, named)


def _member(frame: Frame, cls: EnumType, args: list[Value], named: dict[str, Value]) -> Value:
    """The member of an enumeration that has a value."""
    members: list[Any] = list(cls)
    own = any("_missing_" in vars(one) for one in cls.__mro__ if one is not Enum)
    if issubclass(cls, Flag) or len(args) != 1 or named or own:
        raise frame.not_closed(f"a call of {cls.__name__}, whose members do not tell what it gives")
    value = frame.atoms(args[0])

    def found(at: int) -> Value:
        if at == len(members):
            frame.fail(f"no member of {cls.__name__} has this value")
            return NOTHING
        same = equal(frame, value, known(members[at].value))
        return frame.choose(same, lambda: known(members[at]), lambda: found(at + 1))

    return found(0)


def gone_through(frame: Frame, value: Value) -> Value:
    """A list of what an iterator gives; any other value as it is."""
    if not goes_once(value.type):
        return value
    made = lists.list_of(frame, frame.here, [], "gone through")
    lists.extend(frame, frame.here, made, value)
    return made


def _is_generated(function: Any) -> bool:
    return getattr(function, "__code__", None) is not None and function.__code__.co_filename == "<string>"


def built(frame: Frame, cls: type, init: FunctionType, args: list[Value], named: dict[str, Value]) -> Value:
    """An instance whose attributes `__init__` sets."""
    program = frame.program
    source = outside.source_of(frame, init)
    activation = (frame.activation, id(frame.here), frame.unrolled, cls)
    inner = Frame(program, frame.text, frame.out, source.node, init, source.filename, activation)
    building = Building(cls, inner)
    given = bound(
        frame, source.node, outside.defaults_of(frame, init), [Value(building), *args], named, cls.__name__
    )
    if given is None:
        frame.fail(f"{cls.__name__} is called with arguments that it does not take")
        return NOTHING
    inner.env.update(given)
    run_inline(frame, inner, source.node)
    token = Token(building)
    return finished(
        frame,
        cls,
        {name[1]: value for name, value in inner.env.items() if isinstance(name, tuple) and name[0] == token},
    )


def finished(frame: Frame, cls: type, attributes: dict[str, Value]) -> Value:
    """An instance with these attributes: a value by itself, or an object where its attributes change later
    on.
    """
    program, facts = frame.program, frame.program.facts
    if not frame.live:
        return NOTHING
    if ("changes", cls) not in facts.flags:
        if any(_holds(value.type, cls) for value in attributes.values()):
            facts.flag(("holds itself", cls))
        if ("holds itself", cls) in facts.flags:  # how deeply that goes is known only when the text runs
            attributes = {name: _boxed(frame, cls, name, value) for name, value in attributes.items()}
        return make_tuple(list(attributes.values()), cls, tuple(attributes))
    site = frame.site(frame.here, ("object", cls))
    for name, value in attributes.items():
        program.object_fields(cls, name)
        facts.grow_item(site, value.type, name)
    names = program.object_fields(cls)
    missing = [name for name in names if name not in attributes]
    for name in missing:
        facts.grow_item(site, Known(UNSET), name)
    item: list[Any] = []
    for name in names:
        item += facts.convert(attributes.get(name, known(UNSET)), facts.item(site, name))
    var = frame.fresh(cls.__name__.lower(), "r")
    frame.emit(hir.New(var, object_layout(frame, site, cls), [tuple(item)]))
    return Value(Object(site, cls), (var,))


def _boxed(frame: Frame, cls: type, name: str, value: Value) -> Value:
    """An attribute of an instance of a class that holds itself: in a box, if it has instances in it."""
    if not _holds(value.type, None):
        return value
    return frame.boxed(value, frame.program.facts.site(("held", cls, name)))


def _holds(type: Type, cls: type | None) -> bool:
    """Whether a value of a type may have an instance of a class in it, outside of boxes; or of any."""
    match type:
        case Tuple(items, own):
            is_one = own is not tuple if cls is None else own is cls
            return is_one or any(_holds(item, cls) for item in items)
        case Union(alternatives):
            return any(_holds(one, cls) for one in alternatives)
    return False


def named_tuple(frame: Frame, cls: Any, args: list[Value], named: dict[str, Value]) -> Value:
    found = dict(zip(cls._fields, args, strict=False))
    for name, value in named.items():
        if name in found or name not in cls._fields:
            frame.fail("a wrong argument of a named tuple")
            return NOTHING
        found[name] = value
    for name in cls._fields:
        if name not in found:
            if name not in cls._field_defaults:
                frame.fail("a missing argument of a named tuple")
                return NOTHING
            found[name] = outside.constant(frame, cls._field_defaults[name])
    if len(args) > len(cls._fields):
        frame.fail("too many arguments of a named tuple")
        return NOTHING
    return make_tuple([found[name] for name in cls._fields], cls, tuple(cls._fields))


def _dataclass(frame: Frame, cls: Any, args: list[Value], named: dict[str, Value]) -> Value:
    fields = [f for f in dataclasses.fields(cls) if f.init]
    kinds = dataclasses._FIELD, dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
    if any(f._field_type not in kinds for f in cls.__dataclass_fields__.values()):
        raise frame.not_closed(f"the dataclass {cls.__name__}, which has pseudo-fields")
    positional = [f.name for f in fields if not f.kw_only]
    if len(args) > len(positional):
        frame.fail("too many arguments of a dataclass")
        return NOTHING
    found = dict(zip(positional, args, strict=False))
    for name, value in named.items():
        if name in found or name not in [f.name for f in fields]:
            frame.fail("a wrong argument of a dataclass")
            return NOTHING
        found[name] = value
    for f in dataclasses.fields(cls):
        if f.name in found:
            continue
        if f.default is not dataclasses.MISSING:
            found[f.name] = outside.constant(frame, f.default)
        elif f.default_factory is not dataclasses.MISSING:
            found[f.name] = frame.language.call(frame, known(f.default_factory), [], {})
        elif f.init:
            frame.fail("a missing argument of a dataclass")
            return NOTHING
    ordered = {f.name: found[f.name] for f in dataclasses.fields(cls) if f.name in found}
    post = frame.program.noted(cls, "__post_init__") if hasattr(cls, "__post_init__") else None
    if isinstance(post, FunctionType) and not issubclass(cls, Support):  # those only check
        source = outside.source_of(frame, post)
        activation = (frame.activation, id(frame.here), frame.unrolled, cls)
        inner = Frame(frame.program, frame.text, frame.out, source.node, post, source.filename, activation)
        building = Building(cls, inner)
        token = Token(building)
        inner.env[source.node.args.args[0].arg] = Value(building)
        for name, value in ordered.items():
            inner.env[token, name] = value
        run_inline(frame, inner, source.node)
        ordered = {n[1]: v for n, v in inner.env.items() if isinstance(n, tuple) and n[0] == token}
    return finished(frame, cls, ordered)


def is_super(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and not node.args
    )


def _is_text_of(member: Any, function: FunctionType) -> bool:
    """Whether what a class has is a function, or what gendsl has put around that."""
    return member is function or (hasattr(member, CHECK) and member.__wrapped__ is function)


def call_super(frame: Frame, node: ast.Call) -> Value:
    """`super().method(...)`; its `__init__` sets the attributes of the same object."""
    assert isinstance(node.func, ast.Attribute)
    function = frame.function
    arguments_ = frame.node.args.args
    if function is None or not arguments_:
        raise frame.not_closed("super() outside of a method", node)
    owner = frame.env[arguments_[0].arg]
    cls = getattr(owner.type, "cls", None)
    if cls is None:
        raise frame.not_closed("super() of a value that is no instance", node)
    after = None
    for base in cls.__mro__:
        if any(_is_text_of(member, function) for member in vars(base).values()):
            after = base
        elif after is not None and node.func.attr in base.__dict__:
            method = base.__dict__[node.func.attr]
            break
    else:
        raise frame.not_closed("super() that leads nowhere", node)
    args, named = arguments(frame, node)
    if method is object.__init__:
        return NONE
    if node.func.attr == "logpdf" and is_built_in(base) and len(args) == 1 and not named:
        behind = cls.__mro__[cls.__mro__.index(after) + 1 :]
        return scores.of_base(frame, owner, next(filter(is_built_in, behind)), args[0])
    method = method.__wrapped__ if hasattr(method, CHECK) else method  # its own support is looked at anyway
    if not isinstance(method, FunctionType):
        raise frame.not_closed(f"super().{node.func.attr}", node)
    if not isinstance(owner.type, Building):
        return call_function(frame, method, [owner, *args], named)
    source = outside.source_of(frame, method)
    activation = (frame.activation, id(node), frame.unrolled, method)
    inner = Frame(frame.program, frame.text, frame.out, source.node, method, source.filename, activation)
    building = Building(cls, inner)
    given = bound(
        frame, source.node, outside.defaults_of(frame, method), [Value(building), *args], named, "super"
    )
    if given is None:
        frame.fail("super() is called with arguments that it does not take")
        return NOTHING
    inner.env.update(given)
    for name, value in frame.env.items():
        if isinstance(name, tuple) and name[0] == Token(owner.type):
            inner.env[Token(building), name[1]] = value
    run_inline(frame, inner, source.node)
    for name, value in inner.env.items():
        if isinstance(name, tuple) and name[0] == Token(building):
            frame.env[Token(owner.type), name[1]] = value
    return NONE
