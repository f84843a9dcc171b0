"""The part of a log density that one choice has to do with: the terms of its Markov blanket.

    def model(state, n, k):                                  def model_of_z(state, at, n, k):
        mus = []                                                 mus = []
        for j in range(k):                                       for j in range(k):
            mu = state.mu[j]                                         mus.append(state.mu.look(j))
            lp += normal_logpdf(0, 10, mu)                       if 0 <= at and at < n:
            mus.append(mu)                         ->                z = state.z.look(at)
        for i in range(n):                                           lp += categorical_logpdf(w, z)
            z = state.z[i]                                           y = state.y.look(at)
            lp += categorical_logpdf(w, z)                           lp += normal_logpdf(mus[z], 1, y)
            y = state.y[i]                                       return lp
            lp += normal_logpdf(mus[z], 1, y)
        return lp

Where a choice has another value, all other terms are what they were, so that the difference of two log
densities is that of these parts. What `reach` finds to have to do with the choice is kept, and what that
needs. Of a loop of which a few iterations have to do with it those run, in order, with what is needed of
others that make items of lists.

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
    Next,
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
from gendsl.compiler.passes.inline import NotInlinedError, inlined
from gendsl.compiler.passes.lookups import once
from gendsl.compiler.passes.loop_items import apart
from gendsl.compiler.passes.needed import keep_needed
from gendsl.compiler.passes.reach import NoBlanketError, Reach
from gendsl.compiler.passes.staging import Names
from gendsl.compiler.passes.term_sums import added_to, leaves_of


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
        apart(whole)
        made = _Blanket(whole, template, effects).made()
    except (NoBlanketError, NotInlinedError):
        return None
    return made if _loops(made.body) < _loops(whole.body) else None


def _loops(body: Body) -> int:
    """How many loops there are in some statements."""
    return sum(isinstance(one, (For, Loop)) for one in hir.walk(body))


class _Blanket:
    """Leaves out what has nothing to do with a choice.

    Attributes:
        at: the indices of the choice.
        bases: of the lists of which a few items are made, what is taken from the place of an item to get its
            place among these.
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
        self.bases: dict[Expr, Var] = {}
        for ref, maker in self.reach.made_in_part.items():
            self.bases[ref] = Var(self.names.new(f"before_{maker.ref.name}"), "i")

    def made(self) -> Function:
        """The part."""
        function = self.function
        made = Function(
            f"{function.name}_of_{self.template.name}",
            [*self.at, *function.parameters],
            list(function.results),
            self._kept(function.body),
            f"{function.origin}: the terms of {self.template.name}",
            function.scores,
        )
        keep_needed(made, self.effects, self.may_fail)
        clean_one(made)
        return made

    def _kept(self, body: Body) -> Body:
        """What becomes of statements."""
        result: Body = []
        for one in body:
            kept = self._kept_of(one)
            if kept and self._may_fail(one):
                self.may_fail.add(id(kept[-1]))
            result += kept
        return result

    def _may_fail(self, one: Statement) -> bool:
        """Whether a statement may fail where the choice has another value; none has failed so far."""
        reach, is_under = self.reach, self.reach.is_under(one)
        if not is_under and not reach.depends(one):
            return False
        exprs = hir.expressions(one)
        if any(may_fail(expr) for expr in exprs if is_under or reach.is_dependent(expr)):
            return True
        match one:
            case If():
                return any(isinstance(inner, Fail) for inner in hir.walk([one]))
            case Load(list=ref, index=index) | Store(list=ref, index=index):
                return is_under or reach.is_dependent(index) or reach.has_another_length(ref)
            case Call(function=function):
                return self.effects.of(function).fails
            case Fill(count=count):
                return is_under or reach.is_dependent(count)
        return False

    def _kept_of(self, one: Statement) -> Body:
        reach, line = self.reach, one.line
        match one:
            case Visit(targets=targets, template=template, indices=indices):
                return [Read(list(targets), template, indices, False, line=line)]
            case Primitive():
                return []
            case Set(targets=targets, values=values):
                pairs = zip(targets, values, strict=True)
                return [Set(list(targets), [self._value(one, *pair) for pair in pairs], line=line)]
            case If() if not reach.depends(one) and not reach.is_under(one) and _only_ends(one):
                return []
            case For() if one.var in reach.windows:
                return self._few_iterations(one)
            case Fill() if one.target in self.bases:
                return [hir.New(one.target, one.layout, [], line=line)]
            case Store(list=ref, layout=layout, item=item) if ref in self.bases:
                return [Append(ref, layout, item, line=line)]
            case Length(target=target, list=ref) if ref in self.bases:
                return [Set([target], [reach.made_in_part[ref].count], line=line)]
            case Load(list=ref) if ref in self.bases:
                return self._load(one)
        kept = copy.copy(one)
        for name in one.BODIES:
            setattr(kept, name, self._kept(getattr(one, name)))
        for name in ("items", one.SETS, *one.MANY):
            found = getattr(one, name, None) if name else None
            if isinstance(found, list):
                setattr(kept, name, list(found))
        return [kept]

    def _value(self, one: Set, target: Var, value: Expr) -> Expr:
        """A value, where it is a sum without the terms that have nothing to do with the choice."""
        reach = self.reach
        if target not in reach.sums or reach.is_under(one):
            return value
        every = leaves_of(value)
        kept = [leaf for leaf in every if leaf == target or leaf in reach.sums or reach.is_dependent(leaf)]
        return added_to(kept)

    def _load(self, one: Load) -> Body:
        """An item of a list of which a few are made; it fails where it is none of these."""
        maker, base = self.reach.made_in_part[one.list], self.bases[one.list]
        place = Var(self.names.new("place"), "i")
        loaded = Load(list(one.targets), one.list, one.layout, place, line=one.line)
        return [Set([place], [maker.place_among(one.index, base)], line=one.line), loaded]

    # --- loops --------------------------------------------------------------------------------------

    def _few_iterations(self, loop: For) -> Body:
        """The iterations of a loop that the choice has to do with, behind what the loop makes besides."""
        reach = self.reach
        (low, high), at = reach.windows[loop.var], self.at[reach.axis[loop.var]]
        result: Body = [self._all_iterations(loop)]
        for ref, base in self.bases.items():
            maker = reach.made_in_part[ref]
            if maker.loop is loop:
                first = Op("imax", (loop.start, _plus(at, low)), "i")
                result.append(Set([base], [_plus(first, maker.place - maker.first)], line=loop.line))
        for shift in range(low, high + 1):
            result += self._iteration(loop, _plus(at, shift), shift)
        return result

    def _all_iterations(self, loop: For) -> For:
        """What a loop makes that has nothing to do with the choice, if anything needs it."""
        rest = copy.copy(loop)
        rest.body = self._unrelated(loop.body)
        rest.label = next(self.labels)
        for one in hir.walk(rest.body):
            if isinstance(one, (Leave, Next)) and one.label == loop.label:
                one.label = rest.label
        self._rename([rest])
        return rest

    def _unrelated(self, body: Body) -> Body:
        reach = self.reach
        result: Body = []
        for one in body:
            if reach.depends(one) or reach.is_under(one) or _changed(one) in self.bases:
                continue
            if isinstance(one, If) and _only_ends(one):
                continue
            for kept in self._kept_of(one) if not one.BODIES else [copy.copy(one)]:
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

    def _iteration(self, loop: For, place: Expr, shift: int) -> Body:
        """One iteration of a loop, if it has that. It makes the items alone of lists of which a few are made.

        Where nothing has to do with the choice there are no terms.
        """
        var = Var(self.names.new(loop.var.name), "i")
        low, high = self.reach.depending[loop.var]
        body = self._without(self._kept(loop.body), loop, is_needed=low <= shift <= high)
        for one in hir.walk(body):
            rewrite(one, lambda expr: replaced(expr, {loop.var: var}))
            if not low <= shift <= high:
                self.may_fail.discard(id(one))
        self._rename(body)
        runs = hir.both(Op("le", (loop.start, var), "b"), Op("lt", (var, loop.stop), "b"))
        return [Set([var], [place], line=loop.line), If(runs, once(body, loop), [], line=loop.line)]

    def _without(self, body: Body, loop: For, *, is_needed: bool) -> Body:
        """Statements without those that add to lists that are there, and without terms if none are needed."""
        result: Body = []
        for one in body:
            ref = _changed(one)
            if not (ref is None or ref in self.bases or self.reach.items.is_made_in(ref, loop)):
                continue
            if not is_needed and (isinstance(one, Return) or (isinstance(one, If) and _only_ends(one))):
                continue
            if not is_needed and isinstance(one, Set):
                self._keep_values(one)
            for name in one.BODIES:
                setattr(one, name, self._without(getattr(one, name), loop, is_needed=is_needed))
            result.append(one)
        return result

    def _rename(self, body: Body) -> None:
        """Give the variables that are set in a copy of an iteration names of their own."""
        own = {var: None for one in hir.walk(body) for var in hir.targets(one) if var not in self.reach.sums}
        rename(body, {var: Var(self.names.new(var.name), var.kind) for var in own})


def _changed(one: Statement) -> Expr | None:
    """The list that a statement changes, but for what is kept of what a text computes."""
    return one.list if isinstance(one, Append) or (isinstance(one, Store) and not one.keeps) else None


def _plus(expr: Expr, number: int) -> Expr:
    return expr if not number else Op("add", (expr, Const(number, "i")), "i")


def _only_ends(one: If) -> bool:
    """Whether a branch does nothing but to fail, or to note that a density is zero, which it was not."""
    sides: Iterable[Body] = (one.then, one.orelse)
    every = [inner for side in sides for inner in hir.walk(side)]
    if any(isinstance(inner, Return) and inner.values != [IMPOSSIBLE] for inner in every):
        return False
    return all(isinstance(inner, (Fail, Return, Primitive, If)) for inner in every)
