"""What a costly function gives for one index in a loop is kept, and not computed again for the same index.

    for i in range(n):                               known = [(None, False)] * (min(n, 256) + 1)
        c = state.z[i]                               for i in range(n):
        row = rows[c]                                    c = state.z[i]
        s, chol = check(row)              ->             row = rows[c]
        x = state.x[i]                                   is_known = False
        lp += logpdf(s, chol, x)                         if 0 <= c < len(known): is_known, s, chol = known[c]
                                                         if not is_known:
                                                             s, chol = check(row)
                                                             if 0 <= c < len(known): known[c] = True, s, chol
                                                         x = state.x[i]
                                                         lp += logpdf(s, chol, x)

So a covariance that is looked up by the label of an observation is factorised once for each label. As it is
where it is first needed, nothing is computed that was not, and what fails does so in the same place.

Where a function gives no lists, iterations that run at once look things up in one table. What is not known is
not a number, or has a flag where the function gives no float; indices that there is no room for share the
last item, which never is known:

    for i in range(n):                               known = [nan] * (room + 1)
        c = state.z[i]                    ->         for i in range(n):
        lp += longest(c)                                 c = state.z[i]
                                                         place = c if 0 <= c < room else room
                                                         found = known[place]
                                                         if isnan(found):
                                                             found = longest(c)
                                                             if place < room: known[place] = found
                                                         lp += found

Each computes what it does not find, as others may just do; what they store for one index is the same.

The function must have no effect, and all that it is given must depend on nothing that the loop changes but
the one integer. Lists that it returns are shared then, so they must only be read. It is done for functions
that make lists, and in loops over data for others that have loops, as those that look for a key of a dict;
but not in a function that is called in a loop, where a table would be made again and again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Body,
    Call,
    Const,
    Expr,
    Fill,
    For,
    Function,
    If,
    Length,
    Load,
    Loop,
    Op,
    Set,
    Statement,
    Store,
    Var,
)
from gendsl.compiler.hir.list_uses import ListUses
from gendsl.compiler.hir.rewriting import may_fail, variables_of
from gendsl.compiler.hir.text_effects import UNKNOWN, Layouts, TextEffects, made_by, meet, read_by
from gendsl.compiler.passes.axes_sizes import Sizes, repeated
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.staging import Names

MOST = 256
"""How many indices there is room for at most."""
_ZERO, _ONE = Const(0, "i"), Const(1, "i")
Origins = dict[Var, frozenset[Var]]
"""For variables the others that they are computed from, of those that change in a loop."""


@dataclass(slots=True)
class _Found:
    """A call whose results are those for one index, and the loops inside of the loop that it is in."""

    call: Call
    index: Var
    inner: list[For]


def memoise(mains: Sequence[Function]) -> list[Function]:
    """Keep what functions give for an index, in functions and all that they call; those that have changed."""
    effects = TextEffects()
    every = {id(one): one for main in mains for one in hir.functions(main)}
    sizes, again = Sizes(list(every.values())), repeated(every.values())
    return [one for one in every.values() if _memoised(one, effects, sizes, again)]


def _memoised(function: Function, effects: TextEffects, sizes: Sizes, again: set[int]) -> bool:
    loops = [one for one in hir.walk(function.body) if isinstance(one, For) and _counts_up(one)]
    if not any(_is_costly(one, effects) for loop in loops for one in hir.walk(loop.body)):
        return False
    uses, names = ListUses(function), Names(function)
    done: set[int] = set()
    for loop in loops:  # outer ones first
        is_once = not function.symbol and id(function) not in again
        is_over_data = is_once and sizes.is_over_data(function, loop)
        search = _Search(function, loop, effects, uses)
        tables: dict[tuple[int, tuple[Expr, ...]], tuple[Var, Var]] = {}
        for one in search.found:
            if id(one.call) in done or not (is_over_data or effects.makes_lists(one.call.function)):
                continue
            done.add(id(one.call))
            if any(var.kind == "r" for var in one.call.targets):
                _keep(function, loop, one, names)
                continue
            key = id(one.call.function), tuple(one.call.args)
            is_same = variables_of(*one.call.args) & search.changing <= {one.index}
            there = tables.get(key) if is_same else None
            tables[key] = _keep_numbers(function, loop, one, names, there)
    return bool(done)


def _is_costly(statement: Statement, effects: TextEffects) -> bool:
    return isinstance(statement, Call) and effects.has_loops(statement.function)


def _counts_up(loop: For) -> bool:
    return loop.start in (_ZERO, _ONE) and loop.step == _ONE


class _Search:
    """Looks for calls that may be made once for each index.

    Attributes:
        changing: the variables that the loop sets.
        changed: the lists that it may change.
        counters: the variables of loops, which have each value once.
    """

    def __init__(self, function: Function, loop: For, effects: TextEffects, uses: ListUses) -> None:
        self.effects, self.uses = effects, uses
        every = list(hir.walk(loop.body))
        within = {id(one) for one in every}
        self.changing = {loop.var, *(var for one in every for var in hir.targets(one))}
        self.counters = {loop.var, *(one.var for one in every if isinstance(one, For))}
        outside, read = set(function.parameters), read_by(loop)
        for one in hir.walk(function.body):
            if id(one) not in within and one is not loop:
                outside.update(hir.targets(one))
                read |= read_by(one)
        self.made = made_by(every) - outside - read
        self.changed: Layouts = effects.all_of(loop.body, self.made).changes
        self.found: list[_Found] = []
        self._visit(loop.body, {}, [])

    def _visit(self, body: Body, origins: Origins, inner: list[For]) -> None:
        for one in body:
            for nested in hir.bodies(one):
                own = dict(origins)
                if isinstance(one, (For, Loop)):  # a later iteration finds what an earlier one has set
                    _forget(own, one)
                self._visit(nested, own, [*inner, one] if isinstance(one, For) else inner)
            if isinstance(one, Call):
                index = self._index_of(one, origins)
                if index is not None:
                    self.found.append(_Found(one, index, inner))
            new = self._computed(one, origins)
            _forget(origins, one)
            origins.update(new)

    def _computed(self, one: Statement, origins: Origins) -> Origins:
        """What the variables that a statement sets are computed from, where that is one index at most."""
        found: list[tuple[Var, frozenset[Var]]] = []
        if isinstance(one, Set):
            pairs = zip(one.targets, one.values, strict=True)
            found = [(target, self._origins_of([value], origins)) for target, value in pairs]
        elif isinstance(one, (Load, Length)):
            reads = self.effects.all_of([one], set()).reads
            if not meet(reads, self.changed) and self.made.isdisjoint(variables_of(one.list)):
                origin = self._origins_of(hir.expressions(one), origins)
                found = [(target, origin) for target in hir.targets(one)]
        targets = set(hir.targets(one))
        return {
            target: origin
            for target, origin in found
            if origin.isdisjoint(targets) and all(self._is_index(var) for var in origin) and len(origin) <= 1
        }

    def _origins_of(self, exprs: object, origins: Origins) -> frozenset[Var]:
        found: frozenset[Var] = frozenset()
        for var in variables_of(*exprs):  # type: ignore[misc]
            if var in self.changing:
                found |= origins.get(var, frozenset([var]))
        return found

    def _is_index(self, var: Var) -> bool:
        return var.kind == "i" and var not in self.counters

    def _index_of(self, call: Call, origins: Origins) -> Var | None:
        """The index that the results of a call are those for, if there is one."""
        if not _is_costly(call, self.effects):
            return None
        found = self._origins_of(call.args, origins)
        effects = self.effects.of(call.function)
        if len(found) != 1 or effects is UNKNOWN or not effects.pure or effects.changes:
            return None
        (index,) = found
        if not self._is_index(index) or meet(effects.reads, self.changed):
            return None
        read = {index, *variables_of(*call.args)}  # once more after what is kept was looked up
        if not read.isdisjoint(call.targets) or len(set(call.targets)) < len(call.targets):
            return None
        shared = [var for var in call.targets if var.kind == "r"]
        return index if all(self._is_only_read(var) for var in shared) else None

    def _is_only_read(self, var: Var) -> bool:
        """Whether nothing is done with a list but to read it, so that it may be shared."""
        return self.uses.sets[var] == 1 and all(self._reads(one, var) for one in self.uses.reads[var])

    def _reads(self, one: Statement, var: Var) -> bool:
        match one:
            case Length(list=ref):
                return ref == var
            case Load(list=ref, layout=layout):
                return ref == var and "r" not in layout
            case Call(function=function):
                return not self.effects.of(function).changes and "r" not in function.results
        return False


def _forget(origins: Origins, statement: Statement) -> None:
    """Forget what depends on variables that a statement sets."""
    changed = {var for one in hir.walk([statement]) for var in hir.targets(one)}
    for var, origin in list(origins.items()):
        if var in changed or not changed.isdisjoint(origin):
            del origins[var]


def _room(loop: For, found: _Found) -> Expr:
    """How many indices there is room for: as many as there are iterations, if these are not many."""
    stops = [loop.stop]
    changing = {loop.var, *(var for one in hir.walk(loop.body) for var in hir.targets(one))}
    for one in found.inner:
        if _counts_up(one) and not may_fail(one.stop) and changing.isdisjoint(variables_of(one.stop)):
            stops.append(one.stop)
    longest: Expr = stops[0]
    for stop in stops[1:]:
        longest = Op("imax", (longest, stop), "i")
    return Op("imax", (Op("imin", (longest, Const(MOST, "i")), "i"), _ZERO), "i")


def _has_room(index: Var, room: Var) -> Expr:
    return Op("and", (Op("le", (_ZERO, index), "b"), Op("lt", (index, room), "b")), "b")


def _keep(function: Function, loop: For, found: _Found, names: Names) -> None:
    """Let a call in a loop be made once for each index."""
    call, index, line = found.call, found.index, found.call.line
    layout = ("b", *(var.kind for var in call.targets))
    room, table = Var(names.new("room"), "i"), Var(names.new("known"), "r")
    is_known = Var(names.new("is_known"), "b")
    zeros = tuple(hir.ZEROS[kind] for kind in layout)
    before: Body = [
        Set([room], [_room(loop, found)], line=loop.line),
        Fill(table, layout, room, zeros, keeps=True, line=loop.line),
    ]
    has_room = _has_room(index, room)
    load = Load([is_known, *call.targets], table, layout, index, line=line)
    store = Store(table, layout, index, (hir.TRUE, *call.targets), line=line)
    new: Body = [
        Set([is_known], [hir.FALSE], line=line),
        If(has_room, [load], [], line=line),
        If(Op("not", (is_known,), "b"), [call, If(has_room, [store], [], line=line)], [], line=line),
    ]
    _replace(function.body, loop, [*before, loop])
    _replace(loop.body, call, new)


def _keep_numbers(
    function: Function, loop: For, found: _Found, names: Names, there: tuple[Var, Var] | None
) -> tuple[Var, Var]:
    """Let a call that gives no lists be made once for each index; iterations may run at once.

    Args:
        there: the table of another call of the same function with the same arguments, and its room.

    Returns:
        the table that it has, and its room.
    """
    call, index, line = found.call, found.index, found.call.line
    targets = [*call.targets]
    nothing = [Const(math.nan, "f") if var.kind == "f" else hir.ZEROS[var.kind] for var in call.targets]
    kept: list[Expr] = [*call.targets]
    floats = [var for var in call.targets if var.kind == "f"]
    if floats:
        unknown: Expr = Op("isnan", (floats[0],), "b")
    else:
        is_known = Var(names.new("is_known"), "b")
        targets.append(is_known)
        nothing.append(hir.FALSE)
        kept.append(hir.TRUE)
        unknown = Op("not", (is_known,), "b")
    layout = tuple(var.kind for var in targets)
    if there is None:
        table, room = Var(names.new("known"), "r"), Var(names.new("room"), "i")
        before: Body = [
            Set([room], [_room(loop, found)], line=loop.line),
            Fill(table, layout, Op("add", (room, _ONE), "i"), tuple(nothing), keeps=True, line=loop.line),
        ]
        _replace(function.body, loop, [*before, loop])
    else:
        table, room = there
    place = Var(names.new("place"), "i")
    store = Store(table, layout, place, tuple(kept), keeps=True, line=line)
    new: Body = [
        Set([place], [Op("select", (_has_room(index, room), index, room), "i")], line=line),
        Load(targets, table, layout, place, line=line),
        If(unknown, [call, If(Op("lt", (place, room), "b"), [store], [], line=line)], [], line=line),
    ]
    _replace(loop.body, call, new)
    return table, room


def forget(function: Function) -> None:
    """Let a function keep nothing of what it computes for an index, as where few iterations of a loop run."""
    tables = {one.target: one for one in hir.walk(function.body) if isinstance(one, Fill) and one.keeps}
    if tables:
        function.body = hir.copied_body(function.body, lambda one: _forgetting(one, tables))
        clean_one(function)


def _forgetting(one: Statement, tables: dict[Var, Fill]) -> Body | None:
    match one:
        case Fill(target=target) if target in tables:
            return []
        case Store(list=Var() as table) if table in tables:
            return []
        case If(then=[Load(list=Var() as table)], orelse=[]) if table in tables:
            return []  # what it sets says already that nothing was found
        case Load(targets=targets, list=Var() as table) if table in tables:
            return [Set(list(targets), list(tables[table].item), line=one.line)]
    return None


def _replace(body: Body, old: Statement, new: Body) -> None:
    """Put statements in the place of one that is somewhere in a body."""
    for inner in [body, *(inner for one in hir.walk(body) for inner in hir.bodies(one))]:
        for at, statement in enumerate(inner):
            if statement is old:
                inner[at : at + 1] = new
                return
