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
densities is that of these parts. A term is left out if nothing that it is made of may have another value;
and of a loop whose iterations need nothing of one another only those run that the choice is read in: where
it is at the address (..., i), and is read where the loop's variable is i - c, these are known. What is read
of a list that a loop makes item by item is that of an iteration again.

It is known before that the program makes the same choices, and does not fail, whatever of the rest is left
out: the current trace has been scored. Where the value may decide which choices there are, there is no such
part, and the whole is scored.

What depends on the choice is found for all statements together, whatever their order, and what is found of
one loop changes what is found of others; so this is one module.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Collection, Iterable

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
    Read,
    Return,
    Set,
    Statement,
    Store,
    Truncate,
    Var,
    Visit,
)
from gendsl.compiler.hir.list_uses import ListUses
from gendsl.compiler.hir.rewriting import rename, replaced, rewrite, variables_of
from gendsl.compiler.hir.templates import Template
from gendsl.compiler.hir.text_effects import TextEffects, meet, read_by
from gendsl.compiler.passes.axes_variables import exposed, read_after, values_of
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.lookups import once
from gendsl.compiler.passes.inline import NotInlinedError, inlined
from gendsl.compiler.passes.needed import keep_needed
from gendsl.compiler.passes.staging import Names
from gendsl.compiler.programs.sums import IMPOSSIBLE

_ONE = Const(1, "i")
_MOST = 4
"""How many iterations of a loop run at most: there is a copy of its body for each."""
_STATEMENTS = (
    Set, New, Fill, Length, Load, Store, Append, Truncate, If, For, Loop, Block, Leave, Next, Call, Return, Fail,
    Visit,
)  # fmt: skip


class _NoBlanketError(Exception):
    """Why there is no such part."""


def blanket(
    function: Function, template: Template, concerned: Collection[int], effects: TextEffects
) -> Function | None:
    """A function like one that returns a log density, of the terms that one choice of a template has to do with.

    It has the indices of the choice as further parameters, before all others. There may be more terms in it.

    Args:
        concerned: the numbers of the templates of whose choices others may have the addresses.

    Returns:
        None: the value of a choice may decide which choices there are; or it would do as much as the whole.
    """
    if template.number in concerned or template.is_below or template.path_axes:
        return None
    try:
        whole = inlined(function, effects)
        made = _Blanket(whole, template, effects).made()
    except (_NoBlanketError, NotInlinedError):
        return None
    return made if _loops(made.body) < _loops(whole.body) else None


def _loops(body: Body) -> int:
    """How many loops there are in some statements."""
    return sum(isinstance(one, (For, Loop)) for one in hir.walk(body))


def leaves_of(expr: Expr) -> list[Expr]:
    """What is added up in an expression."""
    if isinstance(expr, Op) and expr.name == "add" and expr.kind == "f":
        return [leaf for arg in expr.args for leaf in leaves_of(arg)]
    return [expr]


