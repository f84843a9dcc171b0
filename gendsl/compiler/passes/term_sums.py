"""The variables of a log density that do nothing but to add up terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gendsl.compiler import hir
from gendsl.compiler.hir import IMPOSSIBLE, Const, Expr, Function, Op, Return, Set, Statement, Var
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.text_effects import read_by


def leaves_of(expr: Expr) -> list[Expr]:
    """What is added up in an expression."""
    if isinstance(expr, Op) and expr.name == "add" and expr.kind == "f":
        return [leaf for arg in expr.args for leaf in leaves_of(arg)]
    return [expr]


def added_to(leaves: list[Expr]) -> Expr:
    """The sum of some terms."""
    found: Expr = leaves[0] if leaves else Const(0.0, "f")
    for leaf in leaves[1:]:
        found = Op("add", (found, leaf), "f")
    return found


def sums_of(function: Function) -> set[Var] | None:
    """The variables that are added to what a function returns first, and with which nothing else is done.

    Returns:
        None: it returns something else than sums of them, or that a density is zero.
    """
    every = list(hir.walk(function.body))
    if not every or not isinstance(function.body[-1], Return):
        return None
    sums = {var for one in every for var in hir.targets(one) if var.kind == "f"} - set(function.parameters)
    while True:
        wrong = _no_sums(every, sums)
        if wrong.isdisjoint(sums):
            break
        sums -= wrong
    returned = [one.values for one in every if isinstance(one, Return) and one.values != [IMPOSSIBLE]]
    if not all(
        leaf in sums or isinstance(leaf, Const) for value, *_ in returned for leaf in leaves_of(value)
    ):
        return None
    return sums


def _no_sums(every: list[Statement], sums: set[Var]) -> set[Var]:
    """The variables with which something else is done, or that nothing is done with."""
    wrong = set[Var]()
    added = Counter[Var]()
    returned = set[Var]()
    for one in every:
        if isinstance(one, Return):
            for leaf in leaves_of(one.values[0]):
                if isinstance(leaf, Var):
                    returned.add(leaf)
                else:
                    wrong |= variables_of(leaf)
        elif isinstance(one, Set):
            for target, value in zip(one.targets, one.values, strict=True):
                leaves = leaves_of(value)
                for leaf in leaves:
                    if not isinstance(leaf, Var) or target not in sums:
                        wrong |= variables_of(leaf)
                    elif leaf != target:
                        added[leaf] += 1
                    elif leaves.count(leaf) > 1:
                        wrong.add(leaf)
        else:
            wrong |= read_by(one) | set(hir.targets(one))
    uses = added + Counter(returned)
    return wrong | {var for var in sums if uses[var] != 1}


def begun_in(statements: Iterable[Statement]) -> set[Var]:
    """The variables that statements set to anything but their own value with something added."""
    return {
        target
        for one in statements
        if isinstance(one, Set)
        for target, value in zip(one.targets, one.values, strict=True)
        if target not in leaves_of(value)
    }
