"""A copy of a list is that list itself where nothing could tell them apart.

    copy = []
    for i in range(m):                          for i in range(m):
        x = xs[3 * i]                               x = xs[3 * i]
        assert x >= 0.0                ->           assert x >= 0.0
        copy.append(x)
    lp += log_density(copy, z)                  lp += log_density_of(xs, m, z)

So parameters that a distribution checks and keeps are read where they are. Both lists must stay as they are
from where the copy is made to where it was last read, and it must only be read: by the statements that follow
in the same body, and by functions that they call. A function that does nothing else with a copy of what it is
given than to return it leaves that to what calls it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gendsl.compiler import hir
from gendsl.compiler.hir import (
    Append,
    Body,
    Call,
    Const,
    Expr,
    Fail,
    For,
    Function,
    If,
    Kind,
    Length,
    Load,
    New,
    Op,
    Return,
    Set,
    Statement,
    Var,
)
from gendsl.compiler.hir.list_uses import ListUses
from gendsl.compiler.hir.rewriting import replaced, substitute, variables_of
from gendsl.compiler.hir.text_effects import TextEffects, left_by, meet
from gendsl.compiler.passes.staging import Names

_ZERO, _ONE = Const(0, "i"), Const(1, "i")


@dataclass(frozen=True, slots=True)
class View:
    """Where the items of a copy are: item i is item `index` of another list, for i from 0 to count - 1.

    Attributes:
        index: an expression with `at` in it, which is i.
        whole: whether that is all of the list, as it is.
    """

    list: Expr
    layout: tuple[Kind, ...]
    at: Var
    index: Expr
    count: Expr
    whole: bool

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """What the view is made of, but for `at`."""
        return (self.list, self.index) if self.whole else (self.list, self.index, self.count)

    @property
    def variables(self) -> set[Var]:
        return variables_of(*self.exprs) - {self.at}

    def of(self, values: Mapping[Var, Expr]) -> View:
        """The view with other expressions in place of variables."""
        source, index, count = (replaced(one, values) for one in (self.list, self.index, self.count))
        return View(source, self.layout, self.at, index, count, self.whole)


@dataclass(slots=True)
class _Returned:
    """What a function returns, of which one result is a copy of what it is given."""

    position: int
    view: View
    without: Function


def elide_copies(mains: Sequence[Function], effects: TextEffects) -> list[Function]:
    """Read lists in place of their copies, in functions and all that they call; those that have changed."""
    return _Elision(effects).all_of(mains)


class _Elision:
    """Elides copies of lists.

    Attributes:
        returned: the functions that return copies, by their identities.
        clones: functions that are given a view in place of a list, by what they are clones of.
        changed: the functions that are others now.
        asked: the functions and parameters of which it is just asked whether they only are read.
    """

    def __init__(self, effects: TextEffects) -> None:
        self.effects = effects
        self.returned: dict[int, _Returned] = {}
        self.clones: dict[tuple[int, int, Expr], Function] = {}
        self.changed: list[Function] = []
        self.asked: set[tuple[int, int]] = set()

    def all_of(self, mains: Sequence[Function]) -> list[Function]:
        every = {id(one): one for main in mains for one in hir.functions(main)}
        for function in every.values():  # callees first
            if not self._may_have_any(function):
                continue
            while self._elided(function):
                if function not in self.changed:
                    self.changed.append(function)
            self._note_returned(function)
        return self.changed

    def _may_have_any(self, function: Function) -> bool:
        """Whether a function makes an empty list, or is given a copy."""
        return any(
            (isinstance(one, New) and not one.items)
            or (isinstance(one, Call) and id(one.function) in self.returned)
            for one in hir.walk(function.body)
        )

    # --- copies ----------------------------------------------------------------------------------------

    def _elided(self, function: Function) -> bool:
        """Elide one copy in a function, if there is any."""
        uses = ListUses(function)
        for body in [function.body, *(b for one in hir.walk(function.body) for b in hir.bodies(one))]:
            for start, one in enumerate(body):
                made = self._copy_made(uses, body, start, one)
                if made is None:
                    continue
                ref, view, after = made
                last = self._last_read(uses, body, after, ref)
                if last is None or self._may_change(body[start : last + 1], view.layout):
                    continue
                self._elide(function, body, start, after, ref, view)
                return True
        return False

    def _copy_made(
        self, uses: ListUses, body: Body, start: int, one: Statement
    ) -> tuple[Var, View, int] | None:
        """The copy that a statement begins to make, what it is a copy of, and where it is complete."""
        if isinstance(one, New) and not one.items and uses.sets[one.target] == 1:
            for at in range(start + 1, len(body)):
                if any(one.target in variables_of(*hir.expressions(each)) for each in hir.walk([body[at]])):
                    view = _view_of(uses, body, at, one)
                    return None if view is None else (one.target, view, at)
        elif isinstance(one, Call) and id(one.function) in self.returned:
            found = self.returned[id(one.function)]
            target = one.targets[found.position]
            if uses.sets[target] == 1:
                given = dict(zip(one.function.parameters, one.args, strict=True))
                return target, found.view.of(given), start
        return None

    def _last_read(self, uses: ListUses, body: Body, after: int, ref: Var) -> int | None:
        """The place in a body of the last statement that reads a copy; None if more is done with it."""
        inside: dict[int, int] = {}
        for at in range(after + 1, len(body)):
            for one in hir.walk([body[at]]):
                inside[id(one)] = at
        last = after
        for one in uses.reads[ref]:
            if isinstance(one, Append) and one.list == ref and ref not in variables_of(*one.item):
                if not _is_within(one, body[after]):
                    return None
                continue
            if id(one) not in inside or not self._only_reads(one, ref):
                return None
            last = max(last, inside[id(one)])
        return last if last > after else None

    def _only_reads(self, one: Statement, ref: Var) -> bool:
        """Whether a statement only reads a list."""
        match one:
            case Length(list=source) | Load(list=source):
                return source == ref
            case Call():
                return all(arg == ref or ref not in variables_of(arg) for arg in one.args) and all(
                    self._parameter_is_read(one.function, position)
                    for position, arg in enumerate(one.args)
                    if arg == ref
                )
        return False

    def _parameter_is_read(self, function: Function, position: int) -> bool:
        """Whether a function does nothing with a list that it is given but read it."""
        if function.symbol or function.linear is not None:
            return False
        asked = id(function), position
        if asked in self.asked:  # it calls itself, and does no more with the list than its other statements
            return True
        self.asked.add(asked)
        ref = function.parameters[position]
        uses = ListUses(function)
        found = uses.sets[ref] == 1 and all(self._only_reads(one, ref) for one in uses.reads[ref])
        self.asked.discard(asked)
        return found

    def _may_change(self, statements: Body, layout: tuple[Kind, ...]) -> bool:
        """Whether statements may change a list that they have not made themselves."""
        made: set[Var] = set()
        lists = self.effects.all_of([Length(Var("_", "i"), Const(None, "r"), layout)], set()).reads
        for one in statements:
            if meet(self.effects.all_of([one], made).changes, lists):
                return True
            set_here = {var for inner in hir.walk([one]) for var in hir.targets(inner)}
            made -= set_here
            if isinstance(one, New):
                made.add(one.target)
        return False

    # --- what becomes of them --------------------------------------------------------------------------

    def _elide(self, function: Function, body: Body, start: int, after: int, ref: Var, view: View) -> None:
        """Read another list in place of a copy that a body makes."""
        names = Names(function)
        kept, own = _kept(view, names, ref.name)
        place = after + 1 if isinstance(body[start], New) else after
        body.insert(place, kept)
        self._make_none(body, start if place > start else start + 1, after, ref)
        self._read(function, names, ref, own)

    def _read(self, function: Function, names: Names, ref: Var, view: View) -> None:
        """Let all statements of a function that read a list read another."""
        for body in [function.body, *(b for one in hir.walk(function.body) for b in hir.bodies(one))]:
            at = 0
            while at < len(body):
                new = self._reading(body[at], names, ref, view)
                body[at : at + 1] = new
                at += len(new)

    def _reading(self, one: Statement, names: Names, ref: Var, view: View) -> Body:
        """What a statement that may read a list is if it reads another."""
        if view.whole and ref in variables_of(*hir.expressions(one)):
            substitute(one, {ref: view.list})
        elif isinstance(one, Length) and one.list == ref:
            return [Set([one.target], [Op("imax", (view.count, _ZERO), "i")], line=one.line)]
        elif isinstance(one, Load) and one.list == ref:
            place = Var(names.new("at"), "i")
            within = Op("add", (place, view.count), "i")
            natural = Op("select", (Op("lt", (place, _ZERO), "b"), within, place), "i")
            at = Var(names.new("at"), "i")
            outside = Op("or", (Op("lt", (at, _ZERO), "b"), Op("ge", (at, view.count), "b")), "b")
            index = replaced(view.index, {view.at: at})
            return [
                Set([place], [one.index], line=one.line),
                Set([at], [natural], line=one.line),
                If(outside, [Fail("an index out of range", line=one.line)], [], line=one.line),
                Load(one.targets, view.list, one.layout, index, line=one.line),
            ]
        elif isinstance(one, Call) and ref in one.args:
            args: list[Expr] = []
            positions: list[int] = []
            given = [view.list, *sorted(view.variables - variables_of(view.list), key=lambda v: v.name)]
            for position, arg in enumerate(one.args):
                positions += [position] if arg == ref else []
                args.append(arg)
            for position in reversed(positions):
                one.function = self._clone(one.function, position, view)
                args[position : position + 1] = given
            one.args = args
        return [one]

    def _clone(self, function: Function, position: int, view: View) -> Function:
        """A function that is given a view in place of a list."""
        others = sorted(view.variables - variables_of(view.list), key=lambda var: var.name)
        general = {var: Var(f"view_{at}", var.kind) for at, var in enumerate(others)}
        shape = view.of(general)
        key = id(function), position, Op("view", (shape.index, shape.count), "i")
        if key not in self.clones:
            names = Names(function)
            ref = function.parameters[position]
            names.taken.discard(ref.name)  # which is not read any more
            source = Var(names.new(ref.name), "r")
            given = [Var(names.new(ref.name), var.kind) for var in others]
            at = Var(names.new("at"), "i")
            values: dict[Var, Expr] = dict(zip(others, given, strict=True))
            inner = View(
                source,
                view.layout,
                at,
                replaced(view.index, {**values, view.at: at}),
                replaced(view.count, values),
                False,
            )
            clone = Function(function.name, origin=function.origin, scores=function.scores)
            clone.is_discrete = function.is_discrete
            self.clones[key] = clone
            clone.parameters = [*function.parameters]
            clone.parameters[position : position + 1] = [source, *given]
            clone.results = [*function.results]
            clone.body = hir.copied_body(function.body)
            self._read(clone, names, ref, inner)
            self.changed.append(clone)
        return self.clones[key]

    def _note_returned(self, function: Function) -> None:
        """Note that a function returns a copy of what it is given, if it does."""
        if function.symbol or function.linear is not None:
            return
        uses = ListUses(function)
        body = function.body
        returns = [one for one in hir.walk(body) if isinstance(one, Return)]
        if len(returns) != 1 or not body or body[-1] is not returns[0]:
            return
        values = returns[0].values
        for start, one in enumerate(body):
            made = self._copy_made(uses, body, start, one)
            if made is None:
                continue
            ref, view, after = made
            if values.count(ref) != 1 or any(
                one is not returns[0] and not (isinstance(one, Append) and _is_within(one, body[after]))
                for one in uses.reads[ref]
            ):
                continue
            given = view.variables <= set(function.parameters)
            steady = given and all(uses.sets[var] == 1 for var in view.variables)
            if steady and not self._may_change(body[start:], view.layout):
                self.returned[id(function)] = self._without(function, start, after, ref, view)
                return

    def _without(self, function: Function, start: int, after: int, ref: Var, view: View) -> _Returned:
        """What a function that returns a copy is if it makes none."""
        body = hir.copied_body(function.body)
        last = body[-1]
        assert isinstance(last, Return)
        position = last.values.index(ref)
        made = Function(function.name, [*function.parameters], [*function.results], body, function.origin)
        made.scores, made.is_discrete = function.scores, function.is_discrete
        del last.values[position], made.results[position]
        self._make_none(body, start, after, ref)
        self.changed.append(made)
        return _Returned(position, view, made)

    def _make_none(self, body: Body, start: int, after: int, ref: Var) -> None:
        """Leave out what makes a copy in a body."""
        made = body[start]
        if isinstance(made, Call):
            found = self.returned[id(made.function)]
            made.function = found.without
            made.targets = [var for at, var in enumerate(made.targets) if at != found.position]
        else:
            loop = body[after]
            assert isinstance(loop, For)
            loop.body = [one for one in loop.body if not (isinstance(one, Append) and one.list == ref)]
            del body[start]


def _kept(view: View, names: Names, name: str) -> tuple[Set, View]:
    """What keeps the variables that a view is made of, and the view that is made of what was kept."""
    names.taken.discard(name)  # which is not read any more
    source = Var(names.new(name), "r")
    variables = sorted(view.variables - variables_of(view.list), key=lambda var: var.name)
    own = [Var(names.new(name), var.kind) for var in variables]
    values: dict[Var, Expr] = dict(zip(variables, own, strict=True))
    index, count = replaced(view.index, values), replaced(view.count, values)
    kept = Set([source, *own], [view.list, *variables])
    return kept, View(source, view.layout, view.at, index, count, view.whole)


def _view_of(uses: ListUses, body: Body, at: int, made: New) -> View | None:
    """What a list is a copy of that is filled by a loop, if it is one."""
    loop = body[at]
    if not isinstance(loop, For) or loop.start != _ZERO or loop.step != _ONE:
        return None
    every = list(hir.walk(loop.body))
    inside = {var for one in every for var in hir.targets(one)}
    labels, returns = left_by(every)
    appends = [one for one in every if isinstance(one, Append) and one.list == made.target]
    if labels or returns or len(appends) != 1 or loop.var in inside or variables_of(loop.stop) & inside:
        return None
    item = list(appends[0].item)
    place = next((at for at, one in enumerate(loop.body) if one is appends[0]), 0)
    for one in loop.body[:place]:  # if each iteration comes to it
        if isinstance(one, Load) and one.layout == made.layout and one.targets == item:
            break
    else:
        return None
    steady = all(uses.sets[var] == 1 for var in one.targets)
    if not steady or loop.var in variables_of(one.list) or variables_of(one.list, one.index) & inside:
        return None
    whole = one.index == loop.var and _is_length(body[:at], loop.stop, one.list)
    return View(one.list, one.layout, loop.var, one.index, loop.stop, whole)


def _is_within(one: Statement, other: Statement) -> bool:
    """Whether a statement is another, or inside of it."""
    return any(one is inner for inner in hir.walk([other]))


def _is_length(before: Body, count: Expr, source: Expr) -> bool:
    """Whether a number is that of the items of a list, which was looked up just before."""
    for one in reversed(before):
        if isinstance(one, Length) and one.target == count:
            return one.list == source
        changed = {count, *variables_of(source)} & {*hir.targets(one)}
        if changed or not isinstance(one, (New, Set, Length, Load)):
            return False
    return False
