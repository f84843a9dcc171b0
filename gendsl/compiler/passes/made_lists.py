"""Lists that loops make item by item: which loop makes the item at which place.

They are lists that loops add items to, lists of equal items of which loops replace some, as arrays are, also
of several axes, lists of lists, and dicts whose keys are the numbers of iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Call,
    Expr,
    Fill,
    For,
    Function,
    If,
    Leave,
    Load,
    Loop,
    New,
    Next,
    Op,
    Statement,
    Store,
    Truncate,
    Var,
)
from gendsl.compiler.hir.list_uses import list_of
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.text_effects import TextEffects, read_by
from gendsl.compiler.passes.indices import Indices, Linear
from gendsl.compiler.passes.staging import Names

_ZERO = hir.ZEROS["i"]
_NOTHING = Linear((), 0)


@dataclass(frozen=True)
class Axis:
    """One axis of a list, along which a loop makes items.

    Attributes:
        shift: what is added to the loop's variable, or to its opposite, to get the place of an item.
        count: how many places there are; None if it is not known behind the loop.
        is_whole: whether items are made at all of them.
        sign: 1, or -1 for the opposite of the variable.
    """

    loop: For
    shift: Linear
    count: Expr | None
    is_whole: bool
    sign: int = 1

    def iteration(self, place: Linear) -> Linear:
        """The value of the loop's variable where it makes the item at a place."""
        return place.plus(self.shift, -1) if self.sign > 0 else self.shift.plus(place, -1)


@dataclass(frozen=True)
class Made:
    """How loops make the items of a list, or of the lists that are its items.

    Attributes:
        root: the list.
        axes: from the outside.
        widths: of the axes behind the first, how many places they have in one list of several axes.
        sites: the statements that make an item, of which each innermost iteration comes to one.
        begun: the items that a list begins with that loops add others to.
        fill: the item that is at places where none is made.
        handles: the variables that are rows of the list, with their indices.
        own: what makes it, and its rows.
    """

    root: Var
    axes: tuple[Axis, ...]
    widths: tuple[Expr, ...]
    sites: tuple[Append | Store | Call, ...]
    begun: tuple[tuple[Expr, ...], ...] = ()
    fill: tuple[Expr, ...] | None = None
    handles: dict[Var, Expr] = field(default_factory=dict)
    own: tuple[Statement, ...] = ()


