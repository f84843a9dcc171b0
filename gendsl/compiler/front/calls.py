"""Calls: of the user's functions, methods and classes, each one function of the text for its types of
arguments.

Functions, methods and instances call one another, so this is one module.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools
import inspect
import math
from types import FunctionType, MethodType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import (
    array_calls,
    blocks,
    builtin_calls,
    cells,
    components,
    draws,
    ellipses,
    families,
    functions,
    handles,
    instances,
    library_deque,
    library_numbers,
    lines,
    list_methods,
    lists,
    outside,
    scores,
    sets,
    stats,
    tables,
    texts,
    warming,
)
from gendsl.compiler.front.argument_types import check_access
from gendsl.compiler.front.arrays import library_call
from gendsl.compiler.front.binding import arguments, bound, check_spread
from gendsl.compiler.front.captures import activation_of, captured
from gendsl.compiler.front.frame import Frame, Join
from gendsl.compiler.front.numbers import test_of
from gendsl.compiler.front.objects import Building, Token, object_layout, plain, remembered, widened
from gendsl.compiler.front.operators import compared
from gendsl.compiler.front.sources import FunctionSource
from gendsl.compiler.hir.types import (
    Array,
    Closure,
    Dict,
    Iterator,
    Known,
    List,
    Method,
    Number,
    Object,
    Set,
    Text,
    Tuple,
    Type,
    Union,
    describe,
    goes_once,
    holds_closure,
    leaves,
    may_change,
)
from gendsl.compiler.hir.values import (
    NONE,
    NOTHING,
    UNSET,
    Value,
    is_never,
    items_of,
    known,
    make_tuple,
    object_of,
)
from gendsl.distributions.base import CHECK, is_built_in
from gendsl.distributions.discrete import Parameterised
from gendsl.distributions.parameters import family_called
from gendsl.supports import Interval, Support

MOST_INSTANCES = 12
DEEPEST_INLINE = 60
MOST_ACTIVATIONS = 4
"""How many functions that one definition makes may call one another, as a function decorated twice does."""


def call_node(frame: Frame, node: ast.Call) -> Value:
    """A call as it stands in the source."""
    if isinstance(node.func, ast.Attribute) and _is_super(node.func.value):
        return _call_super(frame, node)
    function = frame.language.expression(frame, node.func)
    special = builtin_calls.SYNTACTIC.get(object_of(function)) if _is_hashable_known(function) else None
    if special is not None:
        return special(frame, node)
    function = frame.atoms(function)
    found = object_of(function) if _is_hashable_known(function) else None
    if any(isinstance(part, ast.GeneratorExp) for part in node.args):
        of_container = isinstance(function.type, Method) and (
            isinstance(function.type.function, str) or _is_of_deques(function.type.function)
        )
        if not of_container and found not in builtin_calls.EAGER | builtin_calls.LAZY:
            raise frame.not_closed("a generator as an argument, which can be gone through once only", node)
    args, named = arguments(
        frame, node, lazy=found in builtin_calls.LAZY, shown=found in builtin_calls.OF_DISPLAYS
    )
    frame.here, frame.line = node, node.lineno
    return call(frame, function, args, named)


def _is_of_deques(function: Any) -> bool:
    """Whether a function is a method of deques, which go through their arguments in the call."""
    return bool(getattr(function, "__module__", "") == library_deque.Deque.__module__)


def _is_hashable_known(value: Value) -> bool:
    if not isinstance(value.type, Known):
        return False
    try:
        hash(object_of(value))
    except TypeError:
        return False
    return True


def call(frame: Frame, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """`function(*args, **named)`."""
    function = frame.opened(function)
    if is_never(function):
        return NOTHING
    if not isinstance(function.type, Union):
        check_spread(frame, function, args, named)
    match function.type:
        case Union():
            return frame.switch(function, lambda one: call(frame, one, args, named))
        case Known(value=found):
            return _call_known(frame, found, args, named)
        case Closure():
            return _call_closure(frame, function, args, named)
        case Method(owner, name) if isinstance(name, str):
            return _call_container_method(frame, Value(owner, function.leaves), name, args, named)
        case Method(Tuple(cls=cls), method) if isinstance(cls, type) and issubclass(cls, stats.FrozenFamily):
            owned = Value(function.type.owner, function.leaves)
            return stats.method_of_frozen(frame, owned, method.__name__, args, named)
        case Method(Tuple(cls=cls), method) if _is_replace(cls, method):
            owned = Value(function.type.owner, function.leaves)
            fields = dict(zip(cls._fields, items_of(owned), strict=True))
            if args or not set(named) <= set(fields):
                raise frame.not_closed("_replace of what is no field")
            return _named_tuple(frame, cls, [], {**fields, **named})
        case Method(owner, method):
            if _is_of_deques(method):
                args = [_gone_through(frame, one) for one in args]
            return call_function(frame, method, [Value(owner, function.leaves), *args], named)
    cls = getattr(function.type, "cls", None)
    if cls is functools.partial:
        inner, given, keywords = items_of(function)
        more = dict(zip(keywords.type.names, items_of(keywords), strict=True))  # type: ignore[attr-defined]
        return call(frame, inner, [*items_of(given), *args], {**more, **named})
    if isinstance(cls, type) and any("__call__" in base.__dict__ for base in cls.__mro__):
        return call_method(frame, function, "__call__", args, named)
    raise frame.not_closed(f"a call of {describe(function.type)}")


def _is_replace(cls: Any, method: Any) -> bool:
    """Whether a method is `_replace` as named tuples have it."""
    return hasattr(cls, "_fields") and (method.__name__, method.__module__) == ("_replace", "collections")


def _call_known(frame: Frame, found: Any, args: list[Value], named: dict[str, Value]) -> Value:
    if getattr(found, "_is_autograd_primitive", False):  # nothing here is in a box of autograd's
        found = found.fun
    handled = handles.statement(frame, found, args, named)
    if handled is None and not named:
        handled = components.call(frame, found, args) or lines.call(frame, found, args)
        handled = handled or ellipses.call(frame, found, args) or blocks.call(frame, found, args)
        handled = handled or warming.call(frame, found, args)
    if handled is None:
        handled = builtin_calls.call(frame, found, args, named) or stats.call(frame, found, args, named)
    if handled is not None:
        return handled
    if isinstance(found, type):
        return construct(frame, found, args, named)
    if isinstance(found, FunctionType):
        if found.__code__.co_flags & (
            inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        ):
            raise frame.not_closed(f"{found.__name__} is a generator function")
        return call_function(frame, found, args, named)
    if isinstance(found, MethodType):
        owner = outside.constant(frame, found.__self__)
        return _call_bound(frame, owner, found.__func__, args, named)
    if isinstance(found, functools.partial):
        given = [outside.constant(frame, arg) for arg in found.args]
        more = {name: outside.constant(frame, arg) for name, arg in found.keywords.items()}
        return call(frame, outside.constant(frame, found.func), [*given, *args], {**more, **named})
    wrapped = getattr(found, "__wrapped__", None)
    if isinstance(found, functools._lru_cache_wrapper):
        return remembered(frame, call(frame, known(wrapped), args, named))
    cls = type(found)
    if handles.is_transform(found):
        return _call_transform(frame, found, args, named)
    if isinstance(cls.__dict__.get("__call__"), FunctionType):
        return call_function(frame, cls.__dict__["__call__"], [known(found), *args], named)
    raise frame.not_closed(f"a call of {getattr(found, '__qualname__', repr(found))}")


def _call_transform(frame: Frame, found: Any, args: list[Value], named: dict[str, Value]) -> Value:
    """A transform that another one calls."""
    program, origin = frame.program, found.origin
    program.sources.setdefault(origin.function, FunctionSource(origin.node, origin.filename))
    owner = [outside.constant(frame, one) for one in found._bound]
    given = {name: outside.constant(frame, value, name) for name, value in found.parameters.items()}
    call_function(frame, origin.function, [*owner, *args], {**given, **named})
    return NONE


def _call_bound(
    frame: Frame, owner: Value, function: Any, args: list[Value], named: dict[str, Value]
) -> Value:
    if not isinstance(function, FunctionType):
        raise frame.not_closed(f"a call of {function!r}")
    return call_function(frame, function, [owner, *args], named)


def call_method(
    frame: Frame, value: Value, name: str, args: list[Value], named: dict[str, Value] | None = None
) -> Value:
    """`value.name(*args)` of an instance of a class of the user's."""
    return call(frame, frame.language.attribute(frame, value, name), args, named or {})


