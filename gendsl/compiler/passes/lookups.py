"""Loops that do something in one iteration alone run that.

    for i in range(n):                                  if 0 <= wanted and wanted < n:
        w = state.w.look(i)                                 w = state.w.look(wanted)
        if i == wanted:                      ->             return w
            return w

What asks for the distribution of one choice, or for what one call returned, goes through a program up to
that. What it does on the way and does not need is left out already, so that a loop often comes to do nothing
but to look for an iteration.
"""

from __future__ import annotations

from collections.abc import Iterator

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Body,
    Call,
    Const,
    Expr,
    Fail,
    Fill,
    For,
    Function,
    If,
    Leave,
    Length,
    Load,
    Loop,
    New,
    Next,
    Op,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.rewriting import replaced, rewrite, variables_of
from gendsl.compiler.hir.text_effects import TextEffects, left_by
from gendsl.compiler.passes.axes_variables import exposed, read_after
from gendsl.compiler.passes.clean import clean_one

_COMPUTING = (
    Set, Load, Length, New, Fill, If, For, Loop, Block, Fail, hir.Read, hir.Present, hir.Count, hir.Extent,
)  # fmt: skip
"""Statements that do nothing but to set variables, and what is around others."""


def look_up(function: Function, effects: TextEffects) -> None:
    """Let loops of a function that is known not to fail run the one iteration that does something."""
    if _looked_up(function.body, [], effects):
        clean_one(function)


def _looked_up(body: Body, around: list[tuple[Statement | None, Body]], effects: TextEffects) -> bool:
    found = False
    for at, one in enumerate(body):
        after = [*around, (one, body[at + 1 :])]
        if isinstance(one, For):
            index = _only_iteration(one, after, effects)
            if index is not None:
                body[at] = one = _one_iteration(one, index)
                after[-1] = (one, body[at + 1 :])
                found = True
        for inner in hir.bodies(one):
            found = _looked_up(inner, after, effects) or found
    return found


def _only_iteration(loop: For, around: list[tuple[Statement | None, Body]], effects: TextEffects) -> Expr | None:
    """The value of a loop's variable in the one iteration that does anything but to compute."""
    inner = list(hir.walk(loop.body))
    inside = {var for one in inner for var in hir.targets(one)}
    if loop.step != Const(1, "i") or loop.var in inside:
        return None
    if not (inside & exposed(loop.body)[0]).isdisjoint(inside):
        return None
    later = read_after({loop.var, *inside}, around)
    made = {one.target for one in inner if isinstance(one, (New, Fill))}
    possible: set[Expr] | None = None
    for one, guards in _guarded(loop.body, ()):
        if _only_computes(one, loop, made, effects) and later.isdisjoint(hir.targets(one)):
            continue
        found = {index for guard in guards for index in _indices(guard, loop.var, inside)}
        possible = found if possible is None else possible & found
    return next(iter(possible), None) if possible and loop.var not in later else None


def _guarded(body: Body, guards: tuple[Expr, ...]) -> Iterator[tuple[Statement, tuple[Expr, ...]]]:
    """All statements of a body, each with the tests that hold where it is come to."""
    for one in body:
        yield one, guards
        for name in one.BODIES:
            more = (one.test,) if isinstance(one, If) and name == "then" else ()
            yield from _guarded(getattr(one, name), (*guards, *more))


def _indices(test: Expr, var: Var, inside: set[Var]) -> Iterator[Expr]:
    """What a variable is equal to where a test holds, of what is the same in all iterations."""
    match test:
        case Op("and", args):
            for arg in args:
                yield from _indices(arg, var, inside)
        case Op("eq", (one, other)):
            for first, second in ((one, other), (other, one)):
                if first == var and isinstance(second, (Var, Const)) and second not in inside:
                    yield second


def _only_computes(one: Statement, loop: For, made: set[Var], effects: TextEffects) -> bool:
    """Whether a statement of a loop does nothing that is seen outside of an iteration."""
    match one:
        case Append() | Store() | Truncate():
            return one.list in made
        case Call():
            found = effects.of(one.function)
            return found.pure and not found.changes
        case Next():
            return True
        case Leave():
            return not left_by(hir.walk([loop]))[0] and one.label != loop.label
    return isinstance(one, _COMPUTING)


def _one_iteration(loop: For, index: Expr) -> If:
    """One iteration of a loop, if it has that."""
    same = {Op("eq", (loop.var, index), "b"), Op("eq", (index, loop.var), "b")}

    def there(expr: Expr) -> Expr:
        if expr in same:
            return hir.TRUE
        if isinstance(expr, Op):
            return Op(expr.name, tuple(map(there, expr.args)), expr.kind)
        return expr

    for one in hir.walk(loop.body):
        rewrite(one, there)
        rewrite(one, lambda expr: replaced(expr, {loop.var: index}))
    runs = hir.both(Op("le", (loop.start, index), "b"), Op("lt", (index, loop.stop), "b"))
    return If(runs, once(loop.body, loop), [], line=loop.line)


def once(body: Body, loop: For) -> Body:
    """The statements of a loop, or what has become of them, where there is one iteration alone."""
    if not any(isinstance(one, (Leave, Next)) and one.label == loop.label for one in hir.walk(body)):
        return body
    return [Block(_all_left(body, loop.label), loop.label, line=loop.line)]


def _all_left(body: Body, label: int) -> Body:
    """Statements that leave a block in place of going on with the next iteration of a loop."""
    result: Body = []
    for one in body:
        if isinstance(one, Next) and one.label == label:
            one = Leave(label, line=one.line)
        for name in one.BODIES:
            setattr(one, name, _all_left(getattr(one, name), label))
        result.append(one)
    return result