class MadeLists:
    """The lists of a function that loops make."""

    def __init__(self, function: Function, effects: TextEffects) -> None:
        self.function, self.effects = function, effects
        self.indices = Indices(function)
        self.names = Names(function)
        self.order: dict[int, int] = {}
        self.every: list[Statement] = []
        for one in hir.walk(function.body):
            self.order[id(one)] = len(self.every)
            self.every.append(one)
        self.users: dict[Var, list[Statement]] = {}
        for one in self.every:
            for var in read_by(one):
                self.users.setdefault(var, []).append(one)
        self.makers: dict[Var, Statement] = {
            target: one for one in self.every for target in hir.targets(one) if self.indices.sets[target] == 1
        }

    # --- which lists ----------------------------------------------------------------------------------

    def every_made(self) -> Iterator[Made]:
        """The lists that loops make, in the order in which they do."""
        found = []
        for one in self.every:
            made = None
            if isinstance(one, (New, Fill)) and self.indices.sets[one.target] == 1:
                made = self._nested(one) if one.layout == ("r",) else None
                made = made or self._flat(one)
            elif isinstance(one, Call) and one.function.on_dict[0] == "new_dict":
                made = self._dict(one)
            if made is not None:
                found.append(made)
        yield from sorted(found, key=lambda made: self.order[id(made.sites[0])])

    def uses(self, ref: Var) -> list[Statement] | None:
        """What reads or changes a list that has no other name; None where it may have."""
        every = self.users.get(ref, [])
        for one in every:
            if list_of(one) == ref:
                others = [expr for expr in hir.expressions(one) if expr != ref]
                if len(others) == len(hir.expressions(one)) - 1 and ref not in variables_of(*others):
                    continue
            elif isinstance(one, Call) and not self._may_keep(one):
                continue
            return None
        return every

    def _may_keep(self, call: Call) -> bool:
        """Whether a function may change a list that it is given, or give it another name."""
        return "r" in call.function.results or bool(self.effects.of(call.function).changes)

    def _flat(self, begun: New | Fill) -> Made | None:
        uses = self.uses(begun.target)
        if uses is None:
            return None
        sites = [one for one in uses if isinstance(one, (Append, Store, Truncate))]
        return self._of_sites(begun.target, begun, sites, [begun])

    def _of_sites(
        self, root: Var, begun: New | Fill, sites: Sequence[Statement], own: list[Statement]
    ) -> Made | None:
        """A list whose items are numbers, from what changes it."""
        if isinstance(begun, New):
            loops = self._nest(sites, Append, 1, begun)
            if loops is None:
                return None
            (loop,) = loops
            first = Linear((), len(begun.items))
            shift = first.plus(self.indices.linear(loop.start), -1)
            count = first.plus(self._iterations(loop)).expr()
            axis = Axis(loop, shift, count, True)
            return Made(root, (axis,), (), tuple(sites), tuple(begun.items), None, {}, tuple(own))  # type: ignore[arg-type]
        for rank in (1, 2, 3):
            made = self._of_equal(root, begun, sites, rank, own)
            if made is not None:
                return made
        return None

    def _of_equal(
        self, root: Var, begun: Fill, sites: Sequence[Statement], rank: int, own: list[Statement]
    ) -> Made | None:
        """A list of equal items, of which loops replace some."""
        loops = self._nest(sites, Store, rank, begun)
        placed = {split(one.index, rank) for one in sites if isinstance(one, Store)}
        if loops is None or len(placed) != 1 or (found := placed.pop()) is None:
            return None
        places, widths = found
        if not all(map(self.indices.is_steady, (begun.count, *widths))):
            return None
        axes: list[Axis] = []
        counts = [begun.count if not widths else None, *widths]
        for index, loop, count in zip(places, loops, counts, strict=True):
            axis = self._axis(sites[0], index, loop, count)
            if axis is None or (axes and not self.indices.is_within(sites[0], index, count)):
                return None
            is_whole = axis.sign > 0 and self._is_whole(loop, axis.shift, count, begun, widths)
            axes.append(replace(axis, is_whole=is_whole))
        return Made(root, tuple(axes), widths, tuple(sites), (), begun.item, {}, tuple(own))  # type: ignore[arg-type]

    def _iterations(self, loop: For) -> Linear:
        """How many iterations a loop that counts up has."""
        count = self.indices.linear(loop.stop).plus(self.indices.linear(loop.start), -1)
        if not count.terms:
            return Linear((), max(count.number, 0))
        return Linear.of({Op("imax", (count.expr(), _ZERO), "i"): 1}, 0)

    def _is_whole(
        self, loop: For, shift: Linear | None, count: Expr | None, begun: Fill, widths: tuple[Expr, ...]
    ) -> bool:
        """Whether a loop makes an item at every place of an axis."""
        linear = self.indices.linear
        if count is None:  # the first of several: their product is how many items there are
            product = linear(begun.count)
            width = widths[0]
            for other in widths[1:]:
                width = Op("mul", (width, other), "i")
            same = [Op("mul", pair, "i") for pair in ((loop.stop, width), (width, loop.stop))]
            if begun.count not in same and product != linear(same[0]):
                return False
            count = loop.stop
        return shift == linear(loop.start) == _NOTHING and linear(count) == linear(loop.stop)

    def _axis(self, one: Statement, index: Expr, loop: For, count: Expr | None) -> Axis | None:
        """The axis along which a loop makes items at an index of a statement, if that is its variable with a
        sign, and a number added, or for a loop backwards what is known before it.
        """
        (_, index), *others = self.indices.possible(one, index)
        found = self.indices.linear(index)
        least = self.indices.least(one, found)
        if others or least is None or least < 0:
            return None  # a place is counted from the end where it is negative
        sign, rest = found.factor(loop.var), found.without(loop.var)
        if sign == 1 and not rest.terms:
            return Axis(loop, rest, count, False)
        terms = [x for x, _ in rest.terms]
        is_known = all(map(self.indices.is_steady, terms)) and _set_in(loop).isdisjoint(variables_of(*terms))
        return Axis(loop, rest, count, False, -1) if sign == -1 and is_known else None

    def _nest(
        self, sites: Sequence[Statement], kind: type, rank: int, begun: Statement
    ) -> tuple[For, ...] | None:
        """The loops in which each innermost iteration comes to one of some statements."""
        if not sites or not all(type(one) is kind for one in sites):
            return None
        around = self.indices.around[id(sites[0])]
        every = [one for one in around if isinstance(one, (For, Loop))][-rank:]
        loops = tuple(one for one in every if isinstance(one, For) and self.indices.is_counted(one))
        if not loops or len(loops) != rank:
            return None
        outermost = loops[0]
        if self.indices.around[id(begun)] != self.indices.around[id(outermost)]:
            return None
        if self.order[id(begun)] > self.order[id(outermost)]:
            return None
        body: Body = [outermost]
        for loop in loops:
            if not any(one is loop for one in body):
                return None  # it is in a branch
            body = loop.body
            for one in hir.walk(body):
                is_jump = isinstance(one, (Leave, Next)) and one.label == loop.label
                if is_jump and (isinstance(one, Leave) or self.order[id(one)] < self.last_of(sites)):
                    return None
        for inner in loops[1:]:
            if loops[0].var in variables_of(inner.start):
                return None
        inside = {id(one) for one in hir.walk(body)}
        if not all(id(one) in inside for one in sites):
            return None
        return loops if _surely_one(body, set(map(id, sites))) else None

    def last_of(self, sites: Sequence[Statement]) -> int:
        """The place of the last of some statements."""
        return max(self.order[id(one)] for one in sites)

    def _nested(self, begun: New | Fill) -> Made | None:
        """A list of lists."""
        uses = self.uses(begun.target)
        if uses is None or not isinstance(begun, New) or begun.items:
            return None
        appends = [one for one in uses if isinstance(one, (Append, Store, Truncate))]
        loops = self._nest(appends, Append, 1, begun)
        if loops is None or len(appends) != 1 or loops[0].start != _ZERO:
            return None
        (rows,) = loops
        (row,) = appends[0].item  # type: ignore[union-attr]
        makes = self.makers.get(row) if isinstance(row, Var) else None
        if not isinstance(makes, (New, Fill)) or makes not in rows.body:
            return None
        handles: dict[Var, Expr] = {row: rows.var}  # type: ignore[dict-item]
        own: list[Statement] = [begun, makes, appends[0]]
        for one in uses:
            if isinstance(one, Load):
                (target,) = one.targets
                if self.indices.sets[target] != 1 or not self.indices.is_steady(one.index):
                    return None
                handles[target] = one.index
                own.append(one)
        changes: list[Append | Store] = []
        for handle in handles:
            every = [one for one in self.users.get(handle, []) if one is not appends[0]]
            for one in every:
                others = [expr for expr in hir.expressions(one) if expr != handle]
                if list_of(one) != handle or handle in variables_of(*others):
                    return None
                if isinstance(one, (Append, Store)):
                    changes.append(one)
                elif isinstance(one, Truncate):
                    return None
        return self._of_rows(begun, rows, makes, changes, handles, own)

    def _of_rows(
        self,
        begun: New,
        rows: For,
        makes: New | Fill,
        changes: list[Append | Store],
        handles: dict[Var, Expr],
        own: list[Statement],
    ) -> Made | None:
        count = self._iterations(rows).expr()
        if isinstance(makes, New) and not makes.items:
            loops = self._nest(changes, Append, 1, makes)
            if loops is None or any(one.list != makes.target for one in changes):
                return None
            (columns,) = loops
            if columns not in rows.body or not self._is_outer(columns, rows):
                return None
            if self.indices.linear(columns.start).terms:
                return None
            shift = _NOTHING.plus(self.indices.linear(columns.start), -1)
            axes = (
                Axis(rows, _NOTHING, count, True),
                Axis(columns, shift, self._iterations(columns).expr(), True),
            )
            return Made(begun.target, axes, (), tuple(changes), (), None, handles, tuple(own))
        if not isinstance(makes, Fill):
            return None
        if not variables_of(makes.count, *makes.item).isdisjoint(_set_in(rows)):
            return None
        nest = self._nest(changes, Store, 2, begun)
        if nest is None or nest[0] is rows or not self.indices.is_steady(makes.count):
            return None
        linear = self.indices.linear
        places = [(handles[one.list], one.index) for one in changes if isinstance(one, Store)]  # type: ignore[index]
        if len({tuple(map(linear, pair)) for pair in places}) != 1:
            return None
        made: list[Axis] = []
        for place, loop, end in zip(places[0], nest, (rows.stop, makes.count), strict=True):
            axis = self._axis(changes[0], place, loop, end)
            if axis is None:
                return None
            is_whole = axis.shift == linear(loop.start) == _NOTHING and linear(loop.stop) == linear(end)
            made.append(replace(axis, is_whole=is_whole and axis.sign > 0))
        return Made(begun.target, tuple(made), (), tuple(changes), (), makes.item, handles, tuple(own))

    def _dict(self, begun: Call) -> Made | None:
        """A dict whose keys are numbers."""
        (root,) = begun.targets
        if self.indices.sets[root] != 1:
            return None
        sites: list[Call] = []
        own: list[Statement] = [begun]
        parts: dict[Var, Expr] = {}
        for one in self.users.get(root, []):
            does = one.function.on_dict[0] if isinstance(one, Call) and one.args.count(root) == 1 else ""
            if does in ("get", "put"):
                sites += [one] if does == "put" else []  # type: ignore[list-item]
                continue
            if not isinstance(one, Load) or any(self.indices.sets[var] != 1 for var in one.targets):
                return None
            parts |= dict.fromkeys(one.targets, root)
            own.append(one)
        for part in parts:
            for one in self.users.get(part, []):
                if not isinstance(one, Call) or one.function.on_dict[0] != "find":
                    return None
        rank = sites[0].function.on_dict[1] if sites else 0
        loops = self._nest(sites, Call, rank, begun)
        if loops is None or not rank:
            return None
        shifts = {tuple(self._shifts(one.args[1 : 1 + rank], loops)) for one in sites}
        found = shifts.pop()
        if shifts or len(found) != rank:
            return None
        axes = tuple(Axis(loop, shift, None, False) for loop, shift in zip(loops, found, strict=True))
        return Made(root, axes, (), tuple(sites), (), None, parts, tuple(own))

    def _shifts(self, keys: Sequence[Expr], loops: tuple[For, ...]) -> Iterator[Linear]:
        """What is added to the variables of loops in keys: numbers, and variables of loops around."""
        outer: set[Expr] = set()
        for key, loop in zip(keys, loops, strict=True):
            found = self.indices.linear(key) if key.kind == "i" else _NOTHING
            rest = found.without(loop.var)
            if found.factor(loop.var) == 1 and {x for x, _ in rest.terms} <= outer:
                yield rest
            outer.add(loop.var)

    def _is_outer(self, columns: For, rows: For) -> bool:
        """Whether how many items a row has depends on nothing that rows set but their number."""
        return variables_of(columns.start, columns.stop).isdisjoint(_set_in(rows) - {rows.var})