def _call_container_method(
    frame: Frame, owner: Value, name: str, args: list[Value], named: dict[str, Value]
) -> Value:
    match owner.type:
        case List():
            return list_methods.list_method(frame, owner, name, args, named)
        case Dict() if name in ("keys", "values", "items") and not args:
            return Value(Iterator(name, (owner.type,)), owner.leaves)
        case Set() if not named:
            return sets.method(frame, owner, name, args)
        case Dict() if not named:
            return tables.method(frame, owner, name, args)
        case Array():
            return array_calls.method(frame, owner, name, args, named)
        case Known(value=str()) | Text() if not named:
            return texts.text_method(frame, owner, name, args)
        case Tuple() if name in ("count", "index") and not named:
            raise frame.not_closed(f"the method {name} of a tuple")
        case Number(kind="i", mixed=False) if name == "bit_count" and not args and not named:
            return library_call(frame, library_numbers.bit_count, [owner])
        case Number() if name == "item" and not args:
            return Value(Number(owner.type.kind), owner.leaves)
        case Known(value=draws.RandomGenerator()):
            return draws.call(frame, name, args, named)
        case Tuple(cls=stats.FrozenMultivariate) if not named:
            return stats.multivariate_method(frame, owner, name, args)
        case Tuple() if name == "sample" and [one.type for one in args] == [Known(draws.GENERATOR)]:
            return draws.drawn(frame, owner)
        case Tuple() if name == "logpdf" and len(args) == 1 and not named:
            return scores.scored(frame, owner, args[0])
    raise frame.not_closed(f"the method {name} of {describe(owner.type)}")


