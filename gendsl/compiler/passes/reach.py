"""What of a log density the value of one choice reaches: variables, lists, and iterations of loops.

A variable is *reached* if it may have another value where the choice has. Within a loop it may be reached in
a few iterations alone: where the choice is at the address (..., i), and is read where the loop's variable is
i - c, these are known, and so are those that read the items of a list that others made. So for each variable
there is an interval of what is added to the choice's index, for each of the loops in which there is one.

All of it is found whatever the order of statements, until nothing more is found; and a loop that turns out to
need all of its iterations changes what is found of others. So this is one module.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    IMPOSSIBLE,
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
    Primitive,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.rewriting import variables_of
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.text_effects import Layouts, TextEffects, meet, read_by
from gendsl.compiler.passes.loop_items import LoopItems
from gendsl.compiler.passes.term_sums import sums_of

_MOST = 4
"""How many iterations of a loop are reached at most: there is a copy of its body for each."""
_MOST_RUN = 12
"""How many run at most, with those that others need items of."""
_STATEMENTS = (
    Set, New, Fill, Length, Load, Store, Append, Truncate, If, For, Loop, Block, Leave, Next, Call, Return,
    Fail, Visit,
)  # fmt: skip
_NOTES = frozenset(["impossible", "cover"])

Window = tuple[int, int]
Reached = dict[Var, Window]
"""For loops, by their variables, the iterations: what is added to the choice's index, from and to. Where a
loop is not there, all of its iterations may be reached."""


class NoBlanketError(Exception):
    """The value of a choice may decide which choices there are, or a text is none that is understood."""


class Reach:
    """What is found.

    Attributes:
        sums: the variables that do nothing but to add up terms; they don't count as reached.
        windows: of the loops of which a few iterations run, which these are.
        depending: of these loops the iterations that are reached; others run for the items that they make.
        axis: for each of these loops the axis of the choice's index.
        items: the loops and lists.
        made_in_part: those of them of which a few items are made.
    """

    def __init__(self, function: Function, template: Template, effects: TextEffects) -> None:
        self.function, self.template, self.effects = function, template, effects
        for one in hir.walk(function.body):
            if not isinstance(one, _STATEMENTS) and not (isinstance(one, Primitive) and one.name in _NOTES):
                raise NoBlanketError
            if isinstance(one, Call) and not effects.of(one.function).pure:
                raise NoBlanketError
        sums = sums_of(function)
        if sums is None:
            raise NoBlanketError
        self.sums = sums
        self.items = LoopItems(function, sums, effects)
        while True:
            self.windows: dict[Var, Window] = {}
            self.depending: dict[Var, Window] = {}
            self.axis: dict[Var, int] = {}
            self._flow_all()
            wrong = self._ruled_out()
            if not wrong:
                break
            self.items.rule_out(wrong)
        self.made_in_part = {
            ref: one
            for ref, one in self.items.makers.items()
            if ref in self.contents and one.loop.var in self.windows
        }

    # --- questions ----------------------------------------------------------------------------------

    def is_dependent(self, *exprs: Expr) -> bool:
        """Whether expressions may have other values where the choice has."""
        return self._of(*exprs) is not None

    def is_under(self, one: Statement) -> bool:
        """Whether a statement is only come to where the choice has certain values."""
        return id(one) in self.under

    def depends(self, one: Statement) -> bool:
        """Whether a statement itself has to do with what is reached."""
        if isinstance(one, (For, Loop, Block, If)):
            return self.is_dependent(*hir.expressions(one))
        return self._read(one) is not None or self.is_dependent(*hir.targets(one))

    def has_another_length(self, ref: Expr) -> bool:
        """Whether a list may have another number of items."""
        return ref in self.lengths if ref in self.items.own else self.is_dependent(ref) or bool(self.layouts)

    # --- what is reached ----------------------------------------------------------------------------

    def _flow_all(self) -> None:
        self.reached: dict[Var, Reached] = {}
        self.contents: dict[Expr, Reached] = {}
        self.lengths: dict[Expr, Reached] = {}
        self.layouts: Layouts = frozenset()
        self.under: dict[int, Reached] = {}
        self.left: dict[int, Reached] = {}
        self.changed = True
        while self.changed:
            self.changed = False
            self._flow(self.function.body, None)

    def _grow(self, found: dict[Any, Reached], key: Any, reached: Reached | None) -> None:
        """Something is reached where something else is, too."""
        if reached is None:
            return
        before = found.get(key)
        after = dict(reached) if before is None else _joined(before, reached)
        if any(high - low >= _MOST for low, high in after.values()):
            after = {var: (low, high) for var, (low, high) in after.items() if high - low < _MOST}
        if before != after:
            found[key] = after
            self.changed = True

    def _of(self, *exprs: Expr) -> Reached | None:
        """Where expressions are reached."""
        found: Reached | None = None
        for var in variables_of(*exprs):
            found = _either(found, self.reached.get(var))
        return found

    def _read(self, one: Statement) -> Reached | None:
        """Where what a statement itself reads is reached."""
        found = self._of(*hir.expressions(one))
        match one:
            case Load(list=ref, layout=layout):
                found = _either(found, self._of_items(one, ref, layout))
            case Length(list=ref, layout=layout):
                if ref in self.items.own:
                    found = _either(found, self.lengths.get(ref))
                elif self._is_among(layout):
                    found = _either(found, {})
            case Call(function=function):
                reads = self.effects.of(function).reads
                if meet(reads, self.layouts):
                    found = _either(found, {})
                for var in read_by(one):
                    for known in (self.contents, self.lengths):
                        found = _either(found, known.get(var))
            case Visit(template=template) if template == self.template:
                found = _either(found, self._of_choice(one))
        return found

    def _of_choice(self, one: Visit) -> Reached:
        """The iterations in which a choice has the address of the one that has another value."""
        found: Reached = {}
        for axis, index in enumerate(one.indices):
            place = self.items.place_in(index) or self.items.iteration_at(one, index)
            if place is not None and self.axis.setdefault(place[0].var, axis) == axis:
                found[place[0].var] = -place[1], -place[1]
        return found

    def _of_items(self, one: Load, ref: Expr, layout: tuple[str, ...]) -> Reached | None:
        if ref not in self.items.own:
            return {} if self._is_among(layout) else None
        found, maker = self.contents.get(ref), self.items.makers.get(ref)
        if found is None or maker is None:
            return found
        found = dict(found)
        low, high = found.pop(maker.loop.var, (0, _MOST))
        place = self.items.place_in(one.index)
        if place is not None and high - low < _MOST:
            loop, shift = place
            axis = self.axis.get(maker.loop.var)
            if axis is not None and self.axis.setdefault(loop.var, axis) == axis:
                found[loop.var] = low + maker.place - shift, high + maker.place - shift
        return found

    def _is_among(self, layout: tuple[str, ...]) -> bool:
        """Whether lists of a kind may have other items."""
        return meet(frozenset([tuple("i" if kind == "b" else kind for kind in layout)]), self.layouts)

    def _flow(self, body: Body, under: Reached | None) -> None:
        for one in body:
            if under is not None:
                self._grow(self.under, id(one), under)
            self._statement(one, under)
            inside = under
            if isinstance(one, (For, Loop, Block)):
                inside = _either(inside, self.left.get(one.label))
            if isinstance(one, (If, For)):
                inside = _either(inside, self._of(*hir.expressions(one)))
            for inner in hir.bodies(one):
                self._flow(inner, inside)

    def _statement(self, one: Statement, under: Reached | None) -> None:
        found = _either(under, self._read(one))
        match one:
            case Set(targets=targets, values=values):
                for target, value in zip(targets, values, strict=True):
                    if target not in self.sums:
                        self._grow(self.reached, target, _either(under, self._of(value)))
                    elif under is not None and not self.sums.isdisjoint(variables_of(value) - {target}):
                        raise NoBlanketError
            case Visit(targets=targets, indices=indices):
                if under is not None or self._of(*indices) is not None:
                    raise NoBlanketError
                self._reach_all(targets, found)
            case Load(targets=targets) | Call(targets=targets):
                self._reach_all(targets, found)
                if isinstance(one, Call) and found is not None:
                    self._change_by(one, found)
            case Length(target=target):
                self._grow(self.reached, target, found)
            case New(target=target, layout=layout) | Fill(target=target, layout=layout):
                self._grow(self.reached, target, under)
                length = _either(under, self._of(one.count)) if isinstance(one, Fill) else under
                self._change(target, layout, self._first_items(one, found), length)
            case Store(keeps=True):
                pass  # what depends on more than the index is computed where it is not found
            case Append(list=ref, layout=layout) | Store(list=ref, layout=layout):
                grows = under if isinstance(one, Append) else None
                self._change(ref, layout, found, _either(grows, self._of(ref)))
            case Truncate(list=ref, layout=layout):
                self._change(ref, layout, found, found)
            case For(var=var):
                self._grow(self.reached, var, _either(under, self._of(*hir.expressions(one))))
            case Leave(label=label) | Next(label=label):
                self._grow(self.left, label, under)
            case Return(values=values):
                if under is not None and values != [IMPOSSIBLE]:
                    raise NoBlanketError

    def _reach_all(self, targets: Iterable[Var], found: Reached | None) -> None:
        for target in targets:
            self._grow(self.reached, target, found)

    def _change_by(self, call: Call, found: Reached) -> None:
        """A function that is given other values may change lists."""
        changes = self.effects.of(call.function).changes
        if changes:
            self._change_kinds(changes)
            for var in read_by(call):
                if var in self.items.own:
                    self._grow(self.contents, var, {})
                    self._grow(self.lengths, var, {})

    def _first_items(self, one: New | Fill, found: Reached | None) -> Reached | None:
        """Where the items that a list begins with are reached.

        An item that is the choice of an index itself is reached where that is the index: as items that a loop
        adds are, if it stands in the place that it would have among these.
        """
        maker = self.items.makers.get(one.target)
        if found is None or maker is None or not isinstance(one, New):
            return found
        window = self.contents.get(one.target, {}).get(maker.loop.var)
        axis = self.axis.get(maker.loop.var)
        for place, item in enumerate(one.items):
            for leaf in item:
                if self._of(leaf) is None:
                    continue
                indices = self._looked_up(leaf)
                if window is None or axis is None:
                    continue  # until it is known, or the loop is ruled out
                if indices is None or window[0] != window[1]:
                    return found
                if indices[axis] != Const(place - maker.place - window[0], "i"):
                    return found
        return None

    def _looked_up(self, leaf: Expr) -> tuple[Expr, ...] | None:
        """The indices of the choice that a variable is."""
        for one in self.items.every:
            if isinstance(one, Visit) and one.template == self.template and [leaf] == one.targets:
                return one.indices
        return None

    def _change(
        self, ref: Expr, layout: tuple[str, ...], found: Reached | None, length: Reached | None
    ) -> None:
        """A list may have other items, or another number of them."""
        if found is None and length is None:
            return
        if ref not in self.items.own:
            self._change_kinds(frozenset([tuple("i" if kind == "b" else kind for kind in layout)]))
            return
        maker = self.items.makers.get(ref)
        kept = {*self.items.homes[ref], *(() if maker is None else (maker.loop.var,))}
        for known, reached in ((self.contents, found), (self.lengths, length)):
            if reached is not None:
                self._grow(known, ref, {var: window for var, window in reached.items() if var in kept})

    def _change_kinds(self, layouts: Layouts) -> None:
        """Lists of some kinds may have other items, or another number of them."""
        self.changed = self.changed or not layouts <= self.layouts
        self.layouts |= layouts

    # --- loops of which a few iterations run --------------------------------------------------------

    def _ruled_out(self) -> set[Var]:
        """The loops that need all of their iterations; without any, the windows of all others are known."""
        wrong = set[Var]()
        depending: dict[Var, Window] = {}
        for one in self.items.every:
            found = _either(self._read(one), self.under.get(id(one)))
            ref = one.list if isinstance(one, (Append, Store)) else hir.ZEROS["r"]
            for loop in self.items.around[id(one)]:
                if not isinstance(loop, For) or loop.var not in self.items.loops or found is None:
                    continue
                if loop.var not in found:
                    wrong.add(loop.var)
                else:
                    _widen(depending, loop.var, *found[loop.var])
                is_made = ref in self.items.makers or self.items.is_made_in(ref, loop)
                if ref in self.contents and not is_made:
                    wrong.add(loop.var)
            wrong |= self._needs_whole(one)
            if isinstance(one, New) and found is not None:
                wrong |= self._begun_with(one)
        if wrong:
            return wrong
        self.depending, self.windows = depending, dict(depending)
        return self._widened()

    def _begun_with(self, one: New) -> set[Var]:
        """The loop that makes a list, where it is only reached in the items that it begins with."""
        maker = self.items.makers.get(one.target)
        if maker is None or maker.loop.var in self.contents.get(one.target, {}):
            return set()
        return {maker.loop.var}

    def _needs_whole(self, one: Statement) -> set[Var]:
        """The loop that must make all items of a list, as a statement may read any of them."""
        for ref in read_by(one):
            maker = self.items.makers.get(ref)
            if maker is None or ref not in self.contents or isinstance(one, (Append, Store, Length)):
                continue
            window = self.contents[ref].get(maker.loop.var)
            place = self.items.place_in(one.index) if isinstance(one, Load) and one.list == ref else None
            if place is None or window is None or ref in self.lengths:
                return {maker.loop.var}
            if self.axis.get(place[0].var) != self.axis.get(maker.loop.var):
                return {maker.loop.var}
        return set()

    def _widened(self) -> set[Var]:
        """Let the iterations run whose items are read; the loops of which too many would."""
        reads = [
            (self.items.makers[one.list], place)
            for one in self.items.every
            if isinstance(one, Load) and one.list in self.items.makers and one.list in self.contents
            if (place := self.items.place_in(one.index)) is not None
        ]
        for _ in range(_MOST_RUN * len(self.items.loops) + 1):
            before = dict(self.windows)
            for maker, (loop, shift) in reads:
                if loop is maker.loop:
                    low, high = self.depending.get(loop.var, (0, 0))
                elif loop.var in self.windows:
                    low, high = self.windows[loop.var]
                else:
                    return {maker.loop.var}
                _widen(self.windows, maker.loop.var, low + shift - maker.place, high + shift - maker.place)
            if before == self.windows:
                break
        return {var for var, (low, high) in self.windows.items() if high - low >= _MOST_RUN}


def _either(one: Reached | None, other: Reached | None) -> Reached | None:
    """Where either of two is reached."""
    if one is None or other is None:
        return other if one is None else one
    return _joined(one, other)


def _joined(one: Reached, other: Reached) -> Reached:
    return {
        var: (min(one[var][0], other[var][0]), max(one[var][1], other[var][1])) for var in one if var in other
    }


def _widen(windows: dict[Var, Window], var: Var, low: int, high: int) -> None:
    before = windows.get(var, (low, high))
    windows[var] = min(before[0], low), max(before[1], high)
