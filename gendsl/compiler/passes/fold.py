"""What is known when the text is made is not computed by it: constants, and what a loop's counter is.

    for i in range(n):                                       for i in range(n):
        at = 0 + i * 1                                           x = xs[i]
        if at < 0: fail()                            ->
        x = xs[at + n if at < 0 else at]

Nothing that may raise is dropped, but a test that was made before, of variables that are set once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    FALSE,
    TRUE,
    Body,
    Const,
    Expr,
    Fail,
    For,
    Function,
    If,
    Input,
    Op,
    Set,
    Var,
)
from gendsl.compiler.hir.rewriting import cost_of, may_fail, may_raise, rewrite, variables_of

_SAME = {"eq": TRUE, "le": TRUE, "ge": TRUE, "ne": FALSE, "lt": FALSE, "gt": FALSE}
"""What comparisons of an integer with itself give."""
_ZERO, _ONE = Const(0, "i"), Const(1, "i")


def fold(function: Function, counts: Mapping[Var, int]) -> bool:
    """Fold what is known in a function; whether anything is.

    Args:
        counts: how often each of its variables is set.
    """
    values: dict[Var, Expr] = {}
    for statement in hir.walk(function.body):
        if isinstance(statement, Set):
            for target, value in zip(statement.targets, statement.values, strict=True):
                if counts[target] == 1:
                    values[target] = value
    folding = _Fold(counts, values)
    folding.body(function.body, {}, frozenset())
    return folding.changed


def always_equal(sets: Mapping[Var, Sequence[Expr]], counts: Mapping[Var, int]) -> dict[Var, Expr]:
    """The integers that are set several times, and each time to one number: the shape of an array in a loop.

        n = m
        for i in range(k):
            n = m if n == 1 else n

    They are taken to be what they are first set to; those for which that does not follow are given up.

    Args:
        sets: what each variable is set to, where that is an expression.
        counts: how often each is set.
    """
    values = {var: exprs[0] for var, exprs in sets.items() if counts[var] == len(exprs) == 1}
    folding = _Fold(counts, values)
    found: dict[Var, Expr] = {}
    for var, exprs in sets.items():
        if var.kind == "i" and counts[var] == len(exprs) > 1:
            known = next((expr for expr in exprs if folding.is_atom(expr)), None)
            if known is not None:
                found[var] = folding.known(known, {})
    while found:
        equal = dict(found)  # and what follows for others, once it is asked for
        wrong = [var for var in found if any(folding.known(x, equal) != found[var] for x in sets[var])]
        if not wrong:
            break
        for var in wrong:
            del found[var]
    return found


class _Fold:
    """Folds one function.

    Attributes:
        counts: how often each variable is set.
        values: what those that are set once are set to, where that is an expression.
        changed: whether anything was folded.
    """

    def __init__(self, counts: Mapping[Var, int], values: Mapping[Var, Expr]) -> None:
        self.counts, self.values, self.changed = counts, values, False

    def is_atom(self, expr: Expr) -> bool:
        """Whether an expression is a constant, or a variable that is set once."""
        return isinstance(expr, (Const, Input)) or (isinstance(expr, Var) and self.counts[expr] == 1)

    def known(self, expr: Expr, equal: dict[Var, Expr]) -> Expr:
        """What an integer is, given what variables are equal to: a constant or a variable, if known."""
        if isinstance(expr, Var):
            if expr not in equal:
                value = self.values.get(expr)
                found = expr if value is None or expr.kind == "f" else self.known(value, equal)
                equal[expr] = found if self.is_atom(found) else expr
            return equal[expr]
        if not isinstance(expr, Op):
            return expr
        return self._folded(Op(expr.name, tuple(self.known(arg, equal) for arg in expr.args), expr.kind), {})

    def body(self, body: Body, counters: dict[Var, For], failed: frozenset[str]) -> None:
        """Fold statements, in place.

        Args:
            counters: the variables of the loops around that count up from 0 or more.
            failed: what is known not to hold, as the text would have failed.
        """
        result: Body = []
        for statement in body:
            rewrite(statement, lambda expr: self.expr(expr, counters))
            if isinstance(statement, If):
                # as text, where 0.0 and -0.0 differ
                fails = len(statement.then) == 1 and isinstance(statement.then[0], Fail)
                test = repr(statement.test) if fails or failed else ""
                if test in failed:
                    statement.test = FALSE
                if isinstance(statement.test, Const):
                    chosen = statement.then if statement.test.value else statement.orelse
                    self.body(chosen, counters, failed)
                    result += chosen
                    self.changed = True
                    continue
                chosen_value = _choice_of(statement)
                if chosen_value is not None:
                    result.append(chosen_value)
                    self.changed = True
                    continue
                self.body(statement.then, counters, failed)
                self.body(statement.orelse, counters, failed)
                if fails and not statement.orelse and self._is_steady(statement.test):
                    failed |= {test}
            elif isinstance(statement, For):
                self._shorten(statement)
                inner = counters
                if (
                    self.counts[statement.var] == 1
                    and statement.step == _ONE
                    and _is_natural(statement.start)
                ):
                    inner = {**counters, statement.var: statement}
                self.body(statement.body, inner, failed)
            else:
                for within in hir.bodies(statement):
                    self.body(within, counters, failed)
            result.append(statement)
        body[:] = result

    def _shorten(self, loop: For) -> None:
        """Let a loop from 0 to max(n, 0) go to n."""
        stop = self.values.get(loop.stop, loop.stop) if isinstance(loop.stop, Var) else loop.stop
        if isinstance(stop, Op) and stop.name == "imax" and loop.start == _ZERO and loop.step == _ONE:
            bound, least = stop.args
            if least == _ZERO and self._is_steady(bound):
                loop.stop, self.changed = bound, True

    def _is_steady(self, expr: Expr) -> bool:
        """Whether an expression has one value wherever it is evaluated."""
        return all(self.counts[var] == 1 for var in variables_of(expr))

    def expr(self, expr: Expr, counters: dict[Var, For]) -> Expr:
        """An expression that means the same."""
        if not isinstance(expr, Op):
            return expr
        args = tuple(self.expr(arg, counters) for arg in expr.args)
        if any(one is not other for one, other in zip(args, expr.args, strict=True)):
            expr = Op(expr.name, args, expr.kind)
        found = self._folded(expr, counters)
        self.changed = self.changed or found is not expr
        return found

    def _folded(self, expr: Op, counters: dict[Var, For]) -> Expr:
        name, args = expr.name, expr.args
        match name:
            case "add" if expr.kind == "i" and _ZERO in args:
                return args[0] if args[1] == _ZERO else args[1]
            case "sub" if expr.kind == "i" and args[1] == _ZERO:
                return args[0]
            case "mul" if expr.kind == "i" and _ONE in args:
                return args[0] if args[1] == _ONE else args[1]
            case "mul" if expr.kind == "i" and _ZERO in args and not any(map(may_raise, args)):
                return _ZERO
            case "mul" if expr.kind == "i":
                return self._moved(expr, counters)
            case "imin" | "imax" if args[0] == args[1] and not may_raise(args[0]):
                return args[0]
            case "not" if isinstance(args[0], Const):
                return FALSE if args[0].value else TRUE
            case "and" | "or":
                return self._lazy(expr)
            case "select":
                if isinstance(args[0], Const):
                    chosen, other = (args[1], args[2]) if args[0].value else (args[2], args[1])
                    return expr if may_raise(other) else chosen
                if repr(args[1]) == repr(args[2]) and not may_raise(args[0]):
                    return args[1]
            case "eq" | "ne" | "lt" | "le" | "gt" | "ge" if all(isinstance(arg, Const) for arg in args):
                return _decided(expr)
            case "eq" | "ne" | "lt" | "le" | "gt" | "ge" if args[0].kind == "i":
                return self._compared(expr, counters)
        return expr

    @staticmethod
    def _lazy(expr: Op) -> Expr:
        """What `and` and `or` are where an operand is known."""
        decides = FALSE if expr.name == "and" else TRUE
        for one, other in (expr.args, expr.args[::-1]):
            if isinstance(one, Const):
                if one != decides:
                    return other
                if not may_raise(other):
                    return decides
        return expr

    def _compared(self, expr: Op, counters: dict[Var, For]) -> Expr:
        one, other = expr.args
        if one == other and not may_raise(one):
            return _SAME[expr.name]
        loop = counters.get(one) if isinstance(one, Var) else None
        if loop is not None and expr.name in ("lt", "ge"):
            if isinstance(other, Const) and isinstance(other.value, int) and other.value <= 0:
                return FALSE if expr.name == "lt" else TRUE
            if other == loop.stop and self._is_steady(other):
                return TRUE if expr.name == "lt" else FALSE
        return expr

    def _moved(self, expr: Op, counters: dict[Var, For]) -> Expr:
        """How far an index goes with a stride that is 0 where an axis has but one index: that is 0 then."""
        index, stride = expr.args
        value = self.values.get(stride, stride) if isinstance(stride, Var) else stride
        loop = counters.get(index) if isinstance(index, Var) else None
        if loop is None or loop.start != _ZERO or not isinstance(value, Op) or value.name != "select":
            return expr
        test, none, step = value.args
        if none != _ZERO or test != Op("eq", (loop.stop, _ONE), "b") or not self._is_steady(value):
            return expr
        return index if step == _ONE else Op("mul", (index, step), "i")


def _decided(expr: Op) -> Expr:
    """What a comparison of two numbers that are known comes to."""
    x, y = (arg.value for arg in expr.args if isinstance(arg, Const))
    if x is None or y is None:
        return expr
    found = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    return TRUE if found[expr.name] else FALSE


def _choice_of(statement: If) -> Set | None:
    """A branch that gives one variable one value or another, neither of which costs anything, as that."""
    arms = statement.then, statement.orelse
    if any(len(arm) != 1 or not isinstance(arm[0], Set) or len(arm[0].targets) != 1 for arm in arms):
        return None
    one, other = arms[0][0], arms[1][0]
    assert isinstance(one, Set) and isinstance(other, Set)
    (target,), values = one.targets, (one.values[0], other.values[0])
    if other.targets != [target] or target.kind == "r" or may_fail(statement.test):
        return None
    if any(may_fail(value) or cost_of(value) for value in values):
        return None
    chosen = Op("select", (statement.test, *values), target.kind)
    return Set([target], [chosen], line=one.line or other.line or statement.line)


def _is_natural(expr: Expr) -> bool:
    return isinstance(expr, Const) and isinstance(expr.value, int) and expr.value >= 0
