"""Variables that nested functions assign to (`nonlocal`): each is kept in a cell, which all of them share."""

from __future__ import annotations

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.objects import assign_attribute, object_attribute
from gendsl.compiler.front.scopes import nonlocals
from gendsl.compiler.hir import Var
from gendsl.compiler.hir.types import (
    Closure,
    Generator,
    Iterator,
    Object,
    SubTrace,
    Type,
    Union,
    holds_closure,
    leaves,
)
from gendsl.compiler.hir.values import UNSET, Value, is_never, known

_VALUE = "value"


class Cell:
    """The class of cells: objects with one attribute."""


def is_cell(type: Type) -> bool:
    """Whether a value of a type is a cell."""
    return isinstance(type, Object) and type.cls is Cell


def start(frame: Frame) -> None:
    """Put the parameters that nested functions assign to into cells."""
    for name in sorted(frame.cells):
        if name in frame.env:
            _make(frame, name, frame.env[name])


def _checked(frame: Frame, value: Value) -> None:
    kind = value.type
    if isinstance(kind, (Closure, Generator, SubTrace)) or holds_closure(kind):
        raise frame.not_closed("a variable that nested functions assign to, and that is no plain value")
    if isinstance(kind, Iterator) and kind.name != "range":
        raise frame.not_closed("a variable that nested functions assign to, and that is an iterator")


def _make(frame: Frame, name: str, value: Value) -> None:
    """Let a variable be in a new cell."""
    _checked(frame, value)
    facts = frame.program.facts
    site = facts.site((frame.activation, id(frame.node), ("cell", name)))
    frame.program.object_fields(Cell, _VALUE)
    kind = facts.grow_item(site, value.type, _VALUE)
    var: Var = frame.fresh(name, "r")
    frame.emit(hir.New(var, leaves(kind), [facts.convert(value, kind)]))
    frame.env[name] = Value(Object(facts.find(site), Cell), (var,))


def assign(frame: Frame, name: str, value: Value) -> None:
    """`name = value` where functions in this one, or around it, share the variable."""
    if is_never(value):
        return
    if name in frame.globals:
        cell = _around(frame, name) if name in nonlocals(frame.node) else None
        if cell is None:
            raise frame.not_closed(f"an assignment to {name}, which is global or nonlocal")
    else:
        cell = frame.env.get(name)
        if cell is None or cell.type == known(UNSET).type:
            _make(frame, name, value)
            return
    if not is_cell(cell.type):
        raise frame.not_closed(f"an assignment to {name}, which is nonlocal and may have no value yet")
    _checked(frame, value)
    assign_attribute(frame, cell, _VALUE, value)


def _around(frame: Frame, name: str) -> Value | None:
    """The cell of a variable of a function around; None where there is none."""
    outer = frame.outer
    while outer is not None:
        if name in outer.locals and name not in outer.globals:
            found = outer.env.get(name)
            return found if found is not None and is_cell(found.type) else None
        outer = outer.outer
    return None


def opened(frame: Frame, value: Value, name: str) -> Value:
    """What a cell holds; any other value as it is."""
    if isinstance(value.type, Union) and any(map(is_cell, value.type.alternatives)):
        raise frame.not_closed(f"{name}, which is nonlocal and may have no value")
    return object_attribute(frame, value, _VALUE) if is_cell(value.type) else value
