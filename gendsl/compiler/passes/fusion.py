"""Lists that are made only to be read item by item, in order, are not made.

    ys = []
    for i in range(n):                    for j in range(n):
        ys.append(exp(xs[i]))      ->         y = exp(xs[j])
    for j in range(len(ys)):                  total += y
        total += ys[j]

So an expression of NumPy arrays is one loop, and a sum of a comprehension has no list. What the first loop
does is done where the second one reads the item. It must come to that in each iteration, if it may fail; and
nothing that it reads may have changed by then: what is changed meanwhile are lists that have no other name.
"""

from __future__ import annotations

from dataclasses import dataclass

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Call,
    Const,
    Expr,
    Fail,
    Fill,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    New,
    Next,
    Return,
    Set,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.list_uses import ListUses, list_of
from gendsl.compiler.hir.rewriting import replaced, rewrite
from gendsl.compiler.hir.text_effects import TextEffects, left_by, read_by

_ZERO, _ONE = Const(0, "i"), Const(1, "i")
_COMPUTING = (
    Set,
    Load,
    Length,
    If,
    For,
    hir.Loop,
    hir.Block,
    Leave,
    Next,
    Fail,
    New,
    Fill,
    Store,
    Append,
    Truncate,
)
"""Statements that change nothing but variables and lists."""


@dataclass(eq=False, slots=True)
class _Made:
    """A list that a loop makes, item by item.

    Attributes:
        made: where it is made, empty or filled with what is replaced.
        loop: the loop, whose last statement adds or replaces an item.
    """

    list: Var
    made: New | Fill
    loop: For

    @property
    def item(self) -> tuple[Expr, ...]:
        last = self.loop.body[-1]
        assert isinstance(last, (Append, Store))
        return last.item


def fuse(function: Function, effects: TextEffects) -> bool:
    """Let loops that read a list do what the loops that make it do; whether any does."""
    found = False
    while _fuse_one(function, effects):
        found = True
    return found


def _fuse_one(function: Function, effects: TextEffects) -> bool:
    loops = [one for one in hir.walk(function.body) if isinstance(one, For) and one.body]
    if len(loops) < 2 or not any(isinstance(one.body[-1], (Append, Store)) for one in loops):
        return False
    uses = ListUses(function)
    left = [function.body]
    while left:
        body = left.pop()
        for at, statement in enumerate(body):
            left += hir.bodies(statement)
            if isinstance(statement, For):
                made = _made_by(uses, body, at, statement)
                if made is not None and _merged(uses, effects, body, at, made):
                    return True
    return False


def _made_by(uses: ListUses, body: Body, at: int, loop: For) -> _Made | None:
    """The list that a loop does nothing but make."""
    last = loop.body[-1] if loop.body else None
    if loop.start != _ZERO or loop.step != _ONE or not isinstance(last, (Append, Store)):
        return None
    ref = last.list
    if not isinstance(ref, Var) or not uses.is_alone(ref) or not uses.is_steady(loop.stop):
        return None
    if uses.sets[loop.var] != 1 or not _only_computes(uses, loop):
        return None
    for made in reversed(body[:at]):
        if isinstance(made, (New, Fill)) and made.target == ref:
            empty = isinstance(made, New) and not made.items and isinstance(last, Append)
            filled = (
                isinstance(made, Fill)
                and isinstance(last, Store)
                and last.index == loop.var
                and made.count == loop.stop
            )
            return _Made(ref, made, loop) if empty or filled else None
    return None


def _only_computes(uses: ListUses, loop: For) -> bool:
    """Whether what a loop does besides is to read, and to compute what nothing else needs."""
    inside = {id(one) for one in hir.walk(loop.body)}
    own: set[Var] = {loop.var}
    for one in loop.body[:-1]:
        fails = isinstance(one, If) and not one.orelse and all(isinstance(x, Fail) for x in one.then)
        if not fails and not isinstance(one, (Set, Load, Length)):
            return False
        own.update(hir.targets(one))
    return all(
        uses.sets[var] == 1 and all(id(one) in inside for one in uses.reads[var]) for var in own
    )


