"""What of a log density the value of one choice reaches: variables, lists, and iterations of loops.

A variable is *reached* if it may have another value where the choice has. Within loops whose iterations need
nothing of one another it may be reached in a few iterations alone: where the choice is at the address
(..., j) and is read at an index e, in those in which e is j. Where e is the loop's variable with a sign, and
something added, there is one such iteration; where it is computed from data, an index of them is made. So it
is for a loop around that one, in each of whose iterations e is many numbers, as the neighbours of a site are.

So for each variable there are some *boxes*: for some loops, keys that say which iterations these are. What is
in none of them is not reached.

All of it is found whatever the order of statements, until nothing more is found. So this is one module.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    IMPOSSIBLE,
    Append,
    Block,
    Body,
    Call,
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
    Read,
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
from gendsl.compiler.passes.indices import Indices, Linear
from gendsl.compiler.passes.loops import Loops
from gendsl.compiler.passes.of_data import OfData
from gendsl.compiler.passes.term_sums import sums_of

_MOST_KEYS = 6
"""By how many keys iterations of a loop are found at most: there may be a copy of its body for each."""
_MOST_BOXES = 6
ANY = -1
"""The axis of a key that says the same iteration whichever choice it is."""
_STATEMENTS = (
    Set, New, Fill, Length, Load, Store, Append, Truncate, If, For, Loop, Block, Leave, Next, Call, Return,
    Fail, Visit, Read,
)  # fmt: skip
_NOTES = frozenset(["impossible", "cover"])
_DIVIDE = frozenset(["floordiv", "mod", "truediv"])


class Key(NamedTuple):
    """Iterations of a loop: those in which an index, `sign * variable + offset`, is one of the choice's.

    Attributes:
        axis: which of the choice's indices; ANY for the one iteration in which the variable is the offset.
        computed: the index, where it is computed from data in another way; then there is no sign.
        is_many: whether it is computed in a loop within this one, so that it is one of many numbers.
    """

    axis: int
    sign: int
    offset: Linear
    computed: Expr | None = None
    is_many: bool = False

    def place(self, at: Sequence[Var]) -> Linear:
        """The iteration, for the indices of the choice; there is none such where the index is computed."""
        if self.axis == ANY:
            return self.offset
        index = Linear.of({at[self.axis]: 1}, 0)
        return index.plus(self.offset, -1) if self.sign > 0 else self.offset.plus(index, -1)

    def order(self) -> tuple[Any, ...]:
        """What sorts keys by the iterations that they say, as far as these can be told."""
        known = self.offset.terms, self.computed, self.is_many
        return self.axis, self.sign, repr(known), -self.sign * self.offset.number

    def may_meet(self, other: Key) -> bool:
        """Whether both may say the same iteration."""
        if self.computed is not None or other.computed is not None or self[:2] != other[:2]:
            return True
        return self.offset.terms != other.offset.terms or self.offset.number == other.offset.number


Box = dict[Var, frozenset[Key]]
"""For loops, by their variables, some of their iterations; for those that are not there, all."""
Boxes = tuple[Box, ...]


class NoBlanketError(Exception):
    """The value of a choice may decide which choices there are, or a text is none that is understood."""


class Reach:
    """What is found.

    Attributes:
        sums: the variables that do nothing but to add up terms; they don't count as reached.
        indices: what is known of indices.
        loops: the loops and lists.
        data: what is computed from data alone.
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
        self.indices = Indices(function)
        self.loops = Loops(function, sums, effects, self.indices)
        self.data = OfData(function, template, effects, self.indices, self.loops)
        self.reached: dict[Var, Boxes] = {}
        self.contents: dict[Expr, Boxes] = {}
        self.lengths: dict[Expr, Boxes] = {}
        self.layouts: Layouts = frozenset()
        self.under: dict[int, Boxes] = {}
        self.left: dict[int, Boxes] = {}
        self.only: dict[int, Box] = {}
        self.changed = True
        while self.changed:
            self.changed = False
            self._flow(self.function.body, None)

    # --- questions ----------------------------------------------------------------------------------

    def of(self, *exprs: Expr) -> Boxes | None:
        """Where expressions may have other values."""
        found: Boxes | None = None
        for var in variables_of(*exprs):
            found = _either(found, self.reached.get(var))
        return found

    def of_statement(self, one: Statement) -> Boxes | None:
        """Where a statement itself has to do with what is reached."""
        found = self.under.get(id(one))
        if isinstance(one, (For, Loop, Block, If)):
            return self._only_there(one, _either(found, self.of(*hir.expressions(one))))
        return self._only_there(one, _either(found, _either(self._read(one), self.of(*hir.targets(one)))))

    def has_another_length(self, ref: Expr) -> bool:
        """Whether a list may have another number of items."""
        if ref in self.loops.own:
            return ref in self.lengths
        return self.of(ref) is not None or bool(self.layouts)

    def needs_all(self, loop: For) -> bool:
        """Whether a loop makes lists that are reached, for others."""
        changed = {one.list for one in hir.walk(loop.body) if isinstance(one, (Append, Store))}
        return any(ref in self.contents and not self.loops.is_made_in(ref, loop) for ref in changed)

    # --- what is reached ----------------------------------------------------------------------------

    def _grow(self, found: dict[Any, Boxes], key: Any, reached: Boxes | None) -> None:
        """Something is reached where something else is, too."""
        before = found.get(key)
        after = _either(before, reached)
        if after is not None and before != after:
            found[key] = after
            self.changed = True

    def _read(self, one: Statement) -> Boxes | None:
        """Where what a statement itself reads is reached."""
        found = self.of(*hir.expressions(one))
        match one:
            case Load(list=ref, layout=layout):
                found = _either(found, self._of_list(self.contents, ref, layout))
            case Length(list=ref, layout=layout):
                found = _either(found, self._of_list(self.lengths, ref, layout))
            case Call(function=function):
                if meet(self.effects.of(function).reads, self.layouts):
                    found = _EVERYWHERE
                for var in read_by(one):
                    for known in (self.contents, self.lengths):
                        found = _either(found, known.get(var))
            case Visit(template=template) | Read(template=template) if template == self.template:
                found = _either(found, self._of_choice(one))
        return found

    def _of_list(self, known: dict[Expr, Boxes], ref: Expr, layout: tuple[str, ...]) -> Boxes | None:
        if ref in self.loops.own:
            return known.get(ref)
        return _EVERYWHERE if meet(_kinds(layout), self.layouts) else None

    def _of_choice(self, one: Visit | Read) -> Boxes:
        """The iterations in which a choice has the address of the one that has another value."""
        box: Box = {}
        for axis, index in enumerate(one.indices):
            for var, key in self._keys(one, axis, index):
                box.setdefault(var, frozenset([key]))
        return (box,)

    def _keys(self, one: Statement, axis: int, index: Expr) -> Iterator[tuple[Var, Key]]:
        """The iterations of loops in which an index is one of the choice's: of an inner one, and of those
        around it of whose iterations it is computed.
        """
        around = [outer for outer in self.indices.around[id(one)] if isinstance(outer, For)]
        found = self._key(one, axis, index)
        if found is not None:
            yield found
            around = around[: next(at for at, loop in enumerate(around) if loop.var == found[0])]
        for loop in around:
            if loop.var in self.loops.independent and self.data.collects(loop, axis, index) is not None:
                yield loop.var, Key(axis, 0, Linear((), 0), index, True)

    def _key(self, one: Statement, axis: int, index: Expr) -> tuple[Var, Key] | None:
        """The iterations of one loop, the innermost of which that is known."""
        linear = self.indices.linear(index)
        around = [outer for outer in self.indices.around[id(one)] if isinstance(outer, For)]
        inner = [loop for loop in reversed(around) if loop.var in self.loops.independent]
        for loop in inner:
            sign, rest = linear.factor(loop.var), linear.without(loop.var)
            set_inside = {var for each in hir.walk([loop]) for var in hir.targets(each)}
            if abs(sign) == 1 and variables_of(*(x for x, _ in rest.terms)).isdisjoint(set_inside):
                return loop.var, Key(axis, sign, rest)
        for loop in inner:
            found = self.data.computes(loop, index) if linear.terms else None
            if found is not None and self._is_come_to(one, loop, index, found[0]):
                return loop.var, Key(axis, 0, Linear((), 0), index)
        return None

    def _is_come_to(self, one: Statement, loop: For, index: Expr, body: Body) -> bool:
        """Whether what computes an index of a statement fails in no iteration that does not come to that."""
        around = self.indices.around[id(one)]
        within = around[next(at for at, outer in enumerate(around) if outer is loop) :]
        before = itertools.takewhile(lambda x: x is not one, hir.walk(loop.body))
        exprs = [index]
        if any(isinstance(x, (Next, Leave)) and x.label == loop.label for x in before):
            if any(isinstance(x, Load) for x in hir.walk(body)):
                return False
            exprs += (expr for x in hir.walk(body) for expr in hir.expressions(x))
        elif not any(isinstance(outer, If) for outer in within):
            return True
        inside = {var for x in hir.walk([loop]) for var in hir.targets(x)}
        divisions = (x for expr in exprs for x in hir.parts(expr) if isinstance(x, Op) and x.name in _DIVIDE)
        return all(variables_of(x.args[-1]).isdisjoint(inside) for x in divisions)

    def _only_there(self, one: Statement, boxes: Boxes | None) -> Boxes | None:
        """The same for a statement that is come to in one iteration alone, as in a branch of `t == 0`."""
        if boxes is None:
            return None
        known = self.only.get(id(one))
        if known is None:
            around = [outer.var for outer in self.indices.around[id(one)] if isinstance(outer, For)]
            values = {x: self.indices.only_value(one, x) for x in around if x in self.loops.independent}
            keys = {var: Key(ANY, 0, Linear((), at)) for var, at in values.items() if at is not None}
            known = self.only[id(one)] = {var: frozenset([key]) for var, key in keys.items()}
        if not known:
            return boxes
        found: Boxes | None = None
        for box in boxes:
            found = _either(found, ({**known, **box},))
        return found

    def _flow(self, body: Body, under: Boxes | None) -> None:
        for one in body:
            if under is not None:
                self._grow(self.under, id(one), under)
            self._statement(one, under)
            inside = under
            if isinstance(one, (For, Loop, Block)):
                inside = _either(inside, self.left.get(one.label))
            if isinstance(one, (If, For)):
                inside = _either(inside, self.of(*hir.expressions(one)))
            for inner in hir.bodies(one):
                self._flow(inner, inside)

    def _statement(self, one: Statement, under: Boxes | None) -> None:
        found = self._only_there(one, _either(under, self._read(one)))
        match one:
            case Set(targets=targets, values=values):
                for target, value in zip(targets, values, strict=True):
                    if target not in self.sums:
                        reached = self._only_there(one, _either(under, self.of(value)))
                        self._grow(self.reached, target, reached)
                    elif under is not None and not self.sums.isdisjoint(variables_of(value) - {target}):
                        raise NoBlanketError
            case Visit(targets=targets, indices=indices):
                if under is not None or self.of(*indices) is not None:
                    raise NoBlanketError
                self._reach_all(targets, found)
            case Load(targets=targets) | Read(targets=targets) | Call(targets=targets):
                self._reach_all(targets, found)
                if isinstance(one, Call) and found is not None:
                    self._change_by(one)
            case Length(target=target):
                self._grow(self.reached, target, found)
            case New(target=target, layout=layout) | Fill(target=target, layout=layout):
                self._grow(self.reached, target, under)
                length = _either(under, self.of(one.count)) if isinstance(one, Fill) else under
                if target in self.loops.own:
                    self._change(target, layout, found, length)
                else:  # whatever reads it has it from this variable
                    self._grow(self.reached, target, found)
            case Store(keeps=True):
                pass  # what depends on more than the index is computed where it is not found
            case Append(list=ref, layout=layout) | Store(list=ref, layout=layout):
                grows = under if isinstance(one, Append) else None
                self._change(ref, layout, found, _either(grows, self.of(ref)))
            case Truncate(list=ref, layout=layout):
                self._change(ref, layout, found, found)
            case For(var=var):
                self._grow(self.reached, var, _either(under, self.of(*hir.expressions(one))))
            case Leave(label=label) | Next(label=label):
                self._grow(self.left, label, under)
            case Return(values=values):
                if under is not None and values != [IMPOSSIBLE]:
                    raise NoBlanketError

    def _reach_all(self, targets: Iterable[Var], found: Boxes | None) -> None:
        for target in targets:
            self._grow(self.reached, target, found)

    def _change_by(self, call: Call) -> None:
        """A function that is given other values may change lists."""
        changes = self.effects.of(call.function).changes
        if changes:
            self._change_kinds(changes)
            for var in read_by(call):
                if var in self.loops.own:
                    self._grow(self.contents, var, _EVERYWHERE)
                    self._grow(self.lengths, var, _EVERYWHERE)

    def _change(self, ref: Expr, layout: tuple[str, ...], found: Boxes | None, length: Boxes | None) -> None:
        """A list may have other items, or another number of them."""
        if found is None and length is None:
            return
        if ref not in self.loops.own:
            self._change_kinds(_kinds(layout))
            return
        homes = self.loops.homes[ref]
        for known, reached in ((self.contents, found), (self.lengths, length)):
            for box in reached or ():
                self._grow(known, ref, ({var: keys for var, keys in box.items() if var in homes},))

    def _change_kinds(self, layouts: Layouts) -> None:
        """Lists of some kinds may have other items, or another number of them."""
        self.changed = self.changed or not layouts <= self.layouts
        self.layouts |= layouts


