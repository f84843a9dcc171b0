"""Functions of the text: one for a Python function, or a `@gen` program, and types of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import cells, generator_functions
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.linear import linear
from gendsl.compiler.front.names import Text
from gendsl.compiler.front.sources import FunctionSource, origin_of
from gendsl.compiler.hir.types import Type, depth, index_count, leaves
from gendsl.compiler.hir.values import NONE, Value

DEEPEST_TYPE = 8


def body(frame: Frame, node: Any, place: Hashable) -> Type:
    """Lower the body of a function of the text; the type of its result."""
    facts = frame.program.facts

    def returned(value: Value) -> None:
        if frame.yielded is not None:
            if value.type != NONE.type:
                raise frame.not_closed("a generator function that returns a value")
            value = frame.yielded
        if ("boxes", node) in facts.flags:
            value = frame.boxed(value, facts.site(("box", node)))
        kind = facts.grow((place, ("boxes", node) in facts.flags), value.type)
        if depth(kind) > DEEPEST_TYPE:
            facts.flag(("boxes", node))
        frame.emit(hir.Return(list(facts.convert(value, kind))))
        frame.live = False

    frame.returned = returned
    if isinstance(node, ast.Lambda):
        returned(frame.language.expression(frame, node.body))
    else:
        cells.start(frame)
        generator_functions.start(frame, node)
        frame.language.block(frame, node.body)
        if frame.live:
            returned(NONE)
    return frame.program.result_type(place, node)


def lower_function(
    frame: Frame, key: Hashable, function: Any, source: FunctionSource, types: dict[str, Type]
) -> hir.Function:
    """The function of the text for a Python function and types of arguments."""
    program = frame.program
    name = getattr(function, "__name__", "program")
    made = hir.Function(program.function_name(name), origin=origin_of(function))
    program.functions[key] = made
    program.count[function] = program.count.get(function, 0) + 1
    inner = Frame(program, Text(made), made.body, source.node, function, source.filename, key)
    for parameter, kind in types.items():
        variables = [inner.fresh(parameter, leaf) for leaf in leaves(kind)]
        made.parameters += variables
        inner.env[parameter] = Value(kind, tuple(variables))
    _finish(made, inner, source.node, key, function)
    made.linear = linear(function, types, made.results)
    return made


def _finish(made: hir.Function, inner: Frame, node: Any, key: Hashable, function: Any) -> None:
    program = inner.program
    program.stack.append(function)
    program.keys.append(key)
    result = body(inner, node, (key, "result"))
    program.stack.pop()
    program.keys.pop()
    made.results = list(leaves(result))


def lower_program(
    frame: Frame, key: Hashable, program: Any, types: dict[str, Type], prefix: tuple[Any, ...]
) -> hir.Function:
    """The function of the text for a `@gen` program that another calls below an address prefix."""
    lowering, origin = frame.program, program.compiled.origin
    made = hir.Function(lowering.function_name(origin.function.__name__), origin=origin_of(origin.function))
    lowering.functions[key] = made
    inner = Frame(lowering, Text(made), made.body, origin.node, origin.function, origin.filename, key)
    inner.prefix = prefix
    indices = [inner.fresh("at", "i") for part in prefix for _ in range(index_count(part))]
    made.parameters += indices
    inner.prefix_indices = tuple(indices)
    for parameter, kind in types.items():
        variables = [inner.fresh(parameter, leaf) for leaf in leaves(kind)]
        made.parameters += variables
        inner.env[parameter] = Value(kind, tuple(variables))
    _finish(made, inner, origin.node, key, origin.function)
    return made