def _merged(uses: ListUses, effects: TextEffects, body: Body, at: int, made: _Made) -> bool:
    """Let the loop that reads a list make its items; whether there is one that can."""
    reads = [one for one in uses.reads[made.list] if one is not made.loop.body[-1]]
    loads = [one for one in reads if isinstance(one, Load)]
    lengths = [one for one in reads if isinstance(one, Length)]
    if not loads or len(loads) + len(lengths) != len(reads):
        return False
    after = {id(one) for one in body[at + 1 :]}
    if lengths and not _is_natural(uses, made.loop.stop):
        return False
    if any(uses.sets[one.target] != 1 or id(one) not in after for one in lengths):
        return False
    counts = {one.target for one in lengths}
    for there in range(at + 1, len(body)):
        loop = body[there]
        if isinstance(loop, For) and any(one is loads[0] for one in loop.body):
            break
    else:
        return False
    stop = loop.stop
    if loop.start != _ZERO or loop.step != _ONE or uses.sets[loop.var] != 1:
        return False
    if stop != made.loop.stop and stop not in counts:
        return False
    top = {id(one) for one in loop.body}
    if any(id(one) not in top or one.index != loop.var for one in loads):
        return False
    if not _comes_through(loop) or not _keeps(uses, effects, made, body, at, there):
        return False
    _move(made, body, loop, loads)
    return True


def _is_natural(uses: ListUses, stop: Expr) -> bool:
    """Whether a number is surely not negative: the length of a list, for one."""
    if isinstance(stop, Const):
        return isinstance(stop.value, int) and stop.value >= 0
    return isinstance(stop, Var) and stop in uses.lengths and uses.sets[stop] == 1


def _comes_through(loop: For) -> bool:
    """Whether each iteration comes to its end, if nothing fails."""
    return not any(isinstance(one, (Leave, Next, Return)) for one in hir.walk(loop.body))


def _keeps(uses: ListUses, effects: TextEffects, made: _Made, body: Body, at: int, there: int) -> bool:
    """Whether what follows a loop comes to another one, and changes nothing that a list is made of.

    If it did not come to that, an item that can't be made would not be found out.
    """
    if left_by(hir.walk(body[at + 1 : there]))[0]:
        return False
    read = {list_of(one) for one in hir.walk(made.loop.body)} - {made.list}
    needed = set().union(*map(read_by, hir.walk([made.loop])))
    for one in hir.walk(body[at + 1 : there + 1]):
        if not needed.isdisjoint(hir.targets(one)):
            return False
        if isinstance(one, (Store, Append, Truncate)):
            if one.list in read:
                return False
            if not uses.is_alone(one.list) and not uses.is_new(body, there, one.list):
                return False
        elif isinstance(one, (New, Fill)):
            if one.target in read:
                return False
        elif isinstance(one, Call):
            if effects.of(one.function).changes:
                return False
        elif not isinstance(one, (*_COMPUTING, hir.Visit, hir.Given)):
            return False
    return True


def _move(made: _Made, body: Body, loop: For, loads: list[Load]) -> None:
    """Do what a loop does where another one reads its items."""
    values: dict[Var, Expr] = {made.loop.var: loop.var}
    items = [replaced(leaf, values) for leaf in made.item]
    inner = made.loop.body[:-1]
    for one in hir.walk(inner):
        rewrite(one, lambda expr: replaced(expr, values))
    result: Body = []
    first: list[Var] = []
    for one in loop.body:
        if any(one is load for load in loads):
            assert isinstance(one, Load)
            if not first:
                first = one.targets
                result += [*inner, Set(list(one.targets), list(items), line=one.line or made.loop.line)]
            else:
                result.append(Set(list(one.targets), list(first), line=one.line))
        else:
            result.append(one)
    loop.body = result
    kept: Body = []
    for one in body:
        if isinstance(one, Length) and one.list == made.list:
            kept.append(Set([one.target], [made.loop.stop], line=one.line))
        elif one is not made.made and one is not made.loop:
            kept.append(one)
    body[:] = kept