# --- functions -------------------------------------------------------------------------------------


def call_function(frame: Frame, function: FunctionType, args: list[Value], named: dict[str, Value]) -> Value:
    """A call of a plain Python function."""
    program = frame.program
    source = outside.source_of(frame, function)
    given = bound(frame, source.node, outside.defaults_of(frame, function), args, named, function.__name__)
    if given is None:
        frame.fail(f"{function.__name__} is called with arguments that it does not take")
        return NOTHING
    for value in given.values():
        if goes_once(value.type):
            raise frame.not_closed("an iterator as an argument, which can be gone through once only")
    inline = any(isinstance(v.type, Building) or holds_closure(v.type) for v in given.values())
    if inline or program.returns_closure(function):
        return inlined(frame, source.node, function, given, source.filename, None)
    return instance_call(frame, function, source, given)


def inline_function(frame: Frame, function: FunctionType, args: list[Value]) -> Value:
    """The body of a plain function of gendsl's as a function of the text.

    It may be in the midst of being lowered for other arguments, as for arrays of arrays.
    """
    program = frame.program
    source = outside.source_of(frame, function)
    given = bound(frame, source.node, outside.defaults_of(frame, function), args, {}, function.__name__)
    assert given is not None
    stack, program.stack = program.stack, [one for one in program.stack if one is not function]
    try:
        return inlined(frame, source.node, function, given, source.filename, None)
    finally:
        program.stack = stack


