"""Slices of a body: the statements that some variables need, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, If, Set, Statement, Var
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.text_effects import read_by


def come_to(var: Var, body: Body, parts: Mapping[int, Statement]) -> set[tuple[int, Var]]:
    """The statements, and what they set, whose values are those that a variable has at the end of a body.

    Args:
        parts: the statements that count, by their identity.
    """
    found: set[tuple[int, Var]] = set()

    def visit(body: Body, comes_to: Callable[[Var], bool]) -> None:
        for at, one in enumerate(body):
            end = _After(body[at + 1 :], comes_to)
            if isinstance(one, If):
                for inner in hir.bodies(one):
                    visit(inner, end)
            elif id(one) in parts:
                found.update((id(one), own) for own in hir.targets(one) if end(own))

    visit(body, lambda own: own == var)
    return found


class _After:
    """Whether what a variable is before some statements is what comes to the end of what follows."""

    def __init__(self, rest: Body, end: Callable[[Var], bool]) -> None:
        self.rest, self.end = rest, end

    def __call__(self, var: Var) -> bool:
        names = {var}
        for one in self.rest:
            copies = zip(one.targets, one.values, strict=True) if isinstance(one, Set) else ()
            more = {target for target, value in copies if value in names}
            names = names.difference(*(hir.targets(inner) for inner in hir.walk([one]))) | more
        return any(map(self.end, names))


def add_needed(body: Body, needed: set[Var]) -> bool:
    """Add the variables that those are computed by which are needed; whether the body sets any of these."""
    found = False
    for one in body:
        if isinstance(one, If):
            sides = [add_needed(inner, needed) for inner in hir.bodies(one)]
            if any(sides):
                needed |= read_by(one)
                found = True
        elif any(needed & set(hir.targets(inner)) for inner in hir.walk([one])):
            found = True
            if isinstance(one, Set):
                pairs = zip(one.targets, one.values, strict=True)
                needed |= variables_of(*(value for target, value in pairs if target in needed))
            else:
                needed |= read_by(one)
    return found


def keep(one: Set, is_kept: Callable[[Var], bool]) -> None:
    """Let a statement set only some of its variables."""
    pairs = [pair for pair in zip(one.targets, one.values, strict=True) if is_kept(pair[0])]
    one.targets, one.values = [var for var, _ in pairs], [value for _, value in pairs]


def rewritten(body: Body, change: Callable[[Statement], Body | None]) -> Body:
    """Statements with others in place of some; what is inside of them comes first."""
    result: Body = []
    for one in body:
        for name in one.BODIES:
            setattr(one, name, rewritten(getattr(one, name), change))
        made = change(one)
        result += [one] if made is None else made
    return result