class _Blanket:
    """Finds what depends on a choice, and leaves out the rest.

    Attributes:
        sums: the variables that do nothing but to add up terms.
        dependent: the variables whose values may be others where the choice has another value, but sums.
        contents, lengths: the lists without another name of which that holds for the items, and for how many
            there are.
        layouts: the kinds of other lists of which that may hold.
        under: the statements that are only come to where the choice has certain values, by their identity.
        loops: the loops whose iterations need nothing of one another, with those that are not yet ruled out.
    """

    def __init__(self, function: Function, template: Template, effects: TextEffects) -> None:
        self.function, self.template, self.effects = function, template, effects
        for one in hir.walk(function.body):
            is_note = isinstance(one, Primitive) and one.name in ("impossible", "cover")
            if not isinstance(one, _STATEMENTS) and not is_note:
                raise _NoBlanketError
        self.uses = ListUses(function)
        self.values = values_of(function)
        self.around: dict[int, tuple[Statement, ...]] = {}
        self._place(function.body, ())
        self.sums = self._find_sums()
        self.dependent: set[Var] = set()
        self.contents: set[Expr] = set()
        self.lengths: set[Expr] = set()
        self.layouts: frozenset[tuple[str, ...]] = frozenset()
        self.under: set[int] = set()
        self.left: set[int] = set()
        self._find_dependent()
        self.loops: dict[Var, For] = {}
        self._find_loops(function.body, [])
        self.makers = self._makers()
        self.axis: dict[Var, int] = {}
        self.windows: dict[Var, tuple[int, int]] = {}
        self._settle()

    def _place(self, body: Body, around: tuple[Statement, ...]) -> None:
        for one in body:
            self.around[id(one)] = around
            for inner in hir.bodies(one):
                self._place(inner, (*around, one))

    # --- sums ---------------------------------------------------------------------------------------

    def _find_sums(self) -> set[Var]:
        """The variables that are added to what is returned, and to nothing else."""
        end = self.function.body[-1]
        if not isinstance(end, Return):
            raise _NoBlanketError
        sums = {var for one in self._values() for leaf in leaves_of(one[1]) for var in variables_of(leaf)}
        sums = {var for var in sums if var.kind == "f"} - set(self.function.parameters)
        while True:
            wrong = set[Var]()
            reading: defaultdict[Var, int] = defaultdict(int)
            for one in hir.walk(self.function.body):
                if isinstance(one, Return):
                    for leaf in leaves_of(one.values[0]):
                        if not isinstance(leaf, Var):
                            wrong |= variables_of(leaf)
                elif isinstance(one, Set):
                    for target, value in zip(one.targets, one.values, strict=True):
                        leaves = leaves_of(value)
                        for leaf in leaves:
                            if not isinstance(leaf, Var) or target not in sums:
                                wrong |= variables_of(leaf)
                            elif leaf != target:
                                reading[leaf] += 1
                            elif leaves.count(leaf) > 1:
                                wrong.add(leaf)
                        reading[target] += 0
                else:
                    wrong |= read_by(one) | set(hir.targets(one))
            wrong |= {var for var, count in reading.items() if count > 1}
            if not wrong & sums:
                break
            sums -= wrong
        self._check_returns(sums)
        return sums

    def _values(self) -> list[tuple[Statement, Expr]]:
        found: list[tuple[Statement, Expr]] = []
        for one in hir.walk(self.function.body):
            if isinstance(one, (Set, Return)):
                found += ((one, value) for value in one.values)
        return found

    def _check_returns(self, sums: set[Var]) -> None:
        """What is returned is a sum of what is known to be one, or -inf."""
        for one in hir.walk(self.function.body):
            if isinstance(one, Return) and one.values != [IMPOSSIBLE]:
                if not all(leaf in sums or isinstance(leaf, Const) for leaf in leaves_of(one.values[0])):
                    raise _NoBlanketError

    # --- what depends on the choice -----------------------------------------------------------------

    def _find_dependent(self) -> None:
        while True:
            before = self._size()
            self._flow(self.function.body, False)
            if before == self._size():
                return

    def _size(self) -> tuple[int, ...]:
        found = self.dependent, self.contents, self.lengths, self.layouts, self.under, self.left
        return tuple(map(len, found))

    def _is_dependent(self, *exprs: Expr) -> bool:
        return not self.dependent.isdisjoint(variables_of(*exprs))

    def _flow(self, body: Body, under: bool) -> None:
        for one in body:
            self._statement(one, under)
            inside = under
            if isinstance(one, (For, Loop, Block)):
                inside = inside or one.label in self.left
            if isinstance(one, (If, For)):
                inside = inside or self._is_dependent(*hir.expressions(one))
            for inner in hir.bodies(one):
                self._flow(inner, inside)

    def _statement(self, one: Statement, under: bool) -> None:
        if under:
            self.under.add(id(one))
        match one:
            case Set(targets=targets, values=values):
                for target, value in zip(targets, values, strict=True):
                    if target in self.sums:
                        if under and not self.sums.isdisjoint(variables_of(value) - {target}):
                            raise _NoBlanketError
                    elif under or self._is_dependent(value):
                        self.dependent.add(target)
            case Visit(targets=targets, template=template, indices=indices):
                if under or self._is_dependent(*indices):
                    raise _NoBlanketError
                if template == self.template:
                    self.dependent.update(targets)
            case Load(targets=targets, list=ref, layout=layout):
                if under or self._is_dependent(*hir.expressions(one)) or self._is_list(ref, layout):
                    self.dependent.update(targets)
            case Length(target=target, list=ref, layout=layout):
                if under or self._is_dependent(ref) or self._has_length(ref, layout):
                    self.dependent.add(target)
            case New(target=target, layout=layout):
                if under:
                    self.dependent.add(target)
                if under or self._is_dependent(*hir.expressions(one)):
                    self._change(target, layout, under)
            case Fill(target=target, layout=layout, count=count):
                if under:
                    self.dependent.add(target)
                if under or self._is_dependent(*hir.expressions(one)):
                    self._change(target, layout, under or self._is_dependent(count))
            case Append(list=ref, layout=layout) | Store(list=ref, layout=layout) | Truncate(
                list=ref, layout=layout
            ):
                if under or self._is_dependent(*hir.expressions(one)):
                    grows = isinstance(one, Truncate) or (under and isinstance(one, Append))
                    self._change(ref, layout, grows or self._is_dependent(ref))
            case Call(targets=targets, function=function):
                effects = self.effects.of(function)
                if not effects.pure:
                    raise _NoBlanketError
                read = meet(effects.reads, self.layouts)
                if under or read or self._is_dependent(*hir.expressions(one)):
                    self.dependent.update(targets)
                    self.layouts |= effects.changes
            case For(var=var):
                if under or self._is_dependent(*hir.expressions(one)):
                    self.dependent.add(var)
            case Leave(label=label) | Next(label=label):
                if under:
                    self.left.add(label)
            case Return(values=values):
                if under and values != [IMPOSSIBLE]:
                    raise _NoBlanketError

    def _change(self, ref: Expr, layout: tuple[str, ...], length: bool) -> None:
        """A list may have other items, or another number of them."""
        if self.uses.is_alone(ref):
            self.contents.add(ref)
            if length:
                self.lengths.add(ref)
        else:
            self.layouts |= {tuple("i" if kind == "b" else kind for kind in layout)}

    def _is_list(self, ref: Expr, layout: tuple[str, ...]) -> bool:
        """Whether the items of a list may be others."""
        if self.uses.is_alone(ref):
            return ref in self.contents
        return meet(frozenset([tuple("i" if kind == "b" else kind for kind in layout)]), self.layouts)

    def _has_length(self, ref: Expr, layout: tuple[str, ...]) -> bool:
        """Whether there may be another number of them."""
        return ref in self.lengths if self.uses.is_alone(ref) else self._is_list(ref, layout)

    # --- loops of which a few iterations run --------------------------------------------------------

    def _find_loops(self, body: Body, around: list[tuple[Statement | None, Body]]) -> None:
        for at, one in enumerate(body):
            after = [*around, (one, body[at + 1 :])]
            if isinstance(one, For) and self._is_independent(one, after):
                self.loops[one.var] = one
            for inner in hir.bodies(one):
                self._find_loops(inner, after)

    def _is_independent(self, loop: For, around: list[tuple[Statement | None, Body]]) -> bool:
        """Whether the iterations of a loop need nothing of one another but sums and lists of items of each."""
        if loop.step != _ONE or id(loop) in self.under or self._is_dependent(*hir.expressions(loop)):
            return False
        inner = list(hir.walk(loop.body))
        if any(isinstance(one, Leave) and one.label == loop.label for one in inner):
            return False
        if any(isinstance(one, Return) and one.values != [IMPOSSIBLE] for one in inner):
            return False
        inside = {var for one in inner for var in hir.targets(one)}
        later = read_after({loop.var, *inside}, around)
        if loop.var in inside or loop.var in later or self.uses.sets[loop.var] != 1:
            return False
        if not (inside & (exposed(loop.body)[0] | later)) <= self.sums:
            return False
        made = {one.target for one in inner if isinstance(one, (New, Fill))}
        for one in inner:
            if isinstance(one, (Append, Store, Truncate)) and one.list not in made:
                collected = isinstance(one, Append) and self._is_collected(loop, one)
                if not collected and not (isinstance(one, Store) and one.keeps):
                    return False
            elif isinstance(one, Call) and self.effects.of(one.function).changes:
                return False
        return True

    def _is_collected(self, loop: For, append: Append) -> bool:
        """Whether all that a loop does with a list is that each iteration adds an item."""
        if append not in loop.body or not self.uses.is_alone(append.list):
            return False
        before = loop.body[: loop.body.index(append)]
        if any(isinstance(one, Next) and one.label == loop.label for one in hir.walk(before)):
            return False
        return sum(append.list in read_by(one) for one in hir.walk(loop.body)) == 1

    def _makers(self) -> dict[Expr, tuple[For, int]]:
        """The lists that a loop makes item by item, with the loop, and what is added to its variable to get the
        place of an item.
        """
        found: dict[Expr, tuple[For, int]] = {}
        changed: defaultdict[Expr, list[Statement]] = defaultdict(list)
        empty: dict[Expr, Statement] = {}
        for one in hir.walk(self.function.body):
            if isinstance(one, (Append, Store, Truncate)):
                changed[one.list].append(one)
            elif isinstance(one, New) and not one.items:
                empty[one.target] = one
        for ref, every in changed.items():
            (one, *more), loops = every, [x for x in self.around[id(every[0])] if isinstance(x, For)]
            if more or not loops or ref not in empty or not isinstance(one, Append):
                continue
            loop = loops[-1]
            start = loop.start
            if self.around[id(empty[ref])] != self.around[id(loop)]:
                continue  # it goes on from loop to loop
            if loop.var in self.loops and one in loop.body and isinstance(start, Const):
                found[ref] = loop, -int(start.value or 0)
        return found

    def _place_in(self, index: Expr) -> tuple[For, int] | None:
        """The loop that an index is the variable of, and what is added to that."""
        match index:
            case Var() if index in self.loops:
                return self.loops[index], 0
            case Var() if index in self.values:
                return self._place_in(self.values[index])
            case Op("add", (one, Const(value))) | Op("add", (Const(value), one)) if isinstance(value, int):
                found = self._place_in(one)
                return None if found is None else (found[0], found[1] + value)
            case Op("sub", (one, Const(value))) if isinstance(value, int):
                found = self._place_in(one)
                return None if found is None else (found[0], found[1] - value)
        return None

    def _settle(self) -> None:
        """Rule out loops until what is left runs in a few iterations."""
        while True:
            wrong = self._ruled_out()
            if not wrong:
                return
            for var in wrong:
                del self.loops[var]

    def _ruled_out(self) -> set[Var]:
        wrong = set[Var]()
        self.axis, reads = {}, list[tuple[Expr, For, int]]()
        windows: defaultdict[Var, list[int]] = defaultdict(list)
        for one in hir.walk(self.function.body):
            around = [x for x in self.around[id(one)] if isinstance(x, For) and x.var in self.loops]
            if isinstance(one, Visit) and one.template == self.template:
                found = [(axis, self._place_in(index)) for axis, index in enumerate(one.indices)]
                places = {place[0].var: (axis, place[1]) for axis, place in found if place is not None}
                for loop in around:
                    axis, shift = places.get(loop.var, (-1, 0))
                    if axis < 0 or self.axis.setdefault(loop.var, axis) != axis:
                        wrong.add(loop.var)
                    windows[loop.var].append(-shift)
                continue
            own = None
            if isinstance(one, Load) and one.list in self.contents:
                place, maker = self._place_in(one.index), self.makers.get(one.list)
                if maker is not None and maker[0].var in self.loops:
                    if place is not None and self._is_natural(*place):
                        own = place[0].var
                        reads.append((one.list, *place))
                    else:
                        wrong.add(maker[0].var)
            for loop in around:
                if loop.var != own and self._reads_from_outside(one, loop):
                    wrong.add(loop.var)
        return wrong or self._find_windows(windows, reads)

    @staticmethod
    def _is_natural(loop: For, shift: int) -> bool:
        """Whether an index is surely not negative."""
        return isinstance(loop.start, Const) and int(loop.start.value or 0) + shift >= 0

    def _reads_from_outside(self, one: Statement, loop: For) -> bool:
        """Whether a statement of a loop reads what depends on the choice, and is not computed in the loop."""
        inside = {var for inner in hir.walk(loop.body) for var in hir.targets(inner)}
        if not (read_by(one) & self.dependent) <= inside:
            return True
        if isinstance(one, (Load, Length)):
            ref, layout = one.list, one.layout
            found = self._is_list(ref, layout) if isinstance(one, Load) else self._has_length(ref, layout)
            return found and ref not in inside
        if isinstance(one, Call):
            return meet(self.effects.of(one.function).reads, self.layouts)
        return False

    def _find_windows(
        self, visits: dict[Var, list[int]], reads: list[tuple[Expr, For, int]]
    ) -> set[Var]:
        """Which iterations run, in terms of the choice's index; the loops of which too many would."""
        depends = {var: (min(found), max(found)) for var, found in visits.items()}
        while True:  # the iterations that the choice is read in
            before = dict(depends)
            for ref, loop, shift in reads:
                maker, place = self.makers[ref]
                if maker.var in depends:
                    if self.axis.setdefault(loop.var, self.axis[maker.var]) != self.axis[maker.var]:
                        return {loop.var}
                    low, high = (end + place - shift for end in depends[maker.var])
                    _widen(depends, loop.var, low, high)
            if before == depends:
                break
            if wide := _too_wide(depends):
                return wide
        self.windows = dict(depends)
        while True:  # and those whose items these need
            before = dict(self.windows)
            for ref, loop, shift in reads:
                maker, place = self.makers[ref]
                if loop.var in self.windows:
                    self.axis.setdefault(maker.var, self.axis[loop.var])
                    low, high = (end + shift - place for end in self.windows[loop.var])
                    _widen(self.windows, maker.var, low, high)
            if before == self.windows:
                return set()
            if wide := _too_wide(self.windows):
                return wide

    # --- what is made of it -------------------------------------------------------------------------

    def made(self) -> Function:
        """The part."""
        function, names = self.function, Names(self.function)
        self.at = [Var(names.new(f"at{axis}"), "i") for axis in range(self.template.rank)]
        self.names = names
        self.bases: dict[Expr, Var] = {}
        for ref, (loop, _) in self.makers.items():
            if ref in self.contents and loop.var in self.windows:
                assert isinstance(ref, Var)
                self.bases[ref] = Var(names.new(f"first_of_{ref.name}"), "i")
        made = Function(
            f"{function.name}_of_{self.template.name}",
            [*self.at, *function.parameters],
            list(function.results),
            [Set([base], [hir.ZEROS["i"]]) for base in self.bases.values()],
            f"{function.origin}: the terms of {self.template.name}",
            function.scores,
        )
        made.body += self._kept(function.body, whole=False)
        clean_one(made)
        keep_needed(made, self.effects)
        clean_one(made)
        return made

    def _kept(self, body: Body, *, whole: bool) -> Body:
        """What becomes of statements.

        Args:
            whole: whether they are of all iterations of a loop of which a few run besides: of these they leave
                out what depends on the choice.
        """
        result: Body = []
        for one in body:
            if whole and (id(one) in self.under or self._depends(one)):
                continue
            result += self._kept_of(one, whole)
        return result

    def _depends(self, one: Statement) -> bool:
        """Whether a statement has to do with what depends on the choice."""
        if isinstance(one, (For, Loop, Block, If)):
            return self._is_dependent(*hir.expressions(one))
        if isinstance(one, (Append, Load)) and one.list in self.contents:
            return True
        return self._is_dependent(*hir.expressions(one), *hir.targets(one))

    def _kept_of(self, one: Statement, whole: bool) -> Body:
        under = id(one) in self.under
        match one:
            case Visit(targets=targets, template=template, indices=indices):
                return [Read(list(targets), template, indices, False, line=one.line)]
            case Primitive():
                return []
            case Set(targets=targets, values=values):
                pairs = zip(targets, values, strict=True)
                made = [value if under or t not in self.sums else self._terms(t, value, whole) for t, value in pairs]
                return [Set(list(targets), made, line=one.line)]
            case If(test=test) if not under and not self._is_dependent(test):
                if _only_ends(one):
                    return []
            case Length(target=target, list=ref) if ref in self.bases:
                loop, place = self.makers[ref]
                count = Op("imax", (Op("sub", (loop.stop, loop.start), "i"), hir.ZEROS["i"]), "i")
                return [Set([target], [count], line=one.line)]
            case Load(list=ref) if ref in self.bases:
                made_load = copy.copy(one)
                made_load.index = Op("sub", (one.index, self.bases[ref]), "i")
                made_load.targets = list(one.targets)
                return [made_load]
            case For() if one.var in self.windows and not whole:
                return self._few_iterations(one)
        made_one = copy.copy(one)
        for name in one.BODIES:
            setattr(made_one, name, self._kept(getattr(one, name), whole=whole))
        for name in ("items", one.SETS, *one.MANY):
            found = getattr(one, name, None) if name else None
            if isinstance(found, list):
                setattr(made_one, name, list(found))
        return [made_one]

    def _terms(self, target: Var, value: Expr, whole: bool) -> Expr:
        """A sum without the terms that do not depend on the choice."""
        kept = [
            leaf
            for leaf in leaves_of(value)
            if leaf == target or leaf in self.sums or (not whole and self._is_dependent(leaf))
        ]
        if not kept:
            return Const(0.0, "f")
        found = kept[0]
        for leaf in kept[1:]:
            found = Op("add", (found, leaf), "f")
        return found

    def _few_iterations(self, loop: For) -> Body:
        """The iterations of a loop that the choice has to do with, behind what the loop makes besides."""
        (low, high), at = self.windows[loop.var], self.at[self.axis[loop.var]]
        result: Body = [self._all_iterations(loop)]
        for ref, base in self.bases.items():
            maker, place = self.makers[ref]
            if maker is loop:
                first = Op("imax", (loop.start, _plus(at, low)), "i")
                result.append(Set([base], [_plus(first, place)], line=loop.line))
        for shift in range(low, high + 1):
            body = self._iteration(loop)
            place_ = Var(self.names.new(loop.var.name), "i")
            for one in hir.walk(body):
                rewrite(one, lambda expr: replaced(expr, {loop.var: place_}))
            runs = hir.both(Op("le", (loop.start, place_), "b"), Op("lt", (place_, loop.stop), "b"))
            result.append(Set([place_], [_plus(at, shift)], line=loop.line))
            result.append(If(runs, body, [], line=loop.line))
        return result

    def _all_iterations(self, loop: For) -> For:
        """What a loop makes that does not depend on the choice, if anything needs it."""
        rest = copy.copy(loop)
        rest.body = self._kept(loop.body, whole=True)
        own = {var: None for one in hir.walk(rest.body) for var in hir.targets(one) if var not in self.sums}
        rename([rest], {var: Var(self.names.new(var.name), var.kind) for var in [loop.var, *own]})
        return rest

    def _iteration(self, loop: For) -> Body:
        """One iteration of a loop; it adds to the lists alone of which a few items are made."""
        body = [
            one
            for one in self._kept(loop.body, whole=False)
            if not (isinstance(one, Append) and one.list in self.makers and one.list not in self.bases
                    and self.makers[one.list][0] is loop)
        ]  # fmt: skip
        return once(body, loop)


def _plus(expr: Expr, number: int) -> Expr:
    return expr if not number else Op("add", (expr, Const(number, "i")), "i")


def _widen(windows: dict[Var, tuple[int, int]], var: Var, low: int, high: int) -> None:
    before = windows.get(var, (low, high))
    windows[var] = min(before[0], low), max(before[1], high)


def _too_wide(windows: dict[Var, tuple[int, int]]) -> set[Var]:
    return {var for var, (low, high) in windows.items() if high - low >= _MOST}


def _only_ends(one: If) -> bool:
    """Whether a branch does nothing but to fail, or to note that a density is zero, which it was not."""
    sides: Iterable[Body] = (one.then, one.orelse)
    every = [inner for side in sides for inner in hir.walk(side)]
    if any(isinstance(inner, Return) and inner.values != [IMPOSSIBLE] for inner in every):
        return False
    return all(isinstance(inner, (Fail, Return, Primitive, If)) for inner in every)