def instance_call(frame: Frame, function: Any, source: Any, given: dict[str, Value]) -> Value:
    """A call of the function of the text that stands for a Python function and these types of arguments."""
    program, facts = frame.program, frame.program.facts
    recursive = function in program.stack
    types: dict[str, Type] = {}
    for name, value in given.items():
        kind = facts.canonical(value.type)
        if str(function.__module__).startswith("gendsl.") and not _is_of_deques(function):
            kind = plain(kind)
        if (
            recursive
            or isinstance(getattr(kind, "value", None), float)
            or program.instances(function) > MOST_INSTANCES
        ):
            kind = widened(kind)
        if recursive:
            kind = facts.grow((function, frame.prefix, "parameter", name), kind)
        types[name] = kind
    key = (function, tuple(types.items()))
    made = program.functions.get(key)
    if made is None:
        made = functions.lower_function(frame, key, function, source, types)
    given_leaves = [leaf for name, value in given.items() for leaf in facts.convert(value, types[name])]
    result_type = program.result_type((key, "result"), source.node)
    targets = [frame.fresh("value", kind) for kind in leaves(result_type)]
    frame.emit(hir.Call(list(targets), made, given_leaves))
    if is_never(Value(result_type)) and not recursive and not program.stack_has(key):
        return NOTHING
    return Value(result_type, tuple(targets))


def inlined(
    frame: Frame,
    node: Any,
    function: FunctionType | None,
    given: dict[str, Value],
    filename: str,
    outer: Frame | None,
) -> Value:
    """The body of a function in place of a call of it."""
    program = frame.program
    called = function if outer is None else (node, outer)
    again = sum(isinstance(one, tuple) and one[0] is node for one in program.stack)
    if called in program.stack or again >= MOST_ACTIVATIONS:
        raise frame.not_closed("a function in place of its calls that calls itself")
    if len(program.stack) > DEEPEST_INLINE:
        raise frame.not_closed("calls that are nested too deeply")
    activation = (frame.activation, id(frame.here), frame.unrolled, id(node))
    inner = Frame(program, frame.text, frame.out, node, function, filename, activation, outer)
    inner.prefix, inner.prefix_indices = frame.prefix, frame.prefix_indices
    inner.unrolled = ()
    program.stack.append(called)
    for name, value in given.items():
        inner.env[name] = value
    result = run_inline(frame, inner, node)
    program.stack.pop()
    return result


def run_inline(frame: Frame, inner: Frame, node: Any) -> Value:
    """Run the body of an activation whose statements go into those of its caller."""
    inner.live = frame.live
    inner.again = frame.again or bool(frame.loops)
    if inner.filename != frame.filename:
        inner.call_line = frame.shown_line
    if isinstance(node, ast.Lambda):
        result = frame.language.expression(inner, node.body)
        frame.live = inner.live
        return result
    block, exits = hir.Block([], frame.program.new_label()), Join()
    inner.line = frame.line
    inner.emit(block)
    inner.out = block.body

    def returned(value: Value) -> None:
        exits.add(inner, value)
        inner.emit(hir.Leave(block.label))

    inner.returned = returned
    cells.start(inner)
    frame.language.block(inner, node.body)
    exits.add(inner, NONE)
    inner.out = frame.out
    result = exits.resolve(inner)
    frame.live = inner.live
    return result


def _with_defaults(node: Any) -> dict[str, ast.expr]:
    """The parameters of a definition that have defaults."""
    arguments = node.args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    start = len(positional) - len(arguments.defaults)
    found = dict(zip(positional[start:], arguments.defaults, strict=True))
    for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            found[a.arg] = default
    return found


def closure(frame: Frame, node: ast.FunctionDef | ast.Lambda) -> Value:
    """A nested function, with the defaults that its parameters have where it is made."""
    given = {
        name: frame.atoms(frame.language.expression(frame, default))
        for name, default in _with_defaults(node).items()
    }
    if any(goes_once(value.type) or holds_closure(value.type) for value in given.values()):
        raise frame.not_closed("a default of a nested function that is an iterator or a function", node)
    kept = captured(frame, node)
    every = [*given.values(), *(kept or {}).values()]
    kinds = tuple((name, value.type) for name, value in given.items())
    more = None if kept is None else tuple((name, value.type) for name, value in kept.items())
    leaves_ = tuple(leaf for value in every for leaf in value.leaves)
    return Value(Closure(node, frame, kinds, captured=more), leaves_)