_EVERYWHERE: Boxes = ({},)



def _kinds(layout: tuple[str, ...]) -> Layouts:
    return frozenset([tuple("i" if kind == "b" else kind for kind in layout)])


def _either(one: Boxes | None, other: Boxes | None) -> Boxes | None:
    """Where either of two is reached."""
    if one is None or other is None:
        return other if one is None else one
    found = list(one)
    for box in other:
        _add(found, box)
    if len(found) > _MOST_BOXES:
        common = set.intersection(*(set(box) for box in found))
        return (_bounded({var: frozenset().union(*(box[var] for box in found)) for var in common}),)
    return tuple(found)


def _add(found: list[Box], box: Box) -> None:
    """Let some boxes be of one more."""
    for at, each in enumerate(found):
        if _is_within(box, each):
            return
        joined = _as_one(each, box)
        if joined is not None:
            del found[at]
            _add(found, joined)
            return
    found.append(box)


def _is_within(box: Box, other: Box) -> bool:
    return all(var in box and box[var] <= keys for var, keys in other.items())


def _as_one(box: Box, other: Box) -> Box | None:
    """The one box that two are together, if they are one."""
    if _is_within(box, other):
        return other
    if box.keys() != other.keys():
        return None
    differ = [var for var in box if box[var] != other[var]]
    if len(differ) != 1:
        return None
    (var,) = differ
    return _bounded({**box, var: box[var] | other[var]})


def _bounded(box: Box) -> Box:
    """The same with all iterations of loops of which there are many keys, or some of another axis."""
    return {
        var: keys
        for var, keys in box.items()
        if len(keys) <= _MOST_KEYS and len({key.axis for key in keys} - {ANY}) <= 1
    }
