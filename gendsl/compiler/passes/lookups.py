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

from collections.abc import Iterable, Iterator

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
from gendsl.compiler.passes.axes_variables import exposed, needed_by, read_after
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.indices import Indices
from gendsl.compiler.passes.list_items import resolve

_MOST = 3
"""How many iterations before the one there are at most in which something is computed that it is left."""
_COMPUTING = (
    Set, Load, Length, New, Fill, If, For, Loop, Block, Fail, hir.Read, hir.Present, hir.Count, hir.Extent,
)  # fmt: skip
"""Statements that do nothing but to set variables, and what is around others."""


def look_up(function: Function, effects: TextEffects) -> None:
    """Let loops of a function that is known not to fail run the one iteration that does something."""
    made = resolve(function, effects)
    if _looked_up(function, function.body, [], effects) or made:
        clean_one(function)


def _looked_up(
    function: Function, body: Body, around: list[tuple[Statement | None, Body]], effects: TextEffects
) -> bool:
    found = False
    for at, one in enumerate(body):
        after = [*around, (one, body[at + 1 :])]
        if isinstance(one, For):
            lookup = _Lookup.of(function, one, after, effects)
            if lookup is not None:
                body[at] = one = lookup.made()
                after[-1] = (one, body[at + 1 :])
                found = True
        for inner in hir.bodies(one):
            found = _looked_up(function, inner, after, effects) or found
    return found


class _Lookup:
    """A loop that does something in one iteration alone.

    Attributes:
        index: the value of its variable there.
        carried: the variables that an iteration leaves to the next one.
        before: what computes these, in the iterations before it, the last of them first.
    """

    def __init__(self, function: Function, loop: For) -> None:
        self.function, self.loop = function, loop
        self.inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
        self.carried = self.inside & exposed(loop.body)[0]
        self.index: Expr = loop.var
        self.before: list[Body] = []

    @staticmethod
    def of(
        function: Function, loop: For, around: list[tuple[Statement | None, Body]], effects: TextEffects
    ) -> _Lookup | None:
        """What is known of a loop; None where more than one iteration does something."""
        if loop.step != Const(1, "i") or any(loop.var in hir.targets(one) for one in hir.walk(loop.body)):
            return None
        found = _Lookup(function, loop)
        return found if found._has_index(around, effects) and found._is_known_before() else None

    def _has_index(self, around: list[tuple[Statement | None, Body]], effects: TextEffects) -> bool:
        loop = self.loop
        later = read_after({loop.var, *self.inside}, around)
        own = {one.target for one in hir.walk(loop.body) if isinstance(one, (New, Fill))}
        possible: set[Expr] | None = None
        tests = _Tests(self.function, loop, self.inside)
        for one, guards in _guarded(loop.body, ()):
            if _only_computes(one, loop, own, effects) and later.isdisjoint(hir.targets(one)):
                continue
            found = tests.indices(guards)
            possible = found if possible is None else possible & found
        if not possible or loop.var in later:
            return False
        self.index = min(possible, key=repr)  # the same in all processes
        return True

    def _is_known_before(self) -> bool:
        """Whether what an iteration is left is computed in the few before it, without what those are left."""
        if self.carried and any(isinstance(one, (Leave, Next)) for one in hir.walk(self.loop.body)):
            return False
        left = self.carried
        while left and len(self.before) < _MOST:
            body, live = needed_by(self.loop.body, left)
            self.before.append(body)
            left = self.carried & live
        return not left

    def made(self) -> If:
        """The one iteration, if the loop has it, behind what others leave to it."""
        loop, index = self.loop, self.index
        before: Body = []
        for distance, body in reversed([*enumerate(self.before, 1)]):
            place = Op("sub", (index, Const(distance, "i")), "i")
            left = hir.copied_body(body)
            for one in hir.walk(left):
                rewrite(one, lambda expr: replaced(expr, {loop.var: place}))  # noqa: B023
            before.append(If(Op("le", (loop.start, place), "b"), left, [], line=loop.line))
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


def _guarded(body: Body, guards: tuple[Expr, ...]) -> Iterator[tuple[Statement, tuple[Expr, ...]]]:
    """All statements of a body, each with the tests that hold where it is come to."""
    for one in body:
        yield one, guards
        for name in one.BODIES:
            more = (one.test,) if isinstance(one, If) and name == "then" else ()
            yield from _guarded(getattr(one, name), (*guards, *more))


class _Tests:
    """What a loop's variable is equal to where tests hold, of what is the same in all iterations."""

    def __init__(self, function: Function, loop: For, inside: set[Var]) -> None:
        self.loop, self.inside, self.known = loop, inside, Indices(function)
        self.calls: dict[Expr, Call] = {}
        for one in hir.walk(loop.body):
            if isinstance(one, Call) and one.targets and one.targets[0].kind == "b":
                self.calls[one.targets[0]] = one

    def indices(self, tests: Iterable[Expr]) -> set[Expr]:
        """These, where some tests hold."""
        pairs = [pair for test in tests for pair in self._equal(test)]
        found: dict[Expr, int] = {}  # with what is added to the variable to get it
        for pair in pairs:
            for one in pair:
                linear = self.known.linear(one) if one.kind == "i" else None
                if linear is not None and linear.terms == ((self.loop.var, 1),):
                    found[one] = linear.number
        for _ in pairs:
            for one, other in (*pairs, *((other, one) for one, other in pairs)):
                if one in found:
                    found.setdefault(other, found[one])
        return {
            x if not added else Op("sub", (x, Const(added, "i")), "i")
            for x, added in found.items()
            if isinstance(x, (Var, Const)) and x not in {self.loop.var, *self.inside}
        }

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
