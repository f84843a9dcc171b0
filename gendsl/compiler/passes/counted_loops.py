"""Loops that count up to a number are loops over a range.

    i = 0
    while i < n:
        x = state.x[i]              ->      for i in range(0, n):
        lp += f(x)                              x = state.x[i]
        i += 1                                  lp += f(x)

The number must be the same in all iterations, and nothing but its one increase at the end of each may set the
variable. So what is known of loops over ranges holds for them, too: they run in lanes and in parts.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Body,
    Call,
    Const,
    Expr,
    For,
    Function,
    If,
    Leave,
    Length,
    Loop,
    Next,
    Op,
    Set,
    Statement,
    Var,
)
from gendsl.compiler.hir.rewriting import replaced, rewrite, variables_of
from gendsl.compiler.hir.text_effects import CHANGES, TextEffects
from gendsl.compiler.passes.axes_variables import read_after
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.staging import Names

_ONE = Const(1, "i")
_NEGATED = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


def count(function: Function) -> None:
    """Make the loops of a function that count up to a number loops over ranges."""
    if any(isinstance(one, Loop) for one in hir.walk(function.body)):
        found = _Counting(function)
        function.body = found.made(function.body, [])
        if found.any:
            clean_one(function)


Around = list[tuple[Statement | None, Body]]


class _Header(NamedTuple):
    """How a loop begins.

    Attributes:
        before: what is computed for the test, the same in all iterations.
        var, stop: the variable that counts, and the first of its values for which the loop ends.
        body: the iteration.
    """

    before: Body
    var: Var
    stop: Expr
    body: Body


class _Counting:
    """The loops of a function; whether there are any that count."""

    def __init__(self, function: Function) -> None:
        self.names, self.effects = Names(function), TextEffects()
        self.any = False

    def made(self, body: Body, around: Around) -> Body:
        """Statements with loops over ranges."""
        result: Body = []
        for at, one in enumerate(body):
            within = [*around, (one, body[at + 1 :])]
            for name in one.BODIES:
                setattr(one, name, self.made(getattr(one, name), within))
            result += (self._of_loop(one, within) if isinstance(one, Loop) else None) or [one]
        return result

    def _of_loop(self, loop: Loop, around: Around) -> Body | None:
        """What becomes of a loop; None if it does not count."""
        header = self._header(loop)
        if header is None:
            return None
        _, var, stop, body = header
        ends = (one for one in hir.walk(body) if isinstance(one, (Leave, Next)))
        besides = _besides(body, var)
        if besides is None or any(one.label == loop.label for one in ends):
            return None
        self.any = True
        number = Var(self.names.new(var.name), "i")
        counted = For(number, var, stop, _ONE, [*body[:-1], *besides], loop.label, line=loop.line)
        for one in hir.walk(counted.body):
            rewrite(one, lambda expr: replaced(expr, {var: number}))
        if var not in read_after({var}, around):
            return [*header.before, counted]
        last = Op("select", (Op("lt", (var, stop), "b"), stop, var), "i")
        return [*header.before, counted, Set([var], [last], line=loop.line)]

    def _header(self, loop: Loop) -> _Header | None:
        """How a loop begins, if it ends where a variable comes to a number."""
        at = next((at for at, one in enumerate(loop.body) if not isinstance(one, (Set, Length))), None)
        if at is None or not isinstance(loop.body[at], If):
            return None
        before, test, after = loop.body[:at], loop.body[at], loop.body[at + 1 :]
        assert isinstance(test, If)
        inside = [var for one in hir.walk(loop.body) for var in hir.targets(one)]
        if not self._are_steady(before, loop, inside):
            return None
        if _only_leaves(test.then, loop):
            goes_on, body = _negated(test.test), [*test.orelse, *after]
        elif _only_leaves(test.orelse, loop):
            goes_on, body = test.test, [*test.then, *after]
        else:
            return None
        found = _limit(goes_on)
        if found is None or inside.count(found[0]) != 1:
            return None
        changing = set(inside) - {var for one in before for var in hir.targets(one)}
        return _Header(before, *found, body) if changing.isdisjoint(variables_of(found[1])) else None

    def _are_steady(self, before: Body, loop: Loop, inside: list[Var]) -> bool:
        """Whether statements compute the same in all iterations, which nothing else sets."""
        targets = {var for one in before for var in hir.targets(one)}
        if any(inside.count(var) > 1 for var in targets):
            return False
        read = variables_of(*(expr for one in before for expr in hir.expressions(one)))
        if not read.isdisjoint(set(inside) - targets):
            return False
        lengths = any(isinstance(one, Length) for one in before)
        return not (lengths and any(map(self._changes_lists, hir.walk(loop.body))))

    def _changes_lists(self, one: Statement) -> bool:
        if isinstance(one, Call):
            return bool(self.effects.of(one.function).changes)
        return isinstance(one, CHANGES)


def _only_leaves(body: Body, loop: Loop) -> bool:
    return len(body) == 1 and isinstance(body[0], Leave) and body[0].label == loop.label


def _negated(test: Expr) -> Expr:
    """The opposite of a comparison of integers."""
    match test:
        case Op("not", (inner,)):
            return inner
        case Op(name, args, kind) if name in _NEGATED:
            return Op(_NEGATED[name], args, kind)
    return Op("not", (test,), "b")


def _limit(goes_on: Expr) -> tuple[Var, Expr] | None:
    """The integer of a test that it is below another, and the first that it is not."""
    match goes_on:
        case Op("not", (Op(name) as inner,)) if name in _NEGATED:
            return _limit(_negated(inner))
        case Op("gt" | "ge" as name, (limit, Var() as var)):
            return _limit(Op("lt" if name == "gt" else "le", (var, limit), "b"))
        case Op("lt" | "le" as name, (Var(kind="i") as var, limit)) if limit.kind == "i":
            return var, limit if name == "lt" else Op("add", (limit, _ONE), "i")
    return None


def _besides(body: Body, var: Var) -> Body | None:
    """What the last of some statements sets besides a variable, if it increases that by one."""
    one = body[-1] if body else None
    if not isinstance(one, Set) or var not in one.targets:
        return None
    counts = Counter(target for inner in hir.walk(body) for target in hir.targets(inner))
    sets = [before for before in body[:-1] if isinstance(before, Set)]
    pairs = [pair for inner in sets for pair in zip(inner.targets, inner.values, strict=True)]
    known = {target: value for target, value in pairs if counts[target] == 1}
    own = list(zip(one.targets, one.values, strict=True))
    value = dict(own)[var]
    value = known.get(value, value) if isinstance(value, Var) else value
    if value != Op("add", (var, _ONE), "i") and value != Op("add", (_ONE, var), "i"):
        return None
    rest = [pair for pair in own if pair[0] != var]
    return [Set([x for x, _ in rest], [x for _, x in rest], line=one.line)] if rest else []
