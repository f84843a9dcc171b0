"""What a text computes from data alone, whatever choices there are: the indices of choices that it looks up.

In an iteration of a loop an index may be one number, as the end of an edge is, or one of many, as the
neighbours of a site are: then it is computed in a loop within that one, and what computes it there is taken
out of that, with all that decides whether it is come to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
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
    Loop,
    New,
    Next,
    Primitive,
    Read,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.text_effects import TextEffects, read_by
from gendsl.compiler.passes.axes_variables import exposed, needed_by
from gendsl.compiler.passes.indices import Indices
from gendsl.compiler.passes.loops import Loops
from gendsl.compiler.passes.needed import keep_needed

NOTED = Var("noted", "r")
"""The list that numbers are added to which an index is in an iteration of a loop."""
_OF_DATA = (Set, New, Fill, Length, Load, Store, Append, If, For, Loop, Block, Leave, Next, Call)


class OfData:
    """What is computed from data in a function.

    Attributes:
        given: the variables that are the same whatever choices there are, and lists that nothing changes.
        left_by_loops: the same with those of an iteration of a loop, and those that loops or branches leave.
    """

    def __init__(
        self, function: Function, template: Template, effects: TextEffects, indices: Indices, loops: Loops
    ) -> None:
        self.function, self.template, self.effects = function, template, effects
        self.indices, self.loops = indices, loops
        self.setters: dict[Var, list[Statement]] = {}
        for one in loops.every:
            for target in hir.targets(one):
                self.setters.setdefault(target, []).append(one)
        self.given = given(function, indices, effects, in_loops=False)
        self.left_by_loops = given(function, indices, effects, in_loops=True)
        self._found: dict[tuple[Var, int, Expr], tuple[Body, set[Var]] | None] = {}

    def noting(self, loop: For, axis: int, index: Expr, *, is_many: bool) -> tuple[Body, set[Var]]:
        """What adds the numbers to a list, `NOTED`, that an index is in an iteration of a loop.

        It comes with the variables that it is given from outside.

        Args:
            axis: of which of the indices of a choice it is one.
            is_many: whether it is one of many numbers.
        """
        if is_many:
            found = self.collects(loop, axis, index)
            assert found is not None
            return found
        found = self.computes(loop, index)
        assert found is not None
        body, outside = found
        unset = sorted(variables_of(index) - {loop.var} - outside)
        nothing: list[Expr] = [Const(-1, "i") if var.kind == "i" else hir.ZEROS[var.kind] for var in unset]
        return [Set(list(unset), nothing), *body, _noted(index)], outside

    def collects(self, loop: For, axis: int, index: Expr) -> tuple[Body, set[Var]] | None:
        """What notes the numbers that an index is where choices are read in a loop, if that is data."""
        key = loop.var, axis, index
        if key not in self._found:
            self._found[key] = self._collected(loop, axis, index)
        return self._found[key]

    def _collected(self, loop: For, axis: int, index: Expr) -> tuple[Body, set[Var]] | None:
        sites = {
            id(one): one
            for one in hir.walk(loop.body)
            if isinstance(one, (Visit, Read)) and one.template == self.template and one.indices[axis] == index
        }
        if not self._depends_on(index, sites.values(), loop):
            return None
        found = self._collected_at(loop, index, sites, {})
        if found is not None:
            return found
        tests = {
            id(one)
            for one in hir.walk(loop.body)
            if isinstance(one, If)
            and not variables_of(one.test) <= self.left_by_loops | {loop.var}
            and not any(isinstance(inner, (Leave, Next)) for inner in hir.walk([one]))
        }
        return self._collected_at(loop, index, sites, tests) if tests else None

    def _collected_at(
        self, loop: For, index: Expr, sites: Collection[int], tests: Collection[int]
    ) -> tuple[Body, set[Var]] | None:
        """What notes an index where it is read.

        Args:
            sites: the identities of the statements that read choices there.
            tests: those of branches of which both sides are taken, as what they ask may be no data.
        """
        beside: Body = []

        def noted(one: Statement) -> Body | None:
            match one:
                case Visit() | Read():
                    read = Read(list(one.targets), one.template, one.indices, False)
                    return [_noted(index), read] if id(one) in sites else [read]
                case If() if id(one) in tests:
                    sides = hir.copied_body([*one.then, *one.orelse], noted)
                    beside.extend(hir.walk(sides))
                    return sides
                case Append(list=ref) | Store(list=ref) | Truncate(list=ref):
                    return None if self.loops.is_made_in(ref, loop) else []
                case Return() | Fail() | Primitive():  # none came to these in the current trace
                    return []
            return None

        each = For(loop.var, loop.start, loop.stop, loop.step, hir.copied_body(loop.body, noted), loop.label)
        made = Function("noted", [], ["r"], [New(NOTED, ("i",), []), each, Return([NOTED])])
        keep_needed(made, self.effects)
        body, others = each.body, set(map(id, beside))
        for one in hir.walk(body):
            is_note = isinstance(one, Append) and one.list == NOTED
            if not isinstance(one, _OF_DATA) or (id(one) in others and not is_note):
                return None
            if isinstance(one, Call) and self.effects.of(one.function).changes:
                return None
        live = (exposed(body)[0] - {NOTED, loop.var}) | variables_of(loop.start, loop.stop)
        inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
        if not live.isdisjoint(inside) or not all(self._is_given(var, loop) for var in live):
            return None
        return body, live

    def _depends_on(self, index: Expr, sites: Iterable[Statement], loop: For) -> bool:
        """Whether an index is computed from the variable of a loop, or where it is read is."""
        inside = list(hir.walk(loop.body))
        within = set(map(id, inside))
        around = [outer for one in sites for outer in self.indices.around[id(one)] if id(outer) in within]
        tests = [outer.test for outer in around if isinstance(outer, If)]
        known, size = variables_of(index, *tests), 0
        while loop.var not in known and size < len(known):
            size = len(known)
            for one in inside:
                changed = {one.list} if isinstance(one, (Append, Store)) else set(hir.targets(one))
                if not known.isdisjoint(changed):
                    known |= variables_of(one.start) if isinstance(one, For) else read_by(one)
        return loop.var in known

    def computes(self, loop: For, index: Expr) -> tuple[Body, set[Var]] | None:
        """What computes an index in a loop from data, and the variables that this is given from outside."""
        if any(self.indices.sets[var] != 1 for var in variables_of(index)):
            return None
        inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
        body, live = needed_by(loop.body, variables_of(index))
        for one in hir.walk(body):
            if not isinstance(one, _OF_DATA):
                return None
            if isinstance(one, Call):
                effects = self.effects.of(one.function)
                if not effects.pure or effects.changes:
                    return None
        live = (live - (variables_of(index) & inside)) | variables_of(loop.start, loop.stop)
        outside = live - {loop.var}
        if not outside.isdisjoint(inside) or not all(self._is_given(var, loop) for var in outside):
            return None
        return body, outside

    def _is_given(self, var: Var, loop: For) -> bool:
        """Whether a variable is the same whatever choices there are, and in all runs of a loop."""
        if var in self.given:
            return True
        around = set(map(id, self.indices.around[id(loop)]))
        makers = self.setters.get(var, ())
        loops = {id(x) for one in makers for x in (one, *self.indices.around[id(one)]) if isinstance(x, For)}
        return var in self.left_by_loops and around.isdisjoint(loops)


def given(
    function: Function, indices: Indices, effects: TextEffects, *, in_loops: bool, made: bool = False
) -> set[Var]:
    """The variables that are the same whatever choices there are, and lists that nothing changes.

    Args:
        in_loops: whether those belong to them that are of an iteration of a loop, or are left by loops or
            branches.
        made: whether lists do that are made, and changed, of such variables alone.
    """
    every = list(hir.walk(function.body))
    setters: dict[Var, list[Statement]] = {}
    changes: dict[Expr, list[Statement]] = {}
    for one in every:
        for target in hir.targets(one):
            setters.setdefault(target, []).append(one)
        if isinstance(one, (Append, Store, Truncate)):
            changes.setdefault(one.list, []).append(one)
        elif isinstance(one, Call) and effects.of(one.function).changes:
            if one.function.on_dict[0] != "put":
                return set()
            changes.setdefault(one.args[0], []).append(one)
    held = list(changes)
    for ref in held:  # what holds a list that is changed may give it another name
        for one in setters.get(ref, ()) if isinstance(ref, Var) else ():
            if not isinstance(one, (New, Fill, Load)) and not _makes_dict(one):
                return set()
            if isinstance(one, Load) and one.list not in changes:
                changes[one.list] = [one]
                held.append(one.list)
    if not all(isinstance(ref, Var) for ref in held):
        return set()

    def is_simple(one: Statement, is_one_of_several: bool) -> bool:
        """Whether what a statement sets depends on what it reads, and on the loops around it, alone."""
        if isinstance(one, For):
            return in_loops
        is_pure = isinstance(one, Call) and effects.of(one.function).pure
        if not is_pure and not isinstance(one, (Set, Load, Length, New, Fill)):
            return False
        if is_one_of_several and (not in_loops or any(target.kind == "r" for target in hir.targets(one))):
            return False
        others = (Loop, Block) if in_loops else (If,)
        return not any(isinstance(outer, others) for outer in indices.around[id(one)])

    def is_made(var: Var) -> bool:
        """Whether a list is made here, and by statements of which what they change it by may be told."""
        ways = (*setters.get(var, ()), *changes[var])
        return made and all(
            isinstance(one, (New, Fill, Append, Store, Truncate))
            and not any(isinstance(outer, (Loop, Block)) for outer in indices.around[id(one)])
            for one in ways
        )

    def read(one: Statement) -> set[Var]:
        """What a statement reads, and what the loops and tests around it do."""
        around = indices.around[id(one)] if in_loops else ()
        return read_by(one).union(*map(read_by, around))

    found = {var for var in function.parameters if var not in changes}
    found |= {
        var
        for var, setting in setters.items()
        if (var not in changes or is_made(var)) and all(is_simple(one, len(setting) > 1) for one in setting)
    }
    while True:
        others = {
            var
            for var in found & setters.keys()
            if not all(read(one) <= found for one in (*setters[var], *changes.get(var, ())))
        }
        if not others:
            return found
        found -= others


def _makes_dict(one: Statement) -> bool:
    return isinstance(one, Call) and one.function.on_dict[0] == "new_dict"


def _noted(index: Expr) -> Append:
    return Append(NOTED, ("i",), (index,))
