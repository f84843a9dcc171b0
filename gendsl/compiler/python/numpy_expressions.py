"""Expressions of what varies over the iterations of a loop, as NumPy: see `numpy_loops`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from gendsl.compiler import hir
from gendsl.compiler.hir import Const, Expr, For, If, Op, Set, Statement, Var
from gendsl.compiler.passes.axes_facts import UNIFORM, VARYING, Lanes, Path
from gendsl.compiler.python.numpy_runtime import LANES
from gendsl.compiler.python.print_python import PythonPrinter

_SIGNS = {
    "add": ("+", 11), "sub": ("-", 11), "mul": ("*", 12), "lt": ("<", 6), "le": ("<=", 6), "gt": (">", 6),
    "ge": (">=", 6), "eq": ("==", 6), "ne": ("!=", 6), "and": ("&", 9), "or": ("|", 7),
}  # fmt: skip
_NARROW, WIDEST_VARIABLE, _WIDEST = 31, 40, 62
"""How many bits integers have that come from lists and choices, at most those of a variable, and any."""


class NotArraysError(Exception):
    """Why a loop is not printed as NumPy."""


@dataclass(eq=False)
class Level:
    """Where some iterations are: those that took a side of a branch.

    Attributes:
        path: the branches around, as `axes` has them.
        at: the name of which they are.
        count: the name of how many they are.
        names: the variables that vary, by the names that have their values here.
        changed: those of them that are of an outer level.
    """

    path: Path
    at: str
    count: str
    names: dict[Var, str] = field(default_factory=dict)
    changed: dict[Var, None] = field(default_factory=dict)


class NumPyExpressions(PythonPrinter, ABC):
    """Prints expressions, each for those iterations that come to it.

    Attributes:
        fresh: makes names that nothing has.
        ranks: what the variables are over the iterations.
        homes: the branches around all that reads or sets a variable.
        levels: where the iterations are, the innermost branch last.
        whole: the loop whose iterations these are; None in a function that it calls.
        needs_index: whether the loop's variable is needed as an array.
    """

    def __init__(self, fresh: Callable[[str], str], lanes: Lanes) -> None:
        super().__init__({})
        self.fresh = fresh
        self.ranks, self.homes = dict(lanes.ranks), dict(lanes.homes)
        self.levels: list[Level] = []
        self.whole: For | None = None
        self.made: list[Statement] = []
        self.needs_index = False

    @abstractmethod
    def branch(self, branch: If) -> None:
        """Print both sides of a branch, each for the iterations that take it."""

    # --- variables --------------------------------------------------------------------------------

    @property
    def level(self) -> Level:
        return self.levels[-1]

    def rank(self, expr: Expr) -> int:
        """What an expression is over the iterations."""
        if isinstance(expr, Var):
            return self.ranks.get(expr, UNIFORM)
        if not isinstance(expr, Op):
            return UNIFORM
        return VARYING if any(map(self.rank, expr.args)) else UNIFORM

    def name(self, var: Var) -> str:
        """The name that has a variable's value here."""
        if not self.ranks.get(var, UNIFORM):
            return var.name
        if self.whole is not None and var == self.whole.var:
            self.needs_index = True
        found = self.level.names.get(var)
        if found is None:
            raise NotArraysError(f"{var.name} may not be set")
        return found

    def target(self, var: Var) -> str:
        """The name to set a variable by."""
        if not self.ranks.get(var, UNIFORM):
            return var.name
        level = self.level
        if self.homes.get(var, ())[: len(level.path)] == level.path:
            level.names[var] = var.name
        else:
            if var not in level.changed and level.names.get(var) is None:
                level.names[var] = self.fresh(var.name)
            level.changed[var] = None
        return level.names[var]

    # --- expressions ------------------------------------------------------------------------------

    def bits(self, expr: Expr) -> int:
        """How many bits an integer has at most."""
        if isinstance(expr, Const):
            return int(expr.value).bit_length()  # type: ignore[arg-type]
        if isinstance(expr, Var):
            return WIDEST_VARIABLE if self.ranks.get(expr, UNIFORM) else 64
        if not isinstance(expr, Op) or self.rank(expr) == UNIFORM:
            return 64
        match expr.name:
            case "add" | "sub":
                return 1 + max(min(self.bits(arg), _WIDEST - 1) for arg in expr.args)
            case "mul":
                found = list(map(self.bits, expr.args))
                return sum(found) if sum(found) <= _WIDEST else 2 * _NARROW
            case "select":
                return max(map(self.bits, expr.args[1:]))
            case "imin" | "imax" | "neg" | "abs" | "mod" | "floordiv":
                return 1 + max(map(self.bits, expr.args))
        return _NARROW

    def small(self, expr: Expr, most: int, outer: int) -> str:
        """An integer of few enough bits."""
        if self.bits(expr) <= most:
            return self.expr(expr, outer)
        return f"lanes.narrow({self.expr(expr)})"

    def expr(self, expr: Expr, outer: int = 0) -> str:
        if isinstance(expr, Var):
            return self.name(expr)
        if not isinstance(expr, Op) or self.rank(expr) == UNIFORM:
            return super().expr(expr, outer)
        name, args = expr.name, expr.args
        if any(arg.kind == "r" for arg in args):
            raise NotArraysError("lists are compared or chosen")
        if name in ("and", "or", "select"):
            return self._lazy(expr, outer)
        if name == "neg" or name in ("add", "sub", "mul"):
            if expr.kind == "i":
                most = _WIDEST - 1
                if name == "mul" and sum(map(self.bits, args)) > _WIDEST:
                    most = _NARROW
                shown: Callable[[Expr, int], str] = lambda arg, level: self.small(arg, most, level)  # noqa: E731
            else:
                shown = self.expr
            if name == "neg":
                text = f"-{shown(args[0], 13)}"
                return f"({text})" if outer > 11 else text
            return self._infix(
                name, [shown(args[0], _SIGNS[name][1]), shown(args[1], _SIGNS[name][1] + 1)], outer
            )
        if name in _SIGNS:
            return self._infix(name, [self.expr(arg, 7) for arg in args], outer)
        if name in ("truediv", "np_div") and isinstance(args[1], Const) and args[1].value:
            text = f"{self.expr(args[0], 12)} / {self.expr(args[1], 13)}"
            return f"({text})" if outer > 12 else text
        return self._operation(name, expr)

    def _infix(self, name: str, shown: list[str], outer: int) -> str:
        sign, level = _SIGNS[name]
        text = f"{shown[0]} {sign} {shown[1]}"
        return f"({text})" if level < outer else text

    def _operation(self, name: str, expr: Op) -> str:
        args = expr.args
        given = ", ".join(map(self.expr, args))
        if name == "not":
            return f"lanes.invert({given})"
        if name in ("float", "detached"):
            return given if args[0].kind == "f" and "," not in given else f"lanes.as_float({given})"
        if name == "bool":
            return f"({given} != 0)"
        if name == "int" and args[0].kind == "b":
            return f"lanes.as_integer({given})"
        if name == "abs":
            return f"abs({given})"
        name = {"truediv": "divide", "pow": "power"}.get(name, name)
        if name in ("mod", "floordiv", "imin", "imax") and any(arg.kind != "i" for arg in args):
            scalar = {"mod": "lambda x, y: x % y", "floordiv": "lambda x, y: x // y"}.get(name)
            if scalar is None:
                raise NotArraysError(f"the {name} of floats")
            return f"lanes.each({scalar}, {expr.kind!r}, {given})"
        if name in LANES:
            return f"lanes.{name}({given})"
        variables = [Var(letter, arg.kind) for letter, arg in zip("xyzuvw", args, strict=False)]
        plain = PythonPrinter({}).expr(Op(expr.name, tuple(variables), expr.kind))
        return (
            f"lanes.each(lambda {', '.join(var.name for var in variables)}: {plain}, {expr.kind!r}, {given})"
        )

    def _lazy(self, expr: Op, outer: int) -> str:
        """What evaluates only one of its parts."""
        test, *rest = expr.args
        if not self.rank(test):  # then Python does
            first = super().expr(test, 5)
            if expr.name == "select":
                text = f"{self.expr(rest[0], 3)} if {first} else {self.expr(rest[1], 2)}"
                return f"({text})" if outer > 1 else text
            return f"({first} {expr.name} {self.expr(rest[0], 5)})"
        if not any(map(may_raise, rest)):
            if expr.name == "select":
                return f"lanes.choose({', '.join(map(self.expr, expr.args))})"
            level = _SIGNS[expr.name][1]
            return self._infix(expr.name, [self.expr(test, level), self.expr(rest[0], level + 1)], outer)
        made = Var(self.fresh("chosen"), expr.kind)
        sides = {
            "select": rest, "and": [rest[0], hir.FALSE], "or": [hir.TRUE, rest[0]],
        }[expr.name]  # fmt: skip
        branch = If(test, [Set([made], [sides[0]])], [Set([made], [sides[1]])])
        self.made.append(branch)  # whose id is in use as long as this is
        self.ranks[made], self.homes[made] = VARYING, self.level.path
        self.branch(branch)
        return self.name(made)


def may_raise(expr: Expr) -> bool:
    """Whether the evaluation of an expression may raise; that integers are large is found in any case."""
    if not isinstance(expr, Op):
        return False
    if any(map(may_raise, expr.args)):
        return True
    if expr.name in ("truediv", "floordiv", "mod") and isinstance(expr.args[1], Const):
        return not expr.args[1].value
    return not expr.name.startswith("np_") and expr.name not in hir.NEVER_FAIL
