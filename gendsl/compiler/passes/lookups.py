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

from collections.abc import Collection, Iterable, Iterator

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
from gendsl.compiler.hir.text_effects import TextEffects, left_by, read_by
from gendsl.compiler.passes.axes_variables import exposed, read_after, values_of
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.loop_items import LoopItems, Maker, shift_of

_MOST_LAGS = 3
"""How many iterations before one may be needed for it."""
_COMPUTING = (
    Set, Load, Length, New, Fill, If, For, Loop, Block, Fail, hir.Read, hir.Present, hir.Count, hir.Extent,
)  # fmt: skip
"""Statements that do nothing but to set variables, and what is around others."""


def look_up(function: Function, effects: TextEffects) -> None:
    """Let loops of a function that is known not to fail run the one iteration that does something."""
    if _looked_up(function, function.body, [], effects):
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
        makers: the lists that the loop makes item by item, and reads itself alone, by their places.
        lags: how many iterations before are needed for the items that are read.
    """

    def __init__(self, function: Function, loop: For, makers: dict[Expr, Maker], lags: int) -> None:
        self.function, self.loop, self.makers, self.lags = function, loop, makers, lags
        self.inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
        self.carried = self.inside & exposed(loop.body)[0]
        self.index: Expr = loop.var

    @staticmethod
    def of(
        function: Function, loop: For, around: list[tuple[Statement | None, Body]], effects: TextEffects
    ) -> _Lookup | None:
        """What is known of a loop; None where more than one iteration does something."""
        if loop.step != Const(1, "i") or any(loop.var in hir.targets(one) for one in hir.walk(loop.body)):
            return None
        found = _Lookup(function, loop, *_lists_of(function, loop, effects))
        return found if found._has_index(around, effects) and found._is_known_before() else None

    def _has_index(self, around: list[tuple[Statement | None, Body]], effects: TextEffects) -> bool:
        loop = self.loop
        later = read_after({loop.var, *self.inside}, around)
        own = {one.target for one in hir.walk(loop.body) if isinstance(one, (New, Fill))}
        own |= {maker.ref for maker in self.makers.values()}
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
        """Whether what an iteration leaves to others is computed without what it was left itself."""
        needed = {*self.carried, *self.makers}
        if needed and any(isinstance(one, (Leave, Next)) for one in hir.walk(self.loop.body)):
            return False
        kept, live = _needed_by(self.loop.body, needed)
        reads = any(isinstance(one, Load) and one.list in self.makers for one in hir.walk(kept))
        return self.carried.isdisjoint(live) and not reads

    def made(self) -> If:
        """The one iteration, if the loop has it, behind what others leave to it."""
        loop, index = self.loop, self.index
        before: Body = []
        for lag in range(max(self.lags, bool(self.carried)), 0, -1):
            last = Op("sub", (index, Const(lag, "i")), "i")
            needed = {*self.makers, *(self.carried if lag == 1 else ())}
            left = hir.copied_body(_needed_by(loop.body, needed)[0])
            for one in hir.walk(left):
                rewrite(one, lambda expr, last=last: replaced(expr, {loop.var: last}))  # type: ignore[misc]
            before.append(If(Op("le", (loop.start, last), "b"), left, [], line=loop.line))
        same = {Op("eq", (loop.var, index), "b"), Op("eq", (index, loop.var), "b")}

        def there(expr: Expr) -> Expr:
            if expr in same:
                return hir.TRUE
            if isinstance(expr, Op):
                return Op(expr.name, tuple(map(there, expr.args)), expr.kind)
            return expr

        for one in hir.walk(loop.body):
            if isinstance(one, Load) and one.list in self.makers:
                one.index = self._place(one)
            rewrite(one, there)
            rewrite(one, lambda expr: replaced(expr, {loop.var: index}))
        self._begin_empty(self.function.body)
        runs = hir.both(Op("le", (loop.start, index), "b"), Op("lt", (index, loop.stop), "b"))
        return If(runs, _appended([*before, *once(loop.body, loop)], self.makers), [], line=loop.line)

    def _place(self, one: Load) -> Expr:
        """The place of an item among those that the few iterations make."""
        maker = self.makers[one.list]
        first = Op("imax", (self.loop.start, Op("sub", (self.index, Const(self.lags, "i")), "i")), "i")
        base = Op("add", (first, Const(maker.place - maker.first, "i")), "i")
        return maker.place_among(one.index, base)

    def _begin_empty(self, body: Body) -> None:
        """Let the lists have no items but those that are made."""
        for at, one in enumerate(body):
            if isinstance(one, Fill) and one.target in self.makers:
                body[at] = New(one.target, one.layout, [], line=one.line)
            for inner in hir.bodies(one):
                self._begin_empty(inner)


def _appended(body: Body, lists: Collection[Expr]) -> Body:
    """Statements that add items to lists in place of replacing them."""
    result: Body = []
    for one in body:
        if isinstance(one, Store) and one.list in lists:
            one = Append(one.list, one.layout, one.item, line=one.line)
        for name in one.BODIES:
            setattr(one, name, _appended(getattr(one, name), lists))
        result.append(one)
    return result


def _lists_of(function: Function, loop: For, effects: TextEffects) -> tuple[dict[Expr, Maker], int]:
    """The lists that a loop makes item by item, and that nothing else reads, with how far back it does."""
    made = {one.target for one in hir.walk(loop.body) if isinstance(one, (New, Fill))}
    changed = {one.list for one in hir.walk(loop.body) if isinstance(one, (Append, Store))} - made
    if not changed:
        return {}, 0
    items = LoopItems(function, None, effects)
    makers = {ref: maker for ref, maker in items.makers.items() if maker.loop is loop and ref in changed}
    lags = 0
    for one in items.every:
        for ref in makers.keys() & read_by(one):
            if isinstance(one, (Append, Store)) and one.list == ref:
                continue
            place = items.place_in(one.index) if isinstance(one, Load) else None
            if place is None or place[0] is not loop or not 1 <= makers[ref].place - place[1] <= _MOST_LAGS:
                return {}, 0
            lags = max(lags, makers[ref].place - place[1])
    return makers, lags


def _needed_by(body: Body, variables: Collection[Expr]) -> tuple[Body, set[Expr]]:
    """The statements of a body that some variables, or the items of lists, are computed by, and the variables
    that these need.
    """
    kept: Body = []
    live: set[Expr] = set(variables)
    for one in reversed(body):
        if isinstance(one, If):
            sides = [_needed_by(inner, live) for inner in hir.bodies(one)]
            if any(inner for inner, _ in sides):
                kept.insert(0, If(one.test, sides[0][0], sides[1][0], line=one.line))
                live |= {*sides[0][1], *sides[1][1], *read_by(one)}
            continue
        every = list(hir.walk([one]))
        changed = {inner.list for inner in every if isinstance(inner, (Append, Store, Truncate))}
        if live.isdisjoint({*(var for inner in every for var in hir.targets(inner)), *changed}):
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

    def __init__(self, function: Function, loop: For, inside: set[Var]) -> None:
        self.loop, self.inside, self.values = loop, inside, values_of(function)
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
                added = shift_of(one, self.loop.var, self.values)
                if added is not None:
                    found[one] = added
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
