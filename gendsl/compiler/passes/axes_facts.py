"""What is known of statements that run in lanes: see `axes`, which finds it."""

from __future__ import annotations

from dataclasses import dataclass, field

from gendsl.compiler.hir import Expr, Function, Op, Statement, Var

UNIFORM, CONSECUTIVE, VARYING = range(3)
Path = tuple[int, ...]
"""The divergent branches and loops around a statement, from the outside."""
WIDE = 3
"""In place of the rank of a list that each lane has, where its items vary; a list varies where lanes read
lists of their own."""


class NotLanesError(Exception):
    """Why iterations are not run at once."""


@dataclass(eq=False, slots=True)
class Lanes:
    """What is known of statements that run in lanes.

    Attributes:
        ranks: of the variables that are not uniform.
        divergent: the identities of branches and loops that lanes go different ways through.
        paths: for each statement, by its identity, its path.
        homes: for each variable the part that is common to the paths of all that sets or reads it.
        results: the ranks of the results, of a function.
        returns_apart: whether some lanes may return before others.
        sums: the variables that iterations add to.
        collected: the lists that each iteration adds an item to, if it comes to that.
        passed_over: those of them that some iterations may not come to, and later ones do.
        stored: the lists of which each iteration reads and replaces its own item.
        exits: the statements, by their identity, that only the first lane that comes to them does: it notes
            that a density is zero, and ends the function where a `Return` is among them.
        resized: whether lists get other lengths that may be read as lists of lanes.
        may_be_short: whether it may run for a few iterations each time, as one inside another loop does.
        apart: for each visit of choices, by its identity, whether they lie anywhere, not one after another.
        called: for each call, by its identity, the lanes of what is called, None for a plain call.
    """

    ranks: dict[Var, int]
    divergent: set[int] = field(default_factory=set)
    paths: dict[int, Path] = field(default_factory=dict)
    homes: dict[Var, Path] = field(default_factory=dict)
    results: list[int] = field(default_factory=list)
    returns_apart: bool = False
    sums: set[Var] = field(default_factory=set)
    collected: set[Var] = field(default_factory=set)
    passed_over: set[Var] = field(default_factory=set)
    stored: set[Var] = field(default_factory=set)
    exits: dict[int, list[Statement]] = field(default_factory=dict)
    resized: bool = False
    may_be_short: bool = False
    apart: dict[int, bool] = field(default_factory=dict)
    called: dict[int, tuple[Function, tuple[int, ...], Lanes] | None] = field(default_factory=dict)

    def rank(self, expr: Expr) -> int:
        """What an expression is over the lanes."""
        if isinstance(expr, Var):
            return self.ranks.get(expr, UNIFORM)
        if not isinstance(expr, Op):
            return UNIFORM
        ranks = [self.rank(arg) for arg in expr.args]
        if not any(ranks):
            return UNIFORM
        if expr.kind == "i" and (
            (expr.name == "add" and sorted(ranks) == [UNIFORM, CONSECUTIVE])
            or (expr.name == "sub" and ranks == [CONSECUTIVE, UNIFORM])
        ):
            return CONSECUTIVE
        return VARYING

    def is_affine(self, expr: Expr) -> bool:
        """Whether an integer grows by the same from each lane to the next."""
        rank = self.rank(expr)
        if rank in (UNIFORM, CONSECUTIVE) or not isinstance(expr, Op) or expr.kind != "i":
            return rank in (UNIFORM, CONSECUTIVE)
        if expr.name == "mul":
            return UNIFORM in map(self.rank, expr.args) and all(map(self.is_affine, expr.args))
        return expr.name in ("add", "sub") and all(map(self.is_affine, expr.args))


def common_path(paths: list[Path]) -> Path:
    """The part that paths begin with, all of them."""
    found = paths[0]
    for path in paths[1:]:
        size = 0
        while size < min(len(found), len(path)) and found[size] == path[size]:
            size += 1
        found = found[:size]
    return found
