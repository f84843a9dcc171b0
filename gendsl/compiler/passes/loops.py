"""Loops whose iterations need nothing of one another but sums, and lists that have one name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
    Loop,
    New,
    Op,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.list_uses import list_of
from gendsl.compiler.hir.rewriting import rename, variables_of
from gendsl.compiler.hir.text_effects import TextEffects, left_by, read_by
from gendsl.compiler.passes.axes_variables import exposed, read_after
from gendsl.compiler.passes.indices import Indices
from gendsl.compiler.passes.slices import rewritten
from gendsl.compiler.passes.staging import Names
from gendsl.compiler.passes.term_sums import begun_in


class Loops:
    """What is known of the loops and lists of a function that adds up terms.

    Attributes:
        every: all statements.
        own: the lists that no variable but one has.
        homes: the loops, by their variables, that each list is made in.
        independent: the loops, by their variables, whose iterations need nothing of one another.
    """

    def __init__(self, function: Function, sums: set[Var], effects: TextEffects, indices: Indices) -> None:
        self.function, self.sums, self.effects, self.indices = function, sums, effects, indices
        self.every = list(hir.walk(function.body))
        self.own = self._own_lists()
        self.homes: dict[Expr, set[Var]] = {}
        for one in self.every:
            if isinstance(one, (New, Fill)):
                home = {x.var for x in indices.around[id(one)] if isinstance(x, For)}
                self.homes[one.target] = home & self.homes.get(one.target, home)
        self.independent: dict[Var, For] = {}
        self._find(function.body, [])

    def is_made_in(self, ref: Expr, loop: For) -> bool:
        """Whether each iteration of a loop makes a list of its own; so it does of what is no list here."""
        return ref not in self.homes or loop.var in self.homes[ref]

    def _own_lists(self) -> set[Expr]:
        """The lists that no variable but one has, by which they are made, read and changed.

        A function may be given one if it neither returns a list nor puts one into another.
        """
        makes = Counter(one.target for one in self.every if isinstance(one, (New, Fill)))
        made: set[Expr] = {target for target, count in makes.items() if self.indices.sets[target] == count}
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

    def _find(self, body: Body, around: list[tuple[Statement | None, Body]]) -> None:
        for at, one in enumerate(body):
            after = [*around, (one, body[at + 1 :])]
            if isinstance(one, For) and self._is_independent(one, after):
                self.independent[one.var] = one
            for inner in hir.bodies(one):
                self._find(inner, after)

    def _is_independent(self, loop: For, around: list[tuple[Statement | None, Body]]) -> bool:
        """Whether the iterations of a loop need nothing of one another but sums."""
        if loop.step != Const(1, "i") or self.indices.sets[loop.var] != 1:
            return False
        inner = list(hir.walk(loop.body))
        if any(isinstance(one, Leave) and one.label == loop.label for one in inner):
            return False
        if any(isinstance(one, Return) and one.values != [IMPOSSIBLE] for one in inner):
            return False
        inside = {var for one in inner for var in hir.targets(one)}
        later = read_after({loop.var, *inside}, around)
        if loop.var in later:
            return False
        carried = inside & (exposed(loop.body)[0] | later)
        if not carried <= self.sums or not carried.isdisjoint(begun_in(inner)):
            return False
        made = {one.target for one in inner if isinstance(one, (New, Fill))}
        for one in inner:
            if isinstance(one, Call) and self.effects.of(one.function).changes:
                return False
            if not isinstance(one, (Append, Store, Truncate)) or one.list in made:
                continue
            if isinstance(one, Store) and one.keeps:
                continue
            if isinstance(one, Truncate) or one.list not in self.own or _is_read(one.list, inner):
                return False
        return True


def _is_read(ref: Expr, statements: list[Statement]) -> bool:
    """Whether statements do anything with a list but to add items, or to replace some."""
    for one in statements:
        if ref in read_by(one) and not isinstance(one, (Append, Store)):
            return True
        if isinstance(one, (Append, Store)) and ref in variables_of(*one.item):
            return True
    return False


def name_lists(function: Function) -> None:
    """Let lists have one name each, where that is easily seen.

        if t == 0:                           if t == 0:
            items = [0.5, 0.5]                   row = [0.5, 0.5]
            row = items                      else:
        else:                                    row = []
            items_1 = []            ->           row.append(x)
            items_1.append(x)                lp += categorical_logpdf(row, z)
            row = items_1
        value = row
        lp += categorical_logpdf(value, z)
    """
    while True:
        every = list(hir.walk(function.body))
        sets = Counter(var for one in every for var in hir.targets(one))
        once = {var for var in sets if sets[var] == 1 and var not in function.parameters}
        made = {one.target for one in every if isinstance(one, (New, Fill))}
        found = _other_names(function.body, once, made, Counter(var for one in every for var in read_by(one)))
        if found is None:
            return
        copy, name, other = found
        function.body = rewritten(function.body, lambda one: [] if one is copy else None)  # noqa: B023
        rename(function.body, {name: other})


def _other_names(
    body: Body, once: set[Var], made: set[Var], uses: Mapping[Var, int]
) -> tuple[Statement, Var, Var] | None:
    """A statement that gives a list another name, one of the two that it can do without, and the other."""
    for at, one in enumerate(body):
        for inner in hir.bodies(one):
            found = _other_names(inner, once, made, uses)
            if found is not None:
                return found
        match one:
            case Set(targets=[Var(kind="r") as target], values=[Var() as own]):
                begin = next((x for x in range(at) if own in hir.targets(body[x])), at)
                before, after = list(hir.walk(body[begin:at])), list(hir.walk(body[at + 1 :]))
                is_new = own in once & made and begin < at and not left_by(before)[0]
                is_free = not any(target in (*hir.targets(x), *read_by(x)) for x in before)
                if is_new and is_free and _count(own, before) + 1 == uses[own]:
                    return one, own, target
                is_steady = not any(own in hir.targets(x) for x in after)
                if target in once and is_steady and _count(target, after) == uses[target]:
                    return one, target, own
    return None


def _count(var: Var, statements: list[Statement]) -> int:
    """How many of some statements read a variable."""
    return sum(var in read_by(one) for one in statements)


def set_surely(function: Function) -> None:
    """Let what is computed before a loop, if that has an iteration, be set wherever one comes by.

        if 0 < k:                            if 0 < k:
            x = f(z)                             x = f(z)
        for j in range(k):          ->       else:
            total += x * y[j]                    x = 0.0
                                             for j in range(k):
                                                 total += x * y[j]
    """
    sets = Counter(var for one in hir.walk(function.body) for var in hir.targets(one))
    _set_surely(
        function.body,
        {var for var in sets if sets[var] == 1 and var.kind != "r" and var not in function.parameters},
    )


def _set_surely(body: Body, once: set[Var]) -> None:
    for one, after in pairwise(body):
        match one, after:
            case If(test=Op("lt", bounds), orelse=[]), For() if bounds == (after.start, after.stop):
                own = once & (exposed(one.then)[1] or set())
                one.orelse = [Set([var], [hir.ZEROS[var.kind]]) for var in sorted(own)]
    for one in body:
        for inner in hir.bodies(one):
            _set_surely(inner, once)


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


def name_bounds(function: Function) -> None:
    """Give bounds of loops names of their own, where they are made of variables that are set several times.

        top = max(top, group[i])             top = max(top, group[i])
        for g in range(top + 1):    ->       stop = top + 1
                                             for g in range(stop):
    """
    indices, names = Indices(function), Names(function)

    def named(bound: Expr, name: str) -> tuple[Body, Expr]:
        if indices.is_steady(bound):
            return [], bound
        var = Var(names.new(name), "i")
        return [Set([var], [bound])], var

    def within(body: Body) -> Body:
        result: Body = []
        for one in body:
            for name in one.BODIES:
                setattr(one, name, within(getattr(one, name)))
            if isinstance(one, For):
                (first, one.start), (last, one.stop) = named(one.start, "start"), named(one.stop, "stop")
                result += [*first, *last]
            result.append(one)
        return result

    function.body = within(function.body)
