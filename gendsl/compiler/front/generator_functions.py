"""Generator functions: a call is a list of all that the function yields, gone through where it is made.

Python runs such a function step by step, between the iterations of what goes through it. Nobody can tell
the difference where it changes nothing but what it makes itself, what it yields stays as it is, and nobody
changes meanwhile what it reads. Where it fails after something else has ended the loop, or failed, the text
fails, and the interpreter decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import comprehensions, lists
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Body, Const, Input, Op, Statement
from gendsl.compiler.hir import types as kinds
from gendsl.compiler.hir.facts import Facts
from gendsl.compiler.hir.types import Box, List, Tuple, Type, Union, describe, leaves, may_change
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never

MOST_YIELDED = 2**20
"""How many items a generator function may yield: one with a `while` may go on for ever."""
_PURE = (
    hir.Set, hir.New, hir.Fill, hir.Length, hir.Load, hir.Store, hir.Append, hir.Truncate, hir.If, hir.For,
    hir.Loop, hir.Block, hir.Leave, hir.Next, hir.Call, hir.Return, hir.Fail,
)  # fmt: skip
_CHANGES = (hir.Store, hir.Append, hir.Truncate)


def is_generator(node: Any) -> bool:
    """Whether a definition is that of a generator function."""
    return isinstance(node, ast.FunctionDef) and any(map(_yields, node.body))


def _yields(part: ast.AST) -> bool:
    if isinstance(part, (ast.Yield, ast.YieldFrom)):
        return True
    if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    return any(map(_yields, ast.iter_child_nodes(part)))


def start(frame: Frame, node: Any) -> None:
    """Begin the body of a function of the text: what it yields is put into a list."""
    if not is_generator(node):
        return
    for part in ast.walk(node):
        if isinstance(part, ast.While) and isinstance(part.test, ast.Constant) and not _ends(part):
            raise frame.not_closed("a generator function that never ends", part)
    frame.yielded = lists.list_of(frame, node, [], "yielded")


def _ends(loop: ast.While) -> bool:
    """Whether a statement in a loop may end it."""
    return any(isinstance(part, (ast.Break, ast.Return)) for part in ast.walk(loop))


def yielded(frame: Frame, node: ast.Yield) -> Value:
    """`yield value`, which a loop goes on from with None."""
    made = _list(frame, node)
    value = NONE if node.value is None else frame.atoms(frame.language.expression(frame, node.value))
    if not frame.live:
        return NOTHING
    if any(isinstance(part, ast.While) for part in ast.walk(frame.node)):
        most = Const(MOST_YIELDED, "i")
        frame.fail_if(Op("ge", (frame.language.length(frame, made), most), "b"), "a generator without an end")
    lists.append(frame, made, value)
    return NONE


def yielded_from(frame: Frame, node: ast.YieldFrom) -> Value:
    """`yield from values`."""
    made = _list(frame, node)
    lists.extend(frame, node, made, comprehensions.iterable(frame, node.value))
    return NONE


def _list(frame: Frame, node: ast.expr) -> Value:
    if frame.yielded is None:
        raise frame.not_closed("a generator function inside another function, or given a function", node)
    return frame.yielded


def iterator(frame: Frame, function: FunctionType, given: Iterable[Value], made: Value) -> Value:
    """What a call of a generator function gives, as the list of what it yields."""
    if is_never(made):
        return NOTHING
    program = frame.program
    assert isinstance(made.type, List)
    item = program.facts.item(made.type.site)
    if _changes(program.facts, item):
        raise frame.not_closed(f"{function.__name__} yields what may change, a {describe(item)}")
    call = frame.out[-1]
    assert isinstance(call, hir.Call)
    if function in program.stack:  # the first call of a recursion looks at all of them
        return Value(kinds.Iterator("iter", (made.type,)), made.leaves)
    every = list(_statements(call.function.body))
    if not all(isinstance(one, _PURE) for one in every) or _changed(every):
        raise frame.not_closed(f"the generator function {function.__name__} changes what it has not made")
    if not all(_is_given(program.facts, one) for one in given):
        program.yielding[made.type.site] = function.__name__, _read(every)
    return Value(kinds.Iterator("iter", (made.type,)), made.leaves)


def check(frame: Frame, node: ast.AST, type: Type, statements: Body) -> None:
    """Refuse a loop that changes what a generator function reads that it goes through.

    Args:
        statements: those of the loop.
    """
    found = list(_generators(frame, type))
    if not found:
        return
    changed = {one.layout for one in _changed(list(_statements(statements)))}
    for name, read in found:
        if changed & read:
            what = f"a loop over what {name} yields that may change what {name} reads"
            raise frame.not_closed(what, node)


def _generators(frame: Frame, type: Type) -> Iterator[tuple[str, set[tuple[hir.Kind, ...]]]]:
    """The generator functions that something to loop over comes of, with what they read."""
    match type:
        case kinds.Iterator(parts=parts):
            for part in parts:
                yield from _generators(frame, part)
        case kinds.Generator(source=source):
            yield from _generators(frame, source)
        case List(site) if frame.program.facts.find(site) in frame.program.yielding:
            yield frame.program.yielding[frame.program.facts.find(site)]


def _statements(body: Body) -> Iterator[Statement]:
    """All statements of a body, and of the functions that they call."""
    seen: set[int] = set()
    left = [body]
    while left:
        for one in hir.walk(left.pop()):
            yield one
            if isinstance(one, hir.Call) and id(one.function) not in seen:
                seen.add(id(one.function))
                left.append(one.function.body)


def _changed(every: list[Statement]) -> list[Any]:
    """The changes of lists that none of some statements makes."""
    made = {one.target for one in every if isinstance(one, (hir.New, hir.Fill))}
    return [one for one in every if isinstance(one, _CHANGES) and one.list not in made]


def _read(every: list[Statement]) -> set[tuple[hir.Kind, ...]]:
    """The layouts of the lists that statements look at, but for those from outside."""
    looks = [one for one in every if isinstance(one, (hir.Load, hir.Length))]
    return {one.layout for one in looks if not isinstance(one.list, Input)}


def _changes(facts: Facts, type: Type, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value of a type may change in place, at any depth."""
    match type:
        case Box(site):
            return site not in seen and _changes(facts, facts.item(site), seen | {site})
        case _ if may_change(type) and not isinstance(type, (Tuple, Union)):
            return True
        case Tuple(items) | Union(items):
            return any(_changes(facts, item, seen) for item in items)
        case List(site) if site not in seen:
            return _changes(facts, facts.item(site), seen | {site})
    return False


def _is_given(facts: Facts, value: Value) -> bool:
    """Whether nothing of a value can change: it has no list, or these are from outside."""
    if not _changes(facts, value.type) and not facts.may_be_made:
        return True
    parts = zip(value.leaves, leaves(value.type), strict=True)
    return all(isinstance(leaf, Input) for leaf, kind in parts if kind == "r")
