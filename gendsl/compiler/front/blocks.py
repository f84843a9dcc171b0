"""Blocks of choices that take joint values: the functions of `gendsl.inference.blocks`, which the compiler
knows, as their own text looks into the records of a trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame, Program
from gendsl.compiler.hir import Var
from gendsl.compiler.hir.types import Known, List, Number, Tuple, Type
from gendsl.compiler.hir.values import NONE, Value, items_of, number_leaf

_MODULE = "gendsl.inference.blocks"
FLOATS, INTEGERS = ("f",), ("i",)


@dataclass(frozen=True, eq=False)
class Joint:
    """What a text does of the blocks of a kernel; the functions' bodies are still to be made.

    Attributes:
        weigh: adds all joint values and their log weights to lists, by the leaves of the block.
        move: lets the choices have some of them, by the same and the place in the list.
    """

    weigh: hir.Function
    move: hir.Function


PARTS = ("order", "states", "weights")
"""The leaves of a block: which choices it has, in the order of the program; the joint values, as floats; and
their log weights.
"""


def block_of(lowering: Program, number: int) -> Type:
    """The type of the blocks of a kernel, which has a number."""
    if number not in lowering.blocks:
        parameters = [Var(name, "r") for name in PARTS]
        lowering.blocks[number] = Joint(
            hir.Function(lowering.function_name("weigh_block"), list(parameters), origin="all joint values"),
            hir.Function(
                lowering.function_name("move_block"),
                [*parameters, Var("chosen", "i")],
                origin="other joint values",
            ),
        )
    lists = [_list(lowering, number, name, kind) for name, kind in zip(PARTS, "iff", strict=True)]
    return Tuple((Known(("block", number)), *lists))


def _list(lowering: Program, number: int, name: str, kind: str) -> List:
    site = lowering.facts.site(("block", number, name))
    lowering.facts.grow_item(site, Number(kind))
    return List(lowering.facts.find(site))


def call(frame: Frame, function: Any, args: list[Value]) -> Value | None:
    """A call of one of these functions; None for any other."""
    is_known = getattr(function, "__module__", None) == _MODULE
    handler = _HANDLERS.get(function.__qualname__) if is_known else None
    return None if handler is None else handler(frame, args)


def _number(block: Value) -> int:
    assert isinstance(block.type, Tuple) and isinstance(block.type.items[0], Known)
    found: int = block.type.items[0].value[1]
    return found


def _log_weights(frame: Frame, args: list[Value]) -> Value:
    (block,) = args
    frame.emit(hir.Call([], frame.program.blocks[_number(block)].weigh, list(block.leaves)))
    return items_of(block)[-1]


def _move(frame: Frame, args: list[Value]) -> Value:
    block, chosen = args
    given = [*block.leaves, frame.atom(number_leaf(chosen, "i"))]
    frame.emit(hir.Call([], frame.program.blocks[_number(block)].move, given))
    return NONE


_HANDLERS: dict[str, Callable[[Frame, list[Value]], Value]] = {"log_weights": _log_weights, "move": _move}
