"""Calls of the user's functions: one of the functions of the text, or with their bodies in place."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import cells, functions, generator_functions, library_deque, outside
from gendsl.compiler.front.binding import bound
from gendsl.compiler.front.captures import activation_of, captured
from gendsl.compiler.front.frame import Frame, Join
from gendsl.compiler.front.objects import Building, plain, remembered, widened
from gendsl.compiler.hir.types import Closure, Tuple, Type, goes_once, holds_closure, leaves, may_change
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never, items_of
from gendsl.lang import trees

MOST_INSTANCES = 12
DEEPEST_INLINE = 60
MOST_ACTIVATIONS = 4
"""How many functions that one definition makes may call one another, as a function decorated twice does."""


def is_of_deques(function: Any) -> bool:
    """Whether a function is a method of deques, which go through their arguments in the call."""
    return bool(getattr(function, "__module__", "") == library_deque.Deque.__module__)


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
    inline = inline or (bool(frame.handlers) and _may_be_handled(frame, function, source.node))
    if inline or program.returns_closure(function):
        return inlined(frame, source.node, function, given, source.filename, None)
    made = instance_call(frame, function, source, given)
    if generator_functions.is_generator(source.node):
        return generator_functions.iterator(frame, function, given.values(), made)
    return made


def _may_be_handled(frame: Frame, function: FunctionType, node: Any) -> bool:
    """Whether an error that a function raises may be handled by who calls it: it is put in place of the call.

    Functions of gendsl's are texts of others: they raise what these do only where they say so.
    """
    if function in frame.program.stack or generator_functions.is_generator(node):
        return False
    own = not str(function.__module__).startswith("gendsl.")
    return own or any(isinstance(part, ast.Raise) for part in trees.walk(node))


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
        if str(function.__module__).startswith("gendsl.") and not is_of_deques(function):
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
        raise frame.not_closed("a function within another that calls itself: define it outside of it")
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
    inner.live, inner.handlers = frame.live, frame.handlers
    inner.again = frame.again or bool(frame.loops)
    if inner.filename != frame.filename and frame.shown_line:
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


def call_closure(frame: Frame, function: Value, args: list[Value], named: dict[str, Value]) -> Value:
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
