"""What is done each time a body runs, and what can be done once, before: the body of a loop or of a function.

Some variables have one value each time; what is computed from these alone is done once. Of a function that
is called with some such arguments two are made: one that is called *once*, and one that is called *each*
time, with what the first has returned. Of a loop whose bounds are the same each time, what is done once in
each of its iterations is kept in lists, the `tables`. What costs nothing is done each time, unless it is
needed for what does. All numbers are computed by the same operations as before.

What may fail, or not end, is done once only where it is sure that it is come to. What follows a branch that
may leave the body, or stands in one, is done once if it can't fail.

A body, its loops, branches and calls are taken apart by methods that call each other: this is one module.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Block,
    Body,
    Call,
    Const,
    Expr,
    Fill,
    For,
    Function,
    Given,
    If,
    Input,
    Length,
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
from gendsl.compiler.hir.rewriting import cost_of, may_fail, quieted, replaced, variables_of
from gendsl.compiler.hir.text_effects import (
    UNKNOWN,
    Layouts,
    Run,
    TextEffects,
    has_density,
    may_leave,
    read_by,
    set_by,
)
from gendsl.compiler.passes.steady import Steady


@dataclass(slots=True)
class Parts:
    """What a function was taken apart into.

    Attributes:
        once: what is done once; it returns what is needed of that.
        each: what is done each time; it has these results as further parameters.
        same: for each result of the function the variable of `once` that it is, None where `each` returns it.
        kept: the variables of the results of `once`.
        given: which arguments each of the two takes.
    """

    once: Function
    each: Function
    same: list[Expr | None]
    kept: list[Var]
    given: tuple[list[int], list[int]]


class Stages(TextEffects):
    """What is known of the functions of a text, and what they were taken apart into."""

    def __init__(self, run: Run | None = None) -> None:
        super().__init__(run)
        self.parts: dict[tuple[object, ...], Parts | None] = {}


class Names:
    """New names of variables of a function."""

    def __init__(self, *functions: Function) -> None:
        self.taken = {var.name for one in functions for var in one.parameters}
        for one in functions:
            for statement in hir.walk(one.body):
                self.taken.update(var.name for var in hir.targets(statement))

    def new(self, name: str) -> str:
        found, count = name, 0
        while found in self.taken:
            count += 1
            found = f"{name}_{count}"
        self.taken.add(found)
        return found


class Apart(Steady):
    """Takes a body apart.

    Attributes:
        names: names for variables of the function that the body is in.
        fills: what makes the lists that what is done once in loops is kept in.
    """

    def __init__(
        self,
        stages: Stages,
        names: Names,
        body: Body,
        given: set[Var],
        changed: Layouts,
        others: set[Var],
        wanted: Sequence[bool] | None = None,
        *,
        always: bool = False,
    ) -> None:
        super().__init__(stages, body, given, changed, others, wanted, always=always)
        self.stages, self.names = stages, names
        self.fills: Body = []

    def taken(self, body: Body, sure: bool) -> tuple[Body, Body]:
        """What of a body is done once, and what is done each time.

        What costs nothing is done once only if that is needed for what does.
        """
        fixed = self.fixed(body, sure)
        ids = {id(one) for one in fixed}
        for one in hir.walk(fixed):
            self.known.update(hir.targets(one))
        for one in fixed:
            if self.is_of_constants(one):
                self.constants.update(hir.targets(one))
        parts: list[tuple[Body, Body]] = []
        for statement in body:
            if id(statement) in ids:
                filled = self._of_expressions(statement, False) if self._is_filled(statement) else ([], [])
                parts.append(([statement, *filled[0]], filled[1]))
                continue
            parts.append(self._taken_of(statement, sure))
            sure = sure and self.goes_on(statement)
        needed = self._needed_for([one for once, _ in parts for one in once], fixed, body)
        result: tuple[Body, Body] = [], []
        for statement, (once, each) in zip(body, parts, strict=True):
            if id(statement) in ids:
                is_needed = id(statement) in needed
                if not is_needed and self._is_filled(statement):
                    result[0].extend(once[1:])
                    result[1].extend(each)
                    continue
                once = [statement] if is_needed else []
                if isinstance(statement, (Visit, Given)):
                    result[0].extend(self._looked_up(statement) if is_needed else [])
                    result[1].append(statement)
                    continue
                again = self._is_cheap(statement) or self.is_looked_up(statement)
                each = [copy.copy(statement)] if is_needed and again else []
                each = each if is_needed else [statement]
            result[0].extend(once)
            result[1].extend(each)
        return result

    def _needed_for(self, once: Body, fixed: Body, body: Body) -> set[int]:
        """The statements, of those that can be done once, that cost something, or are needed for others.

        All that sets or changes one variable is done in one place, with all that reads it in between.
        """
        within = {id(one) for one in hir.walk(body)}
        sets = {id(one): set_by(one) for one in fixed}
        reads = {id(one): set().union(*map(read_by, hir.walk([one]))) for one in fixed}
        found_each = {var for one in fixed if self.is_looked_up(one) for var in hir.targets(one)}
        outside = {var for found in sets.values() for var in found if self.is_read_outside(var, within)}
        left_out = {id(one) for one in fixed if self.is_of_constants(one) or self._is_filled(one)}
        wanted = outside - found_each
        changing: set[Var] = set()
        kept: set[int] = set()
        left = once
        while True:
            found = [
                one
                for one in left
                if id(one) not in sets
                or not wanted.isdisjoint(sets[id(one)])
                or not changing.isdisjoint(reads[id(one)])
                or (id(one) not in left_out and self.costs([one]) >= self.effects.worth)
            ]
            if not found:
                return kept
            kept.update(map(id, found))
            left = [one for one in left if id(one) not in kept]
            for one in found:
                wanted |= set_by(one)
                changing |= {var for var in sets.get(id(one), ()) if len(self.uses[var].setters) > 1}
            for one in hir.walk(found):
                wanted |= read_by(one)

    def costs(self, body: Body) -> int:
        """About what statements cost; in a run, beside what LLVM computes when the text is made."""
        if self.effects.run is None:
            return self.effects.all_of(body, self.made).cost
        return self.effects.cost(body, self.constants)

    def _looked_up(self, visit: Visit | Given) -> Body:
        """What looks up a choice that is visited, and fails where it may be another.

        Where it is asked whether there is one, there is, as it is come to in all steps.
        """
        if isinstance(visit, Given):
            return [Set([visit.target], [hir.TRUE], line=visit.line)]
        targets, template, indices, line = list(visit.targets), visit.template, visit.indices, visit.line
        found: Body = [Read(targets, template, indices, False, line=line)]
        if self.effects.run is not None and id(template) in self.effects.run.changed:
            stays = Var(self.names.new(f"{template.name}_observed"), "b")
            fails = hir.Fail("a choice that may change", line=line)
            found.append(Primitive([stays], "is_observed", indices, (template,), line=line))
            found.append(If(Op("not", (stays,), "b"), [fails], [], line=line))
        return found

    def _is_filled(self, statement: Statement) -> bool:
        """Whether a statement of a run makes a list of equal items, which is known to be that each time."""
        return self.effects.run is not None and isinstance(statement, Fill)

    def _is_cheap(self, statement: Statement) -> bool:
        """Whether it costs less to do a statement each time, too, than to hand over what it gives."""
        if not self.nest and self.wanted is None:
            return False
        match statement:
            case Set(targets=targets, values=values):
                return not any(map(cost_of, values)) and all(
                    len(self.uses[var].setters) == 1 for var in targets
                )
            case Length(target=target, list=ref):
                return ref in self.given and len(self.uses[target].setters) == 1
        return False

    def _taken_of(self, statement: Statement, sure: bool) -> tuple[Body, Body]:
        match statement:
            case If(test=test):
                return self._of_branch(statement, sure, self.is_known(test) and (sure or not may_fail(test)))
            case For():
                return self._of_loop(statement, sure)
            case Block():
                once, each = self.taken(statement.body, sure)
                return once, self._with(statement, once, body=each)
            case Loop() if self.effects.run is not None and not self.effects.run.tables:
                once, each = self.taken(statement.body, False)
                return once, self._with(statement, once, body=each)
            case Call():
                return self._of_call(statement, sure)
            case Set() | Return() | Load() | Append() | Store():
                return self._of_expressions(statement, sure)
        return [], [statement]

    @staticmethod
    def _with(statement: Statement, once: Body, **parts: Body) -> Body:
        """A statement with other bodies, if anything of it is done once."""
        if not once:
            return [statement]
        changed = copy.copy(statement)
        for name, body in parts.items():
            setattr(changed, name, body)
        return [changed]

    def _of_branch(self, statement: If, sure: bool, same: bool) -> tuple[Body, Body]:
        sure = sure and (same or has_density(statement) or (self.always and not self.picks(statement)))
        then, then_each = self.taken(statement.then, sure)
        orelse, else_each = self.taken(statement.orelse, sure)
        once = [*then, *orelse]
        each = self._with(statement, once, then=then_each, orelse=else_each)
        if once and same:
            once = [If(statement.test, then, orelse, line=statement.line)]
            if not then_each and not else_each:
                each = []
        return once, each

    def _of_loop(self, loop: For, sure: bool) -> tuple[Body, Body]:
        """A loop of which what is the same each time is kept in lists.

        What is the same in all iterations is taken out of it already, or now.
        """
        if self.effects.run is not None and not self.effects.run.tables:
            return self._of_all_iterations(loop, sure)
        within = {id(one) for one in hir.walk(loop.body)}
        outside = {
            var for one in hir.walk([loop]) for var in hir.targets(one) if self.is_read_outside(var, within)
        }
        single = len(self.uses[loop.var].set_at) == 1 and loop.var not in outside
        times = self._times(loop)
        if not sure or times is None or not single:
            return [], [loop]
        before, others, fills = set(self.known), self.others, len(self.fills)
        self.others = others | outside
        self.known.add(loop.var)
        self.nest.append((loop, times))
        once, each = self.taken(loop.body, not any(map(may_leave, loop.body)))
        count, index = self._place()
        self.nest.pop()
        self.known, self.others = before, others
        kept = _needed(once, each)
        if self.costs(once) < self.effects.worth or any(var.kind == "r" for var in kept):
            del self.fills[fills:]
            return [], [loop]
        tables = [Var(self.names.new("table"), "r") for _ in kept]
        stores: Body = []
        loads: Body = []
        for table, var in zip(tables, kept, strict=True):
            layout = (var.kind,)
            self.fills.append(Fill(table, layout, count, (hir.ZEROS[var.kind],)))
            stores.append(Store(table, layout, index, (var,)))
            loads.append(Load([var], table, layout, index))
        filled: Body = [*_first(once, kept), *once, *stores]
        loop_once: Body = [For(loop.var, loop.start, times, loop.step, filled, loop.label, line=loop.line)]
        if not self.nest:
            self.known.update(tables)
            loop_once, self.fills = [*self.fills, *loop_once], []
        return loop_once, [_with_body(loop, [*loads, *each])] if loads or each else []

    def _of_all_iterations(self, loop: For, sure: bool) -> tuple[Body, Body]:
        """A loop without what is the same in all iterations."""
        comes = self.is_known(loop.start) and self.is_known(loop.stop)
        if self.always or loop.step not in (Const(1, "i"), Const(-1, "i")):
            comes = False
        once, each = self.taken(loop.body, sure and (comes or self.always))
        if once and comes:
            ahead = "lt" if loop.step == Const(1, "i") else "gt"
            once = [If(Op(ahead, (loop.start, loop.stop), "b"), once, [], line=loop.line)]
        return once, self._with(loop, once, body=each)

    def _times(self, loop: For) -> Expr | None:
        """How often a loop runs, if what is done once in each of its iterations may be kept.

        Inside of another loop it may if a choice is made in each iteration: what is kept takes no more memory
        than the trace.
        """
        if loop.start != Const(0, "i") or loop.step != Const(1, "i"):
            return None
        if self.nest:
            if self.effects.run is None or not any(isinstance(one, Visit) for one in loop.body):
                return None
            inside = {var for one, _ in self.nest for two in hir.walk([one]) for var in hir.targets(two)}
            if not variables_of(loop.stop).isdisjoint(inside):
                return None
        return loop.stop if self.is_known(loop.stop) else None

    def _place(self) -> tuple[Expr, Expr]:
        """How many iterations the loops around have together, and which of these it is."""
        (loop, count), *inner = self.nest
        index: Expr = loop.var
        for one, times in inner:
            count = Op("mul", (count, times), "i")
            index = Op("add", (Op("mul", (index, times), "i"), one.var), "i")
        return count, index

    def _of_call(self, call: Call, sure: bool) -> tuple[Body, Body]:
        """A call of a function of which a part is the same each time.

        A step that may never be picked runs the model as all others do.
        """
        sure = sure or (self.always and not self.picks(call) and self.effects.makes_choices(call.function))
        same = [self.is_known(arg) and (sure or not may_fail(arg)) for arg in call.args]
        effects = self.effects.of(call.function)
        constant = list(map(self.is_constant, call.args))
        varies = [one and not known for one, known in zip(same, constant, strict=True)]
        left = not self.nest and self.wanted is None and self.effects.is_small(call.function)
        if self.effects.run is None:
            left = left or bool(effects.changes) or not any(varies)
        elif not any(varies):  # lists from outside don't change
            left = left or not self.effects.looks_outside(call.function)
            left = left or (self.effects.run.tables and not self.effects.has_loops(call.function))
        if effects is UNKNOWN or left:
            return self._of_expressions(call, sure)
        wanted = [self._is_wanted(var) for var in call.targets]
        if self.effects.run is None:
            constant = [False] * len(constant)
        parts = taken_apart(self.stages, call.function, same, wanted, self.changed, sure, constant)
        if parts is None:
            return self._of_expressions(call, sure)
        kept = [Var(self.names.new(var.name), var.kind) for var in parts.kept]
        named: dict[Var, Expr] = dict(zip(call.function.parameters, call.args, strict=True))
        named.update(zip(parts.kept, kept, strict=True))
        for_once, for_each = ([call.args[i] for i in given] for given in parts.given)
        once: Body = [Call(list(kept), parts.once, for_once, line=call.line)]
        targets: list[Var] = []
        for target, value in zip(call.targets, parts.same, strict=True):
            if value is None:
                targets.append(target)
            else:
                once.append(Set([target], [replaced(value, named)], line=call.line))
                self.known.add(target)
        self.known.update(kept)
        needed = [kept[parts.kept.index(var)] for var in parts.each.parameters[len(for_each) :]]
        read = {*parts.given[0], *parts.given[1]}
        unread = [arg for place, arg in enumerate(call.args) if place not in read and may_fail(arg)]
        tried = [Var(self.names.new("t"), arg.kind) for arg in unread]
        each: Body = [Set(tried, unread, line=call.line)] if unread else []
        if targets or not _is_empty(parts.each):
            each += [Call(targets, parts.each, [*for_each, *needed], line=call.line)]
        return once, each

    def _is_wanted(self, var: Var) -> bool:
        """Whether the result of a call may be what is computed once."""
        use = self.uses[var]
        if var in self.others or len(use.setters) != 1 or len(use.set_at) != 1:
            return False
        if var.kind == "r" and self.nest:
            return False
        (at,) = use.set_at
        return all(place > at and (var.kind != "r" or self.may_read(one, var)) for place, one in use.readers)

    def _of_expressions(self, statement: Statement, sure: bool) -> tuple[Body, Body]:
        """A statement without what in its expressions is the same each time and costs something.

        What may fail, and may not be come to, is computed once so that it gives no finite number where it
        would fail, in a run, which is long; if it is come to, it is computed there.
        """
        once: Body = []
        tests: Body = []

        def keep(value: Expr) -> Var:
            kept = Var(self.names.new("t"), value.kind)
            once.append(Set([kept], [value], line=statement.line))
            self.known.add(kept)
            return kept

        def visit(expr: Expr, sure: bool, is_lazy: bool = False) -> Expr:
            if not isinstance(expr, Op) or cost_of(expr) < self.effects.worth:
                return expr
            if self.is_known(expr) and _has_variables(expr) and not self.is_constant(expr):
                if sure or not may_fail(expr):
                    return keep(expr)
                quiet = None if self.effects.run is None or is_lazy else quieted(expr)
                if quiet is not None:
                    kept, found = keep(quiet), Var(self.names.new("t"), expr.kind)
                    wrong = Op("not", (Op("isfinite", (kept,), "b"),), "b")
                    tests.append(Set([found], [kept], line=statement.line))
                    tests.append(If(wrong, [Set([found], [expr], line=statement.line)], []))
                    return found
            lazy = expr.name in ("select", "and", "or")
            args = tuple(
                visit(arg, sure and not (lazy and i), is_lazy or (lazy and i > 0))
                for i, arg in enumerate(expr.args)
            )
            return Op(expr.name, args, expr.kind)

        changed = copy.copy(statement)
        match changed:
            case Set(values=values) | Return(values=values):
                changed.values = [visit(value, sure) for value in values]
            case Call(args=args):
                changed.args = [visit(arg, sure) for arg in args]
            case Load(index=index):
                changed.index = visit(index, sure)
            case Append(item=item) | Store(item=item) | Fill(item=item):
                changed.item = tuple(visit(one, sure) for one in item)
        return (once, [*tests, changed]) if once else ([], [statement])


def _has_variables(expr: Expr) -> bool:
    if isinstance(expr, Op):
        return any(map(_has_variables, expr.args))
    return isinstance(expr, (Var, Input))


def _is_empty(function: Function) -> bool:
    return all(isinstance(one, Return) for one in function.body)


def _with_body(loop: For, body: Body) -> For:
    """A loop with another body."""
    changed = copy.copy(loop)
    changed.body = body
    return changed


def _needed(once: Body, each: Body) -> list[Var]:
    """The variables that what is done once sets, and that are read each time."""
    read, again = set[Var](), set[Var]()
    for statement in hir.walk(each):
        read |= read_by(statement)
        again.update(hir.targets(statement))
    read -= again
    found: dict[Var, None] = {}
    for statement in hir.walk(once):
        found.update((var, None) for var in hir.targets(statement) if var in read)
    return list(found)


def _first(once: Body, kept: list[Var]) -> Body:
    """Values for what is kept and may not be set, as it is set in a branch or an inner loop."""
    surely = {var for statement in once if not isinstance(statement, For) for var in hir.targets(statement)}
    missing = [var for var in kept if var not in surely]
    return [Set(missing, [hir.ZEROS[var.kind] for var in missing])] if missing else []


def taken_apart(
    known: Stages,
    function: Function,
    same: Sequence[bool],
    wanted: Sequence[bool],
    changed: Layouts,
    sure: bool,
    constant: Sequence[bool] = (),
) -> Parts | None:
    """What a function is taken apart into if some arguments are the same each time, where it is worth it.

    Args:
        same: which arguments are the same each time.
        wanted: which results may be what is done once.
        changed: the lists that may change meanwhile.
        sure: whether it is sure that the function is called.
        constant: which arguments are known when the text is made, so that LLVM computes what depends on them.
    """
    key = id(function), tuple(same), tuple(wanted), changed, sure, tuple(constant)
    if key not in known.parts:
        known.parts[key] = None  # where it calls itself
        known.parts[key] = _taken_apart(known, function, same, wanted, changed, sure, constant)
    return known.parts[key]


def _taken_apart(
    known: Stages,
    function: Function,
    same: Sequence[bool],
    wanted: Sequence[bool],
    changed: Layouts,
    sure: bool,
    constant: Sequence[bool] = (),
) -> Parts | None:
    if function.linear is not None or function.symbol:  # made elsewhere, or at once where matrices are large
        return None
    body = hir.copied_body(function.body)
    set_inside = {var for statement in hir.walk(body) for var in hir.targets(statement)}
    given = {var for var, one in zip(function.parameters, same, strict=True) if one and var not in set_inside}
    parameters = set(function.parameters)
    always = known.run is not None and id(function) in known.run.steps
    apart = Apart(known, Names(function), body, given, changed, parameters, wanted, always=always)
    apart.constants = {
        var for var, one in zip(function.parameters, constant, strict=False) if one and var in given
    }
    once, each = apart.taken(body, sure)
    if apart.costs(once) < known.worth:
        return None
    ready = given | {var for statement in hir.walk(once) for var in hir.targets(statement)}
    results: list[Expr | None] = [None] * len(function.results)
    end = each[-1] if each else None
    if len(apart.returns) == 1 and isinstance(end, Return):
        for place, (value, is_wanted) in enumerate(zip(end.values, wanted, strict=True)):
            if is_wanted and (isinstance(value, Const) or value in ready & apart.known):
                results[place] = value
        left = [value for value, result in zip(end.values, results, strict=True) if result is None]
        each = [*each[:-1], Return(left, line=end.line)]
    kept = _needed(once, each)
    further = list(kept)
    kept += {value: None for value in results if isinstance(value, Var) and value not in {*kept, *given}}
    read_once, read_each = set[Var](), set[Var]()
    for statements, read in ((once, read_once), (each, read_each)):
        for statement in hir.walk(statements):
            read |= read_by(statement)
    for_once = [i for i, var in enumerate(function.parameters) if var in read_once]
    for_each = [i for i, var in enumerate(function.parameters) if var in read_each]
    before = Function(
        f"{function.name}_once",
        [function.parameters[i] for i in for_once],
        [var.kind for var in kept],
        [*_first(once, kept), *once, Return(list(kept))],
        function.origin,
    )
    after = Function(
        function.name if known.run is not None else f"{function.name}_each",
        [*(function.parameters[i] for i in for_each), *further],
        [kind for kind, value in zip(function.results, results, strict=True) if value is None],
        each,
        function.origin,
        function.scores,
    )
    if known.run is not None and always:
        known.run.steps.add(id(after))
    return Parts(before, after, results, kept, (for_once, for_each))
