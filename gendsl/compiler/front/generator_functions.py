"""Generator functions: a call is a list of all that the function yields, gone through where it is made.

Python runs such a function step by step, between the iterations of what goes through it. Nobody can tell
the difference where it changes nothing but what it makes itself, what it yields stays as it is, and nobody
changes meanwhile what it reads. Where it fails after something else has ended the loop, or failed, the text
fails, and the interpreter decides.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front import ahead, comprehensions, lists
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.hir import Const, Input, Op
from gendsl.compiler.hir.types import Iterator, List, describe
from gendsl.compiler.hir.values import NONE, NOTHING, Value, is_never
from gendsl.lang import trees

MOST_YIELDED = 2**20
"""How many items a generator function may yield: one with a `while` may go on for ever."""


@functools.lru_cache(maxsize=4096)
def is_generator(node: Any) -> bool:
    """Whether a definition is that of a generator function."""
    return isinstance(node, ast.FunctionDef) and any(map(_yields, node.body))


def _yields(part: ast.AST) -> bool:
    if isinstance(part, (ast.Yield, ast.YieldFrom)):
        return True
    if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
        return False
    return any(map(_yields, trees.children(part)))


def start(frame: Frame, node: Any) -> None:
    """Begin the body of a function of the text: what it yields is put into a list."""
    if not is_generator(node):
        return
    for part in trees.walk(node):
        if isinstance(part, ast.While) and isinstance(part.test, ast.Constant) and not _ends(part):
            raise frame.not_closed("a generator function that never ends", part)
    frame.yielded = lists.list_of(frame, node, [], "yielded")


def _ends(loop: ast.While) -> bool:
    """Whether a statement in a loop may end it."""
    return any(isinstance(part, (ast.Break, ast.Return)) for part in trees.walk(loop))


def yielded(frame: Frame, node: ast.Yield) -> Value:
    """`yield value`, which a loop goes on from with None."""
    made = _list(frame, node)
    value = NONE if node.value is None else frame.atoms(frame.language.expression(frame, node.value))
    if not frame.live:
        return NOTHING
    if any(isinstance(part, ast.While) for part in trees.walk(frame.node)):
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
    program, name = frame.program, function.__name__
    assert isinstance(made.type, List)
    item = program.facts.item(made.type.site)
    if ahead.may_change_inside(program.facts, item):
        raise frame.not_closed(f"{name} yields what may change, a {describe(item)}")
    call = frame.out[-1]
    assert isinstance(call, hir.Call)
    if function in program.stack:  # the first call of a recursion looks at all of them
        return Value(Iterator("iter", (made.type,)), made.leaves)
    ahead.check_pure(frame, f"the generator function {name}", call.function.body)
    every = list(ahead.every(call.function.body))
    looks = [one for one in every if isinstance(one, (hir.Load, hir.Length))]
    read = frozenset(one.layout for one in looks if not isinstance(one.list, Input))
    if all(ahead.is_given(program.facts, one) for one in given):
        read = frozenset()
    return ahead.note(frame, made, ahead.Ahead(f"what {name} yields", read))