def item_of(site: Statement) -> tuple[Expr, ...]:
    """What a statement that makes an item makes."""
    if isinstance(site, Call):
        return tuple(site.args[1 + site.function.on_dict[1] :])
    assert isinstance(site, (Append, Store))
    return site.item


def kinds_of(site: Statement) -> tuple[str, ...]:
    """The kinds of its leaves."""
    return tuple(leaf.kind for leaf in item_of(site)) if isinstance(site, Call) else site.layout  # type: ignore[attr-defined]


def split(index: Expr, rank: int) -> tuple[tuple[Expr, ...], tuple[Expr, ...]] | None:
    """The places on each axis of an index `place * width + place`, and the widths behind the first axis."""
    if rank == 1:
        return (index,), ()
    match index:
        case Op("add", (Op("mul", (outer, width)), last)) | Op("add", (last, Op("mul", (outer, width)))):
            pass
        case Op("mul", (outer, width)):
            last = _ZERO
        case _:
            return None
    found = split(outer, rank - 1)
    return None if found is None else ((*found[0], last), (*found[1], width))


def _surely_one(body: Body, sites: set[int]) -> bool:
    """Whether statements come to one of some others, and to one alone."""
    here = [one for one in body if any(id(inner) in sites for inner in hir.walk([one]))]
    if len(here) != 1:
        return False
    (one,) = here
    if id(one) in sites:
        return True
    return isinstance(one, If) and _surely_one(one.then, sites) and _surely_one(one.orelse, sites)


def _set_in(loop: For) -> set[Var]:
    """The variables that a loop sets."""
    return {var for one in hir.walk([loop]) for var in hir.targets(one)}
