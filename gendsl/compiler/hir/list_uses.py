"""Which lists of a function have no other name, and who reads them."""

from __future__ import annotations

from collections import Counter, defaultdict

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Expr,
    Fill,
    Function,
    Length,
    Load,
    New,
    Statement,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.rewriting import variables_of


class ListUses:
    """Where the variables of a function are set, and read.

    Attributes:
        sets: how often each is set.
        reads: the statements that read each.
        named: the lists that may have another name.
        lengths: the variables that are lengths of lists.
    """

    def __init__(self, function: Function) -> None:
        self.sets = Counter(function.parameters)
        self.reads: defaultdict[Var, list[Statement]] = defaultdict(list)
        self.named: set[Var] = set(function.parameters)
        self.lengths: set[Var] = set()
        for one in hir.walk(function.body):
            self.sets.update(hir.targets(one))
            own = list_of(one)
            for expr in hir.expressions(one):
                for var in variables_of(expr):
                    if not self.reads[var] or self.reads[var][-1] is not one:
                        self.reads[var].append(one)
            if own is not None and sum(expr is own or expr == own for expr in hir.expressions(one)) == 1:
                others = [expr for expr in hir.expressions(one) if expr != own]
                self.named.update(var for expr in others for var in variables_of(expr) if var.kind == "r")
            else:
                found = [var for expr in hir.expressions(one) for var in variables_of(expr)]
                self.named.update(var for var in found if var.kind == "r")
            if isinstance(one, Length):
                self.lengths.add(one.target)
            if not isinstance(one, (New, Fill)):
                self.named.update(var for var in hir.targets(one) if var.kind == "r")

    def is_steady(self, expr: Expr) -> bool:
        """Whether an expression has one value wherever it is evaluated."""
        return all(self.sets[var] == 1 for var in variables_of(expr))

    def is_alone(self, var: Expr) -> bool:
        """Whether a list has no other name: it is made here, and never handed on."""
        return isinstance(var, Var) and var not in self.named and self.sets[var] == 1

    def is_new(self, body: Body, there: int, var: Expr) -> bool:
        """Whether a list is made in a body, and has no other name up to a statement of it."""
        made = False
        for one in body[: there + 1]:
            if isinstance(one, (New, Fill)) and one.target == var:
                made = True
            elif made and any(self._names(inner, var) for inner in hir.walk([one])):
                return False
        return made and isinstance(var, Var) and self.sets[var] == 1

    @staticmethod
    def _names(statement: Statement, var: Expr) -> bool:
        """Whether a statement does more with a list than to read or change it."""
        found = [expr for expr in hir.expressions(statement) if var in variables_of(expr)]
        return bool(found) and not (len(found) == 1 and found[0] == list_of(statement))


def list_of(statement: Statement) -> Expr | None:
    """The list that a statement reads from, or changes."""
    if isinstance(statement, (Load, Store, Append, Length, Truncate)):
        return statement.list
    return None
