"""Which integers of a function are never negative: an index that is one need not be counted from the end."""

from __future__ import annotations

from collections import defaultdict

from gendsl.compiler import hir
from gendsl.compiler.hir import Const, Expr, For, Function, Length, Op, Set, Var

_ALL_OF = frozenset(["add", "mul", "imin", "floordiv", "mod"])
"""These are not negative where all that they are made of is not. They fail where they overflow."""


class Signs:
    """What is known of the integers of a function.

    A variable is natural where all that it is ever set to is: a length, a number, the variable of a loop that
    counts up from such, and what is made of those.

    Attributes:
        natural: the variables that are never negative.
    """

    def __init__(self, function: Function | None = None) -> None:
        self.natural: set[Var] = set()
        if function is None:
            return
        values = _values(function)
        self.natural = set(values)
        before = None
        while before != self.natural:
            before = self.natural
            self.natural = {var for var in before if all(map(self.is_natural, values[var]))}

    def is_natural(self, expr: Expr) -> bool:
        """Whether an integer is never negative, as far as that can be seen."""
        match expr:
            case Const(value):
                return isinstance(value, int) and value >= 0
            case Var():
                return expr in self.natural
            case Op(name, args) if name in _ALL_OF:
                return all(map(self.is_natural, args))
            case Op("imax", args):
                return any(map(self.is_natural, args))
            case Op("select", (_, one, other)):
                return self.is_natural(one) and self.is_natural(other)
            case Op("int", (truth,)):
                return truth.kind == "b"
            case Op("range_length"):
                return True
        return False


def _values(function: Function) -> dict[Var, list[Expr]]:
    """What the integer variables of a function are set to, of those where all of that is known."""
    found: dict[Var, list[Expr]] = defaultdict(list)
    others = set(function.parameters)
    for one in hir.walk(function.body):
        if isinstance(one, Set):
            for target, value in zip(one.targets, one.values, strict=True):
                found[target].append(value)
        elif isinstance(one, Length):
            found[one.target].append(hir.ZEROS["i"])
        elif isinstance(one, For) and isinstance(one.step, Const) and (one.step.value or 0) > 0:
            found[one.var].append(one.start)
        else:
            others.update(hir.targets(one))
    return {var: values for var, values in found.items() if var.kind == "i" and var not in others}
