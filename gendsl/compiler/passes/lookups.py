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
from gendsl.compiler.hir.rewriting import replaced, rewrite
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


def _only_iteration(
    loop: For, around: list[tuple[Statement | None, Body]], effects: TextEffects
) -> Expr | None:
    """The value of a loop's variable in the one iteration that does anything but to compute."""
    inner = list(hir.walk(loop.body))
    inside = {var for one in inner for var in hir.targets(one)}
    if loop.step != Const(1, "i") or loop.var in inside:
        return None
    carried = inside & exposed(loop.body)[0]
    if carried and (
        any(isinstance(one, (Leave, Next)) for one in inner) or not _is_known_before(loop, carried)
    ):
        return None
    later = read_after({loop.var, *inside}, around)
    made = {one.target for one in inner if isinstance(one, (New, Fill))}
    possible: set[Expr] | None = None
    for one, guards in _guarded(loop.body, ()):
        if _only_computes(one, loop, made, effects) and later.isdisjoint(hir.targets(one)):
            continue
        tests = _Tests(loop, inside, effects)
        found = {index for guard in guards for index in tests.indices(guard)}
        possible = found if possible is None else possible & found
    return next(iter(possible), None) if possible and loop.var not in later else None


def _is_known_before(loop: For, carried: set[Var]) -> bool:
    """Whether what an iteration leaves to the next one is computed without what it was left itself."""
    return carried.isdisjoint(_needed_by(loop.body, carried)[1])


def _needed_by(body: Body, variables: set[Var]) -> tuple[Body, set[Var]]:
    """The statements of a body that some variables are computed by, and the variables that these need."""
    kept: Body = []
    live = set(variables)
    for one in reversed(body):
        every = list(hir.walk([one]))
        changed = {one.list for one in every if isinstance(one, (Append, Store, Truncate))}
        if live.isdisjoint({var for inner in every for var in hir.targets(inner)} | changed):
            continue
        kept.insert(0, one)
        read, surely = exposed([one])
        live = (live - (surely or set())) | read
    return kept, live


def _guarded(body: Body, guards: tuple[Expr, ...]) -> Iterator[tuple[Statement, tuple[Expr, ...]]]:
    """All statements of a body, each with the tests that hold where it is come to."""
    for one in body:
        yield one, guards
        for name in one.BODIES:
            more = (one.test,) if isinstance(one, If) and name == "then" else ()
            yield from _guarded(getattr(one, name), (*guards, *more))


class _Tests:
    """What a loop's variable is equal to where tests hold, of what is the same in all iterations."""

    def __init__(self, loop: For, inside: set[Var], effects: TextEffects) -> None:
        self.loop, self.inside, self.effects = loop, inside, effects
        self.calls: dict[Expr, Call] = {}
        for one in hir.walk(loop.body):
            if isinstance(one, Call) and one.targets and one.targets[0].kind == "b":
                self.calls[one.targets[0]] = one

    def indices(self, test: Expr) -> Iterator[Expr]:
        """These, where a test holds."""
        for one, other in self._equal(test):
            for first, second in ((one, other), (other, one)):
                if first == self.loop.var and isinstance(second, (Var, Const)) and second not in self.inside:
                    yield second

    def _equal(self, test: Expr) -> Iterator[tuple[Expr, Expr]]:
        if test in self.calls:
            yield from self._where_found(self.calls[test])
        else:
            yield from _equalities(test)

    def _where_found(self, call: Call) -> Iterator[tuple[Expr, Expr]]:
        """What is equal where a function returns first that it has found something."""
        function, common = call.function, None
        named = dict(zip(function.parameters, call.args, strict=True))
        same = set(named).difference(var for one in hir.walk(function.body) for var in hir.targets(one))
        for one, guards in _guarded(function.body, ()):
            if isinstance(one, Return) and one.values[0] != hir.FALSE:
                pairs = {
                    (named[x], named[y])
                    for guard in guards
                    for x, y in _equalities(guard)
                    if isinstance(x, Var) and isinstance(y, Var) and {x, y} <= same
                }
                common = pairs if common is None else common & pairs
        yield from common or ()


def _equalities(test: Expr) -> Iterator[tuple[Expr, Expr]]:
    """What is equal where a test holds."""
    match test:
        case Op("and", args):
            for arg in args:
                yield from _equalities(arg)
        case Op("eq", (one, other)):
            yield one, other


def _only_computes(one: Statement, loop: For, made: set[Var], effects: TextEffects) -> bool:
    """Whether a statement of a loop does nothing that is seen outside of an iteration."""
    match one:
        case Append() | Store() | Truncate():
            return one.list in made
        case Call():
            return not effects.of(one.function).changes and _reads_alone(one.function)
        case Next():
            return True
        case Leave():
            return not left_by(hir.walk([loop]))[0] and one.label != loop.label
    return isinstance(one, _COMPUTING)


def _reads_alone(function: Function) -> bool:
    """Whether a function does nothing but to read, and to compute."""
    own = (*_COMPUTING, Append, Store, Truncate, Call, Leave, Next, Return)
    return all(isinstance(one, own) for each in hir.functions(function) for one in hir.walk(each.body))


def _one_iteration(loop: For, index: Expr) -> If:
    """One iteration of a loop, if it has that, behind what the one before leaves to it."""
    inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
    carried = inside & exposed(loop.body)[0]
    before: Body = []
    if carried:
        last = Op("sub", (index, Const(1, "i")), "i")
        left = hir.copied_body(_needed_by(loop.body, carried)[0])
        for one in hir.walk(left):
            rewrite(one, lambda expr: replaced(expr, {loop.var: last}))
        before.append(If(Op("lt", (loop.start, index), "b"), left, [], line=loop.line))
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
    return If(runs, [*before, *once(loop.body, loop)], [], line=loop.line)


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
