"""What of a log density the value of one choice reaches: variables, lists, and iterations of loops.

A variable is *reached* if it may have another value where the choice has. Within a loop it may be reached in
a few iterations alone: where the choice is at the address (..., i), and is read where the loop's variable is
i - c, these are known, and so are those that read the items of a list that others made. So for each variable
there is an interval of what is added to the choice's index, for each of the loops in which there is one.

All of it is found whatever the order of statements, until nothing more is found; and a loop that turns out to
need all of its iterations changes what is found of others. So this is one module.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

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
    Primitive,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.list_uses import list_of
from gendsl.compiler.hir.rewriting import rename, variables_of
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.text_effects import Layouts, TextEffects, meet, read_by
from gendsl.compiler.passes.axes_variables import exposed, read_after, values_of
from gendsl.compiler.passes.staging import Names
from gendsl.compiler.programs.sums import IMPOSSIBLE

_ONE = Const(1, "i")
_MOST = 4
"""How many iterations of a loop are reached at most: there is a copy of its body for each."""
_MOST_RUN = 12
"""How many run at most, with those that others need items of."""
_STATEMENTS = (
    Set, New, Fill, Length, Load, Store, Append, Truncate, If, For, Loop, Block, Leave, Next, Call, Return, Fail,
    Visit,
)  # fmt: skip
_NOTES = frozenset(["impossible", "cover"])

Window = tuple[int, int]
Reached = dict[Var, Window]
"""For loops, by their variables, the iterations: what is added to the choice's index, from and to. Where a
loop is not there, all of its iterations may be reached."""


class NoBlanketError(Exception):
    """The value of a choice may decide which choices there are, or a text is none that is understood."""


@dataclass(frozen=True)
class Maker:
    """How a loop makes a list, item by item.

    Attributes:
        place: what is added to the loop's variable to get the place of an item.
        first: how many items there are before the first of these.
        count: how many there are in the end.
    """

    ref: Var
    loop: For
    place: int
    first: int
    count: Expr


def leaves_of(expr: Expr) -> list[Expr]:
    """What is added up in an expression."""
    if isinstance(expr, Op) and expr.name == "add" and expr.kind == "f":
        return [leaf for arg in expr.args for leaf in leaves_of(arg)]
    return [expr]


def added_to(leaves: list[Expr]) -> Expr:
    """The sum of some terms."""
    found: Expr = leaves[0] if leaves else Const(0.0, "f")
    for leaf in leaves[1:]:
        found = Op("add", (found, leaf), "f")
    return found


def apart(function: Function) -> None:
    """Give variables that a loop sets anew in each iteration names of their own, where others have these."""
    names = Names(function)
    _apart(function, function.body, [], names)


def _apart(
    function: Function, body: Body, around: list[tuple[Statement | None, Body]], names: Names
) -> None:
    for at, one in enumerate(body):
        after = [*around, (one, body[at + 1 :])]
        if isinstance(one, (For, Loop)):
            inside = {var for inner in hir.walk(one.body) for var in hir.targets(inner)}
            elsewhere = set(function.parameters)
            within = {id(inner) for inner in hir.walk([one])}
            for other in hir.walk(function.body):
                if id(other) not in within:
                    elsewhere |= {*hir.targets(other), *read_by(other)}
            own = (inside & elsewhere) - exposed(one.body)[0] - read_after(inside, after)
            if own:
                named = {var: Var(names.new(var.name), var.kind) for var in sorted(own)}
                rename(one.body, named)
        for inner_body in hir.bodies(one):
            _apart(function, inner_body, after, names)


class Reach:
    """What is found.

    Attributes:
        sums: the variables that do nothing but to add up terms; they don't count as reached.
        windows: of the loops of which a few iterations run, which these are.
        depending: of these loops the iterations that are reached; others are run for the items that they make.
        axis: for each of these loops the axis of the choice's index.
        makers: the lists that loops make item by item.
        made_in_part: those of them of which a few items are made.
    """

    def __init__(self, function: Function, template: Template, effects: TextEffects) -> None:
        self.function, self.template, self.effects = function, template, effects
        for one in hir.walk(function.body):
            if not isinstance(one, _STATEMENTS) and not (isinstance(one, Primitive) and one.name in _NOTES):
                raise NoBlanketError
            if isinstance(one, Call) and not effects.of(one.function).pure:
                raise NoBlanketError
        self.every = list(hir.walk(function.body))
        self.values = values_of(function)
        self.sets = Counter([*function.parameters, *(var for one in self.every for var in hir.targets(one))])
        self.around: dict[int, tuple[Statement, ...]] = {}
        self._place(function.body, ())
        self.own = self._own_lists()
        self.homes: dict[Expr, set[Var]] = {
            one.target: {x.var for x in self.around[id(one)] if isinstance(x, For)}
            for one in self.every
            if isinstance(one, (New, Fill)) and one.target in self.own
        }
        self.sums = self._find_sums()
        self.loops: dict[Var, For] = {}
        self._find_loops(function.body, [])
        self.makers = self._find_makers()
        while True:
            self.windows: dict[Var, Window] = {}
            self.depending: dict[Var, Window] = {}
            self.axis: dict[Var, int] = {}
            self._flow_all()
            wrong = self._ruled_out()
            if not wrong:
                break
            for var in wrong:
                del self.loops[var]
            self.makers = {ref: one for ref, one in self.makers.items() if one.loop.var in self.loops}
        self.made_in_part = {
            ref: one
            for ref, one in self.makers.items()
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

    def is_made_in(self, ref: Expr, loop: For) -> bool:
        """Whether each iteration of a loop makes a list of its own."""
        return loop.var in self.homes.get(ref, ())

    # --- what is known before -----------------------------------------------------------------------

    def _place(self, body: Body, around: tuple[Statement, ...]) -> None:
        for one in body:
            self.around[id(one)] = around
            for inner in hir.bodies(one):
                self._place(inner, (*around, one))

    def _own_lists(self) -> set[Expr]:
        """The lists that no variable but one has, by which they are made, read and changed.

        A function may be given one if it neither returns a list nor puts one into another.
        """
        made: set[Expr] = {
            one.target for one in self.every if isinstance(one, (New, Fill)) and self.sets[one.target] == 1
        }
        for one in self.every:
            ref = list_of(one)
            others = [expr for expr in hir.expressions(one) if expr != ref]
            if ref is not None and len(others) < len(hir.expressions(one)) - 1:
                made.discard(ref)
            if isinstance(one, Call):
                changes = self.effects.of(one.function).changes
                if "r" not in one.function.results and not any("r" in layout or "any" in layout for layout in changes):
                    continue
            made -= variables_of(*others)
        return made

    def _find_sums(self) -> set[Var]:
        """The variables that are added to what is returned, and to nothing else."""
        if not self.every or not isinstance(self.function.body[-1], Return):
            raise NoBlanketError
        sums = {one for one in self.sets if one.kind == "f"} - set(self.function.parameters)
        while True:
            wrong = self._no_sums(sums)
            if wrong.isdisjoint(sums):
                break
            sums -= wrong
        for one in self.every:
            if isinstance(one, Return) and one.values != [IMPOSSIBLE]:
                if not all(leaf in sums or isinstance(leaf, Const) for leaf in leaves_of(one.values[0])):
                    raise NoBlanketError
        return sums

    def _no_sums(self, sums: set[Var]) -> set[Var]:
        """The variables with which something else is done, or that nothing is done with."""
        wrong = set[Var]()
        added = Counter[Var]()
        returned = set[Var]()
        for one in self.every:
            if isinstance(one, Return):
                for leaf in leaves_of(one.values[0]):
                    if isinstance(leaf, Var):
                        returned.add(leaf)
                    else:
                        wrong |= variables_of(leaf)
            elif isinstance(one, Set):
                for target, value in zip(one.targets, one.values, strict=True):
                    leaves = leaves_of(value)
                    for leaf in leaves:
                        if not isinstance(leaf, Var) or target not in sums:
                            wrong |= variables_of(leaf)
                        elif leaf != target:
                            added[leaf] += 1
                        elif leaves.count(leaf) > 1:
                            wrong.add(leaf)
            else:
                wrong |= read_by(one) | set(hir.targets(one))
        uses = added + Counter(returned)
        return wrong | {var for var in sums if uses[var] != 1}

    # --- loops --------------------------------------------------------------------------------------

    def _find_loops(self, body: Body, around: list[tuple[Statement | None, Body]]) -> None:
        for at, one in enumerate(body):
            after = [*around, (one, body[at + 1 :])]
            if isinstance(one, For) and self._is_independent(one, after):
                self.loops[one.var] = one
            for inner in hir.bodies(one):
                self._find_loops(inner, after)

    def _is_independent(self, loop: For, around: list[tuple[Statement | None, Body]]) -> bool:
        """Whether the iterations of a loop need nothing of one another but sums, and items of lists by their
        places.
        """
        if loop.step != _ONE or self.sets[loop.var] != 1:
            return False
        inner = list(hir.walk(loop.body))
        if any(isinstance(one, Leave) and one.label == loop.label for one in inner):
            return False
        if any(isinstance(one, Return) and one.values != [IMPOSSIBLE] for one in inner):
            return False
        inside = {var for one in inner for var in hir.targets(one)}
        later = read_after({loop.var, *inside}, around)
        if loop.var in later:
            return False
        carried = inside & (exposed(loop.body)[0] | later)
        if not carried <= self.sums or not carried.isdisjoint(_begun_in(inner)):
            return False
        made = {one.target for one in inner if isinstance(one, (New, Fill))}
        changed: set[Expr] = set()
        for one in inner:
            if isinstance(one, (Append, Store, Truncate)) and one.list not in made:
                if isinstance(one, Store) and one.keeps:
                    continue
                changed.add(one.list)
            elif isinstance(one, Call) and self.effects.of(one.function).changes:
                return False
        return all(self._is_made_by(loop, ref, inner) for ref in changed)

    def _is_made_by(self, loop: For, ref: Expr, inner: list[Statement]) -> bool:
        """Whether each iteration adds or replaces one item of a list, and reads others by their places."""
        if ref not in self.own or not _adds_one(loop, loop.body, ref):
            return False
        for one in inner:
            if isinstance(one, Load) and one.list == ref:
                shift = _shift(one.index, loop.var, self.values)
                if shift is None:
                    return False
            elif ref in read_by(one) and not isinstance(one, (Append, Store)):
                return False
        return True

    def _find_makers(self) -> dict[Expr, Maker]:
        """The lists that loops make item by item."""
        found: dict[Expr, Maker] = {}
        changed: defaultdict[Expr, list[Append | Store | Truncate]] = defaultdict(list)
        begun: dict[Expr, New | Fill] = {}
        for one in self.every:
            if isinstance(one, (Append, Store, Truncate)):
                changed[one.list].append(one)
            elif isinstance(one, (New, Fill)) and one.target in self.own:
                begun[one.target] = one
            elif isinstance(one, Call) and self.effects.of(one.function).changes:
                for var in read_by(one):
                    changed[var] += [Truncate(var, (), hir.ZEROS["i"])]
        for ref, every in changed.items():
            loops = {x.var: x for one in every if id(one) in self.around for x in self.around[id(one)]
                     if isinstance(x, For) and x.var in self.loops and _adds_one(x, x.body, ref)}  # fmt: skip
            if len(loops) != 1 or ref not in begun:
                continue
            (loop,) = loops.values()
            inside = {id(one) for one in hir.walk(loop.body)}
            if any(id(one) not in inside for one in every):
                continue
            made = self._made_by(loop, begun[ref], every)
            if made is not None and self.around[id(begun[ref])] == self.around[id(loop)]:
                found[ref] = made  # it does not go on from loop to loop
        return found

    def _made_by(self, loop: For, begun: New | Fill, every: list[Append | Store | Truncate]) -> Maker | None:
        start = loop.start
        if not isinstance(start, Const) or not isinstance(start.value, int):
            return None
        if isinstance(begun, New):
            if not all(isinstance(one, Append) for one in every):
                return None
            first = len(begun.items)
            length = Op("imax", (Op("sub", (loop.stop, start), "i"), hir.ZEROS["i"]), "i")
            count = length if not first else Op("add", (length, Const(first, "i")), "i")
            return Maker(begun.target, loop, first - start.value, first, count)
        is_whole = start.value == 0 and begun.count == loop.stop
        if is_whole and all(isinstance(one, Store) and one.index == loop.var for one in every):
            return Maker(begun.target, loop, 0, 0, Op("imax", (loop.stop, hir.ZEROS["i"]), "i"))
        return None

    def _place_in(self, index: Expr) -> tuple[For, int] | None:
        """The loop that an index is the variable of, and what is added to that."""
        for var, loop in self.loops.items():
            shift = _shift(index, var, self.values)
            if shift is not None:
                return loop, shift
        return None

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

    def _grow(self, found: dict, key, reached: Reached | None) -> None:  # type: ignore[type-arg, no-untyped-def]
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
                if ref in self.own:
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
            place = self._place_in(index) or self._iteration_at(one, index)
            if place is not None and self.axis.setdefault(place[0].var, axis) == axis:
                found[place[0].var] = -place[1], -place[1]
        return found

    def _iteration_at(self, one: Statement, index: Expr) -> tuple[For, int] | None:
        """The loop that an index is the variable of where a statement is come to."""
        around = (*self.around[id(one)], one)
        for outer, inner in pairwise(around):
            if isinstance(outer, If):
                for var in variables_of(outer.test) & self.loops.keys():
                    is_then = any(inner is x for x in outer.then)
                    if index == _only_value(outer.test, var, self.loops[var].start, holds=is_then):
                        return self.loops[var], 0
        return None

    def _of_items(self, one: Load, ref: Expr, layout: tuple[str, ...]) -> Reached | None:
        if ref not in self.own:
            return {} if self._is_among(layout) else None
        found, maker = self.contents.get(ref), self.makers.get(ref)
        if found is None or maker is None:
            return found
        found = dict(found)
        low, high = found.pop(maker.loop.var, (0, _MOST))
        place = self._place_in(one.index)
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
            self.layouts |= changes
            for var in read_by(call):
                if var in self.own:
                    self._grow(self.contents, var, {})
                    self._grow(self.lengths, var, {})

    def _first_items(self, one: New | Fill, found: Reached | None) -> Reached | None:
        """Where the items that a list begins with are reached.

        An item that is the choice of an index itself is reached where that is the index: as items that a loop
        adds are, if it stands in the place that it would have among these.
        """
        maker = self.makers.get(one.target)
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
        for one in self.every:
            if isinstance(one, Visit) and one.template == self.template and [leaf] == one.targets:
                return one.indices
        return None

    def _change(
        self, ref: Expr, layout: tuple[str, ...], found: Reached | None, length: Reached | None
    ) -> None:
        """A list may have other items, or another number of them."""
        if found is None and length is None:
            return
        if ref not in self.own:
            layouts = self.layouts | {tuple("i" if kind == "b" else kind for kind in layout)}
            self.changed = self.changed or layouts != self.layouts
            self.layouts = layouts
            return
        maker = self.makers.get(ref)
        kept = {*self.homes[ref], *(() if maker is None else (maker.loop.var,))}
        for known, reached in ((self.contents, found), (self.lengths, length)):
            if reached is not None:
                self._grow(known, ref, {var: window for var, window in reached.items() if var in kept})

    # --- loops of which a few iterations run --------------------------------------------------------

    def _ruled_out(self) -> set[Var]:
        """The loops that need all of their iterations; if there are none, the windows of all others are known."""
        wrong = set[Var]()
        depending: dict[Var, Window] = {}
        for one in self.every:
            found = _either(self._read(one), self.under.get(id(one)))
            ref = one.list if isinstance(one, (Append, Store)) else None
            for loop in self.around[id(one)]:
                if not isinstance(loop, For) or loop.var not in self.loops or found is None:
                    continue
                if loop.var not in found:
                    wrong.add(loop.var)
                else:
                    _widen(depending, loop.var, *found[loop.var])
                if ref in self.contents and ref not in self.makers and not self.is_made_in(ref, loop):
                    wrong.add(loop.var)
            wrong |= self._needs_whole(one)
            if isinstance(one, New) and found is not None and (maker := self.makers.get(one.target)) is not None:
                if maker.loop.var not in self.contents.get(one.target, {}):
                    wrong.add(maker.loop.var)
        if wrong:
            return wrong
        self.depending = {var: found for var, found in depending.items()}
        self.windows = dict(depending)
        return self._widened()

    def _needs_whole(self, one: Statement) -> set[Var]:
        """The loop that must make all items of a list, as a statement may read any of them."""
        for ref in read_by(one):
            maker = self.makers.get(ref)
            if maker is None or ref not in self.contents or isinstance(one, (Append, Store, Length)):
                continue
            window = self.contents[ref].get(maker.loop.var)
            place = self._place_in(one.index) if isinstance(one, Load) and one.list == ref else None
            if place is None or window is None or ref in self.lengths:
                return {maker.loop.var}
            if self.axis.get(place[0].var) != self.axis.get(maker.loop.var):
                return {maker.loop.var}
        return set()

    def _widened(self) -> set[Var]:
        """Let the iterations run whose items are read; the loops of which too many would."""
        reads = [
            (self.makers[one.list], place)
            for one in self.every
            if isinstance(one, Load) and one.list in self.makers and one.list in self.contents
            if (place := self._place_in(one.index)) is not None
        ]
        for _ in range(_MOST_RUN * len(self.loops) + 1):
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


def _shift(index: Expr, var: Var, values: dict[Var, Expr]) -> int | None:
    """What is added to a variable in an index."""
    match index:
        case Var():
            if index == var:
                return 0
            return _shift(values[index], var, values) if index in values else None
        case Op("add", (one, Const(value))) | Op("add", (Const(value), one)) if isinstance(value, int):
            found = _shift(one, var, values)
            return None if found is None else found + value
        case Op("sub", (one, Const(value))) if isinstance(value, int):
            found = _shift(one, var, values)
            return None if found is None else found - value
    return None


def _only_value(test: Expr, var: Var, start: Expr, *, holds: bool) -> Expr | None:
    """The value that a loop's variable has where a test holds, or does not."""
    match test:
        case Op("not", (other,)):
            return _only_value(other, var, start, holds=not holds)
        case Op("eq", (one, Const() as value)) if one == var and holds:
            return value
        case Op("ne", (one, Const() as value)) if one == var and not holds:
            return value
        case Op("gt", (one, Const() as value)) if one == var and not holds and value == start:
            return value
        case Op("ge", (one, Const(int(value)))) if one == var and not holds and Const(value - 1, "i") == start:
            return start
        case Op("lt", (one, Const(int(value)))) if one == var and holds and Const(value - 1, "i") == start:
            return start
        case Op("le", (one, Const() as value)) if one == var and holds and value == start:
            return value
    return None


def _adds_one(loop: For, body: Body, ref: Expr) -> bool:
    """Whether statements of a loop surely add one item to a list, or replace one."""
    for at, one in enumerate(body):
        if not any(isinstance(x, (Append, Store, Truncate)) and x.list == ref for x in hir.walk([one])):
            continue
        before, after = body[:at], body[at + 1 :]
        if any(isinstance(x, (Append, Store, Truncate)) and x.list == ref for x in hir.walk(after)):
            return False
        if any(isinstance(x, (Next, Leave)) for x in hir.walk(before)):
            return False
        if isinstance(one, If):
            return _adds_one(loop, one.then, ref) and _adds_one(loop, one.orelse, ref)
        return isinstance(one, (Append, Store)) and ref not in variables_of(*one.item)
    return False


def _begun_in(statements: Iterable[Statement]) -> set[Var]:
    """The variables that statements set to anything but their own value with something added."""
    return {
        target
        for one in statements
        if isinstance(one, Set)
        for target, value in zip(one.targets, one.values, strict=True)
        if target not in leaves_of(value)
    }
