"""Statements, with a function for each of Python's."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from gendsl.compiler import hir
from gendsl.compiler.front import (
    array_places,
    arrays,
    calls,
    choices,
    container_operators,
    function_calls,
    instances,
    lists,
    objects,
    outside,
    sets,
    subscripts,
    tables,
)
from gendsl.compiler.front.comprehensions import iterable, list_comprehension
from gendsl.compiler.front.expressions import attribute, condition, expression
from gendsl.compiler.front.frame import Frame, Handler, Join
from gendsl.compiler.front.loop_variables import handed_on
from gendsl.compiler.front.loops import break_out, loop_over
from gendsl.compiler.front.matching import match_statement
from gendsl.compiler.front.narrowing import apply_narrowings, narrowings
from gendsl.compiler.front.numbers import BINARY, is_plain_tuple, negation, test_of
from gendsl.compiler.front.operators import binary
from gendsl.compiler.front.unpacking import unpacked
from gendsl.compiler.hir import Const
from gendsl.compiler.hir.failures import NotClosed
from gendsl.compiler.hir.types import Array, Dict, List, Set, Union, may_be_array
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_known, items_of, known, object_of
from gendsl.lang import trees
from gendsl.lang.sites import is_choice


def statements(frame: Frame, nodes: list[ast.stmt]) -> None:
    """Lower statements until control can't reach the next one."""
    for node in nodes:
        if not frame.live:
            return
        frame.line, frame.here = node.lineno, node
        handler = _STATEMENTS.get(type(node))
        if handler is None:
            raise frame.not_closed(f"the statement {type(node).__name__}", node)
        try:
            handler(frame, node)
        except NotClosed as refusal:
            if not refusal.line:  # of what has no place of its own, such as a type
                refusal.line, refusal.filename = node.lineno, frame.filename
            raise


def _nothing(frame: Frame, node: ast.stmt) -> None:
    """`pass`, and what has an effect elsewhere."""


