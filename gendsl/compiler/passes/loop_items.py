"""Loops whose iterations need nothing of one another but sums, and items of lists by their places.

Of a list that such a loop makes item by item it is known which iteration makes an item, and of what reads an
item at a place that is the loop's variable and a number which iteration reads it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    IMPOSSIBLE,
    Append,
    Body,
    Call,
    Const,
    Expr,
    Fill,
    For,
    Function,
    If,
    Leave,
    Load,
    Loop,
    New,
    Next,
    Op,
    Return,
    Statement,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.list_uses import list_of
from gendsl.compiler.hir.rewriting import rename, variables_of
from gendsl.compiler.hir.text_effects import TextEffects, read_by
from gendsl.compiler.passes.axes_variables import exposed, read_after, values_of
from gendsl.compiler.passes.staging import Names
from gendsl.compiler.passes.term_sums import begun_in

_ONE = Const(1, "i")
_NOWHERE = Const(1 << 62, "i")
"""A place that no list has."""


@dataclass(frozen=True)
class Maker:
    """How a loop makes a list, item by item.

    Attributes:
        place: what is added to the loop's variable to get the place of an item.
        first: how many items there are before the first of these.
        count: how many there are in the end.
    """

    ref: Var
    loop: For
    place: int
    first: int
    count: Expr

    def place_among(self, index: Expr, base: Expr) -> Expr:
        """The place of an item among some that were made, from its place; none that a list has elsewhere.

        Args:
            base: what is taken from the place of an item that the loop has made.
        """
        place: Expr = Op("sub", (index, base), "i")
        if self.first:
            place = Op("select", (Op("lt", (index, Const(self.first, "i")), "b"), index, place), "i")
        return Op("select", (Op("ge", (place, hir.ZEROS["i"]), "b"), place, _NOWHERE), "i")


class LoopItems:
    """What is known of the loops and lists of a function: where it adds up terms, these, to the end.

    Attributes:
        every: all statements.
        around: the statements that each is in, from the outside, by its identity.
        own: the lists that no variable but one has.
        homes: the loops, by their variables, that each of these is made in.
        loops: the loops, by their variables, that have not been ruled out.
        makers: the lists that these make item by item.
    """

    def __init__(self, function: Function, sums: set[Var] | None, effects: TextEffects) -> None:
        self.function, self.sums, self.effects = function, sums or set(), effects
        self.is_scored = sums is not None
        self.every = list(hir.walk(function.body))
        self.values = values_of(function)
        self.sets = Counter([*function.parameters, *(var for one in self.every for var in hir.targets(one))])
        self.around: dict[int, tuple[Statement, ...]] = {}
        self._place(function.body, ())
        self.own = self._own_lists()
        self.homes: dict[Expr, set[Var]] = {
            one.target: {x.var for x in self.around[id(one)] if isinstance(x, For)}
            for one in self.every
            if isinstance(one, (New, Fill)) and one.target in self.own
        }
        self.loops: dict[Var, For] = {}
        self._find_loops(function.body, [])
        self.makers = self._find_makers()

    def rule_out(self, wrong: set[Var]) -> None:
        """Let some loops be as any others."""
        for var in wrong:
            del self.loops[var]
        self.makers = {ref: one for ref, one in self.makers.items() if one.loop.var in self.loops}

    def is_made_in(self, ref: Expr, loop: For) -> bool:
        """Whether each iteration of a loop makes a list of its own."""
        return loop.var in self.homes.get(ref, ())

    def place_in(self, index: Expr) -> tuple[For, int] | None:
        """The loop that an index is the variable of, and what is added to that."""
        for var, loop in self.loops.items():
            shift = shift_of(index, var, self.values)
            if shift is not None:
                return loop, shift
        return None

    def iteration_at(self, one: Statement, index: Expr) -> tuple[For, int] | None:
        """The loop that an index is the variable of where a statement is come to."""
        around = (*self.around[id(one)], one)
        for outer, inner in pairwise(around):
            if isinstance(outer, If):
                for var in variables_of(outer.test) & self.loops.keys():
                    is_then = any(inner is x for x in outer.then)
                    if index == _only_value(outer.test, var, self.loops[var].start, holds=is_then):
                        return self.loops[var], 0
        return None

    def _place(self, body: Body, around: tuple[Statement, ...]) -> None:
        for one in body:
            self.around[id(one)] = around
            for inner in hir.bodies(one):
                self._place(inner, (*around, one))

    def _own_lists(self) -> set[Expr]:
        """The lists that no variable but one has, by which they are made, read and changed.

        A function may be given one if it neither returns a list nor puts one into another.
        """
        made: set[Expr] = {
            one.target for one in self.every if isinstance(one, (New, Fill)) and self.sets[one.target] == 1
        }
        for one in self.every:
            ref = list_of(one)
            others = [expr for expr in hir.expressions(one) if expr != ref]
            if ref is not None and len(others) < len(hir.expressions(one)) - 1:
                made.discard(ref)
            if isinstance(one, Call):
                changes = self.effects.of(one.function).changes
                if "r" not in one.function.results and not any(
                    "r" in layout or "any" in layout for layout in changes
                ):
                    continue
            made -= variables_of(*others)
        return made

    def _find_loops(self, body: Body, around: list[tuple[Statement | None, Body]]) -> None:
        for at, one in enumerate(body):
            after = [*around, (one, body[at + 1 :])]
            if isinstance(one, For) and self._is_independent(one, after):
                self.loops[one.var] = one
            for inner in hir.bodies(one):
                self._find_loops(inner, after)

    def _is_independent(self, loop: For, around: list[tuple[Statement | None, Body]]) -> bool:
        """Whether the iterations of a loop need nothing of one another but sums, and items of lists by their
        places.
        """
        if loop.step != _ONE or self.sets[loop.var] != 1:
            return False
        inner = list(hir.walk(loop.body))
        if any(isinstance(one, Leave) and one.label == loop.label for one in inner):
            return False
        if self.is_scored and any(isinstance(one, Return) and one.values != [IMPOSSIBLE] for one in inner):
            return False
        inside = {var for one in inner for var in hir.targets(one)}
        later = read_after({loop.var, *inside}, around)
        if loop.var in later:
            return False
        carried = inside & (exposed(loop.body)[0] | later)
        if not carried <= self.sums or not carried.isdisjoint(begun_in(inner)):
            return False
        made = {one.target for one in inner if isinstance(one, (New, Fill))}
        changed: set[Expr] = set()
        for one in inner:
            if isinstance(one, (Append, Store, Truncate)) and one.list not in made:
                if isinstance(one, Store) and one.keeps:
                    continue
                changed.add(one.list)
            elif isinstance(one, Call) and self.effects.of(one.function).changes:
                return False
        return all(self._is_made_by(loop, ref, inner) for ref in changed)

    def _is_made_by(self, loop: For, ref: Expr, inner: list[Statement]) -> bool:
        """Whether each iteration adds or replaces one item of a list, and reads others by their places."""
        if ref not in self.own or not _adds_one(loop, loop.body, ref):
            return False
        for one in inner:
            if isinstance(one, Load) and one.list == ref:
                shift = shift_of(one.index, loop.var, self.values)
                if shift is None:
                    return False
            elif ref in read_by(one) and not isinstance(one, (Append, Store)):
                return False
        return True

    def _find_makers(self) -> dict[Expr, Maker]:
        """The lists that loops make item by item."""
        found: dict[Expr, Maker] = {}
        changed: defaultdict[Expr, list[Append | Store | Truncate]] = defaultdict(list)
        begun: dict[Expr, New | Fill] = {}
        for one in self.every:
            if isinstance(one, (Append, Store, Truncate)):
                changed[one.list].append(one)
            elif isinstance(one, (New, Fill)) and one.target in self.own:
                begun[one.target] = one
            elif isinstance(one, Call) and self.effects.of(one.function).changes:
                for var in read_by(one):
                    changed[var] += [Truncate(var, (), hir.ZEROS["i"])]
        for ref, every in changed.items():
            loops = {x.var: x for one in every if id(one) in self.around for x in self.around[id(one)]
                     if isinstance(x, For) and x.var in self.loops and _adds_one(x, x.body, ref)}  # fmt: skip
            if len(loops) != 1 or ref not in begun:
                continue
            (loop,) = loops.values()
            inside = {id(one) for one in hir.walk(loop.body)}
            if any(id(one) not in inside for one in every):
                continue
            made = self._made_by(loop, begun[ref], every)
            if made is not None and self.around[id(begun[ref])] == self.around[id(loop)]:
                found[ref] = made  # it does not go on from loop to loop
        return found

    def _made_by(self, loop: For, begun: New | Fill, every: list[Append | Store | Truncate]) -> Maker | None:
        start = loop.start
        if not isinstance(start, Const) or not isinstance(start.value, int):
            return None
        if isinstance(begun, New):
            if not all(isinstance(one, Append) for one in every):
                return None
            first = len(begun.items)
            length = Op("imax", (Op("sub", (loop.stop, start), "i"), hir.ZEROS["i"]), "i")
            count = length if not first else Op("add", (length, Const(first, "i")), "i")
            return Maker(begun.target, loop, first - start.value, first, count)
        is_whole = start.value == 0 and begun.count == loop.stop
        if is_whole and all(isinstance(one, Store) and one.index == loop.var for one in every):
            return Maker(begun.target, loop, 0, 0, Op("imax", (loop.stop, hir.ZEROS["i"]), "i"))
        return None


def apart(function: Function) -> None:
    """Give variables that a loop sets anew in each iteration names of their own, where others have these."""
    names = Names(function)
    _apart(function, function.body, [], names)


def _apart(function: Function, body: Body, around: list[tuple[Statement | None, Body]], names: Names) -> None:
    for at, one in enumerate(body):
        after = [*around, (one, body[at + 1 :])]
        if isinstance(one, (For, Loop)):
            inside = {var for inner in hir.walk(one.body) for var in hir.targets(inner)}
            elsewhere = set(function.parameters)
            within = {id(inner) for inner in hir.walk([one])}
            for other in hir.walk(function.body):
                if id(other) not in within:
                    elsewhere |= {*hir.targets(other), *read_by(other)}
            own = (inside & elsewhere) - exposed(one.body)[0] - read_after(inside, after)
            if own:
                named = {var: Var(names.new(var.name), var.kind) for var in sorted(own)}
                rename(one.body, named)
        for inner_body in hir.bodies(one):
            _apart(function, inner_body, after, names)


def shift_of(index: Expr, var: Var, values: dict[Var, Expr]) -> int | None:
    """What is added to a variable in an index."""
    match index:
        case Var():
            if index == var:
                return 0
            return shift_of(values[index], var, values) if index in values else None
        case Op("add", (one, Const(value))) | Op("add", (Const(value), one)) if isinstance(value, int):
            found = shift_of(one, var, values)
            return None if found is None else found + value
        case Op("sub", (one, Const(value))) if isinstance(value, int):
            found = shift_of(one, var, values)
            return None if found is None else found - value
    return None


def _only_value(test: Expr, var: Var, start: Expr, *, holds: bool) -> Expr | None:
    """The value that a loop's variable has where a test holds, or does not."""
    match test:
        case Op("not", (other,)):
            return _only_value(other, var, start, holds=not holds)
        case Op("eq", (one, Const() as value)) if one == var and holds:
            return value
        case Op("ne", (one, Const() as value)) if one == var and not holds:
            return value
        case Op("gt", (one, Const() as value)) if one == var and not holds and value == start:
            return value
        case Op("ge", (one, Const(int(value)))) if (
            one == var and not holds and Const(value - 1, "i") == start
        ):
            return start
        case Op("lt", (one, Const(int(value)))) if one == var and holds and Const(value - 1, "i") == start:
            return start
        case Op("le", (one, Const() as value)) if one == var and holds and value == start:
            return value
    return None


def _adds_one(loop: For, body: Body, ref: Expr) -> bool:
    """Whether statements of a loop surely add one item to a list, or replace one."""
    for at, one in enumerate(body):
        if not any(isinstance(x, (Append, Store, Truncate)) and x.list == ref for x in hir.walk([one])):
            continue
        before, after = body[:at], body[at + 1 :]
        if any(isinstance(x, (Append, Store, Truncate)) and x.list == ref for x in hir.walk(after)):
            return False
        if any(isinstance(x, (Next, Leave)) for x in hir.walk(before)):
            return False
        if isinstance(one, If):
            return _adds_one(loop, one.then, ref) and _adds_one(loop, one.orelse, ref)
        return isinstance(one, (Append, Store)) and ref not in variables_of(*one.item)
    return False
