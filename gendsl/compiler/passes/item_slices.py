"""What computes an item of a list that loops make, from the places that it has."""

from __future__ import annotations

import itertools

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Body,
    Call,
    Expr,
    Fail,
    Fill,
    For,
    If,
    Leave,
    Length,
    Load,
    Loop,
    New,
    Next,
    Read,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.rewriting import rename, replaced, rewrite, variables_of
from gendsl.compiler.hir.text_effects import read_by
from gendsl.compiler.passes.axes_variables import exposed
from gendsl.compiler.passes.indices import Linear
from gendsl.compiler.passes.made_lists import Made, MadeLists, item_of, kinds_of

_MOST = 40
"""Of how many statements the computation of an item is at most."""
_PURE = (
    Set, Load, Length, New, Fill, If, For, Block, Next, Leave, Append, Store, Read, Visit, Call, Fail,
)  # fmt: skip


class ItemSlice:
    """The statements that compute an item, if they are known.

    Attributes:
        leaves: the variables that they set.
        choice: the choice that an item is, or is made of, with its indices, if it is one.
        body: they themselves.
    """

    def __init__(self, lists: MadeLists, made: Made) -> None:
        self.lists, self.made, self.indices = lists, made, lists.indices
        self.leaves = [Var(f"item{place}", kind) for place, kind in enumerate(kinds_of(made.sites[0]))]
        labels = [one.label for one in lists.every if isinstance(one, (For, Loop, Block))]
        self.labels = itertools.count(1 + max(labels, default=0))
        self.choice = self._choice()
        self.body = self._found()

    def _choice(self) -> tuple[Visit | Read, tuple[Linear, ...]] | None:
        """The choice that an item is, or is made of, with its indices: of all statements that make one."""
        found: tuple[Visit | Read, tuple[Linear, ...]] | None = None
        items = set()
        for one in self.made.sites:
            variables = variables_of(*item_of(one))
            makers = {id(self.lists.makers.get(var)): self.lists.makers.get(var) for var in variables}
            (maker,) = makers.values() if len(makers) == 1 else (None,)
            if not isinstance(maker, (Visit, Read)):
                return None
            indices = tuple(self.indices.linear(index) for index in maker.indices)
            if found is not None and (maker.template != found[0].template or indices != found[1]):
                return None
            found = found or (maker, indices)
            named = {var: Var(f"leaf{at}", var.kind) for at, var in enumerate(maker.targets)}
            items.add(tuple(replaced(leaf, named) for leaf in item_of(one)))
        return found if len(items) == 1 else None

    def _found(self) -> Body | None:
        """The statements that set the leaves of an item."""
        made = self.made
        if self.choice is not None:
            maker, indices = self.choice
            given = {axis.loop.var for axis in made.axes}
            terms = {x for index in indices for x, _ in index.terms}
            if all(self._is_known(x, given) for x in terms):
                exprs = tuple(index.expr() for index in indices)
                read = Read(list(maker.targets), maker.template, exprs, False, line=maker.line)
                return [read, Set(list(self.leaves), list(item_of(made.sites[0])), line=made.sites[0].line)]
        if any(leaf.kind == "r" for leaf in self.leaves):
            return None  # each reading would make a list of its own
        found = self._needed(made.axes[0].loop.body, set())
        if found is None:
            return None
        body, live = found
        given = {axis.loop.var for axis in made.axes}
        if sum(1 for _ in hir.walk(body)) > _MOST or not all(self._is_known(var, given) for var in live):
            return None
        inside = {one.target for one in hir.walk(body) if isinstance(one, (New, Fill))}
        for one in hir.walk(body):
            if not isinstance(one, _PURE):
                return None
            if isinstance(one, Call) and not self.lists.effects.of(one.function).pure:
                return None
            for ref in read_by(one):
                if ref.kind == "r" and ref not in inside and not self._is_finished(ref):
                    return None
        return hir.copied_body(body, _looked_up)

    def _is_known(self, expr: Expr, given: set[Var]) -> bool:
        """Whether an expression has the same value wherever an item is read, for its iterations."""
        outer = {id(one) for one in hir.walk(self.made.axes[0].loop.body)}
        for var in variables_of(expr) - given:
            maker = self.lists.makers.get(var)
            if self.indices.sets[var] != 1 or (maker is not None and id(maker) in outer):
                return False
        return True

    def _is_finished(self, ref: Var) -> bool:
        """Whether a list is not changed any more where the loops begin."""
        begin = self.lists.order[id(self.made.axes[0].loop)]
        sets = self.lists.makers.get(ref)
        if self.lists.indices.sets[ref] != 1:
            return False
        if sets is None or not isinstance(sets, (New, Fill)):
            return self._nothing_given_changes()
        uses = self.lists.uses(ref)
        if uses is None and not self._nothing_given_changes():
            return False
        changes = (one for one in self.lists.users.get(ref, []) if isinstance(one, (Append, Store, Truncate)))
        return all(self.lists.order[id(one)] < begin for one in changes)

    def _nothing_given_changes(self) -> bool:
        """Whether the function changes no lists but those that it makes, under their own names."""
        for one in self.lists.every:
            if isinstance(one, Call) and self.lists.effects.of(one.function).changes:
                return False
            if isinstance(one, (Append, Store, Truncate)) and not (isinstance(one, Store) and one.keeps):
                maker = self.lists.makers.get(one.list) if isinstance(one.list, Var) else None
                if not isinstance(maker, (New, Fill)):
                    return False
        return True

    def _needed(self, body: Body, live: set[Var]) -> tuple[Body, set[Var]] | None:
        """The statements that the leaves of an item are computed by, and the variables that these need.

        None where an iteration of a loop of the second axis needs what the one before has left.
        """
        sites = {id(one) for one in self.made.sites}
        loops = {id(axis.loop) for axis in self.made.axes}
        kept: Body = []
        for one in reversed(body):
            if id(one) in sites:
                item = item_of(one)
                kept.insert(0, Set(list(self.leaves), list(item), line=one.line))
                live = live | variables_of(*item)
                continue
            if id(one) in loops:
                assert isinstance(one, For)
                found = self._needed(one.body, live)
                if found is None or not found[1].isdisjoint(self._changed_by(one.body)):
                    return None
                kept[:0], live = found
                continue
            if isinstance(one, If):
                is_here = any(id(inner) in sites for inner in hir.walk([one]))
                then, orelse = self._needed(one.then, live), self._needed(one.orelse, live)
                if then is None or orelse is None:
                    return None
                if is_here or then[0] or orelse[0]:
                    kept.insert(0, If(one.test, then[0], orelse[0], line=one.line))
                    live = then[1] | orelse[1] | read_by(one)
                continue
            if live.isdisjoint(self._changed_by([one])):
                continue
            kept.insert(0, one)
            read, surely = exposed([one])
            live = (live - (surely or set())) | read
        return kept, live

    def _changed_by(self, body: Body) -> set[Expr]:
        """The variables that statements set, or whose lists they may change."""
        changed: set[Expr] = set()
        for one in hir.walk(body):
            changed.update(hir.targets(one))
            if isinstance(one, (Append, Store, Truncate)):
                changed.add(one.list)
            elif isinstance(one, Call) and self.lists.effects.of(one.function).changes:
                changed |= {var for var in read_by(one) if var.kind == "r"}
        return changed

    def is_begun_alike(self) -> bool:
        """Whether the items that a list begins with are the choices that the loop would have put there."""
        if self.choice is None:
            return False
        maker, indices = self.choice
        (axis,) = self.made.axes
        named = {var: Var(f"leaf{at}", var.kind) for at, var in enumerate(maker.targets)}
        usual = tuple(replaced(leaf, named) for leaf in item_of(self.made.sites[0]))
        for number, item in enumerate(self.made.begun):
            makers = [self.lists.makers.get(var) for var in variables_of(*item)]
            if not makers or any(one is not makers[0] for one in makers):
                return False
            (first, *_) = makers
            if not isinstance(first, (Visit, Read)) or first.template != maker.template:
                return False
            named = {var: Var(f"leaf{at}", var.kind) for at, var in enumerate(first.targets)}
            if tuple(replaced(leaf, named) for leaf in item) != usual:
                return False
            at = Linear((), number).plus(axis.shift, -1)
            for index, own in zip(indices, first.indices, strict=True):
                there = index.without(axis.loop.var).plus(at, index.factor(axis.loop.var))
                if there != self.indices.linear(own):
                    return False
        return True

    def copied(self, one: Load | Call, values: dict[Var, Expr]) -> Body:
        """The computation of an item, with variables of its own."""
        assert self.body is not None
        body = hir.copied_body(self.body)
        own = {var for inner in hir.walk(body) for var in hir.targets(inner)} - set(self.leaves)
        named = {var: Var(self.lists.names.new(var.name), var.kind) for var in sorted(own)}
        rename(body, {**named, **dict(zip(self.leaves, one.targets, strict=True))})
        labels: dict[int, int] = {}
        for inner in hir.walk(body):
            rewrite(inner, lambda expr: replaced(expr, values))
            if isinstance(inner, (For, Loop, Block)):
                labels[inner.label] = inner.label = next(self.labels)
            elif isinstance(inner, (Leave, Next)):
                inner.label = labels[inner.label]
        return body


def _looked_up(one: Statement) -> Body | None:
    """What looks up a choice in place of one that makes it."""
    if not isinstance(one, Visit):
        return None
    return [Read(list(one.targets), one.template, one.indices, False, line=one.line)]