def _expression(frame: Frame, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        expression(frame, node.value)


# --- assignments -----------------------------------------------------------------------------------


def _assign(frame: Frame, node: ast.Assign) -> None:
    if len(node.targets) == 1 and is_choice(node.value):
        assert isinstance(node.value, ast.UnaryOp)
        choices.assign_choice(frame, node.targets[0], node.value)
        return
    if isinstance(node.value, ast.GeneratorExp) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
        value = list_comprehension(frame, node.value)  # which is gone through at once
    else:
        value = frame.atoms(expression(frame, node.value), _hint(node.targets[0]))
    for target in node.targets:
        assign(frame, target, value)


def _annotated(frame: Frame, node: ast.AnnAssign) -> None:
    if node.value is None:
        return
    if is_choice(node.value):
        assert isinstance(node.value, ast.UnaryOp)
        choices.assign_choice(frame, node.target, node.value)
        return
    assign(frame, node.target, expression(frame, node.value))


def _hint(target: ast.expr) -> str:
    return target.id if isinstance(target, ast.Name) else "t"


def assign(frame: Frame, target: ast.expr, value: Value) -> None:
    """`target = value`."""
    match target:
        case ast.Name(id=name):
            frame.bind(name, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            stars = [i for i, part in enumerate(parts) if isinstance(part, ast.Starred)]
            items = unpacked(frame, value, len(parts), stars[0] if stars else None)
            items = [frame.atoms(item) for item in items]
            for part, item in zip(parts, items, strict=True):
                assign(frame, part.value if isinstance(part, ast.Starred) else part, item)
        case ast.Subscript(value=owner, slice=index):
            subscripts.assign_item(frame, expression(frame, owner), index, frame.atoms(value))
        case ast.Attribute(value=owner, attr=name):
            objects.assign_attribute(frame, expression(frame, owner), frame.private(name), value)
        case _:
            raise frame.not_closed(f"an assignment to {type(target).__name__}", target)


def _augmented(frame: Frame, node: ast.AugAssign) -> None:
    """`target op= value`, in place for lists and arrays; the target's parts are evaluated once."""

    def changed(old: Value) -> Value:
        old = frame.atoms(frame.opened(old))
        if isinstance(old.type, Union):
            return frame.switch(old, changed)
        if may_be_array(old.type):
            raise frame.not_closed("an operation in place on an array without axes", node)
        new = expression(frame, node.value)
        if isinstance(old.type, List) and lists.sequence_of(frame, old) is list:
            if isinstance(node.op, ast.Add):
                lists.extend(frame, node, old, new)
                return old
            if isinstance(node.op, ast.Mult):
                container_operators.repeat(frame, node, old, new)
                return old
            frame.fail("an operation in place that lists do not have")
            return NOTHING
        if isinstance(old.type, Array):
            arrays.in_place(frame, old, node.op, new)
            return old
        if isinstance(old.type, Set):
            sets.in_place(frame, node, BINARY[type(node.op)][0], old, new)
            return old
        if isinstance(old.type, Dict):
            if not isinstance(node.op, ast.BitOr) or not isinstance(new.type, Dict):
                raise frame.not_closed("an operation in place on a dict", node)
            tables.check_united(frame, old, new)
            tables.update(frame, node, old, new)
            return old
        frame.here = node
        found = instances.in_place(frame, BINARY[type(node.op)][0], old, new)
        return binary(frame, node.op, old, new) if found is None else found

    match node.target:
        case ast.Name(id=name):
            frame.bind(name, changed(expression(frame, ast.copy_location(ast.Name(name, ast.Load()), node))))
        case ast.Attribute(value=owner, attr=name):
            value, name = frame.atoms(expression(frame, owner)), frame.private(name)
            objects.assign_attribute(frame, value, name, changed(attribute(frame, value, name)))
        case ast.Subscript(value=owner, slice=index):
            value = frame.atoms(expression(frame, owner))
            if isinstance(value.type, Array):

                def put(place: array_places.Place) -> None:
                    new = changed(array_places.at_place(frame, value, place))
                    array_places.put_at(frame, value, place, new)

                array_places.each_place(frame, value, index, put)
                return
            if isinstance(index, ast.Slice):
                raise frame.not_closed("an operation in place on a slice of a list", node)
            at = frame.atoms(expression(frame, index))
            subscripts.put(frame, value, at, changed(subscripts.item_at(frame, value, at)))
        case _:
            raise frame.not_closed("an operation in place", node)


def _delete(frame: Frame, node: ast.Delete) -> None:
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                frame.env.pop(name, None)
            case ast.Subscript(value=owner, slice=index):
                subscripts.delete_item(frame, expression(frame, owner), index)
            case _:
                raise frame.not_closed("`del` of an attribute", target)


# --- branches --------------------------------------------------------------------------------------


def _if(frame: Frame, node: ast.If) -> None:
    test = condition(frame, node.test)
    positive, negative = narrowings(frame, node.test, True), narrowings(frame, node.test, False)

    def side(body: list[ast.stmt], narrowing: dict[Any, Value]) -> Callable[[], None]:
        def lower() -> None:
            point = frame.point()
            try:
                apply_narrowings(frame, narrowing)
                statements(frame, body)
            except NotClosed as refusal:  # what comes behind it may tell more of the types in it
                frame.program.refused.append(refusal)
                frame.back(point)
                frame.fail(refusal.reason)

        return lower

    frame.branch(test, side(node.body, positive), side(node.orelse, negative))


def _assert(frame: Frame, node: ast.Assert) -> None:
    test = condition(frame, node.test)
    if isinstance(test, Const) and test.value:
        return
    told = str(node.msg.value) if isinstance(node.msg, ast.Constant) else ast.unparse(node.test)
    if isinstance(test, Const):
        frame.fail(f"an assertion: {told}", AssertionError)
        return
    frame.fail_if(negation(test), f"an assertion: {told}", AssertionError)
    apply_narrowings(frame, narrowings(frame, node.test, True))


def _raise(frame: Frame, node: ast.Raise) -> None:
    frame.fail("it raises an error", _raised(frame, node.exc) if frame.handlers else None)


def _raised(frame: Frame, node: ast.expr | None) -> type[BaseException] | None:
    """The class of an error that is made of constants and variables; None if that is not known."""
    if isinstance(node, ast.Call):
        plain = (ast.Constant, ast.Name, ast.Attribute, ast.JoinedStr, ast.FormattedValue)
        if not all(isinstance(part, plain) for arg in node.args for part in trees.walk(arg)) or node.keywords:
            return None
        node = node.func
    errors = () if node is None else _classes(frame, node)
    return errors[0] if len(errors) == 1 and not isinstance(errors[0].__init__, FunctionType) else None


def _classes(frame: Frame, node: ast.expr) -> tuple[type[BaseException], ...]:
    """The classes of errors that a handler names; none where that is not known."""
    named = expression(frame, node)
    every = items_of(named) if is_plain_tuple(named.type) else [named]
    found: list[Any] = [object_of(one) if is_known(one) else None for one in every]
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in found):
        return ()
    return tuple(found)


def _handler(frame: Frame, node: ast.ExceptHandler, block: hir.Block) -> Handler:
    """A handler; the interpreter decides where it is not known of which errors, or where it looks at them."""
    errors = (BaseException,) if node.type is None else _classes(frame, node.type)
    looks = node.name is not None and any(
        isinstance(part, ast.Name) and part.id == node.name for one in node.body for part in trees.walk(one)
    )
    is_known_here = bool(errors) and not looks
    return Handler(errors or (BaseException,), frame, block.label if is_known_here else None, Join())


def _handled(frame: Frame, node: ast.Try) -> None:
    """Statements, and those of the handler that goes on where one of them raises an error.

    Where an error is raised inside a function of the text, or one that is not known, the text fails.
    """
    handlers = node.handlers
    after, whole = Join(), hir.Block([], frame.program.new_label())
    blocks = [hir.Block([], frame.program.new_label()) for _ in handlers]
    own = [_handler(frame, one, block) for one, block in zip(handlers, blocks, strict=True)]
    out, bodies = frame.out, list[hir.Body]()
    for block in (whole, *reversed(blocks)):
        frame.emit(block)
        bodies.append(frame.out)
        frame.out = block.body
    with frame.handling([*own, *frame.handlers]):
        statements(frame, node.body)
    statements(frame, node.orelse)
    _leave(frame, after, whole)
    for handler, one in zip(own, handlers, strict=True):
        frame.out = bodies.pop()
        handler.join.resolve(frame)
        point, refused = frame.point(), len(frame.program.refused)
        try:
            statements(frame, one.body)
        except NotClosed as refusal:
            frame.back(point)
            frame.fail(refusal.reason)
        del frame.program.refused[refused:]  # that the interpreter decides there is nothing new
        _leave(frame, after, whole)
    frame.out = out
    after.resolve(frame)


def _leave(frame: Frame, after: Join, block: hir.Block) -> None:
    after.add(frame)
    frame.emit(hir.Leave(block.label))
    frame.live = False


def _try(frame: Frame, node: ast.Try) -> None:
    """`try`: where an error is raised that is not known here, the text fails and the reference decides."""
    jumps = (ast.Return, ast.Break, ast.Continue)
    before = *node.body, *node.handlers, *node.orelse
    if node.finalbody and any(isinstance(part, jumps) for one in before for part in trees.walk(one)):
        raise frame.not_closed("`finally` behind a jump", node)
    with frame.handling([] if node.finalbody else frame.handlers):  # it runs before others handle them
        if node.handlers:
            _handled(frame, node)
        else:
            statements(frame, node.body)
    statements(frame, node.finalbody)


def _with(frame: Frame, node: ast.With) -> None:
    """`with` of what changes no value: the treatment of floating-point errors, and of those of Python."""
    for item in node.items:
        call = item.context_expr
        manager = expression(frame, call.func) if isinstance(call, ast.Call) else NONE
        assert isinstance(call, ast.Call) or manager is NONE
        found = object_of(manager) if is_known(manager) else None
        if found is np.errstate and item.optional_vars is None and isinstance(call, ast.Call):
            how = [expression(frame, keyword.value) for keyword in call.keywords]
            if all(is_known(one) and object_of(one) in ("ignore", "warn") for one in how):
                continue
        elif found is contextlib.suppress and item.optional_vars is None:
            continue
        raise frame.not_closed("`with` of a context that may change something", node)
    statements(frame, node.body)


# --- loops -----------------------------------------------------------------------------------------


def _otherwise(frame: Frame, node: ast.For | ast.While) -> None:
    """A loop with an `else`: what runs unless a `break` leaves it."""
    plain, name = frame.program.without_else(node)
    frame.locals.add(name)
    frame.bind(name, known(False))
    (_for if isinstance(plain, ast.For) else _while)(frame, plain)  # type: ignore[arg-type]
    if frame.live:
        left = frame.look_up(name)
        assert left is not None
        frame.branch(negation(test_of(left)), lambda: statements(frame, node.orelse), lambda: None)


def _for(frame: Frame, node: ast.For) -> None:
    if node.orelse:
        _otherwise(frame, node)
        return
    value = iterable(frame, node.iter)
    carried, forgotten = handed_on(frame, node)

    def lower(item: Value) -> None:
        assign(frame, node.target, item)
        statements(frame, node.body)

    target = node.target.id if isinstance(node.target, ast.Name) else "i"
    counts = (
        isinstance(node.iter, ast.Call)
        and isinstance(node.iter.func, ast.Name)
        and node.iter.func.id == "range"
    )
    hint = target if counts else "i"
    loop_over(frame, node, value, carried, lower, forgotten=forgotten, target=hint)


def _while(frame: Frame, node: ast.While) -> None:
    if node.orelse:
        _otherwise(frame, node)
        return
    carried, forgotten = handed_on(frame, node)
    endless = False
    leaves_by_break = any(isinstance(part, ast.Break) for part in _own_breaks(node.body))

    def make(body: hir.Body, label: int) -> hir.Statement:
        return hir.Loop(body, label)

    def lower() -> None:
        nonlocal endless
        test = condition(frame, node.test)
        endless = isinstance(test, Const) and bool(test.value)
        leave: hir.Body = []
        if not endless:
            if isinstance(test, Const):
                frame.carry()
                frame.emit(hir.Leave(frame.loops[-1].label))
                frame.live = False
                return
            frame.emit(hir.If(negation(test), leave, []))
            with frame.into(leave):
                frame.carry()
                frame.emit(hir.Leave(frame.loops[-1].label))
        apply_narrowings(frame, narrowings(frame, node.test, True))
        statements(frame, node.body)

    frame.loop(node, make, carried, lower, forgotten=forgotten)
    if endless and not leaves_by_break:
        frame.live = False


def _own_breaks(nodes: list[ast.stmt]) -> list[ast.AST]:
    found: list[ast.AST] = []

    def visit(part: ast.AST) -> None:
        if isinstance(part, ast.Break):
            found.append(part)
        if isinstance(part, (ast.For, ast.While, ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            return
        for child in trees.children(part):
            visit(child)

    for node in nodes:
        visit(node)
    return found


def _continue(frame: Frame, node: ast.Continue) -> None:
    loop = frame.loops[-1]
    if loop.unrolled is not None:
        loop.unrolled.add(frame)
        frame.emit(hir.Leave(loop.label))
    else:
        frame.carry()
        frame.emit(hir.Next(loop.label))
    frame.live = False


# --- functions -------------------------------------------------------------------------------------


def _return(frame: Frame, node: ast.Return) -> None:
    value = NONE if node.value is None else expression(frame, node.value)
    assert frame.returned is not None
    if frame.live:
        frame.returned(value)
    frame.live = False


def _function(frame: Frame, node: ast.FunctionDef) -> None:
    decorators = [frame.atoms(expression(frame, one)) for one in node.decorator_list]
    value = function_calls.closure(frame, node)
    for decorator in reversed(decorators):
        value = calls.call(frame, decorator, [value], {})
    frame.bind(node.name, value)


def _import(frame: Frame, node: ast.Import | ast.ImportFrom) -> None:
    import importlib

    if isinstance(node, ast.ImportFrom):
        if node.level or node.module is None:
            raise frame.not_closed("a relative import", node)
        module = importlib.import_module(node.module)
        for alias in node.names:
            found = outside.attribute_of_constant(frame, module, alias.name)
            frame.bind(alias.asname or alias.name, found)
        return
    for alias in node.names:
        module = importlib.import_module(alias.name)
        if alias.asname is None:
            module = importlib.import_module(alias.name.partition(".")[0])
        frame.bind(alias.asname or alias.name.partition(".")[0], known(module))


_STATEMENTS: dict[type[ast.AST], Callable[[Frame, Any], None]] = {
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.If: _if,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Match: match_statement,
    ast.Try: _try,
    ast.With: _with,
    ast.For: _for,
    ast.While: _while,
    ast.Break: break_out,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.FunctionDef: _function,
    ast.Import: _import,
    ast.ImportFrom: _import,
}