def _changes(body: hir.Body) -> bool:
    """Whether statements change anything but the lists that they make."""
    every = [*hir.walk(body)]
    made = {one.target for one in every if isinstance(one, (hir.New, hir.Fill))}
    for one in every:
        match one:
            case hir.Store(list=changed) | hir.Append(list=changed) | hir.Truncate(list=changed):
                if changed not in made:
                    return True
            case hir.Call(function=function):
                if _changes(function.body):
                    return True
            case hir.Choice() | hir.Visit():
                return True
    return False


def _call_closure(frame: Frame, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
    closure = function.type
    assert isinstance(closure, Closure)
    outer: Frame = closure.frame
    name = getattr(closure.node, "name", "lambda")
    kinds = Tuple(tuple(kind for _, kind in closure.parts))
    values = items_of(Value(kinds, function.leaves))
    count = len(closure.defaults)
    defaults = dict(zip((name for name, _ in closure.defaults), values[:count], strict=True))
    if closure.captured is not None:
        kept = dict(zip((name for name, _ in closure.captured), values[count:], strict=True))
        outer = activation_of(frame, outer, kept)
    given = bound(frame, closure.node, defaults, args, named, name)
    if given is None:
        frame.fail("a nested function is called with arguments that it does not take")
        return NOTHING
    mark = len(frame.out)
    result = inlined(frame, closure.node, outer.function, given, outer.filename, outer)
    if not closure.remembers:
        return result
    if may_change(closure):
        raise frame.not_closed("a function that remembers its results, and uses what may change")
    if _changes(frame.out[mark:]):
        raise frame.not_closed("a function that remembers its results, and changes something")
    return remembered(frame, result)


# --- classes ---------------------------------------------------------------------------------------


def construct(frame: Frame, cls: type, args: list[Value], named: dict[str, Value]) -> Value:
    """An instance of a class."""
    if issubclass(cls, BaseException):
        return NONE
    if cls is collections.deque:
        cls, args = library_deque.Deque, [_gone_through(frame, one) for one in args]
    if issubclass(cls, Parameterised) and named:
        cls = family_called(cls, len(args), tuple(named))
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
        return _named_tuple(frame, cls, args, named)
    if cls.__flags__ & (1 << 9) == 0 or type(cls) is not type:  # made by C, or by a metaclass
        raise frame.not_closed(f"an instance of {cls.__name__}")
    if cls.__new__ is not object.__new__ and not issubclass(cls, Parameterised):
        raise frame.not_closed(f"an instance of {cls.__name__}, which has a __new__ of its own")
    check_access(cls)
    init = cls.__init__
    if dataclasses.is_dataclass(cls) and "__init__" in cls.__dict__ and _is_generated(init):
        return _dataclass(frame, cls, args, named)
    if init is object.__init__:
        return finished(frame, cls, {})
    if not isinstance(init, FunctionType):
        raise frame.not_closed(f"an instance of {cls.__name__}")
    return built(frame, cls, init, args, named)


def _gone_through(frame: Frame, value: Value) -> Value:
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


def _named_tuple(frame: Frame, cls: Any, args: list[Value], named: dict[str, Value]) -> Value:
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
            found[f.name] = call(frame, known(f.default_factory), [], {})
        elif f.init:
            frame.fail("a missing argument of a dataclass")
            return NOTHING
    ordered = {f.name: found[f.name] for f in dataclasses.fields(cls) if f.name in found}
    post = getattr(cls, "__post_init__", None)
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


def _is_super(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and not node.args
    )


def _is_text_of(member: Any, function: FunctionType) -> bool:
    """Whether what a class has is a function, or what gendsl has put around that."""
    return member is function or (hasattr(member, CHECK) and member.__wrapped__ is function)


def _call_super(frame: Frame, node: ast.Call) -> Value:
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
