"""What is asked of expressions of HIR, as what they cost, and how those of statements become others."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gendsl.compiler import hir
from gendsl.compiler.hir import Expr, Op, Statement, Var

_CHEAP = frozenset([
    "add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "select", "float",
    "int", "bool", "abs", "imin", "imax", "copysign", "isnan", "isinf", "isfinite", "same", "detached",
    "bitand", "bitor", "bitxor", "lshift", "rshift", "mix", "bits", "np_copysign", "np_maximum", "np_minimum",
    "range_length",
])  # fmt: skip
_DIVISIONS = frozenset(["truediv", "np_div", "floordiv", "mod", "sqrt", "np_sqrt"])
WORTH = 3
"""What an expression costs at least that is worth to be kept: as much as a division."""
LOOP = 10
"""What a loop, a list and a function of a library count as; what a processor does at once counts nothing."""


def may_fail(expr: Expr) -> bool:
    """Whether the evaluation of an expression may fail."""
    if not isinstance(expr, Op):
        return False
    if any(map(may_fail, expr.args)):
        return True
    if expr.name.startswith("np_"):
        return False
    if expr.kind == "i" and expr.name in ("add", "sub", "mul", "neg", "abs"):
        return True
    return expr.name not in hir.NEVER_FAIL


_QUIET = {
    "truediv": "np_div", "sqrt": "np_sqrt", "exp": "np_exp", "log": "np_log", "log1p": "np_log1p",
    "expm1": "np_expm1", "lgamma": "np_lgamma",
}  # fmt: skip
"""What gives infinity or NaN where an operation fails, and the same number elsewhere."""
_STAYS_INFINITE = frozenset(["add", "sub", "mul", "neg", "abs"])
"""Operations that give no finite number where an operand is none."""


def quieted(expr: Expr) -> Expr | None:
    """The same float where it can be computed, and infinity or NaN where that fails; None if not known."""
    if not isinstance(expr, Op) or not may_fail(expr):
        return expr
    if expr.kind == "f" and expr.name in _QUIET and not any(map(may_fail, expr.args)):
        return Op(_QUIET[expr.name], expr.args, "f")
    if expr.kind != "f" or expr.name not in _STAYS_INFINITE:
        return None
    args = [quieted(arg) for arg in expr.args]
    made = [arg for arg in args if arg is not None]
    return Op(expr.name, tuple(made), "f") if len(made) == len(args) else None


def cost_of(expr: Expr) -> int:
    """About what the evaluation of an expression costs."""
    if not isinstance(expr, Op):
        return 0
    own = 0 if expr.name in _CHEAP else WORTH if expr.name in _DIVISIONS else LOOP
    return own + sum(map(cost_of, expr.args))


def may_raise(expr: Expr) -> bool:
    """Whether Python may raise where an expression is evaluated: its integers have any number of bits."""
    if not isinstance(expr, Op):
        return False
    if expr.kind == "i" and expr.name in ("add", "sub", "mul", "neg", "abs"):
        return any(map(may_raise, expr.args))
    return may_fail(Op(expr.name, (), expr.kind)) or any(map(may_raise, expr.args))


def replaced(expr: Expr, values: Mapping[Var, Expr]) -> Expr:
    """An expression with other expressions in place of variables."""
    if isinstance(expr, Var):
        return values.get(expr, expr)
    if isinstance(expr, Op):
        args = tuple(replaced(arg, values) for arg in expr.args)
        return (
            expr
            if all(a is b for a, b in zip(args, expr.args, strict=True))
            else Op(expr.name, args, expr.kind)
        )
    return expr


def substitute(statement: Statement, values: Mapping[Var, Expr]) -> None:
    """Replace variables in the expressions that a statement itself evaluates."""
    rewrite(statement, lambda expr: replaced(expr, values))


def rewrite(statement: Statement, change: Callable[[Expr], Expr]) -> None:
    """Let the expressions that a statement itself evaluates be others."""
    if isinstance(statement, hir.New):
        statement.items = [tuple(map(change, item)) for item in statement.items]
    for name in statement.ONE:
        setattr(statement, name, change(getattr(statement, name)))
    for name in statement.MANY:
        found = getattr(statement, name)
        setattr(statement, name, type(found)(map(change, found)))


def variables_of(*exprs: Expr) -> set[Var]:
    """The variables in expressions."""
    found: set[Var] = set()
    left = [*exprs]
    while left:
        expr = left.pop()
        kind = type(expr)
        if kind is Var:
            found.add(expr)  # type: ignore[arg-type]
        elif kind is Op:
            left += expr.args  # type: ignore[union-attr]
    return found


def rename(body: hir.Body, named: Mapping[Var, Var]) -> None:
    """Give variables of statements other names."""
    for one in hir.walk(body):
        substitute(one, named)
        found = [named.get(var, var) for var in hir.targets(one)]
        if found:
            setattr(one, one.SETS, found if one.SETS == "targets" else found[0])
