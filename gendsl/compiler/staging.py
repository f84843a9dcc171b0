"""What is done each time a body runs, and what can be done once, before: the body of a loop or of a function.

Some variables have one value each time; what is computed from these alone is done once. Of a function that
is called with some such arguments two are made: one that is called *once*, and one that is called *each*
time, with what the first has returned. Of a loop whose bounds are the same each time, what is done once in
each of its iterations is kept in a list, the `table`. What costs nothing is done each time, unless it is
needed for what does. All numbers are computed by the same operations as before.

What may fail, or not end, is done once only where it is sure that it is come to. What follows a branch that
may leave the body, or stands in one, is done once if it can't fail.
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
    For,
    Function,
    If,
    Input,
    Length,
    Load,
    New,
    Op,
    Return,
    Set,
    Statement,
    Store,
    Var,
)
from gendsl.compiler.rewriting import WORTH, cost_of, may_fail, replaced
from gendsl.compiler.steady import Steady
from gendsl.compiler.text_effects import UNKNOWN, Layouts, TextEffects, may_leave, read_by, set_by


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

    def __init__(self) -> None:
        super().__init__()
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
    ) -> None:
        super().__init__(stages, body, given, changed, others, wanted)
        self.stages, self.names = stages, names

    def taken(self, body: Body, sure: bool) -> tuple[Body, Body]:
        """What of a body is done once, and what is done each time.

        What costs nothing is done once only if that is needed for what does.
        """
        fixed = self.fixed(body, sure)
        ids = {id(one) for one in fixed}
        for one in hir.walk(fixed):
            self.known.update(hir.targets(one))
        parts: list[tuple[Body, Body]] = []
        for statement in body:
            if id(statement) in ids:
                parts.append(([statement], []))
                continue
            parts.append(self._taken_of(statement, sure))
            sure = sure and not may_leave(statement)
        needed = self._needed_for([one for once, _ in parts for one in once], fixed, body)
        result: tuple[Body, Body] = [], []
        for statement, (once, each) in zip(body, parts, strict=True):
            if id(statement) in ids:
                is_needed = id(statement) in needed
                once = once if is_needed else []
                each = [copy.copy(statement)] if is_needed and self._is_cheap(statement) else []
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
        wanted = {var for found in sets.values() for var in found if self.is_read_outside(var, within)}
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
                or self.effects.all_of([one], self.made).cost >= WORTH
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

    def _is_cheap(self, statement: Statement) -> bool:
        """Whether it costs less to do a statement each time, too, than to hand over what it gives."""
        if not self.tables and self.wanted is None:
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
                return self._of_loop(statement) if sure else ([], [statement])
            case Block():
                once, each = self.taken(statement.body, sure)
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
        then, then_each = self.taken(statement.then, sure and same)
        orelse, else_each = self.taken(statement.orelse, sure and same)
        once = [*then, *orelse]
        each = self._with(statement, once, then=then_each, orelse=else_each)
        if once and same:
            once = [If(statement.test, then, orelse, line=statement.line)]
            if not then_each and not else_each:
                each = []
        return once, each

    def _of_loop(self, loop: For) -> tuple[Body, Body]:
        """A loop of which what is the same each time is kept in a list."""
        counted = loop.start == Const(0, "i") and loop.step == Const(1, "i")
        within = {id(one) for one in hir.walk(loop.body)}
        outside = {
            var for one in hir.walk([loop]) for var in hir.targets(one) if self.is_read_outside(var, within)
        }
        single = len(self.uses[loop.var].set_at) == 1 and loop.var not in outside
        if not counted or not self.is_known(loop.stop) or not single:
            return [], [loop]
        before, others = set(self.known), self.others
        self.others = others | outside
        self.known.add(loop.var)
        self.tables += 1
        once, each = self.taken(loop.body, not any(map(may_leave, loop.body)))
        self.tables -= 1
        self.known, self.others = before, others
        kept = _needed(once, each)
        cost = self.effects.all_of(once, self.made).cost
        if cost < WORTH or any(var.kind == "r" for var in kept):
            return [], [loop]
        label = loop.label
        if not kept:
            return [For(loop.var, loop.start, loop.stop, loop.step, once, label, line=loop.line)], (
                [_with_body(loop, each)] if each else []
            )
        table = Var(self.names.new("table"), "r")
        layout = tuple(var.kind for var in kept)
        index = loop.var
        filled: Body = [*_first(once, kept), *once, Append(table, layout, tuple(kept))]
        self.known.add(table)
        return (
            [New(table, layout), For(index, loop.start, loop.stop, loop.step, filled, label, line=loop.line)],
            [_with_body(loop, [Load(list(kept), table, layout, index), *each])],
        )

    def _of_call(self, call: Call, sure: bool) -> tuple[Body, Body]:
        """A call of a function of which a part is the same each time."""
        same = [self.is_known(arg) and (sure or not may_fail(arg)) for arg in call.args]
        effects = self.effects.of(call.function)
        varies = [one and not isinstance(arg, Const) for one, arg in zip(same, call.args, strict=True)]
        left = not self.tables and self.wanted is None and self.effects.is_small(call.function)
        if not any(varies) or effects.changes or effects is UNKNOWN or left:
            return self._of_expressions(call, sure)
        wanted = [self._is_wanted(var) for var in call.targets]
        parts = taken_apart(self.stages, call.function, same, wanted, self.changed, sure)
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
        if var.kind == "r" and self.tables:
            return False
        (at,) = use.set_at
        return all(place > at and (var.kind != "r" or self.may_read(one, var)) for place, one in use.readers)

    def _of_expressions(self, statement: Statement, sure: bool) -> tuple[Body, Body]:
        """A statement without what in its expressions is the same each time and costs something."""
        once: Body = []

        def visit(expr: Expr, sure: bool) -> Expr:
            if not isinstance(expr, Op) or cost_of(expr) < WORTH:
                return expr
            if self.is_known(expr) and (sure or not may_fail(expr)) and _has_variables(expr):
                kept = Var(self.names.new("t"), expr.kind)
                once.append(Set([kept], [expr], line=statement.line))
                self.known.add(kept)
                return kept
            lazy = expr.name in ("select", "and", "or")
            args = tuple(visit(arg, sure and not (lazy and i)) for i, arg in enumerate(expr.args))
            return Op(expr.name, args, expr.kind)

        changed = copy.copy(statement)
        match changed:
            case Set(values=values) | Return(values=values):
                changed.values = [visit(value, sure) for value in values]
            case Call(args=args):
                changed.args = [visit(arg, sure) for arg in args]
            case Load(index=index):
                changed.index = visit(index, sure)
            case Append(item=item) | Store(item=item):
                changed.item = tuple(visit(one, sure) for one in item)
        return (once, [changed]) if once else ([], [statement])


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
) -> Parts | None:
    """What a function is taken apart into if some arguments are the same each time, where it is worth it.

    Args:
        same: which arguments are the same each time.
        wanted: which results may be what is done once.
        changed: the lists that may change meanwhile.
        sure: whether it is sure that the function is called.
    """
    key = id(function), tuple(same), tuple(wanted), changed, sure
    if key not in known.parts:
        known.parts[key] = None  # where it calls itself
        known.parts[key] = _taken_apart(known, function, same, wanted, changed, sure)
    return known.parts[key]


def _taken_apart(
    known: Stages,
    function: Function,
    same: Sequence[bool],
    wanted: Sequence[bool],
    changed: Layouts,
    sure: bool,
) -> Parts | None:
    if function.linear is not None:  # all of it is computed at once where matrices are large
        return None
    body = _copied(function.body)
    set_inside = {var for statement in hir.walk(body) for var in hir.targets(statement)}
    given = {var for var, one in zip(function.parameters, same, strict=True) if one and var not in set_inside}
    parameters = set(function.parameters)
    apart = Apart(known, Names(function), body, given, changed, parameters, wanted)
    once, each = apart.taken(body, sure)
    if known.all_of(once, apart.made).cost < WORTH:
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
        f"{function.name}_each",
        [*(function.parameters[i] for i in for_each), *further],
        [kind for kind, value in zip(function.results, results, strict=True) if value is None],
        each,
        function.origin,
        function.scores,
    )
    return Parts(before, after, results, kept, (for_once, for_each))


def _copied(body: Body) -> Body:
    """A copy of statements."""
    found: Body = []
    for statement in body:
        one = copy.copy(statement)
        for name in ("body", "then", "orelse"):
            if hasattr(one, name):
                setattr(one, name, _copied(getattr(one, name)))
        for name in ("targets", "values", "items", "args"):
            part = getattr(one, name, None)
            if isinstance(part, list):
                setattr(one, name, list(part))
        found.append(one)
    return found
