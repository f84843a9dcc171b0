"""Lists made at once of what Python makes item by item, as a loop goes on: a loop must not change meanwhile
what its items are made of.

    for a, b in pairwise(scale * x for x in xs):
        scale = a  # later pairs would be others
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.front.frame import Frame
from gendsl.compiler.front.names import Name
from gendsl.compiler.front.scopes import scope_of
from gendsl.compiler.hir import Body, Expr, Input, Statement
from gendsl.compiler.hir import types as kinds
from gendsl.compiler.hir.facts import Facts
from gendsl.compiler.hir.types import (
    Array,
    Box,
    Closure,
    Known,
    List,
    Number,
    Tuple,
    Type,
    Union,
    leaves,
    may_change,
)
from gendsl.compiler.hir.values import Value, items_of
from gendsl.lang import trees

_PURE = (
    hir.Set, hir.New, hir.Fill, hir.Length, hir.Load, hir.Store, hir.Append, hir.Truncate, hir.If, hir.For,
    hir.Loop, hir.Block, hir.Leave, hir.Next, hir.Call, hir.Return, hir.Fail,
)  # fmt: skip
_CHANGES = (hir.Store, hir.Append, hir.Truncate)
_Layouts = frozenset[tuple[hir.Kind, ...]]


@dataclass(frozen=True)
class Ahead:
    """What a list depends on that was made at once.

    Attributes:
        what: what made it.
        layouts: those of the lists that were looked at; None for any.
        names: the variables that were looked up; None for any.
    """

    what: str
    layouts: _Layouts | None = frozenset()
    names: frozenset[Name] | None = frozenset()

    def __or__(self, other: Ahead) -> Ahead:
        layouts = None if None in (self.layouts, other.layouts) else self.layouts | other.layouts  # type: ignore[operator]
        names = None if None in (self.names, other.names) else self.names | other.names  # type: ignore[operator]
        return Ahead(self.what, layouts, names)


def note(frame: Frame, made: Value, ahead: Ahead) -> Value:
    """A list that was made at once, as an iterator."""
    assert isinstance(made.type, List)
    known = frame.program.ahead
    if ahead.layouts != frozenset() or ahead.names != frozenset():
        site = made.type.site
        known[site] = known[site] | ahead if site in known else ahead
    return Value(kinds.Iterator("iter", (made.type,)), made.leaves)


def of_values(frame: Frame, what: str, values: Iterable[Value]) -> Ahead:
    """What a list depends on that is made of what goes through values."""
    found = Ahead(what)
    for value in values:
        found |= _of_value(frame, what, value)
    return found


def _of_value(frame: Frame, what: str, value: Value) -> Ahead:
    goes_on = isinstance(value.type, (Closure, kinds.Generator, kinds.Iterator))
    match value.type:
        case _ if not goes_on and is_given(frame.program.facts, value):
            return Ahead(what)
        case kinds.Generator(node=node) | Closure(node=node):
            names = _free(node)
            others = [frame.env[name].type for name in names if name in frame.env]
            own = None if any(isinstance(one, Closure) for one in others) else frozenset[Name](names)
            return Ahead(what, None, own)
        case kinds.Iterator(parts=parts):
            return of_values(frame, what, items_of(Value(Tuple(parts), value.leaves)))
        case List(site):
            return Ahead(what, frozenset([leaves(frame.program.facts.item(site))]))
        case Array(kind=kind):
            return Ahead(what, frozenset([(kind,)]))
        case Number() | Known():
            return Ahead(what)
    return Ahead(what, None, None)


def _free(node: Any) -> set[str]:
    """The names that a generator or a function may look up in what is around it."""
    if isinstance(node, ast.GeneratorExp):
        targets = [part for one in node.generators for part in trees.walk(one.target)]
        bound = {part.id for part in targets if isinstance(part, ast.Name)}
    else:
        bound = set(scope_of(node)[0])
    return {part.id for part in trees.walk(node) if isinstance(part, ast.Name)} - bound


def check_pure(frame: Frame, what: str, statements: Body) -> None:
    """Refuse statements that do anything but to make lists: they would do so before the loop, not in it."""
    found = list(every(statements))
    if not all(isinstance(one, _PURE) for one in found) or changes(found):
        raise frame.not_closed(f"{what} changes what it has not made")


def check(frame: Frame, node: ast.AST, type: Type, names: Iterable[Name], statements: Body) -> None:
    """Refuse a loop that changes what the items depend on that it goes through.

    Args:
        names: the variables that the loop changes.
        statements: those of the loop.
    """
    found = list(_ahead(frame, type))
    if not found:
        return
    of_tables = [one for one in frame.program.helpers.values() if isinstance(one, hir.Function)]
    filled = _filled(frame, of_tables)

    def fills(one: Statement) -> bool:
        return isinstance(one, hir.Call) and one.function in of_tables and one.args[0] in filled

    done = list(every(statements, fills))
    layouts = frozenset(one.layout for one in changes(done) if one.list not in filled)
    changed = frozenset(names)
    for one in found:
        if (layouts if one.layouts is None else layouts & one.layouts) or (
            changed if one.names is None else changed & one.names
        ):
            raise frame.not_closed(
                f"a loop over {one.what}, which may change what its items are made of", node
            )


def _filled(frame: Frame, of_tables: list[hir.Function]) -> set[Expr]:
    """The lists and tables that were just made and no variable has: those that an expression is to give."""
    made: set[Expr] = set()
    for one in frame.out:
        if isinstance(one, hir.New):
            made.add(one.target)
        elif isinstance(one, hir.Call) and not one.args and one.function in of_tables:
            made.update(one.targets)
    return made - {leaf for value in frame.env.values() for leaf in value.leaves}


def _ahead(frame: Frame, type: Type) -> Iterator[Ahead]:
    """What the lists depend on that something to loop over is made of."""
    match type:
        case kinds.Iterator(parts=parts):
            for part in parts:
                yield from _ahead(frame, part)
        case kinds.Generator(source=source):
            yield from _ahead(frame, source)
        case List(site) if frame.program.facts.find(site) in frame.program.ahead:
            yield frame.program.ahead[frame.program.facts.find(site)]


def every(body: Body, leaves_out: Callable[[Statement], bool] = lambda one: False) -> Iterator[Statement]:
    """All statements of a body, and of the functions that they call, without some and what these call."""
    seen: set[int] = set()
    left = [body]
    while left:
        for one in hir.walk(left.pop()):
            if leaves_out(one):
                continue
            yield one
            if isinstance(one, hir.Call) and id(one.function) not in seen:
                seen.add(id(one.function))
                left.append(one.function.body)


def changes(statements: list[Statement]) -> list[Any]:
    """The changes of lists that none of some statements makes."""
    made = {one.target for one in statements if isinstance(one, (hir.New, hir.Fill))}
    return [one for one in statements if isinstance(one, _CHANGES) and one.list not in made]


def may_change_inside(facts: Facts, type: Type, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value of a type may change in place, at any depth."""
    match type:
        case Box(site):
            return site not in seen and may_change_inside(facts, facts.item(site), seen | {site})
        case _ if may_change(type) and not isinstance(type, (Tuple, Union)):
            return True
        case Tuple(items) | Union(items):
            return any(may_change_inside(facts, item, seen) for item in items)
        case List(site) if site not in seen:
            return may_change_inside(facts, facts.item(site), seen | {site})
    return False


def is_given(facts: Facts, value: Value) -> bool:
    """Whether nothing of a value can change: it has no list, or these are from outside."""
    if not may_change_inside(facts, value.type) and not facts.may_be_made:
        return True
    parts = zip(value.leaves, leaves(value.type), strict=True)
    return all(isinstance(leaf, Input) for leaf, kind in parts if kind == "r")
