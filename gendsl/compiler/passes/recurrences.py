"""Loops that go on from their last iteration, by what that has looked up: a loop that does so, and the rest.

                                              h_before = [h]
    for t in range(n):                        for t in range(n):
        if t > 0:                                 h_before.append(state.h[t] if t > 0 else h)
            m = phi * h                       for t in range(n):
            h = state.h[t]             ->         h = h_before[t]
            lp += normal_logpdf(m, 1, h)          if t > 0:
        y = state.y[t]                                m = phi * h
        lp += normal_logpdf(h, 1, y)                  h = h_before[t + 1]
                                                      lp += normal_logpdf(m, 1, h)
                                                  y = state.y[t]
                                                  lp += normal_logpdf(h, 1, y)

An iteration of the second loop needs nothing of the one before, so that `axes` lets many run at once. It is
distribution of a loop, and expansion of scalars, for variables whose next value does not depend on the one
before, and for lists that get an item in each iteration.

What may fail is done earlier then, or later: where a text fails, all that it did is discarded. An iteration
that finds a density to be zero ends the text, and what those after it look up is looked up all the same, as
it is where iterations run at once.

What a loop is taken apart into is said here as a whole; so this is one module.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Call,
    Const,
    Expr,
    For,
    Function,
    If,
    Length,
    Load,
    New,
    Op,
    Primitive,
    Return,
    Set,
    Statement,
    Var,
    Visit,
)
from gendsl.compiler.hir.list_uses import ListUses
from gendsl.compiler.hir.meetings import Meeting
from gendsl.compiler.hir.rewriting import WORTH, cost_of, rename, substitute
from gendsl.compiler.hir.text_effects import CHANGES, PURE, left_by, made_by, read_by
from gendsl.compiler.passes.axes import UNWORTHY, Axes
from gendsl.compiler.passes.axes_facts import NotLanesError
from gendsl.compiler.passes.axes_sizes import Sizes
from gendsl.compiler.passes.axes_variables import exposed, is_fresh, is_sum, read_after, surely_set
from gendsl.compiler.passes.clean import clean_one
from gendsl.compiler.passes.first_iterations import Iterations
from gendsl.compiler.passes.grown_lists import Reading, grown_by, items_before, sum_of
from gendsl.compiler.passes.slices import add_needed, come_to, keep, rewritten
from gendsl.compiler.passes.staging import Names

Around = list[tuple[Statement | None, Body]]
_ZERO, _ONE, _LAST = Const(0, "i"), Const(1, "i"), Const(-1, "i")
_LABELLED = For, hir.Loop, hir.Block
_MOST = 3
"""How often a loop is taken apart: as often as a variable may be that of the iteration before."""


class _NotApartError(Exception):
    """Why a loop is not taken apart."""


def take_apart(mains: Sequence[Function], meetings: Iterable[Meeting] = ()) -> None:
    """Take loops over data that go on from their last iteration apart, in all that functions call, too."""
    functions = list({id(one): one for main in mains for one in hir.functions(main)}.values())
    context = _Context(functions, meetings)
    for function in functions:
        if not function.symbol and context.visit(function, function.body, []):
            clean_one(function)


def take_all_apart(function: Function) -> None:
    """The same of all loops in a function itself, whether they run in lanes then or not."""
    context = _Context([function], ())
    context.for_lanes = False
    if context.visit(function, function.body, []):
        clean_one(function)


class _Context:
    """What is known of a text, as far as it is asked for.

    Attributes:
        for_lanes: whether loops are only taken apart where both parts run in lanes then.
    """

    def __init__(self, functions: list[Function], meetings: Iterable[Meeting]) -> None:
        self.functions, self.for_lanes = functions, True
        self.axes = Axes([], meetings)
        self._sizes: Sizes | None = None

    def is_over_data(self, function: Function, loop: For) -> bool:
        """Whether a loop may be one over data."""
        if self._sizes is None:
            self._sizes = Sizes(self.functions)
        return self._sizes.is_over_data(function, loop)

    def visit(self, function: Function, body: Body, around: Around) -> bool:
        """Take the loops of a body apart; whether there is any."""
        found, at = False, 0
        while at < len(body):
            statement, before = body[at], len(body)
            if isinstance(statement, For) and self._replaced(function, body, at, around):
                found = True
                at += len(body) - before + 1
                continue
            for inner in hir.bodies(statement):
                found = self.visit(function, inner, [*around, (statement, body[at + 1 :])]) or found
            at += 1
        return found

    def _replaced(self, function: Function, body: Body, at: int, around: Around) -> bool:
        """Take a loop apart, if both parts are faster then; whether they are."""
        loop, rest = body[at], body[at + 1 :]
        assert isinstance(loop, For)
        if loop.step != _ONE or not _may_be_taken_apart(loop):
            return False
        names: Names | None = None
        before: Body = []
        ahead: list[For] = []
        after: Body = []
        last = loop
        for _ in range(_MOST):
            later = [*around, (last, [*after, *rest])]
            carried = _carried(last, later)
            if carried is None:
                break
            names = names or Names(function)
            try:
                made = _Apart(function, last, *carried, names, self.axes)
            except _NotApartError:
                break
            if last is loop and self.for_lanes and not self.is_over_data(function, loop):
                break
            before += made.before
            if made.first is not None:
                ahead.append(made.first)
            last, after = made.second, [*made.after, *after]
            body[at:] = [*before, *ahead, last, *after, *rest]
        if last is loop:
            return False
        if not self.for_lanes or self._run_in_lanes(function, ahead, last, [*after, *rest], around):
            return True
        body[at:] = [loop, *rest]
        return False

    def _run_in_lanes(
        self, function: Function, ahead: list[For], last: For, rest: Body, around: Around
    ) -> bool:
        """Whether loops run in lanes, or those before the last one do too little for that."""
        loops = [*ahead, last]
        for place, loop in enumerate(loops):
            after = [*loops[place + 1 :], *rest]
            try:
                self.axes.of_loop(function, loop, [*around, (loop, after)])
            except NotLanesError as error:
                if loop is last or str(error) not in UNWORTHY:
                    return False
        return True


def _may_be_taken_apart(loop: For) -> bool:
    """Whether an iteration comes to its end, but where a density is zero, and only looks up choices."""
    if left_by(hir.walk(loop.body))[0]:
        return False
    exits = {id(one) for one in _exits(loop.body)}
    return all(
        id(one) in exits or (isinstance(one, (*PURE, Visit)) and not isinstance(one, Return))
        for one in hir.walk(loop.body)
    )


def _exits(body: Body) -> list[Statement]:
    """The statements that end a text where a density is zero, and note why."""
    found: list[Statement] = []
    for one in hir.walk(body):
        if isinstance(one, If) and not one.orelse and one.then and isinstance(one.then[-1], Return):
            *notes, last = one.then
            assert isinstance(last, Return)
            noted = [note for note in notes if isinstance(note, Primitive) and note.name == "impossible"]
            if noted == notes != [] and Const(-inf, "f") in last.values:
                found += one.then
    return found


def _carried(loop: For, around: Around) -> tuple[set[Var], set[Var]] | None:
    """The variables that an iteration may read of the one before, and those that what follows the loop may.

    None if there are none, or iterations may not be told apart by the loop's variable.
    """
    inside = {var for one in hir.walk(loop.body) for var in hir.targets(one)}
    later = read_after({loop.var, *inside}, around)
    if loop.var in inside or loop.var in later:
        return None
    before, surely = exposed(loop.body)
    sums = {var for var in inside & (before | later) if is_sum(loop.body, var)}
    carried, last = (inside & before) - sums, (inside & later) - sums
    if surely is None or not last <= carried | surely:
        return None
    return (carried, last) if carried or last or grown_by(loop.body) else None


class _Apart:
    """A loop as two loops.

    Attributes:
        before: what is done before them.
        first: the one that computes what iterations need of those before, if that is anything.
        second: the one that does the rest.
        after: what is done after them.
    """

    def __init__(
        self, function: Function, loop: For, carried: set[Var], last: set[Var], names: Names, axes: Axes
    ) -> None:
        self.function, self.loop, self.names, self.axes = function, loop, names, axes
        self.before: Body = []
        self.after: Body = []
        self.first: For | None = None
        self.surely = surely_set(function.body, loop) | set(function.parameters)
        self.starts: dict[Var, Expr] = {}
        self.carried, self.last = set(carried), last
        self.body = hir.copied_body(loop.body)
        for one in hir.walk(self.body):
            if isinstance(one, Call):
                does = axes.effects.of(one.function)
                if does.changes or not does.pure:
                    raise _NotApartError
        self.grown = self._grown_lists()
        flags = self._take_flags()
        self.later = Iterations(loop, self.body, (1, inf), flags, self.carried)
        self.expanded = {var for var in self.carried if self._is_known_ahead({var}, [])}
        self.grown = [one for one in self.grown if self._is_known_ahead(set(), [one])]
        only_after = _in_order(last - carried)
        if not (self.expanded or self.grown or flags or only_after):
            raise _NotApartError
        self.place: Expr = loop.var if loop.start == _ZERO else Op("sub", (loop.var, loop.start), "i")
        if self.expanded or self.grown:
            self._distribute()
        self.second = For(loop.var, loop.start, loop.stop, loop.step, self.body, loop.label, line=loop.line)
        for var in only_after:
            self._keep_for_later(var)

    # --- variables --------------------------------------------------------------------------------

    def _start_of(self, var: Var) -> Expr:
        """The value that a variable has before the loop."""
        if var not in self.starts:
            if var in self.surely:
                first = Var(self.names.new(f"{var.name}_first"), var.kind)
                self.before.append(Set([first], [var]))
                self.starts[var] = first
            elif self._is_set_outside(var):
                raise _NotApartError
            else:
                self.starts[var] = hir.ZEROS[var.kind]  # which no iteration reads
        return self.starts[var]

    def _is_set_outside(self, var: Var) -> bool:
        inside = {id(one) for one in hir.walk(self.loop.body)}
        return any(var in hir.targets(one) for one in hir.walk(self.function.body) if id(one) not in inside)

    def _take_flags(self) -> dict[Var, Const]:
        """Let the variables that all iterations set to the same number be set where one begins."""
        counts = Counter(var for one in hir.walk(self.body) for var in hir.targets(one))
        flags: dict[Var, Const] = {}
        for one in self.body:
            if isinstance(one, Set):
                pairs = zip(one.targets, one.values, strict=True)
                known = [pair for pair in pairs if isinstance(pair[1], Const) and pair[0].kind != "r"]
                flags |= {var: value for var, value in known if var in self.carried and counts[var] == 1}  # type: ignore[misc]
        named: dict[Var, Var] = {}
        begins: Body = []
        for var in _in_order(flags):
            named[var] = Var(self.names.new(var.name), var.kind)
            ahead = Op("gt", (self.loop.var, self.loop.start), "b")
            value = Op("select", (ahead, flags[var], self._start_of(var)), var.kind)
            begins.append(Set([named[var]], [value]))
            if var in self.last:
                self.after.append(self._if_entered(Set([var], [flags[var]])))
        for one in self.body:
            if isinstance(one, Set):
                keep(one, lambda var: var not in flags)
        rename(self.body, named)
        self.body = [*begins, *self.body]
        self.carried -= set(flags)
        return {named[var]: value for var, value in flags.items()}

    def _keep_for_later(self, var: Var) -> None:
        """Let a variable that what follows the loop may read have its last value then."""
        if var.kind == "r":
            raise _NotApartError
        own, layout = Var(self.names.new(var.name), var.kind), (var.kind,)
        kept = Var(self.names.new(f"{var.name}_in_turn"), "r")
        rename(self.second.body, {var: own})
        self.before.append(New(kept, layout, []))
        self.second.body.append(Append(kept, layout, (own,)))
        self.after.append(self._if_entered(Load([var], kept, layout, _LAST)))

    def _if_entered(self, *statements: Statement) -> If:
        return If(Op("gt", (self.loop.stop, self.loop.start), "b"), [*statements], [])

    # --- slices -----------------------------------------------------------------------------------

    def _is_known_ahead(self, wanted: set[Var], appends: list[Append]) -> bool:
        """Whether what an iteration leaves in variables, or lists, needs nothing that iterations leave."""
        if not all(self._is_value(var) for var in wanted):
            return False
        try:
            sliced = self._slice(wanted, appends, {})
        except _NotApartError:
            return False
        read, surely = exposed(sliced)
        inside = {var for one in hir.walk(self.body) for var in hir.targets(one)}
        return not read & inside and surely is not None and wanted <= surely

    def _is_value(self, var: Var) -> bool:
        """Whether a variable is a number, or a list in a trace, which nothing changes."""
        known, looked_at = {var}, set[Var]()
        while known > looked_at:
            one = (known - looked_at).pop()
            looked_at.add(one)
            for setting in hir.walk(self.body) if one.kind == "r" else ():
                if one not in hir.targets(setting) or isinstance(setting, Visit):
                    continue
                value = setting.values[setting.targets.index(one)] if isinstance(setting, Set) else None
                if not isinstance(value, Var):
                    return False
                known.add(value)
        return True

    def _slice(self, wanted: set[Var], appends: list[Append], parts: dict[int, Statement]) -> Body:
        """What an iteration computes variables by, and adds to lists.

        Args:
            parts: by the identity of each statement the one that it becomes; new ones are added.
        """
        needed = wanted.union(*(read_by(one) - {one.list} for one in appends))
        size = -1
        while size < len(needed):
            size = len(needed)
            add_needed(self.body, needed)
        self._check_lists(needed)
        return self._sliced(self.body, (needed, appends), set(), False, parts)

    def _check_lists(self, needed: set[Var]) -> None:
        """Refuse to read lists that iterations make or change."""
        grown, made = {one.list for one in self.grown}, made_by(hir.walk(self.body))
        reading = [one for one in hir.walk(self.body) if isinstance(one, (Load, Length))]
        read = {one.list for one in reading if needed & set(hir.targets(one))}
        changed = {one.list for one in hir.walk(self.body) if isinstance(one, CHANGES)} - made
        if read & (grown | made) or (read and changed - grown):
            raise _NotApartError

    def _sliced(
        self,
        body: Body,
        wanted: tuple[set[Var], list[Append]],
        done: set[Var],
        is_first: bool,
        parts: dict[int, Statement],
    ) -> Body:
        """Those of some statements that set what is needed, and add to lists.

        Args:
            done: the variables that are set so far.
            is_first: whether only the first iteration comes to them.
        """
        result: Body = []
        for one in body:
            if isinstance(one, If):
                test = self.later.decided(one.test)
                made = If(one.test, [], [], line=one.line)
                self._from_start(made, done, is_first)
                made.then = self._sliced(one.then, wanted, done, is_first or test is False, parts)
                made.orelse = self._sliced(one.orelse, wanted, done, is_first or test is True, parts)
                if made.then or made.orelse:
                    result.append(made)
                continue
            is_wanted = any(one is append for append in wanted[1])
            if not is_wanted and not any(wanted[0] & set(hir.targets(inner)) for inner in hir.walk([one])):
                continue
            if not is_wanted and not self._may_be_ahead(one):
                raise _NotApartError
            kept = copy.copy(one)
            if isinstance(kept, Set):
                keep(kept, lambda var: var in wanted[0])
            self._from_start(kept, done, is_first)
            done |= set(hir.targets(kept))
            parts[id(one)] = kept
            result.append(kept)
        return result

    def _may_be_ahead(self, one: Statement) -> bool:
        """Whether a statement may be done in a loop before."""
        if isinstance(one, Visit):
            return one.template.number not in self.axes.concerned
        if isinstance(one, Call):
            lists = any(part.kind == "r" for part in (*one.args, *one.targets))
            return not lists and not self.axes.effects.of(one.function).reads
        return isinstance(one, (Set, Load, Length))

    def _from_start(self, statement: Statement, done: set[Var], is_first: bool) -> None:
        """Let a statement of the first iteration read what variables are before the loop."""
        if is_first:
            read = _in_order((read_by(statement) & self.carried) - done)
            substitute(statement, {var: self._start_of(var) for var in read})

    # --- the two loops ----------------------------------------------------------------------------

    def _distribute(self) -> None:
        """Take what is known ahead out of the body, into a loop of its own."""
        parts: dict[int, Statement] = {}
        first = self._slice(self.expanded, self.grown, parts)
        lists = {var: Var(self.names.new(f"{var.name}_before"), "r") for var in _in_order(self.expanded)}
        kept: list[tuple[set[tuple[int, Var]], Expr, Expr]] = [
            (come_to(var, self.body, parts), ref, sum_of(self.place, _ONE)) for var, ref in lists.items()
        ]
        collected: Body = []
        loads: Body = []
        for var, ref in lists.items():
            layout = (var.kind,)
            self.before.append(New(ref, layout, [(self._start_of(var),)]))
            collected.append(Append(ref, layout, (var,)))
            loads.append(Load([var], ref, layout, self.place))
            if var in self.last:
                self.after.append(Load([var], ref, layout, _LAST))
        second = [*loads, *self.body]
        for append in self.grown:
            count = self._count_before(append)
            second = self._with_grown(second, append, count)
            if len(append.item) == 1 and isinstance(append.item[0], Var):
                before = self.body[: self.body.index(append)]
                own = sum_of(self.place, count)
                kept.append((come_to(append.item[0], before, parts), append.list, own))
        for at, one in enumerate(second):
            if isinstance(one, Set):
                rest = set().union(*map(read_by, hir.walk(second[at + 1 :])))
                keep(one, lambda var: var not in self.expanded or var in rest)  # noqa: B023
        second = self._without_unread(second, parts | {id(one): one for one in loads})
        counts = Counter(var for one in hir.walk(self.body) for var in hir.targets(one))
        surely, defaults = exposed(first)[1] or set(), list[Statement]()

        def loaded(one: Statement) -> Body | None:
            """What looks up what a statement of the first loop has set, if that is not as easily computed."""
            if id(one) not in parts or not _is_costly(one):
                return None
            done = set(hir.targets(parts[id(one)]))
            result: Body = []
            if isinstance(one, Set):
                rest = copy.copy(one)
                keep(rest, lambda var: var not in done)
                result += [rest] if rest.targets else []
            for var in hir.targets(one):
                if var not in done:
                    continue
                known = [(ref, place) for found, ref, place in kept if (id(one), var) in found]
                if known:
                    result.append(Load([var], known[0][0], (var.kind,), known[0][1], line=one.line))
                    continue
                if counts[var] > 1 or var in self.carried or var.kind == "r":
                    raise _NotApartError  # its value at the end of an iteration is another one
                ref = Var(self.names.new(f"{var.name}_ahead"), "r")
                self.before.append(New(ref, (var.kind,), []))
                collected.append(Append(ref, (var.kind,), (var,)))
                if var not in surely:
                    defaults.append(Set([var], [hir.ZEROS[var.kind]]))
                result.append(Load([var], ref, (var.kind,), self.place, line=one.line))
            return result

        self.body = rewritten(second, loaded)
        self.first = self._renamed([*defaults, *first, *collected])

    def _without_unread(self, body: Body, done: dict[int, Statement]) -> Body:
        """A body without what is done before, too, and sets nothing that is read in it or after."""
        empty = {id(one) for one in hir.walk(body) if isinstance(one, If) and not one.then and not one.orelse}
        while True:
            read = set().union(*map(read_by, hir.walk(body))) | (self.last - self.expanded)
            size = sum(len(hir.targets(one)) + 1 for one in hir.walk(body))

            def kept(one: Statement, read: set[Var] = read) -> Body | None:
                if isinstance(one, If):
                    return None if one.then or one.orelse or id(one) in empty else []
                if id(one) not in done:
                    return None
                if isinstance(one, Set):
                    keep(one, lambda var: var in read or var not in hir.targets(done[id(one)]))
                    return [one] if one.targets else []
                return None if read & set(hir.targets(one)) else []

            body = rewritten(body, kept)
            if sum(len(hir.targets(one)) + 1 for one in hir.walk(body)) == size:
                return body

    def _renamed(self, body: Body) -> For:
        """The first loop, with names of its own."""
        loop = self.loop
        own = {loop.var, *(var for one in hir.walk(body) for var in hir.targets(one))}
        named = {var: Var(self.names.new(f"{var.name}_ahead"), var.kind) for var in _in_order(own)}
        rename(body, named)
        labels = [one.label for one in hir.walk(self.function.body) if isinstance(one, _LABELLED)]
        return For(named[loop.var], loop.start, loop.stop, loop.step, body, 1 + max(labels), line=loop.line)

    # --- lists ------------------------------------------------------------------------------------

    def _grown_lists(self) -> list[Append]:
        """What iterations add to lists that they read, and that have no other name."""
        grown, found = grown_by(self.body), list[Append]()
        uses = ListUses(self.function) if grown else None
        for one in grown:
            ref = one.list
            if not isinstance(ref, Var) or "r" in one.layout:
                continue
            others = [inner for inner in hir.walk(self.body) if ref in read_by(inner) and inner is not one]
            plain = all(isinstance(inner, (Load, Length)) and inner.list == ref for inner in others)
            if plain and uses and (uses.is_alone(ref) or is_fresh(self.function, self.loop, ref)):
                found.append(one)
        return found

    def _count_before(self, append: Append) -> Expr:
        """How many items a list has before the loop."""
        known = items_before(self.function.body, self.loop, append.list)
        if known is not None:
            return Const(known, "i")
        count = Var(self.names.new("count"), "i")
        self.before.append(Length(count, append.list, append.layout))
        return count

    def _with_grown(self, body: Body, append: Append, count: Expr) -> Body:
        """A body that reads a list that has all its items as if it had as many as it had there."""
        known = [
            Iterations(self.loop, self.body, between, {}, {*self.carried, *self.later.flags})
            for between in ((0, 0), (0, inf))
        ]
        there: Expr = sum_of(self.place, count)
        result: Body = []
        for one in body:
            if one is append:
                there = sum_of(there, _ONE)
            else:
                result += Reading(append.list, there, self.names, [*known, self.later]).read([one], False)
        return result


def _in_order(variables: Iterable[Var]) -> list[Var]:
    return sorted(variables, key=lambda var: var.name)


def _is_costly(one: Statement) -> bool:
    """Whether a statement is not done twice."""
    return isinstance(one, (Visit, Call)) or (isinstance(one, Set) and sum(map(cost_of, one.values)) >= WORTH)
