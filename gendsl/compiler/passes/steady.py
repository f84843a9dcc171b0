"""Which variables of a body have one value each time that it runs, and which statements can be done once.

A list that is read must not change. As it is not known which references may be to one list, a change of a
list that the body has not made itself counts as one of all lists with such items. A list that is made once
instead of each time must be one that nothing may change or keep: it is only read then, by the body itself or
by functions that change nothing and return no lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Call,
    Expr,
    For,
    Function,
    Given,
    Input,
    Length,
    Load,
    Loop,
    Read,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.rewriting import may_fail, variables_of
from gendsl.compiler.hir.text_effects import (
    PURE,
    Layouts,
    TextEffects,
    changed_by,
    left_by,
    may_leave,
    meet,
    read_by,
)


@dataclass(slots=True)
class _Use:
    """Where a variable is set and read in what is taken apart.

    Attributes:
        setters: the statements that set it, or change the list that it is, with their places.
        set_at: the places where it is set.
        readers: those that read it, or the list.
    """

    setters: list[tuple[int, Statement]] = field(default_factory=list)
    set_at: list[int] = field(default_factory=list)
    readers: list[tuple[int, Statement]] = field(default_factory=list)


class Steady:
    """What is the same each time that a body runs.

    Attributes:
        effects: what functions do.
        given: the variables that are the same each time from the start.
        known: all that are.
        changed: the lists that may change meanwhile.
        others: the variables that other statements set or read, too.
        wanted: of the body of a function, for each result whether it may be what is done once.
        nest: the loops around, of which what is done once is kept in lists, and how often each runs.
        always: whether all of the body is sure to be come to, sooner or later, but for steps that it picks.
        constants: the variables that are known, and depend on nothing but numbers in the text.
    """

    def __init__(
        self,
        effects: TextEffects,
        body: Body,
        given: set[Var],
        changed: Layouts,
        others: set[Var],
        wanted: Sequence[bool] | None = None,
        *,
        always: bool = False,
    ) -> None:
        self.always = always
        self.constants: set[Var] = set()
        self.effects, self.given, self.known, self.changed = effects, given, set(given), changed
        self.others, self.wanted = others, wanted
        self.nest: list[tuple[For, Expr]] = []
        self.uses: dict[Var, _Use] = {}
        for at, statement in enumerate(hir.walk(body)):  # the place of each
            changed_list = changed_by(statement)
            for var in hir.targets(statement):
                use = self.uses.setdefault(var, _Use())
                use.setters.append((at, statement))
                use.set_at.append(at)
            for var in read_by(statement):
                use = self.uses.setdefault(var, _Use())
                use.readers.append((at, statement))
                if var == changed_list:
                    use.setters.append((at, statement))
        self.made = effects.made_by(body) - others
        self.returns = [s for s in hir.walk(body) if isinstance(s, Return)]
        self.last = body[-1] if body else None

    def _is_movable(self, statement: Statement, sure: bool) -> bool:
        """Whether a statement does nothing that must be done each time, or is a visit of what is the same."""
        every = list(hir.walk([statement]))
        if isinstance(statement, (Visit, Given)):
            return sure and self.effects.stays(statement)
        if any(isinstance(one, Return) for one in every):
            return False
        if not all(isinstance(one, PURE) or self._is_read(one) for one in every):
            return False
        left, _ = left_by(every)
        if left:
            return False
        effects = self.effects.all_of([statement], self.made)
        if not effects.pure or effects.changes or meet(effects.reads, self.changed):
            return False
        if isinstance(statement, Call) and statement.function.repeats:
            return not any(map(may_fail, statement.args))
        return sure or not (effects.fails or any(isinstance(one, (For, Loop)) for one in every))

    def _is_read(self, statement: Statement) -> bool:
        """Whether a statement does nothing but look up a choice that stays as it is."""
        return isinstance(statement, Read) and self.effects.stays(statement)

    def is_looked_up(self, statement: Statement) -> bool:
        """Whether a statement looks up what is the same where it may be looked up each time, too."""
        if self.effects.run is None:
            return False
        if isinstance(statement, Load):
            return "r" in statement.layout
        return isinstance(statement, (Visit, Given))

    def _stays(self, statement: Statement) -> bool:
        """Whether a list that is looked up, each time, too, is one that nothing changes.

        That is a choice, or an item of a list from outside; of another, only where no such items are changed.
        """
        run = self.effects.run
        if run is None or not self.is_looked_up(statement):
            return False
        return not isinstance(statement, Load) or not run.changes_items or self._is_outside(statement.list)

    def _is_outside(self, ref: Expr, within: frozenset[Expr] = frozenset()) -> bool:
        """Whether a list is from outside, or a choice, or an item of such a list."""
        if not isinstance(ref, Var) or ref in within:
            return isinstance(ref, (Var, Input))
        setters = [one for _, one in self.uses[ref].setters] if ref in self.uses else []
        return bool(setters) and all(
            isinstance(one, (Visit, Read))
            or (isinstance(one, Load) and self._is_outside(one.list, within | {ref}))
            for one in setters
        )

    def goes_on(self, statement: Statement) -> bool:
        """Whether it is sure that what follows a statement is come to, as the statement is."""
        return self.always or not may_leave(statement)

    def picks(self, statement: Statement) -> bool:
        """Whether a statement of a step picks one of several other steps, of which some may never be made."""
        run, calls = self.effects.run, (one for one in hir.walk([statement]) if isinstance(one, Call))
        return run is not None and any(id(one.function) in run.steps for one in calls)

    def fixed(self, body: Body, sure: bool) -> list[Statement]:
        """The statements of a body that are the same each time."""
        found: list[Statement] = []
        for statement in body:
            if self._is_movable(statement, sure):
                found.append(statement)
            sure = sure and self.goes_on(statement)
        while found:
            moved = {id(one) for statement in found for one in hir.walk([statement])}
            kept = [one for one in found if self._is_fixed(one, moved)]
            if len(kept) == len(found):
                break
            found = kept
        return found

    def _is_fixed(self, statement: Statement, moved: set[int]) -> bool:
        for one in hir.walk([statement]):
            changed = changed_by(one)
            if not all(map(self._is_from_same, hir.expressions(one))):
                return False
            for var in read_by(one):
                if var not in self.known and not self._is_own(var, moved):
                    return False
            for var in hir.targets(one):
                if not self._is_own(var, moved, stays=self._stays(statement)):
                    return False
            if changed is not None and not self._is_own(changed, moved):
                return False
        return True

    def _is_from_same(self, expr: Expr) -> bool:
        """Whether what an expression takes from outside is the same each time."""
        return self.effects.run is None or self.effects.run.is_same(expr)

    def _is_own(self, var: Var, moved: set[int], *, stays: bool = False) -> bool:
        """Whether a variable is all the same where some statements are done once.

        What is looked up each time, too, may be done anything with if it stays as it is.
        """
        use = self.uses.get(var)
        if var in self.others or use is None or not use.set_at:
            return False
        if not all(id(one) in moved for _, one in use.setters):
            return False
        first, last = use.set_at[0], use.setters[-1][0]
        changes = len(use.setters) > len(use.set_at)
        for at, one in use.readers:
            if at <= first:
                return False
            if id(one) in moved:
                if changes and at < last and not self._only_reads(one, var):
                    return False
            elif at <= last or (var.kind == "r" and not stays and not self.may_read(one, var)):
                return False
        return True

    def _only_reads(self, statement: Statement, var: Var) -> bool:
        """Whether a statement reads or changes a list, and keeps no reference to it."""
        match statement:
            case Load(list=ref) | Length(list=ref):
                return ref == var
            case Store(list=ref) | Append(list=ref) | Truncate(list=ref):
                return ref == var and not _keeps(statement, var)
            case Call(function=function):
                return self._is_reader(function)
        return False

    def _is_reader(self, function: Function) -> bool:
        """Whether a function neither changes the lists that it is given nor keeps references to them."""
        if self.effects.of(function).changes:
            return False
        given_back = (
            kind == "r" and not made
            for kind, made in zip(function.results, self.effects.makes(function), strict=True)
        )
        return not any(given_back) and ("r" not in function.results or not self.effects.nests_lists(function))

    def may_read(self, statement: Statement, var: Var) -> bool:
        """Whether a statement that is done each time may read a list that is made once."""
        match statement:
            case Load(layout=layout):
                return not self.nest and "r" not in layout
            case Length():
                return not self.nest
            case Call(function=function):
                return not self.nest and self._is_reader(function)
            case Return(values=values):
                return not self.nest and self._is_same_result(statement, values, var)
        return False

    def _is_same_result(self, statement: Statement, values: list[Expr], var: Var) -> bool:
        """Whether a function returns a list only where that is wanted from what is done once."""
        if not self.wanted or len(self.returns) != 1 or statement is not self.last:
            return False
        return all(value != var or wanted for value, wanted in zip(values, self.wanted, strict=True))

    def is_known(self, expr: Expr) -> bool:
        """Whether an expression is the same each time."""
        return variables_of(expr) <= self.known and self._is_from_same(expr)

    def is_constant(self, expr: Expr) -> bool:
        """Whether an expression depends on nothing but numbers in the text."""
        if any(isinstance(part, Input) for part in hir.parts(expr)):
            return False
        return variables_of(expr) <= self.constants

    def is_of_constants(self, statement: Statement) -> bool:
        """Whether a statement of a run gives numbers that depend on nothing but numbers in the text."""
        if self.effects.run is None or not all(map(self.is_constant, hir.expressions(statement))):
            return False
        if isinstance(statement, Call):
            if self.effects.looks_outside(statement.function) or self.effects.has_loops(statement.function):
                return False
            return "r" not in statement.function.results
        return isinstance(statement, Set) and all(var.kind != "r" for var in statement.targets)

    def is_read_outside(self, var: Var, within: set[int]) -> bool:
        """Whether a variable is read by a statement that is none of some, given by identity."""
        return any(id(one) not in within for _, one in self.uses[var].readers)


def _keeps(statement: Statement, var: Var) -> bool:
    """Whether a statement that changes a list puts the list into itself."""
    item = statement.item if isinstance(statement, (Store, Append)) else ()
    return any(var in variables_of(expr) for expr in item)
