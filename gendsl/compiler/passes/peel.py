"""The first iteration of a loop is made before it, where others do without what makes it another.

    for t in range(n):                               if 0 < n:
        scale = first if t == 0 else other               x = state.x[0]
        x = state.x[t]                                   lp += normal_logpdf(m, first, x)
        lp += normal_logpdf(m, scale, x)      ->         for t in range(1, n):
                                                             x = state.x[t]
                                                             lp += normal_logpdf(m, other, x)

It is if something costly is the same in all iterations but the first then, which is taken out of the loop; or
if it decides which of two lists a name is: iterations whose lists are all made in one place can run at once.
"""

from __future__ import annotations

from collections import Counter
from math import inf

from gendsl.compiler import hir
from gendsl.compiler.hir import Body, Call, Const, Expr, For, Function, If, Op, Set, Statement, Var
from gendsl.compiler.hir.rewriting import LOOP, cost_of, rename, replaced, rewrite, variables_of
from gendsl.compiler.hir.text_effects import TextEffects, left_by
from gendsl.compiler.passes.axes_variables import exposed, used_outside
from gendsl.compiler.passes.first_iterations import Iterations
from gendsl.compiler.passes.staging import Names

_ONE = Const(1, "i")
_MOST = 200
"""How many statements are made twice at most."""


def peel(function: Function, effects: TextEffects, *, by_lists: bool = True) -> bool:
    """Make the first iterations of loops of a function before them, if that is worth it; whether any is.

    Args:
        by_lists: whether it is worth it where all others make their lists in one place then.
    """
    return _peel(function, function.body, effects, by_lists)


def _peel(function: Function, body: Body, effects: TextEffects, by_lists: bool) -> bool:
    found, at = False, 0
    while at < len(body):
        one = body[at]
        if isinstance(one, For) and one.step == _ONE:
            first, later = _known(one)
            if _may_be_peeled(one) and _is_worth(one, first, later, effects, by_lists):
                body[at] = _peeled(function, one, first, later)
                found = True
        for inner in hir.bodies(body[at]):
            found = _peel(function, inner, effects, by_lists) or found
        at += 1
    return found


def _known(loop: For) -> tuple[Iterations, Iterations]:
    """What is known in the first iteration of a loop, and in all others."""
    carried, flags = exposed(loop.body)[0] & _set_in(loop), _flags(loop)
    return (
        Iterations(loop, loop.body, (0, 0), {}, carried),
        Iterations(loop, loop.body, (1, inf), flags, carried - set(flags)),
    )


def _flags(loop: For) -> dict[Var, Const]:
    """The variables that all iterations set to the same number, and what they are in all but the first."""
    counts = Counter(var for one in hir.walk(loop.body) for var in hir.targets(one))
    pairs = (
        pair
        for one in loop.body
        if isinstance(one, Set)
        for pair in zip(one.targets, one.values, strict=True)
    )
    return {var: value for var, value in pairs if isinstance(value, Const) and counts[var] == 1}


def _set_in(loop: For) -> set[Var]:
    return {var for one in hir.walk(loop.body) for var in hir.targets(one)}


def _may_be_peeled(loop: For) -> bool:
    """Whether an iteration may stand before a loop."""
    every, changing = list(hir.walk(loop.body)), _set_in(loop)
    steady = changing.isdisjoint({loop.var, *variables_of(loop.start, loop.stop)})
    return steady and len(every) <= _MOST and loop.label not in left_by(every)[0]


def _is_worth(
    loop: For, first: Iterations, later: Iterations, effects: TextEffects, by_lists: bool
) -> bool:
    """Whether something costly is the same in all iterations but the first, and is not in all of them; or
    lists are made in one place then.
    """
    changing = _set_in(loop) | {loop.var}

    def is_new(test: Expr) -> bool | None:
        """What a test comes to in all iterations but the first, if it is another one then."""
        known = later.decided(test)
        return known if known is not None and first.decided(test) is not known else None

    same: set[Var] = set()
    for one in hir.walk(loop.body):
        if isinstance(one, If) and (later_one := is_new(one.test)) is not None:
            if by_lists and _lists_set_in(one.then) & _lists_set_in(one.orelse):
                return True
            for inner in one.then if later_one else one.orelse:
                if isinstance(inner, Set):
                    pairs = zip(inner.targets, inner.values, strict=True)
                    same.update(var for var, value in pairs if _is_same(value, changing))
    for one in hir.walk(loop.body):
        for expr in hir.expressions(one):
            selects = [part for part in hir.parts(expr) if isinstance(part, Op) and part.name == "select"]
            known = [(part, is_new(part.args[0])) for part in selects]
            chosen = [part.args[1 if test else 2] for part, test in known if test is not None]
            if any(_is_same(part, changing) for part in chosen) or same & variables_of(expr):
                if cost_of(expr) >= LOOP or (isinstance(one, Call) and effects.of(one.function).cost >= LOOP):
                    return True
                if isinstance(one, Set):
                    same.update(one.targets)
    return False


def _is_same(value: Expr, changing: set[Var]) -> bool:
    """Whether a value is the same in all iterations, and no number that says of which type another one is."""
    return changing.isdisjoint(variables_of(value)) and not (isinstance(value, Const) and value.kind != "f")


def _lists_set_in(body: Body) -> set[Var]:
    return {var for one in hir.walk(body) for var in hir.targets(one) if var.kind == "r"}


def _peeled(function: Function, loop: For, first: Iterations, later: Iterations) -> Statement:
    """The first iteration of a loop, and all others behind it, if there is one."""
    names = Names(function)
    own = _set_in(loop) - used_outside(function, loop)  # where what is carried has its first value
    body = hir.copied_body(loop.body)
    _decide(body, first)
    named = {var: Var(names.new(f"{var.name}_first"), var.kind) for var in sorted(own, key=lambda v: v.name)}
    rename(body, named)
    counter = Var(names.new(f"{loop.var.name}_first"), "i")
    for one in hir.walk(body):
        rewrite(one, lambda expr: replaced(expr, {loop.var: counter}))
    rest = hir.copied_body(loop.body)
    _decide(rest, later)
    start: Expr = Op("add", (loop.start, _ONE), "i")
    if isinstance(loop.start, Const):
        start = Const(int(loop.start.value or 0) + 1, "i")
    others = For(loop.var, start, loop.stop, loop.step, rest, loop.label, line=loop.line)
    test = Op("lt", (loop.start, loop.stop), "b")
    return If(test, [Set([counter], [loop.start], line=loop.line), *body, others], [], line=loop.line)


def _decide(body: Body, known: Iterations) -> None:
    """Replace tests whose outcome is known."""

    def decided(expr: Expr) -> Expr:
        if not isinstance(expr, Op):
            return expr
        if expr.name == "select" and (found := known.decided(expr.args[0])) is not None:
            return decided(expr.args[1 if found else 2])
        return Op(expr.name, tuple(map(decided, expr.args)), expr.kind)

    for one in hir.walk(body):
        if isinstance(one, If) and (found := known.decided(one.test)) is not None:
            one.test = Const(found, "b")
        else:
            rewrite(one, decided)
