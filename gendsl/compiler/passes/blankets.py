"""The part of a log density that one choice has to do with: the terms of its Markov blanket.

    def model(state, n, k):                                  def model_of_z(state, at, n, k):
        for i in range(n):                                       if 0 <= at and at < n:
            z = state.z[i]                                           z = state.z.look(at)
            lp += categorical_logpdf(w, z)                           lp += categorical_logpdf(w, z)
            y = state.y[i]                                           y = state.y.look(at)
            lp += normal_logpdf(mus[z], 1, y)        ->              lp += normal_logpdf(mus[z], 1, y)
        for e in range(m):                                       for e in iterations_with(left, at):
            edge = state.edge[e]                                     edge = state.edge.look(e)
            z, z_1 = state.z.look(left[e]), ...                      ...
            lp += bernoulli_logpdf(p[z, z_1], edge)              return lp
        return lp

Where a choice has another value, all other terms are what they were, so that the difference of two log
densities is that of these parts. What `reach` finds to have to do with the choice is kept, and what that
needs. Of a loop of which a few iterations have to do with it those run. Of one within which a loop has a few
of them in each iteration, all run, with these.

It is known before that the program makes the same choices, and does not fail, whatever of the rest is left
out: the current trace has been scored. Where the value may decide which choices there are, there is no such
part, and the whole is scored.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Collection, Iterable

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
    Load,
    Loop,
    Op,
    Primitive,
    Read,
    Return,
    Set,
    Statement,
    Store,
    Var,
    Visit,
)
from gendsl.compiler.hir.rewriting import may_fail, rename, replaced, rewrite
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.text_effects import TextEffects
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.indices import name_places
from gendsl.compiler.passes.inline import NotInlinedError, inlined
from gendsl.compiler.passes.iterations import Iterations, relabel
from gendsl.compiler.passes.list_items import resolve
from gendsl.compiler.passes.lookups import once
from gendsl.compiler.passes.loops import apart, name_bounds, name_lists, set_surely
from gendsl.compiler.passes.memoise import forget
from gendsl.compiler.passes.needed import keep_needed
from gendsl.compiler.passes.own_keys import look_up
from gendsl.compiler.passes.reach import Boxes, Key, NoBlanketError, Reach
from gendsl.compiler.passes.recurrences import take_all_apart
from gendsl.compiler.passes.staging import Names
from gendsl.compiler.passes.term_sums import added_to, leaves_of

_OTHERS: frozenset[Key] = frozenset()
Where = dict[Var, frozenset[Key]]
"""For loops, by their variables, by which keys the iteration is found that statements are copied for: by none
of them in all that are not found."""


def blanket(
    function: Function, template: Template, concerned: Collection[int], effects: TextEffects
) -> Function | None:
    """A function like one that returns a log density, of the terms that one choice has to do with.

    It has the indices of the choice as further parameters, before all others. There may be more terms in it.

    Args:
        template: that of the choice.
        concerned: the numbers of the templates of whose choices others may have the addresses.

    Returns:
        None: the value of a choice may decide which choices there are; or it would do as much as the whole.
    """
    if template.number in concerned or template.is_below or template.path_axes:
        return None
    try:
        whole = inlined(function, effects)
        forget(whole)
        take_all_apart(whole)
        name_lists(whole)
        set_surely(whole)
        apart(whole)
        name_bounds(whole)
        name_places(whole)
        look_up(whole, effects)
        resolve(whole, effects)
        made = _Blanket(whole, template, effects)
        return made.made() if made.leaves_out() else None
    except (NoBlanketError, NotInlinedError):
        return None


class _Blanket:
    """Leaves out what has nothing to do with a choice.

    Attributes:
        at: the indices of the choice.
        may_fail: the identities of the statements that may fail where the choice has another value.
    """

    def __init__(self, function: Function, template: Template, effects: TextEffects) -> None:
        self.function, self.template, self.effects = function, template, effects
        self.reach = Reach(function, template, effects)
        self.names = Names(function)
        self.at = [Var(self.names.new(f"at{axis}"), "i") for axis in range(template.rank)]
        labels = [one.label for one in hir.walk(function.body) if isinstance(one, (For, Loop, Block))]
        self.labels = itertools.count(1 + max(labels, default=0))
        self.may_fail: set[int] = set()
        self.boxes: dict[int, Boxes] = {}
        for one in hir.walk(function.body):
            found = self.reach.of_statement(one)
            if found is not None:
                self.boxes[id(one)] = found

    def leaves_out(self) -> bool:
        """Whether there is less to do: of a loop a few iterations, or none; and none adds up all terms."""
        loops = [one for one in hir.walk(self.function.body) if isinstance(one, (For, Loop))]
        kinds = {id(one): self._kind(one, {}) for one in loops}
        if all(kinds[id(one)] == "all" and self._inside(one, {}) for one in loops):
            return False
        for one in hir.walk(self.function.body):
            is_term = isinstance(one, Set) and not self.reach.sums.isdisjoint(one.targets)
            around = [kinds[id(outer)] for outer in self.reach.indices.around[id(one)] if id(outer) in kinds]
            if self.at and is_term and self._is_here(one, {}) and around and set(around) == {"all"}:
                return False
        return True

    def made(self) -> Function:
        """The part."""
        function = self.function
        made = Function(
            f"{function.name}_of_{self.template.name}",
            [*self.at, *function.parameters],
            list(function.results),
            self._kept(function.body, {}),
            f"{function.origin}: the terms of {self.template.name}",
            function.scores,
        )
        keep_needed(made, self.effects, self.may_fail)
        clean_one(made)
        return made

    # --- what is where --------------------------------------------------------------------------------

    def _here(self, boxes: Boxes | None, where: Where) -> Boxes:
        """Those boxes that iterations are in."""
        return tuple(
            box
            for box in boxes or ()
            if all(
                any(_meets(key, other) for key in keys for other in where[var])
                for var, keys in box.items()
                if var in where
            )
        )

    def _is_here(self, one: Statement, where: Where) -> bool:
        """Whether a statement has to do with the choice."""
        return bool(self._here(self.boxes.get(id(one)), where))

    def _is_under(self, one: Statement) -> bool:
        return id(one) in self.reach.under

    def _inside(self, loop: For | Loop, where: Where) -> list[Boxes]:
        """The boxes of the statements of a loop that have to do with the choice."""
        every = (self._here(self.boxes.get(id(one)), where) for one in hir.walk(loop.body))
        return [found for found in every if found]

    def _kind(self, loop: For | Loop, where: Where) -> str:
        """Which iterations of a loop run: "few", "all", or "mixed", all with few of loops within."""
        reach = self.reach
        if not isinstance(loop, For) or loop.var not in reach.loops.independent or reach.needs_all(loop):
            return "all"
        if self._here(reach.of(loop.start, loop.stop), where):
            return "all"
        inside, keys = self._inside(loop, where), self._keys(loop, where)
        is_computed = any(key.computed is not None for key in keys)
        if is_computed and len({key.axis for key in keys if key.computed is not None}) > 1:
            return "all"
        if all(loop.var in box for boxes in inside for box in boxes):
            return "few"
        if not keys or is_computed or self._changes_lists(loop):
            return "all"
        for one in hir.walk(loop.body):
            within = reach.indices.around[id(one)]
            deeper = within[1 + next(at for at, x in enumerate(within) if x is loop) :]
            loops = {x.var for x in deeper if isinstance(x, For)}
            for box in self._here(self.boxes.get(id(one)), where):
                if loop.var not in box and box.keys().isdisjoint(loops):
                    return "all"
        return "mixed"

    def _keys(self, loop: For, where: Where) -> list[Key]:
        """The keys of the iterations of a loop that have to do with the choice, the first iterations first:
        where a value has the density zero, those that read it may fail.
        """
        every = {key for boxes in self._inside(loop, where) for box in boxes for key in box.get(loop.var, ())}
        return sorted(every, key=Key.order)

    def _changes_lists(self, loop: For) -> bool:
        """Whether a loop changes lists that its iterations don't make."""
        return any(
            isinstance(one, (Append, Store)) and not self.reach.loops.is_made_in(one.list, loop)
            for one in hir.walk(loop.body)
        )

    def _may_fail(self, one: Statement, where: Where) -> bool:
        """Whether a statement may fail where the choice has another value; none has failed so far."""
        if not self._is_here(one, where):
            return False
        reach, is_under = self.reach, self._is_under(one)

        def is_other(expr: Expr) -> bool:
            return is_under or reach.of(expr) is not None

        if any(may_fail(expr) for expr in hir.expressions(one) if is_other(expr)):
            return True
        match one:
            case If():
                return any(isinstance(inner, Fail) for inner in hir.walk([one]))
            case Load(list=ref, index=index) | Store(list=ref, index=index):
                return is_other(index) or reach.has_another_length(ref)
            case Read(indices=indices):
                return any(map(is_other, indices))
            case Call(function=function):
                return self.effects.of(function).fails
            case Fill(count=count):
                return is_other(count)
        return False

    # --- statements -----------------------------------------------------------------------------------

    def _kept(self, body: Body, where: Where) -> Body:
        """What becomes of statements."""
        result: Body = []
        for one in body:
            kept = self._kept_of(one, where)
            if kept and self._may_fail(one, where):
                self.may_fail.add(id(kept[-1]))
            result += kept
        return result

    def _kept_of(self, one: Statement, where: Where) -> Body:
        match one:
            case Visit(targets=targets, template=template, indices=indices):
                return [Read(list(targets), template, indices, False, line=one.line)]
            case Primitive():
                return []
            case Set(targets=targets, values=values):
                pairs = zip(targets, values, strict=True)
                kept = [self._value(one, target, value, where) for target, value in pairs]
                return [Set(list(targets), kept, line=one.line)]
            case If() if not self._is_here(one, where) and _only_ends(one):
                return []
            case For():
                kind = self._kind(one, where)
                if kind != "all":
                    return self._few_iterations(one, where, is_mixed=kind == "mixed")
        kept_one = copy.copy(one)
        for name in one.BODIES:
            setattr(kept_one, name, self._kept(getattr(one, name), where))
        for name in ("items", one.SETS, *one.MANY):
            found = getattr(one, name, None) if name else None
            if isinstance(found, list):
                setattr(kept_one, name, list(found))
        return [kept_one]

    def _value(self, one: Set, target: Var, value: Expr, where: Where) -> Expr:
        """A value, where it is a sum without the terms that have nothing to do with the choice."""
        sums = self.reach.sums
        if target not in sums or self._is_under(one):
            return value
        kept = [
            leaf
            for leaf in leaves_of(value)
            if leaf == target or leaf in sums or self._here(self.reach.of(leaf), where)
        ]
        return added_to(kept)

    # --- loops --------------------------------------------------------------------------------------

    def _few_iterations(self, loop: For, where: Where, *, is_mixed: bool) -> Body:
        """The iterations of a loop that the choice has to do with, behind what the loop makes besides."""
        keys = self._keys(loop, where)
        computed = [key for key in keys if key.computed is not None]
        keys = [key for key in keys if key.computed is None]
        iterations = Iterations(self.names, self.labels, loop, self.at)
        found, places = iterations.at_keys(keys)
        rest = self._others(loop, where, places) if is_mixed else self._all_iterations(loop)
        result: Body = [*found, rest]
        for number, (key, place) in enumerate(zip(keys, places, strict=True)):
            body = self._iteration(loop, place, {**where, loop.var: frozenset([key])})
            before = zip(keys[:number], places[:number], strict=True)
            others = [other for each, other in before if each.may_meet(key)]
            result.append(If(iterations.runs(place, others), once(body, loop), [], line=loop.line))
        if computed:
            var = Var(self.names.new(loop.var.name), "i")
            body = once(self._iteration(loop, var, {**where, loop.var: frozenset(computed)}), loop)
            is_other: Expr = hir.TRUE
            for place in places:
                is_other = hir.both(is_other, Op("ne", (var, place), "b"))
            body = body if is_other == hir.TRUE else [If(is_other, body, [], line=loop.line)]
            noting = [
                self.reach.data.noting(loop, key.axis, index, is_many=key.is_many)
                for key in computed
                if (index := key.computed) is not None
            ]
            result += iterations.of_index(computed[0].axis, noting, var, body)
        return result

    def _others(self, loop: For, where: Where, places: list[Var]) -> For:
        """All iterations of a loop but those that are found by keys."""
        rest = copy.copy(loop)
        body = self._kept(loop.body, {**where, loop.var: _OTHERS})
        test: Expr = hir.TRUE
        for place in places:
            test = hir.both(test, Op("ne", (loop.var, place), "b"))
        rest.body = [If(test, body, [], line=loop.line)]
        self._rename([rest])
        return rest

    def _all_iterations(self, loop: For) -> For:
        """What a loop makes that has nothing to do with the choice, if anything needs it."""
        rest = copy.copy(loop)
        rest.body = self._unrelated(loop.body)
        self._rename([rest])
        return rest

    def _unrelated(self, body: Body) -> Body:
        result: Body = []
        for one in body:
            if id(one) in self.boxes or isinstance(one, Fail) or (isinstance(one, If) and _only_ends(one)):
                continue
            for kept in self._kept_of(one, {}) if not one.BODIES else [copy.copy(one)]:
                if isinstance(kept, Set):
                    self._keep_values(kept)
                for name in one.BODIES:
                    setattr(kept, name, self._unrelated(getattr(one, name)))
                result.append(kept)
        return result

    def _keep_values(self, one: Set) -> None:
        """Let a statement set no sums."""
        pairs = [pair for pair in zip(one.targets, one.values, strict=True) if pair[0] not in self.reach.sums]
        one.targets, one.values = [target for target, _ in pairs], [value for _, value in pairs]

    def _iteration(self, loop: For, place: Expr, where: Where) -> Body:
        """What an iteration of a loop does, but for lists that it adds to for others."""
        body = self._without(self._kept(loop.body, where), loop)
        for one in hir.walk(body):
            rewrite(one, lambda expr: replaced(expr, {loop.var: place}))
        self._rename(body)
        return body

    def _without(self, body: Body, loop: For) -> Body:
        """Statements without those that add to lists that are there."""
        result: Body = []
        for one in body:
            ref = _changed(one)
            if ref is not None and not self.reach.loops.is_made_in(ref, loop):
                continue
            for name in one.BODIES:
                setattr(one, name, self._without(getattr(one, name), loop))
            result.append(one)
        return result

    def _rename(self, body: Body) -> None:
        """Give the variables that are set in a copy of an iteration names of their own, and loops labels."""
        relabel(body, self.labels)
        own = {var: None for one in hir.walk(body) for var in hir.targets(one) if var not in self.reach.sums}
        rename(body, {var: Var(self.names.new(var.name), var.kind) for var in own})


def _meets(key: Key, other: Key) -> bool:
    """Whether a key may say an iteration that is found by another; an index finds those of no other keys."""
    return (other.computed is None or key.computed is not None) and key.may_meet(other)


def _changed(one: Statement) -> Expr | None:
    """The list that a statement changes, but for what is kept of what a text computes."""
    return one.list if isinstance(one, Append) or (isinstance(one, Store) and not one.keeps) else None


def _only_ends(one: If) -> bool:
    """Whether a branch does nothing but to fail, or to note that a density is zero, which it was not."""
    sides: Iterable[Body] = (one.then, one.orelse)
    every = [inner for side in sides for inner in hir.walk(side)]
    if any(isinstance(inner, Return) and inner.values != [IMPOSSIBLE] for inner in every):
        return False
    return all(isinstance(inner, (Fail, Return, Primitive, If)) for inner in every)
