"""Items of lists that loops make are computed where they are read.

    zs = []                                              for i in range(n):
    for i in range(n):                                       z = state.z[i]
        z = state.z[i]                                       ...
        ...                                              for e in range(m):
        zs.append(z)                         ->              t = state.z.look(left[e])
    for e in range(m):                                       t_1 = state.z.look(right[e])
        t, t_1 = zs[left[e]], zs[right[e]]                   ...
        ...

What a text asks of one iteration then needs no others. This is for lists that one loop, or loops within one
another, make item by item (`made_lists`). An item must be a choice, or computed from choices, from what is
known before the loop, and from items of other such lists (`item_slices`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Call,
    Const,
    Expr,
    Function,
    If,
    Length,
    Load,
    Op,
    Set,
    Statement,
    Var,
)
from gendsl.compiler.hir.rewriting import replaced, variables_of
from gendsl.compiler.hir.text_effects import TextEffects, read_by
from gendsl.compiler.passes.indices import Linear
from gendsl.compiler.passes.item_slices import ItemSlice
from gendsl.compiler.passes.made_lists import Axis, Made, MadeLists, split

_ZERO = hir.ZEROS["i"]


def resolve(function: Function, effects: TextEffects) -> bool:
    """Let items be computed where they are read; whether any was."""
    done: set[Var] = set()
    found_any = False
    while True:
        lists = MadeLists(function, effects)
        for one in (one for one in lists.every_made() if one.root not in done):
            done.add(one.root)
            if _resolved(lists, one):
                found_any = True
                break  # the others are looked for anew
        else:
            return found_any


def _resolved(lists: MadeLists, made: Made) -> bool:
    """Let the items of a list be computed where they are read, and leave out a list that nothing reads."""
    slice = ItemSlice(lists, made)
    if slice.body is None:
        return False
    reader = _Reader(lists, made, slice)
    left = False
    changed: dict[int, Body] = {}
    own = set(map(id, made.own)) | set(map(id, made.sites))
    names = {made.root, *made.handles}
    for one in lists.every:
        if id(one) in own or names.isdisjoint(read_by(one)):
            continue
        body = reader.read(one)
        if body is None:
            left = True
        else:
            changed[id(one)] = body
    if not left:
        changed |= {each: [] for each in own}
    if changed:
        lists.function.body = _with(lists.function.body, changed)
    return bool(changed)


class _Reader:
    """What becomes of what reads a list."""

    def __init__(self, lists: MadeLists, made: Made, slice: ItemSlice) -> None:
        self.lists, self.made, self.slice, self.indices = lists, made, slice, lists.indices
        self.is_dict = isinstance(made.sites[0], Call)

    def read(self, one: Statement) -> Body | None:
        """What becomes of a statement that reads the list; None where that is not known."""
        made = self.made
        nest = made.axes[0].loop
        is_inside = any(outer is nest for outer in self.indices.around[id(one)])
        if not is_inside and self.lists.order[id(one)] < self.lists.order[id(nest)]:
            return None  # nothing has been made there
        if isinstance(one, Call) and self.is_dict:
            if one.function.on_dict[0] == "find":
                return self._found_key(one, is_inside)
            keys = [self.indices.linear(key) for key in one.args[1:]]
            return self._at(one, keys, is_inside)
        if not isinstance(one, (Load, Length)):
            return None
        if isinstance(one, Length):
            return self._length(one, is_inside)
        row = made.handles.get(one.list)  # type: ignore[arg-type]
        rows = [one.index] if row is None else [row, one.index]
        if len(rows) == 1 and len(made.axes) > 1:
            return self._of_axes(one, is_inside)
        combined: list[tuple[Expr, tuple[Expr, ...]]] = [(hir.TRUE, ())]
        for number, index in enumerate(rows):
            count = made.axes[number].count
            if count is not None and not _is_alike(count, made):
                is_one = len(combined) == 1 and combined[0][0] == hir.TRUE
                row_of = {axis.loop.var: x for axis, x in zip(made.axes, combined[0][1], strict=False)}
                count = replaced(count, row_of) if is_one else None
            each = self._wrapped(one, index, count, is_inside)
            if each is None:
                return None
            combined = [(hir.both(test, more), (*found, x)) for test, found in combined for more, x in each]
        return self._alternatives(one, combined, is_inside)

    def _of_axes(self, one: Load, is_inside: bool) -> Body | None:
        """An item of one list of several axes."""
        made = self.made
        written = split(one.index, len(made.axes))
        every = []
        for test, index in self.indices.possible(one, one.index):
            parts = split(index, len(made.axes))
            if parts is None or parts[1] != made.widths:
                return None
            for axis, width in enumerate(made.widths, 1):
                asked = [parts[0][axis], *([] if written is None else [written[0][axis]])]
                if not any(self.indices.is_within(one, place, width) for place in asked):
                    return None  # it may be a place of another row
            every.append((test, parts[0]))
        return self._alternatives(one, every, is_inside)

    def _wrapped(
        self, one: Load, index: Expr, count: Expr | None, is_inside: bool
    ) -> list[tuple[Expr, Expr]] | None:
        """The places that an index of a list may be, which counts from the end if it is negative."""
        made = self.made
        found: list[tuple[Expr, Expr]] = []
        for test, place in self.indices.possible(one, index):
            linear = self.indices.linear(place)
            least = self.indices.least(one, linear)
            if is_inside and isinstance(made.sites[0], Append) and len(made.axes) == 1:
                count = self._count_inside(one)
            if (least is not None and least >= 0) or self._asks(test, linear, count):
                found.append((test, place))
            elif not linear.terms:
                if count is None:
                    return None
                found.append((test, self.indices.linear(count).plus(linear).expr()))
            elif count is None or is_inside:
                return None
            else:
                negative, end = Op("lt", (place, _ZERO), "b"), Op("add", (count, place), "i")
                found.append((hir.both(test, Op("not", (negative,), "b")), place))
                found.append((hir.both(test, negative), end))
        return found

    def _asks(self, test: Expr, place: Linear, count: Expr | None) -> bool:
        """Whether a test asks if an index is negative, which is the place if not, or with the count if so."""
        if isinstance(test, Op) and test.name == "and":
            return any(self._asks(part, place, count) for part in test.args)
        match test:
            case Op("not", (Op("lt", (index, Const(0, "i"))),)):
                return self.indices.linear(index) == place
            case Op("lt", (index, Const(0, "i"))) if count is not None:
                return self.indices.linear(index).plus(self.indices.linear(count)) == place
        return False

    def _count_inside(self, one: Statement) -> Expr | None:
        """How many items a list has within the loop that adds them."""
        axis = self.made.axes[0]
        order = self.lists.order
        here, sites = order[id(one)], [order[id(site)] for site in self.made.sites]
        before = Linear.of({axis.loop.var: 1}, 0).plus(axis.shift)
        if here < min(sites) or self._is_beside(one):
            return before.expr()
        return before.plus(Linear((), 1)).expr() if here > max(sites) else None

    def _is_beside(self, one: Statement) -> bool:
        """Whether a statement comes before each that makes an item, but for the other side of a branch."""
        around, order = self.indices.around, self.lists.order
        own = (*around[id(one)], one)
        for site in self.made.sites:
            theirs = (*around[id(site)], site)
            for outer, inner, other in zip(own, own[1:], theirs[1:], strict=False):
                if inner is other:
                    continue
                then = outer.then if isinstance(outer, If) else []
                sides = {any(each is x for x in then) for each in (inner, other)}
                if len(sides) < 2 and order[id(inner)] > order[id(other)]:
                    return False
                break
        return True

    def _length(self, one: Length, is_inside: bool) -> Body | None:
        """What becomes of a statement that finds how many items there are."""
        made = self.made
        grows = is_inside and isinstance(made.sites[0], Append)
        row = made.handles.get(one.list)  # type: ignore[arg-type]
        count: Expr | None = None
        if grows and len(made.axes) == 1:
            count = self._count_inside(one)
        elif not grows and not made.widths:
            count = made.axes[0 if row is None else 1].count
        if count is not None and row is not None:
            count = replaced(count, {made.axes[0].loop.var: row})
        if count is None:
            return None
        return [Set([one.target], [count], line=one.line)]

    def _alternatives(
        self, one: Load, every: list[tuple[Expr, tuple[Expr, ...]]], is_inside: bool
    ) -> Body | None:
        """The item at each of the places that it may be at."""
        if not every or len(every) > 4:
            return None
        result: Body = []
        for number, (test, places) in enumerate(reversed(every)):
            body = self._at(one, [self.indices.linear(place) for place in places], is_inside)
            if body is None:
                return None
            result = body if not number else [If(test, body, result, line=one.line)]
        return result

    def _found_key(self, one: Call, is_inside: bool) -> Body | None:
        """Whether a dict has a key, where nothing else is asked of its place."""
        (target,) = one.targets
        tests = Op("ge", (target, _ZERO), "b"), Op("lt", (target, _ZERO), "b")
        for user in self.lists.users.get(target, []):
            if not all(_is_only_in(expr, target, tests) for expr in hir.expressions(user)):
                return None
        keys = [self.indices.linear(key) for key in one.args[2:]]
        is_there: Expr = hir.TRUE
        if is_inside:
            before = self._is_before(one, keys)
            if before is None:
                return None
            is_there = Const(before, "b")
        if is_there == hir.TRUE:
            for axis, at in self._iteration(keys):
                is_there = hir.both(is_there, self._has_iteration(axis, at, keys))
        return [Set([target], [Op("select", (is_there, _ZERO, Const(-1, "i")), "i")], line=one.line)]

    def _iteration(self, places: list[Linear]) -> Iterator[tuple[Axis, Linear]]:
        """For each axis which iteration makes the item at a place."""
        found: dict[Var, Linear] = {}
        for axis, place in zip(self.made.axes, places, strict=True):
            at = axis.iteration(place)
            for var, outer in found.items():
                at = at.without(var).plus(outer, at.factor(var))
            found[axis.loop.var] = at
            yield axis, at

    def _has_iteration(self, axis: Axis, at: Linear, places: list[Linear]) -> Expr:
        """Whether a loop has an iteration, of those that loops around it have."""
        start, stop = self._bounds(axis, places)
        return hir.both(Op("le", (start, at.expr()), "b"), Op("lt", (at.expr(), stop), "b"))

    def _bounds(self, axis: Axis, places: list[Linear]) -> tuple[Expr, Expr]:
        """Where a loop begins and ends, of those that loops around it have."""
        outer = {other.loop.var: at.expr() for other, at in self._iteration(places) if other is not axis}
        return replaced(axis.loop.start, outer), replaced(axis.loop.stop, outer)

    def _at(self, one: Load | Call, places: list[Linear], is_inside: bool) -> Body | None:
        """The item at a place."""
        made = self.made
        tests: Expr = hir.TRUE
        if is_inside:
            is_before = self._is_before(one, places)
            if is_before is None and made.fill is not None:
                tests = self._made_before(one, places)
            if not is_before and tests == hir.TRUE:
                return None
        found = list(self._iteration(places))
        values: dict[Var, Expr] = {axis.loop.var: at.expr() for axis, at in found}
        if self.is_dict:
            has: Expr = hir.TRUE
            for axis, at in found:
                has = hir.both(has, self._has_iteration(axis, at, places))
            fails: Body = [hir.Fail("a key that is not there", line=one.line)]
            return [If(has, self.slice.copied(one, values), fails, line=one.line)]
        for axis, at in found:
            start, stop = map(self.indices.linear, self._bounds(axis, places))
            least = self.indices.least(one, at.plus(start, -1))
            if made.fill is not None and not axis.is_whole:
                if least is None or least < 0:
                    tests = hir.both(tests, Op("le", (start.expr(), at.expr()), "b"))
                if not (is_inside and axis is made.axes[0]):
                    most = self.indices.least(one, stop.plus(at, -1))
                    if most is None or most < 1:
                        tests = hir.both(tests, Op("lt", (at.expr(), stop.expr()), "b"))
            if made.begun and (least is None or least < 0) and not self.slice.is_begun_alike():
                if not at.plus(start, -1).terms:
                    number = places[0].number
                    if not 0 <= number < len(made.begun) or not self._is_steady(made.begun[number]):
                        return None
                    return [Set(list(one.targets), list(made.begun[number]), line=one.line)]
                tests = hir.both(tests, Op("le", (start.expr(), at.expr()), "b"))
        body = self.slice.copied(one, values)
        if tests == hir.TRUE:
            return body
        if made.fill is not None:
            if not self._is_steady(made.fill):
                return None
            return [If(tests, body, [Set(list(one.targets), list(made.fill), line=one.line)], line=one.line)]
        other: Body = []
        for number, item in enumerate(made.begun):
            if not self._is_steady(item):
                return None
            put: Body = [Set(list(one.targets), list(item), line=one.line)]
            there = Op("eq", (places[0].expr(), Const(number, "i")), "b")
            other = put if not number else [If(there, put, other, line=one.line)]
        return [If(tests, body, other, line=one.line)]

    def _made_before(self, one: Statement, places: list[Linear]) -> Expr:
        """What asks whether an item has been made where it is read in the one loop that makes them; it is
        true where that is not known.
        """
        here, order = self.lists.order[id(one)], self.lists.order
        is_later = here > self.lists.last_of(self.made.sites)
        if len(places) > 1 or not (is_later or here < min(order[id(site)] for site in self.made.sites)):
            return hir.TRUE
        (axis,), (place,) = self.made.axes, places
        if not any(outer is axis.loop for outer in self.indices.around[id(one)]):
            return hir.TRUE
        return Op("le" if is_later else "lt", (axis.iteration(place).expr(), axis.loop.var), "b")

    def _is_steady(self, item: Sequence[Expr]) -> bool:
        return all(self.indices.is_steady(leaf) for leaf in item)

    def _is_before(self, one: Statement, places: list[Linear]) -> bool | None:
        """Whether an item has been made where it is read within the loops that make it, if that is known."""
        for axis, place in zip(self.made.axes, places, strict=True):
            ahead = axis.iteration(place).plus(Linear.of({axis.loop.var: 1}, 0), -1)
            if ahead.terms or not any(outer is axis.loop for outer in self.indices.around[id(one)]):
                return None
            if ahead.number:
                return ahead.number < 0
        here, order = self.lists.order[id(one)], self.lists.order
        if here > self.lists.last_of(self.made.sites):
            return True
        return False if here < min(order[id(site)] for site in self.made.sites) else None


def _is_alike(count: Expr, made: Made) -> bool:
    """Whether there are as many places on an axis wherever one is on the others."""
    loops = {axis.loop.var for axis in made.axes}
    return loops.isdisjoint(variables_of(count))


def _is_only_in(expr: Expr, var: Var, tests: tuple[Expr, ...]) -> bool:
    """Whether a variable is in some expressions alone."""
    if expr in tests:
        return True
    if isinstance(expr, Op):
        return all(_is_only_in(arg, var, tests) for arg in expr.args)
    return expr != var


def _with(body: Body, changed: dict[int, Body]) -> Body:
    """Statements with others in place of some."""
    result: Body = []
    for one in body:
        if id(one) in changed:
            result += changed[id(one)]
            continue
        for name in one.BODIES:
            setattr(one, name, _with(getattr(one, name), changed))
        result.append(one)
    return result
